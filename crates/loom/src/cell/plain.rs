//! As `std::cell::Cell`.

#![allow(unsafe_code)]

use super::UnsafeCell;

/// A cell that is read and written as a whole.
#[derive(Debug)]
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// With this value.
    pub const fn new(value: T) -> Cell<T> {
        Cell(UnsafeCell::new(value))
    }

    /// Writes it.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if std::ptr::eq(self, other) {
            return;
        }
        // SAFETY: two cells of one thread, which does nothing else meanwhile.
        self.0.with_mut(|a| other.0.with_mut(|b| unsafe { std::ptr::swap(a, b) }));
    }

    /// Writes it, and gives back what was there.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: the cell is of one thread, which does nothing else meanwhile.
        self.0.with_mut(|there| unsafe { std::ptr::replace(there, value) })
    }

    /// Reads it.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: as above.
        self.0.with(|there| unsafe { *there })
    }

    /// Takes it, and leaves the default.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// What is in it at the end.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: PartialEq + Copy> PartialEq for Cell<T> {
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq + Copy> Eq for Cell<T> {}

impl<T: PartialOrd + Copy> PartialOrd for Cell<T> {
    fn partial_cmp(&self, other: &Cell<T>) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Ord + Copy> Ord for Cell<T> {
    fn cmp(&self, other: &Cell<T>) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}
