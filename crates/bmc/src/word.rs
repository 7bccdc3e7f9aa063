//! Symbolic words: 64-bit values whose bits are literals of a [`Graph`].
//!
//! A word keeps its low bits and one literal, the *fill*, that stands for all higher ones: a number of few bits is a
//! short word, with the fill false if it is not negative. Words are always as short as that allows, so that widths come
//! out of the structure: a sum of two 3-bit numbers is a 4-bit number, whatever the width of the operation.
//!
//! A word may also know all its values ([`Word::values`]): pointers and states that were loaded from memory stay apart
//! from other numbers that way. Every assignment of the inputs in which the word was computed on the path that was taken
//! must give one of them.

use crate::aig::{Graph, Lit, Values};
use fencepost_ir::{Extend, Value, Width};
use std::rc::Rc;

/// Most values that a word remembers.
pub const MOST_VALUES: usize = 16;

/// A symbolic word.
#[derive(Clone, PartialEq, Debug)]
pub struct Word {
    bits: Rc<[Lit]>,
    fill: Lit,
    values: Option<Rc<[u64]>>,
}

impl Word {
    /// A word of these bits, lowest first, and the fill above them.
    pub fn new(mut bits: Vec<Lit>, mut fill: Lit) -> Word {
        if bits.len() > 63 {
            fill = bits[63];
            bits.truncate(63);
        }
        while bits.last() == Some(&fill) {
            bits.pop();
        }
        let mut word = Word { bits: bits.into(), fill, values: None };
        if let Some(value) = word.as_constant() {
            word.values = Some([value.0].into());
        }
        word
    }

    /// A constant.
    pub fn constant(value: Value) -> Word {
        let bits = (0..63).map(|i| Lit::constant(value.0 >> i & 1 == 1)).collect();
        Word::new(bits, Lit::constant(value.0 >> 63 == 1))
    }

    /// 0 or 1.
    pub fn bool(lit: Lit) -> Word {
        Word::new(vec![lit], Lit::FALSE)
    }

    /// A new unknown number of `bits` bits, and a sign if asked for.
    pub fn input(graph: &mut Graph, bits: u32, signed: bool) -> Word {
        let low = (0..bits.min(63)).map(|_| graph.input()).collect();
        let fill = if signed || bits >= 64 { graph.input() } else { Lit::FALSE };
        Word::new(low, fill)
    }

    /// A new unknown value out of some: as many inputs as there are different columns of bits.
    pub fn one_of(graph: &mut Graph, values: &[u64]) -> Word {
        let mut values = values.to_vec();
        values.sort_unstable();
        values.dedup();
        let mut columns: Vec<(Vec<bool>, Lit)> = vec![(vec![false; values.len()], Lit::FALSE)];
        let mut bit = |i: usize| {
            let column: Vec<bool> = values.iter().map(|value| value >> i & 1 == 1).collect();
            let inverse: Vec<bool> = column.iter().map(|bit| !bit).collect();
            if let Some((_, lit)) = columns.iter().find(|(known, _)| *known == column) {
                return *lit;
            }
            if let Some((_, lit)) = columns.iter().find(|(known, _)| *known == inverse) {
                return !*lit;
            }
            let lit = graph.input();
            columns.push((column, lit));
            lit
        };
        let bits: Vec<Lit> = (0..64).map(&mut bit).collect();
        let mut word = Word::new(bits, Lit::FALSE);
        if values.len() <= MOST_VALUES {
            word.values = Some(values.into());
        }
        word
    }

    /// A bit.
    pub fn bit(&self, index: usize) -> Lit {
        self.bits.get(index).copied().unwrap_or(self.fill)
    }

    /// How many bits there are below the fill.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// True if all bits are the fill.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// What stands for all bits from [`Word::len`] on.
    pub fn fill(&self) -> Lit {
        self.fill
    }

    /// All values that it may have, if they are known and few.
    pub fn values(&self) -> Option<&[u64]> {
        self.values.as_deref()
    }

    /// Its value, if it is a constant.
    pub fn as_constant(&self) -> Option<Value> {
        let mut value = if self.fill.as_constant()? { u64::MAX << self.bits.len() } else { 0 };
        for (i, bit) in self.bits.iter().enumerate() {
            value |= u64::from(bit.as_constant()?) << i;
        }
        Some(Value(value))
    }

