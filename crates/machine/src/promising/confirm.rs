//! What the check of a program asks of the promising machine: bounds, final states, and runs done again.

use super::memory::Place;
use super::plain::{Effect, Plain, Process, State, Time};
use super::search::{Act, CutBy, Move, PromisingMachine, PromisingWorker};
use crate::check::{Checkable, allows};
use crate::code::{CellId, Code};
use crate::local::Status;
use crate::run::{access, without_cell};
use fencepost_answer::trace::{Action, Held, NOWHERE, Step, StepId};
use fencepost_answer::{Bound, BoundName, Finding, FindingKind};
use fencepost_ir::{Instr, Property, Value};
use std::collections::BTreeSet;

impl Checkable for PromisingMachine<'_> {
    fn bounds(&self) -> Vec<Bound> {
        let bounds = self.limits();
        let all = [
            (CutBy::Total, BoundName::Promising, bounds.total),
            (CutBy::Promises, BoundName::Promises, bounds.promises),
            (CutBy::Views, BoundName::Views, bounds.views),
            // Loops are bounded before, by somebody who knows how often.
            (CutBy::Loop, BoundName::Unroll, None),
        ];
        let cut = all.into_iter().filter(|(by, ..)| self.was_cut(*by));
        cut.map(|(_, name, value)| Bound::new(name, value.unwrap_or(0))).collect()
    }

    fn final_states(worker: PromisingWorker<'_, '_>) -> BTreeSet<Vec<Value>> {
        worker.states
    }

    fn confirm(&self, run: &[Move]) -> Result<Finding, String> {
        let (code, plain) = (self.code(), self.plain());
        let (state, trace) = replay(code, &plain, run)?;
        let (kind, message, place) = wrong(code, &plain, &state).ok_or("nothing is wrong at its end")?;
        Ok(Finding { run: trace, ..Finding::new(kind, message, vec![place]) })
    }

    fn gave_up(&self, run: &[Move]) -> Option<String> {
        let (state, _) = replay(self.code(), &self.plain(), run).ok()?;
        let limit = state.processes.iter().find_map(|process| match process.local.status {
            Status::Failed(kind) if kind.is_limit() => Some(kind.describe().to_owned()),
            _ => None,
        });
        Some(limit.unwrap_or_else(|| "a thread has too many runs of its own to certify its promises".into()))
    }
}

/// What is wrong in a state.
pub(super) fn wrong(
    code: &Code<'_>,
    plain: &Plain<'_>,
    state: &State,
) -> Option<(FindingKind, String, fencepost_answer::Place)> {
    for (t, process) in (0u32..).zip(&state.processes) {
        let Status::Failed(fault) = process.local.status else { continue };
        let Some(kind) = fault.finding() else { continue };
        let frame = process.local.top();
        let message = match code.instr(frame.function, frame.pc) {
            Some(Instr::Assert { message, .. } | Instr::Fail { message, .. }) if !message.is_empty() => {
                format!("{}: {message}", fault.describe())
            }
            _ => fault.describe().to_owned(),
        };
        let span = code.span(frame.function, frame.pc);
        return Some((
            kind,
            message,
            fencepost_answer::Place { thread: Some(t), span, label: String::new() },
        ));
    }
    let ended = state.processes.iter().all(|p| matches!(p.local.status, Status::Ended(_) | Status::Halted));
    match &code.program.property {
        Property::Final(condition) if ended && !allows(condition, &plain.observed(state, condition)) => {
            Some((FindingKind::Assertion, "a final state violates the condition".into(), Default::default()))
        }
        _ => None,
    }
}

/// Does the run again on the plain machine, and says step by step what happens.
pub fn replay(
    code: &Code<'_>,
    plain: &Plain<'_>,
    moves: &[Move],
) -> Result<(State, Vec<Step>), &'static str> {
    let (mut state, logs) = plain.start();
    let mut told = Told { code, trace: Vec::new(), ids: Vec::new(), messages: Vec::new() };
    for (thread, log) in (0u32..).zip(logs) {
        told.tell(thread, &Effect { executed: log, ..Effect::default() }, None, &state);
    }
    for step in moves {
        let effect = plain.apply(&mut state, step)?;
        told.tell(u32::from(step.thread), &effect, Some(&step.act), &state);
    }
    let trace = told.with_sources();
    Ok((state, trace))
}

/// The steps of a run, and the messages that they read and wrote.
struct Told<'c> {
    code: &'c Code<'c>,
    trace: Vec<Step>,
    /// Each step by thread and number in its thread.
    ids: Vec<StepId>,
    /// Steps with the cell and the timestamps of what they read and wrote.
    messages: Vec<(usize, usize, Option<Time>, Option<Time>)>,
}

