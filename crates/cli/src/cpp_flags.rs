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
            } else {
                return Err(format!(
                    "error: `{word}` is no flag of the preprocessor that is known here\n  known: -D NAME[=VALUE], -U NAME, -I DIR, -isystem DIR, -include FILE"
                ));
            }
        }
        Ok(flags)
    }
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
    fn unknown_and_unfinished_flags_are_named() {
        for words in [&["-O2"][..], &["-D"], &["-include"], &["file.c"]] {
            let error = flags(words).expect_err("not known");
            assert!(error.contains(words[0]), "{error}");
        }
    }
}
