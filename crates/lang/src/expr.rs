//! Expressions. Each shared variable in one is a load, in the order in which they are written; both sides of `&&` and
//! `||` are evaluated. Numbers are 32-bit signed integers, addresses are 64 bits.

use crate::body::Body;
use crate::lexer::Token;
use crate::parser::{Parsed, Parser, unknown};
use crate::words::{BINARY, Parts, SIGNS, UNARY, lookup};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Reg, RmwOp, Rvalue, UnaryOp, Value, Width};

/// A result register that is not chosen yet.
pub(crate) const HOLE: Reg = Reg(u32::MAX);

/// A value whose last instruction is not written yet, because where it goes is not known.
pub(crate) enum Pending {
    Operand(Operand),
    Assign(Rvalue),
    /// An instruction whose result register is [`HOLE`].
    Instr(Instr),
}

impl Parser {
    /// Writes the last instruction of a value, into `dst` or a new register.
    pub(crate) fn emit(
        &mut self,
        body: &mut Body,
        pending: Pending,
        dst: Option<Reg>,
        span: Span,
    ) -> Operand {
        let rvalue = match pending {
            Pending::Operand(operand) if dst.is_none() => return operand,
            Pending::Operand(operand) => Rvalue::Use(operand),
            Pending::Assign(rvalue) => rvalue,
            Pending::Instr(mut instr) => {
                let dst = dst.unwrap_or_else(|| body.temporary());
                fill(&mut instr, dst);
                body.push(instr, span);
                return dst.into();
            }
        };
        let dst = dst.unwrap_or_else(|| body.temporary());
        body.push(Instr::Assign { dst, value: rvalue }, span);
        dst.into()
    }

    /// An expression as an operand.
    pub(crate) fn operand(&mut self, body: &mut Body) -> Parsed<Operand> {
        let start = self.span();
        let pending = self.expression(body)?;
        Ok(self.emit(body, pending, None, start.to(self.last_span())))
    }

    /// An expression.
    pub(crate) fn expression(&mut self, body: &mut Body) -> Parsed<Pending> {
        let start = self.span();
        let condition = self.nested(|parser| parser.binary(body, 1))?;
        if !self.eat_sign("?") {
            return Ok(condition);
        }
        let condition = self.emit(body, condition, None, start);
        let a = self.operand(body)?;
        self.sign(":")?;
        let b = self.operand(body)?;
        Ok(Pending::Assign(Rvalue::Select(condition, a, b)))
    }

    /// Operators of at least that strength.
    fn binary(&mut self, body: &mut Body, strength: u8) -> Parsed<Pending> {
        let start = self.span();
        let mut left = self.unary(body)?;
        loop {
            let Token::Sign(sign) = *self.peek() else { return Ok(left) };
            let logical = match sign {
                "||" => Some(1),
                "&&" => Some(2),
                _ => None,
            };
            let known = SIGNS.iter().find(|(s, _, _)| *s == sign);
            let Some(level) = logical.or(known.map(|k| k.2)).filter(|level| *level >= strength) else {
                return Ok(left);
            };
            self.take();
            let span = start.to(self.span());
            let mut a = self.emit(body, left, None, span);
            let right = self.nested(|parser| parser.binary(body, level + 1))?;
            let span = start.to(self.last_span());
            let mut b = self.emit(body, right, None, span);
            let op = match known {
                Some((_, op, _)) => *op,
                None => {
                    a = self.truth(body, a, span);
                    b = self.truth(body, b, span);
                    if sign == "&&" { BinaryOp::And } else { BinaryOp::Or }
                }
            };
            left = Pending::Assign(Rvalue::Binary(op, Width::W32, Extend::Sign, a, b));
        }
    }

    /// 0 or 1.
    fn truth(&mut self, body: &mut Body, a: Operand, span: Span) -> Operand {
        let zero = Operand::Const(Value::ZERO);
        let value = Rvalue::Binary(BinaryOp::Ne, Width::W32, Extend::Sign, a, zero);
        self.emit(body, Pending::Assign(value), None, span)
    }

    fn unary(&mut self, body: &mut Body) -> Parsed<Pending> {
        let span = self.span();
        let op = match self.peek() {
            Token::Sign("-") if matches!(self.peek_after(), Token::Int(_)) => {
                return Ok(Pending::Operand(Operand::Const(Value::from_i64(self.number()?))));
            }
            Token::Sign("-") => UnaryOp::Neg,
            Token::Sign("!") => UnaryOp::LogicalNot,
            Token::Sign("~") => UnaryOp::Not,
            _ => return self.primary(body),
        };
        self.take();
        let inner = self.nested(|parser| parser.unary(body))?;
        let a = self.emit(body, inner, None, span.to(self.last_span()));
        Ok(Pending::Assign(Rvalue::Unary(op, Width::W32, Extend::Sign, a)))
    }

