//! The full text of the messages for broken cat files: one snapshot per file in `tests/bad`.

use fencepost_diag::SourceFile;
use fencepost_models::Model;

/// The files beside the broken ones.
fn load(file: &str) -> Option<String> {
    match file {
        "library.cat" => Some("\"library\"\nlet library = po | fences\nlet sets = W; po\n".into()),
        "circle-back.cat" => Some("\"back\"\ninclude \"circle.cat\"\n".into()),
        _ => None,
    }
}

#[test]
fn broken_files_are_explained() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 8);
    for path in files {
        let name = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_string();
        let text = std::fs::read_to_string(&path).expect("a text");
        let file = SourceFile::new(format!("{name}.cat"), text);
        let errors = Model::from_file(&file, &load).expect_err("this file is broken");
        let shown: Vec<String> = errors.iter().map(|e| e.render(&file)).collect();
        insta::assert_snapshot!(name, shown.join("\n\n"));
    }
}
