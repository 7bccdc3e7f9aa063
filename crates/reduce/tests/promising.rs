//! Machine and reduction of the promising semantics reach the same final states at the same bound: here on a slice of the family
//! of all
//! small programs, and on random larger ones; `cargo xtask promising-family translation` runs more.

#[path = "support/promising.rs"]
mod support;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[test]
fn a_slice_of_the_family() {
    for text in support::family().step_by(2200) {
        support::agrees(&text, 2).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// LB needs K = 3: a promise and two view switches.
#[test]
fn load_buffering_needs_three() {
    let text = support::text(&[2, 1], &[3, 7]);
    for bound in 0..=4 {
        let (machine, reduced) = support::both(&text, bound, bound);
        assert_eq!(machine, reduced, "K = {bound}");
        let one = fencepost_ir::Value(1);
        assert_eq!(reduced.iter().any(|state| state[2] == one), bound >= 3, "K = {bound}");
    }
}

/// Iterations that go on after another thread has moved skip no statement: both stores of each are there.
#[test]
fn iterations_skip_no_statement() {
    let text = "shared x, y, z; process P { reg i, a, n; \
                while (i < 2) { a := y; n := n + 1; x := n; z := n + 4 * a; i := i + 1; } } \
                process Q { reg b; y := 1; b := x; y := b; } observe x, y, z; exists true;";
    for bound in 0..=2 {
        let (machine, reduced) = support::both_straightened(text, bound, 3);
        assert_eq!(machine, reduced, "K = {bound}");
        let values: Vec<(u64, u64)> = reduced.iter().map(|state| (state[0].0, state[2].0 % 4)).collect();
        assert!(values.iter().all(|&last| last == (2, 2)), "K = {bound}: {values:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn larger_programs(a in proptest::collection::vec(0usize..9, 2..4), b in proptest::collection::vec(0usize..9, 2..4)) {
        support::agrees(&support::text(&a, &b), 2).map_err(TestCaseError::fail)?;
    }
}
