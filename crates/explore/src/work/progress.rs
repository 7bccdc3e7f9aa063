//! How far an exploration is, for whoever watches it: counters that workers publish now and then, and an estimate of the
//! total.
//!
//! The estimate is a weighted backtrack estimator `[KSTW06]`: a leaf of the search tree has the share 1 / (product of the
//! branching degrees on its path), the shares of all leaves add up to 1, and leaves seen so far / their shares estimates
//! the number of leaves. The degrees are read off a finished graph: a read could have had any source that was there
//! before it and that coherence left, a write any place. Candidates that turn out inconsistent, and revisits, are not
//! known at that point, so that this is an order of magnitude and no more.

use crate::findings::collect::Stats;
use crate::findings::view::View;
use crate::models::model::MemoryModel;
use crate::search::row::RowWidth;
use crate::threads::path::{EventId, INIT, Kind};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters that can be read while an exploration runs.
#[derive(Debug, Default)]
pub struct Progress {
    workers: Mutex<Vec<(u64, Stats)>>,
    /// What was found before the exploration was taken up again, or elsewhere.
    others: Mutex<Stats>,
}

impl Progress {
    /// Nothing yet.
    pub const fn new() -> Progress {
        Progress { workers: Mutex::new(Vec::new()), others: Mutex::new(Stats::NONE) }
    }

    /// A new exploration begins, or goes on with what was found before.
    pub(crate) fn reset(&self, others: Stats) {
        *self.others.lock().unwrap_or_else(PoisonError::into_inner) = others;
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The counters of the calling worker.
    pub(crate) fn publish(&self, stats: &Stats) {
        let worker = worker();
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        match workers.iter_mut().find(|(id, _)| *id == worker) {
            Some((_, old)) => *old = *stats,
            None => workers.push((worker, *stats)),
        }
    }

    /// The counters of all workers together.
    pub fn stats(&self) -> Stats {
        let mut sum = *self.others.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, stats) in self.workers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            sum.add(stats);
        }
        sum
    }

    /// An estimate of the executions in all; `None` while nothing is known.
    pub fn estimate(&self) -> Option<u64> {
        self.stats().estimate()
    }
}

impl Stats {
    /// An estimate of the executions in all; `None` if nothing is known, because nobody watched or too little was seen.
    pub fn estimate(&self) -> Option<u64> {
        let share = self.share as f64 / WHOLE as f64;
        (share > 0.0 && self.executions > 0).then(|| (self.executions as f64 / share.min(1.0)) as u64)
    }
}

thread_local! {
    static WORKER: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The number of the calling worker. A worker that goes on in another thread, because its stack is full, keeps it.
pub(crate) fn worker() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    WORKER.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        WORKER.set(Some(number));
        number
    })
}

/// The calling thread goes on for a worker.
pub(crate) fn count_for(worker: u64) {
    WORKER.set(Some(worker));
}

/// The share of the whole tree, as an integer.
const WHOLE: u64 = 1 << 63;
/// One leaf in so many is looked at, where executions are short.
const LEAVES: u64 = 32;
/// Executions with at most so many events are short. To look at one takes a square of its events.
const SHORT: u64 = 128;

/// When a leaf is looked at, so that this never takes much of the time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Leaves from one sample to the next.
    every: u64,
    /// Leaves until the next one.
    left: u64,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { every: LEAVES, left: LEAVES }
    }
}

impl Sample {
    /// There is one more leaf. The share of the tree that the leaves seen since the last sample stand for, if it is time for one.
    #[inline(always)]
    pub(crate) fn after_a_leaf<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        view: &View<'_, M, W>,
    ) -> Option<u64> {
        self.left -= 1;
        (self.left == 0).then(|| self.take(view))
    }

    #[cold]
    fn take<M: MemoryModel<W>, W: RowWidth>(&mut self, view: &View<'_, M, W>) -> u64 {
        let share = share(view).saturating_mul(self.every);
        let layout = view.subject.layout;
        let events: u64 = (0..layout.threads()).map(|t| u64::from(view.graph.front(t))).sum();
        self.every = LEAVES * (events / SHORT).pow(2).max(1);
        self.left = self.every;
        share
    }
}

/// The share of the tree that a leaf is.
fn share<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>) -> u64 {
    let graph = view.graph;
    let mut degrees = 1.0;
    for e in graph.present().iter() {
        let node = view.trie.node(graph.node(e));
        if node.kind == Kind::Choice {
            degrees *= 2.0;
        }
        if !matches!(node.kind, Kind::Read | Kind::Write)
            || (node.kind == Kind::Write && node.partner != INIT)
        {
            continue;
        }
        // The newest write that the thread knows of already: it wrote or read it last.
        let writes = graph.co(node.loc());
        let place = |w: EventId| writes.iter().position(|&other| other == w).map_or(0, |i| i + 1);
        let first = view.subject.layout.base[node.thread as usize] as usize;
        let earlier = (first..e).rev().find(|&p| {
            let earlier = view.trie.node(graph.node(p));
            matches!(earlier.kind, Kind::Read | Kind::Write) && earlier.loc() == node.loc()
        });
        let known = earlier
            .map(|p| if graph.reads().contains(p) { graph.rf(p) } else { p as EventId })
            .map_or(0, |w| if w == INIT { 0 } else { place(w) });
        let there = writes.iter().skip(known).filter(|&&w| graph.before(e).contains(w as usize)).count();
        let revisited = usize::from(graph.revisited().contains(e));
        degrees *= (there + 1 + revisited) as f64;
    }
    (WHOLE as f64 / degrees) as u64
}
