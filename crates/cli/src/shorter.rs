//! A shorter execution that shows the same: a long counterexample is looked for again with smaller bounds.

use crate::args::CheckArgs;
use crate::check;
use fencepost_answer::{Finding, Outcome, Severity};
use fencepost_ir::Compiled;
use fencepost_models::registry::Entry;
use std::time::{Duration, Instant};

/// Counterexamples of fewer steps are short enough.
const LONG: usize = 30;
/// What each smaller bound may take.
const PATIENCE: Duration = Duration::from_millis(500);
/// The smaller bounds.
const BOUNDS: [u32; 3] = [1, 2, 4];

/// Takes the findings that a smaller unroll bound gives, if the first of them is the same fault and shown in fewer steps.
pub fn prefer(
    name: &str,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    found: &mut Outcome,
) {
    let Some(first) = error(found).filter(|finding| finding.trace.len() >= LONG && !options.all) else {
        return;
    };
    let (kind, steps) = (first.kind, first.trace.len());
    let place = |finding: &Finding| finding.places.first().map(|place| place.span);
    let at = place(first);
    for unroll in BOUNDS.into_iter().filter(|unroll| *unroll < options.unroll) {
        let options = CheckArgs { unroll, timeout: Some(PATIENCE), quiet: true, ..options.clone() };
        let Ok((.., other)) = check::solve(name, compiled, model, &options, Instant::now()) else { return };
        let same =
            |finding: &&Finding| finding.kind == kind && place(finding) == at && finding.trace.len() < steps;
        if error(&other).filter(same).is_some() {
            (found.findings, found.explanations, found.picture) =
                (other.findings, other.explanations, other.picture);
            return;
        }
    }
}

fn error(outcome: &Outcome) -> Option<&Finding> {
    outcome.findings.iter().find(|finding| finding.kind.severity() == Severity::Error)
}
