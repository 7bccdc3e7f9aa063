//! The symbolic half: each thread of a program unrolled and inlined once into guarded events over symbolic words.
//!
//! [`unroll()`] makes an [`Unrolled`] of an `ir::Program`. It knows nothing of what orders the events of different threads: that
//! is an [`Ordering`](crate::query::Ordering), such as `crate::sc`. What an ordering half has to do:
//!
//! 1. For each [`Event`] of kind [`EventKind::Read`], make its `value` (inputs of the graph) that of the write it reads
//!    from, wherever the event is executed (its `guard` holds) and one of its cells is selected; and make `undefined` true
//!    exactly where it reads a cell without an initial value before any write to it.
//! 2. Respect [`Event::unit`]: events of one unit of a thread (the halves of a read-modify-write, an atomic section) have
//!    nothing of another thread between them, nor have units that are tied ([`Unrolled::ties`]). Units of a thread are numbered
//!    in program order; [`ThreadInstance::spawned`]
//!    and [`EventKind::Join`] order threads among each other.
//! 3. Require all clauses of [`Unrolled::constraints`].
//! 4. Ask for one of [`Unrolled::faults`]; and, if there is none, whether a loop was cut ([`Unrolled::rounds`]) or something
//!    was met that could not be followed ([`FaultKind::Limit`]).
//!
//! What an ordering half may rely on:
//!
//! * Events are numbered thread by thread and in program order: of two executed events of one thread the one with the
//!   smaller number comes first. An event that is not executed may be ordered anyhow.
//! * The selection literals of an access exclude each other. An executed access whose address names no cell is a fault,
//!   and its thread does nothing after it.
//! * A thread ends where an assumption fails, where it would wait for ever, or where a bound cuts it; its later events are
//!   then not executed. No thread has to run to its end: a fault counts wherever the other threads stand.
//! * A thread that ends within an atomic section stops all others ([`Unrolled::sections`]): what comes after it in the order
//!   does not count.
//! * After a failed assertion a thread goes on, but no other thread sees it end. The first fault in the order of execution is
//!   real; later ones need not be.
//! * Memory that only one thread accesses is resolved by substitution and has no events (unless
//!   [`Options::private_memory`] is off); the same for cells that nobody writes.
//!
//! For models with dependencies: each event has its place in the unrolled control flow ([`Event::before`], a DAG with
//! [`Unrolled::merges`] where ways meet), and what its address, its data and its execution depend on ([`Unrolled::deps`],
//! a DAG of reads, unions and choices). A value that was selected by a merge of ways depends on the value that was
//! selected. Fences are events.

mod accesses;
mod deps;
mod execute;
mod flow;
mod instructions;
mod memory;
mod shapes;
mod state;
mod unroll;

use crate::aig::{Graph, Lit, Values};
use crate::finals::Finals;
use crate::limits::Limits;
use crate::query::Goals;
use crate::word::{MOST_VALUES, Word};
use fencepost_diag::Span;
use fencepost_ir::{Ann, Fence, Value, Width};
use std::ops::Range;
use std::rc::Rc;

pub use deps::{Dep, DepId, Depends, Deps};
pub use execute::{MOST_FUTURES, updated_cells};
pub use unroll::unroll;

/// An event, by its place in [`Unrolled::events`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EventId(pub u32);

/// A thread of the unrolled program: one that runs from the start, or one that one unrolled spawn starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct InstanceId(pub u32);

/// A memory cell, by its place in [`Unrolled::cells`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CellId(pub u32);

/// How to unroll.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often a loop goes round whose end depends on data: its body runs at most once more. The same number bounds
    /// recursion.
    pub unroll: u32,
    /// An iteration that wrote nothing and comes back to the state in which it began is the same as none: such a loop waits,
    /// and going round again is not followed. Sound for everything but waiting for ever.
    pub skip_idle: bool,
    /// Memory of one thread is resolved by substitution.
    pub private_memory: bool,
    /// What is substituted is noted all the same ([`Unrolled::silent`]): for those who need every access of a run.
    pub notes_silent: bool,
    /// Lives of objects are flags in memory, which only sequential consistency gives their meaning. Otherwise the ends of
    /// lives are events ([`EventKind::End`]), and nothing is said about what comes after them.
    pub life_flags: bool,
    /// It is a fault to write to a constant object.
    pub keeps_constants: bool,
    /// Loads that take a reservation and stores that use one are followed: the two are the halves of a read-modify-write,
    /// which is not one unit.
    pub reservations: bool,
    /// The rules of C: a mutex knows its owner, and only the owner may unlock it.
    pub c: bool,
    /// Copies of each thread ([`ThreadInstance::copy_of`]), for models in which a thread runs ahead and comes back. A copy ends
    /// where it would start or join threads.
    pub copies: u32,
    /// And one more for each step of the thread, an access or both halves of a read-modify-write.
    pub copies_per_step: bool,
    /// Values that others may come to write, whatever they write in the program: reads may get them, and a thread has a copy for
    /// each way to put them behind the cells that it reads and writes in one step.
    pub foreign: Option<Domain>,
    /// Of the threads that run one function only so many move, those that start first. What goes wrong in such runs goes wrong;
    /// that nothing does says nothing.
    pub alike: Option<u32>,
    /// Most instructions of the unrolled program.
    pub max_steps: u64,
    /// Most threads.
    pub max_threads: u32,
    /// Time and memory.
    pub limits: Limits,
}

