//! The states of a small explicit instance, as an index that tells whether some state satisfies a cube.
//!
//! The instance runs the store-buffer machine of the memory model, so under TSO and PSO it knows the states with
//! buffered writes too. A cube that is asked for has the reads of one event at most, and is taken to say what processes
//! see in one state.
//!
//! For each literal on concrete cells that was ever asked for there is the set of states that satisfy it, one bit per
//! state; a conjunction is an intersection. Where processes are interchangeable, one state of those that differ only in
//! which process is which is kept: a cube is asked for with every choice of processes anyway.

use crate::cube::{Atom, Cube};
use crate::literal::{AtomKind, Fact, LinOp, Lit};
use crate::machine::{Machine, State, explore_reduced, tuples};
use crate::model::Model;
use crate::system::{MAX_ARITY, NONE, ProcRef, System};
use rustc_hash::FxHashMap;

/// Longest buffer in the oracle.
const MAX_BUFFER: usize = 2;
/// Most words in the index; it starts afresh beyond.
const MAX_INDEX: usize = 16 << 20;

/// A cell of the instance, possibly as a process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    Cell(u32),
    View(u8, u32),
    Proc(u8),
}

impl AtomKind for Place {
    fn distinct(self, other: Self) -> bool {
        matches!((self, other), (Place::Proc(a), Place::Proc(b)) if a != b)
    }
}

/// An instance with states that were found, and the index of their literals.
struct Instance<'a> {
    machine: Machine<'a>,
    states: Vec<State>,
    index: FxHashMap<Lit<Place>, Vec<u64>>,
}

/// The oracle.
pub struct Oracle<'a> {
    /// The instance that was explored; then those that runs were found in, one for each number of processes.
    instances: Vec<Instance<'a>>,
}

impl<'a> Oracle<'a> {
    /// Explores `procs` processes, and at most so many states of them.
    pub fn new(
        system: &'a System,
        model: Model,
        procs: u8,
        max_states: usize,
        enough: &mut dyn FnMut() -> bool,
    ) -> Oracle<'a> {
        let procs = system.number_procs.unwrap_or(procs);
        let mut machine = Machine::new(system, model, procs);
        machine.max_buffer = MAX_BUFFER;
        let states = explore_reduced(&machine, max_states, enough);
        Oracle { instances: vec![Instance { machine, states, index: FxHashMap::default() }] }
    }

    /// How many processes were explored.
    pub fn procs(&self) -> u8 {
        self.instances[0].machine.procs
    }

    /// Adds reachable states of an instance.
    pub fn add(&mut self, procs: u8, states: Vec<State>) {
        let at = self.instances[1..].iter().position(|i| i.machine.procs == procs);
        match at {
            Some(at) => {
                let instance = &mut self.instances[at + 1];
                instance.states.extend(states);
                instance.index.clear();
            }
            None => {
                let first = &self.instances[0].machine;
                let machine = Machine::new(first.system, first.model, procs);
                self.instances.push(Instance { machine, states, index: FxHashMap::default() });
            }
        }
    }

    /// Whether some state satisfies the cube, with some choice of processes.
    pub fn is_seen(&mut self, cube: &Cube) -> bool {
        self.instances.iter_mut().any(|instance| instance.is_seen(cube))
    }
}

impl Instance<'_> {
    fn is_seen(&mut self, cube: &Cube) -> bool {
        if cube.procs > self.machine.procs {
            return false;
        }
        let choices = match self.machine.system.number_procs {
            Some(n) => vec![(0..n).collect()],
            None => tuples(self.machine.procs, cube.procs, &[]),
        };
        choices.iter().any(|procs| self.is_seen_with(cube, procs))
    }

    fn is_seen_with(&mut self, cube: &Cube, procs: &[u8]) -> bool {
        let mut lits = Vec::new();
        for lit in &cube.lits {
            match lit.rename(&mut |atom| self.place(cube, procs, atom)) {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(lit) => lits.push(lit),
            }
        }
        let words = self.states.len().div_ceil(64);
        if (self.index.len() + lits.len()) * words > MAX_INDEX {
            self.index.clear();
        }
        for lit in &lits {
            self.note(lit);
        }
        let sets: Vec<&Vec<u64>> = lits.iter().filter_map(|lit| self.index.get(lit)).collect();
        let last = match self.states.len() % 64 {
            0 => u64::MAX,
            n => (1 << n) - 1,
        };
        (0..words).any(|word| {
            let all = if word + 1 == words { last } else { u64::MAX };
            sets.iter().fold(all, |left, set| left & set[word]) != 0
        })
    }

    fn place(&self, cube: &Cube, procs: &[u8], atom: Atom) -> Place {
        let cell = |sym, idx: [u8; MAX_ARITY]| {
            let idx = idx.map(|p| ProcRef(if p == NONE { NONE } else { p }));
            self.machine.cell(sym, &idx, procs)
        };
        match atom {
            Atom::Cell(sym, idx) => Place::Cell(cell(sym, idx)),
            Atom::Proc(p) => Place::Proc(procs[p as usize]),
            Atom::Read(r) => {
                let read = &cube.memory.reads[r as usize];
                Place::View(procs[read.proc as usize], cell(read.cell.0, read.cell.1))
            }
            Atom::Any(_) => Place::Proc(0),
        }
    }

    /// Puts the literal into the index.
    fn note(&mut self, lit: &Lit<Place>) {
        if self.index.contains_key(lit) {
            return;
        }
        let words = self.states.len().div_ceil(64);
        let mut set = vec![0u64; words];
        for (number, state) in self.states.iter().enumerate() {
            if self.holds(state, lit) {
                set[number / 64] |= 1 << (number % 64);
            }
        }
        self.index.insert(lit.clone(), set);
    }

    fn holds(&self, state: &State, lit: &Lit<Place>) -> bool {
        let value = |place: &Place| match *place {
            Place::Cell(cell) => state.cells[cell as usize],
            Place::View(proc, cell) => self.machine.view(state, proc, cell),
            Place::Proc(p) => i64::from(p),
        };
        match lit {
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
        }
    }
}
