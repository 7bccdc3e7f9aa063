//! From text to preprocessing tokens.
//!
//! Comments and line splices are white space here. A splice inside an identifier or a number, which C allows and nobody
//! writes, splits the token; inside a string or character constant it is removed.

// An error ends the run, so its size costs nothing.
#![allow(clippy::result_large_err)]

use crate::intern::{Interner, Symbol};
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, Span};

/// The tokens of a whole file, without an end marker. `base` is the offset of the text in the source map.
pub fn lex(text: &str, base: u32, interner: &mut Interner) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer =
        Lexer { text, bytes: text.as_bytes(), at: 0, base, interner, first_on_line: true, space: false };
    if text.starts_with('\u{feff}') {
        // A byte order mark is not part of the program.
        lexer.at = '\u{feff}'.len_utf8();
    }
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    base: u32,
    interner: &'a mut Interner,
    first_on_line: bool,
    space: bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start: self.base + start as u32, end: self.base + self.at as u32 }
    }

    fn next(&mut self) -> Result<Option<Token>, Diagnostic> {
        self.skip_white_space()?;
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        let kind = self.token_kind()?;
        let text = &self.text[start..self.at];
        let symbol = match kind {
            TokenKind::Str | TokenKind::Char if text.contains('\\') && has_splice(text) => {
                let joined = text.replace("\\\r\n", "").replace("\\\n", "");
                self.interner.intern(&joined)
            }
            TokenKind::Punct(_) => Symbol(0),
            _ => self.interner.intern(text),
        };
        let token = Token {
            kind,
            symbol,
            span: self.span_from(start),
            first_on_line: std::mem::take(&mut self.first_on_line),
            space: std::mem::take(&mut self.space),
            painted: false,
        };
        Ok(Some(token))
    }

    fn skip_white_space(&mut self) -> Result<(), Diagnostic> {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.first_on_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.at += 3,
                b'/' if self.peek(1) == b'/' => self.skip_line_comment(),
                b'/' if self.peek(1) == b'*' => self.skip_block_comment()?,
                _ => return Ok(()),
            }
            self.space = true;
        }
    }

    fn skip_line_comment(&mut self) {
        while self.at < self.bytes.len() && self.peek(0) != b'\n' {
            let splice = self.peek(0) == b'\\' && self.peek(1) == b'\n';
            self.at += if splice { 2 } else { 1 };
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        match self.text.get(start + 2..).and_then(|rest| rest.find("*/")) {
            // It is a space, also if it has several lines: a directive goes on behind it.
            Some(length) => {
                self.at = start + length + 4;
                Ok(())
            }
            None => {
                self.at = start + 2;
                Err(Diagnostic::error(self.span_from(start), "this comment is never closed")
                    .hint("add `*/` where it ends"))
            }
        }
    }

    fn token_kind(&mut self) -> Result<TokenKind, Diagnostic> {
        let c = self.peek(0);
        match c {
            b'"' | b'\'' => self.quoted(c),
            b'L' | b'u' | b'U' if matches!(self.peek(1), b'"' | b'\'') => {
                self.at += 1;
                self.quoted(self.peek(0))
            }
            b'u' if self.peek(1) == b'8' && self.peek(2) == b'"' => {
                self.at += 2;
                self.quoted(b'"')
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => Ok(self.identifier()),
            0x80.. if self.foreign_letter() > 0 => Ok(self.identifier()),
            b'\\' if matches!(self.peek(1), b'u' | b'U') && self.peek(2).is_ascii_hexdigit() => {
                Ok(self.identifier())
            }
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.peek(1).is_ascii_digit() => Ok(self.number()),
            _ => Ok(self.punctuator()),
        }
    }

    /// Letters beyond ASCII may be written as they are or as universal character names.
    fn identifier(&mut self) -> TokenKind {
        loop {
            match self.peek(0) {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'0'..=b'9' => self.at += 1,
                0x80.. if self.foreign_letter() > 0 => self.at += self.foreign_letter(),
                b'\\' if matches!(self.peek(1), b'u' | b'U') && self.peek(2).is_ascii_hexdigit() => {
                    self.at += 2
                }
                _ => return TokenKind::Ident,
            }
        }
    }

    /// The length of a letter beyond ASCII that comes next; 0 if none does.
    fn foreign_letter(&self) -> usize {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        next.filter(|c| c.is_alphanumeric()).map_or(0, char::len_utf8)
    }

    fn number(&mut self) -> TokenKind {
        loop {
            match self.peek(0) {
                b'e' | b'E' | b'p' | b'P' if matches!(self.peek(1), b'+' | b'-') => self.at += 2,
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' => self.at += 1,
                _ => return TokenKind::Number,
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<TokenKind, Diagnostic> {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'\\' if self.at + 1 < self.bytes.len() => self.at += 2,
                c if c == quote => break,
                b'\n' | 0 if self.peek(0) == b'\n' || self.at >= self.bytes.len() => {
                    // Fine in a group that is skipped and in the text of `#error`: whoever needs it complains.
                    while !self.text.is_char_boundary(self.at) {
                        self.at -= 1;
                    }
                    return Ok(TokenKind::Unclosed);
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        // An escaped multi-byte character may leave us between its bytes.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        Ok(if quote == b'"' { TokenKind::Str } else { TokenKind::Char })
    }

    fn punctuator(&mut self) -> TokenKind {
        let text = [self.peek(0), self.peek(1), self.peek(2)];
        // By length, longest first: most tokens of a program are punctuators, so no search.
        let found =
            three(text).map(|p| (p, 3)).or(two(text).map(|p| (p, 2))).or(one(text[0]).map(|p| (p, 1)));
        if let Some((punct, length)) = found {
            self.at += length;
            return TokenKind::Punct(punct);
        }
        self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        TokenKind::Other
    }
}

fn three(text: [u8; 3]) -> Option<Punct> {
    match &text {
        b"..." => Some(Punct::Ellipsis),
        b"<<=" => Some(Punct::ShlAssign),
        b">>=" => Some(Punct::ShrAssign),
        _ => None,
    }
}

fn two(text: [u8; 3]) -> Option<Punct> {
    Some(match &[text[0], text[1]] {
        b"->" => Punct::Arrow,
        b"++" => Punct::Inc,
        b"--" => Punct::Dec,
        b"<<" => Punct::Shl,
        b">>" => Punct::Shr,
        b"<=" => Punct::Le,
        b">=" => Punct::Ge,
        b"==" => Punct::EqEq,
        b"!=" => Punct::Ne,
        b"&&" => Punct::AndAnd,
        b"||" => Punct::OrOr,
        b"*=" => Punct::MulAssign,
        b"/=" => Punct::DivAssign,
        b"%=" => Punct::RemAssign,
        b"+=" => Punct::AddAssign,
        b"-=" => Punct::SubAssign,
        b"&=" => Punct::AndAssign,
        b"^=" => Punct::XorAssign,
        b"|=" => Punct::OrAssign,
        b"##" => Punct::HashHash,
        _ => return None,
    })
}

fn one(byte: u8) -> Option<Punct> {
    Some(match byte {
        b'[' => Punct::LBracket,
        b']' => Punct::RBracket,
        b'(' => Punct::LParen,
        b')' => Punct::RParen,
        b'{' => Punct::LBrace,
        b'}' => Punct::RBrace,
        b'.' => Punct::Dot,
        b'&' => Punct::Amp,
        b'*' => Punct::Star,
        b'+' => Punct::Plus,
        b'-' => Punct::Minus,
        b'~' => Punct::Tilde,
        b'!' => Punct::Bang,
        b'/' => Punct::Slash,
        b'%' => Punct::Percent,
        b'<' => Punct::Lt,
        b'>' => Punct::Gt,
        b'^' => Punct::Caret,
        b'|' => Punct::Pipe,
        b'?' => Punct::Question,
        b':' => Punct::Colon,
        b';' => Punct::Semi,
        b'=' => Punct::Assign,
        b',' => Punct::Comma,
        b'#' => Punct::Hash,
        _ => return None,
    })
}

fn has_splice(text: &str) -> bool {
    text.contains("\\\n") || text.contains("\\\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_line_ends_and_splices_are_white_space() {
        let mut interner = Interner::default();
        let tokens = lex("\u{feff}int x\r\n = \\\r\n 1 ;", 0, &mut interner).unwrap_or_default();
        let lines: Vec<bool> = tokens.iter().map(|t| t.first_on_line).collect();
        assert_eq!(lines, [true, false, true, false, false]);
    }

    #[test]
    fn every_punctuator_is_found() {
        let mut interner = Interner::default();
        for (punct, text) in Punct::ALL {
            let tokens = lex(text, 0, &mut interner).unwrap_or_default();
            assert!(matches!(tokens[..], [token] if token.is(*punct)), "{text}");
        }
    }
}
