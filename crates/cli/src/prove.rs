//! `fencepost prove`: parameterized systems, for any number of processes.

use crate::args::{ProveArgs, workers};
use crate::input::Trouble;
use crate::{exit, print};
use fencepost_diag::{SourceFile, SourceMap};
use fencepost_ir::Failure;
use fencepost_models::registry;
use fencepost_param::model::Model;
use fencepost_param::{Options, Progress, prove};
use fencepost_report::format::Printed;
use fencepost_report::report::{Failed, Report, exit_code};
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command: each file on its own, and the exit code of the worst answer.
pub fn run(options: &ProveArgs) -> u8 {
    let [head, between, tail] = options.format().document;
    print::out(head);
    let run = |(number, path): (usize, &PathBuf)| {
        print::out(if number > 0 { between } else { "" });
        run_one(&path.display().to_string(), options)
    };
    let worst = options.paths.iter().enumerate().map(run).max().unwrap_or(0);
    print::out(tail);
    worst
}

fn run_one(name: &str, options: &ProveArgs) -> u8 {
    let format = options.format();
    let (printed, code) = answer(name, options).unwrap_or_else(|trouble| {
        let Trouble { error, diagnostics, sources } = &trouble;
        ((format.failed)(&Failed { file: name, error, diagnostics, sources }), exit::BAD_INPUT)
    });
    print::err(&printed.errors);
    print::out(&printed.output);
    code
}

/// Proves one system: what to print, and the exit code.
fn answer(name: &str, options: &ProveArgs) -> Result<(Printed, u8), Trouble> {
    let start = Instant::now();
    let model = Model::by_name(&options.model).ok_or_else(|| {
        let known = registry::names(|model| model.systems).join(", ");
        format!("error: there is no model `{}` for systems\n  known models: {known}", options.model)
    })?;
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}"))?;
    let source = SourceFile::new(name, text);
    let mut sources = SourceMap::default();
    sources.add(source.clone());
    let settings = Options {
        model,
        brab: options.brab.map(|n| n.clamp(1, 5)),
        jobs: workers(options.jobs),
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
    let found = found.map_err(|diagnostics| Failure { diagnostics, sources: sources.clone() })?;
    write(options.search_dot.as_deref(), || found.search_dot())?;
    write(options.search_svg.as_deref(), || found.search_svg())?;
    write(options.certificate.as_deref(), || found.certificate())?;
    let outcome = found.answer();
    let report = Report {
        file: name,
        model: model.name(),
        engine: "prove",
        picked: None,
        surprising: false,
        outcome: &outcome,
        sources: &sources,
        warnings: &found.warnings,
        seconds: start.elapsed().as_secs_f64(),
    };
    let mut printed = (options.format().report)(&report);
    if options.words {
        printed.errors += &found.words();
    }
    Ok((printed, exit_code(&outcome)))
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).map_err(|error| format!("error: cannot write {}: {error}", path.display()))
}
