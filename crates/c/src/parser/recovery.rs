//! How the parser goes on behind a mistake, so that a file shows all of its mistakes at once.
//!
//! What follows from a mistake is not shown: names that stand in a statement or declaration that could not be read may have been
//! declared there, and nothing is said about them again. A construct that is C and is not modelled is no mistake; it ends the
//! function, which nobody may call.

use super::{Parser, Res};
use crate::token::{Keyword, Punct, TokenKind};
use fencepost_diag::Diagnostic;

/// More mistakes than that in one file tend to follow from each other.
const MOST: usize = 10;

/// What follows from a mistake is not shown, but read: at most so often.
const MOST_RECOVERIES: u32 = 200;

/// Where a statement or declaration begins, and what was open there.
pub(super) struct Mark {
    at: usize,
    depth: u32,
    scopes: u32,
    in_parameters: u32,
    /// Of the function around it: blocks, switches, what can be broken out of, loops.
    function: Option<(usize, usize, u32, u32)>,
}

impl Parser<'_> {
    /// Here begins something that can be left out if it cannot be read.
    pub(super) fn mark(&self) -> Mark {
        let of = |f: &super::FunctionContext| (f.blocks.len(), f.switches.len(), f.breakable, f.loops);
        Mark {
            at: self.at,
            depth: self.depth,
            scopes: self.scopes.depth(),
            in_parameters: self.in_parameters,
            function: self.function.as_ref().map(of),
        }
    }

    /// Notes a mistake and goes on behind what it stands in; hands it back where that is not possible.
    pub(super) fn recover(&mut self, mark: &Mark, error: Box<Diagnostic>) -> Res<()> {
        let too_many = self.errors.len() >= MOST || self.recoveries >= MOST_RECOVERIES;
        if self.internal || error.message.ends_with("is not supported") || too_many {
            return Err(error);
        }
        self.recoveries += 1;
        let Some(end) = self.end_of(mark.at) else { return Err(error) };
        self.note(*error);
        for token in &self.tokens[mark.at..end] {
            if token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none() {
                self.doubtful.insert(token.symbol);
            }
        }
        while self.scopes.depth() > mark.scopes {
            self.scopes.leave();
        }
        (self.at, self.depth, self.in_parameters) = (end, mark.depth, mark.in_parameters);
        match (&mut self.function, mark.function) {
            (Some(function), Some((blocks, switches, breakable, loops))) => {
                function.blocks.truncate(blocks);
                function.switches.truncate(switches);
                (function.breakable, function.loops) = (breakable, loops);
            }
            (function, None) => *function = None,
            (None, Some(_)) => {}
        }
        Ok(())
    }

    /// Keeps a mistake, unless it follows from another one.
    fn note(&mut self, error: Diagnostic) {
        if let Some((name, span)) = self.missing.take() {
            if self.interner.find(&name).is_some_and(|symbol| self.doubtful.contains(&symbol)) {
                return;
            }
            // A header that was forgotten is read, if that is what the first mistake is about.
            if self.errors.is_empty() {
                self.first_missing = Some((name, span));
            }
        }
        if !self.errors.iter().any(|known| known.message == error.message && known.span == error.span) {
            self.errors.push(error);
        }
    }

    /// All mistakes, with the one that ended the work.
    pub(super) fn mistakes(&mut self, last: Option<Box<Diagnostic>>) -> Result<(), Vec<Diagnostic>> {
        if let Some(error) = last {
            self.note(*error);
        }
        let errors = std::mem::take(&mut self.errors);
        self.missing = self.first_missing.take();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The end of the statement or declaration that begins at a token, behind what was read of it: behind a `;` or the last
    /// brace, or before the brace that closes the block around it.
    fn end_of(&self, start: usize) -> Option<usize> {
        let is_for = self.tokens.get(start).is_some_and(|t| Keyword::of(t.symbol) == Some(Keyword::For));
        let (mut braces, mut parentheses) = (0usize, 0usize);
        for (i, token) in self.tokens.iter().enumerate().skip(start) {
            let read = i + 1 >= self.at;
            match token.kind {
                TokenKind::Punct(Punct::LBrace) => braces += 1,
                TokenKind::Punct(Punct::RBrace) if braces == 0 => return (i > start).then_some(i),
                TokenKind::Punct(Punct::RBrace) => {
                    braces -= 1;
                    if braces == 0 && read && !self.tokens.get(i + 1).is_some_and(|t| t.is(Punct::Semi)) {
                        return Some(i + 1);
                    }
                }
                TokenKind::Punct(Punct::LParen) => parentheses += 1,
                TokenKind::Punct(Punct::RParen) => parentheses = parentheses.saturating_sub(1),
                TokenKind::Punct(Punct::Semi) if braces == 0 && read && (parentheses == 0 || !is_for) => {
                    return Some(i + 1);
                }
                TokenKind::Eof => return None,
                _ => {}
            }
        }
        None
    }
}
