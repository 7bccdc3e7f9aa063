//! Promises of a thread: what is promised, when, and which write fulfils it.
//!
//! A promise has a slot, a message and a place, the number of events of the thread before it. While a thread has open promises
//! its *time* is exact: the
//! number of slots that are filled when it moves. Then it reads slots up to its time, fills the next one, and where it stands it
//! may *leave*: others
//! go on, and its time grows. Leaving is the context switch at which `[AAGKV, 4]` counts the view switches of a certification;
//! see [`super::ghosts`]. A
//! thread needs no other contexts: what it does between two slots of its own is done right after the first one or right before
//! the second one.

use super::encode::Encoder;
use super::slots::at_most_one;
use super::state::State;
use super::unary::Unary;
use super::{Rule, Unsupported};
use crate::aig::Lit;
use crate::symbolic::{Event, EventId, EventKind, FaultKind, InstanceId};
use crate::word::Word;

/// A promise, made or not.
#[derive(Clone, Debug)]
pub struct Promise {
    /// Whose.
    pub of: InstanceId,
    /// Its slot; 0 if it is not made.
    pub slot: Unary,
    /// For each event of the thread: it comes before the promise.
    pub before: Vec<Lit>,
    /// The cell, the value and the timestamp.
    pub cell: Vec<Lit>,
    /// See there.
    pub value: Word,
    /// See there.
    pub stamp: Unary,
    /// Events of the thread that may fulfil it, in order.
    pub fulfilled: Vec<(EventId, Lit)>,
    /// The thread leaves right after it, and the time when it comes back.
    pub leaves: Lit,
    /// See there.
    back: Unary,
}

impl Promise {
    /// It is made.
    pub fn made(&self) -> Lit {
        self.slot.at_least(1)
    }
}

/// Where a thread stands after a step, an access or both halves of a read-modify-write.
#[derive(Clone, Debug)]
pub struct Stand {
    /// Whose.
    pub of: InstanceId,
    /// The event, the last one of the step.
    pub event: EventId,
    /// It stands there with open promises.
    pub open: Lit,
    /// It leaves.
    pub leaves: Lit,
    /// The time before that.
    pub time: Unary,
}

