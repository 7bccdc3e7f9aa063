//! `fencepost check` from the command line: its options and what it prints.

mod support;

use serde_json::Value;
use std::path::Path;
use support::{fencepost, run};

/// The answer to a check as JSON.
fn answer(arguments: &[&str]) -> Value {
    let output = fencepost(&["check", "--json", "-j1"]).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_weak_compare_exchange_fails_without_a_reason_only_if_asked() {
    let file = "crates/cli/tests/data/weak_cas.c";
    let runs: [(&str, &str, &str); 9] = [
        ("sc", "", "unsafe"),
        ("ra", "", "unsafe"),
        ("rc11", "", "unsafe"),
        ("tso", "", "safe"),
        ("pso", "", "safe"),
        ("power", "", "unsafe"),
        ("power", "trailing-sync", "unsafe"),
        ("armv8", "lse", "safe"),
        ("armv8", "llsc", "unsafe"),
    ];
    for (model, mapping, spurious) in runs {
        let arguments = [file, "-m", model, "--mapping", mapping];
        let strong = answer(&arguments);
        assert_eq!(strong["verdict"], "safe", "{model} {mapping}: {strong}");
        assert_eq!(strong["executions"], 2, "{model} {mapping}: {strong}");
        let weak = answer(&[&arguments[..], &["--spurious"]].concat());
        assert_eq!(weak["verdict"], spurious, "{model} {mapping}: {weak}");
    }
}

#[test]
fn the_bound_names_the_loops_that_it_cut() {
    let file = "crates/cli/tests/data/count_up.c";
    let found = answer(&[file, "--unroll", "3"]);
    // Nothing came to its end: that is no safe, and the answer says which loop to look at.
    assert_eq!((&found["verdict"], &found["scope"]), (&"unknown".into(), &"bounded".into()));
    assert_eq!(found["stop"]["kind"], "cut everything", "{found}");
    let bound = &found["bounds"][0];
    assert_eq!((&bound["name"], &bound["value"]), (&"unroll".into(), &3.into()));
    assert_eq!(bound["places"][0]["text"], "while (atomic_fetch_add(&x, 1) < 5)");
    assert_eq!(bound["places"][0]["line"], 8);
    assert_eq!(bound["places"][1], Value::Null);
    let whole = answer(&[file]);
    assert_eq!(whole["bounds"], Value::Array(Vec::new()), "{whole}");
}

/// A program for every finding code: the whole text, as the programmer reads it.
#[test]
fn every_finding_is_told() {
    let programs = [
        ("FP0101", "dekker_2_rlx", "tso"),
        ("FP0101", "litmus_mp_rlx", "power"),
        ("FP0201", "litmus_mp_race", "rc11"),
        ("FP0301", "finding_null", "rc11"),
        ("FP0302", "finding_out_of_bounds", "rc11"),
        ("FP0303", "treiber_aba", "rc11"),
        ("FP0304", "finding_use_after_scope", "rc11"),
        ("FP0305", "finding_double_free", "rc11"),
        ("FP0306", "finding_invalid_free", "rc11"),
        ("FP0307", "finding_uninitialised_heap", "rc11"),
        ("FP0308", "finding_leak", "rc11"),
        ("FP0309", "finding_bad_pointer", "rc11"),
        ("FP0310", "finding_mixed_size", "rc11"),
        ("FP0312", "constant_literal", "rc11"),
        ("FP0401", "finding_deadlock", "armv8"),
        ("FP0401", "sync_cond_lost", "rc11"),
        ("FP0402", "finding_unlock_by_other", "rc11"),
        ("FP0501", "finding_division", "rc11"),
        ("FP0502", "finding_bad_call", "rc11"),
    ];
    for (code, program, model) in programs {
        let file = format!("crates/c/corpus/{program}.c");
        let text = run(&["check", "-j1", "-m", model, &file]);
        assert!(text.contains(code), "{program}: {text}");
        insta::assert_snapshot!(format!("{code}_{program}_{model}"), text);
    }
}

#[test]
fn what_cannot_be_followed_is_unknown() {
    insta::assert_snapshot!(run(&["check", "-j1", "crates/cli/tests/data/deep_recursion.c"]));
}

#[test]
fn an_access_between_the_steps_of_a_section_is_left_to_the_machines() {
    let file = "crates/cli/tests/data/outside_section.c";
    insta::assert_snapshot!(run(&["check", "-j1", "-m", "rc11", file]));
    let found = answer(&[file, "-m", "tso"]);
    assert_eq!((&found["verdict"], &found["engine"]), (&"safe".into(), &"states".into()), "{found}");
}

#[test]
fn dependencies_may_be_distrusted() {
    let file = "crates/cli/tests/data/address_dependency.c";
    for model in ["power", "armv8"] {
        let kept = answer(&[file, "-m", model]);
        let assumes = kept["assumes"].as_str().expect("what it takes for granted");
        assert_eq!(kept["verdict"], "safe", "{model}: {kept}");
        assert!(assumes.ends_with("source dependencies kept"), "{assumes}");
        assert!(assumes.starts_with("as compiled for "), "{assumes}");
        let none = answer(&[file, "-m", model, "--deps", "none"]);
        assert_eq!(none["verdict"], "unsafe", "{model}: {none}");
    }
    let refused = answer(&[file, "-m", "power", "--deps", "none", "--mapping", "branch"]);
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("--mapping branch")), "{refused}");
}

