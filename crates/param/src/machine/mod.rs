//! The explicit store-buffer machine of an instance: a fixed number of processes, concrete values, and per process a
//! buffer of writes that only it sees. This is the specification: it replays every counterexample, it is the oracle of
//! invariant inference, and the tests compare the search with it. It shares no code with the search.
//!
//! SC has no buffers. TSO flushes the oldest entry. PSO flushes any entry that shares no cell with an older one. One
//! transition makes one entry, so its writes become visible together. A fence, and a transition that both reads and
//! writes weak memory, needs an empty buffer; the latter writes to memory at once.

mod compiled;
mod explore;
mod initial;
mod step;
mod walk;

pub use compiled::{Compiled, Rows};
pub use explore::{Exploration, explore, explore_reduced, run_along};
pub use initial::Starts;
pub use step::Step;
pub use walk::walk;

use crate::cube::{Atom, Cell, Cube};
use crate::literal::{Fact, LinOp, Linear, Lit, Term};
use crate::memory::Read;
use crate::model::Model;
use crate::system::*;
use fencepost_diag::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// One buffered transition: cells and values.
pub type Entry = Vec<(u32, i64)>;

/// A state of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Values of all cells, weak ones as in memory.
    pub cells: Box<[i64]>,
    /// Buffers, oldest entry first.
    pub buffers: Box<[Vec<Entry>]>,
}

/// Most numbers that are suggested.
const MAX_SUGGESTED: usize = 16;

/// A machine for a fixed number of processes.
pub struct Machine<'a> {
    /// The system.
    pub system: &'a System,
    /// The memory model.
    pub model: Model,
    /// Number of processes.
    pub procs: u8,
    /// First cell of each symbol.
    offsets: Vec<u32>,
    /// Number of cells.
    cell_count: u32,
    /// For each cell, whether it is weak memory.
    weak: Vec<bool>,
    /// All tuples of that many distinct processes, once someone asks for all successors.
    tuples: OnceLock<Vec<Vec<Vec<u8>>>>,
    /// Numbers tried where the system leaves a number open.
    numbers: Vec<i64>,
    /// Values that cells are to have first in initial states, see [`Machine::suggest`].
    suggested: FxHashMap<u32, i64>,
    /// Longest buffer.
    pub max_buffer: usize,
}

