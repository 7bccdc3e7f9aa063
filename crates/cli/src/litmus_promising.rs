//! `litmus -m ps`: the final states of a C litmus test by the promising machine, or within bounds by its encoding.

use crate::args::LitmusEngine;
use crate::check::INTERRUPT;
use crate::engine::promising_encoding::plan;
use crate::engine::solver::stopped;
use crate::litmus::Settings;
use fencepost_answer::{Bound, BoundName, StopReason};
use fencepost_bmc::promising::{self as encoding, Certify, Ends, Run};
use fencepost_bmc::{Failed, symbolic};
use fencepost_diag::Span;
use fencepost_ir::{Program, Property, Quantifier, Value};
use fencepost_machine::promising::plan::Replayer;
use fencepost_machine::promising::prepare::prepare;
use fencepost_machine::promising::{Bounds, Options, check};
use std::time::Instant;

/// Bounds of the encoding.
const TOTAL: u16 = 10;
const PROMISES: u16 = 2;

/// All final states, with the bounds within which they are all, or why they are not known.
pub type States = Result<(Vec<Vec<Value>>, Vec<Bound>), StopReason>;

/// The final states; the error is what the test has that cannot be run here.
pub fn states(program: &Program, settings: &Settings<'_>, start: Instant) -> Result<States, (String, Span)> {
    // Every state is wanted: one that violates the condition would end the search.
    let mut all = program.clone();
    if let Property::Final(condition) = &mut all.property {
        condition.quantifier = Quantifier::Exists;
    }
    match settings.engine {
        LitmusEngine::Reduce => by_encoding(&all, settings, start),
        _ => by_machine(&all, settings, start),
    }
}

fn by_machine(program: &Program, settings: &Settings<'_>, start: Instant) -> Result<States, (String, Span)> {
    let mut options = Options::default();
    options.search.deadline = settings.timeout.map(|time| start + time);
    options.search.interrupt = Some(&INTERRUPT);
    let checked = check(program, &options).map_err(|e| (e.what, e.span))?;
    Ok(match checked.outcome.stop_reason {
        Some(reason) if reason != StopReason::NoneWithinBounds => Err(reason),
        _ => Ok((checked.final_states, Vec::new())),
    })
}

fn by_encoding(program: &Program, settings: &Settings<'_>, start: Instant) -> Result<States, (String, Span)> {
    let bounds = Bounds { total: Some(TOTAL), promises: Some(PROMISES), views: None };
    let limits = fencepost_bmc::Limits {
        deadline: settings.timeout.map(|time| start + time),
        interrupt: Some(&INTERRUPT),
        ..fencepost_bmc::Limits::default()
    };
    let wanted = encoding::Bounds {
        total: TOTAL.into(),
        promises: PROMISES.into(),
        views: None,
        certify: Certify::Always,
        narrow: None,
        standard: None,
        without: None,
    };
    let symbolic = symbolic::Options { unroll: settings.unroll, limits, ..symbolic::Options::default() };
    let options = encoding::Options { symbolic, bounds: wanted, few: false, progress: None };
    let replayer = Replayer::new(program).map_err(|e| (e.what, e.span))?;
    let fenced = prepare(program).map_err(|e| (e.what, e.span))?;
    let mut confirm = |run: &Run, _: Ends| match replayer.replay(&plan(run), bounds)?.observed {
        Some(_) => Ok(()),
        None => Err("a thread has not ended".to_owned()),
    };
    let found = match encoding::final_states(&fenced, &options, &mut confirm) {
        Ok(found) => found,
        Err(Failed::Unsupported(unsupported)) => return Err((unsupported.what, unsupported.span)),
        Err(Failed::Stopped(reason)) => return Ok(Err(stopped(reason))),
    };
    let bounds = vec![Bound::new(BoundName::Promising, TOTAL), Bound::new(BoundName::Promises, PROMISES)];
    let refused = |why| StopReason::NotConfirmed(format!("a run of the encoding is not confirmed: {why}"));
    Ok(found.map(|states| (states.into_iter().collect(), bounds)).map_err(refused))
}
