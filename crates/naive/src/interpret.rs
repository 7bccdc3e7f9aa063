//! Runs one thread, instruction by instruction; where several things may happen, the run becomes several runs.
//!
//! The same interpreter makes all traces of a thread (a load may return any value that some store may write) and replays
//! known executions, where the value of a load may not be known yet: whatever is computed from it is unknown then too, a
//! branch on it goes both ways, and an access to an unknown address ends the run.
//!
//! A wait ([`Instr::Await`], [`Instr::AwaitRmw`], [`Instr::Lock`]) is one read; if it reads a value that it does not wait
//! for, the thread waits for ever in this execution. An `assert` is no branch and orders nothing; a thread ends where one fails,
//! except
//! that on machines that run ahead of it what comes behind it may have happened already, so there it may also go on.

use crate::events::Events;
use crate::findings::{Problem, ProblemKind};
use crate::live::Live;
use crate::run::{End, Frame, Register, Role, Run, Start, Trace};
use crate::world::{Identity, Storage, World};
use crate::{Limits, Stop};
use fencepost_ir::{
    Callee, FailKind, Fence, FunctionId, Instr, Label, Location, ObjectId, Operand, Reg, Rvalue, Span,
    ThreadId, Value, Width,
};
use std::collections::{BTreeMap, BTreeSet};

/// The values that each location may hold beside the initial one.
pub type Universe = BTreeMap<Location, BTreeSet<Value>>;

/// What each thread may return.
pub type Results = BTreeMap<ThreadId, BTreeSet<Value>>;

/// What loads and joins return.
#[derive(Clone, Copy)]
pub enum Memory<'p> {
    /// Any value of the location; any result of the thread.
    Any(&'p Universe, &'p Results),
    /// What each load of the thread reads, as far as it is known.
    Known {
        /// By the number of the access.
        values: &'p BTreeMap<u32, Value>,
        /// Accesses that read the initial value.
        from_init: &'p BTreeSet<u32>,
    },
    /// What the next load reads, if it may read anything, as far as it is known; and where the cell of the next access
    /// is in its object, if there is one.
    Next(Option<Option<Value>>, Option<(u32, Width)>),
}

impl Memory<'_> {
    /// What the next access of the run may read at a location with this initial value.
    pub fn values(self, run: &Run, location: Location, initial: Value) -> Vec<Option<Value>> {
        match self {
            Memory::Any(universe, _) => {
                let mut values: BTreeSet<Value> = [initial].into();
                values.extend(universe.get(&location).into_iter().flatten());
                values.into_iter().map(Some).collect()
            }
            Memory::Known { from_init, .. } if from_init.contains(&run.accesses) => vec![Some(initial)],
            Memory::Known { values, .. } => vec![values.get(&run.accesses).copied()],
            Memory::Next(value, _) => value.into_iter().collect(),
        }
    }
}

/// What happens at an assertion that does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assertions {
    /// It is noted, and the run goes on.
    Note,
    /// The thread ends.
    End,
    /// The thread ends, or it goes on, and what is wrong behind it does not count.
    EndOrGoOn,
}

/// What an interpreter does beyond running.
#[derive(Clone, Copy)]
pub struct Rules<'p> {
    /// Where threads are seen to spin, if they are to be.
    pub spins: Option<&'p Live>,
    /// What a failed assertion does.
    pub assertions: Assertions,
    /// The fence that starting and joining a thread is.
    pub thread_fence: Fence,
}

/// What a step leads to.
pub enum Step {
    /// Go on with these runs.
    Runs(Vec<Run>),
    /// The run is over.
    End(Run, End),
    /// These runs are over or go on.
    Some(Vec<(Run, Option<End>)>),
    /// Go on with this run, or else it is stuck here. Only in replays.
    Perhaps(Run),
}

/// Runs one thread.
pub struct Interpreter<'p> {
    /// The program with what is made at run time.
    pub world: &'p World<'p>,
    /// Which thread.
    pub thread: ThreadId,
    /// What its loads return.
    pub memory: Memory<'p>,
    /// What else it does.
    pub rules: Rules<'p>,
}

/// Values of one choice.
const MAX_CHOICE: i64 = 4_096;

fn one(run: Run) -> Result<Step, Stop> {
    Ok(Step::Runs(vec![run]))
}

