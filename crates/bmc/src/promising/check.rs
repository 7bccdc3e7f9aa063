//! From a program to an answer: bounds that grow, and runs that somebody else confirms.

use super::encode::{Encoding, encode};
use super::lift::{Run, lift};
use super::{Active, Bounds, Certify};
use crate::aig::{Graph, Lit, Values};
use crate::finals::Finals;
use crate::formula;
use crate::lift::mistake;
use crate::limits::StopReason;
use crate::outcome::{Asked, Failed, Finding, Outcome, Progress, Unsupported, Verdict, Why};
use crate::query::{Ordering, Query};
use crate::solver::Solver;
use crate::symbolic::{self, EventKind, Fault, FaultKind, InstanceId, Unrolled, unroll};
use fencepost_answer::FindingKind;
use fencepost_ir::{Program, Property, Value};
use std::collections::BTreeSet;

/// K of the small formulas; those behind them have three times as much each.
const SMALL_TOTALS: [usize; 2] = [2, SMALL];
/// Up to this K formulas without promises are worth a try if there are to be promises.
const SMALL: usize = 4;

/// How a run is said to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// Something is wrong there.
    Wrong,
    /// All threads have ended, and the state is what the program is asked for.
    Wanted,
}

/// Does a run again elsewhere; an error says why it cannot be done, or that it ends otherwise.
pub type Confirm<'c> = dyn FnMut(&Run, Ends) -> Result<(), String> + 'c;

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How to unroll.
    pub symbolic: symbolic::Options,
    /// The largest bounds.
    pub bounds: Bounds,
    /// Only runs of one thread and of two, where many have fences: a trial.
    pub few: bool,
    /// Is told about each bound that is tried.
    pub progress: Option<Progress<'a>>,
}

/// What comes of a question.
enum Found {
    /// Nothing that ends the search.
    Nothing,
    /// The outcome is final.
    Answer,
    /// A run comes to a message with more bits than the formula has.
    Wide,
}

/// Checks a program under the promising semantics, strong consistency. First without promises and with a small K, then with more.
pub fn check(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
) -> Result<Outcome<Run>, Unsupported> {
    let mut outcome = Outcome::default();
    match search(program, options, confirm, &mut outcome) {
        Ok(()) => Ok(outcome),
        Err(Failed::Unsupported(unsupported)) => Err(unsupported),
        Err(Failed::Stopped(reason)) => {
            outcome.unknown(Why::Limit(reason));
            Ok(outcome)
        }
    }
}

fn search(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
    outcome: &mut Outcome<Run>,
) -> Result<(), Failed> {
    if find_in_few(program, options, confirm, outcome) || options.few {
        return Ok(());
    }
    let (most, mut unroll) = (options.symbolic.unroll, options.symbolic.unroll.min(FIRST_UNROLL));
    let rungs = ladder(options.bounds);
    for (number, rung) in rungs.iter().enumerate() {
        let (mut certify, mut narrow) = (options.bounds.certify, (rung[0].promises > 0).then_some(NARROW));
        loop {
            // What has promised may have to go on to fulfil that, so it is not seen so easily whether loops are cut.
            unroll = if rung[0].promises > 0 { most } else { unroll };
            let mut options = options.unrolled(unroll);
            (options.bounds.certify, options.bounds.narrow) = (certify, narrow);
            let last = rung[rung.len() - 1];
            let mut messages = messages(program, &options, last, Active::All, confirm)?;
            let found = messages.answer_all(rung, options.progress, outcome);
            outcome.statistics = messages.statistics();
            match found? {
                Found::Nothing => {}
                Found::Wide => {
                    narrow = None;
                    continue;
                }
                // It may be one of the runs that a loose formula has too many; so the whole formula is asked.
                Found::Answer if outcome.is_refused() && certify == Certify::Loosely && last.promises > 0 => {
                    outcome.why = None;
                    certify = Certify::Always;
                    continue;
                }
                Found::Answer => return Ok(()),
            }
            messages.look_at_loops(last, outcome)?;
            let enough = unroll == most || !outcome.cut;
            if enough && number + 1 == rungs.len() {
                messages.look_at_bound(last, outcome)?;
            }
            outcome.statistics = messages.statistics();
            if enough {
                break;
            }
            unroll = (unroll * MORE_UNROLL).min(most);
        }
        outcome.completed = rung.last().copied();
    }
    // All bounds were tried, and nothing goes wrong.
    outcome.verdict = Verdict::Safe;
    if program.asks_for_a_state() && outcome.run.is_none() {
        outcome.no_state();
    }
    Ok(())
}

