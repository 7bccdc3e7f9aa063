//! Several cubes that cover a conjunction together: where all but one literal of an instance of a declared invariant is
//! implied, the states that satisfy the last one too are excluded, and those that do not are looked at on their own.
//! `0 <= Max + 16` is so covered by `0 <= Max` and `Max < 0`.

use super::Checker;
use super::graph::Graph;
use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::Fact;
use crate::machine::tuples;
use crate::memory::Memory;
use crate::solver::entails;
use crate::system::NONE;

impl Checker<'_> {
    /// Whether the conjunction is covered after at most `depth` case distinctions.
    pub(super) fn is_covered_by_cases(
        &self,
        lits: &[CubeLit],
        procs: u8,
        graph: &Graph,
        first: Option<usize>,
        depth: usize,
    ) -> bool {
        if self.is_covered_at_once(lits, procs, graph, first) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let memory = Memory { reads: graph.reads.clone(), ..Memory::default() };
        // Where the negation of what is missing is one literal, it holds in all that is left.
        let mut known = lits.to_vec();
        let mut split = Vec::new();
        loop {
            split.clear();
            let before = known.len();
            for general in &self.assumed {
                for missing in self.missing(general, &known, procs, graph) {
                    match &missing.negate()[..] {
                        [Fact::False] => return true,
                        [Fact::Lit(negation)] if !known.contains(negation) => known.push(negation.clone()),
                        [Fact::Lit(_)] => {}
                        _ => split.push(missing),
                    }
                }
                match self.normal(&memory, known) {
                    Some(normal) => known = normal,
                    None => return true,
                }
            }
            if known.len() <= before {
                break;
            }
        }
        let more = known != lits && self.is_covered_at_once(&known, procs, graph, first);
        more || split.into_iter().any(|missing| {
            missing.negate().into_iter().all(|negation| {
                let Fact::Lit(negation) = negation else { return negation == Fact::False };
                let with = known.iter().cloned().chain([negation]).collect();
                self.normal(&memory, with)
                    .is_none_or(|with| self.is_covered_by_cases(&with, procs, graph, first, depth - 1))
            })
        })
    }

    /// The literals that instances of a cube without order lack, where each lacks one.
    fn missing(&self, general: &Cube, lits: &[CubeLit], procs: u8, graph: &Graph) -> Vec<CubeLit> {
        let mut result = Vec::new();
        if general.procs > procs || general.memory.everyone.event != 0 {
            return result;
        }
        let maps = match self.system.symmetric {
            true => tuples(procs, general.procs, &[]),
            false => vec![(0..general.procs).collect()],
        };
        let nodes = graph.reads.iter().map(|r| Some(r.node)).chain([None]);
        for map in maps {
            let rename = |p: u8| if p == NONE { NONE } else { map[p as usize] };
            for node in nodes.clone() {
                // All its reads are of one event.
                let image = |r: u8| {
                    let read = &general.memory.reads[r as usize];
                    let cell = (read.cell.0, read.cell.1.map(rename));
                    let same = |o: &crate::memory::Read| {
                        o.cell == cell && o.proc == rename(read.proc) && Some(o.node) == node
                    };
                    graph.reads.iter().position(same)
                };
                let reads: Option<Vec<usize>> = (0..general.memory.reads.len() as u8).map(image).collect();
                let Some(reads) = reads else { continue };
                let mut lacking = Vec::new();
                for lit in &general.lits {
                    let fact = lit.rename(&mut |a| match a {
                        Atom::Cell(s, idx) => Atom::Cell(s, idx.map(rename)),
                        Atom::Proc(p) => Atom::Proc(rename(p)),
                        Atom::Read(r) => Atom::Read(reads[r as usize] as u8),
                        other => other,
                    });
                    match fact {
                        Fact::True => {}
                        Fact::Lit(l) if entails(lits, &l) => {}
                        Fact::Lit(l) => lacking.push(Some(l)),
                        Fact::False => lacking.push(None),
                    }
                }
                if let [Some(lit)] = &lacking[..]
                    && !result.contains(lit)
                {
                    result.push(lit.clone());
                }
                if general.memory.reads.is_empty() {
                    break;
                }
            }
        }
        result
    }
}
