//! Threads that nobody can tell apart: of executions that differ only in who of them is who, one is explored.
//!
//! *Mates* are threads that run the same function with the same arguments, started in a row ([`Sets`] says which functions
//! can have mates at all). Two mates are *level* at index `k` if their events before `k` are the same: reads of the same
//! writes, the same choices, fences. With mates `i < j` level at `k`, and `e`, `f` their events of index `k`:
//!
//! * `e` is commit-before `f`: `f` is not there without it, and not without what `e` needs;
//! * `f` is no smaller than `e`. Writes: `f` is coherence-after `e`. Reads: `f` reads no write that is coherence-before that
//!   which `e` reads; where coherence may contradict (po | rf)+, none that is before it in both. Choices: no larger value.
//!
//! What is coherence-maximal is always allowed, and both conditions hold of every part of an execution that is closed under
//! commit-before: so this is one more commit-before order and one more axiom for the search. `docs/EXPLORATION.md` has the
//! argument why each set of equal executions keeps a member, and why just one under SC, TSO and PSO.

use crate::findings::view::View;
use crate::models::model::MemoryModel;
use crate::models::{joined, last_of, previous};
use crate::search::graph::{Graph, NO_MATE};
use crate::search::row::{Row, RowWidth};
use crate::search::visit::{Explorer, Subject};
use crate::threads::Threads;
use crate::threads::code::{Code, Op, Target};
use crate::threads::interpret::{Machine, Next, Snapshot};
use crate::threads::memory::LocId;
use crate::threads::path::{EventId, INIT, Kind, Node};
use crate::work::preparation::StartOver;
use fencepost_ir::{Function, Instr, Observable, Operand, Program, Property, private::private_objects};
use smallvec::SmallVec;

/// The function in which a thread begins of which the program says that it is like its neighbours.
pub const GIVEN: &str = "__fp_symmetric_start";

/// Which threads are taken for equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Symmetry {
    /// None.
    Off,
    /// Those of which the program says so.
    #[default]
    Given,
    /// Those too of which it can be seen.
    Find,
}

/// What can be said of threads that begin in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// Somebody may tell them apart.
    Distinct,
    /// They cannot tell themselves who they are.
    Anonymous,
    /// The program says that nobody can tell them apart.
    Given,
}

/// Which threads may have mates.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// Whether any may.
    pub is_used: bool,
    /// Whether coherence never contradicts (po | rf)+.
    is_strong: bool,
    entries: Vec<Entry>,
    /// Threads whose registers the final condition asks for.
    observed: Vec<u32>,
    /// Operations of mutexes: what they write says who has it, and only they may ask.
    mutex: Vec<bool>,
}

impl Sets {
    /// Those of a program and its code.
    pub(crate) fn of(program: &Program, code: &Code, symmetry: Symmetry, is_strong: bool) -> Sets {
        if symmetry == Symmetry::Off || shows_owners(program) {
            return Sets::default();
        }
        let find = symmetry == Symmetry::Find && program.functions.iter().all(only_joins_threads);
        let of_mutex = |&(f, at): &(u32, u32)| {
            let instr = program.functions[f as usize].body.get(at as usize);
            matches!(instr, Some(Instr::Lock(_) | Instr::Unlock(_) | Instr::TryLock { .. }))
        };
        let mutex: Vec<bool> = code.source.iter().map(of_mutex).collect();
        let entry = |(f, function): (usize, &Function)| match function {
            _ if function.name == GIVEN => Entry::Given,
            _ if find && is_anonymous(code, &mutex, f) => Entry::Anonymous,
            _ => Entry::Distinct,
        };
        let entries: Vec<Entry> = program.functions.iter().enumerate().map(entry).collect();
        let observables = match &program.property {
            Property::Final(condition) => condition.observed.as_slice(),
            _ => &[],
        };
        let thread = |observable: &Observable| match observable {
            Observable::Register { thread, .. } => Some(thread.0),
            Observable::Memory { .. } => None,
        };
        Sets {
            is_used: entries.iter().any(|&entry| entry != Entry::Distinct),
            is_strong,
            observed: observables.iter().filter_map(thread).collect(),
            mutex,
            entries,
        }
    }
}

/// Whether the final condition may ask who has a mutex.
fn shows_owners(program: &Program) -> bool {
    let Property::Final(condition) = &program.property else { return false };
    let is_observed = |operand: &Operand| match operand {
        Operand::Const(address) => condition.observed.iter().any(|observable| match observable {
            Observable::Memory { object, .. } => address.as_pointer().is_none_or(|(o, _)| o == *object),
            Observable::Register { .. } => false,
        }),
        Operand::Reg(_) => true,
    };
    program.functions.iter().flat_map(|f| &f.body).any(|instr| match instr {
        Instr::Lock(addr) | Instr::TryLock { addr, .. } => is_observed(addr),
        _ => false,
    })
}

