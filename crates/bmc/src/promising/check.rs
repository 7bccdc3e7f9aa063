//! From a program to an answer: bounds that grow, and runs that somebody else confirms.

use super::encode::{Encoding, encode};
use super::lift::{Run, lift};
use super::{Active, Bounds, Certify, Unsupported};
use crate::aig::{Lit, Values};
use crate::check::{Finding, Statistics, Verdict};
use crate::finals::Finals;
use crate::lift::{Mistake, mistake};
use crate::limits::{Limits, StopReason};
use crate::solver::{Answer, Solver};
use crate::symbolic::{self, EventKind, Failed, Fault, FaultKind, InstanceId, Unrolled, unroll};
use fencepost_diag::Span;
use fencepost_ir::{Program, Property, Quantifier, Value};
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

/// A bound that was asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// K.
    pub total: usize,
    /// Promises.
    pub promises: usize,
}

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
    pub progress: Option<&'a dyn Fn(Asked, Statistics)>,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The unroll bound cut something off.
    pub cut: bool,
    /// Some run may use up K: with a larger K there might be others.
    pub spent: bool,
    /// Some run makes all promises that are allowed: with more there might be others.
    pub promised: bool,
    /// The last bounds within which it is known that nothing goes wrong.
    pub completed: Option<Asked>,
    /// The limit that ended the search.
    pub stop: Option<StopReason>,
    /// Why there is no answer, in words.
    pub reason: Option<String>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// The run that shows it, confirmed.
    pub run: Option<Run>,
    /// Why a run of the formula was not confirmed. That is a mistake of ours, and there is no answer.
    pub unconfirmed: Option<String>,
    /// It was one of a formula that may have runs too many, so that it is no mistake.
    pub loose: bool,
    /// A run comes to a message with more bits than the formula has.
    large: bool,
    /// Nothing goes wrong with as many promises, for any K.
    any_total: bool,
    /// Figures of the last formula.
    pub statistics: Statistics,
}

/// Checks a program under the promising semantics, strong consistency. First without promises and with a small K, then with more.
pub fn check(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
) -> Result<Outcome, Unsupported> {
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        cut: false,
        spent: false,
        promised: false,
        completed: None,
        stop: None,
        reason: None,
        finding: None,
        run: None,
        unconfirmed: None,
        loose: false,
        large: false,
        any_total: false,
        statistics: Statistics::default(),
    };
    if find_in_few(program, options, confirm, &mut outcome)? || options.few {
        return Ok(outcome);
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
            let mut query = match Query::new(program, &options, last, Active::All) {
                Ok(query) => query,
                Err(Failed::Stopped(reason)) => {
                    outcome.stopped(reason);
                    return Ok(outcome);
                }
                Err(Failed::Unsupported { what, span }) => return Err(Unsupported { what, span }),
            };
            let mut done = query.answer_all(rung, &options, confirm, &mut outcome);
            if outcome.large {
                (outcome.large, outcome.any_total, narrow) = (false, false, None);
                continue;
            }
            if outcome.unconfirmed.is_some() && certify == Certify::Loosely && last.promises > 0 {
                // It may be one of the runs that a loose formula has too many; so the whole formula is asked.
                (outcome.unconfirmed, outcome.reason) = (None, None);
                certify = Certify::Always;
                continue;
            }
            done = done || query.look_at_loops(last, options.bounds.views, &mut outcome);
            let enough = unroll == most || !outcome.cut;
            if !done && enough && number + 1 == rungs.len() {
                done = query.look_at_bound(last, options.bounds.views, &mut outcome);
            }
            outcome.statistics = query.statistics();
            if done {
                return Ok(outcome);
            }
            if enough {
                break;
            }
            unroll = (unroll * MORE_UNROLL).min(most);
        }
        outcome.completed = rung.last().copied();
    }
    outcome.conclude(program);
    Ok(outcome)
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
    outcome: &mut Outcome,
) -> Result<bool, Unsupported> {
    let options = &options.unrolled(options.symbolic.unroll.min(FIRST_UNROLL));
    let Ok(unrolled) = unroll(program, &options.symbolic) else { return Ok(false) };
    let pairs = pairs(&unrolled);
    // One thread of each function.
    let mut alone: Vec<InstanceId> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let mut met = BTreeSet::new();
    alone.retain(|thread| met.insert(unrolled.threads[thread.0 as usize].function));
    let one = alone.into_iter().map(|thread| (0, Active::One(thread)));
    let two = pairs.into_iter().map(|(a, b)| (PAIR_BOUND, Active::Two(a, b)));
    for (most, active) in one.chain(two) {
        let asked = Asked { total: options.bounds.total.min(most), promises: 0 };
        let Ok(mut query) = Query::new(program, options, asked, active) else { return Ok(false) };
        let mut tried = outcome.clone();
        let done = query.answer(asked, options.bounds.views, confirm, &mut tried);
        if done && (tried.verdict == Verdict::Unsafe || tried.unconfirmed.is_some()) {
            *outcome = tried;
            outcome.statistics = query.statistics();
            return Ok(true);
        }
        if done {
            return Ok(false);
        }
    }
    Ok(false)
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
    let mut all: Vec<Vec<Asked>> = without.map(|&total| vec![Asked { total, promises: 0 }]).collect();
    for promises in 1..=most {
        let totals = totals.iter().filter(|k| **k >= promises);
        all.push(totals.map(|&total| Asked { total, promises }).collect());
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
    let promises = options.bounds.promises;
    let mut query =
        Query::new(program, options, Asked { total: options.bounds.total, promises }, Active::All)?;
    let (mut states, mut within) = (BTreeSet::new(), Vec::new());
    for &total in totals {
        let asked = Asked { total, promises };
        while let Some((state, run)) = query.final_state(asked).map_err(Failed::Stopped)? {
            if let Err(why) = confirm(&run, asked) {
                return Ok(Err(why));
            }
            query.exclude_state(&state);
            states.insert(state);
        }
        within.push(states.clone());
    }
    Ok(Ok(within))
}

/// An encoded program in a solver.
struct Query<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    encoding: Encoding,
    solver: Solver,
    bad: Lit,
    limit: Lit,
    finals: Option<Finals>,
}

