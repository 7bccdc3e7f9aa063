//! What a thread does next.
//!
//! [`Threads`] is what the search asks; [`ir`] answers for programs of `ir`, and for [`native`] ones, whose code is a loop around what a source asks
//! for. A program of `ir` becomes operations ([`lower`], [`code`]); [`interpret`] runs a thread from one event to the next; [`path`] has what is
//! the same for every visit of an event on the same way through the program, [`memory`] the cells that events are of.
//!
//! *May assume*: nobody asks for the memory model's opinion here. A thread is told what its events gave it (the value read, the choice made),
//! and nothing else of the other threads.
//!
//! *Must keep*: a thread that is told the same does the same, in whichever graph it stands. Its next event, the cell and the value follow from
//! its state before, from the event and from what that gave it; the search comes back to states in any order and compares nothing. An event's
//! number is its thread's first plus its index in program order. Where events are committed out of order, whether an event exists must not
//! depend on a value that may still change: such things are choices (`docs/EXPLORATION.md`, "What exists by choice").

pub mod code;
pub mod coverage;
pub mod effect;
pub mod interpret;
pub mod ir;
pub mod liveness;
pub mod lower;
pub mod memory;
pub mod names;
pub mod native;
pub mod path;
pub mod pieces;

use crate::models::model::MemoryModel;
use crate::reductions::Reductions;
use crate::search::graph::{Graph, Layout};
use crate::search::row::RowWidth;
use crate::work::preparation::StartOver;
use interpret::{Patience, Snapshot};
use memory::Memory;
use path::{Node, NodeId, Trie};

/// What a thread runs, as a number, and what it is given.
#[derive(Clone, Debug)]
pub struct Start {
    pub function: u32,
    pub args: Vec<u64>,
}

/// Where a thread has come to.
pub struct Stand {
    pub snapshot: Snapshot,
    /// Something was found out that should have been known before; the snapshot means nothing then.
    pub why: Option<StartOver>,
    /// Whether the thread comes to the same in every graph in which it is in the same state: nothing but that was looked at.
    pub lasts: bool,
}

/// What a source of threads works with: paths, cells, and where in the graph states lie. All of it belongs to one worker.
pub struct Around<'a, M: MemoryModel<W>, W: RowWidth> {
    pub trie: &'a mut Trie<M, W>,
    pub memory: &'a mut Memory,
    pub model: &'a M,
    pub layout: &'a Layout,
    pub patience: &'a dyn Patience,
    pub reductions: Reductions,
}

/// Where threads come from.
///
/// *Call order*: `start` once for a thread in a graph; then, for each of its events in program order, `resume`. After a revisit the search goes
/// back to a state that the graph still has, and calls `resume` from there with something else; it never says that it goes back. A state is the
/// words of [`Graph::registers`] beside the thread's slot; `resume` makes those of slot `index + 1` from those of slot `index`.
///
/// *Determinism*: with the same state before, the same event and the same value (and, of a source that looks at more than its own state, the
/// same (po | rf)+ prefix, which the graph has) a thread comes to the same next event. Soundness of the whole search depends on that.
/// The events before `index` are in the graph, with their sources; of those behind it, which others may have made, nothing may be asked.
///
/// `describe(node)`, what is known of an event on a path, is [`Trie::node`]: memory models read it, too.
pub trait Threads<M: MemoryModel<W>, W: RowWidth>: Send {
    /// What an initial thread begins with.
    fn initial(&self, thread: usize) -> Option<Start>;

    /// Takes a thread to its first event. An error says that there is no room for its state.
    fn start(
        &mut self,
        around: Around<'_, M, W>,
        graph: &mut Graph<M, W>,
        thread: usize,
        start: &Start,
    ) -> Result<Stand, StartOver>;

    /// Takes a thread over its event of that index, which gave it a value, to the next one.
    fn resume(
        &mut self,
        around: Around<'_, M, W>,
        graph: &mut Graph<M, W>,
        thread: usize,
        index: usize,
        value: u64,
    ) -> Stand;

    /// What a committed event, by its node, gives its thread.
    fn given(&self, layout: &Layout, graph: &Graph<M, W>, event: usize, node: &Node<M::Static, W>) -> u64;

    /// What a read by that node would give, if it read the bits `there`; nothing if which node it is depends on that.
    fn would_give(&self, node: &Node<M::Static, W>, there: u64) -> Option<u64>;

    /// The largest choice of a choice event.
    fn choices(&self, node: &Node<M::Static, W>) -> u64;

    /// What the thread starts that stands before a spawn; nothing if it is no function.
    fn started_by(&self, state: &[u64], node: &Node<M::Static, W>) -> Option<Start>;

    /// Whether the read of a compare-exchange of a thread in this state succeeds, if it reads the bits `there`.
    fn succeeds(&self, memory: &Memory, state: &[u64], node: &Node<M::Static, W>, there: u64) -> bool;

    /// The node of the same read, if it is another one given whether its compare-exchange succeeds.
    fn read_by_outcome(&self, trie: &mut Trie<M, W>, read: NodeId, succeeds: bool) -> Option<NodeId>;

    /// Whether a choice of the thread turned out not to agree with what was read, which was to be seen at its end only.
    fn disagrees(&self, state: &[u64]) -> bool;
}
