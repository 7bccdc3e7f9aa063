//! Partial store order: a write may also be delayed past later writes to other cells.
//!
//! `po | rf | co` may have cycles (2+2W), so the order of two writes to one cell is a choice of its own.

use super::{EventKind, MemoryModel};

/// Partial store order.
pub struct Pso;

impl MemoryModel for Pso {
    fn write_before(&self, later: EventKind) -> bool {
        later == EventKind::Fence
    }

    fn coherence_follows_firing(&self) -> bool {
        false
    }
}
