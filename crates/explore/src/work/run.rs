//! Runs an exploration: chooses the width of rows, starts workers, and starts over when the room for events was too
//! small (which the first execution shows, so little is lost).

use crate::findings::collect::{Collector, Question, Stats, Trace};
use crate::findings::judge::Finding;
use crate::models::armv8::Armv8;
use crate::models::clause::Clauses;
use crate::models::model::MemoryModel;
use crate::models::order::{GlobalOrder, Which};
use crate::models::power::Power;
use crate::models::rc11::{Rc11, Variant};
use crate::reductions::conflicts::Watching;
use crate::search::graph::Layout;
use crate::search::row::{Dense, RowForm, RowWidth, Sparse};
use crate::search::stack;
use crate::search::visit::{Explorer, Subject};
use crate::threads::Threads;
use crate::threads::coverage::Coverage;
use crate::threads::ir::Ir;
use crate::threads::lower::{Purpose, Unsupported};
use crate::work::cells::Cells;
use crate::work::control::{Control, Task};
use crate::work::found::Found;
use crate::work::item::{Item, Position};
use crate::work::limits::StopReason;
use crate::work::options::{ModelName, Options};
use crate::work::preparation::Preparation;
use crate::work::preparation::StartOver;
use crate::work::progress::Sample;
use crate::work::segments::{Ended, in_order};
use fencepost_ir::{Program, Value};

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
    /// What was reached, if all was explored at one go.
    pub coverage: Option<Coverage>,
}

/// Explores all executions of a program whose loops are bounded.
pub fn explore(program: &Program, options: &Options<'_>) -> Result<Exploration, Unsupported> {
    let twin = twin(options);
    let prepared = Preparation::new(program, twin.purpose(), options)?;
    explore_in(program, options, &*twin, prepared, false)
}

/// Explores all executions of native threads, whose sources `options.native` makes. Values must be there before what depends on
/// them is
/// done: models that commit events out of program order are refused.
pub fn explore_native(options: &Options<'_>) -> Result<Exploration, Unsupported> {
    if twin(options).purpose().dependencies || options.native.is_none() {
        let what = "native code under a model that executes events out of program order";
        return Err(Unsupported { what, span: fencepost_ir::Span::default() });
    }
    if options.model == ModelName::Pso {
        let what = "native code under PSO";
        return Err(Unsupported { what, span: fencepost_ir::Span::default() });
    }
    explore(&Program::default(), options)
}

/// Explores with the room that there is, and with more when that is too small; `moved`: on a stack for large explorations, if
/// there is memory for
/// one.
fn explore_in(
    program: &Program,
    options: &Options<'_>,
    twin: &dyn Twin,
    mut prepared: Preparation,
    moved: bool,
) -> Result<Exploration, Unsupported> {
    let mut jobs = options.jobs.max(1);
    // Narrower rows are worth one more execution.
    let mut fits = false;
    loop {
        if !moved && !stack::suits(prepared.events()) {
            // Once for all that follows: a new stack costs more than an attempt that turns out to need more room.
            return stack::suited(prepared.events(), || explore_in(program, options, twin, prepared, true));
        }
        if prepared.is_too_large() {
            return Ok(stopped(StopReason::TooManyEvents));
        }
        let measures = !fits && prepared.may_be_too_wide();
        match twin.attempt(&Run {
            prepared: &prepared,
            options,
            jobs: if measures { 1 } else { jobs },
            task: None,
            measures,
        }) {
            Ok(attempt) if measures => {
                fits = true;
                attempt.measured.iter().for_each(|measured| prepared.fit(measured));
            }
            // Workers have decided otherwise than one would have where cells are.
            Ok(attempt) if (attempt.cells.contradict() || attempt.lost) && jobs > 1 => {
                jobs = 1;
                options.restarted.iter().for_each(|restarted| restarted());
            }
            Ok(attempt) => {
                let whole = attempt.whole();
                let coverage = whole.stopped.is_none().then(|| Coverage::of(&prepared.code));
                return Ok(Exploration { coverage, ..whole });
            }
            Err(why) => {
                if let Some(restarted) = options.restarted {
                    restarted();
                }
                // Which reason comes up first is a matter of luck with several workers, and so would be where cells are.
                match why {
                    StartOver::Mixed { .. } if jobs > 1 && !measures => jobs = 1,
                    why => prepared.heed(program, options, why)?,
                }
            }
        }
    }
}

