//! All states of a small program on the machines of SC, TSO and PSO, one access after the other, without any reduction.
//!
//! The loops are not bounded, so this says what the explorer may not say of its bound: which final states there are, whether an
//! assertion fails, and whether threads may wait for ever. They do in a state in which all stores have reached memory and every
//! thread that has not ended, run on alone, comes back to where it was without having changed anything: nobody else will
//! change anything either.
//!
//! It has what the generators of the tests write; a program with anything else fails the test that asks.

use fencepost_ir::{
    Callee, Fence, Instr, Observable, Operand, Order, Program, Property, Reg, Rvalue, Value, Width,
};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// Stores reach memory at once.
    None,
    /// One after the other.
    Ordered,
    /// One after the other to each cell.
    ByCell,
}

/// What a program can do.
#[derive(Debug, Default)]
pub struct Reached {
    pub states: BTreeSet<Vec<Value>>,
    pub fails: bool,
    pub stuck: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Frame {
    function: usize,
    at: usize,
    registers: Vec<Value>,
    /// Where the caller wants the result.
    result: Option<Reg>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread {
    frames: Vec<Frame>,
    /// The registers of the first function, when it has returned.
    ended: Option<Vec<Value>>,
    /// Stores that have not reached memory, the oldest first; `None` keeps those before from those behind it.
    buffer: Vec<Option<(usize, Value)>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    memory: Vec<Value>,
}

/// What came of a step of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It has made a step that nobody else can notice.
    Silent,
    /// It has changed something, or put a store into its buffer.
    Changed,
    /// It can go on only if others, or its own buffer, do something first.
    Waits,
    /// An assumption does not hold: there is no such execution.
    Blocked,
    /// An assertion does not hold.
    Fails,
}

struct Machine<'p> {
    program: &'p Program,
    buffers: Buffers,
}

/// How many states are looked at, and how many steps of a thread that runs alone.
const MOST_STATES: usize = 10_000;
const MOST_STEPS: usize = 500;

/// All that can be reached, unless there are too many states.
pub fn reach(program: &Program, buffers: Buffers) -> Option<Reached> {
    let machine = Machine { program, buffers };
    let mut reached = Reached::default();
    let first = machine.first();
    let mut seen = FxHashSet::from_iter([first.clone()]);
    let mut todo = vec![first];
    while let Some(state) = todo.pop() {
        if seen.len() > MOST_STATES {
            return None;
        }
        let mut next = Vec::new();
        for t in 0..state.threads.len() {
            let mut after = state.clone();
            match machine.step(&mut after, t) {
                Step::Silent | Step::Changed => {
                    machine.run_to_access(&mut after, t);
                    next.push(after);
                }
                Step::Fails => reached.fails = true,
                Step::Waits | Step::Blocked => {}
            }
            machine.flushed(&state, t, &mut next);
        }
        if state.threads.iter().all(|thread| thread.buffer.is_empty()) {
            if state.threads.iter().all(|thread| thread.ended.is_some()) {
                reached.states.insert(machine.observed(&state));
            } else if !reached.stuck {
                reached.stuck = machine.is_stuck(&state)?;
            }
        }
        todo.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
    }
    Some(reached)
}

