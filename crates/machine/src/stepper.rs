//! A run done again, by code of its own.
//!
//! What the search reports is believed only if this stepper can follow it and finds something wrong at its end. It shares the
//! IR and the words for bounds ([`Config`]) with the search, and nothing else: no numbered cells, no interned parts, no step
//! functions, no live registers. It is slow and small: one memory by address, one stack and one buffer per thread, in the
//! order of the program.
//!
//! A turn is a step of one thread or a store that reaches memory `[ABP, 2]`. A thread's own computations, and stores into a
//! buffer whose age nobody counts, belong to the turn before them.

use crate::config::{Config, Model};
use fencepost_answer::FindingKind;
use fencepost_diag::Span;
use fencepost_ir::{
    Accesses, Callee, FailKind, Fence, FinalCondition, Instr, Kernel, Observable, Operand, Order, Program,
    Property, Quantifier, Reg, Rvalue, Value, Width,
};
use std::collections::BTreeMap;

/// Most computations of a thread between two turns.
const MOST_LOCAL: u32 = 1 << 20;
/// Most threads; as many as the search has room for.
const MOST_THREADS: usize = crate::code::MAX_THREADS;

/// What happens in a turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    /// The next instruction of the thread that others can notice.
    Step {
        /// What it chooses, if it does.
        choice: Value,
        /// A weak compare-exchange fails for no reason.
        spurious: bool,
    },
    /// A store of the thread reaches memory: where to, and what.
    Flush(Value, Value),
}

/// A turn of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turn {
    /// Whose.
    pub thread: usize,
    /// What.
    pub action: Action,
}

/// What is wrong at the end of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Wrong {
    /// The kind.
    pub kind: FindingKind,
    /// In words.
    pub message: String,
    /// The thread, if one is to blame.
    pub thread: Option<u32>,
    /// Where it stands.
    pub span: Span,
}

/// Follows a run of a program. The error says which turn is none, or that nothing is wrong at the end.
pub fn follow(program: &Program, config: &Config, turns: &[Turn]) -> Result<Wrong, String> {
    let stepper = Stepper { program, config };
    let mut world = stepper.start();
    for (number, turn) in turns.iter().enumerate() {
        stepper.turn(&mut world, turn).map_err(|why| format!("step {}: {why}", number + 1))?;
    }
    stepper.wrong(&world).ok_or_else(|| "nothing is wrong at its end".into())
}

#[derive(Clone, PartialEq, Debug)]
enum Pending {
    Store { address: Value, value: Value, age: u32 },
    Barrier,
}

#[derive(Clone, PartialEq, Debug)]
enum State {
    Running,
    /// A loop that does nothing.
    Turning,
    /// An assumption is false, or a loop has no iteration left: the run does not count.
    Left,
    Ended(Value),
    Halted,
    Wrong(FindingKind, String),
    /// What the machine has no room for.
    GaveUp,
}

#[derive(Clone, PartialEq, Debug)]
struct Frame {
    function: usize,
    pc: usize,
    regs: Vec<Value>,
}

#[derive(Clone, PartialEq, Debug)]
struct Thread {
    frames: Vec<Frame>,
    buffer: Vec<Pending>,
    atomic: bool,
    state: State,
}

#[derive(Clone, PartialEq, Debug)]
struct World {
    memory: BTreeMap<Value, Option<Value>>,
    threads: Vec<Thread>,
    active: Option<usize>,
    rounds: Vec<u32>,
}

struct Stepper<'p> {
    program: &'p Program,
    config: &'p Config,
}

type Done = Result<(), String>;

impl<'p> Stepper<'p> {
    fn start(&self) -> World {
        let mut memory = BTreeMap::new();
        for (number, object) in (0..).zip(&self.program.objects) {
            for cell in &object.cells {
                let address = Value::pointer(fencepost_ir::ObjectId(number), cell.offset);
                memory.insert(address, cell.init.map(|value| cell.width.zero_extend(value)));
            }
        }
        let mut world = World { memory, threads: Vec::new(), active: None, rounds: Vec::new() };
        for thread in &self.program.threads {
            self.begin(&mut world, thread.function.0 as usize, &thread.args);
        }
        world
    }

