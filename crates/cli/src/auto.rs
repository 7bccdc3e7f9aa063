//! `--engine auto`: picks an engine that can answer, and says which and why.
//!
//! `explore` looks for everything that a finding can be, so C goes there, as long as it can follow the program. The machines
//! keep loops as they are and know atomic sections, but only under sc, tso and pso: `.fp` programs, which are about such
//! loops, go there under these models, and so does C when `explore` refuses it or gives up for another reason than a limit
//! that the user set.

use crate::args::{CheckArgs, Engine};
use crate::explored::limit_was_hit;
use crate::{check, states};
use fencepost_explore::ModelName;
use fencepost_machine::Model;
use fencepost_report::outcome::{Outcome, Verdict};

/// Checks a file with the engine that suits it; the error is a whole message.
pub fn answer(name: &str, model: ModelName, options: &CheckArgs) -> Result<Outcome, String> {
    let machine = Model::from_name(model.name()).is_some();
    let bounded = options.rounds.is_some() || options.age.is_some() || options.buffer.is_some();
    if machine && bounded {
        let why = "bounds on rounds, ages and buffers are for the machines";
        return states::answer(name, model, Engine::States, options).map(|found| picked(found, why));
    }
    if name.ends_with(".fp") && machine {
        let why = "its machine keeps the loops of .fp programs as they are";
        return states::answer(name, model, Engine::States, options).map(|found| picked(found, why));
    }
    let explored = check::check(name, model, options);
    let gave_up = match &explored {
        Ok(found) => found.verdict == Verdict::Unknown && !limit_was_hit(found),
        Err(_) => true,
    };
    if machine && gave_up {
        // If the machine cannot answer either, what `explore` said is the better message.
        if let Ok(found) = states::answer(name, model, Engine::States, options)
            && found.verdict != Verdict::Unknown
        {
            let why = match &explored {
                Ok(found) => {
                    format!("explore ends in: {}", found.stop_reason.as_deref().unwrap_or("unknown"))
                }
                Err(error) => format!("explore says: {}", error.lines().next().unwrap_or_default()),
            };
            return Ok(picked(found, &why));
        }
    }
    let why = match machine {
        false => "the machines are those of sc, tso and pso",
        true => "it looks for everything that can go wrong in C",
    };
    explored.map(|found| picked(found, why))
}

fn picked(found: Outcome, why: &str) -> Outcome {
    Outcome { picked: Some(why.to_string()), ..found }
}
