//! A SAT solver behind a graph: clauses go in as literals of the graph, models come out as values of its inputs.

use crate::aig::{Gate, Graph, Lit, Values};
use crate::cnf::{Clauses, Cnf, Literal};
use crate::formula::Formula;
use crate::limits::{Limits, StopReason};
use crate::sat::Sat;
use std::path::Path;

/// Whether this build has a solver.
pub const HAS_SOLVER: bool = cfg!(feature = "sat");

/// The answer to a question.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Satisfiable, with a value for every node.
    Sat(Values),
    /// Unsatisfiable under the assumptions.
    Unsat,
    /// A limit was reached.
    Stopped(StopReason),
}

/// Clauses on their way into the solver.
struct Sink<'s> {
    sat: &'s mut Sat,
    record: Option<&'s mut Vec<Vec<Literal>>>,
}

impl Clauses for Sink<'_> {
    fn clause(&mut self, literals: &[Literal]) {
        self.sat.clause(literals);
        if let Some(record) = &mut self.record {
            record.push(literals.to_vec());
        }
    }
}

/// A solver with the clauses that were given to it so far.
pub struct Solver {
    sat: Sat,
    cnf: Cnf,
    limits: Limits,
    record: Option<Vec<Vec<Literal>>>,
}

impl Solver {
    /// An empty solver that stops at the limits.
    pub fn new(limits: Limits) -> Solver {
        Solver { sat: Sat::new(limits, false), cnf: Cnf::new(), limits, record: None }
    }

    /// A solver for so many nodes of a graph. One round of simplifying a large formula takes longer than searching it: with
    /// promises, `lamport` with fences (90,000 nodes, 12,000 conflicts) takes 4.2 s of CPU without, and 7.1 with.
    pub fn of_size(limits: Limits, nodes: usize) -> Solver {
        const LARGE: usize = 50_000;
        Solver { sat: Sat::new(limits, nodes > LARGE), cnf: Cnf::new(), limits, record: None }
    }

    /// A solver that keeps all clauses, and writes a proof in the format LRAT to a file.
    pub fn tracing(limits: Limits, path: &Path) -> Result<Solver, String> {
        let mut solver = Solver { record: Some(Vec::new()), ..Solver::new(limits) };
        match solver.sat.trace(path) {
            true => Ok(solver),
            false => Err(format!("cannot write a proof to {}", path.display())),
        }
    }

    /// Writes the proof to its end. Returns the clauses that were given to a solver that traces.
    pub fn into_recorded(mut self) -> Vec<Vec<Literal>> {
        self.sat.close_proof();
        self.record.unwrap_or_default()
    }

    /// How many variables there are.
    pub fn variables(&self) -> u64 {
        self.cnf.variables()
    }

    /// How many clauses there are.
    pub fn clauses(&self) -> u64 {
        self.cnf.clauses()
    }

    /// How many conflicts there were.
    pub fn conflicts(&self) -> u64 {
        self.sat.conflicts()
    }

    /// Requires one of these.
    pub fn require(&mut self, graph: &Graph, lits: &[Lit]) {
        let mut sink = Sink { sat: &mut self.sat, record: self.record.as_mut() };
        self.cnf.require(graph, &mut sink, lits);
    }

    /// Requires all clauses of a formula.
    pub fn require_all(&mut self, graph: &Graph, formula: &Formula) -> Result<(), StopReason> {
        for (number, clause) in formula.iter().enumerate() {
            self.require(graph, clause);
            if number % 4096 == 0
                && let Some(reason) = self.limits.reached()
            {
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Whether everything that was required can hold together with all of these.
    pub fn solve(&mut self, graph: &Graph, assumed: &[Lit]) -> Answer {
        if assumed.contains(&Lit::FALSE) {
            return Answer::Unsat;
        }
        let mut literals = Vec::new();
        for &lit in assumed.iter().filter(|lit| **lit != Lit::TRUE) {
            let mut sink = Sink { sat: &mut self.sat, record: self.record.as_mut() };
            literals.push(self.cnf.literal(graph, &mut sink, lit));
        }
        if let Some(reason) = self.limits.reached() {
            return Answer::Stopped(reason);
        }
        match self.sat.solve(&literals) {
            Ok(true) => Answer::Sat(self.model(graph)),
            Ok(false) => Answer::Unsat,
            Err(reason) => Answer::Stopped(reason),
        }
    }

    fn model(&mut self, graph: &Graph) -> Values {
        let Solver { sat, cnf, .. } = self;
        graph.evaluate(|node| {
            debug_assert!(graph.gate(node) == Gate::Input);
            cnf.variable(node).is_some_and(|variable| sat.is_true(variable))
        })
    }
}
