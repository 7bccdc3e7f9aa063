//! Locations: the scalar cells of all objects, numbered densely.

use fencepost_ir::{Location, ObjectId, Program, Value, Width};

/// A memory cell, by number.
pub type LocId = u32;

/// Marks an event without a location.
pub const NO_LOC: LocId = LocId::MAX;

/// Why an address cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BadAccess {
    /// The address is a plain number.
    NotAPointer,
    /// It lies outside its object, or not at the start of a cell.
    OutOfBounds,
    /// The access is wider or narrower than the cell.
    MixedSize,
}

/// All cells of a program.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Per object: the number of its first cell, and its cells as (offset, width).
    objects: Vec<(LocId, Vec<(u32, Width)>)>,
    cells: Vec<(Location, Width)>,
    init: Vec<u64>,
}

impl Memory {
    /// The cells of the program's global objects.
    pub fn new(program: &Program) -> Memory {
        let mut memory = Memory { objects: Vec::new(), cells: Vec::new(), init: Vec::new() };
        for (index, object) in (0u32..).zip(&program.objects) {
            let first = memory.cells.len() as LocId;
            let layout = object.cells.iter().map(|c| (c.offset, c.width)).collect();
            memory.objects.push((first, layout));
            for cell in &object.cells {
                let location = Location { object: ObjectId(index), offset: cell.offset };
                memory.cells.push((location, cell.width));
                memory.init.push(cell.width.zero_extend(cell.init.unwrap_or_default()).0);
            }
        }
        memory
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell that an access of this width at this address hits.
    #[inline(always)]
    pub fn resolve(&self, address: u64, width: Width) -> Result<LocId, BadAccess> {
        let (object, offset) = Value(address).as_pointer().ok_or(BadAccess::NotAPointer)?;
        let (first, cells) = self.objects.get(object.0 as usize).ok_or(BadAccess::NotAPointer)?;
        let index = match cells.first() {
            Some(&(start, _)) if start == offset => 0,
            _ => cells.binary_search_by_key(&offset, |c| c.0).map_err(|_| BadAccess::OutOfBounds)?,
        };
        if cells[index].1 != width {
            return Err(BadAccess::MixedSize);
        }
        Ok(first + index as LocId)
    }

    /// Where the cell is.
    pub fn location(&self, loc: LocId) -> (Location, Width) {
        self.cells[loc as usize]
    }

    /// Its initial value.
    #[inline(always)]
    pub fn init(&self, loc: LocId) -> u64 {
        self.init[loc as usize]
    }
}
