//! Writes the code of translated threads: structured statements over registers and shared arrays.

use super::updates::Target;
use fencepost_ir::{
    Ann, BinaryOp, Extend, Function, Instr, Label, ObjectId, Operand, Reg, Rvalue, Span, Value, Width,
};
use std::collections::{BTreeMap, HashMap};

/// A number.
pub fn number(n: i64) -> Operand {
    Operand::Const(Value::from_i64(n))
}

/// The least number of ones, in binary, that is not less.
pub fn mask(most: i64) -> i64 {
    (most.max(1) as u64 + 1).next_power_of_two() as i64 - 1
}

/// Writes a function.
pub struct Code {
    /// The function so far.
    pub function: Function,
    /// The place in the source that the next instructions belong to.
    pub span: Span,
    /// Registers for results that are used at once, by what they hold: the next one, and all of them. They are used again from
    /// the next
    /// [`Code::again`] on.
    spare: BTreeMap<String, (usize, Vec<Reg>)>,
}

impl Code {
    /// An empty function with the registers of another.
    pub fn like(source: &Function) -> Code {
        let mut function =
            Function { name: source.name.clone(), regs: source.regs.clone(), ..Function::default() };
        function.params = source.params;
        Code { function, span: Span::default(), spare: BTreeMap::new() }
    }

    /// What was computed so far is not needed any more, but for registers that have names of their own.
    pub fn again(&mut self) {
        self.spare.values_mut().for_each(|(next, _)| *next = 0);
    }

    /// A register for a result that is used at once.
    fn spare(&mut self, name: &str, holds: &str) -> Reg {
        let (next, regs) = self.spare.entry(format!("{name} {holds}")).or_default();
        *next += 1;
        if *next > regs.len() {
            regs.push(self.function.new_reg(name));
        }
        regs[*next - 1]
    }

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

    /// `dst = value`, which has 32 bits.
    pub fn set_extended(&mut self, dst: Reg, extend: Extend, value: impl Into<Operand>) {
        let value = Rvalue::Binary(BinaryOp::Add, Width::W32, extend, value.into(), number(0));
        self.push(Instr::Assign { dst, value });
    }

    /// The result of an operation.
    pub fn op(&mut self, op: BinaryOp, a: impl Into<Operand>, b: impl Into<Operand>) -> Operand {
        let dst = self.spare("ps_tmp", &format!("{op:?}"));
        let value = Rvalue::Binary(op, Width::W32, Extend::Sign, a.into(), b.into());
        self.push(Instr::Assign { dst, value });
        dst.into()
    }

    /// `a + 1`, which is at most `most`: said in a way that keeps the types of a printed program narrow.
    pub fn up(&mut self, a: impl Into<Operand>, most: i64) -> Operand {
        let more = self.op(BinaryOp::Add, a, number(1));
        self.op(BinaryOp::And, more, number(mask(most)))
    }

    /// `a - 1`, where `a` is positive and at most `most`.
    pub fn down(&mut self, a: impl Into<Operand>, most: i64) -> Operand {
        let more = self.op(BinaryOp::Add, a, number(mask(most)));
        self.op(BinaryOp::And, more, number(mask(most)))
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
        let dst = self.spare("ps_choice", &last.to_string());
        self.push(Instr::Nondet { dst, first, last });
        dst
    }

    fn address(&mut self, array: ObjectId, index: Operand) -> Operand {
        let base = Value::pointer(array, 0);
        if let Operand::Const(n) = index {
            return Operand::Const(Value(base.0 + 4 * n.0));
        }
        let wide = |code: &mut Code, op, a: Operand, b: Operand| {
            let dst = code.spare("ps_addr", &format!("{op:?} {}", array.0));
            code.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W64, Extend::Zero, a, b) });
            Operand::Reg(dst)
        };
        let offset = wide(self, BinaryOp::Mul, index, number(4));
        wide(self, BinaryOp::Add, Operand::Const(base), offset)
    }

    /// `array[index]`.
    pub fn get(&mut self, array: ObjectId, index: impl Into<Operand>) -> Operand {
        let addr = self.address(array, index.into());
        let dst = self.spare("ps_get", &array.0.to_string());
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

/// Jumps of a copy of the source, to be put right when all of it is there.
#[derive(Default)]
pub struct Jumps {
    /// Where instructions of the source begin.
    begins: HashMap<usize, Label>,
    /// Where read-modify-writes end, by their stores.
    ends: HashMap<usize, Label>,
    /// Jumps and branches, with their targets.
    waiting: Vec<(usize, Vec<Target>)>,
}

impl Jumps {
    /// An instruction of the source begins here.
    pub fn here(&mut self, at: usize, label: Label) {
        self.begins.insert(at, label);
    }

    /// Behind the store of a read-modify-write.
    pub fn after(&mut self, store: usize, label: Label) {
        self.ends.insert(store, label);
    }

    /// A jump.
    pub fn jump(&mut self, code: &mut Code, to: Target) {
        let at = code.push(Instr::Jump(Label(0)));
        self.waiting.push((at, vec![to]));
    }

    /// A branch.
    pub fn branch(&mut self, code: &mut Code, condition: Operand, targets: [Target; 2]) {
        let at = code.push(Instr::Branch { condition, then_to: Label(0), else_to: Label(0) });
        self.waiting.push((at, targets.to_vec()));
    }

    /// Puts the jumps right.
    pub fn patch(&mut self, function: &mut Function) {
        self.patch_or(function, Label(0));
    }

    /// Puts the jumps right; those to what is not there go to `none`.
    pub fn patch_or(&mut self, function: &mut Function, none: Label) {
        for (at, targets) in std::mem::take(&mut self.waiting) {
            let label = |to: &Target| {
                let known = match to {
                    Target::To(to) => self.begins.get(to),
                    Target::After(store) => self.ends.get(store),
                };
                known.copied().unwrap_or(none)
            };
            match &mut function.body[at] {
                Instr::Branch { then_to, else_to, .. } => {
                    (*then_to, *else_to) = (label(&targets[0]), label(&targets[1]));
                }
                instr => *instr = Instr::Jump(label(&targets[0])),
            }
        }
    }
}
