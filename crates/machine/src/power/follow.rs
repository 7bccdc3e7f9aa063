//! Executions of another model, such as the axiomatic one, as steps of the flat program: from what each read reads follow the
//! ways of all branches.

use super::alone::{Alone, Halt};
use super::code::PowerCode;
use super::state::{Event, Process, Status, Stop, Walk};
use fencepost_ir::Value;
use fencepost_ir::flat::Op;

/// An access of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// A read of this value.
    Read(u64),
    /// A store.
    Write,
}

/// The way of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The steps of its accesses, in program order, as far as the flat program has them.
    pub steps: Vec<u32>,
    /// How many accesses come before the first assertion that fails.
    pub failed: Option<usize>,
}

/// The ways of all processes, from the accesses that each makes beside others.
///
/// `None` if `main` makes choices before it starts threads.
pub fn paths(code: &PowerCode<'_>, accesses: &[Vec<Access>]) -> Option<Vec<Path>> {
    let mut alone = Alone::new(code);
    if code.has_main() && alone.run(code) != Halt::Threads {
        return None;
    }
    let all = accesses.iter().enumerate();
    Some(all.map(|(process, accesses)| path(code, &alone, process, accesses)).collect())
}

/// Runs a process alone with the values that its reads read.
fn path(code: &PowerCode<'_>, alone: &Alone, process: usize, accesses: &[Access]) -> Path {
    let start = &alone.at;
    let thread = &code.flat.threads[process];
    let pc = if process == 0 && code.has_main() { start.pc } else { 0 };
    let mut state = Process { events: Vec::new(), pc, stop: Stop::No };
    let (mut walk, mut steps, mut failed) = (Walk::default(), Vec::new(), None);
    while let Some(step) = thread.code.get(state.pc as usize) {
        walk.follow(code, start, process, &state);
        let is_true = |condition| walk.operand(condition).value.is_some_and(Value::is_true);
        let (mut value, mut next) = (0, step.next);
        match (&step.op, accesses.get(steps.len())) {
            (Op::Skip | Op::Assign { .. } | Op::Spawn(_), _) => {
                state.pc = next;
                continue;
            }
            (Op::Load { .. }, Some(Access::Read(read))) => {
                value = *read;
                steps.push(state.pc);
            }
            (Op::Store { .. }, Some(Access::Write)) => steps.push(state.pc),
            (Op::Load { .. } | Op::Store { .. } | Op::Nondet { .. } | Op::Join { .. } | Op::Cut, _) => break,
            (Op::Branch { condition, other }, _) => {
                value = u64::from(is_true(*condition));
                next = if value != 0 { next } else { *other };
            }
            // What comes behind an assertion that fails is part of the execution, too.
            (Op::Assert { condition, .. }, _) if failed.is_none() && !is_true(*condition) => {
                failed = Some(steps.len());
            }
            (Op::Assume(condition), _) if !is_true(*condition) => break,
            _ => {}
        }
        let (step, status, seen) = (state.pc, Status::Committed, Vec::new());
        state.events.push(Event { step, status, value, from: 0, arrived: 0, seen });
        state.pc = next;
    }
    Path { steps, failed }
}
