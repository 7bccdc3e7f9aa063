//! The built-in models as incremental checks: each is the twin of a `.cat` file, and the tests compare the two.
//!
//! SC, TSO and PSO share [`order`], RC11 and RA share [`rc11`]; POWER and ARMv8 stand alone.

pub mod armv8;
pub mod clause;
pub mod order;
pub mod power;
pub mod psc;
pub mod rc11;

use crate::graph::Graph;
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, Node, Place};
use crate::row::Row;
use fencepost_ir::{Fence, Order};

/// The commit-before order (po | rf)+ of the models that have no out-of-order commits.
#[inline(always)]
pub(crate) fn po_rf_prefix<M: MemoryModel<W>, const W: usize>(
    graph: &Graph<M, W>,
    node: &Node<M::Static, W>,
    source: EventId,
) -> Row<W> {
    let mut prefix = Row::EMPTY;
    if node.index > 0 {
        let previous = node.event as usize - 1;
        prefix = graph.pre[previous] | Row::single(previous);
    }
    if source != INIT {
        prefix |= graph.pre[source as usize] | Row::single(source as usize);
    }
    prefix
}

/// Fences that order everything, whatever the architecture: they are full fences in every model here.
pub(crate) fn is_full_fence(fence: Fence) -> bool {
    matches!(fence, Fence::Sync | Fence::Mfence | Fence::DmbSy | Fence::DsbSy | Fence::C11(Order::SeqCst))
}

/// What an event needs to exist: a choice what its branches depend on, others the choice they exist by.
pub(crate) fn existence<const W: usize>(place: &Place<W>) -> Row<W> {
    let mut needs = match place.kind {
        Kind::Choice => place.facts.ctrl | place.facts.ctrl_pick,
        _ => Row::EMPTY,
    };
    if let Some(choice) = place.chosen_by {
        needs.insert(choice as usize);
    }
    needs
}
