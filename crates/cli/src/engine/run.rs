//! The one execution of a program that neither starts threads nor chooses: whatever the model, running it tells how it ends.

use super::{Engine, Fit, Question};
use crate::check::INTERRUPT;
use crate::input::Trouble;
use crate::progress;
use fencepost_answer::{Finding, FindingKind, Limit, Outcome, Place};
use fencepost_diag::Diagnostic;
use fencepost_explore::bytes_in_use;
use fencepost_ir::{Instr, Language};
use fencepost_machine::alone::{self, End};
use fencepost_naive::sequential::fails_at;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The engine.
pub struct Run;

/// A failed assertion at the end of a run that was confirmed.
fn failure(question: &Question<'_>, at: (u32, u32)) -> Finding {
    let program = &question.compiled.program;
    let instr = program.functions.get(at.0 as usize).and_then(|f| f.body.get(at.1 as usize));
    let message = match instr {
        Some(Instr::Assert { message, .. } | Instr::Fail { message, .. }) => message.clone(),
        _ => "an assertion fails".into(),
    };
    let span = program.functions[at.0 as usize].spans.get(at.1 as usize).copied().unwrap_or_default();
    let place = Place { span, ..Place::default() };
    Finding::new(FindingKind::Assertion, message, vec![place])
}

fn one_execution(findings: Vec<Finding>) -> Outcome {
    let mut outcome = Outcome::new(findings, None, Vec::new());
    outcome.statistics.executions = Some(1);
    outcome
}

impl Engine for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn about(&self) -> &'static str {
        "the one execution of a program that starts no threads and chooses nothing"
    }

    fn honours(&self) -> &'static [&'static str] {
        &["all", "unroll", "deps", "max-executions"]
    }

    fn fit(&self, question: &Question<'_>) -> Fit {
        if question.compiled.language != Language::C {
            return Fit::Refuses("error: the engine run is for C programs".into());
        }
        match alone::refuses(&question.compiled.program, question.options.spurious) {
            Some(why) => Fit::Refuses(format!("error: the engine run cannot take this program: {why}")),
            None => Fit::Takes { rank: 0, why: "it starts no threads and chooses nothing".into() },
        }
    }

    fn run(&self, question: &Question<'_>) -> Result<Outcome, Trouble> {
        let _line = progress::line(question.file, question.options.quiet);
        let deadline = question.deadline();
        let most_bytes = question.options.max_memory.map(|mb| mb.saturating_mul(1_000_000));
        let limit = || match most_bytes {
            _ if INTERRUPT.load(Ordering::Relaxed) => Some(Limit::Interrupted),
            _ if deadline.is_some_and(|deadline| Instant::now() >= deadline) => Some(Limit::Timeout),
            Some(most) if bytes_in_use().is_some_and(|bytes| bytes > most) => Some(Limit::MaxMemory),
            _ => None,
        };
        let reached = Cell::new(None);
        let stop = || {
            reached.set(limit());
            reached.get().is_some()
        };
        let unknown = || Ok(Outcome::unknown(question.stop(reached.get().unwrap_or(Limit::Interrupted))));
        match alone::run(&question.compiled.program, &stop) {
            End::Done(_) => Ok(one_execution(Vec::new())),
            End::Interrupted => unknown(),
            End::Stopped(at, alone::ASSERTION) if fails_at(&question.compiled.program, at, &stop) => {
                Ok(one_execution(vec![failure(question, at)]))
            }
            End::Stopped(..) if reached.get().is_some() => unknown(),
            End::Stopped((function, at), why) => {
                let span = question.compiled.program.functions.get(function as usize);
                let span = span.and_then(|f| f.spans.get(at as usize)).copied().unwrap_or_default();
                let message = format!("the run ends here: {why}");
                let error =
                    Diagnostic::error(span, message).hint("`--engine explore` shows the whole execution");
                Err(Trouble::about(&question.compiled.sources, error))
            }
        }
    }
}
