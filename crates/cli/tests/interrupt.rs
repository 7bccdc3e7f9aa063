//! Ctrl-C gives what was found so far.
#![cfg(unix)]

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::fencepost;

/// Runs a batch with a test that never ends between two small ones, and interrupts it.
fn interrupted(arguments: &[&str]) -> (Option<i32>, String, String) {
    let huge = "crates/cli/tests/data/huge.litmus";
    let mut all = vec!["litmus", "-j", "1"];
    all.extend(arguments);
    all.extend(["examples/sb.litmus", huge, "examples/mp.litmus"]);
    let mut child = fencepost(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    // The answer to the first test shows that the second one runs, or is about to.
    while !text.contains("SB") {
        assert!(output.read_line(&mut text).expect("a line") > 0, "it ended: {text}");
    }
    std::thread::sleep(Duration::from_millis(200));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(killed.success());
    output.read_to_string(&mut text).expect("text");
    let mut errors = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    (child.wait().expect("it ends").code(), text, errors)
}

#[test]
fn an_interrupted_batch_says_what_was_found() {
    for model in [&[][..], &["-m", "examples/my-sc.cat"]] {
        let (code, output, errors) = interrupted(model);
        assert_eq!(code, Some(3), "{output}{errors}");
        assert!(output.contains("1 test answered"), "{output}");
        assert!(
            output.contains("interrupted: this is what was found so far; 1 tests were not run"),
            "{output}"
        );
        assert!(errors.contains("huge.litmus: unknown: interrupted"), "{errors}");
    }
}

#[test]
fn an_interrupted_test_shows_its_states_so_far() {
    let (_, _, errors) = interrupted(&[]);
    assert!(errors.contains("executions,") && errors.contains("\n    [x]="), "{errors}");
}

/// `prove` says how far it came.
#[test]
fn an_interrupted_proof_says_how_far_it_came() {
    let file = "crates/cli/tests/data/endless.cub";
    let mut child = fencepost(&["prove", "-j1", "-m", "sc", "--timeout", "60", file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(600));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(killed.success());
    let (mut output, mut errors) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut output).expect("text");
    child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(2), "{output}{errors}");
    assert!(output.contains("unknown: interrupted") && output.contains(" nodes"), "{output}");
    assert!(output.contains("try:\n    invariants of another instance: --brab 3"), "{output}");
}
