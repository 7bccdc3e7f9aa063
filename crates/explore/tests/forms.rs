//! How rows are kept, and how many workers there are, is nobody's business: on random programs every form of rows finds the
//! same executions, and several workers find what one finds, down to the execution that is shown.
//!
//! Debug builds have few of the forms; `cargo test -p fencepost-explore --features forms --test forms` compares all, and so does
//! a
//! release build.

mod support;

use fencepost_explore::{Exploration, ModelName, Options, RowForm, Trace, explore};
use fencepost_ir::Program;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::sync::Mutex;
use support::{Builder, random};

/// The executions of a program, sorted, and what the exploration says.
fn found(program: &Program, options: &Options<'_>) -> (Vec<Trace>, Exploration) {
    let traces = Mutex::new(Vec::new());
    let visitor = |trace| traces.lock().expect("no panic").push(trace);
    let restarted = || traces.lock().expect("no panic").clear();
    let options = Options { visitor: Some(&visitor), restarted: Some(&restarted), ..*options };
    let exploration = explore(program, &options).expect("supported");
    let mut traces = traces.into_inner().expect("no panic");
    traces.sort();
    (traces, exploration)
}

fn on_random_programs(model: ModelName, cases: u32, check: impl Fn(&Program) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[model as u8; 32]);
    let strategy = random::threads(model, 2..=3, 1..=5, 2);
    let result =
        TestRunner::new_with_rng(config, rng).run(&strategy, |threads| check(&random::program(&threads, 2)));
    if let Err(error) = result {
        panic!("{}: {error}", model.name());
    }
}

#[test]
fn every_form_of_rows_finds_the_same_executions() {
    for model in ModelName::ALL {
        on_random_programs(model, 120, |program| {
            let (expected, first) = found(program, &Options::new(model));
            for rows in RowForm::ALL {
                let (traces, other) = found(program, &Options { rows, ..Options::new(model) });
                if traces != expected || other.stats != first.stats || other.states != first.states {
                    return Err(TestCaseError::fail(format!("{rows:?} finds something else")));
                }
            }
            Ok(())
        });
    }
}

#[test]
fn several_workers_find_what_one_finds() {
    for model in ModelName::ALL {
        on_random_programs(model, 60, |program| {
            let (expected, first) = found(program, &Options::new(model));
            for jobs in [2, 4] {
                let (traces, other) = found(program, &Options { jobs, ..Options::new(model) });
                let same = traces == expected
                    && other.states == first.states
                    && other.witness == first.witness
                    && other.stats.executions == first.stats.executions
                    && other.stats.blocked == first.stats.blocked
                    && format!("{:?}", other.findings) == format!("{:?}", first.findings);
                if !same {
                    return Err(TestCaseError::fail(format!("{jobs} workers find something else")));
                }
            }
            Ok(())
        });
    }
}

/// A thread that writes `writes` times, one in a hundred times each to two cells that another thread reads.
fn long_writer(writes: usize) -> Program {
    let mut builder = Builder::new(3);
    let thread = builder.thread();
    for i in 0..writes {
        let cell = match i % 100 {
            0 => 0,
            50 => 1,
            _ => 2,
        };
        thread.store(cell, i as u64 + 1);
    }
    let thread = builder.thread();
    thread.load(0);
    thread.load(1);
    builder.program()
}

#[test]
fn executions_have_any_number_of_events() {
    // Each read has any of the writes to its cell, or the initial value: all pairs, as these models keep writes to
    // different cells in no order.
    for model in [ModelName::Pso, ModelName::Rc11, ModelName::Power, ModelName::Armv8] {
        assert_eq!(support::executions(&long_writer(1400), model), 15 * 15, "{}", model.name());
    }
    // Under SC and TSO the second read is not older than what was written before what the first one read.
    let kept: u64 = (0..=14u64).map(|first| 15 - first.saturating_sub(1)).sum();
    for model in [ModelName::Sc, ModelName::Tso] {
        assert_eq!(support::executions(&long_writer(1400), model), kept, "{}", model.name());
    }
}

#[test]
fn the_stack_is_deep_enough_for_many_events() {
    let mut builder = Builder::new(2);
    let thread = builder.thread();
    (0..6_000).for_each(|i| thread.store(usize::from(i % 600 == 0), i + 1));
    builder.thread().load(1);
    let program = builder.program();
    for jobs in [1, 2] {
        let found = explore(&program, &Options { jobs, ..Options::new(ModelName::Rc11) }).expect("supported");
        assert_eq!((found.stats.executions, found.stopped), (11, None));
    }
}
