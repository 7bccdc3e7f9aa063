//! Re-validation of a counterexample: is this record of an execution, made by some engine, an execution of the program
//! that the model allows, and does it show what it is said to show?
//!
//! 1. Each thread is run by the interpreter of this crate, led by the record: its accesses, starts, joins and ends of lives
//!    must be those of the record, instruction by instruction, with the same values and memory orders. A load gets the value
//!    that the record says; where that is a pointer to an object made at run time, whose number is the engine's own
//!    affair, it gets what its source stores here, as soon as that is known, and the two numberings must agree one to one.
//! 2. Reads-from must connect equal values of one cell, and coherence must be an order of all writes of each cell.
//! 3. The cat model must allow the execution.
//!    Cells must not overlap: the record says where they are, and an access that hits none as it is goes in pieces
//!    (`pieces`), which must be ordered with what others do there.
//! 4. What is claimed must be true of it (`findings`): a failed assertion or another mistake of a thread happens at that
//!    instruction of that thread; two accesses at those places race by the model's `race`; an access at that place is not
//!    over before the life of its object ends at the other place; a read at that place reads uninitialised memory; all
//!    threads have ended or wait for ever; all have ended and an object is left.
//!
//! The record may stop where a thread could go on: a consistent execution cut off there is consistent, and what has gone
//! wrong by then has gone wrong. Only for a deadlock and a leak must all threads be at an end. Behind a failed assertion
//! the record may go on, because machines run ahead of it.
//!
//! Values that depend on themselves would leave a thread without the value it needs; such a record is refused.

use crate::combine::{Whole, joined_have_ended, joins_agree, set_order, skeleton, thread_fence};
use crate::findings::{Problem, ProblemKind, Site, holds};
use crate::interpret::{Assertions, Interpreter, Memory, Rules, Step};
use crate::live::Live;
use crate::pieces::unordered;
use crate::run::{End, Frame, Register, Role, Run, Start, Trace, TraceEvent};
use crate::world::{Storage, World};
use crate::{Limits, Stop};
use fencepost_answer::trace::{self, Action, Cell as NamedCell, Event, Object, StepId, Typed};
use fencepost_ir::{
    EventKind, Execution, Fence, FunctionId, Instr, Location, Order, Program, Relation, ThreadId, Value,
    Width,
};
use fencepost_models::Model;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What an engine says about an execution.
#[derive(Clone, Debug)]
pub struct Recorded<'e> {
    /// What is wrong with it.
    pub kind: ProblemKind,
    /// Where.
    pub sites: Vec<Site>,
    /// The execution.
    pub execution: &'e trace::Execution,
    /// Whether the dependencies of the program were kept; without them they order nothing.
    pub dependencies: bool,
}

/// Why a record is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It is wrong.
    Wrong(String),
    /// It is too large to be replayed.
    TooLarge(String),
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::TooLarge(stop.to_string())
    }
}

fn wrong<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Wrong(why.into()))
}

/// Instructions of one thread that are replayed at most.
const MOST_STEPS: usize = 200_000_000;

/// Local steps without an event from which on a thread may be in a loop without end.
const MANY: usize = 1024;

/// Checks a record; see the module's documentation.
pub fn confirm(program: &Program, model: &Model, recorded: &Recorded<'_>) -> Result<(), Refused> {
    confirm_within(program, model, recorded, &Limits::default()).map(|_| ())
}

/// The same, as long as time and user allow it, with the execution; a record that takes longer is too large. The other limits
/// are those of an enumeration, and do not matter here.
pub fn confirm_within(
    program: &Program,
    model: &Model,
    recorded: &Recorded<'_>,
    limits: &Limits,
) -> Result<Rebuilt, Refused> {
    Replayer::new(program, model, recorded, limits).confirm()
}

/// The execution of a record that was confirmed, with the event that each step is: what remains to be asked about it is
/// asked of the model.
#[derive(Clone, Debug)]
pub struct Rebuilt {
    /// All events and relations.
    pub execution: Execution,
    /// The event of each step that is one.
    pub events: BTreeMap<StepId, usize>,
}

/// Where the events of each thread begin.
type Starts = Vec<(ThreadId, usize)>;

