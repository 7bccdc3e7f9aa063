//! A reduction of TSO to SC, then the states of the SC machine or another back end; and `fencepost reduce`, which writes the SC
//! program.

use super::promising_translated::{self, Translated};
use super::states::{search, with_limits};
use super::{Engine, Fit, Question};
use crate::args::{Backend, CheckArgs, ReduceArgs};
use crate::check::INTERRUPT;
use crate::input::{self, Trouble};
use fencepost_answer::{Bound, BoundName, Outcome, StopReason, Verdict};
use fencepost_ir::{Language, Program};
use fencepost_machine::buffers::Move;
use fencepost_machine::code::Code;
use fencepost_machine::guided::{self, Visit};
use fencepost_machine::{Config, Model, Options, check, find};
use fencepost_models::prepare::Form;
use fencepost_models::registry;
use fencepost_reduce::{
    self as reduction, Moved, Origins, is_enough, moved, print_c, print_sequential, reduce_tso,
    reduce_with_origins, start_at_once,
};
use reduction::sequential::{Contexts, Sequential, print_as_it_is};
use std::time::Instant;

/// The engine.
pub struct Reduce;

/// What is printed as sequential C: choices stay what they are.
const SEQUENTIAL: Form =
    Form { lock_sections: false, bound_loops: false, globalise_locals: false, divide_choices: false };

/// Rounds that a store waits if the user names no bound.
const DEFAULT_AGE: u32 = 2;

impl Engine for Reduce {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn about(&self) -> &'static str {
        "tso: a reduction to SC, then a back end for SC; power, ps: runs with K contexts, or K promises and view switches, on a \
         SAT solver"
    }

    fn honours(&self) -> &'static [&'static str] {
        &[
            "rounds",
            "age",
            "contexts",
            "unroll",
            "backend",
            "bound",
            "promises",
            "views",
            "consistency",
            "proof",
        ]
    }

    fn needs_solver(&self, question: &Question<'_>) -> bool {
        let formula = question.model.name == super::promising::MODEL || super::power::takes(question);
        formula || question.options.backend == Backend::Bmc
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        if question.options.proof.is_some() && !super::power::takes(question) {
            let model = question.model.name;
            return Fit::Refuses(format!(
                "error: --proof of the engine reduce is for power, not for {model}"
            ));
        }
        if let Some(fit) = super::promising_encoding::fit(question) {
            return fit;
        }
        if let Some(fit) = super::power::fit(question) {
            return match fit {
                Fit::IfAsked if super::has_large_choices(question) => {
                    Fit::Takes { rank: 4, why: "it takes data as symbols".into() }
                }
                fit => fit,
            };
        }
        match bound(question.model.name, question.options.rounds, question.options.age) {
            Ok(_) if super::has_large_choices(question) => {
                Fit::Takes { rank: 4, why: "it takes data as symbols".into() }
            }
            Ok(_) => Fit::IfAsked,
            Err(refused) => Fit::Refuses(refused),
        }
    }

    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        if question.model.name == super::promising::MODEL {
            return super::promising_encoding::run(question);
        }
        if super::power::takes(question) {
            return super::power::reduce(question);
        }
        let options = question.options;
        let bound = bound(question.model.name, options.rounds, options.age)?;
        let backend = backend(question);
        let form = Form { divide_choices: backend == Backend::States, ..Form::STATES };
        let prepared = question.prepare(form)?;
        let refuse = |e: reduction::Unsupported| question.refuse(&e.what, e.span);
        let started = start_at_once(&prepared.program);
        let (reduced, origins) =
            reduce_with_origins(&started, &reduction::Options::new(bound)).map_err(refuse)?;
        let (mut outcome, run) = match backend {
            Backend::States => {
                let settings = Options { config: Config::new(Model::Sc), search: search(question) };
                let (found, run) = find(&reduced, &settings).map_err(|e| question.refuse(&e.what, e.span))?;
                // What has no run needs none: that a final state is not there.
                (found.outcome, (!run.is_empty()).then_some(run))
            }
            Backend::Bmc => super::bmc::reduced(question, &reduced)?,
            Backend::Cbmc => {
                let printed = sequential(question, bound, None, options.unroll)?;
                (super::cbmc::run(question, &printed, 1)?, None)
            }
        };
        let all = is_enough(&prepared.program, bound);
        if outcome.verdict == Verdict::Unsafe {
            let source = &prepared.program;
            outcome = match run {
                None if source.asks_for_a_state() && backend != Backend::Cbmc => match all {
                    true => outcome,
                    // Within the bound there is none.
                    false => Outcome::unknown(StopReason::NoneWithinBounds),
                },
                Some(run) => {
                    let guide = guide(&reduced, &run, &origins, moved(source, &started));
                    self.lifted(question, source, guide, outcome)
                }
                // CBMC tells no run that could be followed.
                None => self.on_source(question, source, outcome)?,
            };
        }
        // The reduced program never leaves its bound, so the bound is part of the answer unless it keeps nothing away.
        if !all {
            outcome.bounds.push(match bound {
                reduction::Bound::Rounds(k) => Bound::new(BoundName::Rounds, k + 1),
                reduction::Bound::Age(k) => Bound::new(BoundName::Age, k),
            });
        }
        // A reduced program keeps its assertions only.
        outcome.checks = (question.compiled.language == Language::C).then_some("assertions");
        Ok(with_limits(outcome, question))
    }
}

