//! The whole of `prove`, in order: read, check, search, replay or re-check, answer.

use crate::backward::{Search, Status};
use crate::init::numbers_of;
use crate::limits::Limits;
use crate::machine::{Machine, State};
use crate::model::Model;
use crate::outcome::*;
use crate::pre::Context;
use crate::replay::Run;
use crate::system::System;
use crate::turns::{Ended, Why};
use crate::{lower, parser, recheck, replay, show, trace};
use fencepost_diag::{Diagnostic, SourceFile, Span};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory model.
    pub model: Model,
    /// Infer invariants with an oracle of that many processes; if none is given, the plain search and inference take turns.
    pub brab: Option<u8>,
    /// Threads; the answer does not depend on it.
    pub jobs: usize,
    /// Most nodes of the search.
    pub max_nodes: Option<usize>,
    /// Wall-clock limit.
    pub timeout: Option<Duration>,
    /// Limit of the process's memory, in megabytes.
    pub max_memory: Option<u64>,
    /// Stop when this becomes true, with what was found.
    pub interrupt: Option<&'static AtomicBool>,
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
            interrupt: None,
            keep_search: false,
            recheck: true,
            events_under_sc: false,
        }
    }
}

/// Most processes of an instance whose runs are learnt from.
const MAX_LEARNING_PROCESSES: u8 = 6;

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
    let limits = Limits::new(options, started);
    let mut prover = Prover { system: &system, options, limits: &limits, progress };
    let mut outcome = match options.brab {
        Some(procs) => prover.run_inference(procs),
        None => prover.run_in_turn(),
    };
    outcome.statistics.seconds = started.elapsed().as_secs_f64();
    outcome.warnings = warnings;
    if options.model != Model::Sc && !system.has_weak() {
        let note = "nothing in this system is weak: the answer is that of SC";
        let hint = "declare shared variables and arrays `weak` to have them in the memory model";
        outcome.warnings.push(Diagnostic::warning(Span::new(0, 0), note).hint(hint));
    }
    Ok(outcome)
}

/// A question that is being answered.
pub(crate) struct Prover<'a, 'p> {
    pub(crate) system: &'a System,
    pub(crate) options: &'a Options,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) progress: &'p mut dyn FnMut(&Progress),
}

