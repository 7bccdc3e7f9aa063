//! Read-modify-writes that have come too late: what they read another one has read, and their write fits nowhere.
//!
//! *Claim*: nothing can come of such a read unless its write, which comes next, makes room for itself by a canonical revisit;
//! whether it will can be seen before the read is added.
//!
//! *Conditions*: events are committed in program order, and the other one is *pure* (`docs/EXPLORATION.md`,
//! "Read-modify-writes"). Where sleep that a revisit caused, or symmetry, has a say in what is canonical, less is concluded.
//!
//! *Off*: [`Reduction::Hopeless`]. Then the read and its write are added, and the violation is seen at each place in
//! coherence; the executions are the same. *Test*: `tests/switches.rs`, `tests/naive.rs`.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::code::Half;
use crate::threads::interpret::Next;
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, Kind, Node};

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether nothing can come of the read of a read-modify-write that reads `source`, which `next` follows in coherence, before
    /// it is added: see
    /// [`Explorer::fits_nowhere`]. Whether a compare-exchange writes at all is known only afterwards.
    #[inline(always)]
    pub(crate) fn is_hopeless(
        &self,
        graph: &Graph<M, W>,
        node: &Node<M::Static, W>,
        source: EventId,
        next: Option<EventId>,
    ) -> bool {
        node.half == Half::Amo
            && node.failure.is_none()
            && !graph.rmw_writes().is_empty()
            && self.fits_nowhere(graph, node, source, next, || self.needed(graph, node, source))
    }

    /// The same for a compare-exchange that was added: it matters if it succeeds.
    #[inline(always)]
    pub(crate) fn is_hopeless_exchange(&self, graph: &Graph<M, W>, event: EventId, source: EventId) -> bool {
        let node = self.trie.node(graph.node(event as usize));
        node.half == Half::Amo
            && node.failure.is_some()
            && self.exchange_succeeds(graph, event)
            && self.fits_nowhere(graph, node, source, after(graph, source, node.loc()), || {
                graph.pre(event as usize).clone()
            })
    }

    /// The read of a read-modify-write reads what another one, with read `taken`, has read already. Its write will then
    /// fit nowhere, and only a revisit of `taken` or an older read can make room. Every such revisit deletes what came
    /// after `taken`, so all of that must be canonical; if it is not, nothing can come of this source. What belongs to the
    /// prefix of an older read that was revisited itself may be kept, so nothing is concluded from that at first. The write comes
    /// next, so whether it will revisit such a read can be seen now, unless sleep that a revisit caused, or
    /// symmetry, has a say in that.
    #[inline(never)]
    fn fits_nowhere(
        &self,
        graph: &Graph<M, W>,
        node: &Node<M::Static, W>,
        source: EventId,
        next: Option<EventId>,
        prefix: impl FnOnce() -> Row<W>,
    ) -> bool {
        let may_be = !self.is_out_of_order() && self.control.caution.reductions.has(Reduction::Hopeless);
        let Some(next) = next.filter(|_| may_be) else { return false };
        if !graph.rmw_writes().contains(next as usize) {
            return false;
        }
        let taken = self.trie.node(graph.node(next as usize)).partner as usize;
        if graph.rf(taken) != source {
            return false;
        }
        if self.must_stay(graph, next as usize) {
            return true;
        }
        let revisited = graph.revisited() & graph.before(taken);
        let mut perhaps = revisited.iter().fold(Row::EMPTY, |row, k| row | graph.pre(k));
        for (_, sleep) in graph.caused_sleep().filter(|(_, sleep)| !sleep.before.contains(taken)) {
            perhaps |= graph.pre(sleep.cause as usize).and(sleep.cause as usize);
        }
        let prefix = prefix().and(node.event as usize);
        let gone = graph.present().without(&(graph.before(taken) | &prefix | &perhaps));
        if !self.was_added_maximally(graph, &gone, graph.before(taken), &prefix, &perhaps) {
            return true;
        }
        !self.is_symmetric()
            && graph.caused_sleep().next().is_none()
            && graph.pure().contains(next as usize)
            && self.subject.layout.thread_of[next as usize] != node.thread
            && !self.makes_room(graph, node.loc(), &prefix, next)
    }

    /// Whether no canonical revisit deletes the write: there is a revisited read that needs it and is older. If that stays, it
    /// needs
    /// what goes; if it goes, the write was not there when it was added, and is not kept.
    #[inline(always)]
    fn must_stay(&self, graph: &Graph<M, W>, write: usize) -> bool {
        graph.revisited().iter().any(|k| graph.pre(k).contains(write) && !graph.before(k).contains(write))
    }

    /// Whether a read that waited is about to write where its write fits nowhere.
    #[inline(always)]
    pub(crate) fn has_taken_in_vain(&self, graph: &Graph<M, W>, thread: usize, event: EventId) -> bool {
        let e = event as usize;
        let prefix = || graph.pre(e).clone();
        let node = self.trie.node(graph.node(e));
        self.took(graph, thread, event)
            && self.fits_nowhere(graph, node, graph.rf(e), after(graph, graph.rf(e), node.loc()), prefix)
    }

    /// Whether the thread, which has just read by `event`, is about to write by the same instruction, having waited.
    fn took(&self, graph: &Graph<M, W>, thread: usize, event: EventId) -> bool {
        let snapshot = graph.frontier(self.subject.layout, thread);
        self.trie.node(graph.node(event as usize)).half == Half::Waiting
            && snapshot.next == Next::Event
            && self.trie.node(snapshot.node).kind == Kind::Write
            && self.trie.node(snapshot.node).partner == event
    }

    /// The write of another read-modify-write that has read what this one, which was just added, has read: then there is no place
    /// for this one as long as that one is there.
    pub(crate) fn place_taken_by(&self, graph: &Graph<M, W>, event: EventId, loc: LocId) -> Option<EventId> {
        let may_be = !self.is_out_of_order() && self.control.caution.reductions.has(Reduction::Hopeless);
        if !may_be || !graph.pure().contains(event as usize) {
            return None;
        }
        let source_of =
            |write: EventId| graph.rf(self.trie.node(graph.node(write as usize)).partner as usize);
        let source = source_of(event);
        let next = *graph.co_after(source, loc).first()?;
        let threads = &self.subject.layout.thread_of;
        (graph.pure().contains(next as usize)
            && threads[next as usize] != threads[event as usize]
            && source_of(next) == source)
            .then_some(next)
    }
}

/// The write that follows a source in coherence.
#[inline(always)]
fn after<M: MemoryModel<W>, W: RowWidth>(
    graph: &Graph<M, W>,
    source: EventId,
    loc: LocId,
) -> Option<EventId> {
    graph.co_after(source, loc).first().copied()
}
