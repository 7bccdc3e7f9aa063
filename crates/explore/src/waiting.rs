//! Reads that wait: `await`, `assume`, and loops that go round without having written anything.
//!
//! A thread that reads a value that will not do is back where it was. Such a read is not added to the graph; its thread
//! *sleeps*, and is looked at again when there is a new write to the cell. This is the in-place revisit of blocked
//! reads `[KMV24]`: as nothing depends on a blocked read, a write that comes later need not delete anything to be read by
//! it. An execution in which the thread first read other values is the same without those reads, as far as anybody else
//! can tell.
//!
//! * Where the newest value does not let a thread go on, sleeping is its canonical choice, and reading an older value that
//!   lets it go on is one of the others.
//! * A sleeping thread has considered the writes that were there. Of later ones it reads those that let it go on.
//! * A read that went on and is revisited by a write that does not let it go on stays in the graph, blocked, like any
//!   other read: later writes may revisit it again.
//! * Sleep that is younger than a revisited read is forgotten with all that is younger.
//!
//! At the end, a thread that still sleeps has read the newest value, and waits for ever if the others cannot go on either.
//!
//! A read that is not added cannot race. So in models with races the cell must be accessed atomically only; and it must be
//! a global one, which is always initialised and never freed. Otherwise the exploration starts over with caution: every
//! value is then read, and a write that comes later revisits.

use crate::code::Half;
use crate::control::Need;
use crate::graph::Graph;
use crate::interpret::{Next, Snapshot};
use crate::memory::{LocId, Storage};
use crate::model::MemoryModel;
use crate::path::{INIT, NodeId};
use crate::row::RowWidth;
use crate::visit::Explorer;
use fencepost_ir::Order;

/// Cells that somebody waits for, and cells that somebody writes without atomicity.
#[derive(Default)]
pub struct Watch {
    waited: Vec<bool>,
    plain: Vec<bool>,
}

fn mark(seen: &mut Vec<bool>, loc: LocId) -> bool {
    let at = loc as usize;
    if seen.len() <= at {
        seen.resize(at + 1, false);
    }
    !std::mem::replace(&mut seen[at], true)
}

impl<M: MemoryModel<W>, W: RowWidth> Explorer<'_, M, W> {
    /// Whether reads of this node may be put off.
    #[inline(always)]
    pub(crate) fn may_sleep(&self, node: NodeId) -> bool {
        let node = self.trie.node(node);
        !M::OUT_OF_ORDER
            && self.subject.code.may_wait[node.pc() as usize]
            && node.half == Half::None
            && !self.control.is_cautious()
    }

    /// Notes that a thread waits for the cell that the node reads; caution is needed if that could hide a finding.
    pub(crate) fn note_waiting(&mut self, node: NodeId) {
        let node = self.trie.node(node);
        let (loc, plain) = (node.loc(), node.ann.order == Order::Plain);
        if !mark(&mut self.watch.waited, loc) {
            return;
        }
        let location = self.memory.location(loc).0;
        let global = self.memory.storage(location.object) == Some(Storage::Global);
        if !global || (M::RACES && (plain || self.control.is_plain_and_waited_for(location, false))) {
            self.control.overflow(Need::Caution);
        }
    }

    /// Notes a write that is not atomic.
    #[inline(always)]
    pub(crate) fn note_plain_write(&mut self, loc: LocId) {
        if M::RACES && mark(&mut self.watch.plain, loc) {
            let location = self.memory.location(loc).0;
            if self.control.is_plain_and_waited_for(location, true) {
                self.control.overflow(Need::Caution);
            }
        }
    }

    /// The newest value does not let the thread go on: the others go first.
    pub(crate) fn sleep(&mut self, graph: &mut Graph<M, W>, thread: usize, loc: LocId) {
        graph.fall_asleep(thread, loc);
        self.visit(graph);
        graph.wake_up(thread);
    }

    fn read_newest(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let event = self.event_of(graph, thread);
        graph.reserve_cells(self.memory.cells());
        let loc = self.trie.node(snapshot.node).loc();
        let newest = graph.co(loc).last().copied().unwrap_or(INIT);
        self.place(graph, event, snapshot);
        self.set_source(graph, event, newest);
        self.advance_thread(graph, thread);
    }

    /// At the end, a thread that still sleeps has read the newest value and waits.
    pub(crate) fn finish_asleep(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let snapshot = *graph.frontier(self.subject.layout, thread);
        let event = self.event_of(graph, thread);
        let front = graph.front(thread);
        self.read_newest(graph, thread, snapshot);
        self.finish(graph);
        graph.set_front(self.subject.layout, thread, front);
        self.clear_source(graph, event);
        graph.remove_read(event);
    }
}

/// The thread cannot go on from here, whatever the others do.
pub(crate) fn is_blocked(next: Next) -> bool {
    matches!(next, Next::Waiting | Next::Spinning | Next::Blocked)
}
