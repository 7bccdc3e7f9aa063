//! POWER after Herding Cats `[AMT14, sec. 6]`.
//!
//! ```text
//! dp = addr | data     rdw = po-loc & (fre;rfe)     detour = po-loc & (coe;rfe)
//! ii = dp | rdw | rfi | ci | ic;ci | ii;ii          ci = (ctrl+isync) | detour | ci;ii | cc;ci
//! ic = ii | cc | ic;cc | ii;ic                      cc = dp | po-loc | ctrl | addr;po | ci | ci;ic | cc;cc | pick
//! ppo = ii & RxR | ic & RxW     fence = sync | lwsync \ WxR | eieio & WxW     hb = ppo | fence | rfe
//! propbase = (fence | rfe;fence);hb*     prop = propbase & WxW | com*;propbase*;sync;hb*
//! acyclic po-loc | com,  acyclic hb,  irreflexive fre;prop;hb*,  acyclic co | prop
//! ```
//!
//! Commit-before is (addr | data | ctrl | rf | addr;po | po-loc | fences)+ `[AAJL16, sec. 2]`. It contains hb, so hb is
//! acyclic for free, and the rows hb, propbase (`pb`) and sync;hb* (`sp`) of an event mention only its prefix. A new
//! event is a sink of everything but com: a violation must go through its edge to a coherence-later write, so a search
//! backwards from the event over co | prop decides propagation, and a read alone can violate observation.

use super::clause::{Clause, Clauses};
use super::{existence, from_other_threads, po_rf_prefix};
use crate::models::model::{CommitBefore, MemoryModel};
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::path::{EventId, Facts, INIT, Kind, Node, Place, Shift, Trie};
use fencepost_ir::Fence;

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct Power {
    /// Clauses in force.
    pub clauses: Clauses,
    /// Events are committed in program order, and their commit-before order is kept in their rows.
    pub in_order: bool,
}

/// The four rows of the preserved-program-order fixpoint: predecessors of an event.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ppo<W: RowWidth> {
    ii: Row<W>,
    ic: Row<W>,
    ci: Row<W>,
    cc: Row<W>,
}

/// What a path says about an event.
#[derive(Clone, Debug, Default)]
pub struct PowerStatic<W: RowWidth> {
    /// Commit-before predecessors in the thread.
    commit: Row<W>,
    /// Those that it has however compare-exchanges end.
    sure: Row<W>,
    /// The bases of the four rows, without rfi, rdw and detour.
    base: Ppo<W>,
    /// Events with a fence in between that orders them before the event.
    fence: Row<W>,
    /// Events with a sync in between.
    sync: Row<W>,
    /// Earlier events that start or join threads.
    syncs: Row<W>,
}

/// What is known of a committed event.
#[derive(Clone, Debug, Default)]
pub struct PowerRows<W: RowWidth> {
    ppo: Ppo<W>,
    /// hb+ predecessors.
    hb: Row<W>,
    /// propbase predecessors.
    pb: Row<W>,
    /// sync;hb* predecessors.
    sp: Row<W>,
    /// Where events are committed in program order.
    before: CommitBefore<W>,
}

impl<W: RowWidth> MemoryModel<W> for Power {
    type Static = PowerStatic<W>;
    type Rows = PowerRows<W>;
    const DEPENDENCIES: bool = true;
    const OUT_OF_ORDER: bool = true;
    const READS_UNCOMMITTED: bool = false;
    /// What its old value depends on may be the address of an earlier access.
    const EXCHANGES_IN_ORDER: bool = false;

    fn clauses(&self) -> Clauses {
        self.clauses
    }

    fn in_order(self) -> Power {
        Power { in_order: true, ..self }
    }

