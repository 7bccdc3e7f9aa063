//! Whole executions from traces: one trace per thread, all `rf`, all `co`, then the axioms.
//!
//! Starting a thread and joining it: program order goes on in the other thread, so that `po` leads from what is before
//! the start through all of the started thread to what is behind the join. On machines a full fence stands at both
//! places, since nobody starts or joins a thread without one; language models give program order its meaning by
//! themselves, and there the two are events without an effect of their own.
//!
//! The choices of `co` and `rf` are made cell by cell. After each of them the model is asked whether what is there can
//! still become consistent: axioms that can only be violated more by more edges ([`Checker::extendable`]) are final.

mod by_place;

use crate::findings::{Claim, claims};
use crate::interpret::{Assertions, Interpreter, Memory, Results, Rules, Universe, traces};
use crate::live::Live;
use crate::run::{End, Role, Start, Trace};
use crate::world::World;
use crate::{Found, Key, Limits, NaiveExecution, Stop, Summary};
use fencepost_ir::{
    Ann, Event, EventKind, Execution, Fence, Location, ObjectId, Program, ThreadId, Value, Width,
};
use fencepost_models::registry::{self, Ordered};
use fencepost_models::{Checker, Model, parser};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// One trace per thread that runs.
pub type Chosen<'t> = [(ThreadId, &'t Trace)];

/// A whole execution with what it was made of.
pub struct Whole<'a> {
    /// The program with what was made at run time.
    pub world: &'a World<'a>,
    /// The traces.
    pub chosen: &'a Chosen<'a>,
    /// The number of each thread's first event.
    pub starts: &'a [(ThreadId, usize)],
    /// The execution.
    pub execution: &'a Execution,
}

/// All consistent executions of a program whose loops are bounded. What goes wrong is noted, and counts as an execution.
pub fn enumerate(program: &Program, model: &Model, limits: &Limits) -> Result<Found, Stop> {
    let rules = Rules { spins: None, assertions: Assertions::Note, thread_fence: thread_fence(model) };
    let mut found = Found::default();
    let mut search = Search::new(program, model, limits, rules);
    let mut whole = |checker: &mut Checker<'_>, whole: &Whole<'_>| {
        let ends = |end| whole.chosen.iter().any(|(_, trace)| trace.end == end);
        let stopped = |t: &(ThreadId, &Trace)| !t.1.end.is_end() && t.1.end != End::Failed;
        if ends(End::Cut) {
            found.cut += 1;
        } else if whole.chosen.iter().any(stopped) {
            found.blocked += 1;
        } else {
            let judgement = checker.flags_of_consistent(whole.execution);
            found.executions.push(NaiveExecution {
                flags: judgement.flags,
                undefined: judgement.undefined,
                ..whole.execution()
            });
        }
    };
    let candidates = search.run(&mut whole)?;
    Ok(Found { candidates, ..found })
}

/// The numbers of executions of a program whose loops are bounded, and what is wrong with it. A thread that comes round
/// in a loop without having done anything spins, and the execution counts as blocked.
pub fn summarise(program: &Program, model: &Model, limits: &Limits) -> Result<Summary, Stop> {
    let live = Live::new(program);
    // Machines that commit events out of order run ahead of an assertion, which orders nothing.
    let ahead = registry::find(model.name()).is_some_and(|m| matches!(m.ordered, Ordered::Committed(_)));
    let assertions = if ahead { Assertions::EndOrGoOn } else { Assertions::End };
    let rules = Rules { spins: Some(&live), assertions, thread_fence: thread_fence(model) };
    let mut summary = Summary::default();
    let mut claimed: BTreeSet<Claim> = BTreeSet::new();
    let mut search = Search::new(program, model, limits, rules);
    let mut whole = |_: &mut Checker<'_>, whole: &Whole<'_>| {
        let ends = |end| whole.chosen.iter().any(|(_, trace)| trace.end == end);
        match whole.is_complete() {
            true => summary.executions += 1,
            false if ends(End::Cut) => summary.cut += 1,
            false => summary.blocked += 1,
        }
        claimed.extend(claims(whole, model));
    };
    let candidates = search.run(&mut whole)?;
    Ok(Summary { candidates, claims: claimed.into_iter().collect(), ..summary })
}

