//! Random programs of two and three threads with up to three statements each: final states of the POWER machine and of the
//! encoding, for each number of contexts.

#[path = "../../../crates/bmc/tests/power/support.rs"]
pub mod support;

use fencepost_answer::StopReason;
use fencepost_bmc::power::{Options, states_up_to};
use fencepost_machine::power;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::collections::BTreeSet;
use std::time::Instant;

/// Which programs, with how many contexts, and how many states of the machine are too many.
pub struct Campaign {
    /// The first program; they are the same each time.
    pub from: usize,
    /// How many.
    pub cases: usize,
    /// The most contexts.
    pub most: u32,
    /// States of the machine.
    pub states: u64,
}

/// Compares; prints differences, what was left out, and counts. Returns the number of differences.
pub fn run(campaign: &Campaign) -> usize {
    let start = Instant::now();
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(12), ..Config::default() });
    let strategy = vec(vec(support::power_statement(), 1..=3), 2..=3);
    let mut compared = vec![0usize; campaign.most as usize];
    let (mut three, mut conditional, mut left_out, mut differ) = (0, 0, 0, 0);
    for number in 0..campaign.from + campaign.cases {
        let Ok(tree) = strategy.new_tree(&mut runner) else { continue };
        if number < campaign.from {
            continue;
        }
        let threads = tree.current();
        three += usize::from(threads.len() == 3);
        let is_conditional = |s: &&str| s.contains("cas") || s.contains("fetch");
        conditional += usize::from(threads.iter().flatten().any(is_conditional));
        let program = support::power_program(&threads);
        let encoded = match states_up_to(&program, &Options::new(2), 1..=campaign.most) {
            Ok(Ok(encoded)) => encoded,
            other => {
                differ += 1;
                println!("DIFFERENCE {number}: the encoding has no answer ({other:?}): {threads:?}");
                continue;
            }
        };
        for (contexts, encoded) in (1..=campaign.most).zip(encoded) {
            let mut options = power::Options::new(Some(contexts), 2);
            options.only_complete = true;
            options.search.max_states = Some(campaign.states);
            let Ok(checked) = power::check(&program, &options) else { continue };
            if matches!(checked.outcome.stop_reason, Some(StopReason::Limit { .. })) {
                println!("left out: {number} with {contexts} contexts and more: {threads:?}");
                left_out += 1;
                break;
            }
            let machine: BTreeSet<_> = checked.final_states.into_iter().collect();
            compared[contexts as usize - 1] += 1;
            if encoded != machine {
                differ += 1;
                let more = encoded.difference(&machine).count();
                let fewer = machine.difference(&encoded).count();
                println!(
                    "DIFFERENCE {number}: {contexts} contexts, the encoding has {more} more and {fewer} fewer: {threads:?}"
                );
            }
        }
        if (number + 1) % 1000 == 0 {
            println!(
                "{} programs, {differ} differences, {:.0} s",
                number + 1 - campaign.from,
                start.elapsed().as_secs_f64()
            );
        }
    }
    println!(
        "{} programs ({three} of three threads, {conditional} with read-modify-writes); compared with 1 to {} \
            contexts: {compared:?}; left out: {left_out}; {:.0} s",
        campaign.cases,
        campaign.most,
        start.elapsed().as_secs_f64()
    );
    differ
}
