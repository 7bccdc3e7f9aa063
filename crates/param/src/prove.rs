//! The whole of `prove`, in order: read, check, search, replay or re-check, answer.

use crate::backward::{Control, End, Search, Status};
use crate::brab::Brab;
use crate::cube::Cube;
use crate::machine::Machine;
use crate::model::Model;
use crate::outcome::*;
use crate::pre::Context;
use crate::system::System;
use crate::{lower, parser, recheck, replay, show, trace};
use fencepost_diag::{Diagnostic, SourceFile};
use std::time::{Duration, Instant};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory model.
    pub model: Model,
    /// Infer invariants with an oracle of that many processes.
    pub brab: Option<u8>,
    /// Threads for the check of the invariant; the search itself runs on one, and the answer does not depend on it.
    pub jobs: usize,
    /// Most nodes of the search.
    pub max_nodes: Option<usize>,
    /// Wall-clock limit.
    pub timeout: Option<Duration>,
    /// Limit of the process's memory, in megabytes.
    pub max_memory: Option<u64>,
    /// Keep the search for a picture of it.
    pub keep_search: bool,
    /// Check the invariant of a safe answer again.
    pub recheck: bool,
    /// Under SC, treat weak symbols through events too instead of erasing them: slower, and used by tests.
    pub events_under_sc: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::Tso,
            brab: None,
            jobs: 1,
            max_nodes: None,
            timeout: None,
            max_memory: None,
            keep_search: false,
            recheck: true,
            events_under_sc: false,
        }
    }
}

/// Traces that no instance has, after which the search gives up.
const MAX_SPURIOUS: usize = 20;
/// Restarts of inference, after which it is switched off.
const MAX_RESTARTS: usize = 100;
/// Processes of the oracle when inference is tried to get rid of spurious traces.
const REFINING_PROCESSES: u8 = 3;

/// Reads a file and answers.
pub fn prove(
    source: &SourceFile,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Vec<Diagnostic>> {
    let started = Instant::now();
    let (file, mut errors) = parser::parse(&source.text);
    let weak = options.model != Model::Sc || options.events_under_sc;
    let (system, warnings) = match lower::lower(&file, weak) {
        Ok(lowered) if errors.is_empty() => lowered,
        Ok(_) => return Err(errors),
        Err(more) => {
            // After a syntax error, complaints about what is missing would only distract.
            if errors.is_empty() {
                errors = more;
            }
            return Err(errors);
        }
    };
    let mut prover = Prover { system: &system, options, started, progress };
    let mut outcome = prover.run(options.brab);
    if options.brab.is_none() && matches!(outcome.stop_reason, Some(StopReason::Spurious(_))) {
        // Approximations may cut off what made the traces spurious.
        let refined = prover.run(Some(REFINING_PROCESSES));
        if refined.verdict != Verdict::Unknown {
            outcome = refined;
        }
    }
    outcome.statistics.seconds = started.elapsed().as_secs_f64();
    outcome.warnings = warnings;
    Ok(outcome)
}

struct Prover<'a> {
    system: &'a System,
    options: &'a Options,
    started: Instant,
    progress: &'a mut dyn FnMut(&Progress),
}

