//! Functions for random programs, written instruction by instruction.

#![allow(dead_code)] // Each test file uses its part.

use fencepost_ir::{
    Ann, BinaryOp, Extend, Fence, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId,
    Observable, Operand, Program, Property, Proposition, Quantifier, Reg, Rvalue, Span, Thread, ThreadId,
    Value, Width,
};

/// All cells are integers of this width.
pub const WIDTH: Width = Width::W32;

pub fn constant(value: u64) -> Operand {
    Operand::Const(Value(value))
}

/// The address of a global object.
pub fn cell(number: u32) -> Operand {
    Operand::Const(Value::pointer(ObjectId(number), 0))
}

/// A function that is being written.
pub struct Writer {
    pub function: Function,
}

impl Writer {
    /// The first registers are made beforehand, so that all threads have them.
    pub fn new(name: String, registers: &[&str]) -> Writer {
        let mut function = Function { name, ..Function::default() };
        registers.iter().for_each(|&name| {
            function.new_reg(name);
        });
        Writer { function }
    }

    pub fn emit(&mut self, instr: Instr) {
        self.function.push(instr, Span::default());
    }

    pub fn register(&mut self) -> Reg {
        let name = format!("r{}", self.function.regs.len());
        self.function.new_reg(name)
    }

    pub fn here(&self) -> Label {
        self.function.next_label()
    }

    pub fn load(&mut self, dst: Reg, addr: Operand, ann: Ann) {
        self.emit(Instr::Load { dst, addr, width: WIDTH, extend: Extend::Sign, ann });
    }

    pub fn store(&mut self, addr: Operand, value: Operand, ann: Ann) {
        self.emit(Instr::Store { addr, value, width: WIDTH, ann });
    }

    pub fn assign(&mut self, dst: Reg, value: Rvalue) {
        self.emit(Instr::Assign { dst, value });
    }

    pub fn copy(&mut self, dst: Reg, a: Operand) {
        self.assign(dst, Rvalue::Use(a));
    }

    pub fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Reg {
        let dst = self.register();
        // An address has all bits.
        self.assign(dst, Rvalue::Binary(op, Width::W64, Extend::Zero, a, b));
        dst
    }

    /// Zero, which depends on the register.
    pub fn nothing_of(&mut self, reg: Reg) -> Reg {
        self.binary(BinaryOp::And, reg.into(), constant(0))
    }

    /// The same value, which depends on the register.
    pub fn depending(&mut self, value: Operand, on: Reg) -> Operand {
        let nothing = self.nothing_of(on);
        self.binary(BinaryOp::Or, nothing.into(), value).into()
    }

    /// A branch that goes on to the same place in either case.
    pub fn look_at(&mut self, reg: Reg) {
        let next = self.here().0 + 1;
        self.emit(Instr::Branch { condition: reg.into(), then_to: Label(next), else_to: Label(next + 1) });
        let unused = self.register();
        self.copy(unused, constant(0));
    }

    /// Goes to `start` if the register is zero.
    pub fn back_unless(&mut self, condition: Reg, start: Label) {
        let next = Label(self.here().0 + 1);
        self.emit(Instr::Branch { condition: condition.into(), then_to: next, else_to: start });
    }

    /// A place where a loop may be left: see [`Writer::end_loop`].
    pub fn may_leave(&mut self) -> Label {
        let at = self.here();
        self.emit(Instr::Jump(at));
        at
    }

    /// Goes back to `start`. The loop is left at `leave` if the register is not zero there.
    pub fn end_loop(&mut self, start: Label, leave: Label, done: Reg) {
        self.emit(Instr::Jump(start));
        let (then_to, else_to) = (self.here(), Label(leave.0 + 1));
        self.function.body[leave.0 as usize] = Instr::Branch { condition: done.into(), then_to, else_to };
    }

    /// `to` becomes `from`, but if that is 1 it does not depend on it.
    pub fn copy_without_one(&mut self, to: Reg, from: Reg) {
        let one = self.binary(BinaryOp::Eq, from.into(), constant(1));
        let next = self.here().0 + 1;
        let (then_to, else_to) = (Label(next), Label(next + 2));
        self.emit(Instr::Branch { condition: one.into(), then_to, else_to });
        self.copy(to, constant(1));
        self.emit(Instr::Jump(Label(next + 3)));
        self.copy(to, from.into());
    }

    /// What `write` writes is done only if the register is not zero.
    pub fn only_if(&mut self, condition: Reg, write: impl FnOnce(&mut Writer)) {
        let at = self.function.body.len();
        self.emit(Instr::Fence(Fence::Compiler));
        write(self);
        let (then_to, else_to) = (Label(at as u32 + 1), self.here());
        self.function.body[at] = Instr::Branch { condition: condition.into(), then_to, else_to };
    }
}

/// A program with these global cells, all of them zero.
pub fn program_with(cells: &[&str]) -> Program {
    let mut program = Program::default();
    for &cell in cells {
        program.objects.push(Object::scalar(cell, WIDTH, Value::ZERO, Span::default()));
    }
    program
}

pub fn add_thread(program: &mut Program, function: Function) {
    let (name, args) = (function.name.clone(), vec![Value::ZERO; function.params as usize]);
    let number = FunctionId(program.functions.len() as u32);
    program.functions.push(function);
    program.threads.push(Thread { name, function: number, args });
}

/// Asks for the first registers of all threads, and for the first cells.
pub fn observe(program: &mut Program, registers: u32, cells: u32) {
    let threads = (0..program.threads.len() as u32).map(ThreadId);
    let registers = |thread| (0..registers).map(move |r| Observable::Register { thread, reg: Reg(r) });
    let mut observed: Vec<_> = threads.flat_map(registers).collect();
    observed.extend((0..cells).map(|x| Observable::Memory { object: ObjectId(x), offset: 0, width: WIDTH }));
    let shown = observed.len();
    program.property = Property::Final(FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        filter: None,
        observed,
        shown,
    });
}
