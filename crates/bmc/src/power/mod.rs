//! POWER with `K` contexts, encoded directly: each event of a thread is unrolled once, and has for each context the bit "done by
//! now".
//!
//! `ir::flat` unrolls and inlines each thread once; [`symbolic`] runs it with symbolic values into guarded events; [`Power`] puts
//! the events into contexts of the machine; [`mod@check`] asks the solver. Threads and steps are those of the flat program, which
//! `machine::power` runs too: a solution is a run of that machine, and has to be replayed there. *Safe* holds for runs with at
//! most that many contexts in which no loop goes back more often than the unroll bound says.
//!
//! The specification is the operational machine; this is the set of its complete runs with at most `K` contexts, seen from the
//! events:
//!
//! * `by(e)[k]`: monotone, changes only in contexts of the event's own thread. A read is initialised (`I`) and committed (`C`), a
//!   store and a fence
//!   committed; a store is initialised as soon as it can be. A `sync` is acknowledged (`A`), an `lwsync` or `eieio` reaches each
//!   other thread (`D`).
//! * Along a thread, merged where ways meet: `control`, `fences` (what the next initialisation waits for), per cell the last own
//!   store, the last read, and what later accesses of it wait for.
//! * `co`: for stores of different threads to one cell, which comes first; monotone in program order on both sides.
//! * `cov(w, q)[k]`: the store `w`, or one behind it in coherence order, has reached thread `q` by context `k`.
//!     - it is closed: `co(w, v) & cov(v, q)[k] => cov(w, q)[k]`;
//!     - what is new in a context of `r` is a store of `r` that may be propagated, or is before such a one.
//! * A read reads the last store that was there when it was initialised, or the own one if that is later.
//!
//! Nothing is said about what arrives at a thread that does nothing, such as `main` while it waits: all that is committed can
//! arrive there at once, and nobody notices.
//!
//! `order.rs` has the clauses about coherence and propagation, `reads.rs` those about reads, `lift.rs` makes a run of a solution.

pub mod check;
mod established;
mod follow;
mod lift;
mod order;
mod reads;
mod rules;
pub mod symbolic;

pub use check::{Options, check, prove, states, states_up_to};
pub use follow::Execution;
pub use lift::PowerRun;
pub use rules::Rule;

use crate::aig::{Graph, Lit};
use crate::word::Word;
use fencepost_ir::Fence;
use fencepost_ir::flat::{Flat, Phase, phases};
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use symbolic::{Access, Cells, Formula, Memory, Shapes, zero};

/// For each context, whether something is done by then.
pub type By = Rc<[Lit]>;

/// The last event of some kind on the way: which one it is may depend on the way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Last {
    None,
    Event(usize),
    Mux(Lit, usize, usize),
}

/// What a register depends on.
#[derive(Clone, PartialEq, Debug)]
pub struct Tag {
    init: By,
    commit: By,
}

/// What is in each cell, and whether it is a value.
type Memories = Vec<(Word, Lit)>;

/// What a thread knows about a cell.
#[derive(Clone, PartialEq, Debug)]
struct Place {
    /// What the last own store wrote, or the initial value.
    value: Word,
    /// That store is initialised.
    init: By,
    /// The accesses of the cell so far are committed.
    committed: By,
    /// The addresses of stores since that store are known.
    addresses: By,
    /// That store.
    own: usize,
    /// The last read.
    read: usize,
}

/// What a thread knows at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    control: By,
    /// Fences let reads and stores be initialised.
    fences: By,
    /// `eieio`s let stores be committed.
    eieios: By,
    /// All accesses, and all stores, are committed.
    accesses: By,
    stores: By,
    /// All addresses are known, and what they depend on is committed.
    known: By,
    known_committed: By,
    /// All `lwsync`s and `eieio`s have reached each thread.
    reached: Vec<By>,
    places: Vec<Place>,
    /// The last load that took a reservation.
    reservation: usize,
    /// While `main` runs alone: memory.
    alone: Option<Rc<Memories>>,
}

/// A read of one cell.
pub(crate) struct Read {
    pub thread: usize,
    pub step: usize,
    pub when: Lit,
    pub init: By,
    pub commit: By,
    pub cells: Vec<CellRead>,
}

