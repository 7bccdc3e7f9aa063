//! A set of events as ranges of event numbers.
//!
//! Events of a thread have numbers that follow each other, so a set that is closed under program order, such as a prefix or
//! what happens before an event, is one range per thread, however many events there are: a vector clock. Other sets, such as
//! the reads of a write, are small. The ranges are sorted, not empty, and neither overlap nor touch.

use crate::search::row::EventSet;

/// Ranges that are kept without an allocation.
const INLINE: usize = 8;

type Range = (u32, u32);

/// A set of events: `from..to` for each range.
#[derive(Clone, Debug)]
pub struct Ranges(Store);

#[derive(Clone, Debug)]
enum Store {
    Inline(u8, [Range; INLINE]),
    Heap(Vec<Range>),
}

/// A place to build the result of an operation.
struct Builder {
    ranges: Ranges,
    last: Option<Range>,
}

impl Builder {
    fn new() -> Builder {
        Builder { ranges: Ranges::EMPTY, last: None }
    }

    /// Adds a range that begins where the last one begins, or later.
    #[inline(always)]
    fn push(&mut self, range: Range) {
        match &mut self.last {
            Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
            last => {
                if let Some(done) = last.replace(range) {
                    self.ranges.append(done);
                }
            }
        }
    }

    #[inline(always)]
    fn finish(mut self) -> Ranges {
        if let Some(last) = self.last {
            self.ranges.append(last);
        }
        self.ranges
    }
}

impl Ranges {
    #[inline(always)]
    fn slice(&self) -> &[Range] {
        match &self.0 {
            Store::Inline(len, ranges) => &ranges[..*len as usize],
            Store::Heap(ranges) => ranges,
        }
    }

    #[inline(always)]
    fn slice_mut(&mut self) -> &mut [Range] {
        match &mut self.0 {
            Store::Inline(len, ranges) => &mut ranges[..*len as usize],
            Store::Heap(ranges) => ranges,
        }
    }

    /// Adds a range behind all others.
    #[inline(always)]
    fn append(&mut self, range: Range) {
        self.insert_at(self.slice().len(), range);
    }

    fn insert_at(&mut self, at: usize, range: Range) {
        match &mut self.0 {
            Store::Inline(len, ranges) if (*len as usize) < INLINE => {
                ranges.copy_within(at..*len as usize, at + 1);
                ranges[at] = range;
                *len += 1;
            }
            Store::Inline(_, ranges) => {
                let mut heap = Vec::with_capacity(2 * INLINE);
                heap.extend_from_slice(ranges);
                heap.insert(at, range);
                self.0 = Store::Heap(heap);
            }
            Store::Heap(ranges) => ranges.insert(at, range),
        }
    }

    fn remove_at(&mut self, at: usize) {
        match &mut self.0 {
            Store::Inline(len, ranges) => {
                ranges.copy_within(at + 1..*len as usize, at);
                *len -= 1;
            }
            Store::Heap(ranges) => {
                ranges.remove(at);
            }
        }
    }

    /// The first range that ends behind `event`.
    #[inline(always)]
    fn place(&self, event: u32) -> usize {
        place(self.slice(), event)
    }
}

/// The first range that ends behind `event`.
#[inline(always)]
fn place(ranges: &[Range], event: u32) -> usize {
    if ranges.len() <= 8 {
        return ranges.iter().position(|r| r.1 > event).unwrap_or(ranges.len());
    }
    ranges.partition_point(|r| r.1 <= event)
}

impl Default for Ranges {
    fn default() -> Self {
        Ranges::EMPTY
    }
}

impl PartialEq for Ranges {
    fn eq(&self, other: &Ranges) -> bool {
        self.slice() == other.slice()
    }
}

impl Eq for Ranges {}

impl EventSet for Ranges {
    const EMPTY: Ranges = Ranges(Store::Inline(0, [(0, 0); INLINE]));
    type Iter<'a> = RangesIter<'a>;

