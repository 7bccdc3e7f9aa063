//! The SC axiom of RC11 `[LVKHD17, fig. 3]`.
//!
//! ```text
//! scb = po | (po \ loc);hb;(po \ loc) | hb & loc | co | fr
//! psc_base = ([SC] | [F & SC];hb?); scb; ([SC] | hb?;[F & SC])
//! psc_F = [F & SC];(hb | hb;eco;hb);[F & SC]
//! acyclic psc_base | psc_F
//! ```
//! RA has psc_F only.
//!
//! The graph was acyclic before the event `e` came, and the only edges that lead out of `e` go to the writes that are
//! coherence-later (`fr` or `co`), from there on by `rf` to their reads. So there is a cycle iff one of these is among what
//! comes before `e`, which is searched backwards. What is before an SC fence is closed under hb, so it is a row:
//! `below`, everything that happens before some SC fence that happens before an event, is part of the model's rows.
//! Every SC access that happens before an SC fence is also psc-before it: its hb begins with po, or it is a release that
//! is read directly, and then the read is at the same location.

use super::clause::Clause;
use super::joined;
use super::rc11::{Rc11, Rc11Static, Variant};
use crate::graph::Graph;
use crate::memory::LocId;
use crate::path::{EventId, INIT, Kind, Node, Trie};
use crate::row::{Row, RowWidth};
use fencepost_ir::Order;

/// Whether the SC axiom still holds after `event`, an access with coherence-later writes, was added.
pub fn stays_acyclic<W: RowWidth>(
    trie: &Trie<Rc11, W>,
    graph: &Graph<Rc11, W>,
    model: Rc11,
    event: EventId,
) -> bool {
    let e = event as usize;
    let psc = Psc { trie, graph, model };
    let with_base = model.variant != Variant::Ra && model.clauses.has(Clause::PscBase);
    let is_sc = with_base && graph.order(e) == Order::SeqCst;
    let below = graph.rows(e).below.row();
    if below.is_empty() && !is_sc {
        return true;
    }
    let (later, read_later) = psc.communicated_to(event);
    let clause = if psc.node(e).kind == Kind::Read { Clause::ScbFr } else { Clause::ScbCo };
    let by_scb = if with_base { model.clauses.row(clause, &later) } else { Row::EMPTY };
    let by_eco = model.clauses.row(Clause::PscFenceEco, later | read_later);
    let accesses = if with_base { psc.sc_accesses() } else { Row::EMPTY };
    // From the fences before `e`, and from `e` itself; only the former have eco in psc.
    let from_fences = Before { below: below.clone(), accesses: Row::EMPTY };
    if !below.is_empty() && psc.reaches(from_fences, &accesses, &by_scb, &by_eco) {
        return false;
    }
    let itself = Before { below: Row::EMPTY, accesses: Row::single(e) };
    !is_sc || !psc.reaches(itself, &accesses, &by_scb, &Row::EMPTY)
}

/// What was found to be psc-before the event.
#[derive(Clone, PartialEq)]
struct Before<W: RowWidth> {
    /// What happens before a fence that was found, and the fence.
    below: Row<W>,
    /// SC accesses that were found, apart from those.
    accesses: Row<W>,
}

struct Psc<'a, W: RowWidth> {
    trie: &'a Trie<Rc11, W>,
    graph: &'a Graph<Rc11, W>,
    model: Rc11,
}

