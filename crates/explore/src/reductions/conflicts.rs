//! Why a read that is left out cannot hide a race: who has accessed its cell, and when the search starts over for it.
//!
//! Two kinds of reads are missing from the executions that are explored: those of threads that wait (`sleep.rs`), and those of
//! iterations and tries that were left out (`idle.rs`, `retry.rs`). A read that is not there cannot race, nor come too
//! late
//! for the life of its object; nor can it read what could be written before it is committed, where the model has that. So
//! it is noted which cells such reads are of, and what other threads do to these; if the two could mean something together, the
//! exploration starts over, and is careful with that cell from then on.
//!
//! Cells are named in words that mean the same to every worker, so that parts of a search that are explored elsewhere can be put
//! together.

use crate::threads::memory::ObjectKey;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::preparation::StartOver;
use rustc_hash::FxHashMap;

/// A cell: its object, and where it lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// The object.
    pub object: ObjectKey,
    /// The offset.
    pub offset: u32,
}

/// In place of an offset: the whole object.
const WHOLE: u32 = u32::MAX;

impl CellKey {
    /// All of an object.
    pub fn whole(object: ObjectKey) -> CellKey {
        CellKey { object, offset: WHOLE }
    }

    /// Everything that a thread makes and that ends with it.
    pub fn all_of(thread: u16) -> CellKey {
        CellKey::whole(ObjectKey::Made(thread, u32::MAX))
    }
}

/// What is done to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A thread waits for a value, and what it read is not added.
    Waits,
    /// The same with an exchange, whose write is not added either.
    WaitsWriting,
    /// An atomic read was left out.
    Forgets,
    /// A read was left out that any write could be in conflict with.
    ForgetsPlain,
    /// A write was left out that wrote what was there.
    ForgetsWriting,
    /// An access was left out that must be over when its object ends.
    ForgetsUse,
    /// A read was left out that later writes of its thread need not wait for. Here and in the next three the thread is that of
    /// the read.
    ForgetsLoose,
    /// A read was left out that all later writes of its thread wait for.
    ForgetsSure,
    /// A write that comes after a write of the thread.
    Late,
    /// A write that comes after a write of the thread, but need not wait for it.
    LateLoose,
    /// A read that is not atomic.
    PlainReads,
    /// A write that is not atomic.
    PlainWrites,
    /// Any other write, where that matters.
    OtherWrites,
    /// The life of the object ends.
    Ends,
    /// A write was left out to an object that nobody had seen, which its thread made.
    ForgetsUnseen,
    /// A read by a thread that may not know what the maker of the object last wrote before it showed it.
    ReadsUnseen,
}

/// How many kinds there are.
pub const KINDS: usize = 16;

/// What is done about two things that could be a finding together.
#[derive(Clone, Copy)]
enum Care {
    /// Reads of the cell do not wait.
    Caution,
    /// Iterations that read the cell are not left out at once.
    Keep,
}

/// Whose doing it must be.
#[derive(Clone, Copy)]
enum By {
    Two,
    One,
}

/// What could mean something together.
const CONFLICTS: [(Watched, Watched, By, Care); 12] = [
    (Watched::Waits, Watched::PlainWrites, By::Two, Care::Caution),
    (Watched::WaitsWriting, Watched::PlainWrites, By::Two, Care::Caution),
    (Watched::WaitsWriting, Watched::PlainReads, By::Two, Care::Caution),
    (Watched::Forgets, Watched::PlainWrites, By::Two, Care::Keep),
    (Watched::ForgetsPlain, Watched::PlainWrites, By::Two, Care::Keep),
    (Watched::ForgetsPlain, Watched::OtherWrites, By::Two, Care::Keep),
    (Watched::ForgetsWriting, Watched::PlainWrites, By::Two, Care::Keep),
    (Watched::ForgetsWriting, Watched::PlainReads, By::Two, Care::Keep),
    (Watched::ForgetsUse, Watched::Ends, By::Two, Care::Keep),
    (Watched::ForgetsUnseen, Watched::ReadsUnseen, By::Two, Care::Keep),
    (Watched::ForgetsLoose, Watched::Late, By::One, Care::Keep),
    (Watched::ForgetsSure, Watched::LateLoose, By::One, Care::Keep),
];

