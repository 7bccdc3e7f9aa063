//! Nothing stays between executions. Alone in its process, whose memory is measured.

use fencepost_loom::sync::Arc;
use fencepost_loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use fencepost_loom::{Config, Report, thread};

fn all(f: impl Fn() + Sync + Send + 'static) -> Report {
    Config { stop_at_first: false, ..Config::default() }.check(f)
}

fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0) * 4096
}

/// Executions whose threads are left behind in the middle, and ones that panic, leave nothing.
#[test]
fn memory_stays_flat() {
    let program = |n: usize, panics: bool| {
        move || {
            let x = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..n)
                .map(|_| {
                    let x = x.clone();
                    thread::spawn(move || {
                        let kept = Vec::<u8>::with_capacity(100);
                        x.fetch_add(kept.capacity(), Relaxed);
                    })
                })
                .collect();
            let seen = x.load(Relaxed);
            assert!(!panics || seen < 200, "half of them");
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    };
    for panics in [false, true] {
        let small = all(program(4, panics));
        let before = resident();
        let large = all(program(6, panics));
        let after = resident();
        assert!(large.runs > 20 * small.runs, "{large}");
        assert!(after < before + (16 << 20), "{before} {after}");
        assert_eq!(large.findings.is_empty(), !panics, "{large}");
    }
}
