//! The order of units of different threads, as literals.
//!
//! For two threads the literals `b(i, j)`, "unit i of the one is before unit j of the other", make a grid: true stays true
//! for larger j and for smaller i. Any assignment that respects this is an order, so two threads need no more than two
//! binary clauses for each pair, and unit propagation sees all that follows. With more threads the grids must agree: no
//! cycle through three threads, and then there is none at all.
//!
//! Only units with accesses to shared memory, and those that are tied, take part. What spawning and joining order for certain is
//! constant.

use crate::aig::{Graph, Lit};
use crate::formula::Formula;
use crate::symbolic::{Event, EventId, EventKind, Unrolled};

/// A unit that takes part: a thread, and its place among those of that thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub thread: u32,
    pub index: u32,
}

/// The order.
pub(super) struct Order {
    /// For each thread, the numbers of its units that take part.
    pub units: Vec<Vec<u32>>,
    /// `surely[t][i][s]`: how many units of thread s are certainly before unit i of thread t.
    surely: Vec<Vec<Vec<u32>>>,
    /// For each pair t < s, the literals "unit i of t is before unit j of s".
    grids: Vec<Vec<Vec<Lit>>>,
    threads: usize,
}

/// True if an event is an access to shared memory.
fn takes_part(event: &Event) -> bool {
    matches!(event.kind, EventKind::Read { .. } | EventKind::Write { .. })
}

impl Order {
    /// The order of an unrolled program; its clauses go to the formula.
    pub fn new(unrolled: &mut Unrolled, formula: &mut Formula) -> Order {
        let threads = unrolled.threads.len();
        let mut units: Vec<Vec<u32>> = vec![Vec::new(); threads];
        for event in unrolled.events.iter().filter(|event| takes_part(event)) {
            units[event.thread.0 as usize].push(event.unit);
        }
        for tie in &unrolled.ties {
            units[tie.thread.0 as usize].extend([tie.first, tie.second]);
        }
        for list in &mut units {
            list.sort_unstable();
            list.dedup();
        }
        let surely = surely_before(unrolled, &units);
        let mut order = Order { units, surely, grids: Vec::new(), threads };
        order.make_grids(&mut unrolled.graph, formula);
        order.forbid_cycles(formula);
        order.wait_for_ends(unrolled, formula);
        order.keep_together(unrolled, formula);
        order
    }

    /// Where an event stands.
    pub fn place(&self, event: &Event) -> Place {
        let thread = event.thread.0;
        let index = self.units[thread as usize].binary_search(&event.unit).unwrap_or_default() as u32;
        Place { thread, index }
    }

    fn len(&self, thread: usize) -> u32 {
        self.units[thread].len() as u32
    }

    /// The literal "a is before b", for units of different threads.
    pub fn before(&self, a: Place, b: Place) -> Lit {
        let (t, s) = (a.thread as usize, b.thread as usize);
        let (t, s, i, j, flip) =
            if t < s { (t, s, a.index, b.index, false) } else { (s, t, b.index, a.index, true) };
        self.grids[t * self.threads + s][i as usize][j as usize].complement_if(flip)
    }

    /// The literal "the first event is before the second one".
    pub fn events(&self, unrolled: &Unrolled, a: EventId, b: EventId) -> Lit {
        let (x, y) = (&unrolled.events[a.0 as usize], &unrolled.events[b.0 as usize]);
        match x.thread == y.thread {
            true => Lit::constant(a < b),
            false => self.before(self.place(x), self.place(y)),
        }
    }

    fn make_grids(&mut self, graph: &mut Graph, formula: &mut Formula) {
        for t in 0..self.threads {
            for s in 0..self.threads {
                let mut grid: Vec<Vec<Lit>> = Vec::new();
                let (rows, columns) = if t < s { (self.len(t), self.len(s)) } else { (0, 0) };
                for i in 0..rows {
                    let row = (0..columns).map(|j| {
                        if i < self.surely[s][j as usize][t] {
                            Lit::TRUE
                        } else if j < self.surely[t][i as usize][s] {
                            Lit::FALSE
                        } else {
                            graph.input()
                        }
                    });
                    grid.push(row.collect());
                }
                for i in 0..rows as usize {
                    for j in 0..columns as usize {
                        if i > 0 {
                            formula.clause(&[!grid[i][j], grid[i - 1][j]]);
                        }
                        if j > 0 {
                            formula.clause(&[!grid[i][j - 1], grid[i][j]]);
                        }
                    }
                }
                self.grids.push(grid);
            }
        }
    }

