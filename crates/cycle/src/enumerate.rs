//! All cycles of a kind, each once.
//!
//! A cycle and the same cycle begun elsewhere are one: of all its rotations the smallest is made, in the order of [`Edge`].
//! The first edge is then the smallest of all, which leaves most others out before they are complete.
//!
//! *Critical* cycles [Shasha, Snir 1988, section 3] have no shortcut: a thread makes one access, or two to different
//! locations, and communications follow each other only where no single one says the same. What is not critical follows from
//! something smaller under models that compose; for models that count accesses of one location, or their annotations, the
//! others are wanted too.

use crate::Dialect;
use crate::cycle::{Cycle, from_edges};
use crate::edge::{Com, Dir, Edge, Kind, Note, Scope, check_note, is_rmw};
use std::ops::ControlFlow;

/// Which cycles.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What they are for.
    pub dialect: Dialect,
    /// Which edges they are made of.
    pub pool: Vec<Edge>,
    /// How many edges they have.
    pub edges: usize,
    /// How many threads they have, if not any number.
    pub threads: Option<usize>,
    /// Only critical ones.
    pub critical: bool,
    /// Annotations that any access may have which the pool says nothing about; besides none.
    pub notes: Vec<Note>,
    /// With so many marks, if not with any number: fences, dependencies, read-modify-writes and annotated accesses.
    pub marks: Option<usize>,
}

/// An edge with the annotation of the access that it begins at: what a cycle is a list of, once ends are joined.
type Symbol = (Edge, Note);

/// Makes all of them, until told to stop. Those that coherence alone forbids are left out.
pub fn cycles(wanted: &Wanted, visit: &mut dyn FnMut(Cycle) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut pool = wanted.pool.clone();
    pool.sort_unstable();
    pool.dedup();
    let mut search = Search { wanted, pool: &pool, chosen: Vec::new(), made: Default::default(), visit };
    search.extend(0)
}

struct Search<'a> {
    wanted: &'a Wanted,
    pool: &'a [Edge],
    chosen: Vec<Edge>,
    /// Cycles with annotations that were made: two lists of edges may say the same of an access.
    made: std::collections::HashSet<Vec<Symbol>>,
    visit: &'a mut dyn FnMut(Cycle) -> ControlFlow<()>,
}

impl Search<'_> {
    fn extend(&mut self, threads: usize) -> ControlFlow<()> {
        let most = self.wanted.threads.unwrap_or(usize::MAX);
        if self.chosen.len() == self.wanted.edges {
            return if threads == most || most == usize::MAX {
                self.close()
            } else {
                ControlFlow::Continue(())
            };
        }
        // Every edge that is left may lead to another thread.
        let left = self.wanted.edges - self.chosen.len();
        if most != usize::MAX && threads + left < most {
            return ControlFlow::Continue(());
        }
        for edge in self.pool {
            let smaller = self.chosen.first().is_some_and(|first| bare(edge) < bare(first));
            if smaller || !self.chosen.last().is_none_or(|last| follows(last, edge, self.wanted.critical)) {
                continue;
            }
            let more = threads + usize::from(edge.leaves_thread());
            let marks = self.chosen.iter().chain([edge]).filter(|edge| is_marked(edge)).count();
            if more > most || self.wanted.marks.is_some_and(|most| marks > most) {
                continue;
            }
            self.chosen.push(*edge);
            let goes_on = self.extend(more);
            self.chosen.pop();
            goes_on?;
        }
        ControlFlow::Continue(())
    }

    /// A list of edges that may be a cycle: with every choice of annotations, once.
    fn close(&mut self) -> ControlFlow<()> {
        let (first, last) = (self.chosen[0], self.chosen[self.chosen.len() - 1]);
        if !follows(&last, &first, self.wanted.critical) {
            return ControlFlow::Continue(());
        }
        let edges: Vec<Edge> = self.chosen.iter().map(bare).collect();
        // The bare edges decide most of it: a list that is not its smallest rotation is made elsewhere.
        if !is_smallest(&edges) {
            return ControlFlow::Continue(());
        }
        // With free annotations or without, whether it closes and is coherent is the same.
        match from_edges(&edges, self.wanted.dialect) {
            Ok(cycle) if is_coherent(&cycle) => {}
            _ => return ControlFlow::Continue(()),
        }
        let mut notes = Vec::with_capacity(edges.len());
        let marks = edges.iter().filter(|edge| is_marked(edge)).count();
        self.annotate(&edges, &mut notes, marks)
    }

    fn annotate(&mut self, edges: &[Edge], notes: &mut Vec<Note>, marks: usize) -> ControlFlow<()> {
        let at = notes.len();
        if at == edges.len() {
            return match self.wanted.marks.is_none_or(|wanted| marks == wanted) {
                true => self.offer(edges, notes),
                false => ControlFlow::Continue(()),
            };
        }
        let before = self.chosen[(at + edges.len() - 1) % edges.len()].notes.map(|notes| notes.1);
        let fixed = self.chosen[at].notes.map(|notes| notes.0).or(before);
        let free = [Note::default()].into_iter().chain(self.wanted.notes.iter().copied());
        let choices: Vec<Note> = match fixed {
            Some(note) => vec![note],
            None => {
                free.filter(|note| check_note(edges[at].from, *note, self.wanted.dialect).is_ok()).collect()
            }
        };
        for note in choices {
            let marks = marks + usize::from(note != Note::default());
            if self.wanted.marks.is_some_and(|most| marks > most) {
                continue;
            }
            notes.push(note);
            let goes_on = self.annotate(edges, notes, marks);
            notes.pop();
            goes_on?;
        }
        ControlFlow::Continue(())
    }

    fn offer(&mut self, edges: &[Edge], notes: &[Note]) -> ControlFlow<()> {
        let symbols: Vec<Symbol> = edges.iter().copied().zip(notes.iter().copied()).collect();
        if !is_smallest(&symbols) {
            return ControlFlow::Continue(());
        }
        let has_notes = self.pool.iter().any(|edge| edge.notes.is_some());
        if has_notes && !self.made.insert(symbols) {
            return ControlFlow::Continue(());
        }
        let count = edges.len();
        let noted = |at: usize| Edge { notes: Some((notes[at], notes[(at + 1) % count])), ..edges[at] };
        let noted: Vec<Edge> = (0..count).map(noted).collect();
        match from_edges(&noted, self.wanted.dialect) {
            Ok(cycle) => (self.visit)(cycle),
            Err(_) => ControlFlow::Continue(()),
        }
    }
}

