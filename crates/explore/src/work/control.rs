//! What the workers of an exploration share: limits, the reason to stop, and work to give away.
//!
//! Every subtree is independent, so work is a list of items (`item.rs`): what is left of a search that may *pause*, and what a
//! worker hands to one that has nothing to do. That is what comes last of its own work, from the steps nearest to the root.

use crate::findings::collect::Stats;
use crate::reductions::conflicts::{CellKey, Watched, Watching, Who};
use crate::threads::interpret::Patience;
use crate::threads::memory::{Memory, ObjectKey};
use crate::work::cells::Cells;
use crate::work::item::{Item, Position};
use crate::work::progress::Progress;
use crate::work::segments::Share;
use fencepost_ir::Width;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use fencepost_answer::Limit as StopReason;

/// See [`Control::leaving`].
struct Leaving<'a>(&'a Control);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.queue).done = true;
            self.0.wake.notify_all();
        }
    }
}

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

/// Room that was too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Events of a thread.
    Events(usize),
    /// A thread: started by whom, after how many others, and what it runs.
    Thread(u16, u32, u32),
    /// Registers of a thread.
    Registers(usize),
    /// No room, but to commit events out of program order: see `program_order`.
    OutOfOrder,
    /// No room, but caution with the reads of a cell: see `sleep`.
    Caution(CellKey),
    /// No room, but iterations that read a cell are not left out at once: see `idle`.
    Keep(CellKey),
    /// No room, but threads that looked equal can be told apart: see `symmetry`.
    Distinct,
    /// No room, but an access in pieces, or a layout that has a cell there: see `pieces`. The access is that of an
    /// instruction; where it cannot go in pieces, or does already, the place is asked for.
    Mixed {
        /// Function and instruction.
        at: (u32, u32),
        /// Object, offset and width; nothing for an object that nobody else can reach.
        place: Option<(ObjectKey, u32, Width)>,
    },
}

/// With which cells an exploration is careful.
#[derive(Clone, Debug, Default)]
pub struct Care {
    /// No read waits: it is added like all others.
    pub awake: bool,
    /// Those of these cells do not.
    pub cautious: FxHashSet<CellKey>,
    /// Iterations that read one of these cells are not left out at once.
    pub kept: FxHashSet<CellKey>,
}

struct Queue {
    items: Vec<Share>,
    idle: usize,
    done: bool,
}

/// Shared by the workers of one exploration.
pub struct Control {
    /// Whether it goes on, pauses or stops.
    stop: AtomicU8,
    tracked: bool,
    may_pause: bool,
    /// Mask of the numbers of visits after which the clock is looked at: one of a large graph may take long.
    looks: u64,
    pub(crate) surveys: bool,
    pause_at: Option<Instant>,
    /// After how many visits of a worker it pauses.
    pub(crate) pause_nodes: u64,
    reason: Mutex<Option<StopReason>>,
    /// The first place at which an error was found that ends the search, and whether there is one.
    error: Mutex<Option<Position>>,
    has_error: AtomicBool,
    /// What needs more room.
    need: Mutex<Option<Need>>,
    /// Whether the first execution ends the search, which is made to see how many events its threads have; and how many they
    /// have.
    measures: bool,
    measured: Mutex<Option<Vec<usize>>>,
    /// Workers that wait and are not promised anything yet.
    hungry: AtomicUsize,
    /// The last part that was handed over had nothing in it: the next one is given at once.
    in_vain: AtomicBool,
    queue: Mutex<Queue>,
    wake: Condvar,
    workers: usize,
    deadline: Option<Instant>,
    max_executions: u64,
    max_nodes: u64,
    max_bytes: u64,
    interrupt: Option<&'static AtomicBool>,
    progress: Option<&'static Progress>,
    /// How often the first read of a graph was added, by any worker.
    settlings: AtomicU64,
    care: Care,
    /// Whether iterations that changed nothing are followed like all others.
    follows_all: bool,
    /// What was done to cells that reads which are not there are of.
    watched: Mutex<Watching>,
    /// What threads that may be equal began with: functions and arguments.
    starts: Mutex<Vec<(u32, Vec<u64>)>>,
    /// Cells that accesses have decided on.
    cells: Mutex<Cells>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The memory of this process, where the system has a file that says so.
pub fn bytes_in_use() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

impl Patience for Control {
    #[cold]
    fn lasts(&self) -> bool {
        self.look_at_time();
        if self.max_bytes != u64::MAX && bytes_in_use().is_some_and(|bytes| bytes > self.max_bytes) {
            self.stop_for(StopReason::MaxMemory);
        }
        !self.is_ended()
    }
}

impl Control {
    /// For executions with room for so many events, that many workers, and what is left of a search that may pause.
    pub(crate) fn new(
        events: usize,
        workers: usize,
        limits: &Limits<'static>,
        care: Care,
        follows_all: bool,
        task: Option<&Task<'_>>,
    ) -> Control {
        let mut items: Vec<Item> = task.map_or(&[][..], |task| task.items).to_vec();
        // The last one is taken first.
        items.sort_by(|a, b| b.cmp(a));
        let items = items.into_iter().map(Share::from).collect();
        let error = task.and_then(|task| task.error).cloned();
        if let Some(progress) = limits.progress {
            progress.reset(task.map(|task| *task.stats).unwrap_or_default());
        }
        Control {
            stop: AtomicU8::new(GO_ON),
            tracked: workers > 1 || task.is_some(),
            may_pause: task.is_some(),
            looks: match events {
                few if few <= MANY_EVENTS => 0x3f,
                many if many <= VERY_MANY_EVENTS => 0x7,
                _ => 0,
            },
            surveys: task.is_some_and(|task| task.surveys),
            pause_at: task.and_then(|task| task.pause_at),
            pause_nodes: task.and_then(|task| task.pause_nodes).unwrap_or(u64::MAX),
            reason: Mutex::new(None),
            has_error: AtomicBool::new(error.is_some()),
            error: Mutex::new(error),
            need: Mutex::new(None),
            measures: false,
            measured: Mutex::new(None),
            hungry: AtomicUsize::new(0),
            in_vain: AtomicBool::new(false),
            queue: Mutex::new(Queue { items, idle: 0, done: false }),
            wake: Condvar::new(),
            workers,
            deadline: limits.deadline,
            max_executions: limits.max_executions.unwrap_or(u64::MAX),
            max_nodes: limits.max_nodes.unwrap_or(u64::MAX),
            max_bytes: limits.max_bytes.unwrap_or(u64::MAX),
            interrupt: limits.interrupt,
            progress: limits.progress,
            settlings: AtomicU64::new(0),
            care,
            follows_all,
            watched: Mutex::new(task.map(|task| task.watching.clone()).unwrap_or_default()),
            starts: Mutex::new(Vec::new()),
            cells: Mutex::default(),
        }
    }