/// What starting and joining a thread is to the model; see the module's documentation.
pub fn thread_fence(model: &Model) -> Fence {
    let file = parser::parse(&model.source().text).ok();
    let language = file.and_then(|file| file.architecture).is_some_and(|name| name == "C");
    if language { Fence::Compiler } else { Fence::Sync }
}

/// All declared cells with their initial values.
fn declared_cells(program: &Program) -> impl Iterator<Item = (Location, Width, Value)> + '_ {
    program.objects.iter().enumerate().flat_map(|(i, object)| {
        object.cells.iter().map(move |cell| {
            let location = Location { object: ObjectId(i as u32), offset: cell.offset };
            (location, cell.width, cell.width.zero_extend(cell.init.unwrap_or_default()))
        })
    })
}

/// A cell and a value that may be written to it.
type Written = BTreeSet<(Location, Value)>;

/// Is shown each consistent execution, with the checker that found it so.
type Visitor<'v> = &'v mut dyn FnMut(&mut Checker<'_>, &Whole<'_>);

struct Search<'p> {
    world: World<'p>,
    model: &'p Model,
    limits: &'p Limits,
    rules: Rules<'p>,
    started: Instant,
    candidates: u64,
    /// The model has no execution that is not coherent.
    coherent: bool,
    /// The traces of each thread, and what any of them writes.
    traces: BTreeMap<ThreadId, (Vec<Trace>, Written)>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, model: &'p Model, limits: &'p Limits, rules: Rules<'p>) -> Search<'p> {
        let world = World::new(program);
        let (started, traces) = (Instant::now(), BTreeMap::new());
        let coherent = model.implies_coherence();
        Search { world, model, limits, rules, started, candidates: 0, coherent, traces }
    }

    fn run(&mut self, visitor: Visitor<'_>) -> Result<u64, Stop> {
        self.traces = self.all_traces()?;
        let traces = std::mem::take(&mut self.traces);
        let first = (0..self.world.program.threads.len() as u32).map(ThreadId).collect();
        self.choose_traces(&traces, first, &mut Vec::new(), visitor)?;
        Ok(self.candidates)
    }

    /// The traces of all threads over all values that can be stored, all arguments of threads and all their results; see
    /// the crate's documentation for when it ends.
    fn all_traces(&self) -> Result<BTreeMap<ThreadId, (Vec<Trace>, Written)>, Stop> {
        let program = self.world.program;
        let (mut universe, mut results) = (Universe::new(), Results::new());
        let mut starts: BTreeMap<ThreadId, Vec<Start>> = BTreeMap::new();
        for (i, thread) in program.threads.iter().enumerate() {
            let args = thread.args.iter().map(|&value| Some(value)).collect();
            starts.insert(ThreadId(i as u32), vec![(thread.function, args)]);
        }
        let mut round = 0;
        loop {
            let mut all: BTreeMap<ThreadId, (Vec<Trace>, Written)> = BTreeMap::new();
            for (&thread, list) in &starts {
                let memory = Memory::Any(&universe, &results);
                let interpreter = Interpreter { world: &self.world, thread, memory, rules: self.rules };
                let (found, written) = all.entry(thread).or_default();
                for start in list {
                    found.extend(traces(&interpreter, start.clone(), self.limits)?);
                    self.in_time()?;
                }
                written.extend(found.iter().flat_map(written_by));
            }
            let mut changed = false;
            for (&thread, (list, written)) in &all {
                for &(location, value) in written {
                    changed |= universe.entry(location).or_default().insert(value);
                }
                for trace in list {
                    if let (End::Done, Some(result)) = (trace.end, trace.result) {
                        changed |= results.entry(thread).or_default().insert(result);
                    }
                    for event in &trace.events {
                        if let Role::Spawn(child, start) = &event.role {
                            let known = starts.entry(*child).or_default();
                            if !known.contains(start) {
                                known.push(start.clone());
                                changed = true;
                            }
                        }
                    }
                }
            }
            round += 1;
            // Each link of a chain of values is a store, or the start or the end of a thread.
            let links = |t: &Trace| {
                let is_link =
                    |e: &&crate::run::TraceEvent| e.kind == EventKind::Write || e.role != Role::None;
                t.events.iter().filter(is_link).count()
            };
            let most: usize = all.values().map(|(list, _)| list.iter().map(links).max().unwrap_or(0)).sum();
            if !changed || round > most {
                return Ok(all);
            }
        }
    }

    fn in_time(&self) -> Result<(), Stop> {
        if self.limits.time.is_some_and(|time| self.started.elapsed() > time) {
            return Err(Stop::Time);
        }
        if self.limits.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        Ok(())
    }

    /// Chooses traces for the threads of `pending` and those that they start.
    fn choose_traces<'t>(
        &mut self,
        traces: &'t BTreeMap<ThreadId, (Vec<Trace>, Written)>,
        mut pending: Vec<ThreadId>,
        chosen: &mut Vec<(ThreadId, &'t Trace)>,
        visitor: Visitor<'_>,
    ) -> Result<(), Stop> {
        self.count()?;
        if pending.is_empty() {
            if !joins_agree(chosen, true) {
                return Ok(());
            }
            let mut sorted = chosen.clone();
            sorted.sort_by_key(|&(thread, _)| thread);
            return self.executions(&sorted, visitor);
        }
        let thread = pending.remove(0);
        let start = chosen.iter().flat_map(|(_, t)| &t.events).find_map(|e| match &e.role {
            Role::Spawn(child, start) if *child == thread => Some(start),
            _ => None,
        });
        for trace in traces.get(&thread).map_or(&[][..], |(list, _)| list) {
            if start.is_some_and(|start| *start != trace.start) {
                continue;
            }
            chosen.push((thread, trace));
            if joins_agree(chosen, false) && self.readable(traces, chosen) {
                let mut pending = pending.clone();
                pending.extend(started_by(trace));
                self.choose_traces(traces, pending, chosen, visitor)?;
            }
            chosen.pop();
        }
        Ok(())
    }

    /// May every read so far still find its value, in a chosen trace, initially, or in a thread to come?
    fn readable(&self, traces: &BTreeMap<ThreadId, (Vec<Trace>, Written)>, chosen: &Chosen<'_>) -> bool {
        let is_chosen = |thread: &ThreadId| chosen.iter().any(|(t, _)| t == thread);
        let mut written: Written = chosen.iter().flat_map(|(_, trace)| written_by(trace)).collect();
        for (_, (_, later)) in traces.iter().filter(|(thread, _)| !is_chosen(thread)) {
            written.extend(later);
        }
        chosen.iter().flat_map(|(_, t)| &t.events).filter(|e| e.kind == EventKind::Read).all(|e| {
            let (Some(location), Some(value)) = (e.location, e.value) else { return false };
            let initial = self.world.initial(location, e.width).unwrap_or(Value::UNDEFINED);
            initial == value || written.contains(&(location, value))
        })
    }

    /// All consistent executions over one choice of traces.
    fn executions(&mut self, chosen: &Chosen<'_>, visitor: Visitor<'_>) -> Result<(), Stop> {
        let (mut execution, starts) = skeleton(&self.world, chosen);
        let model = self.model;
        let mut checker = Checker::new(model, &execution);
        let mut cells: BTreeMap<Location, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (i, event) in execution.events.iter().enumerate() {
            let Some(location) = event.location else { continue };
            let (writes, reads) = cells.entry(location).or_default();
            if event.kind == EventKind::Write { writes } else { reads }.push(i);
        }
        let mut options = Vec::new();
        for (writes, reads) in cells.into_values() {
            let mut cell = Cell { writes, reads, rf: Vec::new(), found: Vec::new() };
            match self.coherent {
                true => self.order_by_place(&mut cell, 1, &mut execution, &mut checker)?,
                false => self.order(&mut cell, 1, &mut execution, &mut checker)?,
            }
            if cell.found.is_empty() {
                return Ok(());
            }
            options.push(cell.found);
        }
        let mut report = |checker: &mut Checker<'_>, execution: &Execution| {
            let whole = Whole { world: &self.world, chosen, starts: &starts, execution };
            visitor(checker, &whole);
        };
        let mut candidates = self.candidates;
        let ask =
            |n: u64| if n > self.limits.candidates { Err(Stop::Limit(CANDIDATES)) } else { self.in_time() };
        let mut combine = Combine { count: &mut candidates, ask: &ask, report: &mut report };
        let result = combine.cells(&options, &mut execution, &mut checker);
        self.candidates = candidates;
        result
    }

    /// Counts a candidate, whole or in part.
    fn count(&mut self) -> Result<(), Stop> {
        self.candidates += 1;
        if self.candidates > self.limits.candidates {
            return Err(Stop::Limit(CANDIDATES));
        }
        self.in_time()
    }

    /// Whether what is there may become consistent, as far as the model can say.
    fn extendable(&mut self, execution: &Execution, checker: &mut Checker<'_>) -> Result<bool, Stop> {
        self.count()?;
        Ok(checker.extendable(execution))
    }

    /// All coherence orders of a cell whose first `from` writes have their places; the first is the initial one.
    fn order(
        &mut self,
        cell: &mut Cell,
        from: usize,
        execution: &mut Execution,
        checker: &mut Checker<'_>,
    ) -> Result<(), Stop> {
        if from >= cell.writes.len() {
            set_order(execution, &cell.writes, true);
            let result = self.sources(cell, execution, checker);
            set_order(execution, &cell.writes, false);
            return result;
        }
        for i in from..cell.writes.len() {
            cell.writes.swap(from, i);
            // What has its place is before all that has none yet.
            let placed = from + 1;
            set_before(execution, &cell.writes, placed, true);
            let good = cell.writes.len() <= 2 || self.extendable(execution, checker)?;
            set_before(execution, &cell.writes, placed, false);
            if good {
                self.order(cell, placed, execution, checker)?;
            }
            cell.writes.swap(from, i);
        }
        Ok(())
    }

    /// All ways for the reads of a cell to find their values, given its coherence order.
    fn sources(
        &mut self,
        cell: &mut Cell,
        execution: &mut Execution,
        checker: &mut Checker<'_>,
    ) -> Result<(), Stop> {
        let Some(&read) = cell.reads.get(cell.rf.len()) else {
            let pairs = cell.rf.iter().copied().zip(cell.reads.iter().copied()).collect();
            cell.found.push((cell.writes.clone(), pairs));
            return Ok(());
        };
        for write in cell.writes.clone() {
            if execution.events[write].value != execution.events[read].value {
                continue;
            }
            execution.rf.insert(write, read);
            if self.extendable(execution, checker)? {
                cell.rf.push(write);
                self.sources(cell, execution, checker)?;
                cell.rf.pop();
            }
            execution.rf.remove(write, read);
        }
        Ok(())
    }
}