/// A few values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Domain {
    values: [u64; MOST_VALUES],
    count: usize,
}

impl Domain {
    /// Of these values; nothing if they are too many.
    pub fn new(values: &[Value]) -> Option<Domain> {
        let mut domain = Domain { values: [0; MOST_VALUES], count: values.len() };
        domain.values.get_mut(..values.len())?.iter_mut().zip(values).for_each(|(to, from)| *to = from.0);
        Some(domain)
    }

    /// The values as a cell of that width holds them, in order.
    pub fn of_width(&self, width: Width) -> Vec<u64> {
        let mut values: Vec<u64> =
            self.values[..self.count].iter().map(|&value| width.zero_extend(Value(value)).0).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            unroll: 8,
            skip_idle: true,
            private_memory: true,
            notes_silent: false,
            life_flags: true,
            keeps_constants: false,
            reservations: false,
            c: false,
            copies: 0,
            copies_per_step: false,
            foreign: None,
            alike: None,
            max_steps: 4_000_000,
            max_threads: 64,
            limits: Limits::default(),
        }
    }
}

/// A place of the unrolled control flow of a thread: what was executed last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Point {
    /// Nothing yet.
    Start,
    /// This event.
    Event(EventId),
    /// One way or another: an index of [`Unrolled::merges`].
    Merge(u32),
}

/// Where ways meet.
#[derive(Clone, PartialEq, Debug)]
pub struct Merge {
    /// The thread.
    pub thread: InstanceId,
    /// The ways and their guards, which exclude each other.
    pub inputs: Vec<(Lit, Point)>,
}

/// What a memory access touches.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The cells that the address may name, each with the condition that it does.
    pub cells: Vec<(CellId, Lit)>,
    /// The width of the access, that of each cell.
    pub width: Width,
    /// Its annotation.
    pub ann: Ann,
    /// Where the literal holds, it is this one: a compare-exchange that fails.
    pub otherwise: Option<(Lit, Ann)>,
    /// What the address depends on.
    pub address: Depends,
}

/// What an event does.
#[derive(Clone, PartialEq, Debug)]
pub enum EventKind {
    /// Reads a cell.
    Read {
        /// Where.
        access: Access,
        /// What it reads, zero-extended; to be defined by the ordering half.
        value: Word,
        /// It reads a cell that has no value yet; to be defined by the ordering half unless constant.
        undefined: Lit,
    },
    /// Writes a cell.
    Write {
        /// Where.
        access: Access,
        /// What it writes, zero-extended.
        value: Word,
        /// What the value depends on.
        data: Depends,
        /// The read half of a read-modify-write: the event before, of the same unit.
        rmw: Option<EventId>,
        /// What such a one makes of what it read, if that is known.
        change: Option<Change>,
    },
    /// A fence.
    Fence(Fence),
    /// Starts a thread.
    Spawn(InstanceId),
    /// Waits for the end of a thread. What follows in the thread is executed only if that thread has ended.
    Join(Vec<(InstanceId, Lit)>),
    /// Ends the lives of objects, indices of [`Unrolled::objects`].
    End(Vec<(u32, Lit)>),
}

/// What a read-modify-write makes of what it read.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// It adds this.
    Adds(Word),
    /// What it read is equal to this wherever it writes.
    Replaces(Word),
}

/// A guarded event of a thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Whose.
    pub thread: InstanceId,
    /// It is executed.
    pub guard: Lit,
    /// What it does.
    pub kind: EventKind,
    /// Its unit: see [the module](self).
    pub unit: u32,
    /// What comes before it in its thread.
    pub before: Point,
    /// What its execution depends on: the branches on the way here.
    pub control: Depends,
    /// Threads that this one has surely joined before.
    pub joined: Vec<InstanceId>,
    /// The function, by number.
    pub function: u32,
    /// The instruction, by its place in the function.
    pub pc: u32,
    /// The calls that led there.
    pub calls: Calls,
    /// Where in the source.
    pub span: Span,
}

