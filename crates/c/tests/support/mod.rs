//! A small interpreter of the IR with a random scheduler: enough to see what a lowered program does, and no engine of
//! the product. It can buffer stores as TSO and PSO do, with the usual compilation of C11 atomics: a sequentially
//! consistent store is followed by a full fence, read-modify-writes are full fences, and on PSO a release store or fence is
//! preceded by a store barrier.

#![allow(dead_code, missing_docs)]

use fencepost_ir::{Ann, Fence, Order};
use fencepost_ir::{
    Callee, Cell, Function, FunctionId, Instr, ObjectId, Operand, Program, Reg, Rvalue, Value, Width,
};
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// All threads ended; what `main` returned.
    Done(i64),
    /// An assumption failed.
    Assumed,
    /// Some threads wait for ever.
    Deadlock,
    /// A finding.
    Finding(String),
    /// Too many steps.
    Steps,
}

/// What happens to a store.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Memory {
    /// It is in memory at once.
    Sc,
    /// It waits in a buffer, in order.
    Tso,
    /// It waits in a buffer, in order with those to the same place and across barriers.
    Pso,
}

/// A buffered store, or a barrier between stores.
#[derive(Clone, Copy, PartialEq)]
enum Buffered {
    Store(Value, Width, Value),
    Barrier,
}

struct Object {
    name: String,
    size: u32,
    live: bool,
    heap: bool,
    zeroed: bool,
    declared: Vec<Cell>,
    touched: BTreeMap<u32, (Width, Option<Value>)>,
}

struct Frame {
    function: FunctionId,
    at: usize,
    regs: Vec<Value>,
    result: Option<Reg>,
}

#[derive(PartialEq)]
enum State {
    Running,
    Ended(Value),
}

struct Thread {
    frames: Vec<Frame>,
    state: State,
    locals: BTreeMap<u32, ObjectId>,
    buffer: Vec<Buffered>,
    /// The address of the last exclusive load, and how often it had been written.
    reserved: Option<(u64, u64)>,
}

pub struct Machine<'p> {
    memory: Memory,
    program: &'p Program,
    objects: Vec<Object>,
    threads: Vec<Thread>,
    seed: u64,
    atomic: Option<usize>,
    halted: bool,
    /// How often each address was written, for reservations.
    written: BTreeMap<u64, u64>,
}

enum Step {
    Next,
    Blocked,
    Stop(End),
}

