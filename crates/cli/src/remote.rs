//! Runs on a cluster: what is asked, as a text that another machine makes the same program of.
//!
//! The text has the sources themselves, with all files that they include. A worker opens no file for it: what is not in the text
//! is
//! not there. What comes over the network is bad input like any other, and goes through the same front ends.

use crate::args::{CheckArgs, OutliveArgs, RunsArgs, WorkerArgs, workers};
use crate::check::{self, INTERRUPT};
use crate::engine::{self, Question};
use crate::keeping::NotExplored;
use crate::progress::{PROGRESS, is_watched, rounded};
use crate::{exit, litmus, print, within};
use fencepost_answer::{Limit, StopReason};
use fencepost_cluster::{Asked, Duty, Ended, Login, NoSession, Sessions, Status, connect, is_name};
use fencepost_diag::{SourceFile, SourceMap};
use fencepost_explore::{BUILD, Exploration, Limits, Options, Session};
use fencepost_ir::{Compiled, Program};
use fencepost_models::prepare::Form;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program is explored here before anything is given away: most are done by then.
const FIRST: Duration = Duration::from_millis(200);

/// The same for each of many tests.
const FIRST_OF_MANY: Duration = Duration::from_millis(20);

/// A run that nobody works on for so long is worth a word.
const LONELY: Duration = Duration::from_secs(5);

/// How long the program of a run may take to compile.
const COMPILING: Duration = Duration::from_secs(60);

/// Memory that a worker uses at most, in megabytes, unless the user says otherwise.
const MEMORY: u64 = 4_000;

/// Files that a program is made of, by the names under which they are asked for.
pub type Files = Arc<BTreeMap<String, String>>;

/// What is asked, as workers get it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    litmus: bool,
    /// The program itself; the others are included.
    programs: Vec<String>,
    files: BTreeMap<String, String>,
    options: CheckArgs,
}

/// The folders of the compiler, if headers of the system were read.
fn fallback_dirs(sources: &SourceMap) -> Vec<String> {
    match sources.files().any(|file| file.name.starts_with("/usr/")) {
        true => crate::system_headers::of_compiler(),
        false => Vec::new(),
    }
}

impl Description {
    /// Of a program.
    pub fn of(question: &Question<'_>) -> Description {
        let options = question.options;
        let mut programs = vec![question.file.to_string()];
        if options.link {
            programs.extend(options.paths.iter().skip(1).map(|path| path.display().to_string()));
        }
        // Built-in headers are part of the build.
        let own = |file: &&SourceFile| programs.contains(&file.name) || Path::new(&file.name).exists();
        let files = question.compiled.sources.files().filter(own);
        Description {
            litmus: false,
            files: files.map(|file| (file.name.clone(), file.text.to_string())).collect(),
            programs,
            options: CheckArgs {
                model: question.model.name.into(),
                fallback_dirs: Some(fallback_dirs(&question.compiled.sources)),
                ..options.clone()
            },
        }
    }

    /// Of a litmus test.
    pub fn of_test(file: &SourceFile, model: &str, unroll: u32) -> Description {
        Description {
            litmus: true,
            programs: vec![file.name.clone()],
            files: [(file.name.clone(), file.text.to_string())].into(),
            options: CheckArgs { model: model.into(), unroll, all: true, ..CheckArgs::default() },
        }
    }

    /// The options that it stands for. No file is opened with them.
    fn options(&self, files: &Files, max_memory: u64) -> CheckArgs {
        CheckArgs {
            paths: self.programs.iter().map(Into::into).collect(),
            link: self.programs.len() > 1,
            timeout: Some(COMPILING),
            max_memory: Some(max_memory),
            quiet: true,
            jobs: Some(1),
            sealed: Some(files.clone()),
            ..self.options.clone()
        }
    }
}

