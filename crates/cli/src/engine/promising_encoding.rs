//! `-m ps --engine reduce`: runs with at most K promises and view switches on a SAT solver, each confirmed by the promising
//! machine.

use super::promising::{self, FORM, MODEL, assumptions};
use super::solver::{self, limits};
use super::states::with_limits;
use super::{Fit, Question};
use crate::input::Trouble;
use crate::progress::{self, is_watched};
use fencepost_answer::{Bound, BoundName, Finding, FindingKind, Outcome, StopReason, Verdict};
use fencepost_bmc::outcome::Progress;
use fencepost_bmc::promising::{self as encoding, Ends, Run};
use fencepost_bmc::{self as bmc, Asked, Statistics, symbolic};
use fencepost_diag::Diagnostic;
use fencepost_ir::{ObjectId, Value};
use fencepost_machine::promising::plan::{Planned, Replayer};
use fencepost_machine::promising::prepare::{has_updates, prepare as fence_sc_accesses};
use fencepost_machine::promising::{Bounds, Consistency};
use fencepost_models::prepare::Form;

/// K if the user names none.
pub const DEFAULT_BOUND: u16 = 10;
/// Promises if the user names no number: more are rarely of use, and each makes the formula larger.
pub const DEFAULT_PROMISES: u16 = 1;

/// The same by the standard notion: where it differs from the strong one, a write is promised that another promise needs.
const DEFAULT_PROMISES_STANDARD: u16 = 2;

/// Conflicts of each question about few threads, if that is a trial.
const CONFLICTS_OF_FEW: u32 = 2_000;

/// Options of other reductions.
const FOREIGN: &[&str] = &["rounds", "age", "contexts"];
/// Options of this one alone.
const OWN: &[&str] = &["bound", "promises", "views", "consistency"];

/// Whether a question is about the promising semantics, or has options of it.
pub fn fit(question: &Question<'_>) -> Option<Fit> {
    let given = |option: &&&str| question.options.given.iter().any(|given| given == **option);
    if question.model.name != MODEL {
        let option = OWN.iter().find(given)?;
        return Some(Fit::Refuses(format!(
            "error: --{option} is for the promising semantics\n  `-m ps` chooses it"
        )));
    }
    if let Some(option) = FOREIGN.iter().find(given) {
        return Some(Fit::Refuses(format!("error: --{option} is no option of the promising semantics")));
    }
    Some(Fit::IfAsked)
}

/// The bounds that the user wants.
fn bounds(question: &Question<'_>) -> Bounds {
    let given = question.options;
    let total = given.bound.unwrap_or(DEFAULT_BOUND);
    let usual = match given.consistency {
        Consistency::Standard if has_updates(&question.compiled.program) => DEFAULT_PROMISES_STANDARD,
        _ => DEFAULT_PROMISES,
    };
    let promises = given.promises.unwrap_or(usual);
    Bounds { total: Some(total), promises: Some(promises.min(total)), views: given.views }
}

/// The bounds that the user names, and no others.
pub fn most(question: &Question<'_>) -> Bounds {
    let given = question.options;
    Bounds { total: given.bound, promises: given.promises, views: given.views }
}

/// Deepens over K, first without promises.
///
/// By the standard notion, with read-modify-writes, what the strong one allows is allowed, too `[AAGKV, Theorem 3.1]`, and is
/// looked for first. Then a formula with a certification for each future memory over the domain is asked, which allows all runs
/// and perhaps a few more. If it is too large, or a run of it is not confirmed, the machine has the answer.
pub fn run(question: &Question<'_>) -> Result<Outcome, Trouble> {
    if question.options.given.iter().any(|given| given == "backend") {
        return super::promising_translated::run(question);
    }
    let outcome = by_strong_notion(question)?;
    let standard = question.options.consistency == Consistency::Standard;
    if !standard || outcome.verdict == Verdict::Unsafe || !has_updates(&question.compiled.program) {
        return Ok(outcome);
    }
    if let Ok(outcome) = by_formula(question, Consistency::Standard)
        && outcome.verdict != Verdict::Unknown
    {
        return Ok(outcome);
    }
    let mut outcome = promising::run(question)?;
    outcome.assumes.push("future memories are looked at by the machine, not by a formula".into());
    Ok(outcome)
}

/// Deepens over K by the strong notion of consistency.
pub fn by_strong_notion(question: &Question<'_>) -> Result<Outcome, Trouble> {
    by_formula(question, Consistency::Strong)
}

