//! The machine of the promising semantics and its encoding at the same bound.

#[path = "../../../reduce/tests/support/promising_programs.rs"]
mod programs;

use fencepost_bmc::promising::{self as encoding, Run};
use fencepost_bmc::symbolic;
use fencepost_ir::{ObjectId, Program, Value};
use fencepost_machine::promising::plan::{Planned, Replayer};
use fencepost_machine::promising::{self as machine, Bounds};
#[allow(unused_imports)]
pub use programs::{family, random, text};
use std::collections::BTreeSet;

/// A run of the encoding as a plan for the machine.
pub fn plan(run: &Run) -> Vec<Planned> {
    let convert = |planned: &encoding::Planned| match *planned {
        encoding::Planned::Step { thread, choice, spurious, reads, writes, fulfils } => {
            Planned::Step { thread, choice, spurious, reads, writes, fulfils }
        }
        encoding::Planned::Promise { thread, object, offset, width, value, place, touches } => {
            Planned::Promise {
                thread,
                cell: (Value::pointer(ObjectId(object), offset), width),
                value,
                place,
                touches,
            }
        }
    };
    run.moves.iter().map(convert).collect()
}

/// The final states of the machine within K.
pub fn by_machine(program: &Program, bounds: Bounds) -> BTreeSet<Vec<Value>> {
    let options = machine::Options { bounds, ..machine::Options::default() };
    machine::check(program, &options).expect("supported").final_states.into_iter().collect()
}

/// The final states of the encoding within K, and how many of its runs the machine does not confirm.
pub fn by_encoding(
    program: &Program,
    bounds: Bounds,
    errors: &mut Vec<String>,
) -> (BTreeSet<Vec<Value>>, u64) {
    let total = usize::from(bounds.total.expect("a bound"));
    let promises = bounds.promises.map_or(total, usize::from);
    let options = encoding::Options {
        symbolic: symbolic::Options::default(),
        bounds: encoding::Bounds { total, promises, views: None },
        progress: None,
    };
    let replayer = Replayer::new(program).expect("supported");
    let mut confirm = |run: &Run| match replayer.replay(&plan(run), bounds) {
        Ok(replayed) if replayed.observed.is_some() => Ok(()),
        Ok(_) => Err("a thread has not ended".to_owned()),
        Err(why) => {
            errors.push(why.clone());
            Err(why)
        }
    };
    encoding::final_states(program, &options, &mut confirm).expect("supported")
}

/// An error if they differ at a bound; the number of runs that were not confirmed.
#[allow(dead_code)]
pub fn agrees(text: &str, most: u16, promises: Option<u16>) -> Result<u64, String> {
    let program = fencepost_lang::parse(text).expect("parses");
    let mut unconfirmed = 0;
    for bound in 0..=most {
        for promises in [Some(0), promises] {
            let bounds = Bounds { total: Some(bound), promises, ..Bounds::default() };
            let machine = by_machine(&program, bounds);
            let mut errors = Vec::new();
            let (encoded, excluded) = by_encoding(&program, bounds, &mut errors);
            unconfirmed += excluded;
            let missing: Vec<_> = machine.difference(&encoded).collect();
            let extra: Vec<_> = encoded.difference(&machine).collect();
            if !missing.is_empty() || !extra.is_empty() || (excluded > 0 && promises == Some(0)) {
                errors.sort();
                errors.dedup();
                return Err(format!(
                    "{text}\nK = {bound}, promises {promises:?}: the encoding misses {missing:?}, and has too many {extra:?}; not \
                     confirmed: {excluded} {errors:?}"
                ));
            }
        }
    }
    Ok(unconfirmed)
}
