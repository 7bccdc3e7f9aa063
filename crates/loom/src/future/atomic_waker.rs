//! loom's own `AtomicWaker`: a waker behind a mutex.

use crate::sync::Mutex;
use std::fmt;
use std::task::Waker;

/// A waker that one thread leaves and another one wakes.
#[derive(Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Without a waker.
    pub const fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// Leaves a waker. If another thread is just about to wake it, it is woken.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        match self.waker.try_lock() {
            Ok(mut there) => *there = Some(waker),
            Err(_) => waker.wake(),
        }
    }

    /// The same with a copy.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the waker, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker, if there is one.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(|poison| poison.into_inner()).take()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
