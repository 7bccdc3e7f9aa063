//! Compiling for a target: C11 atomics and locks become the loads, stores, fences and read-modify-writes of a machine,
//! `ir` to `ir`, by the published mappings.
//!
//! | file | target | mapping after |
//! |---|---|---|
//! | `tso` | x86, as TSO | Batty, Owens, Sarkar, Sewell, Weber, POPL 2011 |
//! | `pso` | PSO | our own, argued in `docs/adr/007-mapping-pso.md` |
//! | `power` | POWER | McKenney, Silvera, N2745; Batty and others, POPL 2012; Sarkar and others, PLDI 2012 |
//! | `armv8` | AArch64 | what GCC and LLVM emit; Podkopaev, Lahav, Vafeiadis, POPL 2019 |
//!
//! A target is a table (`recipe::Convention`): for each order the fences around an access, the annotation that is
//! left on it and what follows a read. `rewrite` applies the table to a function, `locks` says what mutexes are, and `llsc`
//! splits read-modify-writes
//! where the machine has no single instruction for them (`docs/adr/006-mapping-llsc.md`). `options` are the choices where
//! the literature has two mappings.
//!
//! What compiled programs keep and lose:
//! * Plain and `volatile` accesses stay as they are, and so do fences that are machine fences already (inline asm).
//! * Every other order is gone, except what AArch64 instructions carry. A consume is an acquire.
//! * Locks become what a correct lock gives: an acquiring read-modify-write that waits, and a releasing store.
//! * Creating and joining threads stays: the library orders everything before with everything after on any target,
//!   and the engine that runs the program gives that order.
//! * A weak compare-exchange can fail for no reason only where it is made of load- and store-exclusive.
//!
//! The correctness claim, which `tests/mapping.rs` checks: every final state of the compiled program under the machine's
//! model is one of the source under RC11. RC11 forbids cycles of `po | rf`, which POWER and ARMv8 show for relaxed
//! accesses; there the claim is about RC11 without that axiom, or holds as it stands with the option `branch`
//! (`docs/adr/008-mapping-thin-air.md`).

mod armv8;
mod llsc;
mod locks;
mod options;
mod power;
mod pso;
mod recipe;
mod rewrite;
mod tso;

pub use options::{Acquires, Fetches, Mapping, RelaxedLoads, Rmws, ScStores, Syncs, Target, UnknownMapping};

use fencepost_ir::Program;
use recipe::Convention;

/// The program as compiled for a target. Registers of the source keep their numbers; those that the mapping needs come
/// behind them. Spans are those of the instruction that was compiled.
pub fn compile(program: &Program, target: Target, choice: Mapping) -> Program {
    let convention: &dyn Convention = match target {
        Target::Tso => &tso::Tso { sc_stores: choice.sc_stores },
        Target::Pso => &pso::Pso,
        Target::Power => {
            &power::Power { syncs: choice.syncs, fetches: choice.fetches, relaxed: choice.relaxed }
        }
        Target::Armv8 => {
            &armv8::Armv8 { acquires: choice.acquires, rmws: choice.rmws, relaxed: choice.relaxed }
        }
    };
    let functions = program.functions.iter().map(|f| rewrite::function(f, convention)).collect();
    Program { functions, ..program.clone() }
}
