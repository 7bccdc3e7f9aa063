//! The objects of a run. Memory is bytes; a pointer is a number that names its object, so that it survives being copied byte by
//! byte.

use super::step::Step;
use fencepost_ir::{Cell, Object, ObjectId, Program, Value, Width, wide};

/// Objects that are made in a run.
const MAX_OBJECTS: usize = 1 << 22;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Static,
    Heap,
    Local,
}

struct Block {
    /// Empty once the object is gone.
    bytes: Vec<u8>,
    known: Vec<bool>,
    /// How many bytes are not known.
    holes: usize,
    storage: Storage,
    live: bool,
    constant: bool,
}

impl Block {
    /// Marks bytes as known, or as not known.
    fn mark(&mut self, at: usize, size: usize, known: bool) {
        let marks = &mut self.known[at..at + size];
        let holes = marks.iter().filter(|known| !**known).count();
        marks.fill(known);
        self.holes = self.holes - holes + if known { 0 } else { size };
    }
}

pub(super) struct Memory {
    blocks: Vec<Block>,
}

impl Memory {
    pub fn of(program: &Program) -> Memory {
        Memory { blocks: program.objects.iter().map(|object| template(object, Storage::Static)).collect() }
    }

    /// Whether something is allocated.
    pub fn leaks(&self) -> bool {
        self.blocks.iter().any(|block| block.live && block.storage == Storage::Heap)
    }

    /// The bytes at an address if nothing is wrong with them.
    #[inline(always)]
    pub fn read<const N: usize>(&self, addr: u64) -> Option<[u8; N]> {
        let (ObjectId(id), offset) = Value(addr).as_pointer()?;
        let block = self.blocks.get(id as usize)?;
        let at = offset as usize;
        let bytes = block.bytes.get(at..at + N)?;
        if block.holes > 0 && block.known.get(at..at + N)? != [true; N] {
            return None;
        }
        bytes.try_into().ok()
    }

    /// Writes bytes to an address if nothing is wrong with that.
    #[inline(always)]
    pub fn write<const N: usize>(&mut self, addr: u64, value: [u8; N]) -> Option<()> {
        let (ObjectId(id), offset) = Value(addr).as_pointer()?;
        let block = self.blocks.get_mut(id as usize)?;
        let at = offset as usize;
        let bytes = block.bytes.get_mut(at..at + N)?;
        if block.constant {
            return None;
        }
        bytes.copy_from_slice(&value);
        if block.holes > 0 {
            block.mark(at, N, true);
        }
        Some(())
    }

    fn find(&self, addr: Value, width: Width) -> Step<(usize, usize)> {
        let Some((ObjectId(id), offset)) = addr.as_pointer() else {
            return Err("an access through no pointer");
        };
        let Some(block) = self.blocks.get(id as usize) else { return Err("an access through no pointer") };
        if !block.live {
            return Err("an access to an object that is gone");
        }
        let (offset, size) = (offset as usize, width.bytes() as usize);
        match offset + size <= block.bytes.len() {
            true => Ok((id as usize, offset)),
            false => Err("an access outside of an object"),
        }
    }

    /// What is at an address, and whether all of it is known.
    pub fn load(&self, addr: Value, width: Width) -> Step<(Value, bool)> {
        let (block, at) = self.find(addr, width)?;
        let block = &self.blocks[block];
        let size = width.bytes() as usize;
        let mut bytes = [0u8; wide::BYTES as usize];
        bytes[..size].copy_from_slice(&block.bytes[at..at + size]);
        let value = wide::from_bytes(&bytes, width).ok_or("two words are too large for one value")?;
        Ok((value, block.known[at..at + size].iter().all(|known| *known)))
    }

    pub fn store(&mut self, addr: Value, width: Width, value: Value) -> Step<()> {
        let (block, at) = self.find(addr, width)?;
        let size = width.bytes() as usize;
        let block = &mut self.blocks[block];
        if block.constant {
            return Err("a constant is written");
        }
        block.bytes[at..at + size].copy_from_slice(&wide::to_bytes(value, width)[..size]);
        block.mark(at, size, value != Value::UNDEFINED);
        Ok(())
    }

    fn push(&mut self, block: Block) -> Step<Value> {
        if self.blocks.len() >= MAX_OBJECTS {
            return Err("too many objects are made");
        }
        self.blocks.push(block);
        Ok(Value::pointer(ObjectId(self.blocks.len() as u32 - 1), 0))
    }

    /// A fresh copy of an object as it is declared.
    pub fn make(&mut self, object: &Object, storage: Storage) -> Step<Value> {
        self.push(template(object, storage))
    }

    pub fn allocate(&mut self, size: u64, zeroed: bool) -> Step<Value> {
        if size > 1 << 28 {
            return Err("an allocation is very large");
        }
        let size = size as usize;
        let (bytes, known, holes) = (vec![0; size], vec![zeroed; size], if zeroed { 0 } else { size });
        self.push(Block { bytes, known, holes, storage: Storage::Heap, live: true, constant: false })
    }

    /// Ends an object.
    pub fn end(&mut self, addr: Value, storage: Storage) -> Step<()> {
        if let Some((ObjectId(id), 0)) = addr.as_pointer()
            && let Some(block) = self.blocks.get_mut(id as usize)
            && block.live
            && block.storage == storage
        {
            (block.live, block.bytes, block.known, block.holes) = (false, Vec::new(), Vec::new(), 0);
            return Ok(());
        }
        Err("what ends is no live object")
    }

    /// The size of the object that an address is in; zero if there is none.
    pub fn size(&self, addr: Value) -> usize {
        let block = addr.as_pointer().and_then(|(ObjectId(id), _)| self.blocks.get(id as usize));
        block.map_or(0, |block| block.bytes.len())
    }
}

/// The bytes of an object as it is declared.
fn template(object: &Object, storage: Storage) -> Block {
    let size = object.size as usize;
    // What is between the cells is zero; of a global object all is that has no other value.
    let (mut bytes, mut known) = (vec![0; size], vec![true; size]);
    if storage != Storage::Static {
        for Cell { offset, width, .. } in &object.cells {
            let end = ((offset + width.bytes()) as usize).min(size);
            known[(*offset as usize).min(end)..end].fill(false);
        }
    }
    for &Cell { offset, width, init } in &object.cells {
        let (at, all) = (offset as usize, width.bytes() as usize);
        if let (Some(value), true) = (init, at + all <= size) {
            bytes[at..at + all].copy_from_slice(&wide::to_bytes(value, width)[..all]);
            known[at..at + all].fill(true);
        }
    }
    let holes = known.iter().filter(|known| !**known).count();
    Block { bytes, known, holes, storage, live: true, constant: object.constant }
}
