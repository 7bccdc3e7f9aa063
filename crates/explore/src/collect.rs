//! What an exploration finds: final states, counts, faults, and executions for whoever wants to see them.

use crate::code::{Code, FAILED, FP, HIDDEN, Op, Pc, RESULT, Undefined, outermost_reg};
use crate::findings::{Action, Calls, Finding, FindingKind, Place, Step, findings};
use crate::graph::Graph;
use crate::interpret::{FaultKind, Next};
use crate::memory::{LocId, Memory, Storage};
use crate::model::MemoryModel;
use crate::path::{EventId, INIT, Kind, Trie};
use crate::progress;
use crate::visit::Subject;
use fencepost_ir::{FinalCondition, Location, Observable, Program, Property, Value, Width};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Counters of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Visited partial executions.
    pub nodes: u64,
    /// Complete consistent executions (that pass the filter).
    pub executions: u64,
    /// Those of them that satisfy the proposition.
    pub satisfying: u64,
    /// Explorations that ended in an assumption, or in a read-modify-write that is not atomic.
    pub blocked: u64,
    /// Explorations that reached the unroll bound.
    pub cut: u64,
    /// Executions with a data race.
    pub racy: u64,
    /// The share of the search tree that was seen, as far as somebody watches; see `progress.rs`.
    pub share: u64,
}

impl Stats {
    pub(crate) fn add(&mut self, other: &Stats) {
        self.nodes += other.nodes;
        self.executions += other.executions;
        self.satisfying += other.satisfying;
        self.blocked += other.blocked;
        self.cut += other.cut;
        self.racy += other.racy;
        self.share = self.share.saturating_add(other.share);
    }
}

/// An access of a thread: thread number and index among the thread's accesses.
pub type AccessId = (u32, u32);

/// A complete execution, reduced to the choices that determine it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trace {
    /// Source of each read; `None` is the initial write.
    pub rf: Vec<(AccessId, Option<AccessId>)>,
    /// Writes of each cell that has any, in coherence order.
    pub co: Vec<(Location, Vec<AccessId>)>,
    /// Choices of each thread, in program order.
    pub choices: Vec<Vec<u64>>,
}

/// A final state: the observed values, in order.
pub type State = SmallVec<[u64; 6]>;

/// What is observed at the end of an execution.
#[derive(Clone, Debug)]
pub struct Question {
    observed: Vec<Observed>,
    /// How many of them make a final state.
    shown: usize,
    condition: Option<FinalCondition>,
}

#[derive(Clone, Copy, Debug)]
enum Observed {
    Register { thread: usize, reg: usize },
    Memory { loc: LocId, width: Width },
}

impl Question {
    /// The program's final condition in terms of the lowered program.
    pub fn new(program: &Program, memory: &mut Memory) -> Question {
        let Property::Final(condition) = &program.property else {
            return Question { observed: Vec::new(), shown: 0, condition: None };
        };
        let observed = condition.observed.iter().filter_map(|observable| match *observable {
            Observable::Register { thread, reg } => {
                Some(Observed::Register { thread: thread.0 as usize, reg: outermost_reg(reg) })
            }
            Observable::Memory { object, offset, width } => {
                let address = Value::pointer(object, offset).0;
                memory.resolve(address, width).ok().map(|loc| Observed::Memory { loc, width })
            }
        });
        let observed: Vec<_> = observed.collect();
        debug_assert_eq!(observed.len(), condition.observed.len());
        Question { observed, shown: condition.shown, condition: Some(condition.clone()) }
    }
}

/// What comes after a graph that no thread can extend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    /// The next one.
    GoOn,
    /// The search ends here.
    Stop,
    /// There is something to show, and it is not complete without the joins that were left out.
    NeedsTail,
}

/// Receives every complete execution.
pub type Visitor<'a> = &'a (dyn Fn(Trace) + Sync);

/// What one worker has found.
pub struct Collector<'a> {
    /// Counters.
    pub stats: Stats,
    question: &'a Question,
    states: FxHashMap<State, ()>,
    last: State,
    scratch: Vec<Value>,
    /// What went wrong, each kind and place once.
    pub findings: BTreeMap<(FindingKind, Vec<Place>), Finding>,
    /// Where the unroll bound cut: functions and instructions.
    pub cuts: BTreeSet<(u32, u32)>,
    /// Whether the first error ends the search.
    stop_at_error: bool,
    /// Leaves until the next sample for an estimate of the total; `None` if nobody watches.
    pub sample: Option<u64>,
    /// One execution that satisfies the condition.
    pub witness: Option<Trace>,
    visitor: Option<Visitor<'a>>,
}

