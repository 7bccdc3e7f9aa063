//! From a program and a model to an answer: unroll, encode, ask with growing bounds, and say how far the answer holds.

use crate::base::{self, Base};
use crate::lives::{self, Claim, Pair};
use crate::witness::{object, witness};
use crate::{chains, gates};
use fencepost_answer::FindingKind;
use fencepost_answer::trace::{Execution, Object};
use fencepost_bmc::aig::{Lit, Values};
use fencepost_bmc::formula::Formula;
use fencepost_bmc::lift::{Mistake, mistake};
use fencepost_bmc::solver::{Answer, Solver};
use fencepost_bmc::symbolic::{self, Failed, Fault, FaultKind, Unrolled, unroll};
use fencepost_bmc::{Limits, StopReason};
use fencepost_diag::Span;
use fencepost_ir::{Fence, Program};
use fencepost_models::Model;
use fencepost_models::registry::Ordered;

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing goes wrong; within the unroll bound if [`Outcome::cut`].
    Safe,
    /// Something goes wrong: see [`Outcome::finding`].
    Unsafe,
    /// No answer: see [`Outcome::stop`] and [`Outcome::unfollowed`].
    Unknown,
}

/// What is wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Wrong {
    /// A thread makes a mistake; the message is the program's.
    Mistake(Mistake, String),
    /// Two events are not ordered that should be.
    Pair(Pair),
}

impl Wrong {
    /// Of which kind that is.
    pub fn kind(&self) -> FindingKind {
        match self {
            Wrong::Pair(pair) => match pair {
                Pair::Race => FindingKind::DataRace,
                Pair::UseAfterFree => FindingKind::UseAfterFree,
                Pair::UseAfterScope => FindingKind::UseAfterScope,
                Pair::DoubleFree => FindingKind::DoubleFree,
                Pair::UseBeforeAllocation => FindingKind::UseBeforeAllocation,
            },
            Wrong::Mistake(mistake, _) => match mistake {
                Mistake::Assertion | Mistake::FinalCondition => FindingKind::Assertion,
                Mistake::Misuse | Mistake::BadJoin | Mistake::AtomicEnd => FindingKind::Misuse,
                Mistake::NullPointer => FindingKind::NullPointer,
                Mistake::BadPointer => FindingKind::BadPointer,
                Mistake::OutOfBounds => FindingKind::OutOfBounds,
                Mistake::MixedSize => FindingKind::MixedSize,
                Mistake::Uninitialised => FindingKind::Uninitialised,
                Mistake::DivisionByZero => FindingKind::DivisionByZero,
                Mistake::BadCall => FindingKind::BadCall,
                Mistake::Constant => FindingKind::Constant,
                Mistake::UseAfterFree => FindingKind::UseAfterFree,
                Mistake::UseAfterScope => FindingKind::UseAfterScope,
                Mistake::DoubleFree => FindingKind::DoubleFree,
                Mistake::InvalidFree => FindingKind::InvalidFree,
            },
        }
    }
}

/// Something that goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// What.
    pub wrong: Wrong,
    /// Where: threads, and functions and instructions in them.
    pub places: Vec<(u32, (u32, u32))>,
    /// For each place the calls that led to it, innermost first.
    pub calls: Vec<Vec<(u32, u32)>>,
    /// The object that it is about.
    pub object: Option<Object>,
    /// An execution that shows it.
    pub execution: Execution,
}

/// Figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Events that may be executed, initial writes counted.
    pub events: u64,
    /// Nodes of the graph of gates.
    pub nodes: u64,
    /// Variables of the solver.
    pub variables: u64,
    /// Clauses of the solver.
    pub clauses: u64,
    /// Its conflicts.
    pub conflicts: u64,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The unroll bound cut something off.
    pub cut: bool,
    /// Some execution comes to the end of all its threads; looked at only for what is safe.
    pub completes: bool,
    /// The largest unroll bound for which it is known that nothing goes wrong.
    pub completed: Option<u32>,
    /// The limit that ended the search.
    pub stop: Option<StopReason>,
    /// Something that cannot be followed, and where.
    pub unfollowed: Option<(String, Span)>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// Figures.
    pub statistics: Statistics,
}

/// What a watcher may know while a check runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The unroll bound that is being tried.
    pub unroll: u32,
    /// Figures so far.
    pub statistics: Statistics,
}

/// How to check.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How often loops go round.
    pub unroll: u32,
    /// What starting and joining a thread is to the model.
    pub thread_fence: Fence,
    /// Memory of one thread may be resolved by substitution: for models that keep dependencies through it.
    pub private_memory: bool,
    /// Dependencies of the program order accesses.
    pub dependencies: bool,
    /// What is over before a life ends.
    pub ordered: Ordered,
    /// Redundant clauses about counters (`chains`).
    pub lemmas: bool,
    /// Time and memory.
    pub limits: Limits,
    /// Is told about each bound that is tried.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

