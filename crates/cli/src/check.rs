//! `fencepost check`: programs, from a file to an answer. Reads like the pipeline.

use crate::args::{CheckArgs, EngineChoice};
use crate::engine::{self, Engine, Question, auto};
use crate::input::{self, Trouble};
use crate::{buffered, exit, print, suggest};
use fencepost_answer::Outcome;
use fencepost_ir::Compiled;
use fencepost_models::registry::{self, Entry};
use fencepost_report::format::{Format, Printed};
use fencepost_report::report::{Failed, Report, exit_code};
use fencepost_report::{html, picture};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Runs the command: every file under every model, and the exit code of the worst answer.
pub fn run(options: &CheckArgs) -> u8 {
    let jobs = match jobs(options) {
        Ok(jobs) => jobs,
        Err(error) => {
            print::err(&error);
            return exit::BAD_INPUT;
        }
    };
    handle_interrupts();
    let format = options.format();
    let [head, between, tail] = format.document;
    print::out(head);
    let mut worst = exit::OK;
    for (number, (name, model)) in jobs.iter().enumerate() {
        let (printed, code) = check(name, model, options, format).unwrap_or_else(|trouble| {
            let Trouble { error, diagnostics, sources } = &trouble;
            let failed = Failed { file: name, error, diagnostics, sources };
            ((format.failed)(&failed), exit::BAD_INPUT)
        });
        print::err(&printed.errors);
        print::out(if number > 0 { between } else { "" });
        print::out(&printed.output);
        worst = worst.max(code);
        if is_interrupted() {
            break;
        }
    }
    print::out(tail);
    worst
}

/// What is checked under what; the error is a whole message.
fn jobs(options: &CheckArgs) -> Result<Vec<(String, &'static Entry)>, String> {
    let models = options.model.split(',').map(find_model).collect::<Result<Vec<_>, _>>()?;
    let mut files = Vec::new();
    for path in options.paths.iter().take(if options.link { 1 } else { usize::MAX }) {
        let found = input::files(path, input::PROGRAMS)?;
        if found.is_empty() {
            return Err(format!("error: there is no program in {} (*.c, *.i, *.fp)\n", path.display()));
        }
        files.extend(found);
    }
    let drawn = [&options.dot, &options.svg, &options.report].into_iter().any(Option::is_some);
    if files.len() * models.len() > 1 && drawn {
        return Err("error: --dot, --svg and --report are about one program under one model\n".into());
    }
    Ok(files.into_iter().flat_map(|file| models.iter().map(move |model| (file.clone(), *model))).collect())
}

/// An answer about a file, and what it is about.
pub struct Checked {
    /// The model.
    pub model: &'static Entry,
    /// The program.
    pub compiled: Compiled,
    /// The engine that answered.
    pub engine: &'static str,
    /// Why that engine, if the user did not choose it.
    pub picked: Option<Why>,
    /// The answer.
    pub outcome: Outcome,
    /// Time it took.
    pub seconds: f64,
}

/// Why an engine was picked, and whether that is a surprise.
pub struct Why {
    /// In a few words.
    pub words: String,
    /// Another engine was tried first.
    pub surprising: bool,
}

/// Checks one file.
pub fn answer(name: &str, model: &'static Entry, options: &CheckArgs) -> Result<Checked, Trouble> {
    let start = Instant::now();
    let compiled = input::read(name, model, options)?;
    let (engine, picked, mut outcome) = solve(name, &compiled, model, options, start)?;
    outcome.assumes.extend(compiled.left_out.map(String::from));
    if outcome.explanations.is_empty() {
        outcome.explanations = buffered::explain(&compiled.program, &compiled.sources, &outcome.findings);
    }
    if options.suggest {
        outcome.suggestion = suggest::suggest(name, &compiled, model, options, &outcome)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Checked { model, compiled, engine: engine.name(), picked, outcome, seconds })
}

/// Answers a question about a program with the engine that the user wants: which, why, and the answer.
pub fn solve(
    name: &str,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    start: Instant,
) -> Result<(&'static dyn Engine, Option<Why>, Outcome), Trouble> {
    let question = Question { file: name, compiled, model, options, start, until: None };
    match &options.engine {
        EngineChoice::Auto => {
            let picked = auto::answer(&question)?;
            let why = Why { words: picked.why, surprising: picked.surprising };
            Ok((picked.engine, Some(why), picked.outcome))
        }
        EngineChoice::Named(name) => match engine::find(name) {
            Some(engine) => Ok((engine, None, engine::run(engine, &question)?)),
            None => Err(format!("error: there is no engine `{name}`").into()),
        },
    }
}

/// Whether Ctrl-C was pressed.
pub fn is_interrupted() -> bool {
    INTERRUPT.load(Ordering::Relaxed)
}

/// Checks one file: what to print, and the exit code.
fn check(
    name: &str,
    model: &'static Entry,
    options: &CheckArgs,
    format: &Format,
) -> Result<(Printed, u8), Trouble> {
    let checked = answer(name, model, options)?;
    let report = Report {
        file: name,
        model: model.name,
        engine: checked.engine,
        picked: checked.picked.as_ref().map(|why| why.words.as_str()),
        surprising: checked.picked.as_ref().is_some_and(|why| why.surprising),
        outcome: &checked.outcome,
        sources: &checked.compiled.sources,
        warnings: &checked.compiled.warnings,
        seconds: checked.seconds,
    };
    draw(&report, options)?;
    Ok(((format.report)(&report), exit_code(&checked.outcome)))
}

/// Writes pictures and the page, where the user wants them.
fn draw(report: &Report<'_>, options: &CheckArgs) -> Result<(), Trouble> {
    let picture = report.outcome.picture.as_ref();
    if picture.is_none() && (options.dot.is_some() || options.svg.is_some()) {
        print::err("note: there is no counterexample to draw\n");
    }
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    let files = [
        (&options.dot, picture.map(picture::dot)),
        (&options.svg, picture.map(picture::svg)),
        (&options.report, options.report.as_ref().map(|_| html::page(report, &command))),
    ];
    for (path, text) in files {
        if let (Some(path), Some(text)) = (path, text) {
            std::fs::write(path, text)
                .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Ctrl-C ends the work and gives what was found; a second one ends the process at once.
pub fn handle_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// A model that some engine for programs knows; the error is a whole message.
pub fn find_model(name: &str) -> Result<&'static Entry, String> {
    let known = |model: &Entry| model.twin.is_some() || model.machine.is_some();
    registry::find(name).filter(|model| known(model)).ok_or_else(|| {
        let names = registry::names(known);
        let hint = print::did_you_mean(name, &names);
        format!(
            "error: there is no model `{name}` for programs\n{hint}  known models: {}\n",
            names.join(", ")
        )
    })
}
