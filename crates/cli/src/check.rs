//! `fencepost check`: programs, from files to answers. Reads like the pipeline. Many programs are checked side by side, each
//! by one worker, and printed in order; one program has all workers.

use crate::args::{CheckArgs, EngineChoice};
use crate::baseline::{self, Known};
use crate::compile_commands::Commands;
use crate::engine::{self, Engine, Question, auto};
use crate::expected::{Comment, Expected};
use crate::input::{self, Trouble};
use crate::project::Project;
use crate::telling::runs;
use crate::{advice, cpp_flags, exit, print, suggest, user_model, wakeups, within};
use fencepost_answer::{Outcome, Severity, StopReason, Verdict};
use fencepost_diag::{SourceFile, SourceMap};
use fencepost_ir::{Compiled, Language, Program};
use fencepost_models::registry::{self, Entry};
use fencepost_report::format::{Format, Printed};
use fencepost_report::report::{Expectation, Failed, Report, exit as verdict, exit_code};
use fencepost_report::{graphml, html, picture};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// One file under one model.
struct Job {
    file: String,
    model: &'static Entry,
    options: CheckArgs,
    /// What the project, or a comment in the file, expects.
    expected: Option<Expected>,
    /// There are others: what is drawn has names of its own.
    several: bool,
}

/// What came of a job.
struct Done {
    printed: Printed,
    code: u8,
    verdict: Option<Verdict>,
    /// What was expected, and whether it is that.
    expected: Option<(Expected, bool)>,
    /// Its findings, warnings aside.
    findings: Vec<Known>,
    /// How many of them the baseline knows.
    known: usize,
}

/// Counts for the last lines.
#[derive(Default)]
struct Summary {
    verdicts: [usize; 3],
    failed: usize,
    as_expected: usize,
    /// Files and models whose verdict is not the expected one, in words.
    unexpected: Vec<String>,
    /// Findings that the baseline knows.
    known: usize,
    found: BTreeSet<Known>,
    worst: u8,
}

/// Runs the command: every file under every model, and the exit code of the worst answer.
pub fn run(options: &CheckArgs) -> u8 {
    let start = Instant::now();
    let (jobs, baseline) = match plan(options) {
        Ok(plan) => plan,
        Err(error) => {
            print::err(&error);
            return exit::BAD_INPUT;
        }
    };
    let ignored = cpp_flags::ignored(options);
    if !ignored.is_empty() && !options.quiet {
        print::err(&format!("note: {} mean nothing here and are ignored\n", ignored.join(" ")));
    }
    handle_interrupts();
    let format = options.format();
    let [head, between, tail] = format.document;
    print::out(head);
    let summary = Mutex::new(Summary::default());
    let first = AtomicBool::new(true);
    let parts = Mutex::new(Vec::new());
    run_jobs(&jobs, options.workers(), format, baseline.as_ref(), &|job, mut done| {
        print::err(&done.printed.errors);
        match (done.printed.part.take(), parts.lock()) {
            (Some(part), Ok(mut parts)) => parts.push(part),
            _ => {
                print::out(if first.swap(false, Ordering::Relaxed) { "" } else { between });
                let shown = if format.name == "text" { print::show } else { print::out };
                shown(&done.printed.output);
            }
        }
        if let Ok(mut summary) = summary.lock() {
            summary.add(job, done);
        }
    });
    if let Some(whole) = format.whole {
        print::out(&whole(parts.into_inner().unwrap_or_default()));
    }
    print::out(tail);
    let summary = summary.into_inner().unwrap_or_default();
    if jobs.len() > 1 && format.name == "text" {
        print::show(&summary.text(start.elapsed()));
    }
    if let Some(path) = &options.write_baseline
        && let Err(error) = baseline::write(path, &summary.found)
    {
        print::err(&error);
        return exit::BAD_INPUT;
    }
    summary.worst
}

