//! Statements.

use super::{Entity, FunctionContext, Parser, Res, fail};
use crate::ast::{Block, Expr, ExprKind, LabelId, Stmt, StmtKind};
use crate::intern::Symbol;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::Ty;
use fencepost_diag::Span;

/// An open `switch`.
pub struct SwitchContext {
    /// Cases so far.
    pub cases: Vec<(i64, i64, LabelId)>,
    /// Their values, from the first to the last of each range.
    pub ranges: std::collections::BTreeMap<i64, i64>,
    /// The default label.
    pub default: Option<LabelId>,
    /// The type of the value, after promotion.
    pub ty: Ty,
}

/// The symbol of labels without a name: `case` and `default`.
const NAMELESS: Symbol = Symbol(0);

impl Parser<'_> {
    pub(crate) fn context(&mut self, span: Span) -> Res<&mut FunctionContext> {
        match self.function.as_mut() {
            Some(function) => Ok(function),
            None => fail(span, "a statement outside a function"),
        }
    }

    /// A declaration or a statement of a block.
    pub(super) fn block_item(&mut self, stmts: &mut Vec<Stmt>) -> Res<()> {
        if self.peek().kind == TokenKind::Eof {
            return fail(self.last_span(), "a block is never closed: the file ends before its `}`");
        }
        if self.is_keyword(Keyword::StaticAssert) {
            return self.static_assert();
        }
        if self.is_keyword(Keyword::Label) {
            while !self.eat(Punct::Semi) {
                if self.advance().kind == TokenKind::Eof {
                    return fail(self.last_span(), "expected `;`");
                }
            }
            return Ok(());
        }
        if self.is_bracket_attribute() {
            self.attributes()?;
        }
        let label = self.peek_at(1).is(Punct::Colon);
        if self.starts_type() && !label && !self.is_statement_attribute() {
            return self.block_declaration(stmts);
        }
        let stmt = self.statement()?;
        stmts.push(stmt);
        Ok(())
    }

    /// `__attribute__((fallthrough));`
    fn is_statement_attribute(&self) -> bool {
        matches!(self.keyword(), Some(Keyword::Attribute | Keyword::Attribute2)) && {
            let mut depth = 0i32;
            let mut ahead = 1;
            loop {
                let token = self.peek_at(ahead);
                depth += i32::from(token.is(Punct::LParen)) - i32::from(token.is(Punct::RParen));
                ahead += 1;
                if token.kind == TokenKind::Eof {
                    break false;
                }
                if depth == 0 {
                    break self.peek_at(ahead).is(Punct::Semi);
                }
            }
        }
    }

    /// A block from its `{` on; opens a scope.
    pub(super) fn block(&mut self) -> Res<Block> {
        self.expect(Punct::LBrace, "to open a block")?;
        self.open_block()?;
        let mut stmts = Vec::new();
        while !self.is(Punct::RBrace) {
            let mark = self.mark();
            if let Err(error) = self.block_item(&mut stmts) {
                self.recover(&mark, error)?;
            }
        }
        let end = self.advance().span;
        Ok(self.close_block(stmts, end))
    }

    pub(super) fn open_block(&mut self) -> Res<()> {
        self.scopes.enter();
        let span = self.peek().span;
        self.context(span)?.blocks.push(Vec::new());
        Ok(())
    }

    pub(super) fn close_block(&mut self, stmts: Vec<Stmt>, end: Span) -> Block {
        self.scopes.leave();
        let locals = self.function.as_mut().and_then(|f| f.blocks.pop()).unwrap_or_default();
        Block { locals, stmts, end }
    }

    pub(super) fn statement(&mut self) -> Res<Stmt> {
        self.nested(|p| {
            p.attributes()?;
            let start = p.peek().span;
            let kind = p.statement_kind()?;
            Ok(Stmt { kind, span: start.to(p.last_span()) })
        })
    }

    fn statement_kind(&mut self) -> Res<StmtKind> {
        let token = self.peek();
        if token.is(Punct::LBrace) {
            return Ok(StmtKind::Block(self.block()?));
        }
        if self.eat(Punct::Semi) {
            return Ok(StmtKind::Expr(None));
        }
        let Some(keyword) = self.keyword() else {
            if token.kind == TokenKind::Ident && self.peek_at(1).is(Punct::Colon) {
                return self.named_label();
            }
            return self.expression_statement();
        };
        match keyword {
            Keyword::If => self.if_statement(),
            Keyword::While => self.while_statement(),
            Keyword::Do => self.do_statement(),
            Keyword::For => self.for_statement(),
            Keyword::Switch => self.switch_statement(),
            Keyword::Case => self.case_label(),
            Keyword::Default => self.default_label(),
            Keyword::Goto => self.goto_statement(),
            Keyword::Break | Keyword::Continue => self.jump_statement(keyword),
            Keyword::Return => self.return_statement(),
            Keyword::Asm | Keyword::Asm2 | Keyword::Asm3 => self.asm_statement(),
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> Res<StmtKind> {
        let expr = self.expression()?;
        self.expect(Punct::Semi, "after the expression")?;
        Ok(StmtKind::Expr(Some(self.discarded(expr)?)))
    }

    /// A parenthesised condition.
    fn condition(&mut self, after: &str) -> Res<Expr> {
        self.expect(Punct::LParen, after)?;
        let expr = self.expression()?;
        self.expect(Punct::RParen, "after the condition")?;
        self.scalar_condition(expr)
    }

    fn if_statement(&mut self) -> Res<StmtKind> {
        self.at += 1;
        let condition = self.condition("after `if`")?;
        let then = Box::new(self.statement()?);
        let otherwise = match self.eat_keyword(Keyword::Else) {
            true => Some(Box::new(self.statement()?)),
            false => None,
        };
        // `if (c) ; else __assert_fail(...);` is how the C library's header writes an assertion.
        if let (StmtKind::Expr(None), Some(StmtKind::Expr(Some(failing)))) =
            (&then.kind, otherwise.as_ref().map(|s| &s.kind))
            && let Some(message) = self.failed_assertion(failing)
        {
            return Ok(StmtKind::Expr(Some(self.assertion(condition, message))));
        }
        Ok(StmtKind::If(condition, then, otherwise))
    }

    /// The body of a loop.
    fn loop_body(&mut self) -> Res<Box<Stmt>> {
        let span = self.peek().span;
        let context = self.context(span)?;
        context.breakable += 1;
        context.loops += 1;
        let body = self.statement()?;
        let context = self.context(span)?;
        context.breakable -= 1;
        context.loops -= 1;
        Ok(Box::new(body))
    }

    fn while_statement(&mut self) -> Res<StmtKind> {
        self.at += 1;
        let condition = self.condition("after `while`")?;
        Ok(StmtKind::While(condition, self.loop_body()?))
    }

    fn do_statement(&mut self) -> Res<StmtKind> {
        self.at += 1;
        let body = self.loop_body()?;
        if !self.eat_keyword(Keyword::While) {
            return fail(self.peek().span, "expected `while` after the body of `do`");
        }
        let condition = self.condition("after `while`")?;
        self.expect(Punct::Semi, "after `do ... while (...)`")?;
        Ok(StmtKind::DoWhile(body, condition))
    }

    fn for_statement(&mut self) -> Res<StmtKind> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `for`")?;
        self.open_block()?;
        let mut stmts = Vec::new();
        if self.starts_type() {
            self.block_declaration(&mut stmts)?;
        } else if !self.eat(Punct::Semi) {
            let span = self.peek().span;
            let kind = self.expression_statement()?;
            stmts.push(Stmt { kind, span: span.to(self.last_span()) });
        }
        let condition = if self.is(Punct::Semi) {
            None
        } else {
            let expr = self.expression()?;
            Some(self.scalar_condition(expr)?)
        };
        self.expect(Punct::Semi, "after the condition of `for`")?;
        let step = if self.is(Punct::RParen) {
            None
        } else {
            let expr = self.expression()?;
            Some(self.discarded(expr)?)
        };
        self.expect(Punct::RParen, "after the head of `for`")?;
        let body = self.loop_body()?;
        let span = start.to(self.last_span());
        stmts.push(Stmt { kind: StmtKind::For(condition, step, body), span });
        Ok(StmtKind::Block(self.close_block(stmts, Span { start: span.end, end: span.end })))
    }

    fn switch_statement(&mut self) -> Res<StmtKind> {
        let span = self.advance().span;
        self.expect(Punct::LParen, "after `switch`")?;
        let value = self.expression()?;
        self.expect(Punct::RParen, "after the value of `switch`")?;
        let value = self.rvalue(value)?;
        if !self.unit.types.is_integer(value.ty.ty) {
            return fail(value.span, format!("`switch` needs an integer, this is `{}`", self.show(value.ty)));
        }
        let value = self.promote(value);
        let ty = value.ty.ty;
        let context = self.context(span)?;
        context.switches.push(SwitchContext {
            cases: Vec::new(),
            ranges: Default::default(),
            default: None,
            ty,
        });
        context.breakable += 1;
        let body = Box::new(self.statement()?);
        let context = self.context(span)?;
        context.breakable -= 1;
        let Some(open) = context.switches.pop() else { return fail(span, "`switch` lost its cases") };
        Ok(StmtKind::Switch { value, cases: open.cases, default: open.default, body })
    }

    fn new_label(&mut self, name: Symbol, defined: bool, span: Span) -> Res<LabelId> {
        let labels = &mut self.context(span)?.labels;
        labels.push((name, defined, span));
        Ok(LabelId(labels.len() as u32 - 1))
    }

    /// A label that only the parser knows.
    pub(crate) fn nameless_label(&mut self, span: Span) -> Res<LabelId> {
        self.new_label(NAMELESS, true, span)
    }

    /// What follows a label: a statement, or (as GNU C and C23 have it) a declaration or the end of the block.
    fn labelled(&mut self, label: LabelId) -> Res<StmtKind> {
        if self.is(Punct::RBrace) || (self.starts_type() && !self.peek_at(1).is(Punct::Colon)) {
            let span = self.last_span();
            let empty = Stmt { kind: StmtKind::Expr(None), span };
            return Ok(StmtKind::Label(label, Box::new(empty)));
        }
        Ok(StmtKind::Label(label, Box::new(self.statement()?)))
    }

    fn case_label(&mut self) -> Res<StmtKind> {
        let span = self.advance().span;
        let (first, _) = self.constant_integer("the value of a case")?;
        let last = match self.eat(Punct::Ellipsis) {
            true => self.constant_integer("the value of a case")?.0,
            false => first,
        };
        let span = span.to(self.last_span());
        self.expect(Punct::Colon, "after the case")?;
        let label = self.new_label(NAMELESS, true, span)?;
        let Some(ty) = self.context(span)?.switches.last().map(|s| s.ty) else {
            return fail(span, "`case` outside `switch`");
        };
        let (first, last) = (self.wrap(first as u64, ty) as i64, self.wrap(last as u64, ty) as i64);
        if let Some(open) = self.context(span)?.switches.last_mut() {
            if open.ranges.range(..=last).next_back().is_some_and(|(_, end)| first <= *end) {
                return fail(span, format!("the case {first} occurs twice"));
            }
            open.ranges.insert(first, last);
            open.cases.push((first, last, label));
        }
        self.labelled(label)
    }

    fn default_label(&mut self) -> Res<StmtKind> {
        let span = self.advance().span;
        self.expect(Punct::Colon, "after `default`")?;
        let label = self.new_label(NAMELESS, true, span)?;
        match self.context(span)?.switches.last_mut() {
            None => return fail(span, "`default` outside `switch`"),
            Some(open) if open.default.is_some() => {
                return fail(span, "two `default` labels in one `switch`");
            }
            Some(open) => open.default = Some(label),
        }
        self.labelled(label)
    }

    fn label_named(&mut self, name: Symbol, span: Span) -> Res<LabelId> {
        if let Some(label) = self.context(span)?.label_numbers.get(&name) {
            return Ok(*label);
        }
        let label = self.new_label(name, false, span)?;
        self.context(span)?.label_numbers.insert(name, label);
        Ok(label)
    }

    /// `&&label`: the labels of a function whose addresses are taken are the bytes of an object.
    pub(super) fn label_value(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        let (name, at) = self.identifier("the label after `&&`")?;
        let span = start.to(at);
        let label = self.label_named(name, at)?;
        let object = match self.context(span)?.label_values.1 {
            Some(object) => object,
            None => {
                let function = self.context(span)?.name;
                let name = format!("{}.labels", self.name(function));
                // Its size is known at the end of the function.
                let bytes = self.unit.types.array(Ty::CHAR.into(), None);
                self.new_global(name, bytes.into(), false, false, span)
            }
        };
        let values = &mut self.context(span)?.label_values;
        values.1 = Some(object);
        let index = values.0.iter().position(|known| *known == label).unwrap_or_else(|| {
            values.0.push(label);
            values.0.len() - 1
        });
        let place = Expr { kind: ExprKind::Global(object), ty: Ty::CHAR.into(), span };
        let pointer = self.unit.types.pointer(Ty::CHAR);
        let base = Expr { kind: ExprKind::AddrOf(Box::new(place)), ty: pointer.into(), span };
        let index = super::int_expr(index as u64, Ty::LONG, span);
        let kind = ExprKind::PtrAdd(Box::new(base), Box::new(index), 1);
        let value = Expr { kind, ty: pointer.into(), span };
        Ok(self.cast_to(value, Ty::VOIDP))
    }

    fn named_label(&mut self) -> Res<StmtKind> {
        let (name, span) = self.identifier("a label")?;
        self.at += 1;
        self.attributes()?;
        let label = self.label_named(name, span)?;
        let entry = &mut self.context(span)?.labels[label.0 as usize];
        if std::mem::replace(&mut entry.1, true) {
            return fail(span, format!("the label `{}` is defined twice", self.name(name)));
        }
        self.labelled(label)
    }

    fn goto_statement(&mut self) -> Res<StmtKind> {
        self.at += 1;
        if self.is(Punct::Star) {
            self.at += 1;
            let target = self.expression()?;
            self.expect(Punct::Semi, "after `goto`")?;
            let target = self.rvalue(target)?;
            if !self.unit.types.is_pointer(target.ty.ty) {
                let message = format!("`goto *` needs a pointer, this is `{}`", self.show(target.ty));
                return fail(target.span, message);
            }
            return Ok(StmtKind::GotoValue(target));
        }
        let (name, at) = self.identifier("the label of `goto`")?;
        self.expect(Punct::Semi, "after `goto`")?;
        Ok(StmtKind::Goto(self.label_named(name, at)?))
    }

    fn jump_statement(&mut self, keyword: Keyword) -> Res<StmtKind> {
        let span = self.advance().span;
        self.expect(Punct::Semi, "after the statement")?;
        let context = self.context(span)?;
        match keyword {
            Keyword::Break if context.breakable == 0 => fail(span, "`break` outside a loop or `switch`"),
            Keyword::Continue if context.loops == 0 => fail(span, "`continue` outside a loop"),
            Keyword::Break => Ok(StmtKind::Break),
            _ => Ok(StmtKind::Continue),
        }
    }

    fn return_statement(&mut self) -> Res<StmtKind> {
        let span = self.advance().span;
        let result = self.context(span)?.result;
        if self.eat(Punct::Semi) {
            return Ok(StmtKind::Return(None));
        }
        let expr = self.expression()?;
        self.expect(Punct::Semi, "after `return`")?;
        if result.ty == Ty::VOID {
            let expr = self.rvalue(expr)?;
            if expr.ty.ty != Ty::VOID {
                return fail(expr.span, "a function that returns `void` returns a value here");
            }
            return Ok(StmtKind::Return(Some(expr)));
        }
        Ok(StmtKind::Return(Some(self.assign_convert(expr, result, "returned")?)))
    }

    /// What a name refers to, for callers outside this module.
    pub(super) fn entity(&self, symbol: Symbol) -> Entity {
        self.scopes.lookup(symbol)
    }
}
