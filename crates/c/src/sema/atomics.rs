//! Calls of atomic builtins by name: `__atomic_*`, `__sync_*`, and the `__fp_*` ones of our own headers.
//!
//! `__fp_atomic_*` are the C11 generic functions: they scale pointer arithmetic, while `__atomic_fetch_add` on a
//! pointer counts bytes, as GCC documents.

use crate::ast::{ArithOp, Expr, ExprKind};
use crate::builtins::{Builtin, CasResult};
use crate::parser::{Parser, Res, counted, fail, int_expr, unsupported};
use crate::types::{QTy, Quals, Ty};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::{BinaryOp, Fence, Order, RmwOp};

impl Parser<'_> {
    /// The builtin of that name applied to its arguments; `None` if there is none.
    pub(crate) fn atomic_builtin(
        &mut self,
        name: &str,
        args: &mut Vec<Expr>,
        span: Span,
    ) -> Res<Option<Expr>> {
        let name = name.strip_prefix("__c11_").map_or(name.to_string(), |rest| format!("__fp_{rest}"));
        let name = sized_name(&name);
        if let Some(position) = self.open_order(&name, args)? {
            return self.by_order(&name, args, position, span).map(Some);
        }
        let found = if let Some(rest) = name.strip_prefix("__sync_") {
            self.sync_builtin(rest, args, span)?
        } else if let Some(rest) = name.strip_prefix("__atomic_") {
            self.gnu_builtin(rest, args, span)?
        } else if let Some(rest) = name.strip_prefix("__fp_") {
            self.own_builtin(rest, args, span)?
        } else {
            None
        };
        Ok(found)
    }

    /// The position of a memory order among the arguments that is not a constant.
    fn open_order(&mut self, name: &str, args: &[Expr]) -> Res<Option<usize>> {
        let first = args.len().saturating_sub(trailing_orders(name));
        for (position, arg) in args.iter().enumerate().skip(first) {
            let value = self.rvalue(arg.clone())?;
            if self.unit.types.is_integer(value.ty.ty) && self.evaluate_integer(&value).is_none() {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The operation once for each memory order that the argument may be.
    fn by_order(&mut self, name: &str, args: &mut Vec<Expr>, position: usize, span: Span) -> Res<Expr> {
        let order = self.rvalue(args[position].clone())?;
        let order = self.cast_to(order, Ty::INT);
        let warnings = self.warnings.len();
        let mut choices = Vec::new();
        for number in 0..=5 {
            let mut chosen = args.clone();
            chosen[position] = int_expr(number, Ty::INT, args[position].span);
            match self.atomic_builtin(name, &mut chosen, span)? {
                Some(choice) => choices.push(choice),
                None => return fail(span, format!("`{name}` is not known")),
            }
            // What an order means where it makes no sense is only of interest if it is ever that order.
            self.warnings.truncate(warnings);
        }
        args.clear();
        let ty = choices[0].ty;
        Ok(Expr { kind: ExprKind::ByOrder(Box::new(order), choices), ty, span })
    }

    /// A warning about a memory order that the operation cannot have; it counts as the part of it that makes sense.
    fn odd_order(&mut self, span: Span, message: &str, meant: Order) -> Order {
        let taken = format!("it is taken as {}", order_name(meant));
        self.warnings.push(Diagnostic::warning(span, message).hint(taken));
        meant
    }

    fn count(&self, args: &[Expr], needed: usize, span: Span) -> Res<()> {
        if args.len() != needed {
            return fail(
                span,
                format!("this operation takes {} but is given {}", counted(needed, "argument"), args.len()),
            );
        }
        Ok(())
    }

    /// The type that a pointer argument points to; it must be something that can be accessed atomically.
    fn target(&mut self, args: &mut [Expr], span: Span) -> Res<QTy> {
        let Some(first) = args.first_mut() else { return fail(span, "this operation needs a pointer") };
        let pointer = std::mem::replace(first, int_expr(0, Ty::INT, span));
        let pointer = self.rvalue(pointer)?;
        let shown = self.show(pointer.ty);
        let to = self.unit.types.pointee(pointer.ty.ty);
        *first = pointer;
        let Some(to) = to else {
            return fail(span, format!("this operation needs a pointer, not `{shown}`"));
        };
        let types = &self.unit.types;
        let fits = types.is_scalar(to.ty)
            || (types.is_record(to.ty) && matches!(types.size(to.ty), Some(1 | 2 | 4 | 8)));
        let wide = types.is_record(to.ty) && types.size(to.ty) == Some(16) && types.is_two_words(to.ty);
        if !fits && !wide {
            return unsupported(
                span,
                format!("an atomic operation on `{}`", self.show(to)),
                "no access wider than 64 bits is modelled; pack the value or use a lock",
            );
        }
        Ok(to)
    }

    /// A constant memory order at the end of the arguments.
    fn order(&mut self, args: &mut Vec<Expr>, span: Span) -> Res<Order> {
        let Some(last) = args.pop() else { return fail(span, "this operation needs a memory order") };
        let at = last.span;
        let value = self.rvalue(last)?;
        // GCC keeps hints about lock elision in the high bits.
        match self.evaluate_integer(&value).map(|order| order & 0xffff) {
            Some(0) => Ok(Order::Relaxed),
            Some(1) => Ok(Order::Consume),
            Some(2) => Ok(Order::Acquire),
            Some(3) => Ok(Order::Release),
            Some(4) => Ok(Order::AcqRel),
            Some(5) => Ok(Order::SeqCst),
            Some(_) => fail(at, "this is no memory order"),
            None => fail(at, "a memory order must be an integer"),
        }
    }

    fn builtin(&self, builtin: Builtin, args: Vec<Expr>, ty: impl Into<QTy>, span: Span) -> Expr {
        Expr { kind: ExprKind::Builtin(builtin, args), ty: QTy::plain(ty.into().ty), span }
    }

    /// Converts argument `index` to a type.
    fn convert(&mut self, args: &mut [Expr], index: usize, to: QTy) -> Res<()> {
        let span = args[index].span;
        let value = std::mem::replace(&mut args[index], int_expr(0, Ty::INT, span));
        let value = self.assign_convert(value, to, "passed")?;
        args[index] = if self.unit.types.is_record(to.ty) { self.in_memory(value)? } else { value };
        Ok(())
    }

    fn load(&mut self, mut args: Vec<Expr>, order: Order, span: Span) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        let order = match order {
            Order::Release => self.odd_order(span, "a load cannot have release semantics", Order::Relaxed),
            Order::AcqRel => self.odd_order(span, "a load cannot have release semantics", Order::Acquire),
            order => order,
        };
        Ok(self.builtin(Builtin::Load(order), args, to, span))
    }

    fn store(&mut self, mut args: Vec<Expr>, order: Order, span: Span) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        if to.quals.has(Quals::CONST) {
            return fail(span, "this object is `const`");
        }
        let order = match order {
            Order::Acquire | Order::Consume => {
                self.odd_order(span, "a store cannot have acquire semantics", Order::Relaxed)
            }
            Order::AcqRel => self.odd_order(span, "a store cannot have acquire semantics", Order::Release),
            order => order,
        };
        self.convert(&mut args, 1, to)?;
        Ok(self.builtin(Builtin::Store(order), args, Ty::VOID, span))
    }

    fn exchange(&mut self, mut args: Vec<Expr>, order: Order, span: Span) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        self.convert(&mut args, 1, to)?;
        Ok(self.builtin(Builtin::Exchange(order), args, to, span))
    }

    /// `[pointer, operand]`.
    fn fetch(
        &mut self,
        mut args: Vec<Expr>,
        op: RmwOp,
        order: Order,
        new: bool,
        scaled: bool,
        span: Span,
    ) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        if self.unit.types.is_pointer(to.ty) {
            let size = if scaled { self.step_size(to.ty, span)? } else { 1 };
            self.convert(&mut args, 1, Ty::LONG.into())?;
            if let Some(operand) = args.pop() {
                args.push(self.arith(ArithOp::Mul, operand, int_expr(size, Ty::LONG, span))?);
            }
        } else {
            if !self.unit.types.is_integer(to.ty) {
                return fail(span, format!("this operation needs an integer, not `{}`", self.show(to)));
            }
            self.convert(&mut args, 1, QTy::plain(to.ty))?;
        }
        let op = match op {
            RmwOp::MaxS if !self.unit.types.is_signed(to.ty) => RmwOp::MaxU,
            RmwOp::MinS if !self.unit.types.is_signed(to.ty) => RmwOp::MinU,
            op => op,
        };
        Ok(self.builtin(Builtin::Fetch { op, order, new }, args, to, span))
    }

    /// `[pointer, pointer to expected, desired]`.
    fn compare_exchange(
        &mut self,
        mut args: Vec<Expr>,
        weak: bool,
        success: Order,
        failure: Order,
        span: Span,
    ) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        let odd = "the order of a failed compare-exchange is that of a load: not release";
        let failure = match failure {
            Order::Release => self.odd_order(span, odd, Order::Relaxed),
            Order::AcqRel => self.odd_order(span, odd, Order::Acquire),
            order => order,
        };
        let plain = self.unit.types.pointer(QTy::plain(to.ty));
        self.convert(&mut args, 1, plain.into())?;
        self.convert(&mut args, 2, QTy::plain(to.ty))?;
        Ok(self.builtin(Builtin::CompareExchange { success, failure, weak }, args, Ty::BOOL, span))
    }

    /// `[pointer, expected, desired]`.
    fn compare_swap(
        &mut self,
        mut args: Vec<Expr>,
        success: Order,
        failure: Order,
        result: CasResult,
        span: Span,
    ) -> Res<Expr> {
        let to = self.target(&mut args, span)?;
        self.convert(&mut args, 1, QTy::plain(to.ty))?;
        self.convert(&mut args, 2, QTy::plain(to.ty))?;
        let ty = if result == CasResult::Old { to } else { Ty::BOOL.into() };
        Ok(self.builtin(Builtin::CompareSwap { success, failure, result }, args, ty, span))
    }

    /// GCC sets and clears one byte, whatever the pointer's type.
    fn as_flag(&mut self, args: &mut [Expr]) -> Res<()> {
        if let Some(first) = args.first_mut() {
            let span = first.span;
            let pointer = std::mem::replace(first, int_expr(0, Ty::INT, span));
            let flag = self.unit.types.pointer(Ty::BOOL);
            args[0] = self.explicit_cast(pointer, flag.into(), span)?;
        }
        Ok(())
    }

    /// The object that a pointer argument points to, as a value.
    fn through(&mut self, pointer: Expr) -> Res<Expr> {
        let span = pointer.span;
        let place = self.dereference(pointer, span)?;
        self.rvalue(place)
    }

    /// `*pointer = value`.
    fn store_result(&mut self, pointer: Expr, value: Expr) -> Res<Expr> {
        let span = pointer.span;
        let place = self.dereference(pointer, span)?;
        let assigned = self.assign(place, value)?;
        Ok(Expr { ty: Ty::VOID.into(), span, kind: ExprKind::Cast(Box::new(assigned)) })
    }

    fn sync_builtin(&mut self, rest: &str, args: &mut Vec<Expr>, span: Span) -> Res<Option<Expr>> {
        let full = Order::SeqCst;
        // Further arguments name protected variables and are ignored by GCC, too.
        let needed = match rest {
            "synchronize" => 0,
            "lock_release" => 1,
            "bool_compare_and_swap" | "val_compare_and_swap" => 3,
            _ => 2,
        };
        if args.len() < needed {
            return fail(
                span,
                format!("this operation takes {} but is given {}", counted(needed, "argument"), args.len()),
            );
        }
        args.truncate(needed);
        let args = std::mem::take(args);
        Ok(Some(match rest {
            "synchronize" => self.builtin(Builtin::Fence(Fence::C11(full)), args, Ty::VOID, span),
            "bool_compare_and_swap" => self.compare_swap(args, full, full, CasResult::Success, span)?,
            "val_compare_and_swap" => self.compare_swap(args, full, full, CasResult::Old, span)?,
            "lock_test_and_set" => self.exchange(args, Order::Acquire, span)?,
            "lock_release" => {
                let mut args = args;
                args.push(int_expr(0, Ty::INT, span));
                self.store(args, Order::Release, span)?
            }
            _ => match fetch_name(rest) {
                Some((op, new)) => self.fetch(args, op, full, new, false, span)?,
                None => return Ok(None),
            },
        }))
    }

    fn gnu_builtin(&mut self, rest: &str, args: &mut Vec<Expr>, span: Span) -> Res<Option<Expr>> {
        let needed = match rest {
            "load_n" | "clear" | "test_and_set" | "is_lock_free" | "always_lock_free" => 2,
            "load" | "store" | "store_n" | "exchange_n" => 3,
            "exchange" => 4,
            "compare_exchange_n" | "compare_exchange" => 6,
            "thread_fence" | "signal_fence" => 1,
            _ if fetch_name(rest).is_some() => 3,
            _ => return Ok(None),
        };
        self.count(args, needed, span)?;
        if rest.ends_with("lock_free") {
            return Ok(Some(int_expr(1, Ty::BOOL, span)));
        }
        let order = self.order(args, span)?;
        let mut args = std::mem::take(args);
        Ok(Some(match rest {
            "load_n" => self.load(args, order, span)?,
            "load" => {
                let into = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                let value = self.load(args, order, span)?;
                self.store_result(into, value)?
            }
            "store_n" => self.store(args, order, span)?,
            "store" => {
                let from = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                args.push(self.through(from)?);
                self.store(args, order, span)?
            }
            "exchange_n" => self.exchange(args, order, span)?,
            "exchange" => {
                let into = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                let from = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                args.push(self.through(from)?);
                let old = self.exchange(args, order, span)?;
                self.store_result(into, old)?
            }
            "compare_exchange_n" | "compare_exchange" => {
                let success = self.order(&mut args, span)?;
                let weak = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                let weak = self.evaluate_integer(&weak) != Some(0);
                if rest == "compare_exchange" {
                    let desired = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                    args.push(self.through(desired)?);
                }
                self.compare_exchange(args, weak, success, order, span)?
            }
            "test_and_set" => {
                self.as_flag(&mut args)?;
                args.push(int_expr(1, Ty::INT, span));
                let old = self.exchange(args, order, span)?;
                self.cast_to(old, Ty::BOOL)
            }
            "clear" => {
                self.as_flag(&mut args)?;
                args.push(int_expr(0, Ty::INT, span));
                self.store(args, order, span)?
            }
            "thread_fence" => self.builtin(Builtin::Fence(Fence::C11(order)), args, Ty::VOID, span),
            "signal_fence" => self.builtin(Builtin::Fence(Fence::Compiler), args, Ty::VOID, span),
            _ => match fetch_name(rest) {
                Some((op, new)) => self.fetch(args, op, order, new, false, span)?,
                None => return Ok(None),
            },
        }))
    }

    fn own_builtin(&mut self, rest: &str, args: &mut Vec<Expr>, span: Span) -> Res<Option<Expr>> {
        let needed = match rest {
            "lock" | "unlock" | "trylock" | "peek" => 1,
            "atomic_load" | "atomic_init" => 2,
            "atomic_store" | "atomic_exchange" => 3,
            "atomic_thread_fence" | "atomic_signal_fence" | "atomic_is_lock_free" => 1,
            "cmpxchg" | "await" => 4,
            "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => 5,
            "atomic_cas" | "await_rmw" => 6,
            _ if rest.strip_prefix("atomic_").and_then(fetch_name).is_some() => 3,
            _ => return Ok(None),
        };
        self.count(args, needed, span)?;
        if rest == "peek" {
            let to = self.target(args, span)?;
            return Ok(Some(self.builtin(Builtin::Peek, std::mem::take(args), to, span)));
        }
        if let "lock" | "unlock" | "trylock" = rest {
            self.target(args, span)?;
            let (builtin, ty) = match rest {
                "lock" => (Builtin::Lock, Ty::VOID),
                "unlock" => (Builtin::Unlock, Ty::VOID),
                _ => (Builtin::TryLock, Ty::INT),
            };
            return Ok(Some(self.builtin(builtin, std::mem::take(args), ty, span)));
        }
        if rest == "atomic_is_lock_free" {
            return Ok(Some(int_expr(1, Ty::BOOL, span)));
        }
        if rest == "atomic_init" {
            return self.store(std::mem::take(args), Order::Plain, span).map(Some);
        }
        let order = self.order(args, span)?;
        let mut args = std::mem::take(args);
        Ok(Some(match rest {
            "atomic_load" => self.load(args, order, span)?,
            "atomic_store" => self.store(args, order, span)?,
            "atomic_exchange" => self.exchange(args, order, span)?,
            "atomic_cas" => {
                let success = self.order(&mut args, span)?;
                let weak = args.pop().unwrap_or_else(|| int_expr(0, Ty::INT, span));
                let weak = self.evaluate_integer(&weak) != Some(0);
                self.compare_exchange(args, weak, success, order, span)?
            }
            "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak" => {
                let success = self.order(&mut args, span)?;
                self.compare_exchange(args, rest.ends_with("weak"), success, order, span)?
            }
            "atomic_thread_fence" => self.builtin(Builtin::Fence(Fence::C11(order)), args, Ty::VOID, span),
            "atomic_signal_fence" => self.builtin(Builtin::Fence(Fence::Compiler), args, Ty::VOID, span),
            "cmpxchg" => {
                // Linux: a failed cmpxchg orders nothing.
                self.compare_swap(args, order, Order::Relaxed, CasResult::Old, span)?
            }
            "await" | "await_rmw" => self.await_builtin(args, order, span)?,
            _ => match rest.strip_prefix("atomic_").and_then(fetch_name) {
                Some((op, new)) => self.fetch(args, op, order, new, true, span)?,
                None => return Ok(None),
            },
        }))
    }

    /// `__fp_await(pointer, "op", value, order)` and
    /// `__fp_await_rmw(pointer, "op", value, "rmw", operand, order)`.
    fn await_builtin(&mut self, args: Vec<Expr>, order: Order, span: Span) -> Res<Expr> {
        let word = |p: &Self, e: Option<&Expr>| match e.map(|e| &e.kind) {
            Some(ExprKind::Global(id)) => p.unit.globals[id.0 as usize].name.trim_matches('"').to_string(),
            _ => String::new(),
        };
        let until = match word(self, args.get(1)).as_str() {
            "==" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            ">" => BinaryOp::GtS,
            ">=" => BinaryOp::GeS,
            "u>=" => BinaryOp::GeU,
            "u<=" => BinaryOp::LeU,
            "<" => BinaryOp::LtS,
            "<=" => BinaryOp::LeS,
            "&" => BinaryOp::And,
            _ => return fail(span, "this is no condition to wait for"),
        };
        let rmw = match word(self, args.get(3)).as_str() {
            "" => None,
            "+" => Some(RmwOp::Add),
            "-" => Some(RmwOp::Sub),
            "=" => Some(RmwOp::Exchange),
            _ => return fail(span, "this is no operation"),
        };
        let mut args = args.into_iter();
        let mut kept: Vec<Expr> = Vec::new();
        kept.extend(args.next());
        kept.extend(args.nth(1));
        kept.extend(args.nth(1));
        let to = self.target(&mut kept, span)?;
        for index in 1..kept.len() {
            self.convert(&mut kept, index, QTy::plain(to.ty))?;
        }
        let builtin = match rmw {
            Some(op) => Builtin::AwaitRmw(until, op, order),
            None => Builtin::Await(until, order),
        };
        Ok(self.builtin(builtin, kept, to, span))
    }
}

