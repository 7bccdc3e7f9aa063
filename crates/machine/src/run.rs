//! Runs of the source program as a person reads them, with the buffers shown.

use crate::buffers::Move;
use crate::code::Code;
use crate::local::{Entry, Local};
use crate::plain::{Plain, State};
use fencepost_diag::Span;
use fencepost_ir::{Instr, Value};

/// One line of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The thread's number.
    pub thread: u32,
    /// What happened, in words.
    pub text: String,
    /// Where in the source; empty for a store that reaches memory.
    pub span: Span,
    /// The buffer of each thread after the move that this line belongs to, oldest store first, such as `x=1 y=2`.
    pub buffers: Vec<String>,
}

/// A run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// Its lines.
    pub lines: Vec<Line>,
    /// Memory at the end, by cell name.
    pub memory: Vec<(String, Option<Value>)>,
}

/// Replays moves and describes what happens.
pub fn describe(
    code: &Code<'_>,
    plain: &Plain<'_>,
    state: &mut State,
    moves: &[Move],
) -> Result<Run, &'static str> {
    let mut run = Run::default();
    for &step in moves {
        let thread = u32::from(step.thread);
        let effect = plain.apply(state, step)?;
        let buffers: Vec<String> = state.threads.iter().map(|local| show_buffer(code, local)).collect();
        if let Some((cell, value)) = effect.flushed {
            let text = format!("memory: {} = {}", code.cell_name(cell), code.program.show_value(value));
            run.lines.push(Line { thread, text, span: Span::default(), buffers: buffers.clone() });
        }
        let mut value = effect.value;
        for done in effect.executed {
            let Some(instr) = code.instr(done.function, done.pc) else { continue };
            // The value belongs to the first instruction; the others are local.
            let text = show_instr(code, instr, value.take());
            let span = code.span(done.function, done.pc);
            run.lines.push(Line { thread, text, span, buffers: buffers.clone() });
        }
    }
    let cells = (0..state.memory.len()).map(|i| code.cell_name(crate::code::CellId(i as u32)));
    run.memory = cells.zip(state.memory.iter().copied()).collect();
    Ok(run)
}

fn show_buffer(code: &Code<'_>, local: &Local) -> String {
    let show = |entry: &Entry| match entry {
        Entry::Barrier => "|".to_owned(),
        Entry::Store { cell, value, .. } => {
            format!("{}={}", code.cell_name(*cell), code.program.show_value(*value))
        }
    };
    local.buffer.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn show_instr(code: &Code<'_>, instr: &Instr, value: Option<Value>) -> String {
    let value = value.map(|value| code.program.show_value(value));
    let with = |word: &str| match &value {
        Some(value) => format!("{word} {value}"),
        None => word.to_owned(),
    };
    match instr {
        Instr::Load { .. } => with("load"),
        Instr::Store { .. } => with("store"),
        Instr::Rmw { .. } => with("read-modify-write of"),
        Instr::CompareExchange { .. } => with("compare-exchange of"),
        Instr::Nondet { .. } => with("choose"),
        Instr::Fence(fence) => format!("fence {}", fence.name()),
        Instr::AtomicBegin => "atomic begin".into(),
        Instr::AtomicEnd => "atomic end".into(),
        Instr::Spawn { .. } => with("start thread"),
        Instr::Join { .. } => "join".into(),
        Instr::Lock(_) => "lock".into(),
        Instr::Unlock(_) => "unlock".into(),
        _ => "step".into(),
    }
}
