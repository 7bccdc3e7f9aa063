//! Where the events and the states of threads lie: the same for all graphs of an exploration.

use crate::threads::path::EventId;

/// Where the events and snapshots of each thread lie; the same for all graphs of an exploration.
#[derive(Clone, Debug)]
pub struct Layout {
    /// First event of each thread, and one past the last event at the end.
    pub base: Vec<EventId>,
    /// First snapshot slot of each thread: slot `i` is the state after `i` events.
    pub slot_base: Vec<usize>,
    /// Thread of each event.
    pub thread_of: Vec<u16>,
    /// Registers per snapshot of each thread.
    pub stride: Vec<usize>,
    /// Threads that are started by others, after the initial ones: by whom, and how many that one had started before.
    pub spawned: Vec<(u16, u32)>,
}

impl Layout {
    /// Room for `capacity[t]` events in thread `t`, and `stride[t]` registers in each of its snapshots.
    pub fn new(capacity: &[usize], stride: &[usize], spawned: Vec<(u16, u32)>) -> Layout {
        let mut base = vec![0];
        let mut slot_base = vec![0];
        let mut thread_of = Vec::new();
        for (t, &room) in capacity.iter().enumerate() {
            base.push(base[t] + room as EventId);
            slot_base.push(slot_base[t] + room + 1);
            thread_of.resize(thread_of.len() + room, t as u16);
        }
        Layout { base, slot_base, thread_of, stride: stride.to_vec(), spawned }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.base.len() - 1
    }

    /// The thread that `parent` starts after `number` others.
    pub fn started_by(&self, parent: usize, number: u64) -> Option<usize> {
        let wanted = (parent as u16, number as u32);
        let first = self.threads() - self.spawned.len();
        self.spawned.iter().position(|&key| key == wanted).map(|i| first + i)
    }

    /// Room for events in all.
    pub fn events(&self) -> usize {
        self.thread_of.len()
    }

    /// Room for events in a thread.
    pub fn capacity(&self, thread: usize) -> usize {
        (self.base[thread + 1] - self.base[thread]) as usize
    }
}
