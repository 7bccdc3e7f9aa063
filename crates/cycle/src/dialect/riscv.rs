//! RISC-V.

use super::{Fence, OrderRow, fence};
use crate::edge::{Note, Order};
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 11] = [
    fence("Fence.rw.rw", "fence rw,rw", "fence.rw.rw"),
    fence("Fence.rw.w", "fence rw,w", "fence.rw.w"),
    fence("Fence.rw.r", "fence rw,r", "fence.rw.r"),
    fence("Fence.r.rw", "fence r,rw", "fence.r.rw"),
    fence("Fence.r.r", "fence r,r", "fence.r.r"),
    fence("Fence.r.w", "fence r,w", "fence.r.w"),
    fence("Fence.w.w", "fence w,w", "fence.w.w"),
    fence("Fence.w.r", "fence w,r", "fence.w.r"),
    fence("Fence.w.rw", "fence w,rw", "fence.w.rw"),
    fence("Fence.tso", "fence.tso", "fence.tso"),
    fence("Fence.i", "fence.i", "fence.i"),
];

pub(super) static ORDERS: [OrderRow; 7] = [
    ("P", Order::Plain, false),
    ("Aq", Order::Acquire, false),
    ("Rl", Order::Release, false),
    ("AR", Order::AcquireRelease, false),
    ("X", Order::Plain, true),
    ("XAq", Order::Acquire, true),
    ("XRl", Order::Release, true),
];

pub(super) struct RiscV;

fn zero(text: &mut Text, register: &str) -> String {
    let zero = text.fresh();
    text.line(format!("xor {zero},{register},{register}"));
    zero
}

/// The register that holds the address.
fn address(text: &mut Text, place: &Place<'_>) -> String {
    let index = place.address.as_ref().map(|register| zero(text, register));
    let base = text.base(place.location);
    let Some(index) = index else { return base };
    let sum = text.fresh();
    text.line(format!("add {sum},{base},{index}"));
    sum
}

fn suffix(order: Order, acquire: bool) -> &'static str {
    match (order, acquire) {
        (Order::Acquire, true) => ".aq",
        (Order::Release, false) => ".rl",
        (Order::AcquireRelease, true) => ".aq",
        (Order::AcquireRelease, false) => ".rl",
        _ => "",
    }
}

/// A pair of load-reserved and store-conditional; `from` is what is stored, none for what was read.
fn pair(text: &mut Text, address: &str, order: (Order, Order), from: Option<String>) -> String {
    let into = text.fresh();
    let status = text.fresh();
    let from = from.unwrap_or_else(|| into.clone());
    text.line(format!("lr.w{} {into},0({address})", suffix(order.0, true)));
    text.line(format!("sc.w{} {status},{from},0({address})", suffix(order.1, false)));
    text.required.push((status, 0));
    into
}

fn constant(text: &mut Text, value: u64) -> String {
    let from = text.fresh();
    text.line(format!("ori {from},x0,{value}"));
    from
}

impl Assembly for RiscV {
    fn register(&self, index: usize) -> String {
        format!("x{}", index + 5)
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let address = address(text, place);
        if place.note.exclusive {
            return pair(text, &address, (place.note.order, place.note.order), None);
        }
        let into = text.fresh();
        text.line(match place.note.order {
            Order::AcquireRelease => format!("amoor.w.aq.rl {into},x0,({address})"),
            order => format!("lw{} {into},0({address})", suffix(order, true)),
        });
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let address = address(text, place);
        let from = match data {
            Some(register) => {
                let from = zero(text, &register);
                text.line(format!("ori {from},{from},{value}"));
                from
            }
            None => constant(text, value),
        };
        if place.note.exclusive {
            let found = pair(text, &address, (place.note.order, place.note.order), Some(from));
            text.beside.push(found);
            return;
        }
        text.line(match place.note.order {
            Order::AcquireRelease => format!("amoswap.w.aq.rl x0,{from},({address})"),
            order => format!("sw{} {from},0({address})", suffix(order, false)),
        });
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, write: Note, value: u64) -> String {
        let address = address(text, place);
        let from = constant(text, value);
        let into = text.fresh();
        let orders = [suffix(place.note.order, true), suffix(write.order, false)].concat();
        text.line(format!("amoswap.w{orders} {into},{from},({address})"));
        into
    }

    fn branch(&self, text: &mut Text, register: &str) {
        let label = text.label();
        text.line(format!("bne {register},x0,{label}"));
        text.line(format!("{label}:"));
    }
}
