//! RC11 `[LVKHD17]`, the same with the release sequences of C++20, and the release/acquire fragment RA.
//!
//! ```text
//! rs = [W];(po & loc)?;[W & atomic];(rf;rmw)*      hb = (po | sw)+
//! sw = [rel];([F];po)?;rs;rf;[R & atomic];(po;[F])?;[acq]
//! irreflexive hb;eco?      empty rmw & (fre;coe)      acyclic psc      acyclic po | rf
//! ```
//! Each write carries the *message* `msg`: what happens before whoever acquires from it. Each event carries `acc`, the
//! messages of the atomic reads before it, which an acquire fence turns into happens-before. All three rows mention the
//! (po | rf)-prefix only. RA treats every atomic access as release or acquire; of the SC axiom it has the fence part.

use super::clause::{Clause, Clauses};
use super::{joined, last_of, po_rf_prefix, previous};
use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::{RareRow, Row, RowWidth};
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT, Kind, Node, Place, Trie};
use fencepost_ir::{Fence, Order};

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// All of RC11.
    Rc11,
    /// Without the stores of the same thread in release sequences: `(po & loc)?` is not there.
    Rc20,
    /// Release/acquire.
    Ra,
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct Rc11 {
    /// Which of the three.
    pub variant: Variant,
    /// Clauses in force.
    pub clauses: Clauses,
}

/// What a path says about an event.
#[derive(Clone, Debug, Default)]
pub struct Rc11Static {
    /// The event before the last release fence, and whether acquire fences stand between the two.
    pub release_fence: Option<(EventId, bool)>,
    /// The last fence before it that is an event.
    fence_event: Option<EventId>,
    /// An acquire fence stands between the previous event of the thread and this one.
    acquire_fence: bool,
    /// The event behind which the last fence before this one stands that is no event here, and whether one of those there
    /// acquires.
    pub last_fence: Option<(EventId, bool)>,
    /// The last earlier release write of the thread to the same cell.
    earlier_release: Option<EventId>,
}

/// What is known of a committed event.
#[derive(Debug, Default)]
pub struct Rc11Rows<W: RowWidth> {
    /// hb predecessors.
    pub hb: Row<W>,
    /// Of a write: what happens before whoever acquires from it.
    msg: RareRow<W>,
    /// Messages of the thread's atomic reads so far, this one included.
    pub acc: RareRow<W>,
    /// What happens before an SC fence that happens before this event, or is this event; and that fence.
    pub below: RareRow<W>,
}

impl<W: RowWidth> Clone for Rc11Rows<W> {
    fn clone(&self) -> Self {
        let (msg, acc, below) = (self.msg.clone(), self.acc.clone(), self.below.clone());
        Rc11Rows { hb: self.hb.clone(), msg, acc, below }
    }

    #[inline(always)]
    fn clone_from(&mut self, other: &Self) {
        self.hb.clone_from(&other.hb);
        self.msg.clone_from(&other.msg);
        self.acc.clone_from(&other.acc);
        self.below.clone_from(&other.below);
    }
}

/// A consume counts as an acquire, as compilers treat it.
fn acquires(order: Order) -> bool {
    order.acquires() || order == Order::Consume
}

impl Rc11 {
    #[inline(always)]
    pub fn acquires(self, order: Order) -> bool {
        self.clauses.has(Clause::AcquireRead)
            && (acquires(order) || (self.variant == Variant::Ra && order != Order::Plain))
    }

    #[inline(always)]
    fn releases(self, order: Order) -> bool {
        self.clauses.has(Clause::ReleaseWrite)
            && (order.releases() || (self.variant == Variant::Ra && order != Order::Plain))
    }
}

impl<W: RowWidth> MemoryModel<W> for Rc11 {
    type Static = Rc11Static;
    type Rows = Rc11Rows<W>;
    const DEPENDENCIES: bool = false;
    const OUT_OF_ORDER: bool = false;
    const READS_UNCOMMITTED: bool = false;
    const RACES: bool = true;

    fn clauses(&self) -> Clauses {
        self.clauses
    }

    /// SC fences take part in psc; the others only in hb, which the path knows.
    fn is_event(&self, fence: Fence) -> bool {
        fence.as_c11() == Order::SeqCst
    }