    /// Its value under an assignment.
    pub fn evaluate(&self, values: &Values) -> Value {
        let bit = |i: usize| u64::from(values.of(self.bit(i))) << i;
        Value((0..64).map(bit).fold(0, |a, b| a | b))
    }

    /// The bits that are constant, as a mask and their values.
    pub fn known_bits(&self) -> (u64, u64) {
        let (mut mask, mut ones) = (0, 0);
        for i in 0..64 {
            if let Some(value) = self.bit(i).as_constant() {
                mask |= 1 << i;
                ones |= u64::from(value) << i;
            }
        }
        (mask, ones)
    }

    /// The same bits, without what is known about the values: for the constraints that make it true.
    pub(crate) fn bare(&self) -> Word {
        Word::new(self.bits.to_vec(), self.fill)
    }

    /// The same word, known to have one of these values.
    pub(crate) fn with_values(mut self, mut values: Vec<u64>) -> Word {
        values.sort_unstable();
        values.dedup();
        if self.as_constant().is_none() && values.len() <= MOST_VALUES && !values.is_empty() {
            if let [only] = values[..] {
                return Word::constant(Value(only));
            }
            self.values = Some(values.into());
        }
        self
    }

    /// The low bits of a width, extended as asked.
    pub fn extend(&self, width: Width, how: Extend) -> Word {
        let bits = width.bits() as usize;
        let word = match how {
            Extend::Zero if bits == 64 || (self.fill == Lit::FALSE && self.len() <= bits) => {
                return self.clone();
            }
            Extend::Sign if self.len() < bits => return self.clone(),
            Extend::Zero => Word::new((0..bits).map(|i| self.bit(i)).collect(), Lit::FALSE),
            Extend::Sign => Word::new((0..bits).map(|i| self.bit(i)).collect(), self.bit(bits - 1)),
        };
        match self.values() {
            Some(values) => word.with_values(values.iter().map(|&v| width.extend(how, Value(v)).0).collect()),
            None => word,
        }
    }

    /// True unless zero.
    pub fn is_true(&self, graph: &mut Graph) -> Lit {
        let mut bits = self.bits.to_vec();
        bits.push(self.fill);
        bits.sort_unstable();
        bits.dedup();
        graph.or_all(&bits)
    }

    /// `condition ? a : b`.
    pub fn mux(graph: &mut Graph, condition: Lit, a: &Word, b: &Word) -> Word {
        match condition.as_constant() {
            Some(true) => return a.clone(),
            Some(false) => return b.clone(),
            None if a == b => return a.clone(),
            None => {}
        }
        let len = a.len().max(b.len());
        let bits = (0..len).map(|i| graph.mux(condition, a.bit(i), b.bit(i))).collect();
        let word = Word::new(bits, graph.mux(condition, a.fill, b.fill));
        match (a.values(), b.values()) {
            (Some(x), Some(y)) => word.with_values(x.iter().chain(y).copied().collect()),
            _ => word,
        }
    }

    /// The pairs of bits that must be equal for two words to be equal, without repetition.
    pub fn pairs(&self, other: &Word) -> Vec<(Lit, Lit)> {
        let len = self.len().max(other.len());
        let mut pairs: Vec<(Lit, Lit)> =
            (0..=len).map(|i| (self.bit(i), other.bit(i))).filter(|(a, b)| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// True if equal as 64-bit values.
    pub fn equal(graph: &mut Graph, a: &Word, b: &Word) -> Lit {
        let pairs = a.pairs(b);
        if pairs.iter().any(|(x, y)| *x == !*y) {
            return Lit::FALSE;
        }
        if let (Some(x), Some(y)) = (a.values(), b.values())
            && !x.iter().any(|v| y.contains(v))
        {
            return Lit::FALSE;
        }
        let bits: Vec<Lit> = pairs.into_iter().map(|(x, y)| graph.xnor(x, y)).collect();
        graph.and_all(&bits)
    }

    /// True if equal to a constant.
    pub fn is(&self, graph: &mut Graph, value: Value) -> Lit {
        Word::equal(graph, self, &Word::constant(value))
    }
}
