//! Finished graphs as people and tests see them: steps with their places, coherence, calls, and the choices that determine an
//! execution.

use crate::findings::collect::Trace;
use crate::findings::judge::{Calls, Execution, Object, Place};
use crate::models::model::MemoryModel;
use crate::reductions::symmetry::leads_to;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Subject;
use crate::threads::code::{ALLOCATIONS, Code, FAILED, FP, HIDDEN, Op, Pc, RESULT, Undefined};
use crate::threads::interpret::{FaultKind, Next};
use crate::threads::memory::{LocId, Memory, Storage};
use crate::threads::native::SITE;
use crate::threads::path::{EventId, INIT, Kind, Trie};
use fencepost_answer::trace::{Action, Cell, Event, Made, Purpose, Seen, Typed};
use fencepost_ir::Value;
use rustc_hash::FxHashMap;

/// A graph with all that is needed to read it.
pub(crate) struct View<'a, M: MemoryModel<W>, W: RowWidth> {
    pub subject: &'a Subject<'a>,
    pub trie: &'a Trie<M, W>,
    pub memory: &'a Memory,
    pub graph: &'a Graph<M, W>,
}

impl<M: MemoryModel<W>, W: RowWidth> View<'_, M, W> {
    fn code(&self) -> &Code {
        self.subject.code
    }

    /// Where an event comes from.
    pub fn place(&self, event: usize) -> Place {
        let node = self.trie.node(self.graph.node(event));
        Place { thread: u32::from(node.thread), at: self.code().source[node.pc() as usize] }
    }

    /// Whether an access is surely over before another event.
    pub fn happens_before(&self, first: usize, second: usize) -> bool {
        self.trie.model().happens_before(self.graph, first, second) && self.is_reached(first, second)
    }

    /// Whether an event happens before another, in the sense of the language for models that have races.
    pub fn strictly_before(&self, first: usize, second: usize) -> bool {
        self.trie.model().strictly_before(self.graph, first, second) && self.is_reached(first, second)
    }

    /// What an event needs is what comes before it, unless there are mates.
    fn is_reached(&self, first: usize, second: usize) -> bool {
        !self.code().symmetry.is_used || M::OUT_OF_ORDER || leads_to(self, first, second)
    }

    /// The object that an access is to.
    pub fn object_at(&self, event: EventId) -> Option<fencepost_ir::ObjectId> {
        let node = self.trie.node(self.graph.node(event as usize));
        matches!(node.kind, Kind::Read | Kind::Write).then(|| self.memory.location(node.loc()).0.object)
    }

    /// An object as people know it.
    pub fn object(&self, object: fencepost_ir::ObjectId) -> Option<Object> {
        self.memory.shown(object)
    }

    /// What a read makes of a value that nobody wrote.
    pub fn undefined(&self, event: usize) -> Undefined {
        let pc = self.trie.node(self.graph.node(event)).pc();
        match self.code().ops[pc as usize] {
            Op::Load { undefined, .. } | Op::LoadPiece { undefined, .. } => undefined,
            _ => Undefined::Atomic,
        }
    }

    /// The first assertion that a thread has passed although it does not hold.
    pub fn failed_assertion(&self, thread: usize) -> Option<((u32, u32), FaultKind)> {
        let layout = self.subject.layout;
        if !self.code().checks_at_end || self.graph.frontier(layout, thread).next == Next::NotStarted {
            return None;
        }
        let place = self.graph.frontier_regs(layout, thread)[FAILED].checked_sub(1)?;
        Some((self.code().source[place as usize], self.code().check_at(place as Pc)))
    }

    /// The loops at which the unroll bound stopped threads.
    pub fn cut_places(&self) -> impl Iterator<Item = (u32, u32)> {
        let layout = self.subject.layout;
        let cut = (0..layout.threads()).filter(|&t| self.graph.frontier(layout, t).next == Next::Cut);
        cut.map(|t| {
            let at = self.graph.frontier_regs(layout, t)[RESULT];
            // The source of a native thread says where that is.
            if self.code().is_native { (SITE, at as u32) } else { self.code().source[at as usize] }
        })
    }

    /// Where threads wait.
    pub fn stuck_places(&self) -> Vec<Place> {
        let layout = self.subject.layout;
        let mut places = Vec::new();
        for t in 0..layout.threads() {
            let snapshot = self.graph.frontier(layout, t);
            match snapshot.next {
                Next::Event => {
                    let pc = self.trie.node(snapshot.node).pc();
                    places.push(Place { thread: t as u32, at: self.code().source[pc as usize] });
                }
                Next::Waiting | Next::Spinning => {
                    places.push(self.place((layout.base[t] + self.graph.front(t) - 1) as usize));
                }
                _ => {}
            }
        }
        places
    }

    /// The execution, for people.
    pub fn execution(&self) -> Execution {
        let threads = 0..self.subject.layout.threads();
        let mut threads: Vec<Vec<Event>> =
            threads.map(|t| self.shown(t).map(|e| self.event(e)).collect()).collect();
        // Cells are numbered as a worker meets them; what is shown must not depend on that.
        let (mut numbers, mut cells) = (FxHashMap::default(), Vec::new());
        for event in threads.iter_mut().flatten() {
            if let Action::Read { cell, .. } | Action::Write { cell, .. } = &mut event.action {
                let (location, width) = self.memory.location(cell.id);
                cell.id = *numbers.entry(cell.id).or_insert_with(|| {
                    cells.push((location.offset, width));
                    cells.len() as u32 - 1
                });
            }
        }
        Execution { threads, cells, coherence: self.coherence() }
    }

    /// The events of a thread that are shown: those up to its first gap.
    fn shown(&self, t: usize) -> std::ops::Range<usize> {
        let first = self.subject.layout.base[t] as usize;
        first..first + self.graph.front(t) as usize
    }

    /// The writes of each cell that has any, as threads and steps, in coherence order.
    fn coherence(&self) -> Vec<Vec<(u32, u32)>> {
        let layout = self.subject.layout;
        let id = |&w: &EventId| {
            let thread = layout.thread_of[w as usize];
            (u32::from(thread), w - layout.base[thread as usize])
        };
        let shown = |&&(t, i): &&(u32, u32)| (i as usize) < self.shown(t as usize).len();
        let lists = (0..self.graph.cells() as LocId).map(|x| self.graph.co(x)).map(|list| {
            let ids: Vec<(u32, u32)> = list.iter().map(id).collect();
            ids.iter().filter(shown).copied().collect()
        });
        let mut lists: Vec<Vec<_>> = lists.filter(|list: &Vec<_>| !list.is_empty()).collect();
        lists.sort();
        lists
    }

    fn event(&self, e: usize) -> Event {
        let graph = self.graph;
        let layout = self.subject.layout;
        let node = self.trie.node(graph.node(e));
        let value = graph.value(e);
        let place_of = |write: EventId| {
            let place = graph.co(node.loc()).iter().position(|&w| w == write);
            place.map_or(0, |place| place as u32 + 1)
        };
        let purpose = Purpose::Data;
        let action = match node.kind {
            Kind::Read => {
                let source = graph.rf(e);
                let from = (source != INIT).then(|| {
                    let thread = layout.thread_of[source as usize];
                    (u32::from(thread), source - layout.base[thread as usize])
                });
                let value = self.typed(node.loc(), value);
                let seen = Seen { value, order: graph.order(e), from, place: place_of(source) };
                Action::Read { cell: self.cell(node.loc()), seen, purpose }
            }
            Kind::Write => {
                let value = self.typed(node.loc(), value);
                let made = Made { value, order: graph.order(e), place: place_of(e as EventId) };
                Action::Write { cell: self.cell(node.loc()), made, purpose }
            }
            Kind::Choice => Action::Choose(Typed::number(value)),
            Kind::Spawn => Action::Spawn(value as u32),
            Kind::Join => Action::Join(Some(value as u32)),
            Kind::Free => Action::Free(self.object(fencepost_ir::ObjectId(value as u32))),
            _ => Action::Fence(None),
        };
        let calls = self.trie.calls(graph.node(e), self.code());
        let calls = calls.into_iter().map(|pc| self.code().source[pc as usize]).collect();
        Event { at: self.code().source[node.pc() as usize], calls, action }
    }

    fn cell(&self, id: LocId) -> Cell {
        Cell { id, name: self.code().debug.cell(self.memory, id, &self.code().source) }
    }

    fn typed(&self, loc: LocId, raw: u64) -> Typed {
        let value = self.memory.location(loc).1.sign_extend(Value(raw));
        let name = self.code().debug.value(self.memory, loc, value, &self.code().source);
        Typed { raw: Value(raw), name }
    }

    /// The active calls of a thread with these registers, innermost first.
    fn calls(&self, regs: &[u64]) -> Calls {
        let mut calls = Calls::new();
        let mut frame = regs[FP] as usize;
        while frame > HIDDEN && frame + 1 < regs.len() {
            let back = regs[frame + 1] as usize;
            calls.extend(back.checked_sub(1).and_then(|pc| self.code().source.get(pc)));
            frame = regs[frame] as usize;
        }
        calls
    }

    /// The calls that led to a place of a finding: where the thread stands, or where it last made an event there.
    pub fn calls_to(&self, place: &Place) -> Calls {
        let layout = self.subject.layout;
        let t = place.thread as usize;
        let stands =
            matches!(self.graph.frontier(layout, t).next, Next::Failed(fault) if fault.at == place.at);
        let first = layout.base[t] as usize;
        let events = (first..first + self.graph.front(t) as usize).rev();
        match events.map(|e| self.event(e)).find(|event| event.at == place.at) {
            Some(event) if !stands => event.calls,
            _ => self.calls(self.graph.frontier_regs(layout, t)),
        }
    }

    /// Objects on the heap, and who made them.
    pub fn made(&self) -> Vec<(Object, Place)> {
        let objects = self.memory.objects(Storage::Heap);
        let made = objects.filter_map(|object| {
            let (thread, pc) = self.memory.maker(object)?;
            // Others were made in other executions.
            let layout = self.subject.layout;
            let started = self.graph.frontier(layout, thread as usize).next != Next::NotStarted;
            let made = || self.graph.frontier_regs(layout, thread as usize)[ALLOCATIONS];
            if !started || u64::from(self.memory.made_after(object)) >= made() {
                return None;
            }
            let name = self.memory.shown(object)?;
            Some((name, Place { thread: u32::from(thread), at: self.code().source[pc as usize] }))
        });
        let mut made: Vec<_> = made.collect();
        made.sort();
        made
    }
}

