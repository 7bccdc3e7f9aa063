//! Bounds that the user chose, or that were chosen for them, and that cut something.

use fencepost_diag::Span;
use std::fmt;

/// What is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BoundName {
    /// How often the back edge of a loop is taken.
    Unroll,
    /// Stores in one buffer.
    Buffer,
    /// Rounds of each thread.
    Rounds,
    /// Rounds that a store waits.
    Age,
    /// Contexts of a run.
    Contexts,
    /// Promises plus view switches.
    Promising,
    /// Promises.
    Promises,
    /// View switches.
    Views,
    /// Values of a choice, or of the memory.
    Domain,
    /// Processes of a parameterized system.
    Processes,
}

impl BoundName {
    /// As in `safe up to unroll 8`, and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            BoundName::Unroll => "unroll",
            BoundName::Buffer => "buffer",
            BoundName::Rounds => "rounds",
            BoundName::Age => "age",
            BoundName::Contexts => "contexts",
            BoundName::Promising => "bound",
            BoundName::Promises => "promises",
            BoundName::Views => "views",
            BoundName::Domain => "domain",
            BoundName::Processes => "processes",
        }
    }
}

/// A bound that cut something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Which.
    pub name: BoundName,
    /// Its value.
    pub value: u64,
    /// What it cut, where that is known: loops.
    pub places: Vec<Span>,
}

impl fmt::Display for Bound {
    /// As in `nothing is wrong with at most 10 contexts and an unroll bound of 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            BoundName::Unroll => write!(f, "an unroll bound of {}", self.value),
            BoundName::Promising => write!(f, "a bound of {}", self.value),
            BoundName::Age => write!(f, "an age of {}", self.value),
            name => write!(f, "at most {} {}", self.value, name.name()),
        }
    }
}

impl Bound {
    /// A bound that does not say what it cut.
    pub fn new(name: BoundName, value: impl Into<u64>) -> Bound {
        Bound { name, value: value.into(), places: Vec::new() }
    }
}
