//! The parts of a cube that no state of an instance satisfies, smallest first: the candidates of inference.
//!
//! A depth-first walk over sets of literals. For each set it keeps the choices of processes that are left and, for each
//! choice, the set of states that satisfy all literals so far; a further literal is one intersection. When no choice is
//! left the set is a part that no state satisfies. Sets are bit sets over the states of the instance, and the walk
//! allocates nothing once its levels have grown.

use crate::cube::{Cube, CubeLit};
use crate::oracle::{Instance, Known};
use smallvec::SmallVec;

/// Processes of a cube with the processes of the instance that they are.
type Images = SmallVec<[(u8, u8); 6]>;

/// A literal of the cube, prepared.
pub struct Piece<'c> {
    /// The literal.
    pub lit: &'c CubeLit,
    /// Processes of the cube that it mentions, as a set.
    pub procs: u64,
    /// The event whose reads it mentions, if any.
    pub node: Option<u8>,
}

/// What to look for.
pub struct Wanted<'c> {
    /// Literals that parts are made of.
    pub flexible: Vec<Piece<'c>>,
    /// Literals on constants: a part has all of those that speak of its processes, or none.
    pub rigid: Vec<Piece<'c>>,
    /// Most processes of a part.
    pub max_procs: u32,
}

/// A part: which of the flexible literals, and whether with the rigid ones.
pub type Part = (u32, bool);

/// For a literal and each choice of its processes, where its states are.
struct Table {
    procs: Vec<u8>,
    known: Vec<Known>,
}

/// The choices of processes left, and their states one after the other.
#[derive(Default)]
struct Level {
    images: Vec<Images>,
    states: Vec<u64>,
}

/// A choice of processes costs as much as so many words.
const EACH_CHOICE: usize = 100;

struct Walk<'w, 'c, 'a> {
    instance: &'w Instance<'a>,
    wanted: &'w Wanted<'c>,
    flexible: Vec<Table>,
    rigid: Vec<Table>,
    levels: Vec<Level>,
    size: usize,
    found: Vec<Part>,
    /// Words that were computed.
    words: u64,
}

/// The parts of that many flexible literals that no state of the instance satisfies, and how much was done to find them, in
/// machine words.
pub fn unseen_parts(instance: &mut Instance, cube: &Cube, wanted: &Wanted, size: usize) -> (Vec<Part>, u64) {
    let mut tables = |pieces: &[Piece]| -> Vec<Table> {
        pieces.iter().map(|piece| table(instance, cube, piece)).collect()
    };
    let (flexible, rigid) = (tables(&wanted.flexible), tables(&wanted.rigid));
    let levels = (0..=size).map(|_| Level::default()).collect();
    let mut walk = Walk { instance, wanted, flexible, rigid, levels, size, found: Vec::new(), words: 0 };
    walk.levels[0].images.push(Images::new());
    walk.levels[0].states = instance.all_states();
    walk.extend(0, 0, 0, 0, None);
    (walk.found, walk.words)
}

fn table(instance: &mut Instance, cube: &Cube, piece: &Piece) -> Table {
    let procs: Vec<u8> = (0..cube.procs).filter(|p| piece.procs >> p & 1 == 1).collect();
    let count = usize::from(instance.procs());
    let mut images = vec![0; usize::from(cube.procs)];
    let known = (0..count.pow(procs.len() as u32)).map(|code| {
        let mut rest = code;
        for p in &procs {
            images[usize::from(*p)] = (rest % count) as u8;
            rest /= count;
        }
        let distinct = procs
            .iter()
            .all(|p| procs.iter().all(|q| p == q || images[usize::from(*p)] != images[usize::from(*q)]));
        if distinct { instance.known(cube, piece.lit, &images) } else { Known::Never }
    });
    let known = known.collect();
    Table { procs, known }
}

