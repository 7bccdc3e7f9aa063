//! Who runs native threads, and what is said between that and the explorer.

use fencepost_answer::FindingKind;
use fencepost_ir::{Order, RmwOp, Width};

/// An atomic object, in words that mean the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Whose memory it lies in.
    pub owner: u16,
    /// Where.
    pub place: u32,
    /// How many were there before.
    pub version: u32,
    /// What stands in it at first.
    pub init: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Do {
    Load(Order),
    /// Writes the operand.
    Store(Order),
    /// Combines what is there with the operand.
    Rmw(Order, RmwOp, Width),
    /// Writes the operand if the expected value is there: orders of success and failure, and whether it may fail without a
    /// reason.
    Exchange(Order, Order, bool),
    /// Waits for the expected value.
    Await(Order, Wanted),
    /// The same, and combines in the same step.
    AwaitRmw(Order, Wanted, RmwOp, Width),
    /// A fence that the model makes an event of: all do under models with races, no other than SeqCst ones do under TSO, none
    /// under SC.
    Fence(Order),
    /// One of two, whichever.
    Choose,
    /// Starts a thread.
    Spawn,
    /// Waits for the end of the thread with this number.
    Join(usize),
    /// The thread ends.
    End,
    /// Something is wrong; the number says what and where to whoever runs the thread.
    Fail(FindingKind, u32),
    /// The thread is not followed any further; a number as before.
    Cut(u32),
    /// Something was found out that should have been known before the exploration began.
    StartOver,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The bits that are looked at.
    pub mask: u64,
    /// Whether they are to differ from the expected value.
    pub other: bool,
    /// Whether a value will do that is larger than the expected one.
    pub larger: bool,
}

/// The next step of a thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// Whether the thread has said since its last step that it waits for others.
    pub yields: bool,
    /// Whether it has written plain memory since then.
    pub wrote: bool,
    /// What it does.
    pub what: Do,
    /// To which cell.
    pub cell: Cell,
    /// What is written, or combined with what is there.
    pub operand: u64,
    /// What is expected to be there.
    pub expected: u64,
}

impl Step {
    /// A step that accesses nothing.
    pub fn new(what: Do) -> Step {
        Step { yields: false, wrote: false, what, cell: Cell::default(), operand: 0, expected: 0 }
    }
}

/// A thread between two of its events: that of the index comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// Whose.
    pub thread: u16,
    /// How many events it has made.
    pub index: u32,
}

/// What a step gave its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The value read, or the number of the thread that was started.
    pub value: u64,
    /// Whether a compare-exchange failed without a reason, or the second of two was chosen.
    pub chosen: bool,
}

/// The graph as a source sees it.
pub trait Past {
    /// Whether all that a thread did up to its event there happens before what another one does after its event there.
    fn is_ordered(&self, earlier: At, later: At) -> bool;

    /// Whether an atomic access, by its event, is over when a thread comes to what it does there: somebody has seen it, whatever
    /// its order.
    fn is_over(&self, access: At, later: At) -> bool;
}

/// Who runs native threads.
///
/// *Call order*: `restart`; then `start` for thread 0, and for a thread when it is started; and `step` for one that stands before
/// a step
/// whose outcome is known. *Determinism*: a thread comes to the same step whenever what came before it in (po | rf)+ is the same.
pub trait Source: Send {
    /// All threads are as they were before the program began.
    fn restart(&mut self);

    /// Takes a thread to its first step. `parent`: who has started it, and how many others before.
    fn start(&mut self, past: &dyn Past, thread: usize, parent: Option<(usize, u32)>) -> Step;

    /// Takes a thread over a step to the next one.
    fn step(&mut self, past: &dyn Past, at: At, given: Given) -> Step;

    /// The thread has asked for something else than when it was there before: a number that says so.
    fn departed(&mut self, thread: usize) -> u32;

    /// Whether its threads must be run again before they go on: never, but in tests that compare.
    fn is_spent(&self) -> bool {
        false
    }
}

/// Makes sources, one for each worker.
pub type Maker<'a> = &'a (dyn Fn() -> Box<dyn Source> + Sync);
