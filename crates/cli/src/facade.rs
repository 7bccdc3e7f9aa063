//! The library: a program, a litmus test or a system in, an outcome out. Options are those of the command line, by methods for
//! the common ones and by their words for all.

use crate::args::{Arguments, CheckArgs, Command, OutliveArgs, ProveArgs};
use crate::expected::Expected;
use crate::input::{self, Trouble};
use crate::model::Choice;
use crate::{advice, check, litmus, parse_words, prove};
use fencepost_answer::Outcome;
use fencepost_diag::{Diagnostic, SourceFile, SourceMap};
use fencepost_report::format;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Why there is no answer: a mistake in the program, the model or the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The whole message, as the command prints it.
    pub message: String,
    /// The mistakes of the program with their places; none if it was something else.
    pub mistakes: Vec<Mistake>,
}

/// A mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What may help.
    pub hints: Vec<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl std::error::Error for Error {}

impl From<Error> for String {
    fn from(error: Error) -> String {
        error.message
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Error {
        let mistake = |diagnostic: &Diagnostic| {
            let (file, line, column) = trouble.sources.position(diagnostic.span.start)?;
            let (message, hints) = (diagnostic.message.clone(), diagnostic.hints.clone());
            Some(Mistake { file: file.into(), line, column, message, hints })
        };
        let mistakes = trouble.diagnostics.iter().filter_map(mistake).collect();
        Error { message: trouble.error, mistakes }
    }
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error { message, mistakes: Vec::new() }
    }
}

/// An answer with what the command says about it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The answer.
    pub outcome: Outcome,
    /// Who gave it.
    pub engine: &'static str,
    /// How long that took.
    pub seconds: f64,
    /// As the command prints it.
    pub text: String,
}

/// A program to be checked, as `fencepost check` does it without options.
#[derive(Clone, Debug)]
pub struct Check {
    file: SourceFile,
    words: Vec<String>,
}

impl Check {
    /// A program; how its name ends says whether it is C or `.fp`.
    pub fn new(name: &str, text: &str) -> Check {
        Check { file: SourceFile::new(name, text), words: Vec::new() }
    }

    /// A program in a file.
    pub fn of_file(path: impl AsRef<Path>) -> Result<Check, Error> {
        let file = input::source(&path.as_ref().display().to_string())?;
        Ok(Check { file, words: Vec::new() })
    }

    /// Under this model; without one, that of C++20.
    pub fn model(self, name: &str) -> Check {
        self.options(["--model", name])
    }

    /// Loops that neither wait nor count are taken so often.
    pub fn unroll(self, times: u32) -> Check {
        self.options(["--unroll", &times.to_string()])
    }

    /// Give up after this time: the verdict is then unknown.
    pub fn timeout(self, time: Duration) -> Check {
        self.options(["--timeout", &time.as_secs_f64().to_string()])
    }

    /// Give up beyond this memory of the process, in megabytes.
    pub fn max_memory(self, megabytes: u64) -> Check {
        self.options(["--max-memory", &megabytes.to_string()])
    }

    /// Give up after this many executions.
    pub fn max_executions(self, executions: u64) -> Check {
        self.options(["--max-executions", &executions.to_string()])
    }

    /// With this engine, and no other one.
    pub fn engine(self, name: &str) -> Check {
        self.options(["--engine", name])
    }

    /// Look for headers in this folder.
    pub fn include(self, folder: impl AsRef<Path>) -> Check {
        self.options(["-I", &folder.as_ref().display().to_string()])
    }

    /// Define a macro: `N` or `N=3`.
    pub fn define(self, definition: &str) -> Check {
        self.options(["-D", definition])
    }

    /// With so many workers; without, all cores.
    pub fn jobs(self, workers: usize) -> Check {
        self.options(["--jobs", &workers.to_string()])
    }

    /// Go on after the first error.
    pub fn all(self) -> Check {
        self.options(["--all"])
    }

    /// If it is unsafe, find memory orders and fences that make it safe.
    pub fn suggest(self) -> Check {
        self.options(["--suggest"])
    }

    /// Any options of `fencepost check`, as on the command line: `["--age", "2"]`.
    pub fn options<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Check {
        self.words.extend(words.into_iter().map(String::from));
        self
    }

    /// The outcome.
    pub fn run(self) -> Result<Outcome, Error> {
        Ok(self.answer()?.outcome)
    }

    /// The outcome, and what is to be said about it.
    pub fn answer(self) -> Result<Answer, Error> {
        let options = self.arguments()?;
        let model = check::find_model(&options.model)?;
        let checked = check::answer_about(&self.file, model, &options)?;
        let advice = advice::next(&checked, &self.file.name, &options);
        let text = (format::FORMATS[0].report)(&check::report(&self.file.name, &checked, &advice)).output;
        let check::Checked { outcome, engine, seconds, .. } = checked;
        Ok(Answer { outcome, engine, seconds, text })
    }

    fn arguments(&self) -> Result<CheckArgs, Error> {
        match command("check", &self.words)? {
            Command::Check(options) => Ok(CheckArgs { quiet: true, ..options }),
            _ => unreachable!("the words begin with the name of the command"),
        }
    }
}

