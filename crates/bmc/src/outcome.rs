//! What comes of a check, whatever orders the events.

use crate::limits::StopReason;
use fencepost_answer::FindingKind;
pub use fencepost_answer::Verdict;
use fencepost_diag::Span;

/// Something that has no meaning here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// Why there is no formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A limit was reached.
    Stopped(StopReason),
    /// The program has something that has no meaning here.
    Unsupported(Unsupported),
}

impl Failed {
    /// Why there is no proof, in words.
    pub fn no_proof(self) -> String {
        match self {
            Failed::Stopped(reason) => format!("no proof: {}", reason.describe()),
            Failed::Unsupported(unsupported) => unsupported.what,
        }
    }
}

impl From<Unsupported> for Failed {
    fn from(unsupported: Unsupported) -> Failed {
        Failed::Unsupported(unsupported)
    }
}

impl From<StopReason> for Failed {
    fn from(reason: StopReason) -> Failed {
        Failed::Stopped(reason)
    }
}

/// Bounds that are asked about, those of a formula or smaller ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// How often loops go round.
    pub unroll: u32,
    /// Contexts; of the promising semantics K, promises and view switches.
    pub total: usize,
    /// Promises.
    pub promises: usize,
}

/// Sizes and effort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Guarded events.
    pub events: u64,
    /// Nodes of the graph of gates.
    pub nodes: u64,
    /// Variables of the solver.
    pub variables: u64,
    /// Clauses of the solver.
    pub clauses: u64,
    /// Its conflicts.
    pub conflicts: u64,
    /// How often the program was unrolled until widths were known.
    pub passes: u64,
}

/// Is told about each bound that is tried, with figures so far.
pub type Progress<'a> = &'a (dyn Fn(Asked, Statistics) + Sync);

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Why {
    /// A limit was reached.
    Limit(StopReason),
    /// Something that cannot be followed is met: what, and where, if that is known.
    Unfollowed(Option<(String, Span)>),
    /// The final state that is asked for was not found, and bounds keep runs away.
    NoneWithinBounds,
    /// A solution is no run: a mistake of ours.
    Unconfirmed(String),
    /// The same of a formula that may have runs too many, so that it is no mistake.
    Loose(String),
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Of which kind.
    pub kind: FindingKind,
    /// In words.
    pub message: String,
    /// Where in the source.
    pub span: Span,
    /// The thread, numbered as in the run.
    pub thread: Option<u32>,
}

impl Finding {
    /// A final state violates the condition, or none satisfies it.
    pub fn final_condition(message: &str) -> Finding {
        let kind = FindingKind::Assertion;
        Finding { kind, message: message.to_owned(), span: Span::default(), thread: None }
    }
}

/// The outcome of a check. A run is for somebody else to replay.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome<R> {
    /// The answer; *safe* holds within the bounds that matter: `cut`, `spent`, `promised`.
    pub verdict: Verdict,
    /// Why there is none.
    pub why: Option<Why>,
    /// The unroll bound may have cut something off.
    pub cut: bool,
    /// Some run may use up the bound of [`Asked::total`]: with a larger one there might be others.
    pub spent: bool,
    /// Some run makes all promises that are allowed: with more there might be others.
    pub promised: bool,
    /// Some run comes to the end of all its threads; looked at only for what is safe, and only by who asks for it.
    pub completes: bool,
    /// The last bounds within which it is known that nothing goes wrong.
    pub completed: Option<Asked>,
    /// The bounds within which something was found.
    pub found_at: Option<Asked>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// A run that shows it, or one that ends in the state that is asked for.
    pub run: Option<R>,
    /// Figures of the last formula.
    pub statistics: Statistics,
}

impl<R> Default for Outcome<R> {
    fn default() -> Self {
        Outcome {
            verdict: Verdict::Unknown,
            why: None,
            cut: false,
            spent: false,
            promised: false,
            completes: false,
            completed: None,
            found_at: None,
            finding: None,
            run: None,
            statistics: Statistics::default(),
        }
    }
}

impl<R> Outcome<R> {
    /// There is no answer.
    pub fn unknown(&mut self, why: Why) {
        self.verdict = Verdict::Unknown;
        self.why = Some(why);
    }

    /// Something is wrong within these bounds.
    pub fn wrong(&mut self, asked: Asked, finding: Finding, run: Option<R>) {
        self.verdict = Verdict::Unsafe;
        self.found_at = Some(asked);
        (self.finding, self.run) = (Some(finding), run);
    }

    /// Nothing is wrong, but the state that is asked for was not found.
    pub fn no_state(&mut self) {
        if self.cut || self.spent || self.promised {
            return self.unknown(Why::NoneWithinBounds);
        }
        self.verdict = Verdict::Unsafe;
        self.finding = Some(Finding::final_condition("no final state satisfies the condition"));
    }

    /// A solution was not confirmed.
    pub fn is_refused(&self) -> bool {
        matches!(self.why, Some(Why::Unconfirmed(_) | Why::Loose(_)))
    }

    /// The limit that ended the search.
    pub fn stop(&self) -> Option<StopReason> {
        match self.why {
            Some(Why::Limit(reason)) => Some(reason),
            _ => None,
        }
    }
}
