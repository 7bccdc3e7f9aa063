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
