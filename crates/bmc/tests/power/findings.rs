//! Assertions: the encoding and the machine agree on whether one fails with so many contexts, and what the encoding finds is a
//! run of the machine.

use super::support;
use fencepost_bmc::Verdict;
use fencepost_bmc::power::{Options, PowerRun, check};
use fencepost_ir::Program;
use fencepost_machine::power;
use fencepost_machine::power::schedule::{Schedule, replay};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

fn cases(default: u32) -> u32 {
    std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Whether an assertion fails; if so, the run that was found is done again.
fn fails(program: &Program, unroll: u32, contexts: u32) -> Result<bool, String> {
    let found = check(program, &Options::new(unroll), contexts..=contexts).expect("supported");
    match (found.verdict, found.run) {
        (Verdict::Safe, _) => Ok(false),
        (Verdict::Unsafe, Some(PowerRun { active, init, commit, reach, ways, choices })) => {
            let code = power::prepare(program, unroll, false).expect("supported");
            let plan = Schedule { active, init, commit, reach, ways, choices };
            replay(&code, &plan).map(|_| true).map_err(str::to_owned)
        }
        other => Err(format!("{other:?}")),
    }
}

fn machine_fails(program: &Program, contexts: u32) -> bool {
    let checked = power::check(program, &power::Options::new(Some(contexts), 2)).expect("supported");
    assert!(checked.outcome.stop_reason.is_none(), "{:?}", checked.outcome.stop_reason);
    checked.outcome.verdict == fencepost_machine::Verdict::Unsafe
}

fn assertion() -> impl Strategy<Value = &'static str> {
    select(vec!["assert(r != 1);", "assert(s == r);", "assert(s < 2);", "assume(r);", "assert(r + s < 3);"])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), rng_seed: RngSeed::Fixed(11), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn assertions_of_two_threads(
        threads in vec(vec(support::power_statement(), 1..=3), 2..=2),
        asserted in vec((0usize..8, assertion()), 1..=2),
        contexts in 1u32..=4,
    ) {
        let program = support::asserting_program(&threads, &asserted);
        prop_assert_eq!(fails(&program, 2, contexts), Ok(machine_fails(&program, contexts)), "{} contexts, {:?} \
            {:?}", contexts, threads, asserted);
    }

    #[test]
    fn assertions_of_three_threads(
        threads in vec(vec(support::power_statement(), 1..=2), 3..=3),
        asserted in vec((0usize..9, assertion()), 1..=2),
        contexts in 2u32..=5,
    ) {
        let program = support::asserting_program(&threads, &asserted);
        prop_assert_eq!(fails(&program, 2, contexts), Ok(machine_fails(&program, contexts)), "{} contexts, {:?} \
            {:?}", contexts, threads, asserted);
    }
}

/// Peterson's algorithm: unsafe with three contexts, not with two; safe with fences.
#[test]
fn peterson() {
    let text = |fence: &str| {
        let side = |me: u32, other: u32| {
            format!(
                "process P{me} {{ reg f, t; flag[{me}] := 1; {fence} turn := {other}; {fence}
                 f := flag[{other}]; t := turn; while (f == 1 && t == {other}) {{ f := flag[{other}]; t := turn; }} {fence}
                 inside := {me}; assert(inside == {me}); {fence} flag[{me}] := 0; }}"
            )
        };
        format!("shared flag[2], turn, inside; {} {}", side(0, 1), side(1, 0))
    };
    let unfenced = support::parse(&text(""));
    assert_eq!(fails(&unfenced, 2, 2), Ok(false));
    assert_eq!(fails(&unfenced, 2, 3), Ok(true));
    let fenced = support::parse(&text("fence sync;"));
    for contexts in 1..=6 {
        assert_eq!(fails(&fenced, 4, contexts), Ok(false), "{contexts}");
    }
}
