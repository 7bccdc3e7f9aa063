//! Local objects as registers, also where helper functions write them.
//!
//! `while (!try_read(&lock, &a, &b)) {}` keeps `a` and `b` in memory only because a function gets their addresses. What is
//! in memory is events to an engine, and a try that wrote some is no try for nothing any more.
//!
//! * `inline` puts the bodies of helper functions in place of their calls, where a local object then is private;
//! * `points` knows pointers to local objects: they are not null, so that it may be asked;
//! * `threading` lets ways on which a condition is known go on where it leads, so that a result such as *tried in vain* does
//!   not meet the other results on its way to the loop;
//! * `promote` makes registers of the cells of private objects.
//!
//! Nothing else changes: events, their order and dependencies, findings and their places are those of the program as written.

mod inline;
mod points;
mod promote;
mod threading;

use crate::program::Program;
use fencepost_diag::Span;

/// Instructions of a function that is looked at: what is known at each of its labels is a matter of all its registers.
const MOST_INSTRUCTIONS: usize = 4_000;

/// Keeps local objects in registers where that is possible, and puts helper functions in place of their calls where that
/// makes it possible. What comes from a helper that `is_library` stands where it is called: that is the place which the
/// programmer knows.
pub fn keep_locals_in_registers(program: &mut Program, is_library: &dyn Fn(Span) -> bool) {
    for f in inline::callees_first(program) {
        if program.functions[f].body.len() > MOST_INSTRUCTIONS {
            continue;
        }
        if let Some(function) = points::without_null_tests(&program.functions[f]) {
            program.functions[f] = function;
        }
        if let Some(function) = inline::with_helpers(program, f, is_library) {
            program.functions[f] = threading::threaded(function);
        }
        if let Some(function) = promote::promoted(&program.functions[f]) {
            program.functions[f] = function;
        }
    }
}
