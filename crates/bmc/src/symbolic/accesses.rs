//! Loads, stores and read-modify-writes of a symbolic address: by events, or by substitution for memory of one thread.

use super::deps::Depends;
use super::execute::Pass;
use super::memory::Resolved;
use super::shapes::{Key, Users};
use super::state::{Held, Own, State};
use super::{Access, CellId, Change, EventId, EventKind, FaultKind, InstanceId, Silent};
use crate::aig::Lit;
use crate::shape::Shape;
use crate::word::Word;
use fencepost_ir::{Ann, Value, Width};
use std::rc::Rc;

/// An address that was resolved, for the accesses of one instruction.
pub(super) struct Target {
    pub cells: Vec<(CellId, Lit)>,
    pub width: Width,
    pub dep: Depends,
    /// The unit, if there are events.
    pub unit: Option<u32>,
}

/// What a read gave.
pub(super) struct Got {
    pub held: Held,
    pub undefined: Lit,
    pub event: Option<EventId>,
}

impl Pass<'_> {
    /// Resolves an address: faults are noted, and the thread stops where there is one.
    pub fn target(&mut self, state: &mut State, address: &Held, width: Width) -> Target {
        let resolved = self.memory.resolve(&mut self.graph, &address.word, width);
        self.checked(state, address, width, resolved)
    }

    /// A mutex is a cell of 32 or 64 bits.
    pub fn mutex(&mut self, state: &mut State, address: &Held) -> Target {
        let narrow = self.memory.resolve(&mut self.graph, &address.word, Width::W32);
        match narrow.cells.is_empty() {
            true => self.target(state, address, Width::W64),
            false => self.checked(state, address, Width::W32, narrow),
        }
    }

    fn checked(&mut self, state: &mut State, address: &Held, width: Width, resolved: Resolved) -> Target {
        let kind = FaultKind::BadAccess { address: address.word.clone(), width };
        self.fault_and_stop(state, resolved.bad.0, kind, "");
        let kind = FaultKind::Limit("memory that is accessed with different sizes");
        self.fault_and_stop(state, resolved.mixed.0, kind, "");
        let shared = |pass: &Self, cells: &[(CellId, Lit)]| cells.iter().any(|(c, _)| !pass.is_own(*c));
        let events = shared(self, &resolved.cells) || shared(self, &resolved.alive);
        let unit = (events && state.guard != Lit::FALSE).then(|| self.unit(state));
        if !resolved.alive.is_empty() {
            self.check_alive(state, &resolved, unit);
        }
        let Resolved { cells, .. } = resolved;
        Target { cells, width, dep: address.dep, unit }
    }

    /// The flags of objects as a place to access.
    pub fn flag_target(&mut self, state: &mut State, cells: Vec<(CellId, Lit)>) -> Target {
        let events = cells.iter().any(|(cell, _)| !self.is_own(*cell));
        let unit = events.then(|| self.unit(state));
        Target { cells, width: Width::W8, dep: Depends::NONE, unit }
    }

    /// Accesses to an object whose life is over.
    fn check_alive(&mut self, state: &mut State, resolved: &Resolved, unit: Option<u32>) {
        let flags = Target { cells: resolved.alive.clone(), width: Width::W8, dep: Depends::NONE, unit };
        let got = self.read(state, &flags, Ann::PLAIN);
        let some: Vec<Lit> = resolved.alive.iter().map(|(_, lit)| *lit).collect();
        let named = self.graph.or_all(&some);
        let dead = got.held.word.is(&mut self.graph, Value::ZERO);
        let dead = self.graph.and(dead, named);
        // Where lives are events, only those of objects that no other thread can reach are flags.
        let kind = if self.options.life_flags { FaultKind::UseAfterFree } else { FaultKind::UseAfterScope };
        self.fault_and_stop(state, dead, kind, "");
    }

    /// Whether a cell is assumed to be of the running thread only, or of nobody who writes.
    fn is_own(&self, cell: CellId) -> bool {
        if let Some(own) = self.is_own_by_object(cell) {
            return own;
        }
        let (key, _) = &self.memory.seen[cell.0 as usize];
        let users = self.shapes.get(*key).map_or(Users::Readers, |known| known.users);
        match users {
            Users::Readers => true,
            Users::Only(_) => self.options.private_memory,
            Users::Several => false,
        }
    }

    /// Without flags of lives: what no other thread can reach is never an event, and what may end always is, so that it can be
    /// compared with the end.
    fn is_own_by_object(&self, cell: CellId) -> Option<bool> {
        if self.options.life_flags {
            return None;
        }
        let object = &self.memory.objects[self.memory.cells[cell.0 as usize].object as usize];
        match object.private {
            true => Some(true),
            false => (object.made.is_some() && self.shapes.frees).then_some(false),
        }
    }

    /// What the running thread sees in a cell of its own.
    fn own(&self, state: &State, cell: CellId) -> Own {
        let initial = || Own::initial(&self.memory.cells[cell.0 as usize]);
        state.memory.get(&cell).cloned().unwrap_or_else(initial)
    }

    /// Reads; the value is zero-extended. Where the thread does not come here it means nothing.
    pub fn read(&mut self, state: &mut State, target: &Target, ann: Ann) -> Got {
        let thread = self.original.0;
        for (cell, _) in &target.cells {
            self.memory.seen[cell.0 as usize].1.read(thread);
        }
        let all_own = target.cells.iter().all(|(cell, _)| self.is_own(*cell));
        match target.unit.filter(|_| !all_own) {
            Some(unit) => self.read_event(state, target, ann, unit),
            None => {
                let got = self.read_own(state, target);
                self.note_silent(state.guard, target, &got.held.word, false, ann);
                got
            }
        }
    }

    /// A thread that runs ahead may not be allowed to read and write in one step, even in memory that is its own: such memory has
    /// events.
    pub fn note_update(&mut self, target: &Target) {
        if self.options.copies > 0 {
            target.cells.iter().for_each(|(cell, _)| self.memory.seen[cell.0 as usize].1.mixed = true);
        }
    }

    fn read_own(&mut self, state: &State, target: &Target) -> Got {
        let mut found: Option<Own> = None;
        for &(cell, chosen) in &target.cells {
            let own = self.own(state, cell);
            found = Some(match found {
                None => own,
                Some(other) => Own {
                    held: Held {
                        word: Word::mux(&mut self.graph, chosen, &own.held.word, &other.held.word),
                        dep: self.deps.choice(chosen, own.held.dep, other.held.dep),
                    },
                    undefined: self.graph.mux(chosen, own.undefined, other.undefined),
                },
            });
        }
        let Own { mut held, undefined } =
            found.unwrap_or(Own { held: Held::constant(Value::ZERO), undefined: Lit::FALSE });
        held.dep = self.deps.both(held.dep, target.dep);
        Got { held, undefined, event: None }
    }

    fn read_event(&mut self, state: &mut State, target: &Target, ann: Ann, unit: u32) -> Got {
        self.note_mixed(target);
        let mut shape: Option<Shape> = None;
        let mut may_be_undefined = false;
        for (cell, _) in &target.cells {
            let info = &self.memory.cells[cell.0 as usize];
            may_be_undefined |= info.initial.is_none();
            let initial = info.initial.as_ref().map_or(Shape::Values(vec![0]), Shape::of);
            let (key, _) = &self.memory.seen[cell.0 as usize];
            let known =
                self.shapes.get(*key).map_or_else(|| initial.clone(), |known| known.shape.join(&initial));
            shape = Some(shape.map_or_else(|| known.clone(), |shape| shape.join(&known)));
        }
        let mut shape = shape.unwrap_or(Shape::Values(vec![0]));
        if let Some(foreign) = &self.options.foreign {
            shape = shape.join(&Shape::Values(foreign.of_width(target.width)));
        }
        let value = shape.input(&mut self.graph);
        let undefined = if may_be_undefined { self.graph.input() } else { Lit::FALSE };
        let access = self.access(target, ann);
        let kind = EventKind::Read { access, value: value.clone(), undefined };
        let guard = state.guard;
        let event = self.event(state, guard, unit, kind);
        let dep = self.deps.read(event);
        Got { held: Held { word: value, dep }, undefined, event: Some(event) }
    }

    fn access(&self, target: &Target, ann: Ann) -> Access {
        let cells = target.cells.clone();
        Access { cells, width: target.width, ann, otherwise: None, address: target.dep }
    }

    /// An access without an event.
    fn note_silent(&mut self, guard: Lit, target: &Target, value: &Word, writes: bool, ann: Ann) {
        let is_flag = |cell: &CellId| self.memory.is_flag(*cell);
        if !self.options.notes_silent || guard == Lit::FALSE || target.cells.iter().any(|(c, _)| is_flag(c)) {
            return;
        }
        let (function, pc) = self.at;
        let first = self.threads[self.thread.0 as usize].events.start;
        self.silent.push(Silent {
            thread: self.thread,
            guard,
            cells: target.cells.clone(),
            value: value.clone(),
            writes,
            ann,
            otherwise: None,
            events_before: self.events.len() as u32 - first,
            steps_before: self.steps.len() as u32,
            function,
            pc,
            calls: self.calls.clone(),
        });
    }

    /// Notes what the read-modify-write that was written last makes of what it read.
    pub fn note_change(&mut self, read: Option<EventId>, made: Change) {
        if let Some(EventKind::Write { rmw: Some(of), change, .. }) =
            self.events.last_mut().map(|event| &mut event.kind)
            && Some(*of) == read
        {
            *change = Some(made);
        }
    }

    /// The annotation of a read is another one where the condition holds.
    pub fn annotate(&mut self, event: Option<EventId>, condition: Lit, ann: Ann) {
        let at = self.at;
        match event.map(|id| &mut self.events[id.0 as usize].kind) {
            Some(EventKind::Read { access, .. }) => access.otherwise = Some((condition, ann)),
            Some(_) => {}
            // The read that was noted last, unless the thread cannot come here.
            None => {
                let last =
                    self.silent.last_mut().filter(|last| !last.writes && (last.function, last.pc) == at);
                if let Some(last) = last {
                    last.otherwise = Some((condition, ann));
                }
            }
        }
    }

    /// It is a mistake to write to a constant object.
    pub fn check_constant(&mut self, state: &mut State, target: &Target) {
        if !self.options.keeps_constants {
            return;
        }
        let object = |cell: &CellId| self.memory.cells[cell.0 as usize].object;
        let is_constant = |(cell, _): &&(CellId, Lit)| self.memory.objects[object(cell) as usize].constant;
        let constant: Vec<Lit> = target.cells.iter().filter(is_constant).map(|(_, lit)| *lit).collect();
        let constant = self.graph.or_all(&constant);
        self.fault_and_stop(state, constant, FaultKind::Constant, "");
    }

    /// A cell that is accessed by an event must have events everywhere.
    fn note_mixed(&mut self, target: &Target) {
        for (cell, _) in &target.cells {
            self.memory.seen[cell.0 as usize].1.mixed = true;
            self.memory.cells[cell.0 as usize].shared = true;
        }
    }

    /// Reads, and notes a fault where the cell has no value.
    pub fn read_defined(&mut self, state: &mut State, target: &Target, ann: Ann) -> Got {
        let got = self.read(state, target, ann);
        self.fault_and_stop(state, got.undefined, FaultKind::Uninitialised, "");
        got
    }

    /// Writes where the condition holds, too.
    pub fn write(
        &mut self,
        state: &mut State,
        target: &Target,
        value: &Held,
        condition: Lit,
        ann: Ann,
        rmw: Option<EventId>,
    ) {
        let guard = self.graph.and(state.guard, condition);
        if guard == Lit::FALSE {
            return;
        }
        let word = value.word.extend(target.width, fencepost_ir::Extend::Zero);
        let thread = self.original.0;
        for (cell, _) in &target.cells {
            self.memory.seen[cell.0 as usize].1.write(thread, &word);
        }
        let all_own = target.cells.iter().all(|(cell, _)| self.is_own(*cell));
        match target.unit.filter(|_| !all_own) {
            Some(unit) => {
                self.note_mixed(target);
                let access = self.access(target, ann);
                let kind = EventKind::Write { access, value: word, data: value.dep, rmw, change: None };
                self.event(state, guard, unit, kind);
                state.note_effect(&mut self.graph, condition);
            }
            // What the state of the thread shows is compared when a loop comes round.
            None => {
                self.note_silent(guard, target, &word, true, ann);
                self.write_own(state, target, Held { word, dep: value.dep }, condition)
            }
        }
    }

    fn write_own(&mut self, state: &mut State, target: &Target, value: Held, condition: Lit) {
        for &(cell, chosen) in &target.cells {
            let here = self.graph.and(chosen, condition);
            let old = self.own(state, cell);
            let held = Held {
                word: Word::mux(&mut self.graph, here, &value.word, &old.held.word),
                dep: self.deps.choice(here, value.dep, old.held.dep),
            };
            let undefined = self.graph.and(old.undefined, !here);
            Rc::make_mut(&mut state.memory).insert(cell, Own { held, undefined });
        }
    }

    /// When a thread has ended, and its result.
    pub fn end_of(&mut self, thread: u32) -> (Lit, Word) {
        while self.ends.len() <= thread as usize {
            let key = Key::Result { thread: self.ends.len() as u32 };
            let shape = self.shapes.get(key).map_or(Shape::Values(vec![0]), |known| known.shape.clone());
            let result = shape.input(&mut self.graph);
            let ended = self.graph.input();
            self.ends.push((ended, result));
        }
        self.ends[thread as usize].clone()
    }

    /// Notes what a thread returns.
    pub fn see_result(&mut self, thread: InstanceId, result: &Word) {
        let mut seen = super::shapes::Seen::new(None, Width::W64);
        seen.write(thread.0, result);
        self.memory.seen.push((Key::Result { thread: thread.0 }, seen));
    }
}
