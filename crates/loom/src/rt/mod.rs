//! What runs the threads of a model: coroutines, their memory, and what is known of what they have done.
//!
//! Everything of the library that a thread calls comes here: [`perform`] hands a step to the explorer and comes back with what it
//! gave, which may
//! be in another run of the program. Between two steps a thread runs alone.

#![allow(unsafe_code)]

pub mod heap;
pub mod plain;
pub mod shared;
mod watch;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use fencepost_answer::FindingKind;
use fencepost_explore::{At, Cell as Place, Do, Given, NativeStep, Past, Source};
use heap::{Arena, Stack, THREADS};
use plain::Plain;
use rustc_hash::FxHashMap;
use shared::Shared;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use watch::Watched;

pub use fencepost_ir::{Order, RmwOp, Width};

/// Where something is in the program.
pub type Here = &'static Location<'static>;

type Body = Box<dyn FnOnce()>;
/// A value, and what drops it.
type Slot = (*mut (), fn(*mut ()));
type Thread0 = Coroutine<Given, NativeStep, (), Stack>;

/// One thread of a run.
#[derive(Default)]
struct Thread {
    coroutine: Option<Box<Thread0>>,
    yielder: Option<*const Yielder<Given, NativeStep>>,
    /// What the threads run that it has started, until they begin.
    bodies: Vec<Option<Body>>,
    /// The threads that it has started.
    children: Vec<usize>,
    yields: bool,
    wrote: bool,
    /// How many steps it has made.
    steps: u32,
    /// What it wrote while it unwound, to be done when that is over.
    late: Vec<NativeStep>,
    /// Where it stands.
    here: Option<Here>,
    ended: bool,
    /// Values of `thread_local!`, in the order in which they were made.
    locals: Vec<(usize, Option<Box<dyn Any>>)>,
    /// Its name.
    name: Option<Arc<str>>,
}

/// What is known of an `Arc`.
#[derive(Debug)]
pub struct Count {
    /// Where it was made.
    pub here: Here,
    /// Whether its owners are counted step by step.
    pub is_counted: bool,
    /// When owners were dropped.
    pub dropped: Vec<At>,
}

