//! What threads wait for at the end of an execution, and what they missed.

use crate::telling::signals::{self, Call, Done};
use crate::telling::story::StepId;
use crate::telling::teller::{Teller, is_ours};
use crate::telling::words::list;
use fencepost_answer::trace::{Action, Seen};
use fencepost_explore::Place;
use fencepost_ir::Instr;

/// Who waits for what, in one sentence.
pub fn sentence(teller: &Teller<'_>) -> String {
    let finding = teller.finding();
    let mut parts: Vec<(bool, String)> = Vec::new();
    for (i, place) in finding.places.iter().enumerate() {
        let calls = finding.calls.get(i).map_or(&[][..], Vec::as_slice);
        parts.push(waits(teller, place, calls));
    }
    // Who waits for a thread to end is not to blame.
    parts.sort_by_key(|(joins, _)| *joins);
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join("; ")
}

/// What one thread waits for; whether it only waits for a thread to end.
fn waits(teller: &Teller<'_>, place: &Place, calls: &[(u32, u32)]) -> (bool, String) {
    let source = teller.source();
    let thread = place.thread as usize;
    let name = teller.thread(thread);
    let line = source.line(source.outside(place.at, calls));
    let steps = teller.finding().execution.threads.get(thread).map_or(&[][..], Vec::as_slice);
    let instr =
        source.program.functions.get(place.at.0 as usize).and_then(|f| f.body.get(place.at.1 as usize));
    if matches!(instr, Some(Instr::Join { .. })) {
        return (true, format!("{name} waits for a thread to end (line {line})"));
    }
    let last = steps.iter().rposition(|step| step.at == place.at);
    let called = last.map_or("", |i| teller.callee(&steps[i]));
    let read = last.and_then(|i| match &steps[i].action {
        Action::Read { cell, seen, .. } => Some((cell, seen)),
        _ => None,
    });
    if called.starts_with("pthread_cond_") || called.starts_with("cnd_") {
        let lost = missed_signal(teller, thread, read.map(|(cell, _)| cell.id));
        let lost = lost.map_or(String::new(), |lost| format!(": {lost}"));
        return (false, format!("{name} waits for a signal (line {line}) that will not come{lost}"));
    }
    let text = source.sources.expression(source.span(source.outside(place.at, calls)));
    let locks = matches!(instr, Some(Instr::Lock(_))) || text.contains("_lock(");
    match read {
        Some((cell, Seen { from: Some((t, i)), .. })) if locks => {
            let (holder, at) = (teller.thread(*t as usize), teller.line_of((*t as usize, *i as usize)));
            let holder =
                if *t as usize == thread { "it holds itself".into() } else { format!("{holder} holds") };
            let cell = teller.name(&cell.name);
            (false, format!("{name} waits for `{cell}` (line {line}), which {holder} since line {at}"))
        }
        // A cell of the library is no name for a programmer.
        Some((cell, _)) if is_ours(&cell.name) => {
            (false, format!("{name} waits at line {line} until somebody wakes it, and nobody does"))
        }
        Some((cell, seen)) => {
            let missed = missed(teller, cell.id, seen.place);
            let (cell, value) = (teller.name(&cell.name), teller.name(&seen.value.name));
            let written = match &seen.from {
                None => "the initial value".to_string(),
                Some((t, i)) => format!("written by {}", teller.who((*t as usize, *i as usize))),
            };
            let missed = match missed {
                Some(step) => format!("it never sees what {} writes", teller.who(step)),
                None => "nobody writes it again".into(),
            };
            (false, format!("{name} waits at line {line} with `{cell}` = {value}, {written}: {missed}"))
        }
        None => (false, format!("{name} waits at line {line}")),
    }
}

/// A newer write of the cell.
fn missed(teller: &Teller<'_>, cell: u32, newest: u32) -> Option<StepId> {
    let threads = teller.finding().execution.threads.iter().enumerate();
    let mut steps = threads.flat_map(|(t, steps)| steps.iter().enumerate().map(move |(i, s)| ((t, i), s)));
    steps.find_map(|(id, step)| match &step.action {
        Action::Write { cell: other, made, .. } if other.id == cell && made.place > newest => Some(id),
        _ => None,
    })
}

/// What became of the signal that a thread waits for: one that woke another, or came before the thread waited and woke nobody.
fn missed_signal(teller: &Teller<'_>, waiter: usize, variable: Option<u32>) -> Option<String> {
    let calls = signals::calls(teller, variable?);
    let (since, ticket) = signals::last_wait(&calls, waiter)?;
    let by = |call: &Call| {
        format!("the signal of {} (line {})", teller.thread(call.step.0), teller.line_of(call.step))
    };
    let others = calls.iter().rev().find_map(|call| match call.done {
        Done::Wakes { woken, others } if others & ticket != 0 && call.place > since => Some((call, woken)),
        _ => None,
    });
    if let Some((call, woken)) = others {
        let names: Vec<String> =
            signals::sleepers(&calls, woken, call.place).into_iter().map(|t| teller.thread(t)).collect();
        return Some(format!("{} woke {} instead", by(call), list(&names)));
    }
    let lost = calls
        .iter()
        .rev()
        .find(|call| call.done == Done::WakesNobody && call.place < since && call.step.0 != waiter);
    lost.map(|call| format!("{} came before that and woke nobody", by(call)))
}
