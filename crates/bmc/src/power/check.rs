//! From a program to an answer.

use super::symbolic::{self, Cells, Failed, Formula, Unsupported, zero};
use super::{Execution, Power, PowerRun, Rule};
use crate::aig::Lit;
use crate::finals::holds;
use crate::limits::{Limits, StopReason};
use crate::proof::checked_proof;
use crate::solver::{Answer, Solver};
use crate::word::Word;
use fencepost_ir::flat::{self, Flat, Op};
use fencepost_ir::{FailKind, Fence, Observable, Program, Property, Quantifier, Span, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing goes wrong within the bounds.
    Safe,
    /// Something goes wrong.
    Unsafe,
    /// No answer.
    Unknown,
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// In words.
    pub message: String,
    /// In the source.
    pub span: Span,
    /// Whose fault it is.
    pub thread: usize,
    /// Of which kind.
    pub kind: FailKind,
}

/// Sizes and effort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Variables of the solver.
    pub variables: u64,
    /// Clauses that were added.
    pub clauses: u64,
    /// Conflicts so far.
    pub conflicts: u64,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The unroll bound may have cut something.
    pub cut: bool,
    /// The unroll bound that this is about: of a run, its steps; of no answer, what was completed.
    pub unroll: u32,
    /// The largest number of contexts within which it is known that nothing goes wrong.
    pub completed: Option<u32>,
    /// The number of contexts with which something was found.
    pub found_at: Option<u32>,
    /// No run needs more contexts than were looked at.
    pub exhausted: bool,
    /// The final state that the program is asked for was not found, and bounds kept runs away.
    pub none_within_bounds: bool,
    /// Why there is no answer: a limit.
    pub stop: Option<StopReason>,
    /// Why there is no answer, in words.
    pub reason: Option<String>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// A run that shows what went wrong, or that ends in the state that is asked for; to be replayed on the machine.
    pub run: Option<PowerRun>,
    /// Size of the formula and effort.
    pub size: Size,
}

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How often a loop may go back.
    pub unroll: u32,
    /// Mutexes know their owners, as in C.
    pub owners: bool,
    /// Loops do not go back after a round that did nothing.
    pub skip_idle: bool,
    /// Limits.
    pub limits: Limits,
    /// Only runs that follow an execution.
    pub following: Option<&'a Execution>,
    /// A rule that is left out: only a test wants that.
    pub without: Option<Rule>,
    /// Is told each number of contexts that is tried, with the size of the formula and the effort so far.
    pub progress: Option<&'a (dyn Fn(u32, Size) + Sync)>,
}

impl Options<'_> {
    /// With this unroll bound, and nothing else.
    pub fn new(unroll: u32) -> Self {
        let limits = Limits::default();
        let (following, without, progress) = (None, None, None);
        Options { unroll, owners: false, skip_idle: true, limits, following, without, progress }
    }
}

fn flat_program(program: &Program, options: &Options<'_>) -> Result<Flat, Unsupported> {
    let Options { unroll, owners, skip_idle, .. } = *options;
    let settings = flat::Options { owners, skip_idle, ..flat::Options::new(unroll) };
    let flat = flat::prepare(program, settings).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    if flat.threads.len() > 63 {
        return Err(Unsupported { what: "more than 63 threads".into(), span: Span::default() });
    }
    flat::phases(&flat).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    for step in flat.threads.iter().flat_map(|thread| &thread.code) {
        let refuse = |what: String| Err(Unsupported { what, span: step.span });
        match step.op {
            Op::Fence(Fence::Sync | Fence::Mfence | Fence::Lwsync | Fence::Eieio | Fence::Isync) => {}
            Op::Fence(fence) => {
                return refuse(format!("the fence `{}`, which POWER does not have,", fence.name()));
            }
            Op::AtomicBegin | Op::AtomicEnd => return refuse("an atomic section under POWER".into()),
            _ => {}
        }
    }
    Ok(flat)
}

/// A program for POWER in a solver, with a most number of contexts.
struct Query {
    formula: Formula,
    power: Power,
    solver: Solver,
    /// The values that a final condition observes.
    observed: Vec<Word>,
    /// A final state that violates the condition.
    violated: Lit,
    /// A final state that `exists` asks for.
    wanted: Option<Lit>,
}