impl<'p> Query<'p> {
    fn new(
        program: &'p Program,
        options: &Options<'_>,
        asked: Asked,
        active: Active,
    ) -> Result<Query<'p>, Failed> {
        // One for each promise, and one for the end or for each step.
        let promises = asked.promises as u32;
        let copies = if promises > 0 { promises + 1 } else { 0 };
        let foreign = options.bounds.standard.filter(|_| promises > 0);
        let copies_per_step = promises > 0 && options.bounds.certify == Certify::Always;
        let mut unrolled =
            unroll(program, &symbolic::Options { copies, copies_per_step, foreign, ..options.symbolic })?;
        let bounds = Bounds { total: asked.total, promises: asked.promises, ..options.bounds };
        let limits: Limits = options.symbolic.limits;
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
        let (bad, limit) = faults(program, &mut unrolled, &encoding, finals.as_ref());
        let mut solver = Solver::of_size(limits, unrolled.graph.len());
        solver.require_all(&unrolled.graph, &encoding.formula).map_err(Failed::Stopped)?;
        Ok(Query { program, unrolled, encoding, solver, bad, limit, finals })
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            events: self.unrolled.events.len() as u64,
            nodes: self.unrolled.graph.len() as u64,
            variables: self.solver.variables(),
            clauses: self.solver.clauses(),
            conflicts: self.solver.conflicts(),
            passes: u64::from(self.unrolled.passes),
        }
    }

    fn within(&self, asked: Asked, views: Option<usize>) -> Vec<Lit> {
        let encoding = &self.encoding;
        let mut within =
            vec![!encoding.total.at_least(asked.total + 1), !encoding.promises.at_least(asked.promises + 1)];
        within.extend(views.map(|views| !encoding.views.at_least(views + 1)));
        within
    }

    /// Asks about bounds of one formula. True if the outcome is final.
    fn answer_all(
        &mut self,
        rung: &[Asked],
        options: &Options<'_>,
        confirm: &mut Confirm<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        rung.iter().enumerate().any(|(number, &asked)| {
            if let Some(progress) = options.progress {
                progress(asked, self.statistics());
            }
            // With promises the formula has every K, and a proof without one is not longer than those for many.
            if number == 1 && asked.promises > 0 && options.bounds.views.is_none() {
                let most = rung[rung.len() - 1];
                match self.without_total(asked.promises) {
                    Some(Answer::Unsat) => outcome.any_total = true,
                    Some(Answer::Sat(values)) if self.is_within(most, &values) => {
                        return self.look_at(&values, confirm, outcome);
                    }
                    _ => {}
                }
            }
            if outcome.any_total && number > 0 && number + 1 < rung.len() {
                return false;
            }
            self.answer(asked, options.bounds.views, confirm, outcome)
        })
    }

    /// Whether something goes wrong with so many promises, or something that cannot be followed is met, whatever K is. If a
    /// state is asked for, K is asked for.
    fn without_total(&mut self, promises: usize) -> Option<Answer> {
        if matches!(&self.program.property, Property::Final(condition) if condition.quantifier == Quantifier::Exists)
        {
            return None;
        }
        let within = [!self.encoding.promises.at_least(promises + 1)];
        let bad = self.unrolled.graph.or_all(&[self.bad, self.encoding.large, self.limit]);
        let answer = self.solve(&within, bad);
        if matches!(answer, Answer::Unsat) {
            // So it need not be found out again within K.
            self.solver.require(&self.unrolled.graph, &[!within[0], !bad]);
        }
        Some(answer)
    }

    /// A model in which something goes wrong is one within these bounds, so that there is no need to look for another one.
    fn is_within(&self, asked: Asked, values: &Values) -> bool {
        let wrong = values.of(self.bad) || values.of(self.encoding.large);
        wrong && self.within(asked, None).into_iter().all(|lit| values.of(lit))
    }

    /// Asks about one pair of bounds. True if the outcome is final.
    fn answer(
        &mut self,
        asked: Asked,
        views: Option<usize>,
        confirm: &mut Confirm<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let within = self.within(asked, views);
        let bad = self.unrolled.graph.or(self.bad, self.encoding.large);
        let values = match self.solve(&within, bad) {
            Answer::Stopped(reason) => return outcome.stopped(reason),
            Answer::Unsat => {
                return self.meets_limit(&within, outcome) || self.look_for_wanted(&within, confirm, outcome);
            }
            Answer::Sat(values) => values,
        };
        self.look_at(&values, confirm, outcome)
    }

    /// A model in which something goes wrong: true if the outcome is final.
    fn look_at(&mut self, values: &Values, confirm: &mut Confirm<'_>, outcome: &mut Outcome) -> bool {
        if values.of(self.encoding.large) {
            outcome.large = true;
            return true;
        }
        // Several things may go wrong in a model; which of them comes first in a run is not said there.
        let mut faults: Vec<Option<Fault>> = self.faults(values).into_iter().map(Some).collect();
        if faults.is_empty() {
            faults.push(None);
        }
        let mut refused = String::new();
        for fault in faults {
            let run = lift(&self.unrolled, &self.encoding, values, fault.as_ref());
            match confirm(&run, Ends::Wrong) {
                Ok(()) => {
                    outcome.verdict = Verdict::Unsafe;
                    outcome.finding = Some(self.finding(fault, values));
                    outcome.run = Some(run);
                    return true;
                }
                Err(why) => refused = why,
            }
        }
        outcome.refused(refused, self.encoding.exact)
    }

    /// Nothing is wrong. If the program is asked for a final state: is there one? True if that is the answer, because nothing can
    /// go wrong.
    fn look_for_wanted(&mut self, within: &[Lit], confirm: &mut Confirm<'_>, outcome: &mut Outcome) -> bool {
        let (Some(finals), Property::Final(condition)) = (&self.finals, &self.program.property) else {
            return false;
        };
        if condition.quantifier != Quantifier::Exists || outcome.run.is_some() {
            return false;
        }
        let mut assumed = within.to_vec();
        assumed.extend([finals.complete, finals.admitted, finals.wanted]);
        match self.solver.solve(&self.unrolled.graph, &assumed) {
            Answer::Stopped(reason) => outcome.stopped(reason),
            Answer::Unsat => false,
            Answer::Sat(values) => {
                let run = lift(&self.unrolled, &self.encoding, &values, None);
                if let Err(why) = confirm(&run, Ends::Wanted) {
                    return outcome.refused(why, self.encoding.exact);
                }
                outcome.run = Some(run);
                let harmless = self.bad == Lit::FALSE && self.limit == Lit::FALSE;
                if harmless {
                    outcome.verdict = Verdict::Safe;
                }
                harmless
            }
        }
    }

    fn solve(&mut self, within: &[Lit], wanted: Lit) -> Answer {
        let mut assumed = within.to_vec();
        assumed.push(wanted);
        self.solver.solve(&self.unrolled.graph, &assumed)
    }

    /// Nothing is wrong; does a run come to something that cannot be followed?
    fn meets_limit(&mut self, within: &[Lit], outcome: &mut Outcome) -> bool {
        match self.solve(within, self.limit) {
            Answer::Stopped(reason) => return outcome.stopped(reason),
            Answer::Unsat => return false,
            Answer::Sat(_) => {}
        }
        outcome.reason = Some("something that cannot be followed here is reached".into());
        true
    }

    /// Nothing is wrong; was a loop cut off? True if there was no time to tell. A thread that cannot fulfil a promise because a
    /// loop is
    /// cut off is no run at all, so with promises every loop that may be cut off counts.
    fn look_at_loops(&mut self, asked: Asked, views: Option<usize>, outcome: &mut Outcome) -> bool {
        let cut = self.unrolled.rounds.last().cloned().unwrap_or_default();
        if asked.promises > 0 {
            outcome.cut = cut.iter().any(|lit| *lit != Lit::FALSE);
            return false;
        }
        let cut = self.unrolled.graph.or_all(&cut);
        let within = self.within(asked, views);
        match self.solve(&within, cut) {
            Answer::Stopped(reason) => return outcome.stopped(reason),
            answer => outcome.cut = matches!(answer, Answer::Sat(_)),
        }
        false
    }

    /// Nothing is wrong; do the bounds matter? True if there was no time to tell.
    ///
    /// A bound matters not if no run comes so near to it that its next step could go beyond. View switches and promises are spent
    /// one by one,
    /// those of a certification together, at most one for each read of a thread; and every beginning of a run is one: a thread
    /// can stop anywhere
    /// if there are promises, and without promises go on without a switch, or stop at a read-modify-write. No thread promises
    /// more than it writes.
    fn look_at_bound(&mut self, asked: Asked, views: Option<usize>, outcome: &mut Outcome) -> bool {
        let within = self.within(asked, views);
        let is_read = |kind: &EventKind| matches!(kind, EventKind::Read { .. });
        let reads = self.count(is_read).max().unwrap_or(0);
        let writes: usize = self.count(|kind| matches!(kind, EventKind::Write { .. })).sum();
        let most = if asked.promises > 0 { reads.max(1) } else { 1 };
        let near = (asked.total + 1).saturating_sub(most);
        if !outcome.any_total {
            match self.solve(&within, self.encoding.total.at_least(near)) {
                Answer::Stopped(reason) => return outcome.stopped(reason),
                answer => outcome.spent = matches!(answer, Answer::Sat(_)),
            }
        }
        if asked.promises == 0 || asked.promises >= writes {
            outcome.promised = asked.promises == 0 && asked.total > 0 && writes > 0;
            return false;
        }
        match self.solve(&within, self.encoding.promises.at_least(asked.promises)) {
            Answer::Stopped(reason) => return outcome.stopped(reason),
            answer => outcome.promised = matches!(answer, Answer::Sat(_)),
        }
        false
    }

    /// How many events of a kind each thread has.
    fn count(&self, wanted: fn(&EventKind) -> bool) -> impl Iterator<Item = usize> {
        let threads = self.unrolled.threads.iter().filter(|thread| thread.copy_of.is_none());
        let wanted = move |event: &u32| wanted(&self.unrolled.events[*event as usize].kind);
        threads.map(move |thread| thread.events.clone().filter(wanted).count())
    }

    fn faults(&self, values: &Values) -> Vec<Fault> {
        let happens = |fault: &&Fault| {
            values.of(fault.guard)
                && !matches!(fault.kind, FaultKind::Limit(_))
                && values.of(alive(&self.unrolled, &self.encoding, fault))
        };
        self.unrolled.faults.iter().filter(happens).cloned().collect()
    }

    fn finding(&self, fault: Option<Fault>, values: &Values) -> Finding {
        match fault {
            Some(fault) => {
                let kind =
                    mistake(self.program, &self.unrolled, values, &fault.kind).unwrap_or(Mistake::Assertion);
                Finding {
                    kind,
                    message: fault.message.clone(),
                    span: fault.span,
                    thread: None,
                    at: Some((fault.function, fault.pc)),
                }
            }
            None => Finding {
                kind: Mistake::FinalCondition,
                message: Mistake::FinalCondition.describe().into(),
                span: Span::default(),
                thread: None,
                at: None,
            },
        }
    }

    fn final_state(&mut self, asked: Asked) -> Result<Option<(Vec<Value>, Run)>, StopReason> {
        let Some(finals) = &self.finals else { return Ok(None) };
        let mut assumed = self.within(asked, None);
        assumed.extend([finals.complete, finals.admitted, !self.limit]);
        match self.solver.solve(&self.unrolled.graph, &assumed) {
            Answer::Stopped(reason) => Err(reason),
            Answer::Unsat => Ok(None),
            Answer::Sat(values) => {
                let state = finals.observed.iter().map(|word| word.evaluate(&values)).collect();
                let run = lift(&self.unrolled, &self.encoding, &values, None);
                Ok(Some((state, run)))
            }
        }
    }

    fn exclude_state(&mut self, state: &[Value]) {
        let Some(finals) = &self.finals else { return };
        let graph = &mut self.unrolled.graph;
        let differs: Vec<Lit> =
            finals.observed.iter().zip(state).map(|(word, &value)| !word.is(graph, value)).collect();
        self.solver.require(graph, &differs);
    }
}

