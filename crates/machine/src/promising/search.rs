//! The machine relation, for the stateful search: all threads together, consistent after every step, within the bounds.
//!
//! A row is `[spent] [memory and views] threads...`. A K-bounded run has at most K promises, view switches and view
//! switches of the certifications at its context switches `[AAGKV, 4]`; `spent` has what is used up and, where certifications
//! count, which thread moved last. What no bound needs is not counted, so that more states are equal.

use super::candidates::{Promise, candidates};
use super::certify::{Certified, Certifier, Consistency};
use super::memory::{Memory, Place};
use super::plain::Plain;
use super::prepare::{has_updates, needs_message_views};
use super::thread::{Action, Rule, Threads};
use crate::code::Code;
use crate::config::Config;
use crate::intern::Interner;
use crate::local::{FaultKind, Local, Status};
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::step::{Next, Steps};
use fencepost_ir::{Instr, Observable, Property, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

const ABSENT: u32 = u32::MAX;
/// No thread has moved yet, or it is of no interest which.
const NOBODY: u8 = u8::MAX;

/// Bounds on runs; `None` is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// K: promises and view switches together.
    pub total: Option<u16>,
    /// Promises; 0 is the promise-free machine.
    pub promises: Option<u16>,
    /// View switches, those of certifications included.
    pub views: Option<u16>,
}

impl Bounds {
    /// The largest bound that can be counted.
    pub const MOST: u16 = 1000;

    fn counts_views(&self) -> bool {
        self.total.is_some() || self.views.is_some()
    }

    fn counts_promises(&self) -> bool {
        self.total.is_some() || self.promises.is_some()
    }
}

/// One step of a run. Messages are counted from the newest of their cell, which is 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Whose.
    pub thread: u8,
    /// What.
    pub act: Act,
}

/// What a [`Move`] does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// The thread's next instruction.
    Step(Action),
    /// A promise: cell, value and place; for one that a read-modify-write will fulfil, what it publishes is that of the message
    /// of this number.
    Promise {
        /// The cell.
        cell: usize,
        /// The value.
        value: Value,
        /// Where.
        place: Place,
        /// The message whose view it passes on.
        passes_on: Option<usize>,
    },
}

/// A bound that can keep the machine from going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutBy {
    /// K.
    Total = 1,
    /// The number of promises.
    Promises = 2,
    /// The number of view switches.
    Views = 4,
    /// A loop that was unrolled before had no iteration left.
    Loop = 8,
}

/// The promising machine of one program.
pub struct PromisingMachine<'p> {
    code: &'p Code<'p>,
    threads: Threads<'p>,
    consistency: Consistency,
    bounds: Bounds,
    domain: &'p [Value],
    synchronises: bool,
    joins: bool,
    costs: bool,
    memories: Interner<Memory>,
    locals: Interner<Local>,
    cut: AtomicU8,
    caches: AtomicUsize,
}

impl<'p> PromisingMachine<'p> {
    /// The machine of a program that [`super::prepare`] made.
    pub fn new(
        code: &'p Code<'p>,
        config: &'p Config,
        consistency: Consistency,
        bounds: Bounds,
        domain: &'p [Value],
    ) -> PromisingMachine<'p> {
        let has =
            |wanted: fn(&Instr) -> bool| code.program.functions.iter().flat_map(|f| &f.body).any(wanted);
        PromisingMachine {
            code,
            threads: Threads { steps: Steps { code, config }, updates: has_updates(code.program) },
            consistency,
            bounds,
            domain,
            synchronises: needs_message_views(code.program),
            joins: has(|instr| matches!(instr, Instr::Join { .. })),
            costs: false,
            memories: Interner::new(Memory::bytes),
            locals: Interner::new(|local: &Local| {
                96 + local.frames.iter().map(|frame| 40 + 8 * frame.regs.len()).sum::<usize>()
            }),
            cut: AtomicU8::new(0),
            caches: AtomicUsize::new(0),
        }
    }

    /// Final states end with the promises and view switches that were spent.
    pub fn with_costs(mut self) -> PromisingMachine<'p> {
        self.costs = true;
        self
    }

    /// The program.
    pub fn code(&self) -> &'p Code<'p> {
        self.code
    }

    /// The bounds on runs.
    pub fn limits(&self) -> Bounds {
        self.bounds
    }

    /// The same machine as the paper writes it, to do runs again.
    pub fn plain(&self) -> Plain<'p> {
        Plain::new(self.code, self.threads.steps.config, self.consistency, self.domain)
    }

    /// True if this bound kept the machine from going on somewhere.
    pub fn was_cut(&self, by: CutBy) -> bool {
        self.cut.load(Ordering::Relaxed) & by as u8 != 0
    }

    fn note_cut(&self, by: CutBy) {
        self.cut.fetch_or(by as u8, Ordering::Relaxed);
    }

    fn observe(&self, locals: &[Arc<Local>], memory: &Memory) -> Option<Vec<Value>> {
        let Property::Final(condition) = &self.code.program.property else { return None };
        let value = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => locals[thread.0 as usize].frames[0].regs[reg.0 as usize],
            Observable::Memory { object, offset, width } => {
                let cell = self.code.cell(Value::pointer(object, offset), width);
                width
                    .sign_extend(cell.and_then(|cell| memory.last_value(cell.0 as usize)).unwrap_or_default())
            }
        };
        Some(condition.observed.iter().map(value).collect())
    }
}

