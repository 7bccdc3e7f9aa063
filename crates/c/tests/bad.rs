//! Programs that are wrong or use what is not modelled: every message is a snapshot, to be read by a person.

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use std::path::Path;

/// The C programs of a folder beside this file.
fn programs(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of programs")
        .filter_map(|entry| entry.expect("an entry").file_name().to_str().map(str::to_string))
        .filter(|name| name.ends_with(".c"))
        .collect();
    names.sort();
    names
}

/// Programs that compile with warnings: these are snapshots, too.
#[test]
fn warnings_say_what_is_meant_instead() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warn");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("warn");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for name in programs(&folder) {
            let text = std::fs::read_to_string(folder.join(&name)).expect("a program");
            let warnings = match compile(&SourceFile::new(name.as_str(), text), &Options::default()) {
                Ok(compiled) => {
                    let shown = compiled.warnings.iter().map(|warning| compiled.sources.render(warning));
                    shown.collect::<Vec<_>>().join("\n\n")
                }
                Err(failure) => panic!("{name}: {}", failure.render()),
            };
            assert!(!warnings.is_empty(), "{name} has no warning");
            insta::assert_snapshot!(name.trim_end_matches(".c"), warnings);
        }
    });
}

#[test]
fn messages_name_the_construct_the_line_and_a_way_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let names = programs(&folder);
    assert!(names.len() >= 40, "{} programs", names.len());
    let loader = |path: &str| std::fs::read_to_string(folder.join(path)).ok();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("bad");
    settings.set_prepend_module_to_snapshot(false);
    let mut compiled = Vec::new();
    settings.bind(|| {
        for name in &names {
            let text = std::fs::read_to_string(folder.join(name)).expect("a program");
            let options = Options { loader: Some(&loader), ..Options::default() };
            let Err(failure) = compile(&SourceFile::new(name.as_str(), text), &options) else {
                compiled.push(name);
                continue;
            };
            let stem = name.trim_end_matches(".c");
            insta::assert_snapshot!(stem, failure.render());
        }
    });
    assert!(compiled.is_empty(), "these compile: {compiled:?}");
}
