//! What is wrong with an execution in which no thread can go on: mistakes of its threads, and what only the whole shows.
//!
//! * data race: what the model's `race` relates.
//! * use after free, use after scope: an access that is not over before its object's life ends. Under language models an
//!   access is over if it happens before the end, or is atomic and somebody that comes before the end has seen it.
//!   Under SC, TSO and PSO it is over if it is before the end in program order and reads-from. POWER and ARMv8 commit
//!   events out of order, and when an access is surely over is a matter of definition there: what their `hb` (and `lob`)
//!   order is over, what not even program order and reads-from order is not, and what lies between is *disputed*.
//! * mixed sizes: a piece of an access that hits no cell as it is (`pieces`), and an access by another thread to its cell that is
//!   not over before it, nor it before that one, in the sense of the lines above.
//! * use before allocation, under language models: an access that does not happen after what its object's maker did
//!   once it had made it.
//! * double free: two ends of one life, in whatever order.
//! * uninitialised read: of an initial write to a cell that has no initial value, unless it only copies; an atomic read of
//!   such a value that was copied; and the use of one by a thread.
//! * deadlock: some thread waits, spins or joins what does not end; all others have ended, and the process has not; and
//!   each read of the waiting and spinning reads the coherence-last write, so that nothing will ever change.
//! * leak: an execution in which all threads end and none calls `exit`, and which accesses a heap object and does not end
//!   its life.

use crate::combine::Whole;
use crate::pieces::unordered;
use crate::run::{End, Role, Undefined};
use crate::world::Storage;
pub use fencepost_answer::FindingKind as ProblemKind;
use fencepost_ir::{EventKind, ObjectId, Order, Relation, ThreadId, Value};
use fencepost_models::Model;
use fencepost_models::registry::{self, Ordered};
use std::collections::BTreeSet;

/// A mistake of one thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Problem {
    /// What.
    pub kind: ProblemKind,
    /// Function and instruction.
    pub at: (u32, u32),
    /// What the program says about it.
    pub message: Option<String>,
}

/// Thread, function and instruction.
pub type Site = (u32, (u32, u32));

/// Something that is wrong with an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Claim {
    /// What.
    pub kind: ProblemKind,
    /// Where: the accesses, or where threads stand.
    pub sites: Vec<Site>,
    /// Whether one may see it otherwise; see the module's documentation.
    pub disputed: bool,
}

/// All that is wrong with a consistent execution in which no thread can go on.
pub fn claims(whole: &Whole<'_>, model: &Model) -> Vec<Claim> {
    let mut found = mistakes(whole, model);
    // Who waits for ever and what is left behind matters if nothing else is wrong.
    if found.is_empty() {
        found.extend(deadlock(whole));
    }
    if found.is_empty() {
        leaks(whole, &mut found);
    }
    found
}

/// Whether an execution shows this. For a deadlock the sites say which threads wait, for a leak and a loop without end
/// they say nothing.
pub fn holds(whole: &Whole<'_>, model: &Model, kind: ProblemKind, sites: &[Site]) -> bool {
    let found = match kind {
        ProblemKind::Deadlock | ProblemKind::LeftWaiting => deadlock(whole).into_iter().collect(),
        ProblemKind::Leak => {
            let mut found = Vec::new();
            leaks(whole, &mut found);
            found
        }
        _ => mistakes(whole, model),
    };
    let sorted = |sites: &[Site]| {
        let mut sites: Vec<Site> = match kind {
            ProblemKind::Deadlock | ProblemKind::LeftWaiting => {
                sites.iter().map(|&(thread, _)| (thread, (0, 0))).collect()
            }
            ProblemKind::Leak | ProblemKind::LocalLoop => Vec::new(),
            _ => sites.to_vec(),
        };
        sites.sort_unstable();
        sites
    };
    found.iter().any(|claim| claim.kind == kind && sorted(&claim.sites) == sorted(sites))
}

