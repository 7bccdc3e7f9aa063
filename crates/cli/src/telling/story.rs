//! The execution behind a finding as a story for a programmer: all steps in one order that explains them.
//!
//! The order is an interleaving of the threads, each in program order. As far as there is one, it agrees with memory: a
//! write comes before the reads of it, an older write before a newer one, a read before the writes that it does not see.
//! Under a weak model that can be impossible; then the order gives up as little as it can, and the step says what it does
//! not see, or sees early.

use fencepost_answer::trace::{Action, Event, Made, Seen};
use std::collections::{BTreeMap, BTreeSet};

/// A step: a thread and an index in it.
pub type StepId = (usize, usize);

/// How much a step that comes now disagrees with memory; nothing is best.
mod penalty {
    /// A write before a read that does not see it: that read will have a note.
    pub const UNSEEN: u32 = 2;
    /// A read of an old value.
    pub const STALE: u32 = 4;
    /// A join, so that the others come to their end first.
    pub const JOIN: u32 = 5;
    /// The use of an object before the end of its life, where the story is about what comes after that.
    pub const TOO_SOON: u32 = 8;
    /// A write before an older write of the cell.
    pub const OVERTAKES: u32 = 10;
    /// A read of a write that comes later.
    pub const EARLY: u32 = 100;
}

/// A step with what is strange about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Which.
    pub step: StepId,
    /// What it does not agree with.
    pub note: Option<Note>,
}

/// Why a step does not fit into an interleaving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// A read does not see `missed`, the oldest newer write before it; `seen` is a read before it in its thread of a
    /// write that comes after `missed` in the thread that made both.
    Stale { missed: StepId, more: usize, seen: Option<StepId> },
    /// A read sees a write that comes later.
    Early,
    /// A write that a newer one has overtaken.
    Overtaken { by: StepId },
}

/// All steps in an order that explains them. `is_update` says of a read and the step after it in its thread whether they
/// are one read-modify-write; such steps stay together.
/// Of `last`, the second step comes after the first one, where memory lets it.
pub fn tell(
    threads: &[Vec<Event>],
    last: Option<(StepId, StepId)>,
    is_update: &dyn Fn(StepId, StepId) -> bool,
) -> Vec<Told> {
    let mut order = Order { threads, next: vec![0; threads.len()], current: 0, last, is_update };
    let mut told = Vec::new();
    while let Some(thread) = order.choose() {
        loop {
            let step = (thread, order.next[thread]);
            told.push(Told { step, note: order.note(step) });
            order.next[thread] += 1;
            if !order.goes_on(step) {
                break;
            }
        }
        order.current = thread;
    }
    told
}

struct Order<'a> {
    threads: &'a [Vec<Event>],
    /// How many steps of each thread were told.
    next: Vec<usize>,
    current: usize,
    last: Option<(StepId, StepId)>,
    is_update: &'a dyn Fn(StepId, StepId) -> bool,
}

impl<'a> Order<'a> {
    /// The thread whose step comes next: the one that disagrees least, the current one if there is a choice.
    fn choose(&self) -> Option<usize> {
        let ready = (0..self.threads.len()).filter(|&t| self.is_ready(t));
        ready.min_by_key(|&t| (self.penalty(t), t != self.current, t))
    }

