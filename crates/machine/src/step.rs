//! Small steps of one thread.
//!
//! A thread always stands before an instruction that others can notice (or has ended): [`Steps::settle`] runs
//! everything else at once. That is the partial-order reduction for local steps: such a step commutes with every step
//! of every other thread and of memory, and it cannot be disabled. The same holds for putting a store into a buffer
//! that has room, because only the thread itself sees it there; so stores are buffered at once, too, unless their age
//! is bounded (an earlier round would make the store older).

use crate::code::{CellId, Code};
use crate::config::{Config, FenceEffect, Model, fence_effect};
use crate::local::{FaultKind, Frame, Local, Status};
use fencepost_ir::{Callee, FailKind, Instr, Operand, Order, Reg, Rvalue, Value, Width};

/// Deepest call stack.
pub const MAX_FRAMES: usize = 256;
/// Longest store buffer.
pub const MAX_BUFFER: usize = 1024;
/// Most local steps in a row.
const MAX_LOCAL_STEPS: u32 = 1 << 20;

/// What a thread that has settled does next.
#[derive(Clone, PartialEq, Debug)]
pub enum Next {
    /// Nothing, ever.
    Idle,
    /// Waits for its own buffer: to be empty, or to have room.
    Wait,
    /// Reads a cell.
    Load(CellId),
    /// Reads a cell, once it has a value that ends the wait.
    Await(CellId),
    /// Gives up a mutex, if it is its own.
    Release(CellId),
    /// Writes a cell in memory.
    Store(CellId, Value),
    /// Puts a store into its buffer.
    Buffer(CellId, Value),
    /// Reads and perhaps writes a cell in one step.
    Update(CellId),
    /// Chooses a value of that range.
    Choose(i64, i64),
    /// Enters an atomic section.
    Enter,
    /// Starts a thread: a function and its arguments.
    Spawn(u32, Vec<Value>),
    /// Waits for a thread to end.
    Join(Value),
}

/// What an [`Next::Update`] does to the cell, given the old value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Update {
    /// It waits for another value.
    Blocked,
    /// The cell keeps its value.
    Keep,
    /// The cell gets this one.
    Write(Value),
    /// A mutex that was destroyed: a mistake.
    Misuse,
}

/// An instruction that a thread executed, for reports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Executed {
    /// The function.
    pub function: u32,
    /// The instruction.
    pub pc: u32,
    /// Where it stored what, if it did so without anybody noticing.
    pub stored: Option<(CellId, Value)>,
}

/// Executes instructions of one thread.
#[derive(Clone, Copy)]
pub struct Steps<'c> {
    /// The program.
    pub code: &'c Code<'c>,
    /// The machine.
    pub config: &'c Config,
}

/// What became of a local instruction.
enum Local1 {
    Continue,
    Stop,
}

impl<'c> Steps<'c> {
    /// A thread at the start of a function, settled.
    pub fn start(&self, function: u32, args: &[Value], slot: usize, log: &mut Vec<Executed>) -> Local {
        let numbered = self.code.names_itself || self.config.c && self.code.locks;
        let mut local = Local {
            frames: vec![self.frame(function, args)],
            buffer: Vec::new(),
            number: if numbered { slot as u32 } else { 0 },
            critical: false,
            status: Status::Running,
        };
        self.settle(&mut local, log);
        local
    }

    fn frame(&self, function: u32, args: &[Value]) -> Frame {
        let declared = &self.code.program.functions[function as usize];
        let mut regs = vec![Value::ZERO; declared.regs.len()];
        for (reg, value) in regs.iter_mut().zip(args).take(declared.params as usize) {
            *reg = *value;
        }
        Frame { function, pc: 0, regs }
    }

