//! Declarations: shared variables, processes, procedures, and what is started.
//!
//! The parser writes IR as it reads; names of procedures are collected first, so that they can be used before they are
//! declared. All errors end the parse: one message, the first one.

use crate::lexer::{Token, tokens};
use crate::words::{WIDTHS, lookup};
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::{Cell, Function, FunctionId, Object, ObjectId, Program, Thread, Value, Width};

pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Words that cannot be names.
const KEYWORDS: [&str; 28] = [
    "shared",
    "process",
    "procedure",
    "main",
    "start",
    "reg",
    "if",
    "else",
    "while",
    "goto",
    "branch",
    "skip",
    "assume",
    "assert",
    "atomic",
    "atomic_begin",
    "atomic_end",
    "fence",
    "call",
    "return",
    "spawn",
    "join",
    "lock",
    "unlock",
    "nondet",
    "exists",
    "forall",
    "never",
];

/// Blocks and expressions may be nested this deep; the parser recurses.
const MAX_DEPTH: u32 = 100;

/// A list of tokens, a place in it, and the program so far.
pub(crate) struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    pub(crate) program: Program,
    depth: u32,
    /// Which functions run if nothing is started.
    runs: Vec<bool>,
}

impl Parser {
    pub(crate) fn new(text: &str) -> Parsed<Parser> {
        let tokens = tokens(text)?;
        Ok(Parser { tokens, at: 0, program: Program::default(), depth: 0, runs: Vec::new() })
    }

    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(crate) fn peek_after(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place of the token before.
    pub(crate) fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    pub(crate) fn take(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    pub(crate) fn expected(&self, what: impl std::fmt::Display) -> Box<Diagnostic> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(n) => format!("`{n}`"),
            Token::Str(_) => "a string".into(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "end of file".into(),
        };
        let error = Diagnostic::error(self.span(), format!("unexpected {found}"));
        Box::new(error.label(format!("expected {what}")))
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    pub(crate) fn eat_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.take();
        }
        found
    }

