//! From a model of the formula to a run of the program: which thread does its next step when, up to the first fault.

use crate::aig::Values;
use crate::sc::Sc;
use crate::symbolic::{Fault, FaultKind, InstanceId, Step, Unrolled};
use fencepost_answer::FindingKind;
use fencepost_ir::{Program, Value, Width};
use std::collections::{BTreeMap, BTreeSet};

/// A step of a run: the next step of a thread that a machine notices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// The thread, numbered in the order in which threads are started in this run.
    pub thread: u32,
    /// The function, by number.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// The value that it chooses; zero otherwise.
    pub choice: Value,
    /// A weak compare-exchange that fails for no reason.
    pub spurious: bool,
}

/// A run: its steps, and what is wrong at its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// The steps, in order.
    pub steps: Vec<Scheduled>,
}

/// What goes wrong, and in words; nothing for a limit of ours.
pub fn mistake(
    program: &Program,
    unrolled: &Unrolled,
    values: &Values,
    kind: &FaultKind,
) -> Option<(FindingKind, &'static str)> {
    Some(match kind {
        FaultKind::Assertion => (FindingKind::Assertion, "assertion failed"),
        FaultKind::BadAccess { address, width } => {
            let kind = bad_access(program, unrolled, address.evaluate(values), *width);
            (kind, kind.message())
        }
        FaultKind::UseAfterFree => (FindingKind::UseAfterFree, "use of memory that was freed"),
        FaultKind::UseAfterScope => (FindingKind::UseAfterScope, "use of a local object after its scope"),
        FaultKind::DoubleFree => (FindingKind::DoubleFree, "memory is freed twice"),
        FaultKind::InvalidFree => (FindingKind::InvalidFree, "free of something that was not allocated"),
        FaultKind::Uninitialised => (FindingKind::Uninitialised, "read of uninitialised memory"),
        FaultKind::DivisionByZero => (FindingKind::DivisionByZero, "division by zero"),
        FaultKind::BadCall => (FindingKind::BadCall, "call of something that is no function"),
        FaultKind::Constant => (FindingKind::Constant, "write to a constant object"),
        FaultKind::Misuse => (FindingKind::Misuse, "a library function is used against its rules"),
        FaultKind::AtomicEnd => (FindingKind::Misuse, "end of an atomic section that was not begun"),
        FaultKind::BadJoin => (FindingKind::Misuse, "join of a thread that does not exist"),
        FaultKind::Limit(_) => return None,
    })
}

fn bad_access(program: &Program, unrolled: &Unrolled, address: Value, width: Width) -> FindingKind {
    let Some((object, offset)) = address.as_pointer() else {
        // A member of what a null pointer points to is at a small address.
        return if address.0 < 4096 { FindingKind::NullPointer } else { FindingKind::BadPointer };
    };
    let declared = program.objects.get(object.0 as usize).map(|object| u64::from(object.size));
    let made = || unrolled.objects.get(object.0 as usize).and_then(|object| object.size.as_constant());
    match declared.or_else(|| made().map(|size| size.0)) {
        None if (object.0 as usize) < unrolled.objects.len() => FindingKind::OutOfBounds,
        None => FindingKind::BadPointer,
        Some(size) if u64::from(offset) + u64::from(width.bytes()) > size => FindingKind::OutOfBounds,
        Some(_) => FindingKind::MixedSize,
    }
}

/// Puts the steps of a model into an order that a machine can follow.
struct Scheduler<'u> {
    unrolled: &'u Unrolled,
    values: &'u Values,
    /// Units that take part in the order, by thread.
    ordered: Vec<BTreeSet<u32>>,
    /// Units that are parts of an earlier one.
    together: Vec<BTreeMap<u32, u32>>,
    /// Atomic sections that are never left and have no place in the order: nobody can move once they are begun.
    stuck: BTreeSet<(u32, u32)>,
    /// The next step of each thread.
    next: Vec<usize>,
    /// The number of each thread in this run.
    numbers: Vec<Option<u32>>,
    started: u32,
    steps: Vec<Scheduled>,
    /// Faults of the model that are still to come, by thread and step.
    faults: Vec<&'u Fault>,
    first_fault: Option<&'u Fault>,
}

/// A run, with the fault that it ends in and the thread that makes it.
pub type Lifted<'u> = (Run, Option<(&'u Fault, u32)>);

/// The run of a model; the fault that it ends in and whose it is, or none if all threads have done all their steps.
pub fn lift<'u>(unrolled: &'u Unrolled, sc: &Sc, values: &'u Values) -> Result<Lifted<'u>, &'static str> {
    let threads = unrolled.threads.len();
    // Units that are tied are done as one, when it is the turn of the first.
    let mut together = vec![BTreeMap::new(); threads];
    for tie in unrolled.ties.iter().filter(|tie| values.of(tie.when)) {
        let units: &mut BTreeMap<u32, u32> = &mut together[tie.thread.0 as usize];
        let first = units.get(&tie.first).copied().unwrap_or(tie.first);
        units.insert(tie.second, first);
    }
    let mut line = sc.linearise(values);
    line.retain(|(thread, unit)| !together[*thread as usize].contains_key(unit));
    let mut ordered = vec![BTreeSet::new(); threads];
    line.iter().for_each(|&(thread, unit)| {
        ordered[thread as usize].insert(unit);
    });
    let from_start = unrolled.threads.iter().filter(|thread| thread.spawned.is_none()).count() as u32;
    let number = |t: u32| (t < from_start).then_some(t);
    let real = |fault: &&Fault| values.of(fault.guard) && !matches!(fault.kind, FaultKind::Limit(_));
    let sections = unrolled.sections.iter();
    let stuck = sections
        .filter(|s| {
            values.of(s.begun) && !values.of(s.ended) && !ordered[s.thread.0 as usize].contains(&s.unit)
        })
        .map(|section| (section.thread.0, section.unit))
        .collect();
    let mut scheduler = Scheduler {
        unrolled,
        values,
        ordered,
        together,
        stuck,
        next: vec![0; threads],
        numbers: (0..threads as u32).map(number).collect(),
        started: from_start,
        steps: Vec::new(),
        faults: unrolled.faults.iter().filter(real).collect(),
        first_fault: None,
    };
    scheduler.run(&line)?;
    let number = |fault: &'u Fault| scheduler.numbers[fault.thread.0 as usize].unwrap_or_default();
    let fault = scheduler.first_fault.map(|fault| (fault, number(fault)));
    Ok((Run { steps: scheduler.steps }, fault))
}

