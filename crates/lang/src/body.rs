//! Statements: the bodies of processes and procedures.

use crate::expr::Pending;
use crate::lexer::Token;
use crate::parser::{Parsed, Parser, unknown};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::{Ann, Callee, Fence, Function, Instr, Label, Operand, Reg};

/// The body that is being read.
pub(crate) struct Body {
    pub(crate) function: Function,
    labels: Vec<(String, Label, Span)>,
    /// Jumps to labels by name: the instruction, which of its targets, and the name.
    jumps: Vec<(usize, bool, String, Span)>,
}

/// A place that is filled in later.
const LATER: Label = Label(u32::MAX);

impl Body {
    pub(crate) fn push(&mut self, instr: Instr, span: Span) -> usize {
        self.function.push(instr, span).0 as usize
    }

    pub(crate) fn reg(&self, name: &str) -> Option<Reg> {
        self.function.regs.iter().position(|reg| reg == name).map(|i| Reg(i as u32))
    }

    /// A register for a value in between; its name is no name of the language, so it cannot clash.
    pub(crate) fn temporary(&mut self) -> Reg {
        let number = (0..).find(|n| self.reg(&format!("_t{n}")).is_none()).unwrap_or(0);
        self.function.new_reg(format!("_t{number}"))
    }

    /// Sets the open target of a jump or branch.
    fn set_target(&mut self, at: usize, second: bool, to: Label) {
        match &mut self.function.body[at] {
            Instr::Jump(target) => *target = to,
            Instr::Branch { else_to, .. } if second => *else_to = to,
            Instr::Branch { then_to, .. } => *then_to = to,
            _ => {}
        }
    }

    fn close(&mut self, at: usize, second: bool) {
        let here = self.function.next_label();
        self.set_target(at, second, here);
    }
}

impl Parser {
    /// `process NAME(params) { ... }`; the head was read before.
    pub(crate) fn function_body(&mut self, number: usize) -> Parsed<()> {
        while !self.is_sign("{") {
            if *self.peek() == Token::End {
                return Err(self.expected("`{`"));
            }
            self.take();
        }
        let function = self.program.functions[number].clone();
        let mut body = Body { function, labels: Vec::new(), jumps: Vec::new() };
        self.block(&mut body)?;
        for (at, second, name, span) in std::mem::take(&mut body.jumps) {
            let Some((_, label, _)) = body.labels.iter().find(|(known, _, _)| *known == name) else {
                let error = Diagnostic::error(span, format!("there is no label `{name}` here"));
                return Err(Box::new(error));
            };
            let label = *label;
            body.set_target(at, second, label);
        }
        self.program.functions[number] = body.function;
        Ok(())
    }

    fn block(&mut self, body: &mut Body) -> Parsed<()> {
        self.sign("{")?;
        while !self.eat_sign("}") {
            if *self.peek() == Token::End {
                return Err(self.expected("`}`"));
            }
            self.nested(|parser| parser.statement(body))?;
        }
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        let Token::Word(word) = self.peek().clone() else {
            if self.is_sign("[") {
                return self.assignment(body);
            }
            if self.is_sign("{") {
                return self.block(body);
            }
            return Err(self.expected("a statement"));
        };
        if *self.peek_after() == Token::Sign(":") {
            return self.label(body, word);
        }
        match word.as_str() {
            "reg" => return self.registers(body),
            "if" => return self.conditional(body),
            "while" => return self.loop_(body),
            "atomic" => {
                self.take();
                body.push(Instr::AtomicBegin, span);
                self.block(body)?;
                body.push(Instr::AtomicEnd, self.last_span());
                return Ok(());
            }
            _ => {}
        }
        let simple = self.simple(body, &word, span)?;
        if !simple {
            return self.assignment(body);
        }
        self.sign(";")
    }

