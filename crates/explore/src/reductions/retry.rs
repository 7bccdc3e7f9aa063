//! Tries that could have been left out: what a thread has read last is all that it keeps of them, and it could have read that at
//! once.
//!
//! A compare-exchange fails, and the next try expects what it read. A section of reads finds that the version has changed, and is
//! tried again with the new one. No state comes back, and yet the try was for nothing: had the thread read what it read last
//! where it began, it would stand where it stands. The last read then leads nowhere, like one that comes round in a loop
//! (`sleep.rs`): the execution without the try stands for this one. `docs/EXPLORATION.md` has the argument. Writes to objects
//! that nobody has seen may be among the events of a try (`unseen.rs`); then they are among those that stand for it.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::reductions::idle::{COMPARISONS, LOOK_BACK, is_same_state, may_be_early};
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::{Explorer, Subject};
use crate::threads::Threads;
use crate::threads::code::{CasRead, FP, Half, Op};
use crate::threads::interpret::{Machine, Next, Snapshot};
use crate::threads::path::{EventId, Kind, Node, NodeId, Shift, Trie};
use fencepost_ir::{Order, Value};
use smallvec::SmallVec;
use std::ops::Range;

/// How many reads at the end of a try may stand for those before it.
const MOST_READS: usize = 16;

/// The reads, and unseen writes, in slots `from..from + reads` of a thread, in place of which those in slots `to..to + reads`
/// could have been: all before the latter would not be there.
#[derive(Clone, Copy)]
struct Try {
    thread: usize,
    from: usize,
    to: usize,
    reads: usize,
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Where the thread stands, if it is before the read of `node` in slot `index` and has made a try that could be left out. If
    /// it
    /// has come back with the values that it had, it spins: only what they depend on is not what it was.
    pub(crate) fn retries(
        &mut self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
    ) -> Option<Snapshot> {
        let Subject { code, layout } = *self.subject;
        let here = self.trie.node(node);
        let (pc, mut earlier) = (here.pc(), here.same_pc as usize);
        if self.is_out_of_order()
            || code.live[pc as usize].is_none()
            || !self.control.caution.reductions.has(Reduction::Retry)
        {
            return None;
        }
        let frontier = *graph.snapshot(layout, thread, index);
        let oldest = graph.settled(thread).max(frontier.changed).max(frontier.rewrote) as usize;
        if index < oldest + 2 {
            return None;
        }
        // A compare-exchange that failed behind a read of its cell.
        let last = self.trie.node(graph.node(layout.base[thread] as usize + index - 1));
        let failed = last.failure.is_some() || last.half == Half::Waiting;
        let only = Try { thread, from: index - 2, to: index - 1, reads: 1 };
        if failed && self.is_for_nothing(graph, only, node) {
            return Some(Snapshot::stopped(Next::Retrying));
        }
        // An iteration from this operation to this operation, with the reads before it and its last ones.
        for _ in 0..COMPARISONS {
            if earlier <= oldest + 1 || index - earlier >= LOOK_BACK {
                return None;
            }
            let begun = earlier - 1;
            let most = MOST_READS.min(begun - oldest).min(index - begun);
            let then = graph.registers(layout, thread, begun);
            let was_here = is_same_state(code, pc, then, graph.registers(layout, thread, index), |_| true);
            let mut same_values = true;
            for reads in 1..=most {
                let repeated = Try { thread, from: begun - reads, to: index - reads, reads };
                if !self.reads_alike(graph, repeated) {
                    break;
                }
                // With the same values it would stand where it stood.
                let value = |slot: usize| graph.value(layout.base[thread] as usize + slot);
                same_values &= value(repeated.from) == value(repeated.to);
                // With unseen writes, nothing is said of threads that wait for ever: they come round with the same values.
                if (if repeated.from < frontier.unseen as usize {
                    !same_values
                } else {
                    was_here || !same_values
                }) && (repeated.from, repeated.to) != (only.from, only.to)
                    && self.is_for_nothing(graph, repeated, node)
                {
                    let Snapshot { changed, rewrote, .. } = frontier;
                    return Some(match was_here && frontier.unseen as usize <= repeated.from {
                        true => Snapshot {
                            value: begun as u64,
                            changed,
                            rewrote,
                            ..Snapshot::stopped(Next::Spinning)
                        },
                        false => Snapshot::stopped(Next::Retrying),
                    });
                }
            }
            earlier = self.trie.node(graph.node(layout.base[thread] as usize + begun)).same_pc as usize;
        }
        None
    }