/// Deepens over K by one notion of consistency.
fn by_formula(question: &Question<'_>, consistency: Consistency) -> Result<Outcome, Trouble> {
    // The encoding bounds loops itself, and takes choices of any range.
    let prepared = question.prepare(Form { bound_loops: false, divide_choices: false, ..FORM })?;
    let program = &prepared.program;
    let mut replayer = Replayer::new(program).map_err(|e| question.refuse(&e.what, e.span))?;
    let mut standard = None;
    if consistency == Consistency::Standard {
        let given = question.options.domain.map(|n| (0..u64::from(n)).map(Value).collect());
        replayer = replayer.standard(given);
        standard = symbolic::Domain::new(replayer.domain());
        if standard.is_none() {
            return Ok(Outcome::unknown(StopReason::Unsupported("so many values of future memories".into())));
        }
    }
    let few = question.work == Some(0);
    let most = bounds(question).total.unwrap_or(0);
    let _line = progress::line(question.file, question.options.quiet);
    let watch = |asked: Asked, size: Statistics| {
        let Asked { total, promises, .. } = asked;
        progress::note(format!("K {total} of {most}, {promises} promises: {}", solver::of(size)));
    };
    let watched = is_watched(question.options.quiet);
    let given = bounds(question);
    let wanted = encoding::Bounds {
        total: given.total.map_or(0, usize::from),
        promises: given.promises.map_or(0, usize::from),
        views: given.views.map(usize::from),
        certify: encoding::Certify::Loosely,
        narrow: None,
        standard,
        without: None,
    };
    let options = encoding::Options {
        symbolic: symbolic::Options {
            unroll: question.options.unroll,
            c: question.compiled.language.must_end(),
            limits: bmc::Limits { conflicts: few.then_some(CONFLICTS_OF_FEW), ..limits(question) },
            ..symbolic::Options::default()
        },
        bounds: wanted,
        few,
        progress: watched.then_some(&watch as Progress<'_>),
    };
    let mut confirmed: Option<Finding> = None;
    let mut confirm = |run: &Run, ends: Ends| {
        let replayed = replayer.replay(&plan(run), given)?;
        match ends {
            Ends::Wrong => confirmed = Some(replayed.finding.ok_or("nothing is wrong at its end")?),
            Ends::Wanted => drop(replayed.observed.ok_or("a thread has not ended")?),
        }
        Ok(())
    };
    let refuse = |e: bmc::Unsupported| {
        let message = format!("{} cannot be checked by the engine reduce", e.what);
        let error =
            Diagnostic::error(e.span, message).hint("`--engine states` has the whole promising semantics");
        Trouble::about(&question.compiled.sources, error)
    };
    // As the machine does: an SC access is an SC fence and an access.
    let fenced = fence_sc_accesses(program).map_err(|e| question.refuse(&e.what, e.span))?;
    let found = encoding::check(&fenced, &options, &mut confirm).map_err(refuse)?;
    let mut outcome = answer(question, wanted, &found, confirmed);
    outcome.assumes.extend(assumptions(question, program));
    outcome.checks = promising::checks(question);
    Ok(with_limits(outcome, question))
}

fn answer(
    question: &Question<'_>,
    wanted: encoding::Bounds,
    found: &bmc::Outcome<Run>,
    confirmed: Option<Finding>,
) -> Outcome {
    match (found.verdict, confirmed) {
        // No run ends in a state that the program is asked for.
        (Verdict::Unsafe, None) => {
            let message = found.finding.as_ref().map(|finding| finding.message.clone()).unwrap_or_default();
            let places = vec![Default::default()];
            let finding = Finding::new(FindingKind::Assertion, message, places);
            Outcome::new(vec![finding], None, Vec::new())
        }
        (Verdict::Unsafe, Some(finding)) => {
            let mut outcome = Outcome::new(vec![finding], None, Vec::new());
            if let Some(run) = &found.run {
                outcome.bounds.push(Bound::new(BoundName::Promising, run.views + run.promises));
            }
            outcome
        }
        (Verdict::Safe, _) => {
            let mut bounds = Vec::new();
            if found.spent {
                bounds.push(Bound::new(BoundName::Promising, wanted.total as u64));
            }
            if found.promised {
                bounds.push(Bound::new(BoundName::Promises, wanted.promises as u64));
            }
            if found.cut {
                bounds.push(Bound::new(BoundName::Unroll, question.options.unroll));
            }
            bounds.extend(wanted.views.map(|views| Bound::new(BoundName::Views, views as u64)));
            Outcome::new(Vec::new(), None, bounds)
        }
        _ => {
            let no_run = "a run of the encoding is not confirmed";
            let limit = "something that cannot be followed here is reached";
            let mut outcome =
                Outcome::unknown(solver::reason(question, found.why.as_ref(), no_run, |_| limit.into()));
            if let Some(Asked { total, promises, .. }) = found.completed {
                outcome.assumes.push(format!(
                    "nothing is wrong within a bound of {total} with at most {promises} promises"
                ));
            }
            outcome
        }
    }
}

/// A run of the encoding as a plan for the machine.
pub fn plan(run: &Run) -> Vec<Planned> {
    let convert = |planned: &encoding::Planned| match *planned {
        encoding::Planned::Step { thread, choice, spurious, reads, writes, fulfils } => {
            Planned::Step { thread, choice, spurious, reads, writes, fulfils }
        }
        encoding::Planned::Promise { thread, object, offset, width, value, from, to, passes_on } => {
            Planned::Promise {
                thread,
                cell: (Value::pointer(ObjectId(object), offset), width),
                value,
                from,
                to,
                passes_on,
            }
        }
    };
    run.moves.iter().map(convert).collect()
}
