//! `#if` and its kin, and the integer expressions they test (C11 6.10.1): all arithmetic in 64 bits.

use super::{Condition, Preprocessor, end_of_input};
use crate::literal;
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, Span};

/// Parentheses and operators nested deeper than this are an error.
const MAX_DEPTH: usize = 200;

impl Preprocessor<'_> {
    pub(super) fn conditional(&mut self, word: &str, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let skipping = self.skipping();
        match word {
            "if" | "ifdef" | "ifndef" => {
                let active = !skipping && self.test(word, span, rest)?;
                let done = skipping || active;
                self.push_condition(Condition { span, active, done, else_seen: false });
            }
            "endif" => {
                if self.files.last_mut().and_then(|f| f.conditions.pop()).is_none() {
                    return Err(stray(word, span));
                }
            }
            _ => {
                let Some(open) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) else {
                    return Err(stray(word, span));
                };
                if open.else_seen {
                    return Err(Diagnostic::error(span, format!("`#{word}` after `#else`")));
                }
                let (done, is_else) = (open.done, word == "else");
                open.else_seen = is_else;
                open.active = false;
                let question = match word {
                    "elifdef" => "ifdef",
                    "elifndef" => "ifndef",
                    _ => "if",
                };
                let take = !done && (is_else || self.test(question, span, rest)?);
                if let Some(open) = self.files.last_mut().and_then(|f| f.conditions.last_mut()) {
                    open.active = take;
                    open.done |= take;
                }
            }
        }
        Ok(())
    }

    fn push_condition(&mut self, condition: Condition) {
        if let Some(file) = self.files.last_mut() {
            file.conditions.push(condition);
        }
    }

    fn test(&mut self, word: &str, span: Span, rest: &[Token]) -> Result<bool, Diagnostic> {
        if word == "if" {
            return self.evaluate(span, rest);
        }
        match rest.first() {
            Some(name) if name.kind == TokenKind::Ident => {
                Ok(self.is_defined(name.symbol) == (word == "ifdef"))
            }
            _ => Err(Diagnostic::error(span, format!("`#{word}` needs the name of a macro"))),
        }
    }

    fn is_has_include_next(&self, token: &Token) -> bool {
        self.interner.text(token.symbol) == "__has_include_next"
    }

    /// `__has_include(<name>)` or `__has_include("name")`, from the parenthesis on.
    fn has_header(&mut self, tokens: &[Token]) -> bool {
        let (name, quoted) = match tokens.get(1) {
            Some(t) if t.kind == TokenKind::Str => {
                (self.interner.text(t.symbol).trim_matches('"').to_string(), true)
            }
            Some(t) if t.is(Punct::Lt) => {
                let end = tokens.iter().position(|t| t.is(Punct::Gt)).unwrap_or(tokens.len());
                (self.spell(&tokens[2.min(end)..end]), false)
            }
            _ => return false,
        };
        self.find(&name, quoted, false).is_some()
    }

    fn evaluate(&mut self, span: Span, rest: &[Token]) -> Result<bool, Diagnostic> {
        let resolved = self.resolve_defined(span, rest)?;
        let expanded = self.expand_alone(&resolved)?;
        // A macro may stand for a question, too.
        let tokens = self.resolve_defined(span, &expanded)?;
        let mut evaluator = Evaluator { pp: self, tokens: &tokens, at: 0, span, depth: 0 };
        let value = evaluator.ternary()?;
        match evaluator.tokens.get(evaluator.at) {
            Some(extra) => Err(Diagnostic::error(extra.span, "unexpected token in the condition")),
            None => Ok(value.bits != 0),
        }
    }

    /// `defined X` and `__has_include(...)` become 0 or 1 before anything is expanded.
    fn resolve_defined(&mut self, span: Span, tokens: &[Token]) -> Result<Vec<Token>, Diagnostic> {
        let (zero, one) = (self.interner.intern("0"), self.interner.intern("1"));
        let number = |value: bool| Token {
            kind: TokenKind::Number,
            symbol: if value { one } else { zero },
            ..end_of_input(span)
        };
        let mut out = Vec::with_capacity(tokens.len());
        let mut rest = tokens.iter();
        while let Some(token) = rest.next() {
            if token.kind != TokenKind::Ident {
                out.push(*token);
            } else if token.symbol == self.words.defined {
                let mut name = rest.next();
                let paren = name.is_some_and(|t| t.is(Punct::LParen));
                if paren {
                    name = rest.next();
                }
                let Some(name) = name.filter(|t| t.kind == TokenKind::Ident) else {
                    return Err(Diagnostic::error(token.span, "`defined` needs the name of a macro"));
                };
                out.push(number(self.is_defined(name.symbol)));
                if paren && !rest.next().is_some_and(|t| t.is(Punct::RParen)) {
                    return Err(Diagnostic::error(token.span, "missing `)` after `defined(`"));
                }
            } else if token.symbol == self.words.has_include || self.is_has_include_next(token) {
                let inside: Vec<Token> =
                    rest.by_ref().take_while(|t| !t.is(Punct::RParen)).copied().collect();
                out.push(number(self.has_header(&inside)));
            } else if token.symbol == self.words.has_builtin {
                let inside: Vec<Token> =
                    rest.by_ref().take_while(|t| !t.is(Punct::RParen)).copied().collect();
                let known = inside.last().is_some_and(|t| is_builtin(self.interner.text(t.symbol)));
                out.push(number(known));
            } else if self.interner.text(token.symbol).starts_with("__has_") {
                // Questions about another compiler: the answer here is no, whatever stands in the parentheses.
                let mut depth = 0i32;
                for t in rest.by_ref() {
                    depth += i32::from(t.is(Punct::LParen)) - i32::from(t.is(Punct::RParen));
                    if depth <= 0 {
                        break;
                    }
                }
                out.push(number(false));
            } else {
                out.push(*token);
            }
        }
        Ok(out)
    }
}

