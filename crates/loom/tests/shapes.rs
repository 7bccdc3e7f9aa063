//! Executions of small programs, counted.

use fencepost_loom::sync::Arc;
use fencepost_loom::sync::atomic::{AtomicUsize, Ordering, Ordering::*, fence};
use fencepost_loom::{Config, Model, Report, thread};

fn explore(model: Model, f: impl Fn() + Sync + Send + 'static) -> Report {
    Config { model, stop_at_first: false, ..Config::default() }.check(f)
}

fn store_buffering(store: Ordering, load: Ordering) -> impl Fn() + Sync + Send + 'static {
    move || {
        let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = cells.clone();
        let second = thread::spawn(move || {
            other[1].store(1, store);
            other[0].load(load);
        });
        let other = cells.clone();
        let first = thread::spawn(move || {
            other[0].store(1, store);
            other[1].load(load);
        });
        first.join().unwrap();
        second.join().unwrap();
    }
}

#[test]
fn store_buffering_has_four_executions_and_three_under_sc() {
    assert_eq!(explore(Model::Rc11, store_buffering(Release, Acquire)).executions, 4);
    assert_eq!(explore(Model::Rc11, store_buffering(SeqCst, SeqCst)).executions, 3);
    assert_eq!(explore(Model::Sc, store_buffering(Relaxed, Relaxed)).executions, 3);
    assert_eq!(explore(Model::Tso, store_buffering(Relaxed, Relaxed)).executions, 4);
}

#[test]
fn additions_have_an_execution_for_each_order() {
    for (threads, expected) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let report = explore(Model::Rc11, move || {
            let sum = Arc::new(AtomicUsize::new(0));
            let adders: Vec<_> = (0..threads)
                .map(|_| {
                    let sum = sum.clone();
                    thread::spawn(move || {
                        sum.fetch_add(1, Relaxed);
                    })
                })
                .collect();
            adders.into_iter().for_each(|adder| adder.join().unwrap());
            assert_eq!(sum.load(Relaxed), threads);
        });
        assert_eq!((report.executions, report.findings.len()), (expected, 0), "{threads}: {report}");
        assert!(report.runs <= report.executions + report.blocked + 8, "{report}");
    }
}

#[test]
fn fences_publish() {
    let program = |first, second| {
        move || {
            let (data, flag) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (d, f) = (data.clone(), flag.clone());
            let writer = thread::spawn(move || {
                d.store(1, Relaxed);
                if first {
                    fence(Release);
                }
                f.store(1, Relaxed);
            });
            if flag.load(Relaxed) == 1 {
                if second {
                    fence(Acquire);
                }
                assert_eq!(data.load(Relaxed), 1);
            }
            writer.join().unwrap();
        }
    };
    let safe = explore(Model::Rc11, program(true, true));
    assert_eq!((safe.executions, safe.findings.len()), (2, 0), "{safe}");
    let unsafe_ = explore(Model::Rc11, program(true, false));
    assert_eq!(unsafe_.findings.len(), 1, "{unsafe_}");
}
