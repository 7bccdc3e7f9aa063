//! NZCV, conditions, and the instructions that select by one.
//!
//! The flags are four hidden registers: the result with its sign (N and Z), whether N and V differ (the signed
//! comparison), C, and V. All are assigned by every instruction that sets flags; those that no condition of the thread
//! reads are dropped at the end, so `CMP` and `B.NE` cost a subtraction and a branch.

use super::operand::{source_of, target};
use super::width;
use crate::error::{Parsed, expected};
use crate::table::Cell;
use crate::thread::Key;
use fencepost_ir::{BinaryOp, Extend, Operand, Rvalue, UnaryOp, Value, Width};

const RESULT: Key = 40;
const LESS: Key = 41;
const CARRY: Key = 42;
const OVERFLOW: Key = 43;

/// What the flags are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FlagOp {
    /// A sum.
    Add,
    /// A difference; a comparison.
    Sub,
    /// A bitwise and.
    And,
}

fn flag(cell: &mut Cell<'_, '_>, key: Key) -> Operand {
    let name = match key {
        RESULT => "flags.nz",
        LESS => "flags.less",
        CARRY => "flags.c",
        _ => "flags.v",
    };
    cell.thread().hidden_register(key, name).into()
}

fn set_flag(cell: &mut Cell<'_, '_>, key: Key, value: Rvalue) {
    if let Operand::Reg(reg) = flag(cell, key) {
        cell.thread().assign(reg, value);
    }
}

/// Sets the flags of `a op b`. Comes before the result is assigned, which may overwrite an operand.
pub(super) fn set(cell: &mut Cell<'_, '_>, op: FlagOp, width: Width, a: Operand, b: Operand) {
    let binary = |op, a, b| Rvalue::Binary(op, width, Extend::Sign, a, b);
    let zero: Operand = Value::ZERO.into();
    let operator = match op {
        FlagOp::Add => BinaryOp::Add,
        FlagOp::Sub => BinaryOp::Sub,
        FlagOp::And => BinaryOp::And,
    };
    set_flag(cell, RESULT, binary(operator, a, b));
    let result = flag(cell, RESULT);
    match op {
        FlagOp::Sub => {
            set_flag(cell, LESS, binary(BinaryOp::LtS, a, b));
            set_flag(cell, CARRY, binary(BinaryOp::GeU, a, b));
            let (less, negative) = (flag(cell, LESS), cell.compute(4, binary(BinaryOp::LtS, result, zero)));
            set_flag(cell, OVERFLOW, binary(BinaryOp::Ne, less, negative));
        }
        FlagOp::Add => {
            set_flag(cell, CARRY, binary(BinaryOp::LtU, result, a));
            // A sum overflows if its sign differs from that of both operands.
            let first = cell.compute(4, binary(BinaryOp::Xor, result, a));
            let second = cell.compute(5, binary(BinaryOp::Xor, result, b));
            let both = cell.compute(4, binary(BinaryOp::And, first, second));
            set_flag(cell, OVERFLOW, binary(BinaryOp::LtS, both, zero));
            let (overflow, negative) =
                (flag(cell, OVERFLOW), cell.compute(5, binary(BinaryOp::LtS, result, zero)));
            set_flag(cell, LESS, binary(BinaryOp::Ne, overflow, negative));
        }
        FlagOp::And => {
            set_flag(cell, CARRY, Rvalue::Use(zero));
            set_flag(cell, OVERFLOW, Rvalue::Use(zero));
            set_flag(cell, LESS, binary(BinaryOp::LtS, result, zero));
        }
    }
}

