//! Bounded model checking on a SAT solver.
//!
//! The pipeline inside this crate:
//!
//! ```text
//! ir::Program --symbolic::unroll--> Unrolled --an Ordering--> clauses --Query--> a run, or none
//! ```
//!
//! * [`aig`]: an and-inverter graph with structural hashing; [`word`] and [`arithmetic`]: symbolic words on it, as short as
//!   their values allow; [`shape`]: what is known of a cell; `cnf`: its clauses; [`solver`]: CaDiCaL, or nothing in a build
//!   without the feature `sat`.
//! * [`symbolic`]: each thread unrolled and inlined once into guarded events. It knows nothing of what orders them; its
//!   documentation says what a half that does has to do.
//! * [`query`]: what such a half is (`Ordering`), and how it is asked with growing bounds; [`outcome`]: what comes of that;
//!   [`mod@check`], [`promising`] and [`power`] are three orders, the crate `axiom` has the fourth.
//! * [`limits`]: time and memory.

#[cfg(not(feature = "sat"))]
mod absent;
pub mod aig;
pub mod arithmetic;
#[cfg(feature = "sat")]
mod cadical;
pub mod check;
mod cnf;
pub mod finals;
pub mod formula;
pub mod lift;
pub mod limits;
pub mod outcome;
pub mod power;
pub mod promising;
pub mod proof;
pub mod query;
mod sc;
pub mod shape;
pub mod solver;
pub mod symbolic;
pub mod word;

pub use check::{Options, check, final_states, prove};
pub use lift::{Run, Scheduled};
pub use limits::{Limits, StopReason};
pub use outcome::{Asked, Failed, Finding, Outcome, Statistics, Unsupported, Verdict, Why};
pub use solver::HAS_SOLVER;

#[cfg(not(feature = "sat"))]
use absent as sat;
#[cfg(feature = "sat")]
use cadical as sat;
