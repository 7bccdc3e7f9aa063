//! From a closure to an answer: all its executions, as data.

use crate::replay::{Trace, replay};
use crate::rt::shared::Shared;
use crate::rt::{self, Run};
use fencepost_answer::FindingKind;
use fencepost_explore::{
    Finding as Found, Limits, Options, Reduction, Reductions, SITE, Source, StopReason, explore_native,
};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

pub use fencepost_explore::ModelName as Model;

/// How to explore.
#[derive(Clone, Debug)]
pub struct Config {
    /// The memory model.
    pub model: Model,
    /// Workers.
    pub workers: usize,
    /// Steps that a thread may make; beyond that it is not followed, and the answer says so.
    pub max_branches: usize,
    /// Stop after about so many executions.
    pub max_executions: Option<u64>,
    /// Stop after this time.
    pub max_duration: Option<Duration>,
    /// Whether the first finding ends the exploration.
    pub stop_at_first: bool,
    /// Whether a condition variable may wake a thread that nobody has notified.
    pub spurious_wakeups: bool,
    /// Whether `compare_exchange_weak` may fail without a reason.
    pub spurious_failures: bool,
    /// Whether the program is run again before every step: slow, and the same. For tests, which compare.
    #[doc(hidden)]
    pub anew: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: Model::Rc11,
            workers: 1,
            max_branches: 10_000,
            max_executions: None,
            max_duration: None,
            stop_at_first: true,
            spurious_wakeups: false,
            spurious_failures: false,
            anew: false,
        }
    }
}

/// What is wrong with a program.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What kind of mistake it is.
    pub kind: FindingKind,
    /// What is wrong.
    pub message: String,
    /// Where: file, line and column.
    pub places: Vec<String>,
    /// The execution that shows it, step by step.
    pub story: Vec<String>,
    /// The execution in one word, for [`Config::replay`] and the variable `FENCEPOST_REPLAY`.
    pub replay: String,
}

/// What came of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Complete executions.
    pub executions: u64,
    /// Executions that no thread could go on with, though some had not ended.
    pub blocked: u64,
    /// Executions in which a thread was not followed to its end.
    pub cut: u64,
    /// How often the program was run.
    pub runs: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Why the exploration ended early, if it did.
    pub stopped: Option<StopReason>,
    /// Where threads were not followed any further.
    pub cuts: Vec<String>,
    /// What was not followed exactly, in words.
    pub notes: Vec<String>,
    /// Why nothing could be explored.
    pub refused: Option<String>,
}

impl Report {
    /// Whether all executions were explored, and nothing is wrong.
    pub fn is_safe(&self) -> bool {
        self.findings.is_empty() && self.is_complete()
    }

    /// Whether all executions were explored to their ends.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_none() && self.cut == 0 && self.refused.is_none()
    }
}

/// Explores all executions of a closure under RC11, up to the first that shows a mistake.
pub fn check<F>(f: F) -> Report
where
    F: Fn() + Sync + Send + 'static,
{
    Config::default().check(f)
}

/// What the standard library makes when it is first used, and keeps, must not lie in the memory of a run: where output is captured, that grows from
/// what is there.
fn prepare_output(model: Model) {
    let _ = std::thread::current().id();
    let _ = std::io::stdout().lock();
    eprintln!("fencepost: every execution under {}", model.name());
}

/// While a thread of a model panics, what is said of it is kept for the report.
fn listen_to_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !rt::is_inside() {
                return before(info);
            }
            rt::with(|run| {
                let text = info.payload().downcast_ref::<&str>().map(|s| s.to_string());
                let text = text.or_else(|| info.payload().downcast_ref::<String>().cloned());
                let place = info.location().map(|place| place.to_string());
                run.panic = Some((text.unwrap_or_default(), place.unwrap_or_default()));
            });
        }));
    });
}

