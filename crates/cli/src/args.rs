//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Can this concurrent program go wrong on this memory model?
#[derive(Parser)]
#[command(name = "fencepost", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run litmus tests: all their executions under a memory model
    Litmus(LitmusArgs),
    /// Check C programs: assertions, races, memory errors, deadlocks, over all executions
    Check(CheckArgs),
    /// Translate a program from TSO to SC
    Reduce(ReduceArgs),
    /// Prove a parameterized system safe for any number of processes
    Prove(ProveArgs),
    /// List the memory models, or show one
    Models(ModelsArgs),
}

/// Options of `reduce`.
#[derive(Args)]
pub struct ReduceArgs {
    /// A program in C or in the papers' small language
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// Memory model to reduce from: tso
    #[arg(short, long, default_value = "tso")]
    pub model: String,
    /// At most this many rounds per thread
    #[arg(long, value_name = "K")]
    pub rounds: Option<u32>,
    /// Stores wait at most this many rounds [default: 2]
    #[arg(long, value_name = "K")]
    pub age: Option<u32>,
    /// Where to write the SC program
    #[arg(short, value_name = "FILE.c or FILE.fp")]
    pub output: PathBuf,
}

/// Options of `prove`.
#[derive(Args)]
pub struct ProveArgs {
    /// A system in the language of Cubicle, with weak variables
    #[arg(value_name = "FILE.cub")]
    pub path: PathBuf,
    /// Memory model: sc, tso or pso
    #[arg(short, long, default_value = "tso")]
    pub model: String,
    /// Infer invariants with a forward run of N processes
    #[arg(long, value_name = "N")]
    pub brab: Option<u8>,
    /// Number of worker threads for the check of the invariant [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Give up after this many nodes: unknown
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<usize>,
    /// Give up after this many seconds: unknown
    #[arg(long, value_name = "S")]
    pub timeout: Option<u64>,
    /// Give up beyond this memory: unknown
    #[arg(long, value_name = "MB")]
    pub max_memory: Option<u64>,
    /// Write the proof obligations of a safe answer as SMT-LIB
    #[arg(long, value_name = "FILE.smt2")]
    pub certificate: Option<PathBuf>,
    /// Write the search as a Graphviz graph
    #[arg(long, value_name = "FILE")]
    pub search_dot: Option<PathBuf>,
    /// Write the search as a picture
    #[arg(long, value_name = "FILE")]
    pub search_svg: Option<PathBuf>,
}

impl ProveArgs {
    /// Whether standard output is JSON only.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}

/// What checks a program.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default)]
pub enum Engine {
    /// `explore` for C, `states` for .fp under sc, tso and pso and for C that `explore` refuses; says which and why.
    #[default]
    Auto,
    /// Every execution once, loops unrolled; the axiomatic models.
    Explore,
    /// Every state of an operational machine, loops as they are; sc, tso and pso.
    States,
    /// A reduction of TSO to SC, then the states of the SC machine.
    Reduce,
}

/// What dependencies mean under models that know them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default)]
pub enum Dependencies {
    /// Those of the source are in the compiled program.
    #[default]
    Source,
    /// They order nothing: for those who do not trust their compiler with them.
    None,
}

/// Which iterations of loops the explorer follows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default)]
pub enum RetriesArg {
    /// Those that changed something.
    #[default]
    Fold,
    /// All up to the bound: the same verdicts, slower.
    All,
}

/// Options of `check`.
#[derive(Args, Default)]
pub struct CheckArgs {
    /// C files, or programs in the papers' small language
    #[arg(required = true, value_name = "FILE.c or FILE.fp")]
    pub paths: Vec<PathBuf>,
    /// Memory model
    #[arg(short, long, default_value = "rc11")]
    pub model: String,
    /// Take the back edge of a loop that does not spin at most N times
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub unroll: u32,
    /// What checks the program
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: Engine,
    /// At most this many rounds per thread (states and reduce)
    #[arg(long, value_name = "K")]
    pub rounds: Option<u32>,
    /// Stores wait at most this many rounds (states and reduce)
    #[arg(long, value_name = "K")]
    pub age: Option<u32>,
    /// At most this many stores in a buffer (states)
    #[arg(long, value_name = "N")]
    pub buffer: Option<u32>,
    /// Give up beyond this memory: unknown
    #[arg(long, value_name = "MB")]
    pub max_memory: Option<u64>,
    /// Show no progress on the terminal
    #[arg(short, long)]
    pub quiet: bool,
    /// How C11 atomics are compiled for a hardware model, where there is more than one way
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub mapping: String,
    /// Whether dependencies of the source order accesses under power and armv8
    #[arg(long, value_enum, default_value = "source")]
    pub deps: Dependencies,
    /// Which iterations of loops are followed (explore)
    #[arg(long, value_enum, default_value = "fold")]
    pub retries: RetriesArg,
    /// Let a weak compare-exchange fail although the values are equal, where the target can do that
    #[arg(long)]
    pub spurious: bool,
    /// Go on after the first error
    #[arg(long)]
    pub all: bool,
    /// Print one JSON object per file and line
    #[arg(long)]
    pub json: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Give up after this many seconds: unknown
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
    /// Give up after about this many executions: unknown
    #[arg(long, value_name = "N")]
    pub max_executions: Option<u64>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Search a folder for included files
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<String>,
    /// Read a file before the program
    #[arg(long = "include", value_name = "FILE")]
    pub includes: Vec<String>,
    /// Write the first counterexample as a Graphviz graph
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the first counterexample as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Flags for the preprocessor: -D, -U, -I, -include
    #[arg(last = true, value_name = "CPP FLAGS")]
    pub flags: Vec<String>,
}

impl CheckArgs {
    /// Whether standard output is JSON only.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}

/// How results are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum Format {
    /// A table for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Options of `litmus`.
#[derive(Args)]
pub struct LitmusArgs {
    /// Litmus files, or folders that are searched for *.litmus
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Memory model: a name that `fencepost models` lists, or a .cat file [default: that of the test's architecture]
    #[arg(short, long, value_name = "NAME or FILE.cat")]
    pub model: Option<String>,
    /// Print the final states
    #[arg(long)]
    pub states: bool,
    /// Print one JSON object per test and line
    #[arg(long)]
    pub json: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Compare with reference results: verdict, holds and states decide the exit code
    #[arg(long, value_name = "FILE.jsonl")]
    pub compare: Option<PathBuf>,
    /// Run the body of a loop at most N times
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub unroll: u32,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Give a test up after this many seconds
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
    /// Write an execution that satisfies the condition as a Graphviz graph (one test only)
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
}

impl LitmusArgs {
    /// Whether standard output is JSON only.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}

/// Options of `models`.
#[derive(Args)]
pub struct ModelsArgs {
    /// What to show.
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
}

/// Subcommands of `models`.
#[derive(Subcommand)]
pub enum ModelsCommand {
    /// Print a model as a cat file
    Show {
        /// Its name
        name: String,
    },
}
