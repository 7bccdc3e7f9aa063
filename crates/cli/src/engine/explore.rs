//! The explorer: every execution once, loops unrolled, the axiomatic models; and what it found as an answer with places in
//! the source and an execution that a programmer can follow.

use super::promising;
use super::{Engine, Fit, Question, finals};
use crate::args::{CheckArgs, Dependencies, RetriesArg};
use crate::as_litmus;
use crate::input::Trouble;
use crate::keeping::{self, NotExplored};
use crate::progress::{self, PROGRESS, is_watched};
use crate::remote::{self, Description};
use crate::revalidate::{self, Confirmed, Unconfirmed};
use crate::telling::headline::{headline, quoted};
use crate::telling::story::StepId;
use crate::telling::teller::{Source, Teller};
use crate::telling::words::list;
use crate::telling::{idle, sentence};
use fencepost_answer::picture::Kind;
use fencepost_answer::{
    Bound, BoundName, Coverage, Explanation, Finding, Outcome, Place, Statistics, StopReason, Verdict,
};
use fencepost_diag::{Diagnostic, Span};
use fencepost_explore::{
    Exploration, FindingKind, Limits, ModelName, Options, Reduction, Reductions, Symmetry,
};
use fencepost_ir::{Language, Program, Property};
use fencepost_models::Model;
use fencepost_models::prepare::{Form, Prepared};
use fencepost_models::registry::{self, Entry};
use fencepost_naive::Rebuilt;
use std::collections::{BTreeMap, BTreeSet};

/// The engine.
pub struct Explore;

impl Engine for Explore {
    fn name(&self) -> &'static str {
        "explore"
    }

    fn about(&self) -> &'static str {
        "every execution once, loops unrolled; the axiomatic models"
    }

    fn honours(&self) -> &'static [&'static str] {
        &[
            "unroll",
            "deps",
            "retries",
            "without",
            "symmetry",
            "as-litmus",
            "all",
            "max-executions",
            "promises",
            "checkpoint",
            "checkpoint-every",
            "interrupt-after",
            "resume",
            "cluster",
            "explore-first",
            "run",
            "creds",
        ]
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        if twin(question).is_none() {
            let known = registry::names(|model| model.twin.is_some());
            return Fit::Refuses(format!(
                "error: the engine explore does not know {}; it knows {}",
                question.model.name,
                known.join(", ")
            ));
        }
        if question.model.name == promising::MODEL {
            // A final state may need a promise.
            if matches!(question.compiled.program.property, Property::Final(_)) {
                return Fit::Refuses(format!(
                    "error: {} has a condition on final states, which the engine explore does not check under ps",
                    question.file
                ));
            }
            return Fit::Takes { rank: 0, why: "what needs no promise is an execution of RC11".into() };
        }
        match (question.model.machine, question.compiled.language) {
            (Some(_), Language::C) => {
                Fit::Takes { rank: 0, why: "it looks for everything that can go wrong in C".into() }
            }
            (Some(_), _) => Fit::Takes { rank: 2, why: "no machine can answer".into() },
            (None, _) => {
                let machines = registry::names(|model| model.machine.is_some());
                Fit::Takes { rank: 0, why: format!("the machines are those of {}", list(&machines)) }
            }
        }
    }

    /// With the bound that was asked for; otherwise bounds deepen: many mistakes show in the first rounds of a loop, and when
    /// the time is up it is known how far nothing is wrong.
    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let options = question.options;
        let asked = options.given.iter().any(|given| given == "unroll");
        // Whoever wants all findings, or keeps an exploration, wants one exploration.
        if asked || options.outlive.asks().is_some() {
            return self.explore(question);
        }
        let first = if options.all { options.unroll } else { FIRST_UNROLL.min(options.unroll) };
        self.deepen(question, first)
    }
}

/// The bound with which deepening begins.
const FIRST_UNROLL: u32 = 1;

/// How far a bound is raised without being asked.
const MOST_UNROLL: u32 = 256;

/// True if the bound on loops cut something; other bounds do not grow with it.
fn is_cut(outcome: &Outcome) -> bool {
    outcome.bounds.iter().any(|bound| bound.name == BoundName::Unroll)
}

