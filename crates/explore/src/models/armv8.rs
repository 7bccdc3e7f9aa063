//! ARMv8 after `[PFDFSS18]` and Arm's published cat model, in the other-multi-copy-atomic form.
//!
//! ```text
//! obs = rfe | fre | coe
//! lmws = po-loc;[W]     lmrs = [W];po-loc;[R] without a write in between
//! through = ((addr | data);([R] | lmrs))*;   addr, data, ctrl from here on: through;addr, through;data, through;ctrl
//! basic = (hop;([R] | lmrs))*, hop = addr | data | picked,  pick = basic;(hop | ctrl),  pick-addr the same to addresses
//! dob = addr;[M \ NonTemporal] | data | ctrl;[W] | (ctrl | addr;po);[ISB];po;[R] | addr;po;[W] | (addr | data \ amo);lmrs
//! pob = pick;[W] | pick;[ISB];po;[M] | pick-addr;po;[ISB];po;[M] | pick-addr;po;[W]
//! aob = rmw | rmw;lmrs;[A|Q]
//! bob = po;[full];po | [L];po;[A] | [R];po;[dmb.ld];po | [A|Q];po | [W];po;[dmb.st];po;[W] | [W];po;[dsb.st];po
//!     | [range ([A];amo;[L])];po | po;[L]
//! lob = (lmws | dob | pob | aob | bob)+
//! acyclic po-loc | com,   acyclic obs | lob | basic;lob;[W]
//! ```
//!
//! lmrs is only used where the read reads the write: if it reads from outside, the write comes before that by coe;rfe, and what
//! comes before the write does too. Only what a pick passes through is taken syntactically, since reads that are merely
//! picked are not ordered.
//!
//! Commit-before cannot simply contain po-loc, rfi and rmw (`docs/EXPLORATION.md` has the programs that are lost): a
//! read may be committed before the write of its own thread that it reads, as soon as what that write's address and
//! data depend on is committed.

use super::clause::{Clause, Clauses};
use super::{existence, from_other_threads, po_rf_prefix};
use crate::models::model::{CommitBefore, MemoryModel};
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::code::Half;
use crate::threads::path::{EventId, Facts, INIT, Kind, Node, Place, Shift, Trie};
use fencepost_ir::{Ann, Fence, Order};

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct Armv8 {
    /// Clauses in force.
    pub clauses: Clauses,
    /// Events are committed in program order, and their commit-before order is kept in their rows.
    pub in_order: bool,
}

/// What a path says about an event.
#[derive(Clone, Debug, Default)]
pub struct Armv8Static<W: RowWidth> {
    /// Commit-before predecessors in the thread, whatever is read.
    commit: Row<W>,
    /// Those that it has however compare-exchanges end.
    sure: Row<W>,
    /// Writes of compare-exchanges that might have failed.
    doubtful: Row<W>,
    /// Locally-ordered-before predecessors, whatever is read.
    lob: Row<W>,
    /// Reads that the address or data depends on.
    dp: Row<W>,
    /// Reads that picked the address or data, or let the event happen.
    pick: Row<W>,
    /// Reads that a value comes from, through registers and memory: what a read returns, or what a write stores.
    through: Row<W>,
    /// The same, through picks as well.
    basic: Row<W>,
    /// The write of a read-modify-write by one instruction.
    amo: bool,
    /// Of a read of a cell that a compare-exchange before it has read: the accesses to the cell since then, writes of
    /// compare-exchanges apart.
    since: Option<Row<W>>,
    /// The choice that it exists by: a store-exclusive's status, whether a compare-exchange succeeds.
    exists: Row<W>,
    /// LDAR or LDAPR.
    acquire: bool,
}

/// What is known of a committed event.
#[derive(Clone, Debug, Default)]
pub struct Armv8Rows<W: RowWidth> {
    /// lob predecessors, not closed.
    lob: Row<W>,
    /// basic;lob* predecessors.
    carried: Row<W>,
    /// Where events are committed in program order.
    before: CommitBefore<W>,
}

/// dmb sy, and what counts as such in programs for other targets.
fn is_full(fence: Fence) -> bool {
    let orders = fence.orders();
    orders.rw && orders.ww
}

fn orders_loads(fence: Fence) -> bool {
    let orders = fence.orders();
    orders.rr && !orders.ww
}

fn orders_stores(fence: Fence) -> bool {
    fence.is_for_stores() && fence != Fence::DsbSt
}

