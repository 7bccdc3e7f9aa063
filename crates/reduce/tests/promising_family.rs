//! Machine and translation of the promising semantics on the family of six instructions with read-modify-writes, and on random
//! programs with a
//! read-modify-write behind writes that were not done yet; and on the shapes that the translation once lacked.
//!
//! `FENCEPOST_PROGRAMS=N` compares N programs of each kind, each at one pair of K = 0..=5 and 0..=3 promises in turn, and prints
//! figures; without it a slice of a
//! few seconds. `FENCEPOST_FIRST=N` begins elsewhere.

#[path = "support/promising.rs"]
mod support;

use std::time::Instant;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Compares; `at`: the program, K and promises. Panics at the end if anything differs, after all differences are printed.
fn compare(kind: &str, slice: u64, at: impl Fn(u64) -> (String, u64, u64)) {
    let (count, first) = (number("FENCEPOST_PROGRAMS"), number("FENCEPOST_FIRST").unwrap_or(0));
    let (start, mut differences, mut skipped) = (Instant::now(), Vec::new(), 0u64);
    for index in 0..count.unwrap_or(slice) {
        let (text, bound, promises) = at(first + index);
        match support::agrees_soon(&text, bound as u16, promises as u16) {
            Ok(true) => {}
            Ok(false) => skipped += 1,
            Err(difference) => {
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
    let compared = count.unwrap_or(slice) - skipped;
    println!(
        "{kind}: {compared} programs, {} differ, {skipped} left out; {:.1?}",
        differences.len(),
        start.elapsed()
    );
    assert!(differences.is_empty(), "{}", differences[0]);
    assert!(skipped * 20 <= compared + skipped, "{skipped} programs were left out");
}

#[test]
fn six_instructions() {
    compare("six", 40, |index| {
        // The step has no divisor in common with the number of programs, so that none comes twice.
        let text = support::of_six(index.wrapping_mul(2_654_435_761) % support::SIX);
        (text, 5 - (index % 12).saturating_sub(6), index / 12 % 4)
    });
}

#[test]
fn updates_behind_writes() {
    compare("biased", 15, |index| (support::biased(index), 3 + index % 3, 1 + index / 3 % 2));
}

fn shape(p: &str, q: &str, bound: u16, promises: u16, wanted: Option<&[u64]>) {
    let text = format!(
        "shared x, y; process P {{ reg a, b; {p} }} process Q {{ reg a, b; {q} }} observe x, y, P.a, Q.a; exists true;"
    );
    support::agrees_at(&text, bound, promises).unwrap_or_else(|difference| panic!("{difference}"));
    let (machine, _) = support::both(&text, bound, promises);
    let found = |wanted: &[u64]| {
        machine.iter().any(|state| state.iter().map(|value| value.0).eq(wanted.iter().copied()))
    };
    if let Some(wanted) = wanted {
        assert!(found(wanted), "{text}: {wanted:?} is not among {machine:?}");
    }
}

/// The promise y = 2 is certified by a compare-exchange that takes its lower part, and a store that fulfils it.
#[test]
fn certified_by_being_split() {
    shape("a := x; b := cas(y, 0, 1); y := 2;", "a := y; x := a;", 4, 1, Some(&[2, 2, 2, 2]));
}

/// A read-modify-write fulfils a promise above a write of its thread that is done later than the promise.
#[test]
fn split_by_a_write_that_is_done_later() {
    shape("a := x; y := 1; b := fetch_add(y, 1);", "a := y; x := a;", 4, 1, Some(&[2, 2, 2, 2]));
}

/// A read-modify-write that nobody reads has to be promised before what comes behind it can be: strong consistency adds none.
#[test]
fn a_promise_that_nobody_reads() {
    let text = "shared x, y, z; process P { reg a, b; a := z; b := fetch_add(y, 1); x := 1; } \
                process Q { reg a; a := x; z := a; } observe x, y, z, P.a; exists true;";
    for promises in 1..=2 {
        support::agrees_at(text, 4, promises).unwrap_or_else(|difference| panic!("{difference}"));
        let (_, reduced) = support::both(text, 4, promises);
        assert_eq!(reduced.iter().any(|state| state[3].0 == 1), promises == 2, "{promises} promises");
    }
}

/// Three threads: what is read from the promise leads another one to write below it, and the owner's read-modify-write reads
/// that.
#[test]
fn a_message_of_another_thread_below_a_promise() {
    let text = "shared x, y; process P { reg a, b; a := x; b := fetch_add(y, 1); } process Q { reg a; a := y; if (a \
        == 1) { x := 1; } } \
                process R { reg a; a := x; y := 0; } observe x, y, P.a, P.b, Q.a, R.a; exists true;";
    support::agrees_at(text, 4, 1).unwrap_or_else(|difference| panic!("{difference}"));
}
