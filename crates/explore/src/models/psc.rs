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
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::memory::{LocId, NO_LOC};
use crate::threads::path::{EventId, INIT, Kind, Node, Trie};
use fencepost_ir::Order;
use smallvec::SmallVec;

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
    let accesses = if with_base { graph.seq_cst_accesses() } else { Row::EMPTY };
    // From the fences before `e`, and from `e` itself; only the former have eco in psc.
    if !below.is_empty() && psc.reaches(Before::fences(below.clone()), &accesses, &by_scb, &by_eco) {
        return false;
    }
    !is_sc || !psc.reaches(Before::access(e), &accesses, &by_scb, &Row::EMPTY)
}

struct Psc<'a, W: RowWidth> {
    trie: &'a Trie<Rc11, W>,
    graph: &'a Graph<Rc11, W>,
    model: Rc11,
}

/// What was found to be psc-before the event, and which of it has been looked at.
#[derive(Default)]
struct Before<W: RowWidth> {
    /// What happens before a fence that was found, and the fence.
    below: Row<W>,
    /// Whether it has grown since it was looked at.
    below_is_new: bool,
    /// SC accesses that were found, apart from those.
    accesses: Row<W>,
    /// Those of them that have not been looked at.
    todo: Row<W>,
    /// What comes before an access of its thread that has been looked at: what hb orders before it was found then.
    passed: Row<W>,
    /// What is coherence-before a write that has been looked at: so was what is coherence-before it.
    overtaken: Row<W>,
}

impl<W: RowWidth> Before<W> {
    fn fences(below: Row<W>) -> Before<W> {
        Before { below, below_is_new: true, ..Before::default() }
    }

    fn access(e: usize) -> Before<W> {
        Before { accesses: Row::single(e), todo: Row::single(e), ..Before::default() }
    }

    fn add_below(&mut self, more: &Row<W>) {
        if !more.is_within(&self.below) {
            self.below |= more;
            self.below_is_new = true;
            self.accesses = self.accesses.without(&self.below);
            self.todo = self.todo.without(&self.below);
        }
    }

    fn add(&mut self, accesses: Row<W>) {
        let new = accesses.without(&self.accesses).without(&self.below);
        self.accesses |= &new;
        self.todo |= new;
    }
}

