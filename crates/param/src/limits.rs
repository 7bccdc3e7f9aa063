//! The user's limits: how long, how much, how many.

use crate::outcome::{Limit, StopReason};
use crate::prove::Options;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The user's limits. Once one is hit it stays hit, so that everybody hears of the same one.
pub(crate) struct Limits<'a> {
    pub(crate) options: &'a Options,
    started: Instant,
    /// Questions so far: memory is not looked at every time.
    asked: AtomicUsize,
    out_of_memory: AtomicBool,
}

impl<'a> Limits<'a> {
    pub(crate) fn new(options: &'a Options, started: Instant) -> Limits<'a> {
        Limits { options, started, asked: AtomicUsize::new(0), out_of_memory: AtomicBool::new(false) }
    }

    pub(crate) fn is_hit(&self) -> bool {
        self.hit(0).is_some()
    }

    pub(crate) fn hit(&self, nodes: usize) -> Option<StopReason> {
        if let Some(max) = self.options.max_nodes
            && nodes > max
        {
            return Some(reached(Limit::MaxNodes, max as f64));
        }
        if let Some(time) = self.options.timeout
            && self.started.elapsed() >= time
        {
            return Some(reached(Limit::Timeout, time.as_secs_f64()));
        }
        if self.options.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
            return Some(StopReason::limit(Limit::Interrupted));
        }
        let megabytes = self.options.max_memory?;
        if self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(64)
            && resident_megabytes().is_some_and(|used| used > megabytes)
        {
            self.out_of_memory.store(true, Ordering::Relaxed);
        }
        let out_of_memory = self.out_of_memory.load(Ordering::Relaxed);
        out_of_memory.then(|| reached(Limit::MaxMemory, megabytes as f64))
    }
}

fn reached(limit: Limit, value: f64) -> StopReason {
    StopReason::Limit { limit, value: Some(value) }
}

/// Memory of this process, where the system tells.
fn resident_megabytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096 / 1_000_000)
}
