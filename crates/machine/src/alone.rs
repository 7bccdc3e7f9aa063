//! Programs of one thread that choose nothing: they have one execution, whatever the memory model, and running it tells how it
//! ends.
//!
//! The run is trusted only if nothing at all is suspicious: every access within a live object and of bytes that have values,
//! every condition decided, everything freed at the end. Whatever else happens is somebody else's to explain, and the reason is
//! given; only an assertion that fails at the end of a clean run is a finding, once it was confirmed elsewhere.
//!
//! Memory is bytes. A pointer is a number that names its object, so that it survives being copied byte by byte.

use fencepost_ir::{
    BinaryOp, Callee, Cell, FailKind, Instr, Object, ObjectId, Operand, Program, Reg, Rvalue, UnaryOp, Until,
    Value, Width,
};
use std::collections::HashMap;

/// Steps between two looks at the clock.
const PATIENCE: u64 = 1 << 16;

/// Calls within calls beyond this are too deep.
const MAX_FRAMES: usize = 100_000;

/// Objects that are made in a run.
const MAX_OBJECTS: usize = 1 << 22;

/// Why a run stopped that ends in a failed assertion: the one mistake that is this engine's to report.
pub const ASSERTION: &str = "an assertion fails";

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// All is well, after so many steps.
    Done(u64),
    /// Something is wrong, or this engine does not know what to make of it: where, and why.
    Stopped((u32, u32), &'static str),
    /// The caller asked to stop.
    Interrupted,
}

/// Why a program has more than one execution, or needs more than this engine knows; `None` if it can be run.
pub fn refuses(program: &Program, spurious: bool) -> Option<&'static str> {
    if program.threads.len() != 1 {
        return Some("it has several threads");
    }
    program.functions.iter().flat_map(|f| &f.body).find_map(|instr| match instr {
        Instr::Spawn { .. } => Some("it starts threads"),
        Instr::Nondet { .. } => Some("it makes choices"),
        Instr::StoreExclusive { .. } | Instr::Cut => Some("it was made for a machine"),
        Instr::CompareExchange { weak: true, .. } if spurious => Some("an exchange may fail"),
        _ => None,
    })
}

