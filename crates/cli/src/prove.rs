//! `fencepost prove`: parameterized systems, for any number of processes.

use crate::args::ProveArgs;
use crate::exit;
use fencepost_diag::SourceFile;
use fencepost_param::model::Model;
use fencepost_param::{Options, Outcome, Progress, StopReason, prove};
use fencepost_report::litmus::{Failure, json_line};
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::path::Path;

/// Runs the command.
pub fn run(options: &ProveArgs) -> u8 {
    let name = options.path.display().to_string();
    match answer(&name, options) {
        Ok(outcome) => {
            if options.is_json() {
                println!("{}", outcome.to_json());
            } else {
                print!("{}", outcome.to_text());
            }
            match outcome.stop_reason {
                // An invariant that the independent check does not accept is our mistake.
                Some(StopReason::Recheck(_)) => exit::INTERNAL,
                _ => outcome.verdict.exit_code(),
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
    }
}

/// Proves one system; the error is a whole message.
fn answer(name: &str, options: &ProveArgs) -> Result<Outcome, String> {
    let model = Model::by_name(&options.model).ok_or_else(|| {
        format!("error: there is no model `{}` for systems\n  known models: sc, tso, pso", options.model)
    })?;
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}"))?;
    let source = SourceFile::new(name, text);
    let settings = Options {
        model,
        brab: options.brab.map(|n| n.clamp(1, 5)),
        jobs: options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
        max_nodes: options.max_nodes,
        timeout: options.timeout,
        max_memory: options.max_memory,
        keep_search: options.search_dot.is_some() || options.search_svg.is_some(),
        ..Options::default()
    };
    let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
    let mut progress = |p: &Progress| {
        if let Some(bar) = &bar {
            bar.set_message(format!(
                "{} nodes, {} waiting, depth {}, {} processes",
                p.nodes, p.queue, p.depth, p.processes
            ));
            bar.tick();
        }
    };
    let found = prove(&source, &settings, &mut progress);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let outcome = found
        .map_err(|errors| errors.iter().map(|error| error.render(&source)).collect::<Vec<_>>().join("\n"))?;
    for warning in &outcome.warnings {
        eprintln!("{}", warning.render(&source));
    }
    write(options.search_dot.as_deref(), || outcome.search_dot())?;
    write(options.search_svg.as_deref(), || outcome.search_svg())?;
    write(options.certificate.as_deref(), || outcome.certificate())?;
    Ok(outcome)
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).map_err(|error| format!("error: cannot write {}: {error}", path.display()))
}
