//! Plain memory that threads share at their own risk: accesses that nothing orders are found.

mod plain;
mod unsafe_cell;

pub use plain::Cell;
pub use unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
