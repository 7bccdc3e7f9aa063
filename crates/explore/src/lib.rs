//! Stateless model checking: all executions of a program under an axiomatic model, each one once.
//!
//! The pipeline inside this crate: [`lower`] makes [`code`] of the program, [`path`] collects what is static on a control-flow
//! path, [`interpret`] runs threads from access to access, [`graph`] is the partial execution, [`visit`] the
//! exploration itself, [`models`] the memory models it is told about by [`model`], [`collect`] what it finds.

pub mod code;
pub mod collect;
pub mod control;
pub mod debug;
pub mod effect;
pub mod findings;
mod finish;
pub mod graph;
pub mod interpret;
pub mod liveness;
pub mod lower;
pub mod memory;
pub mod model;
pub mod models;
pub mod path;
mod progress;
mod races;
pub mod ranges;
mod retrying;
mod revisit;
pub mod row;
pub mod run;
mod segments;
mod spinning;
mod stack;
mod view;
pub mod visit;
mod waiting;

pub use collect::{AccessId, Stats, Trace, Visitor};
pub use control::{Limits, StopReason, bytes_in_use};
pub use findings::{Action, Calls, Finding, FindingKind, Place, Step, headline};
pub use lower::Unsupported;
pub use models::clause::Clause;
pub use progress::Progress;
pub use row::RowForm;
pub use run::{Exploration, ModelName, Options, Retries, explore};