impl Prover<'_> {
    fn context(&self) -> Context<'_> {
        Context::new(self.system, self.options.model.memory())
    }

    fn run(&mut self, brab: Option<u8>) -> Outcome {
        let (options, started) = (self.options, self.started);
        let system = self.system;
        let mut out_of_time = || limit_hit(options, started, 0).is_some();
        let mut oracle = brab.map(|procs| Brab::new(system, options.model, procs, &mut out_of_time));
        let mut restarts = 0;
        loop {
            let context = Context::new(system, options.model.memory());
            let mut search = Search::new(context);
            match self.search(&mut search, &mut oracle) {
                Ended::Restart(cube) => {
                    restarts += 1;
                    match &mut oracle {
                        Some(oracle) if restarts <= MAX_RESTARTS => oracle.forbid(cube),
                        _ => oracle = None,
                    }
                }
                Ended::Answer(mut outcome) => {
                    outcome.statistics.restarts = restarts;
                    outcome.statistics.approximations = oracle.as_ref().map_or(0, |o| o.made);
                    return *outcome;
                }
            }
        }
    }

    fn search(&mut self, search: &mut Search, oracle: &mut Option<Brab>) -> Ended {
        let mut spurious = 0;
        loop {
            let (options, started) = (self.options, self.started);
            let mut control = Control {
                stop: &mut |nodes| limit_hit(options, started, nodes),
                progress: self.progress,
                approximate: &mut |context, cube| oracle.as_mut()?.approximate(context, cube),
            };
            let end = search.run(&mut control);
            match end {
                End::Fixpoint if spurious > 0 => {
                    return self.unknown(search, StopReason::Spurious(spurious));
                }
                End::Fixpoint => return self.safe(search),
                End::Stopped(reason) => return self.unknown(search, reason),
                End::Reached(id) => {
                    if let Some(approximated) = search.nodes[id].approximated {
                        return Ended::Restart(search.nodes[approximated].cube.clone());
                    }
                    if let Some(outcome) = self.replay(search, id) {
                        return outcome;
                    }
                    spurious += 1;
                    if spurious >= MAX_SPURIOUS {
                        return self.unknown(search, StopReason::Spurious(spurious));
                    }
                    search.go_on_past(id);
                }
            }
        }
    }

    fn replay(&self, search: &Search, id: usize) -> Option<Ended> {
        let (firings, procs) = trace::firings(search, id);
        let machine = Machine::new(self.system, self.options.model, procs);
        let (options, started) = (self.options, self.started);
        let run = replay::replay(&machine, &firings, &mut || limit_hit(options, started, 0).is_some())?;
        let mut outcome = self.outcome(search, Verdict::Unsafe);
        outcome.scope = format!("an instance with {procs} process{}", if procs == 1 { "" } else { "es" });
        outcome.statistics.processes = procs;
        outcome.trace = trace::describe(&machine, &run);
        Some(Ended::Answer(Box::new(outcome)))
    }

    fn safe(&self, search: &Search) -> Ended {
        let mut outcome = self.outcome(search, Verdict::Safe);
        outcome.invariant = search.fixpoint();
        if self.options.recheck {
            match recheck::recheck(self.system, self.options.model, &outcome.invariant, self.options.jobs) {
                Ok(how) => outcome.recheck = how,
                Err(why) => {
                    outcome.verdict = Verdict::Unknown;
                    outcome.stop_reason = Some(StopReason::NotConfirmed(format!(
                        "the invariant did not pass the independent check: {why}"
                    )));
                }
            }
        }
        Ended::Answer(Box::new(outcome))
    }

    fn unknown(&self, search: &Search, reason: StopReason) -> Ended {
        let mut outcome = self.outcome(search, Verdict::Unknown);
        outcome.stop_reason = Some(reason);
        Ended::Answer(Box::new(outcome))
    }

    fn outcome(&self, search: &Search, verdict: Verdict) -> Outcome {
        let mut scope = match self.system.number_procs {
            Some(n) => format!("{n} processes"),
            None => "any number of processes".to_string(),
        };
        if !self.system.assumed.is_empty() {
            scope += ", assuming the declared invariants";
        }
        let nodes = &search.nodes;
        let statistics = Statistics {
            nodes: search.processed,
            made: nodes.len(),
            depth: nodes.iter().map(|n| n.depth).max().unwrap_or(0),
            processes: nodes.iter().map(|n| n.cube.procs).max().unwrap_or(0),
            ..Statistics::default()
        };
        Outcome {
            verdict,
            scope,
            model: self.options.model,
            stop_reason: None,
            statistics,
            trace: vec![],
            invariant: vec![],
            recheck: Recheck::Skipped,
            warnings: vec![],
            search: if self.options.keep_search { self.picture(search) } else { vec![] },
            system: self.system.clone(),
        }
    }

    fn picture(&self, search: &Search) -> Vec<SearchNode> {
        let context = self.context();
        let mut result = Vec::new();
        for node in &search.nodes {
            let label = node.origin.as_ref().map_or(String::new(), |o| {
                let t = &self.system.transitions[o.transition];
                let args: Vec<String> =
                    o.args[..t.declared as usize].iter().map(|p| format!("#{}", p + 1)).collect();
                format!("{}({})", t.name, args.join(", "))
            });
            let status = match node.status {
                Status::Queued if context.meets_init(&node.cube) => "reached",
                Status::Queued => "queued",
                Status::Visited => "visited",
                Status::Subsumed => "subsumed",
                Status::Deleted => "deleted",
            };
            let parent = node.origin.as_ref().map(|o| o.parent);
            result.push(SearchNode { parent, label, cube: show::cube(self.system, &node.cube), status });
        }
        result
    }
}

enum Ended {
    Answer(Box<Outcome>),
    Restart(Cube),
}

fn limit_hit(options: &Options, started: Instant, nodes: usize) -> Option<StopReason> {
    if let Some(max) = options.max_nodes
        && nodes > max
    {
        return Some(reached(Limit::MaxNodes, max as f64));
    }
    if let Some(time) = options.timeout
        && started.elapsed() >= time
    {
        return Some(reached(Limit::Timeout, time.as_secs_f64()));
    }
    if let Some(megabytes) = options.max_memory
        && resident_megabytes().is_some_and(|used| used > megabytes)
    {
        return Some(reached(Limit::MaxMemory, megabytes as f64));
    }
    None
}

fn reached(limit: Limit, value: f64) -> StopReason {
    StopReason::Limit { limit, value: Some(value) }
}

/// Memory of this process, where the system tells.
fn resident_megabytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096 / 1_000_000)
}
