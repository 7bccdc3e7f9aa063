//! What reads read.
//!
//! What a thread has received of a cell changes from context to context, not from read to read. So for each cell, thread and
//! context `k` there is
//!
//! * `newest(w)[k]`: the foreign store `w` is the last in coherence order that has arrived by `k` (itself, or covered), `any[k]`
//!   if there is one, `value[k]` what it wrote;
//! * `changed[k]`: it is not the one that was the newest in the context before;
//! * `over(o)[k]`: it comes after the own store `o`.
//!
//! A read that is initialised in context `k` sees what has arrived by `k - 1`. With `own` its last own store it reads
//! `value[k - 1]` if `over(own)[k - 1]`, else what `own` wrote. `cov` is closed, so that all that is new in a context comes after
//! what was the newest before; hence
//! "what an earlier read of the cell has seen, this one has seen, or it is before the own store" (RdCnd) is:
//! in no context between this read and an earlier one that is initialised later is there something new that is over the own
//! store.

use super::symbolic::Formula;
use super::{By, Last, Power, Rule};
use crate::aig::Lit;
use crate::word::Word;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a thread has received of a cell.
struct Received {
    /// Foreign stores, and for each context whether each is the newest.
    newest: Vec<(usize, Vec<Lit>)>,
    any: Vec<Lit>,
    changed: Vec<Lit>,
    value: Vec<Word>,
}

/// What was encoded.
#[derive(Default)]
pub(crate) struct Reading {
    /// By cell and thread.
    received: FxHashMap<(usize, usize), Rc<Received>>,
    /// By cell, thread and last own store.
    over: FxHashMap<(usize, usize, usize), By>,
    /// By last read.
    initialised: FxHashMap<usize, By>,
    seen: FxHashMap<(usize, usize, usize), Lit>,
}

impl Power {
    /// What a read reads.
    pub(super) fn read(&mut self, formula: &mut Formula, read: usize) {
        let (thread, init) = (self.reads[read].thread, self.reads[read].init.clone());
        for at in 0..self.reads[read].cells.len() {
            let part = &self.reads[read].cells[at];
            let (cell, when, own, last_read) = (part.cell, part.when, part.own, part.last_read);
            let (value, own_value) = (part.value.clone(), part.own_value.clone());
            let received = self.received(formula, cell, thread);
            if received.newest.is_empty() {
                formula.equal_if(when, &value, &own_value);
                continue;
            }
            let over = self.over(formula, own, cell, thread);
            let earlier = self.initialised(formula, last_read);
            let mut foreign = Lit::FALSE;
            for k in 0..self.contexts {
                if self.has(Rule::ReadsInOrder) {
                    formula.require([!when, !init[k], earlier[k], !received.changed[k], !over[k]]);
                }
                // Nothing has arrived before the first context.
                if k == 0 {
                    continue;
                }
                let here = formula.graph.and(init[k], !init[k - 1]);
                let takes = formula.graph.and(here, over[k - 1]);
                let taken = formula.graph.and(when, takes);
                if self.has(Rule::ReadsNewest) {
                    formula.equal_if(taken, &value, &received.value[k - 1]);
                }
                foreign = formula.graph.or(foreign, takes);
            }
            let own = formula.graph.and(when, !foreign);
            formula.equal_if(own, &value, &own_value);
        }
    }

    /// Where a cell may be without a value: whether that is what the read reads.
    pub(super) fn reads_initial(&mut self, formula: &mut Formula, read: usize) {
        for at in 0..self.reads[read].cells.len() {
            let part = &self.reads[read].cells[at];
            let (cell, Some(initial)) = (part.cell, part.initial) else { continue };
            let last = self.last(Last::Event(read));
            let reads = self.has_read(formula, last, cell, None);
            let same = formula.graph.xnor(initial, reads);
            formula.require([same]);
        }
    }

