//! Copies of graphs, for revisits.

use super::{Graph, Layout};
use crate::models::model::MemoryModel;
use crate::search::row::{Row, RowWidth};
use crate::threads::interpret::Next;
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT, Kind, NO_NODE, NodeId, Trie};

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
        self.copy_cells(other, kept, same_settling);
        self.reads = &other.reads & kept;
        self.writes = &other.writes & kept;
        self.fenced = &other.fenced & kept;
        self.seq_cst = &other.seq_cst & kept;
        self.nonmaximal = &other.nonmaximal & kept;
        self.revisited = &other.revisited & kept;
        self.rmw_writes = &other.rmw_writes & kept;
        self.pure = &other.pure & kept;
        self.settling = if is_settled { other.settling } else { 0 };
        self.asleep.copy(&other.asleep);
        self.copy_threads(other, kept, layout, is_settled, same_settling);
    }

    /// Takes the registers of the graph that this is a copy of, or gives them back.
    pub fn swap_registers(&mut self, other: &mut Graph<M, W>) {
        std::mem::swap(&mut self.words, &mut other.words);
        std::mem::swap(&mut self.kept, &mut other.kept);
    }

    fn copy_events(&mut self, other: &Graph<M, W>, kept: &Row<W>, same_settling: bool) {
        let unsettled;
        let changed = if same_settling {
            unsettled = kept.without(&other.settled_events);
            &unsettled
        } else {
            kept
        };
        for e in changed.iter() {
            let event = &mut self.events[e];
            event.clone_from(&other.events[e]);
            event.before &= kept;
            event.readers &= kept;
        }
        if M::ROWS_GROW {
            self.outgrown.clear();
            if same_settling {
                // Those that have grown in this graph only are as they were.
                for e in (&(&self.regrown | &other.regrown) & &other.settled_events).iter() {
                    self.events[e].rows.clone_from(&other.events[e].rows);
                }
            }
            self.regrown.clone_from(&other.regrown);
        }
    }

    /// Cells that neither graph has accessed since the settling that they share are the same in both. Without a common
    /// settling, this one becomes as empty as a new graph first.
    fn copy_cells(&mut self, other: &Graph<M, W>, kept: &Row<W>, same_settling: bool) {
        self.reserve_cells(other.co.len());
        let mut old = std::mem::take(&mut self.changed);
        for &x in &old {
            self.listed[x as usize].1 = false;
            // Those that the other graph has changed come below.
            if same_settling && !other.listed.get(x as usize).is_some_and(|listed| listed.1) {
                self.copy_cell(other, x, kept);
            }
        }
        old.clear();
        self.changed = old;
        if !same_settling {
            let mut old = std::mem::take(&mut self.touched);
            for x in old.drain(..) {
                self.listed[x as usize].0 = false;
                self.init_readers[x as usize] = Row::EMPTY;
                self.cell_readers[x as usize] = Row::EMPTY;
                self.co[x as usize].clear();
            }
            self.touched = old;
            for &x in &other.touched {
                self.listed[x as usize].0 = true;
                self.touched.push(x);
                self.copy_cell(other, x, kept);
            }
        }
        for &x in &other.changed {
            self.change(x);
            if same_settling {
                self.copy_cell(other, x, kept);
            }
        }
    }

    /// Copies a cell, and the readers of its settled writes; those of others are copied with the writes.
    fn copy_cell(&mut self, other: &Graph<M, W>, loc: LocId, kept: &Row<W>) {
        let x = loc as usize;
        let list = &mut self.co[x];
        list.clear();
        // A cell that only this graph has met is empty in the other one.
        let Some(writes) = other.co.get(x) else {
            self.init_readers[x] = Row::EMPTY;
            self.cell_readers[x] = Row::EMPTY;
            return;
        };
        list.extend(writes.iter().copied().filter(|&w| kept.contains(w as usize)));
        self.init_readers[x] = &other.init_readers[x] & kept;
        self.cell_readers[x] = &other.cell_readers[x] & kept;
        for &w in writes.iter().filter(|&&w| other.settled_events.contains(w as usize)) {
            self.events[w as usize].readers = &other.events[w as usize].readers & kept;
        }
    }

    fn copy_threads(
        &mut self,
        other: &Graph<M, W>,
        kept: &Row<W>,
        layout: &Layout,
        is_settled: bool,
        same_settling: bool,
    ) {
        self.origin.copy_from_slice(&other.origin);
        self.mates.copy_from_slice(&other.mates);
        self.was_started.copy_from_slice(&other.was_started);
        self.turns.copy(&other.turns);
        if is_settled {
            self.settled.copy_from_slice(&other.settled);
        } else {
            self.settled.fill(0);
        }
        for t in 0..layout.threads() {
            if other.origin[t] != INIT && !kept.contains(other.origin[t] as usize) {
                self.forget_thread(t, layout);
                continue;
            }
            let (base, slot, end) = (layout.base[t], layout.slot_base[t], other.front[t]);
            let mut front = self.settled[t];
            while front < end && kept.contains((base + front) as usize) {
                front += 1;
            }
            let first = self.settled[t] + u32::from(same_settling && other.was_started[t]);
            if first <= front {
                let slots = slot + first as usize..slot + front as usize + 1;
                self.snapshots[slots.clone()].copy_from_slice(&other.snapshots[slots.clone()]);
                self.registers[slots.clone()].copy_from_slice(&other.registers[slots]);
            }
            self.front[t] = front;
            if front != end {
                self.set_front(layout, t, front);
            }
        }
    }

    /// Takes a read out of the copy of `other`, to be put back with another source.
    pub fn detach_read(&mut self, read: EventId, other: &Graph<M, W>, loc: LocId, layout: &Layout) {
        let r = read as usize;
        self.remove_read(read);
        self.cell_readers[loc as usize].remove(r);
        match other.events[r].rf {
            INIT => self.init_readers[loc as usize].remove(r),
            source => self.events[source as usize].readers.remove(r),
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
        self.regrown = Row::EMPTY;
        for x in self.changed.drain(..) {
            self.listed[x as usize].1 = false;
        }
        for t in 0..layout.threads() {
            let mut settled = self.front[t];
            let kind = |index: u32| trie.node(self.events[(layout.base[t] + index) as usize].node).kind;
            while settled > 0 && matches!(kind(settled - 1), Kind::Choice | Kind::Fence(_)) {
                settled -= 1;
            }
            self.settled[t] = settled;
            self.was_started[t] = self.frontier(layout, t).next != Next::NotStarted;
        }
    }

    /// Calls `used` for nodes on the ways to which all nodes lie that the graph refers to.
    pub fn for_each_node_in_use(&self, layout: &Layout, mut used: impl FnMut(NodeId)) {
        for t in 0..layout.threads() {
            match self.frontier(layout, t).node {
                NO_NODE if self.front[t] == 0 => {}
                NO_NODE => used(self.events[(layout.base[t] + self.front[t]) as usize - 1].node),
                node => used(node),
            }
        }
        if M::OUT_OF_ORDER {
            self.present.iter().for_each(|e| used(self.events[e].node));
            // A compare-exchange may have become another node than that which its thread stood before.
            for t in 0..layout.threads() {
                let first = layout.slot_base[t];
                // Without a read nothing is settled: the marks are of a branch that was left.
                let settled = if self.reads.is_empty() { 0 } else { self.settled[t] };
                let slots = &self.snapshots[first + settled as usize..first + self.front[t] as usize];
                slots.iter().filter(|slot| slot.node != NO_NODE).for_each(|slot| used(slot.node));
            }
        }
    }
}
