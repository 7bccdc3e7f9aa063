//! The states of a small explicit instance, as an index that tells whether some state satisfies a cube.
//!
//! The instance runs the store-buffer machine of the memory model, so under TSO and PSO it knows the states with
//! buffered writes too. A cube that is asked for has the reads of one event at most, and is taken to say what processes
//! see in one state.
//!
//! For each literal on concrete cells that was ever asked for there is the set of states that satisfy it, one bit per
//! state; a conjunction is an intersection. Where processes are interchangeable, one state of those that differ only in
//! which process is which is kept: a cube is asked for with every choice of processes anyway.

use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::{AtomKind, Fact, LinOp, Lit};
use crate::machine::{Compiled, Machine, Rows, State, explore, explore_reduced, run_along, tuples, walk};
use crate::model::Model;
use crate::parallel;
use crate::replay::Run;
use crate::system::{MAX_ARITY, NONE, ProcRef, System};
use rustc_hash::FxHashMap;

/// Most states of random runs where the instance is not compiled. Of one and of two processes more the oracle knows the states of
/// random runs: they rule out parts that only look unreachable because the instance that was explored has no process left.
const RUN_STATES: usize = 5_000;
/// States of random runs, at least, where there are so many.
const MIN_RUN_STATES: usize = 1_000;
/// Work per state, see [`crate::backward::Search::work`]: compiled, and not.
const COST: (u64, u64) = (3, 60);
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

/// Where the states are that satisfy a literal on concrete cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nowhere, whatever the state.
    Never,
    /// Everywhere.
    Always,
    /// In the set of that number.
    Set(usize),
}

/// How many states an oracle explores at most: of an instance that can be compiled, and of one that cannot.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// States of a compiled instance.
    pub compiled: usize,
    /// States of any other one.
    pub general: usize,
}

/// States: of any kind, or of small values only, one column per cell.
enum States {
    Any(Vec<State>),
    Small(Vec<Vec<u8>>),
}

impl States {
    /// These and those; a state may occur twice.
    fn with(self, more: States) -> States {
        match (self, more) {
            (States::Any(mut states), States::Any(more)) => {
                states.extend(more);
                States::Any(states)
            }
            (States::Small(mut columns), States::Small(more)) => {
                columns.iter_mut().zip(more).for_each(|(column, more)| column.extend(more));
                States::Small(columns)
            }
            (states, _) => states,
        }
    }

    fn count(&self) -> usize {
        match self {
            States::Any(states) => states.len(),
            States::Small(columns) => columns.first().map_or(0, Vec::len),
        }
    }
}

/// Rows as columns: a literal is about one or two cells.
fn columns(rows: Rows) -> Vec<Vec<u8>> {
    let column = |cell: usize| rows.values[cell..].iter().step_by(rows.width).copied().collect();
    if rows.values.is_empty() { Vec::new() } else { (0..rows.width).map(column).collect() }
}

/// An instance with states that were found, and the index of their literals.
pub struct Instance<'a> {
    machine: Machine<'a>,
    states: States,
    index: FxHashMap<Lit<Place>, usize>,
    sets: Vec<Vec<u64>>,
    /// Its states are those of runs to approximations that were wrong.
    learnt: bool,
    /// A run to a bad state, if one was met.
    bad_run: Option<Vec<State>>,
}

/// The oracle.
pub struct Oracle<'a> {
    /// The instance that was explored; then those that runs were found in, one for each number of processes.
    instances: Vec<Instance<'a>>,
    /// States that were explored at most.
    max_states: usize,
    /// There are more.
    pub is_cut: bool,
    /// What it cost.
    pub work: u64,
}