/// Explores on the cluster.
pub fn search(
    program: &Program,
    options: &Options<'_>,
    outlive: &OutliveArgs,
    server: &str,
    (name, many, quiet): (&str, bool, bool),
    description: &Description,
) -> Result<Exploration, NotExplored> {
    let message = NotExplored::Message;
    let options = Options { jobs: 1, ..*options };
    let mut session = Session::new(program, &options).map_err(NotExplored::Unsupported)?;
    let own = run_name(name, session.run_binding());
    let run = match &outlive.run {
        Some(run) if many => format!("{run}-{own}"),
        Some(run) => run.clone(),
        None => own,
    };
    if !is_name(&run) {
        return Err(message(format!(
            "error: `{run}` cannot be the name of a run\n  letters, digits, - and _, up to 100 of them"
        )));
    }
    let cluster = connect(server, &Login::of(outlive.creds.clone()), None, &INTERRUPT).map_err(message)?;
    let bar = is_watched(quiet || many).then(ProgressBar::new_spinner);
    if let (Some(bar), Ok(style)) = (&bar, ProgressStyle::with_template("{spinner} {wide_msg}")) {
        bar.set_style(style);
    }
    let start = Instant::now();
    let mut asked = Asked {
        name: &run,
        description: &serde_json::to_string(description).unwrap_or_default(),
        first: outlive.explore_first.unwrap_or(if many { FIRST_OF_MANY } else { FIRST }),
        deadline: options.limits.deadline,
        told: &mut |status| {
            let notes = notes(status, server, start.elapsed());
            let new: Vec<String> = notes.into_iter().filter(|note| !quiet && is_new(note)).collect();
            for note in new {
                let tell = || print::err(&format!("note: {note}\n"));
                bar.as_ref().map_or_else(tell, |bar| bar.suspend(tell));
            }
            if let Some(bar) = &bar {
                bar.set_message(text(&run, status, start.elapsed()));
                bar.tick();
            }
        },
    };
    let (mut found, ended, status) = cluster.coordinate(&mut session, &mut asked).map_err(message)?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    if !quiet && !many && status.items.0 > 1 {
        let over = match status.restarts {
            0 => String::new(),
            1 => ", started over once".into(),
            times => format!(", started over {times} times"),
        };
        print::err(&format!(
            "note: {} items on the cluster, {} bytes of results{over}\n",
            status.items.0, status.bytes
        ));
    }
    let stopped = match ended {
        Ended::Complete => None,
        Ended::Limit(limit) => {
            let stays = match limit {
                Limit::Interrupted => Some("the run goes on without you"),
                Limit::MaxMemory => Some("the run waits for workers with more memory (`--max-memory`)"),
                _ => None,
            };
            if let Some(stays) = stays {
                print::err(&format!(
                    "note: {stays}: come back with `--run {run}`, or end it with `fencepost runs {server} --cancel \
                     {run}`\n"
                ));
            }
            Some(limit)
        }
        Ended::Cancelled => return Err(message(format!("error: the run {run} was cancelled"))),
        Ended::Failed(why) => return Err(message(format!("error: the run {run} failed: {why}"))),
        Ended::Stuck(why) => {
            return Err(message(format!(
                "error: no worker can go on with the run {run}: {why}\n  come back with `--run {run}` when there are \
                 others, or end it with `fencepost runs {server} --cancel {run}`"
            )));
        }
    };
    session.set_limits(&Options { limits: Limits::default(), ..options });
    let shown = session.show(&mut found);
    shown.map_err(|error| message(format!("error: a finding from the cluster cannot be shown: {error}")))?;
    Ok(Exploration { stopped, ..found.into() })
}

/// What is worth a line about a run, while it lasts.
fn notes(status: &Status, server: &str, time: Duration) -> Vec<String> {
    let mut notes: Vec<String> = status.notes.iter().cloned().collect();
    if status.workers == 0 && status.items.0 <= 1 && time > LONELY {
        notes.push(format!("nobody works on it yet: start `fencepost worker {server}` on some machine"));
    }
    notes
}