impl Encoder<'_> {
    /// That many promises for each thread that may make some, each in a slot of its own.
    pub fn add_promises(&mut self, most: usize) -> Result<(), Unsupported> {
        for thread in (0..self.unrolled.threads.len() as u32).map(InstanceId) {
            if self.unrolled.threads[thread.0 as usize].copy_of.is_some() || !self.may_promise(thread)? {
                continue;
            }
            for _ in 0..most {
                self.add_promise(thread);
            }
        }
        Ok(())
    }

    fn add_promise(&mut self, of: InstanceId) {
        let slots = self.slots.count();
        let (graph, formula) = (&mut self.graph, &mut self.formula);
        let slot = Unary::input(graph, formula, slots);
        let back = Unary::input(graph, formula, slots);
        let leaves = graph.input();
        let made = slot.at_least(1);
        formula.clause(&[!leaves, made]);
        for n in 1..=slots {
            formula.clause(&[!slot.at_least(n), back.at_least(n)]);
            formula.clause(&[!back.at_least(n), slot.at_least(n), leaves]);
        }
        let mut before: Vec<Lit> = Vec::new();
        for number in self.unrolled.threads[of.0 as usize].events.clone() {
            let lit = match &self.unrolled.events[number as usize].kind {
                EventKind::Write { rmw: Some(_), .. } => *before.last().unwrap_or(&Lit::FALSE),
                _ => graph.input(),
            };
            formula.clause(&[!lit, made]);
            if let Some(&last) = before.last() {
                formula.clause(&[!lit, last]);
            }
            before.push(lit);
        }
        let stamps = self.sizes.stamps.iter().copied().max().unwrap_or(0);
        let stamp = Unary::input(graph, formula, stamps);
        let value = Word::input(graph, self.sizes.value.0, self.sizes.value.1);
        let cell: Vec<Lit> = self.sizes.stamps.iter().map(|_| graph.input()).collect();
        at_most_one(graph, formula, &cell);
        if let Some(earlier) = self.promises.iter().rev().find(|promise| promise.of == of) {
            // In the order in which they are made.
            formula.clause(&[!made, earlier.made()]);
            Unary::require_greater(formula, made, &slot, &earlier.back);
            for (&a, &b) in earlier.before.iter().zip(&before) {
                formula.clause(&[!made, !a, b]);
            }
        }
        for number in 1..=slots {
            let here = slot.is(&mut self.graph, number);
            self.slots.fill(&mut self.graph, &mut self.formula, number, here);
            self.slots.read(number, here);
            let filled = self.slots.get(number);
            for (&a, &b) in cell.iter().zip(&filled.cell) {
                self.formula.equal_if(here, &[(a, b)]);
            }
            Unary::require_equal(&mut self.formula, here, &stamp, &filled.stamp);
            self.formula.equal_if(here, &value.pairs(&filled.value));
        }
        for (number, &is) in cell.iter().enumerate() {
            let here = self.graph.and(made, is);
            self.take(here, of.0, &[(number, Lit::TRUE)], &stamp);
            self.enter(here, &[(number, Lit::TRUE)], &stamp, &value, None);
        }
        self.note_large(made, &value);
        self.promises.push(Promise {
            of,
            slot,
            before,
            cell,
            value,
            stamp,
            fulfilled: Vec::new(),
            leaves,
            back,
        });
    }

    /// Whether a thread has anything to promise. One that starts others is not followed while it certifies.
    fn may_promise(&self, thread: InstanceId) -> Result<bool, Unsupported> {
        let events = self.unrolled.threads[thread.0 as usize].events.clone();
        let events = &self.unrolled.events[events.start as usize..events.end as usize];
        let writes = |event: &&Event| matches!(event.kind, EventKind::Write { .. });
        let Some(spawn) = events.iter().position(|event| matches!(event.kind, EventKind::Spawn(_))) else {
            return Ok(events.iter().any(|event| writes(&event)));
        };
        let last = events.iter().rposition(|e| matches!(e.kind, EventKind::Spawn(_) | EventKind::Join(_)));
        let last = last.unwrap_or(spawn);
        let count =
            |wanted: fn(&EventKind) -> bool| events.iter().filter(|event| wanted(&event.kind)).count();
        let joins_all = count(|kind| matches!(kind, EventKind::Join(_)))
            >= count(|kind| matches!(kind, EventKind::Spawn(_)));
        let between = events[spawn..=last].iter().find(writes);
        let after = events[last..].iter().find(writes).filter(|_| !joins_all);
        match between.or(after) {
            Some(event) => {
                Err(Unsupported { what: "a promise of a thread that starts others".into(), span: event.span })
            }
            // Before it starts others and after it has joined them it is alone.
            None => Ok(false),
        }
    }

    /// The promises of a thread.
    pub fn promises_of(&self, thread: InstanceId) -> Vec<usize> {
        (0..self.promises.len()).filter(|&number| self.promises[number].of == thread).collect()
    }

    /// The promise is made, and not fulfilled by an event of the thread before that one.
    pub fn unfulfilled(&mut self, promise: usize, until: EventId) -> Lit {
        let promise = &self.promises[promise];
        let earlier: Vec<Lit> =
            promise.fulfilled.iter().filter(|(event, _)| *event < until).map(|(_, lit)| *lit).collect();
        let fulfilled = self.graph.or_all(&earlier);
        self.graph.and(promise.made(), !fulfilled)
    }

    /// The thread has a promise in front of that event, made before it and not fulfilled.
    pub fn has_open(&mut self, thread: InstanceId, id: EventId) -> Lit {
        let index = self.index(id) as usize;
        let mut open = Vec::new();
        for promise in self.promises_of(thread) {
            let unfulfilled = self.unfulfilled(promise, id);
            open.push(self.graph.and(unfulfilled, !self.promises[promise].before[index]));
        }
        self.graph.or_all(&open)
    }

    /// In front of an event: promises that are made here come after what the thread did, and their time passes.
    pub fn note_promises(&mut self, thread: InstanceId, id: EventId, state: &mut State) {
        let index = self.index(id) as usize;
        for promise in self.promises_of(thread) {
            let before = self.promises[promise].before[index];
            let back = self.promises[promise].back.only_if(&mut self.graph, !before);
            state.time = Unary::max(&mut self.graph, &state.time, &back);
        }
    }

    /// The promises that a write may fulfil; those of the thread in order.
    pub fn fulfil_promises(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        value: &Word,
        stamp: &Unary,
    ) -> Vec<Lit> {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let index = self.index(id) as usize;
        let mut fulfils = Vec::new();
        for number in self.promises_of(thread) {
            let this = self.graph.input();
            let promise = &self.promises[number];
            for needed in [done, promise.made(), !promise.before[index]] {
                self.formula.clause(&[!this, needed]);
            }
            for &(_, other) in &promise.fulfilled {
                self.formula.clause(&[!this, !other]);
            }
            require_cell(&mut self.formula, this, &promise.cell, cells);
            Unary::require_equal(&mut self.formula, this, stamp, &promise.stamp);
            if self.without != Some(Rule::FulfilsValue) {
                self.formula.equal_if(this, &value.pairs(&promise.value));
            }
            self.promises[number].fulfilled.push((id, this));
            fulfils.push(this);
        }
        fulfils
    }

    /// A promise is fulfilled in front of a fence, or made behind it.
    pub fn no_open_promise(&mut self, id: EventId, done: Lit) {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let open = self.has_open(thread, id);
        self.formula.clause(&[!done, !open]);
    }

    /// A releasing write waits for the promises of its thread on the same cell.
    pub fn no_promise_of(&mut self, id: EventId, done: Lit, cells: &[(usize, Lit)]) {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let index = self.index(id) as usize;
        for number in self.promises_of(thread) {
            let unfulfilled = self.unfulfilled(number, id);
            let promise = &self.promises[number];
            for &(cell, chosen) in cells {
                let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
                let clause = [!done, !chosen, !unfulfilled, promise.before[index], !promise.cell[cell]];
                self.formula.clause(&clause);
            }
        }
    }

    /// After a step of a thread that may promise: it stands there, and may leave if it has open promises. For a read-modify-write
    /// `done` is that of
    /// its read.
    pub fn stand(&mut self, id: EventId, done: Lit, state: &mut State) {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let mut open = Vec::new();
        for promise in self.promises_of(thread) {
            let unfulfilled = self.unfulfilled(promise, EventId(id.0 + 1));
            let before = self.promises[promise].before[self.index(id) as usize];
            open.push(self.graph.and(unfulfilled, !before));
        }
        let open = self.graph.or_all(&open);
        let open = self.graph.and(open, done);
        let time = state.time.clone();
        let leaves = self.graph.input();
        self.formula.clause(&[!leaves, open]);
        let back = Unary::input(&mut self.graph, &mut self.formula, self.slots.count());
        for n in 1..=self.slots.count() {
            self.formula.clause(&[!time.at_least(n), back.at_least(n)]);
            self.formula.clause(&[!back.at_least(n), time.at_least(n), leaves]);
        }
        state.time = back;
        self.stands.push(Stand { of: thread, event: id, open, leaves, time });
    }

    /// What promises ask of the run as a whole, when all events are there.
    pub fn finish_promises(&mut self) {
        for number in 0..self.promises.len() {
            self.place_promise(number);
        }
        if self.keeps(Rule::LeavesAtLast) {
            self.leave_at_last();
        }
        for thread in (0..self.unrolled.threads.len() as u32).map(InstanceId) {
            // A run that comes to a large value ends there.
            let goes_on = !self.updated.contains(&true) && self.narrow.is_none();
            if goes_on && !self.promises_of(thread).is_empty() {
                self.stop_with_promises(thread);
            }
        }
    }

    /// Without read-modify-writes a thread that has no open promise can always go on, or waits for one that it joins. That it
    /// need not stop
    /// leaves the solver less to try.
    fn stop_with_promises(&mut self, thread: InstanceId) {
        let mut before = Lit::TRUE;
        for event in self.unrolled.threads[thread.0 as usize].events.clone() {
            let open = self.has_open(thread, EventId(event));
            let alive = self.alive[event as usize];
            if !matches!(self.unrolled.events[event as usize].kind, EventKind::Join(_)) {
                self.formula.clause(&[!before, alive, open]);
            }
            before = alive;
        }
    }

    /// A promise is made right after a step that is done, or first of all; after the slots that the thread knows, and in the next
    /// one if it has
    /// open promises, because otherwise it has left before.
    ///
    /// If it is the only open one, the thread leaves, or makes another at the same place. Else it could do its next step first,
    /// for which nothing has to be
    /// certified then; it would spend the same, and there is less to try.
    fn place_promise(&mut self, number: usize) {
        let promise = self.promises[number].clone();
        let first = self.unrolled.threads[promise.of.0 as usize].events.start;
        let earlier: Vec<usize> =
            self.promises_of(promise.of).into_iter().filter(|&other| other < number).collect();
        let mut last = promise.made();
        for index in 0..=promise.before.len() {
            let next = promise.before.get(index).copied().unwrap_or(Lit::FALSE);
            let here = self.graph.and(last, !next);
            last = next;
            if here == Lit::FALSE {
                continue;
            }
            let event = EventId(first + index as u32);
            let mut open = Vec::new();
            for &other in &earlier {
                open.push(self.unfulfilled(other, event));
            }
            let open = self.graph.or_all(&open);
            let next = self.promises.get(number + 1).filter(|next| next.of == promise.of);
            let another = next.map_or(Lit::FALSE, |next| {
                let before = index.checked_sub(1).map_or(next.made(), |last| next.before[last]);
                let after = next.before.get(index).copied().unwrap_or(Lit::FALSE);
                self.graph.and(before, !after)
            });
            self.formula.clause(&[!here, open, promise.leaves, another]);
            let time = match index.checked_sub(1) {
                None => self.start_time(promise.of),
                Some(before) => {
                    let before = first as usize + before;
                    self.formula.clause(&[!here, self.stepped(EventId(before as u32))]);
                    self.after[before].as_ref().map(|state| state.time.clone())
                }
            };
            let time = time.unwrap_or_else(|| Unary::zero(0));
            if self.keeps(Rule::PromiseAfterTime) {
                Unary::require_greater(&mut self.formula, here, &promise.slot, &time);
            }
            let back = earlier.last().map(|&other| self.promises[other].back.clone());
            for n in 1..=if self.keeps(Rule::PromiseInNextSlot) { self.slots.count() } else { 0 } {
                let known = back.as_ref().map_or(Lit::FALSE, |back| back.at_least(n));
                self.formula.clause(&[!here, !open, !promise.slot.at_least(n + 1), time.at_least(n), known]);
            }
        }
    }

    /// The event is done; of a read-modify-write, its read.
    fn stepped(&self, id: EventId) -> Lit {
        let event = match &self.unrolled.events[id.0 as usize].kind {
            EventKind::Write { rmw: Some(read), .. } => *read,
            _ => id,
        };
        self.records[event.0 as usize].done.unwrap_or(Lit::FALSE)
    }

    /// Who stops with open promises has left, because others go on; unless something went wrong in it, with which the run ends.
    fn leave_at_last(&mut self) {
        let threads = (0..self.unrolled.threads.len() as u32).map(InstanceId);
        let failed: Vec<Vec<Lit>> = threads.map(|thread| self.failed(thread)).collect();
        for stand in self.stands.clone() {
            let index = self.index(stand.event) as usize;
            let mut clause = vec![!stand.open, stand.leaves];
            clause.extend(&failed[stand.of.0 as usize]);
            let events = self.unrolled.threads[stand.of.0 as usize].events.clone();
            clause.extend((stand.event.0 + 1..events.end).map(|event| self.done(event)));
            let later = self.promises.iter().filter(|promise| promise.of == stand.of);
            clause.extend(later.map(|promise| promise.before[index]));
            self.formula.clause(&clause);
        }
        for number in 0..self.promises.len() {
            let promise = self.promises[number].clone();
            let mut clause = vec![!promise.made(), promise.leaves];
            clause.extend(&failed[promise.of.0 as usize]);
            let events = self.unrolled.threads[promise.of.0 as usize].events.clone();
            for (&before, event) in promise.before.iter().zip(events) {
                clause.push(self.graph.and(self.done(event), !before));
            }
            let next = self.promises.get(number + 1).filter(|next| next.of == promise.of);
            clause.extend(next.map(Promise::made));
            self.formula.clause(&clause);
        }
    }

    /// Where something goes wrong in a thread.
    pub fn failed(&mut self, thread: InstanceId) -> Vec<Lit> {
        let first = self.unrolled.threads[thread.0 as usize].events.start;
        let mut failed = Vec::new();
        for fault in self.unrolled.faults.iter().filter(|fault| fault.thread == thread) {
            if !matches!(fault.kind, FaultKind::Limit(_)) {
                let before =
                    fault.events_before.checked_sub(1).map(|last| self.alive[(first + last) as usize]);
                failed.push(self.graph.and(fault.guard, before.unwrap_or(Lit::TRUE)));
            }
        }
        failed
    }

    fn done(&self, event: u32) -> Lit {
        self.records[event as usize].done.unwrap_or(Lit::FALSE)
    }
}

/// The cell of a promise is one of these.
pub(super) fn require_cell(
    formula: &mut crate::formula::Formula,
    condition: Lit,
    promised: &[Lit],
    cells: &[(usize, Lit)],
) {
    for &(cell, chosen) in cells {
        match cells.len() {
            1 => formula.clause(&[!condition, promised[cell]]),
            _ => formula.clause(&[!condition, !chosen, promised[cell]]),
        }
    }
}
