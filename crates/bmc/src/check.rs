//! From a program to an answer: unroll, encode, ask, lift, and say how far the answer holds.

use crate::aig::{Lit, Values};
use crate::finals::Finals;
use crate::lift::{Mistake, Run, lift, mistake};
use crate::limits::{Limits, StopReason};
use crate::proof::checked_proof;
use crate::sc::Sc;
use crate::solver::{Answer, Solver};
use crate::symbolic::{self, Failed, FaultKind, Unrolled, unroll};
use fencepost_diag::Span;
use fencepost_ir::{Program, Property, Quantifier, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// The answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing goes wrong; within the unroll bound if [`Outcome::cut`].
    Safe,
    /// Something goes wrong: see [`Outcome::finding`] and [`Outcome::run`].
    Unsafe,
    /// No answer: see [`Outcome::reason`].
    Unknown,
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// Of which kind.
    pub kind: Mistake,
    /// In words.
    pub message: String,
    /// Where in the source.
    pub span: Span,
    /// The thread, numbered as in the run.
    pub thread: Option<u32>,
    /// The function and the instruction.
    pub at: Option<(u32, u32)>,
}

/// Figures of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Guarded events.
    pub events: u64,
    /// Nodes of the graph.
    pub nodes: u64,
    /// Variables of the solver.
    pub variables: u64,
    /// Clauses of the solver.
    pub clauses: u64,
    /// Its conflicts.
    pub conflicts: u64,
    /// How often the program was unrolled until widths were known.
    pub passes: u64,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The unroll bound cut something off: *safe* holds within it only.
    pub cut: bool,
    /// The largest unroll bound for which it is known that nothing goes wrong.
    pub completed: Option<u32>,
    /// The limit that ended the search.
    pub stop: Option<StopReason>,
    /// Why there is no answer, in words.
    pub reason: Option<String>,
    /// A model of the formula is no run: a mistake of ours.
    pub unexplained: bool,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// A run that shows it, to be replayed.
    pub run: Option<Run>,
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
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// How to unroll.
    pub symbolic: symbolic::Options,
    /// Is told about each bound that is tried.
    pub progress: Option<&'a dyn Fn(Progress)>,
}

/// The bound of the first, small formula.
const FIRST_BOUND: u32 = 2;

/// Something that has no meaning here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// Checks a program under sequential consistency.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome, Unsupported> {
    let most = options.symbolic.unroll;
    let mut outcome = Outcome {
        verdict: Verdict::Unknown,
        cut: false,
        completed: None,
        stop: None,
        reason: None,
        unexplained: false,
        finding: None,
        run: None,
        statistics: Statistics::default(),
    };
    // A small formula first: it finds what is wrong early, and tells whether loops are cut at all.
    let bounds = if most > FIRST_BOUND { vec![FIRST_BOUND, most] } else { vec![most] };
    for bound in bounds {
        let symbolic = symbolic::Options { unroll: bound, ..options.symbolic };
        let unrolled = match unroll(program, &symbolic) {
            Ok(unrolled) => unrolled,
            Err(Failed::Stopped(reason)) => {
                outcome.stopped(reason);
                return Ok(outcome);
            }
            Err(Failed::Unsupported { what, span }) => return Err(Unsupported { what, span }),
        };
        let mut query = match Query::new(program, unrolled, options.symbolic.limits) {
            Ok(query) => query,
            Err(reason) => {
                outcome.stopped(reason);
                return Ok(outcome);
            }
        };
        let done = query.deepen(bound, bound == most, options, &mut outcome);
        outcome.statistics = query.statistics();
        if done {
            break;
        }
    }
    Ok(outcome)
}

/// All final states that runs without faults can reach within the unroll bound; whether the bound cut something.
pub fn final_states(
    program: &Program,
    options: &Options<'_>,
) -> Result<(BTreeSet<Vec<Value>>, bool), Failed> {
    let unrolled = unroll(program, &options.symbolic)?;
    let mut query = Query::new(program, unrolled, options.symbolic.limits).map_err(Failed::Stopped)?;
    let cut = query.unrolled.cut_at(options.symbolic.unroll);
    let cut = matches!(query.solver.solve(&query.unrolled.graph, &[cut]), Answer::Sat(_));
    Ok((query.final_states().map_err(Failed::Stopped)?, cut))
}

