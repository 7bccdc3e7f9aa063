//! Text of numbers, strings, options, lists, ids, values, operands, spans and annotations.

use super::lexer::Token;
use super::parser::{Kind, Parser, Text};
use crate::annotation::{Ann, Order, Role};
use crate::program::{Callee, FunctionId, Label, ObjectId, Operand, Reg, ThreadId};
use crate::value::Value;
use fencepost_diag::{Diagnostic, Span};

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Text for $type {
            fn print(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }

            fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
                parser.int()
            }
        }
    )*};
}

integers!(u8, u32, i64, usize);

/// An id: a sign and a number.
macro_rules! ids {
    ($($type:ident $sign:literal $kind:ident;)*) => {$(
        impl Text for $type {
            fn print(&self, out: &mut String) {
                out.push_str($sign);
                self.0.print(out);
            }

            fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
                let span = parser.span();
                parser.sign($sign)?;
                let index: u32 = parser.int()?;
                parser.note(Kind::$kind, index as usize, span);
                Ok($type(index))
            }
        }
    )*};
}

ids! {
    Reg "%" Register;
    Label ":" Label;
    FunctionId "#" Function;
    ThreadId "!" Thread;
    ObjectId "&" Object;
}

impl Text for bool {
    fn print(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if parser.eat_word("true") {
            return Ok(true);
        }
        if parser.eat_word("false") { Ok(false) } else { Err(parser.expected("`true` or `false`")) }
    }
}

impl Text for String {
    fn print(&self, out: &mut String) {
        out.push('"');
        for c in self.chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '"' | '\\' => out.extend(['\\', c]),
                c => out.push(c),
            }
        }
        out.push('"');
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        match parser.peek() {
            Token::Str(value) => {
                let value = value.clone();
                parser.take();
                Ok(value)
            }
            _ => Err(parser.expected("a string")),
        }
    }
}

impl<T: Text> Text for Option<T> {
    fn print(&self, out: &mut String) {
        match self {
            None => out.push_str("none"),
            Some(value) => value.print(out),
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if parser.eat_word("none") { Ok(None) } else { T::parse(parser).map(Some) }
    }
}

impl<T: Text> Text for Vec<T> {
    fn print(&self, out: &mut String) {
        out.push('[');
        for (i, value) in self.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            value.print(out);
        }
        out.push(']');
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        parser.sign("[")?;
        let mut values = Vec::new();
        while !parser.eat_sign("]") {
            if !values.is_empty() {
                parser.sign(",")?;
            }
            values.push(T::parse(parser)?);
        }
        Ok(values)
    }
}

impl<T: Text> Text for Box<T> {
    fn print(&self, out: &mut String) {
        T::print(self, out);
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        T::parse(parser).map(Box::new)
    }
}

/// A pointer may lead to an object that does not exist: that is a finding of the engines, not an error here.
impl Text for Value {
    fn print(&self, out: &mut String) {
        out.push_str(&format!("{self:?}"));
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if !parser.eat_sign("&") {
            return parser.int::<i64>().map(Value::from_i64);
        }
        let span = parser.span();
        let object: u32 = parser.int()?;
        if object >= 1 << 30 {
            return Err(Box::new(Diagnostic::error(span, "this number is out of range")));
        }
        let offset = if parser.eat_sign("+") { parser.int()? } else { 0 };
        Ok(Value::pointer(ObjectId(object), offset))
    }
}

impl Text for Operand {
    fn print(&self, out: &mut String) {
        match self {
            Operand::Reg(reg) => reg.print(out),
            Operand::Const(value) => value.print(out),
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        match parser.peek() {
            Token::Sign("%") => Reg::parse(parser).map(Operand::Reg),
            Token::Sign("&") | Token::Int(_) => Value::parse(parser).map(Operand::Const),
            _ => Err(parser.expected("a register, a number or a pointer")),
        }
    }
}

impl Text for Callee {
    fn print(&self, out: &mut String) {
        match self {
            Callee::Function(function) => function.print(out),
            Callee::Pointer(pointer) => pointer.print(out),
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        match parser.peek() {
            Token::Sign("#") => FunctionId::parse(parser).map(Callee::Function),
            _ => Operand::parse(parser).map(Callee::Pointer),
        }
    }
}

/// Empty text for the empty span at 0.
impl Text for Span {
    fn print(&self, out: &mut String) {
        if *self != Span::default() {
            out.push_str(&format!(" @{}..{}", self.start, self.end));
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        if !parser.eat_sign("@") {
            return Ok(Span::default());
        }
        let start = parser.int()?;
        parser.sign("..")?;
        Ok(Span { start, end: parser.int()? })
    }
}

/// The flags of an annotation and their words, after the order: `acq+exclusive`.
type Flag = (&'static str, fn(&mut Ann) -> &mut bool);
const FLAGS: [Flag; 4] = [
    ("exclusive", |ann| &mut ann.exclusive),
    ("no_return", |ann| &mut ann.no_return),
    ("volatile", |ann| &mut ann.volatile),
    ("non_temporal", |ann| &mut ann.non_temporal),
];

impl Text for Ann {
    fn print(&self, out: &mut String) {
        self.order.print(out);
        let mut ann = *self;
        for (word, flag) in FLAGS {
            if *flag(&mut ann) {
                out.push('+');
                out.push_str(word);
            }
        }
        if let Some((word, _)) = Role::ALL.iter().find(|(_, role)| *role == self.role) {
            out.push('+');
            out.push_str(word);
        }
    }

    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>> {
        let mut ann = Ann::order(Order::parse(parser)?);
        while parser.eat_sign("+") {
            if let Some(&(_, role)) = Role::ALL.iter().find(|(word, _)| parser.is_word(word)) {
                ann.role = role;
                parser.take();
                continue;
            }
            match FLAGS.iter().find(|(word, _)| parser.is_word(word)) {
                Some((_, flag)) => *flag(&mut ann) = true,
                None => return Err(parser.expected("`exclusive`, `no_return`, `volatile` or `non_temporal`")),
            }
            parser.take();
        }
        Ok(ann)
    }
}