/// The thread ends because of a mistake.
pub fn fault(mut run: Run, kind: ProblemKind) -> Result<Step, Stop> {
    let at = run.at();
    run.note(kind, at);
    Ok(Step::End(run, End::Failed))
}

impl Interpreter<'_> {
    /// A thread before its first instruction.
    pub fn start(&self, start: Start) -> Run {
        let function = &self.world.program.functions[start.0.0 as usize];
        Run::new(start, function.params, function.regs.len())
    }

    /// What a thread that runs from the beginning runs.
    pub fn initial_start(&self) -> Option<Start> {
        let thread = self.world.program.threads.get(self.thread.0 as usize)?;
        Some((thread.function, thread.args.iter().map(|&value| Some(value)).collect()))
    }

    /// One instruction.
    pub fn step(&self, mut run: Run) -> Result<Step, Stop> {
        let function = &self.world.program.functions[run.frame().function.0 as usize];
        let at = run.frame().at;
        run.leave_scopes();
        let Some(instr) = function.body.get(at) else { return self.leave(run, None, Span::default()) };
        let span = function.spans.get(at).copied().unwrap_or_default();
        match instr {
            Instr::Assign { dst, value } => match rvalue(&run, value) {
                Some(value) => {
                    run.assign(Some(*dst), value);
                    one(run.next())
                }
                None => fault(run, ProblemKind::DivisionByZero),
            },
            Instr::Fence(fence) => {
                run.fence(*fence, Role::None, span);
                one(run.next())
            }
            Instr::Jump(to) => {
                run.frame_mut().at = to.0 as usize;
                one(run)
            }
            Instr::Branch { condition, then_to, else_to } => {
                let condition = run.operand(*condition);
                if let Some(join) = self.world.join(run.frame().function, at) {
                    run.scopes.push((join, run.ctrl, run.ctrl_pick));
                }
                run.depend(condition);
                if let Some(value) = condition.value {
                    run.frame_mut().at = if value.is_true() { then_to } else { else_to }.0 as usize;
                    return one(run);
                }
                let to = |label: &Label| {
                    let mut run = run.clone();
                    run.frame_mut().at = label.0 as usize;
                    run
                };
                Ok(Step::Runs(vec![to(else_to), to(then_to)]))
            }
            Instr::Return(value) => self.leave(run, *value, span),
            Instr::Exit(value) => {
                run.result = value.map_or(Some(Value::ZERO), |value| run.operand(value).value);
                end_objects(&mut run, span);
                Ok(Step::End(run, End::Done))
            }
            Instr::Halt => Ok(Step::End(run, End::Halted)),
            Instr::Cut => Ok(Step::End(run, End::Cut)),
            Instr::Assume(condition) => {
                // Like a branch to a place that is never left.
                let condition = run.operand(*condition);
                run.depend(condition);
                match condition.value.is_none_or(Value::is_true) {
                    true => one(run.next()),
                    false => Ok(Step::End(run, End::Blocked)),
                }
            }
            Instr::Round(None) => {
                run.begin_round();
                one(run.next())
            }
            Instr::Round(Some(condition)) => {
                let condition = run.operand(*condition);
                run.depend(condition);
                let from = run.end_round();
                match condition.value.is_none_or(Value::is_true) {
                    true => one(run.next()),
                    false => Ok(Step::End(run, End::Spinning(from))),
                }
            }
            Instr::Assert { condition, kind, message } => self.assert(run, *condition, *kind, message),
            Instr::Defined(value) => self.defined(run, *value),
            Instr::Fail { kind, .. } => fault(run, kind_of(*kind)),
            Instr::Nondet { dst, first, last } => choose(&run, *dst, *first, *last),
            Instr::Call { dst, callee, args } => self.call(run, *dst, *callee, args),
            Instr::Spawn { dst, callee, args } => self.spawn(run, *dst, *callee, args, span),
            Instr::Join { thread, dst } => self.join(run, *thread, *dst, span),
            Instr::SelfThread { dst } => {
                run.assign(Some(*dst), Register::constant(Value(u64::from(self.thread.0))));
                one(run.next())
            }
            Instr::AtomicBegin | Instr::AtomicEnd => Err(Stop::Unsupported { what: "atomic sections", span }),
            Instr::Alloc { .. }
            | Instr::Local { .. }
            | Instr::ThreadLocal { .. }
            | Instr::Free(_)
            | Instr::EndLocal(_)
            | Instr::ObjectSize { .. } => self.object(run, instr, span),
            Instr::Load { .. }
            | Instr::CopyLoad { .. }
            | Instr::Store { .. }
            | Instr::StoreExclusive { .. }
            | Instr::Rmw { .. }
            | Instr::CompareExchange { .. }
            | Instr::Await { .. }
            | Instr::AwaitRmw { .. }
            | Instr::Lock(_)
            | Instr::Unlock(_)
            | Instr::TryLock { .. } => self.access(run, instr, span),
        }
    }

    fn assert(&self, mut run: Run, condition: Operand, kind: FailKind, message: &str) -> Result<Step, Stop> {
        let condition = run.operand(condition);
        if condition.value.is_none_or(Value::is_true) {
            return one(run.next());
        }
        if !run.failed {
            let (kind, at) = (kind_of(kind), run.at());
            run.problems.push(Problem { kind, at, message: Some(message.to_string()) });
        }
        self.failed(run)
    }

    /// A value is about to be used.
    fn defined(&self, mut run: Run, value: Operand) -> Result<Step, Stop> {
        if run.operand(value).value != Some(Value::UNDEFINED) {
            return one(run.next());
        }
        let at = run.at();
        run.note(ProblemKind::Uninitialised, at);
        self.failed(run)
    }

    /// Behind a check that failed.
    fn failed(&self, run: Run) -> Result<Step, Stop> {
        match self.rules.assertions {
            Assertions::Note => one(run.next()),
            Assertions::End => Ok(Step::End(run, End::Failed)),
            Assertions::EndOrGoOn => {
                let mut beyond = run.clone();
                beyond.failed = true;
                Ok(Step::Some(vec![(run, Some(End::Failed)), (beyond.next(), None)]))
            }
        }
    }

    /// The function that a call means; `None` if it is a bad pointer.
    fn callee(&self, run: &Run, callee: Callee) -> Option<FunctionId> {
        let number = match callee {
            Callee::Function(function) => return Some(function),
            Callee::Pointer(pointer) => run.operand(pointer).value?,
        };
        let function = number.as_function().map_or(number.0, |f| u64::from(f.0));
        let known = number != Value::ZERO && function < self.world.program.functions.len() as u64;
        known.then_some(FunctionId(function as u32))
    }

    fn is_unknown(run: &Run, callee: Callee) -> bool {
        matches!(callee, Callee::Pointer(pointer) if run.operand(pointer).value.is_none())
    }

    fn call(&self, mut run: Run, dst: Option<Reg>, callee: Callee, args: &[Operand]) -> Result<Step, Stop> {
        if Self::is_unknown(&run, callee) {
            return Ok(Step::End(run, End::Stuck));
        }
        let Some(id) = self.callee(&run, callee) else { return fault(run, ProblemKind::BadCall) };
        if let Callee::Pointer(pointer) = callee {
            // Which function runs depends on the pointer as on a branch.
            let pointer = run.operand(pointer);
            run.depend(pointer);
        }
        let function = &self.world.program.functions[id.0 as usize];
        let mut registers = vec![Register::constant(Value::ZERO); function.regs.len()];
        for (register, &arg) in registers.iter_mut().take(function.params as usize).zip(args) {
            *register = run.operand(arg);
        }
        run.frame_mut().at += 1;
        run.frames.push(Frame { function: id, at: 0, registers, result: dst });
        one(run)
    }

    /// Returns from the innermost function; from the outermost, the thread ends.
    fn leave(&self, mut run: Run, value: Option<Operand>, span: Span) -> Result<Step, Stop> {
        let value = value.map_or(Register::constant(Value::ZERO), |value| run.operand(value));
        if run.frames.len() == 1 {
            run.result = value.value;
            if self.thread.0 == 0 && self.world.program.is_process() {
                return Ok(Step::End(run, End::Returned));
            }
            end_objects(&mut run, span);
            return Ok(Step::End(run, End::Done));
        }
        let dst = run.frames.pop().and_then(|frame| frame.result);
        run.assign(dst, value);
        one(run)
    }

    fn spawn(
        &self,
        mut run: Run,
        dst: Option<Reg>,
        callee: Callee,
        args: &[Operand],
        span: Span,
    ) -> Result<Step, Stop> {
        if Self::is_unknown(&run, callee) {
            return Ok(Step::End(run, End::Stuck));
        }
        let Some(function) = self.callee(&run, callee) else { return fault(run, ProblemKind::BadCall) };
        let thread = self.world.thread(self.thread, run.started);
        run.started += 1;
        let args = args.iter().map(|&arg| run.operand(arg).value).collect();
        run.fence(self.rules.thread_fence, Role::Spawn(thread, (function, args)), span);
        run.assign(dst, Register::constant(Value(u64::from(thread.0))));
        one(run.next())
    }

    /// Goes on with a result of the other thread, or waits for ever.
    fn join(&self, run: Run, thread: Operand, dst: Option<Reg>, span: Span) -> Result<Step, Stop> {
        let Some(number) = run.operand(thread).value else { return Ok(Step::End(run, End::Stuck)) };
        if number.0 > u64::from(u16::MAX) {
            return fault(run, ProblemKind::Misuse);
        }
        let thread = u32::try_from(number.0).ok().filter(|&n| (n as usize) < self.world.threads());
        let thread = thread.map(ThreadId);
        let mut outcomes = vec![(run.clone(), Some(End::Joining(thread)))];
        if let (Some(thread), Memory::Any(_, results)) = (thread, self.memory) {
            for &result in results.get(&thread).into_iter().flatten() {
                outcomes.push((self.joined(run.clone(), thread, dst, Some(result), span), None));
            }
        }
        Ok(Step::Some(outcomes))
    }

    /// The run after it has joined a thread.
    pub fn joined(
        &self,
        mut run: Run,
        thread: ThreadId,
        dst: Option<Reg>,
        result: Option<Value>,
        span: Span,
    ) -> Run {
        run.fence(self.rules.thread_fence, Role::Join(thread, result), span);
        run.assign(dst, Register { value: result, depends: Events::NONE, picks: Events::NONE });
        run.next()
    }

    fn object(&self, mut run: Run, instr: &Instr, span: Span) -> Result<Step, Stop> {
        match instr {
            Instr::Alloc { dst, size, zeroed } => {
                let size = run.operand(*size);
                let Some(bytes) = size.value else { return Ok(Step::End(run, End::Stuck)) };
                let bytes = bytes.0.min(u64::from(u32::MAX)) as u32;
                let id = self.made(&mut run, bytes, Storage::Heap);
                let object = self.world.make(id, None, *zeroed, false);
                let at = run.at();
                run.births.insert(object, (run.events.len(), at));
                run.assign(Some(*dst), Register { value: Some(Value::pointer(object, 0)), ..size });
            }
            Instr::Local { dst, object, private } => {
                let id = self.made(&mut run, object.size, Storage::Local);
                let object = self.world.make(id, Some(object), false, *private);
                if !*private {
                    let at = run.at();
                    run.births.insert(object, (run.events.len(), at));
                    run.alive.insert(object);
                }
                run.assign(Some(*dst), Register::constant(Value::pointer(object, 0)));
            }
            Instr::ThreadLocal { dst, object } => {
                let Some(template) = self.world.program.objects.get(object.0 as usize) else {
                    return fault(run, ProblemKind::BadPointer);
                };
                let (thread, number, size) = (self.thread, object.0, template.size);
                let id = Identity { thread, number, at: (0, 0), size, storage: Storage::ThreadLocal };
                let object = self.world.make(id, Some(template), false, false);
                // It is there from the start of the thread.
                run.births.insert(object, (0, (0, 0)));
                run.alive.insert(object);
                run.assign(Some(*dst), Register::constant(Value::pointer(object, 0)));
            }
            Instr::ObjectSize { dst, addr } => {
                let addr = run.operand(*addr);
                let size = |address: Value| {
                    let object = address.as_pointer().map(|(object, _)| object);
                    Value(u64::from(object.and_then(|object| self.world.size(object)).unwrap_or(0)))
                };
                run.assign(Some(*dst), Register { value: addr.value.map(size), ..addr });
            }
            Instr::Free(addr) => return self.free(run, *addr, Storage::Heap, span),
            Instr::EndLocal(addr) => return self.free(run, *addr, Storage::Local, span),
            _ => {}
        }
        one(run.next())
    }

    fn made(&self, run: &mut Run, size: u32, storage: Storage) -> Identity {
        run.made += 1;
        Identity { thread: self.thread, number: run.made - 1, at: run.at(), size, storage }
    }

    /// Ends the life of an object of that storage.
    fn free(&self, mut run: Run, addr: Operand, storage: Storage, span: Span) -> Result<Step, Stop> {
        let Some(address) = run.operand(addr).value else { return Ok(Step::End(run, End::Stuck)) };
        if address == Value::ZERO && storage == Storage::Heap {
            return one(run.next());
        }
        let object: Option<ObjectId> = match address.as_pointer() {
            Some((object, 0)) if self.world.storage(object) == Some(storage) => Some(object),
            _ => None,
        };
        let Some(object) = object else { return fault(run, ProblemKind::InvalidFree) };
        if self.world.is_private(object) {
            run.ended.insert(object);
        } else {
            run.alive.remove(&object);
            run.fence(Fence::Compiler, Role::End(vec![object]), span);
        }
        one(run.next())
    }
}

