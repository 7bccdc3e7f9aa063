//! Mutated cat files: no panic, no hang, and every message can be rendered.
//!
//! Two seconds by default, ten when `CI` is set, or what `FENCEPOST_FUZZ_SECONDS` says. The seed is fixed; the number of
//! files depends on the machine.

mod common;

use common::{Random, execution};
use fencepost_diag::SourceFile;
use fencepost_models::{Model, builtin_names, builtin_source};
use std::time::{Duration, Instant};

const WORDS: [&str; 40] = [
    "let",
    "rec",
    "and",
    "in",
    "fun",
    "->",
    "acyclic",
    "irreflexive",
    "empty",
    "~",
    "flag",
    "as",
    "include",
    "\"cos.cat\"",
    "\"power.cat\"",
    "procedure",
    "call",
    "end",
    "begin",
    "try",
    "with",
    "if",
    "then",
    "else",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    "&",
    "\\",
    ";",
    "*",
    "+",
    "^-1",
    "po",
    "0",
    "=",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut words: Vec<String> = text.split_inclusive([' ', '\n']).map(str::to_string).collect();
    for _ in 0..1 + random.below(6) {
        if words.is_empty() {
            words.push("po ".into());
        }
        let at = random.below(words.len());
        match random.below(8) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, format!("{} ", WORDS[random.below(WORDS.len())])),
            2 => words[at] = format!("{} ", WORDS[random.below(WORDS.len())]),
            3 => words.insert(at, words[random.below(words.len())].clone()),
            4 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            5 => {
                let mut chars: Vec<char> = words[at].chars().collect();
                let place = random.below(chars.len() + 1);
                chars.insert(place, ['(', '*', '\'', '"', 'é', '\u{0}', '_', '-'][random.below(8)]);
                words[at] = chars.into_iter().collect();
            }
            6 => {
                let block: Vec<String> = words[at..(at + 30).min(words.len())].to_vec();
                let copies = 1 + random.below(20);
                (0..copies).for_each(|_| words.splice(at..at, block.clone()).for_each(drop));
            }
            _ => words.truncate(at),
        }
    }
    words.concat()
}

#[test]
fn mutated_models_neither_panic_nor_hang() {
    let seconds = std::env::var("FENCEPOST_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let default = if std::env::var_os("CI").is_some() { 10 } else { 2 };
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(default));
    let mut random = Random(0x5eed_cafe_f00d_0001);
    let bad = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut seeds: Vec<String> =
        builtin_names().into_iter().filter_map(builtin_source).map(str::to_string).collect();
    let mut files: Vec<_> =
        std::fs::read_dir(bad).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    seeds.extend(files.iter().map(|f| std::fs::read_to_string(f).expect("a text")));
    let empty = execution("");
    let full = execution("Wx1.rel sync Wy2<ctrl0 | Ry2.acq Wy3<amo0 isb<ctrl0 Rx0<addr0 | Wx2 dmb.st Wy1");
    let (mut count, mut good) = (0u64, 0u64);
    while Instant::now() < end {
        let seed = random.below(seeds.len());
        let text = mutate(&seeds[seed], &mut random);
        let started = Instant::now();
        let file = SourceFile::new("fuzz.cat", text);
        match Model::from_file(&file, &|_| None) {
            Ok(model) => {
                good += 1;
                model.check(&empty);
                model.check(&full);
            }
            Err(errors) => errors.iter().for_each(|e| assert!(!e.render(&file).is_empty())),
        }
        assert!(started.elapsed() < Duration::from_secs(5), "too slow:\n{}", file.text);
        count += 1;
    }
    eprintln!("{count} files, {good} of them models");
    assert!(count > 10 && good > 0);
}
