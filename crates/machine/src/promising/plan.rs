//! A run that somebody else has found, done again: messages are named by their timestamps, and the steps of the machine come out.
//!
//! Where the interval of a message begins follows from what it is: a read-modify-write begins where what it read ends, a write
//! inside an own
//! promise splits it, a promise says where it begins, and any other write touches nothing below it.
//!
//! Which bounds the run keeps is counted here, too, as `[AAGKV, 4]` counts: promises, view switches, and the switches of the
//! certifications
//! at context switches.

use super::certify::{Certified, Certifier, Consistency};
use super::confirm::{replay, wrong};
use super::memory::{Memory, Place};
use super::plain::{Plain, State};
use super::prepare::{domain_of, has_updates, needs_message_views, prepare, thread_config};
use super::search::{Act, Bounds, Move};
use super::thread::{Action, Threads};
use crate::code::{Code, Unsupported};
use crate::config::Config;
use crate::local::Local;
use crate::step::{Next, Steps};
use fencepost_answer::Finding;
use fencepost_ir::{Instr, Program, Property, Value, Width};

/// A timestamp: larger is newer; that of the initial message is 0. Those of writes that nobody compares with may be any that are
/// free.
pub type Key = u64;

/// A step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Planned {
    /// The next step of a thread.
    Step {
        /// The thread.
        thread: u32,
        /// The value that it chooses.
        choice: Value,
        /// A weak compare-exchange that fails for no reason.
        spurious: bool,
        /// The message that it reads; `None`: the newest.
        reads: Option<Key>,
        /// The timestamp of its message; `None`: behind all others.
        writes: Option<Key>,
        /// That message was promised.
        fulfils: bool,
    },
    /// A promise.
    Promise {
        /// Whose.
        thread: u32,
        /// The address of the cell, and its width.
        cell: (Value, Width),
        /// The value.
        value: Value,
        /// Where its interval begins, unless it splits another promise.
        from: Key,
        /// Its timestamp.
        to: Key,
        /// The message whose view it passes on.
        passes_on: Option<Key>,
    },
}

/// What a run came to.
pub struct Replayed {
    /// What is wrong at its end.
    pub finding: Option<Finding>,
    /// The observed values of a run to the end of all threads.
    pub observed: Option<Vec<Value>>,
    /// What it spent: promises and view switches.
    pub spent: (u16, u16),
}

/// Where the fences of a plan are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fences {
    /// Each is a step of the plan.
    AreSteps,
    /// They are not in the plan.
    BeforeSteps,
}

/// Does runs of one program again.
pub struct Replayer {
    prepared: Program,
    config: Config,
    consistency: Consistency,
    domain: Vec<Value>,
}

impl Replayer {
    /// For a program.
    pub fn new(program: &Program) -> Result<Replayer, Unsupported> {
        let prepared = prepare(program)?;
        let domain = domain_of(&prepared);
        Ok(Replayer { prepared, config: thread_config(), consistency: Consistency::Strong, domain })
    }

    /// By the standard notion of consistency, over these values, or over those that the program mentions.
    pub fn standard(mut self, domain: Option<Vec<Value>>) -> Replayer {
        self.consistency = Consistency::Standard;
        self.domain = domain.unwrap_or(self.domain);
        self
    }

    /// The values that a future memory may hold.
    pub fn domain(&self) -> &[Value] {
        &self.domain
    }

    /// Does a run again on the plain machine; an error says which step cannot be done, or which bound is broken.
    pub fn replay(&self, plan: &[Planned], bounds: Bounds) -> Result<Replayed, String> {
        self.replay_as(plan, bounds, Fences::AreSteps)
    }

    /// Does an interleaving again, whose plan has no steps for fences: each is passed right before the next step of its thread.
    pub fn replay_interleaving(&self, plan: &[Planned], bounds: Bounds) -> Result<Replayed, String> {
        self.replay_as(plan, bounds, Fences::BeforeSteps)
    }

    fn replay_as(&self, plan: &[Planned], bounds: Bounds, fences: Fences) -> Result<Replayed, String> {
        let code = Code::for_replay(&self.prepared).map_err(|e| e.what)?;
        let plain = Plain::new(&code, &self.config, self.consistency, &self.domain);
        let moves = moves(&code, &self.config, &plain, plan, fences)?;
        let (state, trace) = replay(&code, &plain, &moves)?;
        let spent = self.spent(&code, &moves)?;
        let over = |most: Option<u16>, used: u16| most.is_some_and(|most| used > most);
        if over(bounds.total, spent.0 + spent.1)
            || over(bounds.promises, spent.0)
            || over(bounds.views, spent.1)
        {
            return Err(format!("it spends {} promises and {} view switches", spent.0, spent.1));
        }
        let finding = wrong(&code, &plain, &state)
            .map(|(kind, message, place)| Finding { run: trace, ..Finding::new(kind, message, vec![place]) });
        let observed = match &self.prepared.property {
            Property::Final(condition) if ended(&state) => Some(plain.observed(&state, condition)),
            _ => None,
        };
        Ok(Replayed { finding, observed, spent })
    }

