//! What the encoding has to know about a program beforehand: who writes which cell, and how many slots and timestamps are enough.

use super::Bounds;
use super::encode::is_fence;
use super::slots::Sizes;
use crate::aig::Lit;
use crate::symbolic::{Event, EventKind, Unrolled};

/// What there is in a program, cell by cell.
pub(super) struct Survey {
    /// Places that write it.
    writes: Vec<usize>,
    /// Those of them that are read-modify-writes.
    updates: Vec<usize>,
    /// Some read-modify-write writes it.
    pub updated: Vec<bool>,
    /// The threads that write it.
    pub writers: Vec<Vec<u32>>,
    /// Bits of the values that are written, and whether there is a sign.
    value: (u32, bool),
}

impl Survey {
    /// Looks at the events that take part.
    pub fn new(
        unrolled: &Unrolled,
        places: &[Option<usize>],
        count: usize,
        takes_part: &dyn Fn(&Event) -> bool,
    ) -> Survey {
        let mut survey = Survey {
            writes: vec![0; count],
            updates: vec![0; count],
            updated: vec![false; count],
            writers: vec![Vec::new(); count],
            value: (0, false),
        };
        for event in unrolled.events.iter().filter(|event| takes_part(event)) {
            let EventKind::Write { access, value, rmw, .. } = &event.kind else { continue };
            survey.value.0 = survey.value.0.max(value.len() as u32);
            survey.value.1 |= value.fill() != Lit::FALSE;
            for place in access.cells.iter().filter_map(|(cell, _)| places[cell.0 as usize]) {
                survey.writes[place] += 1;
                survey.updates[place] += usize::from(rmw.is_some());
                survey.updated[place] |= rmw.is_some();
                if !survey.writers[place].contains(&event.thread.0) {
                    survey.writers[place].push(event.thread.0);
                }
            }
        }
        survey
    }

    /// If one thread alone writes a cell, without read-modify-writes, its messages are in the order of the program, and their
    /// timestamps are
    /// known; unless there are so many that they are to share a few.
    pub fn known_stamps(
        &self,
        unrolled: &Unrolled,
        places: &[Option<usize>],
        sizes: &Sizes,
        takes_part: &dyn Fn(&Event) -> bool,
    ) -> Vec<Option<usize>> {
        let cells_of = |event: &Event| -> Vec<usize> {
            match &event.kind {
                EventKind::Write { access, .. } if takes_part(event) => {
                    access.cells.iter().filter_map(|(cell, _)| places[cell.0 as usize]).collect()
                }
                _ => Vec::new(),
            }
        };
        let mut known: Vec<bool> = (0..self.writes.len())
            .map(|cell| {
                !self.updated[cell]
                    && self.writers[cell].len() == 1
                    && sizes.stamps[cell] == self.writes[cell]
            })
            .collect();
        for cells in unrolled.events.iter().map(cells_of).filter(|cells| cells.len() > 1) {
            cells.into_iter().for_each(|cell| known[cell] = false);
        }
        let mut count = vec![0; known.len()];
        let stamp = |event: &Event| match cells_of(event).as_slice() {
            &[cell] if known[cell] => {
                count[cell] += 1;
                Some(count[cell])
            }
            _ => None,
        };
        unrolled.events.iter().map(stamp).collect()
    }

    /// As few timestamps as are enough: one for each message that is read, and one for each that is compared with others.
    pub fn sizes(
        &self,
        unrolled: &Unrolled,
        bounds: &Bounds,
        (settles_ends, synchronises): (bool, bool),
        takes_part: &dyn Fn(&Event) -> bool,
    ) -> Sizes {
        let writes: usize = self.writes.iter().sum();
        // What certifications read counts only where a thread leaves, so that with promises every message may be read.
        let slots = if bounds.promises > 0 { writes } else { bounds.total.min(writes) };
        let compared = |event: &&Event| {
            is_fence(event) || matches!(event.kind, EventKind::Spawn(_) | EventKind::Join(_))
        };
        let threads = unrolled.threads.iter().filter(|thread| thread.copy_of.is_none()).count();
        let places = unrolled.events.iter().filter(|event| takes_part(event)).filter(compared).count()
            + if settles_ends { threads } else { 0 };
        let stamps = |cell: usize| {
            let updates = if self.updated[cell] { slots + 2 * self.updates[cell] } else { 0 };
            if synchronises { self.writes[cell] } else { self.writes[cell].min(slots + places + updates) }
        };
        Sizes { slots, stamps: (0..self.writes.len()).map(stamps).collect(), value: self.value }
    }
}
