//! What an exploration finds: final states, counts, faults, and executions for whoever wants to see them.

use crate::code::thread_reg;
use crate::graph::Graph;
use crate::interpret::{Fault, Next};
use crate::memory::{LocId, Memory};
use crate::model::MemoryModel;
use crate::path::{INIT, Kind, Trie};
use crate::visit::Subject;
use fencepost_ir::{FinalCondition, Location, Observable, Program, Property, Value, Width};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

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
}

impl Stats {
    fn add(&mut self, other: &Stats) {
        self.nodes += other.nodes;
        self.executions += other.executions;
        self.satisfying += other.satisfying;
        self.blocked += other.blocked;
        self.cut += other.cut;
        self.racy += other.racy;
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
    Register { thread: usize, reg: u16 },
    Memory { loc: LocId, width: Width },
}

impl Question {
    /// The program's final condition in terms of the lowered program.
    pub fn new(program: &Program, memory: &Memory) -> Question {
        let Property::Final(condition) = &program.property else {
            return Question { observed: Vec::new(), shown: 0, condition: None };
        };
        let observed = condition.observed.iter().filter_map(|observable| match *observable {
            Observable::Register { thread, reg } => {
                Some(Observed::Register { thread: thread.0 as usize, reg: thread_reg(reg) })
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
    /// What went wrong, by thread.
    pub faults: BTreeSet<(u32, Fault)>,
    /// One execution that satisfies the condition.
    pub witness: Option<Trace>,
    visitor: Option<Visitor<'a>>,
}

impl<'a> Collector<'a> {
    /// A collector that has found nothing yet.
    pub fn new(question: &'a Question, visitor: Option<Visitor<'a>>) -> Collector<'a> {
        Collector {
            stats: Stats::default(),
            question,
            states: FxHashMap::default(),
            last: State::new(),
            scratch: Vec::new(),
            faults: BTreeSet::new(),
            witness: None,
            visitor,
        }
    }

    /// Adds what another worker has found.
    pub fn merge(&mut self, other: Collector<'a>) {
        self.stats.add(&other.stats);
        self.states.extend(other.states);
        self.faults.extend(other.faults);
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

    /// A complete execution.
    pub(crate) fn execution<M: MemoryModel<W>, const W: usize>(
        &mut self,
        subject: &Subject<'_>,
        trie: &Trie<M, W>,
        graph: &Graph<M, W>,
        racy: bool,
    ) {
        self.scratch.clear();
        for &observed in &self.question.observed {
            self.scratch.push(match observed {
                Observed::Register { thread, reg } => {
                    Value(graph.frontier_regs(subject.layout, thread)[reg as usize])
                }
                Observed::Memory { loc, width } => {
                    width.sign_extend(Value(graph.final_value(subject.memory, loc)))
                }
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
            self.witness = Some(trace(subject, trie, graph));
        }
        if let Some(visitor) = self.visitor {
            visitor(trace(subject, trie, graph));
        }
    }

    /// An exploration that ended with some thread not at its end.
    pub(crate) fn stopped<M: MemoryModel<W>, const W: usize>(
        &mut self,
        subject: &Subject<'_>,
        _trie: &Trie<M, W>,
        graph: &Graph<M, W>,
    ) {
        let mut cut = false;
        for (t, next) in (0u32..).zip(graph.threads_next(subject.layout)) {
            match next {
                Next::Failed(fault) => {
                    self.faults.insert((t, fault));
                }
                Next::Cut => cut = true,
                _ => {}
            }
        }
        if cut {
            self.stats.cut += 1;
        } else {
            self.stats.blocked += 1;
        }
    }
}

/// The choices that determine a complete execution.
pub(crate) fn trace<M: MemoryModel<W>, const W: usize>(
    subject: &Subject<'_>,
    trie: &Trie<M, W>,
    graph: &Graph<M, W>,
) -> Trace {
    let layout = subject.layout;
    let mut ids = vec![(0, 0); layout.events()];
    let mut reads = Vec::new();
    let mut choices = Vec::new();
    for t in 0..layout.threads() {
        let mut index = 0;
        let mut chosen = Vec::new();
        for e in layout.base[t] as usize..layout.base[t] as usize + graph.front[t] as usize {
            match trie.node(graph.node[e]).kind {
                Kind::Choice => chosen.push(graph.value[e]),
                kind @ (Kind::Read | Kind::Write) => {
                    ids[e] = (t as u32, index);
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
    let co = (0..layout.cells)
        .filter(|&x| !graph.co[x].is_empty())
        .map(|x| {
            let writes = graph.co[x].iter().map(|&w| ids[w as usize]).collect();
            (subject.memory.location(x as LocId).0, writes)
        })
        .collect();
    Trace { rf, co, choices }
}
