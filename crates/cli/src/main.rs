//! `fencepost`: can this concurrent program go wrong on this memory model?

mod args;
mod auto;
mod batch;
mod check;
mod cpp_flags;
mod explored;
mod litmus;
mod model;
mod progress;
mod prove;
mod revalidate;
mod show_models;
mod states;
mod story;
mod teller;
mod witness;

use args::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

/// Exit codes of all commands.
mod exit {
    /// Answered; for `litmus --compare`, without differences.
    pub const OK: u8 = 0;
    /// Differences from reference results.
    pub const DIFFERENT: u8 = 1;
    /// `check`: something goes wrong.
    pub const UNSAFE: u8 = 1;
    /// `check`: a limit was hit.
    pub const UNKNOWN: u8 = 2;
    /// Bad input.
    pub const BAD_INPUT: u8 = 3;
    /// A bug of ours.
    pub const INTERNAL: u8 = 4;
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!(
            "internal error: {panic}\nThis is a bug in fencepost, not in your input. Please report it with the input."
        );
        std::process::exit(i32::from(exit::INTERNAL));
    }));
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { exit::OK });
        }
    };
    let code = match &arguments.command {
        Command::Litmus(options) => batch::run(options),
        Command::Check(options) => check::run(options),
        Command::Reduce(options) => states::reduce(options),
        Command::Prove(options) => prove::run(options),
        Command::Models(options) => show_models::run(options),
    };
    ExitCode::from(code)
}
