//! Loads, stores and exclusives of ARM. `LDRD` and `LDM` are one access per word, the lowest address first.

use super::shift_operator;
use crate::error::Parsed;
use crate::table::Cell;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Order, Reg, RmwOp, Rvalue, Value, Width};

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    match mnemonic {
        "ldr" | "ldrb" | "ldrh" | "ldrsb" | "ldrsh" => {
            let (width, extend) = size(&mnemonic[3..]);
            let (dst, _) = cell.register()?;
            cell.comma()?;
            let place = address(cell)?;
            cell.thread().emit(Instr::Load { dst, addr: place.addr, width, extend, ann: Ann::PLAIN });
            place.finish(cell);
        }
        "str" | "strb" | "strh" => {
            let (width, _) = size(&mnemonic[3..]);
            let (value, _) = cell.register()?;
            cell.comma()?;
            let place = address(cell)?;
            cell.thread().emit(Instr::Store {
                addr: place.addr,
                value: value.into(),
                width,
                ann: Ann::PLAIN,
            });
            place.finish(cell);
        }
        "ldrex" | "ldrexb" | "ldrexh" => {
            let (width, extend) = size(&mnemonic[5..]);
            let (dst, _) = cell.register()?;
            cell.comma()?;
            let addr = address(cell)?.addr;
            let ann = Ann::exclusive(Order::Plain);
            cell.thread().emit(Instr::Load { dst, addr, width, extend, ann });
        }
        "strex" | "strexb" | "strexh" => {
            let (width, _) = size(&mnemonic[5..]);
            let (status, _) = cell.register()?;
            cell.comma()?;
            let (value, _) = cell.register()?;
            cell.comma()?;
            let addr = address(cell)?.addr;
            let (value, ann) = (value.into(), Ann::exclusive(Order::Plain));
            cell.thread().emit(Instr::StoreExclusive { status, success: 0, addr, value, width, ann });
        }
        "swp" => swap(cell)?,
        "ldrd" | "strd" => double(cell, mnemonic == "ldrd")?,
        "ldm" | "ldmia" => several(cell)?,
        "lda" | "stl" | "ldaex" | "stlex" => {
            return Err(cell.unsupported("it came with ARMv8, and the model of ARM is that of ARMv7"));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn size(suffix: &str) -> (Width, Extend) {
    match suffix {
        "b" => (Width::W8, Extend::Zero),
        "h" => (Width::W16, Extend::Zero),
        "sb" => (Width::W8, Extend::Sign),
        "sh" => (Width::W16, Extend::Sign),
        _ => (Width::W32, Extend::Sign),
    }
}

/// Where an access goes, and what becomes of the register that says so.
struct Place {
    addr: Operand,
    update: Option<(Reg, Rvalue)>,
}

impl Place {
    fn finish(self, cell: &mut Cell<'_, '_>) {
        if let Some((base, value)) = self.update {
            cell.thread().assign(base, value);
        }
    }
}

/// `[R1]`, `[R1,#4]`, `[R1,R2]`, `[R1,R2,LSL #2]`, `[R1,#4]!`, `[R1],#4`.
fn address(cell: &mut Cell<'_, '_>) -> Parsed<Place> {
    // Some tests leave the brackets out.
    if cell.at_register() {
        return Ok(Place { addr: cell.register()?.0.into(), update: None });
    }
    if !cell.lexer.eat("[") {
        return Err(cell.expected("an address such as `[R1]`"));
    }
    let (base, _) = cell.register()?;
    let mut addr: Operand = base.into();
    let sum = |offset| Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Sign, base.into(), offset);
    if cell.lexer.eat(",") {
        let offset = offset(cell)?;
        if offset != Operand::Const(Value::ZERO) {
            addr = cell.compute(2, sum(offset));
        }
    }
    cell.expect("]")?;
    if cell.lexer.eat("!") {
        return Ok(Place { addr, update: Some((base, Rvalue::Use(addr))) });
    }
    let update = match cell.lexer.eat(",") {
        true => Some((base, sum(offset(cell)?))),
        false => None,
    };
    Ok(Place { addr, update })
}

fn offset(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    if cell.at_immediate() {
        return Ok(Width::W32.sign_extend(cell.immediate()?).into());
    }
    let (index, _) = cell.register()?;
    if !cell.lexer.eat(",") {
        return Ok(index.into());
    }
    let token = cell.lexer.next();
    let Some(op) = shift_operator(&cell.lexer.text(token).to_ascii_lowercase()) else {
        return Err(crate::error::expected(cell.lexer, token, "a shift, `LSL`, `LSR` or `ASR`"));
    };
    let by = cell.immediate()?;
    Ok(cell.compute(1, Rvalue::Binary(op, Width::W32, Extend::Sign, index.into(), by.into())))
}

/// `SWP R1,R2,[R3]`: what is there becomes `R2`, and `R1` what was there.
fn swap(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (dst, _) = cell.register()?;
    cell.comma()?;
    let (operand, _) = cell.register()?;
    cell.comma()?;
    let addr = address(cell)?.addr;
    let (width, extend, op) = (Width::W32, Extend::Sign, RmwOp::Exchange);
    let (read, write) = (Ann::PLAIN, Ann::PLAIN);
    let (dst, operand) = (Some(dst), operand.into());
    cell.thread().emit(Instr::Rmw { dst, addr, width, extend, op, operand, read, write });
    Ok(())
}

fn double(cell: &mut Cell<'_, '_>, is_load: bool) -> Parsed<()> {
    let (first, _) = cell.register()?;
    cell.comma()?;
    let (second, _) = cell.register()?;
    cell.comma()?;
    let place = address(cell)?;
    words(cell, place.addr, &[first, second], is_load);
    place.finish(cell);
    Ok(())
}

/// `LDM R1,{R2,R3}`.
fn several(cell: &mut Cell<'_, '_>) -> Parsed<()> {
    let (base, _) = cell.register()?;
    let _ = cell.lexer.eat("!");
    cell.comma()?;
    cell.expect("{")?;
    let mut registers = vec![cell.register()?.0];
    while cell.lexer.eat(",") {
        registers.push(cell.register()?.0);
    }
    cell.expect("}")?;
    words(cell, base.into(), &registers, true);
    Ok(())
}

/// One access per register, to words that follow each other. The address is kept, since a load may overwrite its register.
fn words(cell: &mut Cell<'_, '_>, addr: Operand, registers: &[Reg], is_load: bool) {
    let first = cell.compute(3, Rvalue::Use(addr));
    for (index, &reg) in registers.iter().enumerate() {
        let offset = Value(4 * index as u64);
        let sum = Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, first, offset.into());
        let addr = if index == 0 { first } else { cell.compute(4, sum) };
        let (width, ann) = (Width::W32, Ann::PLAIN);
        cell.thread().emit(match is_load {
            true => Instr::Load { dst: reg, addr, width, extend: Extend::Sign, ann },
            false => Instr::Store { addr, value: reg.into(), width, ann },
        });
    }
}
