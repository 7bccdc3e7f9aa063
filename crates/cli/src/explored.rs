//! What the explorer found, as an answer with places in the source and an execution that a programmer can follow.

use crate::args::{CheckArgs, Dependencies};
use crate::teller::{Source, Teller};
use fencepost_diag::Diagnostic;
use fencepost_explore::{Exploration, Finding, FindingKind, ModelName, StopReason, headline};
use fencepost_report::outcome::{self, Bound, Location, Outcome, Position, Scope, Verdict};
use fencepost_report::picture::Picture;
use std::collections::BTreeSet;
use std::time::Instant;

/// Turns what the explorer found into an answer with places in the source.
pub struct Reporter<'a> {
    /// What was explored.
    pub source: Source<'a>,
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
        let unsupported = found.findings.iter().find(|f| f.kind.is_unknown());
        let wrong = |f: &&Finding| !f.kind.is_warning() && !f.kind.is_unknown();
        let stop_reason = match (unsupported, found.stopped) {
            (Some(finding), _) => Some(headline(self.source.program, finding)),
            (None, Some(reason)) => Some(stop_text(reason).to_string()),
            // To have seen no execution to its end is no ground for an answer.
            (None, None) if found.stats.executions == 0 && found.stats.cut > 0 => {
                Some(NOTHING_COMPLETED.to_string())
            }
            (None, None) => None,
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
            picked: None,
            checks: None,
            vacuous: verdict == Verdict::Safe && found.stats.executions == 0,
            assumes: matches!(model, ModelName::Power | ModelName::Armv8).then_some(match options.deps {
                Dependencies::Source => "source dependencies kept",
                Dependencies::None => "no dependencies kept",
            }),
            verdict,
            scope: if cut { Scope::Bounded } else { Scope::All },
            bounds: if cut { vec![unroll] } else { Vec::new() },
            stop_reason,
            executions: found.stats.executions,
            states: None,
            blocked: found.stats.blocked,
            cut: found.stats.cut,
            nodes: Some(found.stats.nodes),
            seconds: start.elapsed().as_secs_f64(),
            findings: found.findings.iter().map(|finding| self.finding(finding)).collect(),
        }
    }

    /// The first counterexample, if there is one that has steps.
    pub fn picture(&self, found: &Exploration) -> Option<Picture> {
        let wrong = found.findings.iter().find(|f| !f.kind.is_warning() && !f.steps.is_empty())?;
        Some(Teller::new(self.source, wrong).picture())
    }

    /// Where loops are in the source, each once.
    fn loops(&self, cuts: &[(u32, u32)]) -> Vec<Position> {
        let places = cuts.iter().map(|&at| {
            let Location { file, line, column, .. } = self.source.location(0, at);
            let text = self.source.sources.line(self.source.span(at).start).to_string();
            Position { file, line, column, text }
        });
        places.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// A finding, told so that a programmer can follow it.
    fn finding(&self, finding: &Finding) -> outcome::Finding {
        let teller = Teller::new(self.source, finding);
        let message = teller.message(&headline(self.source.program, finding));
        let mut places = teller.places();
        if finding.kind == FindingKind::Deadlock {
            // Who waits for a thread to end is not to blame.
            places.sort_by_key(|place| place.joins);
        }
        let mut labels = places.iter().map(|place| (self.source.span(place.at), place.label.clone()));
        let (span, label) = labels.next().unwrap_or_default();
        let mut diagnostic = if finding.kind.is_warning() {
            Diagnostic::warning(span, message.clone())
        } else {
            Diagnostic::error(span, message.clone())
        };
        diagnostic = diagnostic.code(finding.kind.code()).label(label);
        for (span, label) in labels {
            diagnostic = diagnostic.related(span, label);
        }
        outcome::Finding {
            code: finding.kind.code(),
            kind: finding.kind.name(),
            severity: if finding.kind.is_warning() { "warning" } else { "error" },
            message,
            locations: places.iter().map(|place| self.source.location(place.thread, place.at)).collect(),
            trace: if finding.kind.is_warning() { Vec::new() } else { teller.trace() },
            rendered: self.source.sources.render(&diagnostic),
        }
    }
}

/// Whether an answer is missing because of a limit that the user set or a signal.
pub fn limit_was_hit(found: &Outcome) -> bool {
    let limits = [
        StopReason::Timeout,
        StopReason::MaxExecutions,
        StopReason::MaxNodes,
        StopReason::MaxMemory,
        StopReason::Interrupted,
    ];
    limits.iter().any(|&limit| found.stop_reason.as_deref() == Some(stop_text(limit)))
}

/// Why there is no answer although the search ended.
const NOTHING_COMPLETED: &str = "the unroll bound cut every execution";

fn stop_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Timeout => "the time limit was reached",
        StopReason::MaxExecutions => "the limit on executions was reached",
        StopReason::MaxNodes => "the limit on visited graphs was reached",
        StopReason::MaxMemory => "the limit on memory was reached",
        StopReason::Interrupted => "interrupted",
        StopReason::TooManyEvents => "an execution has more than 1024 events",
    }
}
