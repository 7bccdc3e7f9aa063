//! The solver of a build without the feature `sat`: takes clauses, and solves none.

use crate::cnf::Literal;
use crate::limits::{Limits, StopReason};
use std::path::Path;

/// No solver.
pub struct Sat;

impl Sat {
    /// None.
    pub fn new(_: Limits, _: bool) -> Sat {
        Sat
    }

    /// There will be no proof.
    pub fn trace(&mut self, _: &Path) -> bool {
        false
    }

    /// There is none.
    pub fn close_proof(&mut self) {}

    /// Nothing was tried.
    pub fn conflicts(&self) -> u64 {
        0
    }

    /// Forgets a clause.
    pub fn clause(&mut self, _: &[Literal]) {}

    /// Never answers.
    pub fn solve(&mut self, _: &[Literal]) -> Result<bool, StopReason> {
        Err(StopReason::NoSolver)
    }

    /// Never asked, because nothing was solved.
    pub fn is_true(&mut self, _: Literal) -> bool {
        false
    }
}
