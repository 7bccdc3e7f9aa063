//! A set of events: one row of a relation. How it is kept is chosen per program, by the type parameter `W`: as a few machine
//! words ([`Words`]), so that the set operations of the inner loop are a few instructions without a loop bound to check, or, for
//! programs with more events, as ranges ([`crate::search::ranges::Ranges`]), whose cost follows what is in the set.

use crate::search::ranges::Ranges;
use std::fmt::Debug;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign};

/// How rows are kept: a type without values, for the parameter `W` of whatever has rows.
pub trait RowWidth: Copy + Default + PartialEq + Eq + Debug + Send + Sync + 'static {
    /// The sets.
    type Set: EventSet;
    /// A row without events, to be lent to anybody.
    fn empty() -> &'static Row<Self>;
}

/// What a row must be able to do. The events are numbers below a bound that whoever chose the width knows.
pub trait EventSet: Clone + Default + PartialEq + Eq + Debug + Send + Sync {
    /// No event.
    const EMPTY: Self;
    /// The events of a set, increasing.
    type Iter<'a>: Iterator<Item = usize>
    where
        Self: 'a;
    /// The events `from..to`.
    fn range(from: usize, to: usize) -> Self;
    /// Adds an event.
    fn insert(&mut self, event: usize);
    /// Removes an event.
    fn remove(&mut self, event: usize);
    /// Membership.
    fn contains(&self, event: usize) -> bool;
    /// True if there is no event in it.
    fn is_empty(&self) -> bool;
    /// True if some event is in both.
    fn meets(&self, other: &Self) -> bool;
    /// True if every event of this set is in the other.
    fn is_within(&self, other: &Self) -> bool;
    /// Adds the events of the other set.
    fn unite(&mut self, other: &Self);
    /// Keeps the events that are in the other set too.
    fn intersect(&mut self, other: &Self);
    /// Removes the events that are in the other set too.
    fn subtract(&mut self, other: &Self);
    /// Events of this set that are not in the other.
    #[inline(always)]
    fn without(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.subtract(other);
        set
    }
    /// The largest event.
    fn last(&self) -> Option<usize>;
    /// Removes and returns the smallest event.
    fn pop(&mut self) -> Option<usize>;
    /// The events, increasing.
    fn iter(&self) -> Self::Iter<'_>;
}

/// The forms of rows, narrow ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum RowForm {
    Words1,
    Words2,
    Words4,
    Words8,
    Words16,
    Ranges,
}

impl RowForm {
    /// All of them.
    pub const ALL: [RowForm; 6] = [
        RowForm::Words1,
        RowForm::Words2,
        RowForm::Words4,
        RowForm::Words8,
        RowForm::Words16,
        RowForm::Ranges,
    ];

    /// The narrowest form that has room for that many events.
    pub fn for_events(events: usize) -> RowForm {
        RowForm::ALL.into_iter().find(|form| events <= form.events()).unwrap_or(RowForm::Ranges)
    }

    /// How many events it has room for.
    pub fn events(self) -> usize {
        match self {
            RowForm::Words1 => 64,
            RowForm::Words2 => 128,
            RowForm::Words4 => 256,
            RowForm::Words8 => 512,
            RowForm::Words16 => 1024,
            RowForm::Ranges => usize::MAX,
        }
    }
}

/// Rows of `N` machine words, for at most `64 * N` events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dense<const N: usize>;

impl<const N: usize> RowWidth for Dense<N> {
    type Set = Words<N>;

    #[inline(always)]
    fn empty() -> &'static Row<Self> {
        const { &Row(Words::EMPTY) }
    }
}

/// Rows of ranges, for any number of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sparse;

impl RowWidth for Sparse {
    type Set = Ranges;

    #[inline(always)]
    fn empty() -> &'static Row<Self> {
        const { &Row(Ranges::EMPTY) }
    }
}

/// A set of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row<W: RowWidth>(W::Set);

impl<W: RowWidth> Default for Row<W> {
    fn default() -> Self {
        Row::EMPTY
    }
}

impl<W: RowWidth> Row<W> {
    /// No event.
    pub const EMPTY: Row<W> = Row(W::Set::EMPTY);

    /// One event.
    #[inline(always)]
    pub fn single(event: usize) -> Row<W> {
        let mut row = Row::EMPTY;
        row.insert(event);
        row
    }

    /// The events `from..to`.
    pub fn range(from: usize, to: usize) -> Row<W> {
        Row(W::Set::range(from, to))
    }

    /// Adds an event.
    #[inline(always)]
    pub fn insert(&mut self, event: usize) {
        self.0.insert(event);
    }

    /// Removes an event.
    #[inline(always)]
    pub fn remove(&mut self, event: usize) {
        self.0.remove(event);
    }

    /// This set and one more event.
    #[inline(always)]
    pub fn and(&self, event: usize) -> Row<W> {
        let mut row = self.clone();
        row.insert(event);
        row
    }

