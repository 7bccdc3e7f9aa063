//! Objects that nobody has seen: a try that writes to an object which only its thread can reach yet, and that is followed by one
//! which writes the same cells again, is like a try that writes nothing.
//!
//! *Claim*: `retry.rs` and `idle.rs` may leave such a try out.
//!
//! *Conditions*: the write is *unseen* ([`Explorer::is_unseen_write`]): to an object on the heap that its thread has made,
//! and so far neither put into memory, nor freed, nor had when it started a thread. What stands in the place of the try makes
//! the same unseen writes, with the same values, to every cell that what is left out wrote; and it reads nothing that was
//! left out. Or the thread is back where it was, and whatever it reads, it writes all these cells before it does anything
//! else. No read of another thread could have read the older value: whoever comes to know the object comes to know its last
//! unseen write. That is looked at in every graph ([`Explorer::note_foreign_read`]); where it is not so, the search starts
//! over, and keeps the cell (`conflicts.rs`). `docs/EXPLORATION.md` has the argument.
//!
//! *Off*: [`Reduction::Unseen`]. *Test*: `tests/unseen.rs`.

use crate::models::model::MemoryModel;
use crate::reductions::Reduction;
use crate::reductions::conflicts::Watched;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Explorer;
use crate::threads::Threads;
use crate::threads::code::{Arg, FP, Half, Op, Pc};
use crate::threads::memory::Storage;
use crate::threads::path::{EventId, Kind, NodeId};
use fencepost_ir::{ObjectId, Value, Width};
use smallvec::SmallVec;
use std::ops::Range;