const CANDIDATES: &str = "candidate executions";

/// The coherence order of a cell, and the sources of its reads.
type CellChoice = (Vec<usize>, Vec<(usize, usize)>);

/// A cell whose order and sources are being chosen.
struct Cell {
    writes: Vec<usize>,
    reads: Vec<usize>,
    /// The sources of the first reads.
    rf: Vec<usize>,
    found: Vec<CellChoice>,
}

/// Puts choices for all cells together.
struct Combine<'a> {
    count: &'a mut u64,
    ask: &'a dyn Fn(u64) -> Result<(), Stop>,
    report: &'a mut dyn FnMut(&mut Checker<'_>, &Execution),
}

impl Combine<'_> {
    fn cells(
        &mut self,
        options: &[Vec<CellChoice>],
        execution: &mut Execution,
        checker: &mut Checker<'_>,
    ) -> Result<(), Stop> {
        let Some((first, rest)) = options.split_first() else {
            *self.count += 1;
            (self.ask)(*self.count)?;
            if checker.consistent(execution) {
                (self.report)(checker, execution);
            }
            return Ok(());
        };
        for (order, sources) in first {
            set_order(execution, order, true);
            sources.iter().for_each(|&(w, r)| execution.rf.insert(w, r));
            let mut good = true;
            if first.len() > 1 && !rest.is_empty() {
                *self.count += 1;
                (self.ask)(*self.count)?;
                good = checker.extendable(execution);
            }
            if good {
                self.cells(rest, execution, checker)?;
            }
            set_order(execution, order, false);
            sources.iter().for_each(|&(w, r)| execution.rf.remove(w, r));
        }
        Ok(())
    }
}

