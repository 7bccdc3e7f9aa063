//! The translation of POWER to SC against the machine: the same final states with the same number of contexts. The sequential
//! programs that come out are
//! answered by `bmc`.
//!
//! `FENCEPOST_CASES` is the number of random programs of each kind.

use fencepost_bmc::{Options as BmcOptions, Verdict, check, final_states};
use fencepost_ir::{Program, Value};
use fencepost_machine::power as machine;
use fencepost_reduce::power::Options;
use fencepost_reduce::reduce_power;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

fn cases(default: u32) -> u32 {
    std::env::var("FENCEPOST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn parse(text: &str) -> Program {
    fencepost_lang::parse(text).unwrap_or_else(|error| panic!("{}\n{text}", error.message))
}

fn reduced(program: &Program, contexts: u32) -> Program {
    reduce_power(program, &Options { contexts, unroll: 2, owners: false }).expect("supported")
}

fn statement() -> impl Strategy<Value = &'static str> {
    select(vec![
        "x[0] := 1;",
        "x[0] := 2;",
        "y[0] := 1;",
        "r := x[0];",
        "r := y[0];",
        "s := x[0];",
        "x[0] := r + 1;",
        "y[0] := r;",
        "s := x[r ^ r];",
        "y[r ^ r] := 3;",
        "s := y[r & 1];",
        "x[r & 1] := 5;",
        "if (r) { skip; }",
        "if (r == 0) { s := y[0]; }",
        "fence sync;",
        "fence lwsync;",
        "fence isync;",
        "fence eieio;",
        "r := fetch_add(x[0], 1);",
        "s := cas(y[0], 0, 1);",
    ])
}

fn program(threads: &[Vec<&'static str>]) -> Program {
    let mut text = String::from("shared x[2], y[2]; ");
    let mut registers = Vec::new();
    for (i, body) in threads.iter().enumerate() {
        text += &format!("process P{i} {{ reg r, s; {} }} ", body.concat());
        registers.push(format!("P{i}.r, P{i}.s"));
    }
    parse(&format!("{text} observe x[0], x[1], y[0], {}; exists x[1] == 0;", registers.join(", ")))
}

fn compare(threads: &[Vec<&'static str>], contexts: u32) -> Result<(), TestCaseError> {
    let program = program(threads);
    let checked = machine::check(&program, &machine::Options::new(Some(contexts), 2)).expect("supported");
    let machine: BTreeSet<Vec<Value>> = checked.final_states.into_iter().collect();
    let (states, _) = final_states(&reduced(&program, contexts), &BmcOptions::default()).expect("an answer");
    prop_assert_eq!(states, machine, "{} contexts: {:?}", contexts, threads);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(25), rng_seed: RngSeed::Fixed(3), failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn two_processes(threads in vec(vec(statement(), 1..=3), 2..=2), contexts in 1u32..=4) {
        compare(&threads, contexts)?;
    }

    #[test]
    fn three_processes(threads in vec(vec(statement(), 1..=2), 3..=3), contexts in 2u32..=4) {
        compare(&threads, contexts)?;
    }
}

/// The paper's translation has more states here: addresses that are not known yet hold commits up.
#[test]
fn undetermined_addresses() {
    let side = |a: &str, b: &str| {
        format!("reg r; r := {a}[0]; {b}[r ^ r] := 1; {}[0] := 1;", if a == "x" { "z" } else { "w" })
    };
    let text = format!(
        "shared x[1], y[1], z[1], w[1]; process A {{ {} }} process B {{ {} }} observe A.r, B.r, z[0], w[0]; exists z[0] == 1;",
        side("x", "y"),
        side("y", "x")
    );
    let program = parse(&text);
    let checked = machine::check(&program, &machine::Options::new(Some(4), 2)).expect("supported");
    let machine: BTreeSet<Vec<Value>> = checked.final_states.into_iter().collect();
    let (states, _) = final_states(&reduced(&program, 4), &BmcOptions::default()).expect("an answer");
    assert_eq!(states, machine);
}

/// Peterson's algorithm goes wrong with three contexts, not with two, and not with fences.
#[test]
fn peterson() {
    let text = |fence: &str| {
        let side = |me: u32, other: u32| {
            format!(
                "process P{me} {{ reg f, t; flag[{me}] := 1; {fence} turn := {other}; {fence}
                 f := flag[{other}]; t := turn; while (f == 1 && t == {other}) {{ f := flag[{other}]; t := turn; }} {fence}
                 inside := {me}; assert(inside == {me}); {fence} flag[{me}] := 0; }}"
            )
        };
        format!("shared flag[2], turn, inside; {} {}", side(0, 1), side(1, 0))
    };
    let verdict = |program: &Program, contexts: u32| {
        check(&reduced(program, contexts), &BmcOptions::default()).expect("supported").verdict
    };
    let (unfenced, fenced) = (parse(&text("")), parse(&text("fence sync;")));
    assert_eq!(verdict(&unfenced, 2), Verdict::Safe);
    assert_eq!(verdict(&unfenced, 3), Verdict::Unsafe);
    assert_eq!(verdict(&fenced, 3), Verdict::Safe);
}

#[test]
fn what_is_not_in_the_language_is_refused() {
    let program = parse("shared x; process A { atomic { x := 1; } }");
    let refused =
        reduce_power(&program, &Options { contexts: 2, unroll: 2, owners: false }).expect_err("refused");
    assert_eq!(refused.what, "an atomic section under POWER");
}
