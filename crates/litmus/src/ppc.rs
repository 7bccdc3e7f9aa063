//! PPC instructions.
//!
//! Registers hold 64 bits and arithmetic is done on all of them. A loaded word fills the rest with zeros, which
//! [`crate::thread::ThreadBuilder::narrow_write`] turns into copies of the sign when nobody can tell, so that values come out as
//! herd7
//! prints them. Rotations are in [`rotate`].
//!
//! A field of the condition register is one hidden register that holds a number with the sign of the comparison: zero
//! is EQ, negative is LT, positive is GT. `cmpw` is then a subtraction and `beq` a branch on zero, and `stwcx.` writes
//! its status (zero for success) there directly. After a failed `stwcx.` that says GT where the hardware says none of
//! the three, which only a `bgt` or `ble` right after it could tell.
//!
//! `r0` as the base of an indexed access, or as the source of `addi`, means zero [Power ISA, Book I, 1.9]; in
//! `lwz r1,0(r0)` it is the register, as in herd7.

use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;
use fencepost_ir::{Ann, BinaryOp, Extend, Fence, Instr, Operand, Order, Reg, Rvalue, UnaryOp, Value, Width};

mod rotate;

/// The PPC instruction set.
pub(crate) struct Ppc;

/// The key of condition register field 0; seven more follow.
const CR0: Key = 32;

impl Isa for Ppc {
    const NAME: &'static str = "PPC";
    const REGISTER: &'static str = "r1";
    const MNEMONICS: &'static [&'static str] = &[
        "li", "lis", "mr", "lwz", "lwzx", "lwzu", "ld", "ldx", "ldu", "lbz", "lbzx", "lhz", "lhzx", "lha",
        "lwa", "stw", "stwx", "stwu", "std", "stdx", "stdu", "stb", "stbx", "sth", "sthx", "lwarx", "ldarx",
        "stwcx.", "stdcx.", "add", "addi", "addis", "sub", "subi", "subf", "xor", "xori", "or", "ori", "and",
        "andi.", "nor", "not", "neg", "mullw", "mulli", "divw", "slw", "srw", "sraw", "slwi", "srwi",
        "srawi", "extsw", "cmpw", "cmpwi", "cmpd", "cmpdi", "cmplw", "cmplwi", "cmpld", "b", "beq", "bne",
        "blt", "bgt", "ble", "bge", "bnl", "bng", "blr", "sync", "hwsync", "lwsync", "eieio", "isync", "nop",
        "rlwinm", "rlwimi", "rlwnm", "rotlwi", "clrlwi", "clrrwi", "extlwi", "extrwi", "inslwi", "insrwi",
        "rldicl", "rldicr", "rldic", "rldimi", "clrldi", "clrrdi", "sldi", "srdi", "sradi", "rotldi",
        "extldi", "extrdi", "insrdi", "sld", "srd", "srad", "andc", "orc", "nand", "eqv", "oris", "xoris",
        "andis.", "extsb", "extsh", "cntlzw", "cntlzd", "divwu", "divdu", "lbarx", "lharx", "stbcx.",
        "sthcx.",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        let digits = name.strip_prefix(['r', 'R'])?;
        let number: Key = digits.parse().ok()?;
        let canonical = digits.len() == if number < 10 { 1 } else { 2 };
        (number < 32 && canonical).then_some((number, false))
    }

    fn register_name(key: Key) -> String {
        format!("r{key}")
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        if let Some(fence) = fence(mnemonic) {
            cell.thread().emit(Instr::Fence(fence));
            return Ok(true);
        }
        // `add.` also compares its result with zero.
        let (base, record) = match mnemonic.strip_suffix('.') {
            Some(base) if !matches!(mnemonic, "stwcx." | "stdcx." | "stbcx." | "sthcx.") => (base, true),
            _ => (mnemonic, false),
        };
        match base {
            "nop" => {}
            // Flushing a cache line changes no value.
            "dcbf" => {
                cell.register()?;
                cell.comma()?;
                cell.register()?;
            }
            "blr" => cell.thread().emit(Instr::Return(None)),
            "li" | "lis" => load_immediate(cell, base)?,
            "mr" => copy(cell, record)?,
            "not" | "neg" | "extsw" | "extsh" | "extsb" => unary(cell, base, record)?,
            "lbarx" | "lharx" | "lwarx" | "ldarx" => load_reserve(cell, base)?,
            "stbcx." | "sthcx." | "stwcx." | "stdcx." => store_conditional(cell, base)?,
            "b" => {
                let (label, span) = cell.label()?;
                cell.thread().jump(label, span);
            }
            "bl" => return Err(cell.unsupported("calls are not modelled in litmus tests")),
            "slw" | "srw" | "sraw" | "slwi" | "srwi" | "srawi" => shift(cell, base, record)?,
            _ => {
                return Ok(memory(cell, base)?
                    || rotate::instruction(cell, base, record)?
                    || arithmetic(cell, base, record)?
                    || compare_or_branch(cell, base)?);
            }
        }
        Ok(true)
    }
}

