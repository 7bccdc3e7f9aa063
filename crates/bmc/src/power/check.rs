//! From a program to an answer.

use super::symbolic::{self, Cells, Formula, zero};
use super::{Execution, Power, PowerRun, Rule};
use crate::aig::{Graph, Lit, Values};
use crate::finals::Finals;
use crate::formula::Formula as Clauses;
use crate::limits::{Limits, StopReason};
use crate::outcome::{Asked, Failed, Finding, Outcome, Progress, Unsupported, Verdict, Why};
use crate::query::{Goals, Ordering, Query};
use crate::solver::Solver;
use crate::word::Word;
use fencepost_answer::FindingKind;
use fencepost_ir::flat::{self, Flat, Op};
use fencepost_ir::{FailKind, Fence, Observable, Program, Property, Span, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

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
    /// Is told about each bound that is tried.
    pub progress: Option<Progress<'a>>,
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

/// The events of a program in contexts.
struct Contexts {
    formula: Formula,
    power: Power,
}

/// Unrolls and encodes. If `complete`, only runs in which all threads end are of interest.
fn encode(
    program: &Program,
    flat: &Flat,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
    complete: bool,
) -> Result<(Contexts, Goals), Failed> {
    let cells = Cells::new(flat)?;
    let observes = matches!(program.property, Property::Final(_));
    let (mut formula, mut power) =
        symbolic::run(flat, &cells, observes, options.limits, |formula, shapes| {
            Power::new(flat, &cells, formula, shapes, contexts.clone(), complete).without(options.without)
        })?;
    let finals = match &program.property {
        Property::Final(condition) => {
            let observed = observe(&mut power, &mut formula, &cells, &condition.observed);
            let ended = formula.graph.and_all(&formula.ended.clone());
            Some(Finals::of(&mut formula.graph, ended, observed, condition))
        }
        Property::Assertions => None,
    };
    let graph = &mut formula.graph;
    let guards = |limits: bool| -> Vec<Lit> {
        let bad = formula.bad.iter();
        bad.filter(|bad| (bad.kind == FailKind::Unsupported) == limits).map(|bad| bad.when).collect()
    };
    let (mut bad, limit) = (guards(false), graph.or_all(&guards(true)));
    bad.extend(finals.as_ref().map(|finals| finals.violated(graph)));
    let goals = Goals { bad: graph.or_all(&bad), limit, finals };
    power.finish(&mut formula, options.limits)?;
    if let Some(execution) = options.following {
        power.follow(&mut formula, execution);
    }
    Ok((Contexts { formula, power }, goals))
}

impl Ordering for Contexts {
    type Run = PowerRun;

    fn graph(&self) -> &Graph {
        &self.formula.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.formula.graph
    }

    fn clauses(&self) -> &Clauses {
        &self.formula.clauses
    }

    fn events(&self) -> (usize, u32) {
        (self.power.reads.len() + self.power.stores.len() + self.power.barriers.len(), 0)
    }

    fn within(&mut self, asked: Asked) -> Vec<Lit> {
        self.power.at_most(asked.total as u32)
    }

    fn explain(&self, values: &Values, asked: Asked) -> Result<(Finding, PowerRun), Why> {
        let finding = match self.formula.bad.iter().find(|bad| values.of(bad.when)) {
            None => Finding::final_condition("a final state violates the condition"),
            Some(bad) => Finding {
                kind: if bad.kind == FailKind::Misuse { FindingKind::Misuse } else { FindingKind::Assertion },
                message: bad.message.clone(),
                span: bad.span,
                thread: Some(bad.thread as u32),
            },
        };
        Ok((finding, self.power.lift(&self.formula, values, asked.total as u32)))
    }

    fn shown(&self, values: &Values, asked: Asked) -> Option<PowerRun> {
        Some(self.power.lift(&self.formula, values, asked.total as u32))
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
/// A run that is found has to be replayed on the machine by the caller, with the unroll bound of [`Outcome::found_at`], or of
/// [`Outcome::completed`] if it is one that was asked for.
pub fn check(
    program: &Program,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
) -> Result<Outcome<PowerRun>, Unsupported> {
    let (first, last) = (*contexts.start(), *contexts.end());
    // An execution is followed on the steps of one flat program.
    if options.following.is_some() || options.unroll <= FIRST_UNROLL {
        return check_unrolled(program, options, contexts);
    }
    let early = check_unrolled(program, &Options { unroll: FIRST_UNROLL, ..*options }, contexts)?;
    let rest = match (early.verdict, early.found_at.map(|found| found.total as u32)) {
        (Verdict::Unsafe, Some(found)) if found > first => first..=found - 1,
        (Verdict::Unsafe, _) => return Ok(early),
        (Verdict::Safe, _) if !early.cut => return Ok(early),
        (Verdict::Unknown, _) if early.stop().is_some() => return Ok(early),
        _ => first..=last,
    };
    let outcome = check_unrolled(program, options, rest)?;
    Ok(match (early.verdict, outcome.verdict) {
        (Verdict::Unsafe, Verdict::Safe | Verdict::Unknown) => early,
        (Verdict::Safe, Verdict::Unknown) if outcome.completed.is_none() => {
            Outcome { completed: early.completed, ..outcome }
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
) -> Result<Outcome<PowerRun>, Unsupported> {
    let flat = flat_program(program, options)?;
    let enough = enough_contexts(&flat);
    let (first, last) = (*contexts.start(), *contexts.end());
    let spent = enough > u64::from(last);
    // More contexts than can be of use are not asked for.
    let last = if spent { last } else { last.min(first.max(enough as u32)) };
    let mut outcome = Outcome { cut: flat.cuts, spent, ..Outcome::default() };
    let stages = match last - first.min(last) < FIRST {
        true => vec![first..=last],
        false => vec![first..=first + FIRST - 1, first + FIRST..=last],
    };
    for stage in stages {
        let is_last = *stage.end() == last;
        let query = encode(program, &flat, options, stage.clone(), false)
            .and_then(|(order, goals)| Ok(Query::new(order, goals, options.limits)?));
        let mut query = match query {
            Ok(query) => query,
            Err(Failed::Unsupported(unsupported)) => return Err(unsupported),
            Err(Failed::Stopped(reason)) => {
                outcome.unknown(Why::Limit(reason));
                return Ok(outcome);
            }
        };
        let asked = |contexts| Asked { unroll: options.unroll, total: contexts as usize, promises: 0 };
        let levels: Vec<Asked> = stage.map(asked).collect();
        if query.deepen(&levels, is_last, options.progress, &mut outcome) {
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

/// Refutes once more, from nothing and without assumptions, that something goes wrong with so many contexts in a program that was
/// found safe; writes the proof to a file and
/// checks it. Returns what was checked, in words.
pub fn prove(program: &Program, options: &Options<'_>, contexts: u32, path: &Path) -> Result<String, String> {
    let encoded = flat_program(program, options)
        .map_err(Failed::from)
        .and_then(|flat| encode(program, &flat, options, contexts..=contexts, false));
    let (order, goals) = encoded.map_err(Failed::no_proof)?;
    let solver = Solver::tracing(options.limits, path)?;
    let query = Query::with(order, goals, solver).map_err(|reason| Failed::from(reason).no_proof())?;
    query.refute(path)
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
    match all_states(program, options, contexts) {
        Ok(states) => Ok(Ok(states)),
        Err(Failed::Unsupported(unsupported)) => Err(unsupported),
        Err(Failed::Stopped(reason)) => Ok(Err(reason)),
    }
}

fn all_states(
    program: &Program,
    options: &Options<'_>,
    contexts: RangeInclusive<u32>,
) -> Result<Vec<States>, Failed> {
    let flat = flat_program(program, options)?;
    let (order, goals) = encode(program, &flat, options, contexts.clone(), true)?;
    let mut query = Query::new(order, goals, options.limits)?;
    for ended in query.order.formula.ended.clone() {
        query.require(&[ended]);
    }
    let (mut all, mut states) = (Vec::new(), BTreeSet::new());
    for bound in contexts {
        let within = query.order.power.at_most(bound);
        while let Some((state, _)) = query.next_state(&within)? {
            states.insert(state);
        }
        // A run with fewer contexts is one with more.
        all.push(states.clone());
    }
    Ok(all)
}
