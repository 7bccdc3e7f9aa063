//! Answers as plain data: the verdict and how far it holds, the run that shows a violation, the invariant that shows
//! its absence. Nothing here prints; `report` makes the answer of it that all engines give.

use crate::cube::Cube;
use crate::model::Model;
use crate::system::System;
pub use fencepost_answer::{Limit, StopReason, Verdict};
use fencepost_diag::{Diagnostic, Span};

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
    /// A read from memory of a cell for which a write of another process waits.
    pub missed: Option<Missed>,
}

/// A read that did not see a write which another process has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Who reads, counted from one.
    pub reader: u32,
    /// The cell.
    pub cell: String,
    /// What is read.
    pub value: String,
    /// Who has written, counted from one.
    pub writer: u32,
    /// What waits in its buffer.
    pub waiting: String,
}

/// How the invariant of a safe answer was checked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// Every cube, every transition: the invariant is inductive.
    Inductive,
    /// The same, of the system whose store buffers are counted: it can do whatever the given one can do.
    Counted,
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
    /// The declaration of the bad states that the run ends in.
    pub bad: Option<Span>,
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
