//! The machine as `[ABP, 2]` writes it down: one memory, one local configuration per thread, one move at a time. No rows,
//! no caches, no sharing between states. It replays the runs that the search reports to tell them, and is the
//! oracle of the tests; whether a run is believed is decided by `stepper`.

use crate::buffers::{Action, Move};
use crate::code::{CellId, Code};
use crate::config::Config;
use crate::local::{Entry, FaultKind, Local, Status};
use crate::step::{Executed, Next, Steps, Update};
use fencepost_ir::{FinalCondition, Observable, Value};

/// A global configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Memory by cell.
    pub memory: Vec<Option<Value>>,
    /// Threads by number.
    pub threads: Vec<Local>,
    active: Option<u8>,
    rounds: Vec<u32>,
}

/// What a move did, for reports.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// Instructions that were executed, in order.
    pub executed: Vec<Executed>,
    /// A store that reached memory from the buffer.
    pub flushed: Option<(CellId, Value)>,
    /// The cell that the first instruction accessed.
    pub cell: Option<CellId>,
    /// The value that the first instruction read, chose or stored.
    pub value: Option<Value>,
    /// What the first instruction wrote to memory itself.
    pub wrote: Option<Value>,
    /// What a thread that the first instruction started did before anybody could notice.
    pub started: Vec<Executed>,
}

/// Replays moves.
pub struct Plain<'c> {
    steps: Steps<'c>,
}

impl<'c> Plain<'c> {
    /// For a program and a machine.
    pub fn new(code: &'c Code<'c>, config: &'c Config) -> Plain<'c> {
        Plain { steps: Steps { code, config } }
    }

    /// The initial configuration.
    pub fn initial(&self) -> State {
        self.start().0
    }

    /// The initial configuration, and what each thread did before anybody could notice.
    pub fn start(&self) -> (State, Vec<Vec<Executed>>) {
        let code = self.steps.code;
        let mut logs = vec![Vec::new(); code.program.threads.len()];
        let pairs = code.program.threads.iter().zip(&mut logs);
        let threads =
            pairs.enumerate().map(|(i, (t, log))| self.steps.start(t.function.0, &t.args, i, log)).collect();
        let rounds = vec![0; code.max_threads];
        (State { memory: code.initial_memory(), threads, active: None, rounds }, logs)
    }

    /// Does a move, or says why it cannot be done.
    pub fn apply(&self, state: &mut State, step: Move) -> Result<Effect, &'static str> {
        let t = usize::from(step.thread);
        if t >= state.threads.len() {
            return Err("there is no such thread");
        }
        let holder = state.threads.iter().position(|local| local.critical);
        if holder.is_some_and(|holder| holder != t) {
            return Err("another thread is in an atomic section");
        }
        self.schedule(state, t)?;
        match step.action {
            Action::Flush(index) => self.flush(state, t, index),
            Action::Step { choice, spurious } => self.step(state, t, choice, spurious),
        }
    }

