//! The axioms of a model as clauses: reads-from and coherence are variables of a formula, data are symbols. What is found is
//! run again by `naive` and told as what the explorer finds is.

use super::explore::{Told, tell};
use super::solver::{self, limits, of_unrolling};
use super::{Engine, Fit, Question, has_large_choices};
use crate::args::Dependencies;
use crate::input::Trouble;
use crate::progress;
use crate::revalidate::{self, Unconfirmed};
use crate::telling::teller::{Source, Teller};
use crate::user_model;
use fencepost_answer::{Bound, BoundName, Outcome, Place as Shown, StopReason, Verdict};
use fencepost_axiom::{self as axiom, Refused, Wrong};
use fencepost_bmc::{self as bmc, Asked};
use fencepost_diag::Span;
use fencepost_explore::{self as explore, Place};
use fencepost_ir::{EventKind, Execution, Language, ObjectId, Property, Value};
use fencepost_models::Model;
use fencepost_models::prepare::{Form, Prepared};
use fencepost_naive::{Recorded, confirm_within, thread_fence};

/// The engine.
pub struct Axiom;

/// Loops and choices stay as they are: they are unrolled and symbols.
const FORM: Form = Form { bound_loops: false, divide_choices: false, ..Form::EXPLORE };

/// What is looked for, if not everything that can be wrong.
const WITH_RACES: &str = "assertions, data races, memory faults, undefined arithmetic and the use of mutexes";
const WITHOUT_RACES: &str = "assertions, memory faults, undefined arithmetic and the use of mutexes";

impl Engine for Axiom {
    fn name(&self) -> &'static str {
        "axiom"
    }

    fn about(&self) -> &'static str {
        "the axioms of a model as clauses for a SAT solver: loops unrolled, data symbolic; every model with a cat file, and yours"
    }

    fn honours(&self) -> &'static [&'static str] {
        &["unroll", "deps"]
    }

    fn needs_solver(&self, _: &Question<'_>) -> bool {
        true
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        if question.model.cat.is_empty() {
            let name = question.model.name;
            return Fit::Refuses(format!("error: the engine axiom needs axioms, and {name} has no cat file"));
        }
        if let Property::Final(_) = question.compiled.program.property {
            let file = question.file;
            return Fit::Refuses(format!(
                "error: {file} has a condition on final states, which the engine axiom does not check"
            ));
        }
        if question.compiled.language != Language::C && question.model.dependencies {
            let (file, model) = (question.file, question.model.name);
            return Fit::Refuses(format!(
                "error: the engine axiom takes C under {model}, whose branches order what comes after them, and {file} is not C"
            ));
        }
        // Where the explorer can list what there is, it is the one that looks for everything.
        match (question.model.twin, question.model.machine) {
            (None, None) => {
                Fit::Takes { rank: 0, why: "the others know the models that have names only".into() }
            }
            _ if has_large_choices(question) => {
                Fit::Takes { rank: 3, why: "it takes data as symbols".into() }
            }
            _ => Fit::IfAsked,
        }
    }

    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let _line = progress::line(question.file, question.options.quiet);
        let model = user_model::cat(question.model)?;
        let prepared = question.prepare(FORM)?;
        let settings = settings(question, &model);
        let found = axiom::check(&prepared.program, &model, &settings).map_err(|refused| match refused {
            Refused::Program(what, span) => question.refuse(&what, span),
            Refused::Model(what) => user_model::unsupported(&model, &what).into(),
        })?;
        let mut outcome = answer(question, &prepared, &model, found);
        let races = model.definition("race").is_some();
        let checks = if races { WITH_RACES } else { WITHOUT_RACES };
        outcome.checks = (question.compiled.language == Language::C).then_some(checks);
        if question.model.dependencies {
            outcome.assumes.push(match question.options.deps {
                Dependencies::Source => "source dependencies kept".into(),
                Dependencies::None => "no dependencies kept".into(),
            });
        }
        Ok(outcome)
    }
}

