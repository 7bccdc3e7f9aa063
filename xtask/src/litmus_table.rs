//! `cargo xtask litmus-table FOLDER...`: how many litmus tests are answered, by folder and architecture, why the others are
//! not, and how many answers differ from the reference results beside them.
//!
//! Reference results are `expected.jsonl` in the folder or in the one above it. The binary is that of `FENCEPOST`, or is built.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The tests of one folder and architecture.
#[derive(Default)]
struct Tally {
    tests: usize,
    answered: usize,
    compared: usize,
    different: Vec<String>,
    reasons: BTreeMap<String, usize>,
    seconds: f64,
}

/// Prints the table.
pub fn run(folders: impl Iterator<Item = String>) -> ExitCode {
    let folders: Vec<String> = folders.collect();
    if folders.is_empty() {
        eprintln!("usage: cargo xtask litmus-table FOLDER...");
        return ExitCode::from(3);
    }
    println!("| folder | architecture | tests | answered | compared | different | seconds |");
    println!("|---|---|---|---|---|---|---|");
    let mut wrong = 0;
    let mut details = Vec::new();
    for folder in &folders {
        let tallies = match tally(folder) {
            Ok(tallies) => tallies,
            Err(error) => {
                eprintln!("error: {folder}: {error}");
                return ExitCode::from(3);
            }
        };
        let shown =
            Path::new(folder).file_name().map_or(folder.clone(), |n| n.to_string_lossy().into_owned());
        for (arch, t) in tallies {
            let different = t.different.len();
            println!(
                "| {shown} | {arch} | {} | {} | {} | {different} | {:.2} |",
                t.tests, t.answered, t.compared, t.seconds
            );
            wrong += different;
            details.extend(t.different.into_iter().map(|line| format!("different: {line}")));
            details.extend(t.reasons.into_iter().map(|(reason, n)| format!("{n:6} {arch}: {reason}")));
        }
    }
    println!();
    details.iter().for_each(|line| println!("{line}"));
    ExitCode::from(u8::from(wrong > 0))
}

fn binary() -> Command {
    match std::env::var("FENCEPOST") {
        Ok(path) => Command::new(path),
        Err(_) => {
            let mut command = Command::new("cargo");
            command.args(["run", "--release", "--quiet", "-p", "fencepost", "--"]);
            command
        }
    }
}

/// The rows of reference results for the files of a folder, by file and model.
fn rows(folder: &Path) -> BTreeMap<(String, String), Value> {
    let mut rows = BTreeMap::new();
    for base in [Some(folder), folder.parent()].into_iter().flatten() {
        let text = std::fs::read_to_string(base.join("expected.jsonl")).unwrap_or_default();
        for row in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let file = base.join(row["file"].as_str().unwrap_or("")).display().to_string();
            rows.insert((file, row["model"].as_str().unwrap_or("").to_string()), row);
        }
    }
    rows
}

fn tally(folder: &str) -> Result<BTreeMap<String, Tally>, String> {
    let rows = rows(Path::new(folder));
    let output = binary().args(["litmus", "--json", "--timeout", "10", folder]).output();
    let output = output.map_err(|error| error.to_string())?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(answer) = serde_json::from_str::<Value>(line) else { continue };
        let Some(file) = answer["file"].as_str() else { continue };
        let tally = tallies.entry(architecture(file)).or_default();
        tally.tests += 1;
        if let Some(error) = answer["error"].as_str() {
            *tally.reasons.entry(reason(error)).or_default() += 1;
            continue;
        }
        if answer["verdict"].is_null() {
            *tally.reasons.entry("unknown".into()).or_default() += 1;
            continue;
        }
        tally.answered += 1;
        tally.seconds += answer["seconds"].as_f64().unwrap_or(0.0);
        let model = answer["model"].as_str().unwrap_or("").to_string();
        if let Some(row) = rows.get(&(file.to_string(), model)) {
            tally.compared += 1;
            let differs = |key: &str| !row[key].is_null() && row[key] != answer[key];
            if ["holds", "verdict", "states"].into_iter().any(differs) {
                let text = format!("{file}: {} instead of {}", answer["holds"], row["holds"]);
                tally.different.push(text);
            }
        }
    }
    Ok(tallies)
}

/// The first word of a test, comments apart.
fn architecture(file: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("empty").to_string()
}

/// The first line of an error without the names in it.
fn reason(error: &str) -> String {
    let line = error.lines().next().unwrap_or("");
    line.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { part } else { "…" }).collect()
}
