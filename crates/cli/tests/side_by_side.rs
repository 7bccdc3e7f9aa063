//! `fencepost compare`, several models in one `check`, and the formats for other tools.

mod support;

use insta::assert_snapshot;
use serde_json::Value;
use support::{fencepost, run};

fn output(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&fencepost(arguments).output().expect("it runs").stdout).into_owned()
}

/// The table that every introduction to memory models has.
#[test]
fn the_textbook_table() {
    assert_snapshot!(run(&["compare", "crates/litmus/textbook"]));
}

#[test]
fn what_a_weaker_model_adds_to_a_test() {
    assert_snapshot!(run(&["compare", "crates/litmus/textbook/MP.litmus", "-m", "sc,tso,power"]));
}

/// Two cat files: which tests tell them apart.
#[test]
fn tests_tell_two_models_apart() {
    let folder = "crates/litmus/textbook";
    let apart = "examples/my-sc.cat,crates/cli/tests/data/not-monotone.cat";
    assert_snapshot!(run(&["compare", folder, "-m", apart]));
    let same = output(&["compare", folder, "-m", "sc,examples/my-sc.cat"]);
    assert!(same.ends_with("no test tells sc and my-sc apart: all have the same final states\n"), "{same}");
}

#[test]
fn from_x86_to_power() {
    let file = "crates/c/corpus/litmus_mp_rlx.c";
    assert_snapshot!(run(&["compare", "-j1", file, "-m", "tso,power"]));
}

#[test]
fn several_models_and_folders() {
    let file = "crates/c/corpus/litmus_sb_rlx.c";
    let text = output(&["check", "-j1", "--json", "-m", "sc,tso", file]);
    let verdicts: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let pair = |value: &Value| (value["model"].to_string(), value["verdict"].to_string());
    assert_eq!(
        verdicts.iter().map(pair).collect::<Vec<_>>(),
        [("\"sc\"".to_string(), "\"safe\"".to_string()), ("\"tso\"".to_string(), "\"unsafe\"".to_string()),]
    );
    let folder = fencepost(&["check", "crates/litmus/textbook"]).output().expect("it runs");
    assert_eq!(folder.status.code(), Some(3));
    assert_snapshot!(run(&["check", "-m", "tos", file]));
}

#[test]
fn programs_come_from_standard_input_too() {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = fencepost(&["check", "-m", "sc", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let program = b"#include <assert.h>\nint main(void) { assert(1 == 2); return 0; }\n";
    child.stdin.take().expect("piped").write_all(program).expect("it reads");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

/// SARIF 2.1.0: one log with one run, every result with a rule that is there and places that exist.
#[test]
fn sarif_is_one_log() {
    let files = ["crates/c/corpus/litmus_mp_race.c", "examples/queue.c", "crates/cli/tests/data/bad.cat"];
    let log: Value =
        serde_json::from_str(&output(&[&["check", "-j1", "--format", "sarif"][..], &files].concat()))
            .expect("one JSON document");
    assert_eq!(log["version"], "2.1.0");
    let runs = log["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["invocations"][0]["executionSuccessful"], false, "one file cannot be read");
    assert_eq!(runs[0]["properties"]["answers"].as_array().map(Vec::len), Some(files.len()));
    let results = runs[0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 1);
    let rules = runs[0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(|rule| rule["id"] == results[0]["ruleId"]), "{rules:?}");
    let flows = results[0]["codeFlows"][0]["threadFlows"].as_array().expect("flows");
    assert!(flows.len() >= 2, "{flows:?}");
    for flow in flows {
        for step in flow["locations"].as_array().expect("steps") {
            assert!(step["executionOrder"].as_u64().is_some_and(|order| order > 0), "{step}");
        }
    }
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert!(region["startLine"].as_u64().is_some_and(|line| line > 1), "{region}");
}

#[test]
fn junit_counts_failures_and_errors() {
    let files = ["crates/c/corpus/litmus_mp_race.c", "examples/queue.c", "crates/cli/tests/data/bad.cat"];
    let text = output(&[&["check", "-j1", "--format", "junit"][..], &files].concat());
    assert!(text.starts_with("<?xml") && text.ends_with("</testsuites>\n"), "{text}");
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("<testsuite "), count("<failure "), count("<error ")), (3, 1, 1), "{text}");
    // What is text in it is not taken for markup.
    assert!(!text.contains("<stdatomic.h>"));
}

#[test]
fn github_annotations_name_the_place() {
    assert_snapshot!(run(&["check", "-j1", "--format", "github", "crates/c/corpus/litmus_mp_race.c"]));
}

#[test]
fn a_comparison_that_compares_nothing_is_an_error() {
    let arguments = ["litmus", "--compare", "crates/cli/tests/data/agree.jsonl", "crates/litmus/textbook"];
    let output = fencepost(&arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
}

/// What is printed as herd7 prints it is read back and says the same.
#[test]
fn the_format_of_herd_is_read_back() {
    let log = std::env::temp_dir().join(format!("fencepost-herd-{}.log", std::process::id()));
    std::fs::write(&log, output(&["litmus", "--format", "herd", "examples"])).expect("written");
    let compared = fencepost(&["litmus", "--compare", &log.display().to_string(), "examples"])
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&compared.stdout).into_owned();
    let _ = std::fs::remove_file(&log);
    assert_eq!(compared.status.code(), Some(0), "{text}");
    assert!(text.contains("12 rows compared: 0 differ"), "{text}");
    assert_snapshot!(without_time(&output(&["litmus", "--format", "herd", "examples/sb.litmus"])));
}

fn without_time(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("Time ")).map(|line| format!("{line}\n")).collect()
}
