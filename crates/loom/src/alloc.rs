//! Memory that must be given back.

#![allow(unsafe_code)]

use crate::rt;
use std::panic::Location;

pub use std::alloc::Layout;

/// Memory that is noted until it is given back.
///
/// # Safety
/// As `std::alloc::alloc`.
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    let memory = unsafe { std::alloc::alloc(layout) };
    rt::with(|run| run.owed.insert(memory as usize, ("memory of `alloc`", Location::caller())));
    memory
}

/// The same, filled with zeros.
///
/// # Safety
/// As `std::alloc::alloc_zeroed`.
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    rt::with(|run| run.owed.insert(memory as usize, ("memory of `alloc`", Location::caller())));
    memory
}

/// Gives memory back.
///
/// # Safety
/// As `std::alloc::dealloc`.
#[track_caller]
pub unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    rt::with(|run| run.owed.remove(&(memory as usize)));
    // SAFETY: as the caller promises.
    unsafe { std::alloc::dealloc(memory, layout) }
}

/// A value that must be dropped.
#[derive(Debug)]
pub struct Track<T> {
    value: Option<T>,
    /// What tells it from others, wherever it goes.
    mark: Box<u8>,
}

impl<T> Track<T> {
    /// A value that must be dropped.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let mark = Box::new(0);
        rt::with(|run| {
            run.owed.insert(&raw const *mark as usize, ("a value of `Track`", Location::caller()))
        });
        Track { value: Some(value), mark }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("it is taken at the end only"),
        }
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        match &mut self.value {
            Some(value) => value,
            None => unreachable!("it is taken at the end only"),
        }
    }

    /// The value at the end.
    pub fn into_inner(mut self) -> T {
        match self.value.take() {
            Some(value) => value,
            None => unreachable!("it is taken at the end only"),
        }
    }
}

impl<T> Drop for Track<T> {
    fn drop(&mut self) {
        rt::with(|run| run.owed.remove(&(&raw const *self.mark as usize)));
    }
}
