//! Following an execution of another model, such as the axiomatic one: reads read from the stores that they read from there, and
//! stores come in its coherence order. Threads may stop
//! before they have done all of it.

use super::symbolic::Formula;
use super::{Last, Power};
use crate::aig::Lit;
use std::collections::BTreeMap;

/// A thread and a step of the flat program.
pub type At = (usize, u32);

/// An execution: accesses as threads and steps of the flat program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Where each read reads from; `None` is the initial value.
    pub from: BTreeMap<At, Option<At>>,
    /// The stores to each cell, in coherence order.
    pub order: Vec<Vec<At>>,
}

impl Power {
    /// Leaves only runs that follow the execution. After all clauses between threads.
    pub fn follow(&mut self, formula: &mut Formula, execution: &Execution) {
        let by_place: BTreeMap<At, usize> =
            self.stores.iter().enumerate().map(|(i, store)| ((store.thread, store.step as u32), i)).collect();
        for read in 0..self.reads.len() {
            let (at, when) = ((self.reads[read].thread, self.reads[read].step as u32), self.reads[read].when);
            let from = execution.from.get(&at).map(|from| from.map(|from| by_place.get(&from).copied()));
            let last = self.last(Last::Event(read));
            let cells: Vec<(usize, Lit)> =
                self.reads[read].cells.iter().map(|part| (part.cell, part.when)).collect();
            for (cell, when) in cells {
                let reads = match from {
                    Some(None) => self.has_read(formula, last, cell, None),
                    Some(Some(Some(store))) => self.has_read(formula, last, cell, Some(store)),
                    // The execution does not have the read, or reads from what is not there.
                    None | Some(Some(None)) => Lit::FALSE,
                };
                formula.require([!when, reads]);
            }
            if from.is_none() {
                formula.require([!when]);
            }
        }
        for stores in &execution.order {
            let numbers: Vec<usize> = stores.iter().filter_map(|at| by_place.get(at).copied()).collect();
            for (i, &a) in numbers.iter().enumerate() {
                for &b in &numbers[i + 1..] {
                    self.in_order(formula, a, b);
                }
            }
        }
    }

    /// Where both stores are made, to one cell, the first comes first.
    fn in_order(&mut self, formula: &mut Formula, a: usize, b: usize) {
        for (cell, when) in self.stores[a].cells.clone() {
            for (_, its) in self.stores[b].cells.clone().into_iter().filter(|(other, _)| *other == cell) {
                let before = self.before(formula, cell, a, b);
                formula.require([!when, !its, before]);
            }
        }
    }
}