    /// What a run spends, by the canonical machine.
    fn spent(&self, code: &Code<'_>, moves: &[Move]) -> Result<(u16, u16), String> {
        let threads =
            Threads { steps: Steps { code, config: &self.config }, updates: has_updates(code.program) };
        let mut certifier = Certifier::new(threads, self.consistency, &self.domain);
        let synchronises = needs_message_views(code.program);
        let mut memory = Memory::new(code.initial_memory(), code.program.threads.len(), synchronises);
        let start = |(number, thread): (usize, &fencepost_ir::Thread)| {
            threads.steps.start(thread.function.0, &thread.args, number, &mut Vec::new())
        };
        let mut locals: Vec<Local> = code.program.threads.iter().enumerate().map(start).collect();
        let (mut promises, mut views, mut active) = (0, 0, None);
        for step in moves {
            let thread = usize::from(step.thread);
            if let Some(before) = active.replace(thread)
                && before != thread
            {
                match certifier.certify(&locals[before], &memory, before) {
                    Certified::Yes(switches) => views += switches,
                    Certified::No | Certified::Limit => {
                        return Err("a thread cannot fulfil its promises".into());
                    }
                }
            }
            match &step.act {
                Act::Promise { cell, value, place, passes_on } => {
                    let length = memory.cells[*cell].len();
                    let place = unflip_place(*place, length);
                    let passed = passes_on.map(|number| (length - 1).saturating_sub(number));
                    let view = memory.published(thread, *cell, false, passed);
                    memory.insert(*cell, place, Some(*value), view, Some(step.thread));
                    promises += 1;
                }
                Act::Step(action) => match threads.steps.next(&locals[thread]) {
                    Next::Spawn(function, args) => {
                        let child = locals.len();
                        locals.push(threads.steps.start(function, &args, child, &mut Vec::new()));
                        memory.start(thread);
                        threads.steps.finish(
                            &mut locals[thread],
                            Value(child as u64),
                            false,
                            &mut Vec::new(),
                        );
                    }
                    Next::Join(other) => {
                        let other = other.0 as usize;
                        memory.join_thread(thread, other);
                        let result = match locals[other].status {
                            crate::local::Status::Ended(value) => value.unwrap_or_default(),
                            _ => Value::ZERO,
                        };
                        threads.steps.finish(&mut locals[thread], result, false, &mut Vec::new());
                    }
                    next => {
                        let length = cell_of(&next).map_or(0, |cell| memory.cells[cell].len());
                        let action = unflip(*action, length);
                        views += u16::from(threads.apply(
                            &mut locals[thread],
                            &mut memory,
                            thread,
                            action,
                            &mut Vec::new(),
                        ));
                    }
                },
            }
        }
        Ok((promises, views))
    }
}

fn ended(state: &State) -> bool {
    use crate::local::Status;
    state.processes.iter().all(|p| matches!(p.local.status, Status::Ended(_) | Status::Halted))
}

fn cell_of(next: &Next) -> Option<usize> {
    match next {
        Next::Load(cell) | Next::Await(cell) | Next::Update(cell) | Next::Store(cell, _) => {
            Some(cell.0 as usize)
        }
        _ => None,
    }
}

/// Numbers from the newest message become numbers from the oldest.
fn unflip_place(place: Place, length: usize) -> Place {
    let from_oldest = |number: usize| (length - 1).saturating_sub(number);
    match place {
        Place::Gap { after, adjacent } => Place::Gap { after: from_oldest(after), adjacent },
        Place::Fill { after, adjacent } => Place::Fill { after: from_oldest(after), adjacent },
        Place::Split(number) => Place::Split(from_oldest(number)),
        Place::Fulfil(number) => Place::Fulfil(from_oldest(number)),
    }
}

fn unflip(action: Action, length: usize) -> Action {
    match action {
        Action::Internal(value) => Action::Internal(value),
        Action::Read { message, spurious } => {
            Action::Read { message: (length - 1).saturating_sub(message), spurious }
        }
        Action::Write(place) => Action::Write(unflip_place(place, length)),
        Action::Update(message, place) => {
            Action::Update((length - 1).saturating_sub(message), unflip_place(place, length))
        }
    }
}

/// A message of the run so far.
#[derive(Clone, Copy)]
struct Placed {
    from: Key,
    to: Key,
    /// Whose promise it is.
    promised: Option<u32>,
}

/// The messages of each cell, oldest first.
struct Order(Vec<Vec<Placed>>);

