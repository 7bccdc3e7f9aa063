//! JUnit XML, which every CI server reads: a suite per file and model with one case.
//!
//! *Unsafe* is a failure, no verdict is an error, so that neither is overlooked.

use super::Printed;
use super::text;
use crate::report::{Failed, Report};
use fencepost_answer::{Severity, Verdict};
use std::fmt::Write;

/// What stands before the first suite.
pub const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fencepost\">\n";
/// What stands after the last one.
pub const TAIL: &str = "</testsuites>\n";

/// An answer as a suite.
pub fn report(report: &Report<'_>) -> Printed {
    let printed = text::report(report);
    let outcome = report.outcome;
    let is_news =
        |i: &usize| outcome.findings[*i].kind.severity() != Severity::Warning && report.excuse(*i).is_none();
    let first = (0..outcome.findings.len()).find(is_news).map(|i| &outcome.findings[i]);
    let unexpected = report.expectation.filter(|expectation| !expectation.is_met);
    // What was expected, or is known, has passed.
    let verdict = if report.is_excused() { Verdict::Safe } else { outcome.verdict };
    let verdict = if unexpected.is_some() && verdict == Verdict::Safe { Verdict::Unsafe } else { verdict };
    let inside = match verdict {
        Verdict::Safe => String::new(),
        Verdict::Unsafe if unexpected.is_some() => {
            let wanted = unexpected.map_or("", |expectation| expectation.wanted);
            let message = format!("{}, expected {wanted}", outcome.verdict.name());
            element("failure", "unexpected", &message, &printed.output)
        }
        Verdict::Unsafe => {
            let (kind, message) =
                first.map_or(("unsafe", "unsafe"), |finding| (finding.kind.code(), &*finding.message));
            element("failure", kind, message, &printed.output)
        }
        Verdict::Unknown => {
            let why = outcome.stop_reason.as_ref().map_or(String::new(), ToString::to_string);
            element("error", "unknown", &why, &printed.output)
        }
    };
    let said = match verdict {
        Verdict::Safe => format!("      <system-out>{}</system-out>\n", escape(&printed.output)),
        _ => String::new(),
    };
    let suite = suite(report.file, report.model, report.seconds, verdict, &(inside + &said));
    Printed { output: suite, errors: report.rendered_warnings(), part: None }
}

/// A file without an answer as a suite with an error.
pub fn failed(failed: &Failed<'_>) -> Printed {
    let message = failed.error.lines().next().unwrap_or("no answer");
    let inside = element("error", "input", message, failed.error);
    let output = suite(failed.file, "input", 0.0, Verdict::Unknown, &inside);
    Printed { output, errors: format!("{}\n", failed.error), part: None }
}

fn suite(file: &str, model: &str, seconds: f64, verdict: Verdict, inside: &str) -> String {
    let (file, model) = (escape(file), escape(model));
    let failures = u8::from(verdict == Verdict::Unsafe);
    let errors = u8::from(verdict == Verdict::Unknown);
    format!(
        "  <testsuite name=\"{file}\" tests=\"1\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" \
            time=\"{seconds:.3}\">\n    \
         <testcase name=\"{model}\" classname=\"{file}\" time=\"{seconds:.3}\">\n{inside}    </testcase>\n  </testsuite>\n"
    )
}

fn element(name: &str, kind: &str, message: &str, text: &str) -> String {
    format!(
        "      <{name} type=\"{}\" message=\"{}\">{}</{name}>\n",
        escape(kind),
        escape(message),
        escape(text)
    )
}

/// For text and attributes. XML 1.0 has no way to write most control characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}
