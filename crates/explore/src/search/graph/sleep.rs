//! Threads that sleep before a read; see `sleep.rs`.

use super::Graph;
use crate::models::model::MemoryModel;
use crate::search::row::{Row, RowWidth};
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT};

/// A thread went to sleep before a read, because what it would have read does not let it go on.
#[derive(Clone, Debug)]
pub struct Sleep<W: RowWidth> {
    /// How many events the thread had.
    pub at: u32,
    /// What it would read.
    pub loc: LocId,
    /// How many writes to that there were. They stay as long as the sleep does.
    pub writes: u32,
    /// The events that are older than this sleep.
    pub before: Row<W>,
    /// The events that were there when it began: of the writes among them the thread reads none any more. A sleep that a
    /// revisit caused is as old as the read that it took out, and began when there was more.
    pub seen: Row<W>,
    /// The write that revisited the read and put the thread to sleep, `INIT` if the newest value did.
    pub cause: EventId,
}

/// The times at which threads went to sleep, those of each thread oldest first. Mostly there are none, which is quickly seen.
pub struct Sleepers<W: RowWidth> {
    lists: Vec<Vec<Sleep<W>>>,
    count: usize,
}

impl<W: RowWidth> Sleepers<W> {
    /// Nobody sleeps.
    pub fn new(threads: usize) -> Sleepers<W> {
        Sleepers { lists: vec![Vec::new(); threads], count: 0 }
    }

    fn push(&mut self, thread: usize, sleep: Sleep<W>) {
        self.lists[thread].push(sleep);
        self.count += 1;
    }

    fn pop(&mut self, thread: usize) -> Option<Sleep<W>> {
        let popped = self.lists[thread].pop();
        self.count -= usize::from(popped.is_some());
        popped
    }

    /// A thread has never slept.
    pub fn clear(&mut self, thread: usize) {
        self.count -= self.lists[thread].len();
        self.lists[thread].clear();
    }

    /// All is as there.
    pub fn copy(&mut self, other: &Sleepers<W>) {
        if self.count + other.count > 0 {
            self.lists.clone_from(&other.lists);
            self.count = other.count;
        }
    }
}

impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// Whether some thread has slept.
    #[inline(always)]
    pub fn has_sleepers(&self) -> bool {
        self.asleep.count > 0
    }

    /// The events that a thread had considered when it went to sleep before the read that it stands before.
    #[inline(always)]
    pub fn considered(&self, thread: usize) -> Option<&Sleep<W>> {
        self.asleep.lists[thread].last().filter(|sleep| sleep.at == self.front[thread])
    }

    /// Whether a thread sleeps and there is nothing new for it.
    #[inline(always)]
    pub fn is_asleep(&self, thread: usize) -> bool {
        self.considered(thread).is_some_and(|sleep| self.co[sleep.loc as usize].len() as u32 == sleep.writes)
    }

    /// The sleep that revisits caused, with its thread.
    pub fn caused_sleep(&self) -> impl Iterator<Item = (usize, &Sleep<W>)> {
        let lists = if self.has_sleepers() { &self.asleep.lists[..] } else { &[] };
        let each = lists.iter().enumerate().flat_map(|(t, list)| list.iter().map(move |s| (t, s)));
        each.filter(|(_, sleep)| sleep.cause != INIT)
    }

    /// Whether a thread that sleeps before the read that it stands before has not considered `source` yet, and may read it.
    #[inline(always)]
    pub fn may_wake_for(&self, thread: usize, source: EventId) -> bool {
        source != INIT
            && self.considered(thread).is_some_and(|sleep| {
                !sleep.seen.contains(source as usize) && self.may_wake(thread, sleep.at, source)
            })
    }

    /// Whether a thread may read `source` by its event `at`: it comes of each revisit that put the thread to sleep there.
    #[inline(always)]
    pub fn may_wake(&self, thread: usize, at: u32, source: EventId) -> bool {
        let mut own = self.asleep.lists[thread].iter().filter(|sleep| sleep.at == at && sleep.cause != INIT);
        own.all(|sleep| self.comes_of(sleep, source))
    }

    /// Whether the write `source`, had it revisited the read that was put to sleep, would have found it reading the cause of the
    /// sleep, or a write of which that is true: from `source` on, go to the newest among what a write needs and what is older
    /// than the read, until the cause is met.
    pub fn comes_of(&self, sleep: &Sleep<W>, source: EventId) -> bool {
        let mut write = source;
        loop {
            if write == sleep.cause {
                return true;
            }
            if write == INIT || sleep.before.contains(write as usize) {
                return false;
            }
            write = self.newest(sleep.loc, &(&sleep.before | self.pre(write as usize)));
        }
    }

    /// The newest write to a cell among some events; `INIT` if there is none.
    pub fn newest(&self, loc: LocId, among: &Row<W>) -> EventId {
        let newest = self.co[loc as usize].iter().rev().find(|&&w| among.contains(w as usize));
        newest.copied().unwrap_or(INIT)
    }

    /// A thread goes to sleep before a read of `loc`.
    pub fn fall_asleep(&mut self, thread: usize, loc: LocId) {
        let (at, writes) = (self.front[thread], self.co[loc as usize].len() as u32);
        let (before, seen, cause) = (self.present.clone(), self.present.clone(), INIT);
        self.asleep.push(thread, Sleep { at, loc, writes, before, seen, cause });
    }

    /// A thread goes to sleep because `cause` revisited its read, which has been taken out. The number of the read will be that
    /// of a younger event, so others forget that it is older than they are.
    pub fn put_to_sleep(&mut self, thread: usize, read: EventId, loc: LocId, cause: EventId) {
        let before = self.events[read as usize].before.clone();
        for e in self.present.without(&before).iter() {
            self.events[e].before.remove(read as usize);
        }
        let (at, writes) = (self.front[thread], self.co[loc as usize].len() as u32);
        let seen = self.present.clone();
        self.asleep.push(thread, Sleep { at, loc, writes, before, seen, cause });
    }

    /// The sleep of [`Graph::put_to_sleep`] is over; others know the age of the read again.
    pub fn take_from_sleep(&mut self, thread: usize, read: EventId) {
        let Some(sleep) = self.asleep.pop(thread) else { return };
        for e in self.present.without(&sleep.before).iter() {
            self.events[e].before.insert(read as usize);
        }
        self.events[read as usize].before = sleep.before;
    }

    /// It is awake again.
    pub fn wake_up(&mut self, thread: usize) {
        self.asleep.pop(thread);
    }

    /// Forgets the sleep that is younger than a read.
    pub fn forget_sleep_after(&mut self, read: EventId) {
        if !self.has_sleepers() {
            return;
        }
        for t in 0..self.asleep.lists.len() {
            while self.asleep.lists[t].last().is_some_and(|sleep| sleep.before.contains(read as usize)) {
                self.asleep.pop(t);
            }
        }
    }
}