/// Refutes once more, from nothing and without assumptions, that something goes wrong in a program that was found safe
/// within the unroll bound; writes the proof to a file and checks it. Returns what was checked, in words.
pub fn prove(program: &Program, options: &Options<'_>, path: &Path) -> Result<String, String> {
    let failed = |failed: Failed| match failed {
        Failed::Stopped(reason) => reason.describe().to_owned(),
        Failed::Unsupported { what, .. } => what,
    };
    let mut unrolled = unroll(program, &options.symbolic).map_err(failed)?;
    let encoded = encode(program, &mut unrolled);
    let mut solver = Solver::new(options.symbolic.limits);
    solver.trace(path)?;
    let stopped = |reason: StopReason| format!("no proof: {}", reason.describe());
    solver.require_all(&unrolled.graph, &encoded.sc.formula).map_err(stopped)?;
    solver.require(&unrolled.graph, &[encoded.bad]);
    match solver.solve(&unrolled.graph, &[]) {
        Answer::Stopped(reason) => return Err(stopped(reason)),
        Answer::Sat(_) => return Err("no proof: something goes wrong".into()),
        Answer::Unsat => {}
    }
    checked_proof(solver, path)
}

impl Outcome {
    fn stopped(&mut self, reason: StopReason) {
        self.verdict = Verdict::Unknown;
        self.stop = Some(reason);
        let within = match self.completed {
            Some(bound) => format!("; nothing is wrong within an unroll bound of {bound}"),
            None => String::new(),
        };
        self.reason = Some(format!("{}{within}", reason.describe()));
    }
}

/// The clauses of a program, and what to ask about them.
struct Encoded {
    sc: Sc,
    bad: Lit,
    limit: Lit,
    finals: Option<Finals>,
}

fn encode(program: &Program, unrolled: &mut Unrolled) -> Encoded {
    let mut sc = Sc::new(unrolled);
    let finals = match &program.property {
        Property::Final(condition) => {
            Some(Finals::new(unrolled, &mut |u, cell| sc.last_value(u, cell), condition))
        }
        Property::Assertions => None,
    };
    for fault in 0..unrolled.faults.len() {
        unrolled.faults[fault].guard = sc.counts(unrolled, fault);
    }
    let guards = |wanted: bool| -> Vec<Lit> {
        let faults = unrolled.faults.iter();
        faults.filter(|f| matches!(f.kind, FaultKind::Limit(_)) == wanted).map(|f| f.guard).collect()
    };
    let (bad, limit) = (guards(false), guards(true));
    let (mut bad, limit) = (unrolled.graph.or_all(&bad), unrolled.graph.or_all(&limit));
    if let (Some(finals), Property::Final(condition)) = (&finals, &program.property)
        && condition.quantifier != Quantifier::Exists
    {
        let graph = &mut unrolled.graph;
        let violated = graph.and_all(&[finals.complete, finals.admitted, finals.wanted]);
        bad = graph.or(bad, violated);
    }
    Encoded { sc, bad, limit, finals }
}

/// An encoded program in a solver.
struct Query<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    sc: Sc,
    solver: Solver,
    /// Something is wrong.
    bad: Lit,
    /// Something was met that cannot be followed.
    limit: Lit,
    /// What a final condition looks at.
    finals: Option<Finals>,
}

