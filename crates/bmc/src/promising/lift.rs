//! From a model of the clauses to a run: which thread does what when, which message it reads and where in its cell a message
//! goes.

use super::encode::Encoding;
use super::promises::Promise;
use crate::aig::{Lit, Values};
use crate::symbolic::{CellId, Event, EventId, EventKind, Fault, InstanceId, Step, Unrolled};
use fencepost_ir::{Value, Width};
use rustc_hash::FxHashMap;

/// A timestamp as a number: larger is newer. That of the initial message is the smallest.
pub type Place = u64;

/// The initial message of a cell.
pub const INITIAL: Place = 0;

/// The distance of two timestamps of the formula. Messages that have none lie in the upper half of what is between.
const STEP: Place = 1 << 32;
/// Behind all timestamps.
const BEHIND: Place = 1 << 60;

/// The place of a timestamp of the formula.
fn at(stamp: usize) -> Place {
    stamp as Place * STEP
}

/// The place of a write without a timestamp below a message with one.
fn below(stamp: usize, event: EventId) -> Place {
    at(stamp) - STEP / 2 + apart(event)
}

/// Numbers of writes, such that no two of them touch.
fn apart(event: EventId) -> Place {
    4 * Place::from(event.0)
}

/// A step of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Planned {
    /// The next step of a thread.
    Step {
        /// The thread, numbered in the order in which threads are started.
        thread: u32,
        /// The value that it chooses; zero otherwise.
        choice: Value,
        /// A weak compare-exchange that fails for no reason.
        spurious: bool,
        /// The message that it reads; none for memory of the thread alone.
        reads: Option<Place>,
        /// Where its message goes.
        writes: Option<Place>,
        /// That message was promised.
        fulfils: bool,
    },
    /// A promise.
    Promise {
        /// Whose.
        thread: u32,
        /// The object of the cell.
        object: u32,
        /// Its place there.
        offset: u32,
        /// Its width.
        width: Width,
        /// The value.
        value: Value,
        /// Where its interval begins, unless it splits another promise of its thread.
        from: Place,
        /// Where the message goes.
        to: Place,
        /// The message whose view it passes on: a read-modify-write will fulfil it.
        passes_on: Option<Place>,
    },
}

/// A run, to be done again on the machine.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// Its steps.
    pub moves: Vec<Planned>,
    /// View switches, those of certifications included.
    pub views: u32,
    /// Promises.
    pub promises: u32,
}

/// The run up to a fault, or to its end.
pub fn lift(unrolled: &Unrolled, encoding: &Encoding, values: &Values, fault: Option<&Fault>) -> Run {
    let from_start =
        unrolled.threads.iter().filter(|t| t.spawned.is_none() && t.copy_of.is_none()).count() as u32;
    let number = |t: u32| (t < from_start).then_some(t);
    let threads = unrolled.threads.len();
    let mut lifter = Lifter {
        unrolled,
        encoding,
        values,
        places: places(unrolled, encoding, values),
        items: (0..threads as u32).map(|t| items(unrolled, values, InstanceId(t))).collect(),
        next: vec![0; threads],
        numbers: (0..threads as u32).map(number).collect(),
        started: from_start,
        seen: vec![FxHashMap::default(); threads],
        global: FxHashMap::default(),
        moves: Vec::new(),
        made: Vec::new(),
    };
    lifter.run(fault);
    Run {
        moves: lifter.moves,
        views: encoding.views.evaluate(values) as u32,
        promises: encoding.promises.evaluate(values) as u32,
    }
}

/// Something that a thread does.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// In front of this event of the thread, or it itself.
    index: u32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Step(usize),
    Fence(EventId),
}

