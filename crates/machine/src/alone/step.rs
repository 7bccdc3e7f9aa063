//! One instruction at a time: all of them, and what is wrong with each.

use super::memory::Storage;
use super::{ASSERTION, Frame, Run};
use fencepost_ir::{BinaryOp, Callee, FailKind, Instr, Operand, Reg, Rvalue, UnaryOp, Until, Value, Width};

/// Calls within calls beyond this are too deep.
const MAX_FRAMES: usize = 100_000;

/// What an instruction gives, or why the run stops in front of it.
pub(super) type Step<T> = Result<T, &'static str>;

impl Run<'_> {
    /// A register or constant that must have a value.
    fn get(&self, operand: Operand) -> Step<Value> {
        match self.raw(operand) {
            Value::UNDEFINED => Err("a value is used that nobody wrote"),
            value => Ok(value),
        }
    }

    fn raw(&self, operand: Operand) -> Value {
        match operand {
            Operand::Const(value) => value,
            Operand::Reg(reg) => Value(self.registers[self.base() + reg.0 as usize]),
        }
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    fn set(&mut self, reg: Reg, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.careful |= value == Value::UNDEFINED;
            self.registers[frame.base + reg.0 as usize] = value.0;
        }
    }

    fn set_some(&mut self, reg: Option<Reg>, value: Value) {
        if let Some(reg) = reg {
            self.set(reg, value);
        }
    }

    fn read(&self, addr: Operand, width: Width) -> Step<Value> {
        match self.memory.load(self.get(addr)?, width)? {
            (value, true) => Ok(value),
            _ => Err("memory is read that nobody wrote"),
        }
    }

    fn write(&mut self, addr: Operand, width: Width, value: Value) -> Step<()> {
        self.memory.store(self.get(addr)?, width, value)
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
                width.extend(extend, op.apply(width, self.raw(a)))
            }
            Rvalue::Unary(op, width, extend, a) => width.extend(extend, op.apply(width, self.get(a)?)),
            Rvalue::Binary(op, width, extend, a, b) => {
                let (a, b) = (self.get(a)?, self.get(b)?);
                width.extend(extend, op.apply(width, a, b).ok_or("a division by zero")?)
            }
            Rvalue::Select(condition, a, b) => self.raw(if self.get(condition)?.is_true() { a } else { b }),
        };
        self.set(dst, value);
        Ok(())
    }

    fn waited(&self, until: Until, width: Width, value: Value) -> Step<()> {
        let over = until.op.apply(width, value, self.get(until.operand)?).is_some_and(Value::is_true);
        if over { Ok(()) } else { Err("it waits for ever") }
    }

    /// One instruction; false at the end of the program.
    pub(super) fn step(&mut self) -> Step<bool> {
        let Some(frame) = self.frames.last() else { return Ok(false) };
        let program = self.program;
        let Some(instr) = program.functions[frame.function as usize].body.get(frame.at as usize) else {
            return self.leave(Value::ZERO);
        };
        match instr {
            Instr::Jump(label) => return self.go_to(label.0),
            Instr::Branch { condition, then_to, else_to } => {
                let taken = self.get(*condition)?.is_true();
                return self.go_to(if taken { then_to.0 } else { else_to.0 });
            }
            Instr::Call { dst, callee, args } => return self.call(*dst, callee, args),
            Instr::Return(value) => return self.leave(value.map_or(Value::ZERO, |value| self.raw(value))),
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
                let value = match self.memory.load(self.get(*addr)?, *width)? {
                    (value, true) => value,
                    _ if *keeps => Value::UNDEFINED,
                    _ => Value::ZERO,
                };
                self.set(*dst, width.extend(*extend, value));
            }
            Instr::Store { addr, value, width, .. } => self.write(*addr, *width, self.raw(*value))?,
            Instr::Assume(condition) => {
                if !self.get(*condition)?.is_true() {
                    return Err("an assumption fails");
                }
            }
            Instr::Assert { condition, kind, .. } => {
                if !self.get(*condition)?.is_true() {
                    return Err(failed(*kind));
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

    fn call(&mut self, result: Option<Reg>, callee: &Callee, args: &[Operand]) -> Step<bool> {
        let function = self.callee(callee)?;
        if self.frames.len() >= MAX_FRAMES {
            return Err("calls are nested too deeply");
        }
        let base = self.make_room(function);
        let params = self.program.functions[function as usize].params as usize;
        let mut careful = false;
        for (at, arg) in args.iter().enumerate().take(params) {
            let value = self.raw(*arg);
            careful |= value == Value::UNDEFINED;
            self.registers[base + at] = value.0;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.at += 1;
        }
        self.frames.push(Frame { function, at: 0, base, result, careful });
        Ok(true)
    }

    fn leave(&mut self, value: Value) -> Step<bool> {
        let Some(frame) = self.frames.pop() else { return Ok(false) };
        if self.frames.is_empty() {
            return Ok(false);
        }
        self.set_some(frame.result, value);
        Ok(true)
    }

    /// Read-modify-writes and locks.
    fn other(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Rmw { dst, addr, width, extend, op, operand, .. } => {
                let old = self.read(*addr, *width)?;
                let new = op.apply(*width, old, self.get(*operand)?);
                self.write(*addr, *width, new)?;
                self.set_some(*dst, width.extend(*extend, old));
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let old = self.read(*addr, *width)?;
                let same = width.zero_extend(self.get(*expected)?) == old;
                if same {
                    let desired = self.get(*desired)?;
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
                self.write(*addr, *width, new)?;
                self.set_some(*dst, width.extend(*extend, old));
            }
            Instr::Lock(addr) => {
                let free = Until { op: BinaryOp::Eq, operand: Operand::Const(Value::ZERO) };
                let held = self.read(*addr, Width::W32)?;
                self.waited(free, Width::W32, held)?;
                self.write(*addr, Width::W32, Value(1))?;
            }
            Instr::TryLock { dst, addr } => {
                let free = self.read(*addr, Width::W32)? == Value::ZERO;
                if free {
                    self.write(*addr, Width::W32, Value(1))?;
                }
                self.set(*dst, Value(u64::from(free)));
            }
            Instr::Unlock(addr) => {
                if self.read(*addr, Width::W32)? != Value(1) {
                    return Err("a mutex is unlocked that is not held");
                }
                self.write(*addr, Width::W32, Value::ZERO)?;
            }
            _ => return self.object(instr),
        }
        Ok(())
    }

    /// Objects, and the rest.
    fn object(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Alloc { dst, size, zeroed } => {
                let size = self.get(*size)?.0;
                let made = self.memory.allocate(size, *zeroed)?;
                self.set(*dst, made);
            }
            Instr::Free(addr) => {
                let addr = self.get(*addr)?;
                if addr != Value::ZERO {
                    self.memory.end(addr, Storage::Heap)?;
                }
            }
            Instr::Local { dst, object, .. } => {
                let made = self.memory.make(object, Storage::Local)?;
                self.set(*dst, made);
            }
            Instr::EndLocal(addr) => self.memory.end(self.get(*addr)?, Storage::Local)?,
            Instr::ThreadLocal { dst, object } => {
                let copy = match self.thread_local.get(&object.0) {
                    Some(&copy) => copy,
                    None => {
                        let declared = &self.program.objects[object.0 as usize];
                        let copy = self.memory.make(declared, Storage::Static)?;
                        self.thread_local.insert(object.0, copy);
                        copy
                    }
                };
                self.set(*dst, copy);
            }
            Instr::ObjectSize { dst, addr } => {
                let size = self.memory.size(self.get(*addr)?);
                self.set(*dst, Value(size as u64));
            }
            Instr::SelfThread { dst } => self.set(*dst, Value::ZERO),
            Instr::AtomicBegin | Instr::AtomicEnd => {}
            Instr::Fail { kind, .. } => return Err(failed(*kind)),
            _ => return Err("this instruction is for several threads"),
        }
        Ok(())
    }
}

/// Why the run ends at a check or a failure of this kind.
fn failed(kind: FailKind) -> &'static str {
    match kind {
        FailKind::Assertion => ASSERTION,
        FailKind::Misuse | FailKind::Unsupported => "the program reports a mistake",
    }
}
