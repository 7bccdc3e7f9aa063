//! Threads that are not programs of `ir`: a [`Source`] runs them, and says step by step what they do next.
//!
//! A step is what a thread does up to and including its next access to shared memory. To the search its thread is one of `ir` whose code
//! is a loop around ordinary operations (`forms.rs`): where that comes round, the source is asked. What comes next may depend on plain
//! memory that others have published, so on the whole (po | rf)+ prefix of the thread. So the state of a thread is a number that is given
//! out once, when the step is made; two states are equal only if they are the same. The state before, the value read and the state of
//! whoever wrote it follow from it, and it is gone with the registers that hold it.
//!
//! A source keeps its threads alive. It goes on with one that stands where the graph has it; if what its threads have done is not
//! a part of the graph (the search has gone back), it begins anew and all of the graph is run again ([`Native::follow`]), in an order that
//! extends (po | rf)+. A run that is made again must ask for what it asked for before; a number in the registers tells.

pub mod forms;

use crate::models::model::MemoryModel;
use crate::search::graph::{Graph, Layout};
use crate::search::row::RowWidth;
use crate::threads::code::HIDDEN;
use crate::threads::interpret::Next;
use crate::threads::memory::{Identity, Memory, ObjectKey, Storage};
use crate::threads::path::{INIT, Kind, Trie};
use fencepost_answer::FindingKind;
use fencepost_ir::{Object, Order, RmwOp, Span, Value, Width};
use forms::{
    ADDR, CHECK, COMBINE, EARLIER, EXPECTED, FORM, Form, Forms, LARGER, MASK, NEW, OLD, OPERAND, OTHER,
    ROUND, STATE,
};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// An atomic object, in words that mean the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Whose memory it lies in.
    pub owner: u16,
    /// Where.
    pub place: u32,
    /// How many were there before.
    pub version: u32,
    /// What stands in it at first.
    pub init: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Do {
    Load(Order),
    /// Writes the operand.
    Store(Order),
    /// Combines what is there with the operand.
    Rmw(Order, RmwOp, Width),
    /// Writes the operand if the expected value is there: orders of success and failure, and whether it may fail without a reason.
    Exchange(Order, Order, bool),
    /// Waits for the expected value.
    Await(Order, Wanted),
    /// The same, and combines in the same step.
    AwaitRmw(Order, Wanted, RmwOp, Width),
    /// A fence that the model makes an event of: all do under models with races, no other than SeqCst ones do under TSO, none under SC.
    Fence(Order),
    /// One of two, whichever.
    Choose,
    /// Starts a thread.
    Spawn,
    /// Waits for the end of the thread with this number.
    Join(usize),
    /// The thread ends.
    End,
    /// Something is wrong; the number says what and where to whoever runs the thread.
    Fail(FindingKind, u32),
    /// The thread is not followed any further; a number as before.
    Cut(u32),
    /// Something was found out that should have been known before the exploration began.
    StartOver,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The bits that are looked at.
    pub mask: u64,
    /// Whether they are to differ from the expected value.
    pub other: bool,
    /// Whether a value will do that is larger than the expected one.
    pub larger: bool,
}

/// The next step of a thread.
#[derive(Clone, Debug)]
pub struct Step {
    /// Whether the thread has said since its last step that it waits for others.
    pub yields: bool,
    /// Whether it has written plain memory since then.
    pub wrote: bool,
    /// What it does.
    pub what: Do,
    /// To which cell.
    pub cell: Cell,
    /// What is written, or combined with what is there.
    pub operand: u64,
    /// What is expected to be there.
    pub expected: u64,
}

impl Step {
    /// A step that accesses nothing.
    pub fn new(what: Do) -> Step {
        Step { yields: false, wrote: false, what, cell: Cell::default(), operand: 0, expected: 0 }
    }
}

/// A thread between two of its events: that of the index comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// Whose.
    pub thread: u16,
    /// How many events it has made.
    pub index: u32,
}

/// What a step gave its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The value read, or the number of the thread that was started.
    pub value: u64,
    /// Whether a compare-exchange failed without a reason, or the second of two was chosen.
    pub chosen: bool,
}

/// The graph as a source sees it.
pub trait Past {
    /// Whether all that a thread did up to its event there happens before what another one does after its event there.
    fn is_ordered(&self, earlier: At, later: At) -> bool;

    /// Whether an atomic access, by its event, is over when a thread comes to what it does there: somebody has seen it, whatever its order.
    fn is_over(&self, access: At, later: At) -> bool;
}

