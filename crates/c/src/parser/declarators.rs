//! Declarators: pointers, arrays and functions around a name.

use super::attributes::Attributes;
use super::declarations::Storage;
use super::{Entity, Parser, Res, fail, unsupported};
use crate::ast::Expr;
use crate::intern::Symbol;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::{QTy, Quals, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};

/// A declared name with its type.
pub struct Declarator {
    /// The name, unless it is abstract.
    pub name: Option<(Symbol, Span)>,
    /// The type.
    pub ty: QTy,
    /// The parameters, if it declares a function.
    pub params: Option<Vec<Param>>,
    /// Attributes after the declarator.
    pub attributes: Attributes,
    /// The length of an array, if it is not a constant, and where it stands.
    pub variable: Option<(Expr, Span)>,
}

/// A parameter in a declarator.
#[derive(Clone)]
pub struct Param {
    /// Its name.
    pub name: Option<(Symbol, Span)>,
    /// Its type, arrays and functions made pointers.
    pub ty: QTy,
    /// Its type stands in the declarations before the body, as in C before 1989.
    pub untyped: bool,
}

/// A step from the name outwards.
enum Step {
    Array(Option<u64>, Span),
    /// An array whose length is not a constant.
    Variable(Box<Expr>, Span),
    Function {
        params: Vec<Param>,
        variadic: bool,
        unknown: bool,
    },
    Pointer(Quals),
}

