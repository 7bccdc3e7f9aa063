//! X86_64 instructions.
//!
//! Both dialects are read. An instruction is in AT&T order, source first, if a register in it has its `%` or its
//! mnemonic a size suffix (`movq $1,(x)`), or if its first operand is a number; otherwise in Intel order, target first
//! (`MOV [x],RAX`). The size comes from a register or from the suffix, and is 32 bits if there is neither.
//!
//! Registers hold 64 bits. What is written to a 32-bit name fills the rest with zeros, what is written to an 8- or
//! 16-bit name leaves the rest alone [Intel SDM, 3.4.1.1]. Locking, flags and jumps are those of X86.

use super::common::{
    LOCKABLE, arithmetic_operation, both_in_memory, condition, location, open_location, set_flags,
};
use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;

use fencepost_diag::Diagnostic;
use fencepost_ir::{Ann, BinaryOp, Extend, Fence, Instr, Operand, Reg, RmwOp, Rvalue, UnaryOp, Value, Width};

/// The X86_64 instruction set.
pub(crate) struct X86_64;

/// The names of the first eight registers in 64, 32, 16 and 8 bits; the others are `r8` with `d`, `w` or `b`.
const NAMES: [[&str; 4]; 8] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rsp", "esp", "sp", "spl"],
    ["rbp", "ebp", "bp", "bpl"],
];
const WIDTHS: [Width; 4] = [Width::W64, Width::W32, Width::W16, Width::W8];
const RAX: Key = 0;

/// The key and the width that a name stands for.
fn named(name: &str) -> Option<(Key, Width)> {
    let name = name.strip_prefix('%').unwrap_or(name);
    for (key, names) in NAMES.iter().enumerate() {
        if let Some(size) = names.iter().position(|n| n.eq_ignore_ascii_case(name)) {
            return Some((key as Key, WIDTHS[size]));
        }
    }
    let rest = name.strip_prefix(['r', 'R'])?;
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: Key = digits.parse().ok()?;
    let width = match rest[digits.len()..].to_ascii_lowercase().as_str() {
        "" => Width::W64,
        "d" => Width::W32,
        "w" => Width::W16,
        "b" => Width::W8,
        _ => return None,
    };
    ((8..16).contains(&number) && !digits.starts_with('0')).then_some((number, width))
}

impl Isa for X86_64 {
    const NAME: &'static str = "X86_64";
    const REGISTER: &'static str = "%rax";
    const MNEMONICS: &'static [&'static str] = &[
        "mov", "movb", "movw", "movl", "movq", "movabs", "movzx", "movsx", "lea", "xchg", "xchgq", "xadd",
        "cmpxchg", "lock", "add", "addl", "addq", "sub", "subl", "subq", "and", "or", "xor", "inc", "dec",
        "neg", "not", "shl", "shr", "sar", "imul", "cmp", "cmpl", "cmpq", "test", "jmp", "je", "jne", "jg",
        "jge", "jl", "jle", "ja", "jae", "jb", "jbe", "js", "jns", "sete", "setne", "cmove", "cmovne",
        "mfence", "sfence", "lfence", "nop", "ret",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        named(name).map(|(key, _)| (key, false))
    }

    fn register_name(key: Key) -> String {
        NAMES.get(key as usize).map_or_else(|| format!("r{key}"), |names| names[0].to_string())
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        if mnemonic != "lock" {
            return lower(cell, mnemonic, false);
        }
        let token = cell.lexer.next();
        let name = cell.lexer.text(token).to_ascii_lowercase();
        if !LOCKABLE.contains(&sized(&name).0) {
            cell.thread().span = token.span();
            return Err(cell.unsupported("this instruction cannot have a LOCK prefix"));
        }
        let span = cell.thread().span.to(token.span());
        cell.thread().span = span;
        lower(cell, &name, true)
    }
}

