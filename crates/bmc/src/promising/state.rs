//! What a thread knows of memory at a place of its control flow: a view with the values that it would read there, and the time.

use super::unary::Unary;
use crate::aig::{Graph, Lit};
use crate::word::Word;
use std::rc::Rc;

/// A thread's view of a cell.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The timestamp of the newest message with a timestamp that the thread has seen.
    pub stamp: Unary,
    /// What a read without a view switch gives.
    pub value: Word,
    /// There is no value: memory that nobody has written.
    pub unset: Lit,
    /// The thread has written since then, a message without a timestamp: right behind the one with the timestamp, and nobody
    /// reads it.
    pub dirty: Lit,
    /// In a certification: the thread's own message, which is not among those of the run.
    pub own: Lit,
}

/// A thread's view of all shared cells.
#[derive(Clone, Debug)]
pub struct State {
    /// The newest slot that it has read or filled.
    pub time: Unary,
    /// The shared cells.
    pub cells: Rc<Vec<Seen>>,
    /// A copy of a thread that certifies: it has come to a place that certification cannot pass.
    pub stopped: Lit,
    /// What it has acquired and released, if that matters.
    pub known: Option<Rc<Known>>,
}

/// What a thread has acquired and released, as timestamps per cell.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// What it would see after an acquire fence.
    pub acquired: Vec<Unary>,
    /// What a relaxed write to each cell publishes.
    pub released: Vec<Vec<Unary>>,
}

impl Known {
    fn mux(graph: &mut Graph, condition: Lit, a: &Known, b: &Known) -> Known {
        let mut each = |x: &[Unary], y: &[Unary]| -> Vec<Unary> {
            x.iter().zip(y).map(|(x, y)| Unary::mux(graph, condition, x, y)).collect()
        };
        let acquired = each(&a.acquired, &b.acquired);
        let released = a.released.iter().zip(&b.released).map(|(x, y)| each(x, y)).collect();
        Known { acquired, released }
    }
}

impl Seen {
    /// `condition ? a : b`.
    pub fn mux(graph: &mut Graph, condition: Lit, a: &Seen, b: &Seen) -> Seen {
        Seen {
            stamp: Unary::mux(graph, condition, &a.stamp, &b.stamp),
            value: Word::mux(graph, condition, &a.value, &b.value),
            unset: graph.mux(condition, a.unset, b.unset),
            dirty: graph.mux(condition, a.dirty, b.dirty),
            own: graph.mux(condition, a.own, b.own),
        }
    }

    /// The newer of two views that are not dirty. Equal timestamps are one message.
    pub fn join(graph: &mut Graph, a: &Seen, b: &Seen) -> Seen {
        let newer = Unary::greater(graph, &b.stamp, &a.stamp);
        Seen {
            stamp: Unary::max(graph, &a.stamp, &b.stamp),
            value: Word::mux(graph, newer, &b.value, &a.value),
            unset: graph.mux(newer, b.unset, a.unset),
            dirty: Lit::FALSE,
            own: Lit::FALSE,
        }
    }
}

impl State {
    /// `condition ? a : b`.
    pub fn mux(graph: &mut Graph, condition: Lit, a: &State, b: &State) -> State {
        let cells = match Rc::ptr_eq(&a.cells, &b.cells) {
            true => a.cells.clone(),
            false => Rc::new(
                a.cells.iter().zip(b.cells.iter()).map(|(x, y)| Seen::mux(graph, condition, x, y)).collect(),
            ),
        };
        State {
            time: Unary::mux(graph, condition, &a.time, &b.time),
            cells,
            stopped: graph.mux(condition, a.stopped, b.stopped),
            known: match (&a.known, &b.known) {
                (Some(x), Some(y)) if !Rc::ptr_eq(x, y) => Some(Rc::new(Known::mux(graph, condition, x, y))),
                (known, other) => known.clone().or_else(|| other.clone()),
            },
        }
    }

    /// What somebody knows who knows both; what it has acquired and released is that of the first one.
    pub fn join(graph: &mut Graph, a: &State, b: &State) -> State {
        State {
            time: Unary::max(graph, &a.time, &b.time),
            cells: Rc::new(
                a.cells.iter().zip(b.cells.iter()).map(|(x, y)| Seen::join(graph, x, y)).collect(),
            ),
            stopped: Lit::FALSE,
            known: a.known.clone(),
        }
    }

    /// The view of one of several cells.
    pub fn select(&self, graph: &mut Graph, cells: &[(usize, Lit)]) -> Seen {
        let mut rest = cells.iter();
        let mut seen =
            rest.next().map_or_else(|| self.cells[0].clone(), |(cell, _)| self.cells[*cell].clone());
        for &(cell, chosen) in rest {
            seen = Seen::mux(graph, chosen, &self.cells[cell], &seen);
        }
        seen
    }

    /// Replaces the view of one of several cells where the condition holds.
    pub fn replace(&mut self, graph: &mut Graph, cells: &[(usize, Lit)], condition: Lit, seen: &Seen) {
        let all = Rc::make_mut(&mut self.cells);
        for &(cell, chosen) in cells {
            let here = match cells.len() {
                1 => condition,
                _ => graph.and(chosen, condition),
            };
            all[cell] = Seen::mux(graph, here, seen, &all[cell]);
        }
    }
}
