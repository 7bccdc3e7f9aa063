//! Promises: a copy of a thread, the *ghost*, that goes the thread's own way up to some place and from there on alone, until it has
//! fulfilled what the thread promised.
//!
//! A ghost has a slot, the promise, and a place: the number of events before it. Up to that place it reads and writes what the thread does. From
//! there it reads slots that were there before its own, writes behind all messages, below an own promise, or fulfils one. It ends at
//! SC fences. This is looser than the machine in three ways, and each run is confirmed there: nothing is certified between the promise and its
//! fulfilment, only the switches of one certification are charged, and read-modify-writes need not touch what they read while certifying.

use super::Unsupported;
use super::encode::{Encoder, is_fence};
use super::slots::at_most_one;
use super::state::{Seen, State};
use super::unary::Unary;
use crate::aig::Lit;
use crate::symbolic::{EventId, EventKind, InstanceId};
use crate::word::Word;
use fencepost_ir::Span;

/// A copy of a thread that certifies one promise.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// The copy.
    pub copy: InstanceId,
    /// The thread.
    pub of: InstanceId,
    /// The slot of the promise; 0 if there is none.
    pub slot: Unary,
    /// For each event of the thread: it comes before the promise.
    pub before: Vec<Lit>,
    /// The thread does nothing after the promise.
    pub stays: Lit,
    /// For each slot, what fulfils it in the copy.
    certified: Vec<Vec<Lit>>,
    /// Those of them that are read-modify-writes: the promise touches the message before it.
    pub touching: Vec<Vec<Lit>>,
}

