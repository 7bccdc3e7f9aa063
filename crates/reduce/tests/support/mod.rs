//! Programs for the comparison of machine and reduction, as `.fp` text.

#![allow(dead_code)]

use fencepost_answer::StopReason;
use fencepost_explore::{ModelName, explore};
use fencepost_ir::{Program, Value};
use fencepost_machine::{Model, Options, check};
use fencepost_reduce::{Bound, reduce_tso};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::fmt::Write;

/// The statements of the family; `x` and `y` are the variables, `_` a register of its own.
pub const SMALL: [&str; 7] =
    ["x := 1", "y := 1", "_ := x", "_ := y", "fence", "_ := cas(x, 0, 2)", "_ := cas(y, 0, 2)"];

pub fn sequence() -> impl Strategy<Value = Vec<usize>> {
    vec(0..SMALL.len(), 1..=3)
}

/// The program of two sequences.
pub fn small(a: &[usize], b: &[usize]) -> String {
    let mut text = String::from("shared x, y;\n");
    let mut observed = vec!["x".to_owned(), "y".to_owned()];
    for (process, sequence) in [("P", a), ("Q", b)] {
        let _ = writeln!(text, "process {process} {{ reg r0, r1, r2;");
        for (i, &statement) in sequence.iter().enumerate() {
            let statement = SMALL[statement];
            if statement.starts_with('_') {
                observed.push(format!("{process}.r{i}"));
            }
            let _ = writeln!(text, "  {};", statement.replace('_', &format!("r{i}")));
        }
        text.push_str("}\n");
    }
    let _ = writeln!(text, "observe {};\nexists true;", observed.join(", "));
    text
}

/// Threads of larger programs: a list of statements each.
pub fn larger() -> impl Strategy<Value = Vec<Vec<String>>> {
    let simple = select(vec![
        "x := 1",
        "y := 1",
        "x := r0",
        "y := r1 + 1",
        "r0 := x",
        "r1 := y",
        "fence",
        "r0 := cas(x, 0, 2)",
        "r1 := fetch_add(y, 1)",
        "r0 := call f(1)",
        "a[r1 & 1] := 1",
        "r1 := a[r0 & 1]",
        "atomic { r0 := x; x := r0 + 1; }",
        "if (r0) { y := 2; } else { r1 := x; }",
    ]);
    let looped = simple.clone().prop_map(|s| format!("n := 0; while (n < 2) {{ {} n := n + 1; }}", ended(s)));
    let statement = prop_oneof![5 => simple.prop_map(ended), 1 => looped];
    vec(vec(statement, 1..=4), 2..=2)
}

fn ended(statement: &str) -> String {
    if statement.ends_with('}') { statement.into() } else { format!("{statement};") }
}

/// The program of these threads.
pub fn text(threads: &[Vec<String>]) -> String {
    let mut text = String::from("shared x, y, a[2];\nprocedure f(v) { x := v; return y; }\n");
    let mut observed = vec!["x".to_owned(), "y".to_owned(), "a[0]".into(), "a[1]".into()];
    for (t, statements) in threads.iter().enumerate() {
        let _ = writeln!(text, "process P{t} {{ reg r0, r1, n; {} }}", statements.join(" "));
        observed.extend([format!("P{t}.r0"), format!("P{t}.r1")]);
    }
    let _ = writeln!(text, "observe {};\nexists true;", observed.join(", "));
    text
}

fn parse(text: &str) -> Program {
    fencepost_lang::parse(text).unwrap_or_else(|e| panic!("{}\n{text}", e.message))
}

fn states(program: &Program, options: &Options<'_>) -> Vec<Vec<Value>> {
    let outcome = check(program, options).expect("supported");
    // With few rounds there may be no final state at all.
    let reason = &outcome.outcome.stop_reason;
    assert!(reason.is_none() || outcome.final_states.is_empty(), "{reason:?}");
    assert!(!matches!(reason, Some(StopReason::Limit { .. })), "{reason:?}");
    outcome.final_states
}

/// Final states of the TSO machine with a bound.
pub fn machine_states(text: &str, rounds: Option<u32>, age: Option<u32>) -> Vec<Vec<Value>> {
    let mut options = Options::new(Model::Tso);
    options.config.rounds = rounds;
    options.config.age = age;
    states(&parse(text), &options)
}

/// Compares machine and reduction for rounds 1 to 3 and ages 0 to 2.
pub fn agrees(text: &str) -> Result<(), String> {
    let program = parse(text);
    for k in 0..3 {
        for bound in [Bound::Rounds(k), Bound::Age(k)] {
            let machine = match bound {
                Bound::Rounds(k) => machine_states(text, Some(k + 1), None),
                Bound::Age(k) => machine_states(text, None, Some(k)),
            };
            let reduced = reduce_tso(&program, &fencepost_reduce::Options::new(bound)).map_err(|e| e.what)?;
            let reduced = states(&reduced, &Options::new(Model::Sc));
            if machine != reduced {
                let only = |a: &[Vec<Value>], b: &[Vec<Value>]| {
                    a.iter().filter(|s| !b.contains(s)).cloned().collect::<Vec<_>>()
                };
                return Err(format!(
                    "{bound:?}: only the machine {:?}, only the reduction {:?}\n{text}",
                    only(&machine, &reduced),
                    only(&reduced, &machine)
                ));
            }
        }
    }
    Ok(())
}

/// Compares the machines without bounds with the axiomatic models, on a program without loops and atomic sections.
pub fn axioms_agree(text: &str) -> Result<(), String> {
    let program = parse(text);
    let models = [(Model::Sc, ModelName::Sc), (Model::Tso, ModelName::Tso), (Model::Pso, ModelName::Pso)];
    for (model, name) in models {
        let machine = states(&program, &Options::new(model));
        let explored = explore(&program, &fencepost_explore::Options::new(name)).map_err(|e| e.what)?;
        if explored.stopped.is_some() {
            return Err(format!("{model:?}: the explorer gave up\n{text}"));
        }
        let mut axiomatic = explored.states;
        axiomatic.sort();
        if machine != axiomatic {
            return Err(format!("{model:?}: the machine {machine:?}, the axioms {axiomatic:?}\n{text}"));
        }
    }
    Ok(())
}

/// A bound that no run of the program reaches is no bound.
pub fn large_bounds_agree(text: &str) -> Result<(), String> {
    let unbounded = machine_states(text, None, None);
    for (rounds, age) in [(None, Some(LARGE)), (Some(LARGE), None)] {
        if machine_states(text, rounds, age) != unbounded {
            return Err(format!("rounds {rounds:?}, age {age:?} bound something\n{text}"));
        }
    }
    Ok(())
}

/// More rounds than the steps and stores of any program here.
pub const LARGE: u32 = 60;
