//! One litmus test: from its text to an answer. Reads like the pipeline.

use crate::args::{LitmusEngine, OutliveArgs};
use crate::check::INTERRUPT;
use crate::input;
use crate::keeping::{self, NotExplored};
use crate::litmus_promising;
use crate::model::Choice;
use crate::progress::PROGRESS;
use crate::remote::{self, Description};
use crate::telling::headline::{headline, quoted};
use crate::witness::{self, Rejected};
use fencepost_answer::{Bound, BoundName, Observed, Outcome, Statistics, StopReason as Reason};
use fencepost_bmc::power as contexts;
use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_explore::{Finding, FindingKind, Limits, ModelName, Options, StopReason};
use fencepost_ir::{
    Fence, FinalCondition, Instr, Language, Object, Observable, Program, Property, Quantifier, Role, Value,
};
use fencepost_litmus::{Arch, LitmusTest, parse, show_state_into};
use fencepost_machine::power;
use fencepost_models::prepare::{self, Form, prepare};
use fencepost_models::registry::{self, Entry};
use fencepost_naive as naive;
use fencepost_report::litmus::{Holds, Verdict};
use std::time::{Duration, Instant};

/// How a test is run.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Loop bound.
    pub unroll: u32,
    /// Workers inside the test.
    pub jobs: usize,
    /// Give up after this time.
    pub timeout: Option<Duration>,
    /// Give up after this many visited graphs.
    pub max_nodes: Option<u64>,
    /// Whether it outlives the process.
    pub outlive: &'a OutliveArgs,
    /// There are other tests.
    pub many: bool,
    /// Whether an execution that satisfies the condition is wanted.
    pub witness: bool,
    /// What answers.
    pub engine: LitmusEngine,
    /// Bound on contexts.
    pub contexts: Option<u32>,
    /// Somebody watches how far it is.
    pub watched: bool,
    /// There are other tests, or models: what is drawn has names of its own.
    pub several: bool,
}