impl<'a, W: RowWidth> Psc<'a, W> {
    fn node(&self, e: usize) -> &'a Node<Rc11Static, W> {
        self.trie.node(self.graph.node(e))
    }

    fn sc_accesses(&self) -> Row<W> {
        let accesses = self.graph.reads() | self.graph.writes();
        let sc = accesses.iter().filter(|&e| self.graph.order(e) == Order::SeqCst);
        sc.fold(Row::EMPTY, |row, e| row.and(e))
    }

    /// The writes that are coherence-later than an access or its source, and their reads.
    fn communicated_to(&self, event: EventId) -> (Row<W>, Row<W>) {
        let e = event as usize;
        let node = self.node(e);
        let from = if node.kind == Kind::Read { self.graph.rf(e) } else { event };
        let (mut later, mut read_later) = (Row::EMPTY, Row::EMPTY);
        for &w in self.graph.co_after(from, node.loc()) {
            later.insert(w as usize);
            read_later |= self.graph.readers(w as usize);
        }
        (later, read_later)
    }

    /// Goes backwards along psc; true if something was found that the event is psc-before: an edge by scb may end at any of
    /// it, one by eco only below a fence.
    fn reaches(&self, mut found: Before<W>, accesses: &Row<W>, by_scb: &Row<W>, by_eco: &Row<W>) -> bool {
        loop {
            if found.below.meets(by_scb) || found.accesses.meets(by_scb) || found.below.meets(by_eco) {
                return true;
            }
            let next = self.step(&found, accesses);
            if next == found {
                return false;
            }
            found = next;
        }
    }

    fn step(&self, found: &Before<W>, accesses: &Row<W>) -> Before<W> {
        let below = &found.below;
        let mut outside = found.accesses.clone();
        let mut result = below.clone();
        let clauses = self.model.clauses;
        if !below.is_empty() {
            let (scb, eco) = self.communicating_before(below);
            result |= self.below_any(&clauses.row(Clause::PscFenceEco, eco));
            outside |= scb & accesses;
        }
        for b in found.accesses.iter() {
            result |= clauses.row(Clause::HbAfterScFence, self.graph.rows(b).below.row());
            outside |= self.scb_before(b, accesses);
            if self.node(b).kind == Kind::Write {
                let earlier = self.up_to(b as EventId, b);
                outside |= &earlier & accesses;
                result |= clauses.row(Clause::HbAfterScFence, self.below_any(&earlier));
            }
        }
        let accesses = outside.without(&result);
        Before { below: result, accesses }
    }

    /// What happens before a fence that happens before one of the events.
    fn below_any(&self, events: &Row<W>) -> Row<W> {
        (events & self.graph.fenced()).iter().fold(Row::EMPTY, |row, x| row | self.graph.rows(x).below.row())
    }

    /// What co or fr leads from into a set, and what eco leads from into it.
    fn communicating_before(&self, set: &Row<W>) -> (Row<W>, Row<W>) {
        let (mut scb, mut eco) = (Row::EMPTY, Row::EMPTY);
        for x in 0..self.graph.cells() as LocId {
            let writes = self.graph.co(x);
            // The coherence-latest write in the set, and the latest that is in the set or is read there.
            let in_set = writes.iter().rposition(|&w| set.contains(w as usize));
            let seen = writes.iter().rposition(|&w| self.graph.readers(w as usize).meets(set));
            let Some(last) = in_set.max(seen) else { continue };
            let mut row = self.graph.init_readers(x).clone();
            for (i, &w) in writes[..=last].iter().enumerate() {
                if Some(i) == in_set {
                    scb |= &row;
                }
                // The end itself counts if it is read in the set.
                if i < last || seen == Some(last) {
                    row.insert(w as usize);
                }
                if i < last {
                    row |= self.graph.readers(w as usize);
                }
            }
            eco |= row;
        }
        (scb, eco)
    }

    fn po_before(&self, e: usize) -> Row<W> {
        Row::range(e - self.node(e).index as usize, e)
    }

    /// Choices and the ends of lives are events of the exploration, not of the model.
    fn is_event(&self, e: usize) -> bool {
        !matches!(self.node(e).kind, Kind::Choice | Kind::Free)
    }

    fn po_other_location(&self, e: usize) -> Row<W> {
        self.po_before(e).without(&self.trie.po_loc(self.node(e)))
    }

    /// SC accesses before the access `y` by the parts of scb that are within hb.
    fn scb_before(&self, y: usize, accesses: &Row<W>) -> Row<W> {
        let clauses = self.model.clauses;
        let node = self.node(y);
        let po = self.po_before(y);
        let mut before = clauses.row(Clause::ScbPo, po);
        // hb grows along po, so the last one of the others knows most; the start of the thread is one of them.
        let last = self.po_other_location(y).iter().filter(|&v| self.is_event(v)).last();
        let between = match (last, self.graph.origin(node.thread as usize)) {
            (Some(last), _) => self.graph.rows(last).hb.clone(),
            (None, INIT) => Row::EMPTY,
            (None, start) => self.graph.rows(start as usize).hb.and(start as usize),
        };
        let mut through = last.map_or(Row::EMPTY, |last| self.last_of_joined(last));
        for u in between.iter().filter(|&u| self.is_event(u)) {
            through |= self.po_other_location(u) | self.last_of_joined(u);
        }
        before |= clauses.row(Clause::ScbThroughOthers, through);
        for x in (clauses.row(Clause::ScbHbLoc, &self.graph.rows(y).hb) & accesses).iter() {
            if self.node(x).loc() == node.loc() {
                before.insert(x);
            }
        }
        before & accesses
    }

    /// For a join, the last event of the other thread: its end comes after that and happens before the join.
    fn last_of_joined(&self, e: usize) -> Row<W> {
        if self.node(e).kind != Kind::Join {
            return Row::EMPTY;
        }
        match super::last_of(self.trie, self.graph, joined(self.graph, self.node(e))) {
            INIT => Row::EMPTY,
            last => Row::single(last as usize),
        }
    }

    /// Coherence-earlier writes than `write`, and the reads of any of them (initial value included).
    fn up_to(&self, write: EventId, at: usize) -> Row<W> {
        let loc = self.node(at).loc();
        let mut before = self.graph.init_readers(loc).clone();
        for &w in self.graph.co(loc) {
            if w == write {
                break;
            }
            before |= self.graph.readers(w as usize);
            before.insert(w as usize);
        }
        before.remove(at);
        before
    }
}
