//! Standard output and error. Whoever reads us may stop reading (`fencepost ... | head`): that is no error of ours, and
//! the exit code stays what it would have been.

use std::io::Write;

/// Writes to standard output.
pub fn out(text: &str) {
    let mut stream = std::io::stdout().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

/// Writes text for people to standard output: with colours and in lines that fit, where it is a terminal.
pub fn show(text: &str) {
    out(&crate::terminal::dress(text));
}

/// Writes to standard error.
pub fn err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// A line that names the word that was probably meant; empty if none is near.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let word = word.to_lowercase();
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    // Letters that changed places are one mistake.
    let steps = |known: &str| if sorted(&word) == sorted(known) { 1 } else { distance(&word, known) };
    let nearest = known.iter().map(|known| (steps(known), known)).min();
    match nearest {
        Some((steps, known)) if steps <= 1 + word.len() / 4 => format!("  did you mean `{known}`?\n"),
        _ => String::new(),
    }
}

/// How many characters have to be added, left out or replaced to get from one word to the other.
pub fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_proposed() {
        assert_eq!((distance("kitten", "sitting"), distance("", "ab"), distance("tso", "tso")), (3, 2, 0));
        assert_eq!(did_you_mean("arm8", &["sc", "armv8", "power"]), "  did you mean `armv8`?\n");
        assert_eq!(did_you_mean("Power", &["sc", "power"]), "  did you mean `power`?\n");
        assert_eq!(did_you_mean("tos", &["sc", "tso", "pso"]), "  did you mean `tso`?\n");
        assert_eq!(did_you_mean("itanium", &["sc", "tso"]), "");
    }
}
