//! Atomic types: as `std::sync::atomic`, each access a step of its thread.

mod base;
mod typed;

pub use std::sync::atomic::Ordering;
pub use typed::*;

use crate::rt;
use std::panic::Location;

/// A fence.
#[track_caller]
pub fn fence(order: Ordering) {
    if !rt::is_inside() {
        return std::sync::atomic::fence(order);
    }
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    rt::fence(base::order(order), Location::caller());
}

/// A fence between a thread and its signal handlers: there are none here.
pub fn compiler_fence(order: Ordering) {
    std::sync::atomic::compiler_fence(order);
}

/// As [`crate::hint::spin_loop`].
#[track_caller]
pub fn spin_loop_hint() {
    crate::hint::spin_loop();
}

/// The order of the failure that belongs to one of success.
pub(crate) fn failure(order: Ordering) -> Ordering {
    match order {
        Ordering::AcqRel | Ordering::Acquire => Ordering::Acquire,
        Ordering::SeqCst => Ordering::SeqCst,
        _ => Ordering::Relaxed,
    }
}

pub(crate) use base::{AT_LEAST, Atomic, OTHER, THIS, any_bit};
