//! The stateful search: every reachable state of a machine, each expanded once.
//!
//! Breadth first, level by level: the states that the last level added are the next level, so there is no queue beside
//! the store, and the first bad state is reached by a shortest run. Workers take pieces of the level in any order.
//! Depth first keeps a stack of state numbers and uses one worker.

use crate::machine::{Kind, Machine, Successors, Worker};
use crate::store::{StateId, Store};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The order of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Level by level: finds a shortest run.
    #[default]
    Breadth,
    /// Along one run as far as it goes, first.
    Depth,
}

pub use fencepost_answer::Limit as StopReason;

/// What the search tells about itself while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// States stored so far.
    pub states: u64,
    /// Bytes used so far.
    pub bytes: usize,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Limits and habits of a search.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// The order.
    pub order: Order,
    /// Workers; 0 is taken as 1.
    pub jobs: usize,
    /// Stop at this time.
    pub deadline: Option<Instant>,
    /// Stop when states and machine take about this many bytes.
    pub max_bytes: Option<usize>,
    /// Stop after about this many states.
    pub max_states: Option<u64>,
    /// Set from outside to stop.
    pub interrupt: Option<&'a AtomicBool>,
    /// Is told about twice a second how far the search is.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
}

/// What a search found.
pub struct Found {
    /// The states, with the way to each.
    pub store: Store,
    /// A bad state, or one where the machine gave up.
    pub stopped_at: Option<(StateId, Kind)>,
    /// Why it ended early, if it did.
    pub stop: Option<StopReason>,
    /// Stored states.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// Final states.
    pub finals: u64,
    /// States without successors that are not final.
    pub blocked: u64,
    /// Bytes of states and machine at the end.
    pub bytes: usize,
}

/// What the workers share.
struct Shared<'a> {
    store: Store,
    options: Options<'a>,
    start: Instant,
    halt: AtomicBool,
    stop: Mutex<Option<StopReason>>,
    found: Mutex<Option<(StateId, Kind)>>,
    transitions: AtomicU64,
    finals: AtomicU64,
    blocked: AtomicU64,
    last_report: Mutex<Duration>,
}

/// Searches all states that the machine reaches; `done` gets each worker back at the end.
pub fn search<'m, M: Machine>(
    machine: &'m M,
    options: Options<'_>,
    mut done: impl FnMut(M::Worker<'m>),
) -> Found {
    let shared = Shared {
        store: Store::new(machine.width()),
        options,
        start: Instant::now(),
        halt: AtomicBool::new(false),
        stop: Mutex::new(None),
        found: Mutex::new(None),
        transitions: AtomicU64::new(0),
        finals: AtomicU64::new(0),
        blocked: AtomicU64::new(0),
        last_report: Mutex::new(Duration::ZERO),
    };
    let jobs = if options.order == Order::Depth { 1 } else { options.jobs.max(1) };
    let mut workers: Vec<M::Worker<'m>> = (0..jobs).map(|_| machine.worker()).collect();
    let initial = workers[0].initial();
    let root = shared.store.insert(&initial, None);
    match options.order {
        Order::Breadth => breadth_first(machine, &shared, &mut workers),
        Order::Depth => depth_first(machine, &shared, &mut workers[0], root),
    }
    workers.into_iter().for_each(&mut done);
    let bytes = shared.store.bytes() + machine.bytes();
    let take = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Found {
        states: shared.store.len() as u64,
        bytes,
        transitions: take(&shared.transitions),
        finals: take(&shared.finals),
        blocked: take(&shared.blocked),
        stopped_at: shared.found.into_inner().unwrap_or_else(PoisonError::into_inner),
        stop: shared.stop.into_inner().unwrap_or_else(PoisonError::into_inner),
        store: shared.store,
    }
}

/// Rows that a worker takes at once.
const PIECE: usize = 512;

fn breadth_first<'m, M: Machine>(machine: &'m M, shared: &Shared<'_>, workers: &mut [M::Worker<'m>]) {
    let mut done: Vec<usize> = vec![0; shared.store.shards()];
    while !shared.halt.load(Ordering::Relaxed) {
        let level: Vec<usize> = (0..done.len()).map(|shard| shared.store.shard_len(shard)).collect();
        let mut pieces = Vec::new();
        for (shard, (&from, &to)) in done.iter().zip(&level).enumerate() {
            let starts = (from..to).step_by(PIECE);
            pieces.extend(starts.map(|start| (shard, start, to.min(start + PIECE))));
        }
        if pieces.is_empty() {
            return;
        }
        let taken = AtomicUsize::new(0);
        let (first, rest) = workers.split_at_mut(1);
        // A small level is not worth waking anybody up.
        let rest = if pieces.len() > 64 || pieces.iter().map(|p| p.2 - p.1).sum::<usize>() > 4 * PIECE {
            rest
        } else {
            &mut []
        };
        std::thread::scope(|scope| {
            for worker in rest {
                scope.spawn(|| expand_pieces(machine, shared, worker, &pieces, &taken));
            }
            expand_pieces(machine, shared, &mut first[0], &pieces, &taken);
        });
        done = level;
    }
}

