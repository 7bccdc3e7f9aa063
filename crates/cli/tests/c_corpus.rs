//! Every program of the C corpus under every model: the verdict that its comment expects.
//!
//! Runs are limited in executions, so that the whole corpus takes seconds; a run that ends in *unknown* for that reason
//! is counted, and there must not be many. `FENCEPOST_EXECUTIONS` raises the limit.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const MODELS: [&str; 7] = ["sc", "tso", "pso", "ra", "rc11", "power", "armv8"];

/// Programs with constructs that the explorer does not run; each must say so, not answer.
const NOT_EXPLORED: [&str; 1] = ["verifier_atomic.c"];

/// `model=verdict` pairs of the line that begins with `expect:`.
fn expectations(text: &str) -> Vec<(String, String)> {
    let line = text.lines().find_map(|line| line.trim_start_matches([' ', '*']).strip_prefix("expect:"));
    let pairs = line.unwrap_or("").split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(model, verdict)| (model.to_string(), verdict.to_string())).collect()
}

/// The verdict of one run, or what it printed instead.
fn verdict(file: &Path, model: &str, executions: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([
            "check",
            "--engine",
            "explore",
            "--json",
            "-j1",
            "--timeout",
            "20",
            "--max-executions",
            executions,
            "-m",
            model,
        ])
        .arg(file)
        .output()
        .expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or("");
    match serde_json::from_str::<serde_json::Value>(line) {
        Ok(answer) if answer["verdict"].is_string() => answer["verdict"].as_str().unwrap_or("").to_string(),
        _ => format!("{line}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn every_program_has_the_expected_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(files.len() >= 150, "{} programs", files.len());
    let executions = std::env::var("FENCEPOST_EXECUTIONS").unwrap_or_else(|_| "1000".into());
    let next = AtomicUsize::new(0);
    let (wrong, unknown) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().to_string();
            let expected = expectations(&std::fs::read_to_string(file).expect("readable"));
            for model in MODELS {
                let Some((_, wanted)) = expected.iter().find(|(m, _)| m == model) else {
                    wrong
                        .lock()
                        .expect("not poisoned")
                        .push(format!("{name}: nothing expected under {model}"));
                    continue;
                };
                let found = verdict(file, model, &executions);
                if NOT_EXPLORED.contains(&name.as_str()) {
                    let said = found.contains("cannot be explored");
                    if !said {
                        wrong.lock().expect("not poisoned").push(format!("{name} {model}: answered {found}"));
                    }
                } else if found == "unknown" {
                    unknown.fetch_add(1, Ordering::Relaxed);
                } else if found != *wanted {
                    wrong
                        .lock()
                        .expect("not poisoned")
                        .push(format!("{name} {model}: {found}, expected {wanted}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let wrong = wrong.into_inner().expect("not poisoned");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unknown = unknown.into_inner();
    assert!(unknown <= 220, "{unknown} runs were too large for {executions} executions");
    println!("{} runs, {unknown} too large", files.len() * MODELS.len());
}