    /// Membership.
    #[inline(always)]
    pub fn contains(&self, event: usize) -> bool {
        self.0.contains(event)
    }

    /// True if there is no event in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if some event is in both.
    #[inline(always)]
    pub fn meets(&self, other: &Row<W>) -> bool {
        self.0.meets(&other.0)
    }

    /// True if every event of this set is in the other.
    #[inline(always)]
    pub fn is_within(&self, other: &Row<W>) -> bool {
        self.0.is_within(&other.0)
    }

    /// Events of this set that are not in the other.
    #[inline(always)]
    pub fn without(&self, other: &Row<W>) -> Row<W> {
        Row(self.0.without(&other.0))
    }

    /// The largest event of the set.
    #[inline(always)]
    pub fn last(&self) -> Option<usize> {
        self.0.last()
    }

    /// Removes and returns the smallest event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<usize> {
        self.0.pop()
    }

    /// The events, increasing.
    #[inline(always)]
    pub fn iter(&self) -> <W::Set as EventSet>::Iter<'_> {
        self.0.iter()
    }
}

/// A row that is mostly empty: then nothing but a mark is written, and nothing is copied. That matters where rows are wide.
#[derive(Debug)]
pub struct RareRow<W: RowWidth> {
    /// Means something only if there is something in it.
    row: Row<W>,
    is_filled: bool,
}

impl<W: RowWidth> RareRow<W> {
    /// The row.
    #[inline(always)]
    pub fn row(&self) -> &Row<W> {
        if self.is_filled { &self.row } else { W::empty() }
    }

    /// The row, if there is something in it.
    #[inline(always)]
    pub fn filled(&self) -> Option<&Row<W>> {
        self.is_filled.then_some(&self.row)
    }

    /// Sets the row.
    #[inline(always)]
    pub fn set(&mut self, row: Row<W>) {
        self.is_filled = !row.is_empty();
        if self.is_filled {
            self.row = row;
        }
    }

    /// There is nothing in it any more.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.is_filled = false;
    }

    /// Adds the events of another one.
    #[inline(always)]
    pub fn unite(&mut self, other: &RareRow<W>) {
        match other.filled() {
            Some(row) if self.is_filled => self.row |= row,
            Some(_) => self.clone_from(other),
            None => {}
        }
    }
}

impl<W: RowWidth> Default for RareRow<W> {
    fn default() -> Self {
        RareRow { row: Row::EMPTY, is_filled: false }
    }
}

impl<W: RowWidth> Clone for RareRow<W> {
    fn clone(&self) -> Self {
        RareRow { row: self.row().clone(), is_filled: self.is_filled }
    }

    #[inline(always)]
    fn clone_from(&mut self, other: &Self) {
        self.is_filled = other.is_filled;
        // To copy a word or two is less than to look whether there is something in it.
        if self.is_filled || size_of::<Row<W>>() <= 16 {
            self.row.clone_from(&other.row);
        }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $set_method:ident) => {
        impl<W: RowWidth> $assign<&Row<W>> for Row<W> {
            #[inline(always)]
            fn $assign_method(&mut self, other: &Row<W>) {
                self.0.$set_method(&other.0);
            }
        }

        impl<W: RowWidth> $assign<Row<W>> for Row<W> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Row<W>) {
                self.0.$set_method(&other.0);
            }
        }

        impl<W: RowWidth> $trait<&Row<W>> for Row<W> {
            type Output = Row<W>;

            #[inline(always)]
            fn $method(mut self, other: &Row<W>) -> Row<W> {
                self.0.$set_method(&other.0);
                self
            }
        }

        impl<W: RowWidth> $trait<Row<W>> for Row<W> {
            type Output = Row<W>;

            #[inline(always)]
            fn $method(mut self, other: Row<W>) -> Row<W> {
                self.0.$set_method(&other.0);
                self
            }
        }

        impl<W: RowWidth> $trait<&Row<W>> for &Row<W> {
            type Output = Row<W>;

            #[inline(always)]
            fn $method(self, other: &Row<W>) -> Row<W> {
                self.clone().$method(other)
            }
        }

        impl<W: RowWidth> $trait<Row<W>> for &Row<W> {
            type Output = Row<W>;

            #[inline(always)]
            fn $method(self, mut other: Row<W>) -> Row<W> {
                other.0.$set_method(&self.0);
                other
            }
        }
    };
}

operator!(BitOr, bitor, BitOrAssign, bitor_assign, unite);
operator!(BitAnd, bitand, BitAndAssign, bitand_assign, intersect);

/// A set as `N` machine words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Words<const N: usize>([u64; N]);

impl<const N: usize> Default for Words<N> {
    fn default() -> Self {
        Words::EMPTY
    }
}

impl<const N: usize> EventSet for Words<N> {
    const EMPTY: Words<N> = Words([0; N]);
    type Iter<'a> = WordsIter<N>;

