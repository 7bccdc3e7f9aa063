//! `#include`: the embedded headers, and the user's files through the loader of the options.

use super::{MAX_INCLUDE_DEPTH, Preprocessor};
use crate::headers;
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, SourceFile, Span};

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, span: Span, rest: &[Token]) -> Result<(), Diagnostic> {
        let tokens = match rest.first().map(|t| t.kind) {
            Some(TokenKind::Ident) => self.expand_alone(rest)?,
            _ => rest.to_vec(),
        };
        let where_ = tokens.first().zip(tokens.last()).map_or(span, |(a, b)| a.span.to(b.span));
        let (name, quoted) = match tokens.first() {
            Some(t) if t.kind == TokenKind::Str => {
                (self.interner.text(t.symbol).trim_matches('"').to_string(), true)
            }
            Some(t) if t.is(Punct::Lt) => {
                let end = tokens.iter().position(|t| t.is(Punct::Gt)).unwrap_or(tokens.len());
                (self.spell(&tokens[1..end]), false)
            }
            _ => {
                return Err(Diagnostic::error(where_, "`#include` needs \"file\" or <file>"));
            }
        };
        if self.files.len() >= MAX_INCLUDE_DEPTH {
            return Err(Diagnostic::error(where_, format!("`{name}` is included too deeply"))
                .hint("a file that includes itself needs `#pragma once`"));
        }
        let Some((path, text)) = self.find(&name, quoted) else {
            return Err(self.not_found(&name, where_));
        };
        if self.read_once.contains(&path) {
            return Ok(());
        }
        let base = self.sources.add(SourceFile::new(path.clone(), text.as_str()));
        self.open(path, base, &text)
    }

    /// Path and text. A quoted name is looked for beside the including file first.
    fn find(&self, name: &str, quoted: bool) -> Option<(String, String)> {
        let load = |path: String| {
            let text = self.options.loader.and_then(|load| load(&path))?;
            Some((path, text))
        };
        if quoted {
            let here = self.files.last().map_or("", |f| f.name.as_str());
            let beside = match here.rfind('/') {
                Some(slash) => format!("{}{name}", &here[..=slash]),
                None => name.to_string(),
            };
            if let Some(found) = load(beside) {
                return Some(found);
            }
        }
        for dir in &self.options.include_dirs {
            if let Some(found) = load(format!("{}/{name}", dir.trim_end_matches('/'))) {
                return Some(found);
            }
        }
        headers::find(name).map(|text| (format!("<{name}>"), text.to_string()))
    }

    fn not_found(&self, name: &str, span: Span) -> Diagnostic {
        Diagnostic::error(span, format!("there is no header `{name}`"))
            .label("not found")
            .hint("system headers are not read; add a directory with -I for headers of your own")
            .hint(format!("built in are {}", headers::names().collect::<Vec<_>>().join(" ")))
    }
}
