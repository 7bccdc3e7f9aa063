//! X86 instructions.
//!
//! Intel operand order, 32-bit registers, upper or lower case. A memory operand is `[x]` or `[EAX]`. An exchange with
//! memory locks the bus by itself; other read-modify-writes are atomic only with `LOCK`, and without it they are a
//! load, a computation and a store. Values are sign-extended, as herd7 prints them.

mod common;
mod wide;

pub(crate) use wide::X86_64;

use crate::error::Parsed;
use crate::table::{Cell, Isa};
use crate::thread::Key;
use common::{LOCKABLE, arithmetic_operation, both_in_memory, location, open_location, set_flags};
use fencepost_diag::Diagnostic;
use fencepost_ir::{Ann, BinaryOp, Extend, Fence, Instr, Operand, Reg, RmwOp, Rvalue, UnaryOp, Value, Width};

/// The X86 instruction set.
pub(crate) struct X86;

const REGISTERS: [&str; 8] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI", "ESP", "EBP"];
const EAX: Key = 0;

impl Isa for X86 {
    const NAME: &'static str = "X86";
    const REGISTER: &'static str = "EAX";
    const MNEMONICS: &'static [&'static str] = &[
        "MOV", "MOVL", "XCHG", "MFENCE", "SFENCE", "LFENCE", "LOCK", "ADD", "SUB", "XOR", "AND", "OR", "INC",
        "DEC", "NEG", "NOT", "CMP", "TEST", "XADD", "CMPXCHG", "JMP", "JE", "JZ", "JNE", "JNZ", "JG", "JGE",
        "JL", "JLE", "JA", "JAE", "JB", "JBE", "JS", "JNS", "NOP",
    ];

    fn register(name: &str) -> Option<(Key, bool)> {
        REGISTERS.iter().position(|r| r.eq_ignore_ascii_case(name)).map(|index| (index as Key, false))
    }

    fn register_name(key: Key) -> String {
        REGISTERS.get(key as usize).map_or_else(String::new, |name| (*name).to_string())
    }

    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
        if mnemonic == "lock" {
            let token = cell.lexer.next();
            let mut name = cell.lexer.text(token).to_ascii_lowercase();
            let span = cell.thread().span.to(token.span());
            cell.thread().span = token.span();
            name.truncate(16);
            if !LOCKABLE.contains(&name.trim_end_matches('l')) {
                return Err(cell.unsupported("this instruction cannot have a LOCK prefix"));
            }
            cell.thread().span = span;
            return lower(cell, &name, true);
        }
        lower(cell, mnemonic, false)
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Register(Reg),
    Memory(Operand),
    Constant(Value),
}

fn lower(cell: &mut Cell<'_, '_>, mnemonic: &str, locked: bool) -> Parsed<bool> {
    match mnemonic {
        "nop" => {}
        "mfence" => cell.thread().emit(Instr::Fence(Fence::Mfence)),
        "sfence" => cell.thread().emit(Instr::Fence(Fence::Sfence)),
        "lfence" => cell.thread().emit(Instr::Fence(Fence::Lfence)),
        "mov" | "movl" => {
            let (target, source) = two_places(cell)?;
            let value = read(cell, source, 0);
            write(cell, target, value);
        }
        "xchg" | "xchgl" => exchange(cell)?,
        "xadd" | "xaddl" => exchange_add(cell, locked)?,
        "cmpxchg" | "cmpxchgl" => compare_exchange(cell, locked)?,
        "cmp" | "cmpl" | "test" | "testl" => {
            let a = place(cell)?;
            cell.comma()?;
            let b = place(cell)?;
            let (a, b) = (read(cell, a, 0), read(cell, b, 1));
            let op = if mnemonic.starts_with("cmp") { BinaryOp::Sub } else { BinaryOp::And };
            let result = cell.compute(2, binary(op, a, b));
            set_flags(cell, Width::W32, op, a, b, result);
        }
        "jmp" => {
            let (label, span) = cell.label()?;
            cell.thread().jump(label, span);
        }
        _ => return Ok(jump(cell, mnemonic)? || arithmetic(cell, mnemonic, locked)?),
    }
    Ok(true)
}

fn binary(op: BinaryOp, a: Operand, b: Operand) -> Rvalue {
    Rvalue::Binary(op, Width::W32, Extend::Sign, a, b)
}

