//! The initial states of an instance. Cells that `init` leaves open take every value of a finite type, and a few
//! numbers; the result may be cut.

use super::{Machine, State, tuples};
use crate::literal::{LinOp, Lit};
use crate::system::*;
use rustc_hash::FxHashSet;

/// A literal of init with its processes.
type Instance<'a> = (&'a SrcLit, Vec<u8>);

/// Instances of a clause beyond which the initial states are not enumerated.
const MAX_INSTANCES: u64 = 1_000_000;

impl Machine<'_> {
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

    /// All states that satisfy the literals: candidates per cell, then their product, filtered.
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
        let buffers = vec![Vec::new(); self.procs as usize].into_boxed_slice();
        let mut position = vec![0usize; domains.len()];
        for _ in 0..limit.saturating_mul(20) {
            let cells = domains.iter().zip(&position).map(|(d, &i)| d[i]).collect();
            let state = State { cells, buffers: buffers.clone() };
            if lits.iter().all(|(l, vars)| self.holds(&state, l, vars, None)) && !emit(state) {
                *cut = true;
                return false;
            }
            let Some(next) = (0..domains.len()).find(|&c| position[c] + 1 < domains[c].len()) else {
                return true;
            };
            position[next] += 1;
            position[..next].fill(0);
        }
        *cut = true;
        false
    }

    /// Values of one cell that the literals on it alone allow.
    fn candidates(&self, cell: u32, lits: &[Instance], cut: &mut bool) -> Vec<i64> {
        let sort = self.system.symbol(self.cell_name(cell).0).sort;
        let is_cell = |atom: &SrcAtom, vars: &[u8]| matches!(atom, SrcAtom::Sym(s, i) if self.cell(*s, i, vars) == cell);
        let mut values = self.pool(sort);
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
