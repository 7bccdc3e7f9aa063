//! What an exploration finds: final states, counts, faults, and executions for whoever wants to see them.

use crate::findings::judge::{Execution, Finding, FindingKind, Place, findings};
use crate::findings::view::{View, trace};
use crate::models::model::MemoryModel;
use crate::search::finish::Ends;
use crate::search::graph::Graph;
use crate::search::row::RowWidth;
use crate::search::visit::Subject;
use crate::threads::code::outermost_reg;
use crate::threads::memory::{LocId, Memory};
use crate::threads::path::EventId;
use crate::work::item::Position;
use crate::work::progress::Sample;
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
    /// Complete executions that stand for all that differ in which of several equal threads is which.
    pub symmetric: u64,
    /// Iterations and tries that changed nothing and were not followed, and reads that wait and were put off.
    pub left_out: u64,
    /// The share of the search tree that was seen, as far as somebody watches or the time is limited; see `progress.rs`.
    pub share: u64,
}

impl Stats {
    /// Nothing.
    pub(crate) const NONE: Stats = Stats {
        nodes: 0,
        executions: 0,
        satisfying: 0,
        blocked: 0,
        cut: 0,
        racy: 0,
        symmetric: 0,
        left_out: 0,
        share: 0,
    };

    /// Adds what came to other counters since they were `base`.
    pub(crate) fn add_since(&mut self, other: &Stats, base: &Stats) {
        self.nodes += other.nodes - base.nodes;
        self.executions += other.executions - base.executions;
        self.satisfying += other.satisfying - base.satisfying;
        self.blocked += other.blocked - base.blocked;
        self.cut += other.cut - base.cut;
        self.racy += other.racy - base.racy;
        self.symmetric += other.symmetric - base.symmetric;
        self.left_out += other.left_out - base.left_out;
        self.share = self.share.saturating_add(other.share.saturating_sub(base.share));
    }

    /// Adds other counters, which may come from anywhere.
    pub(crate) fn add(&mut self, other: &Stats) {
        let add = |sum: &mut u64, number: u64| *sum = sum.saturating_add(number);
        add(&mut self.nodes, other.nodes);
        add(&mut self.executions, other.executions);
        add(&mut self.satisfying, other.satisfying);
        add(&mut self.blocked, other.blocked);
        add(&mut self.cut, other.cut);
        add(&mut self.racy, other.racy);
        add(&mut self.symmetric, other.symmetric);
        add(&mut self.left_out, other.left_out);
        add(&mut self.share, other.share);
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
    pub(crate) states: FxHashMap<State, ()>,
    last: State,
    scratch: Vec<Value>,
    /// What went wrong, each kind and place once.
    pub findings: BTreeMap<(FindingKind, Vec<Place>), Finding>,
    /// Where the unroll bound cut: functions and instructions.
    pub cuts: BTreeSet<(u32, u32)>,
    /// Whether the first error ends the search.
    stop_at_error: bool,
    /// An error has ended it, at that place.
    pub(crate) ended: Option<Position>,
    /// Where findings were made, if places matter.
    pub(crate) located: BTreeMap<(FindingKind, Vec<Place>), Position>,
    /// Where the witness was.
    pub(crate) witness_at: Position,
    /// When the next sample for an estimate of the total is taken; `None` if nobody watches.
    pub sample: Option<Sample>,
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
            ended: None,
            located: BTreeMap::new(),
            witness_at: Position::new(),
            sample: None,
            witness: None,
            visitor,
        }
    }

    /// A collector that has found nothing, for the same worker.
    pub(crate) fn fresh(&self) -> Collector<'a> {
        let fresh = Collector::new(self.question, self.visitor, self.stop_at_error);
        Collector { stats: self.stats, sample: self.sample, ..fresh }
    }

    /// What was found since this was called last was found at a place.
    #[inline(always)]
    pub(crate) fn locate(&mut self, here: &[u32]) {
        if self.findings.len() != self.located.len() {
            for key in self
                .findings
                .keys()
                .filter(|key| !self.located.contains_key(*key))
                .cloned()
                .collect::<Vec<_>>()
            {
                self.located.insert(key, here.to_vec());
            }
        }
        if self.witness.is_some() && self.witness_at.is_empty() {
            self.witness_at = here.to_vec();
        }
    }

    /// A graph that no thread can extend.
    pub(crate) fn finished<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        view: &View<'_, M, W>,
        ends: &Ends,
        race: Option<(EventId, EventId)>,
        stuck: bool,
    ) -> Finished {
        let over = ends.over;
        let threads = view.subject.layout.threads();
        let failed =
            view.subject.code.checks_at_end && (0..threads).any(|t| view.failed_assertion(t).is_some());
        let all_ended = ends.complete && !failed;
        // Who waits when the process ends has been ended with it.
        let complete = all_ended || (stuck && over && !failed);
        let waiting = match (stuck, over, ends.halted) {
            (true, false, _) => Some(FindingKind::Deadlock),
            (true, true, false) => Some(FindingKind::LeftWaiting),
            _ => None,
        };
        let found = findings(view, ends.failed, race, waiting, all_ended && !over);
        let is_new = |(kind, places, _): &(FindingKind, Vec<Place>, _)| {
            !self.findings.contains_key(&(*kind, places.clone()))
        };
        if ends.tails > 0 && found.iter().any(is_new) {
            return Finished::NeedsTail;
        }
        if let Some(sample) = &mut self.sample
            && let Some(share) = sample.after_a_leaf(view)
        {
            self.stats.share = self.stats.share.saturating_add(share);
        }
        if complete {
            self.execution(view, race.is_some());
        } else if ends.cut {
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
                execution: view.execution(),
            });
        }
        if error && self.stop_at_error {
            return Finished::Stop;
        }
        Finished::GoOn
    }

    /// A spawn of what is no function.
    pub(crate) fn bad_spawn<M: MemoryModel<W>, W: RowWidth>(
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
            execution: Execution::default(),
        };
        self.findings.entry((kind, places)).or_insert(finding);
    }

    /// A complete execution.
    fn execution<M: MemoryModel<W>, W: RowWidth>(&mut self, view: &View<'_, M, W>, racy: bool) {
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
        self.stats.symmetric += u64::from(graph.has_mates());
        // Neighbouring executions often end in the same state.
        let state = self.scratch[..self.question.shown].iter().map(|v| v.0);
        if self.states.is_empty() || !self.last.iter().copied().eq(state.clone()) {
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