struct Replayer<'p> {
    world: World<'p>,
    live: Live,
    model: &'p Model,
    thread_fence: Fence,
    recorded: &'p Recorded<'p>,
    limits: Limits,
    started: Instant,
    /// Instructions so far, of all threads.
    replayed: Cell<u64>,
    /// Values of loads whose recorded value has a meaning only to who made the record.
    learnt: BTreeMap<StepId, Value>,
    results: BTreeMap<u32, Value>,
    starts: BTreeMap<u32, Start>,
}

/// A run that is led by the record.
#[derive(Clone)]
struct Led {
    run: Run,
    /// The next step of the record.
    next: usize,
    /// Steps and the events that they are.
    matched: Vec<(usize, usize)>,
    /// Instructions since the last event.
    idle: usize,
    /// Where it was when their number was last a power of two.
    left_behind: Option<Rc<Standing>>,
}

/// All that a thread which only computes depends on: its calls with their registers, private cells, and how many objects
/// it has made.
type Standing = (Vec<(FunctionId, usize, Vec<Option<Value>>)>, Vec<(Location, Option<Value>)>, u32);

fn standing(run: &Run) -> Standing {
    let values = |frame: &Frame| frame.registers.iter().map(|register| register.value).collect();
    let frames = run.frames.iter().map(|frame| (frame.function, frame.at, values(frame))).collect();
    (frames, run.private_values(), run.made)
}

impl Led {
    /// Whether a thread that only computes is where it was before: it will be there again and again.
    fn comes_round(&mut self) -> bool {
        if self.idle < MANY {
            return false;
        }
        if self.idle.is_power_of_two() {
            self.left_behind = Some(Rc::new(standing(&self.run)));
            return false;
        }
        let here = |then: &Rc<Standing>| {
            let top = self.run.frame();
            then.0.last().is_some_and(|(function, at, _)| (*function, *at) == (top.function, top.at))
                && **then == standing(&self.run)
        };
        self.left_behind.as_ref().is_some_and(here)
    }
}

/// A run of a thread as far as the record leads.
struct Replayed {
    trace: Trace,
    matched: Vec<(usize, usize)>,
}

