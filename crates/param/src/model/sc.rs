//! Sequential consistency: all of program order is preserved.

use super::{EventKind, MemoryModel};

/// Sequential consistency.
pub struct Sc;

impl MemoryModel for Sc {
    fn write_before(&self, _later: EventKind) -> bool {
        true
    }

    fn coherence_follows_firing(&self) -> bool {
        true
    }
}
