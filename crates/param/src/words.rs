//! The invariant, or the run, in sentences.

use crate::cube::{Atom, Cube};
use crate::outcome::{Outcome, TraceStep, Verdict};
use crate::show;
use std::fmt::Write;

/// Names for processes, in the order of their numbers.
const NAMES: [&str; 6] = ["p", "q", "r", "s", "t", "u"];

impl Outcome {
    /// What a safe answer excludes, or what happens on the way to a bad state, one sentence per line; nothing for an
    /// unknown answer.
    pub fn words(&self) -> String {
        match self.verdict {
            Verdict::Safe => self.invariant.iter().map(|cube| format!("{}\n", self.clause(cube))).collect(),
            Verdict::Unsafe => self.story(),
            Verdict::Unknown => String::new(),
        }
    }

    /// `There are never distinct processes p and q with PC[p] = Crit and PC[q] = Crit.`
    fn clause(&self, cube: &Cube) -> String {
        let name = |p: u8| NAMES.get(usize::from(p)).map_or_else(|| format!("p{p}"), |n| n.to_string());
        let mut text = show::cube(&self.system, cube);
        for p in (0..cube.procs).rev() {
            text = text.replace(&format!("#{}", p + 1), &name(p));
        }
        let what = text.replace(" && ", " and ").replace(" || ", " or ");
        let names: Vec<String> = (0..cube.procs).map(name).collect();
        let is_view = cube.lits.iter().any(|l| l.mentions(|a| matches!(a, Atom::Read(_))));
        let about = if is_view { ", now or in what it still reads" } else { "" };
        match &names[..] {
            _ if self.system.number_procs.is_some() => {
                format!("It never holds that {}.", show::cube(&self.system, cube).replace(" && ", " and "))
            }
            [] => format!("It never holds that {what}."),
            [one] => format!("There is never a process {one} with {what}{about}."),
            [all @ .., last] => {
                format!(
                    "There are never distinct processes {} and {last} with {what}{about}.",
                    all.join(", ")
                )
            }
        }
    }

    /// The run, one sentence per step.
    fn story(&self) -> String {
        let mut out = String::new();
        let mut before: Option<&TraceStep> = None;
        for step in &self.trace {
            let changed: Vec<String> = step
                .values
                .iter()
                .enumerate()
                .filter(|(i, value)| before.is_some_and(|before| before.values[*i] != **value))
                .map(|(_, (cell, value))| format!("{cell} becomes {value}"))
                .collect();
            let mut parts: Vec<String> = step.events.clone();
            parts.extend(changed);
            let what = match before {
                None => "The system starts".to_string(),
                Some(_) if step.action.starts_with("flush") => format!("The {} happens", step.action),
                Some(_) => format!("{} happens", step.action),
            };
            let _ = match parts.is_empty() {
                true => writeln!(out, "{what}."),
                false => writeln!(out, "{what}: {}.", parts.join(", ")),
            };
            before = Some(step);
        }
        out + "That is a state that `unsafe` describes.\n"
    }
}