impl Explore {
    /// Doubles the bound as long as it cuts something, to what is the default; further, if it cut everything.
    fn deepen(&self, question: &Question<'_>, first: u32) -> Result<Outcome, Trouble> {
        let last = question.options.unroll;
        let mut options = question.options.clone();
        options.unroll = first;
        let mut work = question.work;
        let mut so_far = Vec::new();
        loop {
            let mut outcome = self.explore(&Question { options: &options, work, ..*question })?;
            let goes_on = match (outcome.verdict, &outcome.stop_reason) {
                (Verdict::Safe, _) => is_cut(&outcome) && options.unroll < last,
                (Verdict::Unknown, Some(StopReason::CutEverything)) => options.unroll < MOST_UNROLL,
                (Verdict::Unknown, Some(StopReason::NoneWithinBounds)) => options.unroll < last,
                _ => false,
            };
            if !goes_on {
                if outcome.verdict == Verdict::Unknown {
                    outcome.so_far = so_far;
                }
                return Ok(outcome);
            }
            if outcome.verdict == Verdict::Safe {
                so_far = vec![Bound::new(BoundName::Unroll, options.unroll)];
            }
            work = work.map(|work| work.saturating_sub(outcome.statistics.nodes.unwrap_or(0)));
            let next = options.unroll.saturating_mul(2);
            options.unroll = if options.unroll < last { next.min(last) } else { next };
        }
    }

    /// Explores with one bound.
    fn explore(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let options = question.options;
        let mut prepared = question.prepare(Form::EXPLORE)?;
        finals::as_search(&mut prepared.program);
        let limits = Limits {
            deadline: question.deadline(),
            max_executions: options.max_executions,
            max_nodes: question.work,
            max_bytes: options.max_memory.map(|mb| mb.saturating_mul(1_000_000)),
            interrupt: Some(question.interrupt),
            progress: is_watched(options.quiet).then_some(&PROGRESS),
        };
        let line = progress::line(question.file, options.quiet);
        let Some(settings) = explorer_settings(question, &prepared) else {
            return Err(String::from("error: no such model").into());
        };
        let settings = match matches!(prepared.program.property, Property::Final(_)) {
            // Every execution counts, as in a litmus test.
            true => Options { dependencies: settings.dependencies, ..Options::new(settings.model) },
            false => settings,
        };
        let settings = Options { jobs: options.workers(), limits, ..settings };
        let sources = &question.compiled.sources;
        let mut found = search(question, &prepared.program, &settings).map_err(|error| match error {
            NotExplored::Unsupported(unsupported) => {
                let message = format!("{} cannot be explored", unsupported.what);
                Trouble::about(sources, Diagnostic::error(unsupported.span, message))
            }
            NotExplored::Message(error) => error.into(),
        })?;
        drop(line);
        let Confirmed { rebuilt, unconfirmed, cat } = revalidate::drop_unconfirmed(
            &prepared.program,
            entry(question),
            settings.dependencies,
            &mut found,
            &question.limits_of_replay(),
        );
        let (rebuilt, again) =
            same_faults(&Source { program: &prepared.program, sources }, &mut found, rebuilt);
        let reporter = Reporter {
            source: Source { program: &prepared.program, sources },
            full: options.full,
            model: entry(question),
            cat,
            wants_test: options.as_litmus.is_some(),
            name: std::path::Path::new(question.file)
                .file_stem()
                .map_or("test".into(), |name| name.to_string_lossy()),
            settings,
        };
        let mut outcome = reporter.outcome(question, &found, unconfirmed);
        reporter.explain(&found, rebuilt.into_iter().zip(again), &mut outcome);
        if let Property::Final(condition) = &prepared.program.property {
            outcome = finals::judged(outcome, &prepared.program, condition, entry(question), &found);
        }
        Ok(match question.model.name == promising::MODEL {
            true => promising::without_promises(question, outcome),
            false => outcome,
        })
    }
}

