//! The independent check of a safe answer: given cubes as data, is their union free of initial states, does it contain
//! the bad states, and is it closed under pre-images?
//!
//! Nothing of the search is used: transitions are instantiated here, events are put into an explicit graph that is
//! closed by Warshall's algorithm, and a pre-image is compared with every cube under every renaming. Only literals and
//! the decision procedure for conjunctions are shared. It is slow and meant to be obviously right.
//!
//! Where coherence is a choice (PSO with several writers of a cell) only the explicit machines of small instances are
//! explored, and the outcome says so.

mod before;
mod graph;
mod split;

use crate::cube::{Atom, Cube, CubeLit, sort_of};
use crate::literal::Fact;
use crate::machine::{Machine, explore, tuples};
use crate::memory::{Memory, Read};
use crate::model::Model;
use crate::outcome::Recheck;
use crate::solver::{Theory, simplify};
use crate::system::*;
use graph::{Graph, covers, mentioned};

/// States explored per instance where the invariant cannot be checked directly.
const INSTANCE_STATES: usize = 20_000;

/// Case distinctions by declared invariants on the way to a cube that covers.
const MAX_CASES: usize = 3;

/// Why the check did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cubes are no invariant; what is wrong with them.
    Wrong(String),
    /// A limit was hit.
    Stopped,
}

