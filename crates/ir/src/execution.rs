//! Executions: what an axiomatic memory model judges.
//!
//! Events are numbered densely: first the initial writes, then each thread's events in program order, thread by thread.
//! Fences are events; branches are not, their effect is `ctrl`. The two halves of a read-modify-write are two events,
//! paired by `rmw`. `ctrl` goes from a read to everything after the branch in program order, fences included. This is
//! the plain form that the cat interpreter, the naive enumerator and witnesses use; the explorer keeps its own.

use crate::annotation::Ann;
use crate::fence::Fence;
use crate::program::{ObjectId, ThreadId, Width};
use crate::relation::Relation;
use crate::value::Value;
use fencepost_diag::Span;

/// A memory cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// Byte offset in it.
    pub offset: u32,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// A fence.
    Fence(Fence),
}

/// One event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// Whose; `None` for an initial write.
    pub thread: Option<ThreadId>,
    /// What it does.
    pub kind: EventKind,
    /// The cell it accesses; `None` for fences.
    pub location: Option<Location>,
    /// The width of the access; 64 bits for fences.
    pub width: Width,
    /// The value read or written.
    pub value: Value,
    /// Annotation of the access.
    pub ann: Ann,
    /// Made by a read-modify-write or compare-exchange instruction, also by one that exchanged nothing.
    pub amo: bool,
    /// Where it comes from in the source.
    pub span: Span,
}

impl Event {
    /// An initial write.
    pub fn is_init(&self) -> bool {
        self.thread.is_none()
    }
}

/// An execution: events and the relations that an axiomatic model starts from.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution {
    /// All events, see the module documentation for their order.
    pub events: Vec<Event>,
    /// Program order, transitive, within threads (initial writes are not ordered by it).
    pub po: Relation,
    /// Reads-from: write to read.
    pub rf: Relation,
    /// Coherence: total and transitive per location, initial writes first.
    pub co: Relation,
    /// Read half to write half of a successful read-modify-write.
    pub rmw: Relation,
    /// Those pairs of `rmw` that one instruction made (not a load/store-exclusive pair).
    pub amo: Relation,
    /// Address dependencies, read to access.
    pub addr: Relation,
    /// Data dependencies, read to write.
    pub data: Relation,
    /// Control dependencies, read to everything after the branch.
    pub ctrl: Relation,
    /// Dependencies through the condition of a select or of a compare-exchange (AArch64 pick dependencies).
    pub pick: Relation,
    /// Those of them that picked the address of the access.
    pub pick_addr: Relation,
}

impl Execution {
    /// An execution over these events with empty relations.
    pub fn new(events: Vec<Event>) -> Execution {
        let n = events.len();
        let empty = || Relation::new(n);
        Execution {
            events,
            po: empty(),
            rf: empty(),
            co: empty(),
            rmw: empty(),
            amo: empty(),
            addr: empty(),
            data: empty(),
            ctrl: empty(),
            pick: empty(),
            pick_addr: empty(),
        }
    }

    /// From-read: a read to the writes that are coherence-after the one it reads. `fr = (rf^-1 ; co) \ id`.
    pub fn fr(&self) -> Relation {
        self.rf.inverse().compose(&self.co)
    }
}
