//! AArch64 instructions: the table of mnemonics, moves, arithmetic and branches.
//!
//! Registers are 64 bits wide. An instruction with W registers works on 32 bits and fills the rest with zeros, which
//! [`crate::thread::ThreadBuilder::narrow_write`] may turn into copies of the sign when nobody can tell. XZR and WZR
//! read as zero, and what is written to them is lost.
//!
//! * [`operand`]: registers, shifted and extended operands, addresses.
//! * [`flags`]: NZCV and conditions.
//! * [`memory`]: loads, stores, exclusives and atomics.
//! * [`pair`]: accesses to pairs of registers.
//! * [`bits`]: bit fields, reversals, multiplications and divisions.

mod bits;
mod flags;
mod memory;
mod operand;
mod pair;

use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;
use fencepost_ir::{BinaryOp, Extend, Fence, Instr, Operand, Rvalue, UnaryOp, Value, Width};
use flags::FlagOp;
use operand::{Target, second_operand, source, source_of, target};

/// The AArch64 instruction set.
pub(crate) struct AArch64;

/// The stack pointer: a register like any other here.
const SP: Key = 31;
/// XZR and WZR.
const ZERO: Key = 32;

impl Isa for AArch64 {
    const NAME: &'static str = "AArch64";
    const REGISTER: &'static str = "X1` or `W1";
    const HAS_NARROW_NAMES: bool = true;
    const MNEMONICS: &'static [&'static str] = &[
        "MOV", "MVN", "MOVZ", "ADD", "ADDS", "SUB", "SUBS", "AND", "ANDS", "ORR", "ORN", "EOR", "EON", "BIC",
        "NEG", "MUL", "LSL", "LSR", "ASR", "SXTW", "UXTW", "CMP", "CMN", "TST", "CSEL", "CSINC", "CSET",
        "CINC", "B", "B.EQ", "B.NE", "B.GE", "B.GT", "B.LE", "B.LT", "B.HI", "B.HS", "B.LO", "B.LS", "CBZ",
        "CBNZ", "TBZ", "TBNZ", "RET", "NOP", "LDR", "LDRB", "LDRH", "LDRSW", "LDUR", "LDAR", "LDARB",
        "LDAPR", "LDXR", "LDAXR", "STR", "STRB", "STRH", "STUR", "STLR", "STLRB", "STXR", "STLXR", "CAS",
        "CASA", "CASL", "CASAL", "SWP", "SWPA", "SWPL", "SWPAL", "LDADD", "LDADDA", "LDADDL", "LDADDAL",
        "LDEOR", "LDCLR", "LDSET", "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN", "STADD", "STADDL", "STEOR",
        "STCLR", "STSET", "DMB", "DSB", "ISB", "LDP", "LDNP", "LDPSW", "LDIAPP", "STP", "STNP", "STILP",
        "LDXP", "LDAXP", "STXP", "STLXP", "CASP", "CASPA", "CASPL", "CASPAL", "LDAPUR", "LDAPURB", "STLUR",
        "MOVK", "MOVN", "ADR", "UBFM", "SBFM", "BFM", "UBFX", "SBFX", "BFI", "BFXIL", "ROR", "EXTR", "MADD",
        "MSUB", "MNEG", "SMULL", "UMULL", "SMADDL", "UMADDL", "SMULH", "UMULH", "SDIV", "UDIV", "REV",
        "REV16", "REV32", "REV64", "RBIT", "CLZ", "CLS", "CTZ", "CNT", "ABS", "SMAX", "SMIN", "UMAX", "UMIN",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        let narrow = match name.as_bytes().first()? {
            b'X' | b'x' => false,
            b'W' | b'w' => true,
            _ => return name.eq_ignore_ascii_case("SP").then_some((SP, false)),
        };
        let digits = name.get(1..)?;
        if digits.eq_ignore_ascii_case("ZR") {
            return Some((ZERO, narrow));
        }
        if narrow && digits.eq_ignore_ascii_case("SP") {
            return Some((SP, true));
        }
        let number: Key = digits.parse().ok()?;
        let canonical = digits.len() == if number < 10 { 1 } else { 2 };
        (number < SP && canonical).then_some((number, narrow))
    }

    fn register_name(key: Key) -> String {
        match key {
            SP => "SP".to_string(),
            ZERO => "XZR".to_string(),
            _ => format!("X{key}"),
        }
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        match mnemonic {
            "nop" | "hint" | "yield" => {}
            "ret" => {
                if cell.at_register() {
                    cell.register()?;
                }
                cell.thread().emit(Instr::Return(None));
            }
            "dmb" | "dsb" => fence(cell, mnemonic == "dsb")?,
            "isb" => {
                cell.lexer.eat_word("SY");
                cell.thread().emit(Instr::Fence(Fence::Isb));
            }
            "mov" | "movz" => copy(cell)?,
            "mvn" | "neg" | "sxtw" | "uxtw" | "sxtb" | "uxtb" | "sxth" | "uxth" => unary(cell, mnemonic)?,
            "cmp" | "cmn" | "tst" => compare(cell, mnemonic)?,
            "lsl" | "lsr" | "asr" => shift(cell, mnemonic)?,
            "b" => {
                let (label, span) = cell.label()?;
                cell.thread().jump(label, span);
            }
            "bl" | "blr" | "br" => return Err(cell.unsupported("calls are not modelled in litmus tests")),
            "cbz" | "cbnz" => {
                let value = branch_source(cell)?;
                cell.comma()?;
                let (label, span) = cell.label()?;
                cell.thread().branch(value, mnemonic == "cbz", label, span);
            }
            "tbz" | "tbnz" => test_branch(cell, mnemonic == "tbz")?,
            _ => {
                return Ok(arithmetic(cell, mnemonic)?
                    || conditional_branch(cell, mnemonic)?
                    || flags::select(cell, mnemonic)?
                    || memory::instruction(cell, mnemonic)?
                    || pair::instruction(cell, mnemonic)?
                    || bits::instruction(cell, mnemonic)?);
            }
        }
        Ok(true)
    }
}

