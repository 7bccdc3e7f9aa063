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
use crate::oracle::{Effort, Oracle};
use crate::parts::{Part, Piece, Wanted, unseen_parts};
use crate::pre::Context;
use crate::subsume::{Pattern, Profile};
use crate::system::{NONE, SymId, System};
use rustc_hash::FxHashMap;

/// Wrong parts of a family, after which the family is given up.
const MAX_OF_FAMILY: usize = 2;
/// Words of sets of states that are a unit of work, see [`crate::backward::Search::work`].
const WORDS_PER_UNIT: u64 = 2_000;
/// Literals of a cube that parts are made of.
const MAX_LITERALS: usize = 16;

/// What a part with arithmetic looks like without its numbers.
type Family = (Vec<CubeLit>, Vec<(LinOp, Vec<(Atom, bool)>)>);

/// The oracle and what was learnt since.
pub struct Brab<'a> {
    oracle: Oracle<'a>,
    /// Parts found so far, by cube: after a restart most cubes come again.
    known: FxHashMap<Cube, Option<Cube>>,
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
        effort: Effort,
        jobs: usize,
        enough: &mut dyn FnMut() -> bool,
    ) -> Brab<'a> {
        let oracle = Oracle::new(system, model, procs, effort, jobs, enough);
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

    /// Takes over what was learnt with an oracle that knew fewer states.
    pub fn remember(&mut self, before: Brab<'a>) {
        self.wrong = before.wrong;
        self.families = before.families;
        self.oracle.take_learnt(before.oracle);
    }

    /// The oracle.
    pub fn oracle(&mut self) -> &mut Oracle<'a> {
        &mut self.oracle
    }

    /// Never makes that approximation again, nor one that it shows to be wrong too. `run` is a run to it.
    pub fn forbid(&mut self, cube: Cube, run: Option<(u8, Vec<State>)>) {
        if let Some(family) = family(&cube) {
            *self.families.entry(family).or_default() += 1;
        }
        if let Some((procs, states)) = run {
            self.oracle.add(procs, states);
        }
        let profile = Profile::new(&cube);
        self.wrong.push((cube, profile));
        self.made = 0;
    }

    /// A larger cube to go on with, the most general that the oracle has not seen.
    pub fn approximate(&mut self, context: &Context, cube: &Cube) -> Option<Cube> {
        let part = match self.known.get(cube).cloned() {
            Some(None) => None,
            Some(Some(part)) if self.is_fine(context, &part) => Some(part),
            _ => self.find_part(context, cube),
        };
        self.known.insert(cube.clone(), part.clone());
        self.made += usize::from(part.is_some());
        part
    }

    fn is_fine(&mut self, context: &Context, part: &Cube) -> bool {
        !self.is_wrong(context, part) && !self.oracle.is_seen(part)
    }

    /// Parts of the cube, fewest literals first. What is said of constants (`Home <> #1`) does not count as a literal: each
    /// part comes without, and where a state has it so with all of it that speaks of its processes. Parts of which the
    /// instance can say nothing, because it has too few processes for them, come last.
    fn find_part(&mut self, context: &Context, cube: &Cube) -> Option<Cube> {
        let pieces = |rigid: bool| {
            let wanted = cube.lits.iter().filter(move |l| is_rigid(context.system, l) == rigid);
            wanted.map(|lit| Piece {
                lit,
                procs: processes(&cube.memory, lit),
                node: node_of(&cube.memory, lit),
            })
        };
        let wanted = Wanted {
            flexible: pieces(false).take(MAX_LITERALS).collect(),
            rigid: pieces(true).collect(),
            max_procs: u32::from(self.oracle.procs()),
        };
        let mut doubtful: Vec<Cube> = Vec::new();
        let most = self.max_literals.min(wanted.flexible.len());
        for size in 1..=most {
            self.oracle.main().make_room();
            let (found, words) = unseen_parts(self.oracle.main(), cube, &wanted, size);
            context.note_work(words / WORDS_PER_UNIT);
            let mut parts: Vec<Cube> =
                found.into_iter().filter_map(|part| self.part(context, cube, &wanted, part)).collect();
            parts.sort_by_key(|c| (c.size(), c.procs));
            for part in parts {
                if needed(context.system, &part) > self.oracle.procs() {
                    doubtful.push(part);
                } else if self.is_fine(context, &part) {
                    return Some(part);
                }
            }
        }
        doubtful.into_iter().find(|part| self.is_fine(context, part))
    }

    /// The part as a cube, unless it is the whole.
    fn part(
        &self,
        context: &Context,
        cube: &Cube,
        wanted: &Wanted,
        (chosen, with_rigid): Part,
    ) -> Option<Cube> {
        let flexible = wanted.flexible.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1);
        let mut lits: Vec<CubeLit> = flexible.clone().map(|(_, piece)| piece.lit.clone()).collect();
        if with_rigid {
            let procs = flexible.fold(0, |set, (_, piece)| set | piece.procs);
            let about = wanted.rigid.iter().filter(|piece| piece.procs & !procs == 0);
            lits.extend(about.map(|piece| piece.lit.clone()));
            lits.sort();
        }
        if lits.len() >= cube.lits.len() && cube.memory == Memory::default() {
            return None;
        }
        let memory = part_of_memory(&cube.memory, &lits)?;
        let mut part = Cube { procs: cube.procs, lits, memory };
        part.compact(context.system.number_procs.is_some());
        let procs = self.oracle.procs();
        (part.procs <= procs && !needs_more(&part, procs)).then_some(part)
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
}

/// Whether a literal speaks of nothing but constants and processes.
fn is_rigid(system: &System, lit: &CubeLit) -> bool {
    !lit.mentions(|a| match a {
        Atom::Cell(sym, _) => !system.symbol(sym).rigid,
        Atom::Read(_) | Atom::Any(_) => true,
        Atom::Proc(_) => false,
    })
}

/// The event of the reads that a literal mentions, if any.
fn node_of(memory: &Memory, lit: &CubeLit) -> Option<u8> {
    let mut node = None;
    lit.for_each_atom(|a| {
        if let Atom::Read(r) = a {
            node = Some(memory.reads[r as usize].node);
        }
    });
    node
}

/// How many processes an instance must have to say anything of the cube: its own, and one for each constant (`Home`) that
/// the cube does not say to be one of them. An instance with three processes, one of which is home, has no state with three
/// others.
fn needed(system: &System, cube: &Cube) -> u8 {
    if system.number_procs.is_some() {
        return cube.procs;
    }
    let is_named = |sym: SymId| {
        let constant = |a: &Atom| matches!(a, Atom::Cell(s, _) if *s == sym);
        cube.lits.iter().any(|l| match l {
            Lit::Eq(a, Atom::Proc(_)) | Lit::Eq(Atom::Proc(_), a) => constant(a),
            _ => false,
        })
    };
    cube.procs + system.process_constants().filter(|sym| !is_named(*sym)).count() as u8
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