    fn received(&mut self, formula: &mut Formula, cell: usize, thread: usize) -> Rc<Received> {
        if let Some(known) = self.encoded.reading.received.get(&(cell, thread)) {
            return known.clone();
        }
        let mut writes = self.writes(cell);
        writes.retain(|(w, _)| self.stores[*w].thread != thread);
        let covers: Vec<By> = writes.iter().map(|(w, _)| self.cover(formula, cell, *w, thread)).collect();
        let lasts = self.last_covers(formula, &writes, &covers);
        let only = |lasts: &Vec<(Lit, Lit)>| lasts.iter().map(|(last, _)| *last).collect();
        let lasts: Vec<Vec<Lit>> = lasts.iter().map(only).collect();
        let mut newest: Vec<(usize, Vec<Lit>)> = writes.iter().map(|(w, _)| *w).zip(lasts.clone()).collect();
        // Of the last stores of several threads the newest counts.
        for (w, bits) in &mut newest {
            for (other, &(v, _)) in writes.iter().enumerate() {
                if self.stores[v].thread != self.stores[*w].thread {
                    let later = self.before(formula, cell, *w, v);
                    for (bit, &last) in bits.iter_mut().zip(&lasts[other]) {
                        let hides = formula.graph.and(last, later);
                        *bit = formula.graph.and(*bit, !hides);
                    }
                }
            }
        }
        let (mut any, mut changed, mut value) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..self.contexts {
            let arrived: Vec<Lit> = covers.iter().map(|cover| cover[k]).collect();
            any.push(formula.graph.or_all(&arrived));
            let new: Vec<Lit> = covers
                .iter()
                .map(|cover| if k == 0 { cover[0] } else { formula.graph.and(cover[k], !cover[k - 1]) })
                .collect();
            changed.push(formula.graph.or_all(&new));
            let word = self.shapes.shapes[cell].input(&mut formula.graph);
            for (w, bits) in &newest {
                formula.equal_if(bits[k], &word, &self.stores[*w].value);
            }
            value.push(word);
        }
        let received = Rc::new(Received { newest, any, changed, value });
        self.encoded.reading.received.insert((cell, thread), received.clone());
        received
    }

    /// What has arrived is newer than the last own store.
    fn over(&mut self, formula: &mut Formula, own: usize, cell: usize, thread: usize) -> By {
        let key = (cell, thread, own);
        if let Some(known) = self.encoded.reading.over.get(&key) {
            return known.clone();
        }
        let received = self.received(formula, cell, thread);
        let by: By = match self.lasts[own] {
            Last::None => received.any.clone().into(),
            Last::Event(store) => {
                let bits: By = (0..self.contexts).map(|_| formula.graph.input()).collect();
                for (k, &bit) in bits.iter().enumerate() {
                    formula.require([!bit, received.any[k]]);
                    for (w, newest) in &received.newest {
                        let after = self.before(formula, cell, store, *w);
                        formula.require([!newest[k], !bit, after]);
                        formula.require([!newest[k], bit, !after]);
                    }
                }
                bits
            }
            Last::Mux(c, a, b) => {
                let (a, b) = (self.over(formula, a, cell, thread), self.over(formula, b, cell, thread));
                super::mux(&mut formula.graph, c, &a, &b)
            }
        };
        self.encoded.reading.over.insert(key, by.clone());
        by
    }

    /// When the last read of a cell was initialised.
    fn initialised(&mut self, formula: &mut Formula, last: usize) -> By {
        if let Some(known) = self.encoded.reading.initialised.get(&last) {
            return known.clone();
        }
        let by = match self.lasts[last] {
            Last::None => self.always(),
            Last::Event(read) => self.reads[read].init.clone(),
            Last::Mux(c, a, b) => {
                let (a, b) = (self.initialised(formula, a), self.initialised(formula, b));
                super::mux(&mut formula.graph, c, &a, &b)
            }
        };
        self.encoded.reading.initialised.insert(last, by.clone());
        by
    }

    /// A read was initialised when the store, or one behind it, had reached its thread.
    fn seen(&mut self, formula: &mut Formula, read: usize, cell: usize, store: usize) -> Lit {
        if let Some(&known) = self.encoded.reading.seen.get(&(read, cell, store)) {
            return known;
        }
        let (thread, init) = (self.reads[read].thread, self.reads[read].init.clone());
        let cover = self.cover(formula, cell, store, thread);
        let seen = formula.graph.input();
        formula.require([!init[0], !seen]);
        for k in 1..self.contexts {
            formula.require([!init[k], cover[k - 1], !seen]);
            formula.require([init[k - 1], !cover[k - 1], seen]);
        }
        // A read that is done in the last context at the latest: nothing that comes then is seen.
        self.encoded.reading.seen.insert((read, cell, store), seen);
        seen
    }

    /// The store is what the load-reserve read, or before that.
    fn not_after(&mut self, formula: &mut Formula, reservation: usize, cell: usize, store: usize) -> Lit {
        match self.lasts[reservation] {
            Last::None => Lit::FALSE,
            Last::Event(read) => {
                let own = self.reads[read].cells.iter().find(|c| c.cell == cell).map(|c| c.own);
                let Some(own) = own else { return Lit::FALSE };
                let seen = self.seen(formula, read, cell, store);
                let before = self.before_own(formula, own, cell, store);
                formula.graph.or(seen, before)
            }
            Last::Mux(c, a, b) => {
                let a = self.not_after(formula, a, cell, store);
                let b = self.not_after(formula, b, cell, store);
                formula.graph.mux(c, a, b)
            }
        }
    }

