//! Can this concurrent program go wrong on this memory model? As a command, and as a library: a program in, an [`Outcome`]
//! out.
//!
//! ```
//! # fn main() -> Result<(), String> {
//! let text = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
//!     atomic_int x, y; int a, b;\n\
//!     void *left(void *u) { atomic_store_explicit(&x, 1, 0); a = atomic_load_explicit(&y, 0); return 0; }\n\
//!     void *right(void *u) { atomic_store_explicit(&y, 1, 0); b = atomic_load_explicit(&x, 0); return 0; }\n\
//!     int main(void) { pthread_t t, u; pthread_create(&t, 0, left, 0); pthread_create(&u, 0, right, 0);\n\
//!     pthread_join(t, 0); pthread_join(u, 0); assert(a || b); }";
//! let outcome = fencepost::Check::new("buffers.c", text).model("tso").run()?;
//! assert_eq!(outcome.verdict, fencepost::Verdict::Unsafe);
//! for explanation in &outcome.explanations {
//!     println!("{}", explanation.sentence);
//! }
//! # assert!(outcome.explanations[0].sentence.contains("left wrote `x` = 1"));
//! # Ok(())
//! # }
//! ```

mod advice;
mod args;
mod as_c;
mod as_litmus;
mod baseline;
mod batch;
mod check;
mod chip;
mod compare;
mod compile_commands;
mod cpp_flags;
mod drawing;
mod engine;
mod expected;
mod explain;
mod facade;
mod generate;
mod input;
mod keeping;
mod litmus;
mod litmus_promising;
mod model;
mod print;
mod progress;
mod project;
mod prove;
#[cfg(feature = "cluster")]
mod remote;
#[cfg(not(feature = "cluster"))]
#[path = "no_cluster.rs"]
mod remote;
mod revalidate;
mod shell;
mod show_models;
mod suggest;
mod system_headers;
mod tell;
mod telling;
mod terminal;
mod user_model;
mod wakeups;
mod within;
mod witness;

#[doc(hidden)]
pub use facade::assert_answer;
pub use facade::{Answer, Check, Error, Litmus, Mistake, Prove};
pub use fencepost_answer::{Outcome, Verdict};

use args::{Arguments, Command, LitmusTool};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use std::process::ExitCode;

/// Exit codes of all commands; those of a verdict are in `report`.
mod exit {
    /// Answered; for `litmus --compare`, without differences.
    pub const OK: u8 = 0;
    /// Differences from reference results.
    pub const DIFFERENT: u8 = 1;
    /// Bad input.
    pub const BAD_INPUT: u8 = 3;
    pub use fencepost_report::report::exit::INTERNAL;
}

/// Runs the command line.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        print::err(&format!(
            "internal error: {panic}\nThis is a bug in fencepost, not in your input. Please report it with the input.\n"
        ));
        std::process::exit(i32::from(exit::INTERNAL));
    }));
    let arguments = match parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { exit::OK });
        }
    };
    terminal::choose(arguments.color);
    let code = match &arguments.command {
        Command::Litmus(options) => match &options.tool {
            None if options.write_as.is_some() => as_c::run(options),
            None => batch::run(options),
            Some(LitmusTool::Gen(options)) => generate::run(options),
            Some(LitmusTool::Run(options)) => chip::run(options),
        },
        Command::Check(options) => check::run(options),
        Command::Compare(options) => compare::run(options),
        Command::Reduce(options) => reduce(options),
        Command::Prove(options) => prove::run(options),
        Command::Explain(options) => explain::run(options),
        Command::Schema => {
            print::out(fencepost_report::format::SCHEMA);
            exit::OK
        }
        Command::Models(options) => show_models::run(options),
        Command::Worker(options) => remote::worker(options),
        Command::Runs(options) => remote::runs(options),
        Command::Completions(options) => shell::completions(options),
        Command::Man(options) => shell::man(options),
    };
    ExitCode::from(code)
}

/// The command line, with the names of the options that stand on it: what is not given may be ignored.
fn parse() -> Result<Arguments, clap::Error> {
    parse_words(std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// The same for other words; the first is the name of the program.
fn parse_words(words: Vec<String>) -> Result<Arguments, clap::Error> {
    let command = Arguments::command();
    let words = cpp_flags::sorted_out(words);
    let matches = command.clone().try_get_matches_from(words)?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    if let (Command::Check(options) | Command::Compare(options), Some((name, matches))) =
        (&mut arguments.command, matches.subcommand())
    {
        options.given = given(&command, name, matches);
    }
    Ok(arguments)
}

/// The long names of the options that were given to a command.
fn given(command: &clap::Command, name: &str, matches: &ArgMatches) -> Vec<String> {
    let Some(command) = command.find_subcommand(name) else { return Vec::new() };
    let arguments = command.get_arguments().filter(|argument| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    arguments.filter_map(|argument| Some(argument.get_long()?.to_string())).collect()
}

/// Runs `fencepost reduce`.
fn reduce(options: &args::ReduceArgs) -> u8 {
    match engine::write_reduced(options) {
        Ok(()) => exit::OK,
        Err(trouble) => {
            print::err(&(trouble.error + "\n"));
            exit::BAD_INPUT
        }
    }
}
