//! Bounded model checking on a SAT solver.
//!
//! The pipeline inside this crate:
//!
//! ```text
//! ir::Program --symbolic::unroll--> Unrolled --an ordering half--> clauses --CaDiCaL--> a run, or none
//! ```
//!
//! * [`aig`]: an and-inverter graph with structural hashing; [`word`] and [`arithmetic`]: symbolic words on it, as short as
//!   their values allow; [`shape`]: what is known of a cell; `cnf`: its clauses; [`solver`]: CaDiCaL, or nothing in a build
//!   without the feature `sat`.
//! * [`symbolic`]: each thread unrolled and inlined once into guarded events. It knows nothing of what orders them; its
//!   documentation says what a half that does has to do.
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
pub mod power;
pub mod promising;
pub mod proof;
mod sc;
pub mod shape;
pub mod solver;
pub mod symbolic;
pub mod word;

pub use check::{Finding, Options, Outcome, Statistics, Unsupported, Verdict, check, final_states, prove};
pub use lift::{Mistake, Run, Scheduled};
pub use limits::{Limits, StopReason};
pub use solver::HAS_SOLVER;

#[cfg(not(feature = "sat"))]
use absent as sat;
#[cfg(feature = "sat")]
use cadical as sat;
