//! The crates may depend on each other only as the pipeline says: front ends know `ir`, engines know `ir` and `models`, no
//! engine knows a front end or another engine, and only the command line sees all. Dependencies of tests are free.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each crate may use, without the prefix `fencepost-`; `*` is everything.
const ALLOWED: &[(&str, &[&str])] = &[
    ("diag", &[]),
    // What every engine answers with.
    ("answer", &["diag", "ir"]),
    ("ir", &["diag"]),
    // Front ends.
    ("litmus", &["ir", "diag"]),
    ("c", &["ir", "diag"]),
    ("lang", &["ir", "diag"]),
    ("models", &["ir", "diag"]),
    // Tests from cycles, which are text, and tests as programs for this machine.
    ("cycle", &["diag"]),
    ("chip", &["litmus", "ir", "diag"]),
    // Engines.
    ("explore", &["answer", "ir", "models"]),
    ("naive", &["answer", "ir", "models"]),
    ("machine", &["answer", "ir", "models", "diag"]),
    ("reduce", &["answer", "ir", "models", "diag"]),
    ("bmc", &["answer", "ir", "models", "diag"]),
    // Any model as clauses, over the events of `bmc`.
    ("axiom", &["answer", "bmc", "ir", "models", "diag"]),
    ("param", &["answer", "diag"]),
    ("report", &["answer", "ir", "diag"]),
    // Native threads under the explorer: a front end and what asks in one.
    ("loom", &["answer", "explore", "ir", "models", "naive"]),
    // The work items of the explorer on many machines.
    ("cluster", &["explore"]),
    ("fencepost", &["*"]),
    ("xtask", &["*"]),
];

/// The dependencies of each crate on other crates of the workspace.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let name = |value: &serde_json::Value| {
        let name = value["name"].as_str().expect("a name");
        name.strip_prefix("fencepost-").unwrap_or(name).to_string()
    };
    let packages = metadata["packages"].as_array().expect("packages");
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let dependencies = |package: &serde_json::Value| {
        let all = package["dependencies"].as_array().expect("dependencies").iter();
        // Those of tests have the kind "dev"; ordinary ones none.
        let used = all.filter(|d| d["kind"].as_str() != Some("dev") && !d["path"].is_null());
        used.map(name).filter(|d| ours.contains(d)).collect()
    };
    packages.iter().map(|package| (name(package), dependencies(package))).collect()
}

#[test]
fn dependencies_follow_the_pipeline() {
    let found = dependencies();
    assert!(found.len() > 5 && found["fencepost"].len() > 3, "{found:?}");
    let mut wrong = Vec::new();
    for (name, used) in &found {
        match ALLOWED.iter().find(|(n, _)| n == name) {
            None => wrong.push(format!("`{name}` is not in the list of this test")),
            Some((_, allowed)) if allowed.contains(&"*") => {}
            Some((_, allowed)) => {
                let forbidden = used.iter().filter(|d| !allowed.contains(&d.as_str()));
                wrong.extend(forbidden.map(|d| format!("`{name}` may not depend on `{d}`")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every text file of the repository that may name documents.
fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() && !name.starts_with('.') && name != "target" {
            texts(&entry, found);
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            let text = std::fs::read_to_string(&entry).expect("text");
            found.push((entry, text));
        }
    }
}

/// Pages that are named are there, and decisions are numbered one after the other.
#[test]
fn documents_that_are_named_are_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    texts(&top, &mut files);
    assert!(files.len() > 100);
    for (path, text) in files {
        for rest in text.split("docs/").skip(1) {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_./".contains(c))).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            if name.ends_with(".md") {
                assert!(top.join("docs").join(name).exists(), "{}: docs/{name}", path.display());
            }
        }
    }
    let decisions = std::fs::read_dir(top.join("docs/adr")).expect("decisions");
    let mut names: Vec<String> =
        decisions.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for (number, name) in (1..).zip(names) {
        assert!(
            name.starts_with(&format!("{number:03}-")),
            "{name} is not decision {number}: `NNN-name.md`, one after the other"
        );
    }
}

/// A line that fits on a screen beside another one.
const WIDTH: usize = 130;

#[test]
fn lines_of_code_fit_on_a_screen() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    texts(&top, &mut files);
    let mut wide = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "rs")) {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > WIDTH);
        wide.extend(lines.map(|(number, _)| format!("{}:{number}", path.display())));
    }
    assert!(wide.is_empty(), "more than {WIDTH} columns:\n{}", wide.join("\n"));
}

/// Whether a file uses the type of lines that are told.
fn uses_lines(text: &str) -> bool {
    let uses =
        text.split("fencepost_answer::").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    let words = |part: &str| part.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Line");
    uses.map(|part| part.split(" fn ").next().unwrap_or_default()).any(words)
}

/// Steps are data until the narrator tells them: nobody else makes a line. `param` has a narrator of its own, for systems.
#[test]
fn only_the_narrator_makes_sentences_of_steps() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    texts(&top, &mut files);
    let may = ["answer/src", "report/src", "cli/src/telling", "param/src/report.rs", "param/tests"];
    let files =
        files.iter().filter(|(path, text)| path.extension().is_some_and(|e| e == "rs") && uses_lines(text));
    let names: Vec<String> = files.map(|(path, _)| path.display().to_string().replace('\\', "/")).collect();
    assert!(names.iter().any(|name| name.contains("cli/src/telling")), "{names:?}");
    let wrong: Vec<&String> =
        names.iter().filter(|name| !may.iter().any(|part| name.contains(&format!("/{part}")))).collect();
    assert!(wrong.is_empty(), "these make sentences of steps, which is for cli/src/telling: {wrong:?}");
}
