//! A program prepared for the machines: cells numbered, live registers known, what is not modelled refused.

use crate::local::FaultKind;
use fencepost_answer::trace::{Cell, Name, Object, Typed};
use fencepost_diag::Span;
use fencepost_ir::{FunctionId, Instr, LiveSet, ObjectId, Program, Value, Width, live_registers};

/// A memory cell by its number: cells are numbered object by object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CellId(pub u32);

/// Something that these machines do not model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, in words.
    pub what: String,
    /// Where.
    pub span: Span,
}

/// Most threads that a run may have; a run that starts more ends the search.
pub const MAX_THREADS: usize = 16;

/// The largest number of values of one nondeterministic choice.
const MAX_CHOICES: i128 = 1 << 16;

/// A program and what the machines know about it.
#[derive(Debug)]
pub struct Code<'p> {
    /// The program.
    pub program: &'p Program,
    /// First cell of each object.
    first_cell: Vec<u32>,
    /// Every cell: its object, its index in the object, and its width.
    pub cells: Vec<(u32, u32, Width)>,
    /// Live registers before each instruction (and at the end) of each function.
    live: Vec<Vec<LiveSet>>,
    /// Threads may learn their own number.
    pub names_itself: bool,
    /// There are mutexes.
    pub locks: bool,
    /// Room for threads.
    pub max_threads: usize,
}

