//! Pictures of litmus tests: what is allowed, what is forbidden and by which axiom, and all executions on one page.

mod support;

use std::path::PathBuf;
use support::fencepost;

struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What an option of `litmus` draws of a test.
fn drawn(test: &str, model: &str, option: &str) -> String {
    let name = format!("fencepost-{test}-{model}{option}-{}", std::process::id()).replace('/', "-");
    let file = File(std::env::temp_dir().join(name));
    let path = file.0.display().to_string();
    let output = fencepost(&["litmus", test, "-m", model, option, &path]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(&file.0).expect("a picture")
}

#[test]
fn what_is_forbidden_is_drawn_with_its_axiom() {
    let forbidden = drawn("examples/sb.litmus", "sc", "--svg");
    assert!(forbidden.contains("forbidden by sc, axiom sc"), "{forbidden}");
    let allowed = drawn("examples/sb.litmus", "tso", "--svg");
    assert!(allowed.contains("allowed by tso"), "{allowed}");
    // Both have the cycle of store buffering: two pairs of program order and two of from-read.
    for svg in [&forbidden, &allowed] {
        assert_eq!(svg.matches("stroke-width=\"3\"").count(), 4, "{svg}");
    }
}

#[test]
fn all_executions_are_on_one_page() {
    let sc = drawn("examples/sb.litmus", "sc", "--executions");
    let tso = drawn("examples/sb.litmus", "tso", "--executions");
    assert_eq!((sc.matches("<svg").count(), tso.matches("<svg").count()), (3, 4));
    assert_eq!(
        (sc.matches("satisfies the condition").count(), tso.matches("satisfies the condition").count()),
        (0, 1)
    );
}

/// Several tests have a picture each, and runs of the machines have one as well.
#[test]
fn several_tests_and_machines_are_drawn() {
    let folder = std::env::temp_dir().join(format!("fencepost-drawn-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).display().to_string();
    let tests = ["examples/sb.litmus", "examples/mp.litmus"];
    fencepost(&["litmus", "--svg", &path("t.svg")]).args(tests).output().expect("it runs");
    let engines = [("power", "states"), ("pso", "states"), ("power", "reduce"), ("ps", "states")];
    for (model, engine) in engines {
        let file = "crates/c/corpus/litmus_mp_rlx.c";
        let picture = path(&format!("{model}-{engine}.svg"));
        let output =
            fencepost(&["check", "-j1", file, "-m", model, "--engine", engine, "--svg", &picture]).output();
        let expected = i32::from(model == "ps");
        assert_eq!(
            output.expect("it runs").status.code(),
            Some(expected),
            "{model} {engine}: its comment expects it"
        );
        let svg = std::fs::read_to_string(&picture).expect("a picture");
        // The cycle of message passing, marked; two threads, and main where it is part of the run.
        assert_eq!(svg.matches("stroke-width=\"3\"").count(), 4, "{model} {engine}: {svg}");
        assert!(svg.contains(">p0</text>") && svg.contains(">p1</text>"), "{model} {engine}: {svg}");
    }
    let written = ["t-sb-tso.svg", "t-mp-power.svg"].map(|name| folder.join(name).is_file());
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(written, [true, true]);
}
