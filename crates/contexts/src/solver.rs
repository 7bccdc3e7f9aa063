//! From a graph to clauses to an answer. Only what a constraint mentions becomes clauses.

use crate::aig::{Aig, Lit, Node};
use crate::eval::{Values, evaluate};
use rustsat::solvers::{Solve, SolveIncremental, SolverResult, Terminate};
use rustsat::types::{Lit as SatLit, TernaryVal};
use rustsat_cadical::CaDiCaL;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The time limit.
    Timeout,
    /// The memory limit.
    Memory,
    /// The user asked for it.
    Interrupted,
}

/// Limits.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    /// Stop at this time.
    pub deadline: Option<Instant>,
    /// Stop when the process takes about this many bytes.
    pub max_bytes: Option<usize>,
    /// Set from outside to stop.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// The limit that is reached, if any.
    pub fn reached(&self) -> Option<Stop> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(Stop::Interrupted)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::Timeout)
        } else if self.max_bytes.is_some_and(|most| resident_bytes() > most / 10 * 9) {
            Some(Stop::Memory)
        } else {
            None
        }
    }
}

/// The memory that the process has; 0 where the system does not tell.
pub fn resident_bytes() -> usize {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
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

/// A solver for formulas of one graph.
pub struct Solver<'a> {
    sat: CaDiCaL<'a, 'static>,
    /// The solver's variable of each node, from 1; 0 is none yet.
    names: Vec<u32>,
    used: u32,
    clauses: u64,
    limits: Limits<'a>,
    stopped: Arc<AtomicUsize>,
}

