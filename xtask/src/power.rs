//! `cargo xtask power PART [--bin PATH] [--seconds S] [--most K] [--every N] [--litmus FOLDER]`: the figures and comparisons of
//! the operational POWER.
//!
//! * `tables`: Tables 3 to 8 of paper 000 beside ours, as they stand in `docs/BENCHMARKS.md`. CPU seconds are user and system
//!   time of the process.
//! * `confirm`: every bug of these programs: found by the encoding (which replays it on the machine) and by the explorer under
//!   the axiomatic model, whose execution is followed on the
//!   machine, each with how many contexts at least; see `confirm.rs`.
//! * `litmus`: the PPC litmus tests: final states of the machine and of the encoding with 1 to `--most` contexts, verdicts of the
//!   encoding with the most, of the
//!   machine without a bound and of the axiomatic model. `--seconds` limits each search of the machine.
//! * `random [--cases N] [--from N] [--states N]`: random programs of up to three threads: the same states on the machine and in
//!   the encoding; see `random.rs`.
//! * `questions [--cases N] [--from N] [--states N] [--every N] [--seconds S]`: random programs with assertions, final conditions
//!   and accesses that hit no cell, through the machine, the encoding and (every Nth) the
//!   translation; see `questions.rs`.
//!
//! The exit code is 1 if machine and encoding differ, or a table misses what is expected.

mod confirm;
mod questions;
mod random;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

struct Options {
    part: String,
    bin: PathBuf,
    seconds: u64,
    most: u32,
    every: usize,
    litmus: PathBuf,
    from: usize,
    cases: usize,
    states: u64,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let part = args.next().ok_or("tables, confirm, litmus, random or questions is expected")?;
    let mut options = Options {
        part,
        bin: "target/fast/fencepost".into(),
        seconds: 20,
        most: 6,
        every: 1,
        litmus: "../shared/litmus/ppc".into(),
        from: 0,
        cases: 20_000,
        states: 2_000_000,
    };
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(format!("{arg} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{arg} needs a number"));
        match arg.as_str() {
            "--bin" => options.bin = value.into(),
            "--litmus" => options.litmus = value.into(),
            "--seconds" => options.seconds = number()?,
            "--most" => options.most = number()? as u32,
            "--every" => options.every = number()?.max(1) as usize,
            "--from" => options.from = number()? as usize,
            "--cases" => options.cases = number()? as usize,
            "--states" => options.states = number()?,
            _ => return Err(format!("`{arg}` is not an option")),
        }
    }
    Ok(options)
}

/// Runs a part.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let wrong = options(args).and_then(|options| match options.part.as_str() {
        "tables" => Ok(tables(&options)),
        "confirm" => Ok(confirm::run(&options)),
        "litmus" => litmus(&options),
        "random" => Ok(random::run(&random::Campaign {
            from: options.from,
            cases: options.cases,
            most: options.most.min(4),
            states: options.states,
        })),
        "questions" => Ok(questions::run(&questions::Campaign {
            from: options.from,
            cases: options.cases,
            most: options.most,
            states: options.states,
            every: options.every,
            seconds: options.seconds,
        })),
        other => Err(format!("`{other}` is not a part")),
    });
    match wrong {
        Ok(wrong) => {
            println!("\n{wrong} differences");
            ExitCode::from(u8::from(wrong > 0))
        }
        Err(error) => {
            eprintln!(
                "error: {error}\nusage: cargo xtask power tables|confirm|litmus|random|questions [OPTIONS]"
            );
            ExitCode::from(3)
        }
    }
}

