//! From a program to an answer on the promising machine.

use super::certify::Consistency;
use super::prepare::{domain_of, prepare, thread_config};
use super::search::{Bounds, PromisingMachine};
use crate::check::{Checked, check_machine};
use crate::code::{Code, Unsupported};
use crate::search;
use fencepost_answer::{BoundName, StopReason};
use fencepost_ir::{Program, Value};

/// How to check.
#[derive(Clone, Default)]
pub struct Options<'a> {
    /// The notion of consistency.
    pub consistency: Consistency,
    /// The bounds on runs.
    pub bounds: Bounds,
    /// Values of future memories, for the standard notion; `None`: those that the program mentions.
    pub domain: Option<Vec<Value>>,
    /// Final states end with the promises and the view switches that a run to them spends, as far as they are counted: all
    /// smaller bounds in one search.
    pub costs: bool,
    /// Limits and habits of the search.
    pub search: search::Options<'a>,
}

/// Checks a program on the promising machine. Loops that write should be bounded before: memory grows with every write.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Checked, Unsupported> {
    let prepared = prepare(program)?;
    let code = Code::new(&prepared)?;
    let config = thread_config();
    let domain = options.domain.clone().unwrap_or_else(|| domain_of(&prepared));
    let make = || {
        let machine = PromisingMachine::new(&code, &config, options.consistency, options.bounds, &domain);
        if options.costs { machine.with_costs() } else { machine }
    };
    Ok(check_machine(&prepared, &make, options.search))
}

/// What a deepening check came to.
pub struct Deepened {
    /// The last answer.
    pub checked: Checked,
    /// The largest number of promises up to which the whole search was done.
    pub completed: Option<u16>,
}

/// Allows no promise, then one, then two, until nothing is cut by that or something is found or a limit is hit. What needs few
/// promises is found fast, and an answer that no promise would change is not bounded by their number.
pub fn deepen(program: &Program, options: &Options<'_>) -> Result<Deepened, Unsupported> {
    let mut completed = None;
    for promises in 0..=Bounds::MOST {
        let bounds = Bounds { promises: Some(promises), ..options.bounds };
        let mut checked = check(program, &Options { bounds, ..options.clone() })?;
        let cut = checked.outcome.bounds.iter().any(|bound| bound.name == BoundName::Promises);
        let stopped =
            matches!(&checked.outcome.stop_reason, Some(reason) if *reason != StopReason::NoneWithinBounds);
        if stopped || !cut || !checked.outcome.findings.is_empty() {
            // What is found, or could not be looked at, is not a matter of the number that was tried.
            checked.outcome.bounds.retain(|bound| bound.name != BoundName::Promises);
            return Ok(Deepened { checked, completed: if stopped { completed } else { Some(promises) } });
        }
        completed = Some(promises);
    }
    let checked = check(program, options)?;
    Ok(Deepened { checked, completed })
}
