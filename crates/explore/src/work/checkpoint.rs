//! An exploration that can be interrupted and taken up again, by this process or another.
//!
//! From time to time all workers pause and say where they are; what is left, what was found and what room was needed is written
//! down, and they go back to where they were. The search itself knows nothing of files.

use crate::threads::lower::Unsupported;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::ledger::Ledger;
use crate::work::options::Options;
use crate::work::preparation::StartOver;
use crate::work::run::Exploration;
use crate::work::session::{Broken, Pause, Session};
use fencepost_ir::Program;
use std::time::{Duration, Instant};

/// The version of the binary form.
const VERSION: u64 = 3;

/// An exploration at some moment.
#[derive(Clone, Debug, Default)]
struct Checkpoint {
    ledger: Ledger,
    /// Where cells lie must be found out by one worker at a time.
    alone: bool,
    /// How long it has taken so far.
    spent: Duration,
}

impl Checkpoint {
    /// The beginning of a search in which each part knows the cells of those before it.
    fn one_at_a_time(spent: Duration) -> Checkpoint {
        Checkpoint { alone: true, spent, ..Checkpoint::default() }
    }

    fn encode(&self, session: &Session<'_>) -> Vec<u8> {
        let mut writer = Writer::new(b"FPC1", VERSION);
        writer.bytes(session.run_binding());
        session.write_reasons(&mut writer);
        writer.number(self.alone.into());
        writer.number(self.spent.as_millis() as u64);
        self.ledger.write(&mut writer);
        writer.finish()
    }

    fn decode(bytes: &[u8], session: &mut Session<'_>) -> Result<Checkpoint, DecodeError> {
        let mut reader = Reader::new(bytes, b"FPC1", VERSION)?;
        let run = *session.run_binding();
        if reader.bytes(run.len())? != run {
            return Err(DecodeError::OtherRun);
        }
        session.read_reasons(&mut reader)?;
        let alone = reader.number()? != 0;
        let spent = Duration::from_millis(reader.number()?);
        let ledger = Ledger::read(&mut reader)?;
        reader.end()?;
        Ok(Checkpoint { ledger, alone, spent })
    }
}

/// When to write, and how.
pub struct Keeping<'a> {
    /// The checkpoint to go on from.
    pub resume: Option<&'a [u8]>,
    /// When workers pause.
    pub every: Every,
    /// Keeps a checkpoint; an error ends the exploration.
    pub keep: &'a mut dyn FnMut(&[u8]) -> Result<(), String>,
}

/// How often workers pause.
#[derive(Clone, Copy, Debug)]
pub enum Every {
    /// After so much time.
    Time(Duration),
    /// After so many visits: for tests.
    Nodes(u64),
}

/// Why an exploration could not be taken up or kept.
#[derive(Debug)]
pub enum NotKept {
    /// The program has something that cannot be explored.
    Unsupported(Unsupported),
    /// The checkpoint is none of this exploration.
    Decode(DecodeError),
    /// A place in it does not exist.
    Lost,
    /// It could not be written.
    Write(String),
}

impl From<Unsupported> for NotKept {
    fn from(unsupported: Unsupported) -> NotKept {
        NotKept::Unsupported(unsupported)
    }
}

/// Explores all executions of a program whose loops are bounded, and keeps what is left from time to time, when a limit is hit,
/// and
/// at the end. The answer is that of [`crate::explore`], however often it was interrupted.
pub fn explore_keeping(
    program: &Program,
    options: &Options<'_>,
    keeping: &mut Keeping<'_>,
) -> Result<Exploration, NotKept> {
    let mut session = Session::new(program, options)?;
    let mut state = match keeping.resume {
        Some(bytes) => Checkpoint::decode(bytes, &mut session).map_err(NotKept::Decode)?,
        None => Checkpoint::default(),
    };
    // Whether that can be done is better known now than later.
    (keeping.keep)(&state.encode(&session)).map_err(NotKept::Write)?;
    let mut stopped = None;
    while !state.ledger.is_complete() && stopped.is_none() {
        let start = Instant::now();
        let pause = match keeping.every {
            Every::Time(time) => Pause { at: start.checked_add(time), nodes: None },
            Every::Nodes(nodes) => Pause { at: None, nodes: Some(nodes) },
        };
        let jobs = if state.alone { 1 } else { options.jobs.max(1) };
        session.set_limits(&left(options, &state));
        let items = state.ledger.items().to_vec();
        let others = if state.alone { state.ledger.others_before() } else { state.ledger.others() };
        match session.explore_with(&items, &others, pause, jobs) {
            Ok(part) => {
                stopped = part.stopped;
                state.ledger.add(&items, part);
                if state.ledger.contradicts() && !state.alone {
                    stopped = None;
                    state = Checkpoint::one_at_a_time(state.spent);
                }
            }
            // Which need is met first is a matter of where workers begin, and so would be where cells are.
            Err(Broken::StartOver(StartOver::Mixed { .. }) | Broken::Lost) if !state.alone => {
                state = Checkpoint::one_at_a_time(state.spent);
            }
            Err(Broken::StartOver(need)) => {
                session.heed(need)?;
                state = Checkpoint { alone: state.alone, spent: state.spent, ..Checkpoint::default() };
            }
            Err(Broken::Lost) => return Err(NotKept::Lost),
        }
        state.spent += start.elapsed();
        (keeping.keep)(&state.encode(&session)).map_err(NotKept::Write)?;
    }
    let mut found = state.ledger.found();
    session.set_limits(&Options { limits: Default::default(), ..*options });
    session.show(&mut found).map_err(|_| NotKept::Lost)?;
    Ok(Exploration { stopped, ..found.into() })
}

/// The options for what is left: executions that were found are some of those that may be.
fn left<'a>(options: &Options<'a>, state: &Checkpoint) -> Options<'a> {
    let mut left = *options;
    if let Some(most) = &mut left.limits.max_executions {
        *most = most.saturating_sub(state.ledger.others().stats.executions);
    }
    left
}
