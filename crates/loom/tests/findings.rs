//! What is found, with its places; and that nothing stays between executions.

use fencepost_loom::cell::UnsafeCell;
use fencepost_loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use fencepost_loom::sync::{Arc, Condvar, LazyLock, Mutex, OnceLock, Weak, mpsc};
use fencepost_loom::{Config, FindingKind, Model, Report, check, thread};

fn all(f: impl Fn() + Sync + Send + 'static) -> Report {
    Config { stop_at_first: false, ..Config::default() }.check(f)
}

/// The one finding of a report.
fn only(report: &Report, kind: FindingKind) -> String {
    assert_eq!(report.findings.len(), 1, "{report}");
    assert_eq!(report.findings[0].kind, kind, "{report}");
    report.findings[0].to_string()
}

struct Shared<T>(UnsafeCell<T>);

// SAFETY: races are what the tests look for.
#[allow(unsafe_code)]
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T> Send for Shared<T> {}

#[test]
fn a_failed_assertion_is_told_with_its_place() {
    let report = check(|| {
        let (data, flag) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (d, f) = (data.clone(), flag.clone());
        let writer = thread::spawn(move || {
            d.store(1, Relaxed);
            f.store(true, Relaxed);
        });
        if flag.load(Relaxed) {
            assert_eq!(data.load(Relaxed), 1, "the data is old");
        }
        writer.join().unwrap();
    });
    let again = Config::default().replay(|| (), &report.findings[0].replay);
    assert_eq!(again.map(|story| story.len()), Some(0), "another program has other steps");
    assert_eq!(Config::default().replay(|| (), "nonsense"), None);
    let text = only(&report, FindingKind::Assertion);
    assert!(text.contains("the data is old") && text.contains("findings.rs:38"), "{text}");
    assert!(text.contains("reads 1 (Relaxed), written by thread 1"), "{text}");
    assert!(text.contains("thread 0: fails behind"), "{text}");
}

#[test]
fn a_race_is_told_with_both_places() {
    let report = all(|| {
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let other = cell.clone();
        // SAFETY: a race is what is looked for.
        #[allow(unsafe_code)]
        let writer = thread::spawn(move || other.0.with_mut(|c| unsafe { *c = 1 }));
        cell.0.with(|_| ());
        writer.join().unwrap();
    });
    let text = only(&report, FindingKind::DataRace);
    assert_eq!(text.matches("  --> ").count(), 2, "{text}");
}

#[test]
fn a_pointer_that_is_published_without_order_is_found() {
    let report = all(|| {
        let slot = Arc::new(AtomicPtr::<AtomicUsize>::default());
        let other = slot.clone();
        let maker = thread::spawn(move || other.store(Box::into_raw(Box::new(AtomicUsize::new(5))), Relaxed));
        let there = slot.load(Acquire);
        if !there.is_null() {
            // SAFETY: memory of a run stays.
            #[allow(unsafe_code)]
            unsafe { &*there }.load(Relaxed);
        }
        maker.join().unwrap();
    });
    only(&report, FindingKind::UseBeforeAllocation);
}

#[test]
fn memory_that_is_used_after_it_was_given_back_is_found() {
    let report = all(|| {
        let cell = Box::into_raw(Box::new(AtomicUsize::new(0)));
        let number = cell as usize;
        let user = thread::spawn(move || {
            // SAFETY: that it may be gone is what is looked for.
            #[allow(unsafe_code)]
            unsafe { &*(number as *const AtomicUsize) }.load(Relaxed);
        });
        // SAFETY: as above.
        #[allow(unsafe_code)]
        drop(unsafe { Box::from_raw(cell) });
        user.join().unwrap();
    });
    assert!(report.findings.iter().all(|f| f.kind == FindingKind::UseAfterFree), "{report}");
    assert!(!report.findings.is_empty(), "{report}");
}

#[test]
fn locks_in_two_orders_are_a_deadlock() {
    let report = all(|| {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = locks.clone();
        let second = thread::spawn(move || {
            let _b = other.1.lock().unwrap();
            let _a = other.0.lock().unwrap();
        });
        {
            let _a = locks.0.lock().unwrap();
            let _b = locks.1.lock().unwrap();
        }
        second.join().unwrap();
    });
    let text = only(&report, FindingKind::Deadlock);
    assert!(text.contains("wait for ever"), "{text}");
}

