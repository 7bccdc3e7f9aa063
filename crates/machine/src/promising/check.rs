//! From a program to an answer on the promising machine.

use super::certify::Consistency;
use super::memory::Place;
use super::plain::{Effect, Plain, State};
use super::prepare::{domain_of, prepare, thread_config};
use super::search::{Act, Bounds, CutBy, Move, PromisingMachine};
pub use crate::check::Outcome;
use crate::check::{Bound, Finding, Verdict, allows};
use crate::code::{CellId, Code, Unsupported};
use crate::local::Status;
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::run::{Line, Run, show_instr};
use crate::search::{self, Found, StopReason};
use crate::store::StateId;
use fencepost_diag::Span;
use fencepost_ir::{Instr, Program, Property, Quantifier, Value};
use std::collections::BTreeSet;

/// How to check.
#[derive(Clone, Default)]
pub struct Options<'a> {
    /// The notion of consistency.
    pub consistency: Consistency,
    /// The bounds on runs.
    pub bounds: Bounds,
    /// Values of future memories, for the standard notion; `None`: those that the program mentions.
    pub domain: Option<Vec<Value>>,
    /// Limits and habits of the search.
    pub search: search::Options<'a>,
}

/// Checks a program on the promising machine. Loops should be bounded before: memory grows with every write.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome, Unsupported> {
    let prepared = prepare(program)?;
    let code = Code::new(&prepared)?;
    let config = thread_config();
    let domain = options.domain.clone().unwrap_or_else(|| domain_of(&prepared));
    let machine = PromisingMachine::new(&code, &config, options.consistency, options.bounds, &domain);
    let mut states = BTreeSet::new();
    let found = search::search(&machine, options.search, |mut worker| states.append(&mut worker.states));
    let plain = Plain::new(&code, &config, options.consistency, &domain);
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        bounds: bounds(&options.bounds, &machine),
        stop: found.stop,
        reason: found.stop.map(|stop| stopped_by(stop).to_owned()),
        finding: None,
        run: None,
        final_states: admitted(&prepared, states),
        states: found.states,
        transitions: found.transitions,
        blocked: found.blocked,
        bytes: found.bytes,
    };
    match found.stopped_at {
        Some((id, Kind::Bad)) => {
            let moves = moves_to(&machine, &found, id);
            let replayed =
                moves.ok_or("a step of the path is missing").and_then(|moves| replay(&code, &plain, &moves));
            match replayed {
                Ok((finding, run)) => {
                    outcome.verdict = Verdict::Unsafe;
                    (outcome.stop, outcome.reason) = (None, None);
                    (outcome.finding, outcome.run) = (Some(finding), Some(run));
                }
                Err(reason) => {
                    outcome.reason = Some(format!("a run was found that does not replay: {reason}"));
                }
            }
        }
        Some(_) => {
            outcome.reason = Some("a thread has too many runs of its own to certify its promises".into())
        }
        None if found.stop.is_some() => {}
        None => conclude(&prepared, &mut outcome),
    }
    Ok(outcome)
}

fn stopped_by(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Timeout => "the time limit was reached",
        StopReason::Memory => "the memory limit was reached",
        StopReason::MaxStates => "the limit on states was reached",
        StopReason::Interrupted => "the search was interrupted",
    }
}

fn bounds(bounds: &Bounds, machine: &PromisingMachine<'_>) -> Vec<Bound> {
    let mut all: Vec<Bound> = [
        (CutBy::Total, "bound", bounds.total),
        (CutBy::Promises, "promises", bounds.promises.filter(|&most| most > 0)),
        (CutBy::Views, "views", bounds.views),
        (CutBy::Loop, "unroll", None),
    ]
    .into_iter()
    .filter(|(by, _, _)| machine.was_cut(*by))
    .map(|(_, name, value)| Bound { name, value: value.map(u32::from) })
    .collect();
    // Without promises, what a promise would add is not even looked for.
    if bounds.promises == Some(0) {
        all.push(Bound { name: "promises", value: Some(0) });
    } else if bounds.total == Some(0) && all.iter().all(|bound| bound.name != "bound") {
        all.push(Bound { name: "bound", value: Some(0) });
    }
    all
}

fn admitted(program: &Program, states: BTreeSet<Vec<Value>>) -> Vec<Vec<Value>> {
    let Property::Final(condition) = &program.property else { return Vec::new() };
    let filter = condition.filter.as_ref();
    states.into_iter().filter(|state| filter.is_none_or(|filter| filter.holds(state))).collect()
}

/// The whole state space was searched, and no state is bad.
fn conclude(program: &Program, outcome: &mut Outcome) {
    outcome.verdict = Verdict::Safe;
    let Property::Final(condition) = &program.property else { return };
    let wanted = condition.quantifier == Quantifier::Exists;
    if !wanted || outcome.final_states.iter().any(|state| condition.proposition.holds(state)) {
        return;
    }
    if outcome.bounds.is_empty() {
        let message = "no final state satisfies the condition".into();
        outcome.verdict = Verdict::Unsafe;
        outcome.finding = Some(Finding { message, span: Span::default(), thread: None, kind: None });
    } else {
        outcome.verdict = Verdict::Unknown;
        outcome.reason = Some("no final state within the bounds satisfies the condition".into());
    }
}

