//! Options of `litmus`, and of what it does besides answering tests.

use super::{OutliveArgs, litmus_formats, seconds};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What answers a litmus test.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug, Default)]
pub enum LitmusEngine {
    /// The axiomatic models.
    #[default]
    Explore,
    /// All states of the POWER machine.
    States,
    /// The runs of the POWER machine with a bounded number of contexts, on a SAT solver.
    Reduce,
}

/// Options of `litmus`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct LitmusArgs {
    /// What to do, if not to answer tests.
    #[command(subcommand)]
    pub tool: Option<LitmusTool>,
    /// Litmus files, folders that are searched for *.litmus, or - for standard input
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
    #[arg(long, value_parser = litmus_formats(), default_value = "text")]
    pub format: String,
    /// Compare with reference results, as JSON lines or as herd7 prints them: verdict, holds and states decide the exit code
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Take the back edge of a loop at most N times
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub unroll: u32,
    /// What answers a test under power: the axiomatic model, or the operational one by states or by a formula
    #[arg(long, value_enum, default_value = "explore")]
    pub engine: LitmusEngine,
    /// At most this many contexts (states and reduce) [default: no bound for states, 6 for reduce]
    #[arg(long, value_name = "K")]
    pub contexts: Option<u32>,
    /// Number of worker threads [default: all cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Give a test up after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Find fences or orderings that make what the test asks about impossible, as few and as weak as possible, by running it
    /// again
    #[arg(long)]
    pub suggest: bool,
    /// Draw an execution that satisfies the condition; where the model has none, the one that it forbids, with the axiom
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
    /// Draw all executions on one page
    #[arg(long, value_name = "FILE.html")]
    pub executions: Option<PathBuf>,
    /// Write an execution that satisfies the condition as a Graphviz graph; of several tests one file each
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write each test as a program that `check` answers alike, instead of answering it
    #[arg(long = "as", value_name = "LANGUAGE", value_enum)]
    pub write_as: Option<WrittenAs>,
    /// Where --as writes its programs, one file for each test [default: standard output]
    #[arg(short, long, value_name = "DIR", requires = "write_as")]
    pub output: Option<PathBuf>,
    /// Explorations that outlive the process.
    #[command(flatten)]
    pub outlive: OutliveArgs,
}

/// What a litmus test can be written as.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum WrittenAs {
    /// C11 with pthreads; the fences of a machine are inline assembly.
    C,
}

/// What `litmus` does besides answering tests.
#[derive(Subcommand)]
pub enum LitmusTool {
    /// Write tests from cycles, all cycles of a kind, or the smallest tests that tell two models apart
    Gen(GenArgs),
    /// Run tests on this machine, and say what was seen of what the model allows and forbids
    Run(RunArgs),
}

/// Options of `litmus run`.
#[derive(Args)]
pub struct RunArgs {
    /// Litmus files, folders that are searched for *.litmus, or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Memory model: a name that `fencepost models` lists, or a .cat file [default: that of the test's architecture]
    #[arg(short, long, value_name = "NAME or FILE.cat")]
    pub model: Option<String>,
    /// Run each test this often
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub times: u64,
    /// Stop a test after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub time: Option<Duration>,
    /// The cores that threads are put on, such as 0,2 [default: all that this process may use]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cores: Option<Vec<usize>>,
    /// Where the random order of runs begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The C compiler
    #[arg(long, value_name = "COMMAND", default_value = "cc")]
    pub cc: String,
    /// Keep the C programs that are made, in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Print one JSON object per test and line
    #[arg(long)]
    pub json: bool,
}

/// Options of `litmus gen`.
#[derive(Args)]
pub struct GenArgs {
    /// A cycle, such as 'PodWR Fre PodWR Fre'
    #[arg(value_name = "CYCLE", conflicts_with_all = ["relax", "tell"])]
    pub cycles: Vec<String>,
    /// What the tests are for: ppc, x86, x86_64, aarch64, arm, riscv, c or lkmm [default: aarch64, or what the models read]
    #[arg(long, value_name = "NAME")]
    pub arch: Option<String>,
    /// Make all cycles of these edges; `all` is every edge of the architecture
    #[arg(long, value_name = "EDGES")]
    pub relax: Option<String>,
    /// Find the smallest tests that these two models answer differently: names or .cat files
    #[arg(long, num_args = 2, value_names = ["MODEL", "MODEL"], conflicts_with = "relax")]
    pub tell: Option<Vec<String>>,
    /// With at most this many edges (--relax: 4, --tell: 6, unless given)
    #[arg(long, value_name = "N")]
    pub size: Option<usize>,
    /// With at most this many threads [default: 4]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Also cycles with shortcuts: several accesses of a thread to one location, communications that follow each other
    #[arg(long)]
    pub free: bool,
    /// With at most this many fences, dependencies, read-modify-writes and annotated accesses (--tell) [default: 3]
    #[arg(long, value_name = "N")]
    pub marks: Option<usize>,
    /// What a test is called; for one cycle
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Show everything that is read and written in final states, not only what the cycle is about
    #[arg(long)]
    pub observe: bool,
    /// Write each test into a file of this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// At most this many tests
    #[arg(long, value_name = "N")]
    pub most: Option<usize>,
    /// Give up after this many seconds, with what was found by then
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Print one JSON object per test and line
    #[arg(long)]
    pub json: bool,
}

impl LitmusArgs {
    /// The option that asks for a picture, if there is one.
    pub fn drawn(&self) -> Option<&'static str> {
        match (&self.dot, &self.svg, &self.executions) {
            (Some(_), _, _) => Some("--dot"),
            (_, Some(_), _) => Some("--svg"),
            (_, _, Some(_)) => Some("--executions"),
            (None, None, None) => None,
        }
    }

    /// Whether standard output is JSON only.
    pub fn is_json(&self) -> bool {
        self.json || self.format == "json"
    }

    /// Whether answers are printed as herd7 does.
    pub fn is_herd(&self) -> bool {
        self.format == "herd" && !self.json
    }
}
