//! `--engine auto`: asks every engine, tries those that can answer in the order of their ranks, and says which one
//! answered and why.
//!
//! An engine that refuses the program or gives up for a reason of its own leaves it to the next. The first one gets a part of
//! the user's time only, if there are others, and a second if the program chooses data and another engine takes it as symbols;
//! other limits of the user's end the work, because the next engine would start
//! with what is left of them.
//!
//! Where an exploration takes long, a formula is asked beside it (`beside`).
//!
//! Where the explorer has to cut loops, the machine is asked for a proof without a bound. How much each may do before the other
//! is asked is measured in graphs and states, not in time: the answer does not depend on what else the computer does.

use super::{ENGINES, Engine, Fit, Question, beside, fit, ignored, promising, promising_auto};
use crate::args::CheckArgs;
use crate::input::Trouble;
use fencepost_answer::{Bound, BoundName, Limit, Outcome, StopReason, Verdict};
use fencepost_ir::Instr;
use std::time::{Duration, Instant};

/// What another engine may take to show the way to a mistake that is known.
const TIME_TO_SHOW: Duration = Duration::from_millis(500);

/// An answer, who gave it, and why that engine.
pub struct Picked {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// In a few words.
    pub why: String,
    /// Another engine was tried first.
    pub surprising: bool,
    /// The answer.
    pub outcome: Outcome,
}

/// Answers a question with the engine that suits it.
pub fn answer(question: &Question<'_>) -> Result<Picked, Trouble> {
    if question.model.name == promising::MODEL {
        return promising_auto::answer(question);
    }
    let mut able: Vec<Able> = Vec::new();
    let mut refusal = None;
    // Who wants all findings is better served with one than with none, where only the others have an answer.
    let mut one = question.options.clone();
    one.given.retain(|given| given != "all");
    for &engine in ENGINES {
        let finds_one = u8::from(ignored(engine, question.options).is_some());
        match (fit(engine, question), ignored(engine, &one)) {
            (Fit::Refuses(why), None) => drop(refusal.get_or_insert(why)),
            (Fit::Takes { rank, why }, None) => able.push((rank + FINDS_ONE * finds_one, why, engine)),
            (Fit::IfAsked, _) | (_, Some(_)) => {}
        }
    }
    able.sort_by_key(|(rank, ..)| *rank);
    // What has only one execution is run; if that finds a mistake, another engine may show the way there, too.
    let mut found = None;
    let (mut question, started) = (*question, Instant::now());
    let question = &mut question;
    if let Some((_, why, engine)) = able.first().filter(|(.., engine)| engine.name() == "run") {
        match engine.run(question) {
            Ok(outcome) => {
                let picked = Picked { engine: *engine, why: why.clone(), surprising: false, outcome };
                if picked.outcome.verdict != Verdict::Unsafe || able.len() == 1 {
                    return Ok(picked);
                }
                found = Some(picked);
                question.until = Some(Instant::now() + TIME_TO_SHOW.max(4 * started.elapsed()));
            }
            Err(trouble) if able.len() == 1 => return Err(trouble),
            Err(_) => {}
        }
        able.remove(0);
    }
    match (by_rank(able, refusal, question), found) {
        (Ok(picked), Some(found)) if shows_the_same(&picked.outcome, &found.outcome) => Ok(picked),
        (_, Some(found)) => Ok(found),
        (answer, None) => answer,
    }
}

/// What an engine that does not honour `--all` stands behind the others.
const FINDS_ONE: u8 = 100;

/// What the first engine may use of the user's time, if another one could go on.
const FIRST_SHARE: f64 = 0.6;

/// Both say that the program is wrong, and in the same way.
fn shows_the_same(one: &Outcome, other: &Outcome) -> bool {
    let kinds = |outcome: &Outcome| outcome.findings.iter().map(|f| f.kind).collect::<Vec<_>>();
    one.verdict == Verdict::Unsafe && kinds(one) == kinds(other)
}

