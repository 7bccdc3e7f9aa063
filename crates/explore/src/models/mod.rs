//! The built-in models as incremental checks: each is the twin of a `.cat` file, and the tests compare the two.
//!
//! SC, TSO and PSO share [`order`], RC11 and RA share [`rc11`]; POWER and ARMv8 stand alone.

pub mod armv8;
pub mod clause;
pub mod model;
pub mod order;
pub mod power;
pub mod psc;
pub mod rc11;

use crate::models::model::MemoryModel;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::threads::path::{EventId, INIT, Kind, Node, Place, Trie};

/// The commit-before order (po | rf)+ of the models that have no out-of-order commits. Starting and joining threads
/// counts as program order.
#[inline(always)]
pub(crate) fn po_rf_prefix<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    graph: &Graph<M, W>,
    node: &Node<M::Static, W>,
    source: EventId,
) -> Row<W> {
    let mut prefix = closed(graph, previous(graph, node));
    if source != INIT {
        prefix |= graph.pre(source as usize);
        prefix.insert(source as usize);
    }
    if node.kind == Kind::Join {
        prefix |= closed(graph, last_of(trie, graph, joined(graph, node)));
    }
    prefix
}

/// The event before this one in its thread, or the one that started the thread.
#[inline(always)]
pub(crate) fn previous<M: MemoryModel<W>, W: RowWidth>(
    graph: &Graph<M, W>,
    node: &Node<M::Static, W>,
) -> EventId {
    if node.index > 0 { node.event - 1 } else { graph.origin(node.thread as usize) }
}

/// An event and its prefix; nothing for `INIT`.
#[inline(always)]
pub(crate) fn closed<M: MemoryModel<W>, W: RowWidth>(graph: &Graph<M, W>, event: EventId) -> Row<W> {
    match event {
        INIT => Row::EMPTY,
        e => graph.pre(e as usize).and(e as usize),
    }
}

/// The thread that a join waits for.
pub(crate) fn joined<M: MemoryModel<W>, W: RowWidth>(
    graph: &Graph<M, W>,
    node: &Node<M::Static, W>,
) -> usize {
    graph.value(node.event as usize) as usize
}

/// The last event of a thread that has ended, or the one that started it.
pub(crate) fn last_of<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    graph: &Graph<M, W>,
    thread: usize,
) -> EventId {
    match graph.front(thread) {
        0 => graph.origin(thread),
        n => trie.first_event(thread) + n - 1,
    }
}

/// What starting and joining threads puts before an event, beyond its own thread: the event that started the thread, and
/// for a join all events of the other thread.
pub(crate) fn from_other_threads<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    graph: &Graph<M, W>,
    node: &Node<M::Static, W>,
) -> Row<W> {
    let mut before = Row::EMPTY;
    let origin = graph.origin(node.thread as usize);
    if origin != INIT {
        before.insert(origin as usize);
    }
    if node.kind == Kind::Join {
        let other = joined(graph, node);
        let first = trie.first_event(other) as usize;
        before |= Row::range(first, first + graph.front(other) as usize);
        if graph.origin(other) != INIT {
            before.insert(graph.origin(other) as usize);
        }
    }
    before
}

/// What an event needs to exist and to mean what it does: a choice what its branches depend on, and each event the choices before
/// it,
/// which say what stands before it. As choices need nothing that later events do not, that keeps nobody from being committed
/// early.
pub(crate) fn existence<S, W: RowWidth>(place: &Place<'_, S, W>) -> Row<W> {
    let needs = match place.kind {
        Kind::Choice => &place.facts.ctrl | &place.facts.ctrl_pick,
        Kind::Spawn | Kind::Join | Kind::Free => place.facts.events.clone(),
        _ => Row::EMPTY,
    };
    needs | &place.facts.choices
}
