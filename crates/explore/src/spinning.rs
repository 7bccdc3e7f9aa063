//! Iterations that changed nothing: a thread that is back where it was has made one for nothing, and is not followed.
//!
//! A thread stands before a read, and stood before the same read `n` events ago. The iteration in between is dropped if
//!
//! * the calls are the same: the same frames, with the same return addresses;
//! * every register that may be used before it is written, of every frame, has the same value, loop counters apart; where
//!   the model looks at dependencies, what the value depended on then it depends on now;
//! * the thread has made no objects, started no threads, and holds the same reservation;
//! * the events in between are reads, fences, failed store-exclusives and compare-exchanges, and read-modify-writes that wrote
//!   what they had read.
//!
//! `docs/EXPLORATION.md` has the argument: without these events the execution is consistent, ends in the same state, and is
//! explored.

use crate::code::{ALLOCATIONS, Code, DISAGREED, FAILED, FP, FRAME, HIDDEN, Half, Op, Pc, SPAWNS};
use crate::graph::Graph;
use crate::interpret::{Machine, Next};
use crate::memory::{LocId, Storage};
use crate::model::MemoryModel;
use crate::path::{INIT, Kind, Node, NodeId};
use crate::row::Row;
use crate::visit::{Explorer, Subject};
use fencepost_ir::{Order, Value};

/// How many events a thread looks back at most, so that a long loop that only reads does not cost its square.
const LOOK_BACK: usize = 1024;

/// How many earlier states it compares with.
const COMPARISONS: usize = 16;

/// Events that a loop may make beyond its bound if no other thread has been started.
const ALONE: usize = 20_000;

/// Events that it may make if nobody else has had to do with what it reads so far: others may still come.
const OWN_EVENTS: usize = 256;

/// Whether two states of a thread before the operation at `pc` are the same to its future; `depends` says of a word whether
/// its dependencies allow that.
fn is_same_state(
    code: &Code,
    mut pc: Pc,
    then: &[u64],
    now: &[u64],
    depends: impl Fn(usize) -> bool,
) -> bool {
    let hidden = |r: usize| then[r] == now[r];
    if !(hidden(FP) && hidden(DISAGREED) && hidden(FAILED) && hidden(ALLOCATIONS) && hidden(SPAWNS)) {
        return false;
    }
    let mut frame = now[FP] as usize;
    let mut result = 0;
    loop {
        let Some(live) = &code.live[pc as usize] else { return false };
        for (i, &set) in live.iter().enumerate() {
            let mut left = set;
            while left != 0 {
                let r = i * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let word = frame + r;
                // What a call gives back is written when it returns.
                if r != result && (then[word] != now[word] || !depends(word)) {
                    return false;
                }
            }
        }
        if frame == HIDDEN {
            return true;
        }
        if then[frame..frame + FRAME] != now[frame..frame + FRAME] {
            return false;
        }
        (pc, result) = (now[frame + 1] as Pc, now[frame + 2] as usize);
        frame = now[frame] as usize;
    }
}

