//! Whether committing events in program order is enough, under models that do not ask for it.
//!
//! POWER and ARMv8 let a write be read by what comes before it in (po | rf): a load may be done after a later store of its
//! thread. Most programs have no use for that: between their loads and the later stores there are branches, dependencies or
//! fences. An
//! exploration in program order has no choices to make in advance, and its reads can wait (`sleep.rs`). So that is
//! tried first, until some graph has an *early pair*:
//!
//! * a read `r` and a write `z` of one cell, or
//! * a read-modify-write `r` that wrote, and a read `z` of another one, of one cell,
//!
//! `r` before `z` in (po | rf)+ (but not because `z` itself reads from there), and not commit-before it.
//!
//! Then the exploration starts over and commits out of order. `docs/EXPLORATION.md` shows that a program that never has such a
//! pair has
//! no execution with a cycle in po | rf.

use crate::models::model::MemoryModel;
use crate::models::{closed, joined, last_of, previous};
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::code::Half;
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT, Kind, NodeId};

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether events are committed in program order by a model that does not ask for it.
    #[inline(always)]
    pub(crate) fn looks_for_early_pairs(&self) -> bool {
        M::OUT_OF_ORDER && !self.subject.code.out_of_order
    }

    /// Whether a read that is there, and that the new write comes after, might have read it.
    pub(crate) fn could_be_read_early(&self, graph: &Graph<M, W>, write: EventId, loc: LocId) -> bool {
        let e = write as usize;
        let sure = self.model.surely_before(graph, e);
        let early = match self.is_symmetric() {
            true => self.before_in_po_rf(graph, write).without(sure),
            false => graph.pre(e).without(sure),
        };
        early.meets(graph.init_readers(loc))
            || graph.co(loc).iter().any(|&w| early.meets(graph.readers(w as usize)))
    }

    /// Whether the read of a read-modify-write, which is about to be added, might have read what one has taken that it comes
    /// after.
    pub(crate) fn could_take_early(&self, graph: &Graph<M, W>, node: NodeId) -> bool {
        let node = self.trie.node(node);
        if node.half == Half::None || graph.rmw_writes().is_empty() {
            return false;
        }
        let last = previous(graph, node);
        let before = match self.is_symmetric() {
            true if last == INIT => Row::EMPTY,
            true => self.before_in_po_rf(graph, last).and(last as usize),
            false => closed(graph, last),
        };
        let took = |&w: &EventId| self.trie.node(graph.node(w as usize)).partner as usize;
        let writes = graph.co(node.loc()).iter().filter(|&&w| graph.rmw_writes().contains(w as usize));
        let mut taken = writes.map(took).filter(|&read| before.contains(read)).peekable();
        if taken.peek().is_none() {
            return false;
        }
        let sure = self.model.surely_before_read(&self.trie, graph, node);
        taken.any(|read| !sure.contains(read))
    }

    /// What comes before an event in (po | rf)+. What it needs has the events of mates besides.
    fn before_in_po_rf(&self, graph: &Graph<M, W>, event: EventId) -> Row<W> {
        let mut before = Row::EMPTY;
        let mut todo = vec![event];
        while let Some(event) = todo.pop() {
            let node = self.trie.node(graph.node(event as usize));
            let joined = match node.kind {
                Kind::Join => last_of(&self.trie, graph, joined(graph, node)),
                _ => INIT,
            };
            let source = if node.kind == Kind::Read { graph.rf(event as usize) } else { INIT };
            for e in [previous(graph, node), source, joined] {
                if e != INIT && !before.contains(e as usize) {
                    before.insert(e as usize);
                    todo.push(e);
                }
            }
        }
        before
    }
}