pub(crate) struct CellRead {
    pub cell: usize,
    pub when: Lit,
    /// It reads the initial value; known only where the cell may have none.
    pub initial: Option<Lit>,
    pub value: Word,
    pub own: usize,
    pub own_value: Word,
    pub last_read: usize,
}

/// A store.
pub(crate) struct Store {
    pub thread: usize,
    pub step: usize,
    pub guard: Lit,
    pub commit: By,
    pub value: Word,
    /// The cells that it may write, with conditions that include the guard.
    pub cells: Vec<(usize, Lit)>,
    pub reached: Vec<By>,
    /// A store-conditional: its load-reserve.
    pub reservation: Option<usize>,
}

/// A fence that is propagated.
pub(crate) struct Barrier {
    pub thread: usize,
    pub step: usize,
    pub guard: Lit,
    pub fence: Kind,
    pub commit: By,
    /// By thread; a `sync` reaches all at once.
    pub reaches: Vec<By>,
    /// The last own store to each cell.
    pub own: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Sync,
    Lwsync,
    Eieio,
}

/// The memory.
pub struct Power {
    pub(crate) contexts: usize,
    pub(crate) threads: usize,
    /// Something may happen in a context: what a bound is asked for with.
    pub(crate) live: Vec<Lit>,
    /// Threads that do something beside others.
    pub(crate) busy: Vec<bool>,
    /// `active[p][k]`, only where something may happen.
    pub(crate) active: Vec<Vec<Lit>>,
    pub(crate) lasts: Vec<Last>,
    last_number: FxHashMap<Last, usize>,
    pub(crate) reads: Vec<Read>,
    pub(crate) stores: Vec<Store>,
    pub(crate) barriers: Vec<Barrier>,
    /// Reads by event number of [`Last`].
    phases: Vec<Phase>,
    initial: Rc<Memories>,
    /// Memory at the end; made when somebody asks.
    finals: Option<Rc<Memories>>,
    /// What `main` leaves if it is the last to end.
    left: Option<Rc<Memories>>,
    shapes: Shapes,
    /// Threads must run to their ends.
    complete: bool,
    /// A rule that is left out, for a test.
    without: Option<Rule>,
    pub(crate) encoded: order::Encoded,
}

impl Power {
    /// For a program and numbers of contexts. If `complete`, only runs in which all threads end are of interest.
    pub fn new(
        flat: &Flat,
        cells: &Cells,
        formula: &mut Formula,
        shapes: &Shapes,
        contexts: RangeInclusive<u32>,
        complete: bool,
    ) -> Power {
        let (least, contexts, threads) =
            (*contexts.start() as usize, *contexts.end() as usize, flat.threads.len());
        let phases = phases(flat).unwrap_or_default();
        let initial = cells.initial_words();
        let busy: Vec<bool> =
            (0..threads).map(|p| p > 0 || phases.is_empty() || works(flat, &phases)).collect();
        let mut live = vec![Lit::TRUE; contexts];
        live.iter_mut().skip(least).for_each(|live| *live = formula.graph.input());
        let active = schedule(formula, &busy, &live);
        Power {
            contexts,
            threads,
            live,
            busy,
            active,
            lasts: vec![Last::None],
            last_number: FxHashMap::default(),
            reads: Vec::new(),
            stores: Vec::new(),
            barriers: Vec::new(),
            phases,
            initial: Rc::new(initial),
            finals: None,
            left: None,
            shapes: shapes.clone(),
            complete,
            without: None,
            encoded: order::Encoded::default(),
        }
    }

    /// Without a rule: only a test wants that.
    pub fn without(self, without: Option<Rule>) -> Power {
        Power { without, ..self }
    }

    /// A rule counts.
    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    /// What to assume for runs with at most so many contexts.
    pub fn at_most(&self, contexts: u32) -> Vec<Lit> {
        (0u32..).zip(&self.live).map(|(k, &live)| live.complement_if(k >= contexts)).collect()
    }

    /// The threads that something of a thread has to reach.
    pub(crate) fn others(&self, thread: usize) -> Vec<usize> {
        (0..self.threads).filter(|&q| q != thread && self.busy[q]).collect()
    }

