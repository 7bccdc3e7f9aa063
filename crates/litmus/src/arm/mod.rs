//! ARM instructions of ARMv7 (A32), as litmus tests use them.
//!
//! Registers hold 64 bits, so that they can hold the address of a location; a word fills the upper half with copies of its
//! sign, and arithmetic is done on all of them, as for PPC. Flags are one hidden register that holds a number with the sign of
//! the comparison: zero is EQ, negative is LT. Any instruction may be conditional, `LDRNE`; it is then behind a branch.
//!
//! * [`memory`]: loads, stores and exclusives.

mod memory;

use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;
use fencepost_ir::{BinaryOp, Extend, Fence, Instr, Operand, Reg, Rvalue, UnaryOp, Value, Width};

/// The ARM instruction set.
pub(crate) struct Arm;

/// The key of the flags.
const FLAGS: Key = 32;

/// Names of registers with a part to play.
const NAMED: [(&str, Key); 7] =
    [("SB", 9), ("SL", 10), ("FP", 11), ("IP", 12), ("SP", 13), ("LR", 14), ("PC", 15)];

/// Conditions: the comparison of the flags with zero, or none for equality, and whether it holds or not.
const CONDITIONS: [(&str, Option<BinaryOp>, bool); 8] = [
    ("eq", None, false),
    ("ne", None, true),
    ("lt", Some(BinaryOp::LtS), true),
    ("ge", Some(BinaryOp::LtS), false),
    ("gt", Some(BinaryOp::GtS), true),
    ("le", Some(BinaryOp::GtS), false),
    ("mi", Some(BinaryOp::LtS), true),
    ("pl", Some(BinaryOp::LtS), false),
];

/// Conditions that look at the carry or the overflow.
const OTHER_CONDITIONS: [&str; 8] = ["cs", "hs", "cc", "lo", "hi", "ls", "vs", "vc"];

impl Isa for Arm {
    const NAME: &'static str = "ARM";
    const REGISTER: &'static str = "R1";
    const MNEMONICS: &'static [&'static str] = &[
        "MOV", "MOVW", "MOVT", "MVN", "ADD", "ADDS", "SUB", "SUBS", "RSB", "AND", "ANDS", "ORR", "ORRS",
        "EOR", "EORS", "BIC", "MUL", "LSL", "LSR", "ASR", "CMP", "CMN", "TST", "TEQ", "SXTB", "SXTH", "UXTB",
        "UXTH", "B", "BEQ", "BNE", "BLT", "BGE", "BGT", "BLE", "BX", "CBZ", "CBNZ", "NOP", "LDR", "LDRB",
        "LDRH", "LDRSB", "LDRSH", "LDRD", "LDM", "STR", "STRB", "STRH", "STRD", "LDREX", "LDREXB", "LDREXH",
        "STREX", "STREXB", "STREXH", "CLREX", "SWP", "DMB", "DSB", "ISB",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        if let Some(&(_, key)) = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            return Some((key, false));
        }
        let digits = name.strip_prefix(['R', 'r'])?;
        let number: Key = digits.parse().ok()?;
        let canonical = digits.len() == if number < 10 { 1 } else { 2 };
        (number < 16 && canonical).then_some((number, false))
    }

    fn register_name(key: Key) -> String {
        match key {
            13 => "SP".to_string(),
            14 => "LR".to_string(),
            15 => "PC".to_string(),
            _ => format!("R{key}"),
        }
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        if unconditional(cell, mnemonic)? {
            return Ok(true);
        }
        // `LDRNE`, and `ADDNES` or `ADDSNE`.
        for (name, test, holds) in CONDITIONS {
            let (base, flags) = match mnemonic.strip_suffix('s') {
                Some(base) if base.ends_with(name) => (base, "s"),
                _ => (mnemonic, ""),
            };
            if let Some(base) = base.strip_suffix(name).filter(|base| !base.is_empty()) {
                let condition = condition(cell, test);
                let skip = cell.thread().emit_open(Some(condition));
                let known = unconditional(cell, &format!("{base}{flags}"))?;
                let next = cell.thread().function.next_label();
                match holds {
                    true => cell.thread().patch(skip, next),
                    false => cell.thread().patch_then(skip, next),
                }
                return Ok(known);
            }
        }
        let is_other = |name: &str| mnemonic.strip_suffix(name).is_some_and(|base| !base.is_empty());
        if OTHER_CONDITIONS.iter().any(|name| is_other(name)) {
            return Err(
                cell.unsupported("of the flags, only the sign and whether a result is zero are modelled")
            );
        }
        Ok(false)
    }
}

