//! Runs of the source program step by step, with what waits in the buffers.

use crate::buffers::{Action, Move};
use crate::code::{CellId, Code};
use crate::local::{self, Local};
use crate::plain::{Plain, State};
use crate::step::Executed;
use crate::stepper::{self, Turn};
use fencepost_answer::trace::{
    Action as Done, Cell, Held, Made, NOWHERE, Purpose, Seen, Step, StepId, Typed,
};
use fencepost_diag::Span;
use fencepost_ir::{Instr, Order, Value};
use std::collections::BTreeMap;

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
    held: Vec<Vec<Held>>,
    /// How many accesses each thread has made.
    numbers: BTreeMap<usize, u32>,
    /// Each step by thread and number in its thread.
    ids: Vec<StepId>,
    /// How many steps each thread has made.
    steps: BTreeMap<usize, u32>,
}

impl<'c> Teller<'c> {
    fn new(code: &'c Code<'c>) -> Teller<'c> {
        Teller {
            code,
            run: Run::default(),
            waiting: Vec::new(),
            memory: BTreeMap::new(),
            places: BTreeMap::new(),
            held: vec![Vec::new(); code.program.threads.len()],
            numbers: BTreeMap::new(),
            ids: Vec::new(),
            steps: BTreeMap::new(),
        }
    }

    fn push(&mut self, thread: usize, span: Span, action: Done, number: u32) {
        let count = self.steps.entry(thread).or_default();
        self.ids.push((thread as u32, *count));
        *count += 1;
        let held = self.held.clone();
        self.run.steps.push(Step { number, held, ..Step::new(thread as u32, span, action) });
    }

    /// The oldest waiting store to a cell reaches memory.
    fn flush(&mut self, thread: usize, cell: CellId, value: Value) {
        let waiting = &mut self.waiting[thread];
        if let Some(at) = waiting.iter().position(|(other, _)| *other == cell) {
            let (_, step) = waiting.remove(at);
            self.place(cell, step);
        }
        let (cell, value) = (self.code.shown(cell), self.code.typed(cell, value));
        // The buffer is shown as it is afterwards.
        let entry = Held::Store { cell: cell.clone(), value: value.clone() };
        if let Some(at) = self.held[thread].iter().position(|held| *held == entry) {
            self.held[thread].remove(at);
        }
        self.push(thread, NOWHERE, Done::Flush { cell, value }, 0);
    }

    /// A store is the newest one of its cell.
    fn place(&mut self, cell: CellId, step: usize) {
        let place = self.places.entry(cell).or_default();
        *place += 1;
        if let (_, Some(made)) = self.run.steps[step].action.access_mut() {
            made.place = *place;
        }
        self.memory.insert(cell, step);
    }

    /// One step per executed instruction; what was read or stored belongs to the first one, the others are local.
    fn lines(&mut self, thread: usize, executed: &[Executed], mut first: Option<First>) {
        while self.held.len() <= thread {
            self.held.push(Vec::new());
        }
        while self.waiting.len() <= thread {
            self.waiting.push(Vec::new());
        }
        for done in executed {
            let Some(instr) = self.code.instr(done.function, done.pc) else { continue };
            let stored = done.stored.map(|(cell, value)| First { cell: Some(cell), value, wrote: None });
            let span = self.code.span(done.function, done.pc);
            match stored.or_else(|| first.take()) {
                Some(First { cell: Some(cell), value, wrote }) => {
                    self.access(thread, span, instr, (cell, value, wrote));
                }
                what => {
                    let value = what.map(|what| what.value);
                    self.push(thread, span, without_cell(self.code, instr, value), 0);
                }
            }
        }
    }

    /// An access.
    fn access(
        &mut self,
        thread: usize,
        span: Span,
        instr: &Instr,
        (cell, value, wrote): (CellId, Value, Option<Value>),
    ) {
        let own = self.waiting[thread].iter().rev().find(|(other, _)| *other == cell).map(|(_, step)| *step);
        let stores = matches!(instr, Instr::Store { .. } | Instr::Unlock(_));
        let from = own.or_else(|| self.memory.get(&cell).copied()).map(|step| self.ids[step]);
        let waits = stores && wrote.is_none();
        let (read, made) = match stores {
            true => (None, Some(wrote.unwrap_or(value))),
            false => (Some(value), wrote),
        };
        let number = self.numbers.entry(thread).or_default();
        *number += 1;
        let (number, step) = (*number, self.run.steps.len());
        if waits {
            self.waiting[thread].push((cell, step));
            self.held[thread]
                .push(Held::Store { cell: self.code.shown(cell), value: self.code.typed(cell, value) });
        }
        let writes = made.is_some();
        let typed = |value| self.code.typed(cell, value);
        let action = access(instr, self.code.shown(cell), (read.map(typed), from), made.map(typed));
        self.push(thread, span, action, number);
        if writes && !waits {
            self.place(cell, step);
        }
    }

    /// After a move the buffers are those of the machine.
    fn settle(&mut self, state: &State) {
        self.held = state.threads.iter().map(|local| buffer(self.code, local)).collect();
        if let Some(last) = self.run.steps.last_mut() {
            last.held.clone_from(&self.held);
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

fn buffer(code: &Code<'_>, local: &Local) -> Vec<Held> {
    let held = |entry: &local::Entry| match entry {
        local::Entry::Barrier => Held::Barrier,
        local::Entry::Store { cell, value, .. } => {
            Held::Store { cell: code.shown(*cell), value: code.typed(*cell, *value) }
        }
    };
    local.buffer.iter().map(held).collect()
}

/// The memory orders of what an instruction reads and writes, that of a read which writes nothing, and what it is for.
fn orders(instr: &Instr) -> ((Order, Order), Order, Purpose) {
    let one = |order: Order| ((order, order), order, Purpose::Data);
    match instr {
        Instr::Load { ann, .. } | Instr::CopyLoad { ann, .. } | Instr::Await { ann, .. } => one(ann.order),
        Instr::Store { ann, .. } => one(ann.order),
        Instr::Rmw { read, write, .. } | Instr::AwaitRmw { read, write, .. } => {
            ((read.order, write.order), read.order, Purpose::Data)
        }
        Instr::CompareExchange { read, write, failure, .. } => {
            ((read.order, write.order), failure.order, Purpose::CompareExchange)
        }
        Instr::TryLock { .. } => ((Order::Plain, Order::Plain), Order::Plain, Purpose::TryLock),
        Instr::Lock(_) => ((Order::Plain, Order::Plain), Order::Plain, Purpose::Lock),
        Instr::Unlock(_) => ((Order::Plain, Order::Plain), Order::Plain, Purpose::Unlock),
        _ => one(Order::Plain),
    }
}

/// What an instruction that accesses a cell has done: what it read, and from which step, and what it wrote.
pub(crate) fn access(
    instr: &Instr,
    cell: Cell,
    (read, from): (Option<Typed>, Option<StepId>),
    wrote: Option<Typed>,
) -> Done {
    let ((reads, writes), alone, purpose) = orders(instr);
    let seen = |value, order| Seen { value, order, from, place: 0 };
    let made = |value| Made { value, order: writes, place: 0 };
    match (read, wrote) {
        (Some(read), Some(wrote)) => {
            Done::Update { cell, seen: seen(read, reads), made: made(wrote), purpose }
        }
        (Some(read), None) => Done::Read { cell, seen: seen(read, alone), purpose },
        (None, Some(wrote)) => Done::Write { cell, made: made(wrote), purpose },
        (None, None) => Done::Local,
    }
}

/// What an instruction that accesses no cell has done, or one of which is not known what it accessed; maybe with its value.
pub(crate) fn without_cell(code: &Code<'_>, instr: &Instr, value: Option<Value>) -> Done {
    let (orders, _, purpose) = orders(instr);
    let untold = |reads, writes, order| Done::Untold { reads, writes, order, purpose };
    match (instr, value) {
        (Instr::Nondet { .. }, Some(raw)) => Done::Choose(Typed { raw, name: code.plain_value(raw) }),
        (Instr::Spawn { .. }, Some(thread)) => Done::Spawn(thread.0 as u32),
        (Instr::Fence(fence), _) => Done::Fence(Some(*fence)),
        (Instr::AtomicBegin, _) => Done::Section { begins: true },
        (Instr::AtomicEnd, _) => Done::Section { begins: false },
        (Instr::Join { .. }, _) => Done::Join(None),
        (Instr::Load { .. } | Instr::CopyLoad { .. } | Instr::Await { .. }, _) => {
            untold(true, false, orders.0)
        }
        (Instr::Store { .. } | Instr::Unlock(_), _) => untold(false, true, orders.1),
        (
            Instr::Rmw { .. }
            | Instr::AwaitRmw { .. }
            | Instr::CompareExchange { .. }
            | Instr::TryLock { .. }
            | Instr::Lock(_),
            _,
        ) => untold(true, true, Order::joined(orders.0, orders.1)),
        _ => Done::Local,
    }
}