/// Bits of values that a formula with promises has at first. If no run comes to a message with more, it has all runs: the first
/// such message of a run would be its
/// last step in the formula. That says nothing about what a certification writes and nobody reads, so that has any number of
/// bits.
const NARROW: u32 = 8;

/// How often loops are unrolled at first, and how much more often if that cuts something: within a small K, threads that wait
/// rarely
/// go round often.
const FIRST_UNROLL: u32 = 1;
const MORE_UNROLL: u32 = 4;

impl<'a> Options<'a> {
    fn unrolled(&self, unroll: u32) -> Options<'a> {
        Options { symbolic: symbolic::Options { unroll, ..self.symbolic }, ..*self }
    }
}

/// K of runs of two threads.
const PAIR_BOUND: usize = 4;
/// With fences in fewer threads the whole formula is small enough.
const MANY_THREADS: usize = 2;
/// Most pairs that are tried.
const MOST_PAIRS: usize = 40;

/// Where many threads have fences, most mistakes need one or two of the threads only, and those runs have much smaller formulas.
/// True if
/// one was found; nothing else follows from this.
fn find_in_few(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
    outcome: &mut Outcome<Run>,
) -> bool {
    let options = &options.unrolled(options.symbolic.unroll.min(FIRST_UNROLL));
    let Ok(unrolled) = unroll(program, &options.symbolic) else { return false };
    let pairs = pairs(&unrolled);
    // One thread of each function.
    let mut alone: Vec<InstanceId> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let mut met = BTreeSet::new();
    alone.retain(|thread| met.insert(unrolled.threads[thread.0 as usize].function));
    let one = alone.into_iter().map(|thread| (0, Active::One(thread)));
    let two = pairs.into_iter().map(|(a, b)| (PAIR_BOUND, Active::Two(a, b)));
    for (most, active) in one.chain(two) {
        let asked = Asked { total: options.bounds.total.min(most), ..Asked::default() };
        let Ok(mut messages) = messages(program, options, asked, active, confirm) else { return false };
        let mut tried = outcome.clone();
        match messages.answer(asked, &mut tried) {
            Ok(Found::Nothing) => {}
            Ok(Found::Answer) if tried.verdict == Verdict::Unsafe || tried.is_refused() => {
                *outcome = Outcome { statistics: messages.statistics(), ..tried };
                return true;
            }
            _ => return false,
        }
    }
    false
}

/// Pairs of threads with fences, those that run different functions first.
fn pairs(unrolled: &Unrolled) -> Vec<(InstanceId, InstanceId)> {
    let fenced = |t: &InstanceId| {
        let mut events = unrolled.threads[t.0 as usize].events.clone();
        events.any(|event| matches!(unrolled.events[event as usize].kind, EventKind::Fence(_)))
    };
    let starts = |t: &InstanceId| {
        let mut events = unrolled.threads[t.0 as usize].events.clone();
        events.any(|event| matches!(unrolled.events[event as usize].kind, EventKind::Spawn(_)))
    };
    let all = (0..unrolled.threads.len() as u32).map(InstanceId);
    if all.clone().filter(fenced).count() <= MANY_THREADS {
        return Vec::new();
    }
    let threads: Vec<InstanceId> = all.filter(|t| !starts(t)).collect();
    let mut met = BTreeSet::new();
    let mut pairs = Vec::new();
    for (index, &a) in threads.iter().enumerate() {
        for &b in &threads[index + 1..] {
            let functions =
                (unrolled.threads[a.0 as usize].function, unrolled.threads[b.0 as usize].function);
            let known = !met.insert(functions);
            pairs.push(((known, functions.0 == functions.1), (a, b)));
        }
    }
    pairs.sort_by_key(|(rank, _)| *rank);
    pairs.into_iter().map(|(_, pair)| pair).take(MOST_PAIRS).collect()
}