impl<'a> Settings<'a> {
    /// For one test that nobody watches.
    pub fn alone(outlive: &'a OutliveArgs) -> Settings<'a> {
        Settings {
            unroll: 2,
            jobs: 1,
            timeout: None,
            max_nodes: None,
            outlive,
            many: false,
            witness: false,
            engine: LitmusEngine::Explore,
            contexts: None,
            watched: false,
            several: false,
        }
    }
}

/// An answer, and an execution that satisfies the condition if it was asked for and there is one.
pub struct Answered {
    /// The answer: what was observed is in it, and a condition that does not hold is a finding.
    pub outcome: Outcome,
    /// What the condition asks.
    pub quantifier: Quantifier,
    /// The bounded program.
    pub program: Program,
    /// The final states as values, in the order of the condition's observed parts.
    pub finals: Vec<Vec<Value>>,
    /// The execution.
    pub witness: Option<naive::NaiveExecution>,
    /// Time it took.
    pub seconds: f64,
}

/// Reads and parses a test. The error is a whole message.
pub fn read(path: &str) -> Result<(LitmusTest, SourceFile), input::Trouble> {
    if let Some(error) = input::for_another_command(path, input::LITMUS) {
        return Err(error.into());
    }
    let file = SourceFile::new(path, input::text_of(path)?);
    Ok((parsed(&file)?, file))
}

/// Parses a test.
pub fn parsed(file: &SourceFile) -> Result<LitmusTest, input::Trouble> {
    parse(file).map_err(|errors| trouble(errors, file))
}

/// Messages about a test.
fn trouble(diagnostics: Vec<Diagnostic>, file: &SourceFile) -> input::Trouble {
    let error = diagnostics.iter().map(|error| error.render(file)).collect::<Vec<_>>().join("\n");
    let mut sources = SourceMap::default();
    sources.add(file.clone());
    input::Trouble { error, diagnostics, sources }
}

/// Answers a test. The error is the user's mistake.
pub fn answer(
    test: &LitmusTest,
    file: &SourceFile,
    model: &Choice,
    settings: &Settings<'_>,
) -> Result<Answered, input::Trouble> {
    let start = Instant::now();
    let program = prepared(test, model.name(), settings.unroll);
    let Property::Final(condition) = &program.property else {
        return Err(format!("error: {} has no final condition", file.name).into());
    };
    let explored = settings.engine == LitmusEngine::Explore && matches!(model, Choice::Twin(..));
    if let Some(option) = settings.outlive.asks().filter(|_| !explored) {
        return Err(format!(
            "error: {option} is for the built-in models of the explorer\n  what is left of an exploration is a list of \
             places; the other engines hold all states, or all clauses, in memory"
        )
        .into());
    }
    let by_contexts = settings.engine != LitmusEngine::Explore && model.name() == "power";
    if settings.contexts.is_some() && !by_contexts {
        return Err(NO_CONTEXTS.to_owned().into());
    }
    let Found { outcome, finals, witness } = match model {
        Choice::Machine(_) if test.arch != Arch::C => {
            let error = "error: the promising semantics is one of C, and this is a test of a machine";
            return Err(error.to_owned().into());
        }
        Choice::Machine(_) => with_promises(&program, file, condition, settings, start)?,
        _ if settings.engine != LitmusEngine::Explore => {
            if model.name() != "power" {
                let name = model.name();
                let error = format!(
                    "error: the engines states and reduce answer litmus tests under power, not {name}"
                );
                return Err(error.into());
            }
            with_machine(&program, file, condition, settings, start)?
        }
        Choice::Twin(entry, _) if has_parts(&program) => {
            if entry.name != "armv8" {
                return Err(without_parts(entry.name).into());
            }
            let cat = fencepost_models::Model::builtin(entry.name);
            let cat = cat.ok_or_else(|| format!("error: {} has no cat file", entry.name))?;
            with_enumerator(&program, file, &cat, condition, settings)?
        }
        Choice::Twin(entry, _) if test.is_kernel && has_kernel_events(&program) => {
            let error =
                format!("error: {} does not know the fences, locks and RCU of the Linux kernel", entry.name);
            return Err(format!("{error}\n  the kernel's model does: -m lkmm").into());
        }
        Choice::Twin(entry, twin) => {
            with_explorer(&program, file, (entry, *twin), condition, settings, start)?
        }
        Choice::Cat(cat) if has_parts(&program) && !knows_parts(cat) => {
            return Err(without_parts(cat.name()).into());
        }
        Choice::Cat(cat) => with_enumerator(&program, file, cat, condition, settings)?,
    };
    let (quantifier, seconds) = (condition.quantifier, start.elapsed().as_secs_f64());
    Ok(Answered { outcome, quantifier, program, finals, witness, seconds })
}

/// Nothing has contexts but the machine of POWER.
pub const NO_CONTEXTS: &str = "error: --contexts is an option of `-m power --engine states` and `-m power --engine reduce`\n  \
    the axiomatic models and the promising semantics have no contexts";

fn without_parts(model: &str) -> String {
    format!(
        "error: {model} does not say what accesses of different sizes to one location do\n  armv8 does, and cat models \
         with the relation `sm`"
    )
}

/// Whether a model speaks of the parts of an access.
fn knows_parts(model: &fencepost_models::Model) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    model.source().text.split(|c| !is_name(c)).any(|word| word == "sm")
}

/// Whether some instruction accesses a location in parts, because others access it in other sizes.
fn has_parts(program: &Program) -> bool {
    let parts = |instr: &Instr| match *instr {
        Instr::Load { ann, .. } | Instr::Store { ann, .. } => ann.role == Role::Continues,
        _ => false,
    };
    let in_parts = |object: &Object, width| object.cells.first().is_some_and(|cell| cell.width < width);
    let observed = match &program.property {
        Property::Final(condition) => &condition.observed[..],
        _ => &[],
    };
    let seen_whole = |observable: &Observable| match *observable {
        Observable::Memory { object, width, .. } => in_parts(&program.objects[object.0 as usize], width),
        Observable::Register { .. } => false,
    };
    program.functions.iter().flat_map(|function| &function.body).any(parts) || observed.iter().any(seen_whole)
}

/// Whether something in a test means something to the kernel's model only.
fn has_kernel_events(program: &Program) -> bool {
    let role = |role: Role| !matches!(role, Role::None | Role::Result | Role::Continues);
    let kernel = |instr: &Instr| match *instr {
        Instr::Fence(fence) => matches!(fence, Fence::Kernel(_)),
        Instr::Load { ann, .. } | Instr::Store { ann, .. } => role(ann.role),
        Instr::AwaitRmw { read, .. } | Instr::CompareExchange { read, .. } => role(read.role),
        _ => false,
    };
    program.functions.iter().flat_map(|function| &function.body).any(kernel)
}

