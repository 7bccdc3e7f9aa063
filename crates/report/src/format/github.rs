//! Annotations of GitHub's workflow commands: a line per finding, shown beside the source in a pull request.

use super::Printed;
use super::text;
use crate::report::{Expectation, Failed, Report, position};
use fencepost_answer::{Severity, Verdict};
use fencepost_diag::{SourceMap, Span};

/// An answer: annotations, and the verdict for the log.
pub fn report(report: &Report<'_>) -> Printed {
    let outcome = report.outcome;
    let mut out = String::new();
    for (i, finding) in outcome.findings.iter().enumerate() {
        let command = match finding.kind.severity() {
            _ if report.excuse(i).is_some() => "notice",
            Severity::Warning => "warning",
            Severity::Error | Severity::Unknown => "error",
        };
        let span = finding.places.first().map_or_else(Span::default, |place| place.span);
        let title = format!("{} under {}", finding.kind.code(), report.model);
        let told = outcome.explanations.get(i).map_or("", |explanation| explanation.sentence.as_str());
        let message = if told.is_empty() { String::new() } else { format!("\n{told}") };
        let message = format!("{}{message}", finding.message);
        out += &annotation(command, place(report.sources, span).as_deref(), &title, &message);
    }
    if let Some(Expectation { wanted, is_met: false }) = report.expectation {
        let title = format!("not as expected under {}", report.model);
        let message = format!("{}, expected {wanted}", outcome.verdict.name());
        out += &annotation("error", Some(&format!("file={}", property(report.file))), &title, &message);
    }
    if outcome.verdict == Verdict::Unknown && !report.is_excused() {
        let why = outcome.stop_reason.as_ref().map_or(String::new(), ToString::to_string);
        let title = format!("unknown under {}", report.model);
        out += &annotation("warning", Some(&format!("file={}", property(report.file))), &title, &why);
    }
    out += &text::headline(report);
    out.push('\n');
    Printed { output: out, errors: report.rendered_warnings(), part: None }
}

/// A file without an answer: its messages as annotations.
pub fn failed(failed: &Failed<'_>) -> Printed {
    let mut out = String::new();
    for diagnostic in failed.diagnostics {
        let command = match diagnostic.severity {
            fencepost_diag::Severity::Error => "error",
            _ => "warning",
        };
        let at = place(failed.sources, diagnostic.span);
        out += &annotation(command, at.as_deref(), "cannot be read", &diagnostic.message);
    }
    if failed.diagnostics.is_empty() {
        let at = format!("file={}", property(failed.file));
        out += &annotation("error", Some(&at), "cannot be read", failed.error);
    }
    Printed { output: out, errors: format!("{}\n", failed.error), part: None }
}

fn place(sources: &SourceMap, span: Span) -> Option<String> {
    let at = position(sources, span);
    (!at.file.is_empty()).then(|| format!("file={},line={},col={}", property(at.file), at.line, at.column))
}

fn annotation(command: &str, place: Option<&str>, title: &str, message: &str) -> String {
    let place = place.map_or(String::new(), |place| format!("{place},"));
    format!("::{command} {place}title={}::{}\n", property(title), data(message))
}

/// What follows the second pair of colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value between the commas.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