fn fence(mnemonic: &str) -> Option<Fence> {
    Some(match mnemonic {
        "sync" | "hwsync" => Fence::Sync,
        "lwsync" => Fence::Lwsync,
        "eieio" => Fence::Eieio,
        "isync" => Fence::Isync,
        _ => return None,
    })
}

fn load_immediate(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let value = cell.immediate()?;
    let value = if mnemonic == "lis" { Value(value.0 << 16) } else { value };
    cell.thread().assign(dst, Rvalue::Use(value.into()));
    Ok(())
}

fn copy(cell: &mut Cell<'_, '_>, record: bool) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    cell.thread().carries(dst, src);
    finish(cell, dst, Rvalue::Use(src.into()), record);
    Ok(())
}

fn unary(cell: &mut Cell<'_, '_>, mnemonic: &str, record: bool) -> Parsed<()> {
    let (op, width) = match mnemonic {
        "not" => (UnaryOp::Not, Width::W64),
        "neg" => (UnaryOp::Neg, Width::W64),
        "extsb" => (UnaryOp::SignExtend, Width::W8),
        "extsh" => (UnaryOp::SignExtend, Width::W16),
        _ => (UnaryOp::SignExtend, Width::W32),
    };
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    cell.thread().carries(dst, src);
    finish(cell, dst, Rvalue::Unary(op, width, Extend::Sign, src.into()), record);
    Ok(())
}

/// Assigns, and compares the result with zero where the mnemonic had a dot.
fn finish(cell: &mut Cell<'_, '_>, dst: Reg, value: Rvalue, record: bool) {
    let thread = cell.thread();
    thread.assign(dst, value);
    if record {
        let cr = thread.hidden_register(CR0, "cr0");
        thread.assign(cr, Rvalue::Use(dst.into()));
    }
}

