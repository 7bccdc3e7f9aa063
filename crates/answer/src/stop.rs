//! Why there is no verdict, or why a search ended before its end.

use std::fmt;

/// A limit that ends a search. What it was set to is in [`StopReason::Limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The time limit, in seconds.
    Timeout,
    /// The limit on executions.
    MaxExecutions,
    /// The limit on visited graphs, or nodes of a search.
    MaxNodes,
    /// The limit on states.
    MaxStates,
    /// The limit on memory, in megabytes.
    MaxMemory,
    /// The user asked for it.
    Interrupted,
    /// More events in one execution than the engine has room for.
    TooManyEvents,
}

impl Limit {
    /// Whether the user set it, or sent a signal. The other limits are those of the engine: another one may answer.
    pub fn is_set_by_user(self) -> bool {
        self != Limit::TooManyEvents
    }

    /// A word for machines.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Timeout => "timeout",
            Limit::MaxExecutions => "executions",
            Limit::MaxNodes => "nodes",
            Limit::MaxStates => "states",
            Limit::MaxMemory => "memory",
            Limit::Interrupted => "interrupted",
            Limit::TooManyEvents => "events",
        }
    }
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// A limit was hit.
    Limit {
        /// Which.
        limit: Limit,
        /// What it was set to, where that is known: seconds, megabytes or a number.
        value: Option<f64>,
    },
    /// The program goes where the engine cannot follow; in words.
    Unsupported(String),
    /// The bounds cut every execution, so that nothing was looked at.
    CutEverything,
    /// What the property asks for does not exist within the bounds; it may beyond them.
    NoneWithinBounds,
    /// Traces were found that no instance has, that many, and no real one: universal guards are over-approximated.
    Spurious(usize),
    /// A counterexample, or an invariant, that could not be confirmed because it is too large for the check; in words.
    TooLargeToConfirm(String),
    /// A counterexample, or an invariant, that was found to be none: a bug of ours, reported rather than hidden.
    NotConfirmed(String),
}

impl StopReason {
    /// A limit, without what it was set to.
    pub fn limit(limit: Limit) -> StopReason {
        StopReason::Limit { limit, value: None }
    }

    /// Whether another engine may have an answer: no limit of the user's stood in the way, and nothing is wrong with us.
    pub fn is_engines_own(&self) -> bool {
        match self {
            StopReason::Limit { limit, .. } => !limit.is_set_by_user(),
            StopReason::NotConfirmed(_) => false,
            _ => true,
        }
    }

    /// Whether it is a bug of ours.
    pub fn is_bug(&self) -> bool {
        matches!(self, StopReason::NotConfirmed(_))
    }

    /// A word for machines.
    pub fn name(&self) -> &'static str {
        match self {
            StopReason::Limit { limit, .. } => limit.name(),
            StopReason::Unsupported(_) => "unsupported",
            StopReason::CutEverything => "cut everything",
            StopReason::NoneWithinBounds => "none within bounds",
            StopReason::Spurious(_) => "spurious traces",
            StopReason::TooLargeToConfirm(_) => "too large to confirm",
            StopReason::NotConfirmed(_) => "not confirmed",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Limit { limit, value } => show_limit(*limit, *value, f),
            StopReason::Unsupported(what) => f.write_str(what),
            StopReason::CutEverything => {
                write!(f, "the bound cut every execution: none was looked at to its end")
            }
            StopReason::NoneWithinBounds => {
                write!(f, "no final state within the bounds satisfies the condition")
            }
            StopReason::Spurious(n) => write!(
                f,
                "the search found {n} trace(s) that no instance has (universal guards are over-approximated), and no \
                 real one"
            ),
            StopReason::TooLargeToConfirm(why) => write!(f, "too large to be confirmed: {why}"),
            StopReason::NotConfirmed(why) => f.write_str(why),
        }
    }
}

fn show_limit(limit: Limit, value: Option<f64>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (limit, value) {
        (Limit::Timeout, None) => write!(f, "the time limit was reached"),
        (Limit::Timeout, Some(seconds)) => write!(f, "the time limit of {seconds} s was reached"),
        (Limit::MaxExecutions, None) => write!(f, "the limit on executions was reached"),
        (Limit::MaxExecutions, Some(n)) => write!(f, "the limit of {n} executions was reached"),
        (Limit::MaxNodes, None) => write!(f, "the limit on visited graphs was reached"),
        (Limit::MaxNodes, Some(n)) => write!(f, "the limit of {n} nodes was reached"),
        (Limit::MaxStates, None) => write!(f, "the limit on states was reached"),
        (Limit::MaxStates, Some(n)) => write!(f, "the limit of {n} states was reached"),
        (Limit::MaxMemory, None) => write!(f, "the limit on memory was reached"),
        (Limit::MaxMemory, Some(megabytes)) => write!(f, "the memory limit of {megabytes} MB was reached"),
        (Limit::Interrupted, _) => write!(f, "interrupted"),
        (Limit::TooManyEvents, None) => write!(f, "an execution has more events than there is room for"),
        (Limit::TooManyEvents, Some(n)) => write!(f, "an execution has more than {n} events"),
    }
}
