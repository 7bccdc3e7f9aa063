//! Which accesses, assertions and calls some execution has come to. A test that never comes to the code at fault is safe, and its
//! author
//! should know.
//!
//! An operation is noted when a path of a thread first has it, so what is *not* noted was reached by no execution. What is noted
//! may have
//! been reached on a path that no execution has to its end.

use crate::threads::code::{Code, Op, Pc};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Marks on operations, shared by workers.
#[derive(Debug, Default)]
pub struct Reached(Box<[AtomicBool]>);

impl Reached {
    /// For so many operations, none of them reached.
    pub fn new(operations: usize) -> Reached {
        Reached((0..operations).map(|_| AtomicBool::new(false)).collect())
    }

    /// A thread has come to an operation.
    pub fn mark(&self, pc: Pc) {
        // Most are marked already, and a write would take the line from other workers.
        if let Some(mark) = self.0.get(pc as usize)
            && !mark.load(Ordering::Relaxed)
        {
            mark.store(true, Ordering::Relaxed);
        }
    }

    fn has(&self, pc: usize) -> bool {
        self.0.get(pc).is_some_and(|mark| mark.load(Ordering::Relaxed))
    }
}

impl Clone for Reached {
    fn clone(&self) -> Reached {
        Reached(self.0.iter().map(|mark| AtomicBool::new(mark.load(Ordering::Relaxed))).collect())
    }
}

/// Accesses, assertions and calls of a program, as functions and instructions, by whether they were reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Those that were.
    pub reached: BTreeSet<(u32, u32)>,
    /// Those that were not.
    pub unreached: BTreeSet<(u32, u32)>,
}

impl Coverage {
    /// What the marks say.
    pub fn of(code: &Code) -> Coverage {
        let counts = |op: &Op| {
            matches!(
                op,
                Op::Load { .. }
                    | Op::Store { .. }
                    | Op::LoadPiece { .. }
                    | Op::StorePiece { .. }
                    | Op::Assert { .. }
                    | Op::Call { .. }
            )
        };
        let mut coverage = Coverage::default();
        for (pc, _) in code.ops.iter().enumerate().filter(|(_, op)| counts(op)) {
            let to = if code.reached.has(pc) { &mut coverage.reached } else { &mut coverage.unreached };
            to.insert(code.source[pc]);
        }
        coverage.unreached.retain(|at| !coverage.reached.contains(at));
        coverage
    }
}
