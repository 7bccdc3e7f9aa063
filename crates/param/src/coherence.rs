//! Coherence as a choice, for cells whose writes need not become visible in firing order (PSO; not those with one
//! writer or with locked writes only).
//!
//! A write of the run that may still matter is a node of the cube. Putting an event before the cube then decides, for
//! each pair on one cell:
//!
//! - new write, kept write: either order, unless they are of one process (then firing order). If the kept write comes
//!   first, so do the reads that took its value (`fr`).
//! - new write, unsatisfied read: the read takes the value (`rf`); or comes before the write (`fr`); or takes its value
//!   from a write that is coherence-after the new one and is still to be found: the new write is *skipped* by the read.
//!   A process never comes before its own earlier write.
//! - new read, kept write of another process: before it (`fr`), or it skips it.
//!
//! This is "SC per variable": with the program order of one process per cell, it leaves exactly the coherent choices.
//!
//! A write matters while it reaches an unsatisfied read, is skipped by one, or is before something that matters. A
//! write that does not matter is coherence-after everything still to be found, without loss: only edges into it would
//! be added, and nothing leads from it to what is still open.

use crate::cube::Cell;
use crate::memory::{Cycle, Event, Memory, Nodes, Read};
use crate::model::{EventKind, MemoryModel};
use crate::system::NONE;

/// A write that may matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteNode {
    /// Its node.
    pub node: u8,
    /// Who writes.
    pub proc: u8,
    /// What.
    pub cells: Vec<Cell>,
    /// Reads that took its value: the cell, the node, the process.
    pub readers: Vec<(Cell, u8, u8)>,
    /// Unsatisfied reads whose value comes from a coherence-later write.
    pub skipped: Vec<u8>,
}

/// What happens between the event and a read or write of the cube.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// Read `r` takes the event's value.
    Satisfy(usize),
    /// Read `r` comes before the event's write.
    Before(usize),
    /// Read `r` skips the event's write.
    Skip(usize),
    /// The event comes before kept write `w`.
    WriteAfter(usize),
    /// Kept write `w` comes before the event's write.
    WriteBefore(usize),
    /// The event's read `r` comes before kept write `w`.
    ReadBefore(usize),
    /// The event's read of the cell skips kept write `w`.
    ReadSkips(usize, Cell),
}

/// All ways to put an event before the cube; none if more than `limit` decisions would have to be tried.
pub fn put_before(
    memory: &Memory,
    model: &dyn MemoryModel,
    event: &Event,
    may_satisfy: &dyn Fn(usize) -> bool,
    limit: usize,
) -> Option<Vec<(Memory, u64)>> {
    let mut results = Vec::new();
    let decisions = decisions(memory, event, may_satisfy);
    let mut start = memory.clone();
    let node = start.add_node();
    let kind = event.kind();
    let entry = memory.entry(event.proc);
    let mut later = if kind == EventKind::Write { entry.write } else { entry.event };
    for cell in event.reads.iter().chain(&event.writes) {
        later |= memory.cell(cell);
    }
    start.after[node as usize] = memory.closed(later);
    start.reads.extend(event.reads.iter().map(|&cell| Read { proc: event.proc, cell, node }));
    let cells: Vec<Cell> = event.writes.iter().copied().filter(|c| event.is_reorderable(c)).collect();
    if !cells.is_empty() {
        let proc = event.proc;
        start.writes.push(WriteNode { node, proc, cells, readers: vec![], skipped: vec![] });
    }
    let search = Search { old: memory, event, node, model, left: std::cell::Cell::new(limit) };
    search.decide(&decisions, start, 0, &mut results);
    (search.left.get() > 0).then_some(results)
}

/// For each pair, the alternatives.
fn decisions(memory: &Memory, event: &Event, may_satisfy: &dyn Fn(usize) -> bool) -> Vec<Vec<Choice>> {
    let mut decisions = Vec::new();
    for (w, write) in memory.writes.iter().enumerate() {
        if event.writes.iter().any(|c| write.cells.contains(c)) {
            // A locked write is visible when it fires, before the later write fires.
            if write.proc == event.proc || event.rmw {
                decisions.push(vec![Choice::WriteAfter(w)]);
            } else {
                decisions.push(vec![Choice::WriteAfter(w), Choice::WriteBefore(w)]);
            }
        }
    }
    for (r, read) in memory.reads.iter().enumerate() {
        if event.writes.contains(&read.cell) {
            let mut choices = Vec::new();
            if may_satisfy(r) {
                choices.push(Choice::Satisfy(r));
            }
            if read.proc != event.proc {
                choices.push(Choice::Before(r));
            }
            if event.is_reorderable(&read.cell) {
                choices.push(Choice::Skip(r));
            }
            decisions.push(choices);
        }
    }
    for cell in &event.reads {
        for (w, write) in memory.writes.iter().enumerate() {
            if write.cells.contains(cell) {
                // The read sees memory, or its own buffer, before the other write fires: it skips that write only if
                // it reads from its own buffer.
                if write.proc == event.proc || event.rmw || event.fence {
                    decisions.push(vec![Choice::ReadBefore(w)]);
                } else {
                    decisions.push(vec![Choice::ReadBefore(w), Choice::ReadSkips(w, *cell)]);
                }
            }
        }
    }
    decisions
}

struct Search<'a> {
    old: &'a Memory,
    event: &'a Event,
    node: u8,
    model: &'a dyn MemoryModel,
    /// Decisions that may still be tried.
    left: std::cell::Cell<usize>,
}

