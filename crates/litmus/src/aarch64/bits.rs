//! AArch64 instructions that move bits around, multiply and divide.
//!
//! The IR has the usual operators only; what the manual gives as pseudocode over bits is spelt out with them here.
//! Everything is computed from its operands by arithmetic, so that dependencies are those of a data-processing
//! instruction, and at the width of the registers, so that the upper half of a W register never matters.

use super::operand::{Target, second_operand, source_of, target};
use super::width;
use crate::error::{Parsed, expected};
use crate::lexer::Kind;
use crate::table::Cell;
use fencepost_diag::Diagnostic;
use fencepost_ir::{BinaryOp, Extend, Operand, Rvalue, UnaryOp, Value, Width};

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    match mnemonic {
        "movk" | "movn" => move_wide(cell, mnemonic == "movk")?,
        "adr" | "adrp" => address_of(cell)?,
        "ubfm" | "sbfm" | "bfm" | "ubfx" | "sbfx" | "bfxil" | "ubfiz" | "sbfiz" | "bfi" | "bfc" => {
            bit_field(cell, mnemonic)?;
        }
        "ror" => rotate(cell)?,
        "extr" => extract(cell)?,
        "madd" | "msub" | "mneg" => multiply(cell, mnemonic)?,
        "smull" | "umull" | "smnegl" | "umnegl" | "smaddl" | "umaddl" | "smsubl" | "umsubl" => {
            multiply_long(cell, mnemonic)?;
        }
        "smulh" | "umulh" => multiply_high(cell, mnemonic == "smulh")?,
        "sdiv" | "udiv" => divide(cell, mnemonic == "sdiv")?,
        "rev" | "rev16" | "rev32" | "rev64" | "rbit" => reverse(cell, mnemonic)?,
        "clz" | "cls" | "ctz" | "cnt" => count(cell, mnemonic)?,
        "abs" => absolute(cell)?,
        "smax" | "smin" | "umax" | "umin" => extremum(cell, mnemonic)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// `a op b` into a temporary.
fn op(cell: &mut Cell<'_, '_>, to: usize, op: BinaryOp, width: Width, a: Operand, b: Operand) -> Operand {
    cell.compute(to, Rvalue::Binary(op, width, Extend::Zero, a, b))
}

fn constant(value: u64) -> Operand {
    Value(value).into()
}

/// The lowest `count` bits.
fn ones(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn bits(dst: Target) -> u32 {
    8 * width(dst.narrow).bytes()
}

/// A number from `low` to `high`.
fn number(cell: &mut Cell<'_, '_>, low: u32, high: u32) -> Parsed<u32> {
    let token = cell.lexer.peek();
    let value = cell.immediate()?.as_i64();
    match u32::try_from(value) {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => {
            let message = format!("{value} is out of range here");
            let error = Diagnostic::error(token.span(), message);
            Err(Box::new(error.label(format!("expected a number from {low} to {high}"))))
        }
    }
}

fn unary_operands(cell: &mut Cell<'_, '_>) -> Parsed<(Target, Operand)> {
    let dst = target(cell)?;
    cell.comma()?;
    let src = source_of(cell, dst.narrow)?;
    Ok((dst, src))
}

/// `MOVK Wd,#imm,LSL #16` keeps the other bits, `MOVN` complements.
fn move_wide(cell: &mut Cell<'_, '_>, keeps: bool) -> Parsed<()> {
    let start = cell.lexer.peek();
    let dst = target(cell)?;
    cell.comma()?;
    let chunk = u64::from(number(cell, 0, 0xffff)?);
    let mut shift = 0;
    if cell.lexer.eat(",") {
        if !(cell.lexer.eat_word("LSL") || cell.lexer.eat_word("lsl")) {
            return Err(cell.expected("`LSL`"));
        }
        let token = cell.lexer.peek();
        shift = number(cell, 0, bits(dst) - 16)?;
        if shift % 16 != 0 {
            return Err(expected(cell.lexer, token, "a multiple of 16"));
        }
    }
    let width = width(dst.narrow);
    if !keeps {
        dst.assign(cell, Rvalue::Use(width.zero_extend(Value(!(chunk << shift))).into()));
        return Ok(());
    }
    if dst.is_zero {
        return Err(expected(cell.lexer, start, "a register to keep bits of"));
    }
    if !dst.narrow {
        cell.thread().wide_read(dst.reg);
    }
    let kept = op(cell, 0, BinaryOp::And, width, dst.reg.into(), constant(!(0xffff << shift)));
    dst.assign(cell, Rvalue::Binary(BinaryOp::Or, width, Extend::Zero, kept, constant(chunk << shift)));
    Ok(())
}

/// `ADR Xd,x`: the address of a location. Addresses of code are not values here.
fn address_of(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let dst = wide_target(cell)?;
    cell.comma()?;
    let token = cell.lexer.peek();
    let name = cell.lexer.text(token);
    if token.kind != Kind::Ident {
        return Err(cell.expected("a location"));
    }
    let Some(object) = cell.test.find_global(name) else {
        let message = format!("`{name}` is not a location of the initial state");
        let error = Diagnostic::error(token.span(), message).label("not known as a location");
        return Err(Box::new(error.hint("labels as values are not modelled")));
    };
    cell.lexer.next();
    dst.assign(cell, Rvalue::Use(Value::pointer(object, 0).into()));
    Ok(())
}

/// A target that must be an X register.
fn wide_target(cell: &mut Cell<'_, '_>) -> Parsed<Target> {
    let token = cell.lexer.peek();
    let dst = target(cell)?;
    if dst.narrow {
        return Err(expected(cell.lexer, token, "an X register"));
    }
    Ok(dst)
}

/// The bit-field moves. All are `xBFM Rd,Rn,#immr,#imms`: if `imms >= immr` the bits `immr..=imms` of Rn come down to
/// bit 0, else the bits `0..=imms` go up to bit `width - immr`. U clears the rest, S extends the sign above, and BFM
/// leaves the rest of Rd alone.
fn bit_field(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let src = if mnemonic == "bfc" {
        Value::ZERO.into()
    } else {
        let src = source_of(cell, dst.narrow)?;
        cell.comma()?;
        src
    };
    let bits = bits(dst);
    let first = number(cell, 0, bits - 1)?;
    cell.comma()?;
    let (immr, imms) = match mnemonic {
        "ubfm" | "sbfm" | "bfm" => (first, number(cell, 0, bits - 1)?),
        "ubfx" | "sbfx" | "bfxil" => (first, first + number(cell, 1, bits - first)? - 1),
        _ => ((bits - first) % bits, number(cell, 1, bits - first)? - 1),
    };
    let width = width(dst.narrow);
    let assign = |cell: &mut Cell<'_, '_>, op, a: Operand, b: u64| {
        dst.assign(cell, Rvalue::Binary(op, width, Extend::Zero, a, constant(b)));
    };
    // The field, where it lands, and by how much it moves.
    let (count, left, right) =
        if imms >= immr { (imms - immr + 1, 0, immr) } else { (imms + 1, bits - immr, 0) };
    match mnemonic.as_bytes()[0] {
        b'u' if left == 0 => {
            let low = op(cell, 0, BinaryOp::ShrU, width, src, constant(right.into()));
            assign(cell, BinaryOp::And, low, ones(count));
        }
        b'u' => {
            let field = op(cell, 0, BinaryOp::And, width, src, constant(ones(count)));
            assign(cell, BinaryOp::Shl, field, left.into());
        }
        b's' => {
            // Up until the field's highest bit is the sign, and down again to where it belongs.
            let up = bits - 1 - imms;
            let top = op(cell, 0, BinaryOp::Shl, width, src, constant(up.into()));
            let down = up + right - left.min(up + right);
            assign(cell, BinaryOp::ShrS, top, down.into());
        }
        _ => {
            if dst.is_zero {
                return Ok(());
            }
            if !dst.narrow {
                cell.thread().wide_read(dst.reg);
            }
            let low = op(cell, 0, BinaryOp::ShrU, width, src, constant(right.into()));
            let field = op(cell, 0, BinaryOp::And, width, low, constant(ones(count)));
            let placed = op(cell, 0, BinaryOp::Shl, width, field, constant(left.into()));
            let mask = ones(count) << left;
            let kept = op(cell, 1, BinaryOp::And, width, dst.reg.into(), constant(!mask));
            dst.assign(cell, Rvalue::Binary(BinaryOp::Or, width, Extend::Zero, kept, placed));
        }
    }
    Ok(())
}

/// `ROR Rd,Rn,#shift` or by a register.
fn rotate(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (dst, src) = unary_operands(cell)?;
    cell.comma()?;
    let width = width(dst.narrow);
    let by = if cell.at_immediate() { cell.immediate()?.into() } else { source_of(cell, dst.narrow)? };
    // Shifts take their count modulo the width, so a rotation by 0 is right too.
    let back = op(cell, 1, BinaryOp::Sub, width, Value::ZERO.into(), by);
    let low = op(cell, 0, BinaryOp::ShrU, width, src, by);
    let high = op(cell, 1, BinaryOp::Shl, width, src, back);
    dst.assign(cell, Rvalue::Binary(BinaryOp::Or, width, Extend::Zero, low, high));
    Ok(())
}

/// `EXTR Rd,Rn,Rm,#lsb`: a register's worth of Rn:Rm from bit `lsb` on.
fn extract(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (dst, high) = unary_operands(cell)?;
    cell.comma()?;
    let low = source_of(cell, dst.narrow)?;
    cell.comma()?;
    let (bits, width) = (bits(dst), width(dst.narrow));
    let lsb = number(cell, 0, bits - 1)?;
    if lsb == 0 {
        dst.assign(cell, Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, low));
        return Ok(());
    }
    let low = op(cell, 0, BinaryOp::ShrU, width, low, constant(lsb.into()));
    let high = op(cell, 1, BinaryOp::Shl, width, high, constant((bits - lsb).into()));
    dst.assign(cell, Rvalue::Binary(BinaryOp::Or, width, Extend::Zero, low, high));
    Ok(())
}

/// `MADD Rd,Rn,Rm,Ra` is `Ra + Rn * Rm`, `MSUB` subtracts, and `MNEG` subtracts from zero.
fn multiply(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, a) = unary_operands(cell)?;
    cell.comma()?;
    let b = source_of(cell, dst.narrow)?;
    let width = width(dst.narrow);
    let base = if mnemonic == "mneg" {
        Value::ZERO.into()
    } else {
        cell.comma()?;
        source_of(cell, dst.narrow)?
    };
    let product = op(cell, 0, BinaryOp::Mul, width, a, b);
    let sum = if mnemonic == "madd" { BinaryOp::Add } else { BinaryOp::Sub };
    dst.assign(cell, Rvalue::Binary(sum, width, Extend::Zero, base, product));
    Ok(())
}

