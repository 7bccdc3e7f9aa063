//! Counted store buffers against the machine that keeps them: every state of a small instance under PSO has its state in
//! the system with counted buffers, every step of the one is a step of the other, and bad stays bad.
#![allow(missing_docs)]

mod common;

use common::{crate_dir, generate, load, system_of, systems};
use fencepost_param::counted::{Counted, counted};
use fencepost_param::literal::Term;
use fencepost_param::machine::{Machine, State, explore};
use fencepost_param::model::Model;
use fencepost_param::system::{SymId, System};

/// States of an instance that are followed.
const STATES: usize = 1_500;

struct Pair<'a> {
    counted: &'a Counted,
    kept: Machine<'a>,
    new: Machine<'a>,
}

impl<'a> Pair<'a> {
    fn new(system: &'a System, counted: &'a Counted, procs: u8) -> Pair<'a> {
        let mut kept = Machine::new(system, Model::Pso, procs);
        kept.max_buffer = 4;
        Pair { counted, kept, new: Machine::new(&counted.system, Model::Sc, procs) }
    }

    fn writes(&self, kind: usize, sym: SymId) -> bool {
        self.counted.kinds[kind].writes.iter().any(|w| w.0 == sym)
    }

    /// The kind of an entry of that process.
    fn kind(&self, proc: usize, entry: &[(u32, i64)]) -> usize {
        let mut entry: Vec<(SymId, i64)> =
            entry.iter().map(|(cell, value)| (self.kept.cell_name(*cell).0, *value)).collect();
        entry.sort();
        let value = |term: &_| match term {
            Term::Value(v) => i64::from(*v),
            Term::Atom(_) => proc as i64,
            Term::Lin(form) => form.constant,
        };
        let same = |kind: &fencepost_param::counted::Kind| {
            kind.writes.iter().map(|(sym, term)| (*sym, value(term))).eq(entry.iter().copied())
        };
        self.counted.kinds.iter().position(same).expect("every entry is of some kind")
    }

    /// The state with counted buffers.
    fn count(&self, state: &State) -> State {
        let mut cells = state.cells.to_vec();
        let kinds: Vec<Vec<usize>> = state
            .buffers
            .iter()
            .enumerate()
            .map(|(p, buffer)| buffer.iter().map(|e| self.kind(p, e)).collect())
            .collect();
        for kind in 0..self.counted.kinds.len() {
            let pending = |buffer: &Vec<usize>| buffer.iter().filter(|k| **k == kind).count().min(2) as i64;
            cells.extend(kinds.iter().map(pending));
        }
        for (sym, _) in &self.counted.last {
            let last = |buffer: &Vec<usize>| buffer.iter().rev().find(|k| self.writes(**k, *sym)).copied();
            cells.extend(kinds.iter().map(|buffer| last(buffer).unwrap_or(0) as i64));
        }
        let buffers = vec![vec![]; state.buffers.len()];
        State { cells: cells.into(), buffers: buffers.into() }
    }

    /// Which kind was last says nothing where nothing is pending.
    fn normal(&self, mut state: State) -> State {
        let procs = usize::from(self.new.procs);
        let counts = self.kept.cell_count() as usize;
        let lasts = counts + procs * self.counted.kinds.len();
        for (number, (sym, _)) in self.counted.last.iter().enumerate() {
            for p in 0..procs {
                let pending = (0..self.counted.kinds.len())
                    .any(|k| self.writes(k, *sym) && state.cells[counts + k * procs + p] != 0);
                if !pending {
                    state.cells[lasts + number * procs + p] = 0;
                }
            }
        }
        state
    }

    /// Follows every step; returns how many there were, and the longest buffer.
    fn follow(&self, name: &str) -> (usize, usize) {
        let initial: Vec<State> = self.new.initial_states(usize::MAX, &mut false);
        let found = explore(&self.kept, STATES, false, &mut || false);
        let (mut steps, mut longest) = (0, 0);
        for (state, origin) in &found.states {
            let here = self.count(state);
            longest = longest.max(state.buffers.iter().map(Vec::len).max().unwrap_or(0));
            assert!(origin.is_some() || initial.contains(&here), "{name}: an initial state is missing");
            assert!(!self.kept.is_bad(state) || self.new.is_bad(&here), "{name}: a bad state is missing");
            assert_eq!(
                self.kept.is_assumed_away(state),
                self.new.is_assumed_away(&here),
                "{name}: declared invariants"
            );
            let next: Vec<State> = self
                .new
                .successors(&here, &mut false)
                .into_iter()
                .map(|(_, state)| self.normal(state))
                .collect();
            for (step, after) in self.kept.successors(state, &mut false) {
                steps += 1;
                assert!(next.contains(&self.count(&after)), "{name}: {step:?} is missing at {state:?}");
            }
        }
        (steps, longest)
    }
}

/// How many systems have counted buffers, the steps that were followed, and the longest buffer.
fn follow_all(texts: impl Iterator<Item = (String, String)>, sizes: &[u8]) -> (usize, usize, usize) {
    let (mut compared, mut steps, mut longest) = (0, 0, 0);
    for (name, text) in texts {
        let system = system_of(&text, true);
        let Some(counted) = counted(&system) else { continue };
        assert!(!counted.system.has_weak(), "{name}: something is weak");
        compared += 1;
        for procs in sizes {
            let pair = Pair::new(&system, &counted, system.number_procs.unwrap_or(*procs));
            let (more, length) = pair.follow(&name);
            steps += more;
            longest = longest.max(length);
        }
    }
    (compared, steps, longest)
}

#[test]
fn the_corpus_step_by_step() {
    let files = systems(&crate_dir().join("corpus")).into_iter();
    let texts = files.map(|path| (path.display().to_string(), load(&path).text));
    let (compared, steps, longest) = follow_all(texts, &[2, 3]);
    assert!(compared >= 5 && steps > 10_000 && longest >= 2, "{compared} systems, {steps} steps, {longest}");
}

#[test]
fn random_systems_step_by_step() {
    let parameterized = (0..400).map(|seed| (format!("seed {seed}"), generate::parameterized(seed, 4)));
    let (compared, steps, longest) = follow_all(parameterized, &[2]);
    assert!(compared >= 40 && steps > 10_000 && longest >= 2, "{compared} systems, {steps} steps, {longest}");
    let fixed = (0..400).map(|seed| (format!("fixed seed {seed}"), generate::fixed(seed, 2, 4)));
    let (compared, steps, longest) = follow_all(fixed, &[2]);
    assert!(compared >= 40 && steps > 2_000 && longest >= 2, "{compared} systems, {steps} steps, {longest}");
}