impl<'p> Query<'p> {
    fn new(program: &'p Program, mut unrolled: Unrolled, limits: Limits) -> Result<Query<'p>, StopReason> {
        let Encoded { sc, bad, limit, finals } = encode(program, &mut unrolled);
        let mut solver = Solver::new(limits);
        solver.require_all(&unrolled.graph, &sc.formula)?;
        Ok(Query { program, unrolled, sc, solver, bad, limit, finals })
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

    /// Asks with growing bounds up to that of the formula. True if the outcome is final.
    fn deepen(&mut self, bound: u32, last: bool, options: &Options<'_>, outcome: &mut Outcome) -> bool {
        let mut level = outcome.completed.map_or(1, |done| done * 2).min(bound);
        loop {
            if let Some(progress) = options.progress {
                progress(Progress { unroll: level, statistics: self.statistics() });
            }
            let cut = self.unrolled.cut_at(level);
            let (bad, within) = (self.bad, if level == bound { Lit::TRUE } else { !cut });
            match self.solver.solve(&self.unrolled.graph, &[bad, within]) {
                Answer::Stopped(reason) => {
                    outcome.stopped(reason);
                    return true;
                }
                Answer::Sat(values) => {
                    self.explain(&values, outcome);
                    return true;
                }
                Answer::Unsat => {}
            }
            outcome.completed = Some(level);
            // Nothing is wrong so far; is there more to see beyond this bound?
            match self.solver.solve(&self.unrolled.graph, &[cut]) {
                Answer::Stopped(reason) => {
                    outcome.stopped(reason);
                    return true;
                }
                Answer::Sat(_) => outcome.cut = true,
                Answer::Unsat => {
                    outcome.cut = false;
                    self.conclude(outcome);
                    return true;
                }
            }
            if level == bound {
                break;
            }
            level = (level * 2).min(bound);
        }
        if last {
            self.conclude(outcome);
        }
        last
    }

    /// Nothing is wrong; but was everything followed?
    fn conclude(&mut self, outcome: &mut Outcome) {
        match self.solver.solve(&self.unrolled.graph, &[self.limit]) {
            Answer::Stopped(reason) => outcome.stopped(reason),
            Answer::Unsat => self.look_for_wanted(outcome),
            Answer::Sat(values) => {
                let met = |fault: &&symbolic::Fault| values.of(fault.guard);
                let what = self.unrolled.faults.iter().find(met).map(|fault| match &fault.kind {
                    FaultKind::Limit(what) => format!("{what} cannot be followed"),
                    _ => String::new(),
                });
                outcome.verdict = Verdict::Unknown;
                outcome.reason = what;
            }
        }
    }

    /// Nothing is wrong: safe, unless the program is asked for a final state that it does not have.
    fn look_for_wanted(&mut self, outcome: &mut Outcome) {
        outcome.verdict = Verdict::Safe;
        let (Some(finals), Property::Final(condition)) = (&self.finals, &self.program.property) else {
            return;
        };
        if condition.quantifier != Quantifier::Exists {
            return;
        }
        match self.solver.solve(&self.unrolled.graph, &[finals.complete, finals.admitted, finals.wanted]) {
            Answer::Stopped(reason) => outcome.stopped(reason),
            Answer::Sat(_) => {}
            Answer::Unsat if outcome.cut => {
                outcome.verdict = Verdict::Unknown;
                outcome.reason = Some("no final state within the bounds satisfies the condition".into());
            }
            Answer::Unsat => {
                outcome.verdict = Verdict::Unsafe;
                let message = "no final state satisfies the condition".into();
                outcome.finding = Some(Finding {
                    kind: Mistake::FinalCondition,
                    message,
                    span: Span::default(),
                    thread: None,
                    at: None,
                });
            }
        }
    }

    /// All final states that the filter admits, of runs without faults.
    fn final_states(&mut self) -> Result<BTreeSet<Vec<Value>>, StopReason> {
        let mut states = BTreeSet::new();
        let Some(finals) = &self.finals else { return Ok(states) };
        let graph = &mut self.unrolled.graph;
        loop {
            let assumed = [finals.complete, finals.admitted, !self.bad, !self.limit];
            let values = match self.solver.solve(graph, &assumed) {
                Answer::Stopped(reason) => return Err(reason),
                Answer::Unsat => return Ok(states),
                Answer::Sat(values) => values,
            };
            let state: Vec<Value> = finals.observed.iter().map(|word| word.evaluate(&values)).collect();
            let differs: Vec<Lit> =
                finals.observed.iter().zip(&state).map(|(word, &value)| !word.is(graph, value)).collect();
            self.solver.require(graph, &differs);
            // The clause above excludes it from now on.
            let new = states.insert(state);
            debug_assert!(new, "a word has a value that it does not know of");
        }
    }

    /// Something is wrong: says what, and how it comes to that.
    fn explain(&self, values: &Values, outcome: &mut Outcome) {
        let (run, (fault, thread)) = match lift(&self.unrolled, &self.sc, values) {
            Ok((run, Some(fault))) => (run, fault),
            Ok((run, None)) if self.finals.is_some() => {
                outcome.verdict = Verdict::Unsafe;
                let kind = Mistake::FinalCondition;
                let message = kind.describe().to_owned();
                outcome.finding =
                    Some(Finding { kind, message, span: Span::default(), thread: None, at: None });
                outcome.run = Some(run);
                return;
            }
            Ok((_, None)) => return outcome.unexplained("it has no fault"),
            Err(reason) => return outcome.unexplained(reason),
        };
        let Some(kind) = mistake(self.program, &self.unrolled, values, &fault.kind) else {
            return outcome.unexplained("its fault is a limit");
        };
        let message = match fault.message.is_empty() {
            true => kind.describe().to_owned(),
            false if kind == Mistake::Misuse => fault.message.clone(),
            false => format!("{}: {}", kind.describe(), fault.message),
        };
        outcome.verdict = Verdict::Unsafe;
        outcome.finding = Some(Finding {
            kind,
            message,
            span: fault.span,
            thread: Some(thread),
            at: Some((fault.function, fault.pc)),
        });
        outcome.run = Some(run);
    }
}

impl Outcome {
    fn unexplained(&mut self, why: &str) {
        self.verdict = Verdict::Unknown;
        self.unexplained = true;
        self.reason = Some(format!("a model was found that is no run: {why}"));
    }
}