impl Outcome {
    fn stopped(&mut self, reason: StopReason) -> bool {
        self.stop = Some(reason);
        self.reason = Some(reason.describe().into());
        true
    }

    /// A run of the formula was not confirmed: whatever else is known of the formula, it is no answer.
    fn refused(&mut self, why: String, exact: bool) -> bool {
        self.verdict = Verdict::Unknown;
        let reason = match exact {
            true => "a run of the encoding is none of the machine",
            false => "what a promise publishes is not what the machine lets it publish",
        };
        self.reason = Some(reason.into());
        self.loose = !exact;
        self.unconfirmed = Some(why);
        true
    }

    /// All bounds were tried, and nothing goes wrong.
    fn conclude(&mut self, program: &Program) {
        self.verdict = Verdict::Safe;
        let wants = matches!(&program.property, Property::Final(condition) if condition.quantifier == Quantifier::Exists);
        if !wants || self.run.is_some() {
            return;
        }
        let message = "no final state satisfies the condition";
        if self.cut || self.spent || self.promised {
            self.verdict = Verdict::Unknown;
            return;
        }
        self.verdict = Verdict::Unsafe;
        let (kind, span) = (Mistake::FinalCondition, Span::default());
        self.finding = Some(Finding { kind, message: message.into(), span, thread: None, at: None });
    }
}