/// What is checked under what, and the findings that are known; the error is a whole message.
fn plan(options: &CheckArgs) -> Result<(Vec<Job>, Option<BTreeSet<Known>>), String> {
    let project = match &options.config {
        Some(file) => Project::read(file)?,
        None => Project::find(options.paths.first().map_or(Path::new("."), PathBuf::as_path))?,
    };
    let first = options.paths.first().map_or(Path::new("."), PathBuf::as_path);
    let commands = Commands::find(options.compile_commands.as_deref(), first)?;
    let mut files = Vec::new();
    for path in options.paths.iter().take(if options.link { 1 } else { usize::MAX }) {
        let mut found = input::files(path, input::PROGRAMS)?;
        if path.is_dir() {
            found.retain(|file| !project.excludes(file));
        }
        if found.is_empty() {
            return Err(format!("error: there is no program in {} (*.c, *.i, *.fp)\n", path.display()));
        }
        files.extend(found);
    }
    let mut jobs = Vec::new();
    for file in files {
        let own = project.models(&file).filter(|_| !is_given(options, "model"));
        let names = own.map_or_else(|| options.model.clone(), |names| names.join(","));
        // What cannot be read has no comments, and is an error of its own.
        let source = SourceFile::new(&file, std::fs::read_to_string(&file).unwrap_or_default());
        let comment = Comment::read(&source).map_err(|mistake| {
            let mut sources = SourceMap::default();
            sources.add(source.clone());
            sources.render(&mistake) + "\n"
        })?;
        for model in all_of(&names).map(|name| find_model(&name)) {
            let model = model?;
            let expected = project.expected(&file, model.name).or(comment.under(model.name));
            let mut options = with_project(options, &project, &file);
            commands.add_to(&mut options, &file);
            jobs.push(Job { file: file.clone(), model, options, expected, several: false });
        }
    }
    let several = jobs.len() > 1;
    if let Some(option) = options.outlive.asks().filter(|_| several) {
        return Err(format!("error: {option} takes one file under one model, not {}\n", jobs.len()));
    }
    let twice = || jobs.iter().any(|job| job.file == jobs[0].file && job.model.name != jobs[0].model.name);
    if options.apply && several && twice() {
        let hint = "  what is found under one model may not be enough under another one: apply them one after the other\n";
        return Err(format!("error: --apply takes one model\n{hint}"));
    }
    if several && options.workers() > 1 {
        for job in &mut jobs {
            (job.options.jobs, job.options.quiet) = (Some(1), true);
        }
    }
    jobs.iter_mut().for_each(|job| job.several = several);
    let baseline = options.baseline.as_deref().map(baseline::read).transpose()?;
    Ok((jobs, baseline))
}

/// The names of a list; `all` are all models for programs.
fn all_of(names: &str) -> impl Iterator<Item = String> {
    let one = |name: &str| match name {
        "all" => registry::names(is_for_programs).into_iter().map(String::from).collect(),
        name => vec![name.to_string()],
    };
    names.split(',').flat_map(one).collect::<Vec<_>>().into_iter()
}

fn is_given(options: &CheckArgs, name: &str) -> bool {
    options.given.iter().any(|given| given == name)
}

/// The options for a file: what the command line does not say, the project does.
fn with_project(options: &CheckArgs, project: &Project, file: &str) -> CheckArgs {
    let mut own = options.clone();
    if let Some(unroll) = project.unroll(file).filter(|_| !is_given(options, "unroll")) {
        own.unroll = unroll;
    }
    if let (Some(seconds), None) = (project.timeout(file), options.timeout) {
        own.timeout = Duration::try_from_secs_f64(seconds).ok();
    }
    let folder = |dir: &String| project.folder.join(dir).display().to_string();
    own.include_dirs.extend(project.include.iter().map(folder));
    own.system_dirs.extend(project.isystem.iter().map(folder));
    own.defines.extend(project.define.iter().cloned());
    if let (Some(target), None) = (&project.target, &options.target) {
        own.target = Some(target.get_ref().clone());
    }
    if let Some(engine) =
        project.engine(file).filter(|engine| !is_given(options, "engine") && *engine != "auto")
    {
        own.engine = EngineChoice::Named(engine.to_string());
    }
    let linked = project.link(file);
    if !options.link && !linked.is_empty() {
        own.paths = std::iter::once(PathBuf::from(file)).chain(linked).collect();
        own.link = true;
    }
    own
}