impl<'a> Collector<'a> {
    /// A collector that has found nothing yet.
    pub fn new(question: &'a Question, visitor: Option<Visitor<'a>>, stop_at_error: bool) -> Collector<'a> {
        Collector {
            stats: Stats::default(),
            question,
            states: FxHashMap::default(),
            last: State::new(),
            scratch: Vec::new(),
            findings: BTreeMap::new(),
            cuts: BTreeSet::new(),
            stop_at_error,
            sample: None,
            witness: None,
            visitor,
        }
    }

    /// Adds what another worker has found.
    pub fn merge(&mut self, other: Collector<'a>) {
        self.stats.add(&other.stats);
        self.states.extend(other.states);
        self.cuts.extend(other.cuts);
        for (key, finding) in other.findings {
            self.findings.entry(key).or_insert(finding);
        }
        self.witness = match (self.witness.take(), other.witness) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// The final states, sorted by value.
    pub fn into_states(self) -> Vec<Vec<Value>> {
        let mut states: Vec<Vec<Value>> =
            self.states.into_keys().map(|state| state.iter().map(|&v| Value(v)).collect()).collect();
        states.sort();
        states
    }

    /// A graph that no thread can extend.
    pub(crate) fn finished<M: MemoryModel<W>, const W: usize>(
        &mut self,
        view: &View<'_, M, W>,
        race: Option<(EventId, EventId)>,
        stuck: bool,
    ) -> Finished {
        let mut complete = true;
        let (mut cut, mut tail, mut over, mut exits) = (false, false, false, false);
        for next in view.graph.threads_next(view.subject.layout) {
            complete &= next.is_end() || matches!(next, Next::NotStarted | Next::Tail);
            cut |= next == Next::Cut;
            tail |= next == Next::Tail;
            over |= next.ends_process();
            exits |= next == Next::Halted;
        }
        let failed = (0..view.subject.layout.threads()).any(|t| view.failed_assertion(t).is_some());
        let all_ended = complete && !failed;
        // Who waits when the process ends has been ended with it.
        complete = all_ended || (stuck && over && !failed);
        let found = findings(view, race, stuck && !over, all_ended && !exits);
        let is_new = |(kind, places, _): &(FindingKind, Vec<Place>, _)| {
            !self.findings.contains_key(&(*kind, places.clone()))
        };
        if tail && found.iter().any(is_new) {
            return Finished::NeedsTail;
        }
        if let Some(left) = &mut self.sample {
            *left -= 1;
            if *left == 0 {
                *left = progress::SAMPLE;
                let share = progress::share(view).saturating_mul(progress::SAMPLE);
                self.stats.share = self.stats.share.saturating_add(share);
            }
        }
        if complete {
            self.execution(view, race.is_some());
        } else if cut {
            self.stats.cut += 1;
            self.cuts.extend(view.cut_places());
        } else {
            self.stats.blocked += 1;
        }
        let mut error = false;
        for (kind, places, object) in found {
            error |= !kind.is_warning() && !kind.is_unknown();
            self.findings.entry((kind, places)).or_insert_with_key(|(kind, places)| Finding {
                kind: *kind,
                places: places.clone(),
                calls: places.iter().map(|place| view.calls_to(place)).collect(),
                object,
                made: view.made(),
                steps: view.steps(),
                coherence: view.coherence(),
            });
        }
        if error && self.stop_at_error { Finished::Stop } else { Finished::GoOn }
    }

    /// A spawn of what is no function.
    pub(crate) fn bad_spawn<M: MemoryModel<W>, const W: usize>(
        &mut self,
        subject: &Subject<'_>,
        _graph: &Graph<M, W>,
        thread: usize,
        pc: u32,
    ) {
        let places = vec![Place { thread: thread as u32, at: subject.code.source[pc as usize] }];
        let kind = FindingKind::BadCall;
        let finding = Finding {
            kind,
            places: places.clone(),
            calls: Vec::new(),
            object: None,
            made: Vec::new(),
            steps: Vec::new(),
            coherence: Vec::new(),
        };
        self.findings.entry((kind, places)).or_insert(finding);
    }

    /// A complete execution.
    fn execution<M: MemoryModel<W>, const W: usize>(&mut self, view: &View<'_, M, W>, racy: bool) {
        let View { subject, trie, memory, graph } = *view;
        self.scratch.clear();
        for &observed in &self.question.observed {
            self.scratch.push(match observed {
                Observed::Register { thread, reg } => Value(graph.frontier_regs(subject.layout, thread)[reg]),
                Observed::Memory { loc, width } => width.sign_extend(Value(graph.final_value(memory, loc))),
            });
        }
        let mut satisfies = false;
        if let Some(condition) = &self.question.condition {
            if condition.filter.as_ref().is_some_and(|filter| !filter.holds(&self.scratch)) {
                return;
            }
            satisfies = condition.proposition.holds(&self.scratch);
        }
        self.stats.executions += 1;
        self.stats.satisfying += u64::from(satisfies);
        self.stats.racy += u64::from(racy);
        // Neighbouring executions often end in the same state.
        let state = self.scratch[..self.question.shown].iter().map(|v| v.0);
        if self.stats.executions == 1 || !self.last.iter().copied().eq(state.clone()) {
            self.last = state.collect();
            if !self.states.contains_key(&self.last) {
                self.states.insert(self.last.clone(), ());
            }
        }
        if satisfies && self.witness.is_none() {
            self.witness = Some(trace(subject, trie, memory, graph));
        }
        if let Some(visitor) = self.visitor {
            visitor(trace(subject, trie, memory, graph));
        }
    }
}

