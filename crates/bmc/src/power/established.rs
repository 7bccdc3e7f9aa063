//! When it is established that a store is before another one in coherence order.
//!
//! The machine's coherence order grows: a store comes after another once it arrives, or is committed, at a process where the
//! other one is. A fence waits until what it has
//! seen has arrived, or something that is *known by then* to be behind it. The order that there is in the end may let it go on
//! earlier, which saves a context. So for a fence
//!
//! * `present(w, q)[k]`: `w` is committed at `q`, or new at `q` in a context of its own thread by `k`;
//! * `known(w, v)[k]`, only if: it was before; or `v` is new in this context at a process where `w` is present; or there is one
//!   between;
//!   or a committed store-conditional `s`, whose load-reserve read `f`, makes it known: nothing of another thread comes between
//!   the two, so that `f` before `v` puts `s` before `v`,
//!   and `w` before `s` puts `w` before `f`;
//! * `settled(w, q)[k]`, only if `w` is present at `q`, or some `v` is with `known(w, v)[k]`.
//!
//! "Only if" is enough: a fence wants `settled` to hold. What is between two stores is nearer to both, so that those reasons
//! never go in circles. Those of store-conditionals could:
//! `known` has a level for each, and these reasons are about the level below. So many levels are enough: what is known is a path
//! from store to store on which each store-conditional is
//! left for what it read at most once.

use super::symbolic::Formula;
use super::{By, Power, Rule};
use crate::aig::Lit;

/// Beyond so many triples of stores and contexts what is covered in the end counts as covered: the encoding has some runs more
/// then, and the machine will not confirm them.
const MOST_TRIPLES: usize = 400_000;

impl Power {
    /// It is followed when orders of a cell become known.
    pub(super) fn is_established(&self, cell: usize) -> bool {
        let busy = self.busy.iter().filter(|busy| **busy).count();
        let levels = self.conditionals(cell).len() + 1;
        busy >= 2
            && self.has(Rule::FenceKnows)
            && self.writes(cell).len().pow(3) * self.contexts * levels <= MOST_TRIPLES
    }

    /// Whether a store is known to be covered at a thread, for each context.
    pub(super) fn settled(&mut self, formula: &mut Formula, cell: usize, store: usize, to: usize) -> By {
        if !self.is_established(cell) {
            return self.cover(formula, cell, store, to);
        }
        let (writes, level) = (self.writes(cell), self.conditionals(cell).len());
        if let Some(known) = self.encoded.settled.get(&(cell, store, to)) {
            return known.clone();
        }
        let by: By = (0..self.contexts).map(|_| formula.graph.input()).collect();
        let here = self.present(formula, cell, store, to);
        for k in 0..self.contexts {
            let mut reasons = vec![!by[k], here[k]];
            for &(v, _) in writes.iter().filter(|(v, _)| *v != store) {
                let there = self.present(formula, cell, v, to);
                let known = self.known(formula, cell, (store, v), level);
                reasons.push(formula.graph.and(there[k], known[k]));
            }
            formula.require(&reasons);
        }
        self.encoded.settled.insert((cell, store, to), by.clone());
        by
    }

    /// The store itself has come to a thread.
    pub(super) fn present(&mut self, formula: &mut Formula, cell: usize, store: usize, at: usize) -> By {
        let cover = self.cover(formula, cell, store, at);
        let of = self.stores[store].thread;
        if of == at {
            return cover;
        }
        let (mut before, mut arrived, mut bits) = (Lit::FALSE, Lit::FALSE, Vec::new());
        for k in 0..self.contexts {
            let new = formula.graph.and(cover[k], !before);
            let now = formula.graph.and(new, self.active[of][k]);
            arrived = formula.graph.or(arrived, now);
            bits.push(arrived);
            before = cover[k];
        }
        bits.into()
    }

    /// The store-conditionals that may write a cell.
    fn conditionals(&self, cell: usize) -> Vec<usize> {
        let conditional = |w: &usize| self.stores[*w].reservation.is_some();
        self.writes(cell).iter().map(|(w, _)| *w).filter(conditional).collect()
    }

