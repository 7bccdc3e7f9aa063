//! Runs of the machines: what went wrong in one sentence, why the model allows it, and a picture.
//!
//! A run says of each access which step wrote what it reads, and which place its write has in its cell. That is an execution:
//! its cycle is looked for as for those of the explorer. Where the model has axioms that need no dependencies, which runs do
//! not have, they say which fences would forbid it; under POWER the run itself says what was done out of order.

use crate::telling::cause::{self, Cause, Edge, EdgeKind};
use crate::telling::sentence::{NEEDS_NO_WEAK_MEMORY, is_about_lifetime};
use crate::telling::weak::{Names, Weak};
use crate::telling::words::{self, list};
use crate::telling::{fold, runs_as_lines};
use fencepost_answer::picture::{self, Arrow, Kind, Picture};
use fencepost_answer::trace::{Action, Held, Phase, Step, StepId};
use fencepost_answer::{Explanation, Finding, FindingKind, Outcome};
use fencepost_diag::SourceMap;
use fencepost_ir::{
    Ann, Callee, Event, EventKind, Execution, Instr, Location, ObjectId, Order, Program, ThreadId, Value,
    Width,
};
use fencepost_models::Model;
use fencepost_models::registry::{self, Entry};
use std::collections::{BTreeMap, BTreeSet};

/// Explains the findings of a machine, draws the first, and tells the runs; what only one thread sees is left out, unless all is
/// wanted.
pub fn explain(program: &Program, sources: &SourceMap, model: &Entry, full: bool, outcome: &mut Outcome) {
    for finding in &mut outcome.findings {
        let run = Run::new(program, sources, model, finding);
        let cause = run.cause();
        outcome.explanations.push(run.explanation(cause.as_ref()));
        if outcome.picture.is_none() {
            outcome.picture = run.picture(cause.as_ref());
        }
        let private = if full { BTreeSet::new() } else { private_cells(&finding.run) };
        let lines = runs_as_lines::tell(&finding.run, &run.threads, &private);
        finding.trace = if full { lines } else { fold::fold(lines) };
    }
}

/// A run as an execution.
struct Run<'a> {
    sources: &'a SourceMap,
    model: &'a Entry,
    finding: &'a Finding,
    threads: Vec<String>,
    execution: Execution,
    /// The step of each event that is none of the initial ones.
    steps: BTreeMap<usize, usize>,
}