    #[inline(always)]
    fn in_rows<'g>(&self, rows: &'g PowerRows<W>) -> Option<&'g CommitBefore<W>> {
        self.in_order.then_some(&rows.before)
    }

    fn surely_before_read(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
    ) -> Row<W> {
        self.committed_before(trie, graph, node, INIT, true)
    }

    fn is_event(&self, _fence: Fence) -> bool {
        false
    }

    fn statics(&self, place: &Place<'_, Self::Static, W>) -> PowerStatic<W> {
        let facts = place.facts;
        let write = place.kind == Kind::Write;
        let accesses = &facts.reads | &facts.writes;
        match place.kind {
            Kind::Read | Kind::Write => {}
            // Starting and joining threads orders as a sync does.
            Kind::Spawn | Kind::Join => {
                let (commit, fence, sync, syncs) =
                    (facts.events.clone(), accesses.clone(), accesses, facts.syncs.clone());
                let sure = commit.clone();
                return PowerStatic { commit, sure, fence, sync, syncs, ..PowerStatic::default() };
            }
            _ => {
                let (commit, sure) = (existence(place), existence(place));
                return PowerStatic { commit, sure, ..PowerStatic::default() };
            }
        }
        let on = |clause, row: &Row<W>| self.clauses.row(clause, row);
        let dp = on(Clause::Addr, &place.addr) | on(Clause::Data, &place.data);
        let ctrl_isync = facts
            .fences
            .iter()
            .filter(|f| f.fence.waits_for_branches())
            .fold(Row::EMPTY, |row, f| row | &f.ctrl);
        let full = facts.before_fence(Fence::is_full);
        let light = facts.before_fence(is_light_fence);
        let sync = on(Clause::FullFence, &full);
        let lighter = if write { light.clone() } else { &light & &facts.reads };
        let mut fence = &sync | on(Clause::LightFence, &lighter);
        let mut fenced = full | light;
        if write {
            let stores = facts.before_fence(Fence::is_for_stores);
            fence |= on(Clause::StoreFence, &(&stores & &facts.writes));
            fenced |= stores & (&facts.writes | &facts.skipped);
        }
        let base = Ppo {
            ii: dp.clone(),
            ic: Row::EMPTY,
            ci: on(Clause::Isync, &ctrl_isync),
            cc: dp
                | on(Clause::PoLoc, &place.po_loc)
                | on(Clause::Ctrl, &facts.ctrl)
                | on(Clause::Pick, &place.pick)
                | on(Clause::AddrPo, &facts.addr_po),
        };
        let depends = &place.addr | &place.data | &facts.ctrl | &place.pick | &facts.addr_po;
        let commit = depends
            | &place.po_loc
            | ctrl_isync
            | &place.skipped_loc
            | existence(place)
            | &facts.syncs
            | (fenced & (&accesses | &facts.skipped));
        PowerStatic {
            sure: commit.without(&facts.doubtful_writes),
            commit,
            base,
            fence: fence & &accesses,
            sync: sync & accesses,
            syncs: facts.syncs.clone(),
        }
    }

    fn before_later_writes(&self, facts: &Facts<W>) -> Row<W> {
        let fenced = facts.before_fence(Fence::is_full) | facts.before_fence(is_light_fence);
        &facts.ctrl | &facts.addr_po | (fenced & &facts.reads)
    }

    fn orders_no_more(first: &PowerStatic<W>, second: &PowerStatic<W>, shift: &Shift) -> bool {
        let (a, b) = (&first.base, &second.base);
        let bases = [(&a.ii, &b.ii), (&a.ic, &b.ic), (&a.ci, &b.ci), (&a.cc, &b.cc)];
        let fences =
            [(&first.fence, &second.fence), (&first.sync, &second.sync), (&first.syncs, &second.syncs)];
        bases.into_iter().chain(fences).all(|(a, b)| shift.is_within(a, b))
    }

    #[inline(always)]
    fn predecessors(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
        source: EventId,
    ) -> Row<W> {
        if self.in_order {
            return po_rf_prefix(trie, graph, node, source);
        }
        self.committed_before(trie, graph, node, source, false)
    }

    #[inline(always)]
    fn coherence_before(
        &self,
        _trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
    ) -> Row<W> {
        let mut before = self.clauses.row(Clause::Coherence, &node.po_loc);
        if node.kind == Kind::Read && self.clauses.are_complete() {
            // What is known since a join is known: by com*;sync;hb*, observation forbids to read anything older.
            before = node.statics.syncs.iter().fold(before, |row, join| row | &graph.rows(join).sp);
        }
        before
    }

    fn rows(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
    ) -> PowerRows<W> {
        let mut rows = self.order_rows(trie, graph, node);
        if self.in_order {
            let source = if node.kind == Kind::Read { graph.rf(node.event as usize) } else { INIT };
            rows.before.commit = self.committed_before(trie, graph, node, source, false);
            rows.before.sure = self.committed_before(trie, graph, node, source, true);
        }
        rows
    }

    #[inline(always)]
    fn is_fenced(rows: &PowerRows<W>) -> bool {
        !(rows.pb.is_empty() && rows.sp.is_empty())
    }

    fn read_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        let e = event as usize;
        let rows = &graph.rows(e);
        if self.clauses.has(Clause::Propagation) && !rows.sp.is_empty() && self.comes_back(trie, graph, e) {
            return false;
        }
        !self.clauses.has(Clause::Observation) || self.observes(trie, graph, e)
    }

    fn write_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        !self.clauses.has(Clause::Propagation) || !self.comes_back(trie, graph, event as usize)
    }
}

