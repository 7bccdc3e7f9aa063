//! What things are called, for people.

use crate::threads::memory::{LocId, Memory, Storage};
use fencepost_answer::trace::Name;
use fencepost_ir::names::Names;
use fencepost_ir::{Instr, ObjectId, Program, Span, Value, Width};
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
    pub fn cell(&self, memory: &Memory, loc: LocId, source: &[(u32, u32)]) -> Name {
        let (location, width) = memory.location(loc);
        let whole = location.offset == 0 && memory.size(location.object) == Some(width.bytes());
        if width == Width::W128
            && let Some(made) = self.made(memory, location.object, source)
            && let Some(size) = memory.size(location.object)
            && let Some(rest) = self.names.words(made, size, location.offset)
        {
            return Name { object: memory.shown(location.object), rest, ..Name::default() };
        }
        let part = self.part(memory, location.object, location.offset, source);
        let part = part.filter(|part| !whole || part.starts_with('.')).unwrap_or_else(|| memory.part(loc));
        Name { object: memory.shown(location.object), rest: part, ..Name::default() }
    }

    /// A value of a cell: as its type says, or the name of what it points to.
    pub fn value(&self, memory: &Memory, loc: LocId, value: Value, source: &[(u32, u32)]) -> Name {
        let (location, width) = memory.location(loc);
        let Some(made) = self.made(memory, location.object, source) else {
            return self
                .known(memory, value, source)
                .unwrap_or_else(|| Name::plain(value.as_i64().to_string()));
        };
        let Some(members) = self.names.members_of(made, (location.offset, width), value) else {
            let typed = || Name::plain(self.names.show(made, location.offset, width, value));
            return self.known(memory, value, source).unwrap_or_else(typed);
        };
        let members = members.into_iter().map(|(name, scalar, width, value)| {
            let typed = || Name::plain(self.names.show_as(scalar, width, value));
            (name, self.known(memory, value, source).unwrap_or_else(typed))
        });
        Name { members: members.collect(), ..Name::default() }
    }

    /// A value that is no number: a function, or what it points to.
    fn known(&self, memory: &Memory, value: Value, source: &[(u32, u32)]) -> Option<Name> {
        if value == Value::UNDEFINED {
            return Some(Name::plain("(uninitialised)"));
        }
        if let Some(name) = value.as_function().and_then(|f| self.functions.get(f.0 as usize)) {
            return Some(Name::plain(name));
        }
        let (object, offset) = value.as_pointer()?;
        let shown = memory.shown(object)?;
        let made = self.made(memory, object, source).filter(|_| offset > 0);
        let part = made.and_then(|made| self.names.pointee(made, memory.size(object)?, offset));
        let rest = match offset {
            0 => String::new(),
            _ => part.unwrap_or_else(|| format!("+{offset}")),
        };
        Some(Name { address: true, object: Some(shown), rest, ..Name::default() })
    }

    fn part(&self, memory: &Memory, object: ObjectId, offset: u32, source: &[(u32, u32)]) -> Option<String> {
        self.names.part(self.made(memory, object, source)?, memory.size(object)?, offset)
    }

    /// Where an object was declared or allocated.
    fn made(&self, memory: &Memory, object: ObjectId, source: &[(u32, u32)]) -> Option<Span> {
        let declared = memory.span(object)?;
        Some(match memory.storage(object)? {
            Storage::Heap => {
                let (_, site) = memory.maker(object)?;
                *self.allocations.get(source.get(site as usize)?)?
            }
            _ => declared,
        })
    }
}