    fn action(&self, (thread, index): StepId) -> Option<&'a Action> {
        self.threads.get(thread)?.get(index).map(|step| &step.action)
    }

    fn is_told(&self, (thread, index): StepId) -> bool {
        self.next.get(thread).is_some_and(|&next| index < next)
    }

    fn steps(&self) -> impl Iterator<Item = (StepId, &'a Action)> {
        let threads = self.threads.iter().enumerate();
        threads.flat_map(|(t, steps)| steps.iter().enumerate().map(move |(i, s)| ((t, i), &s.action)))
    }

    /// The writes of a cell with their places in the coherence order.
    fn writes(&self, cell: u32) -> impl Iterator<Item = (StepId, u32)> {
        self.steps().filter_map(move |(step, action)| match action {
            Action::Write { cell: written, made, .. } if written.id == cell => Some((step, made.place)),
            _ => None,
        })
    }

    fn is_ready(&self, thread: usize) -> bool {
        let Some(action) = self.action((thread, self.next[thread])) else { return false };
        let starts = |action: &Action| matches!(action, Action::Spawn(t) if *t as usize == thread);
        let started = self.steps().all(|(id, action)| !starts(action) || self.is_told(id));
        let joined = match action {
            Action::Join(Some(thread)) => {
                let other = *thread as usize;
                self.threads.get(other).is_none_or(|steps| self.next[other] == steps.len())
            }
            _ => true,
        };
        started && joined
    }

    /// Whether the next step of the thread belongs to this one.
    fn goes_on(&self, (thread, index): StepId) -> bool {
        let next = (thread, index + 1);
        self.action(next).is_some() && (self.is_update)((thread, index), next)
    }

    fn penalty(&self, thread: usize) -> u32 {
        let step = (thread, self.next[thread]);
        match self.goes_on(step) {
            true => self.penalty_of(step).max(self.penalty_of((thread, step.1 + 1))),
            false => self.penalty_of(step),
        }
    }

    fn penalty_of(&self, step: StepId) -> u32 {
        if self.last.is_some_and(|(first, then)| then == step && !self.is_told(first)) {
            return penalty::TOO_SOON;
        }
        match self.action(step) {
            Some(Action::Read { cell, seen, .. }) => {
                if seen.from.is_some_and(|(t, i)| !self.is_told((t as usize, i as usize))) {
                    return penalty::EARLY;
                }
                let newer = self.writes(cell.id).any(|(id, other)| other > seen.place && self.is_told(id));
                if newer { penalty::STALE } else { 0 }
            }
            Some(Action::Write { cell, made: Made { place, .. }, .. }) => {
                if self.writes(cell.id).any(|(id, other)| other < *place && !self.is_told(id)) {
                    return penalty::OVERTAKES;
                }
                let own = step;
                let older = |action: &Action| match action {
                    Action::Read { cell: read, seen, .. } => read.id == cell.id && seen.place < *place,
                    _ => false,
                };
                let unseen = self.steps().any(|(step, action)| {
                    !self.is_told(step) && !(self.is_update)(step, own) && older(action)
                });
                if unseen { penalty::UNSEEN } else { 0 }
            }
            Some(Action::Join(_)) => penalty::JOIN,
            _ => 0,
        }
    }

    fn note(&self, step: StepId) -> Option<Note> {
        match self.action(step)? {
            Action::Read { cell, seen, .. } => {
                if seen.from.is_some_and(|(t, i)| !self.is_told((t as usize, i as usize))) {
                    return Some(Note::Early);
                }
                let newer =
                    self.writes(cell.id).filter(|&(id, other)| other > seen.place && self.is_told(id));
                let newer: BTreeMap<u32, StepId> = newer.map(|(id, place)| (place, id)).collect();
                let &missed = newer.values().next()?;
                Some(Note::Stale { missed, more: newer.len() - 1, seen: self.seen_before(step, missed) })
            }
            Action::Write { cell, made, .. } => {
                let newer =
                    self.writes(cell.id).filter(|&(id, other)| other > made.place && self.is_told(id));
                newer.min_by_key(|&(_, place)| place).map(|(by, _)| Note::Overtaken { by })
            }
            _ => None,
        }
    }

    /// An earlier read of the thread that read a write which comes after `missed` in its thread.
    fn seen_before(&self, (thread, index): StepId, missed: StepId) -> Option<StepId> {
        (0..index).map(|i| (thread, i)).find(|&id| match self.action(id) {
            Some(Action::Read { seen: Seen { from: Some((t, i)), .. }, .. }) => {
                *t as usize == missed.0 && *i as usize > missed.1
            }
            _ => false,
        })
    }
}

