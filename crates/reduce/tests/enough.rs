//! Where a bound on rounds or ages is said to keep no run away (`reduce::is_enough`), the TSO machine reaches with it what it
//! reaches without: on random programs with calls, loops, branches, read-modify-writes, atomic sections and locks. Nothing is
//! compared with the reduction here, which says nothing about its bound.
//!
//! `FENCEPOST_CASES` says how many programs of each kind (120).

#[path = "support/mod.rs"]
mod support;

use fencepost_ir::{Callee, FunctionId, Instr, Operand, Program, Span, Value};
use fencepost_reduce::{Bound, is_enough};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Programs with more steps are left alone.
const MOST: u32 = 20;

fn cases() -> usize {
    std::env::var("FENCEPOST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

/// The smallest bound of a kind that is enough.
fn smallest(program: &Program, kind: fn(u32) -> Bound) -> Option<u32> {
    (0..MOST).find(|&k| is_enough(program, kind(k)))
}

/// What came of the programs of a kind.
#[derive(Default, Debug)]
struct Seen {
    compared: usize,
    /// With one less there are fewer states.
    tight: usize,
    endless: usize,
}

fn compare(text: &str, seen: &mut Seen) {
    let program = fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{}\n{text}", e.message));
    let (Some(rounds), Some(age)) = (smallest(&program, Bound::Rounds), smallest(&program, Bound::Age))
    else {
        seen.endless += 1;
        return;
    };
    let all = support::machine_states(text, None, None);
    assert_eq!(support::machine_states(text, Some(rounds + 1), None), all, "{rounds} more rounds\n{text}");
    assert_eq!(support::machine_states(text, None, Some(age)), all, "age {age}\n{text}");
    seen.compared += 1;
    let fewer = |states: Vec<Vec<_>>| states.len() < all.len();
    let one_round_less = rounds > 0 && fewer(support::machine_states(text, Some(rounds), None));
    let one_age_less = age > 0 && fewer(support::machine_states(text, None, Some(age - 1)));
    seen.tight += usize::from(one_round_less || one_age_less);
}

fn run<S: Strategy>(strategy: &S, text: impl Fn(S::Value) -> String) -> Seen {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(9), ..Config::default() });
    let mut seen = Seen::default();
    for _ in 0..cases() {
        let tree = strategy.new_tree(&mut runner).expect("a program");
        compare(&text(tree.current()), &mut seen);
    }
    println!("{seen:?}");
    seen
}

#[test]
fn straight_programs() {
    let seen = run(&(support::sequence(), support::sequence()), |(a, b)| support::small(&a, &b));
    assert!(seen.compared * 2 > cases() && seen.tight > 0, "{seen:?}");
}

#[test]
fn programs_with_calls_loops_and_branches() {
    let seen = run(&support::larger(), |threads| support::text(&threads));
    assert!(seen.compared * 5 > cases() && seen.endless > 0, "{seen:?}");
}

/// A thread that reads again and again, in calls and branches, too, what another one updates again and again: every step may need
/// a round of its own. (Making a store needs none, so with stores the bound is larger than it has to be.)
#[test]
fn threads_that_need_every_round() {
    let read = select(vec![
        "r_ := x;",
        "r_ := x;",
        "r_ := call f(3);",
        "if (r0 == 1) { r_ := x; y := 2; } else { r_ := y; }",
        "if (r1) { y := 3; r_ := y; r_ := x; }",
        "r_ := fetch_add(x, 0);",
        "x := 9;",
    ]);
    let write = select(vec![
        "s := fetch_add(x, 1);",
        "s := fetch_add(x, 1);",
        "s := cas(x, 1, 5);",
        "x := 7;",
        "s := fetch_add(y, 1);",
    ]);
    let threads = (proptest::collection::vec(read, 1..=4), proptest::collection::vec(write, 1..=3));
    let seen = run(&threads, |(reads, writes)| {
        let reads: String =
            (0..).zip(&reads).map(|(n, read): (usize, &&str)| read.replace("r_", &format!("r{n}"))).collect();
        format!(
            "shared x, y; procedure f(v) {{ reg t; t := x; return t; }} process P {{ reg r0, r1, r2, r3; {reads} }} \
             process Q {{ reg s; {} }} observe x, y, P.r0, P.r1, P.r2, P.r3, Q.s; exists true;",
            writes.concat()
        )
    });
    assert!(seen.compared == cases() && seen.tight * 20 > cases(), "{seen:?}");
}

#[test]
fn no_bound_is_enough_where_a_thread_may_go_on_or_another_may_come() {
    let bounds = [Bound::Rounds(1000), Bound::Age(1000)];
    let is = |text: &str| {
        let program = fencepost_lang::parse(text).expect("parses");
        bounds.map(|bound| is_enough(&program, bound))
    };
    assert_eq!(is("shared x; process P { x := 1; }"), [true; 2]);
    assert_eq!(is("shared x; process P { reg r; r := 1; while (r) { r := x; } }"), [false; 2]);
    assert_eq!(
        is("shared x; main M { reg t; t := spawn W(2); join t; } procedure W(v) { x := v; }"),
        [false; 2]
    );
    let mut program =
        fencepost_lang::parse("shared x; process P { x := 1; } procedure f(v) { x := v; }").expect("parses");
    let recursive = |callee| Instr::Call { dst: None, callee, args: vec![Operand::Const(Value(1))] };
    for callee in [Callee::Function(FunctionId(0)), Callee::Pointer(Operand::Const(Value::ZERO))] {
        program.functions[0].body.insert(0, recursive(callee));
        program.functions[0].spans.insert(0, Span::default());
        assert_eq!(bounds.map(|bound| is_enough(&program, bound)), [false; 2]);
        program.functions[0].body.remove(0);
        program.functions[0].spans.remove(0);
    }
}
