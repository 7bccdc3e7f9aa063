//! `setjmp`: its call is a statement expression with a label, where a `longjmp` lands (`lower/jumps.rs` says how it gets there).

use crate::ast::{Block, Expr, ExprKind, Local, Stmt, StmtKind};
use crate::parser::{Parser, Res, fail, int_expr};
use crate::types::{QTy, Ty};
use fencepost_diag::Span;

impl Parser<'_> {
    /// Whether a call is one of `setjmp`, under any of its names.
    pub(crate) fn sets_jump(&self, callee: &Expr) -> bool {
        let ExprKind::Function(id) = &callee.kind else { return false };
        let def = &self.unit.functions[id.0 as usize];
        def.body.is_none()
            && matches!(def.name.as_str(), "setjmp" | "_setjmp" | "__setjmp" | "sigsetjmp" | "__sigsetjmp")
    }

    /// `({ __fp_set_jump(buffer, &activation, number); label: __fp_jump_value(); })`
    pub(crate) fn set_jump(&mut self, mut args: Vec<Expr>, span: Span) -> Res<Expr> {
        if args.is_empty() || self.function.is_none() {
            return fail(span, "`setjmp` takes a `jmp_buf`, and is called by a function");
        }
        let words = self.unit.types.pointer(Ty::ULONG);
        let buffer = self.rvalue(args.swap_remove(0))?;
        let buffer = self.explicit_cast(buffer, words.into(), span)?;
        let label = self.nameless_label(span)?;
        let context = self.context(span)?;
        let activation = *context.landings.1.get_or_insert_with(|| {
            let local = crate::ast::LocalId(context.locals.len() as u32);
            let name = "the call that setjmp stands in".to_string();
            context.locals.push(Local { name, ty: Ty::LONG.into(), span, initialised: true, heap: false });
            context.blocks[0].push(local);
            local
        });
        context.landings.0.push(label);
        let number = int_expr(context.landings.0.len() as u64 - 1, Ty::INT, span);
        let activation = Expr { kind: ExprKind::Local(activation), ty: Ty::LONG.into(), span };
        let activation = self.address_of(activation, span)?;
        let place = self.unit.types.pointer(Ty::LONG);
        let symbol = self.interner.intern("__fp_set_jump");
        let args = vec![buffer, activation, number];
        let set = self.call_declared(symbol, Ty::VOID, &[words, place, Ty::INT], args, span, span)?;
        let symbol = self.interner.intern("__fp_jump_value");
        let value = self.call_declared(symbol, Ty::INT, &[], Vec::new(), span, span)?;
        let stmt = |kind: StmtKind| Stmt { kind, span };
        let nothing = Box::new(stmt(StmtKind::Expr(None)));
        let stmts = vec![
            stmt(StmtKind::Expr(Some(set))),
            stmt(StmtKind::Label(label, nothing)),
            stmt(StmtKind::Expr(Some(value))),
        ];
        let block = Block { locals: Vec::new(), stmts, end: span };
        Ok(Expr { kind: ExprKind::Stmt(block), ty: QTy::plain(Ty::INT), span })
    }
}
