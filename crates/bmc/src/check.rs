//! Programs under sequential consistency: unrolled, ordered by `sc`, asked about, lifted to runs.

use crate::aig::{Graph, Lit, Values};
use crate::finals::Finals;
use crate::formula::Formula;
use crate::lift::{Run, lift, mistake};
use crate::outcome::{Asked, Failed, Finding, Outcome, Progress, Unsupported, Why};
use crate::query::{Goals, Ordering, Query, unroll_more};
use crate::sc::Sc;
use crate::solver::Solver;
use crate::symbolic::{self, FaultKind, Unrolled, unroll};
use fencepost_diag::Span;
use fencepost_ir::{Program, Property, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// How to check.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// How to unroll.
    pub symbolic: symbolic::Options,
    /// Is told about each bound that is tried.
    pub progress: Option<Progress<'a>>,
}

/// Checks a program under sequential consistency.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome<Run>, Unsupported> {
    unroll_more(options.symbolic.unroll, options.progress, |unroll| {
        let symbolic = symbolic::Options { unroll, ..options.symbolic };
        let (order, goals) = encode(program, &symbolic)?;
        Ok(Query::new(order, goals, symbolic.limits)?)
    })
}

/// All final states that runs without faults can reach within the unroll bound; whether the bound cut something.
pub fn final_states(
    program: &Program,
    options: &Options<'_>,
) -> Result<(BTreeSet<Vec<Value>>, bool), Failed> {
    let (order, goals) = encode(program, &options.symbolic)?;
    let mut query = Query::new(order, goals, options.symbolic.limits)?;
    let cut = query.order.unrolled.cut_at(options.symbolic.unroll);
    let cut = query.ask(&[cut])?.is_some();
    let mut states = BTreeSet::new();
    if let Goals { bad, limit, finals: Some(finals) } = &query.goals {
        let assumed = [finals.complete, finals.admitted, !*bad, !*limit];
        while let Some((state, _)) = query.next_state(&assumed)? {
            let new = states.insert(state);
            debug_assert!(new, "a word has a value that it does not know of");
        }
    }
    Ok((states, cut))
}

/// Refutes once more, from nothing and without assumptions, that something goes wrong in a program that was found safe
/// within the unroll bound; writes the proof to a file and checks it. Returns what was checked, in words.
pub fn prove(program: &Program, options: &Options<'_>, path: &Path) -> Result<String, String> {
    let (order, goals) = encode(program, &options.symbolic).map_err(Failed::no_proof)?;
    let solver = Solver::tracing(options.symbolic.limits, path)?;
    let query = Query::with(order, goals, solver).map_err(|reason| Failed::from(reason).no_proof())?;
    query.refute(path)
}

/// An unrolled program under sequential consistency.
struct Interleaved<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    unroll: u32,
    sc: Sc,
}

/// The clauses of a program, and what to ask about them.
fn encode<'p>(program: &'p Program, options: &symbolic::Options) -> Result<(Interleaved<'p>, Goals), Failed> {
    let mut unrolled = unroll(program, options)?;
    let mut sc = Sc::new(&mut unrolled);
    let finals = match &program.property {
        Property::Final(condition) => {
            Some(Finals::new(&mut unrolled, &mut |u, cell| sc.last_value(u, cell), condition))
        }
        Property::Assertions => None,
    };
    for fault in 0..unrolled.faults.len() {
        unrolled.faults[fault].guard = sc.counts(&mut unrolled, fault);
    }
    let goals = unrolled.goals(finals);
    Ok((Interleaved { program, unrolled, unroll: options.unroll, sc }, goals))
}

impl Ordering for Interleaved<'_> {
    type Run = Run;

    fn graph(&self) -> &Graph {
        &self.unrolled.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.unrolled.graph
    }

    fn clauses(&self) -> &Formula {
        &self.sc.formula
    }

    fn events(&self) -> (usize, u32) {
        (self.unrolled.events.len(), self.unrolled.passes)
    }

    fn within(&mut self, asked: Asked) -> Vec<Lit> {
        self.unrolled.within(asked.unroll, self.unroll)
    }

    fn cut_off(&mut self, asked: Asked) -> Option<Lit> {
        Some(self.unrolled.cut_at(asked.unroll))
    }

    fn explain(&self, values: &Values, _: Asked) -> Result<(Finding, Run), Why> {
        let no_run = |why: &str| Why::Unconfirmed(why.to_owned());
        let (run, fault) = lift(&self.unrolled, &self.sc, values).map_err(no_run)?;
        let Some((fault, thread)) = fault else {
            return match self.program.property {
                Property::Final(_) => {
                    Ok((Finding::final_condition("a final state violates the condition"), run))
                }
                Property::Assertions => Err(no_run("it has no fault")),
            };
        };
        let Some((kind, words)) = mistake(self.program, &self.unrolled, values, &fault.kind) else {
            return Err(no_run("its fault is a limit"));
        };
        let message = match fault.message.is_empty() {
            true => words.to_owned(),
            false if fault.kind == FaultKind::Misuse => fault.message.clone(),
            false => format!("{words}: {}", fault.message),
        };
        Ok((Finding { kind, message, span: fault.span, thread: Some(thread) }, run))
    }

    fn met(&self, values: &Values) -> Option<(String, Span)> {
        self.unrolled.met(values)
    }
}
