//! Subsumption: a cube lies within another one if the processes and events of the larger set map into those of the
//! smaller one so that every literal is implied and every order is present.
//!
//! More events and more order mean fewer states, so it is enough to find the general cube's events among those of the
//! specific one. Signatures rule out most pairs at the cost of one comparison of words.

use crate::cube::{Atom, Cell, Cube, CubeLit};
use crate::literal::{Fact, Lit};
use crate::memory::{Nodes, elements};
use crate::solver::entails;
use crate::system::{NONE, SymId};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What can be told of a cube at a glance. If a cube lies within another one, it has all features of that one, and so
/// has each process those of the process that it is matched with.
#[derive(Clone, Debug)]
pub struct Profile {
    features: u128,
    procs: Vec<u64>,
    /// The set of values that each read may have.
    reads: Vec<u64>,
}

/// A cube prepared for the role of the general one.
pub struct Pattern {
    profile: Profile,
    /// For each process, the literals without reads whose highest process it is.
    by_proc: Vec<Vec<CubeLit>>,
    /// Literals without processes and reads.
    global: Vec<CubeLit>,
    /// Literals about reads, except masks.
    about_reads: Vec<CubeLit>,
}

fn hash(feature: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    feature.hash(&mut hasher);
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Profile {
    /// Symbols that are mentioned, the values they have and for how many processes, and who reads what.
    pub fn new(cube: &Cube) -> Profile {
        let memory = &cube.memory;
        let mut profile = Profile {
            features: 0,
            procs: vec![0; cube.procs as usize],
            reads: vec![u64::MAX; memory.reads.len()],
        };
        let mut values: Vec<(SymId, u64)> = Vec::new();
        for lit in &cube.lits {
            lit.for_each_atom(|a| match a {
                Atom::Cell(sym, idx) => profile.note_cell((0u8, sym, 0u64), &idx),
                Atom::Read(r) => profile.note((1u8, memory.reads[r as usize].cell.0)),
                Atom::Any(_) | Atom::Proc(_) => {}
            });
            match lit {
                Lit::In(Atom::Cell(sym, idx), mask) if mask.count_ones() == 1 => {
                    let same = values.iter().filter(|v| **v == (*sym, *mask)).count();
                    values.push((*sym, *mask));
                    profile.note((2u8, sym, mask, same));
                    profile.note_cell((3u8, *sym, *mask), idx);
                }
                Lit::In(Atom::Read(r), mask) => {
                    profile.reads[*r as usize] = *mask;
                    if mask.count_ones() == 1 {
                        let read = &memory.reads[*r as usize];
                        let own = read.cell.1[0] == read.proc;
                        profile.note((4u8, read.cell.0, mask, own));
                        profile.procs[read.proc as usize] |= 1 << (hash((5u8, read.cell.0, mask, own)) >> 58);
                    }
                }
                _ => {}
            }
        }
        for read in &memory.reads {
            let own = read.cell.1[0] == read.proc;
            profile.procs[read.proc as usize] |= 1 << (hash((6u8, read.cell.0, own)) >> 58);
            profile.note_cell((7u8, read.cell.0, u64::from(own)), &read.cell.1);
        }
        profile
    }

    /// Features of the whole cube.
    pub fn features(&self) -> u128 {
        self.features
    }

    fn note(&mut self, feature: impl Hash) {
        self.features |= 1u128 << (hash(feature) >> 57);
    }

    fn note_cell(&mut self, feature: (u8, SymId, u64), idx: &[u8]) {
        self.note(feature);
        for (position, p) in idx.iter().enumerate().filter(|(_, p)| **p != NONE) {
            self.procs[*p as usize] |= 1 << (hash((feature, position)) >> 58);
        }
    }
}

fn highest_proc(lit: &CubeLit) -> (Option<u8>, bool) {
    let (mut highest, mut reads) = (None, false);
    lit.for_each_atom(|atom| match atom {
        Atom::Cell(_, idx) => highest = highest.max(idx.into_iter().filter(|p| *p != NONE).max()),
        Atom::Proc(p) => highest = highest.max(Some(p)),
        Atom::Read(_) | Atom::Any(_) => reads = true,
    });
    (highest, reads)
}

impl Pattern {
    /// Features that a cube within this one must have.
    pub fn features(&self) -> u128 {
        self.profile.features
    }

    /// Prepares a cube.
    pub fn new(cube: &Cube) -> Pattern {
        let mut pattern = Pattern {
            profile: Profile::new(cube),
            by_proc: vec![Vec::new(); cube.procs as usize],
            global: Vec::new(),
            about_reads: Vec::new(),
        };
        for lit in &cube.lits {
            match highest_proc(lit) {
                (_, true) if matches!(lit, Lit::In(..)) => {}
                (_, true) => pattern.about_reads.push(lit.clone()),
                (Some(p), _) => pattern.by_proc[p as usize].push(lit.clone()),
                (None, _) => pattern.global.push(lit.clone()),
            }
        }
        pattern
    }

    /// Whether `specific` lies within `general`, which this pattern was made of. `permute` allows processes to be
    /// renamed.
    pub fn covers(&self, general: &Cube, specific: &Cube, profile: &Profile, permute: bool) -> bool {
        self.matching(general, specific, profile, permute).is_some()
    }

    /// As [`Pattern::covers`], with the processes, reads and nodes of the specific cube that those of the general one
    /// are matched with.
    pub fn matching(
        &self,
        general: &Cube,
        specific: &Cube,
        profile: &Profile,
        permute: bool,
    ) -> Option<Images> {
        if self.profile.features & !profile.features != 0 || general.procs > specific.procs {
            return None;
        }
        if !self.global.iter().all(|l| entails(&specific.lits, l)) {
            return None;
        }
        let mut matching = Matching {
            pattern: self,
            general,
            specific,
            profile,
            permute,
            procs: Vec::new(),
            reads: Vec::new(),
            nodes: Vec::new(),
            left: MAX_STEPS,
        };
        matching.match_procs().then_some((matching.procs, matching.reads, matching.nodes))
    }
}

/// Images of processes, reads and nodes.
pub type Images = (Vec<u8>, Vec<u8>, Vec<u8>);

struct Matching<'a> {
    pattern: &'a Pattern,
    general: &'a Cube,
    specific: &'a Cube,
    profile: &'a Profile,
    permute: bool,
    /// Process of the specific cube for each process of the general one.
    procs: Vec<u8>,
    /// The same for reads.
    reads: Vec<u8>,
    /// The same for nodes.
    nodes: Vec<u8>,
    /// Steps that may still be tried: where many writes look alike, a cube that is kept costs less than the search for
    /// a way in which it lies within another one.
    left: usize,
}