impl Power {
    /// The commit-before prefix of an event; or what is `sure` of it.
    #[inline(always)]
    fn committed_before<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
        source: EventId,
        sure: bool,
    ) -> Row<W> {
        let before = |e: usize| match sure {
            true => self.surely_before(graph, e),
            false => self.commit_before(graph, e),
        };
        let commit = if sure { &node.statics.sure } else { &node.statics.commit };
        let mut prefix = Row::EMPTY;
        if source != INIT {
            prefix = before(source as usize) | Row::single(source as usize);
        }
        let mut direct = commit | from_other_threads(trie, graph, node);
        while let Some(e) = direct.last() {
            prefix |= before(e) | Row::single(e);
            direct = direct.without(&prefix);
        }
        prefix
    }

    /// The rows that the axioms are about.
    #[inline(always)]
    fn order_rows<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
    ) -> PowerRows<W> {
        let statics = &node.statics;
        let from_threads = from_other_threads(trie, graph, node);
        match node.kind {
            Kind::Read | Kind::Write => {}
            Kind::Spawn | Kind::Join => {
                let others = &from_threads & (graph.reads() | graph.writes());
                return self.ordered_rows(trie, graph, node, Ppo::default(), from_threads, others);
            }
            _ => return PowerRows::default(),
        }
        let mut base = statics.base.clone();
        let mut from_outside = INIT;
        if node.kind == Kind::Read {
            let source = graph.rf(node.event as usize);
            if source != INIT {
                if trie.node(graph.node(source as usize)).thread == node.thread {
                    if self.clauses.has(Clause::Rfi) {
                        base.ii.insert(source as usize);
                    }
                } else {
                    from_outside = source;
                    self.add_rdw_and_detour(trie, graph, node, source, &mut base);
                }
            }
        }
        let ppo = close(base, graph);
        let ordered = match node.kind {
            Kind::Read => self.clauses.row(Clause::PpoReads, &ppo.ii),
            _ => self.clauses.row(Clause::PpoWrites, &ppo.ic),
        };
        let reads = ordered & graph.reads();
        let mut direct = reads | from_threads;
        if from_outside != INIT && self.clauses.has(Clause::Rfe) {
            direct.insert(from_outside as usize);
        }
        self.ordered_rows(trie, graph, node, ppo, direct, Row::EMPTY)
    }
}

/// lwsync, and what counts as such in programs for other targets.
fn is_light_fence(fence: Fence) -> bool {
    let orders = fence.orders();
    orders.rw && !orders.wr
}

