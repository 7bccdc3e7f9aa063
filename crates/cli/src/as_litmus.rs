//! `fencepost check --as-litmus FILE`: an execution that shows what is wrong, as a litmus test that others can run, quote and
//! attach.
//!
//! The test has the accesses of the execution in straight lines, with their orders, fences and dependencies; what they read
//! is its condition. What threads do before all others is its initial state, what they do after all others is no part of it.
//! Values are numbered anew for each location, so that each read says which write it reads. It is run before it is written: a
//! test that does not show what the execution shows is none.

use crate::litmus::{self, Settings};
use crate::model::Choice;
use fencepost_cycle::{
    Before, Dialect, Dir, Kind, Note, Observe, Order, Sketch, Step, location_name, write_sketch,
};
use fencepost_diag::SourceFile;
use fencepost_ir::{self as ir, Event, EventKind, Execution, Fence, Location, ThreadId};
use fencepost_models::mapping::Target;
use fencepost_models::registry::Entry;
use std::collections::BTreeMap;
use std::time::Duration;

/// More accesses than this are no litmus test.
const MOST_ACCESSES: usize = 40;
/// The test is given this long to show what it is about.
const PATIENCE: Duration = Duration::from_secs(10);

/// The text of the test, or why there is none.
///
/// # Errors
/// What of the execution a litmus test cannot say.
pub fn of(execution: &Execution, model: &Entry, name: &str) -> Result<String, String> {
    let dialect = match model.target {
        None => Dialect::C,
        Some(Target::Tso | Target::Pso) => Dialect::X86_64,
        Some(Target::Power) => Dialect::Ppc,
        Some(Target::Armv8) => Dialect::AArch64,
    };
    let parts = Parts::of(execution)?;
    let sketch = Sketcher { execution, dialect, parts: &parts }.sketch()?;
    let about = format!("\"what fencepost found in {name}\"\n");
    let title: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let text = write_sketch(&sketch, &title, &about, Observe::Cycle)
        .ok_or("a thread needs more registers than there are")?;
    shows(&text, model)?;
    Ok(text)
}

/// Runs the test: the model must allow what it asks about.
fn shows(text: &str, model: &Entry) -> Result<(), String> {
    let file = SourceFile::new("the test", text.to_owned());
    let choice = Choice::find(model.name)?;
    let outlive = Default::default();
    let settings = Settings { timeout: Some(PATIENCE), ..Settings::alone(&outlive) };
    let test = litmus::parsed(&file).map_err(|trouble| trouble.error)?;
    let answered = litmus::answer(&test, &file, &choice, &settings).map_err(|trouble| trouble.error)?;
    match answered.outcome.observed {
        Some(observed) if observed.satisfying > 0 => Ok(()),
        _ if answered.outcome.stop_reason.is_some() => Err("the test takes too long to be checked".into()),
        _ => Err("what it needs is more than its accesses, orders and dependencies".into()),
    }
}

/// The events that the threads of a test do at the same time, and what is before and after them.
struct Parts {
    /// Of each thread that has any, in program order; accesses and fences.
    threads: Vec<Vec<usize>>,
    /// Writes that are part of the initial state.
    before: Vec<usize>,
}

