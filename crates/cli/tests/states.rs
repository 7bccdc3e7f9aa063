//! The machines and the reductions from the command line: mutual exclusion from C and `.fp`, and C that was emitted.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fencepost(arguments: &[&str]) -> serde_json::Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or("")).unwrap_or_else(|_| {
        panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    })
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Verdict and scope of a check.
fn check(file: &Path, arguments: &[&str]) -> (String, String) {
    let mut all = vec!["check", "--json", "-j1", "--timeout", "60"];
    all.extend(arguments);
    let name = file.display().to_string();
    all.push(&name);
    let answer = fencepost(&all);
    let word = |key: &str| answer[key].as_str().unwrap_or_else(|| panic!("{name}: {answer}")).to_string();
    (word("verdict"), word("scope"))
}

fn pair(verdict: &str, scope: &str) -> (String, String) {
    (verdict.to_string(), scope.to_string())
}

#[test]
fn mutual_exclusion_in_c_is_proved_with_fences_and_refuted_without() {
    for algorithm in ["dekker", "peterson", "lamport_fast", "szymanski", "burns", "dijkstra", "bakery"] {
        let file = |kind: &str| folder("../c/corpus").join(format!("{algorithm}_2_{kind}.c"));
        for kind in ["fenced", "rlx"] {
            let found = check(&file(kind), &["--engine", "states", "-m", "sc"]);
            assert_eq!(found, pair("safe", "all"), "{algorithm} {kind} sc");
        }
        let proved = check(&file("fenced"), &["--engine", "states", "-m", "tso"]);
        assert_eq!(proved, pair("safe", "all"), "{algorithm} fenced tso");
        for bound in [&["--age", "2"], &["--rounds", "2"]] {
            let mut arguments = vec!["--engine", "states", "-m", "tso"];
            arguments.extend(bound);
            assert_eq!(check(&file("rlx"), &arguments).0, "unsafe", "{algorithm} {bound:?}");
        }
    }
}

#[test]
fn emitted_c_compiles_and_has_the_verdict_of_the_program() {
    let target = folder("../../target/emitted");
    std::fs::create_dir_all(&target).expect("a folder for the output");
    for name in ["dekker", "peterson", "burns", "szymanski", "dijkstra", "bakery"] {
        for suffix in ["", "_fenced"] {
            let file = folder("../lang/corpus").join(format!("{name}{suffix}.fp"));
            let out = target.join(format!("{name}{suffix}.c"));
            let status = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                .arg("reduce")
                .arg(&file)
                .args(["--age", "1", "-o"])
                .arg(&out)
                .status()
                .expect("fencepost runs");
            assert!(status.success(), "{name}{suffix}");
            if let Ok(status) =
                Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"]).arg(&out).status()
            {
                assert!(status.success(), "{} does not compile", out.display());
            }
            let (expected, _) = check(&file, &["--engine", "reduce", "--age", "1", "-m", "tso"]);
            let (found, _) = check(&out, &["--engine", "states", "-m", "sc"]);
            assert_eq!(found, expected, "{name}{suffix}");
            assert_eq!(expected, if suffix.is_empty() { "unsafe" } else { "safe" }, "{name}{suffix}");
        }
    }
}

#[test]
fn a_reduced_counterexample_is_a_run_of_the_source() {
    let file = folder("../lang/corpus/dekker.fp").display().to_string();
    let answer =
        fencepost(&["check", "--json", "-j1", "-m", "tso", "--engine", "reduce", "--age", "1", &file]);
    let trace = answer["findings"][0]["trace"].as_array().expect("a run");
    assert!(trace.len() > 4);
    assert!(
        trace.iter().all(|step| step["location"]["file"] == file.as_str()
            || step["location"]["line"] == 0
            || step["action"].as_str().is_some_and(|a| a.starts_with("memory"))),
        "{trace:?}"
    );
}
