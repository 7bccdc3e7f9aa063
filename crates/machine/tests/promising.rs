//! Litmus tests with published outcomes on the promising machine, under both notions of consistency.

use fencepost_answer::trace::{Action, Held, Step};
use fencepost_answer::{BoundName, Outcome, Verdict};
use fencepost_machine::promising::{Bounds, Consistency, Options, check};

fn run(text: &str, consistency: Consistency, promises: Option<u16>) -> Outcome {
    let program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let bounds = Bounds { promises, ..Bounds::default() };
    check(&program, &Options { consistency, bounds, ..Options::default() }).expect("supported").outcome
}

/// `exists` conditions: is the state reached?
fn allowed(text: &str, consistency: Consistency, promises: Option<u16>) -> bool {
    let outcome = run(text, consistency, promises);
    match outcome.verdict {
        Verdict::Safe => true,
        // Without promises the bound is named, so that absence is no proof.
        Verdict::Unsafe | Verdict::Unknown if !outcome.findings.is_empty() || promises == Some(0) => false,
        _ => panic!("{text}: {:?}", outcome.stop_reason),
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
    // Thin air: what is read would have to come from itself.
    ("one thread", "shared x; process P { reg a; a := x; x := 1; } exists P.a == 1;", false, false, false),
    (
        "LB+ctrls",
        "shared x, y; process P { reg a; a := x; if (a == 1) { y := 1; } } \
         process Q { reg b; b := y; if (b == 1) { x := 1; } } exists P.a == 1;",
        false,
        false,
        false,
    ),
    (
        "LB+ctrl, both branches write",
        "shared x, y; process P { reg a; a := x; if (a == 1) { y := 1; } else { y := 1; } } \
         process Q { reg b; b := y; x := b; } exists P.a == 1;",
        false,
        true,
        true,
    ),
    (
        "random number generator",
        "shared x, y; process P { reg a; a := x; y := a + 1; } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        false,
        false,
    ),
    // [KHLVD, 1]
    (
        "ARM-weak",
        "shared x, y; process P { reg a; a := x; x := 1; } process Q { y := x; } process R { x := y; } \
         exists P.a == 1;",
        false,
        true,
        true,
    ),
    // A promise that a read-modify-write fulfils holds its place.
    (
        "LB+fetch_add",
        "shared x, y; process P { reg a, c; a := x; c := fetch_add(y, 1); } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        true,
        true,
    ),
    // The branch that reads the promise's effect never fulfils it.
    (
        "LB, no fulfilment",
        "shared x, y; process P { reg a; a := x; if (a == 0) { y := 1; } } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        false,
        false,
    ),
    (
        "LB+fence",
        "shared x, y; process P { reg a; a := x; fence; y := 1; } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        false,
        false,
    ),
    (
        "LB+release",
        "shared x, y; process P { reg a; a := x; store.rel(&y, 1); } process Q { reg b; b := y; x := b; } \
         exists P.a == 1;",
        false,
        false,
        false,
    ),
    // Coherence.
    (
        "CoRR",
        "shared x; process P { x := 1; x := 2; } process Q { reg a, b; a := x; b := x; } \
         exists Q.a == 2 && Q.b == 1;",
        false,
        false,
        false,
    ),
    (
        "CoWR",
        "shared x; process P { reg a; x := 1; a := x; } process Q { x := 2; } exists P.a == 0;",
        false,
        false,
        false,
    ),
    (
        "CoRW",
        "shared x; process P { reg a; a := x; x := 1; } process Q { reg b; b := x; x := 2; } \
         exists P.a == 2 && Q.b == 1;",
        false,
        false,
        false,
    ),
    (
        "SB",
        "shared x, y; process P { reg a; x := 1; a := y; } process Q { reg b; y := 1; b := x; } \
         exists P.a == 0 && Q.b == 0;",
        true,
        true,
        true,
    ),
    (
        "SB+fences",
        "shared x, y; process P { reg a; x := 1; fence; a := y; } process Q { reg b; y := 1; fence; b := x; } \
         exists P.a == 0 && Q.b == 0;",
        false,
        false,
        false,
    ),
    (
        "2+2W",
        "shared x, y; process P { x := 1; y := 2; } process Q { y := 1; x := 2; } exists x == 1 && y == 1;",
        true,
        true,
        true,
    ),
    (
        "MP",
        "shared x, y; process P { x := 1; y := 1; } process Q { reg a, b; a := y; b := x; } \
         exists Q.a == 1 && Q.b == 0;",
        true,
        true,
        true,
    ),
    (
        "MP+fences",
        "shared x, y; process P { x := 1; fence; y := 1; } process Q { reg a, b; a := y; fence; b := x; } \
         exists Q.a == 1 && Q.b == 0;",
        false,
        false,
        false,
    ),
    (
        "MP+rel+acq",
        "shared x, y; process P { x := 1; store.rel(&y, 1); } process Q { reg a, b; a := load.acq(&y); b := x; } \
         exists Q.a == 1 && Q.b == 0;",
        false,
        false,
        false,
    ),
    (
        "MP+rel+rlx",
        "shared x, y; process P { x := 1; store.rel(&y, 1); } process Q { reg a, b; a := y; b := x; } \
         exists Q.a == 1 && Q.b == 0;",
        true,
        true,
        true,
    ),
    (
        "MP+rel fence+acq fence",
        "shared x, y; process P { x := 1; fence c11.rel; y := 1; } \
         process Q { reg a, b; a := y; fence c11.acq; b := x; } exists Q.a == 1 && Q.b == 0;",
        false,
        false,
        false,
    ),
    (
        "MP over a release sequence",
        "shared x, y; process P { x := 1; store.rel(&y, 1); } process R { reg c; c := fetch_add(y, 1); } \
         process Q { reg a, b; a := load.acq(&y); b := x; } exists Q.a == 2 && Q.b == 0 && R.c == 1;",
        false,
        false,
        false,
    ),
    (
        "IRIW+acqs",
        "shared x, y; process P { store.rel(&x, 1); } process Q { store.rel(&y, 1); } \
         process R { reg a, b; a := load.acq(&x); b := load.acq(&y); } \
         process S { reg a, b; a := load.acq(&y); b := load.acq(&x); } \
         exists R.a == 1 && R.b == 0 && S.a == 1 && S.b == 0;",
        true,
        true,
        true,
    ),
    (
        "IRIW+fences",
        "shared x, y; process P { x := 1; } process Q { y := 1; } \
         process R { reg a, b; a := x; fence; b := y; } process S { reg a, b; a := y; fence; b := x; } \
         exists R.a == 1 && R.b == 0 && S.a == 1 && S.b == 0;",
        false,
        false,
        false,
    ),
    (
        "WRC+rel+acq",
        "shared x, y; process P { store.rel(&x, 1); } process Q { reg a; a := load.acq(&x); store.rel(&y, a); } \
         process R { reg b, c; b := load.acq(&y); c := x; } exists R.b == 1 && R.c == 0;",
        false,
        false,
        false,
    ),
    // Read-modify-writes are atomic.
    (
        "two fetch_adds",
        "shared x; process P { reg a; a := fetch_add(x, 1); } process Q { reg b; b := fetch_add(x, 1); } \
         exists P.a == 0 && Q.b == 0;",
        false,
        false,
        false,
    ),
    (
        "RMW chain",
        "shared x; process P { reg a; a := fetch_add(x, 1); } process Q { reg b; b := swap(x, 5); } \
         process R { x := 3; } exists P.a == 3 && Q.b == 4 && x == 5;",
        true,
        true,
        true,
    ),
];

#[test]
fn published_outcomes() {
    for (name, text, free, strong, standard) in LITMUS {
        assert_eq!(allowed(text, Consistency::Strong, Some(0)), *free, "{name}, promise-free");
        assert_eq!(allowed(text, Consistency::Strong, None), *strong, "{name}, strong");
        assert_eq!(allowed(text, Consistency::Standard, None), *standard, "{name}, standard");
    }
}

/// SC accesses: with nothing else, sequential consistency.
#[test]
fn sc_accesses_alone_are_sequentially_consistent() {
    let store_buffering = "shared x, y; process P { reg a; store.sc(&x, 1); a := load.sc(&y); } \
         process Q { reg b; store.sc(&y, 1); b := load.sc(&x); } exists P.a == 0 && Q.b == 0;";
    assert!(!allowed(store_buffering, Consistency::Strong, None));
}

/// The promise is made, read, and fulfilled; the views are shown.
#[test]
fn a_run_tells_of_promises_and_views() {
    let text = "shared x, y; process P { reg a; a := x; y := 1; assert(a == 0); } process Q { reg b; b := y; x := b; }";
    let outcome = run(text, Consistency::Strong, Some(1));
    assert_eq!(outcome.verdict, Verdict::Unsafe);
    let held = |held: &Held| match held {
        Held::View { cell, place } => format!("{}@{place}", cell.name),
        Held::Owes { cell, value } => format!("owes {}={}", cell.name, value.name),
        other => panic!("{other:?}"),
    };
    let did = |step: &Step| match &step.action {
        Action::Promise { cell, value, splits: false } => format!("promises {} {}", cell.name, value.name),
        Action::Read { cell, seen, .. } => format!("R {} {}", cell.name, seen.value.name),
        Action::Write { cell, made, .. } => format!("W {} {}", cell.name, made.value.name),
        other => panic!("{other:?}"),
    };
    let all = |step: &Step| {
        let threads = step.held.iter().map(|of| of.iter().map(held).collect::<Vec<_>>().join(" "));
        let (fulfils, switches) = (step.fulfils as u8, step.switches as u8);
        let held = threads.collect::<Vec<_>>().join("; ");
        format!("{} {} {fulfils}{switches} [{held}]", step.thread, did(step))
    };
    let text: Vec<String> = outcome.findings[0].run.iter().map(all).collect();
    let expected = [
        "0 promises y 1 00 [owes y=1; ]",
        "1 R y 1 01 [owes y=1; y@1]",
        "1 W x 1 00 [owes y=1; x@1 y@1]",
        "0 R x 1 01 [x@1 owes y=1; x@1 y@1]",
        "0 W y 1 10 [x@1 y@1; x@1 y@1]",
    ];
    assert_eq!(text, expected);
}

/// The promises of a thread are certified past its failed assertion: where the branch that fails never fulfils the promise that
/// it
/// needs, the program is safe; where it does, it is not.
#[test]
fn certification_goes_on_past_a_failed_assertion() {
    let reader = "process Q { reg b; b := y; x := b; }";
    let kept = format!("shared x, y; process P {{ reg a; a := x; assert(a == 0); y := 1; }} {reader}");
    assert_eq!(run(&kept, Consistency::Strong, None).verdict, Verdict::Unsafe);
    let broken = format!(
        "shared x, y; process P {{ reg a; a := x; assert(a == 0); if (a == 0) {{ y := 1; }} }} {reader}"
    );
    assert_eq!(run(&broken, Consistency::Strong, None).verdict, Verdict::Safe);
}

/// A thread that is on its way to a fence may not keep a promise for what comes after it, even if it would fulfil it at once:
/// consistency is asked after every step, not at context switches only.
#[test]
fn consistency_is_asked_after_every_step() {
    let text = "shared x, y; \
        process P { reg a; a := x; if (a == 1) { fence; y := 1; } else { y := 1; } } \
        process Q { reg b; b := y; x := b; } exists P.a == 1;";
    assert!(!allowed(text, Consistency::Strong, None));
}

/// Reading the message that a fence raised the view to switches no view: the fence pays nothing, and the read costs nothing.
#[test]
fn a_fence_pays_for_no_view() {
    let text = "shared x, z; process P { x := 1; fence; z := 1; } \
        process Q { reg a, b; a := z; assume(a == 1); fence; b := x; } exists Q.b == 1;";
    let program = fencepost_lang::parse(text).expect("parses");
    let states = |total| {
        let bounds = Bounds { total: Some(total), ..Bounds::default() };
        check(&program, &Options { bounds, ..Options::default() }).expect("supported").final_states.len()
    };
    assert_eq!((states(0), states(1)), (0, 1));
}

/// LB through a promise costs one promise, two view switches, and nothing for the certification, which reads what is seen.
#[test]
fn the_bound_counts_promises_and_view_switches() {
    let (_, text, ..) = LITMUS[0];
    let program = fencepost_lang::parse(text).expect("parses");
    for total in 0..5 {
        let bounds = Bounds { total: Some(total), ..Bounds::default() };
        let outcome = check(&program, &Options { bounds, ..Options::default() }).expect("supported").outcome;
        assert_eq!(outcome.verdict == Verdict::Safe, total >= 3, "K = {total}");
        let cut = outcome
            .bounds
            .iter()
            .any(|bound| bound.name == BoundName::Promising && bound.value == u64::from(total));
        assert!(cut || total > 3, "K = {total}: {:?}", outcome.bounds);
    }
}
