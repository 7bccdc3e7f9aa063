//! Small numbers in unary: comparing two of them is one binary clause per value, and their maximum is a row of ors.

use crate::aig::{Graph, Lit, Values};
use crate::formula::Formula;
use std::rc::Rc;

/// A number from 0 to [`Unary::most`]; the literals say "at least 1", "at least 2" and so on.
#[derive(Clone, PartialEq, Debug)]
pub struct Unary(Rc<[Lit]>);

impl Unary {
    /// A number of these literals, each of which implies the one before.
    pub fn new(lits: Vec<Lit>) -> Unary {
        Unary(lits.into())
    }

    /// Zero.
    pub fn zero(most: usize) -> Unary {
        Unary::new(vec![Lit::FALSE; most])
    }

    /// An unknown number.
    pub fn input(graph: &mut Graph, formula: &mut Formula, most: usize) -> Unary {
        let lits: Vec<Lit> = (0..most).map(|_| graph.input()).collect();
        for pair in lits.windows(2) {
            formula.clause(&[!pair[1], pair[0]]);
        }
        Unary::new(lits)
    }

    /// The largest value.
    pub fn most(&self) -> usize {
        self.0.len()
    }

    /// Its literals.
    pub fn lits(&self) -> impl Iterator<Item = &Lit> {
        self.0.iter()
    }

    /// True if at least that.
    pub fn at_least(&self, n: usize) -> Lit {
        match n.checked_sub(1) {
            None => Lit::TRUE,
            Some(index) => self.0.get(index).copied().unwrap_or(Lit::FALSE),
        }
    }

    /// True if equal to that.
    pub fn is(&self, graph: &mut Graph, n: usize) -> Lit {
        graph.and(self.at_least(n), !self.at_least(n + 1))
    }

    fn zip(&self, other: &Unary, mut each: impl FnMut(Lit, Lit) -> Lit) -> Unary {
        let most = self.most().max(other.most());
        Unary::new((1..=most).map(|n| each(self.at_least(n), other.at_least(n))).collect())
    }

    /// `condition ? a : b`.
    pub fn mux(graph: &mut Graph, condition: Lit, a: &Unary, b: &Unary) -> Unary {
        match condition.as_constant() {
            Some(true) => a.clone(),
            Some(false) => b.clone(),
            None if a == b => a.clone(),
            None => a.zip(b, |x, y| graph.mux(condition, x, y)),
        }
    }

    /// The larger one.
    pub fn max(graph: &mut Graph, a: &Unary, b: &Unary) -> Unary {
        a.zip(b, |x, y| graph.or(x, y))
    }

    /// Zero unless the condition holds.
    pub fn only_if(&self, graph: &mut Graph, condition: Lit) -> Unary {
        Unary::new(self.0.iter().map(|&lit| graph.and(lit, condition)).collect())
    }

    /// One more; what was the largest value stays.
    pub fn plus_one(&self) -> Unary {
        Unary::new((0..self.most()).map(|n| self.at_least(n)).collect())
    }

    /// One less; zero stays.
    pub fn minus_one(&self) -> Unary {
        Unary::new((1..=self.most()).map(|n| self.at_least(n + 1)).collect())
    }

    /// One more where the condition holds; what was the largest value stays.
    pub fn count(&self, graph: &mut Graph, condition: Lit) -> Unary {
        Unary::mux(graph, condition, &self.plus_one(), self)
    }

    /// True if `a > b`.
    pub fn greater(graph: &mut Graph, a: &Unary, b: &Unary) -> Lit {
        let most = a.most().max(b.most());
        let places: Vec<Lit> = (1..=most).map(|n| graph.and(a.at_least(n), !b.at_least(n))).collect();
        graph.or_all(&places)
    }

    /// Requires `a > b` where the condition holds.
    pub fn require_greater(formula: &mut Formula, condition: Lit, a: &Unary, b: &Unary) {
        for n in 0..=b.most() {
            formula.clause(&[!condition, !b.at_least(n), a.at_least(n + 1)]);
        }
    }

    /// Requires `a == b` where the condition holds.
    pub fn require_equal(formula: &mut Formula, condition: Lit, a: &Unary, b: &Unary) {
        for n in 1..=a.most().max(b.most()) {
            formula.equal_if(condition, &[(a.at_least(n), b.at_least(n))]);
        }
    }

    /// Its value in a model.
    pub fn evaluate(&self, values: &Values) -> usize {
        self.0.iter().take_while(|lit| values.of(**lit)).count()
    }
}
