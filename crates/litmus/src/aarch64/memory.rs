//! Loads, stores, exclusives and atomics of AArch64.
//!
//! A mnemonic is taken apart from the left: operation, ordering (`A`, `L`, `AL`), size (`B`, `H`). A read-modify-write
//! whose result goes to XZR or WZR, and the `ST` forms, do not return what they read: like herd7 we mark that read as
//! such and give it no acquire ordering, whatever the suffix says [Arm ARM, C6.2, LDADD]. herd7 treats `CAS` with a
//! zero register to compare with in the same way, and so do we.

use super::operand::{Address, Target, address, source_of, target};
use super::width;
use crate::error::Parsed;
use crate::table::Cell;
use fencepost_ir::{Ann, Extend, Instr, Operand, Order, RmwOp, Rvalue, UnaryOp, Value, Width};

/// Lowers the instruction; `Ok(false)` if it is none of these.
pub(super) fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool> {
    if let Some(kind) = load_kind(mnemonic) {
        load(cell, kind)?;
    } else if let Some(kind) = store_kind(mnemonic) {
        store(cell, kind)?;
    } else if let Some((op, orders, size)) = atomic_kind(mnemonic, "ld") {
        atomic(cell, op, orders, size)?;
    } else if let Some((op, orders, size)) = atomic_kind(mnemonic, "st") {
        // `STADDA` does not exist.
        if orders.acquire {
            return Ok(false);
        }
        atomic_without_result(cell, op, orders, size)?;
    } else if let Some((orders, size)) = mnemonic.strip_prefix("swp").and_then(suffixes) {
        atomic(cell, RmwOp::Exchange, orders, size)?;
    } else if let Some((orders, size)) = mnemonic.strip_prefix("cas").and_then(suffixes) {
        compare_and_swap(cell, orders, size)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// A load or a store: its annotation, its size if the mnemonic has one, and its sign.
#[derive(Clone, Copy, Debug)]
struct Access {
    ann: Ann,
    size: Option<Width>,
    signed: bool,
}

fn load_kind(mnemonic: &str) -> Option<Access> {
    const KINDS: [(&str, Order, bool); 8] = [
        ("ldapur", Order::AcquirePc, false),
        ("ldapr", Order::AcquirePc, false),
        ("ldaxr", Order::Acquire, true),
        ("ldxr", Order::Plain, true),
        ("ldar", Order::Acquire, false),
        ("ldur", Order::Plain, false),
        // Unprivileged: the same access.
        ("ldtr", Order::Plain, false),
        ("ldr", Order::Plain, false),
    ];
    let find = |(name, order, exclusive): (&str, Order, bool)| {
        let has_signed = matches!(name, "ldapur" | "ldur" | "ldtr" | "ldr");
        let (size, signed) = match mnemonic.strip_prefix(name)? {
            "" => (None, false),
            "b" => (Some(Width::W8), false),
            "h" => (Some(Width::W16), false),
            "sb" if has_signed => (Some(Width::W8), true),
            "sh" if has_signed => (Some(Width::W16), true),
            "sw" if has_signed => (Some(Width::W32), true),
            _ => return None,
        };
        Some(Access { ann: Ann { exclusive, ..Ann::order(order) }, size, signed })
    };
    KINDS.into_iter().find_map(find)
}

fn store_kind(mnemonic: &str) -> Option<Access> {
    const KINDS: [(&str, Order, bool); 7] = [
        ("stlxr", Order::Release, true),
        ("stxr", Order::Plain, true),
        ("stlr", Order::Release, false),
        ("stlur", Order::Release, false),
        ("stur", Order::Plain, false),
        ("sttr", Order::Plain, false),
        ("str", Order::Plain, false),
    ];
    let find = |(name, order, exclusive): (&str, Order, bool)| {
        let size = match mnemonic.strip_prefix(name)? {
            "" => None,
            "b" => Some(Width::W8),
            "h" => Some(Width::W16),
            _ => return None,
        };
        Some(Access { ann: Ann { exclusive, ..Ann::order(order) }, size, signed: false })
    };
    KINDS.into_iter().find_map(find)
}

fn load(cell: &mut Cell<'_, '_>, kind: Access) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let place = address(cell)?;
    let size = kind.size.unwrap_or(width(dst.narrow));
    let extend = if kind.signed { Extend::Sign } else { Extend::Zero };
    cell.thread().emit(Instr::Load { dst: dst.reg, addr: place.addr, width: size, extend, ann: kind.ann });
    if kind.signed && dst.narrow {
        let value = Rvalue::Unary(UnaryOp::ZeroExtend, Width::W32, Extend::Zero, dst.reg.into());
        dst.assign(cell, value);
    } else if size == Width::W32 && !kind.signed {
        dst.written(cell);
    }
    place.finish(cell);
    Ok(())
}

fn store(cell: &mut Cell<'_, '_>, kind: Access) -> Parsed<()> {
    let status = if kind.ann.exclusive {
        let status = target(cell)?;
        cell.comma()?;
        Some(status)
    } else {
        None
    };
    let (value, narrow) = super::source(cell)?;
    cell.comma()?;
    let place = address(cell)?;
    let (addr, width, ann) = (place.addr, kind.size.unwrap_or(width(narrow)), kind.ann);
    cell.thread().emit(match status {
        Some(status) => Instr::StoreExclusive { status: status.reg, success: 0, addr, value, width, ann },
        None => Instr::Store { addr, value, width, ann },
    });
    place.finish(cell);
    Ok(())
}

/// The ordering suffixes of an atomic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    acquire: bool,
    release: bool,
}

