//! The command line.

mod litmus;

pub use litmus::{GenArgs, LitmusArgs, LitmusEngine, LitmusTool, RunArgs};

use crate::engine;
use crate::terminal::Color;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fencepost_explore::Reduction;
use fencepost_machine::promising::{Bounds, Consistency};
use fencepost_models::mapping::Target;
use fencepost_report::format::{self, FORMATS};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Can this concurrent program go wrong on this memory model?
#[derive(Parser)]
#[command(name = "fencepost", version, about, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When text has colours
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The commands. There is one value of it in a process, so its size does not matter.
#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)]
pub enum Command {
    /// Run litmus tests: all their executions under a memory model
    Litmus(LitmusArgs),
    /// Check C programs: assertions, races, memory errors, deadlocks, over all executions
    Check(CheckArgs),
    /// Compare programs or litmus tests under several models: what a weaker one adds
    Compare(CheckArgs),
    /// Translate a program from TSO to SC
    Reduce(ReduceArgs),
    /// Prove a parameterized system safe for any number of processes
    Prove(ProveArgs),
    /// Say what the code of a finding means
    Explain(ExplainArgs),
    /// Print the JSON schema of all answers
    Schema,
    /// List the memory models, or show one
    Models(ModelsArgs),
    /// Work for explorations on a cluster: takes work items from a NATS server until it is stopped
    Worker(WorkerArgs),
    /// List the explorations on a cluster, or cancel one
    Runs(RunsArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages into a folder
    Man(ManArgs),
}

/// Options of `completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Args)]
pub struct ManArgs {
    /// Where to write them
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Options of `reduce`.
#[derive(Args, Clone)]
pub struct ReduceArgs {
    /// A program in C or in the papers' small language
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// Memory model to reduce from: tso, power or ps
    #[arg(short, long, default_value = "tso")]
    pub model: String,
    /// At most this many rounds per thread (tso)
    #[arg(long, value_name = "K")]
    pub rounds: Option<u32>,
    /// Stores wait at most this many rounds [default: 2] (tso)
    #[arg(long, value_name = "K")]
    pub age: Option<u32>,
    /// At most this many contexts: of the machine (power) [default: 5], or of all threads together in a sequential program (tso,
    /// ps)
    #[arg(long, value_name = "K")]
    pub contexts: Option<u32>,
    /// Keep the threads: C with pthreads and atomic sections, for tools that interleave themselves (tso, ps)
    #[arg(long)]
    pub threads: bool,
    /// At most this many promises and view switches together [default: 4] (ps)
    #[arg(long, value_name = "K", value_parser = promising_bound())]
    pub bound: Option<u16>,
    /// At most this many promises [default: 1]; 0: none, and a much smaller program (ps)
    #[arg(long, value_name = "P", value_parser = promising_bound())]
    pub promises: Option<u16>,
    /// Take the back edge of a loop at most N times
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub unroll: u32,
    /// Where to write the SC program
    #[arg(short, value_name = "FILE.c or FILE.fp")]
    pub output: PathBuf,
}

/// Options of `prove`.
#[derive(Args)]
pub struct ProveArgs {
    /// Systems in the language of Cubicle, with weak variables; - is standard input
    #[arg(value_name = "FILE.cub", required = true)]
    pub paths: Vec<PathBuf>,
    /// Memory model: sc, tso or pso
    #[arg(short, long, default_value = "tso")]
    pub model: String,
    /// Infer invariants with a forward run of N processes, 1 to 5, only [default: 2 and 3, in turn with the plain search]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub brab: Option<u8>,
    /// Say the invariant, or the run that was found, in words
    #[arg(long)]
    pub words: bool,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// How to print
    #[arg(long, value_parser = formats(), default_value = "text")]
    pub format: String,
    /// Give up after this many nodes: unknown
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<usize>,
    /// Give up after this many seconds: unknown
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<Duration>,
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
    /// The output format.
    pub fn format(&self) -> &'static format::Format {
        chosen_format(self.json, &self.format)
    }
}

/// What checks a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// Whichever can answer; says which and why.
    #[default]
    Auto,
    /// One of `engine::ENGINES`, by its name.
    Named(String),
}

