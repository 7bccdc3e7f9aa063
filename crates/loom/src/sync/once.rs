//! As `std::sync::Once`, `OnceLock` and `LazyLock`: 0 before, 1 while it runs, 2 when it is done.

#![allow(unsafe_code)]

use super::atomic::{Atomic, OTHER};
use crate::rt::{self, Here, Order};
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ops::Deref;
use std::panic::Location;

const NEW: u32 = 0;
const RUNS: u32 = 1;
const DONE: u32 = 2;

/// Something that is done once.
pub struct Once {
    state: Atomic<u32>,
}

/// Gives the state back if what was to be done panics.
struct Undone<'a>(&'a Once, Here, bool);

impl Drop for Undone<'_> {
    fn drop(&mut self) {
        self.0.state.store(if self.2 { DONE } else { NEW }, Order::Release, self.1);
    }
}

impl Once {
    /// Not done yet.
    pub const fn new() -> Once {
        Once { state: Atomic::from_bits(NEW as u64) }
    }

    pub(crate) const fn fixed(owner: u16, place: u32) -> Once {
        Once { state: Atomic::fixed(owner, place, NEW as u64) }
    }

    /// Does it if nobody has, or waits until it is done.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        self.call(f, Location::caller());
    }

    pub(crate) fn call<F: FnOnce()>(&self, f: F, here: Here) {
        loop {
            match self.state.exchange((NEW, RUNS), (Order::Acquire, Order::Acquire), false, here) {
                Ok(_) => {
                    let mut undone = Undone(self, here, false);
                    f();
                    undone.2 = true;
                    return;
                }
                Err(DONE) => return,
                Err(_) => {
                    if self.state.wait(OTHER, RUNS.into(), Order::Acquire, here) == DONE {
                        return;
                    }
                }
            }
        }
    }

    /// Whether it is done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.state.load(Order::Acquire, Location::caller()) == DONE
    }
}

impl Default for Once {
    fn default() -> Once {
        Once::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// A value that is written once.
pub struct OnceLock<T> {
    once: Once,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by whoever does it once, and read when that is done.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Without a value.
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once::new(), value: UnsafeCell::new(None) }
    }

    /// Where the value is: that of a static is another one in each run.
    fn place(&self) -> *mut Option<T> {
        match rt::slot_of(self.value.get() as usize) {
            Some(slot) => slot.cast(),
            None => self.value.get(),
        }
    }

    fn value(&self) -> Option<&T> {
        // SAFETY: it was written before the state said so, and is not written again.
        unsafe { (*self.place()).as_ref() }
    }

    fn write(&self, value: Option<T>) {
        let own = self.value.get();
        if rt::is_inside() && !rt::heap::is_inside(own as usize) {
            let made = Box::into_raw(Box::new(value));
            // SAFETY: the run calls this once, at its end, with what is noted here.
            rt::note_slot(own as usize, made.cast(), |slot| {
                drop(unsafe { Box::from_raw(slot.cast::<Option<T>>()) })
            });
        } else {
            // SAFETY: only one thread comes here, and others read it when this is done.
            unsafe { *own = value };
        }
    }

    /// The value, if it is there.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value() } else { None }
    }

    /// The value, to whom this belongs alone.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Writes the value if there is none; gives it back otherwise.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.fill(|| value.take(), Location::caller());
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    fn fill(&self, make: impl FnOnce() -> Option<T>, here: Here) {
        self.once.call(
            || {
                let value = make();
                self.write(value);
            },
            here,
        );
    }

    /// The value, made if there is none.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.init(f, Location::caller())
    }

    pub(crate) fn init<F: FnOnce() -> T>(&self, f: F, here: Here) -> &T {
        self.fill(|| Some(f()), here);
        match self.value() {
            Some(value) => value,
            None => unreachable!("it was just written"),
        }
    }

    /// The value at the end.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// Takes the value.
    pub fn take(&mut self) -> Option<T> {
        std::mem::take(self).into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        OnceLock { once: Once { state: Atomic::from_bits(DONE.into()) }, value: UnsafeCell::new(Some(value)) }
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// A value that is made when it is first looked at.
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    make: Cell<Option<F>>,
}

// SAFETY: `make` is taken by whoever makes the value, once.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// Made by `make`.
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { value: OnceLock::new(), make: Cell::new(Some(make)) }
    }

    fn maker(&self) -> Option<F> {
        if rt::is_inside() && !rt::heap::is_inside(&raw const *self as usize) {
            // SAFETY: a static's is a constant, which nobody drops; each run begins with it.
            return unsafe { (*self.make.as_ptr()).as_ref().map(|make| std::ptr::read(make)) };
        }
        self.make.take()
    }

    /// Makes it if it is not made.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let here = Location::caller();
        this.value.init(
            || match this.maker() {
                Some(make) => make(),
                None => panic!("what made the value has panicked before"),
            },
            here,
        )
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
