//! An and-inverter graph with exclusive ors and multiplexers as gates of their own: these two have better clauses than
//! what three ands would get.
//!
//! Invariants: equal gates are one node (structural hashing); an operand is older than its gate, so node numbers are a
//! topological order; a gate is never constant, a copy or a complement by one of the rules of [`Graph::and`],
//! [`Graph::xor`] and [`Graph::mux`].

use rustc_hash::FxHashMap;
use std::ops::Not;

/// A node or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lit(u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Lit = Lit(0);
    /// The constant true.
    pub const TRUE: Lit = Lit(1);

    /// The constant of that value.
    pub fn constant(value: bool) -> Lit {
        Lit(u32::from(value))
    }

    /// Its value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// The node's number.
    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    /// True for a complement.
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// The node without the complement.
    fn positive(self) -> Lit {
        Lit(self.0 & !1)
    }

    /// The complement if asked for.
    pub fn complement_if(self, complement: bool) -> Lit {
        Lit(self.0 ^ u32::from(complement))
    }
}

impl Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl std::fmt::Debug for Lit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_constant() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}n{}", if self.is_complement() { "!" } else { "" }, self.node()),
        }
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The constant false: node 0 only.
    False,
    /// Anything.
    Input,
    /// Both.
    And(Lit, Lit),
    /// One, but not both; the operands carry no complements.
    Xor(Lit, Lit),
    /// `c ? t : e`; neither `c` nor `t` is a complement.
    Mux(Lit, Lit, Lit),
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Graph {
    gates: Vec<Gate>,
    known: FxHashMap<Gate, u32>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph::new()
    }
}

impl Graph {
    /// A graph with the constant only.
    pub fn new() -> Graph {
        Graph { gates: vec![Gate::False], known: FxHashMap::default() }
    }

    /// How many nodes there are; their numbers are below.
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// True if nothing was built yet.
    pub fn is_empty(&self) -> bool {
        self.gates.len() == 1
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.gates.capacity() * size_of::<Gate>() + self.known.capacity() * (size_of::<Gate>() + 8)
    }

    /// What a node is.
    pub fn gate(&self, node: u32) -> Gate {
        self.gates[node as usize]
    }

    /// A new input.
    pub fn input(&mut self) -> Lit {
        self.gates.push(Gate::Input);
        Lit((self.gates.len() as u32 - 1) << 1)
    }

    fn node(&mut self, gate: Gate) -> Lit {
        let gates = &mut self.gates;
        let number = *self.known.entry(gate).or_insert_with(|| {
            gates.push(gate);
            gates.len() as u32 - 1
        });
        Lit(number << 1)
    }

    /// The operands of an and-gate; none for a complement.
    fn as_and(&self, lit: Lit) -> Option<(Lit, Lit)> {
        match self.gates[lit.node() as usize] {
            Gate::And(a, b) if !lit.is_complement() => Some((a, b)),
            _ => None,
        }
    }

