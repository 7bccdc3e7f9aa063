//! Memory models. Each is one small file that says what differs from the others: which later events of its process a
//! plain write is ordered before, and whether writes to one cell become visible in the order in which they were
//! issued. Everything else (reads are ordered before all later events of their process; fences and read-modify-writes
//! before and after everything of their process) is common to SC, TSO and PSO.
//!
//! Soundness of the backward search rests on these answers; the store-buffer machine in `machine` does not use them.

mod pso;
mod sc;
mod tso;

pub use pso::Pso;
pub use sc::Sc;
pub use tso::Tso;

/// Kinds of events of a process, as far as program order cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Reads only.
    Read,
    /// Writes only: may be buffered.
    Write,
    /// A fence or a locked read-modify-write.
    Fence,
}

/// What the backward search asks a memory model.
pub trait MemoryModel: Sync {
    /// Whether a plain write is `ghb`-before every later event of that kind of its process (`ppo` and `fence`).
    fn write_before(&self, later: EventKind) -> bool;

    /// Whether `co` may be taken to follow the order in which transitions fire. True when `po | rf | co` is acyclic in
    /// every execution; otherwise each pair of writes is a choice, and coherence per variable must be checked too.
    fn coherence_follows_firing(&self) -> bool;
}

/// The names of the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

impl Model {
    /// All models, strongest first.
    pub const ALL: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    /// The model with that name.
    pub fn by_name(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }

    /// What the search asks.
    pub fn memory(self) -> &'static dyn MemoryModel {
        match self {
            Model::Sc => &Sc,
            Model::Tso => &Tso,
            Model::Pso => &Pso,
        }
    }
}
