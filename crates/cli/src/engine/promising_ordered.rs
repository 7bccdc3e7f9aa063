//! Programs under `-m ps` in which locks, starts and joins order every two accesses that conflict: promises show nothing there.
//!
//! *Claim.* If no execution under sequential consistency has two conflicting accesses of different threads, at least one of
//! them a write, that neither locks nor starts and joins of threads put in an order, then the runs of the promising machine
//! have the results of these executions, whatever is promised and however it is certified [Kang, Hur, Lahav, Vafeiadis and
//! Dreyer, A promising semantics for relaxed-memory concurrency, POPL 2017, section 5: the theorems DRF-PF, DRF-RA and
//! DRF-SC, the last for locks].
//!
//! *How it is asked.* Every access becomes a plain one, so that the explorer under RC11 reports each pair that nothing else
//! orders as a race. A program without a race has only executions of sequential consistency under RC11 too, and one
//! exploration is all. What is neither a plain access nor a lock switches it off: fences and read-modify-writes order more
//! than locks do, and less.

use super::explore::Explore;
use super::{Engine, Question};
use fencepost_answer::{Outcome, Verdict};
use fencepost_ir::{Ann, Compiled, Instr, Language, Order, Program, Property};
use fencepost_models::registry;

/// The answer, if the program is one of these and nothing goes wrong in it. `work` is how many graphs are visited at most.
pub fn answer(question: &Question<'_>, work: u64) -> Option<Outcome> {
    // Of a final state races are not asked.
    if matches!(question.compiled.program.property, Property::Final(_)) {
        return None;
    }
    let program = with_plain_accesses(&question.compiled.program)?;
    let compiled = Compiled { program, ..question.compiled.clone() };
    let model = registry::find("rc11")?;
    let asked = Question { compiled: &compiled, model, work: Some(work), ..*question };
    let mut outcome = Explore.run(&asked).ok().filter(|outcome| outcome.verdict == Verdict::Safe)?;
    outcome.findings.clear();
    outcome.coverage = None;
    outcome.checks =
        (question.compiled.language == Language::C).then_some("assertions and memory, not races");
    Some(outcome)
}

/// The program with plain accesses only; none if it has instructions that are more than an access.
fn with_plain_accesses(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    for instr in program.functions.iter_mut().flat_map(|function| &mut function.body) {
        match instr {
            Instr::Load { ann, .. } | Instr::Store { ann, .. } | Instr::CopyLoad { ann, .. } => {
                if ann.exclusive {
                    return None;
                }
                *ann = Ann { order: Order::Plain, ..*ann };
            }
            Instr::Assign { .. }
            | Instr::Jump(_)
            | Instr::Branch { .. }
            | Instr::Call { .. }
            | Instr::Return(_)
            | Instr::Spawn { .. }
            | Instr::Join { .. }
            | Instr::Lock(_)
            | Instr::Unlock(_)
            | Instr::Assume(_)
            | Instr::Round(_)
            | Instr::Assert { .. }
            | Instr::Defined(_)
            | Instr::Nondet { .. }
            | Instr::Alloc { .. }
            | Instr::Free(_)
            | Instr::Local { .. }
            | Instr::EndLocal(_)
            | Instr::ThreadLocal { .. }
            | Instr::ObjectSize { .. }
            | Instr::SelfThread { .. }
            | Instr::Exit(_)
            | Instr::Halt
            | Instr::Cut
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Fail { .. } => {}
            // Read-modify-writes, fences, reads that wait, and what is not known here.
            _ => return None,
        }
    }
    Some(program)
}
