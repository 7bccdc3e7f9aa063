//! Invariant inference in the manner of BRAB (Conchon, Goel, Krstic, Mebsout, Zaidi, FMCAD 2013): while searching
//! backwards, replace a cube by a part of it that no state of a small explicit instance satisfies. If the instance is
//! telling, the part is unreachable in all instances and cuts the search short; if not, it leads to the initial states
//! and the search restarts without it. Safety does not depend on the oracle.
//!
//! The oracle runs the store-buffer machine of the memory model, so under TSO and PSO it knows the states with
//! buffered writes too. A part of a cube keeps the reads of one event at most and no order: it then says what processes
//! see in one state, which is what the oracle can look up.

use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::{LinOp, Lit};
use crate::machine::{Machine, State, explore, tuples};
use crate::memory::Memory;
use crate::model::Model;
use crate::pre::Context;
use crate::system::{MAX_ARITY, NONE, ProcRef, System};
use rustc_hash::{FxHashMap, FxHashSet};

/// States that the oracle explores at most.
const MAX_STATES: usize = 60_000;
/// Longest buffer in the oracle.
const MAX_BUFFER: usize = 2;

/// The oracle and what it was asked.
pub struct Brab<'a> {
    machine: Machine<'a>,
    states: Vec<State>,
    /// Answers so far: whether some state satisfies the cube.
    known: FxHashMap<Cube, bool>,
    /// Approximations that led to the initial states.
    forbidden: FxHashSet<Cube>,
    max_literals: usize,
    /// Approximations made since the last restart.
    pub made: usize,
}

impl<'a> Brab<'a> {
    /// An oracle that explores `procs` processes.
    pub fn new(system: &'a System, model: Model, procs: u8, enough: &mut dyn FnMut() -> bool) -> Brab<'a> {
        let procs = system.number_procs.unwrap_or(procs);
        let mut machine = Machine::new(system, model, procs);
        machine.max_buffer = MAX_BUFFER;
        let exploration = explore(&machine, MAX_STATES, false, enough);
        let states = exploration.states.into_iter().map(|s| s.0).collect();
        let max_literals = 2.max(usize::from(procs) + 1);
        Brab {
            machine,
            states,
            known: FxHashMap::default(),
            forbidden: FxHashSet::default(),
            max_literals,
            made: 0,
        }
    }

    /// Never makes that approximation again.
    pub fn forbid(&mut self, cube: Cube) {
        self.forbidden.insert(cube);
        self.made = 0;
    }

    /// A larger cube to go on with, the most general that the oracle has not seen.
    pub fn approximate(&mut self, context: &Context, cube: &Cube) -> Option<Cube> {
        for candidate in self.candidates(context, cube) {
            if self.forbidden.contains(&candidate) || context.meets_init(&candidate) {
                continue;
            }
            let seen = match self.known.get(&candidate) {
                Some(seen) => *seen,
                None => {
                    let seen = self.is_seen(&candidate);
                    self.known.insert(candidate.clone(), seen);
                    seen
                }
            };
            if !seen {
                self.made += 1;
                return Some(candidate);
            }
        }
        None
    }

    /// Parts of the cube, fewest processes and literals first.
    fn candidates(&self, context: &Context, cube: &Cube) -> Vec<Cube> {
        let n = cube.lits.len().min(16);
        let fixed = context.system.number_procs.is_some();
        let mut result: Vec<Cube> = Vec::new();
        for subset in 1u32..1 << n {
            let count = subset.count_ones() as usize;
            if count > self.max_literals || count >= cube.lits.len() && cube.memory == Memory::default() {
                continue;
            }
            let lits: Vec<CubeLit> =
                (0..n).filter(|i| subset >> i & 1 == 1).map(|i| cube.lits[i].clone()).collect();
            let Some(memory) = part_of_memory(&cube.memory, &lits) else { continue };
            let mut candidate = Cube { procs: cube.procs, lits, memory };
            candidate.compact(fixed);
            if candidate.procs <= self.machine.procs {
                result.push(candidate);
            }
        }
        result.sort_by_key(|c| (c.size(), c.procs));
        result
    }

    /// Whether some explored state satisfies the cube, with some choice of processes.
    fn is_seen(&self, cube: &Cube) -> bool {
        let choices = match self.machine.system.number_procs {
            Some(n) => vec![(0..n).collect()],
            None => tuples(self.machine.procs, cube.procs, &[]),
        };
        self.states.iter().any(|s| choices.iter().any(|procs| self.satisfies(s, cube, procs)))
    }

    fn satisfies(&self, state: &State, cube: &Cube, procs: &[u8]) -> bool {
        let value = |atom: &Atom| self.value(state, cube, procs, *atom);
        cube.lits.iter().all(|lit| match lit {
            Lit::In(a, mask) => mask >> value(a) & 1 == 1,
            Lit::Eq(a, b) => value(a) == value(b),
            Lit::Ne(a, b) => value(a) != value(b),
            Lit::Lt(a, b) => value(a) < value(b),
            Lit::Lin(op, form) => {
                let sum = form
                    .terms
                    .iter()
                    .try_fold(form.constant, |sum, (a, c)| sum.checked_add(value(a).checked_mul(*c)?));
                sum.is_some_and(|v| match op {
                    LinOp::Eq => v == 0,
                    LinOp::Ne => v != 0,
                    LinOp::Le => v <= 0,
                    LinOp::Lt => v < 0,
                })
            }
        })
    }

    fn value(&self, state: &State, cube: &Cube, procs: &[u8], atom: Atom) -> i64 {
        let cell = |sym, idx: [u8; MAX_ARITY]| {
            let idx = idx.map(|p| ProcRef(if p == NONE { NONE } else { p }));
            self.machine.cell(sym, &idx, procs)
        };
        match atom {
            Atom::Cell(sym, idx) => state.cells[cell(sym, idx) as usize],
            Atom::Proc(p) => i64::from(procs[p as usize]),
            Atom::Read(r) => {
                let read = &cube.memory.reads[r as usize];
                self.machine.view(state, procs[read.proc as usize], cell(read.cell.0, read.cell.1))
            }
            Atom::Any(_) => 0,
        }
    }
}

/// The reads that the literals mention, without any order; `None` if they are of several events.
fn part_of_memory(memory: &Memory, lits: &[CubeLit]) -> Option<Memory> {
    let mut node = None;
    let mut fine = true;
    for lit in lits {
        lit.for_each_atom(|a| {
            if let Atom::Read(r) = a {
                let n = memory.reads[r as usize].node;
                fine &= node.is_none_or(|m| m == n);
                node = Some(n);
            }
        });
    }
    if !fine {
        return None;
    }
    let mut part = Memory { reads: memory.reads.clone(), ..Memory::default() };
    if !part.reads.is_empty() {
        part.add_node();
        // Reads of other events are forgotten by `compact`: no literal mentions them.
        part.reads.iter_mut().for_each(|r| r.node = 0);
    }
    Some(part)
}
