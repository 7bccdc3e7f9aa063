//! Futures in a model.

mod atomic_waker;

pub use atomic_waker::AtomicWaker;

use crate::sync::Notify;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

struct Woken(Notify);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.notify();
    }

    fn wake_by_ref(self: &std::sync::Arc<Self>) {
        self.0.notify();
    }
}

/// Runs a future to its end on this thread.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let woken = std::sync::Arc::new(Woken(Notify::new()));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        woken.0.wait();
    }
}
