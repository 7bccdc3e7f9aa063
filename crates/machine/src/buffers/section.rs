//! An atomic section in one step of the search: nobody else can move in it, so the states in its midst are of no use to
//! anybody. Choices branch inside the step; two ways through the section that meet at a choice go on as one.
//!
//! What a section does depends on the local configuration of its thread and on the pages of memory that it touches, and
//! on nothing else, so it is worked out once for each of these and looked up from then on. Sections that start or join
//! threads depend on other slots, too, and are not kept.
//!
//! A section that is longer than the limits here is cut into several steps, whose states are stored like others. So an
//! endless one is found out by the store, and the limits of the search are looked at now and then.

use super::{BufferWorker, Label, Move, Reached};
use crate::local::Status;
use crate::machine::Successors;
use crate::step::Next;
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps between two choices.
const MAX_STEPS: u32 = 4096;
/// Choices in one section.
const MAX_CHOICES: usize = 4096;
/// Words of sections that are kept; beyond that all are forgotten. (They still count as memory: the limit is to be kept,
/// not to be used up.)
const MAX_KEPT: usize = 1 << 20;

/// What was touched while a step was worked out.
#[derive(Clone, Copy, Default)]
pub(super) struct Touched {
    /// Pages, one bit each.
    pub pages: u128,
    /// Something that has no bit: slots of other threads, or a page beyond the last bit.
    pub more: bool,
}

impl Touched {
    pub fn page(&mut self, page: u32) {
        match 1u128.checked_shl(page) {
            Some(bit) => self.pages |= bit,
            None => self.more = true,
        }
    }
}

/// The numbers of the bits that are set, from the lowest.
fn bits(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        bit
    })
}

/// The sections that were worked out.
#[derive(Default)]
pub(super) struct Sections {
    /// The sets of pages that sections of a configuration touched, by its number.
    masks: Vec<Vec<u128>>,
    /// From the configuration, the set and its pages to the exits: where they are in `words`.
    exits: FxHashMap<Box<[u32]>, (usize, usize)>,
    /// Exits: the configuration and the pages of each.
    words: Vec<u32>,
}

impl Sections {
    /// The pages of a set, in one row behind the configuration.
    fn key(pages: &[u32], local: u32, mask: u128, key: &mut Vec<u32>) {
        key.clear();
        key.push(local);
        bits(mask).for_each(|page| key.extend([page as u32, pages[page]]));
    }

    fn find(&self, pages: &[u32], local: u32, key: &mut Vec<u32>) -> Option<(u128, (usize, usize))> {
        self.masks.get(local as usize)?.iter().find_map(|&mask| {
            Sections::key(pages, local, mask, key);
            self.exits.get(key.as_slice()).map(|&place| (mask, place))
        })
    }

    fn keep(&mut self, key: &[u32], mask: u128, exits: &[u32]) {
        if self.words.len() > MAX_KEPT {
            *self = Sections::default();
        }
        let local = key[0] as usize;
        if self.masks.len() <= local {
            self.masks.resize_with(local + 1, Vec::new);
        }
        if !self.masks[local].contains(&mask) {
            self.masks[local].push(mask);
        }
        let start = self.words.len();
        self.words.extend_from_slice(exits);
        self.exits.insert(key.into(), (start, self.words.len()));
    }
}

impl BufferWorker<'_> {
    /// True in the middle of an atomic section.
    pub(super) fn is_in_section(&mut self, row: &[u32], t: usize) -> bool {
        let local = &self.node(row[self.machine.first_thread() + t]).local;
        local.critical && local.status == Status::Running
    }

    /// True if an assumption is false in an atomic section: it keeps everybody from moving on for ever, and nothing comes
    /// of this state.
    pub(super) fn is_void(&mut self, row: &[u32], t: usize) -> bool {
        let local = &self.node(row[self.machine.first_thread() + t]).local;
        local.critical && local.status == Status::Assumed
    }

    fn chooses(&mut self, row: &[u32], t: usize) -> bool {
        matches!(self.node(row[self.machine.first_thread() + t]).next, Next::Choose(..))
    }

    /// All ways from the first step in a section to its end.
    pub(super) fn section(&mut self, row: &[u32], t: usize, first: Move, out: &mut Successors<Label>) {
        if out.wants_labels() {
            self.walk(row, t, first, true, |worker, row, moves| worker.emit(row, || moves, out));
            return;
        }
        let (pages, word) = (self.machine.first_page(), self.machine.first_thread() + t);
        let mut key = std::mem::take(&mut self.key);
        match self.sections.find(&row[pages..], row[word], &mut key) {
            None => self.work_out(row, t, first, &mut key, out),
            Some((mask, (from, to))) => {
                let mut next = std::mem::take(&mut self.exit);
                next.clear();
                next.extend_from_slice(row);
                for at in (from..to).step_by(1 + mask.count_ones() as usize) {
                    next[word] = self.sections.words[at];
                    let numbers = &self.sections.words[at + 1..];
                    bits(mask).zip(numbers).for_each(|(page, &number)| next[pages + page] = number);
                    self.emit(&next, Vec::new, out);
                }
                self.exit = next;
            }
        }
        self.key = key;
    }

    /// Walks through a section and keeps what comes of it.
    fn work_out(
        &mut self,
        row: &[u32],
        t: usize,
        first: Move,
        key: &mut Vec<u32>,
        out: &mut Successors<Label>,
    ) {
        let (pages, word) = (self.machine.first_page(), self.machine.first_thread() + t);
        self.touched = Touched::default();
        let mut ends: Vec<Vec<u32>> = Vec::new();
        self.walk(row, t, first, false, |_, row, _| ends.push(row.to_vec()));
        // Many ways lead to the same end.
        ends.sort_unstable();
        ends.dedup();
        let touched = self.touched;
        if !touched.more {
            let mut exits = Vec::new();
            for end in &ends {
                exits.push(end[word]);
                exits.extend(bits(touched.pages).map(|page| end[pages + page]));
            }
            Sections::key(&row[pages..], row[word], touched.pages, key);
            self.machine.note_cache(4 * (key.len() + exits.len()) + 128);
            self.sections.keep(key, touched.pages, &exits);
        }
        ends.iter().for_each(|end| self.emit(end, Vec::new, out));
    }

    fn walk(
        &mut self,
        row: &[u32],
        t: usize,
        first: Move,
        labels: bool,
        mut end: impl FnMut(&mut Self, &[u32], Vec<Move>),
    ) {
        let mut open: Vec<(Vec<u32>, Vec<Move>)> = vec![(row.to_vec(), vec![first])];
        let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
        let mut reached = Reached::default();
        while let Some((mut row, mut moves)) = open.pop() {
            let mut steps = 0;
            let mut again = false;
            reached.clear();
            while self.is_in_section(&row, t) && steps < MAX_STEPS {
                if self.chooses(&row, t) {
                    if seen.len() >= MAX_CHOICES {
                        break;
                    }
                    again = !seen.insert(row.clone());
                    if again {
                        break;
                    }
                }
                self.one_step(&row, t, &mut reached);
                if reached.moves.len() != 1 {
                    break;
                }
                row.copy_from_slice(&reached.rows);
                if labels {
                    moves.push(reached.moves[0]);
                }
                reached.clear();
                steps += 1;
            }
            for (next, step) in reached.iter(row.len()) {
                let mut moves = moves.clone();
                if labels {
                    moves.push(step);
                }
                open.push((next.to_vec(), moves));
            }
            if reached.moves.is_empty() && !again && !self.is_void(&row, t) {
                end(self, &row, moves);
            }
        }
    }
}