/// The choices that determine a complete execution.
pub(crate) fn trace<M: MemoryModel<W>, W: RowWidth>(
    subject: &Subject<'_>,
    trie: &Trie<M, W>,
    memory: &Memory,
    graph: &Graph<M, W>,
) -> Trace {
    let layout = subject.layout;
    let mut ids = vec![(0, 0); layout.events()];
    let mut reads = Vec::new();
    let mut choices = Vec::new();
    for t in 0..layout.threads() {
        let mut index = 0;
        let mut chosen = Vec::new();
        let first = layout.base[t] as usize;
        for (e, id) in ids.iter_mut().enumerate().skip(first).take(graph.front(t) as usize) {
            match trie.node(graph.node(e)).kind {
                Kind::Choice => chosen.push(graph.value(e)),
                kind @ (Kind::Read | Kind::Write) => {
                    *id = (t as u32, index);
                    index += 1;
                    if kind == Kind::Read {
                        reads.push(e);
                    }
                }
                _ => {}
            }
        }
        choices.push(chosen);
    }
    let source = |e: usize| (graph.rf(e) != INIT).then(|| ids[graph.rf(e) as usize]);
    let rf = reads.into_iter().map(|e| (ids[e], source(e))).collect();
    let mut co: Vec<_> = (0..graph.cells() as LocId)
        .filter(|&x| !graph.co(x).is_empty())
        .map(|x| {
            let writes = graph.co(x).iter().map(|&w| ids[w as usize]).collect();
            (memory.location(x as LocId).0, writes)
        })
        .collect();
    // Cells are numbered as the search meets them.
    co.sort();
    Trace { rf, co, choices }
}
