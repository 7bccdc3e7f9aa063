//! As `std::sync::RwLock`: the number of readers, or all ones for a writer.

#![allow(unsafe_code)]

use super::atomic::{Atomic, OTHER, THIS};
use crate::rt::{Here, Order, RmwOp};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

const WRITER: u32 = u32::MAX;

/// Many readers or one writer.
pub struct RwLock<T: ?Sized> {
    state: Atomic<u32>,
    poisoned: AtomicBool,
    data: UnsafeCell<T>,
}

// SAFETY: a writer has the data alone, readers only read it.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T: ?Sized> std::panic::UnwindSafe for RwLock<T> {}
impl<T: ?Sized> std::panic::RefUnwindSafe for RwLock<T> {}

/// The right to read.
#[must_use = "the lock is given back when this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    here: Here,
    stays: PhantomData<*const ()>,
}

/// The right to write.
#[must_use = "the lock is given back when this is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    panicking: bool,
    here: Here,
    stays: PhantomData<*const ()>,
}

// SAFETY: a reference to it is one to the data.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// Free, with this data.
    pub const fn new(data: T) -> RwLock<T> {
        RwLock { state: Atomic::from_bits(0), poisoned: AtomicBool::new(false), data: UnsafeCell::new(data) }
    }

    /// The data at the end.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.is_poisoned();
        let data = self.data.into_inner();
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }
}

impl<T: ?Sized> RwLock<T> {
    fn reader(&self, here: Here) -> LockResult<RwLockReadGuard<'_, T>> {
        let guard = RwLockReadGuard { lock: self, here, stays: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn writer(&self, here: Here) -> LockResult<RwLockWriteGuard<'_, T>> {
        let panicking = std::thread::panicking();
        let guard = RwLockWriteGuard { lock: self, panicking, here, stays: PhantomData };
        if self.is_poisoned() { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    /// Waits until nobody writes.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let here = Location::caller();
        self.state.wait_and((OTHER, WRITER.into()), RmwOp::Add, 1, Order::Acquire, here);
        self.reader(here)
    }

    /// Reads if nobody writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let here = Location::caller();
        let mut state = self.state.load(Order::Relaxed, here);
        while state != WRITER {
            let orders = (Order::Acquire, Order::Relaxed);
            match self.state.exchange((state, state + 1), orders, false, here) {
                Ok(_) => return Ok(self.reader(here)?),
                Err(now) => state = now,
            }
        }
        Err(TryLockError::WouldBlock)
    }

    /// Waits until nobody reads or writes.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let here = Location::caller();
        self.state.wait_and((THIS, 0), RmwOp::Exchange, WRITER, Order::Acquire, here);
        self.writer(here)
    }

    /// Writes if nobody reads or writes.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let here = Location::caller();
        match self.state.exchange((0, WRITER), (Order::Acquire, Order::Relaxed), false, here) {
            Ok(_) => Ok(self.writer(here)?),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    /// The data, to whom the lock belongs alone.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.is_poisoned();
        let data = self.data.get_mut();
        if poisoned { Err(PoisonError::new(data)) } else { Ok(data) }
    }

    /// Whether a thread has panicked that wrote.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Forgets that.
    pub fn clear_poison(&self) {
        self.poisoned.store(false, Ordering::Relaxed);
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes meanwhile.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a writer has the data alone.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: a writer has the data alone.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.state.rmw(RmwOp::Sub, 1, Order::Release, self.here);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && std::thread::panicking() {
            self.lock.poisoned.store(true, Ordering::Relaxed);
        }
        self.lock.state.store(0, Order::Release, self.here);
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(data: T) -> RwLock<T> {
        RwLock::new(data)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
