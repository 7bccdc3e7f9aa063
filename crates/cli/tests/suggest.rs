//! Suggestions, applied to the text of the program: it is then safe, and without any one of them it is not.

mod support;

use serde_json::Value;
use std::path::PathBuf;
use support::fencepost;

/// Programs with models under which they are unsafe and orders help.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("litmus_mp_rlx", &["rc20", "pso", "power", "armv8"]),
    ("litmus_sb_rlx", &["rc20", "tso", "power", "armv8"]),
    ("litmus_mp_race", &["rc20", "rc11"]),
    ("dekker_2_rlx", &["rc20", "tso"]),
    ("peterson_2_rlx", &["rc20", "tso"]),
    ("dcl_rlx", &["rc20"]),
    ("spsc_ring_rlx", &["rc20"]),
];

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn answer(file: &str, model: &str, more: &[&str]) -> Value {
    let arguments = [&["check", "-j1", "--json", "--timeout", "120", "-m", model, file][..], more].concat();
    let output = fencepost(&arguments).output().expect("it runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The corpus writes some accesses as `LD(x)` and `ST(x, v)`: the call that a macro at the beginning of the text stands for.
fn written_out(text: &str) -> Option<(usize, String)> {
    let (arguments, call) = match (text.strip_prefix("LD("), text.strip_prefix("ST(")) {
        (Some(rest), _) => (rest, "atomic_load_explicit"),
        (_, Some(rest)) => (rest, "atomic_store_explicit"),
        _ => return None,
    };
    let mut depth = 1;
    let end = arguments.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    let inside = &arguments[..end];
    Some((3 + end + 1, format!("{call}(&{inside}, memory_order_relaxed)")))
}

/// The text with a change: the first order that follows the place becomes another one.
fn apply(text: &str, change: &Value) -> String {
    let number = |key: &str| change[key].as_u64().expect("a number") as usize;
    let word = |key: &str| format!("memory_order_{}", change[key].as_str().expect("a word"));
    let start: usize = text.split_inclusive('\n').take(number("line") - 1).map(str::len).sum();
    let at = start + number("column") - 1;
    let mut text = text.to_string();
    if let Some((length, call)) = written_out(&text[at..]) {
        text.replace_range(at..at + length, &call);
    }
    // Others name the orders by macros of their own, both of which are relaxed in these programs.
    let call = &text[at..at + text[at..].find(';').expect("the end of a statement")];
    let written = [word("from"), "ACQ".into(), "REL".into()];
    let (found, old) =
        written.iter().find_map(|old| Some((call.find(old.as_str())?, old))).expect("an order");
    let (before, after) = text.split_at(at + found);
    format!("{before}{}{}", word("to"), &after[old.len()..])
}

#[test]
fn suggestions_make_programs_safe_and_none_can_be_left_out() {
    let folder = Folder(std::env::temp_dir().join(format!("fencepost-suggest-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let mut count = 0;
    for (name, models) in PROGRAMS {
        let file = format!("crates/c/corpus/{name}.c");
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(top.join(&file)).expect("in the corpus");
        for model in *models {
            let found = answer(&file, model, &["--suggest"]);
            assert_eq!(found["verdict"], "unsafe", "{name} {model}");
            let changes = found["suggestion"]["changes"].as_array().expect("a suggestion").clone();
            assert!(!changes.is_empty(), "{name} {model}: {found}");
            let changed = |left_out: Option<usize>| {
                // From the end, so that places stay where they are.
                let mut kept: Vec<&Value> = changes
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| Some(*i) != left_out)
                    .map(|(_, c)| c)
                    .collect();
                kept.sort_by_key(|c| std::cmp::Reverse((c["line"].as_u64(), c["column"].as_u64())));
                let text = kept.iter().fold(text.clone(), |text, change| apply(&text, change));
                let path = folder.0.join(format!("{name}.c"));
                std::fs::write(&path, text).expect("written");
                // Under the model, and wherever else it says.
                let also = found["suggestion"]["also"].as_array().expect("contexts");
                let contexts = std::iter::once(*model).chain(also.iter().filter_map(Value::as_str));
                let verdicts = contexts.map(|context| {
                    let (model, mapping) = context.split_once(" --mapping ").unwrap_or((context, ""));
                    let more = if mapping.is_empty() { vec![] } else { vec!["--mapping", mapping] };
                    answer(&path.display().to_string(), model, &more)["verdict"].clone()
                });
                verdicts.map(|verdict| verdict.as_str().expect("a verdict").to_string()).collect::<Vec<_>>()
            };
            let all = changed(None);
            assert!(all.iter().all(|verdict| verdict == "safe"), "{name} {model}: {changes:?} {all:?}");
            for (left_out, change) in changes.iter().enumerate() {
                let verdicts = changed(Some(left_out));
                assert!(
                    verdicts.iter().any(|verdict| verdict == "unsafe"),
                    "{name} {model} without {change}: {verdicts:?}"
                );
            }
            count += 1;
        }
    }
    assert!(count >= 15, "{count} suggestions");
}

/// What makes one finding impossible, applied to the text: that finding is not found any more, whatever else is.
#[test]
fn a_remedy_makes_its_finding_impossible() {
    let folder = Folder(std::env::temp_dir().join(format!("fencepost-remedy-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let mut count = 0;
    for (name, models) in PROGRAMS {
        let file = format!("crates/c/corpus/{name}.c");
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(top.join(&file)).expect("in the corpus");
        for model in *models {
            let found = answer(&file, model, &["--suggest"]);
            let first = &found["findings"][0];
            let remedy = &first["explanation"]["remedy"];
            let Some(changes) = remedy["changes"].as_array() else { continue };
            assert!((1..=2).contains(&changes.len()), "{name} {model}: {remedy}");
            let mut sorted: Vec<&Value> = changes.iter().collect();
            sorted.sort_by_key(|c| std::cmp::Reverse((c["line"].as_u64(), c["column"].as_u64())));
            let changed = sorted.iter().fold(text.clone(), |text, change| apply(&text, change));
            let path = folder.0.join(format!("{name}.c"));
            std::fs::write(&path, changed).expect("written");
            let then = answer(&path.display().to_string(), model, &["--all"]);
            assert_eq!(then["verdict"], remedy["verdict"], "{name} {model}: {remedy}");
            let place = |finding: &Value| (finding["code"].clone(), finding["locations"][0]["line"].clone());
            let all = then["findings"].as_array().expect("findings");
            assert!(all.iter().all(|other| place(other) != place(first)), "{name} {model}: {then}");
            count += 1;
        }
    }
    assert!(count >= 8, "{count} remedies");
}

#[test]
fn where_no_order_helps_it_says_so() {
    let found = answer("crates/c/corpus/finding_deadlock.c", "rc20", &["--suggest"]);
    assert_eq!(found["suggestion"]["changes"].as_array().map(Vec::len), Some(0), "{found}");
}

#[test]
fn fences_for_programs_in_the_small_language() {
    for name in ["dekker", "peterson", "burns"] {
        let file = format!("crates/lang/corpus/{name}.fp");
        let found = answer(&file, "tso", &["--suggest"]);
        let changes = found["suggestion"]["changes"].as_array().expect("a suggestion");
        // One in each thread, between announcing oneself and looking at the other.
        assert!(changes.iter().all(|change| change["to"] == "a fence before it"), "{found}");
        assert!(!changes.is_empty(), "{found}");
    }
}

/// `--apply` writes what is suggested, and the file is then safe; a sequence lock gets its two fences.
#[test]
fn what_is_applied_is_safe() {
    let folder = Folder(std::env::temp_dir().join(format!("fencepost-apply-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let programs = [
        ("../../../examples/message", &["armv8", "rc20"][..], 0),
        ("seqlock_unfenced", &["rc20", "armv8"], 2),
        ("treiber_rlx", &["rc20"], 0),
        ("litmus_sb_rlx", &["tso"], 0),
    ];
    for (name, models, fences) in programs {
        for model in models {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let text = std::fs::read_to_string(format!("{root}/crates/c/corpus/{name}.c"));
            let text = text.expect("the program").replace("expect:", "");
            let path = folder.0.join("applied.c");
            std::fs::write(&path, &text).expect("written");
            let file = path.display().to_string();
            let found = answer(&file, model, &["--suggest", "--apply"]);
            assert_eq!(found["verdict"], "unsafe", "{name} {model}");
            assert_eq!(answer(&file, model, &[])["verdict"], "safe", "{name} {model}");
            let now = std::fs::read_to_string(&path).expect("the program");
            let count = |text: &str| text.matches("atomic_thread_fence").count();
            assert_eq!(count(&now) - count(&text), fences, "{now}");
        }
    }
}

/// An order in a macro is not edited, and the file stays as it is.
#[test]
fn what_the_text_does_not_say_is_left_alone() {
    let found = answer("crates/c/corpus/dekker_2_rlx.c", "rc20", &["--suggest"]);
    let changes = found["suggestion"]["changes"].as_array().expect("a suggestion");
    assert!(!changes.is_empty() && changes.iter().all(|c| c["edits"] == serde_json::json!([])), "{found}");
}

/// Services that take SARIF get the patch as a fix.
#[test]
fn sarif_has_the_fix() {
    let arguments = ["check", "-j1", "--suggest", "--format", "sarif", "-m", "armv8", "examples/message.c"];
    let output = fencepost(&arguments).output().expect("it runs");
    let log: Value = serde_json::from_slice(&output.stdout).expect("a log");
    let change = &log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "examples/message.c");
    let replacements = change["replacements"].as_array().expect("replacements");
    let texts: Vec<&str> =
        replacements.iter().filter_map(|r| r["insertedContent"]["text"].as_str()).collect();
    assert_eq!(texts, ["memory_order_acquire", "memory_order_release"]);
    let region = &replacements[0]["deletedRegion"];
    assert_eq!((&region["startLine"], &region["endLine"]), (&Value::from(17), &Value::from(17)));
}
