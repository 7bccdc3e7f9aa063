//! Steps of the machine: a transition fires, or a buffer gives an entry to memory.

use super::{Entry, Machine, State, tuples};
use crate::model::Model;
use crate::system::*;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A transition fires.
    Fire {
        /// Index in [`System::transitions`].
        transition: usize,
        /// Processes of its parameters.
        args: Vec<u8>,
    },
    /// An entry becomes visible to all.
    Flush {
        /// Whose.
        proc: u8,
        /// Which, counted from the oldest.
        entry: usize,
    },
}

impl Machine<'_> {
    /// All steps from a state, with the states they lead to, in a fixed order. The flag tells that a buffer was full,
    /// so that something may be missing.
    pub fn successors(&self, state: &State, cut: &mut bool) -> Vec<(Step, State)> {
        let mut result = Vec::new();
        self.flushes(state, &mut result);
        for (transition, t) in self.system.transitions.iter().enumerate() {
            for args in self.arguments(t.params) {
                for next in self.fire(state, t, args, cut) {
                    result.push((Step::Fire { transition, args: args.clone() }, next));
                }
            }
        }
        result
    }

    /// All flushes.
    pub fn flushes(&self, state: &State, result: &mut Vec<(Step, State)>) {
        for (p, buffer) in state.buffers.iter().enumerate() {
            for entry in 0..buffer.len() {
                let older_shares_a_cell =
                    buffer[..entry].iter().flatten().any(|old| buffer[entry].iter().any(|w| w.0 == old.0));
                let may = match self.model {
                    Model::Sc | Model::Tso => entry == 0,
                    Model::Pso => !older_shares_a_cell,
                };
                if may {
                    let mut next = state.clone();
                    for (cell, value) in next.buffers[p].remove(entry) {
                        next.cells[cell as usize] = value;
                    }
                    result.push((Step::Flush { proc: p as u8, entry }, next));
                }
            }
        }
    }

    /// The states after a transition, none if it is not enabled; several where values are left open.
    pub fn fire(&self, state: &State, t: &Transition, args: &[u8], cut: &mut bool) -> Vec<State> {
        let acting = t.acting.map(|a| args[a as usize]);
        // A guard speaks of the parameters only, and most are false.
        if !t.guard.iter().all(|l| self.holds(state, l, args, acting)) {
            return vec![];
        }
        let mut vars = args.to_vec();
        vars.resize(usize::from(t.variables).max(args.len()), 0);
        if let Some(p) = acting
            && (t.fence || t.is_rmw())
            && !state.buffers[p as usize].is_empty()
        {
            return vec![];
        }
        if !t.universals.iter().all(|u| self.universal(state, t, u, &mut vars.clone(), acting)) {
            return vec![];
        }
        let Some(choices) = self.writes(state, t, &vars, acting) else { return vec![] };
        let mut result = Vec::new();
        for writes in choices {
            let mut next = state.clone();
            let mut entry: Entry = Vec::new();
            for (cell, value) in writes {
                if self.is_weak(cell) && self.model != Model::Sc && !t.is_rmw() {
                    entry.push((cell, value));
                } else {
                    next.cells[cell as usize] = value;
                }
            }
            if let (false, Some(p)) = (entry.is_empty(), acting) {
                if next.buffers[p as usize].len() >= self.max_buffer {
                    *cut = true;
                    continue;
                }
                next.buffers[p as usize].push(entry);
            }
            result.push(next);
        }
        result
    }

    fn universal(
        &self,
        s: &State,
        t: &Transition,
        u: &Universal,
        vars: &mut [u8],
        acting: Option<u8>,
    ) -> bool {
        let declared = vars[..t.declared as usize].to_vec();
        let except: &[u8] = if u.other { &declared } else { &[] };
        tuples(self.procs, u.vars.len() as u8, except).into_iter().all(|tuple| {
            for (var, proc) in u.vars.iter().zip(tuple) {
                vars[*var as usize] = proc;
            }
            u.dnf.iter().any(|c| c.iter().all(|l| self.holds(s, l, vars, acting)))
        })
    }

    /// The cells that change with their values, once per choice of open values; `None` when a number overflows.
    fn writes(
        &self,
        s: &State,
        t: &Transition,
        vars: &[u8],
        acting: Option<u8>,
    ) -> Option<Vec<Vec<(u32, i64)>>> {
        let mut choices: Vec<Vec<(u32, i64)>> = vec![vec![]];
        for update in &t.updates {
            for (vars, idx) in self.targets(update, vars) {
                let Some((_, term)) =
                    update.branches.iter().find(|(c, _)| c.iter().all(|l| self.holds(s, l, &vars, acting)))
                else {
                    continue;
                };
                let cell = self.cell(update.sym, &idx, &vars);
                if update.keeps(term) {
                    continue;
                }
                let values = match term {
                    Some(term) => vec![self.term(s, term, &vars, acting)?],
                    None => self.pool(self.system.symbol(update.sym).sort),
                };
                choices = choices
                    .iter()
                    .flat_map(|w| values.iter().map(|v| w.iter().copied().chain([(cell, *v)]).collect()))
                    .collect();
            }
        }
        Some(choices)
    }

    /// The cells an update assigns: values of all variables, and the indices.
    pub(super) fn targets(&self, update: &Update, vars: &[u8]) -> Vec<(Vec<u8>, [ProcRef; MAX_ARITY])> {
        match update.target {
            Target::Cell(idx) => vec![(vars.to_vec(), idx)],
            Target::Every(idx) => {
                let arity = self.system.symbol(update.sym).arity;
                let mut result = vec![vars.to_vec()];
                for binder in &idx[..arity] {
                    let extend = |vars: Vec<u8>| {
                        (0..self.procs).map(move |p| {
                            let mut vars = vars.clone();
                            vars[binder.0 as usize] = p;
                            vars
                        })
                    };
                    result = result.into_iter().flat_map(extend).collect();
                }
                result.into_iter().map(|vars| (vars, idx)).collect()
            }
        }
    }
}