/// The back end: choices among many values are symbols to `bmc`, the states would be listed one by one.
fn backend(question: &Question<'_>) -> Backend {
    let given = question.options.given.iter().any(|given| given == "backend");
    match question.options.backend {
        Backend::States if !given && super::has_large_choices(question) => Backend::Bmc,
        asked => asked,
    }
}

/// The order in which a run of the reduced program executes the instructions of the source.
fn guide(
    reduced: &Program,
    run: &[Move],
    origins: &Origins,
    moved: Option<Moved>,
) -> Result<(Vec<Visit>, bool), String> {
    let code = Code::for_replay(reduced).map_err(|e| e.what)?;
    let source = |visit: Visit| {
        let (function, mut pc) = (*origins.get(visit.function as usize)?.get(visit.pc as usize)?)?;
        if let Some(moved) = moved.filter(|moved| moved.function.0 == function) {
            pc = pc.checked_sub(moved.by)?;
        }
        Some(Visit { function, pc, ..visit })
    };
    let visits = guided::trail(&code, &Config::new(Model::Sc), run)?;
    Ok((visits.into_iter().filter_map(source).collect(), moved.is_some()))
}

impl Reduce {
    /// A counterexample of the reduced program as a run of the source program, which executes the same instructions in the
    /// same order.
    fn lifted(
        &self,
        question: &Question<'_>,
        source: &Program,
        guide: Result<(Vec<Visit>, bool), String>,
        reduced: Outcome,
    ) -> Outcome {
        let c = question.compiled.language.must_end();
        let on_source = |(guide, prelude): (Vec<Visit>, bool)| {
            let code = Code::for_replay(source).map_err(|e| e.what)?;
            guided::lift(&code, c, &guide, prelude)
        };
        let outcome = match guide.and_then(on_source) {
            Ok(finding) => Outcome::new(vec![finding], None, Vec::new()),
            Err(why) => {
                let why = format!(
                    "internal error: the counterexample of the reduced program is not one of the source: {why}"
                );
                Outcome::unknown(StopReason::NotConfirmed(why))
            }
        };
        Outcome { statistics: reduced.statistics, ..outcome }
    }

    /// A verdict without a run: the machine finds and replays one within the same bound. If it finds none, one of the two
    /// is wrong.
    fn on_source(
        &self,
        question: &Question<'_>,
        source: &Program,
        reduced: Outcome,
    ) -> Result<Outcome, Trouble> {
        let options = question.options;
        let mut config = Config::new(Model::Tso);
        (config.rounds, config.age) =
            (options.rounds, options.age.or(options.rounds.is_none().then_some(DEFAULT_AGE)));
        let run = check(source, &Options { config, search: search(question) })
            .map_err(|e| question.refuse(&e.what, e.span))?
            .outcome;
        if run.verdict == Verdict::Unsafe {
            return Ok(Outcome { statistics: reduced.statistics, bounds: Vec::new(), ..run });
        }
        let why = "internal error: the machine does not confirm the counterexample of the reduced program";
        let outcome = Outcome::unknown(StopReason::NotConfirmed(why.into()));
        Ok(Outcome { statistics: reduced.statistics, ..outcome })
    }
}

fn bound(model: &str, rounds: Option<u32>, age: Option<u32>) -> Result<reduction::Bound, String> {
    if model != "tso" {
        return Err("error: the reductions are for tso, power and ps".into());
    }
    match (rounds, age) {
        (Some(0), _) => Err("error: --rounds counts from 1".into()),
        (Some(k), None) => Ok(reduction::Bound::Rounds(k - 1)),
        (None, age) => Ok(reduction::Bound::Age(age.unwrap_or(DEFAULT_AGE))),
        (Some(_), Some(_)) => Err("error: --rounds and --age exclude each other here".into()),
    }
}

/// How often each thread is let on in a sequential program, if stores wait by age and the user names no number.
const CONTEXTS_PER_THREAD: u32 = 3;

