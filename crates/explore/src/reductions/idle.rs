//! Iterations that changed nothing: a thread that is back where it was has made one for nothing, and is not followed.
//!
//! A thread stands before a read, and stood before the same read `n` events ago. The iteration in between is dropped if
//!
//! * the calls are the same: the same frames, with the same return addresses;
//! * every register that may be used before it is written, of every frame, has the same value, loop counters apart; where
//!   the model looks at dependencies, what the value depended on then it depends on now;
//! * the thread has made no objects, started no threads, and holds the same reservation;
//! * the events in between are reads, fences, failed store-exclusives and compare-exchanges, and read-modify-writes that wrote
//!   what they had read;
//! * nothing could be lost with them, as far as is known (`conflicts.rs`); otherwise the thread goes round once more.
//!
//! `docs/EXPLORATION.md` has the argument: without these events the execution is consistent, ends in the same state, and is
//! explored.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::search::visit::{Explorer, Subject};
use crate::threads::Threads;
use crate::threads::code::{ALLOCATIONS, Code, DISAGREED, FAILED, FP, FRAME, HIDDEN, Half, Op, Pc, SPAWNS};
use crate::threads::interpret::Next;
use crate::threads::memory::LocId;
use crate::threads::path::{INIT, Kind, Node, NodeId, Trie};
use fencepost_ir::Order;
use smallvec::SmallVec;

/// How many events a thread looks back at most.
pub(crate) const LOOK_BACK: usize = 1024;

/// How many earlier states it compares with.
pub(crate) const COMPARISONS: usize = 16;

/// Whether two states of a thread before the operation at `pc` are the same to its future; `depends` says of a word whether
/// its dependencies allow that.
pub(crate) fn is_same_state(
    code: &Code,
    pc: Pc,
    then: &[u64],
    now: &[u64],
    depends: impl Fn(usize) -> bool,
) -> bool {
    difference(code, pc, then, now, depends).is_none()
}

/// The first word in which they differ. Which words matter is a matter of `now`: a state that differs in the same word is
/// another one, too.
fn difference(
    code: &Code,
    mut pc: Pc,
    then: &[u64],
    now: &[u64],
    depends: impl Fn(usize) -> bool,
) -> Option<usize> {
    let hidden = [FP, DISAGREED, FAILED, ALLOCATIONS, SPAWNS];
    if let Some(&word) = hidden.iter().find(|&&word| then[word] != now[word]) {
        return Some(word);
    }
    let mut frame = now[FP] as usize;
    let mut result = 0;
    loop {
        let Some(live) = &code.live[pc as usize] else { return Some(FP) };
        for (i, &set) in live.iter().enumerate() {
            let mut left = set;
            while left != 0 {
                let r = i * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let word = frame + r;
                // What a call gives back is written when it returns.
                if r != result && (then[word] != now[word] || !depends(word)) {
                    return Some(word);
                }
            }
        }
        if frame == HIDDEN {
            return None;
        }
        if let Some(word) = (frame..frame + FRAME).find(|&word| then[word] != now[word]) {
            return Some(word);
        }
        (pc, result) = (now[frame + 1] as Pc, now[frame + 2] as usize);
        frame = now[frame] as usize;
    }
}

/// Whether the read `next`, once made, means to others whatever an event of its thread before it could have meant.
fn is_done_by<S, W: RowWidth>(code: &Code, event: &Node<S, W>, next: &Node<S, W>) -> bool {
    let is_same = code.stands_at(event.pc()) == code.stands_at(next.pc());
    let does = match event.kind {
        Kind::Write => next.half == Half::Amo && next.failure.is_none(),
        _ => is_same || event.ann.order != Order::Plain,
    };
    event.loc() == next.loc() && does
}

/// Whether a write of an iteration that may be dropped is to an object that nobody has seen: all others are of
/// read-modify-writes.
fn is_unseen<S, W: RowWidth>(event: &Node<S, W>) -> bool {
    event.kind == Kind::Write && event.half == Half::None
}