/// An engine that can answer, its rank, and why it would be picked.
type Able = (u8, String, &'static dyn Engine);

fn by_rank(able: Vec<Able>, refusal: Option<String>, question: &Question<'_>) -> Result<Picked, Trouble> {
    let mut able = able.into_iter();
    let Some((_, first_why, engine)) = able.next() else {
        let none = || nobody(question);
        return Err(refusal.unwrap_or_else(none).into());
    };
    // Some of the user's time is left for others, if there are any.
    let share = question.options.timeout.filter(|_| !able.as_slice().is_empty());
    let until = share.and_then(|time| question.start.checked_add(time.mul_f64(FIRST_SHARE)));
    let moment = has_data(question, able.as_slice()).then(|| Instant::now() + TIME_FOR_DATA);
    let most = until.into_iter().chain(question.until).min();
    let until = most.into_iter().chain(moment).min();
    let others: Vec<_> = able.as_slice().iter().map(|(.., engine)| *engine).collect();
    let question_of_first = Question { until, ..*question };
    let first = match formula_beside(engine, question) {
        None => explored_and_proved(engine, &others, &question_of_first),
        Some(formula) => {
            let is_answer = |first: &Result<First, Trouble>| match first {
                Ok(First::Answer(outcome)) => outcome.verdict != Verdict::Unknown,
                Ok(First::Proof(_)) | Err(_) => true,
            };
            let explored = |question: &Question<'_>| explored_and_proved(engine, &others, question);
            match beside::asked(&question_of_first, formula, is_answer, explored) {
                Ok(first) => first,
                Err((outcome, why)) => {
                    return Ok(Picked { engine: formula, why: why.into(), surprising: true, outcome });
                }
            }
        }
    };
    let first = match first {
        Ok(First::Proof(picked)) => return Ok(picked),
        Ok(First::Answer(outcome)) => Ok(outcome),
        Err(trouble) => Err(trouble),
    };
    let is_late = |reason: &&StopReason| {
        (share.is_some() || moment.is_some())
            && matches!(reason, StopReason::Limit { limit: Limit::Timeout, .. })
    };
    let gave_up = match &first {
        Ok(found) if found.verdict != Verdict::Unknown => None,
        Ok(found) => {
            found.stop_reason.as_ref().filter(|reason| reason.is_engines_own() || is_late(reason)).map(
                |reason| match is_late(&reason) {
                    true => format!("{} ran out of its share of the time", engine.name()),
                    false => format!("{} ends in: {reason}", engine.name()),
                },
            )
        }
        Err(trouble) => {
            Some(format!("{} says: {}", engine.name(), trouble.error.lines().next().unwrap_or_default()))
        }
    };
    let late =
        matches!(&first, Ok(found) if found.stop_reason.as_ref().is_some_and(|reason| is_late(&reason)));
    if let Some(why) = gave_up {
        // If nobody else can answer either, what the first said is the better message.
        // Values that the first took one by one for too long the next would take one by one, too: only symbols help.
        let by_data = late && moment.is_some() && until == moment;
        for (_, _, engine) in able.filter(|(.., engine)| !by_data || has_symbols(*engine)) {
            if let Ok(outcome) = engine.run(question)
                && is_worth_more(&outcome, late)
            {
                return Ok(Picked { engine, why, surprising: true, outcome });
            }
        }
        // It was only interrupted for the sake of the others.
        if by_data {
            let again = engine.run(&Question { until: most, ..*question });
            return again.map(|outcome| Picked { engine, why: first_why, surprising: false, outcome });
        }
    }
    first.map(|outcome| Picked { engine, why: first_why, surprising: false, outcome })
}

/// The engine that is asked beside an exploration that takes long.
fn formula_beside(engine: &dyn Engine, question: &Question<'_>) -> Option<&'static dyn Engine> {
    let options = question.options;
    if engine.name() != "explore" || options.all || options.outlive.asks().is_some() {
        return None;
    }
    let formula = super::find("axiom")?;
    let takes = matches!(fit(formula, question), Fit::Takes { .. } | Fit::IfAsked);
    (takes && ignored(formula, options).is_none()).then_some(formula)
}

/// Graphs that the explorer visits before the machine is asked for a proof: some tenths of a second.
const GRAPHS: u64 = 100_000;
/// States that a proof may need.
const STATES: u64 = 50_000;

/// What the first engine says.
enum First {
    /// Its answer.
    Answer(Outcome),
    /// A better one, of an engine that needs no bound.
    Proof(Picked),
}

/// The answer of the first engine. Where the explorer has to cut loops, the machine may have few states all the same, and need no
/// bound: it is asked before deeper bounds are.
fn explored_and_proved(
    engine: &'static dyn Engine,
    others: &[&'static dyn Engine],
    question: &Question<'_>,
) -> Result<First, Trouble> {
    let prover = others.iter().find(|other| other.name() == "states").filter(|_| engine.name() == "explore");
    let Some(&prover) = prover else { return engine.run(question).map(First::Answer) };
    let is_cut = |outcome: &Outcome| outcome.verdict == Verdict::Safe && !outcome.bounds.is_empty();
    let asked = question.options.all || question.options.given.iter().any(|given| given == "unroll");
    if !asked {
        // What no bound cuts is explored once, for as long as it takes.
        let shallow = CheckArgs { unroll: 1, ..question.options.clone() };
        let look = engine.run(&Question { options: &shallow, ..*question })?;
        if !is_cut(&look) && look.stop_reason != Some(StopReason::CutEverything) {
            return Ok(First::Answer(look));
        }
        let within = engine.run(&Question { work: Some(GRAPHS), ..*question })?;
        let nothing_wrong = is_cut(&within) || within.verdict == Verdict::Unknown;
        let bounds = if is_cut(&within) { &within.bounds } else { &within.so_far };
        if nothing_wrong && let Some(proof) = proved(prover, question, bounds, &within) {
            return Ok(First::Proof(proof));
        }
        let by_work = matches!(within.stop_reason, Some(StopReason::Limit { limit: Limit::MaxNodes, .. }));
        if !by_work {
            return Ok(First::Answer(within));
        }
    }
    let found = engine.run(question)?;
    let proof = proved(prover, question, &found.bounds, &found).filter(|_| asked && is_cut(&found));
    Ok(proof.map_or(First::Answer(found), First::Proof))
}

/// The answer of an engine that needs no bound, where the explorer found nothing within one.
fn proved(
    prover: &'static dyn Engine,
    question: &Question<'_>,
    bounds: &[Bound],
    explored: &Outcome,
) -> Option<Picked> {
    let bound = bounds.iter().find(|bound| bound.name == BoundName::Unroll)?;
    let mut outcome = prover.run(&Question { work: Some(STATES), ..*question }).ok()?;
    if outcome.verdict != Verdict::Safe || !outcome.bounds.is_empty() || outcome.vacuous {
        return None;
    }
    outcome.coverage = explored.coverage.clone();
    let why = format!("it needs no bound; explore, which looks for everything, found nothing with {bound}");
    Some(Picked { engine: prover, why, surprising: true, outcome })
}

/// How long values are taken one by one before they are taken as symbols.
const TIME_FOR_DATA: Duration = Duration::from_secs(1);

/// The engine takes data as symbols.
fn has_symbols(engine: &dyn Engine) -> bool {
    ["bmc", "reduce", "axiom"].contains(&engine.name())
}

/// The program chooses values, many of them, and another engine takes data as symbols.
fn has_data(question: &Question<'_>, others: &[Able]) -> bool {
    let many = |instr: &Instr| match instr {
        Instr::Nondet { first, last, .. } => last.saturating_sub(*first) >= 16,
        _ => false,
    };
    let mut bodies = question.compiled.program.functions.iter().flat_map(|function| &function.body);
    others.iter().any(|(.., engine)| has_symbols(*engine)) && bodies.any(many)
}

/// Whether an answer is worth more than that of the first engine, which gave up, perhaps because it was `late`: *safe* within a
/// bound is not what a user who waits for all executions asked for.
fn is_worth_more(outcome: &Outcome, late: bool) -> bool {
    match outcome.verdict {
        Verdict::Unknown => false,
        Verdict::Unsafe => true,
        Verdict::Safe => !late || outcome.bounds.is_empty(),
    }
}

/// No engine honours all options that were given.
pub fn nobody(question: &Question<'_>) -> String {
    let mut text = String::from("error: no engine honours all options that were given");
    for engine in ENGINES {
        if let Some(why) = ignored(*engine, question.options) {
            let first = why.lines().next().unwrap_or_default();
            text += &format!("\n  {}", first.strip_prefix("error: ").unwrap_or(first));
        }
    }
    text
}
