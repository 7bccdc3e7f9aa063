//! `fencepost check`: C programs, from text to verdict. Reads like the pipeline.

use crate::args::{CheckArgs, Dependencies, Engine, RetriesArg};
use crate::cpp_flags::PreprocessorFlags;
use crate::explored::Reporter;
use crate::progress::{Line, PROGRESS, is_watched};
use crate::teller::Source;
use crate::{auto, exit, revalidate, states};
use fencepost_c::{Compiled, SourceMap};
use fencepost_diag::{Diagnostic, SourceFile};
use fencepost_explore::{Exploration, Limits, ModelName, Options, Retries, explore};
use fencepost_ir::sections::as_critical_sections;
use fencepost_ir::{Instr, Program, Property, bound_loops};
use fencepost_models::mapping::{self, Mapping, Target};
use fencepost_report::litmus::{Failure, json_line};
use fencepost_report::outcome::{Outcome, Verdict};
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
    if options.paths.len() > 1 && (options.dot.is_some() || options.svg.is_some()) {
        eprintln!("error: --dot and --svg draw the counterexample of one program");
        return exit::BAD_INPUT;
    }
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
    let nested = |span| {
        let error = Diagnostic::error(span, "an atomic section within an atomic section");
        compiled.sources.render(&error.hint("end the first one before, or use `--engine states`"))
    };
    let (program, section_lock) = as_critical_sections(&compiled.program).map_err(nested)?;
    let program = bound_loops(&as_compiled(&program, model, options)?, options.unroll);
    let limits = Limits {
        deadline: options.timeout.and_then(|s| Duration::try_from_secs_f64(s).ok()).map(|t| start + t),
        max_executions: options.max_executions,
        max_nodes: None,
        max_bytes: options.max_memory.map(|mb| mb.saturating_mul(1_000_000)),
        interrupt: Some(&INTERRUPT),
        progress: is_watched(options.quiet).then_some(&PROGRESS),
    };
    let line = limits.progress.map(|_| Line::new(name));
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    let dependencies = options.deps == Dependencies::Source;
    let stop_at_error = !options.all;
    let retries = match options.retries {
        RetriesArg::Fold => Retries::Fold,
        RetriesArg::All => Retries::All,
    };
    let settings =
        Options { jobs, limits, stop_at_error, dependencies, section_lock, retries, ..Options::new(model) };
    let mut found = explore(&program, &settings).map_err(|unsupported| {
        let message = format!("{} cannot be explored", unsupported.what);
        compiled.sources.render(&Diagnostic::error(unsupported.span, message))
    })?;
    drop(line);
    let unconfirmed = revalidate::drop_unconfirmed(&program, model, dependencies, &mut found);
    let report = Reporter { source: Source { program: &program, sources: &compiled.sources } };
    draw(&report, &found, options)?;
    Ok(revalidate::with_unconfirmed(report.outcome(name, model, options, &found, start), unconfirmed))
}

/// Writes the first counterexample where the user wants it.
fn draw(report: &Reporter<'_>, found: &Exploration, options: &CheckArgs) -> Result<(), String> {
    if options.dot.is_none() && options.svg.is_none() {
        return Ok(());
    }
    let Some(picture) = report.picture(found) else {
        eprintln!("note: there is no counterexample to draw");
        return Ok(());
    };
    for (path, text) in [(&options.dot, picture.dot()), (&options.svg, picture.svg())] {
        if let Some(path) = path {
            std::fs::write(path, text)
                .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
        }
    }
    Ok(())
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
    let flags = PreprocessorFlags::of(options)?;
    let mut include_dirs = flags.include_dirs;
    let folder = Path::new(&file.name).parent().map(|p| p.display().to_string()).unwrap_or_default();
    include_dirs.insert(0, if folder.is_empty() { ".".into() } else { folder });
    let settings = fencepost_c::Options {
        defines: flags.defines,
        include_dirs,
        includes: flags.includes,
        loader: Some(&loader),
    };
    fencepost_c::compile(file, &settings).map_err(|failure| failure.render())
}

/// The program as the model sees it: as written under language models, as compiled under hardware models.
pub fn as_compiled(program: &Program, model: ModelName, options: &CheckArgs) -> Result<Program, String> {
    let mut program = program.clone();
    if !options.spurious {
        make_exchanges_strong(&mut program);
    }
    let target = match model {
        ModelName::Sc | ModelName::Ra | ModelName::Rc11 if options.mapping.is_empty() => return Ok(program),
        ModelName::Sc | ModelName::Ra | ModelName::Rc11 => {
            return Err(format!(
                "error: --mapping is for hardware models; under {} programs are checked as written",
                model.name()
            ));
        }
        ModelName::Tso => Target::Tso,
        ModelName::Pso => Target::Pso,
        ModelName::Power => Target::Power,
        ModelName::Armv8 => Target::Armv8,
    };
    if options.deps == Dependencies::None && options.mapping.split(',').any(|word| word == "branch") {
        return Err("error: with --deps none, the branches of --mapping branch would order nothing".into());
    }
    // Fetch operations in one piece have the same executions and far fewer failing tries.
    let default = if target == Target::Power { "fused," } else { "" };
    let choice = Mapping::parse(target, &format!("{default}{}", options.mapping))
        .map_err(|unknown| format!("error: {unknown}"))?;
    Ok(mapping::compile(&program, target, choice))
}

/// A weak compare-exchange fails only when the values differ.
fn make_exchanges_strong(program: &mut Program) {
    for instr in program.functions.iter_mut().flat_map(|f| &mut f.body) {
        if let Instr::CompareExchange { weak, .. } = instr {
            *weak = false;
        }
    }
}