impl Search<'_> {
    fn decide(
        &self,
        decisions: &[Vec<Choice>],
        at: Memory,
        satisfied: u64,
        results: &mut Vec<(Memory, u64)>,
    ) {
        let Some((first, rest)) = decisions.split_first() else {
            results.push((self.finish(at), satisfied));
            return;
        };
        for &choice in first {
            let Some(left) = self.left.get().checked_sub(1) else { return };
            self.left.set(left);
            let mut next = at.clone();
            let mut satisfied = satisfied;
            if let Choice::Satisfy(r) = choice {
                satisfied |= 1 << r;
            }
            if self.apply(&mut next, choice).is_ok() {
                self.decide(rest, next, satisfied, results);
            }
        }
    }

    fn apply(&self, memory: &mut Memory, choice: Choice) -> Result<(), Cycle> {
        let here = memory.writes.len().saturating_sub(1);
        let new_read = |cell: &Cell| {
            let at = self.event.reads.iter().position(|c| c == cell).unwrap_or(0);
            (self.old.reads.len() + at) as u8
        };
        match choice {
            Choice::Satisfy(r) => {
                let read = self.old.reads[r];
                // Coherence: every write that the read skips comes before this one.
                for w in 0..self.old.writes.len() {
                    if memory.writes[w].skipped.contains(&(r as u8)) {
                        self.write_before(memory, w)?;
                        memory.writes[w].skipped.retain(|s| *s != r as u8);
                    }
                }
                if read.proc != self.event.proc {
                    memory.add_edge(self.node, read.node)?;
                }
                // fr: the read comes before the writes that come after this one.
                for w in 0..self.old.writes.len() {
                    let write = &self.old.writes[w];
                    // The read of a read-modify-write does not come before its own write.
                    if write.node == read.node {
                        continue;
                    }
                    if write.cells.contains(&read.cell)
                        && memory.after[self.node as usize] >> write.node & 1 == 1
                    {
                        memory.add_edge(read.node, write.node)?;
                    }
                }
                if self.event.is_reorderable(&read.cell) {
                    memory.writes[here].readers.push((read.cell, read.node, read.proc));
                }
                Ok(())
            }
            Choice::Before(r) => memory.add_edge(self.old.reads[r].node, self.node),
            Choice::Skip(r) => {
                memory.writes[here].skipped.push(r as u8);
                Ok(())
            }
            Choice::WriteAfter(w) => memory.add_edge(self.node, self.old.writes[w].node),
            Choice::WriteBefore(w) => self.write_before(memory, w),
            Choice::ReadBefore(w) => memory.add_edge(self.node, self.old.writes[w].node),
            Choice::ReadSkips(w, cell) => {
                memory.writes[w].skipped.push(new_read(&cell));
                Ok(())
            }
        }
    }

    /// The kept write and the reads that took its value on a shared cell come before the event.
    fn write_before(&self, memory: &mut Memory, w: usize) -> Result<(), Cycle> {
        let write = &self.old.writes[w];
        memory.add_edge(write.node, self.node)?;
        for (cell, reader, proc) in &write.readers {
            if self.event.writes.contains(cell) {
                // SC per variable: a process does not read a write that its own earlier write replaces.
                if *proc == self.event.proc {
                    return Err(Cycle);
                }
                memory.add_edge(*reader, self.node)?;
            }
        }
        Ok(())
    }

    fn finish(&self, mut memory: Memory) -> Memory {
        let here = memory.after[self.node as usize] | 1 << self.node;
        memory.advance_entry(self.model, self.event, here);
        for cell in self.event.writes.iter().filter(|c| !self.event.is_reorderable(c)) {
            memory.add_to_cell(*cell, here);
        }
        memory.close_entries();
        memory
    }
}

/// Nodes that matter: those given, and writes before them or skipped, with their readers, until nothing is added.
pub fn live_nodes(memory: &Memory, mut live: Nodes) -> Nodes {
    loop {
        let before = live;
        for write in &memory.writes {
            if !write.skipped.is_empty()
                || memory.after[write.node as usize] & live != 0
                || live >> write.node & 1 == 1
            {
                live |= 1 << write.node;
                live |= write.readers.iter().fold(0, |set: Nodes, r| set | 1 << r.1);
            }
        }
        if live == before {
            return live;
        }
    }
}

/// New numbers of reads; forgotten ones are dropped.
pub fn renumber_marks(writes: &mut [WriteNode], numbers: &[u8]) {
    for write in writes {
        write.skipped = write.skipped.iter().map(|r| numbers[*r as usize]).filter(|r| *r != NONE).collect();
        write.skipped.sort();
    }
}

/// Keeps live nodes and renumbers them.
pub fn project(
    writes: &mut Vec<WriteNode>,
    live: Nodes,
    _: &dyn Fn(Nodes) -> Nodes,
    number: &dyn Fn(u8) -> u8,
) {
    writes.retain(|w| live >> w.node & 1 == 1);
    for write in writes {
        write.node = number(write.node);
        write.readers.retain(|r| live >> r.1 & 1 == 1);
        for reader in &mut write.readers {
            reader.1 = number(reader.1);
        }
        write.readers.sort();
        write.readers.dedup();
    }
}

/// Renames processes.
pub fn rename_procs(writes: &mut [WriteNode], rename: &dyn Fn(u8) -> u8, rename_cell: &dyn Fn(Cell) -> Cell) {
    for write in writes {
        write.proc = rename(write.proc);
        write.cells.iter_mut().for_each(|c| *c = rename_cell(*c));
        write.cells.sort();
        write.readers.iter_mut().for_each(|r| *r = (rename_cell(r.0), r.1, rename(r.2)));
        write.readers.sort();
    }
}