impl Parser<'_> {
    /// `__VERIFIER_load_await(pointer, condition, operand, mode)`, `__VERIFIER_xchg_await(pointer, value, condition, operand,
    /// mode)` and `__VERIFIER_cmpxchg_await(pointer, expected, desired, mode)`, each with or without a width at its end.
    /// A condition has the bits 1 greater, 2 equal, 4 less, 8 signed; a mode is 0 relaxed, 1 acquire and release, 2 sequential.
    pub(crate) fn verifier_await(
        &mut self,
        name: &str,
        args: &mut Vec<Expr>,
        span: Span,
    ) -> Res<Option<Expr>> {
        let Some(rest) = name.strip_prefix("__VERIFIER_") else { return Ok(None) };
        let (kind, needed) = if rest.starts_with("load_await") {
            ("load", 4)
        } else if rest.starts_with("xchg_await") {
            ("xchg", 5)
        } else if rest.starts_with("cmpxchg_await") {
            ("cmpxchg", 4)
        } else {
            return Ok(None);
        };
        self.count(args, needed, span)?;
        let number = |p: &mut Self, expr: Expr, what: &str| -> Res<i64> {
            let value = p.rvalue(expr)?;
            match p.evaluate_integer(&value) {
                Some(n) => Ok(n),
                None => fail(span, format!("{what} must be a constant")),
            }
        };
        let Some(mode) = args.pop() else { return Ok(None) };
        let order = match number(self, mode, "the mode of a wait")? {
            0 => Order::Relaxed,
            1 if kind == "load" => Order::Acquire,
            1 => Order::AcqRel,
            _ => Order::SeqCst,
        };
        let mut parts = std::mem::take(args).into_iter();
        let mut next = || parts.next().unwrap_or_else(|| int_expr(0, Ty::INT, span));
        let pointer = next();
        let (value, until, operand) = match kind {
            "load" => (None, number(self, next(), "the condition of a wait")?, next()),
            "xchg" => {
                let value = next();
                (Some(value), number(self, next(), "the condition of a wait")?, next())
            }
            _ => {
                let expected = next();
                (Some(next()), 2, expected)
            }
        };
        let until = match until {
            1 => BinaryOp::GtU,
            2 | 10 => BinaryOp::Eq,
            3 => BinaryOp::GeU,
            4 => BinaryOp::LtU,
            5 | 13 => BinaryOp::Ne,
            6 => BinaryOp::LeU,
            9 => BinaryOp::GtS,
            11 => BinaryOp::GeS,
            12 => BinaryOp::LtS,
            14 => BinaryOp::LeS,
            _ => return fail(span, "this is no condition of a wait"),
        };
        let mut kept = vec![pointer, operand];
        kept.extend(value);
        let to = self.target(&mut kept, span)?;
        for index in 1..kept.len() {
            self.convert(&mut kept, index, QTy::plain(to.ty))?;
        }
        let builtin = match kept.len() {
            3 => Builtin::AwaitRmw(until, RmwOp::Exchange, order),
            _ => Builtin::Await(until, order),
        };
        Ok(Some(self.builtin(builtin, kept, to, span)))
    }
}