/// What a trace writes.
fn written_by(trace: &Trace) -> impl Iterator<Item = (Location, Value)> + '_ {
    let writes = trace.events.iter().filter(|e| e.kind == EventKind::Write);
    writes.filter_map(|e| Some((e.location?, e.value?)))
}

/// The threads that a trace starts.
fn started_by(trace: &Trace) -> impl Iterator<Item = ThreadId> + '_ {
    trace.events.iter().filter_map(|e| match e.role {
        Role::Spawn(thread, _) => Some(thread),
        _ => None,
    })
}

/// Whether who has joined a thread has waited for its end, and who still waits does so with reason. If not `all`
/// threads are there, the others may still do the right thing.
pub fn joins_agree(chosen: &Chosen<'_>, all: bool) -> bool {
    joined_have_ended(chosen, all)
        && chosen.iter().all(|(_, trace)| match trace.end {
            End::Joining(Some(thread)) => of(chosen, thread).is_none_or(|other| other.end != End::Done),
            _ => true,
        })
}

/// Whether who has joined a thread has waited for its end.
pub fn joined_have_ended(chosen: &Chosen<'_>, all: bool) -> bool {
    let events = chosen.iter().flat_map(|(_, trace)| &trace.events);
    events.into_iter().all(|event| match event.role {
        Role::Join(thread, result) => match of(chosen, thread) {
            Some(other) => other.end == End::Done && other.result == result,
            None => !all,
        },
        _ => true,
    })
}

