//! Who does the search, how far, and where what was found goes.
//!
//! [`run`] makes an exploration: it prepares the program ([`preparation`]), starts workers ([`queue`], [`limits`]), and
//! starts over when they find out something that they should have known. [`item`] is work as data; [`session`] explores
//! items, [`checkpoint`] keeps what is left in a file, [`report`] is what came of an item elsewhere, [`ledger`] adds it all
//! up, in the order of the search ([`segments`]).
//!
//! *May assume*: subtrees are independent, and a position leads to the same graph whoever goes there, as long as program,
//! options, build and preparation are the same ([`item::Binding`]).
//!
//! *Must keep*: counts, states, findings and the execution that a finding shows are those of one worker, however many there
//! were and however often they were interrupted. What is not explored is said: a limit that was hit is a stop reason.

pub mod caution;
pub mod cells;
pub mod checkpoint;
pub mod codec;
pub mod control;
pub mod found;
pub mod item;
pub mod ledger;
pub mod limits;
pub mod options;
pub mod preparation;
pub mod progress;
pub mod queue;
pub mod report;
pub mod run;
pub mod segments;
pub mod session;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a worker that panicked has left is as good as ever: all is changed at one go.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
