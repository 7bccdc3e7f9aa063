//! Machine and encoding of the promising semantics on the family of six instructions with read-modify-writes, and on random
//! programs with a
//! read-modify-write behind writes that were not done yet.
//!
//! `FENCEPOST_PROGRAMS=N` compares N programs of each kind, spread over all of them, each for all K = 0..=5 and with 0 to 3
//! promises in turn, and prints figures; without it a slice of a few seconds. `FENCEPOST_FIRST=N` begins elsewhere,
//! `FENCEPOST_SLOW=S` names programs that take more than S seconds.

#[path = "support/promising.rs"]
mod support;

use std::time::Instant;
use support::{Compared, UNCONFIRMED};

/// The largest K.
const MOST: u16 = 5;
const PROMISES: u64 = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Compares; panics at the end if anything differs, after all differences are printed.
fn compare_by(kind: &str, slice: u64, agrees: impl Fn(u64) -> Result<Compared, String>) {
    let (count, first) = (number("FENCEPOST_PROGRAMS"), number("FENCEPOST_FIRST").unwrap_or(0));
    let (start, programs) = (Instant::now(), count.unwrap_or(slice));
    let (mut agreed, mut skipped, mut unconfirmed, mut differences) = (0u64, 0u64, 0u64, Vec::new());
    let mut more = 0u64;
    let slow = number("FENCEPOST_SLOW").unwrap_or(u64::MAX);
    for index in 0..programs {
        let before = Instant::now();
        let compared = agrees(first + index);
        if before.elapsed().as_secs() >= slow {
            eprintln!("{kind}: program {} took {:.1?}", first + index, before.elapsed());
        }
        match compared {
            Ok(Compared::Agree) => agreed += 1,
            Ok(Compared::Skipped) => skipped += 1,
            Ok(Compared::TooMany) => more += 1,
            Err(difference) => {
                unconfirmed += u64::from(difference.contains(UNCONFIRMED));
                eprintln!("{difference}");
                differences.push(difference);
            }
        }
        if count.is_some() && index % 1000 == 999 {
            eprintln!(
                "{kind}: {} programs, {} differ, {:.0?}",
                index + 1,
                differences.len(),
                start.elapsed()
            );
        }
    }
    println!(
        "{kind}: {agreed} programs agree, {more} have states too many, {} differ, {skipped} left out; \
         {unconfirmed} runs were not confirmed; {:.1?}",
        differences.len(),
        start.elapsed()
    );
    assert!(differences.is_empty(), "{}", differences[0]);
    assert!(skipped * 20 <= programs, "{skipped} of {programs} programs were left out");
}

#[test]
fn six_instructions() {
    // The step has no divisor in common with the number of programs, so that none comes twice.
    let program = |index: u64| support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX);
    compare_by("six", 100, |index| support::agrees_up_to(&program(index), MOST, (index % PROMISES) as u16));
}

/// With release and acquire, without promises.
#[test]
fn orders() {
    compare_by("orders", 150, |index| {
        let text = match index % 2 {
            0 => support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX),
            _ => support::biased(index),
        };
        support::agrees_with_orders(&text, index, (1 + index % 5) as u16, 0)
    });
}

/// With promises the encoding may have runs too many, but misses none.
#[test]
fn orders_and_promises() {
    compare_by("orders and promises", 30, |index| {
        let text = match index % 2 {
            0 => support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX),
            _ => support::biased(index),
        };
        match support::agrees_with_orders(&text, index, (2 + index % 4) as u16, 1) {
            Err(difference) if difference.contains(UNCONFIRMED) => Ok(Compared::Skipped),
            other => other,
        }
    });
}

#[test]
fn updates_behind_writes() {
    compare_by("biased", 60, |index| {
        support::agrees_up_to(&support::biased(index), MOST, 1 + (index % 2) as u16)
    });
}

/// The standard notion: the formula has every state of the machine.
#[test]
fn standard_notion() {
    compare_by("standard", 40, |index| {
        let text = match index % 2 {
            0 => support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX),
            _ => support::biased(index),
        };
        support::standard_has_all(&text, 4, 1 + (index / 2 % 2) as u16, None)
    });
}
