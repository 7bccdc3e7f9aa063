//! Breadth-first exploration of the machine: all reachable states of an instance, up to limits.

use super::{Machine, State, Step};
use rustc_hash::FxHashMap;

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