/// Runs all jobs, several at a time, and hands them over in their order.
fn run_jobs(
    jobs: &[Job],
    workers: usize,
    format: &Format,
    baseline: Option<&BTreeSet<Known>>,
    told: &(dyn Fn(&Job, Done) + Sync),
) {
    let next = AtomicUsize::new(0);
    let waiting: Mutex<(Vec<Option<Done>>, usize)> = Mutex::new(((0..jobs.len()).map(|_| None).collect(), 0));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(index).filter(|_| !is_interrupted()) else { return };
            let done = run_job(job, format, baseline);
            let Ok(mut waiting) = waiting.lock() else { return };
            waiting.0[index] = Some(done);
            loop {
                let at = waiting.1;
                let Some(done) = waiting.0.get_mut(at).and_then(Option::take) else { break };
                told(&jobs[at], done);
                waiting.1 += 1;
            }
        }
    };
    std::thread::scope(|scope| {
        (1..workers.min(jobs.len())).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}

fn run_job(job: &Job, format: &Format, baseline: Option<&BTreeSet<Known>>) -> Done {
    check(job, format, baseline).unwrap_or_else(|trouble| {
        let Trouble { error, diagnostics, sources } = &trouble;
        let failed = Failed { file: &job.file, error, diagnostics, sources };
        let printed = (format.failed)(&failed);
        Done { printed, code: exit::BAD_INPUT, verdict: None, expected: None, findings: Vec::new(), known: 0 }
    })
}

impl Summary {
    fn add(&mut self, job: &Job, done: Done) {
        let Done { mut code, verdict, expected, findings, known, .. } = done;
        match verdict {
            Some(verdict) => self.verdicts[verdict as usize] += 1,
            None => self.failed += 1,
        }
        self.known += known;
        if code == verdict::UNSAFE && known > 0 && known == findings.len() {
            code = exit::OK;
        }
        match (verdict, expected) {
            (Some(verdict), Some((_, true))) => {
                self.as_expected += 1;
                // What else is wrong, a bug of ours or a line that was not reached, is expected by nobody.
                let expected = match verdict {
                    Verdict::Safe => verdict::SAFE,
                    Verdict::Unsafe => verdict::UNSAFE,
                    Verdict::Unknown => verdict::UNKNOWN,
                };
                code = if code == expected { exit::OK } else { code };
            }
            (Some(verdict), Some((expected, false))) => {
                let (file, model) = (&job.file, job.model.name);
                let (verdict, expected) = (verdict.name(), expected.name());
                self.unexpected.push(format!("{file} under {model}: {verdict}, expected {expected}"));
                code = worse(code, verdict::UNSAFE);
            }
            _ => {}
        }
        self.found.extend(findings);
        self.worst = worse(self.worst, code);
    }

    fn text(&self, time: Duration) -> String {
        let [safe, wrong, unknown] = self.verdicts;
        let mut counts = vec![format!("{safe} safe"), format!("{wrong} unsafe")];
        let mut add = |count: usize, what: &str| {
            if count > 0 {
                counts.push(format!("{count} {what}"));
            }
        };
        add(unknown, "unknown");
        add(self.failed, "without an answer");
        add(self.as_expected, "as expected");
        add(self.unexpected.len(), "not as expected");
        add(self.known, "of the findings known");
        let time = fencepost_report::report::show_seconds(time.as_secs_f64());
        let mut text = format!("{} ({time})\n", counts.join(", "));
        for line in &self.unexpected {
            text += &format!("  {line}\n");
        }
        text
    }
}

/// An answer about a file, and what it is about.
pub struct Checked {
    /// The model.
    pub model: &'static Entry,
    /// The program.
    pub compiled: Compiled,
    /// The engine that answered.
    pub engine: &'static str,
    /// Why that engine, if the user did not choose it.
    pub picked: Option<Why>,
    /// The answer.
    pub outcome: Outcome,
    /// Time it took.
    pub seconds: f64,
}

impl Checked {
    /// A limit was reached before the program was read.
    fn without_program(
        file: &SourceFile,
        model: &'static Entry,
        reason: StopReason,
        start: Instant,
    ) -> Checked {
        let mut sources = SourceMap::default();
        sources.add(file.clone());
        let compiled = Compiled {
            language: Language::C,
            program: Program::default(),
            sources,
            warnings: Vec::new(),
            left_out: Vec::new(),
        };
        let (outcome, seconds) = (Outcome::unknown(reason), start.elapsed().as_secs_f64());
        Checked { model, compiled, engine: "none", picked: None, outcome, seconds }
    }
}

/// Why an engine was picked, and whether that is a surprise.
pub struct Why {
    /// In a few words.
    pub words: String,
    /// Another engine was tried first.
    pub surprising: bool,
}

/// Checks one file.
pub fn answer(name: &str, model: &'static Entry, options: &CheckArgs) -> Result<Checked, Trouble> {
    answer_about(&input::source(name)?, model, options)
}

/// Checks a text.
pub fn answer_about(
    file: &SourceFile,
    model: &'static Entry,
    options: &CheckArgs,
) -> Result<Checked, Trouble> {
    let start = Instant::now();
    let name = file.name.as_str();
    let compiled = match within::compile(file, model, options, start)? {
        Ok(compiled) => compiled,
        Err(reason) => return Ok(Checked::without_program(file, model, reason, start)),
    };
    let (engine, picked, mut outcome) = solve(name, &compiled, model, options, start)?;
    let mut assumed = advice::assumptions(&compiled, model, &options.mapping);
    assumed.append(&mut outcome.assumes);
    outcome.assumes = assumed;
    outcome.assumes.extend(compiled.left_out.iter().map(|left_out| left_out.name().to_string()));
    wakeups::recheck(file, &compiled, model, options, start, &mut outcome)?;
    if outcome.explanations.is_empty() {
        runs::explain(&compiled.program, &compiled.sources, model, options.full, &mut outcome);
    }
    if options.suggest {
        outcome.suggestion = suggest::suggest(name, &compiled, model, options, &outcome)?;
        let wrong = outcome.findings.iter().position(|finding| finding.kind.severity() == Severity::Error);
        let remedy = suggest::remedy(name, &compiled, model, options, &outcome)?;
        if let Some(explanation) = wrong.and_then(|wrong| outcome.explanations.get_mut(wrong)) {
            explanation.remedy = remedy;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Checked { model, compiled, engine: engine.name(), picked, outcome, seconds })
}

/// Answers a question about a program with the engine that the user wants: which, why, and the answer.
pub fn solve(
    name: &str,
    compiled: &Compiled,
    model: &'static Entry,
    options: &CheckArgs,
    start: Instant,
) -> Result<(&'static dyn Engine, Option<Why>, Outcome), Trouble> {
    let question = Question {
        file: name,
        compiled,
        model,
        options,
        start,
        until: None,
        work: None,
        interrupt: &INTERRUPT,
    };
    match &options.engine {
        EngineChoice::Auto => {
            let picked = auto::answer(&question)?;
            let why = Why { words: picked.why, surprising: picked.surprising };
            Ok((picked.engine, Some(why), picked.outcome))
        }
        EngineChoice::Named(name) => match engine::find(name) {
            Some(engine) => Ok((engine, None, engine::run(engine, &question)?)),
            None => Err(format!("error: there is no engine `{name}`").into()),
        },
    }
}

/// Whether Ctrl-C was pressed.
pub fn is_interrupted() -> bool {
    INTERRUPT.load(Ordering::Relaxed)
}

/// Checks one file: what to print, and the exit code.
fn check(job: &Job, format: &Format, baseline: Option<&BTreeSet<Known>>) -> Result<Done, Trouble> {
    let Job { file, model, options, .. } = job;
    let checked = answer(file, model, options)?;
    let sources = &checked.compiled.sources;
    let advice = advice::next(&checked, file, options);
    let outcome = &checked.outcome;
    let all: Vec<Known> = outcome.findings.iter().map(|f| Known::new(file, model.name, f, sources)).collect();
    let known: Vec<bool> =
        all.iter().map(|finding| baseline.is_some_and(|known| known.contains(finding))).collect();
    let expected = job.expected.map(|expected| (expected, expected.is_met(outcome)));
    let report = Report {
        expectation: expected.map(|(expected, is_met)| Expectation { wanted: expected.name(), is_met }),
        known: baseline.map(|_| &known[..]),
        ..report(file, &checked, &advice)
    };
    draw(&report, job)?;
    if options.apply
        && let Some(suggestion) = &outcome.suggestion
    {
        print::err(&suggest::apply(suggestion, sources)?);
    }
    let is_wrong = |i: &usize| outcome.findings[*i].kind.severity() != Severity::Warning;
    let known = (0..known.len()).filter(is_wrong).filter(|&i| known[i]).count();
    let findings = (0..all.len()).filter(is_wrong).map(|i| all[i].clone()).collect();
    let printed = (format.report)(&report);
    let mut code = exit_code(&checked.outcome);
    if options.require_coverage && code == verdict::SAFE {
        // What no execution came to was not checked; an engine that does not know has not shown that there is nothing.
        let covered = checked.outcome.coverage.as_ref().is_some_and(|coverage| coverage.unreached.is_empty());
        code = if covered { code } else { verdict::UNKNOWN };
    }
    Ok(Done { printed, code, verdict: Some(checked.outcome.verdict), expected, findings, known })
}

/// An answer, to be shown.
pub fn report<'a>(file: &'a str, checked: &'a Checked, advice: &'a [String]) -> Report<'a> {
    Report {
        expectation: None,
        known: None,
        file,
        model: checked.model.name,
        engine: checked.engine,
        picked: checked.picked.as_ref().map(|why| why.words.as_str()),
        surprising: checked.picked.as_ref().is_some_and(|why| why.surprising),
        outcome: &checked.outcome,
        sources: &checked.compiled.sources,
        warnings: &checked.compiled.warnings,
        advice,
        seconds: checked.seconds,
    }
}

