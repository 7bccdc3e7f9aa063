//! `longjmp`: control returns from one function after another until the one is reached whose `setjmp` it goes to.
//!
//! Behind each call that a `longjmp` may come out of stands the question whether one is under way (`runtime/jump.c`). If so
//! the function returns, too, or jumps to the label behind its `setjmp` if that is where it goes. What C leaves open, the
//! value of a local variable that changed after `setjmp` and is not `volatile`, is the last value here. A function that has
//! returned is noticed by its variable: reading it then is a use after scope.

use super::Body;
use super::places::Where;
use crate::ast::{Expr, ExprKind, FuncId, Unit};
use crate::parser::Res;
use fencepost_ir::{BinaryOp, Extend, Instr, Operand, Value, Width};
use rustc_hash::FxHashSet;

/// The functions that a `longjmp` may come out of.
pub(super) struct Jumps(FxHashSet<FuncId>);

impl Jumps {
    /// All that call `longjmp`, or call one of these.
    pub fn of(unit: &Unit) -> Jumps {
        let defined = |id: &FuncId| unit.functions[id.0 as usize].body.is_some();
        let all: Vec<FuncId> = (0..unit.functions.len() as u32).map(FuncId).filter(defined).collect();
        let is_jump = |id: &FuncId| unit.functions[id.0 as usize].name == "longjmp";
        let mut jumps = Jumps(all.iter().copied().filter(is_jump).collect());
        if jumps.0.is_empty() {
            return jumps;
        }
        loop {
            let more: Vec<FuncId> = all
                .iter()
                .copied()
                .filter(|id| !jumps.0.contains(id) && jumps.reached_from(unit, *id))
                .collect();
            if more.is_empty() {
                return jumps;
            }
            jumps.0.extend(more);
        }
    }

    fn reached_from(&self, unit: &Unit, function: FuncId) -> bool {
        let mut reached = false;
        if let Some(body) = &unit.functions[function.0 as usize].body {
            body.visit(&mut |expr| {
                if let ExprKind::Call(callee, ..) = &expr.kind {
                    reached |= self.may_leave(callee);
                }
            });
        }
        reached
    }

    /// Whether a `longjmp` may come out of a call of this. What a pointer points to is not known.
    pub fn may_leave(&self, callee: &Expr) -> bool {
        match &callee.kind {
            ExprKind::Function(id) => self.0.contains(id),
            _ => !self.0.is_empty(),
        }
    }
}

impl Body<'_, '_> {
    /// Behind a call that a `longjmp` may have come out of.
    pub(super) fn behind_call(&mut self) -> Res<()> {
        let word = |body: &mut Self, name: &str| {
            let callee = body.runtime_function(name)?;
            let dst = body.b.temp();
            body.b.emit(Instr::Call { dst: Some(dst), callee, args: Vec::new() });
            Some(Operand::Reg(dst))
        };
        let Some(target) = word(self, "__fp_jump_target") else { return Ok(()) };
        let (away, on) = (self.b.target(), self.b.target());
        self.b.branch(target, away, on);
        self.b.bind(away);
        if let (labels, Some(activation)) = self.def.landings.clone()
            && let Where::Memory(address, _) = self.variable(activation, self.b.span)?
        {
            let (here, further) = (self.b.target(), self.b.target());
            let same = self.binary(BinaryOp::Eq, Width::W64, Extend::Zero, target, address);
            self.b.branch(same, here, further);
            self.b.bind(here);
            let number = word(self, "__fp_land").unwrap_or(Operand::Const(Value::ZERO));
            for (index, label) in labels.iter().enumerate() {
                let (hit, next) = (self.jump_to(*label), self.b.target());
                let wanted = Operand::Const(Value(index as u64));
                let same = self.binary(BinaryOp::Eq, Width::W32, Extend::Zero, number, wanted);
                self.b.branch(same, hit, next);
                self.b.bind(next);
            }
            self.b.bind(further);
        }
        for i in (0..self.chain.len()).rev() {
            self.end_objects(self.chain[i]);
        }
        self.leave_function();
        self.b.emit(Instr::Return(None));
        self.b.bind(on);
        Ok(())
    }
}