/// Threads, a bit each; the last bit is for all that have no bit of their own.
pub type Who = u64;

/// A thread.
pub fn who(thread: usize) -> Who {
    1 << thread.min(SHARED)
}

/// The bit that threads share.
const SHARED: usize = 63;

impl By {
    /// Whether it may be so of what these did.
    fn fits(self, a: Who, b: Who) -> bool {
        match self {
            By::Two => (a | b).count_ones() > 1 || a | b == 1 << SHARED,
            By::One => a & b != 0,
        }
    }
}

fn need(care: Care, cell: CellKey) -> StartOver {
    match care {
        Care::Caution => StartOver::Caution(cell),
        Care::Keep => StartOver::Keep(cell),
    }
}

/// What was done to which cells by whom.
#[derive(Clone, Debug, Default)]
pub struct Watching([FxHashMap<CellKey, Who>; KINDS]);

impl Watching {
    /// Notes what a thread does to a cell. What is needed if that could mean something, with what others did.
    pub fn note(&mut self, cell: CellKey, what: Watched, by: Who) -> Option<StartOver> {
        *self.0[what as usize].entry(cell).or_default() |= by;
        CONFLICTS.iter().find_map(|&(a, b, whose, care)| {
            let other = if a == what {
                b
            } else if b == what {
                a
            } else {
                return None;
            };
            let others = *self.0[other as usize].get(&cell)?;
            whose.fits(others, by).then_some(need(care, cell))
        })
    }

    /// Adds what was noted elsewhere.
    pub fn merge(&mut self, other: Watching) {
        for (all, own) in self.0.iter_mut().zip(other.0) {
            for (cell, by) in own {
                *all.entry(cell).or_default() |= by;
            }
        }
    }

    /// What only all that was noted together shows to be needed.
    pub fn need(&self) -> Option<StartOver> {
        CONFLICTS.iter().find_map(|&(a, b, whose, care)| {
            let others = &self.0[b as usize];
            let both = self.0[a as usize]
                .iter()
                .filter(|(cell, by)| others.get(cell).is_some_and(|&other| whose.fits(**by, other)));
            both.map(|(cell, _)| *cell).min().map(|cell| need(care, cell))
        })
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        for cells in &self.0 {
            writer.number(cells.len() as u64);
            let mut cells: Vec<_> = cells.iter().collect();
            cells.sort();
            for (cell, by) in cells {
                write_cell(cell, writer);
                writer.number(*by);
            }
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Watching, DecodeError> {
        let mut watching = Watching::default();
        for cells in &mut watching.0 {
            for _ in 0..reader.count()? {
                let cell = read_cell(reader)?;
                cells.insert(cell, reader.number()?);
            }
        }
        Ok(watching)
    }
}

/// Writes a cell.
pub(crate) fn write_cell(cell: &CellKey, writer: &mut Writer) {
    write_object(cell.object, writer);
    writer.number(cell.offset.into());
}

/// Reads a cell.
pub(crate) fn read_cell(reader: &mut Reader<'_>) -> Result<CellKey, DecodeError> {
    Ok(CellKey { object: read_object(reader)?, offset: reader.small()? })
}

/// Writes the name of an object.
fn write_object(object: ObjectKey, writer: &mut Writer) {
    let (kind, first, second) = match object {
        ObjectKey::Global(number) => (0, number, 0),
        ObjectKey::Made(thread, number) => (1, thread.into(), number),
        ObjectKey::ThreadLocal(thread, number) => (2, thread.into(), number),
    };
    [kind, first, second].iter().for_each(|&number: &u32| writer.number(number.into()));
}

/// Reads the name of an object.
fn read_object(reader: &mut Reader<'_>) -> Result<ObjectKey, DecodeError> {
    let kind = reader.number()?;
    let (first, second): (u32, u32) = (reader.small()?, reader.small()?);
    let thread = u16::try_from(first);
    Ok(match (kind, thread) {
        (0, _) => ObjectKey::Global(first),
        (1, Ok(thread)) => ObjectKey::Made(thread, second),
        (2, Ok(thread)) => ObjectKey::ThreadLocal(thread, second),
        _ => return Err(DecodeError::Value),
    })
}
