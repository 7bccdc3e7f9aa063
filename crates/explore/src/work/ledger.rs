//! What is known of an exploration in parts: what was found where, and what is left.
//!
//! A part that was found begins at its position and goes on to where the next one, or something that is left, begins. Parts with
//! nothing left between them are one: there are never more than there are items, plus one.

use crate::findings::collect::Stats;
use crate::reductions::conflicts::Watching;
use crate::work::cells::Cells;
use crate::work::codec::{DecodeError, Reader, Writer};
use crate::work::found::Found;
use crate::work::item::{Handed, Item, Position};
use crate::work::preparation::StartOver;
use crate::work::segments::in_order;
use crate::work::session::{Others, Part};
use std::sync::Arc;

/// What was found, and what is left.
#[derive(Clone, Debug)]
pub struct Ledger {
    found: Vec<(Position, Found)>,
    items: Vec<Item>,
    watching: Watching,
    cells: Cells,
}

impl Default for Ledger {
    /// All is left.
    fn default() -> Ledger {
        let (watching, cells) = (Watching::default(), Cells::default());
        Ledger { found: Vec::new(), items: vec![Item::whole()], watching, cells }
    }
}

impl Ledger {
    /// What is left, in the order of the search.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Whether nothing is left.
    pub fn is_complete(&self) -> bool {
        self.items.is_empty()
    }

    /// What was found so far.
    pub fn found(&self) -> Found {
        let mut all = Found::default();
        self.found.iter().for_each(|(_, found)| all.merge(found.clone()));
        all.cells = Some(Arc::new(self.cells.clone())).filter(|cells| !cells.contradict());
        all
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        self.found.iter().for_each(|(_, found)| stats.add(&found.stats));
        stats
    }

    /// The first error, if it ends the search.
    pub fn error(&self) -> Option<&Position> {
        self.found.iter().find_map(|(_, found)| found.ended.as_ref())
    }

    /// What a part must know of the others.
    pub fn others(&self) -> Others {
        let mut others = Others { watching: self.watching.clone(), ..Others::default() };
        others.error = self.error().cloned();
        others.stats = self.stats();
        others
    }

    /// The same for a part that one worker explores after all others: it decides on no cells that they have decided on.
    pub fn others_before(&self) -> Others {
        Others { cells: Some(Arc::new(self.cells.clone())), ..self.others() }
    }

    /// Something that is left, for somebody else; with all that is known about cells, if one worker at a time explores.
    pub fn hand(&self, item: &Item, alone: bool) -> Handed {
        Handed { item: item.clone(), cells: alone.then(|| Arc::new(self.cells.clone())) }
    }

    /// Whether parts have decided otherwise where cells are: then the search starts over, with one worker at a time.
    pub fn contradicts(&self) -> bool {
        self.cells.contradict()
    }

    /// A part of what was left is done: `done` are the items that it began with, its rests are left instead.
    pub fn add(&mut self, done: &[Item], part: Part) {
        self.items.retain(|item| !done.contains(item));
        self.items.extend(part.rests);
        self.found.extend(part.found);
        self.watching.merge(part.watching);
        self.cells.merge(&part.cells);
        self.fold();
    }

    /// What only the parts together show to be needed: a cell that one thread waits for and that another accesses plainly.
    pub fn need(&self) -> Option<StartOver> {
        self.watching.need()
    }

    /// Makes one of parts with nothing left between them, and forgets what is behind the first error.
    fn fold(&mut self) {
        let found = in_order(std::mem::take(&mut self.found));
        if let Some(error) = found.iter().find_map(|(_, found)| found.ended.clone()) {
            self.items.retain(|item| item.path() <= error.as_slice());
        }
        self.items.sort();
        let mut left = self.items.iter().map(Item::path).peekable();
        for (start, part) in found {
            let mut begins = self.found.is_empty();
            // What is left and begins before this part stands between it and the one before.
            while left.next_if(|path| *path < start.as_slice()).is_some() {
                begins = true;
            }
            match self.found.last_mut().filter(|_| !begins) {
                Some((_, last)) => last.merge(part),
                None => self.found.push((start, part)),
            }
        }
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.number(self.items.len() as u64);
        self.items.iter().for_each(|item| item.write(writer));
        writer.number(self.found.len() as u64);
        for (start, found) in &self.found {
            writer.path(start);
            found.write(writer);
        }
        self.watching.write(writer);
        self.cells.write(writer);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Ledger, DecodeError> {
        let mut items = Vec::new();
        for _ in 0..reader.count()? {
            items.push(Item::read(reader)?);
        }
        let mut found = Vec::new();
        for _ in 0..reader.count()? {
            found.push((reader.path()?, Found::read(reader)?));
        }
        let watching = Watching::read(reader)?;
        let cells = Cells::read(reader)?;
        Ok(Ledger { found, items, watching, cells })
    }
}