fn is_acquire(ann: Ann) -> bool {
    !ann.no_return && matches!(ann.order, Order::Acquire | Order::AcqRel | Order::SeqCst)
}

fn is_acquire_pc(ann: Ann) -> bool {
    !ann.no_return && ann.order == Order::AcquirePc
}

fn is_release(ann: Ann) -> bool {
    matches!(ann.order, Order::Release | Order::AcqRel | Order::SeqCst)
}

impl<W: RowWidth> MemoryModel<W> for Armv8 {
    type Static = Armv8Static<W>;
    type Rows = Armv8Rows<W>;
    const DEPENDENCIES: bool = true;
    const OUT_OF_ORDER: bool = true;
    const READS_UNCOMMITTED: bool = true;

    fn clauses(&self) -> Clauses {
        self.clauses
    }

    fn in_order(self) -> Armv8 {
        Armv8 { in_order: true, ..self }
    }

    #[inline(always)]
    fn in_rows<'g>(&self, rows: &'g Armv8Rows<W>) -> Option<&'g CommitBefore<W>> {
        self.in_order.then_some(&rows.before)
    }

    fn surely_before_read(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
    ) -> Row<W> {
        self.committed_before(trie, graph, node, INIT, true)
    }

    fn is_event(&self, _fence: Fence) -> bool {
        false
    }

    fn statics(&self, place: &Place<'_, Self::Static, W>) -> Armv8Static<W> {
        let facts = place.facts;
        let write = match place.kind {
            Kind::Write => true,
            Kind::Read => false,
            // Starting and joining threads orders as dmb sy does.
            Kind::Spawn | Kind::Join => {
                let lob = &facts.reads | &facts.writes | &facts.syncs;
                let (commit, sure) = (facts.events.clone(), facts.events.clone());
                return Armv8Static { commit, sure, lob, ..Armv8Static::default() };
            }
            _ => {
                let (commit, sure) = (existence(place), existence(place));
                return Armv8Static { commit, sure, ..Armv8Static::default() };
            }
        };
        let accesses = &facts.reads | &facts.writes | &facts.syncs;
        let full = facts.before_fence(is_full);
        let no_return = facts.annotated(|ann| ann.no_return);
        let [isb, picked] = facts
            .fences
            .iter()
            .filter(|f| f.fence.waits_for_branches())
            .fold([Row::EMPTY, Row::EMPTY], |[dep, pick], f| [dep | &f.ctrl | &f.addr_po, pick | &f.picked]);
        let through = self.from(place, write, &(&place.addr | &place.data), |node| &node.through);
        let basic = self.from(place, write, &(&place.addr | &place.data | &place.pick), |node| &node.basic);
        let (mut all, mut lob) = (Row::EMPTY, Row::EMPTY);
        let mut order = |clause, row: &Row<W>| {
            all |= row;
            lob |= self.clauses.row(clause, row);
        };
        if !place.ann.non_temporal {
            order(Clause::Addr, &place.addr);
        }
        order(Clause::Data, &place.data);
        order(Clause::PickIsb, &picked);
        order(Clause::FullFence, &full);
        order(Clause::LightFence, &(facts.before_fence(orders_loads) & facts.reads.without(&no_return)));
        order(Clause::DsbSt, &(facts.before_fence(|f| f == Fence::DsbSt) & &facts.writes));
        let acquired = facts.annotated(|ann| is_acquire(ann) || is_acquire_pc(ann)) & &facts.reads;
        order(Clause::AfterAcquire, &acquired.without(&facts.doubtful_reads));
        order(Clause::AmoBarrier, &facts.amo_barriers);
        let mut skipped = (full | facts.before_fence(|f| f == Fence::DsbSt)) & &facts.skipped;
        if write {
            order(Clause::Ctrl, &facts.ctrl);
            order(Clause::AddrPo, &facts.addr_po);
            order(Clause::Pick, &place.pick);
            order(Clause::PickAddrPo, &facts.picked_addr);
            order(Clause::StoreFence, &(facts.before_fence(orders_stores) & &facts.writes));
            // rmw is within these: both halves access one location.
            order(Clause::Lws, &place.po_loc);
            skipped |= facts.before_fence(orders_stores) & &facts.skipped;
            if is_release(place.ann) {
                order(Clause::BeforeRelease, &accesses);
                skipped |= &facts.skipped;
            }
        } else {
            order(Clause::Isync, &isb);
            if is_acquire(place.ann) {
                order(Clause::ReleaseAcquire, &(facts.annotated(is_release) & &facts.writes));
            }
        }
        // Dependencies may be on choices too: values do not exist without them.
        let addresses = &facts.addr_po | &facts.picked_addr;
        let depends = &place.addr | &place.data | &place.pick | &picked | &facts.ctrl | &addresses | &isb;
        // What a value comes from is committed before it anyway.
        let carried = |clause, reads: &Row<W>| {
            self.clauses.row(clause, Self::behind(place, reads, |node: &Armv8Static<W>| &node.through))
        };
        lob |= carried(Clause::Data, &place.data);
        if !place.ann.non_temporal {
            lob |= carried(Clause::Addr, &place.addr);
        }
        if write {
            lob |= carried(Clause::Ctrl, &facts.ctrl) | carried(Clause::AddrPo, &facts.addr_po);
        } else {
            lob |= carried(Clause::Isync, &isb);
        }
        let picks = |clause, reads: &Row<W>| {
            self.clauses.row(clause, Self::behind(place, reads, |node: &Armv8Static<W>| &node.basic))
        };
        lob |= picks(Clause::PickIsb, &(&picked | &isb));
        if write {
            let hops = &place.addr | &place.data | &place.pick | &facts.ctrl;
            lob |= picks(Clause::Pick, &hops) | picks(Clause::PickAddrPo, &addresses);
        }
        let needs = existence(place) | &place.skipped_loc | skipped;
        let acquire = !write && (is_acquire(place.ann) || is_acquire_pc(place.ann));
        let sure = ((all | &facts.syncs) & &accesses) | depends | needs;
        // An acquire that would not have been one.
        let acquired = acquired & &facts.doubtful_reads;
        lob |= self.clauses.row(Clause::AfterAcquire, &acquired);
        Armv8Static {
            commit: &sure | &acquired,
            sure: sure.without(&facts.doubtful_writes),
            doubtful: facts.doubtful_writes.clone(),
            lob: (lob | &facts.syncs) & &accesses,
            through: through & &accesses,
            basic: basic & accesses,
            amo: write && matches!(place.half, Half::Amo | Half::Waiting),
            dp: &place.addr | &place.data,
            pick: place.pick.clone(),
            since: self.since_exchange(place, write),
            exists: existence(place),
            acquire,
        }
    }

    fn before_later_writes(&self, facts: &Facts<W>) -> Row<W> {
        let no_return = facts.annotated(|ann| ann.no_return);
        let acquired = facts.annotated(|ann| is_acquire(ann) || is_acquire_pc(ann));
        let fenced = facts.before_fence(is_full)
            | facts.before_fence(orders_loads).without(&no_return)
            | acquired.without(&facts.doubtful_reads);
        &facts.ctrl | &facts.addr_po | (fenced & &facts.reads)
    }

    fn orders_no_more(first: &Armv8Static<W>, second: &Armv8Static<W>, shift: &Shift) -> bool {
        shift.is_within(&first.lob, &second.lob)
            && shift.is_within(&first.through, &second.through)
            && shift.is_within(&first.basic, &second.basic)
            && (second.acquire || !first.acquire)
    }

    fn predecessors(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
        source: EventId,
    ) -> Row<W> {
        if self.in_order {
            return po_rf_prefix(trie, graph, node, source);
        }
        self.committed_before(trie, graph, node, source, false)
    }

    /// Where events are committed in program order, the newest write to the cell that is ordered before the event whatever it
    /// reads, too: found once, and not for each source and place.
    #[inline(always)]
    fn coherence_before(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
    ) -> Row<W> {
        let mut before = self.clauses.row(Clause::Coherence, &node.po_loc);
        // What a compare-exchange orders is a matter of what it reads.
        if self.in_order
            && node.failure.is_none()
            && self.clauses.has(Clause::Global)
            && let Some(newest) = self.newest_before(trie, graph, node, &before)
        {
            before.insert(newest as usize);
        }
        before
    }

    fn rows(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
    ) -> Armv8Rows<W> {
        let lob = &node.statics.lob | from_other_threads(trie, graph, node);
        let mut rows = Armv8Rows { lob, ..Armv8Rows::default() };
        if node.kind == Kind::Read {
            let source = graph.rf(node.event as usize);
            if is_own(trie, graph, node, source) {
                let write = trie.node(graph.node(source as usize));
                let mut depends = write.statics.through.clone();
                if write.statics.amo && write.partner != INIT {
                    depends.remove(write.partner as usize);
                }
                rows.lob |= self.clauses.row(Clause::DepRfi, &depends);
                if node.statics.acquire && write.partner != INIT && self.clauses.has(Clause::RmwLmrs) {
                    rows.lob.insert(write.partner as usize);
                }
            }
            rows.carried = self.clauses.row(Clause::PickLob, &node.statics.basic);
        }
        for e in (&rows.lob & graph.present()).iter() {
            rows.carried |= &graph.rows(e).carried;
        }
        if node.kind == Kind::Write {
            rows.lob |= &rows.carried;
        }
        if self.in_order {
            let source = if node.kind == Kind::Read { graph.rf(node.event as usize) } else { INIT };
            rows.before.commit = self.committed_before(trie, graph, node, source, false);
            rows.before.sure = self.committed_before(trie, graph, node, source, true);
        }
        rows
    }

    fn read_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        !self.clauses.has(Clause::Global)
            || self.no_cycle(trie, graph, event, Row::single(event as usize), graph.rf(event as usize))
    }

    fn write_consistent(&self, trie: &Trie<Self, W>, graph: &Graph<Self, W>, event: EventId) -> bool {
        let sources = Row::single(event as usize) | graph.readers(event as usize);
        !self.clauses.has(Clause::Global) || self.no_cycle(trie, graph, event, sources, event)
    }
}

