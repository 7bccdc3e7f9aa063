//! From a solution of the formula to an execution: the steps of each thread, what reads read from, and the order of the writes
//! of each cell. Whoever gets it runs the threads again and asks the model; nothing here is to be believed.

use crate::base::Base;
use fencepost_answer::trace::{
    Action, Cell, Event, Execution, Made, Name, Object, Purpose, Seen, StepId, Typed,
};
use fencepost_bmc::aig::{Lit, Values};
use fencepost_bmc::symbolic::{CellId, EventKind, Silent, Step as Unrolling, Unrolled};
use fencepost_ir::{Ann, Instr, Order, Program, Value};
use std::collections::BTreeMap;

/// An execution.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Witness {
    /// The steps of the threads, their cells by the numbers of the graph, and the order of writes.
    pub execution: Execution,
    /// The step of each vertex that is executed.
    pub places: Vec<Option<StepId>>,
}

/// What a thread does next, before it is put into words.
enum Done<'u> {
    Event(u32),
    Silent(&'u Silent),
    Choice(&'u Unrolling),
}

/// The execution that a solution is.
pub fn witness(program: &Program, unrolled: &Unrolled, base: &Base, values: &Values) -> Witness {
    let mut writer = Writer {
        program,
        unrolled,
        base,
        values,
        witness: Witness::default(),
        done: Vec::new(),
        coherence: Vec::new(),
    };
    writer.witness.places = vec![None; base.len()];
    for thread in 0..unrolled.threads.len() as u32 {
        let done = writer.in_order(thread);
        for (step, what) in (0u32..).zip(&done) {
            if let Done::Event(vertex) = what {
                writer.witness.places[*vertex as usize] = Some((thread, step));
            }
        }
        writer.done.push(done);
    }
    for (thread, done) in (0u32..).zip(std::mem::take(&mut writer.done)) {
        let steps = writer.steps(thread, &done);
        writer.witness.execution.threads.push(steps);
    }
    writer.order_writes();
    writer.number_writes();
    let cells = unrolled.cells.iter().map(|cell| (cell.offset, cell.width));
    writer.witness.execution.cells = cells.collect();
    writer.witness.execution.coherence = writer.coherence.into_iter().map(|(_, list)| list).collect();
    writer.witness
}

struct Writer<'u> {
    program: &'u Program,
    unrolled: &'u Unrolled,
    base: &'u Base,
    values: &'u Values,
    witness: Witness,
    done: Vec<Vec<Done<'u>>>,
    /// Per cell that is written: the writes in coherence order.
    coherence: Vec<(CellId, Vec<StepId>)>,
}

impl<'u> Writer<'u> {
    /// What a thread does, in program order.
    fn in_order(&self, thread: u32) -> Vec<Done<'u>> {
        let of = &self.unrolled.threads[thread as usize];
        // A step is done before its events, and before accesses without an event that come after it.
        let mut others: Vec<((u32, u32, u8), Done<'u>)> = Vec::new();
        let silent = self.unrolled.silent.iter().filter(|silent| silent.thread.0 == thread);
        // What no other thread can reach is not in the record: nobody asks, and a thread may stop before it.
        let private = |silent: &&Silent| {
            let cell = self.unrolled.cells[self.cell(&silent.cells).0 as usize].object;
            self.unrolled.objects[cell as usize].private
        };
        for silent in silent.filter(|silent| self.values.of(silent.guard)).filter(|silent| !private(silent)) {
            let key = (silent.events_before, silent.steps_before.saturating_sub(1), 1);
            others.push((key, Done::Silent(silent)));
        }
        for (number, step) in (0u32..).zip(&of.steps) {
            if step.choice.is_some() && self.values.of(step.guard) {
                others.push(((step.events_before, number, 0), Done::Choice(step)));
            }
        }
        others.sort_by_key(|(key, _)| *key);
        let mut others = others.into_iter().peekable();
        let mut done = Vec::new();
        for event in of.events.clone() {
            let before = event - of.events.start;
            while let Some((_, what)) = others.next_if(|((events, ..), _)| *events <= before) {
                done.push(what);
            }
            let vertex = self.base.vertex_of[event as usize];
            let executed = |vertex: &u32| self.values.of(self.base.vertices[*vertex as usize].guard);
            done.extend(vertex.filter(executed).map(Done::Event));
        }
        done.extend(others.map(|(_, what)| what));
        done
    }

