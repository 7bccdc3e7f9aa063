//! Machine and encoding of the promising semantics reach the same final states at the same bound: here on a slice of the family
//! of all
//! small programs and on random larger ones; `cargo xtask promising-family` runs it all.

#[path = "support/promising.rs"]
mod support;

use fencepost_bmc::Verdict;
use fencepost_machine::promising::Bounds;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::{Compared, check};

/// Panics where engines differ; the number of programs on which they were compared.
fn compare(programs: impl Iterator<Item = String>, by: impl Fn(&str) -> Result<Compared, String>) -> usize {
    let compared = |text: String| by(&text).unwrap_or_else(|difference| panic!("{difference}"));
    programs.map(compared).filter(|compared| *compared != Compared::Skipped).count()
}

#[test]
fn a_slice_of_the_family() {
    let one = |text: &str| support::agrees(text, 3, &[Some(0), Some(1)]);
    assert!(compare(support::family().step_by(150), one) > 80);
    let any = |text: &str| support::agrees(text, 4, &[None]);
    assert!(compare(support::family().skip(7).step_by(1500), any) > 8);
}

/// Where the answer names no K, the machine without K reaches the same states.
#[test]
fn a_bound_that_is_left_out_bounds_nothing() {
    let programs = support::family().skip(3).step_by(70);
    assert!(compare(programs, |text| support::needs_no_bound(text, 5)) > 150);
}

/// Reads behind a failed assertion cost nothing, but the thread has to fulfil its promises.
#[test]
fn assertions_fail_at_the_same_bounds() {
    let programs = (0..60).filter_map(support::asserting);
    assert!(compare(programs, |text| support::same_verdicts(text, 3, &[0, 1])) > 40);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn larger_programs(a in proptest::collection::vec(0usize..9, 2..4), b in proptest::collection::vec(0usize..9, 2..4)) {
        let text = support::text(&a, &b);
        support::agrees(&text, 3, &[Some(0), Some(1)]).map_err(TestCaseError::fail)?;
    }
}

/// The certification fulfils the promise by the compare-exchange, behind the store of the other thread, and the run does so by
/// the store.
#[test]
fn a_promise_may_touch_for_its_certification_only() {
    let text = "shared x, y; process P { reg a, b; a := y; b := cas(x, 0, 1); x := 1; } \
                process Q { reg a; x := 0; a := x; y := a; } observe x, y, P.a, P.b, Q.a; exists true;";
    let by = |text: &str| support::agrees(text, 4, &[Some(1)]);
    assert_eq!(compare([text.to_owned()].into_iter(), by), 1);
}

/// Iterations that go on after another thread has moved skip no statement: both stores of each are there.
#[test]
fn iterations_skip_no_statement() {
    let text = "shared x, y, z; process P { reg i, a, n; \
                while (i < 2) { a := y; n := n + 1; x := n; z := n + 4 * a; i := i + 1; } } \
                process Q { reg b; y := 1; b := x; y := b; } observe x, y, z, P.n; exists true;";
    assert_eq!(
        compare([text.to_owned()].into_iter(), |text| support::agrees(text, 3, &[Some(0), Some(1)])),
        1
    );
    let program = fencepost_lang::parse(text).expect("parses");
    let bounds = Bounds { total: Some(3), promises: Some(0), views: None };
    let states = support::by_encoding(&program, bounds).expect("confirmed");
    assert!(states.len() > 4, "{states:?}");
    assert!(
        states.iter().all(|state| state[0].0 == 2 && state[2].0 % 4 == 2 && state[3].0 == 2),
        "{states:?}"
    );
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
        assert_eq!(found.verdict, verdict, "K = {total}, {promises} promises: {:?}", found.why);
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
    // Two view switches at most: K bounds nothing.
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

/// A promise that is certified by being split, by the compare-exchange; and one that nobody reads, without which no other is
/// certified.
#[test]
fn promises_that_are_split_or_unread() {
    let split = "shared x, y; process P { reg a, c; a := x; c := cas(y, 0, 1); assume(c); y := 2; assert(a == 0); } \
                 process Q { reg b; b := y; assume(b == 2); x := 2; }";
    assert_eq!(check(split, 6, 1).verdict, Verdict::Unsafe);
    let unread = "shared x, y, z; process P { reg a, c; a := x; c := fetch_add(y, 1); z := 1; assert(a == 0); } \
                  process Q { reg b; b := z; x := b; }";
    assert_eq!(check(unread, 6, 2).verdict, Verdict::Unsafe);
    assert_eq!(check(unread, 6, 1).verdict, Verdict::Safe);
}

/// The message of a third thread comes to touch the promise from below, so that the owner's read-modify-write may read it and
/// fulfil the promise.
#[test]
fn a_message_may_touch_a_promise_from_below() {
    let text = "shared x, y, z; process P { reg r, c; r := y; if (r == 0) { x := 1; } c := fetch_add(x, 1); } \
                process Q { reg d; d := z; if (d == 2) { x := 1; y := 1; } } \
                process R { reg b; b := x; z := b; } observe P.r, P.c, Q.d, R.b; exists true;";
    let program = fencepost_lang::parse(text).expect("parses");
    for (total, reached) in [(4, false), (5, true)] {
        let bounds = Bounds { total: Some(total), promises: Some(1), views: None };
        let machine = support::by_machine(&program, bounds).expect("ends");
        assert_eq!(machine.iter().any(|state| state[0].0 == 1), reached, "K = {total}: {machine:?}");
        assert_eq!(support::by_encoding(&program, bounds), Ok(machine), "K = {total}");
    }
}

/// Values of more bits than the first formula has: written, promised, and written by a certification alone.
#[test]
fn large_values() {
    let other = "process Q { reg b; b := z; x := b; }";
    for (first, wrong) in [
        ("a := x; z := 300; assert a != 300;", true),
        ("a := x; z := 300; assert a != 301;", false),
        ("a := x; y := 300; b := y; z := b - 299; assert a != 1;", true),
        ("a := x; if (a == 0) { y := 300; b := y; z := b - 299; } else { z := 1; } assert a != 1;", true),
        ("a := x; if (a == 0) { y := 300; b := y; z := b - 298; } else { z := 1; } assert a != 1;", false),
        // What was promised as 300 would have to be written as 600.
        ("a := x; z := a + 300; assert a == 0;", false),
    ] {
        let text = format!("shared x, y, z; process P {{ reg a, b; {first} }} {other}");
        for promises in 1..=2 {
            support::same_verdicts(&text, 4, &[promises]).unwrap_or_else(|difference| panic!("{difference}"));
            let found = support::check(&text, 10, promises);
            assert_eq!(found.verdict == Verdict::Unsafe, wrong, "{text} with {promises} promises");
        }
    }
}