/// The bounds to try, those of one formula together. What small ones allow is tried first, but not two large ones of about the
/// same size: a
/// formula that has no solution takes longest. A formula with promises covers the runs without, so the larger ones are asked with
/// promises only;
/// its size does not depend on K.
fn ladder(bounds: Bounds) -> Vec<Vec<Asked>> {
    let larger = std::iter::successors(Some(3 * SMALL), |k| Some(3 * k));
    let larger = larger.take_while(|k| 3 * k < 2 * bounds.total);
    let mut totals: Vec<usize> = SMALL_TOTALS.into_iter().filter(|k| *k < bounds.total).collect();
    totals.extend(larger);
    totals.push(bounds.total);
    let most = bounds.promises.min(bounds.total);
    let without = totals.iter().filter(|k| most == 0 || **k <= SMALL);
    let mut all: Vec<Vec<Asked>> = without.map(|&total| vec![Asked { total, ..Asked::default() }]).collect();
    for promises in 1..=most {
        let totals = totals.iter().filter(|k| **k >= promises);
        all.push(totals.map(|&total| Asked { total, promises, ..Asked::default() }).collect());
    }
    all
}

/// Final states: the observed values, in order.
type States = BTreeSet<Vec<Value>>;

/// All final states within the bounds of runs without faults; an error if a run is not confirmed.
pub fn final_states(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
) -> Result<Result<States, String>, Failed> {
    let total = options.bounds.total;
    let states = final_states_within(program, options, &[total], &mut |run, _| confirm(run, Ends::Wanted))?;
    Ok(states.map(|mut states| states.pop().unwrap_or_default()))
}

/// Confirms a run that is within a bound.
pub type ConfirmWithin<'c> = dyn FnMut(&Run, Asked) -> Result<(), String> + 'c;

/// The final states for each K in turn, which grow: what is there within one is there within the next. One formula has them all.
pub fn final_states_within(
    program: &Program,
    options: &Options<'_>,
    totals: &[usize],
    confirm: &mut ConfirmWithin<'_>,
) -> Result<Result<Vec<States>, String>, Failed> {
    let most = Asked { total: options.bounds.total, promises: options.bounds.promises, ..Asked::default() };
    let later = &mut |_: &Run, _| Ok(());
    let mut query = messages(program, options, most, Active::All, later)?.query;
    let (mut states, mut within) = (BTreeSet::new(), Vec::new());
    for &total in totals {
        let asked = Asked { total, ..most };
        let mut assumed = query.order.within(asked);
        assumed.push(!query.goals.limit);
        assumed.extend(query.goals.finals.iter().flat_map(|finals| [finals.complete, finals.admitted]));
        while let Some((state, values)) = query.next_state(&assumed)? {
            if let Err(why) = confirm(&query.order.lift(&values, None), asked) {
                return Ok(Err(why));
            }
            states.insert(state);
        }
        within.push(states.clone());
    }
    Ok(Ok(within))
}

/// The events of a program, ordered by the messages that they read.
struct Slots<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    encoding: Encoding,
    /// Most view switches, if they are bounded apart.
    views: Option<usize>,
}

/// A formula, and whoever confirms what it has.
struct Messages<'p, 'c> {
    query: Query<Slots<'p>>,
    confirm: &'c mut Confirm<'c>,
    /// Nothing goes wrong with as many promises, for any K.
    any_total: bool,
}