impl<'a> Run<'a> {
    fn new(program: &Program, sources: &'a SourceMap, model: &'a Entry, finding: &'a Finding) -> Run<'a> {
        let (execution, steps) = execution(&finding.run);
        Run { sources, model, finding, threads: names(program, finding), execution, steps }
    }

    /// The step of an event.
    fn step(&self, event: usize) -> Option<&Step> {
        self.finding.run.get(*self.steps.get(&event)?)
    }

    fn line_of(&self, step: &Step) -> usize {
        self.sources.position(step.span.start).map_or(0, |(_, line, _)| line)
    }

    fn name(&self, thread: u32) -> String {
        self.threads.get(thread as usize).cloned().unwrap_or_else(|| format!("thread {thread}"))
    }

    /// The cycle and what is not kept in order on it, if the run is not sequentially consistent.
    fn cause(&self) -> Option<Cause> {
        // What needs no promise is an execution of RC11.
        let axiomatic = match self.model.name {
            "tso" | "pso" => Some(self.model),
            "ps" => registry::find("rc11"),
            _ => None,
        };
        let axiomatic = axiomatic.and_then(|entry| Some((entry, Model::builtin(entry.name)?)));
        match axiomatic.filter(|(_, cat)| cat.check(&self.execution).consistent) {
            Some((entry, cat)) => cause::cause((entry, &cat), &self.execution, &[]),
            None => self.by_the_run(),
        }
    }

    /// The cycle, and the pairs on it that the run did out of order.
    fn by_the_run(&self) -> Option<Cause> {
        let cycle = cause::shortest_cycle(&self.execution, &[])?;
        let pairs = cycle.iter().filter(|edge| edge.kind == EdgeKind::Po);
        let open = pairs.filter(|edge| self.is_out_of_order(edge)).map(|edge| (edge.from, edge.to)).collect();
        Some(Cause { cycle, open, fences: Vec::new(), axioms: Vec::new() })
    }

    /// Whether the second of two accesses of a thread was done, or reached somebody, before the first.
    fn is_out_of_order(&self, edge: &Edge) -> bool {
        let (Some(&first), Some(&second)) = (self.steps.get(&edge.from), self.steps.get(&edge.to)) else {
            return false;
        };
        let (first_reaches, second_reaches) = (self.reaches(first), self.reaches(second));
        match (self.is_read(edge.from), self.is_read(edge.to)) {
            (true, true) => second < first,
            (true, false) => {
                second_reaches.iter().any(|(_, at)| *at < first) || self.is_promised(second, first)
            }
            (false, true) => first_reaches.is_empty() || first_reaches.iter().any(|(_, at)| second < *at),
            (false, false) => second_reaches
                .iter()
                .any(|(whom, at)| first_reaches.iter().all(|(other, earlier)| other != whom || at < earlier)),
        }
    }

    /// Whom a store reached when, under POWER.
    fn reaches(&self, store: usize) -> Vec<(&str, usize)> {
        let (run, told) = (&self.finding.run, &self.finding.run[store]);
        let Action::Phase { subject, .. } = &told.action else { return Vec::new() };
        let reach = |(at, step): (usize, &'a Step)| match &step.action {
            Action::Phase { phase: Phase::Reaches(whom), subject: other, .. } => {
                let same = step.thread == told.thread && step.span == told.span && other == subject;
                (same && at > store).then_some((whom.as_str(), at))
            }
            _ => None,
        };
        run.iter().enumerate().filter_map(reach).collect()
    }

    /// Whether what a step writes was promised before another step.
    fn is_promised(&self, write: usize, before: usize) -> bool {
        let step = &self.finding.run[write];
        let Some(cell) = step.action.cell() else { return false };
        let is_promise = |other: &Step| match &other.action {
            Action::Promise { cell: promised, .. } => promised == cell,
            _ => false,
        };
        let mut earlier = self.finding.run[..before].iter();
        step.fulfils && earlier.any(|other| other.thread == step.thread && is_promise(other))
    }

    fn explanation(&self, cause: Option<&Cause>) -> Explanation {
        let weak = cause.map(|cause| Weak { names: self, model: self.model.name, cause });
        let mut explanation = Explanation { threads: self.threads.clone(), ..Explanation::default() };
        explanation.sentence = match (&weak, self.finding.kind) {
            (Some(weak), FindingKind::Assertion) => weak.sentence(),
            _ => self.values(),
        };
        explanation.why.extend(self.waiting_store());
        match &weak {
            Some(weak) => explanation.why.extend(weak.why()),
            // When an object ends is no access, so that of its use too late the values alone say nothing.
            None if self.model.name != "sc"
                && !self.steps.is_empty()
                && !is_about_lifetime(self.finding.kind) =>
            {
                explanation.why.push(NEEDS_NO_WEAK_MEMORY.into());
            }
            None => {}
        }
        explanation
    }

    /// What the thread that failed had read.
    fn values(&self) -> String {
        let Some(place) = self.finding.places.first() else { return String::new() };
        let line = self.sources.position(place.span.start).map(|(_, line, _)| line);
        let (Some(thread), Some(line)) = (place.thread, line) else { return String::new() };
        let own = self.finding.run.iter().rev().filter(|step| step.thread == thread);
        let (private, ids) = (private_cells(&self.finding.run), places(&self.finding.run));
        let mut read: Vec<String> = Vec::new();
        for step in own.take(12) {
            let (Some(cell), Some(seen)) = (step.action.cell(), step.action.seen()) else { continue };
            if private.contains(&cell.id) {
                continue;
            }
            let from = seen.from.and_then(|from| self.finding.run.get(*ids.get(&from)?));
            let from = from.filter(|writer| writer.thread != thread).map_or(String::new(), |writer| {
                format!(", written by {} at line {}", self.name(writer.thread), self.line_of(writer))
            });
            let (cell, value) = (&cell.name, &seen.value.name);
            read.push(format!("`{cell}` = {value} (line {}{from})", self.line_of(step)));
        }
        read.truncate(3);
        read.reverse();
        let name = self.name(thread);
        match read.is_empty() {
            true => format!("{name} fails at line {line}"),
            false => format!("{name} had read {} when it came to line {line}", list(&read)),
        }
    }

    /// The last read that a store in a buffer of another thread would have changed.
    fn waiting_store(&self) -> Option<String> {
        if !matches!(self.model.name, "tso" | "pso") {
            return None;
        }
        for step in self.finding.run.iter().rev() {
            let (Some(cell), Some(seen)) = (step.action.cell(), step.action.seen()) else { continue };
            for (other, held) in (0u32..).zip(&step.held).filter(|(other, _)| *other != step.thread) {
                let waiting = held.iter().find_map(|held| match held {
                    Held::Store { cell: waits, value } if waits == cell => Some(&value.name),
                    _ => None,
                });
                if let Some(stored) = waiting {
                    let (name, cell) = (self.name(step.thread), &cell.name);
                    return Some(format!(
                        "{name} read `{cell}` = {} (line {}) while `{cell}` = {stored} of {} still waited in its buffer",
                        seen.value.name,
                        self.line_of(step),
                        self.name(other)
                    ));
                }
            }
        }
        None
    }

    /// A box per step that others can see, with the cycle marked; nothing if there is none.
    fn picture(&self, cause: Option<&Cause>) -> Option<Picture> {
        let trace = &self.finding.run;
        let private = private_cells(trace);
        let is_shown = |step: &Step| match step.action.cell() {
            Some(cell) => !private.contains(&cell.id),
            None => matches!(step.action, Action::Fence(_) | Action::Promise { .. }),
        };
        let shown: Vec<usize> =
            in_program_order(trace, (0..trace.len()).filter(|&i| is_shown(&trace[i])).collect());
        let title = format!("{}: {}", self.finding.kind.code(), self.finding.message);
        let mut picture = Picture { title, threads: self.threads.clone(), ..Picture::default() };
        let failing = self.finding.places.first().and_then(|place| place.thread);
        let last = shown.iter().rposition(|&i| Some(trace[i].thread) == failing);
        for (number, &i) in shown.iter().enumerate() {
            let step = &trace[i];
            let (line, text) = (self.line_of(step), self.sources.expression(step.span));
            let place = if line == 0 { String::new() } else { format!("{line}: {}", text.trim()) };
            let (thread, event, span) = (step.thread, short(step), step.span);
            picture.boxes.push(picture::Box { thread, event, place, span, marked: Some(number) == last });
        }
        let of_step = |step: usize| shown.iter().position(|&i| i == step);
        let of_event = |event: usize| of_step(*self.steps.get(&event)?);
        let mut drawn = BTreeSet::new();
        for edge in cause.into_iter().flat_map(|cause| &cause.cycle) {
            if let (Some(from), Some(to)) = (of_event(edge.from), of_event(edge.to)) {
                let kind = edge.kind.drawn();
                drawn.insert((from, to, kind.name()));
                picture.arrows.push(Arrow { from, to, kind, on_cycle: true });
            }
        }
        let fr = self.execution.fr();
        let (rf, co) = (&self.execution.rf, &self.execution.co);
        let relations = [
            (Kind::Rf, rf.clone()),
            (Kind::Co, co.difference(&co.compose(co))),
            (Kind::Fr, fr.difference(&fr.compose(co))),
        ];
        for (kind, relation) in relations {
            for (from, to) in relation.pairs() {
                if let (Some(from), Some(to)) = (of_event(from), of_event(to))
                    && from != to
                    && drawn.insert((from, to, kind.name()))
                {
                    picture.arrows.push(Arrow { from, to, kind, on_cycle: false });
                }
            }
        }
        (!picture.boxes.is_empty()).then_some(picture)
    }
}

/// An event without how the machine got there.
fn short(step: &Step) -> String {
    match (&step.action, step.action.cell(), step.action.seen(), step.action.made()) {
        (Action::Phase { phase: Phase::Init | Phase::Commit, .. }, Some(cell), Some(seen), None) => {
            words::read(&cell.name.to_string(), Order::Plain, &seen.value.name.to_string())
        }
        (Action::Phase { phase: Phase::Init | Phase::Commit, .. }, Some(cell), _, Some(made)) => {
            words::write(&cell.name.to_string(), Order::Plain, &made.value.name.to_string())
        }
        _ => runs_as_lines::event(&step.action, &[]),
    }
}

impl Names for Run<'_> {
    fn is_read(&self, event: usize) -> bool {
        self.execution.events[event].kind == EventKind::Read
    }

