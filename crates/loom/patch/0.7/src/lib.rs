//! loom's name for `fencepost-loom`.

pub use fencepost_loom::*;

/// What the macros of the library name.
#[doc(hidden)]
pub use fencepost_loom::{__lazy_static_internal, __thread_local_inner};
