//! Threads that sleep before a read; see `waiting.rs`.

use super::Graph;
use crate::memory::LocId;
use crate::model::MemoryModel;
use crate::path::{EventId, INIT};
use crate::row::{Row, RowWidth};

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

impl<M: MemoryModel<W>, W: RowWidth> Graph<M, W> {
    /// The events that a thread had considered when it went to sleep before the read that it stands before.
    #[inline(always)]
    pub fn considered(&self, thread: usize) -> Option<&Sleep<W>> {
        self.asleep[thread].last().filter(|sleep| sleep.at == self.front[thread])
    }

    /// Whether a thread sleeps and there is nothing new for it.
    #[inline(always)]
    pub fn is_asleep(&self, thread: usize) -> bool {
        self.considered(thread).is_some_and(|sleep| self.co[sleep.loc as usize].len() as u32 == sleep.writes)
    }

    /// The sleep that revisits caused, with its thread.
    pub fn caused_sleep(&self) -> impl Iterator<Item = (usize, &Sleep<W>)> {
        let each = self.asleep.iter().enumerate().flat_map(|(t, list)| list.iter().map(move |s| (t, s)));
        each.filter(|(_, sleep)| sleep.cause != INIT)
    }

    /// Whether a thread may read `source` by its event `at`: it comes of each revisit that put the thread to sleep there.
    #[inline(always)]
    pub fn may_wake(&self, thread: usize, at: u32, source: EventId) -> bool {
        let mut own = self.asleep[thread].iter().filter(|sleep| sleep.at == at && sleep.cause != INIT);
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
        self.asleep[thread].push(Sleep { at, loc, writes, before, seen, cause });
    }

    /// A thread goes to sleep because `cause` revisited its read, which has been taken out. The number of the read will be that
    /// of a younger event, so others forget that it is older than they are.
    pub fn put_to_sleep(&mut self, thread: usize, read: EventId, loc: LocId, cause: EventId) {
        let before = self.events[read as usize].before.clone();
        for e in self.present.without(&before).iter() {
            self.events[e].before.remove(read as usize);
        }
        let (at, writes) = (self.front[thread], self.co[loc as usize].len() as u32);
        self.asleep[thread].push(Sleep { at, loc, writes, before, seen: self.present.clone(), cause });
    }

    /// The sleep of [`Graph::put_to_sleep`] is over; others know the age of the read again.
    pub fn take_from_sleep(&mut self, thread: usize, read: EventId) {
        let Some(sleep) = self.asleep[thread].pop() else { return };
        for e in self.present.without(&sleep.before).iter() {
            self.events[e].before.insert(read as usize);
        }
        self.events[read as usize].before = sleep.before;
    }

    /// It is awake again.
    pub fn wake_up(&mut self, thread: usize) {
        self.asleep[thread].pop();
    }

    /// Forgets the sleep that is younger than a read.
    pub fn forget_sleep_after(&mut self, read: EventId) {
        for asleep in &mut self.asleep {
            while asleep.last().is_some_and(|sleep| sleep.before.contains(read as usize)) {
                asleep.pop();
            }
        }
    }
}
