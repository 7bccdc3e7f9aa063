//! What is reported about a file: the answer of an engine, or why there is none. Every format is made of these two.

use fencepost_answer::{Outcome, Severity, StopReason, Verdict};
use fencepost_diag::{Diagnostic, SourceMap, Span};

/// The answer about a file.
pub struct Report<'a> {
    /// The file as given.
    pub file: &'a str,
    /// The memory model.
    pub model: &'a str,
    /// The engine that answered.
    pub engine: &'static str,
    /// Why that engine, if the user did not choose it.
    pub picked: Option<&'a str>,
    /// That engine is not the one that is tried first: people are told.
    pub surprising: bool,
    /// The answer.
    pub outcome: &'a Outcome,
    /// The files that its spans are about.
    pub sources: &'a SourceMap,
    /// Warnings of the front end.
    pub warnings: &'a [Diagnostic],
    /// What to try next, if there is no verdict.
    pub advice: &'a [String],
    /// What was expected of the answer, if somebody said so.
    pub expectation: Option<Expectation>,
    /// Of each finding whether the baseline knows it, if there is one.
    pub known: Option<&'a [bool]>,
    /// Time it took.
    pub seconds: f64,
}

/// What was expected of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// A verdict, or the code of a finding.
    pub wanted: &'static str,
    /// Whether the answer is that.
    pub is_met: bool,
}

impl Report<'_> {
    /// Why a finding is no news, if it is none: somebody expects it, or the baseline knows it.
    pub fn excuse(&self, finding: usize) -> Option<&'static str> {
        let known = self.known.is_some_and(|known| known.get(finding) == Some(&true));
        match (known, self.expectation) {
            (true, _) => Some("known by the baseline"),
            (false, Some(Expectation { is_met: true, .. })) => Some("expected"),
            _ => None,
        }
    }

    /// Whether nothing of it is news: an answer as it was expected, or only findings that are known.
    pub fn is_excused(&self) -> bool {
        let wrong = |i: &usize| self.outcome.findings[*i].kind.severity() == Severity::Error;
        let mut errors = (0..self.outcome.findings.len()).filter(wrong).peekable();
        match (self.expectation, self.outcome.verdict) {
            (Some(expectation), _) => expectation.is_met,
            (None, Verdict::Unsafe) => errors.peek().is_some() && errors.all(|i| self.excuse(i).is_some()),
            (None, _) => false,
        }
    }

    /// Warnings for people, whatever the format: they go to standard error.
    pub fn rendered_warnings(&self) -> String {
        self.warnings.iter().map(|warning| self.sources.render(warning) + "\n").collect()
    }
}

/// Why there is no answer about a file.
pub struct Failed<'a> {
    /// The file as given.
    pub file: &'a str,
    /// The whole message for people.
    pub error: &'a str,
    /// The messages of the front end as data, if it was the front end that refused.
    pub diagnostics: &'a [Diagnostic],
    /// The files that their spans are about.
    pub sources: &'a SourceMap,
}

/// Exit codes of `check` and `prove`.
pub mod exit {
    /// Safe, within the bounds that the answer names.
    pub const SAFE: u8 = 0;
    /// Something goes wrong.
    pub const UNSAFE: u8 = 1;
    /// No answer.
    pub const UNKNOWN: u8 = 2;
    /// A bug of ours.
    pub const INTERNAL: u8 = 4;
}

/// The exit code for an answer. A bug of ours is one whatever else was found.
pub fn exit_code(outcome: &Outcome) -> u8 {
    match outcome.verdict {
        _ if outcome.stop_reason.as_ref().is_some_and(StopReason::is_bug) => exit::INTERNAL,
        Verdict::Safe => exit::SAFE,
        Verdict::Unsafe => exit::UNSAFE,
        Verdict::Unknown => exit::UNKNOWN,
    }
}

/// A place in a file, for people.
pub(crate) struct Position<'a> {
    pub file: &'a str,
    pub line: usize,
    pub column: usize,
}

/// Where a span begins; the empty file for what stands nowhere.
pub(crate) fn position(sources: &SourceMap, span: Span) -> Position<'_> {
    let (file, line, column) = sources.position(span.start).unwrap_or(("", 0, 0));
    Position { file, line, column }
}

/// A time with its unit.
pub fn show_seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