    /// The store is before the last own one.
    pub(super) fn before_own(&mut self, formula: &mut Formula, own: usize, cell: usize, store: usize) -> Lit {
        match self.lasts[own] {
            Last::None => Lit::FALSE,
            Last::Event(own) => self.before(formula, cell, store, own),
            Last::Mux(c, a, b) => {
                let a = self.before_own(formula, a, cell, store);
                let b = self.before_own(formula, b, cell, store);
                formula.graph.mux(c, a, b)
            }
        }
    }

    /// No store of another thread comes between what the load-reserve read and the store-conditional.
    pub(super) fn store_conditional(&mut self, formula: &mut Formula, store: usize) {
        let Some(reservation) = self.stores[store].reservation else { return };
        let thread = self.stores[store].thread;
        for (cell, when) in self.stores[store].cells.clone() {
            let reserved = self.reserves(formula, reservation, cell);
            if self.has(Rule::ReservedHere) {
                formula.require([!when, reserved]);
            }
            for (v, its) in self.writes(cell) {
                if self.stores[v].thread != thread && self.has(Rule::NothingBetween) {
                    let before = self.before(formula, cell, v, store);
                    let read = self.not_after(formula, reservation, cell, v);
                    formula.require([!when, !its, !before, read]);
                }
            }
        }
    }

    /// The load-reserve of a store-conditional read a store; `None` is the initial one.
    pub(super) fn reserved(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        conditional: usize,
        store: Option<usize>,
    ) -> Lit {
        let Some(reservation) = self.stores[conditional].reservation else { return Lit::FALSE };
        if let Some(&known) = self.encoded.reserved.get(&(cell, conditional, store)) {
            return known;
        }
        let read = self.has_read(formula, reservation, cell, store);
        self.encoded.reserved.insert((cell, conditional, store), read);
        read
    }

    /// The last load read a store: of what it has seen and the own one nothing is behind it.
    pub(super) fn has_read(
        &mut self,
        formula: &mut Formula,
        last: usize,
        cell: usize,
        store: Option<usize>,
    ) -> Lit {
        let read = match self.lasts[last] {
            Last::None => return Lit::FALSE,
            Last::Event(read) => read,
            Last::Mux(c, a, b) => {
                let a = self.has_read(formula, a, cell, store);
                let b = self.has_read(formula, b, cell, store);
                return formula.graph.mux(c, a, b);
            }
        };
        let own = self.reads[read].cells.iter().find(|c| c.cell == cell).map(|c| c.own);
        let Some(own) = own else { return Lit::FALSE };
        let thread = self.reads[read].thread;
        let foreign = store.filter(|store| self.stores[*store].thread != thread);
        let mut holds = match foreign {
            Some(store) => {
                let seen = self.seen(formula, read, cell, store);
                let before = self.before_own(formula, own, cell, store);
                formula.graph.and(seen, !before)
            }
            None => self.is_last(formula, own, store),
        };
        for (u, _) in self.writes(cell) {
            if self.stores[u].thread == thread || store == Some(u) {
                continue;
            }
            let behind = match foreign {
                Some(store) => self.before(formula, cell, store, u),
                None => !self.before_own(formula, own, cell, u),
            };
            let seen = self.seen(formula, read, cell, u);
            let hides = formula.graph.and(seen, behind);
            holds = formula.graph.and(holds, !hides);
        }
        holds
    }

    /// Which store the last own one is.
    fn is_last(&mut self, formula: &mut Formula, own: usize, store: Option<usize>) -> Lit {
        match self.lasts[own] {
            Last::None => Lit::constant(store.is_none()),
            Last::Event(event) => Lit::constant(store == Some(event)),
            Last::Mux(c, a, b) => {
                let (a, b) = (self.is_last(formula, a, store), self.is_last(formula, b, store));
                formula.graph.mux(c, a, b)
            }
        }
    }

    /// The last load that took a reservation took it for the cell.
    fn reserves(&mut self, formula: &mut Formula, last: usize, cell: usize) -> Lit {
        match self.lasts[last] {
            Last::None => Lit::FALSE,
            Last::Event(read) => {
                self.reads[read].cells.iter().find(|c| c.cell == cell).map_or(Lit::FALSE, |c| c.when)
            }
            Last::Mux(c, a, b) => {
                let (a, b) = (self.reserves(formula, a, cell), self.reserves(formula, b, cell));
                formula.graph.mux(c, a, b)
            }
        }
    }
}