    /// The instruction that a thread stands before.
    pub fn instr(&self, local: &Local) -> Option<&'c Instr> {
        self.code.instr(local.top().function, local.top().pc)
    }

    fn value(&self, local: &Local, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => local.top().regs[reg.0 as usize],
            Operand::Const(value) => value,
        }
    }

    fn set(&self, local: &mut Local, reg: Option<Reg>, value: Value) {
        if let Some(reg) = reg {
            local.top_mut().regs[reg.0 as usize] = value;
        }
    }

    /// Runs on to the next instruction that others can notice, and forgets dead registers.
    pub fn settle(&self, local: &mut Local, log: &mut Vec<Executed>) {
        let mut steps = 0u32;
        let mut milestone: Option<Local> = None;
        while local.status == Status::Running {
            if let Local1::Stop = self.local_step(local, log) {
                break;
            }
            steps += 1;
            // Brent: compare with a state that is left behind at powers of two; a return to it is an endless loop.
            if steps >= 64 {
                if milestone.as_ref() == Some(local) {
                    local.status = Status::Stuck;
                } else if steps.is_power_of_two() {
                    milestone = Some(local.clone());
                }
                if steps > MAX_LOCAL_STEPS {
                    local.status = Status::Failed(FaultKind::TooLong);
                }
            }
        }
        self.forget(local);
    }

    fn forget(&self, local: &mut Local) {
        let status = local.status;
        let length = self.code.program.functions[local.top().function as usize].body.len() as u32;
        let frame = local.top_mut();
        let goes_on = status == Status::Running
            || self.config.promising && status == Status::Failed(FaultKind::Assertion);
        let at = if goes_on { frame.pc } else { length };
        let live = self.code.live(frame.function, at);
        for (reg, value) in (0u32..).map(Reg).zip(&mut frame.regs) {
            if !live.contains(reg) {
                *value = Value::ZERO;
            }
        }
    }

    /// Executes one instruction if nobody else can notice it.
    fn local_step(&self, local: &mut Local, log: &mut Vec<Executed>) -> Local1 {
        let Some(instr) = self.instr(local) else { return self.leave(local, None) };
        let mut next = local.top().pc + 1;
        let mut here = Executed { function: local.top().function, pc: local.top().pc, stored: None };
        if self.writes_constant(local, instr) {
            return fail(local, FaultKind::Constant);
        }
        match instr {
            Instr::Assign { dst, value } => match self.rvalue(local, value) {
                Some(value) => self.set(local, Some(*dst), value),
                None => return fail(local, FaultKind::DivisionByZero),
            },
            Instr::Jump(to) => next = to.0,
            Instr::Branch { condition, then_to, else_to } => {
                next = if self.value(local, *condition).is_true() { then_to.0 } else { else_to.0 };
            }
            Instr::Fence(_) if self.config.promising => return Local1::Stop,
            Instr::Fence(fence) => match fence_effect(self.config.model, *fence) {
                FenceEffect::Drain if !local.buffer.is_empty() => return Local1::Stop,
                FenceEffect::StoreBarrier => local.push_barrier(),
                _ => log.push(here),
            },
            Instr::Call { callee, args, .. } => return self.call(local, callee, args),
            Instr::Return(value) => {
                let value = value.map(|operand| self.value(local, operand));
                return self.leave(local, value);
            }
            Instr::Assume(condition) if self.value(local, *condition).is_true() => {}
            Instr::Assume(_) => local.status = Status::Assumed,
            // The states of a round are looked at once anyway.
            Instr::Round(_) => {}
            Instr::Assert { condition, .. } if self.value(local, *condition).is_true() => {}
            Instr::Assert { kind, .. } => return fail(local, failed(*kind)),
            Instr::Defined(value) if self.value(local, *value) != Value::UNDEFINED => {}
            Instr::Defined(_) => return fail(local, FaultKind::Uninitialised),
            Instr::Fail { kind, .. } => return fail(local, failed(*kind)),
            Instr::Exit(value) => {
                let value = value.map(|operand| self.value(local, operand));
                local.frames.truncate(1);
                return end(local, value);
            }
            Instr::Halt => {
                local.frames.truncate(1);
                return halt(local);
            }
            Instr::ObjectSize { dst, addr } => match self.object_size(self.value(local, *addr)) {
                Some(size) => self.set(local, Some(*dst), size),
                None => return fail(local, FaultKind::BadPointer),
            },
            Instr::Cut => local.status = Status::Cut,
            Instr::AtomicBegin if local.critical => {}
            Instr::AtomicEnd if local.critical => {
                log.push(here);
                local.critical = false;
            }
            Instr::AtomicEnd => return fail(local, FaultKind::AtomicEnd),
            Instr::SelfThread { dst } => self.set(local, Some(*dst), Value(u64::from(local.number))),
            Instr::Store { .. } | Instr::Unlock(_) => {
                let Some((cell, value)) = self.stored(local, instr) else {
                    return self.bad_access(local, instr);
                };
                if self.checks_owner(instr) || !self.buffers_now(local) {
                    return Local1::Stop;
                }
                here.stored = Some((cell, value));
                log.push(here);
                self.buffer(local, instr, cell, value);
                if local.buffer.len() > MAX_BUFFER {
                    return fail(local, FaultKind::BufferTooLong);
                }
            }
            Instr::Load { addr, width, .. }
            | Instr::CopyLoad { addr, width, .. }
            | Instr::Await { addr, width, .. }
            | Instr::Rmw { addr, width, .. }
            | Instr::AwaitRmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. } => {
                return match self.code.cell(self.value(local, *addr), *width) {
                    Some(_) => Local1::Stop,
                    None => self.bad_access(local, instr),
                };
            }
            Instr::Lock(addr) | Instr::TryLock { addr, .. } => {
                return match self.mutex(local, *addr) {
                    Some(_) => Local1::Stop,
                    None => self.bad_access(local, instr),
                };
            }
            Instr::Spawn { callee, .. } => {
                return match self.callee(local, callee) {
                    Some(_) => Local1::Stop,
                    None => fail(local, FaultKind::BadCall),
                };
            }
            _ => return Local1::Stop,
        }
        local.top_mut().pc = next;
        Local1::Continue
    }

    /// The size of the object that an address points to; 0 for the null pointer.
    fn object_size(&self, address: Value) -> Option<Value> {
        if address == Value::ZERO {
            return Some(Value::ZERO);
        }
        let object = self.code.program.objects.get(address.as_pointer()?.0.0 as usize)?;
        Some(Value(u64::from(object.size)))
    }

    /// True if an instruction writes to an object that is constant.
    fn writes_constant(&self, local: &Local, instr: &Instr) -> bool {
        let (Instr::Store { addr, width, .. }
        | Instr::Rmw { addr, width, .. }
        | Instr::AwaitRmw { addr, width, .. }
        | Instr::CompareExchange { addr, width, .. }) = instr
        else {
            return false;
        };
        let address = self.value(local, *addr);
        let object = address.as_pointer().and_then(|(o, _)| self.code.program.objects.get(o.0 as usize));
        object.is_some_and(|object| object.constant) && self.code.cell(address, *width).is_some()
    }

    fn bad_access(&self, local: &mut Local, instr: &Instr) -> Local1 {
        let (addr, width) = match instr {
            Instr::Store { addr, width, .. }
            | Instr::Load { addr, width, .. }
            | Instr::CopyLoad { addr, width, .. }
            | Instr::Await { addr, width, .. }
            | Instr::Rmw { addr, width, .. }
            | Instr::AwaitRmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. } => (*addr, *width),
            Instr::Lock(addr) | Instr::Unlock(addr) | Instr::TryLock { addr, .. } => (*addr, Width::W32),
            _ => return fail(local, FaultKind::BadPointer),
        };
        fail(local, self.code.bad_access(self.value(local, addr), width))
    }

    /// True if a value ends the wait of an [`Next::Await`].
    pub fn ends_wait(&self, local: &Local, value: Value) -> bool {
        match self.instr(local) {
            Some(Instr::Await { until, width, .. } | Instr::AwaitRmw { until, width, .. }) => {
                let operand = self.value(local, until.operand);
                until.op.apply(*width, value, operand).is_some_and(|result| result.is_true())
            }
            _ => false,
        }
    }

    /// What a thread makes of the value in a cell; nothing if reading it is a mistake. To copy an undefined value is none,
    /// nor to read it where it was copied to, unless the access is atomic.
    pub fn reads(&self, local: &Local, value: Option<Value>) -> Option<Value> {
        match self.instr(local) {
            Some(Instr::CopyLoad { .. }) => Some(value.unwrap_or(Value::UNDEFINED)),
            Some(Instr::Load { ann, .. }) if ann.order == Order::Plain => value,
            _ => value.filter(|value| *value != Value::UNDEFINED),
        }
    }

    /// True if an instruction is an unlock that only the owner may do.
    fn checks_owner(&self, instr: &Instr) -> bool {
        self.config.c && matches!(instr, Instr::Unlock(_))
    }

    /// What stands in a mutex that the thread holds.
    pub fn owner(&self, local: &Local) -> Value {
        Value(if self.config.c { u64::from(local.number) + 1 } else { 1 })
    }

    /// True if the thread's stores wait in its buffer now.
    pub fn is_buffering(&self, local: &Local) -> bool {
        self.uses_buffer(local)
    }

    /// A mutex is a cell of 32 or 64 bits.
    fn mutex(&self, local: &Local, addr: Operand) -> Option<CellId> {
        let address = self.value(local, addr);
        self.code.cell(address, Width::W32).or_else(|| self.code.cell(address, Width::W64))
    }

    /// Where a store goes, and what it stores. Unlocking stores 0.
    fn stored(&self, local: &Local, instr: &Instr) -> Option<(CellId, Value)> {
        match instr {
            Instr::Store { addr, value, width, .. } => {
                let cell = self.code.cell(self.value(local, *addr), *width)?;
                Some((cell, width.zero_extend(self.value(local, *value))))
            }
            Instr::Unlock(addr) => Some((self.mutex(local, *addr)?, Value::ZERO)),
            _ => None,
        }
    }

    /// True if a store goes into the buffer without anybody noticing.
    fn buffers_now(&self, local: &Local) -> bool {
        self.uses_buffer(local) && self.config.age.is_none() && self.has_room(local)
    }

    /// In an atomic section nobody can see whether a store is in the buffer or in memory, and it has to be in memory
    /// at the end: it goes there at once.
    fn uses_buffer(&self, local: &Local) -> bool {
        self.config.model != Model::Sc && !local.critical
    }

    fn has_room(&self, local: &Local) -> bool {
        self.config.buffer.is_none_or(|bound| local.pending() < bound as usize)
    }

    /// True if the thread waits because its buffer is full: the bound on buffers cuts something.
    pub fn is_full(&self, local: &Local) -> bool {
        let stores = matches!(self.instr(local), Some(Instr::Store { .. } | Instr::Unlock(_)));
        local.status == Status::Running && stores && self.uses_buffer(local) && !self.has_room(local)
    }

    /// A mutex is released after everything before it, also where stores may overtake each other.
    fn buffer(&self, local: &mut Local, instr: &Instr, cell: CellId, value: Value) {
        if matches!(instr, Instr::Unlock(_)) && self.config.model == Model::Pso {
            local.push_barrier();
        }
        local.push_store(self.config.model, cell, value);
    }

    fn rvalue(&self, local: &Local, value: &Rvalue) -> Option<Value> {
        Some(match *value {
            Rvalue::Use(a) => self.value(local, a),
            Rvalue::Unary(op, width, extend, a) => {
                width.extend(extend, op.apply(width, self.value(local, a)))
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                width.extend(extend, op.apply(width, self.value(local, a), self.value(local, b))?)
            }
            Rvalue::Select(condition, a, b) => {
                self.value(local, if self.value(local, condition).is_true() { a } else { b })
            }
        })
    }

    fn callee(&self, local: &Local, callee: &Callee) -> Option<u32> {
        let number = match callee {
            Callee::Function(function) => u64::from(function.0),
            Callee::Pointer(pointer) => {
                let value = self.value(local, *pointer);
                // The null pointer is no function, although there is a function 0.
                if value == Value::ZERO {
                    return None;
                }
                value.as_function().map_or(value.0, |function| u64::from(function.0))
            }
        };
        u32::try_from(number).ok().filter(|&n| (n as usize) < self.code.program.functions.len())
    }

    fn call(&self, local: &mut Local, callee: &Callee, args: &[Operand]) -> Local1 {
        let Some(function) = self.callee(local, callee) else { return fail(local, FaultKind::BadCall) };
        if local.frames.len() == MAX_FRAMES {
            return fail(local, FaultKind::TooDeep);
        }
        let args: Vec<Value> = args.iter().map(|&arg| self.value(local, arg)).collect();
        // The caller keeps what it needs after the call.
        let frame = local.top_mut();
        let live = self.code.live(frame.function, frame.pc + 1);
        for (reg, value) in (0u32..).map(Reg).zip(&mut frame.regs) {
            if !live.contains(reg) {
                *value = Value::ZERO;
            }
        }
        local.frames.push(self.frame(function, &args));
        Local1::Continue
    }

    /// Returns from a function; the thread ends with its outermost one.
    fn leave(&self, local: &mut Local, value: Option<Value>) -> Local1 {
        if local.frames.len() == 1 {
            let program = self.code.program;
            if self.config.c && program.is_process() && local.top().function == program.threads[0].function.0
            {
                return halt(local);
            }
            return end(local, value);
        }
        local.frames.pop();
        if let Some(Instr::Call { dst, .. }) = self.instr(local) {
            self.set(local, *dst, value.unwrap_or(Value::ZERO));
        }
        local.top_mut().pc += 1;
        Local1::Continue
    }

    /// What a settled thread does next.
    pub fn next(&self, local: &Local) -> Next {
        if local.status != Status::Running {
            return Next::Idle;
        }
        let Some(instr) = self.instr(local) else { return Next::Idle };
        let drained = local.buffer.is_empty();
        match instr {
            Instr::Load { addr, width, .. } | Instr::CopyLoad { addr, width, .. } => {
                self.code.cell(self.value(local, *addr), *width).map_or(Next::Idle, Next::Load)
            }
            Instr::Await { addr, width, .. } => {
                self.code.cell(self.value(local, *addr), *width).map_or(Next::Idle, Next::Await)
            }
            Instr::Store { .. } | Instr::Unlock(_) => match self.stored(local, instr) {
                None => Next::Idle,
                Some(_) if self.uses_buffer(local) && !self.has_room(local) => Next::Wait,
                Some((cell, _)) if self.checks_owner(instr) => Next::Release(cell),
                Some((cell, value)) if !self.uses_buffer(local) => Next::Store(cell, value),
                Some((cell, value)) if self.has_room(local) => Next::Buffer(cell, value),
                Some(_) => Next::Wait,
            },
            Instr::Nondet { first, last, .. } => Next::Choose(*first, *last),
            Instr::Join { thread, .. } => Next::Join(self.value(local, *thread)),
            Instr::Spawn { callee, args, .. } => {
                let args: Vec<Value> = args.iter().map(|&arg| self.value(local, arg)).collect();
                match self.callee(local, callee) {
                    None => Next::Idle,
                    Some(_) if self.config.spawn_fences && !drained => Next::Wait,
                    Some(function) => Next::Spawn(function, args),
                }
            }
            _ if !drained => Next::Wait,
            Instr::AtomicBegin => Next::Enter,
            Instr::Rmw { addr, width, .. }
            | Instr::AwaitRmw { addr, width, .. }
            | Instr::CompareExchange { addr, width, .. } => {
                self.code.cell(self.value(local, *addr), *width).map_or(Next::Idle, Next::Update)
            }
            Instr::Lock(addr) | Instr::TryLock { addr, .. } => {
                self.mutex(local, *addr).map_or(Next::Idle, Next::Update)
            }
            _ => Next::Idle,
        }
    }

    /// What an [`Next::Update`] stores. `spurious`: a weak compare-exchange fails for no reason.
    pub fn update(&self, local: &Local, old: Value, spurious: bool) -> Update {
        match self.instr(local) {
            Some(Instr::AwaitRmw { .. }) if !self.ends_wait(local, old) => Update::Blocked,
            Some(Instr::Rmw { op, operand, width, .. } | Instr::AwaitRmw { op, operand, width, .. }) => {
                Update::Write(op.apply(*width, old, self.value(local, *operand)))
            }
            Some(Instr::CompareExchange { width, expected, desired, .. }) => {
                let equal = width.zero_extend(self.value(local, *expected)) == old;
                match equal && !spurious {
                    true => Update::Write(width.zero_extend(self.value(local, *desired))),
                    false => Update::Keep,
                }
            }
            Some(Instr::Lock(_) | Instr::TryLock { .. }) if old == Value::ZERO => {
                Update::Write(self.owner(local))
            }
            Some(Instr::TryLock { .. }) => Update::Keep,
            Some(Instr::Lock(_)) if self.config.c && Width::W32.sign_extend(old).as_i64() < 0 => {
                Update::Misuse
            }
            _ => Update::Blocked,
        }
    }

    /// True if the next instruction may also fail for no reason.
    pub fn may_fail(&self, local: &Local) -> bool {
        matches!(self.instr(local), Some(Instr::CompareExchange { weak: true, .. }))
    }

    /// The thread after its next instruction, which read (or chose, or was given) `input`; settled.
    pub fn finish(&self, local: &mut Local, input: Value, spurious: bool, log: &mut Vec<Executed>) {
        let Some(instr) = self.instr(local) else { return };
        log.push(Executed { function: local.top().function, pc: local.top().pc, stored: None });
        match instr {
            Instr::CopyLoad { dst, keeps: false, .. } if input == Value::UNDEFINED => {
                self.set(local, Some(*dst), Value::ZERO);
            }
            Instr::Load { dst, width, extend, .. } | Instr::CopyLoad { dst, width, extend, .. } => {
                self.set(local, Some(*dst), width.extend(*extend, input));
            }
            Instr::TryLock { dst, .. } => {
                self.set(local, Some(*dst), Value(u64::from(input == Value::ZERO)));
            }
            Instr::Rmw { dst, width, extend, .. }
            | Instr::Await { dst, width, extend, .. }
            | Instr::AwaitRmw { dst, width, extend, .. } => {
                self.set(local, *dst, width.extend(*extend, input))
            }
            Instr::CompareExchange { dst, success, width, extend, .. } => {
                let written = matches!(self.update(local, input, spurious), Update::Write(_));
                self.set(local, *dst, width.extend(*extend, input));
                self.set(local, *success, Value(u64::from(written)));
            }
            Instr::Store { .. } | Instr::Unlock(_) if self.uses_buffer(local) => {
                if let Some((cell, value)) = self.stored(local, instr) {
                    self.buffer(local, instr, cell, value);
                }
            }
            Instr::Nondet { dst, .. } => self.set(local, Some(*dst), input),
            Instr::AtomicBegin => local.critical = true,
            Instr::Spawn { dst, .. } | Instr::Join { dst, .. } => self.set(local, *dst, input),
            _ => {}
        }
        local.top_mut().pc += 1;
        self.settle(local, log);
    }
}

fn end(local: &mut Local, value: Option<Value>) -> Local1 {
    local.status = Status::Ended(value);
    // Where it returned matters to nobody.
    local.top_mut().pc = u32::MAX;
    Local1::Stop
}

/// The thread ends the process.
fn halt(local: &mut Local) -> Local1 {
    local.top_mut().pc = u32::MAX;
    local.status = Status::Halted;
    Local1::Stop
}

fn fail(local: &mut Local, kind: FaultKind) -> Local1 {
    local.status = Status::Failed(kind);
    Local1::Stop
}

/// The fault that a check or a failure of this kind is.
fn failed(kind: FailKind) -> FaultKind {
    match kind {
        FailKind::Assertion => FaultKind::Assertion,
        FailKind::Misuse => FaultKind::Misuse,
        FailKind::Unsupported => FaultKind::Library,
    }
}
