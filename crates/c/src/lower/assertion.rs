//! The condition of an assertion.
//!
//! An assertion orders nothing, since release builds do not have it, so `&&` and `||` in its condition should be no
//! branches. Where the right-hand side does nothing but compute, both sides are evaluated; otherwise, as in
//! `p && *p == 1`, there is a branch, and what follows is control-dependent on it.

use super::{Body, Storage};
use crate::ast::{ArithOp, Expr, ExprKind, PrefixOp};
use crate::parser::Res;
use fencepost_ir::{BinaryOp, Extend, Operand, UnaryOp, Value, Width};

impl Body<'_, '_> {
    /// The condition's value; not zero if it holds.
    pub(super) fn observed(&mut self, condition: &Expr) -> Res<Operand> {
        match &condition.kind {
            ExprKind::Logical(and, left, right) if self.only_computes(right) => {
                let op = if *and { BinaryOp::And } else { BinaryOp::Or };
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Ok(self.binary(op, Width::W64, Extend::Zero, left, right))
            }
            ExprKind::Prefix(PrefixOp::Not, inner) if self.is_integer_or_pointer(inner) => {
                let inner = self.observed(inner)?;
                Ok(self.unary(UnaryOp::LogicalNot, Width::W64, Extend::Zero, inner))
            }
            ExprKind::Cast(inner)
                if self.unit.types.is_integer(condition.ty.ty)
                    && self.unit.types.is_integer(inner.ty.ty)
                    && self.unit.types.size(condition.ty.ty) >= self.unit.types.size(inner.ty.ty) =>
            {
                self.observed(inner)
            }
            _ => self.value(condition),
        }
    }

    /// 0 or 1.
    fn truth(&mut self, expr: &Expr) -> Res<Operand> {
        if !self.is_integer_or_pointer(expr) {
            return self.value(expr);
        }
        let value = self.observed(expr)?;
        Ok(self.binary(BinaryOp::Ne, Width::W64, Extend::Zero, value, Operand::Const(Value::ZERO)))
    }

    fn is_integer_or_pointer(&self, expr: &Expr) -> bool {
        self.unit.types.is_integer(expr.ty.ty) || self.unit.types.is_pointer(expr.ty.ty)
    }

    /// No access to memory, no effect, and nothing that can go wrong.
    fn only_computes(&self, expr: &Expr) -> bool {
        self.is_integer_or_pointer(expr)
            && match &expr.kind {
                ExprKind::Int(_) | ExprKind::Function(_) => true,
                ExprKind::Load(place) => match place.kind {
                    ExprKind::Local(id) => self.storage[id.0 as usize] == Storage::Register,
                    _ => false,
                },
                ExprKind::AddrOf(place) => matches!(place.kind, ExprKind::Global(_)),
                ExprKind::Prefix(_, inner) | ExprKind::Cast(inner) => self.only_computes(inner),
                ExprKind::Binary(op, left, right) => {
                    !matches!(op, ArithOp::Div | ArithOp::Rem)
                        && self.only_computes(left)
                        && self.only_computes(right)
                }
                ExprKind::Logical(_, left, right) => self.only_computes(left) && self.only_computes(right),
                _ => false,
            }
    }
}
