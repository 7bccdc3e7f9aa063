//! An instance compiled to flat tests and assignments, for systems whose cells are finite and not weak: the oracle of
//! inference needs hundreds of thousands of states, and [`Machine`] is written to be read. What it finds only guides
//! the search; a test compares it with the machine.

use super::explore::{Renaming, pieces, renamings};
use super::walk::Random;
use super::{Machine, State, tuples};
use crate::literal::{Lit, Term};
use crate::parallel;
use crate::system::*;
use rustc_hash::{FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

/// Rows that were found.
type Rowset = FxHashSet<Box<[u8]>>;

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
    /// Cells with, for each value, the actions that are possible only with it: most are ruled out by one look.
    decisive: Vec<(u16, Vec<Vec<u32>>)>,
    /// Actions without such a cell.
    others: Vec<u32>,
    /// A bad state satisfies all tests of one of these.
    bad: Vec<Vec<Test>>,
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
/// States whose successors are computed at a time; the order of what is found does not depend on it.
const COMPILED_BATCH: usize = 32_768;
/// Runs that may find little, after which there are no more.
const MAX_VAIN: usize = 20;

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
        let mut bad = Vec::new();
        for declared in &system.bad {
            for vars in tuples(machine.procs, declared.params, &[]) {
                bad.extend(conjunction(machine, &declared.lits, &vars)?);
            }
        }
        let width = machine.cell_count() as usize;
        let mut compiled = Compiled { machine, actions, decisive: vec![], others: vec![], bad, width };
        compiled.sort_actions();
        Some(compiled)
    }

    /// Files each action under the cell that leaves it the smallest part of its values.
    fn sort_actions(&mut self) {
        let machine = self.machine;
        let values =
            |cell: u16| machine.pool(machine.system.symbol(machine.cell_name(u32::from(cell)).0).sort).len();
        let mut cells: BTreeMap<u16, Vec<Vec<u32>>> = BTreeMap::new();
        for (number, action) in (0u32..).zip(&self.actions) {
            let choices = action.tests.iter().filter_map(|test| match *test {
                Test::In(cell, mask) => Some((cell, mask)),
                Test::Eq(Operand::Cell(cell), Operand::Value(v))
                | Test::Eq(Operand::Value(v), Operand::Cell(cell)) => Some((cell, 1 << v)),
                _ => None,
            });
            let share = |(cell, mask): &(u16, u64)| {
                let all = values(*cell).clamp(1, 64);
                (mask & (u64::MAX >> (64 - all))).count_ones() as usize * 1_000 / all
            };
            match choices.min_by_key(share) {
                Some((cell, mask)) => {
                    let filed =
                        cells.entry(cell).or_insert_with(|| vec![Vec::new(); values(cell).clamp(1, 64)]);
                    let fitting = filed.iter_mut().enumerate().filter(|(v, _)| mask >> v & 1 == 1);
                    fitting.for_each(|(_, actions)| actions.push(number));
                }
                None => self.others.push(number),
            }
        }
        self.decisive = cells.into_iter().collect();
    }

    /// The actions that one look does not rule out.
    fn candidates<'s>(&'s self, row: &'s [u8]) -> impl Iterator<Item = u32> + 's {
        let filed = self.decisive.iter().flat_map(|(cell, by_value)| {
            by_value.get(usize::from(row[usize::from(*cell)])).into_iter().flatten()
        });
        filed.chain(&self.others).copied()
    }

    /// Appends the states after all actions that are possible.
    fn fire_all(&self, row: &[u8], out: &mut Vec<u8>) {
        self.candidates(row).for_each(|number| self.actions[number as usize].fire(row, out));
    }

    fn initial(&self) -> Vec<u8> {
        self.machine.starts().few(self.machine).iter().flat_map(row_of).collect()
    }

    fn is_assumed_away(&self, row: &[u8]) -> bool {
        if self.machine.system.assumed.is_empty() {
            return false;
        }
        self.machine.is_assumed_away(&self.state(row))
    }

    /// All reachable states up to `max_states`; where processes are interchangeable, one of those that differ only in
    /// which process is which. The order of the states does not depend on the number of threads: what is new is decided
    /// by each thread for its share of the states, by hash, and then put together in the order of discovery.
    pub fn explore(&self, max_states: usize, jobs: usize, enough: &mut dyn FnMut() -> bool) -> Rows {
        let renamings = renamings(self.machine);
        let mut found: Vec<Rowset> = vec![FxHashSet::default(); jobs.max(1)];
        let mut rows = Rows { values: Vec::new(), width: self.width };
        let mut first = self.initial();
        let shares = self.settle(&mut first, &renamings, &found);
        let mut pending = vec![(first, shares)];
        let mut at = 0;
        loop {
            let new = insert(&mut found, &pending, self.width);
            for (piece, row) in new {
                if rows.count() >= max_states {
                    return rows;
                }
                rows.values.extend_from_slice(&pending[piece].0[row * self.width..(row + 1) * self.width]);
            }
            if at >= rows.count() || enough() {
                return rows;
            }
            let batch = at..rows.count().min(at + COMPILED_BATCH);
            at = batch.end;
            pending = parallel::map(jobs, &pieces(batch), |piece| {
                let mut out = Vec::new();
                for row in piece.clone().map(|at| rows.row(at)) {
                    self.fire_all(row, &mut out);
                }
                let shares = self.settle(&mut out, &renamings, &found);
                (out, shares)
            });
        }
    }

    /// Makes each row the smallest of its kind and drops those that are known or assumed away; returns for each that is
    /// left whose share it is.
    fn settle(&self, rows: &mut Vec<u8>, renamings: &[Renaming], found: &[Rowset]) -> Vec<u8> {
        let width = self.width.max(1);
        let mut shares = Vec::new();
        for at in 0..rows.len() / width {
            let row = &mut rows[at * width..(at + 1) * width];
            make_smallest(row, renamings);
            let share = share(row, found.len());
            if !found[share].contains(&*row) && !self.is_assumed_away(row) {
                rows.copy_within(at * width..(at + 1) * width, shares.len() * width);
                shares.push(share as u8);
            }
        }
        rows.truncate(shares.len() * width);
        shares
    }

    /// Different states of random runs, at most so many, and the first run to a bad state. `stream` tells one sequence
    /// of runs from another.
    pub fn walk(
        &self,
        max_states: usize,
        stream: u64,
        enough: &mut dyn FnMut() -> bool,
    ) -> (Rows, Option<Vec<State>>) {
        let mut rows = Rows { values: Vec::new(), width: self.width };
        let starts = self.machine.starts();
        if starts.is_empty() || self.actions.is_empty() {
            return (rows, None);
        }
        let mut random = Random(u64::from(self.machine.procs) + (stream << 8));
        let mut found: Rowset = FxHashSet::default();
        let (mut out, mut candidates) = (Vec::new(), Vec::new());
        // A run that finds little that is new is a run in vain: a small instance has only so many states.
        let mut vain = 0;
        while rows.count() < max_states && vain < MAX_VAIN && !enough() {
            let mut row: Vec<u8> = row_of(&self.machine.random_start(&starts, &mut random)).collect();
            let before = rows.count();
            let mut run = row.clone();
            if found.insert(row.as_slice().into()) {
                rows.values.extend_from_slice(&row);
            }
            for _ in 0..MAX_STEPS {
                out.clear();
                candidates.clear();
                candidates.extend(self.candidates(&row));
                while out.is_empty() && !candidates.is_empty() {
                    let number = candidates.swap_remove(random.below(candidates.len()));
                    self.actions[number as usize].fire(&row, &mut out);
                }
                if out.is_empty() {
                    break;
                }
                let choice = random.below(out.len() / self.width);
                row.copy_from_slice(&out[choice * self.width..(choice + 1) * self.width]);
                if self.is_assumed_away(&row) {
                    break;
                }
                run.extend_from_slice(&row);
                if !found.contains(&*row) {
                    found.insert(row.as_slice().into());
                    rows.values.extend_from_slice(&row);
                    if self.is_bad(&row) {
                        let states = run.chunks_exact(self.width).map(|row| self.state(row)).collect();
                        return (rows, Some(states));
                    }
                }
            }
            vain += usize::from(rows.count() - before < MAX_STEPS / 10);
        }
        (rows, None)
    }

    /// The states of a shortest run to a bad state, among so many states; as in [`Compiled::explore`], each stands for all that
    /// differ only in which process is which.
    pub fn run_to_bad(&self, max_states: usize, enough: &mut dyn FnMut() -> bool) -> Option<Vec<State>> {
        let renamings = renamings(self.machine);
        let width = self.width.max(1);
        let mut rows = Rows { values: Vec::new(), width: self.width };
        let mut origins: Vec<usize> = Vec::new();
        let mut found: Rowset = FxHashSet::default();
        let (mut next, mut from) = (self.initial(), None);
        let mut at = 0;
        loop {
            for row in next.chunks_exact_mut(width) {
                make_smallest(row, &renamings);
                if found.contains(&*row) || self.is_assumed_away(row) {
                    continue;
                }
                found.insert((&*row).into());
                rows.values.extend_from_slice(row);
                origins.push(from.unwrap_or(origins.len()));
                if self.is_bad(row) {
                    // Initial states are their own origin.
                    let mut run = vec![origins.len() - 1];
                    while let Some(&last) = run.last()
                        && origins[last] != last
                    {
                        run.push(origins[last]);
                    }
                    return Some(run.into_iter().rev().map(|at| self.state(rows.row(at))).collect());
                }
            }
            if at >= rows.count() || rows.count() >= max_states || enough() {
                return None;
            }
            next.clear();
            from = Some(at);
            self.fire_all(rows.row(at), &mut next);
            at += 1;
        }
    }

    fn state(&self, row: &[u8]) -> State {
        let cells = row.iter().map(|v| i64::from(*v)).collect();
        let buffers = vec![Vec::new(); usize::from(self.machine.procs)].into_boxed_slice();
        State { cells, buffers }
    }

    fn is_bad(&self, row: &[u8]) -> bool {
        self.bad.iter().any(|tests| all_hold(tests, row))
    }
}

