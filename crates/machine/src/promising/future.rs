//! The future memories that a standard certification has to survive, over a finite domain of values.
//!
//! More messages never hurt a reader, they only take room away. So of all extensions of a memory those matter that take as
//! much room as possible while giving as little to read as possible:
//! - a gap between two messages is filled by a copy of its lower neighbour. That leaves no room, and nothing to read that
//!   was not there. The one exception is a gap below a promise of the thread: what fills it touches the promise, so that a
//!   read-modify-write may read it and fulfil the promise; there the gap may also stay open, or hold any value of the domain;
//! - the end of a cell that the thread may read-modify-write stays as it is, or a message of any value of the domain comes to
//!   touch the last one. One is enough: the thread can then only continue behind that one.
//!
//! A message of another thread may also carry any view; the worst for an acquiring reader is one that knows everything.
//!
//! `plain` has the definition without this argument (every gap open or filled with every value), and the tests compare.

use super::memory::{Memory, Place, Stamp, View};
use super::thread::Threads;
use fencepost_ir::Value;
use rustc_hash::FxHashSet;

/// Stands for the newest message of a cell while messages are being added.
const EVERYTHING: Stamp = Stamp::MAX / 2;

/// The memories to certify from, beside the one that is there. The thread is number 0.
pub fn futures(threads: Threads<'_>, memory: &Memory, domain: &[Value]) -> Vec<Memory> {
    let mut all = vec![memory.clone()];
    for cell in 0..memory.cells.len() {
        all = all.iter().flat_map(|memory| fill_cell(threads, memory, cell, domain)).collect();
    }
    all.iter_mut().for_each(know_everything);
    let mut met = FxHashSet::default();
    all.retain(|memory| met.insert(memory.clone()));
    all
}

/// The ways to fill one cell.
fn fill_cell(threads: Threads<'_>, memory: &Memory, cell: usize, domain: &[Value]) -> Vec<Memory> {
    let mut filled = vec![memory.clone()];
    // From the end, so that indices below stay what they are.
    for after in (0..memory.cells[cell].len()).rev() {
        if !memory.has_gap(cell, after) {
            continue;
        }
        let copy = memory.cells[cell][after].value;
        let last = after + 1 == memory.cells[cell].len();
        let below_promise = !last && memory.cells[cell][after + 1].promised == Some(0);
        let mut values: Vec<Option<Value>> = Vec::new();
        if last && !threads.updates {
            continue;
        }
        if last || below_promise {
            values.extend(domain.iter().map(|&value| Some(value)));
            values.extend(memory.cells[cell].iter().map(|message| message.value));
            values.sort_unstable();
            values.dedup();
        } else {
            values.push(copy);
        }
        let open = if last || below_promise { filled.clone() } else { Vec::new() };
        let with = |value: &Option<Value>| {
            let value = *value;
            filled.iter().map(move |memory| fill(memory, cell, after, value)).collect::<Vec<_>>()
        };
        filled = values.iter().flat_map(with).chain(open).collect();
    }
    filled
}

/// Fills the gap behind a message.
fn fill(memory: &Memory, cell: usize, after: usize, value: Option<Value>) -> Memory {
    let mut memory = memory.clone();
    let index = memory.insert(cell, Place::Gap { after, adjacent: true }, value, View::new(), None);
    if let Some(next) = memory.cells[cell].get_mut(index + 1) {
        next.adjacent = true;
    }
    if !memory.threads[0].acquired.is_empty() {
        memory.cells[cell][index].view = vec![EVERYTHING; memory.cells.len()];
        memory.cells[cell][index].view[cell] = 0;
    }
    memory
}

/// Puts the newest messages where the views of the added messages say [`EVERYTHING`].
fn know_everything(memory: &mut Memory) {
    let newest: Vec<Stamp> = memory.cells.iter().map(|messages| messages.len() as Stamp - 1).collect();
    for message in memory.cells.iter_mut().flatten() {
        for (stamp, newest) in message.view.iter_mut().zip(&newest) {
            if *stamp >= EVERYTHING {
                *stamp = *newest;
            }
        }
    }
}
