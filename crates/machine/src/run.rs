//! Runs of the source program as a person reads them, with the buffers shown.

use crate::buffers::{Action, Move};
use crate::code::{CellId, Code};
use crate::local::{Entry, Local};
use crate::plain::{Plain, State};
use crate::step::Executed;
use crate::stepper::{self, Turn};
use fencepost_answer::{Access, Made, Seen, Step};
use fencepost_diag::Span;
use fencepost_ir::{Instr, Order, Value};
use std::collections::BTreeMap;

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
    let (mut state, logs) = plain.start();
    let mut teller = Teller::new(code);
    for (thread, log) in logs.iter().enumerate() {
        teller.lines(thread, log, None);
    }
    for &step in moves {
        let thread = usize::from(step.thread);
        let effect = plain.apply(&mut state, step)?;
        let action = match (step.action, effect.flushed) {
            (Action::Step { choice, spurious }, _) => stepper::Action::Step { choice, spurious },
            (Action::Flush(_), Some((cell, value))) => stepper::Action::Flush(code.address(cell), value),
            (Action::Flush(_), None) => return Err("no store reached memory"),
        };
        teller.run.turns.push(Turn { thread, action });
        if let Some((cell, value)) = effect.flushed {
            teller.flush(thread, cell, value);
        }
        let first = effect.value.map(|value| First { cell: effect.cell, value, wrote: effect.wrote });
        teller.lines(thread, &effect.executed, first);
        if !effect.started.is_empty() {
            teller.lines(state.threads.len() - 1, &effect.started, None);
        }
        teller.settle(&state);
    }
    Ok(teller.told())
}

/// What the first instruction of a move did.
struct First {
    cell: Option<CellId>,
    value: Value,
    /// What it wrote to memory itself.
    wrote: Option<Value>,
}

/// Tells a run, and follows which store each value comes from.
struct Teller<'c> {
    code: &'c Code<'c>,
    run: Run,
    /// Stores that wait, by thread: cells, and the steps that put them there.
    waiting: Vec<Vec<(CellId, usize)>>,
    /// The step that wrote what is in memory.
    memory: BTreeMap<CellId, usize>,
    /// How many values each cell has had.
    places: BTreeMap<CellId, u32>,
    /// The buffers as they are shown.
    buffers: Vec<String>,
    /// How many accesses each thread has made.
    numbers: BTreeMap<usize, u32>,
}

impl<'c> Teller<'c> {
    fn new(code: &'c Code<'c>) -> Teller<'c> {
        Teller {
            code,
            run: Run::default(),
            waiting: Vec::new(),
            memory: BTreeMap::new(),
            places: BTreeMap::new(),
            buffers: vec![String::new(); code.program.threads.len()],
            numbers: BTreeMap::new(),
        }
    }

    fn push(&mut self, thread: usize, span: Span, action: String, access: Option<Access>) {
        let (thread, buffers) = (thread as u32, self.buffers.clone());
        self.run.steps.push(Step { thread, span, action, buffers, access, ..Step::default() });
    }

    /// The oldest waiting store to a cell reaches memory.
    fn flush(&mut self, thread: usize, cell: CellId, value: Value) {
        let waiting = &mut self.waiting[thread];
        if let Some(at) = waiting.iter().position(|(other, _)| *other == cell) {
            let (_, step) = waiting.remove(at);
            self.place(cell, step);
        }
        let name = self.code.cell_name(cell);
        let shown = self.code.cell_value(cell, value);
        // The buffer is shown as it is afterwards.
        let entry = format!("{name}={shown}");
        let words: Vec<&str> = self.buffers[thread].split(' ').collect();
        if let Some(at) = words.iter().position(|word| *word == entry) {
            self.buffers[thread] = [&words[..at], &words[at + 1..]].concat().join(" ");
        }
        self.push(thread, NOWHERE, format!("memory: {name} = {shown}"), None);
    }

    /// A store is the newest one of its cell.
    fn place(&mut self, cell: CellId, step: usize) {
        let place = self.places.entry(cell).or_default();
        *place += 1;
        if let Some(wrote) = self.run.steps[step].access.as_mut().and_then(|access| access.wrote.as_mut()) {
            wrote.place = *place;
        }
        self.memory.insert(cell, step);
    }

    /// One line per executed instruction; what was read or stored belongs to the first one, the others are local.
    fn lines(&mut self, thread: usize, executed: &[Executed], mut first: Option<First>) {
        while self.buffers.len() <= thread {
            self.buffers.push(String::new());
        }
        while self.waiting.len() <= thread {
            self.waiting.push(Vec::new());
        }
        for done in executed {
            let Some(instr) = self.code.instr(done.function, done.pc) else { continue };
            let stored = done.stored.map(|(cell, value)| First { cell: Some(cell), value, wrote: None });
            let what = stored.or_else(|| first.take());
            let text = show_instr(
                self.code,
                instr,
                what.as_ref().map(|what| (what.cell, what.value)),
                what.as_ref().and_then(|what| what.wrote),
            );
            let span = self.code.span(done.function, done.pc);
            match what {
                Some(First { cell: Some(cell), value, wrote }) => {
                    self.access(thread, span, text, instr, (cell, value, wrote));
                }
                _ => self.push(thread, span, text, None),
            }
        }
    }

    /// A line about an access.
    fn access(
        &mut self,
        thread: usize,
        span: Span,
        text: String,
        instr: &Instr,
        (cell, value, wrote): (CellId, Value, Option<Value>),
    ) {
        let show = |value: Value| self.code.cell_value(cell, value);
        let own = self.waiting[thread].iter().rev().find(|(other, _)| *other == cell).map(|(_, step)| *step);
        let stores = matches!(instr, Instr::Store { .. } | Instr::Unlock(_));
        let from = own.or_else(|| self.memory.get(&cell).copied());
        let read = (!stores).then(|| Seen { value: show(value), from });
        let made = |value: Value| Made { value: show(value), place: 0 };
        let waits = stores && wrote.is_none();
        let wrote = if waits { Some(made(value)) } else { wrote.map(made) };
        let writes = wrote.is_some();
        let number = self.numbers.entry(thread).or_default();
        *number += 1;
        let access = Access { cell: self.code.cell_name(cell), read, wrote, number: *number };
        let step = self.run.steps.len();
        if waits {
            self.waiting[thread].push((cell, step));
            let entry = format!("{}={}", access.cell, self.code.cell_value(cell, value));
            let buffer = &mut self.buffers[thread];
            *buffer = if buffer.is_empty() { entry } else { format!("{buffer} {entry}") };
        }
        self.push(thread, span, text, Some(access));
        if writes && !waits {
            self.place(cell, step);
        }
    }

    /// After a move the buffers are those of the machine.
    fn settle(&mut self, state: &State) {
        self.buffers = show_buffers(self.code, state);
        if let Some(last) = self.run.steps.last_mut() {
            last.buffers.clone_from(&self.buffers);
        }
    }

    /// The run; what still waits at its end comes last in its cell.
    fn told(mut self) -> Run {
        for (cell, step) in std::mem::take(&mut self.waiting).into_iter().flatten() {
            self.place(cell, step);
        }
        self.run
    }
}

