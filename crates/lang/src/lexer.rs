//! Tokens of `.fp` text.

use fencepost_diag::{Diagnostic, Span};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name or keyword; dots join the parts of names such as `dmb.sy` and `load.w64.acq`.
    Word(String),
    /// A number.
    Int(i64),
    /// A quoted string.
    Str(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

const SIGNS: [&str; 37] = [
    ":=", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "=>", "{", "}", "[", "]", "(", ")", ",", ";", ":",
    "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", "@", ".", "#", "$",
];

/// All tokens with their places, the end included.
pub fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Box<Diagnostic>> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        at = skip_blanks(text, at)?;
        let (token, length) = token(text, at)?;
        let end = token == Token::End;
        found.push((token, Span::new(at, at + length)));
        if end {
            return Ok(found);
        }
        at += length;
    }
}

fn skip_blanks(text: &str, mut at: usize) -> Result<usize, Box<Diagnostic>> {
    loop {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start().len();
        if blanks > 0 {
            at += blanks;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(length) = rest.find("*/") else {
                let span = Span::new(at, at + 2);
                return Err(Box::new(
                    Diagnostic::error(span, "this comment has no end").label("expected `*/`"),
                ));
            };
            at += length + 2;
        } else {
            return Ok(at);
        }
    }
}

/// The token at a place, and its length.
fn token(text: &str, at: usize) -> Result<(Token, usize), Box<Diagnostic>> {
    let rest = &text[at..];
    let Some(first) = rest.chars().next() else { return Ok((Token::End, 0)) };
    let run = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    if first.is_ascii_alphabetic() || first == '_' {
        let mut length = run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        // A dot at the end is not part of the name.
        length -= rest[..length].len() - rest[..length].trim_end_matches('.').len();
        return Ok((Token::Word(rest[..length].to_owned()), length));
    }
    if first.is_ascii_digit() {
        let length = run(|c| c.is_ascii_alphanumeric() || c == '_');
        let digits = &rest[..length];
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(|n| n as i64),
            None => digits.parse::<u64>().ok().map(|n| n as i64),
        };
        let bad = || {
            let error = Diagnostic::error(Span::new(at, at + length), format!("`{digits}` is not a number"));
            Box::new(error.label("expected a decimal or 0x number of at most 64 bits"))
        };
        return value.map(|n| (Token::Int(n), length)).ok_or_else(bad);
    }
    if first == '"' {
        return string(rest, at);
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let span = Span::new(at, at + first.len_utf8());
            Err(Box::new(Diagnostic::error(span, format!("`{first}` has no meaning here"))))
        }
    }
}

fn string(rest: &str, at: usize) -> Result<(Token, usize), Box<Diagnostic>> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((offset, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Str(value), offset + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, c)) => value.push(c),
                None => break,
            },
            c => value.push(c),
        }
    }
    let span = Span::new(at, at + rest.len());
    Err(Box::new(Diagnostic::error(span, "this string has no end").label("expected a closing `\"`")))
}
