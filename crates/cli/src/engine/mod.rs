//! Engines as the command line sees them: what one can take, why not, and how to run it. `auto` asks all of them.
//!
//! A new engine is a file here with an `impl Engine`, and a line in [`ENGINES`].

pub mod auto;
mod axiom;
mod beside;
mod bmc;
mod cbmc;
mod explore;
mod finals;
mod power;
pub mod promising;
mod promising_auto;
pub mod promising_encoding;
mod promising_interleaved;
mod promising_ordered;
mod promising_translated;
mod reduce;
mod run;
pub mod solver;
mod states;

#[cfg(feature = "cluster")]
pub use explore::explorer_settings;
pub use reduce::write_reduced;

use crate::args::{CheckArgs, Dependencies};
use crate::input::Trouble;
use fencepost_answer::{Outcome, StopReason};
use fencepost_bmc::HAS_SOLVER;
use fencepost_diag::Diagnostic;
use fencepost_ir::{Compiled, Instr, Span};
use fencepost_models::prepare::{self, Form, Prepared, Refused, prepare};
use fencepost_models::registry::Entry;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The engines, in the order in which messages name them.
pub const ENGINES: &[&dyn Engine] =
    &[&run::Run, &explore::Explore, &states::States, &reduce::Reduce, &bmc::Bmc, &axiom::Axiom];

/// What is asked about a program.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The file as given.
    pub file: &'a str,
    /// The program.
    pub compiled: &'a Compiled,
    /// The memory model.
    pub model: &'static Entry,
    /// What the user wants.
    pub options: &'a CheckArgs,
    /// When the work on the file began.
    pub start: Instant,
    /// When to give up, whatever the user's limit: another engine gets the rest of the time, or an answer is there and this would
    /// only be a better one.
    pub until: Option<Instant>,
    /// A trial: give up after about so much work, counted in visited graphs or states, so that it does not matter how fast the
    /// machine is.
    pub work: Option<u64>,
    /// Set from outside to give up.
    pub interrupt: &'static AtomicBool,
}

/// Whether an engine can take a question.
pub enum Fit {
    /// It can; `auto` tries engines with smaller ranks first and says why it picked one.
    Takes {
        /// 0 is the best.
        rank: u8,
        /// Why this engine, in a few words.
        why: String,
    },
    /// It can, but only if the user names it.
    IfAsked,
    /// It cannot: a whole message.
    Refuses(String),
}

/// An engine.
///
/// `run` is called only if `fit` does not refuse and every option that was given is honoured. It returns the same answer
/// for the same question, whatever the number of workers, unless a limit is hit, and what it reports was confirmed by
/// code that shares nothing with its search.
pub trait Engine: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it is, for `--help`.
    fn about(&self) -> &'static str;

    /// The options that it honours beyond those of every engine (`COMMON`), by their long names.
    fn honours(&self) -> &'static [&'static str];

    /// Whether it would answer a question with the SAT solver, which a build may be without.
    fn needs_solver(&self, question: &Question<'_>) -> bool {
        let _ = question;
        false
    }

    /// Whether it can take a question; looks at language, model and property, and does no work.
    fn fit(&self, question: &Question<'_>) -> Fit;

    /// Answers.
    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble>;
}

/// Options that do not depend on the engine: the front end, the mapping, limits, output.
const COMMON: &[&str] = &[
    "model",
    "engine",
    "mapping",
    "spurious",
    "require-coverage",
    "any-result",
    "volatile-atomic",
    "compile-commands",
    "jobs",
    "timeout",
    "max-memory",
    "json",
    "format",
    "quiet",
    "suggest",
    "apply",
    "full",
    "report",
    "dot",
    "svg",
    "config",
    "witness",
    "baseline",
    "write-baseline",
    "color",
    "include",
    "malloc-fails",
    "isystem",
    "target",
    "link",
];

/// Options for explorations that outlive the process.
const OUTLIVE: &[&str] = &[
    "checkpoint",
    "checkpoint-every",
    "interrupt-after",
    "resume",
    "cluster",
    "explore-first",
    "run",
    "creds",
];

/// The engine of that name.
pub fn find(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}

