//! Graphs that no thread can extend: complete executions, blocked ones, and joins that were left to the end.

use crate::findings::collect::Finished;
use crate::findings::view::View;
use crate::models::model::MemoryModel;
use crate::search::graph::{Graph, Layout};
use crate::search::row::RowWidth;
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::interpret::Next;
use crate::threads::pieces::{asks, unordered};

/// How the threads of a graph that none can extend have stopped.
pub(crate) struct Ends {
    /// Each has ended, but for joins, or was not started.
    pub complete: bool,
    /// How many stand before joins that were left to the end.
    pub tails: usize,
    /// Some thread has ended the process.
    pub over: bool,
    /// It has done so by `exit` and its kin, not by the return of `main`.
    pub halted: bool,
    /// A bound has cut one.
    pub cut: bool,
    /// Something went wrong in one.
    pub failed: bool,
}

impl Ends {
    fn of<M: MemoryModel<W>, W: RowWidth>(graph: &Graph<M, W>, layout: &Layout) -> Ends {
        let mut ends =
            Ends { complete: true, tails: 0, over: false, halted: false, cut: false, failed: false };
        for next in graph.threads_next(layout) {
            match next {
                Next::Ended | Next::NotStarted => {}
                Next::Halted | Next::Returned => {
                    ends.over = true;
                    ends.halted |= next == Next::Halted;
                }
                Next::Tail => ends.tails += 1,
                _ => {
                    ends.complete = false;
                    ends.cut |= next == Next::Cut;
                    ends.failed |= matches!(next, Next::Failed(_));
                }
            }
        }
        ends
    }
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// No thread can go on: the graph is a complete execution, or a blocked one.
    pub(crate) fn finish(&mut self, graph: &mut Graph<M, W>) {
        let layout = self.subject.layout;
        self.progression.finishing = true;
        if self.control.limits.measures {
            return self.control.limits.has_measured(self.events_of_threads(graph));
        }
        if self.is_symmetric()
            && let Some(t) = (0..layout.threads()).rev().find(|&t| self.was_held(graph, t))
        {
            return self.finish_asleep(graph, t);
        }
        if graph.has_sleepers()
            && let Some(t) = (0..layout.threads()).find(|&t| graph.considered(t).is_some())
        {
            return self.finish_asleep(graph, t);
        }
        let mut ends = Ends::of(graph, layout);
        for t in (0..layout.threads()).filter(|_| ends.tails > 0) {
            if graph.frontier(layout, t).next == Next::Tail && !self.tail_ends(graph, t, &ends) {
                return self.run_tail(graph, t);
            }
        }
        // What a thread was computing just now may have been broken off: this graph is looked at again.
        if self.progression.tracked && self.control.limits.is_ended() {
            self.collector.stats.nodes -= u64::from(!self.progression.replaying);
            return self.interrupt();
        }
        let disagreed = |t: usize| {
            graph.frontier(layout, t).next != Next::NotStarted
                && self.threads.disagrees(graph.frontier_regs(layout, t))
        };
        // A load- and a store-exclusive have a choice between them, so they are filtered here under every model.
        if !self.is_atomic(graph) || (self.is_out_of_order() && (0..layout.threads()).any(disagreed)) {
            self.collector.stats.blocked += 1;
            return;
        }
        if self.subject.code.in_pieces {
            let view = View { subject: self.subject, trie: &self.trie, memory: &self.memory, graph };
            if let Some(need) = unordered(&view).and_then(|pair| asks(&view, pair)) {
                return self.start_over(need);
            }
        }
        let races = self.model.races(&self.trie, graph, self.suspects.cells());
        let mut stuck = !ends.complete && self.is_stuck_for_ever(graph);
        let view = View { subject: self.subject, trie: &self.trie, memory: &self.memory, graph };
        if stuck && let Some(t) = (0..layout.threads()).find(|&t| self.spins_writing(graph, t)) {
            (stuck, ends.cut) = (false, true);
            self.collector.cuts.insert(view.place((layout.base[t] + graph.front(t) - 1) as usize).at);
        }
        let finished = self.collector.finished(&view, &ends, races, stuck);
        if self.progression.tracked {
            self.collector.locate(self.progression.here());
        }
        match finished {
            Finished::GoOn => {}
            Finished::Stop => {
                let here = self.progression.here();
                self.collector.ended = Some(here.to_vec());
                self.control.stop_behind(here);
            }
            Finished::NeedsTail => {
                let mut tails =
                    (0..layout.threads()).filter(|&t| graph.frontier(layout, t).next == Next::Tail);
                if let Some(t) = tails.next() {
                    self.show_tail(graph, t);
                }
            }
        }
    }

    /// How many events each thread has in an execution whose threads have all ended. Joins that were left to the end may still
    /// come, and
    /// nothing is known of a thread that was not started.
    fn events_of_threads(&self, graph: &Graph<M, W>) -> Option<Vec<usize>> {
        let layout = self.subject.layout;
        let events = |t: usize| match graph.frontier(layout, t).next {
            next if next.is_end() => Some(graph.front(t) as usize),
            Next::Tail | Next::NotStarted => Some(layout.capacity(t)),
            _ => None,
        };
        (0..layout.threads()).map(events).collect()
    }
}
