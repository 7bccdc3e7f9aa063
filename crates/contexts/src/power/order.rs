//! Coherence, propagation, and what reads read: the clauses between threads.

use super::{By, Kind, Last, Power};
use crate::symbolic::Formula;
use fencepost_bmc::aig::Lit;
use fencepost_bmc::limits::{Limits, StopReason};
use rustc_hash::FxHashMap;

/// What was encoded, for lifting.
#[derive(Default)]
pub(crate) struct Encoded {
    /// Stores that may write each cell, by cell, in program order per thread.
    writes: FxHashMap<usize, Vec<(usize, Lit)>>,
    co: FxHashMap<(usize, usize, usize), Lit>,
    /// By cell, store and thread.
    pub covers: FxHashMap<(usize, usize, usize), By>,
    seen: FxHashMap<(usize, usize, usize), Lit>,
    resolved: FxHashMap<(u8, usize, usize, usize), Lit>,
    own_covers: FxHashMap<(usize, usize, usize), By>,
}

impl Power {
    /// Adds all clauses between threads. After all threads have run.
    pub fn finish(&mut self, formula: &mut Formula, limits: Limits<'_>) -> Result<(), StopReason> {
        let within = || limits.reached().map_or(Ok(()), Err);
        let mut writes: FxHashMap<usize, Vec<(usize, Lit)>> = FxHashMap::default();
        for (number, store) in self.stores.iter().enumerate() {
            for &(cell, when) in store.cells.iter().filter(|(_, when)| *when != Lit::FALSE) {
                writes.entry(cell).or_default().push((number, when));
            }
        }
        let mut cells: Vec<usize> = writes.keys().copied().collect();
        cells.sort_unstable();
        self.encoded.writes = writes;
        for &cell in &cells {
            self.coherence(formula, cell);
            self.propagation(formula, cell);
            within()?;
        }
        self.barriers(formula);
        for read in 0..self.reads.len() {
            if read % 16 == 0 {
                within()?;
            }
            for at in 0..self.reads[read].cells.len() {
                self.read(formula, read, at);
            }
        }
        for store in 0..self.stores.len() {
            self.store_conditional(formula, store);
        }
        self.final_memory(formula);
        within()
    }

    fn writes(&self, cell: usize) -> Vec<(usize, Lit)> {
        self.encoded.writes.get(&cell).cloned().unwrap_or_default()
    }

    /// Store `a` comes before store `b` in the coherence order of a cell.
    pub(crate) fn before(&mut self, formula: &mut Formula, cell: usize, a: usize, b: usize) -> Lit {
        if self.stores[a].thread == self.stores[b].thread {
            return Lit::constant(a < b);
        }
        if a > b {
            return !self.before(formula, cell, b, a);
        }
        *self.encoded.co.entry((cell, a, b)).or_insert_with(|| formula.graph.input())
    }

    /// Program order is part of it, and it is transitive.
    fn coherence(&mut self, formula: &mut Formula, cell: usize) {
        let writes = self.writes(cell);
        let by_thread: Vec<Vec<usize>> = (0..self.threads)
            .map(|p| writes.iter().map(|(w, _)| *w).filter(|&w| self.stores[w].thread == p).collect())
            .collect();
        for s in 0..self.threads {
            for t in (0..self.threads).filter(|&t| t != s) {
                for &b in &by_thread[t] {
                    for pair in by_thread[s].windows(2) {
                        let later = self.before(formula, cell, pair[1], b);
                        let earlier = self.before(formula, cell, pair[0], b);
                        formula.require([!later, earlier]);
                    }
                }
                for u in (0..self.threads).filter(|&u| u != s && u != t) {
                    for &a in &by_thread[s] {
                        for &b in &by_thread[t] {
                            for &c in &by_thread[u] {
                                let one = self.before(formula, cell, a, b);
                                let two = self.before(formula, cell, b, c);
                                let both = self.before(formula, cell, a, c);
                                formula.require([!one, !two, both]);
                            }
                        }
                    }
                }
            }
        }
    }

    /// The store or one behind it has reached a thread.
    pub(crate) fn cover(&mut self, formula: &mut Formula, cell: usize, store: usize, to: usize) -> By {
        if let Some(known) = self.encoded.covers.get(&(cell, store, to)) {
            return known.clone();
        }
        let when = self.writes(cell).iter().find(|(w, _)| *w == store).map_or(Lit::FALSE, |(_, when)| *when);
        let by: By = match self.stores[store].thread == to {
            true => self.stores[store].commit.clone().iter().map(|&c| formula.graph.and(c, when)).collect(),
            false => {
                let bits: Vec<Lit> = (0..self.contexts).map(|_| formula.graph.input()).collect();
                let mut before = Lit::FALSE;
                for &bit in &bits {
                    formula.require([!before, bit]);
                    before = bit;
                }
                formula.require([!before, when]);
                formula.require([!when, before]);
                bits.into()
            }
        };
        self.encoded.covers.insert((cell, store, to), by.clone());
        by
    }

