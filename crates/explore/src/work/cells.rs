//! Where cells lie that only accesses decide: those of unions and of memory that is made at run time (`memory.rs`).
//!
//! The first access of the *search* decides, not that of an execution. Whoever goes on with a search from a place, without having
//! seen
//! what came before, may decide otherwise; then the events of an execution are others, and so are the places of the search. Two
//! things
//! make the answer that of one worker all the same:
//!
//! - every part of a search says which cells it has met. Cells of two parts that overlap without being the same *contradict* each
//!   other; without a contradiction all parts have decided alike, and with one the search starts over with one worker at a time;
//! - one worker at a time begins each part with the cells of all parts before it, which is what it would know if it had not
//!   stopped.

use crate::threads::memory::{Identity, Storage};
use crate::work::codec::{DecodeError, Reader, Writer};
use fencepost_ir::Width;
use std::collections::BTreeMap;

/// An object, in words that mean the same in every part of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A declared one.
    Global(u32),
    /// One that is made at run time.
    Made(Identity),
}

/// Cells that accesses have decided on, by object and offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    met: BTreeMap<Owner, BTreeMap<u32, Width>>,
    contradict: bool,
}

const WIDTHS: [Width; 5] = [Width::W8, Width::W16, Width::W32, Width::W64, Width::W128];
const STORAGES: [Storage; 4] = [Storage::Global, Storage::Heap, Storage::Local, Storage::ThreadLocal];

impl Cells {
    /// Whether some of them overlap others.
    pub fn contradict(&self) -> bool {
        self.contradict
    }

    /// The cells of an object.
    pub fn of(&self, owner: Owner) -> impl Iterator<Item = (u32, Width)> + '_ {
        self.met.get(&owner).into_iter().flatten().map(|(&offset, &width)| (offset, width))
    }

    /// Adds a cell.
    pub fn add(&mut self, owner: Owner, offset: u32, width: Width) {
        let cells = self.met.entry(owner).or_default();
        let end = |offset: u32, width: Width| u64::from(offset) + u64::from(width.bytes());
        let before = cells.range(..=offset).next_back();
        let after = cells.range(offset..).next();
        let same = |(&at, &other): (&u32, &Width)| (at, other) == (offset, width);
        if before.is_some_and(same) {
            return;
        }
        self.contradict |= before.is_some_and(|(&at, &other)| end(at, other) > u64::from(offset))
            || after.is_some_and(|(&at, _)| u64::from(at) < end(offset, width));
        cells.entry(offset).or_insert(width);
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: &Cells) {
        for (&owner, cells) in &other.met {
            cells.iter().for_each(|(&offset, &width)| self.add(owner, offset, width));
        }
        self.contradict |= other.contradict;
    }

    pub fn write(&self, writer: &mut Writer) {
        writer.number(self.contradict.into());
        writer.number(self.met.len() as u64);
        for (owner, cells) in &self.met {
            match *owner {
                Owner::Global(number) => [0, number.into()].map(|number| writer.number(number)).len(),
                Owner::Made(Identity { thread, number, site, size, storage }) => {
                    let storage = STORAGES.iter().position(|&s| s == storage).unwrap_or_default() as u64;
                    let numbers = [1 + storage, thread.into(), number.into(), site.into(), size.into()];
                    numbers.map(|number| writer.number(number)).len()
                }
            };
            writer.number(cells.len() as u64);
            for (&offset, &width) in cells {
                let width = WIDTHS.iter().position(|&w| w == width).unwrap_or_default() as u64;
                writer.number(u64::from(offset) << 3 | width);
            }
        }
    }

    pub fn read(reader: &mut Reader<'_>) -> Result<Cells, DecodeError> {
        let mut cells = Cells { contradict: reader.number()? != 0, ..Cells::default() };
        for _ in 0..reader.count()? {
            let owner = match reader.small::<usize>()? {
                0 => Owner::Global(reader.small()?),
                kind => Owner::Made(Identity {
                    storage: *STORAGES.get(kind - 1).ok_or(DecodeError::Value)?,
                    thread: reader.small()?,
                    number: reader.small()?,
                    site: reader.small()?,
                    size: reader.small()?,
                }),
            };
            for _ in 0..reader.count()? {
                let number = reader.number()?;
                let offset = u32::try_from(number >> 3).map_err(|_| DecodeError::Value)?;
                cells.add(owner, offset, *WIDTHS.get((number & 7) as usize).ok_or(DecodeError::Value)?);
            }
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_contradicts_unless_it_is_the_same() {
        let owner = Owner::Global(3);
        let with = |cells: &[(u32, Width)]| {
            let mut all = Cells::default();
            cells.iter().for_each(|&(offset, width)| all.add(owner, offset, width));
            all
        };
        let (word, half) = ((0, Width::W32), (2, Width::W16));
        assert!(!with(&[word, (4, Width::W32), word]).contradict());
        for pair in [[word, half], [half, word], [word, (0, Width::W8)], [(1, Width::W8), word]] {
            assert!(with(&pair).contradict(), "{pair:?}");
        }
        let mut all = with(&[word]);
        all.merge(&with(&[half]));
        assert!(all.contradict());
        let mut writer = Writer::new(b"TEST", 1);
        all.write(&mut writer);
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes, b"TEST", 1).expect("it is one");
        let again = Cells::read(&mut reader).expect("it is written");
        assert!(again.contradict() && again.of(owner).eq(all.of(owner)));
    }
}
