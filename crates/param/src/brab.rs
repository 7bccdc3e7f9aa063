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
use crate::memory::{Entry, Memory};
use crate::model::Model;
use crate::oracle::Oracle;
use crate::pre::Context;
use crate::subsume::{Pattern, Profile};
use crate::system::{NONE, System};
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

    /// Parts of the cube, fewest processes and literals first. What is said of constants (`Home <> #1`) does not count as
    /// a literal: each part comes once without and once with all of it that speaks of its processes.
    fn candidates(&self, context: &Context, cube: &Cube) -> Vec<Cube> {
        let is_rigid = |l: &&CubeLit| {
            !l.mentions(|a| match a {
                Atom::Cell(sym, _) => !context.system.symbol(sym).rigid,
                Atom::Read(_) | Atom::Any(_) => true,
                Atom::Proc(_) => false,
            })
        };
        let (rigid, flexible): (Vec<&CubeLit>, Vec<&CubeLit>) = cube.lits.iter().partition(is_rigid);
        let n = flexible.len().min(MAX_LITERALS);
        let mut result: Vec<Cube> = Vec::new();
        for subset in 1u32..1 << n {
            if subset.count_ones() as usize > self.max_literals {
                continue;
            }
            let chosen = (0..n).filter(|i| subset >> i & 1 == 1).map(|i| flexible[i]);
            let lits: Vec<CubeLit> = chosen.cloned().collect();
            let procs = lits.iter().fold(0, |set, l| set | processes(&cube.memory, l));
            let about = rigid.iter().filter(|l| processes(&cube.memory, l) & !procs == 0);
            let more: Vec<CubeLit> = about.map(|l| (*l).clone()).collect();
            if !more.is_empty() {
                let mut with = lits.clone();
                with.extend(more);
                with.sort();
                self.push(context, cube, with, &mut result);
            }
            self.push(context, cube, lits, &mut result);
        }
        result.sort_by_key(|c| (c.size(), c.procs));
        result
    }

    fn push(&self, context: &Context, cube: &Cube, lits: Vec<CubeLit>, result: &mut Vec<Cube>) {
        if lits.len() >= cube.lits.len() && cube.memory == Memory::default() {
            return;
        }
        let Some(memory) = part_of_memory(&cube.memory, &lits) else { return };
        let mut candidate = Cube { procs: cube.procs, lits, memory };
        candidate.compact(context.system.number_procs.is_some());
        if candidate.procs <= self.oracle.procs() && !needs_more(&candidate, self.oracle.procs()) {
            result.push(candidate);
        }
    }
}

/// The processes that a literal mentions.
fn processes(memory: &Memory, lit: &CubeLit) -> u64 {
    let mut set = 0;
    let mut note = |p: u8| set |= if p == NONE { 0 } else { 1 << p };
    lit.for_each_atom(|atom| match atom {
        Atom::Cell(_, idx) => idx.into_iter().for_each(&mut note),
        Atom::Proc(p) => note(p),
        Atom::Read(r) => {
            let read = &memory.reads[r as usize];
            note(read.proc);
            read.cell.1.into_iter().for_each(&mut note);
        }
        Atom::Any(_) => {}
    });
    set
}

/// Whether a value must differ from every process of an instance: that the instance has no such state says nothing.
fn needs_more(cube: &Cube, procs: u8) -> bool {
    let differs = |l: &CubeLit| match l {
        Lit::Ne(Atom::Proc(_), a) | Lit::Ne(a, Atom::Proc(_)) => Some(*a),
        _ => None,
    };
    cube.lits
        .iter()
        .filter_map(differs)
        .any(|atom| cube.lits.iter().filter(|l| differs(l) == Some(atom)).count() >= usize::from(procs))
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

/// What the memory says of the reads that the literals mention and of the processes of the literals; `None` if the reads are
/// of several events. The order stays: without it a part would speak of reads at any time to come, not of what a process
/// sees now, which is what the oracle knows.
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
    if node.is_none() {
        // Nothing of the order matters; `compact` wants the numbers of the reads.
        return Some(Memory {
            reads: memory.reads.clone(),
            after: memory.after.clone(),
            ..Memory::default()
        });
    }
    let procs = lits.iter().fold(0, |set, l| set | processes(memory, l));
    let is_named = |p: u8| p == NONE || procs >> p & 1 == 1;
    let mut part = Memory { writes: Vec::new(), ..memory.clone() };
    for (p, entry) in part.entries.iter_mut().enumerate() {
        if !is_named(p as u8) {
            *entry = Entry::default();
        }
    }
    part.cells.retain(|(cell, _)| cell.1.iter().all(|p| is_named(*p)));
    Some(part)
}
