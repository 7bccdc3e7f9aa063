//! What is known about the values of a memory cell: a few of them, or how many bits they have.

use crate::aig::{Graph, Lit};
use crate::word::{MOST_VALUES, Word};
use fencepost_ir::{Value, Width};

/// The values of a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// One of these, sorted.
    Values(Vec<u64>),
    /// A number of so many bits, with or without a sign.
    Bits {
        /// Bits below the sign.
        len: u32,
        /// Whether there is one.
        signed: bool,
    },
}

impl Shape {
    /// The shape of a word.
    pub fn of(word: &Word) -> Shape {
        match word.values() {
            Some(values) => Shape::Values(values.to_vec()),
            None => Shape::Bits { len: word.len() as u32, signed: word.fill() != Lit::FALSE },
        }
    }

    /// Anything that fits into a cell.
    pub fn any(width: Width) -> Shape {
        let bits = width.bits();
        Shape::Bits { len: bits.min(63), signed: bits == 64 }
    }

    /// Bits in place of a set of values.
    pub fn without_values(&self) -> Shape {
        let (len, signed) = self.as_bits();
        Shape::Bits { len, signed }
    }

    fn as_bits(&self) -> (u32, bool) {
        match self {
            Shape::Bits { len, signed } => (*len, *signed),
            Shape::Values(values) => {
                let words = values.iter().map(|&value| Word::constant(Value(value)));
                words.fold((0, false), |(len, signed), word| {
                    (len.max(word.len() as u32), signed || word.fill() != Lit::FALSE)
                })
            }
        }
    }

    /// Both.
    pub fn join(&self, other: &Shape) -> Shape {
        if let (Shape::Values(a), Shape::Values(b)) = (self, other) {
            let mut all: Vec<u64> = a.iter().chain(b).copied().collect();
            all.sort_unstable();
            all.dedup();
            if all.len() <= MOST_VALUES {
                return Shape::Values(all);
            }
        }
        let ((a, x), (b, y)) = (self.as_bits(), other.as_bits());
        Shape::Bits { len: a.max(b), signed: x || y }
    }

    /// A new unknown word of that shape.
    pub fn input(&self, graph: &mut Graph) -> Word {
        match self {
            Shape::Values(values) => Word::one_of(graph, values),
            Shape::Bits { len, signed } => Word::input(graph, *len, *signed),
        }
    }
}
