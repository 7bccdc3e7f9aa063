//! `fencepost check`: programs, from a file to an answer. Reads like the pipeline.

use crate::args::{CheckArgs, EngineChoice};
use crate::engine::{self, Question, auto};
use crate::input::{self, Trouble};
use crate::{exit, print};
use fencepost_models::registry::{self, Entry};
use fencepost_report::format::{Format, Printed};
use fencepost_report::report::{Failed, Report, exit_code};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Runs the command.
pub fn run(options: &CheckArgs) -> u8 {
    let model = match find_model(&options.model) {
        Ok(model) => model,
        Err(error) => {
            print::err(&error);
            return exit::BAD_INPUT;
        }
    };
    if options.paths.len() > 1 && !options.link && (options.dot.is_some() || options.svg.is_some()) {
        print::err("error: --dot and --svg draw the counterexample of one program\n");
        return exit::BAD_INPUT;
    }
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let mut worst = exit::OK;
    let programs = if options.link { &options.paths[..1] } else { &options.paths[..] };
    for path in programs {
        let name = path.display().to_string();
        let format = options.format();
        let (printed, code) = check(&name, model, options, format).unwrap_or_else(|trouble| {
            let Trouble { error, diagnostics, sources } = &trouble;
            let failed = Failed { file: &name, error, diagnostics, sources };
            ((format.failed)(&failed), exit::BAD_INPUT)
        });
        print::err(&printed.errors);
        print::out(&printed.output);
        worst = worst.max(code);
    }
    worst
}

/// Checks one file: what to print, and the exit code.
fn check(
    name: &str,
    model: &'static Entry,
    options: &CheckArgs,
    format: &Format,
) -> Result<(Printed, u8), Trouble> {
    let start = Instant::now();
    let compiled = input::read(name, options)?;
    let question = Question { file: name, compiled: &compiled, model, options, start };
    let (engine, picked, mut outcome) = match &options.engine {
        EngineChoice::Auto => {
            let picked = auto::answer(&question)?;
            (picked.engine, Some(picked.why), picked.outcome)
        }
        EngineChoice::Named(name) => match engine::find(name) {
            Some(engine) => (engine, None, engine::run(engine, &question)?),
            None => return Err(format!("error: there is no engine `{name}`").into()),
        },
    };
    outcome.assumes.extend(compiled.left_out.map(String::from));
    let report = Report {
        file: name,
        model: model.name,
        engine: engine.name(),
        picked: picked.as_deref(),
        outcome: &outcome,
        sources: &compiled.sources,
        warnings: &compiled.warnings,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(((format.report)(&report), exit_code(&outcome)))
}

/// A model that some engine for programs knows; the error is a whole message.
fn find_model(name: &str) -> Result<&'static Entry, String> {
    let known = |model: &Entry| model.twin.is_some() || model.machine.is_some();
    registry::find(name).filter(|model| known(model)).ok_or_else(|| {
        let names = registry::names(known).join(", ");
        format!("error: there is no model `{name}` for programs\n  known models: {names}\n")
    })
}
