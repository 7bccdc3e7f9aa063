//! Assertions, final conditions and accesses that hit no cell: the encoding and the machine give the same answer with each number
//! of contexts, and every run that the encoding shows is one of
//! the machine. `cargo xtask power questions` asks 20,000 of them.

use super::support;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn cases(default: u32) -> u32 {
    std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), rng_seed: RngSeed::Fixed(27), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn answers_are_the_same(question in support::question(), contexts in 1u32..=4) {
        let program = question.program();
        if let Some(machine) = support::machine(&program, contexts, 200_000) {
            prop_assert_eq!(support::encoded(&program, contexts), Ok(machine), "{} contexts: {}", contexts, question.text());
        }
    }
}

/// Two threads, five contexts: what the fence of the first waits for is known only when the second thread's store comes back.
#[test]
fn a_fence_waits_for_what_is_known_with_two_threads() {
    let program = support::parse(
        "shared x, y; process A { reg r; y := 2; x := 1; fence sync; r := y; x := r; } process B { reg r; x := 1; y \
            := 1; fence lwsync; r := y; }
         never A.r == 2 && B.r == 1 && x == 1 && y == 2;",
    );
    for contexts in 1..=6 {
        assert_eq!(
            support::encoded(&program, contexts),
            Ok(support::machine(&program, contexts, 1_000_000).expect("few states")),
            "{contexts}"
        );
    }
}

/// An assertion orders nothing: the store behind it may have been what makes it false.
#[test]
fn an_assertion_orders_nothing() {
    let program = support::parse(
        "shared x, y; process A { reg r; r := x; assert(r == 0); y := 1; } process B { reg r; r := y; x := r; }",
    );
    assert_eq!(support::encoded(&program, 3), Ok(support::Said::Wrong));
    assert_eq!(support::machine(&program, 3, 100_000), Some(support::Said::Wrong));
    let program = support::parse(
        "shared x, y; process A { reg r; r := x; assume(r == 0); y := 1; } process B { reg r; r := y; x := r; \
            assert(r == 0 || r == 1); }",
    );
    assert_eq!(support::encoded(&program, 5), Ok(support::Said::Right));
}

/// A fence or an `isync` behind an access that hits no cell does not hide it.
#[test]
fn what_is_behind_a_bad_access_does_not_hide_it() {
    for fence in ["isync", "eieio", "lwsync", "sync"] {
        let program = support::parse(&format!(
            "shared x[2], y; process A {{ reg r; r := y; x[r] := 1; fence {fence}; y := 3; }} process B {{ y := 2; }} \
                process C {{ reg r; r := y; }}"
        ));
        assert_eq!(support::encoded(&program, 3), Ok(support::Said::Wrong), "{fence}");
        assert_eq!(support::machine(&program, 3, 100_000), Some(support::Said::Wrong), "{fence}");
    }
}
