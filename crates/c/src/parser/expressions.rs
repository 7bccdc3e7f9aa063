//! Expressions: syntax here, typing in `sema`.

use super::{Entity, Parser, Res, fail, int_expr, unsupported};
use crate::ast::{ArithOp, Expr, ExprKind, PrefixOp, Stmt, StmtKind};
use crate::literal;
use crate::token::{Keyword, Punct, Token, TokenKind};
use crate::types::{QTy, Quals, Ty, TypeKind};
use fencepost_diag::Span;

/// More operators than this in a row are an error: the tree leans to the left and is walked recursively.
const MAX_CHAIN: usize = 400;

impl Parser<'_> {
    /// An expression, commas included.
    pub(crate) fn expression(&mut self) -> Res<Expr> {
        let mut left = self.assignment()?;
        let mut chain = 0;
        while self.eat(Punct::Comma) {
            self.check_chain(&mut chain)?;
            let right = self.assignment()?;
            let right = self.rvalue(right)?;
            let right = self.promote_bit_field(right);
            let left_value = self.discarded(left)?;
            let span = left_value.span.to(right.span);
            left = Expr { ty: right.ty, kind: ExprKind::Comma(Box::new(left_value), Box::new(right)), span };
        }
        Ok(left)
    }

    fn check_chain(&self, chain: &mut usize) -> Res<()> {
        *chain += 1;
        if *chain > MAX_CHAIN {
            return fail(self.peek().span, format!("more than {MAX_CHAIN} operators in a row"));
        }
        Ok(())
    }

    /// An assignment or anything that binds tighter.
    pub(crate) fn assignment(&mut self) -> Res<Expr> {
        let left = self.conditional()?;
        let TokenKind::Punct(punct) = self.peek().kind else { return Ok(left) };
        if punct == Punct::Assign {
            self.at += 1;
            let right = self.nested(|p| p.assignment())?;
            return self.assign(left, right);
        }
        let Some(op) = assignment_operator(punct) else { return Ok(left) };
        self.at += 1;
        let right = self.nested(|p| p.assignment())?;
        self.assign_op(op, left, right)
    }

    pub(crate) fn conditional(&mut self) -> Res<Expr> {
        let condition = self.binary(0)?;
        if !self.eat(Punct::Question) {
            return Ok(condition);
        }
        self.nested(|p| {
            if p.eat(Punct::Colon) {
                let otherwise = p.conditional()?;
                return p.elvis(condition, otherwise);
            }
            let then = p.expression()?;
            p.expect(Punct::Colon, "in `a ? b : c`")?;
            let otherwise = p.conditional()?;
            p.choose(condition, then, otherwise)
        })
    }

    fn binary(&mut self, minimum: u8) -> Res<Expr> {
        let mut left = self.cast()?;
        let mut chain = 0;
        while let Some((op, level)) = binary_operator(&self.peek()) {
            if level < minimum {
                break;
            }
            self.check_chain(&mut chain)?;
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = match op {
                Operator::Logical(and) => self.logical(and, left, right)?,
                Operator::Arith(op) => self.arith(op, left, right)?,
            };
        }
        Ok(left)
    }

    fn cast(&mut self) -> Res<Expr> {
        if !(self.is(Punct::LParen) && self.type_follows(1)) {
            return self.unary();
        }
        self.nested(|p| {
            let start = p.advance().span;
            let ty = p.type_name()?;
            p.expect(Punct::RParen, "after the type")?;
            if p.is(Punct::LBrace) {
                let literal = p.compound_literal(ty, start)?;
                return p.postfix(literal);
            }
            let operand = p.cast()?;
            let span = start.to(operand.span);
            p.explicit_cast(operand, QTy::plain(ty.ty), span)
        })
    }

    /// The token after the next `ahead` ones begins a type.
    fn type_follows(&mut self, ahead: usize) -> bool {
        self.at += ahead;
        let found = self.starts_type();
        self.at -= ahead;
        found
    }

    fn unary(&mut self) -> Res<Expr> {
        self.nested(|p| {
            let token = p.peek();
            if let TokenKind::Punct(punct) = token.kind {
                let prefix = matches!(
                    punct,
                    Punct::Amp
                        | Punct::Star
                        | Punct::Plus
                        | Punct::Minus
                        | Punct::Tilde
                        | Punct::Bang
                        | Punct::Inc
                        | Punct::Dec
                );
                if prefix {
                    p.at += 1;
                    return p.prefix(punct, token.span);
                }
                if punct == Punct::AndAnd {
                    return p.label_value();
                }
            }
            match p.keyword() {
                Some(Keyword::Sizeof) => p.sizeof(),
                Some(Keyword::Alignof | Keyword::Alignof2 | Keyword::Alignof3) => p.alignof(),
                Some(Keyword::Extension) => {
                    p.at += 1;
                    p.cast()
                }
                _ => {
                    let primary = p.primary()?;
                    p.postfix(primary)
                }
            }
        })
    }

    fn prefix(&mut self, punct: Punct, start: Span) -> Res<Expr> {
        let operand = match punct {
            Punct::Inc | Punct::Dec => self.unary()?,
            _ => self.cast()?,
        };
        let span = start.to(operand.span);
        match punct {
            Punct::Amp => self.address_of(operand, span),
            Punct::Star => self.dereference(operand, span),
            Punct::Plus => {
                let value = self.arithmetic_operand(operand, "+")?;
                Ok(self.promote(value))
            }
            Punct::Minus => self.prefix_op(PrefixOp::Neg, operand, span),
            Punct::Tilde => self.prefix_op(PrefixOp::BitNot, operand, span),
            Punct::Bang => self.prefix_op(PrefixOp::Not, operand, span),
            _ => {
                let one = int_expr(1, Ty::INT, span);
                let op = if punct == Punct::Inc { ArithOp::Add } else { ArithOp::Sub };
                let mut result = self.assign_op(op, operand, one)?;
                result.span = span;
                Ok(result)
            }
        }
    }

    fn sizeof(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        let ty = if self.is(Punct::LParen) && self.type_follows(1) {
            self.at += 1;
            let ty = self.type_name()?;
            self.expect(Punct::RParen, "after the type")?;
            if self.is(Punct::LBrace) {
                let literal = self.compound_literal(ty, start)?;
                self.postfix(literal)?.ty
            } else {
                ty
            }
        } else {
            let operand = self.unary()?;
            if let ExprKind::Member(_, _, Some(_)) = operand.kind {
                return fail(operand.span, "a bit-field has no size");
            }
            if let Some(size) = self.variable_size(&operand)? {
                return Ok(size);
            }
            operand.ty
        };
        let span = start.to(self.last_span());
        // GNU C: `sizeof(void)` and the size of a function are 1.
        let size = match self.unit.types.kind(ty.ty) {
            TypeKind::Void | TypeKind::Function { .. } => Some(1),
            _ => self.unit.types.size(ty.ty),
        };
        match size {
            Some(size) => Ok(int_expr(size, Ty::ULONG, span)),
            None => fail(span, format!("the size of the incomplete type `{}` is not known", self.show(ty))),
        }
    }

    fn alignof(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `_Alignof`")?;
        let ty = if self.starts_type() { self.type_name()? } else { self.expression()?.ty };
        let end = self.expect(Punct::RParen, "after the type")?;
        Ok(int_expr(self.unit.types.align(ty.ty), Ty::ULONG, start.to(end)))
    }

    fn postfix(&mut self, mut expr: Expr) -> Res<Expr> {
        let mut chain = 0;
        loop {
            let token = self.peek();
            let TokenKind::Punct(punct) = token.kind else { return Ok(expr) };
            match punct {
                Punct::LBracket => {
                    self.at += 1;
                    let index = self.expression()?;
                    let end = self.expect(Punct::RBracket, "after the index")?;
                    let span = expr.span.to(end);
                    expr = self.index(expr, index, span)?;
                }
                Punct::LParen => {
                    self.at += 1;
                    let args = self.call_arguments()?;
                    let span = expr.span.to(self.last_span());
                    expr = self.call(expr, args, span)?;
                }
                Punct::Dot | Punct::Arrow => {
                    self.at += 1;
                    let (name, at) = self.identifier("the name of a member")?;
                    let span = expr.span.to(at);
                    if punct == Punct::Arrow {
                        expr = self.dereference(expr, span)?;
                    }
                    expr = self.member(expr, name, span)?;
                }
                Punct::Inc | Punct::Dec => {
                    self.at += 1;
                    let span = expr.span.to(token.span);
                    expr = self.post_step(expr, if punct == Punct::Inc { 1 } else { -1 }, span)?;
                }
                _ => return Ok(expr),
            }
            self.check_chain(&mut chain)?;
        }
    }

    /// After `(`, up to and with `)`.
    pub(super) fn call_arguments(&mut self) -> Res<Vec<Expr>> {
        let mut args = Vec::new();
        if self.eat(Punct::RParen) {
            return Ok(args);
        }
        loop {
            args.push(self.assignment()?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen, "after the arguments")?;
        Ok(args)
    }

    fn primary(&mut self) -> Res<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Number => {
                self.at += 1;
                self.number(&token)
            }
            TokenKind::Char => {
                self.at += 1;
                let text = self.interner.text(token.symbol);
                let (value, ty) = match literal::wide_type(text) {
                    Some(ty) => (literal::wide(text, ty).and_then(|c| c.last().copied()).map(i64::from), ty),
                    None => (literal::character(text), Ty::INT),
                };
                match value {
                    Some(value) => Ok(int_expr(value as u64, ty, token.span)),
                    None => fail(token.span, "this character constant is empty or malformed"),
                }
            }
            TokenKind::Str => self.string(),
            TokenKind::Punct(Punct::LParen) if self.peek_at(1).is(Punct::LBrace) => {
                self.statement_expression()
            }
            TokenKind::Punct(Punct::LParen) => {
                self.at += 1;
                let mut inner = self.expression()?;
                let end = self.expect(Punct::RParen, "to close the parenthesis")?;
                inner.span = token.span.to(end);
                Ok(inner)
            }
            TokenKind::Ident => self.identifier_expression(token),
            _ => fail(token.span, format!("expected an expression, found {}", self.describe(&token))),
        }
    }

    fn identifier_expression(&mut self, token: Token) -> Res<Expr> {
        match Keyword::of(token.symbol) {
            Some(Keyword::Generic) => return self.generic(),
            Some(Keyword::Offsetof) => return self.offsetof(),
            Some(Keyword::TypesCompatible) => return self.types_compatible(),
            Some(Keyword::ChooseExpr) => return self.choose_expression(),
            Some(Keyword::VaArg) => return self.va_arg(),
            Some(Keyword::Func | Keyword::Function | Keyword::PrettyFunction) => {
                self.at += 1;
                let name = self.function.as_ref().map_or(String::new(), |f| self.name(f.name));
                return self.string_object(name.into_bytes(), token.span);
            }
            Some(_) => {
                return fail(token.span, format!("expected an expression, found {}", self.describe(&token)));
            }
            None => {}
        }
        self.at += 1;
        let (kind, ty) = match self.entity(token.symbol) {
            Entity::Local(id) => {
                let ty = self.function.as_ref().map_or(Ty::INT.into(), |f| f.locals[id.0 as usize].ty);
                (ExprKind::Local(id), ty)
            }
            Entity::Global(id) => (ExprKind::Global(id), self.unit.globals[id.0 as usize].ty),
            Entity::Function(id) => {
                let function = &mut self.unit.functions[id.0 as usize];
                function.used.get_or_insert(token.span);
                (ExprKind::Function(id), function.ty.into())
            }
            Entity::VariableArray(pointer) => return self.variable_array(pointer, token.span),
            Entity::Constant(value, ty) => (ExprKind::Int(value), ty.into()),
            Entity::Typedef(_) => {
                return fail(token.span, format!("`{}` is a type, not a value", self.name(token.symbol)));
            }
            Entity::Unknown if self.is(Punct::LParen) => {
                self.at += 1;
                return self.unknown_call(token.symbol, token.span);
            }
            Entity::Unknown => return self.undeclared(token.symbol, token.span),
        };
        Ok(Expr { kind, ty, span: token.span })
    }

    fn number(&mut self, token: &Token) -> Res<Expr> {
        let text = self.interner.text(token.symbol);
        if let Some(number) = literal::integer(text) {
            let candidates: &[Ty] = match (number.unsigned, number.long, number.based) {
                (true, false, true) | (true, false, false) if number.bits <= u64::from(u32::MAX) => {
                    &[Ty::UINT]
                }
                (true, ..) => &[Ty::ULONG],
                (false, true, _) => &[Ty::LONG],
                (false, false, true) => &[Ty::INT, Ty::UINT, Ty::LONG],
                (false, false, false) => &[Ty::INT, Ty::LONG],
            };
            let fits = |ty: &&Ty| match **ty {
                Ty::INT => number.bits <= i32::MAX as u64,
                Ty::UINT => number.bits <= u64::from(u32::MAX),
                _ => true,
            };
            let ty = candidates.iter().find(fits).copied().unwrap_or(Ty::ULONG);
            return Ok(int_expr(number.bits, ty, token.span));
        }
        match literal::floating(text) {
            Some((value, single)) => {
                let (value, ty) =
                    if single { (f64::from(value as f32), Ty::FLOAT) } else { (value, Ty::DOUBLE) };
                Ok(Expr { kind: ExprKind::Float(value), ty: ty.into(), span: token.span })
            }
            None => fail(token.span, format!("`{text}` is not a number of C")),
        }
    }

    fn string(&mut self) -> Res<Expr> {
        let start = self.peek().span;
        if let Some(ty) = self.wide_string_follows() {
            let characters = self.wide_characters(ty)?;
            return Ok(self.wide_string(characters, ty, start.to(self.last_span())));
        }
        let mut bytes = Vec::new();
        while self.peek().kind == TokenKind::Str {
            let token = self.advance();
            match literal::string(self.interner.text(token.symbol)) {
                Some(part) => bytes.extend(part),
                None => {
                    return unsupported(token.span, "a malformed string", "use plain strings and escapes");
                }
            }
        }
        self.string_object(bytes, start.to(self.last_span()))
    }

    /// The type of the characters of the strings that follow, if one of them is wide.
    pub(crate) fn wide_string_follows(&self) -> Option<Ty> {
        let strings = (0..).map(|ahead| self.peek_at(ahead)).take_while(|token| token.kind == TokenKind::Str);
        strings.filter_map(|token| literal::wide_type(self.interner.text(token.symbol))).next()
    }

    /// The characters of the strings that follow, without the final zero.
    pub(crate) fn wide_characters(&mut self, ty: Ty) -> Res<Vec<u32>> {
        let mut characters = Vec::new();
        while self.peek().kind == TokenKind::Str {
            let token = self.advance();
            match literal::wide(self.interner.text(token.symbol), ty) {
                Some(part) => characters.extend(part),
                None => {
                    return unsupported(token.span, "a malformed string", "use plain strings and escapes");
                }
            }
        }
        Ok(characters)
    }

    /// A place that holds a string of wide characters.
    fn wide_string(&mut self, characters: Vec<u32>, of: Ty, span: Span) -> Expr {
        let array = self.unit.types.array(of.into(), Some(characters.len() as u64 + 1));
        let init = self.wide_init(&characters, QTy::plain(of), 0, None, span);
        let shown: String = characters.iter().filter_map(|c| char::from_u32(*c)).collect();
        let id = self.new_global(format!("{shown:?}"), array.into(), false, false, span);
        self.unit.globals[id.0 as usize].init = Some(init);
        Expr { kind: ExprKind::Global(id), ty: array.into(), span }
    }

    /// A place that holds the string.
    fn string_object(&mut self, bytes: Vec<u8>, span: Span) -> Res<Expr> {
        let char_ = QTy::plain(Ty::CHAR);
        let ty = self.unit.types.array(char_, Some(bytes.len() as u64 + 1));
        let id = match self.strings.get(&bytes) {
            Some(&id) => id,
            None => {
                let shown = String::from_utf8_lossy(&bytes).into_owned();
                let id = self.new_global(format!("{shown:?}"), ty.into(), false, false, span);
                self.unit.globals[id.0 as usize].init = Some(self.string_init(&bytes, 0, None, span));
                self.strings.insert(bytes, id);
                id
            }
        };
        Ok(Expr { kind: ExprKind::Global(id), ty: ty.into(), span })
    }

    fn statement_expression(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        if self.function.is_none() {
            return fail(start, "a statement expression outside a function");
        }
        let mut block = self.nested(|p| p.block())?;
        let end = self.expect(Punct::RParen, "after the statement expression")?;
        // `({ ...; label: value; })` has a value.
        while let Some(Stmt { kind: StmtKind::Label(label, inner), span }) =
            block.stmts.pop_if(|stmt| matches!(stmt.kind, StmtKind::Label(..)))
        {
            let nothing = Box::new(Stmt { kind: StmtKind::Expr(None), span });
            block.stmts.push(Stmt { kind: StmtKind::Label(label, nothing), span });
            block.stmts.push(*inner);
        }
        let ty = match block.stmts.last_mut().map(|s| &mut s.kind) {
            Some(StmtKind::Expr(Some(value))) => value.ty,
            _ => Ty::VOID.into(),
        };
        Ok(Expr { kind: ExprKind::Stmt(block), ty: QTy::plain(ty.ty), span: start.to(end) })
    }

    fn generic(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `_Generic`")?;
        let control = self.assignment()?;
        let control = self.rvalue(control)?.ty.ty;
        let mut chosen = None;
        let mut default = None;
        while self.eat(Punct::Comma) {
            if self.eat_keyword(Keyword::Default) {
                self.expect(Punct::Colon, "after `default`")?;
                default = Some(self.assignment()?);
                continue;
            }
            let ty = self.type_name()?;
            self.expect(Punct::Colon, "after the type")?;
            let value = self.assignment()?;
            if ty.quals == Quals::NONE && self.unit.types.compatible(ty.ty, control) {
                chosen = chosen.or(Some(value));
            }
        }
        let end = self.expect(Punct::RParen, "after `_Generic(...`")?;
        match chosen.or(default) {
            Some(value) => Ok(value),
            None => fail(
                start.to(end),
                format!("no association of `_Generic` fits the type `{}`", self.show(control)),
            ),
        }
    }

    fn offsetof(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `offsetof`")?;
        let ty = self.type_name()?;
        self.expect(Punct::Comma, "after the type")?;
        let pointer = self.unit.types.pointer(ty);
        let null = int_expr(0, pointer, start);
        let mut place = self.dereference(null, start)?;
        let (name, at) = self.identifier("the name of a member")?;
        place = self.member(place, name, at)?;
        loop {
            if self.eat(Punct::Dot) {
                let (name, at) = self.identifier("the name of a member")?;
                place = self.member(place, name, at)?;
            } else if self.eat(Punct::LBracket) {
                let index = self.expression()?;
                let end = self.expect(Punct::RBracket, "after the index")?;
                place = self.index(place, index, start.to(end))?;
            } else {
                break;
            }
        }
        let end = self.expect(Punct::RParen, "after `offsetof(...`")?;
        let span = start.to(end);
        let address = self.address_of(place, span)?;
        let value = self.explicit_cast(address, Ty::ULONG.into(), span)?;
        match self.evaluate_integer(&value) {
            Some(offset) => Ok(int_expr(offset as u64, Ty::ULONG, span)),
            None => fail(span, "this offset is not a constant"),
        }
    }

    /// `__builtin_va_arg(list, type)`: the slot that the list points to, which then points to the next one.
    fn va_arg(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `va_arg`")?;
        let list = self.assignment()?;
        self.expect(Punct::Comma, "after the list")?;
        let ty = self.type_name()?;
        let end = self.expect(Punct::RParen, "after the type")?;
        let span = start.to(end);
        let list = self.dereference(list, span)?;
        let symbol = self.interner.intern("__p");
        let pointer = self.member(list, symbol, span)?;
        let slot = self.post_step(pointer, 1, span)?;
        let mut typed = self.unit.types.pointer(QTy::plain(ty.ty));
        // The slot of a struct has its address.
        let record = self.unit.types.is_record(ty.ty);
        if record {
            typed = self.unit.types.pointer(typed);
        }
        let typed = self.explicit_cast(slot, typed.into(), span)?;
        let place = self.dereference(typed, span)?;
        if record { self.dereference(place, span) } else { Ok(place) }
    }

    fn types_compatible(&mut self) -> Res<Expr> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "after `__builtin_types_compatible_p`")?;
        let first = self.type_name()?;
        self.expect(Punct::Comma, "between the types")?;
        let second = self.type_name()?;
        let end = self.expect(Punct::RParen, "after the types")?;
        let same = self.unit.types.compatible(first.ty, second.ty);
        Ok(int_expr(u64::from(same), Ty::INT, start.to(end)))
    }

    fn choose_expression(&mut self) -> Res<Expr> {
        self.at += 1;
        self.expect(Punct::LParen, "after `__builtin_choose_expr`")?;
        let (condition, _) = self.constant_integer("the condition")?;
        self.expect(Punct::Comma, "after the condition")?;
        let then = self.choice(condition != 0)?;
        self.expect(Punct::Comma, "after the first choice")?;
        let otherwise = self.choice(condition == 0)?;
        self.expect(Punct::RParen, "after the second choice")?;
        Ok(if condition != 0 { then } else { otherwise })
    }

    /// An expression that may not be chosen; what it mentions is then not used.
    fn choice(&mut self, chosen: bool) -> Res<Expr> {
        let used: Vec<bool> = self.unit.functions.iter().map(|f| f.used.is_some()).collect();
        let value = self.assignment()?;
        if !chosen {
            for (i, function) in self.unit.functions.iter_mut().enumerate() {
                if !used.get(i).is_some_and(|u| *u) {
                    function.used = None;
                }
            }
        }
        Ok(value)
    }

    /// A constant integer expression and its span.
    pub(crate) fn constant_integer(&mut self, what: &str) -> Res<(i64, Span)> {
        let expr = self.conditional()?;
        let span = expr.span;
        let value = self.rvalue(expr)?;
        match self.evaluate_integer(&value) {
            Some(n) if self.unit.types.is_integer(value.ty.ty) => Ok((n, span)),
            _ => fail(span, format!("{what} must be a constant integer")),
        }
    }
}

