//! `fencepost.toml`: what a project wants of `check`, so that the command line need not say it. It is looked for in the
//! folder of the first path and in those above it; what stands on the command line comes first.
//!
//! ```toml
//! models = ["tso", "armv8"]
//! unroll = 4
//! timeout = 60.0
//! include = ["include"]
//! define = ["N=2"]
//!
//! [[file]]
//! pattern = "locks/*.c"
//! models = ["power"]
//! expect = "safe"                     # or { power = "unsafe", tso = "safe" }
//! ```

use fencepost_answer::Verdict;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const NAME: &str = "fencepost.toml";

/// What the file says.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Models, if `-m` is not given.
    #[serde(default)]
    pub models: Vec<String>,
    /// A bound on loops.
    pub unroll: Option<u32>,
    /// Seconds per file and model.
    pub timeout: Option<f64>,
    /// Folders for included files, relative to the file.
    #[serde(default)]
    pub include: Vec<String>,
    /// Macros.
    #[serde(default)]
    pub define: Vec<String>,
    /// What holds for some files.
    #[serde(default, rename = "file")]
    pub files: Vec<Rule>,
    /// The folder that it stands in.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// What holds for files that match a pattern; the last rule that says something counts.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `*` and `?` stand for what is no slash, `**` for anything.
    pub pattern: String,
    /// Models for these files.
    #[serde(default)]
    pub models: Vec<String>,
    /// A bound on loops.
    pub unroll: Option<u32>,
    /// Seconds.
    pub timeout: Option<f64>,
    /// The verdicts that are expected.
    pub expect: Option<Expect>,
}

/// One verdict for all models, or one for each.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
pub enum Expect {
    /// Of every model.
    All(Word),
    /// By the name of the model.
    Each(BTreeMap<String, Word>),
}

/// A verdict as it is written.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Word {
    Safe,
    Unsafe,
    Unknown,
}

impl From<Word> for Verdict {
    fn from(word: Word) -> Verdict {
        match word {
            Word::Safe => Verdict::Safe,
            Word::Unsafe => Verdict::Unsafe,
            Word::Unknown => Verdict::Unknown,
        }
    }
}

impl Project {
    /// Looks for the file from a path upwards; without one, the empty project. The error is a whole message.
    pub fn find(path: &Path) -> Result<Project, String> {
        let start = if path.is_dir() { Some(path) } else { path.parent() };
        let start = start.unwrap_or(Path::new(""));
        let start = if start.as_os_str().is_empty() { Path::new(".") } else { start };
        let whole = start.canonicalize().unwrap_or_else(|_| start.to_path_buf());
        match whole.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file()) {
            Some(file) => Project::read(&file),
            None => Ok(Project::default()),
        }
    }

    /// Reads a file.
    pub fn read(file: &Path) -> Result<Project, String> {
        let name = file.display();
        let text =
            std::fs::read_to_string(file).map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
        let mut project: Project =
            toml::from_str(&text).map_err(|error| format!("error: in {name}\n{error}"))?;
        project.folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(project)
    }

    /// The rules for a file, the last ones first.
    fn rules<'p>(&'p self, file: &str) -> impl Iterator<Item = &'p Rule> {
        let whole = Path::new(file).canonicalize().unwrap_or_else(|_| PathBuf::from(file));
        let inside = whole.strip_prefix(&self.folder).unwrap_or(&whole).display().to_string();
        self.files.iter().rev().filter(move |rule| matches(&rule.pattern, &inside))
    }

    /// The models for a file, if it says any.
    pub fn models(&self, file: &str) -> Option<&[String]> {
        let own = self.rules(file).map(|rule| &rule.models[..]);
        own.chain([&self.models[..]]).find(|models| !models.is_empty())
    }

    /// The bound on loops for a file.
    pub fn unroll(&self, file: &str) -> Option<u32> {
        self.rules(file).find_map(|rule| rule.unroll).or(self.unroll)
    }

    /// The seconds for a file.
    pub fn timeout(&self, file: &str) -> Option<f64> {
        self.rules(file).find_map(|rule| rule.timeout).or(self.timeout)
    }

    /// The verdict that is expected.
    pub fn expected(&self, file: &str, model: &str) -> Option<Verdict> {
        self.rules(file).find_map(|rule| match rule.expect.as_ref()? {
            Expect::All(word) => Some((*word).into()),
            Expect::Each(words) => words.get(model).map(|word| (*word).into()),
        })
    }
}

