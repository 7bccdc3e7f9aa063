//! Expressions to instructions.

use super::Body;
use super::places::{Place, Where, annotation};
use crate::ast::{ArithOp, Expr, ExprKind, PrefixOp, StmtKind};
use crate::parser::{Res, fail, unsupported};
use crate::types::{Quals, Ty};
use fencepost_diag::Span;
use fencepost_ir::{BinaryOp, Callee, Extend, Instr, Operand, Order, RmwOp, UnaryOp, Value, Width};

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

    fn assignment(&mut self, place: &Expr, value: &Expr) -> Res<Operand> {
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
    fn assign_op(
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
    fn post_step(&mut self, place: &Expr, step: i64, wanted: bool, span: Span) -> Res<Operand> {
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
                return unsupported(span, "`++` on this atomic type", "use a compare-exchange loop");
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

    /// A call of a function with a body, of a pointer, or of something that the library table knows.
    pub(super) fn call(
        &mut self,
        callee: &Expr,
        args: &[Expr],
        target: Option<Where>,
        wanted: bool,
        span: Span,
    ) -> Res<Operand> {
        if let Some(function) = super::library::known_call(self.unit, callee) {
            if function == super::library::Library::Refused {
                return self.refused(callee, span);
            }
            return self.library_call(function, args, wanted, span);
        }
        let mut args = args;
        let callee = match &callee.kind {
            ExprKind::Function(id) => {
                let def = &self.unit.functions[id.0 as usize];
                if def.body.is_none() {
                    return self.no_body(&def.name, span);
                }
                // Arguments beyond the parameters could only be reached by `va_arg`, which is an error.
                let (kept, dropped) = args.split_at(def.params.len().min(args.len()));
                dropped.iter().try_for_each(|arg| self.effect(arg))?;
                args = kept;
                Callee::Function(self.program.function_id(*id))
            }
            _ => Callee::Pointer(self.value(callee)?),
        };
        let mut operands = Vec::with_capacity(args.len() + 1);
        if let Some(Where::Memory(address, offset)) = target {
            operands.push(self.offset(address, offset));
        }
        for arg in args {
            operands.push(self.argument(arg)?);
        }
        let dst = (wanted && target.is_none()).then(|| self.b.temp());
        self.b.emit(Instr::Call { dst, callee, args: operands });
        Ok(dst.map_or(ZERO, Operand::Reg))
    }

    /// A call of a library function that is known and not modelled.
    fn refused(&self, callee: &Expr, span: Span) -> Res<Operand> {
        let name = match &callee.kind {
            ExprKind::Function(id) => self.unit.functions[id.0 as usize].name.as_str(),
            _ => "this",
        };
        unsupported(
            span,
            format!("the library function `{name}`"),
            "define a function of that name as a model of it",
        )
    }

    /// An argument: a value, or the address of a struct.
    fn argument(&mut self, arg: &Expr) -> Res<Operand> {
        if self.unit.types.is_record(arg.ty.ty) {
            let place = self.place(arg)?;
            return self.address(place, arg.span);
        }
        self.value(arg)
    }

    pub(super) fn no_body<T>(&self, name: &str, span: Span) -> Res<T> {
        Err(Box::new(
            fencepost_diag::Diagnostic::error(span, format!("the function `{name}` has no body"))
                .label("called here")
                .hint("it is neither defined in the program nor part of the library that is modelled"),
        ))
    }

    /// Evaluates a struct expression into a place.
    pub(super) fn struct_into(&mut self, expr: &Expr, target: Place) -> Res<()> {
        match &expr.kind {
            ExprKind::Load(place) => {
                let span = place.span;
                let from = self.place(place)?;
                self.copy(from, target, span)
            }
            ExprKind::Call(callee, args, Some(temporary)) => {
                let at = self.variable(*temporary, expr.span)?;
                self.call(callee, args, Some(at), false, expr.span)?;
                let from = Place { at, ty: expr.ty, bits: None };
                self.copy(from, target, expr.span)
            }
            ExprKind::Assign(place, value) => {
                let assigned = self.place(place)?;
                self.struct_into(value, assigned)?;
                self.copy(assigned, target, expr.span)
            }
            ExprKind::Comma(left, right) => {
                self.effect(left)?;
                self.struct_into(right, target)
            }
            ExprKind::Cast(inner) => self.struct_into(inner, target),
            ExprKind::Cond(condition, then, otherwise) => {
                let (yes, no, end) = (self.b.target(), self.b.target(), self.b.target());
                self.branch_on(condition, yes, no)?;
                self.b.bind(yes);
                self.struct_into(then, target)?;
                self.b.jump(end);
                self.b.bind(no);
                self.struct_into(otherwise, target)?;
                self.b.bind(end);
                Ok(())
            }
            ExprKind::Builtin(builtin, args) => {
                let packed = self.builtin(builtin, args, expr, true)?;
                self.unpack(packed, target, expr.span)
            }
            ExprKind::Stmt(block) => self.statement_expression_into(block, target),
            _ if expr.kind.is_place() => {
                let from = self.place(expr)?;
                self.copy(from, target, expr.span)
            }
            _ => fail(expr.span, "this struct value is not supported here"),
        }
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
        self.leave_block();
        Ok(result)
    }

    fn statement_expression_into(&mut self, block: &crate::ast::Block, target: Place) -> Res<()> {
        self.enter_block(&block.locals)?;
        for (i, stmt) in block.stmts.iter().enumerate() {
            match &stmt.kind {
                StmtKind::Expr(Some(value)) if i + 1 == block.stmts.len() => {
                    self.struct_into(value, target)?
                }
                _ => self.stmt(stmt)?,
            }
        }
        self.leave_block();
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