/// `__sync_fetch_and_add_4` is `__sync_fetch_and_add` for a pointer to four bytes, and so on: the pointer says it all.
fn sized_name(name: &str) -> String {
    let stem = ["_1", "_2", "_4", "_8"].iter().find_map(|size| name.strip_suffix(size));
    match stem {
        Some(stem) if name.starts_with("__sync_") => stem.to_string(),
        Some(stem @ ("__atomic_load" | "__atomic_store" | "__atomic_exchange")) => format!("{stem}_n"),
        Some(stem) if name.starts_with("__atomic_fetch_") || stem.ends_with("_fetch") => stem.to_string(),
        _ => name.to_string(),
    }
}

/// How many of its last arguments are memory orders.
fn trailing_orders(name: &str) -> usize {
    if name.contains("atomic_compare_exchange") || name == "__fp_atomic_cas" {
        return 2;
    }
    let operation = name.strip_prefix("__fp_").or(name.strip_prefix("__"));
    let ordered = operation.is_some_and(|o| o.starts_with("atomic_"));
    let unordered = name.ends_with("lock_free") || name.ends_with("_init");
    usize::from(ordered && !unordered)
}

/// An order as C11 spells it.
fn order_name(order: Order) -> &'static str {
    match order {
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        _ => "memory_order_relaxed",
    }
}

/// `fetch_add` (the old value) or `add_fetch` and `add_and_fetch` (the new one).
fn fetch_name(name: &str) -> Option<(RmwOp, bool)> {
    let (word, new) = if let Some(word) = name.strip_prefix("fetch_and_") {
        (word, false)
    } else if name == "fetch_and" {
        ("and", false)
    } else if let Some(word) = name.strip_prefix("fetch_") {
        (word, false)
    } else if let Some(word) = name.strip_suffix("_and_fetch") {
        (word, true)
    } else if name == "and_fetch" {
        ("and", true)
    } else {
        (name.strip_suffix("_fetch")?, true)
    };
    let op = match word {
        "add" => RmwOp::Add,
        "sub" => RmwOp::Sub,
        "and" => RmwOp::And,
        "or" => RmwOp::Or,
        "xor" => RmwOp::Xor,
        "nand" => RmwOp::Nand,
        "max" => RmwOp::MaxS,
        "min" => RmwOp::MinS,
        "umax" => RmwOp::MaxU,
        "umin" => RmwOp::MinU,
        _ => return None,
    };
    Some((op, new))
}
