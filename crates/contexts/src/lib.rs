//! POWER with a bounded number of contexts, on a SAT solver.
//!
//! The pipeline: `ir::flat` unrolls and inlines each thread once; [`symbolic`] runs it with symbolic values ([`mod@word`], over the graphs of [`aig`])
//! into guarded events; [`power`] puts the events into contexts of the POWER machine; [`solver`] makes
//! clauses and asks CaDiCaL; [`eval`] says what a solution means. [`mod@check`] is all of that.
//!
//! Threads and steps are those of the flat program, which `machine::power` runs too: a solution is a run of that machine, and has to be replayed
//! there. *Safe* holds for runs with at most that many contexts in which no loop goes back more often than the unroll bound says.

pub mod aig;
pub mod check;
pub mod eval;
pub mod power;
pub mod solver;
pub mod symbolic;
pub mod word;

pub use check::{Finding, Options, Outcome, Verdict, check, states};
pub use power::PowerRun;
pub use solver::{Limits, Size, Stop};
pub use symbolic::Unsupported;