fn items(unrolled: &Unrolled, values: &Values, id: InstanceId) -> Vec<Item> {
    let thread = &unrolled.threads[id.0 as usize];
    let mut items = Vec::new();
    let done = |(_, step): &(usize, &Step)| values.of(step.guard);
    for (number, step) in thread.steps.iter().enumerate().filter(done) {
        items.push(Item { index: step.events_before, what: What::Step(number) });
    }
    for event in thread.events.clone() {
        let this = &unrolled.events[event as usize];
        if matches!(this.kind, EventKind::Fence(_)) && values.of(this.guard) {
            items.push(Item { index: event - thread.events.start, what: What::Fence(EventId(event)) });
        }
    }
    // Steps in front of a fence were noted before it; the sort is stable.
    items.sort_by_key(|item| (item.index, matches!(item.what, What::Fence(_))));
    items
}

struct Lifter<'u> {
    unrolled: &'u Unrolled,
    encoding: &'u Encoding,
    values: &'u Values,
    /// Where the messages of writes go, as far as that is known beforehand.
    places: FxHashMap<EventId, Place>,
    items: Vec<Vec<Item>>,
    next: Vec<usize>,
    numbers: Vec<Option<u32>>,
    started: u32,
    seen: Vec<FxHashMap<CellId, Place>>,
    global: FxHashMap<CellId, Place>,
    moves: Vec<Planned>,
    /// Slots of promises that are made.
    made: Vec<usize>,
}

/// Where the messages of one thread go.
struct Placing<'u> {
    values: &'u Values,
    places: FxHashMap<EventId, Place>,
    /// Per cell: writes that have no place so far, oldest first.
    open: FxHashMap<CellId, Vec<EventId>>,
}

impl Placing<'_> {
    /// The newest open write gets the timestamp if it is settled; the others come right below it.
    fn give(&mut self, cell: CellId, stamp: usize, settles: bool) {
        let mut waiting = self.open.remove(&cell).unwrap_or_default();
        if settles && let Some(last) = waiting.pop() {
            self.places.insert(last, at(stamp));
        }
        for event in waiting {
            self.places.insert(event, below(stamp, event));
        }
    }

    /// Timestamps that are given in front of an event of the thread.
    fn settle(&mut self, encoding: &Encoding, thread: InstanceId, index: u32) {
        let here = encoding.settled.iter().filter(|s| s.thread == thread && s.before == index);
        for settled in here.filter(|settled| self.values.of(settled.dirty)) {
            let stamp = settled.stamp.evaluate(self.values);
            self.give(encoding.cells[settled.cell], stamp, true);
        }
    }

    fn event(&mut self, encoding: &Encoding, id: EventId, event: &Event) {
        let record = &encoding.records[id.0 as usize];
        let is = |lit: &Lit| self.values.of(*lit);
        let (true, Some(cell), Some(seen)) =
            (record.done.as_ref().is_some_and(is), cell_of(event, self.values), &record.seen)
        else {
            return;
        };
        let stamp = seen.stamp.evaluate(self.values);
        let placed = record.placed.as_ref().is_some_and(is);
        if record.reads.iter().any(is) || placed {
            self.give(cell, stamp, false);
        }
        match event.kind {
            EventKind::Write { .. } if placed => drop(self.places.insert(id, at(stamp))),
            EventKind::Write { .. } => self.open.entry(cell).or_default().push(id),
            _ => {}
        }
    }
}

