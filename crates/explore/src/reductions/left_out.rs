//! Which cells reads that were left out are of, as a worker notes it; `conflicts.rs` says what follows from that.
//!
//! A finding that needs such a read is one of a pair: the other access, or the end of the object, is not ordered with it. What
//! the
//! other threads do without the help of the thread that reads is in the graph that ends with the read, and is seen there. What
//! they do with its help comes after the read in (po | rf)+; where that is what findings go by, nothing can be lost.

use crate::models::model::MemoryModel;
use crate::reductions::conflicts::{CellKey, KINDS, Watched, Who, who};
use crate::search::graph::Graph;
use crate::search::row::{Row, RowWidth};
use crate::search::visit::{Explorer, Subject};
use crate::threads::Threads;
use crate::threads::code::{Half, Op};
use crate::threads::interpret::{END_OF_THREAD, Next};
use crate::threads::memory::{LocId, Storage};
use crate::threads::path::{Kind, Node, NodeId, Trie};
use crate::work::preparation::StartOver;
use fencepost_ir::{ObjectId, Order};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What this worker has noted already.
#[derive(Default)]
pub struct Watch {
    /// By kind and cell: who did it.
    cells: [Vec<Who>; KINDS],
    /// Of whole objects.
    objects: FxHashSet<(CellKey, u8, usize)>,
}

impl Watch {
    /// Whether this is noted already.
    #[inline(always)]
    pub(crate) fn knows(&self, loc: LocId, what: Watched, thread: usize) -> bool {
        self.cells[what as usize].get(loc as usize).is_some_and(|known| known & who(thread) != 0)
    }

    fn add(&mut self, loc: LocId, what: Watched, thread: usize) {
        let cells = &mut self.cells[what as usize];
        if cells.len() <= loc as usize {
            cells.resize(loc as usize + 1, 0);
        }
        cells[loc as usize] |= who(thread);
    }
}

/// How a thread waits.
fn waits_by(half: Half) -> Watched {
    if half == Half::Amo { Watched::WaitsWriting } else { Watched::Waits }
}

