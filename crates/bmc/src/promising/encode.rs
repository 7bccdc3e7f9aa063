//! The runs of a program as clauses: each thread once, along its control flow.

use super::fences::Fences;
use super::promises::{Promise, Stand};
use super::slots::{Sizes, Slots, at_most_one};
use super::state::{Seen, State};
use super::survey::Survey;
use super::sync::{Orders, Tables, all_orders, fence_kind, synchronises};
use super::unary::Unary;
use super::{Active, Bounds, Certify, Rule, Unsupported};
use crate::aig::{Graph, Lit};
use crate::formula::Formula;
use crate::limits::{Limits, StopReason};
use crate::outcome::Failed;
use crate::symbolic::{
    CellId, Domain, Event, EventId, EventKind, InstanceId, Point, ThreadInstance, Unrolled,
};
use crate::word::Word;
use fencepost_ir::{Program, Property, Span, Value};
use std::rc::Rc;

/// What an event of a thread does, for those who read a model.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// It is done.
    pub done: Option<Lit>,
    /// A read: it reads this slot.
    pub reads: Vec<Lit>,
    /// A write: it fills this slot.
    pub fills: Vec<Lit>,
    /// A write: it fulfils this promise of its thread.
    pub fulfils: Vec<Lit>,
    /// A write: it has a timestamp.
    pub placed: Option<Lit>,
    /// The time after it.
    pub time: Option<Unary>,
    /// What the thread sees of the cells of the access afterwards.
    pub seen: Option<Seen>,
    /// A read: what its message publishes.
    pub learnt: Option<Vec<Unary>>,
}

/// A message that was given its timestamp later.
pub struct Settled {
    /// Whose.
    pub thread: InstanceId,
    /// In front of which event of the thread, counted from its first.
    pub before: u32,
    /// The shared cell.
    pub cell: usize,
    /// It was.
    pub dirty: Lit,
    /// The timestamp.
    pub stamp: Unary,
}

/// An encoded program.
pub struct Encoding {
    /// The clauses.
    pub formula: Formula,
    /// The shared cells.
    pub cells: Vec<CellId>,
    /// Slots.
    pub slots: Slots,
    /// What events do.
    pub records: Vec<Record>,
    /// Timestamps that were given later.
    pub settled: Vec<Settled>,
    /// The order of fences.
    pub fences: Fences,
    /// Promises of threads.
    pub promised: Vec<Promise>,
    /// Where threads with promises stand.
    pub stands: Vec<Stand>,
    /// Shared cells that are written by read-modify-writes.
    pub updated: Vec<bool>,
    /// The clauses allow no more than the machine does.
    pub exact: bool,
    /// View switches, counted up to one more than the bound.
    pub views: Unary,
    /// Promises, counted in the same way.
    pub promises: Unary,
    /// Both.
    pub total: Unary,
    /// For each event: its thread has not stopped before.
    pub alive: Vec<Lit>,
    /// All threads did all that they can.
    pub complete: Lit,
    /// Some message has more bits than `narrow` says. What is read has not, so that in a run that comes to such a message, this
    /// is the last step.
    pub large: Lit,
    /// At the ends of threads.
    ends: Vec<Option<State>>,
}

pub(super) struct Encoder<'u> {
    pub unrolled: &'u Unrolled,
    pub graph: Graph,
    pub formula: Formula,
    /// The place of each cell among the shared ones.
    pub places: Vec<Option<usize>>,
    pub sizes: Sizes,
    /// Shared cells that are written by read-modify-writes.
    pub updated: Vec<bool>,
    /// For each event: the timestamp of its message, if that is known.
    known_stamps: Vec<Option<usize>>,
    pub slots: Slots,
    pub records: Vec<Record>,
    pub settled: Vec<Settled>,
    pub fences: Fences,
    /// The orders of events.
    pub orders: Vec<Orders>,
    /// What messages publish, if that matters.
    pub tables: Option<Tables>,
    pub promises: Vec<Promise>,
    pub stands: Vec<Stand>,
    /// For each event: its thread has not stopped before. A thread that can always go on has no need to stop.
    pub alive: Vec<Lit>,
    pub after: Vec<Option<State>>,
    merged: Vec<Option<State>>,
    pub starts: Vec<Option<State>>,
    ends: Vec<Option<State>>,
    pub switches: Vec<Lit>,
    /// Bits of values that are read, and where there are more.
    pub narrow: Option<u32>,
    pub large: Vec<Lit>,
    /// Views are compared at the ends of threads.
    settles_ends: bool,
    /// The standard notion, over these values.
    pub standard: Option<Domain>,
    /// A rule that is left out.
    pub without: Option<Rule>,
    limits: Limits,
    /// The limit that was reached; from then on nothing more is encoded.
    stopped: Option<StopReason>,
}