/// Operations behind a load that are looked at.
const OPERATIONS: usize = 32;

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether an event, which is in the graph or tried out, writes to an object that nobody but its thread can reach yet.
    pub(crate) fn is_unseen_write(&self, graph: &Graph<M, W>, event: usize) -> bool {
        let node = self.trie.node(graph.node(event));
        let code = self.subject.code;
        if node.kind != Kind::Write
            || node.half != Half::None
            || code.is_native
            || self.is_out_of_order()
            || !self.control.caution.reductions.has(Reduction::Unseen)
            || !matches!(code.ops[node.pc() as usize], Op::Store { .. })
        {
            return false;
        }
        let object = self.memory.location(node.loc()).0.object;
        self.memory.storage(object) == Some(Storage::Heap)
            && self.memory.maker(object).is_some_and(|(maker, _)| maker == node.thread)
            && !self.is_kept(node.loc())
            && self.shown_at(graph, object, node.thread as usize, event).is_none()
    }

    /// The first event of the maker of an object, before `end`, by which others may come to know of it.
    fn shown_at(&self, graph: &Graph<M, W>, object: ObjectId, maker: usize, end: usize) -> Option<usize> {
        let (number, first) = (self.memory.made_after(object), self.subject.layout.base[maker] as usize);
        let is_later = |e: usize| self.trie.node(graph.node(e)).made() > number;
        // From its making on.
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_later(middle) { high = middle } else { low = middle + 1 }
        }
        let shows = |e: &usize| match self.trie.node(graph.node(*e)).kind {
            Kind::Write => Value(graph.value(*e)).as_pointer().is_some_and(|(shown, _)| shown == object),
            Kind::Spawn | Kind::Free => true,
            _ => false,
        };
        (low..end).find(shows)
    }

    /// Whether a thread that stands before the read of `node`, with these registers, writes what the unseen writes among the
    /// events wrote before it does anything else, whatever it reads; and does not read that.
    pub(crate) fn are_written_next(
        &self,
        graph: &Graph<M, W>,
        events: Range<usize>,
        node: NodeId,
        registers: &[u64],
    ) -> bool {
        let here = self.trie.node(node);
        let next = self.next_stores(here.pc(), registers);
        events.filter(|&e| self.is_plain_write(graph, e)).all(|e| {
            let loc = self.trie.node(graph.node(e)).loc();
            let (location, width) = self.memory.location(loc);
            loc != here.loc() && next.contains(&(Value::pointer(location.object, location.offset), width))
        })
    }

    /// Whether an event is a write that is no half of a read-modify-write.
    pub(crate) fn is_plain_write(&self, graph: &Graph<M, W>, event: usize) -> bool {
        let node = self.trie.node(graph.node(event));
        node.kind == Kind::Write && node.half == Half::None
    }

    /// Addresses and widths of the stores that come next behind the load at `pc`, whatever it reads: its result, and what
    /// comes of it, is no address, and nothing but computation without a branch is between them.
    fn next_stores(&self, mut pc: Pc, registers: &[u64]) -> SmallVec<[(Value, Width); 4]> {
        let (code, mut stores) = (self.subject.code, SmallVec::new());
        let Op::Load { dst, half: Half::None, .. } = code.ops[pc as usize] else { return stores };
        let frame = registers[FP] as usize;
        // What is known of a register that has been written since: nothing, if it may be a matter of what is read.
        let mut written: SmallVec<[(u16, Option<u64>); 8]> = SmallVec::from_slice(&[(dst, None)]);
        for _ in 0..OPERATIONS {
            pc += 1;
            let get = |arg: Arg| match arg {
                Arg::Const(value) => Some(value),
                Arg::Reg(reg) => match written.iter().rfind(|(other, _)| *other == reg) {
                    Some(&(_, value)) => value,
                    None => Some(registers[frame + reg as usize]),
                },
            };
            let result = match code.ops[pc as usize] {
                Op::Move { dst, a } => (dst, get(a)),
                Op::Unary { op, width, extend, dst, a } => {
                    (dst, get(a).map(|a| width.extend(extend, op.apply(width, Value(a))).0))
                }
                Op::Binary { op, width, extend, dst, a, b } => {
                    let value = get(a).zip(get(b)).and_then(|(a, b)| op.apply(width, Value(a), Value(b)));
                    (dst, value.map(|value| width.extend(extend, value).0))
                }
                Op::Select { dst, .. } | Op::Picked { dst, .. } => (dst, None),
                Op::Defined(_) => continue,
                Op::Jump(target) => {
                    pc = target - 1;
                    continue;
                }
                Op::Store { addr, width, half: Half::None, .. } => {
                    let Some(address) = get(addr) else { return stores };
                    stores.push((Value(address), width));
                    continue;
                }
                _ => return stores,
            };
            written.push(result);
        }
        stores
    }

    /// Notes that a thread has left writes out.
    pub(crate) fn forget_unseen(&mut self, graph: &Graph<M, W>, writes: impl Iterator<Item = usize>) {
        for e in writes {
            let node = self.trie.node(graph.node(e));
            let (loc, thread) = (node.loc(), node.thread as usize);
            self.note(loc, Watched::ForgetsUnseen, thread);
        }
    }

    /// Notes a read of an object on the heap by another thread than its maker, if it may not know the last unseen write: it reads
    /// something older than a write of the maker that comes before it, or what the maker did to show the object does not come
    /// before it, as far as anybody can see.
    #[inline(always)]
    pub(crate) fn note_foreign_read(&mut self, graph: &Graph<M, W>, event: EventId) {
        let node = self.trie.node(graph.node(event as usize));
        let object = self.memory.location(node.loc()).0.object;
        if self.memory.storage(object) == Some(Storage::Heap) {
            self.note_read_of_made(graph, event, object);
        }
    }

    #[cold]
    fn note_read_of_made(&mut self, graph: &Graph<M, W>, event: EventId, object: ObjectId) {
        let layout = self.subject.layout;
        let (e, node) = (event as usize, self.trie.node(graph.node(event as usize)));
        let (thread, loc) = (node.thread as usize, node.loc());
        let Some((maker, _)) = self.memory.maker(object).filter(|&(maker, _)| maker as usize != thread)
        else {
            return;
        };
        if self.is_out_of_order()
            || !self.control.caution.reductions.has(Reduction::Unseen)
            || self.watch.knows(loc, Watched::ReadsUnseen, thread)
        {
            return;
        }
        let (maker, before) = (maker as usize, graph.pre(e));
        let end = (layout.base[maker] + graph.front(maker)) as usize;
        let shown = self.shown_at(graph, object, maker, end).is_some_and(|show| before.contains(show));
        let mut newer = graph.co_after(graph.rf(e), loc).iter().map(|&w| w as usize);
        if !shown || newer.any(|w| layout.thread_of[w] as usize == maker && before.contains(w)) {
            self.note(loc, Watched::ReadsUnseen, thread);
        }
    }
}
