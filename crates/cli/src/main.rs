//! `fencepost`: can this concurrent program go wrong on this memory model?

mod args;
mod batch;
mod litmus;
mod model;
mod show_models;

use args::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// Exit codes of all commands.
mod exit {
    /// Answered; for `litmus --compare`, without differences.
    pub const OK: u8 = 0;
    /// Differences from reference results.
    pub const DIFFERENT: u8 = 1;
    /// Bad input.
    pub const BAD_INPUT: u8 = 3;
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { exit::OK });
        }
    };
    let code = match &arguments.command {
        Command::Litmus(options) => batch::run(options),
        Command::Models(options) => show_models::run(options),
    };
    ExitCode::from(code)
}
