//! What the check of a program asks of the promising machine: bounds, final states, and runs done again.

use super::memory::Place;
use super::plain::{Effect, Plain, Process, State, Time};
use super::search::{Act, CutBy, Move, PromisingMachine, PromisingWorker};
use crate::check::{Checkable, allows};
use crate::code::{CellId, Code};
use crate::local::Status;
use crate::run::show_instr;
use fencepost_answer::{Access, Bound, BoundName, Finding, FindingKind, Made, Seen, Step};
use fencepost_diag::Span;
use fencepost_ir::{Instr, Property, Value};
use std::collections::BTreeSet;

/// A promise stands nowhere in the source.
const NOWHERE: Span = Span { start: u32::MAX, end: u32::MAX };

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
        Ok(Finding { kind, message, places: vec![place], trace })
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

/// Does the run again on the plain machine and describes it.
pub fn replay(
    code: &Code<'_>,
    plain: &Plain<'_>,
    moves: &[Move],
) -> Result<(State, Vec<Step>), &'static str> {
    let (mut state, logs) = plain.start();
    let mut told = Told { code, trace: Vec::new(), messages: Vec::new() };
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
    /// Steps with the cell and the timestamps of what they read and wrote.
    messages: Vec<(usize, usize, Option<Time>, Option<Time>)>,
}

impl Told<'_> {
    /// The steps of one move: a promise, or the instruction with what it read and wrote and, after it, what was only local.
    fn tell(&mut self, thread: u32, effect: &Effect, act: Option<&Act>, state: &State) {
        let code = self.code;
        let views = show_views(code, state);
        let cell = effect.cell.map(|cell| CellId(cell as u32));
        let access = effect.value.map(|value| (cell, value));
        if let (Some(Act::Promise { place, .. }), Some((Some(cell), value))) = (act, access) {
            let how = if matches!(place, Place::Split(_)) { ", splitting an earlier promise" } else { "" };
            let action = format!(
                "promise {} = {}{how}; certified: alone, the thread can fulfil it",
                code.cell_name(cell),
                code.cell_value(cell, value)
            );
            self.trace.push(Step { thread, action, span: NOWHERE, buffers: views, ..Step::default() });
            return;
        }
        let mut first = act.is_some();
        for done in &effect.executed {
            let Some(instr) = code.instr(done.function, done.pc) else { continue };
            let access = if first { self.access(thread, effect, state) } else { None };
            let (shown, wrote) = match (first, effect.cell) {
                (true, Some(cell)) if access.is_some() => {
                    let value = |time: Option<Time>| message(state, cell, time?);
                    let (old, new) = (value(effect.read), value(effect.wrote.map(|(_, to)| to)));
                    (Some((Some(CellId(cell as u32)), old.or(new).unwrap_or_default())), new)
                }
                (true, _) => (effect.value.map(|value| (cell, value)), None),
                (false, _) => (None, None),
            };
            let mut action = show_instr(code, instr, shown, wrote);
            if first && effect.fulfilled {
                action.push_str(", which fulfils the promise");
            }
            if first && effect.switched {
                action.push_str(" (view switch)");
            }
            first = false;
            let span = code.span(done.function, done.pc);
            self.trace.push(Step { thread, action, span, buffers: views.clone(), access, ..Step::default() });
        }
    }

    /// What the instruction of a move did to memory; where values come from is added at the end.
    fn access(&mut self, thread: u32, effect: &Effect, state: &State) -> Option<Access> {
        let cell = effect.cell?;
        let (read, wrote) = (effect.read, effect.wrote.map(|(_, to)| to));
        read.or(wrote)?;
        let id = CellId(cell as u32);
        let value = |time| self.code.cell_value(id, message(state, cell, time).unwrap_or_default());
        let before = self.trace.iter().filter(|step| step.thread == thread && step.access.is_some()).count();
        let access = Access {
            cell: self.code.cell_name(id),
            read: read.map(|time| Seen { value: value(time), from: None }),
            wrote: wrote.map(|time| Made { value: value(time), place: 0 }),
            number: before as u32 + 1,
        };
        self.messages.push((self.trace.len(), cell, read, wrote));
        Some(access)
    }

    /// The steps, with the step that each value comes from, and the places of what was written.
    fn with_sources(self) -> Vec<Step> {
        let Told { mut trace, messages, .. } = self;
        for &(step, cell, read, wrote) in &messages {
            let Some(access) = &mut trace[step].access else { continue };
            let same =
                |other: &&(usize, usize, Option<Time>, Option<Time>)| other.1 == cell && other.3 == read;
            if let (Some(seen), Some(_)) = (&mut access.read, read) {
                seen.from = messages.iter().find(same).map(|writer| writer.0);
            }
            if let (Some(made), Some(time)) = (&mut access.wrote, wrote) {
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
fn show_views(code: &Code<'_>, state: &State) -> Vec<String> {
    let number = |cell: usize, time| state.messages.iter().filter(|m| m.cell == cell && m.to < time).count();
    let show = |(p, process): (usize, &Process)| {
        let mut words: Vec<String> = Vec::new();
        for (cell, &time) in process.view.iter().enumerate().filter(|(_, time)| **time > 0) {
            words.push(format!("{}@{}", code.cell_name(CellId(cell as u32)), number(cell, time)));
        }
        for message in state.messages.iter().filter(|m| m.promised == Some(p)) {
            let cell = CellId(message.cell as u32);
            let value = code.cell_value(cell, message.value.unwrap_or_default());
            words.push(format!("owes {}={value}", code.cell_name(cell)));
        }
        words.join(" ")
    };
    state.processes.iter().enumerate().map(show).collect()
}
