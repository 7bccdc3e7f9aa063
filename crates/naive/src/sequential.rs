//! A program of one thread without choices, run again: the judge of what the engine `run` reports.
//!
//! Shares nothing with that engine. Memory is a table from places to bytes, a byte that is not there has no value, and an
//! object is an entry in a table of sizes as long as it lives.

use fencepost_ir::{
    Callee, Instr, Object, ObjectId, Operand, Program, Reg, Rvalue, UnaryOp, Value, Width, wide,
};
use std::collections::HashMap;

/// Steps after which the judge gives up.
const MOST_STEPS: u64 = 2_000_000_000;

/// Whether the program comes to the instruction `at`, a failing assertion or a report of its own, without a mistake on the way.
pub fn fails_at(program: &Program, at: (u32, u32), stop: &dyn Fn() -> bool) -> bool {
    let mut judge = Judge {
        program,
        bytes: HashMap::default(),
        sizes: HashMap::default(),
        made: program.objects.len() as u64,
        own: HashMap::default(),
        stack: Vec::new(),
    };
    for (id, object) in (0u64..).zip(&program.objects) {
        judge.place(id, object, true);
    }
    let main = &program.threads[0];
    judge.stack.push(Activation::new(
        program,
        main.function.0,
        main.args.iter().copied().map(Some).collect(),
        None,
    ));
    for step in 0..MOST_STEPS {
        if step % 65_536 == 0 && stop() {
            return false;
        }
        match judge.step() {
            Some(Next::Goes) => {}
            Some(Next::Fails) => return judge.stack.last().is_some_and(|top| (top.function, top.at) == at),
            Some(Next::Ends) | None => return false,
        }
    }
    false
}

enum Next {
    Goes,
    Fails,
    Ends,
}

struct Activation {
    function: u32,
    at: u32,
    registers: Vec<Option<Value>>,
    result: Option<Reg>,
}

impl Activation {
    fn new(program: &Program, function: u32, args: Vec<Option<Value>>, result: Option<Reg>) -> Activation {
        let body = &program.functions[function as usize];
        let mut registers = vec![Some(Value::ZERO); body.regs.len()];
        for (i, value) in args.into_iter().take(body.params as usize).enumerate() {
            registers[i] = value;
        }
        Activation { function, at: 0, registers, result }
    }
}

struct Judge<'p> {
    program: &'p Program,
    bytes: HashMap<(u64, u64), u8>,
    /// The sizes of live objects, and whether they are on the heap.
    sizes: HashMap<u64, (u64, bool)>,
    made: u64,
    /// The thread's own copies of global objects.
    own: HashMap<u32, u64>,
    stack: Vec<Activation>,
}

