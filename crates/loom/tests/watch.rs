//! A step that does not come back is told of.

use fencepost_loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::process::Command;
use std::time::Duration;

/// Run by the test below, in a process of its own.
#[test]
fn a_slow_step() {
    if std::env::var_os("FENCEPOST_SLOW_STEP").is_none() {
        return;
    }
    let report = fencepost_loom::check(|| {
        let x = AtomicUsize::new(0);
        x.store(1, Relaxed);
        std::thread::sleep(Duration::from_millis(1600));
        assert_eq!(x.load(Relaxed), 1);
    });
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn a_step_that_does_not_come_back_is_told_of() {
    let this = std::env::current_exe().expect("a test is a file");
    let run = |slow: bool| {
        let mut command = Command::new(&this);
        command.args(["--exact", "a_slow_step", "--nocapture"]);
        if slow {
            command.env("FENCEPOST_SLOW_STEP", "1");
        }
        let output = command.output().expect("it runs");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = run(true);
    assert!(said.contains("a step of thread 0, behind ") && said.contains("watch.rs:15:"), "{said}");
    assert_eq!(said.matches("has not ended for a second").count(), 1, "{said}");
    assert!(!run(false).contains("has not ended"));
}
