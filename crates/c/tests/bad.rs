//! Programs that are wrong or use what is not modelled: every message is a snapshot, to be read by a person.

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use std::path::Path;

#[test]
fn messages_name_the_construct_the_line_and_a_way_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of bad programs")
        .filter_map(|entry| entry.expect("an entry").file_name().to_str().map(str::to_string))
        .filter(|name| name.ends_with(".c"))
        .collect();
    names.sort();
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
