//! AArch64. Registers are called `X0`, as conditions do, and written `W0` where an access has 32 bits and less.

use super::{Fence, OrderRow, fence};
use crate::edge::{Note, Order, Size};
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 7] = [
    fence("DMB.SY", "DMB SY", "dmb.sy"),
    fence("DMB.LD", "DMB LD", "dmb.ld"),
    fence("DMB.ST", "DMB ST", "dmb.st"),
    fence("DSB.SY", "DSB SY", "dsb.sy"),
    fence("DSB.LD", "DSB LD", "dsb.ld"),
    fence("DSB.ST", "DSB ST", "dsb.st"),
    fence("ISB", "ISB", "isb"),
];

pub(super) static ORDERS: [OrderRow; 8] = [
    ("P", Order::Plain, false),
    ("A", Order::Acquire, false),
    ("Q", Order::AcquirePc, false),
    ("L", Order::Release, false),
    ("X", Order::Plain, true),
    ("XA", Order::Acquire, true),
    ("XL", Order::Release, true),
    ("XAL", Order::AcquireRelease, true),
];

pub(super) struct AArch64;

/// The name of a register for an access of that size.
fn sized(register: &str, size: Size) -> String {
    if size.bytes == 8 { register.to_owned() } else { narrow(register) }
}

fn narrow(register: &str) -> String {
    register.replacen('X', "W", 1)
}

fn zero(text: &mut Text, register: &str) -> String {
    let zero = text.fresh();
    text.line(format!("EOR {0},{1},{1}", narrow(&zero), narrow(register)));
    zero
}

/// The end of a mnemonic for that size.
fn letter(size: Size) -> &'static str {
    match size.bytes {
        1 => "B",
        2 => "H",
        _ => "",
    }
}

/// The address as it stands in an instruction; a plain access may have an index or an offset.
fn address(text: &mut Text, place: &Place<'_>, simple: bool) -> String {
    let index = place.address.as_ref().map(|register| zero(text, register));
    let base = text.base(place.location);
    let offset = place.size.offset;
    match (index, offset) {
        (None, 0) => format!("[{base}]"),
        (None, offset) if !simple => format!("[{base},#{offset}]"),
        (Some(index), 0) if !simple => format!("[{base},{},SXTW]", narrow(&index)),
        (index, offset) => {
            let sum = text.fresh();
            if let Some(index) = &index {
                text.line(format!("ADD {sum},{base},{},SXTW", narrow(index)));
            }
            let from = if index.is_some() { &sum } else { &base };
            match (simple, offset) {
                (_, 0) => format!("[{sum}]"),
                (false, offset) => format!("[{sum},#{offset}]"),
                (true, offset) => {
                    let line = format!("ADD {sum},{from},#{offset}");
                    text.line(line);
                    format!("[{sum}]")
                }
            }
        }
    }
}

/// A pair of exclusives; `from` is what is stored, none for what was read.
fn pair(text: &mut Text, address: &str, size: Size, orders: (Order, Order), from: Option<String>) -> String {
    let (into, status) = (text.fresh(), text.fresh());
    let acquire = if matches!(orders.0, Order::Acquire | Order::AcquireRelease) { "A" } else { "" };
    let release = if matches!(orders.1, Order::Release | Order::AcquireRelease) { "L" } else { "" };
    let from = from.unwrap_or_else(|| into.clone());
    text.line(format!("LD{acquire}XR{} {},{address}", letter(size), sized(&into, size)));
    text.line(format!("ST{release}XR{} {},{},{address}", letter(size), narrow(&status), sized(&from, size)));
    text.line(format!("CBNZ {},Fail{}", narrow(&status), text.thread));
    text.fails = true;
    into
}

/// A register that holds a value.
fn constant(text: &mut Text, value: u64, size: Size) -> String {
    let from = text.fresh();
    if value <= 0xffff {
        text.line(format!("MOV {},#{value}", sized(&from, size)));
    } else {
        text.inits.push(format!("{}:{from}={value};", text.thread));
    }
    from
}

impl Assembly for AArch64 {
    fn register(&self, index: usize) -> String {
        format!("X{index}")
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let plain = place.note.order == Order::Plain && !place.note.exclusive;
        let address = address(text, place, !plain);
        if place.note.exclusive {
            return pair(text, &address, place.size, (place.note.order, place.note.order), None);
        }
        let into = text.fresh();
        let mnemonic = match place.note.order {
            Order::Acquire => "LDAR",
            Order::AcquirePc => "LDAPR",
            _ => "LDR",
        };
        text.line(format!("{mnemonic}{} {},{address}", letter(place.size), sized(&into, place.size)));
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let plain = place.note.order == Order::Plain && !place.note.exclusive;
        let address = address(text, place, !plain);
        let from = match data {
            Some(register) if value <= 0xfff => {
                let from = zero(text, &register);
                text.line(format!("ADD {0},{0},#{value}", narrow(&from)));
                from
            }
            Some(register) => {
                let zero = zero(text, &register);
                let value = constant(text, value, place.size);
                text.line(format!("ADD {zero},{zero},{value}"));
                zero
            }
            None => constant(text, value, place.size),
        };
        if place.note.exclusive {
            let found = pair(text, &address, place.size, (place.note.order, place.note.order), Some(from));
            text.beside.push(found);
            return;
        }
        let mnemonic = if place.note.order == Order::Release { "STLR" } else { "STR" };
        text.line(format!("{mnemonic}{} {},{address}", letter(place.size), sized(&from, place.size)));
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, write: Note, value: u64) -> String {
        let address = address(text, place, true);
        let from = constant(text, value, place.size);
        pair(text, &address, place.size, (place.note.order, write.order), Some(from))
    }

    fn amo(
        &self,
        text: &mut Text,
        place: &Place<'_>,
        write: Note,
        value: u64,
        expected: Option<u64>,
    ) -> String {
        let address = address(text, place, true);
        let from = constant(text, value, place.size);
        let acquire =
            if matches!(place.note.order, Order::Acquire | Order::AcquireRelease) { "A" } else { "" };
        let release = if matches!(write.order, Order::Release | Order::AcquireRelease) { "L" } else { "" };
        let end = format!("{acquire}{release}{}", letter(place.size));
        let (mnemonic, into) = match expected {
            Some(expected) => ("CAS", constant(text, expected, place.size)),
            None => ("SWP", text.fresh()),
        };
        let (from, shown) = (sized(&from, place.size), sized(&into, place.size));
        text.line(match expected {
            Some(_) => format!("{mnemonic}{end} {shown},{from},{address}"),
            None => format!("{mnemonic}{end} {from},{shown},{address}"),
        });
        into
    }

    fn branch(&self, text: &mut Text, register: &str) {
        let label = text.label();
        text.line(format!("CBNZ {},{label}", narrow(register)));
        text.line(format!("{label}:"));
    }

    fn finish(&self, text: &mut Text) {
        if !text.fails {
            return;
        }
        let thread = text.thread;
        let (zero, ok) = (text.fresh(), text.base("ok"));
        text.line(format!("B Exit{thread}"));
        text.line(format!("Fail{thread}:"));
        text.line(format!("MOV {},#0", narrow(&zero)));
        text.line(format!("STR {},[{ok}]", narrow(&zero)));
        text.line(format!("Exit{thread}:"));
    }
}