/// `SMULL Xd,Wn,Wm` and its kin: 32 bits times 32 bits.
fn multiply_long(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let dst = wide_target(cell)?;
    let (how, extend) = match mnemonic.starts_with('s') {
        true => (UnaryOp::SignExtend, Extend::Sign),
        false => (UnaryOp::ZeroExtend, Extend::Zero),
    };
    let mut factors = [Operand::Const(Value::ZERO); 2];
    for (index, factor) in factors.iter_mut().enumerate() {
        cell.comma()?;
        let half = source_of(cell, true)?;
        *factor = cell.compute(index, Rvalue::Unary(how, Width::W32, extend, half));
    }
    let (adds, subtracts) = (mnemonic.contains("add"), !mnemonic.contains("mull"));
    let base = if adds || mnemonic.contains("sub") {
        cell.comma()?;
        source_of(cell, false)?
    } else {
        Value::ZERO.into()
    };
    let product = op(cell, 0, BinaryOp::Mul, Width::W64, factors[0], factors[1]);
    let sum = if adds || !subtracts { BinaryOp::Add } else { BinaryOp::Sub };
    dst.assign(cell, Rvalue::Binary(sum, Width::W64, Extend::Zero, base, product));
    Ok(())
}

/// `UMULH`: the upper half of a product of 128 bits, from four products of halves. `SMULH` subtracts what a negative
/// operand adds to it when it is read without its sign.
fn multiply_high(cell: &mut Cell<'_, '_>, signed: bool) -> Parsed<()> {
    use BinaryOp::{Add, And, Mul, ShrS, ShrU, Sub};
    let dst = wide_target(cell)?;
    cell.comma()?;
    let a = source_of(cell, false)?;
    cell.comma()?;
    let b = source_of(cell, false)?;
    let w = Width::W64;
    let (half, low_bits) = (constant(32), constant(ones(32)));
    // middle = high(a) * low(b) + (low(a) * low(b) >> 32)
    let low_a = op(cell, 0, And, w, a, low_bits);
    let low_b = op(cell, 1, And, w, b, low_bits);
    let carry = op(cell, 0, Mul, w, low_a, low_b);
    let carry = op(cell, 0, ShrU, w, carry, half);
    let high_a = op(cell, 2, ShrU, w, a, half);
    let middle = op(cell, 1, Mul, w, high_a, low_b);
    let middle = op(cell, 1, Add, w, middle, carry);
    // other = low(a) * high(b) + low(middle)
    let low_a = op(cell, 0, And, w, a, low_bits);
    let high_b = op(cell, 3, ShrU, w, b, half);
    let other = op(cell, 0, Mul, w, low_a, high_b);
    let low_middle = op(cell, 6, And, w, middle, low_bits);
    let other = op(cell, 0, Add, w, other, low_middle);
    // high(a) * high(b) + high(middle) + high(other)
    let top = op(cell, 2, Mul, w, high_a, high_b);
    let middle = op(cell, 1, ShrU, w, middle, half);
    let top = op(cell, 2, Add, w, top, middle);
    let other = op(cell, 0, ShrU, w, other, half);
    if !signed {
        dst.assign(cell, Rvalue::Binary(Add, w, Extend::Zero, top, other));
        return Ok(());
    }
    let top = op(cell, 2, Add, w, top, other);
    let sign_a = op(cell, 0, ShrS, w, a, constant(63));
    let extra = op(cell, 0, And, w, sign_a, b);
    let top = op(cell, 2, Sub, w, top, extra);
    let sign_b = op(cell, 0, ShrS, w, b, constant(63));
    let extra = op(cell, 0, And, w, sign_b, a);
    dst.assign(cell, Rvalue::Binary(Sub, w, Extend::Zero, top, extra));
    Ok(())
}

