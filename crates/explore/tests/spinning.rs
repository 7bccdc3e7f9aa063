//! Iterations that changed nothing: dropping them must leave the final states and the findings that following them gives.
//!
//! The programs have calls, recursion, nested loops, several loops in a function, retries and locks made of loops. A thread
//! that spins for ever is a finding only where iterations are dropped; otherwise the bound cuts it.
//!
//! `FENCEPOST_CASES=20000 cargo test --release -p fencepost-explore --test spinning` is the long version.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/following.rs"]
mod following;
#[path = "support/loops.rs"]
mod loops;

use fencepost_explore::ModelName;
use following::{compare, number};
use loops::{generate, generate_tries};

#[test]
fn dropping_iterations_changes_no_state_and_no_finding() {
    compare(number("FENCEPOST_CASES", 60), &ModelName::ALL, 2, generate);
}

#[test]
fn leaving_out_tries_changes_nothing_that_comes_after_them() {
    compare(number("FENCEPOST_CASES", 150), &ModelName::ALL, 2, generate_tries);
}
