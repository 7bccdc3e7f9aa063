//! Pairs of registers.
//!
//! `LDP` and `STP` are two single-copy atomic accesses, in no order unless something else orders them [Arm ARM, B2.2.1].
//! The non-temporal forms are the same, but that `LDNP` may ignore an address dependency on a load.
//! `LDIAPP` and `STILP` (FEAT_LRCPC3) are two accesses with acquire-PC and release ordering and an order between them:
//! the first register's access comes first, but for `STILP` with a pre-index the second register's. Two accesses in
//! that program order say just this.
//!
//! `LDXP`, `STXP` and `CASP` on W registers are one single-copy atomic access of 64 bits, the first register the lower
//! half. On X registers they are one of 128 bits (for `LDXP`, as with FEAT_LSE2), which no value here holds: the lower halves of
//! both registers stand for it, and it is an error if a register holds more. No other access may touch such a location,
//! which `widths` looks after.

use super::memory::{Orders, plain_address, suffixes};
use super::operand::{Address, Target, address, source, source_of, target};
use super::width;
use crate::error::Parsed;
use crate::lexer::Token;
use crate::table::Cell;
use fencepost_diag::Diagnostic;
use fencepost_ir::{Ann, BinaryOp, Extend, Instr, Operand, Order, Rvalue, UnaryOp, Value, Width};

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    match mnemonic {
        "ldp" => load(cell, Ann::PLAIN, false)?,
        "ldnp" => load(cell, Ann { non_temporal: true, ..Ann::PLAIN }, false)?,
        "ldpsw" => load(cell, Ann::PLAIN, true)?,
        "ldiapp" => load(cell, Ann::order(Order::AcquirePc), false)?,
        "stp" | "stnp" => store(cell, Ann::PLAIN)?,
        "stilp" => store(cell, Ann::order(Order::Release))?,
        "ldxp" => load_exclusive(cell, Order::Plain)?,
        "ldaxp" => load_exclusive(cell, Order::Acquire)?,
        "stxp" => store_exclusive(cell, Order::Plain)?,
        "stlxp" => store_exclusive(cell, Order::Release)?,
        _ => match mnemonic.strip_prefix("casp").and_then(suffixes) {
            Some((orders, None)) => compare_and_swap(cell, orders)?,
            _ => return Ok(false),
        },
    }
    Ok(true)
}

/// Two registers of one size to load to.
fn targets(cell: &mut Cell<'_, '_>) -> Parsed<(Target, Target)> {
    let first = target(cell)?;
    cell.comma()?;
    let token = cell.lexer.peek();
    let second = target(cell)?;
    if second.narrow != first.narrow {
        let what = if first.narrow { "a W register" } else { "an X register" };
        return Err(crate::error::expected(cell.lexer, token, &format!("{what}, as the first one")));
    }
    if second.reg == first.reg && !first.is_zero {
        let message = format!("`{}` is loaded twice", cell.lexer.text(token));
        let error = Diagnostic::error(token.span(), message).label("expected another register");
        return Err(Box::new(error.hint("the architecture does not say what it would hold then")));
    }
    Ok((first, second))
}

/// The address of the second access; computed before the first one may overwrite the base.
fn second_address(cell: &mut Cell<'_, '_>, place: Address, width: Width) -> Operand {
    let size = Value(width.bytes().into());
    cell.compute(2, Rvalue::Binary(BinaryOp::Add, Width::W64, Extend::Zero, place.addr, size.into()))
}

fn load(cell: &mut Cell<'_, '_>, ann: Ann, signed: bool) -> Parsed<()> {
    let token = cell.lexer.peek();
    let (first, second) = targets(cell)?;
    if signed && first.narrow {
        return Err(crate::error::expected(cell.lexer, token, "an X register"));
    }
    cell.comma()?;
    let place = address(cell)?;
    let width = if signed { Width::W32 } else { width(first.narrow) };
    let extend = if signed { Extend::Sign } else { Extend::Zero };
    // The first load may overwrite the base, which the second address no longer needs.
    let next = second_address(cell, place, width);
    for (dst, addr) in [(first, place.addr), (second, next)] {
        cell.thread().emit(Instr::Load { dst: dst.reg, addr, width, extend, ann });
        dst.written(cell);
    }
    place.finish(cell);
    Ok(())
}

fn store(cell: &mut Cell<'_, '_>, ann: Ann) -> Parsed<()> {
    let (first, narrow) = source(cell)?;
    cell.comma()?;
    let second = source_of(cell, narrow)?;
    cell.comma()?;
    let place = address(cell)?;
    let width = width(narrow);
    let next = second_address(cell, place, width);
    let mut accesses = [(place.addr, first), (next, second)];
    if place.is_pre_indexed() {
        // Matters for STILP only: plain stores have no order.
        accesses.reverse();
    }
    for (addr, value) in accesses {
        cell.thread().emit(Instr::Store { addr, value, width, ann });
    }
    place.finish(cell);
    Ok(())
}