/// A mnemonic without its size suffix, and the size.
fn sized(mnemonic: &str) -> (&str, Option<Width>) {
    const BASES: [&str; 23] = [
        "mov", "movabs", "lea", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor", "inc", "dec",
        "neg", "not", "shl", "sal", "shr", "sar", "imul", "cmp", "test", "movzx",
    ];
    if BASES.contains(&mnemonic) {
        return (mnemonic, None);
    }
    let width = match mnemonic.as_bytes().last() {
        Some(b'q') => Width::W64,
        Some(b'l') => Width::W32,
        Some(b'w') => Width::W16,
        Some(b'b') => Width::W8,
        _ => return (mnemonic, None),
    };
    let base = &mnemonic[..mnemonic.len() - 1];
    if BASES.contains(&base) { (base, Some(width)) } else { (mnemonic, None) }
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Register(Reg, Width),
    Memory(Operand),
    Constant(Value),
}

/// The operands of an instruction, and what they say about its dialect and size.
struct Places {
    target: Place,
    source: Place,
    width: Width,
}

fn lower(cell: &mut Cell<'_, '_>, mnemonic: &str, locked: bool) -> Parsed<bool> {
    let (base, suffix) = sized(mnemonic);
    match base {
        "nop" | "pause" => {}
        "ret" => cell.thread().emit(Instr::Return(None)),
        "mfence" => cell.thread().emit(Instr::Fence(Fence::Mfence)),
        "sfence" => cell.thread().emit(Instr::Fence(Fence::Sfence)),
        "lfence" => cell.thread().emit(Instr::Fence(Fence::Lfence)),
        "jmp" => {
            let (label, span) = cell.label()?;
            cell.thread().jump(label, span);
        }
        "mov" | "movabs" => {
            let Places { target, source, width } = two_places(cell, suffix)?;
            let value = read(cell, source, width, 0);
            write(cell, target, width, value);
        }
        "lea" => address_of(cell, suffix)?,
        "xchg" => exchange(cell, suffix)?,
        "xadd" => exchange_add(cell, suffix, locked)?,
        "cmpxchg" => compare_exchange(cell, suffix, locked)?,
        "cmp" | "test" => {
            let places = two_operands(cell, suffix)?;
            let width = places.width;
            let (a, b) = (read(cell, places.target, width, 0), read(cell, places.source, width, 1));
            let op = if base == "cmp" { BinaryOp::Sub } else { BinaryOp::And };
            let result = cell.compute(2, binary(op, width, a, b));
            set_flags(cell, width, op, a, b, result);
        }
        "shl" | "sal" | "shr" | "sar" | "imul" => shift_or_multiply(cell, base, suffix)?,
        _ => {
            return Ok(extending_move(cell, mnemonic)?
                || by_condition(cell, mnemonic)?
                || arithmetic(cell, base, suffix, locked)?);
        }
    }
    Ok(true)
}

fn binary(op: BinaryOp, width: Width, a: Operand, b: Operand) -> Rvalue {
    Rvalue::Binary(op, width, Extend::Sign, a, b)
}

/// A register, a number or a location. The flag tells whether it was a register with its `%`.
fn place(cell: &mut Cell<'_, '_>) -> Parsed<(Place, bool)> {
    if cell.at_register() {
        let name = known_register(cell)?;
        // A symbolic register is as wide as a register can be.
        let width = named(name).map_or(Width::W64, |(_, width)| width);
        return Ok((Place::Register(cell.register()?.0, width), name.starts_with('%')));
    }
    if cell.lexer.eat("$") || cell.lexer.eat("#") {
        return Ok((Place::Constant(cell.immediate()?), false));
    }
    let mut offset = Value::ZERO;
    if cell.at_immediate() {
        offset = cell.immediate()?;
        if !cell.lexer.at("(") {
            return Ok((Place::Constant(offset), false));
        }
    }
    // `QWORD PTR [rax]`.
    let token = cell.lexer.peek();
    let word = cell.lexer.text(token).to_ascii_lowercase();
    if matches!(word.as_str(), "qword" | "dword" | "word" | "byte") {
        cell.lexer.next();
        let _ = cell.lexer.eat_word("PTR") || cell.lexer.eat_word("ptr");
    }
    let close = open_location(cell, ["(", ")"])?;
    let addr = address(cell, offset)?;
    cell.expect(close)?;
    Ok((Place::Memory(addr), false))
}

