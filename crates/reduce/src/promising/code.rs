//! Writes the code of translated threads: structured statements over registers and shared arrays.

use fencepost_ir::{
    Ann, BinaryOp, Extend, Function, Instr, Label, ObjectId, Operand, Reg, Rvalue, Span, Value, Width,
};

/// A number.
pub fn number(n: i64) -> Operand {
    Operand::Const(Value::from_i64(n))
}

/// Writes a function.
pub struct Code {
    /// The function so far.
    pub function: Function,
    /// The place in the source that the next instructions belong to.
    pub span: Span,
}

impl Code {
    /// Appends an instruction.
    pub fn push(&mut self, instr: Instr) -> usize {
        self.function.push(instr, self.span).0 as usize
    }

    /// A new register.
    pub fn register(&mut self, name: &str) -> Reg {
        self.function.new_reg(name)
    }

    /// `dst = value`.
    pub fn set(&mut self, dst: Reg, value: impl Into<Operand>) {
        self.push(Instr::Assign { dst, value: Rvalue::Use(value.into()) });
    }

    /// The result of an operation.
    pub fn op(&mut self, op: BinaryOp, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        let dst = self.register("ps_tmp");
        let value = Rvalue::Binary(op, Width::W32, Extend::Sign, a.into(), b.into());
        self.push(Instr::Assign { dst, value });
        dst.into()
    }

    /// `a == b`.
    pub fn eq(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        self.op(BinaryOp::Eq, a, b)
    }

    /// `a < b`.
    pub fn less(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        self.op(BinaryOp::LtS, a, b)
    }

    /// `a && b`, both 0 or 1.
    pub fn and(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        self.op(BinaryOp::And, a, b)
    }

    /// `a || b`, both 0 or 1.
    pub fn or(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        self.op(BinaryOp::Or, a, b)
    }

    /// `!a`, 0 or 1.
    pub fn not(&mut self, a: impl Into<Operand>) -> Operand {
        self.op(BinaryOp::Eq, a, number(0))
    }

    /// Runs in which this is zero do not count.
    pub fn assume(&mut self, condition: impl Into<Operand>) {
        self.push(Instr::Assume(condition.into()));
    }

    /// Any number of a range.
    pub fn choose(&mut self, first: i64, last: i64) -> Reg {
        let dst = self.register("ps_choice");
        self.push(Instr::Nondet { dst, first, last });
        dst
    }

    fn address(&mut self, array: ObjectId, index: Operand) -> Operand {
        let base = Value::pointer(array, 0);
        if let Operand::Const(n) = index {
            return Operand::Const(Value(base.0 + 4 * n.0));
        }
        let wide = |code: &mut Code, op, a: Operand, b: Operand| {
            let dst = code.register("ps_addr");
            code.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W64, Extend::Zero, a, b) });
            Operand::Reg(dst)
        };
        let offset = wide(self, BinaryOp::Mul, index, number(4));
        wide(self, BinaryOp::Add, Operand::Const(base), offset)
    }

    /// `array[index]`.
    pub fn get(&mut self, array: ObjectId, index: impl Into<Operand>) -> Operand {
        let addr = self.address(array, index.into());
        let dst = self.register("ps_get");
        self.push(Instr::Load { dst, addr, width: Width::W32, extend: Extend::Sign, ann: Ann::PLAIN });
        dst.into()
    }

    /// `array[index] = value`.
    pub fn put(&mut self, array: ObjectId, index: impl Into<Operand>, value: impl Into<Operand>) {
        let addr = self.address(array, index.into());
        self.push(Instr::Store { addr, value: value.into(), width: Width::W32, ann: Ann::PLAIN });
    }

    /// `array[index] += n`.
    pub fn add(&mut self, array: ObjectId, index: impl Into<Operand>, n: impl Into<Operand>) -> Operand {
        let index = index.into();
        let old = self.get(array, index);
        let new = self.op(BinaryOp::Add, old, n);
        self.put(array, index, new);
        new
    }

    /// `if (condition) then`.
    pub fn when(&mut self, condition: impl Into<Operand>, then: impl FnOnce(&mut Code)) {
        let at = self.open(condition);
        then(self);
        let jump = self.close(at);
        self.land(jump);
    }

    /// Opens a branch that is taken if the condition holds.
    pub fn open(&mut self, condition: impl Into<Operand>) -> usize {
        let condition = condition.into();
        let then_to = Label(self.function.next_label().0 + 1);
        self.push(Instr::Branch { condition, then_to, else_to: then_to })
    }

    /// Closes a branch: a jump that will land behind the other one, which begins here.
    pub fn close(&mut self, at: usize) -> usize {
        let jump = self.push(Instr::Jump(Label(0)));
        let next = self.function.next_label();
        if let Instr::Branch { else_to, .. } = &mut self.function.body[at] {
            *else_to = next;
        }
        jump
    }

    /// A jump lands here.
    pub fn land(&mut self, jump: usize) {
        let here = self.function.next_label();
        self.function.body[jump] = Instr::Jump(here);
    }
}
