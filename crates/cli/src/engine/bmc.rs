//! Bounded model checking: threads unrolled into clauses, a SAT solver, and the machine to confirm what it finds.

use super::{Engine, Fit, Question};
use crate::check::INTERRUPT;
use crate::input::Trouble;
use crate::progress::{self, is_watched};
use fencepost_answer::{Bound, BoundName, Finding, FindingKind, Limit, Outcome, StopReason};
use fencepost_bmc::check::Progress;
use fencepost_bmc::{self as bmc, symbolic};
use fencepost_ir::{Language, Program};
use fencepost_machine::buffers::{Action, Move, confirm_moves};
use fencepost_machine::code::Code;
use fencepost_machine::{Config, Model};
use fencepost_models::prepare::Form;

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
        if let (bmc::Verdict::Safe, Some(path)) = (found.verdict, &question.options.proof) {
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
    if found.verdict != bmc::Verdict::Unsafe {
        return Ok((answer(question, program, &found), None));
    }
    let message = found.finding.map_or(String::new(), |finding| finding.message);
    let run = found.run.map(|run| moves(&run));
    Ok((Outcome::new(vec![unplaced(message)], None, Vec::new()), run))
}

/// A run in which something goes wrong, if there is one within the bound on loops that takes few conflicts to find; of the threads
/// that run one function only so many move.
pub fn interleaving(
    question: &Question<'_>,
    program: &Program,
    conflicts: u32,
    alike: Option<u32>,
) -> Option<bmc::Run> {
    let mut settings = settings(question);
    settings.symbolic.limits.conflicts = Some(conflicts);
    settings.symbolic.alike = alike;
    settings.symbolic.max_steps = STEPS_OF_A_TRIAL;
    bmc::check(program, &settings).ok()?.run
}

/// Steps of all threads that a program may have to be tried.
const STEPS_OF_A_TRIAL: u64 = 20_000;

/// A run as moves of the SC machine.
fn moves(run: &bmc::Run) -> Vec<Move> {
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
    let limits = bmc::Limits {
        deadline: question.deadline(),
        max_bytes: question.options.max_memory.map(|mb| mb.saturating_mul(1_000_000)),
        interrupt: Some(&INTERRUPT),
        conflicts: None,
    };
    let symbolic = symbolic::Options {
        unroll: question.options.unroll,
        c: question.compiled.language.must_end(),
        limits,
        ..symbolic::Options::default()
    };
    let progress: Option<&dyn Fn(Progress)> = is_watched(question.options.quiet).then_some(&of_bounds);
    bmc::Options { symbolic, progress }
}

/// Tells which bound is being tried.
fn of_bounds(progress: Progress) {
    let Progress { unroll, statistics } = progress;
    let (variables, clauses) = (statistics.variables, statistics.clauses);
    progress::note(format!("unroll {unroll}: {variables} variables, {clauses} clauses"));
}

/// The answer, with what was found confirmed by the machine.
fn answer(question: &Question<'_>, program: &Program, found: &bmc::Outcome) -> Outcome {
    let bounds = match found.cut {
        true => vec![Bound::new(BoundName::Unroll, question.options.unroll)],
        false => Vec::new(),
    };
    match found.verdict {
        bmc::Verdict::Safe => Outcome::new(Vec::new(), None, bounds),
        bmc::Verdict::Unknown => {
            let mut outcome = Outcome::unknown(stop_reason(question, program, found));
            if let Some(bound) = found.completed {
                outcome.so_far = vec![Bound::new(BoundName::Unroll, bound)];
            }
            outcome
        }
        bmc::Verdict::Unsafe => confirmed(question, program, found),
    }
}

fn stop_reason(question: &Question<'_>, program: &Program, found: &bmc::Outcome) -> StopReason {
    let words = || found.reason.clone().unwrap_or_default();
    match found.stop {
        Some(bmc::StopReason::Timeout) => question.stop(Limit::Timeout),
        Some(bmc::StopReason::Memory) => question.stop(Limit::MaxMemory),
        Some(bmc::StopReason::Interrupted) => question.stop(Limit::Interrupted),
        Some(bmc::StopReason::Size | bmc::StopReason::NoSolver) => StopReason::Unsupported(words()),
        None if found.unexplained => StopReason::NotConfirmed(format!("internal error: {}", words())),
        None if found.cut && super::reduce::asks_for_a_state(program) => StopReason::NoneWithinBounds,
        None => StopReason::Unsupported(words()),
    }
}

/// Replays the run of a finding on the SC machine; a final state that does not exist needs no run.
fn confirmed(question: &Question<'_>, program: &Program, found: &bmc::Outcome) -> Outcome {
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
