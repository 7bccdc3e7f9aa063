//! What the explorer found, as an answer with places in the source and an execution that a programmer can follow.

use crate::args::CheckArgs;
use fencepost_c::SourceMap;
use fencepost_diag::{Diagnostic, Span};
use fencepost_explore::{
    Action, Exploration, Finding, FindingKind, ModelName, Place, Step, StopReason, headline,
};
use fencepost_ir::Program;
use fencepost_report::outcome::{self, Bound, Location, Outcome, Position, Scope, TraceStep, Verdict};
use std::collections::BTreeSet;
use std::time::Instant;

/// Turns what the explorer found into an answer with places in the source.
pub struct Reporter<'a> {
    /// The program that was explored.
    pub program: &'a Program,
    /// Its sources.
    pub sources: &'a SourceMap,
}

impl Reporter<'_> {
    /// The answer about a file.
    pub fn outcome(
        &self,
        name: &str,
        model: ModelName,
        options: &CheckArgs,
        found: &Exploration,
        start: Instant,
    ) -> Outcome {
        let unsupported = found.findings.iter().find(|f| f.kind == FindingKind::Unsupported);
        let wrong = |f: &&Finding| !f.kind.is_warning() && f.kind != FindingKind::Unsupported;
        let stop_reason = match (unsupported, found.stopped) {
            (Some(finding), _) => Some(headline(self.program, finding)),
            (None, reason) => reason.map(|reason| stop_text(reason).to_string()),
        };
        let verdict = match &stop_reason {
            _ if found.findings.iter().any(|f| wrong(&f)) => Verdict::Unsafe,
            Some(_) => Verdict::Unknown,
            None => Verdict::Safe,
        };
        let cut = found.stats.cut > 0;
        let places = self.loops(&found.cuts);
        let unroll = Bound { name: "unroll", value: u64::from(options.unroll), places };
        Outcome {
            file: name.to_string(),
            model: model.name().to_string(),
            engine: Some("explore"),
            checks: None,
            verdict,
            scope: if cut { Scope::Bounded } else { Scope::All },
            bounds: if cut { vec![unroll] } else { Vec::new() },
            stop_reason,
            executions: found.stats.executions,
            states: None,
            blocked: found.stats.blocked,
            cut: found.stats.cut,
            seconds: start.elapsed().as_secs_f64(),
            findings: found.findings.iter().map(|finding| self.finding(finding)).collect(),
        }
    }

    /// Where loops are in the source, each once.
    fn loops(&self, cuts: &[(u32, u32)]) -> Vec<Position> {
        let places = cuts.iter().map(|&at| {
            let Location { file, line, column, .. } = self.location(&Place { thread: 0, at });
            Position { file, line, column, text: self.sources.line(self.span(at).start).to_string() }
        });
        places.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn span(&self, at: (u32, u32)) -> Span {
        let function = self.program.functions.get(at.0 as usize);
        function.and_then(|f| f.spans.get(at.1 as usize).or(f.spans.last())).copied().unwrap_or_default()
    }

    fn location(&self, place: &Place) -> Location {
        let span = self.span(place.at);
        let (file, line, column) = self.sources.position(span.start).unwrap_or(("", 0, 0));
        let text = self.sources.expression(span);
        Location { file: file.to_string(), line, column, thread: place.thread, text }
    }

    fn finding(&self, finding: &Finding) -> outcome::Finding {
        let message = headline(self.program, finding);
        let first = finding.places.first();
        let span = first.map_or(Span::default(), |place| self.span(place.at));
        let mut diagnostic = if finding.kind.is_warning() {
            Diagnostic::warning(span, message.clone())
        } else {
            Diagnostic::error(span, message.clone())
        };
        diagnostic = diagnostic.code(finding.kind.code());
        if let Some(place) = first {
            diagnostic = diagnostic.label(format!("thread {}", place.thread));
        }
        for place in finding.places.iter().skip(1) {
            diagnostic = diagnostic.related(self.span(place.at), format!("thread {}", place.thread));
        }
        outcome::Finding {
            code: finding.kind.code(),
            kind: finding.kind.name(),
            severity: if finding.kind.is_warning() { "warning" } else { "error" },
            message,
            locations: finding.places.iter().map(|place| self.location(place)).collect(),
            trace: if finding.kind.is_warning() { Vec::new() } else { self.trace(&finding.steps) },
            rendered: self.sources.render(&diagnostic),
        }
    }

    /// The steps of all threads in the order in which the execution was put together: what is read was written before,
    /// as far as the model lets it, and a thread runs on while it can.
    fn trace(&self, threads: &[Vec<Step>]) -> Vec<TraceStep> {
        let mut steps: Vec<(u32, usize, usize)> = Vec::new();
        for (t, list) in threads.iter().enumerate() {
            steps.extend(list.iter().enumerate().map(|(i, step)| (step.time, t, i)));
        }
        steps.sort_unstable();
        let steps = steps.into_iter().filter_map(|(_, t, i)| {
            let step = &threads[t][i];
            let place = Place { thread: t as u32, at: step.at };
            let action = self.action(threads, step)?;
            Some(TraceStep { thread: t as u32, location: self.location(&place), action })
        });
        steps.collect()
    }

    fn action(&self, threads: &[Vec<Step>], step: &Step) -> Option<String> {
        let shown = |value: u64| self.program.show_value(fencepost_ir::Value(value));
        Some(match &step.action {
            Action::Read { cell, value, from, newer, .. } => {
                let source = match from {
                    None => "the initial value".to_string(),
                    Some((thread, index)) => {
                        let writer =
                            threads.get(*thread as usize).and_then(|steps| steps.get(*index as usize));
                        let place = writer.map(|w| self.location(&Place { thread: *thread, at: w.at }));
                        format!("written by thread {thread} at line {}", place.map_or(0, |l| l.line))
                    }
                };
                let stale = match newer {
                    0 => String::new(),
                    1 => "; a newer value was not seen".to_string(),
                    n => format!("; {n} newer values were not seen"),
                };
                format!("reads {cell} = {}, {source}{stale}", shown(*value))
            }
            Action::Write { cell, value, .. } => format!("writes {cell} = {}", shown(*value)),
            Action::Choose { value } => format!("chooses {}", shown(*value)),
            Action::Fence => "fence".to_string(),
            Action::Spawn { thread } => format!("starts thread {thread}"),
            Action::Join { thread } => format!("joins thread {thread}"),
            Action::Free { object } => format!("ends the life of {object}"),
        })
    }
}

fn stop_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Timeout => "the time limit was reached",
        StopReason::MaxExecutions => "the limit on executions was reached",
        StopReason::MaxNodes => "the limit on visited graphs was reached",
        StopReason::Interrupted => "interrupted",
        StopReason::TooManyEvents => "an execution has more than 1024 events",
    }
}