/// The name of the register that comes next. A symbol must be in the initial state: `%eix` is more likely a slip.
fn known_register<'a>(cell: &mut Cell<'_, 'a>) -> Parsed<&'a str> {
    let token = cell.lexer.peek();
    let name = cell.lexer.text(token);
    if named(name).is_some() || cell.test.register_inits.iter().any(|init| init.register == name) {
        return Ok(name);
    }
    let error = cell.expected("a register, or a symbol that the initial state has");
    Err(crate::error::suggest(error, name, NAMES.iter().flatten().copied()))
}

fn sum(cell: &mut Cell<'_, '_>, a: Operand, b: Operand) -> Operand {
    match (a, b) {
        (_, Operand::Const(Value::ZERO)) => a,
        (Operand::Const(a), Operand::Const(b)) => Operand::Const(Value(a.0.wrapping_add(b.0))),
        _ => cell.compute(3, Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, a, b)),
    }
}

/// What stands between the brackets: `x`, `x+4`, `%rax`, `%rax,%rbx,4`, `rax+rbx*4+8`.
fn address(cell: &mut Cell<'_, '_>, offset: Value) -> Parsed<Operand> {
    let base = if cell.at_register() {
        known_register(cell)?;
        cell.register()?.0.into()
    } else {
        location(cell)?
    };
    let mut addr = sum(cell, base, offset.into());
    while cell.lexer.eat("+") || cell.lexer.eat(",") {
        let part = if cell.at_register() {
            known_register(cell)?;
            let index: Operand = cell.register()?.0.into();
            let scaled = cell.lexer.eat("*") || cell.lexer.eat(",");
            let scale = if scaled { cell.immediate()? } else { Value(1) };
            if !matches!(scale.0, 1 | 2 | 4 | 8) {
                return Err(cell.expected("a scale of 1, 2, 4 or 8 before this"));
            }
            match scale.0 {
                1 => index,
                _ => cell
                    .compute(6, Rvalue::Binary(BinaryOp::Mul, Width::W64, Extend::Zero, index, scale.into())),
            }
        } else {
            cell.immediate()?.into()
        };
        addr = sum(cell, addr, part);
    }
    Ok(addr)
}

/// Two operands in the order of their dialect, and the size of the operation.
fn two_operands(cell: &mut Cell<'_, '_>, suffix: Option<Width>) -> Parsed<Places> {
    let (first, percent_first) = place(cell)?;
    cell.comma()?;
    let token = cell.lexer.peek();
    let (second, percent_second) = place(cell)?;
    let source_first =
        suffix.is_some() || percent_first || percent_second || matches!(first, Place::Constant(_));
    let (target, source) = if source_first { (second, first) } else { (first, second) };
    if let (Place::Memory(_), Place::Memory(_)) = (target, source) {
        return Err(both_in_memory(token));
    }
    let mut width = suffix;
    for place in [target, source] {
        if let Place::Register(_, size) = place {
            if width.is_some_and(|width| width != size) {
                let bits = |width: Width| 8 * width.bytes();
                let message = format!(
                    "a register of {} bits in an operation on {} bits",
                    bits(size),
                    bits(width.unwrap_or(size))
                );
                let error = Diagnostic::error(token.span(), message).label("the sizes of operands differ");
                return Err(Box::new(error));
            }
            width = Some(size);
        }
    }
    Ok(Places { target, source, width: width.unwrap_or(Width::W32) })
}

/// The same for an instruction that writes its target, which is then no number.
fn two_places(cell: &mut Cell<'_, '_>, suffix: Option<Width>) -> Parsed<Places> {
    let token = cell.lexer.peek();
    let places = two_operands(cell, suffix)?;
    if let Place::Constant(_) = places.target {
        let error = Diagnostic::error(token.span(), "a number cannot be written to");
        return Err(Box::new(error.label("one of the operands must be a target")));
    }
    Ok(places)
}

/// The value of an operand; a load goes to a temporary.
fn read(cell: &mut Cell<'_, '_>, place: Place, width: Width, temporary: usize) -> Operand {
    let thread = cell.thread();
    match place {
        Place::Register(reg, _) => {
            if width == Width::W64 {
                thread.wide_read(reg);
            }
            reg.into()
        }
        Place::Constant(value) => value.into(),
        Place::Memory(addr) => {
            let dst = thread.temporary(temporary);
            thread.emit(Instr::Load { dst, addr, width, extend: Extend::Zero, ann: Ann::PLAIN });
            dst.into()
        }
    }
}