/// Division; by zero it gives zero [Arm ARM, C6.2, SDIV].
fn divide(cell: &mut Cell<'_, '_>, signed: bool) -> Parsed<()> {
    let (dst, a) = unary_operands(cell)?;
    cell.comma()?;
    let b = source_of(cell, dst.narrow)?;
    let width = width(dst.narrow);
    let is_zero = cell.compute(0, Rvalue::Unary(UnaryOp::LogicalNot, width, Extend::Zero, b));
    let divisor = op(cell, 1, BinaryOp::Or, width, b, is_zero);
    let division = if signed { BinaryOp::DivS } else { BinaryOp::DivU };
    let quotient = op(cell, 1, division, width, a, divisor);
    let wanted = op(cell, 0, BinaryOp::Xor, width, is_zero, constant(1));
    dst.assign(cell, Rvalue::Binary(BinaryOp::Mul, width, Extend::Zero, quotient, wanted));
    Ok(())
}

/// Swaps neighbours of 1, 2, 4, ... bits.
fn reverse(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    const MASKS: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0f0f_0f0f_0f0f_0f0f,
        0x00ff_00ff_00ff_00ff,
        0x0000_ffff_0000_ffff,
        0x0000_0000_ffff_ffff,
    ];
    let dst = if matches!(mnemonic, "rev32" | "rev64") { wide_target(cell)? } else { target(cell)? };
    cell.comma()?;
    let src = source_of(cell, dst.narrow)?;
    let (width, all) = (width(dst.narrow), bits(dst).trailing_zeros());
    // By powers of two: the smallest things that are swapped, and the largest.
    let (first, last) = match mnemonic {
        "rbit" => (0, all),
        "rev16" => (3, 4),
        "rev32" => (3, 5),
        _ => (3, all),
    };
    let mut value = src;
    for step in first..last {
        let (mask, by) = (constant(MASKS[step as usize]), constant(1 << step));
        let down = op(cell, 1, BinaryOp::ShrU, width, value, by);
        let down = op(cell, 1, BinaryOp::And, width, down, mask);
        let up = op(cell, 2, BinaryOp::And, width, value, mask);
        let up = op(cell, 2, BinaryOp::Shl, width, up, by);
        if step + 1 == last {
            dst.assign(cell, Rvalue::Binary(BinaryOp::Or, width, Extend::Zero, down, up));
        } else {
            value = op(cell, 0, BinaryOp::Or, width, down, up);
        }
    }
    Ok(())
}