    fn thread(&self, event: usize) -> String {
        self.step(event).map_or(String::new(), |step| self.name(step.thread))
    }

    fn line(&self, event: usize) -> usize {
        self.step(event).map_or(0, |step| self.line_of(step))
    }

    fn what(&self, event: usize) -> String {
        let Some((step, cell)) = self.step(event).and_then(|step| Some((step, step.action.cell()?))) else {
            return "it".into();
        };
        let read = step.action.seen().filter(|_| self.is_read(event)).map(|seen| &seen.value);
        let value = read.or(step.action.made().map(|made| &made.value));
        format!("`{}` = {}", cell.name, value.map_or("?".into(), |value| value.name.to_string()))
    }

    fn event(&self, event: usize) -> String {
        self.step(event).map_or(String::from("?"), short)
    }
}

/// Steps in an order in which those of each thread are in program order; who is when stays as it is.
fn in_program_order(trace: &[Step], mut shown: Vec<usize>) -> Vec<usize> {
    let number = |i: usize| trace[i].action.cell().map(|_| trace[i].number);
    let threads: BTreeSet<u32> = shown.iter().map(|&i| trace[i].thread).collect();
    for thread in threads {
        let accesses = |&at: &usize| trace[at].thread == thread && number(at).is_some();
        let places: Vec<usize> = (0..shown.len()).filter(|&at| accesses(&shown[at])).collect();
        let mut own: Vec<usize> = places.iter().map(|&at| shown[at]).collect();
        own.sort_by_key(|&i| number(i));
        places.iter().zip(own).for_each(|(&at, i)| shown[at] = i);
    }
    shown
}