/// The names of the engines.
fn engines() -> impl TypedValueParser<Value = EngineChoice> {
    let auto = PossibleValue::new("auto").help("whichever can answer; says which and why");
    let named = engine::ENGINES.iter().map(|e| PossibleValue::new(e.name()).help(e.about()));
    PossibleValuesParser::new(std::iter::once(auto).chain(named)).map(|name| match name.as_str() {
        "auto" => EngineChoice::Auto,
        _ => EngineChoice::Named(name),
    })
}

/// The words of `--mapping`, for `--help`.
fn mappings() -> String {
    let mut text =
        String::from("How C11 atomics are compiled for a hardware model: words with commas between them");
    for target in Target::ALL {
        for (word, about) in target.mappings() {
            text += &format!("\n  {:6} {word:14} {about}", target.name());
        }
    }
    text
}

/// The names of the formats.
fn formats() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about)))
}

/// The names of the formats for litmus tests.
fn litmus_formats() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new([
        PossibleValue::new("text").help("a table"),
        PossibleValue::new("json").help("one JSON object per line"),
        PossibleValue::new("herd").help("as herd7 prints results"),
    ])
}

/// The names of the explorer's reductions.
fn reductions() -> impl TypedValueParser<Value = Reduction> {
    let named = Reduction::ALL.map(|reduction| PossibleValue::new(reduction.name()).help(reduction.about()));
    PossibleValuesParser::new(named).try_map(|name| Reduction::from_name(&name).ok_or("no such reduction"))
}

/// Reductions by their names, as workers get them.
mod by_name {
    use fencepost_explore::Reduction;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(all: &[Reduction], to: S) -> Result<S::Ok, S::Error> {
        all.iter().map(|reduction| reduction.name()).collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Reduction>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        let find =
            |name: &String| Reduction::from_name(name).ok_or_else(|| D::Error::custom("no such reduction"));
        names.iter().map(find).collect()
    }
}

/// The notions of consistency.
fn notions() -> impl TypedValueParser<Value = Consistency> {
    let strong = PossibleValue::new("strong")
        .help("certified from the memory as it is, by steps that nobody can disturb");
    let standard =
        PossibleValue::new("standard").help("certified from every future memory, over a domain of values");
    PossibleValuesParser::new([strong, standard]).map(|name| match name.as_str() {
        "standard" => Consistency::Standard,
        _ => Consistency::Strong,
    })
}

/// A bound of the promising machine.
fn promising_bound() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(0..=i64::from(Bounds::MOST))
}

/// A number of seconds: positive or zero, and a number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds, such as 10 or 0.5".to_string())?;
    match number {
        n if !n.is_finite() => Err("a number of seconds; without the option there is no limit".into()),
        n if n < 0.0 => Err("a number of seconds, and none below zero".into()),
        // More than a hundred years is no limit.
        n => Ok(Duration::from_secs_f64(n.min(4e9))),
    }
}

/// Most workers that are started, whatever the user says: more than that only take memory.
const MOST_WORKERS: usize = 256;

/// How many workers: all cores unless the user says otherwise.
pub fn workers(jobs: Option<usize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
    jobs.unwrap_or_else(cores).clamp(1, MOST_WORKERS)
}

fn chosen_format(json: bool, name: &str) -> &'static format::Format {
    let name = if json { "json" } else { name };
    format::find(name).unwrap_or(&FORMATS[0])
}

/// What dependencies mean under models that know them.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default, Serialize, Deserialize)]
pub enum Dependencies {
    /// Those of the source are in the compiled program.
    #[default]
    Source,
    /// They order nothing: for those who do not trust their compiler with them.
    None,
}

/// What checks a reduced program.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default)]
pub enum Backend {
    /// Every state of the SC machine
    #[default]
    States,
    /// Bounded model checking on the built-in SAT solver
    Bmc,
    /// An installed CBMC, on the program as C
    Cbmc,
}