fn of<'a>(chosen: &Chosen<'a>, thread: ThreadId) -> Option<&'a Trace> {
    chosen.iter().find(|(t, _)| *t == thread).map(|(_, trace)| *trace)
}

/// Adds a total order to co, or takes it away.
pub fn set_order(execution: &mut Execution, order: &[usize], present: bool) {
    set_before(execution, order, order.len(), present);
}

/// Adds to co that each of the first `placed` writes is before all behind it, or takes it away.
fn set_before(execution: &mut Execution, order: &[usize], placed: usize, present: bool) {
    for (i, &a) in order.iter().enumerate().take(placed) {
        for &b in &order[i + 1..] {
            match present {
                true => execution.co.insert(a, b),
                false => execution.co.remove(a, b),
            }
        }
    }
}

impl Whole<'_> {
    /// The execution with its final state. No model is asked.
    pub fn execution(&self) -> NaiveExecution {
        let count = self.chosen.last().map_or(0, |(t, _)| t.0 as usize + 1);
        let (mut registers, mut choices) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut failures = Vec::new();
        for &(thread, trace) in self.chosen {
            registers[thread.0 as usize] = trace.registers.iter().map(|r| r.unwrap_or_default()).collect();
            choices[thread.0 as usize] = trace.choices.clone();
            let text = |p: &crate::Problem| p.message.clone().unwrap_or_else(|| p.kind.name().to_string());
            failures.extend(trace.problems.iter().map(text));
        }
        NaiveExecution {
            registers,
            memory: self.final_memory(),
            failures,
            flags: Vec::new(),
            undefined: false,
            key: Key::new(self.execution, choices),
            execution: self.execution.clone(),
        }
    }

    /// The value of the coherence-last write of each cell.
    fn final_memory(&self) -> Vec<(Location, Width, Value)> {
        let mut memory: BTreeMap<Location, (Width, Value)> =
            declared_cells(self.world.program).map(|(l, width, value)| (l, (width, value))).collect();
        for (i, event) in self.execution.events.iter().enumerate() {
            if let (EventKind::Write, Some(location)) = (event.kind, event.location)
                && self.execution.co.successors(i).next().is_none()
            {
                memory.insert(location, (event.width, event.value));
            }
        }
        memory.into_iter().map(|(location, (width, value))| (location, width, value)).collect()
    }
}

