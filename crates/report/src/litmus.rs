//! The answer to a litmus test.

use crate::format::VERSION;
use crate::report::{position, show_seconds};
use fencepost_answer::{Change, Outcome, Suggestion};
use fencepost_diag::SourceMap;
use fencepost_ir::Quantifier;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// How often the proposition holds, over all consistent executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// In every one.
    Always,
    /// In some.
    Sometimes,
    /// In none.
    Never,
}

impl Verdict {
    /// From the number of executions and how many of them satisfy the proposition.
    pub fn new(satisfying: u64, executions: u64) -> Verdict {
        match satisfying {
            0 => Verdict::Never,
            n if n == executions => Verdict::Always,
            _ => Verdict::Sometimes,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Verdict::Always => "Always",
            Verdict::Sometimes => "Sometimes",
            Verdict::Never => "Never",
        }
    }
}

/// Whether the quantified condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holds {
    /// It does.
    Ok,
    /// It does not.
    No,
    /// The program is undefined, for example because it has a data race.
    Undef,
}

impl Holds {
    /// What the verdict means for a quantifier.
    pub fn new(quantifier: Quantifier, verdict: Verdict, undefined: bool) -> Holds {
        let holds = match quantifier {
            Quantifier::Exists => verdict != Verdict::Never,
            Quantifier::NotExists => verdict == Verdict::Never,
            Quantifier::ForAll => verdict == Verdict::Always,
        };
        match (undefined, holds) {
            (true, _) => Holds::Undef,
            (false, true) => Holds::Ok,
            (false, false) => Holds::No,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Holds::Ok => "Ok",
            Holds::No => "No",
            Holds::Undef => "Undef",
        }
    }
}

/// The answer to one test under one model: one JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// [`crate::format::VERSION`].
    pub version: u32,
    /// The file as given.
    pub file: String,
    /// The test's name in its header.
    pub name: String,
    /// The model.
    pub model: String,
    /// How often the proposition holds.
    pub verdict: Verdict,
    /// Whether the condition holds.
    pub holds: Holds,
    /// The final states, sorted.
    pub states: Vec<String>,
    /// Executions that satisfy the condition's body.
    pub positive: u64,
    /// Executions that do not.
    pub negative: u64,
    /// Explorations that did not become an execution.
    pub blocked: u64,
    /// Explorations that the unroll bound cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Flags that the model raised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// What would make the behaviour impossible, if that was asked for and it is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<Suggested>,
    /// Time it took.
    pub seconds: f64,
    /// What the condition asks.
    #[serde(skip)]
    pub quantifier: Quantifier,
    /// The condition as it stands in the test.
    #[serde(skip)]
    pub condition: String,
}

/// Which test, under which model.
pub struct About<'a> {
    /// The file as given.
    pub file: &'a str,
    /// The test's name in its header.
    pub name: &'a str,
    /// The model.
    pub model: &'a str,
}

impl Answer {
    /// The answer that an outcome gives. What it observed is there if it came to its end.
    pub fn new(about: &About<'_>, quantifier: Quantifier, outcome: &Outcome, seconds: f64) -> Answer {
        let observed = outcome.observed.clone().unwrap_or_default();
        let executions = outcome.statistics.executions.unwrap_or(0);
        let verdict = Verdict::new(observed.satisfying, executions);
        let rest = executions - observed.satisfying;
        let (positive, negative) = match quantifier {
            Quantifier::NotExists => (rest, observed.satisfying),
            _ => (observed.satisfying, rest),
        };
        Answer {
            version: VERSION,
            file: about.file.into(),
            name: about.name.into(),
            model: about.model.into(),
            verdict,
            holds: Holds::new(quantifier, verdict, observed.undefined),
            states: observed.states,
            positive,
            negative,
            blocked: outcome.statistics.blocked,
            cut: outcome.statistics.cut,
            flags: observed.flags,
            suggestion: None,
            seconds,
            quantifier,
            condition: String::new(),
        }
    }
}

/// A suggestion with its places.
#[derive(Clone, Debug, Serialize)]
pub struct Suggested {
    /// All of them together make the behaviour impossible; none if nothing of the kind does.
    pub changes: Vec<SuggestedChange>,
    /// How often the test was run for it.
    pub runs: u64,
}

/// A change at a place.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct SuggestedChange {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub text: String,
    pub from: String,
    pub to: String,
}

