//! Symmetry changes the number of states and nothing else: the search without it is the oracle.

use fencepost_answer::StopReason;
use fencepost_ir::Value;
use fencepost_machine::{Checked, Model, Options, Verdict, check};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

/// A search with or without symmetry.
fn outcome(text: &str, options: &Options<'_>, symmetry: bool) -> Checked {
    let program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
    let mut options = *options;
    options.config.symmetry = symmetry;
    check(&program, &options).expect("supported")
}

/// The verdict (an *unsafe* one is that of a replayed run), the final states, and the bounds.
type Answer = (Verdict, Vec<Vec<Value>>, usize);

/// A limit that ended the search.
fn stop(checked: &Checked) -> Option<&StopReason> {
    checked.outcome.stop_reason.as_ref().filter(|reason| matches!(reason, StopReason::Limit { .. }))
}

fn states(checked: &Checked) -> u64 {
    checked.outcome.statistics.states.expect("counted")
}

fn answer(outcome: &Checked) -> Answer {
    // Of an unsafe program only a part of the states is seen.
    let states =
        if outcome.outcome.verdict == Verdict::Unsafe { Vec::new() } else { outcome.final_states.clone() };
    (outcome.outcome.verdict, states, outcome.outcome.bounds.len())
}

fn statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x := 1;",
        "x := r + 1;",
        "y := 1;",
        "y := r;",
        "r := x;",
        "r := y;",
        "fence;",
        "r := cas(x, 0, 2);",
        "r := fetch_add(y, 1);",
        "atomic { r := x; x := r + 1; }",
        "if (r) { y := 2; }",
        "assert(r < 2, \"r\");",
        "assert(x != 3, \"x\");",
        "r := *;",
    ])
}

/// Copies of one or two threads, in different guises: the same procedure, processes that are equal, spawned ones.
fn program(p: &[&str], q: &[&str], shape: usize) -> String {
    let (p, q) = (p.concat(), q.concat());
    let rest = match shape {
        0 => format!("procedure f() {{ reg r; {p} }} start f(), f(), f();"),
        1 => format!("procedure f() {{ reg r; {p} }} procedure g() {{ reg r; {q} }} start f(), g(), f();"),
        2 => format!("process A {{ reg r; {p} }} process B {{ reg r; {q} }} process C {{ reg r; {q} }}"),
        _ => format!(
            "procedure f() {{ reg r; {p} }} main M {{ reg r; spawn f(); {q} spawn f(); r := spawn f(); x := r; }}"
        ),
    };
    let observed = if shape == 1 { ", P0.r" } else { "" };
    let rest = rest
        .replace("start f(), g(), f();", "start f() as \"P0\", g() as \"P1\", f() as \"P2\", f() as \"P3\";");
    format!("shared x, y; {rest} observe x, y{observed}; exists true;")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: RngSeed::Fixed(6), ..ProptestConfig::default() })]

    #[test]
    fn symmetry_changes_no_answer(
        p in vec(statement(), 1..=3),
        q in vec(statement(), 1..=2),
        shape in 0usize..4,
        model in select(vec![Model::Sc, Model::Tso, Model::Pso]),
        bounds in select(vec![(None, None), (None, None), (Some(2), None), (None, Some(1))]),
        jobs in 1usize..3,
    ) {
        let text = program(&p, &q, shape);
        let mut options = Options::new(model);
        (options.config.rounds, options.config.age) = bounds;
        options.search.jobs = jobs;
        options.search.max_states = Some(300_000);
        let (with, without) = (outcome(&text, &options, true), outcome(&text, &options, false));
        if stop(&with).is_none() && stop(&without).is_none() {
            prop_assert_eq!(answer(&with), answer(&without), "{:?} {:?}\n{}", model, bounds, text);
            if with.outcome.verdict == Verdict::Safe {
                prop_assert!(states(&with) <= states(&without), "{} {}\n{}", states(&with), states(&without), text);
            }
        }
    }
}

/// Three threads that do the same: about six times fewer states.
#[test]
fn identical_threads_are_searched_once() {
    let body = "reg r; while (1) { x := 1; fence; r := cas(y, 0, 1); if (r) { x := 2; y := 0; fence; } }";
    let text = format!("shared x, y; procedure f() {{ {body} }} start f(), f(), f(), f();");
    for model in [Model::Sc, Model::Tso] {
        let options = Options::new(model);
        let (with, without) = (outcome(&text, &options, true), outcome(&text, &options, false));
        assert_eq!((with.outcome.verdict, without.outcome.verdict), (Verdict::Safe, Verdict::Safe));
        assert!(states(&with) * 5 < states(&without), "{} {}", states(&with), states(&without));
    }
}

/// A program that can tell its threads apart by number is searched as it is.
#[test]
fn joins_by_number_are_not_symmetric() {
    let text = "shared x; procedure f() { x := x + 1; } process W { join 0; assert(x > 0); } \
                start f(), f(), W();";
    let options = Options::new(Model::Tso);
    let (with, without) = (outcome(text, &options, true), outcome(text, &options, false));
    assert_eq!((with.outcome.verdict, states(&with)), (without.outcome.verdict, states(&without)));
}
