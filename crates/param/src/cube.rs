//! Cubes: the symbolic states of the backward search [Cubicle-W, section 3, States].
//!
//! A cube is `exists processes, pairwise distinct: literals and events`. Atoms are cells of plain arrays and
//! variables, named processes, and values of reads that no write satisfies yet. What is left of the events and of
//! `ghb` is in [`Memory`].

use crate::literal::{AtomKind, Lit};
use crate::memory::Memory;
use crate::system::{MAX_ARITY, NONE, Sort, SymId, System};

/// Indices of a cell.
pub type Idx = [u8; MAX_ARITY];
/// A cell: symbol and indices.
pub type Cell = (SymId, Idx);

/// An atom of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A plain variable or cell.
    Cell(SymId, Idx),
    /// The value of an unsatisfied read, by its number in [`Memory::reads`].
    Read(u8),
    /// Any value: eliminated before the cube is stored.
    Any(u8),
    /// A process.
    Proc(u8),
}

impl AtomKind for Atom {
    fn distinct(self, other: Self) -> bool {
        matches!((self, other), (Atom::Proc(a), Atom::Proc(b)) if a != b)
    }
}

/// A literal of a cube.
pub type CubeLit = Lit<Atom>;

/// A symbolic state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    /// Number of processes, named from 0.
    pub procs: u8,
    /// Literals, simplified and sorted.
    pub lits: Vec<CubeLit>,
    /// Unsatisfied reads and what is known of `ghb`.
    pub memory: Memory,
}

/// The type of an atom.
pub fn sort_of(system: &System, memory: &Memory, atom: Atom) -> Sort {
    match atom {
        Atom::Cell(sym, _) => system.symbol(sym).sort,
        Atom::Read(r) => system.symbol(memory.reads[r as usize].cell.0).sort,
        Atom::Any(_) => Sort::Abstract(0),
        Atom::Proc(_) => Sort::Proc,
    }
}

impl Cube {
    /// How large it is: the order in which the search takes cubes.
    pub fn size(&self) -> usize {
        self.lits.len() + self.memory.reads.len()
    }

    /// Forgets what no longer matters: reads whose value is free, events that reach no read, processes that nothing
    /// mentions (unless their number is fixed). Returns the new numbers of the processes.
    pub fn compact(&mut self, fixed: bool) -> Vec<u8> {
        self.forget_free_reads();
        let mut used = vec![fixed; self.procs as usize];
        let mut touch = |p: u8| {
            if p != NONE {
                used[p as usize] = true;
            }
        };
        for lit in &self.lits {
            lit.for_each_atom(|atom| match atom {
                Atom::Cell(_, idx) => idx.into_iter().for_each(&mut touch),
                Atom::Proc(p) => touch(p),
                Atom::Read(_) | Atom::Any(_) => {}
            });
        }
        self.memory.for_each_proc(&mut touch);
        let mut next = 0;
        let numbers: Vec<u8> = used
            .iter()
            .map(|&used| {
                next += u8::from(used);
                if used { next - 1 } else { NONE }
            })
            .collect();
        if next != self.procs {
            self.rename_procs(&numbers);
            self.procs = next;
        }
        numbers
    }

    fn forget_free_reads(&mut self) {
        let mut mentioned = vec![false; self.memory.reads.len()];
        for lit in &self.lits {
            lit.for_each_atom(|atom| {
                if let Atom::Read(r) = atom {
                    mentioned[r as usize] = true;
                }
            });
        }
        let numbers = self.memory.retain_reads(&mentioned);
        if numbers.iter().enumerate().any(|(i, n)| usize::from(*n) != i) {
            self.map_atoms(|atom| match atom {
                Atom::Read(r) => Atom::Read(numbers[r as usize]),
                other => other,
            });
        }
    }

    fn rename_procs(&mut self, numbers: &[u8]) {
        let rename = |p: u8| if p == NONE { NONE } else { numbers[p as usize] };
        self.map_atoms(|atom| match atom {
            Atom::Cell(sym, idx) => Atom::Cell(sym, idx.map(rename)),
            Atom::Proc(p) => Atom::Proc(rename(p)),
            other => other,
        });
        self.memory.rename_procs(numbers);
    }

    fn map_atoms(&mut self, f: impl Fn(Atom) -> Atom) {
        let lits = std::mem::take(&mut self.lits);
        self.lits = lits
            .iter()
            .filter_map(|l| match l.rename(&mut |a| f(a)) {
                crate::literal::Fact::Lit(l) => Some(l),
                _ => None,
            })
            .collect();
        self.lits.sort();
    }
}