impl Suggested {
    /// With the places that the changes have in these sources.
    pub fn new(suggestion: &Suggestion, sources: &SourceMap) -> Suggested {
        let change = |change: &Change| {
            let at = position(sources, change.span);
            SuggestedChange {
                file: at.file.into(),
                line: at.line,
                column: at.column,
                text: sources.expression(change.span).trim().into(),
                from: change.from.clone(),
                to: change.to.clone(),
            }
        };
        Suggested { changes: suggestion.changes.iter().map(change).collect(), runs: suggestion.runs }
    }
}

/// The suggestion of an answer, for people; what is already so needs none.
pub fn show_suggestion(answer: &Answer) -> String {
    let Answer { model, quantifier, .. } = answer;
    let goal = if *quantifier == Quantifier::ForAll { "always so" } else { "impossible" };
    let Some(Suggested { changes, runs }) = &answer.suggestion else {
        let never = answer.verdict == Verdict::Never && *quantifier != Quantifier::ForAll;
        let always = answer.verdict == Verdict::Always && *quantifier == Quantifier::ForAll;
        let already = (never || always) && answer.holds != Holds::Undef;
        return match already {
            true => format!("    {goal} under {model} as it is\n"),
            false => "    no suggestion was found in time\n".into(),
        };
    };
    if changes.is_empty() {
        return format!(
            "    no fence and no ordering makes it {goal} under {model}: with the strongest ones at all places it is \
                not (checked)\n"
        );
    }
    let mut out = format!(
        "    {goal} under {model} with these changes, of which none can be left out or be weaker ({runs} runs):\n"
    );
    for SuggestedChange { file, line, column, text, from, to } in changes {
        let _ = writeln!(out, "      {file}:{line}:{column}: {from} -> {to}: {text}");
    }
    out
}

/// Final states that are shown of a test without an answer.
const SHOWN_STATES: usize = 20;

/// Why there is no answer, and what was found so far.
pub fn stopped(outcome: &Outcome) -> String {
    let mut text = String::from("unknown");
    if let Some(reason) = &outcome.stop_reason {
        let _ = write!(text, ": {reason}");
    }
    let Some(observed) = &outcome.observed else { return text };
    let _ = write!(
        text,
        "; so far {} executions, {} of them satisfy the condition, {} final states",
        outcome.statistics.executions.unwrap_or(0),
        observed.satisfying,
        observed.states.len()
    );
    for state in observed.states.iter().take(SHOWN_STATES) {
        let _ = write!(text, "\n    {state}");
    }
    if observed.states.len() > SHOWN_STATES {
        let _ = write!(text, "\n    and {} more", observed.states.len() - SHOWN_STATES);
    }
    text
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The width of the name column for these names.
pub fn name_width<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).clamp(4, 48)
}

/// The head of the table; a narrow one has no counts.
pub fn table_head(width: usize, narrow: bool) -> String {
    let head = format!("{:width$}  {:6} {:9} {:5}", "test", "model", "verdict", "holds");
    match narrow {
        true => format!("{head} {:>10}", "time"),
        false => format!(
            "{head} {:>6} {:>9} {:>9} {:>8} {:>10}",
            "states", "positive", "negative", "blocked", "time"
        ),
    }
}

/// A line of the table.
pub fn table_line(answer: &Answer, width: usize, narrow: bool) -> String {
    let Answer { name, model, states, positive, negative, blocked, .. } = answer;
    let (verdict, holds, time) = (answer.verdict.name(), answer.holds.name(), show_seconds(answer.seconds));
    let mut line = format!("{name:width$}  {model:6} {verdict:9} {holds:5}");
    let _ = match narrow {
        true => write!(line, " {time:>10}"),
        false => write!(line, " {:>6} {positive:>9} {negative:>9} {blocked:>8} {time:>10}", states.len()),
    };
    if answer.cut > 0 {
        let _ = write!(line, "  cut {}", answer.cut);
    }
    for flag in &answer.flags {
        let _ = write!(line, "  flag {flag}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_follows_the_quantifier() {
        let all = [Verdict::Always, Verdict::Sometimes, Verdict::Never];
        let row = |q| all.map(|v| Holds::new(q, v, false));
        assert_eq!(row(Quantifier::Exists), [Holds::Ok, Holds::Ok, Holds::No]);
        assert_eq!(row(Quantifier::NotExists), [Holds::No, Holds::No, Holds::Ok]);
        assert_eq!(row(Quantifier::ForAll), [Holds::Ok, Holds::No, Holds::No]);
        assert_eq!(Holds::new(Quantifier::Exists, Verdict::Never, true), Holds::Undef);
    }

    #[test]
    fn verdict_counts_executions() {
        assert_eq!(Verdict::new(0, 0), Verdict::Never);
        assert_eq!(Verdict::new(2, 2), Verdict::Always);
        assert_eq!(Verdict::new(1, 2), Verdict::Sometimes);
    }
}
