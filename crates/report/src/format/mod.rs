//! Output formats: one file each, and a row here. A format gets the answer as data and returns text.

mod json;
mod text;

pub use json::{SCHEMA, VERSION, json_line};

use crate::report::{Failed, Report};

/// What goes where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
}

/// A way to print answers.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for `--help`.
    pub about: &'static str,
    /// An answer.
    pub report: fn(&Report<'_>) -> Printed,
    /// A file without an answer.
    pub failed: fn(&Failed<'_>) -> Printed,
}

/// The formats; the first one is the default.
pub const FORMATS: &[Format] = &[
    Format { name: "text", about: "for people", report: text::report, failed: text::failed },
    Format { name: "json", about: "one JSON object per line", report: json::report, failed: json::failed },
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
