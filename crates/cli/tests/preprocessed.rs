//! Programs that another preprocessor has read, with the headers of the machine's C library in them, get the answers of the
//! programs that they were made of. Without a `cc` there is nothing to compare with, and the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Code of findings and number of executions, or the error.
fn answer(path: &Path, model: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["check", "--json", "-j1", "--max-executions", "2000", "-m", model])
        .arg(path)
        .output()
        .expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: serde_json::Value =
        serde_json::from_str(text.lines().last().unwrap_or("")).unwrap_or_default();
    if let Some(error) = answer["error"].as_str() {
        return format!("refused: {error}");
    }
    let mut codes: Vec<&str> =
        answer["findings"].as_array().into_iter().flatten().filter_map(|f| f["code"].as_str()).collect();
    codes.sort_unstable();
    format!("{} {codes:?} {}", answer["verdict"], answer["executions"])
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus/answers");
    let entries = std::fs::read_dir(folder).expect("the folder of answers");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == "c"));
    found.sort();
    found
}

#[test]
fn preprocessing_elsewhere_changes_no_answer() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("there is no cc on this machine: nothing to compare with");
        return;
    }
    let folder = std::env::temp_dir().join(format!("fencepost-preprocessed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the compiler");
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in programs() {
        let made = folder.join(path.with_extension("i").file_name().expect("a name"));
        let done = Command::new("cc").args(["-E", "-w", "-o"]).arg(&made).arg(&path).output();
        // Some programs include headers that only we have.
        if !done.expect("cc runs").status.success() {
            continue;
        }
        compared += 1;
        // In turn: what the preprocessor did is the same for all.
        let model = ["rc11", "armv8"][compared % 2];
        let (before, after) = (answer(&path, model), answer(&made, model));
        if before != after {
            wrong.push(format!("{} under {model}: {before}, preprocessed {after}", path.display()));
        }
    }
    std::fs::remove_dir_all(folder).ok();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 60, "only {compared} programs");
}