/// Encodes a program with these bounds.
fn messages<'p, 'c>(
    program: &'p Program,
    options: &Options<'_>,
    asked: Asked,
    active: Active,
    confirm: &'c mut Confirm<'_>,
) -> Result<Messages<'p, 'c>, Failed> {
    // One for each promise, and one for the end or for each step.
    let promises = asked.promises as u32;
    let copies = if promises > 0 { promises + 1 } else { 0 };
    let copies_per_step = promises > 0 && options.bounds.certify == Certify::Always;
    let foreign = options.bounds.standard.filter(|_| promises > 0);
    let mut unrolled =
        unroll(program, &symbolic::Options { copies, copies_per_step, foreign, ..options.symbolic })?;
    let bounds = Bounds { total: asked.total, promises: asked.promises, ..options.bounds };
    let limits = options.symbolic.limits;
    let encoding = encode(program, &mut unrolled, &bounds, active, limits)?;
    let finals = match &program.property {
        Property::Final(condition) => {
            let mut finals =
                Finals::new(&mut unrolled, &mut |u, cell| encoding.last_value(u, cell), condition);
            finals.complete = unrolled.graph.and(finals.complete, encoding.complete);
            Some(finals)
        }
        Property::Assertions => None,
    };
    // A fault counts where its thread has not stopped before it.
    for fault in &mut unrolled.faults {
        let first = unrolled.threads[fault.thread.0 as usize].events.start;
        let last = fault.events_before.checked_sub(1);
        let alive = last.map_or(Lit::TRUE, |last| encoding.alive[(first + last) as usize]);
        fault.guard = unrolled.graph.and(fault.guard, alive);
    }
    let goals = unrolled.goals(finals);
    let solver = Solver::of_size(limits, unrolled.graph.len());
    let slots = Slots { program, unrolled, encoding, views: options.bounds.views };
    Ok(Messages { query: Query::with(slots, goals, solver)?, confirm, any_total: false })
}

impl Slots<'_> {
    fn lift(&self, values: &Values, fault: Option<&Fault>) -> Run {
        lift(&self.unrolled, &self.encoding, values, fault)
    }

    /// What goes wrong in a solution, with a run for each: several things may, and which of them comes first is not said there.
    fn wrong<'s>(&'s self, values: &'s Values) -> impl Iterator<Item = (Finding, Run)> + 's {
        let happens = |fault: &&Fault| values.of(fault.guard) && !matches!(fault.kind, FaultKind::Limit(_));
        let mut faults: Vec<Option<&Fault>> = self.unrolled.faults.iter().filter(happens).map(Some).collect();
        if faults.is_empty() {
            faults.push(None);
        }
        faults.into_iter().map(|fault| {
            let finding = match fault {
                None => Finding::final_condition("a final state violates the condition"),
                Some(fault) => {
                    let kind = mistake(self.program, &self.unrolled, values, &fault.kind);
                    let kind = kind.map_or(FindingKind::Assertion, |(kind, _)| kind);
                    Finding { kind, message: fault.message.clone(), span: fault.span, thread: None }
                }
            };
            (finding, self.lift(values, fault))
        })
    }

    /// A run was not confirmed: whatever else is known of the formula, it is no answer.
    fn refused(&self, why: String) -> Why {
        if self.encoding.exact { Why::Unconfirmed(why) } else { Why::Loose(why) }
    }

    /// How many events of a kind each thread has.
    fn count(&self, wanted: fn(&EventKind) -> bool) -> impl Iterator<Item = usize> {
        let threads = self.unrolled.threads.iter().filter(|thread| thread.copy_of.is_none());
        let wanted = move |event: &u32| wanted(&self.unrolled.events[*event as usize].kind);
        threads.map(move |thread| thread.events.clone().filter(wanted).count())
    }
}