fn show_buffers(code: &Code<'_>, state: &State) -> Vec<String> {
    state.threads.iter().map(|local| show_buffer(code, local)).collect()
}

fn show_buffer(code: &Code<'_>, local: &Local) -> String {
    let show = |entry: &Entry| match entry {
        Entry::Barrier => "|".to_owned(),
        Entry::Store { cell, value, .. } => {
            format!("{}={}", code.cell_name(*cell), code.cell_value(*cell, *value))
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

/// `.acq`, `.acqrel`; nothing if both halves are plain.
fn joined(read: Order, write: Order) -> String {
    let order = match (read, write) {
        (Order::SeqCst, _) | (_, Order::SeqCst) => Order::SeqCst,
        (read, write) if read.acquires() && write.releases() => Order::AcqRel,
        (read, write) => read.max(write),
    };
    dotted("", order)
}

/// An instruction in words: what it accessed with which value, and what it wrote to memory itself.
pub(crate) fn show_instr(
    code: &Code<'_>,
    instr: &Instr,
    access: Option<(Option<CellId>, Value)>,
    wrote: Option<Value>,
) -> String {
    let with = |word: &str| match access {
        Some((Some(cell), value)) => {
            format!("{word} {} = {}", code.cell_name(cell), code.cell_value(cell, value))
        }
        Some((None, value)) => format!("{word} {}", code.program.show_value(value)),
        None => word.to_owned(),
    };
    let named = |word: &str| match access {
        Some((Some(cell), _)) => format!("{word} {}", code.cell_name(cell)),
        _ => word.to_owned(),
    };
    // `U.acq lock 0 -> 1`, or a read if nothing was written.
    let update = |order: String, failure: Order, fails: &str| match (access, wrote) {
        (Some((Some(cell), old)), Some(new)) => {
            let (old, new) = (code.cell_value(cell, old), code.cell_value(cell, new));
            format!("U{order} {} {old} -> {new}", code.cell_name(cell))
        }
        (Some(_), None) => format!("{}{fails}", with(&dotted("R", failure))),
        _ => format!("U{order}"),
    };
    match instr {
        Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } | Instr::Await { ann, .. } => {
            with(&dotted("R", ann.order))
        }
        Instr::TryLock { .. } => update(String::new(), Order::Plain, "; it is locked"),
        Instr::Store { ann, .. } => with(&dotted("W", ann.order)),
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
            update(joined(read.order, write.order), read.order, "")
        }
        Instr::CompareExchange { read, write, failure, .. } => {
            update(joined(read.order, write.order), failure.order, "; the compare-exchange fails")
        }
        Instr::Nondet { .. } => with("choose"),
        Instr::Fence(fence) => format!("F.{}", fence.name().trim_start_matches("c11.")),
        Instr::AtomicBegin => "atomic begin".into(),
        Instr::AtomicEnd => "atomic end".into(),
        Instr::Spawn { .. } => with("start thread"),
        Instr::Join { .. } => "join".into(),
        Instr::Lock(_) => named("lock"),
        Instr::Unlock(_) => named("unlock"),
        _ => "step".into(),
    }
}
