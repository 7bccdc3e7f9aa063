//! Runs an exploration: chooses the width of rows, starts workers, and starts over when the room for events was too
//! small (which the first execution shows, so little is lost).

use crate::code::{Code, FRAME, HIDDEN};
use crate::collect::{Collector, Question, Stats, Trace, Visitor};
use crate::control::{Caution, Control, Limits, Need, StopReason};
use crate::findings::Finding;
use crate::graph::Layout;
use crate::lower::{Unsupported, lower};
use crate::memory::{Layouts, Memory};
use crate::model::MemoryModel;
use crate::models::armv8::Armv8;
use crate::models::clause::{Clause, Clauses};
use crate::models::order::{GlobalOrder, Which};
use crate::models::power::Power;
use crate::models::rc11::{Rc11, Variant};
use crate::pieces::goes_in_pieces;
use crate::progress;
use crate::row::{Dense, RowForm, RowWidth, Sparse};
use crate::segments::in_order;
use crate::stack;
use crate::visit::{Explorer, Subject};
use fencepost_ir::{ObjectId, Program, Value};
use rustc_hash::FxHashSet;

/// The models that this engine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ModelName {
    Sc,
    Tso,
    Pso,
    Ra,
    Rc11,
    Rc20,
    Power,
    Armv8,
}

impl ModelName {
    /// All of them.
    pub const ALL: [ModelName; 8] = [
        ModelName::Sc,
        ModelName::Tso,
        ModelName::Pso,
        ModelName::Ra,
        ModelName::Rc11,
        ModelName::Rc20,
        ModelName::Power,
        ModelName::Armv8,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ModelName::Sc => "sc",
            ModelName::Tso => "tso",
            ModelName::Pso => "pso",
            ModelName::Ra => "ra",
            ModelName::Rc11 => "rc11",
            ModelName::Rc20 => "rc20",
            ModelName::Power => "power",
            ModelName::Armv8 => "armv8",
        }
    }

    /// The model of that name.
    pub fn from_name(name: &str) -> Option<ModelName> {
        ModelName::ALL.into_iter().find(|model| model.name() == name)
    }
}

/// Which iterations of loops are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Retries {
    /// Those that changed something (`docs/EXPLORATION.md`).
    #[default]
    Fold,
    /// All up to the bound: slower, and the same final states; threads that spin for ever are cut.
    All,
}

/// How to explore.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The memory model.
    pub model: ModelName,
    /// Number of workers.
    pub jobs: usize,
    /// Limits that end the exploration early.
    pub limits: Limits<'static>,
    /// Is shown every complete execution.
    pub visitor: Option<Visitor<'a>>,
    /// Is told when the exploration starts over with more room: the executions shown so far will come again.
    pub restarted: Option<&'a (dyn Fn() + Sync)>,
    /// Whether the first finding that is an error ends the exploration.
    pub stop_at_error: bool,
    /// The lock of the atomic sections, if `as_critical_sections` made them critical ones: accesses outside are looked for.
    pub section_lock: Option<ObjectId>,
    /// Whether reads that wait are added like all others: slower, and the same result; for tests.
    pub cautious: bool,
    /// Which iterations of loops are followed.
    pub retries: Retries,
    /// Whether dependencies order accesses (POWER, ARMv8). Values do not come out of thin air in either case.
    pub dependencies: bool,
    /// The least form of rows that is used: for tests, which compare the forms.
    pub rows: RowForm,
    /// A clause of the model that is not in force: for tests that show that a test notices.
    pub without: Option<Clause>,
}