    fn always(&self) -> By {
        vec![Lit::TRUE; self.contexts].into()
    }

    /// New bits for something that thread `p` does.
    fn done(&self, formula: &mut Formula, p: usize) -> By {
        let bits: Vec<Lit> = (0..self.contexts).map(|_| formula.graph.input()).collect();
        let mut before = Lit::FALSE;
        for (k, &bit) in bits.iter().enumerate() {
            formula.require([!before, bit]);
            formula.require([before, !bit, self.active[p][k]]);
            before = bit;
        }
        bits.into()
    }

    fn last(&mut self, last: Last) -> usize {
        if last == Last::None {
            return 0;
        }
        let lasts = &mut self.lasts;
        *self.last_number.entry(last).or_insert_with(|| {
            lasts.push(last);
            lasts.len() - 1
        })
    }

    fn merge_last(&mut self, c: Lit, a: usize, b: usize) -> usize {
        if a == b { a } else { self.last(Last::Mux(c, a, b)) }
    }

    fn is_alone(&self, thread: usize, step: usize) -> bool {
        thread == 0 && self.phases.get(step).is_some_and(|phase| *phase != Phase::During)
    }

    /// `guard & x[k] => y[k]` for all contexts.
    fn waits(&self, rule: Rule, formula: &mut Formula, guard: Lit, x: &By, y: &By) {
        for k in (0..self.contexts).filter(|_| self.has(rule)) {
            formula.require([!guard, !x[k], y[k]]);
        }
    }

    /// What is done in the end.
    fn must_be_done(&self, formula: &mut Formula, guard: Lit, x: &By) {
        if let Some(&last) = x.last().filter(|_| self.has(Rule::CommittedInTheEnd)) {
            formula.require([!guard, last]);
        }
    }

    fn foreign_writers(&self, cell: usize, thread: usize) -> bool {
        self.shapes.writers[cell] & !(1 << thread) != 0
    }

    /// Memory at the end of all threads.
    pub(crate) fn finals(&mut self, formula: &mut Formula) -> Rc<Memories> {
        if let Some(finals) = &self.finals {
            return finals.clone();
        }
        let words: Memories = (0..self.initial.len())
            .map(|cell| match (self.shapes.writers[cell], self.initial[cell].1) {
                (0, _) => self.initial[cell].clone(),
                (_, Lit::TRUE) => (self.shapes.shapes[cell].input(&mut formula.graph), Lit::TRUE),
                _ => (self.shapes.shapes[cell].input(&mut formula.graph), formula.graph.input()),
            })
            .collect();
        let finals = Rc::new(words);
        self.finals = Some(finals.clone());
        finals
    }
}

impl Power {
    /// Memory when all has ended, `main` too.
    pub(crate) fn memory_at_end(&mut self, formula: &mut Formula) -> Rc<Memories> {
        self.left.clone().unwrap_or_else(|| self.finals(formula))
    }
}

/// Whether `main` does anything beside the threads that it starts.
fn works(flat: &Flat, phases: &[Phase]) -> bool {
    flat.threads[0]
        .code
        .iter()
        .zip(phases)
        .any(|(step, phase)| *phase == Phase::During && step.op.is_fetched())
}

/// Who is active when: one thread in each context in which something may happen, no thread in two contexts in a row.
fn schedule(formula: &mut Formula, busy: &[bool], live: &[Lit]) -> Vec<Vec<Lit>> {
    let workers: Vec<usize> = (0..busy.len()).filter(|&p| busy[p]).collect();
    let mut active = vec![vec![Lit::FALSE; live.len()]; busy.len()];
    match workers[..] {
        [] => {}
        [one] => active[one] = live.to_vec(),
        [one, two] => {
            let first = formula.graph.input();
            for (k, &live) in live.iter().enumerate() {
                let turn = first.complement_if(k % 2 == 1);
                active[one][k] = formula.graph.and(live, turn);
                active[two][k] = formula.graph.and(live, !turn);
            }
        }
        _ => {
            for k in 0..live.len() {
                for &p in &workers {
                    active[p][k] = formula.graph.input();
                    formula.require([!active[p][k], live[k]]);
                }
                let someone: Vec<Lit> = workers.iter().map(|&p| active[p][k]).chain([!live[k]]).collect();
                formula.require(&someone);
                for (i, &p) in workers.iter().enumerate() {
                    for &q in &workers[..i] {
                        formula.require([!active[p][k], !active[q][k]]);
                    }
                    if k > 0 {
                        formula.require([!active[p][k - 1], !active[p][k]]);
                    }
                }
            }
        }
    }
    active
}

