//! Operators: their operands' conversions and their results' types.

use crate::ast::{ArithOp, Expr, ExprKind, PrefixOp};
use crate::intern::Symbol;
use crate::parser::{Parser, Res, fail, int_expr, unsupported};
use crate::types::{QTy, Quals, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};

impl Parser<'_> {
    /// A value of arithmetic type.
    pub(crate) fn arithmetic_operand(&mut self, expr: Expr, op: &str) -> Res<Expr> {
        let value = self.rvalue(expr)?;
        if !self.unit.types.is_arithmetic(value.ty.ty) {
            return fail(value.span, format!("`{op}` cannot be applied to `{}`", self.show(value.ty)));
        }
        if value.ty.ty == Ty::LDOUBLE {
            return unsupported(value.span, "`long double`", "use `double`");
        }
        Ok(value)
    }

    pub(crate) fn prefix_op(&mut self, op: PrefixOp, operand: Expr, span: Span) -> Res<Expr> {
        if op == PrefixOp::Not {
            let value = self.scalar_condition(operand)?;
            return Ok(Expr { kind: ExprKind::Prefix(op, Box::new(value)), ty: Ty::INT.into(), span });
        }
        let value = self.arithmetic_operand(operand, if op == PrefixOp::Neg { "-" } else { "~" })?;
        if op == PrefixOp::BitNot && !self.unit.types.is_integer(value.ty.ty) {
            return fail(span, "`~` needs an integer");
        }
        let value = self.promote(value);
        let ty = value.ty;
        Ok(Expr { kind: ExprKind::Prefix(op, Box::new(value)), ty, span })
    }

    pub(crate) fn address_of(&mut self, operand: Expr, span: Span) -> Res<Expr> {
        if let ExprKind::Function(_) = operand.kind {
            return self.rvalue(operand);
        }
        if let ExprKind::Member(_, _, Some(_)) = operand.kind {
            return fail(span, "a bit-field has no address");
        }
        if !operand.kind.is_place() {
            return Err(Box::new(
                Diagnostic::error(span, "only objects have an address, this is a value")
                    .hint("store it in a variable first"),
            ));
        }
        let ty = self.unit.types.pointer(operand.ty).into();
        let kind = match operand.kind {
            ExprKind::Deref(pointer) => pointer.kind,
            _ => ExprKind::AddrOf(Box::new(operand)),
        };
        Ok(Expr { kind, ty, span })
    }

    pub(crate) fn dereference(&mut self, operand: Expr, span: Span) -> Res<Expr> {
        let pointer = self.rvalue(operand)?;
        let Some(to) = self.unit.types.pointee(pointer.ty.ty) else {
            return Err(Box::new(
                Diagnostic::error(span, format!("`{}` is not a pointer", self.show(pointer.ty)))
                    .label("dereferenced here"),
            ));
        };
        // `*&x` is `x`, which may then stay a register.
        match pointer.kind {
            ExprKind::AddrOf(place) if place.ty == to => Ok(Expr { span, ..*place }),
            kind => {
                let pointer = Expr { kind, ..pointer };
                Ok(Expr { kind: ExprKind::Deref(Box::new(pointer)), ty: to, span })
            }
        }
    }

    pub(crate) fn index(&mut self, base: Expr, index: Expr, span: Span) -> Res<Expr> {
        let sum = self.arith(ArithOp::Add, base, index)?;
        if !self.unit.types.is_pointer(sum.ty.ty) {
            return fail(span, "only arrays and pointers can be indexed");
        }
        self.dereference(sum, span)
    }

    pub(crate) fn member(&mut self, base: Expr, name: Symbol, span: Span) -> Res<Expr> {
        let Some((_, record)) = self.unit.types.record(base.ty.ty) else {
            return fail(span, format!("`{}` has no members", self.show(base.ty)));
        };
        if !record.complete {
            return fail(span, format!("the members of `{}` are not known here", self.show(base.ty)));
        }
        let Some((offset, ty, bits)) = self.find_member(base.ty.ty, name) else {
            let message = format!("`{}` has no member `{}`", self.show(base.ty), self.name(name));
            let names: Vec<String> =
                record.fields.iter().filter_map(|f| f.name).map(|n| self.name(n)).collect();
            let hint = format!("its members are {}", names.join(", "));
            return Err(Box::new(Diagnostic::error(span, message).hint(hint)));
        };
        if base.ty.quals.has(Quals::ATOMIC) {
            return Err(Box::new(
                Diagnostic::error(span, "a member of an atomic struct is accessed")
                    .hint("C leaves this undefined: load the whole struct, change it and store it"),
            ));
        }
        let ty = ty.with(base.ty.quals);
        let base = self.in_memory(base)?;
        Ok(Expr { kind: ExprKind::Member(Box::new(base), offset, bits), ty, span })
    }

    /// A member by name, looking into anonymous ones: offset, type, bits.
    pub(crate) fn find_member(&self, ty: Ty, name: Symbol) -> Option<(u64, QTy, Option<crate::types::Bits>)> {
        let (_, record) = self.unit.types.record(ty)?;
        for field in &record.fields {
            if field.name == Some(name) {
                return Some((field.offset, field.ty, field.bits));
            }
            if field.name.is_none()
                && let Some((offset, ty, bits)) = self.find_member(field.ty.ty, name)
            {
                return Some((field.offset + offset, ty.with(field.ty.quals), bits));
            }
        }
        None
    }

    /// The size that pointer arithmetic steps by.
    pub(crate) fn step_size(&self, pointer: Ty, span: Span) -> Res<u64> {
        let Some(to) = self.unit.types.pointee(pointer) else { return fail(span, "expected a pointer") };
        match self.unit.types.kind(to.ty) {
            // GNU C: void and functions have size 1 here.
            TypeKind::Void | TypeKind::Function { .. } => Ok(1),
            _ => match self.unit.types.size(to.ty) {
                Some(size) => Ok(size),
                None => fail(span, format!("the size of `{}` is not known", self.show(to))),
            },
        }
    }

    fn pointer_plus(&mut self, pointer: Expr, index: Expr, negative: bool, span: Span) -> Res<Expr> {
        if !self.unit.types.is_integer(index.ty.ty) {
            return fail(span, format!("`{}` cannot be added to a pointer", self.show(index.ty)));
        }
        let size = self.step_size(pointer.ty.ty, span)? as i64;
        let (ty, index) = (pointer.ty, self.promote(index));
        let kind = ExprKind::PtrAdd(Box::new(pointer), Box::new(index), if negative { -size } else { size });
        Ok(Expr { kind, ty, span })
    }

    /// A binary operator that is neither `&&` nor `||`.
    pub(crate) fn arith(&mut self, op: ArithOp, left: Expr, right: Expr) -> Res<Expr> {
        let (left, right) = (self.rvalue(left)?, self.rvalue(right)?);
        let span = left.span.to(right.span);
        let pointers = (self.unit.types.is_pointer(left.ty.ty), self.unit.types.is_pointer(right.ty.ty));
        match (op, pointers) {
            (_, (false, false)) => self.arithmetic(op, left, right, span),
            (ArithOp::Add, (true, false)) => self.pointer_plus(left, right, false, span),
            (ArithOp::Add, (false, true)) => self.pointer_plus(right, left, false, span),
            (ArithOp::Sub, (true, false)) => self.pointer_plus(left, right, true, span),
            (ArithOp::Sub, (true, true)) => {
                let size = self.step_size(left.ty.ty, span)?;
                let kind = ExprKind::PtrDiff(Box::new(left), Box::new(right), size.max(1));
                Ok(Expr { kind, ty: Ty::LONG.into(), span })
            }
            _ if op.is_comparison() => self.compare_pointers(op, left, right, span),
            _ => fail(span, "this operator cannot be applied to a pointer"),
        }
    }

    fn compare_pointers(&mut self, op: ArithOp, left: Expr, right: Expr, span: Span) -> Res<Expr> {
        let types = &self.unit.types;
        let other = if types.is_pointer(left.ty.ty) { &right } else { &left };
        if !types.is_pointer(other.ty.ty) && !types.is_integer(other.ty.ty) {
            return fail(span, format!("a pointer cannot be compared with `{}`", self.show(other.ty)));
        }
        if !types.is_pointer(other.ty.ty) && !self.is_null(other) {
            self.warnings.push(Diagnostic::warning(span, "a pointer is compared with an integer"));
        }
        let (left, right) = (self.cast_to(left, Ty::VOIDP), self.cast_to(right, Ty::VOIDP));
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        Ok(Expr { kind, ty: Ty::INT.into(), span })
    }

    fn arithmetic(&mut self, op: ArithOp, left: Expr, right: Expr, span: Span) -> Res<Expr> {
        let types = &self.unit.types;
        for side in [&left, &right] {
            if !types.is_arithmetic(side.ty.ty) {
                let message = format!("this operator cannot be applied to `{}`", self.show(side.ty));
                return fail(side.span, message);
            }
            if side.ty.ty == Ty::LDOUBLE {
                return unsupported(side.span, "`long double`", "use `double`");
            }
        }
        let integers_only = matches!(
            op,
            ArithOp::Rem | ArithOp::And | ArithOp::Or | ArithOp::Xor | ArithOp::Shl | ArithOp::Shr
        );
        if integers_only && (types.is_floating(left.ty.ty) || types.is_floating(right.ty.ty)) {
            return fail(span, "this operator needs integers");
        }
        let (left, right) = (self.promote(left), self.promote(right));
        if matches!(op, ArithOp::Shl | ArithOp::Shr) {
            let ty = left.ty;
            return Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span });
        }
        let common = self.unit.types.usual_arithmetic(left.ty.ty, right.ty.ty);
        let (left, right) = (self.cast_to(left, common), self.cast_to(right, common));
        let ty = if op.is_comparison() { Ty::INT } else { common };
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty: ty.into(), span })
    }

    pub(crate) fn logical(&mut self, and: bool, left: Expr, right: Expr) -> Res<Expr> {
        let (left, right) = (self.scalar_condition(left)?, self.scalar_condition(right)?);
        let span = left.span.to(right.span);
        let kind = ExprKind::Logical(and, Box::new(left), Box::new(right));
        Ok(Expr { kind, ty: Ty::INT.into(), span })
    }

    /// The common type of the two results of `?:`.
    fn branch_type(&mut self, then: &Expr, otherwise: &Expr, span: Span) -> Res<Ty> {
        let (a, b, types) = (then.ty.ty, otherwise.ty.ty, &self.unit.types);
        if types.is_arithmetic(a) && types.is_arithmetic(b) {
            return Ok(types.usual_arithmetic(a, b));
        }
        if a == Ty::VOID || b == Ty::VOID {
            return Ok(Ty::VOID);
        }
        if a == b {
            return Ok(a);
        }
        match (types.is_pointer(a), types.is_pointer(b)) {
            (true, true) if self.is_null(then) => Ok(b),
            (true, true) if self.is_null(otherwise) => Ok(a),
            (true, true) => {
                let (x, y) = (types.pointee(a), types.pointee(b));
                let Some((x, y)) = x.zip(y) else { return Ok(a) };
                let quals = x.quals.with(y.quals);
                let target = if x.ty == Ty::VOID || types.compatible(x.ty, y.ty) {
                    x.ty
                } else if y.ty == Ty::VOID {
                    y.ty
                } else {
                    self.warnings.push(Diagnostic::warning(span, "the two results are different pointers"));
                    Ty::VOID
                };
                Ok(self.unit.types.pointer(QTy::plain(target).with(quals)))
            }
            (true, false) if types.is_integer(b) => Ok(a),
            (false, true) if types.is_integer(a) => Ok(b),
            _ => {
                let message = format!("`{}` and `{}` have no common type", self.show(a), self.show(b));
                fail(span, message)
            }
        }
    }

    pub(crate) fn choose(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Res<Expr> {
        let condition = self.scalar_condition(condition)?;
        let (then, otherwise) = (self.rvalue(then)?, self.rvalue(otherwise)?);
        let (then, otherwise) = (self.promote_bit_field(then), self.promote_bit_field(otherwise));
        let span = condition.span.to(otherwise.span);
        let ty = self.branch_type(&then, &otherwise, span)?;
        // `c ? (void)0 : __assert_fail(...)`, as older headers of the C library have it.
        if let (Ty::VOID, ExprKind::Cast(nothing), Some(message)) =
            (ty, &then.kind, self.failed_assertion(&otherwise))
            && matches!(nothing.kind, ExprKind::Int(_))
        {
            return Ok(self.assertion(condition, message));
        }
        let (then, otherwise) = match ty {
            Ty::VOID => (then, otherwise),
            _ if self.unit.types.is_record(ty) => (then, otherwise),
            _ => (self.cast_to(then, ty), self.cast_to(otherwise, ty)),
        };
        let kind = ExprKind::Cond(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Expr { kind, ty: ty.into(), span })
    }

    pub(crate) fn elvis(&mut self, value: Expr, otherwise: Expr) -> Res<Expr> {
        let (value, otherwise) = (self.rvalue(value)?, self.rvalue(otherwise)?);
        let (value, otherwise) = (self.promote_bit_field(value), self.promote_bit_field(otherwise));
        let span = value.span.to(otherwise.span);
        if !self.unit.types.is_scalar(value.ty.ty) {
            return fail(value.span, format!("`{}` is neither true nor false", self.show(value.ty)));
        }
        let ty = self.branch_type(&value, &otherwise, span)?;
        let (value, otherwise) = (self.cast_to(value, ty), self.cast_to(otherwise, ty));
        let kind = ExprKind::Elvis(Box::new(value), Box::new(otherwise));
        Ok(Expr { kind, ty: ty.into(), span })
    }

    /// Something that can be assigned to.
    fn modifiable(&self, place: &Expr, span: Span) -> Res<()> {
        if !place.kind.is_place() {
            return fail(span, "only objects can be assigned to, this is a value");
        }
        if place.ty.quals.has(Quals::CONST) {
            return fail(span, "this object is `const`");
        }
        match self.unit.types.kind(place.ty.ty) {
            TypeKind::Array(..) => fail(span, "an array cannot be assigned as a whole"),
            TypeKind::Void | TypeKind::Function { .. } => {
                fail(span, format!("an object of type `{}` cannot be assigned", self.show(place.ty)))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn assign(&mut self, place: Expr, value: Expr) -> Res<Expr> {
        self.modifiable(&place, place.span)?;
        let value = self.assign_convert(value, place.ty, "assigned")?;
        let (span, ty) = (place.span.to(value.span), QTy::plain(place.ty.ty));
        Ok(Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), ty, span })
    }

    pub(crate) fn assign_op(&mut self, op: ArithOp, place: Expr, value: Expr) -> Res<Expr> {
        self.modifiable(&place, place.span)?;
        let value = self.rvalue(value)?;
        let (span, ty) = (place.span.to(value.span), place.ty.ty);
        if self.unit.types.is_pointer(ty) && matches!(op, ArithOp::Add | ArithOp::Sub) {
            if !self.unit.types.is_integer(value.ty.ty) {
                return fail(value.span, format!("`{}` cannot be added to a pointer", self.show(value.ty)));
            }
            let size = self.step_size(ty, span)?;
            let value = self.cast_to(value, Ty::LONG);
            let scaled = self.arithmetic(ArithOp::Mul, value, int_expr(size, Ty::LONG, span), span)?;
            let kind = ExprKind::AssignOp(op, Box::new(place), Box::new(scaled), ty);
            return Ok(Expr { kind, ty: ty.into(), span });
        }
        // Typed as `place op value` is; the operands of that show what is computed.
        let narrow = |bits: &crate::types::Bits| {
            bits.width < 32 || (bits.width == 32 && self.unit.types.is_signed(ty))
        };
        let shadow_ty = match &place.kind {
            ExprKind::Member(_, _, Some(bits)) if narrow(bits) => Ty::INT,
            _ => ty,
        };
        let shadow = Expr { kind: ExprKind::Int(0), ty: shadow_ty.into(), span: place.span };
        let shape = self.arithmetic(op, shadow, value, span)?;
        let ExprKind::Binary(_, left, value) = shape.kind else { return fail(span, "expected an operator") };
        let computed = left.ty.ty;
        let kind = ExprKind::AssignOp(op, Box::new(place), value, computed);
        Ok(Expr { kind, ty: ty.into(), span })
    }

    pub(crate) fn post_step(&mut self, place: Expr, step: i64, span: Span) -> Res<Expr> {
        self.modifiable(&place, span)?;
        let ty = place.ty.ty;
        let step = match self.unit.types.kind(ty) {
            TypeKind::Pointer(_) => step * self.step_size(ty, span)? as i64,
            _ if self.unit.types.is_arithmetic(ty) => step,
            _ => return fail(span, format!("`{}` cannot be stepped", self.show(place.ty))),
        };
        Ok(Expr { kind: ExprKind::PostStep(Box::new(place), step), ty: ty.into(), span })
    }
}