#[test]
fn json_has_the_fields_that_tools_rely_on() {
    let found = answer(&["crates/c/corpus/finding_race.c"]);
    for key in ["verdict", "scope", "bounds", "executions", "blocked", "cut", "seconds", "findings"] {
        assert!(!found[key].is_null(), "{key}: {found}");
    }
    let finding = &found["findings"][0];
    for key in ["code", "kind", "severity", "message", "locations", "trace"] {
        assert!(!finding[key].is_null(), "{key}: {found}");
    }
    assert_eq!(finding["locations"].as_array().map(Vec::len), Some(2));
    assert_eq!(finding["trace"][0]["location"]["line"], 21);
}

#[test]
fn several_files_are_one_line_each_and_flags_come_after_two_dashes() {
    let files = ["crates/c/corpus/count_fib_join.c", "crates/c/corpus/finding_race.c"];
    let output =
        fencepost(&["check", "--json", "-j1", files[0], files[1], "--", "-DN=3"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["executions"], &answers[1]["verdict"]), (&175.into(), &"unsafe".into()));
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(run(&["check", files[0], "--", "-O2"]));
}

#[test]
fn limits_make_the_answer_unknown() {
    let file = "crates/c/corpus/count_fetch_add.c";
    let limits = [["--max-executions", "100"], ["--timeout", "0.001"], ["--max-memory", "1"]];
    for limit in limits {
        let found = answer(&[&[file, "-D", "N=9", "--unroll", "10"], &limit[..]].concat());
        assert_eq!(found["verdict"], "unknown", "{limit:?}: {found}");
        assert!(found["stop_reason"].is_string(), "{limit:?}: {found}");
    }
}

#[test]
fn counterexamples_are_drawn() {
    let folder = std::env::temp_dir().join(format!("fencepost-draw-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (dot, svg) = (folder.join("a.dot"), folder.join("a.svg"));
    let names = [dot.display().to_string(), svg.display().to_string()];
    let drawn = ["--dot", &names[0], "--svg", &names[1]];
    answer(&[&["crates/c/corpus/litmus_mp_rlx.c", "-m", "power"], &drawn[..]].concat());
    insta::assert_snapshot!("mp_as_a_graph", std::fs::read_to_string(&dot).expect("written"));
    insta::assert_snapshot!("mp_as_a_picture", std::fs::read_to_string(&svg).expect("written"));
    std::fs::remove_file(&dot).expect("it is there");
    std::fs::remove_file(&svg).expect("it is there");
    let safe = fencepost(&["check", "crates/c/corpus/litmus_corr.c"]).args(drawn).output().expect("it runs");
    assert!(String::from_utf8_lossy(&safe.stderr).contains("no counterexample to draw"));
    assert!(!dot.exists());
    // Of several programs each has a file of its own.
    let two = ["check", "-m", "power", "crates/c/corpus/litmus_mp_rlx.c", "crates/c/corpus/litmus_corr.c"];
    assert_eq!(
        fencepost(&two).args(drawn).status().expect("it runs").code(),
        Some(0),
        "both are as expected"
    );
    assert!(folder.join("a-litmus_mp_rlx-power.svg").exists() && !svg.exists());
    let _ = std::fs::remove_dir_all(&folder);
}

/// `docs/FINDINGS.md` has the table that findings come from; `INSTA_UPDATE=always` writes it.
#[test]
fn the_table_of_findings_is_documented() {
    let mut rows: Vec<_> = fencepost_answer::kind::TABLE.iter().collect();
    rows.sort_by_key(|entry| entry.code);
    let mut table =
        String::from("| code | kind | what it means | what to do | example |\n|---|---|---|---|---|\n");
    for entry in rows {
        let warning = if entry.kind.is_warning() { " (warning)" } else { "" };
        let examples: Vec<String> = entry.examples.iter().map(|name| format!("`{name}`")).collect();
        let examples = if examples.is_empty() { "-".to_string() } else { examples.join(", ") };
        let (code, name, meaning, advice) = (entry.code, entry.name, entry.meaning, entry.advice);
        table += &format!("| {code} | {name}{warning} | {meaning} | {advice} | {examples} |\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FINDINGS.md");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let start = text.find("| code | kind |").expect("a table");
    let end = start + text[start..].find("\n\n").expect("something follows") + 1;
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, format!("{}{table}{}", &text[..start], &text[end..])).expect("writable");
        return;
    }
    assert_eq!(&text[start..end], table);
}

/// Every example that the table names is there and shows the finding under some model.
#[test]
fn examples_of_findings_show_them() {
    for entry in fencepost_answer::kind::TABLE {
        for name in entry.examples {
            let file = if name.contains('/') { name.to_string() } else { format!("crates/c/corpus/{name}") };
            let shown = ["rc11", "tso", "power"].iter().any(|model| {
                let found = answer(&["--timeout", "20", "-m", model, &file]);
                let findings = found["findings"].as_array().expect("findings").clone();
                findings.iter().any(|finding| finding["code"] == entry.code)
            });
            assert!(shown, "{}: {name}", entry.code);
        }
    }
}

/// Assembly of another platform than the model's is a warning, and means what it says there.
#[test]
fn assembly_of_another_platform_is_a_warning() {
    let file = "crates/cli/tests/data/foreign_assembly.c";
    insta::assert_snapshot!("foreign_assembly_armv8", run(&["check", "-j1", "-m", "armv8", file]));
    let own = run(&["check", "-j1", "-m", "tso", file]);
    assert!(own.contains("safe under tso") && !own.contains("warning"), "{own}");
}