    fn statics(&self, place: &Place<'_, Self::Static, W>) -> Rc11Static {
        let facts = place.facts;
        if self.variant == Variant::Ra {
            // Fences are ordered with each other only, and a write is a release whatever came before it.
            return Rc11Static::default();
        }
        let last_event = |f: &crate::threads::path::FenceFacts<W>| f.events.last().map(|e| e as EventId);
        let previous = facts.events.last().map(|e| e as EventId);
        let acquire_fence = self.clauses.has(Clause::AcquireFence)
            && facts.fences.iter().any(|f| {
                acquires(f.fence.as_c11()) && !self.is_event_of::<W>(f.fence) && last_event(f) == previous
            });
        let is_other = |f: &&crate::threads::path::FenceFacts<W>| {
            let order = f.fence.as_c11();
            (acquires(order) || order.releases()) && !self.is_event_of::<W>(f.fence)
        };
        let last_fence = facts.fences.iter().filter(is_other).filter_map(last_event).max().map(|at| {
            let acquires_there = |f: &crate::threads::path::FenceFacts<W>| {
                last_event(f) == Some(at) && acquires(f.fence.as_c11())
            };
            (at, facts.fences.iter().filter(is_other).any(acquires_there))
        });
        let release = facts
            .fences
            .iter()
            .filter(|f| f.fence.as_c11().releases() && !self.is_event_of::<W>(f.fence))
            .max_by_key(|f| f.number);
        let release_fence = release.filter(|_| self.clauses.has(Clause::ReleaseFence)).and_then(|release| {
            let at = last_event(release)?;
            let acquired = facts.fences.iter().any(|f| {
                acquires(f.fence.as_c11()) && last_event(f) == Some(at) && f.number <= release.number
            });
            Some((at, acquired))
        });
        let fence_event = facts
            .fences
            .iter()
            .filter(|f| self.clauses.has(Clause::ReleaseFence) && self.is_event_of::<W>(f.fence))
            .map(|f| last_event(f).map_or(place.first, |before| before + 1))
            .max();
        // hb grows along po, so the last one knows what the others know.
        let releases =
            |node: &&Node<Rc11Static, W>| node.kind == Kind::Write && self.releases(node.ann.order);
        let earlier_release = place.same_loc.and_then(|earlier| match Some(earlier).filter(releases) {
            Some(release) => Some(release.event),
            None => earlier.statics.earlier_release,
        });
        let sequences = self.variant != Variant::Rc20 && self.clauses.has(Clause::SequenceSameThread);
        let earlier_release = earlier_release.filter(|_| sequences);
        Rc11Static { release_fence, fence_event, acquire_fence, last_fence, earlier_release }
    }

    fn predecessors(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Rc11Static, W>,
        source: EventId,
    ) -> Row<W> {
        po_rf_prefix(trie, graph, node, source)
    }

    #[inline(always)]
    fn coherence_before(
        &self,
        _trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Rc11Static, W>,
    ) -> Row<W> {
        self.clauses.row(Clause::Coherence, program_order_hb(graph, node))
    }

    /// Row by row and in place, since most are empty, and most of the others are those of the previous event.
    #[inline(always)]
    fn give_rows(&self, trie: &Trie<Self, W>, graph: &mut Graph<Self, W>, node: &Node<Rc11Static, W>) {
        let e = node.event as usize;
        let previous = previous(graph, node);
        if previous == INIT {
            let rows = graph.rows_mut(e);
            rows.hb = Row::EMPTY;
            rows.acc.clear();
        } else {
            let (rows, before) = graph.rows_and(e, previous as usize);
            rows.hb.clone_from(&before.hb);
            rows.hb.insert(previous as usize);
            if node.statics.acquire_fence {
                rows.hb |= before.acc.row();
            }
            match node.index {
                0 => rows.acc.clear(),
                _ => rows.acc.clone_from(&before.acc),
            }
        }
        graph.rows_mut(e).msg.clear();
        match node.kind {
            Kind::Read => {
                let (source, order) = (graph.rf(e), graph.order(e));
                if source != INIT && order != Order::Plain {
                    let (rows, written) = graph.rows_and(e, source as usize);
                    rows.acc.unite(&written.msg);
                    if self.acquires(order) {
                        rows.hb |= written.msg.row();
                    }
                }
            }
            Kind::Write if graph.order(e) != Order::Plain => {
                let message = self.message(graph, node, &graph.rows(e).hb);
                graph.rows_mut(e).msg.set(message);
            }
            Kind::Join => {
                let last = last_of(trie, graph, joined(graph, node));
                if last != INIT {
                    let (rows, ended) = graph.rows_and(e, last as usize);
                    rows.hb |= &ended.hb;
                    rows.hb.insert(last as usize);
                }
            }
            Kind::Fence(_) if self.variant != Variant::Ra => {
                let rows = graph.rows_mut(e);
                rows.hb |= self.clauses.row(Clause::AcquireFence, rows.acc.row());
            }
            _ => {}
        }
        let below = below(graph, node, &graph.rows(e).hb);
        graph.rows_mut(e).below.set(below);
        graph.note_fenced(node.event);
    }

    /// Below some SC fence.
    fn is_fenced(rows: &Rc11Rows<W>) -> bool {
        rows.below.filled().is_some()
    }

    fn read_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        !self.clauses.has(Clause::Global) || super::psc::stays_acyclic(trie, graph, *self, event)
    }

    fn write_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        !self.clauses.has(Clause::Global) || super::psc::stays_acyclic(trie, graph, *self, event)
    }

    /// Two accesses to a cell, one a write and one not atomic, that hb does not order: of several pairs, the first.
    fn races(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        cells: &[LocId],
    ) -> Option<(EventId, EventId)> {
        let pairs = cells.iter().filter_map(|&loc| race_at(trie, graph, loc));
        pairs.min().map(|(a, b)| (a.min(b) as EventId, a.max(b) as EventId))
    }

    fn strictly_before(&self, graph: &Graph<Self, W>, first: usize, second: usize) -> bool {
        graph.rows(second).hb.contains(first)
    }

    /// An atomic access is over when somebody has seen it, whatever its order: a relaxed decrement of a reference count
    /// behind a release fence does not happen before the free, but it does not come after it either.
    fn happens_before(&self, graph: &Graph<Self, W>, first: usize, second: usize) -> bool {
        let seen = graph.order(first) != Order::Plain && graph.pre(second).contains(first);
        seen || graph.rows(second).hb.contains(first)
    }
}

