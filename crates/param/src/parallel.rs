//! The same function on many items, on several threads, with the results in the order of the items.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer items than this are not worth a thread.
pub const FEW: usize = 4;

/// Applies a function to every item.
pub fn map<I: Sync, T: Send>(jobs: usize, items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    map_few(if items.len() < FEW { 1 } else { jobs }, items, f)
}

/// The same for items that are worth a thread each, however few.
pub fn map_few<I: Sync, T: Send>(jobs: usize, items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    if jobs <= 1 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let result = f(item);
            if let Ok(mut slot) = results[at].lock() {
                *slot = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(items.len()) {
            scope.spawn(work);
        }
        work();
    });
    results.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
}