fn and(graph: &mut Graph, a: &By, b: &By) -> By {
    if Rc::ptr_eq(a, b) {
        return a.clone();
    }
    a.iter().zip(b.iter()).map(|(&a, &b)| graph.and(a, b)).collect()
}

fn mux(graph: &mut Graph, c: Lit, a: &By, b: &By) -> By {
    match c {
        Lit::TRUE => a.clone(),
        Lit::FALSE => b.clone(),
        _ if Rc::ptr_eq(a, b) => a.clone(),
        _ => a.iter().zip(b.iter()).map(|(&a, &b)| graph.mux(c, a, b)).collect(),
    }
}

impl Memory for Power {
    type Tag = Tag;
    type State = State;

    fn constant(&self) -> Tag {
        Tag { init: self.always(), commit: self.always() }
    }

    fn both(&mut self, formula: &mut Formula, a: &Tag, b: &Tag) -> Tag {
        let graph = &mut formula.graph;
        Tag { init: and(graph, &a.init, &b.init), commit: and(graph, &a.commit, &b.commit) }
    }

    fn merge_tag(&mut self, formula: &mut Formula, c: Lit, a: &Tag, b: &Tag) -> Tag {
        let graph = &mut formula.graph;
        Tag { init: mux(graph, c, &a.init, &b.init), commit: mux(graph, c, &a.commit, &b.commit) }
    }

    fn merge(&mut self, formula: &mut Formula, c: Lit, a: &State, b: &State) -> State {
        let pairs: Vec<(usize, usize)> = a
            .places
            .iter()
            .zip(&b.places)
            .map(|(x, y)| (self.merge_last(c, x.own, y.own), self.merge_last(c, x.read, y.read)))
            .collect();
        let reservation = self.merge_last(c, a.reservation, b.reservation);
        let graph = &mut formula.graph;
        let places = a.places.iter().zip(&b.places).zip(pairs).map(|((x, y), (own, read))| Place {
            value: Word::mux(graph, c, &x.value, &y.value),
            init: mux(graph, c, &x.init, &y.init),
            committed: mux(graph, c, &x.committed, &y.committed),
            addresses: mux(graph, c, &x.addresses, &y.addresses),
            own,
            read,
        });
        let places = places.collect();
        let alone = match (&a.alone, &b.alone) {
            (Some(x), Some(y)) if Rc::ptr_eq(x, y) => Some(x.clone()),
            (Some(x), Some(y)) => {
                let both = |(x, y): (&(Word, Lit), &(Word, Lit))| {
                    (Word::mux(graph, c, &x.0, &y.0), graph.mux(c, x.1, y.1))
                };
                Some(Rc::new(x.iter().zip(y.iter()).map(both).collect()))
            }
            (one, other) => one.clone().or(other.clone()),
        };
        State {
            control: mux(graph, c, &a.control, &b.control),
            fences: mux(graph, c, &a.fences, &b.fences),
            eieios: mux(graph, c, &a.eieios, &b.eieios),
            accesses: mux(graph, c, &a.accesses, &b.accesses),
            stores: mux(graph, c, &a.stores, &b.stores),
            known: mux(graph, c, &a.known, &b.known),
            known_committed: mux(graph, c, &a.known_committed, &b.known_committed),
            reached: a.reached.iter().zip(&b.reached).map(|(a, b)| mux(graph, c, a, b)).collect(),
            places,
            reservation,
            alone,
        }
    }