impl Order {
    /// The number of a message from the newest.
    fn number(&self, cell: usize, key: Option<Key>) -> usize {
        key.map_or(0, |key| self.0[cell].iter().filter(|other| other.to > key).count())
    }

    /// Marks a promise as fulfilled; its number from the newest.
    fn fulfil(&mut self, cell: usize, key: Option<Key>) -> usize {
        if let Some(promise) = self.0[cell].iter_mut().find(|placed| Some(placed.to) == key) {
            promise.promised = None;
        }
        self.number(cell, key)
    }

    /// Adds a message of a thread, which splits an own promise if it is inside it. `from`: where it begins otherwise, unless that
    /// is of
    /// no interest; `promised`: it is a promise.
    fn add(
        &mut self,
        cell: usize,
        thread: u32,
        (from, to): (Option<Key>, Option<Key>),
        promised: bool,
    ) -> Place {
        let placed = &mut self.0[cell];
        let to = to.unwrap_or_else(|| placed.last().map_or(2, |last| last.to + 2));
        let at = placed.partition_point(|other| other.to < to);
        let above = placed.len() - at;
        let promised = promised.then_some(thread);
        if let Some(next) = placed.get_mut(at)
            && next.promised == Some(thread)
            && next.from < to
        {
            let from = std::mem::replace(&mut next.from, to);
            placed.insert(at, Placed { from, to, promised });
            return Place::Split(above - 1);
        }
        let from = from.unwrap_or(to - 1);
        let adjacent = at.checked_sub(1).is_some_and(|below| placed[below].to == from);
        let fills = placed.get(at).is_some_and(|next| next.from == to);
        placed.insert(at, Placed { from, to, promised });
        match fills {
            true => Place::Fill { after: above, adjacent },
            false => Place::Gap { after: above, adjacent },
        }
    }
}

/// The steps of the machine.
fn moves(
    code: &Code<'_>,
    config: &Config,
    plain: &Plain<'_>,
    plan: &[Planned],
    fences: Fences,
) -> Result<Vec<Move>, String> {
    let steps = Steps { code, config };
    let (mut state, _) = plain.start();
    let mut order = Order(vec![vec![Placed { from: 0, to: 0, promised: None }]; state.global.len()]);
    let mut moves = Vec::new();
    for (number, planned) in plan.iter().enumerate() {
        let refused = |why| format!("step {number} of {}: {why}", plan.len());
        if let (Planned::Step { thread, .. }, Fences::BeforeSteps) = (planned, fences) {
            let at_fence = |state: &State| {
                let process = state.processes.get(*thread as usize);
                process.is_some_and(|p| matches!(steps.instr(&p.local), Some(Instr::Fence(_))))
            };
            while at_fence(&state) {
                let step = Move { thread: *thread as u8, act: Act::Step(Action::Internal(Value::ZERO)) };
                plain.apply(&mut state, &step).map_err(refused)?;
                moves.push(step);
            }
        }
        let (thread, act) = match planned {
            Planned::Promise { thread, cell: (address, width), value, from, to, passes_on } => {
                let cell = code.cell(*address, *width).ok_or("a promise to no cell")?.0 as usize;
                let passes_on = passes_on.map(|key| order.number(cell, Some(key)));
                let place = order.add(cell, *thread, (Some(*from), Some(*to)), true);
                (*thread, Act::Promise { cell, value: *value, place, passes_on })
            }
            Planned::Step { thread, choice, spurious, reads, writes, fulfils } => {
                let process = state.processes.get(*thread as usize).ok_or("a thread that was not started")?;
                let place = |order: &mut Order, cell: usize, from: Option<Key>| match fulfils {
                    true => Place::Fulfil(order.fulfil(cell, *writes)),
                    false => order.add(cell, *thread, (from, *writes), false),
                };
                let action = match steps.next(&process.local) {
                    Next::Load(cell) | Next::Await(cell) => {
                        Action::Read { message: order.number(cell.0 as usize, *reads), spurious: false }
                    }
                    Next::Store(cell, _) => Action::Write(place(&mut order, cell.0 as usize, None)),
                    Next::Update(cell) => {
                        let cell = cell.0 as usize;
                        let message = order.number(cell, *reads);
                        let old = plain.value(&state, cell, message);
                        let written = old.is_some_and(|old| {
                            matches!(
                                steps.update(&process.local, old, *spurious),
                                crate::step::Update::Write(_)
                            )
                        });
                        let newest = order.0[cell].last().map(|last| last.to);
                        match written {
                            true => Action::Update(message, place(&mut order, cell, reads.or(newest))),
                            false => Action::Read { message, spurious: *spurious },
                        }
                    }
                    _ => Action::Internal(*choice),
                };
                (*thread, Act::Step(action))
            }
        };
        let step = Move { thread: thread as u8, act };
        plain.apply(&mut state, &step).map_err(refused)?;
        moves.push(step);
    }
    Ok(moves)
}