/// The least rows of an event above their bases, the rows of earlier events being final. What an event brings comes before it in
/// the
/// thread, so from the last one on each is looked at once. Rows are closed: what came by the row of an event that was
/// looked at brings nothing that this one has not brought, as long as it is in no row for another reason as well. (What it brings
/// by `ci`
/// it brings by `ii` and `cc`, too.)
#[inline(always)]
fn close<W: RowWidth>(base: Ppo<W>, graph: &Graph<Power, W>) -> Ppo<W> {
    let (mut p, mut brought) = (base, Ppo::default());
    p.include();
    let mut todo = p.ic.clone();
    while let Some(m) = todo.last() {
        let (ii, ci, cc) = (p.ii.contains(m), p.ci.contains(m), p.cc.contains(m));
        let is_new = match ci {
            true => !brought.ci.contains(m),
            false if ii || cc => (ii && !brought.ii.contains(m)) || (cc && !brought.cc.contains(m)),
            false => !brought.ic.contains(m),
        };
        if is_new {
            let rows = &graph.rows(m).ppo;
            if ii {
                brought.ii |= &rows.ii;
                brought.ci |= &rows.ci;
            }
            if ci {
                brought.ii |= &rows.ic;
                brought.ci |= &rows.cc;
            }
            if cc {
                brought.ic |= &rows.ic;
                brought.cc |= &rows.cc;
            }
            brought.ic |= &rows.ii;
            brought.cc |= &rows.ci;
            p.add(&brought);
            p.include();
        }
        todo = &p.ic & &Row::range(0, m);
    }
    p
}

impl<W: RowWidth> Ppo<W> {
    fn add(&mut self, other: &Ppo<W>) {
        self.ii |= &other.ii;
        self.ic |= &other.ic;
        self.ci |= &other.ci;
        self.cc |= &other.cc;
    }

    /// ci is part of ii and of cc, and these are part of ic.
    fn include(&mut self) {
        self.ii |= &self.ci;
        self.cc |= &self.ci;
        self.ic |= &self.ii;
        self.ic |= &self.cc;
    }
}

