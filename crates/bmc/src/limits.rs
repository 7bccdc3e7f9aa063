//! Limits of time and memory, and the reasons to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The deadline has passed.
    Timeout,
    /// The process takes more memory than allowed.
    Memory,
    /// Somebody asked for it.
    Interrupted,
    /// The unrolled program is larger than [`crate::symbolic::Options::max_steps`].
    Size,
    /// This build has no solver.
    NoSolver,
}

impl StopReason {
    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            StopReason::Timeout => "the time limit was reached",
            StopReason::Memory => "the memory limit was reached",
            StopReason::Interrupted => "the search was interrupted",
            StopReason::Size => "the unrolled program is too large",
            StopReason::NoSolver => "this build has no SAT solver (it was built without the feature `sat`)",
        }
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The end of the time.
    pub deadline: Option<Instant>,
    /// Most bytes of the process.
    pub max_bytes: Option<u64>,
    /// Set by somebody else to stop early. Static, because the solver keeps what it asks for as long as it lives.
    pub interrupt: Option<&'static AtomicBool>,
    /// Most conflicts of one question; then it counts as interrupted. Unlike time, this does not depend on what else the
    /// computer does.
    pub conflicts: Option<u32>,
}

impl Limits {
    /// The limit that is reached now.
    pub fn reached(&self) -> Option<StopReason> {
        if self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(StopReason::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(StopReason::Timeout);
        }
        // Tables double when they grow, between two looks: some of the limit is left for that.
        let most = self.max_bytes? / 4 * 3;
        resident_bytes().is_some_and(|bytes| bytes > most).then_some(StopReason::Memory)
    }
}

/// What the process takes now; nothing where the system does not say.
fn resident_bytes() -> Option<u64> {
    const PAGE: u64 = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| pages * PAGE)
}
