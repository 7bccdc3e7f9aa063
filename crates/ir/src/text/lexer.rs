//! Tokens of the text form.

use fencepost_diag::{Diagnostic, Span};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name; dots are part of it (`dmb.sy`).
    Word(String),
    /// A decimal number, perhaps negative; wide enough for every 64-bit value of either sign.
    Int(i128),
    /// A quoted string.
    Str(String),
    /// A sign such as `{` or `->`.
    Sign(&'static str),
    /// The end of the text.
    End,
}

const SIGNS: [&str; 18] =
    ["->", "..", "{", "}", "[", "]", "(", ")", ",", "=", "%", "&", "+", "@", "#", ":", ";", "!"];

/// All tokens of a text with their places, the end included.
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Box<Diagnostic>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut found = Vec::new();
    loop {
        let token = lexer.next()?;
        let end = token.0 == Token::End;
        found.push(token);
        if end {
            return Ok(found);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The length of the longest prefix of such characters.
    fn run(&self, accept: impl Fn(char) -> bool) -> usize {
        self.rest().find(|c| !accept(c)).unwrap_or(self.rest().len())
    }

    fn skip_blanks(&mut self) {
        loop {
            self.at += self.run(char::is_whitespace);
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.run(|c| c != '\n');
        }
    }

    fn next(&mut self) -> Result<(Token, Span), Box<Diagnostic>> {
        self.skip_blanks();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok((Token::End, Span::new(start, start)));
        };
        let digit_follows = self.rest()[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
        let token = if first.is_ascii_alphabetic() || first == '_' {
            self.word()
        } else if first.is_ascii_digit() || first == '-' && digit_follows {
            self.number()?
        } else if first == '"' {
            self.string()?
        } else if let Some(sign) = SIGNS.iter().find(|sign| self.rest().starts_with(**sign)) {
            self.at += sign.len();
            Token::Sign(sign)
        } else {
            let span = Span::new(start, start + first.len_utf8());
            return Err(Box::new(Diagnostic::error(span, format!("`{first}` has no meaning here"))));
        };
        Ok((token, Span::new(start, self.at)))
    }

    fn word(&mut self) -> Token {
        let length = self.run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let word = self.rest()[..length].to_owned();
        self.at += length;
        Token::Word(word)
    }

    fn number(&mut self) -> Result<Token, Box<Diagnostic>> {
        let start = self.at;
        self.at += usize::from(self.rest().starts_with('-'));
        self.at += self.run(|c| c.is_ascii_digit());
        let span = Span::new(start, self.at);
        self.text[start..self.at]
            .parse()
            .map(Token::Int)
            .map_err(|_| Box::new(Diagnostic::error(span, "this number is too large")))
    }

    fn string(&mut self) -> Result<Token, Box<Diagnostic>> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += offset + 1;
                    return Ok(Token::Str(value));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, c)) => value.push(c),
                    None => break,
                },
                c => value.push(c),
            }
        }
        Err(Box::new(
            Diagnostic::error(Span::new(start, self.text.len()), "this string has no end")
                .label("expected a closing `\"`"),
        ))
    }
}