    fn schedule(&self, state: &mut State, t: usize) -> Result<(), &'static str> {
        if state.active == Some(t as u8) {
            return Ok(());
        }
        let config = self.steps.config;
        if let (Some(most), Some(before)) = (config.age, state.active) {
            for entry in &mut state.threads[usize::from(before)].buffer {
                if let Entry::Store { age, .. } = entry {
                    *age += 1;
                    if *age > most {
                        return Err("a store gets too old");
                    }
                }
            }
        }
        state.active = Some(t as u8);
        state.rounds[t] += 1;
        match config.rounds.is_some_and(|most| state.rounds[t] > most) {
            true => Err("the thread has no round left"),
            false => Ok(()),
        }
    }

    fn flush(&self, state: &mut State, t: usize, index: usize) -> Result<Effect, &'static str> {
        let local = &mut state.threads[t];
        if !local.flushable(self.steps.config.model).contains(&index) {
            return Err("that store cannot reach memory yet");
        }
        let (cell, value) = local.take_entry(index).ok_or("there is no such store")?;
        state.memory[cell.0 as usize] = Some(value);
        let mut executed = Vec::new();
        self.steps.settle(local, &mut executed);
        let flushed = Some((cell, value));
        Ok(Effect { executed, flushed, cell: None, value: None, wrote: None, started: Vec::new() })
    }

    fn step(
        &self,
        state: &mut State,
        t: usize,
        choice: Value,
        spurious: bool,
    ) -> Result<Effect, &'static str> {
        let mut executed = Vec::new();
        let (mut fault, mut wrote, mut started) = (None, None, Vec::new());
        if spurious && !self.steps.may_fail(&state.threads[t]) {
            return Err("that instruction does not fail for no reason");
        }
        let next = self.steps.next(&state.threads[t]);
        let cell = match next {
            Next::Load(cell)
            | Next::Await(cell)
            | Next::Release(cell)
            | Next::Store(cell, _)
            | Next::Buffer(cell, _)
            | Next::Update(cell) => Some(cell),
            _ => None,
        };
        let input = match next {
            Next::Idle => return Err("the thread cannot move"),
            Next::Wait => return Err("the thread waits for its buffer"),
            Next::Load(cell) => {
                let value = state.threads[t].forwarded(cell).or(state.memory[cell.0 as usize]);
                let value = self.steps.reads(&state.threads[t], value);
                fault = value.is_none().then_some(FaultKind::Uninitialised);
                value.unwrap_or_default()
            }
            Next::Await(cell) => {
                let value = state.threads[t].forwarded(cell).or(state.memory[cell.0 as usize]);
                let value = self.steps.reads(&state.threads[t], value);
                fault = value.is_none().then_some(FaultKind::Uninitialised);
                if value.is_some_and(|value| !self.steps.ends_wait(&state.threads[t], value)) {
                    return Err("the thread waits for another value");
                }
                value.unwrap_or_default()
            }
            Next::Release(cell) => {
                let local = &state.threads[t];
                let held = local.forwarded(cell).or(state.memory[cell.0 as usize]);
                match self.steps.reads(local, held) {
                    None => fault = Some(FaultKind::Uninitialised),
                    Some(held) if held != self.steps.owner(local) => fault = Some(FaultKind::Misuse),
                    Some(_) if !self.steps.is_buffering(local) => {
                        wrote = Some(Value::ZERO);
                        state.memory[cell.0 as usize] = wrote;
                    }
                    Some(_) => {}
                }
                Value::ZERO
            }
            Next::Store(cell, value) => {
                wrote = Some(value);
                state.memory[cell.0 as usize] = wrote;
                value
            }
            Next::Buffer(_, value) => value,
            Next::Enter => Value::ZERO,
            Next::Update(cell) => {
                let old = self.steps.reads(&state.threads[t], state.memory[cell.0 as usize]);
                fault = old.is_none().then_some(FaultKind::Uninitialised);
                if let Some(old) = old {
                    match self.steps.update(&state.threads[t], old, spurious) {
                        Update::Blocked => return Err("the thread waits for another value"),
                        Update::Keep => {}
                        Update::Misuse => fault = Some(FaultKind::Misuse),
                        Update::Write(value) => {
                            wrote = Some(value);
                            state.memory[cell.0 as usize] = wrote;
                        }
                    }
                }
                old.unwrap_or_default()
            }
            Next::Choose(first, last) => match (first..=last).contains(&choice.as_i64()) {
                true => choice,
                false => return Err("the choice is out of range"),
            },
            Next::Spawn(function, args) if state.threads.len() < self.steps.code.max_threads => {
                let child = self.steps.start(function, &args, state.threads.len(), &mut started);
                state.threads.push(child);
                Value(state.threads.len() as u64 - 1)
            }
            Next::Spawn(..) => {
                fault = Some(FaultKind::TooManyThreads);
                Value::ZERO
            }
            Next::Join(thread) => match state.threads.get(thread.0 as usize) {
                None => {
                    fault = Some(FaultKind::BadJoin);
                    Value::ZERO
                }
                Some(other) => match other.status {
                    Status::Ended(result) if other.buffer.is_empty() => result.unwrap_or_default(),
                    _ => return Err("the other thread has not ended"),
                },
            },
        };
        let local = &mut state.threads[t];
        match fault {
            Some(kind) => local.status = Status::Failed(kind),
            None => self.steps.finish(local, input, spurious, &mut executed),
        }
        Ok(Effect { executed, flushed: None, cell, value: Some(input), wrote, started })
    }

    /// True if nothing can happen any more but what changes nothing.
    pub fn is_stuck(&self, state: &State) -> bool {
        (0..state.threads.len()).all(|t| {
            let choice = match self.steps.next(&state.threads[t]) {
                Next::Choose(first, _) => Value::from_i64(first),
                _ => Value::ZERO,
            };
            let flush = !state.threads[t].buffer.is_empty();
            let step = Move { thread: t as u8, action: Action::Step { choice, spurious: false } };
            let mut after = state.clone();
            let moved = self.apply(&mut after, step).is_ok();
            !flush && (!moved || (&after.memory, &after.threads) == (&state.memory, &state.threads))
        })
    }

    /// The values that a final condition observes.
    pub fn observed(&self, state: &State, condition: &FinalCondition) -> Vec<Value> {
        let value = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => {
                state.threads[thread.0 as usize].frames[0].regs[reg.0 as usize]
            }
            Observable::Memory { object, offset, width } => {
                let cell = self.steps.code.cell(Value::pointer(object, offset), width);
                let value = cell.and_then(|cell| state.memory[cell.0 as usize]).unwrap_or_default();
                width.sign_extend(value)
            }
        };
        condition.observed.iter().map(value).collect()
    }
}
