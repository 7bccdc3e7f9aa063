//! The machines with store buffers, SC, TSO and PSO, over rows of interned parts.
//!
//! A row is `[scheduler] pages... threads...`: memory cut into pages of a few cells, the local configuration of each
//! thread ([`ABSENT`] for one that was not started), and, if rounds are counted, what the scheduler did so far. What a
//! local configuration does next is worked out once and kept in its `Node`; most successors are then table look-ups.
//!
//! Deviations from `[ABP, 2]`: while a thread is in an atomic section, the buffers of the others do not reach memory
//! either, for else the section would not be atomic; local steps are not steps of their own (`crate::step`); and an
//! atomic section is one step (`buffers/section.rs`), since nobody else can move.

mod confirm;
mod section;

pub use confirm::confirm_moves;

use crate::code::{CellId, Code};
use crate::config::Config;
use crate::intern::Interner;
use crate::local::{Entry, FaultKind, Local, Status};
use crate::machine::{Kind, Machine, Successors, Worker};
use crate::step::{Next, Steps, Update};
use crate::symmetry::Symmetry;
use fencepost_ir::{Observable, Program, Property, Value};
use rustc_hash::FxHashMap;
use section::{Sections, Touched};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// A thread that was not started.
pub const ABSENT: u32 = u32::MAX;
/// Cells per page.
const PAGE: usize = 16;

/// One step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Whose.
    pub thread: u8,
    /// What.
    pub action: Action,
}

/// What a [`Move`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The thread's next instruction, with the value that it chose and whether it failed for no reason.
    Step {
        /// The value of a nondeterministic choice; zero otherwise.
        choice: Value,
        /// A weak compare-exchange that failed although it could have succeeded.
        spurious: bool,
    },
    /// An entry of the thread's buffer reaches memory.
    Flush(usize),
}

/// A step of the search: moves, and where the threads stand afterwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// What happened, in the slots of the row before.
    pub moves: Vec<Move>,
    /// Which slot of the row before stands in each slot now; `None` if nothing was exchanged.
    pub order: Option<Vec<u8>>,
}

/// A bound that can keep a machine from going on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutBy {
    /// A store found its buffer full.
    Buffer = 1,
    /// A thread had no round left.
    Rounds = 2,
    /// A store was too old for its thread to be switched out.
    Age = 4,
    /// A loop that was unrolled before had no iteration left.
    Loop = 8,
}

type Page = Vec<Option<Value>>;

/// Who moved last, and how many rounds each thread has begun.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Scheduler {
    active: Option<u8>,
    rounds: Vec<u32>,
}

/// A machine with store buffers for one program.
pub struct BufferMachine<'p> {
    /// The program as it was given; `code` may have equal functions merged.
    source: &'p Program,
    code: &'p Code<'p>,
    config: Config,
    places: Vec<(u32, u32)>,
    pages: usize,
    page_parts: Interner<Page>,
    locals: Interner<Local>,
    schedulers: Interner<Scheduler>,
    symmetry: Option<Symmetry>,
    cut: AtomicU8,
    /// Bytes of the workers' caches.
    caches: AtomicUsize,
}

