//! Results of litmus tests in the text form of herd7, written and read.
//!
//! A block per test: `Test NAME Allowed`, the final states, `Ok` or `No`, the numbers of executions, the condition, and an
//! `Observation` that sums it up. Tests are known by name there, not by file.

use crate::litmus::{Answer, Holds, Verdict};
use fencepost_ir::Quantifier;
use std::fmt::Write;

/// The block of an answer; `condition` is its text in the test.
pub fn show(answer: &Answer, quantifier: Quantifier, condition: &str) -> String {
    let kind = match quantifier {
        Quantifier::Exists => "Allowed",
        Quantifier::NotExists => "Forbidden",
        Quantifier::ForAll => "Required",
    };
    let mut out = format!("Test {} {kind}\nStates {}\n", answer.name, answer.states.len());
    for state in &answer.states {
        let _ = writeln!(out, "{state}");
    }
    let holds = match answer.holds {
        Holds::Ok => "Ok",
        Holds::No => "No",
        Holds::Undef => "Undef",
    };
    let verdict = match answer.verdict {
        Verdict::Always => "Always",
        Verdict::Sometimes => "Sometimes",
        Verdict::Never => "Never",
    };
    let Answer { positive, negative, name, seconds, .. } = answer;
    let _ = writeln!(out, "{holds}\nWitnesses\nPositive: {positive} Negative: {negative}");
    for flag in &answer.flags {
        let _ = writeln!(out, "Flag {flag}");
    }
    // The numbers of an observation are those of executions that satisfy the proposition, and of those that do not.
    let (yes, no) =
        if quantifier == Quantifier::NotExists { (negative, positive) } else { (positive, negative) };
    let _ = writeln!(
        out,
        "Condition {condition}\nObservation {name} {verdict} {yes} {no}\nTime {name} {seconds:.2}\n"
    );
    out
}

/// A block that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The test.
    pub name: String,
    /// How often the proposition holds.
    pub verdict: Verdict,
    /// Whether the condition holds.
    pub holds: Holds,
    /// The final states, sorted.
    pub states: Vec<String>,
    /// Executions that satisfy the condition's body, and those that do not.
    pub counts: Option<(u64, u64)>,
}

/// Whether a text looks like results of herd7.
pub fn is_log(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("Test "))
}

/// Reads results; the error is the number of a line and what is wrong there.
pub fn read(text: &str) -> Result<Vec<Block>, (usize, String)> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut blocks = Vec::new();
    while let Some((number, line)) = lines.next() {
        let Some(rest) = line.strip_prefix("Test ") else {
            return Err((number, "a block that begins with `Test` is expected".into()));
        };
        let name = rest.rsplit_once(' ').map_or(rest, |(name, _)| name).to_string();
        let mut block =
            Block { name, verdict: Verdict::Never, holds: Holds::No, states: Vec::new(), counts: None };
        let mut observed = false;
        while let Some((number, line)) = lines.next_if(|(_, line)| !line.starts_with("Test ")) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("States") => {
                    let count: Option<usize> = words.next().and_then(|n| n.parse().ok());
                    let count = count.ok_or((number, "the number of states is expected".to_string()))?;
                    for _ in 0..count {
                        let (_, state) = lines.next().ok_or((number, "states are missing".to_string()))?;
                        block.states.push(state.trim().to_string());
                    }
                    block.states.sort();
                }
                Some("Ok") => block.holds = Holds::Ok,
                Some("No") => block.holds = Holds::No,
                Some("Undef") => block.holds = Holds::Undef,
                Some("Positive:") => {
                    let numbers: Vec<u64> = line.split_whitespace().filter_map(|w| w.parse().ok()).collect();
                    block.counts = <[u64; 2]>::try_from(numbers).ok().map(|[a, b]| (a, b));
                }
                Some("Observation") => {
                    observed = true;
                    block.verdict = match line.split_whitespace().rev().nth(2) {
                        Some("Always") => Verdict::Always,
                        Some("Sometimes") => Verdict::Sometimes,
                        Some("Never") => Verdict::Never,
                        _ => return Err((number, "Always, Sometimes or Never is expected".into())),
                    };
                }
                _ => {}
            }
        }
        if !observed {
            return Err((number, format!("the block of {} has no `Observation`", block.name)));
        }
        blocks.push(block);
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SB: &str = "Test SB Allowed\nStates 2\n0:EAX=0; 1:EAX=1;\n0:EAX=0; 1:EAX=0;\nOk\nWitnesses\n\
        Positive: 1 Negative: 1\nCondition exists (0:EAX=0 /\\ 1:EAX=0)\nObservation SB Sometimes 1 1\nTime SB 0.00\n\n";

    #[test]
    fn blocks_are_read() {
        let blocks = read(&SB.repeat(2)).expect("two blocks");
        assert_eq!(blocks.len(), 2);
        let Block { name, verdict, holds, states, counts } = &blocks[0];
        assert_eq!(
            (name.as_str(), *verdict, *holds, *counts),
            ("SB", Verdict::Sometimes, Holds::Ok, Some((1, 1)))
        );
        assert_eq!(states, &["0:EAX=0; 1:EAX=0;", "0:EAX=0; 1:EAX=1;"]);
        assert!(is_log(SB) && !is_log("{\"file\": 1}"));
    }

    #[test]
    fn what_is_no_block_is_named() {
        assert_eq!(read("States 2\n").map_err(|(line, _)| line), Err(1));
        assert_eq!(read("Test SB Allowed\nStates two\n").map_err(|(line, _)| line), Err(2));
        assert_eq!(read("Test SB Allowed\nOk\n").map_err(|(line, _)| line), Err(1));
    }
}
