//! Coherence, propagation, and what reads read: the clauses between threads.

use super::reads::Reading;
use super::symbolic::Formula;
use super::{By, Kind, Last, Power, Rule};
use crate::aig::{Lit, Values};
use crate::limits::{Limits, StopReason};
use rustc_hash::FxHashMap;

/// What was encoded, for lifting.
#[derive(Default)]
pub(crate) struct Encoded {
    /// Stores that may write each cell, by cell, in program order per thread.
    writes: FxHashMap<usize, Vec<(usize, Lit)>>,
    co: FxHashMap<(usize, usize, usize), Lit>,
    /// By cell, store and thread.
    pub covers: FxHashMap<(usize, usize, usize), By>,
    own_covers: FxHashMap<(usize, usize, usize), By>,
    pub(super) settled: FxHashMap<(usize, usize, usize), By>,
    pub(super) known: FxHashMap<(usize, usize, usize, usize), By>,
    /// By cell, store-conditional and store: its load-reserve read it.
    pub(super) reserved: FxHashMap<(usize, usize, Option<usize>), Lit>,
    pub(super) reading: Reading,
}

impl Power {
    /// Adds all clauses between threads. After all threads have run.
    pub fn finish(&mut self, formula: &mut Formula, limits: Limits) -> Result<(), StopReason> {
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
            self.propagation(formula, cell, &within)?;
        }
        self.barriers(formula);
        for read in 0..self.reads.len() {
            within()?;
            self.read(formula, read);
            self.reads_initial(formula, read);
        }
        for store in 0..self.stores.len() {
            self.store_conditional(formula, store);
        }
        self.final_memory(formula);
        within()
    }

    pub(super) fn writes(&self, cell: usize) -> Vec<(usize, Lit)> {
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

    /// The same in a solution.
    pub(super) fn is_before(&self, values: &Values, cell: usize, a: usize, b: usize) -> bool {
        match self.stores[a].thread == self.stores[b].thread {
            true => a < b,
            false if a > b => !self.is_before(values, cell, b, a),
            false => self.encoded.co.get(&(cell, a, b)).is_some_and(|&lit| values.of(lit)),
        }
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
                        if self.has(Rule::CoherenceKeepsProgramOrder) {
                            formula.require([!later, earlier]);
                        }
                    }
                }
                for u in (0..self.threads).filter(|&u| u != s && u != t) {
                    for &a in &by_thread[s] {
                        for &b in &by_thread[t] {
                            for &c in &by_thread[u] {
                                let one = self.before(formula, cell, a, b);
                                let two = self.before(formula, cell, b, c);
                                let both = self.before(formula, cell, a, c);
                                if self.has(Rule::CoherenceIsTransitive) {
                                    formula.require([!one, !two, both]);
                                }
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

    fn propagation(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        within: &dyn Fn() -> Result<(), StopReason>,
    ) -> Result<(), StopReason> {
        let writes = self.writes(cell);
        for to in self.others(usize::MAX) {
            let covers: Vec<By> = writes.iter().map(|(w, _)| self.cover(formula, cell, *w, to)).collect();
            let lasts = self.last_covers(formula, &writes, &covers);
            for (at, &(w, when)) in writes.iter().enumerate() {
                within()?;
                for (other, &(v, _)) in writes.iter().enumerate() {
                    if self.stores[v].thread != self.stores[w].thread && self.has(Rule::CoverIsClosed) {
                        let order = self.before(formula, cell, w, v);
                        for (&there, &here) in covers[other].iter().zip(covers[at].iter()) {
                            formula.require([!when, !order, !there, here]);
                        }
                    }
                }
                for (k, &(_, later)) in lasts[at].iter().enumerate() {
                    if !self.has(Rule::CoverKeepsProgramOrder) {
                        break;
                    }
                    formula.require([!when, !later, covers[at][k]]);
                }
            }
            for (at, &(w, _)) in writes.iter().enumerate() {
                if self.stores[w].thread != to {
                    within()?;
                    self.news(formula, cell, (w, to), &writes, &covers[at], &lasts);
                }
            }
        }
        Ok(())
    }

    /// For each store and context: it is the last of its thread's stores that are covered; a later one is covered.
    pub(super) fn last_covers(
        &self,
        formula: &mut Formula,
        writes: &[(usize, Lit)],
        covers: &[By],
    ) -> Vec<Vec<(Lit, Lit)>> {
        let mut later = vec![vec![Lit::FALSE; self.contexts]; self.threads];
        let mut lasts = vec![Vec::new(); writes.len()];
        for (at, &(w, _)) in writes.iter().enumerate().rev() {
            let later = &mut later[self.stores[w].thread];
            for (k, &cover) in covers[at].iter().enumerate() {
                lasts[at].push((formula.graph.and(cover, !later[k]), later[k]));
                later[k] = formula.graph.or(later[k], cover);
            }
        }
        lasts
    }

    /// What a store, or one behind it, needs to reach a thread in a context.
    fn news(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        (w, to): (usize, usize),
        writes: &[(usize, Lit)],
        cover: &By,
        lasts: &[Vec<(Lit, Lit)>],
    ) {
        let from = self.stores[w].thread;
        let (commit, reached) = (self.stores[w].commit.clone(), self.stores[w].reached[to].clone());
        let fences = self.seen_fences(formula, w, to);
        for k in 0..self.contexts {
            let (now, before) = (cover[k], if k == 0 { Lit::FALSE } else { cover[k - 1] });
            formula.require([!now, before, self.live[k]]);
            for r in 0..self.threads {
                let active = self.active[r][k];
                if active == Lit::FALSE {
                    continue;
                }
                if r == from {
                    if self.has(Rule::ArrivesAfterCommit) {
                        formula.require([!now, before, !active, commit[k]]);
                    }
                    if self.has(Rule::ArrivesAfterOwnFences) {
                        formula.require([!now, before, !active, reached[k]]);
                    }
                    for (seen, reach) in fences.iter().filter(|_| self.has(Rule::ArrivesAfterSeenFences)) {
                        formula.require([!now, before, !active, !*seen, reach[k]]);
                    }
                    continue;
                }
                // It is before a store of the active thread: if before any, then before the last that is covered.
                let mut some = vec![!now, before, !active];
                for (other, &(v, _)) in writes.iter().enumerate() {
                    if self.stores[v].thread != r {
                        continue;
                    }
                    let order = self.before(formula, cell, w, v);
                    if self.has(Rule::ArrivesBehindLast) {
                        formula.require([!now, before, !active, !lasts[other][k].0, order]);
                    }
                    some.push(lasts[other][k].0);
                }
                if self.has(Rule::ArrivesCovered) {
                    formula.require(&some);
                }
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
            Last::Event(store) => self.settled(formula, cell, store, to),
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
            for to in self.others(p) {
                let reach = self.barriers[at].reaches[to].clone();
                for (cell, &own) in owns.iter().enumerate().filter(|(_, own)| **own != 0) {
                    let cover = self.own_cover(formula, cell, own, to);
                    self.waits(Rule::FenceCarriesOwn, formula, guard, &reach, &cover);
                }
                if self.barriers[at].fence != Kind::Eieio && self.has(Rule::FenceCarriesSeen) {
                    self.seen_stores(formula, at, to, &reach);
                }
            }
        }
    }

    /// Stores of third threads that had reached the fence's thread when it was committed. In the context in which the fence goes
    /// on, only own stores can cover them there: those before
    /// the fence, for the others come after it.
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
                // What only a store behind it stands for, not yet known to be behind it, the fence has not seen.
                let here = match self.is_established(cell) {
                    true => self.present(formula, cell, w, p),
                    false => self.cover(formula, cell, w, p),
                };
                let there = self.settled(formula, cell, w, to);
                let own = self.barriers[at].own[cell];
                let covered = self.before_own(formula, own, cell, w);
                let seen = formula.graph.input();
                for k in 0..self.contexts {
                    let before = if k == 0 { Lit::FALSE } else { there[k - 1] };
                    formula.require([!guard, !here[k], commit[k], seen]);
                    formula.require([!guard, !seen, !reach[k], before, covered]);
                }
            }
        }
    }

    fn final_memory(&mut self, formula: &mut Formula) {
        let Some(finals) = self.finals.clone() else { return };
        for (cell, (word, is_value)) in finals.iter().enumerate() {
            let writes = self.writes(cell);
            let mut none = Lit::TRUE;
            for &(w, when) in &writes {
                let mut last = when;
                if !self.has(Rule::FinalValueIsLast) {
                    continue;
                }
                for &(v, its) in writes.iter().filter(|(v, _)| *v != w) {
                    let later = self.before(formula, cell, w, v);
                    let hides = formula.graph.and(its, later);
                    last = formula.graph.and(last, !hides);
                }
                let value = self.stores[w].value.clone();
                formula.equal_if(last, word, &value);
                none = formula.graph.and(none, !when);
            }
            let (initial, was_value) = self.initial[cell].clone();
            formula.equal_if(none, word, &initial);
            let without = formula.graph.and(none, !was_value);
            let same = formula.graph.xnor(*is_value, !without);
            formula.require([same]);
        }
    }
}