impl Told<'_> {
    /// The steps of one move: a promise, or the instruction with what it read and wrote and, after it, what was only local.
    fn tell(&mut self, thread: u32, effect: &Effect, act: Option<&Act>, state: &State) {
        let code = self.code;
        let held = views(code, state);
        let cell = effect.cell.map(|cell| CellId(cell as u32));
        if let (Some(Act::Promise { place, .. }), Some(cell), Some(value)) = (act, cell, effect.value) {
            let splits = matches!(place, Place::Split(_));
            let action = Action::Promise { cell: code.shown(cell), value: code.typed(cell, value), splits };
            self.push(Step { held, ..Step::new(thread, NOWHERE, action) });
            return;
        }
        let mut first = act.is_some();
        for done in &effect.executed {
            let Some(instr) = code.instr(done.function, done.pc) else { continue };
            let accessed = if first { self.access(thread, effect, instr, state) } else { None };
            let number = accessed.as_ref().map_or(0, |(_, number)| *number);
            let value = effect.value.filter(|_| first);
            let action = accessed.map_or_else(|| without_cell(code, instr, value), |(action, _)| action);
            let (fulfils, switches) = (first && effect.fulfilled, first && effect.switched);
            first = false;
            let span = code.span(done.function, done.pc);
            let held = held.clone();
            self.push(Step { number, fulfils, switches, held, ..Step::new(thread, span, action) });
        }
    }

    fn push(&mut self, step: Step) {
        let before = self.trace.iter().filter(|other| other.thread == step.thread).count();
        self.ids.push((step.thread, before as u32));
        self.trace.push(step);
    }

    /// What the instruction of a move did to memory, and which access of its thread it is; where values come from is added at the
    /// end.
    fn access(
        &mut self,
        thread: u32,
        effect: &Effect,
        instr: &Instr,
        state: &State,
    ) -> Option<(Action, u32)> {
        let cell = effect.cell?;
        let (read, wrote) = (effect.read, effect.wrote.map(|(_, to)| to));
        read.or(wrote)?;
        let id = CellId(cell as u32);
        let value = |time| self.code.typed(id, message(state, cell, time).unwrap_or_default());
        let own = self.trace.iter().filter(|step| step.thread == thread && step.action.cell().is_some());
        let number = own.count() as u32 + 1;
        self.messages.push((self.trace.len(), cell, read, wrote));
        let action = access(instr, self.code.shown(id), (read.map(value), None), wrote.map(value));
        Some((action, number))
    }

    /// The steps, with the step that each value comes from, and the places of what was written.
    fn with_sources(self) -> Vec<Step> {
        let Told { mut trace, messages, ids, .. } = self;
        for &(step, cell, read, wrote) in &messages {
            let same =
                |other: &&(usize, usize, Option<Time>, Option<Time>)| other.1 == cell && other.3 == read;
            let (seen, made) = trace[step].action.access_mut();
            if let (Some(seen), Some(_)) = (seen, read) {
                seen.from = messages.iter().find(same).map(|writer| ids[writer.0]);
            }
            if let (Some(made), Some(time)) = (made, wrote) {
                let older =
                    messages.iter().filter(|other| other.1 == cell && other.3.is_some_and(|t| t < time));
                made.place = older.count() as u32 + 1;
            }
        }
        trace
    }
}

/// The value of a message.
fn message(state: &State, cell: usize, time: Time) -> Option<Value> {
    state.messages.iter().find(|message| message.cell == cell && message.to == time)?.value
}

/// Each thread's view, as numbers of messages in their cells, and its promises.
fn views(code: &Code<'_>, state: &State) -> Vec<Vec<Held>> {
    let number = |cell: usize, time| state.messages.iter().filter(|m| m.cell == cell && m.to < time).count();
    let held = |(p, process): (usize, &Process)| {
        let seen = process.view.iter().enumerate().filter(|(_, time)| **time > 0);
        let views = seen.map(|(cell, &time)| Held::View {
            cell: code.shown(CellId(cell as u32)),
            place: number(cell, time),
        });
        let promised = state.messages.iter().filter(|m| m.promised == Some(p)).map(|message| {
            let cell = CellId(message.cell as u32);
            Held::Owes { cell: code.shown(cell), value: code.typed(cell, message.value.unwrap_or_default()) }
        });
        views.chain(promised).collect()
    };
    state.processes.iter().enumerate().map(held).collect()
}
