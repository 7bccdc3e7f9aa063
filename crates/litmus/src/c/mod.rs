//! C tests: functions `P0 (atomic_int* x, volatile int* y) { ... }` and their statements.
//!
//! Code is emitted while it is read. A parameter that is a pointer is the address of the shared location of that name,
//! a constant; locals are registers named as in the source, one per name and thread, whatever block declares them,
//! because that is how conditions refer to them. Conditions of `if` and loops, `&&`, `||` and `?:` become branches.
//!
//! The access decides how it is ordered, not the declared type: `*x` is plain also on an `atomic_int*`. `volatile` adds
//! nothing, since nothing here removes or merges accesses.
//!
//! * [`expression`]: expressions, with C's conversions.
//! * [`atomic`]: the functions of `stdatomic.h`.
//! * [`kernel`]: those of the Linux kernel.

mod atomic;
mod expression;
mod kernel;

use crate::condition;
use crate::error::{MOST_NESTING, Parsed, expect, expected, expected_next};
use crate::lexer::{Kind, Lexer, Mode};
use crate::test::{Test, skip_to, thread_number};
use crate::thread::ThreadBuilder;
use crate::types::{Type, is_type_word, parse_type};
use expression::Node;
use fencepost_diag::Diagnostic;
use fencepost_ir::{Instr, Label, ObjectId, Operand, Reg, Rvalue, Span, Value};

/// A local variable.
#[derive(Clone, Copy, Debug)]
struct Local<'a> {
    name: &'a str,
    reg: Reg,
    ty: Type,
    /// It was declared by an assignment, and takes the type of what is assigned.
    implicit: bool,
}

/// A parameter: the address of a shared location.
#[derive(Clone, Copy, Debug)]
struct Parameter<'a> {
    name: &'a str,
    object: ObjectId,
    /// The pointer's type.
    ty: Type,
}

/// Jumps out of a loop that wait for their target.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// A function while it is read.
struct Body<'t, 'a> {
    lexer: &'t mut Lexer<'a>,
    test: &'t mut Test<'a>,
    thread: usize,
    locals: Vec<Local<'a>>,
    parameters: Vec<Parameter<'a>>,
    /// Temporaries that the statement at hand uses.
    temporaries: usize,
    loops: Vec<Loop>,
    depth: u32,
    /// The function's end was missed: there is no going on.
    is_lost: bool,
}

/// Reads all functions, up to the condition.
pub(crate) fn parse_functions<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    while !condition::starts_condition(lexer) {
        parse_function(lexer, test)?;
    }
    if test.threads.is_empty() {
        return Err(expected_next(lexer, "a thread such as `P0 (atomic_int* x) { ... }`"));
    }
    for index in 0..test.register_inits.len() {
        let (number, span) = (test.register_inits[index].thread, test.register_inits[index].span);
        // In C a `%` makes no register, so every one has a thread.
        if let Some(number) = number
            && test.thread_index(number).is_none()
        {
            test.report(*test.no_such_thread(number, span));
        }
    }
    Ok(())
}

fn parse_function<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    while lexer.eat_word("static") || lexer.eat_word("void") {}
    let token = lexer.next();
    let name = lexer.text(token);
    let number = thread_number(name).filter(|_| token.kind == Kind::Ident);
    let Some(number) = number else {
        return Err(expected(lexer, token, "a thread such as `P0 (atomic_int* x) { ... }`"));
    };
    if test.thread_index(number).is_some() {
        let message = format!("there are two threads `{name}`");
        return Err(Box::new(Diagnostic::error(token.span(), message).label("this name is taken")));
    }
    test.threads.push(ThreadBuilder::new(number));
    let thread = test.threads.len() - 1;
    let mut body = Body {
        lexer,
        test,
        thread,
        locals: Vec::new(),
        parameters: Vec::new(),
        temporaries: 0,
        loops: Vec::new(),
        depth: 0,
        is_lost: false,
    };
    body.initial_locals(number);
    body.parameter_list()?;
    if !body.lexer.at("{") {
        return Err(expected_next(body.lexer, "`{`"));
    }
    let open = body.lexer.next();
    body.lexer.set_mode(Mode::CBody);
    let result = body.block(open.span());
    lexer.set_mode(Mode::COutside);
    result
}

