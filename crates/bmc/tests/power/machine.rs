//! The encoding of POWER against the machine: the same final states for each number of contexts.
//!
//! `cargo xtask power random` is the long comparison.

use super::support;
use fencepost_bmc::power::{Options, states, states_up_to};
use fencepost_ir::{Program, Value};
use fencepost_machine::power;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

fn cases(default: u32) -> u32 {
    std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn encoded(program: &Program, contexts: u32) -> BTreeSet<Vec<Value>> {
    states(program, &Options::new(2), contexts).expect("supported").expect("no limit")
}

fn machine(program: &Program, contexts: u32) -> BTreeSet<Vec<Value>> {
    let options = power::Options { only_complete: true, ..power::Options::new(Some(contexts), 2) };
    let checked = power::check(program, &options).expect("supported");
    checked.final_states.into_iter().collect()
}

fn compare(program: &Program, contexts: u32, text: &dyn std::fmt::Debug) -> Result<(), TestCaseError> {
    let (encoded, machine) = (encoded(program, contexts), machine(program, contexts));
    let extra: Vec<_> = encoded.difference(&machine).collect();
    let missing: Vec<_> = machine.difference(&encoded).collect();
    prop_assert!(
        extra.is_empty() && missing.is_empty(),
        "{contexts} contexts, extra {extra:?}, missing {missing:?}: {text:?}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), rng_seed: RngSeed::Fixed(7), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn two_threads(threads in vec(vec(support::power_statement(), 1..=3), 2..=2), contexts in 1u32..=4) {
        compare(&support::power_program(&threads), contexts, &threads)?;
    }

    #[test]
    fn three_threads(threads in vec(vec(support::power_statement(), 1..=2), 3..=3), contexts in 2u32..=5) {
        compare(&support::power_program(&threads), contexts, &threads)?;
    }

    #[test]
    fn up_to_three_threads(threads in vec(vec(support::power_statement(), 1..=3), 2..=3)) {
        let program = support::power_program(&threads);
        let all = states_up_to(&program, &Options::new(2), 1..=4).expect("supported").expect("no limit");
        for (contexts, encoded) in (1..=4).zip(all) {
            prop_assert_eq!(encoded, machine(&program, contexts), "{} contexts: {:?}", contexts, &threads);
        }
    }
}

/// A store behind a fence cannot be what brings the fence to another thread: third threads' stores have to be there before.
#[test]
fn a_fence_does_not_wait_for_what_comes_after_it() {
    for fences in [["sync", "lwsync"], ["lwsync", "sync"]] {
        let program = support::parse(&format!(
            "shared x, y; process A {{ reg r; r := x; fence {}; x := 2; }} process B {{ reg r; r := x; fence {}; y := 1; }}
             process C {{ y := 2; fence sync; x := 1; }} observe A.r, B.r, x, y; exists x == 2;",
            fences[0], fences[1]
        ));
        for contexts in 3..=4 {
            assert_eq!(encoded(&program, contexts), machine(&program, contexts), "{contexts}, {fences:?}");
        }
    }
}

/// A fence waits until it is known that what it has seen is covered: here that takes a fifth context.
#[test]
fn a_fence_waits_for_what_is_known() {
    let threads = [
        vec!["y := r;", "r := x;", "x := 1;"],
        vec!["y := 1;", "s := x;"],
        vec!["x[r & 1] := 5;", "fence sync;"],
    ];
    let program = support::power_program(&threads);
    for contexts in 4..=5 {
        assert_eq!(encoded(&program, contexts), machine(&program, contexts), "{contexts}");
    }
}
