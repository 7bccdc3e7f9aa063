//! A partial execution: the committed events, in a layout that makes adding, removing and copying events cheap.
//!
//! Event numbers are fixed: base of the thread plus index in program order. An entry of a per-event array means
//! something only while the event is `present` (under ARMv8 a read may read a write of its own thread that is not:
//! then `rf`, `readers` and the value are already final). Initial writes are no events; `INIT` stands for them.
//!
//! `invariants.rs` says what always holds between two visits, and checks it in debug builds: `before` is the order of the time
//! stamps, `pre` is closed, the coherence lists have the present writes, `readers` inverts `rf`. The explorer restores these
//! when it takes back what it added: an event is added and removed by the methods of this file only.

mod copy;
mod invariants;
mod layout;
mod sleep;
mod turns;

pub use layout::Layout;
use sleep::Sleepers;
pub use turns::LEVELS;
use turns::Turns;

use crate::models::model::MemoryModel;
use crate::reductions::equal_work::StateId;
use crate::search::row::{Row, RowWidth};
use crate::threads::interpret::{Next, Snapshot};
use crate::threads::memory::{LocId, Memory};
use crate::threads::path::{EventId, INIT, Kind, NodeId, Trie};
use fencepost_ir::Order;

/// What is known of an event, in one place.
struct Event<R, W: RowWidth> {
    /// Commit-before predecessors, closed.
    pre: Row<W>,
    /// Events with an earlier time stamp.
    before: Row<W>,
    /// Reads of a write.
    readers: Row<W>,
    /// The model's rows.
    rows: R,
    /// The value read, written or chosen.
    value: u64,
    /// What a read reads from.
    rf: EventId,
    /// The event's node in the path trie.
    node: NodeId,
    /// The memory order that the access turned out to have.
    order: Order,
}

impl<R: Clone, W: RowWidth> Clone for Event<R, W> {
    fn clone(&self) -> Self {
        let (pre, before, readers) = (self.pre.clone(), self.before.clone(), self.readers.clone());
        Event { pre, before, readers, rows: self.rows.clone(), ..*self }
    }

    #[inline(always)]
    fn clone_from(&mut self, other: &Self) {
        self.pre.clone_from(&other.pre);
        self.before.clone_from(&other.before);
        self.readers.clone_from(&other.readers);
        self.rows.clone_from(&other.rows);
        (self.value, self.rf, self.node, self.order) = (other.value, other.rf, other.node, other.order);
    }
}

impl<R: Default, W: RowWidth> Default for Event<R, W> {
    fn default() -> Self {
        Event {
            pre: Row::EMPTY,
            before: Row::EMPTY,
            readers: Row::EMPTY,
            rows: R::default(),
            value: 0,
            rf: INIT,
            node: 0,
            order: Order::Plain,
        }
    }
}

/// No mate.
pub const NO_MATE: u16 = u16::MAX;
/// Nothing that a mate could have begun with.
const NO_START: u32 = u32::MAX;

