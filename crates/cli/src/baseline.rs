//! A baseline: findings that are known, one JSON object per line. Only what is not in it is new, and makes the exit code.
//!
//! A finding is known by file, model, code, and the source text of its places, not by lines, which move.

use fencepost_answer::Finding;
use fencepost_diag::SourceMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// A finding that is known.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Known {
    /// The file as it was given.
    pub file: String,
    /// The model.
    pub model: String,
    /// The code of the finding.
    pub code: String,
    /// What stands at its places.
    pub places: Vec<String>,
}

impl Known {
    /// What a finding is known by.
    pub fn new(file: &str, model: &str, finding: &Finding, sources: &SourceMap) -> Known {
        let mut places: Vec<String> =
            finding.places.iter().map(|place| sources.expression(place.span).trim().to_string()).collect();
        places.sort();
        places.dedup();
        Known { file: file.into(), model: model.into(), code: finding.kind.code().into(), places }
    }
}

/// Reads a baseline; the error is a whole message.
pub fn read(path: &Path) -> Result<BTreeSet<Known>, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "error: cannot read {name}: {error}\n  `--write-baseline {name}` makes one of what is found now\n"
        )
    })?;
    let rows = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(number, line)| {
        serde_json::from_str(line)
            .map_err(|error| format!("error: {name}:{number}: not a row of a baseline: {error}\n"))
    })
    .collect()
}

/// Writes one.
pub fn write(path: &Path, known: &BTreeSet<Known>) -> Result<(), String> {
    let rows: Vec<String> = known.iter().filter_map(|known| serde_json::to_string(known).ok()).collect();
    let text = rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    std::fs::write(path, text).map_err(|error| format!("error: cannot write {}: {error}\n", path.display()))
}