fn write(cell: &mut Cell<'_, '_>, place: Place, width: Width, value: Operand) {
    match place {
        Place::Register(dst, _) => write_register(cell, dst, width, value),
        Place::Memory(addr) => {
            cell.thread().emit(Instr::Store { addr, value, width, ann: Ann::PLAIN });
        }
        Place::Constant(_) => {}
    }
}

fn write_register(cell: &mut Cell<'_, '_>, dst: Reg, width: Width, value: Operand) {
    if matches!(width, Width::W8 | Width::W16) {
        let thread = cell.thread();
        thread.wide_read(dst);
        let mask = width.zero_extend(Value(u64::MAX));
        let op = |op, a, b: Operand| Rvalue::Binary(op, Width::W64, Extend::Zero, a, b);
        let low = cell.compute(5, op(BinaryOp::And, value, mask.into()));
        let kept = cell.compute(6, op(BinaryOp::And, dst.into(), Value(!mask.0).into()));
        cell.thread().assign(dst, op(BinaryOp::Or, kept, low));
        return;
    }
    let thread = cell.thread();
    match (thread.function.body.last_mut(), value) {
        // A load into a register needs no detour through the temporary that `read` just made.
        (Some(Instr::Load { dst: loaded, .. }), value) if Operand::Reg(*loaded) == value => *loaded = dst,
        (_, Operand::Const(constant)) => thread.assign(dst, Rvalue::Use(width.zero_extend(constant).into())),
        _ if width == Width::W64 => thread.assign(dst, Rvalue::Use(value)),
        _ => thread.assign(dst, Rvalue::Unary(UnaryOp::ZeroExtend, width, Extend::Zero, value)),
    }
    if width == Width::W32 {
        thread.narrow_write(dst);
    }
}

/// `lea (%rax,%rbx),%rcx`.
fn address_of(cell: &mut Cell<'_, '_>, suffix: Option<Width>) -> Parsed<()> {
    let Places { target, source, width } = two_places(cell, suffix)?;
    match (target, source) {
        (Place::Register(dst, _), Place::Memory(addr)) => write_register(cell, dst, width, addr),
        _ => return Err(cell.unsupported("LEA takes an address and a register")),
    }
    Ok(())
}

fn rmw(cell: &mut Cell<'_, '_>, dst: Reg, addr: Operand, width: Width, op: RmwOp, operand: Operand) {
    let (dst, read, write) = (Some(dst), Ann::PLAIN, Ann::PLAIN);
    cell.thread().emit(Instr::Rmw { dst, addr, width, extend: Extend::Zero, op, operand, read, write });
}

/// `xchg`, in both orders; with memory it is locked without saying so.
fn exchange(cell: &mut Cell<'_, '_>, suffix: Option<Width>) -> Parsed<()> {
    let Places { target, source, width } = two_places(cell, suffix)?;
    match (target, source) {
        (Place::Register(a, _), Place::Register(b, _)) => {
            let first = read(cell, target, width, 0);
            let old = cell.compute(0, Rvalue::Use(first));
            let second = read(cell, source, width, 1);
            write_register(cell, a, width, second);
            write_register(cell, b, width, old);
        }
        (Place::Memory(addr), Place::Register(reg, _)) | (Place::Register(reg, _), Place::Memory(addr)) => {
            let new = read(cell, Place::Register(reg, width), width, 0);
            let old = cell.thread().temporary(0);
            rmw(cell, old, addr, width, RmwOp::Exchange, new);
            write_register(cell, reg, width, old.into());
        }
        _ => return Err(cell.unsupported("XCHG takes registers and locations only")),
    }
    Ok(())
}

fn exchange_add(cell: &mut Cell<'_, '_>, suffix: Option<Width>, locked: bool) -> Parsed<()> {
    let Places { target, source, width } = two_places(cell, suffix)?;
    let Place::Register(reg, _) = source else {
        return Err(cell.unsupported("the source of XADD is a register"));
    };
    let operand = read(cell, source, width, 1);
    let old = match target {
        Place::Memory(addr) if locked => {
            let old = cell.thread().temporary(0);
            rmw(cell, old, addr, width, RmwOp::Add, operand);
            old.into()
        }
        _ => {
            let old = read(cell, target, width, 0);
            cell.compute(0, Rvalue::Use(old))
        }
    };
    let sum = cell.compute(2, binary(BinaryOp::Add, width, old, operand));
    set_flags(cell, width, BinaryOp::Add, old, operand, sum);
    if !(locked && matches!(target, Place::Memory(_))) {
        write(cell, target, width, sum);
    }
    if target != source {
        write_register(cell, reg, width, old);
    }
    Ok(())
}