impl Ordering for Slots<'_> {
    type Run = Run;

    fn graph(&self) -> &Graph {
        &self.unrolled.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.unrolled.graph
    }

    fn clauses(&self) -> &formula::Formula {
        &self.encoding.formula
    }

    fn events(&self) -> (usize, u32) {
        (self.unrolled.events.len(), self.unrolled.passes)
    }

    fn within(&mut self, asked: Asked) -> Vec<Lit> {
        let encoding = &self.encoding;
        let mut within =
            vec![!encoding.total.at_least(asked.total + 1), !encoding.promises.at_least(asked.promises + 1)];
        within.extend(self.views.map(|views| !encoding.views.at_least(views + 1)));
        within
    }

    fn explain(&self, values: &Values, _: Asked) -> Result<(Finding, Run), Why> {
        self.wrong(values).next().ok_or(Why::Unfollowed(None))
    }
}

impl Messages<'_, '_> {
    fn statistics(&self) -> crate::Statistics {
        self.query.statistics()
    }

    /// Asks about bounds of one formula.
    fn answer_all(
        &mut self,
        rung: &[Asked],
        progress: Option<Progress<'_>>,
        outcome: &mut Outcome<Run>,
    ) -> Result<Found, StopReason> {
        for (number, &asked) in rung.iter().enumerate() {
            if let Some(progress) = progress {
                progress(asked, self.statistics());
            }
            // With promises the formula has every K, and a proof without one is not longer than those for many.
            if number == 1 && asked.promises > 0 && self.query.order.views.is_none() {
                let most = rung[rung.len() - 1];
                if let Some(values) = self.without_total(asked.promises)
                    && self.is_within(most, &values)
                {
                    return Ok(self.look_at(&values, most, outcome));
                }
            }
            if self.any_total && number > 0 && number + 1 < rung.len() {
                continue;
            }
            match self.answer(asked, outcome)? {
                Found::Nothing => {}
                found => return Ok(found),
            }
        }
        Ok(Found::Nothing)
    }

    /// Whether something goes wrong with so many promises, or something that cannot be followed is met, whatever K is. If a
    /// state is asked for, K is asked for.
    fn without_total(&mut self, promises: usize) -> Option<Values> {
        if self.query.goals.finals.as_ref().is_some_and(|finals| finals.sought) {
            return None;
        }
        let within = !self.query.order.encoding.promises.at_least(promises + 1);
        let (wrong, limit) = (self.wrong(), self.query.goals.limit);
        let bad = self.query.order.graph_mut().or(wrong, limit);
        let solution = self.query.ask(&[within, bad]).ok()?;
        if solution.is_none() {
            // So it need not be found out again within K.
            self.query.require(&[!within, !bad]);
            self.any_total = true;
        }
        solution
    }

    /// Something goes wrong, or a message has too many bits.
    fn wrong(&mut self) -> Lit {
        let large = self.query.order.encoding.large;
        self.query.order.graph_mut().or(self.query.goals.bad, large)
    }

    /// A model in which something goes wrong is one within these bounds, so that there is no need to look for another one.
    fn is_within(&mut self, asked: Asked, values: &Values) -> bool {
        let wrong = values.of(self.query.goals.bad) || values.of(self.query.order.encoding.large);
        wrong && self.query.order.within(asked).into_iter().all(|lit| values.of(lit))
    }

    /// Asks about one pair of bounds.
    fn answer(&mut self, asked: Asked, outcome: &mut Outcome<Run>) -> Result<Found, StopReason> {
        let wrong = self.wrong();
        if let Some(values) = self.query.ask_within(asked, wrong)? {
            return Ok(self.look_at(&values, asked, outcome));
        }
        // Nothing is wrong; does a run come to something that cannot be followed?
        if self.query.ask_within(asked, self.query.goals.limit)?.is_some() {
            outcome.unknown(Why::Unfollowed(None));
            return Ok(Found::Answer);
        }
        self.look_for_wanted(asked, outcome)
    }

