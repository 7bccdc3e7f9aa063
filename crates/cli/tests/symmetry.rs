//! `check --symmetry`: equal threads are found where nobody can tell them apart, and nowhere else; counts say so.

mod support;

use support::run;

const PROGRAM: &str = "crates/cli/tests/data/symmetry/threads.c";

/// The last line of the answer, without the time.
fn answer(model: &str, options: &[&str]) -> String {
    let fixed = ["check", "--engine", "explore", "-m", model, PROGRAM];
    let text = run(&[&fixed, options].concat());
    let line = text.lines().rev().find(|line| line.contains(" under ")).unwrap_or(&text);
    line.rsplit_once(", ").map_or(line, |(counts, _)| counts).replace(PROGRAM, "threads.c")
}

#[test]
fn equal_threads_are_found() {
    for model in ["sc", "ra", "rc11", "rc20"] {
        assert!(answer(model, &["--symmetry"]).ends_with("24 executions up to symmetry"), "{model}");
    }
    // Not asked for.
    assert!(answer("rc11", &[]).contains("(576 executions, "), "{}", answer("rc11", &[]));
    // Said by the program.
    assert!(answer("rc11", &["-DGIVEN"]).ends_with("24 executions up to symmetry"));
    assert!(answer("rc11", &["-DGIVEN", "-DSHARED"]).ends_with("24 executions up to symmetry"));
}

#[test]
fn threads_that_can_be_told_apart_are_not() {
    for how in ["ARGUMENTS", "SELF", "SHARED", "BETWEEN_STARTS", "BETWEEN_JOINS", "SOME"] {
        let defined = format!("-D{how}");
        let told = answer("rc11", &["--symmetry", &defined]);
        let full = answer("rc11", &[&defined]);
        assert!(told.contains(", no threads taken for equal ("), "{how}: {told}");
        assert_eq!(told.replace(", no threads taken for equal", ""), full, "{how}");
    }
    let told = answer("armv8", &["--symmetry"]);
    assert!(told.contains(", no threads taken for equal (576 executions"), "{told}");
}

#[test]
fn what_goes_wrong_is_found_and_confirmed() {
    let told = answer("rc11", &["--symmetry", "-DWRONG"]);
    assert!(told.starts_with("threads.c: unsafe under rc11"), "{told}");
}

#[test]
fn json_says_so() {
    let text = run(&["check", "--engine", "explore", "--json", "-m", "rc11", "--symmetry", PROGRAM]);
    assert!(text.contains("\"executions\":24") && text.contains("\"up_to_symmetry\":true"), "{text}");
    let text = run(&["check", "--engine", "explore", "--json", "-m", "rc11", PROGRAM]);
    assert!(text.contains("\"left_out\":") && !text.contains("up_to_symmetry"), "{text}");
}
