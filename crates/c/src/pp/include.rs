//! `#include`: the embedded headers, and the user's files through the loader of the options.

use super::{MAX_INCLUDE_DEPTH, Preprocessor};
use crate::headers;
use crate::token::{Punct, Token, TokenKind};
use fencepost_diag::{Diagnostic, SourceFile, Span};

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, span: Span, rest: &[Token], next: bool) -> Result<(), Diagnostic> {
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
        let Some((path, text)) = self.find(&name, quoted, next) else {
            return Err(self.not_found(&name, where_));
        };
        if self.read_once.contains(&path) {
            return Ok(());
        }
        let base = self.sources.add(SourceFile::new(path.clone(), text.as_str()));
        self.open(path, base, &text)
    }

    /// Path and text. A quoted name is looked for beside the including file first; then the folders of `-I`, the built-in
    /// headers, and the folders of `-isystem`, to which `-I /usr/include` and the like belong. `next`: only in folders
    /// behind that of the including file.
    pub(super) fn find(&self, name: &str, quoted: bool, next: bool) -> Option<(String, String)> {
        let load = |path: String| {
            let text = self.options.loader.and_then(|load| load(&path))?;
            Some((path, text))
        };
        if name.starts_with('/') {
            return load(name.to_string());
        }
        let here = self.files.last().map_or("", |f| f.name.as_str());
        let folder = here.rfind('/').map_or("", |slash| &here[..=slash]);
        let internal = here.starts_with('<') && here != "<command line>";
        let built_in_wins = is_system(folder) && headers::find(name).is_some();
        if quoted && !next && !internal && !built_in_wins {
            let beside = format!("{folder}{name}");
            if let Some(found) = load(beside) {
                return Some(found);
            }
        }
        let (system, own): (Vec<&String>, Vec<&String>) = self
            .options
            .include_dirs
            .iter()
            .filter(|_| !internal)
            .chain(&self.options.system_dirs)
            .partition(|dir| is_system(dir) || self.options.system_dirs.contains(dir));
        let path = |dir: &&String| format!("{}/{name}", dir.trim_end_matches('/'));
        // `#include_next` goes on behind the folder that the including file was found in.
        let behind = |dirs: &[&String]| match next {
            true => {
                dirs.iter().position(|dir| here.starts_with(dir.trim_end_matches('/'))).map_or(0, |i| i + 1)
            }
            false => 0,
        };
        if let Some(found) = own.iter().skip(behind(&own)).find_map(|dir| load(path(dir))) {
            return Some(found);
        }
        let built_in = || headers::find(name).map(|text| (format!("<{name}>"), text.to_string()));
        // The headers of a C library rely on what only its own version of these says.
        let fallback = || self.options.fallback_dirs.map(|folders| folders()).unwrap_or_default();
        let inside = is_system(here) && system.is_empty();
        let theirs =
            ["features.h", "sys/cdefs.h", "netinet/in.h", "arpa/inet.h", "linux/types.h", "asm/types.h"];
        if theirs.contains(&name)
            && let Some(found) = system.iter().find_map(|dir| load(path(dir)))
        {
            return Some(found);
        }
        if inside
            && theirs.contains(&name)
            && let Some(found) = fallback().iter().find_map(|dir| load(path(&dir)))
        {
            return Some(found);
        }
        if let Some(found) = built_in() {
            return Some(found);
        }
        let listed = system.iter().skip(behind(&system)).find_map(|dir| load(path(dir)));
        listed.or_else(|| {
            let folders = fallback();
            let folders: Vec<&String> = folders.iter().collect();
            folders.iter().skip(behind(&folders)).find_map(|dir| load(path(dir)))
        })
    }

    fn not_found(&self, name: &str, span: Span) -> Diagnostic {
        Diagnostic::error(span, format!("there is no header `{name}`"))
            .label("not found")
            .hint("add a directory with -I for headers of your own, with -isystem for those of the system")
            .hint(format!("built in are {}", headers::names().collect::<Vec<_>>().join(" ")))
    }
}

/// The folder of a compiler or of the C library.
pub fn is_system(folder: &str) -> bool {
    ["/usr/include", "/usr/local/include", "/usr/lib"].iter().any(|prefix| folder.starts_with(prefix))
}
