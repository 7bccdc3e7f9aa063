//! From a file to a compiled program: the one place that looks at the name of a file.

use crate::args::CheckArgs;
use crate::cpp_flags::PreprocessorFlags;
use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_ir::{Compiled, Failure};
use std::path::Path;

/// Why there is no answer about a file: a whole message, and its parts as data if a front end refused.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    /// For people.
    pub error: String,
    /// For machines.
    pub diagnostics: Vec<Diagnostic>,
    /// What the spans are about.
    pub sources: SourceMap,
}

impl From<String> for Trouble {
    fn from(error: String) -> Trouble {
        Trouble { error, ..Trouble::default() }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble { error: failure.render(), diagnostics: failure.diagnostics, sources: failure.sources }
    }
}

impl Trouble {
    /// One message about a compiled program.
    pub fn about(sources: &SourceMap, diagnostic: Diagnostic) -> Trouble {
        Trouble::from(Failure { diagnostics: vec![diagnostic], sources: sources.clone() })
    }
}

/// Files that are not for `check`: how their names end, what they are, and what reads them.
const OTHERS: &[(&[&str], &str, &str)] = &[
    (&["litmus"], "a litmus test", "use `fencepost litmus`"),
    (&["cub"], "a parameterized system", "use `fencepost prove`"),
    (&["cat"], "a memory model", "give it to `fencepost litmus` with `-m`"),
    (&["rs"], "Rust", "this language is not read; `check` reads C and .fp"),
    (&["cpp", "cc", "cxx", "C", "hpp", "hh"], "C++", "this language is not read; `check` reads C and .fp"),
    (&["ll", "bc"], "LLVM code", "this language is not read; give the C program that it was made of"),
    (&["o", "so", "a", "out"], "compiled code", "give the C program that it was made of"),
];

/// Reads a program. What is none of the languages below is taken for C.
pub fn read(name: &str, options: &CheckArgs) -> Result<Compiled, Trouble> {
    let ending = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("");
    if let Some((_, what, advice)) = OTHERS.iter().find(|(endings, ..)| endings.contains(&ending)) {
        return Err(format!("error: {name} is {what}, by its name\n  {advice}").into());
    }
    let text =
        std::fs::read_to_string(name).map_err(|error| format!("error: cannot read {name}: {error}"))?;
    let file = SourceFile::new(name, text);
    match ending {
        "fp" => Ok(fencepost_lang::compile(&file)?),
        _ => compile_c(&file, options),
    }
}

fn compile_c(file: &SourceFile, options: &CheckArgs) -> Result<Compiled, Trouble> {
    let loader = |path: &str| std::fs::read_to_string(path).ok();
    let flags = PreprocessorFlags::of(options)?;
    let mut include_dirs = flags.include_dirs;
    let folder = Path::new(&file.name).parent().map(|p| p.display().to_string()).unwrap_or_default();
    include_dirs.insert(0, if folder.is_empty() { ".".into() } else { folder });
    let settings = fencepost_c::Options {
        defines: flags.defines,
        include_dirs,
        includes: flags.includes,
        spurious: options.spurious,
        malloc_fails: options.malloc_fails,
        loader: Some(&loader),
    };
    Ok(fencepost_c::compile(file, &settings)?)
}
