//! Making messages: what was found, what was expected, and what may have been meant.

use crate::lexer::{Kind, Lexer, Token};
use fencepost_diag::Diagnostic;

/// The result of a parsing function. Boxed, because the error is far larger than what is parsed.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Most messages that one file gives: after these, more would only hide the first.
pub(crate) const MOST_ERRORS: usize = 20;

/// How deep expressions and conditions may nest; deeper ones would exhaust the stack.
pub(crate) const MOST_NESTING: u32 = 200;

/// A token as a message names it.
pub(crate) fn found(lexer: &Lexer<'_>, token: Token) -> String {
    match token.kind {
        Kind::Eof => "the end of the file".to_string(),
        Kind::Unclosed => "a comment that is not closed".to_string(),
        _ => format!("`{}`", lexer.text(token)),
    }
}

/// The error "found this, expected that" at a token.
pub(crate) fn expected(lexer: &Lexer<'_>, token: Token, what: &str) -> Box<Diagnostic> {
    if token.kind == Kind::Unclosed {
        let mut span = token.span();
        span.end = span.start + 2;
        let error = Diagnostic::error(span, "this comment is never closed");
        return Box::new(error.label("opened here").hint("close it with `*)` (`*/` for a comment of C)"));
    }
    let message = format!("expected {what}, found {}", found(lexer, token));
    Box::new(Diagnostic::error(token.span(), message).label(format!("expected {what}")))
}

/// The same for the next token.
pub(crate) fn expected_next(lexer: &mut Lexer<'_>, what: &str) -> Box<Diagnostic> {
    let token = lexer.peek();
    expected(lexer, token, what)
}

/// Consumes an operator that must come next.
pub(crate) fn expect(lexer: &mut Lexer<'_>, op: &str) -> Parsed<Token> {
    if lexer.at(op) { Ok(lexer.next()) } else { Err(expected_next(lexer, &format!("`{op}`"))) }
}

/// The candidate that is closest to a misspelt word, if any is close enough to be worth a guess.
pub(crate) fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Long words may have two typos; in words of two letters any guess would be noise.
    let limit = match word.len() {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    };
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Adds "did you mean" where there is a good guess.
pub(crate) fn suggest<'c>(
    error: Box<Diagnostic>,
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Box<Diagnostic> {
    match closest(word, candidates) {
        Some(guess) => Box::new(error.hint(format!("did you mean `{guess}`?"))),
        None => error,
    }
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other, ignoring case.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    if a.len() > 64 || a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let columns = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * columns];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * columns + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[(i - 1) * columns + j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let changed = table[(i - 1) * columns + j].min(table[i * columns + j - 1]) + 1;
                let swapped = if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    table[(i - 2) * columns + j - 2] + 1
                } else {
                    usize::MAX
                };
                replaced.min(changed).min(swapped)
            };
        }
    }
    table[a.len() * columns + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words_are_suggested_and_far_ones_are_not() {
        assert_eq!(closest("lwyz", ["lwz", "stw"]), Some("lwz"));
        assert_eq!(closest("snyc", ["sync", "isync"]), Some("sync"));
        assert_eq!(closest("mfenec", ["MFENCE"]), Some("MFENCE"));
        assert_eq!(closest("frobnicate", ["lwz", "stw"]), None);
        assert_eq!(closest("b", ["or"]), None);
    }
}
