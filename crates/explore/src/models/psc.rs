//! The SC axiom of RC11 `[LVKHD17, fig. 3]`.
//!
//! ```text
//! scb = po | (po \ loc);hb;(po \ loc) | hb & loc | co | fr
//! psc_base = ([SC] | [F & SC];hb?); scb; ([SC] | hb?;[F & SC])
//! psc_F = [F & SC];(hb | hb;eco;hb);[F & SC]
//! acyclic psc_base | psc_F
//! ```
//! RA has psc_F only. Computed from scratch over the SC events of the graph, and only when there are two of them.

use super::clause::{Clause, Clauses};
use super::rc11::{Rc11, Rc11Static, Variant};
use crate::graph::Graph;
use crate::path::{EventId, INIT, Kind, Node, Trie};
use crate::row::Row;
use fencepost_ir::Order;

/// Whether the SC axiom holds.
pub fn is_acyclic<const W: usize>(trie: &Trie<Rc11, W>, graph: &Graph<Rc11, W>, model: Rc11) -> bool {
    let psc = Psc { trie, graph, clauses: model.clauses };
    let with_base = model.variant == Variant::Rc11 && model.clauses.has(Clause::PscBase);
    let mut fences = Row::EMPTY;
    let mut events = Row::EMPTY;
    for e in graph.present.iter() {
        match psc.node(e).kind {
            Kind::Fence(_) => fences.insert(e),
            Kind::Read | Kind::Write if model.variant == Variant::Rc11 && graph.order[e] == Order::SeqCst => {
            }
            _ => continue,
        }
        events.insert(e);
    }
    if events.iter().nth(1).is_none() {
        return true;
    }
    let mut todo = events;
    let mut before = vec![Row::EMPTY; 64 * W];
    while let Some(b) = todo.pop() {
        before[b] = psc.predecessors(b, events, fences, with_base);
    }
    no_cycle(events, &mut before)
}

/// Removes events without predecessors until none is left, or a cycle remains.
fn no_cycle<const W: usize>(mut events: Row<W>, before: &mut [Row<W>]) -> bool {
    loop {
        let free: Vec<usize> = events.iter().filter(|&e| !before[e].meets(&events)).collect();
        if free.is_empty() {
            return events.is_empty();
        }
        free.into_iter().for_each(|e| events.remove(e));
    }
}

struct Psc<'a, const W: usize> {
    trie: &'a Trie<Rc11, W>,
    graph: &'a Graph<Rc11, W>,
    clauses: Clauses,
}

impl<'a, const W: usize> Psc<'a, W> {
    fn node(&self, e: usize) -> &'a Node<Rc11Static<W>, W> {
        self.trie.node(self.graph.node[e])
    }

    /// psc predecessors of the SC event `b`.
    fn predecessors(&self, b: usize, events: Row<W>, fences: Row<W>, with_base: bool) -> Row<W> {
        let hb = self.graph.rows[b].hb;
        let mut result = Row::EMPTY;
        if with_base {
            let hb_to_fence = if fences.contains(b) { hb } else { Row::EMPTY };
            let ends = Row::single(b) | self.clauses.row(Clause::HbBeforeFence, hb_to_fence);
            let starts = ends.iter().fold(Row::EMPTY, |row, y| row | self.scb_before(y));
            let through = self.fences_before(starts, fences);
            result = (starts & events) | self.clauses.row(Clause::HbAfterScFence, through);
        }
        if fences.contains(b) {
            result |= self.clauses.row(Clause::PscFence, hb & fences);
            let through = hb.iter().fold(Row::EMPTY, |row, y| row | self.eco_before(y));
            result |= self.clauses.row(Clause::PscFenceEco, self.fences_before(through, fences));
        }
        result
    }

    /// The fences that happen before one of the events.
    fn fences_before(&self, events: Row<W>, fences: Row<W>) -> Row<W> {
        events.iter().fold(Row::EMPTY, |row, x| row | self.graph.rows[x].hb) & fences
    }

    fn po_before(&self, e: usize) -> Row<W> {
        Row::range(e - self.node(e).index as usize, e)
    }

    fn po_other_location(&self, e: usize) -> Row<W> {
        self.po_before(e).without(&self.node(e).po_loc)
    }

    fn scb_before(&self, y: usize) -> Row<W> {
        let node = self.node(y);
        let mut before = self.clauses.row(Clause::ScbPo, self.po_before(y));
        let between = self.po_other_location(y).iter().fold(Row::EMPTY, |row, v| row | self.graph.rows[v].hb);
        let through = between.iter().fold(Row::EMPTY, |row, u| row | self.po_other_location(u));
        before |= self.clauses.row(Clause::ScbThroughOthers, through);
        if !matches!(node.kind, Kind::Read | Kind::Write) {
            return before;
        }
        for x in self.clauses.row(Clause::ScbHbLoc, self.graph.rows[y].hb).iter() {
            if self.node(x).loc() == node.loc() && matches!(self.node(x).kind, Kind::Read | Kind::Write) {
                before.insert(x);
            }
        }
        if node.kind == Kind::Write {
            let mut com = self.up_to(y as EventId, y);
            for (clause, kind) in [(Clause::ScbCo, Kind::Write), (Clause::ScbFr, Kind::Read)] {
                if !self.clauses.has(clause) {
                    com = com
                        .iter()
                        .filter(|&x| self.node(x).kind != kind)
                        .fold(Row::EMPTY, |row, x| row | Row::single(x));
                }
            }
            before |= com;
        }
        before
    }

    /// Coherence-earlier writes than `write`, and the reads of any of them (initial value included).
    fn up_to(&self, write: EventId, at: usize) -> Row<W> {
        let loc = self.node(at).loc() as usize;
        let mut before = self.graph.init_readers[loc];
        for &w in &self.graph.co[loc] {
            if w == write {
                break;
            }
            before |= self.graph.readers[w as usize] | Row::single(w as usize);
        }
        before.remove(at);
        before
    }

    /// eco predecessors.
    fn eco_before(&self, y: usize) -> Row<W> {
        match self.node(y).kind {
            Kind::Write => self.up_to(y as EventId, y),
            Kind::Read if self.graph.rf[y] != INIT => {
                let source = self.graph.rf[y];
                self.up_to(source, y) | Row::single(source as usize)
            }
            _ => Row::EMPTY,
        }
    }
}
