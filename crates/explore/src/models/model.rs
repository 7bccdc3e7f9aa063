//! What the explorer needs to know about a memory model.
//!
//! A model has a *commit-before* order (`[AAJL16, sec. 2]`; `docs/EXPLORATION.md`): an event can be added when everything
//! before it has been, and every prefix of a consistent execution that is closed under it is consistent. Per node of
//! the path trie a model keeps static rows, per committed event rows that mention only the event's prefix and hence
//! never change once computed.
//!
//! Soundness depends on: `predecessors` is closed and acyclic in every consistent execution; an event added last with a
//! coherence-maximal choice is consistent; `*_consistent` answers false only if every extension is inconsistent, and
//! true only if the graph is consistent (atomicity of read-modify-writes apart, which the explorer handles).

use crate::models::clause::Clauses;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, Facts, Node, Place, Shift, Trie};
use fencepost_ir::Fence;

/// What is commit-before an event.
#[derive(Clone, Debug, Default)]
pub struct CommitBefore<W: RowWidth> {
    /// All of it.
    pub commit: Row<W>,
    /// What would be so however compare-exchanges had ended that are not commit-before it.
    pub sure: Row<W>,
}

/// A memory model that can be checked event by event.
pub trait MemoryModel<W: RowWidth>: Sized + Clone + Send + Sync {
    /// What is kept per node of the path trie.
    type Static: Clone + Default + Send + Sync;
    /// What is kept per committed event.
    type Rows: Clone + Default + Send + Sync;
    /// Whether `addr`, `data`, `ctrl` matter to it.
    const DEPENDENCIES: bool;
    /// Whether an event may be committed before an earlier event of its thread. An exploration first tries to do without that
    /// (`program_order.rs`).
    const OUT_OF_ORDER: bool;
    /// Whether a read may be committed before the write of its own thread that it reads.
    const READS_UNCOMMITTED: bool;

    /// Whether what an exchange that is compared means for later events, but for what depends on it, is known to `surely_before`.
    const EXCHANGES_IN_ORDER: bool = true;

    /// Whether an event that is not coherence-last adds to the rows of others; see [`MemoryModel::take_place`].
    const ROWS_GROW: bool = false;

    /// Whether it has data races.
    const RACES: bool = false;

    /// The clauses in force.
    fn clauses(&self) -> Clauses;

    /// The model for an exploration that commits events in program order, whatever the model allows.
    fn in_order(self) -> Self {
        self
    }

    /// Whether such fences are events; other fences are facts about a path only.
    fn is_event(&self, fence: Fence) -> bool;

    /// The static rows of a new node.
    fn statics(&self, place: &Place<'_, Self::Static, W>) -> Self::Static;

    /// Whether all that comes before an event by the first static rows comes before one by the second. Asked of two reads of one
    /// cell, the first before the second in program order, where later reads stand in the place of earlier ones.
    fn orders_no_more(_first: &Self::Static, _second: &Self::Static, _shift: &Shift) -> bool {
        true
    }

    /// Reads on a path that are commit-before whatever its thread writes later.
    fn before_later_writes(&self, _facts: &Facts<W>) -> Row<W> {
        Row::EMPTY
    }

    /// Everything commit-before the event, closed; for a read, given what it reads from.
    fn predecessors(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Self::Static, W>,
        source: EventId,
    ) -> Row<W>;

    /// The earlier events that the event must not contradict in coherence.
    fn coherence_before(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Self::Static, W>,
    ) -> Row<W>;

    /// The rows of the event, computed when its `pre` and, for a read, its source are in the graph. They do not depend
    /// on a write's place in coherence. A model may write them where they belong instead; see [`MemoryModel::give_rows`].
    fn rows(
        &self,
        _trie: &Trie<Self, W>,
        _graph: &Graph<Self, W>,
        _node: &Node<Self::Static, W>,
    ) -> Self::Rows {
        Self::Rows::default()
    }

    /// Gives the event its rows.
    #[inline(always)]
    fn give_rows(&self, trie: &Trie<Self, W>, graph: &mut Graph<Self, W>, node: &Node<Self::Static, W>) {
        let rows = self.rows(trie, graph, node);
        *graph.rows_mut(node.event as usize) = rows;
        graph.note_fenced(node.event);
    }

    /// A write got its place in coherence, or a read that is not coherence-last its source, and all is consistent: its rows, and
    /// those of others, become what they are then. [`Graph::take_back`] undoes what is done to others.
    #[inline(always)]
    fn take_place(&self, _trie: &Trie<Self, W>, _graph: &mut Graph<Self, W>, _event: EventId) {}

    /// In debug builds: whether all rows that may change are what they should be.
    fn check_rows(&self, _trie: &Trie<Self, W>, _graph: &Graph<Self, W>) -> bool {
        true
    }

    /// Whether the graph with the read `event`, which does not read the coherence-last write, is consistent.
    fn read_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool;

    /// Whether the graph with the write `event`, which is not coherence-last, is consistent.
    fn write_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool;

    /// Whether the rows give the event a part in the model's global check; while no event has one, the check is empty.
    #[inline(always)]
    fn is_fenced(_rows: &Self::Rows) -> bool {
        false
    }

    /// A data race of a finished execution at one of the cells: two events.
    fn races(
        &self,
        _trie: &Trie<Self, W>,
        _graph: &Graph<Self, W>,
        _cells: &[LocId],
    ) -> Option<(EventId, EventId)> {
        None
    }

    /// What is commit-before an event, where that is not what it needs: events are committed in program order by a model that
    /// does not ask for it.
    #[inline(always)]
    fn in_rows<'g>(&self, _rows: &'g Self::Rows) -> Option<&'g CommitBefore<W>> {
        None
    }

    /// Everything commit-before a committed event, however events are committed.
    #[inline(always)]
    fn commit_before<'g>(&self, graph: &'g Graph<Self, W>, event: usize) -> &'g Row<W> {
        self.in_rows(graph.rows(event)).map_or(graph.pre(event), |before| &before.commit)
    }

    /// What is commit-before a read that is about to be committed, whatever it reads, and whatever other reads would have read.
    fn surely_before_read(
        &self,
        _trie: &Trie<Self, W>,
        _graph: &Graph<Self, W>,
        _node: &Node<Self::Static, W>,
    ) -> Row<W> {
        Row::EMPTY
    }

    /// What is commit-before a committed event whatever reads that are not would have read: where events are committed in program
    /// order.
    #[inline(always)]
    fn surely_before<'g>(&self, graph: &'g Graph<Self, W>, event: usize) -> &'g Row<W> {
        self.in_rows(graph.rows(event)).map_or(graph.pre(event), |before| &before.sure)
    }

    /// Whether an event happens before another, in the sense of the language for models that have races.
    fn strictly_before(&self, graph: &Graph<Self, W>, first: usize, second: usize) -> bool {
        self.commit_before(graph, second).contains(first)
    }

    /// Whether an access is surely over before another event; hardware models take commit-before for it.
    fn happens_before(&self, graph: &Graph<Self, W>, first: usize, second: usize) -> bool {
        self.commit_before(graph, second).contains(first)
    }
}
