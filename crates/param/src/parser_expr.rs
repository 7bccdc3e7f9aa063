//! Formulas and terms. Precedence, loose to tight: quantifiers, `=> <=>` (right), `||`, `&&`, if-then-else, `not`.

use crate::ast::*;
use crate::lexer::Tok;
use crate::parser::{Failed, Parsed, Parser};
use fencepost_diag::{Diagnostic, Span};

/// Formulas nested deeper than this are refused.
const MAX_DEPTH: usize = 200;
/// Longer chains of one operator are refused: later passes recurse over them.
const MAX_CHAIN: usize = 400;

fn node(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

impl Parser {
    pub(crate) fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let error = Diagnostic::error(self.span(), "this formula is nested too deeply")
                .hint(format!("at most {MAX_DEPTH} levels"));
            self.errors.push(error);
            return Err(Failed);
        }
        let result = self.implication();
        self.depth -= 1;
        result
    }

    fn implication(&mut self) -> Parsed<Expr> {
        let left = self.disjunction()?;
        if self.eat("=>") {
            let right = self.expr()?;
            let span = left.span.to(right.span);
            return Ok(node(ExprKind::Implies(Box::new(left), Box::new(right)), span));
        }
        if self.eat("<=>") {
            let right = self.expr()?;
            let span = left.span.to(right.span);
            return Ok(node(ExprKind::Iff(Box::new(left), Box::new(right)), span));
        }
        Ok(left)
    }

    fn chain(&mut self, length: &mut usize) -> Parsed<()> {
        *length += 1;
        if *length < MAX_CHAIN { Ok(()) } else { self.fail("a shorter formula") }
    }

    fn disjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.conjunction()?;
        let mut length = 0;
        while self.eat("||") {
            self.chain(&mut length)?;
            let right = self.conjunction()?;
            let span = left.span.to(right.span);
            left = node(ExprKind::Or(Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        let mut length = 0;
        while self.eat("&&") {
            self.chain(&mut length)?;
            let right = self.unary()?;
            let span = left.span.to(right.span);
            left = node(ExprKind::And(Box::new(left), Box::new(right)), span);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        match self.peek().clone() {
            Tok::Key("not") => {
                self.advance();
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return self.fail("a formula that is not nested so deeply");
                }
                let inner = self.unary()?;
                self.depth -= 1;
                let span = start.to(inner.span);
                Ok(node(ExprKind::Not(Box::new(inner)), span))
            }
            Tok::Key("if") => {
                self.advance();
                let condition = self.expr()?;
                self.expect_key("then")?;
                let then = self.expr()?;
                self.expect_key("else")?;
                let other = self.expr()?;
                let span = start.to(other.span);
                Ok(node(ExprKind::If(Box::new(condition), Box::new(then), Box::new(other)), span))
            }
            Tok::Key(k @ ("forall" | "exists" | "forall_other" | "exists_other")) => {
                self.advance();
                let mut vars = vec![self.lower("a process variable")?];
                while self.eat("<>") {
                    vars.push(self.lower("a process variable")?);
                }
                self.expect(".")?;
                let body = Box::new(self.expr()?);
                let span = start.to(body.span);
                let (universal, other) = (k.starts_with("forall"), k.ends_with("_other"));
                Ok(node(ExprKind::Quant { universal, other, vars, body }, span))
            }
            _ => self.atom(),
        }
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let start = self.span();
        match self.peek().clone() {
            Tok::Key("true") | Tok::Key("false") => {
                let value = self.is_key("true");
                self.advance();
                Ok(node(ExprKind::Const(value), start))
            }
            Tok::Key("fence") => {
                self.advance();
                self.expect("(")?;
                let end = self.expect(")")?;
                Ok(node(ExprKind::Fence, start.to(end)))
            }
            Tok::Op("(") => {
                self.advance();
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            Tok::Lower(name) if matches!(self.peek_second(), Tok::Op("(")) => {
                let callee = Ident { name, span: self.advance().1 };
                self.advance();
                let mut args = Vec::new();
                while !self.is_op(")") {
                    args.push(self.argument()?);
                    if !self.eat(",") && !self.is_op(")") {
                        return self.fail("`,` or `)` after an argument");
                    }
                }
                let end = self.expect(")")?;
                Ok(node(ExprKind::Call(callee, args), start.to(end)))
            }
            _ => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.term()?;
        let cmp = match self.peek() {
            Tok::Op("=") => Cmp::Eq,
            Tok::Op("<>") => Cmp::Ne,
            Tok::Op("<") => Cmp::Lt,
            Tok::Op("<=") => Cmp::Le,
            Tok::Op(">") => Cmp::Gt,
            Tok::Op(">=") => Cmp::Ge,
            _ => {
                if let TermKind::Name(name) = &left.kind
                    && name.starts_with(|c: char| c.is_ascii_lowercase())
                {
                    let ident = Ident { name: name.clone(), span: left.span };
                    return Ok(node(ExprKind::Name(ident), left.span));
                }
                let error = Diagnostic::error(self.span(), "expected a comparison")
                    .label(format!("found {}", self.peek().describe()))
                    .hint("a term alone is not a formula: write `X = True`, not `X`");
                self.errors.push(error);
                return Err(Failed);
            }
        };
        self.advance();
        let right = self.term()?;
        let span = left.span.to(right.span);
        Ok(node(ExprKind::Compare(cmp, left, right), span))
    }

    /// A term when a term is all there is before the comma, else a formula.
    fn argument(&mut self) -> Parsed<Arg> {
        let simple = match self.peek() {
            Tok::Lower(_) | Tok::Upper(_) | Tok::Proc(_) | Tok::Number(..) => {
                matches!(self.peek_second(), Tok::Op("," | ")" | "[" | "@" | "+" | "-"))
            }
            _ => false,
        };
        if !simple {
            return Ok(Arg::Expr(self.expr()?));
        }
        let left = self.term()?;
        if self.is_op(",") || self.is_op(")") {
            return Ok(Arg::Term(left));
        }
        let cmp = match self.advance().0 {
            Tok::Op("=") => Cmp::Eq,
            Tok::Op("<>") => Cmp::Ne,
            _ => return self.fail("`,` or `)` after an argument"),
        };
        let right = self.term()?;
        let span = left.span.to(right.span);
        Ok(Arg::Expr(node(ExprKind::Compare(cmp, left, right), span)))
    }

    pub(crate) fn term(&mut self) -> Parsed<Term> {
        let mut left = self.factor()?;
        let mut length = 0;
        while self.is_op("+") || self.is_op("-") {
            self.chain(&mut length)?;
            let minus = self.is_op("-");
            self.advance();
            let right = self.factor()?;
            let span = left.span.to(right.span);
            left = Term { kind: TermKind::Sum(Box::new(left), minus, Box::new(right)), span };
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Term> {
        let start = self.span();
        if self.eat("-") {
            let inner = self.primary()?;
            let span = start.to(inner.span);
            return Ok(Term { kind: TermKind::Scale(-1, Box::new(inner)), span });
        }
        let left = self.primary()?;
        if !self.eat("*") {
            return Ok(left);
        }
        let right = self.primary()?;
        let span = left.span.to(right.span);
        match (&left.kind, &right.kind) {
            (TermKind::Number { digits, denominator: 1, .. }, _) => {
                Ok(Term { kind: TermKind::Scale(*digits, Box::new(right)), span })
            }
            (_, TermKind::Number { digits, denominator: 1, .. }) => {
                Ok(Term { kind: TermKind::Scale(*digits, Box::new(left)), span })
            }
            _ => {
                self.errors.push(
                    Diagnostic::error(span, "only a product with an integer literal is linear")
                        .hint("one side of `*` must be an integer"),
                );
                Err(Failed)
            }
        }
    }

    fn primary(&mut self) -> Parsed<Term> {
        let (token, start) = (self.peek().clone(), self.span());
        let kind = match token {
            Tok::Number(digits, denominator, real) => {
                self.advance();
                TermKind::Number { digits, denominator, real }
            }
            Tok::Lower(_) | Tok::Proc(_) if matches!(self.peek_second(), Tok::Op("@")) => {
                let viewer = self.process()?;
                self.advance();
                let symbol = self.upper("a weak variable or array")?;
                let indices = self.indices()?;
                TermKind::View(viewer, symbol, indices)
            }
            Tok::Proc(n) => {
                self.advance();
                TermKind::ProcConst(n)
            }
            Tok::Lower(name) => {
                self.advance();
                TermKind::Name(name)
            }
            Tok::Upper(name) => {
                let span = self.advance().1;
                let indices = self.indices()?;
                if indices.is_empty() {
                    TermKind::Name(name)
                } else {
                    TermKind::Cell(Ident { name, span }, indices)
                }
            }
            _ => return self.fail("a term"),
        };
        Ok(Term { kind, span: start.to(self.previous()) })
    }
}