impl<'a> Body<'_, 'a> {
    fn builder(&mut self) -> &mut ThreadBuilder<'a> {
        &mut self.test.threads[self.thread]
    }

    /// Locals that the initial state sets, `0:r1=1`, are parameters of the IR function.
    fn initial_locals(&mut self, number: u32) {
        for index in 0..self.test.register_inits.len() {
            let init = &self.test.register_inits[index];
            if init.thread != Some(number) {
                continue;
            }
            let (name, value) = (init.register, init.value);
            let ty = if value.as_pointer().is_some() { Type::INT.pointer_to() } else { Type::INT };
            let local = self.declare(name, ty);
            self.builder().parameter(local.reg, value);
        }
    }

    fn parameter_list(&mut self) -> Parsed<()> {
        expect(self.lexer, "(")?;
        let is_void = self.lexer.at_word("void") && {
            let second = self.lexer.peek_second();
            self.lexer.text(second) == ")"
        };
        if is_void {
            self.lexer.next();
        }
        if self.lexer.eat(")") {
            return Ok(());
        }
        loop {
            let Some(mut ty) = parse_type(self.lexer) else {
                return Err(expected_next(self.lexer, "a parameter such as `atomic_int* x`"));
            };
            let token = self.lexer.next();
            if token.kind != Kind::Ident {
                return Err(expected(self.lexer, token, "the parameter's name"));
            }
            let name = self.lexer.text(token);
            if self.lexer.eat("[") {
                ty = ty.pointer_to();
                while !self.lexer.eat("]") {
                    if self.lexer.next().kind != Kind::Number {
                        return Err(expected_next(self.lexer, "`]`"));
                    }
                }
            }
            if let Some(local) = self.locals.iter_mut().find(|local| local.name == name) {
                local.ty = ty;
            } else if ty.is_pointer() {
                let object = self.test.global(name, token.span());
                self.parameters.push(Parameter { name, object, ty });
            } else {
                self.declare(name, ty);
            }
            if self.lexer.eat(")") {
                return Ok(());
            }
            if !self.lexer.eat(",") {
                return Err(expected_next(self.lexer, "`,` or `)`"));
            }
        }
    }

    /// The local of that name, made if need be, with this type from now on.
    fn declare(&mut self, name: &'a str, ty: Type) -> Local<'a> {
        if let Some(local) = self.locals.iter_mut().find(|local| local.name == name) {
            local.ty = ty;
            return *local;
        }
        let reg = self.builder().function.new_reg(name);
        let local = Local { name, reg, ty, implicit: false };
        self.locals.push(local);
        local
    }

    fn next_label(&mut self) -> Label {
        self.builder().function.next_label()
    }

    /// Statements up to the closing brace. A mistake in one does not hide the next.
    fn block(&mut self, open: Span) -> Parsed<()> {
        loop {
            if self.lexer.eat("}") {
                return Ok(());
            }
            if self.at_end() {
                self.is_lost = true;
                let error = expected_next(self.lexer, "`}` at the end of the block");
                return Err(Box::new(error.related(open, "opened here")));
            }
            let depth = self.depth;
            if let Err(error) = self.statement() {
                self.depth = depth;
                let unclosed = self.lexer.peek().kind == Kind::Unclosed;
                if self.is_lost || unclosed || self.test.has_too_many_errors() {
                    return Err(error);
                }
                self.recover(*error)?;
            }
        }
    }

    /// True at the end of the file, and at the condition: then a brace was forgotten.
    fn at_end(&mut self) -> bool {
        let (token, second) = (self.lexer.peek(), self.lexer.peek_second());
        match token.kind {
            Kind::Eof => true,
            Kind::Ident => {
                let word = self.lexer.text(token);
                let after = self.lexer.text(second);
                matches!(word, "exists" | "forall" | "final" | "locations" | "filter")
                    && (matches!(after, "(" | "[") || second.kind != Kind::Op)
            }
            _ => {
                token.kind == Kind::Op && self.lexer.text(token) == "~" && self.lexer.text(second) == "exists"
            }
        }
    }

    /// Skips the rest of a statement: to after its semicolon, or over the block that it has.
    fn recover(&mut self, error: Diagnostic) -> Parsed<()> {
        skip_to(self.lexer, &error, &[";", "{", "}"]);
        self.test.report(error);
        let open = self.lexer.peek().span();
        if !self.lexer.eat(";") && self.lexer.eat("{") {
            self.block(open)?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Parsed<()> {
        self.depth += 1;
        let token = self.lexer.peek();
        if self.depth > MOST_NESTING {
            return Err(self.too_deep());
        }
        self.temporaries = 0;
        self.builder().span = token.span();
        let first = self.builder().function.spans.len();
        let is_compound = matches!(self.lexer.text(token), "{" | "if" | "while" | "do" | "for");
        let result = self.statement_inner(self.lexer.text(token), token.kind, token.span());
        if !is_compound {
            let end = self.lexer.position();
            self.builder().widen_spans(first, token.start, end);
        }
        self.depth -= 1;
        result
    }

    fn too_deep(&mut self) -> Box<Diagnostic> {
        let token = self.lexer.peek();
        Box::new(Diagnostic::error(token.span(), "this is nested too deeply").label("here"))
    }

    fn statement_inner(&mut self, text: &'a str, kind: Kind, span: Span) -> Parsed<()> {
        match (kind, text) {
            (Kind::Op, ";") => {
                self.lexer.next();
                Ok(())
            }
            (Kind::Op, "{") => {
                self.lexer.next();
                self.block(span)
            }
            (Kind::Ident, "if") => self.if_statement(),
            (Kind::Ident, "while") => self.while_statement(),
            (Kind::Ident, "do") => self.do_statement(),
            (Kind::Ident, "for") => self.for_statement(),
            (Kind::Ident, "break" | "continue") if !self.is_assigned() => {
                self.leave_loop(text == "break", span)
            }
            (Kind::Ident, "return") => {
                self.lexer.next();
                if !self.lexer.at(";") {
                    self.value()?;
                }
                self.builder().emit(Instr::Return(None));
                self.semicolon()
            }
            (Kind::Ident, "goto" | "switch" | "case") => {
                let message = format!("`{text}` is not supported in C tests");
                Err(Box::new(
                    Diagnostic::error(span, message).label("not modelled").hint("use `if` and `while`"),
                ))
            }
            (Kind::Ident, word) if is_type_word(word) => self.declaration(),
            _ => {
                self.expression()?;
                self.semicolon()
            }
        }
    }

    /// Whether the word that comes next is assigned to, keyword or not.
    fn is_assigned(&mut self) -> bool {
        let second = self.lexer.peek_second();
        self.lexer.text(second) == "="
    }

    /// The end of a statement. A semicolon that was forgotten at the end of a line is reported and then assumed.
    fn semicolon(&mut self) -> Parsed<()> {
        if self.lexer.eat(";") {
            return Ok(());
        }
        let (end, next) = (self.lexer.position(), self.lexer.peek());
        let mut error = expected_next(self.lexer, "`;`");
        let ends_line = self.lexer.slice(Span { start: end, end: next.start }).contains('\n');
        if !ends_line {
            return Err(error);
        }
        error.span = Span { start: end, end };
        self.test.report(*error);
        Ok(())
    }

    fn declaration(&mut self) -> Parsed<()> {
        let Some(mut ty) = parse_type(self.lexer) else { return Err(expected_next(self.lexer, "a type")) };
        // In `int *p, r` the star belongs to `p` alone.
        let base = ty.without_pointers();
        loop {
            while self.lexer.eat("*") {
                ty = ty.pointer_to();
            }
            let token = self.lexer.next();
            if token.kind != Kind::Ident {
                return Err(expected(self.lexer, token, "a variable"));
            }
            if self.lexer.at("[") {
                let error = Diagnostic::error(token.span(), "local arrays are not supported in C tests");
                return Err(Box::new(error.label("an array")));
            }
            let name = self.lexer.text(token);
            if self.lexer.eat("=") {
                // The name is known in its own initial value.
                let local = self.declare(name, ty);
                let (value, from) = self.assignment_value()?;
                let value = self.convert(value, from, ty);
                self.set_local(local.reg, value);
            } else {
                self.declare(name, ty);
            }
            if self.lexer.eat(",") {
                ty = base;
                continue;
            }
            return self.semicolon();
        }
    }

    /// Assigns to a local; a load that was just made for the purpose goes there directly.
    fn set_local(&mut self, local: Reg, value: Operand) {
        let is_fresh = (0..self.temporaries).any(|t| Operand::Reg(self.builder().temporary(t)) == value);
        let thread = self.builder();
        match thread.function.body.last_mut() {
            Some(Instr::Load { dst, .. } | Instr::Rmw { dst: Some(dst), .. })
                if is_fresh && Operand::Reg(*dst) == value =>
            {
                *dst = local;
            }
            _ => thread.assign(local, Rvalue::Use(value)),
        }
    }

    /// `(condition)`, as an open branch that is taken to its else side if the condition is zero.
    fn condition(&mut self) -> Parsed<usize> {
        let first = self.builder().function.spans.len();
        expect(self.lexer, "(")?;
        let value = self.truth()?;
        expect(self.lexer, ")")?;
        let branch = self.builder().emit_open(Some(value));
        let (start, end) = (self.builder().span.start, self.lexer.position());
        self.builder().widen_spans(first, start, end);
        Ok(branch)
    }

    fn if_statement(&mut self) -> Parsed<()> {
        self.lexer.next();
        let branch = self.condition()?;
        self.statement()?;
        if !self.lexer.eat_word("else") {
            let end = self.next_label();
            self.builder().patch(branch, end);
            return Ok(());
        }
        let skip = self.builder().emit_open(None);
        let otherwise = self.next_label();
        self.builder().patch(branch, otherwise);
        self.statement()?;
        let end = self.next_label();
        self.builder().patch(skip, end);
        Ok(())
    }

    fn while_statement(&mut self) -> Parsed<()> {
        self.lexer.next();
        let start = self.next_label();
        let branch = self.condition()?;
        self.loops.push(Loop::default());
        let result = self.statement();
        self.builder().emit(Instr::Jump(start));
        let end = self.next_label();
        self.builder().patch(branch, end);
        self.end_loop(start, end);
        result
    }

    fn do_statement(&mut self) -> Parsed<()> {
        self.lexer.next();
        let start = self.next_label();
        self.loops.push(Loop::default());
        let result = self.statement();
        let test = self.next_label();
        let rest = result.and_then(|()| {
            if !self.lexer.eat_word("while") {
                return Err(expected_next(self.lexer, "`while` after the body of `do`"));
            }
            self.temporaries = 0;
            let branch = self.condition()?;
            self.builder().patch_then(branch, start);
            self.semicolon()
        });
        let end = self.next_label();
        self.end_loop(test, end);
        rest
    }

    /// Read in the order of the source: condition, step, body; the jumps put them in the order of execution.
    fn for_statement(&mut self) -> Parsed<()> {
        self.lexer.next();
        expect(self.lexer, "(")?;
        let first = self.lexer.peek();
        if is_type_word(self.lexer.text(first)) {
            self.declaration()?;
        } else {
            if !self.lexer.at(";") {
                self.expression()?;
            }
            self.semicolon()?;
        }
        let start = self.next_label();
        self.temporaries = 0;
        let condition = if self.lexer.at(";") { Value(1).into() } else { self.truth()? };
        self.semicolon()?;
        let branch = self.builder().emit_open(Some(condition));
        let step = self.next_label();
        self.temporaries = 0;
        if !self.lexer.at(")") {
            self.expression()?;
        }
        expect(self.lexer, ")")?;
        self.builder().emit(Instr::Jump(start));
        let body = self.next_label();
        self.builder().patch_then(branch, body);
        self.loops.push(Loop::default());
        let result = self.statement();
        self.builder().emit(Instr::Jump(step));
        let end = self.next_label();
        self.builder().patch(branch, end);
        self.end_loop(step, end);
        result
    }

    fn leave_loop(&mut self, is_break: bool, span: Span) -> Parsed<()> {
        self.lexer.next();
        if self.loops.is_empty() {
            let what = if is_break { "break" } else { "continue" };
            let error = Diagnostic::error(span, format!("`{what}` outside of a loop"));
            return Err(Box::new(error.label("no loop to leave")));
        }
        let jump = self.builder().emit_open(None);
        if let Some(frame) = self.loops.last_mut() {
            if is_break { &mut frame.breaks } else { &mut frame.continues }.push(jump);
        }
        self.semicolon()
    }

    fn end_loop(&mut self, next: Label, end: Label) {
        let frame = self.loops.pop().unwrap_or_default();
        for at in frame.breaks {
            self.builder().patch(at, end);
        }
        for at in frame.continues {
            self.builder().patch(at, next);
        }
    }

    /// An expression whose value is wanted.
    fn value(&mut self) -> Parsed<(Operand, Type)> {
        let node = self.expression()?;
        self.read(node)
    }

    /// An expression without a comma at its top whose value is wanted.
    fn assignment_value(&mut self) -> Parsed<(Operand, Type)> {
        let node = self.assignment()?;
        self.read(node)
    }

    /// An expression as something that is zero or not.
    fn truth(&mut self) -> Parsed<Operand> {
        Ok(self.value()?.0)
    }

    /// A new temporary.
    fn temporary(&mut self) -> Reg {
        self.temporaries += 1;
        let index = self.temporaries - 1;
        self.builder().temporary(index)
    }

    /// Assigns to a new temporary.
    fn compute(&mut self, value: Rvalue) -> Operand {
        let reg = self.temporary();
        self.builder().assign(reg, value);
        reg.into()
    }

    /// A name in an expression.
    fn name(&mut self, name: &'a str, span: Span) -> Parsed<Node> {
        if let Some(index) = self.locals.iter().position(|local| local.name == name) {
            return Ok(Node::Local(index));
        }
        if let Some(parameter) = self.parameters.iter().find(|p| p.name == name) {
            return Ok(Node::Value(Value::pointer(parameter.object, 0).into(), parameter.ty));
        }
        if matches!(name, "NULL" | "false" | "true") {
            return Ok(Node::Value(Value(u64::from(name == "true")).into(), Type::INT));
        }
        // herd7 takes an assignment to a new name as its declaration.
        if self.lexer.at("=") && self.test.find_global(name).is_none() {
            self.declare(name, Type::INT);
            let index = self.locals.len() - 1;
            self.locals[index].implicit = true;
            return Ok(Node::Local(index));
        }
        let error =
            Diagnostic::error(span, format!("`{name}` is not declared in this thread")).label("unknown name");
        if self.test.find_global(name).is_some() {
            let hint =
                format!("a shared location must be a parameter of the thread, as in `atomic_int* {name}`");
            return Err(Box::new(error.hint(hint)));
        }
        let names = self.locals.iter().map(|l| l.name).chain(self.parameters.iter().map(|p| p.name));
        Err(crate::error::suggest(Box::new(error), name, names))
    }
}