/// The width of an operation on a register.
fn width(narrow: bool) -> Width {
    if narrow { Width::W32 } else { Width::W64 }
}

/// `DMB` and `DSB`. The shareability domains make no difference between the threads of a test.
fn fence(cell: &mut Cell<'_, '_>, is_dsb: bool) -> Parsed<()> {
    let token = cell.lexer.peek();
    let option = cell.lexer.text(token).to_ascii_uppercase();
    let (loads, stores) = match option.as_str() {
        "SY" | "ISH" | "NSH" | "OSH" => (true, true),
        "LD" | "ISHLD" | "NSHLD" | "OSHLD" => (true, false),
        "ST" | "ISHST" | "NSHST" | "OSHST" => (false, true),
        _ => return Err(cell.expected("`SY`, `LD` or `ST`, or one of these for `ISH`, `NSH` or `OSH`")),
    };
    cell.lexer.next();
    cell.thread().emit(Instr::Fence(match (is_dsb, loads, stores) {
        (false, true, true) => Fence::DmbSy,
        (false, true, false) => Fence::DmbLd,
        (false, false, _) => Fence::DmbSt,
        (true, true, true) => Fence::DsbSy,
        (true, true, false) => Fence::DsbLd,
        (true, false, _) => Fence::DsbSt,
    }));
    Ok(())
}

fn copy(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    if !cell.at_immediate() {
        let src = source_of(cell, dst.narrow)?;
        assign_copy(cell, dst, src);
        return Ok(());
    }
    let mut value = cell.immediate()?;
    if cell.lexer.eat(",") {
        if !(cell.lexer.eat_word("LSL") || cell.lexer.eat_word("lsl")) {
            return Err(cell.expected("`LSL`"));
        }
        let by = cell.immediate()?;
        value = Value(value.0.checked_shl(by.0 as u32).unwrap_or(0));
    }
    dst.assign(cell, Rvalue::Use(width(dst.narrow).zero_extend(value).into()));
    Ok(())
}

/// `dst = src`, cut to 32 bits for W registers.
fn assign_copy(cell: &mut Cell<'_, '_>, dst: Target, src: Operand) {
    let value = match (dst.narrow, src) {
        (true, Operand::Reg(_)) => Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, src),
        _ => Rvalue::Use(src),
    };
    dst.assign(cell, value);
}

