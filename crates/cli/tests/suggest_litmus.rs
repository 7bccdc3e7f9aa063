//! Suggestions for litmus tests, applied to their text: what a test asks about is then impossible, and without any one of
//! the changes it is not.

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::fencepost;

/// A folder that goes when it is not needed any more.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// The answer to a test.
    fn answer(&self, text: &str, model: &str, more: &[&str]) -> Value {
        let path = self.0.join("test.litmus");
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        let arguments = [&["litmus", "-j1", "--json", "-m", model, &path][..], more].concat();
        let output = fencepost(&arguments).output().expect("it runs");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}{text}", String::from_utf8_lossy(&output.stdout)))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The text with some changes, those that come last in it first.
fn apply(text: &str, mut changes: Vec<&Value>) -> String {
    // At one place the access is changed before a fence is put there.
    changes.sort_by_key(|change| {
        (
            std::cmp::Reverse((change["line"].as_u64(), change["column"].as_u64())),
            change["from"] == "no fence",
        )
    });
    changes.iter().fold(text.to_string(), |changed, change| one(&changed, text, change))
}

fn one(text: &str, original: &str, change: &Value) -> String {
    let number = |key: &str| change[key].as_u64().expect("a number") as usize;
    let word = |key: &str| change[key].as_str().expect("a word");
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let (line, column) = (number("line") - 1, number("column") - 1);
    let (from, to) = (word("from"), word("to"));
    if let Some(fence) = to.strip_suffix(" before it") {
        let row = match fence.starts_with("atomic") {
            true => format!("  {fence};"),
            false => {
                // A row with the fence in the column of its thread.
                let bars = |text: &str| text.matches('|').count();
                let written = original.lines().nth(line).expect("a line");
                let (before, all) = (bars(&written[..column]), bars(written));
                format!("{}{fence}{} ;", "|".repeat(before), "|".repeat(all - before))
            }
        };
        lines.insert(line, row);
    } else {
        let (head, tail) = lines[line].split_at(column);
        let (from, to) = match change["text"].as_str().expect("a text").starts_with("atomic") {
            true => (format!("memory_order_{from}"), format!("memory_order_{to}")),
            false => (from.to_string(), to.to_string()),
        };
        assert!(tail.contains(&from), "{tail} {from}");
        lines[line] = format!("{head}{}", tail.replacen(&from, &to, 1));
    }
    lines.join("\n") + "\n"
}

const SB: &str = "X86 SB\n{ }\n P0         | P1         ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
    exists (0:EAX=0 /\\ 1:EAX=0)\n";
const MP_ARM: &str = "AArch64 MP\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X1] ;\n \
    STR W0,[X1] | LDR W2,[X3] ;\n STR W0,[X3] | ;\nexists (1:X0=1 /\\ 1:X2=0)\n";
/// The loads have an offset, which load-acquire does not take.
const SB_ARM: &str = "AArch64 SB\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#1 | MOV W0,#1 ;\n \
    STR W0,[X1] | STR W0,[X1] ;\n LDR W2,[X3,#0] | LDR W2,[X3,#0] ;\n~exists (0:X2=0 /\\ 1:X2=0)\n";
const MP_C: &str = "C MP\n{ x=0; y=0; }\n\nP0 (atomic_int* x, atomic_int* y) {\n  \
    atomic_store_explicit(x, 1, memory_order_relaxed);\n  atomic_store_explicit(y, 1, memory_order_relaxed);\n}\n\n\
    P1 (atomic_int* x, atomic_int* y) {\n  int r0 = atomic_load_explicit(y, memory_order_relaxed);\n  \
    int r1 = atomic_load_explicit(x, memory_order_relaxed);\n}\n\nforall (1:r0=0 \\/ 1:r1=1)\n";
const SB3: &str = "X86 3.SB\n{ }\n P0 | P1 | P2 ;\n MOV [x],$1 | MOV [y],$1 | MOV [z],$1 ;\n \
    MOV EAX,[y] | MOV EAX,[z] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0 /\\ 2:EAX=0)\n";

fn textbook(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/textbook");
    std::fs::read_to_string(folder.join(format!("{name}.litmus"))).expect("a test")
}

/// What makes these impossible: how many changes, and what they are.
#[test]
fn suggestions_make_it_impossible_and_none_can_be_left_out() {
    let tests: [(String, &str, &str); 11] = [
        (SB.into(), "tso", "MFENCE, MFENCE"),
        (SB3.into(), "tso", "MFENCE, MFENCE, MFENCE"),
        (MP_ARM.into(), "armv8", "LDAPR, DMB ST"),
        (SB_ARM.into(), "armv8", "DMB SY, DMB SY"),
        (MP_C.into(), "rc20", "release, acquire"),
        (textbook("SB"), "power", "sync, sync"),
        (textbook("MP"), "power", "lwsync, lwsync"),
        (textbook("LB"), "power", "lwsync, lwsync"),
        (textbook("2+2W"), "power", "lwsync, lwsync"),
        (textbook("WRC"), "power", "lwsync, lwsync"),
        (textbook("IRIW"), "power", "sync, sync"),
    ];
    let folder = Folder::new("suggest-litmus");
    for (text, model, wanted) in &tests {
        let found = folder.answer(text, model, &["--suggest"]);
        let changes: Vec<Value> =
            found["suggestion"]["changes"].as_array().unwrap_or_else(|| panic!("{text}{found}")).clone();
        let short = |change: &Value| {
            change["to"].as_str().expect("a word").trim_end_matches(" before it").to_string()
        };
        let mut names: Vec<String> = changes.iter().map(short).collect();
        let mut expected: Vec<String> = wanted.split(", ").map(String::from).collect();
        names.sort();
        expected.sort();
        assert_eq!(names, expected, "{text}");
        // Whether what the test asks about cannot be any more.
        let is_forbidden = |changes: Vec<&Value>| {
            let changed = apply(text, changes);
            let answer = folder.answer(&changed, model, &[]);
            let never = if text.contains("forall") { "Always" } else { "Never" };
            answer["verdict"] == never
        };
        assert!(is_forbidden(changes.iter().collect()), "{text}{changes:?}");
        for left_out in 0..changes.len() {
            let rest = changes.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, change)| change);
            assert!(!is_forbidden(rest.collect()), "{text} without {}", changes[left_out]);
        }
    }
}

#[test]
fn what_no_fence_forbids_is_said() {
    let folder = Folder::new("suggest-nothing");
    let sequential = SB.replace("0:EAX=0 /\\ 1:EAX=0", "0:EAX=0 /\\ 1:EAX=1");
    let found = folder.answer(&sequential, "tso", &["--suggest"]);
    assert_eq!(found["suggestion"]["changes"].as_array().map(Vec::len), Some(0), "{found}");
    // What is impossible as it is needs no suggestion.
    let found = folder.answer(SB, "sc", &["--suggest"]);
    assert_eq!((found["verdict"].as_str(), found.get("suggestion")), (Some("Never"), None), "{found}");
}

/// The words for people.
#[test]
fn suggestions_are_told() {
    let text =
        support::run(&["litmus", "-j1", "--suggest", "-m", "power", "crates/litmus/textbook/WRC.litmus"]);
    insta::assert_snapshot!("wrc_power", text);
    let text = support::run(&["litmus", "-j1", "--suggest", "-m", "sc", "crates/litmus/textbook/WRC.litmus"]);
    insta::assert_snapshot!("wrc_sc", text);
}
