//! A partial execution: the committed events, in a layout that makes adding, removing and copying events cheap.
//!
//! Event numbers are fixed: base of the thread plus index in program order. An entry of a per-event array means
//! something only while the event is `present` (under ARMv8 a read may read a write of its own thread that is not:
//! then `rf`, `readers` and the value are already final). Initial writes are no events; `INIT` stands for them.
//!
//! Invariants: `before[e]` is the set of present events with an earlier time stamp; `pre[e]` is closed; `co[x]` lists
//! the present writes to x; `readers[w]` and `init_readers[x]` invert `rf`.

use crate::interpret::{Next, Snapshot};
use crate::memory::{LocId, Memory};
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, NodeId, Trie};
use crate::row::Row;
use fencepost_ir::Order;
use std::ops::Range;

/// Where the events and snapshots of each thread lie; the same for all graphs of an exploration.
#[derive(Clone, Debug)]
pub struct Layout {
    /// First event of each thread, and one past the last event at the end.
    pub base: Vec<EventId>,
    /// First snapshot slot of each thread: slot `i` is the state after `i` events.
    pub slot_base: Vec<usize>,
    /// Thread of each event.
    pub thread_of: Vec<u16>,
    /// Registers per snapshot of each thread.
    pub stride: Vec<usize>,
    /// First register of each thread's first snapshot, and one past the last at the end.
    pub reg_base: Vec<usize>,
    /// Threads that are started by others, after the initial ones: by whom, and how many that one had started before.
    pub spawned: Vec<(u16, u32)>,
}

impl Layout {
    /// Room for `capacity[t]` events in thread `t`, and `stride[t]` registers in each of its snapshots.
    pub fn new(capacity: &[usize], stride: &[usize], spawned: Vec<(u16, u32)>) -> Layout {
        let mut base = vec![0];
        let mut slot_base = vec![0];
        let mut reg_base = vec![0];
        let mut thread_of = Vec::new();
        for (t, &room) in capacity.iter().enumerate() {
            base.push(base[t] + room as EventId);
            slot_base.push(slot_base[t] + room + 1);
            reg_base.push(reg_base[t] + (room + 1) * stride[t]);
            thread_of.resize(thread_of.len() + room, t as u16);
        }
        Layout { base, slot_base, thread_of, stride: stride.to_vec(), reg_base, spawned }
    }

    /// Where the registers of a thread lie after `index` of its events.
    #[inline(always)]
    pub fn regs(&self, thread: usize, index: usize) -> Range<usize> {
        let from = self.reg_base[thread] + index * self.stride[thread];
        from..from + self.stride[thread]
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.base.len() - 1
    }

    /// The thread that `parent` starts after `number` others.
    pub fn started_by(&self, parent: usize, number: u64) -> Option<usize> {
        let wanted = (parent as u16, number as u32);
        let first = self.threads() - self.spawned.len();
        self.spawned.iter().position(|&key| key == wanted).map(|i| first + i)
    }

    /// Room for events in all.
    pub fn events(&self) -> usize {
        self.thread_of.len()
    }

    /// Room for events in a thread.
    pub fn capacity(&self, thread: usize) -> usize {
        (self.base[thread + 1] - self.base[thread]) as usize
    }
}

/// A thread went to sleep before a read, because what it would have read does not let it go on.
#[derive(Clone, Copy, Debug)]
pub struct Sleep<const W: usize> {
    /// How many events the thread had.
    pub at: u16,
    /// What it would read.
    pub loc: LocId,
    /// How many writes to that there were. They stay as long as the sleep does.
    pub writes: u32,
    /// The events that are older than this sleep.
    pub before: Row<W>,
    /// The events that were there when it began: of the writes among them the thread reads none any more. A sleep that a
    /// revisit caused is as old as the read that it took out, and began when there was more.
    pub seen: Row<W>,
    /// The write that revisited the read and put the thread to sleep, `INIT` if the newest value did.
    pub cause: EventId,
}

