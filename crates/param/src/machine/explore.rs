//! Breadth-first exploration of the machine: all reachable states of an instance, up to limits.

use super::{Machine, State, Step, tuples};
use crate::parallel;
use crate::replay::Run;
use crate::system::Sort;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::ops::Range;

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
    jobs: usize,
    enough: &mut dyn FnMut() -> bool,
) -> Vec<State> {
    let renamings = renamings(machine);
    let hash = |state: &State| FxBuildHasher.hash_one(state);
    let mut states: Vec<State> = Vec::new();
    let mut found: FxHashMap<u64, u32> = FxHashMap::default();
    let initial = machine.starts().few(machine).into_iter();
    let initial = initial.map(|state| smallest(state, &renamings)).map(|state| (hash(&state), state));
    let mut pending = vec![initial.collect::<Vec<(u64, State)>>()];
    let mut at = 0;
    loop {
        for (hash, state) in pending.drain(..).flatten() {
            if states.len() >= max_states {
                return states;
            }
            if let Some(key) = free_key(&found, &states, hash, &state)
                && !machine.is_assumed_away(&state)
            {
                found.insert(key, states.len() as u32);
                states.push(state);
            }
        }
        if at == states.len() || enough() {
            return states;
        }
        let batch = at..states.len().min(at + BATCH);
        at = batch.end;
        pending = parallel::map(jobs, &pieces(batch), |piece| {
            let mut out = Vec::new();
            for state in &states[piece.clone()] {
                for (_, next) in machine.successors(state, &mut false) {
                    let next = smallest(next, &renamings);
                    let hash = hash(&next);
                    // Most are known already; what is left is looked at again in order.
                    if free_key(&found, &states, hash, &next).is_some() {
                        out.push((hash, next));
                    }
                }
            }
            out
        });
    }
}

/// Where a state belongs in a table from hashes to places among the states: none if it is there. Two states with one hash
/// get neighbouring keys. The hash is computed by whoever found the state, so that the one who inserts need not.
fn free_key(found: &FxHashMap<u64, u32>, states: &[State], hash: u64, state: &State) -> Option<u64> {
    let mut key = hash;
    while let Some(&at) = found.get(&key) {
        if states[at as usize] == *state {
            return None;
        }
        key = key.wrapping_add(1);
    }
    Some(key)
}

/// States whose successors are computed at a time, on all cores; the order of what is found does not depend on it.
const BATCH: usize = 8192;

/// A range in pieces, so that each core finds work.
pub(super) fn pieces(range: Range<usize>) -> Vec<Range<usize>> {
    let length = (range.len() / 16).max(16);
    range.clone().step_by(length).map(|start| start..range.end.min(start + length)).collect()
}

/// The run of the machine along these states, each of which stands for all that differ only in which process is which;
/// none if the machine has no such run.
pub fn run_along(machine: &Machine, states: &[State]) -> Option<Run> {
    let renamings = renamings(machine);
    let (first, rest) = states.split_first()?;
    let kind = |state: &State| smallest(state.clone(), &renamings);
    if !machine.is_initial(first) {
        return None;
    }
    let mut run = Run { initial: first.clone(), steps: Vec::new() };
    for state in rest {
        let wanted = kind(state);
        let at = run.steps.last().map_or(&run.initial, |step| &step.1);
        let next = machine.successors(at, &mut false).into_iter().find(|(_, s)| kind(s) == wanted)?;
        run.steps.push(next);
    }
    Some(run)
}

/// A renaming of processes under which the machine is the same.
pub(super) struct Renaming {
    procs: Vec<u8>,
    /// For each cell, the cell whose value it takes, and whether that value is a process.
    cells: Vec<(u32, bool)>,
    /// For each cell, the cell that takes its place.
    places: Vec<u32>,
}

impl Renaming {
    fn value(&self, value: i64) -> i64 {
        usize::try_from(value).ok().and_then(|p| self.procs.get(p)).map_or(value, |p| i64::from(*p))
    }

    /// As [`Renaming::cell`], where all values are small.
    #[inline]
    pub(super) fn small_cell(&self, cells: &[u8], at: usize) -> u8 {
        let (from, is_process) = self.cells[at];
        let value = cells[from as usize];
        if is_process { self.procs.get(usize::from(value)).copied().unwrap_or(value) } else { value }
    }

    /// The value of a cell after the renaming.
    fn cell(&self, cells: &[i64], at: usize) -> i64 {
        let (from, is_process) = self.cells[at];
        let value = cells[from as usize];
        if is_process { self.value(value) } else { value }
    }
}

/// The renamings, without that which renames nothing.
pub(super) fn renamings(machine: &Machine) -> Vec<Renaming> {
    if !machine.system.symmetric || machine.system.orders_processes() {
        return vec![];
    }
    let mut all = tuples(machine.procs, machine.procs, &[]);
    all.retain(|map| map.iter().enumerate().any(|(p, q)| p != usize::from(*q)));
    let renaming = |procs: Vec<u8>| {
        let place = |cell: u32| {
            let (sym, idx) = machine.cell_name(cell);
            let idx: Vec<u8> = idx.iter().map(|p| procs[usize::from(*p)]).collect();
            machine.cell_at(sym, &idx)
        };
        let places: Vec<u32> = (0..machine.cell_count()).map(place).collect();
        let mut cells = vec![(0, false); places.len()];
        for (cell, &to) in (0u32..).zip(&places) {
            let is_process = machine.system.symbol(machine.cell_name(cell).0).sort == Sort::Proc;
            cells[to as usize] = (cell, is_process);
        }
        Renaming { procs, cells, places }
    };
    all.into_iter().map(renaming).collect()
}

/// The smallest state of those that the renamings make of this one.
fn smallest(state: State, renamings: &[Renaming]) -> State {
    let mut best: Option<&Renaming> = None;
    for renaming in renamings {
        let old = |at: usize| best.map_or(state.cells[at], |best| best.cell(&state.cells, at));
        let differs = (0..state.cells.len())
            .map(|at| renaming.cell(&state.cells, at).cmp(&old(at)))
            .find(|order| order.is_ne());
        if differs == Some(std::cmp::Ordering::Less) {
            best = Some(renaming);
        }
    }
    let Some(renaming) = best else { return state };
    let cells = (0..state.cells.len()).map(|at| renaming.cell(&state.cells, at)).collect();
    let mut buffers = state.buffers.clone();
    for (p, buffer) in state.buffers.iter().enumerate() {
        let write = |&(cell, value): &(u32, i64)| {
            let place = renaming.places[cell as usize];
            let is_process = renaming.cells[place as usize].1;
            (place, if is_process { renaming.value(value) } else { value })
        };
        buffers[usize::from(renaming.procs[p])] =
            buffer.iter().map(|entry| entry.iter().map(write).collect()).collect();
    }
    State { cells, buffers }
}
