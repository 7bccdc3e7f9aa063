//! `cargo xtask promising [--bin PATH] [--only WORD] [--seconds S]`: the tables of the paper on the promising semantics, with
//! programs of our own.
//!
//! Every row of `crates/cli/promising/tables.tsv` is answered by `fencepost check -m ps`, with the engine that `auto` picks, and
//! printed beside the
//! times of the paper and of the published tool. The exit code is 1 if an answer is another than that of the table, takes more
//! than
//! its limit of CPU seconds, or more than 1 GB.

use crate::growth::{Options, binary, options, watch};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Most memory of a row, in megabytes.
const MEGABYTES: f64 = 1000.0;

/// A row of the table.
struct Row<'t> {
    table: &'t str,
    name: &'t str,
    program: &'t str,
    defines: &'t str,
    options: &'t str,
    verdict: &'t str,
    seconds: f64,
    paper: (&'t str, &'t str),
    published: &'t str,
}

fn row(line: &str) -> Option<Row<'_>> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    Some(Row {
        table: next()?,
        name: next()?,
        program: next()?,
        defines: next()?,
        options: next()?,
        verdict: next()?,
        seconds: next()?.parse().ok()?,
        paper: (next()?, next()?),
        published: next().unwrap_or_default(),
    })
}

/// What a run took and said.
struct Measured {
    verdict: String,
    bounds: String,
    engine: String,
    seconds: f64,
    megabytes: f64,
}

fn measure(bin: &Path, folder: &Path, row: &Row<'_>, limit: u64) -> Result<Measured, String> {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT='%3U %3S'; time \"$0\" \"$@\" 2>/dev/null"]).arg(bin);
    command.arg("check").arg(folder.join(row.program)).args([
        "-m",
        "ps",
        "--json",
        "-j1",
        "--max-memory",
        "1000",
    ]);
    command.args(row.options.split_whitespace()).args(["--timeout", &limit.to_string()]);
    if !row.defines.is_empty() {
        command.arg("--").args(row.defines.split_whitespace().map(|define| format!("-D{define}")));
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("bash does not run: {error}"))?;
    // Who reads lets it go on: an answer may be longer than a pipe.
    let mut pipe = child.stdout.take().ok_or("no output")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = pipe.read_to_string(&mut text);
        text
    });
    let megabytes = watch(&mut child);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = reader.join().unwrap_or_default();
    let answer: Value =
        text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let times = String::from_utf8_lossy(&output.stderr);
    let seconds = times.split_whitespace().filter_map(|time| time.parse::<f64>().ok()).sum();
    let bound = |bound: &Value| Some(format!("{} {}", bound["name"].as_str()?, bound["value"].as_u64()?));
    let bounds: Vec<String> = answer["bounds"].as_array().into_iter().flatten().filter_map(bound).collect();
    Ok(Measured {
        verdict: answer["verdict"].as_str().unwrap_or("no answer").to_string(),
        bounds: bounds.join(", "),
        engine: answer["engine"].as_str().unwrap_or_default().to_string(),
        seconds,
        megabytes,
    })
}

fn compare(options: &Options) -> Result<usize, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("crates/cli/promising");
    let table = std::fs::read_to_string(folder.join("tables.tsv")).map_err(|error| error.to_string())?;
    let bin = binary(options, &root)?;
    let mut missed = 0;
    println!(
        "| table | program | answer | bounds | engine | CPU s | MB | K of the paper | paper, s | published tool, s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for row in table.lines().skip(1).filter_map(row).filter(|row| row.name.contains(&options.only)) {
        let measured = measure(&bin, &folder, &row, options.seconds)?;
        let within = measured.verdict == row.verdict
            && measured.seconds <= row.seconds
            && measured.megabytes <= MEGABYTES;
        missed += usize::from(!within);
        println!(
            "| {} | {} | {}{} | {} | {} | {:.2} | {:.0} | {} | {} | {} |",
            row.table,
            row.name,
            measured.verdict,
            if within { "" } else { " (MISS)" },
            measured.bounds,
            measured.engine,
            measured.seconds,
            measured.megabytes,
            row.paper.0,
            row.paper.1,
            row.published
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
            eprintln!(
                "error: {error}\nusage: cargo xtask promising [--bin PATH] [--only WORD] [--seconds S]"
            );
            ExitCode::from(3)
        }
    }
}
