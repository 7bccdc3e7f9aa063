//! Answers as plain data.

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
    /// `--timeout`
    Time(u64),
    /// `--max-memory`
    Memory(u64),
    /// More pending reads in one cube than fit.
    Events,
}
