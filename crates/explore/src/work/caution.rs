//! What workers find out together about the program: with which cells to be careful, what was done to them, and why to start
//! over.

use crate::reductions::Reductions;
use crate::reductions::conflicts::{CellKey, Watched, Watching, Who};
use crate::threads::memory::Memory;
use crate::work::cells::Cells;
use crate::work::control::Task;
use crate::work::lock;
use crate::work::preparation::StartOver;
use rustc_hash::FxHashSet;
use std::sync::Mutex;

/// With which cells an exploration is careful.
#[derive(Clone, Debug, Default)]
pub struct Care {
    /// Reads of these cells do not wait: they are added like all others.
    pub cautious: FxHashSet<CellKey>,
    /// Iterations that read one of these cells are not left out at once.
    pub kept: FxHashSet<CellKey>,
}

/// Shared by all workers.
pub struct Caution {
    /// The reductions that are made.
    pub reductions: Reductions,
    care: Care,
    why: Mutex<Option<StartOver>>,
    /// What was done to cells that reads which are not there are of.
    watched: Mutex<Watching>,
    /// What threads that may be equal began with: functions and arguments.
    starts: Mutex<Vec<(u32, Vec<u64>)>>,
    /// Cells that accesses have decided on.
    cells: Mutex<Cells>,
}

impl Caution {
    pub fn new(reductions: Reductions, care: Care, task: Option<&Task<'_>>) -> Caution {
        Caution {
            reductions,
            care,
            why: Mutex::new(None),
            watched: Mutex::new(task.map(|task| task.watching.clone()).unwrap_or_default()),
            starts: Mutex::new(Vec::new()),
            cells: Mutex::default(),
        }
    }

    /// Whether reads of a cell that wait are added like all others.
    #[inline(always)]
    pub fn is_cautious(&self, cell: impl FnOnce() -> CellKey) -> bool {
        !self.care.cautious.is_empty() && self.care.cautious.contains(&cell())
    }

    /// The cells whose reads must not be lost with an iteration.
    #[inline(always)]
    pub fn kept(&self) -> &FxHashSet<CellKey> {
        &self.care.kept
    }

    /// The first reason to start over is kept.
    pub fn note(&self, why: StartOver) {
        lock(&self.why).get_or_insert(why);
    }

    /// Why to start over, if so.
    pub fn why(&self) -> Option<StartOver> {
        *lock(&self.why)
    }

    /// Notes what a thread does to a cell; why to start over if that could be a finding, with what others did.
    #[cold]
    pub fn watch(&self, cell: CellKey, what: Watched, by: Who) -> Option<StartOver> {
        lock(&self.watched).note(cell, what, by)
    }

    /// What was done to cells.
    pub fn watching(&self) -> Watching {
        lock(&self.watched).clone()
    }

    /// A number for a function and its arguments.
    pub fn start(&self, function: u32, args: &[u64]) -> u32 {
        let mut starts = lock(&self.starts);
        let known = starts.iter().position(|(f, a)| *f == function && a == args);
        known.unwrap_or_else(|| {
            starts.push((function, args.to_vec()));
            starts.len() - 1
        }) as u32
    }

    /// The function of such a number.
    pub fn started(&self, start: Option<u32>) -> Option<u32> {
        lock(&self.starts).get(start? as usize).map(|(function, _)| *function)
    }

    /// Notes which cells a worker has decided on.
    #[cold]
    pub fn note_cells(&self, memory: &Memory) {
        if let Some(cells) = memory.decided() {
            lock(&self.cells).merge(&cells);
        }
    }

    /// The cells that workers have decided on.
    pub fn cells(&self) -> Cells {
        lock(&self.cells).clone()
    }
}
