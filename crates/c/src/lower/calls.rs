//! Calls, and struct values, which calls pass and return by address.

use super::Body;
use super::places::{Place, Where};
use crate::ast::{Expr, ExprKind};
use crate::parser::{Res, fail, unsupported};
use crate::types::{Ty, TypeKind};
use fencepost_diag::Span;
use fencepost_ir::{Ann, Callee, Cell, FailKind, Instr, Object, Operand, Reg, Value, Width};

const ZERO: Operand = Operand::Const(Value::ZERO);

impl Body<'_, '_> {
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
            if function == super::library::Library::Refused && self.only_sleeps(callee, args) {
                return self.library_call(super::library::Library::Ignore, args, span);
            }
            if function == super::library::Library::Refused {
                return self.refused(callee, span);
            }
            return self.library_call(function, args, span);
        }
        let may_leave = self.program.jumps.may_leave(callee);
        let mut args = args;
        let mut extra: &[Expr] = &[];
        let callee = match &callee.kind {
            ExprKind::Function(id) => {
                let def = &self.unit.functions[id.0 as usize];
                if def.body.is_none() {
                    if must_not_be_reached(&def.name) {
                        let (kind, message) = (FailKind::Unsupported, format!("`{}` has no body", def.name));
                        self.b.emit(Instr::Fail { kind, message });
                        return Ok(Operand::Const(Value::ZERO));
                    }
                    if let (true, Some(result)) =
                        (self.unit.any_result && def.refused.is_none(), self.any_result(def.ty))
                    {
                        args.iter().try_for_each(|arg| self.value(arg).map(drop))?;
                        return Ok(result);
                    }
                    return self.no_body(&def.name, span);
                }
                // What a variadic function does not name goes to memory; others cannot reach it.
                let (kept, more) = args.split_at(def.params.len().min(args.len()));
                args = kept;
                match self.is_variadic(def.ty) {
                    true => extra = more,
                    false => more.iter().try_for_each(|arg| self.effect(arg))?,
                }
                let facts = self.facts_of(*id, kept);
                Callee::Function(self.program.copy_for(*id, facts))
            }
            _ => {
                let signature = self.unit.types.pointee(callee.ty.ty).map(|to| to.ty);
                if let Some(signature) = signature.filter(|ty| self.is_variadic(*ty)) {
                    let TypeKind::Function { params, .. } = self.unit.types.kind(signature) else {
                        return fail(span, "expected a function");
                    };
                    (args, extra) = args.split_at(params.len().min(args.len()));
                }
                Callee::Pointer(self.value(callee)?)
            }
        };
        let mut operands = Vec::with_capacity(args.len() + 1);
        if let Some(Where::Memory(address, offset)) = target {
            operands.push(self.offset(address, offset));
        }
        for arg in args {
            operands.push(self.argument(arg)?);
        }
        let slots = match extra.is_empty() {
            true => None,
            false => Some(self.variable_arguments(extra, span)?),
        };
        operands.extend(slots.map(Operand::Reg));
        let dst = (wanted && target.is_none()).then(|| self.b.temp());
        // The last argument may have come from a macro of a header.
        self.b.span = span;
        self.b.emit(Instr::Call { dst, callee, args: operands });
        if let Some(slots) = slots {
            self.b.emit(Instr::EndLocal(Operand::Reg(slots)));
        }
        if may_leave {
            self.behind_call()?;
        }
        Ok(dst.map_or(ZERO, Operand::Reg))
    }

    fn is_variadic(&self, ty: crate::types::Ty) -> bool {
        matches!(self.unit.types.kind(ty), TypeKind::Function { variadic: true, .. })
    }

    /// An object with a slot of eight bytes for each argument that a variadic function does not name.
    fn variable_arguments(&mut self, args: &[Expr], span: Span) -> Res<Reg> {
        let mut values = Vec::new();
        for arg in args {
            // A struct is passed by its address, as elsewhere.
            let width = match self.unit.types.is_record(arg.ty.ty) {
                true => Width::W64,
                false => self.scalar_shape(arg.ty, arg.span)?.0,
            };
            values.push((self.argument(arg)?, width));
        }
        let cells = (0u32..).zip(&values);
        let cells = cells.map(|(i, (_, width))| Cell { offset: 8 * i, width: *width, init: None }).collect();
        let size = 8 * args.len() as u32;
        let object = Object { name: "arguments".into(), size, cells, span, constant: false };
        let dst = self.b.register("arguments");
        self.b.emit(Instr::Local { dst, object: Box::new(object), private: false });
        for (i, (value, width)) in (0u64..).zip(values) {
            let addr = self.offset(Operand::Reg(dst), 8 * i);
            self.b.emit(Instr::Store { addr, value, width, ann: Ann::PLAIN });
        }
        Ok(dst)
    }

    /// `poll(NULL, 0, time)` and `select(0, NULL, NULL, NULL, time)` wait for nothing but time.
    fn only_sleeps(&self, callee: &Expr, args: &[Expr]) -> bool {
        let ExprKind::Function(id) = &callee.kind else { return false };
        let null = |arg: &Expr| crate::sema::evaluate(self.unit, arg) == Some(crate::sema::Const::Int(0));
        match self.unit.functions[id.0 as usize].name.as_str() {
            "poll" | "ppoll" => args.first().is_some_and(null),
            "select" | "pselect" => args.len() > 3 && args[1..4].iter().all(null),
            _ => false,
        }
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

    /// Any value that a function without a body may return, if that is a number.
    fn any_result(&mut self, function: Ty) -> Option<Operand> {
        let TypeKind::Function { result, .. } = self.unit.types.kind(function) else { return None };
        let (first, last) = match self.unit.types.kind(result.ty) {
            TypeKind::Void => return Some(ZERO),
            TypeKind::Bool => (0, 1),
            TypeKind::Int { size, signed: true, .. } => {
                (i64::MIN >> (64 - 8 * size), i64::MAX >> (64 - 8 * size))
            }
            TypeKind::Int { size: 8, .. } => (i64::MIN, i64::MAX),
            TypeKind::Int { size, .. } => (0, (1 << (8 * size)) - 1),
            _ => return None,
        };
        let dst = self.b.temp();
        self.b.emit(Instr::Nondet { dst, first, last });
        Some(Operand::Reg(dst))
    }

    pub(super) fn no_body<T>(&self, name: &str, span: Span) -> Res<T> {
        let refused = self.unit.functions.iter().find(|f| f.name == name).and_then(|f| f.refused.clone());
        if let Some(refused) = refused {
            return Err(refused);
        }
        Err(Box::new(
            fencepost_diag::Diagnostic::error(span, format!("the function `{name}` has no body"))
                .label("called here")
                .hint("it is neither defined in the program nor part of the library that is modelled")
                .hint("a program of several files is checked with `check --link a.c b.c`"),
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
            ExprKind::ByOrder(order, choices) => {
                let packed = self.by_order(order, choices, true)?;
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
}

/// Functions that are declared so that a call of them which the compiler cannot remove fails to link.
fn must_not_be_reached(name: &str) -> bool {
    ["link_error", "compiletime_assert", "_bad_", "wrong_size", "build_bug"]
        .iter()
        .any(|part| name.contains(part))
}
