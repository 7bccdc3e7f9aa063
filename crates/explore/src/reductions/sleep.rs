//! Reads that wait: `await`, `assume`, locks, and loops that go round without having written anything new.
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
//! * A read that went on and is revisited by a write that does not let it go on is taken out, and its thread sleeps too. It
//!   wakes for what comes of that write only ([`Graph::comes_of`]); `docs/EXPLORATION.md` has the argument.
//! * Sleep that is younger than a revisited read is forgotten with all that is younger.
//!
//! At the end, a thread that still sleeps has read the newest value, and waits for ever if the others cannot go on either.
//!
//! A read that is not added cannot race. So the cell must be a global one, which is always initialised and never freed; and in
//! models with races it must be written atomically only, from when there is more than one thread; if an exchange waits, whose
//! write is not added either, read too (`conflicts.rs`). Under every model that holds of accesses in pieces (`pieces.rs`).
//! Otherwise the exploration starts over with caution for that cell: every
//! value is then read, and a write that comes later revisits.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::code::Half;
use crate::threads::interpret::{Next, Snapshot};
use crate::threads::memory::{LocId, Storage};
use crate::threads::path::{EventId, INIT, Kind, NodeId};

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether reads of this node may be put off.
    #[inline(always)]
    pub(crate) fn may_sleep(&self, node: NodeId) -> bool {
        let node = self.trie.node(node);
        if self.is_out_of_order()
            || !self.subject.code.may_wait[node.pc() as usize]
            || node.half == Half::Exclusive
        {
            return false;
        }
        let loc = node.loc();
        self.memory.storage(self.memory.location(loc).0.object) == Some(Storage::Global)
            && self.control.caution.reductions.has(Reduction::Sleep)
            && !self.control.caution.is_cautious(|| self.memory.key(loc))
    }

    /// Whether the thread, which has just read by `event`, cannot go on with what it read: it waits, or is back where it was,
    /// perhaps after it wrote what it had read.
    pub(crate) fn leads_nowhere(&mut self, graph: &mut Graph<M, W>, thread: usize, event: EventId) -> bool {
        let layout = self.subject.layout;
        let snapshot = *graph.frontier(layout, thread);
        if graph.front(thread) != event - layout.base[thread] + 1 {
            return false;
        }
        if is_blocked(snapshot.next) {
            return true;
        }
        let front = graph.front(thread);
        let mut writes = 0;
        while self.writes_for_nothing(graph, thread, event, writes) {
            self.advance_thread(graph, thread);
            writes += 1;
        }
        let next = graph.frontier(layout, thread).next;
        graph.set_front(layout, thread, front);
        is_blocked(next)
    }

    /// Whether a thread that has read by `event`, and tried out some writes since, is about to make one that leads nowhere if
    /// what comes next does: it writes back what it has read, or to an object that nobody has seen. It is tried out then.
    fn writes_for_nothing(
        &self,
        graph: &mut Graph<M, W>,
        thread: usize,
        event: EventId,
        writes: u32,
    ) -> bool {
        let snapshot = *graph.frontier(self.subject.layout, thread);
        if snapshot.next != Next::Event
            || writes == MOST_WRITES
            || self.trie.node(snapshot.node).kind != Kind::Write
        {
            return false;
        }
        let write = event + 1 + writes;
        let back = writes == 0 && self.writes_back(graph, event, &snapshot);
        // Its number is free where events are committed in program order.
        if !back && graph.present().contains(write as usize) {
            return false;
        }
        graph.try_out(write, snapshot.node, snapshot.value);
        back || self.is_unseen_write(graph, write as usize)
    }

    /// Whether the thread is about to write what it has just read, by the same instruction.
    fn writes_back(&self, graph: &Graph<M, W>, event: EventId, snapshot: &Snapshot) -> bool {
        if snapshot.next != Next::Event || snapshot.value != graph.value(event as usize) {
            return false;
        }
        let node = self.trie.node(snapshot.node);
        node.kind == Kind::Write && node.half == Half::Amo && node.partner == event
    }

    /// The newest value does not let the thread go on: the others go first.
    pub(crate) fn sleep(&mut self, graph: &mut Graph<M, W>, thread: usize, loc: LocId) {
        graph.fall_asleep(thread, loc);
        self.left_out = 1;
        self.visit(graph);
        self.left_out = 0;
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

    /// At the end, a thread that still sleeps has read the newest value and waits. If that would let it go on, it does not come
    /// of
    /// the revisit that put the thread to sleep, and the execution is one of another branch.
    pub(crate) fn finish_asleep(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let layout = self.subject.layout;
        let snapshot = *graph.frontier(layout, thread);
        let event = self.event_of(graph, thread);
        let front = graph.front(thread);
        self.read_newest(graph, thread, snapshot);
        let next = *graph.frontier(layout, thread);
        if is_blocked(next.next) {
            self.finish(graph);
        } else if self.leads_nowhere(graph, thread, event) {
            self.finish_writing(graph, thread);
        } else {
            self.collector.stats.blocked += 1;
        }
        graph.set_front(layout, thread, front);
        self.clear_source(graph, event);
        graph.remove_read(event);
    }

    /// The same for a thread that writes before it waits.
    fn finish_writing(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let next = *graph.frontier(self.subject.layout, thread);
        if is_blocked(next.next) {
            return self.finish(graph);
        }
        let (event, loc) = (self.event_of(graph, thread), self.trie.node(next.node).loc());
        self.place_write(graph, event, next);
        let at = graph.push_write(loc, event);
        self.model.take_place(&self.trie, graph, event);
        self.advance_thread(graph, thread);
        self.finish_writing(graph, thread);
        graph.take_write(loc, at);
        graph.remove_write(event);
    }
}

/// Writes that a thread makes between a read that leads nowhere and what shows that, at most.
const MOST_WRITES: u32 = 16;

/// The thread cannot go on from here, whatever the others do.
pub(crate) fn is_blocked(next: Next) -> bool {
    matches!(next, Next::Waiting | Next::Spinning | Next::Retrying | Next::Blocked)
}
