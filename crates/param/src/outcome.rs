//! Answers as plain data: the verdict and how far it holds, the run that shows a violation, the invariant that shows
//! its absence. Nothing here prints; `report` turns it into text and JSON.

use crate::cube::Cube;
use crate::model::Model;
use crate::system::System;
use fencepost_diag::Diagnostic;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No instance reaches a bad state.
    Safe,
    /// An instance does; the trace shows it.
    Unsafe,
    /// Neither was found; the stop reason says why.
    Unknown,
}

impl Verdict {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        }
    }

    /// The exit code of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Safe => 0,
            Verdict::Unsafe => 1,
            Verdict::Unknown => 2,
        }
    }
}

/// How far the search is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Nodes processed.
    pub nodes: usize,
    /// Nodes waiting.
    pub queue: usize,
    /// Depth of the current node.
    pub depth: usize,
    /// Most processes of a recent cube.
    pub processes: u8,
}

/// Why the search stopped before an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// `--max-nodes`
    Nodes(usize),
    /// `--timeout`, in seconds
    Time(u64),
    /// `--max-memory`, in megabytes
    Memory(u64),
    /// More pending reads or processes in one cube than the search can hold.
    CubeSize,
    /// Traces were found that no instance has: universal guards are over-approximated.
    Spurious(usize),
    /// Another way to search is tried; never part of an answer.
    Turn,
    /// The invariant did not pass the independent check: a bug of ours, reported rather than hidden.
    Recheck(String),
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StopReason::Nodes(n) => write!(f, "the limit of {n} nodes was reached"),
            StopReason::Time(s) => write!(f, "the time limit of {s} s was reached"),
            StopReason::Memory(m) => write!(f, "the memory limit of {m} MB was reached"),
            StopReason::CubeSize => {
                write!(f, "a cube has more pending reads or processes than the search can hold")
            }
            StopReason::Spurious(n) => write!(
                f,
                "the search found {n} trace(s) that no instance has (universal guards are over-approximated), \
                 and no real one"
            ),
            StopReason::Turn => write!(f, "another way to search is tried"),
            StopReason::Recheck(why) => write!(f, "the invariant did not pass the independent check: {why}"),
        }
    }
}

/// One step of a run.
#[derive(Clone, Debug)]
pub struct TraceStep {
    /// `init`, a transition with its processes, or a flush.
    pub action: String,
    /// Who acts, counted from one.
    pub process: Option<u32>,
    /// Reads, writes and fences.
    pub events: Vec<String>,
    /// All cells after the step, weak ones as in memory.
    pub values: Vec<(String, String)>,
    /// The buffer of each process, oldest entry first.
    pub buffers: Vec<Vec<String>>,
}

/// How the invariant of a safe answer was checked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// Every cube, every transition: the invariant is inductive.
    Inductive,
    /// On the explicit machines of small instances only (coherence is a choice: PSO with several writers).
    Instances(u8),
    /// Switched off.
    Skipped,
}

/// A node of the search, for pictures of it.
#[derive(Clone, Debug)]
pub struct SearchNode {
    /// The later node.
    pub parent: Option<usize>,
    /// Transition and processes on the edge.
    pub label: String,
    /// The cube.
    pub cube: String,
    /// `visited`, `subsumed`, `deleted`, `queued`, `reached`.
    pub status: &'static str,
}

/// Counts.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Nodes whose pre-images were computed.
    pub nodes: usize,
    /// Nodes made.
    pub made: usize,
    /// Depth of the deepest node.
    pub depth: usize,
    /// Most processes of a cube, or of the run that was found.
    pub processes: u8,
    /// Restarts of invariant inference.
    pub restarts: usize,
    /// Approximations in the final search.
    pub approximations: usize,
    /// Wall-clock time.
    pub seconds: f64,
}

/// The whole answer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Safe, unsafe or unknown.
    pub verdict: Verdict,
    /// How far it holds.
    pub scope: String,
    /// Under which model.
    pub model: Model,
    /// Why there is no answer.
    pub stop_reason: Option<StopReason>,
    /// Counts.
    pub statistics: Statistics,
    /// The run that reaches a bad state.
    pub trace: Vec<TraceStep>,
    /// Cubes that no reachable state satisfies, together closed under pre-images: the invariant is their negation.
    pub invariant: Vec<Cube>,
    /// How the invariant was checked.
    pub recheck: Recheck,
    /// Processes of the oracle, if invariants were inferred.
    pub inference: Option<u8>,
    /// Warnings about the input.
    pub warnings: Vec<Diagnostic>,
    /// The search, if asked for.
    pub search: Vec<SearchNode>,
    /// The system, for printing.
    pub system: System,
}