    fn steps(&mut self, thread: u32, done: &[Done<'u>]) -> Vec<Event> {
        let mut steps = Vec::new();
        // The last silent write to each cell.
        let mut last: Vec<(CellId, StepId)> = Vec::new();
        for (number, what) in (0u32..).zip(done) {
            steps.push(match what {
                Done::Event(vertex) => self.event(*vertex),
                Done::Choice(step) => Event {
                    at: (step.function, step.pc),
                    calls: Vec::new(),
                    action: Action::Choose(Typed::number(self.chosen(step))),
                },
                Done::Silent(silent) => {
                    let cell = self.cell(&silent.cells);
                    let known = last.iter().position(|(other, _)| *other == cell);
                    let value = silent.value.evaluate(self.values);
                    let order = self.order(silent.ann, silent.otherwise);
                    let action = match silent.writes {
                        true => {
                            self.note_silent(cell, (thread, number));
                            last.retain(|(other, _)| *other != cell);
                            last.push((cell, (thread, number)));
                            self.write(cell, value, order)
                        }
                        false => {
                            let from = known.map(|at| last[at].1);
                            let nothing = from.is_none() && !self.has_value(cell);
                            let value = if nothing { Value::UNDEFINED } else { value };
                            self.read(cell, value, order, from)
                        }
                    };
                    Event { at: (silent.function, silent.pc), calls: silent.calls.to_vec(), action }
                }
            });
        }
        steps
    }

    /// What one thread writes to its own memory is in program order.
    fn note_silent(&mut self, cell: CellId, id: StepId) {
        match self.coherence.iter_mut().find(|(other, _)| *other == cell) {
            Some((_, list)) => list.push(id),
            None => self.coherence.push((cell, vec![id])),
        }
    }

    fn has_value(&self, cell: CellId) -> bool {
        self.unrolled.cells[cell.0 as usize].initial.is_some()
    }

    fn cell(&self, cells: &[(CellId, Lit)]) -> CellId {
        cells.iter().find(|(_, lit)| self.values.of(*lit)).map_or(CellId(0), |(cell, _)| *cell)
    }

    fn chosen(&self, step: &Unrolling) -> u64 {
        let value = step.choice.as_ref().map_or(Value::ZERO, |word| word.evaluate(self.values));
        let body = &self.program.functions[step.function as usize].body;
        match body.get(step.pc as usize) {
            Some(Instr::Nondet { first, .. }) => value.as_i64().wrapping_sub(*first) as u64,
            _ => value.0,
        }
    }

    fn order(&self, ann: Ann, otherwise: Option<(Lit, Ann)>) -> Order {
        match otherwise {
            Some((condition, ann)) if self.values.of(condition) => ann.order,
            _ => ann.order,
        }
    }

    fn event(&self, vertex: u32) -> Event {
        let number = self.base.vertices[vertex as usize].event.unwrap_or_default();
        let event = &self.unrolled.events[number as usize];
        let action = match &event.kind {
            EventKind::Read { access, value, .. } => {
                let cell = self.cell(&access.cells);
                let source =
                    (0..self.base.len() as u32).find(|&w| self.values.of(self.base.rf.get(w, vertex)));
                let from = source.and_then(|write| self.witness.places[write as usize]);
                let nothing = from.is_none() && !self.has_value(cell);
                let value = if nothing { Value::UNDEFINED } else { value.evaluate(self.values) };
                self.read(cell, value, self.order(access.ann, access.otherwise), from)
            }
            EventKind::Write { access, value, .. } => {
                let order = self.order(access.ann, access.otherwise);
                self.write(self.cell(&access.cells), value.evaluate(self.values), order)
            }
            EventKind::Fence(fence) => Action::Fence(Some(*fence)),
            EventKind::Spawn(thread) => Action::Spawn(thread.0),
            EventKind::Join(threads) => {
                let of = threads.iter().find(|(_, named)| self.values.of(*named));
                Action::Join(Some(of.map_or(0, |(thread, _)| thread.0)))
            }
            EventKind::End(objects) => {
                let ended = objects.iter().find(|(_, lit)| self.values.of(*lit));
                Action::Free(ended.map(|(number, _)| object(self.unrolled, *number)))
            }
        };
        Event { at: (event.function, event.pc), calls: event.calls.to_vec(), action }
    }

    fn read(&self, cell: CellId, value: Value, order: Order, from: Option<StepId>) -> Action {
        let seen = Seen { value: self.typed(cell, value), order, from, place: 0 };
        Action::Read { cell: self.named(cell), seen, purpose: Purpose::Data }
    }

    fn write(&self, cell: CellId, value: Value, order: Order) -> Action {
        let made = Made { value: self.typed(cell, value), order, place: 0 };
        Action::Write { cell: self.named(cell), made, purpose: Purpose::Data }
    }

    /// A cell as the programmer writes it.
    fn named(&self, id: CellId) -> Cell {
        let cell = &self.unrolled.cells[id.0 as usize];
        let declared = self.unrolled.objects[cell.object as usize].declared;
        let part = declared.and_then(|number| self.program.objects.get(number as usize)).and_then(|object| {
            let part = self.program.names.part(object.span, object.size, cell.offset);
            let whole = cell.offset == 0 && object.size == cell.width.bytes();
            part.filter(|part| !whole || part.starts_with('.'))
        });
        let part = part.unwrap_or_else(|| match cell.offset {
            0 => String::new(),
            offset => format!("+{offset}"),
        });
        Cell { id: id.0, name: Name::part(object(self.unrolled, cell.object), part) }
    }

    fn typed(&self, cell: CellId, raw: Value) -> Typed {
        let name = match raw {
            Value::UNDEFINED => "(uninitialised)".to_owned(),
            _ => self.program.show_value(self.unrolled.cells[cell.0 as usize].width.sign_extend(raw)),
        };
        Typed { raw, name: Name::plain(name) }
    }

    /// Says of each read and write which place in the order of its cell it has.
    fn number_writes(&mut self) {
        let lists = self.coherence.iter().flat_map(|(_, list)| (1u32..).zip(list.iter().copied()));
        let places: BTreeMap<StepId, u32> = lists.map(|(place, id)| (id, place)).collect();
        for (thread, events) in (0u32..).zip(&mut self.witness.execution.threads) {
            for (number, event) in (0u32..).zip(events) {
                match event.action.access_mut() {
                    (Some(seen), _) => {
                        seen.place = seen.from.map_or(0, |from| places.get(&from).copied().unwrap_or(0))
                    }
                    (_, Some(made)) => made.place = places.get(&(thread, number)).copied().unwrap_or(0),
                    _ => {}
                }
            }
        }
    }

    /// The writes of each cell by how many come before them.
    fn order_writes(&mut self) {
        let mut lists: Vec<(CellId, Vec<(usize, StepId)>)> = Vec::new();
        for vertex in 0..self.base.len() as u32 {
            let Some(place) = self.witness.places[vertex as usize].filter(|_| self.base.is_write(vertex))
            else {
                continue;
            };
            let before = |w: &u32| self.values.of(self.base.co.get(*w, vertex));
            let rank = (0..self.base.len() as u32).filter(before).count();
            let cell = self.cell(&self.base.vertices[vertex as usize].cells);
            match lists.iter_mut().find(|(other, _)| *other == cell) {
                Some((_, list)) => list.push((rank, place)),
                None => lists.push((cell, vec![(rank, place)])),
            }
        }
        for (cell, mut list) in lists {
            list.sort_unstable();
            self.coherence.push((cell, list.into_iter().map(|(_, place)| place).collect()));
        }
    }
}

/// An object by its number.
pub fn object(unrolled: &Unrolled, number: u32) -> Object {
    Object::Declared(unrolled.objects[number as usize].name.clone())
}
