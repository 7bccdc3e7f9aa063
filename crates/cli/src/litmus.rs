//! One litmus test: from its text to an answer. Reads like the pipeline.

use crate::args::LitmusEngine;
use crate::input;
use crate::model::Choice;
use crate::witness::{self, Rejected};
use fencepost_answer::StopReason as Reason;
use fencepost_contexts as contexts;
use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_explore::{
    Exploration, Finding, FindingKind, Limits, ModelName, Options, StopReason, explore, headline,
};
use fencepost_ir::{Execution, FinalCondition, Language, Program, Property, Quantifier, Value};
use fencepost_litmus::{LitmusTest, parse, show_state_into};
use fencepost_machine::power;
use fencepost_models::prepare::{self, Form, prepare};
use fencepost_models::registry::{self, Entry};
use fencepost_naive as naive;
use fencepost_report::format::VERSION;
use fencepost_report::litmus::{Answer, Holds, Verdict};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How a test is run.
#[derive(Clone, Copy)]
pub struct Settings {
    /// Loop bound.
    pub unroll: u32,
    /// Workers inside the test.
    pub jobs: usize,
    /// Give up after this time.
    pub timeout: Option<Duration>,
    /// Give up after this many visited graphs.
    pub max_nodes: Option<u64>,
    /// Whether an execution that satisfies the condition is wanted.
    pub witness: bool,
    /// What answers.
    pub engine: LitmusEngine,
    /// Bound on contexts.
    pub contexts: Option<u32>,
    /// Set by Ctrl-C.
    pub interrupt: &'static AtomicBool,
}

/// Why a test has no answer.
pub enum Trouble {
    /// The user's mistake.
    Input(input::Trouble),
    /// A limit was hit; what was found until then.
    Stopped(StopReason, String),
    /// A bug of ours.
    Internal(String),
}

/// An answer, and an execution that satisfies the condition if it was asked for and there is one.
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The bounded program.
    pub program: Program,
    /// The execution.
    pub witness: Option<Execution>,
}

/// Final states that are shown of a test without an answer.
const SHOWN_STATES: usize = 20;

/// Reads and parses a test. The error is a whole message.
pub fn read(path: &str) -> Result<(LitmusTest, SourceFile), input::Trouble> {
    let text = std::fs::read(path).map_err(|error| format!("error: cannot read {path}: {error}"))?;
    // Comments may be in any encoding; the language itself is ASCII.
    let file = SourceFile::new(path, String::from_utf8_lossy(&text));
    match parse(&file) {
        Ok(test) => Ok((test, file)),
        Err(errors) => Err(trouble(errors, &file)),
    }
}

/// Messages about a test.
fn trouble(diagnostics: Vec<Diagnostic>, file: &SourceFile) -> input::Trouble {
    let error = diagnostics.iter().map(|error| error.render(file)).collect::<Vec<_>>().join("\n");
    let mut sources = SourceMap::default();
    sources.add(file.clone());
    input::Trouble { error, diagnostics, sources }
}

