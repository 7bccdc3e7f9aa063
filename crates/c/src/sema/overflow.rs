//! `__builtin_add_overflow` and its kin.
//!
//! The result is the exact one, truncated to the type of the object; the value says whether that lost anything. With operands
//! that need no more than 63 bits and a sign, `int64` holds sums and differences of 32-bit operands exactly; for 64-bit operands
//! the usual tests on signs and quotients are written out.

use crate::ast::{ArithOp, Expr, ExprKind, Init, InitItem, Local, LocalId, Stmt, StmtKind};
use crate::parser::{Parser, Res, fail, int_expr, unsupported};
use crate::types::{QTy, Ty};
use fencepost_diag::Span;

/// An operation that is checked for overflow.
pub struct Overflow {
    /// What is computed.
    pub op: ArithOp,
    /// Some type is an unsigned one of 64 bits.
    pub unsigned: bool,
    /// The types of the operands and of the result.
    pub types: (QTy, QTy, QTy),
}

impl Parser<'_> {
    /// `({ a; b; result = a op b; lost; })`.
    pub(crate) fn overflow(&mut self, call: Overflow, a: Expr, b: Expr, into: Expr, span: Span) -> Res<Expr> {
        let size = |p: &Self, ty: QTy| p.unit.types.size(ty.ty).unwrap_or(8);
        let (ta, tb, to) = call.types;
        let narrow = size(self, ta) < 8 && size(self, tb) < 8;
        let all_unsigned = [ta, tb, to].iter().all(|t| !self.unit.types.is_signed(t.ty));
        let none_unsigned = !call.unsigned;
        let mixed = !all_unsigned && !none_unsigned;
        if mixed && !narrow {
            return unsupported(
                span,
                "an overflow check that mixes signed and unsigned 64-bit integers",
                "convert the operands to one type first",
            );
        }
        let common = if !narrow && all_unsigned { Ty::ULONG } else { Ty::LONG };
        let (x, y) = (self.kept(a, common, span)?, self.kept(b, common, span)?);
        let (vx, vy) = (self.read_of(x.0, common, span)?, self.read_of(y.0, common, span)?);
        let exact = self.arith(call.op, vx, vy)?;
        let z = self.kept(exact, common, span)?;
        let truncated = self.read_of(z.0, common, span)?;
        let truncated = self.cast_to(truncated, to.ty);
        let stored = self.assign(into, truncated)?;
        let wide = self.wide_overflow(call.op, common, narrow, (x.0, y.0, z.0), span)?;
        // Converted back, a result that was cut differs.
        let value = self.read_of(z.0, common, span)?;
        let cut = self.cast_to(value, to.ty);
        let back = self.cast_to(cut, common);
        let value = self.read_of(z.0, common, span)?;
        let lost = self.arith(ArithOp::Ne, back, value)?;
        let any = self.logical(false, wide, lost)?;
        let any = self.cast_to(any, Ty::BOOL);
        let effect = Stmt { kind: StmtKind::Expr(Some(stored)), span };
        let result = Stmt { kind: StmtKind::Expr(Some(any)), span };
        let block = crate::ast::Block {
            locals: vec![x.0, y.0, z.0],
            stmts: vec![x.1, y.1, z.1, effect, result],
            end: span,
        };
        Ok(Expr { kind: ExprKind::Stmt(block), ty: Ty::BOOL.into(), span })
    }

    /// Whether the operation left the 64 bits of the common type.
    fn wide_overflow(
        &mut self,
        op: ArithOp,
        common: Ty,
        narrow: bool,
        (x, y, z): (LocalId, LocalId, LocalId),
        span: Span,
    ) -> Res<Expr> {
        if narrow {
            return Ok(int_expr(0, Ty::INT, span));
        }
        let zero = || int_expr(0, common, span);
        let read = |p: &mut Self, l| p.read_of(l, common, span);
        let (a, b, c) = (read(self, x)?, read(self, y)?, read(self, z)?);
        Ok(match (op, common) {
            (ArithOp::Add, Ty::ULONG) => self.arith(ArithOp::Lt, c, a)?,
            (ArithOp::Sub, Ty::ULONG) => self.arith(ArithOp::Lt, a, b)?,
            (ArithOp::Add, _) => {
                // (c ^ a) & (c ^ b) < 0
                let c2 = read(self, z)?;
                let (p, q) = (self.arith(ArithOp::Xor, c, a)?, self.arith(ArithOp::Xor, c2, b)?);
                let both = self.arith(ArithOp::And, p, q)?;
                self.arith(ArithOp::Lt, both, zero())?
            }
            (ArithOp::Sub, _) => {
                // (a ^ b) & (a ^ c) < 0
                let a2 = read(self, x)?;
                let (p, q) = (self.arith(ArithOp::Xor, a, b)?, self.arith(ArithOp::Xor, a2, c)?);
                let both = self.arith(ArithOp::And, p, q)?;
                self.arith(ArithOp::Lt, both, zero())?
            }
            _ => {
                // a != 0 && c / a != b; the smallest number times -1 divides back to itself.
                let a2 = read(self, x)?;
                let quotient = self.arith(ArithOp::Div, c, a2)?;
                let wrong = self.arith(ArithOp::Ne, quotient, b)?;
                let (c3, a3) = (read(self, z)?, read(self, x)?);
                let wrong = match common {
                    Ty::ULONG => wrong,
                    _ => {
                        let lowest = int_expr(i64::MIN as u64, common, span);
                        let edge = self.arith(ArithOp::Eq, c3, lowest)?;
                        let minus = self.arith(ArithOp::Eq, a3, int_expr(u64::MAX, common, span))?;
                        let special = self.logical(true, edge, minus)?;
                        self.logical(false, wrong, special)?
                    }
                };
                let some = self.arith(ArithOp::Ne, a, zero())?;
                self.logical(true, some, wrong)?
            }
        })
    }

    /// A variable that keeps a value, and its declaration.
    fn kept(&mut self, value: Expr, ty: Ty, span: Span) -> Res<(LocalId, Stmt)> {
        let value = self.cast_to(value, ty);
        let local = Local { name: String::new(), ty: ty.into(), span, initialised: true, heap: false };
        let Some(function) = self.function.as_mut() else {
            return fail(span, "this needs a function around it");
        };
        let id = LocalId(function.locals.len() as u32);
        function.locals.push(local);
        let item = InitItem { offset: 0, ty: ty.into(), bits: None, value };
        let init = Init { items: vec![item], zero_rest: false };
        Ok((id, Stmt { kind: StmtKind::Declare(id, Some(init)), span }))
    }

    fn read_of(&mut self, local: LocalId, ty: Ty, span: Span) -> Res<Expr> {
        self.rvalue(Expr { kind: ExprKind::Local(local), ty: ty.into(), span })
    }
}