/// The twin of a model.
pub(crate) fn twin(options: &Options<'_>) -> Box<dyn Twin> {
    let clauses = Clauses::without(options.without, options.dependencies);
    let order = |which| Box::new(GlobalOrder { which, clauses });
    let c11 = |variant| Box::new(Rc11 { variant, clauses });
    match options.model {
        ModelName::Sc => order(Which::Sc),
        ModelName::Tso => order(Which::Tso),
        ModelName::Pso => order(Which::Pso),
        ModelName::Ra => c11(Variant::Ra),
        ModelName::Rc11 => c11(Variant::Rc11),
        ModelName::Rc20 => c11(Variant::Rc20),
        ModelName::Power => Box::new(Power { clauses, in_order: false }),
        ModelName::Armv8 => Box::new(Armv8 { clauses, in_order: false }),
    }
}

/// A memory model, whatever the form of its rows.
pub(crate) trait Twin: Sync {
    /// What it wants of the code.
    fn purpose(&self) -> Purpose;

    /// Explores with the room that there is; an error says what needs more.
    fn attempt(&self, run: &Run<'_>) -> Result<Attempt, StartOver>;
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

impl<M: AnyWidth> Twin for M {
    fn purpose(&self) -> Purpose {
        Purpose {
            out_of_order: <M as MemoryModel<Sparse>>::OUT_OF_ORDER,
            dependencies: <M as MemoryModel<Sparse>>::DEPENDENCIES,
            races: <M as MemoryModel<Sparse>>::RACES,
            pairs: true,
            exchanges_in_order: <M as MemoryModel<Sparse>>::EXCHANGES_IN_ORDER,
        }
    }

    fn attempt(&self, run: &Run<'_>) -> Result<Attempt, StartOver> {
        let layout = run.prepared.layout();
        // Each form is a copy of the whole engine: builds that are to be done soon make do with few (`build.rs`).
        let attempt = || match RowForm::for_events(layout.events()).max(run.options.rows) {
            #[cfg(all_forms)]
            RowForm::Words1 => run.attempt::<M, Dense<1>>(self, &layout),
            form if form <= RowForm::Words2 => run.attempt::<M, Dense<2>>(self, &layout),
            #[cfg(all_forms)]
            RowForm::Words4 => run.attempt::<M, Dense<4>>(self, &layout),
            #[cfg(all_forms)]
            RowForm::Words8 => run.attempt::<M, Dense<8>>(self, &layout),
            form if form <= RowForm::Words16 => run.attempt::<M, Dense<16>>(self, &layout),
            _ => run.attempt::<M, Sparse>(self, &layout),
        };
        stack::suited(layout.events(), attempt)
    }
}

fn stopped(reason: StopReason) -> Exploration {
    Exploration { stopped: Some(reason), ..Found::default().into() }
}

/// One attempt at an exploration, with the room that there is.
pub(crate) struct Run<'a> {
    pub prepared: &'a Preparation,
    pub options: &'a Options<'a>,
    pub jobs: usize,
    /// What is to be done, of a search that may pause; otherwise all.
    pub task: Option<&'a Task<'a>>,
    /// Whether it ends with the first execution, to see how many events that has.
    pub measures: bool,
}

/// What came of an attempt.
pub(crate) struct Attempt {
    /// What was found, by where each part begins.
    pub found: Vec<(Position, Found)>,
    /// What is left of a task.
    pub rests: Vec<Item>,
    /// An item was none of this search.
    pub lost: bool,
    /// How many visits there are at each step of the path, if that was asked.
    pub children: Vec<u32>,
    /// What was done to cells.
    pub watching: Watching,
    /// The cells that accesses have decided on.
    pub cells: Cells,
    pub stopped: Option<StopReason>,
    /// How many events the threads of the first execution have, if that was asked.
    pub measured: Option<Vec<usize>>,
}

impl Attempt {
    /// What was found in all, if nothing is left.
    fn whole(self) -> Exploration {
        let mut found = Found::default();
        for (_, part) in self.found {
            found.merge(part);
        }
        Exploration { stopped: self.stopped, ..found.into() }
    }
}

impl From<Found> for Exploration {
    fn from(found: Found) -> Exploration {
        let states = found.states.into_iter().map(|state| state.into_iter().map(Value).collect());
        Exploration {
            stats: found.stats,
            states: states.collect(),
            findings: found.findings.into_values().filter_map(|located| located.what).collect(),
            cuts: found.cuts.into_iter().collect(),
            witness: found.witness.and_then(|located| located.what),
            stopped: None,
            coverage: None,
        }
    }
}

impl Run<'_> {
    /// Explores with rows of a form; an error says what needs more room.
    fn attempt<M: MemoryModel<W> + Sync, W: RowWidth>(
        &self,
        model: &M,
        layout: &Layout,
    ) -> Result<Attempt, StartOver> {
        let Run { prepared, options, jobs, task, measures } = *self;
        let subject = Subject { code: &prepared.code, layout };
        let model = if prepared.code.out_of_order { model.clone() } else { model.clone().in_order() };
        let control = Control::new(
            layout.events(),
            jobs,
            (&options.limits, measures),
            (options.reductions, prepared.care.clone()),
            task,
        );
        let explorer = || {
            let collector = collector(&prepared.question, options);
            let memory = match task.and_then(|task| task.cells) {
                Some(cells) => prepared.memory.clone().knowing(cells),
                None => prepared.memory.clone(),
            };
            Explorer::new(
                &subject,
                Ir::new(&prepared.code, &prepared.forms, options.native),
                model.clone(),
                memory,
                &control,
                collector,
            )
        };
        let ended = if jobs == 1 && task.is_none() {
            let mut alone = explorer();
            let mut graph = alone.start();
            alone.visit(&mut graph);
            alone.progression.finish(alone.collector)
        } else {
            run_workers(&control, jobs, task.is_none(), &explorer)
        };
        if let Some(need) = control.caution.why() {
            return Err(need);
        }
        let found = ended.segments.into_iter().map(|s| (s.start, Found::of(s.collector, &s.base)));
        let found = found.filter(|(_, found)| !found.is_nothing());
        Ok(Attempt {
            found: in_order(found.collect()),
            rests: ended.rests,
            lost: ended.lost,
            children: ended.children,
            watching: control.caution.watching(),
            cells: control.caution.cells(),
            stopped: control.limits.stop_reason(),
            measured: control.limits.measured(),
        })
    }
}

