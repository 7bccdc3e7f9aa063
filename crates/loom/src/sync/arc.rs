//! As `std::sync::Arc`. Counting makes no steps: where all other owners are dropped before the last one, the value is dropped there. Otherwise
//! nobody knows who was the last; such a value is dropped at the end of the run, and if that is something that others could notice, the
//! exploration starts over with the owners of what was made in that place counted step by step. So it does for what looks at the count.

#![allow(unsafe_code)]

use crate::rt::{self, Count, Here, Order, RmwOp, Width};
use fencepost_explore::{Cell as Place, Do, NativeStep};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc as Std;

/// Shared ownership.
#[repr(transparent)]
pub struct Arc<T: ?Sized>(ManuallyDrop<Std<T>>);

/// The hope that somebody still owns it.
#[repr(transparent)]
pub struct Weak<T: ?Sized>(std::sync::Weak<T>);

impl<T: ?Sized> std::panic::UnwindSafe for Arc<T> {}
impl<T: ?Sized> Unpin for Arc<T> {}

/// The header of what an `Arc` points to is before it: nothing else has its address.
const HEADER: usize = 16;

fn register(address: usize, here: Here) {
    rt::with(|run| {
        let is_counted = run.shared.counts(here);
        run.counts.insert(address, Count { here, is_counted, dropped: Vec::new() });
        run.owed.insert(address, ("an `Arc`", here));
    });
}

/// Whether the owners are counted step by step; nothing outside of models.
fn is_counted(address: usize) -> Option<bool> {
    if !rt::makes_steps() {
        return None;
    }
    rt::with(|run| run.counts.get(&address).map(|count| count.is_counted)).flatten()
}

/// Counts the owners from now on, if nobody does.
fn demand_count(address: usize) -> bool {
    match is_counted(address) {
        None => false,
        Some(true) => true,
        Some(false) => {
            rt::with(|run| run.counts.get(&address).map(|count| run.shared.count(count.here)));
            rt::start_over();
            false
        }
    }
}

fn step(address: usize, what: Do, operand: u64, expected: u64, here: Here) -> u64 {
    let mut step = NativeStep::new(what);
    let place = rt::with(|run| run.arena.place(address - HEADER)).flatten();
    let (owner, place) = place.unwrap_or((rt::STATICS, address as u32));
    (step.cell, step.operand, step.expected) =
        (Place { owner, place, version: u32::MAX, init: 1 }, operand, expected);
    rt::perform(step, here).value
}

fn add(address: usize, op: RmwOp, order: Order, here: Here) -> u64 {
    step(address, Do::Rmw(order, op, Width::W64), 1, 0, here)
}

impl<T> Arc<T> {
    /// The first owner of a value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::made(Std::new(value), Location::caller())
    }

    /// The first owner of a value that stays where it is.
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: nobody moves what an `Arc` owns.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// A value that knows its own address.
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(make: F) -> Arc<T> {
        let here = Location::caller();
        let made = Std::new_cyclic(|weak| {
            let weak = Weak(weak.clone());
            make(&weak)
        });
        Arc::made(made, here)
    }

    /// The value, if nobody else owns it.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        let (address, here) = (this.address(), Location::caller());
        if demand_count(address) {
            let what = Do::Exchange(Order::Relaxed, Order::Relaxed, false);
            if step(address, what, 0, 1, here) != 1 {
                return Err(this);
            }
            rt::fence(Order::Acquire, here);
        }
        let std = this.into_std();
        rt::with(|run| run.owed.remove(&address));
        Std::try_unwrap(std).map_err(|std| Arc(ManuallyDrop::new(std)))
    }

    /// The value, if this is the last owner.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        let (address, here) = (this.address(), Location::caller());
        if demand_count(address) {
            if add(address, RmwOp::Sub, Order::Release, here) != 1 {
                drop(this.into_std());
                return None;
            }
            rt::fence(Order::Acquire, here);
        }
        rt::with(|run| run.owed.remove(&address));
        Std::into_inner(this.into_std())
    }
}

impl<T: ?Sized> Arc<T> {
    fn made(std: Std<T>, here: Here) -> Arc<T> {
        let arc = Arc(ManuallyDrop::new(std));
        register(arc.address(), here);
        arc
    }

    fn address(&self) -> usize {
        Std::as_ptr(&self.0).cast::<()>() as usize
    }

