//! What the workers of an exploration share: how far it may go, work to give away, and what they find out about the program.

use crate::findings::collect::Stats;
use crate::reductions::Reductions;
use crate::reductions::conflicts::Watching;
use crate::work::caution::{Care, Caution};
use crate::work::cells::Cells;
use crate::work::item::{Item, Position};
use crate::work::limits::{Brake, Limits, StopReason};
use crate::work::preparation::StartOver;
use crate::work::queue::Queue;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What is to be done of a search that may pause.
pub(crate) struct Task<'a> {
    /// What is left.
    pub items: &'a [Item],
    /// When to pause.
    pub pause_at: Option<Instant>,
    /// After how many visits of a worker to pause.
    pub pause_nodes: Option<u64>,
    /// What was done to cells in the other parts.
    pub watching: &'a Watching,
    /// An error was found there: nothing behind it matters.
    pub error: Option<&'a Position>,
    /// Cells that the parts before have decided on, if one worker at a time explores.
    pub cells: Option<&'a Arc<Cells>>,
    /// Counters of the other parts, for whoever watches.
    pub stats: &'a Stats,
    /// Nothing is visited but the path of the item, to see how many visits there are at each step.
    pub surveys: bool,
}

/// Shared by the workers of one exploration.
pub struct Control {
    /// How far it may go.
    pub limits: Brake,
    /// Work to give away.
    pub queue: Queue,
    /// What workers find out about the program.
    pub caution: Caution,
    /// How often the first read of a graph was added, by any worker.
    settlings: AtomicU64,
}

impl Control {
    /// For executions with room for so many events, that many workers, and what is left of a search that may pause.
    pub(crate) fn new(
        events: usize,
        workers: usize,
        (limits, measures): (&Limits<'static>, bool),
        (reductions, care): (Reductions, Care),
        task: Option<&Task<'_>>,
    ) -> Control {
        Control {
            limits: Brake::new(events, limits, measures, task),
            queue: Queue::new(workers, task),
            caution: Caution::new(reductions, care, task),
            settlings: AtomicU64::new(0),
        }
    }

    /// A number for the settling of a graph, which no other has.
    pub fn next_settling(&self) -> u64 {
        self.settlings.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// There is no room for a worker, or for a deeper stack: the search ends.
    #[cold]
    pub fn out_of_memory(&self) {
        self.limits.stop_for(StopReason::MaxMemory);
        self.queue.close();
    }

    /// Something was found out that should have been known before: the exploration stops, to start over.
    #[cold]
    pub fn start_over(&self, why: StartOver) {
        self.caution.note(why);
        self.limits.end();
    }

    /// Something was found that ends the search: what comes behind this place need not be searched.
    #[cold]
    pub fn stop_behind(&self, position: &[u32]) {
        match self.queue.is_tracked {
            true => self.limits.stop_behind(position),
            false => self.limits.end(),
        }
    }
}