/// A graph with all that is needed to read it.
pub(crate) struct View<'a, M: MemoryModel<W>, const W: usize> {
    pub subject: &'a Subject<'a>,
    pub trie: &'a Trie<M, W>,
    pub memory: &'a Memory,
    pub graph: &'a Graph<M, W>,
}

impl<M: MemoryModel<W>, const W: usize> View<'_, M, W> {
    fn code(&self) -> &Code {
        self.subject.code
    }

    /// Where an event comes from.
    pub fn place(&self, event: usize) -> Place {
        let node = self.trie.node(self.graph.node[event]);
        Place { thread: u32::from(node.thread), at: self.code().source[node.pc() as usize] }
    }

    /// The object that an access is to.
    pub fn object_at(&self, event: EventId) -> Option<fencepost_ir::ObjectId> {
        let node = self.trie.node(self.graph.node[event as usize]);
        matches!(node.kind, Kind::Read | Kind::Write).then(|| self.memory.location(node.loc()).0.object)
    }

    /// The name of an object.
    pub fn object_name(&self, object: fencepost_ir::ObjectId) -> Option<String> {
        self.memory.describe(object).map(|(name, _)| name.to_string())
    }

    /// What a read makes of a value that nobody wrote.
    pub fn undefined(&self, event: usize) -> Undefined {
        let pc = self.trie.node(self.graph.node[event]).pc();
        match self.code().ops[pc as usize] {
            Op::Load { undefined, .. } => undefined,
            _ => Undefined::Atomic,
        }
    }

    /// The first assertion that a thread has passed although it does not hold.
    pub fn failed_assertion(&self, thread: usize) -> Option<((u32, u32), FaultKind)> {
        let layout = self.subject.layout;
        if !self.code().out_of_order || self.graph.frontier(layout, thread).next == Next::NotStarted {
            return None;
        }
        let place = self.graph.frontier_regs(layout, thread)[FAILED].checked_sub(1)?;
        Some((self.code().source[place as usize], self.code().check_at(place as Pc)))
    }

    /// The loops at which the unroll bound stopped threads.
    fn cut_places(&self) -> impl Iterator<Item = (u32, u32)> {
        let layout = self.subject.layout;
        let cut = (0..layout.threads()).filter(|&t| self.graph.frontier(layout, t).next == Next::Cut);
        cut.map(|t| self.code().source[self.graph.frontier_regs(layout, t)[RESULT] as usize])
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
                    places.push(self.place((layout.base[t] + self.graph.front[t] - 1) as usize));
                }
                _ => {}
            }
        }
        places
    }

    /// The execution, thread by thread, for people.
    pub fn steps(&self) -> Vec<Vec<Step>> {
        let threads = 0..self.subject.layout.threads();
        threads.map(|t| self.shown(t).map(|e| self.step(e)).collect()).collect()
    }

    /// The events of a thread that are shown: those up to its first gap.
    fn shown(&self, t: usize) -> std::ops::Range<usize> {
        let first = self.subject.layout.base[t] as usize;
        first..first + self.graph.front[t] as usize
    }

    /// The writes of each cell that has any, as threads and steps, in coherence order.
    pub fn coherence(&self) -> Vec<Vec<(u32, u32)>> {
        let layout = self.subject.layout;
        let id = |&w: &EventId| {
            let thread = layout.thread_of[w as usize];
            (u32::from(thread), u32::from(w - layout.base[thread as usize]))
        };
        let shown = |&&(t, i): &&(u32, u32)| (i as usize) < self.shown(t as usize).len();
        let lists = self.graph.co.iter().map(|list| {
            let ids: Vec<(u32, u32)> = list.iter().map(id).collect();
            ids.iter().filter(shown).copied().collect()
        });
        lists.filter(|list: &Vec<_>| !list.is_empty()).collect()
    }

    fn step(&self, e: usize) -> Step {
        let graph = self.graph;
        let layout = self.subject.layout;
        let node = self.trie.node(graph.node[e]);
        let value = graph.value[e];
        let place_of = |write: EventId| {
            let place = graph.co[node.loc() as usize].iter().position(|&w| w == write);
            place.map_or(0, |place| place as u32 + 1)
        };
        let action = match node.kind {
            Kind::Read => {
                let source = graph.rf[e];
                let from = (source != INIT).then(|| {
                    let thread = layout.thread_of[source as usize];
                    (u32::from(thread), u32::from(source - layout.base[thread as usize]))
                });
                let (raw, order, place) = (value, graph.order[e], place_of(source));
                let (cell, value) = (self.memory.show(node.loc()), self.show_value(node.loc(), value));
                Action::Read { id: node.loc(), cell, value, raw, order, from, place }
            }
            Kind::Write => {
                let (raw, order, place) = (value, graph.order[e], place_of(e as EventId));
                let (cell, value) = (self.memory.show(node.loc()), self.show_value(node.loc(), value));
                Action::Write { id: node.loc(), cell, value, raw, order, place }
            }
            Kind::Choice => Action::Choose { value },
            Kind::Spawn => Action::Spawn { thread: value as u32 },
            Kind::Join => Action::Join { thread: value as u32 },
            Kind::Free => {
                let object = self.memory.describe(fencepost_ir::ObjectId(value as u32));
                let all = "what the thread has made";
                Action::Free { object: object.map_or(all, |(name, _)| name).to_string() }
            }
            _ => Action::Fence,
        };
        let calls = node.calls().map(|pc| self.code().source[pc as usize]).collect();
        Step { at: self.code().source[node.pc() as usize], calls, action }
    }

    /// A number, or the name of what a pointer points to.
    fn show_value(&self, loc: LocId, value: u64) -> String {
        let value = self.memory.location(loc).1.sign_extend(Value(value));
        if value == Value::UNDEFINED {
            return "(uninitialised)".into();
        }
        let pointee = value.as_pointer().and_then(|(object, offset)| {
            let (name, _) = self.memory.describe(object)?;
            Some(if offset == 0 { format!("&{name}") } else { format!("&{name}+{offset}") })
        });
        pointee.unwrap_or_else(|| value.as_i64().to_string())
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
    fn calls_to(&self, place: &Place) -> Calls {
        let layout = self.subject.layout;
        let t = place.thread as usize;
        let stands =
            matches!(self.graph.frontier(layout, t).next, Next::Failed(fault) if fault.at == place.at);
        let first = layout.base[t] as usize;
        let events = (first..first + self.graph.front[t] as usize).rev();
        match events.map(|e| self.step(e)).find(|step| step.at == place.at) {
            Some(step) if !stands => step.calls,
            _ => self.calls(self.graph.frontier_regs(layout, t)),
        }
    }

    /// Objects on the heap by name, and who made them.
    fn made(&self) -> Vec<(String, Place)> {
        let objects = self.memory.objects(Storage::Heap);
        let made = objects.filter_map(|object| {
            let (thread, pc) = self.memory.maker(object)?;
            let (name, _) = self.memory.describe(object)?;
            Some((name.to_string(), Place { thread: u32::from(thread), at: self.code().source[pc as usize] }))
        });
        made.collect()
    }
}

/// The choices that determine a complete execution.
pub(crate) fn trace<M: MemoryModel<W>, const W: usize>(
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
        for (e, id) in ids.iter_mut().enumerate().skip(first).take(graph.front[t] as usize) {
            match trie.node(graph.node[e]).kind {
                Kind::Choice => chosen.push(graph.value[e]),
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
    let source = |e: usize| (graph.rf[e] != INIT).then(|| ids[graph.rf[e] as usize]);
    let rf = reads.into_iter().map(|e| (ids[e], source(e))).collect();
    let co = (0..graph.co.len())
        .filter(|&x| !graph.co[x].is_empty())
        .map(|x| {
            let writes = graph.co[x].iter().map(|&w| ids[w as usize]).collect();
            (memory.location(x as LocId).0, writes)
        })
        .collect();
    Trace { rf, co, choices }
}