impl Orders {
    pub(super) fn write(self) -> Ann {
        Ann::order(if self.release { Order::Release } else { Order::Plain })
    }

    pub(super) fn read(self) -> Ann {
        Ann::order(if self.acquire { Order::Acquire } else { Order::Plain })
    }
}

/// A read whose result goes nowhere.
const NO_RETURN: Ann = Ann { no_return: true, ..Ann::PLAIN };

/// `al` and `b` in `LDADDALB`.
pub(super) fn suffixes(rest: &str) -> Option<(Orders, Option<Width>)> {
    let (acquire, rest) = rest.strip_prefix('a').map_or((false, rest), |rest| (true, rest));
    let (release, rest) = rest.strip_prefix('l').map_or((false, rest), |rest| (true, rest));
    let size = match rest {
        "" => None,
        "b" => Some(Width::W8),
        "h" => Some(Width::W16),
        _ => return None,
    };
    Some((Orders { acquire, release }, size))
}

fn atomic_kind(mnemonic: &str, prefix: &str) -> Option<(RmwOp, Orders, Option<Width>)> {
    const OPS: [(&str, RmwOp); 8] = [
        ("add", RmwOp::Add),
        ("eor", RmwOp::Xor),
        ("clr", RmwOp::Clear),
        ("set", RmwOp::Or),
        ("smax", RmwOp::MaxS),
        ("smin", RmwOp::MinS),
        ("umax", RmwOp::MaxU),
        ("umin", RmwOp::MinU),
    ];
    let rest = mnemonic.strip_prefix(prefix)?;
    OPS.into_iter().find_map(|(name, op)| {
        let (orders, size) = rest.strip_prefix(name).and_then(suffixes)?;
        Some((op, orders, size))
    })
}

/// `SWP` and `LDADD`: operand, destination, address.
fn atomic(cell: &mut Cell<'_, '_>, op: RmwOp, orders: Orders, size: Option<Width>) -> Parsed<()> {
    let (operand, narrow) = super::source(cell)?;
    cell.comma()?;
    let dst = atomic_target(cell, narrow)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    emit_rmw(cell, (!dst.is_zero).then_some(dst), place, op, operand, orders, size.unwrap_or(width(narrow)));
    Ok(())
}

/// `STADD`: operand and address.
fn atomic_without_result(
    cell: &mut Cell<'_, '_>,
    op: RmwOp,
    orders: Orders,
    size: Option<Width>,
) -> Parsed<()> {
    let (operand, narrow) = super::source(cell)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    emit_rmw(cell, None, place, op, operand, orders, size.unwrap_or(width(narrow)));
    Ok(())
}

fn emit_rmw(
    cell: &mut Cell<'_, '_>,
    dst: Option<Target>,
    place: Address,
    op: RmwOp,
    operand: Operand,
    orders: Orders,
    width: Width,
) {
    let read = if dst.is_some() { orders.read() } else { NO_RETURN };
    cell.thread().emit(Instr::Rmw {
        dst: dst.map(|dst| dst.reg),
        addr: place.addr,
        width,
        extend: Extend::Zero,
        op,
        operand,
        read,
        write: orders.write(),
    });
    if let Some(dst) = dst.filter(|_| width == Width::W32) {
        dst.written(cell);
    }
}

/// `CAS Ws,Wt,[Xn]`: if memory holds Ws it becomes Wt; Ws becomes what was there.
fn compare_and_swap(cell: &mut Cell<'_, '_>, orders: Orders, size: Option<Width>) -> Parsed<()> {
    let dst = target(cell)?;
    cell.comma()?;
    let desired = source_of(cell, dst.narrow)?;
    cell.comma()?;
    let place = plain_address(cell)?;
    let width = size.unwrap_or(width(dst.narrow));
    let expected: Operand = if dst.is_zero { Value::ZERO.into() } else { dst.reg.into() };
    if !dst.narrow && !dst.is_zero {
        cell.thread().wide_read(dst.reg);
    }
    let read = if dst.is_zero { NO_RETURN } else { orders.read() };
    cell.thread().emit(Instr::CompareExchange {
        dst: (!dst.is_zero).then_some(dst.reg),
        success: None,
        addr: place.addr,
        width,
        extend: Extend::Zero,
        expected,
        desired,
        read,
        write: orders.write(),
        failure: read,
        weak: false,
    });
    if width == Width::W32 && !dst.is_zero {
        dst.written(cell);
    }
    Ok(())
}

fn atomic_target(cell: &mut Cell<'_, '_>, narrow: bool) -> Parsed<Target> {
    let token = cell.lexer.peek();
    let dst = target(cell)?;
    if dst.narrow != narrow {
        let what = if narrow { "a W register, as the first one" } else { "an X register, as the first one" };
        return Err(crate::error::expected(cell.lexer, token, what));
    }
    Ok(dst)
}

/// `[Xn]`: atomics have no other form of address.
pub(super) fn plain_address(cell: &mut Cell<'_, '_>) -> Parsed<Address> {
    let open = cell.lexer.peek();
    let place = address(cell)?;
    match place.addr {
        Operand::Reg(_) if cell.lexer.text(open) == "[" => Ok(place),
        _ => Err(crate::error::expected(cell.lexer, open, "an address such as `[X1]`")),
    }
}
