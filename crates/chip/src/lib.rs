//! Litmus tests on the processor of this machine.
//!
//! A model says what may happen; this says what does. [`program`] writes a test in assembly as a C program whose threads run
//! the test's own instructions, many times and at the same time; [`build`] has the machine's C compiler make it, and [`run`]
//! counts the final states. What was never seen may happen all the same: only what a model forbids and the chip shows is an
//! answer.
//!
//! The idea, and most of what makes rare states likely (locations in random order, threads that meet before each run), is
//! that of litmus7 [Alglave, Maranget, Sarkar and Sewell, Litmus: running tests against hardware, TACAS 2011].

mod aarch64;
mod program;
mod run;
mod x86;

pub use program::program;
pub use run::{Build, Limits, Seen, build, run};

use fencepost_litmus::Arch;
use std::fmt;

/// Why a test does not run here.
#[derive(Clone, PartialEq, Debug)]
pub enum Refused {
    /// Tests of another machine.
    OtherMachine {
        /// What the test is for.
        wanted: &'static str,
    },
    /// A language is no machine.
    NoAssembly,
    /// An instruction cannot be given to the assembler as it is.
    Instruction {
        /// As it is written.
        text: String,
        /// Why not.
        why: &'static str,
    },
    /// A test needs something that there is no room for.
    Test(&'static str),
    /// Threads that never run at the same time show nothing.
    OneCore,
    /// There is no C compiler of that name.
    NoCompiler(String),
    /// The compiler or the assembler did not take it, and said why.
    Compiler(String),
    /// A file could not be written, or the test not be started.
    System(String),
    /// It did not end, or ended otherwise than by itself.
    Lost(&'static str),
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::OtherMachine { wanted } => {
                write!(f, "this is a test for {wanted}, and this machine is {}", here())
            }
            Refused::NoAssembly => {
                f.write_str("this is a test in C, and only tests in assembly are run on the machine")
            }
            Refused::Instruction { text, why } => write!(f, "`{text}` cannot be run: {why}"),
            Refused::Test(why) => write!(f, "the test cannot be run: {why}"),
            Refused::OneCore => f.write_str(
                "this process has one core, and threads show something only if they run at the same time",
            ),
            Refused::NoCompiler(name) => write!(f, "the C compiler `{name}` cannot be started"),
            Refused::Compiler(said) => {
                write!(f, "the C compiler does not take the test\n{}", said.trim_end())
            }
            Refused::System(what) => f.write_str(what),
            Refused::Lost(how) => write!(f, "the test {how}, and what it saw is lost"),
        }
    }
}

/// The name of this machine, as messages call it.
pub fn here() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "AArch64",
        other => other,
    }
}

/// Whether tests of an architecture run on this machine.
pub fn runs_here(arch: Arch) -> bool {
    match arch {
        Arch::X86 | Arch::X86_64 => std::env::consts::ARCH == "x86_64",
        Arch::AArch64 => std::env::consts::ARCH == "aarch64",
        Arch::Ppc | Arch::Arm | Arch::RiscV | Arch::C => false,
    }
}
