//! `fencepost check`: C programs, from text to verdict. Reads like the pipeline.

use crate::args::{CheckArgs, Engine};
use crate::{auto, exit, states};
use fencepost_c::{Compiled, SourceMap};
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_explore::{
    Action, Exploration, Finding, FindingKind, Limits, ModelName, Options, Place, Step, StopReason, explore,
    headline,
};
use fencepost_ir::{Program, Property, bound_loops};
use fencepost_models::mapping::{self, Mapping, Target};
use fencepost_report::litmus::{Failure, json_line};
use fencepost_report::outcome::{self, Bound, Location, Outcome, Scope, TraceStep, Verdict};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Runs the command.
pub fn run(options: &CheckArgs) -> u8 {
    let Some(model) = ModelName::from_name(&options.model) else {
        let known: Vec<&str> = ModelName::ALL.iter().map(|m| m.name()).collect();
        eprintln!(
            "error: there is no model `{}` for programs\n  known models: {}",
            options.model,
            known.join(", ")
        );
        return exit::BAD_INPUT;
    };
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let mut worst = exit::OK;
    for path in &options.paths {
        let name = path.display().to_string();
        let found = match options.engine {
            Engine::Auto => auto::answer(&name, model, options),
            Engine::States | Engine::Reduce => states::answer(&name, model, options.engine, options),
            Engine::Explore => check(&name, model, options),
        };
        let code = match found {
            Ok(outcome) => {
                if options.is_json() {
                    println!("{}", json_line(&outcome));
                } else {
                    print!("{}", outcome.text());
                }
                match outcome.verdict {
                    Verdict::Safe => exit::OK,
                    Verdict::Unsafe => exit::UNSAFE,
                    Verdict::Unknown => exit::UNKNOWN,
                }
            }
            Err(error) => {
                if options.is_json() {
                    println!("{}", json_line(&Failure { file: name, error }));
                } else {
                    eprintln!("{error}");
                }
                exit::BAD_INPUT
            }
        };
        worst = worst.max(code);
    }
    worst
}

/// Checks one file; the error is a whole message.
pub fn check(name: &str, model: ModelName, options: &CheckArgs) -> Result<Outcome, String> {
    let start = Instant::now();
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}"))?;
    let compiled = compile(&SourceFile::new(name, text), options)?;
    for warning in &compiled.warnings {
        eprintln!("{}", compiled.sources.render(warning));
    }
    // Only findings are looked at below, and a final state that violates a condition is none.
    if matches!(compiled.program.property, Property::Final(_)) {
        return Err(format!(
            "error: {name} has a condition on final states, which the engine explore does not check"
        ));
    }
    let program = bound_loops(&as_compiled(&compiled.program, model, &options.mapping)?, options.unroll);
    let limits = Limits {
        deadline: options.timeout.and_then(|s| Duration::try_from_secs_f64(s).ok()).map(|t| start + t),
        max_executions: options.max_executions,
        max_nodes: None,
        interrupt: Some(&INTERRUPT),
    };
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let settings = Options { jobs, limits, stop_at_error: !options.all, ..Options::new(model) };
    let found = explore(&program, &settings).map_err(|unsupported| {
        let message = format!("{} cannot be explored", unsupported.what);
        compiled.sources.render(&Diagnostic::error(unsupported.span, message))
    })?;
    let report = Reporter { program: &program, sources: &compiled.sources };
    Ok(report.outcome(name, model, options, &found, start))
}

