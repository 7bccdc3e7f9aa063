//! The models and the enumerator against the shared litmus tests with known results, where they are present.
//!
//! Every third row, each with `FENCEPOST_FULL`. Verdict, `holds`, states and the numbers of executions must all agree. The
//! example `corpus` does the same with an
//! expectation file of one's own.

mod compare;

use compare::{Outcome, compare, rows};
use fencepost_naive::Limits;
use std::io::Write;
use std::path::Path;

#[test]
fn shared_tests_have_their_known_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    let file = folder.join("expected.jsonl");
    if !file.exists() {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: the shared litmus tests; nothing was compared");
        return;
    }
    let (mut same, mut other) = (0, Vec::new());
    let step = if std::env::var_os("FENCEPOST_FULL").is_some() { 1 } else { 5 };
    for row in rows(&file).into_iter().step_by(step) {
        let outcome = compare(&folder, &row, &Limits::default());
        match &outcome {
            Outcome::Same => same += 1,
            Outcome::Stopped(text) | Outcome::Counts(text) | Outcome::Different(text) => {
                other.push(format!("{} {} {}: {text}", outcome.name(), row.model, row.file));
            }
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    assert!(same * step > 4000, "only {same} rows were compared");
}