impl Prover<'_, '_> {
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new(self.system, self.options.model.memory())
    }

    /// The states of a run from the initial states to an approximation that was wrong, if an instance has one.
    pub(crate) fn run_to(
        &self,
        search: &Search,
        reached: usize,
        approximated: usize,
    ) -> Option<(u8, Vec<State>)> {
        let (firings, procs) = trace::firings(search, reached);
        let steps = search.nodes[reached].depth - search.nodes[approximated].depth;
        if procs > MAX_LEARNING_PROCESSES && self.system.number_procs.is_none() {
            return None;
        }
        let machine = self.machine_for(search, reached, procs);
        // The last state shows best what is wrong if it satisfies the approximation; cells that nothing assigns may be such that
        // this one does not.
        let cube = &search.nodes[approximated].cube;
        let most = if self.system.has_weak() { 2 } else { 20 };
        let ends_in = |wanted: &dyn Fn(&State) -> bool| {
            let mut tries = 0;
            replay::run(&machine, &firings[..steps], wanted, &mut || {
                tries += 1;
                tries > most || self.limits.is_hit()
            })
        };
        let run = ends_in(&|state| machine.satisfies_cube(state, cube)).or_else(|| ends_in(&|_| true))?;
        let states = run.steps.into_iter().map(|(_, state)| state);
        Some((procs, std::iter::once(run.initial).chain(states).collect()))
    }

    /// The machine that a trace from a node is replayed on. Where numbers are open, those that the cubes on the way
    /// ask for are tried first.
    fn machine_for(&self, search: &Search, id: usize, procs: u8) -> Machine<'_> {
        let mut machine = Machine::new(self.system, self.options.model, procs);
        let mut numbers = Vec::new();
        let mut at = Some(id);
        while let Some(node) = at.map(|at| &search.nodes[at]) {
            numbers.extend(numbers_of(&node.cube.lits).into_iter().map(|(_, value)| value));
            at = node.origin.as_ref().map(|origin| origin.parent);
        }
        machine.suggest(search.context.initial_values(&search.nodes[id].cube), numbers);
        machine
    }

    pub(crate) fn replay(&self, search: &Search, id: usize) -> Option<Ended> {
        let (firings, procs) = trace::firings(search, id);
        let machine = self.machine_for(search, id, procs);
        let run = replay::replay(&machine, &firings, &mut || self.limits.is_hit())?;
        let outcome = self.unsafe_outcome(Some(search), procs, &run);
        Some(Ended::Answer(Box::new(outcome), Why::Decided))
    }

    /// The answer that a run of an instance shows.
    pub(crate) fn unsafe_outcome(&self, search: Option<&Search>, procs: u8, run: &Run) -> Outcome {
        let machine = Machine::new(self.system, self.options.model, procs);
        let mut outcome = self.outcome(search, Verdict::Unsafe);
        outcome.scope = format!("an instance with {procs} process{}", if procs == 1 { "" } else { "es" });
        outcome.statistics.processes = procs;
        if search.is_none() {
            outcome.statistics.depth = run.steps.len();
        }
        outcome.trace = trace::describe(&machine, run);
        let last = run.steps.last().map_or(&run.initial, |step| &step.1);
        outcome.bad = self.system.bad.iter().find(|bad| machine.satisfies(last, bad)).map(|bad| bad.span);
        outcome
    }

    pub(crate) fn safe(&self, search: &Search) -> Ended {
        let mut outcome = self.outcome(Some(search), Verdict::Safe);
        outcome.invariant = search.fixpoint();
        if self.options.recheck {
            let Options { model, jobs, .. } = *self.options;
            let stop = || self.limits.is_hit();
            let checked = recheck::recheck(self.system, model, &outcome.invariant, jobs, &stop);
            if let Some(how) = self.confirm(&mut outcome, checked) {
                outcome.recheck = how;
            }
        }
        Ended::Answer(Box::new(outcome), Why::Decided)
    }

    /// How the check succeeded; if it did not, the answer is unknown.
    pub(crate) fn confirm(
        &self,
        outcome: &mut Outcome,
        checked: Result<Recheck, recheck::Failure>,
    ) -> Option<Recheck> {
        let reason = match checked {
            Ok(how) => return Some(how),
            Err(recheck::Failure::Stopped) => self.limits.hit(0),
            Err(recheck::Failure::Wrong(why)) => Some(StopReason::NotConfirmed(format!(
                "the invariant did not pass the independent check: {why}"
            ))),
        };
        outcome.verdict = Verdict::Unknown;
        outcome.stop_reason = reason;
        None
    }

    pub(crate) fn unknown(&self, search: &Search, reason: StopReason, why: Why) -> Ended {
        Ended::Answer(Box::new(self.unknown_outcome(search, reason)), why)
    }

    pub(crate) fn unknown_outcome(&self, search: &Search, reason: StopReason) -> Outcome {
        let mut outcome = self.outcome(Some(search), Verdict::Unknown);
        outcome.stop_reason = Some(reason);
        outcome
    }

    fn outcome(&self, search: Option<&Search>, verdict: Verdict) -> Outcome {
        let mut scope = match self.system.number_procs {
            Some(n) => format!("{n} processes"),
            None => "any number of processes".to_string(),
        };
        if !self.system.assumed.is_empty() {
            scope += ", assuming the declared invariants";
        }
        let nodes = search.map_or(&[][..], |search| &search.nodes);
        let statistics = Statistics {
            nodes: search.map_or(0, |search| search.processed),
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
            bad: None,
            invariant: vec![],
            recheck: Recheck::Skipped,
            inference: None,
            warnings: vec![],
            search: search.filter(|_| self.options.keep_search).map_or(vec![], |s| self.picture(s)),
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
