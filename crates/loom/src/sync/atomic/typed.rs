//! The types, with the methods of the standard library.

use super::base::{Atomic, order as of};
use super::{Ordering, failure};
use crate::rt::RmwOp;
use std::fmt;
use std::panic::Location;

macro_rules! common {
    ($name:ident $(<$param:ident>)?, $value:ty) => {
        impl$(<$param>)? $name$(<$param>)? {
            /// A read that is no step, for whoever knows that nobody writes.
            ///
            /// # Safety
            /// Nobody else may write at the same time.
            #[track_caller]
            #[allow(unsafe_code)]
            pub unsafe fn unsync_load(&self) -> $value {
                self.0.read_plain(Location::caller())
            }

            /// What stands in it.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                self.0.with_mut(f, Location::caller())
            }

            /// What stands in it at the end.
            #[track_caller]
            pub fn into_inner(self) -> $value {
                self.0.into_inner(Location::caller())
            }

            /// A load.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                assert!(
                    !matches!(order, Ordering::Release | Ordering::AcqRel),
                    "there is no such thing as a release load"
                );
                self.0.load(of(order), Location::caller())
            }

            /// A store.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                assert!(
                    !matches!(order, Ordering::Acquire | Ordering::AcqRel),
                    "there is no such thing as an acquire store"
                );
                self.0.store(value, of(order), Location::caller());
            }

            /// Stores a value and gives back what was there.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.rmw(RmwOp::Exchange, value, of(order), Location::caller())
            }

            /// Stores a value if another one is there; gives back what was there.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                self.compare_exchange(current, new, order, failure(order)).unwrap_or_else(|was| was)
            }

            /// Stores a value if another one is there.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.exchange((current, new), (of(success), of(failure)), false, Location::caller())
            }

            /// The same; it may fail without a reason, if the model is told to.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.exchange((current, new), (of(success), of(failure)), true, Location::caller())
            }

            /// Tries to store what `f` makes of what is there, until it does.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut was = self.load(fetch);
                while let Some(new) = f(was) {
                    match self.compare_exchange_weak(was, new, set, fetch) {
                        Ok(was) => return Ok(was),
                        Err(now) => was = now,
                    }
                }
                Err(was)
            }
        }

        impl$(<$param>)? From<$value> for $name$(<$param>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl$(<$param>)? fmt::Debug for $name$(<$param>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).finish()
            }
        }
    };
}

macro_rules! fetch {
    ($(#[$doc:meta] $method:ident, $op:expr;)*) => {$(
        #[$doc]
        #[track_caller]
        pub fn $method(&self, value: Value, order: Ordering) -> Value {
            self.0.rmw($op, value, of(order), Location::caller())
        }
    )*};
}

macro_rules! integers {
    ($($name:ident, $int:ident, $max:ident, $min:ident;)*) => {$(
        /// An atomic integer.
        pub struct $name(Atomic<$int>);

        const _: () = {
            type Value = $int;

            impl $name {
                /// With this value.
                pub const fn new(value: $int) -> $name {
                    // As `Word::bits`, which is no constant function: zeros above.
                    let bits = u64::from_ne_bytes((value as i64).to_ne_bytes());
                    $name(Atomic::from_bits(bits & (u64::MAX >> (64 - <$int>::BITS))))
                }

                fetch! {
                    /// Adds.
                    fetch_add, RmwOp::Add;
                    /// Subtracts.
                    fetch_sub, RmwOp::Sub;
                    /// Bitwise and.
                    fetch_and, RmwOp::And;
                    /// Complement of bitwise and.
                    fetch_nand, RmwOp::Nand;
                    /// Bitwise or.
                    fetch_or, RmwOp::Or;
                    /// Bitwise exclusive or.
                    fetch_xor, RmwOp::Xor;
                    /// Maximum.
                    fetch_max, RmwOp::$max;
                    /// Minimum.
                    fetch_min, RmwOp::$min;
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(0)
                }
            }
        };

        common!($name, $int);
    )*};
}

integers! {
    AtomicU8, u8, MaxU, MinU;
    AtomicU16, u16, MaxU, MinU;
    AtomicU32, u32, MaxU, MinU;
    AtomicU64, u64, MaxU, MinU;
    AtomicUsize, usize, MaxU, MinU;
    AtomicI8, i8, MaxS, MinS;
    AtomicI16, i16, MaxS, MinS;
    AtomicI32, i32, MaxS, MinS;
    AtomicI64, i64, MaxS, MinS;
    AtomicIsize, isize, MaxS, MinS;
}

/// An atomic truth value.
pub struct AtomicBool(Atomic<bool>);

type Value = bool;

impl AtomicBool {
    /// With this value.
    pub const fn new(value: bool) -> AtomicBool {
        AtomicBool(Atomic::from_bits(value as u64))
    }

    fetch! {
        /// And.
        fetch_and, RmwOp::And;
        /// Or.
        fetch_or, RmwOp::Or;
        /// Exclusive or.
        fetch_xor, RmwOp::Xor;
    }

    /// Complement of and.
    #[track_caller]
    pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
        // The complement of one bit, not of eight.
        match value {
            true => self.fetch_xor(true, order),
            false => self.swap(true, order),
        }
    }

    /// Negation.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

common!(AtomicBool, bool);

/// An atomic pointer.
pub struct AtomicPtr<T>(Atomic<*mut T>);

impl<T> AtomicPtr<T> {
    /// With this value.
    pub fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr(Atomic::from_bits(value.expose_provenance() as u64))
    }

    /// The null pointer, as a constant.
    pub const fn null() -> AtomicPtr<T> {
        AtomicPtr(Atomic::from_bits(0))
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::null()
    }
}

common!(AtomicPtr<T>, *mut T);
