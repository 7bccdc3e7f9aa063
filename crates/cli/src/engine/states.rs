//! The machines: every state, loops as they are.

use super::promising;
use super::{Engine, Fit, Question};
use crate::check::INTERRUPT;
use crate::input::Trouble;
use crate::progress::{self, is_watched, of_states};
use crate::telling::words::list;
use fencepost_answer::Outcome;
use fencepost_ir::Language;
use fencepost_machine::search::Options as Search;
use fencepost_machine::{Config, Model, Options, check_on};
use fencepost_models::prepare::Form;
use fencepost_models::registry;

/// The engine.
pub struct States;

impl Engine for States {
    fn name(&self) -> &'static str {
        "states"
    }

    fn about(&self) -> &'static str {
        "every state of an operational machine: sc, tso and pso with loops as they are; power and ps with loops unrolled"
    }

    fn honours(&self) -> &'static [&'static str] {
        &[
            "rounds",
            "age",
            "buffer",
            "contexts",
            "unroll",
            "bound",
            "promises",
            "views",
            "consistency",
            "domain",
        ]
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        let asked = |option: &&str| question.options.given.iter().any(|given| given == option);
        if question.model.name == promising::MODEL {
            let foreign = ["rounds", "age", "buffer", "contexts"].iter().find(|option| asked(option));
            return match foreign {
                Some(option) => Fit::Refuses(format!("error: --{option} is for other machines")),
                None => Fit::Takes { rank: 1, why: "promises are made on the promising machine".into() },
            };
        }
        if let Some(fit) = super::power::fit(question) {
            return fit;
        }
        if let Some(option) = promising::HONOURS.iter().find(|option| asked(option)) {
            let model = question.model.name;
            return Fit::Refuses(match *option {
                "unroll" => format!(
                    "error: the machine of {model} keeps loops as they are: --unroll is no option of it\n  it is honoured by \
                     `--engine explore`"
                ),
                _ => format!("error: --{option} is for the promising semantics\n  `-m ps` chooses it"),
            });
        }
        if let Err(refused) = machine(question) {
            return Fit::Refuses(refused);
        }
        match question.compiled.language {
            _ if ["rounds", "age", "buffer"].iter().any(asked) => {
                Fit::Takes { rank: 0, why: "bounds on rounds, ages and buffers are for the machines".into() }
            }
            Language::C => Fit::Takes { rank: 1, why: "its machine can follow the program".into() },
            _ => {
                Fit::Takes { rank: 0, why: "its machine keeps the loops of .fp programs as they are".into() }
            }
        }
    }

    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let _line = progress::line(question.file, question.options.quiet);
        if question.model.name == promising::MODEL {
            return promising::run(question);
        }
        if super::power::takes(question) {
            return super::power::states(question);
        }
        let prepared = question.prepare(Form::STATES)?;
        let options = question.options;
        let machine = machine(question)?;
        let mut config = Config::new(Model::Sc);
        (config.buffer, config.rounds, config.age) = (options.buffer, options.rounds, options.age);
        config.c = question.compiled.language.must_end();
        let options = Options { config, search: search(question) };
        let found = check_on(machine, &prepared.program, &options)
            .ok_or_else(|| format!("error: there is no machine `{machine}`"))?
            .map_err(|e| question.refuse(&e.what, e.span))?;
        let mut outcome = with_limits(found.outcome, question);
        // Races, and threads that spin for ever in more than one place, are the explorer's business.
        let checks = "assertions, memory and deadlocks";
        outcome.checks = (question.compiled.language == Language::C).then_some(checks);
        Ok(outcome)
    }
}

/// The machine of the model.
fn machine(question: &Question<'_>) -> Result<&'static str, String> {
    question.model.machine.ok_or_else(|| {
        let machines = registry::names(|model| model.machine.is_some());
        format!(
            "error: there is no machine for {}; the machines are {}",
            question.model.name,
            list(&machines)
        )
    })
}

/// The answer with what its limits were set to.
pub fn with_limits(mut outcome: Outcome, question: &Question<'_>) -> Outcome {
    if let Some(fencepost_answer::StopReason::Limit { limit, value: None }) = outcome.stop_reason {
        outcome.stop_reason = Some(question.stop(limit));
    }
    outcome
}

/// How a machine is searched.
pub fn search(question: &Question<'_>) -> Search<'static> {
    Search {
        jobs: question.options.workers(),
        deadline: question.deadline(),
        max_states: question.work,
        max_bytes: question.options.max_memory.map(|mb| (mb as usize).saturating_mul(1_000_000)),
        interrupt: Some(&INTERRUPT),
        progress: is_watched(question.options.quiet).then_some(&of_states),
        ..Search::default()
    }
}
