//! Conditions on final states, answered by the explorer: an execution that decides the question is replayed by the enumerator
//! before anyone hears of it.

use crate::witness::{self, Rejected};
use fencepost_answer::{Finding, FindingKind, Outcome, StopReason, Verdict};
use fencepost_explore::Exploration;
use fencepost_ir::{FinalCondition, Program, Property, Proposition, Quantifier};
use fencepost_models::registry::Entry;

/// `forall P` as `never not P`: the explorer looks for executions that satisfy a proposition.
pub fn as_search(program: &mut Program) {
    if let Property::Final(condition) = &mut program.property
        && condition.quantifier == Quantifier::ForAll
    {
        let wanted = std::mem::replace(&mut condition.proposition, Proposition::True);
        condition.proposition = Proposition::Not(Box::new(wanted));
        condition.quantifier = Quantifier::NotExists;
    }
}

/// The answer about the condition, from the answer about everything else.
pub fn judged(
    outcome: Outcome,
    program: &Program,
    condition: &FinalCondition,
    model: &Entry,
    found: &Exploration,
) -> Outcome {
    if outcome.verdict == Verdict::Unsafe {
        return outcome;
    }
    let exists = condition.quantifier == Quantifier::Exists;
    if found.stats.satisfying > 0 {
        let confirmed = match &found.witness {
            Some(trace) => witness::rebuild(program, condition, model, trace).map(drop),
            None => Err(Rejected::Wrong("there is none".into())),
        };
        return match confirmed {
            Ok(()) if exists => outcome,
            Ok(()) => with_finding(outcome, "a final state violates the condition"),
            Err(rejected) => unconfirmed(outcome, rejected),
        };
    }
    match (exists && outcome.verdict == Verdict::Safe, outcome.bounds.is_empty()) {
        (false, _) => outcome,
        (true, true) => with_finding(outcome, "no final state satisfies the condition"),
        (true, false) => stopped(outcome, StopReason::NoneWithinBounds),
    }
}

fn with_finding(outcome: Outcome, message: &str) -> Outcome {
    let (kind, message) = (FindingKind::Assertion, message.to_string());
    let finding = Finding::new(kind, message, vec![Default::default()]);
    let Outcome { statistics, bounds, .. } = outcome;
    Outcome { statistics, ..Outcome::new(vec![finding], None, bounds) }
}

fn stopped(outcome: Outcome, reason: StopReason) -> Outcome {
    let Outcome { statistics, bounds, .. } = outcome;
    Outcome { statistics, bounds, ..Outcome::unknown(reason) }
}

fn unconfirmed(outcome: Outcome, rejected: Rejected) -> Outcome {
    stopped(
        outcome,
        match rejected {
            Rejected::Wrong(why) => StopReason::NotConfirmed(format!(
                "internal error: the execution that shows it is none: {why}"
            )),
            Rejected::TooLarge(why) => StopReason::TooLargeToConfirm(why),
        },
    )
}
