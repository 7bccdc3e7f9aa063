//! Typing: what the parser asks when it has recognised an expression. All of it is methods of the parser, because C's
//! syntax needs its types.

mod atomics;
mod calls;
mod constant;
mod convert;
mod init;
mod jumps;
mod operators;
mod overflow;

pub use calls::is_builtin;
pub use constant::{Base, Const, evaluate, representation};