    /// A model in which something goes wrong.
    fn look_at(&mut self, values: &Values, asked: Asked, outcome: &mut Outcome<Run>) -> Found {
        let slots = &self.query.order;
        if values.of(slots.encoding.large) {
            return Found::Wide;
        }
        let mut refused = String::new();
        for (finding, run) in slots.wrong(values) {
            match (self.confirm)(&run, Ends::Wrong) {
                Ok(()) => {
                    outcome.wrong(asked, finding, Some(run));
                    return Found::Answer;
                }
                Err(why) => refused = why,
            }
        }
        outcome.unknown(slots.refused(refused));
        Found::Answer
    }

    /// Nothing is wrong. If the program is asked for a final state: is there one? That is the answer if nothing can go wrong.
    fn look_for_wanted(&mut self, asked: Asked, outcome: &mut Outcome<Run>) -> Result<Found, StopReason> {
        let Some(finals) = self.query.goals.finals.as_ref().filter(|finals| finals.sought) else {
            return Ok(Found::Nothing);
        };
        if outcome.run.is_some() {
            return Ok(Found::Nothing);
        }
        let state = finals.state();
        let mut assumed = self.query.order.within(asked);
        assumed.extend(state);
        let Some(values) = self.query.ask(&assumed)? else { return Ok(Found::Nothing) };
        let run = self.query.order.lift(&values, None);
        if let Err(why) = (self.confirm)(&run, Ends::Wanted) {
            outcome.unknown(self.query.order.refused(why));
            return Ok(Found::Answer);
        }
        outcome.run = Some(run);
        if self.query.goals.bad == Lit::FALSE && self.query.goals.limit == Lit::FALSE {
            outcome.verdict = Verdict::Safe;
            return Ok(Found::Answer);
        }
        Ok(Found::Nothing)
    }

    /// Nothing is wrong; was a loop cut off? A thread that cannot fulfil a promise because a loop is cut off is no run at all, so
    /// with promises every loop that may be cut off counts.
    fn look_at_loops(&mut self, asked: Asked, outcome: &mut Outcome<Run>) -> Result<(), StopReason> {
        let unrolled = &mut self.query.order.unrolled;
        let cut = unrolled.rounds.last().cloned().unwrap_or_default();
        outcome.cut = match asked.promises {
            0 => {
                let cut = unrolled.graph.or_all(&cut);
                self.query.ask_within(asked, cut)?.is_some()
            }
            _ => cut.iter().any(|lit| *lit != Lit::FALSE),
        };
        Ok(())
    }

    /// Nothing is wrong; do the bounds matter?
    ///
    /// A bound matters not if no run comes so near to it that its next step could go beyond. View switches and promises are spent
    /// one by one,
    /// those of a certification together, at most one for each read of a thread; and every beginning of a run is one: a thread
    /// can stop anywhere
    /// if there are promises, and without promises go on without a switch, or stop at a read-modify-write. No thread promises
    /// more than it writes.
    fn look_at_bound(&mut self, asked: Asked, outcome: &mut Outcome<Run>) -> Result<(), StopReason> {
        let slots = &self.query.order;
        let reads = slots.count(|kind| matches!(kind, EventKind::Read { .. })).max().unwrap_or(0);
        let writes: usize = slots.count(|kind| matches!(kind, EventKind::Write { .. })).sum();
        let most = if asked.promises > 0 { reads.max(1) } else { 1 };
        let near = slots.encoding.total.at_least((asked.total + 1).saturating_sub(most));
        let all = slots.encoding.promises.at_least(asked.promises);
        if !self.any_total {
            outcome.spent = self.query.ask_within(asked, near)?.is_some();
        }
        outcome.promised = match asked.promises {
            0 => asked.total > 0 && writes > 0,
            promises if promises >= writes => false,
            _ => self.query.ask_within(asked, all)?.is_some(),
        };
        Ok(())
    }
}
