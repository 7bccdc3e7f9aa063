//! SC, TSO and PSO: acyclicity of one global order.
//!
//! ```text
//! SC:   acyclic po | rf | co | fr
//! TSO:  acyclic ppo | rfe | co | fr,  acyclic po-loc | rf | co | fr,  ppo = po \ WxR | (before and after full fences)
//! PSO:  as TSO with ppo = po \ Wx(W|R) | po-loc & WxW | fences
//! ```
//! A read-modify-write by one instruction is a full fence under TSO and PSO. An event that is added last has edges only
//! to coherence-later writes, so a new cycle exists iff the next coherence-later write reaches the event. Following
//! `[AMT14, sec. 4]` and `[OSS09]`; PSO with atomic read-modify-writes as in `[AAAJLS15]`.

use super::clause::{Clause, Clauses};
use super::{from_other_threads, is_full_fence, po_rf_prefix};
use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::code::Half;
use crate::threads::path::{EventId, INIT, Kind, Node, Place, Trie};
use fencepost_ir::{Fence, Order};

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

/// Fences that keep writes in order under PSO.
fn orders_writes(fence: Fence) -> bool {
    is_full_fence(fence)
        || matches!(fence, Fence::Sfence | Fence::Lwsync | Fence::Eieio | Fence::DmbSt | Fence::DsbSt)
        || matches!(fence, Fence::C11(Order::Release | Order::AcqRel))
}

impl<W: RowWidth> MemoryModel<W> for GlobalOrder {
    /// The earlier events of the thread that come before the event in the global order.
    type Static = Row<W>;
    type Rows = ();
    const DEPENDENCIES: bool = false;
    const OUT_OF_ORDER: bool = false;
    const READS_UNCOMMITTED: bool = false;

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
        let ordered = on(Clause::FullFence, &facts.before_fence(is_full_fence))
            | on(Clause::FromReads, &facts.reads)
            | on(Clause::AfterAmo, &facts.amos)
            | &facts.syncs;
        match (place.kind, self.which) {
            (Kind::Write, Which::Tso) => ordered | on(Clause::WriteWrite, &facts.writes),
            (Kind::Write, _) => {
                // The writes before that one come before it.
                let earlier = match place.last_write {
                    INIT => Row::EMPTY,
                    write => Row::single(write as usize),
                };
                ordered
                    | earlier
                    | on(Clause::StoreFence, &(facts.before_fence(orders_writes) & &facts.writes))
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

    #[inline(always)]
    fn coherence_before(
        &self,
        _trie: &Trie<Self, W>,
        _graph: &Graph<Self, W>,
        node: &Node<Row<W>, W>,
    ) -> Row<W> {
        let e = node.event as usize;
        // Whether something at the cell is earlier in the thread is all that is asked.
        self.clauses.row(Clause::Coherence, Row::range(e - node.index as usize, e))
    }

    fn rows(&self, _trie: &Trie<Self, W>, _graph: &Graph<Self, W>, _node: &Node<Row<W>, W>) {}

    fn read_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        let loc = trie.node(graph.node(event as usize)).loc();
        let next = graph.co_after(graph.rf(event as usize), loc).first().copied();
        !self.clauses.has(Clause::Global) || next.is_none_or(|write| !self.reaches(trie, graph, write, event))
    }

    fn write_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        let loc = trie.node(graph.node(event as usize)).loc();
        let next = graph.co_after(event, loc).first().copied();
        !self.clauses.has(Clause::Global) || next.is_none_or(|write| !self.reaches(trie, graph, write, event))
    }
}

impl GlobalOrder {
    /// Whether the global order leads from `from` to `to`: a search backwards.
    fn reaches<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        from: EventId,
        to: EventId,
    ) -> bool {
        let mut seen = Row::single(to as usize);
        let mut todo = seen.clone();
        while let Some(e) = todo.pop() {
            let mut before = self.direct_predecessors(trie, graph, e);
            if before.contains(from as usize) {
                return true;
            }
            before = before.without(&seen);
            seen |= &before;
            todo |= before;
        }
        false
    }

    #[inline(always)]
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
