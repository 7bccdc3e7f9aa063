//! Results for people and for machines.
//!
//! * [`litmus`]: the answer to a litmus test, as a line of a table and as a JSON object.
//! * [`outcome`]: the answer about a program, its findings and the execution that shows them.
//! * [`compare`]: how answers differ from reference results.
//! * [`dot`]: one execution as a graph.
//! * [`picture`]: a counterexample as a graph and as a picture.

pub mod compare;
pub mod dot;
pub mod litmus;
pub mod outcome;
pub mod picture;
