//! From a program and a model to an answer: unroll, encode, ask with growing bounds, and say how far the answer holds.

use crate::base::{self, Base};
use crate::lives::{self, Claim};
use crate::witness::{object, witness};
use crate::{chains, gates};
use fencepost_answer::FindingKind;
use fencepost_answer::trace::{Execution, Object};
use fencepost_bmc::aig::{Graph, Lit, Values};
use fencepost_bmc::formula::Formula;
use fencepost_bmc::lift::mistake;
use fencepost_bmc::outcome::Progress;
use fencepost_bmc::query::{Goals, Ordering, Query, unroll_more};
use fencepost_bmc::symbolic::{self, Fault, FaultKind, Unrolled, unroll};
use fencepost_bmc::{Asked, Failed, Finding, Limits, Outcome, Why};
use fencepost_diag::Span;
use fencepost_ir::{Fence, Program};
use fencepost_models::Model;
use fencepost_models::registry::Ordered;

/// An execution in which something goes wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Wrong {
    /// Where: threads, and functions and instructions in them.
    pub places: Vec<(u32, (u32, u32))>,
    /// For each place the calls that led to it, innermost first.
    pub calls: Vec<Vec<(u32, u32)>>,
    /// The object that it is about.
    pub object: Option<Object>,
    /// What happens.
    pub execution: Execution,
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
    pub progress: Option<Progress<'a>>,
}

/// A program or a model that has no meaning here.
#[derive(Clone, PartialEq, Debug)]
pub enum Refused {
    /// Something in the program, and where.
    Program(String, Span),
    /// Something in the model.
    Model(gates::Unsupported),
}

/// Checks a program under a model.
pub fn check(program: &Program, model: &Model, options: &Options<'_>) -> Result<Outcome<Wrong>, Refused> {
    gates::is_supported(model, &lives::relations(model, options.ordered)).map_err(Refused::Model)?;
    let query = |unroll: u32| {
        let (order, goals) = encode(program, model, options, unroll)?;
        Ok(Query::new(order, goals, options.limits)?)
    };
    unroll_more(options.unroll, options.progress, query).map_err(|e| Refused::Program(e.what, e.span))
}

/// The events of a program, ordered by the axioms of a model.
struct Axioms<'p> {
    program: &'p Program,
    unrolled: Unrolled,
    unroll: u32,
    base: Base,
    formula: Formula,
    claims: Vec<Claim>,
}

fn encode<'p>(
    program: &'p Program,
    model: &Model,
    options: &Options<'_>,
    bound: u32,
) -> Result<(Axioms<'p>, Goals), Failed> {
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
    let mut unrolled = unroll(program, &symbolic)?;
    let mut formula = Formula::new();
    unrolled.constraints.iter().for_each(|clause| formula.clause(clause));
    let assumed = base::Options {
        thread_fence: options.thread_fence,
        coherent: model.forbids_incoherence(),
        dependencies: options.dependencies,
    };
    let base = Base::new(program, &mut unrolled, &assumed, &mut formula, &options.limits)?;
    if options.lemmas {
        chains::add(model, &mut unrolled, &base, &mut formula);
    }
    let lives = lives::matters(&unrolled);
    let asked = if lives { lives::relations(model, options.ordered) } else { Vec::new() };
    let graph = &mut unrolled.graph;
    let encoded = gates::encode(model, &asked, &base, graph, &mut formula, &options.limits)?;
    let race = |&(a, b, when): &(u32, u32, Lit)| Claim {
        when,
        what: FindingKind::DataRace,
        vertices: vec![a, b],
        object: None,
        made: None,
    };
    let mut claims: Vec<Claim> = encoded.races.iter().map(race).collect();
    if lives {
        let ordered = options.ordered;
        claims.extend(lives::claims(&mut unrolled, &base, &mut formula, ordered, &encoded.asked));
    }
    let mut goals = unrolled.goals(None);
    let claimed: Vec<Lit> = claims.iter().map(|claim| claim.when).chain([goals.bad]).collect();
    goals.bad = unrolled.graph.or_all(&claimed);
    Ok((Axioms { program, unrolled, unroll: bound, base, formula, claims }, goals))
}

impl Ordering for Axioms<'_> {
    type Run = Wrong;

    fn graph(&self) -> &Graph {
        &self.unrolled.graph
    }

    fn graph_mut(&mut self) -> &mut Graph {
        &mut self.unrolled.graph
    }

    fn clauses(&self) -> &Formula {
        &self.formula
    }

    fn events(&self) -> (usize, u32) {
        (self.base.len(), self.unrolled.passes)
    }

    fn within(&mut self, asked: Asked) -> Vec<Lit> {
        self.unrolled.within(asked.unroll, self.unroll)
    }

    fn cut_off(&mut self, asked: Asked) -> Option<Lit> {
        Some(self.unrolled.cut_at(asked.unroll))
    }

    fn all_end(&mut self) -> Option<Lit> {
        Some(self.unrolled.all_end())
    }

    fn explain(&self, values: &Values, _: Asked) -> Result<(Finding, Wrong), Why> {
        let real = |fault: &&Fault| values.of(fault.guard) && !matches!(fault.kind, FaultKind::Limit(_));
        let witness = witness(self.program, &self.unrolled, &self.base, values);
        let mut wrong =
            Wrong { places: Vec::new(), calls: Vec::new(), object: None, execution: witness.execution };
        let mut finding = Finding {
            kind: FindingKind::DataRace,
            message: String::new(),
            span: Span::default(),
            thread: None,
        };
        // Faults are noted thread by thread and in program order: this one is the first of its thread.
        if let Some(fault) = self.unrolled.faults.iter().find(real) {
            let kind = mistake(self.program, &self.unrolled, values, &fault.kind);
            let (kind, _) = kind.ok_or(Why::Unfollowed(None))?;
            if kind == FindingKind::MixedSize {
                let what = "memory that is accessed with different sizes".to_owned();
                return Err(Why::Unfollowed(Some((what, fault.span))));
            }
            (finding.kind, finding.message, finding.span) = (kind, fault.message.clone(), fault.span);
            wrong.places.push((fault.thread.0, (fault.function, fault.pc)));
            wrong.calls.push(fault.calls.to_vec());
        } else if let Some(claim) = self.claims.iter().find(|claim| values.of(claim.when)) {
            finding.kind = claim.what;
            wrong.object = claim.object.map(|number| object(&self.unrolled, number));
            for &vertex in &claim.vertices {
                let Some(id) = witness.places[vertex as usize] else { continue };
                let Some(event) = wrong.execution.event(id) else { continue };
                let cell = event.action.cell().and_then(|cell| cell.name.object.clone());
                wrong.object = wrong.object.or(cell);
                wrong.places.push((id.0, event.at));
                wrong.calls.push(event.calls.clone());
            }
            if let Some(made) = claim.made {
                wrong.places.push(made);
                wrong.calls.push(Vec::new());
            }
        }
        Ok((finding, wrong))
    }

    fn met(&self, values: &Values) -> Option<(String, Span)> {
        self.unrolled.met(values)
    }
}
