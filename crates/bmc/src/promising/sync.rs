//! Release and acquire `[KHLVD, 4]`: what messages publish, and what threads learn from them.
//!
//! Each timestamp of a cell is at most one message, so there is a table with its value and what it publishes, a timestamp per
//! cell. A thread has, besides what
//! it sees, what it would see after an acquire fence, and per cell what its relaxed writes publish:
//!
//! ```text
//! read     acquired := acquired | published(m);  an acquiring one: current := current | published(m)
//! write    publishes released(x); a releasing one, current, and released(x) := current; an rmw adds published(what it read)
//! fences   acquire: current := acquired;  release: released(x) := current for all x;  SC: both, with the global view between
//! ```
//!
//! Nothing of this is there if no thread releases what another one could acquire. What is released has timestamps.
//!
//! What a promise publishes is chosen with it. The machine knows only what its thread has released by then, and what one message
//! more publishes, so that with
//! promises the formula may have runs too many.
//!
//! Reference: `[KHLVD]` J. Kang, C.-K. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, A promising semantics for relaxed-memory
//! concurrency, POPL 2017.

use super::Rule;
use super::encode::Encoder;
use super::slots::Sizes;
use super::state::{Known, State};
use super::unary::Unary;
use crate::aig::{Graph, Lit};
use crate::formula::Formula;
use crate::symbolic::{Event, EventId, EventKind, Unrolled};
use crate::word::Word;
use fencepost_ir::{Fence, Instr, Order, Program};
use std::rc::Rc;

/// What a fence does. Those of hardware are read as in `machine::promising`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FenceKind {
    /// It acquires.
    pub acquires: bool,
    /// It releases.
    pub releases: bool,
    /// It takes part in the order of SC fences.
    pub sc: bool,
}

/// What a fence does.
pub fn fence_kind(fence: Fence) -> FenceKind {
    let order = fence.as_c11();
    FenceKind {
        acquires: order.acquires() || order == Order::Consume,
        releases: order.releases(),
        sc: order == Order::SeqCst,
    }
}

/// What the orders of an access mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Orders {
    /// A read acquires if its read-modify-write writes, or if there is none.
    pub acquires: bool,
    /// A read acquires if its read-modify-write does not write.
    pub acquires_anyway: bool,
    /// A write releases.
    pub releases: bool,
}

/// The orders of an event, by its instruction.
fn orders(program: &Program, event: &Event) -> Orders {
    let acquires = |order: Order| order.acquires() || order == Order::Consume;
    let instr = program.functions.get(event.function as usize).and_then(|f| f.body.get(event.pc as usize));
    match (&event.kind, instr) {
        (EventKind::Read { .. }, Some(Instr::Lock(_) | Instr::TryLock { .. })) => {
            Orders { acquires: true, ..Orders::default() }
        }
        (EventKind::Write { .. }, Some(Instr::Unlock(_))) => Orders { releases: true, ..Orders::default() },
        (EventKind::Read { .. }, Some(Instr::CompareExchange { read, failure, .. })) => Orders {
            acquires: acquires(read.order),
            acquires_anyway: acquires(failure.order),
            releases: false,
        },
        (EventKind::Read { access, .. }, _) => {
            let acquires = acquires(access.ann.order);
            Orders { acquires, acquires_anyway: acquires, releases: false }
        }
        (EventKind::Write { access, .. }, _) => {
            Orders { releases: access.ann.order.releases(), ..Orders::default() }
        }
        _ => Orders::default(),
    }
}

/// A message, by its timestamp.
struct Entry {
    value: Word,
    view: Vec<Unary>,
}

/// What there is to know about messages and accesses.
pub struct Tables {
    /// Per cell and timestamp from 1.
    entries: Vec<Vec<Entry>>,
}

/// The orders of all events.
pub fn all_orders(program: &Program, unrolled: &Unrolled) -> Vec<Orders> {
    unrolled.events.iter().map(|event| orders(program, event)).collect()
}

/// True if some thread releases what another one could acquire.
pub fn synchronises(unrolled: &Unrolled, all: &[Orders], takes_part: &dyn Fn(&Event) -> bool) -> bool {
    let (mut acquirers, mut releasers, mut beyond_fences) = (Vec::new(), Vec::new(), false);
    for (event, orders) in unrolled.events.iter().zip(all).filter(|(event, _)| takes_part(event)) {
        let fence = match event.kind {
            EventKind::Fence(fence) => fence_kind(fence),
            _ => FenceKind { acquires: false, releases: false, sc: false },
        };
        let acquires = orders.acquires || orders.acquires_anyway;
        beyond_fences |= acquires || orders.releases || (!fence.sc && (fence.acquires || fence.releases));
        if acquires || fence.acquires {
            acquirers.push(event.thread);
        }
        if orders.releases || fence.releases {
            releasers.push(event.thread);
        }
    }
    let pair = releasers.iter().any(|a| acquirers.iter().any(|b| a != b));
    beyond_fences && pair
}

