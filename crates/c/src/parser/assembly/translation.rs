//! What assembly of all processors has in common: its operands and registers are variables, its labels are labels, and what it
//! does are statements of C.

use crate::ast::{Expr, ExprKind, LabelId, LocalId, Stmt, StmtKind};
use crate::builtins::Builtin;
use crate::parser::{Parser, Res, int_expr};
use crate::types::{QTy, Ty};
use fencepost_diag::Span;
use fencepost_ir::Fence;

/// Where an operand of the statement is.
#[derive(Clone)]
pub(super) enum Home {
    Register(LocalId),
    Memory(Expr),
    /// A flag.
    Flag,
}

/// A block under construction.
pub(super) struct Translation {
    pub(super) homes: Vec<Home>,
    /// Variables of the registers that are named, by their numbers.
    pub(super) fixed: Vec<(u32, LocalId)>,
    /// Zero, sign and carry.
    pub(super) flags: [LocalId; 3],
    pub(super) stmts: Vec<Stmt>,
    pub(super) span: Span,
}

pub(super) const SEQ_CST: u64 = 5;
pub(super) const ACQUIRE: u64 = 2;
pub(super) const RELEASE: u64 = 3;

/// A step of the translation; `None` if the text has something that is not known.
pub(super) type Step<T> = Res<Option<T>>;

impl Parser<'_> {
    /// An operation on memory whose result is wanted.
    pub(super) fn assembly_builtin(
        &mut self,
        t: &Translation,
        what: Builtin,
        args: Vec<Expr>,
        ty: Ty,
    ) -> Expr {
        let _ = self;
        Expr { kind: ExprKind::Builtin(what, args), ty: QTy::plain(ty), span: t.span }
    }

    /// The labels `1:` and their places among the lines.
    pub(super) fn assembly_labels(&mut self, t: &Translation, lines: &[&str]) -> Step<Vec<(usize, LabelId)>> {
        let mut labels = Vec::new();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| label(line).is_some()) {
            labels.push((at, self.nameless_label(t.span)?));
        }
        Ok(Some(labels))
    }

    /// The variable of a register that is named.
    pub(super) fn assembly_register(&mut self, t: &mut Translation, number: u32) -> Res<LocalId> {
        if let Some((_, local)) = t.fixed.iter().find(|(known, _)| *known == number) {
            return Ok(*local);
        }
        let local = self.temporary(Ty::ULONG.into(), t.span)?;
        t.fixed.push((number, local));
        Ok(local)
    }

    /// A new variable with a value.
    pub(super) fn assembly_kept(&mut self, t: &mut Translation, value: Expr) -> Res<LocalId> {
        let local = self.temporary(QTy::plain(value.ty.ty), t.span)?;
        self.assembly_set(t, local, value)?;
        Ok(local)
    }

    pub(super) fn assembly_get(&mut self, t: &Translation, local: LocalId) -> Res<Expr> {
        let ty = self.context(t.span)?.locals[local.0 as usize].ty;
        self.rvalue(Expr { kind: ExprKind::Local(local), ty, span: t.span })
    }

    pub(super) fn assembly_set(&mut self, t: &mut Translation, local: LocalId, value: Expr) -> Res<()> {
        let ty = self.context(t.span)?.locals[local.0 as usize].ty;
        let place = Expr { kind: ExprKind::Local(local), ty, span: t.span };
        self.assembly_assign(t, place, value)
    }

    pub(super) fn assembly_assign(&mut self, t: &mut Translation, place: Expr, value: Expr) -> Res<()> {
        let value = self.assembly_cast(t, value, place.ty.ty)?;
        let assigned = self.assign(place, value)?;
        t.stmts.push(Stmt { kind: StmtKind::Expr(Some(assigned)), span: t.span });
        Ok(())
    }

    /// A register as a variable has it: its lower bytes. That holds for `bool`, too, whose conversion in C looks at all of them.
    pub(super) fn assembly_cast(&mut self, t: &Translation, value: Expr, ty: Ty) -> Res<Expr> {
        let value = match ty == Ty::BOOL {
            true => self.explicit_cast(value, Ty::UCHAR.into(), t.span)?,
            false => value,
        };
        self.explicit_cast(value, QTy::plain(ty), t.span)
    }

    pub(super) fn assembly_atomic(
        &mut self,
        name: &str,
        place: Expr,
        values: Vec<Expr>,
        order: u64,
        span: Span,
    ) -> Res<Expr> {
        let mut args = vec![self.address_of(place, span)?];
        args.extend(values);
        if name.starts_with("__atomic_") {
            args.push(int_expr(order, Ty::INT, span));
        }
        match self.atomic_builtin(name, &mut args, span)? {
            Some(done) => Ok(done),
            None => crate::parser::fail(span, "this atomic operation is not known"),
        }
    }

    pub(super) fn assembly_fence(&self, t: &mut Translation, fence: Fence) {
        t.stmts.push(Stmt { kind: StmtKind::Asm(vec![fence]), span: t.span });
    }
}

/// The number of a label.
pub(super) fn label(line: &str) -> Option<&str> {
    line.strip_suffix(':').filter(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}

pub(super) fn immediate(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<i64>().ok()?,
    };
    Some(sign * number)
}