    /// Statements that begin with a keyword and end with `;`. False if this is none.
    fn simple(&mut self, body: &mut Body, word: &str, span: Span) -> Parsed<bool> {
        let first = word.split('.').next().unwrap_or(word);
        match first {
            "skip" => self.take(),
            "goto" => {
                self.take();
                let at = body.push(Instr::Jump(LATER), span);
                self.target(body, at, false)?;
            }
            "branch" => {
                self.take();
                let condition = self.operand(body)?;
                let at = body.push(Instr::Branch { condition, then_to: LATER, else_to: LATER }, span);
                self.sign(",")?;
                self.target(body, at, false)?;
                self.sign(",")?;
                self.target(body, at, true)?;
            }
            "assume" => {
                self.take();
                let condition = self.operand(body)?;
                body.push(Instr::Assume(condition), span.to(self.last_span()));
            }
            "assert" => self.assertion(body)?,
            "atomic_begin" => {
                self.take();
                body.push(Instr::AtomicBegin, span);
            }
            "atomic_end" => {
                self.take();
                body.push(Instr::AtomicEnd, span);
            }
            "cut" => {
                self.take();
                body.push(Instr::Cut, span);
            }
            "fence" => self.fence(body)?,
            "call" | "spawn" => {
                let pending = self.call(body)?;
                self.emit_without_result(body, pending, span);
            }
            "return" => {
                self.take();
                let value = if self.is_sign(";") { None } else { Some(self.operand(body)?) };
                body.push(Instr::Return(value), span.to(self.last_span()));
            }
            "join" => {
                self.take();
                let thread = self.operand(body)?;
                body.push(Instr::Join { thread, dst: None }, span.to(self.last_span()));
            }
            "lock" | "unlock" => {
                self.take();
                self.sign("(")?;
                let addr = self.address(body)?;
                self.sign(")")?;
                let instr = if first == "lock" { Instr::Lock(addr) } else { Instr::Unlock(addr) };
                body.push(instr, span.to(self.last_span()));
            }
            "store" if *self.peek_after() == Token::Sign("(") => self.low_level_store(body)?,
            "cmpxchg" => self.low_level_exchange(body)?,
            "rmw" => {
                let pending = self.low_level_rmw(body)?;
                self.emit_without_result(body, pending, span);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn emit_without_result(&mut self, body: &mut Body, pending: Pending, span: Span) {
        if let Pending::Instr(mut instr) = pending {
            if let Instr::Call { dst, .. } | Instr::Spawn { dst, .. } | Instr::Rmw { dst, .. } = &mut instr {
                *dst = None;
            }
            body.push(instr, span.to(self.last_span()));
        }
    }

    fn target(&mut self, body: &mut Body, at: usize, second: bool) -> Parsed<()> {
        let (name, span) = self.name("a label")?;
        body.jumps.push((at, second, name, span));
        Ok(())
    }

    fn label(&mut self, body: &mut Body, name: String) -> Parsed<()> {
        let span = self.span();
        self.name("a label")?;
        self.sign(":")?;
        if let Some((_, _, first)) = body.labels.iter().find(|(known, _, _)| *known == name) {
            let error = Diagnostic::error(span, format!("the label `{name}` is here twice"));
            return Err(Box::new(error.related(*first, "first here")));
        }
        body.labels.push((name, body.function.next_label(), span));
        Ok(())
    }

    /// `reg a, b := 1;`
    fn registers(&mut self, body: &mut Body) -> Parsed<()> {
        self.take();
        loop {
            let (name, span) = self.name("the name of a register")?;
            if body.reg(&name).is_some() {
                return Err(Box::new(Diagnostic::error(span, format!("`{name}` is declared twice"))));
            }
            if self.object(&name).is_some() {
                let error = Diagnostic::error(span, format!("`{name}` is a shared variable"));
                return Err(Box::new(error.label("a register needs a name of its own")));
            }
            let reg = body.function.new_reg(name);
            if self.eat_sign(":=") || self.eat_sign("=") {
                let pending = self.expression(body)?;
                self.emit(body, pending, Some(reg), span.to(self.last_span()));
            }
            if !self.eat_sign(",") {
                return self.sign(";");
            }
        }
    }

    fn conditional(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        self.take();
        self.sign("(")?;
        let condition = self.operand(body)?;
        self.sign(")")?;
        let then_to = Label(body.function.next_label().0 + 1);
        let branch =
            body.push(Instr::Branch { condition, then_to, else_to: LATER }, span.to(self.last_span()));
        self.nested(|parser| parser.statement(body))?;
        if !self.eat_word("else") {
            body.close(branch, true);
            return Ok(());
        }
        let jump = body.push(Instr::Jump(LATER), self.last_span());
        body.close(branch, true);
        self.nested(|parser| parser.statement(body))?;
        body.close(jump, false);
        Ok(())
    }

    fn loop_(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        self.take();
        let head = body.function.next_label();
        self.sign("(")?;
        let condition = self.operand(body)?;
        self.sign(")")?;
        let then_to = Label(body.function.next_label().0 + 1);
        let branch =
            body.push(Instr::Branch { condition, then_to, else_to: LATER }, span.to(self.last_span()));
        if !self.eat_sign(";") {
            self.nested(|parser| parser.statement(body))?;
        }
        body.push(Instr::Jump(head), self.last_span());
        body.close(branch, true);
        Ok(())
    }

    /// `assert(e);`, `assert(e, "message");` or `assert e, "message";`
    fn assertion(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        self.take();
        let condition = if self.eat_sign("(") {
            let condition = self.operand(body)?;
            if self.is_sign(",") {
                let message = self.message()?;
                self.sign(")")?;
                body.push(
                    Instr::Assert { condition, kind: fencepost_ir::FailKind::Assertion, message },
                    span.to(self.last_span()),
                );
                return Ok(());
            }
            self.sign(")")?;
            condition
        } else {
            self.operand(body)?
        };
        let place = span.to(self.last_span());
        let message = if self.is_sign(",") { self.message()? } else { String::new() };
        body.push(Instr::Assert { condition, kind: fencepost_ir::FailKind::Assertion, message }, place);
        Ok(())
    }

    fn message(&mut self) -> Parsed<String> {
        self.sign(",")?;
        let Token::Str(message) = self.peek().clone() else {
            return Err(self.expected("a message in quotes"));
        };
        self.take();
        Ok(message)
    }

    fn fence(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        self.take();
        let mut kind = Fence::Mfence;
        if let Token::Word(name) = self.peek().clone() {
            let Some(found) = Fence::named(&name) else {
                let names: Vec<&str> = Fence::all().map(Fence::name).collect();
                let error = Diagnostic::error(self.span(), format!("there is no fence `{name}`"));
                return Err(Box::new(error.hint(format!("there are {}", names.join(", ")))));
            };
            kind = found;
            self.take();
        }
        body.push(Instr::Fence(kind), span.to(self.last_span()));
        Ok(())
    }

    /// `call f(a, b)` or `spawn f(a)`, its result still open. `call [e](a)` goes through a function's number.
    pub(crate) fn call(&mut self, body: &mut Body) -> Parsed<Pending> {
        let is_call = self.is_word("call");
        let span = self.span();
        self.take();
        let callee = if self.eat_sign("[") {
            let pointer = self.operand(body)?;
            self.sign("]")?;
            Callee::Pointer(pointer)
        } else {
            Callee::Function(self.callee()?)
        };
        let mut args = Vec::new();
        if self.eat_sign("(") {
            while !self.eat_sign(")") {
                if !args.is_empty() {
                    self.sign(",")?;
                }
                args.push(self.operand(body)?);
            }
        }
        if let Callee::Function(function) = callee {
            self.check_count(function, args.len(), span.to(self.last_span()))?;
        }
        let dst = Some(crate::expr::HOLE);
        Ok(Pending::Instr(match is_call {
            true => Instr::Call { dst, callee, args },
            false => Instr::Spawn { dst, callee, args },
        }))
    }

    /// `r := e;`, `x := e;`, `a[i] := e;` or `[e] := e;`
    fn assignment(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        if let Token::Word(name) = self.peek().clone()
            && let Some(reg) = body.reg(&name)
        {
            self.take();
            self.sign(":=")?;
            if self.is_word("join") {
                self.take();
                let thread = self.operand(body)?;
                body.push(Instr::Join { thread, dst: Some(reg) }, span.to(self.last_span()));
            } else {
                let pending = self.expression(body)?;
                self.emit(body, pending, Some(reg), span.to(self.last_span()));
            }
            return self.sign(";");
        }
        if let Token::Word(name) = self.peek().clone()
            && self.object(&name).is_none()
        {
            return match self.peek_after() {
                Token::Sign(":=" | "[") => Err(unknown(&name, span)),
                _ => Err(self.expected("a statement")),
            };
        }
        let (addr, width) = self.place(body)?;
        self.sign(":=")?;
        let value = self.operand(body)?;
        body.push(Instr::Store { addr, value, width, ann: Ann::PLAIN }, span.to(self.last_span()));
        self.sign(";")
    }

    /// `store.w64.rel(address, value)`
    fn low_level_store(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        let parts = self.parts()?;
        self.sign("(")?;
        let addr = self.operand(body)?;
        self.sign(",")?;
        let value = self.operand(body)?;
        self.sign(")")?;
        let instr = Instr::Store { addr, value, width: parts.width, ann: parts.ann(0) };
        body.push(instr, span.to(self.last_span()));
        Ok(())
    }

    /// `cmpxchg.acq.rel.rlx(old, success, address, expected, desired)`, where `_` is no register.
    fn low_level_exchange(&mut self, body: &mut Body) -> Parsed<()> {
        let span = self.span();
        let parts = self.parts()?;
        self.sign("(")?;
        let dst = self.result_register(body)?;
        self.sign(",")?;
        let success = self.result_register(body)?;
        self.sign(",")?;
        let addr = self.operand(body)?;
        self.sign(",")?;
        let expected = self.operand(body)?;
        self.sign(",")?;
        let desired = self.operand(body)?;
        self.sign(")")?;
        let instr = Instr::CompareExchange {
            dst,
            success,
            addr,
            width: parts.width,
            extend: parts.extend,
            expected,
            desired,
            read: parts.ann(0),
            write: parts.ann(1),
            failure: parts.ann(2),
            weak: parts.weak,
        };
        body.push(instr, span.to(self.last_span()));
        Ok(())
    }

    fn result_register(&mut self, body: &Body) -> Parsed<Option<Reg>> {
        if self.eat_word("_") {
            return Ok(None);
        }
        let (name, span) = self.name("a register or `_`")?;
        body.reg(&name).map(Some).ok_or_else(|| unknown(&name, span))
    }

    /// The address in `lock(m)`, `cas(x, ...)`: a place, or an address in brackets.
    pub(crate) fn address(&mut self, body: &mut Body) -> Parsed<Operand> {
        self.place(body).map(|(addr, _)| addr)
    }
}
