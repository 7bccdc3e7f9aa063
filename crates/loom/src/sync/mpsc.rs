//! As `std::sync::mpsc`: a queue behind a mutex, and a condition variable for whoever waits for what it holds.

use super::{Arc, Condvar, Mutex};
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

struct Shared<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    room: Option<usize>,
    senders: usize,
    is_open: bool,
}

/// Where values go in.
pub struct Sender<T>(Arc<Shared<T>>);

/// Where values go in, as long as there is room.
pub struct SyncSender<T>(Arc<Shared<T>>);

/// Where values come out.
pub struct Receiver<T>(Arc<Shared<T>>);

fn shared<T>(room: Option<usize>) -> Arc<Shared<T>> {
    let state = State { queue: VecDeque::new(), room, senders: 1, is_open: true };
    Arc::new(Shared { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() })
}

/// A channel that has room for everything.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = shared(None);
    (Sender(shared.clone()), Receiver(shared))
}

/// A channel with room for so many.
#[track_caller]
pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    // A hand-over is a channel with room for one, whose sender waits until the value is taken: not told apart here.
    let shared = shared(Some(room.max(1)));
    (SyncSender(shared.clone()), Receiver(shared))
}

impl<T> Shared<T> {
    fn lock(&self) -> super::MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut state = self.lock();
        while state.is_open && state.room.is_some_and(|room| state.queue.len() >= room) {
            state = self.emptied.wait(state).unwrap_or_else(|poison| poison.into_inner());
        }
        if !state.is_open {
            return Err(SendError(value));
        }
        state.queue.push_back(value);
        self.filled.notify_one();
        Ok(())
    }

    fn leave(&self) {
        let mut state = self.lock();
        state.senders -= 1;
        if state.senders == 0 {
            self.filled.notify_all();
        }
    }
}

impl<T> Sender<T> {
    /// Puts a value in.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }
}

impl<T> SyncSender<T> {
    /// Puts a value in when there is room.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }

    /// Puts a value in if there is room.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let mut state = self.0.lock();
        if !state.is_open {
            return Err(TrySendError::Disconnected(value));
        }
        if state.room.is_some_and(|room| state.queue.len() >= room) {
            return Err(TrySendError::Full(value));
        }
        state.queue.push_back(value);
        self.0.filled.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Waits for a value.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        let mut state = self.0.lock();
        loop {
            if let Some(value) = state.queue.pop_front() {
                if state.room.is_some() {
                    self.0.emptied.notify_one();
                }
                return Ok(value);
            }
            if state.senders == 0 {
                return Err(RecvError);
            }
            state = self.0.filled.wait(state).unwrap_or_else(|poison| poison.into_inner());
        }
    }

    /// Waits for a value, or until the time is up, which may be at any moment.
    #[track_caller]
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let mut state = self.0.lock();
        loop {
            if let Some(value) = state.queue.pop_front() {
                self.0.emptied.notify_one();
                return Ok(value);
            }
            if state.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            let (now, late) =
                self.0.filled.wait_timeout(state, time).unwrap_or_else(|poison| poison.into_inner());
            state = now;
            if late.timed_out() {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    /// Takes a value if there is one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut state = self.0.lock();
        match state.queue.pop_front() {
            Some(value) => {
                if state.room.is_some() {
                    self.0.emptied.notify_one();
                }
                Ok(value)
            }
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Values, until there are no senders any more.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Clone for Sender<T> {
    #[track_caller]
    fn clone(&self) -> Sender<T> {
        self.0.lock().senders += 1;
        Sender(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    #[track_caller]
    fn clone(&self) -> SyncSender<T> {
        self.0.lock().senders += 1;
        SyncSender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.lock();
            state.is_open = false;
            if state.room.is_some() {
                self.0.emptied.notify_all();
            }
            std::mem::take(&mut state.queue)
        };
        drop(left);
    }
}

macro_rules! opaque {
    ($($name:ident),*) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque!(Sender, SyncSender, Receiver);
