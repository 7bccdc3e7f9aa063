//! Hints: that a thread waits for others.

#![allow(unsafe_code)]

use crate::rt;

/// Says that this thread waits for others: what it did since it last said so is a round of its loop.
pub fn spin_loop() {
    rt::waits();
}

/// As that of the standard library; coming here is a finding.
///
/// # Safety
/// It must not be reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("`unreachable_unchecked` was reached")
}

/// As that of the standard library.
pub fn black_box<T>(value: T) -> T {
    std::hint::black_box(value)
}
