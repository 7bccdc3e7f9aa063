//! Answers for people.

use super::Printed;
use crate::diff;
use crate::report::{Expectation, Failed, Report, position, show_seconds};
use fencepost_answer::{
    Change, Coverage, Explanation, Finding, Line, Outcome, Remedy, Scope, Severity, Suggestion, Verdict,
};
use fencepost_diag::{Diagnostic, SourceMap};
use std::fmt::Write;

/// The whole answer; warnings of the front end come first and go elsewhere.
pub fn report(report: &Report<'_>) -> Printed {
    let Report { outcome, sources, .. } = *report;
    let mut out = String::new();
    for (i, found) in outcome.findings.iter().enumerate() {
        out.push_str(&explained(found, outcome.explanations.get(i), report.model, sources));
        out.push('\n');
    }
    let _ = writeln!(out, "{}", headline(report));
    if let Some(Expectation { wanted, is_met }) = report.expectation {
        let _ = match is_met {
            true => writeln!(out, "  as expected ({wanted})"),
            false => writeln!(out, "  not as expected ({wanted})"),
        };
    }
    if let Some(why) = report.picked.filter(|_| report.surprising) {
        let _ = writeln!(out, "  engine {}: {why}", report.engine);
    }
    // What was found does not rest on what was not looked at.
    let stopped_there = outcome.verdict == Verdict::Unsafe && !outcome.ended;
    for bound in outcome.bounds.iter().filter(|_| !stopped_there) {
        for span in &bound.places {
            let place = position(sources, *span);
            let _ = writeln!(
                out,
                "  {} {} cut the loop at {}:{}: {}",
                bound.name.name(),
                bound.value,
                place.file,
                place.line,
                sources.line(span.start)
            );
        }
    }
    if let Some(coverage) = &outcome.coverage {
        out.push_str(&show_coverage(coverage, sources, NAMED));
    }
    if !report.advice.is_empty() {
        out.push_str("  try:\n");
        for line in report.advice {
            let _ = writeln!(out, "    {line}");
        }
    }
    if let Some(suggestion) = &outcome.suggestion {
        out.push_str(&show_suggestion(suggestion, report));
    }
    if let Some(proof) = &outcome.proof {
        let _ = writeln!(out, "  {}", proof.summary());
    }
    Printed { output: out, errors: report.rendered_warnings(), part: None }
}

/// How many lines that were not reached are named.
const NAMED: usize = 8;

/// What no execution came to: nothing is known about it.
pub(crate) fn show_coverage(coverage: &Coverage, sources: &SourceMap, most: usize) -> String {
    let Coverage { lines, unreached } = coverage;
    if unreached.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "  no execution comes to {} of {lines} lines with an access, an assertion or a call:\n",
        unreached.len()
    );
    for &span in unreached.iter().take(most) {
        let at = position(sources, span);
        let _ = writeln!(out, "    {}:{}: {}", at.file, at.line, sources.expression(span));
    }
    if unreached.len() > most {
        let _ = writeln!(out, "    and {} more (all of them: --json)", unreached.len() - most);
    }
    out
}