    fn primary(&mut self, body: &mut Body) -> Parsed<Pending> {
        match self.peek().clone() {
            Token::Int(n) => {
                self.take();
                Ok(Pending::Operand(Operand::Const(Value::from_i64(n))))
            }
            Token::Sign("(") => {
                self.take();
                let inner = self.expression(body)?;
                self.sign(")")?;
                Ok(inner)
            }
            Token::Sign("*") => {
                self.take();
                Ok(Pending::Instr(Instr::Nondet { dst: HOLE, first: 0, last: 1 }))
            }
            Token::Sign("[") => self.load(body),
            Token::Sign("&") => self.address_of(body),
            Token::Word(word) => self.word(body, &word),
            _ => Err(self.expected("an expression")),
        }
    }

    fn word(&mut self, body: &mut Body, word: &str) -> Parsed<Pending> {
        if let Some(reg) = body.reg(word) {
            self.take();
            return Ok(Pending::Operand(reg.into()));
        }
        if self.object(word).is_some() {
            return self.load(body);
        }
        let calls = *self.peek_after() == Token::Sign("(");
        match word.split('.').next().unwrap_or(word) {
            "call" | "spawn" => self.call(body),
            "nondet" => self.choice(),
            "cas" | "swap" | "fetch_add" if calls => self.update(body, word),
            "load" if calls => {
                let parts = self.parts()?;
                self.sign("(")?;
                let addr = self.operand(body)?;
                self.sign(")")?;
                let (width, extend, ann) = (parts.width, parts.extend, parts.ann(0));
                Ok(Pending::Instr(Instr::Load { dst: HOLE, addr, width, extend, ann }))
            }
            "rmw" if calls => self.low_level_rmw(body),
            first if calls && (lookup(&BINARY, first).is_some() || lookup(&UNARY, first).is_some()) => {
                self.low_level_operator(body)
            }
            _ => Err(unknown(word, self.span())),
        }
    }

    /// `nondet(first, last)`
    fn choice(&mut self) -> Parsed<Pending> {
        self.take();
        self.sign("(")?;
        let span = self.span();
        let first = self.number()?;
        self.sign(",")?;
        let last = self.number()?;
        self.sign(")")?;
        if first > last {
            return Err(Box::new(Diagnostic::error(span, "this choice is empty")));
        }
        Ok(Pending::Instr(Instr::Nondet { dst: HOLE, first, last }))
    }

    /// `cas(x, expected, desired)` is 1 or 0; `swap(x, v)` and `fetch_add(x, v)` give the old value.
    fn update(&mut self, body: &mut Body, word: &str) -> Parsed<Pending> {
        self.take();
        self.sign("(")?;
        let (addr, width) = self.place(body)?;
        self.sign(",")?;
        let operand = self.operand(body)?;
        let (extend, ann) = (Extend::Sign, Ann::PLAIN);
        let instr = if word == "cas" {
            self.sign(",")?;
            let desired = self.operand(body)?;
            let (read, write, failure) = (ann, ann, ann);
            let (dst, success, expected, weak) = (None, Some(HOLE), operand, false);
            Instr::CompareExchange {
                dst,
                success,
                addr,
                width,
                extend,
                expected,
                desired,
                read,
                write,
                failure,
                weak,
            }
        } else {
            let op = if word == "swap" { RmwOp::Exchange } else { RmwOp::Add };
            Instr::Rmw { dst: Some(HOLE), addr, width, extend, op, operand, read: ann, write: ann }
        };
        self.sign(")")?;
        Ok(Pending::Instr(instr))
    }

    /// `rmw.add.w64.acq.rel(address, operand)`
    pub(crate) fn low_level_rmw(&mut self, body: &mut Body) -> Parsed<Pending> {
        let span = self.span();
        let parts = self.parts()?;
        self.sign("(")?;
        let addr = self.operand(body)?;
        self.sign(",")?;
        let operand = self.operand(body)?;
        self.sign(")")?;
        let Some(op) = parts.rmw else {
            let error = Diagnostic::error(span, "`rmw` needs to say what it stores");
            return Err(Box::new(error.hint("write `rmw.add(...)`, `rmw.exchange(...)` and so on")));
        };
        let (width, extend, read, write) = (parts.width, parts.extend, parts.ann(0), parts.ann(1));
        Ok(Pending::Instr(Instr::Rmw { dst: Some(HOLE), addr, width, extend, op, operand, read, write }))
    }

