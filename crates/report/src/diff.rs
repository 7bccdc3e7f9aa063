//! Changes of source files in the unified form that `patch` and `git apply` read.

use fencepost_diag::{Edit, SourceMap};
use std::fmt::Write;

/// Lines around a change that are shown, so that it is found where it belongs.
const AROUND: usize = 1;

/// All files that the edits change.
pub fn unified(sources: &SourceMap, edits: &[Edit]) -> String {
    let mut out = String::new();
    for (old, new) in sources.edited(edits) {
        let _ = write!(out, "--- a/{}\n+++ b/{}\n{}", old.name, old.name, hunks(&old.text, &new.text));
    }
    out
}

/// The lines that differ, with what is around them. Edits are few and small: what is equal at the front and at the back of
/// two texts, and line by line where their numbers agree, is enough to find them.
fn hunks(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut out = String::new();
    let (mut i, mut j) = (0, 0);
    let mut changes: Vec<([usize; 2], [usize; 2])> = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (to_i, to_j) = next_equal(&old, &new, i, j);
        changes.push(([i, to_i], [j, to_j]));
        (i, j) = (to_i, to_j);
    }
    let mut rest = &changes[..];
    while let Some((first, _)) = rest.split_first() {
        // Changes whose surroundings touch are told together.
        let many = 1 + rest.windows(2).take_while(|pair| pair[1].0[0] <= pair[0].0[1] + 2 * AROUND).count();
        let (group, others) = rest.split_at(many);
        rest = others;
        let last = group.last().unwrap_or(first);
        let above = AROUND.min(first.0[0]);
        let below = AROUND.min(old.len() - last.0[1]);
        let (from, to) = (first.0[0] - above, last.0[1] + below);
        let (new_from, new_to) = (first.1[0] - above, last.1[1] + below);
        let _ = writeln!(out, "@@ -{},{} +{},{} @@", from + 1, to - from, new_from + 1, new_to - new_from);
        let mut at = from;
        for (old_range, new_range) in group {
            add(&mut out, ' ', &old[at..old_range[0]]);
            add(&mut out, '-', &old[old_range[0]..old_range[1]]);
            add(&mut out, '+', &new[new_range[0]..new_range[1]]);
            at = old_range[1];
        }
        add(&mut out, ' ', &old[at..to]);
    }
    out
}

fn add(out: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        let _ = writeln!(out, "{mark}{line}");
    }
}

/// The nearest pair of equal lines from here on, or the ends.
fn next_equal(old: &[&str], new: &[&str], i: usize, j: usize) -> (usize, usize) {
    let most = (old.len() - i) + (new.len() - j);
    for distance in 1..=most {
        for down in 0..=distance {
            let (a, b) = (i + down, j + distance - down);
            if a < old.len() && b < new.len() && old[a] == new[b] {
                return (a, b);
            }
        }
    }
    (old.len(), new.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_insertions_have_their_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nB\nc\nd\ne\nf\nnew\ng\nh\n";
        assert_eq!(hunks(old, new), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -6,2 +6,3 @@\n f\n+new\n g\n");
        assert_eq!(hunks("a\nb\n", "A\nB\n"), "@@ -1,2 +1,2 @@\n-a\n-b\n+A\n+B\n");
        assert_eq!(hunks("a\nb\nc\nd", "A\nb\nc\nD"), "@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n-d\n+D\n");
        assert_eq!(hunks("a", "a"), "");
    }
}
