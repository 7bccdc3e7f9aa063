//! The papers' small language (`.fp`): `docs/LANG.md` is its one page of documentation.
//!
//! [`parse`] reads a program, [`print()`] writes any [`Program`] of the IR as flat code with labels, and `parse` reads
//! that back to the same IR (spans apart).

mod body;
mod expr;
mod lexer;
mod parser;
mod print;
mod property;
mod words;

pub use print::print;

use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_ir::{Compiled, Failure, Language, Program};

/// The program that a text means; its name is left empty unless the text gives one.
pub fn parse(text: &str) -> Result<Program, Box<Diagnostic>> {
    let mut parser = parser::Parser::new(text)?;
    parser.file()?;
    Ok(parser.program)
}

/// The program in a file, with its source.
pub fn compile(file: &SourceFile) -> Result<Compiled, Failure> {
    let mut sources = SourceMap::default();
    sources.add(file.clone());
    match parse(&file.text) {
        Ok(program) => Ok(Compiled {
            language: Language::Fp,
            program,
            sources,
            warnings: Vec::new(),
            left_out: Vec::new(),
        }),
        Err(error) => Err(Failure { diagnostics: vec![*error], sources }),
    }
}
