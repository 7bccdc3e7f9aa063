//! Ways to search that take turns: the plain search, inference from two and from three processes, and, as a by-product of the
//! instances that inference explores, the search forwards for a run to a bad state. The first that ends wins.
//!
//! A turn is an amount of work, not of time, so that the answer does not depend on the machine or on the number of
//! threads. A search
//! whose turn is over goes on in its next one where it stopped. Turns grow from round to round, and so do the
//! instances that were not explored to the end.

use crate::backward::{Control, End, Search, Stop};
use crate::brab::Brab;
use crate::counted;
use crate::model::Model;
use crate::oracle::{Effort, Oracle};
use crate::outcome::*;
use crate::pre::Context;
use crate::prove::{Options, Prover};
use crate::recheck;
use crate::system::System;

/// Why a search gives up on a cube.
const TOO_LARGE: &str = "a cube has more pending reads or processes than the search can hold";
/// Traces that no instance has, after which the search gives up.
const MAX_SPURIOUS: usize = 20;
/// Restarts of inference, after which it is switched off.
const MAX_RESTARTS: usize = 1_000;
/// Work of a restart: what is learnt from it.
const RESTART: u64 = 1_000;
/// Work of the first turn, see [`Search::work`]; under a weak model, where an instance has many states and each costs
/// more, the search comes before inference for longer.
const FIRST_WORK: (u64, u64) = (20_000, 600_000);
/// So many times more of everything in the next round.
const GROWTH: u64 = 4;
/// States that an oracle explores at first.
const FIRST_EFFORT: Effort = Effort { compiled: 100_000, general: 1_000 };
/// States that it explores when inference is asked for.
const ASKED_EFFORT: Effort = Effort { compiled: 300_000, general: 60_000 };

/// Whether another way to search could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// There is an answer, or a limit of the user was hit.
    Decided,
    /// So much work was not enough.
    Turn,
    /// More work would not help.
    Stuck,
}

pub(crate) enum Ended {
    Answer(Box<Outcome>, Why),
    /// A node that meets the initial states, and the approximation that led there.
    Restart(usize, usize),
}

/// A way to search, with all it has found so far.
struct Way<'a> {
    /// Processes of the oracle, if clauses are inferred.
    brab: Option<u8>,
    /// Cubes say nothing of constants that are numbers.
    forget: bool,
    /// If inference has to be switched off, the plain search goes on.
    plain_after: bool,
    oracle: Option<Brab<'a>>,
    effort: Effort,
    search: Option<Search<'a>>,
    /// Work of searches that were started over.
    spent: u64,
    /// The least work that the search may do: as much as the exploration before it.
    least: u64,
    restarts: usize,
    spurious: usize,
}

impl<'a> Way<'a> {
    fn new(brab: Option<u8>, forget: bool) -> Way<'a> {
        Way {
            brab,
            forget,
            plain_after: false,
            oracle: None,
            effort: FIRST_EFFORT,
            search: None,
            spent: 0,
            least: 0,
            restarts: 0,
            spurious: 0,
        }
    }

    /// Gives the search up, to start over.
    fn start_over(&mut self) {
        self.spent += self.search.take().map_or(0, |search| search.work());
        self.spurious = 0;
    }
}

