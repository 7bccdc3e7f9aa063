//! Binary relations over `0..n` as dense bit matrices: row `a` is the set of `b` with (a, b) in the relation.

use std::fmt;

/// A relation over `0..n`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Relation {
    n: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Relation {
    /// The empty relation over `0..n`.
    pub fn new(n: usize) -> Relation {
        let words = n.div_ceil(64);
        Relation { n, words, bits: vec![0; n * words] }
    }

    /// The identity.
    pub fn identity(n: usize) -> Relation {
        let mut r = Relation::new(n);
        (0..n).for_each(|a| r.insert(a, a));
        r
    }

    /// All pairs.
    pub fn full(n: usize) -> Relation {
        Relation::from_fn(n, |_, _| true)
    }

    /// The pairs that satisfy a predicate.
    pub fn from_fn(n: usize, mut holds: impl FnMut(usize, usize) -> bool) -> Relation {
        let mut r = Relation::new(n);
        for a in 0..n {
            for b in 0..n {
                if holds(a, b) {
                    r.insert(a, b);
                }
            }
        }
        r
    }

    /// Number of elements that the relation is over.
    pub fn len(&self) -> usize {
        self.n
    }

    /// True if it is over no elements.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Adds a pair.
    pub fn insert(&mut self, a: usize, b: usize) {
        debug_assert!(a < self.n && b < self.n);
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    /// Removes a pair.
    pub fn remove(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] &= !(1 << (b % 64));
    }

    /// Membership.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 != 0
    }

    /// True if there is no pair.
    pub fn has_no_pairs(&self) -> bool {
        self.bits.iter().all(|&w| w == 0)
    }

    /// Number of pairs.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The row of `a`: its successors as words of bits.
    pub fn row(&self, a: usize) -> &[u64] {
        &self.bits[a * self.words..(a + 1) * self.words]
    }

    /// The successors of `a`, increasing.
    pub fn successors(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(a).iter().enumerate().flat_map(|(i, &word)| Bits(word).map(move |b| i * 64 + b))
    }

    /// All pairs, in lexicographic order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n).flat_map(move |a| self.successors(a).map(move |b| (a, b)))
    }

    fn zip(&self, other: &Relation, f: impl Fn(u64, u64) -> u64) -> Relation {
        assert_eq!(self.n, other.n);
        let bits = self.bits.iter().zip(&other.bits).map(|(&a, &b)| f(a, b)).collect();
        Relation { n: self.n, words: self.words, bits }
    }

    /// Pairs in one or the other.
    pub fn union(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a | b)
    }

    /// Pairs in both.
    pub fn intersection(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & b)
    }

    /// Pairs in this one only.
    pub fn difference(&self, other: &Relation) -> Relation {
        self.zip(other, |a, b| a & !b)
    }

    /// Pairs (b, a) for (a, b).
    pub fn inverse(&self) -> Relation {
        let mut r = Relation::new(self.n);
        self.pairs().for_each(|(a, b)| r.insert(b, a));
        r
    }

    /// Pairs (a, c) with (a, b) here and (b, c) in `other`.
    pub fn compose(&self, other: &Relation) -> Relation {
        assert_eq!(self.n, other.n);
        let mut r = Relation::new(self.n);
        for a in 0..self.n {
            for b in self.successors(a) {
                for (w, &o) in r.bits[a * self.words..(a + 1) * self.words].iter_mut().zip(other.row(b)) {
                    *w |= o;
                }
            }
        }
        r
    }

    /// The transitive closure (Warshall's algorithm on rows).
    pub fn transitive_closure(&self) -> Relation {
        let mut r = self.clone();
        for k in 0..r.n {
            let via = r.row(k).to_vec();
            for a in 0..r.n {
                if r.contains(a, k) {
                    for (w, &v) in r.bits[a * r.words..(a + 1) * r.words].iter_mut().zip(&via) {
                        *w |= v;
                    }
                }
            }
        }
        r
    }

    /// The transitive closure with the identity.
    pub fn reflexive_transitive_closure(&self) -> Relation {
        self.transitive_closure().union(&Relation::identity(self.n))
    }

    /// True if no element is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.n).all(|a| !self.contains(a, a))
    }

    /// True if there is no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.transitive_closure().is_irreflexive()
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.pairs()).finish()
    }
}

/// The positions of the set bits of a word, increasing.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_and_acyclicity() {
        let mut r = Relation::new(70);
        for i in 0..69 {
            r.insert(i, i + 1);
        }
        assert!(r.is_acyclic());
        assert!(r.transitive_closure().contains(0, 69));
        r.insert(69, 0);
        assert!(!r.is_acyclic());
    }

    #[test]
    fn composition_and_inverse() {
        let mut r = Relation::new(3);
        r.insert(0, 1);
        r.insert(1, 2);
        assert_eq!(r.compose(&r).pairs().collect::<Vec<_>>(), vec![(0, 2)]);
        assert_eq!(r.inverse().pairs().collect::<Vec<_>>(), vec![(1, 0), (2, 1)]);
    }
}