    fn propagation(&mut self, formula: &mut Formula, cell: usize) {
        let writes = self.writes(cell);
        for to in 0..self.threads {
            let covers: Vec<By> = writes.iter().map(|(w, _)| self.cover(formula, cell, *w, to)).collect();
            for (at, &(w, when)) in writes.iter().enumerate() {
                // Stores of the same thread behind it: one bit for all of them.
                let mut later = vec![Lit::FALSE; self.contexts];
                for (other, &(v, _)) in writes.iter().enumerate().filter(|(other, _)| *other != at) {
                    let order = self.before(formula, cell, w, v);
                    let same = self.stores[v].thread == self.stores[w].thread;
                    for k in 0..self.contexts {
                        if same && order == Lit::TRUE {
                            later[k] = formula.graph.or(later[k], covers[other][k]);
                        } else if !same {
                            formula.require([!when, !order, !covers[other][k], covers[at][k]]);
                        }
                    }
                }
                for k in 0..self.contexts {
                    formula.require([!when, !later[k], covers[at][k]]);
                }
                if self.stores[w].thread != to {
                    self.news(formula, cell, (w, to), &writes, &covers, at);
                }
            }
        }
    }

    /// What a store, or one behind it, needs to reach a thread in a context.
    fn news(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        (w, to): (usize, usize),
        writes: &[(usize, Lit)],
        covers: &[By],
        at: usize,
    ) {
        let from = self.stores[w].thread;
        let (commit, reached) = (self.stores[w].commit.clone(), self.stores[w].reached[to].clone());
        let fences = self.seen_fences(formula, w, to);
        for k in 0..self.contexts {
            let (now, before) = (covers[at][k], if k == 0 { Lit::FALSE } else { covers[at][k - 1] });
            formula.require([!now, before, self.live[k]]);
            for r in 0..self.threads {
                let active = self.active[r][k];
                if active == Lit::FALSE {
                    continue;
                }
                if r == from {
                    formula.require([!now, before, !active, commit[k]]);
                    formula.require([!now, before, !active, reached[k]]);
                    for (seen, reach) in &fences {
                        formula.require([!now, before, !active, !*seen, reach[k]]);
                    }
                    continue;
                }
                let mut reasons = vec![!now, before, !active];
                for (other, &(v, _)) in writes.iter().enumerate() {
                    if self.stores[v].thread == r {
                        let order = self.before(formula, cell, w, v);
                        reasons.push(formula.graph.and(order, covers[other][k]));
                    }
                }
                formula.require(&reasons);
            }
        }
    }

    /// Fences of third threads that had reached the store's thread when it was committed, and when they reach another.
    fn seen_fences(&mut self, formula: &mut Formula, w: usize, to: usize) -> Vec<(Lit, By)> {
        let (from, commit) = (self.stores[w].thread, self.stores[w].commit.clone());
        let mut found = Vec::new();
        for barrier in &self.barriers {
            // A `sync` reaches everybody at once, so it holds nothing up.
            if barrier.fence == Kind::Sync || barrier.thread == from || barrier.thread == to {
                continue;
            }
            let seen = formula.graph.input();
            for k in 0..self.contexts {
                formula.require([!barrier.guard, !barrier.reaches[from][k], commit[k], seen]);
            }
            found.push((seen, barrier.reaches[to].clone()));
        }
        found
    }

    /// When the last own store to a cell has reached a thread.
    fn own_cover(&mut self, formula: &mut Formula, cell: usize, own: usize, to: usize) -> By {
        if let Some(known) = self.encoded.own_covers.get(&(cell, own, to)) {
            return known.clone();
        }
        let by = match self.lasts[own] {
            Last::None => self.always(),
            Last::Event(store) => self.cover(formula, cell, store, to),
            Last::Mux(c, a, b) => {
                let (a, b) = (self.own_cover(formula, cell, a, to), self.own_cover(formula, cell, b, to));
                super::mux(&mut formula.graph, c, &a, &b)
            }
        };
        self.encoded.own_covers.insert((cell, own, to), by.clone());
        by
    }

    /// A fence reaches a thread after what it has seen.
    fn barriers(&mut self, formula: &mut Formula) {
        for at in 0..self.barriers.len() {
            let (p, guard) = (self.barriers[at].thread, self.barriers[at].guard);
            let owns = self.barriers[at].own.clone();
            for to in (0..self.threads).filter(|&to| to != p) {
                let reach = self.barriers[at].reaches[to].clone();
                for (cell, &own) in owns.iter().enumerate().filter(|(_, own)| **own != 0) {
                    let cover = self.own_cover(formula, cell, own, to);
                    self.waits(formula, guard, &reach, &cover);
                }
                if self.barriers[at].fence != Kind::Eieio {
                    self.seen_stores(formula, at, to, &reach);
                }
            }
        }
    }

