//! A solution as a run: in which context each thing happens.

use super::symbolic::Formula;
use super::{By, Power};
use crate::aig::Values;
use fencepost_ir::Value;
use std::collections::BTreeMap;

/// A run of the POWER machine, as far as a solution says: threads and steps are those of the flat program, contexts count from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PowerRun {
    /// Who is active in each context.
    pub active: Vec<usize>,
    /// When reads are initialised, by thread and step.
    pub init: BTreeMap<(usize, u32), usize>,
    /// When accesses and fences are committed; what is not here was not fetched.
    pub commit: BTreeMap<(usize, u32), usize>,
    /// When stores and fences have reached another thread.
    pub reach: BTreeMap<(usize, u32, usize), usize>,
    /// The ways of branches, and whether assumptions and assertions hold, of those that are on the way.
    pub ways: BTreeMap<(usize, u32), bool>,
    /// Values that were chosen.
    pub choices: BTreeMap<(usize, u32), Value>,
}

impl Power {
    /// The run of a solution with so many contexts.
    pub fn lift(&self, formula: &Formula, values: &Values, contexts: u32) -> PowerRun {
        let when = |by: &By| by.iter().position(|&bit| values.of(bit)).unwrap_or(usize::MAX);
        let mut run = PowerRun::default();
        for k in 0..contexts as usize {
            run.active.push((0..self.threads).find(|&p| values.of(self.active[p][k])).unwrap_or(0));
        }
        for read in self.reads.iter().filter(|read| values.of(read.when)) {
            let at = (read.thread, read.step as u32);
            run.init.insert(at, when(&read.init));
            run.commit.insert(at, when(&read.commit));
        }
        for (number, store) in self.stores.iter().enumerate().filter(|(_, store)| values.of(store.guard)) {
            let at = (store.thread, store.step as u32);
            run.commit.insert(at, when(&store.commit));
            for &(cell, _) in store.cells.iter().filter(|(_, when)| values.of(*when)) {
                for q in self.others(store.thread) {
                    if let Some(cover) = self.encoded.covers.get(&(cell, number, q)) {
                        run.reach.insert((at.0, at.1, q), when(cover));
                    }
                }
                // Idle threads are reached at once, unless by then a store behind it is there.
                let now = when(&store.commit);
                let behind = |v: usize| {
                    self.stores[v].thread != store.thread
                        && when(&self.stores[v].commit) < now
                        && self.is_before(values, cell, number, v)
                };
                let hidden = self.writes(cell).iter().any(|&(v, its)| values.of(its) && behind(v));
                for q in (0..self.threads).filter(|&q| !self.busy[q] && q != store.thread && !hidden) {
                    run.reach.insert((at.0, at.1, q), now);
                }
            }
        }
        for barrier in self.barriers.iter().filter(|barrier| values.of(barrier.guard)) {
            let at = (barrier.thread, barrier.step as u32);
            run.commit.insert(at, when(&barrier.commit));
            for q in (0..self.threads).filter(|&q| q != barrier.thread) {
                run.reach.insert((at.0, at.1, q), when(&barrier.reaches[q]));
            }
        }
        for &(thread, step, _, taken) in formula.branches.iter().filter(|(.., guard, _)| values.of(*guard)) {
            run.ways.insert((thread, step as u32), values.of(taken));
        }
        for (thread, step, word) in &formula.choices {
            run.choices.insert((*thread, *step as u32), word.evaluate(values));
        }
        run
    }
}
