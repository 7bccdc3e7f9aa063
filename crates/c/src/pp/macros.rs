//! Macros: `#define`, `#undef` and expansion.
//!
//! A macro in use is disabled until its body has been read; its name met meanwhile is painted and never expanded again.
//! That is the rule of C11 6.10.3.4, with the usual reading of its unspecified corner: the body counts as read when
//! the search for the `(` of a function-like macro leaves it.

use super::{Preprocessor, end_of_input};
use crate::intern::Symbol;
use crate::lexer::lex;
use crate::parser::counted;
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, Span};
use std::rc::Rc;

/// More tokens than this out of macros in one file are an error: some macros grow exponentially.
const MAX_EXPANDED: u64 = 4_000_000;

/// Macro arguments within arguments deeper than this are an error, not a stack overflow.
const MAX_DEPTH: usize = 100;

/// Parentheses within the arguments of a macro deeper than this are an error.
const MAX_PARENTHESES: usize = 1000;

/// Arguments and the commas between them.
type Arguments = (Vec<Vec<Token>>, Vec<Token>);

/// A macro's definition.
pub(super) struct Macro {
    /// Parameters of a function-like macro.
    params: Option<Vec<Symbol>>,
    /// The last parameter takes all remaining arguments.
    variadic: bool,
    body: Vec<Token>,
    /// Defined in a file of the user or on the command line.
    user: bool,
}

/// Tokens that are read before the file goes on.
pub(super) struct Frame {
    tokens: Vec<Token>,
    at: usize,
    /// The macro that is disabled while these are read.
    disables: bool,
}

