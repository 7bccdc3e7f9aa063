//! Parameterized systems: `.cub` files, proved for any number of processes under SC, TSO and PSO.
//!
//! The crate follows Conchon, Declerck, Zaidi: "Parameterized Model Checking Modulo Explicit Weak Memory Models" (cited as
//! Cubicle-W). The pipeline, and where the paper's parts are:
//!
//! | step | modules | paper |
//! |---|---|---|
//! | read and check a file | `lexer`, `parser`, `ast`, `typing`, `normal`, `lower`, `system` | section 3, description language |
//! | cubes and events | `cube`, `literal`, `memory`, `coherence`, `model` | section 3, language and states; section 2, `ghb` |
//! | decide | `solver`, `fourier` | the SMT solver |
//! | search | `backward` (BWD), `pre` (PRE, `rffr`, `extend_ghb`), `init`, `subsume`, `cases` | section 4 |
//! | more of it | `brab`, `oracle`, `parts`, `parallel` | section 4 |
//! | search without events | `counted` | - |
//! | believe | `machine`, `replay`, `trace`, `recheck`, `certificate`, `smtlib` | - |
//! | answer | `prove`, `turns`, `limits`, `outcome`, `report`, `words`, `picture`, `show` | - |
//!
//! [`prove`] is the whole of it. Nothing here prints. Deviations from the paper are in `docs/adr/009` to `013`.

mod ast;
mod backward;
mod brab;
mod cases;
mod certificate;
mod coherence;
pub mod counted;
pub mod cube;
mod fourier;
mod init;
mod lexer;
mod limits;
pub mod literal;
pub mod lower;
pub mod machine;
pub mod memory;
pub mod model;
mod normal;
mod oracle;
mod outcome;
mod parallel;
pub mod parser;
mod parser_expr;
mod parts;
mod picture;
mod pre;
mod prove;
pub mod recheck;
mod replay;
mod report;
mod show;
pub mod smtlib;
pub mod solver;
mod subsume;
pub mod system;
mod trace;
mod turns;
mod typing;
mod words;

pub use outcome::{Missed, Outcome, Progress, Recheck, StopReason, TraceStep, Verdict};
pub use prove::{Options, prove};
