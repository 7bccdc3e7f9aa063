//! Tests of other architectures and of the Linux kernel against their reference results: every so many of them, so that it stays
//! quick; `cargo xtask litmus-table` runs all. Absent outside the development tree.

mod support;

use std::io::Write;
use std::path::{Path, PathBuf};

/// Rows that differ, and why.
const KNOWN: [(&str, &str); 3] = [
    ("lkmm/manual/plain/C-OOTA.litmus", "values out of thin air that nobody could store"),
    ("lkmm/manual/extra/C-lb+deref-o+deref-o.litmus", "accesses of different sizes in C"),
    ("lkmm/manual/extra/C-mp+o-rel+deref-addr-o.litmus", "accesses of different sizes in C"),
];

fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/litmus-more");
    folder.join("expected.jsonl").exists().then_some(folder)
}

#[test]
fn tests_of_other_architectures_agree_with_their_rows() {
    let Some(folder) = shared() else {
        let _ = writeln!(std::io::stderr(), "absent: more shared litmus tests; nothing was compared");
        return;
    };
    let rows = std::fs::read_to_string(folder.join("expected.jsonl")).expect("rows");
    let files = rows.lines().filter_map(|row| {
        let row: serde_json::Value = serde_json::from_str(row).ok()?;
        Some(row["file"].as_str()?.to_string())
    });
    let files: Vec<String> = files
        .filter(|file| {
            !KNOWN.iter().any(|(known, _)| known == file) && !file.contains("Amo") && !file.contains("QXW")
        })
        .step_by(40)
        .map(|file| folder.join(file).display().to_string())
        .collect();
    let expected = folder.join("expected.jsonl").display().to_string();
    let mut args = vec!["litmus", "--compare", &expected];
    args.extend(files.iter().map(String::as_str));
    let output = support::fencepost(&args).output().expect("it runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let compared = format!("{} rows compared: 0 differ", files.len());
    assert!(text.contains(&compared), "{}", text.lines().rev().take(30).collect::<Vec<_>>().join("\n"));
}