/// `CNT` counts ones; `CLZ` and `CLS` leading zeros and leading copies of the sign; `CTZ` trailing zeros.
fn count(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    use BinaryOp::{Add, And, Mul, Or, ShrS, ShrU, Sub, Xor};
    let (dst, src) = unary_operands(cell)?;
    let (w, bits) = (width(dst.narrow), bits(dst));
    let mut value = src;
    if mnemonic == "cls" {
        let copy = op(cell, 0, ShrS, w, value, constant(1));
        value = op(cell, 0, Xor, w, value, copy);
    }
    if matches!(mnemonic, "clz" | "cls") {
        // Ones from the highest one down, then count what is left.
        for step in 0..bits.trailing_zeros() {
            let down = op(cell, 1, ShrU, w, value, constant(1 << step));
            value = op(cell, 0, Or, w, value, down);
        }
        value = op(cell, 0, Xor, w, value, constant(u64::MAX));
    } else if mnemonic == "ctz" {
        let below = op(cell, 1, Sub, w, value, constant(1));
        let zeros = op(cell, 0, Xor, w, value, constant(u64::MAX));
        value = op(cell, 0, And, w, zeros, below);
    }
    let ones = popcount(cell, w, value);
    let less = u64::from(mnemonic == "cls");
    // The sum of the bytes is in the highest one.
    let sum = op(cell, 0, Mul, w, ones, constant(0x0101_0101_0101_0101));
    let sum = op(cell, 0, ShrU, w, sum, constant((bits - 8).into()));
    let (last, by) = if less == 1 { (Sub, less) } else { (Add, 0) };
    dst.assign(cell, Rvalue::Binary(last, w, Extend::Zero, sum, constant(by)));
    Ok(())
}

