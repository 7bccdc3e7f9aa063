//! All programs of two threads with at most two instructions each, over two variables: the encoding has the machine's final
//! states with one to four contexts.
//!
//! The test takes every 97th of them; `FENCEPOST_STRIDE=1` takes all.

use super::support;
use fencepost_bmc::power::{Options, states_up_to};
use fencepost_machine::power;
use std::collections::BTreeSet;

const INSTRUCTIONS: [&str; 14] = [
    "x := 1;",
    "y := 1;",
    "r := x;",
    "r := y;",
    "x := r + 1;",
    "y := r + 1;",
    "s := x[r ^ r];",
    "s := y[r ^ r];",
    "x[r ^ r] := 2;",
    "y[r ^ r] := 2;",
    "if (r) { skip; }",
    "fence sync;",
    "fence lwsync;",
    "fence isync;",
];

fn threads() -> Vec<Vec<&'static str>> {
    let one = INSTRUCTIONS.iter().map(|a| vec![*a]);
    let two = INSTRUCTIONS.iter().flat_map(|a| INSTRUCTIONS.iter().map(move |b| vec![*a, *b]));
    one.chain(two).collect()
}

fn options(contexts: u32) -> power::Options<'static> {
    power::Options { only_complete: true, ..power::Options::new(Some(contexts), 2) }
}

#[test]
fn the_encoding_has_the_states_of_the_machine() {
    let stride = std::env::var("FENCEPOST_STRIDE").ok().and_then(|n| n.parse().ok()).unwrap_or(151);
    let threads = threads();
    let pairs = (0..threads.len()).flat_map(|i| (i..threads.len()).map(move |j| (i, j)));
    let mut checks = 0;
    for (i, j) in pairs.step_by(stride) {
        let program = support::power_program(&[threads[i].clone(), threads[j].clone()]);
        let encoded = states_up_to(&program, &Options::new(2), 1..=4).expect("supported").expect("no limit");
        for (contexts, encoded) in (1..=4).zip(encoded) {
            let machine: BTreeSet<_> = power::check(&program, &options(contexts))
                .expect("supported")
                .final_states
                .into_iter()
                .collect();
            assert_eq!(encoded, machine, "{contexts} contexts: {:?} {:?}", threads[i], threads[j]);
            checks += 1;
        }
    }
    println!("{checks} checks");
    assert!(checks > 500);
}
