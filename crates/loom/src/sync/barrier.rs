//! As `std::sync::Barrier`: arrivals are counted up; a round is over when the count reaches the next multiple.

use super::atomic::{AT_LEAST, Atomic};
use crate::rt::{Order, RmwOp};
use std::fmt;
use std::panic::Location;

/// Threads wait here until enough of them are there.
pub struct Barrier {
    arrived: Atomic<u32>,
    needed: u32,
}

/// Says whether a thread was the last one.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether the thread was the last one.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// For so many threads.
    pub const fn new(n: usize) -> Barrier {
        Barrier { arrived: Atomic::from_bits(0), needed: if n == 0 { 1 } else { n as u32 } }
    }

    /// Waits for the others.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let here = Location::caller();
        let before = self.arrived.rmw(RmwOp::Add, 1, Order::AcqRel, here);
        let goal = (before / self.needed + 1) * self.needed;
        if before + 1 == goal {
            return BarrierWaitResult(true);
        }
        self.arrived.wait(AT_LEAST, goal.into(), Order::Acquire, here);
        BarrierWaitResult(false)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
