//! Invariant inference in the manner of BRAB (Conchon, Goel, Krstic, Mebsout, Zaidi, FMCAD 2013): while searching
//! backwards, replace a cube by a part of it that no state of a small explicit instance satisfies. If the instance is
//! telling, the part is unreachable in all instances and cuts the search short; if not, it leads to the initial states
//! and the search restarts without it. Safety does not depend on the oracle.
//!
//! A restart teaches more than the one part that was wrong: every part that contains it is wrong too, and if the run
//! from the initial states to it can be replayed, so is every part that some state of that run satisfies. Parts with
//! arithmetic that differ in their numbers only are one family: after a few of them were wrong, all are given up.
//!
//! The oracle itself is in `oracle`.

use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::{LinOp, Lit};
use crate::machine::State;
use crate::memory::Memory;
use crate::model::Model;
use crate::oracle::Oracle;
use crate::pre::Context;
use crate::subsume::{Pattern, Profile};
use crate::system::System;
use rustc_hash::FxHashMap;

/// Wrong parts of a family, after which the family is given up.
const MAX_OF_FAMILY: usize = 2;
/// Literals of a cube that parts are made of.
const MAX_LITERALS: usize = 16;

/// What a part with arithmetic looks like without its numbers.
type Family = (Vec<CubeLit>, Vec<(LinOp, Vec<(Atom, bool)>)>);

/// The oracle and what was learnt since.
pub struct Brab<'a> {
    oracle: Oracle<'a>,
    /// Answers so far: whether some state satisfies the cube.
    known: FxHashMap<Cube, bool>,
    /// Approximations that led to the initial states.
    wrong: Vec<(Cube, Profile)>,
    families: FxHashMap<Family, usize>,
    max_literals: usize,
    /// Approximations made since the last restart.
    pub made: usize,
}

impl<'a> Brab<'a> {
    /// An oracle that explores `procs` processes, and at most so many states of them.
    pub fn new(
        system: &'a System,
        model: Model,
        procs: u8,
        max_states: usize,
        enough: &mut dyn FnMut() -> bool,
    ) -> Brab<'a> {
        let oracle = Oracle::new(system, model, procs, max_states, enough);
        let max_literals = 2.max(usize::from(oracle.procs()) + 1);
        Brab {
            oracle,
            known: FxHashMap::default(),
            wrong: Vec::new(),
            families: FxHashMap::default(),
            max_literals,
            made: 0,
        }
    }

    /// Never makes that approximation again, nor one that it shows to be wrong too. `run` is a run to it.
    pub fn forbid(&mut self, cube: Cube, run: Option<(u8, Vec<State>)>) {
        if let Some(family) = family(&cube) {
            *self.families.entry(family).or_default() += 1;
        }
        if let Some((procs, states)) = run {
            self.oracle.add(procs, states);
            self.known.retain(|_, seen| *seen);
        }
        let profile = Profile::new(&cube);
        self.wrong.push((cube, profile));
        self.made = 0;
    }

    /// A larger cube to go on with, the most general that the oracle has not seen.
    pub fn approximate(&mut self, context: &Context, cube: &Cube) -> Option<Cube> {
        for candidate in self.candidates(context, cube) {
            if self.is_seen(&candidate) || self.is_wrong(context, &candidate) {
                continue;
            }
            self.made += 1;
            return Some(candidate);
        }
        None
    }

    fn is_seen(&mut self, candidate: &Cube) -> bool {
        if let Some(seen) = self.known.get(candidate) {
            return *seen;
        }
        let seen = self.oracle.is_seen(candidate);
        self.known.insert(candidate.clone(), seen);
        seen
    }

    fn is_wrong(&self, context: &Context, candidate: &Cube) -> bool {
        let given_up = family(candidate)
            .is_some_and(|f| self.families.get(&f).is_some_and(|wrong| *wrong >= MAX_OF_FAMILY));
        if given_up || context.meets_init(candidate) {
            return true;
        }
        let pattern = Pattern::new(candidate);
        let permute = context.system.symmetric;
        self.wrong.iter().any(|(wrong, profile)| pattern.covers(candidate, wrong, profile, permute))
    }

    /// Parts of the cube, fewest processes and literals first.
    fn candidates(&self, context: &Context, cube: &Cube) -> Vec<Cube> {
        let n = cube.lits.len().min(MAX_LITERALS);
        let fixed = context.system.number_procs.is_some();
        let mut result: Vec<Cube> = Vec::new();
        for subset in 1u32..1 << n {
            let count = subset.count_ones() as usize;
            if count > self.max_literals || count >= cube.lits.len() && cube.memory == Memory::default() {
                continue;
            }
            let lits: Vec<CubeLit> =
                (0..n).filter(|i| subset >> i & 1 == 1).map(|i| cube.lits[i].clone()).collect();
            let Some(memory) = part_of_memory(&cube.memory, &lits) else { continue };
            let mut candidate = Cube { procs: cube.procs, lits, memory };
            candidate.compact(fixed);
            if candidate.procs <= self.oracle.procs() {
                result.push(candidate);
            }
        }
        result.sort_by_key(|c| (c.size(), c.procs));
        result
    }
}

/// The family of a part with arithmetic.
fn family(cube: &Cube) -> Option<Family> {
    let (mut other, mut arithmetic) = (Vec::new(), Vec::new());
    for lit in &cube.lits {
        match lit {
            Lit::Lin(op, form) => arithmetic.push((*op, form.terms.iter().map(|t| (t.0, t.1 > 0)).collect())),
            lit => other.push(lit.clone()),
        }
    }
    (!arithmetic.is_empty()).then_some((other, arithmetic))
}

/// The reads that the literals mention, without any order; `None` if they are of several events.
fn part_of_memory(memory: &Memory, lits: &[CubeLit]) -> Option<Memory> {
    let mut node = None;
    let mut fine = true;
    for lit in lits {
        lit.for_each_atom(|a| {
            if let Atom::Read(r) = a {
                let n = memory.reads[r as usize].node;
                fine &= node.is_none_or(|m| m == n);
                node = Some(n);
            }
        });
    }
    if !fine {
        return None;
    }
    let mut part = Memory { reads: memory.reads.clone(), ..Memory::default() };
    if !part.reads.is_empty() {
        part.add_node();
        // Reads of other events are forgotten by `compact`: no literal mentions them.
        part.reads.iter_mut().for_each(|r| r.node = 0);
    }
    Some(part)
}
