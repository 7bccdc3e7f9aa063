//! Text of instructions, functions, objects, threads and programs.

use super::lexer::Token;
use super::parser::{Kind, Parser, Text, print_field};
use crate::names::Names;
use crate::program::{Cell, Function, Instr, Object, Program, Rvalue, Thread, Until};
use crate::property::Property;
use fencepost_diag::{Diagnostic, Span};

/// Variants that are a word followed by their fields by name. A field of a tuple variant is given by its number.
macro_rules! variants {
    ($type:ident, $what:literal { $($variant:ident = $word:literal { $($name:ident: $field:tt),* })* }) => {
        impl Text for $type {
            fn print(&self, out: &mut String) {
                match self {
                    $($type::$variant { $($field: $name),* } => {
                        out.push_str($word);
                        $(print_field(out, stringify!($name), $name);)*
                    })*
                }
            }

            fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
                $(if parser.eat_word($word) {
                    return Ok($type::$variant { $($field: parser.field(stringify!($name))?),* });
                })*
                Err(parser.expected($what))
            }
        }
    };
}

variants! { Rvalue, "`use`, `unary`, `binary` or `select`" {
    Use = "use" { a: 0 }
    Unary = "unary" { op: 0, width: 1, extend: 2, a: 3 }
    Binary = "binary" { op: 0, width: 1, extend: 2, a: 3, b: 4 }
    Select = "select" { condition: 0, a: 1, b: 2 }
}}

variants! { Instr, "an instruction" {
    Assign = "assign" { dst: dst, value: value }
    Load = "load" { dst: dst, addr: addr, width: width, extend: extend, ann: ann }
    Store = "store" { addr: addr, value: value, width: width, ann: ann }
    StoreExclusive = "store_exclusive" {
        status: status, success: success, addr: addr, value: value, width: width, ann: ann
    }
    Rmw = "rmw" {
        dst: dst, addr: addr, width: width, extend: extend, op: op, operand: operand, read: read, write: write
    }
    CompareExchange = "compare_exchange" {
        dst: dst, success: success, addr: addr, width: width, extend: extend, expected: expected,
        desired: desired, read: read, write: write, failure: failure, weak: weak
    }
    Fence = "fence" { kind: 0 }
    Jump = "jump" { to: 0 }
    Branch = "branch" { condition: condition, then_to: then_to, else_to: else_to }
    Call = "call" { dst: dst, callee: callee, args: args }
    Return = "return" { value: 0 }
    Spawn = "spawn" { dst: dst, callee: callee, args: args }
    Join = "join" { thread: thread, dst: dst }
    Lock = "lock" { addr: 0 }
    Unlock = "unlock" { addr: 0 }
    Assume = "assume" { condition: 0 }
    Round = "round" { condition: 0 }
    Assert = "assert" { condition: condition, kind: kind, message: message }
    Nondet = "nondet" { dst: dst, first: first, last: last }
    Alloc = "alloc" { dst: dst, size: size, zeroed: zeroed }
    Free = "free" { addr: 0 }
    Cut = "cut" { }
    AtomicBegin = "atomic_begin" { }
    AtomicEnd = "atomic_end" { }
    Local = "local" { dst: dst, private: private, object: object }
    EndLocal = "end_local" { addr: 0 }
    ThreadLocal = "thread_local" { dst: dst, object: object }
    ObjectSize = "object_size" { dst: dst, addr: addr }
    CopyLoad = "copy_load" { dst: dst, addr: addr, width: width, extend: extend, ann: ann, keeps: keeps }
    Defined = "defined" { value: 0 }
    SelfThread = "self_thread" { dst: dst }
    Exit = "exit" { value: 0 }
    Halt = "halt" { }
    Await = "await" { dst: dst, addr: addr, width: width, extend: extend, until: until, ann: ann }
    AwaitRmw = "await_rmw" {
        dst: dst, addr: addr, width: width, extend: extend, until: until, op: op, operand: operand, read: read,
        write: write
    }
    TryLock = "try_lock" { dst: dst, addr: addr }
    Fail = "fail" { kind: kind, message: message }
}}

/// The operator and its right-hand side.
impl Text for Until {
    fn print(&self, out: &mut String) {
        self.op.print(out);
        out.push(' ');
        self.operand.print(out);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        Ok(Until { op: Text::parse(parser)?, operand: Text::parse(parser)? })
    }
}

