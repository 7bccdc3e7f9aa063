//! Counterexamples in words: from an execution or a run to a sentence, steps and a picture.
//!
//! [`teller`] has the names of a program, [`story`] the steps of an execution and [`runs`] those of a machine, [`fold`] leaves
//! out
//! what repeats and [`idle`] finds reads that nobody needs; [`cause`] finds the cycle that a weak model allows, [`waiting`] who
//! waits for what,
//! [`signals`] whom signals woke, and [`sentence`] says what went wrong and why. [`words`] has the words for events and orders.

pub mod cause;
pub mod fold;
pub mod headline;
pub mod idle;
pub mod runs;
pub mod runs_as_lines;
pub mod sentence;
pub mod signals;
pub mod story;
pub mod teller;
pub mod waiting;
pub mod weak;
pub mod words;
