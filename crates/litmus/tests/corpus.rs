//! Every shared litmus test parses, and says what its reference row says. Absent outside the development tree.

use fencepost_diag::SourceFile;
use fencepost_ir::{Property, Quantifier};
use std::io::Write;
use std::path::{Path, PathBuf};

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus");
    path.join("expected.jsonl").exists().then_some(path)
}

/// The string value of a key in a JSON object on one line; enough for this file's regular rows.
fn field(line: &str, key: &str) -> String {
    let start = line.find(&format!("\"{key}\": \"")).map(|at| at + key.len() + 5);
    let Some(start) = start else { return String::new() };
    let mut out = String::new();
    let mut chars = line[start..].chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// The first state of a row with its values removed: `1:r1=; [x]=;`.
fn first_shape(line: &str) -> String {
    let Some(start) = line.find("\"states\": [\"") else { return String::new() };
    let state = line[start + 12..].split('"').next().unwrap_or("");
    let item = |item: &str| item.split('=').next().unwrap_or("").to_string() + "=;";
    state.split_terminator(';').map(|i| item(i.trim())).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_shared_test_parses_and_matches_its_row() {
    let Some(root) = shared() else {
        // Not `eprintln!`, which the harness shows only when a test fails.
        let _ = writeln!(std::io::stderr(), "absent: the shared litmus tests; nothing was compared");
        return;
    };
    let rows = std::fs::read_to_string(root.join("expected.jsonl")).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for row in rows.lines() {
        count += 1;
        let name = field(row, "file");
        let file = SourceFile::new(&name, std::fs::read_to_string(root.join(&name)).unwrap());
        let test = match fencepost_litmus::parse(&file) {
            Ok(test) => test,
            Err(errors) => {
                failures.extend(errors.iter().map(|e| e.render(&file)));
                continue;
            }
        };
        let Property::Final(condition) = &test.program.property else { panic!("{name}: no final condition") };
        let quantifier = match field(row, "condition").split([' ', '(']).next() {
            Some("exists") => Quantifier::Exists,
            Some("~exists") => Quantifier::NotExists,
            Some("forall") => Quantifier::ForAll,
            other => panic!("{name}: condition starts with {other:?}"),
        };
        if quantifier != condition.quantifier {
            failures.push(format!("{name}: {:?}", condition.quantifier));
        }
        let zeros = vec![fencepost_ir::Value::ZERO; condition.observed.len()];
        let shape = fencepost_litmus::show_state(&test.program, &zeros).replace("=0;", "=;");
        if !first_shape(row).is_empty() && shape != first_shape(row) {
            failures.push(format!("{name}: shows {shape}, expected {}", first_shape(row)));
        }
    }
    let shown = failures.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {count} rows differ\n{shown}", failures.len());
    assert!(count > 1000);
}