/// Cells that one thread alone accesses, although there are several threads.
pub fn private_cells(threads: &[Vec<Event>]) -> BTreeSet<u32> {
    let mut users: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (t, steps) in threads.iter().enumerate() {
        for step in steps {
            if let Some(cell) = step.action.cell() {
                users.entry(cell.id).or_default().insert(t);
            }
        }
    }
    if threads.iter().filter(|steps| !steps.is_empty()).count() < 2 {
        return BTreeSet::new();
    }
    users.into_iter().filter(|(_, who)| who.len() == 1).map(|(cell, _)| cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_answer::trace::{Cell, Name, Purpose, Typed};
    use fencepost_ir::Order;

    fn id(cell: &str) -> u32 {
        u32::from(cell.as_bytes()[0])
    }

    fn event(action: Action) -> Event {
        Event { at: (0, 0), calls: Vec::new(), action }
    }

    fn cell(name: &str) -> Cell {
        Cell { id: id(name), name: Name::plain(name) }
    }

    fn read(name: &str, from: Option<(u32, u32)>, place: u32) -> Event {
        let seen = Seen { value: Typed::number(0), order: Order::Plain, from, place };
        event(Action::Read { cell: cell(name), seen, purpose: Purpose::Data })
    }

    fn write(name: &str, place: u32) -> Event {
        let made = Made { value: Typed::number(0), order: Order::Plain, place };
        event(Action::Write { cell: cell(name), made, purpose: Purpose::Data })
    }

    fn told(threads: &[Vec<Event>]) -> (Vec<StepId>, Vec<(StepId, Note)>) {
        let told = tell(threads, None, &|_, _| false);
        let notes = told.iter().filter_map(|t| Some((t.step, t.note?))).collect();
        (told.into_iter().map(|t| t.step).collect(), notes)
    }

    #[test]
    fn an_interleaving_is_found_where_there_is_one() {
        // The second thread runs first: the first one reads its value, and it does not see the first one's.
        let threads =
            [vec![write("x", 1), read("y", Some((1, 1)), 1)], vec![read("x", None, 0), write("y", 1)]];
        assert_eq!(told(&threads), (vec![(1, 0), (1, 1), (0, 0), (0, 1)], vec![]));
    }

    #[test]
    fn store_buffering_has_one_stale_read() {
        let threads = [vec![write("x", 1), read("y", None, 0)], vec![write("y", 1), read("x", None, 0)]];
        let note = Note::Stale { missed: (0, 0), more: 0, seen: None };
        assert_eq!(told(&threads), (vec![(0, 0), (0, 1), (1, 0), (1, 1)], vec![((1, 1), note)]));
    }

    #[test]
    fn message_passing_says_what_was_seen_out_of_order() {
        let threads =
            [vec![write("x", 1), write("y", 1)], vec![read("y", Some((0, 1)), 1), read("x", None, 0)]];
        let note = Note::Stale { missed: (0, 0), more: 0, seen: Some((1, 0)) };
        assert_eq!(told(&threads).1, vec![((1, 1), note)]);
    }

    #[test]
    fn load_buffering_reads_early_and_writes_overtake() {
        let threads = [
            vec![read("x", Some((1, 1)), 1), write("y", 1)],
            vec![read("y", Some((0, 1)), 1), write("x", 1)],
        ];
        assert_eq!(told(&threads).1, vec![((0, 0), Note::Early)]);
        let threads = [vec![write("x", 2), write("y", 1)], vec![write("y", 2), write("x", 1)]];
        assert_eq!(told(&threads).1, vec![((1, 1), Note::Overtaken { by: (0, 0) })]);
    }

    #[test]
    fn a_read_modify_write_stays_in_one_piece() {
        // Both read the initial value; the exchange of the second thread is newer than the write of the first.
        let threads = [
            vec![read("x", None, 0), write("x", 1), read("x", Some((0, 1)), 1)],
            vec![read("x", Some((0, 1)), 1), write("x", 2)],
        ];
        let update = |a: StepId, b: StepId| a == (1, 0) && b == (1, 1);
        let steps: Vec<StepId> = tell(&threads, None, &update).into_iter().map(|t| t.step).collect();
        assert_eq!(steps, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
    }

    #[test]
    fn private_cells_are_those_of_one_thread_among_several() {
        let alone = [vec![write("x", 1)], vec![]];
        assert!(private_cells(&alone).is_empty());
        let two = [vec![write("x", 1), write("t", 1)], vec![read("x", None, 0)]];
        assert_eq!(private_cells(&two).into_iter().collect::<Vec<_>>(), [id("t")]);
    }
}
