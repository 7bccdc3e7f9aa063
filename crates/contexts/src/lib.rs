//! POWER with a bounded number of contexts, on a SAT solver.
//!
//! The pipeline: `ir::flat` unrolls and inlines each thread once; [`symbolic`] runs it with symbolic values (words over the graph
//! of `bmc`)
//! into guarded events; [`power`] puts the events into contexts of the POWER machine; the solver of `bmc` answers. [`mod@check`]
//! is all of that.
//!
//! Threads and steps are those of the flat program, which `machine::power` runs too: a solution is a run of that machine, and has
//! to be replayed
//! there. *Safe* holds for runs with at most that many contexts in which no loop goes back more often than the unroll bound says.

pub mod check;
pub mod power;
pub mod symbolic;

pub use check::{Finding, Options, Outcome, Size, Verdict, check, prove, states, states_up_to};
pub use fencepost_bmc::limits::{Limits, StopReason};
pub use power::{Execution, PowerRun, Rule};
pub use symbolic::Unsupported;