    fn into_std(self) -> Std<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `self` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }

    /// Takes over what an `Arc` of the standard library owns: for values that have no size.
    #[track_caller]
    pub fn from_std(std: Std<T>) -> Arc<T> {
        Arc::made(std, Location::caller())
    }

    /// How many owners there are.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        if demand_count(this.address()) {
            return step(this.address(), Do::Load(Order::Relaxed), 0, 0, Location::caller()) as usize;
        }
        Std::strong_count(&this.0)
    }

    /// How many hope.
    pub fn weak_count(this: &Arc<T>) -> usize {
        Std::weak_count(&this.0)
    }

    /// A hope that somebody still owns it.
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        Weak(Std::downgrade(&this.0))
    }

    /// The value, if nobody else owns it or hopes.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        if demand_count(this.address()) {
            let owners = step(this.address(), Do::Load(Order::Acquire), 0, 0, Location::caller());
            if owners != 1 {
                return None;
            }
        }
        Std::get_mut(&mut this.0)
    }

    /// Whether both own the same.
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Std::ptr_eq(&this.0, &other.0)
    }

    /// Where it is.
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        Std::as_ptr(&this.0)
    }

    /// An owner as a pointer.
    pub fn into_raw(this: Arc<T>) -> *const T {
        Std::into_raw(this.into_std())
    }

    /// The owner that became a pointer.
    ///
    /// # Safety
    /// As `std::sync::Arc::from_raw`.
    pub unsafe fn from_raw(ptr: *const T) -> Arc<T> {
        // SAFETY: as the caller promises.
        Arc(ManuallyDrop::new(unsafe { Std::from_raw(ptr) }))
    }

    /// One more owner.
    ///
    /// # Safety
    /// As `std::sync::Arc::increment_strong_count`.
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: as the caller promises; the owner that it belongs to stays.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(ptr) });
        std::mem::forget(Arc::clone(&this));
    }

    /// One owner less.
    ///
    /// # Safety
    /// As `std::sync::Arc::decrement_strong_count`.
    #[track_caller]
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: as the caller promises.
        drop(unsafe { Arc::from_raw(ptr) });
    }

    #[track_caller]
    fn let_go(&mut self) {
        let address = self.address();
        // SAFETY: called once, by `drop`.
        let std = unsafe { ManuallyDrop::take(&mut self.0) };
        let is_last = Std::strong_count(&std) == 1;
        match is_counted(address) {
            None => drop(std),
            Some(true) => {
                let here = Location::caller();
                // Who reads that it is the last comes after all others.
                if add(address, RmwOp::Sub, Order::Release, here) == 1 {
                    rt::fence(Order::Acquire, here);
                    rt::with(|run| run.owed.remove(&address));
                }
                drop(std);
            }
            Some(false) if !is_last => {
                rt::with(|run| {
                    let now = run.now();
                    run.counts.get_mut(&address).map(|count| count.dropped.push(now))
                });
                drop(std);
            }
            Some(false) => {
                let after_all = rt::with(|run| {
                    run.owed.remove(&address);
                    let (now, count) = (run.now(), run.counts.get(&address)?);
                    let past = run.past()?;
                    let after = count.dropped.iter().all(|&at| past.is_ordered(at, now));
                    if !after && std::mem::needs_drop::<T>() {
                        run.shared.orphan(count.here);
                    }
                    Some((after, count.here))
                });
                match after_all.flatten() {
                    Some((false, here)) if std::mem::needs_drop::<T>() => orphan(std, here),
                    // Nobody notices.
                    Some((false, _)) => std::mem::forget(std),
                    _ => drop(std),
                }
            }
        }
    }
}

/// Leaves a value for the end of the run.
fn orphan<T: ?Sized>(std: Std<T>, here: Here) {
    let drop: Box<dyn FnOnce() + '_> = Box::new(move || drop(std));
    // SAFETY: only the lifetime changes. The value lives on until the end of the run, as what it borrows does: an `Arc` of what does not is
    // dropped in a scope whose threads have ended, where all drops are ordered.
    let drop = unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(drop) };
    rt::with(|run| run.orphans.push((here, drop)));
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        if is_counted(self.address()) == Some(true) {
            add(self.address(), RmwOp::Add, Order::Relaxed, Location::caller());
        }
        Arc(self.0.clone())
    }
}

impl<T: Clone> Arc<T> {
    /// The value, to be changed: a copy if others own it, too.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        if Arc::get_mut(this).is_none() {
            *this = Arc::new((**this).clone());
        }
        Std::make_mut(&mut this.0)
    }

    /// The value, or a copy if others own it, too.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Arc<[T]> {
        Arc::from_std(values.into())
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Arc<str> {
        Arc::from_std(text.into())
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arc<[T]> {
        Arc::from_std(values.into_iter().collect())
    }
}

macro_rules! through {
    ($($trait:ident),*) => {$(
        impl<T: ?Sized + fmt::$trait> fmt::$trait for Arc<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

through!(Debug, Display);

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Std::as_ptr(&self.0), f)
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T> Weak<T> {
    /// Without hope.
    pub const fn new() -> Weak<T> {
        Weak(std::sync::Weak::new())
    }
}

impl<T: ?Sized> Weak<T> {
    /// One more owner, if there is one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let here = Location::caller();
        let address = self.0.as_ptr().cast::<()>() as usize;
        if demand_count(address) {
            let mut owners = step(address, Do::Load(Order::Relaxed), 0, 0, here);
            loop {
                if owners == 0 {
                    return None;
                }
                let what = Do::Exchange(Order::Acquire, Order::Relaxed, false);
                match step(address, what, owners + 1, owners, here) {
                    there if there == owners => break,
                    there => owners = there,
                }
            }
        }
        self.0.upgrade().map(|std| Arc(ManuallyDrop::new(std)))
    }

    /// How many owners there are.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        let address = self.0.as_ptr().cast::<()>() as usize;
        if demand_count(address) {
            return step(address, Do::Load(Order::Relaxed), 0, 0, Location::caller()) as usize;
        }
        self.0.strong_count()
    }

    /// Whether both hope for the same.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// Where it is.
    pub fn as_ptr(&self) -> *const T
    where
        T: Sized,
    {
        self.0.as_ptr()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        Weak(self.0.clone())
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
