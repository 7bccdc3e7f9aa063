//! Rotations with masks, shifts of doublewords, and leading zeros [Power ISA, Book I, 3.3.14].
//!
//! Bit 0 is the highest. `MASK(mb, me)` has ones from bit `mb` to bit `me`, around the end if `me < mb`. A rotation of
//! words rotates two copies of the word, so that a mask that goes around the end reaches the upper half. Extended
//! mnemonics are turned into the instruction that they stand for, as in the table of Appendix C.

use super::{finish, finish_word};
use crate::error::Parsed;
use crate::table::Cell;
use fencepost_diag::Diagnostic;
use fencepost_ir::{BinaryOp, Extend, Operand, Reg, Rvalue, UnaryOp, Value, Width};

/// By how much: a number, or the low bits of a register.
enum Count {
    Number(u32),
    Register(Reg),
}

/// A rotation: by how much, which bits stay, and whether the others are those of the target.
struct Rotation {
    count: Count,
    mask: u64,
    insert: bool,
    /// Of two copies of the lower word.
    word: bool,
}

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str, record: bool) -> Parsed<bool> {
    match mnemonic {
        "sld" | "srd" | "srad" | "sradi" => shift(cell, mnemonic, record)?,
        "cntlzw" | "cntlzd" => leading_zeros(cell, mnemonic == "cntlzw", record)?,
        _ => {
            let is_rotation = mnemonic.starts_with("rl")
                || mnemonic.starts_with("rot")
                || mnemonic.starts_with("clr")
                || mnemonic.starts_with("ext")
                || mnemonic.starts_with("ins")
                || matches!(mnemonic, "sldi" | "srdi");
            if !is_rotation || operands(mnemonic).is_none() {
                return Ok(false);
            }
            let (dst, _) = cell.register()?;
            cell.comma()?;
            let (src, _) = cell.register()?;
            let rotation = rotation(cell, mnemonic)?;
            rotate(cell, dst, src, &rotation, record);
        }
    }
    Ok(true)
}

/// How many operands follow the registers; `None` if there is no such rotation.
fn operands(mnemonic: &str) -> Option<usize> {
    Some(match mnemonic {
        "rlwinm" | "rlwimi" | "rlwnm" => 3,
        "rldicl" | "rldicr" | "rldic" | "rldimi" | "rldcl" | "rldcr" => 2,
        "extlwi" | "extrwi" | "inslwi" | "insrwi" | "clrlslwi" => 2,
        "extldi" | "extrdi" | "insrdi" | "clrlsldi" => 2,
        "rotlwi" | "rotrwi" | "rotlw" | "clrlwi" | "clrrwi" => 1,
        "rotldi" | "rotrdi" | "rotld" | "clrldi" | "clrrdi" | "sldi" | "srdi" => 1,
        _ => return None,
    })
}

/// Ones from bit `first` to bit `last`, counted from the highest of 64.
fn mask(first: u32, last: u32) -> u64 {
    let (from, to) = (u64::MAX >> first, u64::MAX << (63 - last));
    if first <= last { from & to } else { from | to }
}

