//! The promising semantics from the command line: the programs of the paper's tables (small ones; `cargo xtask promising` runs
//! all), the
//! engines for them, and what is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fencepost(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fencepost")).args(arguments).output().expect("fencepost runs")
}

fn program(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).display().to_string()
}

fn check(file: &str, options: &str) -> serde_json::Value {
    let (before, after) = options.split_once(" -- ").unwrap_or((options, ""));
    let file = program(file);
    let mut all = vec!["check", "--json", "-j1", "-m", "ps", &file];
    all.extend(before.split_whitespace());
    if !after.is_empty() {
        all.push("--");
        all.extend(after.split_whitespace());
    }
    let output = fencepost(&all);
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or("")).unwrap_or_else(|_| {
        panic!("{all:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    })
}

fn bound(answer: &serde_json::Value, name: &str) -> Option<u64> {
    let bounds = answer["bounds"].as_array()?;
    bounds.iter().find(|bound| bound["name"] == name)?["value"].as_u64()
}

/// What goes wrong in an interleaving is found among interleavings, and told as a run of the promising machine.
#[test]
fn interleavings_go_wrong() {
    for options in [" -- -DN=10", "--bound 40 -- -DN=5", "--consistency standard -- -DN=5"] {
        let answer = check("promising/exponential_locked.c", options);
        assert_eq!(answer["verdict"], "unsafe", "{options}: {answer}");
        let picked = answer["picked"].as_str().unwrap_or_default();
        assert!(picked.starts_with("an interleaving goes wrong"), "{options}: {answer}");
        assert!(bound(&answer, "bound").is_some_and(|spent| spent >= 6), "{options}: {answer}");
    }
    // The run has six view switches and more.
    let few = "--bound 5 --promises 0 --engine reduce --timeout 5 -- -DN=5";
    let answer = check("promising/exponential_locked.c", few);
    assert_ne!(answer["verdict"], "unsafe", "{answer}");
}

#[test]
fn answers_of_the_encoding() {
    for (file, options, verdict) in [
        ("promising/fibonacci.c", "--engine reduce --promises 0 -- -DN=2", "safe"),
        ("promising/fibonacci.c", "--engine reduce --promises 0 -- -DN=3 -DWRONG=1", "unsafe"),
        ("promising/triangular.c", "--engine reduce --promises 0 -- -DN=3", "safe"),
        ("promising/triangular.c", "--engine reduce --bound 10 --promises 0 -- -DN=4 -DWRONG=1", "unsafe"),
        ("promising/redundant_co.c", "--engine reduce --promises 0 --unroll 20 -- -DN=20", "safe"),
        ("promising/readerwriter.c", "--engine reduce --promises 0 -- -DN=5", "safe"),
        ("promising/exponential.c", "--engine reduce --promises 0 --unroll 10 -- -DN=10", "unsafe"),
        (
            "promising/peterson.c",
            "--engine reduce --bound 4 --promises 0 --unroll 1 -- -DN=4 -DUNFENCED=1",
            "unsafe",
        ),
        ("promising/peterson.c", "--engine reduce --bound 2 --promises 0 --unroll 1 -- -DN=2", "safe"),
        ("../c/corpus/peterson_2_fenced.c", "--engine reduce --bound 2", "safe"),
        ("../c/corpus/bakery_2_fenced.c", "--engine reduce --bound 2 --unroll 2", "safe"),
    ] {
        let answer = check(file, options);
        assert_eq!(answer["verdict"], verdict, "{file} {options}: {answer}");
    }
}

/// Alternating N times takes 2N view switches; the bound that was needed is part of the answer.
#[test]
fn the_bound_that_was_needed_is_reported() {
    let answer = check("promising/triangular.c", "--engine reduce --promises 0 -- -DN=3 -DWRONG=1");
    let needed = bound(&answer, "bound").unwrap_or_else(|| panic!("{answer}"));
    assert!((6..=8).contains(&needed), "{answer}");
}

/// Unsafe only through a promise, which the trace shows with its certification and its fulfilment.
#[test]
fn a_promise_is_made_certified_and_fulfilled() {
    let file = "promising/triangular_promise.c";
    assert_eq!(check(file, "--engine reduce --bound 8 --promises 0 -- -DN=2")["verdict"], "safe");
    let answer = check(file, "--engine reduce --bound 8 -- -DN=2");
    assert_eq!(answer["verdict"], "unsafe", "{answer}");
    let text = answer.to_string();
    for word in ["promise g = 1", "certified", "fulfils the promise", "view switch"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn auto_finds_an_engine_and_says_why() {
    for (file, options, verdict) in [
        ("promising/exponential.c", "--promises 0 --unroll 25 -- -DN=25", "unsafe"),
        ("promising/lbcu.fp", "--bound 4", "safe"),
        ("promising/lbcu.fp", "--bound 4 --consistency standard", "unsafe"),
    ] {
        let answer = check(file, options);
        assert_eq!(answer["verdict"], verdict, "{file} {options}: {answer}");
        assert!(answer["picked"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
    }
}

/// The standard notion lets more promises be made where there are read-modify-writes.
#[test]
fn standard_consistency_with_read_modify_writes() {
    for (consistency, verdict) in [("strong", "safe"), ("standard", "unsafe")] {
        let options = format!("--engine reduce --bound 4 --consistency {consistency}");
        let answer = check("promising/lbcu.fp", &options);
        assert_eq!(answer["verdict"], verdict, "{options}: {answer}");
    }
    // Without them both notions are the same.
    let answer = check("promising/fibonacci.c", "--engine reduce --consistency standard --bound 4 -- -DN=2");
    assert_eq!(answer["verdict"], "safe", "{answer}");
}

/// Views in messages: the encoding follows them.
#[test]
fn release_and_acquire_are_encoded() {
    for (file, verdict) in [("litmus_mp_relacq.c", "safe"), ("litmus_mp_rlx.c", "unsafe")] {
        let answer = check(&format!("../c/corpus/{file}"), "--engine reduce");
        assert_eq!(answer["verdict"], verdict, "{file}: {answer}");
        let answer = check(&format!("../c/corpus/{file}"), "--engine states");
        assert_eq!(answer["verdict"], verdict, "{file}: {answer}");
    }
}

/// Within any number of view switches nothing goes wrong, so nothing does within two.
#[test]
fn what_the_explorer_proves_holds_within_every_bound() {
    for lock in ["peterson", "bakery", "lamport_fast"] {
        let answer = check(&format!("../c/corpus/{lock}_2_fenced.c"), "--bound 2 --promises 0");
        assert_eq!(answer["verdict"], "safe", "{answer}");
        assert_eq!(bound(&answer, "bound").is_none(), answer["engine"] == "explore", "{answer}");
    }
    // What it finds may need more of them than allowed.
    let answer = check("promising/triangular.c", "--bound 3 --promises 0 -- -DN=3 -DWRONG=1");
    assert_eq!((answer["verdict"].as_str(), bound(&answer, "bound")), (Some("safe"), Some(3)), "{answer}");
}

/// A time limit ends in *unknown*, with the bounds that were done.
#[test]
fn a_limit_ends_in_unknown() {
    let answer =
        check("promising/fibonacci.c", "--engine reduce --bound 60 --promises 3 --timeout 2 -- -DN=4");
    assert_eq!(answer["verdict"], "unknown", "{answer}");
    assert!(answer.to_string().contains("nothing is wrong within a bound of"), "{answer}");
}

#[test]
fn the_translation_is_written() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lb_reduced.c");
    let (file, out) = (program("promising/lbcd.fp"), out.display().to_string());
    for (form, threads) in [(None, false), (Some("--threads"), true)] {
        let mut arguments = vec!["reduce", &file, "-m", "ps", "--bound", "3", "-o", &out];
        arguments.extend(form);
        let output = fencepost(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&out).expect("written");
        assert!(text.contains("ps_state"), "{text}");
        assert_eq!(text.contains("pthread_create"), threads, "{text}");
    }
}

#[test]
fn accesses_by_name_and_programs_that_locks_order() {
    for (file, options, verdict, engine) in [
        ("promising/accesses_by_name.c", "", "unsafe", None),
        ("promising/accesses_by_name.c", " -- -DLOCK", "safe", None),
        ("promising/fibonacci_locked.c", " -- -DN=5", "safe", Some("explore")),
        ("promising/fibonacci_locked.c", " -- -DN=5 -DWRONG", "unsafe", Some("explore")),
        ("promising/fibonacci_locked.c", " -- -DN=4 -DTRIANGULAR", "safe", Some("explore")),
        ("promising/szymanski.c", " -- -DN=4 -DUNFENCED", "unsafe", None),
    ] {
        let found = check(file, options);
        assert_eq!(found["verdict"], verdict, "{file} {options}: {found}");
        assert!(engine.is_none_or(|engine| found["engine"] == engine), "{file} {options}: {found}");
        assert!(found["bounds"].as_array().is_none_or(Vec::is_empty) || engine.is_none(), "{found}");
    }
}
