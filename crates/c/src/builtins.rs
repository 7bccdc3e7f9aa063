//! The operations that the lowering knows beyond plain C: atomics, waits, locks and findings.
//!
//! The parser turns calls of `__atomic_*`, `__sync_*` and of the `__fp_*` primitives of our headers into these. Library
//! functions with ordinary prototypes are calls until the lowering, which knows whether the program defines them.

use fencepost_ir::{BinaryOp, FailKind, Fence, Order, RmwOp};

/// What a compare-exchange gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CasResult {
    /// Whether it succeeded.
    Success,
    /// The old value.
    Old,
}

/// A known operation; its arguments are described with each.
#[derive(Clone, PartialEq, Debug)]
pub enum Builtin {
    /// `[pointer]`: the value.
    Load(Order),
    /// `[pointer, value]`.
    Store(Order),
    /// `[pointer]`: the value, and a reservation of its cell.
    LoadExclusive(Order),
    /// `[pointer, value]`: 0 if it stored, 1 if the reservation was lost.
    StoreExclusive {
        /// The memory order.
        order: Order,
        /// It is tried again until it stores, by a loop that does nothing else: what fails need not be followed.
        retried: bool,
    },
    /// `[pointer, value]`: the old value.
    Exchange(Order),
    /// `[pointer, operand]`: the old value, or the new one.
    Fetch {
        /// What is done.
        op: RmwOp,
        /// The memory order.
        order: Order,
        /// The result is the new value.
        new: bool,
    },
    /// `[pointer, pointer to expected, desired]`: success; on failure the value found goes to `expected`.
    CompareExchange {
        /// Order when it succeeds.
        success: Order,
        /// Order of the read when it fails.
        failure: Order,
        /// May fail spuriously.
        weak: bool,
    },
    /// `[pointer, expected, desired]`.
    CompareSwap {
        /// Order when it succeeds.
        success: Order,
        /// Order of the read when it fails.
        failure: Order,
        /// What it gives.
        result: CasResult,
    },
    /// A fence without arguments.
    Fence(Fence),
    /// `[pointer, operand]`: waits until the value satisfies the comparison, and gives it.
    Await(BinaryOp, Order),
    /// `[pointer, operand of the condition, operand of the operation]`: waits, then modifies; gives the old value.
    AwaitRmw(BinaryOp, RmwOp, Order),
    /// `[pointer]`: the value, 0 if there is none yet.
    Peek,
    /// `[size]`: memory for an array of variable length.
    Allocate,
    /// Any value from the first number to the second.
    Range(i64, i64),
    /// A pointer to the arguments that the function does not name.
    Varargs,
    /// `[pointer to a 32-bit cell]`.
    Lock,
    /// `[pointer to a 32-bit cell]`.
    Unlock,
    /// `[pointer to a 32-bit cell]`: 1 if locked now.
    TryLock,
    /// `[condition]`.
    Assert(String),
    /// Reaching it is a finding.
    Fail(FailKind, String),
    /// Evaluates its arguments for their effects; gives 0.
    Ignore,
}

impl Builtin {
    /// The positions of pointer arguments that are only read or written through at once: `&x` there does not let the
    /// address of `x` escape, and `x` may even be a register.
    pub fn reads_through(&self, argument: usize) -> bool {
        matches!((self, argument), (Builtin::CompareExchange { .. }, 1))
    }
}