/// Loads and stores: `d(rA)`, or `rA,rB` with or without `x` in the mnemonic.
fn memory(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let (is_load, rest) = match (mnemonic.strip_prefix("st"), mnemonic.strip_prefix('l')) {
        (Some(rest), _) => (false, rest),
        (None, Some(rest)) => (true, rest),
        _ => return Ok(false),
    };
    let (width, extend, rest) = match (is_load, rest.as_bytes()) {
        (true, [b'w', b'z', ..]) => (Width::W32, Extend::Zero, &rest[2..]),
        (true, [b'w', b'a', ..]) => (Width::W32, Extend::Sign, &rest[2..]),
        (true, [b'h', b'z', ..]) => (Width::W16, Extend::Zero, &rest[2..]),
        (true, [b'h', b'a', ..]) => (Width::W16, Extend::Sign, &rest[2..]),
        (true, [b'b', b'z', ..]) => (Width::W8, Extend::Zero, &rest[2..]),
        (_, [b'd', ..]) => (Width::W64, Extend::Zero, &rest[1..]),
        (false, [b'w', ..]) => (Width::W32, Extend::Zero, &rest[1..]),
        (false, [b'h', ..]) => (Width::W16, Extend::Zero, &rest[1..]),
        (false, [b'b', ..]) => (Width::W8, Extend::Zero, &rest[1..]),
        _ => return Ok(false),
    };
    let (indexed, update) = match rest {
        "" => (false, false),
        "x" => (true, false),
        "u" => (false, true),
        _ => return Ok(false),
    };
    let (value, _) = cell.register()?;
    cell.comma()?;
    let (addr, base) =
        if indexed || cell.at_register() { (indexed_address(cell)?, None) } else { based(cell)? };
    let thread = cell.thread();
    thread.emit(if is_load {
        Instr::Load { dst: value, addr, width, extend, ann: Ann::PLAIN }
    } else {
        Instr::Store { addr, value: value.into(), width, ann: Ann::PLAIN }
    });
    if is_load && width == Width::W32 && extend == Extend::Zero {
        thread.narrow_write(value);
    }
    if !is_load && width == Width::W64 {
        thread.wide_read(value);
    }
    // The base keeps its old value when the load overwrites it: that form is invalid on hardware.
    if let Some(base) = base.filter(|&base| update && !(is_load && base == value)) {
        thread.assign(base, Rvalue::Use(addr));
    }
    Ok(true)
}

/// `d(rA)` or `d,rA`: the address and the base register.
fn based(cell: &mut Cell<'_, '_>) -> Parsed<(Operand, Option<Reg>)> {
    if !cell.at_immediate() {
        return Err(cell.expected("an address such as `0(r2)` or `r3,r2`"));
    }
    let offset = cell.immediate()?;
    // `0,r2` is another spelling of `0(r2)`.
    let parenthesised = !cell.lexer.eat(",");
    if parenthesised {
        cell.expect("(")?;
    }
    let (base, _) = cell.register()?;
    if parenthesised {
        cell.expect(")")?;
    }
    let addr = match offset {
        Value::ZERO => base.into(),
        _ => {
            let sum = Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, base.into(), offset.into());
            cell.compute(0, sum)
        }
    };
    Ok((addr, Some(base)))
}

/// `rA,rB`: their sum, where `r0` in the first place is zero.
fn indexed_address(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    let base_is_zero = cell.peek_key() == Some(0);
    let (a, _) = cell.register()?;
    cell.comma()?;
    let (b, _) = cell.register()?;
    if base_is_zero {
        return Ok(b.into());
    }
    Ok(cell.compute(0, Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, a.into(), b.into())))
}

fn load_reserve(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let width = reservation_width(mnemonic);
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let addr = indexed_address(cell)?;
    let ann = Ann::exclusive(Order::Plain);
    let thread = cell.thread();
    thread.emit(Instr::Load { dst, addr, width, extend: Extend::Zero, ann });
    if width == Width::W32 {
        thread.narrow_write(dst);
    }
    Ok(())
}

/// The width of `lwarx`, `stbcx.` and the others.
fn reservation_width(mnemonic: &str) -> Width {
    match mnemonic.trim_start_matches(['l', 's', 't']).as_bytes().first() {
        Some(b'b') => Width::W8,
        Some(b'h') => Width::W16,
        Some(b'w') => Width::W32,
        _ => Width::W64,
    }
}