    fn begin(&self, world: &mut World, function: usize, args: &[Value]) {
        let frames = vec![self.frame(function, args)];
        world.threads.push(Thread { frames, buffer: Vec::new(), atomic: false, state: State::Running });
        world.rounds.push(0);
        self.compute(world, world.threads.len() - 1);
    }

    fn frame(&self, function: usize, args: &[Value]) -> Frame {
        let declared = &self.program.functions[function];
        let mut regs = vec![Value::ZERO; declared.regs.len()];
        let wanted = args.len().min(declared.params as usize).min(regs.len());
        regs[..wanted].copy_from_slice(&args[..wanted]);
        Frame { function, pc: 0, regs }
    }

    /// One turn.
    fn turn(&self, world: &mut World, turn: &Turn) -> Done {
        let t = turn.thread;
        if t >= world.threads.len() {
            return Err("there is no such thread".into());
        }
        if world.threads.iter().enumerate().any(|(other, thread)| other != t && thread.atomic) {
            return Err("another thread is in an atomic section".into());
        }
        self.give_turn(world, t)?;
        match turn.action {
            Action::Flush(address, value) => self.flush(world, t, address, value)?,
            Action::Step { choice, spurious } => self.step(world, t, choice, spurious)?,
        }
        self.compute(world, t);
        Ok(())
    }

    /// Rounds and ages `[ABP, 2.4 and 4]`.
    fn give_turn(&self, world: &mut World, t: usize) -> Done {
        if world.active == Some(t) {
            return Ok(());
        }
        if let (Some(most), Some(before)) = (self.config.age, world.active) {
            for pending in &mut world.threads[before].buffer {
                if let Pending::Store { age, .. } = pending {
                    *age += 1;
                    if *age > most {
                        return Err("a store gets too old".into());
                    }
                }
            }
        }
        world.active = Some(t);
        world.rounds[t] += 1;
        match self.config.rounds.is_some_and(|most| world.rounds[t] > most) {
            true => Err("the thread has no round left".into()),
            false => Ok(()),
        }
    }

    /// The oldest store of all (TSO), or the oldest to its cell before a barrier (PSO).
    fn flush(&self, world: &mut World, t: usize, address: Value, value: Value) -> Done {
        let buffer = &mut world.threads[t].buffer;
        let same = |pending: &Pending| matches!(pending, Pending::Store { address: a, .. } if *a == address);
        let at = buffer.iter().position(same).ok_or("there is no such store")?;
        let barrier = buffer[..at].contains(&Pending::Barrier);
        if barrier || at > 0 && self.config.model != Model::Pso {
            return Err("an older store comes first".into());
        }
        if !matches!(buffer[at], Pending::Store { value: v, .. } if v == value) {
            return Err("the store has another value".into());
        }
        buffer.remove(at);
        while buffer.first() == Some(&Pending::Barrier) {
            buffer.remove(0);
        }
        world.memory.insert(address, Some(value));
        Ok(())
    }

