//! What is wrong with a finished execution, and what is shown of it.
//!
//! [`judge`] says what is wrong, [`races`] where data races are looked for, [`view`] shows a finished graph as steps with
//! places, [`collect`] gathers counts, final states and findings of one worker.
//!
//! *May assume*: the graph is consistent and no thread can extend it.
//!
//! *Must keep*: what is said of an execution is a matter of that execution alone, not of when or by whom it was found; cells
//! and objects are numbered as a worker meets them, and such a number is never shown.

pub mod collect;
pub mod judge;
pub mod races;
pub mod view;