/// A run of a program under test: all its threads, which go on when the explorer says so.
pub struct Run {
    pub(crate) shared: Arc<Shared>,
    program: Arc<dyn Fn() + Sync + Send>,
    pub(crate) arena: Arena,
    threads: Vec<Thread>,
    current: usize,
    past: Option<*const dyn Past>,
    epoch: u64,
    versions: FxHashMap<(u16, u32), u32>,
    statics: FxHashMap<usize, u32>,
    pub(crate) plain: Plain,
    /// What is initialised once per run, by the address of its static.
    once: FxHashMap<usize, Slot>,
    /// Values that nobody owns any more, and nobody was the last to drop.
    pub(crate) orphans: Vec<(Here, Box<dyn FnOnce()>)>,
    /// Reference counts, by the addresses of what they count.
    pub(crate) counts: FxHashMap<usize, Count>,
    /// Where what was made comes from that must be given back.
    pub(crate) owed: FxHashMap<usize, (&'static str, Here)>,
    /// An orphan is dropped that was made there.
    pub(crate) dropping: Option<Here>,
    pub(crate) panic: Option<(String, String)>,
    watched: Arc<Watched>,
}

thread_local! {
    static CURRENT: Cell<*mut Run> = const { Cell::new(null_mut()) };
}

/// Looks at the run in whose thread this is; nothing outside of models. What `look` takes memory for is none of the model's.
pub fn with<R>(look: impl FnOnce(&mut Run) -> R) -> Option<R> {
    let run = CURRENT.get();
    if run.is_null() {
        return None;
    }
    let region = heap::switch(null_mut());
    // SAFETY: the run is alive while one of its threads runs, which is the only one that does; `look` does not switch, and nobody
    // comes here from within it.
    let result = look(unsafe { &mut *run });
    heap::switch(region);
    Some(result)
}

/// Does something with memory that outlives the run.
pub fn outside<R>(work: impl FnOnce() -> R) -> R {
    struct Back(*mut heap::Region);
    impl Drop for Back {
        fn drop(&mut self) {
            heap::switch(self.0);
        }
    }
    let _back = Back(heap::switch(null_mut()));
    work()
}

/// Whether a thread of a model runs.
pub fn is_inside() -> bool {
    !CURRENT.get().is_null()
}

/// Whether accesses are steps here: in a model, unless the thread unwinds. The standard library counts panics by thread of the
/// system, so that no
/// other thread of the model may run meanwhile.
pub fn makes_steps() -> bool {
    is_inside() && !std::thread::panicking()
}

fn suspend(step: NativeStep) -> Given {
    let yielder = with(|run| run.threads[run.current].yielder).flatten();
    let Some(yielder) = yielder else { return Given::default() };
    // SAFETY: the yielder is on the stack of the coroutine that runs.
    unsafe { (*yielder).suspend(step) }
}

/// Makes a step, and comes back with what it gave.
pub fn perform(mut step: NativeStep, here: Here) -> Given {
    let late = with(|run| std::mem::take(&mut run.threads[run.current].late)).unwrap_or_default();
    for step in late {
        suspend(step);
    }
    let stop = with(|run| {
        let thread = &mut run.threads[run.current];
        (step.yields, step.wrote) = (std::mem::take(&mut thread.yields), std::mem::take(&mut thread.wrote));
        thread.here = Some(here);
        thread.steps += 1;
        if let Some(orphan) = run.dropping {
            // Somebody may wait for what the value does when it is dropped: its owners must be counted step by step.
            run.shared.count(orphan);
            return Some(NativeStep::new(Do::StartOver));
        }
        let most = run.shared.most_steps();
        (run.threads[run.current].steps > most).then(|| {
            let site =
                run.shared.site("a thread makes more steps than `max_branches` allows".into(), &[here]);
            NativeStep::new(Do::Cut(site))
        })
    })
    .flatten();
    if let Some(stop) = stop {
        loop {
            suspend(stop.clone());
        }
    }
    suspend(step)
}

/// Does a write of a thread that unwinds when that is over.
pub fn perform_late(step: NativeStep) {
    with(|run| {
        run.shared.unwound.store(true, Ordering::Relaxed);
        run.threads[run.current].late.push(step);
    });
}

/// A fence, where the model has such fences.
pub fn fence(order: Order, here: Here) {
    if makes_steps() && with(|run| run.shared.has_fence(order)) == Some(true) {
        perform(NativeStep::new(Do::Fence(order)), here);
    }
}

/// Owners of cells that lie in no thread's memory: statics, tokens of `park`, and the rest.
pub const STATICS: u16 = u16::MAX;
/// See [`STATICS`].
pub const TOKENS: u16 = u16::MAX - 1;
/// See [`STATICS`].
pub const ONCE: u16 = u16::MAX - 2;

/// Says that the thread waits for others.
pub fn waits() {
    with(|run| run.threads[run.current].yields = true);
}

/// Ends the run: something is wrong.
#[track_caller]
pub fn fail(kind: FindingKind, message: String, places: &[Here]) {
    if !makes_steps() {
        return;
    }
    let site = with(|run| run.shared.site(message, places)).unwrap_or_default();
    loop {
        suspend(NativeStep::new(Do::Fail(kind, site)));
    }
}

/// One of two, whichever.
pub fn choose(here: Here) -> bool {
    makes_steps() && perform(NativeStep::new(Do::Choose), here).chosen
}

/// Starts a thread; gives back its number.
pub fn spawn(body: Body, name: Option<Arc<str>>, here: Here) -> usize {
    with(|run| run.threads[run.current].bodies.push(Some(body)));
    let child = perform(NativeStep::new(Do::Spawn), here).value as usize;
    with(|run| {
        run.threads[run.current].children.push(child);
        run.thread(child).name = name;
    });
    child
}

/// Waits for the end of a thread.
pub fn join(thread: usize, here: Here) {
    if makes_steps() {
        perform(NativeStep::new(Do::Join(thread)), here);
    }
}

/// The number of the thread that runs.
pub fn current() -> usize {
    with(|run| run.current).unwrap_or_default()
}

/// The name of a thread.
pub fn name_of(thread: usize) -> Option<Arc<str>> {
    with(|run| run.thread(thread).name.clone()).flatten()
}

/// Memory was given back that lies in the memory of a model.
pub fn freed(address: usize) {
    let found = with(|run| run.free(address)).flatten();
    if let Some((kind, message, places)) = found {
        fail(kind, message, &places);
    }
}

/// Where the value of a static is in this run, by the address of the static.
pub fn slot_of(address: usize) -> Option<*mut ()> {
    if heap::is_inside(address) {
        return None;
    }
    with(|run| run.once.get(&address).map(|&(value, _)| value)).flatten()
}

/// The number of a static.
pub fn static_number(address: usize) -> u32 {
    with(|run| run.number(address)).unwrap_or_default()
}

/// Notes where the value of a static is in this run, and what drops it.
pub fn note_slot(address: usize, value: *mut (), drop: fn(*mut ())) {
    with(|run| run.once.insert(address, (value, drop)));
}

/// The exploration starts over: something was found out that should have been known.
pub fn start_over() {
    while makes_steps() {
        suspend(NativeStep::new(Do::StartOver));
    }
}

/// A value of `thread_local!`: found by its key, or made; nothing when it is gone.
pub fn local(key: usize, make: impl FnOnce() -> Box<dyn Any>) -> Option<*const dyn Any> {
    if !is_inside() {
        // Nobody knows how long it is needed.
        return Some(Box::leak(make()));
    }
    let find = || {
        with(|run| {
            let locals = &run.threads[run.current].locals;
            let known = locals.iter().find(|(k, _)| *k == key);
            known.map(|(_, value)| value.as_ref().map(|value| &raw const **value))
        })
        .flatten()
    };
    if let Some(found) = find() {
        return found;
    }
    let value = make();
    with(|run| run.threads[run.current].locals.push((key, Some(value))));
    find().flatten()
}

impl Run {
    /// Of a program, with what all workers share.
    pub fn new(program: Arc<dyn Fn() + Sync + Send>, shared: Arc<Shared>) -> Run {
        Run {
            shared,
            program,
            arena: Arena::new(),
            watched: Watched::new(),
            threads: Vec::new(),
            current: 0,
            past: None,
            epoch: 0,
            versions: FxHashMap::default(),
            statics: FxHashMap::default(),
            plain: Plain::default(),
            once: FxHashMap::default(),
            orphans: Vec::new(),
            counts: FxHashMap::default(),
            owed: FxHashMap::default(),
            dropping: None,
            panic: None,
        }
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// Where a thread stands.
    pub fn here(&self, thread: usize) -> Option<Here> {
        self.threads.get(thread).and_then(|t| t.here)
    }

    /// Whether a thread has come to its end.
    pub fn has_ended(&self, thread: usize) -> bool {
        self.threads.get(thread).is_some_and(|t| t.ended)
    }

    /// The thread that runs, between two of its events.
    pub fn now(&self) -> At {
        self.arena.regions[self.current].now
    }

    /// The graph, as long as a thread runs.
    pub(crate) fn past(&self) -> Option<&dyn Past> {
        // SAFETY: it is set while the explorer waits for a step, and only then.
        self.past.map(|past| unsafe { &*past })
    }

    fn number(&mut self, address: usize) -> u32 {
        let next = self.statics.len() as u32;
        *self.statics.entry(address).or_insert(next)
    }

    /// What identifies an atomic object in all runs. `id` lies in it, and goes where it goes.
    pub(crate) fn identify(&mut self, id: &Cell<[u64; 2]>, init: u64) -> Place {
        let address = &raw const *id as usize;
        let Some((owner, place)) = self.arena.place(address) else {
            // A static, or of before the model: workers share it.
            let place = self.number(address);
            return Place { owner: STATICS, place, version: 0, init };
        };
        let [epoch, known] = id.get();
        if epoch == self.epoch {
            let version = (known >> 32) as u32 & 0xffff;
            return Place { owner: (known >> 48) as u16, place: known as u32, version, init };
        }
        let versions = self.versions.entry((owner, place)).or_default();
        let version = *versions & 0xffff;
        *versions += 1;
        id.set([self.epoch, u64::from(owner) << 48 | u64::from(version) << 32 | u64::from(place)]);
        Place { owner, place, version, init }
    }

    /// Whether an atomic object has been accessed in this run; those outside of its memory may have been.
    pub(crate) fn knows(&self, id: &Cell<[u64; 2]>) -> bool {
        self.arena.place(&raw const *id as usize).is_none() || id.get()[0] == self.epoch
    }

    /// A cell of plain memory, by a number in this run.
    pub(crate) fn record_of(&mut self, id: &Cell<[u64; 2]>) -> Option<usize> {
        self.arena.place(&raw const *id as usize)?;
        let [epoch, known] = id.get();
        if epoch == self.epoch {
            return Some(known as usize);
        }
        let record = self.plain.add(&raw const *id as usize);
        id.set([self.epoch, record as u64]);
        Some(record)
    }

    /// Notes that the running thread has written plain memory.
    pub(crate) fn note_write(&mut self) {
        self.threads[self.current].wrote = true;
    }

    fn create(&mut self, thread: usize, body: Body) {
        let stack = self.arena.regions[thread].stack();
        let work = move |yielder: &Yielder<Given, NativeStep>, _| {
            with(|run| run.threads[thread].yielder = Some(yielder));
            run_thread(body);
        };
        let coroutine = Box::new(Thread0::with_stack(stack, work));
        self.thread(thread).coroutine = Some(coroutine);
    }

    /// Lets a thread run up to its next step.
    fn resume(&mut self, past: &dyn Past, at: At, given: Given) -> NativeStep {
        let thread = at.thread as usize;
        self.current = thread;
        self.arena.regions[thread].now = at;
        // SAFETY: only the lifetime changes; it is taken back before `past` ends.
        self.past =
            Some(unsafe { std::mem::transmute::<*const dyn Past, *const (dyn Past + 'static)>(past) });
        let Some(mut coroutine) = self.threads[thread].coroutine.take() else {
            return NativeStep::new(Do::Fail(FindingKind::Unsupported, 0));
        };
        let region = &raw mut self.arena.regions[thread];
        let outer = CURRENT.replace(self);
        let before = heap::switch(region);
        self.watched.begin(thread, self.threads[thread].here);
        let result = coroutine.resume(given);
        self.watched.end();
        heap::switch(before);
        CURRENT.set(outer);
        self.past = None;
        self.threads[thread].coroutine = Some(coroutine);
        match result {
            CoroutineResult::Yield(step) => {
                self.threads[thread].ended |= step.what == Do::End;
                step
            }
            CoroutineResult::Return(()) => NativeStep::new(Do::End),
        }
    }

    fn forget(&mut self) {
        for thread in &mut self.threads {
            if let Some(coroutine) = &mut thread.coroutine {
                // SAFETY: what is left on its stack is in the memory of the run, which is forgotten as a whole; what it has of
                // the
                // system's memory is leaked by nobody, since the model takes none.
                unsafe { coroutine.force_reset() };
            }
            // These lie in the memory of the run, too.
            thread.bodies.drain(..).for_each(std::mem::forget);
            thread.locals.drain(..).for_each(std::mem::forget);
        }
        self.threads.clear();
        self.orphans.drain(..).for_each(std::mem::forget);
        self.once.clear();
        self.owed.clear();
        self.counts.clear();
        self.dropping = None;
        self.versions.clear();
        self.plain.clear();
        self.panic = None;
        self.arena.reset();
    }

    /// What is wrong with giving back the memory there.
    fn free(&mut self, address: usize) -> Option<(FindingKind, String, Vec<Here>)> {
        let now = self.now();
        let here = self.threads[self.current].here;
        let block = self.arena.block(address)?;
        let (start, size) = (address, block.size as usize);
        if block.freed.replace(now).is_some() {
            let message = "memory is given back twice".to_string();
            return Some((FindingKind::DoubleFree, message, here.into_iter().collect()));
        }
        if self.plain.may_be_counted(start, size) {
            return None;
        }
        let past = self.past?;
        // SAFETY: see `past`.
        let past = unsafe { &*past };
        let (kind, place) = self.plain.unordered_in(past, start, size, now)?;
        let message = format!("memory is given back while {kind} may still come");
        Some((FindingKind::UseAfterFree, message, [Some(place), here].into_iter().flatten().collect()))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.forget();
    }
}

/// What a coroutine does: the thread's function, and then what every thread does at its end.
fn run_thread(body: Body) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        body();
        loop {
            // In the order of the standard library: the last one first, and what these make again.
            let local = with(|run| {
                let locals = &mut run.threads[run.current].locals;
                locals.iter_mut().rev().find_map(|(_, value)| value.take())
            });
            let Some(Some(local)) = local else { break };
            drop(local);
        }
        if current() == 0 {
            end_of_model();
        }
    }));
    if let Err(payload) = result {
        // It lies in the memory of the run.
        let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        std::mem::forget(payload);
        let known = with(|run| run.panic.take()).flatten();
        let (message, place) = known.unwrap_or_default();
        let message = text.unwrap_or(message);
        with(|run| run.threads[run.current].late.clear());
        let site = with(|run| run.shared.site_at(format!("panicked: {message}"), place)).unwrap_or_default();
        loop {
            suspend(NativeStep::new(Do::Fail(FindingKind::Assertion, site)));
        }
    }
    let here = with(|run| run.threads[run.current].here).flatten().unwrap_or(Location::caller());
    loop {
        perform(NativeStep::new(Do::End), here);
    }
}

/// The main thread waits for all others, drops what nobody owns any more, and looks what nobody has given back.
#[track_caller]
fn end_of_model() {
    let here = Location::caller();
    let mut waited = vec![];
    // Those whom the threads have started that are known.
    let mut known = with(|run| run.threads[0].children.clone()).unwrap_or_default();
    while let Some(thread) = known.pop() {
        if !waited.contains(&thread) {
            waited.push(thread);
            perform(NativeStep::new(Do::Join(thread)), here);
            known.extend(with(|run| run.threads[thread].children.clone()).unwrap_or_default());
        }
    }
    loop {
        let next = with(|run| {
            run.orphans.sort_by_key(|(here, _)| (here.file(), here.line(), here.column()));
            let (here, drop) = run.orphans.pop()?;
            run.dropping = Some(here);
            Some(drop)
        })
        .flatten();
        let Some(drop) = next else { break };
        drop();
        with(|run| run.dropping = None);
    }
    loop {
        let next = with(|run| {
            let first = run.once.keys().min().copied()?;
            run.once.remove(&first)
        });
        let Some(Some((value, drop))) = next else { break };
        drop(value);
    }
    let left = with(|run| {
        let mut left: Vec<_> = run.owed.values().copied().collect();
        left.sort_by_key(|(what, here)| (here.file(), here.line(), here.column(), *what));
        left.first().copied()
    })
    .flatten();
    if let Some((what, here)) = left {
        fail(FindingKind::Leak, format!("{what} is never given back"), &[here]);
    }
}

// SAFETY: a run is used by one thread at a time; its coroutines know nothing of the thread that they run on but what is switched
// with them.
unsafe impl Send for Run {}

impl Source for Run {
    fn restart(&mut self) {
        self.forget();
        self.epoch = shared::next_epoch();
        self.shared.runs.fetch_add(1, Ordering::Relaxed);
    }

