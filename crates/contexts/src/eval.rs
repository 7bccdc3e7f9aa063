//! The value of every node of a graph, given its variables: what a solver's model means.

use crate::aig::{Aig, Lit, Node};
use crate::word::Word;
use fencepost_ir::Value;

/// Truth values of all nodes.
pub struct Values(Vec<bool>);

/// Evaluates all nodes; `inputs` gives the variables by node.
pub fn evaluate(aig: &Aig, inputs: &[bool]) -> Values {
    let mut values = vec![false; aig.len()];
    for node in 1..aig.len() {
        values[node] = match aig.node(node) {
            Node::Variable => inputs[node],
            Node::And(a, b) => {
                (values[a.node()] ^ a.is_complement()) && (values[b.node()] ^ b.is_complement())
            }
        };
    }
    Values(values)
}

impl Values {
    /// A literal.
    pub fn lit(&self, lit: Lit) -> bool {
        self.0[lit.node()] ^ lit.is_complement()
    }

    /// A word.
    pub fn word(&self, word: &Word) -> Value {
        Value((0..64).fold(0, |value, i| value | u64::from(self.lit(word.bit(i))) << i))
    }
}
