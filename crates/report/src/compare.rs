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
    /// How often the proposition holds.
    pub verdict: Verdict,
    /// Whether the condition holds.
    pub holds: Holds,
    /// The final states, sorted.
    pub states: Vec<String>,
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
    if expected.verdict != answer.verdict {
        found.decisive.push(format!("verdict {:?}, expected {:?}", answer.verdict, expected.verdict));
    }
    if expected.holds != answer.holds {
        found.decisive.push(format!("holds {:?}, expected {:?}", answer.holds, expected.holds));
    }
    for state in &expected.states {
        if answer.states.binary_search(state).is_err() {
            found.decisive.push(format!("missing state {state}"));
        }
    }
    for state in &answer.states {
        if !expected.states.contains(state) {
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