/// Whether the source is a write of the reader's own thread.
#[inline(always)]
fn is_own<W: RowWidth>(
    trie: &Trie<Armv8, W>,
    graph: &Graph<Armv8, W>,
    node: &Node<Armv8Static<W>, W>,
    source: EventId,
) -> bool {
    source != INIT && trie.node(graph.node(source as usize)).thread == node.thread
}

impl Armv8 {
    /// The reads that the values of some reads come from.
    fn behind<W: RowWidth>(
        place: &Place<'_, Armv8Static<W>, W>,
        reads: &Row<W>,
        row: impl Fn(&Armv8Static<W>) -> &Row<W>,
    ) -> Row<W> {
        let mut all = Row::EMPTY;
        for read in reads.iter() {
            if let Some(node) = (place.earlier)(read as EventId) {
                all |= row(&node.statics);
            }
        }
        all
    }

    /// The reads that the value of an access comes from, directly by these.
    fn from<W: RowWidth>(
        &self,
        place: &Place<'_, Armv8Static<W>, W>,
        write: bool,
        reads: &Row<W>,
        row: impl Fn(&Armv8Static<W>) -> &Row<W>,
    ) -> Row<W> {
        let mut all = reads | Self::behind(place, reads, &row);
        if !write
            && place.last_write != INIT
            && let Some(node) = (place.earlier)(place.last_write)
        {
            all |= self.clauses.row(Clause::ThroughWrites, row(&node.statics));
        }
        all
    }