    /// It is known that store `w` is before store `v`.
    fn known(&mut self, formula: &mut Formula, cell: usize, (w, v): (usize, usize), level: usize) -> By {
        if let Some(known) = self.encoded.known.get(&(cell, w, v, level)) {
            return known.clone();
        }
        if self.stores[w].thread == self.stores[v].thread {
            let by: By = match w < v {
                true => self.cover(formula, cell, v, self.stores[v].thread),
                false => vec![Lit::FALSE; self.contexts].into(),
            };
            self.encoded.known.insert((cell, w, v, level), by.clone());
            return by;
        }
        let by: By = (0..self.contexts).map(|_| formula.graph.input()).collect();
        // What is between asks for this one's smaller parts.
        self.encoded.known.insert((cell, w, v, level), by.clone());
        let order = self.before(formula, cell, w, v);
        let mut reasons: Vec<Vec<Lit>> = by.iter().map(|&by| vec![!by]).collect();
        match level {
            0 => self.meetings(formula, cell, (w, v), &mut reasons),
            _ => self.bound_together(formula, cell, (w, v), level - 1, &mut reasons),
        }
        for (u, _) in self.writes(cell) {
            if u != w && u != v {
                let (one, two) =
                    (self.known(formula, cell, (w, u), level), self.known(formula, cell, (u, v), level));
                for (k, reasons) in reasons.iter_mut().enumerate() {
                    reasons.push(formula.graph.and(one[k], two[k]));
                }
            }
        }
        for (k, reasons) in reasons.iter().enumerate() {
            formula.require([!by[k], order]);
            formula.require(reasons);
        }
        by
    }

    /// It was known before, or the second comes to where the first is.
    fn meetings(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        (w, v): (usize, usize),
        reasons: &mut [Vec<Lit>],
    ) {
        let before = self.known(formula, cell, (w, v), self.conditionals(cell).len());
        for at in self.others(usize::MAX) {
            let (first, second) = (self.present(formula, cell, w, at), self.present(formula, cell, v, at));
            for k in 1..self.contexts {
                // Only one thread is active in a context: the first was there before.
                let new = formula.graph.and(second[k], !second[k - 1]);
                reasons[k].push(formula.graph.and(first[k - 1], new));
            }
        }
        for k in 1..self.contexts {
            reasons[k].push(before[k - 1]);
        }
    }

    /// Store-conditionals and what their load-reserves read have the same stores of other threads before and behind them.
    fn bound_together(
        &mut self,
        formula: &mut Formula,
        cell: usize,
        (w, v): (usize, usize),
        level: usize,
        reasons: &mut [Vec<Lit>],
    ) {
        let below = self.known(formula, cell, (w, v), level);
        reasons.iter_mut().zip(below.iter()).for_each(|(reasons, &below)| reasons.push(below));
        let committed = |power: &mut Power, formula: &mut Formula, w: usize| {
            let thread = power.stores[w].thread;
            power.cover(formula, cell, w, thread)
        };
        if self.stores[w].reservation.is_some() {
            let (here, there) = (committed(self, formula, w), committed(self, formula, v));
            let initial = self.reserved(formula, cell, w, None);
            for k in 0..self.contexts {
                let both = formula.graph.and(here[k], there[k]);
                reasons[k].push(formula.graph.and(both, initial));
            }
            for (f, _) in self.writes(cell) {
                if f != w && f != v {
                    let read = self.reserved(formula, cell, w, Some(f));
                    let known = self.known(formula, cell, (f, v), level);
                    for k in 0..self.contexts {
                        let both = formula.graph.and(here[k], known[k]);
                        reasons[k].push(formula.graph.and(both, read));
                    }
                }
            }
        }
        for s in self.conditionals(cell) {
            if s != v && self.stores[s].thread != self.stores[w].thread {
                let read = self.reserved(formula, cell, s, Some(v));
                let known = self.known(formula, cell, (w, s), level);
                for k in 0..self.contexts {
                    reasons[k].push(formula.graph.and(known[k], read));
                }
            }
        }
    }
}
