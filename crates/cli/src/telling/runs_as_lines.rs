//! The steps of a run in words, a line each.

use super::words;
use fencepost_answer::Line;
use fencepost_answer::trace::{Action, Cell, Held, Phase, Purpose, Step, Subject};
use std::collections::BTreeSet;

/// The lines of a run, without what happens to these cells; `threads` are the names of the threads.
pub fn tell(run: &[Step], threads: &[String], without: &BTreeSet<u32>) -> Vec<Line> {
    let is_left_out = |cell: Option<&Cell>| cell.is_some_and(|cell| without.contains(&cell.id));
    let shown = run.iter().filter(|step| !is_left_out(concerns(&step.action)));
    let line = |step: &Step| {
        let buffer = |held: &Vec<Held>| {
            let entries = held.iter().filter(|held| !is_left_out(held.cell())).map(waiting);
            entries.collect::<Vec<_>>().join(" ")
        };
        let fulfils = if step.fulfils { ", which fulfils the promise" } else { "" };
        let switches = if step.switches { " (view switch)" } else { "" };
        Line {
            thread: step.thread,
            span: step.span,
            action: format!("{}{}{fulfils}{switches}", event(&step.action, threads), note(&step.action)),
            buffers: step.held.iter().map(buffer).collect(),
            ..Line::default()
        }
    };
    shown.map(line).collect()
}

/// The cell that a step is about.
fn concerns(action: &Action) -> Option<&Cell> {
    match action {
        Action::Flush { cell, .. } => Some(cell),
        Action::Phase { subject: Subject::Load(cell, _) | Subject::Store(cell, _), .. } => Some(cell),
        action => action.cell(),
    }
}

/// What a thread holds back: `x=1`, `x@2`, `owes x=1`.
fn waiting(held: &Held) -> String {
    match held {
        Held::Store { cell, value } => format!("{}={}", cell.name, value.name),
        Held::Barrier => "|".into(),
        Held::View { cell, place } => format!("{}@{place}", cell.name),
        Held::Owes { cell, value } => format!("owes {}={}", cell.name, value.name),
    }
}

/// What a step does: `R.acq x = 1`, `U lock 0 -> 1`, `F.mfence`.
pub fn event(action: &Action, threads: &[String]) -> String {
    match action {
        Action::Read { cell, purpose: Purpose::Lock, .. }
        | Action::Update { cell, purpose: Purpose::Lock, .. } => format!("lock {}", cell.name),
        Action::Write { cell, purpose: Purpose::Unlock, .. }
        | Action::Update { cell, purpose: Purpose::Unlock, .. } => format!("unlock {}", cell.name),
        Action::Read { cell, seen, .. } => {
            words::read(&cell.name.to_string(), seen.order, &seen.value.name.to_string())
        }
        Action::Write { cell, made, .. } => {
            words::write(&cell.name.to_string(), made.order, &made.value.name.to_string())
        }
        Action::Update { cell, seen, made, .. } => {
            let (old, new) = (seen.value.name.to_string(), made.value.name.to_string());
            words::update(&cell.name.to_string(), (seen, &old), (made, &new))
        }
        Action::Untold { purpose: Purpose::Lock, .. } => "lock".into(),
        Action::Untold { purpose: Purpose::Unlock, .. } => "unlock".into(),
        Action::Untold { reads, writes, order, .. } => {
            let letter = match (reads, writes) {
                (true, false) => "R",
                (false, _) => "W",
                (true, true) => "U",
            };
            format!("{letter}{}", words::dotted(*order))
        }
        Action::Choose(value) => format!("choose {}", value.name),
        Action::Fence(fence) => fence.map_or("fence".into(), words::fence),
        Action::Section { begins } => if *begins { "atomic begin" } else { "atomic end" }.into(),
        Action::Spawn(thread) => match threads.get(*thread as usize) {
            Some(name) => format!("start {name}"),
            None => format!("start thread {thread}"),
        },
        Action::Join(_) => "join".into(),
        Action::Free(object) => object.as_ref().map_or("free".into(), |object| format!("free {object}")),
        Action::Flush { cell, value } => format!("memory: {} = {}", cell.name, value.name),
        Action::Promise { cell, value, .. } => format!("promise {} = {}", cell.name, value.name),
        Action::Phase { phase, subject, .. } => {
            let how = match phase {
                Phase::Init => "init".into(),
                Phase::Commit => "commit".into(),
                Phase::Reaches(whom) => format!("reaches {whom}:"),
            };
            match subject {
                Subject::Load(cell, value) => format!("{how} load {} = {}", cell.name, value.name),
                Subject::Store(cell, value) => format!("{how} store {} = {}", cell.name, value.name),
                Subject::Fence(fence) => format!("{how} fence {}", fence.name()),
            }
        }
        Action::Local => "step".into(),
    }
}

/// What is to be said about a step beyond what it does.
fn note(action: &Action) -> &'static str {
    match action {
        Action::Read { purpose: Purpose::TryLock, .. } => "; it is locked",
        Action::Read { purpose: Purpose::CompareExchange, .. } => "; the compare-exchange fails",
        Action::Promise { splits: true, .. } => {
            ", splitting an earlier promise; certified: alone, the thread can fulfil it"
        }
        Action::Promise { splits: false, .. } => "; certified: alone, the thread can fulfil it",
        _ => "",
    }
}
