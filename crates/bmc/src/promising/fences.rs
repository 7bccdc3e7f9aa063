//! SC fences: each has a position in their order, and passes on what the thread knows to the one at the next position.

use super::Unsupported;
use super::encode::is_fence;
use super::slots::{Sizes, at_most_one};
use super::state::{Seen, State};
use super::unary::Unary;
use crate::aig::{Graph, Lit};
use crate::formula::Formula;
use crate::symbolic::{Event, EventId, InstanceId, Unrolled};
use crate::word::Word;
use std::rc::Rc;

/// Most literals of all global views together; beyond, the formula would be too large to be of use.
const MOST: usize = 4_000_000;

/// A fence.
struct Passed {
    event: EventId,
    thread: InstanceId,
    done: Lit,
    position: Unary,
}

/// The order of fences.
pub struct Fences {
    /// How many there are; none if all are of one thread, because then they order nothing.
    count: usize,
    /// The global view after each position.
    global: Vec<State>,
    passed: Vec<Passed>,
    /// At each position: the fences that may be there.
    places: Vec<Vec<Lit>>,
}

impl Fences {
    /// Of a program.
    pub fn new(
        graph: &mut Graph,
        formula: &mut Formula,
        unrolled: &Unrolled,
        sizes: &Sizes,
        takes_part: &dyn Fn(&Event) -> bool,
    ) -> Result<Fences, Unsupported> {
        let all: Vec<_> =
            unrolled.events.iter().filter(|event| is_fence(event) && takes_part(event)).collect();
        let several = all.iter().any(|event| event.thread != all[0].thread);
        let count = if several { all.len() } else { 0 };
        let bits: usize = sizes.stamps.iter().map(|stamps| stamps + sizes.value.0 as usize).sum();
        if count * count * bits > MOST {
            let what = format!("the order of {count} SC fences");
            return Err(Unsupported { what, span: all[0].span });
        }
        let mut view = || {
            let cells = sizes.stamps.iter().map(|&stamps| Seen {
                stamp: Unary::input(graph, formula, stamps),
                value: Word::input(graph, sizes.value.0, sizes.value.1),
                unset: graph.input(),
                dirty: Lit::FALSE,
                own: Lit::FALSE,
            });
            let cells = Rc::new(cells.collect());
            State { time: Unary::input(graph, formula, sizes.slots), cells, stopped: Lit::FALSE, known: None }
        };
        let global = (0..count).map(|_| view()).collect();
        Ok(Fences { count, global, passed: Vec::new(), places: vec![Vec::new(); count] })
    }

    /// A thread passes a fence, with that view; its view afterwards.
    pub fn pass(
        &mut self,
        graph: &mut Graph,
        formula: &mut Formula,
        (event, thread): (EventId, InstanceId),
        done: Lit,
        state: &State,
    ) -> State {
        if self.count == 0 {
            return state.clone();
        }
        let position = Unary::input(graph, formula, self.count);
        formula.clause(&[!done, position.at_least(1)]);
        formula.clause(&[done, !position.at_least(1)]);
        for earlier in self.passed.iter().filter(|passed| passed.thread == thread) {
            let both = graph.and(done, earlier.done);
            Unary::require_greater(formula, both, &position, &earlier.position);
        }
        let first = position.is(graph, 1);
        let learnt = self.unknown(graph, formula, state);
        let joined = State::join(graph, state, &learnt);
        let joined = State::mux(graph, first, state, &joined);
        for n in 1..=self.count {
            let here = position.is(graph, n);
            self.places[n - 1].push(here);
            if n > 1 {
                require_equal(formula, here, &learnt, &self.global[n - 2]);
            }
            require_equal(formula, here, &joined, &self.global[n - 1]);
        }
        self.passed.push(Passed { event, thread, done, position });
        joined
    }

    fn unknown(&self, graph: &mut Graph, formula: &mut Formula, like: &State) -> State {
        let cells = like.cells.iter().zip(self.global[0].cells.iter()).map(|(seen, global)| Seen {
            stamp: Unary::input(graph, formula, seen.stamp.most()),
            value: Word::input(graph, global.value.len() as u32, global.value.fill() != Lit::FALSE),
            unset: graph.input(),
            dirty: Lit::FALSE,
            own: Lit::FALSE,
        });
        let cells = Rc::new(cells.collect());
        State {
            time: Unary::input(graph, formula, like.time.most()),
            cells,
            stopped: Lit::FALSE,
            known: None,
        }
    }

    /// Positions are taken from the first on, each by one fence.
    pub fn finish(&self, graph: &mut Graph, formula: &mut Formula) {
        let mut before = Lit::TRUE;
        for places in &self.places {
            at_most_one(graph, formula, places);
            let taken = graph.or_all(places);
            formula.clause(&[!taken, before]);
            before = taken;
        }
    }

    /// The fences and their positions, to be evaluated; empty if their order is of no interest.
    pub fn positions(&self) -> impl Iterator<Item = (EventId, &Unary)> {
        self.passed.iter().map(|passed| (passed.event, &passed.position))
    }
}

fn require_equal(formula: &mut Formula, condition: Lit, a: &State, b: &State) {
    Unary::require_equal(formula, condition, &a.time, &b.time);
    for (x, y) in a.cells.iter().zip(b.cells.iter()) {
        Unary::require_equal(formula, condition, &x.stamp, &y.stamp);
        formula.equal_if(condition, &x.value.pairs(&y.value));
        formula.equal_if(condition, &[(x.unset, y.unset)]);
    }
}
