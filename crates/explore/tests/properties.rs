//! Properties that hold for every program: how models relate to each other, what fences and dependencies do, that the
//! order of threads and the number of workers do not matter.

mod support;

use fencepost_explore::{Exploration, ModelName, Options, Stats, explore};
use fencepost_ir::{
    FinalCondition, ObjectId, Observable, Program, Property, Proposition, Quantifier, Reg, ThreadId, Value,
    Width,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use std::sync::Mutex;
use support::compare::{Key, explored};
use support::random::{self, Stmt};

const CASES: u32 = 200;
const CELLS: usize = 2;

/// Runs a property on random threads for a model, the same ones every time.
fn check<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[1; 32]));
    if let Err(error) = runner.run(&strategy, property) {
        panic!("{error}");
    }
}

fn threads(model: ModelName) -> impl Strategy<Value = Vec<Vec<Stmt>>> {
    random::threads(model, 2..=3, 1..=4, CELLS)
}

/// What is seen at the end of each thread: the registers that statements set, not the temporaries.
fn registers(program: &Program) -> Vec<Vec<Observable>> {
    let threads = (0u32..).zip(&program.threads).map(|(t, thread)| {
        let names = &program.functions[thread.function.0 as usize].regs;
        let shown = (0u32..).zip(names).filter(|(_, name)| *name != "t");
        shown.map(|(reg, _)| Observable::Register { thread: ThreadId(t), reg: Reg(reg) }).collect()
    });
    threads.collect()
}

/// The program with a condition that observes everything.
fn observed(mut program: Program) -> Program {
    let mut observed: Vec<Observable> = registers(&program).concat();
    let cell = |i| Observable::Memory { object: ObjectId(i as u32), offset: 0, width: Width::W32 };
    observed.extend((0..CELLS).map(cell));
    let shown = observed.len();
    let (quantifier, proposition) = (Quantifier::Exists, Proposition::True);
    program.property =
        Property::Final(FinalCondition { quantifier, proposition, observed, shown, filter: None });
    program
}

fn run(threads: &[Vec<Stmt>], model: ModelName, jobs: usize) -> Exploration {
    let program = observed(random::program(threads, CELLS));
    explore(&program, &Options { jobs, ..Options::new(model) }).expect("supported")
}

type States = BTreeSet<Vec<Value>>;

fn states(threads: &[Vec<Stmt>], model: ModelName) -> States {
    run(threads, model, 1).states.into_iter().collect()
}

fn executions(threads: &[Vec<Stmt>], model: ModelName) -> BTreeSet<Key> {
    explored(&random::program(threads, CELLS), model).into_iter().collect()
}

fn within(strong: ModelName, weak: ModelName, threads: &[Vec<Stmt>]) -> Result<(), TestCaseError> {
    let (a, b) = (states(threads, strong), states(threads, weak));
    prop_assert!(!a.is_empty(), "{strong:?} has no execution");
    prop_assert!(a.is_subset(&b), "{strong:?} has states that {weak:?} has not: {:?}", &a - &b);
    let (a, b) = (executions(threads, strong), executions(threads, weak));
    prop_assert!(a.is_subset(&b), "{strong:?} has executions that {weak:?} has not: {:?}", &a - &b);
    Ok(())
}

#[test]
fn sc_is_within_tso_within_pso() {
    for flavour in [ModelName::Tso, ModelName::Pso] {
        check(threads(flavour), |threads| {
            within(ModelName::Sc, ModelName::Tso, &threads)?;
            within(ModelName::Tso, ModelName::Pso, &threads)
        });
    }
}

#[test]
fn sc_is_within_every_model() {
    for model in ModelName::ALL {
        check(threads(model), |threads| within(ModelName::Sc, model, &threads));
    }
}

/// Puts a statement into a thread; not between a skip and what it skips.
fn insert(threads: &[Vec<Stmt>], thread: usize, at: usize, stmt: Stmt) -> Vec<Vec<Stmt>> {
    let mut threads = threads.to_vec();
    let thread = thread % threads.len();
    let list = &mut threads[thread];
    let at = at % (list.len() + 1);
    if at == 0 || list[at - 1] != Stmt::SkipIfZero {
        list.insert(at, stmt);
    }
    threads
}

