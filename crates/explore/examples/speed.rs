//! Times the explorer on programs built by hand: `cargo run --release -p fencepost-explore --example speed [WORKERS [NAME]]`.

#[allow(dead_code)]
#[path = "../tests/support/mod.rs"]
mod support;

use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::{Fence, Program};
use std::time::Instant;
use support::Builder;

fn time(name: &str, program: Program, model: ModelName) {
    let jobs = std::env::args().nth(1).and_then(|j| j.parse().ok()).unwrap_or(1);
    if std::env::args().nth(2).is_some_and(|only| only != name) {
        return;
    }
    let start = Instant::now();
    let options = Options { jobs, ..Options::new(model) };
    let Ok(found) = explore(&program, &options) else { return println!("{name}: unsupported") };
    let seconds = start.elapsed().as_secs_f64();
    let stats = found.stats;
    println!(
        "{name:24} {:6} {:>9} executions {:>9} blocked {:>9} nodes {:>8.2} ms {:>6.0} ns/node {:>5.2} nodes/execution",
        model.name(),
        stats.executions,
        stats.blocked,
        stats.nodes,
        seconds * 1e3,
        seconds * 1e9 / stats.nodes as f64,
        stats.nodes as f64 / stats.executions as f64
    );
}

fn sb_10w(sync: bool) -> Program {
    let mut b = Builder::new(3);
    for t in 0..2 {
        let thread = b.thread();
        thread.store(t, 1);
        if sync {
            thread.fence(Fence::Sync);
        }
        let r = thread.load(1 - t);
        thread.branch_if(r, |thread| (0..10).for_each(|_| thread.store(2, 1)));
    }
    b.program()
}

fn fetch_add(n: usize) -> Program {
    let mut b = Builder::new(1);
    for _ in 0..n {
        b.thread().fetch_add(0, 1);
    }
    b.program()
}

fn cas(n: i64) -> Program {
    let mut b = Builder::new(1);
    (0..n).for_each(|i| b.thread().compare_exchange(0, i - 1, i));
    b.program()
}

fn readers(n: usize) -> Program {
    let mut b = Builder::new(1);
    for _ in 0..n {
        b.thread().load(0);
    }
    b.thread().store(0, 1);
    b.program()
}

fn fib(n: usize) -> Program {
    let mut b = Builder::new(2);
    b.init(0, 1);
    b.init(1, 1);
    for t in 0..2 {
        let thread = b.thread();
        for _ in 0..n {
            let mine = thread.load(t);
            let other = thread.load(1 - t);
            thread.store_sum(t, mine, other);
        }
    }
    b.program()
}

/// Six threads with one `fetch_add` and then `reads` loads of another cell: the cost of a node against the number of events.
fn long_threads(reads: usize) -> Program {
    let mut b = Builder::new(2);
    for _ in 0..6 {
        let thread = b.thread();
        thread.fetch_add(0, 1);
        (0..reads).for_each(|_| {
            thread.load(1);
        });
    }
    b.program()
}

fn main() {
    time("SB+10W", sb_10w(false), ModelName::Power);
    time("SB+10W+syncs", sb_10w(true), ModelName::Power);
    time("fib 5", fib(5), ModelName::Power);
    time("readers 13", readers(13), ModelName::Power);
    time("fetch_add 9", fetch_add(9), ModelName::Rc11);
    time("cas 12", cas(12), ModelName::Rc11);
    time("fib 6", fib(6), ModelName::Rc11);
    time("fib 6", fib(6), ModelName::Tso);
    time("readers 16", readers(16), ModelName::Rc11);
    for reads in [4, 10, 20, 40, 102, 331] {
        time(&format!("{} events", 6 * (reads + 2)), long_threads(reads), ModelName::Rc11);
    }
}
