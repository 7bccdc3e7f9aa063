//! Where loom is known to be wrong: what is right.

use fencepost_loom::sync::Arc;
use fencepost_loom::sync::atomic::{AtomicUsize, Ordering::*, fence};
use fencepost_loom::{Config, Report, check, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as Std;

fn all(f: impl Fn() + Sync + Send + 'static) -> Report {
    let report = Config { stop_at_first: false, ..Config::default() }.check(f);
    assert!(report.is_safe(), "{report}");
    report
}

/// loom#180, #191: SeqCst accesses are more than acquire and release.
#[test]
fn seq_cst_forbids_what_acquire_and_release_allow() {
    let report = check(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (a, b) = (x.clone(), y.clone());
        let first = thread::spawn(move || {
            a.store(1, SeqCst);
            b.load(SeqCst)
        });
        y.store(1, SeqCst);
        let second = x.load(SeqCst);
        assert!(first.join().unwrap() == 1 || second == 1);
    });
    assert!(report.is_safe() && report.executions == 3, "{report}");
}

/// The same with fences.
#[test]
fn fences_forbid_it_too() {
    let report = check(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (a, b) = (x.clone(), y.clone());
        let first = thread::spawn(move || {
            a.store(1, Relaxed);
            fence(SeqCst);
            b.load(Relaxed)
        });
        y.store(1, Relaxed);
        fence(SeqCst);
        let second = x.load(Relaxed);
        assert!(first.join().unwrap() == 1 || second == 1);
    });
    assert!(report.is_safe(), "{report}");
}

/// loom#254, #389: no store comes between the halves of a swap.
#[test]
fn nothing_comes_between_the_halves_of_a_swap() {
    let report = all(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let other = x.clone();
        let swapper = thread::spawn(move || other.swap(1, Relaxed));
        x.store(2, Relaxed);
        let (was, is) = (swapper.join().unwrap(), x.load(Relaxed));
        assert!((was, is) == (0, 2) || (was, is) == (2, 1), "{was} {is}");
    });
    assert_eq!(report.executions, 2);
}

/// loom#282: all threads see the writes to a cell in one order.
#[test]
fn there_is_one_modification_order() {
    let report = all(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (1..3)
            .map(|n| {
                let x = x.clone();
                thread::spawn(move || x.store(n, Relaxed))
            })
            .collect();
        let other = x.clone();
        let reader = thread::spawn(move || (other.load(Relaxed), other.load(Relaxed)));
        let here = (x.load(Relaxed), x.load(Relaxed));
        let there = reader.join().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let disagree = |a, b| a == (1, 2) && b == (2, 1);
        assert!(!disagree(here, there) && !disagree(there, here));
    });
    assert!(report.executions > 18, "{report}");
}

/// loom#166: one more load does not make outcomes go away.
#[test]
fn an_extra_load_takes_no_outcome_away() {
    let outcomes = |extra: bool| {
        let seen = std::sync::Arc::new(Std::new(BTreeSet::new()));
        let noted = seen.clone();
        let report = all(move || {
            let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (a, b) = (x.clone(), y.clone());
            let first = thread::spawn(move || {
                a.store(1, Relaxed);
                b.load(Relaxed)
            });
            if extra {
                y.load(Relaxed);
            }
            y.store(1, Relaxed);
            let second = x.load(Relaxed);
            let outcome = (first.join().unwrap(), second);
            fencepost_loom::outside(|| noted.lock().unwrap().insert(outcome));
        });
        let seen = seen.lock().unwrap().clone();
        (seen, report.executions)
    };
    let (plain, extra) = (outcomes(false), outcomes(true));
    assert_eq!(plain.0.len(), 4);
    assert_eq!(plain, extra);
}

/// loom#422: a condition variable does not eat the token of `park`.
#[test]
fn a_condition_variable_leaves_the_token_of_park() {
    use fencepost_loom::sync::{Condvar, Mutex};
    let report = check(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let (other, main) = (pair.clone(), thread::current());
        let waker = thread::spawn(move || {
            main.unpark();
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        while !*ready {
            ready = pair.1.wait(ready).unwrap();
        }
        drop(ready);
        thread::park();
        waker.join().unwrap();
    });
    assert!(report.is_safe(), "{report}");
}

/// loom#162: spin locks need no larger `max_branches`.
#[test]
fn spin_locks_end() {
    let report = all(|| {
        let lock = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || {
                    while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
                        thread::yield_now();
                    }
                    lock.store(0, Release);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(report.executions < 40, "{report}");
}

/// Two readers of two writers disagree under release and acquire, and do not under SeqCst.
#[test]
fn independent_reads_of_independent_writes() {
    for (strong, executions) in [(false, 16), (true, 15)] {
        let report = all(move || {
            let (store, load) = if strong { (SeqCst, SeqCst) } else { (Release, Acquire) };
            let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let writers = (0..2).map(|i| {
                let cells = cells.clone();
                thread::spawn(move || {
                    cells[i].store(1, store);
                    0
                })
            });
            let readers = (0..2).map(|i| {
                let cells = cells.clone();
                thread::spawn(move || cells[i].load(load) * 2 + cells[1 - i].load(load))
            });
            let threads: Vec<_> = writers.chain(readers).collect();
            threads.into_iter().for_each(|thread| _ = thread.join().unwrap());
        });
        assert_eq!(report.executions, executions);
    }
}
