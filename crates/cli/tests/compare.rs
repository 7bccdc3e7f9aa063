//! `fencepost litmus --compare`: what counts as a difference, and the exit code.

mod support;

use insta::assert_snapshot;
use support::run;

const AGREE: &str = "crates/cli/tests/data/agree.jsonl";
const DIFFER: &str = "crates/cli/tests/data/differ.jsonl";

#[test]
fn agreement() {
    assert_snapshot!(run(&["litmus", "--compare", AGREE, "examples"]));
}

#[test]
fn rows_outside_the_arguments_are_counted() {
    assert_snapshot!(run(&["litmus", "--compare", AGREE, "examples/mp.litmus"]));
}

#[test]
fn one_model_only() {
    assert_snapshot!(run(&["litmus", "--compare", AGREE, "-m", "sc", "examples"]));
}

/// Wrong verdict, holds and states; a wrong count, which decides nothing; a test without an answer.
#[test]
fn differences() {
    assert_snapshot!(run(&[
        "litmus",
        "--compare",
        DIFFER,
        "examples",
        "crates/cli/tests/data/broken.litmus"
    ]));
}

/// A row about a file that is not there, and one about a model that is not there.
#[test]
fn rows_that_cannot_be_answered_are_differences() {
    let missing = "crates/cli/tests/data/missing.jsonl";
    assert_snapshot!(run(&["litmus", "--compare", missing, "crates/cli/tests/data", "examples/sb.litmus"]));
}

#[test]
fn counts_do_not_decide() {
    assert_snapshot!(run(&["litmus", "--compare", DIFFER, "examples/mp.litmus"]));
}

#[test]
fn json_goes_to_standard_output_alone() {
    assert_snapshot!(run(&["litmus", "--json", "--compare", DIFFER, "-m", "sc", "examples/sb.litmus"]));
}

#[test]
fn bad_reference_results() {
    let bad = "crates/cli/tests/data/bad.jsonl";
    assert_snapshot!("bad_row", run(&["litmus", "--compare", bad, "examples"]));
    assert_snapshot!("no_such_file", run(&["litmus", "--compare", "none.jsonl", "examples"]));
}
