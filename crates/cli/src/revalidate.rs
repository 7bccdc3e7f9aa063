//! Every counterexample of `check` is replayed before anyone sees it, by code that shares nothing with the explorer: the
//! interpreter of `naive` runs the threads, and the cat model judges the execution. What is checked for which kind of
//! finding stands in the documentation of `fencepost_naive::confirm`'s module.
//!
//! A finding that does not pass is a bug of ours. It is not shown, and it makes no program unsafe.

use fencepost_explore::{Action, Exploration, Finding, FindingKind, ModelName};
use fencepost_ir::{Program, Value};
use fencepost_models::Model;
use fencepost_naive::{
    Claim, Limits, ProblemKind, Recorded, RecordedAction, RecordedStep, Refused, confirm, summarise,
};
use fencepost_report::outcome::{Outcome, Verdict};

/// Takes the findings out that are not confirmed; the reason why the first of them was not.
pub fn drop_unconfirmed(
    program: &Program,
    model: ModelName,
    dependencies: bool,
    found: &mut Exploration,
) -> Option<String> {
    let mut reason = None;
    found.findings.retain(|finding| match confirmed(program, model, dependencies, finding) {
        Ok(()) => true,
        Err(refused) => {
            reason.get_or_insert(describe(finding, &refused));
            false
        }
    });
    reason
}

/// The answer when a finding was not confirmed: unsafe only because of others that were, and never safe.
pub fn with_unconfirmed(outcome: Outcome, reason: Option<String>) -> Outcome {
    let Some(reason) = reason else { return outcome };
    eprintln!("{reason}\n  this is a bug of fencepost: please report it with the program");
    match outcome.verdict {
        Verdict::Unsafe => outcome,
        _ => Outcome { verdict: Verdict::Unknown, stop_reason: Some(reason), ..outcome },
    }
}

/// Whether a finding stands up to the check. What the engine could not represent claims nothing.
pub fn confirmed(
    program: &Program,
    model: ModelName,
    dependencies: bool,
    finding: &Finding,
) -> Result<(), Refused> {
    let Some(kind) = kind_of(finding.kind) else { return Ok(()) };
    let Some(cat) = Model::builtin(model.name()) else {
        return Err(Refused::Wrong("its model has no cat file".into()));
    };
    if finding.steps.is_empty() {
        return shown_by_enumeration(program, &cat, finding, kind);
    }
    confirm(program, &cat, &Recorded { dependencies, ..record(finding, kind) })
}

/// A finding without an execution (a thread that is started with what is no function): is there one that shows it?
/// Threads may have other numbers there.
fn shown_by_enumeration(
    program: &Program,
    model: &Model,
    finding: &Finding,
    kind: ProblemKind,
) -> Result<(), Refused> {
    let limits = Limits { candidates: 20_000, traces: 1_000, ..Limits::default() };
    let found = summarise(program, model, &limits).map_err(|stop| Refused::TooLarge(stop.to_string()))?;
    let at = finding.places.first().map(|place| place.at);
    let same = |claim: &Claim| claim.kind == kind && claim.sites.first().map(|site| site.1) == at;
    match found.claims.iter().any(same) {
        true => Ok(()),
        false => Err(Refused::Wrong("no execution shows it".into())),
    }
}

fn describe(finding: &Finding, refused: &Refused) -> String {
    let (Refused::Wrong(why) | Refused::TooLarge(why)) = refused;
    format!("internal error: counterexample not confirmed ({}): {why}", finding.kind.name())
}

/// The finding in the words of the replay.
pub fn record(finding: &Finding, kind: ProblemKind) -> Recorded {
    let action = |action: &Action| match action.clone() {
        Action::Read { cell, raw, order, from, .. } => {
            RecordedAction::Read { cell, value: Value(raw), order, from }
        }
        Action::Write { cell, raw, order, .. } => RecordedAction::Write { cell, value: Value(raw), order },
        Action::Choose { value } => RecordedAction::Choose(value),
        Action::Fence => RecordedAction::Fence,
        Action::Spawn { thread } => RecordedAction::Spawn(thread),
        Action::Join { thread } => RecordedAction::Join(thread),
        Action::Free { .. } => RecordedAction::End,
    };
    let steps = finding.steps.iter().map(|thread| {
        let steps = thread.iter().map(|step| RecordedStep { at: step.at, action: action(&step.action) });
        steps.collect()
    });
    Recorded {
        kind,
        sites: finding.places.iter().map(|place| (place.thread, place.at)).collect(),
        steps: steps.collect(),
        coherence: finding.coherence.clone(),
        dependencies: true,
    }
}

/// The kind under its name there; nothing for what claims nothing.
pub fn kind_of(kind: FindingKind) -> Option<ProblemKind> {
    Some(match kind {
        FindingKind::Assertion => ProblemKind::Assertion,
        FindingKind::Misuse => ProblemKind::Misuse,
        FindingKind::DataRace => ProblemKind::DataRace,
        FindingKind::NullPointer => ProblemKind::NullPointer,
        FindingKind::BadPointer => ProblemKind::BadPointer,
        FindingKind::OutOfBounds => ProblemKind::OutOfBounds,
        FindingKind::MixedSize => ProblemKind::MixedSize,
        FindingKind::UseAfterFree => ProblemKind::UseAfterFree,
        FindingKind::UseAfterScope => ProblemKind::UseAfterScope,
        FindingKind::UseBeforeAllocation => ProblemKind::UseBeforeAllocation,
        FindingKind::DoubleFree => ProblemKind::DoubleFree,
        FindingKind::InvalidFree => ProblemKind::InvalidFree,
        FindingKind::Uninitialised => ProblemKind::Uninitialised,
        FindingKind::Leak => ProblemKind::Leak,
        FindingKind::Deadlock => ProblemKind::Deadlock,
        FindingKind::DivisionByZero => ProblemKind::DivisionByZero,
        FindingKind::BadCall => ProblemKind::BadCall,
        FindingKind::LocalLoop => ProblemKind::EndlessLoop,
        FindingKind::Unsupported | FindingKind::OutsideSection => return None,
    })
}

#[cfg(test)]
mod tests;
