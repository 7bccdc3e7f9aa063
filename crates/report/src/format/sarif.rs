//! SARIF 2.1.0 (OASIS), for code scanning services: one log, a run per file and model.
//!
//! A finding is a result with its execution as a code flow; an answer that is missing is a notification of the run, so that
//! *unknown* is never mistaken for a clean bill.

use super::Printed;
use crate::report::{Failed, Report, position};
use fencepost_answer::kind::TABLE;
use fencepost_answer::{Explanation, Finding, Severity, Step, Verdict};
use fencepost_diag::{Diagnostic, SourceMap, Span};
use serde_json::{Value, json};

/// What stands before the first run.
pub const HEAD: &str =
    "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[\n";
/// What stands after the last one.
pub const TAIL: &str = "\n]}\n";

/// An answer as a run.
pub fn report(report: &Report<'_>) -> Printed {
    let outcome = report.outcome;
    let results = outcome.findings.iter().enumerate();
    let results: Vec<Value> =
        results.map(|(i, f)| result(f, outcome.explanations.get(i), report.sources)).collect();
    let mut notes: Vec<Value> = report.warnings.iter().map(|w| notification(w, report.sources)).collect();
    if outcome.verdict == Verdict::Unknown {
        let why = outcome.stop_reason.as_ref().map_or(String::new(), ToString::to_string);
        notes.push(json!({ "level": "error", "message": { "text": format!("no verdict: {why}") } }));
    }
    let mut used: Vec<&str> = outcome.findings.iter().map(|finding| finding.kind.code()).collect();
    used.sort_unstable();
    used.dedup();
    let mut run = run(&used, results, notes, outcome.verdict != Verdict::Unknown);
    let bounds: Vec<String> =
        outcome.bounds.iter().map(|b| format!("{} {}", b.name.name(), b.value)).collect();
    run["properties"] = json!({
        "file": report.file,
        "model": report.model,
        "engine": report.engine,
        "verdict": outcome.verdict,
        "bounds": bounds,
        "seconds": report.seconds,
    });
    run["automationDetails"] = json!({ "id": format!("{}/{}", report.file, report.model) });
    Printed { output: run.to_string(), errors: report.rendered_warnings() }
}

/// A file without an answer as a run that did not succeed.
pub fn failed(failed: &Failed<'_>) -> Printed {
    let mut notes: Vec<Value> = failed.diagnostics.iter().map(|d| notification(d, failed.sources)).collect();
    if notes.is_empty() {
        notes.push(json!({ "level": "error", "message": { "text": failed.error } }));
    }
    let mut run = run(&[], Vec::new(), notes, false);
    run["properties"] = json!({ "file": failed.file });
    Printed { output: run.to_string(), errors: format!("{}\n", failed.error) }
}

fn run(codes: &[&str], results: Vec<Value>, notes: Vec<Value>, successful: bool) -> Value {
    let rules: Vec<Value> = TABLE
        .iter()
        .filter(|row| codes.contains(&row.code))
        .map(|row| {
            json!({
                "id": row.code,
                "name": row.name,
                "shortDescription": { "text": row.message },
                "fullDescription": { "text": row.meaning },
                "help": { "text": row.advice },
                "defaultConfiguration": { "level": level(row.severity) },
            })
        })
        .collect();
    json!({
        "tool": { "driver": { "name": "fencepost", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
        "columnKind": "unicodeCodePoints",
        "invocations": [{ "executionSuccessful": successful, "toolExecutionNotifications": notes }],
        "results": results,
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error | Severity::Unknown => "error",
        Severity::Warning => "warning",
    }
}

fn result(finding: &Finding, explanation: Option<&Explanation>, sources: &SourceMap) -> Value {
    let text = match explanation.map(|explanation| explanation.sentence.as_str()) {
        Some(sentence) if !sentence.is_empty() => format!("{}: {sentence}", finding.message),
        _ => finding.message.clone(),
    };
    let mut places = finding.places.iter();
    let first = places.next().filter(|place| is_somewhere(sources, place.span));
    let mut value = json!({
        "ruleId": finding.kind.code(),
        "level": level(finding.kind.severity()),
        "message": { "text": text },
        "locations": first.map(|place| location(sources, place.span, &place.label)).into_iter().collect::<Vec<_>>(),
    });
    let related: Vec<Value> = places.map(|place| location(sources, place.span, &place.label)).collect();
    if !related.is_empty() {
        value["relatedLocations"] = related.into();
    }
    if !finding.trace.is_empty() {
        value["codeFlows"] = json!([{ "threadFlows": thread_flows(&finding.trace, sources) }]);
    }
    value
}

/// One flow per thread; the order of the execution is in `executionOrder`.
fn thread_flows(steps: &[Step], sources: &SourceMap) -> Vec<Value> {
    let mut threads: Vec<u32> = steps.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let flow = |thread: &u32| {
        let locations: Vec<Value> = (1..)
            .zip(steps)
            .filter(|(_, step)| step.thread == *thread)
            .map(|(order, step): (u64, &Step)| {
                let text = std::iter::once(&step.action).chain(&step.details);
                let text: Vec<&str> = text.map(String::as_str).collect();
                let text = text.join("; ");
                let location = match is_somewhere(sources, step.span) {
                    true => location(sources, step.span, &text),
                    false => json!({ "message": { "text": text } }),
                };
                json!({ "executionOrder": order, "location": location })
            })
            .collect();
        json!({ "id": format!("thread {thread}"), "locations": locations })
    };
    threads.iter().map(flow).collect()
}

fn is_somewhere(sources: &SourceMap, span: Span) -> bool {
    !position(sources, span).file.is_empty()
}

fn location(sources: &SourceMap, span: Span, message: &str) -> Value {
    let at = position(sources, span);
    let mut value = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(at.file) },
            "region": { "startLine": at.line.max(1), "startColumn": at.column.max(1) },
        },
    });
    if !message.is_empty() {
        value["message"] = json!({ "text": message });
    }
    value
}

fn notification(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let level = match diagnostic.severity {
        fencepost_diag::Severity::Error => "error",
        _ => "warning",
    };
    let mut value = json!({ "level": level, "message": { "text": diagnostic.message } });
    if is_somewhere(sources, diagnostic.span) {
        value["locations"] = json!([location(sources, diagnostic.span, "")]);
    }
    value
}

/// A file name as a relative or absolute URI reference (RFC 3986).
fn uri(file: &str) -> String {
    let mut uri = String::new();
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' => {
                uri.push(byte as char);
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #[test]
    fn file_names_become_references() {
        assert_eq!(super::uri("a b/ü.c"), "a%20b/%C3%BC.c");
    }
}
