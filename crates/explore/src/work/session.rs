//! An exploration in parts: items are explored one by one, anywhere, and pause when they are told to.

use crate::findings::collect::Stats;
use crate::reductions::conflicts::Watching;
use crate::threads::lower::Unsupported;
use crate::work::cells::Cells;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::control::Task;
use crate::work::found::Found;
use crate::work::item::{Binding, Handed, Hashed, Item, Position};
use crate::work::limits::StopReason;
use crate::work::options::Options;
use crate::work::preparation::StartOver;
use crate::work::preparation::{Preparation, read_reason, write_reason};
use crate::work::run::{Attempt, Run, Twin, twin};
use fencepost_ir::Program;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The build: version and a number for the sources of the explorer.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("FENCEPOST_SOURCES"));

/// The version of the binary form of needs.
const VERSION: u64 = 2;

/// How long it may take to make the room that somebody else says is needed.
const LONGEST_PREPARING: Duration = Duration::from_secs(60);

/// An exploration whose parts are asked for one by one.
pub struct Session<'p> {
    program: &'p Program,
    options: Options<'p>,
    twin: Box<dyn Twin>,
    prepared: Preparation,
    /// What program, model and options this is.
    run: Binding,
    binding: Binding,
}

/// When a part pauses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pause {
    /// At this time.
    pub at: Option<Instant>,
    /// After so many visits of a worker.
    pub nodes: Option<u64>,
}

/// What a part must know of the others.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// What was done to cells.
    pub(crate) watching: Watching,
    /// The first error, if that ends the search: nothing behind it matters.
    pub(crate) error: Option<Position>,
    /// The cells that the parts before have decided on, if one worker at a time explores: see `cells`.
    pub(crate) cells: Option<Arc<Cells>>,
    /// Counters, for whoever watches.
    pub(crate) stats: Stats,
}

/// What came of some items.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// What was found, by where each piece begins, in the order of the search.
    pub found: Vec<(Position, Found)>,
    /// What is left of them.
    pub rests: Vec<Item>,
    /// What was done to cells.
    pub(crate) watching: Watching,
    /// The cells that accesses have decided on, in this part and in those that it knew of.
    pub(crate) cells: Cells,
    /// A limit was hit.
    pub stopped: Option<StopReason>,
}

impl Part {
    /// What came of the rests of this part: they were `done`, and this is what is known now.
    pub fn add(&mut self, next: Part) {
        self.rests = next.rests;
        self.found.extend(next.found);
        self.found = crate::work::segments::in_order(std::mem::take(&mut self.found));
        // One worker did them one after the other, with nothing between.
        let mut found = std::mem::take(&mut self.found).into_iter();
        self.found = found.next().into_iter().collect();
        if let Some((_, first)) = self.found.first_mut() {
            found.for_each(|(_, other)| first.merge(other));
        }
        self.watching.merge(next.watching);
        self.cells.merge(&next.cells);
        self.stopped = next.stopped;
    }

    /// One of the rests, for somebody else; with all that is known about cells, if one worker at a time explores.
    pub fn hand(&self, item: &Item, alone: bool) -> Handed {
        Handed { item: item.clone(), cells: alone.then(|| Arc::new(self.cells.clone())) }
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        self.found.iter().for_each(|(_, found)| stats.add(&found.stats));
        stats
    }
}

/// Why there is nothing of some items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// There was too little room; all items of the run are void, and it starts over: see [`Session::heed`].
    StartOver(StartOver),
    /// There is no such place in this search.
    Lost,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::StartOver(_) => f.write_str("the exploration starts over with more room"),
            Broken::Lost => f.write_str("there is no such place in this exploration"),
        }
    }
}

impl std::error::Error for Broken {}

impl Others {
    /// An error was found there, and nothing behind it matters.
    pub fn with_error(error: Option<Position>) -> Others {
        Others { error, ..Others::default() }
    }

    /// The same for somebody to whom an item was handed.
    pub fn with_cells_of(self, handed: &Handed) -> Others {
        Others { cells: handed.cells.clone(), ..self }
    }
}