/// Call instructions, innermost first, each a function and an instruction of it.
pub type Calls = Rc<[(u32, u32)]>;

/// A step of a thread that a machine notices, for replaying: every access, choice, spawn, join and begin of a section.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// It is done.
    pub guard: Lit,
    /// The function, by number.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// The unit, if it takes part in the order; other steps may be done as soon as it is their turn.
    pub unit: Option<u32>,
    /// How many events the thread had before.
    pub events_before: u32,
    /// The value that it chooses.
    pub choice: Option<Word>,
    /// A weak compare-exchange that fails for no reason.
    pub spurious: Lit,
    /// The thread that it starts.
    pub spawns: Option<InstanceId>,
    /// The threads that it may wait for, each with its condition.
    pub joins: Vec<(InstanceId, Lit)>,
}

/// A thread of the unrolled program.
#[derive(Clone, PartialEq, Debug)]
pub struct ThreadInstance {
    /// What it runs, by number.
    pub function: u32,
    /// It was started.
    pub guard: Lit,
    /// Who started it, and in front of which unit of that thread: all units before it come before this thread.
    pub spawned: Option<(InstanceId, u32)>,
    /// It returned, or ended itself; other threads may be waiting for that.
    pub ended: Lit,
    /// What was executed last, where it ended; nothing if it never ends.
    pub end: Option<Point>,
    /// The thread that this one is a copy of: the same code with the same arguments, whose reads are read anew. It has the same
    /// events in the same order, no faults, and starts no threads. Copies come after all threads.
    pub copy_of: Option<InstanceId>,
    /// Its events.
    pub events: Range<u32>,
    /// How many units it has.
    pub units: u32,
    /// The registers of its outermost function at the end, where it ended.
    pub registers: Vec<Word>,
    /// What it did, for replaying.
    pub steps: Vec<Step>,
}

/// An object of the unrolled program.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectInfo {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: Word,
    /// The declared object, if it is one of the program's own.
    pub declared: Option<u32>,
    /// Who made it, if it was made while the program runs: a thread, and how many objects that one had made before.
    pub made: Option<(u32, u32)>,
    /// Where that was.
    pub born: Option<Born>,
    /// Only its thread can reach it.
    pub private: bool,
    /// It is from the heap.
    pub heap: bool,
    /// It must not be written.
    pub constant: bool,
}

/// Where an object was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Born {
    /// How many events its maker had before.
    pub events_before: u32,
    /// The function and the instruction.
    pub at: (u32, u32),
    /// It is there from the start of its thread.
    pub with_thread: bool,
}

/// A memory cell.
#[derive(Clone, PartialEq, Debug)]
pub struct CellInfo {
    /// Its object, an index of [`Unrolled::objects`].
    pub object: u32,
    /// Its offset in bytes.
    pub offset: u32,
    /// Its width.
    pub width: Width,
    /// Its initial value, zero-extended; none is uninitialised.
    pub initial: Option<Word>,
    /// More than one thread accesses it, and one of them writes: it has events.
    pub shared: bool,
    /// The last value of a cell that is not shared, at the end of the thread that writes it.
    pub last: Option<Word>,
}

/// What is wrong where a fault's guard holds.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum FaultKind {
    Assertion,
    Misuse,
    /// An access of that width to an address that names no cell; the address says what kind of mistake it is.
    BadAccess {
        address: Word,
        width: Width,
    },
    Uninitialised,
    DivisionByZero,
    BadCall,
    AtomicEnd,
    BadJoin,
    /// A write to a constant object.
    Constant,
    UseAfterFree,
    UseAfterScope,
    DoubleFree,
    InvalidFree,
    /// Not a mistake of the program: something that cannot be followed here.
    Limit(&'static str),
}

/// A place where something may go wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Fault {
    /// It does.
    pub guard: Lit,
    /// What.
    pub kind: FaultKind,
    /// Whose mistake.
    pub thread: InstanceId,
    /// How many events the thread had before: the last one of them that was executed is the last before the fault.
    pub events_before: u32,
    /// The first unit of the thread that is certainly after it.
    pub next_unit: u32,
    /// How many steps the thread had before.
    pub steps_before: u32,
    /// What to tell the user.
    pub message: String,
    /// The function, by number.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// The calls that led there.
    pub calls: Calls,
    /// Where in the source.
    pub span: Span,
}

