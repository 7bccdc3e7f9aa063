//! When a bound on rounds or ages keeps no run away.
//!
//! A round of a thread has at least one of its steps that others can notice: an access, a fence, or the arrival of a store in
//! memory. So a thread that makes at most `n` of them has at most `n` rounds, and no store
//! of it waits for more than `n - 1`.

use crate::tso::Bound;
use fencepost_ir::{Callee, Function, Instr, Program};

/// Whether all runs of a program under TSO are within a bound.
pub fn is_enough(program: &Program, bound: Bound) -> bool {
    let (Bound::Rounds(k) | Bound::Age(k)) = bound;
    let mut steps = Steps { program, known: vec![None; program.functions.len()] };
    let spawned = program.functions.iter().flat_map(|f| &f.body).any(|i| matches!(i, Instr::Spawn { .. }));
    let most = |thread: &fencepost_ir::Thread| steps.of(thread.function.0 as usize);
    let all: Option<Vec<u64>> = program.threads.iter().map(most).collect();
    // Threads that are started while the program runs are not counted.
    !spawned && all.is_some_and(|all| all.iter().all(|&steps| steps <= u64::from(k) + 1))
}

/// The most steps that others can notice, by function: `Some(None)` while it is being found, and if there is no end.
struct Steps<'p> {
    program: &'p Program,
    known: Vec<Option<Option<u64>>>,
}

impl Steps<'_> {
    fn of(&mut self, function: usize) -> Option<u64> {
        if let Some(known) = self.known[function] {
            return known;
        }
        self.known[function] = Some(None);
        let program = self.program;
        let mut paths = vec![None; program.functions[function].body.len()];
        let most = self.from(&program.functions[function], 0, &mut paths);
        self.known[function] = Some(most);
        most
    }

    /// The most from an instruction on; `Some(None)` is one on the way, so that a jump back has no end.
    fn from(&mut self, function: &Function, at: usize, paths: &mut Vec<Option<Option<u64>>>) -> Option<u64> {
        let Some(instr) = function.body.get(at) else { return Some(0) };
        if let Some(known) = paths[at] {
            return known;
        }
        paths[at] = Some(None);
        let here = match instr {
            Instr::Assign { .. }
            | Instr::Jump(_)
            | Instr::Branch { .. }
            | Instr::Return(_)
            | Instr::Assume(_)
            | Instr::Assert { .. }
            | Instr::Nondet { .. }
            | Instr::Defined(_)
            | Instr::Round(_)
            | Instr::Cut => 0,
            // A store is made, and arrives.
            Instr::Store { .. } | Instr::Unlock(_) => 2,
            Instr::Call { callee: Callee::Function(callee), .. } => self.of(callee.0 as usize)?,
            Instr::Call { .. } => return None,
            _ => 1,
        };
        let mut most = 0;
        for next in instr.successors(at as u32) {
            most = most.max(self.from(function, next as usize, paths)?);
        }
        paths[at] = Some(Some(here + most));
        paths[at]?
    }
}
