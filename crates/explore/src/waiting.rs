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
//! * A read that went on and is revisited by a write `z` that does not let it go on is taken out, and its thread sleeps too. It
//!   wakes for writes that come after `z` only: the others are read by revisits of the read as it was before.
//! * Sleep that is younger than a revisited read is forgotten with all that is younger.
//!
//! At the end, a thread that still sleeps has read the newest value, and waits for ever if the others cannot go on either.
//!
//! A read that is not added cannot race. So in models with races the cell must be accessed atomically only; and it must be
//! a global one, which is always initialised and never freed. Otherwise the exploration starts over with caution: every
//! value is then read, and a write that comes later revisits.

use crate::code::Half;
use crate::control::Need;
use crate::graph::{Graph, Sleep};
use crate::interpret::{Next, Snapshot};
use crate::memory::{LocId, Storage};
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, NodeId};
use crate::row::Row;
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

impl<M: MemoryModel<W>, const W: usize> Explorer<'_, M, W> {
    /// Whether reads of this node may be put off.
    #[inline(always)]
    pub(crate) fn may_sleep(&self, node: NodeId) -> bool {
        let node = self.trie.node(node);
        // Where a read-modify-write may be committed before its thread's other events, its halves go separate ways.
        (!M::OUT_OF_ORDER || node.half == Half::None)
            && self.subject.code.may_wait[node.pc() as usize]
            && node.half != Half::Exclusive
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
    pub(crate) fn note_plain_write(&mut self, graph: &Graph<M, W>, thread: usize, loc: LocId) {
        // What was written before any other thread was started happens before all that others do.
        let layout = self.subject.layout;
        let is_started = |t: usize| graph.frontier(layout, t).next != Next::NotStarted;
        if M::RACES
            && (0..layout.threads()).any(|t| t != thread && is_started(t))
            && mark(&mut self.watch.plain, loc)
        {
            let location = self.memory.location(loc).0;
            if self.control.is_plain_and_waited_for(location, true) {
                self.control.overflow(Need::Caution);
            }
        }
    }

    /// Whether the thread, which has just read by `event`, cannot go on with what it read: it waits, or is back where it was,
    /// perhaps after it wrote what it had read.
    pub(crate) fn leads_nowhere(&mut self, graph: &mut Graph<M, W>, thread: usize, event: EventId) -> bool {
        let layout = self.subject.layout;
        let snapshot = *graph.frontier(layout, thread);
        if graph.front[thread] != event - layout.base[thread] + 1 {
            return false;
        }
        if is_blocked(snapshot.next) {
            return true;
        }
        if !self.is_silent(graph, event, &snapshot) {
            return false;
        }
        let front = graph.front[thread];
        let half = event as usize + 1;
        (graph.node[half], graph.value[half]) = (snapshot.node, snapshot.value);
        self.advance_thread(graph, thread);
        let next = graph.frontier(layout, thread).next;
        let passed = graph.front[thread] == front + 1;
        graph.set_front(layout, thread, front);
        passed && is_blocked(next)
    }

    /// Whether the thread is about to write what it has just read, by the same instruction, or to pass such a write by.
    fn is_silent(&self, graph: &Graph<M, W>, event: EventId, snapshot: &Snapshot) -> bool {
        if snapshot.next != Next::Event {
            return false;
        }
        let node = self.trie.node(snapshot.node);
        match node.kind {
            Kind::Write => {
                node.half == Half::Amo
                    && node.partner == event
                    && snapshot.value == graph.value[event as usize]
            }
            Kind::Skip => true,
            _ => false,
        }
    }

    /// Adds the second half of a read-modify-write that writes what was read, or nothing.
    fn add_silent(&mut self, graph: &mut Graph<M, W>, event: EventId, snapshot: Snapshot) {
        let node = self.trie.node(snapshot.node);
        if node.kind == Kind::Write {
            let loc = node.loc() as usize;
            self.place_write(graph, event, snapshot);
            graph.co[loc].push(event);
            return;
        }
        self.place(graph, event, snapshot);
        let node = self.trie.node(snapshot.node);
        let e = event as usize;
        graph.order[e] = node.ann.order;
        graph.pre[e] = self.model.predecessors(&self.trie, graph, node, INIT);
        graph.set_rows(e, self.model.rows(&self.trie, graph, node));
    }

    fn remove_silent(&mut self, graph: &mut Graph<M, W>, event: EventId) {
        let node = self.trie.node(graph.node[event as usize]);
        if node.kind == Kind::Write {
            graph.co[node.loc() as usize].pop();
        }
        graph.remove_write(event);
    }

    /// What must be kept for a write to be kept, where it is read by something with `older` before it.
    pub(crate) fn kept_with(&self, graph: &Graph<M, W>, write: EventId, older: &Row<W>) -> Row<W> {
        let mut prefix = graph.pre[write as usize];
        if M::OUT_OF_ORDER {
            self.keep_pairs(graph, &mut prefix, older);
        }
        prefix
    }

    /// Whether a thread that slept so has not considered a write yet, and may read it.
    #[inline(always)]
    pub(crate) fn is_new(&self, graph: &Graph<M, W>, sleep: &Sleep<W>, source: EventId) -> bool {
        source != INIT && !sleep.seen.contains(source as usize) && self.may_wake(graph, sleep, source)
    }

    /// Whether a write comes after the one that put the thread to sleep, and is not to be read by a revisit of the read as it
    /// was before: among what the write needs and what is older than the read, the newest write to the cell is the cause of the
    /// sleep, or comes after it.
    pub(crate) fn may_wake(&self, graph: &Graph<M, W>, sleep: &Sleep<W>, source: EventId) -> bool {
        if sleep.by == INIT {
            return true;
        }
        let by = sleep.by as usize;
        let needed = self.kept_with(graph, source, &sleep.place);
        let among = sleep.place | needed;
        let is_among = |&&w: &&EventId| w != source && among.contains(w as usize);
        let newest = graph.co[sleep.loc as usize].iter().rev().find(is_among);
        needed.contains(by)
            && newest.is_some_and(|&w| w == sleep.by || self.kept_with(graph, w, &sleep.place).contains(by))
    }

    /// The newest value does not let the thread go on: the others go first. `passed`: new writes that would have let it.
    pub(crate) fn sleep(&mut self, graph: &mut Graph<M, W>, thread: usize, loc: LocId, mut passed: Row<W>) {
        let writes = graph.co[loc as usize].len() as u32;
        let (mut by, mut place) = (INIT, Row::EMPTY);
        if let Some(sleep) = graph.considered(thread) {
            (by, place) = (sleep.by, sleep.place);
            passed |= sleep.passed;
        }
        let (at, before, seen, direct) = (graph.front[thread], graph.present, graph.present, false);
        graph.asleep[thread].push(Sleep { at, loc, writes, before, seen, by, place, direct, passed });
        self.visit(graph);
        graph.asleep[thread].pop();
    }

    fn read_newest(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let event = self.event_of(graph, thread);
        graph.reserve_cells(self.memory.cells());
        let loc = self.trie.node(snapshot.node).loc();
        let newest = graph.co[loc as usize].last().copied().unwrap_or(INIT);
        self.place(graph, event, snapshot);
        self.set_source(graph, event, newest);
        self.advance_thread(graph, thread);
    }

    /// At the end, a thread that still sleeps has read the newest value and waits. If that would let it go on, there was a reason
    /// for it not to be read here, and the execution is one of another branch.
    pub(crate) fn finish_asleep(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let layout = self.subject.layout;
        let snapshot = *graph.frontier(layout, thread);
        let event = self.event_of(graph, thread);
        let front = graph.front[thread];
        self.read_newest(graph, thread, snapshot);
        let next = *graph.frontier(layout, thread);
        if is_blocked(next.next) {
            self.finish(graph);
        } else if self.leads_nowhere(graph, thread, event) {
            self.add_silent(graph, event + 1, next);
            self.advance_thread(graph, thread);
            self.finish(graph);
            self.remove_silent(graph, event + 1);
        } else {
            self.collector.stats.blocked += 1;
        }
        graph.set_front(layout, thread, front);
        self.clear_source(graph, event);
        graph.remove_read(event);
    }
}

/// The thread cannot go on from here, whatever the others do.
pub(crate) fn is_blocked(next: Next) -> bool {
    matches!(next, Next::Waiting | Next::Spinning | Next::Retrying | Next::Blocked)
}
