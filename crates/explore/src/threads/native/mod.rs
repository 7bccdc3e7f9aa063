//! Threads that are not programs of `ir`: a [`Source`] runs them, and says step by step what they do next.
//!
//! A step is what a thread does up to and including its next access to shared memory. To the search its thread is one of `ir`
//! whose code
//! is a loop around ordinary operations (`forms.rs`): where that comes round, the source is asked. What comes next may depend on
//! plain
//! memory that others have published, so on the whole (po | rf)+ prefix of the thread. So the state of a thread is a number that
//! is given
//! out once, when the step is made; two states are equal only if they are the same. The state before, the value read and the
//! state of
//! whoever wrote it follow from it, and it is gone with the registers that hold it.
//!
//! A source keeps its threads alive. It goes on with one that stands where the graph has it; if what its threads have done is not
//! a part of the graph (the search has gone back), it begins anew and all of the graph is run again ([`Native::follow`]), in an
//! order that
//! extends (po | rf)+. A run that is made again must ask for what it asked for before; a number in the registers tells.

pub mod forms;
pub mod registers;
pub mod source;

pub use source::{At, Cell, Do, Given, Maker, Past, Source, Step, Wanted};

use crate::models::model::MemoryModel;
use crate::search::graph::{Graph, Layout};
use crate::search::row::RowWidth;
use crate::threads::interpret::Next;
use crate::threads::memory::{Identity, Memory, ObjectKey, Storage};
use crate::threads::path::{INIT, Kind, Trie};
use fencepost_answer::FindingKind;
use fencepost_ir::{Object, Span, Value, Width};
use forms::{CHECK, EARLIER, Forms, ROUND, STATE};
use registers::{check, encode, word};
use rustc_hash::FxHashMap;

/// What is wrong in a thread, by the number that its source gave it.
pub const SITE: u32 = 1;

/// Rounds for nothing after which a loop is taken for one that does not give up.
const PATIENCE: usize = 128;

/// Where the source's thread stands: before the step that it asked for last.
#[derive(Clone, Copy)]
struct Live {
    index: usize,
    state: u64,
}

/// The native threads of one worker.
pub struct Native {
    source: Box<dyn Source>,
    live: Vec<Option<Live>>,
    states: u64,
    cells: FxHashMap<Cell, u64>,
    inits: FxHashMap<(u32, u64), u32>,
    begun: bool,
}

/// What comes of asking for a step.
pub enum Asked {
    /// The registers have it.
    Step,
    /// The thread stops.
    Stops(Next, u64),
    /// The exploration starts over.
    StartOver,
}

struct Seen<'a, M: MemoryModel<W>, W: RowWidth> {
    graph: &'a Graph<M, W>,
    layout: &'a Layout,
    model: &'a M,
}

impl<M: MemoryModel<W>, W: RowWidth> Seen<'_, M, W> {
    /// The event after the first, and that before the second, if they are there; nothing if both are of one thread.
    fn ends(&self, earlier: At, mut later: At) -> Option<(usize, usize)> {
        // What a thread does first comes after what its parent did before it started it.
        while later.index == 0 && later.thread != earlier.thread {
            let origin = self.graph.origin(later.thread as usize);
            if origin == INIT {
                return None;
            }
            let thread = self.layout.thread_of[origin as usize];
            later = At { thread, index: origin - self.layout.base[thread as usize] };
        }
        let event = |at: At| (self.layout.base[at.thread as usize] + at.index) as usize;
        if later.thread == earlier.thread {
            let is_before = earlier.index <= later.index;
            return is_before.then(|| (event(later), event(later)));
        }
        let first = event(earlier);
        self.graph.present().contains(first).then(|| (first, event(later) - 1))
    }
}

impl<M: MemoryModel<W>, W: RowWidth> Past for Seen<'_, M, W> {
    fn is_ordered(&self, earlier: At, later: At) -> bool {
        self.ends(earlier, later)
            .is_some_and(|(first, last)| first == last || self.model.strictly_before(self.graph, first, last))
    }

    fn is_over(&self, access: At, later: At) -> bool {
        self.ends(access, later)
            .is_some_and(|(first, last)| first == last || self.model.happens_before(self.graph, first, last))
    }
}

