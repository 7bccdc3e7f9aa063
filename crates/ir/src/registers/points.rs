//! Which registers hold a pointer into a local object that is known, and what follows for tests of such pointers.

use crate::flow::forward;
use crate::program::{BinaryOp, Function, Instr, Operand, Reg, Rvalue, UnaryOp, Width};
use crate::value::Value;
use std::collections::BTreeMap;

/// For each register: the instruction that makes the object and the offset in it that it points to.
#[derive(Clone)]
pub(super) struct Points(Vec<Option<(u32, u64)>>);

impl Points {
    /// At the beginning of a function.
    pub fn new(function: &Function) -> Points {
        Points(vec![None; function.regs.len()])
    }

    /// What an operand points to.
    pub fn of(&self, operand: Operand) -> Option<(u32, u64)> {
        match operand {
            Operand::Reg(reg) => self.0[reg.0 as usize],
            Operand::Const(_) => None,
        }
    }

    /// Goes over an instruction.
    pub fn step(&mut self, at: u32, instr: &Instr) {
        let points = match *instr {
            Instr::Assign { value, .. } => self.assigned(value),
            Instr::Local { .. } => Some((at, 0)),
            _ => None,
        };
        instr.for_each_definition(|Reg(reg)| self.0[reg as usize] = points);
    }

    /// Only what another way knows as well; whether that is less.
    pub fn join(&mut self, other: &Points) -> bool {
        let mut less = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            if a.is_some() && a != b {
                (*a, less) = (None, true);
            }
        }
        less
    }

    fn assigned(&self, value: Rvalue) -> Option<(u32, u64)> {
        let moved = |(object, offset): (u32, u64), by: u64| Some((object, offset.wrapping_add(by)));
        match value {
            Rvalue::Use(a) => self.of(a),
            Rvalue::Binary(BinaryOp::Add, Width::W64, _, a, Operand::Const(by)) => moved(self.of(a)?, by.0),
            Rvalue::Binary(BinaryOp::Add, Width::W64, _, Operand::Const(by), b) => moved(self.of(b)?, by.0),
            Rvalue::Binary(BinaryOp::Sub, Width::W64, _, a, Operand::Const(by)) => {
                moved(self.of(a)?, by.0.wrapping_neg())
            }
            _ => None,
        }
    }
}

/// Tests whether a pointer to a local object is null have one outcome, and let the object escape no more: helpers look whether
/// they are to write.
pub(super) fn without_null_tests(function: &Function) -> Option<Function> {
    let mut known: BTreeMap<u32, Instr> = BTreeMap::new();
    forward(function, Points::new(function), Points::join, |at, instr, points| {
        match tested(instr, points) {
            Some(outcome) => known.insert(at, outcome),
            None => known.remove(&at),
        };
        points.step(at, instr);
    });
    if known.is_empty() {
        return None;
    }
    let mut simple = function.clone();
    for (at, instr) in known {
        simple.body[at as usize] = instr;
    }
    Some(simple)
}

/// What a test of a pointer to a local object comes to.
fn tested(instr: &Instr, points: &Points) -> Option<Instr> {
    let is_pointer = |a: Operand| points.of(a).is_some();
    let is_null = |a: Operand| a == Operand::Const(Value::ZERO);
    match *instr {
        Instr::Assign { dst, value } => {
            let outcome = match value {
                Rvalue::Unary(UnaryOp::LogicalNot, Width::W64, _, a) if is_pointer(a) => 0,
                Rvalue::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), Width::W64, _, a, b)
                    if (is_pointer(a) && is_null(b)) || (is_null(a) && is_pointer(b)) =>
                {
                    u64::from(op == BinaryOp::Ne)
                }
                _ => return None,
            };
            Some(Instr::Assign { dst, value: Rvalue::Use(Operand::Const(Value(outcome))) })
        }
        Instr::Branch { condition, then_to, .. } if is_pointer(condition) => Some(Instr::Jump(then_to)),
        _ => None,
    }
}
