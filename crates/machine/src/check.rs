//! From a program to an answer, for any machine: search, confirm the run, say how far the answer holds.

use crate::bounded::buffers_are_bounded;
use crate::buffers::{BufferMachine, Move};
use crate::code::{Code, Unsupported};
use crate::config::{Config, Model};
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::search::{self, Found, Order};
use crate::store::StateId;
use crate::symmetry::merge_equal_functions;
use fencepost_answer::{Bound, Finding, FindingKind, Outcome, Statistics, StopReason, Verdict};
use fencepost_ir::{FinalCondition, Program, Property, Quantifier, Value};
use std::collections::BTreeSet;

/// The buffer size that is tried when buffers may grow without end and the user named none.
pub const DEFAULT_BUFFER: u32 = 4;

/// What [`check_machine`] needs to know about a machine beyond its states.
pub trait Checkable: Machine {
    /// The bounds that kept it from going on somewhere. Asked after the search.
    fn bounds(&self) -> Vec<Bound>;

    /// The final states that a worker came across: values of `FinalCondition::observed`.
    fn final_states(worker: Self::Worker<'_>) -> BTreeSet<Vec<Value>>;

    /// Does a run again from the labels of its steps, and says what is wrong at its end and how it got there. Soundness of
    /// *unsafe* rests on this: it shares nothing with `Worker::expand` but the program. The error says why the run is
    /// none, or why nothing is wrong at its end.
    fn confirm(&self, run: &[Self::Label]) -> Result<Finding, String>;

    /// Why the machine gave up at the end of a run, in words.
    fn gave_up(&self, run: &[Self::Label]) -> Option<String>;
}

/// The answer, and what a final condition observes.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// The answer.
    pub outcome: Outcome,
    /// Final states: the values of `FinalCondition::observed` that the filter admits, sorted. Empty unless the
    /// property is a final condition; not all of them if the search ended early.
    pub final_states: Vec<Vec<Value>>,
}

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The machine. Without `buffer`, a bound is set only if buffers may grow without end.
    pub config: Config,
    /// Limits and habits of the search.
    pub search: search::Options<'a>,
}

impl Options<'_> {
    /// The machine of a model, no limits, one worker.
    pub fn new(model: Model) -> Self {
        Options { config: Config::new(model), search: search::Options { jobs: 1, ..Default::default() } }
    }
}

/// True if a final state is as the condition wants it. `exists` wants nothing of a single state.
pub fn allows(condition: &FinalCondition, state: &[Value]) -> bool {
    if condition.filter.as_ref().is_some_and(|filter| !filter.holds(state)) {
        return true;
    }
    match condition.quantifier {
        Quantifier::Exists => true,
        Quantifier::NotExists => !condition.proposition.holds(state),
        Quantifier::ForAll => condition.proposition.holds(state),
    }
}

/// Checks a program on a machine with store buffers.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Checked, Unsupported> {
    let merged = if options.config.symmetry { merge_equal_functions(program) } else { program.clone() };
    let code = Code::new(&merged)?;
    let mut config = options.config;
    if config.buffer.is_none() && !buffers_are_bounded(program, config.model, config.spawn_fences) {
        config.buffer = Some(DEFAULT_BUFFER);
    }
    let make = || BufferMachine::new(program, &code, config);
    Ok(check_machine(program, &make, options.search))
}

/// Checks a program on a machine with store buffers, and gives the moves of the run to what it found, too.
pub fn find(program: &Program, options: &Options<'_>) -> Result<(Checked, Vec<Move>), Unsupported> {
    let code = Code::new(program)?;
    let config = Config { symmetry: false, ..options.config };
    let make = || BufferMachine::new(program, &code, config);
    let (checked, run) = search_for(program, &make, options.search);
    Ok((checked, run.iter().flat_map(|label| label.moves.clone()).collect()))
}

/// Checks a program on any machine. `make` makes it afresh, because what cut it is told by the machine.
pub fn check_machine<M: Checkable>(
    program: &Program,
    make: &dyn Fn() -> M,
    options: search::Options<'_>,
) -> Checked {
    search_for(program, make, options).0
}

