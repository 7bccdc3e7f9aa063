//! Times native programs: `cargo run --release -p fencepost-loom --example speed`.

use fencepost_loom::sync::Arc;
use fencepost_loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use fencepost_loom::{Config, thread};
use std::time::Instant;

fn time(name: &str, n: usize, f: impl Fn(usize, &AtomicUsize) + Copy + Sync + Send + 'static) {
    let start = Instant::now();
    let report = Config::default().check(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..n)
            .map(|i| {
                let x = x.clone();
                thread::spawn(move || f(i, &x))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let seconds = start.elapsed().as_secs_f64();
    let each = seconds * 1e6 / (report.executions + report.blocked) as f64;
    println!(
        "{name}-{n}: {} executions, {} blocked, {} runs, {each:.2} us each",
        report.executions, report.blocked, report.runs
    );
}

fn main() {
    for n in [5, 7, 8] {
        time("fetch_add", n, |_, x| _ = x.fetch_add(1, SeqCst));
    }
    for n in [6, 8, 9] {
        time("chain", n, |i, x| _ = x.compare_exchange(i, i + 1, SeqCst, SeqCst));
    }
    for n in [8, 12] {
        time("readers", n, |i, x| if i == 0 { x.store(1, SeqCst) } else { _ = x.load(SeqCst) });
    }
}