impl<'a, W: RowWidth> Psc<'a, W> {
    fn node(&self, e: usize) -> &'a Node<Rc11Static, W> {
        self.trie.node(self.graph.node(e))
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
            if found.accesses.meets(by_scb) || found.below.meets(by_scb) || found.below.meets(by_eco) {
                return true;
            }
            if let Some(b) = found.todo.last() {
                found.todo.remove(b);
                self.look_at(b, &mut found, accesses);
            } else if std::mem::take(&mut found.below_is_new) {
                let (scb, eco) = self.communicating_before(&found.below);
                found.add_below(&self.below_any(&self.model.clauses.row(Clause::PscFenceEco, eco)));
                found.add(scb & accesses);
            } else {
                return false;
            }
        }
    }

    /// Adds what an SC access is psc-after by one step.
    fn look_at(&self, b: usize, found: &mut Before<W>, accesses: &Row<W>) {
        let clauses = self.model.clauses;
        found.add_below(&clauses.row(Clause::HbAfterScFence, self.graph.rows(b).below.row()));
        // Both grow along po.
        if !found.passed.contains(b) {
            let po = self.po_before(b);
            found.add(clauses.row(Clause::ScbPo, &po) & accesses);
            found.add(clauses.row(Clause::ScbThroughOthers, self.through_others(b)) & accesses);
            found.passed |= po;
        }
        let hb = clauses.row(Clause::ScbHbLoc, &self.graph.rows(b).hb) & accesses;
        for x in hb.without(&found.accesses).iter().filter(|&x| self.node(x).loc() == self.node(b).loc()) {
            found.add(Row::single(x));
        }
        if self.graph.writes().contains(b) && !found.overtaken.contains(b) {
            let earlier = self.up_to(b as EventId, b);
            found.add(&earlier & accesses);
            found.add_below(&clauses.row(Clause::HbAfterScFence, self.below_any(&earlier)));
            found.overtaken |= earlier;
        }
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

    /// The last event before `e` in its thread that is not an access to the cell of `e`.
    fn last_elsewhere(&self, e: usize) -> Option<usize> {
        let node = self.node(e);
        let is_there = |v: usize| node.loc() != NO_LOC && self.node(v).loc() == node.loc();
        (e - node.index as usize..e).rev().find(|&v| self.is_event(v) && !is_there(v))
    }

    /// (po \ loc);hb;(po \ loc) before the access `y`, within hb. hb grows along po, so the last event elsewhere knows most;
    /// fences, also those that are no events here, and the start of the thread are among them.
    fn through_others(&self, y: usize) -> Row<W> {
        let last = self.last_elsewhere(y);
        let fence = self.node(y).statics.last_fence.filter(|(before, _)| Some(*before as usize) >= last);
        let mut rest = match (fence, last, self.graph.origin(self.node(y).thread as usize)) {
            (Some((before, acquires)), ..) => {
                let rows = self.graph.rows(before as usize);
                let acquired = if acquires { rows.acc.row() } else { &Row::EMPTY };
                &rows.hb.and(before as usize) | acquired
            }
            (None, Some(last), _) => self.graph.rows(last).hb.clone(),
            (None, None, INIT) => return Row::EMPTY,
            (None, None, start) => self.graph.rows(start as usize).hb.and(start as usize),
        };
        let accesses = self.graph.reads() | self.graph.writes();
        let whole = match (fence, last) {
            (None, Some(last)) => rest.and(last),
            _ => rest.clone(),
        };
        let joins = rest.without(&accesses);
        let joined = joins.iter().chain(last).map(|u| self.last_of_joined(u));
        let mut through = joined.fold(Row::EMPTY, |row, last| row | last);
        while let Some(u) = rest.last() {
            let first = u - self.node(u).index as usize;
            through |= match self.comes_with_its_fence(u, y, &whole) {
                true => Row::range(first, u + 1),
                false => self.before_others(first, u),
            };
            rest = rest.without(&Row::range(first, u + 1));
        }
        through
    }

    /// po \ loc into the events `first..=last` of a thread, and the fences between them, from its start on: all up to the
    /// last event after which every event is of one cell, or up to the last fence.
    fn before_others(&self, first: usize, last: usize) -> Row<W> {
        let fence = self.node(last).statics.last_fence.map_or(first, |(before, _)| before as usize + 1);
        let last = (first..=last).rev().find(|&u| self.is_event(u));
        let end = last.and_then(|last| self.last_elsewhere(last)).map_or(first, |before| before + 1);
        Row::range(first, end.max(fence))
    }

    /// Whether a release fence, which is no event here, stands behind the event `u` and before all events of its thread that come
    /// later, and happens before the last of `before` all the same: one of these, or a fence behind it, acquires what was
    /// written behind the fence.
    fn comes_with_its_fence(&self, u: usize, y: usize, before: &Row<W>) -> bool {
        let thread = self.node(u).thread;
        let later =
            (u + 1..).take_while(|&w| self.graph.present().contains(w) && self.node(w).thread == thread);
        let mut written: SmallVec<[usize; 8]> = later
            .filter(|&w| {
                let at = self.node(w).statics.release_fence.map(|(at, _)| at as usize);
                self.node(w).kind == Kind::Write && self.graph.order(w) != Order::Plain && at == Some(u)
            })
            .collect();
        while let Some(w) = written.pop() {
            for r in self.graph.readers(w).iter().filter(|&r| self.graph.order(r) != Order::Plain) {
                if before.contains(r) && self.acquires_before(r, y, before) {
                    return true;
                }
                // What a read-modify-write writes is in the release sequence too.
                let half = r + 1;
                if self.graph.present().contains(half) && self.node(half).partner == r as EventId {
                    written.push(half);
                }
            }
        }
        false
    }

    /// Whether a read acquires, itself or by a fence behind it, no later than the last of `before` in its thread, or than `y`.
    fn acquires_before(&self, r: usize, y: usize, before: &Row<W>) -> bool {
        if self.model.acquires(self.graph.order(r)) {
            return true;
        }
        let thread = self.node(r).thread;
        let is_behind = |&z: &usize| {
            let fence = self.node(z).statics.last_fence;
            matches!(self.node(z).kind, Kind::Fence(_))
                || fence.is_some_and(|(at, acquires)| acquires && at as usize >= r)
        };
        let mut here = before.iter().filter(|&z| z > r && self.node(z).thread == thread);
        here.any(|z| is_behind(&z)) || self.node(y).thread == thread && y > r && is_behind(&y)
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
