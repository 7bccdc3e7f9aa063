//! Source files, spans and diagnostics.
//!
//! Every front end (litmus, cat, C, `.fp`, `.cub`) reports a user's mistake as a [`Diagnostic`]: data with a span, a
//! message, labels and hints. Only [`Diagnostic::render`] knows how it looks, so all messages look alike.

mod source;

pub use source::{Edit, SourceMap};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;

/// A half-open range of byte offsets in one source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from byte `start` up to, not including, byte `end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A file that the user gave us: the name as given, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Name as the user typed it; it is printed in messages.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A source file from its name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> SourceFile {
        SourceFile { name: name.into(), text: text.into() }
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// How bad it is. A warning changes neither verdict nor exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is used, and the user should know something about it.
    Warning,
}

/// One message about one place in one source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable code such as `FP0101`, where the kind of message has one.
    pub code: Option<&'static str>,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands under the underlined place, for example what was expected there.
    pub label: String,
    /// Other places that matter, each with its own label.
    pub related: Vec<(Span, String)>,
    /// What the user can do about it.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: None,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Sets the text under the underlined place.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Sets the stable code.
    pub fn code(mut self, code: &'static str) -> Diagnostic {
        self.code = Some(code);
        self
    }

    /// Adds another place that matters.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hints.push(hint.into());
        self
    }

    /// The full message with file, line, column and a snippet of the source, without colours.
    pub fn render(&self, file: &SourceFile) -> String {
        self.render_with(file, &Renderer::plain())
    }

    /// As [`Diagnostic::render`], with terminal colours.
    pub fn render_colored(&self, file: &SourceFile) -> String {
        self.render_with(file, &Renderer::styled())
    }

    fn render_with(&self, file: &SourceFile, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut snippet = Snippet::source(file.text.as_str()).path(file.name.as_str());
        let mut primary = AnnotationKind::Primary.span(char_range(&file.text, self.span));
        if !self.label.is_empty() {
            primary = primary.label(self.label.as_str());
        }
        snippet = snippet.annotation(primary);
        for (span, label) in &self.related {
            snippet = snippet.annotation(
                AnnotationKind::Context.span(char_range(&file.text, *span)).label(label.as_str()),
            );
        }
        let mut title = level.primary_title(self.message.as_str());
        if let Some(code) = self.code {
            title = title.id(code);
        }
        let mut group = title.element(snippet);
        for hint in &self.hints {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

/// The span as a range that lies within the text and on character boundaries, whatever the front end computed.
fn char_range(text: &str, span: Span) -> std::ops::Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_shows_file_line_column_label_and_hint() {
        let file = SourceFile::new("t.litmus", "PPC t\n{ }\n P0 ;\n foo r1 ;\n");
        let shown = Diagnostic::error(Span::new(17, 20), "unknown instruction `foo`")
            .label("expected a PPC instruction")
            .hint("did you mean `bar`?")
            .render(&file);
        assert!(shown.contains("t.litmus:4:2"), "{shown}");
        assert!(shown.contains("expected a PPC instruction") && shown.contains("did you mean"), "{shown}");
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_do_not_panic() {
        let file = SourceFile::new("t", "é");
        Diagnostic::error(Span::new(1, 1), "m").render(&file);
        Diagnostic::error(Span::new(90, 3), "m").render(&file);
        Diagnostic::error(Span::new(0, 0), "m").render(&SourceFile::new("empty", ""));
    }

    #[test]
    fn line_and_column_are_one_based() {
        let file = SourceFile::new("t", "ab\ncd");
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(4), (2, 2));
        assert_eq!(file.line_column(99), (2, 3));
    }
}