/// Whether a read before the node may read what is written only because of a later write of its thread. The read that comes next
/// could
/// read that, too; but what is read with it may be something else by then, so that it does not stand for this one.
pub(crate) fn may_be_early<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    event: &Node<M::Static, W>,
    node: NodeId,
) -> bool {
    M::OUT_OF_ORDER && event.kind == Kind::Read && !trie.is_before_later_writes(event.event as usize, node)
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// The slot in which the thread was before at the read that it stands before in slot `index`, if what it did since may be
    /// dropped. `now` are its registers.
    pub(crate) fn spins(
        &mut self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        now: &[u64],
    ) -> Option<usize> {
        let Subject { code, layout } = *self.subject;
        let here = self.trie.node(node);
        let (pc, mut earlier) = (here.pc(), here.same_pc);
        code.live[pc as usize].as_ref()?;
        if !self.control.caution.reductions.has(Reduction::Idle) {
            return None;
        }
        let base = layout.base[thread] as usize;
        let frontier = graph.snapshot(layout, thread, index);
        let oldest = graph.settled(thread).max(frontier.changed);
        // Mostly a counter: what tells one earlier state from this one does so with the others, too.
        let (mut telling, mut kept) = (FP, None);
        for _ in 0..COMPARISONS {
            if earlier <= oldest || index - earlier as usize >= LOOK_BACK {
                return None;
            }
            let slot = earlier as usize - 1;
            let event = base + slot;
            let then = graph.registers(layout, thread, slot);
            let depends = |word| !M::DEPENDENCIES || self.trie.depends_as_much(graph.node(event), node, word);
            if then[telling] == now[telling]
                && self.trie.same_reservation(graph.node(event), node)
                && (frontier.unseen < earlier || self.are_written_next(graph, event..base + index, node, now))
                && (frontier.rewrote < earlier || self.rewrites_one_cell(graph, event..base + index, node))
            {
                match difference(code, pc, then, now, depends) {
                    None if kept.is_some()
                        || !self.would_lose_iteration(graph, event..base + index, node) =>
                    {
                        let last = kept.unwrap_or(slot);
                        let done = |trie: &Trie<M, W>, event: &_| {
                            is_unseen(event)
                                || (is_done_by(code, event, trie.node(node))
                                    && !may_be_early(trie, event, node))
                        };
                        if frontier.unseen > last as u32 {
                            let unseen: SmallVec<[usize; 4]> = (base + last..base + index)
                                .filter(|&e| is_unseen(self.trie.node(graph.node(e))))
                                .collect();
                            self.forget_unseen(graph, unseen.into_iter());
                        }
                        self.forget(graph, base + last..base + index, node, done);
                        return Some(last);
                    }
                    // Once more, so that what comes of such an iteration is seen.
                    None => kept = Some(slot),
                    Some(word) => telling = word,
                }
            }
            earlier = self.trie.node(graph.node(event)).same_pc;
        }
        None
    }

    /// Whether something could be lost with the iteration, after which the thread stands before the read of `node`.
    fn would_lose_iteration(
        &self,
        graph: &Graph<M, W>,
        events: std::ops::Range<usize>,
        node: NodeId,
    ) -> bool {
        let (code, here) = (self.subject.code, self.trie.node(node));
        self.would_lose(graph, events, |event| {
            is_unseen(event) || (is_done_by(code, event, here) && !may_be_early(&self.trie, event, node))
        })
    }

    /// How many events a thread had after the last one that changed something, after the last that wrote what it had
    /// read, and after the last that wrote to an object that nobody had seen, given that it has just made the event of that
    /// index.
    #[inline(always)]
    pub(crate) fn last_changes(&self, graph: &Graph<M, W>, thread: usize, index: usize) -> (u32, u32, u32) {
        let layout = self.subject.layout;
        let before = graph.snapshot(layout, thread, index);
        let event = layout.base[thread] as usize + index;
        let node = self.trie.node(graph.node(event));
        let now = index as u32 + 1;
        if self.is_unseen_write(graph, event) {
            return (before.changed, before.rewrote, now);
        }
        if !self.changes_nothing(graph, event, node) {
            return (now, before.rewrote, before.unseen);
        }
        (before.changed, if node.kind == Kind::Write { now } else { before.rewrote }, before.unseen)
    }

    /// Whether what read-modify-writes among the events wrote, all of which they had read, is to one cell, which the thread
    /// writes again where that matters.
    fn rewrites_one_cell(&self, graph: &Graph<M, W>, events: std::ops::Range<usize>, here: NodeId) -> bool {
        let nodes = events.map(|e| self.trie.node(graph.node(e)));
        let mut cells = nodes.filter(|node| node.kind == Kind::Write && !is_unseen(node)).map(Node::loc);
        let Some(first) = cells.next() else { return true };
        cells.all(|loc| loc == first) && self.writes_again(self.trie.node(here), first)
    }

    /// Whether nobody can tell whether the event happened, given that its thread is back where it was.
    fn changes_nothing(&self, graph: &Graph<M, W>, event: usize, node: &Node<M::Static, W>) -> bool {
        match node.kind {
            Kind::Read | Kind::Fence(_) | Kind::Skip => true,
            // To fail; whether that was right is seen later, and part of the registers.
            Kind::Choice => {
                matches!(self.subject.code.ops[node.pc() as usize], Op::Choice { exchange: true, .. })
                    && graph.value(event) == 0
            }
            Kind::Write => {
                node.half == Half::Amo
                    && node.partner != INIT
                    && graph.value(event) == graph.value(node.partner as usize)
            }
            _ => false,
        }
    }

    /// Whether a thread spins that writes to an object which nobody has seen. No finding is made of that: it is as if its
    /// loop had been cut.
    pub(crate) fn spins_writing(&self, graph: &Graph<M, W>, thread: usize) -> bool {
        let layout = self.subject.layout;
        let (snapshot, base) = (graph.frontier(layout, thread), layout.base[thread] as usize);
        snapshot.next == Next::Spinning
            && (base + snapshot.value as usize..base + graph.front(thread) as usize)
                .any(|e| is_unseen(self.trie.node(graph.node(e))))
    }

    /// A write that is dropped may have been read by its own thread before others could see it, where the model has that. It
    /// is safe to drop if the thread writes the cell again at once.
    fn writes_again(&self, here: &Node<M::Static, W>, loc: LocId) -> bool {
        !M::OUT_OF_ORDER || (here.loc() == loc && here.half == Half::Amo && here.failure.is_none())
    }

    /// Some thread waits or spins, and every such thread has seen the newest values: it will wait as long as there
    /// is a process.
    pub(crate) fn is_stuck_for_ever(&self, graph: &Graph<M, W>) -> bool {
        let layout = self.subject.layout;
        let mut stuck = false;
        // What rounds of loops wrote is what they had read.
        let mut silent: Row<W> = Row::EMPTY;
        for t in 0..layout.threads() {
            let snapshot = graph.frontier(layout, t);
            if snapshot.next == Next::Spinning {
                let base = layout.base[t] as usize;
                silent |= Row::range(base + snapshot.value as usize, base + graph.front(t) as usize);
            }
        }
        for t in 0..layout.threads() {
            let end = graph.front(t) as usize;
            let start = match graph.frontier(layout, t).next {
                Next::Ended | Next::Halted | Next::Returned | Next::NotStarted | Next::Tail => continue,
                Next::Event => {
                    // A join of a thread that does not end.
                    stuck = true;
                    continue;
                }
                Next::Waiting => end.saturating_sub(1),
                Next::Spinning => graph.frontier(layout, t).value as usize,
                Next::Blocked | Next::Retrying | Next::Cut | Next::Failed(_) => return false,
            };
            let base = layout.base[t] as usize;
            stuck = true;
            for e in base + start..base + end {
                let node = self.trie.node(graph.node(e));
                if node.kind == Kind::Read {
                    let mut later = graph.co_after(graph.rf(e), node.loc()).iter();
                    if later.any(|&w| !silent.contains(w as usize)) {
                        return false;
                    }
                }
            }
        }
        stuck
    }
}