/// A partial execution.
pub struct Graph<M: MemoryModel<W>, W: RowWidth> {
    /// Committed events.
    present: Row<W>,
    /// What is known of each event.
    events: Vec<Event<M::Rows, W>>,
    /// Reads of a cell's initial value.
    init_readers: Vec<Row<W>>,
    /// Reads of a cell, whatever they read.
    cell_readers: Vec<Row<W>>,
    /// Writes to a cell, in coherence order.
    co: Vec<Vec<EventId>>,
    /// Committed reads.
    reads: Row<W>,
    /// Committed writes.
    writes: Row<W>,
    /// Committed events that the model's global check can go through; see [`MemoryModel::is_fenced`].
    fenced: Row<W>,
    /// Events of the order `SeqCst`, and perhaps some that are not there any more.
    seq_cst: Row<W>,
    /// Events that were not coherence-maximal among the events before them when they were added.
    nonmaximal: Row<W>,
    /// Reads that a later write revisited.
    revisited: Row<W>,
    /// Writes of read-modify-writes.
    rmw_writes: Row<W>,
    /// Those of them whose predecessors are those of their read.
    pure: Row<W>,
    /// Per thread: the event that started it; `INIT` for the initial threads and those that are not started.
    origin: Vec<EventId>,
    /// Per thread: what it began with, as a number, and the nearest lower thread that is like it; see `symmetry`.
    mates: Vec<(u32, u16)>,
    /// Per thread: how many events from its start on are committed without a gap.
    front: Vec<u32>,
    /// The threads by how urgent their next steps are; as `Snapshot` says.
    turns: Turns,
    /// Per thread: how many of its events are older than all reads. No revisit deletes them, so what came before the last
    /// of them is not needed any more.
    settled: Vec<u32>,
    /// Which settling this was: graphs of the same one agree in the events of then, and in the state after its
    /// settled events of each thread that was started by then.
    settling: u64,
    was_started: Vec<bool>,
    settled_events: Row<W>,
    /// Those of them whose rows may not be as they were then; see [`MemoryModel::take_place`].
    regrown: Row<W>,
    /// The rows of events as they were before others were put before them.
    outgrown: Vec<(EventId, M::Rows)>,
    /// The times at which threads went to sleep before a read; see `sleep`.
    asleep: Sleepers<W>,
    /// Cells that were accessed, by this graph or those that it was copied from.
    touched: Vec<LocId>,
    /// Those of them that were accessed since the settling.
    changed: Vec<LocId>,
    /// For each cell, whether it is in the two lists.
    listed: Vec<(bool, bool)>,
    /// Thread states by slot.
    snapshots: Vec<Snapshot>,
    /// Where their registers begin in `words`.
    registers: Vec<u32>,
    /// Registers of thread states, as a stack: what a visit adds is gone when it ends. A copy for a revisit borrows those of the
    /// graph that it is a copy of, which waits for its end.
    words: Vec<u64>,
    /// Registers of states that are kept, for the search to come back to; see `equal_work`. They are borrowed in the same way.
    kept: Vec<u64>,
}

/// In the place of registers: they are among those that are kept.
const KEPT: u32 = 1 << 31;

