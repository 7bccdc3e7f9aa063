//! Strong consistency `[AAGKV, 3.1]`: after every step of a thread that has open promises, a copy of the thread, the *ghost*,
//! goes on alone
//! until it has fulfilled them.
//!
//! There is a ghost for each place where a thread may stand, and one for each promise. Up to its place it is the thread. From
//! there on
//!
//! ```text
//! read   the view's message | any slot that is filled by then and newer
//! write  behind all messages | right below an open promise, splitting it | fulfils an open promise
//! rmw    reads m, and splits or fulfils the promise that touches m
//! ```
//!
//! and it ends at SC fences. Nothing has to be said about promises at fences, at the end of a thread, or past a failed assertion:
//! there its ghost
//! has to go on.
//!
//! **The standard notion** `[AAGKV, 3]` asks for a certification from every future memory, and lets it add messages where
//! there is room. Where the thread itself has no read-modify-write the two notions are one `[AAGKV, Theorem 3.1]`. Otherwise
//! there are several ghosts for one place: one for each way to put a value of the domain behind the last message of each cell
//! that the thread reads and writes in one step (`From::Future`), and one for the memory as it is, whose view switches count
//! (`From::Now`). Other future memories are not looked at, and where there is room is asked loosely, so that these clauses
//! allow every run of the machine and perhaps a few more: a run that is not confirmed is no mistake, and says nothing.
//!
//! ```text
//! From::Future  write  behind all messages, or below a promise of its own
//!               rmw    reads the message at the end, its own one behind that, or as above
//! From::Now     write, rmw  right behind what the view has
//! ```
//!
//! **What touches.** The interval of a promise with timestamp t begins at the newest message below t in the whole run that is not
//! a later message of
//! the same thread; those split it. So at any time m touches t if no timestamp between is somebody else's, ever, or that of an
//! open promise.
//! A message that comes later may end where a promise begins.

use super::encode::Encoder;
use super::promises::require_cell;
use super::slots::at_most_one;
use super::state::{Seen, State};
use super::sync::fence_kind;
use super::unary::Unary;
use super::{Certify, Rule, Unsupported};
use crate::aig::Lit;
use crate::symbolic::{EventId, EventKind, InstanceId, MOST_FUTURES, updated_cells};
use crate::word::Word;
use fencepost_ir::{Span, Value};

/// The memory from which a ghost certifies.
#[derive(Clone, PartialEq, Eq, Debug)]
enum From {
    /// The one that is there, by the strong notion.
    Strong,
    /// The one that is there, by the standard notion.
    Now,
    /// One in which these messages are at the ends of cells: the shared cell, and the value.
    Future(Vec<(usize, u64)>),
}

/// A copy of a thread that certifies.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// From which memory.
    from: From,
    /// The copy.
    copy: InstanceId,
    /// The thread.
    of: InstanceId,
    /// For each event of the thread: it comes before the place of the ghost.
    before: Vec<Lit>,
    /// The thread stands there with open promises; if not, nothing is asked of the ghost.
    active: Lit,
    /// Slots up to this one are filled.
    time: Unary,
    /// The thread leaves there, so that view switches count.
    leaves: Lit,
    /// For each promise: it is made by then; it has to be fulfilled here; what fulfils it here.
    promises: Vec<Owed>,
}

#[derive(Clone, Debug)]
struct Owed {
    number: usize,
    made: Lit,
    open: Lit,
    by: Vec<Lit>,
}