impl<'p> BufferMachine<'p> {
    /// The machine of a program, which may have been merged to make its code.
    pub fn new(source: &'p Program, code: &'p Code<'p>, config: Config) -> BufferMachine<'p> {
        let (places, pages) = place_cells(code);
        BufferMachine {
            source,
            code,
            config,
            places,
            pages,
            page_parts: Interner::new(|page: &Page| 24 + 16 * page.len()),
            locals: Interner::new(|local: &Local| {
                let frames: usize = local.frames.iter().map(|frame| 40 + 8 * frame.regs.len()).sum();
                96 + frames + 24 * local.buffer.len()
            }),
            schedulers: Interner::new(|scheduler: &Scheduler| 32 + 4 * scheduler.rounds.len()),
            symmetry: config.symmetry.then(|| Symmetry::of(code.program, code.max_threads)).flatten(),
            cut: AtomicU8::new(0),
            caches: AtomicUsize::new(0),
        }
    }

    /// True if this bound kept the machine from going on somewhere.
    pub fn was_cut(&self, by: CutBy) -> bool {
        self.cut.load(Ordering::Relaxed) & by as u8 != 0
    }

    fn note_cut(&self, by: CutBy) {
        self.cut.fetch_or(by as u8, Ordering::Relaxed);
    }

    /// Room for threads in a row.
    pub fn slots(&self) -> usize {
        self.code.max_threads
    }

    fn note_cache(&self, bytes: usize) {
        self.caches.fetch_add(bytes, Ordering::Relaxed);
    }

    fn first_page(&self) -> usize {
        usize::from(self.config.counts_rounds())
    }

    fn first_thread(&self) -> usize {
        self.first_page() + self.pages
    }
}

/// Which page and slot each cell is in, and the number of pages. A larger object starts a page of its own, so that
/// what different threads change is in different pages.
fn place_cells(code: &Code<'_>) -> (Vec<(u32, u32)>, usize) {
    let mut places: Vec<(u32, u32)> = Vec::new();
    let (mut page, mut slot) = (0u32, 0usize);
    for &(object, index, _) in &code.cells {
        let large = code.program.objects[object as usize].cells.len() > 4;
        if slot == PAGE || slot > 0 && large && index == 0 {
            page += 1;
            slot = 0;
        }
        places.push((page, slot as u32));
        slot += 1;
    }
    (places, if slot == 0 { page as usize } else { page as usize + 1 })
}

impl<'p> Machine for BufferMachine<'p> {
    type Label = Label;
    type Worker<'m>
        = BufferWorker<'m>
    where
        Self: 'm;

    fn width(&self) -> usize {
        self.first_thread() + self.code.max_threads
    }

    fn worker(&self) -> BufferWorker<'_> {
        BufferWorker {
            machine: self,
            steps: Steps { code: self.code, config: &self.config },
            nodes: Vec::new(),
            pages: Vec::new(),
            writes: FxHashMap::default(),
            states: BTreeSet::new(),
            scratch: Vec::new(),
            sorted: Vec::new(),
            key: Vec::new(),
            exit: Vec::new(),
            touched: Touched::default(),
            sections: Sections::default(),
            flushed: Vec::new(),
            reached: Reached::default(),
        }
    }

    fn bytes(&self) -> usize {
        let parts = self.page_parts.bytes() + self.locals.bytes() + self.schedulers.bytes();
        parts + self.caches.load(Ordering::Relaxed)
    }
}

/// What is known about a local configuration.
struct Node {
    local: Arc<Local>,
    next: Next,
    /// The value that its load finds in its own buffer.
    forwarded: Option<Value>,
    /// Entries that may reach memory: index, cell, value, and the configuration after that.
    flushes: Vec<(usize, CellId, Value, u32)>,
    /// The configuration with all entries one switch older; `None` if one would be too old.
    aged: Option<u32>,
    /// Configurations after the next instruction, by what it read or chose (and failed for no reason).
    after: Vec<(Value, bool, u32)>,
}

/// Rows that one step reaches, in one flat vector, and the moves to them.
#[derive(Default)]
struct Reached {
    rows: Vec<u32>,
    moves: Vec<Move>,
}

impl Reached {
    fn clear(&mut self) {
        self.rows.clear();
        self.moves.clear();
    }

    /// A copy of a row, to be changed in place.
    fn add(&mut self, row: &[u32], step: Move) -> &mut [u32] {
        let at = self.rows.len();
        self.rows.extend_from_slice(row);
        self.moves.push(step);
        &mut self.rows[at..]
    }

    fn iter(&self, width: usize) -> impl Iterator<Item = (&[u32], Move)> {
        self.rows.chunks_exact(width).zip(self.moves.iter().copied())
    }
}

/// A worker of a [`BufferMachine`].
pub struct BufferWorker<'m> {
    machine: &'m BufferMachine<'m>,
    steps: Steps<'m>,
    nodes: Vec<Option<Box<Node>>>,
    pages: Vec<Option<Arc<Page>>>,
    /// (page, slot, value) to the page after the write.
    writes: FxHashMap<(u32, u32, Value), u32>,
    /// Observed parts of the final states that this worker met.
    pub states: BTreeSet<Vec<Value>>,
    scratch: Vec<u32>,
    sorted: Vec<u32>,
    key: Vec<u32>,
    exit: Vec<u32>,
    touched: Touched,
    sections: Sections,
    flushed: Vec<u32>,
    reached: Reached,
}

