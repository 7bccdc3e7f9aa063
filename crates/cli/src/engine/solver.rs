//! What the engines on the SAT solver share: when to stop, what a watcher is told, and why there is no answer.

use super::Question;
use crate::progress::{self, is_watched};
use fencepost_answer::{Limit, StopReason};
use fencepost_bmc::outcome::Progress;
use fencepost_bmc::{Asked, Limits, Statistics, StopReason as Stopped, Why};
use fencepost_diag::Span;

/// When to stop.
pub fn limits(question: &Question<'_>) -> Limits {
    Limits {
        deadline: question.deadline(),
        max_bytes: question.options.max_memory.map(|mb| mb.saturating_mul(1_000_000)),
        interrupt: Some(question.interrupt),
        conflicts: None,
    }
}

/// Tells somebody who watches which unroll bound is being tried.
pub fn of_unrolling(question: &Question<'_>) -> Option<Progress<'static>> {
    let tell: Progress<'static> = &|asked: Asked, size: Statistics| {
        progress::note(format!("unroll {}: {}", asked.unroll, of(size)));
    };
    is_watched(question.options.quiet).then_some(tell)
}

/// The size of a formula.
pub fn of(size: Statistics) -> String {
    format!("{} variables, {} clauses", size.variables, size.clauses)
}

/// A limit of the solver as one of an answer.
pub fn stopped(reason: Stopped) -> StopReason {
    match reason {
        Stopped::Timeout => StopReason::limit(Limit::Timeout),
        Stopped::Memory => StopReason::limit(Limit::MaxMemory),
        Stopped::Interrupted => StopReason::limit(Limit::Interrupted),
        Stopped::Size | Stopped::NoSolver => StopReason::Unsupported(reason.describe().into()),
    }
}

/// Why there is no answer; the caller knows how to call a solution that is no run, and what cannot be followed.
pub fn reason(
    question: &Question<'_>,
    why: Option<&Why>,
    no_run: &str,
    unfollowed: impl Fn(Option<&(String, Span)>) -> String,
) -> StopReason {
    match why {
        Some(Why::Limit(reason)) => match stopped(*reason) {
            StopReason::Limit { limit, .. } => question.stop(limit),
            other => other,
        },
        Some(Why::NoneWithinBounds) => StopReason::NoneWithinBounds,
        Some(Why::Unconfirmed(why)) => StopReason::NotConfirmed(format!("internal error: {no_run}: {why}")),
        Some(Why::Loose(_)) => {
            StopReason::Unsupported("what a promise publishes is not what the machine lets it publish".into())
        }
        Some(Why::Unfollowed(what)) => StopReason::Unsupported(unfollowed(what.as_ref())),
        None => StopReason::Unsupported(unfollowed(None)),
    }
}