impl<'p> Machine for PromisingMachine<'p> {
    type Label = Move;
    type Worker<'m>
        = PromisingWorker<'m, 'p>
    where
        Self: 'm;

    fn width(&self) -> usize {
        2 + self.code.max_threads
    }

    fn worker(&self) -> PromisingWorker<'_, 'p> {
        let certifier = Certifier::new(self.threads, self.consistency, self.domain);
        PromisingWorker {
            machine: self,
            certifier,
            states: BTreeSet::new(),
            gave_up: false,
            actions: Vec::new(),
        }
    }

    fn bytes(&self) -> usize {
        self.memories.bytes() + self.locals.bytes() + self.caches.load(Ordering::Relaxed)
    }
}

/// What a run has used up.
#[derive(Clone, Copy)]
struct Spent {
    active: u8,
    promises: u16,
    views: u16,
}

impl Spent {
    fn word(self) -> u32 {
        u32::from(self.active) | u32::from(self.promises) << 8 | u32::from(self.views) << 20
    }

    fn of(word: u32) -> Spent {
        Spent { active: word as u8, promises: (word >> 8 & 0xfff) as u16, views: (word >> 20) as u16 }
    }
}

/// Expands states of the promising machine.
pub struct PromisingWorker<'m, 'p> {
    machine: &'m PromisingMachine<'p>,
    certifier: Certifier<'p>,
    /// Observed values of final states.
    pub states: BTreeSet<Vec<Value>>,
    gave_up: bool,
    actions: Vec<Action>,
}

/// A state, taken apart.
struct State {
    spent: Spent,
    memory: Arc<Memory>,
    locals: Vec<Arc<Local>>,
}

impl PromisingWorker<'_, '_> {
    fn state(&self, row: &[u32]) -> State {
        let machine = self.machine;
        let locals =
            row[2..].iter().take_while(|&&id| id != ABSENT).map(|&id| machine.locals.part(id)).collect();
        State { spent: Spent::of(row[0]), memory: machine.memories.part(row[1]), locals }
    }

    /// What is spent when a thread goes on; `None` if a bound forbids it.
    fn switch(&mut self, state: &State, thread: usize) -> Option<Spent> {
        let mut spent = state.spent;
        let bounds = self.machine.bounds;
        if !bounds.counts_views() || spent.active == thread as u8 {
            return Some(spent);
        }
        let before = usize::from(spent.active);
        spent.active = thread as u8;
        if before != usize::from(NOBODY) {
            match self.certifier.certify(&state.locals[before], &state.memory, before) {
                Certified::Yes(switches) => return self.spend(spent, switches, 0),
                _ => self.gave_up = true,
            }
        }
        Some(spent)
    }

    /// What is spent after a step; notes the bound that forbids it.
    fn spend(&self, spent: Spent, views: u16, promises: u16) -> Option<Spent> {
        let spent = self.add(spent, views, promises);
        spent.inspect_err(|by| self.machine.note_cut(*by)).ok()
    }

    /// What is spent after a step, or the bound that forbids it.
    fn add(&self, mut spent: Spent, views: u16, promises: u16) -> Result<Spent, CutBy> {
        let bounds = self.machine.bounds;
        if bounds.counts_views() {
            spent.views += views;
        }
        if bounds.counts_promises() {
            spent.promises += promises;
        }
        let over = |bound: Option<u16>, used: u16| bound.is_some_and(|most| used > most);
        let checks = [
            (CutBy::Views, over(bounds.views, spent.views)),
            (CutBy::Promises, over(bounds.promises, spent.promises)),
            (CutBy::Total, over(bounds.total, spent.views + spent.promises)),
        ];
        match checks.iter().find(|(_, over)| *over) {
            Some((by, _)) => Err(*by),
            None => Ok(spent),
        }
    }

