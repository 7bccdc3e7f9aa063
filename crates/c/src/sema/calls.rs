//! Calls: of functions, of builtins that need no declaration, and of names that nobody declared.

use crate::ast::{ArithOp, Expr, ExprKind};
use crate::builtins::Builtin;
use crate::intern::Symbol;
use crate::parser::{Entity, Parser, Res, counted, fail, int_expr};
use crate::types::{QTy, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::FailKind;

impl Parser<'_> {
    /// A call through an expression.
    pub(crate) fn call(&mut self, callee: Expr, args: Vec<Expr>, span: Span) -> Res<Expr> {
        if self.sets_jump(&callee) {
            return self.set_jump(args, span);
        }
        let callee = self.rvalue(callee)?;
        let signature = self.unit.types.pointee(callee.ty.ty).map(|to| self.unit.types.kind(to.ty).clone());
        let Some(TypeKind::Function { result, params, variadic, unknown }) = signature else {
            return fail(callee.span, format!("`{}` cannot be called", self.show(callee.ty)));
        };
        if !unknown && (args.len() < params.len() || (args.len() > params.len() && !variadic)) {
            let message = format!(
                "this function takes {} but is given {}",
                counted(params.len(), "argument"),
                args.len()
            );
            return fail(span, message);
        }
        let mut converted = Vec::with_capacity(args.len());
        for (i, arg) in args.into_iter().enumerate() {
            converted.push(match params.get(i) {
                Some(param) => {
                    let arg = self.transparent_argument(arg, *param)?;
                    let value = self.assign_convert(arg, *param, "passed")?;
                    // A struct is passed by its address: it needs one.
                    if self.unit.types.is_record(param.ty) { self.in_memory(value)? } else { value }
                }
                None => self.default_promotion(arg)?,
            });
        }
        let temporary = match self.unit.types.is_record(result.ty) {
            true => Some(self.temporary(result, span)?),
            false => None,
        };
        let kind = ExprKind::Call(Box::new(callee), converted, temporary);
        Ok(Expr { kind, ty: QTy::plain(result.ty), span })
    }

    /// A value for one of the members of a transparent union as that union.
    fn transparent_argument(&mut self, arg: Expr, param: QTy) -> Res<Expr> {
        let transparent = self.unit.types.record(param.ty).filter(|(_, record)| record.transparent);
        let Some(fields) = transparent.map(|(_, record)| record.fields.clone()) else { return Ok(arg) };
        if arg.ty.ty == param.ty {
            return Ok(arg);
        }
        let value = self.rvalue(arg)?;
        let null = self.is_null(&value);
        let types = &self.unit.types;
        let fits = |ty: QTy| match (types.pointee(ty.ty), types.pointee(value.ty.ty)) {
            (Some(a), Some(b)) => {
                null || a.ty == Ty::VOID || b.ty == Ty::VOID || types.compatible(a.ty, b.ty)
            }
            _ => ty.ty == value.ty.ty || (null && types.is_pointer(ty.ty)),
        };
        let Some(field) = fields.iter().find(|field| fits(field.ty)) else { return Ok(value) };
        let span = value.span;
        let value = self.cast_to(value, field.ty.ty);
        let local = self.temporary(param, span)?;
        let item = crate::ast::InitItem { offset: field.offset, ty: field.ty, bits: None, value };
        let init = crate::ast::Init { items: vec![item], zero_rest: false };
        Ok(Expr { kind: ExprKind::Compound(local, Box::new(init)), ty: QTy::plain(param.ty), span })
    }

    fn default_promotion(&mut self, arg: Expr) -> Res<Expr> {
        let value = self.rvalue(arg)?;
        if value.ty.ty == Ty::FLOAT {
            return Ok(self.cast_to(value, Ty::DOUBLE));
        }
        if self.unit.types.is_record(value.ty.ty) {
            return self.in_memory(value);
        }
        Ok(if self.unit.types.is_integer(value.ty.ty) { self.promote(value) } else { value })
    }

    /// A call of a name without a declaration; its `(` has been read.
    pub(crate) fn unknown_call(&mut self, name: Symbol, at: Span) -> Res<Expr> {
        let text = self.interner.shared(name);
        if let Some(result) = self.special_form(&text, at)? {
            return Ok(result);
        }
        let mut args = self.arguments_after_paren()?;
        let span = at.to(self.end_of_last());
        if let Some(result) = self.atomic_builtin(&text, &mut args, span)? {
            return Ok(result);
        }
        if let Some(result) = self.verifier_await(&text, &mut args, span)? {
            return Ok(result);
        }
        let known = verifier_signature(&text).or_else(|| bits_signature(&text));
        if let Some((result, params)) = known {
            // Calls without a declaration pass what they like; what is missing is an error later on.
            let count = params.len().min(args.len());
            args.truncate(count);
            return self.call_declared(name, result, &params[..count], args, at, span);
        }
        if let Some((meant, result, params)) = library_builtin(&text) {
            let symbol = self.interner.intern(meant);
            return self.call_declared(symbol, result, params, args, at, span);
        }
        if crate::headers::declaring(&text).is_none() && !text.starts_with("__builtin_") {
            return self.implicit_call(name, args, at, span);
        }
        self.undeclared(name, at)
    }

    /// A function that nobody declared returns `int`, as in C before 1999; compilers still warn only.
    fn implicit_call(&mut self, name: Symbol, args: Vec<Expr>, at: Span, span: Span) -> Res<Expr> {
        let text = self.name(name);
        let later = self.is_defined_later(name);
        if !later && !text.starts_with("nondet") {
            return self.undeclared(name, at);
        }
        if later {
            let message = format!("`{text}` is called before it is declared");
            self.warnings.push(Diagnostic::warning(at, message).hint("declare it before its first use"));
        }
        let kind =
            TypeKind::Function { result: Ty::INT.into(), params: Vec::new(), variadic: false, unknown: true };
        let ty = self.unit.types.intern(kind);
        let id = self.declare_function(name, ty, at)?;
        self.implicit.insert(id);
        self.unit.functions[id.0 as usize].used.get_or_insert(at);
        let callee = Expr { kind: ExprKind::Function(id), ty: ty.into(), span: at };
        self.call(callee, args, span)
    }

    /// Builtins that vanish, or that need the text of their arguments.
    fn special_form(&mut self, name: &str, at: Span) -> Res<Option<Expr>> {
        if let Some(result) = self.overflow_form(name, at)? {
            return Ok(Some(result));
        }
        let needed = match name {
            "__builtin_fp_varargs" => 0,
            "__fp_range" => 2,
            "__builtin_va_start" | "__builtin_va_end" => 1,
            "__builtin_va_copy" => 2,
            "__builtin_alloca" | "__builtin_alloca_with_align" | "__fp_allocate" => 1,
            "__builtin_huge_val" | "__builtin_inf" | "__builtin_nan" => 0,
            "__builtin_return_address" | "__builtin_frame_address" | "__builtin_object_size" => 0,
            "__builtin_ia32_pause"
            | "__builtin_ia32_mfence"
            | "__builtin_ia32_lfence"
            | "__builtin_ia32_sfence"
            | "__builtin_ia32_rdtsc"
            | "__builtin_ppc_get_timebase" => 0,
            "__builtin_arm_yield" | "__builtin_speculation_safe_value" => 0,
            "__CPROVER_assert" | "__ESBMC_assert" | "__CPROVER_assume" | "__ESBMC_assume" => 1,
            "__builtin_unreachable" | "__builtin_trap" | "__builtin_abort" | "__fp_spurious" => 0,
            "__builtin_constant_p" | "__builtin_prefetch" | "__fp_fail" | "__fp_unsupported" => 1,
            "__fp_kind" => 1,
            "__builtin_expect" | "__builtin_assume_aligned" | "__fp_assert" => 2,
            "__builtin_expect_with_probability" => 3,
            _ => return Ok(None),
        };
        let args = self.arguments_after_paren()?;
        let span = at.to(self.end_of_last());
        if args.len() < needed {
            return fail(span, format!("`{name}` needs {}", counted(needed, "argument")));
        }
        let mut args = args.into_iter();
        let mut next = || args.next().unwrap_or_else(|| int_expr(0, Ty::INT, span));
        let void = |kind: ExprKind| Expr { kind, ty: Ty::VOID.into(), span };
        let failing = |kind: FailKind, message: String| {
            void(ExprKind::Builtin(Builtin::Fail(kind, message), Vec::new()))
        };
        Ok(Some(match name {
            "__builtin_expect" | "__builtin_expect_with_probability" => {
                self.assign_convert(next(), Ty::LONG.into(), "passed")?
            }
            "__builtin_assume_aligned" => self.assign_convert(next(), Ty::VOIDP.into(), "passed")?,
            "__builtin_constant_p" => {
                let value = self.rvalue(next())?;
                int_expr(u64::from(self.evaluate(&value).is_some()), Ty::INT, span)
            }
            "__builtin_unreachable" => failing(FailKind::Assertion, format!("{name}() is reached")),
            "__builtin_trap" | "__builtin_abort" => {
                failing(FailKind::Assertion, format!("{name}() is called"))
            }
            "__builtin_fp_varargs" => {
                let ty = self.unit.types.pointer(Ty::ULONG);
                Expr { kind: ExprKind::Builtin(Builtin::Varargs, Vec::new()), ty: ty.into(), span }
            }
            "__builtin_va_start" => {
                let ty = self.unit.types.pointer(Ty::ULONG);
                let list =
                    Expr { kind: ExprKind::Builtin(Builtin::Varargs, Vec::new()), ty: ty.into(), span };
                self.set_list(next(), list, span)?
            }
            "__builtin_va_end" => int_expr(0, Ty::INT, span),
            "__builtin_va_copy" => {
                let to = next();
                let from = self.list_pointer(next(), span)?;
                let from = self.rvalue(from)?;
                self.set_list(to, from, span)?
            }
            "__fp_range" => {
                let (first, last) = (self.rvalue(next())?, self.rvalue(next())?);
                let bounds = self.evaluate_integer(&first).zip(self.evaluate_integer(&last));
                let (first, last) = bounds.unwrap_or((0, 0));
                let kind = ExprKind::Builtin(Builtin::Range(first, last), Vec::new());
                Expr { kind, ty: Ty::LONG.into(), span }
            }
            "__builtin_alloca" | "__builtin_alloca_with_align" => self.alloca(next(), at, span)?,
            "__fp_allocate" => {
                let size = self.assign_convert(next(), Ty::ULONG.into(), "passed")?;
                Expr { kind: ExprKind::Builtin(Builtin::Allocate, vec![size]), ty: Ty::VOIDP.into(), span }
            }
            "__builtin_huge_val" | "__builtin_inf" => {
                Expr { kind: ExprKind::Float(f64::INFINITY), ty: Ty::DOUBLE.into(), span }
            }
            "__builtin_nan" => Expr { kind: ExprKind::Float(f64::NAN), ty: Ty::DOUBLE.into(), span },
            "__builtin_return_address" | "__builtin_frame_address" => int_expr(0, Ty::VOIDP, span),
            "__builtin_object_size" => int_expr(u64::MAX, Ty::ULONG, span),
            "__builtin_ia32_mfence" => self.fence_call(fencepost_ir::Fence::Mfence, span),
            "__builtin_ia32_lfence" => self.fence_call(fencepost_ir::Fence::Lfence, span),
            "__builtin_ia32_sfence" => self.fence_call(fencepost_ir::Fence::Sfence, span),
            "__builtin_ia32_pause" | "__builtin_arm_yield" => {
                self.fence_call(fencepost_ir::Fence::Compiler, span)
            }
            "__builtin_ia32_rdtsc" | "__builtin_ppc_get_timebase" => self.ticks(at, span)?,
            "__builtin_speculation_safe_value" => self.rvalue(next())?,
            "__CPROVER_assert" | "__ESBMC_assert" => {
                let condition = self.scalar_condition(next())?;
                let message = self.literal_text(&next());
                void(ExprKind::Builtin(Builtin::Assert(message), vec![condition]))
            }
            "__CPROVER_assume" | "__ESBMC_assume" => {
                let condition = self.scalar_condition(next())?;
                let symbol = self.interner.intern("__VERIFIER_assume");
                return self.call_declared(symbol, Ty::VOID, &[Ty::INT], vec![condition], at, span).map(Some);
            }
            "__fp_spurious" => int_expr(u64::from(self.spurious), Ty::INT, span),
            "__fp_kind" => {
                self.mutex_kinds = true;
                next()
            }
            "__builtin_prefetch" => {
                let value = self.rvalue(next())?;
                void(ExprKind::Builtin(Builtin::Ignore, vec![value]))
            }
            "__fp_assert" => {
                let condition = self.scalar_condition(next())?;
                let message = self.literal_text(&next());
                void(ExprKind::Builtin(Builtin::Assert(message), vec![condition]))
            }
            "__fp_fail" => failing(FailKind::Misuse, self.literal_text(&next())),
            _ => failing(FailKind::Unsupported, self.literal_text(&next())),
        }))
    }

    /// `alloca(size)`: the memory of a call of the function is a list, which is freed where the function returns
    /// (`runtime/alloca.c`). A first word of each node points to the memory itself.
    fn alloca(&mut self, size: Expr, at: Span, span: Span) -> Res<Expr> {
        let list = self.unit.types.pointer(Ty::VOIDP);
        let Some(function) = self.function.as_mut() else {
            return fail(span, "`alloca` outside a function");
        };
        let frame = *function.frame.get_or_insert_with(|| {
            let local = crate::ast::LocalId(function.locals.len() as u32);
            let name = "alloca".to_string();
            function.locals.push(crate::ast::Local {
                name,
                ty: list.into(),
                span,
                initialised: true,
                heap: false,
            });
            function.blocks[0].push(local);
            local
        });
        let frame = Expr { kind: ExprKind::Local(frame), ty: list.into(), span };
        let before = self.rvalue(frame.clone())?;
        let symbol = self.interner.intern("__fp_alloca");
        let call = self.call_declared(symbol, list, &[list, Ty::ULONG], vec![before, size], at, span)?;
        let assigned = self.assign(frame.clone(), call)?;
        let memory = self.dereference(frame, span)?;
        let memory = self.rvalue(memory)?;
        let kind = ExprKind::Comma(Box::new(assigned), Box::new(memory));
        Ok(Expr { kind, ty: Ty::VOIDP.into(), span })
    }

    /// The processor's counter (`runtime/ticks.c`).
    pub(crate) fn ticks(&mut self, at: Span, span: Span) -> Res<Expr> {
        let symbol = self.interner.intern("__fp_ticks");
        let kind = ExprKind::Builtin(Builtin::Range(0, i64::from(u32::MAX)), Vec::new());
        let later = Expr { kind, ty: Ty::ULONG.into(), span };
        self.call_declared(symbol, Ty::ULONG, &[Ty::ULONG], vec![later], at, span)
    }

    fn fence_call(&self, fence: fencepost_ir::Fence, span: Span) -> Expr {
        Expr { kind: ExprKind::Builtin(Builtin::Fence(fence), Vec::new()), ty: Ty::VOID.into(), span }
    }

    /// The pointer in a list of arguments.
    fn list_pointer(&mut self, list: Expr, span: Span) -> Res<Expr> {
        let list = self.dereference(list, span)?;
        let symbol = self.interner.intern("__p");
        self.member(list, symbol, span)
    }

    fn set_list(&mut self, list: Expr, value: Expr, span: Span) -> Res<Expr> {
        let place = self.list_pointer(list, span)?;
        let assigned = self.assign(place, value)?;
        Ok(Expr { kind: ExprKind::Cast(Box::new(assigned)), ty: Ty::VOID.into(), span })
    }

    /// A call of a function with a fixed signature, which is declared on the way.
    pub(super) fn call_declared(
        &mut self,
        name: Symbol,
        result: Ty,
        params: &[Ty],
        args: Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Res<Expr> {
        let params: Vec<QTy> = params.iter().map(|ty| QTy::plain(*ty)).collect();
        let kind = TypeKind::Function { result: result.into(), params, variadic: false, unknown: false };
        let ty = self.unit.types.intern(kind);
        let id = self.declare_function(name, ty, at)?;
        self.unit.functions[id.0 as usize].used.get_or_insert(at);
        let ty = self.unit.functions[id.0 as usize].ty;
        let callee = Expr { kind: ExprKind::Function(id), ty: ty.into(), span: at };
        self.call(callee, args, span)
    }

    /// `__builtin_add_overflow(a, b, result)` and its kin, computed in 128 bits as pairs would be too much: the operands must
    /// fit 64 bits, and the result is compared with what a wider or a checked computation gives.
    fn overflow_form(&mut self, name: &str, at: Span) -> Res<Option<Expr>> {
        let Some(rest) = name.strip_prefix("__builtin_").and_then(|rest| rest.strip_suffix("_overflow"))
        else {
            return Ok(None);
        };
        let word = rest.trim_start_matches(['s', 'u']);
        let op = match (rest, word) {
            ("add" | "sadd" | "uadd" | "saddl" | "uaddl" | "saddll" | "uaddll", _) => ArithOp::Add,
            ("sub" | "ssub" | "usub" | "ssubl" | "usubl" | "ssubll" | "usubll", _) => ArithOp::Sub,
            ("mul" | "smul" | "umul" | "smull" | "umull" | "smulll" | "umulll", _) => ArithOp::Mul,
            _ => return Ok(None),
        };
        let args = self.arguments_after_paren()?;
        let span = at.to(self.end_of_last());
        let Ok([a, b, into]) = <[Expr; 3]>::try_from(args) else {
            return fail(span, format!("`{name}` takes 3 arguments"));
        };
        let (a, b) = (self.rvalue(a)?, self.rvalue(b)?);
        let into = self.dereference(into, span)?;
        let wide =
            |p: &Self, e: &Expr| p.unit.types.size(e.ty.ty) == Some(8) && !p.unit.types.is_signed(e.ty.ty);
        // Each operand once: in variables of this block.
        let types = (a.ty, b.ty, QTy::plain(into.ty.ty));
        let unsigned = wide(self, &a) || wide(self, &b) || wide(self, &into);
        let call = super::overflow::Overflow { op, unsigned, types };
        self.overflow(call, a, b, into, span).map(Some)
    }

    /// An assertion: it observes, and is no branch.
    pub(crate) fn assertion(&self, condition: Expr, message: String) -> Expr {
        let span = condition.span;
        let kind = ExprKind::Builtin(Builtin::Assert(message), vec![condition]);
        Expr { kind, ty: Ty::VOID.into(), span }
    }

    /// The condition as text, if this is the call that a failing assertion of another C library's header makes.
    pub(crate) fn failed_assertion(&self, call: &Expr) -> Option<String> {
        let ExprKind::Call(callee, args, _) = &call.kind else { return None };
        let ExprKind::Function(id) = callee.kind else { return None };
        let function = &self.unit.functions[id.0 as usize];
        let known = matches!(function.name.as_str(), "__assert_fail" | "__assert");
        let text = args.first().filter(|_| known && function.body.is_none())?;
        let ExprKind::AddrOf(literal) = &self.without_casts(text).kind else { return None };
        Some(self.literal_text(literal))
    }

    fn without_casts<'e>(&self, mut expr: &'e Expr) -> &'e Expr {
        while let ExprKind::Cast(inner) = &expr.kind {
            expr = inner;
        }
        expr
    }

    /// The text of a string literal.
    fn literal_text(&self, expr: &Expr) -> String {
        let ExprKind::Global(id) = expr.kind else { return String::new() };
        let global = &self.unit.globals[id.0 as usize];
        let Some(init) = global.init.as_ref().filter(|_| global.name.starts_with('"')) else {
            return String::new();
        };
        let byte = |item: &crate::ast::InitItem| match item.value.kind {
            ExprKind::Int(value) => Some(value as u8),
            _ => None,
        };
        let bytes: Vec<u8> = init.items.iter().filter_map(byte).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// An error about a name that nobody declared.
    pub(crate) fn undeclared<T>(&mut self, name: Symbol, span: Span) -> Res<T> {
        let text = self.name(name);
        self.missing = Some((text.clone(), span));
        let mut error = Diagnostic::error(span, format!("`{text}` is not declared")).label("not declared");
        if let Some(header) = crate::headers::header_of(&text) {
            error = error.hint(format!("add `#include <{header}>`"));
        } else if let Some(near) =
            self.nearest(&text).or_else(|| crate::headers::nearest(&text).map(String::from))
        {
            error = error.hint(format!("did you mean `{near}`?"));
        }
        Err(Box::new(error))
    }

    /// A declared name that differs by little.
    fn nearest(&mut self, text: &str) -> Option<String> {
        let mut names: Vec<&str> = self.unit.globals.iter().map(|g| g.name.as_str()).collect();
        names.extend(self.unit.functions.iter().map(|f| f.name.as_str()));
        if let Some(function) = &self.function {
            names.extend(function.locals.iter().map(|l| l.name.as_str()));
        }
        let close =
            |name: &&str| name.len() > 2 && crate::headers::distance(name, text) <= 1 + text.len() / 5;
        let found = names
            .into_iter()
            .filter(close)
            .min_by_key(|name| crate::headers::distance(name, text))?
            .to_string();
        let symbol = self.interner.intern(&found);
        (self.scopes.lookup(symbol) != Entity::Unknown).then_some(found)
    }
}