impl<'a> Oracle<'a> {
    /// Explores `procs` processes, and at most so many states of them.
    pub fn new(
        system: &'a System,
        model: Model,
        procs: u8,
        effort: Effort,
        jobs: usize,
        enough: &mut dyn FnMut() -> bool,
    ) -> Oracle<'a> {
        let machine = |procs: u8| {
            let mut machine = Machine::new(system, model, procs);
            machine.max_buffer = MAX_BUFFER;
            machine
        };
        let first = machine(system.number_procs.unwrap_or(procs));
        let (max_states, states) = match Compiled::new(&first) {
            Some(compiled) => {
                let rows = compiled.explore(effort.compiled, jobs, enough);
                let mut states = States::Small(columns(rows));
                if states.count() >= effort.compiled {
                    let (rows, _) = compiled.walk(effort.compiled, 2, enough);
                    states = states.with(States::Small(columns(rows)));
                }
                (effort.compiled, states)
            }
            None => (effort.general, States::Any(explore_reduced(&first, effort.general, jobs, enough))),
        };
        let mut instances = vec![Instance::new(first, states)];
        if system.number_procs.is_none() {
            // As many as the instance itself has: a small one needs few to tell what one process more changes.
            let enough_states = instances[0].states.count().min(max_states / 2).max(MIN_RUN_STATES);
            let stop = enough();
            let larger = parallel::map_few(jobs, &[2, 1], |more| machine(procs + more));
            let streams: Vec<(usize, u64)> = (0..larger.len()).flat_map(|i| [(i, 0), (i, 1)]).collect();
            // Two sequences of runs for each, the larger one first, so that two cores have about the same to do.
            let mut found = parallel::map_few(jobs, &streams, |(number, stream)| {
                let larger = &larger[*number];
                let mut enough = || stop;
                match Compiled::new(larger) {
                    Some(compiled) => {
                        let (rows, bad_run) = compiled.walk(enough_states / 2, *stream, &mut enough);
                        (States::Small(columns(rows)), bad_run)
                    }
                    None if *stream == 0 => {
                        let (states, bad_run) = walk(larger, RUN_STATES.min(enough_states), &mut enough);
                        (States::Any(states), bad_run)
                    }
                    None => (States::Any(Vec::new()), None),
                }
            });
            for larger in larger.into_iter().rev() {
                if let (Some((b, other)), Some((a, bad_run))) = (found.pop(), found.pop()) {
                    let bad_run = bad_run.or(other);
                    instances.push(Instance { bad_run, ..Instance::new(larger, a.with(b)) });
                }
            }
        }
        let is_cut = instances[0].states.count() >= max_states;
        let work = instances.iter().map(Instance::cost).sum();
        Oracle { instances, max_states, is_cut, work }
    }

    /// Takes over the states of runs that another one learnt.
    pub fn take_learnt(&mut self, other: Oracle<'a>) {
        self.instances.extend(other.instances.into_iter().filter(|instance| instance.learnt));
    }

    /// A run to one of the bad states among those that are known, on the machine of so many processes.
    pub fn run_to_bad(&mut self, bad: &[Cube], enough: &mut dyn FnMut() -> bool) -> Option<(u8, Run)> {
        let max_states = self.max_states;
        if bad.iter().any(|cube| self.main().is_seen(cube)) {
            let machine = &self.instances[0].machine;
            let run = match Compiled::new(machine) {
                Some(compiled) => run_along(machine, &compiled.run_to_bad(max_states, enough)?)?,
                None => {
                    // Not one of those that differ only in which process is which, but all: there are more of them.
                    let renamings: usize = (1..=usize::from(machine.procs)).product();
                    let exploration = explore(machine, max_states.saturating_mul(renamings), true, enough);
                    let (initial, steps) = exploration.run_to(exploration.bad?);
                    Run { initial, steps }
                }
            };
            return ends_badly(machine, &run).then_some((machine.procs, run));
        }
        self.instances.iter().find_map(|instance| {
            let run = run_along(&instance.machine, instance.bad_run.as_ref()?)?;
            ends_badly(&instance.machine, &run).then_some((instance.machine.procs, run))
        })
    }

    /// The instance that was explored.
    pub fn main(&mut self) -> &mut Instance<'a> {
        &mut self.instances[0]
    }

    /// How many processes were explored.
    pub fn procs(&self) -> u8 {
        self.instances[0].procs()
    }

    /// Adds reachable states of an instance.
    pub fn add(&mut self, procs: u8, states: Vec<State>) {
        for instance in self.instances.iter_mut().filter(|i| i.learnt && i.machine.procs == procs) {
            if let States::Any(old) = &mut instance.states {
                old.extend(states);
                instance.forget();
                return;
            }
        }
        let first = &self.instances[0].machine;
        let machine = Machine::new(first.system, first.model, procs);
        let learnt = Instance { learnt: true, ..Instance::new(machine, States::Any(states)) };
        self.instances.push(learnt);
    }

    /// Whether some state satisfies the cube, with some choice of processes.
    pub fn is_seen(&mut self, cube: &Cube) -> bool {
        self.instances.iter_mut().any(|instance| instance.is_seen(cube))
    }
}