/// Writes pictures and the page, where the user wants them.
fn draw(report: &Report<'_>, job: &Job) -> Result<(), Trouble> {
    let options = &job.options;
    let picture = report.outcome.picture.as_ref();
    if picture.is_none() && (options.dot.is_some() || options.svg.is_some()) && !job.several {
        print::err("note: there is no counterexample to draw\n");
    }
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    let files = [
        (&options.dot, picture.map(picture::dot)),
        (&options.svg, picture.map(picture::svg)),
        (&options.report, options.report.as_ref().map(|_| html::page(report, &command))),
        (&options.witness, options.witness.as_ref().and_then(|_| graphml::witness(report))),
        (&options.as_litmus, report.outcome.test.clone().and_then(Result::ok)),
    ];
    if options.witness.is_some() && files[3].1.is_none() && !job.several {
        print::err("note: there is no violation under sc to write a witness of\n");
    }
    if options.as_litmus.is_some() && files[4].1.is_none() && !job.several {
        let why = match &report.outcome.test {
            Some(Err(why)) => format!("the counterexample is not written as a litmus test: {why}"),
            _ => "there is no counterexample to write as a litmus test".to_owned(),
        };
        print::err(&format!("note: {why}\n"));
    }
    for (path, text) in files {
        if let (Some(path), Some(text)) = (path, text) {
            let path = if job.several { own_path(path, &job.file, job.model.name) } else { path.clone() };
            std::fs::write(&path, text)
                .map_err(|error| format!("error: cannot write {}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// `out.html` of one of several programs: `out-queue-tso.html`.
pub fn own_path(path: &Path, file: &str, model: &str) -> PathBuf {
    let text =
        |part: Option<&std::ffi::OsStr>| part.map_or(String::new(), |p| p.to_string_lossy().into_owned());
    let (stem, ending) = (text(path.file_stem()), text(path.extension()));
    let program = text(Path::new(file).file_stem());
    path.with_file_name(format!("{stem}-{program}-{model}.{ending}"))
}

/// Something to stop one engine by, which Ctrl-C stops as well. The flag itself lives for ever, since engines share it among
/// their workers.
pub struct Interrupt(&'static AtomicBool);

/// All of them.
static INTERRUPTS: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

fn interrupts() -> MutexGuard<'static, Vec<&'static AtomicBool>> {
    INTERRUPTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Interrupt {
    /// A new one.
    pub fn new() -> Interrupt {
        let flag: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        interrupts().push(flag);
        // Ctrl-C may have come before the flag was known.
        flag.store(is_interrupted(), Ordering::Relaxed);
        Interrupt(flag)
    }

    /// What an engine looks at.
    pub fn flag(&self) -> &'static AtomicBool {
        self.0
    }

    /// Stops it.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        interrupts().retain(|flag| !std::ptr::eq(*flag, self.0));
    }
}

/// Ctrl-C ends the work and gives what was found; a second one ends the process at once.
pub fn handle_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        interrupts().iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
    });
}

fn is_for_programs(model: &Entry) -> bool {
    model.twin.is_some() || model.machine.is_some()
}

/// The exit code of two answers: a bug of ours is the worst, then what is wrong with a program, then what could not be read, then
/// what is not known.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |code: &u8| match *code {
        verdict::SAFE => 0,
        verdict::UNKNOWN => 1,
        exit::BAD_INPUT => 2,
        verdict::UNSAFE => 3,
        _ => 4,
    };
    std::cmp::max_by_key(one, other, rank)
}

/// A model that some engine for programs knows, or that a file has; the error is a whole message.
pub fn find_model(name: &str) -> Result<&'static Entry, String> {
    if user_model::is_file(name) {
        return user_model::entry(name);
    }
    registry::of_programs(name).filter(|model| is_for_programs(model) || !model.cat.is_empty()).ok_or_else(
        || {
            let names = registry::names(is_for_programs);
            let hint = print::did_you_mean(name, &names);
            format!(
                "error: there is no model `{name}` for programs\n{hint}  known models: {}\n",
                names.join(", ")
            )
        },
    )
}
