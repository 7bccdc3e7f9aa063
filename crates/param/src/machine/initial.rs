//! The initial states of an instance. Cells that `init` leaves open take every value of a finite type, and a few
//! numbers; the result may be cut.

use super::walk::Random;
use super::{Machine, State, tuples};
use crate::literal::{LinOp, Lit};
use crate::system::*;
use rustc_hash::FxHashSet;

/// A literal of init with its processes.
type Instance<'a> = (&'a SrcLit, Vec<u8>);

/// Instances of a clause beyond which the initial states are not enumerated.
const MAX_INSTANCES: u64 = 1_000_000;

/// More initial states than this come of cells that `init` leaves open.
const MANY: usize = 1_000;
/// So many of them, chosen at random, show an exploration what such cells can be: one that starts from all does not get far.
const SAMPLE: usize = 32;

/// Initial states.
pub struct Starts {
    /// All of them, or some.
    states: Vec<State>,
    /// If there are many, cells that can be changed with their values.
    open: Vec<(usize, Vec<i64>)>,
}

impl Starts {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// All of them, or a few where there are many.
    pub(super) fn few(&self, machine: &Machine) -> Vec<State> {
        if self.open.is_empty() {
            return self.states.clone();
        }
        let mut random = Random(u64::from(machine.procs));
        let chosen = (0..SAMPLE).map(|_| machine.random_start(self, &mut random));
        self.states[..1].iter().cloned().chain(chosen).collect()
    }
}

fn changed(state: &State, cell: usize, value: i64) -> State {
    let mut next = state.clone();
    next.cells[cell] = value;
    next
}

