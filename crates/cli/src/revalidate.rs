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

/// What came of the check of all findings.
pub struct Confirmed {
    /// The executions of the findings that stay, as far as they have one.
    pub rebuilt: Vec<Option<Rebuilt>>,
    /// Why the worst of the others was not confirmed.
    pub unconfirmed: Option<Unconfirmed>,
    /// The model as a cat file, if it was needed.
    pub cat: Option<Model>,
}

/// Takes the findings out that are not confirmed, and says why the worst of them was not: what is wrong comes before
/// what is too large.
pub fn drop_unconfirmed(
    program: &Program,
    model: &Entry,
    dependencies: bool,
    found: &mut Exploration,
    limits: &Limits,
) -> Confirmed {
    let cat = if found.findings.is_empty() { None } else { Model::builtin(model.name) };
    let mut worst: Option<Unconfirmed> = None;
    let mut rebuilt = Vec::new();
    found.findings.retain(|finding| match confirmed(program, cat.as_ref(), dependencies, finding, limits) {
        Ok(execution) => {
            rebuilt.push(execution);
            true
        }
        Err(refused) => {
            let unconfirmed = describe(finding, &refused);
            if worst.as_ref().is_none_or(|worst| worst.too_large && !unconfirmed.too_large) {
                worst = Some(unconfirmed);
            }
            false
        }
    });
    Confirmed { rebuilt, unconfirmed: worst, cat }
}

/// Whether a finding stands up to the check, and its execution. What the engine could not represent claims nothing.
pub fn confirmed(
    program: &Program,
    cat: Option<&Model>,
    dependencies: bool,
    finding: &Finding,
    limits: &Limits,
) -> Result<Option<Rebuilt>, Refused> {
    let kind = finding.kind;
    if kind.is_unknown() {
        return Ok(None);
    }
    let Some(cat) = cat else {
        return Err(Refused::Wrong("its model has no cat file".into()));
    };
    if finding.execution.threads.is_empty() {
        return shown_by_enumeration(program, cat, finding, limits).map(|()| None);
    }
    confirm_within(program, cat, &Recorded { dependencies, ..record(finding, kind) }, limits).map(Some)
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