/// Encodes an unrolled program; the graph grows.
pub fn encode(
    program: &Program,
    unrolled: &mut Unrolled,
    bounds: &Bounds,
    active: Active,
    limits: Limits,
) -> Result<Encoding, Failed> {
    check_supported(unrolled)?;
    let mut graph = std::mem::take(&mut unrolled.graph);
    let mut encoder = Encoder::new(program, unrolled, &mut graph, (bounds, active), limits)?;
    encoder.run(bounds.certify)?;
    if let Some(reason) = encoder.stopped {
        return Err(Failed::Stopped(reason));
    }
    let (encoding, grown) = encoder.finish(bounds);
    unrolled.graph = grown;
    Ok(encoding)
}

/// What the encoding does not know.
fn check_supported(unrolled: &Unrolled) -> Result<(), Unsupported> {
    let refuse = |what: &str| Err(Unsupported { what: what.into(), span: Span::default() });
    let flag = unrolled
        .cells
        .iter()
        .any(|cell| cell.shared && unrolled.objects[cell.object as usize].name == "alive");
    if flag {
        return refuse("memory that is freed while others use it");
    }
    if !unrolled.sections.is_empty() {
        return refuse("an atomic section");
    }
    Ok(())
}

/// True if an event is an SC fence.
pub(super) fn is_fence(event: &Event) -> bool {
    matches!(event.kind, EventKind::Fence(fence) if fence_kind(fence).sc)
}

