//! The operational POWER: its machine, and the direct encoding of its runs with a bounded number of contexts.

use super::solver::{self, limits};
use super::states::{search, with_limits};
use super::{Fit, Question};
use crate::args::{Backend, Contexts, ReduceArgs};
use crate::input::Trouble;
use crate::progress::{self, is_watched};
use fencepost_answer::{Bound, BoundName, Outcome, StopReason, Verdict};
use fencepost_bmc::outcome::Progress;
use fencepost_bmc::power::{self as contexts, PowerRun};
use fencepost_bmc::{Asked, Statistics};
use fencepost_ir::{Language, Program, Property, Quantifier};
use fencepost_machine::power::{self, schedule};
use fencepost_models::prepare::Form;
use fencepost_reduce as reduction;

/// Contexts that are tried if the user names none.
const DEFAULT: Contexts = Contexts { first: 1, last: 5 };

/// As the machine wants a program: flat threads know local objects.
const FORM: Form =
    Form { lock_sections: false, bound_loops: false, globalise_locals: false, divide_choices: true };

/// As the encoding wants it: choices stay symbols.
const SYMBOLS: Form = Form { divide_choices: false, ..FORM };

/// Options of other machines.
const FOREIGN: &[&str] = &["rounds", "age", "buffer", "bound", "promises", "views", "consistency", "domain"];

/// Whether a question is about the operational POWER; the engines for it are picked by name only, because the explorer has the
/// axiomatic model, which is the newer one.
pub fn fit(question: &Question<'_>) -> Option<Fit> {
    let given = |option: &&&str| question.options.given.iter().any(|given| given == **option);
    if question.model.name != "power" {
        let asked = question.options.contexts.is_some();
        let refused = format!("error: --contexts is for power, not for {}", question.model.name);
        return asked.then_some(Fit::Refuses(refused));
    }
    Some(match FOREIGN.iter().find(given) {
        Some(option) => Fit::Refuses(format!("error: --{option} is no option of the machine of power")),
        None => Fit::IfAsked,
    })
}

/// Whether the engines here answer it.
pub fn takes(question: &Question<'_>) -> bool {
    question.model.name == "power"
}

/// All states of the machine, with a bound on contexts or without.
pub fn states(question: &Question<'_>) -> Result<Outcome, Trouble> {
    let prepared = question.prepare(FORM)?;
    let bounds: Vec<Option<u32>> = match question.options.contexts {
        None => vec![None],
        Some(Contexts { first, last }) => (first..=last).map(Some).collect(),
    };
    let mut answer = None;
    for contexts in bounds {
        let options = power::Options {
            contexts,
            unroll: question.options.unroll,
            owners: question.compiled.language == Language::C,
            only_complete: false,
            search: search(question),
        };
        let checked = power::check(&prepared.program, &options);
        let outcome = checked.map_err(|e| question.refuse(&e.what, e.span))?.outcome;
        let goes_on = outcome.verdict == Verdict::Safe;
        answer = Some(outcome);
        if !goes_on {
            break;
        }
    }
    let outcome = answer.ok_or_else(|| Trouble::from("error: --contexts names no bound".to_string()))?;
    Ok(describe(outcome, question))
}

/// The runs with few contexts, then with more until something is found or the last bound is reached: by the encoding, or by the
/// back end that was asked for.
pub fn reduce(question: &Question<'_>) -> Result<Outcome, Trouble> {
    let prepared = question.prepare(SYMBOLS)?;
    let given = |option: &str| question.options.given.iter().any(|given| given == option);
    if given("backend") && given("proof") {
        let why = "error: --proof is for the direct encoding of power, not for --backend";
        return Err(why.to_string().into());
    }
    match given("backend") {
        true => translated(question, &prepared.program),
        false => encoded(question, &prepared.program),
    }
}

