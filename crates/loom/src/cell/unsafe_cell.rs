//! As `std::cell::UnsafeCell`, but every access says whether it reads or writes, and how long.

#![allow(unsafe_code)]

use crate::rt::plain::{access, caller};
use crate::rt::{self, Here};
use fencepost_explore::At;
use std::cell::Cell;
use std::fmt;

/// Memory that is read and written through raw pointers.
pub struct UnsafeCell<T: ?Sized> {
    /// Which cell it is, in this run.
    id: Cell<[u64; 2]>,
    data: std::cell::UnsafeCell<T>,
}

// SAFETY: the id is written by threads of a model, of which one runs at a time. As with the standard library's, the type around it says
// whether it may be shared; one that says nothing is not, as `Cell` is not.
unsafe impl<T: ?Sized + Send> Send for UnsafeCell<T> {}

/// A pointer that is read through: the access lasts as long as it does.
pub struct ConstPtr<T: ?Sized> {
    ptr: *const T,
    id: *const Cell<[u64; 2]>,
    begun: At,
    here: Here,
}

/// A pointer that is written through: the access lasts as long as it does.
pub struct MutPtr<T: ?Sized> {
    ptr: *mut T,
    id: *const Cell<[u64; 2]>,
    begun: At,
    here: Here,
}

impl<T> UnsafeCell<T> {
    /// With this value.
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell { id: Cell::new([0; 2]), data: std::cell::UnsafeCell::new(data) }
    }

    /// What is in it at the end.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads through a pointer.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        let reading = self.get();
        f(reading.ptr)
    }

    /// Writes through a pointer.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        let writing = self.get_mut();
        f(writing.ptr)
    }

    /// Begins to read.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let here = caller();
        access(&self.id, false, here);
        ConstPtr { ptr: self.data.get(), id: &self.id, begun: now(), here }
    }

    /// Begins to write.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let here = caller();
        access(&self.id, true, here);
        MutPtr { ptr: self.data.get(), id: &self.id, begun: now(), here }
    }
}

fn now() -> At {
    rt::with(|run| run.now()).unwrap_or(At { thread: 0, index: 0 })
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    /// As for a raw pointer.
    #[allow(clippy::should_implement_trait)]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: as the caller promises.
        unsafe { &*self.ptr }
    }

    /// Reads through the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.ptr)
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// What it points to.
    ///
    /// # Safety
    /// As for a raw pointer.
    #[allow(clippy::should_implement_trait, clippy::mut_from_ref)]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: as the caller promises.
        unsafe { &mut *self.ptr }
    }

    /// Writes through the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.ptr)
    }
}

/// The access was not over when it began: it is one at its end, too, if the thread has made steps meanwhile.
fn end(id: *const Cell<[u64; 2]>, begun: At, writes: bool, here: Here) {
    if now() != begun {
        // SAFETY: memory of a run is not given back before its end.
        access(unsafe { &*id }, writes, here);
    }
}

impl<T: ?Sized> Drop for ConstPtr<T> {
    fn drop(&mut self) {
        end(self.id, self.begun, false, self.here);
    }
}

impl<T: ?Sized> Drop for MutPtr<T> {
    fn drop(&mut self) {
        end(self.id, self.begun, true, self.here);
    }
}

impl<T: ?Sized> fmt::Debug for ConstPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstPtr").finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Debug for MutPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutPtr").finish_non_exhaustive()
    }
}
