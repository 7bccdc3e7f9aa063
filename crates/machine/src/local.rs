//! The local configuration of a thread: `<globals, loc, stack, critical, buffer>` of `[ABP, 2]`.

use crate::code::CellId;
use crate::config::Model;
use fencepost_answer::FindingKind;
use fencepost_ir::Value;

/// An activation of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The function.
    pub function: u32,
    /// The next instruction; in a caller, the call.
    pub pc: u32,
    /// Its registers; dead ones are zero.
    pub regs: Vec<Value>,
}

/// A place in a store buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Entry {
    /// A store that has not reached memory.
    Store {
        /// Where to.
        cell: CellId,
        /// What.
        value: Value,
        /// Context switches of the thread since; stays 0 unless ages are bounded.
        age: u32,
    },
    /// A store barrier (PSO): what is behind it waits for what is before it.
    Barrier,
}

/// What is the matter with a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It stands before an instruction that others can notice.
    Running,
    /// It will never move again: a loop that does nothing.
    Stuck,
    /// It will never move again: an assumption is false, so that the run does not count.
    Assumed,
    /// It reached the end of a bounded loop.
    Cut,
    /// It returned.
    Ended(Option<Value>),
    /// It ended the process; nobody can join it.
    Halted,
    /// It did something wrong, at its current instruction.
    Failed(FaultKind),
}

/// What a thread did wrong, or what we cannot follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FaultKind {
    /// An assertion failed.
    Assertion,
    /// A library function was used against its rules.
    Misuse,
    /// The address is null.
    NullPointer,
    /// The address is no address.
    BadPointer,
    /// The address is outside of its object.
    OutOfBounds,
    /// There is a cell of another size, or none that begins there.
    MixedSize,
    /// A write to an object that is constant.
    Constant,
    /// The cell has no value yet.
    Uninitialised,
    /// Division by zero.
    DivisionByZero,
    /// A call through something that is no function.
    BadCall,
    /// `atomic_end` outside of an atomic section.
    AtomicEnd,
    /// A join of a thread that does not exist.
    BadJoin,
    /// Threads wait for ever: not the mistake of one thread.
    Deadlock,
    /// A loop that accesses no memory and does not end.
    LocalLoop,
    /// Recursion deeper than `crate::step::MAX_FRAMES`: not a finding, a limit.
    TooDeep,
    /// A computation without accesses that does not end: not a finding, a limit.
    TooLong,
    /// More threads than there is room for: not a finding, a limit.
    TooManyThreads,
    /// A store buffer longer than `crate::step::MAX_BUFFER`: not a finding, a limit.
    BufferTooLong,
    /// Something that the model of the library cannot represent: not a finding, a limit.
    Library,
}

impl FaultKind {
    /// True if the machine gave up; false if the program is wrong.
    pub fn is_limit(self) -> bool {
        self >= FaultKind::TooDeep
    }

    /// The kind of finding that it is; `None` for a limit.
    pub fn finding(self) -> Option<FindingKind> {
        Some(match self {
            FaultKind::Assertion => FindingKind::Assertion,
            FaultKind::Misuse | FaultKind::BadJoin | FaultKind::AtomicEnd => FindingKind::Misuse,
            FaultKind::NullPointer => FindingKind::NullPointer,
            FaultKind::BadPointer => FindingKind::BadPointer,
            FaultKind::OutOfBounds => FindingKind::OutOfBounds,
            FaultKind::MixedSize => FindingKind::MixedSize,
            FaultKind::Constant => FindingKind::Constant,
            FaultKind::Uninitialised => FindingKind::Uninitialised,
            FaultKind::DivisionByZero => FindingKind::DivisionByZero,
            FaultKind::BadCall => FindingKind::BadCall,
            FaultKind::Deadlock => FindingKind::Deadlock,
            FaultKind::LocalLoop => FindingKind::LocalLoop,
            FaultKind::TooDeep
            | FaultKind::TooLong
            | FaultKind::TooManyThreads
            | FaultKind::BufferTooLong
            | FaultKind::Library => return None,
        })
    }

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assertion failed",
            FaultKind::Misuse => "misuse of a library function",
            FaultKind::NullPointer => "access through a null pointer",
            FaultKind::BadPointer => "access through a value that is no pointer",
            FaultKind::OutOfBounds => "access outside the object",
            FaultKind::MixedSize => "accesses of different sizes overlap",
            FaultKind::Constant => "write to a constant object",
            FaultKind::Uninitialised => "read of uninitialised memory",
            FaultKind::DivisionByZero => "division by zero",
            FaultKind::BadCall => "call of something that is no function",
            FaultKind::AtomicEnd => "end of an atomic section that was not begun",
            FaultKind::BadJoin => "join of a thread that does not exist",
            FaultKind::Deadlock => "threads wait for ever",
            FaultKind::LocalLoop => "a loop does not end and accesses no shared memory",
            FaultKind::TooDeep => "recursion without a bound that we could find",
            FaultKind::TooLong => "a computation that does not end",
            FaultKind::TooManyThreads => "more threads than there is room for",
            FaultKind::Library => "something that the model of the library cannot represent",
            FaultKind::BufferTooLong => "a store buffer that grows without a bound that we could find",
        }
    }
}

