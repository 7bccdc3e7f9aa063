//! Code-to-code reductions to SC, IR to IR, and plain SC programs as C.
//!
//! * [`tso`]: both translations of `[ABP]` M. F. Atig, A. Bouajjani, G. Parlato, Getting rid of store-buffers in TSO
//!   analysis, CAV 2011: at most k + 1 rounds per thread, or stores that wait at most k rounds. [`layout`] says where the
//!   copies of the shared variables stand, [`helpers`] has the procedures of the paper's figures 2 to 5.
//! * [`enough`]: when a bound of [`tso`] keeps no run away.
//! * [`power`]: the translation of `[AABN17]` from the POWER machine with a bounded number of contexts, repaired.
//! * [`promising`]: the translation of `[AAGKV]` from the promising semantics, bounded by promises and view switches.
//! * [`start`]: threads that `main` starts first, as threads that run from the start.
//! * [`c`]: an SC program as C with pthreads, for outside tools.
//! * [`weak`]: a program with its memory orders and fences as C11, which is what a litmus test becomes.

pub mod c;
pub mod enough;
pub mod helpers;
pub mod layout;
pub mod power;
pub mod promising;
mod ranges;
pub mod sequential;
pub mod start;
pub mod tso;
pub mod weak;

pub use c::print_c;
pub use enough::is_enough;
pub use power::reduce_power;
pub use promising::reduce_promising;
pub use sequential::print_sequential;
pub use start::{Moved, moved, start_at_once};
pub use tso::{Bound, Options, Origins, reduce_tso, reduce_with_origins};
pub use weak::{Origin, print_weak};

use fencepost_diag::Span;

/// Something that a reduction does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// Where.
    pub span: Span,
}
