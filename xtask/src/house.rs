//! `cargo xtask house [FOLDER]`: how large the tree is, and how many things in it have a name.
//!
//! A row per crate: lines of Rust in `src`, lines of its tests, public items. Then the types of one name in several crates, files
//! and functions that are too long, and functions that take too much. It reads lines as `cargo fmt` leaves them, and parses
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file above it is long.
const LONG_FILE: usize = 600;
/// A function above it is long.
const LONG_FUNCTION: usize = 80;
/// A function with more parameters takes too much.
const PARAMETERS: usize = 6;

/// What is counted of a crate.
#[derive(Default)]
struct Crate {
    lines: usize,
    tests: usize,
    public: usize,
}

/// All that is counted.
#[derive(Default)]
struct House {
    crates: BTreeMap<String, Crate>,
    /// Types by name, with the crates that have one of it.
    types: BTreeMap<String, BTreeSet<String>>,
    files: Vec<String>,
    functions: Vec<String>,
    takers: Vec<String>,
}

/// Prints the tables of a checkout.
pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let root = args.next().unwrap_or_else(|| ".".into());
    let mut house = House::default();
    for file in sources(Path::new(&root)) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        house.count(&name, &text);
    }
    house.print();
    ExitCode::SUCCESS
}

/// All files of Rust below a folder but those of builds, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(".rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

impl House {
    fn count(&mut self, name: &str, text: &str) {
        let inside = name.strip_prefix("crates/").unwrap_or(name);
        let (owner, rest) = inside.split_once('/').unwrap_or(("", inside));
        let lines: Vec<&str> = text.lines().collect();
        let counted = self.crates.entry(owner.to_string()).or_default();
        if !rest.starts_with("src/") {
            counted.tests += lines.len();
            return;
        }
        counted.lines += lines.len();
        if lines.len() > LONG_FILE {
            self.files.push(format!("{name}: {}", lines.len()));
        }
        // A field ends with a comma.
        let public =
            lines.iter().filter(|line| line.trim_start().starts_with("pub ") && !line.ends_with(','));
        counted.public += public.count();
        for (number, line) in lines.iter().enumerate() {
            if let Some(of) = type_name(line) {
                self.types.entry(of.to_string()).or_default().insert(owner.to_string());
            }
            if let Some(function) = function(line.trim_start()) {
                self.function(&format!("{name}:{}", number + 1), function, &lines[number..]);
            }
        }
    }

    /// Counts the function that begins on the first of these lines, with `first` behind `fn`.
    fn function(&mut self, place: &str, first: &str, lines: &[&str]) {
        let indent = lines[0].len() - lines[0].trim_start().len();
        let ends = lines.iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or(0);
        let head: String =
            first.chars().chain(lines.iter().take(ends + 1).skip(1).flat_map(|line| line.chars())).collect();
        let parameters = parameters(&head);
        if parameters > PARAMETERS {
            self.takers.push(format!("{place}: {parameters}"));
        }
        let close = format!("{}}}", " ".repeat(indent));
        let length = lines.iter().position(|line| *line == close).map_or(0, |end| end + 1);
        if lines[ends].ends_with('{') && length > LONG_FUNCTION {
            self.functions.push(format!("{place}: {length}"));
        }
    }

    fn print(&self) {
        println!("{:10} {:>7} {:>7} {:>7}", "crate", "src", "tests", "public");
        let mut all = Crate::default();
        for (name, one) in &self.crates {
            println!("{name:10} {:7} {:7} {:7}", one.lines, one.tests, one.public);
            all = Crate {
                lines: all.lines + one.lines,
                tests: all.tests + one.tests,
                public: all.public + one.public,
            };
        }
        println!("{:10} {:7} {:7} {:7}", "all", all.lines, all.tests, all.public);
        let shared: Vec<_> = self.types.iter().filter(|(_, crates)| crates.len() > 1).collect();
        println!("\ntypes of one name in several crates: {}", shared.len());
        for (name, crates) in shared {
            println!("  {name}: {}", crates.iter().cloned().collect::<Vec<_>>().join(" "));
        }
        let lists = [
            (format!("files over {LONG_FILE} lines"), &self.files),
            (format!("functions over {LONG_FUNCTION} lines"), &self.functions),
            (format!("functions with more than {PARAMETERS} parameters"), &self.takers),
        ];
        for (what, list) in lists {
            println!("\n{what}: {}", list.len());
            list.iter().for_each(|one| println!("  {one}"));
        }
    }
}

/// The name of a type that is declared at the outermost level of a line.
fn type_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// What stands behind `fn`, if a function begins on a line.
fn function(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        let (word, after) = rest.split_once(' ')?;
        match word {
            "fn" => return Some(after),
            "pub" | "pub(crate)" | "pub(super)" | "const" | "async" | "unsafe" | "extern" | "\"C\"" => {
                rest = after
            }
            _ => return None,
        }
    }
}

/// How many parameters a function has, from its name on.
fn parameters(head: &str) -> usize {
    let (mut depth, mut generic, mut count, mut empty, mut last) = (0usize, 0usize, 0, true, ' ');
    for c in head.chars() {
        match c {
            '<' => generic += 1,
            '>' if last != '-' && last != '=' => generic = generic.saturating_sub(1),
            '(' | '[' if generic == 0 || depth > 0 => depth += 1,
            ')' | ']' if depth > 1 => depth -= 1,
            ')' if depth == 1 => break,
            ',' if depth == 1 && generic == 0 => (count, empty) = (count + 1, true),
            _ => empty &= depth == 0 || c == ' ',
        }
        last = c;
    }
    count + usize::from(!empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_their_parameters_are_seen() {
        assert_eq!(function("pub(crate) const fn f(a: u8) {"), Some("f(a: u8) {"));
        assert_eq!(function("let fn_name = 3;"), None);
        assert_eq!(parameters("f() {"), 0);
        assert_eq!(
            parameters("f<T: Fn(u8, u8) -> u8>(&self, a: (u8, u8),    b: Map<A, B>,) -> Result<A, B> {"),
            3
        );
        assert_eq!(type_name("pub struct Place<'a> {"), Some("Place"));
    }
}
