//! From a program to an answer: choose the machine, search, replay the run, say how far the answer holds.

use crate::bounded::buffers_are_bounded;
use crate::buffers::{BufferMachine, CutBy, Move};
use crate::code::{Code, Unsupported};
use crate::config::{Config, Model};
use crate::local::{FaultKind, Status};
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::plain::{Plain, State};
use crate::run::{Run, describe};
use crate::search::{self, Found, Order, StopReason};
use crate::store::StateId;
use crate::symmetry::{Lift, merge_equal_functions};
use fencepost_diag::Span;
use fencepost_ir::{FinalCondition, Program, Property, Quantifier, Value};
use std::collections::BTreeSet;

/// The buffer size that is tried when buffers may grow without end and the user named none.
pub const DEFAULT_BUFFER: u32 = 4;

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing goes wrong, as far as [`Outcome::bounds`] reach.
    Safe,
    /// Something goes wrong: see [`Outcome::finding`] and [`Outcome::run`].
    Unsafe,
    /// No answer: see [`Outcome::reason`].
    Unknown,
}

/// A bound that cut something off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// `buffer`, `rounds`, `age` or `unroll`.
    pub name: &'static str,
    /// Its value, where the search knows it.
    pub value: Option<u32>,
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// In words.
    pub message: String,
    /// Where in the source.
    pub span: Span,
    /// The thread, if one thread is to blame.
    pub thread: Option<u32>,
    /// What kind, if a thread is to blame.
    pub kind: Option<FaultKind>,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// Bounds that cut something off; an empty list with *safe* is a proof.
    pub bounds: Vec<Bound>,
    /// The limit that ended the search.
    pub stop: Option<StopReason>,
    /// Why there is no answer, in words.
    pub reason: Option<String>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// A run of the source program that shows it, replayed.
    pub run: Option<Run>,
    /// Final states: the values of `FinalCondition::observed` that the filter admits, sorted. Empty unless the
    /// property is a final condition; not all of them if the search ended early.
    pub final_states: Vec<Vec<Value>>,
    /// Stored states.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// Stored states in which no thread can move although not all have ended.
    pub blocked: u64,
    /// Bytes for states and machine at the end.
    pub bytes: usize,
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
pub(crate) fn allows(condition: &FinalCondition, state: &[Value]) -> bool {
    if condition.filter.as_ref().is_some_and(|filter| !filter.holds(state)) {
        return true;
    }
    match condition.quantifier {
        Quantifier::Exists => true,
        Quantifier::NotExists => !condition.proposition.holds(state),
        Quantifier::ForAll => condition.proposition.holds(state),
    }
}

/// Checks a program on a machine.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome, Unsupported> {
    let code = Code::new(program)?;
    let merged = if options.config.symmetry { merge_equal_functions(program) } else { program.clone() };
    let merged = Code::new(&merged)?;
    let mut config = options.config;
    if config.buffer.is_none() && !buffers_are_bounded(program, config.model, config.spawn_fences) {
        config.buffer = Some(DEFAULT_BUFFER);
    }
    let machine = BufferMachine::new(&merged, config);
    let mut states = BTreeSet::new();
    let found = search::search(&machine, options.search, |mut worker| states.append(&mut worker.states));
    let outcome = answer(&code, &config, &machine, found, states);
    // With several workers it is a matter of luck which bad state of a level is met first: search again alone, so that
    // the run is always the same.
    let search = options.search;
    if outcome.verdict == Verdict::Unsafe && search.jobs > 1 && search.order == Order::Breadth {
        let search = search::Options { jobs: 1, ..search };
        let again = check(program, &Options { search, ..*options })?;
        // A time limit may be reached this time.
        return Ok(if again.verdict == Verdict::Unsafe { again } else { outcome });
    }
    Ok(outcome)
}

fn answer(
    code: &Code<'_>,
    config: &Config,
    machine: &BufferMachine<'_>,
    found: Found,
    states: BTreeSet<Vec<Value>>,
) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        bounds: bounds(config, machine),
        stop: found.stop,
        reason: found.stop.map(|stop| describe_stop(stop).to_owned()),
        finding: None,
        run: None,
        final_states: admitted(code.program, states),
        states: found.states,
        transitions: found.transitions,
        blocked: found.blocked,
        bytes: found.bytes,
    };
    match found.stopped_at {
        Some((id, Kind::Bad)) => match replay(code, config, machine, &found, id) {
            Ok((finding, run)) => {
                outcome.verdict = Verdict::Unsafe;
                outcome.stop = None;
                outcome.reason = None;
                outcome.finding = Some(finding);
                outcome.run = Some(run);
            }
            Err(reason) => {
                outcome.reason = Some(format!("a run was found that does not replay: {reason}"));
            }
        },
        Some((id, _)) => {
            let fault = limit_fault(code, config, machine, &found, id);
            outcome.reason = Some(fault.unwrap_or_else(|| "the machine gave up".into()));
        }
        None if found.stop.is_some() => {}
        None => conclude(code.program, &mut outcome),
    }
    outcome
}

/// The whole state space was searched, and no state is bad.
pub(crate) fn conclude(program: &Program, outcome: &mut Outcome) {
    outcome.verdict = Verdict::Safe;
    let Property::Final(condition) = &program.property else { return };
    let wanted = condition.quantifier == Quantifier::Exists;
    if wanted && !outcome.final_states.iter().any(|state| condition.proposition.holds(state)) {
        match outcome.bounds.is_empty() {
            true => {
                let message = "no final state satisfies the condition".into();
                outcome.verdict = Verdict::Unsafe;
                outcome.finding = Some(Finding { message, span: Span::default(), thread: None, kind: None });
            }
            false => {
                outcome.verdict = Verdict::Unknown;
                outcome.reason = Some("no final state within the bounds satisfies the condition".into());
            }
        }
    }
}

