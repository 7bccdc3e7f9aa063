//! States of an instance that is too large to explore: those of random runs. A step is found by trying transitions and
//! processes at random until one can fire, which costs a fraction of listing all successors, and runs reach deep states
//! that a breadth-first prefix does not have. Deterministic.

use super::{Machine, State};
use rustc_hash::FxHashSet;

/// Steps of one run.
const MAX_STEPS: usize = 150;
/// Tries to find a step, after which the run ends.
const MAX_TRIES: usize = 2_000;

/// A small random number generator (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Runs at most.
const MAX_RUNS: usize = 300;

/// Different states of random runs, at most so many, and the first run to a bad state.
pub fn walk(
    machine: &Machine,
    max_states: usize,
    enough: &mut dyn FnMut() -> bool,
) -> (Vec<State>, Option<Vec<State>>) {
    let mut random = Random(u64::from(machine.procs));
    let starts = machine.starts();
    let mut found: FxHashSet<State> = FxHashSet::default();
    let mut states = Vec::new();
    for _ in 0..MAX_RUNS {
        if starts.is_empty() || states.len() >= max_states || enough() {
            break;
        }
        let mut at = machine.random_start(&starts, &mut random);
        let mut run = vec![at.clone()];
        for _ in 0..MAX_STEPS {
            // A step may take thousands of tries where buffers are full.
            if enough() {
                return (states, None);
            }
            let Some(next) = random_step(machine, &at, &mut random) else { break };
            at = next;
            if machine.is_assumed_away(&at) {
                break;
            }
            run.push(at.clone());
            if found.insert(at.clone()) {
                states.push(at.clone());
                if machine.is_bad(&at) {
                    return (states, Some(run));
                }
            }
        }
    }
    (states, None)
}

fn random_step(machine: &Machine, state: &State, random: &mut Random) -> Option<State> {
    let transitions = &machine.system.transitions;
    let mut flushes = Vec::new();
    machine.flushes(state, &mut flushes);
    if !flushes.is_empty() && random.below(3) == 0 {
        return Some(flushes.swap_remove(random.below(flushes.len())).1);
    }
    for _ in 0..MAX_TRIES {
        if transitions.is_empty() {
            break;
        }
        let t = &transitions[random.below(transitions.len())];
        let arguments = machine.arguments(t.params);
        if arguments.is_empty() {
            continue;
        }
        let args = &arguments[random.below(arguments.len())];
        let mut next = machine.fire(state, t, args, &mut false);
        if !next.is_empty() {
            return Some(next.swap_remove(random.below(next.len())));
        }
    }
    (!flushes.is_empty()).then(|| flushes.swap_remove(random.below(flushes.len())).1)
}
