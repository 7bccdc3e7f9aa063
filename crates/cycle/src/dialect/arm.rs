//! ARMv7.

use super::{Fence, OrderRow, fence};
use crate::edge::{Note, Order};
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 5] = [
    fence("DMB", "DMB", "dmb"),
    fence("DMB.ST", "DMB ST", "dmb.st"),
    fence("DSB", "DSB", "dsb"),
    fence("DSB.ST", "DSB ST", "dsb.st"),
    fence("ISB", "ISB", "isb"),
];

pub(super) static ORDERS: [OrderRow; 1] = [("P", Order::Plain, false)];

pub(super) struct Arm;

fn zero(text: &mut Text, register: &str) -> String {
    let zero = text.fresh();
    text.line(format!("EOR {zero},{register},{register}"));
    zero
}

/// The address, as it stands in an instruction.
fn address(text: &mut Text, place: &Place<'_>) -> String {
    let index = place.address.as_ref().map(|register| zero(text, register));
    let base = text.base(place.location);
    index.map_or_else(|| format!("[{base}]"), |index| format!("[{index},{base}]"))
}

fn constant(text: &mut Text, value: u64) -> String {
    let from = text.fresh();
    text.line(format!("MOV {from},#{value}"));
    from
}

impl Assembly for Arm {
    fn register(&self, index: usize) -> String {
        format!("R{index}")
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let address = address(text, place);
        let into = text.fresh();
        text.line(format!("LDR {into},{address}"));
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let address = address(text, place);
        let from = match data {
            Some(register) => {
                let from = zero(text, &register);
                text.line(format!("ADD {from},{from},#{value}"));
                from
            }
            None => constant(text, value),
        };
        text.line(format!("STR {from},{address}"));
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, _write: Note, value: u64) -> String {
        let mut address = address(text, place);
        if let Some((index, base)) = address.trim_matches(['[', ']']).split_once(',') {
            // Exclusives know no index.
            let sum = index.to_owned();
            text.line(format!("ADD {sum},{index},{base}"));
            address = format!("[{sum}]");
        }
        let from = constant(text, value);
        let (into, status) = (text.fresh(), text.fresh());
        text.line(format!("LDREX {into},{address}"));
        text.line(format!("STREX {status},{from},{address}"));
        text.line(format!("CMP {status},#0"));
        text.line(format!("BNE Fail{}", text.thread));
        text.fails = true;
        into
    }

    fn branch(&self, text: &mut Text, register: &str) {
        let label = text.label();
        text.line(format!("CMP {register},{register}"));
        text.line(format!("BNE {label}"));
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
        text.line(format!("MOV {zero},#0"));
        text.line(format!("STR {zero},[{ok}]"));
        text.line(format!("Exit{thread}:"));
    }
}