/// Which iterations of loops the explorer follows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default, Serialize, Deserialize)]
pub enum RetriesArg {
    /// Those that changed something; a thread that waits sleeps.
    #[default]
    Fold,
    /// Those that changed something, but nobody sleeps: executions in which a thread waits in vain are counted as blocked.
    Awake,
    /// All up to the bound, and every value that a thread waits with is read: the same verdicts, slower.
    All,
}

/// Bounds on contexts that are tried one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contexts {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// `3`, or `1..6`.
fn contexts(text: &str) -> Result<Contexts, String> {
    let number = |text: &str| match text.parse() {
        Ok(0) => Err("contexts are counted from 1".to_string()),
        Ok(n) if n <= 64 => Ok(n),
        _ => Err("a number up to 64, or a range such as 1..6, is expected".to_string()),
    };
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let contexts = Contexts { first: number(first)?, last: number(last)? };
    match contexts.first <= contexts.last {
        true => Ok(contexts),
        false => Err("the range is empty".into()),
    }
}

/// Options for explorations that outlive a process or outgrow a machine.
#[derive(Args, Clone, Default)]
pub struct OutliveArgs {
    /// Write what is left of the exploration into a file from time to time and when it is interrupted
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Write it after this many seconds [default: 15]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub checkpoint_every: Option<Duration>,
    /// End after so many visits beyond the last checkpoint, as if killed: for tests
    #[arg(long, value_name = "N", hide = true)]
    pub interrupt_after: Option<u64>,
    /// Go on from a checkpoint, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Share the exploration out over the workers of a NATS server (`fencepost worker`)
    #[arg(long, value_name = "nats://HOST[:PORT]", conflicts_with_all = ["checkpoint", "resume"])]
    pub cluster: Option<String>,
    /// Explore here for so many seconds before anything is put on the cluster [default: 0.2]
    #[arg(long, value_name = "S", value_parser = seconds, requires = "cluster", hide = true)]
    pub explore_first: Option<Duration>,
    /// The name of the run on the cluster; with the name of one that is there, go on with it
    #[arg(long, value_name = "NAME", requires = "cluster")]
    pub run: Option<String>,
    /// Credentials for the NATS server; a user and a password are taken from NATS_USER and NATS_PASSWORD
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub creds: Option<PathBuf>,
}

