//! Where the private copies of the shared variables stand.
//!
//! Each thread has one private object. It begins with a copy of all shared cells, the *view*; then come k *slots*, each
//! a mask and a queue of the same shape, and three words. Slot d holds the stores that reach memory d rounds from now,
//! so the slots move down by one in every round. The paper numbers them by round instead, which makes states differ
//! that behave alike.

use crate::Unsupported;
use fencepost_ir::{Cell, Object, Program, Span, Value, Width};

/// The layout of a private object.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Byte offset of each shared object in a copy.
    pub bases: Vec<u32>,
    /// Bytes of a copy.
    pub copy: u32,
    /// Number of slots: the k of the bound.
    pub slots: u32,
    /// All shared cells: (address, offset in a copy, width).
    pub cells: Vec<(Value, u32, Width)>,
}

impl Layout {
    /// The layout for a program.
    pub fn new(program: &Program, slots: u32) -> Result<Layout, Unsupported> {
        let mut layout = Layout { bases: Vec::new(), copy: 0, slots, cells: Vec::new() };
        // Copies of equal cells make one array; other programs get gaps where alignment asks for them.
        let widths = program.objects.iter().flat_map(|object| &object.cells).map(|cell| cell.width.bytes());
        let align = widths.max().unwrap_or(4).max(4);
        for (o, object) in (0u32..).zip(&program.objects) {
            layout.bases.push(layout.copy);
            for cell in &object.cells {
                if cell.init.is_none() {
                    let what = format!("`{}`, which is not initialised", object.name);
                    return Err(Unsupported { what, span: object.span });
                }
                let address = Value::pointer(fencepost_ir::ObjectId(o), cell.offset);
                layout.cells.push((address, layout.copy + cell.offset, cell.width));
            }
            layout.copy += object.size.next_multiple_of(align);
        }
        Ok(layout)
    }

    /// Offset of the mask of slot `d`, from 1.
    pub fn mask(&self, d: u32) -> u32 {
        (2 * d - 1) * self.copy
    }

    /// Offset of the queue of slot `d`, from 1.
    pub fn queue(&self, d: u32) -> u32 {
        2 * d * self.copy
    }

    fn words(&self) -> u32 {
        (1 + 2 * self.slots) * self.copy
    }

    /// How many rounds ahead of the current one the next store reaches memory: `r_TSO - r_SC`.
    pub fn lead(&self) -> u32 {
        self.words()
    }

    /// The current round, `r_SC`; counted only if rounds are bounded.
    pub fn round(&self) -> u32 {
        self.words() + 4
    }

    /// The source program is in an atomic section.
    pub fn critical(&self) -> u32 {
        self.words() + 8
    }

    /// The thread has ended and its stores have reached memory.
    pub fn done(&self) -> u32 {
        self.words() + 12
    }

    /// The private object of a thread.
    pub fn object(&self, name: String) -> Object {
        let mut cells = Vec::new();
        for copy in 0..=2 * self.slots {
            for &(_, offset, width) in &self.cells {
                cells.push(Cell { offset: copy * self.copy + offset, width, init: Some(Value::ZERO) });
            }
        }
        for word in 0..4 {
            let offset = self.words() + 4 * word;
            cells.push(Cell { offset, width: Width::W32, init: Some(Value::ZERO) });
        }
        Object { name, size: self.words() + 16, cells, span: Span::default(), constant: false }
    }
}
