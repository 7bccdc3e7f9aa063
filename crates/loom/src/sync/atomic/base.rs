//! What all atomic types are: a word that the explorer keeps.

#![allow(unsafe_code)]

use crate::rt::{self, Here, Order, RmwOp, Width};
use fencepost_explore::{Cell as Place, Do, Given, NativeStep, Wanted};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// What fits into an atomic.
pub trait Word: Copy {
    /// How wide it is.
    const WIDTH: Width;
    /// As bits, with zeros above.
    fn bits(self) -> u64;
    /// From such bits.
    fn of(bits: u64) -> Self;
}

macro_rules! word {
    ($($int:ty, $unsigned:ty, $width:ident;)*) => {$(
        impl Word for $int {
            const WIDTH: Width = Width::$width;
            fn bits(self) -> u64 {
                self as $unsigned as u64
            }
            fn of(bits: u64) -> Self {
                bits as $unsigned as $int
            }
        }
    )*};
}

word! {
    u8, u8, W8; i8, u8, W8; u16, u16, W16; i16, u16, W16; u32, u32, W32; i32, u32, W32;
    u64, u64, W64; i64, u64, W64; usize, usize, W64; isize, usize, W64;
}

impl Word for bool {
    const WIDTH: Width = Width::W8;
    fn bits(self) -> u64 {
        self.into()
    }
    fn of(bits: u64) -> Self {
        bits != 0
    }
}