/// A partial execution.
pub struct Graph<M: MemoryModel<W>, const W: usize> {
    /// Committed events.
    pub present: Row<W>,
    /// What a read reads from.
    pub rf: Vec<EventId>,
    /// The value read, written or chosen.
    pub value: Vec<u64>,
    /// The event's node in the path trie.
    pub node: Vec<NodeId>,
    /// The memory order that the access turned out to have.
    pub order: Vec<Order>,
    /// Commit-before predecessors, closed.
    pub pre: Vec<Row<W>>,
    /// Events with an earlier time stamp.
    pub before: Vec<Row<W>>,
    /// Reads of a write.
    pub readers: Vec<Row<W>>,
    /// The model's rows.
    pub rows: Vec<M::Rows>,
    /// Reads of a cell's initial value.
    pub init_readers: Vec<Row<W>>,
    /// Writes to a cell, in coherence order.
    pub co: Vec<Vec<EventId>>,
    /// Committed reads.
    pub reads: Row<W>,
    /// Committed writes.
    pub writes: Row<W>,
    /// Committed events that the model's global check can go through; see [`MemoryModel::is_fenced`].
    pub fenced: Row<W>,
    /// Events that were not coherence-maximal among the events before them when they were added.
    pub nonmaximal: Row<W>,
    /// Reads that a later write revisited.
    pub revisited: Row<W>,
    /// Writes of read-modify-writes.
    pub rmw_writes: Row<W>,
    /// Those of them whose predecessors are those of their read.
    pub pure: Row<W>,
    /// Per thread: the event that started it; `INIT` for the initial threads and those that are not started.
    pub origin: Vec<EventId>,
    /// Per thread: how many events from its start on are committed without a gap.
    pub front: Vec<u16>,
    /// Per thread: how urgent its next step is; as `Snapshot` says.
    pub urgency: Vec<u8>,
    /// Per thread: how many of its events are older than all reads. No revisit deletes them, so what came before the last
    /// of them is not needed any more.
    pub settled: Vec<u16>,
    /// Which settling this was: graphs of the same one agree in the events of then, and in the state after its
    /// settled events of each thread that was started by then.
    settling: u64,
    was_started: Vec<bool>,
    settled_events: Row<W>,
    /// Per thread: the times at which it went to sleep before a read, oldest first; see `waiting`.
    pub asleep: Vec<Vec<Sleep<W>>>,
    /// Thread states by slot.
    pub snapshots: Vec<Snapshot>,
    /// Their registers.
    pub regs: Vec<u64>,
}

impl<M: MemoryModel<W>, const W: usize> Graph<M, W> {
    /// A graph without events.
    pub fn new(layout: &Layout) -> Graph<M, W> {
        let n = layout.events();
        let slots = layout.slot_base[layout.threads()];
        Graph {
            present: Row::EMPTY,
            rf: vec![INIT; n],
            value: vec![0; n],
            node: vec![0; n],
            order: vec![Order::Plain; n],
            pre: vec![Row::EMPTY; n],
            before: vec![Row::EMPTY; n],
            readers: vec![Row::EMPTY; n],
            rows: vec![M::Rows::default(); n],
            init_readers: Vec::new(),
            co: Vec::new(),
            origin: vec![INIT; layout.threads()],
            reads: Row::EMPTY,
            writes: Row::EMPTY,
            fenced: Row::EMPTY,
            nonmaximal: Row::EMPTY,
            revisited: Row::EMPTY,
            rmw_writes: Row::EMPTY,
            pure: Row::EMPTY,
            front: vec![0; layout.threads()],
            urgency: vec![Snapshot::NEVER; layout.threads()],
            settled: vec![0; layout.threads()],
            settling: 0,
            was_started: vec![false; layout.threads()],
            settled_events: Row::EMPTY,
            asleep: vec![Vec::new(); layout.threads()],
            snapshots: vec![Snapshot::default(); slots],
            regs: vec![0; layout.reg_base[layout.threads()]],
        }
    }

    /// The state of a thread at its first gap.
    #[inline(always)]
    pub fn frontier(&self, layout: &Layout, thread: usize) -> &Snapshot {
        &self.snapshots[layout.slot_base[thread] + self.front[thread] as usize]
    }

    /// Moves the first gap of a thread.
    #[inline(always)]
    pub fn set_front(&mut self, layout: &Layout, thread: usize, front: u16) {
        self.front[thread] = front;
        self.urgency[thread] = self.frontier(layout, thread).urgency;
    }

    /// The registers of a thread at its first gap.
    pub fn frontier_regs(&self, layout: &Layout, thread: usize) -> &[u64] {
        &self.regs[layout.regs(thread, self.front[thread] as usize)]
    }

    /// The reads of a source at a cell.
    #[inline(always)]
    pub fn readers_of(&self, source: EventId, loc: LocId) -> Row<W> {
        if source == INIT { self.init_readers[loc as usize] } else { self.readers[source as usize] }
    }

    /// Place of a write in its coherence list.
    #[inline(always)]
    pub fn position(&self, write: EventId, loc: LocId) -> Option<usize> {
        self.co[loc as usize].iter().position(|&w| w == write)
    }

    /// The writes that are coherence-after a source (`INIT` too), in order. A source that is not in the list (a write
    /// of the reader's own thread that is still to come) has none.
    #[inline(always)]
    pub fn co_after(&self, source: EventId, loc: LocId) -> &[EventId] {
        let list = &self.co[loc as usize];
        if source == INIT {
            return list;
        }
        match self.position(source, loc) {
            Some(at) => &list[at + 1..],
            None => &[],
        }
    }