impl<'u> Scheduler<'u> {
    fn run(&mut self, line: &[(u32, u32)]) -> Result<(), &'static str> {
        self.settle_all();
        for &(thread, unit) in line {
            if self.first_fault.is_some() {
                return Ok(());
            }
            self.do_unit(thread, unit)?;
            self.settle_all();
        }
        let waiting = (0..self.next.len()).any(|t| self.numbers[t].is_some() && self.peek(t).is_some());
        match waiting && self.first_fault.is_none() && self.stuck.is_empty() {
            true => Err("a thread waits for one that does not end"),
            false => Ok(()),
        }
    }

    /// The next step that the thread does in this model.
    fn peek(&mut self, t: usize) -> Option<&'u Step> {
        let steps = &self.unrolled.threads[t].steps;
        while self.next[t] < steps.len() && !self.values.of(steps[self.next[t]].guard) {
            self.next[t] += 1;
        }
        steps.get(self.next[t])
    }

    /// The unit that a step of a thread is done with.
    fn unit_of(&self, t: usize, step: &Step) -> Option<u32> {
        step.unit.map(|unit| self.together[t].get(&unit).copied().unwrap_or(unit))
    }

    /// A thread must not begin a section that it never leaves, unless that is where it goes wrong.
    fn begins_stuck(&self, t: usize, step: &Step) -> bool {
        self.unit_of(t, step).is_some_and(|unit| self.stuck.contains(&(t as u32, unit)))
            && !self.faults.iter().any(|fault| fault.thread.0 as usize == t)
    }

    /// Notes a fault that the thread has come to.
    fn look_for_fault(&mut self, t: usize) {
        if self.first_fault.is_none() && self.numbers[t].is_some() {
            self.peek(t);
            let done = self.next[t] as u32;
            let reached = |fault: &&&Fault| fault.thread.0 as usize == t && fault.steps_before <= done;
            self.first_fault = self.faults.iter().find(reached).copied();
        }
    }

    fn emit(&mut self, t: usize) {
        let Some(step) = self.peek(t) else { return };
        self.next[t] += 1;
        let Some(thread) = self.numbers[t] else { return };
        self.steps.push(Scheduled {
            thread,
            function: step.function,
            pc: step.pc,
            choice: step.choice.as_ref().map_or(Value::ZERO, |word| word.evaluate(self.values)),
            spurious: self.values.of(step.spurious),
        });
        if let Some(child) = step.spawns {
            self.numbers[child.0 as usize] = Some(self.started);
            self.started += 1;
            self.look_for_fault(child.0 as usize);
        }
        self.look_for_fault(t);
    }

    /// Does what nobody else notices, in every thread, until nothing of that kind is left.
    fn settle_all(&mut self) {
        loop {
            let before = self.steps.len();
            for t in 0..self.next.len() {
                self.settle(t);
            }
            if self.steps.len() == before || self.first_fault.is_some() {
                return;
            }
        }
    }

    fn settle(&mut self, t: usize) {
        self.look_for_fault(t);
        while self.first_fault.is_none() && self.numbers[t].is_some() {
            let Some(step) = self.peek(t) else { return };
            let ordered = self.unit_of(t, step).is_some_and(|unit| self.ordered[t].contains(&unit));
            if ordered || self.begins_stuck(t, step) || !self.is_ready(step) {
                return;
            }
            self.emit(t);
        }
    }

    /// A join waits until the other thread has done everything.
    fn is_ready(&mut self, step: &Step) -> bool {
        let others: Vec<InstanceId> =
            step.joins.iter().filter(|(_, named)| self.values.of(*named)).map(|(id, _)| *id).collect();
        others.into_iter().all(|id| {
            let t = id.0 as usize;
            self.numbers[t].is_none() || self.peek(t).is_none()
        })
    }

    /// Does all steps of a unit, and what the thread does between them.
    fn do_unit(&mut self, thread: u32, unit: u32) -> Result<(), &'static str> {
        let t = thread as usize;
        let steps = &self.unrolled.threads[t].steps;
        let mine = |step: &Step| self.unit_of(t, step) == Some(unit) && self.values.of(step.guard);
        let Some(last) = steps.iter().rposition(mine) else { return Ok(()) };
        if self.numbers[t].is_none() {
            return Err("a thread moves that was not started");
        }
        match self.peek(t) {
            Some(step) if self.unit_of(t, step) == Some(unit) => {}
            _ => return Err("a thread moves that has to wait"),
        }
        while self.next[t] <= last && self.first_fault.is_none() {
            self.emit(t);
            self.peek(t);
        }
        self.settle(t);
        Ok(())
    }
}
