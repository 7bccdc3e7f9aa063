//! Results for people and for machines.
//!
//! * [`mod@report`]: what is reported about a file: an answer or a failure.
//! * [`mod@format`]: the output formats, each a file of its own.
//! * [`litmus`]: the answer to a litmus test, as a line of a table and as a JSON object.
//! * [`herd`]: answers to litmus tests in the text form of herd7.
//! * [`compare`]: how answers differ from reference results.
//! * [`events`]: events and executions in words.
//! * [`execution`]: an execution as a picture.
//! * [`side_by_side`]: tables with a column per model.
//! * `diff`: changes of the source as people exchange them.
//! * [`dot`]: one execution as a graph.
//! * [`graphml`]: a counterexample as a witness of the software verification competition.
//! * [`html`]: the whole answer as one page.
//! * [`picture`]: a counterexample as a graph and as a picture.

pub mod compare;
mod diff;
pub mod dot;
pub mod events;
pub mod execution;
pub mod format;
pub mod graphml;
pub mod herd;
pub mod html;
mod layout;
pub mod litmus;
pub mod picture;
pub mod report;
pub mod side_by_side;

pub use format::text;
