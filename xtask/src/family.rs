//! Every program of the family (two threads, up to three statements each, two variables, up to renaming of threads and
//! variables), and random larger ones: machine against reduction, machine against axioms, large bounds against none.

#[path = "../../crates/reduce/tests/support/mod.rs"]
mod support;

use crate::Options;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn sequences() -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..3 {
        let longer =
            |s: &Vec<usize>| (0..support::SMALL.len()).map(|i| [&s[..], &[i]].concat()).collect::<Vec<_>>();
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all.remove(0);
    all
}

/// `x` and `y` change places.
fn renamed(sequence: &[usize]) -> Vec<usize> {
    sequence.iter().map(|&i| [1, 0, 3, 2, 4, 6, 5][i]).collect()
}

/// The family as text.
fn programs() -> Vec<String> {
    let all = sequences();
    let mut programs = Vec::new();
    for a in &all {
        for b in &all {
            let pair = (a.clone(), b.clone());
            let others = [(b.clone(), a.clone()), (renamed(a), renamed(b)), (renamed(b), renamed(a))];
            if others.iter().all(|other| pair <= *other) {
                programs.push(support::small(a, b));
            }
        }
    }
    programs
}

/// Compares on all cores; prints the differences, the count and the time, and returns the number of differences.
/// `compare` says whether the comparison applies to the program.
fn run(what: &str, programs: &[String], compare: impl Fn(&str) -> Result<bool, String> + Sync) -> usize {
    let start = Instant::now();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let differences = Mutex::new(Vec::new());
    let work = || {
        while let Some(text) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match compare(text) {
                Ok(applies) => {
                    done.fetch_add(usize::from(applies), Ordering::Relaxed);
                }
                // A worker that panicked has lost nothing that is in the list.
                Err(why) => differences.lock().unwrap_or_else(|e| e.into_inner()).push(why),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(work);
        }
    });
    let differences = differences.into_inner().unwrap_or_else(|e| e.into_inner());
    differences.iter().for_each(|why| println!("DIFFERENCE {what}: {why}"));
    let (done, seconds) = (done.into_inner(), start.elapsed().as_secs_f64());
    println!(
        "{what}: {done} of {} programs agree, {} differ, {seconds:.1} s",
        programs.len(),
        differences.len()
    );
    differences.len()
}

/// The three comparisons.
fn compare(kind: &str, programs: &[String]) -> usize {
    let reduction = run(
        &format!("{kind}: TSO machine = reduction under SC, rounds 1..3 and ages 0..2"),
        programs,
        |text| support::agrees(text).map(|()| true),
    );
    let axioms = run(&format!("{kind}, loop-free: SC, TSO and PSO machines = axioms"), programs, |text| {
        match text.contains("while") || text.contains("atomic") {
            true => Ok(false),
            false => support::axioms_agree(text).map(|()| true),
        }
    });
    let bounds = run(&format!("{kind}: age and rounds large enough = no bound"), programs, |text| {
        support::large_bounds_agree(text).map(|()| true)
    });
    reduction + axioms + bounds
}

/// The family.
pub fn family(options: &Options) -> usize {
    let picked: Vec<String> = programs().into_iter().step_by(options.every).collect();
    compare("family", &picked)
}

/// Random larger programs, the same each time.
pub fn larger(options: &Options) -> usize {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(4), ..Config::default() });
    let programs: Vec<String> = (0..options.larger)
        .filter_map(|_| support::larger().new_tree(&mut runner).ok())
        .map(|tree| support::text(&tree.current()))
        .collect();
    compare("larger", &programs)
}