/// What has gone wrong, whatever may still happen.
fn mistakes(whole: &Whole<'_>, model: &Model) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut add = |kind, sites, disputed| found.push(Claim { kind, sites, disputed });
    for &(thread, trace) in whole.chosen {
        trace.problems.iter().for_each(|p| add(p.kind, vec![(thread.0, p.at)], false));
    }
    if let Some(race) = model.relation(whole.execution, "race") {
        let pairs = race.pairs().filter(|&(a, b)| a < b);
        pairs.for_each(|(a, b)| add(ProblemKind::DataRace, vec![whole.site(a), whole.site(b)], false));
    }
    for (a, b, disputed) in unordered(whole, model) {
        add(ProblemKind::MixedSize, vec![whole.site(a), whole.site(b)], disputed);
    }
    lifetimes(whole, model, &mut add);
    births(whole, model, &mut add);
    for (write, read) in whole.execution.rf.pairs() {
        let from_init = whole.execution.events[write].is_init();
        let mistake = match whole.event(read).map(|event| event.undefined) {
            Some(Undefined::Mistake) => from_init,
            Some(Undefined::Atomic) => true,
            _ => false,
        };
        if mistake && whole.execution.events[read].value == Value::UNDEFINED {
            add(ProblemKind::Uninitialised, vec![whole.site(read)], false);
        }
    }
    found
}

fn deadlock(whole: &Whole<'_>) -> Option<Claim> {
    // With the process all waiting ends, and a program that calls `exit` means that.
    let ends = |end: End| whole.chosen.iter().any(|(_, trace)| trace.end == end);
    let kind = match (ends(End::Halted), ends(End::Returned)) {
        (true, _) => return None,
        (false, true) => ProblemKind::LeftWaiting,
        (false, false) => ProblemKind::Deadlock,
    };
    Some(Claim { kind, sites: waiting_for_ever(whole)?, disputed: false })
}

/// Accesses that are not over before the end of their object's life, and second ends.
fn lifetimes(whole: &Whole<'_>, model: &Model, add: &mut impl FnMut(ProblemKind, Vec<Site>, bool)) {
    let n = whole.execution.events.len();
    let ends: Vec<(usize, ObjectId)> =
        (0..n).flat_map(|f| whole.ended_by(f).iter().map(move |&object| (f, object))).collect();
    if ends.is_empty() {
        return;
    }
    let (surely, perhaps) = over(whole, model);
    for &(f, object) in &ends {
        let scope = whole.world.storage(object) != Some(Storage::Heap);
        let kind = if scope { ProblemKind::UseAfterScope } else { ProblemKind::UseAfterFree };
        for e in 0..n {
            let event = &whole.execution.events[e];
            let accesses = event.thread.is_some() && event.location.is_some_and(|l| l.object == object);
            if accesses && !surely.contains(e, f) {
                add(kind, vec![whole.site(e), whole.site(f)], perhaps.contains(e, f));
            }
            if e < f && whole.ended_by(e).contains(&object) {
                add(ProblemKind::DoubleFree, vec![whole.site(e), whole.site(f)], false);
            }
        }
    }
}

/// Under language models: accesses by other threads that do not happen after the birth of their object.
fn births(whole: &Whole<'_>, model: &Model, add: &mut impl FnMut(ProblemKind, Vec<Site>, bool)) {
    let born = whole.chosen.iter().any(|(_, trace)| !trace.births.is_empty());
    let Some(hb) = model.relation(whole.execution, "hb").filter(|_| born && is_language(model)) else {
        return;
    };
    for &(thread, trace) in whole.chosen {
        let (first, count) = (whole.first_event(thread), trace.events.len());
        for (&object, &(at, site)) in &trace.births {
            for (e, event) in whole.execution.events.iter().enumerate() {
                let other = event.thread.is_some_and(|t| t != thread);
                let known = || (first + at..first + count).any(|i| hb.contains(i, e));
                if other && event.location.is_some_and(|l| l.object == object) && !known() {
                    let mut sites = vec![whole.site(e)];
                    if whole.world.storage(object) != Some(Storage::ThreadLocal) {
                        sites.push((thread.0, site));
                    }
                    add(ProblemKind::UseBeforeAllocation, sites, false);
                }
            }
        }
    }
}

/// Whether the model is one of a language, and not of a machine.
fn is_language(model: &Model) -> bool {
    model.relation(&fencepost_ir::Execution::new(Vec::new()), "race").is_some()
}