impl<'u> Encoder<'u> {
    fn new(
        program: &Program,
        unrolled: &'u Unrolled,
        graph: &mut Graph,
        (bounds, active): (&Bounds, Active),
        limits: Limits,
    ) -> Result<Encoder<'u>, Unsupported> {
        let mut graph = std::mem::take(graph);
        let mut formula = Formula::new();
        for clause in &unrolled.constraints {
            formula.clause(clause);
        }
        let mut count = 0;
        let mut places = Vec::new();
        for cell in &unrolled.cells {
            places.push(cell.shared.then_some(count));
            count += usize::from(cell.shared);
        }
        let settles_ends = matches!(program.property, Property::Final(_)) || reads_after_join(unrolled);
        let takes_part: Vec<bool> = (0..unrolled.threads.len() as u32)
            .map(|t| {
                unrolled.threads[t as usize].copy_of.is_none() && active.includes(unrolled, InstanceId(t))
            })
            .collect();
        let takes_part = |event: &Event| takes_part[event.thread.0 as usize];
        let survey = Survey::new(unrolled, &places, count, &takes_part);
        let orders = all_orders(program, unrolled);
        let synchronises = synchronises(unrolled, &orders, &takes_part);
        let sizes = survey.sizes(unrolled, bounds, (settles_ends, synchronises), &takes_part);
        let known_stamps = survey.known_stamps(unrolled, &places, &sizes, &takes_part);
        let slots = Slots::new(&mut graph, &mut formula, &sizes, &survey.writers);
        let tables = synchronises.then(|| Tables::new(&mut graph, &mut formula, &sizes));
        let fences = Fences::new(&mut graph, &mut formula, unrolled, &sizes, &takes_part)?;
        let blocks = survey.updated.contains(&true);
        let alive = alive(unrolled, &mut graph, &mut formula, (blocks, bounds.promises > 0), &takes_part);
        let events = unrolled.events.len();
        let mut encoder = Encoder {
            unrolled,
            graph,
            formula,
            places,
            sizes,
            updated: survey.updated,
            known_stamps,
            slots,
            records: vec![Record::default(); events],
            settled: Vec::new(),
            fences,
            orders,
            tables,
            promises: Vec::new(),
            stands: Vec::new(),
            alive,
            after: vec![None; events],
            merged: vec![None; unrolled.merges.len()],
            starts: vec![None; unrolled.threads.len()],
            ends: vec![None; unrolled.threads.len()],
            switches: Vec::new(),
            settles_ends,
            narrow: bounds.narrow.filter(|&bits| starts_narrow(unrolled, bits)),
            large: Vec::new(),
            standard: bounds.standard,
            without: bounds.without,
            limits,
            stopped: None,
        };
        if bounds.promises > 0 {
            encoder.add_promises(bounds.promises)?;
        }
        Ok(encoder)
    }

    fn run(&mut self, certify: Certify) -> Result<(), Unsupported> {
        let initial = self.initial();
        for (t, thread) in (0u32..).zip(&self.unrolled.threads) {
            if thread.copy_of.is_none() && thread.spawned.is_none() {
                self.starts[t as usize] = Some(initial.clone());
                self.thread(InstanceId(t))?;
            }
        }
        // Those that nobody has joined.
        for t in 0..self.unrolled.threads.len() as u32 {
            if self.unrolled.threads[t as usize].copy_of.is_none() {
                self.thread(InstanceId(t))?;
            }
        }
        if self.stopped.is_some() {
            return Ok(());
        }
        self.finish_promises();
        self.certify_all(certify)
    }

    /// True once a limit is reached.
    pub fn stops(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.limits.reached());
        self.stopped.is_some()
    }

    /// True unless the rule is left out.
    pub fn keeps(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// Stamps are taken, each by one thread.
    pub fn take(&mut self, condition: Lit, thread: u32, cells: &[(usize, Lit)], stamp: &Unary) {
        if self.keeps(Rule::OwnTimestamp) {
            self.slots.take(&mut self.formula, condition, thread, cells, stamp);
        }
    }

    /// The time when a thread starts.
    pub fn start_time(&self, thread: InstanceId) -> Option<Unary> {
        self.starts[thread.0 as usize].as_ref().map(|state| state.time.clone())
    }

    fn initial(&self) -> State {
        let seen = |(cell, info): (&Option<usize>, &crate::symbolic::CellInfo)| {
            cell.map(|cell| Seen {
                stamp: Unary::zero(self.sizes.stamps[cell]),
                value: info.initial.clone().unwrap_or_else(|| Word::constant(Value::ZERO)),
                unset: Lit::constant(info.initial.is_none()),
                dirty: Lit::FALSE,
                own: Lit::FALSE,
            })
        };
        let cells = self.places.iter().zip(&self.unrolled.cells).filter_map(seen).collect();
        let time = Unary::zero(self.slots.count());
        State { time, cells: Rc::new(cells), stopped: Lit::FALSE, known: self.nothing_known() }
    }

    /// Encodes a thread, and the threads that it joins, unless that is done.
    fn thread(&mut self, id: InstanceId) -> Result<(), Unsupported> {
        let t = id.0 as usize;
        if self.ends[t].is_some() {
            return Ok(());
        }
        if self.starts[t].is_none() {
            let what = "a join of a thread that a third one starts".into();
            return Err(Unsupported { what, span: Span::default() });
        }
        for number in self.unrolled.threads[t].events.clone() {
            let event = &self.unrolled.events[number as usize];
            if let EventKind::Join(children) = &event.kind {
                for (child, _) in children.iter().filter(|(child, _)| *child != id) {
                    self.thread(*child)?;
                }
            }
            // Also after a limit was reached in a thread that is joined, which has no end then.
            if self.stops() {
                return Ok(());
            }
            self.event(EventId(number));
        }
        let end = match self.unrolled.threads[t].end {
            Some(point) => self.state_at(id, point),
            None => self.initial(),
        };
        let length = self.unrolled.threads[t].events.len() as u32;
        let end = if self.settles_ends { self.settle(id, length, end) } else { end };
        self.ends[t] = Some(end);
        Ok(())
    }

    /// The state at a place of the control flow.
    pub fn state_at(&mut self, thread: InstanceId, point: Point) -> State {
        match point {
            Point::Start => self.starts[thread.0 as usize].clone().unwrap_or_else(|| self.initial()),
            Point::Event(event) => self.after[event.0 as usize].clone().unwrap_or_else(|| self.initial()),
            Point::Merge(number) => {
                if let Some(state) = &self.merged[number as usize] {
                    return state.clone();
                }
                let inputs = self.unrolled.merges[number as usize].inputs.clone();
                let mut ways = inputs.into_iter();
                let first = ways.next().map_or(Point::Start, |(_, point)| point);
                let mut state = self.state_at(thread, first);
                for (guard, point) in ways {
                    let other = self.state_at(thread, point);
                    state = State::mux(&mut self.graph, guard, &other, &state);
                }
                self.merged[number as usize] = Some(state.clone());
                state
            }
        }
    }

    /// The shared cells that an access may touch.
    pub fn cells_of(&self, cells: &[(CellId, Lit)]) -> Vec<(usize, Lit)> {
        cells
            .iter()
            .filter_map(|(cell, lit)| self.places[cell.0 as usize].map(|place| (place, *lit)))
            .collect()
    }

    /// A place of an event among those of its thread.
    pub fn index(&self, id: EventId) -> u32 {
        let thread = self.unrolled.events[id.0 as usize].thread;
        id.0 - self.unrolled.threads[thread.0 as usize].events.start
    }

    fn event(&mut self, id: EventId) {
        let unrolled = self.unrolled;
        let event = &unrolled.events[id.0 as usize];
        let mut state = self.state_at(event.thread, event.before);
        self.note_promises(event.thread, id, &mut state);
        let done = self.graph.and(event.guard, self.alive[id.0 as usize]);
        self.records[id.0 as usize].done = Some(done);
        if done == Lit::FALSE {
            if let EventKind::Spawn(child) = event.kind {
                self.starts[child.0 as usize] = Some(self.start_of_child(&state));
            }
            self.leave_step(id, &mut state);
            return;
        }
        match &event.kind {
            EventKind::Read { access, value, undefined } => {
                let cells = self.cells_of(&access.cells);
                self.read(id, done, &cells, (value, *undefined), &mut state);
            }
            EventKind::Write { access, value, rmw, .. } => {
                let cells = self.cells_of(&access.cells);
                self.write(id, done, &cells, value, *rmw, &mut state);
            }
            EventKind::Fence(_) if is_fence(event) => {
                state = self.settle(event.thread, self.index(id), state);
                self.acquire(done, &mut state);
                let seen =
                    self.fences.pass(&mut self.graph, &mut self.formula, (id, event.thread), done, &state);
                state = State::mux(&mut self.graph, done, &seen, &state);
                self.note_fenced(done, &mut state);
                self.no_open_promise(id, done);
            }
            EventKind::Fence(fence) => {
                let kind = fence_kind(*fence);
                if kind.releases {
                    self.no_open_promise(id, done);
                    if self.tables.is_some() {
                        state = self.settle(event.thread, self.index(id), state);
                    }
                }
                if kind.acquires {
                    self.acquire(done, &mut state);
                }
                if kind.releases {
                    self.release(done, None, &mut state);
                }
            }
            // Lives are flags here.
            EventKind::End(_) => {}
            EventKind::Spawn(child) => {
                state = self.settle(event.thread, self.index(id), state);
                self.starts[child.0 as usize] = Some(self.start_of_child(&state));
                self.no_open_promise(id, done);
                let first = unrolled.threads[child.0 as usize].events.start as usize;
                if !unrolled.threads[child.0 as usize].events.is_empty() {
                    self.formula.clause(&[!self.alive[first], self.alive[id.0 as usize]]);
                }
            }
            EventKind::Join(children) => {
                state = self.settle(event.thread, self.index(id), state);
                for &(child, named) in children.iter().filter(|(child, _)| *child != event.thread) {
                    if let Some(end) = self.ends[child.0 as usize].clone() {
                        let joined = State::join(&mut self.graph, &state, &end);
                        let here = self.graph.and(done, named);
                        state = State::mux(&mut self.graph, here, &joined, &state);
                        self.note_joined(&mut state);
                        if let Some(last) = unrolled.threads[child.0 as usize].events.clone().last() {
                            self.formula.clause(&[!here, self.alive[last as usize]]);
                        }
                    }
                }
                self.no_open_promise(id, done);
            }
        }
        self.leave_step(id, &mut state);
    }

    /// After an event: the thread stands there if the step is over.
    fn leave_step(&mut self, id: EventId, state: &mut State) {
        let event = &self.unrolled.events[id.0 as usize];
        self.records[id.0 as usize].time = Some(state.time.clone());
        let step = match &event.kind {
            EventKind::Write { rmw: Some(read), .. } => Some(*read),
            EventKind::Write { .. } => Some(id),
            EventKind::Read { .. } => {
                let next = self.unrolled.events.get(id.0 as usize + 1).map(|next| &next.kind);
                let goes_on = matches!(next, Some(EventKind::Write { rmw: Some(read), .. }) if *read == id);
                (!goes_on).then_some(id)
            }
            _ => None,
        };
        if let Some(step) = step
            && self.promises.iter().any(|promise| promise.of == event.thread)
        {
            let done = self.records[step.0 as usize].done.unwrap_or(Lit::FALSE);
            self.stand(id, done, state);
        }
        self.after[id.0 as usize] = Some(state.clone());
    }

    /// A read: of what the thread has seen last, or of a slot with a newer message, which switches its view.
    fn read(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        (value, undefined): (&Word, Lit),
        state: &mut State,
    ) {
        let seen = state.select(&mut self.graph, cells);
        let open = self.has_open(self.unrolled.events[id.0 as usize].thread, id);
        let mut reads = Vec::new();
        let stamp = Unary::input(&mut self.graph, &mut self.formula, seen.stamp.most());
        for number in 1..=self.slots.count() {
            let from = self.graph.input();
            self.formula.clause(&[!from, done]);
            // With open promises time is exact.
            if self.keeps(Rule::ReadsByTime) {
                self.formula.clause(&[!from, !open, state.time.at_least(number)]);
            }
            self.slots.require_cell(&mut self.formula, from, number, cells);
            let slot = self.slots.get(number);
            Unary::require_equal(&mut self.formula, from, &stamp, &slot.stamp);
            self.formula.equal_if(from, &value.pairs(&slot.value));
            self.slots.read(number, from);
            reads.push(from);
        }
        at_most_one(&mut self.graph, &mut self.formula, &reads);
        let switched = self.graph.or_all(&reads);
        if self.keeps(Rule::Newer) {
            Unary::require_greater(&mut self.formula, switched, &stamp, &seen.stamp);
        }
        let touched = cells.iter().any(|(cell, _)| self.updated[*cell]);
        if touched && self.keeps(Rule::SettledBeforeSwitch) {
            // Whether there is room behind the view's message is known only if it has a timestamp.
            self.formula.clause(&[!switched, !seen.dirty]);
        }
        let local = self.graph.and(done, !switched);
        self.formula.equal_if(local, &value.pairs(&seen.value));
        self.formula.equal_if(local, &[(undefined, seen.unset)]);
        self.formula.clause(&[!switched, !undefined]);
        self.require_narrow(&[], value);
        let read = Seen {
            stamp: Unary::mux(&mut self.graph, switched, &stamp, &seen.stamp),
            value: value.clone(),
            unset: self.graph.and(seen.unset, !switched),
            dirty: self.graph.and(seen.dirty, !switched),
            own: Lit::FALSE,
        };
        state.replace(&mut self.graph, cells, done, &read);
        state.time = self.later(&state.time, &reads);
        let wrote = self.writes_too(id);
        self.records[id.0 as usize].learnt = self.learn(id, done, cells, wrote, state);
        self.records[id.0 as usize].seen = Some(read);
        self.charge(id, switched);
        self.records[id.0 as usize].reads = reads;
    }

    /// A value that is read has few bits, if that is asked for, or one of the literals holds.
    pub fn require_narrow(&mut self, unless: &[Lit], value: &Word) {
        for bit in self.narrow.into_iter().flat_map(|narrow| high_bits(value, narrow)).collect::<Vec<_>>() {
            self.formula.clause(&[unless, &[!bit]].concat());
        }
    }

    /// Where the literal holds there is a message with this value.
    pub fn note_large(&mut self, message: Lit, value: &Word) {
        let narrow = self.narrow.filter(|_| self.keeps(Rule::LargeIsWrong));
        let high = narrow.map_or(Vec::new(), |narrow| high_bits(value, narrow));
        let high = self.graph.or_all(&high);
        let large = self.graph.and(message, high);
        self.large.push(large);
    }

    /// The time after one of the slots.
    pub fn later(&mut self, time: &Unary, slots: &[Lit]) -> Unary {
        let from = |n: usize| slots[n - 1..].to_vec();
        let lits = (1..=self.slots.count()).map(|n| {
            let mut any = from(n);
            any.push(time.at_least(n));
            self.graph.or_all(&any)
        });
        Unary::new(lits.collect())
    }

    /// A view switch counts, unless it comes after something went wrong in its thread.
    fn charge(&mut self, id: EventId, switched: Lit) {
        let (thread, index) = (self.unrolled.events[id.0 as usize].thread, self.index(id));
        let before = |fault: &&crate::symbolic::Fault| fault.thread == thread && fault.events_before <= index;
        let faults: Vec<Lit> = self.unrolled.faults.iter().filter(before).map(|fault| fault.guard).collect();
        let failed = self.graph.or_all(&faults);
        let counts = self.graph.and(switched, !failed);
        self.switches.push(counts);
    }

    /// A write: with a timestamp, in a slot if somebody reads it, or right behind the last one.
    fn write(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        value: &Word,
        rmw: Option<EventId>,
        state: &mut State,
    ) {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let releases = self.orders(id).releases;
        if releases && self.keeps(Rule::ReleaseFulfilsNothing) {
            self.no_promise_of(id, done, cells);
        }
        let published = releases && self.tables.is_some();
        if published {
            // What it publishes has timestamps. Both halves of a read-modify-write are one step.
            let index = self.index(rmw.unwrap_or(id));
            *state = self.settle(thread, index, state.clone());
        }
        let seen = state.select(&mut self.graph, cells);
        let most = seen.stamp.most();
        let learnt = rmw.and_then(|read| self.records[read.0 as usize].learnt.clone());
        let publishes = self.publishes(id, cells, learnt.as_deref(), state);
        let known = self.known_stamps[id.0 as usize];
        let stamp = match (rmw, known) {
            // It touches what was read: there is no timestamp between.
            (Some(_), _) if self.keeps(Rule::UpdateTouches) => seen.stamp.plus_one(),
            (_, Some(n)) => Unary::new((1..=most).map(|least| Lit::constant(least <= n)).collect()),
            _ => Unary::input(&mut self.graph, &mut self.formula, most),
        };
        let fills = self.fill_slots(id, done, cells, value, &stamp, &state.time);
        let fulfils = match releases && self.keeps(Rule::ReleaseFulfilsNothing) {
            true => Vec::new(),
            false => self.fulfil_promises(id, done, cells, value, &stamp),
        };
        let mut ways: Vec<Lit> = fills.iter().chain(&fulfils).copied().collect();
        // A message has one slot; the solver would try others.
        at_most_one(&mut self.graph, &mut self.formula, &ways);
        let placed = match rmw {
            Some(_) => {
                self.formula.clause(&[!done, !seen.dirty]);
                self.formula.clause(&[!done, !seen.stamp.at_least(most)]);
                done
            }
            None if known.is_some() => done,
            None => {
                if published || cells.iter().any(|(cell, _)| self.updated[*cell]) {
                    let silent = self.graph.input();
                    self.formula.clause(&[!silent, done]);
                    ways.push(silent);
                }
                self.graph.or_all(&ways)
            }
        };
        if published {
            self.formula.clause(&[!done, placed]);
        }
        self.enter(placed, cells, &stamp, value, publishes.as_deref());
        self.note_large(done, value);
        Unary::require_greater(&mut self.formula, placed, &stamp, &seen.stamp);
        self.take(placed, thread.0, cells, &stamp);
        let written = Seen {
            stamp: if known.is_some() {
                stamp
            } else {
                Unary::mux(&mut self.graph, placed, &stamp, &seen.stamp)
            },
            value: value.clone(),
            unset: Lit::FALSE,
            dirty: if known.is_some() { Lit::FALSE } else { !placed },
            own: Lit::FALSE,
        };
        state.replace(&mut self.graph, cells, done, &written);
        self.note_written(id, done, cells, state);
        state.time = self.later(&state.time, &fills);
        let record = &mut self.records[id.0 as usize];
        (record.seen, record.fills, record.fulfils, record.placed) =
            (Some(written), fills, fulfils, Some(placed));
    }

    /// Where the read-modify-write of a read writes; true for an ordinary read.
    pub fn writes_too(&self, id: EventId) -> Lit {
        match self.unrolled.events.get(id.0 as usize + 1) {
            Some(Event { kind: EventKind::Write { rmw: Some(read), .. }, guard, .. }) if *read == id => {
                *guard
            }
            _ => Lit::TRUE,
        }
    }

    /// A thread that starts another one gives it what it sees, and nothing else.
    fn start_of_child(&mut self, state: &State) -> State {
        let mut child = State { known: self.nothing_known(), ..state.clone() };
        self.note_joined(&mut child);
        child
    }

    fn fill_slots(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        value: &Word,
        stamp: &Unary,
        time: &Unary,
    ) -> Vec<Lit> {
        let open = self.has_open(self.unrolled.events[id.0 as usize].thread, id);
        let mut fills = Vec::new();
        for number in 1..=self.slots.count() {
            let into = self.graph.input();
            self.formula.clause(&[!into, done]);
            if self.keeps(Rule::SlotAfterTime) {
                self.formula.clause(&[!into, !time.at_least(number)]);
            }
            // It could fill the next one as well, so this only leaves less to try.
            self.formula.clause(&[!into, !open, time.at_least(number - 1)]);
            self.slots.require_cell(&mut self.formula, into, number, cells);
            let slot = self.slots.get(number);
            Unary::require_equal(&mut self.formula, into, stamp, &slot.stamp);
            self.formula.equal_if(into, &value.pairs(&slot.value));
            self.slots.fill(&mut self.graph, &mut self.formula, number, into);
            fills.push(into);
        }
        fills
    }

    /// Gives timestamps to messages that have none, where views are compared.
    fn settle(&mut self, thread: InstanceId, before: u32, mut state: State) -> State {
        for cell in 0..state.cells.len() {
            let seen = state.cells[cell].clone();
            if seen.dirty == Lit::FALSE {
                continue;
            }
            let stamp = Unary::input(&mut self.graph, &mut self.formula, self.sizes.stamps[cell]);
            // Where the thread does not come here, nothing is asked of it.
            let dirty = self.graph.and(seen.dirty, self.comes_here(thread, before));
            Unary::require_greater(&mut self.formula, dirty, &stamp, &seen.stamp);
            self.take(dirty, thread.0, &[(cell, Lit::TRUE)], &stamp);
            let publishes = state.known.as_ref().map(|known| known.released[cell].clone());
            self.enter(dirty, &[(cell, Lit::TRUE)], &stamp, &seen.value, publishes.as_deref());
            self.settled.push(Settled { thread, before, cell, dirty, stamp: stamp.clone() });
            let stamp = Unary::mux(&mut self.graph, dirty, &stamp, &seen.stamp);
            Rc::make_mut(&mut state.cells)[cell] = Seen { stamp, dirty: Lit::FALSE, ..seen };
        }
        state
    }

    fn comes_here(&self, thread: InstanceId, before: u32) -> Lit {
        let instance = &self.unrolled.threads[thread.0 as usize];
        match before < instance.events.len() as u32 {
            true => self.records[(instance.events.start + before) as usize].done.unwrap_or(Lit::TRUE),
            false => instance.ended,
        }
    }

    fn finish(mut self, bounds: &Bounds) -> (Encoding, Graph) {
        self.slots.finish(&mut self.formula);
        self.fences.finish(&mut self.graph, &mut self.formula);
        let graph = &mut self.graph;
        let count = |graph: &mut Graph, lits: &[Lit], most: usize| {
            lits.iter().fold(Unary::zero(most), |sum, &lit| sum.count(graph, lit))
        };
        let made: Vec<Lit> = self.promises.iter().map(Promise::made).collect();
        let most = bounds.total + 1;
        let views = count(graph, &self.switches, most);
        let promises = count(graph, &made, most);
        let total = made.iter().fold(views.clone(), |sum, &lit| sum.count(graph, lit));
        let last = |thread: &ThreadInstance| thread.events.clone().last();
        let lasts = self.unrolled.threads.iter().filter_map(last);
        let all: Vec<Lit> = lasts.map(|event| self.alive[event as usize]).collect();
        let complete = graph.and_all(&all);
        let large = graph.or_all(&self.large);
        let cells =
            (0u32..).zip(&self.places).filter(|(_, place)| place.is_some()).map(|(cell, _)| CellId(cell));
        let encoding = Encoding {
            formula: self.formula,
            cells: cells.collect(),
            slots: self.slots,
            records: self.records,
            settled: self.settled,
            fences: self.fences,
            promised: self.promises,
            stands: self.stands,
            updated: self.updated,
            exact: bounds.promises == 0 || self.tables.is_none() && self.standard.is_none(),
            views,
            promises,
            total,
            alive: self.alive,
            complete,
            large,
            ends: self.ends,
        };
        (encoding, self.graph)
    }
}

