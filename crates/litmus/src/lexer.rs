//! The byte-level lexer that all parts of a litmus file share.
//!
//! Tokens are spans of the source with a coarse kind; an operator is told apart by its text. What counts as a comment
//! depends on the place: `(* *)` is one everywhere but in C bodies, where `(*x)` is a dereference; `//` and `/* */`
//! are comments in C tests only, since `/\` is an operator of conditions. [`Lexer::set_mode`] switches, and forgets
//! the token that was peeked at, so a switch never tears a token apart.
//!
//! The lexer never fails: what it does not understand becomes [`Kind::Unknown`], and the parser that meets it knows
//! what it had expected there.

use fencepost_ir::Span;

/// What kind of token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A word: mnemonic, register, label, location. Outside C it may contain dots and start with `%`.
    Ident,
    /// Digits, or `0x` and hexadecimal digits, with whatever letters follow.
    Number,
    /// Punctuation; [`Lexer::text`] tells which.
    Op,
    /// An opening comment or string without its end: the span is the opening.
    Unclosed,
    /// Anything else, one character.
    Unknown,
    /// The end of the file.
    Eof,
}

/// A token: a kind and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    /// Its span.
    pub(crate) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// Which comments and words there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Initial states, assembly tables and conditions of assembly tests.
    Assembly,
    /// The same parts of C tests: C comments too.
    COutside,
    /// C function bodies.
    CBody,
}

/// A cursor over the source.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    pos: usize,
    mode: Mode,
    peeked: Option<Token>,
}

/// Operators of more than one byte, outside C bodies. `||` is not among them: it is an empty column of a table.
const LONG: [&str; 10] = ["/\\", "\\/", "=>", "<<", ">>", "<>", "!=", "==", "<=", ">="];

/// Operators of more than one byte in C, longest first.
const LONG_C: [&str; 22] = [
    "<<=", ">>=", "...", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "--", "->", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=",
];

impl<'a> Lexer<'a> {
    /// A lexer that starts at a byte offset.
    pub(crate) fn new(text: &'a str, pos: usize, mode: Mode) -> Lexer<'a> {
        Lexer { text, pos, mode, peeked: None }
    }

    /// The source text of a token.
    pub(crate) fn text(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// The source text of a span.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Changes what comments and words are, from the next token on.
    pub(crate) fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.peeked = None;
    }

    /// The next token, without consuming it.
    pub(crate) fn peek(&mut self) -> Token {
        if let Some(token) = self.peeked {
            return token;
        }
        let token = self.lex();
        self.peeked = Some(token);
        token
    }

    /// Consumes and returns the next token.
    pub(crate) fn next(&mut self) -> Token {
        let token = self.peek();
        self.peeked = None;
        self.pos = token.end as usize;
        token
    }

    /// Goes back to an offset, which must be the start of a token.
    pub(crate) fn rewind(&mut self, position: u32) {
        self.pos = (position as usize).min(self.pos);
        self.peeked = None;
    }

    /// Where the last token that was consumed ends.
    pub(crate) fn position(&self) -> u32 {
        self.pos as u32
    }

    /// The tokens between two positions as they are written, with one space where there was a gap.
    pub(crate) fn without_comments(&self, start: u32, end: u32) -> String {
        let mut lexer = Lexer::new(self.text, start as usize, self.mode);
        let (mut text, mut last) = (String::new(), start);
        loop {
            let token = lexer.next();
            if token.start >= end || token.kind == Kind::Eof {
                return text;
            }
            if token.start > last {
                text.push(' ');
            }
            text += lexer.text(token);
            last = token.end;
        }
    }

    /// The token after the next one.
    pub(crate) fn peek_second(&mut self) -> Token {
        let first = self.peek();
        Lexer { text: self.text, pos: first.end as usize, mode: self.mode, peeked: None }.lex()
    }

    /// True if the next token is this operator.
    pub(crate) fn at(&mut self, op: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Op && self.text(token) == op
    }

    /// Consumes the next token if it is this operator.
    pub(crate) fn eat(&mut self, op: &str) -> bool {
        let found = self.at(op);
        if found {
            self.next();
        }
        found
    }

    /// True if the next token is this word.
    pub(crate) fn at_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Ident && self.text(token) == word
    }

