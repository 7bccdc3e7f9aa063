//! Replay: does the explicit machine have a run that fires the transitions of a backward trace and ends in a bad state?
//!
//! Under SC the transitions fire in the order of the trace. Under a weak model the trace fixes only the order within
//! each process (its order across processes respects reads-from and coherence, not real time), so all interleavings
//! and all moments for the buffers to give entries to memory are tried. Nothing here is shared with the search.

use crate::machine::{Machine, State, Step};
use rustc_hash::FxHashSet;

/// A transition of a trace with its processes.
pub type Firing = (usize, Vec<u8>);

/// A run of the machine.
pub struct Run {
    /// The initial state.
    pub initial: State,
    /// Steps with the states they lead to.
    pub steps: Vec<(Step, State)>,
}

/// States beyond which a replay is given up.
const MAX_STATES: usize = 400_000;
/// Initial states tried.
const MAX_INITIAL: usize = 20_000;

/// A run that fires the transitions and ends in a bad state.
pub fn replay(machine: &Machine, trace: &[Firing], enough: &mut dyn FnMut() -> bool) -> Option<Run> {
    run(machine, trace, &|state| machine.is_bad(state), enough)
}

/// A run that fires the transitions and ends in a state of that kind.
pub fn run(
    machine: &Machine,
    trace: &[Firing],
    wanted: &dyn Fn(&State) -> bool,
    enough: &mut dyn FnMut() -> bool,
) -> Option<Run> {
    let mut cut = false;
    let sequences = sequences(machine, trace);
    let mut seen: FxHashSet<(Vec<usize>, State)> = FxHashSet::default();
    for initial in machine.initial_states(MAX_INITIAL, &mut cut) {
        let mut search =
            Replay { machine, sequences: &sequences, seen: &mut seen, steps: Vec::new(), wanted, enough };
        if search.run(vec![0; sequences.len()], initial.clone()) {
            return Some(Run { initial, steps: search.steps });
        }
    }
    None
}

/// The firings that keep their order: all of them, or those of each process.
fn sequences(machine: &Machine, trace: &[Firing]) -> Vec<Vec<Firing>> {
    if !machine.system.has_weak() {
        return vec![trace.to_vec()];
    }
    let mut result = vec![Vec::new(); machine.procs as usize];
    for firing in trace {
        let t = &machine.system.transitions[firing.0];
        let who = t.acting.map_or(0, |a| firing.1[a as usize]);
        result[who as usize].push(firing.clone());
    }
    result
}

struct Replay<'a> {
    machine: &'a Machine<'a>,
    sequences: &'a [Vec<Firing>],
    seen: &'a mut FxHashSet<(Vec<usize>, State)>,
    steps: Vec<(Step, State)>,
    /// What the last state must be.
    wanted: &'a dyn Fn(&State) -> bool,
    enough: &'a mut dyn FnMut() -> bool,
}

impl Replay<'_> {
    /// Depth first, with an explicit stack: traces may be long.
    fn run(&mut self, at: Vec<usize>, state: State) -> bool {
        let mut stack = vec![(at.clone(), self.moves(&at, &state))];
        if self.is_goal(&at, &state) {
            return true;
        }
        self.seen.insert((at, state));
        while let Some((_, moves)) = stack.last_mut() {
            let Some((step, at, state)) = moves.pop() else {
                stack.pop();
                self.steps.pop();
                continue;
            };
            if self.seen.len() > MAX_STATES || (self.seen.len() % 512 == 511 && (self.enough)()) {
                return false;
            }
            if !self.seen.insert((at.clone(), state.clone())) || self.machine.is_assumed_away(&state) {
                continue;
            }
            self.steps.push((step, state.clone()));
            if self.is_goal(&at, &state) {
                return true;
            }
            let moves = self.moves(&at, &state);
            stack.push((at, moves));
        }
        false
    }

    fn is_goal(&self, at: &[usize], state: &State) -> bool {
        at.iter().zip(self.sequences).all(|(a, s)| *a == s.len()) && (self.wanted)(state)
    }

    /// Next steps; those to try first come last.
    fn moves(&self, at: &[usize], state: &State) -> Vec<(Step, Vec<usize>, State)> {
        let mut flushes = Vec::new();
        self.machine.flushes(state, &mut flushes);
        let mut result: Vec<(Step, Vec<usize>, State)> =
            flushes.into_iter().map(|(step, state)| (step, at.to_vec(), state)).collect();
        let mut cut = false;
        for (p, sequence) in self.sequences.iter().enumerate().rev() {
            let Some((transition, args)) = sequence.get(at[p]) else { continue };
            let t = &self.machine.system.transitions[*transition];
            for next in self.machine.fire(state, t, args, &mut cut) {
                let mut at = at.to_vec();
                at[p] += 1;
                result.push((Step::Fire { transition: *transition, args: args.clone() }, at, next));
            }
        }
        result
    }
}