impl Table {
    fn known(&self, images: &Images, count: u8) -> Known {
        let mut code = 0;
        for p in self.procs.iter().rev() {
            let image = images.iter().find(|i| i.0 == *p).map_or(0, |i| i.1);
            code = code * usize::from(count) + usize::from(image);
        }
        self.known[code]
    }
}

impl Walk<'_, '_, '_> {
    /// Adds each later literal to the set of the level.
    fn extend(&mut self, from: usize, level: usize, chosen: u32, procs: u64, node: Option<u8>) {
        for at in from..self.wanted.flexible.len() {
            let piece = &self.wanted.flexible[at];
            let (with, union) = (chosen | 1 << at, procs | piece.procs);
            // A part speaks of the reads of one event only.
            let one_event = piece.node.is_none() || node.is_none() || node == piece.node;
            if union.count_ones() > self.wanted.max_procs || !one_event {
                continue;
            }
            let node = node.or(piece.node);
            self.intersect(level, at, piece.procs & !procs);
            if level + 1 < self.size {
                self.extend(at + 1, level + 1, with, union, node);
            } else if self.levels[level + 1].images.is_empty() {
                self.found.push((with, false));
            } else if self.contradicts_rigid(union) {
                self.found.push((with, true));
            }
        }
    }

    /// The next level: the choices of this one, extended to the new processes, whose states satisfy the literal.
    fn intersect(&mut self, level: usize, at: usize, new: u64) {
        let (before, after) = self.levels.split_at_mut(level + 1);
        let (before, after) = (&before[level], &mut after[0]);
        after.images.clear();
        after.states.clear();
        let words = self.instance.words();
        let count = self.instance.procs();
        let fixed = self.instance.is_fixed();
        for (number, images) in before.images.iter().enumerate() {
            let states = &before.states[number * words..(number + 1) * words];
            let mut choices: SmallVec<[Images; 8]> = SmallVec::new();
            choices.push(images.clone());
            for p in (0..64u8).filter(|p| new >> p & 1 == 1) {
                let mut next: SmallVec<[Images; 8]> = SmallVec::new();
                for images in &choices {
                    let free = |q: &u8| {
                        if fixed { *q == p } else { images.iter().all(|i| i.1 != *q) }
                    };
                    for q in (0..count).filter(free) {
                        let mut images = images.clone();
                        images.push((p, q));
                        next.push(images);
                    }
                }
                choices = next;
            }
            self.words += (choices.len() * (words + EACH_CHOICE)) as u64;
            for images in choices {
                let start = after.states.len();
                match self.flexible[at].known(&images, count) {
                    Known::Never => continue,
                    Known::Always => after.states.extend_from_slice(states),
                    Known::Set(set) => {
                        let set = self.instance.set(set);
                        after.states.extend(states.iter().zip(set).map(|(a, b)| a & b));
                    }
                }
                if after.states[start..].iter().all(|word| *word == 0) {
                    after.states.truncate(start);
                } else {
                    after.images.push(images);
                }
            }
        }
    }

    /// Whether no state is left with what is said of constants.
    fn contradicts_rigid(&self, procs: u64) -> bool {
        let about: SmallVec<[usize; 8]> =
            (0..self.rigid.len()).filter(|r| self.wanted.rigid[*r].procs & !procs == 0).collect();
        if about.is_empty() {
            return false;
        }
        let Some(level) = self.levels.last() else { return false };
        let (words, count) = (self.instance.words(), self.instance.procs());
        level.images.iter().enumerate().all(|(number, images)| {
            let mut sets: SmallVec<[&[u64]; 8]> = SmallVec::new();
            for r in &about {
                match self.rigid[*r].known(images, count) {
                    Known::Never => return true,
                    Known::Always => {}
                    Known::Set(set) => sets.push(self.instance.set(set)),
                }
            }
            let states = &level.states[number * words..(number + 1) * words];
            (0..words).all(|word| sets.iter().fold(states[word], |left, set| left & set[word]) == 0)
        })
    }
}
