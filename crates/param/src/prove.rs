//! The whole of `prove`, in order: read, check, search, replay or re-check, answer.

use crate::backward::{Control, End, Search, Status, Stop};
use crate::brab::Brab;
use crate::machine::{Machine, State};
use crate::model::Model;
use crate::outcome::*;
use crate::pre::Context;
use crate::system::System;
use crate::{counted, lower, parser, recheck, replay, show, trace};
use fencepost_diag::{Diagnostic, SourceFile, Span};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

/// Why a search gives up on a cube.
const TOO_LARGE: &str = "a cube has more pending reads or processes than the search can hold";
/// Traces that no instance has, after which the search gives up.
const MAX_SPURIOUS: usize = 20;
/// Restarts of inference, after which it is switched off.
const MAX_RESTARTS: usize = 100;
/// Nodes that the plain search may process before inference is tried.
const FIRST_NODES: usize = 250;
/// States that the oracle explores for each node that its turn may process.
const STATES_PER_NODE: usize = 50;
/// States that it explores when inference is asked for.
const MAX_STATES: usize = 60_000;
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
        Some(procs) => prover.run(Some(procs), None).0,
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

struct Prover<'a> {
    system: &'a System,
    options: &'a Options,
    limits: &'a Limits<'a>,
    progress: &'a mut dyn FnMut(&Progress),
}

/// One way to search, and how many nodes it may process before another one is tried.
type Turn = (Option<u8>, Option<usize>);