    /// Whether the first of them are the same access to the same cell.
    fn reads_alike(&self, graph: &Graph<M, W>, repeated: Try) -> bool {
        let base = self.subject.layout.base[repeated.thread] as usize;
        let node = |slot: usize| self.trie.node(graph.node(base + slot));
        let (a, b) = (node(repeated.from), node(repeated.to));
        a.kind == b.kind && matches!(a.kind, Kind::Read | Kind::Write) && a.loc() == b.loc()
    }

    /// Whether the thread would stand before the read of `node`, in the same state, if it had read in slots `from..` what it
    /// read in slots `to..`, and had not done what is between.
    fn is_for_nothing(&mut self, graph: &Graph<M, W>, tried: Try, node: NodeId) -> bool {
        let Subject { code, layout } = *self.subject;
        let Try { thread, from, to, reads } = tried;
        let base = layout.base[thread] as usize;
        let pc = self.trie.node(node).pc();
        let shift = Shift { first: base + from, reads, by: to - from };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(graph.registers(layout, thread, from));
        let mut at = Some((graph.node(base + from), graph.snapshot(layout, thread, from).value));
        for event in base + to..base + to + reads {
            let next = if event + 1 == base + to + reads { node } else { graph.node(event + 1) };
            at = at.and_then(|(at, value)| {
                let goes_on = match self.trie.node(at).kind {
                    Kind::Write => self.write_instead(graph, (at, value), event, &shift, &mut scratch)?,
                    _ => self.read_instead(graph, at, event, &shift, &mut scratch)?,
                };
                let steps = ((at, goes_on.0), (graph.node(event), next));
                self.trie.same_fences(steps.0, steps.1, &shift, code).then_some(goes_on)
            });
        }
        let same = at.is_some_and(|(at, _)| {
            let (there, here) = (self.trie.node(at), self.trie.node(node));
            there.pc() == pc
                && there.loc() == here.loc()
                && self.trie.same_reservation(at, node)
                && (!M::DEPENDENCIES || self.trie.means_no_more(at, node, &shift))
                && is_same_state(code, pc, &scratch, graph.registers(layout, thread, to + reads), |word| {
                    !M::DEPENDENCIES || self.trie.depends_no_more(at, node, &shift, word)
                })
        });
        self.scratch = scratch;
        let again = |trie: &Trie<M, W>, event: &Node<M::Static, W>| {
            let mut later = (base + to..base + to + reads).map(|read| trie.node(graph.node(read)));
            // What is left out of unseen writes is looked at below.
            if event.kind == Kind::Write {
                return true;
            }
            // A read that is not atomic races with more than one that is.
            let covered = event.kind == Kind::Read && !(M::RACES && event.ann.order == Order::Plain);
            covered && !may_be_early(trie, event, node) && later.any(|read| read.loc() == event.loc())
        };
        let left_out = base + from..base + to;
        let unseen = || left_out.clone().filter(|&e| self.is_plain_write(graph, e));
        if !same || !unseen().all(|e| self.is_made_again(graph, e, base + to..base + to + reads)) {
            return false;
        }
        let unseen: SmallVec<[usize; 4]> = unseen().collect();
        if self.would_lose(graph, left_out.clone(), |event| again(&self.trie, event)) {
            return false;
        }
        self.forget(graph, left_out, node, again);
        self.forget_unseen(graph, unseen.into_iter());
        true
    }