/// What to test for a condition, and whether it holds when that is zero. `None` if there is no such condition.
pub(super) fn condition(cell: &mut Cell<'_, '_>, name: &str) -> Option<(Operand, bool)> {
    let zero: Operand = Value::ZERO.into();
    let binary = |op, a, b| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
    Some(match name {
        "eq" => (flag(cell, RESULT), true),
        "ne" => (flag(cell, RESULT), false),
        "lt" => (flag(cell, LESS), false),
        "ge" => (flag(cell, LESS), true),
        "cs" | "hs" => (flag(cell, CARRY), false),
        "cc" | "lo" => (flag(cell, CARRY), true),
        "vs" => (flag(cell, OVERFLOW), false),
        "vc" => (flag(cell, OVERFLOW), true),
        "mi" | "pl" => {
            let result = flag(cell, RESULT);
            (cell.compute(4, binary(BinaryOp::LtS, result, zero)), name == "pl")
        }
        "le" | "gt" => {
            let (result, less) = (flag(cell, RESULT), flag(cell, LESS));
            let equal = cell.compute(4, binary(BinaryOp::Eq, result, zero));
            (cell.compute(4, binary(BinaryOp::Or, less, equal)), name == "gt")
        }
        "hi" | "ls" => {
            let (result, carry) = (flag(cell, RESULT), flag(cell, CARRY));
            let differ = cell.compute(4, binary(BinaryOp::Ne, result, zero));
            (cell.compute(4, binary(BinaryOp::And, carry, differ)), name == "ls")
        }
        "al" => (Value(1).into(), false),
        _ => return None,
    })
}

fn named_condition(cell: &mut Cell<'_, '_>) -> Parsed<(Operand, bool)> {
    let token = cell.lexer.next();
    let name = cell.lexer.text(token).to_ascii_lowercase();
    condition(cell, &name).ok_or_else(|| expected(cell.lexer, token, "a condition such as `EQ` or `NE`"))
}

/// `CSEL`, `CSINC`, `CSINV`, `CSNEG`, `CSET`, `CSETM`, `CINC`, `CINV`, `CNEG`.
pub(super) fn select(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let operands = match mnemonic {
        "csel" | "csinc" | "csinv" | "csneg" => 2,
        "cinc" | "cinv" | "cneg" => 1,
        "cset" | "csetm" => 0,
        _ => return Ok(false),
    };
    let dst = target(cell)?;
    cell.comma()?;
    let mut sources = [Operand::Const(Value::ZERO); 2];
    for source in sources.iter_mut().take(operands) {
        *source = source_of(cell, dst.narrow)?;
        cell.comma()?;
    }
    let (condition, if_zero) = named_condition(cell)?;
    let width = width(dst.narrow);
    let changed = |op, operand| match op {
        UnaryOp::ZeroExtend => Rvalue::Binary(BinaryOp::Add, width, Extend::Zero, operand, Value(1).into()),
        op => Rvalue::Unary(op, width, Extend::Zero, operand),
    };
    let ones = width.zero_extend(Value::from_i64(-1)).into();
    let (if_true, if_false) = match mnemonic {
        "csel" => (sources[0], sources[1]),
        "csinc" => (sources[0], cell.compute(0, changed(UnaryOp::ZeroExtend, sources[1]))),
        "csinv" => (sources[0], cell.compute(0, changed(UnaryOp::Not, sources[1]))),
        "csneg" => (sources[0], cell.compute(0, changed(UnaryOp::Neg, sources[1]))),
        "cinc" => (cell.compute(0, changed(UnaryOp::ZeroExtend, sources[0])), sources[0]),
        "cinv" => (cell.compute(0, changed(UnaryOp::Not, sources[0])), sources[0]),
        "cneg" => (cell.compute(0, changed(UnaryOp::Neg, sources[0])), sources[0]),
        "cset" => (Value(1).into(), Value::ZERO.into()),
        _ => (ones, Value::ZERO.into()),
    };
    let (first, second) = if if_zero { (if_false, if_true) } else { (if_true, if_false) };
    if dst.narrow {
        let chosen = cell.compute(1, Rvalue::Select(condition, first, second));
        dst.assign(cell, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, chosen));
    } else {
        dst.assign(cell, Rvalue::Select(condition, first, second));
    }
    Ok(true)
}
