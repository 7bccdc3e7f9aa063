//! The text form of programs and executions: what `fencepost` dumps for debugging, and what tests compare.
//!
//! One line per instruction, each a word and its fields by name: `store addr=&0 value=%1 width=w32 ann=rel @12..20`.
//! Registers are `%n`, functions `#n`, labels `:n`, pointers `&object+offset`; `@a..b` is a source span, left out when
//! empty. `//` starts a comment. Printing and parsing are inverse to each other; bad text gives a [`Diagnostic`], and a
//! program that was parsed never names a register, label, function, thread or object that it does not have.
//!
//! Every type of the vocabulary implements [`Text`] once. To add an instruction, add a line to the table in
//! `program.rs`; to add a word to an enumeration, add it to the table in `words.rs`.

mod execution;
mod lexer;
mod parser;
mod program;
mod property;
mod scalars;
#[cfg(test)]
mod tests;
mod words;

pub use parser::{Parser, Text};

use crate::execution::Execution;
use crate::program::Program;
use fencepost_diag::Diagnostic;

/// The text of a program.
pub fn print_program(program: &Program) -> String {
    print(program)
}

/// The program that a text means.
pub fn parse_program(text: &str) -> Result<Program, Box<Diagnostic>> {
    parse(text)
}

/// The text of an execution.
pub fn print_execution(execution: &Execution) -> String {
    print(execution)
}

/// The execution that a text means.
pub fn parse_execution(text: &str) -> Result<Execution, Box<Diagnostic>> {
    parse(text)
}

fn print<T: Text>(value: &T) -> String {
    let mut out = String::new();
    value.print(&mut out);
    out
}

fn parse<T: Text>(text: &str) -> Result<T, Box<Diagnostic>> {
    let mut parser = Parser::new(text)?;
    let value = T::parse(&mut parser)?;
    parser.expect_end()?;
    Ok(value)
}