    /// Adds a successor if the thread that moved is consistent there.
    fn push(
        &mut self,
        row: &[u32],
        (spent, mut memory): (Spent, Memory),
        (thread, local): (usize, Local),
        child: Option<Local>,
        out: &mut Successors<Move>,
        act: impl FnOnce() -> Act,
    ) {
        if memory.is_lost(thread as u8) {
            return;
        }
        if !self.machine.joins && matches!(local.status, Status::Ended(_) | Status::Halted) {
            if memory.promises(thread as u8) {
                return;
            }
            memory.threads[thread] = Default::default();
        }
        memory.prune();
        match self.certifier.certify(&local, &memory, thread) {
            Certified::Yes(_) => {}
            Certified::No => return,
            Certified::Limit => {
                self.gave_up = true;
                return;
            }
        }
        let mut next = row.to_vec();
        next[0] = spent.word();
        next[1] = self.machine.memories.number(memory);
        next[2 + thread] = self.machine.locals.number(local);
        if let Some(child) = child
            && let Some(slot) = next[2..].iter().position(|&id| id == ABSENT)
        {
            next[2 + slot] = self.machine.locals.number(child);
        }
        out.push(&next, || Move { thread: thread as u8, act: act() });
    }

    fn step_thread(&mut self, row: &[u32], state: &State, thread: usize, out: &mut Successors<Move>) {
        let local = &state.locals[thread];
        if local.status != Status::Running {
            return;
        }
        let Some(spent) = self.switch(state, thread) else { return };
        let threads = self.machine.threads;
        match threads.steps.next(local) {
            Next::Spawn(function, args) => {
                return self.spawn(row, (state, spent), thread, (function, args), out);
            }
            Next::Join(other) => return self.join(row, (state, spent), thread, other, out),
            _ => {}
        }
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        threads.actions(local, &state.memory, thread, Rule::Run, &mut actions);
        for &action in &actions {
            let (mut local, mut memory) = ((**local).clone(), (*state.memory).clone());
            let alters = threads.apply(&mut local, &mut memory, thread, action, &mut Vec::new());
            let Some(spent) = self.spend(spent, u16::from(alters), 0) else { continue };
            let cell = cell_of(threads, &state.locals[thread]);
            let flipped = || Act::Step(flip(action, cell.map_or(0, |cell| state.memory.cells[cell].len())));
            self.push(row, (spent, memory), (thread, local), None, out, flipped);
        }
        self.actions = actions;
        self.promise(row, state, spent, thread, out);
    }

    fn promise(
        &mut self,
        row: &[u32],
        state: &State,
        spent: Spent,
        thread: usize,
        out: &mut Successors<Move>,
    ) {
        let local = &state.locals[thread];
        let spent = self.add(spent, 0, 1);
        // Where no more promises may be made, it is enough to know once that one could have been.
        if let Err(by) = spent
            && self.machine.was_cut(by)
        {
            return;
        }
        let Some(promises) = candidates(self.machine.threads, local, &state.memory, thread) else {
            self.gave_up = true;
            return;
        };
        for Promise { cell, value, place, view } in promises {
            let mut memory = (*state.memory).clone();
            memory.insert(cell, place, Some(value), view.clone(), Some(thread as u8));
            let spent = match spent {
                Ok(spent) => spent,
                Err(by) => match self.certifier.certify(local, &memory, thread) {
                    Certified::No => continue,
                    _ => return self.machine.note_cut(by),
                },
            };
            let length = state.memory.cells[cell].len();
            let act = || Act::Promise {
                cell,
                value,
                place: flip_place(place, length),
                passes_on: passes_on(&state.memory, thread, cell, &view).map(|index| length - 1 - index),
            };
            self.push(row, (spent, memory), (thread, (**local).clone()), None, out, act);
        }
    }

    fn spawn(
        &mut self,
        row: &[u32],
        (state, spent): (&State, Spent),
        thread: usize,
        (function, args): (u32, Vec<Value>),
        out: &mut Successors<Move>,
    ) {
        let steps = self.machine.threads.steps;
        let (mut local, mut memory) = ((*state.locals[thread]).clone(), (*state.memory).clone());
        let slot = state.locals.len();
        if slot == self.machine.code.max_threads {
            local.status = Status::Failed(FaultKind::TooManyThreads);
            return self.push(row, (spent, memory), (thread, local), None, out, internal);
        }
        let child = steps.start(function, &args, slot, &mut Vec::new());
        memory.start(thread);
        steps.finish(&mut local, Value(slot as u64), false, &mut Vec::new());
        self.push(row, (spent, memory), (thread, local), Some(child), out, internal);
    }

