//! Machine and encoding of the promising semantics on the family of six instructions with read-modify-writes, and on random programs with a
//! read-modify-write behind writes that were not done yet.
//!
//! `FENCEPOST_PROGRAMS=N` compares N programs of each kind, spread over all of them, each at one pair of K = 0..=5 and 0..=3 promises in turn, and prints figures; without it a
//! slice of a few seconds. `FENCEPOST_FIRST=N` begins elsewhere.

#[path = "support/promising.rs"]
mod support;

use std::time::Instant;
use support::{Compared, UNCONFIRMED};

const BOUNDS: u64 = 6;
const PROMISES: u64 = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Compares; panics at the end if anything differs, after all differences are printed.
fn compare(kind: &str, slice: u64, program: impl Fn(u64, u64) -> String) {
    let (count, first) = (number("FENCEPOST_PROGRAMS"), number("FENCEPOST_FIRST").unwrap_or(0));
    let (start, programs) = (Instant::now(), count.unwrap_or(slice));
    let (mut agreed, mut skipped, mut unconfirmed, mut differences) = (0u64, 0u64, 0u64, Vec::new());
    for index in 0..programs {
        let text = program(first + index, programs);
        // Bounds in turn, those that allow most oftener.
        let bound = BOUNDS - 1 - (index % (2 * BOUNDS)).saturating_sub(BOUNDS);
        let promises = (index / (2 * BOUNDS)) % PROMISES;
        match support::agrees_at(&text, bound as u16, promises as u16) {
            Ok(Compared::Agree) => agreed += 1,
            Ok(Compared::Skipped) => skipped += 1,
            Err(difference) => {
                unconfirmed += u64::from(difference.contains(UNCONFIRMED));
                eprintln!("{difference}");
                differences.push(difference);
            }
        }
        if count.is_some() && index % 5000 == 4999 {
            eprintln!(
                "{kind}: {} programs, {} differ, {:.0?}",
                index + 1,
                differences.len(),
                start.elapsed()
            );
        }
    }
    println!(
        "{kind}: {agreed} programs agree, {} differ, {skipped} left out; {unconfirmed} runs were not confirmed; {:.1?}",
        differences.len(),
        start.elapsed()
    );
    assert!(differences.is_empty(), "{}", differences[0]);
    assert!(skipped * 100 <= programs, "{skipped} of {programs} programs have no end on the machine");
}

#[test]
fn six_instructions() {
    // A prime step walks through all instructions and splits.
    compare("six", 500, |index, _| support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX));
}

#[test]
fn updates_behind_writes() {
    compare("biased", 250, |index, _| support::biased(index));
}
