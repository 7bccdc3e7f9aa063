//! Accesses to plain memory: no steps, but two of them that nothing orders are a data race.
//!
//! Of each cell the last read and the last write of every thread are known: an earlier one is ordered with whatever a later one of its thread is.

use super::{Here, Run, heap};
use fencepost_answer::FindingKind;
use fencepost_explore::{At, Past};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;

#[derive(Clone, Copy)]
struct Access {
    at: At,
    here: Here,
}

#[derive(Default)]
struct Record {
    reads: Vec<Access>,
    writes: Vec<Access>,
    /// Atomic ones, by their events.
    atomic: Vec<Access>,
}

/// What is known of plain memory in a run.
#[derive(Default)]
pub struct Plain {
    records: Vec<Record>,
    used: usize,
    by_address: BTreeMap<usize, usize>,
}

fn note(list: &mut Vec<Access>, at: At, here: Here) {
    match list.iter_mut().find(|known| known.at.thread == at.thread) {
        Some(known) => *known = Access { at, here },
        None => list.push(Access { at, here }),
    }
}

impl Plain {
    /// A cell that nobody has accessed.
    pub fn add(&mut self, address: usize) -> usize {
        if self.used == self.records.len() {
            self.records.push(Record::default());
        }
        let record = &mut self.records[self.used];
        record.reads.clear();
        record.writes.clear();
        record.atomic.clear();
        self.by_address.insert(address, self.used);
        self.used += 1;
        self.used - 1
    }

    /// Forgets all cells.
    pub fn clear(&mut self) {
        self.used = 0;
        self.by_address.clear();
    }

    /// Notes an access; gives back one that nothing orders with it, and whether that is a write.
    fn access(
        &mut self,
        past: &dyn Past,
        record: usize,
        writes: bool,
        at: At,
        here: Here,
    ) -> Option<(bool, Here)> {
        let record = &mut self.records[record];
        let races = |known: &&Access| !past.is_ordered(known.at, at);
        let other = record.writes.iter().find(races).map(|known| (true, known.here));
        let other = other.or_else(|| {
            let reads = writes.then(|| record.reads.iter().find(races));
            reads.flatten().map(|known| (false, known.here))
        });
        note(if writes { &mut record.writes } else { &mut record.reads }, at, here);
        other
    }

    /// An access to memory in that place that is not over.
    pub fn unordered_in(
        &self,
        past: &dyn Past,
        start: usize,
        size: usize,
        now: At,
    ) -> Option<(&'static str, Here)> {
        self.by_address.range(start..start + size).find_map(|(_, &record)| {
            let record = &self.records[record];
            let plain =
                record.reads.iter().chain(&record.writes).find(|known| !past.is_ordered(known.at, now));
            let atomic = || record.atomic.iter().find(|known| !past.is_over(known.at, now));
            plain
                .map(|known| ("an access", known.here))
                .or_else(|| Some(("an atomic access", atomic()?.here)))
        })
    }
}

/// Notes an access to plain memory, and ends the run if it is a race. `id` lies in the cell.
pub fn access(id: &Cell<[u64; 2]>, writes: bool, here: Here) {
    if !super::makes_steps() {
        return;
    }
    let address = &raw const *id as usize;
    let found = super::with(|run| {
        if writes {
            run.note_write();
        }
        if let Some(found) = misplaced(run, address, here) {
            return Some(found);
        }
        let record = run.record_of(id)?;
        let now = run.now();
        let past = run.past.map(|past| {
            // SAFETY: see `Run::past`.
            #[allow(unsafe_code)]
            unsafe {
                &*past
            }
        })?;
        let (wrote, other) = run.plain.access(past, record, writes, now, here)?;
        let what = |writes| if writes { "write" } else { "read" };
        let message =
            format!("data race: a {} here, and a {} that nothing orders with it", what(writes), what(wrote));
        Some((FindingKind::DataRace, message, vec![here, other]))
    })
    .flatten();
    if let Some((kind, message, places)) = found {
        super::fail(kind, message, &places);
    }
}

/// Notes an atomic access that comes next, and ends the run if there is no memory.
pub fn atomic(id: &Cell<[u64; 2]>, here: Here) {
    let address = &raw const *id as usize;
    if !heap::is_inside(address) {
        return;
    }
    let found = super::with(|run| {
        if let Some(found) = misplaced(run, address, here) {
            return Some(found);
        }
        let now = run.now();
        let plain = &mut run.plain;
        let record = match plain.by_address.get(&address) {
            Some(&record) => record,
            None => plain.add(address),
        };
        note(&mut plain.records[record].atomic, now, here);
        None
    })
    .flatten();
    if let Some((kind, message, places)) = found {
        super::fail(kind, message, &places);
    }
}

/// Whether memory is not there any more, or need not be there yet.
fn misplaced(run: &mut Run, address: usize, here: Here) -> Option<(FindingKind, String, Vec<Here>)> {
    let now = run.now();
    let block = *run.arena.block(address)?;
    if block.freed.is_some() {
        let message = "memory is used that may have been given back".to_string();
        return Some((FindingKind::UseAfterFree, message, vec![here]));
    }
    if block.made.thread != now.thread && run.past().is_some_and(|past| !past.is_ordered(block.made, now)) {
        let message =
            "memory is used that need not have been made yet: nothing orders its publication with this"
                .to_string();
        return Some((FindingKind::UseBeforeAllocation, message, vec![here]));
    }
    None
}

/// Where this is called from.
#[track_caller]
pub fn caller() -> Here {
    Location::caller()
}
