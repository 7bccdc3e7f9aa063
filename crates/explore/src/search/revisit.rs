//! Revisits: a write that comes late is read by a read that was there before, and what depended on the old value goes.
//!
//! A graph must be reached from one parent only, the *canonical* one, in which everything that the revisit deletes had been
//! added coherence-maximally. `docs/EXPLORATION.md` has the argument.

use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::interpret::Snapshot;
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT, Kind};

/// The place of the newest write of a set, for some cells: a thread that has much to do with a cell asks again and again.
#[derive(Default)]
struct Newest([Option<(LocId, Option<usize>)>; 8]);

impl Newest {
    #[inline(always)]
    fn at<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        graph: &Graph<M, W>,
        loc: LocId,
        set: &Row<W>,
    ) -> Option<usize> {
        let known = &mut self.0[loc as usize % 8];
        match *known {
            Some((other, at)) if other == loc => at,
            _ => {
                let at = graph.co(loc).iter().rposition(|&w| set.contains(w as usize));
                *known = Some((loc, at));
                at
            }
        }
    }
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Reads that were committed before `z` although they could have read it. There may be no place for `z` as long as another
    /// write
    /// stays.
    #[inline(never)]
    pub(crate) fn revisit_readers(
        &mut self,
        graph: &mut Graph<M, W>,
        z: EventId,
        snapshot: Snapshot,
        loc: LocId,
        taken_by: Option<EventId>,
    ) {
        // On the way back from a limit every level comes here once more.
        if self.turns_back() {
            return;
        }
        for r in self.rereaders(graph, loc, graph.pre(z as usize), taken_by).iter() {
            if !self.may_reread(graph, r, z) {
                continue;
            }
            let prefix = self.needed(graph, self.trie.node(graph.node(r)), z);
            if let Some((deleted, prefix)) = self.canonical_deletion(graph, r, z, prefix, taken_by) {
                self.revisit(graph, r as EventId, z, snapshot, deleted, prefix);
            }
        }
    }

    /// Reads that a write with that prefix may revisit, at first sight: none that was not added maximally, and none that is
    /// younger
    /// than what must go.
    #[inline(always)]
    fn rereaders(&self, graph: &Graph<M, W>, loc: LocId, pre: &Row<W>, taken_by: Option<EventId>) -> Row<W> {
        // The readers of a cell that one thread uses much are many, and all before the write.
        let mut reads = graph.cell_readers(loc).without(pre);
        if reads.is_empty() {
            return reads;
        }
        reads = reads.without(graph.nonmaximal());
        if let Some(w) = taken_by {
            reads &= graph.before(w as usize);
        }
        if M::READS_UNCOMMITTED {
            for r in reads.clone().iter() {
                let source = graph.rf(r);
                if source != INIT && !graph.writes().contains(source as usize) {
                    reads.remove(r);
                }
            }
        }
        reads
    }

    /// What is deleted if `r` reads `z`, and what `r` then needs, if this is the parent from which that is to be reached and the
    /// write
    /// that takes the place of `z` goes. `prefix` is what `r` needs in any case.
    fn canonical_deletion(
        &self,
        graph: &Graph<M, W>,
        r: usize,
        z: EventId,
        mut prefix: Row<W>,
        taken_by: Option<EventId>,
    ) -> Option<(Row<W>, Row<W>)> {
        if prefix.contains(r) {
            return None;
        }
        // Something goes that was not added maximally, whichever pairs are kept.
        let sure = graph.present().without(&(graph.before(r) | &prefix)).without(graph.rmw_writes());
        if sure.meets(graph.nonmaximal()) {
            return None;
        }
        self.keep_pairs(graph, &mut prefix, r);
        let kept = (graph.before(r) | &prefix).and(r);
        if taken_by.is_some_and(|w| kept.contains(w as usize)) {
            return None;
        }
        let deleted = graph.present().without(&kept);
        self.canonical(graph, r, z, &deleted, &prefix).then_some((deleted, prefix))
    }

    /// Whether a read-modify-write that reads what another one has read will make room for itself: its write, which comes next
    /// and needs
    /// what the read needs, revisits a read so that the other one goes. `prefix` is what they need, and they themselves.
    pub(crate) fn makes_room(
        &self,
        graph: &Graph<M, W>,
        loc: LocId,
        prefix: &Row<W>,
        taken_by: EventId,
    ) -> bool {
        let readers = self.rereaders(graph, loc, prefix, Some(taken_by));
        // It is not there, and nobody asks for it.
        let z = INIT;
        readers.iter().any(|r| {
            let needed = self.needed(graph, self.trie.node(graph.node(r)), INIT) | prefix;
            self.canonical_deletion(graph, r, z, needed, Some(taken_by)).is_some()
        })
    }

    /// A read-modify-write whose read stays keeps its write, if all that the write needs stays too.
    fn keep_pairs(&self, graph: &Graph<M, W>, prefix: &mut Row<W>, r: usize) {
        let mut candidates = graph.present().without(&(graph.before(r) | &*prefix)) & graph.rmw_writes();
        loop {
            let mut grew = false;
            for w in candidates.clone().iter() {
                let read = self.trie.node(graph.node(w)).partner as usize;
                if prefix.contains(read) && graph.pre(w).is_within(prefix) {
                    prefix.insert(w);
                    candidates.remove(w);
                    grew = true;
                }
            }
            if !grew {
                return;
            }
        }
    }

    /// Whether this parent is the one from which the revisited graph is to be reached: everything deleted, and `r`,
    /// had been added coherence-maximally, in an order that the kept events do not contradict.
    fn canonical(
        &self,
        graph: &Graph<M, W>,
        r: usize,
        z: EventId,
        deleted: &Row<W>,
        prefix: &Row<W>,
    ) -> bool {
        let gone = deleted.and(r);
        // Only a revisited read can have a prefix that is younger than itself.
        for k in (graph.revisited() & graph.before(r)).without(&gone).iter() {
            if graph.pre(k).meets(&gone) {
                return false;
            }
        }
        let mut kept_prefix = prefix.clone();
        if z != INIT {
            kept_prefix.remove(z as usize);
        }
        if !self.keeps_sleep(graph, r, &gone, &kept_prefix) {
            return false;
        }
        self.was_added_maximally(graph, &gone, graph.before(r), &kept_prefix, &Row::EMPTY)
    }

    /// Whether each event of `gone` comes after its prefix and is coherence-maximal among what is older and `prefix`;
    /// `perhaps` may or may not be kept too, and the answer is false only if it is so in any case. All of `gone` are younger than
    /// `older`.
    pub(crate) fn was_added_maximally(
        &self,
        graph: &Graph<M, W>,
        gone: &Row<W>,
        older: &Row<W>,
        prefix: &Row<W>,
        perhaps: &Row<W>,
    ) -> bool {
        if gone.meets(graph.nonmaximal()) {
            return false;
        }
        // Only a revisited read can have a prefix that is younger than itself.
        for d in (gone & graph.revisited()).iter() {
            let kept = graph.before(d) | prefix | perhaps;
            if !graph.pre(d).is_within(&kept) {
                return false;
            }
        }
        // Among what is older each of them is maximal, or it would be marked: only later writes of the prefix matter. That is not
        // known of a read that was there before its source.
        let writes = prefix.without(older) & graph.writes();
        if writes.is_empty() && !M::READS_UNCOMMITTED {
            return true;
        }
        let mut newest = Newest::default();
        let mut is_maximal = |d: usize, write: EventId, loc: LocId| {
            newest.at(graph, loc, &writes).is_none_or(|at| graph.co(loc)[at..].contains(&write))
                && (!M::READS_UNCOMMITTED || graph.is_maximal(write, loc, graph.before(d)))
        };
        gone.iter().all(|d| {
            let node = self.trie.node(graph.node(d));
            match node.kind {
                Kind::Write => is_maximal(d, d as EventId, node.loc()),
                Kind::Read => {
                    let source = graph.rf(d);
                    let is_kept =
                        |w: usize| graph.before(d).contains(w) || prefix.contains(w) || perhaps.contains(w);
                    (source == INIT || is_kept(source as usize)) && is_maximal(d, source, node.loc())
                }
                Kind::Choice => graph.value(d) == 0,
                _ => true,
            }
        })
    }

    /// Explores what comes from deleting `deleted` and letting `r` read the new write `z`. `r` keeps its time stamp.
    #[inline(never)]
    fn revisit(
        &mut self,
        graph: &mut Graph<M, W>,
        r: EventId,
        z: EventId,
        snapshot: Snapshot,
        deleted: Row<W>,
        prefix: Row<W>,
    ) {
        let layout = self.subject.layout;
        let re = r as usize;
        let (pinned, words) = (self.pinned.len(), graph.words());
        graph.for_each_node_in_use(layout, |node| self.pinned.push(node));
        let mut child = self.pool.pop().unwrap_or_else(|| Graph::new(layout));
        child.copy_kept(graph, &graph.present().without(&deleted), layout);
        child.swap_registers(graph);
        child.detach_read(r, graph, self.trie.node(graph.node(re)).loc(), layout);
        child.refresh_maximality(&self.trie);
        child.forget_sleep_after(r);

        let (z_thread, r_thread) = (layout.thread_of[z as usize] as usize, layout.thread_of[re] as usize);
        self.place_write(&mut child, z, snapshot);
        child.add_before(z, r);
        if child.front(z_thread) as usize == (z - layout.base[z_thread]) as usize {
            self.advance_thread(&mut child, z_thread);
        }
        let loc = self.trie.node(snapshot.node).loc();
        let before_z = self.coherence_before(&child, self.trie.node(snapshot.node));
        let last = child.push_write(loc, z);
        let mut at = last;
        loop {
            if self.keeps_atomicity(&child, z, loc, at)
                && (at == last || self.model.write_consistent(&self.trie, &child, z))
            {
                if at != last {
                    child.mark_nonmaximal(z);
                }
                let outgrown = child.outgrown();
                self.model.take_place(&self.trie, &mut child, z);
                self.reread(&mut child, r, r_thread, z, &prefix, at == last);
                child.take_back(outgrown);
            }
            if !child.bubble_down(loc, &mut at, &before_z) {
                break;
            }
        }
        child.swap_registers(graph);
        graph.drop_registers(words);
        self.pool.push(child);
        self.pinned.truncate(pinned);
    }

    /// The read `r` comes back, reading `z`, which has its place by now.
    fn reread(
        &mut self,
        child: &mut Graph<M, W>,
        r: EventId,
        thread: usize,
        z: EventId,
        prefix: &Row<W>,
        maximal: bool,
    ) {
        let re = r as usize;
        child.put_back(r);
        self.set_source(child, r, z);
        child.set_pre(r, prefix.clone());
        let node = self.trie.node(child.node(re));
        let loc = node.loc();
        let before = self.model.coherence_before(&self.trie, child, node);
        let coherent = child.co_after(z, loc).iter().all(|&w| !child.is_known(w, &before))
            && self.keeps_symmetry(child, &self.lower_reads(child, node), loc, z);
        if coherent && (maximal || self.model.read_consistent(&self.trie, child, r)) {
            if !child.is_maximal(z, loc, child.before(re)) {
                child.mark_nonmaximal(r);
            }
            child.mark_revisited(r);
            let front = child.front(thread);
            let mut blocked = false;
            if front as usize == re - self.subject.layout.base[thread] as usize {
                self.advance_thread(child, thread);
                blocked = !self.is_out_of_order()
                    && self.may_sleep(child.node(re))
                    && self.leads_nowhere(child, thread, r);
            }
            if blocked {
                child.set_front(self.subject.layout, thread, front);
                child.unmark_nonmaximal(r);
                child.unmark_revisited(r);
                return self.sleep_by_revisit(child, r, thread, z, maximal);
            }
            let outgrown = child.outgrown();
            self.model.take_place(&self.trie, child, r);
            self.note_foreign_read(child, r);
            self.check(child, "the visit of a copy");
            self.follow(child, thread);
            child.take_back(outgrown);
            child.set_front(self.subject.layout, thread, front);
            child.unmark_nonmaximal(r);
            child.unmark_revisited(r);
        }
        self.clear_source(child, r);
        child.remove_read(r);
    }

    /// The revisited read does not let its thread go on: it is taken out, and the thread sleeps. If `z` is not the newest, no
    /// revisit of the read would be canonical, and its thread never goes on.
    fn sleep_by_revisit(
        &mut self,
        child: &mut Graph<M, W>,
        r: EventId,
        thread: usize,
        z: EventId,
        maximal: bool,
    ) {
        let node = child.node(r as usize);
        self.note_waiting(node);
        self.clear_source(child, r);
        child.remove_read(r);
        if maximal {
            child.put_to_sleep(thread, r, self.trie.node(node).loc(), z);
            self.check(child, "the visit of a copy with a thread that was put to sleep");
            self.left_out = 1;
            self.descend(child);
            self.left_out = 0;
            child.take_from_sleep(thread, r);
        }
    }

    /// A read that a revisit had put to sleep is read again only by what comes of that revisit.
    fn may_reread(&self, graph: &Graph<M, W>, r: usize, z: EventId) -> bool {
        let layout = self.subject.layout;
        let thread = layout.thread_of[r] as usize;
        graph.may_wake(thread, r as EventId - layout.base[thread], z)
    }

    /// What sleep that a revisit caused asks of another revisit, to be canonical. Sleep that stays keeps its cause. Sleep that
    /// goes would have come about with what stays: the newest write there is its cause, or comes of it; unless the read
    /// itself stays.
    fn keeps_sleep(&self, graph: &Graph<M, W>, r: usize, gone: &Row<W>, prefix: &Row<W>) -> bool {
        graph.caused_sleep().all(|(thread, sleep)| {
            if !sleep.before.contains(r) {
                return !gone.contains(sleep.cause as usize);
            }
            let read = (self.subject.layout.base[thread] + sleep.at) as usize;
            (graph.present().contains(read) && prefix.contains(read))
                || graph.comes_of(sleep, graph.newest(sleep.loc, &(&sleep.before | prefix)))
        })
    }
}
