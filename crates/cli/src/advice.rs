//! What to try next when there is no verdict, and what an answer takes for granted about the compiler.

use crate::args::{CheckArgs, EngineChoice};
use crate::check::{Checked, INTERRUPT};
use crate::engine::{self, ENGINES, Fit, Question, ignored};
use crate::progress::rounded;
use fencepost_answer::{BoundName, Limit, StopReason, Verdict};
use fencepost_ir::{Compiled, Instr, Language, Order, Program};
use fencepost_models::mapping::Target;
use fencepost_models::registry::Entry;
use std::time::Instant;

/// Options that may lead to a verdict, the most promising first, a line each.
pub fn next(checked: &Checked, file: &str, options: &CheckArgs) -> Vec<String> {
    let outcome = &checked.outcome;
    let (Verdict::Unknown, Some(reason)) = (outcome.verdict, &outcome.stop_reason) else { return Vec::new() };
    let mut lines = Vec::new();
    // The bound may have been raised without being asked.
    let cut = outcome.bounds.iter().find(|bound| bound.name == BoundName::Unroll).map(|bound| bound.value);
    match (reason, cut) {
        (StopReason::CutEverything | StopReason::NoneWithinBounds, Some(bound)) => {
            lines.push(format!("a larger bound: --unroll {}", bound.saturating_mul(2).max(1)));
        }
        (StopReason::Limit { limit, value }, _) => {
            let asked = options.given.iter().any(|given| given == "unroll");
            if asked && options.unroll > 1 && checked.engine != "states" {
                lines.push(format!("a smaller bound: --unroll {}", options.unroll / 2));
            }
            match (limit, value) {
                (Limit::Timeout, Some(seconds)) => lines.push(more_time(checked, *seconds)),
                (Limit::MaxMemory, Some(mb)) => lines.push(format!("more memory: --max-memory {}", mb * 2.0)),
                (Limit::MaxExecutions, Some(n)) => {
                    lines.push(format!("more executions: --max-executions {}", n * 4.0))
                }
                _ => {}
            }
        }
        (StopReason::TooLargeToConfirm(_), _) => {
            lines.push("more time for the check: a larger --timeout, or none".into())
        }
        _ => {}
    }
    if !reason.is_bug() {
        lines.extend(other_engines(checked, file, options));
    }
    lines
}

/// How much more time, with what is known of how much there is.
fn more_time(checked: &Checked, seconds: f64) -> String {
    let statistics = &checked.outcome.statistics;
    let rate = statistics.executions.map(|executions| executions as f64 / checked.seconds.max(0.001));
    match (statistics.estimate, rate) {
        (Some(estimate), Some(rate)) if rate >= 1.0 => {
            let needed = estimate as f64 / rate;
            let (about, rate, time) = (rounded(estimate), rounded(rate as u64), duration(needed));
            let more =
                format!("about {about} executions, {rate} per second: {time}, if the estimate is right");
            // What is estimated is often off by four; nobody waits for a year.
            match needed < A_DAY {
                true => format!("more time: --timeout {} ({more})", (needed * 2.0).max(seconds * 2.0).ceil()),
                false => format!("a smaller program: {more}"),
            }
        }
        _ => format!("more time: --timeout {}", seconds * 4.0),
    }
}

const A_DAY: f64 = 86_400.0;

/// `10 minutes`.
fn duration(seconds: f64) -> String {
    let units =
        [("year", 31_557_600.0), ("day", A_DAY), ("hour", 3_600.0), ("minute", 60.0), ("second", 1.0)];
    let (name, length) = units.into_iter().find(|(_, length)| seconds >= 1.5 * length).unwrap_or(units[4]);
    let number = (seconds / length).round().max(1.0);
    let number = if number < 1e6 { rounded(number as u64) } else { format!("{number:.0e}") };
    format!("{number} {name}{}", if number == "1" { "" } else { "s" })
}