/// Where the message of each write goes: by its timestamp, by the one that it got later, or below the next one of its thread.
fn places(unrolled: &Unrolled, encoding: &Encoding, values: &Values) -> FxHashMap<EventId, Place> {
    let mut placing = Placing { values, places: FxHashMap::default(), open: FxHashMap::default() };
    for (t, thread) in (0u32..).map(InstanceId).zip(&unrolled.threads) {
        if thread.copy_of.is_some() {
            continue;
        }
        for (index, number) in (0..).zip(thread.events.clone()) {
            placing.settle(encoding, t, index);
            placing.event(encoding, EventId(number), &unrolled.events[number as usize]);
        }
        placing.settle(encoding, t, thread.events.len() as u32);
        // What is left nobody compares with anything; it comes below the promises that its thread has still to fulfil.
        let left: Vec<(CellId, Vec<EventId>)> = placing.open.drain().collect();
        for (cell, event) in left.into_iter().flat_map(|(c, events)| events.into_iter().map(move |e| (c, e)))
        {
            let seen = encoding.records[event.0 as usize].seen.as_ref();
            let seen = seen.map_or(0, |seen| seen.stamp.evaluate(values));
            let own = encoding.promised.iter().filter(|promise| promise.of == t);
            let own =
                own.filter(|promise| values.of(promise.made()) && is_at(encoding, values, promise, cell));
            let stamps = own.map(|promise| promise.stamp.evaluate(values)).filter(|stamp| *stamp > seen);
            let place = stamps.min().map_or(BEHIND + apart(event), |stamp| below(stamp, event));
            placing.places.insert(event, place);
        }
    }
    placing.places
}

/// True if a promise is of that cell.
fn is_at(encoding: &Encoding, values: &Values, promise: &Promise, cell: CellId) -> bool {
    promise.cell.iter().zip(&encoding.cells).any(|(is, shared)| *shared == cell && values.of(*is))
}

/// The cell that an access touches.
fn cell_of(event: &Event, values: &Values) -> Option<CellId> {
    match &event.kind {
        EventKind::Read { access, .. } | EventKind::Write { access, .. } => match access.cells.as_slice() {
            [(only, _)] => Some(*only),
            several => several.iter().find(|(_, chosen)| values.of(*chosen)).map(|(cell, _)| *cell),
        },
        _ => None,
    }
}

/// True if an event is what a step does.
fn is_of(event: &Event, step: &Step) -> bool {
    Some(event.unit) == step.unit && (event.function, event.pc) == (step.function, step.pc)
}