impl Native {
    /// With threads that have not begun.
    pub fn new(source: Box<dyn Source>) -> Native {
        let (live, cells, inits) = (Vec::new(), FxHashMap::default(), FxHashMap::default());
        Native { source, live, states: 0, cells, inits, begun: false }
    }

    /// Asks what a thread does next that stands before slot `index`, and puts it into the registers there. `parent`: it has just
    /// been
    /// started.
    #[allow(clippy::too_many_arguments)]
    pub fn ask<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        forms: &Forms,
        trie: &Trie<M, W>,
        memory: &mut Memory,
        model: &M,
        layout: &Layout,
        graph: &mut Graph<M, W>,
        (thread, index): (usize, usize),
        starts: bool,
    ) -> Asked {
        self.live.resize(layout.threads(), None);
        let seen = Seen { graph, layout, model };
        let stands = |live: &Live| {
            !starts
                && live.index <= index
                && graph.registers(layout, thread, live.index)[word(STATE)] == live.state
        };
        let is_fit = self.live[thread].as_ref().is_none_or(stands) && self.is_within(&seen, thread);
        if !is_fit || self.source.is_spent() {
            self.restart();
        }
        if !self.follow(trie, memory, &seen, starts.then_some(thread)) {
            return Asked::Stops(self.departed(thread), 0);
        }
        let step = match self.live[thread] {
            None => self.source.start(&seen, thread, parent(&seen, thread)),
            Some(live) => {
                let given = given(trie, &seen, thread, live.index..index);
                self.source.step(&seen, At { thread: thread as u16, index: index as u32 }, given)
            }
        };
        self.states += 1;
        let state = self.states;
        self.live[thread] = Some(Live { index, state });
        let address = self.address(memory, &step);
        let round = match rounds(trie, &seen, &step, thread, index) {
            // A loop that gives up when it has waited long enough is followed to there.
            Round::ForNothing(begun)
                if self.gives_up(trie, memory, &seen, thread, begun as usize..index, &step) =>
            {
                Round::Begins(begun)
            }
            round => round,
        };
        let registers = graph.registers_mut(layout, thread, index);
        registers[word(STATE)] = state;
        registers[word(CHECK)] = check(&step, address);
        match round {
            Round::Goes => {}
            Round::Begins(earlier) => {
                (registers[word(EARLIER)], registers[word(ROUND)]) = (earlier, index as u64)
            }
            Round::ForNothing(begun) => return Asked::Stops(Next::Spinning, begun),
        }
        match step.what {
            Do::StartOver => Asked::StartOver,
            Do::Fail(kind, site) => Asked::Stops(Next::failed_by_source(kind, site), 0),
            Do::Cut(site) => {
                registers[crate::threads::code::RESULT] = u64::from(site);
                Asked::Stops(Next::Cut, 0)
            }
            _ => match encode(forms, &step, address, registers) {
                Some(()) => Asked::Step,
                None => Asked::Stops(Next::failed_by_source(FindingKind::Unsupported, 0), 0),
            },
        }
    }

    /// Whether a thread that has made a round for nothing does something else when it makes that round again and again. It stands
    /// before the
    /// first step of the next round. Its state is of no use afterwards.
    fn gives_up<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        trie: &Trie<M, W>,
        memory: &mut Memory,
        seen: &Seen<'_, M, W>,
        thread: usize,
        round: std::ops::Range<usize>,
        first: &Step,
    ) -> bool {
        let Seen { graph, layout, .. } = *seen;
        self.begun = false;
        // Where its steps begin, and what they were.
        let state = |index: usize| graph.registers(layout, thread, index)[word(STATE)];
        let starts: Vec<usize> =
            round.clone().filter(|&index| index == round.start || state(index) != state(index - 1)).collect();
        let steps: Vec<(u64, Given)> = (0..starts.len())
            .map(|i| {
                let end = starts.get(i + 1).copied().unwrap_or(round.end);
                let check = graph.registers(layout, thread, starts[i])[word(CHECK)];
                (check, given(trie, seen, thread, starts[i]..end))
            })
            .collect();
        let at = At { thread: thread as u16, index: round.end as u32 };
        let mut step = first.clone();
        for _ in 0..PATIENCE {
            for &(known, given) in &steps {
                let address = self.address(memory, &step);
                if check(&step, address) != known {
                    return true;
                }
                step = self.source.step(seen, at, given);
            }
        }
        false
    }

    fn departed(&mut self, thread: usize) -> Next {
        self.live.fill(None);
        self.begun = false;
        Next::failed_by_source(FindingKind::Unsupported, self.source.departed(thread))
    }

    fn restart(&mut self) {
        self.begun = true;
        self.source.restart();
        self.live.fill(None);
    }

    /// Whether what all threads but this one have done is in the graph.
    fn is_within<M: MemoryModel<W>, W: RowWidth>(&self, seen: &Seen<'_, M, W>, thread: usize) -> bool {
        let Seen { graph, layout, .. } = *seen;
        let is_within = |(t, live): (usize, &Option<Live>)| {
            t == thread
                || live.as_ref().is_none_or(|live| {
                    graph.frontier(layout, t).next != Next::NotStarted
                        && live.index <= graph.front(t) as usize
                        && graph.registers(layout, t, live.index)[word(STATE)] == live.state
                })
        };
        self.begun && self.live.iter().enumerate().all(is_within)
    }

    /// Takes all threads to where the graph has them, but for one that is about to start. False if one asks for something else
    /// than it did.
    fn follow<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        trie: &Trie<M, W>,
        memory: &mut Memory,
        seen: &Seen<'_, M, W>,
        starting: Option<usize>,
    ) -> bool {
        let Seen { graph, layout, .. } = *seen;
        (0..layout.threads()).all(|t| {
            Some(t) == starting
                || graph.frontier(layout, t).next == Next::NotStarted
                || self.take(trie, memory, seen, t, graph.front(t) as usize)
        })
    }

    /// Takes a thread over its events before that of the index, and those of others over what these need.
    fn take<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        trie: &Trie<M, W>,
        memory: &mut Memory,
        seen: &Seen<'_, M, W>,
        thread: usize,
        to: usize,
    ) -> bool {
        let Seen { graph, layout, .. } = *seen;
        if self.live[thread].is_none() {
            let parent = parent(seen, thread);
            if let Some((parent, _)) = parent {
                let spawned = graph.origin(thread) - layout.base[parent];
                if !self.take(trie, memory, seen, parent, spawned as usize) {
                    return false;
                }
            }
            let step = self.source.start(seen, thread, parent);
            if !self.is_again(memory, seen, thread, 0, &step) {
                return false;
            }
        }
        loop {
            let Some(live) = self.live[thread] else { return false };
            let state = |index: usize| graph.registers(layout, thread, index)[word(STATE)];
            let Some(end) = (live.index + 1..=to).find(|&index| state(index) != live.state) else {
                return true;
            };
            let base = layout.base[thread] as usize;
            for e in base + live.index..base + end {
                let needed = match trie.node(graph.node(e)).kind {
                    Kind::Read => graph.rf(e),
                    Kind::Join => {
                        let other = graph.value(e) as usize;
                        if !self.take(trie, memory, seen, other, graph.front(other) as usize) {
                            return false;
                        }
                        INIT
                    }
                    _ => INIT,
                };
                if needed != INIT {
                    let other = layout.thread_of[needed as usize] as usize;
                    let index = (needed - layout.base[other]) as usize + 1;
                    if other != thread && !self.take(trie, memory, seen, other, index) {
                        return false;
                    }
                }
            }
            let given = given(trie, seen, thread, live.index..end);
            let step = self.source.step(seen, At { thread: thread as u16, index: end as u32 }, given);
            if !self.is_again(memory, seen, thread, end, &step) {
                return false;
            }
        }
    }

    /// Notes that a thread stands before a step, if that is the one that it stood before there.
    fn is_again<M: MemoryModel<W>, W: RowWidth>(
        &mut self,
        memory: &mut Memory,
        seen: &Seen<'_, M, W>,
        thread: usize,
        index: usize,
        step: &Step,
    ) -> bool {
        let address = self.address(memory, step);
        let registers = seen.graph.registers(seen.layout, thread, index);
        self.live[thread] = Some(Live { index, state: registers[word(STATE)] });
        registers[word(CHECK)] == check(step, address)
    }

    /// The address of the cell that a step accesses.
    fn address(&mut self, memory: &mut Memory, step: &Step) -> u64 {
        if matches!(
            step.what,
            Do::Fence(_)
                | Do::Choose
                | Do::Spawn
                | Do::Join(_)
                | Do::End
                | Do::Fail(..)
                | Do::Cut(_)
                | Do::StartOver
        ) {
            return 0;
        }
        let cell = step.cell;
        if let Some(&address) = self.cells.get(&cell) {
            return address;
        }
        let inits = self.inits.len() as u32;
        let site = *self.inits.entry((cell.version, cell.init)).or_insert(inits);
        let (thread, number, storage) = (cell.owner, cell.place, Storage::Global);
        let identity = Identity { thread, number, site, size: 8, storage };
        let name = format!("{}:{:x}", cell.owner, cell.place);
        let template = Object::scalar(name, Width::W64, Value(cell.init), Span::default());
        let object = memory.make(identity, Some(&template), false, Span::default());
        debug_assert_eq!(memory.object_key(object), Some(ObjectKey::Made(thread, number)));
        let address = Value::pointer(object, 0).0;
        self.cells.insert(cell, address);
        address
    }
}

