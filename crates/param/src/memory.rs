//! What a cube knows of events and `ghb`: the reads that no write satisfies yet, and how the events that transitions
//! still to be found (earlier in the run) would be ordered with them.
//!
//! The paper keeps events and `ghb` as literals. Only three things about them can ever matter again: which events
//! with unsatisfied reads come after which, which of them come after *any* earlier event of a process, and which come
//! after *any* earlier access to a cell. So an event without unsatisfied reads is forgotten at once and survives in the
//! sets below; this is the garbage collection of events, and it makes cubes with the same meaning look the same.
//!
//! A *node* is a class of `ghb`-equal events: the reads of one transition (or of the bad state), and its writes if it
//! is a read-modify-write. Sets of nodes are bit sets; `after` is transitively closed and has no cycle.
//!
//! Where coherence does not follow the firing order (PSO), writes that may matter are nodes too, see `coherence`.

use crate::coherence::WriteNode;
use crate::cube::Cell;
use crate::model::{EventKind, MemoryModel};
use crate::system::{NONE, SymId};
use std::sync::Arc;

/// A set of nodes.
pub type Nodes = u64;
/// Most nodes of a cube.
pub const MAX_NODES: usize = 60;
/// Most unsatisfied reads of a cube: the choices of the reads that a write satisfies are enumerated.
pub const MAX_READS: usize = 20;

/// A read that no write satisfies yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Read {
    /// Who reads.
    pub proc: u8,
    /// What.
    pub cell: Cell,
    /// Its node.
    pub node: u8,
}

/// What earlier events of a process come before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Nodes after any earlier read, fence or read-modify-write.
    pub event: Nodes,
    /// Nodes after any earlier plain write.
    pub write: Nodes,
}

/// Events and `ghb` of a cube.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Unsatisfied reads.
    pub reads: Vec<Read>,
    /// For each node, the nodes after it.
    pub after: Vec<Nodes>,
    /// For each process; shorter than the number of processes when the rest is empty.
    pub entries: Vec<Entry>,
    /// For every process, also those that the cube does not name: the reads of the bad state come after whatever
    /// anyone did before. (The paper orders them with their own process only; the machine does not.)
    pub everyone: Entry,
    /// For each cell that is written later: nodes after any earlier access to it. Sorted, no empty sets.
    pub cells: Vec<(Cell, Nodes)>,
    /// Writes that may matter, where coherence is a choice.
    pub writes: Vec<WriteNode>,
}

/// The event of a transition that is about to be put before the cube.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who acts.
    pub proc: u8,
    /// Cells read.
    pub reads: Vec<Cell>,
    /// Cells written.
    pub writes: Vec<Cell>,
    /// The transition reads and writes: locked.
    pub rmw: bool,
    /// The guard has a fence.
    pub fence: bool,
    /// Symbols whose cells may become visible in another order than that of firing.
    pub reorderable: Arc<[SymId]>,
}

impl Event {
    /// Whether the order of writes to the cell is a choice.
    pub fn is_reorderable(&self, cell: &Cell) -> bool {
        self.reorderable.contains(&cell.0)
    }

    /// Its kind for program order.
    pub fn kind(&self) -> EventKind {
        if self.rmw {
            EventKind::Fence
        } else if !self.writes.is_empty() {
            EventKind::Write
        } else {
            EventKind::Read
        }
    }
}

/// Elements of a set of nodes.
pub fn elements(mut set: Nodes) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as u8;
        set &= set.wrapping_sub(1);
        (first < 64).then_some(first)
    })
}

/// A cycle in `ghb`: the execution is impossible.
#[derive(Debug)]
pub struct Cycle;

impl Memory {
    /// Adds a node without any order.
    pub fn add_node(&mut self) -> u8 {
        self.after.push(0);
        self.after.len() as u8 - 1
    }

    /// A set with everything after its members.
    pub fn closed(&self, set: Nodes) -> Nodes {
        elements(set).fold(set, |all, n| all | self.after[n as usize])
    }

    /// Adds `ghb(a, b)`.
    pub fn add_edge(&mut self, a: u8, b: u8) -> Result<(), Cycle> {
        let later = self.after[b as usize] | 1 << b;
        if later >> a & 1 == 1 {
            return Err(Cycle);
        }
        for n in 0..self.after.len() {
            if n == a as usize || self.after[n] >> a & 1 == 1 {
                self.after[n] |= later;
            }
        }
        Ok(())
    }

