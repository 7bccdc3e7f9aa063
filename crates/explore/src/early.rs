//! Whether committing events in program order is enough, under models that do not ask for it.
//!
//! POWER and ARMv8 let a write be read by what comes before it in (po | rf): a load may be done after a later store of its
//! thread. Most programs have no use for that: between their loads and the later stores there are branches, dependencies or fences. An
//! exploration in program order has no choices to make in advance, and its reads can wait (`waiting.rs`). So that is
//! tried first, until some graph has
//!
//! > a read `r` and a write `z` of one cell, `r` before `z` in (po | rf)+ but not commit-before it.
//!
//! Then the exploration starts over and commits out of order. `docs/EXPLORATION.md` shows that a program that never has such a pair has
//! no execution with a cycle in po | rf.

use crate::graph::Graph;
use crate::memory::LocId;
use crate::model::MemoryModel;
use crate::path::EventId;
use crate::row::RowWidth;
use crate::visit::Explorer;

impl<M: MemoryModel<W>, W: RowWidth> Explorer<'_, M, W> {
    /// Whether a read that is there, and that the new write comes after, might have read it.
    pub(crate) fn could_be_read_early(&self, graph: &Graph<M, W>, write: EventId, loc: LocId) -> bool {
        let e = write as usize;
        let early = graph.pre(e).without(self.model.commit_before(graph, e));
        early.meets(graph.init_readers(loc))
            || graph.co(loc).iter().any(|&w| early.meets(graph.readers(w as usize)))
    }
}
