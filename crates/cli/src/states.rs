//! `fencepost check --engine states` and `--engine reduce`, and `fencepost reduce`: programs on the operational machines.

use crate::args::{CheckArgs, Engine, ReduceArgs};
use crate::check::{INTERRUPT, as_compiled, compile};
use crate::exit;
use fencepost_c::SourceMap;
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_explore::{FindingKind, ModelName};
use fencepost_ir::{Program, globalise_locals_of_main};
use fencepost_machine::local::FaultKind;
use fencepost_machine::search::Options as Search;
use fencepost_machine::{Config, Model, Options, check};
use fencepost_reduce::{Bound, NO_ROOM, Options as Reduction, print_c, reduce_tso, start_at_once};
use fencepost_report::outcome::{self, Finding, Location, Outcome, Scope, TraceStep, Verdict};
use std::time::{Duration, Instant};

/// A program of either language with its sources.
struct Input {
    program: Program,
    sources: SourceMap,
}

fn read(name: &str, options: &CheckArgs) -> Result<Input, String> {
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}"))?;
    let file = SourceFile::new(name, text);
    let compiled = compile(&file, options)?;
    Ok(Input { program: compiled.program, sources: compiled.sources })
}

/// Checks one file on a machine, or after a reduction to SC; the error is a whole message.
pub fn answer(name: &str, model: ModelName, engine: Engine, options: &CheckArgs) -> Result<Outcome, String> {
    let start = Instant::now();
    let machine = Model::from_name(model.name()).ok_or_else(|| {
        format!("error: there is no machine for {}; the machines are sc, tso and pso", model.name())
    })?;
    let input = read(name, options)?;
    let mut program = match name.ends_with(".fp") {
        true => input.program,
        false => globalise_locals_of_main(&as_compiled(&input.program, model, options)?),
    };
    let refuse = |what: &str, span: Span| {
        input.sources.render(&Diagnostic::error(span, format!("{what} cannot be checked by this engine")))
    };
    let mut config = Config::new(machine);
    (config.buffer, config.rounds, config.age) = (options.buffer, options.rounds, options.age);
    config.c = name.ends_with(".c");
    let source = program.clone();
    if engine == Engine::Reduce {
        let bound = reduction_bound(machine, options.rounds, options.age)?;
        program = reduce_tso(&start_at_once(&program), &Reduction::new(bound))
            .map_err(|e| refuse(&e.what, e.span))?;
        config = Config::new(Model::Sc);
    }
    let search = Search {
        jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
        deadline: options.timeout.and_then(|s| Duration::try_from_secs_f64(s).ok()).map(|t| start + t),
        max_bytes: options.max_memory.map(|mb| mb as usize * 1_000_000),
        interrupt: Some(&INTERRUPT),
        ..Search::default()
    };
    let mut found = check(&program, &Options { config, search }).map_err(|e| refuse(&e.what, e.span))?;
    if engine == Engine::Reduce && found.verdict == fencepost_machine::Verdict::Unsafe {
        found = on_source(&source, &found, machine, options, search).map_err(|e| refuse(&e.what, e.span))?;
    }
    Ok(report(name, machine, engine, options, &input.sources, &found, start))
}

/// A counterexample of the reduced program as a run of the source program: the machine finds and replays one within the
/// same bound. If it finds none, one of the two is wrong, and the answer is unknown.
fn on_source(
    source: &Program,
    reduced: &fencepost_machine::Outcome,
    machine: Model,
    options: &CheckArgs,
    search: Search<'_>,
) -> Result<fencepost_machine::Outcome, fencepost_machine::Unsupported> {
    let unknown = |reason: &str| fencepost_machine::Outcome {
        verdict: fencepost_machine::Verdict::Unknown,
        reason: Some(reason.to_string()),
        finding: None,
        run: None,
        ..reduced.clone()
    };
    if reduced.finding.as_ref().is_some_and(|finding| finding.message.contains(NO_ROOM)) {
        return Ok(unknown("the program starts more threads than the reduction has room for"));
    }
    let mut config = Config::new(machine);
    (config.rounds, config.age) = (options.rounds, options.age.or(options.rounds.is_none().then_some(2)));
    let run = check(source, &Options { config, search })?;
    Ok(match run.verdict {
        fencepost_machine::Verdict::Unsafe => fencepost_machine::Outcome { states: reduced.states, ..run },
        _ => unknown("the machine does not confirm the counterexample of the reduced program"),
    })
}

fn reduction_bound(model: Model, rounds: Option<u32>, age: Option<u32>) -> Result<Bound, String> {
    if model != Model::Tso {
        return Err("error: the reduction to SC is for tso".into());
    }
    match (rounds, age) {
        (Some(0), _) => Err("error: --rounds counts from 1".into()),
        (Some(k), None) => Ok(Bound::Rounds(k - 1)),
        (None, Some(k)) => Ok(Bound::Age(k)),
        (None, None) => Ok(Bound::Age(2)),
        (Some(_), Some(_)) => Err("error: --rounds and --age exclude each other here".into()),
    }
}