/// `EAX`, `$1`, `1`, `[x]`, `[x+4]`, `[EAX]`.
fn place(cell: &mut Cell<'_, '_>) -> Parsed<Place> {
    if cell.at_register() {
        return Ok(Place::Register(cell.register()?.0));
    }
    if cell.at_immediate() {
        return Ok(Place::Constant(cell.immediate()?));
    }
    let close = open_location(cell, ["[", "]"])?;
    let addr = if cell.at_register() { cell.register()?.0.into() } else { location(cell)? };
    let addr = if cell.lexer.eat("+") {
        let offset = cell.immediate()?;
        match addr {
            Operand::Const(base) => Operand::Const(Value(base.0.wrapping_add(offset.0))),
            base => {
                cell.compute(3, Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, base, offset.into()))
            }
        }
    } else {
        addr
    };
    cell.expect(close)?;
    Ok(Place::Memory(addr))
}

/// Target and source; not both in memory, and the target no constant.
fn two_places(cell: &mut Cell<'_, '_>) -> Parsed<(Place, Place)> {
    let first = cell.lexer.peek();
    let target = place(cell)?;
    cell.comma()?;
    let second = cell.lexer.peek();
    let source = place(cell)?;
    match (target, source) {
        (Place::Constant(_), _) => {
            let error = Diagnostic::error(first.span(), "a number cannot be written to");
            Err(Box::new(
                error.label("the first operand is the target").hint("write `MOV [x],$1`, target first"),
            ))
        }
        (Place::Memory(_), Place::Memory(_)) => Err(both_in_memory(second)),
        _ => Ok((target, source)),
    }
}

/// The value of an operand; a load goes to a temporary.
fn read(cell: &mut Cell<'_, '_>, place: Place, temporary: usize) -> Operand {
    match place {
        Place::Register(reg) => reg.into(),
        Place::Constant(value) => Width::W32.sign_extend(value).into(),
        Place::Memory(addr) => {
            let thread = cell.thread();
            let dst = thread.temporary(temporary);
            thread.emit(load(dst, addr));
            dst.into()
        }
    }
}

fn load(dst: Reg, addr: Operand) -> Instr {
    Instr::Load { dst, addr, width: Width::W32, extend: Extend::Sign, ann: Ann::PLAIN }
}

fn write(cell: &mut Cell<'_, '_>, place: Place, value: Operand) {
    let thread = cell.thread();
    match place {
        Place::Register(dst) => match thread.function.body.last_mut() {
            // A load into a register needs no detour through the temporary that `read` just made.
            Some(Instr::Load { dst: loaded, .. }) if Operand::Reg(*loaded) == value => *loaded = dst,
            _ => thread.assign(dst, Rvalue::Use(value)),
        },
        Place::Memory(addr) => {
            thread.emit(Instr::Store { addr, value, width: Width::W32, ann: Ann::PLAIN });
        }
        Place::Constant(_) => {}
    }
}

fn rmw(dst: Option<Reg>, addr: Operand, op: RmwOp, operand: Operand) -> Instr {
    let (read, write) = (Ann::PLAIN, Ann::PLAIN);
    Instr::Rmw { dst, addr, width: Width::W32, extend: Extend::Sign, op, operand, read, write }
}

/// `XCHG`, in both orders.
fn exchange(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    match two_places(cell)? {
        (Place::Register(a), Place::Register(b)) => {
            let old = cell.compute(0, Rvalue::Use(a.into()));
            let thread = cell.thread();
            thread.assign(a, Rvalue::Use(b.into()));
            thread.assign(b, Rvalue::Use(old));
        }
        (Place::Memory(addr), Place::Register(reg)) | (Place::Register(reg), Place::Memory(addr)) => {
            cell.thread().emit(rmw(Some(reg), addr, RmwOp::Exchange, reg.into()));
        }
        _ => return Err(cell.unsupported("XCHG takes registers and locations only")),
    }
    Ok(())
}

fn exchange_add(cell: &mut Cell<'_, '_>, locked: bool) -> Parsed<()> {
    let (target, source) = two_places(cell)?;
    let Place::Register(reg) = source else {
        return Err(cell.unsupported("the second operand of XADD is a register"));
    };
    let old = match target {
        Place::Memory(addr) if locked => {
            let old = cell.thread().temporary(0);
            cell.thread().emit(rmw(Some(old), addr, RmwOp::Add, reg.into()));
            old.into()
        }
        _ => read(cell, target, 0),
    };
    let sum = cell.compute(1, binary(BinaryOp::Add, old, reg.into()));
    set_flags(cell, Width::W32, BinaryOp::Add, old, reg.into(), sum);
    if !(locked && matches!(target, Place::Memory(_))) {
        write(cell, target, sum);
    }
    if target != source {
        cell.thread().assign(reg, Rvalue::Use(old));
    }
    Ok(())
}