impl<M: MemoryModel<W>, const W: usize> Explorer<'_, M, W> {
    /// The slot in which the thread was before at the read that it stands before in slot `index`, if what it did since may be
    /// dropped. `now` are its registers.
    pub(crate) fn spins(
        &self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        now: &[u64],
    ) -> Option<usize> {
        let Subject { code, layout } = *self.subject;
        let here = self.trie.node(node);
        let pc = here.pc();
        code.live[pc as usize].as_ref()?;
        if self.control.follows_all() {
            return None;
        }
        let mut written: Option<LocId> = None;
        let mut comparisons = 0;
        let oldest = (graph.settled[thread] as usize).max(index.saturating_sub(LOOK_BACK));
        for earlier in (oldest..index).rev() {
            let event = layout.base[thread] as usize + earlier;
            let passed = self.trie.node(graph.node[event]);
            if !self.changes_nothing(graph, event, passed) {
                return None;
            }
            if passed.kind == Kind::Write {
                if written.is_some_and(|loc| loc != passed.loc()) {
                    return None;
                }
                written = Some(passed.loc());
            }
            if passed.pc() != pc {
                continue;
            }
            let then = &graph.regs[layout.regs(thread, earlier)];
            let depends = |word| !M::DEPENDENCIES || self.trie.depends_as_much(graph.node[event], node, word);
            if self.trie.same_reservation(graph.node[event], node)
                && written.is_none_or(|loc| self.writes_again(here, loc))
                && is_same_state(code, pc, then, now, depends)
            {
                return Some(earlier);
            }
            comparisons += 1;
            if comparisons == COMPARISONS {
                return None;
            }
        }
        None
    }

    /// Whether nobody can tell whether the event happened, given that its thread is back where it was.
    fn changes_nothing(&self, graph: &Graph<M, W>, event: usize, node: &Node<M::Static, W>) -> bool {
        match node.kind {
            Kind::Read | Kind::Fence(_) | Kind::Skip => true,
            // To fail; whether that was right is seen later, and part of the registers.
            Kind::Choice => {
                matches!(self.subject.code.ops[node.pc() as usize], Op::Choice { exchange: true, .. })
                    && graph.value[event] == 0
            }
            Kind::Write => {
                node.half == Half::Amo
                    && node.partner != INIT
                    && graph.value[event] == graph.value[node.partner as usize]
            }
            _ => false,
        }
    }

    /// A write that is dropped may have been read by its own thread before others could see it, where the model has that. It
    /// is safe to drop if the thread writes the cell again at once.
    fn writes_again(&self, here: &Node<M::Static, W>, loc: LocId) -> bool {
        !M::OUT_OF_ORDER || (here.loc() == loc && here.half == Half::Amo && here.failure.is_none())
    }

    /// Whether the thread, which stands before the read of `node` in slot `index`, has read a cell twice in a row, and would
    /// stand there in the same state if the first of the two reads had read what the second did, and there were no second.
    pub(crate) fn is_retry(
        &mut self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
    ) -> bool {
        let Subject { code, layout } = *self.subject;
        let pc = self.trie.node(node).pc();
        if code.live[pc as usize].is_none() || self.control.follows_all() {
            return false;
        }
        let base = layout.base[thread] as usize;
        let Some(second) = self.last_read(graph, thread, index) else { return false };
        let Some(first) = self.last_read(graph, thread, second) else { return false };
        let (first_node, second_node) = (graph.node[base + first], graph.node[base + second]);
        if !self.may_replace(graph, base + first, base + second)
            || !self.trie.no_fence_between(first_node, second_node)
            || !self.trie.no_fence_between(second_node, node)
        {
            return false;
        }
        let Op::Load { width, extend, dst, .. } = code.ops[self.trie.node(first_node).pc() as usize] else {
            return false;
        };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(&graph.regs[layout.regs(thread, first)]);
        let fp = scratch[FP] as usize;
        if dst != 0 {
            scratch[fp + dst as usize] = width.extend(extend, Value(graph.value[base + second])).0;
        }
        let mut at = first_node;
        let mut machine = Machine::new(code, &mut self.memory, &self.model, thread);
        let mut next = machine.advance(&mut self.trie, at, &mut scratch);
        while next.next == Next::Event && self.trie.node(next.node).kind == Kind::Skip {
            at = next.node;
            next = machine.advance(&mut self.trie, at, &mut scratch);
        }
        let now = &graph.regs[layout.regs(thread, index)];
        let other = next.node;
        let (a, b) = (base + first, base + second);
        let same = next.next == Next::Event
            && !machine.needs_room
            && self.trie.node(other).pc() == pc
            && self.trie.node(other).loc() == self.trie.node(node).loc()
            && self.trie.no_fence_between(first_node, other)
            && self.trie.same_reservation(other, node)
            && (!M::DEPENDENCIES || self.trie.control_as_much(other, node, a, b))
            && is_same_state(code, pc, &scratch, now, |word| {
                !M::DEPENDENCIES || self.trie.depends_as_much_as(other, node, word, a, b)
            });
        self.scratch = scratch;
        same
    }

    /// The last read of a thread before slot `index`, if it made no other event since but to pass a write by.
    fn last_read(&self, graph: &Graph<M, W>, thread: usize, index: usize) -> Option<usize> {
        let base = self.subject.layout.base[thread] as usize;
        let oldest = graph.settled[thread] as usize;
        let kind = |i: usize| self.trie.node(graph.node[base + i]).kind;
        let last = (oldest..index).rev().find(|&i| kind(i) != Kind::Skip)?;
        (kind(last) == Kind::Read).then_some(last)
    }

    /// Whether a read, at the place of the one before it, would be ordered no more than it is: the same cell, an order that is no
    /// stronger, an address that depends on no more, and no part of a read-modify-write that the other is not.
    fn may_replace(&self, graph: &Graph<M, W>, first: usize, second: usize) -> bool {
        let (a, b) = (self.trie.node(graph.node[first]), self.trie.node(graph.node[second]));
        let failing = a.failure.as_ref().map_or(a.ann, |failure| failure.ann);
        let strength = |order: Order| match order {
            Order::Plain | Order::Relaxed => 0,
            Order::SeqCst => 2,
            _ => 1,
        };
        let orders = failing.order == graph.order[second]
            || (!M::OUT_OF_ORDER
                && failing.order != Order::Plain
                && strength(failing.order) <= strength(graph.order[second]));
        a.loc() == b.loc()
            && a.half != Half::Exclusive
            && b.half != Half::Exclusive
            && (a.half == Half::None || b.half != Half::None)
            && orders
            && (!M::DEPENDENCIES
                || self.trie.address_as_much(graph.node[first], graph.node[second], self.subject.code))
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
                silent |= Row::range(base + snapshot.value as usize, base + graph.front[t] as usize);
            }
        }
        for t in 0..layout.threads() {
            let end = graph.front[t] as usize;
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
                let node = self.trie.node(graph.node[e]);
                if node.kind == Kind::Read {
                    let mut later = graph.co_after(graph.rf[e], node.loc()).iter();
                    if later.any(|&w| !silent.contains(w as usize)) {
                        return false;
                    }
                }
            }
        }
        stuck
    }

    /// Whether a loop whose bound is used up at `pc` is followed all the same: nobody else has a say in how long it is. Either
    /// no other thread has been started, or all that the thread has read since it entered the loop is in objects that threads make, and
    /// nobody else has written or read it so far. `registers` are the thread's, `index` its next event.
    pub(crate) fn reads_its_own(
        &self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        pc: Pc,
        registers: &[u64],
    ) -> bool {
        let Subject { code, layout } = *self.subject;
        let Op::Cut { entered } = code.ops[pc as usize] else { return false };
        if entered == 0 || self.control.follows_all() {
            return false;
        }
        let entered = registers[registers[FP] as usize + entered as usize] as usize;
        let is_started = |t: usize| graph.frontier(layout, t).next != Next::NotStarted;
        let alone = (0..layout.threads()).all(|t| t == thread || !is_started(t));
        if index - entered.min(index) > if alone { ALONE } else { OWN_EVENTS } {
            return false;
        }
        let is_own = |e: usize| layout.thread_of[e] as usize == thread;
        let is_own_cell = |loc: LocId| {
            let global = self.memory.storage(self.memory.location(loc).0.object) == Some(Storage::Global);
            let writes = &graph.co[loc as usize];
            !global
                && graph.init_readers[loc as usize].is_empty()
                && writes.iter().all(|&w| is_own(w as usize) && graph.readers[w as usize].iter().all(is_own))
        };
        let since = layout.base[thread] as usize + entered..layout.base[thread] as usize + index;
        // A loop that only writes ends by itself or not at all.
        (since.is_empty() || since.clone().any(|e| graph.reads.contains(e)))
            && since.clone().all(|e| {
                let node = self.trie.node(graph.node[e]);
                match node.kind {
                    Kind::Choice => false,
                    Kind::Read => alone || is_own_cell(node.loc()),
                    _ => true,
                }
            })
    }
}
