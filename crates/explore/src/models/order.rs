//! SC, TSO and PSO: acyclicity of one global order.
//!
//! ```text
//! SC:   acyclic po | rf | co | fr
//! TSO:  acyclic ppo | rfe | co | fr,  acyclic po-loc | rf | co | fr,  ppo = po \ WxR | (before and after full fences)
//! PSO:  as TSO with ppo = po \ Wx(W|R) | po-loc & WxW | fences
//! ```
//! A read-modify-write by one instruction is a full fence under TSO and PSO. Following `[AMT14, sec. 4]` and `[OSS09]`; PSO with
//! atomic read-modify-writes as in `[AAAJLS15]`.
//!
//! The row of an event has all that comes before it in the order, closed. An event that is added has edges only to
//! coherence-later writes; the next of them leads to the others. So a new cycle exists iff that write is in the event's row,
//! and it is so without the edges that the choice of source or place brings: they come from what the next write comes after,
//! too. Hence which sources and places there are is known before one is chosen ([`MemoryModel::coherence_before`]). If there
//! is a coherence-later write, it and all that comes after it get the event and its row ([`MemoryModel::take_place`]). What a
//! revisit deletes was added coherence-maximally, before what stays, and has no edge into it: rows stay as they are.

use super::clause::{Clause, Clauses};
use super::{from_other_threads, po_rf_prefix};
use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::code::Half;
use crate::threads::path::{EventId, INIT, Kind, Node, Place, Trie};
use fencepost_ir::Fence;

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct GlobalOrder {
    /// Which of the three.
    pub which: Which,
    /// Clauses in force.
    pub clauses: Clauses,
}

/// The last event of a set: the others come before it, and its row has them.
fn last_of<W: RowWidth>(events: &Row<W>) -> Row<W> {
    events.last().map_or(Row::EMPTY, Row::single)
}

impl<W: RowWidth> MemoryModel<W> for GlobalOrder {
    /// Earlier events of the thread that come before the event in the global order; the others come before one of these.
    type Static = Row<W>;
    /// What comes before the event in the global order. Of a write, only when it has its place.
    type Rows = Row<W>;
    const DEPENDENCIES: bool = false;
    const OUT_OF_ORDER: bool = false;
    const READS_UNCOMMITTED: bool = false;
    const ROWS_GROW: bool = true;

    fn clauses(&self) -> Clauses {
        self.clauses
    }

    fn is_event(&self, _fence: Fence) -> bool {
        false
    }

    fn statics(&self, place: &Place<'_, Self::Static, W>) -> Row<W> {
        let facts = place.facts;
        let on = |clause, row: &Row<W>| self.clauses.row(clause, row);
        let amo = matches!(place.half, Half::Amo | Half::Waiting) && self.clauses.has(Clause::BeforeAmo);
        let access = matches!(place.kind, Kind::Read | Kind::Write);
        if self.which == Which::Sc || amo || !access {
            return facts.events.clone();
        }
        let ordered = on(Clause::FullFence, &facts.before_fence(Fence::is_full))
            | on(Clause::FromReads, &last_of(&facts.reads))
            | on(Clause::AfterAmo, &facts.amos)
            | &facts.syncs;
        match (place.kind, self.which) {
            (Kind::Write, Which::Tso) => ordered | on(Clause::WriteWrite, &last_of(&facts.writes)),
            (Kind::Write, _) => {
                // The writes before that one come before it.
                let earlier = match place.last_write {
                    INIT => Row::EMPTY,
                    write => Row::single(write as usize),
                };
                ordered
                    | earlier
                    | on(Clause::StoreFence, &(facts.before_fence(|fence| fence.orders().ww) & &facts.writes))
            }
            _ => ordered,
        }
    }

    fn predecessors(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Row<W>, W>,
        source: EventId,
    ) -> Row<W> {
        po_rf_prefix(trie, graph, node, source)
    }

    /// The earlier events of the thread, whose cell coherence keeps in order, and the newest write to the cell that comes before
    /// the event in the global order. What another thread reads of its buffer is seen before the write is, so reads do not count
    /// there.
    #[inline(always)]
    fn coherence_before(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Row<W>, W>,
    ) -> Row<W> {
        let e = node.event as usize;
        // Whether something at the cell is earlier in the thread is all that is asked.
        let mut before = self.clauses.row(Clause::Coherence, Row::range(e - node.index as usize, e));
        let writes = graph.co(node.loc());
        if self.clauses.has(Clause::Global) && !writes.is_empty() {
            let ordered = thread_before(trie, graph, node);
            if let Some(&newest) = writes.iter().rev().find(|&&write| ordered.contains(write as usize)) {
                before.insert(newest as usize);
            }
        }
        before
    }

