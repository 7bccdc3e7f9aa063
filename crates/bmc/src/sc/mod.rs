//! Sequential consistency behind the symbolic half: a total order of units, and each read reads the last write before it.
//!
//! A partial-order encoding in the spirit of `[AKT13]`, with order literals for pairs of units (`order.rs`) instead of clocks.
//! For a read r of a cell, each write w that it may read from has a literal rf(w, r):
//!
//! ```text
//! r is executed          =>  rf(w, r) for some w
//! rf(w, r)               =>  w is executed, w before r, and the values are equal
//! rf(w, r), w' executed  =>  w' before w, or r before w'
//! ```
//!
//! Reference: `[AKT13]` J. Alglave, D. Kroening, M. Tautschnig, Partial orders for efficient bounded model checking of
//! concurrent software, CAV 2013.

mod order;

use crate::aig::{Graph, Lit, Values};
use crate::formula::Formula;
use crate::symbolic::{CellId, EventId, EventKind, Unrolled};
use crate::word::Word;
use fencepost_ir::Value;
use order::Order;

/// A write to a cell: an event, or the initial value.
#[derive(Clone, Debug)]
struct Write {
    event: Option<EventId>,
    /// It is executed, and it is this cell that it writes.
    done: Lit,
    value: Word,
}

/// A read of one cell, or a look at its last value.
struct Read {
    event: Option<EventId>,
    cell: CellId,
    /// It is executed, and it is this cell that it reads.
    done: Lit,
    value: Word,
}

/// The clauses of an unrolled program under sequential consistency.
pub struct Sc {
    /// To be required.
    pub formula: Formula,
    order: Order,
    /// All writes to each cell, the initial one first.
    writes: Vec<Vec<Write>>,
}

impl Sc {
    /// Encodes an unrolled program.
    pub fn new(unrolled: &mut Unrolled) -> Sc {
        let mut formula = Formula::new();
        for clause in &unrolled.constraints {
            formula.clause(clause);
        }
        let order = Order::new(unrolled, &mut formula);
        let writes = all_writes(unrolled);
        let mut sc = Sc { formula, order, writes };
        for number in 0..unrolled.events.len() as u32 {
            sc.read(unrolled, EventId(number));
        }
        sc
    }

    fn read(&mut self, unrolled: &mut Unrolled, id: EventId) {
        let event = &unrolled.events[id.0 as usize];
        let EventKind::Read { access, value, undefined } = &event.kind else { return };
        let (guard, value, undefined, cells) = (event.guard, value.clone(), *undefined, access.cells.clone());
        let mut without_value = vec![!undefined, !guard];
        for (cell, chosen) in cells {
            let done = unrolled.graph.and(guard, chosen);
            if done == Lit::FALSE {
                continue;
            }
            let read = Read { event: Some(id), cell, done, value: value.clone() };
            let from_initial = self.reads_from(unrolled, &read);
            if unrolled.cells[cell.0 as usize].initial.is_none() {
                let here = unrolled.graph.and(done, from_initial);
                self.formula.clause(&[!here, undefined]);
                without_value.push(here);
            }
        }
        if undefined != Lit::FALSE {
            self.formula.clause(&without_value);
        }
    }

    /// The literals rf of a read, and their clauses; returns that of the initial value.
    fn reads_from(&mut self, unrolled: &mut Unrolled, read: &Read) -> Lit {
        let writes = self.candidates(unrolled, read);
        let mut some = vec![!read.done];
        let mut from_initial = Lit::FALSE;
        for (index, (write, _)) in writes.iter().enumerate() {
            let from = if writes.len() == 1 { read.done } else { unrolled.graph.input() };
            some.push(from);
            if write.event.is_none() {
                from_initial = from;
            }
            self.formula.clause(&[!from, write.done]);
            self.formula.equal_if(from, &read.value.pairs(&write.value));
            self.formula.clause(&[!from, self.before(unrolled, write, read)]);
            for (other, (later, _)) in writes.iter().enumerate() {
                if other != index && later.event.is_some() {
                    let first = self.writes_before(unrolled, later, write);
                    let after = !self.before(unrolled, later, read);
                    self.formula.clause(&[!from, !later.done, first, after]);
                }
            }
        }
        self.formula.clause(&some);
        from_initial
    }

    /// The literal "the write is before the read".
    fn before(&self, unrolled: &Unrolled, write: &Write, read: &Read) -> Lit {
        match (write.event, read.event) {
            (Some(w), Some(r)) => self.order.events(unrolled, w, r),
            _ => Lit::TRUE,
        }
    }

    /// The literal "the first write is before the second".
    fn writes_before(&self, unrolled: &Unrolled, a: &Write, b: &Write) -> Lit {
        match (a.event, b.event) {
            (_, None) => Lit::FALSE,
            (None, _) => Lit::TRUE,
            (Some(a), Some(b)) => self.order.events(unrolled, a, b),
        }
    }

