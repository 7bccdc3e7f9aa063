//! From a program to an answer: bounds that grow, and runs that somebody else confirms.

use super::encode::{Encoding, encode};
use super::lift::{Run, lift};
use super::{Active, Bounds, Unsupported};
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

/// Most runs that are excluded before the search gives up.
const MOST_UNCONFIRMED: u64 = 2_000;
/// K of the small formulas; those behind them have three times as much each.
const SMALL_TOTALS: [usize; 2] = [2, SMALL];
/// Up to this K formulas without promises are worth a try if there are to be promises.
const SMALL: usize = 4;

/// Does a run again elsewhere; an error says why it cannot be done.
pub type Confirm<'c> = dyn FnMut(&Run) -> Result<(), String> + 'c;

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
    /// Some run uses up all view switches that K allows, or promises are allowed: with a larger K there might be others.
    pub spent: bool,
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
    /// Runs that were not confirmed.
    pub unconfirmed: u64,
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
        completed: None,
        stop: None,
        reason: None,
        finding: None,
        run: None,
        unconfirmed: 0,
        statistics: Statistics::default(),
    };
    if find_in_few(program, options, confirm, &mut outcome)? {
        return Ok(outcome);
    }
    let (most, mut unroll) = (options.symbolic.unroll, options.symbolic.unroll.min(FIRST_UNROLL));
    let rungs = ladder(options.bounds);
    for (number, &asked) in rungs.iter().enumerate() {
        loop {
            // What has promised may have to go on to fulfil that, so it is not seen so easily whether loops are cut.
            unroll = if asked.promises > 0 { most } else { unroll };
            let options = options.unrolled(unroll);
            let mut query = match Query::new(program, &options, asked, Active::All) {
                Ok(query) => query,
                Err(Failed::Stopped(reason)) => {
                    outcome.stopped(reason);
                    return Ok(outcome);
                }
                Err(Failed::Unsupported { what, span }) => return Err(Unsupported { what, span }),
            };
            if let Some(progress) = options.progress {
                progress(asked, query.statistics());
            }
            let views = options.bounds.views;
            let mut done = query.answer(asked, views, confirm, &mut outcome)
                || query.look_at_loops(asked, views, &mut outcome);
            let enough = unroll == most || !outcome.cut;
            if !done && enough && number + 1 == rungs.len() {
                done = query.look_at_bound(asked, views, &mut outcome);
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
        outcome.completed = Some(asked);
    }
    outcome.verdict = Verdict::Safe;
    Ok(outcome)
}

/// How often loops are unrolled at first, and how much more often if that cuts something: within a small K, threads that wait rarely
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

/// Where many threads have fences, most mistakes need one or two of the threads only, and those runs have much smaller formulas. True if
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
        if done && tried.verdict == Verdict::Unsafe {
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

/// The bounds to try. What small ones allow is tried first, but not two large ones of about the same size: a formula that has no solution takes
/// longest. A formula with promises covers the runs without, so the larger ones are asked with promises only.
fn ladder(bounds: Bounds) -> Vec<Asked> {
    let larger = std::iter::successors(Some(3 * SMALL), |k| Some(3 * k));
    let larger = larger.take_while(|k| 3 * k < 2 * bounds.total);
    let mut totals: Vec<usize> = SMALL_TOTALS.into_iter().filter(|k| *k < bounds.total).collect();
    totals.extend(larger);
    totals.push(bounds.total);
    let most = bounds.promises.min(bounds.total);
    let mut all = Vec::new();
    for promises in 0..=most {
        // A promise that nobody reads is of no use.
        let useful = |k: &&usize| match promises {
            0 => most == 0 || **k <= SMALL,
            _ => **k > promises || **k == bounds.total,
        };
        all.extend(totals.iter().filter(useful).map(|&total| Asked { total, promises }));
    }
    all
}

/// All final states within the bounds of runs without faults that are confirmed; and how many runs were not.
pub fn final_states(
    program: &Program,
    options: &Options<'_>,
    confirm: &mut Confirm<'_>,
) -> Result<(BTreeSet<Vec<Value>>, u64), Failed> {
    let asked = Asked { total: options.bounds.total, promises: options.bounds.promises };
    let mut query = Query::new(program, options, asked, Active::All)?;
    let (mut states, mut unconfirmed) = (BTreeSet::new(), 0);
    while let Some((state, run, values)) = query.final_state(asked).map_err(Failed::Stopped)? {
        match confirm(&run) {
            Ok(()) => {
                query.exclude_state(&state);
                states.insert(state);
            }
            Err(_) => {
                unconfirmed += 1;
                query.exclude(&values);
            }
        }
    }
    Ok((states, unconfirmed))
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
        let symbolic = symbolic::Options { copies: asked.promises as u32, ..options.symbolic };
        let mut unrolled = unroll(program, &symbolic)?;
        let bounds = Bounds { total: asked.total, promises: asked.promises, views: options.bounds.views };
        let encoding = encode(program, &mut unrolled, &bounds, active)
            .map_err(|Unsupported { what, span }| Failed::Unsupported { what, span })?;
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
        let limits: Limits = options.symbolic.limits;
        let mut solver = Solver::new(limits);
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

    /// Asks about one pair of bounds. True if the outcome is final.
    fn answer(
        &mut self,
        asked: Asked,
        views: Option<usize>,
        confirm: &mut Confirm<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let within = self.within(asked, views);
        loop {
            match self.solve(&within, self.bad) {
                Answer::Stopped(reason) => return outcome.stopped(reason),
                Answer::Unsat => break,
                Answer::Sat(values) => {
                    let fault = self.fault(&values);
                    let run = lift(&self.unrolled, &self.encoding, &values, fault.as_ref());
                    match confirm(&run) {
                        Ok(()) => {
                            outcome.verdict = Verdict::Unsafe;
                            outcome.finding = Some(self.finding(fault, &values));
                            outcome.run = Some(run);
                            return true;
                        }
                        Err(why) => {
                            outcome.unconfirmed += 1;
                            if outcome.unconfirmed >= MOST_UNCONFIRMED || run.promises == 0 {
                                outcome.reason = Some(format!("the machine does not confirm a run: {why}"));
                                return true;
                            }
                            self.exclude(&values);
                        }
                    }
                }
            }
        }
        self.meets_limit(&within, outcome)
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

    /// Nothing is wrong; was a loop cut off? True if there was no time to tell. A thread that cannot fulfil a promise because a loop is
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

    /// Nothing is wrong; does K matter? True if there was no time to tell.
    ///
    /// K bounds nothing if no run spends it. A longer run without promises would have a beginning that spends exactly K, because view switches are
    /// spent one by one; from there on every thread can go on without a switch, or stop at a read-modify-write, so
    /// the clauses allow such a run. With promises this is not so: a promise is spent together with the switches of its certification,
    /// a thread that has promised cannot stop anywhere, and the machine may charge more than the clauses. So K is always named then.
    fn look_at_bound(&mut self, asked: Asked, views: Option<usize>, outcome: &mut Outcome) -> bool {
        if asked.promises > 0 {
            outcome.spent = true;
            return false;
        }
        let within = self.within(asked, views);
        match self.solve(&within, self.encoding.total.at_least(asked.total)) {
            Answer::Stopped(reason) => return outcome.stopped(reason),
            answer => outcome.spent = matches!(answer, Answer::Sat(_)),
        }
        false
    }

    fn fault(&self, values: &Values) -> Option<Fault> {
        let happens = |fault: &&Fault| {
            values.of(fault.guard)
                && !matches!(fault.kind, FaultKind::Limit(_))
                && values.of(alive(&self.unrolled, &self.encoding, fault))
        };
        self.unrolled.faults.iter().find(happens).cloned()
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

    fn final_state(&mut self, asked: Asked) -> Result<Option<(Vec<Value>, Run, Values)>, StopReason> {
        let Some(finals) = &self.finals else { return Ok(None) };
        let mut assumed = self.within(asked, None);
        assumed.extend([finals.complete, finals.admitted, !self.limit]);
        match self.solver.solve(&self.unrolled.graph, &assumed) {
            Answer::Stopped(reason) => Err(reason),
            Answer::Unsat => Ok(None),
            Answer::Sat(values) => {
                let state = finals.observed.iter().map(|word| word.evaluate(&values)).collect();
                let run = lift(&self.unrolled, &self.encoding, &values, None);
                Ok(Some((state, run, values)))
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

    /// Excludes a run: one that reads, writes, promises or passes a fence elsewhere is another.
    fn exclude(&mut self, values: &Values) {
        let choices = self.encoding.choices();
        let other: Vec<Lit> = choices.into_iter().map(|lit| lit.complement_if(values.of(lit))).collect();
        self.solver.require(&self.unrolled.graph, &other);
    }
}

impl Outcome {
    fn stopped(&mut self, reason: StopReason) -> bool {
        self.stop = Some(reason);
        self.reason = Some(reason.describe().into());
        true
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
