//! `-m ps`: what goes wrong in an interleaving goes wrong.
//!
//! *Claim.* Each run under sequential consistency is one of the promising machine, under either notion of consistency and with
//! any number of promises allowed: every read reads the newest message of its cell, every write is the newest one, and nobody
//! promises anything.
//!
//! *How it is asked.* Bounded model checking of interleavings, whose order is a SAT solver's matter: it finds in milliseconds
//! what takes an exploration millions of graphs, such as two loops that have to take turns in one way out of many. The run is
//! done again on the promising machine, which also counts the view switches; one that it does not confirm is no answer here,
//! and others are asked. That nothing is found says nothing.

use super::promising::{self, FORM, has_sc};
use super::promising_encoding::most;
use super::{Question, bmc};
use fencepost_answer::{Bound, BoundName, Outcome};
use fencepost_ir::Property;
use fencepost_machine::promising::plan::{Planned, Replayer};
use fencepost_models::prepare::Form;

/// Conflicts of the solver: to have seen that nothing goes wrong takes longer than the encoding of all runs where that is small.
const CONFLICTS: u32 = 2_000;
/// With SC fences: who has put them into a program looks for what is no interleaving, mostly. But a protocol that is wrong anyhow
/// is wrong with all of its fences, and nothing else shows that soon.
const CONFLICTS_BETWEEN_FENCES: u32 = 500;
/// Such protocols have many threads that do the same, and a few of them go wrong as well as all. The order of all takes the cube
/// of their steps.
const ALIKE: u32 = 3;

/// A run that goes wrong, if there is one among interleavings that is found with little work.
pub fn answer(question: &Question<'_>) -> Option<Outcome> {
    let program = &question.compiled.program;
    // A final state that is not there is no run.
    if matches!(program.property, Property::Final(_)) {
        return None;
    }
    let (conflicts, alike) =
        if has_sc(program) { (CONFLICTS_BETWEEN_FENCES, Some(ALIKE)) } else { (CONFLICTS, None) };
    let prepared = question.prepare(Form { bound_loops: false, divide_choices: false, ..FORM }).ok()?;
    let run = bmc::interleaving(question, &prepared.program, conflicts, alike)?;
    let step = |step: &fencepost_bmc::Scheduled| {
        let (thread, choice, spurious) = (step.thread, step.choice, step.spurious);
        Planned::Step { thread, choice, spurious, reads: None, writes: None, fulfils: false }
    };
    let plan: Vec<Planned> = run.steps.iter().map(step).collect();
    let replayed = Replayer::new(&prepared.program).ok()?.replay_interleaving(&plan, most(question)).ok()?;
    let mut outcome = Outcome::new(vec![replayed.finding?], None, Vec::new());
    let (promises, views) = replayed.spent;
    outcome.bounds.push(Bound::new(BoundName::Promising, u64::from(promises + views)));
    outcome.checks = promising::checks(question);
    Some(outcome)
}
