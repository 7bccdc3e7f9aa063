//! A flat program prepared for the POWER machine: cells numbered, the part of `main` that runs alone found.

use crate::code::Unsupported;
use fencepost_answer::trace::{Cell, Name, Typed};
use fencepost_ir::flat::{Flat, FlatThread, Op, Phase, phases};
use fencepost_ir::{Fence, Program, Span, Value, Width};

/// The fences of POWER.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum PowerFence {
    Sync,
    Lwsync,
    Eieio,
    Isync,
}

impl PowerFence {
    /// What a fence of the program is on POWER.
    pub fn of(fence: Fence) -> Option<PowerFence> {
        match fence {
            Fence::Sync | Fence::Mfence => Some(PowerFence::Sync),
            Fence::Lwsync => Some(PowerFence::Lwsync),
            Fence::Eieio => Some(PowerFence::Eieio),
            Fence::Isync => Some(PowerFence::Isync),
            _ => None,
        }
    }

    /// True if it is propagated to other processes.
    pub fn travels(self) -> bool {
        self != PowerFence::Isync
    }
}

/// A program for the POWER machine.
#[derive(Debug)]
pub struct PowerCode<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its threads.
    pub flat: Flat,
    /// Every cell: object, offset, width.
    pub cells: Vec<(u32, u32, Width)>,
    first_cell: Vec<u32>,
    /// When each step of the first thread runs; empty if it starts no others, and all runs together.
    phases: Vec<Phase>,
}

impl<'p> PowerCode<'p> {
    /// Prepares a program.
    pub fn new(program: &'p Program, flat: Flat) -> Result<PowerCode<'p>, Unsupported> {
        let (mut first_cell, mut cells) = (Vec::new(), Vec::new());
        for (o, object) in (0u32..).zip(&flat.objects) {
            first_cell.push(cells.len() as u32);
            let mut end = 0;
            for cell in &object.cells {
                if cell.offset < end {
                    let what = format!("the cells of `{}` overlap", object.name);
                    return Err(Unsupported { what, span: object.span });
                }
                end = cell.offset + cell.width.bytes();
                cells.push((o, cell.offset, cell.width));
            }
        }
        if flat.threads.len() > 8 {
            let what = "more than 8 threads".into();
            return Err(Unsupported { what, span: Span::default() });
        }
        for thread in &flat.threads {
            supported(thread)?;
        }
        let phases = phases(&flat).map_err(|e| Unsupported { what: e.what, span: e.span })?;
        Ok(PowerCode { program, flat, cells, first_cell, phases })
    }

    /// The cell at an address.
    pub fn cell(&self, address: Value, width: Width) -> Option<u32> {
        let (object, offset) = address.as_pointer()?;
        let cells = &self.flat.objects.get(object.0 as usize)?.cells;
        let index = cells.binary_search_by_key(&offset, |cell| cell.offset).ok()?;
        (cells[index].width == width).then(|| self.first_cell[object.0 as usize] + index as u32)
    }

    /// The initial value of a cell; `None` is uninitialised.
    pub fn initial(&self, cell: u32) -> Option<Value> {
        let (object, offset, width) = self.cells[cell as usize];
        let object = &self.flat.objects[object as usize];
        let cell = object.cells.iter().find(|cell| cell.offset == offset)?;
        cell.init.map(|value| width.zero_extend(value))
    }

    /// A cell as a person reads it.
    pub fn shown(&self, id: u32) -> Cell {
        let (object, offset, _) = self.cells[id as usize];
        let name = self.program.show_place(&self.flat.objects[object as usize], offset);
        Cell { id, name: Name::plain(name) }
    }

    /// The value of a cell as a person reads it.
    pub fn typed(&self, cell: u32, raw: Value) -> Typed {
        let (object, offset, width) = self.cells[cell as usize];
        let name = self.program.show_cell_value(&self.flat.objects[object as usize], offset, width, raw);
        Typed { raw, name: Name::plain(name) }
    }

    /// When a step runs.
    pub fn phase(&self, thread: usize, step: u32) -> Phase {
        if thread > 0 || self.phases.is_empty() {
            return Phase::During;
        }
        self.phases.get(step as usize).copied().unwrap_or(Phase::After)
    }

    /// True if the first thread runs alone before and after the others.
    pub fn has_main(&self) -> bool {
        !self.phases.is_empty()
    }
}

fn supported(thread: &FlatThread) -> Result<(), Unsupported> {
    for step in &thread.code {
        let refuse = |what: String| Err(Unsupported { what, span: step.span });
        match &step.op {
            Op::Fence(fence) if PowerFence::of(*fence).is_none() => {
                return refuse(format!("the fence `{}`, which POWER does not have,", fence.name()));
            }
            Op::AtomicBegin | Op::AtomicEnd => return refuse("an atomic section under POWER".into()),
            _ => {}
        }
    }
    Ok(())
}
