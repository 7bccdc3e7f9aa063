//! CaDiCaL behind a graph: clauses go in as literals of the graph, models come out as values of its inputs.

use crate::aig::{Gate, Graph, Lit, Values};
use crate::cnf::{Clauses, Cnf, Literal};
use crate::formula::Formula;
use crate::limits::{Limits, StopReason};
use cadical_sys::{CaDiCal, Status, Terminator};
use std::cell::Cell;
use std::path::Path;
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
struct Sink<'s> {
    cadical: &'s mut CaDiCal,
    record: Option<&'s mut Vec<Vec<Literal>>>,
}

impl Clauses for Sink<'_> {
    fn clause(&mut self, literals: &[Literal]) {
        self.cadical.clause6(literals);
        if let Some(record) = &mut self.record {
            record.push(literals.to_vec());
        }
    }
}

/// What the solver asks, again and again, while it searches.
struct Watch {
    limits: Limits,
    last: Instant,
    stopped: Rc<Cell<Option<StopReason>>>,
}

impl Terminator for Watch {
    fn terminated(&mut self) -> bool {
        // Asking the system for the memory costs more than asking for the time.
        const BETWEEN: Duration = Duration::from_millis(20);
        let now = Instant::now();
        if now.duration_since(self.last) < BETWEEN
            && self.limits.deadline.is_none_or(|deadline| now < deadline)
        {
            return false;
        }
        self.last = now;
        self.stopped.set(self.limits.reached());
        self.stopped.get().is_some()
    }
}

/// A solver with the clauses that were given to it so far.
pub struct Solver {
    cadical: CaDiCal,
    cnf: Cnf,
    limits: Limits,
    stopped: Rc<Cell<Option<StopReason>>>,
    record: Option<Vec<Vec<Literal>>>,
}

impl Solver {
    /// An empty solver that stops at the limits.
    pub fn new(limits: Limits) -> Solver {
        let mut cadical = CaDiCal::new();
        // Bounded variable addition makes variables of its own, so that ours would have to be announced in advance.
        cadical.set("factor", 0);
        let stopped = Rc::new(Cell::new(None));
        cadical.connect_terminator(Watch { limits, last: Instant::now(), stopped: stopped.clone() });
        Solver { cadical, cnf: Cnf::new(), limits, stopped, record: None }
    }

    /// Keeps all clauses from now on, and writes a proof in the format LRAT to a file. To be called before any clause.
    pub fn trace(&mut self, path: &Path) -> Result<(), String> {
        self.record = Some(Vec::new());
        self.cadical.set("lrat", 1);
        self.cadical.set("binary", 0);
        let opened = path.to_str().is_some_and(|path| self.cadical.trace_proof2(path));
        if opened { Ok(()) } else { Err(format!("cannot write a proof to {}", path.display())) }
    }

    /// Writes the proof to its end. Returns the clauses that were given to a solver that traces.
    pub fn into_recorded(mut self) -> Vec<Vec<Literal>> {
        if self.record.is_some() {
            self.cadical.close_proof_trace(false);
        }
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
        self.cadical.get_statistic_value("conflicts").unsigned_abs()
    }

    /// Requires one of these.
    pub fn require(&mut self, graph: &Graph, lits: &[Lit]) {
        let mut sink = Sink { cadical: &mut self.cadical, record: self.record.as_mut() };
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
            let mut sink = Sink { cadical: &mut self.cadical, record: self.record.as_mut() };
            literals.push(self.cnf.literal(graph, &mut sink, lit));
        }
        if let Some(reason) = self.limits.reached() {
            return Answer::Stopped(reason);
        }
        for &literal in &literals {
            self.cadical.assume(literal);
        }
        self.stopped.set(None);
        match self.cadical.solve() {
            Status::SATISFIABLE => Answer::Sat(self.model(graph)),
            Status::UNSATISFIABLE => Answer::Unsat,
            Status::UNKNOWN => Answer::Stopped(self.stopped.get().unwrap_or(StopReason::Interrupted)),
        }
    }

    fn model(&mut self, graph: &Graph) -> Values {
        let Solver { cadical, cnf, .. } = self;
        graph.evaluate(|node| {
            debug_assert!(graph.gate(node) == Gate::Input);
            cnf.variable(node).is_some_and(|variable| cadical.val(variable) > 0)
        })
    }
}