/// What is there.
impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// A graph without events.
    pub fn new(layout: &Layout) -> Graph<M, W> {
        let n = layout.events();
        let slots = layout.slot_base[layout.threads()];
        Graph {
            present: Row::EMPTY,
            events: vec![Event::default(); n],
            init_readers: Vec::new(),
            cell_readers: Vec::new(),
            co: Vec::new(),
            origin: vec![INIT; layout.threads()],
            reads: Row::EMPTY,
            writes: Row::EMPTY,
            fenced: Row::EMPTY,
            seq_cst: Row::EMPTY,
            nonmaximal: Row::EMPTY,
            revisited: Row::EMPTY,
            rmw_writes: Row::EMPTY,
            pure: Row::EMPTY,
            mates: vec![(NO_START, NO_MATE); layout.threads()],
            front: vec![0; layout.threads()],
            turns: Turns::new(layout.threads()),
            settled: vec![0; layout.threads()],
            settling: 0,
            was_started: vec![false; layout.threads()],
            settled_events: Row::EMPTY,
            regrown: Row::EMPTY,
            outgrown: Vec::new(),
            asleep: Sleepers::new(layout.threads()),
            touched: Vec::new(),
            changed: Vec::new(),
            listed: Vec::new(),
            snapshots: vec![Snapshot::default(); slots],
            registers: vec![0; slots],
            words: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Committed events.
    #[inline(always)]
    pub fn present(&self) -> &Row<W> {
        &self.present
    }

    /// What a read reads from.
    #[inline(always)]
    pub fn rf(&self, event: usize) -> EventId {
        self.events[event].rf
    }

    /// The value read, written or chosen.
    #[inline(always)]
    pub fn value(&self, event: usize) -> u64 {
        self.events[event].value
    }

    /// The event's node in the path trie.
    #[inline(always)]
    pub fn node(&self, event: usize) -> NodeId {
        self.events[event].node
    }

    /// The memory order that the access turned out to have.
    #[inline(always)]
    pub fn order(&self, event: usize) -> Order {
        self.events[event].order
    }

    /// Commit-before predecessors, closed.
    #[inline(always)]
    pub fn pre(&self, event: usize) -> &Row<W> {
        &self.events[event].pre
    }

    /// Events with an earlier time stamp.
    #[inline(always)]
    pub fn before(&self, event: usize) -> &Row<W> {
        &self.events[event].before
    }

    /// Reads of a write.
    #[inline(always)]
    pub fn readers(&self, write: usize) -> &Row<W> {
        &self.events[write].readers
    }

    /// The model's rows.
    #[inline(always)]
    pub fn rows(&self, event: usize) -> &M::Rows {
        &self.events[event].rows
    }

    /// How many cells there is room for.
    #[inline(always)]
    pub fn cells(&self) -> usize {
        self.co.len()
    }

    /// Reads of a cell's initial value.
    #[inline(always)]
    pub fn init_readers(&self, loc: LocId) -> &Row<W> {
        &self.init_readers[loc as usize]
    }

    /// Reads of a cell, whatever they read.
    #[inline(always)]
    pub fn cell_readers(&self, loc: LocId) -> &Row<W> {
        &self.cell_readers[loc as usize]
    }

    /// Writes to a cell, in coherence order.
    #[inline(always)]
    pub fn co(&self, loc: LocId) -> &[EventId] {
        &self.co[loc as usize]
    }

    /// Committed reads.
    #[inline(always)]
    pub fn reads(&self) -> &Row<W> {
        &self.reads
    }

    /// Committed writes.
    #[inline(always)]
    pub fn writes(&self) -> &Row<W> {
        &self.writes
    }

    /// Committed events that the model's global check can go through; see [`MemoryModel::is_fenced`].
    #[inline(always)]
    pub fn fenced(&self) -> &Row<W> {
        &self.fenced
    }

    /// Committed reads and writes of the order `SeqCst`.
    #[inline(always)]
    pub fn seq_cst_accesses(&self) -> Row<W> {
        (&self.seq_cst & &self.reads) | (&self.seq_cst & &self.writes)
    }

    /// Events that were not coherence-maximal among the events before them when they were added.
    #[inline(always)]
    pub fn nonmaximal(&self) -> &Row<W> {
        &self.nonmaximal
    }

    /// Reads that a later write revisited.
    #[inline(always)]
    pub fn revisited(&self) -> &Row<W> {
        &self.revisited
    }

    /// Writes of read-modify-writes.
    #[inline(always)]
    pub fn rmw_writes(&self) -> &Row<W> {
        &self.rmw_writes
    }

    /// Those of them whose predecessors are those of their read.
    #[inline(always)]
    pub fn pure(&self) -> &Row<W> {
        &self.pure
    }

    /// The event that started a thread; `INIT` for the initial threads and those that are not started.
    #[inline(always)]
    pub fn origin(&self, thread: usize) -> EventId {
        self.origin[thread]
    }

    /// The nearest lower thread that nobody can tell from this one.
    #[inline(always)]
    pub fn mate(&self, thread: usize) -> Option<usize> {
        let mate = self.mates[thread].1;
        (mate != NO_MATE).then_some(mate as usize)
    }

    /// Whether some thread has a mate.
    pub fn has_mates(&self) -> bool {
        self.mates.iter().any(|&(_, mate)| mate != NO_MATE)
    }

    /// What a thread that may have mates began with, as a number.
    pub fn start(&self, thread: usize) -> Option<u32> {
        let start = self.mates[thread].0;
        (start != NO_START).then_some(start)
    }

    /// How many events of a thread are committed without a gap.
    #[inline(always)]
    pub fn front(&self, thread: usize) -> u32 {
        self.front[thread]
    }

    /// The threads by how urgent their next steps are; as `Snapshot` says.
    #[inline(always)]
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// How many events of a thread are older than all reads.
    #[inline(always)]
    pub fn settled(&self, thread: usize) -> u32 {
        self.settled[thread]
    }

    /// The state of a thread after `index` of its events.
    #[inline(always)]
    pub fn snapshot(&self, layout: &Layout, thread: usize, index: usize) -> &Snapshot {
        &self.snapshots[layout.slot_base[thread] + index]
    }

    /// The registers of a thread after `index` of its events.
    #[inline(always)]
    pub fn registers(&self, layout: &Layout, thread: usize, index: usize) -> &[u64] {
        let from = self.registers[layout.slot_base[thread] + index];
        let (words, from) = match from & KEPT {
            0 => (&self.words, from as usize),
            _ => (&self.kept, (from & !KEPT) as usize),
        };
        &words[from..from + layout.stride[thread]]
    }

    /// The number of the state of a thread after `index` of its events, if it is kept.
    #[inline(always)]
    pub fn state(&self, layout: &Layout, thread: usize, index: usize) -> Option<StateId> {
        let from = self.registers[layout.slot_base[thread] + index];
        (from & KEPT != 0).then_some(from)
    }

    /// The state of a thread at its first gap.
    #[inline(always)]
    pub fn frontier(&self, layout: &Layout, thread: usize) -> &Snapshot {
        self.snapshot(layout, thread, self.front[thread] as usize)
    }

    /// The registers of a thread at its first gap.
    pub fn frontier_regs(&self, layout: &Layout, thread: usize) -> &[u64] {
        self.registers(layout, thread, self.front[thread] as usize)
    }

    /// The reads of a source at a cell.
    #[inline(always)]
    pub fn readers_of(&self, source: EventId, loc: LocId) -> &Row<W> {
        if source == INIT { &self.init_readers[loc as usize] } else { &self.events[source as usize].readers }
    }

    /// Whether a write, or a read of it, is in a set.
    #[inline(always)]
    pub fn is_known(&self, write: EventId, set: &Row<W>) -> bool {
        set.contains(write as usize) || self.events[write as usize].readers.meets(set)
    }

    /// Place of a write in its coherence list.
    #[inline(always)]
    pub fn position(&self, write: EventId, loc: LocId) -> Option<usize> {
        self.co[loc as usize].iter().rposition(|&w| w == write)
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
        last.map_or(memory.init(loc), |&w| self.events[w as usize].value)
    }

    /// The committed reads of its own thread that read a write which is only now committed.
    pub fn own_readers(&self, write: EventId, layout: &Layout) -> Row<W> {
        let mut readers = Row::EMPTY;
        let thread = layout.thread_of[write as usize] as usize;
        for e in write + 1..layout.base[thread + 1] {
            if self.present.contains(e as usize) && self.events[e as usize].rf == write {
                readers.insert(e as usize);
            }
        }
        readers
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

/// Events come and go.
impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// Makes room for cells that were met by now.
    #[inline(always)]
    pub fn reserve_cells(&mut self, cells: usize) {
        if self.co.len() < cells {
            self.co.resize_with(cells, Vec::new);
            self.init_readers.resize(cells, Row::EMPTY);
            self.cell_readers.resize(cells, Row::EMPTY);
            self.listed.resize(cells, (false, false));
        }
    }

    /// Notes an access to a cell.
    #[inline(always)]
    fn change(&mut self, loc: LocId) {
        let (touched, changed) = &mut self.listed[loc as usize];
        if !std::mem::replace(changed, true) {
            self.changed.push(loc);
            if !std::mem::replace(touched, true) {
                self.touched.push(loc);
            }
        }
    }

    /// Puts an event into the graph with the newest time stamp, without its source, place in coherence, order or rows.
    #[inline(always)]
    pub fn add(&mut self, event: EventId, node: NodeId, value: u64) {
        let e = event as usize;
        self.events[e].node = node;
        self.events[e].value = value;
        self.events[e].rf = INIT;
        self.events[e].before.clone_from(&self.present);
        self.present.insert(e);
    }

    /// What an absent event would be, for a thread that is only tried out.
    pub fn try_out(&mut self, event: EventId, node: NodeId, value: u64) {
        self.events[event as usize].node = node;
        self.events[event as usize].value = value;
    }

    /// A present event is that of another node of the same cell.
    #[inline(always)]
    pub fn set_node(&mut self, event: EventId, node: NodeId) {
        self.events[event as usize].node = node;
    }

    /// Makes a present event a read of `source`, with its value.
    #[inline(always)]
    pub fn connect(&mut self, read: EventId, source: EventId, loc: LocId, init: u64) {
        let e = read as usize;
        self.change(loc);
        self.events[e].rf = source;
        self.reads.insert(e);
        self.cell_readers[loc as usize].insert(e);
        if source == INIT {
            self.events[e].value = init;
            self.init_readers[loc as usize].insert(e);
        } else {
            self.events[e].value = self.events[source as usize].value;
            self.events[source as usize].readers.insert(e);
        }
    }

    /// The source of a read does not know it any more.
    #[inline(always)]
    pub fn disconnect(&mut self, read: EventId, loc: LocId) {
        self.cell_readers[loc as usize].remove(read as usize);
        match self.events[read as usize].rf {
            INIT => self.init_readers[loc as usize].remove(read as usize),
            source => self.events[source as usize].readers.remove(read as usize),
        }
    }

    /// Makes a present event a write, so far without a place in coherence.
    #[inline(always)]
    pub fn make_write(&mut self, event: EventId, readers: Row<W>) {
        self.writes.insert(event as usize);
        self.events[event as usize].readers = readers;
    }

    /// Sets the memory order of an access.
    #[inline(always)]
    pub fn set_order(&mut self, event: EventId, order: Order) {
        self.events[event as usize].order = order;
        if order == Order::SeqCst {
            self.seq_cst.insert(event as usize);
        } else {
            self.seq_cst.remove(event as usize);
        }
    }

    /// Sets the predecessors of an event.
    #[inline(always)]
    pub fn set_pre(&mut self, event: EventId, pre: Row<W>) {
        self.events[event as usize].pre = pre;
    }

    /// The model's rows of an event, to be written; [`Graph::note_fenced`] is to be called then.
    #[inline(always)]
    pub fn rows_mut(&mut self, event: usize) -> &mut M::Rows {
        &mut self.events[event].rows
    }

    /// The same, and those of another event to be read.
    #[inline(always)]
    pub fn rows_and(&mut self, event: usize, other: usize) -> (&mut M::Rows, &M::Rows) {
        let Ok([own, other]) = self.events.get_disjoint_mut([event, other]) else {
            unreachable!("an event is not before itself");
        };
        (&mut own.rows, &other.rows)
    }

    /// Notes whether the rows of an event give it a part in the model's global check.
    #[inline(always)]
    pub fn note_fenced(&mut self, event: EventId) {
        if M::is_fenced(self.rows(event as usize)) {
            self.fenced.insert(event as usize);
        } else {
            self.fenced.remove(event as usize);
        }
    }

    /// A read that was taken out comes back with its old time stamp.
    pub fn put_back(&mut self, read: EventId) {
        self.present.insert(read as usize);
    }

    /// The event is younger than that one, although it is put back later.
    pub fn add_before(&mut self, event: EventId, older: EventId) {
        self.events[event as usize].before.insert(older as usize);
    }

    /// Marks an event that is not coherence-maximal.
    #[inline(always)]
    pub fn mark_nonmaximal(&mut self, event: EventId) {
        self.nonmaximal.insert(event as usize);
    }

    /// Takes the mark back.
    #[inline(always)]
    pub fn unmark_nonmaximal(&mut self, event: EventId) {
        self.nonmaximal.remove(event as usize);
    }

    /// Marks a read that a later write revisited.
    pub fn mark_revisited(&mut self, read: EventId) {
        self.revisited.insert(read as usize);
    }

    /// Takes the mark back.
    pub fn unmark_revisited(&mut self, read: EventId) {
        self.revisited.remove(read as usize);
    }

    /// Marks the write of a read-modify-write; `pure`: its predecessors are those of its read.
    #[inline(always)]
    pub fn mark_rmw_write(&mut self, write: EventId, pure: bool) {
        self.rmw_writes.insert(write as usize);
        if pure {
            self.pure.insert(write as usize);
        }
    }

    /// A write becomes the last one of its cell; its place.
    #[inline(always)]
    pub fn push_write(&mut self, loc: LocId, write: EventId) -> usize {
        self.change(loc);
        self.co[loc as usize].push(write);
        self.co[loc as usize].len() - 1
    }

    /// Moves the write at place `at` of a cell one place down, unless the write below, or a read of it, comes before.
    #[inline(always)]
    pub fn bubble_down(&mut self, loc: LocId, at: &mut usize, before: &Row<W>) -> bool {
        if *at == 0 || self.is_known(self.co[loc as usize][*at - 1], before) {
            return false;
        }
        self.co[loc as usize].swap(*at - 1, *at);
        *at -= 1;
        true
    }

    /// Takes the write at place `at` of a cell out of coherence.
    #[inline(always)]
    pub fn take_write(&mut self, loc: LocId, at: usize) {
        self.co[loc as usize].remove(at);
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

    /// Takes out an event that is neither a read nor a write.
    #[inline(always)]
    pub fn remove_single(&mut self, event: EventId) {
        let e = event as usize;
        self.present.remove(e);
        self.fenced.remove(e);
        self.nonmaximal.remove(e);
    }

    /// Drops the non-maximal mark of events whose coherence-later writes are gone.
    pub fn refresh_maximality(&mut self, trie: &Trie<M, W>) {
        for e in self.nonmaximal.clone().iter() {
            let node = trie.node(self.events[e].node);
            let maximal = match node.kind {
                Kind::Read => self.is_maximal(self.events[e].rf, node.loc(), &self.events[e].before),
                Kind::Write => self.is_maximal(e as EventId, node.loc(), &self.events[e].before),
                _ => continue,
            };
            if maximal {
                self.nonmaximal.remove(e);
            }
        }
    }
}

/// Rows that say what comes before an event in an order that coherence is part of.
impl<M: MemoryModel<W, Rows = Row<W>>, W: RowWidth> Graph<M, W> {
    /// Puts events, which are closed, before a write and all that comes after it.
    pub fn put_before(&mut self, before: &Row<W>, write: EventId) {
        let w = write as usize;
        for e in self.present.clone().iter() {
            let rows = &mut self.events[e].rows;
            if (e == w || rows.contains(w)) && !before.is_within(rows) {
                self.outgrown.push((e as EventId, rows.clone()));
                *rows |= before;
                if self.settled_events.contains(e) {
                    self.regrown.insert(e);
                }
            }
        }
    }
}

/// What was done to rows is undone.
impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// How many rows have been changed: to be handed to [`Graph::take_back`].
    #[inline(always)]
    pub fn outgrown(&self) -> usize {
        self.outgrown.len()
    }

    /// Rows that were changed since are as they were.
    #[inline(always)]
    pub fn take_back(&mut self, outgrown: usize) {
        while self.outgrown.len() > outgrown {
            if let Some((event, rows)) = self.outgrown.pop() {
                self.events[event as usize].rows = rows;
            }
        }
    }
}

/// Threads come and go.
impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// Moves the first gap of a thread.
    #[inline(always)]
    pub fn set_front(&mut self, layout: &Layout, thread: usize, front: u32) {
        self.front[thread] = front;
        self.turns.set(thread, self.frontier(layout, thread).urgency);
    }

    /// What a thread began with, and its nearest mate.
    pub fn set_mate(&mut self, thread: usize, start: u32, mate: u16) {
        self.mates[thread] = (start, mate);
    }

    /// A thread is started by an event; `INIT` for the initial threads.
    pub fn set_origin(&mut self, thread: usize, origin: EventId) {
        self.origin[thread] = origin;
    }

    /// The state of a thread after `index` of its events.
    #[inline(always)]
    pub fn set_snapshot(&mut self, layout: &Layout, thread: usize, index: usize, snapshot: Snapshot) {
        self.snapshots[layout.slot_base[thread] + index] = snapshot;
    }

    /// Its registers then.
    #[inline(always)]
    pub fn registers_mut(&mut self, layout: &Layout, thread: usize, index: usize) -> &mut [u64] {
        let from = self.registers[layout.slot_base[thread] + index] as usize;
        &mut self.words[from..from + layout.stride[thread]]
    }

    /// Its registers after one more event begin as those before it.
    #[inline(always)]
    pub fn copy_registers(&mut self, layout: &Layout, thread: usize, index: usize) {
        let slot = layout.slot_base[thread] + index;
        let (from, to, stride) = (self.registers[slot], self.words.len(), layout.stride[thread]);
        if from & KEPT == 0 {
            self.words.extend_from_within(from as usize..from as usize + stride);
        } else {
            let from = (from & !KEPT) as usize;
            self.words.extend_from_slice(&self.kept[from..from + stride]);
        }
        self.registers[slot + 1] = to as u32;
    }

    /// Keeps the registers of a state, which were the last to be made, if no more than `most` words are kept then.
    pub fn keep_registers(
        &mut self,
        layout: &Layout,
        thread: usize,
        index: usize,
        most: usize,
    ) -> Option<StateId> {
        let slot = layout.slot_base[thread] + index;
        let (from, to) = (self.registers[slot] as usize, self.kept.len());
        if to + layout.stride[thread] > most {
            return None;
        }
        self.kept.extend_from_slice(&self.words[from..from + layout.stride[thread]]);
        self.words.truncate(from);
        self.registers[slot] = to as u32 | KEPT;
        Some(self.registers[slot])
    }

    /// Whether the registers that a thread begins with are those of a state that is kept.
    pub fn is_state(&self, layout: &Layout, thread: usize, state: StateId) -> bool {
        let from = (state & !KEPT) as usize;
        self.kept[from..from + layout.stride[thread]] == *self.registers(layout, thread, 0)
    }

    /// The registers of a thread after `index` of its events are those of a state that is kept.
    #[inline(always)]
    pub fn set_state(&mut self, layout: &Layout, thread: usize, index: usize, state: StateId) {
        self.registers[layout.slot_base[thread] + index] = state;
    }

    /// Registers for a thread that begins.
    pub fn first_registers(&mut self, layout: &Layout, thread: usize) -> &mut [u64] {
        let to = self.words.len();
        self.words.resize(to + layout.stride[thread], 0);
        self.registers[layout.slot_base[thread]] = to as u32;
        &mut self.words[to..]
    }

    /// How many words of registers there are: to be handed to [`Graph::drop_registers`].
    #[inline(always)]
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Drops the registers of states that were added since.
    #[inline(always)]
    pub fn drop_registers(&mut self, words: usize) {
        self.words.truncate(words);
    }

    /// A thread that is not started, or not any more.
    pub fn forget_thread(&mut self, thread: usize, layout: &Layout) {
        self.origin[thread] = INIT;
        self.mates[thread] = (NO_START, NO_MATE);
        self.settled[thread] = 0;
        self.asleep.clear(thread);
        self.snapshots[layout.slot_base[thread]] = Snapshot::default();
        self.set_front(layout, thread, 0);
    }
}
