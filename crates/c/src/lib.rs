//! The C front end: C11 with pthreads and atomics, from text to [`fencepost_ir::Program`].
//!
//! No compiler and no system headers are needed: the preprocessor, the parser and the headers are here.
//!
//! * `token`, `lexer`, `pp`: text to preprocessed tokens; `headers` are the built-in ones.
//! * `parser`, `sema`, `types`, `layout`: tokens to the typed tree of `ast`.
//! * `lower`, `uninit`: the tree to the IR. Library functions beyond the table of `lower::library` are C code of the
//!   `runtime` folder, read when a program uses them.
//!
//! What is valid C but not modelled is an error that names the construct, never an approximation.
//!
//! # Limits
//!
//! * Not modelled: arrays of arrays of variable length, `long double`, complex numbers, arithmetic on `__int128`, functions
//!   inside functions, vectors, inline assembly other than fences and the common instructions of x86, signals from outside,
//!   input and files. In a function that is never reached they are no error.
//! * Pointer bits: a pointer converted to an integer keeps its object and offset, so tagging the low bits works; arithmetic
//!   that means to reach another object does not.
//! * A condition variable tells 32 waits apart, there are 8 keys. Exceeding a number is a finding of the kind `Unsupported`.
//! * A struct with indeterminate members may be copied; the copies of those members count as initialised.
//! * `smp_wmb` and `smp_rmb` of the Linux style header are release and acquire fences, which order a little more.

mod ast;
mod builtins;
mod foreign;
mod headers;
mod intern;
mod layout;
mod lexer;
mod literal;
mod lower;
mod names;
mod parser;
mod pp;
mod sema;
mod target;
mod token;
mod types;
mod uninit;

pub use fencepost_diag::SourceMap;
use fencepost_diag::{Diagnostic, SourceFile, Span};
use fencepost_ir::private::mark_private_objects;
use fencepost_ir::registers::keep_locals_in_registers;
use fencepost_ir::undefined::check_uses;
pub use fencepost_ir::{Compiled, Failure};
use fencepost_ir::{Language, LeftOut, Program};
use parser::Parser;
use pp::Preprocessor;
pub use target::Target;

/// Reads a file by its path; `None` if there is none.
pub type Loader<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the command line says.
#[derive(Default)]
pub struct Options<'a> {
    /// `-D NAME` or `-D NAME=VALUE`.
    pub defines: Vec<(String, Option<String>)>,
    /// `-I DIR`.
    pub include_dirs: Vec<String>,
    /// `-isystem DIR`: looked into last, and warnings about what is there are not shown.
    pub system_dirs: Vec<String>,
    /// Folders for headers that nothing else has, as the compiler of the machine knows them; asked for when one is missing.
    pub fallback_dirs: Option<&'a dyn Fn() -> Vec<String>>,
    /// `--include FILE`, read before the program.
    pub includes: Vec<String>,
    /// Built-in headers that are read before the program because it uses their names without including them.
    pub assumed_headers: Vec<&'static str>,
    /// The platform.
    pub target: Target,
    /// Condition variables may wake up without a signal.
    pub spurious: bool,
    /// `malloc` and its kin may find no memory.
    pub malloc_fails: bool,
    /// Functions without a body return any value, and do nothing else.
    pub any_result: bool,
    /// How user files are read; without one, only built-in headers can be included.
    pub loader: Option<Loader<'a>>,
}

/// Compiles a C program of one file.
pub fn compile(file: &SourceFile, options: &Options<'_>) -> Result<Compiled, Failure> {
    compile_linked(std::slice::from_ref(file), options)
}