/// The translation to a sequential program, one for each number of contexts, and the back end for it. The run of what goes wrong
/// is that of the encoding.
fn translated(question: &Question<'_>, program: &Program) -> Result<Outcome, Trouble> {
    let Contexts { first, last } = question.options.contexts.unwrap_or(DEFAULT);
    let owners = question.compiled.language == Language::C;
    let (mut answer, mut done) = (None, None);
    for contexts in first..=last {
        let options = reduction::power::Options { contexts, unroll: question.options.unroll, owners };
        let reduced =
            reduction::reduce_power(program, &options).map_err(|e| question.refuse(&e.what, e.span))?;
        let outcome = match question.options.backend {
            Backend::Bmc => super::bmc::reduced(question, &reduced)?.0,
            Backend::Cbmc => {
                let once = reduction::sequential::Contexts::Total(1);
                let printed = reduction::sequential::print_as_it_is(&reduced, once)
                    .map_err(|e| question.refuse(&e.what, e.span))?;
                super::cbmc::run(question, &printed, 1)?
            }
            Backend::States => {
                let why = "error: --backend states is for tso: the program that a reduction of power gives guesses numbers";
                return Err(format!(
                    "{why}\nhint: --backend bmc or cbmc; without --backend the runs are encoded directly"
                )
                .into());
            }
        };
        match outcome.verdict {
            Verdict::Safe => (done, answer) = (Some(contexts), None),
            Verdict::Unsafe => {
                let found = encoded_within(question, program, contexts, contexts)?;
                // A state that is asked for may need more contexts.
                if found.stop_reason == Some(StopReason::NoneWithinBounds) {
                    answer = Some(found);
                    continue;
                }
                if found.verdict == Verdict::Safe {
                    let why = "the translation finds something wrong, the encoding does not";
                    return Ok(describe(Outcome::unknown(StopReason::NotConfirmed(why.into())), question));
                }
                return Ok(found);
            }
            Verdict::Unknown => {
                answer = Some(outcome);
                break;
            }
        }
    }
    let mut outcome = answer.unwrap_or_else(|| Outcome::new(Vec::new(), None, Vec::new()));
    if let Some(done) = done {
        // The translation is loop-free: what the unroll bound cuts is not seen behind it.
        outcome.bounds = vec![
            Bound::new(BoundName::Contexts, done),
            Bound::new(BoundName::Unroll, question.options.unroll),
        ];
    }
    Ok(describe(outcome, question))
}

/// The encoding: deepens until something is found or the last bound is reached.
fn encoded(question: &Question<'_>, program: &Program) -> Result<Outcome, Trouble> {
    let Contexts { first, last } = question.options.contexts.unwrap_or(DEFAULT);
    encoded_within(question, program, first, last)
}

