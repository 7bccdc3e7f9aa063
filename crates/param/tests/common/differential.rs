//! The search against the explicit machine, on one random system.

use super::generate;
use fencepost_diag::SourceFile;
use fencepost_param::machine::{Machine, explore};
use fencepost_param::model::Model;
use fencepost_param::{Options, Outcome, StopReason, Verdict, lower, parser, prove};

/// What was compared, and where the two differ.
#[derive(Default)]
pub struct Tally {
    pub systems: usize,
    pub safe: usize,
    pub unsafe_: usize,
    pub unknown: usize,
    pub differences: Vec<String>,
}

impl Tally {
    pub fn summary(&self) -> String {
        format!(
            "{} systems, {} answers safe, {} unsafe, {} unknown; {} differences",
            self.systems,
            self.safe,
            self.unsafe_,
            self.unknown,
            self.differences.len()
        )
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Safe => self.safe += 1,
            Verdict::Unsafe => self.unsafe_ += 1,
            Verdict::Unknown => self.unknown += 1,
        }
    }
}

fn run(text: &str, options: &Options) -> Outcome {
    let source = SourceFile::new("random.cub", text);
    prove(&source, options, &mut |_| {}).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// Whether the machine of the instance reaches a bad state; `None` when a limit was hit.
fn machine_says(text: &str, model: Model, procs: u8, max_states: usize) -> Option<bool> {
    let (file, _) = parser::parse(text);
    let (system, _) = lower::lower(&file, model != Model::Sc).expect("checked before");
    let machine = Machine::new(&system, model, procs);
    let found = explore(&machine, max_states, true, &mut || false);
    match (found.bad, found.cut) {
        (Some(_), _) => Some(true),
        (None, false) => Some(false),
        (None, true) => None,
    }
}

/// Fixed processes: the verdicts must be equal under every model, and under SC also with events instead of erasure.
pub fn fixed_system(seed: u64, tally: &mut Tally) {
    let procs = 2 + seed % 2;
    let text = generate::fixed(seed, procs, if procs == 2 { 4 } else { 3 });
    tally.systems += 1;
    for (model, events_under_sc) in
        [(Model::Sc, false), (Model::Sc, true), (Model::Tso, false), (Model::Pso, false)]
    {
        let outcome =
            run(&text, &Options { model, events_under_sc, max_nodes: Some(200_000), ..Options::default() });
        tally.count(outcome.verdict);
        let machine = machine_says(&text, model, procs as u8, 2_000_000);
        let agree = match machine {
            Some(true) => outcome.verdict == Verdict::Unsafe,
            Some(false) => outcome.verdict == Verdict::Safe,
            None => true,
        };
        if !agree {
            let name = model.name();
            tally.differences.push(format!(
                "seed {seed} under {name}: {:?}, machine {machine:?}\n{text}",
                outcome.verdict
            ));
        }
    }
}

/// Any number of processes: a safe answer must hold for the instances with one, two and three processes (an unsafe one
/// was replayed already), with and without inference.
pub fn parameterized_system(seed: u64, tally: &mut Tally) {
    let text = generate::parameterized(seed, 3);
    tally.systems += 1;
    for model in Model::ALL {
        for brab in [None, Some(2)] {
            let options = Options {
                model,
                brab,
                max_nodes: Some(3_000),
                timeout: Some(std::time::Duration::from_secs(2)),
                ..Options::default()
            };
            let outcome = run(&text, &options);
            tally.count(outcome.verdict);
            for procs in 1..=3 {
                if outcome.verdict == Verdict::Safe && machine_says(&text, model, procs, 10_000) == Some(true)
                {
                    let name = model.name();
                    tally
                        .differences
                        .push(format!("seed {seed} under {name}, {procs} processes: wrongly safe\n{text}"));
                }
            }
        }
    }
}

/// As [`parameterized_system`], for systems with universal guards, arithmetic, two indices and open values, under SC.
/// No answer may be a mistake of our own that the check of the invariant noticed.
pub fn rich_system(seed: u64, tally: &mut Tally) {
    let text = generate::rich(seed);
    tally.systems += 1;
    let options = Options {
        model: Model::Sc,
        max_nodes: Some(1_000),
        timeout: Some(std::time::Duration::from_millis(700)),
        ..Options::default()
    };
    let outcome = run(&text, &options);
    tally.count(outcome.verdict);
    let mut complain = |what: String| tally.differences.push(format!("seed {seed}: {what}\n{text}"));
    if let Some(StopReason::NotConfirmed(why)) = &outcome.stop_reason {
        complain(format!("internal error: {why}"));
    }
    for procs in 1..=3 {
        if outcome.verdict == Verdict::Safe && machine_says(&text, Model::Sc, procs, 20_000) == Some(true) {
            complain(format!("wrongly safe with {procs} processes"));
        }
    }
}
