//! Assignments: simple, compound and steps, atomic ones included.

use super::Body;
use super::expr::float_bits;
use super::places::{Place, Where, annotation};
use crate::ast::{ArithOp, Expr};
use crate::parser::{Res, unsupported};
use crate::types::{Quals, Ty};
use fencepost_diag::Span;
use fencepost_ir::{Instr, Operand, RmwOp, Value};

const ZERO: Operand = Operand::Const(Value::ZERO);

impl Body<'_, '_> {
    pub(super) fn assignment(&mut self, place: &Expr, value: &Expr) -> Res<Operand> {
        if self.unit.types.is_record(place.ty.ty) {
            let target = self.place(place)?;
            self.struct_into(value, target)?;
            return Ok(ZERO);
        }
        // The value first: in `*p = f()` the call may have effects that other threads see before the store.
        let value = self.value(value)?;
        let span = place.span;
        let place = self.place(place)?;
        self.store(place, value, span)
    }

    /// `place op= value`.
    pub(super) fn assign_op(
        &mut self,
        op: ArithOp,
        place: &Expr,
        value: &Expr,
        computed: Ty,
        wanted: bool,
        span: Span,
    ) -> Res<Operand> {
        let operand = self.value(value)?;
        let (ty, atomic) = (place.ty.ty, place.ty.quals.has(Quals::ATOMIC));
        let target = self.place(place)?;
        if atomic && matches!(target.at, Where::Memory(..)) {
            return self.atomic_assign_op(op, target, operand, computed, wanted, span);
        }
        let old = self.load(target, span)?;
        let new = self.step_value(op, ty, computed, old, operand);
        self.store(target, new, span)
    }

    /// `old op operand`, computed in one type and converted to another.
    fn step_value(&mut self, op: ArithOp, ty: Ty, computed: Ty, old: Operand, operand: Operand) -> Operand {
        let old = self.convert(old, ty, computed);
        let new = self.arithmetic(op, computed, old, operand);
        self.convert(new, computed, ty)
    }

    fn atomic_assign_op(
        &mut self,
        op: ArithOp,
        target: Place,
        operand: Operand,
        computed: Ty,
        wanted: bool,
        span: Span,
    ) -> Res<Operand> {
        let ty = target.ty.ty;
        let rmw = match op {
            ArithOp::Add => Some(RmwOp::Add),
            ArithOp::Sub => Some(RmwOp::Sub),
            ArithOp::And => Some(RmwOp::And),
            ArithOp::Or => Some(RmwOp::Or),
            ArithOp::Xor => Some(RmwOp::Xor),
            _ => None,
        };
        let simple = !self.unit.types.is_floating(ty)
            && !self.unit.types.is_floating(computed)
            && ty != Ty::BOOL
            && target.bits.is_none();
        let ann = annotation(target.ty.quals);
        if let (Some(rmw), true) = (rmw, simple) {
            let addr = self.address(target, span)?;
            let (width, extend) = self.scalar_shape(target.ty, span)?;
            let dst = wanted.then(|| self.b.temp());
            self.b.emit(Instr::Rmw { dst, addr, width, extend, op: rmw, operand, read: ann, write: ann });
            let Some(old) = dst else { return Ok(ZERO) };
            return Ok(self.step_value(op, ty, computed, Operand::Reg(old), operand));
        }
        self.atomic_update(target, span, |body, old| body.step_value(op, ty, computed, old, operand))
    }

    /// A compare-exchange loop; gives the new value.
    fn atomic_update(
        &mut self,
        target: Place,
        span: Span,
        compute: impl FnOnce(&mut Self, Operand) -> Operand,
    ) -> Res<Operand> {
        if target.bits.is_some() {
            return unsupported(span, "an atomic bit-field", "use an atomic integer and masks");
        }
        let ann = annotation(target.ty.quals);
        let addr = self.address(target, span)?;
        let (width, extend) = self.scalar_shape(target.ty, span)?;
        let (old, success) = (self.b.temp(), self.b.temp());
        let (again, end) = (self.b.target(), self.b.target());
        self.b.emit(Instr::Load { dst: old, addr, width, extend, ann });
        self.b.bind(again);
        let desired = compute(self, Operand::Reg(old));
        self.b.emit(Instr::CompareExchange {
            dst: Some(old),
            success: Some(success),
            addr,
            width,
            extend,
            expected: Operand::Reg(old),
            desired,
            read: ann,
            write: ann,
            failure: ann,
            weak: false,
        });
        self.b.branch(Operand::Reg(success), end, again);
        self.b.bind(end);
        Ok(desired)
    }

    /// `place++` and `place--`.
    pub(super) fn post_step(&mut self, place: &Expr, step: i64, wanted: bool, span: Span) -> Res<Operand> {
        let ty = place.ty.ty;
        let target = self.place(place)?;
        let (op, amount) = if step < 0 { (ArithOp::Sub, -step) } else { (ArithOp::Add, step) };
        let memory = matches!(target.at, Where::Memory(..));
        let computed = match self.unit.types.is_pointer(ty) {
            true => ty,
            false => self.unit.types.promoted(ty),
        };
        let operand = match self.unit.types.is_floating(ty) {
            true => Operand::Const(float_bits(amount as f64, ty)),
            false => Operand::Const(Value::from_i64(amount)),
        };
        if target.ty.quals.has(Quals::ATOMIC) && memory {
            if self.unit.types.is_floating(ty) || ty == Ty::BOOL {
                let kept = self.b.temp();
                self.atomic_update(target, span, |body, old| {
                    body.b.emit(Instr::Assign { dst: kept, value: fencepost_ir::Rvalue::Use(old) });
                    body.step_value(op, ty, computed, old, operand)
                })?;
                return Ok(Operand::Reg(kept));
            }
            let ann = annotation(target.ty.quals);
            let addr = self.address(target, span)?;
            let (width, extend) = self.scalar_shape(target.ty, span)?;
            let dst = wanted.then(|| self.b.temp());
            let rmw = if step < 0 { RmwOp::Sub } else { RmwOp::Add };
            self.b.emit(Instr::Rmw { dst, addr, width, extend, op: rmw, operand, read: ann, write: ann });
            return Ok(dst.map_or(ZERO, Operand::Reg));
        }
        let mut old = self.load(target, span)?;
        if wanted && !memory {
            let kept = self.b.temp();
            self.b.emit(Instr::Assign { dst: kept, value: fencepost_ir::Rvalue::Use(old) });
            old = Operand::Reg(kept);
        }
        let new = self.step_value(op, ty, computed, old, operand);
        self.store(target, new, span)?;
        Ok(old)
    }
}
