//! Names in scope. A name's meaning is found by its symbol in one step; leaving a block undoes what it declared.

use crate::ast::{FuncId, GlobalId, LocalId};
use crate::intern::Symbol;
use crate::types::{QTy, RecordId, Ty};

/// What an ordinary name means.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Entity {
    /// Nothing.
    #[default]
    Unknown,
    /// A type.
    Typedef(QTy),
    /// A variable of the current function.
    Local(LocalId),
    /// A variable with static or thread storage duration.
    Global(GlobalId),
    /// An array of variable length, by the variable that points to it.
    VariableArray(LocalId),
    /// A function.
    Function(FuncId),
    /// An enumeration constant.
    Constant(u64, Ty),
}

/// What a tag means.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Tag {
    /// Nothing.
    #[default]
    Unknown,
    /// A struct or union.
    Record(RecordId),
    /// An enum, by the type that represents it.
    Enum(QTy),
}

/// All names in scope.
#[derive(Default)]
pub struct Scopes {
    names: Vec<(Entity, u32)>,
    tags: Vec<(Tag, u32)>,
    undo: Vec<Undo>,
    marks: Vec<usize>,
}

enum Undo {
    Name(Symbol, (Entity, u32)),
    Tag(Symbol, (Tag, u32)),
}

impl Scopes {
    /// Number of open scopes: 0 at file scope.
    pub fn depth(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Opens a scope.
    pub fn enter(&mut self) {
        self.marks.push(self.undo.len());
    }

    /// Closes a scope.
    pub fn leave(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Name(symbol, old) => self.names[symbol.0 as usize] = old,
                Undo::Tag(symbol, old) => self.tags[symbol.0 as usize] = old,
            }
        }
    }

    /// The meaning of a name.
    pub fn lookup(&self, symbol: Symbol) -> Entity {
        self.names.get(symbol.0 as usize).map_or(Entity::Unknown, |(entity, _)| *entity)
    }

    /// The meaning of a name if it was declared in the innermost scope.
    pub fn lookup_here(&self, symbol: Symbol) -> Entity {
        match self.names.get(symbol.0 as usize) {
            Some((entity, depth)) if *depth == self.depth() => *entity,
            _ => Entity::Unknown,
        }
    }

    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, symbol: Symbol, entity: Entity) {
        let index = symbol.0 as usize;
        if self.names.len() <= index {
            self.names.resize(index + 1, (Entity::Unknown, 0));
        }
        let depth = self.depth();
        let old = std::mem::replace(&mut self.names[index], (entity, depth));
        if depth > 0 {
            self.undo.push(Undo::Name(symbol, old));
        }
    }

    /// The meaning of a tag.
    pub fn tag(&self, symbol: Symbol) -> Tag {
        self.tags.get(symbol.0 as usize).map_or(Tag::Unknown, |(tag, _)| *tag)
    }

    /// The meaning of a tag if it was declared in the innermost scope.
    pub fn tag_here(&self, symbol: Symbol) -> Tag {
        match self.tags.get(symbol.0 as usize) {
            Some((tag, depth)) if *depth == self.depth() => *tag,
            _ => Tag::Unknown,
        }
    }

    /// Declares a tag in the innermost scope.
    pub fn declare_tag(&mut self, symbol: Symbol, tag: Tag) {
        let index = symbol.0 as usize;
        if self.tags.len() <= index {
            self.tags.resize(index + 1, (Tag::Unknown, 0));
        }
        let depth = self.depth();
        let old = std::mem::replace(&mut self.tags[index], (tag, depth));
        if depth > 0 {
            self.undo.push(Undo::Tag(symbol, old));
        }
    }
}
