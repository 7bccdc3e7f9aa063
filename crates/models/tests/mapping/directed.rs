//! The classical shapes (store buffering, message passing, ...) with random orders, fences and read-modify-writes: the
//! programs that tell mappings apart. Names as in Alglave, Maranget, Tautschnig, TOPLAS 2014.

use crate::soundness::{FENCES, LOADS, RMWS, Random, STORES};
use crate::support::{Allowed, is_strict, model, program, states, variants};
use fencepost_models::mapping::{Target, compile};

/// Accesses of each thread.
pub const SHAPES: [(&str, &str); 23] = [
    ("SB", "Wx Ry | Wy Rx"),
    ("MP", "Wx Wy | Ry Rx"),
    ("LB", "Rx Wy | Ry Wx"),
    ("S", "Wx Wy | Ry Wx"),
    ("R", "Wx Wy | Wy Rx"),
    ("2+2W", "Wx Wy | Wy Wx"),
    ("MP+rs", "Wx Wy Wy | Ry Rx"),
    ("WRC", "Wx | Rx Wy | Ry Rx"),
    ("RWC", "Wx | Rx Ry | Wy Rx"),
    ("WWC", "Wx | Rx Wy | Ry Wx"),
    ("ISA2", "Wx Wy | Ry Wz | Rz Rx"),
    ("W+RWC", "Wx Wy | Ry Rz | Wz Rx"),
    ("Z6.0", "Wx Wy | Ry Wz | Wz Rx"),
    ("Z6.3", "Wx Wy | Wy Wz | Rz Rx"),
    ("3.SB", "Wx Ry | Wy Rz | Wz Rx"),
    ("MP+chain", "Wx Wy | Uy | Ry Rx"),
    ("LB+chain", "Rx Wy | Uy | Ry Wx"),
    ("IRIW", "Wx | Wy | Rx Ry | Ry Rx"),
    ("count", "lock Rx Wx unlock | lock Rx Wx unlock"),
    ("MP+locks", "lock Wx Wy unlock | lock Ry Rx unlock"),
    ("MP+lock", "Wx lock Wy unlock | lock Ry unlock Rx"),
    ("SB+locks", "lock Wx unlock Ry | lock Wy unlock Rx"),
    ("S+locks", "lock Rx unlock Wy | Ry lock Wx unlock"),
];

/// A shape with random orders: a write may be an exchange or an addition, a read a compare-exchange or an addition of
/// nothing, and there may be a fence between two accesses.
pub fn fill(shape: &str, random: &mut Random) -> String {
    let (mut value, mut rmws) = (0, 0);
    let mut words: Vec<String> = Vec::new();
    for word in shape.split_whitespace() {
        if matches!(word, "|" | "lock" | "unlock") {
            words.push(word.to_string());
            continue;
        }
        if words.last().is_some_and(|w| w != "|") && random.below(10) < 3 {
            words.push(format!("F.{}", random.pick(&FENCES)));
        }
        value += 1;
        let cell = &word[1..];
        let split = word.starts_with('U') || (rmws < 2 && random.below(10) < 3);
        rmws += usize::from(split);
        words.push(match (&word[..1], split) {
            ("W", false) => format!("W{cell}{value}.{}", random.pick(&STORES)),
            ("R", false) => format!("R{cell}.{}", random.pick(&LOADS)),
            (kind, _) => rmw(kind, cell, value, random),
        });
    }
    words.join(" ")
}

fn rmw(kind: &str, cell: &str, value: usize, random: &mut Random) -> String {
    let order = random.pick(&RMWS);
    match (kind, random.below(3)) {
        (_, 0) => {
            // As a write it expects the initial value, as a read one that may or may not be there.
            let expected = if kind == "W" { 0 } else { random.below(value + 1) };
            let failure = random.pick(&["rlx", "acq", "sc"]);
            format!("C{cell}{expected}:{}.{order}/{failure}", value + 20)
        }
        ("R", 1) => format!("A{cell}0.{order}"),
        (_, 1) => format!("A{cell}{}.{order}", 40 * value),
        _ => format!("X{cell}{value}.{order}"),
    }
}

const PER_SHAPE: usize = 100;

#[test]
fn classical_shapes_stay_within_rc11() {
    let mut random = Random(5);
    for (name, shape) in SHAPES {
        for _ in 0..PER_SHAPE {
            let text = fill(shape, &mut random);
            let source = program(&text);
            let mut allowed = Allowed::of(&source);
            for target in Target::ALL {
                for (variant, mapping) in variants(target) {
                    let found = states(&compile(&source, target, mapping), model(target));
                    if let Some(state) = allowed.violation(&found, is_strict(target, variant)) {
                        panic!("{name}: {text}\nfor {}, {variant} reaches {state:?}", target.name());
                    }
                }
            }
        }
    }
}