/// Most steps of one matching.
const MAX_STEPS: usize = 5_000;

impl Matching<'_> {
    /// Whether there is a step left, and the order of a node with the nodes matched so far is that of its image.
    fn may_match(&mut self, node: u8, image: u8) -> bool {
        self.left = self.left.saturating_sub(1);
        let (general, specific) = (&self.general.memory.after, &self.specific.memory.after);
        self.left > 0
            && self.nodes.iter().enumerate().filter(|(_, other)| **other != NONE).all(|(n, other)| {
                (general[n] >> node & 1 == 0 || specific[*other as usize] >> image & 1 == 1)
                    && (general[node as usize] >> n & 1 == 0 || specific[image as usize] >> other & 1 == 1)
            })
    }

    fn match_procs(&mut self) -> bool {
        let p = self.procs.len();
        if p == self.general.procs as usize {
            self.nodes = vec![NONE; self.general.memory.after.len()];
            self.reads.clear();
            return self.match_writes(0);
        }
        let candidates = if self.permute { 0..self.specific.procs } else { p as u8..p as u8 + 1 };
        for q in candidates {
            let lacks = self.pattern.profile.procs[p] & !self.profile.procs[q as usize];
            if lacks != 0 || self.procs.contains(&q) {
                continue;
            }
            self.procs.push(q);
            if self.pattern.by_proc[p].iter().all(|l| self.implied(l)) && self.match_procs() {
                return true;
            }
            self.procs.pop();
        }
        false
    }

    fn proc(&self, p: u8) -> u8 {
        if p == NONE { NONE } else { self.procs[p as usize] }
    }

    fn cell(&self, cell: Cell) -> Cell {
        (cell.0, cell.1.map(|p| self.proc(p)))
    }

    fn implied(&self, lit: &CubeLit) -> bool {
        let rename = |atom: Atom| match atom {
            Atom::Cell(sym, idx) => Atom::Cell(sym, idx.map(|p| self.proc(p))),
            Atom::Proc(p) => Atom::Proc(self.proc(p)),
            Atom::Read(r) => Atom::Read(self.reads[r as usize]),
            Atom::Any(n) => Atom::Any(n),
        };
        match lit {
            Lit::In(a, mask) => entails(&self.specific.lits, &Lit::In(rename(*a), *mask)),
            _ => match lit.rename(&mut |a| rename(a)) {
                Fact::True => true,
                Fact::False => false,
                Fact::Lit(lit) => entails(&self.specific.lits, &lit),
            },
        }
    }

    /// Kept writes exist only where coherence is a choice.
    fn match_writes(&mut self, w: usize) -> bool {
        let Some(write) = self.general.memory.writes.get(w) else { return self.match_reads() };
        let mut cells: Vec<Cell> = write.cells.iter().map(|c| self.cell(*c)).collect();
        cells.sort();
        for v in 0..self.specific.memory.writes.len() {
            let other = &self.specific.memory.writes[v];
            if other.proc != self.proc(write.proc) || other.cells != cells {
                continue;
            }
            let (n, before) = (write.node as usize, self.nodes[write.node as usize]);
            let image = other.node;
            if (before != NONE && before != image) || (before == NONE && !self.may_match(n as u8, image)) {
                continue;
            }
            self.nodes[n] = image;
            if self.match_writes(w + 1) {
                return true;
            }
            self.nodes[n] = before;
        }
        false
    }

    fn match_reads(&mut self) -> bool {
        let r = self.reads.len();
        if r == self.general.memory.reads.len() {
            return self.pattern.about_reads.iter().all(|l| self.implied(l)) && self.match_readers();
        }
        let read = self.general.memory.reads[r];
        let (proc, cell) = (self.proc(read.proc), self.cell(read.cell));
        for s in 0..self.specific.memory.reads.len() {
            let other = self.specific.memory.reads[s];
            let unlike = self.profile.reads[s] & !self.pattern.profile.reads[r];
            if unlike != 0 || other.proc != proc || other.cell != cell {
                continue;
            }
            let (n, before) = (read.node as usize, self.nodes[read.node as usize]);
            if (before != NONE && before != other.node)
                || (before == NONE && !self.may_match(n as u8, other.node))
            {
                continue;
            }
            self.nodes[n] = other.node;
            self.reads.push(s as u8);
            if self.match_reads() {
                return true;
            }
            self.reads.pop();
            self.nodes[n] = before;
        }
        false
    }

    /// Nodes without an image yet are satisfied readers of kept writes.
    fn match_readers(&mut self) -> bool {
        let Some(n) = self.nodes.iter().position(|image| *image == NONE) else { return self.orders_match() };
        let general = self.general;
        let source = general.memory.writes.iter().find_map(|w| {
            let reader = w.readers.iter().find(|r| r.1 as usize == n)?;
            Some((w.node, (self.cell(reader.0), self.proc(reader.2))))
        });
        let Some((write, (cell, proc))) = source else { return false };
        let specific = self.specific;
        let image = self.nodes[write as usize];
        let Some(other) = specific.memory.writes.iter().find(|w| w.node == image) else { return false };
        for reader in other.readers.iter().filter(|r| r.0 == cell && r.2 == proc) {
            if !self.may_match(n as u8, reader.1) {
                continue;
            }
            self.nodes[n] = reader.1;
            if self.match_readers() {
                return true;
            }
        }
        self.nodes[n] = NONE;
        false
    }

    /// Whether the images of the nodes are all in the set.
    fn within(&self, general: Nodes, specific: Nodes) -> bool {
        elements(general).all(|n| specific >> self.nodes[n as usize] & 1 == 1)
    }

    fn orders_match(&self) -> bool {
        let (general, specific) = (&self.general.memory, &self.specific.memory);
        let after = (0..general.after.len())
            .all(|n| self.within(general.after[n], specific.after[self.nodes[n] as usize]));
        after
            && self.within(general.everyone.event, specific.everyone.event)
            && self.within(general.everyone.write, specific.everyone.write)
            && general.entries.iter().enumerate().all(|(p, entry)| {
                (entry.event == 0 && entry.write == 0) || {
                    let other = specific.entry(self.procs[p]);
                    self.within(entry.event, other.event) && self.within(entry.write, other.write)
                }
            })
            && general.cells.iter().all(|(cell, nodes)| self.within(*nodes, specific.cell(&self.cell(*cell))))
            && self.writes_match()
    }

    fn writes_match(&self) -> bool {
        self.general.memory.writes.iter().all(|write| {
            let image = self.nodes[write.node as usize];
            let Some(other) = self.specific.memory.writes.iter().find(|w| w.node == image) else {
                return false;
            };
            let reader = |(cell, node, proc): &(Cell, u8, u8)| {
                other.readers.contains(&(self.cell(*cell), self.nodes[*node as usize], self.proc(*proc)))
            };
            let skipped = |r: &u8| other.skipped.contains(&self.reads[*r as usize]);
            write.readers.iter().all(reader) && write.skipped.iter().all(skipped)
        })
    }
}
