//! Joins at the end of a thread, after which it does nothing that anybody could notice, are left out.
//!
//! *Claim*: an execution is complete with these joins if it is without them and each of them can be made. They branch
//! nowhere, so the count is the same.
//!
//! *Conditions*: nothing behind the first of them is an event but another join whose result nobody asks for; all other
//! threads have ended. What the thread computes between them may fail: that is run once per state of the thread
//! ([`Explorer::tail_ends`]), and where it does not end, or where there is a finding to show, the joins are made after all.
//!
//! *Off*: [`Reduction::Tails`](crate::Reduction). *Test*: `tests/switches.rs`, and the C corpus with its counts.

use crate::models::model::MemoryModel;
use crate::search::finish::Ends;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::{Explorer, can_join};
use crate::threads::Threads;
use crate::threads::code::{Code, Op};
use crate::threads::interpret::{Machine, Next, Snapshot};

/// The joins after which a function does nothing but compute, join more and return: nobody can tell when they happen.
pub fn tails(code: &Code) -> Vec<bool> {
    // What may follow: the greatest set that is closed under going on.
    let mut quiet: Vec<bool> = code.ops.iter().map(|op| op.effect().quiet).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (pc, op) in code.ops.iter().enumerate().rev() {
            let goes_on = op.falls_through().then_some(pc + 1);
            let mut next = op.targets().into_iter().flatten().map(|to| to as usize).chain(goes_on);
            if quiet[pc] && !next.all(|to| quiet[to]) {
                quiet[pc] = false;
                changed = true;
            }
        }
    }
    quiet.iter().zip(&code.ops).map(|(&quiet, op)| quiet && matches!(op, Op::Join { .. })).collect()
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Goes on with the joins of a tail because there is something to show. Whether that is new is a matter of what was found
    /// before,
    /// so it is not counted.
    pub(crate) fn show_tail(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let nodes = self.collector.stats.nodes;
        let held = std::mem::replace(&mut self.progression.holds, true);
        self.run_tail(graph, thread);
        self.progression.holds = held;
        self.collector.stats.nodes = nodes;
    }

    /// Whether a thread that has nothing left but joins can join them all. What its registers say is looked at once.
    pub(crate) fn tail_ends(&mut self, graph: &Graph<M, W>, thread: usize, ends: &Ends) -> bool {
        let layout = self.subject.layout;
        let snapshot = graph.frontier(layout, thread);
        let regs = graph.frontier_regs(layout, thread);
        // All others have ended.
        if !ends.complete || ends.over || ends.tails > 1 {
            return false;
        }
        if self.tail.0 == snapshot.node && self.tail.1 == regs {
            return true;
        }
        let mut copy = regs.to_vec();
        let pc = self.trie.node(snapshot.node).pc();
        let mut machine =
            Machine::new(self.subject.code, &mut self.memory, &self.model, thread, &self.control.limits);
        let ends = machine.ends_by_joining(pc, &mut copy, |t| can_join(graph, layout, t));
        if ends {
            self.tail = (snapshot.node, graph.frontier_regs(layout, thread).to_vec());
        }
        ends
    }

    /// Goes on with the joins of a tail after all, one by one.
    pub(crate) fn run_tail(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let layout = self.subject.layout;
        let front = graph.front(thread);
        let tail = *graph.frontier(layout, thread);
        let join = Snapshot { next: Next::Event, urgency: Snapshot::JOIN, ..tail };
        for snapshot in [join, tail] {
            graph.set_snapshot(layout, thread, front as usize, snapshot);
            graph.set_front(layout, thread, front);
            if snapshot.next == Next::Event {
                self.visit(graph);
            }
        }
    }
}