impl Options<'_> {
    /// One worker, no limits.
    pub fn new(model: ModelName) -> Self {
        let limits = Limits::default();
        Options {
            model,
            jobs: 1,
            limits,
            visitor: None,
            restarted: None,
            stop_at_error: false,
            section_lock: None,
            dependencies: true,
            cautious: false,
            retries: Retries::default(),
            rows: RowForm::Words1,
            without: None,
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Counters.
    pub stats: Stats,
    /// Final states: the values of `FinalCondition::observed`, sorted.
    pub states: Vec<Vec<Value>>,
    /// What is wrong with the program, each kind and place once.
    pub findings: Vec<Finding>,
    /// The loops that the unroll bound cut, as functions and instructions.
    pub cuts: Vec<(u32, u32)>,
    /// An execution that satisfies the final condition.
    pub witness: Option<Trace>,
    /// Why the exploration ended early, if it did.
    pub stopped: Option<StopReason>,
}

/// Explores all executions of a program whose loops are bounded.
pub fn explore(program: &Program, options: &Options<'_>) -> Result<Exploration, Unsupported> {
    let clauses = Clauses::without(options.without, options.dependencies);
    let order = |which| GlobalOrder { which, clauses };
    let c11 = |variant| Rc11 { variant, clauses };
    match options.model {
        ModelName::Sc => explore_model(program, order(Which::Sc), options),
        ModelName::Tso => explore_model(program, order(Which::Tso), options),
        ModelName::Pso => explore_model(program, order(Which::Pso), options),
        ModelName::Ra => explore_model(program, c11(Variant::Ra), options),
        ModelName::Rc11 => explore_model(program, c11(Variant::Rc11), options),
        ModelName::Rc20 => explore_model(program, c11(Variant::Rc20), options),
        ModelName::Power => explore_model(program, Power { clauses }, options),
        ModelName::Armv8 => explore_model(program, Armv8 { clauses }, options),
    }
}

/// A model for rows of every form.
trait AnyWidth:
    MemoryModel<Dense<1>>
    + MemoryModel<Dense<2>>
    + MemoryModel<Dense<4>>
    + MemoryModel<Dense<8>>
    + MemoryModel<Dense<16>>
    + MemoryModel<Sparse>
    + Sync
{
}

impl<M> AnyWidth for M where
    M: MemoryModel<Dense<1>>
        + MemoryModel<Dense<2>>
        + MemoryModel<Dense<4>>
        + MemoryModel<Dense<8>>
        + MemoryModel<Dense<16>>
        + MemoryModel<Sparse>
        + Sync
{
}

fn explore_model<M: AnyWidth>(
    program: &Program,
    model: M,
    options: &Options<'_>,
) -> Result<Exploration, Unsupported> {
    let (out_of_order, races) = (<M as MemoryModel<Sparse>>::OUT_OF_ORDER, <M as MemoryModel<Sparse>>::RACES);
    let (mut mixed, mut layouts) = (FxHashSet::default(), Layouts::default());
    let mut code = lower(program, out_of_order, races, &mixed)?;
    code.section_lock = options.section_lock;
    let mut memory = Memory::new(program, &layouts);
    let mut question = Question::new(program, &mut memory);
    let first_frame = |f: &u32| code.functions[*f as usize].frame as usize;
    let mut stride: Vec<usize> = code.threads.iter().map(|(f, _)| HIDDEN + first_frame(f)).collect();
    let mut capacity: Vec<usize> = code.threads.iter().map(|(f, _)| events_of(&code, *f)).collect();
    let mut spawned = Vec::new();
    let mut caution = if options.cautious { Caution::All } else { Caution::Cells(FxHashSet::default()) };
    let mut jobs = options.jobs.max(1);
    loop {
        let layout = Layout::new(&capacity, &stride, spawned.clone());
        let subject = Subject { code: &code, layout: &layout };
        if layout.events() > MAX_EVENTS {
            return Ok(stopped(StopReason::TooManyEvents));
        }
        let form = RowForm::for_events(layout.events()).max(options.rows);
        let (memory_now, asked) = (&memory, &question);
        let run =
            Run { subject: &subject, memory: memory_now, question: asked, options, caution: &caution, jobs };
        // Each form is a copy of the whole engine. Debug builds make do with few, unless they are asked for all.
        let attempt = || match form {
            #[cfg(any(not(debug_assertions), feature = "forms"))]
            RowForm::Words1 => run.attempt::<M, Dense<1>>(&model),
            form if form <= RowForm::Words2 => run.attempt::<M, Dense<2>>(&model),
            #[cfg(any(not(debug_assertions), feature = "forms"))]
            RowForm::Words4 => run.attempt::<M, Dense<4>>(&model),
            #[cfg(any(not(debug_assertions), feature = "forms"))]
            RowForm::Words8 => run.attempt::<M, Dense<8>>(&model),
            form if form <= RowForm::Words16 => run.attempt::<M, Dense<16>>(&model),
            _ => run.attempt::<M, Sparse>(&model),
        };
        let Some(attempt) = stack::suited(layout.events(), attempt) else {
            return Ok(stopped(StopReason::MaxMemory));
        };
        if attempt.is_err()
            && let Some(restarted) = options.restarted
        {
            restarted();
        }
        match attempt {
            Ok(exploration) => return Ok(exploration),
            Err(Need::Events(thread)) => capacity[thread] += capacity[thread] / 2 + 4,
            Err(Need::Caution(cell)) => {
                if let Caution::Cells(cells) = &mut caution {
                    cells.insert(cell);
                }
            }
            // Which need is met first is a matter of luck with several workers, and so would be where cells are.
            Err(Need::Mixed { .. }) if jobs > 1 => jobs = 1,
            Err(Need::Mixed { at, place }) => {
                match place {
                    // Objects that are made at run time get other numbers now.
                    None => {
                        mixed.insert(at);
                        layouts = Layouts::default();
                    }
                    Some((object, offset, width)) => {
                        if !goes_in_pieces(program, at) || !mixed.insert(at) {
                            layouts.ask(object, offset, width);
                        }
                    }
                }
                code = lower(program, out_of_order, races, &mixed)?;
                code.section_lock = options.section_lock;
                memory = Memory::new(program, &layouts);
                question = Question::new(program, &mut memory);
            }
            Err(Need::Registers(thread)) => stride[thread] += stride[thread] / 4 + 2,
            Err(Need::Thread(parent, number)) => {
                spawned.push((parent, number));
                capacity.push(4);
                stride.push(HIDDEN + FRAME + 4);
            }
        }
    }
}

/// How many events a run of the function's own code has at most, if it has no loops and calls nothing.
fn events_of(code: &Code, function: u32) -> usize {
    let first = code.functions[function as usize].entry as usize;
    let end = code.functions.get(function as usize + 1).map_or(code.ops.len(), |f| f.entry as usize);
    code.ops[first..end].iter().filter(|op| op.is_event()).count()
}

/// Events that an execution may have at most.
const MAX_EVENTS: usize = 1_000_000;

fn stopped(reason: StopReason) -> Exploration {
    Exploration {
        stats: Stats::default(),
        states: Vec::new(),
        findings: Vec::new(),
        cuts: Vec::new(),
        witness: None,
        stopped: Some(reason),
    }
}

/// One attempt at an exploration, with the room that there is.
struct Run<'a> {
    subject: &'a Subject<'a>,
    memory: &'a Memory,
    question: &'a Question,
    options: &'a Options<'a>,
    caution: &'a Caution,
    jobs: usize,
}

