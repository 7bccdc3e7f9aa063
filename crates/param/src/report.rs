//! The answer that all engines give, made of what the search found.

use crate::outcome::{Missed, Outcome, Recheck, TraceStep, Verdict};
use crate::show;
use fencepost_answer::{Finding, FindingKind, Line, Place, Proof, Statistics};
use fencepost_diag::Span;

impl Outcome {
    /// The cubes of the invariant as text: no reachable state satisfies any of them.
    pub fn invariant_text(&self) -> Vec<String> {
        self.invariant.iter().map(|c| format!("not ({})", show::cube(&self.system, c))).collect()
    }

    /// The answer for `report`.
    pub fn answer(&self) -> fencepost_answer::Outcome {
        let s = &self.statistics;
        let mut findings = Vec::new();
        if self.verdict == Verdict::Unsafe {
            let place = self.bad.map_or_else(Place::default, |span| Place {
                span,
                label: "such a state".into(),
                ..Place::default()
            });
            let finding = Finding::new(FindingKind::Assertion, "an unsafe state is reachable", vec![place]);
            findings.push(Finding { trace: self.steps(), ..finding });
        }
        let recheck = match self.recheck {
            Recheck::Inductive => Some("inductive".into()),
            Recheck::Counted => Some("inductive, with store buffers counted".into()),
            Recheck::Instances(n) => Some(format!("instances up to {n}")),
            Recheck::Skipped => None,
        };
        fencepost_answer::Outcome {
            verdict: self.verdict,
            statistics: Statistics { nodes: Some(s.nodes as u64), ..Statistics::default() },
            proof: Some(Proof {
                instances: self.scope.clone(),
                processes: u64::from(s.processes),
                depth: s.depth as u64,
                restarts: s.restarts as u64,
                approximations: s.approximations as u64,
                inference: self.inference.map(u64::from),
                recheck,
                invariant: self.invariant_text(),
            }),
            ..fencepost_answer::Outcome::new(findings, self.stop_reason.clone(), Vec::new())
        }
    }

    /// The last read of the run from memory of what waited in the buffer of another process.
    pub fn missed(&self) -> Option<&Missed> {
        self.trace.iter().rev().find_map(|step| step.missed.as_ref())
    }

    /// The run: per step the action, its events, the cells that changed, and all buffers that are not empty.
    fn steps(&self) -> Vec<Line> {
        let mut before: Option<&TraceStep> = None;
        let mut steps = Vec::new();
        for step in &self.trace {
            let mut details = step.events.clone();
            let changed: Vec<String> = step
                .values
                .iter()
                .enumerate()
                .filter(|(i, value)| before.is_none_or(|before| before.values[*i] != **value))
                .map(|(_, (cell, value))| format!("{cell} = {value}"))
                .collect();
            if !changed.is_empty() {
                details.push(format!("now {}", changed.join(", ")));
            }
            // Processes are counted from one: nobody is thread 0.
            let own = step.buffers.iter().map(|buffer| buffer.join(", "));
            let buffers = std::iter::once(String::new()).chain(own).collect();
            let nowhere = Span { start: u32::MAX, end: u32::MAX };
            let (thread, action) = (step.process.unwrap_or(0), step.action.clone());
            steps.push(Line { thread, span: nowhere, action, details, buffers, ..Line::default() });
            before = Some(step);
        }
        steps
    }
}
