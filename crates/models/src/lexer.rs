//! Tokens of the cat language.
//!
//! A name is a letter (or `_` and a letter) followed by letters, digits, `_`, `.` and `-`, with an optional prime at
//! the end, so `po-loc` and `DMB.SY` are names and there is no minus. Comments are `(* ... *)`, which nest, and `//` or
//! `#` up to the end of the line.

use fencepost_diag::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// A name that is not a keyword.
    Name,
    /// A keyword.
    Keyword(Keyword),
    /// `'tag`, of the enumerations that we do not support.
    Tag,
    /// `"text"`; the span includes the quotes.
    Text,
    /// An operator or a bracket, as written.
    Symbol(&'static str),
    /// The end of the file.
    End,
}

macro_rules! keywords {
    ($($variant:ident $text:literal),* $(,)?) => {
        /// The reserved words.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)]
        pub enum Keyword { $($variant),* }

        impl Keyword {
            /// The word itself.
            pub fn text(self) -> &'static str {
                match self { $(Keyword::$variant => $text),* }
            }

            fn of(text: &str) -> Option<Keyword> {
                match text { $($text => Some(Keyword::$variant),)* _ => None }
            }
        }
    };
}

keywords! {
    Let "let", Rec "rec", And "and", When "when", Acyclic "acyclic", Irreflexive "irreflexive", Empty "empty",
    Show "show", Unshow "unshow", As "as", Fun "fun", In "in", UndefinedUnless "undefined_unless", Flag "flag",
    Include "include", Begin "begin", End "end", Procedure "procedure", Call "call", Enum "enum", Debug "debug",
    Match "match", With "with", Forall "forall", From "from", Do "do", Try "try", If "if", Then "then", Else "else",
    Yield "yield", Instructions "instructions", Default "default", Subset "subset", Assert "assert", Not "not",
}

/// Longest first, so that `||` is not read as two unions.
const SYMBOLS: [&str; 22] = [
    "||", "&&", "++", "->", "-1", "(", ")", "{", "}", "[", "]", "_", "0", "|", "&", "*", "~", "+", "^", "\\",
    "?", "=",
];

/// The tokens of a text, ending with [`Token::End`], and what could not be read.
pub fn tokenize(text: &str) -> (Vec<(Token, Span)>, Vec<Diagnostic>) {
    let mut tokens = Vec::new();
    let mut errors = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("(*") {
            match comment_length(rest) {
                Some(length) => at += length,
                None => {
                    let error = Diagnostic::error(Span::new(at, at + 2), "this comment is never closed");
                    errors.push(error.label("no matching `*)` follows"));
                    break;
                }
            }
        } else if rest.starts_with("//") || first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            match token(rest) {
                Ok((token, length)) => {
                    tokens.push((token, Span::new(at, at + length)));
                    at += length;
                }
                Err((message, length)) => {
                    errors.push(Diagnostic::error(Span::new(at, at + length), message));
                    at += length;
                }
            }
        }
    }
    tokens.push((Token::End, Span::new(text.len(), text.len())));
    (tokens, errors)
}

/// The length of the comment that `text` begins with; `None` if it is not closed.
fn comment_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"(*" => (depth, at) = (depth + 1, at + 2),
            b"*)" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The token that `text` begins with and its length, or a message and how much to skip.
fn token(text: &str) -> Result<(Token, usize), (String, usize)> {
    if let Some(after) = text.strip_prefix('"') {
        return match after.find(['"', '\n']) {
            Some(length) if after[length..].starts_with('"') => Ok((Token::Text, length + 2)),
            length => Err(("this string is never closed".into(), 1 + length.unwrap_or(after.len()))),
        };
    }
    if let Some(after) = text.strip_prefix('\'') {
        let length = name_length(after);
        if length > 0 {
            return Ok((Token::Tag, 1 + length));
        }
    }
    let length = name_length(text);
    if length > 0 {
        let token = Keyword::of(&text[..length]).map_or(Token::Name, Token::Keyword);
        return Ok((token, length));
    }
    if let Some(symbol) = SYMBOLS.iter().chain(&[";", ","]).find(|s| text.starts_with(**s)) {
        return Ok((Token::Symbol(symbol), symbol.len()));
    }
    let first = text.chars().next().unwrap_or(' ');
    Err((format!("`{}` means nothing in cat", first.escape_default()), first.len_utf8()))
}

fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'_'));
    if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    let inside = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let length = start + bytes[start..].iter().take_while(|b| inside(b)).count();
    length + usize::from(bytes.get(length) == Some(&b'\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let (tokens, errors) = tokenize(text);
        assert_eq!(errors, vec![]);
        tokens.iter().map(|(_, s)| &text[s.start as usize..s.end as usize]).collect()
    }

    #[test]
    fn names_take_dots_and_dashes_and_comments_nest() {
        assert_eq!(
            words("po-loc;DMB.SY (* a (* b *) c *)|rf^-1 // x\n# y\n_ 0"),
            ["po-loc", ";", "DMB.SY", "|", "rf", "^", "-1", "_", "0", ""]
        );
    }

    #[test]
    fn open_comments_and_strings_are_errors() {
        assert_eq!(tokenize("let (* x").1.len(), 1);
        assert_eq!(tokenize("include \"x").1.len(), 1);
        assert_eq!(tokenize("let a = é").1.len(), 1);
    }
}
