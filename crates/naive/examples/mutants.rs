//! Drops each axiom and each clause of each definition of the models once, and looks for a shared litmus test that
//! notices: `cargo run --release -p fencepost-naive --example mutants -- DIR/expected.jsonl [MODEL]`.

#[path = "../tests/corpus/compare.rs"]
mod compare;

use compare::{Outcome, Row, compare_under, rows};
use fencepost_models::Model;
use fencepost_naive::Limits;
use std::path::Path;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: mutants expected.jsonl [MODEL]");
        std::process::exit(3);
    };
    let only = arguments.next();
    let folder = Path::new(&file).parent().unwrap_or(Path::new(".")).to_path_buf();
    let rows = rows(Path::new(&file));
    for name in fencepost_models::builtin_names() {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.model == name).collect();
        if rows.is_empty() || only.as_ref().is_some_and(|m| *m != name) {
            continue;
        }
        let model = Model::builtin(name).expect("a built-in model");
        for (what, mutant) in mutants(&model) {
            let differs = |row: &&&Row| match compare_under(&folder, row, &mutant, &Limits::default()) {
                Outcome::Same => false,
                Outcome::Stopped(text) => panic!("{}: {text}", row.file),
                Outcome::Counts(_) | Outcome::Different(_) => true,
            };
            match rows.iter().find(differs) {
                Some(row) => println!("{name}: {what}: {}", row.file),
                None => println!("{name}: {what}: NOT NOTICED"),
            }
        }
    }
}

fn mutants(model: &Model) -> Vec<(String, Model)> {
    let axioms = model.axioms().into_iter().filter_map(|axiom| {
        let mutant = model.without_axiom(axiom.name)?;
        Some((format!("without {}", axiom.name), mutant))
    });
    let clauses = model.clauses().into_iter().map(|clause| {
        let mutant = model.with_definition(&clause.definition, &clause.rest).expect("a valid model");
        let text = clause.text.split_whitespace().collect::<Vec<_>>().join(" ");
        (format!("{} without {text}", clause.definition), mutant)
    });
    axioms.chain(clauses).collect()
}
