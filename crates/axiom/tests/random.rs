//! Random C programs under every model that the explorer knows: the same verdict, and what is found is confirmed.
//!
//! `FENCEPOST_CASES` says how many programs (60), `FENCEPOST_SEED` which is the first (0).

mod support;

use fencepost_answer::{FindingKind, Verdict};
use fencepost_axiom::Options;
use fencepost_models::Model;
use support::{answered, compiled, explored, options, program};

const MODELS: [&str; 8] = ["sc", "tso", "pso", "ra", "rc11", "rc20", "power", "armv8"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn the_explorer_gives_the_same_answers() {
    let (cases, first) = (number("FENCEPOST_CASES", 60), number("FENCEPOST_SEED", 0));
    let (mut answers, mut wrong, mut refused, mut skipped) = (0, 0, 0, 0);
    let mut unsafe_under = [0u32; MODELS.len()];
    for seed in first..first + cases {
        let text = program(seed);
        let compiled = compiled(&text);
        if std::env::var("FENCEPOST_SHOW").is_ok() {
            println!("{seed}\n{text}");
        }
        for name in MODELS {
            let model = Model::builtin(name).expect("built in");
            let Some(kinds) = explored(&compiled, name, &model, &text) else {
                skipped += 1;
                continue;
            };
            let known = [FindingKind::Assertion, FindingKind::DataRace];
            if kinds.iter().any(|kind| !known.contains(kind))
                && !kinds.iter().any(|kind| known.contains(kind))
            {
                // Who waits for ever is somebody else's business.
                skipped += 1;
                continue;
            }
            // Lemmas and substitution change no answer.
            let options = Options { lemmas: seed % 3 != 0, private_memory: seed % 5 != 0, ..options(&model) };
            let outcome = match answered(&compiled, name, &model, &options) {
                Ok(outcome) => outcome,
                Err(_) => {
                    refused += 1;
                    continue;
                }
            };
            let expected = if kinds.is_empty() { Verdict::Safe } else { Verdict::Unsafe };
            assert_eq!(
                outcome.verdict, expected,
                "seed {seed} under {name}: explorer {kinds:?}, {outcome:?}\n{text}"
            );
            answers += 1;
            wrong += u32::from(expected == Verdict::Unsafe);
            let of_model = MODELS.iter().position(|other| *other == name).expect("one of them");
            unsafe_under[of_model] += u32::from(expected == Verdict::Unsafe);
        }
    }
    println!("unsafe under {MODELS:?}: {unsafe_under:?}");
    println!("{answers} answers, {wrong} of them unsafe, {refused} refused, {skipped} skipped");
    assert!(answers > cases, "{answers} answers");
}
