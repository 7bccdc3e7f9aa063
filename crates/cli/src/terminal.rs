//! What only a terminal gets: colours, and lines that fit.

use std::io::IsTerminal;
use std::sync::OnceLock;

/// When there are colours.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, Debug, Default)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How text for people is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Look {
    /// With colours.
    pub colors: bool,
    /// Lines are broken to fit into so many columns.
    pub width: Option<usize>,
}

static LOOK: OnceLock<Look> = OnceLock::new();

/// Decides how standard output looks, once.
pub fn choose(color: Color) {
    let terminal = std::io::stdout().is_terminal();
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colors = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && wanted,
    };
    let width = terminal.then(|| usize::from(console::Term::stdout().size().1)).filter(|width| *width >= 40);
    let _ = LOOK.set(Look { colors, width });
}

/// How many columns standard output has, if it is a terminal.
pub fn width() -> Option<usize> {
    LOOK.get().and_then(|look| look.width)
}

/// Text for people as standard output shows it.
pub fn dress(text: &str) -> String {
    dressed(text, LOOK.get().copied().unwrap_or_default())
}

fn dressed(text: &str, look: Look) -> String {
    if look == Look::default() {
        return text.to_string();
    }
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        for (i, piece) in broken(line, look.width).iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            out += &if look.colors && i == 0 { painted(piece) } else { piece.clone() };
        }
        out += end;
    }
    out
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const GREEN: &str = "\x1b[1;32m";
const YELLOW: &str = "\x1b[1;33m";
const PLAIN: &str = "\x1b[0m";

/// Beginnings of lines, and the colour of the line up to the next colon or its end.
const HEADS: &[(&str, &str)] = &[
    ("error[", RED),
    ("warning[", YELLOW),
    ("    thread ", BOLD),
    ("  why:", BOLD),
    ("  an execution", BOLD),
];

/// What stands behind the name of a file, and its colour.
const VERDICTS: &[(&str, &str)] = &[(": safe", GREEN), (": unsafe", RED), (": unknown", YELLOW)];

fn painted(line: &str) -> String {
    if let Some((_, color)) = HEADS.iter().find(|(head, _)| line.starts_with(head)) {
        let end = line.find("]: ").map_or(line.len(), |at| at + 1);
        return format!("{color}{}{PLAIN}{}", &line[..end], &line[end..]);
    }
    let verdict = VERDICTS.iter().find_map(|(word, color)| Some((line.find(word)?, *word, *color)));
    match verdict {
        Some((at, word, color)) if !line.starts_with(' ') && line.contains(" under ") => {
            let (start, rest) = line.split_at(at + 2);
            let (word, rest) = rest.split_at(word.len() - 2);
            format!("{start}{color}{word}{PLAIN}{rest}")
        }
        _ => line.to_string(),
    }
}

/// A line in pieces that fit, broken at spaces; what follows is indented more. Pieces of source with marks below them stay.
fn broken(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| line.chars().count() > *width) else { return vec![line.into()] };
    if line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|') {
        return vec![line.into()];
    }
    let indent = line.chars().take_while(|c| *c == ' ').count();
    let hanging = " ".repeat((indent + 4).min(width / 2));
    let mut pieces = vec![" ".repeat(indent)];
    let mut empty = true;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let last = pieces.last().map_or(0, |piece| piece.chars().count());
        if !empty && last + 1 + word.chars().count() > width {
            pieces.push(hanging.clone());
            empty = true;
        }
        if let Some(piece) = pieces.last_mut() {
            if !empty {
                piece.push(' ');
            }
            piece.push_str(word);
        }
        empty = false;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_without_a_terminal() {
        let text = "error[FP0101]: it fails\n";
        assert_eq!(dressed(text, Look::default()), text);
    }

    #[test]
    fn verdicts_and_heads_have_colours() {
        let look = Look { colors: true, width: None };
        assert_eq!(dressed("error[FP0101]: x\n", look), "\x1b[1;31merror[FP0101]\x1b[0m: x\n");
        assert_eq!(dressed("a.c: safe under tso (1)", look), "a.c: \x1b[1;32msafe\x1b[0m under tso (1)");
        assert_eq!(dressed("      17  x = 1", look), "      17  x = 1");
    }

    #[test]
    fn lines_fit_into_sixty_columns() {
        let look = Look { colors: false, width: Some(60) };
        let long = format!("  {}\n", "word ".repeat(40).trim_end());
        let fitted = dressed(&long, look);
        assert!(fitted.lines().all(|line| line.chars().count() <= 60), "{fitted}");
        assert_eq!(fitted.split_whitespace().count(), 40, "nothing is lost");
        let marks = format!("12 |     {}", "x".repeat(80));
        assert_eq!(dressed(&marks, look), marks, "marks stay below what they mark");
    }
}
