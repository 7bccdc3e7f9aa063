//! All executions of a small program by brute force: the oracle that the explorer is tested against.
//!
//! The method is that of herd-like simulators, in three steps that share no code with any engine:
//! 1. `interpret`: each thread is run by itself; a load may return any value that some store may write to its location,
//!    a join any result of the thread. The values start as the initial ones and grow with what the traces store, and so
//!    do the threads that are started and their arguments and results.
//! 2. `combine`: one trace per thread, every `rf` whose values agree, every total `co` per location.
//! 3. The model judges each candidate.
//!
//! Values: after `k` rounds of step 1 every value is known that a chain of `k` stores, each computed from a load of the
//! one before, can make. An execution without a cycle of value dependencies has no longer chain than it has stores,
//! starts and ends of threads, so the rounds end there, although `x = x + 1` in two threads would go on for ever. Cyclic
//! explanations (values out of thin air) are candidates as far as their values are among these.
//!
//! [`enumerate`] gives the executions themselves, as litmus tests need them; [`summarise`] counts those of a C program
//! and says what is wrong with it (`findings`). [`replay`] rebuilds one execution from its reads-from and coherence, and
//! [`confirm`] checks a counterexample that an engine found.
//!
//! Not supported, and refused: atomic sections.

mod access;
mod combine;
mod confirm;
mod events;
mod findings;
mod interpret;
mod key;
mod live;
mod pieces;
mod replay;
mod run;
mod scopes;
pub mod sequential;
mod world;

pub use combine::{enumerate, summarise, thread_fence};
pub use confirm::{Rebuilt, Recorded, Refused, confirm, confirm_within};
pub use findings::{Claim, Problem, ProblemKind, Site};
pub use key::{AccessId, Key};
pub use replay::replay;

use fencepost_ir::{Execution, FinalCondition, Location, Observable, Span, Value, Width};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions in one run of a thread.
    pub steps: usize,
    /// Traces of one thread.
    pub traces: usize,
    /// Candidate executions, over all choices of traces.
    pub candidates: u64,
    /// Time from the start.
    pub time: Option<Duration>,
    /// Stop when this becomes true.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 10_000, traces: 20_000, candidates: 5_000_000, time: None, interrupt: None }
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The program uses something that this enumerator does not know.
    Unsupported {
        /// What.
        what: &'static str,
        /// Where.
        span: Span,
    },
    /// There are too many of these.
    Limit(&'static str),
    /// The time was up.
    Time,
    /// Someone asked for it.
    Interrupted,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Unsupported { what, .. } => write!(f, "the naive enumerator does not support {what}"),
            Stop::Limit(what) => write!(f, "the naive enumerator gave up: too many {what}"),
            Stop::Time => write!(f, "the naive enumerator gave up: out of time"),
            Stop::Interrupted => write!(f, "the naive enumerator was interrupted"),
        }
    }
}

impl std::error::Error for Stop {}

/// One consistent, complete execution.
#[derive(Clone, Debug)]
pub struct NaiveExecution {
    /// Events and relations.
    pub execution: Execution,
    /// Final registers, per thread.
    pub registers: Vec<Vec<Value>>,
    /// Final value of every cell, zero-extended, by location.
    pub memory: Vec<(Location, Width, Value)>,
    /// Failed assertions and other findings, thread by thread.
    pub failures: Vec<String>,
    /// Flags that the model raised.
    pub flags: Vec<String>,
    /// The model says that the program is undefined.
    pub undefined: bool,
    /// What tells it from all other executions of the program.
    pub key: Key,
}

impl NaiveExecution {
    /// What stands in several cells that make a location.
    fn whole(&self, location: Location, width: Width) -> Value {
        let mut whole = 0;
        for &(cell, _, value) in &self.memory {
            let inside = location.offset..location.offset + width.bytes();
            if cell.object == location.object && inside.contains(&cell.offset) {
                whole |= value.0 << (8 * (cell.offset - location.offset));
            }
        }
        Value(whole)
    }

    /// The final state as a condition sees it.
    pub fn state(&self, condition: &FinalCondition) -> Vec<Value> {
        let observe = |o: &Observable| match *o {
            Observable::Register { thread, reg } => self.registers[thread.0 as usize][reg.0 as usize],
            Observable::Memory { object, offset, width } => {
                let location = Location { object, offset };
                let cell = self.memory.iter().find(|(l, _, _)| *l == location);
                match cell {
                    Some(&(_, cell, _)) if cell < width => width.sign_extend(self.whole(location, width)),
                    _ => cell.map_or(Value::ZERO, |&(_, _, value)| width.sign_extend(value)),
                }
            }
        };
        condition.observed.iter().map(observe).collect()
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The consistent, complete executions, in a fixed order; each once.
    pub executions: Vec<NaiveExecution>,
    /// Consistent executions that end in an `assume` that does not hold.
    pub blocked: u64,
    /// Consistent executions that reach the loop bound.
    pub cut: u64,
    /// Candidates that were judged, whole or in part.
    pub candidates: u64,
}

/// The executions of a C program in numbers, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Consistent executions in which every thread ends.
    pub executions: u64,
    /// Consistent executions in which some thread does not.
    pub blocked: u64,
    /// Those of them that reach the loop bound, which are not among the blocked.
    pub cut: u64,
    /// What is wrong with some execution, each once, sorted.
    pub claims: Vec<Claim>,
    /// Candidates that were judged, whole or in part.
    pub candidates: u64,
}

impl Summary {
    /// Whether one may see something otherwise; see [`Claim::disputed`].
    pub fn is_disputed(&self) -> bool {
        self.claims.iter().any(|claim| claim.disputed)
    }
}