fn admitted(program: &Program, states: BTreeSet<Vec<Value>>) -> Vec<Vec<Value>> {
    let Property::Final(condition) = &program.property else { return Vec::new() };
    let filter = condition.filter.as_ref();
    states.into_iter().filter(|state| filter.is_none_or(|filter| filter.holds(state))).collect()
}

fn bounds(config: &Config, machine: &BufferMachine<'_>) -> Vec<Bound> {
    let all = [
        (CutBy::Buffer, "buffer", config.buffer),
        (CutBy::Rounds, "rounds", config.rounds),
        (CutBy::Age, "age", config.age),
        (CutBy::Loop, "unroll", None),
    ];
    all.into_iter()
        .filter(|(by, _, _)| machine.was_cut(*by))
        .map(|(_, name, value)| Bound { name, value })
        .collect()
}

pub(crate) fn describe_stop(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Timeout => "the time limit was reached",
        StopReason::Memory => "the memory limit was reached",
        StopReason::MaxStates => "the limit on states was reached",
        StopReason::Interrupted => "the search was interrupted",
    }
}

/// The moves from the initial state to a stored one: each step of the path is looked up among the labelled successors.
fn moves_to(machine: &BufferMachine<'_>, found: &Found, id: StateId) -> Option<Vec<Move>> {
    let mut path = vec![id];
    while let Some(parent) = found.store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let rows: Vec<Vec<u32>> = path.into_iter().map(|id| found.store.row(id)).collect();
    let mut worker = machine.worker();
    let mut out = Successors::new(machine.width(), true);
    let mut lift = Lift::new(machine.slots(), worker.start().1);
    let mut moves = Vec::new();
    for pair in rows.windows(2) {
        out.clear();
        worker.expand(&pair[0], &mut out);
        let at = out.rows().position(|row| row == pair[1])?;
        moves.extend(lift.step(&out.labels()[at]));
    }
    Some(moves)
}

/// Does the run again on the plain machine and describes it; an error if it does not end in something bad.
fn replay(
    code: &Code<'_>,
    config: &Config,
    machine: &BufferMachine<'_>,
    found: &Found,
    id: StateId,
) -> Result<(Finding, Run), &'static str> {
    let moves = moves_to(machine, found, id).ok_or("a step of the path is missing")?;
    let plain = Plain::new(code, config);
    let (state, run) = describe(code, &plain, &moves)?;
    for (t, local) in (0u32..).zip(&state.threads) {
        if let Status::Failed(kind) = local.status
            && !kind.is_limit()
        {
            let frame = local.top();
            let message = match code.instr(frame.function, frame.pc) {
                Some(
                    fencepost_ir::Instr::Assert { message, .. } | fencepost_ir::Instr::Fail { message, .. },
                ) if !message.is_empty() => {
                    format!("{}: {message}", kind.describe())
                }
                Some(fencepost_ir::Instr::Unlock(_)) if kind == FaultKind::Misuse => {
                    "a mutex is unlocked by a thread that does not hold it".to_owned()
                }
                _ => kind.describe().to_owned(),
            };
            let span = code.span(frame.function, frame.pc);
            return Ok((Finding { message, span, thread: Some(t), kind: Some(kind) }, run));
        }
    }
    let ended =
        |local: &crate::local::Local| matches!(local.status, Status::Ended(_)) && local.buffer.is_empty();
    match &code.program.property {
        Property::Final(condition)
            if state.threads.iter().all(ended) && !allows(condition, &plain.observed(&state, condition)) =>
        {
            let message = "a final state violates the condition".into();
            Ok((Finding { message, span: Span::default(), thread: None, kind: None }, run))
        }
        _ if config.c && plain.is_stuck(&state) => Ok((deadlock(code, &state), run)),
        _ => Err("nothing is wrong at its end"),
    }
}

/// Threads that wait for ever; the first of them says where.
fn deadlock(code: &Code<'_>, state: &State) -> Finding {
    let ended = |status: Status| matches!(status, Status::Ended(_) | Status::Halted);
    let mut threads = (0u32..).zip(&state.threads);
    let loops = threads.clone().find(|(_, local)| local.status == Status::Stuck);
    let kind = if loops.is_some() { FaultKind::LocalLoop } else { FaultKind::Deadlock };
    let waiting = loops.or_else(|| threads.find(|(_, local)| !ended(local.status)));
    let span = waiting.map_or(Span::default(), |(_, local)| code.span(local.top().function, local.top().pc));
    let thread = waiting.map(|(t, _)| t);
    Finding { message: kind.describe().to_owned(), span, thread, kind: Some(kind) }
}

/// Why the machine gave up in a state, in words.
fn limit_fault(
    code: &Code<'_>,
    config: &Config,
    machine: &BufferMachine<'_>,
    found: &Found,
    id: StateId,
) -> Option<String> {
    let moves = moves_to(machine, found, id)?;
    let plain = Plain::new(code, config);
    let mut state = plain.initial();
    for step in moves {
        plain.apply(&mut state, step).ok()?;
    }
    state.threads.iter().find_map(|local| match local.status {
        Status::Failed(kind) if kind.is_limit() => Some(kind.describe().to_owned()),
        _ => None,
    })
}
