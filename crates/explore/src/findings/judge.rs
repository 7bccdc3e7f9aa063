//! What is wrong with an execution: the faults of its threads, and what only the whole execution shows.

use crate::findings::view::View;
use crate::models::model::MemoryModel;
use crate::search::row::{Row, RowWidth};
use crate::threads::code::Undefined;
use crate::threads::interpret::{END_OF_THREAD, FaultKind, Next};
use crate::threads::memory::{BadAccess, Storage};
use crate::threads::path::{EventId, INIT, Kind};
use crate::threads::pieces::unordered;
use fencepost_ir::{FailKind, ObjectId, Value};

pub use fencepost_answer::FindingKind;
pub use fencepost_answer::trace::{Execution, Object};

/// A place in the program: a thread, a function and an instruction of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Whose.
    pub thread: u32,
    /// Function and instruction.
    pub at: (u32, u32),
}

/// A finding and the execution that shows it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Where; two places where two accesses are involved.
    pub places: Vec<Place>,
    /// For each place: the calls that led to it, innermost first.
    pub calls: Vec<Calls>,
    /// The object that it is about.
    pub object: Option<Object>,
    /// Objects on the heap, and who made them.
    pub made: Vec<(Object, Place)>,
    /// The execution.
    pub execution: Execution,
}

/// Call instructions, innermost first, each a function and an instruction of it.
pub type Calls = Vec<(u32, u32)>;

/// All findings of a graph that no thread can extend; `failed`: something went wrong in a thread; `waiting`: threads wait for
/// ever, which is a finding of that kind; `left`: all threads have ended by
/// themselves, and neither `exit` nor the return of `main` ended the process, so that what is left on the heap is lost.
pub(crate) fn findings<M: MemoryModel<W>, W: RowWidth>(
    view: &View<'_, M, W>,
    failed: bool,
    race: Option<(EventId, EventId)>,
    waiting: Option<FindingKind>,
    left: bool,
) -> Vec<(FindingKind, Vec<Place>, Option<Object>)> {
    let mut found = Vec::new();
    let may_fail = failed || view.subject.code.checks_at_end;
    for t in (0..view.subject.layout.threads()).filter(|_| may_fail) {
        if let Some(at) = view.failed_assertion(t) {
            found.push((kind_of(at.1), vec![Place { thread: t as u32, at: at.0 }], None));
        } else if let Next::Failed(fault) = view.graph.frontier(view.subject.layout, t).next {
            let object = match fault.kind {
                FaultKind::Uninitialised(object) | FaultKind::UseAfterScope(object) => {
                    Some(Object::Declared(view.subject.code.privates[object as usize].object.name.clone()))
                }
                _ => None,
            };
            let kind = match fault.kind {
                // One thread may see memory as it likes, but this engine has no words for it.
                FaultKind::BadAccess(BadAccess::MixedSize(object)) if !is_shared(view, t, object) => {
                    FindingKind::Unsupported
                }
                kind => kind_of(kind),
            };
            found.push((kind, vec![Place { thread: t as u32, at: fault.at }], object));
        }
    }
    if view.subject.code.in_pieces
        && let Some((a, b)) = unordered(view)
    {
        // What the threads read and write from there on is nothing that could be relied upon.
        found.clear();
        let object = view.object_at(a).and_then(|o| view.object(o));
        let places = vec![view.place(a as usize), view.place(b as usize)];
        found.push((FindingKind::MixedSize, places, object));
        return found;
    }
    if let Some((a, b)) = race {
        found.push((
            FindingKind::DataRace,
            vec![view.place(a as usize), view.place(b as usize)],
            view.object_at(a).and_then(|o| view.object(o)),
        ));
    }
    if view.subject.code.uses_objects {
        lifetimes(view, &mut found);
        if M::RACES {
            allocated_elsewhere(view, &mut found);
        }
    }
    if let Some(lock) = view.subject.code.section_lock {
        outside_sections(view, lock, &mut found);
        if found.iter().any(|(kind, ..)| *kind == FindingKind::OutsideSection) {
            // Nothing else can be said of an execution that might not be one.
            found.retain(|(kind, ..)| *kind == FindingKind::OutsideSection);
            return found;
        }
    }
    uninitialised(view, &mut found);
    if let Some(kind) = waiting.filter(|_| found.is_empty()) {
        found.push((kind, view.stuck_places(), None));
    }
    if left && found.is_empty() {
        leaks(view, &mut found);
    }
    found
}