/// A program or a model that has no meaning here.
#[derive(Clone, PartialEq, Debug)]
pub enum Refused {
    /// Something in the program, and where.
    Program(String, Span),
    /// Something in the model.
    Model(gates::Unsupported),
}

/// The bound of the first, small formula.
const FIRST_BOUND: u32 = 2;

/// Checks a program under a model.
pub fn check(program: &Program, model: &Model, options: &Options<'_>) -> Result<Outcome, Refused> {
    gates::is_supported(model, &lives::relations(model, options.ordered)).map_err(Refused::Model)?;
    let most = options.unroll;
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        cut: false,
        completes: false,
        completed: None,
        stop: None,
        unfollowed: None,
        finding: None,
        statistics: Statistics::default(),
    };
    // A small formula first: it finds what is wrong early, and tells whether loops are cut at all.
    let bounds = if most > FIRST_BOUND { vec![FIRST_BOUND, most] } else { vec![most] };
    for bound in bounds {
        let mut query = match Query::new(program, model, options, bound)? {
            Ok(query) => query,
            Err(reason) => {
                outcome.stop = Some(reason);
                return Ok(outcome);
            }
        };
        let done = query.deepen(bound, bound == most, options, &mut outcome);
        outcome.statistics = query.statistics();
        match done {
            Ok(false) => {}
            Ok(true) => break,
            Err(reason) => {
                outcome.verdict = Verdict::Unknown;
                outcome.stop = Some(reason);
                break;
            }
        }
    }
    Ok(outcome)
}

/// An encoded program in a solver.
struct Query<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    base: Base,
    solver: Solver,
    claims: Vec<Claim>,
    /// Something is wrong.
    bad: Lit,
    /// Something was met that cannot be followed.
    limit: Lit,
}

