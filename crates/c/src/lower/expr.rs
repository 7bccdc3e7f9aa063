//! Expressions to instructions.

use super::Body;
use super::places::Place;
use crate::ast::{ArithOp, Expr, ExprKind, PrefixOp, StmtKind};
use crate::parser::Res;
use crate::types::Ty;
use fencepost_ir::{BinaryOp, Extend, Operand, Order, UnaryOp, Value, Width};

const ZERO: Operand = Operand::Const(Value::ZERO);
const ONE: Operand = Operand::Const(Value(1));

impl Body<'_, '_> {
    /// The value of a scalar expression. For `void` and structs the effects happen and the value means nothing.
    pub(super) fn value(&mut self, expr: &Expr) -> Res<Operand> {
        let outer = std::mem::replace(&mut self.b.span, expr.span);
        let result = self.value_here(expr);
        self.b.span = outer;
        result
    }

    fn value_here(&mut self, expr: &Expr) -> Res<Operand> {
        let ty = expr.ty.ty;
        match &expr.kind {
            ExprKind::Int(bits) => Ok(Operand::Const(Value(*bits))),
            ExprKind::Float(number) => Ok(Operand::Const(float_bits(*number, ty))),
            ExprKind::Function(id) => {
                let def = &self.unit.functions[id.0 as usize];
                if def.body.is_none() {
                    return self.no_body(&def.name, expr.span);
                }
                Ok(Operand::Const(Value::function(self.program.function_id(*id))))
            }
            ExprKind::Load(place) => {
                if let ExprKind::Local(local) = place.kind
                    && let super::Fact::Constant(value) = self.fact(local)
                {
                    return Ok(Operand::Const(value));
                }
                let place = self.place(place)?;
                if self.unit.types.is_record(ty) {
                    return Ok(ZERO);
                }
                self.load(place, expr.span)
            }
            ExprKind::AddrOf(place) => {
                let place = self.place(place)?;
                self.address(place, expr.span)
            }
            ExprKind::Prefix(op, inner) => self.prefix(*op, inner, ty),
            ExprKind::Binary(op, left, right) => {
                if let Some(chosen) = self.bounded_choice(*op, left, right)? {
                    return Ok(chosen);
                }
                let (a, b) = (self.value(left)?, self.value(right)?);
                Ok(self.arithmetic(*op, left.ty.ty, a, b))
            }
            ExprKind::PtrAdd(base, index, size) => {
                let (base, index) = (self.value(base)?, self.value(index)?);
                Ok(self.pointer_plus(base, index, *size))
            }
            ExprKind::PtrDiff(left, right, size) => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                let bytes = self.binary(BinaryOp::Sub, Width::W64, Extend::Zero, a, b);
                match size {
                    1 => Ok(bytes),
                    _ => {
                        let size = Operand::Const(Value(*size));
                        Ok(self.binary(BinaryOp::DivS, Width::W64, Extend::Zero, bytes, size))
                    }
                }
            }
            ExprKind::Logical(..) => self.truth_value(expr),
            ExprKind::Cond(condition, then, otherwise) => self.conditional(condition, then, otherwise),
            ExprKind::Elvis(value, otherwise) => self.elvis(value, otherwise),
            ExprKind::Comma(left, right) => {
                self.effect(left)?;
                self.value(right)
            }
            ExprKind::Assign(place, value) => self.assignment(place, value),
            ExprKind::AssignOp(op, place, value, computed) => {
                self.assign_op(*op, place, value, *computed, true, expr.span)
            }
            ExprKind::PostStep(place, step) => self.post_step(place, *step, true, expr.span),
            ExprKind::Cast(inner) => {
                if ty == Ty::VOID {
                    self.effect(inner)?;
                    return Ok(ZERO);
                }
                let value = self.value(inner)?;
                Ok(self.convert(value, inner.ty.ty, ty))
            }
            ExprKind::Call(callee, args, temporary) => {
                let target = match temporary {
                    Some(local) => Some(self.variable(*local, expr.span)?),
                    None => None,
                };
                self.call(callee, args, target, ty != Ty::VOID, expr.span)
            }
            ExprKind::Builtin(builtin, args) => self.builtin(builtin, args, expr, true),
            ExprKind::ByOrder(order, choices) => self.by_order(order, choices, ty != Ty::VOID),
            ExprKind::Stmt(block) => self.statement_expression(block),
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Member(..)
            | ExprKind::Compound(..)
            | ExprKind::Temporary(..) => {
                self.place(expr)?;
                Ok(ZERO)
            }
        }
    }

    /// Evaluates for its effects only.
    pub(super) fn effect(&mut self, expr: &Expr) -> Res<()> {
        let outer = std::mem::replace(&mut self.b.span, expr.span);
        let result = match &expr.kind {
            ExprKind::AssignOp(op, place, value, computed) => {
                self.assign_op(*op, place, value, *computed, false, expr.span).map(|_| ())
            }
            ExprKind::PostStep(place, step) => self.post_step(place, *step, false, expr.span).map(|_| ()),
            ExprKind::Cast(inner) => self.effect(inner),
            ExprKind::Comma(left, right) => self.effect(left).and_then(|()| self.effect(right)),
            ExprKind::Call(callee, args, None) => self.call(callee, args, None, false, expr.span).map(|_| ()),
            ExprKind::Builtin(builtin, args) => self.builtin(builtin, args, expr, false).map(|_| ()),
            ExprKind::ByOrder(order, choices) => self.by_order(order, choices, false).map(|_| ()),
            ExprKind::Cond(condition, then, otherwise) => self.conditional_effect(condition, then, otherwise),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) => Ok(()),
            ExprKind::Load(place) if matches!(place.kind, ExprKind::Local(_)) => Ok(()),
            _ => self.value(expr).map(|_| ()),
        };
        self.b.span = outer;
        result
    }

    fn conditional_effect(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Res<()> {
        let (yes, no, end) = (self.b.target(), self.b.target(), self.b.target());
        self.branch_on(condition, yes, no)?;
        self.b.bind(yes);
        self.effect(then)?;
        self.b.jump(end);
        self.b.bind(no);
        self.effect(otherwise)?;
        self.b.bind(end);
        Ok(())
    }

    fn prefix(&mut self, op: PrefixOp, inner: &Expr, ty: Ty) -> Res<Operand> {
        if op == PrefixOp::Not {
            let (width, _) = self.shape(inner.ty.ty);
            let value = self.value(inner)?;
            return Ok(self.unary(UnaryOp::LogicalNot, width, Extend::Zero, value));
        }
        let value = self.value(inner)?;
        let (width, extend) = self.shape(ty);
        let op = match op {
            PrefixOp::Neg if self.unit.types.is_floating(ty) => UnaryOp::FNeg,
            PrefixOp::Neg => UnaryOp::Neg,
            _ => UnaryOp::Not,
        };
        Ok(self.unary(op, width, extend, value))
    }

    /// `a op b` on operands of a type.
    pub(super) fn arithmetic(&mut self, op: ArithOp, ty: Ty, a: Operand, b: Operand) -> Operand {
        let (width, extend) = self.shape(ty);
        if self.unit.types.is_floating(ty) {
            return self.floating(op, width, a, b);
        }
        let signed = self.unit.types.is_signed(ty);
        let extend = if op.is_comparison() { Extend::Zero } else { extend };
        self.binary(op.integer(signed), width, extend, a, b)
    }

    fn floating(&mut self, op: ArithOp, width: Width, a: Operand, b: Operand) -> Operand {
        let (op, a, b) = match op {
            ArithOp::Add => (BinaryOp::FAdd, a, b),
            ArithOp::Sub => (BinaryOp::FSub, a, b),
            ArithOp::Mul => (BinaryOp::FMul, a, b),
            ArithOp::Div => (BinaryOp::FDiv, a, b),
            ArithOp::Lt => (BinaryOp::FLt, a, b),
            ArithOp::Le => (BinaryOp::FLe, a, b),
            ArithOp::Gt => (BinaryOp::FLt, b, a),
            ArithOp::Ge => (BinaryOp::FLe, b, a),
            ArithOp::Ne => {
                let equal = self.binary(BinaryOp::FEq, width, Extend::Zero, a, b);
                return self.unary(UnaryOp::LogicalNot, Width::W64, Extend::Zero, equal);
            }
            _ => (BinaryOp::FEq, a, b),
        };
        self.binary(op, width, Extend::Zero, a, b)
    }

    fn pointer_plus(&mut self, base: Operand, index: Operand, size: i64) -> Operand {
        let (op, scale) = if size < 0 { (BinaryOp::Sub, -size) } else { (BinaryOp::Add, size) };
        let scale = Operand::Const(Value::from_i64(scale));
        let bytes = match scale {
            ONE => index,
            _ => self.binary(BinaryOp::Mul, Width::W64, Extend::Zero, index, scale),
        };
        self.binary(op, Width::W64, Extend::Zero, base, bytes)
    }

    /// A value of one scalar type as one of another.
    pub(super) fn convert(&mut self, value: Operand, from: Ty, to: Ty) -> Operand {
        let types = &self.unit.types;
        if from == to || types.is_record(to) {
            return value;
        }
        let (from_width, _) = self.shape(from);
        let (width, extend) = self.shape(to);
        match (types.is_floating(from), types.is_floating(to)) {
            (true, true) => return self.unary(UnaryOp::FConvert, width, Extend::Zero, value),
            (false, true) => {
                let op = if types.is_signed(from) { UnaryOp::FFromS } else { UnaryOp::FFromU };
                return self.unary(op, width, Extend::Zero, value);
            }
            (true, false) if to == Ty::BOOL => return self.floating(ArithOp::Ne, from_width, value, ZERO),
            (true, false) => {
                let double = match from_width {
                    Width::W32 => self.unary(UnaryOp::FConvert, Width::W64, Extend::Zero, value),
                    _ => value,
                };
                let large = matches!(to, Ty::ULONG | Ty::ULLONG);
                let op = if large { UnaryOp::FToU } else { UnaryOp::FToS };
                let whole = self.unary(op, Width::W64, Extend::Zero, double);
                return self.extended(whole, width, extend);
            }
            (false, false) => {}
        }
        if to == Ty::BOOL {
            return self.binary(BinaryOp::Ne, from_width, Extend::Zero, value, ZERO);
        }
        let (from_signed, to_signed) = (types.is_signed(from), types.is_signed(to));
        let fits = width == Width::W64
            || from == Ty::BOOL
            || (from_width < width && (!from_signed || to_signed))
            || (from_width == width && from_signed == to_signed);
        if fits { value } else { self.extended(value, width, extend) }
    }

    fn extended(&mut self, value: Operand, width: Width, extend: Extend) -> Operand {
        if width == Width::W64 {
            return value;
        }
        let op = if extend == Extend::Sign { UnaryOp::SignExtend } else { UnaryOp::ZeroExtend };
        self.unary(op, width, extend, value)
    }

    /// Branches on a condition, with short circuits.
    pub(super) fn branch_on(&mut self, condition: &Expr, yes: super::Target, no: super::Target) -> Res<()> {
        match &condition.kind {
            ExprKind::Logical(and, left, right) => {
                let middle = self.b.target();
                let (left_yes, left_no) = if *and { (middle, no) } else { (yes, middle) };
                self.branch_on(left, left_yes, left_no)?;
                self.b.bind(middle);
                self.branch_on(right, yes, no)
            }
            ExprKind::Prefix(PrefixOp::Not, inner) => self.branch_on(inner, no, yes),
            ExprKind::Cast(inner)
                if self.unit.types.is_integer(condition.ty.ty)
                    && self.unit.types.is_integer(inner.ty.ty)
                    && self.unit.types.size(condition.ty.ty) >= self.unit.types.size(inner.ty.ty) =>
            {
                self.branch_on(inner, yes, no)
            }
            _ => {
                let value = self.value(condition)?;
                let outer = std::mem::replace(&mut self.b.span, condition.span);
                self.b.branch(value, yes, no);
                self.b.span = outer;
                Ok(())
            }
        }
    }

    /// `&&` and `||` as a value.
    fn truth_value(&mut self, expr: &Expr) -> Res<Operand> {
        let dst = self.b.temp();
        let (yes, no, end) = (self.b.target(), self.b.target(), self.b.target());
        self.branch_on(expr, yes, no)?;
        self.b.bind(yes);
        self.b.assign(dst, ONE);
        self.b.jump(end);
        self.b.bind(no);
        self.b.assign(dst, ZERO);
        self.b.bind(end);
        Ok(Operand::Reg(dst))
    }

    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Res<Operand> {
        if let Some(value) = crate::sema::evaluate(self.unit, condition) {
            let chosen = if value == crate::sema::Const::Int(0) { otherwise } else { then };
            return self.value(chosen);
        }
        let dst = self.b.temp();
        let (yes, no, end) = (self.b.target(), self.b.target(), self.b.target());
        self.branch_on(condition, yes, no)?;
        self.b.bind(yes);
        let value = self.value(then)?;
        self.b.assign(dst, value);
        self.b.jump(end);
        self.b.bind(no);
        let value = self.value(otherwise)?;
        self.b.assign(dst, value);
        self.b.bind(end);
        Ok(Operand::Reg(dst))
    }

    fn elvis(&mut self, value: &Expr, otherwise: &Expr) -> Res<Operand> {
        let dst = self.b.temp();
        let (no, end) = (self.b.target(), self.b.target());
        let first = self.value(value)?;
        self.b.assign(dst, first);
        self.b.branch(Operand::Reg(dst), end, no);
        self.b.bind(no);
        let second = self.value(otherwise)?;
        self.b.assign(dst, second);
        self.b.bind(end);
        Ok(Operand::Reg(dst))
    }

    /// The value of `({ ... })`: its last statement, without freeing what that made.
    fn statement_expression(&mut self, block: &crate::ast::Block) -> Res<Operand> {
        self.enter_block(&block.locals)?;
        let mut result = ZERO;
        for (i, stmt) in block.stmts.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Expr(Some(value)) if i + 1 == block.stmts.len() => {
                    let value = self.value(value)?;
                    // The variable may go out of scope and its register be reused by the next round of a loop.
                    result = match value {
                        Operand::Reg(_) => {
                            let kept = self.b.temp();
                            self.b.assign(kept, value);
                            Operand::Reg(kept)
                        }
                        constant => constant,
                    };
                }
                _ => self.stmt(stmt)?,
            }
        }
        self.leave_block()?;
        Ok(result)
    }

    pub(super) fn statement_expression_into(&mut self, block: &crate::ast::Block, target: Place) -> Res<()> {
        self.enter_block(&block.locals)?;
        for (i, stmt) in block.stmts.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Expr(Some(value)) if i + 1 == block.stmts.len() => {
                    self.struct_into(value, target)?
                }
                _ => self.stmt(stmt)?,
            }
        }
        self.leave_block()?;
        Ok(())
    }
}

/// The bits of a floating-point constant of a type.
pub(super) fn float_bits(number: f64, ty: Ty) -> Value {
    match ty {
        Ty::FLOAT => Value(u64::from((number as f32).to_bits())),
        _ => Value(number.to_bits()),
    }
}

/// The orders of the two halves of a read-modify-write.
pub(super) fn halves(order: Order) -> (Order, Order) {
    match order {
        Order::Acquire | Order::Consume => (order, Order::Relaxed),
        Order::Release => (Order::Relaxed, Order::Release),
        Order::AcqRel => (Order::Acquire, Order::Release),
        other => (other, other),
    }
}
