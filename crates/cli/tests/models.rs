//! `fencepost models`.

mod support;

use insta::assert_snapshot;
use support::run;

#[test]
fn models_are_listed() {
    assert_snapshot!(run(&["models"]));
}

#[test]
fn a_model_is_shown() {
    let shown = run(&["models", "show", "power"]);
    let source = include_str!("../../models/cat/power.cat");
    assert_eq!(shown, format!("exit code 0\n--- output ---\n{source}"));
}

#[test]
fn an_unknown_model_is_named() {
    assert_snapshot!(run(&["models", "show", "alpha"]));
}
