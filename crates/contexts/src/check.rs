//! From a program to an answer.

use crate::aig::Lit;
use crate::power::{Power, PowerRun};
use crate::solver::{Limits, Size, Solver, Stop};
use crate::symbolic::{self, Cells, Formula, Unsupported};
use crate::word::Word;
use fencepost_ir::flat::{self, Flat, Op, flatten};
use fencepost_ir::{FailKind, Fence, Observable, Program, Property, Span, Value};
use std::collections::BTreeSet;

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

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The unroll bound may have cut something.
    pub cut: bool,
    /// Why there is no answer: a limit.
    pub stop: Option<Stop>,
    /// Why there is no answer, in words.
    pub reason: Option<String>,
    /// What went wrong.
    pub finding: Option<Finding>,
    /// A run that shows it, to be replayed on the machine.
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
    /// Limits.
    pub limits: Limits<'a>,
    /// Is told the size of the formula before it is solved.
    pub progress: Option<&'a (dyn Fn(Size) + Sync)>,
}

impl Options<'_> {
    /// With this unroll bound, and nothing else.
    pub fn new(unroll: u32) -> Self {
        Options { unroll, owners: false, limits: Limits::default(), progress: None }
    }
}

fn flat_program(program: &Program, options: &Options<'_>) -> Result<Flat, Unsupported> {
    let settings = flat::Options { owners: options.owners, ..flat::Options::new(options.unroll) };
    let flat = flatten(program, settings).map_err(|e| Unsupported { what: e.what, span: e.span })?;
    if flat.threads.len() > 63 {
        return Err(Unsupported { what: "more than 63 threads".into(), span: Span::default() });
    }
    Ok(flat)
}

fn unknown(stop: Option<Stop>, reason: &str, size: Size, cut: bool) -> Outcome {
    let reason = match stop {
        Some(Stop::Timeout) => "the time limit was reached",
        Some(Stop::Memory) => "the memory limit was reached",
        Some(Stop::Interrupted) => "the search was interrupted",
        None => reason,
    };
    Outcome {
        verdict: Verdict::Unknown,
        cut,
        stop,
        reason: Some(reason.into()),
        finding: None,
        run: None,
        size,
    }
}

/// What must not happen, and what we cannot follow.
fn targets(formula: &mut Formula) -> (Lit, Lit) {
    let bad: Vec<Lit> =
        formula.bad.iter().filter(|bad| bad.kind != FailKind::Unsupported).map(|bad| bad.when).collect();
    let limit: Vec<Lit> =
        formula.bad.iter().filter(|bad| bad.kind == FailKind::Unsupported).map(|bad| bad.when).collect();
    (formula.aig.any(bad), formula.aig.any(limit))
}

fn solver_of<'a>(formula: &Formula, options: &Options<'a>) -> Solver<'a> {
    let mut solver = Solver::new(options.limits);
    for clause in &formula.clauses {
        solver.require(&formula.aig, clause);
    }
    solver
}

fn safe(size: Size, cut: bool) -> Outcome {
    Outcome { verdict: Verdict::Safe, cut, stop: None, reason: None, finding: None, run: None, size }
}

fn finding_of(bad: &symbolic::Bad) -> Finding {
    Finding { message: bad.message.clone(), span: bad.span, thread: bad.thread, kind: bad.kind }
}

/// A program for POWER, run symbolically with a number of contexts.
struct PowerFormula {
    formula: Formula,
    power: Power,
    flat: Flat,
    cells: Cells,
}

fn power_formula(
    program: &Program,
    options: &Options<'_>,
    contexts: u32,
    complete: bool,
) -> Result<PowerFormula, Unsupported> {
    let flat = flat_program(program, options)?;
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
    let cells = Cells::new(&flat)?;
    let (mut formula, mut power) = symbolic::run(&flat, &cells, complete, |formula, shapes| {
        Power::new(&flat, &cells, formula, shapes, contexts, complete)
    })?;
    if complete {
        power.finals(&mut formula);
    }
    power.finish(&mut formula);
    Ok(PowerFormula { formula, power, flat, cells })
}

/// Checks the assertions of a program, as compiled for POWER, in all runs with at most that many contexts.
///
/// A run that is found has to be replayed on the machine by the caller.
pub fn check(program: &Program, options: &Options<'_>, contexts: u32) -> Result<Outcome, Unsupported> {
    let PowerFormula { mut formula, power, flat, .. } = power_formula(program, options, contexts, false)?;
    let (bad, limit) = targets(&mut formula);
    let mut solver = solver_of(&formula, options);
    if let Some(progress) = options.progress {
        progress(solver.size());
    }
    let solve = |solver: &mut Solver<'_>, goal: Lit| match goal.constant() {
        Some(false) => Ok(None),
        _ => solver.solve(&formula.aig, &[goal]),
    };
    let found = solve(&mut solver, bad);
    let size = solver.size();
    Ok(match found {
        Err(stop) => unknown(Some(stop), "", size, flat.cuts),
        Ok(Some(values)) => {
            let run = power.lift(&formula, &values);
            let bad = formula.bad.iter().find(|bad| values.lit(bad.when)).map(finding_of);
            Outcome {
                verdict: Verdict::Unsafe,
                cut: flat.cuts,
                stop: None,
                reason: None,
                finding: bad,
                run: Some(run),
                size,
            }
        }
        Ok(None) => match solve(&mut solver, limit) {
            Err(stop) => unknown(Some(stop), "", size, flat.cuts),
            Ok(Some(_)) => unknown(None, "the library model cannot follow the program", size, flat.cuts),
            Ok(None) => safe(size, flat.cuts),
        },
    })
}

/// The final states of all complete runs with at most that many contexts: what the final condition observes.
pub fn states(
    program: &Program,
    options: &Options<'_>,
    contexts: u32,
) -> Result<Result<BTreeSet<Vec<Value>>, Stop>, Unsupported> {
    let Property::Final(condition) = &program.property else {
        return Ok(Ok(BTreeSet::new()));
    };
    let PowerFormula { mut formula, mut power, cells, .. } = power_formula(program, options, contexts, true)?;
    let finals = power.finals(&mut formula);
    let words: Vec<Word> = condition
        .observed
        .iter()
        .map(|observable| match *observable {
            Observable::Register { thread, reg } => {
                let regs = &formula.registers[thread.0 as usize];
                regs.get(&reg.0).cloned().unwrap_or_else(Word::zero)
            }
            Observable::Memory { object, offset, width } => {
                let cell = cells.at(Value::pointer(object, offset), width);
                let word = cell.map_or_else(Word::zero, |cell| finals[cell].clone());
                word.extend(width, fencepost_ir::Extend::Sign)
            }
        })
        .collect();
    let mut solver = solver_of(&formula, options);
    for &ended in &formula.ended {
        solver.require(&formula.aig, &[ended]);
    }
    let mut states = BTreeSet::new();
    loop {
        let values = match solver.solve(&formula.aig, &[]) {
            Err(stop) => return Ok(Err(stop)),
            Ok(None) => return Ok(Ok(states)),
            Ok(Some(values)) => values,
        };
        states.insert(words.iter().map(|word| values.word(word)).collect());
        let other: Vec<Lit> = words
            .iter()
            .flat_map(|word| word.lits().collect::<Vec<_>>())
            .map(|lit| if values.lit(lit) { !lit } else { lit })
            .collect();
        solver.require(&formula.aig, &other);
    }
}