/// What `__has_builtin` says yes to.
fn is_builtin(name: &str) -> bool {
    let known = ["__atomic_", "__sync_", "__c11_atomic_"].iter().any(|prefix| name.starts_with(prefix));
    known || crate::sema::is_builtin(name)
}

fn stray(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("`#{word}` without `#if`"))
}

#[derive(Clone, Copy)]
struct Number {
    bits: u64,
    unsigned: bool,
}

struct Evaluator<'p, 'a, 't> {
    pp: &'p Preprocessor<'a>,
    tokens: &'t [Token],
    at: usize,
    span: Span,
    depth: usize,
}

impl Evaluator<'_, '_, '_> {
    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(punct));
        self.at += usize::from(found);
        found
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.span, |t| t.span)
    }

    fn ternary(&mut self) -> Result<Number, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span, "the condition is nested too deeply"));
        }
        let condition = self.binary(0)?;
        let value = if self.eat(Punct::Question) {
            let then = self.ternary()?;
            if !self.eat(Punct::Colon) {
                return Err(Diagnostic::error(self.here(), "expected `:` in the condition"));
            }
            let otherwise = self.ternary()?;
            if condition.bits != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, minimum: u8) -> Result<Number, Diagnostic> {
        let mut left = self.unary()?;
        while let Some((op, level)) = self.tokens.get(self.at).and_then(operator) {
            if level < minimum {
                break;
            }
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = self.apply(op, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Number, Diagnostic> {
        let signed = |bits: u64| Number { bits, unsigned: false };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span, "the condition is nested too deeply"));
        }
        let value = if self.eat(Punct::Bang) {
            signed(u64::from(self.unary()?.bits == 0))
        } else if self.eat(Punct::Minus) {
            let value = self.unary()?;
            Number { bits: value.bits.wrapping_neg(), ..value }
        } else if self.eat(Punct::Plus) {
            self.unary()?
        } else if self.eat(Punct::Tilde) {
            let value = self.unary()?;
            Number { bits: !value.bits, ..value }
        } else if self.eat(Punct::LParen) {
            let value = self.ternary()?;
            if !self.eat(Punct::RParen) {
                return Err(Diagnostic::error(self.here(), "missing `)` in the condition"));
            }
            value
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn primary(&mut self) -> Result<Number, Diagnostic> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(Diagnostic::error(self.span, "the condition ends too early"));
        };
        self.at += 1;
        let text = self.pp.interner.text(token.symbol);
        let not_integer = || Diagnostic::error(token.span, "this is no integer").hint("`#if` needs integers");
        match token.kind {
            TokenKind::Number => {
                let number = literal::integer(text).ok_or_else(not_integer)?;
                Ok(Number { bits: number.bits, unsigned: number.unsigned })
            }
            TokenKind::Char => {
                let value = literal::character(text).ok_or_else(not_integer)?;
                Ok(Number { bits: value as u64, unsigned: false })
            }
            TokenKind::Ident => Ok(Number { bits: 0, unsigned: false }),
            _ => Err(not_integer()),
        }
    }

    fn apply(&self, op: Punct, a: Number, b: Number) -> Result<Number, Diagnostic> {
        let unsigned = a.unsigned || b.unsigned;
        let (sa, sb) = (a.bits as i64, b.bits as i64);
        let truth = |t: bool| Ok(Number { bits: u64::from(t), unsigned: false });
        let less = if unsigned { a.bits < b.bits } else { sa < sb };
        if matches!(op, Punct::Slash | Punct::Percent) && b.bits == 0 {
            return Err(Diagnostic::error(self.span, "division by zero in the condition"));
        }
        let bits = match op {
            Punct::OrOr => return truth(a.bits != 0 || b.bits != 0),
            Punct::AndAnd => return truth(a.bits != 0 && b.bits != 0),
            Punct::EqEq => return truth(a.bits == b.bits),
            Punct::Ne => return truth(a.bits != b.bits),
            Punct::Lt => return truth(less),
            Punct::Ge => return truth(!less),
            Punct::Le => return truth(less || a.bits == b.bits),
            Punct::Gt => return truth(!less && a.bits != b.bits),
            Punct::Pipe => a.bits | b.bits,
            Punct::Caret => a.bits ^ b.bits,
            Punct::Amp => a.bits & b.bits,
            Punct::Shl => a.bits.wrapping_shl(b.bits as u32),
            Punct::Shr if unsigned => a.bits.wrapping_shr(b.bits as u32),
            Punct::Shr => sa.wrapping_shr(b.bits as u32) as u64,
            Punct::Plus => a.bits.wrapping_add(b.bits),
            Punct::Minus => a.bits.wrapping_sub(b.bits),
            Punct::Star => a.bits.wrapping_mul(b.bits),
            Punct::Slash if unsigned => a.bits / b.bits,
            Punct::Slash => sa.wrapping_div(sb) as u64,
            Punct::Percent if unsigned => a.bits % b.bits,
            _ => sa.wrapping_rem(sb) as u64,
        };
        Ok(Number { bits, unsigned })
    }
}

/// A binary operator and its level; higher binds tighter.
fn operator(token: &Token) -> Option<(Punct, u8)> {
    let TokenKind::Punct(punct) = token.kind else { return None };
    let level = match punct {
        Punct::OrOr => 1,
        Punct::AndAnd => 2,
        Punct::Pipe => 3,
        Punct::Caret => 4,
        Punct::Amp => 5,
        Punct::EqEq | Punct::Ne => 6,
        Punct::Lt | Punct::Gt | Punct::Le | Punct::Ge => 7,
        Punct::Shl | Punct::Shr => 8,
        Punct::Plus | Punct::Minus => 9,
        Punct::Star | Punct::Slash | Punct::Percent => 10,
        _ => return None,
    };
    Some((punct, level))
}
