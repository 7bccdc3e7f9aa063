//! Every program of the C corpus under every model: the verdict and the number of executions that its comment expects.
//!
//! A run is limited in executions, so that the whole corpus takes little time. One that ends in *unknown* for that
//! reason says nothing, and there must not be many. A run that ends must have the count of the program's comment, and a
//! comment without a count for a run that ends within a second is a mistake.
//!
//! | environment | what the test does |
//! |---|---|
//! | - | runs of 1,000 executions; a count of at most 1,000 that is written down must be reached |
//! | `FENCEPOST_EXECUTIONS=N` | runs of N executions |
//! | `FENCEPOST_FULL=1` | every count that is written down, with a minute for each |
//! | `FENCEPOST_UPDATE=1` | writes the counts of all runs that end within 20,000 executions and 10 seconds |
//! | `FENCEPOST_ONLY=TEXT` | only programs with this in their names |

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

/// A model, and the one whose verdict is expected of it where a comment does not say: what differs in release sequences only
/// seldom has another verdict. It has no counts.
const LIKE: (&str, &str) = ("rc20", "rc11");

/// How many runs may be too large for 1,000 executions.
const TOO_LARGE: usize = 220;

/// Runs of several seconds, most of them failing tries of a compare-exchange: for the long versions.
const SLOW: [(&str, &str); 4] = [
    ("lock_qspin_3_acq.c", "armv8"),
    ("table1_indexer.c", "armv8"),
    ("lock_caslock_3_acq.c", "armv8"),
    ("treiber_counted.c", "armv8"),
];

/// Limits of one run.
#[derive(Clone, Copy, PartialEq)]
struct Limits {
    executions: u64,
    seconds: u32,
}

/// What the test is to do.
#[derive(Clone, Copy)]
enum Task {
    /// Compare all runs that end within the limits.
    Check(Limits),
    /// Compare what is written down only.
    CheckWritten(Limits),
    /// Write the counts of all runs that end within the limits.
    Update(Limits),
}

impl Task {
    fn from_environment() -> Task {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value != "0");
        let executions = std::env::var("FENCEPOST_EXECUTIONS").ok().and_then(|text| text.parse().ok());
        let limits = |default, seconds| Limits { executions: executions.unwrap_or(default), seconds };
        if is_set("FENCEPOST_UPDATE") {
            Task::Update(limits(20_000, 10))
        } else if is_set("FENCEPOST_FULL") {
            Task::CheckWritten(limits(1_000_000, 60))
        } else {
            Task::Check(limits(1_000, 60))
        }
    }

    fn limits(self) -> Limits {
        match self {
            Task::Check(limits) | Task::CheckWritten(limits) | Task::Update(limits) => limits,
        }
    }
}

/// `model=value` pairs of the comment line that begins with `key`.
fn pairs(text: &str, key: &str) -> BTreeMap<String, String> {
    let line = text.lines().find_map(|line| line.trim_start_matches([' ', '*']).strip_prefix(key));
    let pairs = line.unwrap_or("").split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(model, value)| (model.to_string(), value.to_string())).collect()
}

/// The text with another line of counts, which stands behind the expected verdicts.
fn with_counts(text: &str, counts: &BTreeMap<&str, u64>) -> String {
    let is = |line: &str, key: &str| line.trim_start_matches([' ', '*']).starts_with(key);
    let shown = models().into_iter().filter_map(|m| counts.get(m).map(|count| format!("{m}={count}")));
    let shown = shown.collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for line in text.lines().filter(|line| !is(line, "count:")) {
        out += line;
        out.push('\n');
        if is(line, "expect:") && !shown.is_empty() {
            out += &format!(" * count: {shown}\n");
        }
    }
    out
}

/// What one run answered.
struct Answer {
    /// The verdict, or what was printed instead.
    verdict: String,
    /// Complete executions, if all were visited.
    count: Option<u64>,
    /// How long it took.
    seconds: f64,
    /// Whether an execution had more events than there is room for.
    too_long: bool,
}

/// The answers under these models, in their order. One process gives all of them: starting it costs more than most answers.
fn run(file: &Path, models: &[&str], limits: Limits, arguments: &[&str]) -> Vec<Answer> {
    let (seconds, executions) = (limits.seconds.to_string(), limits.executions.to_string());
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args([
            "check",
            "--engine",
            "explore",
            "--json",
            "-j1",
            "--timeout",
            &seconds,
            "--max-executions",
            &executions,
            "-m",
            &models.join(","),
        ])
        .args(arguments)
        .arg(file)
        .output()
        .expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<serde_json::Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answer_under = |model: &&str| match lines.iter().find(|answer| answer["model"] == **model) {
        Some(answer) if answer["verdict"].is_string() => Answer {
            verdict: answer["verdict"].as_str().unwrap_or("").to_string(),
            count: if answer["stop_reason"].is_null() { answer["executions"].as_u64() } else { None },
            seconds: answer["seconds"].as_f64().unwrap_or(0.0),
            too_long: answer["stop_reason"].as_str().is_some_and(|reason| reason.contains("events")),
        },
        _ => Answer {
            verdict: format!("{text}{}", String::from_utf8_lossy(&output.stderr)),
            count: None,
            seconds: 0.0,
            too_long: false,
        },
    };
    models.iter().map(answer_under).collect()
}