/// Whether nobody was told that before: many tests are one command.
fn is_new(note: &str) -> bool {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(note.into())
}

/// The name of a run that the user gives none.
fn run_name(file: &str, binding: &[u8]) -> String {
    let stem =
        Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let hash: String = binding.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", stem.chars().take(60).map(fits).collect::<String>())
}

/// `dekker-1f: 12345 executions, 4000 per second, about 50000 in all; 3 workers, 12 items done, 5 to do`.
fn text(name: &str, status: &Status, time: Duration) -> String {
    let stats = &status.stats;
    let rate = stats.executions as f64 / time.as_secs_f64().max(0.001);
    let share = stats.share as f64 / (1u64 << 63) as f64;
    let estimate = match (stats.executions as f64 / share) as u64 {
        total if share > 0.0 && share < 1.0 && stats.executions > 0 => {
            format!(", about {} in all", rounded(total))
        }
        _ => String::new(),
    };
    let (done, left) = status.items;
    format!(
        "{name}: {} executions, {} per second{estimate}; {} workers, {done} items done, {left} to do",
        stats.executions,
        rounded(rate as u64),
        status.workers
    )
}

/// Makes sessions of what runs say about themselves.
struct Described {
    max_memory: u64,
}

impl Sessions for Described {
    fn with(&self, text: &str, work: &mut dyn FnMut(&mut Session<'_>)) -> Result<(), NoSession> {
        let run = NoSession::Run;
        let description: Description =
            serde_json::from_str(text).map_err(|error| run(format!("the run cannot be read: {error}")))?;
        let files: Files = Arc::new(description.files.clone());
        let options = description.options(&files, self.max_memory);
        let Some(text) = description.programs.first().and_then(|name| files.get(name)) else {
            return Err(run("the run has no program".into()));
        };
        let file = SourceFile::new(&description.programs[0], text.as_str());
        let limits = Limits {
            max_bytes: Some(self.max_memory.saturating_mul(1_000_000)),
            interrupt: Some(&INTERRUPT),
            progress: Some(&PROGRESS),
            ..Limits::default()
        };
        let mut begin = |program: &Program, settings: Options<'_>| {
            let settings = Options { jobs: 1, limits, ..settings };
            let mut session = Session::new(program, &settings)
                .map_err(|unsupported| run(format!("{} cannot be explored", unsupported.what)))?;
            work(&mut session);
            Ok(())
        };
        if description.litmus {
            let (program, settings) =
                litmus::described(&file, &description.options.model, description.options.unroll)
                    .map_err(|trouble| run(trouble.error))?;
            return begin(&program, settings);
        }
        let model = check::find_model(&description.options.model).map_err(run)?;
        let start = Instant::now();
        let compiled: Compiled = match within::compile(&file, model, &options, start) {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(StopReason::Limit { limit: Limit::MaxMemory, .. })) => {
                return Err(NoSession::Memory(format!(
                    "it does not fit into --max-memory {}",
                    self.max_memory
                )));
            }
            Ok(Err(reason @ StopReason::Limit { limit: Limit::Interrupted, .. })) => {
                return Err(NoSession::Here(reason.to_string()));
            }
            Ok(Err(reason)) => return Err(run(format!("it cannot be compiled: {reason}"))),
            Err(trouble) => return Err(run(trouble.error)),
        };
        let (name, until, limit) = (file.name.as_str(), None, None);
        let question = Question {
            file: name,
            compiled: &compiled,
            model,
            options: &options,
            start,
            until,
            work: limit,
            interrupt: &INTERRUPT,
        };
        let prepared = question.prepare(Form::EXPLORE).map_err(|trouble| run(trouble.error))?;
        let settings = engine::explorer_settings(&question, &prepared)
            .ok_or_else(|| run("the explorer does not know the model".into()))?;
        begin(&prepared.program, settings)
    }
}

