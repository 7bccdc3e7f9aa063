//! Whom the signals of a condition variable woke.
//!
//! The runtime (`crates/c/src/runtime/cond.c`) keeps a bit for every ticket that waits in the low half of a variable's state and
//! one
//! for every ticket that was woken in the high half: what a call has done is what it changed there.

use crate::telling::story::StepId;
use crate::telling::teller::Teller;
use fencepost_answer::trace::{Action, Event};

/// The tickets that wait, in the state of a condition variable.
const WAITING: u64 = 0xffff_ffff;

/// What one call has done to a condition variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done {
    /// It waits, with this ticket.
    Waits(u64),
    /// It has woken these tickets; `others` waited as well.
    Wakes {
        /// Those that it woke.
        woken: u64,
        /// Those that it did not.
        others: u64,
    },
    /// It found nobody.
    WakesNobody,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its step that says so.
    pub step: StepId,
    /// What it did.
    pub done: Done,
    /// Its place in the order of the variable's writes: of what it wrote, or of what it read.
    pub place: u32,
}

/// All calls on a variable, in the order of its writes.
pub fn calls(teller: &Teller<'_>, variable: u32) -> Vec<Call> {
    let mut calls = Vec::new();
    for (thread, steps) in teller.finding().execution.threads.iter().enumerate() {
        let mut at = 0;
        while at < steps.len() {
            let length = teller.same_call(&steps[at..]);
            let here = (at..at + length).map(|i| (thread, i));
            calls.extend(call(teller, &steps[at..at + length], here, variable));
            at += length;
        }
    }
    calls.sort_by_key(|call| (call.place, call.done == Done::WakesNobody));
    calls
}

/// What the steps of one call of the library have done to a variable.
fn call(
    teller: &Teller<'_>,
    steps: &[Event],
    ids: impl Iterator<Item = StepId>,
    variable: u32,
) -> Option<Call> {
    let function = teller.callee(steps.first()?);
    let mut before = 0;
    let mut last_read = None;
    for (step, id) in steps.iter().zip(ids) {
        match &step.action {
            Action::Read { cell, seen, .. } if cell.id == variable => {
                before = seen.value.raw.0;
                last_read = Some((id, seen.place));
            }
            Action::Write { cell, made, .. } if cell.id == variable => {
                let (raw, place) = (made.value.raw.0, made.place);
                let (waits, woken) = (raw & !before & WAITING, (raw & !before) >> 32);
                let done = match (woken, waits) {
                    (0, 0) => return None,
                    (0, ticket) => Done::Waits(ticket),
                    (woken, _) => Done::Wakes { woken, others: before & WAITING & !woken },
                };
                return Some(Call { step: id, done, place });
            }
            _ => {}
        }
    }
    let signals = function.ends_with("_signal") || function.ends_with("_broadcast");
    let (step, place) = last_read.filter(|_| signals)?;
    Some(Call { step, done: Done::WakesNobody, place })
}

/// The last wait of a thread.
pub fn last_wait(calls: &[Call], thread: usize) -> Option<(u32, u64)> {
    let mut waits = calls.iter().rev().filter(|call| call.step.0 == thread);
    waits.find_map(|call| match call.done {
        Done::Waits(ticket) => Some((call.place, ticket)),
        _ => None,
    })
}

/// The threads that wait with these tickets when a call wakes them.
pub fn sleepers(calls: &[Call], tickets: u64, before: u32) -> Vec<usize> {
    let waits = calls.iter().filter(|call| call.place < before);
    let threads = waits.filter_map(|call| match call.done {
        Done::Waits(ticket) if ticket & tickets != 0 => Some(call.step.0),
        _ => None,
    });
    threads.collect()
}

/// The call that has woken a ticket.
pub fn waker(calls: &[Call], ticket: u64) -> Option<StepId> {
    let wakes = |call: &&Call| matches!(call.done, Done::Wakes { woken, .. } if woken & ticket != 0);
    calls.iter().find(wakes).map(|call| call.step)
}

/// The calls of which those of that step's thread come before it.
pub fn before(calls: &[Call], step: StepId) -> Vec<Call> {
    calls.iter().filter(|call| call.step.0 != step.0 || call.step < step).copied().collect()
}

/// Whether a wait gives its ticket back without having been woken.
pub fn leaves(teller: &Teller<'_>, steps: &[StepId], variable: u32, ticket: u64) -> bool {
    let mut waits = false;
    steps.iter().filter_map(|&step| teller.step(step)).any(|step| match &step.action {
        Action::Write { cell, made, .. } if cell.id == variable => {
            let waited = std::mem::replace(&mut waits, made.value.raw.0 & ticket != 0);
            waited && !waits
        }
        _ => false,
    })
}
