//! The preprocessor: files in, one list of expanded tokens out.
//!
//! `macros` defines and expands, `conditional` evaluates `#if`, `include` finds files. The state survives a run, so that
//! runtime modules can be read after the user's file with the same macros.

// An error ends the run, so its size costs nothing.
#![allow(clippy::result_large_err)]

mod conditional;
mod include;
mod macros;

use crate::Options;
use crate::intern::{Interner, Symbol};
use crate::lexer::lex;
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, SourceFile, SourceMap, Span};
pub use include::is_system;
use macros::{Frame, Macro};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Files included in each other deeper than this are an error: the usual reason is a file that includes itself.
const MAX_INCLUDE_DEPTH: usize = 64;

/// The state of preprocessing.
pub struct Preprocessor<'a> {
    /// All files read so far.
    pub sources: SourceMap,
    /// All strings seen so far.
    pub interner: Interner,
    /// Warnings, such as `#warning`.
    pub warnings: Vec<Diagnostic>,
    options: &'a Options<'a>,
    macros: Vec<Option<Rc<Macro>>>,
    /// Macros whose expansion is being read, by symbol: they are not expanded again.
    disabled: Vec<Symbol>,
    /// The same as a set.
    is_disabled: FxHashSet<Symbol>,
    /// An offset and its line: the next line that is asked for is mostly behind it.
    last_line: (u32, i64),
    /// Macro bodies and arguments that are being read, innermost last.
    frames: Vec<Frame>,
    files: Vec<OpenFile>,
    read_once: FxHashSet<String>,
    /// Macros of the user are not seen: a runtime module is read.
    internal: bool,
    counter: i64,
    expanded: u64,
    /// Macro arguments that are being expanded, one within the other.
    depth: usize,
    words: Words,
}

/// A file that is being read.
struct OpenFile {
    name: String,
    tokens: Rc<[Token]>,
    at: usize,
    conditions: Vec<Condition>,
    /// What `#line` adds to line numbers, and the name that it gives the file.
    line_shift: i64,
    shown_name: Option<Symbol>,
}

/// An open `#if`.
struct Condition {
    span: Span,
    /// The current branch is read.
    active: bool,
    /// Some branch was taken already, or the whole `#if` is skipped.
    done: bool,
    else_seen: bool,
}

/// Symbols that the preprocessor itself knows.
struct Words {
    defined: Symbol,
    va_args: Symbol,
    file: Symbol,
    line: Symbol,
    counter: Symbol,
    pragma: Symbol,
    has_include: Symbol,
    has_builtin: Symbol,
}