/// How the explorer is asked, apart from limits.
pub fn explorer_settings(question: &Question<'_>, prepared: &Prepared) -> Option<Options<'static>> {
    let options = question.options;
    Some(Options {
        stop_at_error: !options.all,
        dependencies: options.deps == Dependencies::Source,
        section_lock: prepared.section_lock,
        reductions: reductions(options),
        symmetry: if options.symmetry { Symmetry::Find } else { Symmetry::Given },
        ..Options::new(twin(question)?)
    })
}

/// What is left out because something else stands for it.
fn reductions(options: &CheckArgs) -> Reductions {
    let kept = match options.retries {
        RetriesArg::Fold => Reductions::ALL,
        RetriesArg::Awake => Reductions::ALL.without(Reduction::Sleep),
        RetriesArg::All => Reductions::ALL.following_all().without(Reduction::Sleep),
    };
    options.without.iter().fold(kept, |kept, &reduction| kept.without(reduction))
}

/// Explores here, or on the cluster.
fn search(
    question: &Question<'_>,
    program: &Program,
    settings: &Options<'_>,
) -> Result<Exploration, NotExplored> {
    let outlive = &question.options.outlive;
    match &outlive.cluster {
        Some(server) => {
            let about = (question.file, false, question.options.quiet);
            remote::search(program, settings, outlive, server, about, &Description::of(question))
        }
        None => keeping::search(program, settings, outlive),
    }
}

fn twin(question: &Question<'_>) -> Option<ModelName> {
    entry(question).twin.and_then(ModelName::from_name)
}

/// Turns what the explorer found into an answer.
struct Reporter<'a> {
    source: Source<'a>,
    full: bool,
    model: &'static Entry,
    cat: Option<Model>,
    /// The first counterexample is to be a litmus test, too.
    wants_test: bool,
    /// What the program is called.
    name: std::borrow::Cow<'a, str>,
    settings: Options<'a>,
}

/// How much of the executions under SC is looked at to tell whether a fault needs a weak model.
const NODES_UNDER_SC: u64 = 20_000;

/// Leaves one finding for each fault: the same at the same places of the source is the same, whoever does it in whichever
/// iteration. The executions of those that stay, and how often each was found again.
fn same_faults(
    source: &Source<'_>,
    found: &mut Exploration,
    rebuilt: Vec<Option<Rebuilt>>,
) -> (Vec<Option<Rebuilt>>, Vec<u64>) {
    let mut rebuilt = rebuilt.into_iter();
    let mut kept = Vec::new();
    let mut known: Vec<(FindingKind, Vec<Span>)> = Vec::new();
    let mut again: Vec<u64> = Vec::new();
    found.findings.retain(|finding| {
        let calls = |i: usize| finding.calls.get(i).map_or(&[][..], Vec::as_slice);
        let places = finding.places.iter().enumerate();
        let mut spans: Vec<Span> =
            places.map(|(i, place)| source.span(source.outside(place.at, calls(i)))).collect();
        spans.sort();
        spans.dedup();
        let fault = (finding.kind, spans);
        let execution = rebuilt.next().flatten();
        match known.iter().position(|other| *other == fault) {
            Some(at) => again[at] += 1,
            None => {
                known.push(fault);
                again.push(0);
                kept.push(execution);
                return true;
            }
        }
        false
    });
    (kept, again)
}