/// The TSO program as sequential C.
fn sequential(
    question: &Question<'_>,
    bound: reduction::Bound,
    contexts: Option<u32>,
    unroll: u32,
) -> Result<Sequential, Trouble> {
    let prepared = question.prepare(SEQUENTIAL)?;
    let per_thread = match bound {
        reduction::Bound::Rounds(k) => k + 1,
        reduction::Bound::Age(_) => CONTEXTS_PER_THREAD,
    };
    let contexts = contexts.map_or(Contexts::PerThread(per_thread), Contexts::Total);
    let owners = question.compiled.language == Language::C;
    let options = reduction::sequential::Options { contexts, unroll, owners, stores: Some(bound) };
    let mut printed =
        print_sequential(&prepared.program, &options).map_err(|e| question.refuse(&e.what, e.span))?;
    // A bound on rounds is one on contexts.
    if matches!((bound, contexts), (reduction::Bound::Rounds(_), Contexts::PerThread(_))) {
        printed.contexts = None;
    }
    Ok(printed)
}

/// Writes the SC program that `fencepost reduce` asks for.
pub fn write_reduced(options: &ReduceArgs) -> Result<(), Trouble> {
    let name = options.path.display().to_string();
    let Some(model) = registry::find(&options.model) else {
        return Err(format!("error: there is no model `{}`", options.model).into());
    };
    let defaults = CheckArgs { unroll: options.unroll, ..CheckArgs::default() };
    let compiled = input::read(&name, model, &defaults)?;
    let (file, start) = (name.as_str(), Instant::now());
    let question = Question {
        file,
        compiled: &compiled,
        model,
        options: &defaults,
        start,
        until: None,
        work: None,
        interrupt: &INTERRUPT,
    };
    let out = options.output.display().to_string();
    let text = match out.rsplit('.').next() {
        Some("fp") => fencepost_lang::print(&reduced_program(&question, options)?),
        Some("c") if options.threads => print_c(&reduced_program(&question, options)?),
        Some("c") => Ok(sequential_program(&question, options)?.text),
        _ => Err("-o takes a file whose name ends in .c or .fp".into()),
    };
    let text = text.map_err(|error| format!("error: {error}"))?;
    std::fs::write(&out, text).map_err(|error| format!("error: cannot write {out}: {error}").into())
}

/// The reduction of the model as sequential C.
fn sequential_program(question: &Question<'_>, options: &ReduceArgs) -> Result<Sequential, Trouble> {
    let (power, promising) = (super::power::takes(question), promising_translated::is_asked(question));
    if promising {
        return written_promising(question, options)?.sequential(question, options.contexts);
    }
    if !power {
        let bound = bound(&options.model, options.rounds, options.age)?;
        return sequential(question, bound, options.contexts, options.unroll);
    }
    let once = Contexts::Total(1);
    print_as_it_is(&reduced_program(question, options)?, once).map_err(|e| question.refuse(&e.what, e.span))
}

/// The translation of the promising semantics.
fn written_promising(question: &Question<'_>, options: &ReduceArgs) -> Result<Translated, Trouble> {
    if options.rounds.is_some() || options.age.is_some() {
        return Err("error: --rounds and --age are for tso".to_string().into());
    }
    promising_translated::translate(question, options.bound, options.promises, options.unroll)
}

/// The reduction of the model.
fn reduced_program(question: &Question<'_>, options: &ReduceArgs) -> Result<Program, Trouble> {
    let promising = promising_translated::is_asked(question);
    let power = super::power::takes(question);
    if options.contexts.is_some() && !power {
        return Err(format!("error: --contexts is for power, not for {}", question.model.name).into());
    }
    if (options.bound.is_some() || options.promises.is_some()) && !promising {
        return Err(
            format!("error: --bound and --promises are for ps, not for {}", question.model.name).into()
        );
    }
    if power && options.rounds.or(options.age).is_some() {
        return Err("error: --rounds and --age are for tso; the bound of power is --contexts"
            .to_string()
            .into());
    }
    if power {
        return super::power::written(question, options);
    }
    let refuse = |e: reduction::Unsupported| {
        let error = fencepost_diag::Diagnostic::error(e.span, format!("{} cannot be reduced", e.what));
        Trouble::about(&question.compiled.sources, error)
    };
    if !promising {
        let bound = bound(&options.model, options.rounds, options.age)?;
        let prepared = question.prepare(Form::STATES)?;
        let options = reduction::Options::new(bound);
        return reduce_tso(&start_at_once(&prepared.program), &options).map_err(refuse);
    }
    Ok(written_promising(question, options)?.program)
}