    fn join(
        &mut self,
        row: &[u32],
        (state, spent): (&State, Spent),
        thread: usize,
        other: Value,
        out: &mut Successors<Move>,
    ) {
        let (mut local, mut memory) = ((*state.locals[thread]).clone(), (*state.memory).clone());
        let other = usize::try_from(other.0).unwrap_or(usize::MAX);
        match state.locals.get(other).map(|local| local.status) {
            None => local.status = Status::Failed(FaultKind::BadJoin),
            Some(Status::Ended(result)) => {
                memory.join_thread(thread, other);
                self.machine.threads.steps.finish(
                    &mut local,
                    result.unwrap_or_default(),
                    false,
                    &mut Vec::new(),
                );
            }
            Some(_) => return,
        }
        self.push(row, (spent, memory), (thread, local), None, out, internal);
    }
}

fn internal() -> Act {
    Act::Step(Action::Internal(Value::ZERO))
}

/// The cell that a thread accesses next.
fn cell_of(threads: Threads<'_>, local: &Local) -> Option<usize> {
    match threads.steps.next(local) {
        Next::Load(cell) | Next::Await(cell) | Next::Store(cell, _) | Next::Update(cell) => {
            Some(cell.0 as usize)
        }
        _ => None,
    }
}

/// Counts messages from the other end.
pub fn flip(action: Action, length: usize) -> Action {
    let index = |i: usize| length - 1 - i;
    match action {
        Action::Internal(value) => Action::Internal(value),
        Action::Read { message, spurious } => Action::Read { message: index(message), spurious },
        Action::Write(place) => Action::Write(flip_place(place, length)),
        Action::Update(message, place) => Action::Update(index(message), flip_place(place, length)),
    }
}

/// Counts messages from the other end.
pub fn flip_place(place: Place, length: usize) -> Place {
    match place {
        Place::Gap { after, adjacent } => Place::Gap { after: length - 1 - after, adjacent },
        Place::Fill { after, adjacent } => Place::Fill { after: length - 1 - after, adjacent },
        Place::Split(index) => Place::Split(length - 1 - index),
        Place::Fulfil(index) => Place::Fulfil(length - 1 - index),
    }
}

/// The message whose view a promise passes on, if it publishes more than what the thread has released.
fn passes_on(memory: &Memory, thread: usize, cell: usize, view: &[u16]) -> Option<usize> {
    if memory.published(thread, cell, false, None) == view {
        return None;
    }
    (0..memory.cells[cell].len()).find(|&index| memory.published(thread, cell, false, Some(index)) == view)
}

impl Worker for PromisingWorker<'_, '_> {
    type Label = Move;

    fn initial(&mut self) -> Vec<u32> {
        let machine = self.machine;
        let program = machine.code.program;
        let memory = Memory::new(machine.code.initial_memory(), program.threads.len(), machine.synchronises);
        let spent = Spent { active: NOBODY, promises: 0, views: 0 };
        let mut row = vec![ABSENT; machine.width()];
        row[0] = spent.word();
        row[1] = machine.memories.number(memory);
        for (slot, thread) in program.threads.iter().enumerate() {
            let local = machine.threads.steps.start(thread.function.0, &thread.args, slot, &mut Vec::new());
            row[2 + slot] = machine.locals.number(local);
        }
        row
    }

    fn expand(&mut self, row: &[u32], out: &mut Successors<Move>) -> Kind {
        let state = self.state(row);
        let mut running = false;
        for local in &state.locals {
            match local.status {
                Status::Failed(kind) if kind.is_limit() => return Kind::Limit,
                Status::Failed(_) => return Kind::Bad,
                Status::Cut => {
                    self.machine.note_cut(CutBy::Loop);
                    running = true;
                }
                Status::Ended(_) | Status::Halted => {}
                Status::Running | Status::Stuck | Status::Assumed => running = true,
            }
        }
        if !running {
            let Some(mut values) = self.machine.observe(&state.locals, &state.memory) else {
                return Kind::Final;
            };
            let Property::Final(condition) = &self.machine.code.program.property else { return Kind::Final };
            let bad = !crate::check::allows(condition, &values);
            if self.machine.costs {
                values.extend([state.spent.promises, state.spent.views].map(|spent| Value(spent.into())));
            }
            self.states.insert(values);
            return if bad { Kind::Bad } else { Kind::Final };
        }
        let before = self.certifier.bytes();
        for thread in 0..state.locals.len() {
            self.step_thread(row, &state, thread, out);
        }
        self.machine.caches.fetch_add(self.certifier.bytes() - before, Ordering::Relaxed);
        if std::mem::take(&mut self.gave_up) { Kind::Limit } else { Kind::Ordinary }
    }
}
