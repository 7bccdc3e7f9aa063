//! Conversions: places to values, promotions, casts and assignments.

use crate::ast::{ArithOp, Expr, ExprKind};
use crate::parser::{Parser, Res, fail, unsupported};
use crate::types::{QTy, Quals, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};

impl Parser<'_> {
    /// The value of an expression: places are loaded, arrays and functions become pointers.
    pub(crate) fn rvalue(&mut self, expr: Expr) -> Res<Expr> {
        let span = expr.span;
        match self.unit.types.kind(expr.ty.ty) {
            TypeKind::Array(of, _) => {
                let of = of.with(expr.ty.quals);
                let ty = self.unit.types.pointer(of);
                let expr = self.in_memory(expr)?;
                Ok(Expr { kind: ExprKind::AddrOf(Box::new(expr)), ty: ty.into(), span })
            }
            TypeKind::Function { .. } => {
                let ty = self.unit.types.pointer(expr.ty);
                match expr.kind {
                    ExprKind::Deref(pointer) => Ok(*pointer),
                    kind => Ok(Expr { kind, ty: ty.into(), span }),
                }
            }
            _ if expr.kind.is_place() => {
                if expr.ty.ty == Ty::VOID {
                    return Ok(Expr { ty: Ty::VOID.into(), ..expr });
                }
                if self.unit.types.size(expr.ty.ty).is_none() {
                    let shown = self.show(expr.ty);
                    return fail(span, format!("the value of an object of the incomplete type `{shown}`"));
                }
                if expr.ty.ty == Ty::LDOUBLE {
                    return unsupported(span, "`long double`", "use `double`");
                }
                let ty = QTy::plain(expr.ty.ty);
                Ok(Expr { kind: ExprKind::Load(Box::new(expr)), ty, span })
            }
            _ => Ok(expr),
        }
    }

    /// The expression as a place; a struct value goes to a temporary.
    pub(crate) fn in_memory(&mut self, expr: Expr) -> Res<Expr> {
        if expr.kind.is_place() {
            return Ok(expr);
        }
        // The value of a place needs no copy just to look at a member.
        if let ExprKind::Load(place) = expr.kind {
            return Ok(*place);
        }
        let (ty, span) = (expr.ty, expr.span);
        if let ExprKind::Call(_, _, Some(temporary)) = &expr.kind {
            let temporary = *temporary;
            return Ok(Expr { kind: ExprKind::Temporary(temporary, Box::new(expr)), ty, span });
        }
        let temporary = self.temporary(ty, span)?;
        Ok(Expr { kind: ExprKind::Temporary(temporary, Box::new(expr)), ty, span })
    }

    /// An expression whose value is not used. Reading a volatile or atomic object still happens.
    pub(crate) fn discarded(&mut self, expr: Expr) -> Res<Expr> {
        self.rvalue(expr)
    }

    /// A value that can be compared with zero.
    pub(crate) fn scalar_condition(&mut self, expr: Expr) -> Res<Expr> {
        let value = self.rvalue(expr)?;
        let span = value.span;
        if self.unit.types.is_floating(value.ty.ty) {
            let zero = Expr { kind: ExprKind::Float(0.0), ty: value.ty, span };
            return self.arith(ArithOp::Ne, value, zero);
        }
        if !self.unit.types.is_scalar(value.ty.ty) {
            return fail(span, format!("`{}` is neither true nor false", self.show(value.ty)));
        }
        Ok(value)
    }

    /// A bit-field that promotes to `int` as that; anything else as it is. The type alone does not say that a value
    /// comes from a bit-field, so this happens where the type of a larger expression is decided.
    pub(crate) fn promote_bit_field(&mut self, expr: Expr) -> Expr {
        if is_bit_field(&expr) { self.promote(expr) } else { expr }
    }

    /// Integer promotion of a value.
    pub(crate) fn promote(&mut self, expr: Expr) -> Expr {
        // A bit-field narrower than int is an int, whatever its declared type (C11 6.3.1.1).
        if let ExprKind::Load(place) = &expr.kind
            && let ExprKind::Member(_, _, Some(bits)) = &place.kind
        {
            let narrow = bits.width < 32 || (bits.width == 32 && self.unit.types.is_signed(expr.ty.ty));
            if narrow {
                return self.cast_to(expr, Ty::INT);
            }
        }
        let ty = self.unit.types.promoted(expr.ty.ty);
        self.cast_to(expr, ty)
    }

    /// Conversion of a value to a scalar type; nothing if it has that type. Constants are converted at once.
    pub(crate) fn cast_to(&mut self, expr: Expr, ty: Ty) -> Expr {
        if expr.ty.ty == ty {
            return Expr { ty: ty.into(), ..expr };
        }
        let span = expr.span;
        let types = &self.unit.types;
        let kind = match expr.kind {
            ExprKind::Int(bits) if types.is_integer(ty) => ExprKind::Int(self.wrap(bits, ty)),
            ExprKind::Int(bits) if types.is_floating(ty) => {
                let unsigned = !types.is_signed(expr.ty.ty);
                let value = if unsigned { bits as f64 } else { bits as i64 as f64 };
                ExprKind::Float(if ty == Ty::FLOAT { f64::from(value as f32) } else { value })
            }
            ExprKind::Int(0) if types.is_pointer(ty) => ExprKind::Int(0),
            ExprKind::Float(value) if ty == Ty::FLOAT => ExprKind::Float(f64::from(value as f32)),
            ExprKind::Float(value) if ty == Ty::DOUBLE => ExprKind::Float(value),
            kind => ExprKind::Cast(Box::new(Expr { kind, ..expr })),
        };
        Expr { kind, ty: ty.into(), span }
    }

    /// An integer as its type keeps it: truncated, and extended by its sign.
    pub(crate) fn wrap(&self, bits: u64, ty: Ty) -> u64 {
        match self.unit.types.kind(ty) {
            TypeKind::Bool => u64::from(bits != 0),
            TypeKind::Int { size, signed, .. } if *size < 8 => {
                let shift = 64 - 8 * u32::from(*size);
                match signed {
                    true => (((bits << shift) as i64) >> shift) as u64,
                    false => (bits << shift) >> shift,
                }
            }
            _ => bits,
        }
    }

    /// `(type) value`.
    pub(crate) fn explicit_cast(&mut self, expr: Expr, ty: QTy, span: Span) -> Res<Expr> {
        if ty.ty == Ty::VOID {
            let value = self.discarded(expr)?;
            return Ok(Expr { kind: ExprKind::Cast(Box::new(value)), ty: Ty::VOID.into(), span });
        }
        let value = self.rvalue(expr)?;
        let (from, types) = (value.ty.ty, &self.unit.types);
        let fine = match (types.is_scalar(from), types.is_scalar(ty.ty)) {
            (true, true) => {
                !(types.is_pointer(from) && types.is_floating(ty.ty)
                    || types.is_floating(from) && types.is_pointer(ty.ty))
            }
            _ => from == ty.ty && !types.is_function(from),
        };
        if !fine {
            let message = format!("`{}` cannot be converted to `{}`", self.show(value.ty), self.show(ty));
            return fail(span, message);
        }
        if ty.ty == Ty::LDOUBLE {
            return unsupported(span, "`long double`", "use `double`");
        }
        if types.is_pointer(from) && types.size(ty.ty).is_some_and(|s| s < 8) && ty.ty != Ty::BOOL {
            self.truncated_pointer(span, ty);
        }
        if from == ty.ty && is_bit_field(&value) {
            // The result is an ordinary value of that type, which no longer promotes as a bit-field does.
            return Ok(Expr { kind: ExprKind::Cast(Box::new(value)), ty: QTy::plain(ty.ty), span });
        }
        Ok(Expr { span, ..self.cast_to(value, ty.ty) })
    }

    /// Bits of a pointer are lost: fine for a number that was made a pointer, and nothing else can be done with it.
    fn truncated_pointer(&mut self, span: Span, ty: QTy) {
        let message = format!("a pointer is converted to `{}`, which is too small for it", self.show(ty));
        let hint = "use `intptr_t` or `uintptr_t`; only the low bits are kept";
        self.warnings.push(Diagnostic::warning(span, message).hint(hint));
    }

    /// A value made ready to be stored in an object of a type, as if by assignment.
    pub(crate) fn assign_convert(&mut self, expr: Expr, to: QTy, what: &str) -> Res<Expr> {
        let value = self.rvalue(expr)?;
        let (from, span) = (value.ty.ty, value.span);
        let types = &self.unit.types;
        if from == to.ty {
            return Ok(value);
        }
        if types.is_arithmetic(from) && types.is_arithmetic(to.ty) {
            return Ok(self.cast_to(value, to.ty));
        }
        if types.is_pointer(from) && to.ty == Ty::BOOL {
            return Ok(self.cast_to(value, to.ty));
        }
        let mismatch = |p: &Self| {
            let message =
                format!("a `{}` cannot be {what} where a `{}` is needed", p.show(value.ty), p.show(to.ty));
            fail(span, message)
        };
        match (types.is_pointer(from), types.is_pointer(to.ty)) {
            (true, true) => {
                let (a, b) = (types.pointee(from), types.pointee(to.ty));
                let void = |t: Option<QTy>| t.is_some_and(|t| t.ty == Ty::VOID);
                let same = a.zip(b).is_some_and(|(a, b)| types.compatible(a.ty, b.ty));
                let atomic_lost =
                    a.zip(b).is_some_and(|(a, b)| a.quals.has(Quals::ATOMIC) != b.quals.has(Quals::ATOMIC));
                if !void(a) && !void(b) && (!same || atomic_lost) {
                    let message = format!(
                        "a pointer `{}` is {what} where `{}` is needed",
                        self.show(value.ty),
                        self.show(to.ty)
                    );
                    self.warnings.push(Diagnostic::warning(span, message));
                }
                Ok(self.cast_to(value, to.ty))
            }
            (false, true) if types.is_integer(from) => {
                if !matches!(value.kind, ExprKind::Int(0)) && !self.is_null(&value) {
                    let message =
                        format!("an integer is {what} where the pointer `{}` is needed", self.show(to.ty));
                    self.warnings.push(Diagnostic::warning(span, message));
                }
                Ok(self.cast_to(value, to.ty))
            }
            (true, false) if types.is_integer(to.ty) => {
                if types.size(to.ty) == Some(8) {
                    let message = format!("a pointer is {what} where an integer is needed");
                    self.warnings.push(Diagnostic::warning(span, message));
                } else {
                    self.truncated_pointer(span, to);
                }
                Ok(self.cast_to(value, to.ty))
            }
            _ => mismatch(self),
        }
    }

    /// A null pointer constant.
    pub(crate) fn is_null(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(0) => true,
            ExprKind::Cast(inner) if expr.ty.ty == Ty::VOIDP => self.is_null(inner),
            _ => self.unit.types.is_integer(expr.ty.ty) && self.evaluate_integer(expr) == Some(0),
        }
    }
}

/// The value of a bit-field.
fn is_bit_field(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Load(place) if matches!(place.kind, ExprKind::Member(_, _, Some(_))))
}