    /// The same, for a search that the first execution ends if `measures`.
    pub(crate) fn measuring(self, measures: bool) -> Control {
        Control { measures, ..self }
    }

    /// Whether the first execution ends the search.
    #[inline(always)]
    pub(crate) fn measures(&self) -> bool {
        self.measures
    }

    /// The first execution ends the search; its threads have so many events, if that says anything about others.
    #[cold]
    pub(crate) fn has_measured(&self, events: Option<Vec<usize>>) {
        *lock(&self.measured) = events;
        self.stop.store(STOP, Ordering::Relaxed);
    }

    /// How many events the threads of the first execution have.
    pub(crate) fn measured(&self) -> Option<Vec<usize>> {
        lock(&self.measured).take()
    }

    /// A number for the settling of a graph, which no other has.
    pub fn next_settling(&self) -> u64 {
        self.settlings.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether reads of a cell that wait are added like all others.
    #[inline(always)]
    pub fn is_cautious(&self, cell: impl FnOnce() -> CellKey) -> bool {
        self.care.awake || (!self.care.cautious.is_empty() && self.care.cautious.contains(&cell()))
    }

    /// The cells whose reads must not be lost with an iteration.
    #[inline(always)]
    pub fn kept(&self) -> &FxHashSet<CellKey> {
        &self.care.kept
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

    /// Whether iterations that changed nothing are followed like all others.
    #[inline(always)]
    pub fn follows_all(&self) -> bool {
        self.follows_all
    }

    /// Notes what a thread does to a cell; what is needed if that could be a finding, with what others did.
    #[cold]
    pub fn watch(&self, cell: CellKey, what: Watched, by: Who) -> Option<Need> {
        lock(&self.watched).note(cell, what, by)
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
        self.stop.load(Ordering::Relaxed) != GO_ON
    }

    /// Whether it ends, and not for a pause: then what a thread computes is broken off.
    #[inline(always)]
    pub fn is_ended(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == STOP
    }

    /// Interrupts the search, to go on later.
    #[cold]
    pub fn pause(&self) {
        let _ = self.stop.compare_exchange(GO_ON, PAUSE, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Notes which cells a worker has decided on.
    #[cold]
    pub(crate) fn note_cells(&self, memory: &Memory) {
        if let Some(cells) = memory.decided() {
            lock(&self.cells).merge(&cells);
        }
    }

    /// The cells that workers have decided on.
    pub(crate) fn cells(&self) -> Cells {
        lock(&self.cells).clone()
    }

    /// What was done to cells.
    pub(crate) fn watching(&self) -> Watching {
        lock(&self.watched).clone()
    }

    #[cold]
    fn look_at_limits(&self, stats: &Stats) {
        self.look_at_time();
        if stats.nodes & 0x3ff != 0 {
            return;
        }
        if stats.executions >= self.max_executions {
            self.stop_for(StopReason::MaxExecutions);
        }
        if stats.nodes >= self.max_nodes {
            self.stop_for(StopReason::MaxNodes);
        }
        // Reading the memory in use is a call of the system.
        if stats.nodes & 0xfff == 0 {
            self.look_at_memory();
        }
        if let Some(progress) = self.progress {
            progress.publish(stats);
        }
    }

    /// Stops if there is too much memory in use. Parts of a search may be too small to come to where the limits are looked at.
    #[cold]
    pub fn look_at_memory(&self) {
        if self.max_bytes != u64::MAX && bytes_in_use().is_some_and(|bytes| bytes > self.max_bytes) {
            self.stop_for(StopReason::MaxMemory);
        }
    }

    fn look_at_time(&self) {
        if self.pause_at.is_some_and(|at| Instant::now() >= at) {
            self.pause();
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop_for(StopReason::Timeout);
        }
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stop_for(StopReason::Interrupted);
        }
    }

    fn stop_for(&self, reason: StopReason) {
        lock(&self.reason).get_or_insert(reason);
        self.stop.store(STOP, Ordering::Relaxed);
    }

    /// There is no room for a worker, or for a deeper stack: the search ends.
    #[cold]
    pub fn out_of_memory(&self) {
        self.stop_for(StopReason::MaxMemory);
        lock(&self.queue).done = true;
        self.wake.notify_all();
    }

    /// Why it stopped early, if it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        *lock(&self.reason)
    }

    /// There is too little room: the exploration stops, to start over with more.
    #[cold]
    pub fn overflow(&self, need: Need) {
        lock(&self.need).get_or_insert(need);
        self.stop.store(STOP, Ordering::Relaxed);
    }

    /// What needs more room.
    pub fn overflowed(&self) -> Option<Need> {
        *lock(&self.need)
    }

    /// Something was found that ends the search: what comes behind this place need not be searched.
    #[cold]
    pub fn stop_behind(&self, position: &[u32]) {
        if !self.is_tracked() {
            return self.stop.store(STOP, Ordering::Relaxed);
        }
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

    /// How many workers share the work, and the room for what they remember.
    pub(crate) fn workers(&self) -> usize {
        self.workers.max(1)
    }

    /// Whether it matters where a worker is: there is more than one, or the search may pause.
    pub fn is_tracked(&self) -> bool {
        self.tracked
    }

    /// Whether some worker has nothing to do.
    #[inline(always)]
    pub fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) != 0
    }

    /// Whether the last part that was handed over had nothing in it.
    pub fn gave_in_vain(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed)
    }