/// An access that has no event.
#[derive(Clone, PartialEq, Debug)]
pub struct Silent {
    /// Whose.
    pub thread: InstanceId,
    /// It is done.
    pub guard: Lit,
    /// The cells that it may touch, with conditions.
    pub cells: Vec<(CellId, Lit)>,
    /// What is read or written.
    pub value: Word,
    /// It writes.
    pub writes: bool,
    /// Its annotation.
    pub ann: Ann,
    /// Where the literal holds, it is this one.
    pub otherwise: Option<(Lit, Ann)>,
    /// How many events the thread had before.
    pub events_before: u32,
    /// How many steps, its own counted.
    pub steps_before: u32,
    /// The function, by number.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// The calls that led there.
    pub calls: Calls,
}

/// An atomic section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// Whose.
    pub thread: InstanceId,
    /// Its unit.
    pub unit: u32,
    /// It was begun.
    pub begun: Lit,
    /// It was ended.
    pub ended: Lit,
}

/// Two units of a thread that are parts of one atomic section, on some ways: nothing of another thread comes between them then.
/// Units between them are of other ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tie {
    /// Whose.
    pub thread: InstanceId,
    /// They are.
    pub when: Lit,
    /// The earlier one.
    pub first: u32,
    /// The later one.
    pub second: u32,
}

/// A program unrolled: see [the module](self).
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// The graph that all literals are of.
    pub graph: Graph,
    /// Threads; the first ones are those of the program.
    pub threads: Vec<ThreadInstance>,
    /// Events, thread by thread, in program order.
    pub events: Vec<Event>,
    /// Memory.
    pub cells: Vec<CellInfo>,
    /// What cells are parts of.
    pub objects: Vec<ObjectInfo>,
    /// Where ways meet.
    pub merges: Vec<Merge>,
    /// What values depend on.
    pub deps: Deps,
    /// Atomic sections.
    pub sections: Vec<Section>,
    /// Units that stay together.
    pub ties: Vec<Tie>,
    /// What may go wrong.
    pub faults: Vec<Fault>,
    /// Accesses without an event, thread by thread and in program order, if they are noted.
    pub silent: Vec<Silent>,
    /// Clauses that hold: ranges of choices, ends of threads.
    pub constraints: Vec<Vec<Lit>>,
    /// `rounds[n]`: a loop goes round for the (n + 1)th time after it was entered, counting only what the bound counts. The
    /// last entry, beyond the bound, is where loops were cut.
    pub rounds: Vec<Vec<Lit>>,
    /// How often the program was unrolled until the widths of its memory cells were known.
    pub passes: u32,
}

impl Unrolled {
    /// Something that a bound of `unroll` or less cuts.
    pub fn cut_at(&mut self, unroll: u32) -> Lit {
        let beyond = self.rounds.get(unroll as usize).cloned().unwrap_or_default();
        self.graph.or_all(&beyond)
    }

    /// What holds of a run within an unroll bound, if the program was unrolled with `whole`.
    pub fn within(&mut self, unroll: u32, whole: u32) -> Vec<Lit> {
        if unroll == whole { Vec::new() } else { vec![!self.cut_at(unroll)] }
    }

    /// All threads that were started come to their ends.
    pub fn all_end(&mut self) -> Lit {
        let threads = self.threads.iter().filter(|thread| thread.copy_of.is_none());
        let ends: Vec<Lit> = threads.map(|t| self.graph.implies(t.guard, t.ended)).collect();
        self.graph.and_all(&ends)
    }

    /// What to ask about, if a fault counts where its guard holds.
    pub fn goals(&mut self, finals: Option<Finals>) -> Goals {
        let guards = |limits: bool| -> Vec<Lit> {
            let faults = self.faults.iter();
            faults.filter(|f| matches!(f.kind, FaultKind::Limit(_)) == limits).map(|f| f.guard).collect()
        };
        let (bad, limit) = (guards(false), guards(true));
        let (bad, limit) = (self.graph.or_all(&bad), self.graph.or_all(&limit));
        let violated = finals.as_ref().map_or(Lit::FALSE, |finals| finals.violated(&mut self.graph));
        Goals { bad: self.graph.or(bad, violated), limit, finals }
    }

    /// What a solution comes to that cannot be followed.
    pub fn met(&self, values: &Values) -> Option<(String, Span)> {
        self.faults.iter().find_map(|fault| match fault.kind {
            FaultKind::Limit(what) if values.of(fault.guard) => Some((what.to_owned(), fault.span)),
            _ => None,
        })
    }
}
