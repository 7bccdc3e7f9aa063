//! Machine and encoding of the promising semantics reach the same final states at the same bound: here on a slice of the family of all
//! small programs and on random larger ones; `cargo run --profile fast -p fencepost-bmc --example promising_family` runs it all.

#[path = "support/promising.rs"]
mod support;

use fencepost_bmc::promising::{self as encoding, Options, Run};
use fencepost_bmc::{Verdict, symbolic};
use fencepost_machine::promising::Bounds;
use fencepost_machine::promising::plan::Replayer;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[test]
fn a_slice_of_the_family() {
    for text in support::family().step_by(150) {
        support::agrees(&text, 3, Some(1)).unwrap_or_else(|difference| panic!("{difference}"));
    }
    for text in support::family().skip(7).step_by(1500) {
        support::agrees(&text, 4, None).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn larger_programs(a in proptest::collection::vec(0usize..9, 2..4), b in proptest::collection::vec(0usize..9, 2..4)) {
        support::agrees(&support::text(&a, &b), 3, Some(1)).map_err(TestCaseError::fail)?;
    }
}

/// What the encoding says, each run confirmed by the machine.
fn check(text: &str, total: u16, promises: u16) -> encoding::Outcome {
    let program = fencepost_lang::parse(text).expect("parses");
    let options = Options {
        symbolic: symbolic::Options::default(),
        bounds: encoding::Bounds { total: total.into(), promises: promises.into(), views: None },
        progress: None,
    };
    let replayer = Replayer::new(&program).expect("supported");
    let bounds = Bounds { total: Some(total), promises: Some(promises), views: None };
    let mut confirm = |run: &Run| {
        let replayed = replayer.replay(&support::plan(run), bounds)?;
        replayed.finding.map(drop).ok_or_else(|| "nothing is wrong at its end".to_owned())
    };
    encoding::check(&program, &options, &mut confirm).expect("supported")
}

/// Load buffering with a dependency on one side: one promise and two view switches.
const LBD: &str =
    "shared x, y; process P { reg a; a := x; y := 1; assert a == 0; } process Q { reg b; b := y; x := b; }";

#[test]
fn load_buffering_needs_a_promise_and_two_switches() {
    for (total, promises, verdict) in
        [(2, 1, Verdict::Safe), (3, 0, Verdict::Safe), (3, 1, Verdict::Unsafe), (10, 1, Verdict::Unsafe)]
    {
        let found = check(LBD, total, promises);
        assert_eq!(found.verdict, verdict, "K = {total}, {promises} promises: {:?}", found.reason);
        if let Some(run) = found.run {
            assert_eq!((run.promises, run.views), (1, 2));
        }
    }
}

/// With a dependency on both sides nothing is certified: no values out of thin air.
#[test]
fn nothing_comes_out_of_thin_air() {
    let text = "shared x, y; process P { reg a; a := x; y := a; assert a == 0; } process Q { reg b; b := y; x := b; }";
    let found = check(text, 8, 2);
    assert_eq!((found.verdict, found.spent), (Verdict::Safe, false));
}

/// The branch that fails never fulfils the promise that made it fail: by section 3 that is no run.
#[test]
fn a_failing_branch_has_to_fulfil_the_promise() {
    let text = "shared x, y; process P { reg a; a := x; if (a == 0) { y := 1; } else { assert(0); } } \
                process Q { reg b; b := y; x := b; }";
    assert_eq!(check(text, 8, 2).verdict, Verdict::Safe);
}

/// A bound that nothing exhausts does not bound the answer.
#[test]
fn a_bound_that_cuts_nothing_is_known() {
    let text = "shared x; process P { x := 1; } process Q { reg a; a := x; assert a <= 1; }";
    let found = check(text, 5, 0);
    assert_eq!((found.verdict, found.spent, found.cut), (Verdict::Safe, false, false));
}