impl<T> Word for *mut T {
    const WIDTH: Width = Width::W64;
    fn bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn of(bits: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

/// The order as the explorer has it.
pub fn order(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcqRel => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// The expected value is waited for.
pub const THIS: Wanted = Wanted { mask: u64::MAX, other: false, larger: false };
/// Another one is.
pub const OTHER: Wanted = Wanted { mask: u64::MAX, other: true, larger: false };
/// It, or a larger one.
pub const AT_LEAST: Wanted = Wanted { mask: u64::MAX, other: false, larger: true };

/// Some bit of these is waited for; the expected value is 0.
pub fn any_bit(mask: u64) -> Wanted {
    Wanted { mask, other: true, larger: false }
}

/// An atomic word.
pub struct Atomic<T> {
    /// Which cell it is, in this run: see `Run::identify`.
    id: Cell<[u64; 2]>,
    /// What stood in it at first.
    init: AtomicU64,
    /// What was written last in the order in which the threads happen to run: for whoever unwinds, and outside of models.
    newest: AtomicU64,
    fixed: Option<(u16, u32)>,
    of: PhantomData<Cell<T>>,
}

// SAFETY: the id is written by threads of a model only, of which one runs at a time, and only if the atomic lies in their memory.
unsafe impl<T> Sync for Atomic<T> {}
// SAFETY: as above; pointers are only words here.
unsafe impl<T> Send for Atomic<T> {}

impl<T> std::panic::RefUnwindSafe for Atomic<T> {}
impl<T> std::panic::UnwindSafe for Atomic<T> {}

impl<T> Atomic<T> {
    /// With these bits.
    pub const fn from_bits(bits: u64) -> Atomic<T> {
        let (init, newest) = (AtomicU64::new(bits), AtomicU64::new(bits));
        Atomic { id: Cell::new([0; 2]), init, newest, fixed: None, of: PhantomData }
    }

    /// The same one in every run, wherever it lies.
    pub const fn fixed(owner: u16, place: u32, bits: u64) -> Atomic<T> {
        let mut atomic = Atomic::from_bits(bits);
        atomic.fixed = Some((owner, place));
        atomic
    }
}

impl<T: Word> Atomic<T> {
    fn place(&self) -> Place {
        let init = self.init.load(Ordering::Relaxed);
        match self.fixed {
            Some((owner, place)) => Place { owner, place, version: 0, init },
            None => rt::with(|run| run.identify(&self.id, init)).unwrap_or_default(),
        }
    }

    fn step(&self, what: Do, operand: u64, expected: u64) -> NativeStep {
        let mut step = NativeStep::new(what);
        (step.cell, step.operand, step.expected) = (self.place(), operand, expected);
        step
    }

    fn perform(&self, what: Do, operand: u64, expected: u64, here: Here) -> Given {
        rt::plain::atomic(&self.id, here);
        rt::perform(self.step(what, operand, expected), here)
    }

    fn set_newest(&self, bits: u64) {
        self.newest.store(bits, Ordering::Relaxed);
    }

    /// Writes the newest value of a thread that does not make steps now.
    fn write_newest(&self, bits: u64) {
        self.newest.swap(bits, Ordering::SeqCst);
        if rt::is_inside() {
            rt::perform_late(self.step(Do::Store(Order::Release), bits, 0));
        } else {
            self.init.store(bits, Ordering::SeqCst);
        }
    }

    pub fn load(&self, order: Order, here: Here) -> T {
        if !rt::makes_steps() {
            return T::of(self.newest.load(Ordering::SeqCst));
        }
        T::of(self.perform(Do::Load(order), 0, 0, here).value)
    }

    pub fn store(&self, value: T, order: Order, here: Here) {
        let bits = value.bits();
        if !rt::makes_steps() {
            return self.write_newest(bits);
        }
        self.set_newest(bits);
        self.perform(Do::Store(order), bits, 0, here);
    }

    pub fn rmw(&self, op: RmwOp, value: T, order: Order, here: Here) -> T {
        let bits = value.bits();
        let combined = |old: u64| op.apply(T::WIDTH, fencepost_ir::Value(old), fencepost_ir::Value(bits)).0;
        if !rt::makes_steps() {
            let old = self.newest.load(Ordering::SeqCst);
            self.write_newest(combined(old));
            return T::of(old);
        }
        let old = self.perform(Do::Rmw(order, op, T::WIDTH), bits, 0, here).value;
        self.set_newest(combined(old));
        T::of(old)
    }

    pub fn exchange(
        &self,
        (expected, new): (T, T),
        (success, failure): (Order, Order),
        weak: bool,
        here: Here,
    ) -> Result<T, T> {
        let (expected, new) = (expected.bits(), new.bits());
        if !rt::makes_steps() {
            let old = self.newest.load(Ordering::SeqCst);
            if old == expected {
                self.write_newest(new);
            }
            return if old == expected { Ok(T::of(old)) } else { Err(T::of(old)) };
        }
        let weak = weak && rt::with(|run| run.shared.spurious_failures.load(Ordering::Relaxed)) == Some(true);
        let given = self.perform(Do::Exchange(success, failure, weak), new, expected, here);
        if given.value != expected || given.chosen {
            return Err(T::of(given.value));
        }
        self.set_newest(new);
        Ok(T::of(given.value))
    }

    /// Waits for a value.
    pub fn wait(&self, wanted: Wanted, value: u64, order: Order, here: Here) -> T {
        if !rt::makes_steps() {
            return T::of(self.newest.load(Ordering::SeqCst));
        }
        T::of(self.perform(Do::Await(order, wanted), 0, value, here).value)
    }

    /// Waits for a value, and combines in the same step.
    pub fn wait_and(&self, wait: (Wanted, u64), op: RmwOp, operand: T, order: Order, here: Here) -> T {
        if !rt::makes_steps() {
            return self.rmw(op, operand, order, here);
        }
        let what = Do::AwaitRmw(order, wait.0, op, T::WIDTH);
        let old = self.perform(what, operand.bits(), wait.1, here).value;
        self.set_newest(op.apply(T::WIDTH, fencepost_ir::Value(old), fencepost_ir::Value(operand.bits())).0);
        T::of(old)
    }

    /// A plain read, which races with whatever is not ordered with it.
    pub fn read_plain(&self, here: Here) -> T {
        self.load(Order::Plain, here)
    }

    /// A plain write.
    pub fn write_plain(&self, value: T, here: Here) {
        self.store(value, Order::Plain, here);
    }

    /// What stands in it, to whom it belongs alone.
    pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut T) -> R, here: Here) -> R {
        if !rt::makes_steps() || self.is_untouched() {
            let mut value = T::of(self.newest.load(Ordering::Relaxed));
            let result = change(&mut value);
            self.init.store(value.bits(), Ordering::Relaxed);
            self.newest.store(value.bits(), Ordering::Relaxed);
            return result;
        }
        let before = self.read_plain(here);
        let mut value = before;
        let result = change(&mut value);
        if value.bits() != before.bits() {
            self.write_plain(value, here);
        }
        result
    }

    /// Whether no step of this run has accessed it.
    fn is_untouched(&self) -> bool {
        self.fixed.is_none() && rt::with(|run| !run.knows(&self.id)).unwrap_or(true)
    }

    /// What stands in it at the end.
    pub fn into_inner(self, here: Here) -> T {
        if rt::makes_steps() && !self.is_untouched() {
            return self.read_plain(here);
        }
        T::of(self.newest.load(Ordering::Relaxed))
    }
}