/// Answers a test.
pub fn answer(
    test: &LitmusTest,
    file: &SourceFile,
    model: &Choice,
    settings: &Settings,
) -> Result<Answered, Trouble> {
    let start = Instant::now();
    let program = prepared(test, model, settings);
    let Property::Final(condition) = &program.property else {
        return Err(Trouble::Input(format!("error: {} has no final condition", file.name).into()));
    };
    let found = match model {
        _ if settings.engine != LitmusEngine::Explore => {
            if model.name() != "power" {
                let error = format!(
                    "error: the engines states and reduce answer litmus tests under power, not {}",
                    model.name()
                );
                return Err(Trouble::Input(error.into()));
            }
            with_machine(&program, file, condition, settings, start)?
        }
        Choice::Twin(entry, twin) => {
            with_explorer(&program, file, (entry, *twin), condition, settings, start)?
        }
        Choice::Cat(cat) => with_enumerator(&program, file, cat, condition, settings)?,
    };
    let verdict = Verdict::new(found.satisfying, found.executions);
    let rest = found.executions - found.satisfying;
    let (positive, negative) = match condition.quantifier {
        Quantifier::NotExists => (rest, found.satisfying),
        _ => (found.satisfying, rest),
    };
    let answer = Answer {
        version: VERSION,
        file: file.name.clone(),
        name: test.name.clone(),
        model: model.name().to_string(),
        verdict,
        holds: Holds::new(condition.quantifier, verdict, found.undefined),
        states: show_states(&program, &found.states),
        positive,
        negative,
        blocked: found.blocked,
        cut: found.cut,
        flags: found.flags,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(Answered { answer, witness: found.witness, program })
}

/// The test as the engines take it: as written, loops bounded.
fn prepared(test: &LitmusTest, model: &Choice, settings: &Settings) -> Program {
    // A litmus test is not compiled, so that any model does for one that has no row.
    let entry = registry::find(model.name()).unwrap_or(&registry::MODELS[0]);
    let options = prepare::Options { unroll: settings.unroll, spurious: true, ..Default::default() };
    let form = Form { lock_sections: false, ..Form::EXPLORE };
    match prepare(&test.program, Language::Litmus, entry, form, &options) {
        Ok(prepared) => prepared.program,
        Err(_) => unreachable!("nothing is refused without sections and mappings"),
    }
}

/// What either engine finds.
struct Found {
    executions: u64,
    satisfying: u64,
    blocked: u64,
    cut: u64,
    undefined: bool,
    flags: Vec<String>,
    states: Vec<Vec<Value>>,
    witness: Option<Execution>,
}

fn with_explorer(
    program: &Program,
    file: &SourceFile,
    (entry, model): (&Entry, ModelName),
    condition: &FinalCondition,
    settings: &Settings,
    start: Instant,
) -> Result<Found, Trouble> {
    let limits = Limits {
        deadline: settings.timeout.map(|t| start + t),
        max_nodes: settings.max_nodes,
        interrupt: Some(settings.interrupt),
        ..Limits::default()
    };
    let options = Options { jobs: settings.jobs, limits, ..Options::new(model) };
    let found = explore(program, &options).map_err(|unsupported| {
        let message = format!("{} is not part of a litmus test", unsupported.what);
        Trouble::Input(trouble(vec![Diagnostic::error(unsupported.span, message)], file))
    })?;
    if let Some(finding) = found.findings.iter().find(|f| f.kind != FindingKind::DataRace) {
        return Err(Trouble::Input(trouble(vec![show_finding(program, finding)], file)));
    }
    if let Some(reason) = found.stopped {
        return Err(Trouble::Stopped(reason, show_stop(reason, program, &found)));
    }
    let stats = found.stats;
    let undefined = stats.racy > 0;
    let witness = match found.witness.filter(|_| settings.witness) {
        Some(trace) => match witness::rebuild(program, condition, entry, &trace) {
            Ok(execution) => Some(execution),
            Err(Rejected::Wrong(why)) => {
                let message = format!("internal error: {}: the witness is none: {why}", file.name);
                return Err(Trouble::Internal(message));
            }
            Err(Rejected::TooLarge(why)) => {
                let message = format!("unknown: the witness cannot be checked: {why}");
                return Err(Trouble::Stopped(StopReason::TooManyEvents, message));
            }
        },
        None => None,
    };
    Ok(Found {
        executions: stats.executions,
        satisfying: stats.satisfying,
        blocked: stats.blocked,
        cut: stats.cut,
        undefined,
        flags: if undefined { vec!["data-race".into()] } else { Vec::new() },
        states: found.states,
        witness,
    })
}

/// The operational POWER. What is counted are final states: runs are no executions.
fn with_machine(
    program: &Program,
    file: &SourceFile,
    condition: &FinalCondition,
    settings: &Settings,
    start: Instant,
) -> Result<Found, Trouble> {
    let deadline = settings.timeout.map(|t| start + t);
    let refuse = |what: &str, span| {
        let message = format!("{what} cannot be run by this engine");
        Trouble::Input(trouble(vec![Diagnostic::error(span, message)], file))
    };
    let stopped = |reason| Trouble::Stopped(reason, format!("unknown: {}", Reason::limit(reason)));
    let mut found = Found {
        executions: 0,
        satisfying: 0,
        blocked: 0,
        cut: 0,
        undefined: false,
        flags: Vec::new(),
        states: Vec::new(),
        witness: None,
    };
    let states: Vec<Vec<Value>> = match settings.engine {
        LitmusEngine::Reduce => {
            let interrupt = Some(settings.interrupt);
            let limits = contexts::Limits { deadline, interrupt, ..contexts::Limits::default() };
            let options = contexts::Options { limits, ..contexts::Options::new(settings.unroll) };
            let states = contexts::states(program, &options, settings.contexts.unwrap_or(6))
                .map_err(|e| refuse(&e.what, e.span))?
                .map_err(|stop| match stop {
                    contexts::Stop::Timeout => stopped(StopReason::Timeout),
                    contexts::Stop::Memory => stopped(StopReason::MaxMemory),
                    contexts::Stop::Interrupted => stopped(StopReason::Interrupted),
                })?;
            let admits = |state: &Vec<Value>| condition.filter.as_ref().is_none_or(|f| f.holds(state));
            states.into_iter().filter(admits).collect()
        }
        _ => {
            let mut options = power::Options::new(settings.contexts, settings.unroll);
            options.search.deadline = deadline;
            options.search.interrupt = Some(settings.interrupt);
            // Every state is wanted, so the question is left out: a state that violates the condition would end the search.
            let mut all = program.clone();
            if let Property::Final(condition) = &mut all.property {
                condition.quantifier = Quantifier::Exists;
            }
            let checked = power::check(&all, &options).map_err(|e| refuse(&e.what, e.span))?;
            if let Some(Reason::Limit { limit, .. }) = checked.outcome.stop_reason {
                return Err(stopped(limit));
            }
            found.blocked = checked.outcome.statistics.blocked;
            checked.final_states
        }
    };
    found.executions = states.len() as u64;
    found.satisfying = states.iter().filter(|state| condition.proposition.holds(state)).count() as u64;
    found.states = states.into_iter().map(|state| state[..condition.shown].to_vec()).collect();
    found.states.sort();
    found.states.dedup();
    Ok(found)
}

fn with_enumerator(
    program: &Program,
    file: &SourceFile,
    model: &fencepost_models::Model,
    condition: &FinalCondition,
    settings: &Settings,
) -> Result<Found, Trouble> {
    let (time, interrupt) = (settings.timeout, Some(settings.interrupt));
    let limits = naive::Limits { time, interrupt, ..naive::Limits::default() };
    let found = naive::enumerate(program, model, &limits).map_err(|stop| match stop {
        naive::Stop::Unsupported { what, span } => {
            let message = format!("a cat model of your own cannot judge {what}");
            Trouble::Input(trouble(vec![Diagnostic::error(span, message)], file))
        }
        naive::Stop::Time => {
            Trouble::Stopped(StopReason::Timeout, "unknown: the time limit was reached".into())
        }
        naive::Stop::Interrupted => Trouble::Stopped(StopReason::Interrupted, "unknown: interrupted".into()),
        naive::Stop::Limit(what) => {
            let message =
                format!("unknown: too many {what} for a cat model whose executions are enumerated whole");
            Trouble::Stopped(StopReason::TooManyEvents, message)
        }
    })?;
    let mut result = Found {
        executions: 0,
        satisfying: 0,
        blocked: found.blocked,
        cut: found.cut,
        undefined: false,
        flags: Vec::new(),
        states: Vec::new(),
        witness: None,
    };
    for execution in found.executions {
        let state = execution.state(condition);
        if condition.filter.as_ref().is_some_and(|filter| !filter.holds(&state)) {
            continue;
        }
        result.executions += 1;
        result.satisfying += u64::from(condition.proposition.holds(&state));
        result.undefined |= execution.undefined;
        if settings.witness && result.witness.is_none() && witness::satisfies(&execution, condition) {
            result.witness = Some(execution.execution);
        }
        result.flags.extend(execution.flags);
        result.states.push(state[..condition.shown].to_vec());
    }
    result.states.sort();
    result.states.dedup();
    result.flags.sort();
    result.flags.dedup();
    Ok(result)
}

fn show_states(program: &Program, states: &[Vec<Value>]) -> Vec<String> {
    let mut shown: Vec<String> = states
        .iter()
        .map(|values| {
            let mut text = String::with_capacity(16 * values.len());
            show_state_into(program, values, &mut text);
            text
        })
        .collect();
    shown.sort_unstable();
    shown
}

fn show_finding(program: &Program, finding: &Finding) -> Diagnostic {
    let place = finding.places.first();
    let span = place.and_then(|p| program.functions[p.at.0 as usize].spans.get(p.at.1 as usize)).copied();
    let mut diagnostic = Diagnostic::error(span.unwrap_or_default(), headline(program, finding));
    if let Some(place) = place {
        diagnostic = diagnostic.label(format!("in some execution of thread {}", place.thread));
    }
    if matches!(finding.kind, FindingKind::NullPointer | FindingKind::BadPointer | FindingKind::OutOfBounds) {
        diagnostic = diagnostic.hint(
            "addresses come from the initial state, such as `0:r1=x;`, plus multiples of the cell's size",
        );
    }
    diagnostic
}

/// Why there is no answer, and what was found so far.
fn show_stop(reason: StopReason, program: &Program, found: &Exploration) -> String {
    let why = Reason::limit(reason);
    let stats = &found.stats;
    let mut text = format!(
        "unknown: {why}; so far {} executions, {} of them satisfy the condition, {} final states",
        stats.executions,
        stats.satisfying,
        found.states.len()
    );
    for state in show_states(program, &found.states).iter().take(SHOWN_STATES) {
        text += &format!("\n    {state}");
    }
    if found.states.len() > SHOWN_STATES {
        text += &format!("\n    and {} more", found.states.len() - SHOWN_STATES);
    }
    text
}