/// Where in the run each step is, by thread and number in its thread.
fn places(run: &[Step]) -> BTreeMap<StepId, usize> {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut place = |(at, step): (usize, &Step)| {
        let count = counts.entry(step.thread).or_default();
        *count += 1;
        ((step.thread, *count - 1), at)
    };
    run.iter().enumerate().map(&mut place).collect()
}

/// The execution of a run, and the steps of its events.
fn execution(trace: &[Step]) -> (Execution, BTreeMap<usize, usize>) {
    let cells: BTreeSet<u32> = trace.iter().filter_map(|step| Some(step.action.cell()?.id)).collect();
    let cells: Vec<u32> = cells.into_iter().collect();
    let object = |cell: u32| cells.binary_search(&cell).unwrap_or(0) as u32;
    let event = |thread, kind, cell: Option<u32>, order: Order, span| Event {
        thread,
        kind,
        location: cell.map(|cell| Location { object: ObjectId(object(cell)), offset: 0 }),
        width: Width::W64,
        value: Value::ZERO,
        ann: Ann { order: if order == Order::Plain { Order::Relaxed } else { order }, ..Ann::PLAIN },
        amo: false,
        span,
    };
    let initial = |cell: &u32| event(None, EventKind::Write, Some(*cell), Order::Plain, Default::default());
    let mut events: Vec<Event> = cells.iter().map(initial).collect();
    // Per event: its step, and its place in its thread.
    let mut made: Vec<(usize, u32, (u32, u8))> = Vec::new();
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    for (i, step) in trace.iter().enumerate() {
        let thread = Some(ThreadId(step.thread));
        let last = numbers.entry(step.thread).or_default();
        if let Some(cell) = step.action.cell() {
            *last = step.number;
            let halves = [
                (EventKind::Read, step.action.seen().map(|seen| seen.order)),
                (EventKind::Write, step.action.made().map(|made| made.order)),
            ];
            for (half, (kind, order)) in (0u8..).zip(halves) {
                let Some(order) = order else { continue };
                made.push((i, step.thread, (step.number, half)));
                events.push(event(thread, kind, Some(cell.id), order, step.span));
            }
        } else if let Action::Fence(Some(fence)) = &step.action {
            made.push((i, step.thread, (*last, 2)));
            events.push(event(thread, EventKind::Fence(*fence), None, Order::Plain, step.span));
        }
    }
    let ids = places(trace);
    let first = cells.len();
    let mut execution = Execution::new(events);
    let write_of = |step: usize| {
        let at = made
            .iter()
            .enumerate()
            .position(|(at, made)| made.0 == step && execution.events[first + at].kind == EventKind::Write);
        at.map(|at| first + at)
    };
    let (mut rf, mut co, mut po, mut rmw) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, &(step, thread, place)) in made.iter().enumerate() {
        let me = first + at;
        let later = made.iter().enumerate().filter(|(_, other)| other.1 == thread && other.2 > place);
        po.extend(later.map(|(other, _)| (me, first + other)));
        let Some(cell) = trace[step].action.cell() else { continue };
        let initial = object(cell.id) as usize;
        let (seen, wrote) = (trace[step].action.seen(), trace[step].action.made());
        match execution.events[me].kind {
            EventKind::Read => {
                let from = seen.and_then(|seen| write_of(*ids.get(&seen.from?)?));
                rf.push((from.unwrap_or(initial), me));
                rmw.extend(wrote.and_then(|_| write_of(step)).map(|write| (me, write)));
            }
            EventKind::Write => {
                co.push((initial, me));
                let mine = wrote.map_or(0, |made| made.place);
                for (other, &(step, ..)) in made.iter().enumerate() {
                    let there = trace[step].action.cell().filter(|there| there.id == cell.id);
                    let theirs = there.and_then(|_| trace[step].action.made());
                    let writes = execution.events[first + other].kind == EventKind::Write;
                    if writes && theirs.is_some_and(|theirs| theirs.place > mine) {
                        co.push((me, first + other));
                    }
                }
            }
            EventKind::Fence(_) => {}
        }
    }
    for (relation, pairs) in
        [(&mut execution.po, po), (&mut execution.rf, rf), (&mut execution.co, co), (&mut execution.rmw, rmw)]
    {
        pairs.into_iter().for_each(|(a, b)| relation.insert(a, b));
    }
    for (read, write) in execution.rmw.pairs().collect::<Vec<_>>() {
        (execution.events[read].amo, execution.events[write].amo) = (true, true);
        execution.amo.insert(read, write);
    }
    let steps = made.iter().enumerate().map(|(at, made)| (first + at, made.0)).collect();
    (execution, steps)
}