impl<'p> Session<'p> {
    /// For a program; of the options, the number of workers and the limits hold for each part.
    pub fn new(program: &'p Program, options: &Options<'p>) -> Result<Session<'p>, Unsupported> {
        let twin = twin(options);
        let prepared = Preparation::new(program, twin.purpose(), options)?;
        let mut hashed = Hashed::new(BUILD);
        hashed.add(format_args!("{program:?}"));
        options.hash_into(&mut hashed);
        let run = hashed.binding();
        let mut session = Session { program, options: *options, twin, prepared, run, binding: run };
        session.bind();
        Ok(session)
    }

    /// What the items of this session are bound to: the run, and the room that there is.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// What the run is, whatever room was needed.
    pub fn run_binding(&self) -> &Binding {
        &self.run
    }

    /// The options.
    pub fn options(&self) -> &Options<'p> {
        &self.options
    }

    /// The limits and the number of workers may be others from now on.
    pub fn set_limits(&mut self, options: &Options<'p>) {
        (self.options.limits, self.options.jobs) = (options.limits, options.jobs);
    }

    fn bind(&mut self) {
        let mut hashed = Hashed::new("");
        hashed.add(format_args!("{:?} {:?}", self.run, self.prepared.reasons));
        self.binding = hashed.binding();
    }

    /// Starts over with more prepared: items that were there are void.
    pub fn heed(&mut self, need: StartOver) -> Result<(), Unsupported> {
        self.prepared.heed(self.program, &self.options, need)?;
        self.bind();
        Ok(())
    }

    /// All that was needed, in bytes.
    pub fn reasons(&self) -> Vec<u8> {
        let mut writer = Writer::new(b"FPN1", VERSION);
        writer.bytes(&self.run);
        self.write_reasons(&mut writer);
        writer.finish()
    }

    pub(crate) fn write_reasons(&self, writer: &mut Writer) {
        writer.number(self.prepared.reasons.len() as u64);
        self.prepared.reasons.iter().for_each(|need| write_reason(need, writer));
    }

    /// Starts over with the room of another session of the same run.
    pub fn set_reasons(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut reader = Reader::new(bytes, b"FPN1", VERSION)?;
        if reader.bytes(self.run.len())? != self.run {
            return Err(DecodeError::OtherRun);
        }
        self.read_reasons(&mut reader)?;
        reader.end()
    }

    pub(crate) fn read_reasons(&mut self, reader: &mut Reader<'_>) -> Result<(), DecodeError> {
        let needs: Result<Vec<StartOver>, _> = (0..reader.count()?).map(|_| read_reason(reader)).collect();
        let fresh = Preparation::new(self.program, self.twin.purpose(), &self.options);
        let mut prepared = fresh.map_err(|_| DecodeError::Value)?;
        let start = Instant::now();
        for need in needs? {
            if !prepared.can_heed(&need) || start.elapsed() > LONGEST_PREPARING {
                return Err(DecodeError::Value);
            }
            prepared.heed(self.program, &self.options, need).map_err(|_| DecodeError::Value)?;
        }
        self.prepared = prepared;
        self.bind();
        Ok(())
    }

    /// Explores some items, until they are done or it is time to pause.
    pub fn explore(&self, items: &[Item], others: &Others, pause: Pause) -> Result<Part, Broken> {
        self.explore_with(items, others, pause, self.options.jobs.max(1))
    }

    /// The same with another number of workers.
    pub(crate) fn explore_with(
        &self,
        items: &[Item],
        others: &Others,
        pause: Pause,
        jobs: usize,
    ) -> Result<Part, Broken> {
        if self.prepared.is_too_large() {
            return Ok(Part {
                rests: items.to_vec(),
                stopped: Some(StopReason::TooManyEvents),
                ..Part::default()
            });
        }
        let attempt = self.attempt(items, others, pause, jobs, false)?;
        let Attempt { found, rests, watching, mut cells, stopped, .. } = attempt;
        others.cells.iter().for_each(|known| cells.merge(known));
        Ok(Part { found, rests, watching, cells, stopped })
    }

    fn attempt(
        &self,
        items: &[Item],
        others: &Others,
        pause: Pause,
        jobs: usize,
        surveys: bool,
    ) -> Result<Attempt, Broken> {
        let task = Task {
            items,
            pause_at: pause.at,
            pause_nodes: pause.nodes,
            watching: &others.watching,
            error: others.error.as_ref(),
            cells: others.cells.as_ref(),
            stats: &others.stats,
            surveys,
        };
        let run = Run {
            prepared: &self.prepared,
            options: &self.options,
            jobs,
            task: Some(&task),
            measures: false,
        };
        let attempt = self.twin.attempt(&run).map_err(Broken::StartOver)?;
        if attempt.lost { Err(Broken::Lost) } else { Ok(attempt) }
    }

    /// Takes up to `most` parts off an item that was interrupted, those nearest to its root, and leaves the rest.
    pub fn split(&self, item: &Item, most: usize) -> Result<(Item, Vec<Item>), Broken> {
        if item.root() == item.path().len() || most == 0 {
            return Ok((item.clone(), Vec::new()));
        }
        let attempt =
            self.attempt(std::slice::from_ref(item), &Others::default(), Pause::default(), 1, true)?;
        Ok(item.split(&attempt.children, most))
    }

    /// Goes to the executions of findings and of a witness that come from elsewhere, so that they can be shown.
    pub fn show(&self, found: &mut Found) -> Result<(), Broken> {
        // All cells that there were in the end lead to the same place: those that came later overlap none of those before.
        let others = Others { cells: found.cells.clone(), ..Others::default() };
        let visit = |at: &Position| -> Result<Found, Broken> {
            let item = Item::new(at.len(), at.clone()).ok_or(Broken::Lost)?;
            let part = self.explore_with(&[item], &others, Pause::default(), 1)?;
            let mut all = Found::default();
            part.found.into_iter().for_each(|(_, found)| all.merge(found));
            Ok(all)
        };
        for (key, finding) in &mut found.findings {
            if finding.what.is_none() {
                finding.what = visit(&finding.at)?.findings.remove(key).and_then(|found| found.what);
                if finding.what.is_none() {
                    return Err(Broken::Lost);
                }
            }
        }
        if let Some(witness) = found.witness.as_mut().filter(|witness| witness.what.is_none()) {
            witness.what = visit(&witness.at)?.witness.and_then(|found| found.what);
            if witness.what.is_none() {
                return Err(Broken::Lost);
            }
        }
        Ok(())
    }
}