/// Where the thread of a fault has not stopped before it.
fn alive(unrolled: &Unrolled, encoding: &Encoding, fault: &Fault) -> Lit {
    let first = unrolled.threads[fault.thread.0 as usize].events.start;
    match fault.events_before.checked_sub(1) {
        Some(last) => encoding.alive[(first + last) as usize],
        None => Lit::TRUE,
    }
}

/// Something goes wrong; something is met that cannot be followed.
fn faults(
    program: &Program,
    unrolled: &mut Unrolled,
    encoding: &Encoding,
    finals: Option<&Finals>,
) -> (Lit, Lit) {
    let (mut bad, mut limit) = (Vec::new(), Vec::new());
    for fault in unrolled.faults.clone() {
        let alive = alive(unrolled, encoding, &fault);
        let here = unrolled.graph.and(fault.guard, alive);
        match fault.kind {
            FaultKind::Limit(_) => limit.push(here),
            _ => bad.push(here),
        }
    }
    if let (Some(finals), Property::Final(condition)) = (finals, &program.property)
        && condition.quantifier != Quantifier::Exists
    {
        bad.push(unrolled.graph.and_all(&[finals.complete, finals.admitted, finals.wanted]));
    }
    (unrolled.graph.or_all(&bad), unrolled.graph.or_all(&limit))
}
