//! When it is established that a store is before another one in coherence order.
//!
//! The machine's coherence order grows: a store comes after another once it arrives, or is committed, at a process where the other one is. A fence waits until what it has
//! seen has arrived, or something that is *known by then* to be behind it. With two threads it makes no difference for what is reachable; with more it costs contexts. So for a fence
//!
//! * `present(w, q)[k]`: `w` is committed at `q`, or new at `q` in a context of its own thread by `k`;
//! * `known(w, v)[k]`, only if: it was before; or `v` is new in this context at a process where `w` is present; or there is one between;
//! * `settled(w, q)[k]`, only if `w` is present at `q`, or some `v` is with `known(w, v)[k]`.
//!
//! "Only if" is enough: a fence wants `settled` to hold. What is between two stores is nearer to both, so that reasons never go in circles.

use super::{By, Power};
use crate::symbolic::Formula;
use fencepost_bmc::aig::Lit;

/// Beyond so many triples of stores and contexts what is covered in the end counts as covered: the encoding has some runs more then, and the machine will not confirm them.
const MOST_TRIPLES: usize = 400_000;

impl Power {
    /// Whether a store is known to be covered at a thread, for each context.
    pub(super) fn settled(&mut self, formula: &mut Formula, cell: usize, store: usize, to: usize) -> By {
        let writes = self.writes(cell);
        let busy = self.busy.iter().filter(|busy| **busy).count();
        // A store-conditional makes orders known by itself; these reasons do not know them.
        let conditional = writes.iter().any(|(w, _)| self.stores[*w].reservation.is_some());
        if busy < 3 || conditional || writes.len().pow(3) * self.contexts > MOST_TRIPLES {
            return self.cover(formula, cell, store, to);
        }
        if let Some(known) = self.encoded.settled.get(&(cell, store, to)) {
            return known.clone();
        }
        let by: By = (0..self.contexts).map(|_| formula.graph.input()).collect();
        let here = self.present(formula, cell, store, to);
        for k in 0..self.contexts {
            let mut reasons = vec![!by[k], here[k]];
            for &(v, _) in writes.iter().filter(|(v, _)| *v != store) {
                let there = self.present(formula, cell, v, to);
                let known = self.known(formula, cell, store, v);
                reasons.push(formula.graph.and(there[k], known[k]));
            }
            formula.require(&reasons);
        }
        self.encoded.settled.insert((cell, store, to), by.clone());
        by
    }

    /// The store itself has come to a thread.
    fn present(&mut self, formula: &mut Formula, cell: usize, store: usize, at: usize) -> By {
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

    /// It is known that store `w` is before store `v`.
    fn known(&mut self, formula: &mut Formula, cell: usize, w: usize, v: usize) -> By {
        if let Some(known) = self.encoded.known.get(&(cell, w, v)) {
            return known.clone();
        }
        if self.stores[w].thread == self.stores[v].thread {
            let by: By = match w < v {
                true => self.cover(formula, cell, v, self.stores[v].thread),
                false => vec![Lit::FALSE; self.contexts].into(),
            };
            self.encoded.known.insert((cell, w, v), by.clone());
            return by;
        }
        let by: By = (0..self.contexts).map(|_| formula.graph.input()).collect();
        // What is between asks for this one's smaller parts.
        self.encoded.known.insert((cell, w, v), by.clone());
        let order = self.before(formula, cell, w, v);
        for k in 0..self.contexts {
            formula.require([!by[k], order]);
            let mut reasons = vec![!by[k]];
            if k > 0 {
                reasons.push(by[k - 1]);
            }
            for at in self.others(usize::MAX) {
                let (first, second) =
                    (self.present(formula, cell, w, at), self.present(formula, cell, v, at));
                // Only one thread is active in a context: the first was there before.
                if k > 0 {
                    let new = formula.graph.and(second[k], !second[k - 1]);
                    reasons.push(formula.graph.and(first[k - 1], new));
                }
            }
            for (u, _) in self.writes(cell) {
                if u != w && u != v {
                    let (one, two) = (self.known(formula, cell, w, u), self.known(formula, cell, u, v));
                    reasons.push(formula.graph.and(one[k], two[k]));
                }
            }
            formula.require(&reasons);
        }
        by
    }
}