impl<'a> Prover<'a, '_> {
    /// Inference from so many processes and nothing else.
    pub(crate) fn run_inference(&mut self, procs: u8) -> Outcome {
        let forget = !self.system.number_constants().is_empty();
        let stop = self.stop();
        let way = Way::new(Some(procs), forget);
        let mut way = Way { effort: ASKED_EFFORT, plain_after: true, ..way };
        self.turn(&mut way, &stop, None).0
    }

    fn stop(&self) -> impl Fn() -> bool + Sync + use<'a> {
        let limits = self.limits;
        move || limits.is_hit()
    }

    /// The plain search and inference with two and three processes in turn (besides those that constants name).
    pub(crate) fn run_in_turn(&mut self) -> Outcome {
        // Where coherence is a choice the plain search drowns in choices that a smaller cube does not have.
        let plain_last = !crate::pre::reorderable(self.system, self.options.model.memory()).is_empty();
        let counted = counted::counted(self.system).filter(|_| plain_last);
        let mut counted = counted.as_ref().map(|system| &system.system);
        let mut work = if self.system.has_weak() && !plain_last { FIRST_WORK.1 } else { FIRST_WORK.0 };
        let stop = self.stop();
        let mut ways = self.ways(plain_last);
        let mut first: Option<Outcome> = None;
        loop {
            if let Some(system) = counted {
                match self.run_counted(system, work) {
                    (Some(outcome), _) => return outcome,
                    (None, Why::Turn) => {}
                    // A run of it, or a limit: it has nothing to say.
                    (None, _) => counted = None,
                }
            }
            let mut at = 0;
            while at < ways.len() {
                let (outcome, why) = self.turn(&mut ways[at], &stop, Some(work));
                match why {
                    Why::Decided => return outcome,
                    Why::Turn => at += 1,
                    // More of the same would not help.
                    Why::Stuck => {
                        ways.remove(at);
                        first.get_or_insert(outcome);
                    }
                }
            }
            match first {
                Some(outcome) if ways.is_empty() => return outcome,
                _ => work *= GROWTH,
            }
        }
    }

    fn ways<'w>(&self, plain_last: bool) -> Vec<Way<'w>> {
        // Processes that constants name come on top: what is inferred is about the others.
        let named = self.system.process_constants().count() as u8;
        let inferred: &[u8] = match self.system.number_procs {
            Some(_) => &[2],
            None => &[2 + named, 3 + named],
        };
        // Without the constants cubes are larger, and there may be traces that no instance has.
        let has_constants = !self.system.number_constants().is_empty();
        let mut ways = vec![Way::new(None, has_constants)];
        ways.extend(has_constants.then(|| Way::new(None, false)));
        ways.extend(inferred.iter().map(|procs| Way::new(Some(*procs), has_constants)));
        if plain_last {
            let plain = ways.iter().filter(|way| way.brab.is_none()).count();
            ways.rotate_left(plain);
        }
        ways
    }

    /// The same with store buffers counted, for so much work; only a proof counts. Its invariant is checked as any other
    /// one of a system without weak memory is, and the system itself against the machine of small instances.
    fn run_counted(&mut self, system: &System, work: u64) -> (Option<Outcome>, Why) {
        let options = Options { model: Model::Sc, ..self.options.clone() };
        let limits = self.limits;
        let mut prover = Prover { system, options: &options, limits, progress: &mut *self.progress };
        let stop = prover.stop();
        let mut last = Why::Stuck;
        for brab in [Some(2), Some(3), None] {
            let (mut outcome, why) = prover.turn(&mut Way::new(brab, false), &stop, Some(work));
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

    /// One turn, after which the way has done so much work in all.
    fn turn<'w>(
        &mut self,
        way: &mut Way<'w>,
        stop: &'w (dyn Fn() -> bool + Sync),
        work: Option<u64>,
    ) -> (Outcome, Why)
    where
        'a: 'w,
    {
        if let Some(outcome) = self.explore(way, work) {
            return (outcome, Why::Decided);
        }
        loop {
            let mut search = way.search.take().unwrap_or_else(|| {
                let context = Context::with_limit(self.system, self.options.model.memory(), stop);
                Search::new(context.forgetting(way.forget), self.options.jobs)
            });
            let left = work.map(|work| work.max(way.least).saturating_sub(way.spent));
            let ended = self.search(&mut search, &mut way.oracle, &mut way.spurious, left);
            match ended {
                Ended::Answer(mut outcome, why) => {
                    way.search = Some(search);
                    outcome.statistics.restarts = way.restarts;
                    outcome.statistics.approximations = way.oracle.as_ref().map_or(0, |o| o.made);
                    outcome.inference = way.brab.filter(|_| way.oracle.is_some());
                    return (*outcome, why);
                }
                Ended::Restart(reached, approximated) => {
                    let wrong = search.nodes[approximated].cube.clone();
                    let run = self.run_to(&search, reached, approximated);
                    way.spent += search.work() + RESTART;
                    way.spurious = 0;
                    way.restarts += 1;
                    match &mut way.oracle {
                        Some(oracle) if way.restarts <= MAX_RESTARTS => oracle.forbid(wrong, run),
                        _ if way.plain_after => way.oracle = None,
                        _ => {
                            let reason = StopReason::Unsupported("inference errs again and again".into());
                            return (self.unknown_outcome(&search, reason), Why::Stuck);
                        }
                    }
                }
            }
        }
    }

    /// Explores an instance for inference, or more of it if not all of it is known and the search has done so much more than the
    /// exploration; a run to a bad state on the way is an answer.
    fn explore<'w>(&mut self, way: &mut Way<'w>, work: Option<u64>) -> Option<Outcome>
    where
        'a: 'w,
    {
        let procs = way.brab?;
        if let Some(brab) = &mut way.oracle {
            let Oracle { work: cost, is_cut, .. } = *brab.oracle();
            if !is_cut || work.is_none_or(|work| work < GROWTH * cost) {
                return None;
            }
            way.effort.compiled *= GROWTH as usize;
            way.effort.general *= GROWTH as usize;
        } else if way.restarts > 0 {
            // It was switched off.
            return None;
        }
        way.start_over();
        let limits = self.limits;
        let Options { model, jobs, .. } = *self.options;
        let mut enough = || limits.is_hit();
        let mut brab = Brab::new(self.system, model, procs, way.effort, jobs, &mut enough);
        let context = self.context();
        let bad: Vec<_> = self.system.bad.iter().flat_map(|bad| context.cubes_of(bad)).collect();
        if let Some((procs, run)) = brab.oracle().run_to_bad(&bad, &mut enough) {
            return Some(self.unsafe_outcome(None, procs, &run));
        }
        if let Some(before) = way.oracle.take() {
            brab.remember(before);
        }
        way.least = way.spent + brab.oracle().work;
        way.oracle = Some(brab);
        None
    }

    fn search(
        &mut self,
        search: &mut Search,
        oracle: &mut Option<Brab>,
        spurious: &mut usize,
        work: Option<u64>,
    ) -> Ended {
        loop {
            let limits = self.limits;
            let mut control = Control {
                stop: &mut |made, done| {
                    let turn = || work.is_some_and(|work| done >= work).then_some(Stop::Turn);
                    limits.hit(made).map(Stop::Limit).or_else(turn)
                },
                progress: self.progress,
                approximate: &mut |context, cube| oracle.as_mut()?.approximate(context, cube),
            };
            let end = search.run(&mut control);
            match end {
                End::Fixpoint if *spurious > 0 => {
                    return self.unknown(search, StopReason::Spurious(*spurious), Why::Stuck);
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
                    *spurious += 1;
                    if *spurious >= MAX_SPURIOUS {
                        return self.unknown(search, StopReason::Spurious(*spurious), Why::Stuck);
                    }
                    search.go_on_past(id);
                }
            }
        }
    }
}
