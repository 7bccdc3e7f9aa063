//! What somebody expects of an answer: a verdict, or a finding by its code. It stands in a comment of the program or in
//! `fencepost.toml`, and means the same in both.
//!
//! ```c
//! // expect: safe
//! // expect: sc=safe x86=safe power=FP0101
//! // expect: all=unsafe (with --spurious)
//! ```

use crate::print;
use fencepost_answer::{FindingKind, Outcome, Verdict};
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_models::registry;

/// What is expected under a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// This verdict.
    Verdict(Verdict),
    /// A finding of this kind, and the verdict that goes with it.
    Finding(FindingKind),
}

/// The words for verdicts.
pub const VERDICTS: [Verdict; 3] = [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown];

impl Expected {
    /// From a word.
    pub fn parse(word: &str) -> Option<Expected> {
        let verdict = VERDICTS.into_iter().find(|verdict| verdict.name() == word);
        verdict.map(Expected::Verdict).or_else(|| FindingKind::from_code(word).map(Expected::Finding))
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Expected::Verdict(verdict) => verdict.name(),
            Expected::Finding(kind) => kind.code(),
        }
    }

    /// Whether an answer is what was expected.
    pub fn is_met(self, outcome: &Outcome) -> bool {
        match self {
            Expected::Verdict(verdict) => outcome.verdict == verdict,
            Expected::Finding(kind) => outcome.findings.iter().any(|finding| finding.kind == kind),
        }
    }
}

/// What a word that is no expectation should have been, for people.
pub fn help(word: &str) -> String {
    let words = VERDICTS.map(Verdict::name);
    match words.iter().find(|known| is_near(known, word)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "safe, unsafe, unknown, or the code of a finding such as FP0101".into(),
    }
}

/// What a comment of a program expects, by models; the name `all` is every model.
pub struct Comment(Vec<(String, Expected)>);

impl Comment {
    /// Reads the first comment that says `expect:`. Prose that happens to begin so expects nothing; a word that is nearly right
    /// is a
    /// mistake, and the error shows it.
    pub fn read(file: &SourceFile) -> Result<Comment, Box<Diagnostic>> {
        let mut found = Vec::new();
        let mut start = 0;
        for line in file.text.split_inclusive('\n') {
            let line_start = start;
            start += line.len();
            let Some((before, after)) = line.split_once("expect:") else { continue };
            let comment = before.trim_end();
            if !(comment.ends_with("//") || comment.ends_with('*') || comment.ends_with('#')) {
                continue;
            }
            let offset = line_start + before.len() + "expect:".len();
            // A remark, or the end of the comment, ends the list.
            let list = after.split(['(', '*']).next().unwrap_or(after);
            if is_prose(list) {
                continue;
            }
            let mut at = 0;
            for word in list
                .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
                .filter(|word| !word.is_empty())
            {
                let place = list[at..].find(word).map_or(at, |skipped| at + skipped);
                at = place + word.len();
                found.push(entry(word, offset + place)?);
            }
            break;
        }
        Ok(Comment(found))
    }

    /// What it expects under a model.
    pub fn under(&self, model: &str) -> Option<Expected> {
        let own = |(name, _): &&(String, Expected)| {
            name == "all" || registry::of_programs(name).is_some_and(|entry| entry.name == model)
        };
        self.0.iter().find(own).map(|(_, expected)| *expected)
    }
}

/// Whether a text after `expect:` is no expectation, nor a misspelt one.
fn is_prose(list: &str) -> bool {
    let first = list.split_whitespace().next().unwrap_or("").trim_end_matches([',', ';']);
    let is_near_verdict = VERDICTS.iter().any(|verdict| is_near(verdict.name(), first));
    !(first.contains('=') || is_near_verdict || Expected::parse(first).is_some())
}

/// `safe`, or `tso=safe`, at an offset of the text.
fn entry(word: &str, offset: usize) -> Result<(String, Expected), Box<Diagnostic>> {
    let (name, wanted) = word.split_once('=').unwrap_or(("all", word));
    let span = |start: usize, text: &str| Span::new(start, start + text.len());
    if name != "all" && registry::of_programs(name).is_none() {
        let hint = unknown_model(name);
        let error = Diagnostic::error(span(offset, name), format!("there is no model `{name}`"));
        return Err(Box::new(error.hint(hint)));
    }
    let at = offset + word.len() - wanted.len();
    match Expected::parse(wanted) {
        Some(expected) => Ok((name.to_string(), expected)),
        None => {
            let message = format!("`{wanted}` is nothing that can be expected");
            Err(Box::new(Diagnostic::error(span(at, wanted), message).hint(help(wanted))))
        }
    }
}

/// Which models there are, or the one that was meant.
pub fn unknown_model(name: &str) -> String {
    let names = registry::names(|_| true);
    let near = print::did_you_mean(name, &names);
    match near.trim() {
        "" => format!("models: {}", names.join(", ")),
        near => near.to_string(),
    }
}

/// Whether a word is a misspelt one.
fn is_near(known: &str, word: &str) -> bool {
    word.len() > 2 && print::distance(word, known) <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &str, model: &str) -> Result<Option<Expected>, String> {
        let comment = Comment::read(&SourceFile::new("a.c", text)).map_err(|error| error.message)?;
        Ok(comment.under(model))
    }

    #[test]
    fn comments_expect_verdicts_and_findings() {
        let (safe, wrong) = (Expected::Verdict(Verdict::Safe), Expected::Verdict(Verdict::Unsafe));
        assert_eq!(expected("int x; // expect: safe\n", "tso"), Ok(Some(safe)));
        let each = " * expect: sc=safe x86=unsafe, power=FP0101 */\n";
        assert_eq!(expected(each, "tso"), Ok(Some(wrong)), "by another name");
        assert_eq!(expected(each, "power"), Ok(Some(Expected::Finding(FindingKind::Assertion))));
        assert_eq!(expected(each, "armv8"), Ok(None));
        assert_eq!(expected("// expect: all=unsafe (with --spurious)", "ra"), Ok(Some(wrong)));
        assert_eq!(expected("puts(\"expect: safe\");", "tso"), Ok(None), "that is no comment");
        assert_eq!(expected("// expect: the queue to be empty\n", "tso"), Ok(None), "that is prose");
    }

    #[test]
    fn misspelt_ones_are_mistakes() {
        assert!(expected("// expect: saef\n", "tso").is_err());
        assert!(expected("// expect: pwoer=safe\n", "tso").is_err());
        assert!(expected("// expect: tso=FP9999\n", "tso").is_err());
    }
}
