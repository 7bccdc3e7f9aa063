//! Many programs at once: `fencepost.toml`, comments that expect a verdict, a baseline, a summary, and a page each.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::fencepost;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("fencepost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Store buffering between two threads; `order` is that of all accesses.
fn program(comment: &str, order: &str) -> String {
    format!(
        "{comment}\n#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x, y;\nint a, b;\n\
         void *left(void *unused) {{ atomic_store_explicit(&x, 1, {order}); a = atomic_load_explicit(&y, {order}); return 0; }}\n\
         void *right(void *unused) {{ atomic_store_explicit(&y, 1, {order}); b = atomic_load_explicit(&x, {order}); \
         return 0; }}\n\
         int main(void) {{\n pthread_t t, u;\n pthread_create(&t, 0, left, 0);\n pthread_create(&u, 0, right, 0);\n\
         pthread_join(t, 0);\n pthread_join(u, 0);\n assert(a || b);\n}}\n"
    )
}

const RELAXED: &str = "memory_order_relaxed";
const STRONG: &str = "memory_order_seq_cst";

fn exit_code(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("it runs");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
    )
}

fn check(arguments: &[&str]) -> (Option<i32>, String) {
    exit_code(fencepost(&["check"]).args(arguments))
}

#[test]
fn a_folder_has_a_summary_and_comments_decide() {
    let folder = Folder::new("comments");
    folder.write("good.c", &program("// expect: safe", STRONG));
    folder.write("bad.c", &program("/* expect: tso=unsafe sc=safe */", RELAXED));
    let all = folder.path("");
    let (code, text) = check(&[&all, "-m", "tso"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 safe, 1 unsafe, 2 as expected"), "{text}");
    // Asked about alone it means the same.
    let (code, text) = check(&[&folder.path("bad.c"), "-m", "tso"]);
    assert!(code == Some(0) && text.contains("as expected (unsafe)"), "{text}");
    folder.write("bad.c", &program("// expect: all=FP0101", RELAXED));
    assert_eq!(check(&[&folder.path("bad.c"), "-m", "x86"]).0, Some(0), "a finding is expected");
    assert_eq!(check(&[&folder.path("bad.c"), "-m", "sc"]).0, Some(1), "and is not there under sc");
    folder.write("bad.c", &program("// expect: safe", RELAXED));
    let (code, text) = check(&[&all, "-m", "tso"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("bad.c under tso: unsafe, expected safe"), "{text}");
}

#[test]
fn a_project_says_models_bounds_and_verdicts() {
    let folder = Folder::new("project");
    folder.write("src/relaxed.c", &program("", RELAXED));
    folder.write("src/strong.c", &program("", STRONG));
    folder.write(
        "fencepost.toml",
        "models = [\"tso\"]\ntimeout = 60.0\n[[file]]\npattern = \"src/*.c\"\nexpect = \"safe\"\n\
         [[file]]\npattern = \"**/relaxed.c\"\nmodels = [\"sc\", \"tso\"]\nexpect = { tso = \"unsafe\" }\n",
    );
    let (code, text) = check(&[&folder.path("src")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("2 safe, 1 unsafe, 3 as expected"), "{text}");
    // The command line comes first.
    let (code, text) = check(&[&folder.path("src"), "-m", "power"]);
    assert_eq!(code, Some(1), "{text}");
    folder.write("fencepost.toml", "modells = [\"tso\"]\n");
    let (code, text) = check(&[&folder.path("src")]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("modells"), "{text}");
}

#[test]
fn only_what_is_not_in_the_baseline_is_new() {
    let folder = Folder::new("baseline");
    folder.write("old.c", &program("", RELAXED));
    let (all, known) = (folder.path("old.c"), folder.path("known.jsonl"));
    assert_eq!(check(&[&all, "-m", "tso", "--write-baseline", &known]).0, Some(1));
    assert_eq!(check(&[&all, "-m", "tso", "--baseline", &known]).0, Some(0));
    // Lines may move, but another model is another finding.
    folder.write("old.c", &program("/* a\n comment */", RELAXED));
    assert_eq!(check(&[&all, "-m", "tso", "--baseline", &known]).0, Some(0));
    assert_eq!(check(&[&all, "-m", "pso", "--baseline", &known]).0, Some(1));
    assert_eq!(check(&[&all, "-m", "tso", "--baseline", &folder.path("none")]).0, Some(3));
}

#[test]
fn several_programs_have_a_page_each() {
    let folder = Folder::new("pages");
    folder.write("one.c", &program("", RELAXED));
    folder.write("two.c", &program("", STRONG));
    let page = folder.path("out.html");
    check(&[&folder.path("one.c"), &folder.path("two.c"), "-m", "sc,tso", "--report", &page]);
    for name in ["one-sc", "one-tso", "two-sc", "two-tso"] {
        assert!(Path::new(&folder.path(&format!("out-{name}.html"))).is_file(), "{name}");
    }
}

#[test]
fn unknown_ends_with_what_to_try() {
    let (code, text) = check(&["crates/cli/tests/data/count_up.c", "--unroll", "3"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("try:") && text.contains("--unroll 6"), "{text}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let file = "crates/c/corpus/litmus_sb_rlx.c";
    assert!(!check(&[file, "-m", "tso"]).1.contains('\x1b'));
    assert!(check(&[file, "-m", "tso", "--color", "always"]).1.contains("\x1b[1;31munsafe\x1b[0m"));
    assert!(!check(&[file, "-m", "tso", "--color", "always", "--json"]).1.contains('\x1b'));
}

#[test]
fn shells_and_man_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, text) = exit_code(&mut fencepost(&["completions", shell]));
        assert_eq!(code, Some(0), "{shell}");
        assert!(text.contains("litmus") && text.contains("fencepost"), "{shell}: {text}");
    }
    let folder = Folder::new("man");
    assert_eq!(exit_code(&mut fencepost(&["man", &folder.path("")])).0, Some(0));
    let page = std::fs::read_to_string(folder.path("fencepost-check.1")).expect("a page");
    assert!(page.contains("unroll") && page.contains(".TH"), "{page}");
    let (_, help) = exit_code(&mut fencepost(&["check", "--help"]));
    assert!(help.contains("leading-sync") && help.contains("rcpc"), "{help}");
}

/// What is wrong with one program is not hidden by another that cannot be read or answered.
#[test]
fn unsafe_wins_over_unknown_and_over_bad_input() {
    let folder = std::env::temp_dir().join(format!("fencepost-worst-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write("a_bad.c", "int main(void) { return x; }\n");
    write("b_wrong.c", "#include <assert.h>\nint main(void) { assert(0); }\n");
    write("c_right.c", "int main(void) { return 0; }\n");
    let code = |names: &[&str]| {
        let mut all = vec!["check".to_string(), "-m".into(), "sc".into()];
        all.extend(names.iter().map(|name| folder.join(name).display().to_string()));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        fencepost(&all).output().expect("it runs").status.code()
    };
    assert_eq!(code(&["a_bad.c", "b_wrong.c", "c_right.c"]), Some(1));
    assert_eq!(code(&["a_bad.c", "c_right.c"]), Some(3));
    assert_eq!(code(&["c_right.c"]), Some(0));
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Models have the names of what they stand for, too.
#[test]
fn other_names_of_models() {
    let file = "crates/c/corpus/litmus_sb_rlx.c";
    for (other, own) in
        [("x86", "tso"), ("arm64", "armv8"), ("aarch64", "armv8"), ("c11", "rc11"), ("cpp20", "rc20")]
    {
        let output = fencepost(&["check", file, "-m", other, "--json", "--quiet"]).output().expect("it runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(answer["model"], own, "{other}");
    }
    let output = fencepost(&["check", file, "-m", "all", "--json", "--quiet"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stdout).lines().count() >= 8);
}

/// What is expected, or known, is no error in any format; what is not as expected is one in all of them.
#[test]
fn what_is_expected_is_no_error_in_any_format() {
    let folder = Folder::new("formats");
    folder.write("bad.c", &program("// expect: unsafe", RELAXED));
    folder.write("plain.c", &program("", RELAXED));
    let (bad, plain, baseline) = (folder.path("bad.c"), folder.path("plain.c"), folder.path("known.jsonl"));
    assert_eq!(check(&[&plain, "-m", "tso", "--write-baseline", &baseline]).0, Some(1));
    let sarif = |arguments: &[&str]| -> serde_json::Value {
        let output = fencepost(&["check", "--format", "sarif", "-m", "tso"])
            .args(arguments)
            .output()
            .expect("it runs");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let excused = &sarif(&[&bad])["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!((&excused["kind"], &excused["justification"]), (&"external".into(), &"expected".into()));
    let known = &sarif(&[&plain, "--baseline", &baseline])["runs"][0]["results"][0];
    assert_eq!((&known["baselineState"], known["suppressions"].is_array()), (&"unchanged".into(), true));
    let new = &sarif(&[&plain])["runs"][0]["results"][0];
    assert!(new["baselineState"].is_null() && new["suppressions"].is_null());
    // One run with its rules once, and names that a service can place.
    let both = sarif(&[&bad, &plain]);
    assert_eq!(both["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(both["runs"][0]["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(1));
    let inside = sarif(&["crates/c/corpus/litmus_sb_rlx.c"]);
    let uri = &inside["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "crates/c/corpus/litmus_sb_rlx.c");
    for (format, error, notice) in
        [("junit", "<failure", "failures=\"0\""), ("github", "::error", "::notice")]
    {
        for arguments in [&[bad.as_str()][..], &[&plain, "--baseline", &baseline]] {
            let (code, text) =
                exit_code(fencepost(&["check", "--format", format, "-m", "tso"]).args(arguments));
            assert!(code == Some(0) && !text.contains(error) && text.contains(notice), "{text}");
        }
        folder.write("wrong.c", &program("// expect: safe", RELAXED));
        let (code, text) = check(&["--format", format, "-m", "tso", &folder.path("wrong.c")]);
        assert!(code == Some(1) && text.contains(error) && text.contains("unsafe, expected safe"), "{text}");
    }
}

/// A word that means nothing is an error with its place, in a comment as in the project's file.
#[test]
fn misspelt_expectations_are_errors() {
    let folder = Folder::new("misspelt");
    let message = |name: &str, text: &str| {
        folder.write(name, text);
        let (code, said) = check(&[&folder.path("a.c")]);
        assert_eq!(code, Some(3), "{said}");
        said.replace(&folder.path(""), "")
    };
    folder.write("a.c", &program("", STRONG));
    let mut said = String::new();
    for text in [
        "models = [\"pwoer\"]\n",
        "modles = [\"power\"]\n",
        "unroll = \"four\"\n",
        "target = \"vax\"\n",
        "engine = \"explorer\"\n",
        "[[file]]\npattern = \"*.c\"\nexpect = \"saef\"\n",
        "[[file]]\npattern = \"*.c\"\nexpect = { tsoo = \"safe\" }\n",
        "[[file]]\npattern = \"*.c\"\nexpect = { tso = \"FP9999\" }\n",
        "[[files]]\npattern = \"*.c\"\n",
        "models = [\"tso\"\n",
    ] {
        said += &format!("{text}---\n{}\n", message("fencepost.toml", text));
    }
    folder.write("fencepost.toml", "");
    for comment in ["// expect: saef", "// expect: pwoer=safe", "/* expect: sc=safe tso=unsaf */"] {
        said += &format!("{comment}\n---\n{}\n", message("a.c", &program(comment, STRONG)));
    }
    insta::assert_snapshot!(said);
}