/// A test that comes from elsewhere, as the explorer takes it.
#[cfg(feature = "cluster")]
pub fn described(
    file: &SourceFile,
    model: &str,
    unroll: u32,
) -> Result<(Program, Options<'static>), input::Trouble> {
    let test = parse(file).map_err(|errors| trouble(errors, file))?;
    let known = registry::find(model).and_then(|entry| entry.twin).and_then(ModelName::from_name);
    let twin = known.ok_or_else(|| format!("error: there is no model `{model}`"))?;
    Ok((prepared(&test, model, unroll), Options::new(twin)))
}

/// The test as the engines take it: as written, loops bounded.
fn prepared(test: &LitmusTest, model: &str, unroll: u32) -> Program {
    // A litmus test is not compiled, so that any model does for one that has no row.
    let entry = registry::find(model).unwrap_or(&registry::MODELS[0]);
    let options = prepare::Options { unroll, spurious: true, ..Default::default() };
    let form = Form { lock_sections: false, ..Form::EXPLORE };
    match prepare(&test.program, Language::Litmus, entry, form, &options) {
        Ok(prepared) => prepared.program,
        Err(_) => unreachable!("nothing is refused without sections and mappings"),
    }
}

/// The answer that follows from what was observed in all executions: the condition is the property.
fn conclude(
    condition: &FinalCondition,
    settings: &Settings<'_>,
    statistics: Statistics,
    observed: Observed,
) -> Outcome {
    let often = Verdict::new(observed.satisfying, statistics.executions.unwrap_or(0));
    let found = match Holds::new(condition.quantifier, often, observed.undefined) {
        Holds::Ok => None,
        Holds::No => Some((FindingKind::Assertion, "the condition does not hold")),
        Holds::Undef => Some((FindingKind::DataRace, "some execution has a data race")),
    };
    let finding =
        |(kind, message): (FindingKind, &str)| fencepost_answer::Finding::new(kind, message, Vec::new());
    let cut = (statistics.cut > 0).then(|| Bound::new(BoundName::Unroll, settings.unroll));
    let outcome = Outcome::new(found.map(finding).into_iter().collect(), None, cut.into_iter().collect());
    Outcome { statistics, observed: Some(observed), ..outcome }
}

/// What an engine found.
struct Found {
    outcome: Outcome,
    finals: Vec<Vec<Value>>,
    witness: Option<naive::NaiveExecution>,
}

/// Without all executions there is no verdict; what was observed so far is told.
fn stopped(reason: Reason, statistics: Statistics, observed: Option<Observed>) -> Found {
    let outcome = Outcome { statistics, observed, ..Outcome::unknown(reason) };
    Found { outcome, finals: Vec::new(), witness: None }
}