/// A program of either language.
pub fn compile(file: &SourceFile, options: &CheckArgs) -> Result<Compiled, String> {
    if file.name.ends_with(".fp") {
        let program = fencepost_lang::parse(&file.text).map_err(|error| error.render(file))?;
        let mut sources = SourceMap::default();
        sources.add(SourceFile::new(&file.name, &file.text));
        return Ok(Compiled { program, sources, warnings: Vec::new() });
    }
    let loader = |path: &str| std::fs::read_to_string(path).ok();
    let define = |text: &String| match text.split_once('=') {
        Some((name, value)) => (name.to_string(), Some(value.to_string())),
        None => (text.clone(), None),
    };
    let mut include_dirs = options.include_dirs.clone();
    let folder = Path::new(&file.name).parent().map(|p| p.display().to_string()).unwrap_or_default();
    include_dirs.insert(0, if folder.is_empty() { ".".into() } else { folder });
    let settings = fencepost_c::Options {
        defines: options.defines.iter().map(define).collect(),
        include_dirs,
        includes: options.includes.clone(),
        loader: Some(&loader),
    };
    fencepost_c::compile(file, &settings).map_err(|failure| failure.render())
}

/// The program as the model sees it: as written under language models, as compiled under hardware models.
pub fn as_compiled(program: &Program, model: ModelName, mapping: &str) -> Result<Program, String> {
    let target = match model {
        ModelName::Sc | ModelName::Ra | ModelName::Rc11 => {
            return match mapping {
                "" => Ok(program.clone()),
                _ => Err(format!(
                    "error: --mapping is for hardware models; under {} programs are checked as written",
                    model.name()
                )),
            };
        }
        ModelName::Tso => Target::Tso,
        ModelName::Pso => Target::Pso,
        ModelName::Power => Target::Power,
        ModelName::Armv8 => Target::Armv8,
    };
    // Fetch operations in one piece have the same executions and far fewer failing tries.
    let default = if target == Target::Power { "fused," } else { "" };
    let choice = Mapping::parse(target, &format!("{default}{mapping}"))
        .map_err(|unknown| format!("error: {unknown}"))?;
    Ok(mapping::compile(program, target, choice))
}

/// Turns what the explorer found into an answer with places in the source.
struct Reporter<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
}