/// Who has started a thread, and how many others before.
fn parent<M: MemoryModel<W>, W: RowWidth>(seen: &Seen<'_, M, W>, thread: usize) -> Option<(usize, u32)> {
    let origin = seen.graph.origin(thread);
    let first = seen.layout.threads() - seen.layout.spawned.len();
    (origin != INIT).then(|| {
        let (_, number) = seen.layout.spawned[thread - first];
        (seen.layout.thread_of[origin as usize] as usize, number)
    })
}

/// What the events of a step gave.
fn given<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    seen: &Seen<'_, M, W>,
    thread: usize,
    events: std::ops::Range<usize>,
) -> Given {
    let base = seen.layout.base[thread] as usize;
    let mut given = Given::default();
    for e in base + events.start..base + events.end {
        let value = seen.graph.value(e);
        match trie.node(seen.graph.node(e)).kind {
            Kind::Read | Kind::Spawn => given.value = value,
            Kind::Choice => given.chosen = value != 0,
            _ => {}
        }
    }
    given
}

/// What a step means for the rounds of a loop that waits.
enum Round {
    Goes,
    /// A round begins here, after another one that began there.
    Begins(u64),
    /// The round that began there was for nothing.
    ForNothing(u64),
}

/// A round is what lies between two times that the thread says it waits. One that makes the same reads from the same writes as
/// the round
/// before, and writes nothing, is for nothing.
fn rounds<M: MemoryModel<W>, W: RowWidth>(
    trie: &Trie<M, W>,
    seen: &Seen<'_, M, W>,
    step: &Step,
    thread: usize,
    index: usize,
) -> Round {
    let Seen { graph, layout, .. } = *seen;
    let registers = graph.registers(layout, thread, index);
    let (earlier, begun) = (registers[word(EARLIER)] as usize, registers[word(ROUND)] as usize);
    if step.wrote {
        // What came before counts for nothing.
        return Round::Begins(index as u64);
    }
    if !step.yields || begun == index {
        return Round::Goes;
    }
    let base = layout.base[thread] as usize;
    let length = index - begun;
    let same = |e: usize| {
        let (now, then) =
            (trie.node(graph.node(base + begun + e)), trie.node(graph.node(base + begun + e - length)));
        let reads =
            now.kind == Kind::Read && graph.rf(base + begun + e) == graph.rf(base + begun + e - length);
        let orders = matches!(now.kind, Kind::Fence(_) | Kind::Skip);
        now.pc() == then.pc() && now.loc() == then.loc() && (reads || orders)
    };
    let again = length <= begun - earlier.min(begun) && (0..length).all(same);
    if again { Round::ForNothing(begun as u64) } else { Round::Begins(begun as u64) }
}
