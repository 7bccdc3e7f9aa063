//! What several workers find, in the order in which one alone would find it.
//!
//! A *position* is the way from the root of the search tree: at each step, which visit it is among those that its parent makes.
//! Positions in lexicographic order are the order of the search. What a worker finds between two changes of its place in that
//! order (it takes work, or gives some away) is a *segment*; segments in the order of their beginnings are what one worker would
//! have found, up to the first error where that ends the search. So neither counts nor traces depend on the number of workers.

use crate::collect::{Collector, Stats};

/// A place in the search tree.
pub type Position = Vec<u32>;

/// What a worker found from a place on, up to the next one where something else begins.
pub struct Segment<'a> {
    start: Position,
    /// The worker's counters at the start.
    base: Stats,
    collector: Collector<'a>,
}

/// Where a worker is, and what it has found before the current segment.
#[derive(Default)]
pub struct Progression<'a> {
    /// Whether there are others, so that positions matter.
    pub shared: bool,
    position: Position,
    start: Position,
    base: Stats,
    done: Vec<Segment<'a>>,
}

impl<'a> Progression<'a> {
    /// At the root.
    pub fn new(shared: bool) -> Progression<'a> {
        Progression { shared, ..Progression::default() }
    }

    /// A visit begins.
    #[inline(always)]
    pub fn enter(&mut self) {
        if self.shared {
            self.skip();
            self.position.push(0);
        }
    }

    /// It ends.
    #[inline(always)]
    pub fn leave(&mut self) {
        if self.shared {
            self.position.pop();
        }
    }

    /// A visit is left to somebody else.
    #[inline(always)]
    fn skip(&mut self) {
        if let Some(last) = self.position.last_mut() {
            *last += 1;
        }
    }

    /// The place of the visit.
    pub fn position(&self) -> &[u32] {
        &self.position
    }

    /// The next visit was given away: what comes after it is another segment.
    #[cold]
    pub fn gave(&mut self, collector: &mut Collector<'a>) {
        self.skip();
        // Behind all places in what was given away.
        let start = self.position.iter().copied().chain([u32::MAX]).collect();
        self.close(collector, start);
    }

    /// Work from another worker begins, whose position this was when it gave it away.
    #[cold]
    pub fn took(&mut self, collector: &mut Collector<'a>, giver: Position) {
        self.position = giver;
        let mut start = self.position.clone();
        if let Some(last) = start.last_mut() {
            *last += 1;
        }
        self.close(collector, start);
    }

    fn close(&mut self, collector: &mut Collector<'a>, start: Position) {
        let fresh = collector.fresh();
        let base = std::mem::replace(&mut self.base, fresh.stats);
        let collector = std::mem::replace(collector, fresh);
        self.done.push(Segment { start: std::mem::replace(&mut self.start, start), base, collector });
    }

    /// All segments.
    pub fn finish(mut self, collector: Collector<'a>) -> Vec<Segment<'a>> {
        self.done.push(Segment { start: self.start, base: self.base, collector });
        self.done
    }
}

/// What one worker would have found.
pub fn in_order<'a>(mut segments: Vec<Segment<'a>>, mut found: Collector<'a>) -> Collector<'a> {
    segments.sort_by(|a, b| a.start.cmp(&b.start));
    for segment in segments {
        let ends = segment.collector.ends_search();
        found.merge(segment.collector, &segment.base);
        if ends {
            break;
        }
    }
    found
}
