//! What is known about registers while steps are laid out, and memory that is registers.

use super::Unsupported;
use crate::program::{BinaryOp, Extend, Object, ObjectId, Operand, Reg, Rvalue, UnaryOp, Width};
use crate::value::Value;
use fencepost_diag::Span;
use rustc_hash::FxHashMap;

/// What is known about a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// Its value.
    Value(Value),
    /// It points somewhere into this object.
    Into(ObjectId),
    /// It may be one of several pointers, one of them to a private object.
    Mixed,
}

/// What is known at a place; a register that is not here may be anything but a pointer to a private object.
pub(super) type Env = FxHashMap<u32, Known>;

/// What is known when two ways meet.
pub(super) fn merge(into: &mut Env, other: &Env, is_private: impl Fn(ObjectId) -> bool) {
    let object = |known: Option<&Known>| match known {
        Some(Known::Value(value)) => value.as_pointer().map(|(object, _)| object),
        Some(Known::Into(object)) => Some(*object),
        _ => None,
    };
    let mixed = |a: Option<&Known>, b: Option<&Known>| {
        let private =
            |known: Option<&Known>| known == Some(&Known::Mixed) || object(known).is_some_and(&is_private);
        match (object(a), object(b)) {
            (Some(a), Some(b)) if a == b => Some(Known::Into(a)),
            _ if private(a) || private(b) => Some(Known::Mixed),
            _ => None,
        }
    };
    let mut changed = Vec::new();
    for (reg, known) in into.iter() {
        let theirs = other.get(reg);
        if theirs != Some(known) {
            changed.push((*reg, mixed(Some(known), theirs)));
        }
    }
    for (reg, known) in other {
        if !into.contains_key(reg) {
            changed.push((*reg, mixed(None, Some(known))));
        }
    }
    for (reg, known) in changed {
        match known {
            Some(known) => into.insert(reg, known),
            None => into.remove(&reg),
        };
    }
}

/// What is known about an operand.
pub(super) fn operand(env: &Env, operand: Operand) -> Option<Known> {
    match operand {
        Operand::Const(value) => Some(Known::Value(value)),
        Operand::Reg(reg) => env.get(&reg.0).copied(),
    }
}

/// What is known about a computed value.
pub(super) fn evaluate(env: &Env, value: &Rvalue, is_private: impl Fn(ObjectId) -> bool) -> Option<Known> {
    let constant = |o: Operand| match operand(env, o) {
        Some(Known::Value(value)) => Some(value),
        _ => None,
    };
    match *value {
        Rvalue::Use(a) => operand(env, a),
        Rvalue::Unary(op, width, extend, a) => constant(a).map(|a| Known::Value(unary(op, width, extend, a))),
        Rvalue::Binary(op, width, extend, a, b) => {
            if let (Some(a), Some(b)) = (constant(a), constant(b)) {
                return binary(op, width, extend, a, b).map(Known::Value);
            }
            let into = |o: Operand| match operand(env, o) {
                Some(Known::Value(value)) => value.as_pointer().map(|(object, _)| Known::Into(object)),
                other => other,
            };
            match (op, into(a), into(b)) {
                (BinaryOp::Add | BinaryOp::Sub, Some(known), None) => Some(known),
                (BinaryOp::Add, None, Some(known)) => Some(known),
                _ => None,
            }
        }
        Rvalue::Select(c, a, b) => match constant(c) {
            Some(c) => operand(env, if c.is_true() { a } else { b }),
            None => {
                let (mut one, mut two) = (Env::default(), Env::default());
                one.extend(operand(env, a).map(|known| (0, known)));
                two.extend(operand(env, b).map(|known| (0, known)));
                merge(&mut one, &two, is_private);
                one.get(&0).copied()
            }
        },
    }
}

/// The value of a binary operator with its result extended; `None` is a division by zero.
pub fn binary(op: BinaryOp, width: Width, extend: Extend, a: Value, b: Value) -> Option<Value> {
    op.apply(width, a, b).map(|value| width.extend(extend, value))
}

/// The value of a unary operator with its result extended.
pub fn unary(op: UnaryOp, width: Width, extend: Extend, a: Value) -> Value {
    width.extend(extend, op.apply(width, a))
}

/// A private object: one register per cell, and one that says whether the cell has a value where it starts without.
#[derive(Clone, Debug)]
pub(super) struct Private {
    pub object: Object,
    pub cells: Vec<Reg>,
    pub valid: Vec<Option<Reg>>,
}

impl Private {
    /// The index of the cell at an offset.
    pub fn cell(&self, offset: u32, width: Width, span: Span) -> Result<usize, Unsupported> {
        let at = self.object.cells.iter().position(|cell| cell.offset == offset && cell.width == width);
        let what = || format!("an access to `{}` that hits none of its parts", self.object.name);
        at.ok_or_else(|| Unsupported { what: what(), span })
    }

    /// The indices and offsets of all cells of a width.
    pub fn of_width(&self, width: Width) -> Vec<(usize, u32)> {
        let cells = self.object.cells.iter().enumerate();
        cells.filter(|(_, cell)| cell.width == width).map(|(at, cell)| (at, cell.offset)).collect()
    }
}
