//! Where cells lie in unions and in memory that is made at run time is decided by the first access, and that is the first one of
//! the whole search. A search that is interrupted and taken up again, or shared out, must decide the same.
//!
//! Two threads write a flag and read it; what a thread reads decides with which sizes it goes over memory of its own: a union
//! and an allocation. So whoever takes up the search in one branch has not seen what the others did to that memory.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/parts.rs"]
mod parts;

use dice::Random;
use fencepost_explore::{ModelName, Options, explore};
use fencepost_ir::{
    Ann, BinaryOp, Cell, Extend, FinalCondition, Function, FunctionId, Instr, Label, Object, ObjectId,
    Observable, Operand, Order, Program, Property, Proposition, Quantifier, Reg, Rvalue, Span, Thread,
    ThreadId, Value, Width,
};

const NOWHERE: Span = Span { start: 0, end: 0 };
const SIZE: u32 = 8;
const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

/// All places of all sizes at once.
fn union(name: &str) -> Object {
    let cells = WIDTHS.iter().flat_map(|&width| {
        let cell = move |i| Cell { offset: i * width.bytes(), width, init: Some(Value(0)) };
        (0..SIZE / width.bytes()).map(cell)
    });
    Object { name: name.into(), size: SIZE, cells: cells.collect(), span: NOWHERE, constant: false }
}

struct Writer<'a> {
    function: Function,
    random: &'a mut Random,
    sum: Reg,
    /// Addresses of memory of its own.
    own: Vec<Operand>,
}

impl Writer<'_> {
    fn push(&mut self, instr: Instr) {
        self.function.push(instr, NOWHERE);
    }

    fn binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        let dst = self.function.new_reg("t");
        self.push(Instr::Assign { dst, value: Rvalue::Binary(op, Width::W64, Extend::Zero, a, b) });
        Operand::Reg(dst)
    }

    /// Reads or writes some of its own memory. Now and then that is atomic.
    fn access(&mut self) {
        let own = self.own[self.random.below(self.own.len() as u64) as usize];
        let width = WIDTHS[self.random.below(4) as usize];
        let offset = width.bytes() * self.random.below(u64::from(SIZE / width.bytes())) as u32;
        let addr = self.binary(BinaryOp::Add, own, Operand::Const(Value(offset.into())));
        let ann = match self.random.below(6) {
            0 => Ann::order(Order::Relaxed),
            _ => Ann::PLAIN,
        };
        if self.random.below(2) == 0 {
            let value = Operand::Const(Value(self.random.below(1 << 20)));
            return self.push(Instr::Store { addr, value, width, ann });
        }
        let dst = self.function.new_reg("r");
        self.push(Instr::Load { dst, addr, width, extend: Extend::Zero, ann });
        let sum = self.binary(BinaryOp::Add, Operand::Reg(self.sum), Operand::Reg(dst));
        self.push(Instr::Assign { dst: self.sum, value: Rvalue::Use(sum) });
    }

    /// Reads the flag, and goes on in a way that depends on it.
    fn round(&mut self, flag: ObjectId) {
        let seen = self.function.new_reg("seen");
        let (addr, ann) = (Operand::Const(Value::pointer(flag, 0)), Ann::order(Order::Relaxed));
        self.push(Instr::Load { dst: seen, addr, width: Width::W32, extend: Extend::Zero, ann });
        let branch = self.function.body.len();
        self.push(Instr::Jump(Label(0)));
        (0..1 + self.random.below(3)).for_each(|_| self.access());
        let jump = self.function.body.len();
        self.push(Instr::Jump(Label(0)));
        (0..1 + self.random.below(3)).for_each(|_| self.access());
        let label = |at: usize| Label(at as u32);
        let (condition, end) = (Operand::Reg(seen), self.function.body.len());
        self.function.body[branch] =
            Instr::Branch { condition, then_to: label(branch + 1), else_to: label(jump + 1) };
        self.function.body[jump] = Instr::Jump(label(end));
    }
}

fn program(random: &mut Random) -> Program {
    let (mut functions, mut observed) = (Vec::new(), Vec::new());
    for thread in 0..2 {
        let mut function = Function::default();
        let (sum, made) = (function.new_reg("sum"), function.new_reg("made"));
        let own = vec![Operand::Const(Value::pointer(ObjectId(thread), 0)), Operand::Reg(made)];
        let mut writer = Writer { function, random, sum, own };
        let size = Operand::Const(Value(SIZE.into()));
        writer.push(Instr::Alloc { dst: made, size, zeroed: true });
        let (flag, ann) =
            (Operand::Const(Value::pointer(ObjectId(2 + thread), 0)), Ann::order(Order::Relaxed));
        for value in 1..=2 {
            let value = Operand::Const(Value(value - 1));
            writer.push(Instr::Store { addr: flag, value, width: Width::W32, ann });
        }
        for _ in 0..1 + writer.random.below(2) {
            writer.round(ObjectId(3 - thread));
        }
        writer.push(Instr::Return(None));
        observed.push(Observable::Register { thread: ThreadId(thread), reg: sum });
        functions.push(writer.function);
    }
    let flag = |name: &str| Object::scalar(name, Width::W32, Value(0), NOWHERE);
    let thread = |i: u32| Thread { name: format!("P{i}"), function: FunctionId(i), args: Vec::new() };
    let condition = FinalCondition {
        quantifier: Quantifier::Exists,
        proposition: Proposition::True,
        observed,
        shown: 2,
        filter: None,
    };
    Program {
        name: "layouts".into(),
        objects: vec![union("u"), union("v"), flag("x"), flag("y")],
        functions,
        threads: vec![thread(0), thread(1)],
        property: Property::Final(condition),
        ..Program::default()
    }
}

#[test]
fn cells_lie_where_the_whole_search_has_put_them() {
    let cases = std::env::var("FENCEPOST_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(6);
    let (mut random, mut pieces, mut alone) = (Random(3), 0, 0);
    for case in 0..cases {
        let program = program(&mut random);
        let model = ModelName::ALL[case % ModelName::ALL.len()];
        let (parts, times_alone) = parts::compare(&program, model, &mut random);
        (pieces, alone) = (pieces + parts, alone + times_alone);
        let one = explore(&program, &Options::new(model)).expect("supported");
        let two = explore(&program, &Options { jobs: 2, ..Options::new(model) }).expect("supported");
        assert_eq!(parts::told(&two), parts::told(&one), "two workers, {model:?}");
    }
    assert!(pieces > 20 * cases, "{pieces} pieces");
    assert!(alone > cases / 2, "cells were decided on otherwise {alone} times");
}
