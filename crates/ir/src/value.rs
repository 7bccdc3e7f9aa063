//! Values: what registers and memory cells hold.
//!
//! A value is 64 bits. An integer of a smaller width is kept zero- or sign-extended, as the instruction that made it
//! says. A pointer is an (object, offset) pair in an encoding of its own: bit 46 set, bit 47 clear, the object in bits
//! 32..46 and 48..64 and the offset in bits 0..32. Small integers, among them null, are therefore never pointers, pointer
//! arithmetic within an object is plain addition, and an address that leaves its object keeps its object number, so
//! that out-of-bounds accesses are seen. As on the usual targets addresses are below 2^47, as long as there are no more than
//! 16,384 objects: programs keep counters in the bits above. The address of a function has the high word `0x8000_0001` and the
//! function's number
//! in the low word, so it is neither a small integer nor a pointer to an object. One number stands for a value that nobody wrote
//! ([`Value::UNDEFINED`]): a program that computes just this number is taken to have copied uninitialised memory. One machine
//! word keeps thread snapshots small in the explorer.

use crate::program::{FunctionId, ObjectId};
use std::fmt;

const POINTER_TAG: u64 = 1 << 46;
/// The bits that say whether a value is a pointer.
const TAG_BITS: u64 = 3 << 46;
const FUNCTION_WORD: u64 = 0x8000_0001;

/// 64 bits: an integer, or a pointer in the encoding of this module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Value(pub u64);

impl Value {
    /// Zero, false and the null pointer.
    pub const ZERO: Value = Value(0);

    /// What uninitialised memory holds. Copying it is allowed, whatever the width of the copy; [`crate::undefined`] says
    /// what is a use.
    pub const UNDEFINED: Value = Value(0x8000_0002_a5c3_96e1);

    /// A pointer to byte `offset` of `object`.
    pub fn pointer(object: ObjectId, offset: u32) -> Value {
        debug_assert!(object.0 < 1 << 30);
        let (low, high) = (u64::from(object.0 & 0x3fff), u64::from(object.0 >> 14));
        Value(high << 48 | POINTER_TAG | low << 32 | u64::from(offset))
    }

    /// The object and offset, if this is a pointer.
    pub fn as_pointer(self) -> Option<(ObjectId, u32)> {
        let (low, high) = ((self.0 >> 32) as u32 & 0x3fff, (self.0 >> 48) as u32);
        (self.0 & TAG_BITS == POINTER_TAG).then_some((ObjectId(high << 14 | low), self.0 as u32))
    }

    /// The address of a function.
    pub fn function(function: FunctionId) -> Value {
        Value(FUNCTION_WORD << 32 | u64::from(function.0))
    }

    /// The function, if this is the address of one.
    pub fn as_function(self) -> Option<FunctionId> {
        (self.0 >> 32 == FUNCTION_WORD).then_some(FunctionId(self.0 as u32))
    }

    /// The two's complement encoding of `n`.
    pub fn from_i64(n: i64) -> Value {
        Value(n as u64)
    }

    /// The value read as a signed integer.
    pub fn as_i64(self) -> i64 {
        self.0 as i64
    }

    /// True unless all bits are zero.
    pub fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Value::UNDEFINED {
            return write!(f, "undefined");
        }
        match self.as_pointer() {
            Some((object, 0)) => write!(f, "&{}", object.0),
            Some((object, offset)) => write!(f, "&{}+{offset}", object.0),
            None => write!(f, "{}", self.as_i64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_and_integers_do_not_meet() {
        let p = Value::pointer(ObjectId(7), 12);
        assert_eq!(p.as_pointer(), Some((ObjectId(7), 12)));
        let f = Value::function(FunctionId(3));
        assert_eq!((f.as_function(), f.as_pointer(), p.as_function()), (Some(FunctionId(3)), None, None));
        assert_eq!(Value(p.0 + 4).as_pointer(), Some((ObjectId(7), 16)));
        for object in [0, 1, 0x3fff, 0x4000, 0xffff, 0x1_0000, 0x3fff_ffff] {
            let p = Value::pointer(ObjectId(object), 5);
            assert_eq!(p.as_pointer(), Some((ObjectId(object), 5)));
            assert_eq!(p.0 < 1 << 47, object < 1 << 14, "{object:x}");
        }
        assert_eq!(Value::UNDEFINED.as_pointer(), None);
        for n in [0, 1, -1, i64::from(i32::MAX), i64::from(i32::MIN), i64::MIN] {
            assert_eq!(Value::from_i64(n).as_pointer(), None);
            assert_eq!(Value::from_i64(n).as_function(), None);
            assert_eq!(Value::from_i64(n).as_i64(), n);
        }
    }
}