impl Run<'_> {
    /// Explores with rows of a form; an error says what needs more room.
    fn attempt<M: MemoryModel<W> + Sync, W: RowWidth>(&self, model: &M) -> Result<Exploration, Need> {
        let Run { subject, memory, question, options, caution, jobs } = *self;
        let control = Control::new(jobs, &options.limits, caution.clone(), options.retries == Retries::All);
        let mut first =
            Explorer::new(subject, model.clone(), memory.clone(), &control, collector(question, options));
        let mut graph = first.start();
        let collector = if jobs == 1 {
            first.visit(&mut graph);
            first.collector
        } else {
            run_workers(subject, question, options, &control, first, graph)
        };
        if let Some(need) = control.overflowed() {
            return Err(need);
        }
        let (stats, witness) = (collector.stats, collector.witness.clone());
        let findings = collector.findings.values().cloned().collect();
        let cuts = collector.cuts.iter().copied().collect();
        Ok(Exploration {
            stats,
            states: collector.into_states(),
            findings,
            cuts,
            witness,
            stopped: control.stop_reason(),
        })
    }
}

/// A collector for one worker.
fn collector<'a>(question: &'a Question, options: &Options<'a>) -> Collector<'a> {
    let mut collector = Collector::new(question, options.visitor, options.stop_at_error);
    collector.sample = options.limits.progress.map(|_| progress::SAMPLE);
    collector
}

fn run_workers<'a, M: MemoryModel<W> + Sync, W: RowWidth>(
    subject: &'a Subject<'a>,
    question: &'a Question,
    options: &Options<'a>,
    control: &'a Control<M, W>,
    mut first: Explorer<'a, M, W>,
    mut graph: crate::graph::Graph<M, W>,
) -> Collector<'a> {
    let work = |mut explorer: Explorer<'a, M, W>| {
        explorer.moved();
        while let Some((mut graph, trie, memory, giver)) = control.take() {
            if control.is_behind_error(&giver) {
                continue;
            }
            explorer.take_over(&graph, trie, memory, giver);
            explorer.check(&graph, "work that was handed over");
            explorer.visit(&mut graph);
        }
        explorer.progression.finish(explorer.collector)
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..options.jobs)
            .map(|_| {
                let collector = collector(question, options);
                let explorer =
                    Explorer::new(subject, first.model.clone(), first.memory.clone(), control, collector);
                let large = std::thread::Builder::new().stack_size(stack::BYTES);
                large.spawn_scoped(scope, move || stack::on_large(|| work(explorer)))
            })
            .filter_map(|spawned| spawned.inspect_err(|_| control.out_of_memory()).ok())
            .collect();
        first.visit(&mut graph);
        let mut segments = work(first);
        for other in others {
            match other.join() {
                Ok(found) => segments.extend(found),
                // A worker that panicked has found a bug of ours: what it was to explore is not explored.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        in_order(segments, collector(question, options))
    })
}