/// Whether another thread accesses an object, too.
fn is_shared<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, thread: usize, object: u32) -> bool {
    let graph = view.graph;
    (graph.reads() | graph.writes()).iter().any(|e| {
        view.object_at(e as EventId) == Some(ObjectId(object)) && view.place(e).thread != thread as u32
    })
}

type Found = Vec<(FindingKind, Vec<Place>, Option<Object>)>;

fn kind_of(fault: FaultKind) -> FindingKind {
    match fault {
        FaultKind::Fail(FailKind::Assertion) => FindingKind::Assertion,
        FaultKind::Fail(FailKind::Misuse) => FindingKind::Misuse,
        FaultKind::Fail(FailKind::Unsupported) | FaultKind::DeepRecursion => FindingKind::Unsupported,
        FaultKind::DivisionByZero => FindingKind::DivisionByZero,
        FaultKind::BadAccess(BadAccess::Null) => FindingKind::NullPointer,
        FaultKind::BadAccess(BadAccess::NotAPointer) => FindingKind::BadPointer,
        FaultKind::BadAccess(BadAccess::OutOfBounds) => FindingKind::OutOfBounds,
        FaultKind::BadAccess(BadAccess::MixedSize(_)) => FindingKind::MixedSize,
        FaultKind::BadAccess(BadAccess::Constant) => FindingKind::Constant,
        FaultKind::Uninitialised(_) | FaultKind::Undefined => FindingKind::Uninitialised,
        FaultKind::UseAfterScope(_) => FindingKind::UseAfterScope,
        FaultKind::InvalidFree => FindingKind::InvalidFree,
        FaultKind::BadCall => FindingKind::BadCall,
        FaultKind::BadJoin => FindingKind::Misuse,
        FaultKind::LocalLoop => FindingKind::LocalLoop,
        FaultKind::Source(kind) => kind,
    }
}

/// Accesses that are not ordered before the end of their object's life, and second ends.
fn lifetimes<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, found: &mut Found) {
    let graph = view.graph;
    let node = |e: usize| view.trie.node(graph.node(e));
    for f in graph.present().iter().filter(|&e| node(e).kind == Kind::Free) {
        if graph.value(f) == END_OF_THREAD {
            ended_with_thread(view, f, found);
            continue;
        }
        let object = ObjectId(graph.value(f) as u32);
        let scope = view.memory.storage(object) == Some(Storage::Local);
        for e in graph.present().iter() {
            let other = node(e);
            let same = match other.kind {
                Kind::Read | Kind::Write => view.memory.location(other.loc()).0.object == object,
                Kind::Free => e != f && graph.value(e) == graph.value(f),
                _ => false,
            };
            if !same || view.happens_before(e, f) {
                continue;
            }
            let kind = match other.kind {
                Kind::Free if f < e || view.happens_before(f, e) => FindingKind::DoubleFree,
                Kind::Free => continue,
                _ if scope => FindingKind::UseAfterScope,
                _ => FindingKind::UseAfterFree,
            };
            found.push((kind, vec![view.place(e), view.place(f)], view.object(object)));
        }
    }
}

/// Accesses to what a thread has made that are not ordered before its end.
fn ended_with_thread<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, end: usize, found: &mut Found) {
    let graph = view.graph;
    let thread = view.trie.node(graph.node(end)).thread;
    let ended_before = |object: ObjectId| {
        graph.present().iter().any(|f| {
            view.trie.node(graph.node(f)).kind == Kind::Free && graph.value(f) == u64::from(object.0)
        })
    };
    for e in (graph.reads() | graph.writes()).iter() {
        let Some(object) = view.object_at(e as EventId) else { continue };
        let local = matches!(view.memory.storage(object), Some(Storage::Local | Storage::ThreadLocal));
        let own = view.memory.maker(object).is_some_and(|(maker, _)| maker == thread);
        if local && own && !view.happens_before(e, end) && !ended_before(object) {
            let places = vec![view.place(e), view.place(end)];
            found.push((FindingKind::UseAfterScope, places, view.object(object)));
        }
    }
}