/// The operands after the registers, and what they make of the mnemonic.
fn rotation(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<Rotation> {
    let word = operands(mnemonic) == Some(3) || mnemonic.contains('w');
    let bits = if word { 32 } else { 64 };
    let by_register = matches!(mnemonic, "rlwnm" | "rldcl" | "rldcr" | "rotlw" | "rotld");
    let mut numbers = [0; 3];
    let mut register = None;
    let start = cell.lexer.peek().span();
    for (index, slot) in numbers.iter_mut().enumerate().take(operands(mnemonic).unwrap_or(0)) {
        cell.comma()?;
        if by_register && index == 0 {
            register = Some(cell.register()?.0);
            continue;
        }
        let token = cell.lexer.peek();
        let number = cell.immediate()?.as_i64();
        // The number of bits of `extlwi` may be all of them.
        let most = i64::from(bits - u32::from(!mnemonic.starts_with("ext")));
        if !(0..=most).contains(&number) {
            let message = format!("{number} is out of range here");
            let error = Diagnostic::error(token.span(), message);
            return Err(Box::new(error.label(format!("expected a number from 0 to {most}"))));
        }
        *slot = number as u32;
    }
    let [a, b, c] = numbers;
    // What the extended mnemonics ask for: a field of `a` bits at bit `b`, or the other way round.
    let (field, at) = if mnemonic.starts_with("clrls") { (b, a) } else { (a, b) };
    let is_field = matches!(&mnemonic[..3], "ext" | "ins");
    if (is_field && (field == 0 || field + at > bits)) || (mnemonic.starts_with("clrls") && field > at) {
        let error = Diagnostic::error(start.to(cell.lexer.peek().span()), "there is no such field");
        return Err(Box::new(error.label(format!("it must lie within {bits} bits"))));
    }
    let last = bits - 1;
    let (count, first, end, insert) = match mnemonic {
        "rlwinm" | "rlwimi" => (a, b, c, mnemonic == "rlwimi"),
        "rlwnm" => (0, b, c, false),
        "rldicl" | "rldcl" => (a, b, last, false),
        "rldicr" | "rldcr" => (a, 0, b, false),
        "rldic" | "rldimi" => (a, b, last - a, mnemonic == "rldimi"),
        "extlwi" | "extldi" => (b, 0, a - 1, false),
        "extrwi" | "extrdi" => (b + a, bits - a, last, false),
        "inslwi" => (bits - b, b, b + a - 1, true),
        "insrwi" | "insrdi" => (bits - (b + a), b, b + a - 1, true),
        "clrlslwi" | "clrlsldi" => (b, a - b, last - b, false),
        "rotrwi" | "rotrdi" => (bits - a, 0, last, false),
        "clrlwi" | "clrldi" => (0, a, last, false),
        "clrrwi" | "clrrdi" => (0, 0, last - a, false),
        "sldi" => (a, 0, last - a, false),
        "srdi" => (bits - a, a, last, false),
        _ => (a, 0, last, false),
    };
    let above = 64 - bits;
    let count = register.map_or(Count::Number(count % bits), Count::Register);
    Ok(Rotation { count, mask: mask(first + above, end + above), insert, word })
}

fn op(cell: &mut Cell<'_, '_>, to: usize, op: BinaryOp, width: Width, a: Operand, b: Operand) -> Operand {
    cell.compute(to, Rvalue::Binary(op, width, Extend::Zero, a, b))
}

/// `ROTL(src, count) & mask`, or with the bits of the target outside of the mask.
fn rotate(cell: &mut Cell<'_, '_>, dst: Reg, src: Reg, rotation: &Rotation, record: bool) {
    use BinaryOp::{And, Or, Shl, ShrU, Sub};
    let Rotation { ref count, mask, insert, word } = *rotation;
    let in_word = word && mask >> 32 == 0;
    // A mask within the word needs one copy of the word only.
    let width = if in_word { Width::W32 } else { Width::W64 };
    let mut value: Operand = src.into();
    if word && !in_word {
        let low = cell.compute(0, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, value));
        let high = op(cell, 1, Shl, Width::W64, low, Value(32).into());
        value = op(cell, 0, Or, Width::W64, low, high);
    } else if !word {
        cell.thread().wide_read(src);
    }
    let by: Operand = match *count {
        Count::Number(number) => Value(number.into()).into(),
        Count::Register(reg) => {
            op(cell, 2, And, Width::W64, reg.into(), Value(if word { 31 } else { 63 }).into())
        }
    };
    if by != Operand::Const(Value::ZERO) {
        // Shifts take their count modulo the width.
        let back = op(cell, 3, Sub, Width::W64, Value::ZERO.into(), by);
        let up = op(cell, 1, Shl, width, value, by);
        let down = op(cell, 2, ShrU, width, value, back);
        value = op(cell, 0, Or, width, up, down);
    }
    let bits: Operand = Value(mask).into();
    if insert {
        cell.thread().carries(dst, dst);
        let new = op(cell, 0, And, width, value, bits);
        let kept = op(cell, 1, And, Width::W64, dst.into(), Value(!mask).into());
        finish(cell, dst, Rvalue::Binary(Or, Width::W64, Extend::Zero, new, kept), record);
    } else if in_word {
        finish_word(cell, dst, Rvalue::Binary(And, Width::W32, Extend::Zero, value, bits), record);
    } else {
        finish(cell, dst, Rvalue::Binary(And, Width::W64, Extend::Zero, value, bits), record);
    }
}

