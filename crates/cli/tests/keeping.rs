//! Checkpoints: a process that is killed again and again, and taken up again, ends with the answer of one that was left alone.
#![cfg(unix)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use support::{fencepost, run};

/// A file of its own for each test, which is not there.
fn fresh(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("fencepost-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Runs a command with a checkpoint and kills it as soon as it has written one: a moment that does not depend on how fast the
/// machine is. The last time it may end by itself; its answer then, and how often it was killed.
fn killed(arguments: &[&str], checkpoint: &Path, times: usize) -> (String, usize) {
    for kills in 0..times {
        let before = written(checkpoint);
        let mut child =
            fencepost(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        while written(checkpoint) == before {
            if child.try_wait().expect("a state").is_some() {
                return (support::show(&child.wait_with_output().expect("it ends")), kills);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it is killed");
        let _ = child.wait();
    }
    (run(arguments), times)
}

/// When a file was last written; none if it is not there.
fn written(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|about| about.modified()).ok()
}

#[test]
fn a_process_that_is_killed_is_taken_up_again() {
    let program = "crates/c/corpus/count_fetch_add.c";
    for (model, jobs) in [("rc11", "1"), ("power", "2")] {
        let file = fresh(&format!("killed-{model}"));
        let kept = file.display().to_string();
        let plain = ["check", program, "--engine", "explore", "-m", model, "-DN=9", "--json", "-j", jobs];
        let keeping = ["--checkpoint", &kept, "--resume", &kept, "--checkpoint-every", "0.01"];
        let (answer, kills) = killed(&[&plain[..], &keeping].concat(), &file, 4);
        assert_eq!(answer, run(&plain), "killed {kills} times");
        assert!(kills > 0, "it ended before it wrote a checkpoint");
        // What is complete answers at once.
        assert_eq!(run(&[&plain[..], &["--resume", &kept]].concat()), answer);
        let _ = std::fs::remove_file(file);
    }
}

#[test]
fn an_interrupt_and_a_limit_leave_a_checkpoint() {
    let program = "crates/c/corpus/count_fetch_add.c";
    let file = fresh("interrupted");
    let kept = file.display().to_string();
    let plain = ["check", program, "--engine", "explore", "-m", "rc11", "-DN=9", "-j", "1", "--json"];
    let answer = run(&[&plain[..], &["--checkpoint", &kept, "--timeout", "0.02"]].concat());
    assert!(answer.contains(r#""kind":"timeout""#), "{answer}");
    for signal in ["-INT", "-TERM"] {
        let mut child = fencepost(&[&plain[..], &["--resume", &kept]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(80));
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        let _ = child.wait();
    }
    assert_eq!(run(&[&plain[..], &["--resume", &kept]].concat()), run(&plain));
    let _ = std::fs::remove_file(file);
}

#[test]
fn litmus_tests_can_be_kept_too() {
    let file = fresh("litmus");
    let kept = file.display().to_string();
    let plain = ["litmus", "examples/sb.litmus", "--states"];
    assert_eq!(run(&[&plain[..], &["--checkpoint", &kept]].concat()), run(&plain));
    assert_eq!(run(&[&plain[..], &["--resume", &kept]].concat()), run(&plain));
    let many = run(&["litmus", "examples", "--checkpoint", &kept]);
    assert!(many.contains("--checkpoint takes one test under one model"), "{many}");
    let _ = std::fs::remove_file(file);
}

#[test]
fn what_cannot_be_kept_or_resumed_says_why() {
    let program = "crates/c/corpus/count_fetch_add.c";
    let file = fresh("wrong");
    let kept = file.display().to_string();
    let states =
        run(&["check", "examples/lock.fp", "-m", "tso", "--engine", "states", "--checkpoint", &kept]);
    assert!(states.contains("--checkpoint is no option of the engine states"), "{states}");
    assert!(states.contains("the other engines hold all states"), "{states}");
    run(&["check", program, "-m", "rc11", "--checkpoint", &kept]);
    let again = run(&["check", program, "-m", "rc11", "--checkpoint", &kept]);
    assert!(again.contains("is there already"), "{again}");
    let other = run(&["check", program, "-m", "sc", "--resume", &kept]);
    assert!(other.contains("it was written for another program, model or options"), "{other}");
    let mut bytes = std::fs::read(&file).expect("a checkpoint");
    bytes[30] ^= 1;
    std::fs::write(&file, &bytes).expect("written");
    let damaged = run(&["check", program, "-m", "rc11", "--resume", &kept]);
    assert!(damaged.contains("the checksum does not fit"), "{damaged}");
    let missing = run(&["check", program, "-m", "rc11", "--resume", "no-such-file"]);
    assert!(missing.contains("cannot read no-such-file"), "{missing}");
    let _ = std::fs::remove_file(file);
}