    fn range(from: usize, to: usize) -> Ranges {
        let mut set = Ranges::EMPTY;
        if from < to {
            set.append((from as u32, to as u32));
        }
        set
    }

    #[inline(always)]
    fn insert(&mut self, event: usize) {
        let event = event as u32;
        let at = self.place(event);
        let ranges = self.slice_mut();
        if ranges.get(at).is_some_and(|r| r.0 <= event) {
            return;
        }
        let joins_next = ranges.get(at).is_some_and(|r| r.0 == event + 1);
        if at > 0 && ranges[at - 1].1 == event {
            ranges[at - 1].1 = event + 1;
            if joins_next {
                ranges[at - 1].1 = ranges[at].1;
                self.remove_at(at);
            }
        } else if joins_next {
            ranges[at].0 = event;
        } else {
            self.insert_at(at, (event, event + 1));
        }
    }

    #[inline(always)]
    fn remove(&mut self, event: usize) {
        let event = event as u32;
        let at = self.place(event);
        let Some(range) = self.slice_mut().get_mut(at).filter(|r| r.0 <= event) else { return };
        let (from, to) = *range;
        match (from == event, to == event + 1) {
            (true, true) => self.remove_at(at),
            (true, false) => range.0 += 1,
            (false, true) => range.1 -= 1,
            (false, false) => {
                range.1 = event;
                self.insert_at(at + 1, (event + 1, to));
            }
        }
    }

    #[inline(always)]
    fn contains(&self, event: usize) -> bool {
        let event = event as u32;
        self.slice().get(self.place(event)).is_some_and(|r| r.0 <= event)
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.slice().is_empty()
    }

    fn meets(&self, other: &Ranges) -> bool {
        let (few, many) = match self.slice().len() <= other.slice().len() {
            true => (self, other),
            false => (other, self),
        };
        // One range of few may meet any of many: the first that ends behind its start, or none.
        few.slice().iter().any(|r| many.slice().get(many.place(r.0)).is_some_and(|m| m.0 < r.1))
    }

    fn is_within(&self, other: &Ranges) -> bool {
        let holds = |r: &Range| other.slice().get(other.place(r.0)).is_some_and(|m| m.0 <= r.0 && r.1 <= m.1);
        self.slice().iter().all(holds)
    }

    fn unite(&mut self, other: &Ranges) {
        let (mine, theirs) = (self.slice(), other.slice());
        if theirs.is_empty() || (theirs.len() <= 2 && other.is_within(self)) {
            return;
        }
        if mine.is_empty() {
            self.clone_from(other);
            return;
        }
        let mut result = Builder::new();
        let (mut i, mut j) = (0, 0);
        while i < mine.len() && j < theirs.len() {
            if mine[i].0 <= theirs[j].0 {
                result.push(mine[i]);
                i += 1;
            } else {
                result.push(theirs[j]);
                j += 1;
            }
        }
        mine[i..].iter().chain(&theirs[j..]).for_each(|&range| result.push(range));
        *self = result.finish();
    }

    fn intersect(&mut self, other: &Ranges) {
        if self.is_within(other) {
            return;
        }
        let (few, many) = match self.slice().len() <= other.slice().len() {
            true => (&*self, other),
            false => (other, &*self),
        };
        let mut result = Ranges::EMPTY;
        for &(from, to) in few.slice() {
            let behind = many.slice()[many.place(from)..].iter().take_while(|m| m.0 < to);
            behind.for_each(|m| result.append((m.0.max(from), m.1.min(to))));
        }
        *self = result;
    }

    fn subtract(&mut self, other: &Ranges) {
        if !self.meets(other) {
            return;
        }
        *self = self.without(other);
    }

