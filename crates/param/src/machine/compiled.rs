//! An instance compiled to flat tests and assignments, for systems whose cells are finite and not weak: the oracle of
//! inference needs hundreds of thousands of states, and [`Machine`] is written to be read. What it finds only guides
//! the search; a test compares it with the machine.

use super::explore::{BATCH, Renaming, pieces, renamings};
use super::walk::Random;
use super::{Machine, State, tuples};
use crate::literal::{Lit, Term};
use crate::parallel;
use crate::system::*;
use rustc_hash::FxHashSet;

/// A cell or a value.
#[derive(Clone, Copy)]
enum Operand {
    Cell(u16),
    Value(u8),
}

/// A test.
#[derive(Clone, Copy)]
enum Test {
    In(u16, u64),
    Eq(Operand, Operand),
    Ne(Operand, Operand),
    Lt(Operand, Operand),
}

/// A new value.
enum Source {
    Keep,
    Is(Operand),
    Any(Vec<u8>),
}

/// An assignment to one cell.
struct Write {
    cell: u16,
    branches: Vec<(Vec<Test>, Source)>,
}

/// A transition with its processes.
struct Action {
    tests: Vec<Test>,
    /// For each, one of the conjunctions holds.
    clauses: Vec<Vec<Vec<Test>>>,
    writes: Vec<Write>,
}

/// The compiled instance.
pub struct Compiled<'m, 'a> {
    machine: &'m Machine<'a>,
    actions: Vec<Action>,
    width: usize,
}

/// States, one row of values each.
pub struct Rows {
    /// Values, row after row.
    pub values: Vec<u8>,
    /// Length of a row.
    pub width: usize,
}

impl Rows {
    fn row(&self, at: usize) -> &[u8] {
        &self.values[at * self.width..(at + 1) * self.width]
    }

    fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }
}

impl Operand {
    #[inline]
    fn value(self, row: &[u8]) -> u8 {
        match self {
            Operand::Cell(cell) => row[cell as usize],
            Operand::Value(value) => value,
        }
    }
}

impl Test {
    #[inline]
    fn holds(&self, row: &[u8]) -> bool {
        match *self {
            Test::In(cell, mask) => mask >> row[cell as usize] & 1 == 1,
            Test::Eq(a, b) => a.value(row) == b.value(row),
            Test::Ne(a, b) => a.value(row) != b.value(row),
            Test::Lt(a, b) => a.value(row) < b.value(row),
        }
    }
}

fn all_hold(tests: &[Test], row: &[u8]) -> bool {
    tests.iter().all(|test| test.holds(row))
}

/// Steps of one random run.
const MAX_STEPS: usize = 150;
/// Tries to find a step, after which the run ends.
const MAX_TRIES: usize = 5_000;
/// Runs that may find little, after which there are no more.
const MAX_VAIN: usize = 20;
/// Initial states that runs start from.
const MAX_INITIAL: usize = 64;

impl<'m, 'a> Compiled<'m, 'a> {
    /// Compiles an instance; none if it has numbers or weak cells.
    pub fn new(machine: &'m Machine<'a>) -> Option<Compiled<'m, 'a>> {
        let system = machine.system;
        let is_finite = |s: &Symbol| !s.weak && !matches!(s.sort, Sort::Int | Sort::Real);
        if !system.symbols.iter().all(is_finite) || machine.cell_count() > u32::from(u16::MAX) {
            return None;
        }
        let mut actions = Vec::new();
        for t in &system.transitions {
            for args in machine.arguments(t.params) {
                actions.extend(action(machine, t, args)?);
            }
        }
        Some(Compiled { machine, actions, width: machine.cell_count() as usize })
    }

    fn initial(&self, limit: usize) -> Vec<Vec<u8>> {
        let states = self.machine.initial_states(limit, &mut false);
        states.into_iter().map(|s| s.cells.iter().map(|v| *v as u8).collect()).collect()
    }

    fn is_assumed_away(&self, row: &[u8]) -> bool {
        if self.machine.system.assumed.is_empty() {
            return false;
        }
        let cells = row.iter().map(|v| i64::from(*v)).collect();
        let buffers = vec![Vec::new(); usize::from(self.machine.procs)].into_boxed_slice();
        self.machine.is_assumed_away(&State { cells, buffers })
    }