fn is_access<S, W: RowWidth>(node: &Node<S, W>) -> bool {
    matches!(node.kind, Kind::Read | Kind::Write)
}

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether findings go by less than (po | rf)+, so that an execution with fewer reads may have fewer.
    pub(crate) const FINDS_BY_LESS: bool = M::RACES || M::OUT_OF_ORDER;

    /// Whether any write could be in conflict with a read that is left out, be it atomic or not.
    fn watches_all_writes(&self) -> bool {
        let code = self.subject.code;
        match M::RACES {
            true => code.repeats_plain_reads,
            false => M::OUT_OF_ORDER && (code.section_lock.is_some() || code.in_pieces),
        }
    }

    pub(crate) fn note(&mut self, loc: LocId, what: Watched, thread: usize) {
        if self.watch.knows(loc, what, thread) {
            return;
        }
        self.watch.add(loc, what, thread);
        if let Some(need) = self.control.caution.watch(self.memory.key(loc), what, who(thread)) {
            self.start_over(need);
        }
    }

    fn note_object(&mut self, object: CellKey, what: Watched, thread: usize) {
        if self.watch.objects.insert((object, what as u8, thread))
            && let Some(need) = self.control.caution.watch(object, what, who(thread))
        {
            self.start_over(need);
        }
    }

    /// Notes that a read is about to come.
    #[inline(always)]
    pub(crate) fn note_read(&mut self, graph: &Graph<M, W>, node: NodeId) {
        let node = self.trie.node(node);
        if (M::RACES && node.ann.order == Order::Plain) || self.is_piece(node) {
            self.note_access(graph, node.thread as usize, node.loc(), Watched::PlainReads);
        }
    }

    /// Whether it matters under any model that a read is left out which is not ordered with the event: nobody else may see the
    /// cell
    /// of a piece meanwhile (`pieces.rs`).
    fn is_piece(&self, node: &Node<M::Static, W>) -> bool {
        let code = self.subject.code;
        code.in_pieces && matches!(code.ops[node.pc() as usize], Op::LoadPiece { .. } | Op::StorePiece { .. })
    }

    /// Notes a write.
    #[inline(always)]
    pub(crate) fn note_write(&mut self, graph: &Graph<M, W>, node: NodeId) {
        let node = self.trie.node(node);
        let (thread, loc) = (node.thread as usize, node.loc());
        let (plain, piece) = (node.ann.order == Order::Plain, self.is_piece(node));
        if (M::RACES && plain) || piece {
            self.note_access(graph, thread, loc, Watched::PlainWrites);
        }
        if Self::FINDS_BY_LESS && !(M::RACES && plain) && self.watches_all_writes() {
            self.note_access(graph, thread, loc, Watched::OtherWrites);
        }
    }

    /// Notes an access. While no other thread has been started, nobody can race with it.
    #[inline(always)]
    pub(crate) fn note_access(&mut self, graph: &Graph<M, W>, thread: usize, loc: LocId, what: Watched) {
        if self.watch.knows(loc, what, thread) {
            return;
        }
        let layout = self.subject.layout;
        let mut others = (0..layout.threads()).filter(|&t| t != thread);
        if others.any(|t| graph.frontier(layout, t).next != Next::NotStarted) {
            self.note(loc, what, thread);
        }
    }

    /// Notes that a thread ends the life of an object, or of all that end with it.
    pub(crate) fn note_end(&mut self, thread: usize, object: u64) {
        if !Self::FINDS_BY_LESS {
            return;
        }
        let object = match object {
            END_OF_THREAD => Some(CellKey::all_of(thread as u16)),
            object => self.memory.object_key(ObjectId(object as u32)).map(CellKey::whole),
        };
        if let Some(object) = object {
            self.note_object(object, Watched::Ends, thread);
        }
    }

    /// Notes that a thread waits for the cell that the node reads; caution is needed if that could hide a race or a conflict of
    /// sizes.
    pub(crate) fn note_waiting(&mut self, node: NodeId) {
        let node = self.trie.node(node);
        let (loc, thread, half) = (node.loc(), node.thread as usize, node.half);
        if M::RACES && node.ann.order == Order::Plain {
            return self.start_over(StartOver::Caution(self.memory.key(loc)));
        }
        if self.watches_waiting() {
            self.note(loc, waits_by(half), thread);
        }
    }

    /// Whether a read that waits could be part of a finding: a race, or one with an access in pieces.
    #[inline(always)]
    fn watches_waiting(&self) -> bool {
        M::RACES || self.subject.code.in_pieces
    }

    /// Whether [`Explorer::note_waiting`] has nothing more to note.
    #[inline(always)]
    pub(crate) fn has_noted_waiting(&self, node: &Node<M::Static, W>) -> bool {
        !self.watches_waiting()
            || (!(M::RACES && node.ann.order == Order::Plain)
                && self.watch.knows(node.loc(), waits_by(node.half), node.thread as usize))
    }

    /// Notes the threads that a write comes after: reads of theirs that were left out could have read it, if it was committed
    /// before them.
    pub(crate) fn note_late(&mut self, graph: &Graph<M, W>, event: usize, loc: LocId) {
        let Subject { code, layout } = *self.subject;
        if !M::OUT_OF_ORDER || !code.repeats_reads {
            return;
        }
        let (writes, own) = (graph.writes(), layout.thread_of[event] as usize);
        for t in (0..layout.threads()).filter(|&t| t != own) {
            if self.watch.knows(loc, Watched::Late, t) && self.watch.knows(loc, Watched::LateLoose, t) {
                continue;
            }
            let base = layout.base[t] as usize;
            let theirs = &Row::range(base, base + layout.capacity(t)) & writes;
            let Some(last) = (&theirs & graph.pre(event)).last() else { continue };
            self.note(loc, Watched::Late, t);
            if !self.model.commit_before(graph, event).contains(last) {
                self.note(loc, Watched::LateLoose, t);
            }
        }
    }

    /// Whether something could be lost with events that changed nothing. `covers` says of an event that the thread accesses its
    /// cell
    /// once more, so that what the event could mean that access means.
    pub(crate) fn would_lose(
        &self,
        graph: &Graph<M, W>,
        events: Range<usize>,
        covers: impl Fn(&Node<M::Static, W>) -> bool,
    ) -> bool {
        // What is read elsewhere is not watched then.
        let loses_writes = !M::RACES && Self::FINDS_BY_LESS && self.watches_all_writes();
        if !Self::FINDS_BY_LESS || (self.control.caution.kept().is_empty() && !loses_writes) {
            return false;
        }
        let mut nodes = events.map(|e| self.trie.node(graph.node(e)));
        nodes.any(|node| {
            is_access(node)
                && !covers(node)
                && (self.is_kept(node.loc()) || (node.kind == Kind::Write && loses_writes))
        })
    }

    /// Notes that events are left out, after which the thread stands at `node`, but for those that are covered.
    pub(crate) fn forget(
        &mut self,
        graph: &Graph<M, W>,
        events: Range<usize>,
        node: NodeId,
        covers: impl Fn(&Trie<M, W>, &Node<M::Static, W>) -> bool,
    ) {
        if !Self::FINDS_BY_LESS {
            return;
        }
        for e in events {
            let event = self.trie.node(graph.node(e));
            // Of a cell that is kept another iteration has been kept.
            if is_access(event) && !covers(&self.trie, event) && !self.is_kept(event.loc()) {
                let (thread, loc, kind) = (event.thread as usize, event.loc(), event.kind);
                self.forget_access(thread, loc, kind, graph.order(e));
                if M::OUT_OF_ORDER && kind == Kind::Read {
                    let sure = self.trie.is_before_later_writes(e, node);
                    let what = if sure { Watched::ForgetsSure } else { Watched::ForgetsLoose };
                    self.note(loc, what, thread);
                }
            }
        }
    }

    /// Notes what could be found with an access that is left out.
    fn forget_access(&mut self, thread: usize, loc: LocId, kind: Kind, order: Order) {
        let plain = order == Order::Plain;
        let what = match kind {
            Kind::Write => M::RACES.then_some(Watched::ForgetsWriting),
            _ if M::RACES && !plain => Some(Watched::Forgets),
            _ => self.watches_all_writes().then_some(Watched::ForgetsPlain),
        };
        if let Some(what) = what {
            self.note(loc, what, thread);
        }
        if plain || M::OUT_OF_ORDER {
            for object in self.lives_of(loc).into_iter().flatten() {
                self.note_object(object, Watched::ForgetsUse, thread);
            }
        }
    }

    /// The lives that a cell ends with: that of its object, and that of the thread that made it.
    fn lives_of(&self, loc: LocId) -> [Option<CellKey>; 2] {
        let object = self.memory.location(loc).0.object;
        let storage = self.memory.storage(object);
        if storage == Some(Storage::Global) {
            return [None, None];
        }
        let whole = self.memory.object_key(object).map(CellKey::whole);
        let local = matches!(storage, Some(Storage::Local | Storage::ThreadLocal));
        let maker = self.memory.maker(object).filter(|_| local);
        [whole, maker.map(|(thread, _)| CellKey::all_of(thread))]
    }

    /// Whether reads of a cell must not be lost.
    pub(crate) fn is_kept(&self, loc: LocId) -> bool {
        let kept = self.control.caution.kept();
        !kept.is_empty()
            && (kept.contains(&self.memory.key(loc))
                || self.lives_of(loc).iter().flatten().any(|object| kept.contains(object)))
    }
}
