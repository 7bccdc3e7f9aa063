//! Messages that somebody reads: slots, numbered by the time at which they appear; and who takes which timestamp of a cell.

use super::unary::Unary;
use crate::aig::{Graph, Lit};
use crate::formula::Formula;
use crate::word::Word;

/// A message that a view switch reads, in the run or in a certification, or a promise.
pub struct Slot {
    /// It is of this cell.
    pub cell: Vec<Lit>,
    /// Its value.
    pub value: Word,
    /// Its timestamp.
    pub stamp: Unary,
    /// What may fill it: a write, or a promise.
    filled: Lit,
    /// What reads it.
    readers: Vec<Lit>,
}

/// Sizes of the encoding.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// How many slots there are.
    pub slots: usize,
    /// The largest timestamp of each shared cell.
    pub stamps: Vec<usize>,
    /// Bits of a value, and whether it may be negative.
    pub value: (u32, bool),
}

/// All slots.
pub struct Slots {
    /// Slot 1 is the first.
    slots: Vec<Slot>,
    /// Per cell and timestamp from 1: the threads that may take it, each with its literal.
    owners: Vec<Vec<Vec<(u32, Lit)>>>,
}

impl Slots {
    /// Empty slots; `writers`: the threads that write each cell.
    pub fn new(graph: &mut Graph, formula: &mut Formula, sizes: &Sizes, writers: &[Vec<u32>]) -> Slots {
        let most = sizes.stamps.iter().copied().max().unwrap_or(0);
        let mut slots = Vec::new();
        for _ in 0..sizes.slots {
            let cell: Vec<Lit> = match sizes.stamps.len() {
                1 => vec![Lit::TRUE],
                n => (0..n).map(|_| graph.input()).collect(),
            };
            at_most_one(graph, formula, &cell);
            let stamp = Unary::input(graph, formula, most);
            for (&is, &stamps) in cell.iter().zip(&sizes.stamps) {
                formula.clause(&[!is, !stamp.at_least(stamps + 1)]);
            }
            let value = Word::input(graph, sizes.value.0, sizes.value.1);
            slots.push(Slot { cell, value, stamp, filled: Lit::FALSE, readers: Vec::new() });
        }
        let mut owners = Vec::new();
        for (threads, &stamps) in writers.iter().zip(&sizes.stamps) {
            let mut levels = Vec::new();
            for _ in 0..stamps {
                let lits: Vec<(u32, Lit)> = match threads.as_slice() {
                    [one] => vec![(*one, Lit::TRUE)],
                    _ => threads.iter().map(|&thread| (thread, graph.input())).collect(),
                };
                at_most_one(graph, formula, &lits.iter().map(|(_, lit)| *lit).collect::<Vec<_>>());
                levels.push(lits);
            }
            owners.push(levels);
        }
        Slots { slots, owners }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// A slot, by its number from 1.
    pub fn get(&self, number: usize) -> &Slot {
        &self.slots[number - 1]
    }

    /// A slot is one of these cells where the condition holds.
    pub fn require_cell(&self, formula: &mut Formula, condition: Lit, number: usize, cells: &[(usize, Lit)]) {
        let slot = self.get(number);
        for &(cell, chosen) in cells {
            match cells.len() {
                1 => formula.clause(&[!condition, slot.cell[cell]]),
                _ => formula.clause(&[!condition, !chosen, slot.cell[cell]]),
            }
        }
    }

    /// Somebody fills a slot where the literal holds; nobody else does.
    pub fn fill(&mut self, graph: &mut Graph, formula: &mut Formula, number: usize, by: Lit) {
        let slot = &mut self.slots[number - 1];
        formula.clause(&[!slot.filled, !by]);
        slot.filled = graph.or(slot.filled, by);
    }

    /// Somebody reads a slot where the literal holds.
    pub fn read(&mut self, number: usize, by: Lit) {
        self.slots[number - 1].readers.push(by);
    }

    /// A thread takes the timestamp of one of several cells where the condition holds.
    pub fn take(
        &self,
        formula: &mut Formula,
        condition: Lit,
        thread: u32,
        cells: &[(usize, Lit)],
        stamp: &Unary,
    ) {
        for &(cell, chosen) in cells {
            let chosen = if cells.len() == 1 { Lit::TRUE } else { chosen };
            let stamps = self.owners[cell].len();
            formula.clause(&[!condition, !chosen, !stamp.at_least(stamps + 1)]);
            for n in 1..=stamps {
                let mine = self.owners[cell][n - 1].iter().find(|(owner, _)| *owner == thread);
                let mine = mine.map_or(Lit::FALSE, |(_, lit)| *lit);
                formula.clause(&[!condition, !chosen, !stamp.at_least(n), stamp.at_least(n + 1), mine]);
            }
        }
    }

    /// Where somebody else than the thread takes a timestamp of a cell.
    pub fn taken_by_others(&self, cell: usize, stamp: usize, thread: u32) -> Vec<Lit> {
        let owners = self.owners[cell].get(stamp - 1).into_iter().flatten();
        owners.filter(|(owner, _)| *owner != thread).map(|(_, lit)| *lit).collect()
    }

    /// Slots are filled in order, and only what is read or promised is in a slot.
    pub fn finish(&self, formula: &mut Formula) {
        for pair in self.slots.windows(2) {
            formula.clause(&[!pair[1].filled, pair[0].filled]);
        }
        for slot in &self.slots {
            let mut read = slot.readers.clone();
            read.push(!slot.filled);
            formula.clause(&read);
            for &reader in &slot.readers {
                formula.clause(&[!reader, slot.filled]);
            }
        }
    }
}

/// At most one of them, by a ladder.
pub fn at_most_one(graph: &mut Graph, formula: &mut Formula, lits: &[Lit]) {
    let mut before = Lit::FALSE;
    for &lit in lits {
        formula.clause(&[!before, !lit]);
        before = graph.or(before, lit);
    }
}
