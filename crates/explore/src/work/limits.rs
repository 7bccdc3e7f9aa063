//! How far an exploration may go: time, memory, executions, visits, the user's patience; and whether it has stopped, and why.

use crate::findings::collect::Stats;
use crate::threads::interpret::Patience;
use crate::work::control::Task;
use crate::work::item::Position;
use crate::work::lock;
use crate::work::progress::Progress;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Instant;

pub use fencepost_answer::Limit as StopReason;

/// Limits that end an exploration with *unknown*.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Stop at this time.
    pub deadline: Option<Instant>,
    /// Stop after about this many executions per worker.
    pub max_executions: Option<u64>,
    /// Stop after about this many visited graphs per worker.
    pub max_nodes: Option<u64>,
    /// Stop beyond this many bytes of memory, where the system tells how many there are.
    pub max_bytes: Option<u64>,
    /// Set from outside to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// No limit: told from time to time how far the exploration is.
    pub progress: Option<&'a Progress>,
}

/// Visits of executions with more events may take as long as several of others: the clock is looked at more often.
const MANY_EVENTS: usize = 256;

/// Visits of executions with more events may take long: the clock is looked at every time.
const VERY_MANY_EVENTS: usize = 4096;

/// The search goes on.
const GO_ON: u8 = 0;
/// It is interrupted, to go on later: what a thread computes is computed to the end.
const PAUSE: u8 = 1;
/// It ends.
const STOP: u8 = 2;

/// Whether the search goes on, as all workers see it.
pub struct Brake {
    limits: Limits<'static>,
    /// Whether it goes on, pauses or stops.
    state: AtomicU8,
    /// Which limit was hit.
    reason: Mutex<Option<StopReason>>,
    /// Mask of the numbers of visits after which the clock is looked at: one of a large graph may take long.
    looks: u64,
    pause_at: Option<Instant>,
    /// After how many visits of a worker it pauses.
    pub pause_nodes: u64,
    /// The first place at which an error was found that ends the search, and whether there is one.
    error: Mutex<Option<Position>>,
    has_error: AtomicBool,
    /// Whether the first execution ends the search, which is made to see how many events its threads have; and how many they
    /// have.
    pub measures: bool,
    measured: Mutex<Option<Vec<usize>>>,
}

/// The memory of this process, where the system has a file that says so.
pub fn bytes_in_use() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

impl Patience for Brake {
    #[cold]
    fn lasts(&self) -> bool {
        self.look_at_time();
        self.look_at_memory();
        !self.is_ended()
    }
}

impl Brake {
    /// For executions with room for so many events, and what is left of a search that may pause.
    pub fn new(events: usize, limits: &Limits<'static>, measures: bool, task: Option<&Task<'_>>) -> Brake {
        let error = task.and_then(|task| task.error).cloned();
        if let Some(progress) = limits.progress {
            progress.reset(task.map(|task| *task.stats).unwrap_or_default());
        }
        Brake {
            limits: *limits,
            state: AtomicU8::new(GO_ON),
            reason: Mutex::new(None),
            looks: match events {
                few if few <= MANY_EVENTS => 0x3f,
                many if many <= VERY_MANY_EVENTS => 0x7,
                _ => 0,
            },
            pause_at: task.and_then(|task| task.pause_at),
            pause_nodes: task.and_then(|task| task.pause_nodes).unwrap_or(u64::MAX),
            has_error: AtomicBool::new(error.is_some()),
            error: Mutex::new(error),
            measures,
            measured: Mutex::new(None),
        }
    }

    /// Whether to stop now. Looks at the clock only now and then.
    #[inline(always)]
    pub fn stopped(&self, stats: &Stats) -> bool {
        if stats.nodes & self.looks == 0 {
            self.look_at_limits(stats);
        }
        self.is_stopped()
    }

    /// Whether to stop now, on the way to an item. Visits are not counted there, and so the clock is looked at every time.
    #[cold]
    pub fn stopped_on_the_way(&self) -> bool {
        self.look_at_time();
        self.is_stopped()
    }

    /// Whether somebody has stopped, without a look at the limits.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.state.load(Ordering::Relaxed) != GO_ON
    }

    /// Whether it ends, and not for a pause: then what a thread computes is broken off.
    #[inline(always)]
    pub fn is_ended(&self) -> bool {
        self.state.load(Ordering::Relaxed) == STOP
    }

    /// Interrupts the search, to go on later.
    #[cold]
    pub fn pause(&self) {
        let _ = self.state.compare_exchange(GO_ON, PAUSE, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Ends the search; no limit is the reason.
    pub fn end(&self) {
        self.state.store(STOP, Ordering::Relaxed);
    }

    /// Ends the search because of a limit.
    pub fn stop_for(&self, reason: StopReason) {
        lock(&self.reason).get_or_insert(reason);
        self.end();
    }

    /// The limit that was hit, if one was.
    pub fn stop_reason(&self) -> Option<StopReason> {
        *lock(&self.reason)
    }

    #[cold]
    fn look_at_limits(&self, stats: &Stats) {
        self.look_at_time();
        if stats.nodes & 0x3ff != 0 {
            return;
        }
        if self.limits.max_executions.is_some_and(|most| stats.executions >= most) {
            self.stop_for(StopReason::MaxExecutions);
        }
        if self.limits.max_nodes.is_some_and(|most| stats.nodes >= most) {
            self.stop_for(StopReason::MaxNodes);
        }
        // Reading the memory in use is a call of the system.
        if stats.nodes & 0xfff == 0 {
            self.look_at_memory();
        }
        if let Some(progress) = self.limits.progress {
            progress.publish(stats);
        }
    }

    /// Stops if there is too much memory in use. Parts of a search may be too small to come to where the limits are looked at.
    #[cold]
    pub fn look_at_memory(&self) {
        if self.limits.max_bytes.is_some_and(|most| bytes_in_use().is_some_and(|bytes| bytes > most)) {
            self.stop_for(StopReason::MaxMemory);
        }
    }

    fn look_at_time(&self) {
        if self.pause_at.is_some_and(|at| Instant::now() >= at) {
            self.pause();
        }
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop_for(StopReason::Timeout);
        }
        if self.limits.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stop_for(StopReason::Interrupted);
        }
    }

    /// Something was found that ends the search: what comes behind this place need not be searched.
    #[cold]
    pub fn stop_behind(&self, position: &[u32]) {
        let mut error = lock(&self.error);
        if error.as_deref().is_none_or(|first| position < first) {
            *error = Some(position.to_vec());
        }
        self.has_error.store(true, Ordering::Relaxed);
    }

    /// Whether a place is behind an error that ends the search.
    #[inline(always)]
    pub fn is_behind_error(&self, position: &[u32]) -> bool {
        self.has_error.load(Ordering::Relaxed)
            && lock(&self.error).as_deref().is_some_and(|first| position > first)
    }

    /// The first execution ends the search; its threads have so many events, if that says anything about others.
    #[cold]
    pub fn has_measured(&self, events: Option<Vec<usize>>) {
        *lock(&self.measured) = events;
        self.end();
    }

    /// How many events the threads of the first execution have.
    pub fn measured(&self) -> Option<Vec<usize>> {
        lock(&self.measured).take()
    }
}
