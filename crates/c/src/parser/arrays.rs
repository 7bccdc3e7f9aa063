//! Arrays of variable length: a pointer to memory that is allocated where the declaration stands and freed at the end of the
//! block, and a variable that has the size. A length that is a constant after all makes an ordinary array.

use super::{Entity, Parser, Res, fail, int_expr, unsupported};
use crate::ast::{ArithOp, Expr, ExprKind, Init, InitItem, Local, LocalId, Stmt, StmtKind};
use crate::builtins::Builtin;
use crate::intern::Symbol;
use crate::token::Punct;
use crate::types::{QTy, Quals, Ty, TypeKind};
use fencepost_diag::Span;

impl Parser<'_> {
    /// Notes the value of a `const` variable, which may then be the length of an array.
    pub(super) fn note_constant(&mut self, local: LocalId, ty: QTy, init: Option<&Init>) {
        let plain = ty.quals.has(Quals::CONST) && !ty.quals.has(Quals::VOLATILE);
        let Some([item]) = init.map(|init| &init.items[..]) else { return };
        if !plain || !self.unit.types.is_integer(ty.ty) {
            return;
        }
        let value = self.with_constants(&item.value);
        if let (Some(value), Some(function)) = (self.evaluate_integer(&value), self.function.as_mut()) {
            function.constants.push((local, value as u64));
        }
    }

    /// The expression with the values of `const` variables in their places.
    pub(super) fn with_constants(&self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.put_constants(&mut copy);
        copy
    }

    fn put_constants(&self, expr: &mut Expr) {
        let constants = self.function.as_ref().map_or(&[][..], |f| &f.constants);
        match &mut expr.kind {
            ExprKind::Load(place) => {
                if let ExprKind::Local(local) = place.kind
                    && let Some((_, value)) = constants.iter().find(|(l, _)| *l == local)
                {
                    expr.kind = ExprKind::Int(*value);
                }
            }
            ExprKind::Cast(inner) | ExprKind::Prefix(_, inner) => self.put_constants(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Logical(_, a, b) => {
                self.put_constants(a);
                self.put_constants(b);
            }
            ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| self.put_constants(e)),
            _ => {}
        }
    }

    /// `type name[length];` in a block.
    pub(super) fn declare_variable_array(
        &mut self,
        (name, span): (Symbol, Span),
        ty: QTy,
        length: Expr,
        at: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Res<()> {
        let TypeKind::Array(of, _) = *self.unit.types.kind(ty.ty) else {
            return unsupported(at, "this use of an array of variable length", "use malloc");
        };
        if self.is(Punct::Assign) {
            return fail(at, "an array of variable length cannot be initialised");
        }
        let Some(element) = self.unit.types.size(of.ty) else {
            return unsupported(at, "an array of several variable lengths", "use one length, or malloc");
        };
        let length = self.cast_to(length, Ty::ULONG);
        let bytes = self.arith(ArithOp::Mul, length, int_expr(element, Ty::ULONG, at))?;
        let size = self.hidden(format!("sizeof {}", self.name(name)), Ty::ULONG.into(), false, span)?;
        stmts.push(initialised(size, Ty::ULONG.into(), bytes, at));
        let pointer = self.unit.types.pointer(of);
        let variable = self.hidden(self.name(name), pointer.into(), true, span)?;
        let load = Expr { kind: ExprKind::Local(size), ty: Ty::ULONG.into(), span: at };
        let load = self.rvalue(load)?;
        let memory = ExprKind::Builtin(Builtin::Allocate, vec![load]);
        stmts.push(initialised(
            variable,
            pointer.into(),
            Expr { kind: memory, ty: pointer.into(), span: at },
            at,
        ));
        if let Some(function) = self.function.as_mut() {
            function.variable_arrays.push((variable, size));
        }
        self.scopes.declare(name, Entity::VariableArray(variable));
        Ok(())
    }

    fn hidden(&mut self, name: String, ty: QTy, heap: bool, span: Span) -> Res<LocalId> {
        match self.new_local(Local { name, ty, span, initialised: true, heap }) {
            Some(local) => Ok(local),
            None => fail(span, "this needs a function around it"),
        }
    }

    /// The array that a variable stands for.
    pub(super) fn variable_array(&mut self, pointer: LocalId, span: Span) -> Res<Expr> {
        let ty = self.function.as_ref().map_or(Ty::VOIDP.into(), |f| f.locals[pointer.0 as usize].ty);
        let place = Expr { kind: ExprKind::Local(pointer), ty, span };
        let value = self.rvalue(place)?;
        let of = self.unit.types.pointee(ty.ty).unwrap_or(Ty::CHAR.into());
        let array = self.unit.types.array(of, None);
        Ok(Expr { kind: ExprKind::Deref(Box::new(value)), ty: array.into(), span })
    }

    /// The size of an array of variable length, if the expression is one.
    pub(super) fn variable_size(&mut self, array: &Expr) -> Res<Option<Expr>> {
        let ExprKind::Deref(pointer) = &array.kind else { return Ok(None) };
        let ExprKind::Load(place) = &pointer.kind else { return Ok(None) };
        let ExprKind::Local(local) = place.kind else { return Ok(None) };
        let found = self.function.as_ref().and_then(|f| f.variable_arrays.iter().find(|(p, _)| *p == local));
        let Some(&(_, size)) = found else { return Ok(None) };
        let place = Expr { kind: ExprKind::Local(size), ty: Ty::ULONG.into(), span: array.span };
        self.rvalue(place).map(Some)
    }
}

fn initialised(local: LocalId, ty: QTy, value: Expr, span: Span) -> Stmt {
    let item = InitItem { offset: 0, ty, bits: None, value };
    Stmt { kind: StmtKind::Declare(local, Some(Init { items: vec![item], zero_rest: false })), span }
}
