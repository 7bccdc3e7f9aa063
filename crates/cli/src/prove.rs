//! `fencepost prove`: parameterized systems, for any number of processes.

use crate::args::{ProveArgs, workers};
use crate::check::{INTERRUPT, handle_interrupts};
use crate::input::{self, Trouble};
use crate::{exit, print, progress};
use fencepost_answer::{Explanation, Limit, Outcome, StopReason, Verdict};
use fencepost_diag::{SourceFile, SourceMap};
use fencepost_ir::Failure;
use fencepost_models::registry;
use fencepost_param::model::Model;
use fencepost_param::{Missed, Options, Outcome as Proved, Progress, prove};
use fencepost_report::format::Printed;
use fencepost_report::report::{Failed, Report, exit_code};
use std::path::Path;
use std::time::Instant;

/// Runs the command: each file on its own, and the exit code of the worst answer.
pub fn run(options: &ProveArgs) -> u8 {
    handle_interrupts();
    let format = options.format();
    let [head, between, tail] = format.document;
    print::out(head);
    let (mut worst, mut parts) = (0, Vec::new());
    for (number, path) in options.paths.iter().enumerate() {
        print::out(if number > 0 { between } else { "" });
        let (code, part) = run_one(&path.display().to_string(), options);
        worst = worst.max(code);
        parts.extend(part);
    }
    if let Some(whole) = format.whole {
        print::out(&whole(parts));
    }
    print::out(tail);
    worst
}

/// The exit code, and the answer as a part of one document, if the format has such.
fn run_one(name: &str, options: &ProveArgs) -> (u8, Option<serde_json::Value>) {
    let format = options.format();
    let (printed, code) = answer(name, options).unwrap_or_else(|trouble| {
        let Trouble { error, diagnostics, sources } = &trouble;
        ((format.failed)(&Failed { file: name, error, diagnostics, sources }), exit::BAD_INPUT)
    });
    print::err(&printed.errors);
    let shown = if format.name == "text" { print::show } else { print::out };
    shown(&printed.output);
    (code, printed.part)
}

/// Proves one system: what to print, and the exit code.
fn answer(name: &str, options: &ProveArgs) -> Result<(Printed, u8), Trouble> {
    let start = Instant::now();
    if let Some(error) = input::for_another_command(name, &["cub"]) {
        return Err(error.into());
    }
    let source = SourceFile::new(name, input::text_of(name)?);
    let mut sources = SourceMap::default();
    sources.add(source.clone());
    let (outcome, found) = proved(&source, &sources, options)?;
    let report = Report {
        expectation: None,
        known: None,
        file: name,
        model: &options.model,
        engine: "prove",
        picked: None,
        surprising: false,
        advice: &advice(&outcome, options),
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

/// Proves a system that was read: the answer, and what it was made of.
pub fn proved(
    source: &SourceFile,
    sources: &SourceMap,
    options: &ProveArgs,
) -> Result<(Outcome, Proved), Trouble> {
    let model = Model::by_name(&options.model).ok_or_else(|| {
        let known = registry::names(|model| model.systems);
        let hint = print::did_you_mean(&options.model, &known);
        let known = known.join(", ");
        format!("error: there is no model `{}` for systems\n{hint}  known models: {known}", options.model)
    })?;
    let settings = Options {
        model,
        brab: options.brab,
        jobs: workers(options.jobs),
        max_nodes: options.max_nodes,
        timeout: options.timeout,
        max_memory: options.max_memory,
        keep_search: options.search_dot.is_some() || options.search_svg.is_some(),
        interrupt: Some(&INTERRUPT),
        ..Options::default()
    };
    let line = progress::line(&source.name, false);
    let mut told = |p: &Progress| {
        progress::note(format!(
            "{} nodes done and {} waiting, depth {}, {} processes",
            p.nodes, p.queue, p.depth, p.processes
        ));
    };
    let found = prove(source, &settings, &mut told);
    drop(line);
    let found = found.map_err(|diagnostics| Failure { diagnostics, sources: sources.clone() })?;
    write(options.search_dot.as_deref(), || found.search_dot())?;
    write(options.search_svg.as_deref(), || found.search_svg())?;
    write(options.certificate.as_deref(), || found.certificate())?;
    let mut outcome = found.answer();
    explain(&mut outcome, found.missed());
    Ok((outcome, found))
}

/// Says which read of the run missed what.
fn explain(outcome: &mut Outcome, missed: Option<&Missed>) {
    let Some(finding) = outcome.findings.first() else { return };
    let last = finding.trace.iter().map(|step| step.thread).max().unwrap_or(0);
    let threads =
        std::iter::once("the system".to_string()).chain((1..=last).map(|process| format!("#{process}")));
    let sentence = missed.map_or_else(String::new, |Missed { reader, cell, value, writer, waiting }| {
        format!("#{reader} read {cell} = {value} while {cell} := {waiting} of #{writer} still waited in its buffer")
    });
    outcome.explanations.push(Explanation { sentence, threads: threads.collect(), ..Explanation::default() });
}

/// What to try next, if there is no verdict.
fn advice(outcome: &Outcome, options: &ProveArgs) -> Vec<String> {
    let (Verdict::Unknown, Some(reason)) = (outcome.verdict, &outcome.stop_reason) else { return Vec::new() };
    let mut lines = Vec::new();
    if let StopReason::Limit { limit, value } = reason {
        match (limit, value) {
            (Limit::Timeout, Some(seconds)) => lines.push(format!("more time: --timeout {}", seconds * 4.0)),
            (Limit::MaxNodes, Some(nodes)) => lines.push(format!("more nodes: --max-nodes {}", nodes * 4.0)),
            (Limit::MaxMemory, Some(mb)) => lines.push(format!("more memory: --max-memory {}", mb * 2.0)),
            _ => {}
        }
    }
    if !reason.is_bug() {
        let other = if options.brab == Some(3) { 2 } else { 3 };
        lines.push(format!("invariants of another instance: --brab {other}"));
        if options.model != "sc" {
            lines.push("whether it is memory that makes it hard: -m sc".into());
        }
    }
    lines
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).map_err(|error| format!("error: cannot write {}: {error}", path.display()))
}
