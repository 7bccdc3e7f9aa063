//! Whose turn it is: the threads of a graph by how urgent their next steps are, so that the next one is found without a look at
//! each
//! of them. A thread is in the set of its urgency, or in none if it cannot go on.

use crate::threads::interpret::Snapshot;

/// The urgencies of threads that can go on are below this.
pub const LEVELS: usize = Snapshot::JOIN as usize + 1;

/// The threads by urgency.
pub struct Turns {
    /// Per thread: its urgency.
    of: Vec<u8>,
    /// Per 64 threads, and per urgency: which of them have it.
    sets: Vec<[u64; LEVELS]>,
}

impl Turns {
    /// No thread can go on.
    pub fn new(threads: usize) -> Turns {
        Turns { of: vec![Snapshot::NEVER; threads], sets: vec![[0; LEVELS]; threads.div_ceil(64)] }
    }

    /// The urgency of a thread.
    #[inline(always)]
    pub fn of(&self, thread: usize) -> u8 {
        self.of[thread]
    }

    /// A thread has come to a step of another urgency.
    #[inline(always)]
    pub fn set(&mut self, thread: usize, urgency: u8) {
        let (sets, bit) = (&mut self.sets[thread / 64], 1 << (thread % 64));
        let old = std::mem::replace(&mut self.of[thread], urgency);
        if let Some(set) = sets.get_mut(old as usize) {
            *set &= !bit;
        }
        if let Some(set) = sets.get_mut(urgency as usize) {
            *set |= bit;
        }
    }

    /// All is as there, with as many threads.
    pub fn copy(&mut self, other: &Turns) {
        self.of.copy_from_slice(&other.of);
        self.sets.copy_from_slice(&other.sets);
    }

    /// Per 64 threads, and per urgency: which of them have it.
    #[inline(always)]
    pub fn sets(&self) -> &[[u64; LEVELS]] {
        &self.sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_in_the_set_of_its_urgency_only() {
        let mut turns = Turns::new(130);
        let is_in = |turns: &Turns, thread: usize| {
            let sets = turns.sets()[thread / 64];
            let levels = (0..LEVELS as u8).filter(|&l| sets[l as usize] >> (thread % 64) & 1 != 0);
            levels.collect::<Vec<_>>()
        };
        for thread in [0, 63, 64, 129] {
            assert_eq!((turns.of(thread), is_in(&turns, thread)), (Snapshot::NEVER, vec![]));
            for urgency in [Snapshot::JOIN, Snapshot::SECOND_HALF, 4] {
                turns.set(thread, urgency);
                assert_eq!((turns.of(thread), is_in(&turns, thread)), (urgency, vec![urgency]));
            }
            turns.set(thread, Snapshot::NEVER);
            assert_eq!(is_in(&turns, thread), vec![]);
        }
        turns.set(100, 2);
        let mut copy = Turns::new(130);
        copy.copy(&turns);
        assert_eq!((copy.of(100), is_in(&copy, 100)), (2, vec![2]));
    }
}