#[test]
fn a_signal_that_comes_too_early_is_waited_for_for_ever() {
    let report = all(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = pair.clone();
        let waker = thread::spawn(move || other.1.notify_one());
        drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
        waker.join().unwrap();
    });
    only(&report, FindingKind::Deadlock);
}

#[test]
fn what_nobody_drops_is_a_leak() {
    let report = all(|| std::mem::forget(Arc::new(5)));
    assert!(only(&report, FindingKind::Leak).contains("an `Arc`"));
    let report = all(|| std::mem::forget(fencepost_loom::alloc::Track::new(5)));
    only(&report, FindingKind::Leak);
}

#[test]
fn spin_loops_wait() {
    let report = all(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = flag.clone();
        let setter = thread::spawn(move || other.store(true, Release));
        while !flag.load(Acquire) {
            thread::yield_now();
        }
        setter.join().unwrap();
    });
    assert!(report.is_safe() && report.executions <= 3, "{report}");
    let report = all(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {
            fencepost_loom::hint::spin_loop();
        }
    });
    only(&report, FindingKind::Deadlock);
}

/// A lock that spins some times and parks then: both ways are explored.
#[test]
fn loops_that_give_up_are_followed() {
    for rounds in [3, 5] {
        let report = all(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let (other, main) = (flag.clone(), thread::current());
            let setter = thread::spawn(move || {
                other.store(true, Release);
                main.unpark();
            });
            let mut spins = 0;
            while !flag.load(Acquire) && spins < rounds {
                spins += 1;
                fencepost_loom::hint::spin_loop();
            }
            if spins == rounds {
                thread::park();
                assert!(flag.load(Acquire));
            }
            setter.join().unwrap();
        });
        assert!(report.is_safe(), "{report}");
        assert_eq!(report.executions, rounds as u64 + 2, "{report}");
    }
    let report = all(|| {
        let flag = AtomicBool::new(false);
        for _ in 0..100 {
            if flag.load(Acquire) {
                return;
            }
            thread::yield_now();
        }
    });
    assert!(report.is_safe() && report.executions == 1, "{report}");
}

#[test]
fn a_loop_that_does_not_say_that_it_waits_is_cut() {
    let config = Config { max_branches: 50, ..Config::default() };
    let report = config.check(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(Acquire) {}
    });
    assert!(!report.is_complete() && report.findings.is_empty(), "{report}");
    assert!(
        report.to_string().contains("max_branches") && report.to_string().contains("findings.rs"),
        "{report}"
    );
}

#[test]
fn programs_that_depend_on_something_else_are_named() {
    static RUNS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let report = all(|| {
        let cell = Arc::new(AtomicUsize::new(0));
        let other = cell.clone();
        let run = RUNS.fetch_add(1, Relaxed);
        let writer = thread::spawn(move || other.store(1, Relaxed));
        if run.is_multiple_of(2) {
            cell.load(Relaxed);
        } else {
            cell.fetch_add(1, Relaxed);
        }
        writer.join().unwrap();
    });
    assert!(only(&report, FindingKind::Unsupported).contains("run again"));
}

#[test]
fn counting_owners_makes_no_executions_unless_somebody_looks() {
    let report = all(|| {
        let value = Arc::new(5);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let value = value.clone();
                thread::spawn(move || assert_eq!(*value, 5))
            })
            .collect();
        drop(value);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!((report.executions, report.findings.len()), (1, 0), "{report}");
    let report = all(|| {
        let value = Arc::new(5);
        let other = value.clone();
        let dropper = thread::spawn(move || drop(other));
        let count = Arc::strong_count(&value);
        assert!(count == 1 || count == 2);
        dropper.join().unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
    });
    assert_eq!((report.executions, report.findings.len()), (2, 0), "{report}");
}

/// What is dropped last may be what others wait for: then owners are counted.
#[test]
fn a_value_that_wakes_others_when_it_is_dropped_is_dropped_by_its_last_owner() {
    struct Wakes(fencepost_loom::thread::Thread);
    impl Drop for Wakes {
        fn drop(&mut self) {
            self.0.unpark();
        }
    }
    let report = all(|| {
        let value = Arc::new(Wakes(thread::current()));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let value = value.clone();
                thread::spawn(move || drop(value))
            })
            .collect();
        drop(value);
        thread::park();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(report.is_safe(), "{report}");
}

