//! Events and executions in words.

use fencepost_ir::{Event, EventKind, Execution, Program};
use std::fmt::Write;

/// `R.acq x = 1`, `W y = 2`, `mfence`.
pub fn show_event(program: &Program, event: &Event) -> String {
    let place = || {
        let location = event.location.map(|l| fencepost_ir::Value::pointer(l.object, l.offset));
        location.map_or(String::new(), |address| program.show_value(address))
    };
    let value = || program.show_value(event.width.sign_extend(event.value));
    let order = match event.ann.order {
        fencepost_ir::Order::Plain => String::new(),
        order => format!(".{}", order.name()),
    };
    match event.kind {
        EventKind::Read => format!("R{order} {} = {}", place(), value()),
        EventKind::Write => format!("W{order} {} = {}", place(), value()),
        EventKind::Fence(fence) => fence.name().to_string(),
    }
}

/// An execution, a block per thread: each read with the write that it reads from, each write that is overwritten with its
/// successor in coherence.
pub fn show(program: &Program, execution: &Execution) -> String {
    let mut out = String::new();
    let (from, earlier) = (execution.rf.inverse(), execution.co.inverse());
    let name = |event: usize| match execution.events[event].thread {
        None => "the initial value".to_string(),
        Some(thread) => {
            let owner = &program.threads[thread.0 as usize].name;
            format!("{} of {owner}", show_event(program, &execution.events[event]))
        }
    };
    for (t, thread) in (0u32..).zip(&program.threads) {
        let _ = writeln!(out, "    {}", thread.name);
        for (i, event) in execution.events.iter().enumerate() {
            if event.thread.is_none_or(|owner| owner.0 != t) {
                continue;
            }
            let mut line = format!("      {}", show_event(program, event));
            if event.kind == EventKind::Read
                && let Some(from) = from.successors(i).next()
            {
                let _ = write!(line, "    reads from {}", name(from));
            }
            let later = |w: &usize| execution.events[*w].thread != event.thread;
            let next =
                execution.co.successors(i).filter(later).min_by_key(|w| earlier.successors(*w).count());
            if event.kind == EventKind::Write
                && let Some(next) = next
            {
                let _ = write!(line, "    before {}", name(next));
            }
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// For the text of XML, HTML and SVG.
pub fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