    /// Stores of third threads that had reached the fence's thread when it was committed.
    fn seen_stores(&mut self, formula: &mut Formula, at: usize, to: usize, reach: &By) {
        let (p, guard, commit) =
            (self.barriers[at].thread, self.barriers[at].guard, self.barriers[at].commit.clone());
        let mut cells: Vec<usize> = self.encoded.writes.keys().copied().collect();
        cells.sort_unstable();
        for cell in cells {
            for (w, _) in self.writes(cell) {
                let thread = self.stores[w].thread;
                if thread == p || thread == to {
                    continue;
                }
                let (here, there) = (self.cover(formula, cell, w, p), self.cover(formula, cell, w, to));
                let seen = formula.graph.input();
                for k in 0..self.contexts {
                    formula.require([!guard, !here[k], commit[k], seen]);
                    formula.require([!guard, !seen, !reach[k], there[k]]);
                }
            }
        }
    }

    /// A read was initialised when the store, or one behind it, had reached its thread.
    fn seen(&mut self, formula: &mut Formula, read: usize, cell: usize, store: usize) -> Lit {
        if let Some(&known) = self.encoded.seen.get(&(read, cell, store)) {
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
        self.encoded.seen.insert((read, cell, store), seen);
        seen
    }

    /// Walks through the last events on all ways: `what` 0: the store is before the last own one; 1: it was seen by the last read; 2: it is what the
    /// load-reserve read, or before that.
    fn resolve(&mut self, formula: &mut Formula, what: u8, last: usize, cell: usize, store: usize) -> Lit {
        let key = (what, last, cell, store);
        if let Some(&known) = self.encoded.resolved.get(&key) {
            return known;
        }
        let lit = match self.lasts[last] {
            Last::None => Lit::FALSE,
            Last::Event(own) if what == 0 => self.before(formula, cell, store, own),
            Last::Event(read) if what == 1 => self.seen(formula, read, cell, store),
            Last::Event(read) => {
                let own = self.reads[read].cells.iter().find(|c| c.cell == cell).map(|c| c.own);
                let seen = self.seen(formula, read, cell, store);
                match own {
                    None => Lit::FALSE,
                    Some(own) => {
                        let before = self.resolve(formula, 0, own, cell, store);
                        formula.graph.or(seen, before)
                    }
                }
            }
            Last::Mux(c, a, b) => {
                let (a, b) = (
                    self.resolve(formula, what, a, cell, store),
                    self.resolve(formula, what, b, cell, store),
                );
                formula.graph.mux(c, a, b)
            }
        };
        self.encoded.resolved.insert(key, lit);
        lit
    }

    fn read(&mut self, formula: &mut Formula, read: usize, at: usize) {
        let thread = self.reads[read].thread;
        let part = &self.reads[read].cells[at];
        let (cell, when, own, last_read) = (part.cell, part.when, part.own, part.last_read);
        let (value, own_value) = (part.value.clone(), part.own_value.clone());
        let foreign: Vec<(usize, Lit)> =
            self.writes(cell).into_iter().filter(|(w, _)| self.stores[*w].thread != thread).collect();
        let mut visible = Vec::with_capacity(foreign.len());
        for &(w, _) in &foreign {
            let seen = self.seen(formula, read, cell, w);
            let covered = self.resolve(formula, 0, own, cell, w);
            let earlier = self.resolve(formula, 1, last_read, cell, w);
            formula.require([!when, !earlier, seen, covered]);
            visible.push(formula.graph.and(seen, !covered));
        }
        for (i, &(w, _)) in foreign.iter().enumerate() {
            let mut last = visible[i];
            for (j, &(v, _)) in foreign.iter().enumerate().filter(|(j, _)| *j != i) {
                let later = self.before(formula, cell, w, v);
                let hides = formula.graph.and(visible[j], later);
                last = formula.graph.and(last, !hides);
            }
            let from = formula.graph.and(when, last);
            formula.equal_if(from, &value, &self.stores[w].value);
        }
        let any = formula.graph.or_all(&visible);
        let own = formula.graph.and(when, !any);
        formula.equal_if(own, &value, &own_value);
    }

    /// No store of another thread comes between what the load-reserve read and the store-conditional.
    fn store_conditional(&mut self, formula: &mut Formula, store: usize) {
        let Some(reservation) = self.stores[store].reservation else { return };
        let thread = self.stores[store].thread;
        for (cell, when) in self.stores[store].cells.clone() {
            let reserved = self.reserves(formula, reservation, cell);
            formula.require([!when, reserved]);
            for (v, its) in self.writes(cell) {
                if self.stores[v].thread != thread {
                    let before = self.before(formula, cell, v, store);
                    let read = self.resolve(formula, 2, reservation, cell, v);
                    formula.require([!when, !its, !before, read]);
                }
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

    fn final_memory(&mut self, formula: &mut Formula) {
        let Some(finals) = self.finals.clone() else { return };
        for (cell, word) in finals.iter().enumerate() {
            let writes = self.writes(cell);
            let mut none = Lit::TRUE;
            for &(w, when) in &writes {
                let mut last = when;
                for &(v, its) in writes.iter().filter(|(v, _)| *v != w) {
                    let later = self.before(formula, cell, w, v);
                    let hides = formula.graph.and(its, later);
                    last = formula.graph.and(last, !hides);
                }
                let value = self.stores[w].value.clone();
                formula.equal_if(last, word, &value);
                none = formula.graph.and(none, !when);
            }
            let initial = self.initial[cell].clone();
            formula.equal_if(none, word, &initial);
        }
    }
}
