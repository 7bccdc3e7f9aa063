//! `fencepost litmus`: many tests, in parallel, printed in order.

use crate::args::workers;
use crate::args::{LitmusArgs, LitmusEngine};
use crate::litmus::{Answered, NO_CONTEXTS, Settings, answer, read};
use crate::model::Choice;
use crate::{check, drawing, exit, input, print, progress, suggest, terminal};
use fencepost_answer::{Limit, StopReason};
use fencepost_diag::{SourceFile, SourceMap};
use fencepost_litmus::LitmusTest;
use fencepost_report::compare::{Expected, difference, read_expected};
use fencepost_report::litmus::{About, Answer, Suggested, show_suggestion, stopped, table_head, table_line};
use fencepost_report::report::Failed;
use fencepost_report::{format, herd};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::{HashMap, VecDeque};
use std::io::IsTerminal;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Graphs that one worker visits before the test is left for all workers together.
const OWN_SHARE: u64 = 2_000_000;

/// One file under one model.
struct Job {
    path: String,
    /// `None`: the model of the architecture.
    model: Option<usize>,
    /// The row of reference results.
    row: Option<usize>,
    /// Why it cannot be run, if its row asks for something that there is not.
    impossible: Option<String>,
}

/// An answer, or why there is none.
type Outcome = Result<Answer, Unanswered>;

struct Unanswered {
    file: String,
    trouble: input::Trouble,
    /// It is a bug of ours.
    internal: bool,
}

/// What is printed as results come in.
struct Printer<'a> {
    options: &'a LitmusArgs,
    expected: &'a [Expected],
    summary: Summary,
    bar: Option<ProgressBar>,
    wrote_head: bool,
}

#[derive(Default)]
struct Summary {
    answered: usize,
    failed: usize,
    /// Tests that Ctrl-C left undone.
    skipped: usize,
    /// Bugs of ours.
    internal: usize,
    holds: usize,
    different: usize,
    counts: usize,
    compared: usize,
    executions: u64,
}

/// Runs the command.
pub fn run(options: &LitmusArgs) -> u8 {
    let start = Instant::now();
    match prepare(options) {
        Ok((jobs, ..)) if options.outlive.keeps() && jobs.len() != 1 => {
            let option = options.outlive.asks().unwrap_or_default();
            eprintln!("error: {option} takes one test under one model, not {}", jobs.len());
            exit::BAD_INPUT
        }
        Ok((jobs, models, expected, skipped)) => {
            check::handle_interrupts();
            let summary = run_jobs(options, &jobs, &models, &expected);
            finish(options, &summary, skipped, start)
        }
        Err(message) => {
            print::err(&message);
            exit::BAD_INPUT
        }
    }
}

type Prepared = (Vec<Job>, Vec<Choice>, Vec<Expected>, usize);

/// Files, models and reference rows; the error is a whole message.
fn prepare(options: &LitmusArgs) -> Result<Prepared, String> {
    if options.contexts.is_some() && options.engine == LitmusEngine::Explore {
        return Err(format!("{NO_CONTEXTS}\n"));
    }
    let mut files = Vec::new();
    for path in &options.paths {
        files.extend(input::files(path, input::LITMUS)?);
    }
    let mut models = Vec::new();
    if let Some(name) = &options.model {
        models.push(Choice::find(name)?);
    }
    let Some(reference) = &options.compare else {
        let model = options.model.is_some().then_some(0);
        let jobs = files.into_iter().map(|path| Job { path, model, row: None, impossible: None }).collect();
        return Ok((jobs, models, Vec::new(), 0));
    };
    let name = reference.display();
    let text = std::fs::read_to_string(reference)
        .map_err(|error| format!("error: cannot read {name}: {error}\n"))?;
    let wrong = |(line, error): (usize, String)| {
        format!("error: {name}:{line}: not a row of reference results: {error}\n")
    };
    if herd::is_log(&text) {
        let expected = by_name(&files, herd::read(&text).map_err(wrong)?, options);
        let (jobs, skipped) = compared_jobs(&files, &expected, Path::new(""), options, &mut models);
        return Ok((jobs, models, expected, skipped));
    }
    let expected = read_expected(&text).map_err(wrong)?;
    let folder = reference.parent().unwrap_or(Path::new(""));
    let (jobs, skipped) = compared_jobs(&files, &expected, folder, options, &mut models);
    Ok((jobs, models, expected, skipped))
}

