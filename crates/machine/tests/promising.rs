//! Litmus tests with published outcomes on the promising machine, under both notions of consistency.

use fencepost_machine::promising::{Bounds, Consistency, Options, check};
use fencepost_machine::{Outcome, Verdict};

fn run(text: &str, consistency: Consistency, promises: Option<u16>) -> Outcome {
    let program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let bounds = Bounds { promises, ..Bounds::default() };
    check(&program, &Options { consistency, bounds, ..Options::default() }).expect("supported")
}

/// `exists` conditions: is the state reached?
fn allowed(text: &str, consistency: Consistency, promises: Option<u16>) -> bool {
    let outcome = run(text, consistency, promises);
    match outcome.verdict {
        Verdict::Safe => true,
        // Without promises the bound is named, so that absence is no proof.
        Verdict::Unsafe | Verdict::Unknown if outcome.finding.is_some() || promises == Some(0) => false,
        _ => panic!("{text}: {:?}", outcome.reason),
    }
}

/// Name, program, allowed without promises, under strong, under standard consistency.
const LITMUS: &[(&str, &str, bool, bool, bool)] = &[
    // [AAGKV, 3.2]
    (
        "LB",
        "shared x, y; process P { reg a; a := x; y := 1; } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        true,
        true,
    ),
    (
        "LBd",
        "shared x, y; process P { reg a; a := x; y := a; } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        false,
        false,
    ),
    (
        "LBfd",
        "shared x, y; process P { reg a; a := x; y := a + 1 - a; } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        true,
        true,
    ),
    (
        "LBcu",
        "shared x, y; process P { reg a, c; a := x; c := cas(x, a, a); assume(c); y := 1; } \
         process Q { reg b; b := y; x := b; } exists P.a == 1;",
        false,
        false,
        true,
    ),
    (
        "LBcd",
        "shared x, y; process P { reg a, c; a := x; c := cas(x, 0, 1); assume(c); y := 1; } \
         process Q { reg b; b := y; x := b; } exists P.a == 1;",
        false,
        false,
        false,
    ),
    // [AAGKV, 3.1]: the promise that would lead into a deadlock cannot be made.
    (
        "Deadlock-c",
        "shared x, y; process P { reg c; c := cas(x, 0, 1); assume(c); y := 1; } \
         process Q { reg a, c; a := y; assume(a == 1); c := cas(x, 0, 1); assume(c); } exists Q.a == 1;",
        false,
        false,
        false,
    ),
    (
        "Deadlock-w",
        "shared x, y; process P { reg a; x := 2; a := x; assume(a == 1); y := 1; } \
         process Q { reg b; x := 1; b := y; assume(b == 1); } process R { x := 3; } exists Q.b == 1 && P.a == 1;",
        true,
        true,
        true,
    ),
];

#[test]
fn published_outcomes() {
    for (name, text, free, strong, standard) in LITMUS {
        eprintln!("{name}");
        assert_eq!(allowed(text, Consistency::Strong, Some(0)), *free, "{name}, promise-free");
        assert_eq!(allowed(text, Consistency::Strong, None), *strong, "{name}, strong");
        assert_eq!(allowed(text, Consistency::Standard, None), *standard, "{name}, standard");
    }
}
