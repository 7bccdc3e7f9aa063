//! Threads that wait for ever, and final states, of programs whose loops are not bounded: the explorer, which leaves out
//! iterations
//! and tries, must say what the plain machines of SC, TSO and PSO say that visit every state.
//!
//! What the bound of the explorer's loops cuts it cannot know; then it must not say anything that the machine does not say.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test stuck` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/loops.rs"]
mod loops;
#[path = "support/stepping.rs"]
mod stepping;
#[path = "support/waits.rs"]
mod waits;
#[path = "support/writing.rs"]
mod writing;

use dice::Random;
use fencepost_explore::{FindingKind, Limits, ModelName, Options, explore};
use fencepost_ir::{Program, Value, bound_loops};
use loops::{generate, generate_tries};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stepping::{Buffers, Reached, reach};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How long one exploration may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the explorer finds, and whether its bound has cut anything.
fn explored(program: &Program, model: ModelName) -> Option<(Reached, bool)> {
    for bound in [2, 5] {
        let deadline = Some(Instant::now() + PATIENCE);
        let limits = Limits { max_nodes: Some(20_000), deadline, ..Limits::default() };
        let options = Options { limits, ..Options::new(model) };
        let found = explore(&bound_loops(program, bound), &options).expect("supported");
        if found.stopped.is_some() {
            return None;
        }
        let cut = found.stats.cut > 0;
        if !cut || bound == 5 {
            let has = |kind| found.findings.iter().any(|finding| finding.kind == kind);
            let (fails, stuck) = (has(FindingKind::Assertion), has(FindingKind::Deadlock));
            let states = found.states.into_iter().collect();
            return Some((Reached { states, fails, stuck }, cut));
        }
    }
    None
}

fn compare(cases: u64, generate: fn(&mut Random) -> (Program, String)) {
    let machines = [
        (ModelName::Sc, Buffers::None),
        (ModelName::Tso, Buffers::Ordered),
        (ModelName::Pso, Buffers::ByCell),
    ];
    let first = number("FENCEPOST_FIRST", 0);
    let mut random = Random(number("FENCEPOST_SEED", 1));
    let (mut compared, mut whole, mut stuck) = (0, 0, 0);
    for case in 0..cases {
        let (program, text) = generate(&mut random);
        if case < first {
            continue;
        }
        for (model, buffers) in machines {
            let Some((found, cut)) = explored(&program, model) else { continue };
            let Some(expected) = reach(&program, buffers) else { continue };
            let at = format!("case {case} under {}: {text}", model.name());
            let more: BTreeSet<&Vec<Value>> = found.states.difference(&expected.states).collect();
            assert!(more.is_empty(), "states that there are not: {more:?}\n{at}");
            assert!(expected.fails || !found.fails, "no assertion fails\n{at}");
            assert!(expected.stuck || !found.stuck, "nobody waits for ever\n{at}");
            compared += 1;
            if !cut {
                assert_eq!(found.states, expected.states, "{at}");
                assert_eq!(found.fails, expected.fails, "an assertion fails\n{at}");
                assert_eq!(found.stuck, expected.stuck, "threads wait for ever\n{at}");
                whole += 1;
                stuck += u64::from(found.stuck);
            }
        }
    }
    println!("{compared} runs compared, {whole} of them whole; threads wait for ever in {stuck}");
    let cases = cases - first;
    assert!(compared > cases && whole > cases / 2 && stuck > cases / 8, "{compared}, {whole}, {stuck}");
}

#[test]
fn threads_wait_for_ever_if_the_machine_says_so() {
    compare(number("FENCEPOST_CASES", 60), generate);
}

#[test]
fn threads_that_try_wait_for_ever_if_the_machine_says_so() {
    compare(number("FENCEPOST_CASES", 120), generate_tries);
}

#[test]
fn threads_that_lock_and_assume_wait_for_ever_if_the_machine_says_so() {
    let generate = |random: &mut Random| {
        let (mut program, text) = waits::generate(random);
        writing::observe(&mut program, 0, 2);
        (program, text)
    };
    compare(number("FENCEPOST_CASES", 120), generate);
}
