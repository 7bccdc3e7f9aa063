//! Where each variable of a function lives: in a register, in memory of its own thread, or in memory that others may
//! reach.
//!
//! A scalar whose address is never taken is a register. An object is private if its address is used only for direct
//! access (`a[i]`, `s.x`) and by operations that read or write through it at once. Anything else may be shared.

use super::library;
use crate::ast::{Block, Expr, ExprKind, FunctionDef, Init, LocalId, Stmt, StmtKind, Unit};

/// The storage of a variable, weakest claim first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Storage {
    /// Never mentioned.
    Unused,
    /// A register.
    Register,
    /// An object that only its own thread can reach.
    Private,
    /// An object whose address may be anywhere.
    Shared,
}

/// The storage of all variables of a function.
pub fn analyse(unit: &Unit, function: &FunctionDef) -> Vec<Storage> {
    let mut analysis = Analysis { unit, function, storage: vec![Storage::Unused; function.locals.len()] };
    for &param in &function.params {
        analysis.mention(param);
    }
    if let Some(body) = &function.body {
        analysis.block(body);
    }
    analysis.storage
}

struct Analysis<'a> {
    unit: &'a Unit,
    function: &'a FunctionDef,
    storage: Vec<Storage>,
}

impl Analysis<'_> {
    fn raise(&mut self, local: LocalId, to: Storage) {
        let storage = &mut self.storage[local.0 as usize];
        *storage = (*storage).max(to);
    }

    /// The variable is used: scalars may be registers, others are objects.
    fn mention(&mut self, local: LocalId) {
        let scalar = self.unit.types.is_scalar(self.function.locals[local.0 as usize].ty.ty);
        self.raise(local, if scalar { Storage::Register } else { Storage::Private });
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Return(expr) => expr.iter().for_each(|e| self.expr(e)),
            StmtKind::Declare(local, init) => {
                if let Some(init) = init {
                    self.mention(*local);
                    self.init(init);
                }
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::If(condition, then, otherwise) => {
                self.expr(condition);
                self.stmt(then);
                otherwise.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.expr(condition);
                self.stmt(body);
            }
            StmtKind::For(condition, step, body) => {
                condition.iter().chain(step).for_each(|e| self.expr(e));
                self.stmt(body);
            }
            StmtKind::Switch { value, body, .. } => {
                self.expr(value);
                self.stmt(body);
            }
            StmtKind::Label(_, inner) => self.stmt(inner),
            StmtKind::GotoValue(expr) | StmtKind::Cleanup(expr) => self.expr(expr),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm(_) => {}
        }
    }

    fn init(&mut self, init: &Init) {
        init.items.iter().for_each(|item| self.expr(&item.value));
    }

    /// A place that is accessed here and now.
    fn access(&mut self, place: &Expr) {
        match &place.kind {
            ExprKind::Local(local) => self.mention(*local),
            ExprKind::Global(_) => {}
            ExprKind::Member(inner, _, _) => self.access(inner),
            ExprKind::Deref(pointer) => self.pointer(pointer),
            ExprKind::Compound(local, init) => {
                self.mention(*local);
                self.init(init);
            }
            ExprKind::Temporary(local, value) => {
                self.mention(*local);
                self.expr(value);
            }
            _ => self.expr(place),
        }
    }

    /// A pointer that is only used to access what it points to.
    fn pointer(&mut self, pointer: &Expr) {
        match &pointer.kind {
            ExprKind::AddrOf(place) => {
                self.access(place);
                self.in_memory(place);
            }
            ExprKind::PtrAdd(base, index, _) => {
                self.pointer(base);
                self.expr(index);
            }
            ExprKind::Cast(inner) if self.unit.types.is_pointer(inner.ty.ty) => self.pointer(inner),
            _ => self.expr(pointer),
        }
    }

    /// The variable of a place must be an object, even if it is a scalar.
    fn in_memory(&mut self, place: &Expr) {
        if let Some(local) = root(place) {
            self.raise(local, Storage::Private);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Function(_) => {}
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Member(..)
            | ExprKind::Compound(..)
            | ExprKind::Temporary(..) => self.access(expr),
            ExprKind::Load(place) | ExprKind::PostStep(place, _) => self.access(place),
            ExprKind::AddrOf(place) => {
                self.access(place);
                if let Some(local) = root(place) {
                    self.raise(local, Storage::Shared);
                }
            }
            ExprKind::Assign(place, value) | ExprKind::AssignOp(_, place, value, _) => {
                self.access(place);
                self.expr(value);
            }
            ExprKind::Prefix(_, inner) | ExprKind::Cast(inner) => self.expr(inner),
            ExprKind::Binary(_, a, b)
            | ExprKind::PtrAdd(a, b, _)
            | ExprKind::PtrDiff(a, b, _)
            | ExprKind::Logical(_, a, b)
            | ExprKind::Elvis(a, b)
            | ExprKind::Comma(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Cond(a, b, c) => [a, b, c].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Call(callee, args, temporary) => self.call(callee, args, *temporary),
            ExprKind::Builtin(builtin, args) => {
                // The first pointer of an atomic operation is accessed at once; values may be pointers that are kept.
                for (i, arg) in args.iter().enumerate() {
                    self.argument(arg, builtin.reads_through(i), i == 0);
                }
            }
            ExprKind::ByOrder(order, choices) => {
                self.expr(order);
                choices.iter().for_each(|choice| self.expr(choice));
            }
            ExprKind::Stmt(block) => self.block(block),
        }
    }

    fn call(&mut self, callee: &Expr, args: &[Expr], temporary: Option<LocalId>) {
        self.expr(callee);
        if let Some(local) = temporary {
            self.raise(local, Storage::Private);
        }
        let known = library::known_call(self.unit, callee);
        for (i, arg) in args.iter().enumerate() {
            let (through, memory) = known.map_or((false, false), |f| (f.stores_through(i), f.accesses(i)));
            self.argument(arg, through, memory);
        }
    }

    /// An argument: `through` if a register may stand behind a `&x`, `memory` if it is accessed but not kept.
    fn argument(&mut self, arg: &Expr, through: bool, memory: bool) {
        let pointer = strip_casts(self.unit, arg);
        match &pointer.kind {
            ExprKind::AddrOf(place) if through => self.access(place),
            _ if memory => self.pointer(pointer),
            _ => self.expr(arg),
        }
    }
}

/// The pointer under conversions between pointer types.
pub fn strip_casts<'e>(unit: &Unit, expr: &'e Expr) -> &'e Expr {
    match &expr.kind {
        ExprKind::Cast(inner) if unit.types.is_pointer(expr.ty.ty) && unit.types.is_pointer(inner.ty.ty) => {
            strip_casts(unit, inner)
        }
        _ => expr,
    }
}

/// The variable that a place is part of.
pub fn root(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) | ExprKind::Compound(local, _) | ExprKind::Temporary(local, _) => Some(*local),
        ExprKind::Member(inner, _, _) => root(inner),
        ExprKind::Deref(pointer) => pointer_root(pointer),
        _ => None,
    }
}

fn pointer_root(pointer: &Expr) -> Option<LocalId> {
    match &pointer.kind {
        ExprKind::AddrOf(place) => root(place),
        ExprKind::PtrAdd(base, _, _) => pointer_root(base),
        ExprKind::Cast(inner) => pointer_root(inner),
        _ => None,
    }
}