/// `cmpxchg`: if RAX equals the target, the source is stored there, else RAX gets the target.
fn compare_exchange(cell: &mut Cell<'_, '_>, suffix: Option<Width>, locked: bool) -> Parsed<()> {
    let Places { target, source, width } = two_places(cell, suffix)?;
    let (Place::Memory(addr), Place::Register(..)) = (target, source) else {
        return Err(cell.unsupported("CMPXCHG is modelled with a location and a register only"));
    };
    if !locked {
        return Err(cell.unsupported("CMPXCHG is modelled with a LOCK prefix only"));
    }
    let desired = read(cell, source, width, 1);
    let rax = cell.thread().register(RAX, || X86_64::register_name(RAX));
    let expected = read(cell, Place::Register(rax, width), width, 0);
    let thread = cell.thread();
    let old = thread.temporary(0);
    thread.emit(Instr::CompareExchange {
        dst: Some(old),
        success: None,
        addr,
        width,
        extend: Extend::Zero,
        expected,
        desired,
        read: Ann::PLAIN,
        write: Ann::PLAIN,
        failure: Ann::PLAIN,
        weak: false,
    });
    let difference = cell.compute(2, binary(BinaryOp::Sub, width, expected, old.into()));
    set_flags(cell, width, BinaryOp::Sub, expected, old.into(), difference);
    // On success the two are equal.
    write_register(cell, rax, width, old.into());
    Ok(())
}

/// Shifts by a number or by `cl`, and the product of two operands. Their flags are not modelled.
fn shift_or_multiply(cell: &mut Cell<'_, '_>, base: &str, suffix: Option<Width>) -> Parsed<()> {
    let (first, percent) = place(cell)?;
    cell.comma()?;
    let (second, _) = place(cell)?;
    let source_first = suffix.is_some() || percent || matches!(first, Place::Constant(_));
    let (target, source) = if source_first { (second, first) } else { (first, second) };
    let width = match (suffix, target) {
        (Some(width), _) | (None, Place::Register(_, width)) => width,
        _ => Width::W32,
    };
    let op = match base {
        "imul" => BinaryOp::Mul,
        "shr" => BinaryOp::ShrU,
        "sar" => BinaryOp::ShrS,
        _ => BinaryOp::Shl,
    };
    if op == BinaryOp::Mul && !matches!(target, Place::Register(..)) {
        return Err(cell.unsupported("IMUL is modelled with two operands, the target a register"));
    }
    let source_width = if op == BinaryOp::Mul { width } else { Width::W8 };
    let (a, b) = (read(cell, target, width, 0), read(cell, source, source_width, 1));
    let result = cell.compute(2, binary(op, width, a, b));
    write(cell, target, width, result);
    Ok(())
}

/// `movzbl`, `movsx` and their kin.
fn extending_move(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let (signed, rest) = match (mnemonic.strip_prefix("movz"), mnemonic.strip_prefix("movs")) {
        (Some(rest), _) => (false, rest),
        (None, Some(rest)) => (true, rest),
        _ => return Ok(false),
    };
    let size = |letter: u8| match letter {
        b'b' => Some(Width::W8),
        b'w' => Some(Width::W16),
        b'l' => Some(Width::W32),
        b'q' => Some(Width::W64),
        _ => None,
    };
    let sizes = match rest.as_bytes() {
        [from, to] if size(*from).is_some() && size(*to).is_some() => (size(*from), size(*to)),
        b"x" | b"xd" => (None, None),
        _ => return Ok(false),
    };
    let (first, percent) = place(cell)?;
    cell.comma()?;
    let (second, percent_second) = place(cell)?;
    let source_first = sizes.0.is_some() || percent || percent_second;
    let (target, source) = if source_first { (second, first) } else { (first, second) };
    let (Place::Register(dst, to), from) = (target, source) else {
        return Err(cell.unsupported("the target of an extending move is a register"));
    };
    let from = match (sizes.0, from) {
        (Some(from), _) => from,
        (None, Place::Register(_, from)) => from,
        _ => return Err(cell.unsupported("the size of the source is not known; write `movzbl` or `movzwl`")),
    };
    let value = read(cell, source, from, 0);
    let (op, extend) = match signed {
        true => (UnaryOp::SignExtend, Extend::Sign),
        false => (UnaryOp::ZeroExtend, Extend::Zero),
    };
    let value = cell.compute(1, Rvalue::Unary(op, from, extend, value));
    write_register(cell, dst, sizes.1.unwrap_or(to), value);
    Ok(true)
}