/// Who runs native threads.
///
/// *Call order*: `restart`; then `start` for thread 0, and for a thread when it is started; and `step` for one that stands before a step
/// whose outcome is known. *Determinism*: a thread comes to the same step whenever what came before it in (po | rf)+ is the same.
pub trait Source: Send {
    /// All threads are as they were before the program began.
    fn restart(&mut self);

    /// Takes a thread to its first step. `parent`: who has started it, and how many others before.
    fn start(&mut self, past: &dyn Past, thread: usize, parent: Option<(usize, u32)>) -> Step;

    /// Takes a thread over a step to the next one.
    fn step(&mut self, past: &dyn Past, at: At, given: Given) -> Step;

    /// The thread has asked for something else than when it was there before: a number that says so.
    fn departed(&mut self, thread: usize) -> u32;

    /// Whether its threads must be run again before they go on: never, but in tests that compare.
    fn is_spent(&self) -> bool {
        false
    }
}

/// Makes sources, one for each worker.
pub type Maker<'a> = &'a (dyn Fn() -> Box<dyn Source> + Sync);

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

/// A place in the registers.
pub fn word(register: u16) -> usize {
    HIDDEN + register as usize
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

    /// Combines what was read, for the store of a read-modify-write.
    pub fn combine(registers: &mut [u64]) {
        let how = registers[word(COMBINE)];
        let (op, width) = (OPS[(how >> 8) as usize], WIDTHS[(how & 0xff) as usize]);
        let (old, operand) = (Value(registers[word(OLD)]), Value(registers[word(OPERAND)]));
        registers[word(NEW)] = op.apply(width, old, operand).0;
    }

    /// Asks what a thread does next that stands before slot `index`, and puts it into the registers there. `parent`: it has just been
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

    /// Whether a thread that has made a round for nothing does something else when it makes that round again and again. It stands before the
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

    /// Takes all threads to where the graph has them, but for one that is about to start. False if one asks for something else than it did.
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

/// A round is what lies between two times that the thread says it waits. One that makes the same reads from the same writes as the round
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

const OPS: [RmwOp; 12] = [
    RmwOp::Exchange,
    RmwOp::Add,
    RmwOp::Sub,
    RmwOp::And,
    RmwOp::Nand,
    RmwOp::Or,
    RmwOp::Xor,
    RmwOp::Clear,
    RmwOp::MaxS,
    RmwOp::MinS,
    RmwOp::MaxU,
    RmwOp::MinU,
];

const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

fn how(op: RmwOp, width: Width) -> u64 {
    let place = |found: Option<usize>| found.unwrap_or_default() as u64;
    place(OPS.iter().position(|&o| o == op)) << 8 | place(WIDTHS.iter().position(|&w| w == width))
}

/// Puts a step into registers; nothing if there is no such operation.
fn encode(forms: &Forms, step: &Step, address: u64, registers: &mut [u64]) -> Option<()> {
    let mut set = |register: u16, value: u64| registers[word(register)] = value;
    let wait = |wanted: Wanted, set: &mut dyn FnMut(u16, u64)| {
        set(MASK, wanted.mask);
        set(OTHER, wanted.other.into());
        set(LARGER, wanted.larger.into());
    };
    set(ADDR, address);
    set(OPERAND, step.operand);
    set(EXPECTED, step.expected);
    let form = match step.what {
        Do::Load(order) => Form::Load(order),
        Do::Store(order) => Form::Store(order),
        Do::Rmw(order, op, width) => {
            set(COMBINE, how(op, width));
            Form::Rmw(order)
        }
        Do::Exchange(success, failure, weak) => Form::Exchange(success, failure, weak),
        Do::Await(order, wanted) => {
            wait(wanted, &mut set);
            Form::Await(order)
        }
        Do::AwaitRmw(order, wanted, op, width) => {
            wait(wanted, &mut set);
            set(COMBINE, how(op, width));
            Form::AwaitRmw(order)
        }
        Do::Fence(order) => Form::Fence(order),
        Do::Choose => Form::Choose,
        Do::Spawn => Form::Spawn,
        Do::Join(thread) => {
            set(OPERAND, thread as u64);
            Form::Join
        }
        Do::End => Form::End,
        Do::Fail(..) | Do::Cut(_) | Do::StartOver => return None,
    };
    set(FORM, forms.number(form)?);
    Some(())
}

/// A step as a number.
fn check(step: &Step, address: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (step.what, address, step.operand, step.expected).hash(&mut hasher);
    hasher.finish()
}