    /// All reachable states up to `max_states`; where processes are interchangeable, one of those that differ only in
    /// which process is which.
    pub fn explore(&self, max_states: usize, jobs: usize, enough: &mut dyn FnMut() -> bool) -> Rows {
        let renamings = renamings(self.machine);
        let mut found: FxHashSet<Box<[u8]>> = FxHashSet::default();
        let mut rows = Rows { values: Vec::new(), width: self.width };
        let mut pending = vec![self.initial(max_states).concat()];
        pending[0].chunks_exact_mut(self.width.max(1)).for_each(|row| make_smallest(row, &renamings));
        let mut at = 0;
        loop {
            for next in pending.iter().flat_map(|rows| rows.chunks_exact(self.width.max(1))) {
                if rows.count() >= max_states {
                    return rows;
                }
                if !found.contains(next) && !self.is_assumed_away(next) {
                    found.insert(next.into());
                    rows.values.extend_from_slice(next);
                }
            }
            if at >= rows.count() || enough() {
                return rows;
            }
            let batch = at..rows.count().min(at + BATCH);
            at = batch.end;
            pending = parallel::map(jobs, &pieces(batch), |piece| {
                let mut out = Vec::new();
                for row in piece.clone().map(|at| rows.row(at)) {
                    self.actions.iter().for_each(|action| action.fire(row, &mut out));
                }
                // Most are known already; what is left is looked at again in order.
                let mut new = Vec::new();
                for row in out.chunks_exact_mut(self.width.max(1)) {
                    make_smallest(row, &renamings);
                    if !found.contains(&*row) {
                        new.extend_from_slice(row);
                    }
                }
                new
            });
        }
    }

    /// Different states of random runs, at most so many.
    pub fn walk(&self, max_states: usize, enough: &mut dyn FnMut() -> bool) -> Rows {
        let mut rows = Rows { values: Vec::new(), width: self.width };
        let initial = self.initial(MAX_INITIAL);
        if initial.is_empty() || self.actions.is_empty() {
            return rows;
        }
        let mut random = Random(u64::from(self.machine.procs));
        let mut found: FxHashSet<Box<[u8]>> = FxHashSet::default();
        let mut out = Vec::new();
        // A run that finds little that is new is a run in vain: a small instance has only so many states.
        let mut vain = 0;
        while rows.count() < max_states && vain < MAX_VAIN && !enough() {
            let mut row = initial[random.below(initial.len())].clone();
            let before = rows.count();
            for _ in 0..MAX_STEPS {
                out.clear();
                let tries = (0..MAX_TRIES).any(|_| {
                    self.actions[random.below(self.actions.len())].fire(&row, &mut out);
                    !out.is_empty()
                });
                if !tries {
                    break;
                }
                let choice = random.below(out.len() / self.width);
                row.copy_from_slice(&out[choice * self.width..(choice + 1) * self.width]);
                if self.is_assumed_away(&row) {
                    break;
                }
                if !found.contains(&*row) {
                    found.insert(row.as_slice().into());
                    rows.values.extend_from_slice(&row);
                }
            }
            vain += usize::from(rows.count() - before < MAX_STEPS / 10);
        }
        rows
    }
}

impl Action {
    /// Appends the states after the action, if it can happen.
    fn fire(&self, row: &[u8], out: &mut Vec<u8>) {
        let possible = all_hold(&self.tests, row)
            && self.clauses.iter().all(|clause| clause.iter().any(|tests| all_hold(tests, row)));
        if !possible {
            return;
        }
        let start = out.len();
        out.extend_from_slice(row);
        for write in &self.writes {
            let Some((_, source)) = write.branches.iter().find(|(tests, _)| all_hold(tests, row)) else {
                continue;
            };
            let cell = usize::from(write.cell);
            match source {
                Source::Keep => {}
                Source::Is(operand) => {
                    let value = operand.value(row);
                    out[start..].chunks_exact_mut(row.len()).for_each(|next| next[cell] = value);
                }
                Source::Any(values) => {
                    let so_far = out[start..].to_vec();
                    out.truncate(start);
                    for value in values {
                        let from = out.len();
                        out.extend_from_slice(&so_far);
                        out[from..].chunks_exact_mut(row.len()).for_each(|next| next[cell] = *value);
                    }
                }
            }
        }
    }
}

