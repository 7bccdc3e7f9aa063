//! Reference results, and how an answer differs from them.

use crate::litmus::{Answer, Holds, Verdict};
use serde::Deserialize;

/// A row of a file of reference results.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    /// Relative to the folder of the file of results.
    pub file: String,
    /// The model.
    pub model: String,
    /// How often the proposition holds, if that is known.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Whether the condition holds.
    pub holds: Holds,
    /// The final states, sorted, if they are known.
    #[serde(default)]
    pub states: Option<Vec<String>>,
    /// Whether the model says that the program has a data race, if that is known. Race or not, the rest is about its executions.
    #[serde(default)]
    pub race: Option<bool>,
    /// Executions that satisfy the condition's body.
    pub positive: Option<u64>,
    /// Executions that do not.
    pub negative: Option<u64>,
}

/// Reads a file of reference results, one JSON object per line; an error names the line.
pub fn read_expected(text: &str) -> Result<Vec<Expected>, (usize, String)> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| serde_json::from_str(line).map_err(|error| (number, error.to_string())))
        .collect()
}

/// What an answer says differently: verdict, holds and states, which decide, and counts, which do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Differences in verdict, holds and states.
    pub decisive: Vec<String>,
    /// Differences in the numbers of executions.
    pub counts: Option<String>,
}

/// Compares an answer with its row.
pub fn difference(expected: &Expected, answer: &Answer) -> Difference {
    let mut found = Difference::default();
    if let Some(verdict) = expected.verdict.filter(|verdict| *verdict != answer.verdict) {
        found.decisive.push(format!("verdict {:?}, expected {verdict:?}", answer.verdict));
    }
    if expected.holds != answer.holds {
        found.decisive.push(format!("holds {:?}, expected {:?}", answer.holds, expected.holds));
    }
    let races = answer.flags.iter().any(|flag| flag == "data-race");
    if expected.race.is_some_and(|race| race != races) {
        found.decisive.push(format!("{} data race, against expectation", if races { "a" } else { "no" }));
    }
    let known = expected.states.iter().flatten();
    for state in known {
        if answer.states.binary_search(state).is_err() {
            found.decisive.push(format!("missing state {state}"));
        }
    }
    for state in &answer.states {
        if expected.states.as_ref().is_some_and(|states| !states.contains(state)) {
            found.decisive.push(format!("unexpected state {state}"));
        }
    }
    if let (Some(positive), Some(negative)) = (expected.positive, expected.negative)
        && (positive, negative) != (answer.positive, answer.negative)
    {
        found.counts = Some(format!(
            "{} positive and {} negative executions, expected {positive} and {negative}",
            answer.positive, answer.negative
        ));
    }
    found
}
