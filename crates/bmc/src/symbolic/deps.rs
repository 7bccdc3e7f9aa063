//! What values depend on: a DAG of reads, unions and choices, each node once.

use super::EventId;
use crate::aig::Lit;
use rustc_hash::FxHashMap;

/// A node of [`Deps`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DepId(pub u32);

impl DepId {
    /// Depends on nothing.
    pub const NONE: DepId = DepId(0);
}

/// What a value, an address or an execution depends on: as data, and by having been picked, through the condition of a select or
/// what a compare-exchange was compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Depends {
    /// As data.
    pub data: DepId,
    /// By being picked.
    pub pick: DepId,
}

impl Depends {
    /// Depends on nothing.
    pub const NONE: Depends = Depends { data: DepId::NONE, pick: DepId::NONE };
}

/// A node of what something depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dep {
    /// Nothing.
    None,
    /// What this event read.
    Read(EventId),
    /// Both.
    Both(DepId, DepId),
    /// The first where the literal holds, else the second: ways have met.
    Choice(Lit, DepId, DepId),
}

/// All that is depended on.
#[derive(Clone, Debug)]
pub struct Deps {
    nodes: Vec<Dep>,
    known: FxHashMap<Dep, DepId>,
}

impl Default for Deps {
    fn default() -> Deps {
        Deps { nodes: vec![Dep::None], known: FxHashMap::default() }
    }
}

impl Deps {
    /// A node; what it mentions has smaller numbers.
    pub fn get(&self, id: DepId) -> Dep {
        self.nodes[id.0 as usize]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if nothing depends on anything.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    fn node(&mut self, dep: Dep) -> DepId {
        let nodes = &mut self.nodes;
        *self.known.entry(dep).or_insert_with(|| {
            nodes.push(dep);
            DepId(nodes.len() as u32 - 1)
        })
    }

    /// A read.
    pub fn read(&mut self, event: EventId) -> Depends {
        Depends { data: self.node(Dep::Read(event)), pick: DepId::NONE }
    }

    /// Both.
    pub fn both(&mut self, a: Depends, b: Depends) -> Depends {
        Depends { data: self.either(a.data, b.data), pick: self.either(a.pick, b.pick) }
    }

    /// One or the other.
    pub fn choice(&mut self, condition: Lit, a: Depends, b: Depends) -> Depends {
        Depends { data: self.one_of(condition, a.data, b.data), pick: self.one_of(condition, a.pick, b.pick) }
    }

    /// A value that was picked by others: it depends on them, but not as on data.
    pub fn picked(&mut self, value: Depends, by: Depends) -> Depends {
        let by = self.either(by.data, by.pick);
        Depends { data: value.data, pick: self.either(value.pick, by) }
    }

    fn either(&mut self, a: DepId, b: DepId) -> DepId {
        let (a, b) = (a.min(b), a.max(b));
        if a == DepId::NONE || a == b {
            return b;
        }
        match self.get(b) {
            // What was added already.
            Dep::Both(x, y) if x == a || y == a => b,
            _ => self.node(Dep::Both(a, b)),
        }
    }

    fn one_of(&mut self, condition: Lit, a: DepId, b: DepId) -> DepId {
        match condition.as_constant() {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => self.node(Dep::Choice(condition, a, b)),
        }
    }
}