/// Engines that take the program and did not answer.
fn other_engines(checked: &Checked, file: &str, options: &CheckArgs) -> Vec<String> {
    let mut asked = options.clone();
    asked.engine = EngineChoice::Auto;
    // Options of one engine may be no options of another one.
    asked.given.clear();
    let question = Question {
        file,
        compiled: &checked.compiled,
        model: checked.model,
        options: &asked,
        start: Instant::now(),
        until: None,
        interrupt: &INTERRUPT,
        work: None,
    };
    let able = ENGINES.iter().filter(|engine| {
        engine.name() != checked.engine
            && ignored(**engine, &asked).is_none()
            && !matches!(engine::fit(**engine, &question), Fit::Refuses(_))
    });
    able.map(|engine| format!("another engine: --engine {} ({})", engine.name(), engine.about())).collect()
}

/// What a *safe* takes for granted about the way from the source to the machine.
pub fn assumptions(compiled: &Compiled, model: &Entry, words: &str) -> Vec<String> {
    if compiled.language != Language::C {
        return Vec::new();
    }
    match model.target {
        Some(target) => vec![mapping(target, words)],
        None if matches!(model.name, "rc11" | "rc20") && has_relaxed_loads_and_stores(&compiled.program) => {
            vec!["which has no load buffering".into()]
        }
        None => Vec::new(),
    }
}

/// `as compiled for ARMv8 (lse, ldar)`.
fn mapping(target: Target, words: &str) -> String {
    let name = match target {
        Target::Tso => "x86",
        Target::Pso => "SPARC in PSO mode",
        Target::Power => "POWER",
        Target::Armv8 => "ARMv8",
    };
    // Words about the same thing stand side by side in the list, the default first.
    let pairs = target.mappings().chunks(2);
    let chosen = pairs.filter_map(|pair| {
        let given = words.split(',').map(str::trim).rfind(|word| pair.iter().any(|(name, _)| name == word));
        given.or(pair.first().map(|(name, _)| *name))
    });
    // How a relaxed load is compiled is worth a word only where it is not a load.
    let chosen: Vec<&str> = chosen.filter(|word| *word != "bare" && *word != "split").collect();
    match chosen.is_empty() {
        true => format!("as compiled for {name}"),
        false => format!("as compiled for {name} ({})", chosen.join(", ")),
    }
}

fn has_relaxed_loads_and_stores(program: &Program) -> bool {
    let all = || program.functions.iter().flat_map(|function| &function.body);
    let loads = |instr: &Instr| matches!(instr, Instr::Load { ann, .. } if ann.order == Order::Relaxed);
    let stores = |instr: &Instr| matches!(instr, Instr::Store { ann, .. } if ann.order == Order::Relaxed);
    all().any(loads) && all().any(stores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_unit() {
        let told = [0.2, 1.0, 80.0, 600.0, 7_000.0, 200_000.0, 1e9].map(duration);
        assert_eq!(
            told,
            ["1 second", "1 second", "80 seconds", "10 minutes", "2 hours", "2 days", "32 years"]
        );
    }

    #[test]
    fn the_mapping_has_its_words() {
        assert_eq!(mapping(Target::Armv8, ""), "as compiled for ARMv8 (lse, ldar)");
        assert_eq!(mapping(Target::Armv8, "llsc,rcpc"), "as compiled for ARMv8 (llsc, rcpc)");
        assert_eq!(mapping(Target::Power, "branch"), "as compiled for POWER (leading-sync, branch)");
        assert_eq!(mapping(Target::Pso, ""), "as compiled for SPARC in PSO mode");
    }

    /// The words of `--mapping` come in pairs.
    #[test]
    fn words_about_the_same_stand_side_by_side() {
        for target in Target::ALL {
            for pair in target.mappings().chunks(2) {
                let first = pair.first().map_or("", |(_, about)| about);
                assert!(first.ends_with("(default)") && pair.len() == 2, "{pair:?}");
            }
        }
    }
}