impl Power {
    /// hb, propbase and sync;hb* from the direct hb predecessors beside the fences; `synced` has a sync in between too.
    #[inline(always)]
    fn ordered_rows<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
        ppo: Ppo<W>,
        direct: Row<W>,
        synced: Row<W>,
    ) -> PowerRows<W> {
        let statics = &node.statics;
        let fence = &statics.fence | &synced;
        let direct = direct | &fence | &statics.syncs;
        let mut rows = PowerRows {
            ppo,
            hb: direct.clone(),
            pb: fence.clone(),
            sp: &statics.sync | synced,
            ..PowerRows::default()
        };
        // What is before another one by hb brings nothing more.
        let mut todo = direct;
        while let Some(d) = todo.last() {
            let before = graph.rows(d);
            rows.hb |= &before.hb;
            rows.pb |= self.clauses.row(Clause::HbAfterFence, &before.pb);
            rows.sp |= self.clauses.row(Clause::HbAfterSync, &before.sp);
            todo.remove(d);
            todo = todo.without(&before.hb);
        }
        // rfe;fence: what a fenced read read from outside.
        for f in (fence & graph.reads()).iter() {
            let source = graph.rf(f);
            let owner = |e: usize| trie.node(graph.node(e)).thread;
            let external = source != INIT && owner(source as usize) != owner(f);
            if external && self.clauses.has(Clause::FenceAfterRfe) {
                rows.pb.insert(source as usize);
            }
        }
        rows
    }

    /// rdw: an earlier read of the cell read something external-older; detour: an earlier write of the thread is
    /// coherence-before what this read reads from outside.
    fn add_rdw_and_detour<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<PowerStatic<W>, W>,
        source: EventId,
        base: &mut Ppo<W>,
    ) {
        for p in node.po_loc.iter() {
            let earlier = trie.node(graph.node(p));
            match earlier.kind {
                Kind::Write
                    if self.clauses.has(Clause::Detour)
                        && graph.co_after(p as EventId, node.loc()).contains(&source) =>
                {
                    base.ci.insert(p);
                }
                Kind::Read => {
                    let old = graph.rf(p);
                    let newer = old != source && graph.co_after(old, node.loc()).contains(&source);
                    if newer && self.clauses.has(Clause::Rdw) {
                        base.ii.insert(p);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether co | prop leads from `event` back to it. Coherence alone does not.
    fn comes_back<W: RowWidth>(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: usize) -> bool {
        if graph.fenced().is_empty() {
            return false;
        }
        let mut prop = Propagated::default();
        let mut seen = Row::EMPTY;
        let mut new = Row::single(event);
        while !new.is_empty() {
            let writes = &new & graph.writes();
            self.add_prop_before(trie, graph, &new, &mut prop);
            let before = &prop.before | self.co_before(trie, graph, &writes);
            if before.contains(event) {
                return true;
            }
            new = before.without(&seen);
            seen |= &new;
        }
        false
    }

    /// irreflexive fre;prop;hb*: no write that the read ignores was propagated to its thread before it.
    fn observes<W: RowWidth>(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, read: usize) -> bool {
        let node = trie.node(graph.node(read));
        let mut newer = Row::EMPTY;
        for &w in graph.co_after(graph.rf(read), node.loc()) {
            if trie.node(graph.node(w as usize)).thread != node.thread {
                newer.insert(w as usize);
            }
        }
        if newer.is_empty() {
            return true;
        }
        let up_to = &graph.rows(read).hb | Row::single(read);
        let mut prop = Propagated::default();
        self.add_prop_before(trie, graph, &up_to, &mut prop);
        !prop.before.meets(&newer)
    }

    /// Coherence-earlier writes than one of the set.
    fn co_before<W: RowWidth>(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, set: &Row<W>) -> Row<W> {
        let mut before = Row::EMPTY;
        for e in set.iter() {
            // Another write of the set may have brought all that is before this one.
            if before.contains(e) {
                continue;
            }
            for &w in graph.co(trie.node(graph.node(e)).loc()) {
                if w as usize == e {
                    break;
                }
                before.insert(w as usize);
            }
        }
        before
    }

    /// Adds the prop predecessors of a set: propbase & WxW, and com*;propbase*;sync;hb*.
    fn add_prop_before<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        set: &Row<W>,
        prop: &mut Propagated<W>,
    ) {
        let mut strong = Row::EMPTY;
        for e in (set & graph.fenced()).iter() {
            if graph.writes().contains(e) {
                prop.before |= self.clauses.row(Clause::PropWrites, &graph.rows(e).pb & graph.writes());
            }
            strong |= &graph.rows(e).sp;
        }
        let mut new = self.clauses.row(Clause::PropStrong, strong).without(&prop.based);
        let mut todo = self.clauses.row(Clause::PropBaseStar, &new);
        while let Some(m) = todo.pop() {
            let more = graph.rows(m).pb.without(&new).without(&prop.based);
            new |= &more;
            todo |= more;
        }
        prop.based |= &new;
        prop.before |= &new;
        if self.clauses.has(Clause::ComStar) {
            add_com_star_before(trie, graph, new, prop);
        }
    }
}

/// What was found to be prop-before something.
#[derive(Default)]
struct Propagated<W: RowWidth> {
    before: Row<W>,
    /// propbase*;sync;hb* before it.
    based: Row<W>,
    /// Writes whose coherence-earlier writes, and the reads of those, are in `before`.
    overtaken: Row<W>,
}

/// Adds the com* predecessors of a set: com* into a read comes through its source; into a write from all coherence-earlier ones
/// and
/// their reads.
fn add_com_star_before<W: RowWidth>(
    trie: &Trie<Power, W>,
    graph: &Graph<Power, W>,
    mut set: Row<W>,
    prop: &mut Propagated<W>,
) {
    // Later events of a thread are mostly later in coherence, and bring what earlier ones would.
    while let Some(e) = set.last() {
        set.remove(e);
        let node = trie.node(graph.node(e));
        let loc = node.loc();
        let top = match node.kind {
            Kind::Read => graph.rf(e),
            _ => e as EventId,
        };
        if top == INIT {
            continue;
        }
        prop.before.insert(top as usize);
        if prop.overtaken.contains(top as usize) {
            continue;
        }
        prop.overtaken.insert(top as usize);
        prop.before |= graph.init_readers(loc);
        for &w in graph.co(loc) {
            if w == top {
                break;
            }
            prop.before |= graph.readers(w as usize);
            prop.before.insert(w as usize);
            prop.overtaken.insert(w as usize);
        }
    }
}
