//! As `std::sync::Mutex`: 0 is free, 1 is taken. Taking it is a read-modify-write that waits, giving it back a store.

#![allow(unsafe_code)]

use super::atomic::{Atomic, THIS};
use crate::rt::{Here, Order, RmwOp};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Mutual exclusion.
pub struct Mutex<T: ?Sized> {
    state: Atomic<u32>,
    poisoned: AtomicBool,
    data: UnsafeCell<T>,
}

// SAFETY: who has the mutex has the data alone.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for Mutex<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for Mutex<T> {}

/// The right to the data of a mutex.
#[must_use = "the mutex is given back when this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    panicking: bool,
    here: Here,
    stays: PhantomData<*const ()>,
}

// SAFETY: a reference to it is one to the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// Free, with this data.
    pub const fn new(data: T) -> Mutex<T> {
        Mutex { state: Atomic::from_bits(0), poisoned: AtomicBool::new(false), data: UnsafeCell::new(data) }
    }

    /// The data at the end.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        let data = self.data.into_inner();
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }
}

impl<T: ?Sized> Mutex<T> {
    fn guard(&self, here: Here) -> LockResult<MutexGuard<'_, T>> {
        let panicking = std::thread::panicking();
        let guard = MutexGuard { mutex: self, panicking, here, stays: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits for the mutex, and takes it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let here = Location::caller();
        self.take(here);
        self.guard(here)
    }

    fn take(&self, here: Here) {
        self.state.wait_and((THIS, 0), RmwOp::Exchange, 1, Order::Acquire, here);
    }

    fn give(&self, here: Here) {
        self.state.store(0, Order::Release, here);
    }

    /// Takes the mutex if it is free.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let here = Location::caller();
        match self.state.exchange((0, 1), (Order::Acquire, Order::Relaxed), false, here) {
            Ok(_) => Ok(self.guard(here)?),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    /// The data, to whom the mutex belongs alone.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        let data = self.data.get_mut();
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }

    /// Whether a thread has panicked that had it.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Forgets that.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    pub(super) fn let_go(&self, here: Here) {
        self.mutex.give(here);
    }

    pub(super) fn take_again(&self, here: Here) {
        self.mutex.take(here);
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.mutex.is_poisoned()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: who has the mutex has the data alone.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: who has the mutex has the data alone.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && std::thread::panicking() {
            self.mutex.poisoned.store(true, Ordering::Relaxed);
        }
        self.mutex.give(self.here);
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(data: T) -> Mutex<T> {
        Mutex::new(data)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