impl Encoder<'_> {
    /// A ghost for each copy of a thread.
    pub fn add_ghosts(&mut self) -> Result<(), Unsupported> {
        for (copy, thread) in (0u32..).map(InstanceId).zip(&self.unrolled.threads) {
            let Some(of) = thread.copy_of else { continue };
            if !self.may_promise(of)? {
                continue;
            }
            let events = thread.events.clone();
            let original = self.unrolled.threads[of.0 as usize].events.clone();
            let same = |(a, b): (u32, u32)| {
                let (a, b) = (&self.unrolled.events[a as usize], &self.unrolled.events[b as usize]);
                (a.function, a.pc) == (b.function, b.pc)
            };
            if events.len() != original.len() || !events.clone().zip(original).all(same) {
                let what = "a thread that is not unrolled twice in the same way".into();
                return Err(Unsupported { what, span: Span::default() });
            }
            let slot = Unary::input(&mut self.graph, &mut self.formula, self.slots.count());
            let mut before = Vec::new();
            for number in events {
                let lit = match &self.unrolled.events[number as usize].kind {
                    EventKind::Write { rmw: Some(_), .. } => *before.last().unwrap_or(&Lit::FALSE),
                    _ => self.graph.input(),
                };
                self.formula.clause(&[!lit, slot.at_least(1)]);
                if let Some(&last) = before.last() {
                    self.formula.clause(&[!lit, last]);
                }
                before.push(lit);
            }
            let stays = self.graph.input();
            self.formula.clause(&[!stays, slot.at_least(1)]);
            if let Some(earlier) = self.ghosts.iter().rev().find(|ghost| ghost.of == of) {
                // The ghosts of a thread in the order of their promises.
                let active = slot.at_least(1);
                Unary::require_greater(&mut self.formula, active, &slot, &earlier.slot);
                self.formula.clause(&[!active, earlier.slot.at_least(1)]);
                for (&a, &b) in earlier.before.iter().zip(&before) {
                    self.formula.clause(&[!active, !a, b]);
                }
            }
            // A thread that stays where it promised does nothing any more.
            for (event, &before) in self.unrolled.threads[of.0 as usize].events.clone().zip(&before) {
                let goes_on = self.graph.or(before, !stays);
                let alive = &mut self.alive[event as usize];
                *alive = self.graph.and(*alive, goes_on);
            }
            let certified = vec![Vec::new(); self.slots.count()];
            let touching = certified.clone();
            self.ghosts.push(Ghost { copy, of, slot, before, stays, certified, touching });
        }
        for number in 1..=self.slots.count() {
            for ghost in 0..self.ghosts.len() {
                let picks = self.picks(ghost, number);
                self.slots.fill(&mut self.graph, &mut self.formula, number, picks);
                let cells: Vec<(usize, Lit)> =
                    self.slots.get(number).cell.iter().copied().enumerate().collect();
                let stamp = self.slots.get(number).stamp.clone();
                for (cell, is) in cells {
                    let here = self.graph.and(picks, is);
                    let of = self.ghosts[ghost].of.0;
                    self.slots.take(&mut self.formula, here, of, &[(cell, Lit::TRUE)], &stamp);
                }
            }
        }
        Ok(())
    }

    /// Whether a thread has anything to promise. One that starts others is not followed while it certifies.
    fn may_promise(&self, thread: InstanceId) -> Result<bool, Unsupported> {
        let events = self.unrolled.threads[thread.0 as usize].events.clone();
        let events = &self.unrolled.events[events.start as usize..events.end as usize];
        let writes = |event: &&crate::symbolic::Event| matches!(event.kind, EventKind::Write { .. });
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

    /// The ghost's promise is that slot.
    fn picks(&mut self, ghost: usize, slot: usize) -> Lit {
        self.ghosts[ghost].slot.is(&mut self.graph, slot)
    }

    fn ghosts_of(&self, thread: InstanceId) -> Vec<usize> {
        (0..self.ghosts.len()).filter(|&ghost| self.ghosts[ghost].of == thread).collect()
    }

    /// What a thread does after a promise comes after it.
    pub fn note_promises(&mut self, thread: InstanceId, id: EventId, state: &mut State) {
        let index = self.index(id) as usize;
        for ghost in self.ghosts_of(thread) {
            let before = self.ghosts[ghost].before[index];
            let slot = self.ghosts[ghost].slot.only_if(&mut self.graph, !before);
            state.time = Unary::max(&mut self.graph, &state.time, &slot);
        }
    }

    /// The promises that a write may fulfil.
    pub fn fulfil_promises(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        value: &Word,
        stamp: &Unary,
    ) -> Vec<Lit> {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let ghosts = self.ghosts_of(thread);
        let index = self.index(id) as usize;
        if ghosts.is_empty() {
            return Vec::new();
        }
        let mut fulfils = Vec::new();
        for number in 1..=self.slots.count() {
            let this = self.graph.input();
            self.formula.clause(&[!this, done]);
            let mut promised = vec![!this];
            for &ghost in &ghosts {
                let picks = self.picks(ghost, number);
                promised.push(picks);
                self.formula.clause(&[!this, !picks, !self.ghosts[ghost].before[index]]);
            }
            self.formula.clause(&promised);
            self.slots.require_cell(&mut self.formula, this, number, cells);
            let slot = self.slots.get(number);
            Unary::require_equal(&mut self.formula, this, stamp, &slot.stamp);
            self.formula.equal_if(this, &value.pairs(&slot.value));
            fulfils.push(this);
        }
        fulfils
    }

    /// A promise is fulfilled in front of a fence, or made behind it.
    pub fn no_open_promise(&mut self, id: EventId, done: Lit) {
        let thread = self.unrolled.events[id.0 as usize].thread;
        let (first, index) = (self.unrolled.threads[thread.0 as usize].events.start, self.index(id) as usize);
        for ghost in self.ghosts_of(thread) {
            let before = self.ghosts[ghost].before[index];
            for number in 1..=self.slots.count() {
                let picks = self.picks(ghost, number);
                let mut clause = vec![!done, before, !picks];
                let earlier = (first..id.0).filter_map(|e| self.records[e as usize].fulfils.get(number - 1));
                clause.extend(earlier);
                self.formula.clause(&clause);
            }
        }
    }

    /// Runs a ghost.
    pub fn certify(&mut self, ghost: usize) {
        let (copy, of) = (self.ghosts[ghost].copy, self.ghosts[ghost].of);
        let events = self.unrolled.threads[copy.0 as usize].events.clone();
        let first = self.unrolled.threads[of.0 as usize].events.start;
        for (index, number) in events.enumerate() {
            let main = EventId(first + index as u32);
            self.ghost_event(ghost, EventId(number), main, index);
            // What comes before the promise happens before it.
            let time = self.records[main.0 as usize].time.clone();
            let done = self.records[main.0 as usize].done.unwrap_or(Lit::TRUE);
            let before = self.ghosts[ghost].before[index];
            // The thread has come to the place where it promises.
            self.formula.clause(&[!before, self.alive[main.0 as usize]]);
            for slot in 1..=self.slots.count() {
                let picks = self.picks(ghost, slot);
                let late = time.as_ref().map_or(Lit::FALSE, |time| time.at_least(slot));
                self.formula.clause(&[!picks, !before, !done, !late]);
            }
        }
        self.same_choices(ghost);
    }

    /// Up to the promise, both choose the same values.
    fn same_choices(&mut self, ghost: usize) {
        let (copy, of) = (self.ghosts[ghost].copy, self.ghosts[ghost].of);
        let steps = |id: InstanceId| &self.unrolled.threads[id.0 as usize].steps;
        for (a, b) in steps(copy).iter().zip(steps(of)) {
            let Some(&before) = self.ghosts[ghost].before.get(a.events_before as usize) else { continue };
            if let (Some(x), Some(y)) = (&a.choice, &b.choice) {
                self.formula.equal_if(before, &x.pairs(y));
            }
            self.formula.equal_if(before, &[(a.spurious, b.spurious)]);
        }
    }

    fn ghost_event(&mut self, ghost: usize, id: EventId, main: EventId, index: usize) {
        let unrolled = self.unrolled;
        let event = &unrolled.events[id.0 as usize];
        let mut state = self.state_at(event.thread, event.before);
        let before = self.ghosts[ghost].before[index];
        match &event.kind {
            EventKind::Read { access, value, undefined } => {
                if let EventKind::Read { value: same, undefined: likewise, .. } =
                    &unrolled.events[main.0 as usize].kind
                {
                    self.formula.equal_if(before, &value.pairs(same));
                    self.formula.equal_if(before, &[(*undefined, *likewise)]);
                }
                let cells = self.cells_of(&access.cells);
                self.ghost_read(ghost, (event.guard, before), main, &cells, (value, *undefined), &mut state);
            }
            EventKind::Write { access, value, rmw, .. } => {
                let cells = self.cells_of(&access.cells);
                self.ghost_write(
                    ghost,
                    (event.guard, before),
                    main,
                    &cells,
                    (value, rmw.is_some()),
                    &mut state,
                );
            }
            EventKind::Fence(_) if is_fence(event) => {
                if let Some(after) = self.after[main.0 as usize].clone() {
                    let stopped = self.graph.or(state.stopped, event.guard);
                    let here = self.graph.and(before, event.guard);
                    let beyond = State { stopped, ..state.clone() };
                    state =
                        State::mux(&mut self.graph, here, &State { stopped: Lit::FALSE, ..after }, &beyond);
                }
            }
            _ => {}
        }
        self.after[id.0 as usize] = Some(state);
    }

    fn ghost_read(
        &mut self,
        ghost: usize,
        (guard, before): (Lit, Lit),
        main: EventId,
        cells: &[(usize, Lit)],
        (value, undefined): (&Word, Lit),
        state: &mut State,
    ) {
        let seen = state.select(&mut self.graph, cells);
        let alone = self.graph.and(guard, !before);
        let stamp = Unary::input(&mut self.graph, &mut self.formula, seen.stamp.most());
        let mut reads = Vec::new();
        for number in 1..self.slots.count() {
            let from = self.graph.input();
            self.formula.clause(&[!from, alone]);
            // It was there before the promise.
            self.formula.clause(&[!from, self.ghosts[ghost].slot.at_least(number + 1)]);
            self.slots.require_cell(&mut self.formula, from, number, cells);
            let slot = self.slots.get(number);
            Unary::require_equal(&mut self.formula, from, &stamp, &slot.stamp);
            self.formula.equal_if(from, &value.pairs(&slot.value));
            self.slots.read(number, from);
            reads.push(from);
        }
        at_most_one(&mut self.graph, &mut self.formula, &reads);
        let switched = self.graph.or_all(&reads);
        Unary::require_greater(&mut self.formula, switched, &stamp, &seen.stamp);
        let local = self.graph.and(alone, !switched);
        self.formula.equal_if(local, &value.pairs(&seen.value));
        self.formula.equal_if(local, &[(undefined, seen.unset)]);
        self.formula.clause(&[!switched, !undefined]);
        self.switches.push(switched);
        let own = Seen {
            stamp: Unary::mux(&mut self.graph, switched, &stamp, &seen.stamp),
            value: value.clone(),
            unset: self.graph.and(seen.unset, !switched),
            dirty: Lit::FALSE,
        };
        self.put(before, main, cells, guard, own, state);
    }

    /// The view after an access: the thread's own up to the promise.
    fn put(
        &mut self,
        before: Lit,
        main: EventId,
        cells: &[(usize, Lit)],
        guard: Lit,
        own: Seen,
        state: &mut State,
    ) {
        let read = match &self.records[main.0 as usize].seen {
            Some(seen) => {
                let stamp = Unary::mux(&mut self.graph, before, &seen.stamp, &own.stamp);
                let unset = self.graph.mux(before, seen.unset, own.unset);
                Seen { stamp, unset, ..own }
            }
            None => own,
        };
        state.replace(&mut self.graph, cells, guard, &read);
    }

    fn ghost_write(
        &mut self,
        ghost: usize,
        (guard, before): (Lit, Lit),
        main: EventId,
        cells: &[(usize, Lit)],
        (value, update): (&Word, bool),
        state: &mut State,
    ) {
        let seen = state.select(&mut self.graph, cells);
        let alone = self.graph.and(guard, !before);
        let most = seen.stamp.most();
        let siblings = self.ghosts_of(self.ghosts[ghost].of);
        let mut used = Vec::new();
        // Behind all messages, unless a promise is used.
        let mut stamp = Unary::new(vec![Lit::TRUE; most]);
        for number in 1..=self.slots.count() {
            let mut promised = Vec::new();
            for &sibling in &siblings {
                promised.push(self.picks(sibling, number));
            }
            let promised = self.graph.or_all(&promised);
            for fulfils in [true, false] {
                let this = self.graph.input();
                let known = self.ghosts[ghost].slot.at_least(number);
                for needed in [alone, promised, known, !state.stopped] {
                    self.formula.clause(&[!this, needed]);
                }
                self.slots.require_cell(&mut self.formula, this, number, cells);
                let slot = self.slots.get(number);
                Unary::require_greater(&mut self.formula, this, &slot.stamp, &seen.stamp);
                let place = match fulfils {
                    true => {
                        self.formula.equal_if(this, &value.pairs(&slot.value));
                        self.ghosts[ghost].certified[number - 1].push(this);
                        if update {
                            self.ghosts[ghost].touching[number - 1].push(this);
                        }
                        slot.stamp.clone()
                    }
                    false => slot.stamp.minus_one(),
                };
                stamp = Unary::mux(&mut self.graph, this, &place, &stamp);
                used.push(this);
            }
        }
        at_most_one(&mut self.graph, &mut self.formula, &used);
        if update {
            // Only a promise may be written by a read-modify-write.
            let uses = self.graph.or_all(&used);
            let lost = self.graph.and(alone, !uses);
            state.stopped = self.graph.or(state.stopped, lost);
        }
        let own = Seen { stamp, value: value.clone(), unset: Lit::FALSE, dirty: Lit::FALSE };
        self.put(before, main, cells, guard, own, state);
    }

    /// Promises are certified, and fulfilled by their threads.
    pub fn finish_promises(&mut self) {
        for ghost in 0..self.ghosts.len() {
            let of = self.ghosts[ghost].of;
            let events = self.unrolled.threads[of.0 as usize].events.clone();
            for number in 1..=self.slots.count() {
                let picks = self.picks(ghost, number);
                let mut certified = self.ghosts[ghost].certified[number - 1].clone();
                certified.push(!picks);
                self.formula.clause(&certified);
                let fulfils = |event: u32| self.records[event as usize].fulfils.get(number - 1).copied();
                let mut fulfilled: Vec<Lit> = events.clone().filter_map(fulfils).collect();
                fulfilled.extend([!picks, self.ghosts[ghost].stays]);
                self.formula.clause(&fulfilled);
            }
            self.certify_earlier(ghost);
        }
    }

    /// What the thread had promised before and not fulfilled yet is certified, too.
    fn certify_earlier(&mut self, ghost: usize) {
        let of = self.ghosts[ghost].of;
        let first = self.unrolled.threads[of.0 as usize].events.start;
        for earlier in self.ghosts_of(of).into_iter().filter(|&earlier| earlier < ghost) {
            for number in 1..=self.slots.count() {
                let picks = self.picks(earlier, number);
                let mut clause = self.ghosts[ghost].certified[number - 1].clone();
                for index in 0..self.ghosts[ghost].before.len() {
                    let before = self.ghosts[ghost].before[index];
                    let fulfils = self.records[first as usize + index].fulfils.get(number - 1).copied();
                    clause.push(self.graph.and(before, fulfils.unwrap_or(Lit::FALSE)));
                }
                clause.extend([!picks, !self.ghosts[ghost].slot.at_least(1)]);
                self.formula.clause(&clause);
            }
        }
    }
}
