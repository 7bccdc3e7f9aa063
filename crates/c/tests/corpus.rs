//! Every program of the corpus says what it is and what is expected of it per model; it compiles without a warning, and
//! where sequential consistency is said to be safe, random schedules find nothing.

mod support;

use std::path::Path;
use support::{End, Machine, Memory, compile};

const MODELS: [&str; 7] = ["sc", "tso", "pso", "ra", "rc11", "power", "armv8"];

fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a program");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    found.sort();
    found
}

/// The verdict of the line `expect:` for each model.
fn expectations(name: &str, text: &str) -> Vec<(String, String)> {
    assert!(text.starts_with("/*\n * "), "{name} does not begin with a comment");
    assert!(text.contains("\n * why: "), "{name} does not say why");
    let line = text.lines().find_map(|l| l.strip_prefix(" * expect: "));
    let line = line.unwrap_or_else(|| panic!("{name} has no line `expect:`"));
    let found: Vec<(String, String)> = line
        .split_whitespace()
        .map(|word| {
            let (model, verdict) = word.split_once('=').expect("model=verdict");
            (model.to_string(), verdict.to_string())
        })
        .collect();
    let models: Vec<&str> = found.iter().map(|(model, _)| model.as_str()).collect();
    assert_eq!(models, MODELS, "{name}");
    assert!(found.iter().all(|(_, v)| v == "safe" || v == "unsafe"), "{name}: {line}");
    found
}

/// The machine of these tests has cells of one size each; programs that see the bytes of an int are for the engines.
fn is_beyond_this_machine(end: &End) -> bool {
    matches!(end, End::Finding(what) if what.starts_with("access of another size"))
}

#[test]
fn the_corpus_is_large_enough() {
    assert!(programs().len() >= 150, "{} programs", programs().len());
}

#[test]
fn every_program_compiles_and_keeps_its_word_under_sequential_consistency() {
    let mut wrong = Vec::new();
    for (name, text) in programs() {
        let expected = expectations(&name, &text);
        let Ok(compiled) = std::panic::catch_unwind(|| compile(&name, &text, &[])) else {
            wrong.push(format!("{name}: does not compile"));
            continue;
        };
        for warning in &compiled.warnings {
            wrong.push(format!("{name}: {}", compiled.sources.render(warning)));
        }
        let safe = expected[0].1 == "safe";
        let mut ends: Vec<End> = Vec::new();
        for seed in 1..=60u64 {
            ends.push(Machine::new(&compiled.program, seed * 0x9e37_79b9).run(4_000));
        }
        if ends.iter().any(is_beyond_this_machine) {
            continue;
        }
        let bad = |end: &&End| matches!(end, End::Finding(_) | End::Deadlock);
        match ends.iter().find(bad) {
            Some(end) if safe => wrong.push(format!("{name}: {end:?}")),
            // Rare schedules are for the engines; the programs of one finding each need no luck.
            // This machine does not know which local objects are constant.
            None if name.starts_with("finding_constant_local") => {}
            None if name.starts_with("finding_") && !safe && !ends.contains(&End::Steps) => {
                wrong.push(format!("{name}: found nothing"));
            }
            _ => {}
        }
        // Some programs of Table 1 run until an assumption on the number of turns fails.
        if safe && !ends.iter().any(|end| matches!(end, End::Done(_) | End::Assumed)) {
            wrong.push(format!("{name}: never ends: {:?}", ends.first()));
        }
    }
    assert!(wrong.is_empty(), "{} problems\n{}", wrong.len(), wrong.join("\n"));
}

/// Store buffers find no error in a program that is said to be safe under TSO or PSO, and those that they do find are the
/// expected ones. Not finding one proves nothing.
#[test]
fn store_buffers_agree_with_the_verdicts_for_tso_and_pso() {
    let mut wrong = Vec::new();
    for (name, text) in programs() {
        let expected = expectations(&name, &text);
        let compiled = compile(&name, &text, &[]);
        for (memory, index) in [(Memory::Tso, 1), (Memory::Pso, 2)] {
            if expected[index].1 != "safe" {
                continue;
            }
            for seed in 1..=60u64 {
                let end = Machine::with_memory(&compiled.program, seed * 0x9e37_79b9, memory).run(4_000);
                if matches!(end, End::Finding(_) | End::Deadlock) && !is_beyond_this_machine(&end) {
                    wrong.push(format!("{name} {memory:?}: {end:?}"));
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} problems\n{}", wrong.len(), wrong.join("\n"));
}