    fn start(&mut self, past: &dyn Past, thread: usize, parent: Option<(usize, u32)>) -> NativeStep {
        if thread >= THREADS {
            let site = self.shared.site(format!("more than {THREADS} threads"), &[]);
            return NativeStep::new(Do::Fail(FindingKind::Unsupported, site));
        }
        let body = match parent {
            None => {
                let program = self.program.clone();
                Some(Box::new(move || program()) as Body)
            }
            Some((parent, number)) => {
                self.threads[parent].bodies.get_mut(number as usize).and_then(Option::take)
            }
        };
        let Some(body) = body else { return NativeStep::new(Do::Fail(FindingKind::Unsupported, 0)) };
        self.thread(thread);
        self.create(thread, body);
        self.resume(past, At { thread: thread as u16, index: 0 }, Given::default())
    }

    fn step(&mut self, past: &dyn Past, at: At, given: Given) -> NativeStep {
        self.resume(past, at, given)
    }

    fn departed(&mut self, thread: usize) -> u32 {
        let here = self.here(thread);
        let message = "a thread does something else when it is run again, although it has seen the same: \
                       does the program look at the time, at random numbers, at addresses, or at what an \
                       earlier run has left in a static?";
        self.shared.site(message.into(), here.as_slice())
    }

    fn is_spent(&self) -> bool {
        self.shared.anew.load(Ordering::Relaxed)
    }
}