impl Reporter<'_> {
    fn outcome(
        &self,
        name: &str,
        model: ModelName,
        options: &CheckArgs,
        found: &Exploration,
        start: Instant,
    ) -> Outcome {
        let unsupported = found.findings.iter().find(|f| f.kind == FindingKind::Unsupported);
        let wrong = |f: &&Finding| !f.kind.is_warning() && f.kind != FindingKind::Unsupported;
        let (verdict, stop_reason) = match (found.findings.iter().find(wrong), unsupported, found.stopped) {
            (Some(_), _, _) => (Verdict::Unsafe, None),
            (None, Some(finding), _) => (Verdict::Unknown, Some(headline(self.program, finding))),
            (None, None, Some(reason)) => (Verdict::Unknown, Some(stop_text(reason).to_string())),
            (None, None, None) => (Verdict::Safe, None),
        };
        let cut = found.stats.cut > 0;
        let unroll = Bound { name: "unroll", value: u64::from(options.unroll) };
        Outcome {
            file: name.to_string(),
            model: model.name().to_string(),
            engine: Some("explore"),
            picked: None,
            checks: None,
            verdict,
            scope: if cut { Scope::Bounded } else { Scope::All },
            bounds: if cut { vec![unroll] } else { Vec::new() },
            stop_reason,
            executions: found.stats.executions,
            states: None,
            blocked: found.stats.blocked,
            cut: found.stats.cut,
            seconds: start.elapsed().as_secs_f64(),
            findings: found.findings.iter().map(|finding| self.finding(finding)).collect(),
        }
    }

    fn span(&self, at: (u32, u32)) -> Span {
        let function = self.program.functions.get(at.0 as usize);
        function.and_then(|f| f.spans.get(at.1 as usize).or(f.spans.last())).copied().unwrap_or_default()
    }

    fn location(&self, place: &Place) -> Location {
        let span = self.span(place.at);
        let (file, line, column) = self.sources.position(span.start).unwrap_or(("", 0, 0));
        let text = self.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        Location { file: file.to_string(), line, column, thread: place.thread, text }
    }

    fn finding(&self, finding: &Finding) -> outcome::Finding {
        let message = headline(self.program, finding);
        let first = finding.places.first();
        let span = first.map_or(Span::default(), |place| self.span(place.at));
        let mut diagnostic = if finding.kind.is_warning() {
            Diagnostic::warning(span, message.clone())
        } else {
            Diagnostic::error(span, message.clone())
        };
        diagnostic = diagnostic.code(finding.kind.code());
        if let Some(place) = first {
            diagnostic = diagnostic.label(format!("thread {}", place.thread));
        }
        for place in finding.places.iter().skip(1) {
            diagnostic = diagnostic.related(self.span(place.at), format!("thread {}", place.thread));
        }
        outcome::Finding {
            code: finding.kind.code(),
            kind: finding.kind.name(),
            severity: if finding.kind.is_warning() { "warning" } else { "error" },
            message,
            locations: finding.places.iter().map(|place| self.location(place)).collect(),
            trace: if finding.kind.is_warning() { Vec::new() } else { self.trace(&finding.steps) },
            rendered: self.sources.render(&diagnostic),
        }
    }

    /// The steps of all threads in the order in which the execution was put together: what is read was written before,
    /// as far as the model lets it, and a thread runs on while it can.
    fn trace(&self, threads: &[Vec<Step>]) -> Vec<TraceStep> {
        let mut steps: Vec<(u32, usize, usize)> = Vec::new();
        for (t, list) in threads.iter().enumerate() {
            steps.extend(list.iter().enumerate().map(|(i, step)| (step.time, t, i)));
        }
        steps.sort_unstable();
        let steps = steps.into_iter().filter_map(|(_, t, i)| {
            let step = &threads[t][i];
            let place = Place { thread: t as u32, at: step.at };
            let action = self.action(threads, step)?;
            Some(TraceStep { thread: t as u32, location: self.location(&place), action })
        });
        steps.collect()
    }

    fn action(&self, threads: &[Vec<Step>], step: &Step) -> Option<String> {
        let shown = |value: u64| self.program.show_value(fencepost_ir::Value(value));
        Some(match &step.action {
            Action::Read { cell, value, from, newer, .. } => {
                let source = match from {
                    None => "the initial value".to_string(),
                    Some((thread, index)) => {
                        let writer =
                            threads.get(*thread as usize).and_then(|steps| steps.get(*index as usize));
                        let place = writer.map(|w| self.location(&Place { thread: *thread, at: w.at }));
                        format!("written by thread {thread} at line {}", place.map_or(0, |l| l.line))
                    }
                };
                let stale = match newer {
                    0 => String::new(),
                    1 => "; a newer value was not seen".to_string(),
                    n => format!("; {n} newer values were not seen"),
                };
                format!("reads {cell} = {}, {source}{stale}", shown(*value))
            }
            Action::Write { cell, value, .. } => format!("writes {cell} = {}", shown(*value)),
            Action::Choose { value } => format!("chooses {}", shown(*value)),
            Action::Fence => "fence".to_string(),
            Action::Spawn { thread } => format!("starts thread {thread}"),
            Action::Join { thread } => format!("joins thread {thread}"),
            Action::Free { object } => format!("ends the life of {object}"),
        })
    }
}

/// Whether an answer is missing because of a limit that the user set or a signal.
pub fn limit_was_hit(found: &Outcome) -> bool {
    let limits =
        [StopReason::Timeout, StopReason::MaxExecutions, StopReason::MaxNodes, StopReason::Interrupted];
    limits.iter().any(|&limit| found.stop_reason.as_deref() == Some(stop_text(limit)))
}

fn stop_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Timeout => "the time limit was reached",
        StopReason::MaxExecutions => "the limit on executions was reached",
        StopReason::MaxNodes => "the limit on visited graphs was reached",
        StopReason::Interrupted => "interrupted",
        StopReason::TooManyEvents => "an execution has more than 1024 events",
    }
}
