//! Answers for machines: one JSON object per file and line, described by `schema.json`.

use super::Printed;
use crate::report::{Failed, Report, position};
use fencepost_answer::{
    Bound, Change, Coverage, Explanation, Finding, Line, Outcome, Place, Proof, Remedy, StopReason,
    Suggestion,
};
use fencepost_diag::{Diagnostic, Edit, Severity, SourceMap, Span};
use serde::Serialize;
use serde_json::{Value, json};

/// The version of all JSON objects. Fields may be added under the same number; a field that goes or changes its meaning
/// makes a new one.
pub const VERSION: u32 = 1;

/// The schema of all JSON objects.
pub const SCHEMA: &str = include_str!("../../schema.json");

/// One object per line.
pub fn json_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// The whole answer.
pub fn report(report: &Report<'_>) -> Printed {
    Printed { output: json_line(&answer(report)) + "\n", errors: report.rendered_warnings(), part: None }
}

/// Why there is no answer.
pub fn failed(failed: &Failed<'_>) -> Printed {
    let value = json!({
        "version": VERSION,
        "file": failed.file,
        "error": failed.error,
        "diagnostics": diagnostics(failed.diagnostics, failed.sources),
    });
    Printed { output: json_line(&value) + "\n", errors: String::new(), part: None }
}

fn answer(report: &Report<'_>) -> Value {
    // Pictures are drawn by `crate::picture`; what was observed is for litmus tests: `crate::litmus`.
    let Outcome {
        verdict,
        bounds,
        stop_reason,
        ended: _,
        so_far,
        vacuous,
        checks,
        assumes,
        statistics,
        findings,
        explanations,
        picture: _,
        test: _,
        observed: _,
        suggestion,
        coverage,
        proof,
    } = report.outcome;
    let sources = report.sources;
    let mut value = json!({
        "version": VERSION,
        "file": report.file,
        "model": report.model,
        "engine": report.engine,
        "verdict": verdict,
        "scope": report.outcome.scope(),
        "bounds": bounds.iter().map(|b| bound(b, sources)).collect::<Vec<_>>(),
        "blocked": statistics.blocked,
        "cut": statistics.cut,
        "seconds": report.seconds,
        "findings": findings
            .iter()
            .enumerate()
            .map(|(i, f)| {
                let mut value = finding(f, explanations.get(i), sources);
                if let Some(known) = report.known {
                    value["known"] = known.get(i).copied().unwrap_or(false).into();
                }
                value
            })
            .collect::<Vec<_>>(),
        "diagnostics": diagnostics(report.warnings, sources),
    });
    let mut add = |key: &str, field: Option<Value>| {
        if let Some(field) = field {
            value[key] = field;
        }
    };
    add("picked", report.picked.map(Value::from));
    add("checks", checks.map(Value::from));
    add("assumes", (!assumes.is_empty()).then(|| assumes.join(", ").into()));
    let expected = report.expectation.map(|e| json!({ "wanted": e.wanted, "met": e.is_met }));
    add("expected", expected);
    let complete = || so_far.iter().map(|b| bound(b, sources)).collect::<Vec<_>>();
    add("so_far", (!so_far.is_empty()).then(|| complete().into()));
    add("vacuous", vacuous.then_some(Value::Bool(true)));
    add("stop_reason", stop_reason.as_ref().map(|reason| reason.to_string().into()));
    add("stop", stop_reason.as_ref().map(stop));
    // A machine visits no executions; the number stands there for those who add up.
    add("executions", Some(statistics.executions.unwrap_or(0).into()));
    add("estimate", statistics.estimate.map(Value::from));
    add("up_to_symmetry", statistics.symmetric.then_some(Value::Bool(true)));
    add("left_out", (statistics.left_out > 0).then(|| statistics.left_out.into()));
    add("states", statistics.states.map(Value::from));
    add("transitions", statistics.transitions.map(Value::from));
    add("nodes", statistics.nodes.map(Value::from));
    add("advice", (!report.advice.is_empty()).then(|| report.advice.into()));
    add("coverage", coverage.as_ref().map(|coverage| covered(coverage, sources)));
    add("suggestion", suggestion.as_ref().map(|suggestion| suggested(suggestion, sources)));
    if let Some(proof) = proof {
        add_proof(&mut value, proof);
    }
    value
}

/// What no execution came to.
fn covered(coverage: &Coverage, sources: &SourceMap) -> Value {
    let unreached = coverage.unreached.iter().map(|&span| {
        let at = position(sources, span);
        json!({ "file": at.file, "line": at.line, "column": at.column, "text": sources.expression(span) })
    });
    json!({ "lines": coverage.lines, "unreached": unreached.collect::<Vec<_>>() })
}

