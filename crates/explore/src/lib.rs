//! Stateless model checking: all executions of a program under an axiomatic model, each one once.
//!
//! The pipeline inside this crate: [`lower`] makes [`code`] of the program, [`path`] collects what is static on a control-flow
//! path, [`interpret`] runs threads from access to access, [`graph`] is the partial execution, [`visit`] the
//! exploration itself, [`models`] the memory models it is told about by [`model`], [`collect`] what it finds.

mod atomicity;
mod cells;
mod checkpoint;
pub mod code;
mod codec;
pub mod collect;
pub mod control;
mod coverage;
pub mod debug;
mod early;
pub mod effect;
pub mod findings;
mod finish;
mod found;
pub mod graph;
pub mod interpret;
mod item;
mod ledger;
pub mod liveness;
pub mod lower;
mod memo;
pub mod memory;
pub mod model;
pub mod models;
mod paired;
pub mod path;
mod pieces;
mod progress;
mod races;
pub mod ranges;
mod report;
mod retrying;
mod revisit;
mod room;
pub mod row;
pub mod run;
mod segments;
mod session;
mod spinning;
mod stack;
mod symmetry;
mod view;
pub mod visit;
mod waiting;
mod watch;
pub mod watching;

pub use checkpoint::{Every, Keeping, NotKept, explore_keeping};
pub use codec::DecodeError;
pub use collect::{AccessId, Stats, Trace, Visitor};
pub use control::{Limits, Need, StopReason, bytes_in_use};
pub use coverage::Coverage;
pub use findings::{Action, Calls, Finding, FindingKind, Place, Step, headline};
pub use found::{Found, Located};
pub use item::{Binding, Handed, Item, Position};
pub use ledger::Ledger;
pub use lower::Unsupported;
pub use models::clause::Clause;
pub use progress::Progress;
pub use report::Report;
pub use row::RowForm;
pub use run::{Commits, Exploration, ModelName, Options, Retries, explore};
pub use session::{BUILD, Broken, Others, Part, Pause, Session};
pub use symmetry::Symmetry;
