//! Reads that wait: `await`, `assume`, and loops that go round without having written anything.
//!
//! A thread that reads a value that will not do is back where it was. Such a read is not added to the graph: the thread
//! sleeps until a write to that cell comes, and only values that let it go on are read. An execution in which it first
//! read other values is the same without those reads, as far as anybody else can tell. This keeps the exploration
//! canonical, with *coherence-maximal* replaced by *coherence-maximal among the writes that let the thread go on*:
//! `docs/EXPLORATION.md` has the argument.
//!
//! Two things need care.
//! * A thread may wait for ever although it could have gone on earlier. So where the newest value does not let it go on
//!   but an older one does, there is one more branch, in which it reads the newest value and is dead. A dead read takes
//!   part in no revisit, and the branch is given up when a newer value comes.
//! * A read that is not added cannot race. So in models with races the cell must be accessed atomically only; and it must
//!   be a global one, which is always initialised and never freed. Otherwise the exploration starts over with caution:
//!   every value is then read, as long as the thread that read it stays blocked.

use crate::code::{FP, HIDDEN, Half, Op};
use crate::control::Need;
use crate::graph::Graph;
use crate::interpret::{Machine, Next, Snapshot};
use crate::memory::{LocId, Storage};
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, NO_NODE, NodeId};
use crate::row::Row;
use crate::visit::{Explorer, Subject};
use fencepost_ir::{Order, Value};

/// Cells that somebody waits for, and cells that somebody writes without atomicity.
#[derive(Default)]
pub struct Watch {
    waited: Vec<bool>,
    plain: Vec<bool>,
}

fn mark(seen: &mut Vec<bool>, loc: LocId) -> bool {
    let at = loc as usize;
    if seen.len() <= at {
        seen.resize(at + 1, false);
    }
    !std::mem::replace(&mut seen[at], true)
}

