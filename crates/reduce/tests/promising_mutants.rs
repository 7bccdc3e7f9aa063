//! Mutants of the translation of the promising semantics: each rule is left out once, and a program must notice, that is, have
//! other final states than on the
//! machine.

#[path = "support/promising.rs"]
mod support;

use fencepost_reduce::promising::Rule;

/// Shapes first, then programs of the families.
fn program(index: u64) -> String {
    match SHAPES.get(index as usize) {
        Some(shape) => (*shape).into(),
        None if index.is_multiple_of(2) => support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX),
        None => support::biased(index),
    }
}

const SHAPES: [&str; 8] = [
    // A certification that switches the view.
    "shared x, y; process P { reg a, b; a := y; b := y; if (b == 1) { x := 1; } } process Q { reg a; y := 1; a := x; y := 2; } \
     observe x, y, P.a, P.b, Q.a; exists true;",
    // Behind its own unpromised write, a certification reads nothing of others.
    "shared x, y, z; process P { reg a, b; a := y; x := 1; b := x; if (b == 2) { z := 1; } } \
     process Q { reg a; x := 2; a := z; y := a; } observe P.a, P.b, Q.a; exists true;",
    // The promise x = 1 touches the initial message, so that 5 cannot be between.
    "shared x, y; process P { reg a, b; a := y; if (a == 1) { x := 1; } else { b := fetch_add(x, 1); } } \
     process Q { reg a; a := x; if (a == 1) { y := 1; } } process R { x := 5; } observe x, y, P.a, Q.a; exists true;",
    // Having read a = 1, P cannot certify x = 1 before z = 1 is there, which comes of what it does next.
    "shared w, x, y, z; process P { reg a, b; a := y; w := a; b := z; if (a == 1) { if (b == 0) { x := 2; } else { x \
        := 1; } } else { x := 1; } } \
     process Q { reg a, b; a := x; y := a; b := w; z := b; } observe P.a, P.b, Q.a, Q.b; exists true;",
    // A promise behind a fence is not certified in front of it.
    "shared x, y; process P { reg a; a := y; if (a == 1) { x := 1; } else { fence; x := 1; } } process Q { reg a; a \
        := x; y := a; } \
     observe x, y, P.a, Q.a; exists true;",
    // Certified by a view switch, which counts because Q goes on.
    "shared w, x, y; process P { reg a, b; a := y; b := w; if (b == 1) { x := 1; } } process Q { reg a; w := 1; a := \
        x; y := a; } \
     observe P.a, P.b, Q.a; exists true;",
    // A promise that is split.
    "shared x, y; process P { reg a, b; a := y; x := 1; b := fetch_add(x, 1); } process Q { reg a; a := x; y := a; } \
     observe x, y, P.a, P.b, Q.a; exists true;",
    // Not both read 0.
    "shared x; process P { reg a; a := fetch_add(x, 1); } process Q { reg a; a := fetch_add(x, 1); } observe x, P.a, \
        Q.a; exists true;",
];

/// Rules, the programs that notice, K and promises.
const RULES: &[(Rule, u64, u16, u16)] = &[
    (Rule::ReadsNewer, 0, 5, 1),
    (Rule::UpdateTouches, 7, 2, 1),
    (Rule::FulfilsValue, 15, 5, 2),
    (Rule::CertifiesPromise, 6, 4, 1),
    (Rule::CertifiesStep, 0, 5, 1),
    (Rule::CountsCertification, 5, 4, 1),
    (Rule::GhostReadsNewer, 221, 3, 2),
    (Rule::GhostWritesLast, 1, 5, 1),
    (Rule::GhostUpdatesByPromise, 14, 4, 2),
    (Rule::GhostTouches, 2, 5, 1),
    (Rule::GhostFulfilsValue, 3, 5, 1),
    (Rule::GhostStopsAtFence, 4, 5, 1),
];

#[test]
fn rules_are_noticed() {
    let mut missed = Vec::new();
    for &(rule, index, bound, promises) in RULES {
        let text = program(index);
        // With all rules they agree.
        support::agrees_soon(&text, bound, promises).unwrap_or_else(|difference| panic!("{difference}"));
        let both = support::both_without(&text, bound, promises, Some(rule));
        if both.is_none_or(|(machine, reduced)| machine == reduced) {
            missed.push(rule);
        }
    }
    assert!(missed.is_empty(), "nobody notices that these are missing: {missed:?}");
}