    /// A part had nothing in it. Whoever took it has nothing better to do than to try the next.
    #[cold]
    pub fn take_in_vain(&self) {
        self.in_vain.store(true, Ordering::Relaxed);
    }

    /// Hands part of a worker's work to another one, unless somebody else was faster.
    #[cold]
    pub fn give(&self, part: impl FnOnce(bool) -> Option<Share>) {
        let mut queue = lock(&self.queue);
        self.in_vain.store(false, Ordering::Relaxed);
        if self.hungry.load(Ordering::Relaxed) == 0 {
            return;
        }
        // What is left when a search pauses are items, which have no end.
        if let Some(share) = part(!self.may_pause) {
            self.hungry.fetch_sub(1, Ordering::Relaxed);
            queue.items.push(share);
            self.wake.notify_one();
        }
    }

    /// When what this gives is dropped by a panic, nobody waits for more work.
    pub fn leaving(&self) -> impl Drop + use<'_> {
        Leaving(self)
    }

    /// The next piece of work; `None` when all workers are idle.
    pub fn take(&self) -> Option<Share> {
        let mut queue = lock(&self.queue);
        if let Some(item) = queue.items.pop() {
            return Some(item);
        }
        queue.idle += 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        loop {
            if queue.idle == self.workers && queue.items.is_empty() {
                queue.done = true;
                self.wake.notify_all();
            }
            if queue.done {
                return None;
            }
            if let Some(item) = queue.items.pop() {
                queue.idle -= 1;
                return Some(item);
            }
            let (guard, _) = self
                .wake
                .wait_timeout(queue, Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner);
            queue = guard;
        }
    }
}
