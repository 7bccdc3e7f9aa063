//! RISC-V instructions of RV32 and RV64: registers, arithmetic, branches and fences.
//!
//! Registers hold 64 bits; `lw` fills the upper half with copies of the sign, as do the instructions on words (`addw`). `x0`
//! reads as zero, and what is written to it is lost. A register may be named by its number or as the calling convention
//! names it; final states show the number.
//!
//! * [`memory`]: loads, stores, reservations and atomics.

mod memory;

use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;
use fencepost_ir::{Accesses, BinaryOp, Extend, Fence, Instr, Operand, Reg, Rvalue, UnaryOp, Value, Width};

/// The RISC-V instruction set.
pub(crate) struct RiscV;

/// The temporary that swallows what is written to `x0`.
const SWALLOWED: usize = 7;

/// The registers as the calling convention names them, by number; `fp` is `s0`.
const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];

impl Isa for RiscV {
    const NAME: &'static str = "RISC-V";
    const REGISTER: &'static str = "x5` or `a0";
    const MNEMONICS: &'static [&'static str] = &[
        "add",
        "addi",
        "addw",
        "addiw",
        "sub",
        "subw",
        "and",
        "andi",
        "or",
        "ori",
        "xor",
        "xori",
        "sll",
        "slli",
        "srl",
        "srli",
        "sra",
        "srai",
        "sllw",
        "slliw",
        "srlw",
        "srliw",
        "sraw",
        "sraiw",
        "slt",
        "slti",
        "sltu",
        "sltiu",
        "mul",
        "mulw",
        "div",
        "divu",
        "rem",
        "remu",
        "lui",
        "li",
        "mv",
        "not",
        "neg",
        "negw",
        "sext.w",
        "seqz",
        "snez",
        "sltz",
        "sgtz",
        "beq",
        "bne",
        "blt",
        "bge",
        "bltu",
        "bgeu",
        "bgt",
        "ble",
        "bgtu",
        "bleu",
        "beqz",
        "bnez",
        "bltz",
        "bgez",
        "blez",
        "bgtz",
        "j",
        "ret",
        "nop",
        "fence",
        "fence.tso",
        "fence.i",
        "lb",
        "lbu",
        "lh",
        "lhu",
        "lw",
        "lwu",
        "ld",
        "sb",
        "sh",
        "sw",
        "sd",
        "lw.aq",
        "sw.rl",
        "lr.w",
        "lr.d",
        "sc.w",
        "sc.d",
        "amoswap.w",
        "amoadd.w",
        "amoand.w",
        "amoor.w",
        "amoxor.w",
        "amomin.w",
        "amomax.w",
        "amominu.w",
        "amomaxu.w",
        "amoswap.d",
        "amoadd.d",
        "amoor.d",
        "amocas.w",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        if let Some(digits) = name.strip_prefix(['x', 'X'])
            && let Ok(number) = digits.parse::<Key>()
        {
            let canonical = digits.len() == if number < 10 { 1 } else { 2 };
            return (number < 32 && canonical).then_some((number, false));
        }
        if name == "fp" {
            return Some((8, false));
        }
        NAMES.iter().position(|known| *known == name).map(|number| (number as Key, false))
    }

    fn register_name(key: Key) -> String {
        format!("x{key}")
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        match mnemonic {
            "nop" => {}
            "ret" => cell.thread().emit(Instr::Return(None)),
            "fence" => fence(cell)?,
            "fence.tso" => cell.thread().emit(Instr::Fence(Fence::RiscVTso)),
            "fence.i" => cell.thread().emit(Instr::Fence(Fence::RiscVI)),
            "li" | "lui" => {
                let dst = target(cell)?;
                cell.comma()?;
                let value = cell.immediate()?;
                let value =
                    if mnemonic == "lui" { Width::W32.sign_extend(Value(value.0 << 12)) } else { value };
                cell.thread().assign(dst, Rvalue::Use(value.into()));
            }
            "mv" => {
                let (dst, src) = two(cell)?;
                cell.thread().assign(dst, Rvalue::Use(src));
            }
            "not" | "neg" | "negw" | "sext.w" | "sext.h" | "sext.b" | "zext.w" | "zext.h" | "zext.b" => {
                unary(cell, mnemonic)?
            }
            "seqz" | "snez" | "sltz" | "sgtz" => compare_with_zero(cell, mnemonic)?,
            "j" | "b" => {
                let (label, span) = cell.label()?;
                cell.thread().jump(label, span);
            }
            "jal" | "jalr" | "call" | "jr" => {
                return Err(cell.unsupported("calls and computed jumps are not modelled in litmus tests"));
            }
            _ => {
                return Ok(arithmetic(cell, mnemonic)?
                    || branch(cell, mnemonic)?
                    || memory::instruction(cell, mnemonic)?);
            }
        }
        Ok(true)
    }
}

/// A register to write to.
fn target(cell: &mut Cell<'_, '_>) -> Parsed<Reg> {
    if cell.peek_key() == Some(0) {
        cell.lexer.next();
        return Ok(cell.thread().temporary(SWALLOWED));
    }
    Ok(cell.register()?.0)
}

/// A register to read.
fn source(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    if cell.peek_key() == Some(0) {
        cell.lexer.next();
        return Ok(Value::ZERO.into());
    }
    Ok(cell.register()?.0.into())
}

fn two(cell: &mut Cell<'_, '_>) -> Parsed<(Reg, Operand)> {
    let dst = target(cell)?;
    cell.comma()?;
    Ok((dst, source(cell)?))
}

