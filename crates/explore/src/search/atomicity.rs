//! Read-modify-writes are atomic: nobody else's write comes between what one reads and what it writes.
//!
//! A violation is final, and its branch is left at once, only where nothing that comes later can mend it; that is so among *pure*
//! ones, whose
//! write needs nothing but what its read needs (`docs/EXPLORATION.md`). The others are filtered at the end.

use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT};

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether the write at place `at` leaves read-modify-writes atomic, as far as that can be said already: only a
    /// violation among pure ones is final (`docs/EXPLORATION.md`); the others are filtered at the end.
    #[inline(always)]
    pub(crate) fn keeps_atomicity(&self, graph: &Graph<M, W>, event: EventId, loc: LocId, at: usize) -> bool {
        if graph.rmw_writes().is_empty() {
            return true;
        }
        let impure =
            |w: EventId| graph.rmw_writes().contains(w as usize) && !graph.pure().contains(w as usize);
        if impure(event) {
            return true;
        }
        let threads = &self.subject.layout.thread_of;
        let list = graph.co(loc);
        let place_of = |source: EventId| {
            if source == INIT { Some(0) } else { graph.position(source, loc).map(|p| p + 1) }
        };
        if graph.rmw_writes().contains(event as usize) {
            let read = self.trie.node(graph.node(event as usize)).partner;
            let Some(start) = place_of(graph.rf(read as usize)) else { return true };
            if start > at {
                return false;
            }
            let own = threads[event as usize];
            if list[start..at].iter().any(|&w| threads[w as usize] != own && !impure(w)) {
                return false;
            }
        }
        list[at + 1..].iter().all(|&w| {
            if !graph.pure().contains(w as usize) || threads[w as usize] == threads[event as usize] {
                return true;
            }
            let read = self.trie.node(graph.node(w as usize)).partner;
            place_of(graph.rf(read as usize)).is_none_or(|start| start > at)
        })
    }

    /// Atomicity of every read-modify-write: no other thread's write between its source and its write.
    pub(crate) fn is_atomic(&self, graph: &Graph<M, W>) -> bool {
        let threads = &self.subject.layout.thread_of;
        graph.rmw_writes().without(graph.pure()).is_empty()
            || graph.rmw_writes().iter().all(|w| {
                let node = self.trie.node(graph.node(w));
                let source = graph.rf(node.partner as usize);
                let mut between = graph.co_after(source, node.loc()).iter().take_while(|&&v| v as usize != w);
                !between.any(|&v| threads[v as usize] != threads[w])
            })
    }
}