/// The verdict that a comment in a program expects: `expect: safe`, or `expect: tso=safe power=unsafe`.
pub fn expected_by_comment(text: &str, model: &str) -> Option<Verdict> {
    let verdict = |word: &str| match word.trim_end_matches([',', ';']) {
        "safe" => Some(Verdict::Safe),
        "unsafe" => Some(Verdict::Unsafe),
        "unknown" => Some(Verdict::Unknown),
        _ => None,
    };
    let line = text.lines().find_map(|line| {
        let (before, after) = line.split_once("expect:")?;
        let comment = before.trim_end();
        (comment.ends_with("//") || comment.ends_with('*') || comment.ends_with('#')).then_some(after)
    })?;
    line.split_whitespace().find_map(|word| match word.split_once('=') {
        None => verdict(word),
        Some((name, word)) => (name == model).then(|| verdict(word)).flatten(),
    })
}

/// Whether a path matches a pattern.
fn matches(pattern: &str, path: &str) -> bool {
    matches_bytes(pattern.as_bytes(), path.as_bytes())
}

fn matches_bytes(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) if rest.first() == Some(&b'*') => {
            // `**/` matches whole folders, and none as well.
            let folders = rest.strip_prefix(b"*/");
            let rest = folders.unwrap_or(&rest[1..]);
            let whole = |skipped: usize| folders.is_none() || skipped == 0 || path[skipped - 1] == b'/';
            (0..=path.len()).any(|skipped| whole(skipped) && matches_bytes(rest, &path[skipped..]))
        }
        (Some((b'*', rest)), _) => {
            let most = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            (0..=most).any(|skipped| matches_bytes(rest, &path[skipped..]))
        }
        (Some((b'?', rest)), Some((byte, path))) => *byte != b'/' && matches_bytes(rest, path),
        (Some((wanted, rest)), Some((byte, path))) => wanted == byte && matches_bytes(rest, path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        assert!(matches("*.c", "a.c") && !matches("*.c", "b/a.c") && !matches("*.c", "a.h"));
        assert!(matches("**/*.c", "b/d/a.c") && matches("**/*.c", "a.c"));
        assert!(matches("**/a.c", "b/a.c") && !matches("**/a.c", "b/ba.c"));
        assert!(matches("locks/?.c", "locks/a.c") && !matches("locks/?.c", "locks/ab.c"));
        assert!(matches("locks/**", "locks/x/y.c") && !matches("locks/**", "queues/x.c"));
    }

    #[test]
    fn the_last_rule_counts() {
        let text = "models = [\"tso\"]\nunroll = 4\n[[file]]\npattern = \"**\"\nexpect = \"safe\"\n\
                    [[file]]\npattern = \"bad*\"\nunroll = 2\nexpect = { power = \"unsafe\" }\n";
        let project: Project = toml::from_str(text).expect("a project");
        assert_eq!(project.expected("bad.c", "power"), Some(Verdict::Unsafe));
        assert_eq!(project.expected("bad.c", "tso"), Some(Verdict::Safe));
        assert_eq!((project.unroll("bad.c"), project.unroll("good.c")), (Some(2), Some(4)));
        assert_eq!(project.models("good.c"), Some(&["tso".to_string()][..]));
        assert!(toml::from_str::<Project>("modles = []").is_err(), "a word that is not known is an error");
    }

    #[test]
    fn comments_expect_verdicts() {
        assert_eq!(expected_by_comment("int x; // expect: safe\n", "tso"), Some(Verdict::Safe));
        let each = " * expect: sc=safe tso=unsafe\n";
        assert_eq!(expected_by_comment(each, "tso"), Some(Verdict::Unsafe));
        assert_eq!(expected_by_comment(each, "power"), None);
        assert_eq!(expected_by_comment("puts(\"expect: safe\");", "tso"), None, "that is no comment");
    }
}