/// The events with program order, dependencies and `rmw`, without `rf` and `co`; and where each thread's events begin.
pub fn skeleton(world: &World<'_>, chosen: &Chosen<'_>) -> (Execution, Vec<(ThreadId, usize)>) {
    let accessed: BTreeMap<Location, Width> = chosen
        .iter()
        .flat_map(|(_, trace)| &trace.events)
        .filter_map(|event| Some((event.location?, event.width)))
        .collect();
    let mut events: Vec<Event> = accessed
        .into_iter()
        .map(|(location, width)| Event {
            thread: None,
            kind: EventKind::Write,
            location: Some(location),
            width,
            value: world.initial(location, width).unwrap_or(Value::UNDEFINED),
            ann: Ann::PLAIN,
            amo: false,
            span: world.span(location.object),
        })
        .collect();
    let mut starts = Vec::new();
    for &(thread, trace) in chosen {
        starts.push((thread, events.len()));
        events.extend(trace.events.iter().map(|e| Event {
            thread: Some(thread),
            kind: e.kind,
            location: e.location,
            width: e.width,
            value: e.value.unwrap_or_default(),
            ann: e.ann,
            amo: e.amo,
            span: e.span,
        }));
    }
    let mut execution = Execution::new(events);
    for (&(_, start), (_, trace)) in starts.iter().zip(chosen) {
        for (i, event) in trace.events.iter().enumerate() {
            let to = start + i;
            for j in 0..i {
                let from = start + j;
                execution.po.insert(from, to);
                let relations = [
                    (event.addr, &mut execution.addr),
                    (event.data, &mut execution.data),
                    (event.ctrl, &mut execution.ctrl),
                    (event.pick, &mut execution.pick),
                    (event.pick_addr, &mut execution.pick_addr),
                ];
                for (set, relation) in relations {
                    if set.contains(j) {
                        relation.insert(from, to);
                    }
                }
            }
            if let Some((read, one_instruction)) = event.rmw {
                execution.rmw.insert(start + read, to);
                if one_instruction {
                    execution.amo.insert(start + read, to);
                }
            }
        }
    }
    order_threads(&mut execution, chosen, &starts);
    (execution, starts)
}

/// Program order through starts and joins.
fn order_threads(execution: &mut Execution, chosen: &Chosen<'_>, starts: &[(ThreadId, usize)]) {
    let events_of = |thread: ThreadId| {
        let at = starts.iter().position(|(t, _)| *t == thread)?;
        let start = starts[at].1;
        Some(start..start + chosen[at].1.events.len())
    };
    let (mut spawns, mut joins) = (Vec::new(), Vec::new());
    for (&(_, start), (_, trace)) in starts.iter().zip(chosen) {
        for (i, event) in trace.events.iter().enumerate() {
            match event.role {
                Role::Spawn(thread, _) => spawns.push((start + i, thread)),
                Role::Join(thread, _) => joins.push((start + i, thread)),
                _ => {}
            }
        }
    }
    for &(spawn, thread) in &spawns {
        events_of(thread).into_iter().flatten().for_each(|e| execution.po.insert(spawn, e));
        // A thread without events orders all the same.
        let others = joins.iter().filter(|(_, joined)| *joined == thread);
        others.for_each(|&(join, _)| execution.po.insert(spawn, join));
    }
    for &(join, thread) in &joins {
        events_of(thread).into_iter().flatten().for_each(|e| execution.po.insert(e, join));
    }
    if !(spawns.is_empty() && joins.is_empty()) {
        execution.po = execution.po.transitive_closure();
    }
}
