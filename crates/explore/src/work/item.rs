//! Work as data: a part of the search tree that nobody has visited yet.
//!
//! An item is a path from the root of the tree, and how much of it leads to the subtree that the item lies in:
//!
//! ```text
//! root = path[..n]                          the node above which all of the item is
//! item = all places within that subtree that are not before `path` in the order of the search
//! ```
//!
//! With `n` the whole length it is one subtree; with less, it is what is left of a larger one that was interrupted. The visits on
//! the
//! way are made again by whoever takes the item, without being counted; what a graph looks like follows from the program.
//! `docs/adr/021-work-items.md` says why this, and not the graph.

use crate::work::cells::Cells;
use crate::work::codec::{DecodeError, Reader, Writer};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::sync::Arc;

/// A place in the search tree: at each step, which visit it is among those that its parent makes, counted from 1.
pub type Position = Vec<u32>;

/// What a run is: program, model, options, build, and how much room there is. Items of one run mean nothing in another.
pub type Binding = [u8; 16];

/// The version of the binary form.
const VERSION: u64 = 1;

/// A part of the search tree that nobody has visited yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    path: Position,
    root: usize,
}

impl Item {
    /// The part of the subtree at `path[..root]` that is not before `path`.
    pub fn new(root: usize, path: Position) -> Option<Item> {
        let within = root <= path.len() && path.iter().all(|&step| step > 0);
        within.then_some(Item { path, root })
    }

    /// The whole tree.
    pub fn whole() -> Item {
        Item { path: Vec::new(), root: 0 }
    }

    /// Where it begins.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// How much of the path leads to the subtree that it lies in.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The item in bytes.
    pub fn encode(&self, binding: &Binding) -> Vec<u8> {
        let mut writer = Writer::new(b"FPI1", VERSION);
        writer.bytes(binding);
        self.write(&mut writer);
        writer.finish()
    }

    /// An item of that run from bytes, which may come from anywhere.
    pub fn decode(bytes: &[u8], binding: &Binding) -> Result<Item, DecodeError> {
        let mut reader = Reader::new(bytes, b"FPI1", VERSION)?;
        if reader.bytes(binding.len())? != binding {
            return Err(DecodeError::OtherRun);
        }
        let item = Item::read(&mut reader)?;
        reader.end()?;
        Ok(item)
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.number(self.root as u64);
        writer.path(&self.path);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Item, DecodeError> {
        let root = reader.small()?;
        Item::new(root, reader.path()?).ok_or(DecodeError::Value)
    }

    /// Takes up to `most` parts off: at the steps nearest to the root the visits that come after that step, if there are any.
    /// `children` has the number of visits that each node on the path makes. What is left comes first in the order of the search.
    pub fn split(&self, children: &[u32], most: usize) -> (Item, Vec<Item>) {
        let mut parts = Vec::new();
        let mut root = self.root;
        while root < self.path.len() && parts.len() < most {
            let next = self.path[root].saturating_add(1);
            if children.get(root).is_some_and(|&count| next <= count) {
                let mut path = self.path[..root].to_vec();
                path.push(next);
                parts.push(Item { path, root });
            }
            root += 1;
        }
        (Item { path: self.path.clone(), root }, parts)
    }
}

/// An item for somebody else, with what must be known to explore it.
#[derive(Clone, Debug)]
pub struct Handed {
    /// The item.
    pub item: Item,
    /// The cells that were decided on before it, if one worker at a time explores.
    pub(crate) cells: Option<Arc<Cells>>,
}

impl Handed {
    /// In bytes.
    pub fn encode(&self, binding: &Binding) -> Vec<u8> {
        let mut writer = Writer::new(b"FPH1", VERSION);
        writer.bytes(binding);
        self.item.write(&mut writer);
        writer.number(self.cells.is_some().into());
        self.cells.iter().for_each(|cells| cells.write(&mut writer));
        writer.finish()
    }

    /// From bytes, which may come from anywhere.
    pub fn decode(bytes: &[u8], binding: &Binding) -> Result<Handed, DecodeError> {
        let mut reader = Reader::new(bytes, b"FPH1", VERSION)?;
        if reader.bytes(binding.len())? != binding {
            return Err(DecodeError::OtherRun);
        }
        let item = Item::read(&mut reader)?;
        let cells = match reader.number()? {
            0 => None,
            1 => Some(Arc::new(Cells::read(&mut reader)?)),
            _ => return Err(DecodeError::Value),
        };
        reader.end()?;
        match cells {
            Some(cells) if cells.contradict() => Err(DecodeError::Value),
            cells => Ok(Handed { item, cells }),
        }
    }
}

/// Hashes what is written to it.
pub(crate) struct Hashed(Sha256);

impl Hashed {
    pub fn new(what: &str) -> Hashed {
        let mut hashed = Hashed(Sha256::new());
        hashed.0.update(what.as_bytes());
        hashed
    }

    /// Adds something by its text, with an end that texts do not have.
    pub fn add(&mut self, text: fmt::Arguments<'_>) {
        // Nothing fails here.
        let _ = self.write_fmt(text);
        self.0.update([0xff]);
    }

    pub fn binding(self) -> Binding {
        let mut binding = Binding::default();
        let length = binding.len();
        binding.copy_from_slice(&self.0.finalize()[..length]);
        binding
    }
}

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
