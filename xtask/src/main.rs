//! `cargo xtask campaign`: comparisons of engines that are too long for CI. CI runs seeded slices of them as tests.
//!
//!     cargo xtask campaign [PART...] [--every N] [--larger N] [--seconds S]
//!
//! The parts are `family` (every small program), `larger` (random ones with loops and calls) and `c` (the round trip of
//! emitted C); all of them if none is named. `--every N` takes every Nth program of the family, `--larger N` that many
//! random programs (5000), and `--seconds S` limits each search of the round trip (300). The exit code is 1 if any two
//! answers differ.
//!
//! `cargo xtask growth` measures programs whose cost says something; see `growth.rs`.
//!
//! `cargo xtask house` counts lines, public items and what is too long; see `house.rs`.
//!
//! `cargo xtask litmus-table FOLDER...` counts the litmus tests that are answered; see `litmus_table.rs`.
//!
//! `cargo xtask power` prints the tables of the operational POWER and compares its engines; see `power.rs`.
//!
//! `cargo xtask promising` prints those of the promising semantics, and `cargo xtask promising-family` compares its engines; see
//! `promising.rs` and `promising_family.rs`.
//!
//! `cargo xtask cbmc FOLDER` unpacks a CBMC for the tests of emitted code; see `cbmc.rs`.
//!
//! `cargo xtask csmith` compares random sequential C programs with the machine's C compiler; see `csmith.rs`.

mod cbmc;
mod csmith;
mod family;
mod growth;
mod house;
mod litmus_table;
mod outlive;
mod power;
mod promising;
mod promising_family;
mod round_trip;

use std::env::Args;
use std::iter::Skip;
use std::process::ExitCode;

/// What to run.
pub struct Options {
    parts: Vec<String>,
    every: usize,
    larger: usize,
    seconds: u64,
}

/// What a task is.
type Task = fn(Skip<Args>) -> ExitCode;

/// Every task but `campaign`.
const TASKS: [(&str, Task); 9] = [
    ("cbmc", cbmc::run),
    ("csmith", csmith::run),
    ("growth", growth::run),
    ("house", house::run),
    ("litmus-table", litmus_table::run),
    ("outlive", outlive::run),
    ("power", power::run),
    ("promising", promising::run),
    ("promising-family", promising_family::run),
];

const PARTS: [&str; 3] = ["family", "larger", "c"];

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    if args.next().as_deref() != Some("campaign") {
        let names: Vec<&str> = TASKS.iter().map(|(name, _)| *name).collect();
        return Err(format!("the tasks are campaign, {}", names.join(", ")));
    }
    let mut options = Options { parts: Vec::new(), every: 1, larger: 5000, seconds: 300 };
    while let Some(arg) = args.next() {
        let mut number =
            || args.next().and_then(|n| n.parse::<usize>().ok()).ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--every" => options.every = number()?.max(1),
            "--larger" => options.larger = number()?,
            "--seconds" => options.seconds = number()? as u64,
            part if PARTS.contains(&part) => options.parts.push(arg),
            _ => return Err(format!("`{arg}` is neither an option nor one of {}", PARTS.join(", "))),
        }
    }
    if options.parts.is_empty() {
        options.parts = PARTS.map(String::from).to_vec();
    }
    Ok(options)
}

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    if let Some((_, run)) = TASKS.iter().find(|(name, _)| *name == task) {
        return run(std::env::args().skip(2));
    }
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!(
                "error: {error}\nusage: cargo xtask campaign [PART...] [--every N] [--larger N] [--seconds S]"
            );
            return ExitCode::from(3);
        }
    };
    let mut differences = 0;
    for part in &options.parts {
        differences += match part.as_str() {
            "family" => family::family(&options),
            "larger" => family::larger(&options),
            _ => round_trip::round_trip(&options),
        };
    }
    println!("{differences} differences");
    ExitCode::from(u8::from(differences > 0))
}