/// Whether a thread that begins in a function cannot tell who it is, nor make anything that has its number.
fn is_anonymous(code: &Code, mutex: &[bool], entry: usize) -> bool {
    let functions = code.functions.len();
    let mut reached = vec![false; functions];
    let mut todo = vec![entry];
    while let Some(f) = todo.pop() {
        if std::mem::replace(&mut reached[f], true) {
            continue;
        }
        let first = code.functions[f].entry as usize;
        let end = code.functions.get(f + 1).map_or(code.ops.len(), |next| next.entry as usize);
        for (op, &of_mutex) in code.ops[first..end].iter().zip(&mutex[first..end]) {
            match *op {
                Op::Call { target: Target::Function(g), .. } => todo.push(g as usize),
                Op::Call { target: Target::Pointer(_), .. } => todo.extend(0..functions),
                Op::SelfThread { .. } | Op::Owns { .. } if of_mutex => {}
                Op::SelfThread { .. }
                | Op::Owns { .. }
                | Op::ThreadLocal { .. }
                | Op::Local { .. }
                | Op::Alloc { .. }
                | Op::Free { .. }
                | Op::Birth
                | Op::ObjectSize { .. }
                | Op::Spawn { .. }
                | Op::Join { .. } => return false,
                _ => {}
            }
        }
    }
    true
}

/// Whether a function does nothing with the numbers of the threads that it starts but join them. Where they are in memory, it
/// is in objects of its own that nobody else can reach.
fn only_joins_threads(function: &Function) -> bool {
    if !function.body.iter().any(|instr| matches!(instr, Instr::Spawn { .. })) {
        return true;
    }
    let private = private_objects(function);
    // The registers that may have to do with a number before each instruction, and the objects that may hold one.
    let mut before = vec![vec![false; function.regs.len()]; function.body.len()];
    let mut objects = vec![false; private.made_by.len()];
    let mut reached = vec![false; function.body.len()];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        let Some(instr) = function.body.get(at as usize) else { continue };
        reached[at as usize] = true;
        let mut after = before[at as usize].clone();
        let mut uses = false;
        instr.for_each_use(|reg| uses |= after[reg.0 as usize]);
        let gives = match (instr, private.object[at as usize].map(|object| object as usize)) {
            (Instr::Spawn { .. }, _) if !uses => true,
            (Instr::Assign { .. }, _) => uses,
            (Instr::Load { .. } | Instr::CopyLoad { .. }, Some(object)) => uses || objects[object],
            (Instr::Store { .. }, Some(object)) => {
                if uses && !std::mem::replace(&mut objects[object], true) {
                    // What was loaded from it has to be looked at again.
                    todo.extend((0..).zip(&reached).filter(|(_, reached)| **reached).map(|(at, _)| at));
                }
                false
            }
            (Instr::Join { .. } | Instr::Defined(_), _) => false,
            _ if uses => return false,
            _ => false,
        };
        instr.for_each_definition(|reg| after[reg.0 as usize] = gives);
        for next in instr.successors(at).filter(|&next| (next as usize) < function.body.len()) {
            let mut changed = !reached[next as usize];
            for (known, new) in before[next as usize].iter_mut().zip(&after) {
                changed |= *new && !*known;
                *known |= *new;
            }
            if changed {
                todo.push(next);
            }
        }
    }
    true
}

/// Events of level mates that are smaller.
type Lower = SmallVec<[EventId; 4]>;

