//! Machine and reduction reach the same final states (shared variables and registers) at the same bound: on the family
//! of all small programs (here a seeded slice; `cargo xtask campaign` runs it all), and on random larger ones with loops,
//! calls and atomic sections.

#[path = "support/mod.rs"]
mod support;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn small_programs(a in support::sequence(), b in support::sequence()) {
        support::agrees(&support::small(&a, &b)).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_large_bound_is_no_bound_and_the_machines_are_the_axioms(a in support::sequence(), b in support::sequence()) {
        let text = support::small(&a, &b);
        support::large_bounds_agree(&text).map_err(TestCaseError::fail)?;
        support::axioms_agree(&text).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn larger_programs(threads in support::larger()) {
        support::agrees(&support::text(&threads)).map_err(TestCaseError::fail)?;
    }
}

/// Two stores that reach memory in two rounds in which the thread itself does nothing: the paper's figures, which allow
/// one new round per statement, miss this.
#[test]
fn rounds_in_which_only_the_buffer_works() {
    let text = "shared x, y; process P { x := 1; y := 1; fence; } \
                process Q { reg r, s; r := x; x := 2; s := y; y := 2; } \
                observe x, y, Q.r, Q.s; exists true;";
    support::agrees(text).expect("machine and reduction agree");
}

#[test]
fn a_large_age_is_no_bound() {
    let text = "shared x, y; process P { reg r; x := 1; y := 1; r := y; } \
                process Q { reg r, s; y := 2; r := x; s := y; } \
                observe x, y, P.r, Q.r, Q.s; exists true;";
    let unbounded = support::machine_states(text, None, None);
    assert_eq!(support::machine_states(text, None, Some(20)), unbounded);
    assert_eq!(support::machine_states(text, Some(20), None), unbounded);
    assert_ne!(support::machine_states(text, None, Some(0)), unbounded);
}

#[test]
fn spawn_and_join() {
    let text = "shared x, y; main M { reg t, r; x := 1; t := spawn W(2); r := y; join t; r := x; } \
                procedure W(v) { reg s; s := x; x := v; y := s; } \
                observe x, y, M.r; exists true;";
    support::agrees(text).expect("machine and reduction agree");
}