    /// The final value of a cell. One that no thread has met yet has no place here and keeps its initial value.
    pub fn final_value(&self, memory: &Memory, loc: LocId) -> u64 {
        let last = self.co.get(loc as usize).and_then(|list| list.last());
        last.map_or(memory.init(loc), |&w| self.value[w as usize])
    }

    /// Makes this graph the part of `other` that consists of the events of `kept`. Rows mention only an event's
    /// prefix, which is kept with it, so only the time stamps and the inverse relations need masking.
    pub fn copy_kept(&mut self, other: &Graph<M, W>, kept: Row<W>, layout: &Layout) {
        self.present = kept;
        // Without a read nothing is settled yet: the marks are of a branch that was left.
        let is_settled = !other.reads.is_empty();
        let same_settling = is_settled && self.settling == other.settling && self.settling != 0;
        let mut changed = kept;
        if same_settling {
            changed = kept.without(&other.settled_events);
            for w in (kept & other.settled_events & other.writes).iter() {
                self.readers[w] = other.readers[w] & kept;
            }
        }
        for e in changed.iter() {
            self.rf[e] = other.rf[e];
            self.value[e] = other.value[e];
            self.node[e] = other.node[e];
            self.order[e] = other.order[e];
            self.pre[e] = other.pre[e];
            self.before[e] = other.before[e] & kept;
            self.readers[e] = other.readers[e] & kept;
            self.rows[e] = other.rows[e];
        }
        self.settled_events = other.settled_events;
        let cells = other.co.len();
        self.reserve_cells(cells);
        for x in cells..self.co.len() {
            self.init_readers[x] = Row::EMPTY;
            self.co[x].clear();
        }
        for x in 0..cells {
            self.init_readers[x] = other.init_readers[x] & kept;
            self.co[x].clear();
            self.co[x].extend(other.co[x].iter().copied().filter(|&w| kept.contains(w as usize)));
        }
        self.reads = other.reads & kept;
        self.writes = other.writes & kept;
        self.fenced = other.fenced & kept;
        self.nonmaximal = other.nonmaximal & kept;
        self.revisited = other.revisited & kept;
        self.rmw_writes = other.rmw_writes & kept;
        self.pure = other.pure & kept;
        self.settling = if is_settled { other.settling } else { 0 };
        for t in 0..layout.threads() {
            self.origin[t] = other.origin[t];
            if !(self.asleep[t].is_empty() && other.asleep[t].is_empty()) {
                self.asleep[t].clone_from(&other.asleep[t]);
            }
            if other.origin[t] != INIT && !kept.contains(other.origin[t] as usize) {
                self.forget_thread(t, layout);
                continue;
            }
            let settled = if is_settled { other.settled[t] } else { 0 };
            let mut front = settled;
            while front < other.front[t] && kept.contains((layout.base[t] + front) as usize) {
                front += 1;
            }
            self.settled[t] = settled;
            self.was_started[t] = other.was_started[t];
            let first = settled + u16::from(same_settling && other.was_started[t]);
            if first <= front {
                let (from, to) = (first as usize, front as usize + 1);
                let slots = layout.slot_base[t] + from..layout.slot_base[t] + to;
                self.snapshots[slots.clone()].copy_from_slice(&other.snapshots[slots]);
                let regs = layout.regs(t, from).start..layout.regs(t, to - 1).end;
                self.regs[regs.clone()].copy_from_slice(&other.regs[regs]);
            }
            self.set_front(layout, t, front);
        }
    }

    /// Makes room for cells that were met by now.
    #[inline(always)]
    pub fn reserve_cells(&mut self, cells: usize) {
        if self.co.len() < cells {
            self.co.resize_with(cells, Vec::new);
            self.init_readers.resize(cells, Row::EMPTY);
        }
    }

    /// A thread that is not started, or not any more.
    pub fn forget_thread(&mut self, thread: usize, layout: &Layout) {
        self.origin[thread] = INIT;
        self.settled[thread] = 0;
        self.asleep[thread].clear();
        self.snapshots[layout.slot_base[thread]] = Snapshot::default();
        self.set_front(layout, thread, 0);
    }

    /// Called before the first read is added: what is there will stay. Choices and fences at the end may belong to a loop
    /// that a thread comes round in, so their slots are kept.
    pub fn settle(&mut self, trie: &Trie<M, W>, layout: &Layout, settling: u64) {
        self.settling = settling;
        self.settled_events = self.present;
        for t in 0..layout.threads() {
            let mut settled = self.front[t];
            let kind = |index: u16| trie.node(self.node[(layout.base[t] + index) as usize]).kind;
            while settled > 0 && matches!(kind(settled - 1), Kind::Choice | Kind::Fence(_)) {
                settled -= 1;
            }
            self.settled[t] = settled;
            self.was_started[t] = self.frontier(layout, t).next != Next::NotStarted;
        }
    }