fn store_conditional(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<()> {
    let width = reservation_width(mnemonic);
    let (value, _) = cell.register()?;
    cell.comma()?;
    let addr = indexed_address(cell)?;
    let thread = cell.thread();
    if width == Width::W64 {
        thread.wide_read(value);
    }
    let status = thread.hidden_register(CR0, "cr0");
    let ann = Ann::exclusive(Order::Plain);
    // Zero is EQ in our condition register, so success is 0 and not the EQ bit's 1.
    thread.emit(Instr::StoreExclusive { status, success: 0, addr, value: value.into(), width, ann });
    Ok(())
}

/// `op rD,rA,rB` and `opi rD,rA,n`.
fn arithmetic(cell: &mut Cell<'_, '_>, mnemonic: &str, record: bool) -> Parsed<bool> {
    let (op, immediate) = match mnemonic {
        "add" => (BinaryOp::Add, false),
        "addi" | "addis" => (BinaryOp::Add, true),
        "sub" | "subf" => (BinaryOp::Sub, false),
        "subi" => (BinaryOp::Sub, true),
        "xor" => (BinaryOp::Xor, false),
        "eqv" => (BinaryOp::Xor, false),
        "xori" | "xoris" => (BinaryOp::Xor, true),
        "or" | "nor" | "orc" => (BinaryOp::Or, false),
        "ori" | "oris" => (BinaryOp::Or, true),
        "and" | "nand" | "andc" => (BinaryOp::And, false),
        "andi" | "andis" => (BinaryOp::And, true),
        "mullw" | "mulld" => (BinaryOp::Mul, false),
        "mulli" => (BinaryOp::Mul, true),
        "divw" | "divd" => (BinaryOp::DivS, false),
        "divwu" | "divdu" => (BinaryOp::DivU, false),
        _ => return Ok(false),
    };
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let source_is_zero = mnemonic.starts_with("addi") && cell.peek_key() == Some(0);
    let (a, _) = cell.register()?;
    cell.comma()?;
    cell.thread().carries(dst, a);
    if immediate {
        let b = cell.immediate()?;
        let shifted = matches!(mnemonic, "addis" | "oris" | "xoris" | "andis");
        let b = if shifted { Value(b.0 << 16) } else { b };
        let value = match source_is_zero {
            true => Rvalue::Use(b.into()),
            false => Rvalue::Binary(op, Width::W64, Extend::Sign, a.into(), b.into()),
        };
        finish(cell, dst, value, record);
        return Ok(true);
    }
    let (b, _) = cell.register()?;
    cell.thread().carries(dst, b);
    let (a, b) = if mnemonic == "subf" { (b, a) } else { (a, b) };
    let not = |a: Operand| Rvalue::Unary(UnaryOp::Not, Width::W64, Extend::Sign, a);
    let mut b: Operand = b.into();
    if matches!(mnemonic, "andc" | "orc") {
        b = cell.compute(0, not(b));
    }
    // Divisions of words look at words only, whatever is above them.
    let width = if matches!(mnemonic, "divw" | "divwu") { Width::W32 } else { Width::W64 };
    let value = Rvalue::Binary(op, width, Extend::Sign, a.into(), b);
    if matches!(mnemonic, "nor" | "nand" | "eqv") {
        cell.thread().assign(dst, value);
        finish(cell, dst, not(dst.into()), record);
    } else {
        finish(cell, dst, value, record);
    }
    Ok(true)
}

/// Shifts of words. The count is taken modulo 64, and counts from 32 on shift everything out: a shift of the word
/// extended to 64 bits does just that.
fn shift(cell: &mut Cell<'_, '_>, mnemonic: &str, record: bool) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (src, _) = cell.register()?;
    cell.comma()?;
    let count: Operand =
        if mnemonic.ends_with('i') { cell.immediate()?.into() } else { cell.register()?.0.into() };
    let (op, how) = match mnemonic {
        "slw" | "slwi" => (BinaryOp::Shl, UnaryOp::ZeroExtend),
        "srw" | "srwi" => (BinaryOp::ShrU, UnaryOp::ZeroExtend),
        _ => (BinaryOp::ShrS, UnaryOp::SignExtend),
    };
    let extend = if how == UnaryOp::ZeroExtend { Extend::Zero } else { Extend::Sign };
    let word = cell.compute(0, Rvalue::Unary(how, Width::W32, extend, src.into()));
    let shifted = cell.compute(0, Rvalue::Binary(op, Width::W64, Extend::Zero, word, count));
    if how == UnaryOp::SignExtend {
        finish(cell, dst, Rvalue::Unary(UnaryOp::SignExtend, Width::W32, Extend::Sign, shifted), record);
        return Ok(());
    }
    finish_word(cell, dst, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, shifted), record);
    Ok(())
}

