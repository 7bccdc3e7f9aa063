//! Who watches an exploration sees counters that grow and an estimate of the right size.

mod support;

use fencepost_explore::{Limits, ModelName, Options, Progress, explore};
use support::Builder;

/// Watches the exploration of a program with two threads that add to each other's counters.
#[test]
fn the_estimate_has_the_right_size() {
    static PROGRESS: Progress = Progress::new();
    let mut b = Builder::new(2);
    for t in 0..2 {
        let thread = b.thread();
        for _ in 0..5 {
            let (mine, other) = (thread.load(t), thread.load(1 - t));
            thread.store_sum(t, mine, other);
        }
    }
    let program = b.program();
    assert_eq!(PROGRESS.estimate(), None);
    for part in [2, 4, 10] {
        let limits =
            Limits { progress: Some(&PROGRESS), max_executions: Some(19_404 / part), ..Limits::default() };
        let found =
            explore(&program, &Options { limits, ..Options::new(ModelName::Rc11) }).expect("supported");
        let seen = PROGRESS.stats();
        let (seen, all) = (seen.executions, found.stats.executions);
        assert!(seen > 0 && seen <= all, "{seen} of {all}");
        let estimate = PROGRESS.estimate().expect("an estimate");
        assert!((2_000..200_000).contains(&estimate), "{estimate} after 1/{part}");
    }
}