    fn range(from: usize, to: usize) -> Self {
        let mut set = Words::EMPTY;
        for (i, word) in set.0.iter_mut().enumerate() {
            let below = |end: usize| match end.saturating_sub(i * 64) {
                n @ 0..64 => (1 << n) - 1,
                _ => u64::MAX,
            };
            *word = below(to) & !below(from);
        }
        set
    }

    #[inline(always)]
    fn insert(&mut self, event: usize) {
        self.0[event / 64] |= 1 << (event % 64);
    }

    #[inline(always)]
    fn remove(&mut self, event: usize) {
        self.0[event / 64] &= !(1 << (event % 64));
    }

    #[inline(always)]
    fn contains(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 != 0
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        (0..N).any(|i| self.0[i] & other.0[i] != 0)
    }

    #[inline(always)]
    fn is_within(&self, other: &Self) -> bool {
        (0..N).all(|i| self.0[i] & !other.0[i] == 0)
    }

    #[inline(always)]
    fn unite(&mut self, other: &Self) {
        (0..N).for_each(|i| self.0[i] |= other.0[i]);
    }

    #[inline(always)]
    fn intersect(&mut self, other: &Self) {
        (0..N).for_each(|i| self.0[i] &= other.0[i]);
    }

    #[inline(always)]
    fn subtract(&mut self, other: &Self) {
        (0..N).for_each(|i| self.0[i] &= !other.0[i]);
    }

    #[inline(always)]
    fn last(&self) -> Option<usize> {
        (0..N).rev().find(|&i| self.0[i] != 0).map(|i| i * 64 + 63 - self.0[i].leading_zeros() as usize)
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<usize> {
        for i in 0..N {
            if self.0[i] != 0 {
                let bit = self.0[i].trailing_zeros() as usize;
                self.0[i] &= self.0[i] - 1;
                return Some(i * 64 + bit);
            }
        }
        None
    }

    #[inline(always)]
    fn iter(&self) -> WordsIter<N> {
        WordsIter(*self, 0)
    }
}

/// The events of a set, increasing; the second part is the word that it has come to.
pub struct WordsIter<const N: usize>(Words<N>, usize);

impl<const N: usize> Iterator for WordsIter<N> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.1 < N {
            let word = &mut self.0.0[self.1];
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(self.1 * 64 + bit);
            }
            self.1 += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_operations_cross_word_borders<W: RowWidth>() {
        let mut a = Row::<W>::single(63).and(64);
        assert_eq!(a.iter().collect::<Vec<_>>(), vec![63, 64]);
        assert_eq!(a.last(), Some(64));
        assert!(Row::single(63).is_within(&a) && !a.is_within(&Row::single(63)));
        assert_eq!(a.pop(), Some(63));
        assert_eq!(Row::range(62, 66).without(&a), Row::single(62) | Row::single(63) | Row::single(65));
        assert!(Row::<W>::range(5, 5).is_empty());
    }

    #[test]
    fn words_cross_their_borders() {
        set_operations_cross_word_borders::<Dense<2>>();
        set_operations_cross_word_borders::<Dense<16>>();
        assert_eq!(Row::<Dense<2>>::range(0, 128).iter().count(), 128);
    }

    fn rare_rows_are_rows<W: RowWidth>() {
        let (mut rare, mut other) = (RareRow::<W>::default(), RareRow::<W>::default());
        assert!(rare.row().is_empty() && rare.filled().is_none());
        other.set(Row::single(3));
        rare.unite(&other);
        rare.unite(&RareRow::default());
        assert_eq!(rare.row(), &Row::single(3));
        rare.set(Row::single(100));
        rare.unite(&other);
        assert_eq!(rare.clone().filled(), Some(&Row::single(3).and(100)));
        // What was there before is not seen any more.
        other.set(Row::EMPTY);
        rare.clone_from(&other);
        assert!(rare.row().is_empty() && rare.filled().is_none() && rare.clone().row().is_empty());
        other.set(Row::single(5));
        rare.unite(&other);
        assert_eq!(rare.row(), &Row::single(5));
        rare.clear();
        assert!(rare.filled().is_none());
    }

    #[test]
    fn rows_that_are_mostly_empty_are_rows() {
        rare_rows_are_rows::<Dense<2>>();
        rare_rows_are_rows::<Dense<16>>();
        rare_rows_are_rows::<Sparse>();
    }

    #[test]
    fn the_narrowest_form_has_room() {
        for (events, form) in [(0, RowForm::Words1), (64, RowForm::Words1), (65, RowForm::Words2)] {
            assert_eq!(RowForm::for_events(events), form);
        }
        assert_eq!(RowForm::for_events(1024), RowForm::Words16);
        assert_eq!(RowForm::for_events(1025), RowForm::Ranges);
    }

    #[test]
    fn ranges_cross_the_same_borders() {
        set_operations_cross_word_borders::<Sparse>();
    }
}
