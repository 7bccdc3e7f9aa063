//! The encoding of POWER against the machine: the same final states for each number of contexts.
//!
//! `FENCEPOST_CASES=20000 cargo test --profile fast -p fencepost-contexts --test power up_to_three_threads` is the long comparison.

mod support;

use fencepost_contexts::{Options, states, states_up_to};
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
    let checked = power::check(program, &power::Options::new(Some(contexts), 2)).expect("supported");
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
    #![proptest_config(ProptestConfig { cases: cases(300), rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

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