/// The flags, compared with zero; without a comparison they are not zero for NE.
fn condition(cell: &mut Cell<'_, '_>, test: Option<BinaryOp>) -> Operand {
    let flags: Operand = cell.thread().hidden_register(FLAGS, "flags").into();
    match test {
        None => flags,
        Some(op) => cell.compute(0, Rvalue::Binary(op, Width::W64, Extend::Zero, flags, Value::ZERO.into())),
    }
}

fn unconditional(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    match mnemonic {
        "nop" => {}
        "dmb" | "dsb" => fence(cell, mnemonic == "dsb")?,
        "isb" => {
            let _ = cell.lexer.eat_word("SY") || cell.lexer.eat_word("sy");
            cell.thread().emit(Instr::Fence(Fence::Isb));
        }
        "b" => {
            let (label, span) = cell.label()?;
            cell.thread().jump(label, span);
        }
        "bl" | "blx" => return Err(cell.unsupported("calls are not modelled in litmus tests")),
        "bx" => {
            cell.register()?;
            cell.thread().emit(Instr::Return(None));
        }
        "cbz" | "cbnz" => {
            let (value, _) = cell.register()?;
            cell.comma()?;
            let (label, span) = cell.label()?;
            cell.thread().branch(value, mnemonic == "cbz", label, span);
        }
        "mov" | "movs" | "movw" | "movt" | "mvn" | "mvns" => copy(cell, mnemonic)?,
        "sxtb" | "sxth" | "uxtb" | "uxth" => extend(cell, mnemonic)?,
        "cmp" | "cmn" | "tst" | "teq" => compare(cell, mnemonic)?,
        _ => {
            return Ok(branch(cell, mnemonic)?
                || arithmetic(cell, mnemonic)?
                || memory::instruction(cell, mnemonic)?);
        }
    }
    Ok(true)
}

/// `BNE` and its kin.
fn branch(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let Some(name) = mnemonic.strip_prefix('b') else { return Ok(false) };
    let Some(&(_, test, holds)) = CONDITIONS.iter().find(|(known, ..)| *known == name) else {
        return Ok(false);
    };
    let condition = condition(cell, test);
    let (label, span) = cell.label()?;
    cell.thread().branch(condition, !holds, label, span);
    Ok(true)
}

/// `DMB` and `DSB`, alone or with what they order. The shareability domains make no difference between the threads of a test.
fn fence(cell: &mut Cell<'_, '_>, is_dsb: bool) -> Parsed<()> {
    let token = cell.lexer.peek();
    let option = cell.lexer.text(token).to_ascii_uppercase();
    let stores = match option.as_str() {
        "|" | ";" => false,
        "SY" | "ISH" | "NSH" | "OSH" | "SH" | "UN" | "ST" | "ISHST" | "NSHST" | "OSHST" => {
            cell.lexer.next();
            option.ends_with("ST")
        }
        _ => return Err(cell.expected("`SY`, `ST`, or one of these for `ISH`, `NSH` or `OSH`")),
    };
    cell.thread().emit(Instr::Fence(match (is_dsb, stores) {
        (false, false) => Fence::DmbSy,
        (false, true) => Fence::DmbSt,
        (true, false) => Fence::DsbSy,
        (true, true) => Fence::DsbSt,
    }));
    Ok(())
}

/// Assigns, and sets the flags where the mnemonic says so.
fn finish(cell: &mut Cell<'_, '_>, dst: Reg, value: Rvalue, flags: bool) {
    cell.thread().assign(dst, value);
    if flags {
        let register = cell.thread().hidden_register(FLAGS, "flags");
        cell.thread().assign(register, Rvalue::Use(dst.into()));
    }
}

/// A number as a word.
fn word(cell: &mut Cell<'_, '_>) -> Parsed<Value> {
    Ok(Width::W32.sign_extend(cell.immediate()?))
}