impl Reporter<'_> {
    fn outcome(
        &self,
        question: &Question<'_>,
        found: &Exploration,
        unconfirmed: Option<Unconfirmed>,
    ) -> Outcome {
        let unsupported = found.findings.iter().find(|f| f.kind.is_unknown());
        let stop_reason = match (unconfirmed, unsupported, found.stopped) {
            (Some(unconfirmed), _, _) => Some(unconfirmed.into()),
            (None, Some(finding), _) => {
                Some(StopReason::Unsupported(headline(self.source.program, finding, &quoted)))
            }
            (None, None, limit) => limit.map(|limit| question.stop(limit)),
        };
        let mut bounds = Vec::new();
        if found.stats.cut > 0 {
            let places = self.loops(&found.cuts);
            bounds.push(Bound { places, ..Bound::new(BoundName::Unroll, question.options.unroll) });
        }
        let findings = found.findings.iter().map(|finding| self.finding(finding)).collect();
        let mut outcome = Outcome::new(findings, stop_reason, bounds);
        outcome.ended |= question.options.all && outcome.stop_reason.is_none();
        if question.model.dependencies {
            let kept = match question.options.deps {
                Dependencies::Source => "source dependencies kept",
                Dependencies::None => "no dependencies kept",
            };
            outcome.assumes.push(kept.into());
        }
        let symmetric = found.stats.symmetric > 0;
        if question.options.symmetry && !symmetric {
            outcome.assumes.push("no threads taken for equal".into());
        }
        outcome.statistics = Statistics {
            executions: Some(found.stats.executions),
            estimate: found.stopped.and(found.stats.estimate()),
            blocked: found.stats.blocked,
            left_out: found.stats.left_out,
            symmetric,
            cut: found.stats.cut,
            nodes: Some(found.stats.nodes),
            ..Statistics::default()
        };
        let mut outcome = outcome.mind_emptiness();
        let safe = outcome.verdict == Verdict::Safe;
        outcome.coverage = found.coverage.as_ref().filter(|_| safe).map(|coverage| self.coverage(coverage));
        outcome
    }

    /// What was reached, line by line of the user's files. What stands twice in the program, as the body of a loop does that was
    /// unrolled, is reached if one of the two is.
    fn coverage(&self, coverage: &fencepost_explore::Coverage) -> Coverage {
        let spans = |all: &BTreeSet<(u32, u32)>| -> BTreeSet<Span> {
            all.iter().map(|&at| self.source.span(at)).collect()
        };
        let (reached, unreached) = (spans(&coverage.reached), spans(&coverage.unreached));
        let line = |span: &Span| {
            let (file, line, _) = self.source.sources.position(span.start)?;
            (!file.starts_with('<')).then_some((file, line))
        };
        let lines: BTreeSet<_> = reached.iter().chain(&unreached).filter_map(line).collect();
        let mut missed: BTreeMap<_, Span> = BTreeMap::new();
        for span in unreached.difference(&reached) {
            if let Some(line) = line(span) {
                missed.entry(line).or_insert(*span);
            }
        }
        Coverage { lines: lines.len(), unreached: missed.into_values().collect() }
    }

    /// What went wrong and why, of each finding; and the first counterexample, to be drawn.
    fn explain(
        &self,
        found: &Exploration,
        confirmed: impl Iterator<Item = (Option<Rebuilt>, u64)>,
        outcome: &mut Outcome,
    ) {
        for (number, (finding, (rebuilt, again))) in found.findings.iter().zip(confirmed).enumerate() {
            let rebuilt = rebuilt.filter(|_| is_told(finding));
            if let (true, Some(rebuilt), None) = (self.wants_test, &rebuilt, &outcome.test) {
                outcome.test = Some(as_litmus::of(&rebuilt.execution, self.model, &self.name));
            }
            let told = Told {
                source: self.source,
                full: self.full,
                model: self.model,
                cat: self.cat.as_ref(),
                rebuilt,
                under_sc: &|| self.happens_under_sc(finding),
                again,
            };
            tell(&told, number, finding, outcome);
        }
    }

    /// Whether the same fault, at the same places, is found under SC; nothing if that takes too long to tell.
    fn happens_under_sc(&self, finding: &fencepost_explore::Finding) -> Option<bool> {
        let limits = Limits { max_nodes: Some(NODES_UNDER_SC), progress: None, ..self.settings.limits };
        let model = ModelName::Sc;
        let options = Options { model, jobs: 1, stop_at_error: false, limits, ..self.settings };
        let found = fencepost_explore::explore(self.source.program, &options).ok()?;
        let places = |finding: &fencepost_explore::Finding| {
            finding.places.iter().map(|place| place.at).collect::<BTreeSet<_>>()
        };
        let same = |other: &fencepost_explore::Finding| {
            other.kind == finding.kind && places(other) == places(finding)
        };
        match found.findings.iter().any(same) {
            true => Some(true),
            false => (found.stopped.is_none() && found.stats.cut == 0).then_some(false),
        }
    }

    /// Where loops are in the source, each once.
    fn loops(&self, cuts: &[(u32, u32)]) -> Vec<Span> {
        let place =
            |span: &Span| self.source.sources.position(span.start).map(|(f, l, c)| (f.to_string(), l, c));
        let spans: BTreeSet<_> =
            cuts.iter().map(|&at| self.source.span(at)).map(|s| (place(&s), s)).collect();
        let mut spans: Vec<_> = spans.into_iter().collect();
        spans.dedup_by(|a, b| a.0 == b.0);
        spans.into_iter().map(|(_, span)| span).collect()
    }

    /// A finding, told so that a programmer can follow it.
    fn finding(&self, finding: &fencepost_explore::Finding) -> Finding {
        let teller = Teller::new(self.source, finding, self.full);
        let mut spots = teller.places();
        if matches!(finding.kind, FindingKind::Deadlock | FindingKind::LeftWaiting) {
            // Who waits for a thread to end is not to blame.
            spots.sort_by_key(|spot| spot.joins);
        }
        let places = spots.into_iter().map(|spot| Place {
            thread: Some(spot.thread),
            span: self.source.span(spot.at),
            label: spot.label,
        });
        Finding {
            places: places.collect(),
            trace: if finding.kind == FindingKind::Leak { Vec::new() } else { teller.trace() },
            ..Finding::new(finding.kind, teller.message(), Vec::new())
        }
    }
}

