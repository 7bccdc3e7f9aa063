//! Runs of the source program as a person reads them, with the buffers shown.

use crate::buffers::{Action, Move};
use crate::code::{CellId, Code};
use crate::local::{Entry, Local};
use crate::plain::{Plain, State};
use crate::step::Executed;
use crate::stepper::{self, Turn};
use fencepost_answer::Step;
use fencepost_diag::Span;
use fencepost_ir::{Instr, Order, Value};

/// A store that reaches memory stands nowhere in the source.
const NOWHERE: Span = Span { start: u32::MAX, end: u32::MAX };

/// A run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// Its steps.
    pub steps: Vec<Step>,
    /// Its turns, for the stepper.
    pub turns: Vec<Turn>,
}

/// Replays moves from the start and describes what happens.
pub fn describe(code: &Code<'_>, plain: &Plain<'_>, moves: &[Move]) -> Result<Run, &'static str> {
    let mut run = Run::default();
    let (mut state, logs) = plain.start();
    let buffers = show_buffers(code, &state);
    for (thread, log) in (0u32..).zip(logs) {
        lines(code, &mut run, thread, &log, None, &buffers);
    }
    for &step in moves {
        let thread = u32::from(step.thread);
        let effect = plain.apply(&mut state, step)?;
        let buffers = show_buffers(code, &state);
        let action = match (step.action, effect.flushed) {
            (Action::Step { choice, spurious }, _) => stepper::Action::Step { choice, spurious },
            (Action::Flush(_), Some((cell, value))) => stepper::Action::Flush(code.address(cell), value),
            (Action::Flush(_), None) => return Err("no store reached memory"),
        };
        run.turns.push(Turn { thread: thread as usize, action });
        if let Some((cell, value)) = effect.flushed {
            let text = format!("memory: {} = {}", code.cell_name(cell), code.program.show_value(value));
            run.steps.push(Step {
                thread,
                action: text,
                buffers: buffers.clone(),
                span: NOWHERE,
                ..Step::default()
            });
        }
        let first = effect.value.map(|value| (effect.cell, value));
        lines(code, &mut run, thread, &effect.executed, first, &buffers);
    }
    Ok(run)
}

/// One line per executed instruction; what was read or stored belongs to the first one, the others are local.
fn lines(
    code: &Code<'_>,
    run: &mut Run,
    thread: u32,
    executed: &[Executed],
    mut first: Option<(Option<CellId>, Value)>,
    buffers: &[String],
) {
    for done in executed {
        let Some(instr) = code.instr(done.function, done.pc) else { continue };
        let stored = done.stored.map(|(cell, value)| (Some(cell), value));
        let text = show_instr(code, instr, stored.or(first.take()));
        let span = code.span(done.function, done.pc);
        run.steps.push(Step { thread, span, action: text, buffers: buffers.to_vec(), ..Step::default() });
    }
}

fn show_buffers(code: &Code<'_>, state: &State) -> Vec<String> {
    state.threads.iter().map(|local| show_buffer(code, local)).collect()
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

/// `R.acq`; only the letter for a plain access.
fn dotted(letter: &str, order: Order) -> String {
    match order {
        Order::Plain => letter.into(),
        order => format!("{letter}.{}", order.name()),
    }
}

pub(crate) fn show_instr(code: &Code<'_>, instr: &Instr, access: Option<(Option<CellId>, Value)>) -> String {
    let with = |word: &str| match access {
        Some((Some(cell), value)) => {
            format!("{word} {} = {}", code.cell_name(cell), code.program.show_value(value))
        }
        Some((None, value)) => format!("{word} {}", code.program.show_value(value)),
        None => word.to_owned(),
    };
    match instr {
        Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } => with(&dotted("R", ann.order)),
        Instr::Await { .. } | Instr::AwaitRmw { .. } => with("wait for"),
        Instr::TryLock { .. } => with("try to lock"),
        Instr::Store { ann, .. } => with(&dotted("W", ann.order)),
        Instr::Rmw { .. } => with("read-modify-write of"),
        Instr::CompareExchange { .. } => with("compare-exchange of"),
        Instr::Nondet { .. } => with("choose"),
        Instr::Fence(fence) => format!("F.{}", fence.name().trim_start_matches("c11.")),
        Instr::AtomicBegin => "atomic begin".into(),
        Instr::AtomicEnd => "atomic end".into(),
        Instr::Spawn { .. } => with("start thread"),
        Instr::Join { .. } => "join".into(),
        Instr::Lock(_) => "lock".into(),
        Instr::Unlock(_) => "unlock".into(),
        _ => "step".into(),
    }
}