    fn start(&mut self, _: &mut Formula, thread: usize) -> State {
        let always = self.always();
        let place = |(value, _): &(Word, Lit)| Place {
            value: value.clone(),
            init: always.clone(),
            committed: always.clone(),
            addresses: always.clone(),
            own: 0,
            read: 0,
        };
        State {
            control: always.clone(),
            fences: always.clone(),
            eieios: always.clone(),
            accesses: always.clone(),
            stores: always.clone(),
            known: always.clone(),
            known_committed: always.clone(),
            reached: vec![always.clone(); self.threads],
            places: self.initial.iter().map(place).collect(),
            reservation: 0,
            alone: (thread == 0 && !self.phases.is_empty()).then(|| self.initial.clone()),
        }
    }

    fn load(
        &mut self,
        formula: &mut Formula,
        access: &Access<'_, Tag>,
        state: &mut State,
    ) -> (Word, Tag, Lit) {
        if self.is_alone(access.thread, access.step) {
            let memory = state.alone.clone().unwrap_or_default();
            let (mut value, mut valid) = (zero(), Lit::TRUE);
            for &(cell, hit) in &access.cells {
                let (word, is_value) = &memory[cell];
                value = Word::mux(&mut formula.graph, hit, word, &value);
                valid = formula.graph.mux(hit, *is_value, valid);
            }
            return (value, self.constant(), valid);
        }
        let guard = access.guard;
        let (init, commit) = (self.done(formula, access.thread), self.done(formula, access.thread));
        self.must_be_done(formula, guard, &commit);
        self.waits(Rule::ReadAfterFences, formula, guard, &init, &state.fences);
        self.waits(Rule::ReadAfterAddress, formula, guard, &init, &access.address.init);
        self.waits(Rule::ReadCommitAfterInit, formula, guard, &commit, &init);
        self.waits(Rule::ReadCommitAfterControl, formula, guard, &commit, &state.control);
        self.waits(Rule::ReadCommitAfterAddresses, formula, guard, &commit, &state.known);
        self.waits(Rule::ReadCommitAfterAddress, formula, guard, &commit, &access.address.commit);
        let event = self.reads.len();
        let number = self.last(Last::Event(event));
        let (mut value, mut cells, mut valid) = (zero(), Vec::new(), Lit::TRUE);
        for &(cell, hit) in &access.cells {
            let when = formula.graph.and(guard, hit);
            let place = state.places[cell].clone();
            let has_value = self.initial[cell].1;
            let initial = (has_value != Lit::TRUE).then(|| formula.graph.input());
            if let Some(initial) = initial {
                let without = formula.graph.and_all(&[hit, initial, !has_value]);
                valid = formula.graph.and(valid, !without);
            }
            self.waits(Rule::ReadAfterOwnStore, formula, when, &init, &place.init);
            self.waits(Rule::ReadAfterAddressesOfStores, formula, when, &init, &place.addresses);
            self.waits(Rule::ReadCommitAfterSameCell, formula, when, &commit, &place.committed);
            let read = match self.foreign_writers(cell, access.thread) {
                false => place.value.clone(),
                true => self.shapes.shapes[cell].input(&mut formula.graph),
            };
            value = Word::mux(&mut formula.graph, hit, &read, &value);
            cells.push(CellRead {
                cell,
                when,
                initial,
                value: read,
                own: place.own,
                own_value: place.value,
                last_read: place.read,
            });
            let committed = mux(&mut formula.graph, hit, &commit, &place.committed);
            let read = if hit == Lit::TRUE { number } else { self.merge_last(hit, number, place.read) };
            let place = &mut state.places[cell];
            (place.committed, place.read) = (committed, read);
        }
        let (thread, step) = (access.thread, access.step);
        self.reads.push(Read {
            thread,
            step,
            when: guard,
            init: init.clone(),
            commit: commit.clone(),
            cells,
        });
        let graph = &mut formula.graph;
        state.accesses = and(graph, &state.accesses, &commit);
        state.known = and(graph, &state.known, &access.address.init);
        state.known_committed = and(graph, &state.known_committed, &access.address.commit);
        if access.exclusive {
            state.reservation = number;
        }
        (value, Tag { init, commit }, valid)
    }