    /// Takes a write out again; its place in coherence is gone already.
    pub fn remove_write(&mut self, event: EventId) {
        let e = event as usize;
        self.present.remove(e);
        self.writes.remove(e);
        self.fenced.remove(e);
        self.nonmaximal.remove(e);
        self.rmw_writes.remove(e);
        self.pure.remove(e);
    }

    /// Takes a read out again; its source does not know it any more.
    #[inline(always)]
    pub fn remove_read(&mut self, event: EventId) {
        let e = event as usize;
        self.present.remove(e);
        self.reads.remove(e);
        self.fenced.remove(e);
    }

    /// Sets the model's rows of an event.
    #[inline(always)]
    pub fn set_rows(&mut self, event: usize, rows: M::Rows) {
        if M::is_fenced(&rows) {
            self.fenced.insert(event);
        } else {
            self.fenced.remove(event);
        }
        self.rows[event] = rows;
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

    /// The committed reads of its own thread that read a write which is only now committed.
    pub fn own_readers(&self, write: EventId, layout: &Layout) -> Row<W> {
        let mut readers = Row::EMPTY;
        let thread = layout.thread_of[write as usize] as usize;
        for e in write + 1..layout.base[thread + 1] {
            if self.present.contains(e as usize) && self.rf[e as usize] == write {
                readers.insert(e as usize);
            }
        }
        readers
    }

    /// The events that a thread had considered when it went to sleep before the read that it stands before.
    #[inline(always)]
    pub fn considered(&self, thread: usize) -> Option<&Sleep<W>> {
        self.asleep[thread].last().filter(|sleep| sleep.at == self.front[thread])
    }

    /// Whether a thread sleeps and there is nothing new for it.
    #[inline(always)]
    pub fn is_asleep(&self, thread: usize) -> bool {
        self.considered(thread).is_some_and(|sleep| self.co[sleep.loc as usize].len() as u32 == sleep.writes)
    }

    /// Whether a thread that slept before the read that it is at may read `source`: see [`Graph::comes_of`].
    pub fn may_wake(&self, thread: usize, at: u16, source: EventId) -> bool {
        let own = self.asleep[thread].iter().rev().take_while(|sleep| sleep.at == at);
        own.filter(|sleep| sleep.cause != INIT).all(|sleep| self.comes_of(sleep, source))
    }

    /// Whether the write `source`, had it revisited the read that was put to sleep, would have found it reading the cause of the
    /// sleep, or a write of which that is true: from `source` on, go to the newest among what a write needs and what is older
    /// than the read, until the cause is met.
    pub fn comes_of(&self, sleep: &Sleep<W>, source: EventId) -> bool {
        let mut write = source;
        loop {
            if write == sleep.cause {
                return true;
            }
            if write == INIT || sleep.before.contains(write as usize) {
                return false;
            }
            let among = sleep.before | self.pre[write as usize];
            write = self.newest(sleep.loc, &among);
        }
    }

    /// The newest write to a cell among some events; `INIT` if there is none.
    pub fn newest(&self, loc: LocId, among: &Row<W>) -> EventId {
        let newest = self.co[loc as usize].iter().rev().find(|&&w| among.contains(w as usize));
        newest.copied().unwrap_or(INIT)
    }

    /// Forgets the sleep that is younger than a read.
    pub fn forget_sleep_after(&mut self, read: EventId) {
        for asleep in &mut self.asleep {
            while asleep.last().is_some_and(|sleep| sleep.before.contains(read as usize)) {
                asleep.pop();
            }
        }
    }

    /// Drops the non-maximal mark of events whose coherence-later writes are gone.
    pub fn refresh_maximality(&mut self, trie: &Trie<M, W>) {
        for e in self.nonmaximal.iter() {
            let node = trie.node(self.node[e]);
            let maximal = match node.kind {
                Kind::Read => self.is_maximal(self.rf[e], node.loc(), &self.before[e]),
                Kind::Write => self.is_maximal(e as EventId, node.loc(), &self.before[e]),
                _ => continue,
            };
            if maximal {
                self.nonmaximal.remove(e);
            }
        }
    }

    /// No write after `source` in coherence is in `among`.
    #[inline(always)]
    pub fn is_maximal(&self, source: EventId, loc: LocId, among: &Row<W>) -> bool {
        for &w in self.co[loc as usize].iter().rev() {
            if w == source {
                return true;
            }
            if among.contains(w as usize) {
                return false;
            }
        }
        true
    }

    /// Whether every thread has ended, or how it stopped.
    pub fn threads_next<'a>(&'a self, layout: &'a Layout) -> impl Iterator<Item = Next> + 'a {
        (0..layout.threads()).map(move |t| self.frontier(layout, t).next)
    }
}
