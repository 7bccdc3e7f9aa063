//! How far an answer holds: bounds that deepen, searches that end early, and proofs without a bound.

mod support;

use serde_json::Value;
use support::{fencepost, run};

/// The answer to a check as JSON.
fn answer(arguments: &[&str]) -> Value {
    let output = fencepost(&["check", "--json", "-j1"]).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

const ROUNDS: &str = "crates/cli/tests/data/wrong_in_round.c";
/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

/// What goes wrong in the first rounds is found with a small bound; one jump back more than rounds of the loop body.
#[test]
fn bounds_deepen_until_something_is_wrong() {
    for (round, bound) in [(2, 1), (3, 2), (4, 4)] {
        let define = format!("-DROUND={round}");
        let found = answer(&[ROUNDS, "--", &define]);
        assert_eq!(found["verdict"], "unsafe", "{found}");
        // With the bound that it was found with, all is as it was; with the one before it, nothing is wrong.
        let asked = |bound: u64| answer(&[ROUNDS, "--unroll", &bound.to_string(), "--", &define]);
        assert_eq!(found["nodes"], asked(bound)["nodes"], "round {round}: {found}");
        let before = asked(bound / 2);
        assert_eq!(before["findings"], Value::Array(Vec::new()), "round {round}: {before}");
    }
}

/// Who names a bound gets the executions within it and no others.
#[test]
fn a_bound_that_was_asked_for_is_the_only_one() {
    let found = answer(&[ROUNDS, "--unroll", "2", "--", "-DROUND=4"]);
    assert_eq!((&found["verdict"], &found["bounds"][0]["value"]), (&"safe".into(), &2.into()), "{found}");
}

/// When a limit ends the work, the bounds that were finished are named.
#[test]
fn what_was_finished_before_a_limit_is_said() {
    let file = "crates/c/corpus/burns_2_sc.c";
    let found = answer(&[file, "-m", "rc20", "--max-executions", "40"]);
    assert_eq!(
        (&found["verdict"], &found["stop"]["kind"]),
        (&"unknown".into(), &"executions".into()),
        "{found}"
    );
    let so_far = &found["so_far"][0];
    assert_eq!(so_far["name"], "unroll", "{found}");
    let bound = so_far["value"].as_u64().expect("a number");
    assert!((1..8).contains(&bound), "{found}");
    // With that bound it is safe, and with the next one there are too many executions.
    let asked =
        |bound: u64| answer(&[file, "-m", "rc20", "--max-executions", "40", "--unroll", &bound.to_string()]);
    assert_eq!(asked(bound)["verdict"], "safe");
    assert_eq!(asked(2 * bound)["verdict"], "unknown");
}

/// Where the explorer must cut a loop and the machine has few states, the machine proves what it looks for; what only the
/// explorer looks for is named with its bound.
#[test]
fn the_machine_proves_what_the_explorer_bounds() {
    for (model, options) in [("sc", &[][..]), ("tso", &[]), ("sc", &["--all"])] {
        let arguments = [&["crates/c/corpus/burns_2_sc.c", "-m", model], options].concat();
        let found = answer(&arguments);
        let got = (&found["verdict"], &found["scope"], &found["engine"]);
        assert_eq!(got, (&"safe".into(), &"all".into(), &"states".into()), "{found}");
        assert_eq!(found["checks"], "assertions, memory and deadlocks");
        let picked = found["picked"].as_str().expect("why");
        assert!(picked.contains("found nothing with an unroll bound of 8"), "{picked}");
    }
    // A bound that was asked for is for the explorer.
    let found = answer(&["crates/c/corpus/burns_2_sc.c", "-m", "sc", "--unroll", "2"]);
    assert_eq!((&found["engine"], &found["scope"]), (&"explore".into(), &"bounded".into()), "{found}");
}

/// A search that stops at the first error has not seen all executions.
#[test]
fn the_scope_says_whether_the_search_ended() {
    let file = "crates/c/corpus/litmus_sb_rlx.c";
    let first = answer(&[file, "-m", "tso"]);
    assert_eq!((&first["verdict"], &first["scope"]), (&"unsafe".into(), &"part".into()), "{first}");
    let all = answer(&[file, "-m", "tso", "--all"]);
    assert_eq!((&all["verdict"], &all["scope"]), (&"unsafe".into(), &"all".into()), "{all}");
    let limited = answer(&["crates/c/corpus/count_fetch_add.c", "--max-executions", "2", "--", "-DN=8"]);
    assert_eq!((&limited["verdict"], &limited["scope"]), (&"unknown".into(), &"part".into()), "{limited}");
}

/// A loop that waits and writes an array of its own at an index that is no constant stands still all the same.
#[test]
fn waiting_with_an_array_is_waiting() {
    for model in models() {
        for options in [&[][..], &["--all"]] {
            let file = "crates/cli/tests/data/idle_in_an_array.c";
            let found = answer(&[&[file, "-m", model], options].concat());
            assert_eq!(found["verdict"], "unsafe", "{model} {options:?}: {found}");
            assert_eq!(found["findings"][0]["code"], "FP0401", "{model} {options:?}: {found}");
        }
    }
}

/// Time that is up says how much there is, if that is known.
#[test]
fn advice_knows_how_much_there_is() {
    let found = answer(&["crates/c/corpus/count_fetch_add.c", "--timeout", "0.3", "--", "-DN=12"]);
    assert_eq!(found["stop"]["kind"], "timeout", "{found}");
    let estimate = found["estimate"].as_f64().expect("an estimate");
    // 12! is 4.8e8; the estimate is that of the order of magnitude.
    assert!((4.8e6..4.8e10).contains(&estimate), "{found}");
    let advice = found["advice"][0].as_str().expect("advice");
    assert!(advice.starts_with("more time: --timeout ") && advice.contains("executions, "), "{advice}");
}

/// The bound cuts a thread that has nothing left to do: `main` waits for it, and the race that was found before is confirmed
/// all the same.
#[test]
fn what_comes_before_a_cut_is_confirmed() {
    let text = run(&["check", "-j1", "--unroll", "1", "crates/cli/tests/data/cut_at_its_end.c"]);
    assert!(
        text.contains("error[FP0201]: data race on `written`") && !text.contains("internal error"),
        "{text}"
    );
}
