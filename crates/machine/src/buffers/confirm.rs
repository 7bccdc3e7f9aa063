//! What the check of a program asks of a machine with store buffers: bounds, final states, and runs done again.

use super::{BufferMachine, BufferWorker, CutBy, Label, Move};
use crate::check::{Checkable, allows};
use crate::code::Code;
use crate::config::Config;
use crate::local::{FaultKind, Local, Status};
use crate::machine::Machine;
use crate::plain::{Plain, State};
use crate::run::describe;
use crate::symmetry::Lift;
use fencepost_answer::{Bound, BoundName, Finding, FindingKind, Place};
use fencepost_ir::{Instr, Property, Value};
use std::collections::BTreeSet;

impl Checkable for BufferMachine<'_> {
    fn bounds(&self) -> Vec<Bound> {
        let config = &self.config;
        let all = [
            (CutBy::Buffer, BoundName::Buffer, config.buffer),
            (CutBy::Rounds, BoundName::Rounds, config.rounds),
            (CutBy::Age, BoundName::Age, config.age),
            // Loops are bounded before, by somebody who knows how often.
            (CutBy::Loop, BoundName::Unroll, None),
        ];
        let cut = all.into_iter().filter(|(by, ..)| self.was_cut(*by));
        cut.map(|(_, name, value)| Bound::new(name, value.unwrap_or(0))).collect()
    }

    fn final_states(worker: BufferWorker<'_>) -> BTreeSet<Vec<Value>> {
        worker.states
    }

    fn confirm(&self, run: &[Label]) -> Result<Finding, String> {
        let code = Code::new(self.source).map_err(|unsupported| unsupported.what)?;
        let plain = Plain::new(&code, &self.config);
        let (state, run) = describe(&code, &plain, &self.moves(run))?;
        let (kind, message, place) =
            wrong(&self.config, &code, &plain, &state).ok_or("nothing is wrong at its end")?;
        Ok(Finding { kind, message, places: vec![place], trace: run.steps })
    }

    fn gave_up(&self, run: &[Label]) -> Option<String> {
        let code = Code::new(self.source).ok()?;
        let plain = Plain::new(&code, &self.config);
        let mut state = plain.initial();
        for step in self.moves(run) {
            plain.apply(&mut state, step).ok()?;
        }
        state.threads.iter().find_map(|local| match local.status {
            Status::Failed(kind) if kind.is_limit() => Some(kind.describe().to_owned()),
            _ => None,
        })
    }
}

impl BufferMachine<'_> {
    /// The moves of a run, by thread instead of slot.
    fn moves(&self, run: &[Label]) -> Vec<Move> {
        let mut lift = Lift::new(self.slots(), self.worker().start().1);
        run.iter().flat_map(|label| lift.step(label)).collect()
    }
}

/// What is wrong in a state.
fn wrong(
    config: &Config,
    code: &Code<'_>,
    plain: &Plain<'_>,
    state: &State,
) -> Option<(FindingKind, String, Place)> {
    for (t, local) in (0u32..).zip(&state.threads) {
        if let Status::Failed(fault) = local.status
            && let Some(kind) = fault.finding()
        {
            let place = Place { thread: Some(t), span: span(code, local), label: String::new() };
            return Some((kind, message(code, local, fault), place));
        }
    }
    let ended = |local: &Local| matches!(local.status, Status::Ended(_)) && local.buffer.is_empty();
    match &code.program.property {
        Property::Final(condition)
            if state.threads.iter().all(ended) && !allows(condition, &plain.observed(state, condition)) =>
        {
            Some((FindingKind::Assertion, "a final state violates the condition".into(), Place::default()))
        }
        _ if config.c && plain.is_stuck(state) => deadlock(code, state),
        _ => None,
    }
}

/// Does a run of moves again that another engine found, and says what is wrong at its end. The error says why the run is
/// none, or why nothing is wrong at its end.
pub fn confirm_moves(code: &Code<'_>, config: &Config, moves: &[Move]) -> Result<Finding, String> {
    let plain = Plain::new(code, config);
    let (state, run) = describe(code, &plain, moves)?;
    let (kind, message, place) = wrong(config, code, &plain, &state).ok_or("nothing is wrong at its end")?;
    Ok(Finding { kind, message, places: vec![place], trace: run.steps })
}

fn span(code: &Code<'_>, local: &Local) -> fencepost_diag::Span {
    code.span(local.top().function, local.top().pc)
}

/// What a thread did wrong, in words.
fn message(code: &Code<'_>, local: &Local, fault: FaultKind) -> String {
    match code.instr(local.top().function, local.top().pc) {
        Some(Instr::Assert { message, .. } | Instr::Fail { message, .. }) if !message.is_empty() => {
            format!("{}: {message}", fault.describe())
        }
        Some(Instr::Unlock(_)) if fault == FaultKind::Misuse => {
            "a mutex is unlocked by a thread that does not hold it".to_owned()
        }
        _ => fault.describe().to_owned(),
    }
}

/// Threads that wait for ever; the first of them says where.
fn deadlock(code: &Code<'_>, state: &State) -> Option<(FindingKind, String, Place)> {
    let ended = |status: Status| matches!(status, Status::Ended(_) | Status::Halted);
    let mut threads = (0u32..).zip(&state.threads);
    let loops = threads.clone().find(|(_, local)| local.status == Status::Stuck);
    let fault = if loops.is_some() { FaultKind::LocalLoop } else { FaultKind::Deadlock };
    let waiting = loops.or_else(|| threads.find(|(_, local)| !ended(local.status)));
    let place = waiting.map_or_else(Place::default, |(t, local)| Place {
        thread: Some(t),
        span: span(code, local),
        label: String::new(),
    });
    Some((fault.finding()?, fault.describe().to_owned(), place))
}
