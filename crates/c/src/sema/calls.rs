//! Calls: of functions, of builtins that need no declaration, and of names that nobody declared.

use crate::ast::{Expr, ExprKind};
use crate::builtins::Builtin;
use crate::intern::Symbol;
use crate::parser::{Entity, Parser, Res, counted, fail, int_expr, unsupported};
use crate::types::{QTy, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::FailKind;

impl Parser<'_> {
    /// A call through an expression.
    pub(crate) fn call(&mut self, callee: Expr, args: Vec<Expr>, span: Span) -> Res<Expr> {
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

    fn default_promotion(&mut self, arg: Expr) -> Res<Expr> {
        let value = self.rvalue(arg)?;
        if value.ty.ty == Ty::FLOAT {
            return Ok(self.cast_to(value, Ty::DOUBLE));
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
        if let Some((result, params)) = verifier_signature(&text).or_else(|| bits_signature(&text)) {
            let params: Vec<QTy> = params.iter().map(|ty| QTy::plain(*ty)).collect();
            let kind = TypeKind::Function { result: result.into(), params, variadic: false, unknown: false };
            let ty = self.unit.types.intern(kind);
            let id = self.declare_function(name, ty, at)?;
            self.unit.functions[id.0 as usize].used.get_or_insert(at);
            let callee = Expr { kind: ExprKind::Function(id), ty: ty.into(), span: at };
            return self.call(callee, args, span);
        }
        self.undeclared(name, at)
    }

    /// Builtins that vanish, or that need the text of their arguments.
    fn special_form(&mut self, name: &str, at: Span) -> Res<Option<Expr>> {
        if name.starts_with("__builtin_va_") {
            return unsupported(at, format!("`{name}`"), "pass a fixed number of arguments");
        }
        let needed = match name {
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

    /// The text of a string literal.
    fn literal_text(&self, expr: &Expr) -> String {
        let ExprKind::Global(id) = expr.kind else { return String::new() };
        self.strings
            .iter()
            .find(|(_, global)| **global == id)
            .map_or(String::new(), |(bytes, _)| String::from_utf8_lossy(bytes).into_owned())
    }

    /// An error about a name that nobody declared.
    pub(crate) fn undeclared<T>(&mut self, name: Symbol, span: Span) -> Res<T> {
        let text = self.name(name);
        let mut error = Diagnostic::error(span, format!("`{text}` is not declared")).label("not declared");
        if let Some(header) = crate::headers::header_of(&text) {
            error = error.hint(format!("add `#include <{header}>`"));
        } else if let Some(near) = self.nearest(&text) {
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
        let close = |name: &&str| name.len() > 2 && distance(name, text) <= 1 + text.len() / 5;
        let found = names.into_iter().filter(close).min_by_key(|name| distance(name, text))?.to_string();
        let symbol = self.interner.intern(&found);
        (self.scopes.lookup(symbol) != Entity::Unknown).then_some(found)
    }
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
        "clzl" | "ctzl" | "popcountl" | "clzll" | "ctzll" | "popcountll" => (Ty::INT, &[Ty::ULONG]),
        "ffs" => (Ty::INT, &[Ty::INT]),
        "ffsl" | "ffsll" => (Ty::INT, &[Ty::LONG]),
        _ => return None,
    })
}

/// The edit distance of two short words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
