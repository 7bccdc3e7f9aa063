//! Expressions of the cat language: operators by precedence, application, local definitions.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::lexer::{Keyword, Token};
use fencepost_diag::Diagnostic;
use std::rc::Rc;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(Self::expression_here)
    }

    fn expression_here(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Keyword(Keyword::Let) => {
                self.advance();
                let recursive = self.eat(Keyword::Rec);
                let bindings = self.bindings()?;
                self.expect(Keyword::In)?;
                ExprKind::Let { recursive, bindings, body: Box::new(self.expression()?) }
            }
            Token::Keyword(Keyword::Fun) => {
                self.advance();
                let parameters = self.parameters()?;
                self.expect_symbol("->")?;
                ExprKind::Fun(parameters, Rc::new(self.expression()?))
            }
            Token::Keyword(Keyword::Try) => {
                self.advance();
                let first = self.expression()?;
                self.expect(Keyword::With)?;
                ExprKind::Try(Box::new(first), Box::new(self.expression()?))
            }
            Token::Keyword(Keyword::If) => {
                self.advance();
                let condition = self.condition()?;
                self.expect(Keyword::Then)?;
                let then = self.expression()?;
                self.expect(Keyword::Else)?;
                ExprKind::If(condition, Box::new(then), Box::new(self.expression()?))
            }
            Token::Keyword(Keyword::Match) => self.cases()?,
            _ => return self.tuple(),
        };
        Ok(Expr { span: start.to(self.previous_span()), kind })
    }

    /// `match e with || {} -> a || x ++ xs -> b end`.
    fn cases(&mut self) -> Parsed<ExprKind> {
        self.advance();
        self.expression()?;
        self.expect(Keyword::With)?;
        while self.eat_symbol("||") {
            while !self.is_symbol("->") {
                match self.peek() {
                    Token::Name | Token::Tag | Token::Symbol("{" | "}" | "++" | "_") => self.advance(),
                    _ => return Err(self.unexpected("a pattern, such as `{}` or `x ++ xs`, and `->`")),
                };
            }
            self.advance();
            self.expression()?;
        }
        self.expect(Keyword::End)?;
        Ok(ExprKind::Beyond("`match`"))
    }

    fn tuple(&mut self) -> Parsed<Expr> {
        let first = self.operators(0)?;
        if !self.is_symbol(",") {
            return Ok(first);
        }
        let span = first.span;
        let mut items = vec![first];
        while self.eat_symbol(",") {
            items.push(self.operators(0)?);
        }
        Ok(Expr { span: span.to(self.previous_span()), kind: ExprKind::Tuple(items) })
    }

    /// The binary operators, loosest first; each level is a chain of the next one.
    pub(super) fn operators(&mut self, level: usize) -> Parsed<Expr> {
        const LEVELS: [(Binary, &str); 4] = [
            (Binary::Union, "|"),
            (Binary::Sequence, ";"),
            (Binary::Difference, "\\"),
            (Binary::Intersection, "&"),
        ];
        let Some(&(operator, symbol)) = LEVELS.get(level) else { return self.prefix() };
        let operand = |parser: &mut Self| match level {
            0 => parser.additions(),
            _ => parser.operators(level + 1),
        };
        let first = operand(self)?;
        let span = first.span;
        let mut operands = vec![first];
        while self.eat_symbol(symbol) {
            operands.push(operand(self)?);
        }
        if operands.len() == 1 {
            return Ok(operands.remove(0));
        }
        Ok(Expr { span: span.to(self.previous_span()), kind: ExprKind::Binary(operator, operands) })
    }

    /// `e ++ s`: an element and a set.
    fn additions(&mut self) -> Parsed<Expr> {
        let first = self.operators(1)?;
        if !self.is_symbol("++") {
            return Ok(first);
        }
        let span = first.span;
        while self.eat_symbol("++") {
            self.operators(1)?;
        }
        Ok(Expr { span: span.to(self.previous_span()), kind: ExprKind::Beyond("`++`") })
    }

    /// `~ e` and `a * b`.
    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.eat_symbol("~") {
            let inner = self.nested(Self::prefix)?;
            let span = start.to(self.previous_span());
            return Ok(Expr { span, kind: ExprKind::Unary(Unary::Complement, Box::new(inner)) });
        }
        let mut left = self.postfix()?;
        while self.is_symbol("*") {
            self.advance();
            let right = self.nested(Self::product_operand)?;
            let span = start.to(self.previous_span());
            left = Expr { span, kind: ExprKind::Binary(Binary::Product, vec![left, right]) };
        }
        Ok(left)
    }

    fn product_operand(&mut self) -> Parsed<Expr> {
        let start = self.span();
        if self.eat_symbol("~") {
            let inner = self.nested(Self::product_operand)?;
            let span = start.to(self.previous_span());
            return Ok(Expr { span, kind: ExprKind::Unary(Unary::Complement, Box::new(inner)) });
        }
        self.postfix()
    }

    /// Postfix operators; a `*` that begins a product is left alone.
    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut expr = self.application()?;
        // Each operator is one level of the tree.
        for _ in self.depth..MAX_DEPTH {
            let operator = if self.is_symbol("+") {
                Unary::Plus
            } else if self.is_symbol("?") {
                Unary::Optional
            } else if self.is_symbol("*") && !self.operand_follows() {
                Unary::Star
            } else if self.is_symbol("^") {
                self.advance();
                if !self.is_symbol("-1") {
                    return Err(self.unexpected("`-1`"));
                }
                Unary::Inverse
            } else {
                return Ok(expr);
            };
            self.advance();
            let span = start.to(self.previous_span());
            expr = Expr { span, kind: ExprKind::Unary(operator, Box::new(expr)) };
        }
        Err(Box::new(Diagnostic::error(expr.span, "this is nested too deeply")))
    }

    /// Does what follows the current token begin an operand?
    fn operand_follows(&self) -> bool {
        match self.peek_second() {
            Token::Name | Token::Tag | Token::Keyword(Keyword::Begin) => true,
            Token::Symbol("(" | "[" | "{" | "_" | "0") => true,
            // `~` may also begin a negated check.
            Token::Symbol("~") => {
                let third = self.tokens.get(self.at + 2).map(|t| t.0);
                !matches!(
                    third,
                    Some(Token::Keyword(Keyword::Acyclic | Keyword::Irreflexive | Keyword::Empty))
                )
            }
            _ => false,
        }
    }

    fn application(&mut self) -> Parsed<Expr> {
        if self.peek() != Token::Name {
            return self.nested(Self::simple);
        }
        let mut expr = self.name_expression();
        for _ in self.depth..MAX_DEPTH {
            let argument = match self.peek() {
                Token::Name => self.name_expression(),
                Token::Tag | Token::Keyword(Keyword::Begin) => self.nested(Self::simple)?,
                Token::Symbol("(" | "[" | "{" | "_" | "0") => self.nested(Self::simple)?,
                _ => return Ok(expr),
            };
            let span = expr.span.to(argument.span);
            expr = Expr { span, kind: ExprKind::Apply(Box::new(expr), Box::new(argument)) };
        }
        Err(Box::new(Diagnostic::error(expr.span, "this is nested too deeply")))
    }

    pub(super) fn name_expression(&mut self) -> Expr {
        let span = self.advance();
        Expr { span, kind: ExprKind::Name(self.slice(span).to_string()) }
    }

    pub(super) fn simple(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Symbol("0") => {
                self.advance();
                ExprKind::Empty
            }
            Token::Symbol("_") => {
                self.advance();
                ExprKind::Universe
            }
            Token::Symbol("{") => {
                self.advance();
                if self.eat_symbol("}") {
                    ExprKind::Empty
                } else {
                    self.expression()?;
                    self.expect_symbol("}")?;
                    ExprKind::Beyond("a set given by its elements")
                }
            }
            Token::Symbol("[") => {
                self.advance();
                let inner = self.expression()?;
                self.expect_symbol("]")?;
                ExprKind::Unary(Unary::Identity, Box::new(inner))
            }
            Token::Symbol("(") => {
                self.advance();
                if self.eat_symbol(")") {
                    ExprKind::Tuple(Vec::new())
                } else {
                    let inner = self.expression()?;
                    self.expect_symbol(")")?;
                    inner.kind
                }
            }
            Token::Keyword(Keyword::Begin) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Keyword::End)?;
                inner.kind
            }
            Token::Tag => return Err(self.unsupported(start, "a tag", "enumerations are not read")),
            _ => return Err(self.unexpected("a set or a relation")),
        };
        Ok(Expr { span: start.to(self.previous_span()), kind })
    }
}
