//! Small C programs, one per mistake or construct, with the answer that we hold right under every model.
//!
//! The line `expect:` of a program's comment names, for all models (`all=`) or single ones, `safe`, `unsafe`, `unknown`, or the
//! code that must be among the findings; `(with FLAGS all=...)` does so for a run with more flags. A line `warns:` names
//! what a warning of the front end must say; without one there must be none. A counterexample that is not confirmed makes an
//! answer *unknown*, so that an expected finding is a confirmed one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus/answers");
    let entries = std::fs::read_dir(folder).expect("the folder of answers");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|e| e == "c"));
    if let Ok(only) = std::env::var("FENCEPOST_ONLY") {
        found.retain(|path| path.display().to_string().contains(&only));
    }
    found.sort();
    found
}

/// Flags, and for each model what is expected.
type Case = (Vec<String>, Vec<(String, String)>);

/// Flags and what is expected with them, by model.
fn cases(text: &str) -> Vec<Case> {
    let line = text.lines().find_map(|line| line.trim_start_matches([' ', '*']).strip_prefix("expect: "));
    let line = line.expect("a line `expect:`");
    let mut groups = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('(') {
        let (inside, behind) = after.split_once(')').expect("a closing parenthesis");
        groups.push(before);
        groups.push(inside.trim_start_matches("with "));
        rest = behind;
    }
    groups.push(rest);
    let mut cases = Vec::new();
    for group in groups.into_iter().filter(|group| !group.trim().is_empty()) {
        let (mut flags, mut wanted) = (Vec::new(), Vec::new());
        for word in group.split_whitespace() {
            match word.split_once('=') {
                Some(("all", want)) => {
                    wanted.extend(models().into_iter().map(|model| (model.to_string(), want.to_string())));
                }
                Some((model, want)) if models().contains(&model) => {
                    wanted.push((model.to_string(), want.to_string()))
                }
                _ => flags.push(word.to_string()),
            }
        }
        cases.push((flags, wanted));
    }
    cases
}

/// What is wrong with one answer.
fn differs(path: &Path, text: &str, flags: &[String], model: &str, want: &str) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["check", "--json", "-j1", "--all", "--timeout", "30", "-m", model])
        .args(flags)
        .arg(path)
        .output()
        .expect("fencepost runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let answer: serde_json::Value =
        serde_json::from_str(stdout.lines().last().unwrap_or("")).unwrap_or_default();
    let verdict = answer["verdict"].as_str().unwrap_or("no verdict");
    let findings = answer["findings"].as_array().cloned().unwrap_or_default();
    let codes: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["severity"] != "warning")
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    let expected = verdict == want || (verdict == "unsafe" && codes.contains(&want));
    if !expected {
        return Some(format!("expected {want}, got {verdict} {codes:?}\n{stderr}"));
    }
    let warned = text.lines().find_map(|line| line.trim_start_matches([' ', '*']).strip_prefix("warns: "));
    match warned {
        Some(warning) if !stderr.contains(warning) => Some(format!("no warning {warning:?} but\n{stderr}")),
        None if stderr.contains("warning:") => Some(format!("it warns:\n{stderr}")),
        _ => None,
    }
}

#[test]
fn every_program_has_the_answer_that_its_comment_expects() {
    let programs = programs();
    let wrong = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let text = std::fs::read_to_string(path).expect("a program");
                    for (flags, wanted) in cases(&text) {
                        for (model, want) in wanted {
                            if let Some(message) = differs(path, &text, &flags, &model, &want) {
                                let name = path.file_name().expect("a name").to_string_lossy();
                                let message = format!("{name} {model} {}: {message}", flags.join(" "));
                                wrong.lock().expect("not poisoned").push(message);
                            }
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("not poisoned");
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
}
