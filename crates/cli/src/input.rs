//! From a file to a compiled program: the one place that looks at the name of a file.

use crate::args::CheckArgs;
use crate::cpp_flags::PreprocessorFlags;
use crate::system_headers;
use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_ir::{Compiled, Failure, Instr, LeftOut, Order};
use fencepost_models::mapping;
use fencepost_models::registry::Entry;
use std::io::Read;
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

/// Whether a file is a litmus test, by its name.
pub fn is_litmus(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "litmus")
}

/// How the names of programs end that are looked for in a folder.
pub const PROGRAMS: &[&str] = &["c", "i", "fp"];
/// The same for litmus tests.
pub const LITMUS: &[&str] = &["litmus"];

/// The file, or all files below the folder whose names end in one of these ways, sorted. The error is a whole message.
pub fn files(path: &Path, endings: &[&str]) -> Result<Vec<String>, String> {
    if !path.is_dir() {
        return Ok(vec![path.display().to_string()]);
    }
    let unreadable = |error: std::io::Error| format!("error: cannot read {}: {error}\n", path.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let ending = entry.extension().and_then(|e| e.to_str()).unwrap_or("");
        if entry.is_dir() || endings.contains(&ending) {
            found.extend(files(&entry, endings)?);
        }
    }
    Ok(found)
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

/// Reads a program.
pub fn read(name: &str, model: &Entry, options: &CheckArgs) -> Result<Compiled, Trouble> {
    compile(&source(name)?, model, options)
}

/// Compiles a program. What is none of the languages below is taken for C.
pub fn compile(file: &SourceFile, model: &Entry, options: &CheckArgs) -> Result<Compiled, Trouble> {
    match ending(&file.name) {
        "fp" => Ok(fencepost_lang::compile(file)?),
        _ => compile_c(file, model, options),
    }
}

fn ending(name: &str) -> &str {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// A file as text; bytes that are not UTF-8, as in old comments, become replacement characters.
fn read_source(name: &str) -> std::io::Result<String> {
    Ok(match String::from_utf8(std::fs::read(name)?) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// The text of a file, or of standard input for `-`. Comments may be in any encoding.
pub fn read_text(name: &str) -> Result<String, String> {
    if name == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| format!("error: cannot read standard input: {error}"))?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    read_source(name).map_err(|error| format!("error: cannot read {name}: {error}"))
}

/// The text of a program.
pub fn source(name: &str) -> Result<SourceFile, Trouble> {
    if let Some((_, what, advice)) = OTHERS.iter().find(|(endings, ..)| endings.contains(&ending(name))) {
        return Err(format!("error: {name} is {what}, by its name\n  {advice}").into());
    }
    Ok(SourceFile::new(name, text_of(name)?))
}

/// The text of a file that is one: what has a zero byte is none.
pub fn text_of(name: &str) -> Result<String, String> {
    let text = read_text(name)?;
    match text.contains('\0') {
        true => Err(format!("error: {name} is no text: it has bytes that are zero")),
        false => Ok(text),
    }
}

/// The error for a file that is for another command, by its name: `ending` are those that this command reads.
pub fn for_another_command(name: &str, endings: &[&str]) -> Option<String> {
    let ending = ending(name);
    let program = PROGRAMS.contains(&ending).then_some(("a program", "use `fencepost check`"));
    let other =
        OTHERS.iter().find(|(all, ..)| all.contains(&ending)).map(|(_, what, advice)| (*what, *advice));
    let (what, advice) = program.or(other).filter(|_| !endings.contains(&ending))?;
    Some(format!("error: {name} is {what}, by its name\n  {advice}"))
}

/// The platform that the user names, or that the model stands for.
fn target(model: &Entry, options: &CheckArgs) -> Result<fencepost_c::Target, String> {
    use fencepost_c::Target;
    let Some(name) = &options.target else {
        return Ok(match model.target {
            Some(mapping::Target::Tso) => Target::X86_64,
            Some(mapping::Target::Armv8) => Target::Aarch64,
            Some(mapping::Target::Power) => Target::Powerpc64,
            Some(mapping::Target::Pso) | None => Target::Generic,
        });
    };
    Target::from_name(name).ok_or_else(|| {
        let known = Target::ALL.map(Target::name).join(", ");
        format!("error: there is no target `{name}`\n  known targets: {known}")
    })
}

fn compile_c(file: &SourceFile, model: &Entry, options: &CheckArgs) -> Result<Compiled, Trouble> {
    let loader = |path: &str| match &options.sealed {
        Some(files) => files.get(path).cloned(),
        None => read_source(path).ok(),
    };
    let fallback = || match &options.fallback_dirs {
        Some(known) => known.clone(),
        None => system_headers::of_compiler(),
    };
    let flags = PreprocessorFlags::of(options)?;
    let mut include_dirs = flags.include_dirs;
    let folder = Path::new(&file.name).parent().map(|p| p.display().to_string()).unwrap_or_default();
    include_dirs.insert(0, if folder.is_empty() { ".".into() } else { folder });
    let settings = fencepost_c::Options {
        defines: flags.defines,
        include_dirs,
        system_dirs: flags.system_dirs,
        fallback_dirs: Some(&fallback),
        target: target(model, options)?,
        assumed_headers: Vec::new(),
        includes: flags.includes,
        spurious: options.spurious,
        malloc_fails: options.malloc_fails,
        any_result: options.any_result,
        loader: Some(&loader),
    };
    let mut files = vec![file.clone()];
    for path in options.paths.iter().skip(1).filter(|_| options.link) {
        let name = path.display().to_string();
        files.push(match &options.sealed {
            Some(sealed) => SourceFile::new(
                &name,
                sealed.get(&name).ok_or_else(|| format!("error: there is no {name}"))?.as_str(),
            ),
            None => source(&name)?,
        });
    }
    let mut compiled = fencepost_c::compile_linked(&files, &settings)?;
    if options.volatile_atomic {
        relax_volatile(&mut compiled);
    }
    Ok(compiled)
}

/// Accesses to volatile objects become relaxed atomic ones, which do not race.
fn relax_volatile(compiled: &mut Compiled) {
    for instr in compiled.program.functions.iter_mut().flat_map(|function| &mut function.body) {
        if let Instr::Load { ann, .. } | Instr::Store { ann, .. } = instr
            && ann.volatile
            && ann.order == Order::Plain
        {
            ann.order = Order::Relaxed;
        }
    }
    compiled.left_out.push(LeftOut::Volatile);
}
