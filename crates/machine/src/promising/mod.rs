//! The promising machine: PS-RLX of `[AAGKV, 3]` with strong and standard consistency, bounded as in `[AAGKV, 4]`, and with the
//! release and acquire accesses of `[KHLVD]` beside the relaxed ones.
//!
//! | paper | here |
//! |---|---|
//! | timestamps, intervals, views, insertions | [`memory`], timestamps in canonical form |
//! | process relation, Fig. 2 | [`thread`] |
//! | consistency, 3 and 3.1 | [`certify`], future memories in [`future`] |
//! | the Promise rule | [`candidates`] |
//! | machine relation, bounded runs of 4 | [`search`] |
//! | all of it again, with the paper's timestamps | [`plain`], which replays what is reported |
//! | from a program to an answer, and runs told | [`mod@check`], [`confirm`] |
//! | runs that others have found | [`plan`] |
//!
//! Decided by section 3 where the paper is silent (`docs/adr/015` to `017`): consistency is asked after every step; certification
//! goes on past a failed assertion; a read of the message that a fence raised the view to switches no view; the
//! switches of certifications count at every context switch; other cells may be written freely while certifying.
//!
//! References: `[AAGKV]` P. A. Abdulla, M. F. Atig, A. Godbole, S. Krishna, V. Vafeiadis, Verification of C11 programs with
//! relaxed accesses;
//! `[KHLVD]` J. Kang, C.-K. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, A promising semantics for
//! relaxed-memory concurrency, POPL 2017.

pub mod candidates;
pub mod certify;
pub mod check;
pub mod confirm;
pub mod future;
pub mod memory;
pub mod plain;
pub mod plan;
pub mod prepare;
pub mod search;
pub mod thread;

pub use certify::Consistency;
pub use check::{Deepened, Options, check, deepen};
pub use search::{Act, Bounds, Move};
