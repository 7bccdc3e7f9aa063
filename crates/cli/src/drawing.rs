//! Pictures of litmus tests: an execution that satisfies the condition, or, where the model has none, the one that it
//! forbids, with the axiom and the cycle; and all executions on one page.

use crate::litmus::{Answered, show_state};
use crate::model::Choice;
use crate::telling::cause;
use crate::witness::satisfies;
use fencepost_diag::SourceFile;
use fencepost_ir::{Execution, FinalCondition, Property};
use fencepost_models::Model;
use fencepost_naive::{Limits, NaiveExecution, enumerate};
use fencepost_report::{events, execution, picture};
use std::fmt::Write;

/// A model that only wants memory to be memory: what others forbid is looked for among its executions.
const COHERENT: &str =
    "\"coherence only\"\nacyclic po-loc | rf | co | fr as coherence\nempty rmw & (fre; coe) as atomicity\n";
/// A model that wants nothing.
const ANYTHING: &str = "\"anything\"\nacyclic po as order\n";

/// Executions that are drawn on one page at most.
const MOST: usize = 64;

/// The axioms of a model that is built in.
fn built_in(choice: &Choice) -> Option<Model> {
    match choice {
        Choice::Twin(entry, _) => Model::builtin(entry.name),
        Choice::Cat(_) | Choice::Machine(_) => None,
    }
}

/// The axioms of a model.
fn axioms<'a>(choice: &'a Choice, built_in: Option<&'a Model>) -> Result<&'a Model, String> {
    match choice {
        Choice::Twin(..) | Choice::Machine(_) => {
            built_in.ok_or_else(|| "the model is not made of axioms".to_string())
        }
        Choice::Cat(model) => Ok(model),
    }
}

fn condition(answered: &Answered) -> Option<&FinalCondition> {
    match &answered.program.property {
        Property::Final(condition) => Some(condition),
        _ => None,
    }
}

/// A picture of an execution that satisfies the condition, allowed or not; the error says why there is none.
pub fn svg(answered: &Answered, choice: &Choice) -> Result<String, String> {
    let built_in = built_in(choice);
    let model = axioms(choice, built_in.as_ref())?;
    let name = choice.name();
    let condition = condition(answered).ok_or("the test has no condition")?;
    if let Some(witness) = &answered.witness {
        let title =
            format!("{}: allowed by {name}, {}", answered.program.name, state(answered, witness, condition));
        return Ok(draw(answered, &witness.execution, &title));
    }
    for text in [COHERENT, ANYTHING] {
        let file = SourceFile::new("weakest.cat", text);
        let weakest =
            Model::from_file(&file, &|_: &str| None).map_err(|_| "internal error: no such model")?;
        let found =
            enumerate(&answered.program, &weakest, &Limits::default()).map_err(|stop| stop.to_string())?;
        let candidates = found.executions.into_iter().filter(|execution| satisfies(execution, condition));
        let judged = candidates.map(|candidate| (model.check(&candidate.execution).failed, candidate));
        // The one that the fewest axioms forbid tells most.
        let forbidden =
            judged.filter(|(failed, _)| !failed.is_empty()).min_by_key(|(failed, _)| failed.len());
        if let Some((failed, candidate)) = forbidden {
            let axioms = failed.join(", ");
            let state = state(answered, &candidate, condition);
            let title = format!("{}: forbidden by {name}, axiom {axioms}, {state}", answered.program.name);
            return Ok(draw(answered, &candidate.execution, &title));
        }
    }
    Err("no run of the threads satisfies the condition, whatever the model".into())
}

/// `final values 0:r1=1; x=2;`
fn state(answered: &Answered, execution: &NaiveExecution, condition: &FinalCondition) -> String {
    let values = execution.state(condition);
    format!("final values {}", show_state(&answered.program, &values[..condition.shown]))
}

fn draw(answered: &Answered, shown: &Execution, title: &str) -> String {
    let cycle: Vec<(usize, usize)> = cause::shortest_cycle(shown, &[])
        .unwrap_or_default()
        .iter()
        .map(|edge| (edge.from, edge.to))
        .collect();
    picture::svg(&execution::picture(&answered.program, shown, title, &cycle))
}

/// All executions on one page, those that satisfy the condition first.
pub fn page(answered: &Answered, choice: &Choice) -> Result<String, String> {
    let built_in = built_in(choice);
    let model = axioms(choice, built_in.as_ref())?;
    let condition = condition(answered).ok_or("the test has no condition")?;
    let found = enumerate(&answered.program, model, &Limits::default()).map_err(|stop| stop.to_string())?;
    let all = found.executions.len();
    let mut executions: Vec<(bool, NaiveExecution)> = found
        .executions
        .into_iter()
        .map(|execution| (!satisfies(&execution, condition), execution))
        .collect();
    executions.sort_by_key(|(other, _)| *other);
    let name = events::escape_markup(&answered.program.name);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name} under {}</title>\n\
         <style>body{{font-family:sans-serif;margin:1em}}figure{{display:inline-block;vertical-align:top;margin:1em}}\
         figcaption{{font-family:monospace}}.yes{{border:2px solid #b00000}}</style></head><body>\n\
         <h1>{name}: {all} execution{} under {}</h1>\n",
        choice.name(),
        if all == 1 { "" } else { "s" },
        choice.name()
    );
    if all > MOST {
        let _ = writeln!(out, "<p>The first {MOST} of them.</p>");
    }
    for (other, shown) in executions.iter().take(MOST) {
        let state = state(answered, shown, condition);
        let (class, says) = if *other { ("no", "") } else { ("yes", ", satisfies the condition") };
        let _ = writeln!(
            out,
            "<figure class=\"{class}\"><figcaption>{}{says}</figcaption>{}</figure>",
            events::escape_markup(&state),
            draw(answered, &shown.execution, "")
        );
    }
    out.push_str("</body></html>\n");
    Ok(out)
}