impl<T: Threads<M, W>, M: MemoryModel<W>, W: RowWidth> Explorer<'_, T, M, W> {
    /// Whether there may be mates.
    #[inline(always)]
    pub(crate) fn is_symmetric(&self) -> bool {
        !self.is_out_of_order() && self.subject.code.symmetry.is_used
    }

    /// Finds the nearest mate of a thread that begins.
    pub(crate) fn find_mate(&self, graph: &mut Graph<M, W>, thread: usize, function: u32, args: &[u64]) {
        let Subject { code, layout } = *self.subject;
        let sets = &code.symmetry;
        let is_distinct = |t: usize| sets.observed.contains(&(t as u32));
        if sets.entries[function as usize] == Entry::Distinct || is_distinct(thread) {
            return;
        }
        let start = self.control.caution.start(function, args);
        let mut mate = NO_MATE;
        match graph.origin(thread) {
            INIT => {
                let mut lower = (0..thread).rev();
                let found = lower.find(|&t| graph.start(t) == Some(start));
                mate = found.map_or(NO_MATE, |t| t as u16);
            }
            origin => {
                let first = layout.base[layout.thread_of[origin as usize] as usize];
                for e in (first..origin).rev() {
                    let e = e as usize;
                    let kind = self.trie.node(graph.node(e)).kind;
                    // Who says that threads are equal may keep their numbers where he likes.
                    if kind == Kind::Write && sets.entries[function as usize] == Entry::Given {
                        continue;
                    }
                    if kind != Kind::Spawn {
                        break;
                    }
                    if graph.start(graph.value(e) as usize) == Some(start) {
                        mate = graph.value(e) as u16;
                        break;
                    }
                }
            }
        }
        graph.set_mate(thread, start, mate);
    }

    /// The events of the index of `node` of lower mates that are level there.
    fn lower_events(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>) -> Lower {
        let layout = self.subject.layout;
        let thread = node.thread as usize;
        let mut events = Lower::new();
        let mut mate = graph.mate(thread);
        while let Some(i) = mate {
            if graph.front(i) > node.index && self.is_level(graph, i, thread, node.index) {
                let event = layout.base[i] + node.index;
                self.compare(graph, event, node);
                events.push(event);
            }
            mate = graph.mate(i);
        }
        events
    }

    /// Whether two mates did the same before their events of that index.
    fn is_level(&self, graph: &Graph<M, W>, i: usize, j: usize, index: u32) -> bool {
        let layout = self.subject.layout;
        graph.front(i) >= index
            && (0..index).all(|k| {
                let (e, f) = ((layout.base[i] + k) as usize, (layout.base[j] + k) as usize);
                let (a, b) = (self.trie.node(graph.node(e)), self.trie.node(graph.node(f)));
                a.kind == b.kind
                    && match a.kind {
                        Kind::Read => graph.rf(e) == graph.rf(f) && a.loc() == b.loc(),
                        Kind::Fence(_) | Kind::Skip => true,
                        Kind::Choice => graph.value(e) == graph.value(f),
                        _ => false,
                    }
                    && a.pc() == b.pc()
            })
    }

    /// Level mates that do not do the same are none: the search starts over without.
    fn compare(&self, graph: &Graph<M, W>, event: EventId, node: &Node<M::Static, W>) {
        let other = self.trie.node(graph.node(event as usize));
        let accesses = matches!(node.kind, Kind::Read | Kind::Write);
        if other.kind != node.kind || other.pc() != node.pc() || (accesses && other.loc() != node.loc()) {
            self.control.start_over(StartOver::Distinct);
        }
    }

    /// All that an event needs: what the model says, and the events of level mates.
    #[inline(always)]
    pub(crate) fn needed(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>, source: EventId) -> Row<W> {
        let mut pre = self.model.predecessors(&self.trie, graph, node, source);
        if self.is_symmetric() {
            for event in self.lower_events(graph, node) {
                pre |= graph.pre(event as usize).and(event as usize);
                // A read-modify-write is needed as a whole.
                if self.took_source(graph, event) {
                    pre.insert(event as usize + 1);
                }
            }
        }
        pre
    }

    /// The writes after which a write must come for the sake of symmetry, added to those of the model.
    #[inline(always)]
    pub(crate) fn coherence_before(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>) -> Row<W> {
        let mut before = self.model.coherence_before(&self.trie, graph, node);
        if self.is_symmetric() && node.kind == Kind::Write {
            for event in self.lower_events(graph, node) {
                let (e, f) = (event as usize, node.event as usize);
                if graph.value(e) != graph.value(f) && !self.subject.code.symmetry.mutex[node.pc() as usize] {
                    self.control.start_over(StartOver::Distinct);
                }
                before.insert(e);
            }
        }
        before
    }

    /// What level mates have read by the event that `node` would be.
    #[inline(always)]
    pub(crate) fn lower_reads(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>) -> Lower {
        if self.is_symmetric() { self.lower_events(graph, node) } else { Lower::new() }
    }

    /// Whether a read may read `source`, given what level mates have read.
    #[inline(always)]
    pub(crate) fn keeps_symmetry(
        &self,
        graph: &Graph<M, W>,
        lower: &[EventId],
        loc: LocId,
        source: EventId,
    ) -> bool {
        let place = |write: EventId| match write {
            INIT => Some(0),
            write => graph.position(write, loc).map(|at| at + 1),
        };
        lower.iter().all(|&event| {
            let theirs = graph.rf(event as usize);
            if theirs == source {
                // A read-modify-write leaves nothing to another one of the same source.
                return !self.took_source(graph, event);
            }
            place(source) > place(theirs)
                || (!self.subject.code.symmetry.is_strong
                    && source != INIT
                    && !graph.pre(theirs as usize).contains(source as usize))
        })
    }

    /// Whether a read is that of a read-modify-write that has written.
    fn took_source(&self, graph: &Graph<M, W>, read: EventId) -> bool {
        let next = read as usize + 1;
        graph.writes().contains(next) && self.trie.node(graph.node(next)).partner == read
    }

    /// The largest value that a choice may have, given what level mates have chosen.
    pub(crate) fn largest_choice(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>, count: u64) -> u64 {
        let lower = self.lower_reads(graph, node);
        lower.iter().fold(count - 1, |most, &event| most.min(graph.value(event as usize)))
    }

    /// Whether a thread waits for a lower mate that sleeps where it stands: what the thread may read depends on the other.
    #[inline(always)]
    pub(crate) fn is_held(&self, graph: &Graph<M, W>, thread: usize) -> bool {
        if !self.is_symmetric() {
            return false;
        }
        let mut mate = graph.mate(thread);
        while let Some(i) = mate {
            let index = graph.front(thread);
            if graph.front(i) == index
                && graph.considered(i).is_some()
                && self.is_level(graph, i, thread, index)
            {
                return true;
            }
            mate = graph.mate(i);
        }
        false
    }

    /// Whether a thread stands before a read that was not looked at because a mate sleeps.
    pub(crate) fn was_held(&self, graph: &Graph<M, W>, thread: usize) -> bool {
        let snapshot = graph.frontier(self.subject.layout, thread);
        self.is_symmetric()
            && graph.mate(thread).is_some()
            && snapshot.next == Next::Event
            && self.trie.node(snapshot.node).kind == Kind::Read
    }

    /// Only the operations of a mutex may read who has it.
    #[inline(always)]
    pub(crate) fn watch_owners(&self, graph: &Graph<M, W>, node: &Node<M::Static, W>, source: EventId) {
        if !self.is_symmetric() || source == INIT || graph.value(source as usize) == 0 {
            return;
        }
        let of_mutex = &self.subject.code.symmetry.mutex;
        let written_by = self.trie.node(graph.node(source as usize)).pc();
        if of_mutex[written_by as usize] && !of_mutex[node.pc() as usize] {
            self.control.start_over(StartOver::Distinct);
        }
    }

    /// A thread has come to a join. Mates are joined by who started them, all in a row, and nobody asks for their results;
    /// otherwise they can be told apart.
    pub(crate) fn watch_joins(&mut self, graph: &Graph<M, W>, thread: usize, snapshot: &Snapshot) {
        if !self.is_symmetric() || !matches!(snapshot.next, Next::Event | Next::Tail) {
            return;
        }
        let Subject { code, layout } = *self.subject;
        let node = self.trie.node(snapshot.node);
        let is_join = |node: &Node<M::Static, W>| node.kind == Kind::Join;
        let before = node.event.wrapping_sub(1) as usize;
        if !is_join(node) || (node.index > 0 && is_join(self.trie.node(graph.node(before)))) {
            return;
        }
        let mut registers = graph.frontier_regs(layout, thread).to_vec();
        let pc = node.pc();
        let mut machine = Machine::new(code, &mut self.memory, &self.model, thread, &self.control.limits);
        let joined = machine.joins_in_a_row(pc, &mut registers);
        let is_given = |t: usize| {
            matches!(self.control.caution.started(graph.start(t)),
            Some(f) if code.symmetry.entries[f as usize] == Entry::Given)
        };
        let has = |t: usize| joined.iter().any(|&(other, _)| other == t as u64);
        let apart = (0..layout.threads()).any(|t| {
            graph.mate(t).is_some_and(|mate| {
                (has(t) || has(mate))
                    && !is_given(t)
                    && (!(has(t) && has(mate))
                        || joined
                            .iter()
                            .any(|&(other, asked)| asked && (other == t as u64 || other == mate as u64))
                        || self.starter(graph, t) != Some(thread))
            })
        });
        if apart {
            self.control.start_over(StartOver::Distinct);
        }
    }

    /// Who started a thread.
    fn starter(&self, graph: &Graph<M, W>, thread: usize) -> Option<usize> {
        match graph.origin(thread) {
            INIT => None,
            origin => Some(self.subject.layout.thread_of[origin as usize] as usize),
        }
    }
}

/// Whether (po | rf)+ leads from one event to another. What an event needs says more where there are mates.
pub(crate) fn leads_to<M: MemoryModel<W>, W: RowWidth>(
    view: &View<'_, M, W>,
    from: usize,
    to: usize,
) -> bool {
    let View { trie, graph, .. } = *view;
    let mut seen: Row<W> = Row::single(to);
    let mut todo = seen.clone();
    while let Some(e) = todo.pop() {
        let node = trie.node(graph.node(e));
        let joined = (node.kind == Kind::Join).then(|| last_of(trie, graph, joined(graph, node)));
        let source = if node.kind == Kind::Read { graph.rf(e) } else { INIT };
        for before in [previous(graph, node), source, joined.unwrap_or(INIT)] {
            if before as usize == from {
                return true;
            }
            if before != INIT && !seen.contains(before as usize) {
                seen.insert(before as usize);
                todo.insert(before as usize);
            }
        }
    }
    false
}
