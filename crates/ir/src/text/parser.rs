//! The parser's state and the [`Text`] trait: printing and parsing of one type, side by side.
//!
//! Numbers that name something (registers, labels, functions, ...) are noted where they are read and checked when the
//! size of what they point into is known.

use super::lexer::{Token, tokens};
use fencepost_diag::{Diagnostic, Span};

/// A type with a text form. `parse` reads exactly what `print` writes.
pub trait Text: Sized {
    /// Appends the text.
    fn print(&self, out: &mut String);

    /// Reads it back.
    fn parse(parser: &mut Parser) -> Result<Self, Box<Diagnostic>>;
}

/// What a number that names something points into.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Kind {
    Register,
    Label,
    Function,
    Thread,
    Object,
    Observed,
}

/// A list of tokens and a place in it.
pub struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    /// Numbers to check later.
    noted: Vec<(Kind, usize, Span)>,
    /// How deep propositions are nested.
    pub(super) depth: u32,
}

impl Parser {
    /// A parser of this text.
    pub fn new(text: &str) -> Result<Parser, Box<Diagnostic>> {
        Ok(Parser { tokens: tokens(text)?, at: 0, noted: Vec::new(), depth: 0 })
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The next token; the end is never left.
    pub(super) fn take(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// The error that something else was expected here.
    pub(super) fn expected(&self, what: impl std::fmt::Display) -> Box<Diagnostic> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(n) => format!("`{n}`"),
            Token::Str(_) => "a string".into(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the text".into(),
        };
        Diagnostic::error(self.span(), format!("unexpected {found}")).label(format!("expected {what}")).into()
    }

    pub(super) fn eat_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn sign(&mut self, sign: &str) -> Result<(), Box<Diagnostic>> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.expected(format!("`{sign}`"))) }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Box<Diagnostic>> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    /// A number of a type.
    pub(super) fn int<N: TryFrom<i128>>(&mut self) -> Result<N, Box<Diagnostic>> {
        let Token::Int(n) = *self.peek() else { return Err(self.expected("a number")) };
        let value = N::try_from(n)
            .map_err(|_| Box::new(Diagnostic::error(self.span(), "this number is out of range")))?;
        self.take();
        Ok(value)
    }

    /// `name=value`.
    pub(super) fn field<T: Text>(&mut self, name: &str) -> Result<T, Box<Diagnostic>> {
        self.word(name)?;
        self.sign("=")?;
        T::parse(self)
    }

    pub(super) fn expect_end(&self) -> Result<(), Box<Diagnostic>> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    pub(super) fn note(&mut self, kind: Kind, index: usize, span: Span) {
        self.noted.push((kind, index, span));
    }

    /// Checks all noted numbers of a kind against what they point into, and forgets them.
    pub(super) fn check(&mut self, kind: Kind, length: usize, what: &str) -> Result<(), Box<Diagnostic>> {
        if let Some((_, _, span)) = self.noted.iter().find(|(k, index, _)| *k == kind && *index >= length) {
            return Err(Box::new(
                Diagnostic::error(*span, format!("there is no such {what}"))
                    .label(format!("there are {length}, numbered from 0")),
            ));
        }
        self.noted.retain(|(k, _, _)| *k != kind);
        Ok(())
    }
}

/// Prints ` name=value`.
pub(super) fn print_field<T: Text>(out: &mut String, name: &str, value: &T) {
    out.push(' ');
    out.push_str(name);
    out.push('=');
    value.print(out);
}
