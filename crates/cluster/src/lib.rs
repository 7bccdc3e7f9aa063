//! Explorations on many machines: the work items of `fencepost_explore`, and what came of them, in NATS JetStream.
//!
//! ```text
//! check --cluster ---- FENCEPOST_RUNS     what a run is: program, model, options, build      one message per run
//!       |                FENCEPOST_WORK     items, a work queue: each is one worker's            acknowledged when it has a
//!       result +--------------- FENCEPOST_RESULTS  what came of each item, and which items came of it   the first result counts
//! worker ------------- takes items, puts results and items
//! ```
//!
//! **Each item counts once.** A result is written under the name of its item, on the condition that there is none yet, so that of
//! two
//! workers that had the same item one wins. The result has the items that came of it in full, and they are put into the queue
//! after
//! that; whoever gets the item again, because a worker died in between, puts them there once more. Names are made of
//! the name of the parent and a number, so that what is in the queue twice is one item. A run is complete when every item
//! that a result names has a result: all that is known about a run is in the streams, and a coordinator that comes back
//! reads it.
//!
//! **Nobody is trusted.** What comes out of a stream is decoded as any input is, and findings are found again by whoever shows
//! them.
//!
//! Everything here that waits for the network is in this crate: callers see no futures.

mod connect;
mod coordinator;
mod measure;
mod news;
mod spec;
mod streams;
mod worker;

pub use connect::{Cluster, Login, connect};
pub use coordinator::{Asked, Ended, Status};
pub use spec::{Listed, is_name};
pub use worker::{Duty, NoSession, Sessions};