/// How the program is unrolled and encoded, and when to stop.
fn settings(question: &Question<'_>, model: &Model) -> axiom::Options<'static> {
    axiom::Options {
        unroll: question.options.unroll,
        thread_fence: thread_fence(model),
        // The models that the explorer knows keep dependencies through memory; of others nobody knows.
        private_memory: model.is_as_built_in() && question.model.twin.is_some(),
        dependencies: question.options.deps == Dependencies::Source,
        lemmas: true,
        ordered: question.model.ordered,
        limits: limits(question),
        progress: of_unrolling(question),
    }
}

fn answer(
    question: &Question<'_>,
    prepared: &Prepared,
    model: &Model,
    found: bmc::Outcome<Wrong>,
) -> Outcome {
    match (found.verdict, found.finding, found.run) {
        (Verdict::Unsafe, Some(finding), Some(wrong)) => {
            confirmed(question, prepared, model, &as_explored(&finding, &wrong))
        }
        (Verdict::Safe, ..) if found.cut && !found.completes => Outcome::unknown(StopReason::CutEverything),
        (Verdict::Safe, ..) => {
            let cut = found.cut.then(|| Bound::new(BoundName::Unroll, question.options.unroll));
            let mut outcome = Outcome::new(Vec::new(), None, cut.into_iter().collect());
            outcome.vacuous = !found.completes;
            outcome
        }
        _ => {
            let reason = solver::reason(question, found.why.as_ref(), "", |what| match what {
                Some((what, span)) => at(question, what, *span),
                None => "something that cannot be followed".into(),
            });
            let so_far = |asked: Asked| Bound::new(BoundName::Unroll, asked.unroll);
            Outcome { so_far: found.completed.map(so_far).into_iter().collect(), ..Outcome::unknown(reason) }
        }
    }
}

/// What cannot be followed, and where.
fn at(question: &Question<'_>, what: &str, span: Span) -> String {
    match question.compiled.sources.position(span.start) {
        Some((file, line, column)) => format!("{what} cannot be followed ({file}:{line}:{column})"),
        None => format!("{what} cannot be followed"),
    }
}

/// Runs what was found again, and puts it into words.
fn confirmed(
    question: &Question<'_>,
    prepared: &Prepared,
    model: &Model,
    finding: &explore::Finding,
) -> Outcome {
    let program = &prepared.program;
    let sources = &question.compiled.sources;
    let limits = question.limits_of_replay();
    let dependencies = question.options.deps == Dependencies::Source;
    let recorded = Recorded { dependencies, ..revalidate::record(finding, finding.kind) };
    let rebuilt = match confirm_within(program, model, &recorded, &limits) {
        Ok(rebuilt) => rebuilt,
        Err(refused) => {
            let unconfirmed: Unconfirmed = revalidate::describe(finding, &refused);
            return Outcome::unknown(unconfirmed.into());
        }
    };
    // Sections are critical sections here: what is outside may come between their steps, and then this might be no execution.
    let between = |lock: ObjectId| comes_between(&rebuilt.execution, lock);
    if prepared.section_lock.is_some_and(between) {
        let why = "something may be wrong, with accesses from outside between the steps of an atomic section";
        return Outcome::unknown(StopReason::Unsupported(why.into()));
    }
    let source = Source { program, sources };
    let teller = Teller::new(source, finding, question.options.full);
    let spots = teller.places().into_iter().map(|spot| Shown {
        thread: Some(spot.thread),
        span: source.span(spot.at),
        label: spot.label,
    });
    let answered = fencepost_answer::Finding {
        places: spots.collect(),
        trace: teller.trace(),
        ..fencepost_answer::Finding::new(finding.kind, teller.message(), Vec::new())
    };
    let mut outcome = Outcome::new(vec![answered], None, Vec::new());
    let told = Told {
        source,
        full: question.options.full,
        model: question.model,
        cat: Some(model),
        rebuilt: Some(rebuilt),
        under_sc: &|| None,
        again: 0,
    };
    tell(&told, 0, finding, &mut outcome);
    outcome
}

/// Whether an access in a section, and one of another thread outside of all sections to the same cell, may come in any order.
fn comes_between(execution: &Execution, lock: ObjectId) -> bool {
    let events = &execution.events;
    let (mut inside, mut holds, mut thread) = (vec![false; events.len()], false, None);
    for (number, event) in events.iter().enumerate().filter(|(_, event)| !event.is_init()) {
        if thread != event.thread {
            (thread, holds) = (event.thread, false);
        }
        match event.location {
            Some(location) if location.object == lock => {
                holds = if event.kind == EventKind::Write { event.value != Value::ZERO } else { holds };
            }
            place => inside[number] = holds && place.is_some(),
        }
    }
    let before = execution.po.union(&execution.rf).transitive_closure();
    let writes = |event: usize| events[event].kind == EventKind::Write;
    let conflict = |a: usize, b: usize| {
        events[a].location == events[b].location
            && events[a].thread != events[b].thread
            && !events[b].is_init()
            && (writes(a) || writes(b))
            && !before.contains(a, b)
            && !before.contains(b, a)
    };
    let all = 0..events.len();
    all.clone().filter(|&a| inside[a]).any(|a| all.clone().any(|b| !inside[b] && conflict(a, b)))
}

/// The finding as the explorer has its own.
fn as_explored(found: &bmc::Finding, wrong: &Wrong) -> explore::Finding {
    explore::Finding {
        kind: found.kind,
        places: wrong.places.iter().map(|&(thread, at)| Place { thread, at }).collect(),
        calls: wrong.calls.clone(),
        object: wrong.object.clone(),
        made: Vec::new(),
        execution: wrong.execution.clone(),
    }
}