fn encoded_within(
    question: &Question<'_>,
    program: &Program,
    first: u32,
    last: u32,
) -> Result<Outcome, Trouble> {
    let owners = question.compiled.language == Language::C;
    let watch = |asked: Asked, size: Statistics| {
        let (bound, size, conflicts) = (asked.total, solver::of(size), size.conflicts);
        progress::note(format!("contexts {bound} of {last}: {size}, {conflicts} conflicts"));
    };
    let watched = is_watched(question.options.quiet);
    let _line = progress::line(question.file, question.options.quiet);
    let options = contexts::Options {
        unroll: question.options.unroll,
        owners,
        skip_idle: true,
        limits: limits(question),
        following: None,
        without: None,
        progress: watched.then_some(&watch as Progress<'_>),
    };
    let found =
        contexts::check(program, &options, first..=last).map_err(|e| question.refuse(&e.what, e.span))?;
    // Where it ends, or how far it came.
    let at = found.found_at.or(found.completed);
    let bound = |asked: Asked| Bound::new(BoundName::Contexts, asked.total as u64);
    let mut outcome = match (found.verdict, found.run) {
        (Verdict::Unknown, _) => {
            Outcome::unknown(solver::reason(question, found.why.as_ref(), "", |_| NOT_FOLLOWED.into()))
        }
        // A final state that was asked for is shown by a run, as what goes wrong is. That there is none needs no run.
        (_, Some(run)) => {
            let unroll = at.map_or(question.options.unroll, |asked| asked.unroll);
            let outcome = confirm(program, unroll, owners, run);
            outcome.map_err(|e| question.refuse(&e.what, e.span))?
        }
        (Verdict::Unsafe, None) => {
            let message = found.finding.map_or(String::new(), |finding| finding.message);
            Outcome::new(vec![super::bmc::unplaced(message)], None, Vec::new())
        }
        (Verdict::Safe, None) => Outcome::new(Vec::new(), None, Vec::new()),
    };
    if let (Verdict::Unknown, Some(asked)) = (found.verdict, found.completed) {
        outcome.so_far = vec![bound(asked), Bound::new(BoundName::Unroll, asked.unroll)];
    }
    if let (Verdict::Safe, Some(path)) = (found.verdict, &question.options.proof) {
        let last = found.completed.map_or(last, |asked| asked.total as u32);
        let options = contexts::Options { progress: None, ..options };
        let note = contexts::prove(program, &options, last, path).map_err(|why| format!("error: {why}"))?;
        outcome.assumes.push(note);
    }
    let reached = found.found_at.or(found.completed.filter(|_| found.spent));
    outcome.bounds.extend(reached.map(bound));
    if let (true, None, Some(asked)) = (found.cut, found.found_at, found.completed) {
        outcome.bounds.push(Bound::new(BoundName::Unroll, asked.unroll));
    }
    Ok(describe(outcome, question))
}

/// What the encoding of POWER says where the model of the library gives up.
const NOT_FOLLOWED: &str = "the library model cannot follow the program";

/// The sequential program that `fencepost reduce -m power` asks for.
pub fn written(question: &Question<'_>, args: &ReduceArgs) -> Result<Program, Trouble> {
    let prepared = question.prepare(SYMBOLS)?;
    let options = reduction::power::Options {
        contexts: args.contexts.unwrap_or(DEFAULT.last),
        unroll: args.unroll,
        owners: question.compiled.language == Language::C,
    };
    reduction::reduce_power(&prepared.program, &options).map_err(|e| question.refuse(&e.what, e.span))
}

/// A run that the solver gave, done again by the rules of the machine.
fn confirm(
    program: &Program,
    unroll: u32,
    owners: bool,
    run: PowerRun,
) -> Result<Outcome, fencepost_machine::Unsupported> {
    let code = power::prepare(program, unroll, owners)?;
    let PowerRun { active, init, commit, reach, ways, choices } = run;
    let plan = schedule::Schedule { active, init, commit, reach, ways, choices };
    let unconfirmed = |why: &str| {
        let why = format!("internal error: a run of the encoding is none of the machine: {why}");
        Outcome::unknown(StopReason::NotConfirmed(why))
    };
    if let Property::Final(condition) = &program.property
        && condition.quantifier == Quantifier::Exists
        && let Ok(state) = schedule::final_state(&code, &plan)
    {
        let admitted = condition.filter.as_ref().is_none_or(|filter| filter.holds(&state));
        return Ok(match admitted && condition.proposition.holds(&state) {
            true => Outcome::new(Vec::new(), None, Vec::new()),
            false => unconfirmed("its final state is another one"),
        });
    }
    Ok(match schedule::replay(&code, &plan) {
        Ok(finding) => Outcome::new(vec![finding], None, Vec::new()),
        Err(why) => unconfirmed(why),
    })
}

fn describe(mut outcome: Outcome, question: &Question<'_>) -> Outcome {
    outcome.checks = (question.compiled.language == Language::C).then_some("assertions");
    outcome.assumes.push("the operational model of POWER; `--engine explore` has the axiomatic one".into());
    with_limits(outcome, question)
}
