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

/// What something depends on.
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
    pub fn read(&mut self, event: EventId) -> DepId {
        self.node(Dep::Read(event))
    }

    /// Both.
    pub fn both(&mut self, a: DepId, b: DepId) -> DepId {
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

    /// One or the other.
    pub fn choice(&mut self, condition: Lit, a: DepId, b: DepId) -> DepId {
        match condition.as_constant() {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => self.node(Dep::Choice(condition, a, b)),
        }
    }
}