/// A command line without the file, which is at hand already.
fn command(name: &str, words: &[String]) -> Result<Command, Error> {
    let all = ["fencepost", name, "-"].into_iter().map(String::from).chain(words.iter().cloned());
    let parsed: Result<Arguments, _> = parse_words(all.collect());
    parsed.map(|arguments| arguments.command).map_err(|error| error.to_string().into())
}

/// A litmus test to be answered, as `fencepost litmus` does it.
#[derive(Clone, Debug)]
pub struct Litmus {
    file: SourceFile,
    model: String,
    unroll: u32,
    timeout: Option<Duration>,
}

impl Litmus {
    /// A test.
    pub fn new(name: &str, text: &str) -> Litmus {
        Litmus { file: SourceFile::new(name, text), model: "sc".into(), unroll: 2, timeout: None }
    }

    /// Under this model: a name, or the path of a cat file.
    pub fn model(mut self, name: &str) -> Litmus {
        self.model = name.into();
        self
    }

    /// Loops jump back at most so often.
    pub fn unroll(mut self, times: u32) -> Litmus {
        self.unroll = times;
        self
    }

    /// Give up after this time.
    pub fn timeout(mut self, time: Duration) -> Litmus {
        self.timeout = Some(time);
        self
    }

    /// The outcome; what the test observes is in it, and a condition that does not hold is a finding.
    pub fn run(self) -> Result<Outcome, Error> {
        let test = litmus::parsed(&self.file)?;
        let model = Choice::find(&self.model)?;
        let outlive = OutliveArgs::default();
        let settings = litmus::Settings {
            unroll: self.unroll,
            timeout: self.timeout,
            ..litmus::Settings::alone(&outlive)
        };
        Ok(litmus::answer(&test, &self.file, &model, &settings)?.outcome)
    }
}

/// A parameterized system to be proved for any number of processes, as `fencepost prove` does it.
#[derive(Clone, Debug)]
pub struct Prove {
    file: SourceFile,
    words: Vec<String>,
}

impl Prove {
    /// A system in the language of Cubicle.
    pub fn new(name: &str, text: &str) -> Prove {
        Prove { file: SourceFile::new(name, text), words: Vec::new() }
    }

    /// Under this model: sc, tso or pso.
    pub fn model(self, name: &str) -> Prove {
        self.options(["--model", name])
    }

    /// Give up after this time.
    pub fn timeout(self, time: Duration) -> Prove {
        self.options(["--timeout", &time.as_secs_f64().to_string()])
    }

    /// Any options of `fencepost prove`, as on the command line.
    pub fn options<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Prove {
        self.words.extend(words.into_iter().map(String::from));
        self
    }

    /// The outcome.
    pub fn run(self) -> Result<Outcome, Error> {
        let options: ProveArgs = match command("prove", &self.words)? {
            Command::Prove(options) => options,
            _ => unreachable!("the words begin with the name of the command"),
        };
        let mut sources = SourceMap::default();
        sources.add(self.file.clone());
        Ok(prove::proved(&self.file, &sources, &options)?.0)
    }
}

/// What stands behind [`test!`](crate::test): checks a file and compares the answer with what is expected.
#[doc(hidden)]
pub fn assert_answer(path: &str, model: &str, expected: &str, options: &[&str]) {
    let Some(wanted) = Expected::parse(expected) else {
        panic!("`{expected}` is no answer: safe, unsafe, unknown, or the code of a finding such as FP0101")
    };
    let check = Check::of_file(path).map(|check| check.model(model).options(options.iter().copied()));
    match check.and_then(Check::answer) {
        Ok(answer) if wanted.is_met(&answer.outcome) => {}
        Ok(answer) => panic!("expected {expected} under {model}\n\n{}", answer.text),
        Err(error) => panic!("{error}"),
    }
}

/// Checks a C program or one in the small language in `cargo test`: the file, by its path from the package, a model, and the
/// answer (`safe`, `unsafe`, `unknown`, or the code of a finding). More options follow as strings. If the answer is another one,
/// it is the message of the panic.
///
/// In a test, or with a name as a test of its own:
///
/// ```no_run
/// #[test]
/// fn queue() {
///     fencepost::test!("c/queue.c", armv8, safe);
///     fencepost::test!("c/queue.c", power, FP0101, "-DRELAXED", "--unroll=4");
/// }
///
/// fencepost::test!(queue_under_tso: "c/queue.c", tso, safe);
/// ```
#[macro_export]
macro_rules! test {
    ($name:ident: $file:literal, $model:ident, $expected:tt $(, $option:literal)* $(,)?) => {
        #[test]
        fn $name() {
            $crate::test!($file, $model, $expected $(, $option)*);
        }
    };
    ($file:literal, $model:ident, $expected:tt $(, $option:literal)* $(,)?) => {
        $crate::assert_answer(
            concat!(env!("CARGO_MANIFEST_DIR"), "/", $file),
            stringify!($model),
            stringify!($expected),
            &[$($option),*],
        )
    };
}