/// Which events are surely over before which, and which may be seen so.
pub fn over(whole: &Whole<'_>, model: &Model) -> (Relation, Relation) {
    let execution = whole.execution;
    let n = execution.events.len();
    let seen = execution.po.union(&execution.rf).transitive_closure();
    // A thread that ends a life has done all that it does before.
    let to_ends = Relation::from_fn(n, |a, b| execution.po.contains(a, b) && !whole.ended_by(b).is_empty());
    let named = |name: &str| model.relation(execution, name).unwrap_or_else(|| Relation::new(n));
    match registry::find(model.name()).map_or(Ordered::Sight, |entry| entry.ordered) {
        Ordered::HappensBefore => {
            let atomic = |e: usize| {
                execution.events[e].location.is_some() && execution.events[e].ann.order != Order::Plain
            };
            let by_sight = Relation::from_fn(n, |a, b| seen.contains(a, b) && atomic(a));
            let over = named("hb").union(&by_sight);
            (over.clone(), over)
        }
        Ordered::Committed(relations) => {
            let committed = relations.iter().fold(to_ends, |sum, name| sum.union(&named(name)));
            (committed.transitive_closure(), seen)
        }
        Ordered::Sight => (seen.clone(), seen),
    }
}

/// Where threads wait, if some do and will for ever.
fn waiting_for_ever(whole: &Whole<'_>) -> Option<Vec<Site>> {
    let mut sites = Vec::new();
    // What rounds of loops wrote is what they had read.
    let mut silent = BTreeSet::new();
    for &(thread, trace) in whole.chosen {
        if let End::Spinning(from) = trace.end {
            let first = whole.first_event(thread);
            silent.extend(first + from..first + trace.events.len());
        }
    }
    for &(thread, trace) in whole.chosen {
        let from = match trace.end {
            End::Done | End::Returned | End::Halted => continue,
            End::Joining(_) => trace.events.len(),
            End::Waiting => trace.events.iter().rposition(|e| e.kind == EventKind::Read)?,
            End::Spinning(from) => from,
            End::Blocked | End::Cut | End::Failed | End::Stuck | End::Open => return None,
        };
        let first = whole.first_event(thread);
        for e in first + from..first + trace.events.len() {
            let reads = whole.execution.events[e].kind == EventKind::Read;
            let source = (0..whole.execution.events.len()).find(|&w| whole.execution.rf.contains(w, e));
            if reads
                && source
                    .is_some_and(|w| whole.execution.co.successors(w).any(|later| !silent.contains(&later)))
            {
                return None;
            }
        }
        sites.push((thread.0, trace.stands_at));
    }
    (!sites.is_empty()).then_some(sites)
}

/// Heap objects that a complete execution accesses and whose life it does not end, nor does the end of the process.
fn leaks(whole: &Whole<'_>, found: &mut Vec<Claim>) {
    if !whole.chosen.iter().all(|(_, trace)| trace.end == End::Done) {
        return;
    }
    let touched: BTreeSet<ObjectId> =
        whole.execution.events.iter().filter_map(|e| Some(e.location?.object)).collect();
    let ended: BTreeSet<ObjectId> =
        (0..whole.execution.events.len()).flat_map(|f| whole.ended_by(f).iter().copied()).collect();
    for object in touched.difference(&ended) {
        if whole.world.storage(*object) == Some(Storage::Heap) {
            let sites = whole.world.maker(*object).into_iter().collect();
            found.push(Claim { kind: ProblemKind::Leak, sites, disputed: false });
        }
    }
}

impl Whole<'_> {
    /// The event of a trace that an event of the execution is.
    pub fn event(&self, e: usize) -> Option<&crate::run::TraceEvent> {
        let thread = self.execution.events[e].thread?;
        let (_, trace) = self.chosen.iter().find(|(t, _)| *t == thread)?;
        trace.events.get(e - self.first_event(thread))
    }

    /// The number of a thread's first event.
    pub fn first_event(&self, thread: ThreadId) -> usize {
        self.starts.iter().find(|(t, _)| *t == thread).map_or(0, |s| s.1)
    }

    /// Where an event comes from.
    pub fn site(&self, e: usize) -> Site {
        let thread = self.execution.events[e].thread.map_or(u32::MAX, |t| t.0);
        (thread, self.event(e).map_or((0, 0), |event| event.at))
    }

    /// The objects whose lives an event ends.
    pub fn ended_by(&self, e: usize) -> &[ObjectId] {
        match self.event(e).map(|event| &event.role) {
            Some(Role::End(objects)) => objects,
            _ => &[],
        }
    }

    /// Whether all threads are at their end, or else wait until the end of the process, which some thread has ended.
    pub fn is_complete(&self) -> bool {
        let over = self.chosen.iter().any(|(_, trace)| trace.end.ends_process());
        self.chosen.iter().all(|(_, trace)| trace.end.is_end()) || (over && waiting_for_ever(self).is_some())
    }
}
