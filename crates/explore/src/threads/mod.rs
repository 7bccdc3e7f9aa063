//! What a thread does next.
//!
//! A program of `ir` becomes operations ([`lower`], [`code`]); [`interpret`] runs a thread from one event to the next; [`path`] has what is
//! the same for every visit of an event on the same way through the program, [`memory`] the cells that events are of.
//!
//! *May assume*: nobody asks for the memory model's opinion here. A thread is told what its events gave it (the value read, the choice made),
//! and nothing else of the other threads.
//!
//! *Must keep*: a thread that is told the same does the same, in whichever graph it stands. Its next event, the cell and the value follow from
//! its state before, from the event and from what that gave it; the search comes back to states in any order and compares nothing. An event's
//! number is its thread's first plus its index in program order. Where events are committed out of order, whether an event exists must not
//! depend on a value that may still change: such things are choices (`docs/EXPLORATION.md`, "What exists by choice").

pub mod code;
pub mod coverage;
pub mod effect;
pub mod interpret;
pub mod liveness;
pub mod lower;
pub mod memory;
pub mod names;
pub mod path;
pub mod pieces;