/// What is needed to tell a finding.
pub(super) struct Told<'a> {
    pub source: Source<'a>,
    /// Nothing is left out.
    pub full: bool,
    pub model: &'static Entry,
    /// The same as a cat file.
    pub cat: Option<&'a Model>,
    /// The execution, if it was run again.
    pub rebuilt: Option<Rebuilt>,
    /// Whether the same happens under SC.
    pub under_sc: &'a dyn Fn() -> Option<bool>,
    /// How often the same was found again.
    pub again: u64,
}

/// Whether there are steps to tell.
fn is_told(finding: &fencepost_explore::Finding) -> bool {
    finding.kind != FindingKind::Leak && !finding.execution.threads.is_empty()
}

/// Explains the finding of that number in an answer, and draws the first one.
pub(super) fn tell(
    told: &Told<'_>,
    number: usize,
    finding: &fencepost_explore::Finding,
    outcome: &mut Outcome,
) {
    let Told { source, model, rebuilt, .. } = told;
    let teller = Teller::new(*source, finding, told.full);
    let (explanation, cycle) =
        sentence::explain(&teller, model, rebuilt.as_ref().zip(told.cat), told.under_sc);
    let idle = rebuilt.as_ref().map(|rebuilt| idle::reads(source.program, finding, rebuilt, cycle.as_ref()));
    let teller = teller.without(idle.unwrap_or_default()).about(cycle.as_deref());
    if is_told(finding) {
        outcome.findings[number].trace = teller.trace();
    }
    outcome.explanations.push(Explanation { again: told.again, ..explanation });
    if is_told(finding) && outcome.picture.is_none() {
        let dependencies = rebuilt.as_ref().filter(|_| model.dependencies).map(dependencies);
        let dependencies = dependencies.unwrap_or_default();
        outcome.picture = Some(teller.picture(cycle.as_deref().unwrap_or(&[]), &dependencies));
    }
}

/// The dependencies between steps; of branches only those to what comes next.
fn dependencies(rebuilt: &Rebuilt) -> Vec<(StepId, StepId, Kind)> {
    let Rebuilt { execution, events } = rebuilt;
    let all = execution.addr.union(&execution.data).union(&execution.ctrl);
    let nearest = all.difference(&all.compose(&execution.po));
    let id = |&(thread, step): &(u32, u32)| (thread as usize, step as usize);
    let step = |event: usize| events.iter().find(|(_, other)| **other == event).map(|(step, _)| id(step));
    let kind = |from: usize, to: usize| match () {
        () if execution.addr.contains(from, to) => Kind::Addr,
        () if execution.data.contains(from, to) => Kind::Data,
        () => Kind::Ctrl,
    };
    nearest.pairs().filter_map(|(from, to)| Some((step(from)?, step(to)?, kind(from, to)))).collect()
}

/// The model that is explored: without promises a program of the promising semantics is one of RC11.
fn entry(question: &Question<'_>) -> &'static Entry {
    match registry::find("rc11") {
        Some(rc11) if question.model.name == promising::MODEL => rc11,
        _ => question.model,
    }
}