impl Worker for BufferWorker<'_> {
    type Label = Label;

    fn initial(&mut self) -> Vec<u32> {
        self.start().0
    }

    fn expand(&mut self, row: &[u32], out: &mut Successors<Label>) -> Kind {
        let first = self.machine.first_thread();
        let mut critical = None;
        let (mut ended, mut kind) = (true, Kind::Ordinary);
        // Only if somebody really waits: an assumption or a bound that ends a run is no deadlock.
        let mut waits = self.machine.config.c && !self.machine.config.counts_rounds();
        for (t, &number) in row[first..].iter().enumerate() {
            if number == ABSENT {
                continue;
            }
            let local = &self.node(number).local;
            match local.status {
                Status::Failed(fault) if fault.is_limit() => kind = Kind::Limit,
                Status::Failed(_) => return Kind::Bad,
                Status::Ended(_) => ended &= local.buffer.is_empty(),
                Status::Halted => {
                    ended &= local.buffer.is_empty();
                    waits = false;
                }
                Status::Assumed | Status::Cut => {
                    ended = false;
                    waits = false;
                }
                _ => ended = false,
            }
            if local.critical && local.status == Status::Running {
                critical = Some(t);
            }
        }
        if kind == Kind::Limit {
            return kind;
        }
        if ended {
            return if self.observe(row) { Kind::Final } else { Kind::Bad };
        }
        if self.stuck_in_atomic(row) {
            return Kind::Ordinary;
        }
        for t in 0..row.len() - first {
            if row[first + t] != ABSENT && critical.is_none_or(|c| c == t) {
                self.moves(row, t, out);
            }
        }
        if waits && out.rows().all(|next| next == row) {
            return Kind::Bad;
        }
        kind
    }
}