impl<'a> Solver<'a> {
    /// A new solver.
    pub fn new(limits: Limits<'a>) -> Solver<'a> {
        let mut sat = CaDiCaL::default();
        let stopped = Arc::new(AtomicUsize::new(0));
        let (noted, mut calls) = (stopped.clone(), 0u32);
        sat.attach_terminator(move || {
            calls = calls.wrapping_add(1);
            // Reading the clock and the size of the process is not for every call.
            if calls % 16 != 1 {
                return rustsat::solvers::ControlSignal::Continue;
            }
            match limits.reached() {
                None => rustsat::solvers::ControlSignal::Continue,
                Some(stop) => {
                    noted.store(stop as usize + 1, Ordering::Relaxed);
                    rustsat::solvers::ControlSignal::Terminate
                }
            }
        });
        Solver { sat, names: Vec::new(), used: 0, clauses: 0, limits, stopped }
    }

    /// Sizes and effort so far.
    pub fn size(&self) -> Size {
        let conflicts = self.sat.get_statistic(rustsat_cadical::Statistic::Conflicts);
        Size { variables: u64::from(self.used), clauses: self.clauses, conflicts }
    }

    fn clause(&mut self, lits: &[SatLit]) {
        self.clauses += 1;
        // Only memory can run out here, and then nothing is left to be done.
        self.sat.add_clause_ref(&rustsat::types::Clause::from(lits)).expect("a clause");
    }

    /// The solver's literal for a literal of the graph, with the clauses that define it.
    pub fn name(&mut self, aig: &Aig, lit: Lit) -> SatLit {
        if self.names.len() < aig.len() {
            self.names.resize(aig.len(), 0);
        }
        let mut work = vec![lit.node()];
        while let Some(&node) = work.last() {
            if self.names[node] != 0 {
                work.pop();
                continue;
            }
            let gate = Gate::of(aig, node);
            let open: Vec<usize> =
                gate.inputs().into_iter().map(Lit::node).filter(|&n| self.names[n] == 0).collect();
            if open.is_empty() {
                work.pop();
                self.define(node, &gate);
            } else {
                work.extend(open);
            }
        }
        self.literal(lit)
    }

    fn literal(&self, lit: Lit) -> SatLit {
        SatLit::new(self.names[lit.node()] - 1, lit.is_complement())
    }

    fn define(&mut self, node: usize, gate: &Gate) {
        self.used += 1;
        self.names[node] = self.used;
        let out = SatLit::new(self.used - 1, false);
        match *gate {
            Gate::False => self.clause(&[!out]),
            Gate::Variable => {}
            Gate::And(ref inputs) => {
                let inputs: Vec<SatLit> = inputs.iter().map(|&lit| self.literal(lit)).collect();
                for &input in &inputs {
                    self.clause(&[!out, input]);
                }
                let mut long: Vec<SatLit> = inputs.iter().map(|&input| !input).collect();
                long.push(out);
                self.clause(&long);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (self.literal(a), self.literal(b));
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
            }
            Gate::Mux(c, a, b) => {
                let (c, a, b) = (self.literal(c), self.literal(a), self.literal(b));
                self.clause(&[!out, !c, a]);
                self.clause(&[!out, c, b]);
                self.clause(&[out, !c, !a]);
                self.clause(&[out, c, !b]);
                // Redundant, but they propagate.
                self.clause(&[!out, a, b]);
                self.clause(&[out, !a, !b]);
            }
        }
    }

    /// Demands that one of the literals is true.
    pub fn require(&mut self, aig: &Aig, lits: &[Lit]) {
        let mut clause = Vec::with_capacity(lits.len());
        for &lit in lits {
            match lit.constant() {
                Some(true) => return,
                Some(false) => {}
                None => clause.push(self.name(aig, lit)),
            }
        }
        self.clause(&clause);
    }

    /// Solves under assumptions: values of all nodes, or `None` if there is no solution.
    pub fn solve(&mut self, aig: &Aig, assumptions: &[Lit]) -> Result<Option<Values>, Stop> {
        if let Some(stop) = self.limits.reached() {
            return Err(stop);
        }
        let names: Vec<SatLit> = assumptions.iter().map(|&lit| self.name(aig, lit)).collect();
        // An error of the solver is a stop that was asked for, or memory that has run out.
        match self.sat.solve_assumps(&names) {
            Ok(SolverResult::Sat) => {
                let mut inputs = vec![false; aig.len()];
                for (node, &name) in self.names.iter().enumerate().filter(|(_, name)| **name != 0) {
                    let value = self.sat.lit_val(SatLit::new(name - 1, false));
                    inputs[node] = matches!(value, Ok(TernaryVal::True));
                }
                Ok(Some(evaluate(aig, &inputs)))
            }
            Ok(SolverResult::Unsat) => Ok(None),
            _ => Err(match self.stopped.load(Ordering::Relaxed) {
                1 => Stop::Timeout,
                3 => Stop::Interrupted,
                _ => Stop::Memory,
            }),
        }
    }
}

/// How a node is written as clauses.
enum Gate {
    False,
    Variable,
    And(Vec<Lit>),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
}

impl Gate {
    fn of(aig: &Aig, node: usize) -> Gate {
        let Node::And(a, b) = aig.node(node) else {
            return if node == 0 { Gate::False } else { Gate::Variable };
        };
        if a.is_complement()
            && b.is_complement()
            && let (Node::And(p, q), Node::And(r, s)) = (aig.node(a.node()), aig.node(b.node()))
        {
            // not (p and q) and not (r and s)
            for (p, q) in [(p, q), (q, p)] {
                for (r, s) in [(r, s), (s, r)] {
                    if p == !r && q == !s {
                        return Gate::Xor(p, q);
                    }
                    if p == !r {
                        return Gate::Mux(p, !q, !s);
                    }
                }
            }
        }
        Gate::And(vec![a, b])
    }

    fn inputs(&self) -> Vec<Lit> {
        match self {
            Gate::False | Gate::Variable => Vec::new(),
            Gate::And(inputs) => inputs.clone(),
            Gate::Xor(a, b) => vec![*a, *b],
            Gate::Mux(c, a, b) => vec![*c, *a, *b],
        }
    }
}