    /// `a` and `b`.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        match self.and_rules(a, b).or_else(|| self.and_rules(b, a)) {
            Some(Known::Is(lit)) => lit,
            Some(Known::And(a, b)) => self.and(a, b),
            None => self.node(Gate::And(a, b)),
        }
    }

    /// Rules that look one level down (as in Brummayer and Biere, Local two-level and-inverter graph minimization
    /// without blowup, 2006), for one order of the operands.
    fn and_rules(&self, a: Lit, b: Lit) -> Option<Known> {
        if let Some((x, y)) = self.as_and(a) {
            if x == !b || y == !b {
                return Some(Known::Is(Lit::FALSE));
            }
            if x == b || y == b {
                return Some(Known::Is(a));
            }
            if let Some((u, v)) = self.as_and(b)
                && (x == !u || x == !v || y == !u || y == !v)
            {
                return Some(Known::Is(Lit::FALSE));
            }
        }
        let (x, y) = self.as_and(!a)?;
        // a = !(x & y).
        if x == !b || y == !b {
            return Some(Known::Is(b));
        }
        if x == b {
            return Some(Known::And(!y, b));
        }
        if y == b {
            return Some(Known::And(!x, b));
        }
        // !(x & y) & !(x & !y) = !x: two ways of a branch meet again.
        let (u, v) = self.as_and(!b).unwrap_or((Lit::TRUE, Lit::TRUE));
        let common = [(x, y, u, v), (x, y, v, u), (y, x, u, v), (y, x, v, u)];
        if let Some(&(shared, ..)) = common.iter().find(|(p, q, r, s)| p == r && *q == !*s) {
            return Some(Known::Is(!shared));
        }
        let (u, v) = self.as_and(b)?;
        // !(x & y) & (u & v).
        match x == !u || x == !v || y == !u || y == !v {
            true => Some(Known::Is(b)),
            false if x == u || x == v => Some(Known::And(!y, b)),
            false if y == u || y == v => Some(Known::And(!x, b)),
            false => None,
        }
    }

    /// `a` or `b`.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// All of them, as a balanced tree.
    pub fn and_all(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::TRUE,
            [one] => *one,
            _ => {
                let (low, high) = lits.split_at(lits.len() / 2);
                let (low, high) = (self.and_all(low), self.and_all(high));
                self.and(low, high)
            }
        }
    }

    /// One of them, as a balanced tree.
    pub fn or_all(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::FALSE,
            [one] => *one,
            _ => {
                let (low, high) = lits.split_at(lits.len() / 2);
                let (low, high) = (self.or_all(low), self.or_all(high));
                self.or(low, high)
            }
        }
    }

    /// One, but not both.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let complement = a.is_complement() != b.is_complement();
        let (a, b) = (a.positive(), b.positive());
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == b {
            return Lit::constant(complement);
        }
        if a == Lit::FALSE {
            return b.complement_if(complement);
        }
        // x ^ (x ^ y) = y
        if let Gate::Xor(x, y) = self.gates[b.node() as usize]
            && (x == a || y == a)
        {
            return if x == a { y } else { x }.complement_if(complement);
        }
        self.node(Gate::Xor(a, b)).complement_if(complement)
    }

    /// True if equal.
    pub fn xnor(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// `c ? t : e`.
    pub fn mux(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        if c.is_complement() {
            return self.mux(!c, e, t);
        }
        if c == Lit::FALSE || t == e {
            return e;
        }
        if t == !e {
            return self.xor(!c, t);
        }
        if t.as_constant().is_some()
            || e.as_constant().is_some()
            || t.node() == c.node()
            || e.node() == c.node()
        {
            return self.mux_as_and(c, t, e);
        }
        let (t, e) = (self.under(c, t), self.under(!c, e));
        if t == e || t == !e {
            return self.mux(c, t, e);
        }
        let complement = t.is_complement();
        self.node(Gate::Mux(c, t.complement_if(complement), e.complement_if(complement)))
            .complement_if(complement)
    }

    fn mux_as_and(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        match () {
            () if t == Lit::TRUE || t == c => self.or(c, e),
            () if t == Lit::FALSE || t == !c => self.and(!c, e),
            () if e == Lit::TRUE || e == !c => self.or(!c, t),
            () => self.and(c, t),
        }
    }

    /// What a multiplexer with the same condition comes to where the condition is known.
    fn under(&self, condition: Lit, lit: Lit) -> Lit {
        match self.gates[lit.node() as usize] {
            Gate::Mux(c, t, e) if c.node() == condition.node() => {
                if c == condition { t } else { e }.complement_if(lit.is_complement())
            }
            _ => lit,
        }
    }

    /// `a` implies `b`.
    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        self.or(!a, b)
    }

    /// True if the structure alone shows that `a` implies `b`: every conjunct of `b` is one of `a`.
    pub fn surely_implies(&self, a: Lit, b: Lit) -> bool {
        if a == b || b == Lit::TRUE || a == Lit::FALSE {
            return true;
        }
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        self.conjuncts(a, &mut of_a);
        self.conjuncts(b, &mut of_b);
        of_a.sort_unstable();
        of_b.iter().all(|lit| of_a.binary_search(lit).is_ok())
    }

    /// False if the structure alone shows that `a` and `b` exclude each other.
    pub fn and_is_possible(&self, a: Lit, b: Lit) -> bool {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        self.conjuncts(a, &mut of_a);
        self.conjuncts(b, &mut of_b);
        of_a.sort_unstable();
        !of_b.iter().any(|lit| of_a.binary_search(&!*lit).is_ok())
    }

    /// The parts of a conjunction, and the conjunctions within it.
    fn conjuncts(&self, lit: Lit, out: &mut Vec<Lit>) {
        const MOST: usize = 64;
        let first = out.len();
        let mut work = vec![lit];
        while let Some(lit) = work.pop() {
            if out.len() - first > MOST {
                // The rest as it is: together the parts are still the whole.
                out.push(lit);
                return out.append(&mut work);
            }
            match self.as_and(lit) {
                Some((a, b)) => work.extend([a, b]),
                None => out.push(lit),
            }
        }
    }

    /// `(g, c)` if the two are `g & c` and `g & !c`.
    pub fn siblings(&self, a: Lit, b: Lit) -> Option<(Lit, Lit)> {
        let ((x, y), (u, v)) = (self.as_and(a)?, self.as_and(b)?);
        let ways = [(x, y, u, v), (x, y, v, u), (y, x, u, v), (y, x, v, u)];
        ways.into_iter().find(|(p, q, r, s)| p == r && *q == !*s).map(|(p, q, ..)| (p, q))
    }

    /// A literal that is true where `a` is and false where `b` is, for two that exclude each other: the condition of the
    /// branch that led to both, if that is to be seen.
    pub fn distinguishing(&self, a: Lit, b: Lit) -> Lit {
        if let Some((_, condition)) = self.siblings(a, b) {
            return condition;
        }
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        self.conjuncts(a, &mut of_a);
        self.conjuncts(b, &mut of_b);
        of_b.sort_unstable();
        of_a.into_iter().find(|lit| of_b.binary_search(&!*lit).is_ok()).unwrap_or(a)
    }

    /// The value of every node, given those of the inputs.
    pub fn evaluate(&self, mut input: impl FnMut(u32) -> bool) -> Values {
        let mut values: Vec<bool> = Vec::with_capacity(self.gates.len());
        for (node, gate) in (0u32..).zip(&self.gates) {
            let value = |lit: Lit| values[lit.node() as usize] != lit.is_complement();
            values.push(match *gate {
                Gate::False => false,
                Gate::Input => input(node),
                Gate::And(a, b) => value(a) && value(b),
                Gate::Xor(a, b) => value(a) != value(b),
                Gate::Mux(c, t, e) => value(if value(c) { t } else { e }),
            });
        }
        Values(values)
    }
}

