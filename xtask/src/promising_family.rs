//! `cargo xtask promising-family [PART] [--random N] [--first N] [--every N] [--bound K] [--promises P]`: engines of the
//! promising semantics
//! against each other.
//!
//! | part | what is compared |
//! |---|---|
//! | `encoding` | states of machine and encoding within each bound up to K (4), without promises and with at most P (1; `any`) |
//! | `bound` | where the encoding says that K bounds nothing, its states with those of the machine without K |
//! | `assertions` | verdicts of machine and encoding on random programs with an assertion |
//! | `translation` | final states of the machine and of the translation to SC on the SC machine |
//!
//! The programs are those of two threads with at most four instructions in total, or N random larger ones. Programs on which the
//! machine does not
//! end in 20 s are left out and counted. The exit code is 1 if any two answers differ.

#[path = "../../crates/bmc/tests/support/promising.rs"]
mod support;

use fencepost_machine::promising::Bounds;
use fencepost_machine::{Model, Options as SearchOptions, check};
use fencepost_reduce::promising::{Options as Reduction, reduce_promising, straighten};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;
use support::Compared;

struct Options {
    part: String,
    random: Option<u64>,
    first: usize,
    every: usize,
    bound: u16,
    /// Nothing: as many as K.
    promises: Option<u16>,
}

const PARTS: [&str; 4] = ["encoding", "bound", "assertions", "translation"];

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let part = PARTS[0].to_owned();
    let mut options = Options { part, random: None, first: 0, every: 1, bound: 4, promises: Some(1) };
    while let Some(arg) = args.next() {
        let mut next = || args.next().ok_or(format!("{arg} needs a number"));
        let number = |text: String| text.parse::<usize>().map_err(|_| format!("`{text}` is no number"));
        match arg.as_str() {
            "--random" => options.random = Some(number(next()?)? as u64),
            "--first" => options.first = number(next()?)?,
            "--every" => options.every = number(next()?)?.max(1),
            "--bound" => options.bound = number(next()?)? as u16,
            "--promises" => {
                let most = next()?;
                options.promises = if most == "any" { None } else { Some(number(most)? as u16) };
            }
            part if PARTS.contains(&part) => options.part = part.to_owned(),
            _ => return Err(format!("`{arg}` is neither an option nor one of {}", PARTS.join(", "))),
        }
    }
    Ok(options)
}

/// Machine and translation at each bound.
fn translated(text: &str, most: u16) -> Result<Compared, String> {
    let program = fencepost_lang::parse(text).map_err(|_| "does not parse")?;
    for bound in 0..=most {
        for promises in 0..=bound.min(2) {
            let bounds = Bounds { total: Some(bound), promises: Some(promises), ..Bounds::default() };
            let Some(machine) = support::by_machine(&program, bounds) else { return Ok(Compared::Skipped) };
            let reduction =
                Reduction { bound: u32::from(bound), promises: u32::from(promises), without: None };
            let reduced = straighten(&program, 1)
                .and_then(|straight| reduce_promising(&straight, &reduction))
                .map_err(|e| format!("{text}: {e:?}"))?;
            let reached =
                check(&reduced, &SearchOptions::new(Model::Sc)).map_err(|e| format!("{text}: {e:?}"))?;
            let states: BTreeSet<_> = reached.final_states.into_iter().collect();
            if machine != states {
                return Err(format!(
                    "{text}\nK = {bound}, {promises} promises: the machine has {machine:?}, the translation {states:?}"
                ));
            }
        }
    }
    Ok(Compared::Agree)
}

fn compare(options: &Options) -> usize {
    let programs: Box<dyn Iterator<Item = String>> = match (options.part.as_str(), options.random) {
        ("assertions", count) => Box::new((0..count.unwrap_or(5000)).filter_map(support::asserting)),
        (_, Some(count)) => Box::new((0..count).map(support::random)),
        (_, None) => Box::new(support::family()),
    };
    let (bound, start) = (options.bound, Instant::now());
    let (mut agreed, mut skipped, mut differences, mut unconfirmed) = (0, 0, 0, 0);
    for text in programs.skip(options.first).step_by(options.every) {
        let both = [Some(0), options.promises];
        let promises = if options.promises == Some(0) { &both[..1] } else { &both };
        let compared = match options.part.as_str() {
            "bound" => support::needs_no_bound(&text, bound),
            "assertions" => {
                let most: Vec<u16> = promises.iter().map(|most| most.unwrap_or(bound)).collect();
                support::same_verdicts(&text, bound, &most)
            }
            "translation" => translated(&text, bound),
            _ => support::agrees(&text, bound, promises),
        };
        match compared {
            // Too many states are those that nobody confirms: no difference.
            Ok(Compared::Agree | Compared::TooMany) => agreed += 1,
            Ok(Compared::Skipped) => skipped += 1,
            Err(difference) => {
                differences += 1;
                unconfirmed += usize::from(difference.contains(support::UNCONFIRMED));
                println!("{difference}\n");
            }
        }
        if (agreed + skipped + differences) % 500 == 0 {
            eprintln!(
                "{} programs, {differences} differ, {:.0?}",
                agreed + skipped + differences,
                start.elapsed()
            );
        }
    }
    println!(
        "{}, K = 0..={bound}: {agreed} programs agree, {differences} differ, {skipped} left out; {unconfirmed} runs \
            were not confirmed",
        options.part
    );
    differences
}

/// Runs the command.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    match options(args) {
        Ok(options) => ExitCode::from(u8::from(compare(&options) > 0)),
        Err(error) => {
            let parts = PARTS.join("|");
            eprintln!(
                "error: {error}\nusage: cargo xtask promising-family [{parts}] [--random N] [--first N] [--every N] \
                    [--bound K] [--promises P]"
            );
            ExitCode::from(3)
        }
    }
}