impl Tables {
    /// Tables of unknown messages.
    pub fn new(graph: &mut Graph, formula: &mut Formula, sizes: &Sizes) -> Tables {
        let mut entries = Vec::new();
        for &stamps in &sizes.stamps {
            let mut entry = || Entry {
                value: Word::input(graph, sizes.value.0, sizes.value.1),
                view: sizes.stamps.iter().map(|&most| Unary::input(graph, formula, most)).collect(),
            };
            entries.push((0..stamps).map(|_| entry()).collect());
        }
        Tables { entries }
    }
}

impl Encoder<'_> {
    /// The orders of an event.
    pub fn orders(&self, id: EventId) -> Orders {
        self.orders[id.0 as usize]
    }

    /// What a thread knows at first.
    pub fn nothing_known(&self) -> Option<Rc<Known>> {
        self.tables.as_ref()?;
        let zero = || self.sizes.stamps.iter().map(|&most| Unary::zero(most)).collect::<Vec<_>>();
        let released = self.sizes.stamps.iter().map(|_| zero()).collect();
        Some(Rc::new(Known { acquired: zero(), released }))
    }

    /// Where the condition holds, the message with that timestamp has this value and publishes that.
    pub fn enter(
        &mut self,
        condition: Lit,
        cells: &[(usize, Lit)],
        stamp: &Unary,
        value: &Word,
        view: Option<&[Unary]>,
    ) {
        let Some(tables) = &self.tables else { return };
        for &(cell, chosen) in cells {
            let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
            for (n, entry) in (1..).zip(&tables.entries[cell]) {
                let is = stamp.is(&mut self.graph, n);
                let here = self.graph.and_all(&[condition, chosen, is]);
                self.formula.equal_if(here, &entry.value.pairs(value));
                for (a, b) in entry.view.iter().zip(view.into_iter().flatten()) {
                    Unary::require_equal(&mut self.formula, here, a, b);
                }
            }
        }
    }

    /// What the message with that timestamp publishes; nothing where the condition does not hold.
    fn published(&mut self, condition: Lit, cells: &[(usize, Lit)], stamp: &Unary) -> Vec<Unary> {
        let Some(tables) = &self.tables else { return Vec::new() };
        let most = self.sizes.stamps.iter();
        let view: Vec<Unary> =
            most.map(|&most| Unary::input(&mut self.graph, &mut self.formula, most)).collect();
        let mut known = Vec::new();
        for &(cell, chosen) in cells {
            let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
            for (n, entry) in (1..).zip(&tables.entries[cell]) {
                let is = stamp.is(&mut self.graph, n);
                let here = self.graph.and_all(&[condition, chosen, is]);
                known.push(here);
                for (a, b) in view.iter().zip(&entry.view) {
                    Unary::require_equal(&mut self.formula, here, a, b);
                }
            }
        }
        let known = self.graph.or_all(&known);
        view.iter().map(|stamp| stamp.only_if(&mut self.graph, known)).collect()
    }

    /// The thread sees at least that, where the condition holds.
    fn raise(&mut self, condition: Lit, state: &mut State, view: &[Unary]) {
        let Some(tables) = &self.tables else { return };
        let cells = Rc::make_mut(&mut state.cells);
        for (cell, (seen, learnt)) in cells.iter_mut().zip(view).enumerate() {
            let newer = Unary::greater(&mut self.graph, learnt, &seen.stamp);
            let raised = self.graph.and(condition, newer);
            if raised == Lit::FALSE {
                continue;
            }
            let value = Word::input(&mut self.graph, self.sizes.value.0, self.sizes.value.1);
            for (n, entry) in (1..).zip(&tables.entries[cell]) {
                let is = learnt.is(&mut self.graph, n);
                let here = self.graph.and(raised, is);
                self.formula.equal_if(here, &value.pairs(&entry.value));
            }
            if self.updated[cell] {
                self.formula.clause(&[!raised, !seen.dirty]);
            }
            seen.stamp = Unary::mux(&mut self.graph, raised, learnt, &seen.stamp);
            seen.value = Word::mux(&mut self.graph, raised, &value, &seen.value);
            seen.unset = self.graph.and(seen.unset, !raised);
            seen.dirty = self.graph.and(seen.dirty, !raised);
            seen.own = self.graph.and(seen.own, !raised);
        }
    }

    /// Learns from a message that was read: `wrote` is where the read-modify-write writes, true for an ordinary read. What it
    /// publishes.
    pub fn learn(
        &mut self,
        id: EventId,
        done: Lit,
        cells: &[(usize, Lit)],
        wrote: Lit,
        state: &mut State,
    ) -> Option<Vec<Unary>> {
        self.tables.as_ref()?;
        let Orders { acquires, acquires_anyway, .. } = self.orders(id);
        let seen = state.select(&mut self.graph, cells);
        // An own message without a timestamp says nothing that the thread does not know.
        let stamped = self.graph.and_all(&[done, !seen.dirty, !seen.own]);
        let view = self.published(stamped, cells, &seen.stamp);
        let acquiring = self.graph.mux(wrote, Lit::constant(acquires), Lit::constant(acquires_anyway));
        let here = self.graph.and(done, acquiring);
        if self.keeps(Rule::Acquires) {
            self.raise(here, state, &view);
        }
        self.note_acquired(state, Some(&view));
        Some(view)
    }

    /// What an acquire fence would give: at least what the thread sees, and that.
    fn note_acquired(&mut self, state: &mut State, view: Option<&[Unary]>) {
        let Some(known) = &mut state.known else { return };
        let known = Rc::make_mut(known);
        for (cell, acquired) in known.acquired.iter_mut().enumerate() {
            let mut all = Unary::max(&mut self.graph, acquired, &state.cells[cell].stamp);
            if let Some(view) = view {
                all = Unary::max(&mut self.graph, &all, &view[cell]);
            }
            *acquired = all;
        }
    }

    /// What a write publishes; `read`: what the message that a read-modify-write reads publishes.
    pub fn publishes(
        &mut self,
        id: EventId,
        cells: &[(usize, Lit)],
        read: Option<&[Unary]>,
        state: &State,
    ) -> Option<Vec<Unary>> {
        let known = state.known.as_ref()?;
        let mut view: Vec<Unary> = match self.orders(id).releases && self.keeps(Rule::Releases) {
            true => state.cells.iter().map(|seen| seen.stamp.clone()).collect(),
            false => {
                let mut chosen = cells.iter();
                let mut view = chosen.next().map(|(cell, _)| known.released[*cell].clone())?;
                for &(cell, here) in chosen {
                    for (a, b) in view.iter_mut().zip(&known.released[cell]) {
                        *a = Unary::mux(&mut self.graph, here, b, a);
                    }
                }
                view
            }
        };
        let read = read.filter(|_| self.keeps(Rule::PassesOn));
        for (a, b) in view.iter_mut().zip(read.into_iter().flatten()) {
            *a = Unary::max(&mut self.graph, a, b);
        }
        Some(view)
    }

    /// After a write: what the thread has acquired and released.
    pub fn note_written(&mut self, id: EventId, done: Lit, cells: &[(usize, Lit)], state: &mut State) {
        self.note_acquired(state, None);
        if self.orders(id).releases {
            for &(cell, chosen) in cells {
                let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
                let here = self.graph.and(done, chosen);
                self.release(here, Some(cell), state);
            }
        }
    }

    /// Relaxed writes to a cell, or to all, publish what the thread sees, where the condition holds.
    pub fn release(&mut self, condition: Lit, only: Option<usize>, state: &mut State) {
        let Some(known) = &mut state.known else { return };
        let known = Rc::make_mut(known);
        for (cell, released) in known.released.iter_mut().enumerate() {
            if only.is_none_or(|only| only == cell) {
                for (stamp, seen) in released.iter_mut().zip(state.cells.iter()) {
                    *stamp = Unary::mux(&mut self.graph, condition, &seen.stamp, stamp);
                }
            }
        }
    }

    /// An acquire fence, where the condition holds.
    pub fn acquire(&mut self, condition: Lit, state: &mut State) {
        let Some(known) = state.known.clone() else { return };
        self.raise(condition, state, &known.acquired);
        self.note_acquired(state, None);
    }

    /// After the thread learnt from the start or the end of another one.
    pub fn note_joined(&mut self, state: &mut State) {
        self.note_acquired(state, None);
    }

    /// After the order of SC fences was passed.
    pub fn note_fenced(&mut self, done: Lit, state: &mut State) {
        self.note_acquired(state, None);
        self.release(done, None, state);
    }
}