/// Compiles a C program. A name of a built-in header that the program does not include is a warning: the header is read
/// first, and the program again. The files are linked: what is not `static` is known to all of them.
pub fn compile_linked(files: &[SourceFile], options: &Options<'_>) -> Result<Compiled, Failure> {
    let (first, mut next) = match compile_as_it_is(files, options) {
        Ok(compiled) => return Ok(compiled),
        Err(failure) => failure,
    };
    let mut assumed: Vec<(&'static str, Diagnostic)> = Vec::new();
    while let Some((name, span)) = next {
        let known = |header: &str| assumed.iter().any(|(read, _)| *read == header);
        let Some(header) = headers::declaring(&name).filter(|header| !known(header)) else { break };
        let message = format!("`{name}` is used without `#include <{header}>`");
        assumed.push((header, Diagnostic::warning(span, message).label("the header is read all the same")));
        let more = Options {
            defines: options.defines.clone(),
            include_dirs: options.include_dirs.clone(),
            system_dirs: options.system_dirs.clone(),
            includes: options.includes.clone(),
            assumed_headers: assumed.iter().map(|(header, _)| *header).collect(),
            ..*options
        };
        match compile_as_it_is(files, &more) {
            Ok(mut compiled) => {
                let warnings = assumed
                    .into_iter()
                    .filter(|(header, _)| !headers::ASSUMED.contains(header))
                    .map(|(_, warning)| warning);
                compiled.warnings.splice(0..0, warnings);
                return Ok(compiled);
            }
            Err((_, missing)) => next = missing,
        }
    }
    Err(first)
}

/// Why a program could not be compiled, and a name that nobody declared and where it is used, if that is the error.
type Refusal = (Failure, Option<(String, Span)>);

fn compile_as_it_is(files: &[SourceFile], options: &Options<'_>) -> Result<Compiled, Refusal> {
    let interner = intern::Interner::with_words(token::KEYWORDS);
    let mut preprocessor = Preprocessor::new(interner, options);
    let mut missing = None;
    let result = front(files, &mut preprocessor, &mut missing);
    let mut sources = std::mem::take(&mut preprocessor.sources);
    if let (true, Some(file)) = (result.is_err() && sources.files().next().is_none(), files.first()) {
        sources.add(file.clone());
    }
    match result {
        Ok((mut program, mut warnings, left_out)) => {
            check_uses(&mut program);
            let is_library =
                |span: Span| sources.locate(span.start).is_some_and(|(_, file)| file.name.starts_with('<'));
            keep_locals_in_registers(&mut program, &is_library);
            mark_private_objects(&mut program);
            // What is wrong with the headers of the system is nobody's business here.
            warnings.retain(|warning| {
                let name = sources.locate(warning.span.start).map_or("", |(_, file)| file.name.as_str());
                !pp::is_system(name) && !options.system_dirs.iter().any(|dir| name.starts_with(dir.as_str()))
            });
            Ok(Compiled { language: Language::C, program, sources, warnings, left_out })
        }
        Err(diagnostics) => Err((Failure { diagnostics, sources }, missing)),
    }
}

/// A program, its warnings, and what was left out.
type Read = (Program, Vec<Diagnostic>, Vec<LeftOut>);

fn front(
    files: &[SourceFile],
    preprocessor: &mut Preprocessor<'_>,
    missing: &mut Option<(String, Span)>,
) -> Result<Read, Vec<Diagnostic>> {
    // The parser and the preprocessor take turns, and share the table of strings.
    let mut interner = intern::Interner::default();
    let mut parser = Parser::new(&mut interner);
    parser.spurious = preprocessor.options().spurious;
    parser.target = preprocessor.options().target;
    for (number, file) in files.iter().enumerate() {
        if number > 0 {
            std::mem::swap(parser.interner, &mut preprocessor.interner);
            preprocessor.next_file();
            parser.next_file();
        }
        let tokens = preprocessor.run_main(file).map_err(|e| vec![e])?;
        std::mem::swap(parser.interner, &mut preprocessor.interner);
        foreign::prepare(&tokens, &mut parser, preprocessor)?;
        if let Err(errors) = parser.parse(tokens) {
            *missing = parser.missing.take();
            return Err(errors);
        }
    }
    define_streams(&mut parser);
    let mut loaded = Vec::new();
    while let Some((name, text)) = next_module(&mut parser, &loaded) {
        loaded.push(name);
        read_module(&mut parser, preprocessor, name, text)?;
    }
    if parser.unit.globals.iter().any(|global| global.external && global.name == "__fp_errno") {
        let (name, text) = headers::ERRNO;
        read_module(&mut parser, preprocessor, name, text)?;
    }
    if lower::shares_joins(&parser.unit) {
        let (name, text) = headers::THREADS;
        read_module(&mut parser, preprocessor, name, text)?;
    }
    parser.unit.malloc_fails = preprocessor.options().malloc_fails;
    parser.unit.any_result = preprocessor.options().any_result;
    let name = files.first().map_or("", |file| file.name.as_str());
    let mut program = lower::lower(&parser.unit, name)?;
    program.names = names::collect(&parser.unit, parser.interner);
    let waits = parser.unit.functions.iter().any(|f| f.used.is_some() && f.name == "pthread_cond_wait");
    let clock = loaded.contains(&"runtime/time.c");
    let without_body = |f: &ast::FunctionDef| f.used.is_some() && f.body.is_none() && f.refused.is_none();
    let any = parser.unit.any_result && parser.unit.functions.iter().any(without_body);
    let left_out =
        [(waits && !parser.spurious, LeftOut::WakeUps), (clock, LeftOut::Time), (any, LeftOut::Bodies)];
    let left_out =
        left_out.into_iter().filter(|(is_left_out, _)| *is_left_out).map(|(_, what)| what).collect();
    let mut warnings = std::mem::take(&mut preprocessor.warnings);
    warnings.append(&mut parser.warnings);
    Ok((program, warnings, left_out))
}

/// Parses a runtime module behind the program.
fn read_module(
    parser: &mut Parser<'_>,
    preprocessor: &mut Preprocessor<'_>,
    name: &str,
    text: &str,
) -> Result<(), Vec<Diagnostic>> {
    std::mem::swap(parser.interner, &mut preprocessor.interner);
    let mut tokens = Vec::new();
    // A program that brings other headers has other declarations of the same names: the module is a file of its own.
    if parser.is_foreign() {
        preprocessor.next_file();
        parser.next_file();
        preprocessor.predefine(&mut tokens).map_err(|e| vec![e])?;
    }
    let read = preprocessor.run_module(&format!("<{name}>"), text.to_string(), &mut tokens);
    std::mem::swap(parser.interner, &mut preprocessor.interner);
    read.map_err(|e| vec![e])?;
    parser.internal = true;
    let parsed = parser.parse(tokens);
    parser.internal = false;
    parsed
}

/// The standard streams of another C library are variables that it defines. What is written to them is not modelled.
fn define_streams(parser: &mut Parser<'_>) {
    for global in &mut parser.unit.globals {
        global.external &= !matches!(global.name.as_str(), "stdin" | "stdout" | "stderr");
    }
}

/// A runtime module, not loaded yet, with a function that is used and not defined.
fn next_module(parser: &mut Parser<'_>, loaded: &[&str]) -> Option<(&'static str, &'static str)> {
    let functions = &parser.unit.functions;
    let kinds = parser.mutex_kinds
        || functions.iter().any(|f| f.used.is_some() && headers::selects_mutex_kinds(&f.name));
    functions
        .iter()
        .filter(|f| f.used.is_some() && f.body.is_none())
        .filter_map(|f| headers::module_of(&f.name, kinds))
        .find(|(name, _)| !loaded.contains(name))
}