/// Options of `worker`.
#[derive(Args)]
pub struct WorkerArgs {
    /// The NATS server
    #[arg(value_name = "nats://HOST[:PORT]")]
    pub server: String,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Give an item up beyond this memory of the whole process
    #[arg(long, value_name = "MB")]
    pub max_memory: Option<u64>,
    /// Credentials; a user and a password are taken from NATS_USER and NATS_PASSWORD
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `runs`.
#[derive(Args)]
pub struct RunsArgs {
    /// The NATS server
    #[arg(value_name = "nats://HOST[:PORT]")]
    pub server: String,
    /// Remove a run: its workers turn to others
    #[arg(long, value_name = "NAME")]
    pub cancel: Option<String>,
    /// Credentials; a user and a password are taken from NATS_USER and NATS_PASSWORD
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
}

/// Options of `check`. Those that are serialized make the program and its executions what they are: they travel to the
/// workers of a cluster. What says who explores, how far, and where answers go stays here (`skip`).
#[derive(Args, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckArgs {
    /// C files, programs in the papers' small language, folders of them, or - for standard input
    #[arg(required = true, value_name = "FILE.c or FILE.fp")]
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// Memory model, or several: sc,tso,power
    #[arg(short, long, default_value = "rc20", value_name = "NAME[,NAME]")]
    pub model: String,
    /// Take the back edge of a loop that does not spin at most N times
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub unroll: u32,
    /// What checks the program
    #[arg(long, value_parser = engines(), default_value = "auto")]
    #[serde(skip)]
    pub engine: EngineChoice,
    /// At most this many rounds per thread (states and reduce)
    #[arg(long, value_name = "K")]
    #[serde(skip)]
    pub rounds: Option<u32>,
    /// Stores wait at most this many rounds (states and reduce)
    #[arg(long, value_name = "K")]
    #[serde(skip)]
    pub age: Option<u32>,
    /// At most this many stores in a buffer (states)
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    pub buffer: Option<u32>,
    /// At most this many promises and view switches together (ps)
    #[arg(long, value_name = "K", value_parser = promising_bound())]
    #[serde(skip)]
    pub bound: Option<u16>,
    /// At most this many promises (ps); 0 is the semantics without promises
    #[arg(long, value_name = "P", value_parser = promising_bound())]
    #[serde(skip)]
    pub promises: Option<u16>,
    /// At most this many view switches (ps)
    #[arg(long, value_name = "V", value_parser = promising_bound())]
    #[serde(skip)]
    pub views: Option<u16>,
    /// Which promises may be made: strong or standard (ps)
    #[arg(long, value_name = "NOTION", value_parser = notions(), default_value = "strong")]
    #[serde(skip)]
    pub consistency: Consistency,
    /// The values 0 to N-1 may be in future memories, for standard consistency (ps) [default: those of the program]
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    pub domain: Option<u16>,
    /// At most this many contexts, or all bounds of a range until something is found (states and reduce, power)
    #[arg(long, value_name = "K or A..B", value_parser = contexts)]
    #[serde(skip)]
    pub contexts: Option<Contexts>,
    /// Give up beyond this memory: unknown
    #[arg(long, value_name = "MB")]
    #[serde(skip)]
    pub max_memory: Option<u64>,
    /// Show no progress on the terminal
    #[arg(short, long)]
    #[serde(skip)]
    pub quiet: bool,
    /// How C11 atomics are compiled for a hardware model, where there is more than one way
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true, long_help = mappings())]
    pub mapping: String,
    /// Whether dependencies of the source order accesses under power and armv8
    #[arg(long, value_enum, default_value = "source")]
    pub deps: Dependencies,
    /// Which iterations of loops are followed
    #[arg(long, value_enum, default_value = "fold")]
    pub retries: RetriesArg,
    /// Explore without one of the explorer's reductions: the same verdict, slower
    #[arg(long, value_name = "REDUCTION", value_parser = reductions())]
    #[serde(with = "by_name")]
    pub without: Vec<Reduction>,
    /// Explore one of the executions that differ only in which of several equal threads is which: the same function with
    /// the same arguments, where nobody can tell them apart
    #[arg(long)]
    pub symmetry: bool,
    /// Let a weak compare-exchange fail although the values are equal, where the target can do that, and a condition
    /// variable wake up without a signal
    #[arg(long)]
    pub spurious: bool,
    /// Let malloc and its kin return a null pointer
    #[arg(long)]
    pub malloc_fails: bool,
    /// Let functions without a body return any number, and do nothing else
    #[arg(long)]
    pub any_result: bool,
    /// Take plain accesses to volatile objects for relaxed atomic ones, as in kernels and on bare machines
    #[arg(long)]
    pub volatile_atomic: bool,
    /// End with exit code 2 if a program is safe but no execution comes to one of its accesses, assertions or calls
    #[arg(long)]
    #[serde(skip)]
    pub require_coverage: bool,
    /// Go on after the first error
    #[arg(long)]
    pub all: bool,
    /// Tell the whole execution: leave nothing out, fold nothing
    #[arg(long)]
    #[serde(skip)]
    pub full: bool,
    /// If it is unsafe, find memory orders or fences that make it safe, as weak as possible, by running it again
    #[arg(long)]
    #[serde(skip)]
    pub suggest: bool,
    /// Write what --suggest finds into the files
    #[arg(long, requires = "suggest")]
    #[serde(skip)]
    pub apply: bool,
    /// Print one JSON object per file and line
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
    /// How to print
    #[arg(long, value_parser = formats(), default_value = "text")]
    #[serde(skip)]
    pub format: String,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    #[serde(skip)]
    pub jobs: Option<usize>,
    /// Give up after this many seconds: unknown
    #[arg(long, value_name = "S", value_parser = seconds)]
    #[serde(skip)]
    pub timeout: Option<Duration>,
    /// Give up after about this many executions: unknown
    #[arg(long, value_name = "N")]
    #[serde(skip)]
    pub max_executions: Option<u64>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub defines: Vec<String>,
    /// Search a folder for included files
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<String>,
    /// Search a folder for headers of the system: after the built-in ones, and without warnings about them
    #[arg(long = "isystem", value_name = "DIR")]
    pub system_dirs: Vec<String>,
    /// The platform whose macros are defined: generic, x86_64, aarch64 or powerpc64 [default: that of the model]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// All files together are one program
    #[arg(long)]
    pub link: bool,
    /// Read a file before the program
    #[arg(long = "include", value_name = "FILE")]
    pub includes: Vec<String>,
    /// Write the first counterexample as a Graphviz graph
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub dot: Option<PathBuf>,
    /// Write the first counterexample as a picture
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub svg: Option<PathBuf>,
    /// Write the whole answer as one self-contained page: source, steps, picture
    #[arg(long, value_name = "FILE.html")]
    #[serde(skip)]
    pub report: Option<PathBuf>,
    /// Write the first counterexample under sc as a violation witness of the software verification competition
    #[arg(long, value_name = "FILE.graphml")]
    #[serde(skip)]
    pub witness: Option<PathBuf>,
    /// Write the first counterexample as a litmus test: C under the models of languages, assembly under those of processors
    #[arg(long, value_name = "FILE.litmus")]
    #[serde(skip)]
    pub as_litmus: Option<PathBuf>,
    /// Read this compilation database instead of the nearest compile_commands.json
    #[arg(long, value_name = "FILE or DIR")]
    #[serde(skip)]
    pub compile_commands: Option<PathBuf>,
    /// Read this instead of the fencepost.toml in the folder of the first path or above it
    #[arg(long, value_name = "FILE.toml")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Findings that are known: only others make the exit code
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub baseline: Option<PathBuf>,
    /// Write all findings as a baseline
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub write_baseline: Option<PathBuf>,
    /// What checks the SC program that a reduction gives (reduce)
    #[arg(long, value_enum, default_value = "states")]
    #[serde(skip)]
    pub backend: Backend,
    /// Write a proof of a safe answer in the format LRAT, and check it (bmc)
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub proof: Option<PathBuf>,
    /// Explorations that outlive the process.
    #[command(flatten)]
    #[serde(skip)]
    pub outlive: OutliveArgs,
    /// Flags for the preprocessor: -D, -U, -I, -isystem, -include
    #[arg(last = true, value_name = "CPP FLAGS")]
    pub flags: Vec<String>,
    /// Folders for headers that nothing else has, if the compiler of this machine is not to be asked.
    #[arg(skip)]
    pub fallback_dirs: Option<Vec<String>>,
    /// The long names of the options that stand on the command line.
    #[arg(skip)]
    #[serde(skip)]
    pub given: Vec<String>,
    /// All files that there are, if the program comes from elsewhere: no others are opened.
    #[arg(skip)]
    #[serde(skip)]
    pub sealed: Option<crate::remote::Files>,
}