/// Changes that make the program safe; none if there are none.
fn suggested(suggestion: &Suggestion, sources: &SourceMap) -> Value {
    let changes: Vec<Value> = suggestion.changes.iter().map(|c| change(c, sources)).collect();
    json!({
        "changes": changes,
        "runs": suggestion.runs,
        "also": suggestion.also,
        "nowhere_in": suggestion.nowhere_in,
    })
}

fn change(change: &Change, sources: &SourceMap) -> Value {
    let at = position(sources, change.span);
    json!({
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "text": sources.expression(change.span),
        "from": change.from,
        "to": change.to,
        "edits": change.edits.iter().map(|edit| edited(edit, sources)).collect::<Vec<_>>(),
    })
}

/// An edit: what stands from a place on, and what is to stand there.
fn edited(edit: &Edit, sources: &SourceMap) -> Value {
    let at = position(sources, edit.span);
    json!({
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "from": sources.text(edit.span),
        "to": edit.text,
    })
}

/// What only a proof for any number of processes has.
fn add_proof(value: &mut Value, proof: &Proof) {
    value["instances"] = proof.instances.as_str().into();
    value["processes"] = proof.processes.into();
    value["depth"] = proof.depth.into();
    value["restarts"] = proof.restarts.into();
    value["approximations"] = proof.approximations.into();
    value["inference"] = proof.inference.into();
    value["recheck"] = proof.recheck.as_deref().into();
    value["invariant"] = proof.invariant.as_slice().into();
}

fn stop(reason: &StopReason) -> Value {
    match reason {
        StopReason::Limit { value: Some(limit), .. } => json!({ "kind": reason.name(), "limit": limit }),
        _ => json!({ "kind": reason.name() }),
    }
}

fn bound(bound: &Bound, sources: &SourceMap) -> Value {
    let mut value = json!({ "name": bound.name.name(), "value": bound.value });
    if !bound.places.is_empty() {
        let place = |span: &Span| {
            let at = position(sources, *span);
            json!({ "file": at.file, "line": at.line, "column": at.column, "text": sources.line(span.start) })
        };
        value["places"] = bound.places.iter().map(place).collect();
    }
    value
}

fn finding(finding: &Finding, explanation: Option<&Explanation>, sources: &SourceMap) -> Value {
    let place = |place: &Place| {
        let mut value = location(place.span, place.thread.unwrap_or(0), sources);
        if !place.label.is_empty() {
            value["label"] = place.label.as_str().into();
        }
        value
    };
    let mut value = json!({
        "code": finding.kind.code(),
        "kind": finding.kind.name(),
        "severity": finding.kind.severity().name(),
        "message": finding.message,
        "locations": finding.places.iter().map(place).collect::<Vec<_>>(),
        "trace": finding.trace.iter().map(|s| step(s, sources)).collect::<Vec<_>>(),
    });
    if let Some(Explanation { sentence, why, threads, again, remedy }) = explanation {
        value["explanation"] =
            json!({ "sentence": sentence, "why": why, "threads": threads, "again": again });
        if let Some(Remedy { changes, verdict }) = remedy {
            let changes: Vec<Value> = changes.iter().map(|c| change(c, sources)).collect();
            value["explanation"]["remedy"] = json!({ "changes": changes, "verdict": verdict });
        }
    }
    value
}

fn step(step: &Line, sources: &SourceMap) -> Value {
    let mut value = json!({
        "thread": step.thread,
        "location": location(step.span, step.thread, sources),
        "action": step.action,
    });
    if !step.details.is_empty() {
        value["details"] = step.details.as_slice().into();
    }
    if step.minor {
        value["minor"] = true.into();
    }
    if !step.buffers.is_empty() {
        value["buffers"] = step.buffers.as_slice().into();
    }
    value
}

fn location(span: Span, thread: u32, sources: &SourceMap) -> Value {
    let at = position(sources, span);
    let text = sources.expression(span);
    json!({ "file": at.file, "line": at.line, "column": at.column, "thread": thread, "text": text })
}

/// Messages of a front end as data.
pub(crate) fn diagnostics(all: &[Diagnostic], sources: &SourceMap) -> Value {
    all.iter().map(|diagnostic| one(diagnostic, sources)).collect()
}

fn one(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let at = position(sources, diagnostic.span);
    let related = |(span, label): &(Span, String)| {
        let at = position(sources, *span);
        json!({ "file": at.file, "line": at.line, "column": at.column, "label": label })
    };
    let mut value = json!({
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "message": diagnostic.message,
        "hints": diagnostic.hints,
    });
    if let Some(code) = diagnostic.code {
        value["code"] = code.into();
    }
    if !diagnostic.label.is_empty() {
        value["label"] = diagnostic.label.as_str().into();
    }
    if !diagnostic.related.is_empty() {
        value["related"] = diagnostic.related.iter().map(related).collect();
    }
    value
}