/// Cells that one thread alone accesses.
fn private_cells(trace: &[Step]) -> BTreeSet<u32> {
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for step in trace {
        if let Some(cell) = step.action.cell() {
            users.entry(cell.id).or_default().insert(step.thread);
        }
    }
    users.into_iter().filter(|(_, users)| users.len() == 1).map(|(cell, _)| cell).collect()
}

/// Threads by the functions that they run: the one function of those that are started which has most steps of the thread, or the
/// only one that is started at all. Steps of helper functions may be in several.
fn names(program: &Program, finding: &Finding) -> Vec<String> {
    let mut names: Vec<String> = program.threads.iter().map(|thread| thread.name.clone()).collect();
    let mut started: Vec<usize> = Vec::new();
    for instr in program.functions.iter().flat_map(|function| &function.body) {
        if let Instr::Spawn { callee: Callee::Function(id), .. } = instr
            && !started.contains(&(id.0 as usize))
        {
            started.push(id.0 as usize);
        }
    }
    let last = finding.run.iter().map(|step| step.thread as usize).max().unwrap_or(0);
    for thread in names.len()..=last {
        let own: Vec<&Step> = finding.run.iter().filter(|step| step.thread as usize == thread).collect();
        let steps = |function: &usize| {
            let spans = &program.functions[*function].spans;
            own.iter().filter(|step| spans.contains(&step.span)).count()
        };
        let most = started.iter().map(steps).max().filter(|&most| most > 0);
        let able: Vec<&usize> = started.iter().filter(|function| Some(steps(function)) == most).collect();
        let function = match (able.as_slice(), started.as_slice()) {
            ([one], _) => Some(**one),
            (_, [one]) => Some(*one),
            _ => None,
        };
        let name = function.and_then(|function| program.functions.get(function));
        names.push(name.map_or_else(|| format!("thread {thread}"), |function| function.name.clone()));
    }
    let all = names.clone();
    for (number, name) in names.iter_mut().enumerate() {
        if all.iter().filter(|other| *other == name).count() > 1 {
            *name = format!("{name}#{number}");
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_answer::trace::{Cell, Made, NOWHERE, Name, Purpose, Seen, Typed};

    fn cell(name: &str) -> Cell {
        Cell { id: u32::from(name.as_bytes()[0]), name: Name::plain(name) }
    }

    fn step(thread: u32, action: Action, number: u32) -> Step {
        Step { number, ..Step::new(thread, Default::default(), action) }
    }

    fn read(thread: u32, name: &str, value: u64, from: Option<StepId>, number: u32) -> Step {
        let seen = Seen { value: Typed::number(value), order: Order::Plain, from, place: 0 };
        step(thread, Action::Read { cell: cell(name), seen, purpose: Purpose::Data }, number)
    }

    fn write(thread: u32, name: &str, value: u64, place: u32, number: u32) -> Step {
        let made = Made { value: Typed::number(value), order: Order::Plain, place };
        step(thread, Action::Write { cell: cell(name), made, purpose: Purpose::Data }, number)
    }

    fn waits(names: &str) -> Vec<Held> {
        let names = names.split(' ').filter(|name| !name.is_empty());
        names.map(|name| Held::Store { cell: cell(name), value: Typed::number(1) }).collect()
    }

    fn store_buffering() -> Finding {
        let buffered = |step: Step, held: [&str; 2]| Step { held: held.map(waits).to_vec(), ..step };
        let run = vec![
            buffered(write(0, "x", 1, 1, 1), ["x", ""]),
            buffered(read(0, "y", 0, None, 2), ["x", ""]),
            buffered(write(1, "y", 1, 1, 1), ["x", "y"]),
            buffered(read(1, "x", 0, None, 2), ["x", "y"]),
        ];
        Finding { run, ..Finding::new(FindingKind::Assertion, "", Vec::new()) }
    }

    #[test]
    fn a_run_of_buffers_is_explained_by_its_cycle() {
        let (finding, sources) = (store_buffering(), SourceMap::default());
        let model = registry::find("tso").expect("built in");
        let run = Run::new(&Program::default(), &sources, model, &finding);
        let cause = run.cause().expect("a cycle");
        assert_eq!((cause.cycle.len(), cause.fences.len()), (4, 2));
        let told = run.explanation(Some(&cause));
        assert!(
            told.sentence.starts_with("thread 0 wrote `x` = 1 (line 0) and then read `y` = 0"),
            "{}",
            told.sentence
        );
        assert_eq!(
            told.why[0],
            "thread 1 read `x` = 0 (line 0) while `x` = 1 of thread 0 still waited in its buffer"
        );
        let picture = run.picture(Some(&cause)).expect("a picture");
        assert_eq!(
            (picture.boxes.len(), picture.arrows.iter().filter(|arrow| arrow.on_cycle).count()),
            (4, 4)
        );
    }

    #[test]
    fn boxes_stand_in_program_order() {
        let trace = [read(0, "y", 1, None, 2), read(1, "z", 0, None, 1), read(0, "x", 0, None, 1)];
        assert_eq!(in_program_order(&trace, vec![0, 1, 2]), [2, 1, 0]);
    }

    #[test]
    fn what_one_thread_sees_is_left_out() {
        let mut run = store_buffering().run;
        run.push(Step { held: vec![waits("r x"), Vec::new()], ..write(0, "r", 1, 1, 3) });
        run.push(Step::new(0, NOWHERE, Action::Flush { cell: cell("r"), value: Typed::number(1) }));
        run.push(Step { held: vec![waits("r x"), Vec::new()], ..read(0, "x", 1, Some((0, 0)), 4) });
        let shown = runs_as_lines::tell(&run, &[], &private_cells(&run));
        assert_eq!(shown.len(), 5);
        assert!(shown.iter().all(|line| line.action.contains(['x', 'y'])));
        assert_eq!(shown[4].buffers, ["x=1", ""]);
    }
}