/// `CMPXCHG target,source`: if EAX equals the target, the source is stored there, else EAX gets the target.
fn compare_exchange(cell: &mut Cell<'_, '_>, locked: bool) -> Parsed<()> {
    let (target, source) = two_places(cell)?;
    let (Place::Memory(addr), Place::Register(desired)) = (target, source) else {
        return Err(cell.unsupported("CMPXCHG is modelled with a location and a register only"));
    };
    if !locked {
        return Err(cell.unsupported("CMPXCHG is modelled with a LOCK prefix only"));
    }
    let thread = cell.thread();
    let eax = thread.register(EAX, || X86::register_name(EAX));
    let old = thread.temporary(0);
    thread.emit(Instr::CompareExchange {
        dst: Some(old),
        success: None,
        addr,
        width: Width::W32,
        extend: Extend::Sign,
        expected: eax.into(),
        desired: desired.into(),
        read: Ann::PLAIN,
        write: Ann::PLAIN,
        failure: Ann::PLAIN,
        weak: false,
    });
    let difference = cell.compute(1, binary(BinaryOp::Sub, eax.into(), old.into()));
    set_flags(cell, Width::W32, BinaryOp::Sub, eax.into(), old.into(), difference);
    // On success the two are equal.
    cell.thread().assign(eax, Rvalue::Use(old.into()));
    Ok(())
}

fn arithmetic(cell: &mut Cell<'_, '_>, mnemonic: &str, locked: bool) -> Parsed<bool> {
    // The suffix `l` of the other assembly dialect says nothing new.
    let name = mnemonic.strip_suffix('l').unwrap_or(mnemonic);
    if name == "neg" {
        return negate(cell, locked);
    }
    let Some((op, atomic, constant)) = arithmetic_operation(name) else { return Ok(false) };
    let (target, operand) = match constant {
        None => {
            let (target, source) = two_places(cell)?;
            (target, read(cell, source, 1))
        }
        Some(constant) => (place(cell)?, constant.into()),
    };
    let sets_flags = !mnemonic.starts_with("not");
    match target {
        Place::Memory(addr) if locked => {
            let old = cell.thread().temporary(0);
            cell.thread().emit(rmw(Some(old), addr, atomic, operand));
            let result = cell.compute(2, binary(op, old.into(), operand));
            if sets_flags {
                set_flags(cell, Width::W32, op, old.into(), operand, result);
            }
        }
        Place::Register(reg) if operand != Operand::Reg(reg) || op == BinaryOp::Xor => {
            // The old value is wanted by the flags of a comparison only; those of `SUB` are rarely looked at.
            let old = cell.compute(0, Rvalue::Use(reg.into()));
            cell.thread().assign(reg, binary(op, reg.into(), operand));
            if sets_flags {
                let operand = if operand == Operand::Reg(reg) { old } else { operand };
                set_flags(cell, Width::W32, op, old, operand, reg.into());
            }
        }
        _ => {
            let old = read(cell, target, 0);
            let result = cell.compute(2, binary(op, old, operand));
            if sets_flags {
                set_flags(cell, Width::W32, op, old, operand, result);
            }
            write(cell, target, result);
        }
    }
    Ok(true)
}

fn negate(cell: &mut Cell<'_, '_>, locked: bool) -> Parsed<bool> {
    let target = place(cell)?;
    if locked {
        return Err(cell.unsupported("NEG is modelled without a LOCK prefix only"));
    }
    let old = read(cell, target, 0);
    let result = cell.compute(2, Rvalue::Unary(UnaryOp::Neg, Width::W32, Extend::Sign, old));
    set_flags(cell, Width::W32, BinaryOp::Sub, Value::ZERO.into(), old, result);
    write(cell, target, result);
    Ok(true)
}

fn jump(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let Some(condition) = mnemonic.strip_prefix('j') else { return Ok(false) };
    let Some((test, if_zero)) = common::condition(cell, Width::W32, condition) else { return Ok(false) };
    let (label, span) = cell.label()?;
    cell.thread().branch(test, if_zero, label, span);
    Ok(true)
}
