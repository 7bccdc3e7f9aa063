//! Stateless model checking: all executions of a program under an axiomatic model, each one once.
//!
//! The rooms of this crate, in the order of the data. Each says what it may assume and what it must keep.
//!
//! | room | what it answers |
//! |---|---|
//! | `threads` | what does a thread do next? |
//! | `search` | which partial executions are visited? |
//! | `models` | which of them does the memory model allow? |
//! | `reductions` | which of them need not be visited? |
//! | `findings` | what is wrong with a finished one? |
//! | `work` | who does it, how far, and where does what was found go? |
//!
//! `docs/EXPLORATION.md` has the algorithm and the arguments, `docs/ARCHITECTURE.md` the files of each room.

mod findings;
mod models;
mod reductions;
mod search;
mod threads;
mod work;

pub use findings::collect::{AccessId, Stats, Trace, Visitor};
pub use findings::judge::{Calls, Finding, FindingKind, Place};
pub use models::clause::Clause;
pub use reductions::symmetry::Symmetry;
pub use reductions::{Reduction, Reductions};
pub use search::row::RowForm;
pub use threads::coverage::Coverage;
pub use threads::lower::Unsupported;
pub use threads::native::{At, Cell, Do, Given, Maker, Past, SITE, Source, Step as NativeStep, Wanted};
pub use work::checkpoint::{Every, Keeping, NotKept, explore_keeping};
pub use work::codec::DecodeError;
pub use work::found::{Found, Located};
pub use work::item::{Binding, Handed, Item, Position};
pub use work::ledger::Ledger;
pub use work::limits::{Limits, StopReason, bytes_in_use};
pub use work::options::{ModelName, Options};
pub use work::preparation::StartOver;
pub use work::progress::Progress;
pub use work::report::Report;
pub use work::run::{Exploration, explore, explore_native};
pub use work::session::{BUILD, Broken, Others, Part, Pause, Session};
