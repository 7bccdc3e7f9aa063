//! What the user is told about a file that cannot be used: one snapshot of the full text per bad input.
#![allow(missing_docs)]

mod common;

use common::{crate_dir, load, systems};
use fencepost_param::{Options, prove};

#[test]
fn messages_about_bad_inputs() {
    let files = systems(&crate_dir().join("tests/bad"));
    assert!(files.len() >= 20, "{} bad inputs", files.len());
    for path in files {
        let source = load(&path);
        let errors =
            prove(&source, &Options::default(), &mut |_| {}).map(|o| o.verdict).expect_err(&source.name);
        let shown: Vec<String> = errors.iter().map(|e| e.render(&source)).collect();
        let name = source.name.trim_end_matches(".cub").to_string();
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, shown.join("\n\n"));
        });
    }
}

/// Cutting a good file anywhere, or dropping any token, must give an answer or a message, never a panic.
#[test]
fn mutilated_files_do_not_panic() {
    let limits = Options { max_nodes: Some(50), recheck: false, ..Options::default() };
    for name in ["peterson_fenced", "arbiter", "moesi"] {
        let source = load(&crate_dir().join(format!("corpus/{name}.cub")));
        let words: Vec<&str> = source.text.split_inclusive(' ').collect();
        for skip in 0..words.len() {
            let without: String =
                words.iter().enumerate().filter(|(i, _)| *i != skip).map(|(_, w)| *w).collect();
            let cut: String = words[..skip].concat();
            for text in [without, cut] {
                let source = fencepost_diag::SourceFile::new("mutilated.cub", text);
                if let Err(errors) = prove(&source, &limits, &mut |_| {}) {
                    assert!(!errors.is_empty());
                    errors.iter().for_each(|e| assert!(!e.render(&source).is_empty()));
                }
            }
        }
    }
}

/// Inputs that are large in one way or another are answered or refused.
#[test]
fn extreme_inputs_do_not_overflow() {
    let limits = Options {
        max_nodes: Some(50),
        timeout: Some(std::time::Duration::from_secs(5)),
        ..Options::default()
    };
    let with = |body: &str| format!("var X : int\ninit () {{ X = 0 }}\nunsafe () {{ {body} }}\n");
    let many_params: Vec<String> = (0..8).map(|i| format!("p{i}")).collect();
    let params = many_params.join(" ");
    let texts = [
        with(&vec!["X = 1"; 100_000].join(" && ")),
        with(&vec!["X = 1"; 100_000].join(" || ")),
        with(&format!("X = {}", vec!["1"; 100_000].join(" + "))),
        with(&format!("{} X = 1", "not ".repeat(100_000))),
        with(&format!("X = {}1", "- ".repeat(100_000))),
        with(&"if X = 1 then ".repeat(50_000)),
        "(*".repeat(100_000),
        format!("type t = {}\n", (0..1000).map(|i| format!("C{i}")).collect::<Vec<_>>().join(" | ")),
        format!(
            "array A[proc] : int\ninit (p) {{ A[p] = 0 }}\nunsafe ({params}) {{ A[p0] = 3 }}\n\
                transition t ({params}) {{ A[p0] := A[p7] + 1 }}"
        ),
        with("X = 999999999999 * 999999999999"),
        "var X : int init () { X = 0 } unsafe () { X = 5 } transition t (p) { X := X + 999999999999 }".into(),
    ];
    for text in texts {
        let source = fencepost_diag::SourceFile::new("extreme.cub", text);
        if let Err(errors) = prove(&source, &limits, &mut |_| {}) {
            assert!(!errors.is_empty());
        }
    }
}