    /// The next instruction, which others can notice.
    fn step(&self, world: &mut World, t: usize, choice: Value, spurious: bool) -> Done {
        let thread = &world.threads[t];
        let Some(instr) = self.instr(thread).filter(|_| thread.state == State::Running) else {
            return Err("the thread cannot move".into());
        };
        if spurious && !matches!(instr, Instr::CompareExchange { weak: true, .. }) {
            return Err("that instruction does not fail for no reason".into());
        }
        let value = |operand| self.value(thread, operand);
        let drained = thread.buffer.is_empty();
        match instr {
            Instr::Load { dst, addr, width, extend, .. }
            | Instr::CopyLoad { dst, addr, width, extend, .. } => {
                let atomic = matches!(instr, Instr::Load { ann, .. } if ann.order != Order::Plain);
                let copies = matches!(instr, Instr::CopyLoad { .. });
                let kept = matches!(instr, Instr::CopyLoad { keeps: true, .. });
                match self.read(world, t, value(*addr)) {
                    Some(Value::UNDEFINED) if atomic => {
                        return self.fail(world, t, FindingKind::Uninitialised, UNINITIALISED);
                    }
                    Some(Value::UNDEFINED) | None if copies && !kept => {
                        self.set(world, t, Some(*dst), Value::ZERO);
                    }
                    Some(read) => self.set(world, t, Some(*dst), width.extend(*extend, read)),
                    None if kept => self.set(world, t, Some(*dst), Value::UNDEFINED),
                    None => return self.fail(world, t, FindingKind::Uninitialised, UNINITIALISED),
                }
            }
            Instr::Await { dst, addr, width, extend, until, .. } => {
                let read = self.read(world, t, value(*addr)).filter(|read| *read != Value::UNDEFINED);
                let Some(read) = read else {
                    return self.fail(world, t, FindingKind::Uninitialised, UNINITIALISED);
                };
                if !until.op.apply(*width, read, value(until.operand)).is_some_and(|v| v.is_true()) {
                    return Err("the thread waits for another value".into());
                }
                self.set(world, t, *dst, width.extend(*extend, read));
            }
            Instr::Store { addr, value: stored, width, .. } => {
                let (address, stored) = (value(*addr), width.zero_extend(value(*stored)));
                self.store(world, t, address, stored, false)?;
            }
            Instr::Unlock(addr) => {
                let address = value(*addr);
                if self.config.c {
                    match self.read(world, t, address) {
                        None | Some(Value::UNDEFINED) => {
                            return self.fail(world, t, FindingKind::Uninitialised, UNINITIALISED);
                        }
                        Some(held) if held != self.owner(t) => {
                            return self.fail(world, t, FindingKind::Misuse, NOT_OWNER);
                        }
                        Some(_) => {}
                    }
                }
                self.store(world, t, address, Value::ZERO, true)?;
            }
            Instr::Nondet { dst, first, last } => match (*first..=*last).contains(&choice.as_i64()) {
                true => self.set(world, t, Some(*dst), choice),
                false => return Err("the choice is out of range".into()),
            },
            Instr::Join { thread: joined, dst } => {
                let joined = usize::try_from(value(*joined).0).ok().and_then(|n| world.threads.get(n));
                let result = match joined {
                    None => return self.fail(world, t, FindingKind::Misuse, NO_THREAD),
                    Some(Thread { state: State::Ended(result), buffer, .. }) if buffer.is_empty() => *result,
                    Some(_) => return Err("the other thread has not ended".into()),
                };
                self.set(world, t, *dst, result);
            }
            Instr::Spawn { dst, callee, args } => {
                if self.config.spawn_fences && !drained {
                    return Err("the thread waits for its buffer".into());
                }
                let function = self.callee(thread, callee).ok_or("no function to start")?;
                let args: Vec<Value> = args.iter().map(|&arg| value(arg)).collect();
                if world.threads.len() >= MOST_THREADS.max(self.program.threads.len()) {
                    world.threads[t].state = State::GaveUp;
                    return Ok(());
                }
                let number = Value(world.threads.len() as u64);
                self.begin(world, function, &args);
                self.set(world, t, *dst, number);
            }
            _ if !drained => return Err("the thread waits for its buffer".into()),
            Instr::AtomicBegin => world.threads[t].atomic = true,
            _ => return self.update(world, t, instr, spurious),
        }
        self.advance(world, t);
        Ok(())
    }

