//! Clauses over literals of a graph, in one flat list.

use crate::aig::Lit;

/// A conjunction of clauses.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    lits: Vec<Lit>,
    ends: Vec<u32>,
}

impl Formula {
    /// No clauses.
    pub fn new() -> Formula {
        Formula::default()
    }

    /// Adds a clause; one that holds anyhow is left out, and so are literals that are false.
    pub fn clause(&mut self, lits: &[Lit]) {
        let start = self.lits.len();
        for &lit in lits {
            let here = &self.lits[start..];
            if lit == Lit::TRUE || here.contains(&!lit) {
                self.lits.truncate(start);
                return;
            }
            if lit != Lit::FALSE && !here.contains(&lit) {
                self.lits.push(lit);
            }
        }
        self.ends.push(self.lits.len() as u32);
    }

    /// Requires pairs of literals to be equal where a condition holds.
    pub fn equal_if(&mut self, condition: Lit, pairs: &[(Lit, Lit)]) {
        for &(a, b) in pairs {
            self.clause(&[!condition, !a, b]);
            self.clause(&[!condition, a, !b]);
        }
    }

    /// How many clauses there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The clauses.
    pub fn iter(&self) -> impl Iterator<Item = &[Lit]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.lits[start as usize..end as usize])
    }
}