/// Runs `fencepost worker`.
pub fn worker(options: &WorkerArgs) -> u8 {
    check::handle_interrupts();
    // Nor does a bug of ours that one run shows end it.
    std::panic::set_hook(Box::new(|panic| print::err(&format!("internal error: {panic}\n"))));
    let waits = |text: &str| print::err(&format!("{text}\n"));
    let cluster = match connect(&options.server, &Login::of(options.creds.clone()), Some(&waits), &INTERRUPT)
    {
        Ok(cluster) => cluster,
        Err(error) => {
            print::err(&format!("{error}\n"));
            return exit::BAD_INPUT;
        }
    };
    let jobs = workers(options.jobs);
    if !options.quiet {
        print::err(&format!("working for {} with {jobs} threads, build {BUILD}\n", options.server));
    }
    let sessions = Described { max_memory: options.max_memory.unwrap_or(MEMORY) };
    let told = |text: &str| print::err(&format!("{text}\n"));
    cluster.work(&Duty { sessions: &sessions, jobs, told: &told });
    exit::OK
}

/// Runs `fencepost runs`.
pub fn runs(options: &RunsArgs) -> u8 {
    let listed = || -> Result<String, String> {
        let login = Login::of(options.creds.clone());
        let cluster = connect(&options.server, &login, None, &INTERRUPT)?;
        if let Some(name) = &options.cancel {
            return match is_name(name) && cluster.cancel(name)? {
                true => Ok(format!("{name} is cancelled\n")),
                false => Err(format!("error: there is no run `{name}`")),
            };
        }
        let runs = cluster.runs()?;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |time| time.as_secs());
        let line = |run: &fencepost_cluster::Listed| {
            if run.is_unreadable() {
                return format!("{}: what it is cannot be read\n", run.name);
            }
            let age = now.saturating_sub(run.began);
            let other = if run.is_ours() { String::new() } else { format!(", for the build {}", run.build) };
            format!("{}: {} items done, began {age} s ago{other}\n", run.name, run.results)
        };
        Ok(if runs.is_empty() { "there are no runs\n".into() } else { runs.iter().map(line).collect() })
    };
    match listed() {
        Ok(text) => {
            print::out(&text);
            exit::OK
        }
        Err(error) => {
            print::err(&format!("{error}\n"));
            exit::BAD_INPUT
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    fn options(words: &str) -> CheckArgs {
        let words = ["fencepost", "check"].into_iter().chain(words.split(' '));
        match Arguments::try_parse_from(words).expect("a command line").command {
            Command::Check(options) => options,
            _ => unreachable!("it is check"),
        }
    }

    #[test]
    fn what_makes_executions_travels_and_what_is_here_stays_here() {
        let program = "-m power --unroll 3 --mapping a --deps none --retries awake --without sleep --without idle --symmetry \
            --spurious --malloc-fails --any-result --volatile-atomic --all -D D=1 -I inc --isystem sys --target \
            x86_64 --include i";
        let here = "--timeout 7 --jobs 3 --max-memory 9 --dot HERE --svg HERE --report HERE --witness HERE --as-litmus HERE \
            --compile-commands HERE --config HERE --baseline HERE --write-baseline HERE --proof HERE --checkpoint HERE HERE";
        let words = format!("{program} {here}").split_whitespace().collect::<Vec<_>>().join(" ");
        let text = serde_json::to_string(&options(&words)).expect("text");
        assert!(!text.contains("HERE") && !text.contains("timeout"), "{text}");
        let back: CheckArgs = serde_json::from_str(&text).expect("options");
        assert_eq!(serde_json::to_string(&back).expect("text"), text);
        let words = program.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(serde_json::to_string(&options(&format!("{words} x.c"))).expect("text"), text);
        assert_eq!((back.unroll, back.without.len(), back.timeout), (3, 2, None));
        assert!(serde_json::from_str::<CheckArgs>("{\"report\": \"x\"}").is_err());
    }
}