/// What a register holds must fit into 31 bits: it is half of what an access of 128 bits writes or compares.
fn fits(cell: &mut Cell<'_, '_>, half: Operand) {
    let most = Value(i32::MAX as u64).into();
    let test = Rvalue::Binary(BinaryOp::LeU, Width::W64, Extend::Zero, half, most);
    let condition = cell.compute(6, test);
    let message = "values of 128 bits have halves of at most 31 bits here".to_string();
    cell.thread().emit(Instr::Assert { condition, kind: fencepost_ir::FailKind::Assertion, message });
}

/// A pair of halves as one value of 64 bits, in a temporary.
fn join(cell: &mut Cell<'_, '_>, to: usize, low: Operand, high: Operand, narrow: bool) -> Operand {
    if !narrow {
        fits(cell, low);
        fits(cell, high);
    }
    let low = cell.compute(to, Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, low));
    let by = Value(32).into();
    let high = cell.compute(to + 1, Rvalue::Binary(BinaryOp::Shl, Width::W64, Extend::Zero, high, by));
    cell.compute(to, Rvalue::Binary(BinaryOp::Or, Width::W64, Extend::Zero, low, high))
}

/// The halves of a value of 64 bits to two registers.
fn split(cell: &mut Cell<'_, '_>, value: Operand, first: Target, second: Target) {
    let half = |value| Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, value);
    first.assign(cell, half(value));
    let by = Value(32).into();
    let high = cell.compute(6, Rvalue::Binary(BinaryOp::ShrU, Width::W64, Extend::Zero, value, by));
    second.assign(cell, half(high));
}

fn load_exclusive(cell: &mut Cell<'_, '_>, order: Order) -> Parsed<()> {
    let (first, second) = targets(cell)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    let thread = cell.thread();
    thread.next_is_double(!first.narrow);
    let dst = thread.temporary(0);
    let ann = Ann::exclusive(order);
    thread.emit(Instr::Load { dst, addr: place.addr, width: Width::W64, extend: Extend::Zero, ann });
    split(cell, dst.into(), first, second);
    Ok(())
}

fn store_exclusive(cell: &mut Cell<'_, '_>, order: Order) -> Parsed<()> {
    let status = target(cell)?;
    cell.comma()?;
    let (first, narrow) = source(cell)?;
    cell.comma()?;
    let second = source_of(cell, narrow)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    let value = join(cell, 0, first, second, narrow);
    let ann = Ann::exclusive(order);
    let (status, addr) = (status.reg, place.addr);
    cell.thread().next_is_double(!narrow);
    cell.thread().emit(Instr::StoreExclusive { status, success: 0, addr, value, width: Width::W64, ann });
    Ok(())
}

/// `CASP Ws,W(s+1),Wt,W(t+1),[Xn]`, or X in place of W.
fn compare_and_swap(cell: &mut Cell<'_, '_>, orders: Orders) -> Parsed<()> {
    let (token, key) = (cell.lexer.peek(), cell.peek_key());
    let first = target(cell)?;
    let narrow = first.narrow;
    let second = follower(cell, token, key, narrow, |cell| target(cell).map(|dst| (dst, dst.narrow)))?;
    cell.comma()?;
    let (token, key) = (cell.lexer.peek(), cell.peek_key());
    let low = source_of(cell, narrow)?;
    let high = follower(cell, token, key, narrow, source)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    let expected = join(cell, 0, first.reg.into(), second.reg.into(), narrow);
    let desired = join(cell, 2, low, high, narrow);
    let thread = cell.thread();
    thread.next_is_double(!narrow);
    let old = thread.temporary(1);
    thread.emit(Instr::CompareExchange {
        dst: Some(old),
        success: None,
        addr: place.addr,
        width: Width::W64,
        extend: Extend::Zero,
        expected,
        desired,
        read: orders.read(),
        write: orders.write(),
        failure: orders.read(),
        weak: false,
    });
    split(cell, old.into(), first, second);
    Ok(())
}

/// The second register of a pair of `CASP`: of the same size, and the one after an even first one.
fn follower<T>(
    cell: &mut Cell<'_, '_>,
    before: Token,
    first: Option<u8>,
    narrow: bool,
    read: impl FnOnce(&mut Cell<'_, '_>) -> Parsed<(T, bool)>,
) -> Parsed<T> {
    if first.is_some_and(|key| key % 2 != 0) {
        return Err(crate::error::expected(cell.lexer, before, "a register with an even number"));
    }
    cell.comma()?;
    let (token, second) = (cell.lexer.peek(), cell.peek_key());
    let (result, is_narrow) = read(cell)?;
    let follows = match (first, second) {
        (Some(first), Some(second)) => second == first + 1,
        // Which registers symbols stand for is not known.
        _ => true,
    };
    if is_narrow == narrow && follows {
        return Ok(result);
    }
    let letter = if narrow { 'W' } else { 'X' };
    let what = match first {
        Some(first) => format!("`{letter}{}`, the register after the first one", first + 1),
        None => format!("a register of {} bits", if narrow { 32 } else { 64 }),
    };
    Err(crate::error::expected(cell.lexer, token, &what))
}