fn with_explorer(
    program: &Program,
    file: &SourceFile,
    (entry, model): (&Entry, ModelName),
    condition: &FinalCondition,
    settings: &Settings<'_>,
    start: Instant,
) -> Result<Found, input::Trouble> {
    let limits = Limits {
        deadline: settings.timeout.map(|t| start + t),
        max_nodes: settings.max_nodes,
        interrupt: Some(&INTERRUPT),
        progress: settings.watched.then_some(&PROGRESS),
        ..Limits::default()
    };
    let options = Options { jobs: settings.jobs, limits, ..Options::new(model) };
    let searched = match &settings.outlive.cluster {
        Some(server) => {
            let about = (file.name.as_str(), settings.many, true);
            let description = Description::of_test(file, entry.name, settings.unroll);
            remote::search(program, &options, settings.outlive, server, about, &description)
        }
        None => keeping::search(program, &options, settings.outlive),
    };
    let found = searched.map_err(|error| match error {
        NotExplored::Unsupported(unsupported) => {
            let message = format!("{} is not part of a litmus test", unsupported.what);
            trouble(vec![Diagnostic::error(unsupported.span, message)], file)
        }
        NotExplored::Message(error) => error.into(),
    })?;
    if let Some(finding) = found.findings.iter().find(|f| f.kind != FindingKind::DataRace) {
        return Err(trouble(vec![show_finding(program, finding)], file));
    }
    let stats = found.stats;
    let statistics = Statistics {
        executions: Some(stats.executions),
        blocked: stats.blocked,
        cut: stats.cut,
        ..Statistics::default()
    };
    let undefined = stats.racy > 0;
    let observed = Observed {
        states: show_states(program, &found.states),
        satisfying: stats.satisfying,
        undefined,
        flags: if undefined { vec!["data-race".into()] } else { Vec::new() },
    };
    if let Some(limit) = found.stopped {
        return Ok(stopped(Reason::limit(limit), statistics, Some(observed)));
    }
    let witness = match found.witness.filter(|_| settings.witness) {
        Some(trace) => match witness::rebuild(program, condition, entry, &trace) {
            Ok(execution) => Some(execution),
            Err(Rejected::Wrong(why)) => {
                let why = format!("internal error: {}: the witness is none: {why}", file.name);
                return Ok(stopped(Reason::NotConfirmed(why), statistics, None));
            }
            Err(Rejected::TooLarge(why)) => {
                let reason = Reason::TooLargeToConfirm(format!("the witness: {why}"));
                return Ok(stopped(reason, statistics, None));
            }
        },
        None => None,
    };
    let outcome = conclude(condition, settings, statistics, observed);
    Ok(Found { outcome, finals: found.states, witness })
}

/// The operational POWER. What is counted are final states: runs are no executions.
fn with_machine(
    program: &Program,
    file: &SourceFile,
    condition: &FinalCondition,
    settings: &Settings<'_>,
    start: Instant,
) -> Result<Found, input::Trouble> {
    let deadline = settings.timeout.map(|t| start + t);
    let refuse = |what: &str, span| {
        let message = format!("{what} cannot be run by this engine");
        trouble(vec![Diagnostic::error(span, message)], file)
    };
    let mut statistics = Statistics::default();
    let states: Vec<Vec<Value>> = match settings.engine {
        LitmusEngine::Reduce => {
            let interrupt = Some(&INTERRUPT);
            let limits = fencepost_bmc::Limits { deadline, interrupt, ..fencepost_bmc::Limits::default() };
            let options = contexts::Options { limits, ..contexts::Options::new(settings.unroll) };
            let found = contexts::states(program, &options, settings.contexts.unwrap_or(6))
                .map_err(|e| refuse(&e.what, e.span))?;
            let states = match found {
                Ok(states) => states,
                Err(stop) => {
                    let limit = match stop {
                        fencepost_bmc::StopReason::NoSolver => {
                            return Err(format!("error: {}", stop.describe()).into());
                        }
                        fencepost_bmc::StopReason::Timeout => StopReason::Timeout,
                        fencepost_bmc::StopReason::Memory | fencepost_bmc::StopReason::Size => {
                            StopReason::MaxMemory
                        }
                        fencepost_bmc::StopReason::Interrupted => StopReason::Interrupted,
                    };
                    return Ok(stopped(Reason::limit(limit), statistics, None));
                }
            };
            let admits = |state: &Vec<Value>| condition.filter.as_ref().is_none_or(|f| f.holds(state));
            states.into_iter().filter(admits).collect()
        }
        _ => {
            let mut options = power::Options::new(settings.contexts, settings.unroll);
            options.only_complete = true;
            options.search.deadline = deadline;
            options.search.interrupt = Some(&INTERRUPT);
            // Every state is wanted, so the question is left out: a state that violates the condition would end the search.
            let mut all = program.clone();
            if let Property::Final(condition) = &mut all.property {
                condition.quantifier = Quantifier::Exists;
            }
            let checked = power::check(&all, &options).map_err(|e| refuse(&e.what, e.span))?;
            if let Some(reason @ Reason::Limit { .. }) = checked.outcome.stop_reason {
                return Ok(stopped(reason, statistics, None));
            }
            statistics.blocked = checked.outcome.statistics.blocked;
            checked.final_states
        }
    };
    Ok(all_states(program, condition, settings, statistics, states))
}

