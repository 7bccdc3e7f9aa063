//! What a thread could promise: the writes of its own future, running alone.
//!
//! By `[AAGKV, Fig. 2]` a thread may promise any message; those that leave it consistent are among the writes that it can reach
//! without help. They are found by a run that is looser than any certification (a write goes nowhere, and both it and every
//! message that the thread had not passed before can still be read), so that none is missed. Each is then put at every place and
//! certified properly.

use super::memory::{Memory, Message, Place, View};
use super::thread::{FenceKind, Threads, fence_kind};
use crate::local::{Local, Status};
use crate::step::{Next, Update};
use fencepost_ir::{Instr, Operand, Value, Width};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Most states of the run; beyond, the machine gives up.
const MAX_STATES: usize = 100_000;

/// A promise: where, what, and what it publishes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Promise {
    /// The cell.
    pub cell: usize,
    /// The value.
    pub value: Value,
    /// The place in the cell.
    pub place: Place,
    /// What a reader learns.
    pub view: View,
}

/// A write of the future: a cell, a value, and the message that a read-modify-write read (`None` inside for its own).
type Write = (usize, Value, Option<Option<usize>>);

/// Per cell: the oldest message that may still be read, and the own value, if there is one.
type Loose = Vec<(usize, Option<Value>)>;

/// All promises of a thread that are worth a certification; `None` if there are too many runs to say.
pub fn candidates(
    threads: Threads<'_>,
    local: &Local,
    memory: &Memory,
    thread: usize,
) -> Option<Vec<Promise>> {
    let mut promises = BTreeSet::new();
    let own = |message: &Message| message.promised == Some(thread as u8);
    let updated = updated_cells(threads, memory.cells.len());
    for (cell, value, read) in writes(threads, local, memory, thread)? {
        let messages = &memory.cells[cell];
        let mut places = Vec::new();
        for after in memory.seen(thread, cell)..messages.len() {
            if memory.has_gap(cell, after) {
                places.push(Place::Gap { after, adjacent: false });
                // A read-modify-write may use the promise, and then has to touch it: by fulfilling it, or by splitting it for a
                // later write; one that the
                // thread comes to only when it has read what is not there yet.
                if updated[cell] {
                    places.push(Place::Gap { after, adjacent: true });
                }
                if updated[cell] && memory.has_gap_below_promise(cell, after) {
                    places.push(Place::Fill { after, adjacent: false });
                    places.push(Place::Fill { after, adjacent: true });
                }
            }
            if messages.get(after + 1).is_some_and(own) {
                places.push(Place::Split(after + 1));
            }
        }
        for view in published(memory, thread, cell, read) {
            let promise = |&place| Promise { cell, value, place, view: view.clone() };
            promises.extend(places.iter().map(promise));
        }
    }
    Some(promises.into_iter().collect())
}

/// The cells that some read-modify-write of the program may access: only there it matters what touches.
fn updated_cells(threads: Threads<'_>, count: usize) -> Vec<bool> {
    let code = threads.steps.code;
    let mut updated = vec![false; count];
    for instr in code.program.functions.iter().flat_map(|function| &function.body) {
        let (addr, width) = match instr {
            Instr::Rmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. }
            | Instr::AwaitRmw { addr, width, .. } => (*addr, *width),
            Instr::Lock(addr) | Instr::TryLock { addr, .. } => (*addr, Width::W32),
            _ => continue,
        };
        match addr {
            Operand::Const(address) => {
                if let Some(cell) = code.cell(address, width) {
                    updated[cell.0 as usize] = true;
                }
            }
            _ => updated.fill(true),
        }
    }
    updated
}

/// What the write may publish. A read-modify-write of an own write goes on with whatever that one had read.
fn published(memory: &Memory, thread: usize, cell: usize, read: Option<Option<usize>>) -> BTreeSet<View> {
    let with = |message| memory.published(thread, cell, false, message);
    match read {
        Some(None) => (0..memory.cells[cell].len()).map(Some).chain([None]).map(with).collect(),
        Some(message) => [with(message)].into(),
        None => [with(None)].into(),
    }
}

fn writes(threads: Threads<'_>, local: &Local, memory: &Memory, thread: usize) -> Option<BTreeSet<Write>> {
    let mut local = local.clone();
    threads.resume(&mut local);
    let start: Loose = (0..memory.cells.len()).map(|cell| (memory.seen(thread, cell), None)).collect();
    let mut open = vec![(local, start)];
    let mut seen = FxHashSet::default();
    let mut found = BTreeSet::new();
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > MAX_STATES {
            return None;
        }
        let (local, loose) = state;
        step(threads, (memory, thread), &local, &loose, &mut found, &mut open);
    }
    Some(found)
}

fn step(
    threads: Threads<'_>,
    (memory, thread): (&Memory, usize),
    local: &Local,
    loose: &Loose,
    found: &mut BTreeSet<Write>,
    open: &mut Vec<(Local, Loose)>,
) {
    let steps = threads.steps;
    if local.status != Status::Running {
        return;
    }
    let mut go = |input: Value, spurious: bool, loose: Loose| {
        let mut local = local.clone();
        steps.finish(&mut local, input, spurious, &mut Vec::new());
        threads.resume(&mut local);
        open.push((local, loose));
    };
    if let Some(Instr::Fence(fence)) = steps.instr(local) {
        if matches!(fence_kind(*fence), FenceKind::Nothing | FenceKind::Acquire) {
            go(Value::ZERO, false, loose.clone());
        }
        return;
    }
    // The message read (`None`: the own value), its value, and the view after it.
    let reads = |cell: usize| {
        let (oldest, own) = loose[cell];
        let mut reads: Vec<(Option<usize>, Value, Loose)> = Vec::new();
        reads.extend(own.map(|value| (None, value, loose.clone())));
        for (index, message) in memory.cells[cell].iter().enumerate().skip(oldest) {
            if let Some(value) = message.value
                && message.promised != Some(thread as u8)
            {
                let mut loose = loose.clone();
                loose[cell] = (index, None);
                reads.push((Some(index), value, loose));
            }
        }
        reads
    };
    match steps.next(local) {
        Next::Load(cell) => {
            reads(cell.0 as usize).into_iter().for_each(|(_, value, loose)| go(value, false, loose));
        }
        Next::Await(cell) => {
            let ends =
                reads(cell.0 as usize).into_iter().filter(|(_, value, _)| steps.ends_wait(local, *value));
            ends.for_each(|(_, value, loose)| go(value, false, loose));
        }
        Next::Store(cell, value) => {
            let cell = cell.0 as usize;
            found.insert((cell, value, None));
            let mut loose = loose.clone();
            loose[cell].1 = Some(value);
            go(value, false, loose);
        }
        Next::Update(cell) => {
            let cell = cell.0 as usize;
            for (message, old, mut loose) in reads(cell) {
                match steps.update(local, old, false) {
                    Update::Blocked | Update::Misuse => {}
                    Update::Keep => go(old, false, loose),
                    Update::Write(value) => {
                        if steps.may_fail(local) {
                            go(old, true, loose.clone());
                        }
                        found.insert((cell, value, Some(message)));
                        loose[cell].1 = Some(value);
                        go(old, false, loose);
                    }
                }
            }
        }
        Next::Choose(first, last) => {
            (first..=last).for_each(|value| go(Value::from_i64(value), false, loose.clone()));
        }
        _ => {}
    }
}
