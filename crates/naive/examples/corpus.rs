//! Runs the naive enumerator over litmus tests with known results and reports every difference.
//!
//! `cargo run --release -p fencepost-naive --example corpus -- DIR/expected.jsonl [MODEL] [WORD] [FILE.cat]` runs the
//! rows of the file, or those of one model whose file name contains a word, under that model or under another one. Verdict,
//! `holds` and states are compared, and the
//! counts; rows on which the enumerator stops are listed apart. The loop bound is 2.

#[path = "../tests/corpus/compare.rs"]
mod compare;

use compare::{Outcome, Row, compare, compare_under, rows};
use fencepost_diag::SourceFile;
use fencepost_models::Model;
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: corpus expected.jsonl [MODEL] [WORD] [FILE.cat]");
        std::process::exit(3);
    };
    let (model, word, other) = (arguments.next(), arguments.next(), arguments.next());
    let other = other.map(|path| load(Path::new(&path)));
    let wanted = |row: &Row| {
        model.as_ref().is_none_or(|m| *m == row.model) && word.as_ref().is_none_or(|w| row.file.contains(w))
    };
    let folder = Path::new(&file).parent().unwrap_or(Path::new(".")).to_path_buf();
    let mut totals: BTreeMap<(String, &'static str), (u32, f64)> = BTreeMap::new();
    for row in rows(Path::new(&file)).into_iter().filter(wanted) {
        let started = std::time::Instant::now();
        let limits = fencepost_naive::Limits::default();
        let outcome = match &other {
            Some(model) => compare_under(&folder, &row, model, &limits),
            None => compare(&folder, &row, &limits),
        };
        let seconds = started.elapsed().as_secs_f64();
        match &outcome {
            Outcome::Same => {}
            Outcome::Counts(text) | Outcome::Different(text) | Outcome::Stopped(text) => {
                println!("{} {} {}: {text} ({seconds:.2} s)", outcome.name(), row.model, row.file);
            }
        }
        let total = totals.entry((row.model.clone(), outcome.name())).or_default();
        *total = (total.0 + 1, total.1 + seconds);
    }
    for ((model, outcome), (count, seconds)) in totals {
        println!("{model:8} {outcome:10} {count:6} rows {seconds:9.2} s");
    }
}

fn load(path: &Path) -> Model {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let text = read(path).unwrap_or_else(|| panic!("cannot read {}", path.display()));
    let file = SourceFile::new(path.display().to_string(), text);
    Model::from_file(&file, &|name| read(&path.with_file_name(name))).unwrap_or_else(|errors| {
        errors.iter().for_each(|e| eprintln!("{}", e.render(&file)));
        std::process::exit(3)
    })
}
