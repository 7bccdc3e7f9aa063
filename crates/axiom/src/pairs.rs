//! Relations between events as literals: which pairs may be in, and under which condition each is.

use fencepost_bmc::aig::{Graph, Lit};
use fencepost_ir::Relation;

/// A relation: each pair that may be in it with its literal; pairs that cannot be are left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Pairs {
    /// The successors of each event, by increasing number.
    rows: Vec<Vec<(u32, Lit)>>,
}

impl Pairs {
    /// The empty relation over so many events.
    pub fn new(n: usize) -> Pairs {
        Pairs { rows: vec![Vec::new(); n] }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are no events.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The condition under which a pair is in.
    pub fn get(&self, a: u32, b: u32) -> Lit {
        let row = &self.rows[a as usize];
        row.binary_search_by_key(&b, |(to, _)| *to).map_or(Lit::FALSE, |at| row[at].1)
    }

    /// The successors of an event.
    pub fn row(&self, a: u32) -> &[(u32, Lit)] {
        &self.rows[a as usize]
    }

    /// Puts a pair in behind all other successors of its first event.
    pub fn push(&mut self, a: u32, b: u32, lit: Lit) {
        debug_assert!(self.rows[a as usize].last().is_none_or(|(last, _)| *last < b));
        if lit != Lit::FALSE {
            self.rows[a as usize].push((b, lit));
        }
    }

    /// Puts a pair in, or gives it another condition.
    pub fn set(&mut self, a: u32, b: u32, lit: Lit) {
        let row = &mut self.rows[a as usize];
        match (row.binary_search_by_key(&b, |(to, _)| *to), lit) {
            (Ok(at), Lit::FALSE) => drop(row.remove(at)),
            (Ok(at), lit) => row[at].1 = lit,
            (Err(_), Lit::FALSE) => {}
            (Err(at), lit) => row.insert(at, (b, lit)),
        }
    }

    /// A pair is in under this condition, too.
    pub fn add(&mut self, graph: &mut Graph, a: u32, b: u32, lit: Lit) {
        let known = self.get(a, b);
        self.set(a, b, graph.or(known, lit));
    }

    /// All pairs.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, Lit)> + '_ {
        (0u32..).zip(&self.rows).flat_map(|(a, row)| row.iter().map(move |&(b, lit)| (a, b, lit)))
    }

    /// The pairs that may be in.
    pub fn possible(&self) -> Relation {
        let mut relation = Relation::new(self.len());
        self.iter().for_each(|(a, b, _)| relation.insert(a as usize, b as usize));
        relation
    }

    /// The same pairs the other way round.
    pub fn inverse(&self) -> Pairs {
        let mut inverse = Pairs::new(self.len());
        for (a, b, lit) in self.iter() {
            inverse.push(b, a, lit);
        }
        inverse
    }
}
