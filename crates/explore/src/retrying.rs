//! Tries that could have been left out: a compare-exchange that fails, and whose value the next try expects.
//!
//! A thread has read a cell twice in a row, and would stand where it stands, in the same state, if the first read had read what
//! the second did and there were no second. The second read then leads nowhere, like one that comes round in a loop
//! (`waiting.rs`): the execution without the first read stands for this one. `docs/EXPLORATION.md` has the argument.

use crate::code::{CasRead, FP, Half, Op};
use crate::graph::Graph;
use crate::interpret::{Machine, Next};
use crate::model::MemoryModel;
use crate::path::{EventId, Kind, NodeId};
use crate::row::RowWidth;
use crate::spinning::is_same_state;
use crate::visit::{Explorer, Subject};
use fencepost_ir::{Order, Value};

impl<M: MemoryModel<W>, W: RowWidth> Explorer<'_, M, W> {
    /// Whether the thread, which stands before the read of `node` in slot `index`, makes a try that could be left out.
    pub(crate) fn retries(&mut self, graph: &Graph<M, W>, thread: usize, index: usize, node: NodeId) -> bool {
        let Subject { code, layout } = *self.subject;
        let pc = self.trie.node(node).pc();
        if self.is_out_of_order() || code.live[pc as usize].is_none() || self.control.follows_all() {
            return false;
        }
        let oldest = graph.settled(thread) as usize;
        if index < oldest + 2 {
            return false;
        }
        let (first, second) = (index - 2, index - 1);
        let event = |slot: usize| layout.base[thread] as usize + slot;
        if !self.may_replace(graph, event(first), event(second)) {
            return false;
        }
        let first_node = graph.node(event(first));
        let Op::Load { width, extend, dst, undefined, .. } =
            code.ops[self.trie.node(first_node).pc() as usize]
        else {
            return false;
        };
        let value = graph.value(event(second));
        // A first read that would have succeeded would have written.
        if let Some(CasRead { expected, other: Some(_), .. }) = self.trie.node(first_node).failure
            && self.would_succeed(graph, event(first), expected, value)
        {
            return false;
        }
        // What would have happened if the first read had read what the second did.
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(graph.registers(layout, thread, first));
        let fp = scratch[FP] as usize;
        if dst != 0 {
            let value = width.extend(extend, Value(value)).0;
            scratch[fp + dst as usize] = undefined.taken(value);
        }
        let mut machine = Machine::new(code, &mut self.memory, &self.model, thread, self.control);
        let next = machine.advance(&mut self.trie, first_node, &mut scratch);
        let same = next.next == Next::Event
            && !machine.needs_room
            && self.trie.node(next.node).pc() == pc
            && self.trie.node(next.node).loc() == self.trie.node(node).loc()
            && self.trie.no_fence_between(first_node, node)
            && self.trie.no_fence_between(first_node, next.node)
            && self.trie.same_reservation(next.node, node)
            && (!M::DEPENDENCIES
                || self.orders_no_more(graph, next.node, node, (event(first), event(second))))
            && is_same_state(code, pc, &scratch, graph.registers(layout, thread, index), |word| {
                let reads = (event(first) as EventId, event(second) as EventId);
                !M::DEPENDENCIES || self.trie.depends_no_more(next.node, node, reads, word)
            });
        self.scratch = scratch;
        same
    }

    /// Whether the first of two reads, at its place and with the value of the second, has no order that the second has not, nor
    /// what comes of it, dependencies of registers apart: `path` is that without the second, `longer` that with both.
    fn orders_no_more(
        &self,
        graph: &Graph<M, W>,
        path: NodeId,
        longer: NodeId,
        (first, second): (usize, usize),
    ) -> bool {
        let (a, b) = (self.trie.node(graph.node(first)), self.trie.node(graph.node(second)));
        M::orders_no_more(&a.statics, &b.statics)
            && self.trie.means_no_more(path, longer, first as EventId, second as EventId)
    }

    /// Whether both are reads of one cell, the second that of a compare-exchange that failed, and the second, at the place of the
    /// first, is ordered no more than it is: its order is no weaker, and the first is no load- or store-exclusive.
    fn may_replace(&self, graph: &Graph<M, W>, first: usize, second: usize) -> bool {
        let (a, b) = (self.trie.node(graph.node(first)), self.trie.node(graph.node(second)));
        let failing = a.failure.as_ref().map_or(a.ann, |failure| failure.ann).order;
        let strength = |order: Order| match order {
            // Where there are races, a plain read may be part of one.
            Order::Plain if M::RACES => None,
            Order::Plain => Some(0),
            Order::Relaxed => Some(0),
            Order::SeqCst => Some(2),
            _ => Some(1),
        };
        let no_weaker = match (strength(failing), strength(graph.order(second))) {
            (Some(a), Some(b)) => a <= b,
            _ => false,
        };
        a.kind == Kind::Read
            && b.kind == Kind::Read
            && a.loc() == b.loc()
            && a.half != Half::Exclusive
            && (b.failure.is_some() || b.half == Half::Waiting)
            && no_weaker
    }
}