fn expand_pieces<M: Machine, W: Worker<Label = M::Label>>(
    machine: &M,
    shared: &Shared<'_>,
    worker: &mut W,
    pieces: &[(usize, usize, usize)],
    taken: &AtomicUsize,
) {
    let mut out = Successors::new(machine.width(), false);
    let (mut rows, mut ids) = (Vec::new(), Vec::new());
    while let Some(&(shard, from, to)) = pieces.get(taken.fetch_add(1, Ordering::Relaxed)) {
        rows.clear();
        ids.clear();
        shared.store.copy(shard, from, to, &mut rows, &mut ids);
        let mut counts = Counts::default();
        for (row, id) in rows.chunks_exact(machine.width()).zip(&ids) {
            expand(shared, worker, row, *id, &mut out, &mut counts, |_| {});
        }
        counts.add_to(shared);
        if shared.limits(|| machine.bytes()) {
            return;
        }
    }
}

fn depth_first<M: Machine, W: Worker<Label = M::Label>>(
    machine: &M,
    shared: &Shared<'_>,
    worker: &mut W,
    root: Option<StateId>,
) {
    let mut out = Successors::new(machine.width(), false);
    let mut stack: Vec<StateId> = root.into_iter().collect();
    let mut counts = Counts::default();
    let mut since_check = 0;
    while let Some(id) = stack.pop() {
        let row = shared.store.row(id);
        expand(shared, worker, &row, id, &mut out, &mut counts, |new| stack.push(new));
        since_check += 1;
        if since_check == PIECE {
            since_check = 0;
            std::mem::take(&mut counts).add_to(shared);
            if shared.limits(|| machine.bytes() + stack.capacity() * 4) {
                return;
            }
        }
        if shared.halt.load(Ordering::Relaxed) {
            break;
        }
    }
    counts.add_to(shared);
}

/// Counters of a worker between two looks at the limits.
#[derive(Default)]
struct Counts {
    transitions: u64,
    finals: u64,
    blocked: u64,
}

impl Counts {
    fn add_to(self, shared: &Shared<'_>) {
        shared.transitions.fetch_add(self.transitions, Ordering::Relaxed);
        shared.finals.fetch_add(self.finals, Ordering::Relaxed);
        shared.blocked.fetch_add(self.blocked, Ordering::Relaxed);
    }
}

/// Expands one state and stores its successors.
fn expand<W: Worker>(
    shared: &Shared<'_>,
    worker: &mut W,
    row: &[u32],
    id: StateId,
    out: &mut Successors<W::Label>,
    counts: &mut Counts,
    mut new: impl FnMut(StateId),
) {
    out.clear();
    let kind = worker.expand(row, out);
    let mut any = false;
    for successor in out.rows() {
        any = true;
        counts.transitions += 1;
        if let Some(id) = shared.store.insert(successor, Some(id)) {
            new(id);
        }
    }
    match kind {
        Kind::Final => counts.finals += 1,
        Kind::Ordinary if !any => counts.blocked += 1,
        Kind::Ordinary => {}
        Kind::Bad | Kind::Limit => shared.stop_at(id, kind),
    }
}

impl Shared<'_> {
    /// Notes a state where the search ends; a finding is worth more than a limit.
    fn stop_at(&self, id: StateId, kind: Kind) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none_or(|(_, old)| old == Kind::Limit && kind == Kind::Bad) {
            *found = Some((id, kind));
        }
        if kind == Kind::Bad {
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Reports progress; true if the search has to stop.
    fn limits(&self, machine_bytes: impl Fn() -> usize) -> bool {
        let options = &self.options;
        let elapsed = self.start.elapsed();
        let bytes = || self.store.bytes() + machine_bytes();
        if let Some(report) = options.progress
            && let Ok(mut last) = self.last_report.try_lock()
            && elapsed > *last + Duration::from_millis(500)
        {
            *last = elapsed;
            report(Progress { states: self.store.len() as u64, bytes: bytes(), elapsed });
        }
        // Vectors and tables double when they grow, so a third of the limit may be needed in one step.
        let memory = options.max_bytes.is_some_and(|most| bytes() > most / 3 * 2) || self.store.is_full();
        let reason = if options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(StopReason::Interrupted)
        } else if options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(StopReason::Timeout)
        } else if memory {
            Some(StopReason::MaxMemory)
        } else if options.max_states.is_some_and(|most| self.store.len() as u64 >= most) {
            Some(StopReason::MaxStates)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
            self.halt.store(true, Ordering::Relaxed);
        }
        self.halt.load(Ordering::Relaxed)
    }
}
