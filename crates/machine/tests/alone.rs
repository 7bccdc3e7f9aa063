//! The engine `run` on random programs of one thread: its loop over decoded operations ends as one step after the other does, at
//! the
//! same place after as many steps, and a failed assertion is what the judge sees, which shares nothing with either.
//!
//! A program ends in one of 64 failures, chosen by all that it has computed, so that the place tells.

mod sequential;

use fencepost_ir::{BinaryOp, Extend, FunctionId, Instr, Program, Rvalue, Span, Thread, Value, Width};
use fencepost_machine::alone::{ASSERTION, End, run, run_by_steps};
use fencepost_naive::sequential::fails_at;
use sequential::{Generator, random_program};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Says when to stop: at the third look at the clock.
fn patience() -> impl Fn() -> bool {
    let looks = Cell::new(0);
    move || looks.replace(looks.get() + 1) == 2
}

/// Runs both ways.
fn both(program: &Program, seed: u64) -> End {
    let (fast, slow) = (run(program, &patience()), run_by_steps(program, &patience()));
    assert_eq!(fast, slow, "seed {seed}: {:#?}", program.functions);
    fast
}

#[test]
fn operations_and_steps_end_alike() {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..2500 {
        let program = random_program(seed, true);
        match both(&program, seed) {
            End::Stopped(_, why) => *ends.entry(why).or_default() += 1,
            End::Done(_) => *ends.entry("done").or_default() += 1,
            End::Interrupted => *ends.entry("interrupted").or_default() += 1,
        }
    }
    for why in [
        ASSERTION,
        "done",
        "a division by zero",
        "a value is used that nobody wrote",
        "memory is read that nobody wrote",
        "an access outside of an object",
        "an access to an object that is gone",
        "an access through no pointer",
        "a constant is written",
        "what ends is no live object",
        "calls are nested too deeply",
    ] {
        assert!(ends.get(why).is_some_and(|times| *times >= 2), "{why}: too rare in {ends:?}");
    }
}

#[test]
fn the_judge_sees_what_the_run_reports() {
    let (mut failed, mut others) = (0, 0);
    for seed in 0..800 {
        let program = random_program(seed, false);
        let end = both(&program, seed);
        let judge = |at| fails_at(&program, at, &patience());
        if let End::Stopped(at, ASSERTION) = end {
            assert!(judge(at), "seed {seed}: no failure at {at:?}");
            failed += 1;
        } else if seed % 4 == 0 {
            let places = (0u32..).zip(&program.functions).flat_map(|(function, f)| {
                let fails = |instr: &Instr| matches!(instr, Instr::Fail { .. } | Instr::Assert { .. });
                (0u32..).zip(&f.body).filter(move |(_, i)| fails(i)).map(move |(at, _)| (function, at))
            });
            let wrong = places.into_iter().find(|place| judge(*place));
            assert_eq!(wrong, None, "seed {seed}: {end:?}");
            others += 1;
        }
    }
    assert!(failed > 250 && others > 25, "{failed} failures, {others} others");
}

/// Every operator at every width on numbers at the edges, one after the other and as the condition of a branch.
#[test]
fn operators_at_the_edges() {
    let generator = &mut Generator::new(0);
    let mut seen = 0;
    for op in sequential::OPERATORS {
        for width in Width::ALL {
            for extend in [Extend::Zero, Extend::Sign] {
                let program = sequential::table(generator, op, width, extend);
                let end = both(&program, 0);
                if let End::Stopped(at, ASSERTION) = end {
                    assert!(fails_at(&program, at, &patience()), "{op:?} {width:?} {extend:?}");
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 8 * sequential::OPERATORS.len());
}

/// The number that stands for no value cannot be computed with, however it came about.
#[test]
fn the_undefined_number_stops_a_run() {
    let mut main = fencepost_ir::Function::default();
    let (x, y) = (main.new_reg("x"), main.new_reg("y"));
    let half = Value(Value::UNDEFINED.0 >> 1);
    let add = |dst, a, b| Instr::Assign {
        dst,
        value: Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, a, b),
    };
    main.push(add(x, half.into(), half.into()), Span::default());
    main.push(add(x, x.into(), Value(1).into()), Span::default());
    main.push(add(y, x.into(), Value(1).into()), Span::default());
    let thread = Thread { name: "main".into(), function: FunctionId(0), args: Vec::new() };
    let program = Program { functions: vec![main], threads: vec![thread], ..Program::default() };
    assert_eq!(both(&program, 0), End::Stopped((0, 2), "a value is used that nobody wrote"));
}

/// A loop that never ends is interrupted, wherever it goes back.
#[test]
fn endless_loops_are_interrupted() {
    for program in sequential::endless() {
        assert_eq!(run(&program, &patience()), End::Interrupted, "{:?}", program.functions[0].body);
    }
}
