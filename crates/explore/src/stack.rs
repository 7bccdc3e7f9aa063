//! Room for recursion whose depth the program chooses.
//!
//! A visit is within as many others as there are events and revisits on the way to its graph, and nobody knows how many these
//! will be. After every so many levels the recursion therefore goes on in a new thread, whose stack is large enough for
//! that many more; the old thread waits.

use crate::progress;

/// Levels of recursion that share a stack.
pub const LEVELS: usize = 1024;

/// Where counting starts, so that a few levels need no stack but the caller's.
pub const START: usize = LEVELS - 64;

/// Bytes of a stack. A level takes a few thousand of them, more in debug builds; what is not touched costs nothing.
const BYTES: usize = LEVELS << 15;

/// Runs something on a new stack; false if there is no memory for one.
pub fn grow(work: impl FnOnce() + Send) -> bool {
    let worker = progress::worker();
    let work = || {
        progress::go_on_as(worker);
        work();
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(BYTES).spawn_scoped(scope, work);
        let Ok(thread) = thread else { return false };
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
        true
    })
}