/// What would make the program safe.
pub(crate) fn show_suggestion(suggestion: &Suggestion, report: &Report<'_>) -> String {
    let model = report.model;
    let runs = suggestion.runs;
    if suggestion.changes.is_empty() {
        let kind = if report.file.ends_with(".fp") { "fence" } else { "stronger memory order" };
        return format!(
            "  no {kind} makes it safe under {model}: with the strongest ones at all places it is not (checked)\n"
        );
    }
    let list = |names: &[String]| names.join(", ");
    let also =
        if suggestion.also.is_empty() { String::new() } else { format!(", {}", list(&suggestion.also)) };
    let not = match suggestion.nowhere_in.is_empty() {
        true => String::new(),
        false => format!(" (but not under {}, where no such change is enough)", list(&suggestion.nowhere_in)),
    };
    let mut out = format!(
        "  safe under {model}{also}{not} with these changes, of which none can be left out or be weaker ({runs} runs):\n"
    );
    suggestion.changes.iter().for_each(|change| out.push_str(&show_change(change, report.sources)));
    let edits = suggestion.edits();
    match edits.is_empty() {
        true => out.push_str(
            "  there is no patch: the text does not say the order at all of these places (a macro has it)\n",
        ),
        false => {
            out.push_str("  as a patch, with which it was checked again (--apply writes it):\n");
            for line in diff::unified(report.sources, &edits).lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }
    out
}

fn show_change(change: &Change, sources: &SourceMap) -> String {
    let at = position(sources, change.span);
    let text = sources.expression(change.span);
    let Change { from, to, .. } = change;
    format!("    {}:{}:{}: {from} -> {to}: {}\n", at.file, at.line, at.column, text.trim())
}

/// A finding: what it is, what went wrong in one sentence, the execution that shows it, and why the model allows it.
pub fn explained(
    finding: &Finding,
    explanation: Option<&Explanation>,
    model: &str,
    sources: &SourceMap,
) -> String {
    let mut out = render(finding, sources) + "\n";
    let none = Explanation::default();
    let Explanation { sentence, why, threads, again, remedy } = explanation.unwrap_or(&none);
    if !sentence.is_empty() {
        let _ = writeln!(out, "  {sentence}");
    }
    // The point first, then the execution that has it.
    if !why.is_empty() {
        out.push_str("  why:\n");
        for line in why {
            let _ = writeln!(out, "    {line}");
        }
    }
    if !finding.trace.is_empty() {
        out.push_str(&show_trace(&finding.trace, threads, sources));
    }
    if let Some(remedy) = remedy {
        out.push_str(&show_remedy(remedy, model, sources));
    }
    match again {
        0 => {}
        1 => out.push_str("  found once more at the same places, by other threads or in other iterations\n"),
        n => {
            let _ = writeln!(
                out,
                "  found {n} more times at the same places, by other threads or in other iterations"
            );
        }
    }
    out
}

/// What makes one finding impossible.
pub(crate) fn show_remedy(remedy: &Remedy, model: &str, sources: &SourceMap) -> String {
    let then = match remedy.verdict {
        Verdict::Safe => "the program is then safe",
        Verdict::Unsafe => "other findings stay",
        Verdict::Unknown => "the rest is unknown",
    };
    let mut out = format!("  under {model} this finding alone is impossible with ({then}):\n");
    remedy.changes.iter().for_each(|change| out.push_str(&show_change(change, sources)));
    out
}

/// Why there is no answer.
pub fn failed(failed: &Failed<'_>) -> Printed {
    Printed { output: String::new(), errors: format!("{}\n", failed.error), part: None }
}

/// The verdict in one line.
pub(crate) fn headline(report: &Report<'_>) -> String {
    let outcome = report.outcome;
    let bounds: Vec<String> =
        outcome.bounds.iter().map(|b| format!("{} {}", b.name.name(), b.value)).collect();
    let vacuous =
        if outcome.vacuous { " (vacuously: every execution ended in an assumption or a wait)" } else { "" };
    let verdict = match (outcome.verdict, outcome.scope()) {
        (Verdict::Safe, Scope::All | Scope::Part) => format!("safe{vacuous}"),
        (Verdict::Safe, Scope::Bounded) => format!("safe up to {}{vacuous}", bounds.join(", ")),
        (Verdict::Unsafe, _) => "unsafe".to_string(),
        (Verdict::Unknown, _) => match &outcome.stop_reason {
            Some(reason) if outcome.so_far.is_empty() => format!("unknown: {reason}"),
            Some(reason) => {
                let complete: Vec<String> = outcome.so_far.iter().map(|b| b.to_string()).collect();
                format!("unknown: {reason}; nothing is wrong with {}", complete.join(" and "))
            }
            None => "unknown".to_string(),
        },
    };
    let safe = outcome.verdict == Verdict::Safe;
    let only = outcome.checks.filter(|_| safe).map_or(String::new(), |checks| format!(" ({checks} only)"));
    let mut line = format!("{}: {verdict}{only} under {}", report.file, report.model);
    if let Some(proof) = &outcome.proof {
        let _ = write!(line, " for {}", proof.instances);
    }
    for assumed in outcome.assumes.iter().filter(|_| safe) {
        let _ = write!(line, ", {assumed}");
    }
    let mut last = vec![counts(outcome), show_seconds(report.seconds)];
    last.retain(|part| !part.is_empty());
    let _ = write!(line, " ({})", last.join(", "));
    line
}

/// `144 executions, 10 blocked, 22 cut`.
fn counts(outcome: &Outcome) -> String {
    let counts = &outcome.statistics;
    let mut parts = Vec::new();
    match (counts.states, counts.executions, counts.nodes) {
        (Some(states), _, _) => parts.push(counted(states, "state")),
        (None, Some(executions), _) => {
            let symmetric = if counts.symmetric { " up to symmetry" } else { "" };
            parts.push(format!("{}{symmetric}", counted(executions, "execution")));
        }
        (None, None, Some(nodes)) => parts.push(counted(nodes, "node")),
        (None, None, None) => {}
    }
    if counts.blocked > 0 {
        parts.push(format!("{} blocked", counts.blocked));
    }
    // What was found does not rest on what was left out.
    if counts.left_out > 0 && outcome.verdict == Verdict::Safe {
        parts.push(format!("{} left out", counts.left_out));
    }
    if counts.cut > 0 {
        parts.push(format!("{} cut", counts.cut));
    }
    parts.join(", ")
}

/// `1 execution`, `2 executions`.
fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The message with a snippet of the source.
fn render(finding: &Finding, sources: &SourceMap) -> String {
    let mut places = finding.places.iter();
    let (span, label) =
        places.next().map_or_else(Default::default, |place| (place.span, place.label.as_str()));
    let message = finding.message.as_str();
    let mut diagnostic = match finding.kind.severity() {
        Severity::Warning => Diagnostic::warning(span, message),
        Severity::Error | Severity::Unknown => Diagnostic::error(span, message),
    };
    diagnostic = diagnostic.code(finding.kind.code()).label(label);
    for place in places {
        diagnostic = diagnostic.related(place.span, place.label.as_str());
    }
    sources.render(&diagnostic)
}

/// The longest piece of source text in a trace.
const TEXT: usize = 56;
/// What is shown of its end.
const TAIL: usize = 21;

/// Traces of so many steps are shown whole.
const SHORT: usize = 12;

/// A block per run of steps of one thread, a line per step: line, source text, what happens.
fn show_trace(steps: &[Line], threads: &[String], sources: &SourceMap) -> String {
    let mut out = String::from("  an execution that shows it:\n");
    let file = |step: &Line| position(sources, step.span).file;
    let placed = |step: &&Line| !file(step).is_empty();
    let first = steps.iter().find(placed).map_or("", file);
    let one_file = steps.iter().filter(placed).all(|step| file(step) == first);
    let place = |step: &Line| {
        let place = position(sources, step.span);
        match one_file {
            _ if place.file.is_empty() => String::new(),
            true => place.line.to_string(),
            false => format!("{}:{}", place.file, place.line),
        }
    };
    let text = |step: &Line| shortened(sources.expression(step.span).trim());
    let width = steps.iter().map(|s| place(s).len()).max().unwrap_or(0);
    let code = steps.iter().map(|s| text(s).chars().count()).max().unwrap_or(0);
    let mut thread = None;
    let mut before: &[String] = &[];
    let mut left_out = 0;
    for (i, step) in steps.iter().enumerate() {
        if left_out > 0 {
            left_out -= 1;
            continue;
        }
        let minor =
            if steps.len() > SHORT { steps[i..].iter().take_while(|step| step.minor).count() } else { 0 };
        if minor > 1 {
            let _ = writeln!(out, "    ... {minor} steps that the point does not need (--full shows them)");
            (left_out, thread) = (minor - 1, None);
            continue;
        }
        if thread != Some(step.thread) {
            thread = Some(step.thread);
            let _ = writeln!(out, "    {}", thread_head(step.thread, threads));
        }
        let mut line = format!("      {:>width$}  {:code$}  {}", place(step), text(step), step.action);
        if let Some(buffers) = changed_buffers(before, &step.buffers, threads) {
            let _ = write!(line, "  [{buffers}]");
        }
        before = &step.buffers;
        let _ = writeln!(out, "{}", line.trim_end());
        for detail in &step.details {
            let _ = writeln!(out, "      {:width$}    {detail}", "");
        }
    }
    out
}

/// The buffers that are not empty, by the names of their threads, if they are not what they were: `writer: x=1 y=1`.
pub(crate) fn changed_buffers(before: &[String], now: &[String], threads: &[String]) -> Option<String> {
    let filled = |buffers: &[String]| -> Vec<(usize, String)> {
        buffers.iter().cloned().enumerate().filter(|(_, buffer)| !buffer.is_empty()).collect()
    };
    let now = filled(now);
    if filled(before) == now {
        return None;
    }
    let name = |thread: usize| threads.get(thread).cloned().unwrap_or_else(|| format!("thread {thread}"));
    let shown: Vec<String> =
        now.iter().map(|(thread, buffer)| format!("{}: {buffer}", name(*thread))).collect();
    Some(if shown.is_empty() { "all empty".into() } else { shown.join(" | ") })
}

/// `thread 1: reader`.
fn thread_head(thread: u32, names: &[String]) -> String {
    match names.get(thread as usize) {
        Some(name) if !name.starts_with("thread ") => format!("thread {thread}: {name}"),
        _ => format!("thread {thread}"),
    }
}

fn shortened(text: &str) -> String {
    let text = text.lines().next().unwrap_or("");
    if text.chars().count() <= TEXT {
        return text.to_string();
    }
    // The memory order is the last argument of a call: the end is worth more than the middle.
    let start: String = text.chars().take(TEXT - TAIL - 3).collect();
    let skipped = text.chars().count() - TAIL;
    format!("{start}...{}", text.chars().skip(skipped).collect::<String>())
}