impl<'p> Code<'p> {
    /// Prepares a program.
    pub fn new(program: &'p Program) -> Result<Code<'p>, Unsupported> {
        Code::with_choices(program, MAX_CHOICES)
    }

    /// Prepares a program whose runs are only replayed: a choice may then have any number of values.
    pub fn for_replay(program: &'p Program) -> Result<Code<'p>, Unsupported> {
        Code::with_choices(program, i128::MAX)
    }

    fn with_choices(program: &'p Program, most: i128) -> Result<Code<'p>, Unsupported> {
        let (mut first_cell, mut cells) = (Vec::new(), Vec::new());
        for (o, object) in (0u32..).zip(&program.objects) {
            first_cell.push(cells.len() as u32);
            let mut end = 0;
            for (i, cell) in (0u32..).zip(&object.cells) {
                if cell.offset < end {
                    let what = format!("the cells of `{}` overlap", object.name);
                    return Err(Unsupported { what, span: object.span });
                }
                end = cell.offset + cell.width.bytes();
                cells.push((o, i, cell.width));
            }
        }
        for function in &program.functions {
            for (instr, span) in function.body.iter().zip(&function.spans) {
                supported(instr, *span, most)?;
            }
        }
        let live = (0..program.functions.len())
            .map(|f| live_registers(&program.functions[f], &program.observed(FunctionId(f as u32))))
            .collect();
        let spawns =
            program.functions.iter().flat_map(|f| &f.body).any(|instr| matches!(instr, Instr::Spawn { .. }));
        let max_threads = if spawns { MAX_THREADS.max(program.threads.len()) } else { program.threads.len() };
        if max_threads > 250 {
            let what = "more than 250 threads".into();
            return Err(Unsupported { what, span: Span::default() });
        }
        let has = |wanted: fn(&Instr) -> bool| program.functions.iter().flat_map(|f| &f.body).any(wanted);
        let names_itself = has(|instr| matches!(instr, Instr::SelfThread { .. }));
        let locks = has(|instr| matches!(instr, Instr::Lock(_) | Instr::Unlock(_) | Instr::TryLock { .. }));
        Ok(Code { program, first_cell, cells, live, names_itself, locks, max_threads })
    }

    /// The cell that an access of that width at that address touches.
    pub fn cell(&self, address: Value, width: Width) -> Option<CellId> {
        let (object, offset) = address.as_pointer()?;
        let cells = &self.program.objects.get(object.0 as usize)?.cells;
        let index = cells.binary_search_by_key(&offset, |cell| cell.offset).ok()?;
        (cells[index].width == width).then(|| CellId(self.first_cell[object.0 as usize] + index as u32))
    }

    /// What is wrong with an access of that width at that address.
    pub fn bad_access(&self, address: Value, width: Width) -> FaultKind {
        // A member of what a null pointer points to is at a small address.
        if address.as_pointer().is_none() && address.0 < 4096 {
            return FaultKind::NullPointer;
        }
        let object = address
            .as_pointer()
            .and_then(|(o, offset)| Some((self.program.objects.get(o.0 as usize)?, u64::from(offset))));
        match object {
            None => FaultKind::BadPointer,
            Some((object, offset)) if offset + u64::from(width.bytes()) > u64::from(object.size) => {
                FaultKind::OutOfBounds
            }
            Some(_) => FaultKind::MixedSize,
        }
    }

    /// The initial memory; `None` is uninitialised.
    pub fn initial_memory(&self) -> Vec<Option<Value>> {
        let cells = self.program.objects.iter().flat_map(|object| &object.cells);
        cells.map(|cell| cell.init.map(|value| cell.width.zero_extend(value))).collect()
    }

    /// The address of a cell.
    pub fn address(&self, cell: CellId) -> Value {
        let (object, index, _) = self.cells[cell.0 as usize];
        let offset = self.program.objects[object as usize].cells[index as usize].offset;
        Value::pointer(ObjectId(object), offset)
    }

    /// A cell as a person reads it.
    pub fn shown(&self, cell: CellId) -> Cell {
        let (object, index, _) = self.cells[cell.0 as usize];
        let object = &self.program.objects[object as usize];
        let part = match object.cells.len() {
            1 => String::new(),
            _ => {
                let offset = object.cells[index as usize].offset;
                let part = self.program.names.part(object.span, object.size, offset);
                part.unwrap_or_else(|| format!("[{index}]"))
            }
        };
        Cell { id: cell.0, name: Name::part(Object::Declared(object.name.clone()), part) }
    }

    /// The value of a cell as a person reads it.
    pub fn typed(&self, cell: CellId, raw: Value) -> Typed {
        let (object, index, _) = self.cells[cell.0 as usize];
        let object = &self.program.objects[object as usize];
        let place = object.cells[index as usize];
        let name = self.program.show_cell_value(object, place.offset, place.width, raw);
        Typed { raw, name: Name::plain(name) }
    }

    /// A value that is in no cell.
    pub fn plain_value(&self, value: Value) -> Name {
        Name::plain(self.program.show_value(value))
    }

    /// The live registers before instruction `pc` of a function.
    pub fn live(&self, function: u32, pc: u32) -> &LiveSet {
        &self.live[function as usize][pc as usize]
    }

    /// The instruction at a place; `None` at the end of the function.
    pub fn instr(&self, function: u32, pc: u32) -> Option<&'p Instr> {
        self.program.functions[function as usize].body.get(pc as usize)
    }

    /// The source span of an instruction.
    pub fn span(&self, function: u32, pc: u32) -> Span {
        self.program.functions[function as usize].spans.get(pc as usize).copied().unwrap_or_default()
    }
}

/// Refuses what the machines do not model: better no answer than a wrong one.
fn supported(instr: &Instr, span: Span, most_choices: i128) -> Result<(), Unsupported> {
    let refuse = |what: &str| Err(Unsupported { what: what.into(), span });
    match instr {
        Instr::Assign { .. }
        | Instr::Store { .. }
        | Instr::Rmw { .. }
        | Instr::CompareExchange { .. }
        | Instr::Fence(_)
        | Instr::Jump(_)
        | Instr::Branch { .. }
        | Instr::Call { .. }
        | Instr::Return(_)
        | Instr::Spawn { .. }
        | Instr::Join { .. }
        | Instr::Lock(_)
        | Instr::Unlock(_)
        | Instr::Assume(_)
        | Instr::Round(_)
        | Instr::Assert { .. }
        | Instr::Defined(_)
        | Instr::Cut
        | Instr::AtomicBegin
        | Instr::AtomicEnd
        | Instr::CopyLoad { .. }
        | Instr::ObjectSize { .. }
        | Instr::SelfThread { .. }
        | Instr::Exit(_)
        | Instr::Halt
        | Instr::Await { .. }
        | Instr::AwaitRmw { .. }
        | Instr::TryLock { .. }
        | Instr::Fail { .. } => Ok(()),
        Instr::Load { ann, .. } if ann.exclusive => refuse("a load that takes a reservation"),
        Instr::Load { .. } => Ok(()),
        Instr::StoreExclusive { .. } => refuse("a store that uses a reservation"),
        Instr::Nondet { first, last, .. } => match i128::from(*last) - i128::from(*first) < most_choices {
            true => Ok(()),
            false => refuse("a choice among more than 65536 values: the data is not bounded"),
        },
        Instr::Alloc { .. } | Instr::Free(_) => refuse("memory that is allocated while the program runs"),
        Instr::Local { .. } | Instr::EndLocal(_) => refuse("a local object whose address is taken"),
        Instr::ThreadLocal { .. } => refuse("a thread-local object"),
    }
}
