//! Copies of graphs: for revisits, and for work that is handed to another worker.

use super::{Graph, Layout};
use crate::interpret::Next;
use crate::memory::LocId;
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, Trie};
use crate::row::{Row, RowWidth};

impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// Makes this graph the part of `other` that consists of the events of `kept`. Rows mention only an event's
    /// prefix, which is kept with it, so only the time stamps and the inverse relations need masking.
    pub fn copy_kept(&mut self, other: &Graph<M, W>, kept: &Row<W>, layout: &Layout) {
        self.present.clone_from(kept);
        // Without a read nothing is settled yet: the marks are of a branch that was left.
        let is_settled = !other.reads.is_empty();
        let same_settling = is_settled && self.settling == other.settling && self.settling != 0;
        self.copy_events(other, kept, same_settling);
        self.settled_events.clone_from(&other.settled_events);
        self.copy_cells(other, kept);
        self.reads = &other.reads & kept;
        self.writes = &other.writes & kept;
        self.fenced = &other.fenced & kept;
        self.nonmaximal = &other.nonmaximal & kept;
        self.revisited = &other.revisited & kept;
        self.rmw_writes = &other.rmw_writes & kept;
        self.pure = &other.pure & kept;
        self.settling = if is_settled { other.settling } else { 0 };
        for t in 0..layout.threads() {
            self.copy_thread(other, kept, t, layout, is_settled, same_settling);
        }
    }

    fn copy_events(&mut self, other: &Graph<M, W>, kept: &Row<W>, same_settling: bool) {
        let mut changed = kept.clone();
        if same_settling {
            changed = kept.without(&other.settled_events);
            for w in (kept & &other.settled_events & &other.writes).iter() {
                self.readers[w] = &other.readers[w] & kept;
            }
        }
        for e in changed.iter() {
            self.rf[e] = other.rf[e];
            self.value[e] = other.value[e];
            self.node[e] = other.node[e];
            self.order[e] = other.order[e];
            self.pre[e].clone_from(&other.pre[e]);
            self.before[e] = &other.before[e] & kept;
            self.readers[e] = &other.readers[e] & kept;
            self.rows[e].clone_from(&other.rows[e]);
        }
    }

    fn copy_cells(&mut self, other: &Graph<M, W>, kept: &Row<W>) {
        let cells = other.co.len();
        self.reserve_cells(cells);
        for x in cells..self.co.len() {
            self.init_readers[x] = Row::EMPTY;
            self.co[x].clear();
        }
        for x in 0..cells {
            self.init_readers[x] = &other.init_readers[x] & kept;
            self.co[x].clear();
            self.co[x].extend(other.co[x].iter().copied().filter(|&w| kept.contains(w as usize)));
        }
    }

    fn copy_thread(
        &mut self,
        other: &Graph<M, W>,
        kept: &Row<W>,
        t: usize,
        layout: &Layout,
        is_settled: bool,
        same_settling: bool,
    ) {
        self.origin[t] = other.origin[t];
        if !(self.asleep[t].is_empty() && other.asleep[t].is_empty()) {
            self.asleep[t].clone_from(&other.asleep[t]);
        }
        if other.origin[t] != INIT && !kept.contains(other.origin[t] as usize) {
            self.forget_thread(t, layout);
            return;
        }
        let settled = if is_settled { other.settled[t] } else { 0 };
        let mut front = settled;
        while front < other.front[t] && kept.contains((layout.base[t] + front) as usize) {
            front += 1;
        }
        self.settled[t] = settled;
        self.was_started[t] = other.was_started[t];
        let first = settled + u32::from(same_settling && other.was_started[t]);
        if first <= front {
            let (from, to) = (first as usize, front as usize + 1);
            let slots = layout.slot_base[t] + from..layout.slot_base[t] + to;
            self.snapshots[slots.clone()].copy_from_slice(&other.snapshots[slots]);
            let regs = layout.regs(t, from).start..layout.regs(t, to - 1).end;
            self.regs[regs.clone()].copy_from_slice(&other.regs[regs]);
        }
        self.set_front(layout, t, front);
    }

    /// Takes a read out of the copy of `other`, to be put back with another source.
    pub fn detach_read(&mut self, read: EventId, other: &Graph<M, W>, loc: LocId, layout: &Layout) {
        let r = read as usize;
        self.remove_read(read);
        match other.rf[r] {
            INIT => self.init_readers[loc as usize].remove(r),
            source => self.readers[source as usize].remove(r),
        }
        self.nonmaximal.remove(r);
        self.revisited.remove(r);
        let thread = layout.thread_of[r] as usize;
        let front = self.front[thread].min(read - layout.base[thread]);
        self.set_front(layout, thread, front);
    }

    /// Called before the first read is added: what is there will stay. Choices and fences at the end may belong to a loop
    /// that a thread comes round in, so their slots are kept.
    pub fn settle(&mut self, trie: &Trie<M, W>, layout: &Layout, settling: u64) {
        self.settling = settling;
        self.settled_events.clone_from(&self.present);
        for t in 0..layout.threads() {
            let mut settled = self.front[t];
            let kind = |index: u32| trie.node(self.node[(layout.base[t] + index) as usize]).kind;
            while settled > 0 && matches!(kind(settled - 1), Kind::Choice | Kind::Fence(_)) {
                settled -= 1;
            }
            self.settled[t] = settled;
            self.was_started[t] = self.frontier(layout, t).next != Next::NotStarted;
        }
    }
}
