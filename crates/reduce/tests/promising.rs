//! Machine and reduction of the promising semantics reach the same final states at the same bound: here on a slice of the family of all
//! small programs, and on random larger ones; `cargo xtask promising-family translation` runs more.

#[path = "support/promising.rs"]
mod support;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[test]
fn a_slice_of_the_family() {
    for text in support::family().step_by(700) {
        support::agrees(&text, 2).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// LB needs K = 3: a promise and two view switches.
#[test]
fn load_buffering_needs_three() {
    let text = support::text(&[2, 1], &[3, 7]);
    for bound in 0..=4 {
        let (machine, reduced) = support::both(&text, bound, true);
        assert_eq!(machine, reduced, "K = {bound}");
        let one = fencepost_ir::Value(1);
        assert_eq!(reduced.iter().any(|state| state[2] == one), bound >= 3, "K = {bound}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn larger_programs(a in proptest::collection::vec(0usize..9, 2..4), b in proptest::collection::vec(0usize..9, 2..4)) {
        support::agrees(&support::text(&a, &b), 2).map_err(TestCaseError::fail)?;
    }
}
