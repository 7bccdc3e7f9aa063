//! Every counterexample of `check` is replayed before anyone sees it, by code that shares nothing with the explorer: the
//! interpreter of `naive` runs the threads, and the cat model judges the execution. What is checked for which kind of
//! finding stands in the documentation of `fencepost_naive::confirm`'s module.
//!
//! A finding that does not pass is a bug of ours (exit code 4), unless it was only too large to be checked. In either case
//! it is not shown, and it makes no program unsafe.

use fencepost_answer::StopReason;
use fencepost_explore::{Exploration, Finding, FindingKind};
use fencepost_ir::Program;
use fencepost_models::{Entry, Model};
use fencepost_naive::{Claim, Limits, Rebuilt, Recorded, Refused, confirm_within, summarise};

/// A finding that was not confirmed: why not, and whether that is our mistake.
pub struct Unconfirmed {
    /// In words.
    pub reason: String,
    /// It was too large for the check; otherwise it was found to be none.
    pub too_large: bool,
}

impl From<Unconfirmed> for StopReason {
    fn from(unconfirmed: Unconfirmed) -> StopReason {
        match unconfirmed.too_large {
            true => StopReason::TooLargeToConfirm(unconfirmed.reason),
            false => StopReason::NotConfirmed(unconfirmed.reason),
        }
    }
}

/// Takes the findings out that are not confirmed, and says why the worst of them was not: what is wrong comes before
/// what is too large.
pub fn drop_unconfirmed(
    program: &Program,
    model: &Entry,
    dependencies: bool,
    found: &mut Exploration,
    limits: &Limits,
) -> Option<Unconfirmed> {
    let mut worst: Option<Unconfirmed> = None;
    found.findings.retain(|finding| match confirmed(program, model, dependencies, finding, limits) {
        Ok(()) => true,
        Err(refused) => {
            let unconfirmed = describe(finding, &refused);
            if worst.as_ref().is_none_or(|worst| worst.too_large && !unconfirmed.too_large) {
                worst = Some(unconfirmed);
            }
            false
        }
    });
    worst
}

/// Whether a finding stands up to the check. What the engine could not represent claims nothing.
pub fn confirmed(
    program: &Program,
    model: &Entry,
    dependencies: bool,
    finding: &Finding,
    limits: &Limits,
) -> Result<(), Refused> {
    let kind = finding.kind;
    if kind.is_unknown() {
        return Ok(());
    }
    let Some(cat) = Model::builtin(model.name) else {
        return Err(Refused::Wrong("its model has no cat file".into()));
    };
    if finding.execution.threads.is_empty() {
        return shown_by_enumeration(program, &cat, finding, limits);
    }
    confirm_within(program, &cat, &Recorded { dependencies, ..record(finding, kind) }, limits)
}

/// The execution of a finding that was confirmed.
pub fn rebuilt(
    program: &Program,
    model: &Entry,
    dependencies: bool,
    finding: &Finding,
    limits: &Limits,
) -> Option<Rebuilt> {
    let cat = Model::builtin(model.name)?;
    let recorded = Recorded { dependencies, ..record(finding, finding.kind) };
    fencepost_naive::rebuilt(program, &cat, &recorded, limits).ok()
}

/// A finding without an execution (a thread that is started with what is no function): is there one that shows it?
/// Threads may have other numbers there.
fn shown_by_enumeration(
    program: &Program,
    model: &Model,
    finding: &Finding,
    limits: &Limits,
) -> Result<(), Refused> {
    let (kind, limits) = (finding.kind, Limits { candidates: 20_000, traces: 1_000, ..*limits });
    let found = summarise(program, model, &limits).map_err(|stop| Refused::TooLarge(stop.to_string()))?;
    let at = finding.places.first().map(|place| place.at);
    let same = |claim: &Claim| claim.kind == kind && claim.sites.first().map(|site| site.1) == at;
    match found.claims.iter().any(same) {
        true => Ok(()),
        false => Err(Refused::Wrong("no execution shows it".into())),
    }
}

/// Why a finding was not confirmed.
pub fn describe(finding: &Finding, refused: &Refused) -> Unconfirmed {
    let name = finding.kind.name();
    match refused {
        Refused::Wrong(why) => Unconfirmed {
            reason: format!("internal error: counterexample not confirmed ({name}): {why}"),
            too_large: false,
        },
        Refused::TooLarge(why) => {
            Unconfirmed { reason: format!("a counterexample ({name}): {why}"), too_large: true }
        }
    }
}

/// The finding in the words of the replay.
pub fn record(finding: &Finding, kind: FindingKind) -> Recorded<'_> {
    Recorded {
        kind,
        sites: finding.places.iter().map(|place| (place.thread, place.at)).collect(),
        execution: &finding.execution,
        dependencies: true,
    }
}

#[cfg(test)]
mod tests;