fn report(
    name: &str,
    model: Model,
    engine: Engine,
    options: &CheckArgs,
    sources: &SourceMap,
    found: &fencepost_machine::Outcome,
    start: Instant,
) -> Outcome {
    let verdict = match found.verdict {
        fencepost_machine::Verdict::Safe => Verdict::Safe,
        fencepost_machine::Verdict::Unsafe => Verdict::Unsafe,
        fencepost_machine::Verdict::Unknown => Verdict::Unknown,
    };
    let mut bounds: Vec<outcome::Bound> = found
        .bounds
        .iter()
        .map(|b| outcome::Bound::new(b.name, u64::from(b.value.unwrap_or(options.unroll))))
        .collect();
    if engine == Engine::Reduce {
        // The reduced program never leaves its bound, so the bound is always part of the answer.
        let (name, value) = match (options.rounds, options.age) {
            (Some(k), _) => ("rounds", k),
            (None, age) => ("age", age.unwrap_or(2)),
        };
        bounds.push(outcome::Bound::new(name, u64::from(value)));
    }
    let location = |span: Span, thread: u32| {
        let (file, line, column) = sources.position(span.start).unwrap_or(("", 0, 0));
        Location { file: file.to_string(), line, column, thread, text: sources.text(span).to_string() }
    };
    let lines = found.run.iter().flat_map(|run| &run.lines).map(|line| TraceStep {
        thread: line.thread,
        location: location(line.span, line.thread),
        action: format!("{}  [{}]", line.text, line.buffers.join(" | ")),
    });
    let findings = found.finding.iter().map(|finding| Finding {
        code: finding_kind(finding.kind).code(),
        kind: finding_kind(finding.kind).name(),
        severity: "error",
        message: finding.message.clone(),
        locations: vec![location(finding.span, finding.thread.unwrap_or(0))],
        trace: lines.clone().collect(),
        rendered: sources.render(
            &Diagnostic::error(finding.span, finding.message.clone()).code(finding_kind(finding.kind).code()),
        ),
    });
    Outcome {
        file: name.to_string(),
        model: model.name().to_string(),
        // Races, and threads that spin for ever in more than one place, are the explorer's business; a reduced program
        // keeps its assertions only.
        checks: name.ends_with(".c").then_some(match engine {
            Engine::Reduce => "assertions",
            _ => "assertions, memory and deadlocks",
        }),
        picked: None,
        engine: Some(if engine == Engine::Reduce { "reduce" } else { "states" }),
        assumes: None,
        verdict,
        scope: if bounds.is_empty() { Scope::All } else { Scope::Bounded },
        findings: findings.collect(),
        bounds,
        stop_reason: found.reason.clone(),
        vacuous: false,
        executions: 0,
        states: Some(found.states),
        blocked: found.blocked,
        cut: 0,
        nodes: None,
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// The kind under which the explorer reports the same mistake: codes are those of `check`, whatever the engine.
fn finding_kind(fault: Option<FaultKind>) -> FindingKind {
    match fault {
        // A final state that violates the condition.
        None | Some(FaultKind::Assertion) => FindingKind::Assertion,
        Some(FaultKind::Misuse | FaultKind::BadJoin | FaultKind::AtomicEnd) => FindingKind::Misuse,
        Some(FaultKind::NullPointer) => FindingKind::NullPointer,
        Some(FaultKind::BadPointer) => FindingKind::BadPointer,
        Some(FaultKind::OutOfBounds) => FindingKind::OutOfBounds,
        Some(FaultKind::MixedSize) => FindingKind::MixedSize,
        Some(FaultKind::Uninitialised) => FindingKind::Uninitialised,
        Some(FaultKind::DivisionByZero) => FindingKind::DivisionByZero,
        Some(FaultKind::BadCall) => FindingKind::BadCall,
        Some(FaultKind::Deadlock) => FindingKind::Deadlock,
        Some(FaultKind::LocalLoop) => FindingKind::LocalLoop,
        Some(
            FaultKind::TooDeep
            | FaultKind::TooLong
            | FaultKind::TooManyThreads
            | FaultKind::BufferTooLong
            | FaultKind::Library,
        ) => FindingKind::Unsupported,
    }
}

/// Runs `fencepost reduce`.
pub fn reduce(options: &ReduceArgs) -> u8 {
    match write_reduced(options) {
        Ok(()) => exit::OK,
        Err(error) => {
            eprintln!("{error}");
            exit::BAD_INPUT
        }
    }
}

fn write_reduced(options: &ReduceArgs) -> Result<(), String> {
    let name = options.path.display().to_string();
    let model = Model::from_name(&options.model).unwrap_or(Model::Sc);
    let bound = reduction_bound(model, options.rounds, options.age)?;
    let input = read(&name, &CheckArgs::default())?;
    let program = match name.ends_with(".fp") {
        true => input.program,
        false => {
            globalise_locals_of_main(&as_compiled(&input.program, ModelName::Tso, &CheckArgs::default())?)
        }
    };
    let reduced = reduce_tso(&start_at_once(&program), &Reduction::new(bound)).map_err(|e| {
        input.sources.render(&Diagnostic::error(e.span, format!("{} cannot be reduced", e.what)))
    })?;
    let out = options.output.display().to_string();
    let text = match out.rsplit('.').next() {
        Some("fp") => fencepost_lang::print(&reduced),
        Some("c") => print_c(&reduced),
        _ => Err("-o takes a file whose name ends in .c or .fp".into()),
    };
    let text = text.map_err(|error| format!("error: {error}"))?;
    std::fs::write(&out, text).map_err(|error| format!("error: cannot write {out}: {error}"))
}
