//! Broken litmus files, with the whole of what the user is told.

use fencepost_diag::SourceFile;
use std::path::Path;

#[test]
fn messages_for_broken_files() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut count = 0;
    let mut names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "litmus"));
    names.sort();
    for path in names {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let file = SourceFile::new(format!("{stem}.litmus"), std::fs::read_to_string(&path).unwrap());
        let Err(errors) = fencepost_litmus::parse(&file) else { panic!("{stem} has no mistake") };
        let shown: Vec<String> = errors.iter().map(|e| e.render(&file)).collect();
        insta::with_settings!({ snapshot_path => "bad", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(stem, shown.join("\n\n"));
        });
        count += 1;
    }
    assert!(count >= 14, "only {count} files");
}

#[test]
fn every_snapshot_has_its_file() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "snap") {
            assert!(path.with_extension("litmus").exists(), "{} is an orphan", path.display());
        }
    }
}