type Access<T> = Result<T, String>;

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, seed: u64) -> Machine<'p> {
        Machine::with_memory(program, seed, Memory::Sc)
    }

    pub fn with_memory(program: &'p Program, seed: u64, memory: Memory) -> Machine<'p> {
        let objects = program
            .objects
            .iter()
            .map(|o| Object {
                name: o.name.clone(),
                size: o.size,
                live: true,
                heap: false,
                zeroed: false,
                declared: o.cells.clone(),
                touched: BTreeMap::new(),
            })
            .collect();
        let mut machine = Machine {
            memory,
            program,
            objects,
            threads: Vec::new(),
            seed: seed | 1,
            atomic: None,
            halted: false,
            written: BTreeMap::new(),
        };
        for thread in &program.threads {
            machine.start(thread.function, thread.args.clone());
        }
        machine
    }

    fn start(&mut self, function: FunctionId, args: Vec<Value>) -> usize {
        let frame = self.frame(function, &args, None);
        self.threads.push(Thread {
            frames: vec![frame],
            state: State::Running,
            locals: BTreeMap::new(),
            buffer: Vec::new(),
            reserved: None,
        });
        self.threads.len() - 1
    }

    fn function(&self, id: FunctionId) -> &'p Function {
        &self.program.functions[id.0 as usize]
    }

    fn frame(&self, function: FunctionId, args: &[Value], result: Option<Reg>) -> Frame {
        let def = self.function(function);
        let mut regs = vec![Value::ZERO; def.regs.len()];
        let params = (def.params as usize).min(args.len());
        regs[..params].copy_from_slice(&args[..params]);
        Frame { function, at: 0, regs, result }
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 11) as usize % below.max(1)
    }

    pub fn run(&mut self, limit: usize) -> End {
        let mut steps = 0;
        loop {
            let mut order: Vec<usize> =
                (0..self.threads.len()).filter(|&t| self.threads[t].state == State::Running).collect();
            if order.is_empty() || self.halted {
                (0..self.threads.len()).for_each(|t| self.drain(t));
                let State::Ended(value) = self.threads[0].state else { return End::Done(0) };
                return End::Done(value.as_i64());
            }
            if let Some(thread) = self.atomic {
                order = vec![thread];
            }
            let rotate = self.random(order.len());
            order.rotate_left(rotate);
            let mut moved = false;
            for thread in order {
                let mut budget = 1 + self.random(6);
                while budget > 0 && self.threads[thread].state == State::Running {
                    steps += 1;
                    if steps > limit {
                        return End::Steps;
                    }
                    match self.step(thread) {
                        Step::Next => moved = true,
                        Step::Blocked => break,
                        Step::Stop(end) => return end,
                    }
                    budget -= 1;
                }
                if moved {
                    break;
                }
            }
            let waiting: Vec<usize> =
                (0..self.threads.len()).filter(|&t| !self.threads[t].buffer.is_empty()).collect();
            if !waiting.is_empty() && (!moved || self.random(6) == 0) {
                let thread = waiting[self.random(waiting.len())];
                self.flush_one(thread);
                moved = true;
            }
            if !moved {
                return End::Deadlock;
            }
        }
    }

    /// The final values of a global array or variable, sign-extended.
    pub fn global(&self, name: &str) -> Vec<i64> {
        let index = self.objects.iter().position(|o| o.name == name).expect("a global of that name");
        let object = &self.objects[index];
        object
            .declared
            .iter()
            .map(|c| {
                let value = match object.touched.get(&c.offset) {
                    Some((_, value)) => *value,
                    None => c.init,
                };
                c.width.sign_extend(value.unwrap_or_default()).as_i64()
            })
            .collect()
    }

    fn get(&self, thread: usize, operand: Operand) -> Value {
        match operand {
            Operand::Const(value) => value,
            Operand::Reg(reg) => self.top(thread).regs[reg.0 as usize],
        }
    }

    fn set(&mut self, thread: usize, reg: Reg, value: Value) {
        let frame = self.threads[thread].frames.last_mut().expect("a frame");
        frame.regs[reg.0 as usize] = value;
    }

    fn top(&self, thread: usize) -> &Frame {
        self.threads[thread].frames.last().expect("a frame")
    }

    fn cell(&mut self, addr: Value, width: Width) -> Access<&mut Option<Value>> {
        let Some((id, offset)) = addr.as_pointer() else {
            return Err(if addr == Value::ZERO {
                "null pointer".into()
            } else {
                format!("bad pointer {addr:?}")
            });
        };
        let Some(object) = self.objects.get_mut(id.0 as usize) else { return Err("bad object".into()) };
        if !object.live {
            return Err(format!("use after free of {}", object.name));
        }
        let end = offset.checked_add(width.bytes()).filter(|e| *e <= object.size);
        let Some(end) = end else { return Err(format!("out of bounds of {}", object.name)) };
        let exact = object.touched.get(&offset).is_some_and(|(w, _)| *w == width);
        if !exact {
            let overlaps = |at: u32, w: Width| at < end && offset < at + w.bytes();
            if object.touched.iter().any(|(at, (w, _))| overlaps(*at, *w)) {
                return Err(format!("access of another size to {}", object.name));
            }
            let declared = object.declared.iter().find(|c| c.offset == offset && c.width == width);
            let value = match declared {
                Some(cell) => cell.init,
                None if object.declared.iter().any(|c| overlaps(c.offset, c.width)) => {
                    return Err(format!("access of another size to {}", object.name));
                }
                None => object.zeroed.then_some(Value::ZERO),
            };
            object.touched.insert(offset, (width, value));
        }
        Ok(&mut object.touched.get_mut(&offset).expect("just made").1)
    }

    fn read(&mut self, addr: Value, width: Width) -> Access<Value> {
        match *self.cell(addr, width)? {
            Some(value) => Ok(value),
            None => Err("uninitialised read".into()),
        }
    }

    fn write(&mut self, addr: Value, width: Width, value: Value) -> Access<()> {
        *self.written.entry(addr.0).or_default() += 1;
        *self.cell(addr, width)? = Some(width.zero_extend(value));
        Ok(())
    }

    /// Lets one buffered store of a thread reach memory.
    fn flush_one(&mut self, thread: usize) {
        let buffer = &self.threads[thread].buffer;
        let end = match self.memory {
            Memory::Pso => buffer.iter().position(|b| *b == Buffered::Barrier).unwrap_or(buffer.len()).max(1),
            _ => 1,
        };
        let mut index = self.random(end);
        let buffer = &mut self.threads[thread].buffer;
        // Stores to one place stay in order.
        if let Buffered::Store(addr, _, _) = buffer[index] {
            index = buffer
                .iter()
                .position(|b| matches!(b, Buffered::Store(a, _, _) if *a == addr))
                .unwrap_or(index);
        }
        if let Buffered::Store(addr, width, value) = buffer.remove(index) {
            // The object may have ended meanwhile; then nobody can see the store.
            self.write(addr, width, value).ok();
        }
    }

    /// A full fence.
    fn drain(&mut self, thread: usize) {
        while !self.threads[thread].buffer.is_empty() {
            self.flush_one(thread);
        }
    }

    /// An ordinary read: the thread's own newest store, or memory.
    fn load(&mut self, thread: usize, addr: Value, width: Width) -> Access<Value> {
        self.cell(addr, width)?;
        let own = self.threads[thread].buffer.iter().rev().find_map(|b| match b {
            Buffered::Store(a, _, value) if *a == addr => Some(*value),
            _ => None,
        });
        own.map_or_else(|| self.read(addr, width), Ok)
    }

    /// An ordinary store.
    fn store(&mut self, thread: usize, addr: Value, width: Width, value: Value, ann: Ann) -> Access<()> {
        self.cell(addr, width)?;
        let buffer = &mut self.threads[thread].buffer;
        if ann.order.releases() {
            buffer.push(Buffered::Barrier);
        }
        buffer.push(Buffered::Store(addr, width, width.zero_extend(value)));
        if self.memory == Memory::Sc || ann.order == Order::SeqCst {
            self.drain(thread);
        }
        Ok(())
    }

    fn fence(&mut self, thread: usize, fence: Fence) {
        match fence {
            Fence::C11(Order::SeqCst) | Fence::Sync | Fence::Mfence | Fence::DmbSy | Fence::DsbSy => {
                self.drain(thread)
            }
            Fence::C11(Order::Release | Order::AcqRel)
            | Fence::Sfence
            | Fence::Lwsync
            | Fence::Eieio
            | Fence::DmbSt
            | Fence::DsbSt => self.threads[thread].buffer.push(Buffered::Barrier),
            _ => {}
        }
    }

    fn make(&mut self, name: &str, size: u32, declared: Vec<Cell>, heap: bool, zeroed: bool) -> Value {
        let touched = BTreeMap::new();
        self.objects.push(Object { name: name.into(), size, live: true, heap, zeroed, declared, touched });
        Value::pointer(ObjectId(self.objects.len() as u32 - 1), 0)
    }

    fn end_object(&mut self, addr: Value, heap: bool) -> Access<()> {
        if heap && addr == Value::ZERO {
            return Ok(());
        }
        match addr.as_pointer() {
            Some((id, 0)) => {
                let object = &mut self.objects[id.0 as usize];
                if object.heap != heap {
                    return Err("invalid free".into());
                }
                if !std::mem::replace(&mut object.live, false) {
                    return Err("double free".into());
                }
                Ok(())
            }
            _ => Err("invalid free".into()),
        }
    }

    fn step(&mut self, thread: usize) -> Step {
        let frame = self.top(thread);
        let function = self.function(frame.function);
        let Some(instr) = function.body.get(frame.at) else { return self.return_from(thread, Value::ZERO) };
        let at = frame.at;
        self.threads[thread].frames.last_mut().expect("a frame").at += 1;
        match self.execute(thread, instr) {
            Ok(Step::Blocked) => {
                self.threads[thread].frames.last_mut().expect("a frame").at = at;
                Step::Blocked
            }
            Ok(step) => step,
            Err(finding) => Step::Stop(End::Finding(finding)),
        }
    }

    fn return_from(&mut self, thread: usize, value: Value) -> Step {
        let frame = self.threads[thread].frames.pop().expect("a frame");
        if self.threads[thread].frames.is_empty() {
            self.drain(thread);
            self.threads[thread].state = State::Ended(value);
            // The return of main ends the process.
            self.halted |= thread == 0;
        } else if let Some(reg) = frame.result {
            self.set(thread, reg, value);
        }
        Step::Next
    }

    fn rvalue(&self, thread: usize, value: &Rvalue) -> Access<Value> {
        let get = |operand: &Operand| self.get(thread, *operand);
        Ok(match value {
            Rvalue::Use(a) => get(a),
            Rvalue::Unary(op, width, extend, a) => width.extend(*extend, op.apply(*width, get(a))),
            Rvalue::Binary(op, width, extend, a, b) => {
                let value = op.apply(*width, get(a), get(b)).ok_or("division by zero")?;
                width.extend(*extend, value)
            }
            Rvalue::Select(a, b, c) => get(if get(a).is_true() { b } else { c }),
        })
    }

    fn callee(&self, thread: usize, callee: &Callee) -> Access<FunctionId> {
        match callee {
            Callee::Function(id) => Ok(*id),
            Callee::Pointer(pointer) => {
                self.get(thread, *pointer).as_function().ok_or("call of a bad pointer".into())
            }
        }
    }

    fn execute(&mut self, thread: usize, instr: &Instr) -> Access<Step> {
        let get = |machine: &Self, operand: &Operand| machine.get(thread, *operand);
        let full = matches!(
            instr,
            Instr::Rmw { .. }
                | Instr::StoreExclusive { .. }
                | Instr::CompareExchange { .. }
                | Instr::AwaitRmw { .. }
                | Instr::Lock(_)
                | Instr::TryLock { .. }
                | Instr::Unlock(_)
                | Instr::Spawn { .. }
                | Instr::Join { .. }
                | Instr::Exit(_)
                | Instr::Free(_)
                | Instr::EndLocal(_)
                | Instr::AtomicBegin
                | Instr::AtomicEnd
        );
        if full {
            self.drain(thread);
        }
        match instr {
            Instr::Assign { dst, value } => {
                let value = self.rvalue(thread, value)?;
                self.set(thread, *dst, value);
            }
            Instr::Load { dst, addr, width, extend, ann } => {
                let addr = get(self, addr);
                let value = self.load(thread, addr, *width)?;
                if ann.exclusive {
                    let writes = self.written.get(&addr.0).copied().unwrap_or(0);
                    self.threads[thread].reserved = Some((addr.0, writes));
                }
                self.set(thread, *dst, width.extend(*extend, value));
            }
            Instr::CopyLoad { dst, addr, width, extend, keeps, .. } => {
                let addr = get(self, addr);
                let missing = if *keeps { Value::UNDEFINED } else { Value::ZERO };
                let value = match self.cell(addr, *width)? {
                    Some(_) => self.load(thread, addr, *width)?,
                    None => self.load(thread, addr, *width).unwrap_or(missing),
                };
                let value = if value == Value::UNDEFINED { missing } else { value };
                self.set(thread, *dst, width.extend(*extend, value));
            }
            Instr::Store { addr, value, width, ann } => {
                self.store(thread, get(self, addr), *width, get(self, value), *ann)?;
            }
            Instr::StoreExclusive { status, success, addr, value, width, .. } => {
                let (addr, value) = (get(self, addr), get(self, value));
                let writes = self.written.get(&addr.0).copied().unwrap_or(0);
                let stores = self.threads[thread].reserved.take() == Some((addr.0, writes));
                if stores {
                    self.write(addr, *width, value)?;
                }
                let outcome = if stores { *success } else { 1 - *success };
                self.set(thread, *status, Value(u64::from(outcome)));
            }
            Instr::Rmw { dst, addr, width, extend, op, operand, .. } => {
                let (addr, operand) = (get(self, addr), get(self, operand));
                let old = self.read(addr, *width)?;
                self.write(addr, *width, op.apply(*width, old, operand))?;
                if let Some(dst) = dst {
                    self.set(thread, *dst, width.extend(*extend, old));
                }
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let (addr, expected) = (get(self, addr), get(self, expected));
                let desired = get(self, desired);
                let old = self.read(addr, *width)?;
                let same = width.zero_extend(old) == width.zero_extend(expected);
                if same {
                    self.write(addr, *width, desired)?;
                }
                if let Some(dst) = dst {
                    self.set(thread, *dst, width.extend(*extend, old));
                }
                if let Some(success) = success {
                    self.set(thread, *success, Value(u64::from(same)));
                }
            }
            Instr::Await { dst, addr, width, extend, until, .. } => {
                let value = self.load(thread, get(self, addr), *width)?;
                let done = until.op.apply(*width, value, get(self, &until.operand)).ok_or("division")?;
                if !done.is_true() {
                    return Ok(Step::Blocked);
                }
                if let Some(dst) = dst {
                    self.set(thread, *dst, width.extend(*extend, value));
                }
            }
            Instr::AwaitRmw { dst, addr, width, extend, until, op, operand, .. } => {
                let (addr, operand) = (get(self, addr), get(self, operand));
                let old = self.read(addr, *width)?;
                let done = until.op.apply(*width, old, get(self, &until.operand)).ok_or("division")?;
                if !done.is_true() {
                    return Ok(Step::Blocked);
                }
                self.write(addr, *width, op.apply(*width, old, operand))?;
                if let Some(dst) = dst {
                    self.set(thread, *dst, width.extend(*extend, old));
                }
            }
            Instr::Lock(addr) => {
                let addr = get(self, addr);
                let held = Width::W32.sign_extend(self.read(addr, Width::W32)?).as_i64();
                if held < 0 {
                    return Err("lock of a mutex that was destroyed".into());
                }
                if held > 0 {
                    return Ok(Step::Blocked);
                }
                self.write(addr, Width::W32, Value(thread as u64 + 1))?;
            }
            Instr::TryLock { dst, addr } => {
                let addr = get(self, addr);
                let free = self.read(addr, Width::W32)? == Value::ZERO;
                if free {
                    self.write(addr, Width::W32, Value(thread as u64 + 1))?;
                }
                self.set(thread, *dst, Value(u64::from(free)));
            }
            Instr::Unlock(addr) => {
                let addr = get(self, addr);
                if self.read(addr, Width::W32)? != Value(thread as u64 + 1) {
                    return Err("unlock of a mutex that is not held".into());
                }
                self.write(addr, Width::W32, Value::ZERO)?;
            }
            Instr::Round(_) => {}
            Instr::Fence(fence) => self.fence(thread, *fence),
            Instr::Jump(label) => {
                self.threads[thread].frames.last_mut().expect("a frame").at = label.0 as usize
            }
            Instr::Branch { condition, then_to, else_to } => {
                let label = if get(self, condition).is_true() { then_to } else { else_to };
                self.threads[thread].frames.last_mut().expect("a frame").at = label.0 as usize;
            }
            Instr::Call { dst, callee, args } => {
                let function = self.callee(thread, callee)?;
                let args: Vec<Value> = args.iter().map(|a| get(self, a)).collect();
                if self.threads[thread].frames.len() > 500 {
                    return Ok(Step::Stop(End::Steps));
                }
                let frame = self.frame(function, &args, *dst);
                self.threads[thread].frames.push(frame);
            }
            Instr::Return(value) => {
                let value = value.map_or(Value::ZERO, |v| self.get(thread, v));
                return Ok(self.return_from(thread, value));
            }
            Instr::Spawn { dst, callee, args } => {
                let function = self.callee(thread, callee)?;
                let args: Vec<Value> = args.iter().map(|a| get(self, a)).collect();
                let number = self.start(function, args);
                if let Some(dst) = dst {
                    self.set(thread, *dst, Value(number as u64));
                }
            }
            Instr::Join { thread: other, dst } => {
                let number = get(self, other).0 as usize;
                let Some(other) = self.threads.get(number) else { return Err("join of a bad thread".into()) };
                let State::Ended(value) = other.state else { return Ok(Step::Blocked) };
                if let Some(dst) = dst {
                    self.set(thread, *dst, value);
                }
            }
            Instr::Exit(value) => {
                let value = value.map_or(Value::ZERO, |v| self.get(thread, v));
                self.threads[thread].state = State::Ended(value);
            }
            Instr::Halt => {
                self.halted = true;
                self.threads[thread].state = State::Ended(Value::ZERO);
            }
            Instr::Assume(condition) => {
                if !get(self, condition).is_true() {
                    return Ok(Step::Stop(End::Assumed));
                }
            }
            Instr::Assert { condition, message, .. } => {
                if !get(self, condition).is_true() {
                    return Err(format!("assertion fails: {message}"));
                }
            }
            Instr::Defined(value) => {
                if get(self, value) == Value::UNDEFINED {
                    return Err("an undefined value is used".into());
                }
            }
            Instr::Fail { kind, message } => return Err(format!("{kind:?}: {message}")),
            Instr::Nondet { dst, first, last } => {
                let span = last.wrapping_sub(*first).min(7) as usize + 1;
                let value = first.wrapping_add(self.random(span) as i64);
                self.set(thread, *dst, Value::from_i64(value));
            }
            Instr::Alloc { dst, size, zeroed } => {
                let size = get(self, size).0 as u32;
                let pointer = self.make("malloc", size, Vec::new(), true, *zeroed);
                self.set(thread, *dst, pointer);
            }
            Instr::Free(addr) => self.end_object(get(self, addr), true)?,
            Instr::Local { dst, object, .. } => {
                let pointer = self.make(&object.name, object.size, object.cells.clone(), false, false);
                self.set(thread, *dst, pointer);
            }
            Instr::EndLocal(addr) => self.end_object(get(self, addr), false)?,
            Instr::ThreadLocal { dst, object } => {
                let id = match self.threads[thread].locals.get(&object.0) {
                    Some(id) => *id,
                    None => {
                        let template = &self.program.objects[object.0 as usize];
                        let (name, size, cells) =
                            (template.name.clone(), template.size, template.cells.clone());
                        let pointer = self.make(&name, size, cells, false, false);
                        let (id, _) = pointer.as_pointer().expect("a pointer");
                        self.threads[thread].locals.insert(object.0, id);
                        id
                    }
                };
                self.set(thread, *dst, Value::pointer(id, 0));
            }
            Instr::ObjectSize { dst, addr } => {
                let size = match get(self, addr).as_pointer() {
                    Some((id, _)) => self.objects[id.0 as usize].size,
                    None => 0,
                };
                self.set(thread, *dst, Value(u64::from(size)));
            }
            Instr::SelfThread { dst } => self.set(thread, *dst, Value(thread as u64)),
            Instr::Cut => return Err("cut in C".into()),
            Instr::AtomicBegin => self.atomic = Some(thread),
            Instr::AtomicEnd => self.atomic = None,
        }
        Ok(Step::Next)
    }
}

/// Compiles a program that must be fine.
pub fn compile(name: &str, text: &str, defines: &[(&str, &str)]) -> fencepost_c::Compiled {
    let options = fencepost_c::Options {
        defines: defines.iter().map(|(n, v)| (n.to_string(), Some(v.to_string()))).collect(),
        ..fencepost_c::Options::default()
    };
    match fencepost_c::compile(&fencepost_diag::SourceFile::new(name, text), &options) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{}", failure.render()),
    }
}

/// Runs a program once.
pub fn run(text: &str, seed: u64) -> End {
    let compiled = compile("test.c", text, &[]);
    Machine::new(&compiled.program, seed).run(3_000_000)
}