    fn store(
        &mut self,
        formula: &mut Formula,
        access: &Access<'_, Tag>,
        (value, of): (&Word, &Tag),
        state: &mut State,
    ) {
        if self.is_alone(access.thread, access.step) {
            let mut memory = state.alone.clone().unwrap_or_default();
            let words = Rc::make_mut(&mut memory);
            for &(cell, hit) in &access.cells {
                let (word, is_value) = &words[cell];
                let word = Word::mux(&mut formula.graph, hit, value, word);
                words[cell] = (word, formula.graph.or(hit, *is_value));
            }
            state.alone = Some(memory);
            return;
        }
        let guard = access.guard;
        let graph = &mut formula.graph;
        let operands = and(graph, &of.init, &access.address.init);
        let init = and(graph, &operands, &state.fences);
        let commit = self.done(formula, access.thread);
        self.must_be_done(formula, guard, &commit);
        for (rule, wanted) in [
            (Rule::StoreAfterInit, &init),
            (Rule::StoreAfterControl, &state.control),
            (Rule::StoreAfterAddresses, &state.known),
            (Rule::StoreAfterData, &of.commit),
            (Rule::StoreAfterAddress, &access.address.commit),
            (Rule::StoreAfterEieio, &state.eieios),
        ] {
            self.waits(rule, formula, guard, &commit, wanted);
        }
        let event = self.stores.len();
        let number = self.last(Last::Event(event));
        let mut cells = Vec::new();
        for (cell, place) in state.places.iter_mut().enumerate() {
            let hit = access.cells.iter().find(|(its, _)| *its == cell).map_or(Lit::FALSE, |(_, hit)| *hit);
            if hit != Lit::FALSE {
                let when = formula.graph.and(guard, hit);
                for k in (0..self.contexts).filter(|_| self.without != Some(Rule::StoreAfterSameCell)) {
                    formula.require([!when, !commit[k], place.committed[k]]);
                }
                cells.push((cell, when));
            }
            if hit == Lit::TRUE {
                *place = Place {
                    value: value.clone(),
                    init: init.clone(),
                    committed: commit.clone(),
                    addresses: vec![Lit::TRUE; self.contexts].into(),
                    own: number,
                    read: place.read,
                };
                continue;
            }
            // Whether it is this cell is known when the address is.
            let graph = &mut formula.graph;
            place.addresses = and(graph, &place.addresses, &access.address.init);
            if hit != Lit::FALSE {
                place.value = Word::mux(graph, hit, value, &place.value);
                place.init = mux(graph, hit, &init, &place.init);
                place.committed = mux(graph, hit, &commit, &place.committed);
                let always: By = vec![Lit::TRUE; self.contexts].into();
                place.addresses = mux(graph, hit, &always, &place.addresses);
                let (lasts, numbers) = (&mut self.lasts, &mut self.last_number);
                place.own = *numbers.entry(Last::Mux(hit, number, place.own)).or_insert_with(|| {
                    lasts.push(Last::Mux(hit, number, place.own));
                    lasts.len() - 1
                });
            }
        }
        let (thread, step, reached) = (access.thread, access.step, state.reached.clone());
        let reservation = access.exclusive.then_some(state.reservation);
        let value = value.clone();
        self.stores.push(Store {
            thread,
            step,
            guard,
            commit: commit.clone(),
            value,
            cells,
            reached,
            reservation,
        });
        let graph = &mut formula.graph;
        state.accesses = and(graph, &state.accesses, &commit);
        state.stores = and(graph, &state.stores, &commit);
        state.known = and(graph, &state.known, &access.address.init);
        state.known_committed = and(graph, &state.known_committed, &access.address.commit);
        if access.exclusive {
            state.reservation = 0;
        }
    }

