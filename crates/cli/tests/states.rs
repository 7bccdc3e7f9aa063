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

/// Threads enter for ever, but for bakery, whose numbers would grow without end: twice, or once if there are three.
fn entries(algorithm: &str, threads: u32) -> &'static str {
    match algorithm {
        "bakery" if threads == 2 => "-DREPEAT=for (int n = 0; n < 2; n++)",
        "bakery" => "-DREPEAT=for (int n = 0; n < 1; n++)",
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
                let mut arguments = vec!["--engine", "states", entries(algorithm, threads)];
                arguments.extend(more);
                check(&file(kind), &arguments)
            };
            // Three threads take longer: what SC accesses do, fences do as well.
            let kinds = if threads == 2 { &["fenced", "rlx", "sc"][..] } else { &["fenced", "rlx"] };
            for kind in kinds.iter().copied() {
                assert_eq!(run(kind, &["-m", "sc"]), pair("safe", "all"), "{algorithm} {threads} {kind} sc");
            }
            for kind in kinds.iter().copied().filter(|kind| *kind != "rlx") {
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
        .args(["--threads", "-o"])
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

/// Both corpora with two threads, and Burns with three; `cargo xtask campaign c` has the other bounds.
#[test]
fn emitted_c_compiles_and_has_the_verdict_of_the_program() {
    for algorithm in ["dekker", "peterson", "lamport", "burns", "burns3", "szymanski", "dijkstra", "bakery"] {
        for suffix in ["", "_fenced"] {
            let file = folder("../lang/corpus").join(format!("{algorithm}{suffix}.fp"));
            // Without fences there is something to find at each bound. The larger ones take seconds at age 2.
            let large = ["lamport", "bakery", "dijkstra"].contains(&algorithm);
            let bounds: &[[&str; 2]] = match (suffix, large) {
                ("", false) => &[["--age", "2"], ["--rounds", "2"]],
                ("", true) => &[["--age", "1"], ["--rounds", "2"]],
                (_, false) => &[["--age", "2"]],
                (_, true) => &[["--age", "1"]],
            };
            for &bound in bounds {
                let verdict = round_trip(&file, bound);
                if bound == ["--age", "2"] {
                    let expected = if suffix.is_empty() { "unsafe" } else { "safe" };
                    assert_eq!(verdict, expected, "{algorithm}{suffix}");
                }
            }
        }
    }
    for (turn, algorithm) in ALGORITHMS.into_iter().enumerate() {
        let bound = [["--age", "1"], ["--rounds", "2"]][turn % 2];
        let unfenced = folder("../c/corpus").join(format!("{algorithm}_2_rlx.c"));
        assert_eq!(round_trip(&unfenced, bound), "unsafe", "{algorithm} {bound:?}");
        if turn % 2 == 0 {
            let fenced = folder("../c/corpus").join(format!("{algorithm}_2_fenced.c"));
            assert_eq!(round_trip(&fenced, ["--rounds", "2"]), "safe", "{algorithm}");
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

#[test]
fn auto_says_what_it_picked_and_why() {
    let picked = |file: &str, model: &str| {
        let file = folder(file).display().to_string();
        let answer = fencepost(&["check", "--json", "-j1", "-m", model, &file]);
        let word = |key: &str| answer[key].as_str().unwrap_or_default().to_string();
        (word("engine"), word("picked"), word("verdict"))
    };
    let (engine, why, verdict) = picked("../lang/corpus/dekker_fenced.fp", "tso");
    assert_eq!((engine.as_str(), verdict.as_str()), ("states", "safe"));
    assert!(why.contains("loops"), "{why}");
    // To the explorer an atomic section is a critical one, and here that is not the same.
    let (engine, why, verdict) = picked("tests/data/outside_section.c", "tso");
    assert_eq!((engine.as_str(), verdict.as_str()), ("states", "safe"));
    assert!(why.contains("atomic section"), "{why}");
    let (engine, why, _) = picked("../c/corpus/litmus_sb_rlx.c", "rc11");
    assert_eq!(engine, "explore");
    assert!(why.contains("sc, tso, pso and ps"), "{why}");
    // People are told only if another engine was tried first.
    let said = |file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        let output = command.args(["check", "-m", "tso"]).arg(folder(file)).output().expect("fencepost runs");
        String::from_utf8_lossy(&output.stdout).contains("  engine ")
    };
    assert!(said("tests/data/outside_section.c") && !said("../c/corpus/litmus_sb_fence.c"));
}

/// A condition on final states is answered by machines, by the explorer and by the reductions.
#[test]
fn final_conditions_are_not_ignored() {
    let file = folder("../../target/final_condition.fp");
    std::fs::write(&file, "shared x; process P { x := 1; } never x == 1;").expect("written");
    let name = file.display().to_string();
    for model in ["sc", "tso", "ra", "armv8", "power"] {
        assert_eq!(fencepost(&["check", "--json", "-m", model, &name])["verdict"], "unsafe", "{model}");
    }
    for model in ["tso", "power"] {
        let answer = fencepost(&["check", "--json", "-m", model, "--engine", "reduce", &name]);
        assert_eq!(answer["verdict"], "unsafe", "{model}");
    }
}

/// Deadlocks, mistakes and their codes: those of the explorer, where both engines can answer.
#[test]
fn findings_have_the_codes_of_the_explorer() {
    for (name, code) in [
        ("finding_assertion", "FP0101"),
        ("finding_abort", "FP0101"),
        ("finding_deadlock", "FP0401"),
        ("finding_relock", "FP0401"),
        ("finding_waits_forever", "FP0401"),
        ("finding_division", "FP0501"),
        ("finding_bad_call", "FP0502"),
        ("finding_null", "FP0301"),
        ("finding_out_of_bounds", "FP0302"),
        ("finding_uninitialised", "FP0307"),
    ] {
        let file = folder("../c/corpus").join(format!("{name}.c")).display().to_string();
        for engine in ["states", "explore"] {
            let answer = fencepost(&["check", "--json", "-j1", "-m", "sc", "--engine", engine, &file]);
            assert_eq!(answer["findings"][0]["code"], code, "{name} {engine}: {answer}");
        }
    }
}

/// The C corpus on the machines: the verdicts that each file expects, as far as the machines can follow it.
#[test]
fn the_c_corpus_has_its_verdicts_on_the_machines() {
    let (mut answered, mut refused) = (0, 0);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder("../c/corpus"))
        .expect("corpus")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        // Buffers of many stores in two threads: no answer in half a minute under TSO and PSO.
        .filter(|path| !path.to_string_lossy().contains("table1_fib_"))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let name = file.display().to_string();
        let arguments = ["check", "--json", "-j1", "--timeout", "60", "-m", "sc,tso,pso"];
        let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
            .args(arguments)
            .args(["--engine", "states", "--max-memory", "500", &name])
            .output()
            .expect("fencepost runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<serde_json::Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for model in ["sc", "tso", "pso"] {
            let prefix = format!("{model}=");
            let expected = text.split_whitespace().find_map(|word| word.strip_prefix(prefix.as_str()));
            let answer = answers.iter().find(|answer| answer["model"] == model);
            match answer.and_then(|answer| answer["verdict"].as_str()) {
                // Refused, or a limit: no answer is no wrong answer.
                None | Some("unknown") => refused += 1,
                found => {
                    assert_eq!(found, expected, "{name} {model}: {answer:?}");
                    answered += 1;
                }
            }
        }
    }
    // Programs with heap memory, thread-locals or shared locals are refused.
    assert!(answered >= 520 && refused <= 168, "{answered} answered, {refused} not");
}

/// What the process really took at most, in kilobytes, as the kernel tells; `None` where it does not.
fn peak_of(arguments: &[&str]) -> Option<(u64, String)> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("fencepost runs");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    // The high-water mark only rises, so the last look before the end is the largest but for a few milliseconds.
    while child.try_wait().expect("a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(now);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("output");
    Some((peak?, String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn fifty_megabytes_are_fifty_megabytes() {
    let endless = folder("../../target/endless.fp");
    let text = "shared x, y; process P { while (1) { x := x + 1; } } process Q { while (1) { y := y + 1; } }";
    std::fs::write(&endless, text).expect("written");
    let large = folder("../machine/examples/bakery_large.fp");
    let reduced = folder("../../target/lamport3_reduced.fp").display().to_string();
    let lamport = folder("../lang/corpus/lamport3_fenced.fp").display().to_string();
    let reduce = ["reduce", &lamport, "--age", "2", "-o", &reduced];
    assert!(Command::new(env!("CARGO_BIN_EXE_fencepost")).args(reduce).status().expect("runs").success());
    for (file, model) in
        [(endless.display().to_string(), "sc"), (large.display().to_string(), "tso"), (reduced, "sc")]
    {
        for jobs in if file.contains("endless") { &["-j1", "-j2"][..] } else { &["-j2"] } {
            let arguments =
                ["check", "--json", "--engine", "states", "-m", model, "--max-memory", "50", jobs, &file];
            let Some((kilobytes, text)) = peak_of(&arguments) else { continue };
            assert!(text.contains("memory limit"), "{file} {model}: {text}");
            assert!(kilobytes * 1024 <= 50_000_000, "{file} {model} {jobs}: {kilobytes} KB");
        }
    }
}

/// Without an installed CBMC the error says what is missing, and what needs nothing.
#[test]
fn a_cbmc_that_is_not_installed_is_an_error() {
    let file = folder("../c/corpus/dekker_2_fenced.c").display().to_string();
    for model in ["tso", "power"] {
        let arguments = ["check", "-m", model, "--engine", "reduce", "--backend", "cbmc", &file];
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        let output = command.args(arguments).env("PATH", "").output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("error: cannot run `cbmc`"), "{text}");
        assert!(text.contains("--backend cbmc needs an installed CBMC; --backend bmc needs none"), "{text}");
    }
}

/// The explorer would take the values of a message one by one, without an end.
#[test]
fn auto_takes_data_as_symbols() {
    let file = folder("../bmc/corpus/checksum.c").display().to_string();
    let arguments = ["check", "--json", "-m", "sc", &file];
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(r#""engine":"bmc""#) && text.contains(r#""verdict":"safe""#), "{text}");
}

/// A fence that orders everything does so for every engine, whatever architecture it is of.
#[test]
fn full_fences_are_full_everywhere() {
    let file = std::env::temp_dir().join(format!("fencepost-fences-{}.fp", std::process::id()));
    for fence in fencepost_ir::Fence::all() {
        let name = fence.name();
        let text = format!(
            "shared x, y; process P {{ reg a; x := 1; fence {name}; a := y; }} \
             process Q {{ reg b; y := 1; fence {name}; b := x; }} never P.a == 0 && Q.b == 0;"
        );
        std::fs::write(&file, text).expect("a file");
        let path = file.display().to_string();
        for engine in ["explore", "states", "reduce"] {
            let answer = fencepost(&["check", "--json", "-j1", "-m", "tso", "--engine", engine, &path]);
            let expected = if fence.is_full() { "safe" } else { "unsafe" };
            assert_eq!(answer["verdict"], expected, "{name} {engine}: {answer}");
        }
    }
    let _ = std::fs::remove_file(file);
}
