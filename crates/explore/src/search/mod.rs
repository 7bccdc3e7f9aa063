//! The search: every consistent execution once. [`visit`] adds the next event, [`revisit`] lets a write that comes late be
//! read by a read that was there before, [`finish`] looks at what no thread can extend.
//!
//! *May assume*: what `models::model` says of a memory model (commit-before is closed and acyclic, what is added
//! coherence-maximally is consistent), and what `threads` keeps. The reductions may refuse a branch, or put a thread to
//! sleep; each says why nothing is lost.
//!
//! *Must keep*: nothing is remembered between branches but what can be computed again, so that every subtree can be explored
//! by itself; a graph is left as it was found ([`graph::invariants`](graph) are checked in debug builds); the order of visits
//! is a function of the program, the model and the options, since a position in it is how work is named.

pub mod atomicity;
pub mod finish;
pub mod graph;
pub mod ranges;
pub mod revisit;
pub mod row;
pub mod stack;
pub mod visit;
