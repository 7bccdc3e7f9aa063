//! What `lazy_static!` makes: a value per run.

use crate::rt;
use crate::sync::Once;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

/// The value is gone: its thread ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError {
    pub(crate) _private: (),
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is gone: its thread ends")
    }
}

impl std::error::Error for AccessError {}

/// A value that is made when it is first looked at, in each run anew.
pub struct Lazy<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

impl<T: 'static> Lazy<T> {
    /// The value of this run.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        let here = Location::caller();
        let address = self as *const Lazy<T> as usize;
        if !rt::is_inside() {
            // Nobody knows how long it is needed.
            return Box::leak(Box::new((self.init)()));
        }
        let once = Once::fixed(rt::ONCE, rt::static_number(address));
        once.call(
            || {
                let made = Box::into_raw(Box::new((self.init)()));
                // SAFETY: the run calls this once, at its end, with what is noted here.
                #[allow(unsafe_code)]
                rt::note_slot(address, made.cast(), |slot| drop(unsafe { Box::from_raw(slot.cast::<T>()) }));
            },
            here,
        );
        match rt::slot_of(address) {
            // SAFETY: it lives until the end of the run, and is of this type.
            #[allow(unsafe_code)]
            Some(slot) => unsafe { &*slot.cast::<T>() },
            None => unreachable!("it was just made"),
        }
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