impl<'p> Replayer<'p> {
    fn new(
        program: &'p Program,
        model: &'p Model,
        recorded: &'p Recorded<'p>,
        limits: &Limits,
    ) -> Replayer<'p> {
        let mut threads = Vec::new();
        for (parent, steps) in (0..).zip(&recorded.execution.threads) {
            let children = steps.iter().filter_map(|step| match step.action {
                Action::Spawn(child) => Some(child),
                _ => None,
            });
            threads.extend((0..).zip(children).map(|(count, child)| (parent, count, child)));
        }
        let mut starts = BTreeMap::new();
        for (i, thread) in (0..).zip(&program.threads) {
            starts.insert(i, (thread.function, thread.args.iter().map(|&value| Some(value)).collect()));
        }
        Replayer {
            world: World::with_threads(program, &threads),
            live: Live::new(program),
            model,
            thread_fence: thread_fence(model),
            recorded,
            limits: Limits { steps: MOST_STEPS, ..*limits },
            started: Instant::now(),
            replayed: Cell::new(0),
            learnt: BTreeMap::new(),
            results: BTreeMap::new(),
            starts,
        }
    }

    fn confirm(mut self) -> Result<Rebuilt, Refused> {
        let threads = self.replay()?;
        let traces: Vec<(ThreadId, &Trace)> =
            threads.iter().map(|(&t, replayed)| (ThreadId(t), &replayed.trace)).collect();
        // An engine may stop at a bound where the thread has nothing left to do: who waits for it could go on, which matters
        // only where the finding is that threads wait, or that all have ended.
        let agree = match self.recorded.kind {
            ProblemKind::Deadlock | ProblemKind::LeftWaiting | ProblemKind::Leak => {
                joins_agree(&traces, true)
            }
            _ => joined_have_ended(&traces, true),
        };
        if !agree {
            return wrong("a join does not fit the end of its thread");
        }
        let (execution, starts, events) = self.execution(&threads, &traces)?;
        let judgement = self.model.check(&execution);
        if !judgement.consistent {
            let axioms = judgement.failed.join(", ");
            return wrong(format!("{} forbids the execution by {axioms}", self.model.name()));
        }
        let whole = Whole { world: &self.world, chosen: &traces, starts: &starts, execution: &execution };
        if cells_overlap(&execution) {
            return wrong("cells overlap");
        }
        let mixed = unordered(&whole, self.model).iter().any(|&(.., disputed)| !disputed);
        if mixed && self.recorded.kind != ProblemKind::MixedSize {
            return wrong("other threads access a cell at the same time as one that accesses it in pieces");
        }
        match holds(&whole, self.model, self.recorded.kind, &self.recorded.sites) {
            true => Ok(Rebuilt { execution, events }),
            false => wrong(format!("the execution shows no {} there", self.recorded.kind.name())),
        }
    }

    /// The execution that the runs of the threads make, with reads-from and coherence of the record.
    fn execution(
        &self,
        threads: &BTreeMap<u32, Replayed>,
        traces: &[(ThreadId, &Trace)],
    ) -> Result<(Execution, Starts, BTreeMap<StepId, usize>), Refused> {
        let (mut execution, starts) = skeleton(&self.world, traces);
        let mut events: BTreeMap<StepId, usize> = BTreeMap::new();
        for (&(thread, first), replayed) in starts.iter().zip(threads.values()) {
            let of_thread = replayed.matched.iter();
            events.extend(of_thread.map(|&(step, event)| ((thread.0, step as u32), first + event)));
        }
        self.read_from(&events, &mut execution)?;
        self.cohere(&events, &mut execution)?;
        self.compare_pointers(&events, &execution)?;
        if !self.recorded.dependencies {
            let none = Relation::new(execution.events.len());
            (execution.addr, execution.data, execution.ctrl) = (none.clone(), none.clone(), none);
        }
        Ok((execution, starts, events))
    }

    /// The runs of all threads: again and again, as long as something new becomes known.
    fn replay(&mut self) -> Result<BTreeMap<u32, Replayed>, Refused> {
        let most = 2 * self.recorded.execution.threads.iter().map(|steps| steps.len() + 1).sum::<usize>();
        for _ in 0..=most {
            let mut runs = BTreeMap::new();
            // Of two accesses of different sizes the second one is at fault: who is blamed comes last.
            self.world.forget_cells();
            let blamed = |thread: &u32| self.recorded.sites.iter().any(|site| site.0 == *thread);
            let (last, first): (Vec<u32>, Vec<u32>) = self.starts.keys().partition(|&thread| blamed(thread));
            for thread in first.into_iter().chain(last) {
                runs.insert(thread, self.thread(thread, &self.starts[&thread])?);
            }
            if self.learn(&runs) {
                continue;
            }
            let started = |t: usize| self.starts.contains_key(&(t as u32));
            if (0..self.recorded.execution.threads.len())
                .any(|t| !started(t) && !self.recorded.execution.threads[t].is_empty())
            {
                return wrong("a thread does something before it is started");
            }
            let unknown = |r: &Replayed| {
                r.trace.end == End::Stuck || r.trace.events.iter().any(|event| event.value.is_none())
            };
            return match runs.values().any(unknown) {
                true => wrong("a value depends on itself"),
                false => Ok(runs),
            };
        }
        wrong("the values of the threads do not settle")
    }

    /// What the runs say about values, results and threads. Whether anything was new.
    fn learn(&mut self, runs: &BTreeMap<u32, Replayed>) -> bool {
        let before = (self.learnt.len(), self.results.len(), self.starts.clone());
        let mut stored: BTreeMap<StepId, Value> = BTreeMap::new();
        for (&thread, replayed) in runs {
            for &(step, event) in &replayed.matched {
                if let Some(value) = replayed.trace.events[event].value {
                    stored.insert((thread, step as u32), value);
                }
            }
            if let (End::Done, Some(result)) = (replayed.trace.end, replayed.trace.result) {
                self.results.insert(thread, result);
            }
            for event in &replayed.trace.events {
                if let Role::Spawn(child, start) = &event.role {
                    self.starts.insert(child.0, start.clone());
                }
            }
        }
        for (thread, steps) in (0..).zip(&self.recorded.execution.threads) {
            for (number, step) in (0..).zip(steps) {
                if let Some(source) = step.action.seen().and_then(|seen| seen.from)
                    && let Some(&value) = stored.get(&source)
                {
                    self.learnt.insert((thread, number), value);
                }
            }
        }
        before != (self.learnt.len(), self.results.len(), self.starts.clone())
    }

    /// Looks at the clock now and then.
    fn in_time(&self) -> Result<(), Refused> {
        let count = self.replayed.get() + 1;
        self.replayed.set(count);
        if !count.is_multiple_of(4_096) {
            return Ok(());
        }
        if self.limits.time.is_some_and(|time| self.started.elapsed() > time) {
            return Err(Refused::TooLarge("there was no time to replay it".into()));
        }
        match self.limits.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(Refused::TooLarge("its replay was interrupted".into())),
            false => Ok(()),
        }
    }

    fn steps(&self, thread: u32) -> &'p [Event] {
        self.recorded.execution.threads.get(thread as usize).map_or(&[], |steps| steps)
    }

    /// A number that only who made the record knows.
    fn is_foreign(&self, value: Value) -> bool {
        let declared = self.world.program.objects.len() as u32;
        value.as_pointer().is_some_and(|(object, _)| object.0 >= declared)
    }

    /// The run of a thread that the record leads furthest.
    fn thread(&self, thread: u32, start: &Start) -> Result<Replayed, Refused> {
        let steps = self.steps(thread);
        let first = self.interpreter(thread, None, None).start(start.clone());
        let mut todo = vec![Led { run: first, next: 0, matched: Vec::new(), idle: 0, left_behind: None }];
        let (mut furthest, mut open, mut stuck) = (0, None, None);
        while let Some(mut led) = todo.pop() {
            led.run.count_step(&self.limits)?;
            self.in_time()?;
            furthest = furthest.max(led.next);
            for (led, end) in self.step(thread, led)?.into_iter().rev() {
                match end {
                    None => todo.push(led),
                    Some(End::Stuck) => stuck = Some((led, End::Stuck)),
                    Some(_) if led.next < steps.len() => {}
                    Some(End::Open) => open = Some((led, End::Open)),
                    Some(end) => return Ok(replayed(led, end)),
                }
            }
            if todo.len() > self.limits.traces {
                return Err(Refused::TooLarge("too many ways to replay a thread".into()));
            }
        }
        match open.or(stuck) {
            Some((led, end)) => Ok(replayed(led, end)),
            None => wrong(format!("thread {thread} does not do what its step {furthest} says")),
        }
    }

    fn interpreter(
        &self,
        thread: u32,
        read: Option<Option<Value>>,
        cell: Option<(u32, Width)>,
    ) -> Interpreter<'_> {
        let (assertions, thread_fence) = (Assertions::EndOrGoOn, self.thread_fence);
        let rules = Rules { spins: None, assertions, thread_fence };
        let memory = Memory::Next(read, cell);
        Interpreter { world: &self.world, thread: ThreadId(thread), memory, rules }
    }

    /// One instruction, as far as the record allows it.
    fn step(&self, thread: u32, mut led: Led) -> Result<Vec<(Led, Option<End>)>, Refused> {
        let steps = self.steps(thread);
        let at = led.run.at();
        let function = &self.world.program.functions[at.0 as usize];
        let instr = function.body.get(at.1 as usize);
        let stop = |led: Led, end| Ok(vec![(led, Some(end))]);
        if led.comes_round() {
            led.run.problems.push(Problem { kind: ProblemKind::LocalLoop, at, message: None });
            return stop(led, End::Failed);
        }
        let unknown = |operand| led.run.operand(operand).value.is_none();
        match instr {
            Some(
                &Instr::Branch { condition, .. }
                | &Instr::Assume(condition)
                | &Instr::Assert { condition, .. }
                | &Instr::Defined(condition),
            ) if unknown(condition) => return stop(led, End::Stuck),
            Some(&Instr::Nondet { dst, first, last }) => {
                let choice = match steps.get(led.next) {
                    None => return stop(led, End::Open),
                    Some(Event { at: there, action: Action::Choose(chosen), .. }) if *there == at => {
                        chosen.raw.0
                    }
                    Some(_) => return Ok(Vec::new()),
                };
                let value = first.wrapping_add(choice as i64);
                if value < first || value > last {
                    return Ok(Vec::new());
                }
                led.run.assign(Some(dst), Register::constant(Value::from_i64(value)));
                led.run.chose(value);
                led.run = led.run.next();
                led.next += 1;
                return Ok(vec![(led, None)]);
            }
            // An engine may follow a loop beyond its bound. The jump to the head stands before the cut (`ir::unroll`).
            Some(Instr::Cut) if at.1 > 0 && matches!(function.body[at.1 as usize - 1], Instr::Jump(_)) => {
                led.run.frame_mut().at -= 1;
                led.idle += 1;
                return Ok(vec![(led, None)]);
            }
            Some(&Instr::Join { thread: other, dst }) if steps.get(led.next).is_some_and(|s| s.at == at) => {
                let Some(number) = led.run.operand(other).value else { return stop(led, End::Stuck) };
                let Action::Join(Some(other)) = steps[led.next].action else { return Ok(Vec::new()) };
                if u64::from(other) != number.0 {
                    return Ok(Vec::new());
                }
                let result = self.results.get(&other).copied();
                let span = function.spans.get(at.1 as usize).copied().unwrap_or_default();
                led.run =
                    self.interpreter(thread, None, None).joined(led.run, ThreadId(other), dst, result, span);
                led.next += 1;
                return Ok(vec![(led, None)]);
            }
            _ => {}
        }
        // Most instructions do nothing that could be in the record.
        let local = match instr {
            Some(Instr::Assign { .. } | Instr::Jump(_) | Instr::Branch { .. } | Instr::Call { .. }) => true,
            // Objects may end with the thread.
            None | Some(Instr::Return(_)) => led.run.frames.len() > 1 || led.run.alive.is_empty(),
            _ => false,
        };
        if local && !steps.get(led.next).is_some_and(|s| s.at == at && matches!(s.action, Action::Free(_))) {
            return self.local(thread, led);
        }
        let round = match instr {
            Some(instr) if reads(instr) => led.run.comes_round(&self.live),
            _ => None,
        };
        let interpreter =
            self.interpreter(thread, self.next_read(thread, &led), self.next_cell(thread, &led));
        let outcomes = match interpreter.step(led.run.clone())? {
            Step::Runs(runs) => runs.into_iter().map(|run| (run, None)).collect(),
            Step::End(run, end) => vec![(run, Some(end))],
            Step::Some(outcomes) => outcomes,
            Step::Perhaps(run) => vec![(run, None)],
        };
        let mut next: Vec<(Led, Option<End>)> = Vec::new();
        for (run, end) in outcomes {
            next.extend(self.follow(thread, &led, run, instr).map(|led| (led, end)));
        }
        // The record is over, and the thread could go on or comes round in a loop.
        if next.is_empty() && led.next == steps.len() {
            let end = round.map_or(End::Open, End::Spinning);
            return stop(led, end);
        }
        Ok(next)
    }

    /// An instruction that makes no event and has one outcome.
    fn local(&self, thread: u32, mut led: Led) -> Result<Vec<(Led, Option<End>)>, Refused> {
        let (run, end) = match self.interpreter(thread, None, None).step(led.run)? {
            Step::End(run, end) => (Some(run), Some(end)),
            Step::Runs(runs) => (runs.into_iter().next(), None),
            Step::Some(_) | Step::Perhaps(_) => (None, None),
        };
        let Some(run) = run else { return Ok(Vec::new()) };
        led.run = run;
        led.idle += 1;
        Ok(vec![(led, end)])
    }

    /// What the next load of the run reads by the record, as far as it is known.
    fn next_read(&self, thread: u32, led: &Led) -> Option<Option<Value>> {
        let steps = self.steps(thread);
        let at = led.run.at();
        let number = (led.next..steps.len()).find(|&i| !is_silent(&steps[i], at))?;
        match &steps[number] {
            Event { at: there, action: Action::Read { seen, .. }, .. } if *there == at => {
                let value = seen.value.raw;
                let foreign = self.is_foreign(value);
                let learnt = self.learnt.get(&(thread, number as u32)).copied();
                Some(if foreign { learnt } else { Some(value) })
            }
            _ => None,
        }
    }

    /// Where the cell of the next access of the instruction is by the record.
    fn next_cell(&self, thread: u32, led: &Led) -> Option<(u32, Width)> {
        let at = led.run.at();
        let mut steps = self.steps(thread).iter().skip(led.next);
        let step = steps.find(|step| !is_silent(step, at)).filter(|step| step.at == at)?;
        step.action.cell().map(|cell| self.extent(cell))
    }

    /// The run after an instruction, if what it did is what the record says.
    fn follow(&self, thread: u32, led: &Led, run: Run, instr: Option<&Instr>) -> Option<Led> {
        let steps = self.steps(thread);
        let at = led.run.at();
        let mut next = led.next;
        let pass = |next: &mut usize| {
            while steps.get(*next).is_some_and(|step| is_silent(step, at)) {
                *next += 1;
            }
        };
        let mut matched = led.matched.clone();
        // An engine may keep the cells of a private object out of the record or in it.
        for _ in led.run.silent..run.silent {
            let mut behind = next;
            pass(&mut behind);
            if steps.get(behind).is_some_and(|step| step.at == at && step.action.cell().is_some()) {
                next = behind + 1;
            }
        }
        let new = led.run.events.len()..run.events.len();
        for event in new.clone() {
            if matches!(run.events[event].kind, EventKind::Fence(_)) && run.events[event].role == Role::None {
                // One fence is one step, or none.
                let there = |s: &Event| s.at == at && matches!(s.action, Action::Fence(_));
                next += usize::from(steps.get(next).is_some_and(there));
                continue;
            }
            pass(&mut next);
            let step = steps.get(next).filter(|step| step.at == at)?;
            if !self.is_same(step, &run.events[event]) {
                return None;
            }
            matched.push((next, event));
            next += 1;
        }
        match instr {
            // What might have been a store, choices, and marks.
            Some(
                Instr::StoreExclusive { .. }
                | Instr::CompareExchange { .. }
                | Instr::TryLock { .. }
                | Instr::Alloc { .. }
                | Instr::Local { .. },
            ) => pass(&mut next),
            // The end of a private object is no event here, nor that of a thread that has made nothing.
            Some(Instr::EndLocal(_) | Instr::Exit(_) | Instr::Return(_)) | None if new.is_empty() => {
                let there = |s: &Event| s.at == at && matches!(s.action, Action::Free(_));
                next += usize::from(steps.get(next).is_some_and(there));
            }
            _ => {}
        }
        let idle = if new.is_empty() { led.idle + 1 } else { 0 };
        let left_behind = led.left_behind.clone().filter(|_| idle > 0);
        Some(Led { run, next, matched, idle, left_behind })
    }

    /// Whether a step is an event, as far as the event is known.
    fn is_same(&self, step: &Event, event: &TraceEvent) -> bool {
        let access = |cell: &NamedCell, value: &Typed, order: Order, kind: EventKind| {
            let known = event.value.is_none_or(|v| v == value.raw || self.is_foreign(value.raw));
            let there = |location: Location| {
                self.extent(cell) == (location.offset, event.width) && self.is_cell(cell, location)
            };
            event.kind == kind && event.ann.order == order && known && event.location.is_some_and(there)
        };
        match (&step.action, &event.role) {
            (Action::Read { cell, seen, .. }, Role::None) => {
                access(cell, &seen.value, seen.order, EventKind::Read)
            }
            (Action::Write { cell, made, .. }, Role::None) => {
                access(cell, &made.value, made.order, EventKind::Write)
            }
            (Action::Spawn(thread), Role::Spawn(child, _)) => *thread == child.0,
            (Action::Join(thread), Role::Join(other, _)) => *thread == Some(other.0),
            (Action::Free(_), Role::End(_)) => true,
            _ => false,
        }
    }

    /// Where a cell is in its object by the record, and how wide.
    fn extent(&self, cell: &NamedCell) -> (u32, Width) {
        self.recorded.execution.cells.get(cell.id as usize).copied().unwrap_or((0, Width::W8))
    }

    /// Whether the record's name for a cell is that of a cell of this object. Allocations have no name of their own.
    fn is_cell(&self, cell: &NamedCell, location: Location) -> bool {
        let heap = self.world.storage(location.object) == Some(Storage::Heap);
        match &cell.name.object {
            _ if heap => true,
            Some(Object::Declared(name)) => self.world.name(location.object).as_deref() == Some(name),
            _ => false,
        }
    }

    /// Adds `rf`: of equal values in one cell.
    fn read_from(&self, events: &BTreeMap<StepId, usize>, execution: &mut Execution) -> Result<(), Refused> {
        for (&(thread, step), &read) in events {
            let Action::Read { seen, .. } = &self.steps(thread)[step as usize].action else { continue };
            let location = execution.events[read].location;
            let write = match seen.from {
                Some(source) => events.get(&source).copied(),
                None => execution.events.iter().position(|e| e.is_init() && e.location == location),
            };
            let Some(write) = write else { return wrong("a read has a source that is not there") };
            let (from, to) = (&execution.events[write], &execution.events[read]);
            if from.kind != EventKind::Write || from.location != location || from.value != to.value {
                return wrong("a read and its source differ");
            }
            execution.rf.insert(write, read);
        }
        Ok(())
    }

    /// Adds `co`: one order per cell, of all its writes.
    fn cohere(&self, events: &BTreeMap<StepId, usize>, execution: &mut Execution) -> Result<(), Refused> {
        let mut missing: BTreeMap<Location, Vec<usize>> = BTreeMap::new();
        for (i, event) in execution.events.iter().enumerate() {
            if let (EventKind::Write, Some(location)) = (event.kind, event.location) {
                missing.entry(location).or_default().push(i);
            }
        }
        for list in &self.recorded.execution.coherence {
            let known = list.iter().filter_map(|id| events.get(id).copied());
            let order: Vec<usize> = known.collect();
            // The cells of private objects may be in the record.
            let Some(&first) = order.first() else { continue };
            let location = execution.events[first].location;
            let all = location.and_then(|location| missing.remove(&location)).unwrap_or_default();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            let Some((&initial, others)) = all.split_first() else {
                return wrong("a cell has two coherence orders");
            };
            if sorted != others || order.len() != list.len() {
                return wrong("a coherence order is not one of all writes of a cell");
            }
            let order: Vec<usize> = [initial].into_iter().chain(order).collect();
            set_order(execution, &order, true);
        }
        match missing.values().all(|writes| writes.len() == 1) {
            true => Ok(()),
            false => wrong("a write has no place in coherence"),
        }
    }

    /// The numbers that the record has for objects made at run time and those of this crate correspond.
    fn compare_pointers(
        &self,
        events: &BTreeMap<StepId, usize>,
        execution: &Execution,
    ) -> Result<(), Refused> {
        let (mut there, mut here) = (BTreeMap::new(), BTreeMap::new());
        for (&(thread, step), &event) in events {
            let action = &self.steps(thread)[step as usize].action;
            let read = action.seen().map(|seen| &seen.value);
            let Some(value) = read.or(action.made().map(|made| &made.value)) else { continue };
            let value = value.raw;
            let own = execution.events[event].value;
            if self.is_foreign(value) != self.is_foreign(own) {
                return wrong("a value is a pointer in one run and none in the other");
            }
            let (Some((a, offset)), Some((b, own_offset))) = (value.as_pointer(), own.as_pointer()) else {
                continue;
            };
            let same = *there.entry(a).or_insert(b) == b && *here.entry(b).or_insert(a) == a;
            if self.is_foreign(value) && (!same || offset != own_offset) {
                return wrong("pointers to different objects are taken for the same");
            }
        }
        Ok(())
    }
}

/// Whether two cells of an execution have a byte in common.
fn cells_overlap(execution: &Execution) -> bool {
    let cells: BTreeSet<(Location, u32)> =
        execution.events.iter().filter_map(|e| Some((e.location?, e.width.bytes()))).collect();
    let mut neighbours = cells.iter().zip(cells.iter().skip(1));
    neighbours.any(|((a, width), (b, _))| a.object == b.object && a.offset + width > b.offset)
}

fn replayed(led: Led, end: End) -> Replayed {
    Replayed { trace: led.run.finish(end), matched: led.matched }
}

/// A choice or a fence of this instruction: nothing that a thread does to memory.
fn is_silent(step: &Event, at: (u32, u32)) -> bool {
    step.at == at && matches!(step.action, Action::Choose(_) | Action::Fence(_))
}

fn reads(instr: &Instr) -> bool {
    matches!(
        instr,
        Instr::Load { .. }
            | Instr::CopyLoad { .. }
            | Instr::Rmw { .. }
            | Instr::CompareExchange { .. }
            | Instr::Await { .. }
            | Instr::AwaitRmw { .. }
            | Instr::Lock(_)
            | Instr::Unlock(_)
            | Instr::TryLock { .. }
    )
}