impl Lifter<'_> {
    /// Slot by slot; a thread moves only when it has to, so that there are few context switches.
    fn run(&mut self, fault: Option<&Fault>) {
        let until = match fault {
            Some(fault) => self.time_of(fault),
            None => self.encoding.slots.count(),
        };
        for slot in 1..=until {
            self.fill(slot);
        }
        match fault {
            Some(fault) => self.advance(fault.thread, |item| match item.what {
                What::Step(step) => step < fault.steps_before as usize,
                What::Fence(_) => item.index < fault.events_before,
            }),
            None => {
                for t in 0..self.items.len() as u32 {
                    if self.unrolled.threads[t as usize].copy_of.is_none() {
                        self.advance(InstanceId(t), |_| true);
                    }
                }
            }
        }
    }

    /// The newest slot that the thread knows when something goes wrong in it.
    fn time_of(&self, fault: &Fault) -> usize {
        let first = self.unrolled.threads[fault.thread.0 as usize].events.start;
        let before = (first..first + fault.events_before).rev();
        let mut done = before.map(|event| &self.encoding.records[event as usize]);
        let last = done.find(|record| record.done.is_some_and(|done| self.values.of(done)));
        let own = last.and_then(|record| record.time.as_ref()).map_or(0, |time| time.evaluate(self.values));
        // A thread that was just started knows what its parent knew.
        match (last, self.unrolled.threads[fault.thread.0 as usize].spawned) {
            (None, Some(_)) => self.encoding.slots.count(),
            _ => own,
        }
    }

    fn fill(&mut self, slot: usize) {
        let values = self.values;
        let of = |(number, record): (usize, &super::encode::Record)| {
            record.fills.get(slot - 1).is_some_and(|lit| values.of(*lit)).then_some(EventId(number as u32))
        };
        if let Some(event) = self.encoding.records.iter().enumerate().find_map(of) {
            let thread = self.unrolled.events[event.0 as usize].thread;
            let index = event.0 - self.unrolled.threads[thread.0 as usize].events.start;
            self.advance(thread, |item| item.index <= index);
            self.stay(thread, index);
            return;
        }
        let promises = &self.encoding.promised;
        let Some(number) = promises.iter().position(|promise| promise.slot.evaluate(values) == slot) else {
            return;
        };
        let promise = &promises[number];
        let place = promise.before.iter().take_while(|lit| values.of(**lit)).count() as u32;
        self.advance(promise.of, |item| item.index < place);
        self.promise(number);
        if !values.of(promise.leaves)
            && let Some(next) = self.next_step(promise.of, place)
        {
            self.advance(promise.of, |item| item.index <= next);
            self.stay(promise.of, next);
        }
    }

    /// A thread with open promises goes on where it stands, until it leaves or has another slot to fill.
    fn stay(&mut self, thread: InstanceId, mut index: u32) {
        loop {
            let event = EventId(self.unrolled.threads[thread.0 as usize].events.start + index);
            // Both halves of a read-modify-write are one step.
            let mut stands = self.encoding.stands.iter().filter(|stand| stand.of == thread);
            let Some(stand) = stands.find(|stand| stand.event >= event) else { return };
            if !self.values.of(stand.open) || self.values.of(stand.leaves) {
                return;
            }
            let first = self.unrolled.threads[thread.0 as usize].events.start;
            let Some(next) = self.next_step(thread, stand.event.0 + 1 - first) else { return };
            self.advance(thread, |item| item.index <= next);
            index = next;
        }
    }

    /// The next event of a thread that is done, if neither it nor a promise before it takes a slot.
    fn next_step(&self, thread: InstanceId, from: u32) -> Option<u32> {
        let instance = &self.unrolled.threads[thread.0 as usize];
        let record = |index: u32| self.encoding.records.get((instance.events.start + index) as usize);
        let is = |lit: &Lit| self.values.of(*lit);
        let length = instance.events.len() as u32;
        let next =
            (from..length).find(|&index| record(index).is_some_and(|r| r.done.as_ref().is_some_and(is)))?;
        let halves = [next, (next + 1).min(length - 1)];
        let fills = halves.iter().any(|&index| record(index).is_some_and(|r| r.fills.iter().any(is)));
        let promised = self.encoding.promised.iter().filter(|promise| promise.of == thread).any(|promise| {
            let place = promise.before.iter().take_while(|lit| is(lit)).count() as u32;
            is(&promise.made())
                && place >= from
                && place <= next
                && !self.made.contains(&promise.slot.evaluate(self.values))
        });
        (!fills && !promised).then_some(next)
    }

    fn promise(&mut self, number: usize) {
        let promise = &self.encoding.promised[number];
        let cell = promise.cell.iter().position(|is| self.values.of(*is)).unwrap_or(0);
        let info = &self.unrolled.cells[self.encoding.cells[cell].0 as usize];
        let to = at(promise.stamp.evaluate(self.values));
        // Only read-modify-writes ask what touches.
        let from = if self.encoding.updated[cell] { self.begin(number, cell) } else { to - 1 };
        self.made.push(promise.slot.evaluate(self.values));
        let Some(thread) = self.numbers[promise.of.0 as usize] else { return };
        self.moves.push(Planned::Promise {
            thread,
            object: info.object,
            offset: info.offset,
            width: info.width,
            value: promise.value.evaluate(self.values),
            from,
            to,
            passes_on: self.passes_on(number),
        });
    }

    /// The message that a read-modify-write passes on when it fulfils the promise: the one that it reads, or what that one passes
    /// on if the
    /// thread writes it later, too.
    fn passes_on(&self, number: usize) -> Option<Place> {
        let promise = &self.encoding.promised[number];
        let first = self.unrolled.threads[promise.of.0 as usize].events.start;
        let mut by = promise.fulfilled.iter().find(|(_, lit)| self.values.of(*lit))?.0;
        loop {
            let EventKind::Write { rmw: Some(read), .. } = self.unrolled.events[by.0 as usize].kind else {
                return None;
            };
            let seen = self.encoding.records[read.0 as usize].seen.as_ref()?;
            let place = at(seen.stamp.evaluate(self.values));
            let cell = cell_of(&self.unrolled.events[by.0 as usize], self.values);
            let own = self.places.iter().find(|&(&event, &other)| {
                let this = &self.unrolled.events[event.0 as usize];
                other == place && this.thread == promise.of && cell_of(this, self.values) == cell
            });
            match own {
                Some((&event, _)) if !self.values.of(promise.before[(event.0 - first) as usize]) => {
                    by = event
                }
                _ => return Some(place),
            }
        }
    }

    /// Where the interval of a promise begins: at the newest message below that is not a later one of its thread.
    fn begin(&self, number: usize, cell: usize) -> Place {
        let (values, encoding) = (self.values, self.encoding);
        let promise = &encoding.promised[number];
        let to = at(promise.stamp.evaluate(values));
        let mut others = vec![INITIAL];
        for (&event, &place) in &self.places {
            let this = &self.unrolled.events[event.0 as usize];
            let index = event.0 - self.unrolled.threads[this.thread.0 as usize].events.start;
            let record = &encoding.records[event.0 as usize];
            let fulfils = record.fulfils.iter().any(|lit| values.of(*lit));
            let later = this.thread == promise.of && !values.of(promise.before[index as usize]);
            if cell_of(this, values) == Some(encoding.cells[cell]) && !later && !fulfils {
                others.push(place);
            }
        }
        for (other, earlier) in encoding.promised.iter().enumerate() {
            let later = earlier.of == promise.of && other > number;
            if other != number && !later && values.of(earlier.made()) && values.of(earlier.cell[cell]) {
                others.push(at(earlier.stamp.evaluate(values)));
            }
        }
        others.into_iter().filter(|place| *place < to).max().unwrap_or(INITIAL)
    }

    /// Lets a thread go on, and first what it has to wait for.
    fn advance(&mut self, thread: InstanceId, wanted: impl Fn(&Item) -> bool) {
        let t = thread.0 as usize;
        if self.numbers[t].is_none() {
            self.start(thread);
        }
        while let Some(&item) = self.items[t].get(self.next[t]).filter(|item| wanted(item)) {
            if !self.is_alive(t, item) {
                return;
            }
            match item.what {
                What::Fence(event) => {
                    self.earlier_fences(event);
                    self.next[t] += 1;
                    self.fence(t, event);
                }
                What::Step(step) => {
                    let step = &self.unrolled.threads[t].steps[step];
                    for (child, named) in &step.joins {
                        if self.values.of(*named) && *child != thread {
                            self.advance_all(*child);
                        }
                    }
                    self.next[t] += 1;
                    self.step(t, step);
                }
            }
        }
    }

    fn advance_all(&mut self, thread: InstanceId) {
        self.advance(thread, |_| true);
    }

    /// The thread comes to an item. A step that is no event, such as an assertion, is done where the event before it is.
    fn is_alive(&self, t: usize, item: Item) -> bool {
        let thread = &self.unrolled.threads[t];
        let event = thread.events.start + item.index;
        let is_event = event < thread.events.end
            && match item.what {
                What::Fence(_) => true,
                What::Step(step) => {
                    let step = &thread.steps[step];
                    step.spawns.is_some()
                        || !step.joins.is_empty()
                        || is_of(&self.unrolled.events[event as usize], step)
                }
            };
        match (is_event, item.index.checked_sub(1)) {
            (true, _) => self.values.of(self.encoding.alive[event as usize]),
            (false, Some(before)) => {
                self.values.of(self.encoding.alive[(thread.events.start + before) as usize])
            }
            (false, None) => true,
        }
    }

    fn start(&mut self, thread: InstanceId) {
        let is_spawn = |event: &Event| matches!(event.kind, EventKind::Spawn(child) if child == thread);
        let Some(number) = self.unrolled.events.iter().position(is_spawn) else { return };
        let parent = self.unrolled.events[number].thread;
        let index = number as u32 - self.unrolled.threads[parent.0 as usize].events.start;
        self.advance(parent, |item| item.index <= index);
    }

    fn earlier_fences(&mut self, event: EventId) {
        let position = |(_, position): &(EventId, &super::unary::Unary)| position.evaluate(self.values);
        let all: Vec<(EventId, usize)> =
            self.encoding.fences.positions().map(|fence| (fence.0, position(&fence))).collect();
        let Some(&(_, mine)) = all.iter().find(|(fence, _)| *fence == event) else { return };
        let mut earlier: Vec<_> = all.into_iter().filter(|(_, at)| (1..mine).contains(at)).collect();
        earlier.sort_by_key(|(_, at)| *at);
        for (fence, _) in earlier {
            let thread = self.unrolled.events[fence.0 as usize].thread;
            let index = fence.0 - self.unrolled.threads[thread.0 as usize].events.start;
            self.advance(thread, |item| item.index <= index);
        }
    }

    fn fence(&mut self, t: usize, event: EventId) {
        if super::encode::is_fence(&self.unrolled.events[event.0 as usize]) {
            for (cell, place) in &mut self.global {
                let own = self.seen[t].entry(*cell).or_insert(INITIAL);
                *own = (*own).max(*place);
            }
            self.global.clone_from(&self.seen[t]);
        }
        self.push(t, Value::ZERO, false, (None, None, false));
    }

    fn push(
        &mut self,
        t: usize,
        choice: Value,
        spurious: bool,
        (reads, writes, fulfils): (Option<Place>, Option<Place>, bool),
    ) {
        if let Some(thread) = self.numbers[t] {
            self.moves.push(Planned::Step { thread, choice, spurious, reads, writes, fulfils });
        }
    }

    fn step(&mut self, t: usize, step: &Step) {
        let choice = step.choice.as_ref().map_or(Value::ZERO, |word| word.evaluate(self.values));
        let first = self.unrolled.threads[t].events.start + step.events_before;
        let (mut reads, mut writes, mut fulfils) = (None, None, false);
        for number in first..self.unrolled.threads[t].events.end {
            let event = &self.unrolled.events[number as usize];
            if !is_of(event, step) {
                break;
            }
            let record = &self.encoding.records[number as usize];
            let Some(cell) = cell_of(event, self.values) else { break };
            if !record.done.is_some_and(|done| self.values.of(done)) {
                continue;
            }
            let seen = self.seen[t].entry(cell).or_insert(INITIAL);
            match event.kind {
                EventKind::Read { .. } => {
                    // What has a timestamp is named by it: the thread may have learnt of it from another message.
                    if let Some(read) = record.seen.as_ref().filter(|read| !self.values.of(read.dirty)) {
                        *seen = at(read.stamp.evaluate(self.values));
                    }
                    reads = Some(*seen);
                }
                EventKind::Write { .. } => {
                    *seen = self.places.get(&EventId(number)).copied().unwrap_or(INITIAL);
                    writes = Some(*seen);
                    fulfils = record.fulfils.iter().any(|lit| self.values.of(*lit));
                }
                _ => {}
            }
        }
        self.push(t, choice, self.values.of(step.spurious), (reads, writes, fulfils));
        if let Some(child) = step.spawns {
            self.numbers[child.0 as usize] = Some(self.started);
            self.started += 1;
            self.seen[child.0 as usize] = self.seen[t].clone();
        }
        for (child, _) in step.joins.iter().filter(|(_, named)| self.values.of(*named)) {
            for (cell, place) in self.seen[child.0 as usize].clone() {
                let own = self.seen[t].entry(cell).or_insert(INITIAL);
                *own = (*own).max(place);
            }
        }
    }
}