    /// An instruction that reads and perhaps writes a cell in one step.
    fn update(&self, world: &mut World, t: usize, instr: &Instr, spurious: bool) -> Done {
        let thread = &world.threads[t];
        let value = |operand| self.value(thread, operand);
        let (Instr::Rmw { addr, .. }
        | Instr::AwaitRmw { addr, .. }
        | Instr::CompareExchange { addr, .. }
        | Instr::Lock(addr)
        | Instr::TryLock { addr, .. }) = instr
        else {
            return Err("the thread cannot move".into());
        };
        let address = value(*addr);
        let old = world.memory.get(&address).copied().flatten().filter(|old| *old != Value::UNDEFINED);
        let Some(old) = old else {
            return self.fail(world, t, FindingKind::Uninitialised, UNINITIALISED);
        };
        let blocked = || Err("the thread waits for another value".into());
        // What is written, and which registers get what.
        let (written, results): (Option<Value>, [(Option<Reg>, Value); 2]) = match instr {
            Instr::Rmw { dst, width, extend, op, operand, .. } => {
                let new = op.apply(*width, old, value(*operand));
                (Some(new), [(*dst, width.extend(*extend, old)), (None, Value::ZERO)])
            }
            Instr::AwaitRmw { dst, width, extend, op, operand, until, .. } => {
                if !until.op.apply(*width, old, value(until.operand)).is_some_and(|v| v.is_true()) {
                    return blocked();
                }
                let new = op.apply(*width, old, value(*operand));
                (Some(new), [(*dst, width.extend(*extend, old)), (None, Value::ZERO)])
            }
            Instr::CompareExchange { dst, success, width, extend, expected, desired, .. } => {
                let succeeds = width.zero_extend(value(*expected)) == old && !spurious;
                let new = succeeds.then(|| width.zero_extend(value(*desired)));
                (new, [(*dst, width.extend(*extend, old)), (*success, Value(u64::from(succeeds)))])
            }
            Instr::TryLock { dst, .. } => {
                let free = old == Value::ZERO;
                (free.then(|| self.owner(t)), [(Some(*dst), Value(u64::from(free))), (None, Value::ZERO)])
            }
            _ if old == Value::ZERO => (Some(self.owner(t)), [(None, Value::ZERO); 2]),
            _ if self.config.c && Width::W32.sign_extend(old).as_i64() < 0 => {
                return self.fail(world, t, FindingKind::Misuse, MISUSE);
            }
            _ => return blocked(),
        };
        if let Some(new) = written {
            world.memory.insert(address, Some(new));
        }
        for (reg, result) in results {
            self.set(world, t, reg, result);
        }
        self.advance(world, t);
        Ok(())
    }

    /// Into the buffer, or to memory where there is none: under SC and in an atomic section.
    fn store(&self, world: &mut World, t: usize, address: Value, value: Value, releases: bool) -> Done {
        let thread = &mut world.threads[t];
        if !self.is_buffering(thread) {
            world.memory.insert(address, Some(value));
            return Ok(());
        }
        if !self.has_room(thread) {
            return Err("the buffer is full".into());
        }
        // A mutex is released after everything before it, also where stores may overtake each other.
        if releases && self.config.model == Model::Pso {
            self.barrier(thread);
        }
        thread.buffer.push(Pending::Store { address, value, age: 0 });
        Ok(())
    }

    fn barrier(&self, thread: &mut Thread) {
        if !thread.buffer.is_empty() {
            thread.buffer.push(Pending::Barrier);
        }
    }

    fn is_buffering(&self, thread: &Thread) -> bool {
        self.config.model != Model::Sc && !thread.atomic
    }

    fn has_room(&self, thread: &Thread) -> bool {
        let stores = thread.buffer.iter().filter(|pending| **pending != Pending::Barrier).count();
        self.config.buffer.is_none_or(|bound| stores < bound as usize)
    }

    fn read(&self, world: &World, t: usize, address: Value) -> Option<Value> {
        let own = world.threads[t].buffer.iter().rev().find_map(|pending| match pending {
            Pending::Store { address: a, value, .. } if *a == address => Some(*value),
            _ => None,
        });
        own.or_else(|| world.memory.get(&address).copied().flatten())
    }

