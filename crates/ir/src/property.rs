//! What is asked about a program: assertions only, or a final condition over registers and memory.

use crate::program::{ObjectId, Reg, ThreadId, Width};
use crate::value::Value;

/// The question.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Property {
    /// Only what the instructions themselves assert.
    #[default]
    Assertions,
    /// A condition on final states, as in litmus tests.
    Final(FinalCondition),
}

/// A quantified condition on final states.
#[derive(Clone, PartialEq, Debug)]
pub struct FinalCondition {
    /// How the proposition is quantified.
    pub quantifier: Quantifier,
    /// The proposition.
    pub proposition: Proposition,
    /// What a final state shows, in the order in which it is shown, and then what only the filter mentions.
    pub observed: Vec<Observable>,
    /// How many of `observed` a final state shows; the proposition mentions none beyond.
    pub shown: usize,
    /// Final states that do not satisfy this are not counted.
    pub filter: Option<Proposition>,
}

/// How a proposition is quantified over final states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantifier {
    /// Some execution satisfies it.
    Exists,
    /// No execution satisfies it.
    NotExists,
    /// All executions satisfy it.
    ForAll,
}

/// A part of the final state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Observable {
    /// A register at the end of a thread.
    Register {
        /// Whose.
        thread: ThreadId,
        /// Which.
        reg: Reg,
    },
    /// A memory cell at the end; the value is sign-extended from its width.
    Memory {
        /// Object.
        object: ObjectId,
        /// Byte offset.
        offset: u32,
        /// Width of the cell.
        width: Width,
    },
}

/// A proposition over the final state.
#[derive(Clone, PartialEq, Debug)]
pub enum Proposition {
    /// Always true.
    True,
    /// Never true.
    False,
    /// Comparison of an observed part, by its index in `FinalCondition::observed`.
    Atom(usize, Compare, Term),
    /// Negation.
    Not(Box<Proposition>),
    /// All of them.
    And(Vec<Proposition>),
    /// One of them.
    Or(Vec<Proposition>),
    /// The second if the first.
    Implies(Box<Proposition>, Box<Proposition>),
}

/// The comparisons of an atom; ordered ones are signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The right-hand side of an atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// A constant.
    Value(Value),
    /// Another observed part, by its index.
    Observed(usize),
}

impl Proposition {
    /// Truth in a final state, given as the values of `FinalCondition::observed`.
    pub fn holds(&self, state: &[Value]) -> bool {
        match self {
            Proposition::True => true,
            Proposition::False => false,
            Proposition::Atom(left, compare, right) => {
                let right = match right {
                    Term::Value(value) => *value,
                    Term::Observed(index) => state[*index],
                };
                compare.holds(state[*left], right)
            }
            Proposition::Not(inner) => !inner.holds(state),
            Proposition::And(parts) => parts.iter().all(|p| p.holds(state)),
            Proposition::Or(parts) => parts.iter().any(|p| p.holds(state)),
            Proposition::Implies(a, b) => !a.holds(state) || b.holds(state),
        }
    }
}

impl Compare {
    fn holds(self, a: Value, b: Value) -> bool {
        let (a, b) = (a.as_i64(), b.as_i64());
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
}
