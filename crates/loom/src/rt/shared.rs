//! What all workers of an exploration share, and what is the same in every attempt.

use super::Here;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A place of the program: file, line, column.
pub type Site = (String, u32, u32);

/// What is wrong somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wrong {
    /// What.
    pub message: String,
    /// Where.
    pub places: Vec<String>,
}

/// What all workers share.
#[derive(Debug, Default)]
pub struct Shared {
    wrong: Mutex<(Vec<Wrong>, BTreeMap<Wrong, u32>)>,
    counted: Mutex<BTreeSet<Site>>,
    /// Where values were made that nobody was the last to drop.
    pub orphaned: Mutex<BTreeSet<Site>>,
    /// How often the program was run.
    pub runs: AtomicU64,
    /// Steps that a thread may make.
    pub most: AtomicU32,
    /// Whether a condition variable may wake a thread that nobody has notified.
    pub spurious_wakeups: AtomicBool,
    /// Whether `compare_exchange_weak` may fail without a reason.
    pub spurious_failures: AtomicBool,
    /// Under which model, as to fences: 0 none, 1 those of SeqCst, 2 all.
    pub fences: AtomicU32,
    /// Whether the program is run again before every step: for tests, which compare.
    pub anew: AtomicBool,
    /// Whether a thread has accessed memory while it unwound.
    pub unwound: AtomicBool,
}

static EPOCHS: AtomicU64 = AtomicU64::new(1);

/// A number that no other run has.
pub fn next_epoch() -> u64 {
    EPOCHS.fetch_add(1, Ordering::Relaxed)
}

fn site_of(here: Here) -> Site {
    (here.file().to_string(), here.line(), here.column())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Shared {
    /// The number of something that is wrong.
    pub fn site(&self, message: String, places: &[Here]) -> u32 {
        self.note(Wrong { message, places: places.iter().map(|here| here.to_string()).collect() })
    }

    /// The same at a place that is known as text.
    pub fn site_at(&self, message: String, place: String) -> u32 {
        self.note(Wrong { message, places: vec![place] })
    }

    fn note(&self, wrong: Wrong) -> u32 {
        let mut all = lock(&self.wrong);
        if let Some(&number) = all.1.get(&wrong) {
            return number;
        }
        let number = all.0.len() as u32;
        // What was handed in may lie in the memory of a run.
        all.0.push(wrong.clone());
        all.1.insert(wrong.clone(), number);
        number
    }

    /// What is wrong, by its number.
    pub fn wrong(&self, number: u32) -> Option<Wrong> {
        lock(&self.wrong).0.get(number as usize).cloned()
    }

    /// From now on the owners are counted step by step of what is made there. False if they were.
    pub fn count(&self, here: Here) -> bool {
        lock(&self.counted).insert(site_of(here))
    }

    /// Whether they are.
    pub fn counts(&self, here: Here) -> bool {
        lock(&self.counted).contains(&site_of(here))
    }

    /// Notes where a value was made that nobody was the last to drop.
    pub fn orphan(&self, here: Here) {
        lock(&self.orphaned).insert(site_of(here));
    }

    /// Counts the owners of all of these; whether that is new.
    pub fn count_orphans(&self) -> bool {
        let orphaned = std::mem::take(&mut *lock(&self.orphaned));
        let mut counted = lock(&self.counted);
        let before = counted.len();
        counted.extend(orphaned);
        counted.len() > before
    }

    /// Whether a fence means anything under the model.
    pub fn has_fence(&self, order: fencepost_ir::Order) -> bool {
        match self.fences.load(Ordering::Relaxed) {
            0 => false,
            1 => order == fencepost_ir::Order::SeqCst,
            _ => true,
        }
    }

    /// Steps that a thread may make.
    pub fn most_steps(&self) -> u32 {
        self.most.load(Ordering::Relaxed)
    }
}