impl Parser<'_> {
    /// A declarator on a base type.
    pub(super) fn declarator(&mut self, base: QTy, may_be_abstract: bool) -> Res<Declarator> {
        let start = self.peek().span;
        let mut steps = Vec::new();
        let name = self.declarator_steps(&mut steps)?;
        if name.is_none() && !may_be_abstract {
            let token = self.peek();
            return fail(token.span, format!("expected a name, found {}", self.describe(&token)));
        }
        let span = name.map_or(start, |(_, span)| span);
        let attributes = self.declarator_suffix()?;
        // Steps are in the order in which they apply to the name; the type is built from the other end.
        let params = match steps.first() {
            Some(Step::Function { params, .. }) => Some(params.clone()),
            _ => None,
        };
        let mut ty = base;
        let mut variable = None;
        let last = steps.len().saturating_sub(1);
        for (i, step) in steps.into_iter().rev().enumerate() {
            let step = match step {
                // Only the outermost length may vary: the size of the elements is then known.
                Step::Variable(length, at) if i == last => {
                    variable = Some((*length, at));
                    Step::Array(None, at)
                }
                Step::Variable(_, at) => {
                    return unsupported(
                        at,
                        "an array of arrays of variable length",
                        "use one array, or malloc",
                    );
                }
                step => step,
            };
            ty = self.apply_step(ty, step, span)?;
        }
        Ok(Declarator { name, ty, params, attributes, variable })
    }

    fn declarator_suffix(&mut self) -> Res<Attributes> {
        let mut attributes = self.attributes()?;
        if matches!(self.keyword(), Some(Keyword::Asm | Keyword::Asm2 | Keyword::Asm3)) {
            self.at += 1;
            self.skip_parentheses()?;
            attributes.merge(self.attributes()?);
        }
        Ok(attributes)
    }

    fn apply_step(&mut self, ty: QTy, step: Step, span: Span) -> Res<QTy> {
        if self.unit.types.depth(ty.ty) > 2 * super::MAX_DEPTH {
            return fail(span, "this type is nested too deeply");
        }
        let types = &mut self.unit.types;
        Ok(match step {
            Step::Pointer(quals) => QTy::plain(types.pointer(ty)).with(quals),
            Step::Array(length, at) => {
                if types.is_function(ty.ty) || ty.ty == Ty::VOID {
                    return fail(at, format!("there are no arrays of `{}`", self.show(ty)));
                }
                let incomplete = match types.kind(ty.ty) {
                    TypeKind::Array(_, None) => true,
                    TypeKind::Record(_) => types.size(ty.ty).is_none(),
                    _ => false,
                };
                if incomplete {
                    return fail(at, format!("an array of the incomplete type `{}`", self.show(ty)));
                }
                let size = types.size(ty.ty).unwrap_or(0);
                if size.checked_mul(length.unwrap_or(0)).is_none_or(|s| s > crate::layout::MAX_OBJECT) {
                    return unsupported(at, "an array of more than 16 MB", "make it smaller");
                }
                QTy::plain(types.array(ty, length))
            }
            Step::Variable(_, at) => return fail(at, "this length is not a constant"),
            Step::Function { params, variadic, unknown } => {
                if types.is_function(ty.ty) || matches!(types.kind(ty.ty), TypeKind::Array(..)) {
                    return fail(span, format!("a function cannot return `{}`", self.show(ty)));
                }
                let params = params.iter().map(|p| QTy::plain(p.ty.ty)).collect();
                let result = QTy::plain(ty.ty);
                QTy::plain(types.intern(TypeKind::Function { result, params, variadic, unknown }))
            }
        })
    }

    /// Collects the steps, innermost (next to the name) first.
    fn declarator_steps(&mut self, steps: &mut Vec<Step>) -> Res<Option<(Symbol, Span)>> {
        self.nested(|p| {
            let mut pointers = Vec::new();
            p.attributes()?;
            while p.eat(Punct::Star) {
                pointers.push(Step::Pointer(p.pointer_qualifiers()?));
                if pointers.len() > super::MAX_DEPTH as usize {
                    return fail(p.peek().span, "this is nested too deeply");
                }
            }
            let token = p.peek();
            let mut name = None;
            if token.is(Punct::LParen) && p.is_nested_declarator() {
                p.at += 1;
                name = p.declarator_steps(steps)?;
                p.expect(Punct::RParen, "in the declarator")?;
            } else if token.kind == TokenKind::Ident && can_be_declared(token.symbol) {
                p.at += 1;
                name = Some((token.symbol, token.span));
            }
            while p.declarator_tail(steps)? {
                if steps.len() > super::MAX_DEPTH as usize {
                    return fail(p.peek().span, "this is nested too deeply");
                }
            }
            pointers.reverse();
            steps.append(&mut pointers);
            Ok(name)
        })
    }

    fn pointer_qualifiers(&mut self) -> Res<Quals> {
        let mut quals = Quals::NONE;
        loop {
            match self.keyword() {
                Some(Keyword::Const | Keyword::Const2 | Keyword::Const3) => quals = quals.with(Quals::CONST),
                Some(Keyword::Volatile | Keyword::Volatile2 | Keyword::Volatile3) => {
                    quals = quals.with(Quals::VOLATILE);
                }
                Some(Keyword::Atomic) => quals = quals.with(Quals::ATOMIC),
                Some(Keyword::Restrict | Keyword::Restrict2 | Keyword::Restrict3) => {}
                Some(Keyword::Attribute | Keyword::Attribute2) => {
                    self.attributes()?;
                    continue;
                }
                _ => return Ok(quals),
            }
            self.at += 1;
        }
    }

    /// After `(` in a declarator: a nested declarator, not a parameter list.
    fn is_nested_declarator(&self) -> bool {
        let next = self.peek_at(1);
        if next.is(Punct::Star) || next.is(Punct::LParen) || next.is(Punct::LBracket) {
            return true;
        }
        if next.kind != TokenKind::Ident {
            return false;
        }
        match Keyword::of(next.symbol) {
            Some(keyword) => matches!(keyword, Keyword::Attribute | Keyword::Attribute2),
            None => !matches!(self.scopes.lookup(next.symbol), Entity::Typedef(_)),
        }
    }

    fn declarator_tail(&mut self, steps: &mut Vec<Step>) -> Res<bool> {
        if self.is(Punct::LBracket) {
            let step = self.array_step()?;
            steps.push(step);
            Ok(true)
        } else if self.is(Punct::LParen) {
            self.at += 1;
            let step = self.function_step()?;
            steps.push(step);
            Ok(true)
        } else {
            Ok(false)
        }
    }

    fn array_step(&mut self) -> Res<Step> {
        let open = self.advance().span;
        // `static` and qualifiers of array parameters.
        while self.starts_type() {
            self.at += 1;
        }
        if self.is(Punct::Star) && self.peek_at(1).is(Punct::RBracket) {
            self.at += 1;
        }
        if self.eat(Punct::RBracket) {
            return Ok(Step::Array(None, open));
        }
        // The length of a parameter that is an array means nothing, and may use other parameters.
        if self.in_parameters > 0 {
            let start = self.at;
            let constant = match self.nested(|p| p.conditional()) {
                Ok(length) if self.is(Punct::RBracket) => self.evaluate_integer(&length),
                _ => None,
            };
            if constant.is_none() {
                self.missing = None;
                self.at = start;
                let mut depth = 0usize;
                while depth > 0 || !self.is(Punct::RBracket) {
                    let token = self.advance();
                    depth += usize::from(token.is(Punct::LBracket));
                    depth -= usize::from(token.is(Punct::RBracket));
                    if token.kind == TokenKind::Eof {
                        return fail(open, "this bracket is never closed");
                    }
                }
                let close = self.advance().span;
                return Ok(Step::Array(None, open.to(close)));
            }
            self.at = start;
        }
        let length = self.nested(|p| p.conditional())?;
        let close = self.expect(Punct::RBracket, "after the length of the array")?;
        let span = open.to(close);
        let length = self.rvalue(length)?;
        let known = self.with_constants(&length);
        match self.evaluate_integer(&known) {
            Some(n) if n < 0 => fail(span, "the length of an array cannot be negative"),
            Some(n) => Ok(Step::Array(Some(n as u64), span)),
            None if self.unit.types.is_integer(length.ty.ty) && self.function.is_some() => {
                Ok(Step::Variable(Box::new(length), span))
            }
            None => fail(span, "the length of an array must be a constant integer here"),
        }
    }

    fn function_step(&mut self) -> Res<Step> {
        let mut params = Vec::new();
        let mut variadic = false;
        if self.eat(Punct::RParen) {
            return Ok(Step::Function { params, variadic, unknown: true });
        }
        if let Some(params) = self.identifier_list() {
            return Ok(Step::Function { params, variadic, unknown: true });
        }
        self.scopes.enter();
        self.in_parameters += 1;
        let result = self.parameters(&mut params, &mut variadic);
        self.in_parameters -= 1;
        self.scopes.leave();
        result?;
        self.expect(Punct::RParen, "after the parameters")?;
        Ok(Step::Function { params, variadic, unknown: false })
    }

    /// `a, b)` in `int f(a, b) int a, b; { ... }`: names only, with a body or the declarations of their types behind them.
    fn identifier_list(&mut self) -> Option<Vec<Param>> {
        let start = self.at;
        let mut params = Vec::new();
        loop {
            let token = self.advance();
            let name = token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none();
            if !name || matches!(self.scopes.lookup(token.symbol), Entity::Typedef(_)) {
                break;
            }
            params.push(Param { name: Some((token.symbol, token.span)), ty: Ty::INT.into(), untyped: true });
            if self.eat(Punct::Comma) {
                continue;
            }
            let closed = self.eat(Punct::RParen);
            if closed && (self.is(Punct::LBrace) || self.starts_type()) {
                return Some(params);
            }
            break;
        }
        self.at = start;
        None
    }

    /// The declarations between an identifier list and the body; what is not declared there is an `int`.
    pub(super) fn untyped_parameters(&mut self, declarator: &mut Declarator) -> Res<()> {
        let mut params = declarator.params.take().unwrap_or_default();
        while !self.is(Punct::LBrace) {
            let specifiers = self.specifiers()?;
            while !self.eat(Punct::Semi) {
                let declared = self.declarator(specifiers.ty, false)?;
                let Some((name, span)) = declared.name else { continue };
                let ty = self.parameter_type(declared.ty);
                match params.iter_mut().find(|p| p.name.is_some_and(|(known, _)| known == name)) {
                    Some(param) => param.ty = ty,
                    None => return fail(span, format!("`{}` is no parameter", self.name(name))),
                }
                if !self.eat(Punct::Comma) && !self.is(Punct::Semi) {
                    return fail(self.peek().span, "expected `;` after the declaration of a parameter");
                }
            }
        }
        let TypeKind::Function { result, .. } = *self.unit.types.kind(declarator.ty.ty) else {
            return Ok(());
        };
        let kind = TypeKind::Function {
            result,
            params: params.iter().map(|p| QTy::plain(p.ty.ty)).collect(),
            variadic: false,
            unknown: false,
        };
        declarator.ty = QTy::plain(self.unit.types.intern(kind));
        declarator.params = Some(params);
        Ok(())
    }

    fn parameters(&mut self, params: &mut Vec<Param>, variadic: &mut bool) -> Res<()> {
        loop {
            if self.eat(Punct::Ellipsis) {
                *variadic = true;
                return Ok(());
            }
            self.attributes()?;
            let start = self.peek();
            if start.kind == TokenKind::Ident && !self.starts_type() {
                let message = format!("expected the type of a parameter, found {}", self.describe(&start));
                let mut error = Diagnostic::error(start.span, message);
                error = match crate::headers::header_of(self.interner.text(start.symbol)) {
                    Some(header) => error.hint(format!("add `#include <{header}>`")),
                    None => error.hint("parameters are declared with their types: `int f(int a)`"),
                };
                return Err(Box::new(error));
            }
            let specifiers = self.specifiers()?;
            if !matches!(specifiers.storage, Storage::Automatic) {
                return fail(specifiers.span, "a parameter has no storage class");
            }
            let declarator = self.declarator(specifiers.ty, true)?;
            let ty = self.parameter_type(declarator.ty);
            if ty.ty == Ty::VOID {
                if declarator.name.is_none() && params.is_empty() && self.is(Punct::RParen) {
                    return Ok(());
                }
                return fail(specifiers.span, "a parameter cannot have the type `void`");
            }
            params.push(Param { name: declarator.name, ty, untyped: false });
            if !self.eat(Punct::Comma) {
                return Ok(());
            }
        }
    }

    fn parameter_type(&mut self, ty: QTy) -> QTy {
        match self.unit.types.kind(ty.ty) {
            TypeKind::Array(of, _) => {
                let of = of.with(ty.quals);
                self.unit.types.pointer(of).into()
            }
            TypeKind::Function { .. } => self.unit.types.pointer(ty).into(),
            _ => ty,
        }
    }
}

/// A name, or a word for a floating type that a header declares for compilers without it.
fn can_be_declared(symbol: Symbol) -> bool {
    match Keyword::of(symbol) {
        None => true,
        Some(keyword) => matches!(
            keyword,
            Keyword::Float32 | Keyword::Float64 | Keyword::Float32x | Keyword::Float64x | Keyword::Float128b
        ),
    }
}
