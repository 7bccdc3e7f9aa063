//! CaDiCaL behind a graph: clauses go in as literals of the graph, models come out as values of its inputs.

use crate::aig::{Gate, Graph, Lit, Values};
use crate::cnf::{Clauses, Cnf, Literal};
use crate::formula::Formula;
use crate::limits::{Limits, StopReason};
use rustsat::solvers::{ControlSignal, Solve, SolveIncremental, SolverResult, Terminate};
use rustsat::types::{Cl, Lit as SatLit, TernaryVal};
use rustsat_cadical::{CaDiCaL, Statistic};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

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
struct Sink<'s, 'a> {
    cadical: &'s mut CaDiCaL<'a, 'a>,
    buffer: Vec<SatLit>,
    full: bool,
    record: Option<&'s mut Vec<Vec<Literal>>>,
}

impl Clauses for Sink<'_, '_> {
    fn clause(&mut self, literals: &[Literal]) {
        self.buffer.clear();
        // Literals are never zero.
        self.buffer.extend(literals.iter().filter_map(|&literal| SatLit::from_ipasir(literal).ok()));
        self.full |= self.cadical.add_clause_ref(Cl::new(&self.buffer)).is_err();
        if let Some(record) = &mut self.record {
            record.push(literals.to_vec());
        }
    }
}

/// A solver with the clauses that were given to it so far.
pub struct Solver<'a> {
    cadical: CaDiCaL<'a, 'a>,
    cnf: Cnf,
    limits: Limits<'a>,
    stopped: Rc<Cell<Option<StopReason>>>,
    full: bool,
    record: Option<Vec<Vec<Literal>>>,
}

impl<'a> Solver<'a> {
    /// An empty solver that stops at the limits.
    pub fn new(limits: Limits<'a>) -> Solver<'a> {
        let mut cadical = CaDiCaL::default();
        let stopped = Rc::new(Cell::new(None));
        let flag = stopped.clone();
        // Asking the system for the memory costs more than asking for the time.
        let between = Duration::from_millis(20);
        let mut last = Instant::now();
        cadical.attach_terminator(move || {
            let now = Instant::now();
            if now.duration_since(last) < between && limits.deadline.is_none_or(|deadline| now < deadline) {
                return ControlSignal::Continue;
            }
            last = now;
            match limits.reached() {
                None => ControlSignal::Continue,
                Some(reason) => {
                    flag.set(Some(reason));
                    ControlSignal::Terminate
                }
            }
        });
        Solver { cadical, cnf: Cnf::new(), limits, stopped, full: false, record: None }
    }

    /// Keeps all clauses from now on, and writes a proof in the format LRAT to a file. To be called before any clause.
    pub fn trace(&mut self, path: &std::path::Path) -> Result<(), String> {
        self.record = Some(Vec::new());
        let format = rustsat_cadical::ProofFormat::Lrat { binary: false };
        self.cadical.trace_proof(path, format).map_err(|error| error.to_string())
    }

    /// The clauses that were given to a solver that traces.
    pub fn recorded(&self) -> &[Vec<Literal>] {
        self.record.as_deref().unwrap_or_default()
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
        self.cadical.get_statistic(Statistic::Conflicts)
    }

    /// Requires one of these.
    pub fn require(&mut self, graph: &Graph, lits: &[Lit]) {
        let mut sink = Sink {
            cadical: &mut self.cadical,
            buffer: Vec::new(),
            full: false,
            record: self.record.as_mut(),
        };
        self.cnf.require(graph, &mut sink, lits);
        self.full |= sink.full;
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
        if self.full { Err(StopReason::Memory) } else { Ok(()) }
    }

    /// Whether everything that was required can hold together with all of these.
    pub fn solve(&mut self, graph: &Graph, assumed: &[Lit]) -> Answer {
        if assumed.contains(&Lit::FALSE) {
            return Answer::Unsat;
        }
        let mut literals = Vec::new();
        for &lit in assumed.iter().filter(|lit| **lit != Lit::TRUE) {
            let mut sink = Sink {
                cadical: &mut self.cadical,
                buffer: Vec::new(),
                full: false,
                record: self.record.as_mut(),
            };
            literals.extend(SatLit::from_ipasir(self.cnf.literal(graph, &mut sink, lit)).ok());
            self.full |= sink.full;
        }
        if let Some(reason) = self.limits.reached() {
            return Answer::Stopped(reason);
        }
        self.stopped.set(None);
        match self.cadical.solve_assumps(&literals) {
            Ok(SolverResult::Sat) => Answer::Sat(self.model(graph)),
            Ok(SolverResult::Unsat) => Answer::Unsat,
            Ok(SolverResult::Interrupted) => {
                Answer::Stopped(self.stopped.get().unwrap_or(StopReason::Interrupted))
            }
            // The solver ran out of memory.
            Err(_) => Answer::Stopped(StopReason::Memory),
        }
    }

    fn model(&self, graph: &Graph) -> Values {
        graph.evaluate(|node| {
            debug_assert!(graph.gate(node) == Gate::Input);
            let variable = self.cnf.variable(node).and_then(|v| SatLit::from_ipasir(v).ok());
            variable.is_some_and(|v| matches!(self.cadical.lit_val(v), Ok(TernaryVal::True)))
        })
    }
}