fn is_marked(edge: &Edge) -> bool {
    matches!(edge.kind, Kind::Fence(_) | Kind::Dep(_)) || edge.is_rmw()
}

fn bare(edge: &Edge) -> Edge {
    Edge { notes: None, ..*edge }
}

/// Whether no rotation is smaller.
fn is_smallest<T: Ord>(list: &[T]) -> bool {
    (1..list.len()).all(|by| list[by..].iter().chain(&list[..by]).cmp(list.iter()).is_ge())
}

/// Whether an edge may follow another one.
fn follows(before: &Edge, after: &Edge, critical: bool) -> bool {
    let meets = before.to == after.from;
    let agree = match (before.notes, after.notes) {
        (Some(one), Some(other)) => one.1 == other.0,
        _ => true,
    };
    // A dependency begins at a read of its thread, and not at one half of an instruction that writes, too.
    if !meets || !agree {
        return false;
    }
    if !critical {
        return true;
    }
    match (before.leaves_thread(), after.leaves_thread()) {
        // From write to read to another write is coherence; so is every other pair but one that ends with a read from elsewhere.
        (true, true) => matches!(
            (before.kind, after.kind),
            (Kind::Com(Com::Co | Com::Fr, Scope::External), Kind::Com(Com::Rf, Scope::External))
        ),
        (true, false) => after.is_rmw() || !after.same,
        (false, true) => before.is_rmw() || !before.same,
        (false, false) => before.is_rmw() && !after.same || after.is_rmw() && !before.same,
    }
}

/// Whether the accesses of each location can be as the cycle says at all: what it says of one location, together with program
/// order there, has no cycle.
///
/// Where accesses differ in size it is not decided, and all are taken.
pub fn is_coherent(cycle: &Cycle) -> bool {
    if cycle.sizes.is_some() || cycle.accesses.len() > 32 {
        return true;
    }
    let count = cycle.accesses.len();
    let mut after = vec![0u32; count];
    for (a, one) in cycle.accesses.iter().enumerate() {
        for (b, other) in cycle.accesses.iter().enumerate() {
            if a == b || one.location != other.location {
                continue;
            }
            let in_order = one.thread == other.thread && a < b;
            let communicates = match (one.dir, other.dir) {
                (Dir::W, Dir::W) => one.writes < other.writes,
                (Dir::W, Dir::R) => other.reads == Some(one.writes),
                (Dir::R, Dir::W) => one.reads.is_some_and(|read| read < other.writes),
                (Dir::R, Dir::R) => false,
            };
            if in_order || communicates {
                after[a] |= 1 << b;
            }
        }
    }
    for via in 0..count {
        for from in 0..count {
            if after[from] & (1 << via) != 0 {
                after[from] |= after[via];
            }
        }
    }
    (0..count).all(|at| after[at] & (1 << at) == 0) && is_atomic(cycle)
}

/// Whether nothing comes between the halves of a read-modify-write.
fn is_atomic(cycle: &Cycle) -> bool {
    cycle.accesses.windows(2).all(|pair| {
        let is_pair = pair[1].link.is_some_and(is_rmw) && pair[0].thread == pair[1].thread;
        !is_pair || pair[0].reads.is_none_or(|read| read + 1 == pair[1].writes)
    })
}