    #[inline(always)]
    fn give_rows(&self, trie: &Trie<Self, W>, graph: &mut Graph<Self, W>, node: &Node<Row<W>, W>) {
        if node.kind == Kind::Write {
            return;
        }
        let e = node.event as usize;
        let mut before = thread_before(trie, graph, node);
        if node.kind == Kind::Read && graph.rf(e) != INIT {
            let source = graph.rf(e) as usize;
            let external = trie.node(graph.node(source)).thread != node.thread;
            if (external && self.clauses.has(Clause::Rfe)) || self.which == Which::Sc {
                before |= graph.rows(source);
                before.insert(source);
            }
        }
        *graph.rows_mut(e) = before;
    }

    #[inline(always)]
    fn take_place(&self, trie: &Trie<Self, W>, graph: &mut Graph<Self, W>, event: EventId) {
        let e = event as usize;
        let node = trie.node(graph.node(e));
        let mut last = graph.rf(e);
        if node.kind == Kind::Write {
            *graph.rows_mut(e) = before_write(trie, graph, node);
            last = event;
        }
        if self.clauses.has(Clause::Global)
            && let Some(&next) = graph.co_after(last, node.loc()).first()
        {
            let before = graph.rows(e).and(e);
            graph.put_before(&before, next);
        }
    }

    /// Of the places that [`MemoryModel::coherence_before`] leaves.
    fn read_consistent(&self, _trie: &Trie<Self, W>, _graph: &Graph<Self, W>, _event: EventId) -> bool {
        true
    }

    fn write_consistent(&self, _trie: &Trie<Self, W>, _graph: &Graph<Self, W>, _event: EventId) -> bool {
        true
    }

    fn check_rows(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>) -> bool {
        !self.clauses.has(Clause::Global)
            || graph.present().iter().all(|e| {
                let direct = self.direct_predecessors(trie, graph, e);
                let closed = direct.iter().fold(direct.clone(), |row, d| row | graph.rows(d));
                closed == *graph.rows(e) && !closed.contains(e)
            })
    }
}

/// What comes before an event by its thread, and by starting and joining threads.
#[inline(always)]
fn thread_before<W: RowWidth>(
    trie: &Trie<GlobalOrder, W>,
    graph: &Graph<GlobalOrder, W>,
    node: &Node<Row<W>, W>,
) -> Row<W> {
    let mut before = Row::EMPTY;
    add(graph, &mut before, node.statics.clone());
    if node.kind == Kind::Join {
        add(graph, &mut before, from_other_threads(trie, graph, node));
        return before;
    }
    let origin = graph.origin(node.thread as usize);
    if origin != INIT && !before.contains(origin as usize) {
        before |= graph.rows(origin as usize);
        before.insert(origin as usize);
    }
    before
}

/// What comes before a write that has its place: the write below and what reads that come before it, too.
#[inline(always)]
fn before_write<W: RowWidth>(
    trie: &Trie<GlobalOrder, W>,
    graph: &Graph<GlobalOrder, W>,
    node: &Node<Row<W>, W>,
) -> Row<W> {
    let (event, loc) = (node.event, node.loc());
    let mut before = thread_before(trie, graph, node);
    let below = match graph.position(event, loc) {
        None | Some(0) => INIT,
        Some(at) => graph.co(loc)[at - 1],
    };
    if below != INIT && !before.contains(below as usize) {
        before |= graph.rows(below as usize);
        before.insert(below as usize);
    }
    let readers = graph.readers_of(below, loc).without(&before);
    add(graph, &mut before, readers);
    before
}

/// Adds events and what comes before them. Later ones mostly bring earlier ones.
#[inline(always)]
fn add<W: RowWidth>(graph: &Graph<GlobalOrder, W>, before: &mut Row<W>, mut events: Row<W>) {
    while let Some(e) = events.last() {
        *before |= graph.rows(e);
        before.insert(e);
        events = events.without(before);
    }
}

impl GlobalOrder {
    /// The edges that lead to a committed event, for a check.
    fn direct_predecessors<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        e: usize,
    ) -> Row<W> {
        let node = trie.node(graph.node(e));
        let mut before = &node.statics | from_other_threads(trie, graph, node);
        match node.kind {
            Kind::Read => {
                let source = graph.rf(e);
                if source != INIT {
                    let external = trie.node(graph.node(source as usize)).thread != node.thread;
                    if external && self.clauses.has(Clause::Rfe) || self.which == Which::Sc {
                        before.insert(source as usize);
                    }
                }
            }
            Kind::Write => {
                let at = graph.position(e as EventId, node.loc()).unwrap_or(0);
                let below = if at == 0 { INIT } else { graph.co(node.loc())[at - 1] };
                if below != INIT {
                    before.insert(below as usize);
                }
                before |= graph.readers_of(below, node.loc());
                before.remove(e);
            }
            _ => {}
        }
        before
    }
}