    /// Whether an unseen write that would be left out is made again by later events, and none of these reads it.
    fn is_made_again(&self, graph: &Graph<M, W>, write: usize, later: Range<usize>) -> bool {
        let loc = self.trie.node(graph.node(write)).loc();
        let kind = |e: usize| self.trie.node(graph.node(e)).kind;
        let writes_it = |e: usize| kind(e) == Kind::Write && self.trie.node(graph.node(e)).loc() == loc;
        let reads_it = |e: usize| kind(e) == Kind::Read && graph.rf(e) == write as EventId;
        later.clone().any(writes_it) && !later.clone().any(reads_it)
    }

    /// Lets the thread read by the node `at` what it read by `event`, if that may stand in its place, and go on to its next
    /// event.
    fn read_instead(
        &mut self,
        graph: &Graph<M, W>,
        at: NodeId,
        event: usize,
        shift: &Shift,
        registers: &mut [u64],
    ) -> Option<(NodeId, u64)> {
        let code = self.subject.code;
        if !self.may_replace(graph, at, event, shift) {
            return None;
        }
        let node = self.trie.node(at);
        let Op::Load { width, extend, dst, undefined, .. } = code.ops[node.pc() as usize] else {
            return None;
        };
        let (value, fp) = (graph.value(event), registers[FP] as usize);
        // A read that would have succeeded would have written.
        if let Some(CasRead { other: Some(_), .. }) = node.failure
            && self.threads.succeeds(&self.memory, registers, node, value)
        {
            return None;
        }
        if dst != 0 {
            registers[fp + dst as usize] = undefined.taken(width.extend(extend, Value(value)).0);
        }
        self.next_instead(at, registers)
    }

    /// The same of an unseen write: by the node `at`, it would write `value`.
    fn write_instead(
        &mut self,
        graph: &Graph<M, W>,
        (at, value): (NodeId, u64),
        event: usize,
        shift: &Shift,
        registers: &mut [u64],
    ) -> Option<(NodeId, u64)> {
        let (a, b) = (self.trie.node(at), self.trie.node(graph.node(event)));
        let is_same = b.kind == Kind::Write
            && (a.pc(), a.loc(), value) == (b.pc(), b.loc(), graph.value(event))
            && (!M::DEPENDENCIES || M::orders_no_more(&a.statics, &b.statics, shift));
        if !is_same || !self.is_unseen_write(graph, event) {
            return None;
        }
        self.next_instead(at, registers)
    }

    /// Goes on from a node to the next event of its thread, with what it would write.
    fn next_instead(&mut self, at: NodeId, registers: &mut [u64]) -> Option<(NodeId, u64)> {
        let (code, thread) = (self.subject.code, self.trie.node(at).thread as usize);
        let mut machine = Machine::new(code, &mut self.memory, &self.model, thread, &self.control.limits);
        let next = machine.advance(&mut self.trie, at, registers);
        (next.next == Next::Event && !machine.needs_room).then_some((next.node, next.value))
    }

    /// Whether the read `event`, at the place of the node `at`, is ordered no more than it is: it is of the same cell, its order
    /// is no weaker,
    /// and the node is no load- or store-exclusive.
    fn may_replace(&self, graph: &Graph<M, W>, at: NodeId, event: usize, shift: &Shift) -> bool {
        let (a, b) = (self.trie.node(at), self.trie.node(graph.node(event)));
        let failing = a.failure.as_ref().map_or(a.ann, |failure| failure.ann).order;
        let strength = |order: Order| match order {
            // Where there are races, a plain read may be part of one.
            Order::Plain if M::RACES => None,
            Order::Plain | Order::Relaxed => Some(0),
            Order::SeqCst => Some(2),
            _ => Some(1),
        };
        let no_weaker = match (strength(failing), strength(graph.order(event))) {
            (Some(a), Some(b)) => a <= b,
            _ => false,
        };
        a.kind == Kind::Read
            && b.kind == Kind::Read
            && a.loc() == b.loc()
            && a.half != Half::Exclusive
            && no_weaker
            && (!M::DEPENDENCIES || M::orders_no_more(&a.statics, &b.statics, shift))
    }
}
