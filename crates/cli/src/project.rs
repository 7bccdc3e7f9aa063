//! `fencepost.toml`: what a project wants of `check`, so that the command line need not say it. It is looked for in the
//! folder of the first path and in those above it; what stands on the command line comes first.
//!
//! ```toml
//! models = ["tso", "armv8"]
//! unroll = 4
//! timeout = 60.0
//! include = ["include"]
//! isystem = ["third_party"]
//! define = ["N=2"]
//! target = "aarch64"
//! engine = "explore"
//! exclude = ["build/**"]
//!
//! [[file]]
//! pattern = "locks/*.c"
//! models = ["power"]
//! link = ["locks/common.c"]
//! expect = "safe"                     # or { power = "FP0101", tso = "safe" }
//! ```

use crate::engine;
use crate::expected::{self, Expected};
use fencepost_diag::{Diagnostic, SourceFile, SourceMap, Span};
use fencepost_models::registry;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The name of the file.
pub const NAME: &str = "fencepost.toml";

/// What the file says.
#[derive(Deserialize, Default, Debug)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Models, if `-m` is not given.
    #[serde(default)]
    pub models: Vec<Spanned<String>>,
    /// A bound on loops.
    pub unroll: Option<u32>,
    /// Seconds per file and model.
    pub timeout: Option<f64>,
    /// Folders for included files, relative to the file.
    #[serde(default)]
    pub include: Vec<String>,
    /// Folders for included files of others.
    #[serde(default)]
    pub isystem: Vec<String>,
    /// Macros.
    #[serde(default)]
    pub define: Vec<String>,
    /// The platform.
    pub target: Option<Spanned<String>>,
    /// The engine.
    pub engine: Option<Spanned<String>>,
    /// Files of folders that are left out.
    #[serde(default)]
    pub exclude: Vec<String>,
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
    pub models: Vec<Spanned<String>>,
    /// The engine for these files.
    pub engine: Option<Spanned<String>>,
    /// Files that each of these is one program with, relative to the file.
    #[serde(default)]
    pub link: Vec<String>,
    /// A bound on loops.
    pub unroll: Option<u32>,
    /// Seconds.
    pub timeout: Option<f64>,
    /// The verdicts that are expected.
    pub expect: Option<Spanned<Expect>>,
}