fn unary(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let (op, from) = match mnemonic {
        "mvn" => (UnaryOp::Not, width(dst.narrow)),
        "neg" => (UnaryOp::Neg, width(dst.narrow)),
        "sxtw" => (UnaryOp::SignExtend, Width::W32),
        "uxtw" => (UnaryOp::ZeroExtend, Width::W32),
        "sxth" => (UnaryOp::SignExtend, Width::W16),
        "uxth" => (UnaryOp::ZeroExtend, Width::W16),
        "sxtb" => (UnaryOp::SignExtend, Width::W8),
        _ => (UnaryOp::ZeroExtend, Width::W8),
    };
    if matches!(op, UnaryOp::Not | UnaryOp::Neg) {
        let src = second_operand(cell, dst.narrow)?;
        dst.assign(cell, Rvalue::Unary(op, from, Extend::Zero, src));
        return Ok(());
    }
    let (src, _) = source(cell)?;
    let extend = if op == UnaryOp::SignExtend { Extend::Sign } else { Extend::Zero };
    let value = Rvalue::Unary(op, from, extend, src);
    if dst.narrow && extend == Extend::Sign {
        // Sign-extended to 32 bits only: zeros above.
        let wide = cell.compute(0, value);
        dst.assign(cell, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, wide));
    } else {
        dst.assign(cell, value);
    }
    Ok(())
}

/// `op Rd,Rn,operand`, and with flags.
fn arithmetic(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let (op, inverts, flags) = match mnemonic {
        "add" => (BinaryOp::Add, false, None),
        "adds" => (BinaryOp::Add, false, Some(FlagOp::Add)),
        "sub" => (BinaryOp::Sub, false, None),
        "subs" => (BinaryOp::Sub, false, Some(FlagOp::Sub)),
        "and" => (BinaryOp::And, false, None),
        "ands" => (BinaryOp::And, false, Some(FlagOp::And)),
        "bic" => (BinaryOp::And, true, None),
        "bics" => (BinaryOp::And, true, Some(FlagOp::And)),
        "orr" => (BinaryOp::Or, false, None),
        "orn" => (BinaryOp::Or, true, None),
        "eor" => (BinaryOp::Xor, false, None),
        "eon" => (BinaryOp::Xor, true, None),
        "mul" => (BinaryOp::Mul, false, None),
        _ => return Ok(false),
    };
    let dst = target(cell)?;
    cell.comma()?;
    let a = source_of(cell, dst.narrow)?;
    cell.comma()?;
    let mut b = second_operand(cell, dst.narrow)?;
    if inverts {
        b = cell.compute(1, Rvalue::Unary(UnaryOp::Not, width(dst.narrow), Extend::Zero, b));
    }
    if let Some(flags) = flags {
        flags::set(cell, flags, width(dst.narrow), a, b);
    }
    dst.assign(cell, Rvalue::Binary(op, width(dst.narrow), Extend::Zero, a, b));
    Ok(true)
}

fn shift(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let a = source_of(cell, dst.narrow)?;
    cell.comma()?;
    let b = if cell.at_immediate() { cell.immediate()?.into() } else { source_of(cell, dst.narrow)? };
    let op = operand::shift_op(mnemonic).unwrap_or(BinaryOp::Shl);
    dst.assign(cell, Rvalue::Binary(op, width(dst.narrow), Extend::Zero, a, b));
    Ok(())
}

fn compare(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (a, narrow) = source(cell)?;
    cell.comma()?;
    let b = second_operand(cell, narrow)?;
    let op = match mnemonic {
        "cmp" => FlagOp::Sub,
        "cmn" => FlagOp::Add,
        _ => FlagOp::And,
    };
    flags::set(cell, op, width(narrow), a, b);
    Ok(())
}

/// The register of `CBZ`, as something that is zero or not.
fn branch_source(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    let (value, narrow) = source(cell)?;
    if !narrow {
        return Ok(value);
    }
    // Only the low half of a W register counts, and what is above need not be zero.
    Ok(cell.compute(0, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, value)))
}

fn test_branch(cell: &mut Cell<'_, '_>, if_zero: bool) -> Parsed<()> {
    let (value, _) = source(cell)?;
    cell.comma()?;
    let token = cell.lexer.peek();
    let bit = cell.immediate()?;
    if bit.0 > 63 {
        return Err(crate::error::expected(cell.lexer, token, "a bit number from 0 to 63"));
    }
    cell.comma()?;
    let mask = Value(1 << bit.0);
    let tested = cell.compute(0, Rvalue::Binary(BinaryOp::And, Width::W64, Extend::Zero, value, mask.into()));
    let (label, span) = cell.label()?;
    cell.thread().branch(tested, if_zero, label, span);
    Ok(())
}

/// `B.NE` and its kin, also spelt `BNE`.
fn conditional_branch(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let Some(name) = mnemonic.strip_prefix('b') else { return Ok(false) };
    let Some((condition, if_zero)) = flags::condition(cell, name.strip_prefix('.').unwrap_or(name)) else {
        return Ok(false);
    };
    let (label, span) = cell.label()?;
    cell.thread().branch(condition, if_zero, label, span);
    Ok(true)
}