/// The local configuration of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// The call stack; the outermost frame stays when the thread ends.
    pub frames: Vec<Frame>,
    /// Pending stores, oldest first.
    pub buffer: Vec<Entry>,
    /// Its number, if the program can tell; otherwise 0, so that threads which do the same are the same.
    pub number: u32,
    /// In an atomic section.
    pub critical: bool,
    /// Whether it can move.
    pub status: Status,
}

impl Local {
    /// The innermost activation.
    pub fn top(&self) -> &Frame {
        // A thread has a frame from start to end: `Return` keeps the outermost one.
        self.frames.last().expect("a thread has a frame")
    }

    pub(crate) fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a thread has a frame")
    }

    /// The value that a load of this cell finds in the buffer.
    pub fn forwarded(&self, wanted: CellId) -> Option<Value> {
        self.buffer.iter().rev().find_map(|entry| match entry {
            Entry::Store { cell, value, .. } if *cell == wanted => Some(*value),
            _ => None,
        })
    }

    /// The entries that may go to memory now: the oldest (TSO), or the oldest of each cell before a barrier (PSO).
    pub fn flushable(&self, model: Model) -> Vec<usize> {
        if model != Model::Pso {
            return if self.buffer.is_empty() { Vec::new() } else { vec![0] };
        }
        let mut seen: Vec<CellId> = Vec::new();
        let mut found = Vec::new();
        for (i, entry) in self.buffer.iter().enumerate() {
            match entry {
                Entry::Barrier => break,
                Entry::Store { cell, .. } if seen.contains(cell) => {}
                Entry::Store { cell, .. } => {
                    seen.push(*cell);
                    found.push(i);
                }
            }
        }
        found
    }

    /// Takes an entry out of the buffer; barriers that are then in front have done their work.
    pub fn take_entry(&mut self, index: usize) -> Option<(CellId, Value)> {
        let Entry::Store { cell, value, .. } = *self.buffer.get(index)? else { return None };
        self.buffer.remove(index);
        while self.buffer.first() == Some(&Entry::Barrier) {
            self.buffer.remove(0);
        }
        Some((cell, value))
    }

    /// Appends a store. Under PSO the order of stores to different cells means nothing between two barriers, so they
    /// are kept sorted there: one state instead of many.
    pub fn push_store(&mut self, model: Model, cell: CellId, value: Value) {
        let mut at = self.buffer.len();
        if model == Model::Pso {
            let behind = |entry: &Entry| matches!(entry, Entry::Store { cell: other, .. } if *other > cell);
            while at > 0 && behind(&self.buffer[at - 1]) {
                at -= 1;
            }
        }
        self.buffer.insert(at, Entry::Store { cell, value, age: 0 });
    }

    /// Appends a store barrier, unless it would order nothing.
    pub fn push_barrier(&mut self) {
        if self.buffer.last().is_some_and(|last| *last != Entry::Barrier) {
            self.buffer.push(Entry::Barrier);
        }
    }

    /// How many stores are pending.
    pub fn pending(&self) -> usize {
        self.buffer.iter().filter(|entry| **entry != Entry::Barrier).count()
    }
}