    fn owner(&self, t: usize) -> Value {
        Value(if self.config.c { t as u64 + 1 } else { 1 })
    }

    fn instr(&self, thread: &Thread) -> Option<&'p Instr> {
        let frame = thread.frames.last()?;
        self.program.functions[frame.function].body.get(frame.pc)
    }

    fn value(&self, thread: &Thread, operand: Operand) -> Value {
        match operand {
            Operand::Const(value) => value,
            Operand::Reg(reg) => thread.frames.last().map_or(Value::ZERO, |frame| frame.regs[reg.0 as usize]),
        }
    }

    fn set(&self, world: &mut World, t: usize, reg: Option<Reg>, value: Value) {
        if let (Some(reg), Some(frame)) = (reg, world.threads[t].frames.last_mut()) {
            frame.regs[reg.0 as usize] = value;
        }
    }

    fn advance(&self, world: &mut World, t: usize) {
        if let Some(frame) = world.threads[t].frames.last_mut() {
            frame.pc += 1;
        }
    }

    fn fail(&self, world: &mut World, t: usize, kind: FindingKind, message: &str) -> Done {
        world.threads[t].state = State::Wrong(kind, message.into());
        Ok(())
    }

    /// Everything that only the thread itself can notice.
    fn compute(&self, world: &mut World, t: usize) {
        let (mut count, mut mark) = (0u32, None);
        while world.threads[t].state == State::Running && self.local(world, t) {
            count += 1;
            if count >= 1024 {
                // A loop that comes back to where it was will do so again.
                if mark.as_ref() == Some(&world.threads[t]) {
                    world.threads[t].state = State::Turning;
                } else if count.is_power_of_two() {
                    mark = Some(world.threads[t].clone());
                }
                if count > MOST_LOCAL {
                    world.threads[t].state = State::GaveUp;
                }
            }
        }
    }

    /// One instruction, if only the thread itself can notice it.
    fn local(&self, world: &mut World, t: usize) -> bool {
        let thread = &mut world.threads[t];
        let Some(instr) = self.instr(thread) else {
            self.leave(thread, Value::ZERO);
            return true;
        };
        if let Some((kind, message)) = self.bad_access(thread, instr) {
            thread.state = State::Wrong(kind, message.into());
            return true;
        }
        let mut next = thread.frames.last().map_or(0, |frame| frame.pc) + 1;
        match instr {
            Instr::Assign { dst, value } => match self.rvalue(thread, value) {
                Some(value) => self.set(world, t, Some(*dst), value),
                None => thread.state = State::Wrong(FindingKind::DivisionByZero, "division by zero".into()),
            },
            Instr::Jump(to) => next = to.0 as usize,
            Instr::Branch { condition, then_to, else_to } => {
                next = if self.value(thread, *condition).is_true() { then_to.0 } else { else_to.0 } as usize;
            }
            Instr::Fence(fence) => match effect(self.config.model, *fence) {
                Effect::Drain if !thread.buffer.is_empty() => return false,
                Effect::Barrier => self.barrier(thread),
                Effect::Drain | Effect::Nothing => {}
            },
            Instr::Call { callee, args, .. } => {
                let args: Vec<Value> = args.iter().map(|&arg| self.value(thread, arg)).collect();
                match self.callee(thread, callee) {
                    _ if thread.frames.len() >= crate::step::MAX_FRAMES => thread.state = State::GaveUp,
                    Some(function) => thread.frames.push(self.frame(function, &args)),
                    None => thread.state = State::Wrong(FindingKind::BadCall, NO_FUNCTION.into()),
                }
                return true;
            }
            Instr::Return(value) => {
                let value = value.map_or(Value::ZERO, |operand| self.value(thread, operand));
                self.leave(thread, value);
                return true;
            }
            Instr::Exit(value) => {
                let value = value.map_or(Value::ZERO, |operand| self.value(thread, operand));
                thread.frames.truncate(1);
                thread.state = State::Ended(value);
                return true;
            }
            Instr::Halt => thread.state = State::Halted,
            Instr::Round(_) => {}
            Instr::Assume(condition) if self.value(thread, *condition).is_true() => {}
            Instr::Assume(_) | Instr::Cut => thread.state = State::Left,
            Instr::Assert { condition, .. } if self.value(thread, *condition).is_true() => {}
            Instr::Defined(value) if self.value(thread, *value) != Value::UNDEFINED => {}
            Instr::Defined(_) => {
                thread.state = State::Wrong(FindingKind::Uninitialised, UNINITIALISED.into())
            }
            Instr::Assert { kind, message, .. } | Instr::Fail { kind, message } => {
                thread.state = match kind {
                    FailKind::Unsupported => State::GaveUp,
                    FailKind::Assertion => {
                        State::Wrong(FindingKind::Assertion, with("assertion failed", message))
                    }
                    FailKind::Misuse => State::Wrong(FindingKind::Misuse, with(MISUSE, message)),
                };
            }
            Instr::ObjectSize { dst, addr } => match self.object_size(self.value(thread, *addr)) {
                Some(size) => self.set(world, t, Some(*dst), size),
                None => thread.state = State::Wrong(FindingKind::BadPointer, NO_POINTER.into()),
            },
            Instr::SelfThread { dst } => self.set(world, t, Some(*dst), Value(t as u64)),
            Instr::AtomicBegin if thread.atomic => {}
            Instr::AtomicEnd if thread.atomic => thread.atomic = false,
            Instr::AtomicEnd => thread.state = State::Wrong(FindingKind::Misuse, NOT_BEGUN.into()),
            Instr::Spawn { callee, .. } if self.callee(thread, callee).is_none() => {
                thread.state = State::Wrong(FindingKind::BadCall, NO_FUNCTION.into());
            }
            Instr::Store { .. } | Instr::Unlock(_) => {
                let checked = self.config.c && matches!(instr, Instr::Unlock(_));
                let at_once = self.is_buffering(thread) && self.config.age.is_none() && self.has_room(thread);
                if checked || !at_once {
                    return false;
                }
                // `step` moves on by itself.
                return self.step(world, t, Value::ZERO, false).is_ok();
            }
            _ => return false,
        }
        if world.threads[t].state == State::Running
            && let Some(frame) = world.threads[t].frames.last_mut()
        {
            frame.pc = next;
        }
        true
    }

    fn leave(&self, thread: &mut Thread, value: Value) {
        if thread.frames.len() == 1 {
            thread.state = State::Ended(value);
            return;
        }
        thread.frames.pop();
        let dst = match self.instr(thread) {
            Some(Instr::Call { dst, .. }) => *dst,
            _ => None,
        };
        if let Some(frame) = thread.frames.last_mut() {
            if let Some(reg) = dst {
                frame.regs[reg.0 as usize] = value;
            }
            frame.pc += 1;
        }
    }

    fn callee(&self, thread: &Thread, callee: &Callee) -> Option<usize> {
        let number = match callee {
            Callee::Function(function) => function.0 as usize,
            Callee::Pointer(pointer) => match self.value(thread, *pointer) {
                Value::ZERO => return None,
                value => value.as_function().map_or(usize::try_from(value.0).ok()?, |f| f.0 as usize),
            },
        };
        (number < self.program.functions.len()).then_some(number)
    }

    fn rvalue(&self, thread: &Thread, value: &Rvalue) -> Option<Value> {
        let get = |operand| self.value(thread, operand);
        Some(match *value {
            Rvalue::Use(a) => get(a),
            Rvalue::Unary(op, width, extend, a) => width.extend(extend, op.apply(width, get(a))),
            Rvalue::Binary(op, width, extend, a, b) => width.extend(extend, op.apply(width, get(a), get(b))?),
            Rvalue::Select(condition, a, b) => get(if get(condition).is_true() { a } else { b }),
        })
    }

    fn object_size(&self, address: Value) -> Option<Value> {
        match address {
            Value::ZERO => Some(Value::ZERO),
            _ => Some(Value(u64::from(self.program.objects.get(address.as_pointer()?.0.0 as usize)?.size))),
        }
    }

    /// What is wrong with the address that an instruction accesses.
    fn bad_access(&self, thread: &Thread, instr: &Instr) -> Option<(FindingKind, &'static str)> {
        let (addr, widths): (Operand, &[Width]) = match instr {
            Instr::Load { addr, width, .. }
            | Instr::CopyLoad { addr, width, .. }
            | Instr::Store { addr, width, .. }
            | Instr::Await { addr, width, .. }
            | Instr::Rmw { addr, width, .. }
            | Instr::AwaitRmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. } => (*addr, std::slice::from_ref(width)),
            Instr::Lock(addr) | Instr::Unlock(addr) | Instr::TryLock { addr, .. } => {
                (*addr, &[Width::W32, Width::W64])
            }
            _ => return None,
        };
        let address = self.value(thread, addr);
        let Some((object, offset)) = address.as_pointer() else {
            return Some(match address.0 < 4096 {
                true => (FindingKind::NullPointer, "access through a null pointer"),
                false => (FindingKind::BadPointer, NO_POINTER),
            });
        };
        let Some(object) = self.program.objects.get(object.0 as usize) else {
            return Some((FindingKind::BadPointer, NO_POINTER));
        };
        if object.cells.iter().any(|cell| cell.offset == offset && widths.contains(&cell.width)) {
            let writes = matches!(
                instr,
                Instr::Store { .. }
                    | Instr::Rmw { .. }
                    | Instr::AwaitRmw { .. }
                    | Instr::CompareExchange { .. }
            );
            let constant = object.constant && writes;
            return constant.then_some((FindingKind::Constant, "write to a constant object"));
        }
        Some(match u64::from(offset) + u64::from(widths[0].bytes()) > u64::from(object.size) {
            true => (FindingKind::OutOfBounds, "access outside the object"),
            false => (FindingKind::MixedSize, "accesses of different sizes overlap"),
        })
    }

    fn span(&self, thread: &Thread) -> Span {
        let frame = thread.frames.last();
        let span = frame.and_then(|frame| self.program.functions[frame.function].spans.get(frame.pc));
        span.copied().unwrap_or_default()
    }

    /// What is wrong at the end of a run.
    fn wrong(&self, world: &World) -> Option<Wrong> {
        for (t, thread) in (0..).zip(&world.threads) {
            if let State::Wrong(kind, message) = &thread.state {
                let (thread, span) = (Some(t), self.span(thread));
                return Some(Wrong { kind: *kind, message: message.clone(), thread, span });
            }
        }
        let ended = |thread: &Thread| matches!(thread.state, State::Ended(_)) && thread.buffer.is_empty();
        if let Property::Final(condition) = &self.program.property
            && world.threads.iter().all(ended)
            && self.violates(world, condition)
        {
            let message = "a final state violates the condition".into();
            return Some(Wrong {
                kind: FindingKind::Assertion,
                message,
                thread: None,
                span: Span::default(),
            });
        }
        self.waits_for_ever(world)
    }

    fn violates(&self, world: &World, condition: &FinalCondition) -> bool {
        let observe = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => {
                world.threads[thread.0 as usize].frames[0].regs[reg.0 as usize]
            }
            Observable::Memory { object, offset, width } => {
                let value = world.memory.get(&Value::pointer(object, offset)).copied().flatten();
                width.sign_extend(value.unwrap_or(Value::ZERO))
            }
        };
        let state: Vec<Value> = condition.observed.iter().map(observe).collect();
        condition.filter.as_ref().is_none_or(|filter| filter.holds(&state))
            && match condition.quantifier {
                Quantifier::Exists => false,
                Quantifier::NotExists => condition.proposition.holds(&state),
                Quantifier::ForAll => !condition.proposition.holds(&state),
            }
    }

    /// Whether a step of the thread leads anywhere but round a loop that reads and changes nothing. Registers that the loop
    /// sets may differ before its first round, so two rounds are compared.
    fn gets_on(&self, world: &World, t: usize) -> bool {
        let step = |world: &World| {
            let choice = match self.instr(&world.threads[t]) {
                Some(Instr::Nondet { first, .. }) => Value::from_i64(*first),
                _ => Value::ZERO,
            };
            let mut after = world.clone();
            let turn = Turn { thread: t, action: Action::Step { choice, spurious: false } };
            self.turn(&mut after, &turn).is_ok().then_some(after)
        };
        let same = |a: &World, b: &World| (&a.memory, &a.threads) == (&b.memory, &b.threads);
        let Some(once) = step(world) else { return false };
        !same(&once, world)
            && !step(&once).is_some_and(|twice| once.memory == world.memory && same(&twice, &once))
    }

    /// In C, threads that wait although nothing will happen any more.
    fn waits_for_ever(&self, world: &World) -> Option<Wrong> {
        let counts = self.config.rounds.is_some() || self.config.age.is_some();
        let over = |thread: &Thread| matches!(thread.state, State::Ended(_));
        let left = |thread: &Thread| matches!(thread.state, State::Left | State::Halted | State::GaveUp);
        let quiet = world.threads.iter().all(|thread| thread.buffer.is_empty());
        if !self.config.c
            || counts
            || !quiet
            || world.threads.iter().any(left)
            || world.threads.iter().all(over)
        {
            return None;
        }
        let moves = (0..world.threads.len()).any(|t| self.gets_on(world, t));
        if moves {
            return None;
        }
        let threads = || (0u32..).zip(&world.threads);
        let turning = threads().find(|(_, thread)| thread.state == State::Turning);
        let (kind, message) = match turning {
            Some(_) => (FindingKind::LocalLoop, "a loop does not end and accesses no shared memory"),
            None => (FindingKind::Deadlock, "threads wait for ever"),
        };
        let (t, thread) = turning.or_else(|| threads().find(|(_, thread)| !over(thread)))?;
        Some(Wrong { kind, message: message.into(), thread: Some(t), span: self.span(thread) })
    }
}