/// Replaces a row by the smallest of those that the renamings make of it.
fn make_smallest(row: &mut [u8], renamings: &[Renaming]) {
    let mut best: Option<&Renaming> = None;
    for renaming in renamings {
        let old = |at: usize| best.map_or(row[at], |best| best.small_cell(row, at));
        let differs =
            (0..row.len()).map(|at| renaming.small_cell(row, at).cmp(&old(at))).find(|order| order.is_ne());
        if differs == Some(std::cmp::Ordering::Less) {
            best = Some(renaming);
        }
    }
    if let Some(best) = best {
        let smallest: Vec<u8> = (0..row.len()).map(|at| best.small_cell(row, at)).collect();
        row.copy_from_slice(&smallest);
    }
}

/// The transition with these processes; `Some(None)` if its guard is never true, `None` if it cannot be compiled.
fn action(machine: &Machine, t: &Transition, args: &[u8]) -> Option<Option<Action>> {
    let mut vars = args.to_vec();
    vars.resize(usize::from(t.variables).max(args.len()), 0);
    let Some(tests) = conjunction(machine, &t.guard, &vars)? else { return Some(None) };
    let mut action = Action { tests, clauses: Vec::new(), writes: Vec::new() };
    for u in &t.universals {
        let except: &[u8] = if u.other { &args[..t.declared as usize] } else { &[] };
        for tuple in tuples(machine.procs, u.vars.len() as u8, except) {
            for (var, p) in u.vars.iter().zip(tuple) {
                vars[*var as usize] = p;
            }
            let mut clause = Vec::new();
            for lits in &u.dnf {
                clause.extend(conjunction(machine, lits, &vars)?);
            }
            match &clause[..] {
                [] => return Some(None),
                [tests] => action.tests.extend(tests),
                _ => action.clauses.push(clause),
            }
        }
    }
    for update in &t.updates {
        for (vars, idx) in machine.targets(update, &vars) {
            let mut branches = Vec::new();
            for (condition, term) in &update.branches {
                if let Some(tests) = conjunction(machine, condition, &vars)? {
                    branches.push((tests, source(machine, update, term, &vars)?));
                }
            }
            action.writes.push(Write { cell: machine.cell(update.sym, &idx, &vars) as u16, branches });
        }
    }
    Some(Some(action))
}

fn source(machine: &Machine, update: &Update, term: &Option<SrcTerm>, vars: &[u8]) -> Option<Source> {
    if update.keeps(term) {
        return Some(Source::Keep);
    }
    Some(match term {
        Some(Term::Value(value)) => Source::Is(Operand::Value(*value)),
        Some(Term::Atom(atom)) => Source::Is(operand(machine, *atom, vars)?),
        Some(Term::Lin(_)) => return None,
        None => {
            let sort = machine.system.symbol(update.sym).sort;
            Source::Any(machine.pool(sort).into_iter().map(|v| v as u8).collect())
        }
    })
}

fn operand(machine: &Machine, atom: SrcAtom, vars: &[u8]) -> Option<Operand> {
    match atom {
        SrcAtom::Sym(sym, idx) => Some(Operand::Cell(machine.cell(sym, &idx, vars) as u16)),
        SrcAtom::Proc(p) => Some(Operand::Value(p.resolve(vars))),
        SrcAtom::View(..) => None,
    }
}

/// The literals as tests; `Some(None)` if they are never true.
fn conjunction(machine: &Machine, lits: &[SrcLit], vars: &[u8]) -> Option<Option<Vec<Test>>> {
    let mut tests = Vec::new();
    for lit in lits {
        let operand = |atom: &SrcAtom| operand(machine, *atom, vars);
        let test = match lit {
            Lit::In(a, mask) => match operand(a)? {
                Operand::Cell(cell) => Test::In(cell, *mask),
                Operand::Value(_) => return None,
            },
            Lit::Eq(a, b) => Test::Eq(operand(a)?, operand(b)?),
            Lit::Ne(a, b) => Test::Ne(operand(a)?, operand(b)?),
            Lit::Lt(a, b) => Test::Lt(operand(a)?, operand(b)?),
            Lit::Lin(..) => return None,
        };
        match test {
            Test::Eq(Operand::Value(_), Operand::Value(_))
            | Test::Ne(Operand::Value(_), Operand::Value(_))
            | Test::Lt(Operand::Value(_), Operand::Value(_)) => {
                if !test.holds(&[]) {
                    return Some(None);
                }
            }
            test => tests.push(test),
        }
    }
    Some(Some(tests))
}