impl Query {
    /// Unrolls and encodes. If `complete`, only runs in which all threads end are of interest. A proof goes to `trace`.
    fn new(
        program: &Program,
        flat: &Flat,
        options: &Options<'_>,
        contexts: RangeInclusive<u32>,
        complete: bool,
        trace: Option<&Path>,
    ) -> Result<Query, Failed> {
        let cells = Cells::new(flat)?;
        let observes = matches!(program.property, Property::Final(_));
        let (mut formula, mut power) =
            symbolic::run(flat, &cells, observes, options.limits, |formula, shapes| {
                Power::new(flat, &cells, formula, shapes, contexts.clone(), complete).without(options.without)
            })?;
        let (mut observed, mut violated, mut wanted) = (Vec::new(), Lit::FALSE, None);
        if let Property::Final(condition) = &program.property {
            observed = observe(&mut power, &mut formula, &cells, &condition.observed);
            let graph = &mut formula.graph;
            let filter =
                condition.filter.as_ref().map_or(Lit::TRUE, |filter| holds(graph, filter, &observed));
            let proposition = holds(graph, &condition.proposition, &observed);
            let mut parts = formula.ended.clone();
            parts.extend([filter, proposition.complement_if(condition.quantifier == Quantifier::ForAll)]);
            let state = graph.and_all(&parts);
            match condition.quantifier {
                Quantifier::Exists => wanted = Some(state),
                Quantifier::NotExists | Quantifier::ForAll => violated = state,
            }
        }
        power.finish(&mut formula, options.limits)?;
        if let Some(execution) = options.following {
            power.follow(&mut formula, execution);
        }
        let mut solver = Solver::new(options.limits);
        if let Some(path) = trace {
            let what = |why| Failed::Unsupported(Unsupported { what: why, span: Span::default() });
            solver.trace(path).map_err(what)?;
        }
        solver.require_all(&formula.graph, &formula.clauses)?;
        Ok(Query { formula, power, solver, observed, violated, wanted })
    }

    fn size(&self) -> Size {
        Size {
            variables: self.solver.variables(),
            clauses: self.solver.clauses(),
            conflicts: self.solver.conflicts(),
        }
    }

    /// Something of a kind goes wrong.
    fn goes_wrong(&mut self, unsupported: bool) -> Lit {
        let of_kind = |bad: &&symbolic::Bad| (bad.kind == FailKind::Unsupported) == unsupported;
        let mut when: Vec<Lit> = self.formula.bad.iter().filter(of_kind).map(|bad| bad.when).collect();
        when.extend((!unsupported).then_some(self.violated));
        self.formula.graph.or_all(&when)
    }

    fn solve(&mut self, contexts: u32, goal: Lit) -> Answer {
        let mut assumed = self.power.at_most(contexts);
        assumed.push(goal);
        self.solver.solve(&self.formula.graph, &assumed)
    }
}

/// The values of what is observed at the end.
fn observe(power: &mut Power, formula: &mut Formula, cells: &Cells, observed: &[Observable]) -> Vec<Word> {
    let finals = power.memory_at_end(formula);
    let value = |observable: &Observable| match *observable {
        Observable::Register { thread, reg } => {
            formula.registers[thread.0 as usize].get(&reg.0).cloned().unwrap_or_else(zero)
        }
        Observable::Memory { object, offset, width } => {
            let cell = cells.at(Value::pointer(object, offset), width);
            let word = cell.map_or_else(zero, |cell| finals[cell].0.clone());
            word.extend(width, fencepost_ir::Extend::Sign)
        }
    };
    observed.iter().map(value).collect()
}

/// Bounds that first, small formulas are for: they are there soon, and much is found with few contexts.
const FIRST: u32 = 4;

/// The unroll bound of first, small formulas: most of what is wrong is found with it, and whoever has little time learns how far
/// that came.
const FIRST_UNROLL: u32 = 2;

/// Checks the assertions of a program, as compiled for POWER, in all runs with at most so many contexts: first few of them, and
/// more until
/// something goes wrong, which is then the least number. A small unroll bound comes first; what it finds leaves only fewer
/// contexts to be looked at with the whole bound.
///
/// A run that is found has to be replayed on the machine by the caller, with the unroll bound of the outcome.
pub fn check(
    program: &Program,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
) -> Result<Outcome, Unsupported> {
    let (first, last) = (*contexts.start(), *contexts.end());
    // An execution is followed on the steps of one flat program.
    if options.following.is_some() || options.unroll <= FIRST_UNROLL {
        return check_unrolled(program, options, contexts);
    }
    let early = check_unrolled(program, &Options { unroll: FIRST_UNROLL, ..*options }, contexts)?;
    let rest = match (early.verdict, early.found_at) {
        (Verdict::Unsafe, Some(found)) if found > first => first..=found - 1,
        (Verdict::Unsafe, _) => return Ok(early),
        (Verdict::Safe, _) if !early.cut => return Ok(early),
        (Verdict::Unknown, _) if early.stop.is_some() => return Ok(early),
        _ => first..=last,
    };
    let outcome = check_unrolled(program, options, rest)?;
    Ok(match (early.verdict, outcome.verdict) {
        (Verdict::Unsafe, Verdict::Safe | Verdict::Unknown) => early,
        (Verdict::Safe, Verdict::Unknown) if outcome.completed.is_none() => {
            Outcome { unroll: early.unroll, completed: early.completed, ..outcome }
        }
        _ => outcome,
    })
}