/// A number, or a register with an optional shift.
fn operand(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    if cell.at_immediate() {
        return Ok(word(cell)?.into());
    }
    let (reg, _) = cell.register()?;
    let mut ahead = cell.lexer.clone();
    if !ahead.eat(",") {
        return Ok(reg.into());
    }
    let token = ahead.next();
    let Some(op) = shift_operator(&ahead.text(token).to_ascii_lowercase()) else { return Ok(reg.into()) };
    cell.lexer.next();
    cell.lexer.next();
    let by: Operand = if cell.at_immediate() { cell.immediate()?.into() } else { cell.register()?.0.into() };
    Ok(cell.compute(0, Rvalue::Binary(op, Width::W32, Extend::Sign, reg.into(), by)))
}

fn shift_operator(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "lsl" => BinaryOp::Shl,
        "lsr" => BinaryOp::ShrU,
        "asr" => BinaryOp::ShrS,
        _ => return None,
    })
}

fn copy(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    if mnemonic == "movt" {
        let high = cell.immediate()?;
        let (op, mask) = (BinaryOp::And, Value(0xffff));
        let low = cell.compute(0, Rvalue::Binary(op, Width::W64, Extend::Zero, dst.into(), mask.into()));
        let value = Value(high.0 << 16);
        let both = Rvalue::Binary(BinaryOp::Or, Width::W32, Extend::Sign, low, value.into());
        cell.thread().assign(dst, both);
        return Ok(());
    }
    let src = operand(cell)?;
    let value = match mnemonic.starts_with("mvn") {
        true => Rvalue::Unary(UnaryOp::Not, Width::W64, Extend::Sign, src),
        false => Rvalue::Use(src),
    };
    finish(cell, dst, value, mnemonic.ends_with('s'));
    Ok(())
}

fn extend(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    let width = if mnemonic.ends_with('b') { Width::W8 } else { Width::W16 };
    let value = match mnemonic.starts_with('s') {
        true => Rvalue::Unary(UnaryOp::SignExtend, width, Extend::Sign, src.into()),
        false => Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, src.into()),
    };
    cell.thread().assign(dst, value);
    Ok(())
}

fn compare(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (a, _) = cell.register()?;
    cell.comma()?;
    let b = operand(cell)?;
    let op = match mnemonic {
        "cmp" => BinaryOp::Sub,
        "cmn" => BinaryOp::Add,
        "tst" => BinaryOp::And,
        _ => BinaryOp::Xor,
    };
    let flags = cell.thread().hidden_register(FLAGS, "flags");
    // Words are far from the ends of the 64-bit range, so the difference has the right sign.
    cell.thread().assign(flags, Rvalue::Binary(op, Width::W64, Extend::Sign, a.into(), b));
    Ok(())
}

/// `op Rd,Rn,operand` or `op Rd,operand`, and with flags.
fn arithmetic(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let operator = |name: &str| {
        Some(match name {
            "add" => BinaryOp::Add,
            "sub" | "rsb" => BinaryOp::Sub,
            "and" | "bic" => BinaryOp::And,
            "orr" => BinaryOp::Or,
            "eor" | "xor" => BinaryOp::Xor,
            "mul" => BinaryOp::Mul,
            _ => return shift_operator(name),
        })
    };
    let (name, flags) = match (operator(mnemonic), mnemonic.strip_suffix('s')) {
        (None, Some(name)) => (name, true),
        _ => (mnemonic, false),
    };
    let Some(op) = operator(name) else { return Ok(false) };
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let first = operand(cell)?;
    let (a, mut b) = match cell.lexer.eat(",") {
        true => (first, operand(cell)?),
        false => (dst.into(), first),
    };
    let a = if name == "rsb" { std::mem::replace(&mut b, a) } else { a };
    if name == "bic" {
        b = cell.compute(1, Rvalue::Unary(UnaryOp::Not, Width::W64, Extend::Sign, b));
    }
    let width = if shift_operator(name).is_some() { Width::W32 } else { Width::W64 };
    finish(cell, dst, Rvalue::Binary(op, width, Extend::Sign, a, b), flags);
    Ok(true)
}