impl Encoding {
    /// The last value of a cell when all threads have ended.
    pub fn last_value(&self, unrolled: &mut Unrolled, cell: CellId) -> Word {
        let info = &unrolled.cells[cell.0 as usize];
        let initial = info.initial.clone().unwrap_or_else(|| Word::constant(Value::ZERO));
        let Some(place) = self.cells.iter().position(|shared| *shared == cell) else {
            return info.last.clone().unwrap_or(initial);
        };
        let graph = &mut unrolled.graph;
        let mut newest = Seen {
            stamp: Unary::zero(0),
            value: initial,
            unset: Lit::FALSE,
            dirty: Lit::FALSE,
            own: Lit::FALSE,
        };
        for (thread, end) in unrolled.threads.iter().zip(&self.ends) {
            if let (Some(end), None) = (end, thread.copy_of) {
                let joined = Seen::join(graph, &newest, &end.cells[place]);
                newest = Seen::mux(graph, thread.guard, &joined, &newest);
            }
        }
        newest.value
    }
}

/// True if no shared cell begins with a value of more bits.
fn starts_narrow(unrolled: &Unrolled, bits: u32) -> bool {
    let narrow = |word: &Word| high_bits(word, bits).into_iter().all(|bit| bit == Lit::FALSE);
    unrolled.cells.iter().filter(|cell| cell.shared).all(|cell| cell.initial.as_ref().is_none_or(narrow))
}