impl<'a> Instance<'a> {
    fn new(machine: Machine<'a>, states: States) -> Instance<'a> {
        let index = FxHashMap::default();
        Instance { machine, states, index, sets: Vec::new(), learnt: false, bad_run: None }
    }

    fn cost(&self) -> u64 {
        let each = if matches!(self.states, States::Small(_)) { COST.0 } else { COST.1 };
        self.states.count() as u64 * each
    }

    /// How many processes it has.
    pub fn procs(&self) -> u8 {
        self.machine.procs
    }

    /// Whether processes have names, so that a process of a cube is that process and no other.
    pub fn is_fixed(&self) -> bool {
        self.machine.system.number_procs.is_some()
    }

    /// Words of a set of states.
    pub fn words(&self) -> usize {
        self.states.count().div_ceil(64)
    }

    /// The set of all states.
    pub fn all_states(&self) -> Vec<u64> {
        let mut all = vec![u64::MAX; self.words()];
        if let (Some(last), n @ 1..) = (all.last_mut(), self.states.count() % 64) {
            *last = (1 << n) - 1;
        }
        all
    }

    /// A set of states.
    pub fn set(&self, number: usize) -> &[u64] {
        &self.sets[number]
    }

    /// Makes room if the index has grown too large; sets that were asked for before are gone then.
    pub fn make_room(&mut self) {
        if self.index.len() * self.words() > MAX_INDEX {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.index.clear();
        self.sets.clear();
    }

    /// The states that satisfy a literal of a cube, with that choice of processes.
    pub fn known(&mut self, cube: &Cube, lit: &CubeLit, procs: &[u8]) -> Known {
        match lit.rename(&mut |atom| self.place(cube, procs, atom)) {
            Fact::True => Known::Always,
            Fact::False => Known::Never,
            Fact::Lit(lit) => Known::Set(self.note(lit)),
        }
    }

    fn is_seen(&mut self, cube: &Cube) -> bool {
        if cube.procs > self.machine.procs {
            return false;
        }
        self.make_room();
        let choices = match self.machine.system.number_procs {
            Some(n) => vec![(0..n).collect()],
            None => tuples(self.machine.procs, cube.procs, &[]),
        };
        choices.iter().any(|procs| self.is_seen_with(cube, procs))
    }

    fn is_seen_with(&mut self, cube: &Cube, procs: &[u8]) -> bool {
        let mut sets = Vec::new();
        for lit in &cube.lits {
            match self.known(cube, lit, procs) {
                Known::Always => {}
                Known::Never => return false,
                Known::Set(set) => sets.push(set),
            }
        }
        let all = self.all_states();
        (0..all.len()).any(|word| sets.iter().fold(all[word], |left, set| left & self.sets[*set][word]) != 0)
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
    fn note(&mut self, lit: Lit<Place>) -> usize {
        if let Some(number) = self.index.get(&lit) {
            return *number;
        }
        let mut set = vec![0u64; self.words()];
        match &self.states {
            States::Any(states) => mark(&mut set, states.iter().map(|state| self.holds(state, &lit))),
            States::Small(columns) => mark_small(&mut set, columns, &lit),
        }
        self.sets.push(set);
        self.index.insert(lit, self.sets.len() - 1);
        self.sets.len() - 1
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

/// Whether the run ends in a bad state, and no state on it is excluded by a declared invariant.
fn ends_badly(machine: &Machine, run: &Run) -> bool {
    let states = || std::iter::once(&run.initial).chain(run.steps.iter().map(|step| &step.1));
    states().last().is_some_and(|state| machine.is_bad(state))
        && !states().any(|state| machine.is_assumed_away(state))
}

/// Marks the positions at which the iterator says so.
fn mark(set: &mut [u64], holds: impl Iterator<Item = bool>) {
    for (number, holds) in holds.enumerate() {
        set[number / 64] |= u64::from(holds) << (number % 64);
    }
}

/// Marks the states, given as columns, that satisfy a literal; an instance with columns has no numbers and no views.
fn mark_small(set: &mut [u64], columns: &[Vec<u8>], lit: &Lit<Place>) {
    let Some(count) = columns.first().map(Vec::len) else { return };
    let value = |place: &Place| {
        let (column, constant): (&[u8], u8) = match *place {
            Place::Cell(cell) | Place::View(_, cell) => (&columns[cell as usize], 0),
            Place::Proc(p) => (&[], p),
        };
        (0..count).map(move |at| column.get(at).copied().unwrap_or(constant))
    };
    match lit {
        Lit::In(a, mask) => mark(set, value(a).map(|v| mask >> v & 1 == 1)),
        Lit::Eq(a, b) => mark(set, value(a).zip(value(b)).map(|(v, w)| v == w)),
        Lit::Ne(a, b) => mark(set, value(a).zip(value(b)).map(|(v, w)| v != w)),
        Lit::Lt(a, b) => mark(set, value(a).zip(value(b)).map(|(v, w)| v < w)),
        Lit::Lin(..) => mark(set, (0..count).map(|_| true)),
    }
}