impl<'p> Query<'p> {
    fn new(
        program: &'p Program,
        model: &Model,
        options: &Options<'_>,
        bound: u32,
    ) -> Result<Result<Query<'p>, StopReason>, Refused> {
        let symbolic = symbolic::Options {
            unroll: bound,
            private_memory: options.private_memory,
            notes_silent: true,
            life_flags: false,
            keeps_constants: true,
            reservations: true,
            c: true,
            limits: options.limits,
            ..symbolic::Options::default()
        };
        let mut unrolled = match unroll(program, &symbolic) {
            Ok(unrolled) => unrolled,
            Err(Failed::Stopped(reason)) => return Ok(Err(reason)),
            Err(Failed::Unsupported { what, span }) => return Err(Refused::Program(what, span)),
        };
        let mut formula = Formula::new();
        unrolled.constraints.iter().for_each(|clause| formula.clause(clause));
        let assumed = base::Options {
            thread_fence: options.thread_fence,
            coherent: model.forbids_incoherence(),
            dependencies: options.dependencies,
        };
        let base = match Base::new(program, &mut unrolled, &assumed, &mut formula, &options.limits) {
            Ok(base) => base,
            Err(reason) => return Ok(Err(reason)),
        };
        if options.lemmas {
            chains::add(model, &mut unrolled, &base, &mut formula);
        }
        let lives = lives::matters(&unrolled);
        let asked = if lives { lives::relations(model, options.ordered) } else { Vec::new() };
        let graph = &mut unrolled.graph;
        let encoded = match gates::encode(model, &asked, &base, graph, &mut formula, &options.limits) {
            Ok(encoded) => encoded,
            Err(reason) => return Ok(Err(reason)),
        };
        let race = |&(a, b, when): &(u32, u32, Lit)| Claim {
            when,
            what: Pair::Race,
            vertices: vec![a, b],
            object: None,
            made: None,
        };
        let mut claims: Vec<Claim> = encoded.races.iter().map(race).collect();
        if lives {
            let ordered = options.ordered;
            claims.extend(lives::claims(&mut unrolled, &base, &mut formula, ordered, &encoded.asked));
        }
        let guards = |wanted: bool| -> Vec<Lit> {
            let faults = unrolled.faults.iter();
            faults.filter(|f| matches!(f.kind, FaultKind::Limit(_)) == wanted).map(|f| f.guard).collect()
        };
        let (mut bad, limit) = (guards(false), guards(true));
        bad.extend(claims.iter().map(|claim| claim.when));
        let (bad, limit) = (unrolled.graph.or_all(&bad), unrolled.graph.or_all(&limit));
        let mut solver = Solver::new(options.limits);
        if let Err(reason) = solver.require_all(&unrolled.graph, &formula) {
            return Ok(Err(reason));
        }
        Ok(Ok(Query { program, unrolled, base, solver, claims, bad, limit }))
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            events: self.base.len() as u64,
            nodes: self.unrolled.graph.len() as u64,
            variables: self.solver.variables(),
            clauses: self.solver.clauses(),
            conflicts: self.solver.conflicts(),
        }
    }

    fn solve(&mut self, assumed: &[Lit]) -> Result<Option<Values>, StopReason> {
        match self.solver.solve(&self.unrolled.graph, assumed) {
            Answer::Sat(values) => Ok(Some(values)),
            Answer::Unsat => Ok(None),
            Answer::Stopped(reason) => Err(reason),
        }
    }

    /// Asks with growing bounds up to that of the formula. True if the outcome is final.
    fn deepen(
        &mut self,
        bound: u32,
        last: bool,
        options: &Options<'_>,
        outcome: &mut Outcome,
    ) -> Result<bool, StopReason> {
        let mut level = outcome.completed.map_or(1, |done| done * 2).min(bound);
        loop {
            if let Some(progress) = options.progress {
                progress(Progress { unroll: level, statistics: self.statistics() });
            }
            let cut = self.unrolled.cut_at(level);
            let within = if level == bound { Lit::TRUE } else { !cut };
            if let Some(values) = self.solve(&[self.bad, within])? {
                self.explain(&values, outcome);
                return Ok(true);
            }
            outcome.completed = Some(level);
            // Nothing is wrong so far; is there more to see beyond this bound?
            outcome.cut = self.solve(&[cut])?.is_some();
            if !outcome.cut || (last && level == bound) {
                self.conclude(outcome)?;
                return Ok(true);
            }
            if level == bound {
                return Ok(false);
            }
            level = (level * 2).min(bound);
        }
    }

    /// Nothing is wrong; but was everything followed, and does anything come to its end?
    fn conclude(&mut self, outcome: &mut Outcome) -> Result<(), StopReason> {
        if let Some(values) = self.solve(&[self.limit])? {
            outcome.unfollowed = self.met(&values);
            return Ok(());
        }
        outcome.verdict = Verdict::Safe;
        let graph = &mut self.unrolled.graph;
        let ends: Vec<Lit> =
            self.unrolled.threads.iter().map(|thread| graph.implies(thread.guard, thread.ended)).collect();
        let all = graph.and_all(&ends);
        outcome.completes = self.solve(&[all])?.is_some();
        Ok(())
    }

    /// What was met that cannot be followed.
    fn met(&self, values: &Values) -> Option<(String, Span)> {
        self.unrolled.faults.iter().find_map(|fault| match fault.kind {
            FaultKind::Limit(what) if values.of(fault.guard) => Some((what.to_owned(), fault.span)),
            _ => None,
        })
    }

    /// Something is wrong: says what, and how it comes to that.
    fn explain(&self, values: &Values, outcome: &mut Outcome) {
        let real = |fault: &&Fault| values.of(fault.guard) && !matches!(fault.kind, FaultKind::Limit(_));
        let witness = witness(self.program, &self.unrolled, &self.base, values);
        let mut finding = Finding {
            wrong: Wrong::Pair(Pair::Race),
            places: Vec::new(),
            calls: Vec::new(),
            object: None,
            execution: witness.execution,
        };
        // Faults are noted thread by thread and in program order: this one is the first of its thread.
        if let Some(fault) = self.unrolled.faults.iter().find(real) {
            let Some(kind) = mistake(self.program, &self.unrolled, values, &fault.kind) else { return };
            if kind == Mistake::MixedSize {
                outcome.unfollowed =
                    Some(("memory that is accessed with different sizes".to_owned(), fault.span));
                return;
            }
            finding.wrong = Wrong::Mistake(kind, fault.message.clone());
            finding.places.push((fault.thread.0, (fault.function, fault.pc)));
            finding.calls.push(fault.calls.to_vec());
        } else if let Some(claim) = self.claims.iter().find(|claim| values.of(claim.when)) {
            finding.wrong = Wrong::Pair(claim.what);
            finding.object = claim.object.map(|number| object(&self.unrolled, number));
            for &vertex in &claim.vertices {
                let Some(id) = witness.places[vertex as usize] else { continue };
                let Some(event) = finding.execution.event(id) else { continue };
                let cell = event.action.cell().and_then(|cell| cell.name.object.clone());
                finding.object = finding.object.or(cell);
                finding.places.push((id.0, event.at));
                finding.calls.push(event.calls.clone());
            }
            if let Some(made) = claim.made {
                finding.places.push(made);
                finding.calls.push(Vec::new());
            }
        }
        outcome.verdict = Verdict::Unsafe;
        outcome.finding = Some(finding);
    }
}
