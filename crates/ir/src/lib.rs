//! The shared vocabulary: every front end produces a [`Program`], every engine consumes one, and an axiomatic model
//! judges an [`Execution`].
//!
//! * `value`: 64-bit values, which are integers or (object, offset) pointers.
//! * `annotation`: memory orders and access annotations; [`fence`]: the table of fences. Models see these, never PPC or C syntax.
//! * `program`: objects, functions, threads and instructions.
//! * `property`: final conditions (`exists`, `forall`, ...) over final registers and memory.
//! * `compiled`: what a front end makes of a file.
//! * `execution`: events with `po rf co rmw addr data ctrl`.
//! * `relation`: dense bit matrices.
//! * [`text`]: the text form of programs and executions.
//! * [`mod@flat`]: threads without calls, loops and backward jumps.
//! * `flow`: uses, definitions and successors of instructions; `live`: registers that may still matter.
//! * `locals`: local objects of `main` as global ones.
//! * [`names`]: what the parts of objects are called.
//! * [`nondet`]: choices among many values, by intervals.
//! * [`private`]: local objects that only their own function's accesses can reach.
//! * [`registers`]: local objects as registers, helper functions inlined for it.
//! * [`sections`]: atomic sections as critical ones.
//! * [`undefined`]: checks before uses of values that nobody wrote.
//! * [`unroll`]: programs with bounded loops.

mod annotation;
mod arithmetic;
mod compiled;
mod execution;
pub mod fence;
pub mod flat;
mod flow;
pub mod independent;
mod live;
mod locals;
pub mod names;
pub mod nondet;
pub mod pauses;
pub mod private;
mod program;
mod property;
pub mod registers;
mod relation;
pub mod sections;
pub mod tail_calls;
pub mod text;
pub mod undefined;
pub mod unroll;
mod value;
pub mod wide;

pub use annotation::{Ann, Order, Role};
pub use compiled::{Compiled, Failure, Language, LeftOut};
pub use execution::{Event, EventKind, Execution, Location};
pub use fence::{Accesses, Fence, Kernel};
pub use fencepost_diag::Span;
pub use live::{LiveSet, live_registers};
pub use locals::globalise_locals_of_main;
pub use program::{
    BinaryOp, Callee, Cell, Extend, FailKind, Function, FunctionId, Instr, Label, Object, ObjectId, Operand,
    Program, Reg, RmwOp, Rvalue, Thread, ThreadId, UnaryOp, Until, Width,
};
pub use property::{Compare, FinalCondition, Observable, Property, Proposition, Quantifier, Term};
pub use relation::Relation;
pub use unroll::bound_loops;
pub use value::Value;