fn no_more_states(model: ModelName, less: &[Vec<Stmt>], more: &[Vec<Stmt>]) -> Result<(), TestCaseError> {
    let (a, b) = (states(more, model), states(less, model));
    prop_assert!(a.is_subset(&b), "{model:?}: new states {:?} in {more:?}", &a - &b);
    Ok(())
}

#[test]
fn a_fence_adds_no_state() {
    for model in ModelName::ALL {
        let strategy = (threads(model), 0..3usize, 0..5usize, random::fence(model));
        check(strategy, |(threads, thread, at, fence)| {
            no_more_states(model, &threads, &insert(&threads, thread, at, Stmt::Fence(fence)))
        });
    }
}

#[test]
fn a_dependency_adds_no_state() {
    for model in [ModelName::Power, ModelName::Armv8] {
        check((threads(model), 0..3usize, 0..5usize), |(threads, thread, at)| {
            no_more_states(model, &threads, &insert(&threads, thread, at, Stmt::Branch))?;
            let mut more = threads.clone();
            let thread = thread % threads.len();
            let at = at % threads[thread].len();
            match &mut more[thread][at] {
                Stmt::Load { addr_from, .. } | Stmt::Store { addr_from, .. } => *addr_from = true,
                _ => return Ok(()),
            }
            no_more_states(model, &threads, &more)
        });
    }
}

#[test]
fn the_order_of_threads_does_not_matter() {
    for model in ModelName::ALL {
        check(threads(model), |threads| {
            let mut rotated = threads.clone();
            rotated.rotate_left(1);
            let (here, there) = (run(&threads, model, 1), run(&rotated, model, 1));
            // The first thread's registers stand behind those of the others now.
            let parts = registers(&random::program(&threads, CELLS));
            let (first, all) = (parts[0].len(), parts.iter().map(Vec::len).sum());
            let expected: States = here
                .states
                .into_iter()
                .map(|mut state| {
                    state[..all].rotate_left(first);
                    state
                })
                .collect();
            prop_assert_eq!(expected, there.states.into_iter().collect::<States>());
            prop_assert_eq!(here.stats.executions, there.stats.executions);
            prop_assert_eq!(here.stats.racy, there.stats.racy);
            Ok(())
        });
    }
}

/// The executions that are shown to a visitor, sorted, beside the result.
fn run_and_see(threads: &[Vec<Stmt>], model: ModelName, jobs: usize) -> (Exploration, Vec<Key>) {
    let program = observed(random::program(threads, CELLS));
    let seen = Mutex::new(Vec::new());
    let visitor = |trace: fencepost_explore::Trace| {
        seen.lock().expect("not poisoned").push((trace.rf, trace.co));
    };
    let restarted = || seen.lock().expect("not poisoned").clear();
    let options =
        Options { jobs, visitor: Some(&visitor), restarted: Some(&restarted), ..Options::new(model) };
    let found = explore(&program, &options).expect("supported");
    let mut seen = seen.into_inner().expect("not poisoned");
    seen.sort();
    (found, seen)
}

#[test]
fn the_number_of_workers_does_not_matter() {
    for model in ModelName::ALL {
        check(random::threads(model, 2..=3, 3..=4, CELLS), |threads| {
            let (alone, seen) = run_and_see(&threads, model, 1);
            let counts = |stats: Stats| Stats { nodes: 0, blocked: 0, ..stats };
            for jobs in [2, 4] {
                let (found, others) = run_and_see(&threads, model, jobs);
                prop_assert_eq!(counts(alone.stats), counts(found.stats), "{} workers", jobs);
                prop_assert_eq!(&alone.states, &found.states, "{} workers", jobs);
                prop_assert_eq!(kinds(&alone), kinds(&found), "{} workers", jobs);
                prop_assert_eq!(alone.witness.is_some(), found.witness.is_some(), "{} workers", jobs);
                prop_assert!(seen == others, "{jobs} workers see other executions");
            }
            Ok(())
        });
    }
}

/// What was found wrong, without the executions that show it: which one that is depends on the workers.
fn kinds(found: &fencepost_explore::Exploration) -> Vec<fencepost_explore::FindingKind> {
    let mut kinds: Vec<_> = found.findings.iter().map(|f| f.kind).collect();
    kinds.dedup();
    kinds
}