impl Config {
    /// Explores all executions of a closure.
    pub fn check<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        listen_to_panics();
        prepare_output(self.model);
        let program: Arc<dyn Fn() + Sync + Send> = Arc::new(f);
        let shared = Arc::new(self.shared());
        loop {
            let report = self.explore(&program, &shared);
            // A value that is dropped too late may be what the others wait for.
            let waits = report.findings.iter().any(|finding| finding.kind == FindingKind::Deadlock);
            if !waits || !shared.count_orphans() {
                return report;
            }
        }
    }

    /// What workers share at first.
    fn shared(&self) -> Shared {
        let shared = Shared::default();
        shared.most.store(self.max_branches.try_into().unwrap_or(u32::MAX), Ordering::Relaxed);
        shared.spurious_wakeups.store(self.spurious_wakeups, Ordering::Relaxed);
        shared.spurious_failures.store(self.spurious_failures, Ordering::Relaxed);
        let fences = match self.model {
            Model::Sc => 0,
            Model::Tso | Model::Pso => 1,
            _ => 2,
        };
        shared.fences.store(fences, Ordering::Relaxed);
        shared.anew.store(self.anew, Ordering::Relaxed);
        shared
    }

    /// Runs a closure along one execution, by the word of a finding, and tells it; nothing if it is no such word. Panics are shown where they happen.
    pub fn replay<F>(&self, f: F, execution: &str) -> Option<Vec<String>>
    where
        F: Fn() + Sync + Send + 'static,
    {
        prepare_output(self.model);
        let trace = Trace::parse(execution)?;
        let shared = Arc::new(self.shared());
        Some(replay(&trace, Run::new(Arc::new(f), shared)).story)
    }

    fn explore(&self, program: &Arc<dyn Fn() + Sync + Send>, shared: &Arc<Shared>) -> Report {
        let make = || Box::new(Run::new(program.clone(), shared.clone())) as Box<dyn Source>;
        let limits = Limits {
            deadline: self.max_duration.map(|time| Instant::now() + time),
            max_executions: self.max_executions,
            ..Limits::default()
        };
        let options = Options {
            jobs: self.workers,
            limits,
            stop_at_error: self.stop_at_first,
            // States never come back.
            reductions: Reductions::ALL.without(Reduction::EqualWork).without(Reduction::Symmetry),
            native: Some(&make),
            ..Options::new(self.model)
        };
        let explored = match explore_native(&options) {
            Ok(explored) => explored,
            Err(why) => {
                let refused = Some(format!(
                    "{} is not explored: values must be there before what depends on them",
                    why.what
                ));
                return Report { refused, ..Report::default() };
            }
        };
        let place = |site: u32| {
            shared.wrong(site).map(|wrong| format!("{}: {}", wrong.message, wrong.places.join(", ")))
        };
        let mut findings: Vec<Finding> =
            explored.findings.iter().map(|found| finding(found, program, shared)).collect();
        // What a thread reads after a race depends on the order in which threads happen to run: the race is what is wrong.
        let is_race = |kind| {
            matches!(
                kind,
                FindingKind::DataRace | FindingKind::UseAfterFree | FindingKind::UseBeforeAllocation
            )
        };
        if findings.iter().any(|finding| is_race(finding.kind)) {
            findings.retain(|finding| finding.kind != FindingKind::Unsupported);
        }
        let mut notes = Vec::new();
        if shared.unwound.load(Ordering::Relaxed) {
            notes.push(
                "a thread accessed memory while it unwound: there it has read the newest values only"
                    .to_string(),
            );
        }
        Report {
            executions: explored.stats.executions,
            blocked: explored.stats.blocked,
            cut: explored.stats.cut,
            runs: shared.runs.load(Ordering::Relaxed),
            findings,
            stopped: explored.stopped,
            cuts: explored.cuts.iter().filter_map(|&(_, site)| place(site)).collect(),
            notes,
            refused: None,
        }
    }
}

/// A finding in words.
fn finding(found: &Found, program: &Arc<dyn Fn() + Sync + Send>, shared: &Arc<Shared>) -> Finding {
    let own =
        found.places.first().filter(|place| place.at.0 == SITE).and_then(|place| shared.wrong(place.at.1));
    let trace = Trace::of(found);
    let replayed = replay(&trace, Run::new(program.clone(), shared.clone()));
    let (message, places) = match own {
        Some(wrong) => (wrong.message, wrong.places),
        None if found.kind == FindingKind::Deadlock => {
            ("threads wait for ever".to_string(), replayed.waiting.clone())
        }
        None => {
            (found.kind.message().to_string(), replayed.last.iter().map(|here| here.to_string()).collect())
        }
    };
    Finding { kind: found.kind, message, places, story: replayed.story, replay: trace.to_text() }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        for place in &self.places {
            writeln!(f, "  --> {place}")?;
        }
        if !self.story.is_empty() {
            writeln!(f, "the execution:")?;
        }
        self.story.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        write!(f, "once more, and nothing else: FENCEPOST_REPLAY={}", self.replay)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        write!(
            f,
            "{} executions, {} blocked, {} runs of the program",
            self.executions, self.blocked, self.runs
        )?;
        if let Some(reason) = &self.stopped {
            write!(f, "; stopped early: {reason:?}")?;
        }
        for cut in &self.cuts {
            write!(f, "\nnot followed to the end: {cut}")?;
        }
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        self.refused.iter().try_for_each(|why| write!(f, "{why}"))
    }
}