    /// Consumes the next token if it is this word.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    fn lex(&self) -> Token {
        let bytes = self.text.as_bytes();
        let start = match self.skip_blanks() {
            Ok(start) => start,
            Err(opening) => {
                // The rest of the file is inside the comment.
                return Token { kind: Kind::Unclosed, start: opening as u32, end: self.text.len() as u32 };
            }
        };
        let token = |kind, end: usize| Token { kind, start: start as u32, end: end as u32 };
        let Some(&first) = bytes.get(start) else { return token(Kind::Eof, start) };
        let in_c = self.mode == Mode::CBody;
        let second = bytes.get(start + 1).copied().unwrap_or(0);
        let starts_word = first.is_ascii_alphabetic()
            || first == b'_'
            || (!in_c && matches!(first, b'%' | b'.') && (second.is_ascii_alphabetic() || second == b'_'));
        // `W%y`: a symbolic register of AArch64 and the size in which it is used.
        if !in_c && second == b'%' && matches!(first, b'W' | b'w' | b'X' | b'x') {
            let more = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
            return token(Kind::Ident, start + 2 + run(&bytes[start + 2..], more));
        }
        if starts_word {
            let more = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || (*b == b'.' && !in_c);
            return token(Kind::Ident, start + 1 + run(&bytes[start + 1..], more));
        }
        if first.is_ascii_digit() {
            return token(Kind::Number, start + run(&bytes[start..], u8::is_ascii_alphanumeric));
        }
        let longer: &[&str] = match (second.is_ascii_punctuation(), in_c) {
            (false, _) => &[],
            (true, true) => &LONG_C,
            (true, false) => &LONG,
        };
        if let Some(op) = longer.iter().find(|op| bytes[start..].starts_with(op.as_bytes())) {
            return token(Kind::Op, start + op.len());
        }
        if first.is_ascii_punctuation() {
            return token(Kind::Op, start + 1);
        }
        let width = self.text[start..].chars().next().map_or(1, char::len_utf8);
        token(Kind::Unknown, start + width)
    }

    /// The offset of the next byte that is neither blank nor comment, or the offset of a comment that does not end.
    fn skip_blanks(&self) -> Result<usize, usize> {
        let bytes = self.text.as_bytes();
        let mut pos = self.pos;
        loop {
            match bytes.get(pos) {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c) => pos += 1,
                Some(b'(') if self.mode != Mode::CBody && bytes.get(pos + 1) == Some(&b'*') => {
                    pos = skip_comment(bytes, pos).ok_or(pos)?;
                }
                Some(b'/') if self.mode != Mode::Assembly && bytes.get(pos + 1) == Some(&b'/') => {
                    pos += run(&bytes[pos..], |&b| b != b'\n');
                }
                Some(b'/') if self.mode != Mode::Assembly && bytes.get(pos + 1) == Some(&b'*') => {
                    let body = &bytes[pos + 2..];
                    let len = body.windows(2).position(|w| w == b"*/").ok_or(pos)?;
                    pos += len + 4;
                }
                _ => return Ok(pos),
            }
        }
    }
}

/// How many leading bytes satisfy the predicate.
fn run(bytes: &[u8], predicate: impl Fn(&u8) -> bool) -> usize {
    bytes.iter().position(|b| !predicate(b)).unwrap_or(bytes.len())
}

/// The offset after the `(* *)` comment that opens at `pos`. Comments nest, as in herd7.
pub(crate) fn skip_comment(bytes: &[u8], mut pos: usize) -> Option<usize> {
    let mut depth = 0;
    loop {
        match (bytes.get(pos)?, bytes.get(pos + 1)) {
            (b'(', Some(b'*')) => {
                depth += 1;
                pos += 2;
            }
            (b'*', Some(b')')) => {
                depth -= 1;
                pos += 2;
                if depth == 0 {
                    return Some(pos);
                }
            }
            _ => pos += 1,
        }
    }
}

/// The value of a number token; `None` if it has stray letters or does not fit 64 bits. C's suffixes are accepted.
pub(crate) fn number(text: &str) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hex.trim_end_matches(['u', 'U', 'l', 'L']), 16).ok();
    }
    text.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, mode: Mode) -> Vec<&str> {
        let mut lexer = Lexer::new(text, 0, mode);
        let mut words = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::Eof {
                return words;
            }
            words.push(lexer.text(token));
        }
    }

    #[test]
    fn assembly_words_hold_dots_and_symbolic_registers() {
        assert_eq!(
            words("stwcx. r1,r0,%x2 || B.NE LC00 (* c (* d *) *) ;", Mode::Assembly),
            ["stwcx.", "r1", ",", "r0", ",", "%x2", "|", "|", "B.NE", "LC00", ";"]
        );
        assert_eq!(
            words("~exists (0:r1=-1 /\\ [x]=2)", Mode::Assembly)[..7],
            ["~", "exists", "(", "0", ":", "r1", "="]
        );
    }

    #[test]
    fn a_dereference_in_c_is_no_comment() {
        assert_eq!(
            words("if (*b) // c\n x<<=1; /* d */", Mode::CBody),
            ["if", "(", "*", "b", ")", "x", "<<=", "1", ";"]
        );
        assert_eq!(words("(* c *) } // d", Mode::COutside), ["}"]);
    }

    #[test]
    fn an_unclosed_comment_is_a_token_of_its_own() {
        let mut lexer = Lexer::new("a (* b", 0, Mode::Assembly);
        lexer.next();
        assert_eq!(lexer.next(), Token { kind: Kind::Unclosed, start: 2, end: 6 });
        assert_eq!(lexer.next().kind, Kind::Eof);
    }

    #[test]
    fn numbers() {
        assert_eq!(number("0x1F"), Some(31));
        assert_eq!(number("12"), Some(12));
        assert_eq!(number("3UL"), Some(3));
        assert_eq!(number("12ab"), None);
        assert_eq!(number("99999999999999999999"), None);
    }
}
