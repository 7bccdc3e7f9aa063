//! Rust code under test: every execution of a closure under a weak memory model, each one once.
//!
//! ```
//! use fencepost_loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
//! use fencepost_loom::{sync::Arc, thread};
//!
//! let report = fencepost_loom::check(|| {
//!     let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
//!     let other = flags.clone();
//!     let second = thread::spawn(move || {
//!         other[1].store(true, Relaxed);
//!         other[0].load(Relaxed)
//!     });
//!     flags[0].store(true, Relaxed);
//!     flags[1].load(Relaxed);
//!     second.join().unwrap();
//! });
//! assert_eq!(report.executions, 4);
//! assert!(report.is_safe());
//! ```
//!
//! The API is that of `loom`, so that tests written for that run unchanged; `docs/RUST.md` says what is different.
//! [`check()`] and [`Config`] are
//! additions: counts and findings as data, and the memory model as a parameter.

pub mod cell;
pub mod check;
pub mod hint;
mod replay;
mod rt;
pub mod sync;
pub mod thread;

pub use check::{Config, Finding, Model, Report, check};
pub use fencepost_answer::FindingKind;

pub mod alloc;
pub mod future;
pub mod lazy_static;
pub mod model;

#[doc(inline)]
pub use model::model;

/// Does something in a model with memory that outlives the execution, such as noting an outcome in a set that was made before.
/// All other memory that
/// threads of a model take is gone at its end. It must not access anything of the model.
pub fn outside<R>(work: impl FnOnce() -> R) -> R {
    rt::outside(work)
}

/// loom's limit: threads that a model may have at once. Here it only says how many have room.
pub const MAX_THREADS: usize = rt::heap::THREADS;

/// Accepted: all executions are explored from the start.
pub fn explore() {}

/// Accepted: exploration does not stop.
pub fn stop_exploring() {}

/// Accepted: nothing is skipped.
pub fn skip_branch() {}

/// Values that every thread of a model has for itself, in each run anew.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const $init:block $(; $($rest:tt)*)?) => (
        $crate::__thread_local_inner!($(#[$attr])* $vis $name, $t, $init);
        $($crate::thread_local!($($rest)*);)?
    );
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr; $($rest:tt)*) => (
        $crate::__thread_local_inner!($(#[$attr])* $vis $name, $t, $init);
        $crate::thread_local!($($rest)*);
    );
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr) => (
        $crate::__thread_local_inner!($(#[$attr])* $vis $name, $t, $init);
    );
}

#[macro_export]
#[doc(hidden)]
macro_rules! __thread_local_inner {
    ($(#[$attr:meta])* $vis:vis $name:ident, $t:ty, $init:expr) => {
        $(#[$attr])* $vis static $name: $crate::thread::LocalKey<$t> =
            $crate::thread::LocalKey { init: (|| { $init }) as fn() -> $t, _p: ::std::marker::PhantomData };
    };
}

/// Statics that are made when they are first looked at, in each run anew.
#[macro_export]
macro_rules! lazy_static {
    ($(#[$attr:meta])* static ref $N:ident : $T:ty = $e:expr; $($t:tt)*) => {
        $crate::__lazy_static_internal!($(#[$attr])* () static ref $N : $T = $e; $($t)*);
    };
    ($(#[$attr:meta])* pub static ref $N:ident : $T:ty = $e:expr; $($t:tt)*) => {
        $crate::__lazy_static_internal!($(#[$attr])* (pub) static ref $N : $T = $e; $($t)*);
    };
    ($(#[$attr:meta])* pub ($($vis:tt)+) static ref $N:ident : $T:ty = $e:expr; $($t:tt)*) => {
        $crate::__lazy_static_internal!($(#[$attr])* (pub ($($vis)+)) static ref $N : $T = $e; $($t)*);
    };
    () => ()
}

#[macro_export]
#[doc(hidden)]
macro_rules! __lazy_static_internal {
    ($(#[$attr:meta])* ($($vis:tt)*) static ref $N:ident : $T:ty = $init:expr; $($t:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])*
        $($vis)* struct $N { __private_field: () }
        #[doc(hidden)]
        $($vis)* static $N: $N = $N { __private_field: () };
        impl ::core::ops::Deref for $N {
            type Target = $T;
            #[track_caller]
            fn deref(&self) -> &$T {
                fn initialize() -> $T {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$T> =
                    $crate::lazy_static::Lazy { init: initialize, _p: ::core::marker::PhantomData };
                LAZY.get()
            }
        }
        $crate::lazy_static!($($t)*);
    };
    () => ()
}
