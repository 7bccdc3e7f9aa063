//! Text to tokens. Comments nest. Every token has a span; unknown characters are reported and skipped, so that the
//! parser can go on and find more mistakes.
//!
//! Deviation from the peer: there `-1` is always one token, so that `X-1` is a syntax error. Here a minus after an
//! operand is the operator.

use fencepost_diag::{Diagnostic, Span};

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    /// Lower-case name.
    Lower(String),
    /// Upper-case name.
    Upper(String),
    /// Keyword.
    Key(&'static str),
    /// Operator or punctuation.
    Op(&'static str),
    /// Number: numerator, denominator (a power of ten), written with a point.
    Number(i64, i64, bool),
    /// `#n`
    Proc(u32),
    /// End of the file.
    End,
}

impl Tok {
    /// How a message names the token.
    pub fn describe(&self) -> String {
        match self {
            Tok::Lower(n) | Tok::Upper(n) => format!("`{n}`"),
            Tok::Key(k) => format!("the keyword `{k}`"),
            Tok::Op(o) => format!("`{o}`"),
            Tok::Number(..) => "a number".into(),
            Tok::Proc(n) => format!("`#{n}`"),
            Tok::End => "the end of the file".into(),
        }
    }
}

const KEYWORDS: &[&str] = &[
    "type",
    "init",
    "transition",
    "invariant",
    "requires",
    "array",
    "var",
    "const",
    "unsafe",
    "case",
    "forall",
    "exists",
    "forall_other",
    "exists_other",
    "predicate",
    "if",
    "then",
    "else",
    "not",
    "true",
    "false",
    "number_procs",
    "let",
    "in",
    "weak",
    "fence",
];

/// Longest first, so that `<=>` wins over `<=`.
const OPERATORS: &[&str] = &[
    "<=>", "<>", "<=", ">=", "&&", "||", "=>", ":=", "=", "<", ">", "?", ".", ",", ";", ":", "|", "_", "+",
    "-", "*", "(", ")", "[", "]", "{", "}", "@",
];

/// A token and where it stands.
pub type Spanned = (Tok, Span);

/// All tokens of the text, ending with [`Tok::End`], and what was wrong.
pub fn lex(text: &str) -> (Vec<Spanned>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), errors: Vec::new() };
    lexer.run();
    (lexer.tokens, lexer.errors)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Spanned>,
    errors: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.text[self.at..].chars().next() {
            let start = self.at;
            if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if self.text[self.at..].starts_with("(*") {
                self.comment();
            } else if c.is_ascii_alphabetic() {
                self.word();
            } else if c.is_ascii_digit() || (c == '-' && self.glued_minus()) {
                self.number();
            } else if c == '#' {
                self.process();
            } else if let Some(op) = OPERATORS.iter().find(|op| self.text[start..].starts_with(**op)) {
                self.at += op.len();
                self.push(Tok::Op(op), start);
            } else {
                self.at += c.len_utf8();
                let span = Span::new(start, self.at);
                let mut error = Diagnostic::error(span, format!("unexpected character `{c}`"));
                if c == '&' || c == '!' || c == '\'' {
                    error = error.hint("conjunction is `&&`, negation is `not`, and names have no primes");
                }
                self.errors.push(error);
            }
        }
        self.push(Tok::End, self.at);
    }

    fn push(&mut self, tok: Tok, start: usize) {
        self.tokens.push((tok, Span::new(start, self.at)));
    }

    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0;
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("(*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*)") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else if let Some(c) = rest.chars().next() {
                self.at += c.len_utf8();
            } else {
                let span = Span::new(start, start + 2);
                self.errors.push(
                    Diagnostic::error(span, "this comment is never closed")
                        .hint("comments nest: each `(*` needs its own `*)`"),
                );
                return;
            }
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &str {
        let start = self.at;
        while let Some(c) = self.text[self.at..].chars().next().filter(|&c| accept(c)) {
            self.at += c.len_utf8();
        }
        &self.text[start..self.at]
    }

    fn word(&mut self) {
        let start = self.at;
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_string();
        let tok = match KEYWORDS.iter().find(|k| **k == word) {
            Some(k) => Tok::Key(k),
            None if word.starts_with(|c: char| c.is_ascii_uppercase()) => Tok::Upper(word),
            None => Tok::Lower(word),
        };
        self.push(tok, start);
    }

    /// A minus glued to a digit is a sign unless an operand stands before it.
    fn glued_minus(&self) -> bool {
        let digit = self.text[self.at + 1..].starts_with(|c: char| c.is_ascii_digit());
        let operand = matches!(
            self.tokens.last(),
            Some((Tok::Lower(_) | Tok::Upper(_) | Tok::Number(..) | Tok::Proc(_) | Tok::Op("]" | ")"), _))
        );
        digit && !operand
    }

    fn number(&mut self) {
        let start = self.at;
        let negative = self.text[self.at..].starts_with('-');
        self.at += usize::from(negative);
        let mut digits = self.take_while(|c| c.is_ascii_digit()).to_string();
        let mut denominator = 1i64;
        let real = self.text[self.at..].starts_with('.');
        if real {
            self.at += 1;
            let fraction = self.take_while(|c| c.is_ascii_digit()).trim_end_matches('0').to_string();
            denominator =
                10i64.checked_pow(fraction.len() as u32).filter(|_| fraction.len() < 10).unwrap_or(0);
            digits.push_str(&fraction);
        }
        // Room to spare: sums of such numbers are computed with overflow checks, but far from the edge.
        let value = digits.parse::<i64>().ok().filter(|v| *v <= 1_000_000_000_000 && denominator != 0);
        if value.is_none() {
            let span = Span::new(start, self.at);
            self.errors.push(Diagnostic::error(span, "this number is too large").hint("at most 12 digits"));
        }
        let value = value.unwrap_or(0);
        self.push(Tok::Number(if negative { -value } else { value }, denominator.max(1), real), start);
    }

    fn process(&mut self) {
        let start = self.at;
        self.at += 1;
        let digits = self.take_while(|c| c.is_ascii_digit()).to_string();
        match digits.parse::<u32>() {
            Ok(n) if n >= 1 => self.push(Tok::Proc(n), start),
            _ => {
                let span = Span::new(start, self.at);
                self.errors.push(
                    Diagnostic::error(span, "a process constant is `#` and a number from 1 on")
                        .hint("as in `#1`"),
                );
            }
        }
    }
}