/// Results that know tests by name, as rows about files. A log does not say its model: it is that of the command line, or that
/// of the architecture.
fn by_name(files: &[String], blocks: Vec<herd::Block>, options: &LitmusArgs) -> Vec<Expected> {
    // Several files may have tests of one name: blocks are taken for them in turn.
    let mut tests: HashMap<String, VecDeque<(String, &'static str)>> = HashMap::new();
    for path in files {
        if let Ok((test, _)) = read(path) {
            let model = test.default_model();
            tests.entry(test.name).or_default().push_back((path.clone(), model));
        }
    }
    let row = |block: herd::Block| {
        let next = tests.get_mut(&block.name).and_then(VecDeque::pop_front);
        let (file, model) = next.unwrap_or((block.name.clone(), "sc"));
        let herd::Block { verdict, holds, states, counts, .. } = block;
        let model = options.model.clone().unwrap_or(model.to_string());
        let (positive, negative) = counts.unzip();
        let (verdict, states, race) = (Some(verdict), Some(states), None);
        Expected { file, model, verdict, holds, states, race, positive, negative }
    };
    blocks.into_iter().map(row).collect()
}

/// One job per row that is about one of the files; the other rows are counted.
fn compared_jobs(
    files: &[String],
    expected: &[Expected],
    folder: &Path,
    options: &LitmusArgs,
    models: &mut Vec<Choice>,
) -> (Vec<Job>, usize) {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let by_path: HashMap<PathBuf, &String> = files.iter().map(|f| (canonical(Path::new(f)), f)).collect();
    let root = canonical(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let folders: Vec<PathBuf> = options.paths.iter().filter(|p| p.is_dir()).map(|p| canonical(p)).collect();
    let mut jobs = Vec::new();
    let mut skipped = 0;
    for (index, row) in expected.iter().enumerate() {
        let wanted = options.model.as_ref().is_none_or(|m| *m == row.model);
        let path = joined(&root, &row.file);
        // A file that is missing from a folder among the arguments has no answer, which is a difference.
        let inside = || folders.iter().any(|folder| path.starts_with(folder));
        let path = match by_path.get(&path) {
            Some(&path) if wanted => path.clone(),
            None if wanted && inside() => folder.join(&row.file).display().to_string(),
            _ => {
                skipped += 1;
                continue;
            }
        };
        let (model, impossible) = match models.iter().position(|m| m.name() == row.model) {
            Some(model) => (Some(model), None),
            None => match Choice::find(&row.model) {
                Ok(model) => {
                    models.push(model);
                    (Some(models.len() - 1), None)
                }
                Err(error) => (None, Some(error.trim_end().to_string())),
            },
        };
        jobs.push(Job { path, model, row: Some(index), impossible });
    }
    (jobs, skipped)
}

/// The path of a row's file, `..` resolved without asking the file system about each of thousands of rows.
fn joined(root: &Path, file: &str) -> PathBuf {
    let mut path = root.to_path_buf();
    for component in Path::new(file).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// Tests that are on the cluster at the same time.
const AT_ONCE: usize = 16;

fn run_jobs(options: &LitmusArgs, jobs: &[Job], models: &[Choice], expected: &[Expected]) -> Summary {
    // One worker finds the same witness every time.
    let workers = if options.drawn().is_some() { 1 } else { workers(options.jobs) };
    // What outlives the process is one test, and has all workers from the start.
    let together = options.outlive.asks().is_some();
    // Tests on the cluster take no time here.
    let at_once = if options.outlive.cluster.is_some() { AT_ONCE } else { workers };
    let settings = Settings {
        unroll: options.unroll,
        jobs: if together { workers } else { 1 },
        timeout: options.timeout,
        max_nodes: (workers > 1 && !together).then_some(OWN_SHARE),
        outlive: &options.outlive,
        many: jobs.len() > 1,
        witness: options.drawn().is_some(),
        engine: options.engine,
        contexts: options.contexts,
        watched: jobs.len() == 1 && progress::is_watched(false),
        several: jobs.len() > 1,
    };
    let mut printer = Printer::new(options, expected, jobs.len());
    let (bar, running) = (printer.bar.clone(), Running::default());
    let _line = match jobs {
        [job] => progress::line(&job.path, false),
        _ => None,
    };
    let next = AtomicUsize::new(0);
    let done: Mutex<(Vec<Option<Option<Outcome>>>, usize)> =
        Mutex::new(((0..jobs.len()).map(|_| None).collect(), 0));
    let shared = Mutex::new(&mut printer);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index).filter(|_| !check::is_interrupted()) else { return };
            running.begins(index);
            let outcome = run_job(job, models, options, &settings);
            running.ends(index);
            let (Ok(mut done), Ok(mut printer)) = (done.lock(), shared.lock()) else { return };
            done.0[index] = Some(outcome);
            // A test that was too large for one worker is left as a gap; printing waits for it.
            while let Some(Some(Some(_))) = done.0.get(done.1) {
                let at = done.1;
                if let Some(Some(outcome)) = done.0[at].take() {
                    printer.print(&jobs[at], outcome);
                }
                done.1 += 1;
            }
        }
    };
    std::thread::scope(|scope| {
        if let Some(bar) = &bar {
            scope.spawn(|| {
                while next.load(Ordering::Relaxed) < jobs.len() || !running.is_empty() {
                    bar.set_message(running.longest(jobs));
                    std::thread::sleep(TURN);
                    if check::is_interrupted() {
                        return;
                    }
                }
            });
        }
        (1..at_once.min(jobs.len())).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let (rest, printed) = done.into_inner().unwrap_or_default();
    let together = Settings { jobs: workers, max_nodes: None, ..settings };
    for (job, outcome) in jobs.iter().zip(rest).skip(printed) {
        let Some(outcome) = outcome else {
            printer.summary.skipped += 1;
            continue;
        };
        // Without a limit on nodes there is an outcome.
        if let Some(outcome) = outcome.or_else(|| run_job(job, models, options, &together)) {
            printer.print(job, outcome);
        }
    }
    if let Some(bar) = &printer.bar {
        bar.finish_and_clear();
    }
    printer.summary
}

/// How often the line about a test that takes long is written.
const TURN: Duration = Duration::from_millis(250);

/// The tests that are being run, and since when.
#[derive(Default)]
struct Running(Mutex<Vec<(usize, Instant)>>);

impl Running {
    fn begins(&self, job: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((job, Instant::now()));
    }

    fn ends(&self, job: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| *other != job);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The test that has been running for longest, if that is long: it may hang.
    fn longest(&self, jobs: &[Job]) -> String {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = running.iter().map(|(job, since)| (since.elapsed().as_secs(), *job)).max();
        match longest {
            Some((seconds, job)) if seconds >= 2 => format!("{seconds} s in {}", jobs[job].path),
            _ => String::new(),
        }
    }
}

/// Runs a test; `None` if it is too large for one worker.
fn run_job(job: &Job, models: &[Choice], options: &LitmusArgs, settings: &Settings<'_>) -> Option<Outcome> {
    let unanswered = |trouble, internal| Err(Unanswered { file: job.path.clone(), trouble, internal });
    let failure = |error: String| Some(unanswered(error.into(), false));
    if let Some(error) = &job.impossible {
        return failure(error.clone());
    }
    let (test, file): (LitmusTest, SourceFile) = match read(&job.path) {
        Ok(read) => read,
        Err(trouble) => return Some(unanswered(trouble, false)),
    };
    let default;
    let model = match job.model {
        Some(index) => &models[index],
        None => match Choice::find(test.default_model()) {
            Ok(choice) => {
                default = choice;
                &default
            }
            Err(error) => return failure(error),
        },
    };
    let answered = match answer(&test, &file, model, settings) {
        Ok(answered) => answered,
        Err(trouble) => return Some(unanswered(trouble, false)),
    };
    let outcome = &answered.outcome;
    match &outcome.stop_reason {
        None => {}
        Some(StopReason::Limit { limit: Limit::MaxNodes, .. }) => return None,
        Some(reason) if reason.is_bug() => return Some(unanswered(reason.to_string().into(), true)),
        Some(_) => return failure(format!("{}: {}", job.path, stopped(outcome))),
    }
    // Pictures of several tests have names of their own.
    let own = |path: &Path| match settings.several {
        true => check::own_path(path, &job.path, model.name()),
        false => path.to_path_buf(),
    };
    let written =
        write_dot(options, &answered, &own).and_then(|()| write_pictures(options, &answered, model, &own));
    if let Err(error) = written {
        return failure(error);
    }
    let about = About { file: &file.name, name: &test.name, model: model.name() };
    let mut answer = Answer::new(&about, answered.quantifier, outcome, answered.seconds);
    answer.condition = test.condition.clone();
    if options.suggest {
        match suggest::litmus::suggest(&test, &file, model, settings) {
            Ok(suggestion) => {
                let mut sources = SourceMap::default();
                sources.add(file);
                answer.suggestion = suggestion.map(|found| Suggested::new(&found, &sources));
            }
            Err(trouble) => return Some(unanswered(trouble, false)),
        }
    }
    Some(Ok(answer))
}

/// Draws the test, where files for that were named.
fn write_pictures(
    options: &LitmusArgs,
    answered: &Answered,
    model: &Choice,
    own: &dyn Fn(&Path) -> PathBuf,
) -> Result<(), String> {
    let drawn: [(&Option<PathBuf>, Draw); 2] =
        [(&options.svg, drawing::svg), (&options.executions, drawing::page)];
    for (path, draw) in drawn {
        let Some(path) = path.as_deref().map(own) else { continue };
        match draw(answered, model) {
            Ok(text) => std::fs::write(&path, text)
                .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?,
            Err(why) => eprintln!("{why}: {} was not written", path.display()),
        }
    }
    Ok(())
}

/// Makes a picture of a test under a model, or says why there is none.
type Draw = fn(&Answered, &Choice) -> Result<String, String>;

/// Writes the witness, if a file for it was named.
fn write_dot(
    options: &LitmusArgs,
    answered: &Answered,
    own: &dyn Fn(&Path) -> PathBuf,
) -> Result<(), String> {
    let Some(path) = options.dot.as_deref().map(own) else { return Ok(()) };
    let Some(witness) = &answered.witness else {
        eprintln!("no execution satisfies the condition: {} was not written", path.display());
        return Ok(());
    };
    let graph = fencepost_report::dot::execution(&answered.program, &witness.execution);
    std::fs::write(&path, graph).map_err(|error| format!("error: cannot write {}: {error}", path.display()))
}

impl<'a> Printer<'a> {
    fn new(options: &'a LitmusArgs, expected: &'a [Expected], total: usize) -> Printer<'a> {
        let bar = (std::io::stderr().is_terminal() && total > 1).then(|| {
            let bar = ProgressBar::new(total as u64);
            if let Ok(style) =
                ProgressStyle::with_template("{bar:20} {pos}/{len} tests {eta} left {wide_msg}")
            {
                bar.set_style(style);
            }
            bar
        });
        Printer { options, expected, summary: Summary::default(), bar, wrote_head: false }
    }

    fn print(&mut self, job: &Job, outcome: Outcome) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        let row = job.row.map(|index| &self.expected[index]);
        let text = match outcome {
            Ok(answer) => self.answered(row, &answer),
            Err(unanswered) => self.failed(row, &unanswered),
        };
        if !text.is_empty() {
            let people = !self.options.is_json() && !self.options.is_herd();
            let print = || if people { print::show(&text) } else { print::out(&text) };
            match &self.bar {
                Some(bar) => bar.suspend(print),
                None => print(),
            }
        }
    }

    fn answered(&mut self, row: Option<&Expected>, answer: &Answer) -> String {
        self.summary.answered += 1;
        self.summary.executions += answer.positive + answer.negative;
        self.summary.holds += usize::from(answer.holds == fencepost_report::litmus::Holds::Ok);
        let mut text = String::new();
        if let Some(row) = row {
            self.summary.compared += 1;
            let found = difference(row, answer);
            self.summary.different += usize::from(!found.decisive.is_empty());
            self.summary.counts += usize::from(found.counts.is_some());
            for line in &found.decisive {
                text += &format!("DIFFERENT {} {}: {line}\n", row.model, row.file);
            }
            if let Some(line) = found.counts {
                text += &format!("counts    {} {}: {line}\n", row.model, row.file);
            }
            if !self.options.is_json() {
                return text;
            }
            print::err(&text);
        }
        if self.options.is_json() {
            return format::json_line(answer) + "\n";
        }
        if self.options.is_herd() {
            if self.options.suggest {
                print::err(&show_suggestion(answer));
            }
            return herd::show(answer, answer.quantifier, &answer.condition);
        }
        let narrow = terminal::width().is_some_and(|width| width < WIDE);
        let width = if narrow { NARROW_NAME } else { NAME_WIDTH };
        if !self.wrote_head {
            self.wrote_head = true;
            text += &(table_head(width, narrow) + "\n");
        }
        text += &(table_line(answer, width, narrow) + "\n");
        if self.options.states {
            answer.states.iter().for_each(|state| text += &format!("    {state}\n"));
        }
        if self.options.suggest {
            text += &show_suggestion(answer);
        }
        text
    }

    fn failed(&mut self, row: Option<&Expected>, unanswered: &Unanswered) -> String {
        let Unanswered { file, trouble, internal } = unanswered;
        self.summary.failed += 1;
        self.summary.internal += usize::from(*internal);
        let mut text = String::new();
        if let Some(row) = row {
            self.summary.compared += 1;
            self.summary.different += 1;
            text = format!("DIFFERENT {} {}: no answer\n", row.model, row.file);
        }
        if self.options.is_json() {
            print::err(&text);
            let input::Trouble { error, diagnostics, sources } = trouble;
            let format = format::find("json").unwrap_or(&format::FORMATS[0]);
            return (format.failed)(&Failed { file, error, diagnostics, sources }).output;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| print::err(&format!("{}\n", trouble.error))),
            None => print::err(&format!("{}\n", trouble.error)),
        }
        text
    }
}