    /// Entry points of a process.
    pub fn entry(&self, proc: u8) -> Entry {
        let own = self.entries.get(proc as usize).copied().unwrap_or_default();
        Entry { event: own.event | self.everyone.event, write: own.write | self.everyone.write }
    }

    pub(crate) fn entry_mut(&mut self, proc: u8) -> &mut Entry {
        if self.entries.len() <= proc as usize {
            self.entries.resize(proc as usize + 1, Entry::default());
        }
        &mut self.entries[proc as usize]
    }

    /// Nodes after any earlier access to a cell.
    pub fn cell(&self, cell: &Cell) -> Nodes {
        self.cells.binary_search_by_key(cell, |c| c.0).map_or(0, |i| self.cells[i].1)
    }

    pub(crate) fn add_to_cell(&mut self, cell: Cell, nodes: Nodes) {
        match self.cells.binary_search_by_key(&cell, |c| c.0) {
            Ok(i) => self.cells[i].1 |= nodes,
            Err(i) if nodes != 0 => self.cells.insert(i, (cell, nodes)),
            Err(_) => {}
        }
    }

    /// Puts an event before everything, in every way that leaves `ghb` without a cycle [Cubicle-W, section 4:
    /// `extend_ghb` and `rffr`]. `may_satisfy(r)` tells whether the value written fits read `r`. Each result comes with
    /// the set of reads that the event's writes satisfy. New reads are appended to `reads`. None if coherence is a choice
    /// and more than `limit` decisions would have to be tried.
    pub fn put_before(
        &self,
        model: &dyn MemoryModel,
        event: &Event,
        may_satisfy: &dyn Fn(usize) -> bool,
        limit: usize,
    ) -> Option<Vec<(Memory, u64)>> {
        if !event.reorderable.is_empty() {
            return crate::coherence::put_before(self, model, event, may_satisfy, limit);
        }
        let touched: Vec<usize> =
            (0..self.reads.len()).filter(|&r| event.writes.contains(&self.reads[r].cell)).collect();
        let mut forced = 0u64;
        let mut open = Vec::new();
        for r in touched {
            if self.reads[r].proc != event.proc {
                open.push(r);
            } else if may_satisfy(r) {
                // The process sees its own latest write.
                forced |= 1 << r;
            } else {
                return Some(vec![]);
            }
        }
        let mut results = Vec::new();
        'choices: for choice in 0..1u64 << open.len() {
            let mut satisfied = forced;
            for (bit, &r) in open.iter().enumerate() {
                if choice >> bit & 1 == 1 {
                    if !may_satisfy(r) {
                        continue 'choices;
                    }
                    satisfied |= 1 << r;
                }
            }
            let external: Vec<usize> = open.iter().copied().filter(|&r| satisfied >> r & 1 == 1).collect();
            let missed: Vec<usize> = open.iter().copied().filter(|&r| satisfied >> r & 1 == 0).collect();
            results.extend(self.extend(model, event, &external, &missed).ok().map(|m| (m, satisfied)));
        }
        Some(results)
    }

    /// `extend_ghb`, for one choice of the reads that take their value from the event and those that come before it.
    fn extend(
        &self,
        model: &dyn MemoryModel,
        event: &Event,
        external: &[usize],
        missed: &[usize],
    ) -> Result<Memory, Cycle> {
        let mut result = self.clone();
        let node = result.add_node();
        let kind = event.kind();
        // ppo and fence
        let entry = self.entry(event.proc);
        let mut later = if kind == EventKind::Write { entry.write } else { entry.event };
        // co and fr: the cell's later writes come after this access
        for cell in event.reads.iter().chain(&event.writes) {
            later |= self.cell(cell);
        }
        // rfe
        for &r in external {
            later |= 1 << self.reads[r].node;
        }
        let later = self.closed(later);
        result.after[node as usize] = later;
        // fr: a read that misses the write comes before it
        for &r in missed {
            result.add_edge(self.reads[r].node, node)?;
        }
        let here = later | 1 << node;
        result.advance_entry(model, event, here);
        for cell in &event.writes {
            result.add_to_cell(*cell, here);
        }
        if !missed.is_empty() {
            result.close_entries();
        }
        result.reads.extend(event.reads.iter().map(|&cell| Read { proc: event.proc, cell, node }));
        Ok(result)
    }

    /// Entry sets are closed under `after`, so that forgetting a node loses nothing behind it.
    pub(crate) fn close_entries(&mut self) {
        for p in 0..self.entries.len() {
            let Entry { event, write } = self.entries[p];
            self.entries[p] = Entry { event: self.closed(event), write: self.closed(write) };
        }
        let Entry { event, write } = self.everyone;
        self.everyone = Entry { event: self.closed(event), write: self.closed(write) };
        for c in 0..self.cells.len() {
            self.cells[c].1 = self.closed(self.cells[c].1);
        }
    }

    /// A fence alone.
    pub fn put_fence_before(&self, proc: u8) -> Memory {
        let mut result = self.clone();
        let event = self.entry(proc).event;
        result.entry_mut(proc).write |= event;
        result
    }

    /// Events before this one come before it and all that it comes before.
    pub(crate) fn advance_entry(&mut self, model: &dyn MemoryModel, event: &Event, here: Nodes) {
        let mut entry = self.entry(event.proc);
        entry.event |= here;
        if model.write_before(event.kind()) {
            entry.write |= here;
        }
        if event.fence {
            entry.write |= entry.event;
        }
        *self.entry_mut(event.proc) = entry;
    }

    /// Keeps the reads marked, and the nodes that matter then. Returns the new numbers of the reads.
    pub fn retain_reads(&mut self, keep: &[bool]) -> Vec<u8> {
        let mut next = 0;
        let numbers: Vec<u8> = keep
            .iter()
            .map(|&k| {
                next += u8::from(k);
                if k { next - 1 } else { NONE }
            })
            .collect();
        let mut at = 0;
        self.reads.retain(|_| {
            at += 1;
            keep[at - 1]
        });
        crate::coherence::renumber_marks(&mut self.writes, &numbers);
        let mut live: Nodes = self.reads.iter().fold(0, |set, r| set | 1 << r.node);
        live = crate::coherence::live_nodes(self, live);
        self.retain_nodes(live);
        numbers
    }

    fn retain_nodes(&mut self, live: Nodes) {
        if live.count_ones() as usize == self.after.len() {
            self.cells.retain(|c| c.1 != 0);
            return;
        }
        let project = |set: Nodes| {
            elements(set & live).fold(0, |s: Nodes, n| s | 1 << (live & ((1 << n) - 1)).count_ones())
        };
        let number = |n: u8| (live & ((1 << n) - 1)).count_ones() as u8;
        self.after = elements(live).map(|n| project(self.after[n as usize])).collect();
        for read in &mut self.reads {
            read.node = number(read.node);
        }
        for entry in self.entries.iter_mut().chain([&mut self.everyone]) {
            *entry = Entry { event: project(entry.event), write: project(entry.write) };
        }
        while self.entries.last().is_some_and(|e| *e == Entry::default()) {
            self.entries.pop();
        }
        for cell in &mut self.cells {
            cell.1 = project(cell.1);
        }
        self.cells.retain(|c| c.1 != 0);
        crate::coherence::project(&mut self.writes, live, &project, &number);
    }

    /// Calls `f` on every process that occurs.
    pub fn for_each_proc(&self, f: &mut dyn FnMut(u8)) {
        for read in &self.reads {
            f(read.proc);
            read.cell.1.iter().for_each(|p| f(*p));
        }
        for (p, entry) in self.entries.iter().enumerate() {
            if *entry != Entry::default() {
                f(p as u8);
            }
        }
        for (cell, _) in &self.cells {
            cell.1.iter().for_each(|p| f(*p));
        }
        for write in &self.writes {
            f(write.proc);
            write.cells.iter().for_each(|c| c.1.iter().for_each(|p| f(*p)));
            write.readers.iter().for_each(|r| f(r.2));
        }
    }

    /// Renames processes.
    pub fn rename_procs(&mut self, numbers: &[u8]) {
        let rename = |p: u8| if p == NONE { NONE } else { numbers[p as usize] };
        let rename_cell = |cell: Cell| (cell.0, cell.1.map(rename));
        for read in &mut self.reads {
            *read = Read { proc: rename(read.proc), cell: rename_cell(read.cell), node: read.node };
        }
        let old = std::mem::take(&mut self.entries);
        for (p, entry) in old.into_iter().enumerate() {
            if entry != Entry::default() {
                *self.entry_mut(numbers[p]) = entry;
            }
        }
        for cell in &mut self.cells {
            cell.0 = rename_cell(cell.0);
        }
        self.cells.sort();
        crate::coherence::rename_procs(&mut self.writes, &rename, &rename_cell);
    }

    /// Whether all unsatisfied reads may take the initial value.
    pub fn may_be_initial(&self) -> bool {
        self.writes.iter().all(|w| w.skipped.is_empty())
    }
}
