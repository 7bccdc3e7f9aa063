//! Where a worker is in the search tree, and what several workers find, in the order in which one alone would find it.
//!
//! A *position* is the way from the root of the search tree: at each step, which visit it is among those that its parent makes.
//! Positions in lexicographic order are the order of the search. What a worker finds between two changes of its place in that
//! order (it takes other work) is a *segment*; segments in the order of their beginnings are what one worker would
//! have found, up to the first error where that ends the search. So neither counts nor traces depend on the number of workers.
//!
//! The search is the same whoever does it, so a position is also all that one must know to be there again: an [`Item`] is work
//! as data, and a worker that begins with one goes down its path without counting anything.

use crate::findings::collect::{Collector, Stats};
use crate::work::found::Found;
use crate::work::item::{Item, Position};

/// One in so many steps on the way to a visit is given away with all that comes behind it there.
const SHARE: usize = 4;

/// Whoever takes work makes the visits on the way to it once more: so many visits are made for each of them before more is given
/// away.
const WORTH: u64 = 8;

/// A node that has made so many visits may make many more.
const WIDE: u32 = 8;

/// Part of a worker's work, for another one of the same process.
pub struct Share {
    item: Item,
    /// Of the visits that the node at the root of the item makes, those beyond this one are not part of it.
    last: u32,
}

impl From<Item> for Share {
    fn from(item: Item) -> Share {
        Share { item, last: u32::MAX }
    }
}

/// What a worker found from a place on, up to the next one where something else begins.
pub struct Segment<'a> {
    pub(crate) start: Position,
    /// The worker's counters at the start.
    pub(crate) base: Stats,
    pub(crate) collector: Collector<'a>,
}

/// Where a worker is, and what it has found before the current segment.
#[derive(Default)]
pub struct Progression<'a> {
    /// Whether positions matter: there are others, or the search may be interrupted and taken up again.
    pub tracked: bool,
    /// It goes down the path of an item: what it passes was visited before, by whoever made the item.
    pub replaying: bool,
    /// It was interrupted, has noted where, and is on the way back.
    pub interrupted: bool,
    /// What comes now is not given away.
    pub holds: bool,
    /// A graph that nobody can extend is being looked at.
    pub finishing: bool,
    position: Position,
    /// The path of the item, and how much of it leads to its subtree.
    path: Position,
    root: usize,
    /// As of a [`Share`].
    last: u32,
    /// How many visits the worker has made, at least, when it gives work away again.
    gives_at: u64,
    /// How many steps of the path were found.
    reached: usize,
    start: Position,
    base: Stats,
    done: Vec<Segment<'a>>,
    rests: Vec<Item>,
    /// A path that led nowhere: the item is not one of this search.
    lost: bool,
    /// It goes down the path of an item, and not beyond, to see how many visits there are at each step.
    pub surveys: bool,
    children: Vec<u32>,
}

/// What is left of a worker: what it found, what it did not come to, and whether it got lost on the way to an item.
pub struct Ended<'a> {
    pub(crate) segments: Vec<Segment<'a>>,
    pub(crate) rests: Vec<Item>,
    pub(crate) lost: bool,
    pub(crate) children: Vec<u32>,
}