/// Jumps, `setcc` and `cmovcc`.
fn by_condition(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    if let Some(name) = mnemonic.strip_prefix('j') {
        let Some((test, if_zero)) = condition(cell, Width::W64, name) else { return Ok(false) };
        let (label, span) = cell.label()?;
        cell.thread().branch(test, if_zero, label, span);
        return Ok(true);
    }
    if let Some(name) = mnemonic.strip_prefix("set") {
        let Some((test, if_zero)) = condition(cell, Width::W64, name) else { return Ok(false) };
        let (target, _) = place(cell)?;
        let zero: Operand = Value::ZERO.into();
        let op = if if_zero { BinaryOp::Eq } else { BinaryOp::Ne };
        let value = cell.compute(2, Rvalue::Binary(op, Width::W64, Extend::Zero, test, zero));
        write(cell, target, Width::W8, value);
        return Ok(true);
    }
    let Some(name) = mnemonic.strip_prefix("cmov") else { return Ok(false) };
    let without_size = name.strip_suffix(['q', 'l']).unwrap_or(name);
    let found = condition(cell, Width::W64, name).map(|found| (found, None));
    let found = found.or_else(|| {
        let suffix = if name.ends_with('q') { Width::W64 } else { Width::W32 };
        condition(cell, Width::W64, without_size).map(|found| (found, Some(suffix)))
    });
    let Some(((test, if_zero), suffix)) = found else { return Ok(false) };
    let test = cell.compute(4, Rvalue::Use(test));
    let Places { target, source, width } = two_places(cell, suffix)?;
    // The source is read whatever the condition says.
    let (old, new) = (read(cell, target, width, 0), read(cell, source, width, 1));
    let (first, second) = if if_zero { (old, new) } else { (new, old) };
    let chosen = cell.compute(2, Rvalue::Select(test, first, second));
    write(cell, target, width, chosen);
    Ok(true)
}

fn arithmetic(cell: &mut Cell<'_, '_>, base: &str, suffix: Option<Width>, locked: bool) -> Parsed<bool> {
    let (op, atomic, constant) = match base {
        "neg" if locked => return Err(cell.unsupported("NEG is modelled without a LOCK prefix only")),
        "neg" => (BinaryOp::Sub, RmwOp::Sub, Some(Value::ZERO)),
        _ => match arithmetic_operation(base) {
            Some(operation) => operation,
            None => return Ok(false),
        },
    };
    let (target, source, width) = match constant {
        None => {
            let places = two_places(cell, suffix)?;
            (places.target, places.source, places.width)
        }
        Some(constant) => {
            let (target, _) = place(cell)?;
            let width = match (suffix, target) {
                (Some(width), _) | (None, Place::Register(_, width)) => width,
                _ => Width::W32,
            };
            (target, Place::Constant(constant), width)
        }
    };
    let operand = read(cell, source, width, 1);
    let is_atomic = locked && matches!(target, Place::Memory(_));
    let old = match target {
        Place::Memory(addr) if locked => {
            let old = cell.thread().temporary(0);
            rmw(cell, old, addr, width, atomic, operand);
            old.into()
        }
        _ => read(cell, target, width, 0),
    };
    let (a, b) = if base == "neg" { (Value::ZERO.into(), old) } else { (old, operand) };
    let result = cell.compute(2, binary(op, width, a, b));
    if base != "not" {
        set_flags(cell, width, op, a, b, result);
    }
    if !is_atomic {
        write(cell, target, width, result);
    }
    Ok(true)
}