impl Machine<'_> {
    /// Initial states to start from, for explorations that are cut and for random runs.
    pub fn starts(&self) -> Starts {
        let states = self.initial_states(MANY, &mut false);
        if states.len() < MANY {
            return Starts { states, open: vec![] };
        }
        // A cell is open if it can be changed alone; the others keep their values.
        let first = &states[0];
        let open = (0..self.cell_count)
            .map(|cell| (cell as usize, self.pool(self.system.symbol(self.cell_name(cell).0).sort)))
            .filter(|(cell, values)| {
                let other = |v: &i64| *v != first.cells[*cell] && self.is_start(&changed(first, *cell, *v));
                values.iter().any(other)
            });
        let open = open.collect();
        Starts { states, open }
    }

    fn is_start(&self, state: &State) -> bool {
        self.is_initial(state) && !self.is_assumed_away(state)
    }

    /// A random initial state.
    pub(super) fn random_start(&self, starts: &Starts, random: &mut Random) -> State {
        let mut state = starts.states[random.below(starts.states.len())].clone();
        let mut all = state.clone();
        for (cell, values) in &starts.open {
            all.cells[*cell] = values[random.below(values.len())];
        }
        if starts.open.is_empty() || self.is_start(&all) {
            return if starts.open.is_empty() { state } else { all };
        }
        for (cell, _) in &starts.open {
            let next = changed(&state, *cell, all.cells[*cell]);
            if self.is_start(&next) {
                state = next;
            }
        }
        state
    }

    /// Whether a state with empty buffers is an initial one.
    pub fn is_initial(&self, state: &State) -> bool {
        self.system.init.iter().all(|clause| {
            tuples(self.procs, clause.params, &[]).iter().all(|vars| {
                clause.dnf.iter().any(|lits| lits.iter().all(|l| self.holds(state, l, vars, None)))
            })
        }) && state.buffers.iter().all(|buffer| buffer.is_empty())
    }

    /// At most about `limit` initial states; the flag tells that there are more, or that numbers were only sampled.
    pub fn initial_states(&self, limit: usize, cut: &mut bool) -> Vec<State> {
        let mut clauses: Vec<Vec<Vec<Instance>>> = Vec::new();
        for clause in &self.system.init {
            if u64::from(self.procs).pow(u32::from(clause.params)) > MAX_INSTANCES {
                *cut = true;
                return vec![];
            }
            for vars in tuples(self.procs, clause.params, &[]) {
                let dnf = &clause.dnf;
                clauses.push(dnf.iter().map(|c| c.iter().map(|l| (l, vars.clone())).collect()).collect());
            }
        }
        // Clauses with one disjunct first: they cut the product of the others.
        clauses.sort_by_key(Vec::len);
        let mut found = FxHashSet::default();
        let mut states = Vec::new();
        self.choose(&clauses, &mut Vec::new(), limit, cut, &mut |state| {
            if !self.is_assumed_away(&state) && found.insert(state.clone()) {
                states.push(state);
            }
            states.len() < limit
        });
        states
    }

    fn choose<'s>(
        &self,
        clauses: &[Vec<Vec<Instance<'s>>>],
        chosen: &mut Vec<Instance<'s>>,
        limit: usize,
        cut: &mut bool,
        emit: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        let Some((first, rest)) = clauses.split_first() else {
            return self.enumerate(chosen, limit, cut, emit);
        };
        for disjunct in first {
            let length = chosen.len();
            chosen.extend(disjunct.iter().cloned());
            let go_on = self.choose(rest, chosen, limit, cut, emit);
            chosen.truncate(length);
            if !go_on {
                return false;
            }
        }
        true
    }

    /// All states that satisfy the literals: candidates per cell, and their product, the last cell first; a literal is
    /// looked at as soon as all its cells have values.
    fn enumerate(
        &self,
        lits: &[Instance],
        limit: usize,
        cut: &mut bool,
        emit: &mut dyn FnMut(State) -> bool,
    ) -> bool {
        let domains: Vec<Vec<i64>> =
            (0..self.cell_count).map(|cell| self.candidates(cell, lits, cut)).collect();
        if domains.iter().any(Vec::is_empty) {
            return true;
        }
        // For each cell the literals whose first cell it is, which therefore has its value last.
        let mut ready: Vec<Vec<&Instance>> = vec![Vec::new(); domains.len()];
        let mut others: Vec<&Instance> = Vec::new();
        for instance in lits {
            let mut first = None;
            instance.0.for_each_atom(|atom| {
                if let SrcAtom::Sym(sym, idx) | SrcAtom::View(_, sym, idx) = atom {
                    let cell = self.cell(sym, &idx, &instance.1) as usize;
                    first = Some(first.map_or(cell, |first: usize| first.min(cell)));
                }
            });
            first.map_or(&mut others, |cell| &mut ready[cell]).push(instance);
        }
        let buffers = vec![Vec::new(); self.procs as usize].into_boxed_slice();
        let cells = domains.iter().map(|d| d[0]).collect();
        let mut state = State { cells, buffers };
        let hold =
            |state: &State, lits: &[&Instance]| lits.iter().all(|(l, vars)| self.holds(state, l, vars, None));
        if !hold(&state, &others) {
            return true;
        }
        let mut left = limit.saturating_mul(20).saturating_mul(domains.len().max(1));
        // Positions in the domains of the cells from the last down to the current one.
        let mut at = domains.len();
        let mut position = vec![0usize; domains.len()];
        loop {
            if at == 0 {
                if !emit(state.clone()) {
                    *cut = true;
                    return false;
                }
            } else {
                at -= 1;
                position[at] = 0;
            }
            // The next value of this cell, or of a later one if there is none.
            loop {
                if left == 0 {
                    *cut = true;
                    return false;
                }
                left -= 1;
                if at == domains.len() {
                    return true;
                }
                if let Some(value) = domains[at].get(position[at]) {
                    position[at] += 1;
                    state.cells[at] = *value;
                    if hold(&state, &ready[at]) {
                        break;
                    }
                } else {
                    at += 1;
                }
            }
        }
    }

    /// Values of one cell that the literals on it alone allow.
    fn candidates(&self, cell: u32, lits: &[Instance], cut: &mut bool) -> Vec<i64> {
        let sort = self.system.symbol(self.cell_name(cell).0).sort;
        let is_cell = |atom: &SrcAtom, vars: &[u8]| matches!(atom, SrcAtom::Sym(s, i) if self.cell(*s, i, vars) == cell);
        let mut values = self.pool(sort);
        if let Some(first) = self.suggested.get(&cell) {
            values.retain(|v| v != first);
            values.insert(0, *first);
        }
        let mut sampled = matches!(sort, Sort::Int | Sort::Real | Sort::Abstract(_));
        for (lit, vars) in lits {
            match lit {
                Lit::In(a, mask) if is_cell(a, vars) => values.retain(|v| mask >> v & 1 == 1),
                Lit::Eq(a, SrcAtom::Proc(p)) if is_cell(a, vars) => {
                    values.retain(|v| *v == i64::from(p.resolve(vars)))
                }
                Lit::Lin(LinOp::Eq, form) if form.terms.len() == 1 && is_cell(&form.terms[0].0, vars) => {
                    let value = -form.constant / form.terms[0].1;
                    if sampled {
                        values = vec![value];
                    }
                    values.retain(|v| *v == value);
                    sampled = false;
                }
                _ => {}
            }
        }
        *cut |= sampled;
        values
    }
}
