//! Rounds of loops that do nothing can be left out: the final states are those with all rounds up to the bound.

use super::support;
use fencepost_bmc::power::{Options, states_up_to};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// A loop that waits, in several forms; `#` is a number of its own.
fn waiting() -> impl Strategy<Value = &'static str> {
    select(vec![
        "l#: r := x; if (r == 0) { goto l#; }",
        "l#: r := y; fence lwsync; if (r != 1) { goto l#; }",
        "l#: s := x; if (s == 0) { y := 1; goto l#; }",
        "l#: r := x; if (r == 1) { s := y; if (s == 0) { x := 2; } goto l#; }",
        "l#: s := y[r ^ r]; if (s == 2) { fence sync; goto l#; }",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(23), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn waiting_longer_changes_nothing(
        threads in vec((vec(support::power_statement(), 0..=1), waiting(), vec(support::power_statement(), 0..=2)), 2..=2),
    ) {
        let mut text = String::new();
        for (i, (before, wait, after)) in threads.iter().enumerate() {
            let wait = wait.replace('#', &i.to_string());
            text += &format!("process P{i} {{ reg r, s; {} {wait} {} }} ", before.concat(), after.concat());
        }
        let program = support::parse(&format!(
            "shared x[2], y[2]; {} observe x[0], x[1], y[0], P0.r, P0.s, P1.r, P1.s; exists x[1] == 0;",
            support::indexed(&text)
        ));
        let states = |skip_idle: bool| {
            let options = Options { skip_idle, ..Options::new(2) };
            states_up_to(&program, &options, 1..=4).expect("supported").expect("no limit")
        };
        prop_assert_eq!(states(true), states(false), "{}", text);
    }
}