/// Shifts of doublewords. The count is taken modulo 128, and counts from 64 on shift everything out.
fn shift(cell: &mut Cell<'_, '_>, mnemonic: &str, record: bool) -> Parsed<()> {
    use BinaryOp::{And, Or, ShrU, Sub, Xor};
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    cell.comma()?;
    let w = Width::W64;
    cell.thread().wide_read(src);
    if mnemonic == "sradi" {
        let count = cell.immediate()?;
        finish(cell, dst, Rvalue::Binary(BinaryOp::ShrS, w, Extend::Zero, src.into(), count.into()), record);
        return Ok(());
    }
    let (count, _) = cell.register()?;
    // All ones if the count is 64 or more.
    let large = op(cell, 0, ShrU, w, count.into(), Value(6).into());
    let large = op(cell, 0, And, w, large, Value(1).into());
    let large = op(cell, 0, Sub, w, Value::ZERO.into(), large);
    if mnemonic == "srad" {
        let most = op(cell, 0, Or, w, count.into(), large);
        finish(cell, dst, Rvalue::Binary(BinaryOp::ShrS, w, Extend::Zero, src.into(), most), record);
        return Ok(());
    }
    let operator = if mnemonic == "sld" { BinaryOp::Shl } else { BinaryOp::ShrU };
    let shifted = op(cell, 1, operator, w, src.into(), count.into());
    let kept = op(cell, 0, Xor, w, large, Value(u64::MAX).into());
    finish(cell, dst, Rvalue::Binary(And, w, Extend::Zero, shifted, kept), record);
    Ok(())
}

/// Ones from the highest one down; then as many zeros are left as were leading. Their sum is counted bit by bit.
fn leading_zeros(cell: &mut Cell<'_, '_>, word: bool, record: bool) -> Parsed<()> {
    use BinaryOp::{Add, And, Or, ShrU, Xor};
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    let (width, bits) = if word { (Width::W32, 32u32) } else { (Width::W64, 64) };
    if !word {
        cell.thread().wide_read(src);
    }
    let mut value: Operand = src.into();
    for step in 0..bits.trailing_zeros() {
        let down = op(cell, 1, ShrU, width, value, Value(1 << step).into());
        value = op(cell, 0, Or, width, value, down);
    }
    value = op(cell, 0, Xor, width, value, Value(u64::MAX).into());
    // Neighbours are added: bits, pairs, nibbles, ...
    const MASKS: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0f0f_0f0f_0f0f_0f0f,
        0x00ff_00ff_00ff_00ff,
        0x0000_ffff_0000_ffff,
        0x0000_0000_ffff_ffff,
    ];
    for step in 0..bits.trailing_zeros() {
        let mask: Operand = Value(MASKS[step as usize]).into();
        let upper = op(cell, 1, ShrU, width, value, Value(1 << step).into());
        let upper = op(cell, 1, And, width, upper, mask);
        let lower = op(cell, 0, And, width, value, mask);
        value = op(cell, 0, Add, width, lower, upper);
    }
    finish(cell, dst, Rvalue::Use(value), record);
    Ok(())
}