impl<'a> Progression<'a> {
    /// At the root.
    pub fn new(tracked: bool, surveys: bool) -> Progression<'a> {
        Progression { tracked, surveys, last: u32::MAX, ..Progression::default() }
    }

    /// A visit is about to begin; false if it is none of this worker's.
    #[inline(always)]
    pub fn enter(&mut self) -> bool {
        if self.interrupted {
            return false;
        }
        self.skip();
        if (self.replaying || self.position.len() <= self.root + 1) && !self.is_own() {
            return false;
        }
        self.position.push(0);
        true
    }

    /// It ends.
    #[inline(always)]
    pub fn leave(&mut self) {
        let visits = self.position.pop();
        if self.replaying || self.surveys {
            self.pass(visits.unwrap_or_default());
        }
    }

    /// A visit on the path of the item ends. If it is the last but one and the last was not there, what comes is behind the path.
    #[cold]
    fn pass(&mut self, visits: u32) {
        let level = self.position.len();
        if self.surveys {
            self.children.resize(self.children.len().max(level + 1), 0);
            self.children[level] = visits;
        } else if level == self.reached && level + 1 == self.path.len() {
            self.replaying = false;
        }
    }

    /// Whether the visit is on the path of the item, or behind it within its subtree.
    #[cold]
    fn is_own(&mut self) -> bool {
        let level = self.position.len();
        if let Some(step) = level.checked_sub(1) {
            let number = self.position[step];
            if step == self.root && number > self.last {
                return false;
            }
            let elsewhere = |expected: u32| {
                number != expected && (number < expected || step < self.root || self.replaying)
            };
            if self.path.get(step).is_some_and(|&expected| elsewhere(expected)) {
                return false;
            }
        }
        if self.surveys && level == self.path.len() {
            return false;
        }
        if self.replaying {
            self.reached = level;
            self.replaying = level < self.path.len();
        }
        true
    }

    /// A visit is left to somebody else.
    #[inline(always)]
    fn skip(&mut self) {
        if let Some(last) = self.position.last_mut() {
            *last += 1;
        }
    }

    /// The place of the visit.
    pub fn here(&self) -> &[u32] {
        &self.position[..self.position.len().saturating_sub(1)]
    }

    /// Whether part of the work may be given away, after so many visits; `at_once` if the part before had nothing in it.
    pub fn may_give(&self, visits: u64, at_once: bool) -> bool {
        !self.replaying
            && !self.interrupted
            && !self.holds
            && (visits >= self.gives_at || at_once)
            && self.position.len() > self.root + 1
    }

    /// Takes what comes last off the work of this worker: the visits that are still to come at the steps nearest to its root.
    /// Most of
    /// the work is there. How many there are at a step is not known before they are made, and there may be none: a
    /// quarter of the steps goes, so that whoever asks again and again has soon got some that have. Of a node that has made
    /// many visits as many more are kept, where `ranges` may be shared out; otherwise two workers would hand them
    /// to and fro.
    #[cold]
    pub fn part(&mut self, ranges: bool, visits: u64) -> Option<Share> {
        let level = self.here().len();
        self.gives_at = visits + WORTH * level as u64;
        let mut at = self.root + level.checked_sub(self.root)? / SHARE;
        let is_last = self.position.get(self.root).is_some_and(|&made| made == self.last);
        at += usize::from(at == self.root && is_last);
        if at >= level {
            return None;
        }
        let made = self.position[at];
        let kept = match at == self.root && self.last != u32::MAX {
            true => made + (self.last - made) / 2,
            false if ranges && made >= WIDE => made.saturating_mul(2),
            false => made,
        };
        let mut path = self.position[..=at].to_vec();
        path[at] = kept.checked_add(1)?;
        let item = Item::new(self.root, path)?;
        let last = std::mem::replace(&mut self.last, u32::MAX);
        if kept == made {
            (self.root, self.path) = (at + 1, self.position[..=at].to_vec());
        } else {
            (self.root, self.path, self.last) = (at, self.position[..at].to_vec(), kept);
        }
        Some(Share { item, last })
    }

    /// An item begins, from the root of the tree.
    #[cold]
    pub fn begin(&mut self, collector: &mut Collector<'a>, Share { item, last }: &Share) {
        (self.root, self.path, self.last) = (item.root(), item.path().to_vec(), *last);
        self.gives_at = collector.stats.nodes + WORTH * self.path.len() as u64;
        self.position.clear();
        (self.reached, self.interrupted) = (0, false);
        self.replaying = !self.path.is_empty();
        self.close(collector, item.path().to_vec());
    }

    /// It ends. If there is no visit where its path ends, there must be one above that.
    #[cold]
    pub fn end(&mut self) {
        self.lost |= self.replaying && !self.interrupted && self.reached + 1 < self.path.len();
        self.replaying = false;
    }

    /// The search is interrupted before the current visit.
    #[cold]
    pub fn interrupt(&mut self) {
        let path = if self.replaying { self.path.clone() } else { self.here().to_vec() };
        self.rest(path);
    }

    /// The search is interrupted before the next visit within the current one.
    #[cold]
    pub fn interrupt_within(&mut self) {
        let mut path = self.position.clone();
        if self.replaying {
            path.clone_from(&self.path);
        } else if let Some(last) = path.last_mut() {
            *last += 1;
        }
        self.rest(path);
    }

    fn rest(&mut self, path: Position) {
        if !self.interrupted {
            self.rests.extend(Item::new(self.root.min(path.len()), path));
        }
        self.interrupted = true;
    }

    fn close(&mut self, collector: &mut Collector<'a>, start: Position) {
        let fresh = collector.fresh();
        let base = std::mem::replace(&mut self.base, fresh.stats);
        let collector = std::mem::replace(collector, fresh);
        self.done.push(Segment { start: std::mem::replace(&mut self.start, start), base, collector });
    }

    /// All segments, and what is left.
    pub fn finish(mut self, collector: Collector<'a>) -> Ended<'a> {
        self.done.push(Segment { start: self.start, base: self.base, collector });
        Ended { segments: self.done, rests: self.rests, lost: self.lost, children: self.children }
    }
}

impl<'a> Ended<'a> {
    /// What is left of another worker, too.
    pub fn add(&mut self, other: Ended<'a>) {
        self.segments.extend(other.segments);
        self.rests.extend(other.rests);
        self.lost |= other.lost;
    }
}

/// Parts of a search in its order, up to the first error where that ends it: what one worker would have found.
pub fn in_order(mut found: Vec<(Position, Found)>) -> Vec<(Position, Found)> {
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(last) = found.iter().position(|(_, part)| part.ended.is_some()) {
        found.truncate(last + 1);
    }
    found
}