    /// The writes that a read may read from: without those that are certainly later, or overwritten before it.
    fn candidates(&self, unrolled: &Unrolled, read: &Read) -> Vec<(Write, Lit)> {
        let mut writes: Vec<(Write, Lit)> = Vec::new();
        for write in &self.writes[read.cell.0 as usize] {
            let before = self.before(unrolled, write, read);
            if before != Lit::FALSE && unrolled.graph.and_is_possible(write.done, read.done) {
                writes.push((write.clone(), before));
            }
        }
        // Writes that are executed and before the read whenever it is executed hide what is before them.
        let hiding: Vec<Write> = writes
            .iter()
            .filter(|(write, before)| {
                *before == Lit::TRUE && unrolled.graph.surely_implies(read.done, write.done)
            })
            .map(|(write, _)| write.clone())
            .collect();
        let hidden = |write: &Write| {
            hiding.iter().any(|other| {
                other.event != write.event && self.writes_before(unrolled, write, other) == Lit::TRUE
            })
        };
        writes.retain(|(write, _)| !hidden(write));
        writes
    }

    /// The last value of a cell when nothing is executed any more.
    pub fn last_value(&mut self, unrolled: &mut Unrolled, cell: CellId) -> Word {
        let info = &unrolled.cells[cell.0 as usize];
        if !info.shared {
            let initial = info.initial.clone().unwrap_or_else(|| Word::constant(Value::ZERO));
            return info.last.clone().unwrap_or(initial);
        }
        let value = Word::input(&mut unrolled.graph, info.width.bits(), false);
        let read = Read { event: None, cell, done: Lit::TRUE, value: value.clone() };
        self.reads_from(unrolled, &read);
        value
    }

    /// Where a fault counts: unless a thread got stuck in an atomic section before, and stopped all others.
    pub fn counts(&self, unrolled: &mut Unrolled, fault: usize) -> Lit {
        let fault = &unrolled.faults[fault];
        let (guard, thread) = (fault.guard, fault.thread);
        let mut counts = vec![guard];
        if let Some(last) = self.last_before(unrolled, thread.0, fault.next_unit) {
            for section in unrolled.sections.iter().filter(|section| section.thread.0 != last.thread) {
                let stuck = unrolled.graph.and(section.begun, !section.ended);
                let units = &self.order.units[section.thread.0 as usize];
                let Ok(index) = units.binary_search(&section.unit) else { continue };
                let place = order::Place { thread: section.thread.0, index: index as u32 };
                let before = self.order.before(place, last);
                let stopped = unrolled.graph.and(stuck, before);
                counts.push(!stopped);
            }
        }
        unrolled.graph.and_all(&counts)
    }

    /// The last unit in the order that is certainly before a unit of a thread: of that thread, or of who started it.
    fn last_before(&self, unrolled: &Unrolled, thread: u32, unit: u32) -> Option<order::Place> {
        let units = &self.order.units[thread as usize];
        match units.partition_point(|&other| other < unit).checked_sub(1) {
            Some(index) => Some(order::Place { thread, index: index as u32 }),
            None => {
                let (parent, unit) = unrolled.threads[thread as usize].spawned?;
                self.last_before(unrolled, parent.0, unit)
            }
        }
    }

    /// The units of all threads that have shared accesses, in the order of a model.
    pub fn linearise(&self, values: &Values) -> Vec<(u32, u32)> {
        let mut next = vec![0u32; self.order.units.len()];
        let mut out = Vec::new();
        let place = |thread: usize, index: u32| order::Place { thread: thread as u32, index };
        loop {
            let open = |t: &usize| (next[*t] as usize) < self.order.units[*t].len();
            let first = (0..next.len()).filter(open).find(|&t| {
                let here = place(t, next[t]);
                (0..next.len())
                    .filter(open)
                    .all(|s| s == t || values.of(self.order.before(here, place(s, next[s]))))
            });
            let Some(thread) = first else { return out };
            out.push((thread as u32, self.order.units[thread][next[thread] as usize]));
            next[thread] += 1;
        }
    }
}

fn all_writes(unrolled: &mut Unrolled) -> Vec<Vec<Write>> {
    let initial = |word: &Option<Word>| Write {
        event: None,
        done: Lit::TRUE,
        value: word.clone().unwrap_or_else(|| Word::constant(Value::ZERO)),
    };
    let mut writes: Vec<Vec<Write>> =
        unrolled.cells.iter().map(|cell| vec![initial(&cell.initial)]).collect();
    let graph: &mut Graph = &mut unrolled.graph;
    for (number, event) in (0u32..).zip(&unrolled.events) {
        let EventKind::Write { access, value, .. } = &event.kind else { continue };
        for &(cell, chosen) in &access.cells {
            let done = graph.and(event.guard, chosen);
            if done != Lit::FALSE {
                let write = Write { event: Some(EventId(number)), done, value: value.clone() };
                writes[cell.0 as usize].push(write);
            }
        }
    }
    writes
}