impl<'a> Machine<'a> {
    /// The machine of `procs` processes.
    pub fn new(system: &'a System, model: Model, procs: u8) -> Machine<'a> {
        let mut offsets = Vec::new();
        let mut cell_count = 0u32;
        for symbol in &system.symbols {
            offsets.push(cell_count);
            cell_count += u32::from(procs).pow(symbol.arity as u32);
        }
        let numbers = interesting_numbers(system);
        let weak = system
            .symbols
            .iter()
            .flat_map(|s| std::iter::repeat_n(s.weak, usize::from(procs).pow(s.arity as u32)))
            .collect();
        let tuples = OnceLock::new();
        let suggested = FxHashMap::default();
        Machine { system, model, procs, offsets, cell_count, weak, tuples, numbers, suggested, max_buffer: 8 }
    }

    /// The cell of a symbol.
    pub fn cell(&self, sym: SymId, idx: &[ProcRef; MAX_ARITY], vars: &[u8]) -> u32 {
        let arity = self.system.symbol(sym).arity;
        let index =
            idx[..arity].iter().fold(0, |n, p| n * u32::from(self.procs) + u32::from(p.resolve(vars)));
        self.offsets[sym as usize] + index
    }

    /// Tries a value of a cell before others where `init` leaves it open, and numbers where any is allowed.
    pub fn suggest(
        &mut self,
        cells: impl IntoIterator<Item = (Cell, i64)>,
        numbers: impl IntoIterator<Item = i64>,
    ) {
        for ((sym, idx), value) in cells {
            let idx = &idx[..self.system.symbol(sym).arity];
            if idx.iter().all(|p| *p < self.procs) {
                self.suggested.insert(self.cell_at(sym, idx), value);
            }
        }
        let new: Vec<i64> =
            numbers.into_iter().filter(|n| !self.numbers.contains(n)).take(MAX_SUGGESTED).collect();
        self.numbers.splice(0..0, new);
    }

    /// All tuples of distinct processes for that many parameters.
    fn arguments(&self, params: u8) -> &[Vec<u8>] {
        let all = self.tuples.get_or_init(|| {
            let most = self.system.transitions.iter().map(|t| t.params).max().unwrap_or(0);
            (0..=most).map(|count| tuples(self.procs, count, &[])).collect()
        });
        &all[usize::from(params)]
    }

    /// The cell of a symbol at these processes.
    fn cell_at(&self, sym: SymId, idx: &[u8]) -> u32 {
        self.offsets[sym as usize] + idx.iter().fold(0, |n, p| n * u32::from(self.procs) + u32::from(*p))
    }

    /// The symbol and the indices of a cell.
    pub fn cell_name(&self, cell: u32) -> (SymId, Vec<u8>) {
        let sym = self.offsets.iter().rposition(|&o| o <= cell).unwrap_or(0);
        let mut rest = cell - self.offsets[sym];
        let mut idx = vec![0; self.system.symbols[sym].arity];
        for slot in idx.iter_mut().rev() {
            *slot = (rest % u32::from(self.procs)) as u8;
            rest /= u32::from(self.procs);
        }
        (sym as SymId, idx)
    }

    /// A cell as the user writes it.
    pub fn show_cell(&self, cell: u32) -> String {
        let (sym, idx) = self.cell_name(cell);
        let name = &self.system.symbol(sym).name;
        if idx.is_empty() {
            return name.clone();
        }
        let idx: Vec<String> = idx.iter().map(|p| format!("#{}", p + 1)).collect();
        format!("{name}[{}]", idx.join(","))
    }

    /// The value of a cell as the user writes it.
    pub fn show_value(&self, cell: u32, value: i64) -> String {
        let (sym, _) = self.cell_name(cell);
        self.system.show_value(self.system.symbol(sym).sort, value)
    }

    /// Number of cells.
    pub fn cell_count(&self) -> u32 {
        self.cell_count
    }

    /// Whether the cell is weak memory.
    pub fn is_weak(&self, cell: u32) -> bool {
        self.weak[cell as usize]
    }

    /// What a process sees: its own newest buffered write, else memory.
    pub fn view(&self, state: &State, proc: u8, cell: u32) -> i64 {
        let buffered = state.buffers[proc as usize].iter().rev().flatten().find(|w| w.0 == cell);
        buffered.map_or(state.cells[cell as usize], |w| w.1)
    }

    fn atom(&self, state: &State, atom: SrcAtom, vars: &[u8], viewer: Option<u8>) -> i64 {
        match atom {
            SrcAtom::Sym(sym, idx) => {
                let cell = self.cell(sym, &idx, vars);
                match viewer {
                    Some(p) if self.system.symbol(sym).weak => self.view(state, p, cell),
                    _ => state.cells[cell as usize],
                }
            }
            SrcAtom::View(p, sym, idx) => self.view(state, p.resolve(vars), self.cell(sym, &idx, vars)),
            SrcAtom::Proc(p) => i64::from(p.resolve(vars)),
        }
    }

    fn linear(&self, state: &State, form: &Linear<SrcAtom>, vars: &[u8], viewer: Option<u8>) -> Option<i64> {
        form.terms.iter().try_fold(form.constant, |sum, (atom, coefficient)| {
            sum.checked_add(self.atom(state, *atom, vars, viewer).checked_mul(*coefficient)?)
        })
    }

    /// Whether a literal holds; a number that overflows makes it false.
    pub fn holds(&self, state: &State, lit: &SrcLit, vars: &[u8], viewer: Option<u8>) -> bool {
        let value = |atom: &SrcAtom| self.atom(state, *atom, vars, viewer);
        match lit {
            Lit::In(a, mask) => mask >> value(a) & 1 == 1,
            Lit::Eq(a, b) => value(a) == value(b),
            Lit::Ne(a, b) => value(a) != value(b),
            Lit::Lt(a, b) => value(a) < value(b),
            Lit::Lin(op, form) => self.linear(state, form, vars, viewer).is_some_and(|v| match op {
                LinOp::Eq => v == 0,
                LinOp::Ne => v != 0,
                LinOp::Le => v <= 0,
                LinOp::Lt => v < 0,
            }),
        }
    }

    fn term(&self, state: &State, term: &SrcTerm, vars: &[u8], viewer: Option<u8>) -> Option<i64> {
        match term {
            Term::Value(v) => Some(i64::from(*v)),
            Term::Atom(a) => Some(self.atom(state, *a, vars, viewer)),
            Term::Lin(l) => self.linear(state, l, vars, viewer),
        }
    }

    /// Whether some processes satisfy the conjunction.
    pub fn satisfies(&self, state: &State, bad: &Bad) -> bool {
        self.extend(state, bad, &mut Vec::new())
    }

    /// Chooses processes one by one and looks at each literal as soon as all its processes are chosen.
    fn extend(&self, state: &State, bad: &Bad, vars: &mut Vec<u8>) -> bool {
        let chosen = vars.len();
        let ready = |l: &&SrcLit| variables_of(l) == chosen;
        if !bad.lits.iter().filter(ready).all(|l| self.holds(state, l, vars, None)) {
            return false;
        }
        if chosen == usize::from(bad.params) {
            return true;
        }
        for p in 0..self.procs {
            if !vars.contains(&p) {
                vars.push(p);
                if self.extend(state, bad, vars) {
                    return true;
                }
                vars.pop();
            }
        }
        false
    }

    /// Whether some processes of the state satisfy a cube, its reads taken for what their processes see now.
    pub fn satisfies_cube(&self, state: &State, cube: &Cube) -> bool {
        let fixed = self.system.number_procs.is_some();
        let process = |p: u8| match p {
            NONE => ProcRef(NONE),
            p if fixed => ProcRef::constant(u32::from(p) + 1),
            p => ProcRef(p),
        };
        let lits = cube.lits.iter().map(|lit| {
            lit.rename(&mut |atom| match atom {
                Atom::Cell(sym, idx) => SrcAtom::Sym(sym, idx.map(process)),
                Atom::Read(r) => {
                    let Read { proc, cell, .. } = cube.memory.reads[r as usize];
                    SrcAtom::View(process(proc), cell.0, cell.1.map(process))
                }
                Atom::Proc(p) => SrcAtom::Proc(process(p)),
                Atom::Any(_) => SrcAtom::Proc(process(0)),
            })
        });
        let mut known = Vec::new();
        for fact in lits {
            match fact {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(lit) => known.push(lit),
            }
        }
        let params = if fixed { 0 } else { cube.procs };
        self.satisfies(state, &Bad { name: String::new(), params, lits: known, span: Span::new(0, 0) })
    }

    /// Whether the state is one that the system must not reach.
    pub fn is_bad(&self, state: &State) -> bool {
        self.system.bad.iter().any(|b| self.satisfies(state, b))
    }

    /// Whether the state is assumed away by a declared invariant.
    pub fn is_assumed_away(&self, state: &State) -> bool {
        self.system.assumed.iter().any(|b| self.satisfies(state, b))
    }

    /// All values of a type that the machine tries where any is allowed.
    pub(crate) fn pool(&self, sort: Sort) -> Vec<i64> {
        match sort {
            Sort::Enum(e) => (0..self.system.enums[e as usize].1.len() as i64).collect(),
            Sort::Proc => (0..i64::from(self.procs)).collect(),
            Sort::Abstract(_) => (0..3).collect(),
            Sort::Int | Sort::Real => self.numbers.clone(),
        }
    }
}

/// One more than the highest process variable of a literal.
fn variables_of(lit: &SrcLit) -> usize {
    let mut highest = 0;
    let mut note = |p: ProcRef| {
        if p.0 < 128 {
            highest = highest.max(usize::from(p.0) + 1);
        }
    };
    lit.for_each_atom(|atom| match atom {
        SrcAtom::Proc(p) => note(p),
        SrcAtom::Sym(_, idx) => idx.into_iter().for_each(&mut note),
        SrcAtom::View(p, _, idx) => {
            note(p);
            idx.into_iter().for_each(&mut note);
        }
    });
    highest
}

/// All tuples of `count` distinct processes, none of them in `except`.
pub fn tuples(procs: u8, count: u8, except: &[u8]) -> Vec<Vec<u8>> {
    let mut result = vec![vec![]];
    for _ in 0..count {
        let mut next = Vec::new();
        for tuple in &result {
            for p in (0..procs).filter(|p| !tuple.contains(p) && !except.contains(p)) {
                let mut tuple: Vec<u8> = tuple.clone();
                tuple.push(p);
                next.push(tuple);
            }
        }
        result = next;
    }
    result
}

/// Numbers that occur in the system, and their neighbours.
fn interesting_numbers(system: &System) -> Vec<i64> {
    let mut found: FxHashSet<i64> = [0, 1].into_iter().collect();
    let mut note = |lit: &SrcLit| {
        if let Lit::Lin(_, form) = lit {
            for n in [form.constant, -form.constant] {
                found.extend([n - 1, n, n + 1]);
            }
        }
    };
    system.bad.iter().chain(&system.assumed).flat_map(|b| &b.lits).for_each(&mut note);
    system.init.iter().flat_map(|c| c.dnf.iter().flatten()).for_each(&mut note);
    system.transitions.iter().flat_map(|t| &t.guard).for_each(&mut note);
    let mut numbers: Vec<i64> = found.into_iter().collect();
    numbers.sort_by_key(|n| (n.abs(), *n));
    numbers.truncate(8);
    numbers
}