impl BufferWorker<'_> {
    /// The initial state, and which thread stands in each slot if not each in its own.
    pub fn start(&mut self) -> (Vec<u32>, Option<Vec<u8>>) {
        let machine = self.machine;
        let mut row = vec![ABSENT; machine.width()];
        if machine.config.counts_rounds() {
            let rounds = vec![0; machine.code.max_threads];
            row[0] = machine.schedulers.number(Scheduler { active: None, rounds });
        }
        let mut pages: Vec<Page> = vec![Vec::new(); machine.pages];
        for (value, place) in machine.code.initial_memory().into_iter().zip(&machine.places) {
            pages[place.0 as usize].push(value);
        }
        for (i, page) in pages.into_iter().enumerate() {
            row[machine.first_page() + i] = machine.page_parts.number(page);
        }
        for (i, thread) in machine.code.program.threads.iter().enumerate() {
            let local = self.steps.start(thread.function.0, &thread.args, i, &mut Vec::new());
            row[machine.first_thread() + i] = machine.locals.number(local);
        }
        let order = self.sort(&mut row);
        (row, order)
    }

    /// Makes a row the representative of its orbit ([`crate::symmetry`]): which old slot is where now.
    fn sort(&mut self, row: &mut [u32]) -> Option<Vec<u8>> {
        let machine = self.machine;
        let symmetry = machine.symmetry.as_ref()?;
        let first = machine.first_thread();
        let width = row.len() - first;
        if !machine.config.counts_rounds() {
            let order = symmetry.order(width, |slot| row[first + slot])?;
            permute(&mut row[first..], &order);
            return Some(order);
        }
        let scheduler = machine.schedulers.part(row[0]);
        let key =
            |slot: usize| (row[first + slot], scheduler.rounds[slot], scheduler.active == Some(slot as u8));
        let order = symmetry.order(width, key)?;
        permute(&mut row[first..], &order);
        let mut after = Scheduler::clone(&scheduler);
        permute(&mut after.rounds, &order);
        after.active =
            scheduler.active.and_then(|old| order.iter().position(|&from| from == old)).map(|t| t as u8);
        row[0] = machine.schedulers.number(after);
        Some(order)
    }

    /// Gives a successor to the search.
    fn emit(&mut self, row: &[u32], moves: impl FnOnce() -> Vec<Move>, out: &mut Successors<Label>) {
        if self.machine.symmetry.is_none() {
            out.push(row, || Label { moves: moves(), order: None });
            return;
        }
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.clear();
        sorted.extend_from_slice(row);
        let order = self.sort(&mut sorted);
        out.push(&sorted, || Label { moves: moves(), order });
        self.sorted = sorted;
    }

    /// A thread that stands still in an atomic section holds up all others for ever.
    fn stuck_in_atomic(&mut self, row: &[u32]) -> bool {
        let first = self.machine.first_thread();
        row[first..].iter().any(|&number| {
            number != ABSENT && {
                let local = &self.node(number).local;
                local.critical && matches!(local.status, Status::Stuck | Status::Assumed | Status::Cut)
            }
        })
    }

    fn node(&mut self, number: u32) -> &Node {
        let index = number as usize;
        if self.nodes.len() <= index {
            self.nodes.resize_with(index + 1, || None);
        }
        if self.nodes[index].is_none() {
            let node = self.make_node(number);
            self.machine.note_cache(size_of::<Node>() + 48 * node.flushes.len() + 64);
            self.nodes[index] = Some(Box::new(node));
        }
        // Filled in just above.
        self.nodes[index].as_deref().expect("the node was made")
    }

    fn make_node(&self, number: u32) -> Node {
        let machine = self.machine;
        let local = machine.locals.part(number);
        let next = self.steps.next(&local);
        let forwarded = match next {
            Next::Load(cell) | Next::Await(cell) | Next::Release(cell) => local.forwarded(cell),
            _ => None,
        };
        let flushes = local.flushable(machine.config.model).into_iter().filter_map(|index| {
            let mut after = Local::clone(&local);
            let (cell, value) = after.take_entry(index)?;
            self.steps.settle(&mut after, &mut Vec::new());
            Some((index, cell, value, machine.locals.number(after)))
        });
        let flushes = flushes.collect();
        if self.steps.is_full(&local) {
            machine.note_cut(CutBy::Buffer);
        }
        if local.status == Status::Cut {
            machine.note_cut(CutBy::Loop);
        }
        let aged = aged(&local, machine.config.age).map(|older| machine.locals.number(older));
        Node { next, forwarded, flushes, aged, after: Vec::new(), local }
    }

    /// The configuration after its next instruction, which read `input`.
    fn after(&mut self, number: u32, input: Value, spurious: bool) -> u32 {
        let node = self.node(number);
        if let Some(known) = node.after.iter().find(|known| known.0 == input && known.1 == spurious) {
            return known.2;
        }
        let mut local = Local::clone(&node.local);
        self.steps.finish(&mut local, input, spurious, &mut Vec::new());
        self.remember(number, input, spurious, local)
    }

    fn remember(&mut self, number: u32, input: Value, spurious: bool, local: Local) -> u32 {
        let after = self.machine.locals.number(local);
        if let Some(node) = &mut self.nodes[number as usize] {
            node.after.push((input, spurious, after));
            self.machine.note_cache(48);
        }
        after
    }

    fn failed(&mut self, number: u32, kind: FaultKind) -> u32 {
        let mut local = Local::clone(&self.node(number).local);
        local.status = Status::Failed(kind);
        self.machine.locals.number(local)
    }

    fn page(&mut self, number: u32) -> &Page {
        let index = number as usize;
        if self.pages.len() <= index {
            self.pages.resize(index + 1, None);
        }
        let machine = self.machine;
        self.pages[index].get_or_insert_with(|| machine.page_parts.part(number))
    }

    fn read(&mut self, row: &[u32], cell: CellId) -> Option<Value> {
        let (page, slot) = self.machine.places[cell.0 as usize];
        self.touched.page(page);
        self.page(row[self.machine.first_page() + page as usize])[slot as usize]
    }

    fn write(&mut self, row: &mut [u32], cell: CellId, value: Value) {
        let (page, slot) = self.machine.places[cell.0 as usize];
        self.touched.page(page);
        let word = &mut row[self.machine.first_page() + page as usize];
        if let Some(&after) = self.writes.get(&(*word, slot, value)) {
            *word = after;
            return;
        }
        let mut changed = self.page(*word).clone();
        changed[slot as usize] = Some(value);
        let after = self.machine.page_parts.number(changed);
        self.writes.insert((*word, slot, value), after);
        self.machine.note_cache(2 * size_of::<((u32, u32, Value), u32)>() + 32);
        *word = after;
    }

    /// Gives a thread the turn: counts its round and lets the stores of the one before grow older. False if a bound
    /// forbids it.
    fn schedule(&mut self, row: &mut [u32], t: usize) -> bool {
        let machine = self.machine;
        if !machine.config.counts_rounds() {
            return true;
        }
        let scheduler = machine.schedulers.part(row[0]);
        if scheduler.active == Some(t as u8) {
            return true;
        }
        if machine.config.age.is_some()
            && let Some(before) = scheduler.active
        {
            let word = machine.first_thread() + usize::from(before);
            match self.node(row[word]).aged {
                Some(older) => row[word] = older,
                None => {
                    machine.note_cut(CutBy::Age);
                    return false;
                }
            }
        }
        let mut scheduler = Scheduler::clone(&scheduler);
        scheduler.active = Some(t as u8);
        if let Some(most) = machine.config.rounds {
            scheduler.rounds[t] += 1;
            if scheduler.rounds[t] > most {
                machine.note_cut(CutBy::Rounds);
                return false;
            }
        }
        row[0] = machine.schedulers.number(scheduler);
        true
    }

    /// All moves of one thread and of its buffer.
    fn moves(&mut self, row: &[u32], t: usize, out: &mut Successors<Label>) {
        let word = self.machine.first_thread() + t;
        let mut base = std::mem::take(&mut self.scratch);
        base.clear();
        base.extend_from_slice(row);
        if self.schedule(&mut base, t) {
            // An index, because what is reached along the way may make new nodes.
            for i in 0..self.node(base[word]).flushes.len() {
                let (index, cell, value, after) = self.node(base[word]).flushes[i];
                let mut next = std::mem::take(&mut self.flushed);
                next.clear();
                next.extend_from_slice(&base);
                self.write(&mut next, cell, value);
                next[word] = after;
                self.emit(&next, || vec![Move { thread: t as u8, action: Action::Flush(index) }], out);
                self.flushed = next;
            }
            self.program_steps(&base, t, out);
        }
        self.scratch = base;
    }

    /// The steps of the thread's own code: one, and on to the end of an atomic section.
    fn program_steps(&mut self, row: &[u32], t: usize, out: &mut Successors<Label>) {
        let mut reached = std::mem::take(&mut self.reached);
        reached.clear();
        self.one_step(row, t, &mut reached);
        for (row, step) in reached.iter(row.len()) {
            let local = &self.node(row[self.machine.first_thread() + t]).local;
            match (local.critical, local.status) {
                (true, Status::Running) => self.section(row, t, step, out),
                (true, Status::Assumed) => {}
                _ => self.emit(row, || vec![step], out),
            }
        }
        self.reached = reached;
    }

    /// One visible instruction, with everything that it may read or choose.
    fn one_step(&mut self, row: &[u32], t: usize, reached: &mut Reached) {
        let first = self.machine.first_thread();
        let word = first + t;
        let number = row[word];
        let step = |choice, spurious| Move { thread: t as u8, action: Action::Step { choice, spurious } };
        let plain = step(Value::ZERO, false);
        let node = self.node(number);
        match node.next {
            Next::Idle | Next::Wait => {}
            Next::Load(cell) => {
                let value = node.forwarded.or_else(|| self.read(row, cell));
                reached.add(row, plain)[word] = match self.reads(number, value) {
                    Some(value) => self.after(number, value, false),
                    None => self.failed(number, FaultKind::Uninitialised),
                };
            }
            Next::Await(cell) => {
                let value = node.forwarded.or_else(|| self.read(row, cell));
                let local = self.node(number).local.clone();
                match self.steps.reads(&local, value) {
                    Some(value) if self.steps.ends_wait(&local, value) => {
                        reached.add(row, plain)[word] = self.after(number, value, false);
                    }
                    Some(_) => {}
                    None => reached.add(row, plain)[word] = self.failed(number, FaultKind::Uninitialised),
                }
            }
            Next::Release(cell) => {
                let held = node.forwarded.or_else(|| self.read(row, cell));
                let local = self.node(number).local.clone();
                let next = reached.add(row, plain);
                next[word] = match self.steps.reads(&local, held) {
                    None => self.failed(number, FaultKind::Uninitialised),
                    Some(held) if held != self.steps.owner(&local) => self.failed(number, FaultKind::Misuse),
                    Some(_) => {
                        if !self.steps.is_buffering(&local) {
                            self.write(next, cell, Value::ZERO);
                        }
                        self.after(number, Value::ZERO, false)
                    }
                };
            }
            Next::Store(cell, value) => {
                let next = reached.add(row, plain);
                self.write(next, cell, value);
                next[word] = self.after(number, Value::ZERO, false);
            }
            Next::Buffer(..) | Next::Enter => {
                reached.add(row, plain)[word] = self.after(number, Value::ZERO, false);
            }
            Next::Update(cell) => match self.read(row, cell).filter(|old| *old != Value::UNDEFINED) {
                Some(old) => self.updates(row, t, cell, old, reached),
                None => {
                    reached.add(row, plain)[word] = self.failed(number, FaultKind::Uninitialised);
                }
            },
            Next::Choose(first, last) => {
                for choice in (first..=last).map(Value::from_i64) {
                    reached.add(row, step(choice, false))[word] = self.after(number, choice, false);
                }
            }
            Next::Spawn(function, ref args) => {
                let args = args.clone();
                self.touched.more = true;
                let next = reached.add(row, plain);
                next[word] = match row[first..].iter().position(|&other| other == ABSENT) {
                    Some(free) => {
                        let child = self.steps.start(function, &args, free, &mut Vec::new());
                        next[first + free] = self.machine.locals.number(child);
                        self.after(number, Value(free as u64), false)
                    }
                    None => self.failed(number, FaultKind::TooManyThreads),
                };
            }
            Next::Join(thread) => {
                self.touched.more = true;
                if let Some(after) = self.join(row, number, thread) {
                    reached.add(row, plain)[word] = after;
                }
            }
        }
    }

    fn reads(&mut self, number: u32, value: Option<Value>) -> Option<Value> {
        let local = self.node(number).local.clone();
        self.steps.reads(&local, value)
    }

    fn updates(&mut self, row: &[u32], t: usize, cell: CellId, old: Value, reached: &mut Reached) {
        let word = self.machine.first_thread() + t;
        let number = row[word];
        let local = self.node(number).local.clone();
        let choices: &[bool] = if self.steps.may_fail(&local) { &[false, true] } else { &[false] };
        for &spurious in choices {
            let update = self.steps.update(&local, old, spurious);
            if update == Update::Blocked {
                continue;
            }
            let action = Action::Step { choice: Value::ZERO, spurious };
            let next = reached.add(row, Move { thread: t as u8, action });
            if update == Update::Misuse {
                next[word] = self.failed(number, FaultKind::Misuse);
                continue;
            }
            if let Update::Write(value) = update {
                self.write(next, cell, value);
            }
            next[word] = self.after(number, old, spurious);
        }
    }

    /// The joining thread afterwards, if the other has ended and its stores have reached memory.
    fn join(&mut self, row: &[u32], number: u32, thread: Value) -> Option<u32> {
        let first = self.machine.first_thread();
        let other = usize::try_from(thread.0).ok().and_then(|t| row[first..].get(t)).copied();
        let Some(other) = other.filter(|&other| other != ABSENT) else {
            return Some(self.failed(number, FaultKind::BadJoin));
        };
        let local = &self.node(other).local;
        match local.status {
            Status::Ended(result) if local.buffer.is_empty() => {
                Some(self.after(number, result.unwrap_or(Value::ZERO), false))
            }
            _ => None,
        }
    }

    /// Notes what the final condition observes; false if it is violated here.
    fn observe(&mut self, row: &[u32]) -> bool {
        let Property::Final(condition) = &self.machine.code.program.property else { return true };
        let mut state = Vec::with_capacity(condition.observed.len());
        for observable in &condition.observed {
            state.push(match *observable {
                Observable::Register { thread, reg } => {
                    let word = self.machine.first_thread() + thread.0 as usize;
                    self.node(row[word]).local.frames[0].regs[reg.0 as usize]
                }
                Observable::Memory { object, offset, width } => {
                    let cell = self.machine.code.cell(Value::pointer(object, offset), width);
                    let value = cell.and_then(|cell| self.read(row, cell)).unwrap_or(Value::ZERO);
                    width.sign_extend(value)
                }
            });
        }
        let good = crate::check::allows(condition, &state);
        self.states.insert(state);
        good
    }
}

/// Position `i` gets what was at `order[i]`.
fn permute(words: &mut [u32], order: &[u8]) {
    let before = words.to_vec();
    for (word, &from) in words.iter_mut().zip(order) {
        *word = before[usize::from(from)];
    }
}

/// The configuration one context switch later; `None` if a store would be too old.
fn aged(local: &Local, most: Option<u32>) -> Option<Local> {
    let most = most?;
    let mut older = local.clone();
    for entry in &mut older.buffer {
        if let Entry::Store { age, .. } = entry {
            *age += 1;
            if *age > most {
                return None;
            }
        }
    }
    Some(older)
}