/// The answer, and the run to what was found.
fn search_for<M: Checkable>(
    program: &Program,
    make: &dyn Fn() -> M,
    options: search::Options<'_>,
) -> (Checked, Vec<M::Label>) {
    let machine = make();
    let mut states = BTreeSet::new();
    let found = search::search(&machine, options, |worker| states.append(&mut M::final_states(worker)));
    let (checked, run) = answer(program, &machine, found, states);
    // With several workers it is a matter of luck which bad state of a level is met first: search again alone, so that
    // the run is always the same.
    if checked.outcome.verdict == Verdict::Unsafe && options.jobs > 1 && options.order == Order::Breadth {
        let again = search_for(program, make, search::Options { jobs: 1, ..options });
        // A time limit may be reached this time.
        return if again.0.outcome.verdict == Verdict::Unsafe { again } else { (checked, run) };
    }
    (checked, run)
}

fn answer<M: Checkable>(
    program: &Program,
    machine: &M,
    found: Found,
    states: BTreeSet<Vec<Value>>,
) -> (Checked, Vec<M::Label>) {
    let final_states = admitted(program, states);
    let bounds = machine.bounds();
    let mut to_bad = Vec::new();
    let (findings, stop) = match found.stopped_at {
        Some((id, Kind::Bad)) => match labels_to(machine, &found, id) {
            None => (Vec::new(), Some(not_confirmed("a step of the path is missing"))),
            Some(run) => {
                to_bad = run;
                match machine.confirm(&to_bad) {
                    Ok(finding) => (vec![finding], None),
                    Err(why) => (Vec::new(), Some(not_confirmed(&why))),
                }
            }
        },
        Some((id, _)) => {
            let why = labels_to(machine, &found, id).and_then(|run| machine.gave_up(&run));
            (Vec::new(), Some(StopReason::Unsupported(why.unwrap_or_else(|| "the machine gave up".into()))))
        }
        None => match found.stop {
            Some(limit) => (Vec::new(), Some(StopReason::limit(limit))),
            None => conclude(program, &bounds, &final_states),
        },
    };
    let statistics = Statistics {
        states: Some(found.states),
        transitions: Some(found.transitions),
        blocked: found.blocked,
        bytes: Some(found.bytes as u64),
        ..Statistics::default()
    };
    let outcome = Outcome { statistics, ..Outcome::new(findings, stop, bounds) };
    (Checked { outcome, final_states }, to_bad)
}

fn not_confirmed(why: &str) -> StopReason {
    StopReason::NotConfirmed(format!("internal error: counterexample not confirmed: {why}"))
}

/// The whole state space was searched, and no state is bad.
fn conclude(
    program: &Program,
    bounds: &[Bound],
    final_states: &[Vec<Value>],
) -> (Vec<Finding>, Option<StopReason>) {
    let Property::Final(condition) = &program.property else { return (Vec::new(), None) };
    let wanted = condition.quantifier == Quantifier::Exists;
    if !wanted || final_states.iter().any(|state| condition.proposition.holds(state)) {
        return (Vec::new(), None);
    }
    if !bounds.is_empty() {
        return (Vec::new(), Some(StopReason::NoneWithinBounds));
    }
    let message = "no final state satisfies the condition";
    let finding = Finding::new(FindingKind::Assertion, message, vec![Default::default()]);
    (vec![finding], None)
}

fn admitted(program: &Program, states: BTreeSet<Vec<Value>>) -> Vec<Vec<Value>> {
    let Property::Final(condition) = &program.property else { return Vec::new() };
    let filter = condition.filter.as_ref();
    states.into_iter().filter(|state| filter.is_none_or(|filter| filter.holds(state))).collect()
}

/// The labels on the way from the initial state to a stored one: each step is looked up among the labelled successors.
fn labels_to<M: Machine>(machine: &M, found: &Found, id: StateId) -> Option<Vec<M::Label>> {
    let mut path = vec![id];
    while let Some(parent) = found.store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let rows: Vec<Vec<u32>> = path.into_iter().map(|id| found.store.row(id)).collect();
    let mut worker = machine.worker();
    worker.initial();
    let mut labels = Vec::new();
    for pair in rows.windows(2) {
        let mut out = Successors::new(machine.width(), true);
        worker.expand(&pair[0], &mut out);
        let at = out.rows().position(|row| row == pair[1])?;
        labels.push(out.into_labels().swap_remove(at));
    }
    Some(labels)
}