    fn fence(
        &mut self,
        formula: &mut Formula,
        (thread, step): (usize, usize),
        guard: Lit,
        fence: Fence,
        state: &mut State,
    ) {
        if self.is_alone(thread, step) {
            return;
        }
        let fence = match fence {
            Fence::Sync | Fence::Mfence => Kind::Sync,
            Fence::Lwsync => Kind::Lwsync,
            Fence::Eieio => Kind::Eieio,
            Fence::Isync => {
                // It has no bits of its own.
                self.fetched(formula, (thread, step), guard);
                let graph = &mut formula.graph;
                if self.has(Rule::IsyncAfterControl) {
                    state.fences = and(graph, &state.fences, &state.control);
                }
                if self.has(Rule::IsyncAfterAddresses) {
                    state.fences = and(graph, &state.fences, &state.known_committed);
                }
                return;
            }
            // Refused before.
            _ => return,
        };
        let commit = self.done(formula, thread);
        let accesses = if fence == Kind::Eieio { &state.stores } else { &state.accesses };
        for (rule, wanted) in [
            (Rule::FenceAfterControl, &state.control),
            (Rule::FenceAfterFences, &state.fences),
            (Rule::FenceAfterAccesses, accesses),
        ] {
            self.waits(rule, formula, guard, &commit, wanted);
        }
        let mut reaches = Vec::new();
        let all = (fence == Kind::Sync).then(|| self.done(formula, thread));
        for q in 0..self.threads {
            let reach = match &all {
                _ if q == thread || !self.busy[q] => commit.clone(),
                Some(all) => all.clone(),
                None => self.done(formula, thread),
            };
            self.waits(Rule::FenceReachesAfterCommit, formula, guard, &reach, &commit);
            self.must_be_done(formula, guard, &reach);
            reaches.push(reach);
        }
        let graph = &mut formula.graph;
        match fence {
            Kind::Sync => state.fences = all.unwrap_or_else(|| commit.clone()),
            Kind::Lwsync => state.fences = commit.clone(),
            Kind::Eieio => state.eieios = and(graph, &state.eieios, &commit),
        }
        // With one thread a `sync` has nobody to reach.
        if fence != Kind::Sync {
            for (q, reach) in reaches.iter().enumerate() {
                state.reached[q] = and(graph, &state.reached[q], reach);
            }
        }
        let own = state.places.iter().map(|place| place.own).collect();
        self.barriers.push(Barrier { thread, step, guard, fence, commit, reaches, own });
    }

    fn branch(
        &mut self,
        formula: &mut Formula,
        (thread, step): (usize, usize),
        _: Lit,
        on: &Tag,
        state: &mut State,
    ) {
        if !self.is_alone(thread, step) && self.has(Rule::BranchHoldsUp) {
            state.control = and(&mut formula.graph, &state.control, &on.commit);
        }
    }

    fn fails(&mut self, _: &mut Formula, _: (usize, usize), guard: Lit, _: &Tag, _: &State) -> Lit {
        guard
    }

    fn goes_on(&mut self, formula: &mut Formula, (thread, step): (usize, usize)) -> Lit {
        match self.complete || self.is_alone(thread, step) {
            true => Lit::TRUE,
            false => formula.graph.input(),
        }
    }

    fn is_ordered(&self, thread: usize, step: usize) -> bool {
        !self.is_alone(thread, step)
    }

    /// Somebody has to fetch it, in a context.
    fn fetched(&mut self, formula: &mut Formula, (thread, step): (usize, usize), guard: Lit) {
        if !self.is_alone(thread, step) {
            let active: Vec<Lit> = self.active[thread].iter().copied().chain([!guard]).collect();
            formula.require(&active);
        }
    }

    /// Beside others an assertion orders nothing; but what is wrong has no final state.
    fn ends_at_assertions(&self, thread: usize, step: usize) -> bool {
        self.complete || self.is_alone(thread, step)
    }

    fn spawn(&mut self, _: (usize, usize), _: Lit, _: usize, state: &mut State) {
        // From here on there are others, and memory is what they start with.
        if let Some(memory) = &state.alone {
            self.initial = memory.clone();
            for (place, (value, _)) in state.places.iter_mut().zip(memory.iter()) {
                place.value = value.clone();
            }
        }
    }

    fn join(&mut self, formula: &mut Formula, _: (usize, usize), _: Lit, _: usize, state: &mut State) {
        state.alone = Some(self.finals(formula));
    }

    fn end(&mut self, _: &mut Formula, thread: usize, _: Lit, state: &State) {
        if thread == 0 && self.phases.last() == Some(&Phase::After) {
            self.left = state.alone.clone();
        }
    }

    fn shapes(&self) -> &Shapes {
        &self.shapes
    }
}
