//! `main` while it runs alone: before it starts threads, and after it has joined them. No memory model is needed for that.

use super::code::PowerCode;
use super::state::Start;
use fencepost_ir::flat::{Op, Phase};
use fencepost_ir::{FailKind, Operand, Rvalue, Value};

/// `main`, alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Alone {
    /// Registers, memory and the next step.
    pub at: Start,
    /// What the other threads returned.
    pub results: Vec<Value>,
}

/// Where `main` comes to a halt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// It has started the threads.
    Threads,
    /// It chooses a value.
    Choice(i64, i64),
    /// It has ended.
    End,
    /// An assumption is false.
    Blocked,
    /// The unroll bound.
    Cut,
    /// Something is wrong at its next step.
    Wrong(FailKind),
}

impl Alone {
    /// At the start of the program.
    pub fn new(code: &PowerCode<'_>) -> Alone {
        let memory = (0..code.cells.len() as u32).map(|cell| code.initial(cell)).collect();
        let regs = vec![Value::ZERO; code.flat.threads.first().map_or(0, |main| main.regs as usize)];
        Alone { at: Start { memory, regs, pc: 0 }, results: Vec::new() }
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Const(value) => value,
            Operand::Reg(reg) => self.at.regs[reg.0 as usize],
        }
    }

    fn evaluate(&self, value: &Rvalue) -> Value {
        match *value {
            Rvalue::Use(a) => self.value(a),
            Rvalue::Unary(op, width, extend, a) => width.extend(extend, op.apply(width, self.value(a))),
            Rvalue::Binary(op, width, extend, a, b) => {
                let result = op.apply(width, self.value(a), self.value(b));
                width.extend(extend, result.unwrap_or_default())
            }
            Rvalue::Select(c, a, b) => self.value(if self.value(c).is_true() { a } else { b }),
        }
    }

    /// Chooses a value at a [`Halt::Choice`].
    pub fn choose(&mut self, code: &PowerCode<'_>, value: Value) {
        let step = &code.flat.threads[0].code[self.at.pc as usize];
        if let Op::Nondet { dst, .. } = step.op {
            self.at.regs[dst.0 as usize] = value;
        }
        self.at.pc = step.next;
    }

    /// Runs to the next halt.
    pub fn run(&mut self, code: &PowerCode<'_>) -> Halt {
        let thread = &code.flat.threads[0];
        while let Some(step) = thread.code.get(self.at.pc as usize) {
            if code.phase(0, self.at.pc) == Phase::During && !matches!(step.op, Op::Join { .. }) {
                return Halt::Threads;
            }
            let mut next = step.next;
            match step.op {
                Op::Assign { dst, ref value } => self.at.regs[dst.0 as usize] = self.evaluate(value),
                Op::Nondet { first, last, .. } => return Halt::Choice(first, last),
                Op::Load { dst, addr, width, extend, .. } => {
                    let read =
                        code.cell(self.value(addr), width).and_then(|cell| self.at.memory[cell as usize]);
                    let Some(read) = read else { return Halt::Wrong(FailKind::Assertion) };
                    self.at.regs[dst.0 as usize] = width.extend(extend, read);
                }
                Op::Store { addr, value, width, .. } => match code.cell(self.value(addr), width) {
                    Some(cell) => {
                        self.at.memory[cell as usize] = Some(width.zero_extend(self.value(value)));
                    }
                    None => return Halt::Wrong(FailKind::Assertion),
                },
                Op::Branch { condition, other } if !self.value(condition).is_true() => next = other,
                Op::Assume(condition) if !self.value(condition).is_true() => return Halt::Blocked,
                Op::Assert { condition, kind, .. } if !self.value(condition).is_true() => {
                    return Halt::Wrong(kind);
                }
                Op::Join { thread: Operand::Const(number), dst: Some(dst) } => {
                    let result = self.results.get(number.0 as usize).copied();
                    self.at.regs[dst.0 as usize] = result.unwrap_or_default();
                }
                Op::Cut => return Halt::Cut,
                _ => {}
            }
            self.at.pc = next;
        }
        Halt::End
    }
}