/// As [`finish`], for a result of 32 bits with zeros above.
fn finish_word(cell: &mut Cell<'_, '_>, dst: Reg, value: Rvalue, record: bool) {
    let thread = cell.thread();
    thread.assign(dst, value);
    thread.narrow_write(dst);
    if record {
        let cr = thread.hidden_register(CR0, "cr0");
        thread.assign(cr, Rvalue::Use(dst.into()));
    }
}

/// `cmpw`, `beq` and their kin, each with an optional field of the condition register in front.
fn compare_or_branch(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    if let Some(kind) = mnemonic.strip_prefix("cmp") {
        let (unsigned, immediate) = match kind {
            "w" | "d" => (false, false),
            "wi" | "di" => (false, true),
            "lw" | "ld" => (true, false),
            "lwi" | "ldi" => (true, true),
            _ => return Ok(false),
        };
        let width = if kind.contains('d') { Width::W64 } else { Width::W32 };
        compare(cell, width, unsigned, immediate)?;
        return Ok(true);
    }
    // The branch if the comparison with zero holds, or if it does not.
    let (test, holds) = match mnemonic {
        "beq" => (None, false),
        "bne" => (None, true),
        "blt" => (Some(BinaryOp::LtS), true),
        "bge" | "bnl" => (Some(BinaryOp::LtS), false),
        "bgt" => (Some(BinaryOp::GtS), true),
        "ble" | "bng" => (Some(BinaryOp::GtS), false),
        _ => return Ok(false),
    };
    // A hint for the branch predictor.
    let _ = cell.lexer.eat("+") || cell.lexer.eat("-");
    let cr = condition_field(cell)?;
    let condition = match test {
        None => cr.into(),
        Some(op) => {
            cell.compute(0, Rvalue::Binary(op, Width::W64, Extend::Zero, cr.into(), Value::ZERO.into()))
        }
    };
    let (label, span) = cell.label()?;
    cell.thread().branch(condition, !holds, label, span);
    Ok(true)
}

fn compare(cell: &mut Cell<'_, '_>, width: Width, unsigned: bool, immediate: bool) -> Parsed<()> {
    let cr = condition_field(cell)?;
    let (a, _) = cell.register()?;
    cell.comma()?;
    let b: Operand = if immediate { cell.immediate()?.into() } else { cell.register()?.0.into() };
    if width == Width::W64 {
        cell.thread().wide_read(a);
        if let Operand::Reg(b) = b {
            cell.thread().wide_read(b);
        }
    }
    // Old tests compare addresses with `cmpw`, so it looks at whole registers unless one of them has zeros above a word.
    let binary = |op, a, b| Rvalue::Binary(op, Width::W64, Extend::Sign, a, b);
    let is_word = width == Width::W32;
    let difference = if unsigned {
        let above = cell.compute(0, binary(BinaryOp::GtU, a.into(), b));
        cell.thread().compares_words(is_word, a, b);
        let below = cell.compute(1, binary(BinaryOp::LtU, a.into(), b));
        cell.thread().compares_words(is_word, a, b);
        cell.thread().assign(cr, binary(BinaryOp::Sub, above, below));
        return Ok(());
    } else {
        // Words and addresses are far from the ends of the 64-bit range, so the difference has the right sign.
        binary(BinaryOp::Sub, a.into(), b)
    };
    cell.thread().assign(cr, difference);
    cell.thread().compares_words(is_word, a, b);
    Ok(())
}

/// `cr1,` or `1,` in front of the operands; field 0 if there is none.
fn condition_field(cell: &mut Cell<'_, '_>) -> Parsed<Reg> {
    let token = cell.lexer.peek();
    let text = cell.lexer.text(token);
    let digit = match (text.strip_prefix("cr").unwrap_or(text).as_bytes(), cell.at_register()) {
        ([digit @ b'0'..=b'7'], false) => {
            cell.lexer.next();
            cell.comma()?;
            digit - b'0'
        }
        _ => 0,
    };
    let names = ["cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7"];
    Ok(cell.thread().hidden_register(CR0 + digit, names[digit as usize]))
}