/// Runs a program to its end.
pub fn run(program: &Program, stop: &dyn Fn() -> bool) -> End {
    let mut run = Run::new(program);
    loop {
        let before = run.steps;
        while run.steps - before < PATIENCE {
            run.compute(PATIENCE);
            run.steps += 1;
            match run.step() {
                Ok(true) => {}
                Ok(false) => return run.end(),
                Err(why) => return End::Stopped(run.place(), why),
            }
        }
        if stop() {
            return End::Interrupted;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    Static,
    Heap,
    Local,
}

struct Memory {
    bytes: Vec<u8>,
    known: Vec<bool>,
    storage: Storage,
    live: bool,
    constant: bool,
}

struct Frame {
    function: u32,
    at: u32,
    /// Where its registers begin.
    base: usize,
    result: Option<Reg>,
}

struct Run<'p> {
    program: &'p Program,
    objects: Vec<Memory>,
    thread_local: HashMap<u32, u32>,
    frames: Vec<Frame>,
    /// The registers of all frames; a value that was copied from memory without one is marked.
    registers: Vec<(Value, bool)>,
    /// The thread has ended, but not the process.
    left: bool,
    steps: u64,
}

type Step<T> = Result<T, &'static str>;

impl<'p> Run<'p> {
    fn new(program: &'p Program) -> Run<'p> {
        let objects = program.objects.iter().map(|object| template(object, Storage::Static)).collect();
        let mut run = Run {
            program,
            objects,
            thread_local: HashMap::new(),
            frames: Vec::new(),
            registers: Vec::new(),
            left: false,
            steps: 0,
        };
        let main = &program.threads[0];
        let args: Vec<_> = main.args.iter().map(|&value| (value, true)).collect();
        run.enter(main.function.0, &args, None);
        run
    }

    fn place(&self) -> (u32, u32) {
        self.frames.last().map_or((0, 0), |frame| (frame.function, frame.at))
    }

    fn end(&self) -> End {
        let leaked = self.objects.iter().any(|object| object.live && object.storage == Storage::Heap);
        match leaked && self.left {
            true => End::Stopped(self.place(), "memory is left"),
            false => End::Done(self.steps),
        }
    }

    fn enter(&mut self, function: u32, args: &[(Value, bool)], result: Option<Reg>) {
        let body = &self.program.functions[function as usize];
        let base = self.registers.len();
        self.registers.resize(base + body.regs.len(), (Value::ZERO, true));
        for (slot, &value) in self.registers[base..].iter_mut().take(body.params as usize).zip(args) {
            *slot = value;
        }
        self.frames.push(Frame { function, at: 0, base, result });
    }

    /// A register or constant that must have a value.
    fn get(&self, operand: Operand) -> Step<Value> {
        match operand {
            Operand::Const(value) => Ok(value),
            Operand::Reg(reg) => match self.registers[self.base() + reg.0 as usize] {
                (value, true) => Ok(value),
                _ => Err("a value is used that nobody wrote"),
            },
        }
    }

    fn raw(&self, operand: Operand) -> (Value, bool) {
        match operand {
            Operand::Const(value) => (value, true),
            Operand::Reg(reg) => self.registers[self.base() + reg.0 as usize],
        }
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    fn set(&mut self, reg: Reg, value: Value) {
        self.set_raw(reg, (value, true));
    }

    fn set_raw(&mut self, reg: Reg, value: (Value, bool)) {
        let at = self.base() + reg.0 as usize;
        self.registers[at] = value;
    }

    fn bytes(&self, addr: Value, width: Width) -> Step<(usize, usize)> {
        let Some((ObjectId(id), offset)) = addr.as_pointer() else {
            return Err("an access through no pointer");
        };
        let Some(object) = self.objects.get(id as usize) else { return Err("an access through no pointer") };
        if !object.live {
            return Err("an access to an object that is gone");
        }
        let (offset, size) = (offset as usize, width.bytes() as usize);
        match offset + size <= object.bytes.len() {
            true => Ok((id as usize, offset)),
            false => Err("an access outside of an object"),
        }
    }

    fn load(&self, addr: Value, width: Width) -> Step<(Value, bool)> {
        let (object, at) = self.bytes(addr, width)?;
        let object = &self.objects[object];
        let size = width.bytes() as usize;
        let mut word = [0u8; 8];
        word[..size].copy_from_slice(&object.bytes[at..at + size]);
        Ok((Value(u64::from_le_bytes(word)), object.known[at..at + size].iter().all(|known| *known)))
    }

    fn read(&self, addr: Operand, width: Width) -> Step<Value> {
        match self.load(self.get(addr)?, width)? {
            (value, true) => Ok(value),
            _ => Err("memory is read that nobody wrote"),
        }
    }

    fn write(&mut self, addr: Operand, width: Width, value: (Value, bool)) -> Step<()> {
        let (object, at) = self.bytes(self.get(addr)?, width)?;
        let size = width.bytes() as usize;
        let object = &mut self.objects[object];
        if object.constant {
            return Err("a constant is written");
        }
        object.bytes[at..at + size].copy_from_slice(&value.0.0.to_le_bytes()[..size]);
        object.known[at..at + size].fill(value.1);
        Ok(())
    }

    fn make(&mut self, memory: Memory) -> Step<Value> {
        if self.objects.len() >= MAX_OBJECTS {
            return Err("too many objects are made");
        }
        self.objects.push(memory);
        Ok(Value::pointer(ObjectId(self.objects.len() as u32 - 1), 0))
    }

    fn finish(&mut self, addr: Operand, storage: Storage) -> Step<()> {
        match self.get(addr)?.as_pointer() {
            Some((ObjectId(id), 0))
                if self.objects.get(id as usize).is_some_and(|o| o.live && o.storage == storage) =>
            {
                let object = &mut self.objects[id as usize];
                (object.live, object.bytes, object.known) = (false, Vec::new(), Vec::new());
                Ok(())
            }
            _ => Err("what ends is no live object"),
        }
    }

    fn callee(&self, callee: &Callee) -> Step<u32> {
        let number = match callee {
            Callee::Function(function) => return Ok(function.0),
            Callee::Pointer(pointer) => self.get(*pointer)?,
        };
        let function = number.as_function().map_or(number.0, |f| u64::from(f.0));
        match number != Value::ZERO && function < self.program.functions.len() as u64 {
            true => Ok(function as u32),
            false => Err("a call through no function"),
        }
    }

    fn assign(&mut self, dst: Reg, value: &Rvalue) -> Step<()> {
        let value = match *value {
            Rvalue::Use(a) => self.raw(a),
            Rvalue::Unary(op @ (UnaryOp::ZeroExtend | UnaryOp::SignExtend), width, extend, a) => {
                let (value, known) = self.raw(a);
                (width.extend(extend, op.apply(width, value)), known)
            }
            Rvalue::Unary(op, width, extend, a) => {
                (width.extend(extend, op.apply(width, self.get(a)?)), true)
            }
            Rvalue::Binary(op, width, extend, a, b) => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                let value = op.apply(width, a, b).ok_or("a division by zero")?;
                (width.extend(extend, value), true)
            }
            Rvalue::Select(condition, a, b) => self.raw(if self.get(condition)?.is_true() { a } else { b }),
        };
        self.set_raw(dst, value);
        Ok(())
    }

    /// Jumps, branches and the usual computations of the running function, at most so many: as `step` does them, without
    /// looking for the function each time. It stops in front of everything else, and of what goes wrong.
    fn compute(&mut self, most: u64) {
        let Some(frame) = self.frames.last_mut() else { return };
        let body = &self.program.functions[frame.function as usize].body;
        let registers = &mut self.registers[frame.base..];
        let get = |registers: &[(Value, bool)], operand: Operand| match operand {
            Operand::Const(value) => Some(value),
            Operand::Reg(reg) => match registers[reg.0 as usize] {
                (value, true) => Some(value),
                _ => None,
            },
        };
        let (mut at, mut done) = (frame.at, 0);
        while done < most {
            match body.get(at as usize) {
                Some(Instr::Jump(label)) => at = label.0,
                Some(Instr::Branch { condition, then_to, else_to }) => {
                    let Some(condition) = get(registers, *condition) else { break };
                    at = if condition.is_true() { then_to.0 } else { else_to.0 };
                }
                Some(Instr::Assign { dst, value: Rvalue::Use(a) }) => {
                    let Some(value) = get(registers, *a) else { break };
                    registers[dst.0 as usize] = (value, true);
                    at += 1;
                }
                Some(Instr::Assign { dst, value: Rvalue::Binary(op, width, extend, a, b) }) => {
                    let (Some(a), Some(b)) = (get(registers, *a), get(registers, *b)) else { break };
                    let Some(value) = op.apply(*width, a, b) else { break };
                    registers[dst.0 as usize] = (width.extend(*extend, value), true);
                    at += 1;
                }
                _ => break,
            }
            done += 1;
        }
        frame.at = at;
        self.steps += done;
    }

    fn waited(&self, until: Until, width: Width, value: Value) -> Step<()> {
        let over = until.op.apply(width, value, self.get(until.operand)?).is_some_and(Value::is_true);
        if over { Ok(()) } else { Err("it waits for ever") }
    }

    /// One instruction; false at the end of the program.
    fn step(&mut self) -> Step<bool> {
        let Some(frame) = self.frames.last() else { return Ok(false) };
        let program = self.program;
        let Some(instr) = program.functions[frame.function as usize].body.get(frame.at as usize) else {
            return self.leave(None);
        };
        match instr {
            Instr::Jump(label) => return self.go_to(label.0),
            Instr::Branch { condition, then_to, else_to } => {
                let taken = self.get(*condition)?.is_true();
                return self.go_to(if taken { then_to.0 } else { else_to.0 });
            }
            Instr::Call { dst, callee, args } => {
                let function = self.callee(callee)?;
                if self.frames.len() >= MAX_FRAMES {
                    return Err("calls are nested too deeply");
                }
                let args: Vec<_> = args.iter().map(|arg| self.raw(*arg)).collect();
                if let Some(frame) = self.frames.last_mut() {
                    frame.at += 1;
                }
                self.enter(function, &args, *dst);
                return Ok(true);
            }
            Instr::Return(value) => {
                let value = value.map(|value| self.raw(value));
                return self.leave(value);
            }
            Instr::Halt => return Ok(false),
            Instr::Exit(_) => {
                self.left = true;
                return Ok(false);
            }
            Instr::Assign { dst, value } => self.assign(*dst, value)?,
            Instr::Load { dst, addr, width, extend, .. } => {
                let value = self.read(*addr, *width)?;
                self.set(*dst, width.extend(*extend, value));
            }
            Instr::CopyLoad { dst, addr, width, extend, keeps, .. } => {
                let (value, known) = match self.load(self.get(*addr)?, *width)? {
                    (_, false) if !keeps => (Value::ZERO, true),
                    loaded => loaded,
                };
                self.set_raw(*dst, (width.extend(*extend, value), known));
            }
            Instr::Store { addr, value, width, .. } => self.write(*addr, *width, self.raw(*value))?,
            Instr::Assume(condition) => {
                if !self.get(*condition)?.is_true() {
                    return Err("an assumption fails");
                }
            }
            Instr::Assert { condition, .. } => {
                if !self.get(*condition)?.is_true() {
                    return Err(ASSERTION);
                }
            }
            Instr::Defined(value) => drop(self.get(*value)?),
            Instr::Fence(_) | Instr::Round(_) => {}
            _ => self.other(instr)?,
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
        Ok(true)
    }

    fn go_to(&mut self, at: u32) -> Step<bool> {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = at;
        }
        Ok(true)
    }

    fn leave(&mut self, value: Option<(Value, bool)>) -> Step<bool> {
        let Some(frame) = self.frames.pop() else { return Ok(false) };
        self.registers.truncate(frame.base);
        if self.frames.is_empty() {
            return Ok(false);
        }
        if let Some(result) = frame.result {
            self.set_raw(result, value.unwrap_or((Value::ZERO, true)));
        }
        Ok(true)
    }

    /// Read-modify-writes, locks and objects.
    fn other(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Rmw { dst, addr, width, extend, op, operand, .. } => {
                let old = self.read(*addr, *width)?;
                let new = op.apply(*width, old, self.get(*operand)?);
                self.write(*addr, *width, (new, true))?;
                self.set_some(*dst, width.extend(*extend, old));
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let old = self.read(*addr, *width)?;
                let same = width.zero_extend(self.get(*expected)?) == old;
                if same {
                    let desired = (self.get(*desired)?, true);
                    self.write(*addr, *width, desired)?;
                }
                self.set_some(*dst, width.extend(*extend, old));
                self.set_some(*success, Value(u64::from(same)));
            }
            Instr::Await { dst, addr, width, extend, until, .. } => {
                let value = self.read(*addr, *width)?;
                self.waited(*until, *width, value)?;
                self.set_some(*dst, width.extend(*extend, value));
            }
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, .. } => {
                let old = self.read(*addr, *width)?;
                self.waited(*until, *width, old)?;
                let new = op.apply(*width, old, self.get(*operand)?);
                self.write(*addr, *width, (new, true))?;
                self.set_some(*dst, width.extend(*extend, old));
            }
            Instr::Lock(addr) => {
                let free = Until { op: BinaryOp::Eq, operand: Operand::Const(Value::ZERO) };
                let held = self.read(*addr, Width::W32)?;
                self.waited(free, Width::W32, held)?;
                self.write(*addr, Width::W32, (Value(1), true))?;
            }
            Instr::TryLock { dst, addr } => {
                let free = self.read(*addr, Width::W32)? == Value::ZERO;
                if free {
                    self.write(*addr, Width::W32, (Value(1), true))?;
                }
                self.set(*dst, Value(u64::from(free)));
            }
            Instr::Unlock(addr) => {
                if self.read(*addr, Width::W32)? != Value(1) {
                    return Err("a mutex is unlocked that is not held");
                }
                self.write(*addr, Width::W32, (Value::ZERO, true))?;
            }
            _ => return self.object(instr),
        }
        Ok(())
    }

    fn set_some(&mut self, reg: Option<Reg>, value: Value) {
        if let Some(reg) = reg {
            self.set(reg, value);
        }
    }

    fn object(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Alloc { dst, size, zeroed } => {
                let size = self.get(*size)?.0;
                if size > 1 << 28 {
                    return Err("an allocation is very large");
                }
                let (bytes, known) = (vec![0; size as usize], vec![*zeroed; size as usize]);
                let made =
                    self.make(Memory { bytes, known, storage: Storage::Heap, live: true, constant: false })?;
                self.set(*dst, made);
            }
            Instr::Free(addr) => {
                if self.get(*addr)? != Value::ZERO {
                    self.finish(*addr, Storage::Heap)?;
                }
            }
            Instr::Local { dst, object, .. } => {
                let made = self.make(template(object, Storage::Local))?;
                self.set(*dst, made);
            }
            Instr::EndLocal(addr) => self.finish(*addr, Storage::Local)?,
            Instr::ThreadLocal { dst, object } => {
                let id = match self.thread_local.get(&object.0) {
                    Some(&id) => id,
                    None => {
                        let copy = template(&self.program.objects[object.0 as usize], Storage::Static);
                        self.make(copy)?;
                        let id = self.objects.len() as u32 - 1;
                        self.thread_local.insert(object.0, id);
                        id
                    }
                };
                self.set(*dst, Value::pointer(ObjectId(id), 0));
            }
            Instr::ObjectSize { dst, addr } => {
                let size = match self.get(*addr)?.as_pointer() {
                    Some((ObjectId(id), _)) => self.objects.get(id as usize).map_or(0, |o| o.bytes.len()),
                    None => 0,
                };
                self.set(*dst, Value(size as u64));
            }
            Instr::SelfThread { dst } => self.set(*dst, Value::ZERO),
            Instr::AtomicBegin | Instr::AtomicEnd => {}
            Instr::Fail { kind: FailKind::Assertion, .. } => return Err(ASSERTION),
            Instr::Fail { .. } => return Err("the program reports a mistake"),
            _ => return Err("this instruction is for several threads"),
        }
        Ok(())
    }
}

/// The bytes of an object as it is declared.
fn template(object: &Object, storage: Storage) -> Memory {
    let size = object.size as usize;
    let constant = object.constant;
    let mut memory = Memory { bytes: vec![0; size], known: vec![false; size], storage, live: true, constant };
    // What is between the cells is zero; of a global object all is that has no other value.
    memory.known.fill(true);
    if storage != Storage::Static {
        for Cell { offset, width, .. } in &object.cells {
            let end = ((offset + width.bytes()) as usize).min(size);
            memory.known[(*offset as usize).min(end)..end].fill(false);
        }
    }
    for Cell { offset, width, init } in &object.cells {
        let (at, bytes) = (*offset as usize, width.bytes() as usize);
        if let (Some(value), true) = (init, at + bytes <= size) {
            memory.bytes[at..at + bytes].copy_from_slice(&value.0.to_le_bytes()[..bytes]);
            memory.known[at..at + bytes].fill(true);
        }
    }
    memory
}
