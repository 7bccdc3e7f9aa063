//! The operational model of POWER `[AABN17, sections 2 and 4]`, with speculation, cumulative fences and contexts.
//!
//! A process fetches the steps of its flat code in program order, past branches whose outcome is not known. What was
//! fetched is initialised and committed out of order, as dependencies and fences allow, and committed stores and fences are
//! propagated
//! to each other process one by one. A *context* is a sequence of steps by one process (propagating is a step of
//! the process whose store or fence it is); a run is `K`-bounded if it has at most `K` contexts, and *complete* when all that was
//! fetched is
//! committed and nothing can be propagated any more.
//!
//! * [`code`] prepares a program; `main` before it starts threads and after it has joined them runs alone, outside of all
//!   contexts.
//! * [`state`] is a configuration, [`rules`] are the premises of the rules of Fig. 7 and Table 2, one function each.
//! * [`machine`] is the `crate::machine::Machine` for the stateful search, with the reductions that its documentation argues
//!   for.
//! * `complete` says what an ended run is, [`faults`] what is wrong with it.
//! * [`plain`] does the rules one by one without any reduction: it replays what is reported, and is the oracle of the tests.
//! * [`schedule`] replays runs that other engines have found.
//! * [`follow`] finds the steps of an execution of another model.
//! * [`mod@check`] makes an answer of a search.
//!
//! Beyond the paper: `eieio` is a fence from stores to stores, and a store-conditional is a store that keeps the coherence order
//! free of
//! other processes' stores between what its load-reserve read and itself (S. Sarkar and others, PLDI 2012, states it by coherence
//! points).
//! Assertions order nothing here; the paper has them as branches. Where the paper needs an interpretation:
//! `docs/adr/018-power-machine.md`.
//!
//! Reference: `[AABN17]` P. A. Abdulla, M. F. Atig, A. Bouajjani, T. P. Ngo, Context-bounded analysis for POWER, TACAS 2017, and
//! its extended version.

mod accesses;
pub mod alone;
pub mod check;
pub mod code;
mod complete;
pub mod faults;
pub mod follow;
pub mod machine;
pub mod plain;
pub mod rules;
pub mod schedule;
pub mod state;

pub use check::{Options, check, prepare};
pub use code::PowerCode;