    /// From gap to gap of the other set: a prefix has few, and what is between them is passed over.
    fn without(&self, other: &Ranges) -> Ranges {
        let mut result = Ranges::EMPTY;
        let (mut rest, mut from) = (self.slice(), 0);
        let gaps = other.slice().iter().map(|gone| (gone.0, gone.1)).chain([(u32::MAX, u32::MAX)]);
        for (to, next) in gaps {
            while let Some(&range) = rest.first()
                && range.0 < to
            {
                if range.1 > from {
                    result.append((range.0.max(from), range.1.min(to)));
                }
                if range.1 > to {
                    break;
                }
                rest = &rest[1..];
            }
            from = next;
            rest = &rest[place(rest, from)..];
            if rest.is_empty() {
                break;
            }
        }
        result
    }

    #[inline(always)]
    fn last(&self) -> Option<usize> {
        self.slice().last().map(|r| r.1 as usize - 1)
    }

    fn pop(&mut self) -> Option<usize> {
        let first = self.slice().first()?.0 as usize;
        self.remove(first);
        Some(first)
    }

    #[inline(always)]
    fn iter(&self) -> RangesIter<'_> {
        RangesIter { ranges: self.slice().iter(), now: 0..0 }
    }
}

/// The events of a set, increasing.
pub struct RangesIter<'a> {
    ranges: std::slice::Iter<'a, Range>,
    now: std::ops::Range<u32>,
}

impl Iterator for RangesIter<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        loop {
            if let Some(event) = self.now.next() {
                return Some(event as usize);
            }
            let &(from, to) = self.ranges.next()?;
            self.now = from..to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::row::Words;

    /// A generator of numbers that needs no crate.
    fn numbers(mut seed: u64) -> impl FnMut(u64) -> usize {
        move |below| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) % below) as usize
        }
    }

    fn is_sound(set: &Ranges) -> bool {
        set.slice().iter().all(|r| r.0 < r.1) && set.slice().windows(2).all(|w| w[0].1 < w[1].0)
    }

    #[test]
    fn ranges_do_what_words_do() {
        let mut next = numbers(7);
        for _ in 0..20_000 {
            let mut sets = [(Ranges::EMPTY, Words::<2>::EMPTY), (Ranges::EMPTY, Words::<2>::EMPTY)];
            for (ranges, words) in &mut sets {
                for _ in 0..next(12) {
                    let (from, len) = (next(128), next(20));
                    let to = (from + len).min(128);
                    if next(3) == 0 {
                        ranges.subtract(&Ranges::range(from, to));
                        words.subtract(&Words::range(from, to));
                    } else if next(2) == 0 {
                        ranges.unite(&Ranges::range(from, to));
                        words.unite(&Words::range(from, to));
                    } else {
                        (from..to).step_by(3).for_each(|e| ranges.insert(e));
                        (from..to).step_by(3).for_each(|e| words.insert(e));
                    }
                }
                let gone = next(128);
                ranges.remove(gone);
                words.remove(gone);
            }
            let [(a, x), (b, y)] = &sets;
            let same = |r: &Ranges, w: &Words<2>| is_sound(r) && r.iter().eq(w.iter());
            assert!(same(a, x) && same(b, y));
            assert_eq!((a.meets(b), a.is_within(b), a.last()), (x.meets(y), x.is_within(y), x.last()));
            let both = |f: fn(&mut Ranges, &Ranges), g: fn(&mut Words<2>, &Words<2>)| {
                let (mut r, mut w) = (a.clone(), *x);
                f(&mut r, b);
                g(&mut w, y);
                same(&r, &w)
            };
            assert!(both(Ranges::unite, Words::unite));
            assert!(both(Ranges::intersect, Words::intersect));
            assert!(both(Ranges::subtract, Words::subtract));
            assert!(same(&a.without(b), &x.without(y)));
            assert!((0..128).all(|e| a.contains(e) == x.contains(e)));
            let (mut r, mut w) = (a.clone(), *x);
            assert_eq!(r.pop(), w.pop());
            assert!(same(&r, &w));
        }
    }
}
