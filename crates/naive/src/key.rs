//! What tells two executions of a program apart, in a form that does not depend on how they were found.

use fencepost_ir::{EventKind, Execution, Location};
use std::collections::BTreeMap;

/// A memory access: its thread and its position among the accesses of that thread; the two halves of a
/// read-modify-write count as two. `None` is the initial write of the location.
pub type AccessId = Option<(u32, u32)>;

/// The reads-from and coherence choices of an execution and the choices of its threads.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Key {
    /// Each read with the write that it reads from, by read.
    pub rf: Vec<(AccessId, AccessId)>,
    /// Per location that a thread writes: the writes in coherence order, without the initial one.
    pub co: Vec<(Location, Vec<AccessId>)>,
    /// Per thread, in program order: the value of each `Nondet`, and 1 or 0 for the success of each store-exclusive and
    /// each weak compare-exchange.
    pub choices: Vec<Vec<i64>>,
}

impl Key {
    /// The key of an execution.
    pub fn new(execution: &Execution, choices: Vec<Vec<i64>>) -> Key {
        let ids = access_ids(execution);
        let mut rf: Vec<(AccessId, AccessId)> = execution.rf.pairs().map(|(w, r)| (ids[r], ids[w])).collect();
        rf.sort_unstable();
        let mut writes: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        for (i, event) in execution.events.iter().enumerate() {
            if let (EventKind::Write, Some(location), Some(_)) = (event.kind, event.location, event.thread) {
                writes.entry(location).or_default().push(i);
            }
        }
        let co = writes.into_iter().map(|(location, mut list)| {
            // The more successors, the earlier: coherence is total per location.
            list.sort_by_key(|&w| std::cmp::Reverse(execution.co.successors(w).count()));
            (location, list.into_iter().map(|w| ids[w]).collect())
        });
        Key { rf, co: co.collect(), choices }
    }
}

fn access_ids(execution: &Execution) -> Vec<AccessId> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut ids = Vec::new();
    for event in &execution.events {
        ids.push(match (event.thread, event.kind) {
            (Some(thread), EventKind::Read | EventKind::Write) => {
                let count = counts.entry(thread.0).or_default();
                *count += 1;
                Some((thread.0, *count - 1))
            }
            _ => None,
        });
    }
    ids
}