/// `offset:width=init`.
impl Text for Cell {
    fn print(&self, out: &mut String) {
        self.offset.print(out);
        out.push(':');
        self.width.print(out);
        out.push('=');
        self.init.print(out);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        let offset = parser.int()?;
        parser.sign(":")?;
        let width = Text::parse(parser)?;
        parser.sign("=")?;
        Ok(Cell { offset, width, init: Text::parse(parser)? })
    }
}

impl Text for Object {
    fn print(&self, out: &mut String) {
        out.push_str("object ");
        self.name.print(out);
        // Not at the end, where the span of an instruction that makes the object comes.
        self.span.print(out);
        print_field(out, "size", &self.size);
        print_field(out, "constant", &self.constant);
        print_field(out, "cells", &self.cells);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.word("object")?;
        let (name, span) = (Text::parse(parser)?, Span::parse(parser)?);
        let (size, constant) = (parser.field("size")?, parser.field("constant")?);
        Ok(Object { name, span, size, constant, cells: parser.field("cells")? })
    }
}

impl Text for Thread {
    fn print(&self, out: &mut String) {
        out.push_str("thread ");
        self.name.print(out);
        print_field(out, "runs", &self.function);
        print_field(out, "args", &self.args);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.word("thread")?;
        Ok(Thread {
            name: Text::parse(parser)?,
            function: parser.field("runs")?,
            args: parser.field("args")?,
        })
    }
}

impl Text for Function {
    fn print(&self, out: &mut String) {
        out.push_str("function ");
        self.name.print(out);
        print_field(out, "params", &self.params);
        print_field(out, "regs", &self.regs);
        out.push_str(" {\n");
        for (i, (instr, span)) in self.body.iter().zip(&self.spans).enumerate() {
            out.push_str(&format!("  :{i} "));
            instr.print(out);
            span.print(out);
            out.push('\n');
        }
        out.push('}');
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.word("function")?;
        let mut function = Function { name: Text::parse(parser)?, ..Function::default() };
        let place = parser.span();
        function.params = parser.field("params")?;
        function.regs = parser.field("regs")?;
        if function.params as usize > function.regs.len() {
            return Err(Box::new(Diagnostic::error(place, "there are more parameters than registers")));
        }
        parser.sign("{")?;
        while !parser.eat_sign("}") {
            numbered(parser, function.body.len())?;
            let instr = Instr::parse(parser)?;
            let span = Span::parse(parser)?;
            function.push(instr, span);
        }
        parser.check(Kind::Register, function.regs.len(), "register")?;
        // A jump to the end of the body returns.
        parser.check(Kind::Label, function.body.len() + 1, "label")?;
        Ok(function)
    }
}

/// `:n`, the number of the instruction that follows: it may be left out, and if not it must be right.
fn numbered(parser: &mut Parser, expected: usize) -> Result<(), Box<Diagnostic>> {
    if !parser.eat_sign(":") {
        return Ok(());
    }
    match *parser.peek() {
        Token::Int(n) if usize::try_from(n) == Ok(expected) => {
            parser.take();
            Ok(())
        }
        _ => Err(parser.expected(format!("{expected}, the number of this instruction"))),
    }
}

impl Text for Program {
    fn print(&self, out: &mut String) {
        fn lines<T: Text>(items: &[T], out: &mut String) {
            for item in items {
                item.print(out);
                out.push('\n');
            }
        }
        out.push_str("program ");
        self.name.print(out);
        out.push('\n');
        lines(&self.objects, out);
        lines(&self.functions, out);
        lines(&self.threads, out);
        self.property.print(out);
        out.push('\n');
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        fn lines<T: Text>(word: &str, parser: &mut Parser) -> Result<Vec<T>, Box<Diagnostic>> {
            let mut items = Vec::new();
            while parser.is_word(word) {
                items.push(T::parse(parser)?);
            }
            Ok(items)
        }
        parser.word("program")?;
        let program = Program {
            name: Text::parse(parser)?,
            objects: lines("object", parser)?,
            functions: lines("function", parser)?,
            threads: lines("thread", parser)?,
            property: Property::parse(parser)?,
            names: Names::default(),
        };
        parser.check(Kind::Function, program.functions.len(), "function")?;
        parser.check(Kind::Thread, program.threads.len(), "thread")?;
        parser.check(Kind::Object, program.objects.len(), "object")?;
        super::property::check_registers(parser, &program)?;
        Ok(program)
    }
}
