//! A set of events as `W` machine words: one row of a relation. `W` is chosen per program, so that the set operations
//! of the inner loop are a few instructions without a loop bound to check.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

/// A set of events, at most `64 * W` of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row<const W: usize>([u64; W]);

impl<const W: usize> Default for Row<W> {
    fn default() -> Self {
        Row::EMPTY
    }
}

impl<const W: usize> Row<W> {
    /// No event.
    pub const EMPTY: Row<W> = Row([0; W]);

    /// One event.
    #[inline(always)]
    pub fn single(event: usize) -> Row<W> {
        let mut row = Row::EMPTY;
        row.insert(event);
        row
    }

    /// The events `from..to`.
    pub fn range(from: usize, to: usize) -> Row<W> {
        let mut row = Row::EMPTY;
        (from..to).for_each(|e| row.insert(e));
        row
    }

    /// Adds an event.
    #[inline(always)]
    pub fn insert(&mut self, event: usize) {
        self.0[event / 64] |= 1 << (event % 64);
    }

    /// Removes an event.
    #[inline(always)]
    pub fn remove(&mut self, event: usize) {
        self.0[event / 64] &= !(1 << (event % 64));
    }

    /// Membership.
    #[inline(always)]
    pub fn contains(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 != 0
    }

    /// True if there is no event in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// True if some event is in both.
    #[inline(always)]
    pub fn meets(&self, other: &Row<W>) -> bool {
        (0..W).any(|i| self.0[i] & other.0[i] != 0)
    }

    /// True if every event of this set is in the other.
    #[inline(always)]
    pub fn is_within(&self, other: &Row<W>) -> bool {
        (0..W).all(|i| self.0[i] & !other.0[i] == 0)
    }

    /// Events of this set that are not in the other.
    #[inline(always)]
    pub fn without(&self, other: &Row<W>) -> Row<W> {
        let mut row = *self;
        for i in 0..W {
            row.0[i] &= !other.0[i];
        }
        row
    }

    /// The largest event of the set.
    #[inline(always)]
    pub fn last(&self) -> Option<usize> {
        (0..W).rev().find(|&i| self.0[i] != 0).map(|i| i * 64 + 63 - self.0[i].leading_zeros() as usize)
    }

    /// Removes and returns the smallest event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<usize> {
        for i in 0..W {
            if self.0[i] != 0 {
                let bit = self.0[i].trailing_zeros() as usize;
                self.0[i] &= self.0[i] - 1;
                return Some(i * 64 + bit);
            }
        }
        None
    }

    /// The events, increasing.
    #[inline(always)]
    pub fn iter(self) -> RowIter<W> {
        RowIter(self)
    }
}

/// The events of a row, increasing.
pub struct RowIter<const W: usize>(Row<W>);

impl<const W: usize> Iterator for RowIter<W> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        self.0.pop()
    }
}

impl<const W: usize> BitOr for Row<W> {
    type Output = Row<W>;

    #[inline(always)]
    fn bitor(mut self, other: Row<W>) -> Row<W> {
        self |= other;
        self
    }
}

impl<const W: usize> BitOrAssign for Row<W> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Row<W>) {
        for i in 0..W {
            self.0[i] |= other.0[i];
        }
    }
}

impl<const W: usize> BitAnd for Row<W> {
    type Output = Row<W>;

    #[inline(always)]
    fn bitand(mut self, other: Row<W>) -> Row<W> {
        self &= other;
        self
    }
}

impl<const W: usize> BitAndAssign for Row<W> {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Row<W>) {
        for i in 0..W {
            self.0[i] &= other.0[i];
        }
    }
}

impl<const W: usize> Not for Row<W> {
    type Output = Row<W>;

    #[inline(always)]
    fn not(mut self) -> Row<W> {
        for i in 0..W {
            self.0[i] = !self.0[i];
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_operations_cross_word_borders() {
        let mut a = Row::<2>::single(63) | Row::single(64);
        assert_eq!(a.iter().collect::<Vec<_>>(), vec![63, 64]);
        assert_eq!(a.last(), Some(64));
        assert!(Row::single(63).is_within(&a) && !a.is_within(&Row::single(63)));
        assert_eq!(a.pop(), Some(63));
        assert_eq!(Row::<2>::range(62, 66).without(&a), Row::single(62) | Row::single(63) | Row::single(65));
    }
}
