//! The whole campaign: every program of the family (two threads, up to three statements each, two variables, up to
//! renaming of threads and variables), and random larger ones. `family [EVERY_NTH] [LARGER]`; prints what it did.

#[path = "../tests/support/mod.rs"]
mod support;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

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

fn main() -> Result<(), String> {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse::<usize>().ok());
    let (nth, larger) = (args.next().unwrap_or(1).max(1), args.next().unwrap_or(5000));
    let all = sequences();
    let mut programs = Vec::new();
    for a in &all {
        for b in &all {
            let pair = (a.clone(), b.clone());
            let others = [(b.clone(), a.clone()), (renamed(a), renamed(b)), (renamed(b), renamed(a))];
            if others.iter().all(|other| pair <= *other) {
                programs.push(pair);
            }
        }
    }
    let picked: Vec<_> = programs.iter().step_by(nth).collect();
    for (a, b) in &picked {
        support::agrees(&support::small(a, b))?;
    }
    println!("family: {} of {} programs agree, rounds 1..3 and ages 0..2", picked.len(), programs.len());
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(4), ..Config::default() });
    for _ in 0..larger {
        let threads = support::larger().new_tree(&mut runner).map_err(|e| e.to_string())?.current();
        support::agrees(&support::text(&threads))?;
    }
    println!("larger: {larger} random programs agree");
    Ok(())
}
