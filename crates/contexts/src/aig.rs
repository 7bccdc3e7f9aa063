//! And-inverter graphs with structural hashing: formulas that share what they have in common, simplified as they are built.

use rustc_hash::FxHashMap;

/// A literal: a node, or its complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

/// False.
pub const FALSE: Lit = Lit(0);
/// True.
pub const TRUE: Lit = Lit(1);

impl Lit {
    fn new(node: usize) -> Lit {
        Lit((node as u32) << 1)
    }

    /// The node.
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// True if this is the complement of the node.
    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// True or false, if it is a constant.
    pub fn constant(self) -> Option<bool> {
        (self.node() == 0).then_some(self == TRUE)
    }

    /// The literal of a truth value.
    pub fn of(value: bool) -> Lit {
        if value { TRUE } else { FALSE }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// A node: a variable, or the conjunction of two literals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// Anything.
    Variable,
    /// Both.
    And(Lit, Lit),
}

/// A graph. Node 0 is false; the inputs of a node have smaller numbers.
#[derive(Default)]
pub struct Aig {
    nodes: Vec<Node>,
    known: FxHashMap<(Lit, Lit), Lit>,
}

impl Aig {
    /// An empty graph.
    pub fn new() -> Aig {
        Aig { nodes: vec![Node::Variable], known: FxHashMap::default() }
    }

    /// A new variable.
    pub fn variable(&mut self) -> Lit {
        self.nodes.push(Node::Variable);
        Lit::new(self.nodes.len() - 1)
    }

    /// A node.
    pub fn node(&self, node: usize) -> Node {
        self.nodes[node]
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is nothing but the constant.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * 36
    }

    fn inputs(&self, lit: Lit) -> Option<(Lit, Lit)> {
        match self.nodes[lit.node()] {
            Node::And(a, b) => Some((a, b)),
            Node::Variable => None,
        }
    }

    /// Conjunction.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == FALSE || a == !b {
            return FALSE;
        }
        if a == TRUE || a == b {
            return b;
        }
        // Rules of two levels: an input that is a conjunction with the other input, or with its complement.
        for (x, y) in [(a, b), (b, a)] {
            if let Some((p, q)) = self.inputs(y) {
                if !y.is_complement() {
                    if p == x || q == x {
                        return y;
                    }
                    if p == !x || q == !x {
                        return FALSE;
                    }
                } else {
                    if p == !x || q == !x {
                        return x;
                    }
                    if p == x {
                        return self.and(x, !q);
                    }
                    if q == x {
                        return self.and(x, !p);
                    }
                }
            }
        }
        if let Some(&known) = self.known.get(&(a, b)) {
            return known;
        }
        self.nodes.push(Node::And(a, b));
        let lit = Lit::new(self.nodes.len() - 1);
        self.known.insert((a, b), lit);
        lit
    }

    /// Disjunction.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Implication.
    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(a, !b)
    }

    /// Exclusive disjunction.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let both = self.and(a, b);
        let neither = self.and(!a, !b);
        self.and(!both, !neither)
    }

    /// Equivalence.
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// `c ? a : b`.
    pub fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if a == b {
            return a;
        }
        match (c.constant(), a.constant(), b.constant()) {
            (Some(true), _, _) => a,
            (Some(false), _, _) => b,
            (_, Some(true), _) => self.or(c, b),
            (_, Some(false), _) => self.and(!c, b),
            (_, _, Some(true)) => self.or(!c, a),
            (_, _, Some(false)) => self.and(c, a),
            _ if a == !b => self.iff(c, a),
            _ => {
                let then = self.and(c, a);
                let otherwise = self.and(!c, b);
                self.or(then, otherwise)
            }
        }
    }

    /// All of them.
    pub fn all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut result = TRUE;
        for lit in lits {
            result = self.and(result, lit);
        }
        result
    }

    /// One of them.
    pub fn any(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut result = FALSE;
        for lit in lits {
            result = self.or(result, lit);
        }
        result
    }
}
