//! Bounded model checking: threads unrolled into clauses, a SAT solver, and the machine to confirm what it finds.

use super::solver::{self, limits, of_unrolling};
use super::{Engine, Fit, Question};
use crate::input::Trouble;
use crate::progress;
use fencepost_answer::{Bound, BoundName, Finding, FindingKind, Outcome, StopReason, Verdict};
use fencepost_bmc::{self as bmc, Run, Why, symbolic};
use fencepost_ir::{Language, Program};
use fencepost_machine::buffers::{Action, Move, confirm_moves};
use fencepost_machine::code::Code;
use fencepost_machine::{Config, Model};
use fencepost_models::prepare::Form;

/// What the encoding says.
type Found = bmc::Outcome<Run>;

/// The engine.
pub struct Bmc;

/// Choices stay symbols: nobody has to say how many values they have.
const FORM: Form = Form { divide_choices: false, ..Form::STATES };

impl Engine for Bmc {
    fn name(&self) -> &'static str {
        "bmc"
    }

    fn about(&self) -> &'static str {
        "bounded model checking on a SAT solver: loops unrolled, data symbolic; sc"
    }

    fn honours(&self) -> &'static [&'static str] {
        &["unroll", "proof"]
    }

    fn needs_solver(&self, _: &Question<'_>) -> bool {
        true
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        match question.model.name {
            "sc" => Fit::Takes { rank: 3, why: "it takes data as symbols".into() },
            other => Fit::Refuses(format!("error: the engine bmc knows sc, not {other}")),
        }
    }

    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let _line = progress::line(question.file, question.options.quiet);
        let prepared = question.prepare(FORM)?;
        let settings = settings(question);
        let found = bmc::check(&prepared.program, &settings).map_err(|e| question.refuse(&e.what, e.span))?;
        let mut outcome = answer(question, &prepared.program, &found);
        if let (Verdict::Safe, Some(path)) = (found.verdict, &question.options.proof) {
            let note =
                bmc::prove(&prepared.program, &settings, path).map_err(|why| format!("error: {why}"))?;
            outcome.assumes.push(note);
        }
        let checks = "assertions, memory and the use of mutexes";
        outcome.checks = (question.compiled.language == Language::C).then_some(checks);
        Ok(outcome)
    }
}

/// Checks a program that a reduction made, and gives the moves of the run to what is wrong with it. They are not replayed
/// here: the caller makes a run of the source program from them.
pub fn reduced(question: &Question<'_>, program: &Program) -> Result<(Outcome, Option<Vec<Move>>), Trouble> {
    let mut settings = settings(question);
    settings.symbolic.c = false;
    let found = bmc::check(program, &settings).map_err(|e| question.refuse(&e.what, e.span))?;
    if found.verdict != Verdict::Unsafe {
        return Ok((answer(question, program, &found), None));
    }
    let message = found.finding.map_or(String::new(), |finding| finding.message);
    let run = found.run.map(|run| moves(&run));
    Ok((Outcome::new(vec![unplaced(message)], None, Vec::new()), run))
}

/// A run in which something goes wrong, if there is one within the bound on loops that takes few conflicts to find; of the
/// threads that run one function only so many move.
pub fn interleaving(
    question: &Question<'_>,
    program: &Program,
    conflicts: u32,
    alike: Option<u32>,
) -> Option<Run> {
    let mut settings = settings(question);
    settings.symbolic.limits.conflicts = Some(conflicts);
    settings.symbolic.alike = alike;
    settings.symbolic.max_steps = STEPS_OF_A_TRIAL;
    bmc::check(program, &settings).ok()?.run
}

/// Steps of all threads that a program may have to be tried.
const STEPS_OF_A_TRIAL: u64 = 20_000;

/// A run as moves of the SC machine.
fn moves(run: &Run) -> Vec<Move> {
    let step = |step: &bmc::Scheduled| Move {
        thread: step.thread as u8,
        action: Action::Step { choice: step.choice, spurious: step.spurious },
    };
    run.steps.iter().map(step).collect()
}

/// Something is wrong, no matter where.
pub fn unplaced(message: String) -> Finding {
    Finding::new(FindingKind::Assertion, message, Vec::new())
}

/// How the program is unrolled, and when to stop.
fn settings(question: &Question<'_>) -> bmc::Options<'static> {
    let symbolic = symbolic::Options {
        unroll: question.options.unroll,
        c: question.compiled.language.must_end(),
        limits: limits(question),
        ..symbolic::Options::default()
    };
    bmc::Options { symbolic, progress: of_unrolling(question) }
}

/// The answer, with what was found confirmed by the machine.
fn answer(question: &Question<'_>, program: &Program, found: &Found) -> Outcome {
    let bounds = match found.cut {
        true => vec![Bound::new(BoundName::Unroll, question.options.unroll)],
        false => Vec::new(),
    };
    match found.verdict {
        Verdict::Safe => Outcome::new(Vec::new(), None, bounds),
        Verdict::Unknown => {
            let mut outcome = Outcome::unknown(stop_reason(question, found));
            if let Some(bound) = found.completed {
                outcome.so_far = vec![Bound::new(BoundName::Unroll, bound.unroll)];
            }
            outcome
        }
        Verdict::Unsafe => confirmed(question, program, found),
    }
}

fn stop_reason(question: &Question<'_>, found: &Found) -> StopReason {
    let no_run = "a model was found that is no run";
    let reason = solver::reason(question, found.why.as_ref(), no_run, |what| {
        format!("{} cannot be followed", what.map_or("something", |(what, _)| what))
    });
    match (reason, &found.why, found.completed) {
        (StopReason::Unsupported(words), Some(Why::Limit(_)), Some(bound)) => StopReason::Unsupported(
            format!("{words}; nothing is wrong within an unroll bound of {}", bound.unroll),
        ),
        (reason, ..) => reason,
    }
}

/// Replays the run of a finding on the SC machine; a final state that does not exist needs no run.
fn confirmed(question: &Question<'_>, program: &Program, found: &Found) -> Outcome {
    let (Some(run), Some(finding)) = (&found.run, &found.finding) else {
        let message = found.finding.as_ref().map_or(String::new(), |finding| finding.message.clone());
        return Outcome::new(vec![unplaced(message)], None, Vec::new());
    };
    let code = match Code::for_replay(program) {
        Ok(code) => code,
        Err(unsupported) => {
            let why = format!("{}, but the machine cannot follow {}", finding.message, unsupported.what);
            return Outcome::unknown(StopReason::TooLargeToConfirm(why));
        }
    };
    let mut config = Config::new(Model::Sc);
    config.c = question.compiled.language.must_end();
    match confirm_moves(&code, &config, &moves(run)) {
        Ok(finding) => Outcome::new(vec![finding], None, Vec::new()),
        Err(why) => {
            let why = format!("internal error: counterexample not confirmed: {why}");
            Outcome::unknown(StopReason::NotConfirmed(why))
        }
    }
}