/// A collector for one worker.
fn collector<'a>(question: &'a Question, options: &Options<'a>) -> Collector<'a> {
    let mut collector = Collector::new(question, options.visitor, options.stop_at_error);
    // Whoever watches, or limits the time, wants to know how much there is.
    let limits = &options.limits;
    collector.sample = (limits.progress.is_some() || limits.deadline.is_some()).then(Sample::default);
    collector
}

/// Several workers, or one, with what is in the queue; `whole`: that is nothing yet, and all is to be done.
fn run_workers<'a, T: Threads<M, W>, M: MemoryModel<W> + Sync, W: RowWidth>(
    control: &'a Control,
    jobs: usize,
    whole: bool,
    explorer: &(dyn Fn() -> Explorer<'a, T, M, W> + Sync),
) -> Ended<'a> {
    let work = |first: Option<Item>| {
        // A worker that panics must not leave the others waiting for it.
        let _leaves = control.queue.leaving();
        let mut explorer = explorer();
        if let Some(item) = first {
            explorer.visit_share(&item.into());
        }
        while let Some(share) = control.queue.take() {
            explorer.visit_share(&share);
        }
        explorer.note_cells();
        explorer.progression.finish(explorer.collector)
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs)
            .map(|_| {
                let large = std::thread::Builder::new().stack_size(stack::BYTES);
                large.spawn_scoped(scope, || stack::on_large(|| work(None)))
            })
            .filter_map(|spawned| spawned.inspect_err(|_| control.out_of_memory()).ok())
            .collect();
        let mut ended = work(whole.then(Item::whole));
        for other in others {
            match other.join() {
                Ok(other) => ended.add(other),
                // A worker that panicked has found a bug of ours: what it was to explore is not explored.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ended
    })
}