impl Parts {
    fn of(execution: &Execution) -> Result<Parts, String> {
        let thread = |event: usize| execution.events[event].thread;
        let all: Vec<usize> = (0..execution.events.len()).filter(|&event| thread(event).is_some()).collect();
        let elsewhere =
            |event: usize| all.iter().copied().filter(move |&other| thread(other) != thread(event));
        let is_access = |event: &usize| !matches!(execution.events[*event].kind, EventKind::Fence(_));
        let ordered = |a: usize, b: usize| execution.po.contains(a, b);
        let is_first = |event: usize| elsewhere(event).filter(is_access).all(|other| ordered(event, other));
        let is_last = |event: usize| elsewhere(event).filter(is_access).all(|other| ordered(other, event));
        let mut before = Vec::new();
        let mut threads: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        for &event in &all {
            match thread(event) {
                _ if is_first(event) => before.push(event),
                _ if is_last(event) => {}
                Some(thread) => threads.entry(thread).or_default().push(event),
                None => {}
            }
        }
        let mut threads: Vec<Vec<usize>> = threads.into_values().collect();
        threads.retain(|events| events.iter().any(is_access));
        if threads.len() < 2 {
            return Err("no two threads access memory at the same time".into());
        }
        let crossed = threads.iter().flatten().any(|&a| {
            let others = threads.iter().flatten().filter(|&&b| thread(b) != thread(a));
            is_access(&a) && others.filter(|b| is_access(b)).any(|&b| ordered(a, b))
        });
        if crossed {
            return Err(
                "a thread is started or joined while others run, and threads of a litmus test start together"
                    .into(),
            );
        }
        let count = threads.iter().flatten().filter(|&event| is_access(event)).count();
        if count > MOST_ACCESSES {
            return Err(format!("its execution has {count} accesses, and a litmus test is short"));
        }
        Ok(Parts { threads, before })
    }
}

struct Sketcher<'a> {
    execution: &'a Execution,
    dialect: Dialect,
    parts: &'a Parts,
}

