//! Reads that nothing depends on: no address, no data and no branch of their thread, and no result of it.
//!
//! Threads that the finding is about are left alone, because what an assertion looks at is no event.

use crate::telling::sentence::Cycle;
use crate::telling::story::StepId;
use fencepost_explore::{Finding, FindingKind};
use fencepost_ir::{EventKind, Instr, Operand, Program};
use fencepost_naive::Rebuilt;
use std::collections::BTreeSet;

/// The reads of a finding that nothing depends on; none of a cycle that explains it.
pub fn reads(
    program: &Program,
    finding: &Finding,
    rebuilt: &Rebuilt,
    cycle: Option<&Cycle>,
) -> BTreeSet<StepId> {
    if matches!(finding.kind, FindingKind::Deadlock | FindingKind::LeftWaiting) {
        return BTreeSet::new();
    }
    let execution = &rebuilt.execution;
    let relations = [&execution.addr, &execution.data, &execution.ctrl, &execution.rmw];
    let concerned = |thread: usize| finding.places.iter().any(|place| place.thread as usize == thread);
    let on_cycle =
        |step: StepId| cycle.into_iter().flatten().any(|(from, to, _)| *from == step || *to == step);
    let steps =
        rebuilt.events.iter().map(|(&(thread, step), &event)| ((thread as usize, step as usize), event));
    let is_idle = |&(step, event): &(StepId, usize)| {
        execution.events[event].kind == EventKind::Read
            && !concerned(step.0)
            && !on_cycle(step)
            && !has_result(program, finding, step.0)
            && relations.iter().all(|relation| relation.successors(event).next().is_none())
    };
    steps.filter(is_idle).map(|(step, _)| step).collect()
}

/// Whether a thread may hand a value that it has computed to whoever joins it.
fn has_result(program: &Program, finding: &Finding, thread: usize) -> bool {
    let entry = finding
        .execution
        .threads
        .get(thread)
        .and_then(|steps| steps.first())
        .map(|step| step.calls.last().copied().unwrap_or(step.at));
    let Some(function) = entry.and_then(|(function, _)| program.functions.get(function as usize)) else {
        return true;
    };
    let computed = |operand: &Option<Operand>| matches!(operand, Some(Operand::Reg(_)));
    function.body.iter().any(|instr| match instr {
        Instr::Return(value) | Instr::Exit(value) => computed(value),
        _ => false,
    })
}