/// What a thread has made for itself ends with it.
fn end_objects(run: &mut Run, span: Span) {
    let alive: Vec<ObjectId> = std::mem::take(&mut run.alive).into_iter().collect();
    if !alive.is_empty() {
        run.fence(Fence::Compiler, Role::End(alive), span);
    }
}

fn kind_of(kind: FailKind) -> ProblemKind {
    match kind {
        FailKind::Assertion => ProblemKind::Assertion,
        FailKind::Misuse => ProblemKind::Misuse,
        FailKind::Unsupported => ProblemKind::Unsupported,
    }
}

fn choose(run: &Run, dst: Reg, first: i64, last: i64) -> Result<Step, Stop> {
    if last.checked_sub(first).is_none_or(|n| n >= MAX_CHOICE) {
        return Err(Stop::Limit("values of one choice"));
    }
    let runs = (first..=last).map(|n| {
        let mut run = run.clone();
        run.assign(Some(dst), Register::constant(Value::from_i64(n)));
        run.chose(n);
        run.next()
    });
    Ok(Step::Runs(runs.collect()))
}

/// The value and dependencies of a right-hand side; `None` is a division by zero.
fn rvalue(run: &Run, value: &Rvalue) -> Option<Register> {
    Some(match *value {
        Rvalue::Use(a) => run.operand(a),
        Rvalue::Unary(op, width, extend, a) => {
            let a = run.operand(a);
            Register { value: a.value.map(|a| width.extend(extend, op.apply(width, a))), ..a }
        }
        Rvalue::Binary(op, width, extend, a, b) => {
            let (a, b) = (run.operand(a), run.operand(b));
            let value = match a.value.zip(b.value) {
                Some((a, b)) => Some(width.extend(extend, op.apply(width, a, b)?)),
                None => None,
            };
            Register { value, depends: a.depends | b.depends, picks: a.picks | b.picks }
        }
        Rvalue::Select(condition, a, b) => {
            let condition = run.operand(condition);
            // What an unknown value depends on does not matter: dependencies are read off when all is known.
            let Some(taken) = condition.value else { return Some(Register { value: None, ..condition }) };
            let chosen = run.operand(if taken.is_true() { a } else { b });
            Register { picks: chosen.picks | condition.depends | condition.picks, ..chosen }
        }
    })
}

/// All traces of a thread, in a fixed order.
pub fn traces(interpreter: &Interpreter<'_>, start: Start, limits: &Limits) -> Result<Vec<Trace>, Stop> {
    let mut todo = vec![interpreter.start(start)];
    let mut done = Vec::new();
    while let Some(mut run) = todo.pop() {
        run.count_step(limits)?;
        match interpreter.step(run)? {
            Step::Runs(runs) => todo.extend(runs.into_iter().rev()),
            Step::End(run, end) => done.push(run.finish(end)),
            Step::Some(outcomes) => {
                for (run, end) in outcomes.into_iter().rev() {
                    match end {
                        Some(end) => done.push(run.finish(end)),
                        None => todo.push(run),
                    }
                }
            }
            Step::Perhaps(_) => unreachable!("all values are known"),
        }
        if done.len() + todo.len() > limits.traces {
            return Err(Stop::Limit("traces of one thread"));
        }
    }
    Ok(done)
}
