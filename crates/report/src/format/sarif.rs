//! SARIF 2.1.0 (OASIS), for code scanning services: one log with one run, whatever the number of files and models.
//!
//! A finding is a result with its execution as a code flow; an answer that is missing is a notification of the run, so that
//! *unknown* is never mistaken for a clean bill.

use super::Printed;
use crate::report::{Expectation, Failed, Report, position};
use fencepost_answer::kind::{Entry, TABLE};
use fencepost_answer::{Line, Severity, Suggestion, Verdict};
use fencepost_diag::{Diagnostic, Edit, SourceMap, Span};
use serde_json::{Value, json};

/// The whole log: one run, of its parts, which have results and notifications each.
pub fn document(parts: Vec<Value>) -> String {
    let (mut results, mut notes, mut answers, mut successful) = (Vec::new(), Vec::new(), Vec::new(), true);
    for mut part in parts {
        let mut take = |name: &str, to: &mut Vec<Value>| {
            if let Value::Array(all) = part[name].take() {
                to.extend(all);
            }
        };
        take("results", &mut results);
        take("notes", &mut notes);
        successful &= part["successful"] == true;
        answers.push(part["answer"].take());
    }
    let used = |code: &str| results.iter().any(|result| result["ruleId"] == code);
    let rules: Vec<Value> = TABLE.iter().filter(|row| used(row.code)).map(rule).collect();
    for result in &mut results {
        let index = rules.iter().position(|rule| rule["id"] == result["ruleId"]);
        result["ruleIndex"] = index.into();
    }
    let run = json!({
        "tool": { "driver": { "name": "fencepost", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
        "columnKind": "unicodeCodePoints",
        "invocations": [{ "executionSuccessful": successful, "toolExecutionNotifications": notes }],
        "results": results,
        "properties": { "answers": answers },
    });
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    json!({ "$schema": schema, "version": "2.1.0", "runs": [run] }).to_string() + "\n"
}

fn rule(row: &Entry) -> Value {
    json!({
        "id": row.code,
        "name": row.name,
        "shortDescription": { "text": row.message },
        "fullDescription": { "text": row.meaning },
        "help": { "text": row.advice },
        "defaultConfiguration": { "level": level(row.severity) },
    })
}

/// An answer as a part of the log.
pub fn report(report: &Report<'_>) -> Printed {
    let outcome = report.outcome;
    let results: Vec<Value> = (0..outcome.findings.len()).map(|number| result(number, report)).collect();
    let mut notes: Vec<Value> = report.warnings.iter().map(|w| notification(w, report.sources)).collect();
    if outcome.verdict == Verdict::Unknown {
        let why = outcome.stop_reason.as_ref().map_or(String::new(), ToString::to_string);
        let text = format!("{} under {}: no verdict: {why}", report.file, report.model);
        notes.push(json!({ "level": "error", "message": { "text": text } }));
    }
    let bounds: Vec<String> =
        outcome.bounds.iter().map(|b| format!("{} {}", b.name.name(), b.value)).collect();
    let mut answer = json!({
        "file": report.file,
        "model": report.model,
        "engine": report.engine,
        "verdict": outcome.verdict,
        "bounds": bounds,
        "seconds": report.seconds,
    });
    if let Some(Expectation { wanted, is_met }) = report.expectation {
        answer["expected"] = json!({ "wanted": wanted, "met": is_met });
    }
    let successful = outcome.verdict != Verdict::Unknown;
    let part = json!({ "results": results, "notes": notes, "successful": successful, "answer": answer });
    Printed { output: String::new(), errors: report.rendered_warnings(), part: Some(part) }
}

/// A file without an answer: the run did not succeed.
pub fn failed(failed: &Failed<'_>) -> Printed {
    let mut notes: Vec<Value> = failed.diagnostics.iter().map(|d| notification(d, failed.sources)).collect();
    if notes.is_empty() {
        notes.push(json!({ "level": "error", "message": { "text": failed.error } }));
    }
    let answer = json!({ "file": failed.file });
    let part = json!({ "results": [], "notes": notes, "successful": false, "answer": answer });
    Printed { output: String::new(), errors: format!("{}\n", failed.error), part: Some(part) }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error | Severity::Unknown => "error",
        Severity::Warning => "warning",
    }
}

fn result(number: usize, report: &Report<'_>) -> Value {
    let Report { outcome, sources, .. } = *report;
    let finding = &outcome.findings[number];
    let explanation = outcome.explanations.get(number);
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
    let fixed = outcome.suggestion.as_ref().map(Suggestion::edits).unwrap_or_default();
    if !fixed.is_empty() && finding.kind.severity() == Severity::Error {
        value["fixes"] = json!([fix(&fixed, report)]);
    }
    if let Some(known) = report.known {
        value["baselineState"] = if known.get(number) == Some(&true) { "unchanged" } else { "new" }.into();
    }
    if let Some(why) = report.excuse(number) {
        value["suppressions"] = json!([{ "kind": "external", "justification": why }]);
    }
    value["properties"] = json!({ "model": report.model });
    value
}

/// The suggestion: what is to be replaced in each file (SARIF 3.55).
fn fix(edits: &[Edit], report: &Report<'_>) -> Value {
    let sources = report.sources;
    let mut files: Vec<(&str, Vec<Value>)> = Vec::new();
    for edit in edits {
        let (from, to) =
            (position(sources, edit.span), position(sources, Span { start: edit.span.end, ..edit.span }));
        let replacement = json!({
            "deletedRegion": {
                "startLine": from.line, "startColumn": from.column, "endLine": to.line, "endColumn": to.column,
            },
            "insertedContent": { "text": edit.text },
        });
        match files.iter_mut().find(|(file, _)| *file == from.file) {
            Some((_, replacements)) => replacements.push(replacement),
            None => files.push((from.file, vec![replacement])),
        }
    }
    let change = |(file, replacements): (&str, Vec<Value>)| {
        let place = json!({ "uri": uri(file) });
        json!({ "artifactLocation": place, "replacements": replacements })
    };
    json!({
        "description": { "text": format!("memory orders with which it is safe under {}", report.model) },
        "artifactChanges": files.into_iter().map(change).collect::<Vec<_>>(),
    })
}

/// One flow per thread; the order of the execution is in `executionOrder`.
fn thread_flows(steps: &[Line], sources: &SourceMap) -> Vec<Value> {
    let mut threads: Vec<u32> = steps.iter().map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let flow = |thread: &u32| {
        let locations: Vec<Value> = (1..)
            .zip(steps)
            .filter(|(_, step)| step.thread == *thread)
            .map(|(order, step): (u64, &Line)| {
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

/// A file name as a URI (RFC 3986): relative to the current folder if it is in there, which is what services can place.
fn uri(file: &str) -> String {
    let path = std::path::Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    let inside = path.strip_prefix(&here).unwrap_or(path);
    let inside = inside.strip_prefix(".").unwrap_or(inside);
    let mut uri = String::from(if inside.is_absolute() { "file://" } else { "" });
    for byte in inside.to_string_lossy().bytes() {
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
