//! Loads, stores, reservations and atomics of RISC-V.
//!
//! A mnemonic ends with its orders: `.aq`, `.rl`, or both, also on plain loads and stores, where litmus tests use them as the
//! manual's pseudo-instructions. Both halves of an atomic have its orders: it is one operation of the memory order. What an
//! atomic or a store-conditional that succeeded returns depends on its write as well [RVWMO, syntactic dependencies].

use super::{source, target};
use crate::error::Parsed;
use crate::table::Cell;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Order, RmwOp, Role, Rvalue, Value, Width};

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    let (base, order) = orders(mnemonic);
    if let Some((width, extend)) = load_kind(base) {
        let dst = target(cell)?;
        cell.comma()?;
        let addr = address(cell)?;
        cell.thread().emit(Instr::Load { dst, addr, width, extend, ann: Ann::order(order) });
    } else if let Some(width) = store_kind(base) {
        let value = source(cell)?;
        cell.comma()?;
        let addr = address(cell)?;
        cell.thread().emit(Instr::Store { addr, value, width, ann: Ann::order(order) });
    } else if let Some((op, width)) = base.rsplit_once('.').and_then(|(op, size)| Some((op, size_of(size)?)))
    {
        match op {
            "lr" => {
                let dst = target(cell)?;
                cell.comma()?;
                let addr = address(cell)?;
                let ann = Ann::exclusive(order);
                cell.thread().emit(Instr::Load { dst, addr, width, extend: Extend::Sign, ann });
            }
            "sc" => {
                let status = target(cell)?;
                cell.comma()?;
                let value = source(cell)?;
                cell.comma()?;
                let addr = address(cell)?;
                let ann = Ann { role: Role::Result, ..Ann::exclusive(order) };
                cell.thread().emit(Instr::StoreExclusive { status, success: 0, addr, value, width, ann });
            }
            "amocas" => compare_and_swap(cell, width, order)?,
            _ => return atomic(cell, op, width, order),
        }
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The mnemonic without its orders, and the order that they are.
fn orders(mnemonic: &str) -> (&str, Order) {
    const SUFFIXES: [(&str, Order); 6] = [
        (".aq.rl", Order::AcqRel),
        (".rl.aq", Order::AcqRel),
        (".aqrl", Order::AcqRel),
        (".aq", Order::Acquire),
        (".rl", Order::Release),
        (".sc", Order::AcqRel),
    ];
    let found =
        SUFFIXES.into_iter().find_map(|(suffix, order)| Some((mnemonic.strip_suffix(suffix)?, order)));
    found.unwrap_or((mnemonic, Order::Plain))
}

fn size_of(letter: &str) -> Option<Width> {
    Some(match letter {
        "b" => Width::W8,
        "h" => Width::W16,
        "w" => Width::W32,
        "d" => Width::W64,
        _ => return None,
    })
}

fn load_kind(base: &str) -> Option<(Width, Extend)> {
    let size = base.strip_prefix('l')?;
    match size.strip_suffix('u') {
        Some(size) => size_of(size).filter(|&width| width != Width::W64).map(|width| (width, Extend::Zero)),
        None => size_of(size).map(|width| (width, Extend::Sign)),
    }
}

fn store_kind(base: &str) -> Option<Width> {
    size_of(base.strip_prefix('s')?)
}

fn atomic(cell: &mut Cell<'_, '_>, name: &str, width: Width, order: Order) -> Parsed<bool> {
    let op = match name {
        "amoswap" => RmwOp::Exchange,
        "amoadd" => RmwOp::Add,
        "amoand" => RmwOp::And,
        "amoor" => RmwOp::Or,
        "amoxor" => RmwOp::Xor,
        "amomin" => RmwOp::MinS,
        "amomax" => RmwOp::MaxS,
        "amominu" => RmwOp::MinU,
        "amomaxu" => RmwOp::MaxU,
        _ => return Ok(false),
    };
    let dst = target(cell)?;
    cell.comma()?;
    let operand = source(cell)?;
    cell.comma()?;
    let addr = address(cell)?;
    let (read, write) = (Ann::order(order), Ann { role: Role::Result, ..Ann::order(order) });
    cell.thread().emit(Instr::Rmw {
        dst: Some(dst),
        addr,
        width,
        extend: Extend::Sign,
        op,
        operand,
        read,
        write,
    });
    Ok(true)
}

/// `amocas rd,rs2,(rs1)`: what is there becomes `rs2` if it is `rd`, and `rd` becomes what was there.
fn compare_and_swap(cell: &mut Cell<'_, '_>, width: Width, order: Order) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let desired = source(cell)?;
    cell.comma()?;
    let addr = address(cell)?;
    let ann = Ann::order(order);
    cell.thread().emit(Instr::CompareExchange {
        dst: Some(dst),
        success: None,
        addr,
        width,
        extend: Extend::Sign,
        expected: dst.into(),
        desired,
        read: ann,
        write: ann,
        failure: ann,
        weak: false,
    });
    Ok(())
}

/// `8(x6)`, `(x6)`, or the register alone.
fn address(cell: &mut Cell<'_, '_>) -> Parsed<Operand> {
    let offset = if cell.at_immediate() { cell.immediate()? } else { Value::ZERO };
    let has_bracket = cell.lexer.eat("(");
    if !has_bracket && !cell.at_register() {
        return Err(cell.expected("an address such as `0(x6)`"));
    }
    let base = source(cell)?;
    if has_bracket {
        cell.expect(")")?;
    }
    if offset == Value::ZERO {
        return Ok(base);
    }
    Ok(cell.compute(0, Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, base, offset.into())))
}
