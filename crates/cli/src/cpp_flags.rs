//! What the user tells the preprocessor: by options of our own, and after `--` as one tells a compiler.

use crate::args::CheckArgs;

/// Macros, folders and files for the preprocessor.
#[derive(Debug, Default, PartialEq)]
pub struct PreprocessorFlags {
    /// Names and values.
    pub defines: Vec<(String, Option<String>)>,
    /// Where included files are looked for.
    pub include_dirs: Vec<String>,
    /// Where headers of the system are looked for.
    pub system_dirs: Vec<String>,
    /// Files that are read before the program.
    pub includes: Vec<String>,
}

impl PreprocessorFlags {
    /// Those of a command line; the error is a whole message.
    pub fn of(options: &CheckArgs) -> Result<PreprocessorFlags, String> {
        let mut flags = PreprocessorFlags {
            defines: options.defines.iter().map(|text| definition(text)).collect(),
            include_dirs: options.include_dirs.clone(),
            system_dirs: options.system_dirs.clone(),
            includes: options.includes.clone(),
        };
        let mut words = options.flags.iter();
        while let Some(word) = words.next() {
            // `-D NAME` and `-DNAME` are the same.
            let mut value = |prefix: &str| match word.strip_prefix(prefix)? {
                "" => words.next().cloned(),
                rest => Some(rest.to_string()),
            };
            if let Some(folder) = (word == "-isystem").then(|| value("-isystem")).flatten() {
                flags.system_dirs.push(folder);
            } else if let Some(file) = (word == "-include").then(|| value("-include")).flatten() {
                flags.includes.push(file);
            } else if let Some(text) = value("-D") {
                flags.defines.push(definition(&text));
            } else if let Some(name) = value("-U") {
                flags.defines.retain(|(defined, _)| *defined != name);
            } else if let Some(folder) = value("-I") {
                flags.include_dirs.push(folder);
            } else if TAKES_VALUE.contains(&word.as_str()) {
                words.next();
            } else if !is_of_compilers(word) {
                return Err(format!(
                    "error: `{word}` is no flag that is known here\n  known: -D NAME[=VALUE], -U NAME, -I DIR, \
                        -isystem DIR, -include FILE; \
                     what else compilers take (-std=c11, -Wall, -O2, -g, -f..., -pthread) is ignored"
                ));
            }
        }
        Ok(flags)
    }
}

/// Flags of compilers that are followed by a word of their own, and mean nothing here.
const TAKES_VALUE: &[&str] =
    &["-o", "-MF", "-MT", "-MQ", "-x", "-arch", "-Xlinker", "-Xassembler", "-L", "-l"];

/// How flags of compilers begin that mean nothing here: every compiler is assumed to keep what the standard says.
const BEGIN: &[&str] = &["-W", "-O", "-g", "-f", "-std=", "-M", "-L", "-l", "-march=", "-mtune=", "-mcpu="];

/// Whether a word is a flag of compilers that changes nothing here. Those that would change what a program means, such as `-m32`,
/// are
/// not among them.
pub fn is_of_compilers(word: &str) -> bool {
    let whole = [
        "-pthread",
        "-c",
        "-S",
        "-E",
        "-P",
        "-pipe",
        "-ansi",
        "-pedantic",
        "-pedantic-errors",
        "-m64",
        "-v",
        "-w",
        "-s",
    ];
    whole.contains(&word) || BEGIN.iter().any(|begin| word.starts_with(begin))
}

/// The flags that are ignored, for a note.
pub fn ignored(options: &CheckArgs) -> Vec<&str> {
    options.flags.iter().map(String::as_str).filter(|word| is_of_compilers(word)).collect()
}

/// The words of a command line with the flags of compilers that stand before `--` put behind it, where they belong. Options of
/// ours
/// begin with two dashes, or have one letter.
pub fn sorted_out(words: Vec<String>) -> Vec<String> {
    let checks =
        words.iter().skip(1).find(|word| !word.starts_with('-')).is_some_and(|command| command == "check");
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let moves = |word: &String| word.len() > 2 && is_of_compilers(word) && !word.starts_with("--");
    if !checks || !words[..end].iter().any(moves) {
        return words;
    }
    let (flags, mut kept): (Vec<String>, Vec<String>) = words[..end].iter().cloned().partition(moves);
    kept.push("--".into());
    kept.extend(flags);
    kept.extend(words.into_iter().skip(end + 1));
    kept
}

fn definition(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((name, value)) => (name.to_string(), Some(value.to_string())),
        None => (text.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(words: &[&str]) -> Result<PreprocessorFlags, String> {
        let flags = words.iter().map(|word| word.to_string()).collect();
        PreprocessorFlags::of(&CheckArgs { flags, defines: vec!["A=1".into()], ..CheckArgs::default() })
    }

    #[test]
    fn flags_are_those_of_compilers() {
        let found =
            flags(&["-DB", "-D", "C=2", "-Iinc", "-I", "more", "-isystem", "sys", "-include", "x.h", "-UA"])
                .expect("known");
        let defines = vec![("B".into(), None), ("C".into(), Some("2".into()))];
        let include_dirs = vec!["inc".into(), "more".into()];
        let (system_dirs, includes) = (vec!["sys".into()], vec!["x.h".into()]);
        assert_eq!(found, PreprocessorFlags { defines, include_dirs, system_dirs, includes });
    }

    #[test]
    fn flags_of_compilers_are_put_where_they_belong() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let line = "fencepost check a.c -O2 -m tso -Wall -std=c11 -pthread -- -DX";
        let sorted = "fencepost check a.c -m tso -- -O2 -Wall -std=c11 -pthread -DX";
        assert_eq!(sorted_out(words(line)), words(sorted));
        let other = "fencepost litmus a.litmus -m tso";
        assert_eq!(sorted_out(words(other)), words(other));
        assert_eq!(flags(&["-O2", "-o", "a", "-DX"]).expect("known").defines.len(), 2);
    }

    #[test]
    fn unknown_and_unfinished_flags_are_named() {
        for words in [&["-m32"][..], &["-D"], &["-include"], &["file.c"]] {
            let error = flags(words).expect_err("not known");
            assert!(error.contains(words[0]), "{error}");
        }
    }
}