impl<'a> Preprocessor<'a> {
    /// A preprocessor with the predefined macros and those of the options.
    pub fn new(mut interner: Interner, options: &'a Options<'a>) -> Preprocessor<'a> {
        let words = Words {
            defined: interner.intern("defined"),
            va_args: interner.intern("__VA_ARGS__"),
            file: interner.intern("__FILE__"),
            line: interner.intern("__LINE__"),
            counter: interner.intern("__COUNTER__"),
            pragma: interner.intern("_Pragma"),
            has_include: interner.intern("__has_include"),
            has_builtin: interner.intern("__has_builtin"),
        };
        Preprocessor {
            sources: SourceMap::default(),
            interner,
            warnings: Vec::new(),
            options,
            macros: Vec::new(),
            disabled: Vec::new(),
            is_disabled: FxHashSet::default(),
            last_line: (0, 0),
            frames: Vec::new(),
            files: Vec::new(),
            read_once: FxHashSet::default(),
            internal: false,
            counter: 0,
            expanded: 0,
            depth: 0,
            words,
        }
    }

    /// The tokens of the user's file, after the predefined macros, `-D` and `--include`.
    pub fn run_main(&mut self, file: &SourceFile) -> Result<Vec<Token>, Diagnostic> {
        // The user's file comes first in the source map, so that its spans are its own offsets.
        let base = self.sources.add(file.clone());
        let mut out = Vec::with_capacity(file.text.len() / 3);
        self.predefine(&mut out)?;
        for header in &self.options.assumed_headers {
            self.run_text("<command line>", format!("#include <{header}>\n"), &mut out)?;
        }
        for name in &self.options.includes {
            let text = format!("#include \"{name}\"\n");
            self.run_text("<command line>", text, &mut out)?;
        }
        self.open(file.name.clone(), base, &file.text)?;
        self.drain(&mut out)?;
        Ok(out)
    }

    /// Defines the predefined macros and those of the options.
    pub fn predefine(&mut self, out: &mut Vec<Token>) -> Result<(), Diagnostic> {
        let prelude = self.prelude();
        self.run_text("<predefined>", prelude, out)
    }

    /// The tokens of another file, with the macros of what was read before.
    pub fn run_text(&mut self, name: &str, text: String, out: &mut Vec<Token>) -> Result<(), Diagnostic> {
        let file = SourceFile::new(name, text);
        let text = file.text.clone();
        let base = self.sources.add(file);
        self.open(name.to_string(), base, &text)?;
        self.drain(out)
    }

    /// What the command line said.
    pub fn options(&self) -> &'a Options<'a> {
        self.options
    }

    /// Begins another file of the same program: macros are forgotten.
    pub fn next_file(&mut self) {
        self.macros.clear();
        self.read_once.clear();
        self.expanded = 0;
    }

    /// As [`Preprocessor::run_text`], for a module of our own, which macros of the user must not change.
    pub fn run_module(&mut self, name: &str, text: String, out: &mut Vec<Token>) -> Result<(), Diagnostic> {
        self.internal = true;
        let done = self.run_text(name, text, out);
        self.internal = false;
        done
    }

    /// A file with `#pragma once`, such as every built-in header, was read.
    pub fn has_read(&self, name: &str) -> bool {
        self.read_once.contains(name)
    }

    fn prelude(&self) -> String {
        let mut text = crate::headers::PREDEFINED.to_string();
        text.push_str(self.options.target.macros());
        for (name, value) in &self.options.defines {
            text.push_str(&format!("#define {name} {}\n", value.as_deref().unwrap_or("1")));
        }
        text
    }

    fn open(&mut self, name: String, base: u32, text: &str) -> Result<(), Diagnostic> {
        let tokens = lex(text, base, &mut self.interner)?.into();
        let conditions = Vec::new();
        self.files.push(OpenFile { name, tokens, at: 0, conditions, line_shift: 0, shown_name: None });
        Ok(())
    }

    /// Reads until the file stack is empty.
    fn drain(&mut self, out: &mut Vec<Token>) -> Result<(), Diagnostic> {
        loop {
            let token = self.next_expanded(true)?;
            match token.kind {
                TokenKind::Eof => return Ok(()),
                TokenKind::Unclosed => return Err(self.unclosed(&token)),
                _ => out.push(token),
            }
        }
    }

    fn unclosed(&self, token: &Token) -> Diagnostic {
        let string = self.interner.text(token.symbol).contains('"');
        let (what, quote) = if string { ("string", '"') } else { ("character constant", '\'') };
        Diagnostic::error(token.span, format!("this {what} is never closed"))
            .hint(format!("add the closing {quote}"))
    }

    /// The next token of the open files, directives carried out; `Eof` when all are read.
    fn next_from_files(&mut self) -> Result<Token, Diagnostic> {
        loop {
            let Some(file) = self.files.last_mut() else { return Ok(end_of_input(Span::default())) };
            let Some(&token) = file.tokens.get(file.at) else {
                if let Some(open) = file.conditions.last() {
                    return Err(Diagnostic::error(open.span, "this conditional is never closed")
                        .label("opened here")
                        .hint("add `#endif`"));
                }
                self.files.pop();
                continue;
            };
            file.at += 1;
            if token.first_on_line && token.is(Punct::Hash) {
                self.directive(token)?;
                // A pragma that is passed on comes before what follows it.
                if !self.frames.is_empty() {
                    return self.next_raw(true);
                }
                continue;
            }
            if self.skipping() {
                self.skip_line();
                continue;
            }
            return Ok(token);
        }
    }

    fn skipping(&self) -> bool {
        self.files.last().and_then(|f| f.conditions.last()).is_some_and(|c| !c.active)
    }

    /// The rest of the current line.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(file) = self.files.last_mut() else { return Vec::new() };
        let start = file.at;
        while file.tokens.get(file.at).is_some_and(|t| !t.first_on_line) {
            file.at += 1;
        }
        file.tokens[start..file.at].to_vec()
    }

    fn skip_line(&mut self) {
        if let Some(file) = self.files.last_mut() {
            while file.tokens.get(file.at).is_some_and(|t| !t.first_on_line) {
                file.at += 1;
            }
        }
    }

    fn directive(&mut self, hash: Token) -> Result<(), Diagnostic> {
        let line = self.rest_of_line();
        let Some((&name, rest)) = line.split_first() else { return Ok(()) };
        let word = match name.kind {
            TokenKind::Ident => self.interner.shared(name.symbol),
            // `# 12 "file"`: a line marker of another preprocessor.
            TokenKind::Number if self.skipping() => return Ok(()),
            TokenKind::Number => return self.line_directive(hash.span, &line),
            _ => "".into(),
        };
        let span = hash.span.to(name.span);
        match &*word {
            "if" | "ifdef" | "ifndef" | "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                self.conditional(&word, span, rest)
            }
            _ if self.skipping() => Ok(()),
            "define" => self.define(span, rest),
            "undef" => self.undefine(span, rest),
            "include" | "import" => self.include(span, rest, false),
            "include_next" => self.include(span, rest, true),
            "error" => {
                Err(Diagnostic::error(span.to(end_of(&line, span)), format!("#error {}", self.spell(rest))))
            }
            "warning" => {
                let message = format!("#warning {}", self.spell(rest));
                self.warnings.push(Diagnostic::warning(span, message));
                Ok(())
            }
            "pragma" => {
                self.pragma(span, rest);
                Ok(())
            }
            "line" => self.line_directive(span, rest),
            "ident" | "sccs" | "assert" | "unassert" => Ok(()),
            _ => Err(Diagnostic::error(span, format!("unknown directive `#{}`", self.spell(&line[..1])))
                .hint(
                    "known are define, undef, include, if, ifdef, ifndef, elif, else, endif, error, pragma",
                )),
        }
    }

    /// The line of an offset; lines that are asked for in order are found by going on from the one before.
    fn line_of(&mut self, offset: u32) -> i64 {
        let Some((base, file)) = self.sources.locate(offset) else { return 0 };
        let (known, line) = match self.last_line {
            (known, line) if known >= base && known <= offset && line > 0 => (known, line),
            _ => (base, 1),
        };
        let between = file.text.as_bytes().get((known - base) as usize..(offset - base) as usize);
        let line = line + between.map_or(0, |text| text.iter().filter(|c| **c == b'\n').count() as i64);
        self.last_line = (offset, line);
        line
    }

    /// `#line 12 "file"`: what `__LINE__` and `__FILE__` say from the next line on. Messages keep to the real place.
    fn line_directive(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let expanded = match rest.first().map(|t| t.kind) {
            Some(TokenKind::Number) => rest.to_vec(),
            _ => self.expand_alone(rest)?,
        };
        let number = expanded.first().filter(|t| t.kind == TokenKind::Number);
        let Some(number) = number.and_then(|t| self.interner.text(t.symbol).parse::<i64>().ok()) else {
            return Err(
                Diagnostic::error(span, "`#line` needs a number").hint("`#line 12` or `#line 12 \"file\"`")
            );
        };
        let name = expanded.get(1).filter(|t| t.kind == TokenKind::Str).map(|t| t.symbol);
        let here = self.line_of(span.start);
        if let Some(file) = self.files.last_mut() {
            file.line_shift = number - (here + 1);
            file.shown_name = name.or(file.shown_name);
        }
        Ok(())
    }

    /// `#pragma once` is for us, `#pragma pack` for the parser.
    pub(super) fn pragma(&mut self, span: Span, rest: &[Token]) {
        let word = match rest.first() {
            Some(t) if t.kind == TokenKind::Ident => self.interner.shared(t.symbol),
            _ => return,
        };
        if &*word == "once" {
            self.read_once.extend(self.files.last().map(|file| file.name.clone()));
        } else if &*word == "pack" {
            let marker = Token { symbol: self.interner.intern("__fp_pack"), span, ..rest[0] };
            let mut tokens = vec![marker];
            tokens.extend_from_slice(&rest[1..]);
            self.push_tokens(tokens);
        }
    }

    /// Tokens as text again, for messages and `#`.
    fn spell(&self, tokens: &[Token]) -> String {
        let mut text = String::new();
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 && token.space {
                text.push(' ');
            }
            text.push_str(self.spelling(token));
        }
        text
    }

    fn spelling(&self, token: &Token) -> &str {
        match token.kind {
            TokenKind::Punct(p) => p.text(),
            TokenKind::Eof => "",
            _ => self.interner.text(token.symbol),
        }
    }
}

fn end_of(line: &[Token], otherwise: Span) -> Span {
    line.last().map_or(otherwise, |t| t.span)
}

/// The end marker.
pub fn end_of_input(span: Span) -> Token {
    Token { kind: TokenKind::Eof, symbol: Symbol(0), span, first_on_line: true, space: false, painted: false }
}
