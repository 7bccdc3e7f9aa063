//! Formats of others that have no validator here: a witness is one path to one violation, and JUnit XML is well-formed and
//! counts what it holds.

mod support;

use std::path::PathBuf;
use support::fencepost;

struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether every element is closed by the end tag that it needs, in the right order.
fn is_well_formed(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(end) = rest[start..].find('>') else { return false };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        let name = |tag: &'_ str| tag.split([' ', '\n']).next().map_or(0, str::len);
        match tag.strip_prefix('/') {
            Some(closed) if open.pop() != Some(closed) => return false,
            Some(_) => {}
            None if tag.starts_with('?') || tag.ends_with('/') => {}
            None => open.push(&tag[..name(tag)]),
        }
    }
    open.is_empty()
}

fn witness(file: &str, model: &str) -> Option<String> {
    let name = format!("fencepost-witness-{model}-{}.graphml", std::process::id());
    let path = File(std::env::temp_dir().join(name));
    let output = fencepost(&["check", "-j1", "-m", model, file, "--witness"]).arg(&path.0).output();
    output.expect("it runs");
    std::fs::read_to_string(&path.0).ok()
}

#[test]
fn a_witness_is_one_path_to_one_violation() {
    let text = witness("crates/c/corpus/sync_no_mutex_counter.c", "sc").expect("a witness");
    assert!(is_well_formed(&text), "{text}");
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("<data key=\"violation\">"), count("<data key=\"entry\">")), (1, 1), "{text}");
    assert!(count("<edge ") > 4 && count("<edge ") + 1 == count("<node "), "{text}");
    for n in 1..=count("<edge ") {
        assert!(text.contains(&format!("<edge source=\"N{}\" target=\"N{n}\">", n - 1)), "{n}: {text}");
    }
    assert!(text.contains("LTL(G ! call(reach_error()))"), "{text}");
    // The format knows runs of SC only.
    assert_eq!(witness("crates/c/corpus/litmus_sb_rlx.c", "tso"), None);
}

#[test]
fn junit_is_well_formed_and_counts() {
    let corpus = |name: &str| format!("crates/c/corpus/{name}.c");
    let wrong = "crates/cli/tests/data/typed_values.c".to_string();
    let files = [wrong, corpus("litmus_corr"), "no such file.c".to_string()];
    let output = fencepost(&["check", "-j1", "-m", "armv8", "--format", "junit"]).args(files).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    assert!(is_well_formed(&text), "{text}");
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("<testsuite "), count("<testcase ")), (3, 3), "{text}");
    assert_eq!((count("<failure "), count("failures=\"1\"")), (1, 1), "{text}");
    assert_eq!((count("<error "), count("errors=\"1\"")), (1, 1), "{text}");
}

#[test]
fn what_is_not_well_formed_is_seen() {
    assert!(is_well_formed("<?xml?><a b=\"1\"><c/>text</a>"));
    assert!(!is_well_formed("<a><b></a></b>") && !is_well_formed("<a>") && !is_well_formed("<a"));
}
