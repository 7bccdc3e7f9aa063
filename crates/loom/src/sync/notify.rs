//! loom's own `Notify`: a token that is handed over.

use super::atomic::{Atomic, THIS};
use crate::rt::{Order, RmwOp};
use std::fmt;
use std::panic::Location;

/// A token that one thread waits for and another one hands over.
pub struct Notify {
    token: Atomic<u32>,
}

impl Notify {
    /// Without a token.
    pub const fn new() -> Notify {
        Notify { token: Atomic::from_bits(0) }
    }

    /// Hands the token over.
    #[track_caller]
    pub fn notify(&self) {
        self.token.rmw(RmwOp::Exchange, 1, Order::AcqRel, Location::caller());
    }

    /// Waits for the token, and takes it.
    #[track_caller]
    pub fn wait(&self) {
        self.token.wait_and((THIS, 1), RmwOp::Exchange, 0, Order::Acquire, Location::caller());
    }
}

impl Default for Notify {
    fn default() -> Notify {
        Notify::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