/// The number of ones of each byte.
fn popcount(cell: &mut Cell<'_, '_>, w: Width, value: Operand) -> Operand {
    use BinaryOp::{Add, And, ShrU, Sub};
    let pairs = op(cell, 1, ShrU, w, value, constant(1));
    let pairs = op(cell, 1, And, w, pairs, constant(0x5555_5555_5555_5555));
    let pairs = op(cell, 0, Sub, w, value, pairs);
    let fours = constant(0x3333_3333_3333_3333);
    let upper = op(cell, 1, ShrU, w, pairs, constant(2));
    let upper = op(cell, 1, And, w, upper, fours);
    let lower = op(cell, 0, And, w, pairs, fours);
    let sum = op(cell, 0, Add, w, lower, upper);
    let upper = op(cell, 1, ShrU, w, sum, constant(4));
    let sum = op(cell, 0, Add, w, sum, upper);
    op(cell, 0, And, w, sum, constant(0x0f0f_0f0f_0f0f_0f0f))
}

/// With `m` the sign in all bits, `(x ^ m) - m`.
fn absolute(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (dst, src) = unary_operands(cell)?;
    let width = width(dst.narrow);
    let sign = op(cell, 0, BinaryOp::ShrS, width, src, constant((bits(dst) - 1).into()));
    let flipped = op(cell, 1, BinaryOp::Xor, width, src, sign);
    dst.assign(cell, Rvalue::Binary(BinaryOp::Sub, width, Extend::Zero, flipped, sign));
    Ok(())
}

/// The larger or smaller of two: `a ^ ((a ^ b) & -(a < b))`.
fn extremum(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, a) = unary_operands(cell)?;
    cell.comma()?;
    let b = second_operand(cell, dst.narrow)?;
    let width = width(dst.narrow);
    let compare = match mnemonic {
        "smax" => BinaryOp::LtS,
        "umax" => BinaryOp::LtU,
        "smin" => BinaryOp::GtS,
        _ => BinaryOp::GtU,
    };
    let chosen = op(cell, 1, compare, width, a, b);
    let chosen = op(cell, 1, BinaryOp::Sub, width, Value::ZERO.into(), chosen);
    let differ = op(cell, 2, BinaryOp::Xor, width, a, b);
    let differ = op(cell, 1, BinaryOp::And, width, differ, chosen);
    dst.assign(cell, Rvalue::Binary(BinaryOp::Xor, width, Extend::Zero, a, differ));
    Ok(())
}