fn row_of(state: &State) -> impl Iterator<Item = u8> + '_ {
    state.cells.iter().map(|v| *v as u8)
}

/// Whose share of the states a row is.
fn share(row: &[u8], shares: usize) -> usize {
    let mut hasher = FxHasher::default();
    row.hash(&mut hasher);
    (hasher.finish() >> 32) as usize % shares.min(256)
}

/// Puts rows into the sets, each thread into its own; returns the pieces and positions of those that are new, in order.
fn insert(found: &mut [Rowset], pieces: &[(Vec<u8>, Vec<u8>)], width: usize) -> Vec<(usize, usize)> {
    let sets: Vec<(usize, Mutex<&mut Rowset>)> = found.iter_mut().map(Mutex::new).enumerate().collect();
    let mut new = parallel::map_few(sets.len(), &sets, |(own, set)| {
        let mut new = Vec::new();
        let Ok(mut set) = set.lock() else { return new };
        for (piece, (rows, shares)) in pieces.iter().enumerate() {
            for at in (0..shares.len()).filter(|at| usize::from(shares[*at]) == *own) {
                let row = &rows[at * width..(at + 1) * width];
                if !set.contains(row) {
                    set.insert(row.into());
                    new.push((piece, at));
                }
            }
        }
        new
    });
    if new.len() == 1 {
        return new.remove(0);
    }
    let mut all = new.concat();
    all.sort_unstable();
    all
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
