//! What a front end makes of a file: a program that knows its language and its sources. Nobody else looks at the name
//! of a file to find out what it is.

use crate::program::Program;
use fencepost_diag::{Diagnostic, SourceMap};

/// The language that a program was read as. It decides what the program means where languages differ: whether it is
/// compiled by a mapping, whether standing still is a mistake, who may unlock a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// C11 with pthreads.
    C,
    /// The papers' small language.
    Fp,
    /// A litmus test: the instructions of a machine, or C without a library.
    Litmus,
}

impl Language {
    /// Whether a state in which nothing can move is a mistake unless all threads have ended.
    pub fn must_end(self) -> bool {
        self == Language::C
    }

    /// Whether atomics and locks become instructions of the machine under a hardware model. What is written as
    /// instructions already stays as it is.
    pub fn is_compiled(self) -> bool {
        self != Language::Litmus
    }
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What it was read as.
    pub language: Language,
    /// The program. That of C has one thread, which runs `main` and starts the others.
    pub program: Program,
    /// All files that were read; the spans of the program are offsets in this map, and those of the file that was
    /// asked for are offsets in that file.
    pub sources: SourceMap,
    /// Warnings, in the order in which they were found.
    pub warnings: Vec<Diagnostic>,
    /// What the program could meet and was left out.
    pub left_out: Vec<LeftOut>,
}

/// What a program could meet and was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// Waits for condition variables that end without a signal.
    WakeUps,
    /// Time that passes.
    Time,
    /// What functions without a body do.
    Bodies,
    /// That volatile accesses may be torn and reordered by compilers.
    Volatile,
}

impl LeftOut {
    /// As a part of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            LeftOut::WakeUps => "no wake-up without a signal",
            LeftOut::Time => "clocks stand still",
            LeftOut::Bodies => "functions without a body return any number and do nothing else",
            LeftOut::Volatile => "volatile accesses taken for relaxed atomic ones",
        }
    }
}

/// Why a program could not be compiled.
#[derive(Clone, Debug)]
pub struct Failure {
    /// At least one error; spans are offsets in `sources`.
    pub diagnostics: Vec<Diagnostic>,
    /// All files that were read.
    pub sources: SourceMap,
}

impl Failure {
    /// All messages as text, without colours.
    pub fn render(&self) -> String {
        self.diagnostics.iter().map(|d| self.sources.render(d)).collect::<Vec<_>>().join("\n\n")
    }
}
