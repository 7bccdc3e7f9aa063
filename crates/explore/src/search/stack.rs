//! Room for recursion whose depth the program chooses.
//!
//! A visit is within as many others as there are events and revisits on the way to its graph, and nobody knows how many these
//! will be. After every so many levels the recursion therefore goes on in a new thread, whose stack is large enough for
//! that many more; the old thread waits. To change threads takes longer than a visit, and a search goes to and fro between
//! levels that are near each other: so everything but a small exploration begins on a large stack.

use crate::work::progress;
use std::cell::Cell;

/// Levels of recursion that share a stack.
pub const LEVELS: usize = 4096;

/// Levels that any stack has room for.
const FEW: usize = 64;

/// Executions with at most so many events are explored on the caller's stack: a new one would take as long, and few enough are
/// within
/// each other. Nine read-modify-writes have 18 events and go deeper than [`FEW`] all the time.
const SMALL: usize = 10;

/// Bytes of a stack. A level takes a few thousand of them, more in debug builds; what is not touched costs nothing.
pub const BYTES: usize = LEVELS << 15;

thread_local! {
    /// Levels that the stack of this thread has room for.
    static ROOM: Cell<usize> = const { Cell::new(FEW) };
}

/// Where counting starts on this thread: its stack is full at the next multiple of [`LEVELS`].
pub fn start() -> usize {
    LEVELS - ROOM.get()
}

/// Says that this thread has a stack of [`BYTES`], and runs something on it.
pub fn on_large<R>(work: impl FnOnce() -> R) -> R {
    // The caller's frames have a few levels' room.
    ROOM.set(LEVELS - FEW);
    work()
}

/// Whether an exploration of so many events may go on where it is.
pub fn suits(events: usize) -> bool {
    events <= SMALL || ROOM.get() > FEW
}

/// Runs an exploration of so many events on a stack that suits it, as far as there is memory for one.
pub fn suited<R: Send>(events: usize, work: impl FnOnce() -> R + Send) -> R {
    if suits(events) {
        return work();
    }
    let (mut waiting, mut result) = (Some(work), None);
    grow(|| result = waiting.take().map(on_large));
    match (result, waiting) {
        (Some(result), _) => result,
        // The search will ask for a stack again, and then says what is left.
        (None, Some(work)) => work(),
        (None, None) => unreachable!("what was taken has a result"),
    }
}

/// Runs something on a new stack; false if there is no memory for one.
pub fn grow(work: impl FnOnce() + Send) -> bool {
    let worker = progress::worker();
    let work = || {
        progress::count_for(worker);
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