impl Prover<'_> {
    fn context(&self) -> Context<'_> {
        Context::new(self.system, self.options.model.memory())
    }

    /// The plain search and inference with two and three processes in turn (besides those that constants name), each for so many nodes, and again for more.
    /// The number of nodes, not time, decides, so that the answer does not depend on the machine.
    fn run_in_turn(&mut self) -> Outcome {
        // Processes that constants name come on top: what is inferred is about the others.
        let named = self.system.process_constants().count() as u8;
        let inferred: &[u8] = match self.system.number_procs {
            Some(_) => &[2],
            None => &[2 + named, 3 + named],
        };
        let mut nodes = FIRST_NODES;
        // Where coherence is a choice the plain search drowns in choices that a smaller cube does not have.
        let plain_last = !crate::pre::reorderable(self.system, self.options.model.memory()).is_empty();
        let mut counted = counted::counted(self.system).filter(|_| plain_last);
        loop {
            if let Some(system) = &counted {
                match self.run_counted(&system.system, nodes) {
                    (Some(outcome), _) => return outcome,
                    (None, Why::Turn) => {}
                    // A run of it, or a limit: it has nothing to say.
                    (None, _) => counted = None,
                }
            }
            let mut turns: Vec<Turn> = vec![(None, Some(nodes))];
            turns.extend(inferred.iter().map(|procs| (Some(*procs), Some(4 * nodes))));
            if plain_last {
                turns.rotate_left(1);
            }
            let mut endless = false;
            let mut first: Option<Outcome> = None;
            for (brab, budget) in turns {
                let (outcome, why) = self.run(brab, budget);
                match why {
                    Why::Decided => return outcome,
                    Why::Turn => endless = true,
                    Why::Stuck if first.is_none() => first = Some(outcome),
                    Why::Stuck => {}
                }
            }
            match first {
                // More nodes would not help any of them.
                Some(outcome) if !endless => return outcome,
                _ => nodes *= 4,
            }
        }
    }

    /// The same with store buffers counted, for so many nodes; only a proof counts. Its invariant is checked as any other
    /// one of a system without weak memory is, and the system itself against the machine of small instances.
    fn run_counted(&mut self, system: &System, nodes: usize) -> (Option<Outcome>, Why) {
        let options = Options { model: Model::Sc, ..self.options.clone() };
        let mut prover =
            Prover { system, options: &options, limits: self.limits, progress: &mut *self.progress };
        let mut last = Why::Stuck;
        for brab in [Some(2), Some(3), None] {
            let (mut outcome, why) = prover.run(brab, Some(nodes));
            if outcome.verdict == Verdict::Safe {
                outcome.model = self.options.model;
                if outcome.recheck == Recheck::Inductive {
                    outcome.recheck = Recheck::Counted;
                    let Options { model, jobs, .. } = *self.options;
                    let stop = || self.limits.is_hit();
                    self.confirm(&mut outcome, recheck::recheck(self.system, model, &[], jobs, &stop));
                }
                return (Some(outcome), Why::Decided);
            }
            match why {
                Why::Decided => return (None, Why::Decided),
                Why::Turn => last = Why::Turn,
                Why::Stuck => {}
            }
        }
        (None, last)
    }

    fn run(&mut self, brab: Option<u8>, budget: Option<usize>) -> (Outcome, Why) {
        let (system, limits) = (self.system, self.limits);
        let stop = || limits.is_hit();
        let max_states = budget.map_or(MAX_STATES, |nodes| nodes * STATES_PER_NODE);
        let Options { model, jobs, .. } = *self.options;
        let mut oracle =
            brab.map(|procs| Brab::new(system, model, procs, max_states, jobs, &mut || limits.is_hit()));
        let mut restarts = 0;
        let mut processed = 0;
        loop {
            let context = Context::with_limit(system, self.options.model.memory(), &stop).forgetting(true);
            let mut search = Search::new(context, self.options.jobs);
            let left = budget.map(|budget| budget.saturating_sub(processed));
            let ended = self.search(&mut search, &mut oracle, left);
            processed += search.processed;
            match ended {
                Ended::Restart(reached, approximated) => {
                    restarts += 1;
                    match &mut oracle {
                        Some(oracle) if restarts <= MAX_RESTARTS => {
                            let run = self.run_to(&search, reached, approximated);
                            oracle.forbid(search.nodes[approximated].cube.clone(), run);
                        }
                        _ => oracle = None,
                    }
                }
                Ended::Answer(mut outcome, why) => {
                    outcome.statistics.restarts = restarts;
                    outcome.statistics.approximations = oracle.as_ref().map_or(0, |o| o.made);
                    outcome.inference = brab.filter(|_| oracle.is_some());
                    return (*outcome, why);
                }
            }
        }
    }

    fn search(&mut self, search: &mut Search, oracle: &mut Option<Brab>, budget: Option<usize>) -> Ended {
        let mut spurious = 0;
        loop {
            let limits = self.limits;
            let mut control = Control {
                stop: &mut |made, processed| {
                    let turn = || budget.is_some_and(|b| processed >= b).then_some(Stop::Turn);
                    limits.hit(made).map(Stop::Limit).or_else(turn)
                },
                progress: self.progress,
                approximate: &mut |context, cube| oracle.as_mut()?.approximate(context, cube),
            };
            let end = search.run(&mut control);
            match end {
                End::Fixpoint if spurious > 0 => {
                    return self.unknown(search, StopReason::Spurious(spurious), Why::Stuck);
                }
                End::Fixpoint => return self.safe(search),
                End::Stopped(Stop::Limit(reason)) => return self.unknown(search, reason, Why::Decided),
                End::Stopped(Stop::Turn) => {
                    let reason = StopReason::Unsupported("another way to search is tried".into());
                    return self.unknown(search, reason, Why::Turn);
                }
                End::Stopped(Stop::TooLarge) => {
                    let reason = StopReason::Unsupported(TOO_LARGE.into());
                    return self.unknown(search, reason, Why::Stuck);
                }
                End::Reached(id) => {
                    if let Some(approximated) = search.nodes[id].approximated {
                        return Ended::Restart(id, approximated);
                    }
                    if let Some(outcome) = self.replay(search, id) {
                        return outcome;
                    }
                    spurious += 1;
                    if spurious >= MAX_SPURIOUS {
                        return self.unknown(search, StopReason::Spurious(spurious), Why::Stuck);
                    }
                    search.go_on_past(id);
                }
            }
        }
    }

    /// The states of a run from the initial states to an approximation that was wrong, if an instance has one.
    fn run_to(&self, search: &Search, reached: usize, approximated: usize) -> Option<(u8, Vec<State>)> {
        let (firings, procs) = trace::firings(search, reached);
        let steps = search.nodes[reached].depth - search.nodes[approximated].depth;
        if procs > MAX_LEARNING_PROCESSES && self.system.number_procs.is_none() {
            return None;
        }
        let machine = Machine::new(self.system, self.options.model, procs);
        let mut tries = 0;
        let run = replay::fire(&machine, &firings[..steps], &mut || {
            tries += 1;
            tries > 20 || self.limits.is_hit()
        })?;
        let states = run.steps.into_iter().map(|(_, state)| state);
        Some((procs, std::iter::once(run.initial).chain(states).collect()))
    }

    fn replay(&self, search: &Search, id: usize) -> Option<Ended> {
        let (firings, procs) = trace::firings(search, id);
        let machine = Machine::new(self.system, self.options.model, procs);
        let run = replay::replay(&machine, &firings, &mut || self.limits.is_hit())?;
        let mut outcome = self.outcome(search, Verdict::Unsafe);
        outcome.scope = format!("an instance with {procs} process{}", if procs == 1 { "" } else { "es" });
        outcome.statistics.processes = procs;
        outcome.trace = trace::describe(&machine, &run);
        Some(Ended::Answer(Box::new(outcome), Why::Decided))
    }

    fn safe(&self, search: &Search) -> Ended {
        let mut outcome = self.outcome(search, Verdict::Safe);
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
    fn confirm(&self, outcome: &mut Outcome, checked: Result<Recheck, recheck::Failure>) -> Option<Recheck> {
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

    fn unknown(&self, search: &Search, reason: StopReason, why: Why) -> Ended {
        let mut outcome = self.outcome(search, Verdict::Unknown);
        outcome.stop_reason = Some(reason);
        Ended::Answer(Box::new(outcome), why)
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
            inference: None,
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

/// Whether another way to search could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// There is an answer, or a limit of the user was hit.
    Decided,
    /// So many nodes were not enough.
    Turn,
    /// More nodes would not help.
    Stuck,
}

enum Ended {
    Answer(Box<Outcome>, Why),
    /// A node that meets the initial states, and the approximation that led there.
    Restart(usize, usize),
}

/// The user's limits. Once one is hit it stays hit, so that everybody hears of the same one.
struct Limits<'a> {
    options: &'a Options,
    started: Instant,
    /// Questions so far: memory is not looked at every time.
    asked: AtomicUsize,
    out_of_memory: AtomicBool,
}

impl<'a> Limits<'a> {
    fn new(options: &'a Options, started: Instant) -> Limits<'a> {
        Limits { options, started, asked: AtomicUsize::new(0), out_of_memory: AtomicBool::new(false) }
    }

    fn is_hit(&self) -> bool {
        self.hit(0).is_some()
    }

    fn hit(&self, nodes: usize) -> Option<StopReason> {
        if let Some(max) = self.options.max_nodes
            && nodes > max
        {
            return Some(reached(Limit::MaxNodes, max as f64));
        }
        if let Some(time) = self.options.timeout
            && self.started.elapsed() >= time
        {
            return Some(reached(Limit::Timeout, time.as_secs_f64()));
        }
        if self.options.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
            return Some(StopReason::limit(Limit::Interrupted));
        }
        let megabytes = self.options.max_memory?;
        if self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(64)
            && resident_megabytes().is_some_and(|used| used > megabytes)
        {
            self.out_of_memory.store(true, Ordering::Relaxed);
        }
        let out_of_memory = self.out_of_memory.load(Ordering::Relaxed);
        out_of_memory.then(|| reached(Limit::MaxMemory, megabytes as f64))
    }
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
