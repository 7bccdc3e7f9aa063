//! `compile_commands.json`, which build systems write: the flags that each file of a project is compiled with. It is looked for
//! in the
//! folder of a file and in those above it, also under `build`.

use crate::args::CheckArgs;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const NAME: &str = "compile_commands.json";

/// One entry.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

/// All entries of a file.
pub struct Commands(Vec<Entry>);

impl Commands {
    /// Those of the file that the user names, or of the nearest one; none if there is none. The error is a whole message.
    pub fn find(named: Option<&Path>, first: &Path) -> Result<Commands, String> {
        let found = match named {
            Some(path) if path.is_dir() => Some(path.join(NAME)),
            Some(path) => Some(path.to_path_buf()),
            None => nearest(first),
        };
        let Some(path) = found else { return Ok(Commands(Vec::new())) };
        let name = path.display();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
        let entries = serde_json::from_str(&text);
        entries.map(Commands).map_err(|error| format!("error: {name}: not a compilation database: {error}\n"))
    }

    /// Adds what a file is compiled with to what the user says; the user's words count more.
    pub fn add_to(&self, options: &mut CheckArgs, file: &str) {
        let whole = whole(Path::new(file));
        let Some(entry) =
            self.0.iter().find(|entry| whole == self::whole(&entry.directory.join(&entry.file)))
        else {
            return;
        };
        let words = match &entry.command {
            Some(command) => split(command),
            None => entry.arguments.clone(),
        };
        let folder = |text: &str| entry.directory.join(text).display().to_string();
        let mut words = words.into_iter().skip(1);
        while let Some(word) = words.next() {
            let mut value = |flag: &str| match word.strip_prefix(flag)? {
                "" => words.next(),
                rest => Some(rest.to_string()),
            };
            if let Some(path) = value("-isystem").or_else(|| value("-idirafter")) {
                options.system_dirs.push(folder(&path));
            } else if let Some(path) = value("-iquote").or_else(|| value("-I")) {
                options.include_dirs.push(folder(&path));
            } else if let Some(path) = value("-include") {
                // Beside the compiler first, then where all headers are looked for.
                let beside = folder(&path);
                options.includes.push(if Path::new(&beside).is_file() { beside } else { path });
            } else if let Some(text) = value("-D") {
                let name = text.split('=').next().unwrap_or(&text);
                let given = |other: &String| other.split('=').next() == Some(name);
                if !options.defines.iter().any(given) {
                    options.defines.push(text);
                }
            } else if let Some(name) = value("-U") {
                options.defines.retain(|text| text.split('=').next() != Some(name.as_str()));
            }
        }
    }
}

fn nearest(first: &Path) -> Option<PathBuf> {
    let start = if first.is_dir() { first } else { first.parent()? };
    let start = if start.as_os_str().is_empty() { Path::new(".") } else { start };
    let start = start.canonicalize().ok()?;
    let all = start.ancestors().flat_map(|folder| [folder.join(NAME), folder.join("build").join(NAME)]);
    all.into_iter().find(|file| file.is_file())
}

fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The words of a command as a shell has them: quotes of both kinds, and backslashes.
fn split(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                word.extend(letters.next());
                open = true;
            }
            (_, Some(mark)) if letter == mark => quote = None,
            (_, Some(_)) => word.push(letter),
            ('"' | '\'', None) => (quote, open) = (Some(letter), true),
            (_, None) if letter.is_whitespace() => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            _ => word.push(letter),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_by_a_shell() {
        assert_eq!(
            split(r#"cc -DA="b c" '-DX=\n' -D'Q=\"' a\ b.c"#),
            ["cc", "-DA=b c", r"-DX=\n", r#"-DQ=\""#, "a b.c"]
        );
        assert_eq!(split("cc  '' x"), ["cc", "", "x"]);
    }

    #[test]
    fn flags_of_the_file_are_taken() {
        let text = r#"[{"directory": "/p/build", "file": "../a.c",
             "command": "cc -I../inc -DN=2 -D M -O2 -include config.h -c ../a.c -isystem sys"},
                       {"directory": "/p", "file": "b.c", "arguments": ["cc", "-DN=3", "b.c"]}]"#;
        let commands = Commands(serde_json::from_str(text).expect("entries"));
        let mut options = CheckArgs { defines: vec!["M=7".into()], ..CheckArgs::default() };
        commands.add_to(&mut options, "/p/build/../a.c");
        assert_eq!(options.defines, ["M=7", "N=2"], "the command line comes first");
        assert_eq!(options.include_dirs, ["/p/build/../inc"]);
        assert_eq!(options.system_dirs, ["/p/build/sys"]);
        assert_eq!(options.includes, ["config.h"], "not beside the compiler: among the headers");
        let mut options = CheckArgs::default();
        commands.add_to(&mut options, "/p/b.c");
        assert_eq!(options.defines, ["N=3"]);
    }
}
