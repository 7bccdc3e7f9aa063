//! The models and the enumerator against the shared litmus tests with known results, where they are present.
//!
//! A sample by default; the example `corpus` runs all of them.

mod compare;

use compare::{Outcome, compare, rows};
use fencepost_naive::Limits;
use std::path::Path;

#[test]
fn shared_tests_have_their_known_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let file = folder.join("expected.jsonl");
    if !file.exists() {
        eprintln!("no shared tests: skipped");
        return;
    }
    let limits = Limits { candidates: 20_000, ..Limits::default() };
    let (mut same, mut different) = (0, Vec::new());
    for row in rows(&file).into_iter().step_by(7) {
        match compare(&folder, &row, &limits) {
            Outcome::Same => same += 1,
            Outcome::Stopped(_) => {}
            Outcome::Counts(text) | Outcome::Different(text) => {
                different.push(format!("{} {}: {text}", row.model, row.file));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(same > 500, "only {same} rows were compared");
}
