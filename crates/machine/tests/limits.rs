//! What has no bound gets *unknown* with the reason, a bounded answer that names the bound, or a clear refusal.

use fencepost_answer::{BoundName, Limit, StopReason};
use fencepost_machine::search::Order;
use fencepost_machine::{Model, Options, Outcome, Verdict, check};

fn outcome(text: &str, options: &Options<'_>) -> Outcome {
    check(&fencepost_lang::parse(text).expect("parses"), options).expect("supported").outcome
}

/// Counts for ever, in two threads: far more states than fit.
const ENDLESS: &str =
    "shared x, y; process P { while (1) { x := x + 1; } } process Q { while (1) { y := y + 1; } }";

#[test]
fn a_memory_limit_is_respected_and_reported() {
    for order in [Order::Breadth, Order::Depth] {
        let mut options = Options::new(Model::Sc);
        options.search.max_bytes = Some(50_000_000);
        options.search.order = order;
        let outcome = outcome(ENDLESS, &options);
        assert_eq!(outcome.verdict, Verdict::Unknown);
        assert_eq!(outcome.stop_reason, Some(StopReason::limit(Limit::MaxMemory)));
        assert!(outcome.statistics.bytes <= Some(50_000_000), "{:?}", outcome.statistics);
    }
}

#[test]
fn a_storing_loop_without_a_fence_is_bounded_by_name() {
    let text = "shared x, y; process P { while (1) { x := 1; } } process Q { reg r; r := x; }";
    let unnamed = outcome(text, &Options::new(Model::Tso));
    assert_eq!(
        (unnamed.verdict, unnamed.bounds[0].name, unnamed.bounds[0].value),
        (Verdict::Safe, BoundName::Buffer, 4)
    );
    let mut options = Options::new(Model::Pso);
    options.config.buffer = Some(2);
    assert_eq!(outcome(text, &options).bounds[0].value, 2);
    let fenced = text.replace("x := 1;", "x := 1; fence;");
    assert!(outcome(&fenced, &Options::new(Model::Tso)).bounds.is_empty());
}

#[test]
fn recursion_without_a_bound_is_unknown() {
    let text = "shared x; procedure f(n) { x := n; call f(n); } process P { call f(1); }";
    let outcome = outcome(text, &Options::new(Model::Sc));
    assert_eq!(outcome.verdict, Verdict::Unknown);
    assert!(outcome.stop_reason.expect("a reason").to_string().contains("recursion"));
}

#[test]
fn threads_without_end_are_unknown() {
    let text = "shared x; procedure f() { reg r; r := x; } process P { while (1) { spawn f(); } }";
    let mut options = Options::new(Model::Sc);
    options.search.max_states = Some(200_000);
    assert_eq!(outcome(text, &options).verdict, Verdict::Unknown);
}

#[test]
fn unbounded_data_is_refused() {
    let text = "process P { reg r; r := nondet(0, 100000); }";
    let refused = check(&fencepost_lang::parse(text).expect("parses"), &Options::new(Model::Sc));
    assert!(refused.expect_err("refused").what.contains("65536"));
}

#[test]
fn a_loop_that_does_nothing_stands_still() {
    let text = "shared x; process P { while (1) { } } process Q { reg r; x := 1; r := x; assert(r == 1); }";
    let outcome = outcome(text, &Options::new(Model::Tso));
    assert_eq!((outcome.verdict, outcome.statistics.blocked), (Verdict::Safe, 1));
}

#[test]
fn memory_mistakes_are_findings() {
    for (body, message) in [
        ("r := a[n];", "outside"),
        ("r := u;", "uninitialised"),
        ("r := 1 / n0;", "division"),
        ("atomic_end;", "atomic"),
        ("join 7;", "join"),
    ] {
        let text = format!("shared a[2], u = ?; process P {{ reg r, n := 2, n0; {body} }}");
        let outcome = outcome(&text, &Options::new(Model::Tso));
        assert_eq!(outcome.verdict, Verdict::Unsafe, "{body}");
        assert!(outcome.findings[0].message.contains(message), "{body}");
    }
}

#[test]
fn depth_first_and_two_workers_see_the_same_states() {
    let text = "shared x, y; process P { reg r; while (r < 3) { x := r; r := y + 1; fence; } } \
                process Q { reg r; while (r < 3) { y := r; r := x + 1; fence; } }";
    let states = |order, jobs| {
        let mut options = Options::new(Model::Tso);
        options.search.order = order;
        options.search.jobs = jobs;
        outcome(text, &options).statistics.states
    };
    let one = states(Order::Breadth, 1);
    assert_eq!((states(Order::Depth, 1), states(Order::Breadth, 2)), (one, one));
}