    /// `add.w64.zero(a, b)` and all other operators by name.
    fn low_level_operator(&mut self, body: &mut Body) -> Parsed<Pending> {
        let Token::Word(word) = self.peek().clone() else { return Err(self.expected("an operator")) };
        let first = word.split('.').next().unwrap_or(&word).to_owned();
        let parts = self.parts()?;
        self.sign("(")?;
        let a = self.operand(body)?;
        let (width, extend) = (parts.width, parts.extend);
        let value = match (lookup(&BINARY, &first), lookup(&UNARY, &first)) {
            (Some(op), _) => {
                self.sign(",")?;
                Rvalue::Binary(op, width, extend, a, self.operand(body)?)
            }
            (None, Some(op)) => Rvalue::Unary(op, width, extend, a),
            (None, None) => return Err(self.expected("an operator")),
        };
        self.sign(")")?;
        Ok(Pending::Assign(value))
    }

    /// The dotted parts of the word that stands here.
    pub(crate) fn parts(&mut self) -> Parsed<Parts> {
        let Token::Word(word) = self.peek().clone() else { return Err(self.expected("a name")) };
        let parts: Vec<&str> = word.split('.').skip(1).collect();
        let parts = Parts::read(&parts).map_err(|part| {
            let error = Diagnostic::error(self.span(), format!("`.{part}` has no meaning here"));
            Box::new(error.label("expected a width, `zero`, `sign` or a memory order"))
        })?;
        self.take();
        Ok(parts)
    }

    /// A load from a place.
    fn load(&mut self, body: &mut Body) -> Parsed<Pending> {
        let (addr, width) = self.place(body)?;
        let (extend, ann) = (Extend::Sign, Ann::PLAIN);
        Ok(Pending::Instr(Instr::Load { dst: HOLE, addr, width, extend, ann }))
    }

    /// `&x` or `&a[i]`.
    fn address_of(&mut self, body: &mut Body) -> Parsed<Pending> {
        self.sign("&")?;
        if !matches!(self.peek(), Token::Word(_)) {
            return Err(self.expected("the name of a shared variable"));
        }
        Ok(Pending::Operand(self.place(body)?.0))
    }

    /// A place in memory: `x`, `a[i]` or `[address]`, with its width.
    pub(crate) fn place(&mut self, body: &mut Body) -> Parsed<(Operand, Width)> {
        let span = self.span();
        if self.eat_sign("[") {
            let address = self.operand(body)?;
            self.sign("]")?;
            return Ok((address, Width::W32));
        }
        let (name, _) = self.name("a shared variable, or an address in brackets")?;
        let Some(object) = self.object(&name) else { return Err(unknown(&name, span)) };
        let cells = &self.program.objects[object.0 as usize].cells;
        let (width, count) = (cells[0].width, cells.len());
        let base = Value::pointer(object, 0);
        if !self.eat_sign("[") {
            return Ok((base.into(), width));
        }
        let index = self.operand(body)?;
        self.sign("]")?;
        let span = span.to(self.last_span());
        if let Operand::Const(index) = index {
            return match usize::try_from(index.as_i64()) {
                Ok(index) if index < count => {
                    Ok((Value::pointer(object, index as u32 * width.bytes()).into(), width))
                }
                _ => {
                    let error = Diagnostic::error(span, format!("`{name}` has no element {index:?}"));
                    Err(Box::new(error.label(format!("it has {count}"))))
                }
            };
        }
        let size = Operand::Const(Value(u64::from(width.bytes())));
        let wide = |op, a, b| Pending::Assign(Rvalue::Binary(op, Width::W64, Extend::Zero, a, b));
        let offset = self.emit(body, wide(BinaryOp::Mul, index, size), None, span);
        let address = self.emit(body, wide(BinaryOp::Add, base.into(), offset), None, span);
        Ok((address, width))
    }
}

/// Sets the result register.
fn fill(instr: &mut Instr, reg: Reg) {
    match instr {
        Instr::Load { dst, .. } | Instr::Nondet { dst, .. } => *dst = reg,
        Instr::Rmw { dst, .. } | Instr::Call { dst, .. } | Instr::Spawn { dst, .. } => *dst = Some(reg),
        Instr::CompareExchange { success, .. } => *success = Some(reg),
        _ => {}
    }
}