/// A builtin of the compiler that `__has_builtin` knows.
pub fn is_builtin(name: &str) -> bool {
    bits_signature(name).is_some()
        || library_builtin(name).is_some()
        || name.ends_with("_overflow")
        || matches!(
            name.strip_prefix("__builtin_"),
            Some(
                "expect"
                    | "expect_with_probability"
                    | "constant_p"
                    | "prefetch"
                    | "unreachable"
                    | "trap"
                    | "assume_aligned"
                    | "types_compatible_p"
                    | "choose_expr"
                    | "offsetof"
            )
        )
}

/// `__builtin_memcpy` and its kin: the function that is meant, its result and its parameters.
fn library_builtin(name: &str) -> Option<(&'static str, Ty, &'static [Ty])> {
    const P: Ty = Ty::VOIDP;
    const N: Ty = Ty::ULONG;
    Some(match name.strip_prefix("__builtin_")? {
        "memcpy" | "__memcpy_chk" => ("memcpy", P, &[P, P, N]),
        "memmove" => ("memmove", P, &[P, P, N]),
        "memset" => ("memset", P, &[P, Ty::INT, N]),
        "memcmp" => ("memcmp", Ty::INT, &[P, P, N]),
        "memchr" => ("memchr", P, &[P, Ty::INT, N]),
        "malloc" => ("malloc", P, &[N]),
        "calloc" => ("calloc", P, &[N, N]),
        "realloc" => ("realloc", P, &[P, N]),
        "free" => ("free", Ty::VOID, &[P]),
        "exit" => ("exit", Ty::VOID, &[Ty::INT]),
        "abs" => ("abs", Ty::INT, &[Ty::INT]),
        "labs" => ("labs", Ty::LONG, &[Ty::LONG]),
        "llabs" => ("llabs", Ty::LLONG, &[Ty::LLONG]),
        "fabs" => ("fabs", Ty::DOUBLE, &[Ty::DOUBLE]),
        "strlen" => ("strlen", N, &[P]),
        "strcmp" => ("strcmp", Ty::INT, &[P, P]),
        "strncmp" => ("strncmp", Ty::INT, &[P, P, N]),
        "strcpy" => ("strcpy", P, &[P, P]),
        "strncpy" => ("strncpy", P, &[P, P, N]),
        "strchr" => ("strchr", P, &[P, Ty::INT]),
        "puts" => ("puts", Ty::INT, &[P]),
        "putchar" => ("putchar", Ty::INT, &[Ty::INT]),
        _ => return None,
    })
}

