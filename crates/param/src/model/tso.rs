//! Total store order: a write may be delayed past later reads of its process (ppo = po minus write-read pairs).
//!
//! `po | rf | co` is acyclic: a read is left through `po` only, so each write-read-...-write path of a cycle is a
//! write-write pair, which is preserved, and the cycle would be one of `ghb`.

use super::{EventKind, MemoryModel};

/// Total store order.
pub struct Tso;

impl MemoryModel for Tso {
    fn write_before(&self, later: EventKind) -> bool {
        later != EventKind::Read
    }

    fn coherence_follows_firing(&self) -> bool {
        true
    }
}