/// The moves from the initial state to a stored one.
fn moves_to(machine: &PromisingMachine<'_>, found: &Found, id: StateId) -> Option<Vec<Move>> {
    let mut path = vec![id];
    while let Some(parent) = found.store.parent(path[path.len() - 1]) {
        path.push(parent);
    }
    path.reverse();
    let rows: Vec<Vec<u32>> = path.into_iter().map(|id| found.store.row(id)).collect();
    let mut worker = machine.worker();
    let mut out = Successors::new(machine.width(), true);
    let mut moves = Vec::new();
    for pair in rows.windows(2) {
        out.clear();
        worker.expand(&pair[0], &mut out);
        let at = out.rows().position(|row| row == pair[1])?;
        moves.push(out.labels()[at].clone());
    }
    Some(moves)
}

/// Does the run again on the plain machine and describes it; an error if it does not end in something bad.
pub fn replay(code: &Code<'_>, plain: &Plain<'_>, moves: &[Move]) -> Result<(Finding, Run), &'static str> {
    let (mut state, logs) = plain.start();
    let mut run = Run::default();
    for (thread, log) in (0u32..).zip(logs) {
        tell(code, &mut run, thread, &Effect { executed: log, ..Effect::default() }, None, &state);
    }
    for step in moves {
        let effect = plain.apply(&mut state, step)?;
        tell(code, &mut run, u32::from(step.thread), &effect, Some(&step.act), &state);
    }
    run.memory = (0..code.cells.len())
        .map(|cell| (code.cell_name(CellId(cell as u32)), plain.last_value(&state, cell)))
        .collect();
    Ok((finding(code, plain, &state)?, run))
}

fn finding(code: &Code<'_>, plain: &Plain<'_>, state: &State) -> Result<Finding, &'static str> {
    for (t, process) in (0u32..).zip(&state.processes) {
        let Status::Failed(kind) = process.local.status else { continue };
        if kind.is_limit() {
            continue;
        }
        let frame = process.local.top();
        let message = match code.instr(frame.function, frame.pc) {
            Some(Instr::Assert { message, .. } | Instr::Fail { message, .. }) if !message.is_empty() => {
                format!("{}: {message}", kind.describe())
            }
            _ => kind.describe().to_owned(),
        };
        let span = code.span(frame.function, frame.pc);
        return Ok(Finding { message, span, thread: Some(t), kind: Some(kind) });
    }
    let ended = state.processes.iter().all(|p| matches!(p.local.status, Status::Ended(_) | Status::Halted));
    match &code.program.property {
        Property::Final(condition) if ended && !allows(condition, &plain.observed(state, condition)) => {
            let message = "a final state violates the condition".into();
            Ok(Finding { message, span: Span::default(), thread: None, kind: None })
        }
        _ => Err("nothing is wrong at its end"),
    }
}

/// The lines of one move: a promise, or the instruction with what it read and wrote and, after it, what was only local.
fn tell(code: &Code<'_>, run: &mut Run, thread: u32, effect: &Effect, act: Option<&Act>, state: &State) {
    let views = show_views(code, state);
    let cell = effect.cell.map(|cell| CellId(cell as u32));
    let access = effect.value.map(|value| (cell, value));
    if let (Some(Act::Promise { place, .. }), Some((Some(cell), value))) = (act, access) {
        let how = if matches!(place, Place::Split(_)) { ", splitting an earlier promise" } else { "" };
        let text = format!(
            "promise {} = {}{how}; certified: alone, the thread can fulfil it",
            code.cell_name(cell),
            code.program.show_value(value)
        );
        run.lines.push(Line { thread, text, span: Span::default(), buffers: views });
        return;
    }
    let mut first = act.is_some();
    for done in &effect.executed {
        let Some(instr) = code.instr(done.function, done.pc) else { continue };
        let mut text = show_instr(code, instr, if first { access } else { None });
        if first {
            if effect.fulfilled {
                text.push_str(", which fulfils the promise");
            }
            if effect.switched {
                text.push_str(" (view switch)");
            }
        }
        first = false;
        let span = code.span(done.function, done.pc);
        run.lines.push(Line { thread, text, span, buffers: views.clone() });
    }
}

/// Each thread's view, as numbers of messages in their cells, and its promises.
fn show_views(code: &Code<'_>, state: &State) -> Vec<String> {
    let number = |cell: usize, time| state.messages.iter().filter(|m| m.cell == cell && m.to < time).count();
    let show = |(p, process): (usize, &super::plain::Process)| {
        let mut words: Vec<String> = Vec::new();
        for (cell, &time) in process.view.iter().enumerate().filter(|(_, time)| **time > 0) {
            words.push(format!("{}@{}", code.cell_name(CellId(cell as u32)), number(cell, time)));
        }
        for message in state.messages.iter().filter(|m| m.promised == Some(p)) {
            let value = code.program.show_value(message.value.unwrap_or_default());
            words.push(format!("owes {}={value}", code.cell_name(CellId(message.cell as u32))));
        }
        words.join(" ")
    };
    state.processes.iter().enumerate().map(show).collect()
}