/// The same with one unroll bound. A formula is for several numbers of contexts: those beyond the bound are switched off by
/// assumptions.
fn check_unrolled(
    program: &Program,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
) -> Result<Outcome, Unsupported> {
    let flat = flat_program(program, options)?;
    let enough = enough_contexts(&flat);
    let (first, last) = (*contexts.start(), *contexts.end());
    let exhausted = enough <= u64::from(last);
    // More contexts than can be of use are not asked for.
    let last = if exhausted { last.min(first.max(enough as u32)) } else { last };
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        cut: flat.cuts,
        unroll: options.unroll,
        completed: None,
        found_at: None,
        exhausted,
        none_within_bounds: false,
        stop: None,
        reason: None,
        finding: None,
        run: None,
        size: Size::default(),
    };
    let stages = match last - first.min(last) < FIRST {
        true => vec![first..=last],
        false => vec![first..=first + FIRST - 1, first + FIRST..=last],
    };
    for stage in stages {
        let is_last = *stage.end() == last;
        let mut query = match Query::new(program, &flat, options, stage.clone(), false, None) {
            Ok(query) => query,
            Err(Failed::Unsupported(unsupported)) => return Err(unsupported),
            Err(Failed::Stopped(reason)) => {
                outcome.stopped(reason);
                return Ok(outcome);
            }
        };
        if query.deepen(stage, is_last, options, &mut outcome) {
            break;
        }
    }
    Ok(outcome)
}

/// So many contexts are enough for every run: each has something that changes what can be done next, the initialisation or
/// commitment of a read, or the commitment or arrival of a store or
/// fence. Neighbouring contexts are of different threads, so that those of the busiest one are at most one more than all others.
fn enough_contexts(flat: &Flat) -> u64 {
    let phases = flat::phases(flat).unwrap_or_default();
    let during = |thread: usize, step: usize| {
        thread > 0 || phases.get(step).is_none_or(|phase| *phase == flat::Phase::During)
    };
    let others = flat.threads.len() as u64 - 1;
    let moves = |(thread, code): (usize, &flat::FlatThread)| -> u64 {
        let steps = code.code.iter().enumerate().filter(|(step, _)| during(thread, *step));
        let count = |(_, step): (usize, &flat::Step)| match step.op {
            Op::Load { .. } => 2,
            Op::Fence(Fence::Isync) => 1,
            Op::Store { .. } | Op::Fence(_) => 1 + others,
            _ => 0,
        };
        // Whoever does nothing else still has to fetch a branch or an assertion.
        let fetched = steps.clone().any(|(_, step)| step.op.is_fetched());
        steps.map(count).sum::<u64>().max(u64::from(fetched))
    };
    let moves: Vec<u64> = flat.threads.iter().enumerate().map(moves).collect();
    let (all, most) = (moves.iter().sum::<u64>(), moves.iter().copied().max().unwrap_or(0));
    all.min(2 * (all - most) + 1).max(1)
}

impl Query {
    /// Asks with more and more contexts. True if the outcome is final.
    fn deepen(
        &mut self,
        contexts: RangeInclusive<u32>,
        is_last: bool,
        options: &Options<'_>,
        outcome: &mut Outcome,
    ) -> bool {
        let (bad, limit) = (self.goes_wrong(false), self.goes_wrong(true));
        let last = *contexts.end();
        for bound in contexts {
            if let Some(progress) = options.progress {
                progress(bound, self.size());
            }
            // Nothing more is asked for: the solver may simplify with what is a clause, not with what is assumed.
            if bound == last && limit == Lit::FALSE && self.wanted.is_none() {
                self.solver.require(&self.formula.graph, &[bad]);
            }
            let answer = self.solve(bound, bad);
            outcome.size = self.size();
            match answer {
                Answer::Unsat => outcome.completed = Some(bound),
                Answer::Stopped(reason) => {
                    outcome.stopped(reason);
                    return true;
                }
                Answer::Sat(values) => {
                    outcome.verdict = Verdict::Unsafe;
                    outcome.found_at = Some(bound);
                    outcome.run = Some(self.power.lift(&self.formula, &values, bound));
                    outcome.finding = self.formula.bad.iter().find(|bad| values.of(bad.when)).map(finding_of);
                    return true;
                }
            }
        }
        if is_last {
            match self.solve(last, limit) {
                Answer::Unsat => self.look_for_wanted(last, outcome),
                Answer::Stopped(reason) => outcome.stopped(reason),
                Answer::Sat(_) => outcome.reason = Some("the library model cannot follow the program".into()),
            }
            outcome.size = self.size();
        }
        is_last
    }
}

