//! Output formats: one file each, and a row here. A format gets the answer as data and returns text.

mod github;
mod json;
mod junit;
mod sarif;
pub mod text;

pub use json::{SCHEMA, VERSION, json_line};

use crate::report::{Failed, Report};

/// What goes where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
    /// The answer as a part of one document, which is made of all of them at the end.
    pub part: Option<serde_json::Value>,
}

/// A way to print answers.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for `--help`.
    pub about: &'static str,
    /// What stands before the first answer, between two, and after the last one, if all of them are one document.
    pub document: [&'static str; 3],
    /// The document, of its parts, if it cannot be printed one by one.
    pub whole: Option<fn(Vec<serde_json::Value>) -> String>,
    /// An answer.
    pub report: fn(&Report<'_>) -> Printed,
    /// A file without an answer.
    pub failed: fn(&Failed<'_>) -> Printed,
}

/// Answers that stand for themselves.
const LINES: [&str; 3] = ["", "", ""];

/// The formats; the first one is the default.
pub const FORMATS: &[Format] = &[
    Format {
        name: "text",
        about: "for people",
        document: LINES,
        whole: None,
        report: text::report,
        failed: text::failed,
    },
    Format {
        name: "json",
        about: "one JSON object per line",
        document: LINES,
        whole: None,
        report: json::report,
        failed: json::failed,
    },
    Format {
        name: "sarif",
        about: "SARIF 2.1.0, for code scanning",
        document: LINES,
        whole: Some(sarif::document),
        report: sarif::report,
        failed: sarif::failed,
    },
    Format {
        name: "junit",
        about: "JUnit XML, for CI servers",
        document: [junit::HEAD, "", junit::TAIL],
        whole: None,
        report: junit::report,
        failed: junit::failed,
    },
    Format {
        name: "github",
        about: "annotations of GitHub workflows",
        document: LINES,
        whole: None,
        report: github::report,
        failed: github::failed,
    },
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
