//! What the check of a program asks of a machine with store buffers: bounds, final states, and runs done again.

use super::{BufferMachine, BufferWorker, CutBy, Label, Move};
use crate::check::Checkable;
use crate::code::Code;
use crate::config::Config;
use crate::local::Status;
use crate::machine::Machine;
use crate::plain::Plain;
use crate::run::describe;
use crate::stepper::{Wrong, follow};
use crate::symmetry::Lift;
use fencepost_answer::{Bound, BoundName, Finding, Place};
use fencepost_ir::Value;
use std::collections::BTreeSet;

impl Checkable for BufferMachine<'_> {
    fn bounds(&self) -> Vec<Bound> {
        let config = &self.config;
        let all = [
            (CutBy::Buffer, BoundName::Buffer, config.buffer),
            (CutBy::Rounds, BoundName::Rounds, config.rounds),
            (CutBy::Age, BoundName::Age, config.age),
            // Loops are bounded before, by somebody who knows how often.
            (CutBy::Loop, BoundName::Unroll, None),
        ];
        let cut = all.into_iter().filter(|(by, ..)| self.was_cut(*by));
        cut.map(|(_, name, value)| Bound::new(name, value.unwrap_or(0))).collect()
    }

    fn final_states(worker: BufferWorker<'_>) -> BTreeSet<Vec<Value>> {
        worker.states
    }

    fn confirm(&self, run: &[Label]) -> Result<Finding, String> {
        let code = Code::new(self.source).map_err(|unsupported| unsupported.what)?;
        let plain = Plain::new(&code, &self.config);
        // The plain machine tells the run; the stepper, which shares nothing with it, says whether it is one.
        let told = describe(&code, &plain, &self.moves(run))?;
        let Wrong { kind, message, thread, span } = follow(self.source, &self.config, &told.turns)?;
        let places = vec![Place { thread, span, label: String::new() }];
        Ok(Finding { run: told.steps, ..Finding::new(kind, message, places) })
    }

    fn gave_up(&self, run: &[Label]) -> Option<String> {
        let code = Code::new(self.source).ok()?;
        let plain = Plain::new(&code, &self.config);
        let mut state = plain.initial();
        for step in self.moves(run) {
            plain.apply(&mut state, step).ok()?;
        }
        state.threads.iter().find_map(|local| match local.status {
            Status::Failed(kind) if kind.is_limit() => Some(kind.describe().to_owned()),
            _ => None,
        })
    }
}

impl BufferMachine<'_> {
    /// The moves of a run, by thread instead of slot.
    fn moves(&self, run: &[Label]) -> Vec<Move> {
        let mut lift = Lift::new(self.slots(), self.worker().start().1);
        run.iter().flat_map(|label| lift.step(label)).collect()
    }
}

/// Does a run of moves again that another engine found, and says what is wrong at its end. The error says why the run is
/// none, or why nothing is wrong at its end.
pub fn confirm_moves(code: &Code<'_>, config: &Config, moves: &[Move]) -> Result<Finding, String> {
    let plain = Plain::new(code, config);
    let told = describe(code, &plain, moves)?;
    let Wrong { kind, message, thread, span } = follow(code.program, config, &told.turns)?;
    let places = vec![Place { thread, span, label: String::new() }];
    Ok(Finding { run: told.steps, ..Finding::new(kind, message, places) })
}
