//! Flat threads: every call inlined, every loop unrolled, every jump forward. Bounded engines start from here.
//!
//! Each thread, spawned ones included, is one list of [`Step`]s. A step goes on to a later step only, so one pass over
//! the list meets every step after all steps that lead to it; values that arrive over several edges are merged there.
//!
//! * `loops` finds the loops of a function, `unroll` walks the control-flow graph and lays the steps out, `lower` makes
//!   small operations of instructions, `objects` knows memory that only one thread can reach,
//!   `heap` finds the cells of memory that is allocated, `phases` tells what `main` does alone, and `handshakes` is for threads
//!   that are started and joined in other ways.
//!
//! What is known while the steps are laid out is used: a branch on a known value is no branch, and a loop that is left in one
//! round only,
//! because known values decide, runs as often as it runs. Any other loop goes back at most [`Options::unroll`] times and
//! then ends in [`Op::Cut`], except that nothing goes back after a round that did nothing.
//!
//! Read-modify-writes are a load that takes a reservation and a store that needs it ([`Op::Store`] with `paired`); a
//! store-exclusive
//! that fails is no store at all. Waiting instructions are loads and assumptions. Local objects that nobody else can reach
//! are registers; other local objects become global ones, which is the same because each step exists once.

mod handshakes;
mod heap;
mod loops;
mod lower;
mod objects;
mod phases;
mod unroll;

pub use handshakes::with_handshakes;
pub use phases::{Phase, phases};

use crate::fence::Fence;
use crate::program::{Extend, FailKind, Object, Operand, Program, Reg, Rvalue, Width};
use fencepost_diag::Span;

/// How far to unroll.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often a loop may go back to its head.
    pub unroll: u32,
    /// Most steps of one thread.
    pub max_steps: usize,
    /// A mutex knows its owner, and only the owner may unlock it, as in C.
    pub owners: bool,
    /// A loop does not go back after a round that did nothing: that would be the same run with more waiting.
    pub skip_idle: bool,
}

impl Options {
    /// With this many jumps back.
    pub fn new(unroll: u32) -> Options {
        Options { unroll, max_steps: 200_000, owners: false, skip_idle: true }
    }
}

/// What cannot be flattened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// A flat program.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The threads: those of the program first, then spawned ones.
    pub threads: Vec<FlatThread>,
    /// Global objects of the program, then local ones that are shared.
    pub objects: Vec<Object>,
    /// Some step is [`Op::Cut`].
    pub cuts: bool,
}

/// A flat thread. Registers `0..` are those of its outermost function.
#[derive(Clone, Debug)]
pub struct FlatThread {
    /// For reports.
    pub name: String,
    /// The steps.
    pub code: Vec<Step>,
    /// How many registers there are; each starts as zero.
    pub regs: u32,
    /// Thread and step that start it; `None` runs from the start.
    pub parent: Option<(usize, usize)>,
    /// Holds what the outermost function returned.
    pub result: Reg,
    /// How many registers the outermost function has.
    pub outer: u32,
}

/// A step: an operation, and the next step. `next == code.len()` is the end of the thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to do.
    pub op: Op,
    /// Where to go on; for a branch, where to go on if the condition is not zero.
    pub next: u32,
    /// In the source.
    pub span: Span,
}

/// Operations of flat threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Nothing.
    Skip,
    /// `dst = value`.
    Assign {
        /// Destination.
        dst: Reg,
        /// Value.
        value: Rvalue,
    },
    /// `dst` becomes any value of `first..=last` (signed).
    Nondet {
        /// Destination.
        dst: Reg,
        /// Smallest value.
        first: i64,
        /// Largest value.
        last: i64,
    },
    /// `dst = [addr]`.
    Load {
        /// Destination.
        dst: Reg,
        /// Address.
        addr: Operand,
        /// Width of the access.
        width: Width,
        /// How the value fills the register.
        extend: Extend,
        /// Takes a reservation.
        reserve: bool,
    },
    /// `[addr] = value`.
    Store {
        /// Address.
        addr: Operand,
        /// Value to store.
        value: Operand,
        /// Width of the access.
        width: Width,
        /// Needs the reservation of the last load that took one: same address, and no other thread's store between.
        paired: bool,
    },
    /// A fence.
    Fence(Fence),
    /// Goes to `next` if the condition is not zero, else to `other`.
    Branch {
        /// Condition.
        condition: Operand,
        /// Where to go if it is zero.
        other: u32,
    },
    /// Runs in which the condition is zero end here, and do not count.
    Assume(Operand),
    /// A run in which the condition is zero is a finding.
    Assert {
        /// Condition.
        condition: Operand,
        /// Of which kind.
        kind: FailKind,
        /// What to tell the user.
        message: String,
    },
    /// Starts a thread.
    Spawn(usize),
    /// Waits for a thread to end.
    Join {
        /// Its number.
        thread: Operand,
        /// Receives its result.
        dst: Option<Reg>,
    },
    /// The unroll bound was reached.
    Cut,
    /// Begin a section that runs without interference.
    AtomicBegin,
    /// End it.
    AtomicEnd,
}

impl Op {
    /// It is an event of a machine that fetches steps; assignments are none.
    pub fn is_fetched(&self) -> bool {
        matches!(
            self,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::Fence(_)
                | Op::Branch { .. }
                | Op::Nondet { .. }
                | Op::Assume(_)
                | Op::Assert { .. }
        )
    }
}

/// Flattens a program for a machine with contexts: threads that `main` does not start at once wait for their starts.
pub fn prepare(program: &Program, options: Options) -> Result<Flat, Unsupported> {
    with_handshakes(flatten(program, options)?)
}

/// Flattens a program.
pub fn flatten(program: &Program, options: Options) -> Result<Flat, Unsupported> {
    unroll::flatten(program, options)
}