const UNINITIALISED: &str = "read of uninitialised memory";
const NOT_OWNER: &str = "a mutex is unlocked by a thread that does not hold it";
const NO_THREAD: &str = "join of a thread that does not exist";
const NO_FUNCTION: &str = "call of something that is no function";
const NO_POINTER: &str = "access through a value that is no pointer";
const NOT_BEGUN: &str = "end of an atomic section that was not begun";
const MISUSE: &str = "misuse of a library function";

fn with(what: &str, message: &str) -> String {
    if message.is_empty() { what.to_string() } else { format!("{what}: {message}") }
}

enum Effect {
    Nothing,
    Barrier,
    Drain,
}

/// What a fence does to the buffer of its thread: the sets `FULL` and `STORE-BARRIER` of `tso.cat` and `pso.cat`, written
/// down once more.
fn effect(model: Model, fence: Fence) -> Effect {
    let all = Fence::RiscV(Accesses::All, Accesses::All);
    let kernel = [Fence::Kernel(Kernel::Mb), Fence::Kernel(Kernel::SyncRcu)];
    let full = [Fence::Sync, Fence::Mfence, Fence::DmbSy, Fence::DsbSy, Fence::C11(Order::SeqCst), all];
    let stores = [Fence::Sfence, Fence::Eieio, Fence::DmbSt, Fence::DsbSt, Fence::Lwsync];
    let releases = matches!(fence, Fence::C11(Order::Release | Order::AcqRel));
    match model {
        Model::Sc => Effect::Nothing,
        _ if full.contains(&fence) || kernel.contains(&fence) => Effect::Drain,
        Model::Pso if stores.contains(&fence) || releases => Effect::Barrier,
        _ => Effect::Nothing,
    }
}
