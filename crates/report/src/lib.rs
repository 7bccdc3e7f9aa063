//! Results for people and for machines.
//!
//! * [`litmus`]: the answer to a litmus test, as a line of a table and as a JSON object.
//! * [`compare`]: how answers differ from reference results.
//! * [`dot`]: one execution as a graph.

pub mod compare;
pub mod dot;
pub mod litmus;
