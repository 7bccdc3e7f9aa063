//! Clauses of a graph: Tseitin's translation, each gate only in the direction in which it is used `[PG86]`.
//!
//! A gate gets a variable when a clause mentions it, and its clauses for the polarity of that mention; the other polarity
//! is added when it is asked for. So a formula may grow between two calls of the solver. In a model only the inputs
//! count: [`Graph::evaluate`] computes the gates again.
//!
//! Reference: `[PG86]` D. A. Plaisted, S. Greenbaum, A structure-preserving clause form translation, JSC 1986.

use crate::aig::{Gate, Graph, Lit};

/// A clause of variables (from 1) and their negations.
pub type Literal = i32;

/// Where clauses go.
pub trait Clauses {
    /// Adds a clause.
    fn clause(&mut self, literals: &[Literal]);
}

impl Clauses for Vec<Vec<Literal>> {
    fn clause(&mut self, literals: &[Literal]) {
        self.push(literals.to_vec());
    }
}

/// Which parts of a graph have clauses.
#[derive(Clone, Debug, Default)]
pub struct Cnf {
    /// The variable of each node; 0 is none.
    variables: Vec<Literal>,
    /// Bit 0: defined where it is true; bit 1: where it is false.
    defined: Vec<u8>,
    count: Literal,
    clauses: u64,
    work: Vec<Lit>,
}

impl Cnf {
    /// Nothing yet.
    pub fn new() -> Cnf {
        Cnf::default()
    }

    /// How many variables there are.
    pub fn variables(&self) -> u64 {
        self.count as u64
    }

    /// How many clauses there are.
    pub fn clauses(&self) -> u64 {
        self.clauses
    }

    /// The variable of a node, if a clause mentions it.
    pub fn variable(&self, node: u32) -> Option<Literal> {
        self.variables.get(node as usize).copied().filter(|&v| v != 0)
    }

    fn new_variable(&mut self) -> Literal {
        self.count += 1;
        self.count
    }

    fn literal_of(&mut self, lit: Lit) -> Literal {
        let node = lit.node() as usize;
        if self.variables.len() <= node {
            self.variables.resize(node + 1, 0);
            self.defined.resize(node + 1, 0);
        }
        if self.variables[node] == 0 {
            self.variables[node] = self.new_variable();
        }
        if lit.is_complement() { -self.variables[node] } else { self.variables[node] }
    }

    /// The literal of a gate that is going to be assumed or put into a clause; its clauses are added. Not for constants.
    pub fn literal(&mut self, graph: &Graph, sink: &mut dyn Clauses, lit: Lit) -> Literal {
        debug_assert!(lit.as_constant().is_none());
        let literal = self.literal_of(lit);
        self.work.push(lit);
        while let Some(lit) = self.work.pop() {
            self.define(graph, sink, lit);
        }
        literal
    }

    /// The clauses of a gate where the literal is true.
    fn define(&mut self, graph: &Graph, sink: &mut dyn Clauses, lit: Lit) {
        let this = self.literal_of(lit);
        let (node, polarity) = (lit.node(), 1 << u8::from(lit.is_complement()));
        if self.defined[node as usize] & polarity != 0 {
            return;
        }
        self.defined[node as usize] |= polarity;
        match (graph.gate(node), lit.is_complement()) {
            (Gate::False | Gate::Input, _) => {}
            (Gate::And(a, b), false) => {
                self.gate_clause(sink, this, &[a]);
                self.gate_clause(sink, this, &[b]);
            }
            (Gate::And(a, b), true) => self.gate_clause(sink, this, &[!a, !b]),
            (Gate::Xor(a, b), complement) => {
                let b = b.complement_if(complement);
                self.gate_clause(sink, this, &[a, b]);
                self.gate_clause(sink, this, &[!a, !b]);
            }
            (Gate::Mux(c, t, e), complement) => {
                let (t, e) = (t.complement_if(complement), e.complement_if(complement));
                self.gate_clause(sink, this, &[!c, t]);
                self.gate_clause(sink, this, &[c, e]);
                // Implied; lets the solver see more.
                self.gate_clause(sink, this, &[t, e]);
            }
        }
    }

    fn gate_clause(&mut self, sink: &mut dyn Clauses, gate: Literal, lits: &[Lit]) {
        let mut clause = [-gate, 0, 0];
        for (place, &lit) in clause[1..].iter_mut().zip(lits) {
            *place = self.literal_of(lit);
            self.work.push(lit);
        }
        self.clauses += 1;
        sink.clause(&clause[..=lits.len()]);
    }

    /// Requires one of them.
    pub fn require(&mut self, graph: &Graph, sink: &mut dyn Clauses, lits: &[Lit]) {
        if lits.contains(&Lit::TRUE) {
            return;
        }
        let mut clause = Vec::with_capacity(lits.len());
        for &lit in lits.iter().filter(|lit| **lit != Lit::FALSE) {
            clause.push(self.literal(graph, sink, lit));
        }
        self.clauses += 1;
        sink.clause(&clause);
    }
}