impl Judge<'_> {
    fn place(&mut self, id: u64, object: &Object, zero: bool) {
        self.sizes.insert(id, (u64::from(object.size), false));
        // Padding is zero.
        let has = |at: u64| {
            object.cells.iter().any(|c| (c.offset..c.offset + c.width.bytes()).contains(&(at as u32)))
        };
        let padding = |at: &u64| object.cells.len() < object.size as usize && !has(*at);
        let zeros = (0..u64::from(object.size)).filter(|at| zero || padding(at));
        self.bytes.extend(zeros.map(|at| ((id, at), 0)));
        for cell in &object.cells {
            let Some(value) = cell.init else { continue };
            for byte in 0..cell.width.bytes() {
                let known = wide::to_bytes(value, cell.width)[byte as usize];
                self.bytes.insert((id, u64::from(cell.offset + byte)), known);
            }
        }
    }

    fn of(&self, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Const(value) => Some(value),
            Operand::Reg(reg) => self.stack.last()?.registers[reg.0 as usize],
        }
    }

    fn put(&mut self, reg: Option<Reg>, value: Option<Value>) {
        if let (Some(reg), Some(top)) = (reg, self.stack.last_mut()) {
            top.registers[reg.0 as usize] = value;
        }
    }

    /// Object and offset of an access within a live object.
    fn target(&self, addr: Operand, width: Width) -> Option<(u64, u64)> {
        let (ObjectId(id), offset) = self.of(addr)?.as_pointer()?;
        let (size, _) = self.sizes.get(&u64::from(id))?;
        (u64::from(offset) + u64::from(width.bytes()) <= *size).then_some((u64::from(id), u64::from(offset)))
    }

    /// `None` is a mistake, `Some(None)` memory without a value.
    fn read(&self, addr: Operand, width: Width) -> Option<Option<Value>> {
        let (id, offset) = self.target(addr, width)?;
        let mut bytes = [0; wide::BYTES as usize];
        for (byte, place) in (0..u64::from(width.bytes())).zip(&mut bytes) {
            match self.bytes.get(&(id, offset + byte)) {
                Some(&value) => *place = value,
                None => return Some(None),
            }
        }
        // Two words that do not fit into one value are nothing that this judge follows.
        Some(Some(wide::from_bytes(&bytes, width)?))
    }

    fn write(&mut self, addr: Operand, width: Width, value: Option<Value>) -> Option<()> {
        let (id, offset) = self.target(addr, width)?;
        for byte in 0..u64::from(width.bytes()) {
            match value {
                Some(value) => {
                    self.bytes.insert((id, offset + byte), wide::to_bytes(value, width)[byte as usize])
                }
                None => self.bytes.remove(&(id, offset + byte)),
            };
        }
        Some(())
    }

    fn fresh(&mut self, size: u64, heap: bool) -> (u64, Value) {
        let id = self.made;
        self.made += 1;
        self.sizes.insert(id, (size, heap));
        (id, Value::pointer(ObjectId(id as u32), 0))
    }

    fn ends(&mut self, addr: Operand, heap: bool) -> Option<()> {
        let (ObjectId(id), offset) = self.of(addr)?.as_pointer()?;
        let id = u64::from(id);
        let (size, kind) = *self.sizes.get(&id)?;
        if offset != 0 || kind != heap {
            return None;
        }
        self.sizes.remove(&id);
        for at in 0..size {
            self.bytes.remove(&(id, at));
        }
        Some(())
    }

    fn computed(&self, value: &Rvalue) -> Option<Option<Value>> {
        Some(match *value {
            Rvalue::Use(a) => self.of(a),
            Rvalue::Unary(UnaryOp::ZeroExtend | UnaryOp::SignExtend, _, _, a) if self.of(a).is_none() => None,
            Rvalue::Unary(op, width, extend, a) => Some(width.extend(extend, op.apply(width, self.of(a)?))),
            Rvalue::Binary(op, width, extend, a, b) => {
                Some(width.extend(extend, op.apply(width, self.of(a)?, self.of(b)?)?))
            }
            Rvalue::Select(c, a, b) => self.of(if self.of(c)?.is_true() { a } else { b }),
        })
    }

    fn step(&mut self) -> Option<Next> {
        let program = self.program;
        let top = self.stack.last()?;
        let body = &program.functions[top.function as usize].body;
        let instr = body.get(top.at as usize);
        let mut next = top.at + 1;
        match instr {
            None | Some(Instr::Return(_)) => {
                let value = match instr {
                    Some(Instr::Return(Some(value))) => self.of(*value),
                    _ => Some(Value::ZERO),
                };
                let done = self.stack.pop()?;
                if self.stack.is_empty() {
                    return Some(Next::Ends);
                }
                self.put(done.result, value);
                return Some(Next::Goes);
            }
            Some(Instr::Exit(_) | Instr::Halt) => return Some(Next::Ends),
            Some(Instr::Fail { .. }) => return Some(Next::Fails),
            Some(Instr::Assert { condition, .. }) if !self.of(*condition)?.is_true() => {
                return Some(Next::Fails);
            }
            Some(Instr::Assume(condition)) if !self.of(*condition)?.is_true() => return Some(Next::Ends),
            Some(Instr::Jump(label)) => next = label.0,
            Some(Instr::Branch { condition, then_to, else_to }) => {
                next = if self.of(*condition)?.is_true() { then_to.0 } else { else_to.0 };
            }
            Some(Instr::Call { dst, callee, args }) => {
                let function = match callee {
                    Callee::Function(function) => function.0,
                    Callee::Pointer(pointer) => self.of(*pointer)?.as_function()?.0,
                };
                let args = args.iter().map(|arg| self.of(*arg)).collect();
                self.stack.last_mut()?.at = next;
                self.stack.push(Activation::new(program, function, args, *dst));
                return Some(Next::Goes);
            }
            Some(instr) => self.effect(instr)?,
        }
        self.stack.last_mut()?.at = next;
        Some(Next::Goes)
    }

    fn effect(&mut self, instr: &Instr) -> Option<()> {
        match instr {
            Instr::Assign { dst, value } => {
                let value = self.computed(value)?;
                self.put(Some(*dst), value);
            }
            Instr::Load { dst, addr, width, extend, .. } => {
                let value = self.read(*addr, *width)??;
                self.put(Some(*dst), Some(width.extend(*extend, value)));
            }
            Instr::CopyLoad { dst, addr, width, extend, keeps, .. } => {
                let value = self.read(*addr, *width)?.or((!keeps).then_some(Value::ZERO));
                self.put(Some(*dst), value.map(|value| width.extend(*extend, value)));
            }
            Instr::Store { addr, value, width, .. } => {
                let value = self.of(*value);
                self.write(*addr, *width, value)?;
            }
            Instr::Rmw { dst, addr, width, extend, op, operand, .. } => {
                let old = self.read(*addr, *width)??;
                let new = op.apply(*width, old, self.of(*operand)?);
                self.write(*addr, *width, Some(new))?;
                self.put(*dst, Some(width.extend(*extend, old)));
            }
            Instr::CompareExchange { dst, success, addr, width, extend, expected, desired, .. } => {
                let old = self.read(*addr, *width)??;
                let same = width.zero_extend(self.of(*expected)?) == old;
                if same {
                    let new = self.of(*desired)?;
                    self.write(*addr, *width, Some(new))?;
                }
                self.put(*dst, Some(width.extend(*extend, old)));
                self.put(*success, Some(Value(u64::from(same))));
            }
            Instr::Alloc { dst, size, zeroed } => {
                let size = self.of(*size)?.0;
                let (id, pointer) = self.fresh(size, true);
                if *zeroed {
                    self.bytes.extend((0..size).map(|at| ((id, at), 0)));
                }
                self.put(Some(*dst), Some(pointer));
            }
            Instr::Free(addr) if self.of(*addr)? == Value::ZERO => {}
            Instr::Free(addr) => self.ends(*addr, true)?,
            Instr::EndLocal(addr) => self.ends(*addr, false)?,
            Instr::Local { dst, object, .. } => {
                let (id, pointer) = self.fresh(u64::from(object.size), false);
                self.place(id, object, false);
                self.put(Some(*dst), Some(pointer));
            }
            Instr::ThreadLocal { dst, object } => {
                let id = match self.own.get(&object.0) {
                    Some(&id) => id,
                    None => {
                        let (id, _) = self.fresh(0, false);
                        self.place(id, &self.program.objects[object.0 as usize].clone(), true);
                        self.own.insert(object.0, id);
                        id
                    }
                };
                self.put(Some(*dst), Some(Value::pointer(ObjectId(id as u32), 0)));
            }
            Instr::SelfThread { dst } => self.put(Some(*dst), Some(Value::ZERO)),
            Instr::Assert { .. } | Instr::Assume(_) | Instr::Fence(_) => {}
            Instr::Defined(value) => drop(self.of(*value)?),
            Instr::AtomicBegin | Instr::AtomicEnd => {}
            // Locks and waits of one thread are left to the explorer.
            _ => return None,
        }
        Some(())
    }
}
