//! Cubes that declared invariants cover only together: `0 <= Max + 16` lies within neither of `0 <= Max` and `Max < 0`,
//! but in their union. Where all but one literal of an instance of an invariant is implied by a cube, the part of the
//! cube that satisfies the last one is excluded; the rest of it is looked at on its own.

use crate::backward::Search;
use crate::cube::{Atom, Cube, CubeLit};
use crate::literal::Fact;
use crate::machine::tuples;
use crate::memory::Entry;
use crate::pre::Context;
use crate::solver::entails;
use crate::subsume::Profile;
use crate::system::{Bad, NONE};

/// Case distinctions on the way to a cube that covers.
const MAX_CASES: usize = 3;

impl Context<'_> {
    /// The cubes of a declared invariant. One that speaks of nothing but reads of one process holds whenever that process
    /// reads: its reads need not come after everything else, as those of a bad state do.
    pub fn assumed_cubes(&self, bad: &Bad) -> Vec<Cube> {
        let mut cubes = self.cubes_of(bad);
        for cube in &mut cubes {
            let reads = &cube.memory.reads;
            let one_reader = reads.iter().all(|r| r.proc == reads[0].proc);
            let is_state = |a: Atom| matches!(a, Atom::Cell(sym, _) if !self.system.symbol(sym).rigid);
            if one_reader && !cube.lits.iter().any(|l| l.mentions(is_state)) {
                cube.memory.everyone = Entry::default();
            }
        }
        cubes
    }
}

impl Search<'_> {
    /// Whether the cube lies within visited cubes and declared invariants, after at most a few case distinctions.
    pub(crate) fn is_covered(&self, cube: &Cube, profile: &Profile) -> bool {
        let cases = if self.assumed().is_empty() { 0 } else { MAX_CASES };
        self.is_covered_by_cases(cube, profile, cases)
    }

    fn is_covered_by_cases(&self, cube: &Cube, profile: &Profile, cases: usize) -> bool {
        if self.is_covered_at_once(cube, profile) {
            return true;
        }
        if cases == 0 {
            return false;
        }
        let Some((rest, split)) = self.without_excluded(cube) else { return true };
        if rest.lits != cube.lits && self.is_covered_at_once(&rest, &Profile::new(&rest)) {
            return true;
        }
        split.iter().any(|lit| {
            lit.negate().into_iter().all(|negation| {
                let Fact::Lit(negation) = negation else { return negation == Fact::False };
                let Some(rest) = self.with(&rest, [negation]) else { return true };
                let profile = Profile::new(&rest);
                self.is_covered_by_cases(&rest, &profile, cases - 1)
            })
        })
    }

    /// The part of a cube that no instance of an invariant with one literal to go excludes, as far as it is a cube,
    /// and the literals to go whose negation is a disjunction; none if nothing is left.
    fn without_excluded(&self, cube: &Cube) -> Option<(Cube, Vec<CubeLit>)> {
        let symmetric = self.context.system.symmetric;
        let mut cube = cube.clone();
        loop {
            let (mut more, mut split) = (Vec::new(), Vec::new());
            for lit in self.assumed().iter().flat_map(|general| missing(general, &cube, symmetric)) {
                match &lit.negate()[..] {
                    [Fact::False] => return None,
                    [Fact::Lit(negation)] => more.push(negation.clone()),
                    _ => split.push(lit),
                }
            }
            more.retain(|lit| !entails(&cube.lits, lit));
            if more.is_empty() {
                return Some((cube, split));
            }
            cube = self.with(&cube, more)?;
        }
    }

    fn with(&self, cube: &Cube, more: impl IntoIterator<Item = CubeLit>) -> Option<Cube> {
        let lits = cube.lits.iter().cloned().chain(more).collect();
        let lits = self.context.simplify(&cube.memory, lits)?;
        Some(Cube { procs: cube.procs, lits, memory: cube.memory.clone() })
    }
}

/// The literals that instances of an invariant lack, where each lacks one. Only invariants without order.
fn missing(general: &Cube, cube: &Cube, permute: bool) -> Vec<CubeLit> {
    let mut result = Vec::new();
    if general.procs > cube.procs || general.memory.everyone != Entry::default() {
        return result;
    }
    let maps =
        if permute { tuples(cube.procs, general.procs, &[]) } else { vec![(0..general.procs).collect()] };
    let mut nodes: Vec<u8> = cube.memory.reads.iter().map(|r| r.node).collect();
    nodes.dedup();
    if general.memory.reads.is_empty() {
        nodes = vec![0];
    }
    for map in maps {
        for node in &nodes {
            result.extend(missing_one(general, cube, &map, *node));
        }
    }
    result.sort();
    result.dedup();
    result
}

/// The literal that this instance lacks, if it is one; all reads are those of one event.
fn missing_one(general: &Cube, cube: &Cube, map: &[u8], node: u8) -> Option<CubeLit> {
    let rename = |p: u8| if p == NONE { NONE } else { map[p as usize] };
    let mut images = Vec::new();
    for read in &general.memory.reads {
        let wanted = crate::memory::Read {
            proc: rename(read.proc),
            cell: (read.cell.0, read.cell.1.map(rename)),
            node,
        };
        images.push(cube.memory.reads.iter().position(|r| *r == wanted)? as u8);
    }
    let mut missing = None;
    for lit in &general.lits {
        let fact = lit.rename(&mut |atom| match atom {
            Atom::Cell(sym, idx) => Atom::Cell(sym, idx.map(rename)),
            Atom::Proc(p) => Atom::Proc(rename(p)),
            Atom::Read(r) => Atom::Read(images[r as usize]),
            other => other,
        });
        match fact {
            Fact::True => {}
            Fact::False => return None,
            Fact::Lit(lit) if entails(&cube.lits, &lit) => {}
            Fact::Lit(_) if missing.is_some() => return None,
            Fact::Lit(lit) => missing = Some(lit),
        }
    }
    missing
}
