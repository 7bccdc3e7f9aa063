//! What threads did, remembered: a thread that has read the same values is where it was then.
//!
//! A thread's state after an event is a matter of its state before, of the event and of what it read. The search comes
//! to the same states again and again, in graphs that differ in what other threads do. So the registers of a state are kept
//! beside the graphs ([`Graph::keep_registers`]), where they have a number, and that number, the event's node and the value
//! lead to the next state without a step of the interpreter. Whether a thread spins or tries again is remembered too: that is a
//! matter of its states so far, and of how many of them are settled.
//!
//! Nothing more is kept when there is no more room; states that are not kept are where they always were, in the graph.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::reductions::sleep::is_blocked;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::interpret::{Next, Snapshot};
use crate::threads::path::{EventId, INIT, NodeId};
use rustc_hash::FxHashMap;

/// Words of registers that all workers keep at most, unless they are many: each may keep an eighth.
const WORDS: usize = 1 << 18;

fn words_of_a_worker(workers: usize) -> usize {
    WORDS / workers.min(8)
}

/// The number of a state that is kept.
pub type StateId = u32;

/// A state that came of another one.
#[derive(Clone, Copy)]
struct Step {
    /// How many events of the thread were settled: they are not looked at any more.
    settled: u32,
    state: StateId,
    snapshot: Snapshot,
}

/// The steps that are remembered.
#[derive(Default)]
pub struct Memo {
    /// By the state before, the event's node and the value.
    steps: FxHashMap<(StateId, NodeId, u64), Step>,
    /// Per thread: the state that it began with last.
    first: Vec<Option<StateId>>,
}

impl Memo {
    /// Forgets all steps: nodes get other numbers.
    pub fn forget(&mut self) {
        self.steps.clear();
    }
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// A thread stands before its first event.
    pub(crate) fn remember_start(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        if !self.control.caution.reductions.has(Reduction::EqualWork) {
            return;
        }
        let layout = self.subject.layout;
        let first = &mut self.memo.first;
        if first.len() <= thread {
            first.resize(thread + 1, None);
        }
        match first[thread] {
            Some(state) if graph.is_state(layout, thread, state) => graph.set_state(layout, thread, 0, state),
            _ => {
                first[thread] =
                    graph.keep_registers(layout, thread, 0, words_of_a_worker(self.control.queue.workers))
            }
        }
    }

    /// Takes a thread over its event of that index, by its node and with that value, as it went before; false if nobody knows.
    #[inline(always)]
    pub(crate) fn goes_as_before(
        &self,
        graph: &mut Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        value: u64,
    ) -> bool {
        let layout = self.subject.layout;
        let Some(step) = self.known_step(graph, thread, index, node, value) else { return false };
        graph.set_state(layout, thread, index + 1, step.state);
        graph.set_snapshot(layout, thread, index + 1, step.snapshot);
        graph.set_front(layout, thread, index as u32 + 1);
        true
    }

    #[inline(always)]
    fn known_step(
        &self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        value: u64,
    ) -> Option<&Step> {
        let state = graph.state(self.subject.layout, thread, index)?;
        let step = self.memo.steps.get(&(state, node, value))?;
        (step.settled == graph.settled(thread)).then_some(step)
    }

    /// Whether it is known already that a thread waits if it reads from `source` by the node that it stands before: then the read
    /// need
    /// not be added to see it.
    #[inline(always)]
    pub(crate) fn is_known_to_wait(
        &self,
        graph: &Graph<M, W>,
        thread: usize,
        id: NodeId,
        source: EventId,
    ) -> bool {
        let node = self.trie.node(id);
        // Which node a compare-exchange is may be a matter of what it reads, and who looks for equal threads looks at every read.
        if self.is_symmetric() || !self.may_sleep(id) || !self.has_noted_waiting(node) {
            return false;
        }
        let value = match source {
            INIT => self.memory.init(node.loc()),
            write => graph.value(write as usize),
        };
        let Some(value) = self.threads.would_give(node, value) else { return false };
        self.known_step(graph, thread, graph.front(thread) as usize, id, value)
            .is_some_and(|step| is_blocked(step.snapshot.next))
    }

    /// Remembers such a step. One that a bound or a limit ended is made again: it may go on then.
    pub(crate) fn remember(
        &mut self,
        graph: &mut Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        value: u64,
    ) {
        let layout = self.subject.layout;
        let snapshot = *graph.snapshot(layout, thread, index + 1);
        let Some(before) = graph.state(layout, thread, index) else { return };
        if matches!(snapshot.next, Next::Cut | Next::Blocked) {
            return;
        }
        let most = words_of_a_worker(self.control.queue.workers);
        if let Some(state) = graph.keep_registers(layout, thread, index + 1, most) {
            let settled = graph.settled(thread);
            self.memo.steps.insert((before, node, value), Step { settled, state, snapshot });
        }
    }
}
