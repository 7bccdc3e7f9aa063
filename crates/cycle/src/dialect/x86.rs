//! x86, both widths. Addresses are names; nothing depends on anything that the model would notice.

use super::{Fence, fence};
use crate::edge::Note;
use crate::emit::{Assembly, Place, Text};

pub(super) static FENCES: [Fence; 3] = [
    fence("MFence", "MFENCE", "mfence"),
    fence("LFence", "LFENCE", "lfence"),
    fence("SFence", "SFENCE", "sfence"),
];

pub(super) struct X86 {
    /// 64 bits: conditions name whole registers.
    pub wide: bool,
}

const REGISTERS: [&str; 6] = ["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"];
const WIDE: [&str; 6] = ["RAX", "RBX", "RCX", "RDX", "RSI", "RDI"];

impl Assembly for X86 {
    fn register(&self, index: usize) -> String {
        REGISTERS.get(index).copied().unwrap_or("EBP").to_owned()
    }

    fn address_init(&self, _: usize, _: &str, _: &str) -> Option<String> {
        None
    }

    fn load(&self, text: &mut Text, place: &Place<'_>) -> String {
        let into = text.fresh();
        text.line(format!("MOV {into},[{}]", place.location));
        into
    }

    fn store(&self, text: &mut Text, place: &Place<'_>, value: u64, _data: Option<String>) {
        text.line(match self.wide {
            false => format!("MOV [{}],${value}", place.location),
            true => format!("MOV DWORD PTR [{}],{value}", place.location),
        });
    }

    fn rmw(&self, text: &mut Text, place: &Place<'_>, _write: Note, value: u64) -> String {
        let into = text.fresh();
        text.line(format!("MOV {into},{}{value}", if self.wide { "" } else { "$" }));
        text.line(format!("XCHG [{}],{into}", place.location));
        into
    }

    fn branch(&self, _: &mut Text, _: &str) {}

    fn shown(&self, register: &str) -> String {
        let index = REGISTERS.iter().position(|&name| name == register).filter(|_| self.wide);
        index.map_or(register, |index| WIDE[index]).to_owned()
    }
}