impl<M: MemoryModel<W>, const W: usize> Explorer<'_, M, W> {
    /// Whether reads of this node may be put off.
    #[inline(always)]
    pub(crate) fn may_sleep(&self, node: NodeId) -> bool {
        let node = self.trie.node(node);
        !M::OUT_OF_ORDER
            && self.subject.code.may_wait[node.pc() as usize]
            && node.half == Half::None
            && !self.control.is_cautious()
    }

    /// Notes that a thread waits for the cell that the node reads; caution is needed if that could hide a finding.
    pub(crate) fn note_waiting(&mut self, node: NodeId) {
        let node = self.trie.node(node);
        let (loc, plain) = (node.loc(), node.ann.order == Order::Plain);
        if !mark(&mut self.watch.waited, loc) {
            return;
        }
        let location = self.memory.location(loc).0;
        let global = self.memory.storage(location.object) == Some(Storage::Global);
        if !global || (M::RACES && (plain || self.control.is_plain_and_waited_for(location, false))) {
            self.control.overflow(Need::Caution);
        }
    }

    /// Notes a write that is not atomic.
    #[inline(always)]
    pub(crate) fn note_plain_write(&mut self, loc: LocId) {
        if M::RACES && mark(&mut self.watch.plain, loc) {
            let location = self.memory.location(loc).0;
            if self.control.is_plain_and_waited_for(location, true) {
                self.control.overflow(Need::Caution);
            }
        }
    }

    /// Nothing that the thread can read lets it go on: the others go first. It is looked at again when there is a new write.
    pub(crate) fn sleep(&mut self, graph: &mut Graph<M, W>, thread: usize, loc: LocId) {
        let before = graph.asleep[thread];
        graph.asleep[thread] = (loc, graph.co[loc as usize].len() as u32);
        self.visit(graph);
        graph.asleep[thread] = before;
    }

    /// The thread reads the newest value, which does not let it go on, and stays there.
    pub(crate) fn wait_for_ever(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let event = self.event_of(graph, thread);
        let front = graph.front[thread];
        self.read_newest(graph, thread, snapshot);
        if matches!(graph.frontier(self.subject.layout, thread).next, Next::Waiting | Next::Spinning) {
            graph.dead.insert(event as usize);
            self.descend(graph);
            graph.dead.remove(event as usize);
        }
        self.unread(graph, thread, event, front);
    }

    fn read_newest(&mut self, graph: &mut Graph<M, W>, thread: usize, snapshot: Snapshot) {
        let event = self.event_of(graph, thread);
        graph.reserve_cells(self.memory.cells());
        let loc = self.trie.node(snapshot.node).loc();
        let newest = graph.co[loc as usize].last().copied().unwrap_or(INIT);
        self.place(graph, event, snapshot);
        self.set_source(graph, event, newest);
        self.advance_thread(graph, thread);
    }

    fn unread(&mut self, graph: &mut Graph<M, W>, thread: usize, event: EventId, front: u16) {
        graph.set_front(self.subject.layout, thread, front);
        self.clear_source(graph, event);
        graph.remove_read(event);
    }

    /// At the end, a thread that still sleeps has read the newest value and waits.
    pub(crate) fn finish_asleep(&mut self, graph: &mut Graph<M, W>, thread: usize) {
        let snapshot = *graph.frontier(self.subject.layout, thread);
        let event = self.event_of(graph, thread);
        let front = graph.front[thread];
        let asleep = std::mem::replace(&mut graph.asleep[thread], crate::graph::AWAKE);
        self.read_newest(graph, thread, snapshot);
        self.finish(graph);
        self.unread(graph, thread, event, front);
        graph.asleep[thread] = asleep;
    }

    /// Whether the read `d` reads the coherence-latest write of `among` that it could canonically read. That the source is
    /// among them, or is earlier, is not looked at.
    pub(crate) fn reads_canonically(&mut self, graph: &Graph<M, W>, d: usize, among: &Row<W>) -> bool {
        let node = graph.node[d];
        let loc = self.trie.node(node).loc() as usize;
        let source = graph.rf[d];
        let sleepy = self.may_sleep(node);
        for i in (0..graph.co[loc].len()).rev() {
            let w = graph.co[loc][i];
            if w == source {
                return true;
            }
            if among.contains(w as usize) && !(sleepy && self.would_block(graph, d, graph.value[w as usize]))
            {
                return false;
            }
        }
        true
    }

    /// Whether the thread of the read `d` could not go on if the read gave this value.
    fn would_block(&mut self, graph: &Graph<M, W>, d: usize, value: u64) -> bool {
        let Subject { code, layout } = *self.subject;
        let node = self.trie.node(graph.node[d]);
        let (thread, index, pc) = (node.thread as usize, node.index as usize, node.pc());
        let mut regs = std::mem::take(&mut self.scratch);
        regs.clear();
        regs.extend_from_slice(&graph.regs[layout.regs(thread, index)]);
        if let Op::Load { dst, width, extend, .. } = code.ops[pc as usize]
            && dst != 0
        {
            let fp = regs[FP] as usize;
            regs[fp + dst as usize] = width.extend(extend, Value(value)).0;
        }
        let mut machine = Machine {
            code,
            memory: &mut self.memory,
            model: &self.model,
            thread: thread as u16,
            needs_room: false,
        };
        let next = machine.advance(&mut self.trie, graph.node[d], &mut regs);
        if machine.needs_room {
            self.control.overflow(Need::Registers(thread));
        }
        let blocks = is_blocked(next.next)
            || (next.node != NO_NODE && self.spins(graph, thread, index + 1, next.node, &regs).is_some());
        self.scratch = regs;
        blocks
    }

    /// A dead read would see a newer value if the write came to this place of its cell.
    pub(crate) fn wakes_the_dead(&self, graph: &Graph<M, W>, loc: LocId, at: usize) -> bool {
        !graph.dead.is_empty()
            && (graph.init_readers[loc as usize].meets(&graph.dead)
                || graph.co[loc as usize][..at].iter().any(|&w| graph.readers[w as usize].meets(&graph.dead)))
    }

    /// The slot in which the thread was before at the read that it stands before in slot `index`, with the same values in
    /// all registers that matter and nothing but reads in between. `now` are its registers.
    pub(crate) fn spins(
        &self,
        graph: &Graph<M, W>,
        thread: usize,
        index: usize,
        node: NodeId,
        now: &[u64],
    ) -> Option<usize> {
        let Subject { code, layout } = *self.subject;
        let pc = self.trie.node(node).pc();
        let live = code.live[pc as usize].as_ref()?;
        let fp = now[FP] as usize;
        for earlier in (graph.settled[thread] as usize..index).rev() {
            let event = layout.base[thread] as usize + earlier;
            let node = self.trie.node(graph.node[event]);
            if !matches!(node.kind, Kind::Read | Kind::Fence(_) | Kind::Skip) {
                return None;
            }
            if node.pc() != pc {
                continue;
            }
            let then = &graph.regs[layout.regs(thread, earlier)];
            let same = |r: usize| live[r / 64] >> (r % 64) & 1 == 0 || now[fp + r] == then[fp + r];
            if then[FP] as usize == fp
                && now[HIDDEN..fp] == then[HIDDEN..fp]
                && (0..live.len() * 64).all(|r| fp + r >= now.len() || same(r))
            {
                return Some(earlier);
            }
        }
        None
    }

    /// Some thread waits or spins, and every such thread has seen the newest values: it will wait for ever.
    pub(crate) fn is_stuck_for_ever(&self, graph: &Graph<M, W>) -> bool {
        let layout = self.subject.layout;
        let mut stuck = false;
        for t in 0..layout.threads() {
            let end = graph.front[t] as usize;
            let start = match graph.frontier(layout, t).next {
                Next::Ended | Next::NotStarted | Next::Tail => continue,
                Next::Event => {
                    // A join of a thread that does not end.
                    stuck = true;
                    continue;
                }
                Next::Waiting => end.saturating_sub(1),
                Next::Spinning => graph.frontier(layout, t).value as usize,
                Next::Blocked | Next::Cut | Next::Failed(_) => return false,
            };
            let base = layout.base[t] as usize;
            stuck = true;
            for e in base + start..base + end {
                let node = self.trie.node(graph.node[e]);
                if node.kind == Kind::Read && !graph.co_after(graph.rf[e], node.loc()).is_empty() {
                    return false;
                }
            }
        }
        stuck
    }
}

/// The thread cannot go on from here, whatever the others do.
pub(crate) fn is_blocked(next: Next) -> bool {
    matches!(next, Next::Waiting | Next::Spinning | Next::Blocked)
}