/// The options that were given and that an engine does not honour; a whole message that names an engine that does.
pub fn ignored(engine: &dyn Engine, options: &CheckArgs) -> Option<String> {
    let honours = |engine: &dyn Engine, option: &str| engine.honours().contains(&option);
    let option = options.given.iter().find(|o| !COMMON.contains(&o.as_str()) && !honours(engine, o))?;
    let others: Vec<String> = ENGINES
        .iter()
        .filter(|other| honours(**other, option))
        .map(|other| format!("`--engine {}`", other.name()))
        .collect();
    // An exploration is a list of places that nobody has been to yet. What the others have done so far is not so easily told.
    let why = match OUTLIVE.contains(&option.as_str()) {
        true => {
            "\n  what is left of an exploration is a list of places; the other engines hold all states, or all clauses, in memory"
        }
        false => "",
    };
    Some(format!(
        "error: --{option} is no option of the engine {}\n  it is honoured by {}{why}",
        engine.name(),
        others.join(" and ")
    ))
}

/// Whether an engine of this build can take a question.
pub fn fit(engine: &dyn Engine, question: &Question<'_>) -> Fit {
    match !HAS_SOLVER && engine.needs_solver(question) {
        true => Fit::Refuses(format!(
            "error: the engine {} needs a SAT solver here, and this build has none\n  it was built without the feature `sat`, \
             which is on by default",
            engine.name()
        )),
        false => engine.fit(question),
    }
}

/// Answers a question with one engine.
pub fn run(engine: &dyn Engine, question: &Question<'_>) -> Result<Outcome, Trouble> {
    if let Some(error) = ignored(engine, question.options) {
        return Err(error.into());
    }
    match fit(engine, question) {
        Fit::Refuses(why) => Err(why.into()),
        Fit::Takes { .. } | Fit::IfAsked => engine.run(question),
    }
}

/// The program chooses among more values than can well be listed.
fn has_large_choices(question: &Question<'_>) -> bool {
    let large = |instr: &Instr| match instr {
        Instr::Nondet { first, last, .. } => i128::from(*last) - i128::from(*first) >= 1 << 16,
        _ => false,
    };
    question.compiled.program.functions.iter().flat_map(|function| &function.body).any(large)
}

/// What a replay gets when the time is up: a finding is worth it.
const MOMENT: Duration = Duration::from_millis(500);

impl Question<'_> {
    /// The program as an engine wants it.
    pub fn prepare(&self, form: Form) -> Result<Prepared, Trouble> {
        let options = prepare::Options {
            unroll: self.options.unroll,
            mapping: self.options.mapping.clone(),
            spurious: self.options.spurious,
            dependencies: self.options.deps == Dependencies::Source,
        };
        prepare(&self.compiled.program, self.compiled.language, self.model, form, &options).map_err(
            |refused| match refused {
                Refused::Options(error) => error.into(),
                Refused::Program(diagnostic) => Trouble::about(&self.compiled.sources, *diagnostic),
            },
        )
    }

    /// The engine cannot take something in the program.
    pub fn refuse(&self, what: &str, span: Span) -> Trouble {
        let message = format!("{what} cannot be checked by this engine");
        Trouble::about(&self.compiled.sources, Diagnostic::error(span, message))
    }

    /// When to give up.
    pub fn deadline(&self) -> Option<Instant> {
        let limit = self.options.timeout.and_then(|time| self.start.checked_add(time));
        limit.into_iter().chain(self.until).min()
    }

    /// How long a counterexample may be replayed: as long as there is time, and a moment if there is none left.
    pub fn limits_of_replay(&self) -> fencepost_naive::Limits {
        let left = self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        fencepost_naive::Limits {
            time: left.map(|left| left.max(MOMENT)),
            interrupt: Some(&crate::check::INTERRUPT),
            ..fencepost_naive::Limits::default()
        }
    }

    /// A limit that was hit, with what it was set to.
    pub fn stop(&self, limit: fencepost_answer::Limit) -> StopReason {
        use fencepost_answer::Limit;
        let value = match limit {
            Limit::Timeout => self.options.timeout.map(|time| time.as_secs_f64()),
            Limit::MaxMemory => self.options.max_memory.map(|megabytes| megabytes as f64),
            Limit::MaxExecutions => self.options.max_executions.map(|n| n as f64),
            Limit::MaxNodes | Limit::MaxStates | Limit::Interrupted | Limit::TooManyEvents => None,
        };
        StopReason::Limit { limit, value }
    }
}