impl Sketcher<'_> {
    fn event(&self, event: usize) -> &Event {
        &self.execution.events[event]
    }

    fn sketch(&self) -> Result<Sketch, String> {
        let mut locations: Vec<Location> = Vec::new();
        for &event in self.parts.threads.iter().flatten() {
            let Some(location) = self.event(event).location else { continue };
            if !locations.contains(&location) {
                locations.push(location);
            }
        }
        let events = || self.parts.threads.iter().flatten().map(|&event| self.event(event));
        for location in &locations {
            let mut widths =
                events().filter(|event| event.location == Some(*location)).map(|event| event.width);
            let first = widths.next();
            if widths.any(|width| Some(width) != first) {
                return Err("it accesses a location with different sizes".into());
            }
        }
        let numbers = self.numbers(&locations);
        let threads: Result<Vec<Vec<Step>>, String> =
            self.parts.threads.iter().map(|events| self.thread(events, &locations, &numbers)).collect();
        // Where more than one write goes to a location, its last value says which came last.
        let finals = locations.iter().map(|location| {
            let writes = numbers
                .iter()
                .filter(|&(&event, &number)| number > 0 && self.event(event).location == Some(*location));
            let last = writes.map(|(_, &number)| number).max().unwrap_or(0);
            (last > 1).then_some(last)
        });
        Ok(Sketch {
            dialect: self.dialect,
            threads: threads?,
            names: (0..locations.len()).map(location_name).collect(),
            initial: vec![0; locations.len()],
            finals: finals.collect(),
            sizes: None,
        })
    }

    /// The value of each write: its place in the coherence order of its location; 0 for what is there at first.
    fn numbers(&self, locations: &[Location]) -> BTreeMap<usize, u64> {
        let mut numbers = BTreeMap::new();
        let is_write = |event: usize| self.event(event).kind == EventKind::Write;
        for location in locations {
            let here = |event: &usize| is_write(*event) && self.event(*event).location == Some(*location);
            let writes: Vec<usize> = self.parts.threads.iter().flatten().copied().filter(here).collect();
            for &write in &writes {
                let earlier =
                    writes.iter().filter(|&&other| self.execution.co.contains(other, write)).count();
                numbers.insert(write, earlier as u64 + 1);
            }
            let initial = (0..self.execution.events.len()).filter(|&event| self.event(event).is_init());
            for event in initial.chain(self.parts.before.iter().copied()).filter(|event| here(event)) {
                numbers.insert(event, 0);
            }
        }
        numbers
    }

    fn thread(
        &self,
        events: &[usize],
        locations: &[Location],
        numbers: &BTreeMap<usize, u64>,
    ) -> Result<Vec<Step>, String> {
        let mut steps: Vec<Step> = Vec::new();
        // The step of each access.
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut branched: Vec<usize> = Vec::new();
        let mut before: Vec<Before> = Vec::new();
        for &event in events {
            // A branch stands before the first event that depends on it.
            let reads: Vec<(usize, usize)> = places.iter().map(|(&read, &step)| (read, step)).collect();
            for &(read, step) in &reads {
                if self.execution.ctrl.contains(read, event) && !branched.contains(&read) {
                    branched.push(read);
                    before.push(Before::Branch(step));
                }
            }
            let Some(location) = self.event(event).location else {
                // What comes before a thread's first access orders nothing.
                if let (EventKind::Fence(fence), false) = (self.event(event).kind, steps.is_empty()) {
                    before.extend(self.fence(fence)?.map(Before::Fence));
                }
                continue;
            };
            let source = |relation: &ir::Relation| {
                reads.iter().rev().find(|(read, _)| relation.contains(*read, event)).map(|&(_, step)| step)
            };
            let is_write = self.event(event).kind == EventKind::Write;
            let rf =
                || (0..self.execution.events.len()).find(|&write| self.execution.rf.contains(write, event));
            let read_half =
                reads.iter().map(|&(read, _)| read).find(|&read| self.execution.rmw.contains(read, event));
            let by_one = read_half.is_some_and(|read| self.execution.amo.contains(read, event));
            steps.push(Step {
                location: locations.iter().position(|other| *other == location).unwrap_or(0),
                dir: if is_write { Dir::W } else { Dir::R },
                note: self.note(self.event(event))?,
                writes: numbers.get(&event).copied().unwrap_or(0),
                reads: (!is_write).then(|| rf().and_then(|write| numbers.get(&write).copied()).unwrap_or(0)),
                // Nothing comes between the halves of a read-modify-write.
                before: if read_half.is_some() { Vec::new() } else { std::mem::take(&mut before) },
                address: source(&self.execution.addr),
                data: source(&self.execution.data).filter(|_| read_half.is_none()),
                rmw: read_half.map(|_| if by_one { Kind::Amo(false) } else { Kind::Rmw }),
            });
            places.insert(event, steps.len() - 1);
        }
        if steps.windows(2).any(|pair| pair[1].rmw.is_some() && pair[0].dir == Dir::W) {
            return Err("other accesses come between a load and a store that are exclusive".into());
        }
        Ok(steps)
    }

    fn note(&self, event: &Event) -> Result<Note, String> {
        let order = match event.ann.order {
            ir::Order::Plain if self.dialect == Dialect::C => Order::NotAtomic,
            ir::Order::Plain | ir::Order::Relaxed => Order::Plain,
            ir::Order::Consume | ir::Order::Acquire => Order::Acquire,
            ir::Order::AcquirePc => Order::AcquirePc,
            ir::Order::Release => Order::Release,
            ir::Order::AcqRel => Order::AcquireRelease,
            ir::Order::SeqCst => Order::Sc,
        };
        Ok(Note { order, exclusive: event.ann.exclusive, size: None })
    }

    /// How a fence is written; nothing for one that is no instruction.
    fn fence(&self, fence: Fence) -> Result<Option<&'static str>, String> {
        if matches!(fence, Fence::Compiler | Fence::C11(ir::Order::Relaxed | ir::Order::Plain)) {
            return Ok(None);
        }
        let edge = fence.row().edge;
        if edge.is_empty() {
            return Err(format!("the fence {} has no instruction there", fence.name()));
        }
        let found = self.dialect.fences().iter().find(|known| known.edge == edge);
        match found {
            Some(known) => Ok(Some(known.text)),
            None => Err(format!("tests for {} have no {}", self.dialect.name(), fence.name())),
        }
    }
}