fn unary(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, src) = two(cell)?;
    let (op, width) = match mnemonic {
        "not" => (UnaryOp::Not, Width::W64),
        "neg" => (UnaryOp::Neg, Width::W64),
        "negw" => (UnaryOp::Neg, Width::W32),
        "sext.w" => (UnaryOp::SignExtend, Width::W32),
        "sext.h" => (UnaryOp::SignExtend, Width::W16),
        "sext.b" => (UnaryOp::SignExtend, Width::W8),
        "zext.w" => (UnaryOp::ZeroExtend, Width::W32),
        "zext.h" => (UnaryOp::ZeroExtend, Width::W16),
        _ => (UnaryOp::ZeroExtend, Width::W8),
    };
    let extend = if op == UnaryOp::ZeroExtend { Extend::Zero } else { Extend::Sign };
    cell.thread().assign(dst, Rvalue::Unary(op, width, extend, src));
    Ok(())
}

fn compare_with_zero(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, src) = two(cell)?;
    let op = match mnemonic {
        "seqz" => BinaryOp::Eq,
        "snez" => BinaryOp::Ne,
        "sltz" => BinaryOp::LtS,
        _ => BinaryOp::GtS,
    };
    cell.thread().assign(dst, Rvalue::Binary(op, Width::W64, Extend::Zero, src, Value::ZERO.into()));
    Ok(())
}

/// `op rd,rs1,rs2` and `opi rd,rs1,n`, on 64 bits or, with a `w` at the end, on 32.
fn arithmetic(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let operator = |name: &str| {
        Some(match name {
            "add" => BinaryOp::Add,
            "sub" => BinaryOp::Sub,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            "xor" => BinaryOp::Xor,
            "sll" => BinaryOp::Shl,
            "srl" => BinaryOp::ShrU,
            "sra" => BinaryOp::ShrS,
            "slt" => BinaryOp::LtS,
            "sltu" => BinaryOp::LtU,
            "mul" => BinaryOp::Mul,
            "div" => BinaryOp::DivS,
            "divu" => BinaryOp::DivU,
            "rem" => BinaryOp::RemS,
            "remu" => BinaryOp::RemU,
            _ => return None,
        })
    };
    // `sltiu` has the letter of the immediate in the middle.
    let (name, immediate, word) = match mnemonic {
        "sltiu" => ("sltu", true, false),
        _ => {
            let (name, word) = mnemonic.strip_suffix('w').map_or((mnemonic, false), |name| (name, true));
            match operator(name) {
                Some(_) => (name, false, word),
                None => (name.strip_suffix('i').unwrap_or(name), name.ends_with('i'), word),
            }
        }
    };
    let Some(op) = operator(name) else { return Ok(false) };
    let dst = target(cell)?;
    cell.comma()?;
    let a = source(cell)?;
    cell.comma()?;
    // `add x1,x2,3` is another spelling of `addi`.
    let b = if immediate || cell.at_immediate() { cell.immediate()?.into() } else { source(cell)? };
    if let (BinaryOp::DivS | BinaryOp::DivU | BinaryOp::RemS | BinaryOp::RemU, Operand::Reg(_)) = (op, b) {
        return Err(
            cell.unsupported("what a division by zero gives is not modelled, so divisors must be numbers")
        );
    }
    let width = if word { Width::W32 } else { Width::W64 };
    cell.thread().assign(dst, Rvalue::Binary(op, width, Extend::Sign, a, b));
    Ok(true)
}

fn branch(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let Some(name) = mnemonic.strip_prefix('b') else { return Ok(false) };
    let (name, with_zero) = name.strip_suffix('z').map_or((name, false), |name| (name, true));
    let op = match name {
        "eq" => BinaryOp::Eq,
        "ne" => BinaryOp::Ne,
        "lt" => BinaryOp::LtS,
        "ge" => BinaryOp::GeS,
        "gt" => BinaryOp::GtS,
        "le" => BinaryOp::LeS,
        "ltu" => BinaryOp::LtU,
        "geu" => BinaryOp::GeU,
        "gtu" => BinaryOp::GtU,
        "leu" => BinaryOp::LeU,
        _ => return Ok(false),
    };
    let a = source(cell)?;
    cell.comma()?;
    let b = if with_zero {
        Value::ZERO.into()
    } else {
        let b = source(cell)?;
        cell.comma()?;
        b
    };
    let condition = cell.compute(0, Rvalue::Binary(op, Width::W64, Extend::Zero, a, b));
    let (label, span) = cell.label()?;
    cell.thread().branch(condition, false, label, span);
    Ok(true)
}

/// `fence rw,w`, with `i` and `o` for devices, which litmus tests have none of; `fence` alone has all in both places.
fn fence(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (mut before, mut after) = (Some(Accesses::All), Some(Accesses::All));
    if !matches!(cell.lexer.text(cell.lexer.clone().peek()), "|" | ";") {
        before = accesses(cell)?;
        cell.comma()?;
        after = accesses(cell)?;
    }
    // A fence of devices alone orders nothing here.
    if let (Some(before), Some(after)) = (before, after) {
        cell.thread().emit(Instr::Fence(Fence::RiscV(before, after)));
    }
    Ok(())
}

fn accesses(cell: &mut Cell<'_, '_>) -> Parsed<Option<Accesses>> {
    let token = cell.lexer.peek();
    let text = cell.lexer.text(token).to_ascii_lowercase();
    let known = text.bytes().all(|b| matches!(b, b'i' | b'o' | b'r' | b'w'));
    if !known && text != "0" {
        return Err(cell.expected("the accesses that the fence is between, such as `rw`"));
    }
    cell.lexer.next();
    Ok(match (text.contains('r'), text.contains('w')) {
        (true, true) => Some(Accesses::All),
        (true, false) => Some(Accesses::Reads),
        (false, true) => Some(Accesses::Writes),
        (false, false) => None,
    })
}
