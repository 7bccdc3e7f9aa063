//! Compilation is correct: what the compiled program can do on the machine, RC11 allows the source to do.

use crate::support::{Allowed, is_strict, model, program, states, variants};
use fencepost_models::mapping::{Target, compile};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Lengths of the threads.
const SHAPES: [&[usize]; 9] =
    [&[2, 2], &[3, 2], &[3, 3], &[4, 2], &[1, 2, 2], &[2, 2, 2], &[1, 3, 2], &[1, 1, 2, 2], &[1, 1, 3, 2]];
const CELLS: [char; 2] = ['x', 'y'];
pub const LOADS: [&str; 4] = ["rlx", "con", "acq", "sc"];
pub const STORES: [&str; 3] = ["rlx", "rel", "sc"];
pub const FENCES: [&str; 4] = ["acq", "rel", "acqrel", "sc"];
pub const RMWS: [&str; 5] = ["rlx", "acq", "rel", "acqrel", "sc"];

/// A random program. Stores write values of their own, so that a value tells where it came from; at most two
/// read-modify-writes, since a store-exclusive doubles the work.
pub fn random_program(random: &mut Random) -> String {
    let shape = random.pick(&SHAPES);
    let (mut value, mut rmws) = (0, 0);
    let mut threads = Vec::new();
    for &length in shape {
        let mut words = Vec::new();
        for _ in 0..length {
            value += 1;
            let cell = random.pick(&CELLS);
            let kind = random.below(if rmws < 2 { 13 } else { 10 });
            rmws += usize::from(kind >= 10);
            if !words.is_empty() && random.below(8) == 0 {
                words.push("?".to_string());
            }
            words.push(match kind {
                0..4 => format!("R{cell}.{}", random.pick(&LOADS)),
                7 if random.below(2) == 0 => format!("W{cell}=.{}", random.pick(&STORES)),
                4..8 => format!("W{cell}{value}.{}", random.pick(&STORES)),
                8..10 => format!("F.{}", random.pick(&FENCES)),
                10 => format!("A{cell}{}.{}", 10 * value, random.pick(&RMWS)),
                11 => format!("X{cell}{value}.{}", random.pick(&RMWS)),
                _ => {
                    let expected = random.below(value);
                    let (success, failure) = (random.pick(&RMWS), random.pick(&["rlx", "acq", "sc"]));
                    format!("C{cell}{expected}:{value}.{success}/{failure}")
                }
            });
        }
        threads.push(words.join(" "));
    }
    threads.join(" | ")
}

/// Checks that many random programs under every mapping of a target.
fn random_programs_stay_within_rc11(target: Target, count: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut thin_air, mut reached) = (0, 0);
    for _ in 0..count {
        let text = random_program(&mut random);
        let source = program(&text);
        let mut allowed = Allowed::of(&source);
        for (name, mapping) in variants(target) {
            let found = states(&compile(&source, target, mapping), model(target));
            assert!(!found.is_empty(), "no execution of {text} for {}, {name}", target.name());
            reached += found.len();
            if let Some(state) = allowed.violation(&found, is_strict(target, name)) {
                panic!("{text}\nfor {}, {name} reaches {state:?}, which RC11 forbids", target.name());
            }
        }
        thin_air += usize::from(allowed.needed_thin_air());
    }
    println!("{}: {count} programs, {reached} states, {thin_air} with a cycle of po | rf", target.name());
}

/// How many programs per target; `FENCEPOST_CASES` makes it a campaign.
fn count() -> usize {
    std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_200)
}

#[test]
fn random_programs_for_tso() {
    random_programs_stay_within_rc11(Target::Tso, count(), 1);
}

#[test]
fn random_programs_for_pso() {
    random_programs_stay_within_rc11(Target::Pso, count(), 2);
}

#[test]
fn random_programs_for_power() {
    random_programs_stay_within_rc11(Target::Power, count(), 3);
}

#[test]
fn random_programs_for_armv8() {
    random_programs_stay_within_rc11(Target::Armv8, count(), 4);
}
