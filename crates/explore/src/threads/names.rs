//! What things are called, for people.

use crate::threads::memory::{LocId, Memory, Storage};
use fencepost_ir::names::Names;
use fencepost_ir::{Instr, ObjectId, Program, Span, Value};
use rustc_hash::FxHashMap;

/// The names of a program.
#[derive(Clone, Debug, Default)]
pub struct Debug {
    names: Names,
    functions: Vec<String>,
    /// Where the instructions stand that allocate.
    allocations: FxHashMap<(u32, u32), Span>,
}

impl Debug {
    /// Those of this program.
    pub fn new(program: &Program) -> Debug {
        let mut allocations = FxHashMap::default();
        for (f, function) in (0u32..).zip(&program.functions) {
            for (pc, (instr, span)) in (0u32..).zip(function.body.iter().zip(&function.spans)) {
                if matches!(instr, Instr::Alloc { .. }) {
                    allocations.insert((f, pc), *span);
                }
            }
        }
        let functions = program.functions.iter().map(|function| function.name.clone()).collect();
        Debug { names: program.names.clone(), functions, allocations }
    }

    /// A cell. `source` says where an operation comes from.
    pub fn cell(&self, memory: &Memory, loc: LocId, source: &[(u32, u32)]) -> String {
        let (location, width) = memory.location(loc);
        let whole = location.offset == 0 && memory.size(location.object) == Some(width.bytes());
        let part = self.part(memory, location.object, location.offset, source);
        match (part, memory.describe(location.object)) {
            (Some(part), Some((name, _))) if !whole || part.starts_with('.') => format!("{name}{part}"),
            _ => memory.show(loc),
        }
    }

    /// A value of a cell: as its type says, or the name of what it points to.
    pub fn value(&self, memory: &Memory, loc: LocId, value: Value, source: &[(u32, u32)]) -> String {
        let known = |value: Value| self.pointee(memory, value, source);
        let (location, width) = memory.location(loc);
        match self.made(memory, location.object, source) {
            Some(made) => self.names.show(made, location.offset, width, value, &known),
            None => known(value).unwrap_or_else(|| value.as_i64().to_string()),
        }
    }

    /// A value that is no number: the name of a function, or of what it points to.
    fn pointee(&self, memory: &Memory, value: Value, source: &[(u32, u32)]) -> Option<String> {
        if value == Value::UNDEFINED {
            return Some("(uninitialised)".into());
        }
        if let Some(name) = value.as_function().and_then(|f| self.functions.get(f.0 as usize)) {
            return Some(name.clone());
        }
        let (object, offset) = value.as_pointer()?;
        let (name, _) = memory.describe(object)?;
        if offset == 0 {
            return Some(format!("&{name}"));
        }
        let made = self.made(memory, object, source);
        let part = made.and_then(|made| self.names.pointee(made, memory.size(object)?, offset));
        Some(format!("&{name}{}", part.unwrap_or_else(|| format!("+{offset}"))))
    }

    fn part(&self, memory: &Memory, object: ObjectId, offset: u32, source: &[(u32, u32)]) -> Option<String> {
        self.names.part(self.made(memory, object, source)?, memory.size(object)?, offset)
    }

    /// Where an object was declared or allocated.
    fn made(&self, memory: &Memory, object: ObjectId, source: &[(u32, u32)]) -> Option<Span> {
        let (_, declared) = memory.describe(object)?;
        Some(match memory.storage(object)? {
            Storage::Heap => {
                let (_, site) = memory.maker(object)?;
                *self.allocations.get(source.get(site as usize)?)?
            }
            _ => declared,
        })
    }
}
