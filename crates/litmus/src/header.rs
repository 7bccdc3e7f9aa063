//! The header: architecture, name, and what herd7's generators put between the name and the initial state.
//!
//! Reference: the diy manual, "Litmus test format". Only architecture and name matter here; an alias in parentheses,
//! doc strings and `Key=value` lines are skipped. They may contain anything, so the opening brace of the initial state
//! is looked for outside of them.

use crate::Arch;
use crate::error::{Parsed, closest};
use crate::lexer::skip_comment;
use crate::test::thread_number;
use fencepost_diag::{Diagnostic, SourceFile, Span};

/// What the header says, and where the initial state opens.
pub(crate) struct Header<'a> {
    pub(crate) arch: Arch,
    pub(crate) name: &'a str,
    /// Offset of the `{`.
    pub(crate) brace: usize,
}

/// Reads the header.
pub(crate) fn parse_header(file: &SourceFile) -> Parsed<Header<'_>> {
    let text = file.text.as_str();
    let start = skip_blanks(text, 0)?;
    let (arch_span, next) = word(text, start);
    let arch = architecture(text, arch_span)?;
    let name_start = next + run(&text.as_bytes()[next..], |b| b == b' ' || b == b'\t');
    let (name_span, next) = word(text, name_start);
    if name_span.start == name_span.end {
        let error = Diagnostic::error(arch_span, "the test has no name")
            .label("expected a name after the architecture")
            .hint(format!("the first line reads like `{} MP+sync+addr`", arch.name()));
        return Err(Box::new(error));
    }
    let name = &text[name_span.start as usize..name_span.end as usize];
    let brace = find_brace(text, next)?.ok_or_else(|| missing_state(name_span))?;
    Ok(Header { arch, name, brace })
}

fn architecture(text: &str, span: Span) -> Parsed<Arch> {
    let word = &text[span.start as usize..span.end as usize];
    if let Some(arch) = Arch::ALL.into_iter().find(|arch| arch.name().eq_ignore_ascii_case(word)) {
        return Ok(arch);
    }
    let message = match word.to_ascii_uppercase().as_str() {
        "" => "this file is empty".to_string(),
        "PTX" | "VULKAN" | "OPENCL" => {
            format!("tests for {word} are about scopes, which Fencepost does not model")
        }
        "MIPS" | "BPF" | "LISA" | "BELL" | "JAVA" | "ASL" => {
            format!("Fencepost does not read tests for {word}")
        }
        _ => format!("unknown architecture `{word}`"),
    };
    let error = Diagnostic::error(span, message)
        .label("expected `PPC`, `X86`, `X86_64`, `AArch64`, `ARM`, `RISCV` or `C`");
    Err(Box::new(match closest(word, Arch::ALL.map(Arch::name)) {
        Some(guess) => error.hint(format!("did you mean `{guess}`?")),
        None => {
            error.hint("a litmus test starts with its architecture and its name, as in `PPC MP+sync+addr`")
        }
    }))
}

fn missing_state(name: Span) -> Box<Diagnostic> {
    let error = Diagnostic::error(name, "the initial state is missing")
        .label("expected `{` somewhere after the name, and before the program")
        .hint("the initial state stands in braces; `{ }` sets everything to 0");
    Box::new(error)
}

/// The offset of the initial state's opening brace; `None` if the program or the end of the file comes first.
fn find_brace(text: &str, start: usize) -> Parsed<Option<usize>> {
    let bytes = text.as_bytes();
    let mut pos = start;
    let mut at_line_start = false;
    loop {
        match bytes.get(pos) {
            None => return Ok(None),
            Some(b'{') => return Ok(Some(pos)),
            Some(b'"') => {
                // A string that does not end is a stray quote: leave the rest of the line alone.
                let rest = &bytes[pos + 1..];
                let close = rest.iter().position(|&b| b == b'"');
                pos += 1 + close.map_or_else(|| run(rest, |b| b != b'\n'), |at| at + 1);
                at_line_start = false;
            }
            Some(b'(') if bytes.get(pos + 1) == Some(&b'*') => pos = comment_end(bytes, pos)?,
            Some(b'\n') => {
                pos += 1;
                at_line_start = true;
            }
            Some(b) if at_line_start && b.is_ascii_alphabetic() => {
                let key = run(&bytes[pos..], |b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
                let after = pos + key + run(&bytes[pos + key..], |b| b == b' ' || b == b'\t');
                if thread_number(&text[pos..pos + key]).is_some()
                    && matches!(bytes.get(after), Some(b'(' | b'|'))
                {
                    return Ok(None);
                }
                pos += key;
                if bytes.get(pos) == Some(&b'=') {
                    pos += run(&bytes[pos..], |b| b != b'\n');
                }
                at_line_start = false;
            }
            Some(b) => {
                at_line_start &= b.is_ascii_whitespace();
                pos += 1;
            }
        }
    }
}

/// The word at an offset, and the offset after it. It ends at a blank, a brace or a quote.
fn word(text: &str, start: usize) -> (Span, usize) {
    let len = run(&text.as_bytes()[start..], |b| !b.is_ascii_whitespace() && b != b'{' && b != b'"');
    (Span::new(start, start + len), start + len)
}

fn skip_blanks(text: &str, mut pos: usize) -> Parsed<usize> {
    let bytes = text.as_bytes();
    if text[pos..].starts_with('\u{feff}') {
        pos += '\u{feff}'.len_utf8();
    }
    loop {
        pos += run(&bytes[pos..], |b| b.is_ascii_whitespace());
        if !bytes[pos..].starts_with(b"(*") {
            return Ok(pos);
        }
        pos = comment_end(bytes, pos)?;
    }
}

fn comment_end(bytes: &[u8], pos: usize) -> Parsed<usize> {
    skip_comment(bytes, pos).ok_or_else(|| {
        let error = Diagnostic::error(Span::new(pos, pos + 2), "this comment is never closed");
        Box::new(error.label("opened here").hint("close it with `*)`"))
    })
}

fn run(bytes: &[u8], predicate: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !predicate(b)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> (Arch, String, String) {
        let file = SourceFile::new("t", text);
        let header = parse_header(&file).unwrap_or_else(|e| panic!("{}", e.render(&file)));
        (header.arch, header.name.to_string(), file.text[header.brace..].to_string())
    }

    #[test]
    fn aliases_doc_strings_and_keys_are_skipped() {
        let text = "(* c *)\nX86 iwp2.5/amd8 (Two) \"a { b\"\nCycle=Rfe { Fre\n(* { *)\n{x=0;}";
        assert_eq!(header(text), (Arch::X86, "iwp2.5/amd8".into(), "{x=0;}".into()));
        assert_eq!(header("PPC 2+2W{}").1, "2+2W");
        assert_eq!(header("C t\n\n\"two\nlines\"\n{ }").2, "{ }");
    }

    #[test]
    fn mistakes_are_reported() {
        for text in ["", "   ", "ARMv9 t {}", "PPC", "PPC t", "PPC t (* {"] {
            assert!(parse_header(&SourceFile::new("t", text)).is_err(), "{text}");
        }
    }
}