    pub(crate) fn sign(&mut self, sign: &str) -> Parsed<()> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.expected(format!("`{sign}`"))) }
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    /// A name that is not a keyword.
    pub(crate) fn name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.peek() {
            Token::Word(word) if KEYWORDS.contains(&word.as_str()) => {
                let error = Diagnostic::error(span, format!("`{word}` is a keyword"));
                Err(Box::new(error.label(format!("expected {what}"))))
            }
            Token::Word(word) => {
                let word = word.clone();
                self.take();
                Ok((word, span))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number, perhaps with a minus.
    pub(crate) fn number(&mut self) -> Parsed<i64> {
        let negative = self.eat_sign("-");
        let Token::Int(n) = *self.peek() else { return Err(self.expected("a number")) };
        self.take();
        Ok(if negative { n.wrapping_neg() } else { n })
    }

    /// Runs a parser one level deeper.
    pub(crate) fn nested<T>(&mut self, parse: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(Box::new(Diagnostic::error(self.span(), "this is nested too deeply")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn object(&self, name: &str) -> Option<ObjectId> {
        self.program.object_named(name)
    }

    pub(crate) fn function(&self, name: &str) -> Option<FunctionId> {
        self.program.functions.iter().position(|f| f.name == name).map(|i| FunctionId(i as u32))
    }

    /// `NAME(args)` of a call, a spawn or a start: the function.
    pub(crate) fn callee(&mut self) -> Parsed<FunctionId> {
        let (name, span) = self.name("the name of a procedure")?;
        self.function(&name).ok_or_else(|| {
            let error = Diagnostic::error(span, format!("there is no procedure or process `{name}`"));
            Box::new(error)
        })
    }

    pub(crate) fn check_count(&self, function: FunctionId, given: usize, span: Span) -> Parsed<()> {
        let function = &self.program.functions[function.0 as usize];
        if function.params as usize == given {
            return Ok(());
        }
        let error =
            Diagnostic::error(span, format!("`{}` takes {} arguments", function.name, function.params));
        Err(Box::new(error.label(format!("{given} are given"))))
    }

    /// The whole file.
    pub(crate) fn file(&mut self) -> Parsed<()> {
        self.runs = self.declare_functions()?;
        let mut started = false;
        let mut next_function = 0;
        while *self.peek() != Token::End {
            if self.eat_word("shared") {
                self.shared()?;
            } else if self.is_word("process") || self.is_word("procedure") || self.is_word("main") {
                self.function_body(next_function)?;
                next_function += 1;
            } else if self.eat_word("start") {
                started = true;
                self.start()?;
            } else if self.eat_word("program") {
                self.program_name()?;
            } else if self.is_property() {
                self.property()?;
            } else {
                let what = "`shared`, `process`, `procedure`, `main`, `start`, `exists`, `forall` or `never`";
                return Err(self.expected(what));
            }
        }
        if !started {
            self.start_processes();
        }
        if self.program.threads.is_empty() {
            let error = Diagnostic::error(self.span(), "nothing is started");
            return Err(Box::new(error.hint("add a `process`, a `main` or a `start`")));
        }
        Ok(())
    }

    /// The number that the thread of a process gets if nothing is started explicitly.
    pub(crate) fn process_number(&self, function: usize) -> Option<usize> {
        let runs = |i: &usize| self.runs[*i] && self.program.functions[*i].params == 0;
        let startless = self.program.threads.is_empty();
        (startless && runs(&function)).then(|| (0..function).filter(runs).count())
    }

    fn program_name(&mut self) -> Parsed<()> {
        let Token::Str(name) = self.peek().clone() else { return Err(self.expected("a string")) };
        self.program.name = name;
        self.take();
        self.sign(";")
    }

    /// First pass: the names and numbers of parameters of all functions, and which run if nothing is started.
    fn declare_functions(&mut self) -> Parsed<Vec<bool>> {
        let mut kinds = Vec::new();
        while *self.peek() != Token::End {
            let kind = ["process", "procedure", "main"].into_iter().find(|kind| self.is_word(kind));
            self.take();
            let Some(kind) = kind else { continue };
            let (name, span) = self.name("a name")?;
            if self.function(&name).is_some() {
                return Err(Box::new(Diagnostic::error(span, format!("`{name}` is declared twice"))));
            }
            let mut function = Function { name, ..Function::default() };
            if self.eat_sign("(") {
                while !self.eat_sign(")") {
                    if function.params > 0 {
                        self.sign(",")?;
                    }
                    let (name, span) = self.name("the name of a parameter")?;
                    if function.regs.contains(&name) {
                        return Err(Box::new(Diagnostic::error(span, format!("`{name}` is declared twice"))));
                    }
                    function.new_reg(name);
                    function.params += 1;
                }
            }
            self.program.functions.push(function);
            kinds.push(kind);
        }
        self.at = 0;
        let has_main = kinds.contains(&"main");
        Ok(kinds.into_iter().map(|kind| kind == "main" || kind == "process" && !has_main).collect())
    }

    /// Without `start`: `main` alone if there is one, else every process.
    fn start_processes(&mut self) {
        for (i, function) in self.program.functions.iter().enumerate() {
            if self.runs[i] && function.params == 0 {
                let (name, function) = (function.name.clone(), FunctionId(i as u32));
                self.program.threads.push(Thread { name, function, args: Vec::new() });
            }
        }
    }

    /// `start P(0), P(1);`
    fn start(&mut self) -> Parsed<()> {
        loop {
            let span = self.span();
            let function = self.callee()?;
            let mut args = Vec::new();
            if self.eat_sign("(") {
                while !self.eat_sign(")") {
                    if !args.is_empty() {
                        self.sign(",")?;
                    }
                    args.push(self.constant()?);
                }
            }
            self.check_count(function, args.len(), span)?;
            let base = self.program.functions[function.0 as usize].name.clone();
            let mut name = base.clone();
            if self.eat_word("as") {
                let Token::Str(given) = self.peek().clone() else { return Err(self.expected("a string")) };
                self.take();
                name = given;
            } else if self.program.threads.iter().any(|thread| thread.name == name) {
                name = format!("{base}_{}", self.program.threads.len());
            }
            self.program.threads.push(Thread { name, function, args });
            if !self.eat_sign(",") {
                return self.sign(";");
            }
        }
    }

    /// A number, or the address of a shared variable or of an element.
    pub(crate) fn constant(&mut self) -> Parsed<Value> {
        if !self.eat_sign("&") {
            return self.number().map(Value::from_i64);
        }
        let (name, span) = self.name("the name of a shared variable")?;
        let Some(object) = self.object(&name) else { return Err(unknown(&name, span)) };
        let index = if self.eat_sign("[") {
            let index = self.number()?;
            self.sign("]")?;
            index
        } else {
            0
        };
        let cells = &self.program.objects[object.0 as usize].cells;
        let cell = usize::try_from(index).ok().and_then(|index| cells.get(index));
        cell.map(|cell| Value::pointer(object, cell.offset)).ok_or_else(|| {
            let error = Diagnostic::error(span, format!("`{name}` has no element {index}"));
            Box::new(error.label(format!("it has {}", cells.len())))
        })
    }

    /// `shared x = 1, a[3] = {0, 1, 2}, p: w64 = &x;`
    fn shared(&mut self) -> Parsed<()> {
        loop {
            let (name, span) = self.name("the name of a shared variable")?;
            if self.object(&name).is_some() || self.function(&name).is_some() {
                return Err(Box::new(Diagnostic::error(span, format!("`{name}` is declared twice"))));
            }
            let length = if self.eat_sign("[") { Some(self.array_length()?) } else { None };
            let mut width = Width::W32;
            if self.eat_sign(":") {
                let Token::Word(word) = self.peek() else {
                    return Err(self.expected("a width such as `w64`"));
                };
                width = lookup(&WIDTHS, word).ok_or_else(|| self.expected("a width such as `w64`"))?;
                self.take();
            }
            let init = if self.eat_sign("=") { self.initial_values()? } else { Vec::new() };
            let count = length.unwrap_or(1);
            if init.len() > count.max(1) {
                let error =
                    Diagnostic::error(span, format!("`{name}` has more initial values than elements"));
                return Err(Box::new(error));
            }
            let init_of = |i: usize| match (init.get(i), init.len(), length) {
                (Some(value), _, _) => *value,
                // One value for an array is for all of its elements.
                (None, 1, Some(_)) => init[0],
                _ => Some(Value::ZERO),
            };
            let bytes = width.bytes();
            let cells = (0..count)
                .map(|i| Cell { offset: i as u32 * bytes, width, init: init_of(i).map(|v| narrow(width, v)) })
                .collect();
            self.program.objects.push(Object {
                name,
                size: count as u32 * bytes,
                cells,
                span,
                constant: false,
            });
            if !self.eat_sign(",") {
                return self.sign(";");
            }
        }
    }

    fn array_length(&mut self) -> Parsed<usize> {
        let span = self.span();
        let length = self.number()?;
        self.sign("]")?;
        match usize::try_from(length) {
            Ok(length) if (1..=1 << 16).contains(&length) => Ok(length),
            _ => Err(Box::new(Diagnostic::error(span, "an array has 1 to 65536 elements"))),
        }
    }

    /// `1`, `?` for none, or `{1, ?, 2}`.
    fn initial_values(&mut self) -> Parsed<Vec<Option<Value>>> {
        let one = |parser: &mut Parser| match parser.eat_sign("?") {
            true => Ok(None),
            false => parser.constant().map(Some),
        };
        if !self.eat_sign("{") {
            return Ok(vec![one(self)?]);
        }
        let mut values = Vec::new();
        while !self.eat_sign("}") {
            if !values.is_empty() {
                self.sign(",")?;
            }
            values.push(one(self)?);
        }
        Ok(values)
    }
}

/// Initial values are kept as a load of that cell would give them.
fn narrow(width: Width, value: Value) -> Value {
    if width == Width::W64 { value } else { width.sign_extend(value) }
}

pub(crate) fn unknown(name: &str, span: Span) -> Box<Diagnostic> {
    let error = Diagnostic::error(span, format!("`{name}` is not declared"));
    Box::new(error.hint("declare it with `shared` for all processes, or with `reg` in this one"))
}