    /// See [`Armv8Static::since`].
    fn since_exchange<W: RowWidth>(
        &self,
        place: &Place<'_, Armv8Static<W>, W>,
        write: bool,
    ) -> Option<Row<W>> {
        let last = (&place.po_loc & &place.facts.exchanges).last().filter(|_| !write)?;
        let since = place.po_loc.without(&Row::range(0, last + 1));
        Some(since.without(&place.facts.doubtful_writes))
    }

    /// The commit-before prefix of an event; or what is `sure` of it.
    fn committed_before<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
        source: EventId,
        sure: bool,
    ) -> Row<W> {
        let before = |e: usize| match sure {
            true => self.surely_before(graph, e),
            false => self.commit_before(graph, e),
        };
        let commit = if sure { &node.statics.sure } else { &node.statics.commit };
        let mut prefix = Row::EMPTY;
        let mut direct = commit | from_other_threads(trie, graph, node);
        // Had the exchange ended otherwise, the read might have read from it, and would not depend on what came before.
        let unsure = node.statics.since.as_ref().filter(|_| sure);
        if let Some(since) = unsure {
            direct |= since;
        } else if node.kind == Kind::Read {
            let po_loc = if sure { node.po_loc.without(&node.statics.doubtful) } else { node.po_loc.clone() };
            if is_own(trie, graph, node, source) {
                let write = trie.node(graph.node(source as usize));
                direct |= &write.statics.dp | &write.statics.pick | &write.statics.exists;
                direct |= po_loc.without(&(&write.po_loc | Row::single(source as usize)));
                if node.statics.acquire && write.partner != INIT {
                    direct.insert(write.partner as usize);
                }
            } else {
                direct |= &po_loc;
                if source != INIT {
                    prefix = before(source as usize) | Row::single(source as usize);
                }
            }
        }
        direct = direct.without(&prefix);
        while let Some(e) = direct.last() {
            prefix |= before(e) | Row::single(e);
            direct = direct.without(&prefix);
        }
        prefix
    }

    /// The newest write of another thread to the cell of an event that is about to be committed which obs | lob leads from to it,
    /// whatever it reads, if it is newer than what coherence says. The event has an edge to each write above it, so it is
    /// above this one: `no_cycle` would say so of each source and place.
    fn newest_before<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        node: &Node<Armv8Static<W>, W>,
        known: &Row<W>,
    ) -> Option<EventId> {
        let writes = graph.co(node.loc());
        let mut newer = writes.iter().rposition(|&w| graph.is_known(w, known)).map_or(0, |at| at + 1);
        let is_external = |w: EventId| trie.node(graph.node(w as usize)).thread != node.thread;
        let mut newest = None;
        let mut todo = (&node.statics.lob | from_other_threads(trie, graph, node)) & graph.present();
        let (mut seen, mut overtaken) = (todo.clone(), Row::EMPTY);
        loop {
            // Of what was found, the newest; then only what is newer matters.
            let found = writes[newer..].iter().rposition(|&w| seen.contains(w as usize) && is_external(w));
            if let Some(at) = found {
                newest = Some(writes[newer + at]);
                newer += at + 1;
            }
            if !writes[newer..].iter().any(|&w| is_external(w)) {
                return newest;
            }
            let Some(e) = todo.last() else { return newest };
            todo.remove(e);
            let before = self.ordered_before(trie, graph, e, &mut overtaken).without(&seen);
            seen |= &before;
            todo |= before;
        }
    }

    /// Whether no write that is coherence-after `last` and external to `event` is ordered before one of `sources`,
    /// which all have an edge to it.
    fn no_cycle<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        event: EventId,
        sources: Row<W>,
        last: EventId,
    ) -> bool {
        let node = trie.node(graph.node(event as usize));
        let mut later = Row::EMPTY;
        for &w in graph.co_after(last, node.loc()) {
            if trie.node(graph.node(w as usize)).thread != node.thread {
                later.insert(w as usize);
            }
        }
        if later.is_empty() {
            return true;
        }
        let mut seen = sources.clone();
        let mut todo = sources;
        // Later writes of a thread are mostly later in coherence, and bring what earlier ones would.
        let mut overtaken = Row::EMPTY;
        while let Some(e) = todo.last() {
            todo.remove(e);
            let before = self.ordered_before(trie, graph, e, &mut overtaken).without(&seen);
            if before.meets(&later) {
                return false;
            }
            seen |= &before;
            todo |= before;
        }
        true
    }

    /// Direct predecessors of a committed event in obs | lob. `overtaken` are the writes that are coherence-before one of their
    /// thread
    /// that was asked about: what observes before them was told then.
    #[inline(always)]
    fn ordered_before<W: RowWidth>(
        &self,
        trie: &Trie<Self, W>,
        graph: &Graph<Self, W>,
        e: usize,
        overtaken: &mut Row<W>,
    ) -> Row<W> {
        let node = trie.node(graph.node(e));
        let mut before = &graph.rows(e).lob & graph.present();
        match node.kind {
            Kind::Read => {
                let source = graph.rf(e);
                if source != INIT && !is_own(trie, graph, node, source) && self.clauses.has(Clause::Rfe) {
                    before.insert(source as usize);
                }
            }
            Kind::Write if !overtaken.contains(e) => {
                let mut others = self.clauses.row(Clause::Fre, graph.init_readers(node.loc()));
                for &w in graph.co(node.loc()) {
                    if w as usize == e {
                        break;
                    }
                    if trie.node(graph.node(w as usize)).thread == node.thread {
                        overtaken.insert(w as usize);
                    }
                    others |= self.clauses.row(Clause::Fre, graph.readers(w as usize));
                    others |= self.clauses.row(Clause::Coe, Row::single(w as usize));
                }
                before |= others.without(&self.own_thread(graph, trie, node, &others));
            }
            _ => {}
        }
        before
    }

    fn own_thread<W: RowWidth>(
        &self,
        graph: &Graph<Self, W>,
        trie: &Trie<Self, W>,
        node: &Node<Armv8Static<W>, W>,
        events: &Row<W>,
    ) -> Row<W> {
        let mut own = Row::EMPTY;
        for e in events.iter() {
            if trie.node(graph.node(e)).thread == node.thread {
                own.insert(e);
            }
        }
        own
    }
}
