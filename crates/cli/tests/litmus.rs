//! `fencepost litmus`: all that it prints, and how it ends.

mod support;

use insta::assert_snapshot;
use support::{fencepost, run};

const DATA: &str = "crates/cli/tests/data/";

fn data(name: &str) -> String {
    format!("{DATA}{name}")
}

#[test]
fn examples_have_their_table() {
    assert_snapshot!(run(&["litmus", "examples"]));
}

#[test]
fn states_are_listed() {
    assert_snapshot!(run(&["litmus", "--states", "examples/sb.litmus", "examples/mp.litmus"]));
}

#[test]
fn a_model_may_be_named() {
    assert_snapshot!(run(&["litmus", "-m", "sc", "--states", "examples/sb.litmus"]));
}

#[test]
fn json_has_one_object_per_test() {
    let (race, broken) = (data("race.litmus"), data("broken.litmus"));
    let arguments = ["litmus", "--json", "examples/sb.litmus", &broken, &race, "examples/sb+mfences.litmus"];
    assert_snapshot!(run(&arguments));
    let output = fencepost(&arguments).output().expect("it runs").stdout;
    let lines = String::from_utf8(output).expect("text");
    let objects: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), 4);
    let answer = objects[0].as_object().expect("an object");
    for field in
        ["file", "name", "model", "verdict", "holds", "states", "positive", "negative", "blocked", "seconds"]
    {
        assert!(answer.contains_key(field), "{field}");
    }
    assert_eq!(
        objects[1].as_object().expect("an object").keys().collect::<Vec<_>>(),
        ["diagnostics", "error", "file", "version"]
    );
}

#[test]
fn format_json_is_json() {
    assert_eq!(
        run(&["litmus", "--json", "examples/sb.litmus"]),
        run(&["litmus", "--format", "json", "examples/sb.litmus"])
    );
}

#[test]
fn a_batch_goes_on_after_a_broken_file() {
    assert_snapshot!(run(&["litmus", "examples/sb.litmus", &data("broken.litmus"), "examples/mp.litmus"]));
}

#[test]
fn missing_files_are_named() {
    assert_snapshot!(run(&["litmus", "examples/sb.litmus", "examples/none.litmus"]));
}

#[test]
fn a_race_makes_a_test_undefined() {
    assert_snapshot!(run(&["litmus", &data("race.litmus")]));
}

#[test]
fn loops_are_unrolled() {
    assert_snapshot!("unroll_default", run(&["litmus", &data("loop.litmus")]));
    assert_snapshot!("unroll_5", run(&["litmus", "--unroll", "5", &data("loop.litmus")]));
}

#[test]
fn a_time_limit_ends_in_unknown() {
    for model in ["tso", "examples/my-sc.cat"] {
        let shown =
            run(&["litmus", "--timeout", "0.2", "-m", model, &data("huge.litmus"), "examples/sb.litmus"]);
        assert!(shown.starts_with("exit code 3\n"), "{shown}");
        let expected = "crates/cli/tests/data/huge.litmus: unknown: the time limit was reached";
        assert!(shown.contains(expected), "{shown}");
        assert!(shown.contains("1 test answered"), "{shown}");
    }
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let one = run(&["litmus", "--states", "-j", "1", "examples"]);
    for jobs in ["2", "4"] {
        assert_eq!(one, run(&["litmus", "--states", "-j", jobs, "examples"]), "{jobs} workers");
    }
}

#[test]
fn a_cat_model_of_ones_own() {
    assert_snapshot!(run(&["litmus", "-m", "examples/my-sc.cat", "--states", "examples/sb.litmus"]));
}

#[test]
fn a_cat_model_need_not_be_monotone() {
    let shown = run(&["litmus", "-m", &data("not-monotone.cat"), "--states", "examples/sb.litmus"]);
    // Both writes are read, so both reads are 1.
    assert_snapshot!(shown);
}

#[test]
fn a_cat_model_that_cannot_be_answered_is_unknown() {
    assert_snapshot!(run(&["litmus", "-m", "examples/my-sc.cat", &data("many-reads.litmus")]));
}

#[test]
fn mistakes_in_arguments_are_explained() {
    assert_snapshot!("unknown_model", run(&["litmus", "-m", "alpha", "examples/sb.litmus"]));
    assert_snapshot!("missing_cat_file", run(&["litmus", "-m", "none.cat", "examples/sb.litmus"]));
    assert_snapshot!("bad_cat_file", run(&["litmus", "-m", &data("bad.cat"), "examples/sb.litmus"]));
    assert_snapshot!("no_paths", run(&["litmus"]));
}

#[test]
fn the_witness_is_drawn() {
    let folder = std::env::temp_dir().join(format!("fencepost-dot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("graph.dot");
    let name = path.to_str().expect("text");
    for (model, test) in [
        ("tso", "examples/sb.litmus"),
        ("power", "examples/SB+10W.litmus"),
        ("rc11", "examples/iriw+acqs.litmus"),
        ("examples/my-sc.cat", "examples/mp+stlr+ldar.litmus"),
    ] {
        let _ = std::fs::remove_file(&path);
        let shown = run(&["litmus", "-m", model, "--dot", name, test]);
        assert!(shown.starts_with("exit code 0\n"), "{shown}");
        assert_eq!(path.exists(), shown.contains("Sometimes"), "{shown}");
    }
    run(&["litmus", "--dot", name, "examples/iriw+addrs.litmus"]);
    let graph = std::fs::read_to_string(&path).expect("it was written");
    assert_snapshot!(graph);
    std::fs::remove_dir_all(&folder).expect("it was there");
    let shown = run(&["litmus", "--dot", name, "examples/sb.litmus"]);
    assert!(shown.starts_with("exit code 3\n") && shown.contains("cannot write"), "{shown}");
}

/// Pick dependencies of AArch64, as Arm's model has them: which of `data/picks` may end as their condition says.
#[test]
fn picks_order_as_arm_says() {
    let output = fencepost(&["litmus", &data("picks")]).output().expect("it runs").stdout;
    let table = String::from_utf8(output).expect("text");
    let allowed: Vec<&str> = table
        .lines()
        .filter(|line| line.contains(" Sometimes "))
        .map(|line| line.split(' ').next().expect("a name"))
        .collect();
    let expected = [
        "lb+cas-ok-po",
        "lb+csel-data-po",
        "lb+swp-po",
        "mp+cas-ok-addr",
        "mp+cas-ok-ctrl",
        "mp+cas-ok-data-rfi-addr",
    ];
    assert_eq!(allowed, expected, "{table}");
    assert_eq!(table.matches(" Never ").count(), 7, "{table}");
}

/// Pairs of registers of AArch64: an access of 128 bits is one, and a non-temporal load may ignore its address dependency.
#[test]
fn pairs_order_as_arm_says() {
    let output = fencepost(&["litmus", &data("pairs")]).output().expect("it runs").stdout;
    let table = String::from_utf8(output).expect("text");
    let words: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let verdict = |name: &str| words.iter().find(|words| words[0] == name).map(|words| words[2]);
    let expected = [
        ("casp-x", "Sometimes"),
        ("ldxp-x", "Sometimes"),
        ("mp+dmb+addr-ldnp", "Sometimes"),
        ("mp+dmb+addr-ldp", "Never"),
    ];
    for (name, expected) in expected {
        assert_eq!(verdict(name), Some(expected), "{table}");
    }
}