impl Default for CheckArgs {
    /// What the command line gives a file without options.
    fn default() -> CheckArgs {
        let parsed = Arguments::try_parse_from(["fencepost", "check", "-"]);
        match parsed.map(|arguments| arguments.command) {
            Ok(Command::Check(options)) => options,
            _ => unreachable!("a command line without options is one"),
        }
    }
}

impl CheckArgs {
    /// The output format.
    pub fn format(&self) -> &'static format::Format {
        chosen_format(self.json, &self.format)
    }

    /// How many workers.
    pub fn workers(&self) -> usize {
        workers(self.jobs)
    }
}

impl OutliveArgs {
    /// Whether a checkpoint is written.
    pub fn keeps(&self) -> bool {
        self.checkpoint.is_some() || self.resume.is_some()
    }

    /// The option that asks for an exploration that outlives the process, if there is one.
    pub fn asks(&self) -> Option<&'static str> {
        let Self { checkpoint, resume, cluster, .. } = self;
        let options = [
            (checkpoint.is_some(), "--checkpoint"),
            (resume.is_some(), "--resume"),
            (cluster.is_some(), "--cluster"),
        ];
        options.into_iter().find_map(|(given, name)| given.then_some(name))
    }
}

/// Options of `explain`.
#[derive(Args)]
pub struct ExplainArgs {
    /// A code such as FP0201; without one, all are listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
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