impl Query {
    /// Nothing is wrong: safe, unless the program is asked for a final state that it does not have.
    fn look_for_wanted(&mut self, contexts: u32, outcome: &mut Outcome) {
        outcome.verdict = Verdict::Safe;
        let Some(wanted) = self.wanted else { return };
        match self.solve(contexts, wanted) {
            Answer::Stopped(reason) => outcome.stopped(reason),
            Answer::Sat(values) => outcome.run = Some(self.power.lift(&self.formula, &values, contexts)),
            Answer::Unsat if outcome.exhausted && !outcome.cut => {
                outcome.verdict = Verdict::Unsafe;
                let message = "no final state satisfies the condition".into();
                let (span, thread, kind) = (Span::default(), 0, FailKind::Assertion);
                outcome.finding = Some(Finding { message, span, thread, kind });
            }
            Answer::Unsat => {
                outcome.verdict = Verdict::Unknown;
                outcome.none_within_bounds = true;
                outcome.reason = Some("no final state within the bounds satisfies the condition".into());
            }
        }
    }
}

fn finding_of(bad: &symbolic::Bad) -> Finding {
    Finding { message: bad.message.clone(), span: bad.span, thread: bad.thread, kind: bad.kind }
}

impl Outcome {
    fn stopped(&mut self, reason: StopReason) {
        self.verdict = Verdict::Unknown;
        self.stop = Some(reason);
        self.reason = Some(reason.describe().into());
    }
}

/// Refutes once more, from nothing and without assumptions, that something goes wrong with so many contexts in a program that was
/// found safe; writes the proof to a file and
/// checks it. Returns what was checked, in words.
pub fn prove(program: &Program, options: &Options<'_>, contexts: u32, path: &Path) -> Result<String, String> {
    let failed = |failed: Failed| match failed {
        Failed::Stopped(reason) => format!("no proof: {}", reason.describe()),
        Failed::Unsupported(unsupported) => unsupported.what,
    };
    let flat = flat_program(program, options).map_err(|e| e.what)?;
    let query = Query::new(program, &flat, options, contexts..=contexts, false, Some(path));
    let mut query = query.map_err(failed)?;
    let bad = query.goes_wrong(false);
    query.solver.require(&query.formula.graph, &[bad]);
    match query.solver.solve(&query.formula.graph, &[]) {
        Answer::Stopped(reason) => Err(failed(Failed::Stopped(reason))),
        Answer::Sat(_) => Err("no proof: something goes wrong".into()),
        Answer::Unsat => checked_proof(query.solver, path),
    }
}

/// Final states: the values that a final condition observes.
pub type States = BTreeSet<Vec<Value>>;

/// The final states of all complete runs with at most that many contexts: what the final condition observes.
pub fn states(
    program: &Program,
    options: &Options<'_>,
    contexts: u32,
) -> Result<Result<States, StopReason>, Unsupported> {
    let all = states_up_to(program, options, contexts..=contexts)?;
    Ok(all.map(|mut all| all.pop().unwrap_or_default()))
}

/// The same for several numbers of contexts, each with the states of its own.
pub fn states_up_to(
    program: &Program,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
) -> Result<Result<Vec<States>, StopReason>, Unsupported> {
    let flat = flat_program(program, options)?;
    let mut query = match Query::new(program, &flat, options, contexts.clone(), true, None) {
        Ok(query) => query,
        Err(Failed::Unsupported(unsupported)) => return Err(unsupported),
        Err(Failed::Stopped(reason)) => return Ok(Err(reason)),
    };
    for &ended in &query.formula.ended {
        query.solver.require(&query.formula.graph, &[ended]);
    }
    let (mut all, mut states) = (Vec::new(), BTreeSet::new());
    for bound in contexts {
        loop {
            let values = match query.solve(bound, Lit::TRUE) {
                Answer::Stopped(reason) => return Ok(Err(reason)),
                Answer::Unsat => break,
                Answer::Sat(values) => values,
            };
            let state: Vec<Value> = query.observed.iter().map(|word| word.evaluate(&values)).collect();
            let graph = &mut query.formula.graph;
            let differs: Vec<Lit> =
                query.observed.iter().zip(&state).map(|(word, &value)| !word.is(graph, value)).collect();
            query.solver.require(graph, &differs);
            states.insert(state);
        }
        // A run with fewer contexts is one with more.
        all.push(states.clone());
    }
    Ok(Ok(all))
}
