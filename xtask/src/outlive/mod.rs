//! `cargo xtask outlive PART`: explorations that are killed, resumed and shared out, for as long as it takes.
//!
//! - `kills [--kills N] [--model M] [--every S] [--small|--long]`: explorations of about a minute, killed at N random moments and
//!   taken up again each time, and
//!   how much work each kill has lost;
//! - `cost [--runs N] [--small]`: processor time with checkpoints against without, alternating;
//! - `speed [--runs N] [--small]`: two workers on a cluster against `-j 2`, and what the network costs, as tables for
//!   `docs/BENCHMARKS.md`;
//! - `corpus [--every N] [--model M]`: the C corpus alone, interrupted several times, and on a cluster of two workers;
//! - `mutants [--cases N]`: altered items and checkpoints.
//!
//! The binary is the one beside this: `cargo build --release -p fencepost -p xtask` makes both. Each part prints what it
//! compared, and ends with 1
//! if something differs. `--small` takes programs of seconds, `--long` of minutes. What needs a cluster needs `nats-server`.

mod corpus;
mod kills;
mod speed;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

/// The answer to a command line as JSON, without what depends on the time.
fn answer(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let without = |text: String, key: &str| match text.split_once(key) {
        Some((before, after)) => {
            let end = after.find([',', '}']).unwrap_or(after.len());
            format!("{before}{}", &after[end..])
        }
        None => text,
    };
    let text = without(text, "\"seconds\":");
    format!("{:?} {text}", output.status.code())
}

fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().unwrap_or(Path::new(".")).join("fencepost")
}

fn fencepost(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Seconds of the processor that ended children have used.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}

fn timed(arguments: &[&str]) -> (Output, f64, f64) {
    let (start, before) = (Instant::now(), cpu());
    let output = fencepost(arguments).output().expect("the binary runs");
    (output, start.elapsed().as_secs_f64(), cpu() - before)
}

/// A program, what is defined for it, and the model: half a minute of one processor, minutes, or seconds.
fn subjects(arguments: &[String]) -> Vec<[&'static str; 3]> {
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let all = match () {
        () if has("--small") => vec![["count_fetch_add", "-DN=8", "rc11"], [POWER, "-DN=6", "power"]],
        () if has("--long") => vec![["count_fetch_add", "-DN=11", "rc11"], [POWER, "-DN=8", "power"]],
        () => vec![["count_fetch_add", "-DN=10", "rc11"], [POWER, "-DN=7", "power"]],
    };
    let wanted = value(arguments, "--model");
    all.into_iter().filter(|[_, _, model]| wanted.is_none_or(|wanted| wanted == *model)).collect()
}

/// A program for POWER that is no `fetch_add`.
const POWER: &str = "count_fib_join";

/// The command line of a subject.
fn command(subject: &[&str; 3]) -> Vec<String> {
    let [name, define, model] = subject;
    let program = format!("crates/c/corpus/{name}.c");
    ["check", &program, "--engine", "explore", "-m", model, define, "--json"].map(String::from).to_vec()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

fn value<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).map(String::as_str)
}

fn number(arguments: &[String], name: &str, default: usize) -> usize {
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
}

/// Altered bytes.
fn mutants(arguments: &[String]) -> usize {
    let cases = number(arguments, "--cases", 100_000);
    let status = Command::new("cargo")
        .args(["test", "-p", "fencepost-explore", "--test", "items", "altered"])
        .env("FENCEPOST_CASES", cases.to_string())
        .status();
    println!("{cases} altered items and {cases} altered checkpoints, and as many with a checksum that fits");
    usize::from(!status.is_ok_and(|status| status.success()))
}

/// Ends a process when it is dropped.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server and two workers on this machine, and its address.
fn cluster(folder: &Path) -> Option<(Vec<Ends>, String)> {
    let port = std::net::TcpListener::bind(("127.0.0.1", 0)).ok()?.local_addr().ok()?.port();
    let server = Command::new("nats-server")
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut all = vec![Ends(server)];
    let address = format!("nats://127.0.0.1:{port}");
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..2 {
        let mut worker = fencepost(&["worker", &address, "--jobs", "1"]);
        all.push(Ends(worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?));
    }
    Some((all, address))
}

/// Runs the command.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let differences = match arguments.first().map(String::as_str) {
        Some("kills") => kills::kills(&arguments),
        Some("cost") => kills::cost(&arguments),
        Some("speed") => speed::speed(&arguments),
        Some("corpus") => corpus::corpus(&arguments),
        Some("mutants") => mutants(&arguments),
        _ => {
            eprintln!("usage: cargo xtask outlive kills|cost|speed|corpus|mutants [options]");
            return ExitCode::from(3);
        }
    };
    println!("{differences} differences");
    ExitCode::from(u8::from(differences > 0))
}