/// The first access to a cell that is not atomic and has a race, and the first that it races with.
fn race_at<W: RowWidth>(trie: &Trie<Rc11, W>, graph: &Graph<Rc11, W>, loc: LocId) -> Option<(usize, usize)> {
    if loc as usize >= graph.cells() {
        return None;
    }
    if is_ordered(graph, loc) {
        return None;
    }
    let mut accesses = graph.init_readers(loc).clone();
    for &w in graph.co(loc) {
        accesses |= graph.readers(w as usize);
        accesses.insert(w as usize);
    }
    let thread = |e: usize| trie.node(graph.node(e)).thread;
    accesses.iter().filter(|&a| graph.order(a) == Order::Plain).find_map(|a| {
        let hb = &graph.rows(a).hb;
        let writes = graph.writes().contains(a);
        let conflicts = |b: &usize| {
            (writes || graph.writes().contains(*b))
                && thread(*b) != thread(a)
                && !graph.rows(*b).hb.contains(a)
        };
        accesses.without(hb).iter().find(conflicts).map(|b| (a, b))
    })
}

/// Whether each write to a cell happens after the write before it in coherence and the reads of that one, and before its own
/// reads. Then there is no race; mostly that is so, and it is quickly seen.
fn is_ordered<W: RowWidth>(graph: &Graph<Rc11, W>, loc: LocId) -> bool {
    let mut earlier = graph.init_readers(loc).clone();
    graph.co(loc).iter().all(|&w| {
        let w = w as usize;
        let readers = graph.readers(w);
        let after_earlier = earlier.is_within(&graph.rows(w).hb);
        earlier = readers.and(w);
        after_earlier && readers.iter().all(|r| graph.rows(r).hb.contains(w))
    })
}

/// What happens before the event without its own synchronisation.
#[inline(always)]
fn program_order_hb<W: RowWidth>(graph: &Graph<Rc11, W>, node: &Node<Rc11Static, W>) -> Row<W> {
    let previous = previous(graph, node);
    if previous == INIT {
        return Row::EMPTY;
    }
    let rows = graph.rows(previous as usize);
    let mut hb = rows.hb.and(previous as usize);
    if node.statics.acquire_fence {
        hb |= rows.acc.row();
    }
    hb
}

/// See [`Rc11Rows::below`]: what the previous event knows, and what the events know that come before this one only.
#[inline(always)]
fn below<W: RowWidth>(graph: &Graph<Rc11, W>, node: &Node<Rc11Static, W>, hb: &Row<W>) -> Row<W> {
    if matches!(node.kind, Kind::Fence(_)) {
        return hb.and(node.event as usize);
    }
    if graph.fenced().is_empty() {
        return Row::EMPTY;
    }
    let mut new = hb & graph.fenced();
    let mut below = Row::EMPTY;
    let previous = previous(graph, node);
    if previous != INIT {
        let rows = graph.rows(previous as usize);
        below.clone_from(rows.below.row());
        new = new.without(&rows.hb);
        new.remove(previous as usize);
    }
    new.iter().fold(below, |row, x| row | graph.rows(x).below.row())
}

impl Rc11 {
    fn is_event_of<W: RowWidth>(self, fence: Fence) -> bool {
        <Self as MemoryModel<W>>::is_event(&self, fence)
    }

    /// What an acquirer of this atomic write learns: everything before each release that heads a sequence with it.
    fn message<W: RowWidth>(self, graph: &Graph<Self, W>, node: &Node<Rc11Static, W>, hb: &Row<W>) -> Row<W> {
        let e = node.event as usize;
        let mut msg = Row::EMPTY;
        if self.releases(graph.order(e)) {
            msg = hb.and(e);
        }
        if self.variant == Variant::Ra {
            return msg;
        }
        if let Some((last, acquired)) = node.statics.release_fence {
            let rows = &graph.rows(last as usize);
            msg |= &rows.hb | Row::single(last as usize);
            if acquired {
                msg |= rows.acc.row();
            }
        }
        if let Some(fence) = node.statics.fence_event {
            msg |= graph.rows(fence as usize).hb.and(fence as usize);
        }
        if let Some(w) = node.statics.earlier_release {
            msg |= graph.rows(w as usize).hb.and(w as usize);
        }
        if node.partner != INIT {
            let source = graph.rf(node.partner as usize);
            if source != INIT && self.clauses.has(Clause::SequenceRmw) {
                msg |= graph.rows(source as usize).msg.row();
            }
        }
        msg
    }
}