impl Machine<'_> {
    fn first(&self) -> State {
        let threads = self.program.threads.iter().map(|thread| Thread {
            frames: vec![self.frame(thread.function.0 as usize, &thread.args, None)],
            ended: None,
            buffer: Vec::new(),
        });
        // Every object is one cell, and zero.
        let memory = vec![Value::ZERO; self.program.objects.len()];
        let mut state = State { threads: threads.collect(), memory };
        (0..state.threads.len()).for_each(|t| self.run_to_access(&mut state, t));
        state
    }

    /// What a thread does by itself is done at once.
    fn run_to_access(&self, state: &mut State, t: usize) {
        for _ in 0..MOST_STEPS {
            let Some(frame) = state.threads[t].frames.last() else { return };
            let alone = match self.program.functions[frame.function].body.get(frame.at) {
                Some(instr) => matches!(
                    instr,
                    Instr::Assign { .. }
                        | Instr::Jump(_)
                        | Instr::Branch { .. }
                        | Instr::Call { .. }
                        | Instr::Return(_)
                ),
                None => true,
            };
            if !alone {
                return;
            }
            self.step(state, t);
        }
    }

    fn frame(&self, function: usize, args: &[Value], result: Option<Reg>) -> Frame {
        let mut registers = vec![Value::ZERO; self.program.functions[function].regs.len()];
        registers[..args.len()].copy_from_slice(args);
        Frame { function, at: 0, registers, result }
    }

    /// The states in which one more store of the thread has reached memory.
    fn flushed(&self, state: &State, t: usize, next: &mut Vec<State>) {
        let buffer = &state.threads[t].buffer;
        for (i, entry) in buffer.iter().enumerate() {
            let Some((cell, value)) = *entry else {
                if i == 0 {
                    let mut after = state.clone();
                    after.threads[t].buffer.remove(0);
                    next.push(after);
                }
                return;
            };
            let is_first = match self.buffers {
                Buffers::ByCell => buffer[..i].iter().flatten().all(|&(other, _)| other != cell),
                _ => i == 0,
            };
            if is_first {
                let mut after = state.clone();
                after.threads[t].buffer.remove(i);
                after.memory[cell] = value;
                next.push(after);
            }
        }
    }

    /// Lets a thread make one step.
    fn step(&self, state: &mut State, t: usize) -> Step {
        let State { threads, memory } = state;
        let Thread { frames, ended, buffer } = &mut threads[t];
        let Some(frame) = frames.last_mut() else { return Step::Waits };
        let function = &self.program.functions[frame.function];
        let Some(instr) = function.body.get(frame.at) else {
            return self.leave(frames, ended, None);
        };
        let of = |operand: Operand, frame: &Frame| match operand {
            Operand::Reg(reg) => frame.registers[reg.0 as usize],
            Operand::Const(value) => value,
        };
        let cell = |addr: Operand, frame: &Frame| {
            let (object, offset) = of(addr, frame).as_pointer().expect("an address");
            assert_eq!(offset, 0);
            object.0 as usize
        };
        let mut next = frame.at + 1;
        let mut step = Step::Silent;
        match instr {
            Instr::Assign { dst, value } => {
                let value = match *value {
                    Rvalue::Use(a) => of(a, frame),
                    Rvalue::Binary(op, width, extend, a, b) => {
                        let value = op.apply(width, of(a, frame), of(b, frame));
                        width.extend(extend, value.expect("no division"))
                    }
                    Rvalue::Select(condition, a, b) => {
                        of(if of(condition, frame).is_true() { a } else { b }, frame)
                    }
                    Rvalue::Unary(op, width, extend, a) => {
                        width.extend(extend, op.apply(width, of(a, frame)))
                    }
                };
                frame.registers[dst.0 as usize] = value;
            }
            Instr::Load { dst, addr, .. } => {
                let cell = cell(*addr, frame);
                let own = buffer.iter().rev().flatten().find(|&&(other, _)| other == cell);
                frame.registers[dst.0 as usize] = own.map_or(memory[cell], |&(_, value)| value);
            }
            Instr::Store { addr, value, .. } => {
                let (cell, value) = (cell(*addr, frame), of(*value, frame));
                match self.buffers {
                    Buffers::None => memory[cell] = value,
                    _ => buffer.push(Some((cell, value))),
                }
                step = Step::Changed;
            }
            Instr::Rmw { .. } | Instr::CompareExchange { .. } | Instr::AwaitRmw { .. } | Instr::Lock(_)
                if !buffer.is_empty() =>
            {
                return Step::Waits;
            }
            Instr::AwaitRmw { dst, addr, until, op, operand, .. } => {
                let cell = cell(*addr, frame);
                let old = memory[cell];
                let done = until.op.apply(Width::W32, old, of(until.operand, frame));
                if !done.expect("no division").is_true() {
                    return Step::Waits;
                }
                memory[cell] = op.apply(Width::W32, old, of(*operand, frame));
                if let Some(dst) = dst {
                    frame.registers[dst.0 as usize] = old;
                }
                step = Step::Changed;
            }
            Instr::Lock(addr) => {
                let cell = cell(*addr, frame);
                if memory[cell] != Value::ZERO {
                    return Step::Waits;
                }
                memory[cell] = Value(1 + t as u64);
                step = Step::Changed;
            }
            Instr::Unlock(addr) => {
                let cell = cell(*addr, frame);
                match self.buffers {
                    Buffers::None => memory[cell] = Value::ZERO,
                    _ => buffer.push(Some((cell, Value::ZERO))),
                }
                step = Step::Changed;
            }
            Instr::Rmw { dst, addr, op, operand, .. } => {
                let cell = cell(*addr, frame);
                let old = memory[cell];
                memory[cell] = op.apply(Width::W32, old, of(*operand, frame));
                if let Some(dst) = dst {
                    frame.registers[dst.0 as usize] = old;
                }
                if memory[cell] != old {
                    step = Step::Changed;
                }
            }
            Instr::CompareExchange { dst, success, addr, expected, desired, .. } => {
                let cell = cell(*addr, frame);
                let (old, expected, desired) = (memory[cell], of(*expected, frame), of(*desired, frame));
                if old == expected {
                    memory[cell] = desired;
                }
                if let Some(dst) = dst {
                    frame.registers[dst.0 as usize] = old;
                }
                if let Some(success) = success {
                    frame.registers[success.0 as usize] = Value(u64::from(old == expected));
                }
                if memory[cell] != old {
                    step = Step::Changed;
                }
            }
            Instr::Fence(fence) => match fence {
                Fence::C11(Order::SeqCst) | Fence::Mfence | Fence::Sync => {
                    if !buffer.is_empty() {
                        return Step::Waits;
                    }
                }
                Fence::C11(Order::Release | Order::AcqRel) | Fence::Lwsync => {
                    if !buffer.is_empty() {
                        buffer.push(None);
                    }
                }
                Fence::C11(Order::Acquire) | Fence::Isync | Fence::Compiler => {}
                other => panic!("a fence that no generator writes: {other:?}"),
            },
            Instr::Jump(to) => next = to.0 as usize,
            Instr::Branch { condition, then_to, else_to } => {
                let to = if of(*condition, frame).is_true() { then_to } else { else_to };
                next = to.0 as usize;
            }
            Instr::Await { dst, addr, until, .. } => {
                let cell = cell(*addr, frame);
                let own = buffer.iter().rev().flatten().find(|&&(other, _)| other == cell);
                let value = own.map_or(memory[cell], |&(_, value)| value);
                let done = until.op.apply(Width::W32, value, of(until.operand, frame));
                if !done.expect("no division").is_true() {
                    return Step::Waits;
                }
                if let Some(dst) = dst {
                    frame.registers[dst.0 as usize] = value;
                }
            }
            Instr::Assume(condition) if !of(*condition, frame).is_true() => return Step::Blocked,
            Instr::Assert { condition, .. } if !of(*condition, frame).is_true() => return Step::Fails,
            Instr::Assume(_) | Instr::Assert { .. } => {}
            Instr::Call { dst, callee: Callee::Function(function), args } => {
                let args: Vec<_> = args.iter().map(|&a| of(a, frame)).collect();
                frame.at = next;
                let callee = self.frame(function.0 as usize, &args, *dst);
                frames.push(callee);
                return Step::Silent;
            }
            Instr::Return(value) => {
                let value = value.map(|value| of(value, frame));
                return self.leave(frames, ended, value);
            }
            other => panic!("an instruction that no generator writes: {other:?}"),
        }
        frame.at = next;
        step
    }

    fn leave(&self, frames: &mut Vec<Frame>, ended: &mut Option<Vec<Value>>, value: Option<Value>) -> Step {
        let frame = frames.pop().expect("a frame");
        match (frames.last_mut(), frame.result, value) {
            (None, ..) => *ended = Some(frame.registers),
            (Some(caller), Some(result), Some(value)) => caller.registers[result.0 as usize] = value,
            _ => {}
        }
        Step::Silent
    }

    /// Whether nobody will ever end who has not: nothing if that takes too long to see.
    fn is_stuck(&self, state: &State) -> Option<bool> {
        for t in 0..state.threads.len() {
            if state.threads[t].ended.is_none() && !self.comes_back(state.clone(), t)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether the thread waits, or comes back to where it was if it runs alone, having changed nothing.
    fn comes_back(&self, mut state: State, t: usize) -> Option<bool> {
        let mut seen = FxHashSet::default();
        for _ in 0..MOST_STEPS {
            if !seen.insert(state.threads[t].clone()) {
                return Some(true);
            }
            match self.step(&mut state, t) {
                Step::Silent if state.threads[t].ended.is_some() => return Some(false),
                Step::Silent => {}
                Step::Waits => return Some(true),
                Step::Changed | Step::Blocked | Step::Fails => return Some(false),
            }
        }
        None
    }

    fn observed(&self, state: &State) -> Vec<Value> {
        let Property::Final(condition) = &self.program.property else { return Vec::new() };
        let value = |observable: &Observable| match *observable {
            Observable::Register { thread, reg } => {
                let ended = state.threads[thread.0 as usize].ended.as_ref();
                ended.expect("all have ended")[reg.0 as usize]
            }
            Observable::Memory { object, .. } => state.memory[object.0 as usize],
        };
        condition.observed.iter().map(value).collect()
    }
}
