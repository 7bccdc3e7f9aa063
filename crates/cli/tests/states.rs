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

const ALGORITHMS: [&str; 7] =
    ["dekker", "peterson", "lamport_fast", "szymanski", "burns", "dijkstra", "bakery"];

/// Threads enter for ever, but for bakery, whose numbers would grow without end: twice.
fn entries(algorithm: &str) -> &'static str {
    match algorithm {
        "bakery" => "-DREPEAT=for (int n = 0; n < 2; n++)",
        _ => "-DREPEAT=for (;;)",
    }
}

#[test]
fn mutual_exclusion_in_c_is_proved_with_fences_and_refuted_without() {
    for algorithm in ALGORITHMS {
        for threads in [2, 3] {
            let file = |kind: &str| folder("../c/corpus").join(format!("{algorithm}_{threads}_{kind}.c"));
            if !file("fenced").exists() {
                continue;
            }
            let run = |kind: &str, more: &[&str]| {
                let mut arguments = vec!["--engine", "states", entries(algorithm)];
                arguments.extend(more);
                check(&file(kind), &arguments)
            };
            for kind in ["fenced", "rlx", "sc"] {
                assert_eq!(run(kind, &["-m", "sc"]), pair("safe", "all"), "{algorithm} {threads} {kind} sc");
            }
            for kind in ["fenced", "sc"] {
                assert_eq!(
                    run(kind, &["-m", "tso"]),
                    pair("safe", "all"),
                    "{algorithm} {threads} {kind} tso"
                );
            }
            assert_eq!(run("rlx", &["-m", "tso"]).0, "unsafe", "{algorithm} {threads} rlx tso");
            if threads == 2 {
                for bound in [["--age", "2"], ["--rounds", "2"]] {
                    let found = run("rlx", &[&["-m", "tso"][..], &bound].concat()).0;
                    assert_eq!(found, "unsafe", "{algorithm} {bound:?}");
                }
            }
        }
    }
}

/// Emits C for a program at a bound, compiles it, and compares its verdict under SC with that of the reduced program.
fn round_trip(file: &Path, bound: [&str; 2]) -> String {
    let target = folder("../../target/emitted");
    std::fs::create_dir_all(&target).expect("a folder for the output");
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let out = target.join(format!("{name}{}{}.c", bound[0], bound[1]));
    let status = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .arg("reduce")
        .arg(file)
        .args(bound)
        .arg("-o")
        .arg(&out)
        .status()
        .expect("fencepost runs");
    assert!(status.success(), "{name} {bound:?}");
    if let Ok(status) =
        Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only"]).arg(&out).status()
    {
        assert!(status.success(), "{} does not compile", out.display());
    }
    let (expected, _) = check(file, &[&["--engine", "reduce", "-m", "tso"][..], &bound].concat());
    let (found, _) = check(&out, &["--engine", "states", "-m", "sc"]);
    assert_eq!(found, expected, "{name} {bound:?}");
    expected
}

/// Both corpora with two threads at all bounds, and Burns with three; `cargo xtask campaign c` has the others.
#[test]
fn emitted_c_compiles_and_has_the_verdict_of_the_program() {
    for algorithm in ["dekker", "peterson", "lamport", "burns", "burns3", "szymanski", "dijkstra", "bakery"] {
        for suffix in ["", "_fenced"] {
            let file = folder("../lang/corpus").join(format!("{algorithm}{suffix}.fp"));
            for bound in
                [["--age", "0"], ["--age", "1"], ["--age", "2"], ["--rounds", "1"], ["--rounds", "2"]]
            {
                let verdict = round_trip(&file, bound);
                if bound == ["--age", "2"] {
                    let expected = if suffix.is_empty() { "unsafe" } else { "safe" };
                    assert_eq!(verdict, expected, "{algorithm}{suffix}");
                }
            }
        }
    }
    for algorithm in ALGORITHMS {
        for (kind, expected) in [("rlx", "unsafe"), ("fenced", "safe"), ("sc", "safe")] {
            let file = folder("../c/corpus").join(format!("{algorithm}_2_{kind}.c"));
            for bound in [["--age", "1"], ["--rounds", "2"]] {
                assert_eq!(round_trip(&file, bound), expected, "{algorithm} {kind} {bound:?}");
            }
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
