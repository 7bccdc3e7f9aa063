//! Operational machines, and a stateful search over any machine.
//!
//! The pipeline inside this crate: [`code`] prepares a program (what may be forgotten is said by `ir::live_registers`),
//! `step` runs one thread over its [`local`] configuration, [`buffers`] puts threads and memory together to the SC, TSO and
//! PSO machines, `symmetry` makes one state of those that differ only in which thread is where, [`search`] visits all states
//! of any `machine` and keeps them in a `store`, [`plain`] replays what was found, `run` describes it, [`guided`] makes a run
//! of the source program from one of a reduced program, [`stepper`] follows it once more and shares nothing with the search
//! but the IR, and [`mod@check`] turns it into an [`Outcome`], for any [`Checkable`] machine. `bounded` says whether buffers
//! are bounded at all.
//!
//! Loops are not unrolled. When the reachable states are finite, *safe* without bounds is a proof.
//!
//! Reference: `[ABP]` M. F. Atig, A. Bouajjani, G. Parlato, Getting rid of store-buffers in TSO analysis, CAV 2011.

pub mod alone;
mod bounded;
pub mod buffers;
pub mod check;
pub mod code;
mod config;
pub mod guided;
mod intern;
pub mod local;
mod machine;
pub mod plain;
pub mod power;
pub mod promising;
mod run;
pub mod search;
mod step;
pub mod stepper;
mod store;
mod symmetry;

pub use check::{Checkable, Checked, Options, check, check_machine, find};
pub use code::Unsupported;
pub use config::{Config, Model};
pub use fencepost_answer::{Outcome, Verdict};
pub use run::Run;
pub use search::{Progress, StopReason};

use fencepost_ir::Program;

/// Checks a program on the machine of that name, within the bounds of `options`; `None` if there is no such machine. This is
/// the list of machines: the registry of models names them.
pub fn check_on(
    machine: &str,
    program: &Program,
    options: &Options<'_>,
) -> Option<Result<Checked, Unsupported>> {
    let model = Model::from_name(machine)?;
    Some(check(program, &Options { config: Config { model, ..options.config }, ..*options }))
}
