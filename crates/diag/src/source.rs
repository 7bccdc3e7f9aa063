//! All files of one translation unit behind one number line.
//!
//! A [`Span`] is two byte offsets and knows no file. Here every file gets a base and the files lie one after the other,
//! so that one span type serves the user's file, their headers and the embedded ones.

use crate::{Diagnostic, SourceFile, Span};

/// A piece of source text and what is to stand there instead; an empty span is a place where something is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes.
    pub span: Span,
    /// What comes.
    pub text: String,
}

/// The files of a compilation, in the order in which they were read; the first one is the file that was asked for.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<(u32, SourceFile)>,
    end: u32,
}

impl SourceMap {
    /// Adds a file and returns its base; byte `i` of its text has the offset `base + i`.
    pub fn add(&mut self, file: SourceFile) -> u32 {
        let base = self.end;
        // One more than the length, so that the end of one file is not the start of the next.
        self.end = base.saturating_add(file.text.len() as u32).saturating_add(1);
        self.files.push((base, file));
        base
    }

    /// The files, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().map(|(_, file)| file)
    }

    /// The file that an offset lies in, and the base of that file.
    pub fn locate(&self, offset: u32) -> Option<(u32, &SourceFile)> {
        let index = self.files.partition_point(|(base, _)| *base <= offset).checked_sub(1)?;
        let (base, file) = &self.files[index];
        // Beyond the last file is nowhere.
        ((offset - base) as usize <= file.text.len()).then_some((*base, file))
    }

    /// File name, line and column (from 1) of an offset.
    pub fn position(&self, offset: u32) -> Option<(&str, usize, usize)> {
        let (base, file) = self.locate(offset)?;
        let (line, column) = file.line_column(offset - base);
        Some((&file.name, line, column))
    }

    /// The source text of a span, for traces; empty if it is in no file.
    pub fn text(&self, span: Span) -> &str {
        let Some((base, file)) = self.locate(span.start) else { return "" };
        let range = (span.start - base) as usize..span.end.saturating_sub(base) as usize;
        file.text.get(range).unwrap_or("")
    }

    /// The source text of a span on one line. What a macro expands to has the span of the macro's name: if arguments
    /// follow the span, they belong to it.
    pub fn expression(&self, span: Span) -> String {
        let Some((base, file)) = self.locate(span.start) else { return String::new() };
        let start = (span.start - base) as usize;
        let mut end = span.end.saturating_sub(base) as usize;
        let rest = file.text.get(end..).unwrap_or("");
        let is_name = file.text.get(start..end).is_some_and(|text| text.ends_with(is_name_character));
        if is_name && rest.starts_with('(') {
            end += arguments(rest);
        }
        let text = file.text.get(start..end).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The line that an offset lies in, without its indentation.
    pub fn line(&self, offset: u32) -> &str {
        let Some((base, file)) = self.locate(offset) else { return "" };
        let (before, after) = file.text.split_at_checked((offset - base) as usize).unwrap_or(("", ""));
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = before.len() + after.find('\n').unwrap_or(after.len());
        file.text[start..end].trim()
    }

    /// The files that edits change, as they are and as they are then. Edits must not overlap; the same edit twice is one.
    pub fn edited(&self, edits: &[Edit]) -> Vec<(&SourceFile, SourceFile)> {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| (edit.span, &edit.text));
        edits.dedup();
        let mut changed = Vec::new();
        for (base, file) in &self.files {
            let mut text = file.text.clone();
            for edit in edits.iter().rev() {
                let local = |offset: u32| offset.checked_sub(*base).map(|offset| offset as usize);
                let (Some(start), Some(end)) = (local(edit.span.start), local(edit.span.end)) else {
                    continue;
                };
                if end <= file.text.len() && text.is_char_boundary(start) && text.is_char_boundary(end) {
                    text.replace_range(start..end, &edit.text);
                }
            }
            if text != file.text {
                changed.push((file, SourceFile::new(file.name.as_str(), text)));
            }
        }
        changed
    }

    /// The message with file, line, column and a snippet; related places in other files become hints.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let (file, local) = self.localise(diagnostic);
        local.render(file)
    }

    /// As [`SourceMap::render`], with terminal colours.
    pub fn render_colored(&self, diagnostic: &Diagnostic) -> String {
        let (file, local) = self.localise(diagnostic);
        local.render_colored(file)
    }

    /// The diagnostic with spans relative to the file that it is about.
    pub fn localise(&self, diagnostic: &Diagnostic) -> (&SourceFile, Diagnostic) {
        static NOWHERE: SourceFile = SourceFile { name: String::new(), text: String::new() };
        let Some((base, file)) = self.locate(diagnostic.span.start) else {
            return (&NOWHERE, diagnostic.clone());
        };
        let limit = base + file.text.len() as u32;
        let shift =
            |span: Span| Span { start: span.start - base, end: span.end.clamp(span.start, limit) - base };
        let mut local =
            Diagnostic { span: shift(diagnostic.span), related: Vec::new(), ..diagnostic.clone() };
        for (span, label) in &diagnostic.related {
            if (base..=limit).contains(&span.start) {
                local.related.push((shift(*span), label.clone()));
            } else if let Some((name, line, _)) = self.position(span.start) {
                local.hints.push(format!("{label}: {name}:{line}"));
            }
        }
        (file, local)
    }
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of a parenthesised text, 0 if it does not end.
fn arguments(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_find_their_file_and_line() {
        let mut map = SourceMap::default();
        let first = map.add(SourceFile::new("a.c", "ab\ncd"));
        let second = map.add(SourceFile::new("b.h", "x\ny"));
        assert_eq!(map.position(first + 3), Some(("a.c", 2, 1)));
        assert_eq!(map.position(second + 2), Some(("b.h", 2, 1)));
        assert_eq!((map.position(second + 4), map.position(u32::MAX)), (None, None));
        assert_eq!(map.text(Span { start: second, end: second + 1 }), "x");
        let shown = map.render(&Diagnostic::error(Span { start: second + 2, end: second + 3 }, "m"));
        assert!(shown.contains("b.h:2:1"), "{shown}");
    }

    #[test]
    fn edits_change_the_files_they_are_in() {
        let mut map = SourceMap::default();
        map.add(SourceFile::new("a.c", "ab\ncd"));
        let second = map.add(SourceFile::new("b.h", "x\ny"));
        let edit = |start, end, text: &str| Edit { span: Span { start, end }, text: text.into() };
        let edits =
            [edit(second + 2, second + 3, "zz"), edit(second, second, "w"), edit(second, second, "w")];
        let changed = map.edited(&edits);
        assert_eq!(changed.len(), 1);
        assert_eq!((changed[0].0.name.as_str(), changed[0].1.text.as_str()), ("b.h", "wx\nzz"));
        assert!(map.edited(&[]).is_empty());
    }

    #[test]
    fn a_macro_is_shown_with_its_arguments() {
        let mut map = SourceMap::default();
        map.add(SourceFile::new("a.c", "int x;\n  x = LD(f(y),\n    z) + (1);\n  (x); g("));
        let shown = |start, end| map.expression(Span { start, end });
        assert_eq!(shown(13, 15), "LD(f(y), z)");
        assert_eq!(shown(9, 15), "x = LD(f(y), z)");
        assert_eq!(shown(9, 10), "x");
        assert_eq!(shown(43, 44), "g");
        assert_eq!(map.line(13), "x = LD(f(y),");
        assert_eq!(map.line(2), "int x;");
        assert_eq!((map.line(1000), shown(1000, 1001).as_str()), ("", ""));
    }
}