/// What a rule says about a conjunction.
enum Known {
    Is(Lit),
    And(Lit, Lit),
}

/// A value for every node.
#[derive(Clone, Debug)]
pub struct Values(Vec<bool>);

impl Values {
    /// The value of a literal.
    pub fn of(&self, lit: Lit) -> bool {
        self.0[lit.node() as usize] != lit.is_complement()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conjunction that is too long to be looked at whole is not taken for what was seen of it.
    #[test]
    fn long_conjunctions_imply_only_their_parts() {
        let mut graph = Graph::new();
        let inputs: Vec<Lit> = (0..200).map(|_| graph.input()).collect();
        let one_by_one =
            |graph: &mut Graph, lits: &[Lit]| lits.iter().fold(Lit::TRUE, |all, &lit| graph.and(all, lit));
        for most in [10, 64, 65, 66, 67, 100, 150] {
            let (all, some) = (one_by_one(&mut graph, &inputs), one_by_one(&mut graph, &inputs[..most]));
            let others = one_by_one(&mut graph, &inputs[most..]);
            let backwards: Vec<Lit> = inputs.iter().rev().copied().collect();
            let reversed = one_by_one(&mut graph, &backwards);
            for (less, more) in [(some, all), (others, all), (some, reversed), (others, reversed)] {
                assert!(!graph.surely_implies(less, more), "{most} of 200");
                assert!(graph.and_is_possible(less, more));
            }
        }
        let few = one_by_one(&mut graph, &inputs[..30]);
        assert!(graph.surely_implies(few, inputs[3]) && !graph.and_is_possible(few, !inputs[3]));
    }

    /// Every function that random operations build has the value that the operations have.
    #[test]
    fn the_rules_keep_the_function() {
        let mut seed = 7u64;
        let mut next = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for _ in 0..400 {
            let mut graph = Graph::new();
            // Truth tables over four inputs beside the literals.
            let tables = [0xaaaau16, 0xcccc, 0xf0f0, 0xff00];
            let mut known: Vec<(Lit, u16)> = tables.iter().map(|&table| (graph.input(), table)).collect();
            known.push((Lit::TRUE, 0xffff));
            for _ in 0..60 {
                let mut pick = || {
                    let (lit, table) = known[next(known.len())];
                    if next(2) == 0 { (lit, table) } else { (!lit, !table) }
                };
                let ((a, x), (b, y), (c, z)) = (pick(), pick(), pick());
                known.push(match next(3) {
                    0 => (graph.and(a, b), x & y),
                    1 => (graph.xor(a, b), x ^ y),
                    _ => (graph.mux(a, b, c), (x & y) | (!x & z)),
                });
            }
            for row in 0..16 {
                let values = graph.evaluate(|node| tables[node as usize - 1] >> row & 1 == 1);
                assert!(known.iter().all(|&(lit, table)| values.of(lit) == (table >> row & 1 == 1)));
            }
        }
    }

    #[test]
    fn ways_of_a_branch_meet_again() {
        let mut graph = Graph::new();
        let (g, c) = (graph.input(), graph.input());
        let (yes, no) = (graph.and(g, c), graph.and(g, !c));
        assert_eq!(graph.or(yes, no), g);
        let inner = graph.input();
        let (a, b) = (graph.and(yes, inner), graph.and(yes, !inner));
        assert_eq!(graph.or(a, b), yes);
        assert!(graph.surely_implies(a, g) && !graph.surely_implies(g, a));
    }
}
