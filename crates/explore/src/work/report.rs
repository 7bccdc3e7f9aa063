//! What came of an item, in bytes: what was found, what is left; or that nothing came of it, and why.

use crate::reductions::conflicts::Watching;
use crate::work::cells::Cells;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::found::Found;
use crate::work::item::{Binding, Item};
use crate::work::limits::StopReason;
use crate::work::preparation::StartOver;
use crate::work::preparation::{read_reason, write_reason};
use crate::work::session::Part;

/// The version of the binary form.
const VERSION: u64 = 3;

/// Most bytes of a message.
const LONGEST: usize = 2_000;

/// What came of an item. Mostly that is a part, and there is one report at a time.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Report {
    /// What was found, and what is left.
    Part(Part),
    /// There was too little room, and the run starts over.
    StartOver(StartOver),
    /// It was given up, with a message.
    Failed(String),
    /// There is no such place, as far as is known about cells: see `cells`.
    Lost,
}

const LIMITS: [StopReason; 7] = [
    StopReason::Timeout,
    StopReason::MaxExecutions,
    StopReason::MaxNodes,
    StopReason::MaxMemory,
    StopReason::MaxStates,
    StopReason::Interrupted,
    StopReason::TooManyEvents,
];

impl Report {
    /// The report in bytes.
    pub fn encode(&self, binding: &Binding) -> Vec<u8> {
        let mut writer = Writer::new(b"FPR1", VERSION);
        writer.bytes(binding);
        match self {
            Report::Part(part) => {
                writer.number(0);
                writer.number(part.rests.len() as u64);
                part.rests.iter().for_each(|item| item.write(&mut writer));
                writer.number(part.found.len() as u64);
                for (start, found) in &part.found {
                    writer.path(start);
                    found.write(&mut writer);
                }
                part.watching.write(&mut writer);
                part.cells.write(&mut writer);
                let limit = part.stopped.and_then(|limit| LIMITS.iter().position(|&other| other == limit));
                writer.number(limit.map_or(0, |at| at as u64 + 1));
            }
            Report::StartOver(need) => {
                writer.number(1);
                write_reason(need, &mut writer);
            }
            Report::Lost => writer.number(3),
            Report::Failed(message) => {
                writer.number(2);
                let mut end = message.len().min(LONGEST);
                while !message.is_char_boundary(end) {
                    end -= 1;
                }
                writer.number(end as u64);
                writer.bytes(&message.as_bytes()[..end]);
            }
        }
        writer.finish()
    }

    /// A report about an item of that run, from bytes that may come from anywhere.
    pub fn decode(bytes: &[u8], binding: &Binding) -> Result<Report, DecodeError> {
        let mut reader = Reader::new(bytes, b"FPR1", VERSION)?;
        if reader.bytes(binding.len())? != binding {
            return Err(DecodeError::OtherRun);
        }
        let report = match reader.number()? {
            0 => Report::Part(read_part(&mut reader)?),
            1 => Report::StartOver(read_reason(&mut reader)?),
            2 => {
                let length = reader.count()?;
                let text = std::str::from_utf8(reader.bytes(length)?).map_err(|_| DecodeError::Value)?;
                Report::Failed(text.into())
            }
            3 => Report::Lost,
            _ => return Err(DecodeError::Value),
        };
        reader.end()?;
        Ok(report)
    }
}

fn read_part(reader: &mut Reader<'_>) -> Result<Part, DecodeError> {
    let mut part = Part::default();
    for _ in 0..reader.count()? {
        part.rests.push(Item::read(reader)?);
    }
    for _ in 0..reader.count()? {
        part.found.push((reader.path()?, Found::read(reader)?));
    }
    part.watching = Watching::read(reader)?;
    part.cells = Cells::read(reader)?;
    part.stopped = match reader.small::<usize>()? {
        0 => None,
        at => Some(*LIMITS.get(at - 1).ok_or(DecodeError::Value)?),
    };
    Ok(part)
}