/// What follows from all final states.
fn all_states(
    program: &Program,
    condition: &FinalCondition,
    settings: &Settings<'_>,
    mut statistics: Statistics,
    states: Vec<Vec<Value>>,
) -> Found {
    statistics.executions = Some(states.len() as u64);
    let satisfying = states.iter().filter(|state| condition.proposition.holds(state)).count() as u64;
    let mut states: Vec<_> = states.into_iter().map(|state| state[..condition.shown].to_vec()).collect();
    states.sort();
    states.dedup();
    let observed = Observed { states: show_states(program, &states), satisfying, ..Observed::default() };
    let outcome = conclude(condition, settings, statistics, observed);
    Found { outcome, finals: states, witness: None }
}

/// The promising semantics.
fn with_promises(
    program: &Program,
    file: &SourceFile,
    condition: &FinalCondition,
    settings: &Settings<'_>,
    start: Instant,
) -> Result<Found, input::Trouble> {
    let found = litmus_promising::states(program, settings, start).map_err(|(what, span)| {
        let message = format!("{what} cannot be run under the promising semantics");
        trouble(vec![Diagnostic::error(span, message)], file)
    })?;
    let (states, bounds) = match found {
        Ok(found) => found,
        Err(reason) => return Ok(stopped(reason, Statistics::default(), None)),
    };
    let found = all_states(program, condition, settings, Statistics::default(), states);
    let outcome = Outcome { bounds: [found.outcome.bounds.clone(), bounds].concat(), ..found.outcome };
    Ok(Found { outcome, ..found })
}

fn with_enumerator(
    program: &Program,
    file: &SourceFile,
    model: &fencepost_models::Model,
    condition: &FinalCondition,
    settings: &Settings<'_>,
) -> Result<Found, input::Trouble> {
    let (time, interrupt) = (settings.timeout, Some(&INTERRUPT));
    let limits = naive::Limits { time, interrupt, ..naive::Limits::default() };
    let found = match naive::enumerate(program, model, &limits) {
        Ok(found) => found,
        Err(stop) => {
            let reason = match stop {
                naive::Stop::Unsupported { what, span } => {
                    let message = format!("a cat model of your own cannot judge {what}");
                    return Err(trouble(vec![Diagnostic::error(span, message)], file));
                }
                naive::Stop::Time => Reason::limit(StopReason::Timeout),
                naive::Stop::Interrupted => Reason::limit(StopReason::Interrupted),
                naive::Stop::Limit(what) => Reason::Unsupported(format!(
                    "too many {what} for a cat model whose executions are enumerated whole"
                )),
            };
            return Ok(stopped(reason, Statistics::default(), None));
        }
    };
    let (mut executions, mut observed, mut witness) = (0, Observed::default(), None);
    let mut states = Vec::new();
    for execution in found.executions {
        let state = execution.state(condition);
        if condition.filter.as_ref().is_some_and(|filter| !filter.holds(&state)) {
            continue;
        }
        executions += 1;
        observed.satisfying += u64::from(condition.proposition.holds(&state));
        observed.undefined |= execution.undefined;
        if settings.witness && witness.is_none() && witness::satisfies(&execution, condition) {
            witness = Some(execution.clone());
        }
        observed.flags.extend(execution.flags);
        states.push(state[..condition.shown].to_vec());
    }
    states.sort();
    states.dedup();
    observed.states = show_states(program, &states);
    observed.flags.sort();
    observed.flags.dedup();
    let statistics = Statistics {
        executions: Some(executions),
        blocked: found.blocked,
        cut: found.cut,
        ..Statistics::default()
    };
    let outcome = conclude(condition, settings, statistics, observed);
    Ok(Found { outcome, finals: states, witness })
}

fn show_states(program: &Program, states: &[Vec<Value>]) -> Vec<String> {
    let mut shown: Vec<String> = states.iter().map(|values| show_state(program, values)).collect();
    shown.sort_unstable();
    shown
}

/// A final state as people read it.
pub fn show_state(program: &Program, values: &[Value]) -> String {
    let mut text = String::with_capacity(16 * values.len());
    show_state_into(program, values, &mut text);
    text
}

fn show_finding(program: &Program, finding: &Finding) -> Diagnostic {
    let place = finding.places.first();
    let span = place.and_then(|p| program.functions[p.at.0 as usize].spans.get(p.at.1 as usize)).copied();
    let mut diagnostic = Diagnostic::error(span.unwrap_or_default(), headline(program, finding, &quoted));
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