/// One expectation for all models, or one for each: verdicts, or codes of findings.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
pub enum Expect {
    /// Of every model.
    All(String),
    /// By the name of the model.
    Each(BTreeMap<String, String>),
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
        project.mistake().map_or(Ok(()), |mistake| {
            let mut sources = SourceMap::default();
            sources.add(SourceFile::new(name.to_string(), text));
            Err(sources.render(&mistake) + "\n")
        })?;
        project.folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(project)
    }

    /// A word in it that means nothing: a model, a verdict, an engine or a platform that does not exist.
    fn mistake(&self) -> Option<Diagnostic> {
        let at = |range: std::ops::Range<usize>| Span::new(range.start, range.end);
        let no_model = |name: &str, place: std::ops::Range<usize>| {
            let known = name == "all" || registry::of_programs(name).is_some();
            let error = || Diagnostic::error(at(place), format!("there is no model `{name}`"));
            (!known).then(|| error().hint(expected::unknown_model(name)))
        };
        let model = |word: &Spanned<String>| no_model(word.get_ref(), word.span());
        let wanted = |name: &str, place: std::ops::Range<usize>| {
            let error = || Diagnostic::error(at(place), format!("`{name}` is nothing that can be expected"));
            Expected::parse(name).is_none().then(|| error().hint(expected::help(name)))
        };
        let engine = |word: &Spanned<String>| {
            let name = word.get_ref().as_str();
            let known = name == "auto" || engine::find(name).is_some();
            let error = || Diagnostic::error(at(word.span()), format!("there is no engine `{name}`"));
            let names: Vec<&str> = engine::ENGINES.iter().map(|engine| engine.name()).collect();
            (!known).then(|| error().hint(format!("engines: auto, {}", names.join(", "))))
        };
        let target = |word: &Spanned<String>| {
            let known = fencepost_c::Target::from_name(word.get_ref()).is_some();
            let names = fencepost_c::Target::ALL.map(fencepost_c::Target::name).join(", ");
            let error =
                || Diagnostic::error(at(word.span()), format!("there is no target `{}`", word.get_ref()));
            (!known).then(|| error().hint(format!("targets: {names}")))
        };
        let rules = self.files.iter();
        let models = self.models.iter().chain(rules.clone().flat_map(|rule| &rule.models)).find_map(model);
        let engines = self.engine.iter().chain(rules.clone().filter_map(|rule| rule.engine.as_ref()));
        let expects =
            rules.filter_map(|rule| rule.expect.as_ref()).find_map(|expect| match expect.get_ref() {
                Expect::All(word) => wanted(word, expect.span()),
                Expect::Each(words) => words.iter().find_map(|(name, word)| {
                    no_model(name, expect.span()).or_else(|| wanted(word, expect.span()))
                }),
            });
        models
            .or(expects)
            .or_else(|| engines.into_iter().find_map(engine))
            .or_else(|| self.target.iter().find_map(target))
    }

    /// Whether a file of a folder is left out.
    pub fn excludes(&self, file: &str) -> bool {
        let inside = self.inside(file);
        self.exclude.iter().any(|pattern| matches(pattern, &inside))
    }

    /// The path of a file as patterns see it.
    fn inside(&self, file: &str) -> String {
        let whole = Path::new(file).canonicalize().unwrap_or_else(|_| PathBuf::from(file));
        whole.strip_prefix(&self.folder).unwrap_or(&whole).display().to_string()
    }

    /// The rules for a file, the last ones first.
    fn rules<'p>(&'p self, file: &str) -> impl Iterator<Item = &'p Rule> {
        let inside = self.inside(file);
        self.files.iter().rev().filter(move |rule| matches(&rule.pattern, &inside))
    }

    /// The models for a file, if it says any.
    pub fn models(&self, file: &str) -> Option<Vec<&str>> {
        let own = self.rules(file).map(|rule| &rule.models[..]);
        let models = own.chain([&self.models[..]]).find(|models| !models.is_empty())?;
        Some(models.iter().map(|model| model.get_ref().as_str()).collect())
    }

    /// The engine for a file.
    pub fn engine(&self, file: &str) -> Option<&str> {
        let own = self.rules(file).find_map(|rule| rule.engine.as_ref()).or(self.engine.as_ref());
        own.map(|engine| engine.get_ref().as_str())
    }

    /// The files that a file is one program with.
    pub fn link(&self, file: &str) -> Vec<PathBuf> {
        let own = self.rules(file).map(|rule| &rule.link).find(|link| !link.is_empty());
        own.into_iter().flatten().map(|path| self.folder.join(path)).collect()
    }

    /// The bound on loops for a file.
    pub fn unroll(&self, file: &str) -> Option<u32> {
        self.rules(file).find_map(|rule| rule.unroll).or(self.unroll)
    }

    /// The seconds for a file.
    pub fn timeout(&self, file: &str) -> Option<f64> {
        self.rules(file).find_map(|rule| rule.timeout).or(self.timeout)
    }

    /// What is expected.
    pub fn expected(&self, file: &str, model: &str) -> Option<Expected> {
        let is_model = |name: &str| {
            name == "all" || registry::of_programs(name).is_some_and(|entry| entry.name == model)
        };
        self.rules(file).find_map(|rule| match rule.expect.as_ref()?.get_ref() {
            Expect::All(word) => Expected::parse(word),
            Expect::Each(words) => {
                let own = words.iter().find(|(name, _)| is_model(name));
                own.and_then(|(_, word)| Expected::parse(word))
            }
        })
    }
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
    use fencepost_answer::Verdict;

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
        assert_eq!(project.expected("bad.c", "power"), Some(Expected::Verdict(Verdict::Unsafe)));
        assert_eq!(project.expected("bad.c", "tso"), Some(Expected::Verdict(Verdict::Safe)));
        assert_eq!((project.unroll("bad.c"), project.unroll("good.c")), (Some(2), Some(4)));
        assert_eq!(project.models("good.c"), Some(vec!["tso"]));
        assert!(toml::from_str::<Project>("modles = []").is_err(), "a word that is not known is an error");
    }
}
