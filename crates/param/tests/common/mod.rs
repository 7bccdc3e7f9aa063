//! What the tests share.
#![allow(dead_code, missing_docs)]

pub mod differential;
pub mod generate;

use fencepost_diag::SourceFile;
use fencepost_param::machine::{Machine, explore};
use fencepost_param::model::Model;
use fencepost_param::system::System;
use fencepost_param::{Options, Outcome, lower, parser, prove};
use std::path::{Path, PathBuf};

pub fn crate_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All `.cub` files of a folder, sorted.
pub fn systems(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .unwrap_or_default();
    files.retain(|f| f.extension().is_some_and(|e| e == "cub"));
    files.sort();
    files
}

pub fn load(path: &Path) -> SourceFile {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    SourceFile::new(name, std::fs::read_to_string(path).expect("the file can be read"))
}

pub fn answer(source: &SourceFile, options: &Options) -> Outcome {
    match prove(source, options, &mut |_| {}) {
        Ok(outcome) => outcome,
        Err(errors) => {
            let shown: Vec<String> = errors.iter().map(|e| e.render(source)).collect();
            panic!("{}", shown.join("\n"))
        }
    }
}

pub fn system_of(text: &str, weak: bool) -> System {
    let (file, errors) = parser::parse(text);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    lower::lower(&file, weak).unwrap_or_else(|e| panic!("{e:?}\n{text}")).0
}

/// What the explicit machine of an instance says: a bad state, none, or nothing (a limit was hit).
pub fn explicit(text: &str, model: Model, procs: u8, max_states: usize) -> Option<bool> {
    let system = system_of(text, model != Model::Sc);
    let mut machine = Machine::new(&system, model, procs);
    machine.max_buffer = 3;
    let found = explore(&machine, max_states, true, &mut || false);
    match (found.bad, found.cut) {
        (Some(_), _) => Some(true),
        (None, false) => Some(false),
        (None, true) => None,
    }
}