    /// No cycle through three threads, in either direction.
    fn forbid_cycles(&self, formula: &mut Formula) {
        for t in 0..self.threads {
            for s in t + 1..self.threads {
                for r in s + 1..self.threads {
                    let place = |thread: usize, index: u32| Place { thread: thread as u32, index };
                    for i in 0..self.len(t) {
                        for j in 0..self.len(s) {
                            let x = self.before(place(t, i), place(s, j));
                            for k in 0..self.len(r) {
                                let y = self.before(place(s, j), place(r, k));
                                let z = self.before(place(r, k), place(t, i));
                                formula.clause(&[!x, !y, !z]);
                                formula.clause(&[x, y, z]);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Nothing of another thread comes between units that are tied.
    fn keep_together(&self, unrolled: &Unrolled, formula: &mut Formula) {
        for tie in &unrolled.ties {
            let thread = tie.thread.0;
            let place = |unit: u32| {
                let index = self.units[thread as usize].binary_search(&unit).unwrap_or_default();
                Place { thread, index: index as u32 }
            };
            let (first, second) = (place(tie.first), place(tie.second));
            for other in (0..self.threads as u32).filter(|&other| other != thread) {
                for index in 0..self.len(other as usize) {
                    let between = Place { thread: other, index };
                    let (begun, over) = (self.before(first, between), self.before(second, between));
                    formula.clause(&[!tie.when, !begun, over]);
                }
            }
        }
    }

    /// A thread that was joined has ended before.
    fn wait_for_ends(&self, unrolled: &Unrolled, formula: &mut Formula) {
        for event in &unrolled.events {
            let EventKind::Join(candidates) = &event.kind else { continue };
            let thread = event.thread.0;
            let units = &self.units[thread as usize];
            let index = units.partition_point(|&unit| unit < event.unit) as u32;
            if index as usize == units.len() {
                continue;
            }
            for (child, named) in candidates {
                let Some(last) = self.len(child.0 as usize).checked_sub(1) else { continue };
                if child.0 == thread {
                    continue;
                }
                let last = Place { thread: child.0, index: last };
                let before = self.before(last, Place { thread, index });
                formula.clause(&[!event.guard, !*named, before]);
            }
        }
    }
}

/// What spawning and joining order for certain: see [`Order::surely`].
fn surely_before(unrolled: &Unrolled, units: &[Vec<u32>]) -> Vec<Vec<Vec<u32>>> {
    let threads = units.len();
    let mut surely: Vec<Vec<Vec<u32>>> =
        units.iter().map(|list| vec![vec![0; threads]; list.len()]).collect();
    for (t, thread) in unrolled.threads.iter().enumerate() {
        if let Some((parent, unit)) = thread.spawned
            && let Some(first) = surely[t].first_mut()
        {
            let parent = parent.0 as usize;
            first[parent] = units[parent].partition_point(|&u| u < unit) as u32;
        }
    }
    for event in unrolled.events.iter().filter(|event| takes_part(event)) {
        let t = event.thread.0 as usize;
        let Ok(index) = units[t].binary_search(&event.unit) else { continue };
        for child in event.joined.iter().filter(|child| child.0 as usize != t) {
            surely[t][index][child.0 as usize] = units[child.0 as usize].len() as u32;
        }
    }
    close(&mut surely);
    surely
}

/// What is before a unit that is before is before, too.
fn close(surely: &mut [Vec<Vec<u32>>]) {
    let mut changed = true;
    while changed {
        changed = false;
        for t in 0..surely.len() {
            for i in 0..surely[t].len() {
                let mut row = surely[t][i].clone();
                if i > 0 {
                    row.iter_mut().zip(&surely[t][i - 1]).for_each(|(a, b)| *a = (*a).max(*b));
                }
                for s in (0..row.len()).filter(|&s| s != t) {
                    if let Some(last) = row[s].checked_sub(1) {
                        let known = surely[s][last as usize].clone();
                        for (r, value) in known.into_iter().enumerate().filter(|(r, _)| *r != t) {
                            row[r] = row[r].max(value);
                        }
                    }
                }
                changed |= row != surely[t][i];
                surely[t][i] = row;
            }
        }
    }
}