/// A program of the tables: names, and the paper's figures as printed (`-`: none).
struct Row {
    name: &'static str,
    buggy: &'static str,
    fenced: &'static str,
    /// The paper's bound, in context switches.
    switches: u32,
    /// Tables 3 and 4.
    paper: [&'static str; 2],
    /// Tables 5 and 6: loop bounds 3, 5, 7.
    loops: [[&'static str; 3]; 2],
    /// Tables 7 and 8: 1, 2, 3 more switches.
    more: [[&'static str; 3]; 2],
}

const NONE: [&str; 3] = ["-", "-", "-"];
const ONES: [&str; 3] = ["1", "1", "1"];
const OVER: [&str; 3] = ["t/o", "t/o", "t/o"];

#[rustfmt::skip]
const ROWS: [Row; 12] = [
    Row { name: "Bakery", buggy: "bakery_2_rlx", fenced: "bakery_2_fenced", switches: 3, paper: ["1", "20"],
        loops: [ONES, ["9", "24", "45"]], more: [ONES, ["83", "97", "122"]] },
    Row { name: "Burns", buggy: "burns_2_rlx", fenced: "burns_2_fenced", switches: 3, paper: ["1", "767"],
        loops: [ONES, ["8", "62", "439"]], more: [ONES, ["1193", "1237", "1288"]] },
    Row { name: "Dekker", buggy: "dekker_2_rlx", fenced: "dekker_2_fenced", switches: 2, paper: ["1", "1133"],
        loops: [ONES, ["18", "138", "721"]], more: [ONES, ["1580", "1609", "1650"]] },
    Row { name: "Simple Dekker", buggy: "simple_dekker_2_rlx", fenced: "simple_dekker_2_fenced", switches: 2, paper: ["1", "6"],
        loops: [ONES, ["2", "5", "9"]], more: [ONES, ["5", "5", "6"]] },
    Row { name: "Dijkstra", buggy: "dijkstra_2_rlx", fenced: "dijkstra_2_fenced", switches: 3, paper: ["5", "t/o"],
        loops: [["5", "5", "5"], ["48", "t/o", "t/o"]], more: [["6", "9", "9"], OVER] },
    Row { name: "Szymanski", buggy: "szymanski_2_rlx", fenced: "szymanski_2_fenced", switches: 4, paper: ["1", "36"],
        loops: [ONES, ["9", "26", "57"]], more: [ONES, ["90", "101", "111"]] },
    Row { name: "Fib bench", buggy: "fib_bench_unsafe", fenced: "fib_bench_safe", switches: 6, paper: ["4", "5"],
        loops: [NONE, NONE], more: [["4", "5", "7"], ["6", "6", "8"]] },
    Row { name: "Lamport", buggy: "lamport_fast_2_rlx", fenced: "lamport_fast_2_fenced", switches: 3, paper: ["1", "t/o"],
        loops: [ONES, ["277", "t/o", "t/o"]], more: [["2", "2", "3"], OVER] },
    Row { name: "Peterson", buggy: "peterson_2_rlx", fenced: "peterson_2_fenced", switches: 3, paper: ["1", "4"],
        loops: [ONES, ["2", "4", "6"]], more: [ONES, ["7", "9", "10"]] },
    Row { name: "Peterson 3", buggy: "filter_3_rlx", fenced: "filter_3_fenced", switches: 4, paper: ["3", "50"],
        loops: [["2", "2", "2"], ["42", "116", "237"]], more: [["3", "4", "6"], ["421", "590", "773"]] },
    Row { name: "Pgsql", buggy: "table1_pgsql", fenced: "table1_pgsql_y", switches: 2, paper: ["1", "18"],
        loops: [ONES, ["5", "14", "29"]], more: [ONES, ["19", "21", "19"]] },
    Row { name: "Pgsql bnd", buggy: "table1_pgsql_bnd", fenced: "table1_pgsql_bnd_y", switches: 2, paper: ["1", "4"],
        loops: [NONE, NONE], more: [ONES, ["4", "4", "5"]] },
];

/// CPU seconds of all children that have ended.
fn children() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Fields 16 and 17 of the file, in hundredths of a second; the first after the name is field 3.
    fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Programs of the C corpus, and those that only these tables need.
fn source(name: &str) -> String {
    let own = format!("crates/bmc/corpus/power/{name}.c");
    if Path::new(&own).exists() { own } else { format!("crates/c/corpus/{name}.c") }
}

/// An answer of `check`, and its CPU seconds.
fn check(options: &Options, file: &str, args: &[&str]) -> (Value, f64) {
    let before = children();
    let output = Command::new(&options.bin)
        .args(["check", "-j1", "-m", "power", "--json"])
        .args(args)
        .arg(file)
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    (serde_json::from_slice(&text).unwrap_or(Value::Null), children() - before)
}

fn reduce(options: &Options, name: &str, contexts: &str, unroll: &str) -> (Value, f64) {
    let args = ["--engine", "reduce", "--contexts", contexts, "--unroll", unroll];
    check(options, &source(name), &args)
}

/// One cell: seconds, and the verdict if it is not the expected one.
fn cell(
    options: &Options,
    name: &str,
    contexts: u32,
    unroll: u32,
    expected: &str,
    wrong: &mut usize,
) -> String {
    let (answer, seconds) = reduce(options, name, &contexts.to_string(), &unroll.to_string());
    let verdict = answer["verdict"].as_str().unwrap_or("no answer");
    if verdict != expected {
        *wrong += 1;
        return format!("{verdict} in {seconds:.2}");
    }
    format!("{seconds:.2}")
}

fn tables(options: &Options) -> usize {
    let mut wrong = 0;
    for (kind, expected, numbers) in [(0, "unsafe", [3, 5, 7]), (1, "safe", [4, 6, 8])] {
        println!("\n### Tables {}, {} and {}: {expected}\n", numbers[0], numbers[1], numbers[2]);
        println!(
            "| program | K | unroll 8 | paper | unroll 3, 5, 7 | paper | K + 1, + 2, + 3 | paper | K = 10 |\n\
                |---|---|---|---|---|---|---|---|---|"
        );
        for row in &ROWS {
            let name = [row.buggy, row.fenced][kind];
            let k = row.switches + 1;
            let mut at =
                |contexts: u32, unroll: u32| cell(options, name, contexts, unroll, expected, &mut wrong);
            let first = at(k, 8);
            // A program whose loops all end by themselves, or wait, does not depend on the bound.
            let loops = match row.loops[kind] == NONE {
                true => "-".to_string(),
                false => [3, 5, 7].map(|unroll| at(k, unroll)).join(", "),
            };
            let more = [k + 1, k + 2, k + 3].map(|contexts| at(contexts, 8)).join(", ");
            let ten = at(10, 8);
            println!(
                "| {} (`{name}`) | {k} | {first} | {} | {loops} | {} | {more} | {} | {ten} |",
                row.name,
                row.paper[kind],
                row.loops[kind].join(", "),
                row.more[kind].join(", ")
            );
        }
    }
    wrong
}

/// Final states and verdict of each test, by name; none where there was no answer.
type Answers = BTreeMap<String, Option<(Vec<String>, String)>>;

fn litmus_run(options: &Options, files: &[PathBuf], args: &[&str]) -> Answers {
    let command = Command::new(&options.bin)
        .args(["litmus", "-j1", "-m", "power", "--states", "--json"])
        .args(args)
        .args(files)
        .output();
    let text = command.map(|output| output.stdout).unwrap_or_default();
    let mut answers = Answers::new();
    for line in String::from_utf8_lossy(&text).lines() {
        let Ok(test) = serde_json::from_str::<Value>(line) else { continue };
        let name = Path::new(test["file"].as_str().unwrap_or_default()).file_stem();
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        let answer = test["states"].as_array().map(|states| {
            let mut states: Vec<String> =
                states.iter().map(|s| s.as_str().unwrap_or_default().to_string()).collect();
            states.sort();
            (states, test["verdict"].as_str().unwrap_or_default().to_string())
        });
        answers.insert(name, answer);
    }
    answers
}

/// How many tests both answer, and those that differ.
fn differing(
    a: &Answers,
    b: &Answers,
    same: impl Fn(&(Vec<String>, String), &(Vec<String>, String)) -> bool,
) -> (usize, Vec<String>) {
    let (mut both, mut differ) = (0, Vec::new());
    for (name, one) in a {
        if let (Some(one), Some(Some(two))) = (one, b.get(name)) {
            both += 1;
            if !same(one, two) {
                differ.push(name.clone());
            }
        }
    }
    (both, differ)
}

fn litmus(options: &Options) -> Result<usize, String> {
    let folder =
        std::fs::read_dir(&options.litmus).map_err(|e| format!("{}: {e}", options.litmus.display()))?;
    let mut files: Vec<PathBuf> = folder.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().step_by(options.every).collect();
    println!("{} tests", files.len());
    let seconds = options.seconds.to_string();
    let mut wrong = 0;
    let mut deepest = Answers::new();
    for k in 1..=options.most {
        let contexts = k.to_string();
        let encoded = litmus_run(options, &files, &["--engine", "reduce", "--contexts", &contexts]);
        let machine = litmus_run(
            options,
            &files,
            &["--engine", "states", "--contexts", &contexts, "--timeout", &seconds],
        );
        let (both, differ) = differing(&encoded, &machine, |a, b| a.0 == b.0);
        println!(
            "K = {k}: states of machine and encoding: {both} compared, {} differ {differ:?}",
            differ.len()
        );
        wrong += differ.len();
        deepest = encoded;
    }
    let unbounded = litmus_run(options, &files, &["--engine", "states", "--timeout", &seconds]);
    let (both, differ) = differing(&deepest, &unbounded, |a, b| a.1 == b.1);
    println!(
        "verdicts, K = {} and the machine without a bound: {both} compared, {} differ",
        options.most,
        differ.len()
    );
    list(&differ, &deepest, &unbounded);
    let axioms = litmus_run(options, &files, &[]);
    for (what, answers) in [("K = most", &deepest), ("the machine without a bound", &unbounded)] {
        let (both, differ) = differing(answers, &axioms, |a, b| a.1 == b.1);
        println!("verdicts, {what} and the axioms: {both} compared, {} differ", differ.len());
        list(&differ, answers, &axioms);
    }
    Ok(wrong)
}

fn list(names: &[String], a: &Answers, b: &Answers) {
    let verdict = |answers: &Answers, name: &String| {
        answers[name].as_ref().map_or(String::new(), |(_, verdict)| verdict.clone())
    };
    for name in names {
        println!("  {name}: {} and {}", verdict(a, name), verdict(b, name));
    }
}
