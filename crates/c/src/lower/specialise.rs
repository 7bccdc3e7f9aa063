//! Copies of functions for what is known of their arguments where they are called.
//!
//! A wrapper hides what a block operation or an atomic operation needs to know: `clear(void *p, size_t n)` the type of the
//! object, `get(atomic_int *p, memory_order o)` the order. A parameter that only passes such knowledge on, and is never
//! changed, gets it from each call: the function is lowered once for each set of facts, as if it had been inlined.

use super::library::{self, Library};
use crate::ast::{Expr, ExprKind, FuncId, FunctionDef, LocalId, Unit};
use crate::types::QTy;
use fencepost_ir::Value;
use rustc_hash::FxHashSet;

/// What is known of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fact {
    /// Nothing.
    Open,
    /// The type of the object that it points to.
    Pointee(QTy),
    /// Its value.
    Constant(Value),
}

/// What a function wants to know of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Nothing.
    Nothing,
    /// What it points to: it is the pointer of a block operation.
    Pointee,
    /// Its value: it is a memory order.
    Value,
}

/// What each function wants to know of its parameters.
pub struct Wishes(Vec<Vec<Wish>>);

impl Wishes {
    /// Of all functions; wishes pass through calls.
    pub fn of(unit: &Unit) -> Wishes {
        let mut wishes = Wishes(unit.functions.iter().map(|f| vec![Wish::Nothing; f.params.len()]).collect());
        let mut pending: Vec<usize> =
            (0..unit.functions.len()).filter(|&f| unit.functions[f].body.is_some()).collect();
        let fixed: Vec<FxHashSet<LocalId>> = unit.functions.iter().map(unchanged).collect();
        loop {
            pending.retain(|&f| !unit.functions[f].params.is_empty());
            let mut changed = false;
            for &f in &pending {
                changed |= wishes.note(unit, f, &fixed[f]);
            }
            if !changed {
                return wishes;
            }
        }
    }

    /// The wish for a parameter.
    pub fn get(&self, function: FuncId, parameter: usize) -> Wish {
        self.0[function.0 as usize].get(parameter).copied().unwrap_or(Wish::Nothing)
    }

    /// Whether the function wants to know anything.
    pub fn any(&self, function: FuncId) -> bool {
        self.0[function.0 as usize].iter().any(|w| *w != Wish::Nothing)
    }

    fn note(&mut self, unit: &Unit, function: usize, fixed: &FxHashSet<LocalId>) -> bool {
        let def = &unit.functions[function];
        let mut found: Vec<(LocalId, Wish)> = Vec::new();
        let mut wish = |expr: &Expr, wish: Wish| {
            if let Some(local) = plain_local(expr).filter(|l| fixed.contains(l)) {
                found.push((local, wish));
            }
        };
        let Some(body) = &def.body else { return false };
        body.visit(&mut |expr| match &expr.kind {
            ExprKind::ByOrder(order, _) => wish(order, Wish::Value),
            ExprKind::Call(callee, args, _) => {
                if let Some(known) = library::known_call(unit, callee) {
                    for arg in args.iter().take(block_pointers(known)) {
                        wish(arg, Wish::Pointee);
                    }
                } else if let ExprKind::Function(id) = callee.kind {
                    for (i, arg) in args.iter().enumerate() {
                        wish(arg, self.get(id, i));
                    }
                }
            }
            _ => {}
        });
        let mut changed = false;
        for (local, wish) in found.into_iter().filter(|(_, w)| *w != Wish::Nothing) {
            if let Some(at) = def.params.iter().position(|p| *p == local) {
                changed |= std::mem::replace(&mut self.0[function][at], wish) != wish;
            }
        }
        changed
    }
}

/// How many of its first arguments point to the objects of a block operation.
fn block_pointers(function: Library) -> usize {
    match function {
        Library::Memset | Library::Realloc => 1,
        Library::Memcpy | Library::Memmove | Library::Memcmp => 2,
        _ => 0,
    }
}

/// The variable whose value an expression is, up to conversions.
pub fn plain_local(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Cast(inner) => plain_local(inner),
        ExprKind::Load(place) => match place.kind {
            ExprKind::Local(local) => Some(local),
            _ => None,
        },
        _ => None,
    }
}

/// The parameters that keep the value they came with.
fn unchanged(function: &FunctionDef) -> FxHashSet<LocalId> {
    let mut fixed: FxHashSet<LocalId> = function.params.iter().copied().collect();
    let mut drop = |place: &Expr| {
        if let ExprKind::Local(local) = place.kind {
            fixed.remove(&local);
        }
    };
    if let Some(body) = &function.body {
        body.visit(&mut |expr| match &expr.kind {
            ExprKind::Assign(place, _)
            | ExprKind::AssignOp(_, place, _, _)
            | ExprKind::PostStep(place, _)
            | ExprKind::AddrOf(place) => drop(place),
            _ => {}
        });
    }
    fixed
}