/// Accesses by other threads that do not happen after what made the object. What the maker did from then on begins with
/// its first event behind it, so the access must happen after that one.
fn allocated_elsewhere<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, found: &mut Found) {
    let graph = view.graph;
    let layout = view.subject.layout;
    for e in (graph.reads() | graph.writes()).iter() {
        let node = view.trie.node(graph.node(e));
        let object = view.memory.location(node.loc()).0.object;
        let Some((maker, site)) = view.memory.maker(object) else { continue };
        if maker == node.thread {
            continue;
        }
        // A thread-local object is there from the start of its thread.
        let thread_local = view.memory.storage(object) == Some(Storage::ThreadLocal);
        let number = view.memory.made_after(object);
        let there = |i: usize| thread_local || view.trie.node(graph.node(i)).made() > number;
        let first = layout.base[maker as usize] as usize;
        let mut events = first..first + graph.front(maker as usize) as usize;
        if !events.any(|i| there(i) && view.strictly_before(i, e)) {
            let mut places = vec![view.place(e)];
            if !thread_local {
                places.push(Place { thread: u32::from(maker), at: view.subject.code.source[site as usize] });
            }
            found.push((FindingKind::UseBeforeAllocation, places, view.object(object)));
        }
    }
}

/// Accesses in atomic sections, which are critical sections here, that accesses outside may come between.
fn outside_sections<M: MemoryModel<W>, W: RowWidth>(
    view: &View<'_, M, W>,
    lock: ObjectId,
    found: &mut Found,
) {
    let graph = view.graph;
    let layout = view.subject.layout;
    let node = |e: usize| view.trie.node(graph.node(e));
    let mut inside = Row::EMPTY;
    for t in 0..layout.threads() {
        let mut holds = false;
        let first = layout.base[t] as usize;
        for e in first..first + graph.front(t) as usize {
            if graph.writes().contains(e) && view.object_at(e as EventId) == Some(lock) {
                holds = graph.value(e) != 0;
            } else if holds && (graph.reads() | graph.writes()).contains(e) {
                inside.insert(e);
            }
        }
    }
    for a in inside.iter() {
        let others =
            if graph.writes().contains(a) { graph.reads() | graph.writes() } else { graph.writes().clone() };
        for b in others.without(&inside).iter() {
            let together = node(a).loc() == node(b).loc()
                && node(a).thread != node(b).thread
                && !view.happens_before(a, b)
                && !view.happens_before(b, a);
            if together {
                let object = view.object_at(a as EventId).and_then(|o| view.object(o));
                found.push((FindingKind::OutsideSection, vec![view.place(a), view.place(b)], object));
                return;
            }
        }
    }
}

/// Reads of cells that nothing has been written to.
fn uninitialised<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, found: &mut Found) {
    let graph = view.graph;
    let mut reads: Found = Vec::new();
    for e in graph.reads().iter() {
        if graph.value(e) != Value::UNDEFINED.0 {
            continue;
        }
        let mistake = match view.undefined(e) {
            Undefined::Kept | Undefined::Zero => false,
            Undefined::Mistake => graph.rf(e) == INIT,
            Undefined::Atomic => true,
        };
        if mistake {
            let object = view.object_at(e as EventId).and_then(|o| view.object(o));
            reads.push((FindingKind::Uninitialised, vec![view.place(e)], object));
        }
    }
    // That a thread uses what it should not have read is the same mistake.
    let reader = |places: &[Place]| reads.iter().any(|(_, read, _)| read[0].thread == places[0].thread);
    found.retain(|(kind, places, object)| {
        *kind != FindingKind::Uninitialised || object.is_some() || !reader(places)
    });
    found.extend(reads);
}

/// Heap objects that somebody made and nobody freed.
fn leaks<M: MemoryModel<W>, W: RowWidth>(view: &View<'_, M, W>, found: &mut Found) {
    if !view.subject.code.uses_objects {
        return;
    }
    let graph = view.graph;
    let ends = graph.present().without(graph.reads()).without(graph.writes());
    let mut freed: Vec<u64> = ends
        .iter()
        .filter(|&e| view.trie.node(graph.node(e)).kind == Kind::Free)
        .map(|e| graph.value(e))
        .collect();
    freed.sort_unstable();
    let freed = |object: ObjectId| freed.binary_search(&u64::from(object.0)).is_ok();
    // Only objects that this execution touches are known to be made in it.
    let mut touched: Vec<ObjectId> = (graph.reads() | graph.writes())
        .iter()
        .map(|e| view.memory.location(view.trie.node(graph.node(e)).loc()).0.object)
        .filter(|&object| view.memory.storage(object) == Some(Storage::Heap))
        .collect();
    touched.sort();
    touched.dedup();
    for object in touched.into_iter().filter(|&object| !freed(object)) {
        let maker = view.memory.maker(object);
        let place =
            maker.map(|(t, pc)| Place { thread: u32::from(t), at: view.subject.code.source[pc as usize] });
        found.push((FindingKind::Leak, place.into_iter().collect(), view.object(object)));
    }
}
