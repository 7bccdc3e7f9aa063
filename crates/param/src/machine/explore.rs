//! Breadth-first exploration of the machine: all reachable states of an instance, up to limits.

use super::{Machine, State, Step, tuples};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an exploration found.
pub struct Exploration {
    /// All states found, in the order found, each with the state and step it was first reached by.
    pub states: Vec<(State, Option<(usize, Step)>)>,
    /// The first bad state.
    pub bad: Option<usize>,
    /// Something was left out: a limit was hit, or values were sampled.
    pub cut: bool,
}

impl Exploration {
    /// The run to a state: the initial state, then steps with their states.
    pub fn run_to(&self, index: usize) -> (State, Vec<(Step, State)>) {
        let mut steps = Vec::new();
        let mut at = index;
        while let (state, Some((parent, step))) = &self.states[at] {
            steps.push((step.clone(), state.clone()));
            at = *parent;
        }
        steps.reverse();
        (self.states[at].0.clone(), steps)
    }
}

/// Explores at most `max_states` states; stops at the first bad one if `stop_at_bad`, and as soon as `enough` says so.
pub fn explore(
    machine: &Machine,
    max_states: usize,
    stop_at_bad: bool,
    enough: &mut dyn FnMut() -> bool,
) -> Exploration {
    let mut result = Exploration { states: Vec::new(), bad: None, cut: false };
    let mut index: FxHashMap<State, ()> = FxHashMap::default();
    let mut pending: Vec<(State, Option<(usize, Step)>)> =
        machine.initial_states(max_states, &mut result.cut).into_iter().map(|s| (s, None)).collect();
    let mut at = 0;
    loop {
        for (state, origin) in pending.drain(..) {
            if index.contains_key(&state) || machine.is_assumed_away(&state) {
                continue;
            }
            if result.states.len() >= max_states {
                result.cut = true;
                return result;
            }
            if result.bad.is_none() && machine.is_bad(&state) {
                result.bad = Some(result.states.len());
            }
            index.insert(state.clone(), ());
            result.states.push((state, origin));
        }
        if at == result.states.len() || (stop_at_bad && result.bad.is_some()) {
            return result;
        }
        if at % 64 == 0 && enough() {
            result.cut = true;
            return result;
        }
        let state = result.states[at].0.clone();
        let successors = machine.successors(&state, &mut result.cut);
        pending.extend(successors.into_iter().map(|(step, next)| (next, Some((at, step)))));
        at += 1;
    }
}

/// All reachable states of an instance, up to `max_states`. Where processes are interchangeable, one of those states that
/// differ only in which process is which.
pub fn explore_reduced(
    machine: &Machine,
    max_states: usize,
    enough: &mut dyn FnMut() -> bool,
) -> Vec<State> {
    let permutations = permutations(machine);
    let mut found: FxHashSet<State> = FxHashSet::default();
    let mut states: Vec<State> = Vec::new();
    let mut cut = false;
    let mut pending = machine.initial_states(max_states, &mut cut);
    let mut at = 0;
    loop {
        for state in pending.drain(..) {
            if states.len() >= max_states {
                return states;
            }
            let state = machine.smallest(state, &permutations);
            if !found.contains(&state) && !machine.is_assumed_away(&state) {
                found.insert(state.clone());
                states.push(state);
            }
        }
        if at == states.len() || (at % 64 == 0 && enough()) {
            return states;
        }
        let successors = machine.successors(&states[at].clone(), &mut cut);
        pending.extend(successors.into_iter().map(|(_, next)| next));
        at += 1;
    }
}

/// The renamings of processes under which the machine is the same, without that which renames none.
fn permutations(machine: &Machine) -> Vec<Vec<u8>> {
    if !machine.system.symmetric || machine.system.orders_processes() {
        return vec![];
    }
    let mut all = tuples(machine.procs, machine.procs, &[]);
    all.retain(|map| map.iter().enumerate().any(|(p, q)| p != usize::from(*q)));
    all
}

impl Machine<'_> {
    /// The smallest state of those that the renamings make of this one.
    fn smallest(&self, state: State, permutations: &[Vec<u8>]) -> State {
        let mut best: Option<Box<[i64]>> = None;
        let mut chosen = None;
        for map in permutations {
            let cells = self.renamed_cells(&state.cells, map);
            if cells < *best.as_ref().unwrap_or(&state.cells) {
                best = Some(cells);
                chosen = Some(map);
            }
        }
        let (Some(cells), Some(map)) = (best, chosen) else { return state };
        let mut buffers = state.buffers.clone();
        for (p, buffer) in state.buffers.into_vec().into_iter().enumerate() {
            let rename = |(cell, value): (u32, i64)| (self.renamed(cell, map), self.renamed_value(cell, value, map));
            buffers[usize::from(map[p])] =
                buffer.into_iter().map(|entry| entry.into_iter().map(rename).collect()).collect();
        }
        State { cells, buffers }
    }

    fn renamed_cells(&self, cells: &[i64], map: &[u8]) -> Box<[i64]> {
        let mut result: Box<[i64]> = cells.into();
        for (cell, value) in cells.iter().enumerate() {
            let cell = cell as u32;
            result[self.renamed(cell, map) as usize] = self.renamed_value(cell, *value, map);
        }
        result
    }
}
