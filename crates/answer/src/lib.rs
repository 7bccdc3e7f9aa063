//! What every engine answers with, as data. Engines make an [`Outcome`] and print nothing; `report` makes text, JSON and
//! every other format of it, and knows no engine.
//!
//! * [`kind`]: the kinds of findings, one table: code, name, severity, meaning, advice, examples.
//! * `bound`: bounds that cut something, which make a *safe* a bounded one.
//! * `stop`: why there is no verdict; whose fault that is decides the exit code.
//! * [`trace`]: what happens in the execution that shows a finding, as data.
//! * [`picture`]: a counterexample as boxes and arrows.
//! * `outcome`: the answer itself. Places are spans of the source map of the program that was compiled.

mod bound;
pub mod kind;
mod outcome;
pub mod picture;
mod stop;
pub mod trace;

pub use bound::{Bound, BoundName};
pub use kind::{FindingKind, Severity};
pub use outcome::{
    Change, Coverage, Explanation, Finding, Line, Observed, Outcome, Place, Proof, Remedy, Scope, Statistics,
    Suggestion, Verdict,
};
pub use stop::{Limit, StopReason};
pub use trace::{Action, Event, Step};