impl Encoder<'_> {
    /// Certifies wherever a thread may have open promises, or at least where they are made and where the run ends.
    pub fn certify_all(&mut self, certify: Certify) -> Result<(), Unsupported> {
        let mut copies: Vec<Vec<InstanceId>> = vec![Vec::new(); self.unrolled.threads.len()];
        for (copy, thread) in (0u32..).map(InstanceId).zip(&self.unrolled.threads) {
            if let Some(of) = thread.copy_of {
                copies[of.0 as usize].push(copy);
            }
        }
        let mut copy_of = |of: InstanceId| {
            let none = || Unsupported { what: "so many promises".into(), span: Span::default() };
            copies[of.0 as usize].pop().ok_or_else(none)
        };
        let threads = (0..self.unrolled.threads.len() as u32).map(InstanceId);
        let memories = threads.map(|thread| self.memories_of(thread)).collect::<Result<Vec<_>, _>>()?;
        let mut ghosts = Vec::new();
        for number in 0..if self.keeps(Rule::CertifiesPromise) { self.promises.len() } else { 0 } {
            let of = self.promises[number].of;
            for from in &memories[of.0 as usize] {
                let copy = copy_of(of)?;
                ghosts.push(Ghost { from: from.clone(), ..self.ghost_of_promise(number, copy) });
            }
        }
        for thread in (0..self.unrolled.threads.len() as u32).map(InstanceId) {
            if certify == Certify::Loosely && !self.promises_of(thread).is_empty() {
                for from in &memories[thread.0 as usize] {
                    let copy = copy_of(thread)?;
                    ghosts.push(Ghost { from: from.clone(), ..self.ghost_of_end(thread, copy) });
                }
            }
        }
        for number in 0..self.stands.len() {
            let needed = certify == Certify::Always && self.keeps(Rule::CertifiesStep);
            if needed && self.stands[number].open != Lit::FALSE {
                let of = self.stands[number].of;
                for from in &memories[of.0 as usize] {
                    let copy = copy_of(of)?;
                    ghosts.push(Ghost { from: from.clone(), ..self.ghost_of_stand(number, copy) });
                }
            }
        }
        ghosts.into_iter().try_for_each(|ghost| self.certify(ghost))
    }

    /// The memories from which a thread certifies.
    fn memories_of(&self, thread: InstanceId) -> Result<Vec<From>, Unsupported> {
        let events = self.unrolled.threads[thread.0 as usize].events.clone();
        let events = &self.unrolled.events[events.start as usize..events.end as usize];
        let updated = updated_cells(events);
        let Some(domain) = self.standard.filter(|_| !updated.is_empty()) else {
            return Ok(vec![From::Strong]);
        };
        let mut futures: Vec<Vec<(usize, u64)>> = vec![Vec::new()];
        for cell in updated {
            let Some(place) = self.places[cell.0 as usize] else { continue };
            let mut values = domain.of_width(self.unrolled.cells[cell.0 as usize].width);
            if !self.keeps(Rule::EveryFuture) {
                values.truncate(1);
            }
            if futures.len() * values.len() > MOST_FUTURES {
                let (what, span) = ("so many future memories".into(), Span::default());
                return Err(Unsupported { what, span });
            }
            let with = |value: &u64| {
                let value = *value;
                let longer = move |future: &Vec<(usize, u64)>| [&future[..], &[(place, value)]].concat();
                futures.iter().map(longer).collect::<Vec<_>>()
            };
            futures = values.iter().flat_map(with).collect();
        }
        Ok(std::iter::once(From::Now).chain(futures.into_iter().map(From::Future)).collect())
    }

    fn ghost_of_promise(&mut self, number: usize, copy: InstanceId) -> Ghost {
        let promise = self.promises[number].clone();
        let mut owed = Vec::new();
        for other in self.promises_of(promise.of).into_iter().filter(|&other| other <= number) {
            let made = promise.made();
            // Those of before may be fulfilled by then.
            let fulfilled = self.promises[other].fulfilled.clone();
            let earlier: Vec<Lit> = fulfilled
                .into_iter()
                .map(|(event, lit)| {
                    let before = promise.before[self.index(event) as usize];
                    self.graph.and(lit, before)
                })
                .collect();
            let earlier = self.graph.or_all(&earlier);
            let open = self.graph.and(made, !earlier);
            owed.push(Owed { number: other, made, open, by: Vec::new() });
        }
        Ghost {
            from: From::Strong,
            copy,
            of: promise.of,
            active: promise.made(),
            before: promise.before,
            time: promise.slot,
            leaves: promise.leaves,
            promises: owed,
        }
    }

    fn ghost_of_stand(&mut self, number: usize, copy: InstanceId) -> Ghost {
        let stand = self.stands[number].clone();
        let (index, events) =
            (self.index(stand.event), self.unrolled.threads[stand.of.0 as usize].events.len() as u32);
        let mut owed = Vec::new();
        for other in self.promises_of(stand.of) {
            let unfulfilled = self.unfulfilled(other, EventId(stand.event.0 + 1));
            let promise = &self.promises[other];
            let made = self.graph.and(promise.made(), !promise.before[index as usize]);
            let open = self.graph.and_all(&[made, unfulfilled, stand.open]);
            owed.push(Owed { number: other, made, open, by: Vec::new() });
        }
        Ghost {
            from: From::Strong,
            copy,
            of: stand.of,
            before: (0..events).map(|event| Lit::constant(event <= index)).collect(),
            active: stand.open,
            time: stand.time,
            leaves: stand.leaves,
            promises: owed,
        }
    }

    /// Where a thread has come to in the end. When that was is not asked: later memory allows at least as much, at no higher
    /// cost.
    fn ghost_of_end(&mut self, thread: InstanceId, copy: InstanceId) -> Ghost {
        let events = self.unrolled.threads[thread.0 as usize].events.clone();
        let end = EventId(events.end);
        let mut owed = Vec::new();
        for number in self.promises_of(thread) {
            let open = self.unfulfilled(number, end);
            owed.push(Owed { number, made: self.promises[number].made(), open, by: Vec::new() });
        }
        let open: Vec<Lit> = owed.iter().map(|owed| owed.open).collect();
        let failed = self.failed(thread);
        let before = events.map(|event| self.alive[event as usize]).collect();
        Ghost {
            from: From::Strong,
            copy,
            of: thread,
            before,
            active: self.graph.or_all(&open),
            time: Unary::new(vec![Lit::TRUE; self.slots.count()]),
            leaves: !self.graph.or_all(&failed),
            promises: owed,
        }
    }

    /// Runs a ghost.
    fn certify(&mut self, mut ghost: Ghost) -> Result<(), Unsupported> {
        let events = self.unrolled.threads[ghost.copy.0 as usize].events.clone();
        let original = self.unrolled.threads[ghost.of.0 as usize].events.clone();
        let same = |(a, b): (u32, u32)| {
            let (a, b) = (&self.unrolled.events[a as usize], &self.unrolled.events[b as usize]);
            (a.function, a.pc) == (b.function, b.pc)
        };
        if events.len() != original.len() || !events.clone().zip(original.clone()).all(same) {
            let what = "a thread that is not unrolled twice in the same way".into();
            return Err(Unsupported { what, span: Span::default() });
        }
        self.starts[ghost.copy.0 as usize] = self.starts[ghost.of.0 as usize].clone();
        for (index, (number, main)) in events.zip(original).enumerate() {
            if self.stops() {
                return Ok(());
            }
            self.ghost_event(&mut ghost, EventId(number), EventId(main), index);
        }
        self.same_choices(&ghost);
        for owed in &ghost.promises {
            let mut clause = owed.by.clone();
            clause.push(!owed.open);
            self.formula.clause(&clause);
        }
        Ok(())
    }

    /// Up to the place of the ghost, both choose the same values.
    fn same_choices(&mut self, ghost: &Ghost) {
        let steps = |id: InstanceId| &self.unrolled.threads[id.0 as usize].steps;
        for (a, b) in steps(ghost.copy).iter().zip(steps(ghost.of)) {
            let Some(&before) = ghost.before.get(a.events_before as usize) else { continue };
            if let (Some(x), Some(y)) = (&a.choice, &b.choice) {
                self.formula.equal_if(before, &x.pairs(y));
            }
            self.formula.equal_if(before, &[(a.spurious, b.spurious)]);
        }
    }

    fn ghost_event(&mut self, ghost: &mut Ghost, id: EventId, main: EventId, index: usize) {
        let unrolled = self.unrolled;
        let event = &unrolled.events[id.0 as usize];
        let mut state = self.state_at(event.thread, event.before);
        let before = ghost.before[index];
        match &event.kind {
            EventKind::Read { access, value, undefined } => {
                if let EventKind::Read { value: same, undefined: likewise, .. } =
                    &unrolled.events[main.0 as usize].kind
                {
                    self.formula.equal_if(before, &value.pairs(same));
                    self.formula.equal_if(before, &[(*undefined, *likewise)]);
                }
                let cells = self.cells_of(&access.cells);
                self.ghost_read(
                    ghost,
                    (event.guard, before),
                    (id, main),
                    &cells,
                    (value, *undefined),
                    &mut state,
                );
            }
            EventKind::Write { access, value, rmw, .. } => {
                let cells = self.cells_of(&access.cells);
                let value = (value, *rmw);
                self.ghost_write(ghost, (event.guard, before), (id, main), &cells, value, &mut state);
            }
            // A promise is fulfilled before anything is released.
            EventKind::Fence(fence) if fence_kind(*fence).releases && self.keeps(Rule::GhostStopsAtFence) => {
                if let Some(after) = self.after[main.0 as usize].clone() {
                    let stopped = self.graph.or(state.stopped, event.guard);
                    let here = self.graph.and(before, event.guard);
                    let beyond = State { stopped, ..state.clone() };
                    state =
                        State::mux(&mut self.graph, here, &State { stopped: Lit::FALSE, ..after }, &beyond);
                }
            }
            EventKind::Fence(fence) if fence_kind(*fence).acquires => {
                let alone = self.graph.and_all(&[event.guard, !before, ghost.active]);
                self.acquire(alone, &mut state);
            }
            _ => {}
        }
        if self.tables.is_some()
            && let Some(after) = self.after[main.0 as usize].clone()
        {
            // Up to its place it knows what the thread knows, of other cells, too.
            state = State::mux(&mut self.graph, before, &State { stopped: Lit::FALSE, ..after }, &state);
        }
        self.after[id.0 as usize] = Some(state);
    }

    fn ghost_read(
        &mut self,
        ghost: &Ghost,
        (guard, before): (Lit, Lit),
        (id, main): (EventId, EventId),
        cells: &[(usize, Lit)],
        (value, undefined): (&Word, Lit),
        state: &mut State,
    ) {
        let seen = state.select(&mut self.graph, cells);
        let alone = self.graph.and_all(&[guard, !before, ghost.active]);
        let stamp = Unary::input(&mut self.graph, &mut self.formula, seen.stamp.most());
        let mut reads = Vec::new();
        for number in 1..=if alone == Lit::FALSE { 0 } else { self.slots.count() } {
            let from = self.graph.input();
            self.formula.clause(&[!from, alone]);
            if self.keeps(Rule::GhostReadsByTime) {
                self.formula.clause(&[!from, ghost.time.at_least(number)]);
            }
            self.slots.require_cell(&mut self.formula, from, number, cells);
            let slot = self.slots.get(number);
            Unary::require_equal(&mut self.formula, from, &stamp, &slot.stamp);
            self.formula.equal_if(from, &value.pairs(&slot.value));
            self.slots.read(number, from);
            reads.push(from);
        }
        let switched = self.graph.or_all(&reads);
        let last = self.read_last(ghost, alone, cells, value, &seen);
        reads.push(last);
        at_most_one(&mut self.graph, &mut self.formula, &reads);
        if self.keeps(Rule::GhostReadsNewer) {
            Unary::require_greater(&mut self.formula, switched, &stamp, &seen.stamp);
        }
        if cells.iter().any(|(cell, _)| self.updated[*cell]) {
            self.formula.clause(&[!switched, !seen.dirty]);
        }
        let local = self.graph.and_all(&[alone, !switched, !last]);
        self.formula.equal_if(local, &value.pairs(&seen.value));
        self.formula.equal_if(local, &[(undefined, seen.unset)]);
        self.formula.clause(&[!switched, !undefined]);
        self.formula.clause(&[!last, !undefined]);
        // What it has written itself may have more bits, and what is in a future memory.
        let foreign = self.graph.or(switched, !seen.own);
        let foreign = self.graph.and_all(&[alone, foreign, !last]);
        self.require_narrow(&[!foreign], value);
        let counts = self.graph.and(switched, ghost.leaves);
        if self.keeps(Rule::CountsCertification) && !matches!(ghost.from, From::Future(_)) {
            self.switches.push(counts);
        }
        let stamp = Unary::mux(&mut self.graph, switched, &stamp, &seen.stamp);
        let behind = Unary::new(vec![Lit::TRUE; seen.stamp.most()]);
        let dirty = self.graph.and(seen.dirty, !switched);
        let own = self.graph.and(seen.own, !switched);
        let own = Seen {
            stamp: Unary::mux(&mut self.graph, last, &behind, &stamp),
            value: value.clone(),
            unset: self.graph.and_all(&[seen.unset, !switched, !last]),
            dirty: self.graph.or(dirty, last),
            own: self.graph.or(own, last),
        };
        self.put(before, main, cells, guard, own, state);
        let wrote = self.writes_too(id);
        self.records[id.0 as usize].learnt = self.learn(id, alone, cells, wrote, state);
    }

    /// The ghost reads the message that is at the end of a cell in the future memory from which it certifies, unless it has come
    /// behind that. What is there, and what it writes behind it, is marked as its own without a timestamp.
    fn read_last(
        &mut self,
        ghost: &Ghost,
        alone: Lit,
        cells: &[(usize, Lit)],
        value: &Word,
        seen: &Seen,
    ) -> Lit {
        let From::Future(ends) = &ghost.from else { return Lit::FALSE };
        let end_of = |cell: usize| ends.iter().find(|(other, _)| *other == cell).map(|(_, value)| *value);
        if !cells.iter().any(|(cell, _)| end_of(*cell).is_some()) || !self.keeps(Rule::ReadsFuture) {
            return Lit::FALSE;
        }
        let last = self.graph.input();
        let behind = self.graph.and(seen.own, seen.dirty);
        self.formula.clause(&[!last, alone]);
        self.formula.clause(&[!last, !behind]);
        for &(cell, chosen) in cells {
            let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
            let here = self.graph.and(last, chosen);
            match end_of(cell) {
                Some(end) => self.formula.equal_if(here, &value.pairs(&Word::constant(Value(end)))),
                None => self.formula.clause(&[!here]),
            }
        }
        last
    }

    /// The view after an access: the thread's own up to the place of the ghost.
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
                let dirty = self.graph.mux(before, seen.dirty, own.dirty);
                let theirs = self.graph.and(!before, own.own);
                Seen { stamp, unset, dirty, own: theirs, ..own }
            }
            None => own,
        };
        state.replace(&mut self.graph, cells, guard, &read);
    }

    fn ghost_write(
        &mut self,
        ghost: &mut Ghost,
        (guard, before): (Lit, Lit),
        (id, main): (EventId, EventId),
        cells: &[(usize, Lit)],
        (value, rmw): (&Word, Option<EventId>),
        state: &mut State,
    ) {
        let update = rmw.is_some();
        let releases = self.orders(id).releases && self.keeps(Rule::ReleaseFulfilsNothing);
        let learnt = rmw.and_then(|read| self.records[read.0 as usize].learnt.clone());
        let publishes = self.publishes(id, cells, learnt.as_deref(), state);
        let seen = state.select(&mut self.graph, cells);
        let alone = self.graph.and_all(&[guard, !before, ghost.active]);
        let mut used = Vec::new();
        // Behind all messages, unless a promise is used; right behind what the view has, if others may come between anyhow.
        let mut stamp = match self.keeps(Rule::GhostWritesLast) && ghost.from != From::Now {
            true => Unary::new(vec![Lit::TRUE; seen.stamp.most()]),
            false => seen.stamp.clone(),
        };
        // A releasing write uses none.
        for owed in 0..if alone == Lit::FALSE || releases { 0 } else { ghost.promises.len() } {
            for fulfils in [true, false] {
                let this = self.graph.input();
                let (number, made) = (ghost.promises[owed].number, ghost.promises[owed].made);
                for needed in [alone, made, !state.stopped] {
                    self.formula.clause(&[!this, needed]);
                }
                // By the standard notion there may be room above what it reads.
                if update && (fulfils || ghost.from == From::Strong) {
                    self.require_touching(ghost, this, cells, &seen, number);
                }
                let promise = &self.promises[number];
                require_cell(&mut self.formula, this, &promise.cell, cells);
                Unary::require_greater(&mut self.formula, this, &promise.stamp, &seen.stamp);
                let place = match fulfils {
                    true => {
                        if self.without != Some(Rule::GhostFulfilsValue) {
                            self.formula.equal_if(this, &value.pairs(&promise.value));
                        }
                        ghost.promises[owed].by.push(this);
                        let stamp = promise.stamp.clone();
                        self.enter(this, cells, &stamp, value, publishes.as_deref());
                        stamp
                    }
                    false => promise.stamp.minus_one(),
                };
                stamp = Unary::mux(&mut self.graph, this, &place, &stamp);
                used.push(this);
            }
        }
        at_most_one(&mut self.graph, &mut self.formula, &used);
        let uses = self.graph.or_all(&used);
        if update && self.keeps(Rule::GhostUpdatesByPromise) && ghost.from != From::Now {
            // Only a promise may be written by a read-modify-write, or what is behind all that others may write.
            let behind = match ghost.from {
                From::Strong => Lit::FALSE,
                _ => self.graph.and(seen.own, seen.dirty),
            };
            let lost = self.graph.and_all(&[alone, !uses, !behind]);
            state.stopped = self.graph.or(state.stopped, lost);
        }
        if releases && alone != Lit::FALSE {
            // It waits for the promises of its thread on the cell.
            for owed in &ghost.promises {
                let promise = &self.promises[owed.number];
                let above = Unary::greater(&mut self.graph, &promise.stamp, &seen.stamp);
                for &(cell, chosen) in cells {
                    let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
                    let waits = [alone, chosen, owed.made, promise.cell[cell], above];
                    let waits = self.graph.and_all(&waits);
                    state.stopped = self.graph.or(state.stopped, waits);
                }
            }
        }
        let dirty = if matches!(ghost.from, From::Future(_)) { !uses } else { Lit::FALSE };
        let own = Seen { stamp, value: value.clone(), unset: Lit::FALSE, dirty, own: Lit::TRUE };
        self.put(before, main, cells, guard, own, state);
        self.note_written(id, alone, cells, state);
    }

    /// The promise touches the message that the ghost sees: what is between them is nobody else's. It is no other promise of the
    /// thread either, because that
    /// one could not be fulfilled any more.
    fn require_touching(
        &mut self,
        ghost: &Ghost,
        condition: Lit,
        cells: &[(usize, Lit)],
        seen: &Seen,
        promise: usize,
    ) {
        self.formula.clause(&[!condition, !seen.dirty]);
        let stamp = self.promises[promise].stamp.clone();
        for &(cell, chosen) in cells {
            let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
            for n in 1..if self.keeps(Rule::GhostTouchesOthers) { self.sizes.stamps[cell] } else { 1 } {
                let between = [!condition, !chosen, seen.stamp.at_least(n), !stamp.at_least(n + 1)];
                for other in self.slots.taken_by_others(cell, n, ghost.of.0) {
                    self.formula.clause(&[&between[..], &[!other]].concat());
                }
            }
        }
    }
}
