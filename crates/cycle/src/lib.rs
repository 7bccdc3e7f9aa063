//! Litmus tests from cycles of relations between accesses.
//!
//! `PodWR Fre PodWR Fre` is store buffering: two threads that each write one location and read another, each read before the
//! other thread's write. A cycle says what a program would have to do to contradict an interleaving; whether it may is a
//! question to a memory model. [`parse`] reads a cycle, [`write()`] writes it as a test for one architecture, [`enumerate`]
//! makes all cycles of a kind.
//!
//! The names of edges are those that papers and the diy tools use.

mod cycle;
mod dialect;
mod edge;
mod emit;
pub mod enumerate;
mod name;
mod sketch;

pub use cycle::{Access, Cycle, from_edges, location_name, parse, parse_pool};
pub use dialect::{Dialect, Fence};
pub use edge::{Com, Dep, Dir, Edge, Kind, Note, Order, Scope, Size};
pub use emit::{Observe, write, write_sketch};
pub use name::{edges as edge_names, of as name};
pub use sketch::{Before, Sketch, Step};
