//! `cargo xtask growth [--bin PATH] [--only WORD] [--seconds S]`: programs whose cost says something.
//!
//! Every row of `../shared/c/growth.tsv` is run and printed beside what was measured when the table was written and what a peer
//! takes: the number of executions must be that of the table, and blocked executions, CPU seconds and memory within its limits.
//! The
//! exit code is 1 if any row misses. CPU seconds are user and system time of the process as the shell tells them (bash), memory
//! is
//! the peak that Linux tells while it runs.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// How to run the command.
pub struct Options {
    bin: Option<PathBuf>,
    /// Rows whose name has this word.
    pub only: String,
    /// Time limit of a row.
    pub seconds: u64,
}

/// Reads the arguments.
pub fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { bin: None, only: String::new(), seconds: 10 };
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(format!("{arg} needs a value"))?;
        match arg.as_str() {
            "--bin" => options.bin = Some(value.into()),
            "--only" => options.only = value,
            "--seconds" => options.seconds = value.parse().map_err(|_| format!("{arg} needs a number"))?,
            _ => return Err(format!("`{arg}` is not an option")),
        }
    }
    Ok(options)
}

/// A row of the table.
struct Row {
    program: String,
    defines: String,
    model: String,
    executions: u64,
    blocked: u64,
    seconds: f64,
    megabytes: f64,
    then: String,
    peer: String,
}

fn row(line: &str) -> Option<Row> {
    let mut cells = line.split('\t');
    let mut next = || cells.next().map(str::to_string);
    Some(Row {
        program: next()?,
        defines: next()?,
        model: next()?,
        executions: next()?.parse().ok()?,
        blocked: next()?.parse().ok()?,
        seconds: next()?.parse().ok()?,
        megabytes: next()?.parse().ok()?,
        then: next().unwrap_or_default(),
        peer: next().unwrap_or_default(),
    })
}

/// What a run took and said.
struct Measured {
    verdict: String,
    executions: u64,
    blocked: u64,
    seconds: f64,
    megabytes: f64,
}

impl Measured {
    fn is_within(&self, row: &Row) -> bool {
        self.verdict == "safe"
            && self.executions == row.executions
            && self.blocked <= row.blocked
            && self.seconds <= row.seconds
            && self.megabytes <= row.megabytes
    }
}

/// The peak of a process's memory in kilobytes, while there is one.
fn peak(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Waits for the shell, looking at the memory of what it runs.
pub fn watch(child: &mut Child) -> f64 {
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let mut most: f64 = 0.0;
    while let Ok(None) = child.try_wait() {
        let pids = std::fs::read_to_string(&children).unwrap_or_default();
        for pid in pids.split_whitespace().filter_map(|pid| pid.parse().ok()) {
            most = most.max(peak(pid).unwrap_or(0.0));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    most / 1000.0
}

fn measure(bin: &Path, program: &Path, row: &Row, limit: u64) -> Result<Measured, String> {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT='%3U %3S'; time \"$0\" \"$@\" 2>/dev/null"]).arg(bin);
    command.arg("check").arg(program).args(["-m", &row.model, "--json", "-j1", "--all"]);
    command.args(["--timeout", &limit.to_string(), "--"]);
    command.args(row.defines.split_whitespace().map(|define| format!("-D{define}")));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("bash does not run: {error}"))?;
    let megabytes = watch(&mut child);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Value =
        text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let times = String::from_utf8_lossy(&output.stderr);
    let seconds = times.split_whitespace().filter_map(|time| time.parse::<f64>().ok()).sum();
    let number = |key: &str| answer[key].as_u64().unwrap_or(0);
    Ok(Measured {
        verdict: answer["verdict"].as_str().unwrap_or("no answer").to_string(),
        executions: number("executions"),
        blocked: number("blocked"),
        seconds,
        megabytes,
    })
}

/// The binary to measure; it is built unless one is named.
pub fn binary(options: &Options, root: &Path) -> Result<PathBuf, String> {
    if let Some(bin) = &options.bin {
        return std::fs::canonicalize(bin).map_err(|error| format!("{}: {error}", bin.display()));
    }
    let built =
        Command::new("cargo").args(["build", "--release", "-p", "fencepost"]).current_dir(root).status();
    match built {
        Ok(status) if status.success() => Ok(root.join("target/release/fencepost")),
        _ => Err("the release build failed".into()),
    }
}

fn compare(options: &Options) -> Result<usize, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = root.join("../shared/c");
    let Ok(table) = std::fs::read_to_string(shared.join("growth.tsv")) else {
        println!("nothing to compare: ../shared/c/growth.tsv is not there");
        return Ok(0);
    };
    let bin = binary(options, &root)?;
    let rows: Vec<Row> = table.lines().skip(1).filter_map(row).collect();
    let mut missed = 0;
    println!("{:52} {:>26} {:>26}   when the table was written | a peer", "", "measured", "at most");
    for row in rows.iter().filter(|row| row.program.contains(&options.only)) {
        let program = shared.join("growth").join(format!("{}.c", row.program));
        let measured = measure(&bin, &program, row, options.seconds)?;
        let within = measured.is_within(row);
        missed += usize::from(!within);
        let shown = |executions: u64, blocked: u64, seconds: f64, megabytes: f64| {
            format!("{executions}+{blocked} {seconds:.2} s {megabytes:.0} MB")
        };
        println!(
            "{} {:14} {:14} {:6} {:8} {:>26} {:>26}   {} | {}",
            if within { "pass" } else { "MISS" },
            row.program,
            row.defines,
            row.model,
            measured.verdict,
            shown(measured.executions, measured.blocked, measured.seconds, measured.megabytes),
            shown(row.executions, row.blocked, row.seconds, row.megabytes),
            row.then,
            row.peer
        );
    }
    Ok(missed)
}

/// Runs the command.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    match options(args).and_then(|options| compare(&options)) {
        Ok(missed) => {
            println!("{missed} rows miss");
            ExitCode::from(u8::from(missed > 0))
        }
        Err(error) => {
            eprintln!("error: {error}\nusage: cargo xtask growth [--bin PATH] [--only WORD] [--seconds S]");
            ExitCode::from(3)
        }
    }
}