/// What the runs of all programs have shown.
#[derive(Default)]
struct Findings {
    wrong: Mutex<Vec<String>>,
    too_large: AtomicUsize,
    counted: AtomicUsize,
}

impl Findings {
    fn wrong(&self, message: String) {
        self.wrong.lock().expect("not poisoned").push(message);
    }
}

/// How a program is run under a model.
#[derive(Clone, Copy, PartialEq)]
struct Plan {
    /// To the end, also behind the first error.
    all: bool,
    limits: Limits,
}

/// How to run it, if there is something to compare.
fn plan(name: &str, model: &str, wanted: &str, written: bool, task: Task) -> Option<Plan> {
    if matches!(task, Task::CheckWritten(_)) && !written
        || matches!(task, Task::Check(_)) && SLOW.contains(&(name, model))
    {
        return None;
    }
    // An unsafe program is counted to the end only where a count says that there is one.
    let all = wanted == "unsafe" && (written || matches!(task, Task::Update(_)));
    // What has no count does not end, as far as anybody knows: nobody waits for it.
    let hopeless = matches!(task, Task::Check(_)) && !written;
    let mut limits = task.limits();
    if hopeless {
        limits = Limits { executions: limits.executions.min(300), seconds: limits.seconds.min(2) };
    }
    Some(Plan { all, limits })
}

fn check_program(file: &Path, task: Task, found: &Findings) {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_string();
    let text = std::fs::read_to_string(file).expect("readable");
    let (expected, counts) = (pairs(&text, "expect:"), pairs(&text, "count:"));
    let mut plans: Vec<(Plan, Vec<(&str, String)>)> = Vec::new();
    for model in models() {
        let like = expected.get(LIKE.1).filter(|_| model == LIKE.0);
        let Some(wanted) = expected.get(model).or(like) else {
            found.wrong(format!("{name}: nothing expected under {model}"));
            continue;
        };
        let Some(plan) = plan(&name, model, wanted, counts.contains_key(model), task) else { continue };
        match plans.iter_mut().find(|(other, _)| *other == plan) {
            Some((_, models)) => models.push((model, wanted.clone())),
            None => plans.push((plan, vec![(model, wanted.clone())])),
        }
    }
    let mut new = BTreeMap::new();
    for (plan, models) in plans {
        let names: Vec<&str> = models.iter().map(|(model, _)| *model).collect();
        let answers = run(file, &names, plan.limits, if plan.all { &["--all"] } else { &[] });
        for ((model, wanted), answer) in models.into_iter().zip(answers) {
            let (wanted, written) = (&wanted, counts.get(model));
            if let Some(count) =
                compare(&format!("{name} {model}"), &answer, wanted, written, plan, task, found)
            {
                new.insert(model, count);
            }
        }
    }
    if let Task::Update(_) = task {
        let updated = with_counts(&text, &new);
        if updated != text {
            std::fs::write(file, updated).expect("writable");
            println!("{name}: new counts");
        }
    }
}

/// Compares an answer with what the comment says; the count, if it has one.
fn compare(
    title: &str,
    answer: &Answer,
    wanted: &str,
    written: Option<&String>,
    plan: Plan,
    task: Task,
    found: &Findings,
) -> Option<u64> {
    if written.is_some() && answer.too_long {
        found.wrong(format!("{title}: has a count, and now an execution that is too long"));
    }
    if answer.verdict == "unknown" {
        found.too_large.fetch_add(1, Ordering::Relaxed);
        // The limit is looked at from time to time only, so that a count that is just the limit does not reach it.
        let small = written.and_then(|count| count.parse::<u64>().ok()).is_some_and(|count| count <= 1_000);
        if small && task.limits().executions >= 1_000 {
            found.wrong(format!("{title}: {written:?} executions are written down, and it ends in unknown"));
        }
        if matches!(task, Task::CheckWritten(_)) {
            found.wrong(format!("{title}: not answered within the limits"));
        }
        return None;
    }
    if answer.verdict != *wanted {
        found.wrong(format!("{title}: {}, expected {wanted}", answer.verdict));
    }
    let count = answer.count.filter(|_| wanted == "safe" || plan.all)?;
    found.counted.fetch_add(1, Ordering::Relaxed);
    match written {
        _ if matches!(task, Task::Update(_)) => {}
        Some(written) if *written == count.to_string() => {}
        Some(written) => found.wrong(format!("{title}: {count} executions, not {written}")),
        None if answer.seconds > 1.0 || title.ends_with(LIKE.0) => {}
        None => found.wrong(format!("{title}: {count} executions, which its comment does not say")),
    }
    Some(count)
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(files.len() >= 150, "{} programs", files.len());
    files
}

#[test]
fn every_program_has_the_expected_verdicts_and_counts() {
    let mut files = corpus();
    if let Ok(only) = std::env::var("FENCEPOST_ONLY") {
        files.retain(|file| file.to_string_lossy().contains(&only));
    }
    let task = Task::from_environment();
    let (next, found) = (AtomicUsize::new(0), Findings::default());
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            check_program(file, task, &found);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let (too_large, counted) = (found.too_large.into_inner(), found.counted.into_inner());
    let wrong = found.wrong.into_inner().expect("not poisoned");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} runs, {counted} counted, {too_large} too large", files.len() * models().len());
    let executions = task.limits().executions;
    assert!(too_large <= TOO_LARGE, "{too_large} runs were too large for {executions} executions");
}