/// Checks the cubes, on several threads; `stop` is asked again and again whether a limit is hit.
pub fn recheck(
    system: &System,
    model: Model,
    invariant: &[Cube],
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Recheck, Failure> {
    let mentions = invariant.iter().map(|c| mentioned(&c.lits, &c.memory.reads, system.symmetric)).collect();
    let checker = Checker { system, model, cubes: invariant.to_vec(), mentions, assumed: vec![], stop };
    if checker.coherence_is_a_choice() {
        return checker.check_instances();
    }
    let mut checker = checker;
    checker.assumed = system.assumed.iter().flat_map(|b| checker.assumed_cubes(b)).collect();
    checker.check_bad()?;
    checker.check_cubes(jobs)?;
    Ok(Recheck::Inductive)
}

pub(crate) struct Checker<'a> {
    pub(crate) system: &'a System,
    pub(crate) model: Model,
    cubes: Vec<Cube>,
    /// What each cube mentions.
    mentions: Vec<u128>,
    assumed: Vec<Cube>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Checker<'_> {
    fn coherence_is_a_choice(&self) -> bool {
        !crate::pre::reorderable(self.system, self.model.memory()).is_empty()
    }

    /// The cubes of a declared invariant. One that speaks of nothing but reads of one process holds whenever that process
    /// reads, not only at the end.
    fn assumed_cubes(&self, bad: &Bad) -> Vec<Cube> {
        let mut cubes = self.cubes_of(bad);
        for cube in &mut cubes {
            let reader = cube.memory.reads.first().map(|r| r.proc);
            let one = cube.memory.reads.iter().all(|r| Some(r.proc) == reader);
            let plain =
                |l: &CubeLit| l.mentions(|a| matches!(a, Atom::Cell(s, _) if !self.system.symbol(s).rigid));
            if one && !cube.lits.iter().any(plain) {
                cube.memory.everyone = Default::default();
            }
        }
        cubes
    }

    fn check_instances(&self) -> Result<Recheck, Failure> {
        let largest = self.system.number_procs.unwrap_or(2);
        let smallest = self.system.number_procs.unwrap_or(1);
        for procs in smallest..=largest {
            let mut machine = Machine::new(self.system, self.model, procs);
            machine.max_buffer = 3;
            if explore(&machine, INSTANCE_STATES, true, &mut || (self.stop)()).bad.is_some() {
                return Err(Failure::Wrong(format!(
                    "the instance with {procs} processes reaches a bad state"
                )));
            }
            if (self.stop)() {
                return Err(Failure::Stopped);
            }
        }
        Ok(Recheck::Instances(largest))
    }

    /// The conjunction in normal form, `None` if contradictory.
    pub(crate) fn normal(&self, memory: &Memory, lits: Vec<CubeLit>) -> Option<Vec<CubeLit>> {
        let full = |atom: Atom| self.system.full_mask(sort_of(self.system, memory, atom));
        simplify(&Theory { full: &full, ordered_procs: self.system.number_procs.is_some() }, lits)
    }

    fn cubes_of(&self, bad: &Bad) -> Vec<Cube> {
        let procs = self.system.number_procs.unwrap_or(bad.params);
        let choices = match self.system.number_procs {
            Some(n) => tuples(n, bad.params, &[]),
            None => vec![(0..bad.params).collect()],
        };
        let mut result = Vec::new();
        'choices: for vars in choices {
            let mut memory = Memory::default();
            let mut lits = Vec::new();
            for lit in &bad.lits {
                let fact = lit.rename(&mut |a| match a {
                    SrcAtom::Proc(p) => Atom::Proc(p.resolve(&vars)),
                    SrcAtom::Sym(s, idx) => Atom::Cell(s, idx.map(|p| p.resolve(&vars))),
                    SrcAtom::View(p, s, idx) => {
                        let cell = (s, idx.map(|p| p.resolve(&vars)));
                        let read = Read { proc: p.resolve(&vars), cell, node: 0 };
                        // The same read twice is one read.
                        if !memory.reads.contains(&read) {
                            memory.reads.push(read);
                        }
                        let at = memory.reads.iter().position(|r| *r == read).unwrap_or(0);
                        Atom::Read(at as u8)
                    }
                });
                match fact {
                    Fact::True => {}
                    Fact::False => continue 'choices,
                    Fact::Lit(l) => lits.push(l),
                }
            }
            if !memory.reads.is_empty() {
                memory.after.push(0);
                memory.everyone.event = 1;
                memory.everyone.write = u64::from(self.model == Model::Sc);
            }
            if let Some(lits) = self.normal(&memory, lits) {
                result.push(Cube { procs, lits, memory });
            }
        }
        result
    }

    fn is_covered(&self, lits: &[CubeLit], procs: u8, graph: &Graph, first: Option<usize>) -> bool {
        let cases = if self.assumed.is_empty() { 0 } else { MAX_CASES };
        self.is_covered_by_cases(lits, procs, graph, first, cases)
    }

    fn is_covered_at_once(&self, lits: &[CubeLit], procs: u8, graph: &Graph, first: Option<usize>) -> bool {
        let here = mentioned(lits, &graph.reads, self.system.symmetric);
        let possible = (0..self.cubes.len()).filter(|i| self.mentions[*i] & !here == 0);
        let all = first.into_iter().chain(possible).map(|i| &self.cubes[i]).chain(&self.assumed);
        let permute = self.system.symmetric;
        all.into_iter().any(|general| covers(general, lits, procs, graph, permute))
    }

    /// Every cube on its own, on several threads; the complaint about the first one counts.
    fn check_cubes(&self, jobs: usize) -> Result<(), Failure> {
        let check = |first: usize| {
            let mine = (first..self.cubes.len()).step_by(jobs.max(1));
            let complaint = mine.map(|number| (number, self.check_cube(number))).find(|(_, r)| r.is_err());
            complaint.and_then(|(number, r)| r.err().map(|why| (number, why)))
        };
        let complaints: Vec<(usize, Failure)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..jobs.max(1)).map(|first| scope.spawn(move || check(first))).collect();
            let own = check(0);
            let others = threads.into_iter().filter_map(|t| t.join().unwrap_or(Some((0, failed()))));
            own.into_iter().chain(others).collect()
        });
        complaints.into_iter().min_by_key(|c| c.0).map_or(Ok(()), |(_, why)| Err(why))
    }

    fn check_cube(&self, number: usize) -> Result<(), Failure> {
        let cube = &self.cubes[number];
        if self.meets_init(cube) {
            return Err(Failure::Wrong(format!("cube {number} contains an initial state")));
        }
        self.check_closed(number, cube)
    }

    fn check_bad(&self) -> Result<(), Failure> {
        for bad in &self.system.bad {
            for cube in self.cubes_of(bad) {
                let graph = Graph::of(&cube.memory, self.model);
                if !self.is_covered(&cube.lits, cube.procs, &graph, None) {
                    return Err(Failure::Wrong(format!("`{}` is not excluded", bad.name)));
                }
            }
        }
        Ok(())
    }

    /// Every clause of init on every choice of processes, in every combination of disjuncts.
    fn meets_init(&self, cube: &Cube) -> bool {
        let reads = &cube.memory.reads;
        let mut start = Vec::new();
        for lit in &cube.lits {
            match lit.rename(&mut |a| match a {
                Atom::Read(r) => Atom::Cell(reads[r as usize].cell.0, reads[r as usize].cell.1),
                other => other,
            }) {
                Fact::True => {}
                Fact::False => return false,
                Fact::Lit(l) => start.push(l),
            }
        }
        let mut clauses = Vec::new();
        for clause in &self.system.init {
            clauses.extend(tuples(cube.procs.max(1), clause.params, &[]).into_iter().map(|v| (clause, v)));
        }
        // Those without a choice first: they cut off the others.
        clauses.sort_by_key(|(clause, _)| clause.dnf.len());
        self.some_initial(&cube.memory, start, &clauses)
    }

    fn some_initial(&self, memory: &Memory, lits: Vec<CubeLit>, clauses: &[(&InitClause, Vec<u8>)]) -> bool {
        let Some(lits) = self.normal(memory, lits) else { return false };
        let Some(((clause, vars), rest)) = clauses.split_first() else { return true };
        clause.dnf.iter().any(|disjunct| {
            let mut with = lits.clone();
            for lit in disjunct {
                match lit.rename(&mut |a| match a {
                    SrcAtom::Proc(p) => Atom::Proc(p.resolve(vars)),
                    SrcAtom::Sym(s, i) | SrcAtom::View(_, s, i) => Atom::Cell(s, i.map(|p| p.resolve(vars))),
                }) {
                    Fact::True => {}
                    Fact::False => return false,
                    Fact::Lit(l) => with.push(l),
                }
            }
            self.some_initial(memory, with, rest)
        })
    }
}

fn failed() -> Failure {
    Failure::Wrong("a thread failed".into())
}