/// The bits of a word from that one on.
fn high_bits(word: &Word, from: u32) -> Vec<Lit> {
    let mut bits: Vec<Lit> = (from as usize..word.len()).map(|bit| word.bit(bit)).collect();
    bits.push(word.fill());
    bits
}

/// True if a thread accesses memory after it has joined another.
fn reads_after_join(unrolled: &Unrolled) -> bool {
    unrolled.threads.iter().any(|thread| {
        let events = &unrolled.events[thread.events.start as usize..thread.events.end as usize];
        let join = events.iter().position(|event| matches!(event.kind, EventKind::Join(_)));
        let accesses = |event: &Event| matches!(event.kind, EventKind::Read { .. } | EventKind::Write { .. });
        join.is_some_and(|join| events[join..].iter().any(accesses))
    })
}

/// For each event: its thread has not stopped before; true if threads have no reason to stop.
fn alive(
    unrolled: &Unrolled,
    graph: &mut Graph,
    formula: &mut Formula,
    (blocks, promises): (bool, bool),
    takes_part: &dyn Fn(&Event) -> bool,
) -> Vec<Lit> {
    let original = |event: &Event| unrolled.threads[event.thread.0 as usize].copy_of.is_none();
    let lit = |event: &Event| Lit::constant(takes_part(event) || !original(event));
    let mut alive: Vec<Lit> = unrolled.events.iter().map(lit).collect();
    // Read-modify-writes may find no room, and a run that has promises may end before they are fulfilled.
    let may_stop = |thread: &&ThreadInstance| thread.copy_of.is_none() && (blocks || promises);
    for thread in unrolled.threads.iter().filter(may_stop) {
        let mut before = Lit::TRUE;
        for number in thread.events.clone() {
            let event = &unrolled.events[number as usize];
            if !takes_part(event) {
                break;
            }
            // The halves of a read-modify-write are one step.
            let lit = match &event.kind {
                EventKind::Write { rmw: Some(read), .. } => alive[read.0 as usize],
                _ => graph.input(),
            };
            formula.clause(&[!lit, before]);
            alive[number as usize] = lit;
            before = lit;
        }
    }
    alive
}