/// Width of the name column; longer names push the rest to the right.
const NAME_WIDTH: usize = 32;
/// The same on a terminal with fewer columns than the table has.
const NARROW_NAME: usize = 20;
const WIDE: usize = 104;

fn finish(options: &LitmusArgs, summary: &Summary, skipped: usize, start: Instant) -> u8 {
    let seconds = start.elapsed().as_secs_f64();
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let holds = if summary.holds == 1 {
        "1 condition holds".into()
    } else {
        format!("{} conditions hold", summary.holds)
    };
    let mut line = format!(
        "{} answered, {holds}, {}, {seconds:.2} s",
        counted(summary.answered, "test"),
        counted(summary.executions as usize, "execution")
    );
    if summary.failed > 0 {
        line += &format!("; {} without an answer", counted(summary.failed, "test"));
    }
    if options.compare.is_some() {
        line += &format!(
            "\n{} rows compared: {} differ in verdict, holds or states; {} in counts only or as well; {skipped} rows skipped",
            summary.compared, summary.different, summary.counts
        );
    }
    if check::is_interrupted() {
        line +=
            &format!("\ninterrupted: this is what was found so far; {} tests were not run", summary.skipped);
    }
    if options.is_json() || options.is_herd() {
        print::err(&(line + "\n"));
    } else {
        print::show(&(line + "\n"));
    }
    if options.compare.is_some() && summary.compared == 0 {
        print::err(
            "error: nothing was compared: no row of the reference results is about these tests and this model\n",
        );
        return exit::BAD_INPUT;
    }
    match summary {
        _ if summary.internal > 0 => exit::INTERNAL,
        _ if options.compare.is_some() && summary.different > 0 => exit::DIFFERENT,
        _ if summary.failed + summary.skipped > 0 => exit::BAD_INPUT,
        _ => exit::OK,
    }
}