impl Preprocessor<'_> {
    pub(super) fn is_defined(&self, symbol: Symbol) -> bool {
        let own = [
            self.words.file,
            self.words.line,
            self.words.counter,
            self.words.has_include,
            self.words.has_builtin,
        ];
        self.definition(symbol).is_some() || own.contains(&symbol)
    }

    /// The macro of a name, if it is one here.
    fn definition(&self, symbol: Symbol) -> Option<&Rc<Macro>> {
        let found = self.macros.get(symbol.0 as usize)?.as_ref()?;
        (!self.internal || !found.user).then_some(found)
    }

    /// Tokens that are read next.
    pub(super) fn push_tokens(&mut self, tokens: Vec<Token>) {
        self.frames.push(Frame { tokens, at: 0, disables: false });
    }

    pub(super) fn define(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let Some((name, mut rest)) = rest.split_first().filter(|(n, _)| n.kind == TokenKind::Ident) else {
            return Err(Diagnostic::error(span, "`#define` needs the name of a macro"));
        };
        let mut params = None;
        let mut variadic = false;
        if let Some(paren) = rest.first().filter(|t| t.is(Punct::LParen) && !t.space) {
            let Some(close) = rest.iter().position(|t| t.is(Punct::RParen)) else {
                return Err(Diagnostic::error(
                    paren.span,
                    "the parameter list of this macro is never closed",
                ));
            };
            let (names, var) = self.macro_params(&rest[1..close])?;
            params = Some(names);
            variadic = var;
            rest = &rest[close + 1..];
        }
        if let Some(first) = rest.first().filter(|t| t.is(Punct::HashHash)) {
            return Err(Diagnostic::error(first.span, "`##` at the start of a macro"));
        }
        if let Some(last) = rest.last().filter(|t| t.is(Punct::HashHash)) {
            return Err(Diagnostic::error(last.span, "`##` at the end of a macro"));
        }
        let index = name.symbol.0 as usize;
        if self.macros.len() <= index {
            self.macros.resize_with(index + 1, || None);
        }
        let user = self.files.last().is_some_and(|file| !file.name.starts_with('<'));
        self.macros[index] = Some(Rc::new(Macro { params, variadic, body: rest.to_vec(), user }));
        Ok(())
    }

    fn macro_params(&mut self, tokens: &[Token]) -> Result<(Vec<Symbol>, bool), Diagnostic> {
        let mut names = Vec::new();
        let mut variadic = false;
        for (i, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Ident if !variadic => names.push(token.symbol),
                TokenKind::Punct(Punct::Comma) if !variadic => {}
                TokenKind::Punct(Punct::Ellipsis) if i + 1 == tokens.len() => {
                    variadic = true;
                    // `args...` names the rest; a bare `...` is __VA_ARGS__.
                    let named = i > 0 && tokens[i - 1].kind == TokenKind::Ident;
                    if !named {
                        names.push(self.words.va_args);
                    }
                }
                _ => {
                    return Err(Diagnostic::error(
                        token.span,
                        "expected the name of a parameter of the macro",
                    ));
                }
            }
        }
        Ok((names, variadic))
    }

    pub(super) fn undefine(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let Some(name) = rest.first().filter(|n| n.kind == TokenKind::Ident) else {
            return Err(Diagnostic::error(span, "`#undef` needs the name of a macro"));
        };
        if let Some(slot) = self.macros.get_mut(name.symbol.0 as usize) {
            *slot = None;
        }
        Ok(())
    }

    /// The next token before expansion: from the innermost frame, else from the files if `from_files`.
    pub(super) fn next_raw(&mut self, from_files: bool) -> Result<Token, Diagnostic> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(&token) = frame.tokens.get(frame.at) {
                frame.at += 1;
                return Ok(token);
            }
            if frame.disables
                && let Some(symbol) = self.disabled.pop()
            {
                self.is_disabled.remove(&symbol);
            }
            self.frames.pop();
        }
        if from_files { self.next_from_files() } else { Ok(end_of_input(Span::default())) }
    }

    /// The next token is `(`: it is then consumed.
    fn eat_call_paren(&mut self, from_files: bool) -> Result<bool, Diagnostic> {
        let token = self.next_raw(from_files)?;
        if token.is(Punct::LParen) {
            return Ok(true);
        }
        if token.kind != TokenKind::Eof {
            self.frames.push(Frame { tokens: vec![token], at: 0, disables: false });
        }
        Ok(false)
    }

    /// The next token after expansion.
    pub(super) fn next_expanded(&mut self, from_files: bool) -> Result<Token, Diagnostic> {
        loop {
            let mut token = self.next_raw(from_files)?;
            if token.kind != TokenKind::Ident || token.painted {
                return Ok(token);
            }
            let Some(definition) = self.definition(token.symbol).cloned() else {
                match self.builtin_macro(&token, from_files)? {
                    Some(Some(expanded)) => return Ok(expanded),
                    Some(None) => continue,
                    None => return Ok(token),
                }
            };
            if self.is_disabled.contains(&token.symbol) {
                token.painted = true;
                return Ok(token);
            }
            let mut body = match &definition.params {
                None => self.substitute(&definition, &[], token.span)?,
                Some(params) => {
                    if !self.eat_call_paren(from_files)? {
                        return Ok(token);
                    }
                    let args = self.arguments(&definition, params.len(), token.span, from_files)?;
                    self.substitute(&definition, &args, token.span)?
                }
            };
            // What a macro stands for is spaced as its name was.
            if let Some(first) = body.first_mut() {
                (first.space, first.first_on_line) = (token.space, token.first_on_line);
            }
            self.expanded += body.len() as u64 + 1;
            if self.expanded > MAX_EXPANDED {
                return Err(Diagnostic::error(token.span, "macros expand to too many tokens")
                    .hint("a macro that uses itself twice through others grows exponentially"));
            }
            self.disabled.push(token.symbol);
            self.is_disabled.insert(token.symbol);
            self.frames.push(Frame { tokens: body, at: 0, disables: true });
        }
    }

    /// `__LINE__` and its like. `Some(None)` means: expanded to nothing.
    fn builtin_macro(
        &mut self,
        token: &Token,
        from_files: bool,
    ) -> Result<Option<Option<Token>>, Diagnostic> {
        let (kind, text) = if token.symbol == self.words.line {
            let line = self.line_of(token.span.start);
            let shift = self.files.last().map_or(0, |file| file.line_shift);
            (TokenKind::Number, (line + shift).max(0).to_string())
        } else if token.symbol == self.words.file {
            let shown = self.files.last().and_then(|file| file.shown_name);
            let name = self.sources.position(token.span.start).map_or("", |(name, _, _)| name);
            (TokenKind::Str, shown.map_or_else(|| format!("{name:?}"), |s| self.interner.text(s).to_string()))
        } else if token.symbol == self.words.counter {
            self.counter += 1;
            (TokenKind::Number, (self.counter - 1).to_string())
        } else if token.symbol == self.words.pragma {
            if self.eat_call_paren(from_files)? {
                let (args, _) = self.argument_list(token.span, from_files)?;
                self.pragma_operator(&args, token.span)?;
            }
            return Ok(Some(None));
        } else {
            return Ok(None);
        };
        Ok(Some(Some(Token { kind, symbol: self.interner.intern(&text), ..*token })))
    }

    /// `_Pragma("text")` is `#pragma text`.
    fn pragma_operator(&mut self, args: &[Vec<Token>], span: Span) -> Result<(), Diagnostic> {
        let text = args.first().and_then(|arg| arg.first()).map(|t| self.interner.shared(t.symbol));
        let bytes = text.and_then(|text| crate::literal::string(&text)).unwrap_or_default();
        let tokens = lex(&String::from_utf8_lossy(&bytes), span.start, &mut self.interner)?;
        let tokens: Vec<Token> = tokens.into_iter().map(|t| Token { span, ..t }).collect();
        self.pragma(span, &tokens);
        Ok(())
    }

    /// The tokens up to the closing parenthesis, split at top-level commas, and those commas.
    fn argument_list(&mut self, span: Span, from_files: bool) -> Result<Arguments, Diagnostic> {
        let mut args = vec![Vec::new()];
        let mut commas = Vec::new();
        let mut depth = 0usize;
        loop {
            let token = self.next_raw(from_files)?;
            match token.kind {
                TokenKind::Eof => {
                    return Err(Diagnostic::error(span, "the arguments of this macro are never closed")
                        .hint("add the missing `)`"));
                }
                TokenKind::Punct(Punct::RParen) if depth == 0 => return Ok((args, commas)),
                TokenKind::Punct(Punct::Comma) if depth == 0 => {
                    args.push(Vec::new());
                    commas.push(token);
                    continue;
                }
                // Arguments are copied on every level.
                TokenKind::Punct(Punct::LParen) if depth >= MAX_PARENTHESES => {
                    return Err(Diagnostic::error(token.span, "macro arguments are nested too deeply"));
                }
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                _ => {}
            }
            if let Some(last) = args.last_mut() {
                last.push(token);
            }
        }
    }

    fn arguments(
        &mut self,
        definition: &Macro,
        params: usize,
        span: Span,
        from_files: bool,
    ) -> Result<Vec<Vec<Token>>, Diagnostic> {
        let (mut args, commas) = self.argument_list(span, from_files)?;
        if definition.variadic && args.len() >= params {
            let rest = args.split_off(params - 1);
            let mut joined: Vec<Token> = Vec::new();
            for (i, mut arg) in rest.into_iter().enumerate() {
                if i > 0 {
                    joined.push(commas[params + i - 2]);
                }
                joined.append(&mut arg);
            }
            args.push(joined);
        } else if definition.variadic && args.len() + 1 == params {
            args.push(Vec::new());
        }
        if params == 0 && args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        if args.len() != params {
            let message =
                format!("this macro takes {} but is given {}", counted(params, "argument"), args.len());
            return Err(Diagnostic::error(span, message));
        }
        Ok(args)
    }

    /// The body with arguments in place; every token of the body gets the span of the use.
    fn substitute(
        &mut self,
        definition: &Macro,
        args: &[Vec<Token>],
        span: Span,
    ) -> Result<Vec<Token>, Diagnostic> {
        let params = definition.params.as_deref().unwrap_or(&[]);
        let parameter = |t: &Token| {
            (t.kind == TokenKind::Ident).then(|| params.iter().position(|p| *p == t.symbol)).flatten()
        };
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; args.len()];
        let mut out: Vec<Token> = Vec::with_capacity(definition.body.len());
        let body = &definition.body;
        let mut i = 0;
        while i < body.len() {
            let token = body[i];
            let next_pastes = body.get(i + 1).is_some_and(|t| t.is(Punct::HashHash));
            if token.is(Punct::Hash) && definition.params.is_some() {
                let Some(index) = body.get(i + 1).and_then(parameter) else {
                    return Err(Diagnostic::error(
                        span,
                        "`#` in a macro must be followed by one of its parameters",
                    ));
                };
                out.push(self.stringize(&args[index], span, token.space));
                i += 2;
            } else if token.is(Punct::HashHash) {
                i += 1;
                let Some(&right) = body.get(i) else { break };
                let right_tokens = match parameter(&right) {
                    Some(index) => args[index].clone(),
                    None => vec![Token { span, ..right }],
                };
                self.paste(&mut out, right_tokens, span)?;
                i += 1;
            } else if let Some(index) = parameter(&token) {
                if next_pastes && args[index].is_empty() {
                    // A placemarker: the right side of `##` stands alone.
                    if let Some(right) = body.get(i + 2) {
                        match parameter(right) {
                            Some(other) => out.extend_from_slice(&args[other]),
                            None => out.push(Token { span, ..*right }),
                        }
                    }
                    i += 3;
                    continue;
                }
                let start = out.len();
                if next_pastes {
                    out.extend_from_slice(&args[index]);
                } else {
                    let tokens = match expanded[index].take() {
                        Some(tokens) => tokens,
                        None => self.expand_alone(&args[index])?,
                    };
                    out.extend_from_slice(&tokens);
                    expanded[index] = Some(tokens);
                }
                if let Some(first) = out.get_mut(start) {
                    (first.space, first.first_on_line) = (token.space, false);
                }
                i += 1;
            } else {
                out.push(Token { span, first_on_line: false, ..token });
                i += 1;
            }
            if out.len() as u64 > MAX_EXPANDED {
                return Err(Diagnostic::error(span, "macros expand to too many tokens"));
            }
        }
        Ok(out)
    }

    /// Expands tokens as if they were the whole rest of the file.
    pub(super) fn expand_alone(&mut self, tokens: &[Token]) -> Result<Vec<Token>, Diagnostic> {
        if !tokens.iter().any(|t| t.kind == TokenKind::Ident && !t.painted) {
            return Ok(tokens.to_vec());
        }
        if self.depth >= MAX_DEPTH {
            let span = tokens.first().map_or(Span::default(), |t| t.span);
            return Err(Diagnostic::error(span, "macro arguments are nested too deeply"));
        }
        self.depth += 1;
        let outer = std::mem::take(&mut self.frames);
        let disabled = self.disabled.len();
        self.frames.push(Frame { tokens: tokens.to_vec(), at: 0, disables: false });
        let mut out = Vec::new();
        let result = loop {
            match self.next_expanded(false) {
                Ok(token) if token.kind == TokenKind::Eof => break Ok(out),
                Ok(token) => out.push(token),
                Err(error) => break Err(error),
            }
        };
        for symbol in self.disabled.drain(disabled..) {
            self.is_disabled.remove(&symbol);
        }
        self.frames = outer;
        self.depth -= 1;
        result
    }

    fn stringize(&mut self, tokens: &[Token], span: Span, space: bool) -> Token {
        let mut text = String::from("\"");
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 && (token.space || token.first_on_line) {
                text.push(' ');
            }
            let spelling = self.spelling(token);
            if matches!(token.kind, TokenKind::Str | TokenKind::Char) {
                text.push_str(&spelling.replace('\\', "\\\\").replace('"', "\\\""));
            } else {
                text.push_str(spelling);
            }
        }
        text.push('"');
        let symbol = self.interner.intern(&text);
        Token { kind: TokenKind::Str, symbol, space, first_on_line: false, ..end_of_input(span) }
    }

    /// Joins the last token of `out` with the first of `right`.
    fn paste(&mut self, out: &mut Vec<Token>, right: Vec<Token>, span: Span) -> Result<(), Diagnostic> {
        let Some((first, rest)) = right.split_first() else {
            if out.last().is_some_and(|t| t.is(Punct::Comma)) {
                out.pop();
            }
            return Ok(());
        };
        match out.last() {
            // `, ## args` with arguments is only a comma and the arguments.
            Some(left) if left.is(Punct::Comma) => out.push(*first),
            Some(left) => {
                let text = format!("{}{}", self.spelling(left), self.spelling(first));
                let joined = lex(&text, 0, &mut self.interner)?;
                let [token] = joined[..] else {
                    return Err(Diagnostic::error(
                        span,
                        format!("`##` makes `{text}`, which is not one token"),
                    ));
                };
                out.pop();
                out.push(Token { span, first_on_line: false, ..token });
            }
            None => out.push(*first),
        }
        out.extend_from_slice(rest);
        Ok(())
    }
}
