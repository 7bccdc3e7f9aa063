//! POWER.

use super::{Fence, fence};
use crate::edge::Note;
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 4] = [
    fence("Sync", "sync", "sync"),
    fence("LwSync", "lwsync", "lwsync"),
    fence("ISync", "isync", "isync"),
    fence("Eieio", "eieio", "eieio"),
];

pub(super) struct Ppc;

/// The index of an access whose address depends on a register: 0, computed of it.
fn zero(text: &mut Text, register: &str) -> String {
    let zero = text.fresh();
    text.line(format!("xor {zero},{register},{register}"));
    zero
}

impl Assembly for Ppc {
    fn register(&self, index: usize) -> String {
        format!("r{}", index + 1)
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let index = place.address.as_ref().map(|register| zero(text, register));
        let into = text.fresh();
        let base = text.base(place.location);
        text.line(match index {
            Some(index) => format!("lwzx {into},{index},{base}"),
            None => format!("lwz {into},0({base})"),
        });
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, data: Option<String>) {
        let index = place.address.as_ref().map(|register| zero(text, register));
        let from = match data {
            Some(register) => {
                let from = zero(text, &register);
                text.line(format!("addi {from},{from},{value}"));
                from
            }
            None => {
                let from = text.fresh();
                text.line(format!("li {from},{value}"));
                from
            }
        };
        let base = text.base(place.location);
        text.line(match index {
            Some(index) => format!("stwx {from},{index},{base}"),
            None => format!("stw {from},0({base})"),
        });
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, _write: Note, value: u64) -> String {
        let index = place.address.as_ref().map(|register| zero(text, register));
        let from = text.fresh();
        text.line(format!("li {from},{value}"));
        let into = text.fresh();
        let base = text.base(place.location);
        let index = index.unwrap_or_else(|| "r0".to_owned());
        text.line(format!("lwarx {into},{index},{base}"));
        text.line(format!("stwcx. {from},{index},{base}"));
        text.line(format!("bne Fail{}", text.thread));
        text.fails = true;
        into
    }

    fn branch(&self, text: &mut Text, register: &str) {
        let label = text.label();
        text.line(format!("cmpw {register},{register}"));
        text.line(format!("beq {label}"));
        text.line(format!("{label}:"));
    }

    fn finish(&self, text: &mut Text) {
        if !text.fails {
            return;
        }
        let thread = text.thread;
        let (zero, ok) = (text.fresh(), text.base("ok"));
        text.line(format!("b Exit{thread}"));
        text.line(format!("Fail{thread}:"));
        text.line(format!("li {zero},0"));
        text.line(format!("stw {zero},0({ok})"));
        text.line(format!("Exit{thread}:"));
    }
}
