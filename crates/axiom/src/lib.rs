//! Programs under any axiomatic memory model, on a SAT solver: `rf` and `co` are variables of a formula, data are symbols.
//!
//! ```text
//! ir::Program --bmc::symbolic--> events --base--> rf, co, po, ... as literals --gates--> the axioms of a cat file as clauses
//!             --CaDiCaL--> an execution in which something goes wrong, or none within the unroll bound
//! ```
//!
//! * [`base`]: events and the relations that every model starts from; `pairs`: relations as literals.
//! * `bounds`: what may be in a relation, and who asks; [`gates`]: a model's operations; `closure`: closures; `acyclic`:
//!   that there is no cycle.
//! * `lives`: accesses to objects that are not there any more, or not yet.
//! * `chains`: redundant clauses about cells that only read-modify-writes write.
//! * [`mod@check`]: asks, and says how far the answer holds; `witness`: what the solver found, as steps of threads.
//!
//! The same document that describes how it works has the proofs of what is left out: `docs/AXIOM.md`.

mod acyclic;
pub mod base;
mod bounds;
mod chains;
pub mod check;
mod closure;
pub mod gates;
mod lives;
mod pairs;
mod witness;

pub use check::{Options, Refused, Wrong, check};
pub use gates::{Unsupported, is_supported};
