//! Sets of events of one trace.

use std::ops::{BitOr, BitOrAssign};

const WORDS: usize = 16;

/// A set of events, by index. It has a fixed size, because every register carries one and runs are copied often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Events([u64; WORDS]);

impl Events {
    /// No event.
    pub const NONE: Events = Events([0; WORDS]);
    /// How many events a trace may have.
    pub const MOST: usize = 64 * WORDS;

    /// One event.
    pub fn one(event: usize) -> Events {
        let mut set = Events::NONE;
        set.0[event / 64] |= 1 << (event % 64);
        set
    }

    /// Is it in the set?
    pub fn contains(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 != 0
    }
}

impl BitOr for Events {
    type Output = Events;

    fn bitor(mut self, other: Events) -> Events {
        self |= other;
        self
    }
}

impl BitOrAssign for Events {
    fn bitor_assign(&mut self, other: Events) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}