/// Functions of the verifier vocabulary, which programs use without declaring them: result and parameters.
fn verifier_signature(name: &str) -> Option<(Ty, &'static [Ty])> {
    Some(match name {
        "__VERIFIER_assume" | "__VERIFIER_assert" | "assume" | "assume_abort_if_not" => {
            (Ty::VOID, &[Ty::INT])
        }
        "__VERIFIER_spin_end" | "__VERIFIER_loop_bound" => (Ty::VOID, &[Ty::INT]),
        "__VERIFIER_error" | "reach_error" | "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => {
            (Ty::VOID, &[])
        }
        "__VERIFIER_loop_begin" | "__VERIFIER_spin_start" => (Ty::VOID, &[]),
        "__CPROVER_atomic_begin" | "__CPROVER_atomic_end" => (Ty::VOID, &[]),
        "__ESBMC_atomic_begin" | "__ESBMC_atomic_end" | "__ESBMC_yield" => (Ty::VOID, &[]),
        "__VERIFIER_tid" | "__VERIFIER_thread_id" => (Ty::INT, &[]),
        "__VERIFIER_spawn_symmetric" => (Ty::ULONG, &[Ty::VOIDP, Ty::VOIDP]),
        _ => {
            let kind = name.strip_prefix("__VERIFIER_nondet_")?;
            (crate::lower::nondet_type(kind)?, &[])
        }
    })
}

/// The bit-counting builtins of GNU C, which the runtime module `bits.c` defines: result and parameters.
fn bits_signature(name: &str) -> Option<(Ty, &'static [Ty])> {
    Some(match name.strip_prefix("__builtin_")? {
        "bswap16" => (Ty::USHORT, &[Ty::USHORT]),
        "bswap32" => (Ty::UINT, &[Ty::UINT]),
        "bswap64" => (Ty::ULONG, &[Ty::ULONG]),
        "clz" | "ctz" | "popcount" | "parity" => (Ty::INT, &[Ty::UINT]),
        "clzl" | "ctzl" | "popcountl" | "clzll" | "ctzll" | "popcountll" | "parityl" | "parityll" => {
            (Ty::INT, &[Ty::ULONG])
        }
        "clrsb" => (Ty::INT, &[Ty::INT]),
        "ffs" => (Ty::INT, &[Ty::INT]),
        "ffsl" | "ffsll" => (Ty::INT, &[Ty::LONG]),
        _ => return None,
    })
}
