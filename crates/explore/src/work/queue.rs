//! Work to give away.
//!
//! Every subtree is independent, so work is a list of items (`item.rs`): what is left of a search that may *pause*, and what
//! a worker hands to one that has nothing to do. That is what comes last of its own work, from the steps nearest to the root.

use crate::work::control::Task;
use crate::work::item::Item;
use crate::work::lock;
use crate::work::segments::Share;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

struct Waiting {
    items: Vec<Share>,
    idle: usize,
    done: bool,
}

/// The work of several workers, or of a search that may pause.
pub struct Queue {
    /// How many share the work, and the room for what they remember.
    pub workers: usize,
    /// Whether it matters where a worker is: there is more than one, or the search may pause.
    pub is_tracked: bool,
    /// Nothing is visited but the path of the item, to see how many visits there are at each step.
    pub surveys: bool,
    may_pause: bool,
    /// Workers that wait and are not promised anything yet.
    hungry: AtomicUsize,
    /// The last part that was handed over had nothing in it: the next one is given at once.
    in_vain: AtomicBool,
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

/// See [`Queue::leaving`].
struct Leaving<'a>(&'a Queue);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.close();
        }
    }
}

impl Queue {
    /// For that many workers, with what is left of a search that may pause.
    pub fn new(workers: usize, task: Option<&Task<'_>>) -> Queue {
        let mut items: Vec<Item> = task.map_or(&[][..], |task| task.items).to_vec();
        // The last one is taken first.
        items.sort_by(|a, b| b.cmp(a));
        let items = items.into_iter().map(Share::from).collect();
        Queue {
            workers: workers.max(1),
            is_tracked: workers > 1 || task.is_some(),
            surveys: task.is_some_and(|task| task.surveys),
            may_pause: task.is_some(),
            hungry: AtomicUsize::new(0),
            in_vain: AtomicBool::new(false),
            waiting: Mutex::new(Waiting { items, idle: 0, done: false }),
            wake: Condvar::new(),
        }
    }

    /// Nobody waits for more work.
    pub fn close(&self) {
        lock(&self.waiting).done = true;
        self.wake.notify_all();
    }

    /// When what this gives is dropped by a panic, nobody waits for more work.
    pub fn leaving(&self) -> impl Drop + use<'_> {
        Leaving(self)
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
        let mut waiting = lock(&self.waiting);
        self.in_vain.store(false, Ordering::Relaxed);
        if self.hungry.load(Ordering::Relaxed) == 0 {
            return;
        }
        // What is left when a search pauses are items, which have no end.
        if let Some(share) = part(!self.may_pause) {
            self.hungry.fetch_sub(1, Ordering::Relaxed);
            waiting.items.push(share);
            self.wake.notify_one();
        }
    }

    /// The next piece of work; `None` when all workers are idle.
    pub fn take(&self) -> Option<Share> {
        let mut waiting = lock(&self.waiting);
        if let Some(item) = waiting.items.pop() {
            return Some(item);
        }
        waiting.idle += 1;
        self.hungry.fetch_add(1, Ordering::Relaxed);
        loop {
            if waiting.idle == self.workers && waiting.items.is_empty() {
                waiting.done = true;
                self.wake.notify_all();
            }
            if waiting.done {
                return None;
            }
            if let Some(item) = waiting.items.pop() {
                waiting.idle -= 1;
                return Some(item);
            }
            let (guard, _) = self
                .wake
                .wait_timeout(waiting, Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner);
            waiting = guard;
        }
    }
}