enum Operator {
    Logical(bool),
    Arith(ArithOp),
}

fn binary_operator(token: &Token) -> Option<(Operator, u8)> {
    let TokenKind::Punct(punct) = token.kind else { return None };
    use Operator::{Arith, Logical};
    Some(match punct {
        Punct::OrOr => (Logical(false), 1),
        Punct::AndAnd => (Logical(true), 2),
        Punct::Pipe => (Arith(ArithOp::Or), 3),
        Punct::Caret => (Arith(ArithOp::Xor), 4),
        Punct::Amp => (Arith(ArithOp::And), 5),
        Punct::EqEq => (Arith(ArithOp::Eq), 6),
        Punct::Ne => (Arith(ArithOp::Ne), 6),
        Punct::Lt => (Arith(ArithOp::Lt), 7),
        Punct::Gt => (Arith(ArithOp::Gt), 7),
        Punct::Le => (Arith(ArithOp::Le), 7),
        Punct::Ge => (Arith(ArithOp::Ge), 7),
        Punct::Shl => (Arith(ArithOp::Shl), 8),
        Punct::Shr => (Arith(ArithOp::Shr), 8),
        Punct::Plus => (Arith(ArithOp::Add), 9),
        Punct::Minus => (Arith(ArithOp::Sub), 9),
        Punct::Star => (Arith(ArithOp::Mul), 10),
        Punct::Slash => (Arith(ArithOp::Div), 10),
        Punct::Percent => (Arith(ArithOp::Rem), 10),
        _ => return None,
    })
}

fn assignment_operator(punct: Punct) -> Option<ArithOp> {
    Some(match punct {
        Punct::AddAssign => ArithOp::Add,
        Punct::SubAssign => ArithOp::Sub,
        Punct::MulAssign => ArithOp::Mul,
        Punct::DivAssign => ArithOp::Div,
        Punct::RemAssign => ArithOp::Rem,
        Punct::AndAssign => ArithOp::And,
        Punct::OrAssign => ArithOp::Or,
        Punct::XorAssign => ArithOp::Xor,
        Punct::ShlAssign => ArithOp::Shl,
        Punct::ShrAssign => ArithOp::Shr,
        _ => return None,
    })
}
