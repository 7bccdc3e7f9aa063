//! C expressions: precedence climbing, C's integer conversions, short circuits as branches.
//!
//! A value of a type narrower than 64 bits is kept extended, with its sign if the type has one. A conversion is then
//! only needed to a type that is not wider.

use super::Body;
use crate::error::{MOST_NESTING, Parsed, expect, expected, expected_next};
use crate::init::bad_number;
use crate::lexer::{Kind, number};
use crate::types::{Type, is_type_word, parse_type};
use fencepost_diag::Diagnostic;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Rvalue, Span, UnaryOp, Value, Width};

/// What an expression denotes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Node {
    /// A value.
    Value(Operand, Type),
    /// A local variable, by its index.
    Local(usize),
    /// The memory at an address.
    Memory(Operand, Type),
    /// The address of a local: only the expected value of a compare-exchange may be one.
    LocalAddress(usize),
    /// A call without a value.
    Nothing,
}

/// The binary operators by precedence, loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'a> Body<'_, 'a> {
    /// An expression, with commas.
    pub(super) fn expression(&mut self) -> Parsed<Node> {
        let mut node = self.assignment()?;
        while self.lexer.eat(",") {
            node = self.assignment()?;
        }
        Ok(node)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > MOST_NESTING {
            return Err(self.too_deep());
        }
        let start = self.lexer.peek();
        let target = self.ternary()?;
        let token = self.lexer.peek();
        let op = match self.lexer.text(token) {
            "=" => None,
            "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
                Some(self.lexer.text(token).trim_end_matches('='))
            }
            _ => {
                self.depth -= 1;
                return Ok(target);
            }
        };
        self.lexer.next();
        if !matches!(target, Node::Local(_) | Node::Memory(..)) {
            let span = start.span();
            let error = Diagnostic::error(span, "this cannot be assigned to");
            return Err(Box::new(error.label("expected a local variable or `*x`")));
        }
        let (mut value, mut ty) = self.assignment_value()?;
        if let Some(op) = op {
            let old = self.read(target)?;
            (value, ty) = self.binary(op, old, (value, ty), token.span())?;
        }
        self.depth -= 1;
        self.write(target, value, ty)
    }

    fn ternary(&mut self) -> Parsed<Node> {
        let condition = self.climb(0)?;
        if !self.lexer.eat("?") {
            return Ok(condition);
        }
        let (condition, _) = self.read(condition)?;
        let result = self.temporary();
        let branch = self.builder().emit_open(Some(condition));
        let (first, first_type) = self.value()?;
        self.builder().assign(result, Rvalue::Use(first));
        expect(self.lexer, ":")?;
        let skip = self.builder().emit_open(None);
        let otherwise = self.next_label();
        self.builder().patch(branch, otherwise);
        let (second, second_type) = self.assignment_value()?;
        self.builder().assign(result, Rvalue::Use(second));
        let end = self.next_label();
        self.builder().patch(skip, end);
        let ty = if first_type.is_pointer() { first_type } else { common(first_type, second_type) };
        Ok(Node::Value(result.into(), ty))
    }

    /// Operators of this level and tighter ones.
    fn climb(&mut self, level: usize) -> Parsed<Node> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.climb(level + 1)?;
        loop {
            let token = self.lexer.peek();
            let op = self.lexer.text(token);
            if token.kind != Kind::Op || !operators.contains(&op) {
                return Ok(left);
            }
            self.lexer.next();
            let a = self.read(left)?;
            left = if level < 2 {
                self.short_circuit(op == "&&", a.0, level)?
            } else {
                let right = self.climb(level + 1)?;
                let b = self.read(right)?;
                let (value, ty) = self.binary(op, a, b, token.span())?;
                Node::Value(value, ty)
            };
        }
    }

    /// `a && b` and `a || b`, after the operator: `b` is evaluated only if it matters.
    fn short_circuit(&mut self, is_and: bool, a: Operand, level: usize) -> Parsed<Node> {
        let as_bool =
            |value| Rvalue::Binary(BinaryOp::Ne, Width::W64, Extend::Zero, value, Value::ZERO.into());
        let result = self.temporary();
        self.builder().assign(result, as_bool(a));
        let branch = self.builder().emit_open(Some(result.into()));
        let right = self.climb(level + 1)?;
        let (b, _) = self.read(right)?;
        self.builder().assign(result, as_bool(b));
        let end = self.next_label();
        if is_and {
            self.builder().patch(branch, end);
        } else {
            let next = fencepost_ir::Label(branch as u32 + 1);
            self.builder().patch_then(branch, end);
            self.builder().patch(branch, next);
        }
        Ok(Node::Value(result.into(), Type::INT))
    }

    fn unary(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > MOST_NESTING {
            return Err(self.too_deep());
        }
        let token = self.lexer.peek();
        let node = match self.lexer.text(token) {
            op @ ("-" | "~" | "!" | "+") => {
                self.lexer.next();
                let inner = self.unary()?;
                let (value, ty) = self.read(inner)?;
                self.apply_unary(op, value, ty)
            }
            "*" => {
                self.lexer.next();
                let inner = self.unary()?;
                let (addr, ty) = self.read(inner)?;
                Node::Memory(addr, ty.pointee())
            }
            "&" => {
                self.lexer.next();
                match self.unary()? {
                    Node::Memory(addr, ty) => Node::Value(addr, ty.pointer_to()),
                    Node::Local(index) => Node::LocalAddress(index),
                    _ => {
                        let error = Diagnostic::error(token.span(), "this has no address");
                        return Err(Box::new(error.label("expected `&` and a variable")));
                    }
                }
            }
            op @ ("++" | "--") => {
                self.lexer.next();
                let target = self.unary()?;
                let old = self.read(target)?;
                let (value, ty) = self.binary(&op[1..], old, (Value(1).into(), Type::INT), token.span())?;
                self.write(target, value, ty)?
            }
            "(" if self.at_cast() => {
                self.lexer.next();
                let ty = parse_type(self.lexer).unwrap_or(Type::INT);
                expect(self.lexer, ")")?;
                let inner = self.unary()?;
                let (value, from) = self.read(inner)?;
                Node::Value(self.convert(value, from, ty), ty)
            }
            _ => self.postfix()?,
        };
        self.depth -= 1;
        Ok(node)
    }

    fn at_cast(&mut self) -> bool {
        let second = self.lexer.peek_second();
        second.kind == Kind::Ident && is_type_word(self.lexer.text(second))
    }

    fn apply_unary(&mut self, op: &str, value: Operand, ty: Type) -> Node {
        let ty = common(ty, Type::INT);
        let operator = match op {
            "-" => UnaryOp::Neg,
            "~" => UnaryOp::Not,
            "!" => {
                let value = Rvalue::Unary(UnaryOp::LogicalNot, Width::W64, Extend::Zero, value);
                return Node::Value(self.compute(value), Type::INT);
            }
            _ => return Node::Value(value, ty),
        };
        if let Operand::Const(constant) = value {
            // `-1` is a constant, as the reader of the program would say.
            let folded = ty.width().extend(ty.extend(), operator.apply(ty.width(), constant));
            return Node::Value(folded.into(), ty);
        }
        Node::Value(self.compute(Rvalue::Unary(operator, ty.width(), ty.extend(), value)), ty)
    }

    fn postfix(&mut self) -> Parsed<Node> {
        let mut node = self.primary()?;
        loop {
            let token = self.lexer.peek();
            match self.lexer.text(token) {
                "[" => {
                    self.lexer.next();
                    let base = self.read(node)?;
                    let index = self.value()?;
                    expect(self.lexer, "]")?;
                    let (addr, ty) = self.binary("+", base, index, token.span())?;
                    node = Node::Memory(addr, ty.pointee());
                }
                op @ ("++" | "--") => {
                    self.lexer.next();
                    let (old, ty) = self.read(node)?;
                    let kept = self.compute(Rvalue::Use(old));
                    let (value, _) =
                        self.binary(&op[1..], (old, ty), (Value(1).into(), Type::INT), token.span())?;
                    self.write(node, value, ty)?;
                    node = Node::Value(kept, ty);
                }
                "->" | "." => {
                    let error = Diagnostic::error(token.span(), "structures are not supported in C tests");
                    return Err(Box::new(error.label("not modelled")));
                }
                _ => return Ok(node),
            }
        }
    }

    fn primary(&mut self) -> Parsed<Node> {
        let token = self.lexer.next();
        let text = self.lexer.text(token);
        match token.kind {
            Kind::Number => {
                let Some(value) = c_number(text) else { return Err(bad_number(self.lexer, token.span())) };
                let ty = if value > i32::MAX as u64 { Type::LONG } else { Type::INT };
                Ok(Node::Value(Value(value).into(), ty))
            }
            Kind::Ident if self.lexer.at("(") => self.call(text, token.span()),
            Kind::Ident => self.name(text, token.span()),
            Kind::Op if text == "(" => {
                let node = self.expression()?;
                expect(self.lexer, ")")?;
                Ok(node)
            }
            _ => Err(expected(self.lexer, token, "an expression")),
        }
    }

    /// The value of an expression; reads memory plainly.
    pub(super) fn read(&mut self, node: Node) -> Parsed<(Operand, Type)> {
        match node {
            Node::Value(value, ty) => Ok((value, ty)),
            Node::Local(index) => Ok((self.locals[index].reg.into(), self.locals[index].ty)),
            Node::Memory(addr, ty) => {
                let dst = self.temporary();
                let (width, extend) = (ty.width(), ty.extend());
                self.builder().emit(Instr::Load { dst, addr, width, extend, ann: Ann::PLAIN });
                Ok((dst.into(), ty))
            }
            Node::LocalAddress(index) => {
                let message = format!("the address of the local `{}` is taken", self.locals[index].name);
                let hint =
                    "locals are registers here; only a compare-exchange may be given the address of one";
                Err(Box::new(
                    Diagnostic::error(self.builder().span, message).label("in this statement").hint(hint),
                ))
            }
            Node::Nothing => Err(expected_next(self.lexer, "a value; this call has none")),
        }
    }

    /// Assigns; memory is written plainly.
    fn write(&mut self, target: Node, value: Operand, ty: Type) -> Parsed<Node> {
        match target {
            Node::Local(index) => {
                if self.locals[index].implicit && ty.width() > self.locals[index].ty.width() {
                    self.locals[index].ty = ty;
                }
                let local = self.locals[index];
                let value = self.convert(value, ty, local.ty);
                self.set_local(local.reg, value);
                Ok(target)
            }
            Node::Memory(addr, to) => {
                let width = to.width();
                self.builder().emit(Instr::Store { addr, value, width, ann: Ann::PLAIN });
                Ok(Node::Value(value, to))
            }
            _ => {
                let error = Diagnostic::error(self.builder().span, "this cannot be assigned to");
                Err(Box::new(error.label("expected a local variable or `*x` as the target")))
            }
        }
    }

    /// The value in another type.
    pub(super) fn convert(&mut self, value: Operand, from: Type, to: Type) -> Operand {
        let fits = to.width() > from.width() || (to.width() == from.width() && to.extend() == from.extend());
        // Whoever stores an address in an `int` means the address: locations that hold some are as wide as they are.
        if fits || to.width() == Width::W64 || from.is_pointer() {
            return value;
        }
        let (width, extend) = (to.width(), to.extend());
        match value {
            Operand::Const(constant) => width.extend(extend, constant).into(),
            Operand::Reg(_) => {
                let op = if extend == Extend::Sign { UnaryOp::SignExtend } else { UnaryOp::ZeroExtend };
                self.compute(Rvalue::Unary(op, width, extend, value))
            }
        }
    }

    /// `a op b`.
    pub(super) fn binary(
        &mut self,
        op: &str,
        (a, a_type): (Operand, Type),
        (b, b_type): (Operand, Type),
        span: Span,
    ) -> Parsed<(Operand, Type)> {
        if a_type.is_pointer() || b_type.is_pointer() {
            return self.pointer_binary(op, (a, a_type), (b, b_type), span);
        }
        // The type of a shift is that of its left side alone.
        let ty = if matches!(op, "<<" | ">>") { common(a_type, Type::INT) } else { common(a_type, b_type) };
        let signed = ty.is_signed();
        let pick = |if_signed, if_unsigned| if signed { if_signed } else { if_unsigned };
        let (operator, compares) = match op {
            "+" => (BinaryOp::Add, false),
            "-" => (BinaryOp::Sub, false),
            "*" => (BinaryOp::Mul, false),
            "/" => (pick(BinaryOp::DivS, BinaryOp::DivU), false),
            "%" => (pick(BinaryOp::RemS, BinaryOp::RemU), false),
            "&" => (BinaryOp::And, false),
            "|" => (BinaryOp::Or, false),
            "^" => (BinaryOp::Xor, false),
            "<<" => (BinaryOp::Shl, false),
            ">>" => (pick(BinaryOp::ShrS, BinaryOp::ShrU), false),
            "==" => (BinaryOp::Eq, true),
            "!=" => (BinaryOp::Ne, true),
            "<" => (pick(BinaryOp::LtS, BinaryOp::LtU), true),
            "<=" => (pick(BinaryOp::LeS, BinaryOp::LeU), true),
            ">" => (pick(BinaryOp::GtS, BinaryOp::GtU), true),
            _ => (pick(BinaryOp::GeS, BinaryOp::GeU), true),
        };
        let value = Rvalue::Binary(operator, ty.width(), ty.extend(), a, b);
        Ok((self.compute(value), if compares { Type::INT } else { ty }))
    }

    /// Pointer arithmetic in units of what is pointed to, and comparisons.
    fn pointer_binary(
        &mut self,
        op: &str,
        (a, a_type): (Operand, Type),
        (b, b_type): (Operand, Type),
        span: Span,
    ) -> Parsed<(Operand, Type)> {
        let wide = |op, a, b| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
        let operator = match op {
            "==" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            "+" if b_type.is_pointer() && !a_type.is_pointer() => {
                return self.pointer_binary(op, (b, b_type), (a, a_type), span);
            }
            "+" | "-" if !b_type.is_pointer() => {
                let size = Value(u64::from(a_type.pointee().width().bytes()));
                let sign = if op == "+" { BinaryOp::Add } else { BinaryOp::Sub };
                if let (Operand::Const(base), Operand::Const(index)) = (a, b) {
                    let offset = index.0.wrapping_mul(size.0);
                    let moved = sign.apply(Width::W64, base, Value(offset)).unwrap_or(base);
                    return Ok((moved.into(), a_type));
                }
                let offset = self.compute(wide(BinaryOp::Mul, b, size.into()));
                return Ok((self.compute(wide(sign, a, offset)), a_type));
            }
            // Dependencies are often written as `x + (r0 ^ r0)` or `p & 0`; other arithmetic is on the bits.
            "&" | "|" | "^" | "-" => {
                let operator = match op {
                    "&" => BinaryOp::And,
                    "|" => BinaryOp::Or,
                    "^" => BinaryOp::Xor,
                    _ => BinaryOp::Sub,
                };
                return Ok((self.compute(wide(operator, a, b)), Type::LONG));
            }
            _ => {
                let error = Diagnostic::error(span, format!("`{op}` does not apply to pointers"));
                return Err(Box::new(error.label("an operand is a pointer")));
            }
        };
        Ok((self.compute(wide(operator, a, b)), Type::INT))
    }
}

/// A number of C: one that starts with a zero is octal.
fn c_number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() && octal.bytes().all(|b| b.is_ascii_digit()) => {
            u64::from_str_radix(octal, 8).ok()
        }
        _ => number(text),
    }
}

/// The type in which two integers are combined: at least `int`, the wider one, unsigned if the wider one is.
fn common(a: Type, b: Type) -> Type {
    let promote = |ty: Type| if ty.width() < Width::W32 { Type::INT } else { ty };
    let (a, b) = (promote(a), promote(b));
    match a.width().cmp(&b.width()) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Equal => Type::integer(a.width(), a.is_signed() && b.is_signed()),
    }
}