#[test]
fn weak_owners_are_upgraded_as_long_as_there_is_one() {
    let report = all(|| {
        let value = Arc::new(5);
        let weak: Weak<i32> = Arc::downgrade(&value);
        let dropper = thread::spawn(move || drop(value));
        if let Some(value) = weak.upgrade() {
            assert_eq!(*value, 5);
        }
        dropper.join().unwrap();
        assert!(weak.upgrade().is_none());
    });
    assert!(report.is_safe() && report.executions >= 2, "{report}");
}

#[test]
fn statics_begin_anew_in_every_run() {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    static ONCE: OnceLock<Vec<u8>> = OnceLock::new();
    static LAZY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![3]);
    fencepost_loom::lazy_static! {
        static ref OLD: Mutex<Vec<u8>> = Mutex::new(vec![1]);
    }
    fencepost_loom::thread_local! {
        static LOCAL: std::cell::Cell<usize> = std::cell::Cell::new(0);
    }
    let report = all(|| {
        let other = thread::spawn(|| {
            COUNT.fetch_add(1, Relaxed);
            OLD.lock().unwrap().push(2);
            assert_eq!(LOCAL.with(|local| local.replace(1)), 0);
            assert_eq!(ONCE.get_or_init(|| vec![7]).len(), 1);
        });
        COUNT.fetch_add(1, Relaxed);
        assert_eq!(LOCAL.with(|local| local.replace(2)), 0);
        assert_eq!(ONCE.get_or_init(|| vec![7])[0] + LAZY[0], 10);
        other.join().unwrap();
        assert_eq!(COUNT.load(Relaxed), 2);
        assert_eq!(OLD.lock().unwrap().len(), 2);
    });
    assert!(report.is_safe() && report.executions > 1, "{report}");
}

#[test]
fn channels_hand_values_over() {
    let report = all(|| {
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        let first = thread::spawn(move || sender.send(1).unwrap());
        let second = thread::spawn(move || other.send(2).unwrap());
        let sum: i32 = receiver.iter().sum();
        assert_eq!(sum, 3);
        first.join().unwrap();
        second.join().unwrap();
    });
    assert!(report.is_safe(), "{report}");
}

#[test]
fn time_may_be_up() {
    let report = all(|| {
        let (sender, receiver) = mpsc::channel::<i32>();
        let timed = receiver.recv_timeout(std::time::Duration::from_secs(1));
        assert_eq!(timed, Err(mpsc::RecvTimeoutError::Timeout));
        drop(sender);
    });
    assert!(report.executions >= 1, "{report}");
}

#[test]
fn scopes_and_many_threads() {
    let report = all(|| {
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| sum.fetch_add(1, Relaxed));
            scope.spawn(|| sum.fetch_add(1, Relaxed));
        });
        assert_eq!(sum.load(Relaxed), 2);
    });
    assert!(report.is_safe() && report.executions == 2, "{report}");
    let report = all(|| {
        let cell = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..20)
            .map(|_| {
                let cell = cell.clone();
                thread::spawn(move || cell.load(Relaxed))
            })
            .collect();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 0));
    });
    assert!(report.is_safe() && report.executions == 1, "{report}");
}

#[test]
fn workers_count_as_one_does() {
    let count = |workers| {
        let config = Config { workers, stop_at_first: false, ..Config::default() };
        config.check(|| {
            let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let threads: Vec<_> = (0..5)
                .map(|i| {
                    let cells = cells.clone();
                    thread::spawn(move || {
                        cells[i % 2].fetch_add(1, Relaxed);
                        cells[(i + 1) % 2].load(Relaxed);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        })
    };
    let (one, two) = (count(1), count(2));
    assert!(one.is_safe() && two.is_safe(), "{one}\n{two}");
    assert_eq!(one.executions, two.executions);
}

#[test]
fn models_that_need_values_first_are_refused() {
    for model in [Model::Power, Model::Armv8, Model::Pso] {
        let report = Config { model, ..Config::default() }.check(|| ());
        assert!(report.refused.is_some() && !report.is_safe(), "{report}");
    }
}
